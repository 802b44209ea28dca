package stores

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The names of the encodings below. Each is hashed first, so that no text of one encoding can be
// taken for a text of another.
const (
	bodyVersion  = "verbatim journal body 3"
	partVersion  = "verbatim journal part 3"
	saltVersion  = "verbatim journal salt 3"
	leafVersion  = "verbatim journal leaf 1"
	chainVersion = "verbatim journal entry 2" // of the older chain, whose bodies were of version 2
	chainedBody  = "verbatim journal body 2"
)

// A Salt is 16 random bytes.
type Salt [16]byte

// A Part is a part of what an entry says, which is hashed apart, with a salt of its own, so that it
// can be shown without the others, and nobody can test a guess at those.
type Part struct {
	Salt  Salt
	Texts []string
}

// Digest is SHA-256 over the text "verbatim journal part 3", the salt, the number of texts and each
// text. Numbers are 8 bytes, big-endian; a text is its length in bytes as such a number and then
// its bytes.
func (p *Part) Digest() [32]byte {
	var few [1024]byte // most parts fit into it
	b := append(append(few[:0], partVersion...), p.Salt[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(len(p.Texts)))
	for _, s := range p.Texts {
		b = sealText(b, s)
	}
	return sha256.Sum256(b)
}

// The parts of every entry, before those of its rows.
const (
	// EntryPart says who did what, and when: Time in microseconds since 1970-01-01 UTC, Principal,
	// the roles as a JSON list, Session, Source, Verb, Outcome, Palette and Turn.
	EntryPart = iota
	// CallPart is what may speak of every row: Call, Reason, Preview, Agreed and Origins, and of
	// Changes the list without its rows.
	CallPart
	// RowParts is the number of the first row's part: each row of Changes is one, as its JSON.
	RowParts
)

// Parts returns the parts of what an entry says. The salt of the part numbered n, from 0, is the
// first 16 bytes of SHA-256 over the text "verbatim journal salt 3", Salt, and n as 8 bytes,
// big-endian: nobody who knows the salts of some parts knows those of others.
func (e *Entry) Parts() []Part {
	roles := []byte{'['}
	for i, role := range e.Roles {
		if i > 0 {
			roles = append(roles, ',')
		}
		roles = AppendJSONString(roles, role)
	}
	head, rows := splitChanges(e.Changes)
	parts := make([]Part, RowParts, RowParts+len(rows))
	parts[EntryPart].Texts = []string{strconv.FormatInt(e.Time.UnixMicro(), 10), e.Principal, string(append(roles, ']')), e.Session, e.Source, e.Verb, e.Outcome, e.Palette, e.Turn}
	parts[CallPart].Texts = []string{e.Call, e.Reason, e.Preview, e.Agreed, e.Origins, head}
	for i := range rows {
		parts = append(parts, Part{Texts: rows[i : i+1]})
	}
	var few [len(saltVersion) + len(e.Salt) + 8]byte
	for n := range parts {
		b := append(append(few[:0], saltVersion...), e.Salt[:]...)
		sum := sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(n)))
		copy(parts[n].Salt[:], sum[:])
	}
	return parts
}

// splitChanges splits the JSON list of an entry's changes into the list with its first item alone
// and its rows, the other items. A text that is no such list has no rows.
func splitChanges(text string) (head string, rows []string) {
	if !strings.HasPrefix(text, "[{") || !strings.HasSuffix(text, "}]") {
		return text, nil
	}
	depth, from, quoted := 0, 1, false
	var items []string
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 && i < len(text)-1 {
				return text, nil
			}
			fallthrough
		case c == ',':
			if depth == 1 && c == ',' || depth == 0 {
				items, from = append(items, text[from:i]), i+1
			}
		}
	}
	if depth != 0 || quoted || len(items) == 0 {
		return text, nil
	}
	return "[" + items[0] + "]", items[1:]
}

// BodyOf is SHA-256 over the text "verbatim journal body 3" and the digests of an entry's parts.
func BodyOf(parts [][32]byte) [32]byte {
	h := sha256.New()
	h.Write([]byte(bodyVersion))
	for i := range parts {
		h.Write(parts[i][:])
	}
	return [32]byte(h.Sum(nil))
}

// LeafData are the data of an entry's leaf in the log: the text "verbatim journal leaf 1", the
// number of the entry as 8 bytes, big-endian, and its body. The first leaf of a log is that of the
// older chain's last entry, with its hash in place of a body; both are zero if there was none.
func LeafData(seq int64, body [32]byte) []byte {
	b := append(make([]byte, 0, len(leafVersion)+8+len(body)), leafVersion...)
	return append(binary.BigEndian.AppendUint64(b, uint64(seq)), body[:]...)
}

