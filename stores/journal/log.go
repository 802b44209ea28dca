package journal

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"verbatim/stores"
	"verbatim/stores/merkle"
)

// A Logged is a store as far as proofs need it.
type Logged interface {
	stores.Log
	Source
	Journal(ctx context.Context, from, to int64) ([]stores.Entry, error)
}

// Errors about proofs.
var (
	ErrWaits   = errors.New("the entry is not sealed yet")
	ErrInChain = errors.New("the entry is of the older chain, which proves no entry without the others")
	ErrProof   = errors.New("not a proof")
	ErrNoEntry = errors.New("there is no such entry")
)

func nodes(ctx context.Context, s stores.Log) merkle.Source {
	return merkle.Rows(func(numbers []int64) (map[int64][]byte, error) {
		leaves, err := s.Leaves(ctx, numbers)
		rows := make(map[int64][]byte, len(leaves))
		for n, leaf := range leaves {
			rows[n] = leaf.Row
		}
		return rows, err
	})
}

// chainOf returns how many entries the older chain has; began says that the log has leaves.
func chainOf(ctx context.Context, s stores.Log) (n int64, began bool, err error) {
	leaves, err := s.Leaves(ctx, []int64{0})
	leaf, began := leaves[0]
	return leaf.Seq, began, err
}

// Last returns the head of a journal.
func Last(ctx context.Context, s Logged) (Head, error) {
	n, _, err := s.Head(ctx)
	if err != nil || n == 0 {
		return Head{}, err
	}
	before, began, err := chainOf(ctx, s)
	if err == nil && began {
		return rootAt(ctx, s, before, n)
	}
	h, err := At(ctx, s, n)
	return h, err
}

func rootAt(ctx context.Context, s stores.Log, before, place int64) (Head, error) {
	h := Head{Entries: place, Size: place - before + 1}
	tree, err := merkle.Load(h.Size, nodes(ctx, s))
	if err == nil {
		h.Hash = tree.Root()
	}
	return h, err
}

// At returns the head that a journal had at a place, or a *BehindError if it ends before that. At
// the end of the older chain that is the chain's head.
func At(ctx context.Context, s Logged, place int64) (h Head, err error) {
	end, _, err := s.Head(ctx)
	if err == nil && end < place {
		err = &BehindError{end, place}
	}
	before, began := int64(0), false
	if err == nil {
		before, began, err = chainOf(ctx, s)
	}
	if err != nil {
		return h, err
	}
	if began && place > before {
		return rootAt(ctx, s, before, place)
	}
	entries, err := s.Placed(ctx, place, place)
	if err == nil && len(entries) != 1 {
		err = &stores.ChainError{Seq: place, Msg: "is missing", Missing: true}
	}
	if err != nil {
		return h, err
	}
	return Head{Entries: place, Hash: entries[0].Hash}, nil
}

// Consistency proves that the log of a head extends that of its first leaves, of which there are
// was.
func Consistency(ctx context.Context, s stores.Log, was int64, h Head) ([]merkle.Hash, error) {
	return merkle.Consistency(was, h.Size, nodes(ctx, s))
}

// A Shown is what a proof shows of an entry: its number and its parts, of some only the digests.
type Shown struct {
	Number int64
	Parts  []ShownPart
}

// A ShownPart is a part with its texts, or the digest of one that is withheld.
type ShownPart struct {
	stores.Part
	Digest [32]byte
}

// Show returns the parts of an entry that shows picks, and the digests of the others.
func Show(e *stores.Entry, shows func(part int) bool) Shown {
	s := Shown{Number: e.Seq}
	for i, p := range e.Parts() {
		if shows != nil && !shows(i) {
			s.Parts = append(s.Parts, ShownPart{Digest: p.Digest()})
		} else {
			s.Parts = append(s.Parts, ShownPart{Part: p})
		}
	}
	return s
}

// Leaf returns the hash of the entry's leaf.
func (s *Shown) Leaf() [32]byte {
	digests := make([][32]byte, len(s.Parts))
	for i := range s.Parts {
		if digests[i] = s.Parts[i].Digest; s.Parts[i].Texts != nil {
			digests[i] = s.Parts[i].Part.Digest()
		}
	}
	return stores.LeafHash(s.Number, stores.BodyOf(digests))
}

