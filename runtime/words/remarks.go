package words

import (
	"regexp"
	"strings"
)

// A Remark is what a message says about a question instead of answering it.
type Remark uint8

const (
	NoRemark     Remark = iota
	MaybeARemark        // it may be one, and may be the answer
	ARemark             // it is plainly one
)

// longestRemark is how many words a remark has at most; who tells more than that
// tells a story, which is an answer.
const longestRemark = 18

// ReadRemark tells whether what somebody says where they are asked for something
// in their own words is that, or a remark: that they do not know, that it is not
// the moment, a question of their own. It is plainly one only where little else can
// be meant; an answer that begins like one, and names no number, is MaybeARemark,
// and has to be asked about.
func ReadRemark(text string) Remark {
	text = strings.Join(strings.Fields(strings.NewReplacer("’", "'", "‘", "'").Replace(text)), " ")
	if text == "" || strings.Count(text, " ") >= longestRemark {
		return NoRemark
	}
	switch {
	case strings.HasSuffix(text, "?"), plainRemark.MatchString(text):
		return ARemark
	case !strings.ContainsAny(text, "0123456789") && likeRemark.MatchString(text): // "maybe 1998" says when
		return MaybeARemark
	}
	return NoRemark
}

// bounded compiles an expression in which \b is the end of a word of any language.
func bounded(expression string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(expression, `\b`, `(?:$|[^\pL\pN])`))
}

