package redact

import (
	"cmp"
	"slices"
	"strings"
)

// A Record holds the stored values of the person that a text may be about. Redact
// finds them whatever their case, accents, spaces, punctuation, grouping of digits,
// country prefix, order of words or form of date. Of a name it also finds the first
// and last words, and the last word with initials, but not the last word alone. IDs
// are any other values, such as account numbers and addresses. A value of fewer than
// three letters and digits, or of more than 128, is not looked for, nor is a telephone
// number of fewer than six, nor a value that is spread over more than 384 bytes.
type Record struct {
	Names, Phones, Emails, IDs, Dates []string
}

// Redact replaces personal data by their kinds: "[email]". Each finding of the report
// says where in the text a replacement was made. Findings that overlap are one, of the kind
// of the first. Redacting twice changes nothing.
func Redact(text string, record Record) (string, Report) {
	s := newScanner(record)
	s.values(text)
	s.numbers(text)
	slices.SortStableFunc(s.all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	var out strings.Builder
	var report Report
	end := 0 // of the last finding
	for _, f := range s.all {
		if n := len(report.Findings); f.Start < end {
			report.Findings[n-1].End = max(end, f.End)
		} else {
			out.WriteString(text[end:f.Start] + "[" + string(f.Kind) + "]")
			report.Findings = append(report.Findings, f)
		}
		end = max(end, f.End)
	}
	if end == 0 {
		return text, report
	}
	return out.String() + text[end:], report
}

const (
	span   = 384 // bytes of a record's value, with all characters between its letters
	ahead  = 160 // bytes that are examined after a place
	behind = 96  // and before it
)

// A scanner reads a text from left to right. Its findings at a place depend only on a few bytes
// before and after it, so that the time is proportional to the text.
type scanner struct {
	record *record
	read   recordReader
	dates  []day
	all    []Finding // in no order; they may overlap

	last   int   // end of the last finding or replacement
	ends   []int // ends of values of the record, beyond last
	token  int   // start of the current word, or -1
	known  bool  // the current word has been examined
	skip   int   // end of a date, which is no other number
	looker looker
}

func newScanner(r Record) *scanner {
	s := &scanner{record: compile(r), token: -1}
	for _, text := range r.Dates {
		v := &s.looker.view
		v.show(text, 0, len(text))
		for i := 0; i < v.n; i++ {
			if isDigit(v.c[i]) {
				_, _, days := v.date(i, true)
				s.dates = append(s.dates, days...)
				break
			}
		}
	}
	return s
}
