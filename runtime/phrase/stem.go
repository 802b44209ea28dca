package phrase

import (
	"strings"
	"sync"

	"verbatim/runtime/words"
)

// stem is the form of a word that its inflections share.
func stem(w string) string {
	n := len(w)
	switch {
	case n > 4 && strings.HasSuffix(w, "ies"):
		return w[:n-3] + "y"
	case n > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "shes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "xes")):
		w = w[:n-2]
	case n > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		w = w[:n-1]
	}
	n = len(w)
	switch {
	case n > 5 && strings.HasSuffix(w, "ing"):
		w = undouble(w[:n-3])
	case n > 4 && strings.HasSuffix(w, "ied"):
		w = w[:n-3] + "y"
	case n > 4 && strings.HasSuffix(w, "ed"):
		w = undouble(w[:n-2])
	}
	if n = len(w); n > 4 && w[n-1] == 'e' {
		w = w[:n-1]
	}
	return w
}

func undouble(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && strings.IndexByte("bdgmnprt", w[n-1]) >= 0 {
		return w[:n-1]
	}
	return w
}

// root is the stem of a word as texts are compared: long words of one family begin
// alike.
func root(l words.Language, w string) string { return short(stemIn(l, w)) }

func short(s string) string { return s[:min(len(s), longestRoot)] }

const longestRoot = 8

// titles stand before the names of people.
const titles = "mr mrs ms mx dr herr herrn frau fraulein monsieur madame mme mlle senor senora senorita sr sra srta "

// small words carry little of what is meant.
var small = sync.OnceValue(func() map[string]float64 {
	m := map[string]float64{}
	for w := range strings.FieldsSeq("a an the of to in on at by for with from is are was were am been being has had does did and or so just please now then there here it this that these those be do have will would can could shall should may might must i we you he she they them him her his my our your their its us also too very really quite some any all as into about up out off over well ok okay hi hello thank thanks dear like s t m re ve ll d one get got let yes still yet already today am pm oh hey um other " +
		"der die das den dem des ein eine einen einem einer und oder ist sind war wir ich sie er es zu im in am auf mit von bitte danke noch schon auch uns mir ihr andere anderen denn mal eigentlich halt eben " +
		"le la les un une des de du et ou est sont nous vous je il elle pour par sur avec au aux ce cette merci encore autre " +
		"el los las una y o es son nosotros yo para por con en al del lo gracias todavia otro otra " +
		titles) {
		for _, l := range words.Languages {
			m[w], m[stemIn(l, w)] = 0.12, 0.12
		}
	}
	for w := range strings.FieldsSeq("what how why who when where which whom was wie warum wer wann wo quoi comment pourquoi qui quand que como porque quien cuando donde") {
		m[w] = 0.45
	}
	return m
})

// negations turn a sentence round.
var negations = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("not never don doesn didn won wouldn isn aren wasn weren hasn haven hadn shouldn couldn needn mustn dont doesnt didnt wont wouldnt isnt arent wasnt hasnt havent cant shouldnt cannot nicht kein keine keinen nie pas jamais nunca without") {
		m[w] = true
	}
	return m
})

// questionWords begin a question.
var questionWords = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("what how why who when where which whom whose wie warum wer wann wo welche welcher quoi comment pourquoi qui quand quel quelle combien est cual como quien cuando donde cuanto") {
		m[w] = true
	}
	return m
}()

// joins are words between two things that are said in one sentence.
var joins = map[string]bool{"and": true, "then": true, "und": true, "dann": true, "et": true, "puis": true, "y": true, "luego": true}

// openers are what people say before they say what they want.
var openers = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("yes ja oui so and but or well ok okay hi hello hey dear please pls sorry thanks thank you now then also oh um quick question just good morning afternoon evening day " +
		"hallo guten tag morgen abend servus moin gruss gott gruezi also bitte und aber sehr geehrte geehrter liebe lieber " +
		"bonjour bonsoir salut coucou alors et mais cher chere " + "hola buenos buenas dias tardes noches pues y pero estimado estimada " + titles) {
		m[w] = true
	}
	return m
}()

// closers are what people say behind what they want.
var closers = map[string]bool{"please": true, "pls": true, "thanks": true, "yes": true, "bitte": true, "danke": true, "ja": true, "merci": true, "oui": true, "gracias": true}

// greeting is how many words of a sentence say nothing before it begins; one is
// left.
func greeting(all []words.Word) int {
	n := 0
	if len(all) > 3 && all[0].Plain == "by" && all[1].Plain == "the" && all[2].Plain == "way" {
		n = 3
	}
	for n+1 < len(all) && openers[all[n].Plain] {
		n++
	}
	return n
}

// inverted reports a question by the order of its words: "is Maria an owner".
func inverted(all []words.Word) bool {
	if len(all) < 3 {
		return false
	}
	if next := all[1].Plain; next == "born" || next == "been" || next == "not" || strings.HasSuffix(next, "ed") {
		return false // "was born on", the subject left out
	}
	switch all[0].Plain {
	case "is", "are", "was", "were", "am", "has", "had", "did", "does", "isn", "aren", "isnt", "arent", "wasn", "hasn", "didn", "doesn", "ist", "sind", "hat", "haben", "est":
		return true
	case "do", "have", "should", "may", "must", "might":
		switch all[1].Plain {
		case "i", "we", "you", "they", "he", "she", "it", "the", "any", "your", "our", "my", "clients", "client":
			return true
		}
	case "any", "anything", "anybody", "anyone":
		return true
	}
	return false
}

// forbidding reports a sentence that begins with a no: "do not send it".
func forbidding(all []words.Word) bool {
	for i := range min(2, len(all)) {
		switch all[i].Plain {
		case "don", "dont", "never", "jamais", "nunca":
			return true
		case "not", "nicht", "pas":
			return i == 1
		}
	}
	return false
}

// supposing reports that a sentence imagines something, asks how or whether it is
// done, or tells what others say, and so orders nothing.
func supposing(all []words.Word) bool {
	at := func(i int) string {
		if i < len(all) {
			return all[i].Plain
		}
		return ""
	}
	switch at(0) {
	case "if", "suppose", "supposing", "imagine", "assuming", "wenn", "falls", "angenommen", "si", "supongamos":
		return true
	case "what", "was":
		return at(1) == "if" || at(1) == "happens" || at(1) == "happen" || at(1) == "would" && at(2) == "happen" || at(1) == "passiert"
	case "how":
		return at(1) == "do" || at(1) == "does" || at(1) == "can" || at(1) == "could" || at(1) == "would" || at(1) == "to" || at(1) == "should"
	case "should", "may", "must":
		return at(1) == "i" || at(1) == "we"
	case "can", "could":
		return at(1) != "you"
	case "would":
		return at(1) != "you"
	case "is", "are", "am":
		for i := 1; i < len(all) && i < 5; i++ {
			switch all[i].Plain {
			case "allowed", "possible", "supposed", "permitted":
				return true
			}
		}
	}
	return false
}
