package dialog

import (
	"regexp"
	"slices"
	"strings"

	"verbatim/runtime"
)

// An agreement is a plain one or none. The whole of what a person says has to be
// words of agreeing, out of a closed list, and nothing else: "yes, do it now" is
// one, and "yes, but make it Friday" is none, because nobody knows what the words
// outside of the list do to it. Whoever says it in another way is asked again,
// which costs them a word; the other mistake would cost them what was asked
// about.

// A verdict is what somebody says to a question.
type verdict uint8

const (
	neither verdict = iota
	yes
	no
)

// An answered is an answer to a question as far as it is one.
type answered struct {
	verdict verdict
	which   int  // of several questions: counted from 1, -1 is the last; 0 when it is not said
	against bool // it is no plain answer, and holds the matter up or changes it
}

// Words of agreeing and of refusing, without marks, and what may stand beside
// them and changes nothing. A phrase of several words is one entry.
var (
	agreeing = phrasesOf(
		"yes", "yeah", "yep", "yup", "ok", "okay", "sure", "agreed", "confirm", "confirmed", "i confirm", "i agree", "i do", "of course", "certainly", "absolutely", "definitely", "correct",
		"go ahead", "do it", "do that", "do so", "please do", "yes do", "i accept", "accepted", "approved", "i approve", "that is correct", "that's correct", "send it", "go for it",
		"ja", "jawohl", "jep", "klar", "einverstanden", "bestatigt", "ich bestatige", "stimmt", "genau", "richtig", "mach das", "mach es", "machen sie das", "machen sie es", "tu das", "in ordnung", "ja gerne", "ja gern", "naturlich", "selbstverstandlich", "ich stimme zu", "ich bin einverstanden", "so ist es",
		"oui", "ouais", "d'accord", "je confirme", "je suis d'accord", "confirme", "bien sur", "entendu", "vas y", "allez y", "faites le", "fais le", "c'est correct", "c'est bon", "absolument", "exactement",
		"si", "vale", "de acuerdo", "confirmo", "estoy de acuerdo", "confirmado", "claro", "claro que si", "por supuesto", "adelante", "hazlo", "hagalo", "correcto", "exacto", "asi es",
	)
	refusing = phrasesOf(
		"no", "nope", "nah", "no way", "not ok", "not okay", "do not", "don't", "dont", "do not do it", "don't do it", "don't do that", "do not do that", "stop", "cancel", "cancel it", "cancel that", "not now", "never", "never mind", "nevermind", "forget it", "i do not agree", "i don't agree", "i disagree", "i refuse", "declined", "i decline", "rather not", "better not", "leave it", "please don't", "please do not",
		"nein", "ne", "nee", "nicht", "lieber nicht", "besser nicht", "auf keinen fall", "nicht ok", "nicht okay", "nicht einverstanden", "nicht machen", "mach das nicht", "mach es nicht", "machen sie das nicht", "abbrechen", "stopp", "halt", "lass es", "lassen sie es", "ich bin nicht einverstanden", "ich lehne ab", "niemals", "nicht jetzt",
		"non", "pas d'accord", "je ne suis pas d'accord", "pas maintenant", "surtout pas", "annule", "annulez", "annuler", "arrete", "arretez", "jamais", "ne le faites pas", "ne fais pas ca", "ne faites pas ca", "je refuse", "pas question", "laisse tomber", "laissez tomber",
		"no estoy de acuerdo", "mejor no", "ahora no", "todavia no", "cancela", "cancelar", "cancele", "para", "pare", "nunca", "no lo hagas", "no lo haga", "de ninguna manera", "dejalo", "dejelo", "rechazo",
	)
	// besides changes nothing of either.
	besides = phrasesOf(
		"please", "thanks", "thank you", "thank you very much", "many thanks", "now", "right now", "right away", "at once", "it", "that", "this", "that is", "that's", "it is", "it's", "is", "hi", "hello", "dear", "well", "so", "then",
		"bitte", "danke", "danke schon", "vielen dank", "jetzt", "sofort", "gleich", "das", "es", "das ist", "ist", "so", "dann", "hallo", "gern", "gerne",
		"merci", "merci beaucoup", "s'il vous plait", "s'il te plait", "svp", "stp", "maintenant", "tout de suite", "c'est", "alors", "bonjour", "ca",
		"por favor", "gracias", "muchas gracias", "ahora", "ahora mismo", "ya", "esta", "es", "eso", "entonces", "hola", "pues",
	)
	// turning makes no answer of what it stands in, and says that the matter is
	// not to go on as it is.
	turning = phrasesOf(
		"not", "no", "nope", "don't", "dont", "never", "wait", "hold", "hold on", "stop", "cancel", "instead", "change", "rather", "but", "unless", "except", "actually", "wrong", "mistake", "undo", "if",
		"nein", "nicht", "kein", "keine", "warte", "warten", "moment", "halt", "stattdessen", "andern", "lieber", "aber", "falsch", "fehler", "doch", "sondern", "wenn", "falls", "ausser",
		"non", "pas", "attends", "attendez", "plutot", "changer", "changez", "mais", "faux", "erreur", "sauf", "annule", "annulez",
		"espera", "espere", "cambia", "cambie", "cambiar", "mejor", "pero", "error", "mal", "salvo", "excepto", "cancela",
	)
	// asking is what whoever asks says, and not who answers.
	asking   = phrasesOf("please confirm", "please agree", "bitte bestatigen", "bitte bestatige", "merci de confirmer", "veuillez confirmer", "por favor confirme", "por favor confirma")
	ordinals = map[string]int{
		"1": 1, "one": 1, "first": 1, "eins": 1, "erste": 1, "ersten": 1, "erstes": 1, "premier": 1, "premiere": 1, "un": 1, "primero": 1, "primera": 1, "uno": 1, "1st": 1,
		"2": 2, "two": 2, "second": 2, "zwei": 2, "zweite": 2, "zweiten": 2, "zweites": 2, "deuxieme": 2, "deux": 2, "segundo": 2, "segunda": 2, "dos": 2, "2nd": 2,
		"3": 3, "three": 3, "third": 3, "drei": 3, "dritte": 3, "dritten": 3, "troisieme": 3, "trois": 3, "tercero": 3, "tercera": 3, "tres": 3, "3rd": 3,
		"last": -1, "letzte": -1, "letzten": -1, "derniere": -1, "dernier": -1, "ultimo": -1, "ultima": -1,
	}
	// around an ordinal: "yes to the second one".
	around = phrasesOf("the", "to", "for", "number", "no.", "nr", "question", "option", "one", "of them", "zu", "zur", "zum", "der", "die", "das", "den", "dem", "nummer", "frage", "le", "la", "les", "pour", "a", "au", "numero", "question", "el", "al", "para", "pregunta", "opcion", "und", "and", "et", "y")
)