type shownJSON struct {
	Verbatim string     `json:"verbatim"`
	Version  int        `json:"version"`
	Number   int64      `json:"number"`
	Parts    []partJSON `json:"parts"`
}

type partJSON struct {
	Salt   string   `json:"salt,omitempty"`
	Texts  []string `json:"texts,omitempty"`
	Digest string   `json:"digest,omitempty"`
}

// shownVersion is the only version there is.
const shownVersion = 1

// MarshalJSON writes parts with salts in hexadecimal digits.
func (s Shown) MarshalJSON() ([]byte, error) {
	out := shownJSON{"entry", shownVersion, s.Number, nil}
	for i := range s.Parts {
		p := &s.Parts[i]
		if p.Texts == nil {
			out.Parts = append(out.Parts, partJSON{Digest: hex.EncodeToString(p.Digest[:])})
		} else {
			out.Parts = append(out.Parts, partJSON{Salt: hex.EncodeToString(p.Salt[:]), Texts: p.Texts})
		}
	}
	return json.Marshal(out)
}

func readShown(text []byte) (s Shown, err error) {
	var in shownJSON
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil || in.Verbatim != "entry" || in.Version != shownVersion || len(in.Parts) < stores.RowParts {
		return s, fmt.Errorf("its extra data are no entry of version %d: %w", shownVersion, ErrProof)
	}
	s.Number = in.Number
	for _, p := range in.Parts {
		var part ShownPart
		part.Texts = p.Texts
		if withheld := p.Texts == nil; withheld && !readHash(p.Digest, part.Digest[:]) || !withheld && (p.Digest != "" || !readHash(p.Salt, part.Salt[:])) {
			return s, fmt.Errorf("a part of the entry cannot be read: %w", ErrProof)
		}
		s.Parts = append(s.Parts, part)
	}
	return s, nil
}

// A Proof proves that an entry is in a log, to whoever trusts the log's key. It has the form of a
// C2SP tlog-proof (https://c2sp.org/tlog-proof); its extra data are the entry, as Shown.
type Proof struct {
	Shown
	Index int64 // the number of the entry's leaf, from 0
	Path  []merkle.Hash
	Note  string // the checkpoint
}

// Prove proves an entry by the present head of a journal, which sign signs.
func Prove(ctx context.Context, s Logged, e *stores.Entry, shown Shown, sign func(Head) (string, error)) (*Proof, error) {
	switch {
	case e.InChain():
		return nil, ErrInChain
	case e.Place == 0:
		return nil, ErrWaits
	}
	before, _, err := chainOf(ctx, s)
	if err != nil {
		return nil, err
	}
	h, err := Last(ctx, s)
	if err != nil {
		return nil, err
	}
	p := &Proof{Shown: shown, Index: e.Place - before}
	if p.Path, err = merkle.Inclusion(p.Index, h.Size, nodes(ctx, s)); err != nil {
		return nil, err
	}
	if err := merkle.Included(p.Index, h.Size, p.Leaf(), p.Path, h.Hash); err != nil {
		return nil, &stores.ChainError{Seq: e.Seq, Msg: "has a leaf that is not its own"}
	}
	p.Note, err = sign(h)
	return p, err
}

// An UnsignedError says why a head was not signed.
type UnsignedError struct{ Cause error }

func (e *UnsignedError) Error() string { return "the log is not signed: " + e.Cause.Error() }
func (e *UnsignedError) Unwrap() error { return e.Cause }

