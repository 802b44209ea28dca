package guard

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

// Rules are what patterns.txt says. A word is a phrase without its spaces, so that
// spaces and marks within an attack change nothing.
type rules struct {
	words *automaton
	size  []int // of each word, in letters
	uses  [][]use
	all   []rule
	of    [][]int32 // the rules that end with a class

	about, mirror int32 // the sets of what speaks of attacks, and of what is read backwards

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
	unless []uint64 // a set of classes that stand before or among the parts
	around []uint64 // of those that may stand after as well
}

type part struct {
	class int32
	gap   int // how many letters may stand before it
}

// none is the class of what has none; most is how many parts a rule may have.
const (
	none = -1
	most = 4
)

// longest is how many letters a word or a mark may have.
const longest = 64

var loadPatterns = sync.OnceValue(func() *rules {
	r, err := readPatterns(patterns)
	if err != nil {
		panic(err) // a test reads the same file
	}
	return r
})

func readPatterns(text string) (*rules, error) {
	const enough = 1024
	r := &rules{}
	classes, numbers := map[string]int32{}, map[string]int{}
	var words, marks []string
	var filled []bool
	class := func(name string) int32 {
		c, ok := classes[name]
		if !ok {
			c = int32(len(r.of))
			classes[name] = c
			r.of, filled = append(r.of, nil), append(filled, false)
		}
		return c
	}
	addAs := func(u use, phrase string) error {
		word := alike(squeeze(phrase))
		if word == "" || len(word) >= longest {
			return fmt.Errorf("%q has no letters, or too many", phrase)
		}
		n, ok := numbers[word]
		if !ok {
			n = len(words)
			numbers[word] = n
			words, r.uses, r.size = append(words, word), append(r.uses, nil), append(r.size, len(word))
		}
		if !slices.Contains(r.uses[n], u) {
			r.uses[n] = append(r.uses[n], u)
		}
		return nil
	}
	add := func(c int32, phrase string) error {
		filled[c] = true
		forms := []string{phrase}
		if old := umlauts.Replace(phrase); old != phrase {
			forms = append(forms, old)
		}
		for _, form := range forms {
			spaces := strings.FieldsFunc(phrase, func(r rune) bool { return r == ' ' || r == '\'' || r == '-' || r == '_' })
			u := use{c, strings.HasPrefix(phrase, "*"), strings.HasSuffix(phrase, "*"), len(spaces)}
			if err := addAs(u, form); err != nil {
				return err
			}
		}
		return nil
	}
	// parse reads parts of a rule, and what joins them.
	parse := func(text string) (parts []int32, joins []string, err error) {
		join, phrase := "", ""
		end := func() {
			if phrase != "" {
				c := class(phrase)
				parts, joins = append(parts, c), append(joins, join)
				err = errors.Join(err, add(c, phrase))
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
				parts, joins = append(parts, class(word)), append(joins, join)
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
	kinds := []Kind{Override, Exfiltration, Prompt, Bypass, Role, Tool, Markup}
	at := 0
	for line := range strings.Lines(text) {
		at++
		line = strings.TrimSpace(line)
		err := error(nil)
		switch verb, rest, _ := strings.Cut(line, " "); verb {
		case "", "#":
		case "set":
			name, list, _ := strings.Cut(rest, " = ")
			for phrase := range strings.SplitSeq(list, ", ") {
				err = errors.Join(err, add(class("{"+name+"}"), phrase))
			}
		case "misspelt":
			for word := range strings.SplitSeq(rest, ", ") {
				n, ok := numbers[alike(squeeze(word))]
				if !ok {
					err = fmt.Errorf("%q stands in no set above", word)
					break
				}
				for _, wrong := range misspelt(squeeze(word)) {
					for _, u := range r.uses[n] {
						err = errors.Join(err, addAs(u, wrong))
					}
				}
			}
		case "mark", "frame":
			mark := strings.ReplaceAll(rest, "^", "\n")
			c := int32(none)
			if verb == "frame" {
				c = class("{frame}")
				filled[c] = true
			}
			if marks, r.frame = append(marks, mark), append(r.frame, c); len(mark) > longest {
				err = fmt.Errorf("a mark has at most %d characters", longest)
			}
		default:
			kind := Kind(strings.TrimSuffix(verb, ":"))
			if !slices.Contains(kinds, kind) {
				err = fmt.Errorf("%q is none of set, misspelt, mark, frame and the kinds", verb)
				break
			}
			rest, unless, _ := strings.Cut(rest, " unless ")
			var parts []int32
			var joins []string
			if parts, joins, err = parse(rest); err != nil {
				break
			}
			u := rule{kind: kind}
			u.unless, u.around = make([]uint64, enough/64), make([]uint64, enough/64)
			excuses := u.unless
			for name := range strings.FieldsSeq(unless) {
				if name == "..." {
					excuses = u.around
				} else if c := class(name); c < enough {
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
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", at, err)
		}
	}
	r.about, r.mirror = class("{about}"), class("{mirrored}")
	if len(r.of) > enough {
		return nil, fmt.Errorf("there are %d sets and words of rules, more than %d", len(r.of), enough)
	}
	for name, c := range classes {
		if !filled[c] {
			return nil, fmt.Errorf("there is no set %s", name)
		}
	}
	for n, u := range r.all {
		last := u.parts[len(u.parts)-1].class
		r.of[last] = append(r.of[last], int32(n))
	}
	r.words, r.marks = newAutomaton(words), newAutomaton(marks)
	for _, m := range marks {
		r.markSize = append(r.markSize, len(m))
	}
	return r, nil
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

// umlauts are often written so.
var umlauts = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue")

// alike writes letters that people mix up as one of them.
func alike(text string) string { return strings.ReplaceAll(text, "l", "i") }
