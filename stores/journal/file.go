package journal

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"verbatim/stores"
)

// A journal outside of a store is a file of lines, each of them JSON:
//
//	{"verbatim":"journal","version":2}
//	{"entry":{"seq":1, …}}
//	{"opening":{"id":"…","principal":"…","values":"…"}}
//	{"end":{"entries":1,"hash":"…"}}
//
// Entries are in the order of their places. An opening follows the entry that it belongs to. The last
// line has the place and the hash of the last entry, so that a file that was cut off is not taken for
// a shorter journal. A file of version 1 has only entries of the older chain, which have no place and
// no salt, and the hashes of the chain. There is one way to write
// each line. A reader refuses any other, and every unknown field: what is dropped silently could
// no longer be proved.

// fileVersion is the version that is written; ofChain is read too.
const (
	fileVersion = 2
	ofChain     = 1
)

// maxLine bounds a line: an entry holds one call and what it changed.
const maxLine = 256 << 20

// A FileError says what is wrong with a file, and in which line.
type FileError struct {
	Line int
	Msg  string
}

func (e *FileError) Error() string { return fmt.Sprintf("line %d %s", e.Line, e.Msg) }

// A Writer writes a journal into a file.
type Writer struct {
	w    *bufio.Writer
	b    []byte
	last stores.Entry
}

// NewWriter begins a file.
func NewWriter(w io.Writer) *Writer {
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(out, `{"verbatim":"journal","version":%d}`+"\n", fileVersion) // a failure stays with out
	return &Writer{w: out}
}

// Entry writes the next entry, and its opening unless that is nil or empty.
func (w *Writer) Entry(e *stores.Entry, o *Opening) error {
	w.b = appendEntry(w.b[:0], e)
	if o != nil && o.Len() > 0 {
		w.b = appendOpening(w.b, o)
	}
	w.last = *e
	_, err := w.w.Write(w.b)
	return err
}

// Close writes the last line. It does not close the underlying writer.
func (w *Writer) Close() error {
	_, _ = w.w.Write(appendEnd(nil, &w.last)) // a failure stays with w
	return w.w.Flush()
}

func appendEnd(b []byte, last *stores.Entry) []byte {
	return fmt.Appendf(b, `{"end":{"entries":%d,"hash":"%x"}}`+"\n", last.Place, last.Hash)
}

func appendEntry(b []byte, e *stores.Entry) []byte {
	b = append(b, `{"entry":{"seq":`...)
	b = strconv.AppendInt(b, e.Seq, 10)
	if !e.InChain() {
		b = strconv.AppendInt(append(b, `,"place":`...), e.Place, 10)
	}
	b = append(b, `,"time":"`...)
	b = e.Time.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","principal":`...)
	b = stores.AppendJSONString(b, e.Principal)
	b = append(b, `,"roles":[`...)
	for i, role := range e.Roles {
		if i > 0 {
			b = append(b, ',')
		}
		b = stores.AppendJSONString(b, role)
	}
	b = append(b, ']')
	for _, f := range [...]struct{ name, text string }{
		{"session", e.Session}, {"source", e.Source}, {"verb", e.Verb}, {"call", e.Call}, {"outcome", e.Outcome}, {"reason", e.Reason},
		{"changes", e.Changes}, {"preview", e.Preview}, {"agreed", e.Agreed}, {"palette", e.Palette}, {"turn", e.Turn}, {"origins", e.Origins},
	} {
		b = append(append(append(b, `,"`...), f.name...), `":`...)
		b = stores.AppendJSONString(b, f.text)
	}
	sum := func(name string, sum []byte) {
		b = append(append(append(b, `,"`...), name...), `":"`...)
		b = append(hex.AppendEncode(b, sum), '"')
	}
	if e.InChain() {
		sum("prev", e.Prev[:])
	} else {
		sum("salt", e.Salt[:])
	}
	sum("body", e.Body[:])
	sum("hash", e.Hash[:])
	return append(b, "}}\n"...)
}

func appendOpening(b []byte, o *Opening) []byte {
	b = append(b, `{"opening":{"id":`...)
	b = stores.AppendJSONString(b, o.ID)
	b = append(b, `,"principal":`...)
	b = stores.AppendJSONString(b, o.Principal)
	b = append(b, `,"values":`...)
	b = stores.AppendJSONString(b, o.text())
	return append(b, "}}\n"...)
}

// A Line is one entry of a file and, if the file has it, its opening.
type Line struct {
	Entry   stores.Entry
	Opening *Opening

	record *Record // as it is written; nil until somebody asked
}

// written returns the record of the entry without what its opening tells. It is read once, and must not be
// changed.
func (l *Line) written() (*Record, error) {
	if l.record == nil {
		r, err := Parse(l.Entry.Changes)
		if err != nil {
			return nil, err
		}
		l.record = &r
	}
	return l.record, nil
}