// ProveNow seals what waits, and proves the entry with a number, all of it, by the head that sign signs; where sign
// is nil, nobody does. It returns ErrNoEntry, ErrWaits or ErrInChain where there is nothing to prove, and an
// *UnsignedError where sign fails.
func ProveNow(ctx context.Context, s stores.Store, n int64, sign func(context.Context, Head) (string, error)) (*Proof, error) {
	if err := s.Seal(ctx); err != nil && !errors.Is(err, stores.ErrStandby) {
		return nil, err
	}
	entries, err := s.Journal(ctx, n, n)
	if err == nil && len(entries) == 0 {
		err = ErrNoEntry
	}
	if err != nil {
		return nil, err
	}
	return Prove(ctx, s, &entries[0], Show(&entries[0], nil), func(h Head) (string, error) {
		if sign == nil {
			return Unsigned(h), nil
		}
		note, err := sign(ctx, h)
		if err != nil {
			err = &UnsignedError{err}
		}
		return note, err
	})
}

const proofHeader = "c2sp.org/tlog-proof@v1\n"

// String writes the proof.
func (p *Proof) String() string {
	extra, err := json.Marshal(p.Shown)
	if err != nil {
		panic(err) // texts and numbers can always be written
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%sextra %s\nindex %d\n", proofHeader, base64.StdEncoding.EncodeToString(extra), p.Index)
	writeHashes(&b, p.Path)
	b.WriteString("\n" + p.Note)
	return b.String()
}

func writeHashes(b *strings.Builder, hashes []merkle.Hash) {
	for _, h := range hashes {
		b.WriteString(base64.StdEncoding.EncodeToString(h[:]) + "\n")
	}
}

// WriteConsistency writes a proof of Consistency and the checkpoint that it leads to, in the form in
// which C2SP's witnesses take them (https://c2sp.org/tlog-witness).
func WriteConsistency(was int64, path []merkle.Hash, note string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "old %d\n", was)
	writeHashes(&b, path)
	return b.String() + "\n" + note
}

// CutConsistency returns the checkpoint of a text that WriteConsistency may have written.
func CutConsistency(text string) string {
	if _, note, ok := strings.Cut(text, "\n\n"); ok && strings.HasPrefix(text, "old ") {
		return note
	}
	return text
}

// ReadProof reads a proof and checks it: the entry that it shows is in the log of its checkpoint, and
// one of the keys signed that. Without keys, Checkpoint.Signed is false, and the proof proves
// nothing.
func ReadProof(text string, keys ...*Verifier) (p *Proof, c Checkpoint, err error) {
	wrong := func(why string) (*Proof, Checkpoint, error) {
		return nil, Checkpoint{}, fmt.Errorf("%s: %w", why, ErrProof)
	}
	body, note, ok := strings.Cut(strings.TrimPrefix(text, proofHeader), "\n\n")
	if !ok || !strings.HasPrefix(text, proofHeader) || len(text) > maxLine {
		return wrong("it is not of the form c2sp.org/tlog-proof@v1")
	}
	lines := strings.Split(body, "\n")
	extra, ok := strings.CutPrefix(lines[0], "extra ")
	b, err := base64.StdEncoding.Strict().DecodeString(extra)
	if !ok || err != nil || len(lines) < 2 {
		return wrong("its second line is not the entry")
	}
	p = &Proof{Note: note}
	if p.Shown, err = readShown(b); err != nil {
		return nil, c, err
	}
	index, ok := strings.CutPrefix(lines[1], "index ")
	if p.Index, err = strconv.ParseInt(index, 10, 64); !ok || err != nil || p.Index < 0 || strconv.FormatInt(p.Index, 10) != index {
		return wrong("its third line is not the place of the entry")
	}
	for _, line := range lines[2:] {
		h, err := base64.StdEncoding.Strict().DecodeString(line)
		if err != nil || len(h) != merkle.Size || len(p.Path) > 64 {
			return wrong("a hash cannot be read")
		}
		p.Path = append(p.Path, merkle.Hash(h))
	}
	if c, err = ReadCheckpoint(note, keys...); err != nil {
		return nil, c, err
	}
	if c.Size == 0 || c.Size == math.MaxInt64 || p.Index >= c.Size {
		return wrong("its checkpoint is not that of a log with the entry")
	}
	if err := merkle.Included(p.Index, c.Size, p.Leaf(), p.Path, c.Hash); err != nil {
		return wrong("the entry that it shows is not in the log that was signed")
	}
	return p, c, nil
}
