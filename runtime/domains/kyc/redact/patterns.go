package redact

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed patterns.txt
var patterns string

// Rules are the content of patterns.txt. A word is a phrase without its spaces, so that spaces and
// marks within an attack change nothing.
type rules struct {
	words *automaton
	size  []int // of each word, in letters
	uses  [][]use
	all   []rule
	of    [][]int32 // the rules that end with a class

	about, mirror int32 // the sets of words about attacks, and of words that are read backwards

	marks    *automaton
	markSize []int
	frame    []int32 // the class of a mark, or none if the mark alone is a finding
}

// A use is a class that has a word.
type use struct {
	class         int32
	before, after bool // letters may stand before it, after it
	words         int  // that the phrase has
}

// A rule finds its parts in this order, unless one of other classes stands by.
type rule struct {
	kind   Kind
	parts  []part
	unless []uint64 // classes that excuse the sentence before or among the parts
	around []uint64 // classes that excuse it also after the parts
}

type part struct {
	class int32
	gap   int // how many letters may stand before it
}

// none is the class of a word without one; most is the greatest number of parts of a rule.
const (
	none = -1
	most = 4
)

// longest is the greatest length of a word or a mark, in letters.
const longest = 64

var loadPatterns = sync.OnceValue(func() *rules {
	r, err := readPatterns(patterns)
	if err != nil {
		panic(err) // a test reads the same file
	}
	return r
})

// A patternReader reads patterns.txt line by line.
type patternReader struct {
	rules
	classes map[string]int32 // of sets, and of phrases that rules are made of
	filled  []bool           // which classes have a word
	numbers map[string]int   // of words
	list    []string         // of words, by number
	marked  []string         // the marks
}

// mostClasses is the greatest number of classes: each rule keeps two bits for each.
const mostClasses = 1024

func readPatterns(text string) (*rules, error) {
	r := &patternReader{classes: map[string]int32{}, numbers: map[string]int{}}
	at := 0
	for line := range strings.Lines(text) {
		at++
		if err := r.line(strings.TrimSpace(line)); err != nil {
			return nil, fmt.Errorf("line %d: %w", at, err)
		}
	}
	r.about, r.mirror = r.class("{about}"), r.class("{mirrored}")
	if len(r.of) > mostClasses {
		return nil, fmt.Errorf("there are %d sets and words of rules, more than %d", len(r.of), mostClasses)
	}
	for name, c := range r.classes {
		if !r.filled[c] {
			return nil, fmt.Errorf("there is no set %s", name)
		}
	}
	for n, u := range r.all {
		last := u.parts[len(u.parts)-1].class
		r.of[last] = append(r.of[last], int32(n))
	}
	r.words, r.marks = newAutomaton(r.list), newAutomaton(r.marked)
	for _, m := range r.marked {
		r.markSize = append(r.markSize, len(m))
	}
	return &r.rules, nil
}

func (r *patternReader) line(line string) error {
	switch verb, rest, _ := strings.Cut(line, " "); verb {
	case "", "#":
		return nil
	case "set":
		return r.set(rest)
	case "misspelt":
		return r.misspelt(rest)
	case "mark":
		return r.mark(rest, none)
	case "frame":
		c := r.class("{frame}")
		r.filled[c] = true
		return r.mark(rest, c)
	default:
		kind := Kind(strings.TrimSuffix(verb, ":"))
		if !slices.Contains([]Kind{Override, Exfiltration, Prompt, Bypass, Role, Tool, Markup}, kind) {
			return fmt.Errorf("%q is none of set, misspelt, mark, frame and the kinds", verb)
		}
		return r.rule(kind, rest)
	}
}

// class returns the number of a name.
func (r *patternReader) class(name string) int32 {
	c, ok := r.classes[name]
	if !ok {
		c = int32(len(r.of))
		r.classes[name] = c
		r.of, r.filled = append(r.of, nil), append(r.filled, false)
	}
	return c
}

// add gives a class a phrase, in each of its spellings.
func (r *patternReader) add(c int32, phrase string) error {
	r.filled[c] = true
	spaces := strings.FieldsFunc(phrase, func(r rune) bool { return r == ' ' || r == '\'' || r == '-' || r == '_' })
	u := use{c, strings.HasPrefix(phrase, "*"), strings.HasSuffix(phrase, "*"), len(spaces)}
	err := r.spell(u, phrase)
	if old := umlauts.Replace(phrase); old != phrase {
		err = errors.Join(err, r.spell(u, old))
	}
	return err
}

