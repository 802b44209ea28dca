package guard

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
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
// says where in the text a replacement was made. Redacting twice changes nothing.
func Redact(text string, record Record) (string, Report) {
	var out strings.Builder
	var report Report
	s := newScanner(record)
	s.told = func(f Finding, joins bool) {
		if n := len(report.Findings); joins {
			report.Findings[n-1].End = max(report.Findings[n-1].End, f.End)
		} else {
			report.Findings = append(report.Findings, f)
		}
	}
	s.emit(&out, text, s.scan(text, 0, true), 0) // a Builder does not fail
	if len(report.Findings) == 0 {
		return text, report
	}
	return out.String(), report
}

// A Writer redacts what is written to it, and gives the same whatever parts a text
// comes in. It keeps back at most HoldBack bytes, some 550, until more is written or it
// is closed, and needs memory for a few of those and for one write. It is for one
// goroutine.
type Writer struct {
	to     io.Writer
	s      *scanner
	buf    []byte
	base   int // how many bytes stood before buf
	counts map[Kind]int
	closed bool
	err    error
}

// HoldBack is how many bytes a Writer keeps back at most.
const HoldBack = span + ahead + utf8.UTFMax

const (
	span   = 384           // bytes of a record's value, with all that stands between its letters
	ahead  = 160           // what is looked at after a place
	behind = 96            // and before it
	kept   = 2*behind + 64 // what stays in memory before the place that is looked at
)

// NewWriter returns a Writer that passes to w what it is given without personal data.
func NewWriter(w io.Writer, record Record) *Writer {
	out := &Writer{to: w, s: newScanner(record), counts: map[Kind]int{}}
	out.s.told = func(f Finding, joins bool) {
		if !joins {
			out.counts[f.Kind]++
		}
	}
	return out
}

// Write takes all of p, and passes on what it can tell by now.
func (w *Writer) Write(p []byte) (int, error) {
	if w.closed {
		return 0, cmp.Or(w.err, io.ErrClosedPipe)
	}
	if w.err != nil {
		return 0, w.err
	}
	w.buf = append(w.buf, p...)
	return len(p), w.pass(false)
}

// Close passes on what was kept back. It does not close what the Writer writes to.
func (w *Writer) Close() error {
	if w.closed || w.err != nil {
		return w.err
	}
	w.closed = true
	return w.pass(true)
}

// Counts says how many findings of each kind were replaced so far.
func (w *Writer) Counts() map[Kind]int { return maps.Clone(w.counts) }

func (w *Writer) pass(final bool) error {
	text := string(w.buf)
	safe := w.s.scan(text, w.base, final)
	if w.err = w.s.emit(w.to, text, safe, w.base); w.err != nil {
		return w.err
	}
	if drop := min(w.s.out, w.s.pos-kept, safe) - w.base; drop > 0 {
		w.buf = append(w.buf[:0], w.buf[drop:]...)
		w.base += drop
	}
	return nil
}

// A scanner reads a text from left to right. What it says of a place depends only on
// a few bytes before and after it, so that a text may come in parts. Offsets count
// from the start of the whole text; base is where the part at hand begins.
type scanner struct {
	record  *record
	read    recordReader
	dates   []day
	pending []Finding
	told    func(f Finding, joins bool)
	out     int // what was passed on, or replaced

	pos    int   // what was looked at for numbers and addresses
	last   int   // where the last finding or replacement ends
	ends   []int // where values of the record end, beyond pos
	token  int   // where the word at pos starts, or -1
	known  bool  // the word at pos was looked at
	skip   int   // a date, which is no other number, ends here
	looker looker
}

func newScanner(r Record) *scanner {
	s := &scanner{record: compile(r), token: -1}
	for _, text := range r.Dates {
		v := &s.looker.view
		v.show(text, 0, 0, len(text))
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

// scan looks at a text as far as it can, and returns the offset before which every
// finding starts that is pending now.
func (s *scanner) scan(text string, base int, final bool) (safe int) {
	s.values(text, base, final)
	end := len(text) - ahead
	if final {
		end = len(text)
	}
	s.numbers(text, base, end)
	if final {
		return base + len(text)
	}
	if s.record == nil {
		return s.pos - behind
	}
	return min(s.pos-behind, s.read.pos-span)
}

// emit passes on what stands before safe, with replacements. Findings that overlap
// are one, of the kind of the first.
func (s *scanner) emit(w io.Writer, text string, safe, base int) error {
	slices.SortStableFunc(s.pending, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	n := 0
	for ; n < len(s.pending) && s.pending[n].Start < safe; n++ {
		f := s.pending[n]
		joins := f.Start < s.out
		if !joins {
			if _, err := io.WriteString(w, text[s.out-base:f.Start-base]+"["+string(f.Kind)+"]"); err != nil {
				return err
			}
		}
		s.told(f, joins)
		s.out = max(s.out, f.End)
	}
	s.pending = append(s.pending[:0], s.pending[n:]...)
	if safe <= s.out {
		return nil
	}
	_, err := io.WriteString(w, text[s.out-base:safe-base])
	s.out = safe
	return err
}
