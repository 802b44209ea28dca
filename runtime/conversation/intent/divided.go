package intent

import (
	"strings"

	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// A phrase may have words behind the place of a text: "add the book {title} by {author}". They
// end the text: of "add the book Emma by Jane Austen", the title is "Emma".

// divided returns the range of the text in the place of an argument of such phrases. how is unsaid
// if words of a phrase stand several times, so that the text may end at each of them.
func (r *Reader) divided(v *verbs.Verb, pr *verbs.Param, c *clause) (at values.Range, how how) {
	longest := 0
	all := r.ix.templatesOf(v)
	for t := range all {
		tp := &all[t]
		if len(tp.words) <= longest || !tp.divides() {
			continue
		}
		if from, to, ways := tp.place(pr, c); ways > 0 {
			longest, how = len(tp.words), unsaid
			if ways == 1 {
				at, how = c.quotation(from, to), said
			}
		}
	}
	return at, how
}

// divides reports that words of a phrase stand behind a place of a text.
func (tp *template) divides() bool {
	for i := range tp.words[:max(len(tp.words)-1, 0)] {
		if p := tp.words[i].param; p != nil && freeText(p) {
			return true
		}
	}
	return false
}

// place finds the words of a clause in the place of an argument, and counts the ways to find
// them. The phrase may begin anywhere, and ends with the clause. A place has one word or more.
func (tp *template) place(pr *verbs.Param, c *clause) (from, to, ways int) {
	n, m := len(tp.words), len(c.words)
	colon := -1 // the word that has to be the first behind a colon
	if tp.colon {
		for at := c.colon(); colon < m && (colon < 0 || c.words[colon].Range.Start < at); {
			colon++
		}
	}
	fits := func(k, i int) bool { // as one word, or as the first of a place
		if w := &tp.words[k]; w.param == nil {
			return c.is(i, w.stem) && !c.quoted[i]
		}
		return k != n-1 || colon < 0 || i == colon
	}
	// begins[k][i]: token k may begin at word i, given the tokens before it.
	// ends[k][i]: tokens k to the last fit words i to the last.
	begins, ends := make([][]bool, n+1), make([][]bool, n+1)
	for k := range begins {
		begins[k], ends[k] = make([]bool, m+1), make([]bool, m+1)
	}
	for first := 0; first < n && tp.words[first].param == nil; first++ {
		for i := range m {
			begins[first][i] = true
		}
		if !small()[tp.words[first].stem] {
			break // "add the book" matches the phrase "please add the book"
		}
	}
	if tp.words[0].param != nil {
		begins[0][c.opening] = true
	}
	for k := range n {
		open := false
		for i := range m {
			open = open && tp.words[k].param != nil || begins[k][i] && fits(k, i)
			begins[k+1][i+1] = begins[k+1][i+1] || open
		}
	}
	ends[n][m] = true
	for k := n - 1; k > 0; k-- {
		closed := false
		for i := m - 1; i >= 0; i-- {
			closed = closed && tp.words[k].param != nil || ends[k+1][i+1]
			ends[k][i] = closed && fits(k, i)
		}
	}
	for k := range n {
		if tp.words[k].param != pr {
			continue
		}
		for i := range m {
			for j := i + 1; j <= m && begins[k][i] && fits(k, i); j++ {
				if ends[k+1][j] {
					from, to, ways = i, j, ways+1
				}
			}
		}
	}
	return from, to, ways
}

// quotation returns the range of words of a clause, with the quotation marks around them.
func (c *clause) quotation(from, to int) values.Range {
	at := values.Range{Start: c.words[from].Range.Start, End: c.words[to-1].Range.End}
	for _, q := range quotations {
		if strings.HasSuffix(c.text[:at.Start], q[0]) && strings.HasPrefix(c.text[at.End:], q[1]) {
			return unquoted(c.text, values.Range{Start: at.Start - len(q[0]), End: at.End + len(q[1])})
		}
	}
	return at
}