// plainRemark are messages that are remarks, in the Languages.
var plainRemark = bounded(`(?i)^\W*(?:` + strings.Join([]string{
	// I do not know
	`(?:sorry,? |hm+,? |well,? |but )?i(?:'m| am)(?: really)? not (?:quite |so |really |entirely )?(?:sure|certain)\b.*`,
	`(?:sorry,? |hm+,? |well,? )?i (?:really )?(?:don't|do not) (?:really |quite )?(?:know|understand|remember|have (?:that|it|this)(?: here| with me| at hand| to hand| right now| now| yet)*)\b.*`,
	`(?:sorry,? )?(?:i have )?no idea\b.*|not sure\b.*|(?:i have )?no clue\b.*`,
	`(?:das )?(?:weiß|weiss) ich (?:leider )?(?:nicht|gerade nicht|noch nicht)\b.*|ich (?:weiß|weiss) (?:es |das )?(?:leider |gerade )?nicht\b.*|(?:da )?bin ich (?:mir )?nicht sicher\b.*|ich bin (?:mir )?(?:da )?nicht (?:ganz )?sicher\b.*|keine ahnung\b.*|ich verstehe (?:das |die frage )?nicht\b.*|das habe ich (?:gerade |jetzt |hier )*nicht (?:hier|da|dabei|zur hand)\b.*`,
	`(?:désolée?,? )?je ne (?:le )?sais pas\b.*|je ne suis pas (?:tout à fait |très )?(?:sûre?|certaine?)\b.*|aucune idée\b.*|je n'en sais rien\b.*|je ne comprends pas\b.*|je ne l'ai pas (?:ici|sous la main|avec moi)\b.*`,
	`no (?:lo )?s[eé](?: (?:ahora|todavía|aún|muy bien|la verdad).*)?|no estoy (?:muy |del todo )?segur[oa]\b.*|ni idea\b.*|no (?:lo )?entiendo\b.*|no lo tengo (?:aquí|a mano|conmigo)\b.*`,
	// not now
	`(?:just )?(?:one|a|1) (?:moment|minute|second|sec)(?:,? please)?|(?:just )?(?:give|wait) (?:me )?(?:a|one) (?:moment|minute|second|sec)\b.*|hold on\b.*|hang on\b.*|not now\b.*|(?:maybe |perhaps )?later(?:,? please)?|let me (?:just )?(?:check|look|see|ask|think|find|get back)\b.*|i(?:'ll| will) (?:have to |need to )?(?:get back to you|check|look it up|find out)\b.*|i(?: will)? (?:have|need) to (?:check|look (?:it|that|this) up|ask|find out)\b.*`,
	`(?:einen |ein |nur einen )?(?:moment|augenblick)(?: mal)?(?:,? bitte)?|warten sie\b.*|(?:vielleicht )?später(?:,? bitte)?|(?:jetzt|gerade) nicht\b.*|(?:da|das) muss ich (?:erst |noch )?(?:nachsehen|nachschauen|nachfragen|fragen|suchen)\b.*|ich muss (?:das )?(?:erst |noch )?(?:nachsehen|nachschauen|nachfragen|fragen)\b.*|ich (?:sehe|schaue) (?:mal )?nach\b.*`,
	`(?:juste )?(?:un (?:petit )?(?:moment|instant)|une (?:petite )?(?:minute|seconde))(?:,? s'il (?:vous|te) pla[iî]t)?|attendez\b.*|(?:peut-être )?plus tard(?:,? s'il vous pla[iî]t)?|pas maintenant\b.*|je (?:dois|vais) (?:vérifier|regarder|demander|chercher)\b.*|laissez-moi (?:voir|vérifier|regarder|demander)\b.*`,
	`(?:solo )?un (?:momento|momentito|minuto|segundo)(?:,? por favor)?|espere?\b.*|(?:quizás |tal vez )?más tarde(?:,? por favor)?|ahora no\b.*|(?:tengo que|voy a|debo) (?:comprobar|mirar|preguntar|buscar)\w*\b.*|d[eé]jeme (?:ver|mirar|comprobar|preguntar)\b.*`,
	// a question of their own
	`(?:and |but |so )?why (?:is|are|do|does|did|should|must|would)\b.*|(?:can|could|may|shall|should|must|do|would) (?:we|i|you) .*|what (?:do|does|is|are|should|would) (?:you|that|this|i|we|it|the)\b.*|how (?:do|should|can|long|much|many|exactly) .*|(?:is|are|does|do) (?:this|that|it|you|these) .*`,
	`(?:und |aber )?(?:warum|wieso|weshalb|wozu) .*|(?:kann|können|könnten|muss|müssen|soll|sollen|darf|dürfen) (?:ich|wir|sie|man) .*|was (?:meinen|bedeutet|ist|heißt|soll|genau) .*|wie (?:meinen|soll|lange|viel|genau) .*|(?:ist|braucht|brauchen) (?:das|dies|es|man|sie) .*`,
	`(?:et |mais )?pourquoi\b.*|(?:est-ce que|est-ce|peut-on|pouvons-nous|puis-je|pouvez-vous|dois-je|devons-nous|faut-il)\b.*|(?:qu'est-ce|que voulez-vous|comment dois-je|comment faut-il)\b.*`,
	`(?:y |pero )?¿.*|(?:y |pero )?por qué\b.*|(?:podemos|puedo|puede|podría|podríamos|tengo que|debo|hace falta|es necesario)(?: .*)? (?:hacer|esto|eso|luego|después|más tarde|ahora|decir|explicar)\b.*|qué (?:quiere|significa|es)\b.*`,
}, "|") + `)\W*$`)

// likeRemark are messages that may be remarks.
var likeRemark = bounded(`(?i)^\W*(?:` +
	`(?:sorry|well|hm+|um+|please|actually|maybe|perhaps|i think|i guess|i believe|i'll|i will|we'll|we will|i'd|i would|i can't|i cannot|we can't|why|what|how|when|who|which|you|ask|tell)\b|` +
	`(?:entschuldigung|bitte|vielleicht|ich glaube|ich denke|ich werde|ich würde|ich kann|warum|was|wie|wann|wer|welche[rsnm]?|sie|fragen)\b|` +
	`(?:pardon|désolée?|peut-être|je crois|je pense|je vais|je ne peux|je voudrais|quoi|quand|quel(?:le)?s?|comment|vous|demandez)\b|` +
	`(?:perdón|lo siento|quizás?|tal vez|creo|pienso|voy a|no puedo|quisiera|qué|cuándo|cómo|cuál|quién|usted|pregunte)\b` +
	`)|(?:^|[^\pL\pN])(?:not sure|don't know|do not know|later|nicht sicher|weiß nicht|später|plus tard|pas sûre?|más tarde|no sé)\b`)
