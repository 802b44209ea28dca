package journal

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Head is the end of a journal: how many entries it has, and the root of the log that ends there.
// The zero Head is that of an empty journal.
type Head struct {
	Entries int64
	Size    int64 // leaves of the log; 0 of the older chain, whose head is the hash of its last entry
	Hash    [32]byte
}

// EntriesAt returns how many entries a log with this head has when it has so many leaves.
func (h Head) EntriesAt(size int64) int64 { return h.Entries - max(1, h.Size) + size }

// A Checkpoint is the head of a journal at some time, kept where nobody who can change the
// journal can change it too. It can show that the end of a journal was cut off or that it was
// rewritten, which the journal alone cannot.
type Checkpoint struct {
	Origin string // name of the key that signed it, which identifies the journal
	Signed bool   // by a key that is trusted
	Head
}

// A checkpoint is written as a signed note (https://c2sp.org/signed-note), whose text has the
// lines of a log's checkpoint (https://c2sp.org/tlog-checkpoint): origin, number of leaves, root in
// base64. Checkpoints of the older chain have the same form, with the number and the hash of its
// last entry. So that no origin means both, those of the log end with OfLog.

// OfLog is the end of an origin, and of the name of a key, of a sealed log.
const OfLog = "/sealed-log"

// Errors about keys and checkpoints.
var (
	ErrNote      = errors.New("not a checkpoint")
	ErrKey       = errors.New("not a key")
	ErrSignature = errors.New("signed by no key that is trusted")
	ErrChainKey  = errors.New("the key signed checkpoints of the older chain: a log has a key of its own, whose name ends with " + OfLog)
)

// ed25519Note is the number of this kind of signature in notes.
const ed25519Note = 0x01

// maxNote limits the size of a checkpoint, and maxSignatures the number of its signatures: others
// may have added theirs.
const (
	maxNote       = 64 << 10
	maxSignatures = 64
)

// A Verifier is a public key with a name.
type Verifier struct {
	Name string
	key  ed25519.PublicKey
}

// A Signer is a private key with a name.
type Signer struct {
	Verifier
	key ed25519.PrivateKey
}

// NewSigner makes a key of 32 bytes of randomness. The name says which journal
// it is for, best as a URL without its scheme: example.com/payments.
func NewSigner(name string, random io.Reader) (*Signer, error) {
	if !goodName(name) {
		return nil, fmt.Errorf("the name of a key is one word without a plus: %w", ErrKey)
	}
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, fmt.Errorf("no randomness for a key: %w", err)
	}
	return signer(name, seed), nil
}

func signer(name string, seed []byte) *Signer {
	key := ed25519.NewKeyFromSeed(seed)
	return &Signer{Verifier{name, key.Public().(ed25519.PublicKey)}, key}
}

func goodName(name string) bool {
	return name != "" && len(name) <= 200 && utf8.ValidString(name) && strings.IndexFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || r == '+' || !unicode.IsPrint(r)
	}) < 0
}

// id returns the id of the key that signatures carry.
func (v *Verifier) id() []byte {
	sum := sha256.Sum256(append([]byte(v.Name+"\n"), append([]byte{ed25519Note}, v.key...)...))
	return sum[:4]
}

// String returns the public key in the form in which it is given to others: its name, its id and
// the key, as the note format writes keys.
func (v *Verifier) String() string {
	return fmt.Sprintf("%s+%x+%s", v.Name, v.id(), base64.StdEncoding.EncodeToString(append([]byte{ed25519Note}, v.key...)))
}

// Secret returns the private key in the form in which it is stored. Anybody who has it can sign
// any head.
func (s *Signer) Secret() string {
	return fmt.Sprintf("PRIVATE+KEY+%s+%x+%s", s.Name, s.id(), base64.StdEncoding.EncodeToString(append([]byte{ed25519Note}, s.key.Seed()...)))
}

// ParseVerifier reads a public key. The error does not say what is wrong with the text: it may be
// a private key.
func ParseVerifier(text string) (*Verifier, error) {
	name, id, key, ok := splitKey(text)
	if !ok || len(key) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("a public key is NAME+ID+KEY: %w", ErrKey)
	}
	v := &Verifier{name, key}
	if !bytes.Equal(v.id(), id) {
		return nil, fmt.Errorf("the id of the key is another's: %w", ErrKey)
	}
	return v, nil
}

// ParseSigner reads a private key.
func ParseSigner(text string) (*Signer, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "PRIVATE+KEY+")
	if ok {
		var name string
		var id, key []byte
		if name, id, key, ok = splitKey(rest); ok && len(key) == ed25519.SeedSize {
			if s := signer(name, key); bytes.Equal(s.id(), id) {
				return s, nil
			}
		}
	}
	return nil, fmt.Errorf("a private key is PRIVATE+KEY+NAME+ID+KEY: %w", ErrKey)
}

