package words

import (
	"slices"
	"strings"
)

// An Answer is what a person says to a question that wants a yes or a no.
type Answer uint8

// The answers.
const (
	// Other is everything that is not clearly one of those below: another
	// subject, a question, a quotation, words of somebody else.
	Other Answer = iota
	// Agree is a yes and nothing else.
	Agree
	// Decline is a no, or a never mind, and nothing else.
	Decline
	// Change is no plain answer, and holds the matter up or changes it: "no wait,
	// make it Friday", "yes, but not today".
	Change
	// Pleased is a word of approval, and no yes: "perfect". It says that somebody
	// likes what they were told. Where something hangs on a yes, they are asked
	// for one.
	Pleased
)

var answerNames = [...]string{"other", "agree", "decline", "change", "pleased"}

func (a Answer) String() string { return answerNames[a] }

// A Reply is an answer, and which of several questions it is to: counted from 1,
// -1 is the last, and 0 where it does not say. "The second one" is Other, and says
// which.
type Reply struct {
	Answer Answer
	Which  int
}

// A yes is a plain one or none. The whole of what a person says has to be words of
// agreeing, out of a closed list, and nothing else: "yes, do it now" is one, and
// "yes, but make it Friday" is none, because nobody knows what the words outside
// of the list do to it. Whoever says it in another way is asked again, which costs
// them a word; the other mistake would cost them what was asked about. People mix
// languages in an answer ("ok, danke"), so the lists are one.
var (
	agreeing = phrasesOf(
		"yes", "yeah", "yep", "yup", "ok", "okay", "sure", "sure thing", "agreed", "confirm", "confirmed", "i confirm", "i agree", "i do", "of course", "certainly", "absolutely", "definitely", "correct", "exactly",
		"go ahead", "do it", "do that", "do so", "please do", "yes do", "i accept", "accepted", "approve", "approved", "i approve", "that is correct", "that's correct", "that is right", "that's right", "send it", "go for it",
		"ja", "jawohl", "jep", "klar", "na klar", "alles klar", "einverstanden", "bestätigt", "ich bestätige", "stimmt", "das stimmt", "genau", "richtig", "das ist richtig", "mach das", "mach es", "machen sie das", "machen sie es", "tu das", "tun sie das", "in ordnung", "das ist in ordnung",
		"ja gerne", "ja gern", "natürlich", "selbstverständlich", "auf jeden fall", "ich stimme zu", "ich bin einverstanden", "so ist es",
		"oui", "ouais", "d'accord", "je confirme", "je suis d'accord", "confirme", "bien sûr", "entendu", "vas y", "allez y", "faites le", "fais le", "c'est correct", "c'est exact", "c'est juste", "c'est bon", "absolument", "exactement", "tout à fait",
		"sí", "vale", "de acuerdo", "confirmo", "estoy de acuerdo", "confirmado", "claro", "claro que sí", "por supuesto", "desde luego", "adelante", "hazlo", "hágalo", "correcto", "es correcto", "exacto", "así es", "eso es",
	)
	refusing = phrasesOf(
		"no", "nope", "nah", "no way", "not ok", "not okay", "do not", "don't", "dont", "do not do it", "don't do it", "don't do that", "do not do that", "stop", "stop it", "cancel", "cancel it", "cancel that", "not now", "never", "never mind", "nevermind", "forget it", "forget about it",
		"i do not agree", "i don't agree", "i disagree", "i refuse", "reject", "rejected", "declined", "decline", "i decline", "rather not", "better not", "leave it", "leave it be", "please don't", "please do not", "absolutely not", "of course not", "certainly not", "definitely not",
		"nein", "ne", "nee", "nicht", "lieber nicht", "besser nicht", "auf keinen fall", "keinesfalls", "nicht ok", "nicht okay", "nicht einverstanden", "nicht machen", "mach das nicht", "mach es nicht", "machen sie das nicht", "abbrechen", "brich ab", "brechen sie ab", "stopp", "halt", "lass es", "lassen sie es",
		"vergiss es", "vergessen sie es", "ich bin nicht einverstanden", "ablehnen", "abgelehnt", "ich lehne ab", "niemals", "nicht jetzt", "bitte nicht",
		"non", "nan", "pas d'accord", "je ne suis pas d'accord", "pas maintenant", "pas du tout", "surtout pas", "annule", "annulez", "annuler", "arrête", "arrêtez", "jamais", "jamais de la vie", "ne le faites pas", "ne fais pas ça", "ne faites pas ça", "je refuse", "refuse", "pas question", "laisse tomber", "laissez tomber", "oublie", "oubliez",
		"no estoy de acuerdo", "mejor no", "ahora no", "todavía no", "cancela", "cancelar", "cancele", "para", "pare", "nunca", "no lo hagas", "no lo haga", "de ninguna manera", "en absoluto", "claro que no", "por supuesto que no", "déjalo", "déjelo", "olvídalo", "olvídelo", "rechazo", "rechazado",
	)
	// approving likes what was shown, and is no yes to what is to be done.
	approving = phrasesOf(
		"perfect", "great", "fine", "that's fine", "good", "sounds good", "looks good", "that works", "works for me", "that suits me", "right", "all right", "alright", "very well",
		"perfekt", "super", "prima", "gut", "sehr gut", "passt", "das passt", "ja das passt", "stimmt so",
		"parfait", "très bien", "bien", "ça marche", "ça me va", "ça me convient", "cela me convient", "c'est bien", "c'est ça", "volontiers",
		"perfecto", "genial", "muy bien", "está bien", "me parece bien", "me va bien", "sin problema", "conforme",
	)
	// besides changes nothing of any of them.
	besides = phrasesOf(
		"please", "thanks", "thank you", "thank you very much", "many thanks", "cheers", "now", "right now", "right away", "at once", "immediately", "it", "that", "this", "that is", "that's", "it is", "it's", "is", "hi", "hello", "dear", "well", "so", "then", "oh", "ah",
		"bitte", "danke", "danke schön", "danke sehr", "vielen dank", "jetzt", "sofort", "gleich", "das", "es", "das ist", "ist", "so", "dann", "hallo", "gern", "gerne", "also",
		"merci", "merci beaucoup", "s'il vous plaît", "s'il te plaît", "svp", "stp", "maintenant", "tout de suite", "c'est", "alors", "bonjour", "ça", "cela",
		"por favor", "gracias", "muchas gracias", "ahora", "ahora mismo", "ya", "esta", "es", "eso", "entonces", "hola", "pues",
	)
	// turning makes no answer of what it stands in, and says that the matter is
	// not to go on as it is.
	turning = phrasesOf(
		"not", "no", "nope", "don't", "dont", "never", "wait", "hold", "hold on", "stop", "cancel", "instead", "change", "rather", "but", "unless", "except", "actually", "wrong", "mistake", "undo", "if", "i meant", "sorry i meant", "i mean",
		"nein", "nicht", "kein", "keine", "warte", "warten", "moment", "halt", "stattdessen", "ändern", "lieber", "aber", "falsch", "fehler", "doch", "sondern", "wenn", "falls", "außer", "ich meinte", "eigentlich",
		"non", "pas", "attends", "attendez", "plutôt", "changer", "changez", "mais", "faux", "erreur", "sauf", "annule", "annulez", "je voulais dire", "en fait",
		"espera", "espere", "cambia", "cambie", "cambiar", "mejor", "pero", "error", "mal", "salvo", "excepto", "cancela", "quería decir", "quise decir", "sino",
	)
	// asking is what whoever asks says, and not who answers.
	asking    = phrasesOf("please confirm", "please agree", "bitte bestätigen", "bitte bestätige", "merci de confirmer", "veuillez confirmer", "por favor confirme", "por favor confirma")
	ofSeveral = map[string]int{
		"1": 1, "one": 1, "first": 1, "eins": 1, "erste": 1, "ersten": 1, "erstes": 1, "premier": 1, "premiere": 1, "un": 1, "primero": 1, "primera": 1, "uno": 1,
		"2": 2, "two": 2, "second": 2, "zwei": 2, "zweite": 2, "zweiten": 2, "zweites": 2, "deuxieme": 2, "deux": 2, "segundo": 2, "segunda": 2, "dos": 2,
		"3": 3, "three": 3, "third": 3, "drei": 3, "dritte": 3, "dritten": 3, "troisieme": 3, "trois": 3, "tercero": 3, "tercera": 3, "tres": 3,
		"last": -1, "letzte": -1, "letzten": -1, "derniere": -1, "dernier": -1, "ultimo": -1, "ultima": -1,
	}
	// around an ordinal: "yes to the second one".
	around = phrasesOf("the", "to", "for", "number", "nr", "question", "option", "one", "of them", "st", "nd", "rd", "zu", "zur", "zum", "der", "die", "das", "den", "dem", "nummer", "frage", "le", "la", "les", "pour", "a", "au", "numero", "el", "al", "para", "pregunta", "opcion", "und", "and", "et", "y")
)

