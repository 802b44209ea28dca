package stores

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"time"
)

// sealVersion names the encoding below. It is hashed first, so that no entry of
// one encoding can pass for an entry of another.
const sealVersion = "verbatim journal entry 1"

// Seal makes e the entry that follows the one numbered seq-1 whose hash is prev:
// it sets Seq and Prev, cuts Time to the microsecond and computes Hash. The
// first entry of a journal has Seq 1 and a zero Prev.
//
// Hash is SHA-256 over, in this order: the text "verbatim journal entry 1",
// Prev, Seq, Time in microseconds since 1970-01-01 UTC, Principal, the number of
// Roles and each of them, Session, Source, Verb, Call, Outcome, Reason, Changes,
// Preview, Agreed, Palette. Numbers are 8 bytes, big-endian; a text is its
// length in bytes as such a number and then its bytes.
func (e *Entry) Seal(seq int64, prev [32]byte) {
	e.Seq, e.Prev = seq, prev
	e.Time = time.UnixMicro(e.Time.UnixMicro()).UTC()
	e.Hash = e.digest()
}

func (e *Entry) digest() (sum [32]byte) {
	h := sha256.New()
	sealText(h, sealVersion)
	h.Write(e.Prev[:])
	sealInt(h, e.Seq)
	sealInt(h, e.Time.UnixMicro())
	sealText(h, e.Principal)
	sealInt(h, int64(len(e.Roles)))
	for _, r := range e.Roles {
		sealText(h, r)
	}
	for _, s := range [...]string{e.Session, e.Source, e.Verb, e.Call, e.Outcome, e.Reason, e.Changes, e.Preview, e.Agreed, e.Palette} {
		sealText(h, s)
	}
	h.Sum(sum[:0])
	return sum
}

func sealInt(h hash.Hash, n int64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	h.Write(b[:])
}

func sealText(h hash.Hash, s string) {
	sealInt(h, int64(len(s)))
	h.Write([]byte(s))
}

// A ChainError names the first entry that does not follow from the one before.
type ChainError struct {
	Seq int64  // the number the entry should have
	Msg string // what is wrong with it
}

func (e *ChainError) Error() string { return fmt.Sprintf("journal entry %d %s", e.Seq, e.Msg) }

// VerifyChain checks that entries follow one another, and the first of them the
// entry numbered seq whose hash is prev; for a whole journal, 0 and the zero
// hash. It returns the number and the hash of the last, from which a later call
// can go on. The error is a *ChainError.
//
// A chain that verifies has not been altered in the middle. Whether its end was
// cut off, or all of it rewritten, only a head kept elsewhere can tell.
func VerifyChain(seq int64, prev [32]byte, entries []Entry) (int64, [32]byte, error) {
	for i := range entries {
		e := &entries[i]
		var sum [32]byte
		switch {
		case e.Seq != seq+1:
			return seq, prev, &ChainError{seq + 1, fmt.Sprintf("is missing: entry %d stands in its place", e.Seq)}
		case !bytes.Equal(e.Prev[:], prev[:]):
			return seq, prev, &ChainError{e.Seq, "does not follow the entry before it"}
		default:
			sum = e.digest()
		}
		if !bytes.Equal(e.Hash[:], sum[:]) {
			return seq, prev, &ChainError{e.Seq, "was altered after it was written"}
		}
		seq, prev = e.Seq, sum
	}
	return seq, prev, nil
}
