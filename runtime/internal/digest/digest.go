// Package digest hashes data that must not change unnoticed: plans, texts under a key, and the keys
// of rows that belong to a principal and a name. Every text is preceded by its length, so that
// nothing can be moved from one part to the next.
//
//	key := digest.Of("verbatim session 1", principal, name)
//
// The first part names the kind of digest and its version, so that digests of different kinds never
// collide.
package digest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	"verbatim/stores"
)

// Of returns the SHA-256 of some texts, in hex.
func Of(parts ...string) string {
	var w Writer
	for _, p := range parts {
		w.Text(p)
	}
	return w.Hex()
}

// A Writer collects the data for a hash. The zero Writer is ready to use.
type Writer struct {
	B     []byte
	Alias map[stores.Value]string // names for values that differ from one preview to the next
	Into  hash.Hash               // receives the collected data from time to time; nil if B keeps all of it
}

// Spill passes on the collected data, so that a long plan is never in memory as a whole.
func (w *Writer) Spill() {
	const enough = 4 << 10
	if w.Into != nil && len(w.B) >= enough {
		w.Into.Write(w.B)
		w.B = w.B[:0]
	}
}

// Text writes a text.
func (w *Writer) Text(s string) {
	w.B = binary.BigEndian.AppendUint64(w.B, uint64(len(s)))
	w.B = append(w.B, s...)
}

// Number writes a number.
func (w *Writer) Number(n int) { w.B = binary.BigEndian.AppendUint64(w.B, uint64(n)) }

// Value writes a value and its kind.
func (w *Writer) Value(v stores.Value) {
	if name, ok := w.Alias[v]; ok {
		w.Text("alias")
		w.Text(name)
		return
	}
	w.Text(v.Kind().String())
	at := len(w.B)
	w.B = append(w.B, 0, 0, 0, 0, 0, 0, 0, 0)
	w.B = v.AppendText(w.B)
	binary.BigEndian.PutUint64(w.B[at:], uint64(len(w.B)-at-8))
}

// Key writes the key of a row of an entity: a key that a database made for a new row is replaced by
// the alias of its row.
func (w *Writer) Key(entity string, key stores.Value) {
	if key.Kind() != stores.UUID && len(w.Alias) > 0 {
		if name, ok := w.Alias[stores.NewRow(entity, key)]; ok {
			w.Text("alias")
			w.Text(name)
			return
		}
	}
	w.Value(key)
}

// Values writes values and how many they are.
func (w *Writer) Values(vs []stores.Value) {
	w.Number(len(vs))
	for _, v := range vs {
		w.Value(v)
	}
}

// Hex returns the hash of the collected data, in hex.
func (w *Writer) Hex() string { return fmt.Sprintf("%x", sha256.Sum256(w.B)) }
