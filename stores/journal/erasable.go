package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"verbatim/stores"
	"verbatim/stores/receipt"
)

// A commitment takes the place, in an entry, of a value that may have to be forgotten. It is a
// digest of the value and of 128 random bits, its salt. While both are kept, in a row of
// Openings, the commitment proves the value; once they are erased it proves nothing: without the
// salt, not even somebody with a list of all possible values can tell which of them it was.
//
// Erasing a row of a table does not change the journal, so its chain stays as
// it was.

// saltSize is 128 bits.
const saltSize = 16

// commitVersion is hashed first, so that no digest made for another purpose can be taken for a
// commitment.
const commitVersion = "verbatim journal commitment 1"

// commit is SHA-256 over the text "verbatim journal commitment 1", the salt, the
// name of the value's kind and its text, each of the two after its length in
// bytes as 8 bytes, big-endian.
func commit(salt [saltSize]byte, v stores.Value) receipt.Commitment {
	b := append(make([]byte, 0, 128), commitVersion...)
	b = append(b, salt[:]...)
	for _, s := range [...]string{v.Kind().String(), v.Text()} {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
	}
	sum := sha256.Sum256(b)
	return receipt.Commitment(base64.RawURLEncoding.EncodeToString(sum[:]))
}

// An Opening holds, for each commitment of one entry, its value and its salt.
type Opening struct {
	ID        string
	Principal string // of the entry
	values    map[receipt.Commitment]opened
}

type opened struct {
	salt  [saltSize]byte
	value stores.Value
}

// NewOpening begins the opening of an entry. The id must be new; it need not be hard to guess.
func NewOpening(id, principal string) *Opening {
	return &Opening{ID: id, Principal: principal, values: map[receipt.Commitment]opened{}}
}

// Commit adds a value and returns its commitment. The salt is read from random, which must not be
// predictable. The commitment of null is empty.
func (o *Opening) Commit(random io.Reader, v stores.Value) (receipt.Commitment, error) {
	if v.IsNull() {
		return "", nil
	}
	var salt [saltSize]byte
	if _, err := io.ReadFull(random, salt[:]); err != nil {
		return "", fmt.Errorf("no randomness for the journal: %w", err)
	}
	c := commit(salt, v)
	o.values[c] = opened{salt, v}
	return c, nil
}

// Forget drops the value of a commitment.
func (o *Opening) Forget(c receipt.Commitment) { o.erase([]receipt.Commitment{c}) }

// Len returns how many values the opening holds.
func (o *Opening) Len() int { return len(o.values) }

// Open returns the value of a commitment. ok is false if the value was erased.
func (o *Opening) Open(c receipt.Commitment) (stores.Value, bool) {
	if o == nil {
		return stores.Value{}, false
	}
	v, ok := o.values[c]
	return v.value, ok
}

// erase deletes values.
func (o *Opening) erase(which []receipt.Commitment) (n int) {
	for _, c := range which {
		if _, ok := o.values[c]; ok {
			delete(o.values, c)
			n++
		}
	}
	return n
}

// text returns the opening as canonical JSON: an object from commitments to lists of salt, kind
// and text.
func (o *Opening) text() string {
	order := make([]string, 0, len(o.values))
	for c := range o.values {
		order = append(order, string(c))
	}
	slices.Sort(order)
	b := []byte{'{'}
	for i, c := range order {
		if i > 0 {
			b = append(b, ',')
		}
		v := o.values[receipt.Commitment(c)]
		b = stores.AppendJSONString(b, c)
		b = append(b, `:["`...)
		b = base64.RawURLEncoding.AppendEncode(b, v.salt[:])
		b = append(b, `","`...)
		b = append(b, v.value.Kind().String()...)
		b = append(b, `",`...)
		b = stores.AppendJSONString(b, v.value.Text())
		b = append(b, ']')
	}
	return string(append(b, '}'))
}

// parseOpening reads what text wrote, and checks every value against its commitment: an altered
// value is an error.
func parseOpening(id, principal, text string) (*Opening, error) {
	o := NewOpening(id, principal)
	wrong := fmt.Errorf("an opening cannot be read")
	var raw map[string][]string
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, wrong
	}
	for c, parts := range raw {
		if len(parts) != 3 {
			return nil, wrong
		}
		var v opened
		salt, err := base64.RawURLEncoding.DecodeString(parts[0])
		kind, ok := kindOf(parts[1], stores.Null)
		if err != nil || len(salt) != saltSize || !ok {
			return nil, wrong
		}
		copy(v.salt[:], salt)
		if v.value, ok = stores.Parse(kind, parts[2]); !ok {
			return nil, wrong
		}
		if commit(v.salt, v.value) != receipt.Commitment(c) {
			return nil, fmt.Errorf("a value was altered after it was written")
		}
		o.values[receipt.Commitment(c)] = v
	}
	if !bytes.Equal([]byte(o.text()), []byte(text)) {
		return nil, wrong
	}
	return o, nil
}

// The fields of an opening as a row.
const (
	opnKey = iota
	opnPrincipal
	opnValues
)

