package dsl

import (
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Source is a named text: a script, a palette file, a message. Ranges are byte offsets into
// Text; lines and columns are computed only for messages. A Source is immutable and may be shared
// by goroutines.
type Source struct {
	Name string // a file name, "-" for standard input; printed, never opened
	Text string

	once  sync.Once
	lines []int32 // offset of the first byte of each line
}

// NewSource makes a source from a text.
func NewSource(name, text string) *Source { return &Source{Name: name, Text: text} }

// A Range is the half-open range of bytes [Start, End) of a Source.
type Range struct{ Start, End int32 }

// A Position is a position as editors show it: both numbers count from one, a column is one
// Unicode code point (a tab is one, a byte order mark none), and CRLF, LF and a lone CR each end
// a line.
type Position struct{ Line, Column int }

// A Place is a range of a particular source.
type Place struct {
	Source *Source
	Range  Range
}

// Position converts a byte offset; offsets outside the text are clamped to it.
func (s *Source) Position(offset int32) Position {
	s.once.Do(s.index)
	offset = max(0, min(offset, int32(len(s.Text))))
	line := sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > offset })
	start := s.lines[line-1]
	if start == 0 && strings.HasPrefix(s.Text, bom) && offset >= int32(len(bom)) {
		start = int32(len(bom))
	}
	return Position{line, utf8.RuneCountInString(s.Text[start:max(start, offset)]) + 1}
}

// Line returns the text of a line, counted from one, without its line break or
// a byte order mark.
func (s *Source) Line(n int) string {
	s.once.Do(s.index)
	if n < 1 || n > len(s.lines) {
		return ""
	}
	end := int32(len(s.Text))
	if n < len(s.lines) {
		end = s.lines[n]
	}
	line := strings.TrimRight(s.Text[s.lines[n-1]:end], "\r\n")
	if n == 1 {
		line = strings.TrimPrefix(line, bom)
	}
	return line
}

func (s *Source) index() {
	s.lines = append(s.lines, 0)
	for i := 0; i < len(s.Text); i++ {
		switch s.Text[i] {
		case '\n':
			s.lines = append(s.lines, int32(i+1))
		case '\r':
			if i+1 == len(s.Text) || s.Text[i+1] != '\n' {
				s.lines = append(s.lines, int32(i+1))
			}
		}
	}
}

const bom = "\ufeff"
