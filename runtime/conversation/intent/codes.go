package intent

import (
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
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

// codePart finds the one code of a list of which a clause has a word: "por correo" of "correo electrónico".
func (r *Reader) codePart(c *clause, l *verbs.CodeList) (codes []string, at []int) {
	for _, cw := range r.ix.codeWords(l) {
		for i := range c.words {
			if !slices.Contains(cw.stems, c.stems[i]) || small()[c.words[i].Plain] {
				continue
			}
			if len(codes) > 0 && codes[0] != cw.code {
				return nil, nil
			}
			codes, at = []string{cw.code}, append(at, i)
		}
	}
	return codes, at
}

// codeAlike reports that a word is a form of a code's word.
func codeAlike(w, s string) bool {
	return len(w) >= 5 && len(s) >= 5 && (strings.HasPrefix(w, s) && len(w)-len(s) <= 3 || w[0] == s[0] && dsl.Distance(w, s, 1) <= 1)
}

// patternIn finds the only text in a clause that matches an argument's pattern. Digits inside a
// longer number or a date are no value of their own, and neither is what another argument has.
func patternIn(c *clause, p *verbs.Param, has ...Arg) (values.Range, bool) {
	if p.Upload != nil {
		if len(c.files) != 1 || !p.Type.Pattern.MatchString(c.raw(c.files[0])) {
			return values.Range{}, false
		}
		return c.files[0], true
	}
	var hit values.Range
	n := 0
	for i := range c.words {
		for j := i; j < min(i+4, len(c.words)); j++ {
			at := values.Range{Start: c.words[i].Range.Start, End: c.words[j].Range.End}
			if raw := c.raw(at); !plainWord(raw) && p.Type.Pattern.MatchString(raw) && !c.withinNumber(at) && !slices.ContainsFunc(has, func(a Arg) bool { return a.Range.Start < at.End && at.Start < a.Range.End }) {
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

// withinNumber reports that a text is only a part of a value that was read, or of a number: other
// digits stand before or behind it with one blank or mark between.
func (c *clause) withinNumber(at values.Range) bool {
	digit := func(i int) bool { return i >= 0 && i < len(c.text) && c.text[i] >= '0' && c.text[i] <= '9' }
	mark := func(i int) bool { return i >= 0 && i < len(c.text) && strings.IndexByte(" -./", c.text[i]) >= 0 }
	if digit(at.Start) && mark(at.Start-1) && digit(at.Start-2) || digit(at.End-1) && mark(at.End) && digit(at.End+1) {
		return true
	}
	return slices.ContainsFunc(c.readings, func(rd values.Reading) bool {
		return rd.Range != at && rd.Range.Start <= at.Start && at.End <= rd.Range.End
	})
}

// plainWord reports that a text has no digits, so that it may be an ordinary word: an argument with
// a pattern is not filled with such a word.
func plainWord(text string) bool {
	return !strings.ContainsAny(text, "0123456789")
}