func splitKey(text string) (name string, id, key []byte, ok bool) {
	name, rest, ok1 := strings.Cut(strings.TrimSpace(text), "+")
	idText, keyText, ok2 := strings.Cut(rest, "+")
	id, err1 := hex.DecodeString(idText)
	key, err2 := base64.StdEncoding.Strict().DecodeString(keyText)
	if !ok1 || !ok2 || err1 != nil || err2 != nil || len(id) != 4 || len(key) < 1 || key[0] != ed25519Note || !goodName(name) {
		return "", nil, nil, false
	}
	return name, id, key[1:], true
}

// Unsigned writes a checkpoint that nobody has signed.
func Unsigned(h Head) string { return noteText("unsigned"+OfLog, h) + "\n" }

func noteText(origin string, h Head) string {
	return fmt.Sprintf("%s\n%d\n%s\n", origin, h.Size, base64.StdEncoding.EncodeToString(h.Hash[:]))
}

// Sign writes a checkpoint of the head of a log. It carries a signature of each key that the log has
// besides, which have the same name: whoever knows one of them can check it.
func (s *Signer) Sign(h Head, besides ...*Signer) string {
	text := noteText(s.Name, h)
	note := text + "\n"
	for _, k := range append([]*Signer{s}, besides...) {
		sig := append(k.id(), ed25519.Sign(k.key, []byte(text))...)
		note += "— " + k.Name + " " + base64.StdEncoding.EncodeToString(sig) + "\n"
	}
	return note
}

// ReadCheckpoint reads a signed checkpoint and checks its signature with the given keys; one of
// them must have signed it. Without keys the signature is not checked, and the checkpoint proves
// nothing.
func ReadCheckpoint(note string, keys ...*Verifier) (Checkpoint, error) {
	var c Checkpoint
	wrong := func(why string) (Checkpoint, error) { return Checkpoint{}, fmt.Errorf("%s: %w", why, ErrNote) }
	if len(note) > maxNote || !utf8.ValidString(note) || strings.ContainsFunc(note, func(r rune) bool { return r < 0x20 && r != '\n' }) {
		return wrong("it is no text of at most 64 KiB")
	}
	if unsigned, ok := strings.CutSuffix(note, "\n\n"); ok && len(keys) == 0 && strings.HasPrefix(unsigned, "unsigned"+OfLog+"\n") {
		note += "\n" // no signatures
	}
	at := strings.LastIndex(strings.TrimSuffix(note, "\n"), "\n\n")
	if at < 0 || !strings.HasSuffix(note, "\n") {
		return wrong("it does not end with signatures")
	}
	text, signatures := note[:at+1], note[at+2:]
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) != 3 || lines[0] == "" {
		return wrong("its text is not three lines: origin, size and hash")
	}
	c.Origin = lines[0]
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return wrong("its second line is no number of entries")
	}
	hash, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(hash) != len(c.Hash) {
		return wrong("its third line is no hash")
	}
	copy(c.Hash[:], hash)
	if strings.HasSuffix(c.Origin, OfLog) {
		if c.Size = size; size == 0 && c.Hash != sha256.Sum256(nil) {
			return wrong("it has another root than that of an empty log")
		}
	} else if c.Entries = size; size == 0 && c.Hash != [32]byte{} {
		return wrong("an empty journal has no hash")
	}
	if signatures == "\n" {
		return c, nil
	}
	list := strings.Split(strings.TrimSuffix(signatures, "\n"), "\n")
	if len(list) > maxSignatures {
		return wrong("it has more signatures than can be meant")
	}
	signed := false
	for _, line := range list {
		name, text64, ok := strings.Cut(strings.TrimPrefix(line, "— "), " ")
		sig, err := base64.StdEncoding.Strict().DecodeString(text64)
		if !strings.HasPrefix(line, "— ") || !ok || err != nil || len(sig) < 5 || !goodName(name) {
			return wrong("a signature cannot be read")
		}
		for _, k := range keys {
			if k.Name != name || !bytes.Equal(k.id(), sig[:4]) {
				continue
			}
			if k.Name != c.Origin || len(sig) != 4+ed25519.SignatureSize || !ed25519.Verify(k.key, []byte(text), sig[4:]) {
				return Checkpoint{}, fmt.Errorf("the signature of %s does not fit what it signed: %w", name, ErrSignature)
			}
			signed = true
		}
	}
	if c.Signed = signed; len(keys) > 0 && !signed {
		return Checkpoint{}, ErrSignature
	}
	return c, nil
}
