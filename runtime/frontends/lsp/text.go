package lsp

import (
	"sort"
	"unicode/utf8"

	"verbatim/dsl"
)

// A text is one version of a document, with the starts of its lines. The protocol counts
// lines from zero and characters in UTF-16; everything else here counts bytes.
type text struct {
	src   *dsl.Source
	lines []int
}

func newText(name, s string) *text {
	t := &text{src: dsl.NewSource(name, s), lines: []int{0}}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\n', s[i] == '\r' && (i+1 == len(s) || s[i+1] != '\n'):
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// offset returns the byte at a position. A position beyond the end of a line means its end, and one
// inside a character means its start.
func (t *text) offset(p position) int {
	s := t.src.Text
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.lines) {
		return len(s)
	}
	at, left := t.lines[p.Line], p.Character
	for at < len(s) && left > 0 && s[at] != '\n' && s[at] != '\r' {
		r, size := utf8.DecodeRuneInString(s[at:])
		if left -= units(r); left < 0 {
			break
		}
		at += size
	}
	return at
}

// units returns the number of UTF-16 units of a character.
func units(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// A ruler finds positions. It continues from the last one if it can, so that many positions on one
// long line take the time of one.
type ruler struct {
	t              *text
	line, at, char int
}

func (t *text) ruler() *ruler { return &ruler{t: t} }

func (r *ruler) position(offset int) position {
	s := r.t.src.Text
	offset = max(0, min(offset, len(s)))
	line := sort.SearchInts(r.t.lines, offset+1) - 1
	if line != r.line || offset < r.at {
		r.line, r.at, r.char = line, r.t.lines[line], 0
	}
	for r.at < offset {
		c, size := utf8.DecodeRuneInString(s[r.at:])
		if r.at+size > offset {
			break
		}
		r.at += size
		r.char += units(c)
	}
	return position{r.line, r.char}
}

func (r *ruler) span(of dsl.Range) span {
	return span{r.position(int(of.Start)), r.position(int(of.End))}
}

// edited returns the text after changes, each of which applies to the result of the one before.
func (t *text) edited(changes []change) *text {
	for _, c := range changes {
		if c.Range == nil {
			t = newText(t.src.Name, c.Text)
			continue
		}
		from := t.offset(c.Range.Start)
		to := max(from, t.offset(c.Range.End))
		t = newText(t.src.Name, t.src.Text[:from]+c.Text+t.src.Text[to:])
	}
	return t
}

// word returns the range of the name around a byte.
func (t *text) word(at int, part func(c byte) bool) dsl.Range {
	s := t.src.Text
	from, to := at, at
	for from > 0 && part(s[from-1]) {
		from--
	}
	for to < len(s) && part(s[to]) {
		to++
	}
	return dsl.Range{Start: int32(from), End: int32(to)}
}

// ofName reports whether names hold a byte, apart from the dots between their parts.
func ofName(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}
