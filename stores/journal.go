package stores

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// The names of the two encodings below. Each is hashed first, so that no text of one encoding can
// be taken for a text of the other.
const (
	bodyVersion  = "verbatim journal body 2"
	entryVersion = "verbatim journal entry 2"
)

// Write cuts Time to the microsecond, which is what stores keep, and computes Body, the digest of
// everything that the entry says.
//
// Body is SHA-256 over, in this order: the text "verbatim journal body 2", Time
// in microseconds since 1970-01-01 UTC, Principal, the number of Roles and each
// of them, Session, Source, Verb, Call, Outcome, Reason, Changes, Preview,
// Agreed, Palette, Turn, Origins. Numbers are 8 bytes, big-endian; a text is its
// length in bytes as such a number and then its bytes, but for the first, which
// is its bytes alone.
func (e *Entry) Write() {
	e.Time = time.UnixMicro(e.Time.UnixMicro()).UTC()
	e.Body = e.body()
}

// Chain makes e the entry that follows the one numbered seq-1 whose hash is
// prev: it sets Seq and Prev and computes Hash of them and Body. The first entry
// of a journal has Seq 1 and a zero Prev.
//
// Hash is SHA-256 over the text "verbatim journal entry 2", Prev, Seq as 8 bytes, big-endian, and
// Body. It covers so little that a database can compute it during the commit, when the entry gets
// its place in the journal.
func (e *Entry) Chain(seq int64, prev [32]byte) {
	e.Seq, e.Prev = seq, prev
	e.Hash = e.digest()
}

// Seal is Write and Chain.
func (e *Entry) Seal(seq int64, prev [32]byte) {
	e.Write()
	e.Chain(seq, prev)
}

func (e *Entry) body() [32]byte {
	texts := [...]string{e.Session, e.Source, e.Verb, e.Call, e.Outcome, e.Reason, e.Changes, e.Preview, e.Agreed, e.Palette, e.Turn, e.Origins}
	var few [2048]byte // most entries fit into it
	b := append(few[:0], bodyVersion...)
	b = binary.BigEndian.AppendUint64(b, uint64(e.Time.UnixMicro()))
	b = sealText(b, e.Principal)
	b = binary.BigEndian.AppendUint64(b, uint64(len(e.Roles)))
	for _, s := range e.Roles {
		b = sealText(b, s)
	}
	for _, s := range texts {
		b = sealText(b, s)
	}
	return sha256.Sum256(b)
}

func sealText(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
}

func (e *Entry) digest() [32]byte {
	var few [len(entryVersion) + len(e.Prev) + 8 + len(e.Body)]byte
	b := append(few[:0], entryVersion...)
	b = append(b, e.Prev[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(e.Seq))
	return sha256.Sum256(append(b, e.Body[:]...))
}

// A ChainError names the first entry that does not follow from the one before.
type ChainError struct {
	Seq int64  // the number the entry should have
	Msg string // what is wrong with it
	// Missing says that the entry does not exist although later entries do.
	Missing bool
}

func (e *ChainError) Error() string { return fmt.Sprintf("journal entry %d %s", e.Seq, e.Msg) }

// VerifyChain checks that entries follow one another, and the first of them the entry numbered
// seq whose hash is prev; for a whole journal, 0 and the zero hash. Of each it checks Body
// against what the entry says, and Hash against Body and the entry's place. It returns the number
// and the hash of the last, from which a later call can go on. The error is a *ChainError.
//
// A chain that verifies has not been altered in the middle. Only a head kept elsewhere can show
// whether its end was cut off, or all of it rewritten.
func VerifyChain(seq int64, prev [32]byte, entries []Entry) (int64, [32]byte, error) {
	for i := range entries {
		e := &entries[i]
		if e.Seq != seq+1 {
			return seq, prev, &ChainError{Seq: seq + 1, Msg: fmt.Sprintf("is missing: entry %d stands in its place", e.Seq), Missing: true}
		}
		if !bytes.Equal(e.Prev[:], prev[:]) {
			return seq, prev, &ChainError{Seq: e.Seq, Msg: "does not follow the entry before it"}
		}
		if body := e.body(); !bytes.Equal(e.Body[:], body[:]) {
			return seq, prev, &ChainError{Seq: e.Seq, Msg: "was altered after it was written"}
		}
		if sum := e.digest(); !bytes.Equal(e.Hash[:], sum[:]) {
			return seq, prev, &ChainError{Seq: e.Seq, Msg: "has a hash that is not its own"}
		}
		seq, prev = e.Seq, e.Hash
	}
	return seq, prev, nil
}