// Openings is the entity whose rows hold the values that entries commit to. They are written in
// the transaction of their entries, by the same writer, and are the only part of the journal that
// is ever erased.
var Openings = &stores.Entity{
	Name:    "verbatim.opening",
	Table:   "verbatim.openings",
	Managed: true,
	Place:   "the journal's own",
	Key:     opnKey,
	Access:  stores.ByPrincipal,
	Scope:   []stores.Step{{Field: opnPrincipal}},
	Fields: []stores.Field{
		opnKey:       {Name: "key", Column: "key", Kind: stores.String, Required: true},
		opnPrincipal: {Name: "principal", Column: "principal", Kind: stores.String, Required: true},
		opnValues:    {Name: "values", Column: "committed", Kind: stores.String, Required: true, Sensitive: true, Personal: true},
	},
}

// Insert returns the change that stores an opening.
func (o *Opening) Insert() stores.Change {
	return stores.Change{Op: stores.Insert, Entity: Openings, Key: stores.NewString(o.ID), Set: []stores.Assign{
		{Field: opnPrincipal, Value: stores.NewString(o.Principal)}, {Field: opnValues, Value: stores.NewString(o.text())},
	}}
}

// everything returns a scope that opens every row, for the maintenance of the journal.
func everything(principal string) stores.Scope { return stores.Scope{Principal: principal, All: true} }

// openings fetches openings by their ids.
func openings(ctx context.Context, r stores.Reader, ids []stores.Value) (map[string]*Opening, error) {
	found := map[string]*Opening{}
	for part := range slices.Chunk(ids, 500) {
		rows, err := r.Find(ctx, stores.Find{Entity: Openings, Where: &stores.Cond{Op: stores.In, Path: stores.Path{Field: opnKey}, Value: stores.NewList(part...)}})
		if err != nil {
			return nil, err
		}
		for _, v := range rows {
			id := v[opnKey].Text()
			o, err := parseOpening(id, v[opnPrincipal].Text(), v[opnValues].Text())
			if err != nil {
				return nil, &OpeningError{ID: id, Err: err}
			}
			found[id] = o
		}
	}
	return found, nil
}

// An OpeningError says that a row of Openings does not match the commitments of the journal.
type OpeningError struct {
	ID  string
	Seq int64 // the entry that it belongs to, if that is known
	Err error
}

func (e *OpeningError) Error() string {
	if e.Seq == 0 {
		return "what an entry commits to cannot be opened: " + e.Err.Error()
	}
	return fmt.Sprintf("what journal entry %d commits to cannot be opened: %s", e.Seq, e.Err)
}

func (e *OpeningError) Unwrap() error { return e.Err }

// Open puts the values of an opening into the record. Values that it lacks count as erased; a nil
// opening holds none.
func (r *Record) Open(o *Opening) {
	if v, ok := o.Open(r.Call); ok && r.Call != "" {
		r.Words = v.Text()
	}
	r.Dropped = make([]stores.Value, len(r.Instead))
	for i, c := range r.Instead {
		r.Dropped[i], _ = o.Open(c)
	}
	for i := range r.Rows {
		c := &r.Rows[i]
		if v, ok := o.Open(c.NameIs); ok && c.NameIs != "" {
			c.Name = v.Text()
		}
		for j := range c.Fields {
			for _, side := range [...]*receipt.Value{&c.Fields[j].Before, &c.Fields[j].After} {
				if side.Is != "" {
					v, ok := o.Open(side.Is)
					side.Value, side.Gone = v, !ok
				}
			}
		}
	}
}

// commitments lists the commitments of a record, for one row only if row is not nil. A call that
// names the row, or whose changes touch it, belongs to that row.
func (r *Record) commitments(row *Row) []receipt.Commitment {
	var all []receipt.Commitment
	add := func(c receipt.Commitment) {
		if c != "" {
			all = append(all, c)
		}
	}
	touched := row == nil || slices.ContainsFunc(r.About, func(a Row) bool { return row.is(a.Entity, a.Key) })
	for i := range r.Rows {
		c := &r.Rows[i]
		if row != nil && !row.is(c.Entity, c.Key) {
			continue
		}
		touched = true
		add(c.NameIs)
		for j := range c.Fields {
			add(c.Fields[j].Before.Is)
			add(c.Fields[j].After.Is)
		}
	}
	if touched {
		add(r.Call)
		for _, c := range r.Instead {
			add(c)
		}
	}
	return all
}

// Touches reports whether the record concerns a row: whether the call changed it or named it.
func (r *Record) Touches(row Row) bool {
	return slices.ContainsFunc(r.About, func(a Row) bool { return row.is(a.Entity, a.Key) }) || slices.ContainsFunc(r.Rows, func(c receipt.Row) bool { return row.is(c.Entity, c.Key) })
}

// Called reports whether the record mentions a row by a name that it had in the entry's session.
func (r *Record) Called(name string) bool {
	name = "@" + strings.TrimPrefix(name, "@")
	return slices.ContainsFunc(r.Rows, func(c receipt.Row) bool { return c.Name == name })
}

// Whole reports whether an opening holds the value of every commitment of the record.
func (r *Record) Whole(o *Opening) bool {
	for _, c := range r.commitments(nil) {
		if _, ok := o.Open(c); !ok {
			return false
		}
	}
	return true
}
