package intent

import (
	"regexp"
	"strings"
	"unicode"

	"verbatim/runtime/conversation/intent/rank"
	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// A clause is a piece of the message during reading.
type clause struct {
	text     string // of the message
	in       values.In
	tongue   values.Language
	words    []values.Word
	stems    []string
	own      []string // the stems in its own language, if that is not English
	rng      values.Range
	readings []values.Reading
	taken    []bool // words that stand inside a reading, or a reference to a file
	files    []values.Range
	called   []values.Range // names of files
	quoted   []bool         // words that stand in quotation marks
	first    string         // stem of the first word that carries meaning
	question bool
	wish     bool // it asks for something to be done
	negated  bool
	forbids  bool // it begins with a no: "don't", "never"
	supposes bool // it imagines, asks how or whether, or reports the words of others
	ref      Reference
	rows     map[*verbs.Entity]*found
	codes    map[*verbs.CodeList]*codesFound
	dictated *literalText
	weights  []float32
	sought   *rank.Query
	bare     bool           // compared without the words that only ask, greet and thank
	given    []*verbs.Param // arguments whose values an example phrase has
	opening  int            // number of words before the sentence proper
}

func (r *Reader) clause(text string, all []values.Word, readings []values.Reading, in values.In, l values.Language) *clause {
	return r.clauseOf(text, all, readings, in, l, false)
}

// clauseOf is clause; with unnamed, the names of files carry no meaning.
func (r *Reader) clauseOf(text string, all []values.Word, readings []values.Reading, in values.In, l values.Language, unnamed bool) *clause {
	c := &clause{text: text, in: in, tongue: l, words: all, rng: values.Range{Start: all[0].Range.Start, End: all[len(all)-1].Range.End}}
	c.files = filesIn(text, c.rng)
	if unnamed {
		c.called = namesOf(text, c.files)
	}
	for i := range readings {
		if readings[i].Range.Start >= c.rng.Start && readings[i].Range.End <= c.rng.End+1 && !standsFor(all, &readings[i]) && !inside(c.files, readings[i].Range) {
			c.readings = append(c.readings, readings[i])
		}
	}
	c.stems = make([]string, len(all))
	if c.tongue != values.English {
		c.own = make([]string, len(all))
	}
	c.taken = make([]bool, len(all))
	c.quoted = make([]bool, len(all))
	c.weights = make([]float32, len(all))
	tail := text[c.rng.End:]
	end := strings.IndexAny(tail, "?.!\n;")
	c.opening = greeting(all)
	opening := all[c.opening:]
	said := plainly(opening, nil)
	c.wish = polite.in(said)
	c.question = !c.wish && (end >= 0 && tail[end] == '?' || questionWords()[opening[0].Plain] || inverted.in(said) && !upright.in(said)) || strings.HasPrefix(strings.TrimSpace(text[c.rng.Start:]), "¿")
	c.forbids, c.supposes = forbidding.in(said), supposing.in(said)
	quotes := 0
	at := c.rng.Start
	for i := range all {
		w := &all[i]
		quotes += strings.Count(text[at:w.Range.Start], "\"") + strings.Count(text[at:w.Range.Start], "“") + strings.Count(text[at:w.Range.Start], "„") + strings.Count(text[at:w.Range.Start], "«") - strings.Count(text[at:w.Range.Start], "”") - strings.Count(text[at:w.Range.Start], "»")
		at = w.Range.End
		c.quoted[i] = quotes%2 != 0
		c.stems[i] = stem(w.Plain)
		if c.own != nil {
			c.own[i] = stemIn(c.tongue, w.Plain)
		}
		c.taken[i] = inside(c.files, w.Range) || inside(c.called, w.Range)
		for k := range c.readings {
			rd := &c.readings[k]
			if rd.What != values.Country && rd.Range.Start <= w.Range.Start && w.Range.End <= rd.Range.End {
				c.taken[i] = true
			}
		}
		c.weights[i] = 0.85
		if weight, known := r.ix.ranker.Weight(r.rootOf(c, i)); known {
			c.weights[i] = weight
		}
		if c.taken[i] {
			c.weights[i] = 0.15
		} else if small()[w.Plain] {
			c.weights[i] = 0.12
		}
		if c.first == "" && !small()[w.Plain] && !c.taken[i] {
			c.first = c.stems[i]
		}
		c.negated = c.negated || negations()[w.Plain] || w.Plain == "t" && i > 0 && all[i-1].Plain == "can"
	}
	c.ref = c.refers()
	return c
}

// ownStem returns the stem of a word in the language of the sentence, and "" if that is English.
func (c *clause) ownStem(i int) string {
	if c.own == nil {
		return ""
	}
	return c.own[i]
}

// filesIn finds references to files. Their letters and digits mean nothing else.
func filesIn(text string, at values.Range) (all []values.Range) {
	for _, m := range fileReference.FindAllStringIndex(text[at.Start:at.End], -1) {
		all = append(all, values.Range{Start: at.Start + m[0], End: at.Start + m[1]})
	}
	return all
}

// namesOf returns the range of the name before each reference to a file: in "here is Minutes.txt:
// upload://…" it is Minutes.txt. If the words of the name make the rest unclear, they are ignored.
func namesOf(text string, files []values.Range) (all []values.Range) {
	for _, f := range files {
		before, ok := strings.CutSuffix(strings.TrimRightFunc(text[:f.Start], unicode.IsSpace), ":")
		before = strings.TrimRightFunc(before, unicode.IsSpace)
		if at := strings.LastIndexFunc(before, unicode.IsSpace) + 1; ok && strings.Contains(before[at:], ".") {
			all = append(all, values.Range{Start: at, End: len(before)})
		}
	}
	return all
}

var fileReference = regexp.MustCompile(`upload://[A-Za-z0-9_-]+`)

// alike returns a text in which all references to files have the same letters. The letters are
// random and mean nothing: a reference with "v8" must not be read differently from another.
func alike(text string) string {
	return fileReference.ReplaceAllStringFunc(text, func(of string) string {
		return "upload://" + strings.Repeat("x", len(of)-len("upload://"))
	})
}

func inside(all []values.Range, at values.Range) bool {
	for _, r := range all {
		if r.Start <= at.Start && at.End <= r.End {
			return true
		}
	}
	return false
}

// rootOf returns the root of a word as in the palettes: in its own language, or in English.
func (r *Reader) rootOf(c *clause, i int) string {
	if own := c.ownStem(i); own != "" {
		if _, ok := r.ix.ranker.Weight(short(own)); ok {
			return short(own)
		}
	}
	return short(c.stems[i])
}

func (c *clause) has(w values.What) bool {
	for i := range c.readings {
		if c.readings[i].What == w {
			return true
		}
	}
	return false
}
