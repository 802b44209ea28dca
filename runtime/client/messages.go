package client

import (
	"strconv"

	"verbatim/runtime/collect"
	"verbatim/runtime/words"
)

// What is said to clients, to be read aloud together, in each language. {} is what
// belongs to it, in order.

// What is refused, for whoever wrote the call; a person is told what the
// conversation has for it.
const (
	nothingToAsk    = "this request is not answered by questions"
	nextDetail      = "client.get-request-detail says what would do"
	nothingAtHand   = "nothing is being asked in this session"
	nextStart       = "client.start-collection begins with a request, or goes on with it"
	nothingToAnswer = "every question was answered or left out; say which answer to change"
	nothingToSkip   = "every question was answered or left out"
	nextConfirm     = "client.collection-confirm :confirmed true sends the answers"
)

var (
	sayQuestionOf = words.Sentence{"Question {} of {}: {}", "Frage {} von {}: {}", "Question {} sur {} : {}", "Pregunta {} de {}: {}"}
	sayAnswerOf   = words.Sentence{"Answer {} of {}: {}", "Antwort {} von {}: {}", "Réponse {} sur {} : {}", "Respuesta {} de {}: {}"}
	sayLeftOut    = words.Sentence{"(left out)", "(ausgelassen)", "(sans réponse)", "(sin respuesta)"}
	sayNeeded     = words.Sentence{
		"This one is needed in the end.",
		"Diese Angabe wird am Ende doch gebraucht.",
		"Cette réponse est nécessaire à la fin.",
		"Esta respuesta hace falta al final."}
	sayChangeWhat = words.Sentence{
		"Say which answer to change, and to what, as in “{}: …”.",
		"Sagen Sie, welche Antwort geändert werden soll, und wie, zum Beispiel „{}: …“.",
		"Dites quelle réponse changer, et par quoi la remplacer, par exemple « {} : … ».",
		"Diga qué respuesta hay que cambiar, y por cuál, por ejemplo «{}: …»."}
	sayWelcomeBack = words.Sentence{
		"Welcome back. You have answered {} of {} questions about {}.",
		"Willkommen zurück. Sie haben {} von {} Fragen beantwortet. Es geht um: {}.",
		"Bon retour. Vous avez répondu à {} questions sur {}. Sujet : {}.",
		"Bienvenido de nuevo. Ha respondido a {} de {} preguntas. Tema: {}."}
	sayGoesOn = words.Sentence{
		"You have given {} of {} answers about {}. This is what is left.",
		"{} von {} Antworten liegen vor. Es geht um: {}. Das ist noch offen.",
		"Vous avez déjà donné {} réponses sur {}. Sujet : {}. Voici ce qui reste.",
		"Ya ha dado {} de {} respuestas. Tema: {}. Esto es lo que queda."}
	sayCheckOne = words.Sentence{
		"Please check your answer. It is sent when you confirm it; you cannot change it yourself after that.",
		"Bitte prüfen Sie Ihre Antwort. Sie wird gesendet, wenn Sie sie bestätigen; danach können Sie sie nicht mehr selbst ändern.",
		"Vérifiez votre réponse, s’il vous plaît. Elle est envoyée quand vous la confirmez ; ensuite, vous ne pourrez plus la modifier vous-même.",
		"Por favor, revise su respuesta. Se envía cuando usted la confirma; después ya no podrá cambiarla usted mismo."}
	sayCheck = words.Sentence{
		"Please check your {} answers. They are sent when you confirm them; you cannot change them yourself after that.",
		"Bitte prüfen Sie Ihre {} Antworten. Sie werden gesendet, wenn Sie sie bestätigen; danach können Sie sie nicht mehr selbst ändern.",
		"Vérifiez vos {} réponses, s’il vous plaît. Elles sont envoyées quand vous les confirmez ; ensuite, vous ne pourrez plus les modifier vous-même.",
		"Por favor, revise sus {} respuestas. Se envían cuando usted las confirma; después ya no podrá cambiarlas usted mismo."}
	sayEntered = words.Sentence{
		"You entered {}.", "Ihre Eingabe war: {}.", "Vous avez saisi : {}.", "Usted escribió: {}."}
	sayNotSaved = words.Sentence{
		"Nothing was saved.", "Es wurde nichts gespeichert.", "Rien n’a été enregistré.", "No se ha guardado nada."}
	sayChanged = words.Sentence{"Changed: {}.", "Geändert: {}.", "Modifié : {}.", "Cambiado: {}."}
	sayStopped = words.Sentence{
		"Stopped with {} of {} questions answered. Nothing was sent; your answers are kept, and you can go on with them any time.",
		"Beendet; {} von {} Fragen sind beantwortet. Es wurde nichts gesendet. Ihre Antworten bleiben gespeichert, und Sie können jederzeit damit fortfahren.",
		"Arrêté ; vous avez répondu à {} questions sur {}. Rien n’a été envoyé. Vos réponses sont conservées, et vous pouvez les reprendre à tout moment.",
		"Terminado; ha respondido a {} de {} preguntas. No se ha enviado nada. Sus respuestas se conservan, y puede continuar cuando quiera."}
	sayOvertaken = words.Sentence{
		"This was answered in full meanwhile: {}. Nothing more is asked, and what you said just now was not taken for an answer.",
		"Das ist inzwischen vollständig beantwortet: {}. Es wird nichts mehr gefragt, und was Sie eben gesagt haben, wurde nicht als Antwort genommen.",
		"Une réponse complète a été donnée entre-temps : {}. Plus rien n’est demandé, et ce que vous venez de dire n’a pas été pris pour une réponse.",
		"Esto ya se ha respondido por completo: {}. No se pregunta nada más, y lo que acaba de decir no se ha tomado como respuesta."}
	saySettled = words.Sentence{
		"The bank has settled this meanwhile: {}. Nothing more is needed for it, and what you said just now was not taken for an answer.",
		"Die Bank hat das inzwischen erledigt: {}. Es wird nichts mehr dafür gebraucht, und was Sie eben gesagt haben, wurde nicht als Antwort genommen.",
		"La banque a réglé cela entre-temps : {}. Il ne faut plus rien, et ce que vous venez de dire n’a pas été pris pour une réponse.",
		"El banco ya lo ha resuelto: {}. Ya no hace falta nada, y lo que acaba de decir no se ha tomado como respuesta."}
	sayWithBank = words.Sentence{
		"The bank has an answer already and is checking it: {}. If you answer once more, the bank gets that as well.",
		"Die Bank hat schon eine Antwort und prüft sie: {}. Wenn Sie noch einmal antworten, bekommt die Bank auch das.",
		"La banque a déjà une réponse et la vérifie : {}. Si vous répondez encore une fois, elle recevra aussi cela.",
		"El banco ya tiene una respuesta y la está revisando: {}. Si responde otra vez, el banco recibirá también eso."}
	sayCannotUse = words.Sentence{
		"The bank cannot use what was sent. It says: “{}”.",
		"Die Bank kann nicht verwenden, was gesendet wurde. Sie schreibt: „{}“.",
		"La banque ne peut pas utiliser ce qui a été envoyé. Elle indique : « {} ».",
		"El banco no puede usar lo que se envió. Indica: «{}»."}
	sayStillNeeds = words.Sentence{
		"The bank has looked at it and still needs: {}.",
		"Die Bank hat es geprüft und braucht noch: {}.",
		"La banque a vérifié l’envoi et a encore besoin de : {}.",
		"El banco lo ha revisado y todavía necesita: {}."}
	sayAsBefore = words.Sentence{
		"These are your earlier answers; say which one to change, and to what, as in “{}: …”.",
		"Das sind Ihre bisherigen Antworten; sagen Sie, welche geändert werden soll, und wie, zum Beispiel „{}: …“.",
		"Voici vos réponses précédentes ; dites laquelle changer, et par quoi la remplacer, par exemple « {} : … ».",
		"Estas son sus respuestas anteriores; diga cuál hay que cambiar, y por cuál, por ejemplo «{}: …»."}
	sayNoLonger = words.Sentence{
		"{}: your earlier answer can no longer be taken.",
		"{}: Ihre bisherige Antwort kann nicht mehr übernommen werden.",
		"{} : votre réponse précédente ne peut plus être retenue.",
		"{}: su respuesta anterior ya no se puede aceptar."}
	saySentOne = words.Sentence{
		"Your answer was sent. The bank checks it now; if anything has to be changed, they can reopen it for you.",
		"Ihre Antwort wurde gesendet. Die Bank prüft sie jetzt; wenn noch etwas zu ändern ist, kann sie die Bank wieder für Sie öffnen.",
		"Votre réponse a été envoyée. La banque la vérifie maintenant ; s’il faut changer quelque chose, elle peut la rouvrir pour vous.",
		"Su respuesta se ha enviado. El banco la revisa ahora; si hay que cambiar algo, puede volver a abrirla para usted."}
	saySent = words.Sentence{
		"Your {} answers were sent. The bank checks them now; if anything has to be changed, they can reopen it for you.",
		"Ihre {} Antworten wurden gesendet. Die Bank prüft sie jetzt; wenn noch etwas zu ändern ist, kann sie die Bank wieder für Sie öffnen.",
		"Vos {} réponses ont été envoyées. La banque les vérifie maintenant ; s’il faut changer quelque chose, elle peut les rouvrir pour vous.",
		"Sus {} respuestas se han enviado. El banco las revisa ahora; si hay que cambiar algo, puede volver a abrirlas para usted."}
	// Of a request that nobody at the bank has to look at.
	sayTakenOne = words.Sentence{
		"Your answer was sent, and nothing more is needed for it.",
		"Ihre Antwort wurde gesendet; mehr wird dazu nicht gebraucht.",
		"Votre réponse a été envoyée ; rien d’autre n’est nécessaire pour cela.",
		"Su respuesta se ha enviado; no se necesita nada más para esto."}
	sayTaken = words.Sentence{
		"Your {} answers were sent, and nothing more is needed for them.",
		"Ihre {} Antworten wurden gesendet; mehr wird dazu nicht gebraucht.",
		"Vos {} réponses ont été envoyées ; rien d’autre n’est nécessaire pour cela.",
		"Sus {} respuestas se han enviado; no se necesita nada más para esto."}
	sayManager = words.Sentence{
		"Your relationship manager", "Ihre Kundenbetreuung", "Votre conseiller", "Su gestor"}
	sayHandedOver = words.Sentence{
		"{} has this conversation. Reference {}.",
		"{} hat dieses Gespräch. Aktenzeichen {}.",
		"{} a reçu cette conversation. Référence {}.",
		"{} tiene esta conversación. Referencia {}."}
)

