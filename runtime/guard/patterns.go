package guard

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed patterns.txt
var patterns string

// Rules are what patterns.txt says. A word of a pattern is a phrase without its
// spaces, so that spaces and marks within an attack change nothing.
type rules struct {
	words *automaton
	size  []int  // of each word, in letters
	open  []bool // any ending may follow the word
	uses  [][]use
	stops []int // how many words of a text each stop is; 0 for a word that is none
	parts int

	marks    *automaton
	markSize []int
}

// A use is where a word stands in a pattern.
type use struct {
	before, part int32 // numbers of the part before and of this one, or none
	kind         Kind  // set in the last part of a pattern
	any          bool  // any ending follows the word
	loose        bool  // other words may stand before it
}

// none is the part before the first of a pattern, and the last itself, which need not
// be remembered.
const none = -1

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
	r := &rules{}
	sets := map[string][]string{}
	numbers := map[string]int{}
	var words, marks []string
	number := func(phrase string) (n int, err error) {
		word := alike(squeeze(phrase))
		n, ok := numbers[word]
		if !ok {
			if word == "" || len(word) > longest {
				return 0, fmt.Errorf("%q has no letters, or too many", phrase)
			}
			n = len(words)
			numbers[word] = n
			words, r.uses, r.stops, r.open = append(words, word), append(r.uses, nil), append(r.stops, 0), append(r.open, false)
		}
		return n, nil
	}
	pattern := func(kind Kind, text string) error {
		var parts [][]string
		var loose []bool
		open, phrase := false, ""
		end := func() {
			if phrase != "" {
				parts, loose = append(parts, []string{phrase}), append(loose, open)
				open, phrase = false, ""
			}
		}
		for _, word := range strings.Fields(text) {
			switch name, isSet := strings.CutPrefix(word, "{"); {
			case word == "...":
				end()
				open = true
			case isSet:
				end()
				set := sets[strings.TrimSuffix(name, "}")]
				if len(set) == 0 {
					return fmt.Errorf("there is no set %s", word)
				}
				parts, loose = append(parts, set), append(loose, open)
				open = false
			default:
				phrase = strings.TrimSpace(phrase + " " + word)
			}
		}
		end()
		if len(parts) == 0 || open || loose[0] {
			return fmt.Errorf("%q does not begin and end with words", text)
		}
		before := int32(none)
		for i, part := range parts {
			this := int32(r.parts)
			if i == len(parts)-1 {
				this = none
			} else {
				r.parts++
			}
			for _, phrase := range part {
				n, err := number(phrase)
				if err != nil {
					return err
				}
				u := use{before: before, part: this, loose: loose[i], any: strings.HasSuffix(phrase, "*")}
				if this == none {
					u.kind = kind
				}
				r.uses[n], r.open[n] = append(r.uses[n], u), r.open[n] || u.any
			}
			before = this
		}
		return nil
	}
	kinds := []Kind{Override, Exfiltration, Prompt, Bypass, Role, Tool}
	for line := range strings.Lines(text) {
		if set, ok := strings.CutPrefix(strings.TrimSpace(line), "set "); ok {
			name, list, _ := strings.Cut(set, " = ")
			sets[name] = append(sets[name], strings.Split(list, ", ")...)
		}
	}
	at := 0
	for line := range strings.Lines(text) {
		at++
		line = strings.TrimSpace(line)
		err := error(nil)
		switch verb, rest, _ := strings.Cut(line, " "); {
		case line == "" || verb == "#" || verb == "set":
		case verb == "stop":
			for phrase := range strings.SplitSeq(rest, ", ") {
				var n int
				if n, err = number(phrase); err != nil {
					break
				}
				r.stops[n] = len(strings.FieldsFunc(phrase, func(r rune) bool { return r == ' ' || r == '\'' }))
			}
		case verb == "mark":
			mark := strings.ReplaceAll(rest, "^", "\n")
			if marks = append(marks, mark); len(mark) > longest {
				err = fmt.Errorf("a mark has at most %d characters", longest)
			}
		default:
			kind := Kind(strings.TrimSuffix(verb, ":"))
			if !slices.Contains(kinds, kind) {
				err = fmt.Errorf("%q is neither set, stop, mark nor a kind", verb)
				break
			}
			err = pattern(kind, rest)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", at, err)
		}
	}
	// A later part is looked at first: the word that ends one part does not begin the next.
	for _, uses := range r.uses {
		slices.SortStableFunc(uses, func(a, b use) int { return int(b.before - a.before) })
	}
	r.words, r.marks = newAutomaton(words), newAutomaton(marks)
	for _, w := range words {
		r.size = append(r.size, len(w))
	}
	for _, m := range marks {
		r.markSize = append(r.markSize, len(m))
	}
	return r, nil
}

// alike writes letters that people mix up as one of them.
func alike(text string) string { return strings.ReplaceAll(text, "l", "i") }
