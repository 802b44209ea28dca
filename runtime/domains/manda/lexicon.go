package manda

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A metric is a quantity that figures measure.
type metric struct {
	name, domain, kind string
	stock              bool     // it is counted at a day
	unsigned           bool     // it is written with or without a minus
	called             []string // in answers of each language, in its forms
}

//go:embed metrics.txt
var metricsFile string

// lexicon holds the metrics by each of their names.
var lexicon = sync.OnceValue(func() map[string]*metric {
	all := map[string]*metric{}
	for line := range strings.Lines(metricsFile) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(strings.TrimSpace(line), "|")
		kinds := strings.Fields(parts[2])
		m := &metric{strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]), kinds[0], slices.Contains(kinds, "stock"), slices.Contains(kinds, "unsigned"), parts[4:]}
		for i, said := range m.called {
			m.called[i] = strings.TrimSpace(said)
		}
		all[plainly(m.name)] = m
		for name := range strings.SplitSeq(parts[3], ";") {
			all[plainly(name)] = m
		}
	}
	return all
})

var tokens = pattern(`[\p{L}\d&]+(?:['’.-][\p{L}\d&]+)*`)

// plainly returns a text in lower case, with one space between words: the words that the pattern
// tokens finds, but without a regular expression, since it reads every passage of a room.
func plainly(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	inside, joint := false, rune(0) // inside a word; the character that joins it to the next letter
	for _, r := range text {
		switch {
		case r == '&' || '0' <= r && r <= '9' || unicode.IsLetter(r):
			if joint != 0 {
				b.WriteRune(joint)
			} else if !inside && b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteRune(unicode.ToLower(r))
			inside, joint = true, 0
		case inside && joint == 0 && (r == '\'' || r == '.' || r == '-'):
			joint = r
		case inside && joint == 0 && r == '’':
			joint = '\''
		default:
			inside, joint = false, 0
		}
	}
	return b.String()
}

// A mention is a metric that a text names, and where.
type mention struct {
	*metric
	at, end int
}

// mostWords is the greatest number of words in the name of a metric.
const mostWords = 7

// mentions returns the metrics that a text names, at each position the longest name.
func mentions(text string) []mention {
	var all []mention
	words := tokens.re().FindAllStringIndex(text, -1)
	for i := 0; i < len(words); i++ {
		for n := min(mostWords, len(words)-i); n > 0; n-- {
			at, end := words[i][0], words[i+n-1][1]
			if m := known(plainly(text[at:end])); m != nil {
				all = append(all, mention{m, at, end})
				i += n - 1
				break
			}
		}
	}
	return all
}

// known finds the metric of a name.
func known(name string) *metric {
	m, _ := inflected(lexicon(), name, func(m *metric) string { return m.name })
	return m
}

// inflected looks up a name whose last word may be in the plural. An English name takes only an
// English plural: German Renten are pensions, not rent.
func inflected[T any](names map[string]T, name string, english func(T) string) (of T, ok bool) {
	if of, ok = names[name]; ok {
		return of, true
	}
	for _, ending := range [...]string{"s", "n", "en", "e", "es"} {
		if short, cut := strings.CutSuffix(name, ending); cut && len(short) > 3 {
			if of, ok = names[short]; ok && (strings.HasSuffix(ending, "s") || short != english(of)) {
				return of, true
			}
		}
	}
	return *new(T), false
}

// A pattern is an expression that is compiled when it is first needed: most runs of the
// program read no documents.
type pattern string

var compiled sync.Map // by pattern

func (p pattern) re() *regexp.Regexp {
	if re, ok := compiled.Load(p); ok {
		return re.(*regexp.Regexp)
	}
	re, _ := compiled.LoadOrStore(p, regexp.MustCompile(string(p)))
	return re.(*regexp.Regexp)
}