// A lexicon finds the longest phrase that begins at a word.
type lexicon map[string][][]string

func phrasesOf(all ...string) lexicon {
	l := lexicon{}
	for _, p := range all {
		words := strings.Fields(p)
		l[words[0]] = append(l[words[0]], words)
	}
	for first := range l {
		slices.SortFunc(l[first], func(a, b []string) int { return len(b) - len(a) })
	}
	return l
}

// at is how many words of a text, from word i on, are a phrase of the lexicon.
func (l lexicon) at(words []string, i int) int {
	for _, p := range l[words[i]] {
		if len(p) <= len(words)-i && slices.Equal(p, words[i:i+len(p)]) {
			return len(p)
		}
	}
	return 0
}

// longestAnswer is how many words an answer has at most.
const longestAnswer = 12

var punctuation = regexp.MustCompile(`[.,!;:…"“”„«»()*_-]+`)

// answer reads what somebody says to a question.
func answer(own string) answered {
	text := runtime.Unmarked(strings.NewReplacer("’", "'", "‘", "'", "¡", " ").Replace(own))
	question := strings.ContainsAny(text, "?¿")
	words := strings.Fields(punctuation.ReplaceAllString(text, " "))
	a := answered{}
	for i := range words {
		if turning.at(words, i) > 0 || refusing.at(words, i) > 1 {
			a.against = true
		}
	}
	if len(words) == 0 || len(words) > longestAnswer || question {
		// A long text is none, and a question asks.
		a.against = a.against && (!question || turning.at(words, 0) > 0)
		return a
	}
	said := map[verdict]bool{}
	which, spoken := 0, true
	for i := 0; i < len(words); {
		n := 0
		switch {
		case asking.at(words, i) > 0:
		case refusing.at(words, i) > agreeing.at(words, i) || refusing.at(words, i) > 0 && agreeing.at(words, i) == refusing.at(words, i):
			n = refusing.at(words, i)
			said[no] = true
		case agreeing.at(words, i) > 0:
			n = agreeing.at(words, i)
			said[yes] = true
		case ordinals[words[i]] != 0:
			n = 1
			if o := ordinals[words[i]]; which == 0 || which == o || words[i] == "one" || words[i] == "un" || words[i] == "uno" {
				if which == 0 {
					which = o
				}
			} else {
				spoken = false // two of them
			}
		default:
			n = max(besides.at(words, i), around.at(words, i))
		}
		if n == 0 {
			spoken = false
			break
		}
		i += n
	}
	if !spoken || said[yes] && said[no] {
		return a
	}
	a.which, a.against = which, false
	switch {
	case said[yes]:
		a.verdict = yes
	case said[no]:
		a.verdict, a.against = no, true
	}
	if a.verdict == neither && which == 0 {
		return answered{}
	}
	return a
}