// Read iterates over the entries of a file. It does not verify them, but checks that every
// line is one that Writer writes, that openings match the commitments of their entries, and that
// the end is there. The error is a *FileError or that of r.
func Read(r io.Reader) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		f := &file{r: bufio.NewReaderSize(r, 1<<16)}
		chained, err := f.header()
		if err != nil {
			yield(nil, err)
			return
		}
		var pending *Line
		var last stores.Entry
		for {
			text, err := f.next()
			if err != nil {
				yield(nil, err)
				return
			}
			var raw struct {
				Entry *struct {
					Seq, Place                                   int64
					Time                                         time.Time
					Principal                                    string
					Roles                                        []string
					Session, Source, Verb, Call, Outcome, Reason string
					Changes, Preview, Agreed, Palette, Turn      string
					Origins, Salt, Prev, Body, Hash              string
				}
				Opening *struct{ ID, Principal, Values string }
				End     *struct {
					Entries int64
					Hash    string
				}
			}
			dec := json.NewDecoder(bytes.NewReader(text))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&raw); err != nil {
				if _, field, ok := strings.Cut(err.Error(), "unknown field "); ok {
					yield(nil, f.wrong("holds "+field+", which this version does not know: read it with the version that wrote it"))
					return
				}
				yield(nil, f.wrong("is no line of a journal"))
				return
			}
			var again []byte
			switch {
			case raw.Entry != nil && raw.Opening == nil && raw.End == nil:
				in := raw.Entry
				e := stores.Entry{Seq: in.Seq, Time: in.Time, Principal: in.Principal, Roles: in.Roles, Session: in.Session, Source: in.Source, Verb: in.Verb,
					Call: in.Call, Outcome: in.Outcome, Reason: in.Reason, Changes: in.Changes, Preview: in.Preview, Agreed: in.Agreed,
					Palette: in.Palette, Turn: in.Turn, Origins: in.Origins}
				good := readHash(in.Body, e.Body[:]) && readHash(in.Hash, e.Hash[:])
				if e.Place = in.Place; in.Salt == "" {
					e.Place = in.Seq
					good = good && readHash(in.Prev, e.Prev[:])
				} else {
					good = good && readHash(in.Salt, e.Salt[:]) && !e.InChain() && !chained
				}
				if !good {
					yield(nil, f.wrong("has a hash that cannot be read"))
					return
				}
				again = appendEntry(nil, &e)
				if pending != nil && !yield(pending, nil) {
					return
				}
				pending, last = &Line{Entry: e}, e
			case raw.Opening != nil && raw.Entry == nil && raw.End == nil:
				o, err := parseOpening(raw.Opening.ID, raw.Opening.Principal, raw.Opening.Values)
				if err != nil {
					yield(nil, f.wrong("holds an opening that does not open: "+err.Error()))
					return
				}
				if pending == nil || pending.Opening != nil {
					yield(nil, f.wrong("opens what no entry before it committed to"))
					return
				}
				record, err := Parse(pending.Entry.Changes)
				if err != nil || record.Opening != o.ID || pending.Entry.Principal != o.Principal || !record.covers(o) {
					yield(nil, f.wrong("opens what the entry before it did not commit to"))
					return
				}
				again = appendOpening(nil, o)
				pending.Opening = o
			case raw.End != nil && raw.Entry == nil && raw.Opening == nil:
				var hash [32]byte
				if !readHash(raw.End.Hash, hash[:]) || raw.End.Entries != last.Place || hash != last.Hash {
					yield(nil, f.wrong("does not fit the entries before it: some are missing"))
					return
				}
				again = appendEnd(nil, &last)
			default:
				yield(nil, f.wrong("is no line of a journal"))
				return
			}
			if !bytes.Equal(again, text) {
				yield(nil, f.wrong("is not written as a journal writes it"))
				return
			}
			if raw.End != nil {
				if pending != nil && !yield(pending, nil) {
					return
				}
				if _, err := f.r.ReadByte(); err != io.EOF {
					f.line++
					yield(nil, f.wrong("stands behind the end"))
				}
				return
			}
		}
	}
}

// OnlyEntries drops the openings.
func OnlyEntries(lines iter.Seq2[*Line, error]) iter.Seq2[*stores.Entry, error] {
	return (*Losses)(nil).Watch(lines)
}

// covers reports whether a record commits to every value of an opening.
func (r *Record) covers(o *Opening) bool {
	n := 0
	for _, c := range r.commitments(nil) {
		if _, ok := o.values[c]; ok {
			n++
		}
	}
	return n == len(o.values)
}

type file struct {
	r    *bufio.Reader
	line int
}

func (f *file) wrong(msg string) error { return &FileError{f.line, msg} }

// header reads the first line, and reports whether the file has only entries of the older chain.
func (f *file) header() (chained bool, err error) {
	text, err := f.next()
	var bad *FileError
	if err != nil && !errors.As(err, &bad) {
		return false, err
	}
	var head struct {
		Verbatim string
		Version  int
	}
	if err != nil || json.Unmarshal(text, &head) != nil || head.Verbatim != "journal" {
		return false, &FileError{1, "is not the beginning of a journal"}
	}
	if head.Version != fileVersion && head.Version != ofChain {
		return false, &FileError{1, fmt.Sprintf("begins a journal of version %d, and this program reads version %d", head.Version, fileVersion)}
	}
	if string(text) != fmt.Sprintf(`{"verbatim":"journal","version":%d}`+"\n", head.Version) {
		return false, &FileError{1, "is not written as a journal writes it"}
	}
	return head.Version == ofChain, nil
}

// next returns the next line, its end included.
func (f *file) next() ([]byte, error) {
	f.line++
	var text []byte
	for {
		part, err := f.r.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > maxLine:
			return nil, f.wrong("is longer than a line can be")
		case err == nil:
			return text, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && len(text) == 0:
			return nil, f.wrong("is missing: the file was cut off")
		case err == io.EOF:
			return nil, f.wrong("is cut off")
		default:
			return nil, err
		}
	}
}

func readHash(text string, sum []byte) bool {
	b, err := hex.DecodeString(text)
	return err == nil && copy(sum, b) == len(sum) && len(b) == len(sum)
}