// LeafHash is the hash of an entry's leaf, as RFC 9162 defines it.
func LeafHash(seq int64, body [32]byte) [32]byte {
	return sha256.Sum256(append([]byte{0}, LeafData(seq, body)...))
}

// Write cuts Time to the microsecond, which is what stores keep, makes a Salt if there is none, and
// computes Body of all that the entry says.
func (e *Entry) Write() {
	e.Time = time.UnixMicro(e.Time.UnixMicro()).UTC()
	if e.InChain() {
		_, _ = rand.Read(e.Salt[:]) // it never fails
	}
	e.Body = e.body()
}

// InChain reports whether the entry belongs to the chain that older versions kept in place of the
// sealed log. Such an entry has no salt.
func (e *Entry) InChain() bool { return e.Salt == Salt{} }

// Number gives the entry its number, and the hash of its leaf.
func (e *Entry) Number(seq int64) { e.Seq, e.Hash = seq, LeafHash(seq, e.Body) }

func (e *Entry) body() [32]byte {
	parts := e.Parts()
	digests := make([][32]byte, len(parts))
	for i := range parts {
		digests[i] = parts[i].Digest()
	}
	return BodyOf(digests)
}

// Check returns a *ChainError for an entry of the sealed log whose Body or Hash is not its own.
func (e *Entry) Check() error {
	if e.InChain() || e.Body != e.body() {
		return &ChainError{Seq: e.Seq, Msg: "was altered after it was written"}
	}
	if e.Hash != LeafHash(e.Seq, e.Body) {
		return &ChainError{Seq: e.Seq, Msg: "has a hash that is not its own"}
	}
	return nil
}

// Chain makes e the entry of the older chain that follows the one numbered seq-1 whose hash is
// prev: it sets Seq and Prev and computes Body and Hash. The first entry has Seq 1 and a zero Prev.
//
// Body is SHA-256 over, in this order: the text "verbatim journal body 2", Time
// in microseconds since 1970-01-01 UTC, Principal, the number of Roles and each
// of them, Session, Source, Verb, Call, Outcome, Reason, Changes, Preview,
// Agreed, Palette, Turn, Origins. Numbers are 8 bytes, big-endian; a text is its
// length in bytes as such a number and then its bytes, but for the first, which
// is its bytes alone. Hash is SHA-256 over the text "verbatim journal entry 2", Prev, Seq as 8
// bytes, big-endian, and Body.
func (e *Entry) Chain(seq int64, prev [32]byte) {
	e.Time, e.Salt = time.UnixMicro(e.Time.UnixMicro()).UTC(), Salt{}
	e.Seq, e.Prev, e.Body = seq, prev, e.chained()
	e.Hash = e.digest()
}

// chained computes the body of an entry of the chain.
func (e *Entry) chained() [32]byte {
	texts := [...]string{e.Session, e.Source, e.Verb, e.Call, e.Outcome, e.Reason, e.Changes, e.Preview, e.Agreed, e.Palette, e.Turn, e.Origins}
	b := binary.BigEndian.AppendUint64([]byte(chainedBody), uint64(e.Time.UnixMicro()))
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
	b := append([]byte(chainVersion), e.Prev[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(e.Seq))
	return sha256.Sum256(append(b, e.Body[:]...))
}

// A ChainError names the first entry that is not what it was, or not where it was.
type ChainError struct {
	Seq int64  // the number the entry should have
	Msg string // what is wrong with it
	// Missing says that the entry does not exist although later entries do.
	Missing bool
}

func (e *ChainError) Error() string { return fmt.Sprintf("journal entry %d %s", e.Seq, e.Msg) }

// A LogError says that the sealed log is not what it was.
type LogError struct {
	Size int64 // the number of leaves whose root is concerned
	Msg  string
}

func (e *LogError) Error() string {
	return fmt.Sprintf("the root of the log of %d leaves %s", e.Size, e.Msg)
}

// VerifyChain checks that entries of the older chain follow one another, and the first of them the entry numbered
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
		if body := e.chained(); !e.InChain() || !bytes.Equal(e.Body[:], body[:]) {
			return seq, prev, &ChainError{Seq: e.Seq, Msg: "was altered after it was written"}
		}
		if sum := e.digest(); !bytes.Equal(e.Hash[:], sum[:]) {
			return seq, prev, &ChainError{Seq: e.Seq, Msg: "has a hash that is not its own"}
		}
		seq, prev = e.Seq, e.Hash
	}
	return seq, prev, nil
}
