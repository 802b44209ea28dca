package journal

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"slices"

	"verbatim/stores"
)

// A spill keeps the rows of a State, by entity and key. It writes each version of a row behind the others,
// and in memory it has their places alone: beyond the first megabytes the versions themselves are in a
// file. Where there is none, or it cannot be written, they stay in memory.
type spill struct {
	order   []*stores.Entity
	numbers map[*stores.Entity]int
	hash    func(*stores.Entity, stores.Value) uint64
	atOnce  int              // bytes of versions that are in memory before they are written
	at      map[uint64]int64 // by hash, the place of the newest version of a row
	open    func() (Scratch, error)
	file    Scratch
	written int64  // what of the versions is in the file
	rest    []byte // what is not
	kept    bool   // there is no file to be had
	err     error  // a version could not be read
}

func newSpill(order []*stores.Entity) *spill {
	s := &spill{order: order, numbers: map[*stores.Entity]int{}, at: map[uint64]int64{}, atOnce: 4 << 20, kept: true}
	seed := maphash.MakeSeed()
	s.hash = func(e *stores.Entity, key stores.Value) uint64 {
		var h maphash.Hash
		h.SetSeed(seed)
		_ = h.WriteByte(byte(s.numbers[e]))
		_ = h.WriteByte(byte(key.Kind()))
		_, _ = h.WriteString(key.Text())
		return h.Sum64()
	}
	for i, e := range order {
		s.numbers[e] = i
	}
	return s
}

// A Scratch is a file that is gone when it is closed.
type Scratch interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// A spilt is a version of a row. Behind its length are written the place of the next version with the same
// hash, -1 if there is none, the entity, the key and the row.
type spilt struct {
	before int64
	entity *stores.Entity
	key    stores.Value
	row    *row
}

// get returns a row, nil if there is none.
func (s *spill) get(e *stores.Entity, key stores.Value) *row {
	for v := range s.chain(s.hash(e, key)) {
		if v.entity == e && v.key == key {
			return v.row
		}
	}
	return nil
}

// put keeps a row in place of its version before.
func (s *spill) put(e *stores.Entity, key stores.Value, r *row) {
	h, before := s.hash(e, key), int64(-1)
	if at, ok := s.at[h]; ok {
		v, good := s.read(at)
		if before = at; good && v.entity == e && v.key == key {
			before = v.before
		}
	}
	b := binary.AppendVarint(nil, before)
	b = binary.AppendUvarint(b, uint64(s.numbers[e]))
	b = r.append(appendValue(b, key))
	s.at[h] = s.written + int64(len(s.rest))
	s.rest = append(binary.AppendUvarint(s.rest, uint64(len(b))), b...)
	if len(s.rest) >= s.atOnce && !s.kept {
		s.write()
	}
}

func (s *spill) write() {
	if s.file == nil {
		f, err := s.open()
		if err != nil {
			s.kept = true
			return
		}
		s.file = f
	}
	if _, err := s.file.WriteAt(s.rest, s.written); err != nil {
		s.kept = true
		return
	}
	s.written, s.rest = s.written+int64(len(s.rest)), s.rest[:0]
}

// all yields every row once, in no order.
func (s *spill) all(yield func(*spilt) bool) {
	for h := range s.at {
		var seen []spilt // a row may have an older version behind another's
		for v := range s.chain(h) {
			again := slices.ContainsFunc(seen, func(of spilt) bool { return of.entity == v.entity && of.key == v.key })
			if seen = append(seen, *v); !again && !yield(v) {
				return
			}
		}
	}
}

// chain yields the newest versions of rows that have a hash.
func (s *spill) chain(h uint64) func(func(*spilt) bool) {
	return func(yield func(*spilt) bool) {
		at, ok := s.at[h]
		for ok && at >= 0 {
			var v spilt
			if v, ok = s.read(at); !ok || !yield(&v) {
				return
			}
			at = v.before
		}
	}
}

var errSpilt = errors.New("the temporary file of rows cannot be read")

func (s *spill) read(at int64) (v spilt, ok bool) {
	b := s.bytes(at, binary.MaxVarintLen64)
	n, length := binary.Uvarint(b)
	if length <= 0 {
		s.err = errSpilt
		return v, false
	}
	if b = s.bytes(at+int64(length), int(n)); len(b) < int(n) {
		s.err = errSpilt
		return v, false
	}
	d := decoder{b}
	v.before, v.entity, v.key = d.varint(), s.order[d.uvarint()], d.value()
	v.row = d.row(v.entity)
	return v, true
}

// bytes returns n bytes from a place on, or fewer at the end.
func (s *spill) bytes(at int64, n int) []byte {
	if at >= s.written {
		rest := s.rest[at-s.written:]
		return rest[:min(n, len(rest))]
	}
	b := make([]byte, n)
	got, err := s.file.ReadAt(b[:min(int64(n), s.written-at)], at)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return b[:got]
}

const (
	isWhole = 1 << iota
	isGone
	wasSeen
	markKnown = 1 << 4 // beside a knowledge
)

// append writes the row.
func (r *row) append(b []byte) []byte {
	var flags byte
	if r.whole {
		flags |= isWhole
	}
	if r.gone {
		flags |= isGone
	}
	if r.seen {
		flags |= wasSeen
	}
	b = binary.AppendVarint(append(b, flags), r.seq)
	for f, k := range r.state {
		state := byte(k)
		if r.marks[f].known {
			state |= markKnown
		}
		b = appendText(append(b, state), r.marks[f].origin)
		b = appendValue(b, r.values[f])
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendValue(b []byte, v stores.Value) []byte {
	return appendText(append(b, byte(v.Kind())), v.Text())
}

// A decoder reads what append wrote, and nothing else.
type decoder struct{ b []byte }

func (d *decoder) byte() byte {
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	d.b = d.b[n:]
	return v
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	d.b = d.b[n:]
	return v
}

func (d *decoder) text() string {
	n := d.uvarint()
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *decoder) value() stores.Value {
	kind := stores.Kind(d.byte())
	text := d.text()
	if kind == stores.Null {
		return stores.Value{}
	}
	v, ok := stores.Parse(kind, text)
	if !ok {
		panic("journal: a value that was written cannot be read: " + kind.String())
	}
	return v
}

func (d *decoder) row(e *stores.Entity) *row {
	r := newRow(e)
	flags := d.byte()
	r.whole, r.gone, r.seen = flags&isWhole != 0, flags&isGone != 0, flags&wasSeen != 0
	r.seq = d.varint()
	for f := range r.state {
		state := d.byte()
		r.marks[f] = mark{d.text(), state&markKnown != 0}
		r.state[f], r.values[f] = knowledge(state&^markKnown), d.value()
	}
	return r
}