// Phrases find the longest phrase that begins at a word. Phrases are plain, see
// Plain.
type phrases map[string][][]string

func phrasesOf(all ...string) phrases {
	l := phrases{}
	for _, p := range all {
		words := strings.Fields(Plain(p))
		l[words[0]] = append(l[words[0]], words)
	}
	for first := range l {
		slices.SortFunc(l[first], func(a, b []string) int { return len(b) - len(a) })
	}
	return l
}

// at is how many words of a text, from word i on, are one of the phrases.
func (l phrases) at(words []string, i int) int {
	for _, p := range l[words[i]] {
		if len(p) <= len(words)-i && slices.Equal(p, words[i:i+len(p)]) {
			return len(p)
		}
	}
	return 0
}

const (
	// longestAnswer is how many words an answer has at most, and longestReply
	// how many bytes are looked at: whoever says more says something else.
	longestAnswer = 14
	longestReply  = 64 << 10
)

// answerSigns are answers without words.
var answerSigns = map[string]Answer{"👍": Pleased, "✅": Pleased, "✓": Pleased, "✔": Pleased, "👎": Decline, "❌": Decline}

// ReadAnswer reads the answer to a question that wants a yes or a no, in any of
// the Languages. It is strict: every word has to belong to a yes for it to be one.
// A yes with a question mark, in quotation marks, from a quoted message, with a
// condition or beside a no is none. A no is taken for one as strictly, since what
// is declined is not asked again.
func ReadAnswer(text string) Reply {
	if len(text) > longestReply {
		return Reply{}
	}
	if sign, ok := answerSigns[strings.TrimSpace(text)]; ok {
		return Reply{Answer: sign}
	}
	s := scan{text: text}
	s.divide()
	words := make([]string, 0, len(s.tokens))
	question, plain := false, true
	for i := range s.tokens {
		t := &s.tokens[i]
		plain = plain && !t.hidden
		switch t.mark {
		case 0:
			words = append(words, string(s.plain[t.from:t.to]))
		case '?', '¿':
			question = true
		case '.', ',', ';', ':', '!', '¡', '\'', '’', '‘', '-', '–', '—':
		default:
			plain = false // quoted, struck out, in brackets, or a sign
		}
	}
	return replyOf(words, question, plain)
}

