package phrase

import (
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/words"
	"verbatim/verbs"
)

type codesFound struct {
	codes []string
	at    []int
}

// codesIn finds the codes of a list that a clause mentions, and the words that do so.
func (r *Reader) codesIn(c *clause, l *verbs.CodeList) ([]string, []int) {
	if f := c.codes[l]; f != nil {
		return f.codes, f.at
	}
	if c.codes == nil {
		c.codes = map[*verbs.CodeList]*codesFound{}
	}
	codes, at := r.codesOf(c, l)
	c.codes[l] = &codesFound{codes, at}
	return codes, at
}

func (r *Reader) codesOf(c *clause, l *verbs.CodeList) (codes []string, at []int) {
	longest := 0
	for _, cw := range r.ix.codeWords(l) {
		var where []int
		for _, s := range cw.stems {
			k := slices.IndexFunc(c.stems, func(w string) bool { return w == s || codeAlike(w, s) })
			if k < 0 || c.quoted[k] {
				where = nil
				break
			}
			where = append(where, k)
		}
		switch {
		case where == nil || len(cw.stems) < longest:
		case len(cw.stems) > longest:
			longest, codes, at = len(cw.stems), []string{cw.code}, where
		case slices.Contains(codes, cw.code):
			at = append(at, where...)
		default:
			codes, at = append(codes, cw.code), append(at, where...)
		}
	}
	slices.Sort(at)
	return codes, slices.Compact(at)
}

// codeAlike reports that a word is a form of a code's word.
func codeAlike(w, s string) bool {
	return len(w) >= 5 && len(s) >= 5 && (strings.HasPrefix(w, s) && len(w)-len(s) <= 3 || w[0] == s[0] && dsl.Distance(w, s, 1) <= 1)
}

// patternIn finds the only text in a clause that matches an argument's pattern.
func patternIn(c *clause, p *verbs.Param) (words.Range, bool) {
	if p.Upload != nil {
		if len(c.files) != 1 || !p.Type.Pattern.MatchString(c.raw(c.files[0])) {
			return words.Range{}, false
		}
		return c.files[0], true
	}
	var hit words.Range
	n := 0
	for i := range c.words {
		for j := i; j < min(i+4, len(c.words)); j++ {
			at := words.Range{Start: c.words[i].Range.Start, End: c.words[j].Range.End}
			if raw := c.raw(at); !plainWord(raw) && p.Type.Pattern.MatchString(raw) {
				if n == 0 || at.Start >= hit.End {
					n++
					hit = at
				} else if at.End > hit.End {
					hit = at
				}
			}
		}
	}
	return hit, n == 1
}

// plainWord reports that a text has no digits, so that it may be an ordinary word: an argument with
// a pattern is not filled with such a word.
func plainWord(text string) bool {
	return !strings.ContainsAny(text, "0123456789")
}