func (col *collection) pleaseCheck(n int) string {
	if n == 1 {
		return sayCheckOne.In(col.in.Language)
	}
	return sayCheck.In(col.in.Language, strconv.Itoa(n))
}

// notSaved says why an answer does not count, and that nothing of it was kept.
func (col *collection) notSaved(w *collect.Wrong) string {
	l := col.in.Language
	switch {
	case w.Asks:
		return w.Says
	case w.Entered != "":
		return join(w.Says, sayEntered.In(l, w.Entered), sayNotSaved.In(l))
	}
	return join(w.Says, sayNotSaved.In(l))
}

func notComplete(label string) string { return "not all is answered yet: " + label + " is missing" }

func nextAnswer(field string) string {
	return "client.collection-response :field \"" + field + "\" gives the answer; client.collection-skip leaves it for later"
}

// sent says that answers were sent, and whether somebody looks at them.
func (col *collection) sent(n int, looks bool) string {
	one, all := saySentOne, saySent
	if !looks {
		one, all = sayTakenOne, sayTaken
	}
	if n == 1 {
		return one.In(col.in.Language)
	}
	return all.In(col.in.Language, strconv.Itoa(n))
}

func handedOver(l words.Language, manager any, reference string) string {
	who := sayManager.In(l)
	if name, ok := manager.(string); ok && name != "" {
		who = name
	}
	return sayHandedOver.In(l, who, reference)
}