// replyOf reads an answer out of its words.
func replyOf(words []string, question, plain bool) Reply {
	against := false
	for i := range words {
		if turning.at(words, i) > 0 || refusing.at(words, i) > 1 {
			against = true
		}
	}
	otherwise := Reply{}
	if against {
		otherwise.Answer = Change
	}
	if len(words) == 0 || len(words) > longestAnswer || question {
		// A long text is none, and a question asks.
		if question && against && turning.at(words, 0) == 0 {
			return Reply{}
		}
		return otherwise
	}
	if !plain {
		return otherwise
	}
	said := map[Answer]bool{}
	which := 0
	for i := 0; i < len(words); {
		yes, no, like := agreeing.at(words, i), refusing.at(words, i), approving.at(words, i)
		n := 0
		switch {
		case asking.at(words, i) > 0:
		case no > 0 && no >= yes && no >= like:
			n = no
			said[Decline] = true
		case yes > 0 && yes >= like:
			n = yes
			said[Agree] = true
		case like > 0:
			n = like
			said[Pleased] = true
		case ofSeveral[words[i]] != 0:
			o := ofSeveral[words[i]]
			switch {
			case which == 0:
				which, n = o, 1
			case which == o || words[i] == "one" || words[i] == "un" || words[i] == "uno":
				n = 1
			}
		default:
			n = max(besides.at(words, i), around.at(words, i))
		}
		if n == 0 {
			return otherwise // a word that is not known, or two of several
		}
		i += n
	}
	r := Reply{Which: which}
	switch {
	case said[Decline] && (said[Agree] || said[Pleased]):
		return otherwise
	case said[Agree]:
		r.Answer = Agree
	case said[Decline]:
		r.Answer = Decline
	case said[Pleased]:
		r.Answer = Pleased
	}
	return r
}