// spell takes one spelling of a phrase for a use.
func (r *patternReader) spell(u use, phrase string) error {
	word := alike(squeeze(phrase))
	if word == "" || len(word) >= longest {
		return fmt.Errorf("%q has no letters, or too many", phrase)
	}
	n, ok := r.numbers[word]
	if !ok {
		n = len(r.list)
		r.numbers[word] = n
		r.list, r.uses, r.size = append(r.list, word), append(r.uses, nil), append(r.size, len(word))
	}
	if !slices.Contains(r.uses[n], u) {
		r.uses[n] = append(r.uses[n], u)
	}
	return nil
}

func (r *patternReader) set(text string) (err error) {
	name, list, _ := strings.Cut(text, " = ")
	c := r.class("{" + name + "}")
	for phrase := range strings.SplitSeq(list, ", ") {
		err = errors.Join(err, r.add(c, phrase))
	}
	return err
}

func (r *patternReader) misspelt(text string) (err error) {
	for word := range strings.SplitSeq(text, ", ") {
		n, ok := r.numbers[alike(squeeze(word))]
		if !ok {
			return fmt.Errorf("%q stands in no set above", word)
		}
		for _, wrong := range misspelt(squeeze(word)) {
			for _, u := range r.uses[n] {
				err = errors.Join(err, r.spell(u, wrong))
			}
		}
	}
	return err
}

func (r *patternReader) mark(text string, class int32) error {
	mark := strings.ReplaceAll(text, "^", "\n")
	if len(mark) > longest {
		return fmt.Errorf("a mark has at most %d characters", longest)
	}
	r.marked, r.frame = append(r.marked, mark), append(r.frame, class)
	return nil
}

func (r *patternReader) rule(kind Kind, text string) error {
	text, unless, _ := strings.Cut(text, " unless ")
	parts, joins, err := r.parts(text)
	if err != nil {
		return err
	}
	u := rule{kind: kind, unless: make([]uint64, mostClasses/64), around: make([]uint64, mostClasses/64)}
	excuses := u.unless
	for name := range strings.FieldsSeq(unless) {
		if name == "..." {
			excuses = u.around
		} else if c := r.class(name); c < mostClasses {
			excuses[c/64] |= 1 << (c % 64)
		}
	}
	for i, c := range parts {
		gap := near
		if joins[i] != "" {
			gap = reach
		}
		u.parts = append(u.parts, part{c, gap})
	}
	r.all = append(r.all, u)
	if i := slices.Index(joins, "~"); i > 0 { // the other way round, too
		turned := slices.Concat(u.parts[i:], u.parts[:i])
		turned[len(parts)-i].gap = reach
		u.parts = turned
		r.all = append(r.all, u)
	}
	return nil
}

// parts reads the classes that a rule is made of, and what joins each to the one before.
func (r *patternReader) parts(text string) (parts []int32, joins []string, err error) {
	join, phrase := "", ""
	end := func() {
		if phrase != "" {
			c := r.class(phrase)
			parts, joins = append(parts, c), append(joins, join)
			err = errors.Join(err, r.add(c, phrase))
			join, phrase = "", ""
		}
	}
	for _, word := range strings.Fields(text) {
		switch {
		case word == "..." || word == "~":
			end()
			join = word
		case word[0] == '{':
			end()
			parts, joins = append(parts, r.class(word)), append(joins, join)
			join = ""
		default:
			phrase = strings.TrimSpace(phrase + " " + word)
		}
	}
	end()
	if len(parts) == 0 || len(parts) > most || join != "" || joins[0] != "" {
		err = errors.Join(err, fmt.Errorf("%q is no rule of one to %d parts", text, most))
	}
	return parts, joins, err
}

// misspelt gives a word without one of its letters, or with two that changed places.
func misspelt(word string) (all []string) {
	for i := 1; i < len(word); i++ {
		if all = append(all, word[:i]+word[i+1:]); i+1 < len(word) {
			all = append(all, word[:i]+string([]byte{word[i+1], word[i]})+word[i+2:])
		}
	}
	return all
}

// umlauts are often written like this.
var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue")

// alike replaces letters that people mix up by one of them.
func alike(text string) string { return strings.ReplaceAll(text, "l", "i") }
