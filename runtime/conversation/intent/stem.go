package intent

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"verbatim/runtime/conversation/values"
)

// stem returns the form of a word that its inflections share.
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

// root returns the stem of a word for comparison, cut to a length: long words of one family begin
// alike.
func root(l values.Language, w string) string { return short(stemIn(l, w)) }

func short(s string) string { return s[:min(len(s), longestRoot)] }

const longestRoot = 8

// The words and expressions of a language are in its file, see values.Phrases.

// cuesOf returns the phrases of all languages under a key, by their first word.
func cuesOf(key string) func() map[string][][]string {
	return sync.OnceValue(func() map[string][][]string {
		all := map[string][][]string{}
		for _, p := range values.Phrases(key) {
			f := strings.Fields(p)
			all[f[0]] = append(all[f[0]], f)
		}
		for first := range all {
			slices.SortFunc(all[first], func(a, b []string) int { return len(b) - len(a) })
		}
		return all
	})
}

// set returns the words under some keys in all languages: people mix them.
func set(keys ...string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		all := map[string]bool{}
		for _, key := range keys {
			for _, w := range values.Phrases(key) {
				all[w] = true
			}
		}
		return all
	})
}

var (
	negations     = set("denial")        // turn a sentence round
	refusals      = set("refusing")      // are a no by themselves
	questionWords = set("interrogative") // begin a question
	joins         = set("joining")       // stand between two things that are said in one sentence
	conjunctions  = set("conjunction")   // stand before a text, like a colon
	closers       = set("closing")       // and behind it
	mine          = set("own")
	following     = set("following") // say that something follows
	articles      = set("article")
	slight        = set("slight") // the small words that ask nothing
)

// small words carry little meaning.
var small = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range set("slight", "title")() {
		for _, l := range values.Languages() {
			m[w], m[stemIn(l, w)] = true, true
		}
	}
	for _, w := range values.Phrases("wondering") {
		m[w] = true // but not its stem
	}
	return m
})

// An expression matches the beginning of a sentence, or a part of it, in all languages.
type expression func() *regexp.Regexp

func begins(key string) expression { return compiled("^(?:", key, ")$") }
func holds(key string) expression  { return compiled(`(?:^| )(?:`, key, `)(?: |$)`) }

func compiled(before, key, after string) expression {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(before + values.Expression(key) + after) })
}

func (e expression) in(said string) bool { return e().MatchString(said) }

var (
	// inverted matches a question by the order of its words: "is Maria an owner"; upright matches a
	// sentence that is no question: "was born on", with the subject left out.
	inverted, upright = begins("asked"), begins("unasked")
	// polite matches a question that asks for an action: "could you".
	polite = begins("polite")
	// forbidding matches the beginning of a prohibition: "do not send it".
	forbidding = begins("forbids")
	// supposing matches a sentence that imagines something, asks how or whether it is done, or
	// reports the words of others, and so orders nothing.
	supposing = begins("supposes")
)

// plainly returns words in their compared form, without those in quotation marks.
func plainly(all []values.Word, quoted []bool) string {
	var b strings.Builder
	for i := range all {
		if quoted == nil || !quoted[i] {
			b.WriteString(all[i].Plain + " ")
		}
	}
	return strings.TrimSuffix(b.String(), " ")
}

// courtesy matches what stands before and behind what is wanted. The words of greetings come first, then
// what only makes a request of it.
var courtesy = sync.OnceValue(func() (of struct{ greeting, request, thanks *regexp.Regexp }) {
	words := func(key string) string { return strings.Join(values.Phrases(key), "|") }
	of.greeting = regexp.MustCompile(`^(?:by the way |(?:` + values.Expression("greeting") + "|" + words("opening") + "|" + words("title") + `) )+`)
	of.request = regexp.MustCompile(`^(?:(?:` + values.Expression("request") + "|" + words("opening") + `) )+`)
	of.thanks = regexp.MustCompile(`^(?:(?:` + values.Expression("thanking") + "|" + values.Expression("thanks") + "|" + words("closing") + `) )+$`)
	return of
})

// mostThanks is how many words of thanks are left out.
const mostThanks = 8

// greeting returns the number of words before the sentence proper; one is always left.
func greeting(all []values.Word) int {
	return max(0, min(len(all)-1, strings.Count(courtesy().greeting.FindString(plainly(all, nil)+" "), " ")))
}

// spared returns the words of a sentence without those that only ask, greet and thank, from its opening
// on; two words are always left.
func spared(all []values.Word, opening int) (from, to int) {
	from, to = opening, len(all)
	if n := strings.Count(courtesy().request.FindString(plainly(all[from:], nil)+" "), " "); to-from-n > 1 {
		from += n
	}
	for n := min(mostThanks, to-from-2); n > 0; n-- {
		if courtesy().thanks.MatchString(plainly(all[to-n:], nil) + " ") {
			return from, to - n
		}
	}
	return from, to
}
