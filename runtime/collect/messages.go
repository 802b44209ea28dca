package collect

import (
	"strings"

	"verbatim/runtime/words"
)

// What is said to the person who answers, to be read aloud together, in each
// language: sentences without a code, each of which says what would do. None
// quotes what was entered. {} is what belongs to it, in order.

// masked stands for an answer that is not shown again.
const masked = "••••••"

var (
	sayNothing = words.Sentence{
		"{} is still missing. Write the answer, or skip the question for now.",
		"„{}“ fehlt noch. Schreiben Sie die Antwort, oder überspringen Sie die Frage vorerst.",
		"« {} » manque encore. Écrivez la réponse, ou passez la question pour le moment.",
		"Todavía falta «{}». Escriba la respuesta, o deje la pregunta para más tarde."}
	sayOneAnswer = words.Sentence{
		"{} is one answer. Give it as text, not as a list or a map.",
		"„{}“ ist eine einzige Antwort. Geben Sie sie als Text an, nicht als Liste.",
		"« {} » est une seule réponse. Donnez-la sous forme de texte, et non de liste.",
		"«{}» es una sola respuesta. Escríbala como texto, no como lista."}
	sayTooLong = words.Sentence{
		"{} takes at most {} characters. Say it more briefly.",
		"„{}“ darf höchstens {} Zeichen haben. Bitte fassen Sie sich kürzer.",
		"« {} » ne peut pas dépasser {} caractères. Soyez plus bref, s’il vous plaît.",
		"«{}» admite {} caracteres como máximo. Por favor, dígalo más brevemente."}
	sayUnreadable = words.Sentence{
		"{} holds characters that cannot be read. Type it again.",
		"„{}“ enthält Zeichen, die sich nicht lesen lassen. Bitte tippen Sie es noch einmal.",
		"« {} » contient des caractères illisibles. Saisissez-le à nouveau, s’il vous plaît.",
		"«{}» contiene caracteres que no se pueden leer. Por favor, escríbalo de nuevo."}
	sayUnusable = words.Sentence{
		"{} cannot be taken like this. Say it another way.",
		"„{}“ kann so nicht übernommen werden. Bitte sagen Sie es anders.",
		"« {} » ne peut pas être enregistré ainsi. Dites-le autrement, s’il vous plaît.",
		"«{}» no se puede aceptar así. Por favor, dígalo de otra manera."}
	sayUnlikeThis = words.Sentence{
		"{} was not understood. Say it another way.",
		"„{}“ habe ich nicht verstanden. Bitte sagen Sie es anders.",
		"Je n’ai pas compris « {} ». Dites-le autrement, s’il vous plaît.",
		"No he entendido «{}». Por favor, dígalo de otra manera."}
	sayLikeThis = words.Sentence{
		"{} was not understood. Write it like this: {}.",
		"„{}“ habe ich nicht verstanden. Schreiben Sie es zum Beispiel so: {}.",
		"Je n’ai pas compris « {} ». Écrivez-le par exemple ainsi : {}.",
		"No he entendido «{}». Escríbalo, por ejemplo, así: {}."}
	sayYesOrNo = words.Sentence{
		"{}: please answer yes or no.",
		"{}: Bitte antworten Sie mit ja oder nein.",
		"{} : répondez par oui ou par non, s’il vous plaît.",
		"{}: responda sí o no, por favor."}
	sayOnly = words.Sentence{
		"{}: the answer can be {}.",
		"{}: Die Antwort kann {} sein.",
		"{} : la réponse peut être {}.",
		"{}: la respuesta puede ser {}."}
	sayOneOf = words.Sentence{
		"{}: the answer is one of {} or {}.",
		"{}: Möglich sind {} oder {}.",
		"{} : la réponse est {} ou {}.",
		"{}: la respuesta es {} o {}."}
	sayNotAsked = words.Sentence{
		"{} is not asked with the answers so far. Change the answer that it depends on first.",
		"Nach „{}“ wird bei den bisherigen Antworten nicht gefragt. Ändern Sie zuerst die Antwort, von der es abhängt.",
		"« {} » n’est pas demandé au vu des réponses données. Changez d’abord la réponse dont cela dépend.",
		"«{}» no se pregunta con las respuestas dadas hasta ahora. Cambie primero la respuesta de la que depende."}
	sayNearQuestion = words.Sentence{
		"There is no such question. Did you mean {}?",
		"Diese Frage gibt es nicht. Meinten Sie {}?",
		"Cette question n’existe pas. Vouliez-vous dire {} ?",
		"No existe esa pregunta. ¿Quería decir {}?"}
	sayNoQuestion = words.Sentence{
		"There is no such question. These are asked: {}.",
		"Diese Frage gibt es nicht. Gefragt wird nach: {}.",
		"Cette question n’existe pas. Voici celles qui sont posées : {}.",
		"No existe esa pregunta. Se pregunta por: {}."}
	sayYes = words.Sentence{"yes", "ja", "oui", "sí"}
	sayNo  = words.Sentence{"no", "nein", "non", "no"}
)

func notUnderstood(label, example string, l words.Language) string {
	if example == "" {
		return sayUnlikeThis.In(l, label)
	}
	return sayLikeThis.In(l, label, example)
}

func oneOf(label string, choices []Option, l words.Language) string {
	names := make([]string, len(choices))
	for i, o := range choices {
		names[i] = o.Label
	}
	last := len(names) - 1
	if last == 0 {
		return sayOnly.In(l, label, names[0])
	}
	return sayOneOf.In(l, label, strings.Join(names[:last], ", "), names[last])
}
