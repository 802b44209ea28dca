package journal

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	mathrand "math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"verbatim/stores"
	"verbatim/stores/receipt"
)

var update = flag.Bool("update", false, "write what this version writes, where nothing was written yet")

// chance is randomness that a test can repeat.
func chance(seed uint64) io.Reader {
	var s [32]byte
	s[0], s[1] = byte(seed), byte(seed>>8)
	return mathrand.NewChaCha8(s)
}

// ledger makes a journal of n entries, some of which commit to values. The first third of them are
// of the older chain.
func ledger(n int, seed uint64) []*Line {
	random := chance(seed)
	lines := make([]*Line, n)
	var prev [32]byte
	for i := range lines {
		seq := int64(i + 1)
		e := stores.Entry{
			Time: time.Date(2025, 1, 3, 10, 0, i, 0, time.UTC), Principal: "clara", Roles: []string{"client"}, Session: "s", Source: "a.dsl:1",
			Verb: "desk.note", Outcome: "ok", Palette: "d", Call: fmt.Sprintf("desk.note :text %d", i+int(seed)),
		}
		l := &Line{}
		r := Record{Rows: []receipt.Row{{Op: receipt.Inserted, Entity: "note", Table: "desk.notes", Key: key(i), Fields: []receipt.Field{
			{Name: "level", Kind: stores.String, After: receipt.Of(stores.NewString("LOW"))},
			{Name: "price", Kind: stores.Decimal, After: receipt.Of(decimal("3.50"))},
		}}}}
		if i%3 == 0 {
			o := NewOpening(fmt.Sprint("o", seq), "clara")
			c, err := o.Commit(random, stores.NewString("PASSPORT"))
			if err != nil {
				panic(err)
			}
			r.Opening = o.ID
			r.Rows[0].Fields = append(r.Rows[0].Fields, receipt.Field{Name: "text", Kind: stores.String, After: receipt.Value{Is: c}})
			l.Opening = o
		}
		e.Changes = string(r.AppendText(nil))
		if e.Place = seq; i < n/3 {
			e.Chain(seq, prev)
		} else {
			if _, err := io.ReadFull(random, e.Salt[:]); err != nil {
				panic(err)
			}
			e.Write()
			e.Number(seq)
		}
		l.Entry, prev = e, e.Hash
		lines[i] = l
	}
	return lines
}

func key(i int) stores.Value {
	v, _ := stores.ParseUUID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i))
	return v
}

func decimal(s string) stores.Value {
	v, ok := stores.ParseDecimal(s)
	if !ok {
		panic(s)
	}
	return v
}

func entriesOf(lines []*Line) iter.Seq2[*stores.Entry, error] {
	return func(yield func(*stores.Entry, error) bool) {
		for _, l := range lines {
			if !yield(&l.Entry, nil) {
				return
			}
		}
	}
}

func headOf(lines []*Line) Head {
	h, err := Verify(entriesOf(lines), nil)
	if err != nil {
		panic(err)
	}
	return h
}

func written(lines []*Line) []byte {
	var b bytes.Buffer
	w := NewWriter(&b)
	for _, l := range lines {
		if err := w.Entry(&l.Entry, l.Opening); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// resealed gives lines hashes that fit, from the one at index from on.
func resealed(lines []*Line, from int) []*Line {
	out := slices.Clone(lines)
	var prev [32]byte
	if from > 0 {
		prev = out[from-1].Entry.Hash
	}
	for i := from; i < len(out); i++ {
		l := *out[i]
		if l.Entry.Place = int64(i + 1); l.Entry.InChain() {
			l.Entry.Chain(l.Entry.Place, prev)
		} else {
			l.Entry.Write()
			l.Entry.Number(l.Entry.Place)
		}
		prev = l.Entry.Hash
		out[i] = &l
	}
	return out
}

// Every kind of value comes back as it was, decimals as written, and one record
// has one text.
func TestRecordsComeBackExactly(t *testing.T) {
	t.Parallel()
	values := rapid.OneOf(
		rapid.Map(rapid.String(), stores.NewString),
		rapid.Map(rapid.Int64(), stores.NewInt),
		rapid.Map(rapid.Bool(), stores.NewBool),
		rapid.Map(rapid.StringMatching(`-?[0-9]{1,20}(\.[0-9]{1,6})?`), decimal),
		rapid.Map(rapid.Int64Range(-50000, 50000), stores.NewDays),
		rapid.Map(rapid.Int64Range(-1<<50, 1<<50), func(n int64) stores.Value { return stores.NewTime(time.UnixMicro(n)) }),
		rapid.Map(rapid.Int64Range(-1<<50, 1<<50), func(n int64) stores.Value { return stores.NewDuration(time.Duration(n) * time.Microsecond) }),
		rapid.Map(rapid.IntRange(0, 99), key),
		rapid.SampledFrom([]stores.Value{jsonValue(`null`), jsonValue(`{"a":[1,2.50,"x"]}`), jsonValue(`[]`)}),
	)
	rapid.Check(t, func(t *rapid.T) {
		o := NewOpening("id", "p")
		random := chance(rapid.Uint64().Draw(t, "seed"))
		r := Record{Opening: "id", About: []Row{{Entity: "note", Key: stores.NewInt(7)}}}
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			c := receipt.Row{Op: rapid.SampledFrom([]string{receipt.Inserted, receipt.Updated, receipt.Deleted, receipt.Found}).Draw(t, "op"), Entity: "note", Table: "desk.notes", Key: key(1),
				Name: rapid.SampledFrom([]string{"", "@pierre-sow"}).Draw(t, "name")}
			for range rapid.IntRange(0, 4).Draw(t, "fields") {
				v := values.Draw(t, "value")
				f := receipt.Field{Name: "f", Kind: v.Kind(), After: receipt.Of(v), Sensitive: rapid.Bool().Draw(t, "sensitive")}
				if rapid.Bool().Draw(t, "before") {
					f.Before = receipt.Of(v)
				}
				if rapid.Bool().Draw(t, "erasable") || f.Sensitive {
					for _, side := range []*receipt.Value{&f.Before, &f.After} {
						is, _ := o.Commit(random, side.Value)
						*side = receipt.Value{Is: is}
					}
				}
				c.Fields = append(c.Fields, f)
			}
			r.Rows = append(r.Rows, c)
		}
		text := string(r.AppendText(nil))
		if !json.Valid([]byte(text)) {
			t.Fatalf("not JSON: %s", text)
		}
		back, err := Parse(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if again := string(back.AppendText(nil)); again != text {
			t.Fatalf("%s\n%s", text, again)
		}
		again, err := parseOpening("id", "p", o.text())
		if err != nil || again.text() != o.text() {
			t.Fatalf("%v\n%s", err, o.text())
		}
		back.Open(again)
		for i, c := range r.Rows {
			for j, f := range c.Fields {
				got := back.Rows[i].Fields[j]
				if f.After.Is == "" && got.After != f.After || f.After.Is != "" && (got.After.Gone || got.After.Kind() != f.Kind) {
					t.Fatalf("%+v came back as %+v", f, got)
				}
			}
		}
	})
}

func jsonValue(s string) stores.Value {
	v, err := stores.ParseJSON(s)
	if err != nil {
		panic(err)
	}
	return v
}

// One record has one text, and what this version does not know is refused.
func TestRecordsAreReadStrictly(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`[{"v":1},{"Entity":"note","Fields":[],"Key":"00000000-0000-4000-8000-000000000001","Op":"insert","Table":"t","New":1}]`,
		`[{"v":1},{"Fields":[],"Entity":"note","Key":"00000000-0000-4000-8000-000000000001","Op":"insert","Table":"t"}]`,
		`[{"v":1},{"Entity":"note","Fields":[],"Key":"00000000-0000-4000-8000-000000000001","Op":"merge","Table":"t"}]`,
		`[{"v":1},{"Entity":"note","Fields":[],"Key":"00000000-0000-4000-8000-000000000001","Op":"insert","Table":"t"}] `,
		`[{"v":1},{"Entity":"note","Fields":[{"After":"x","Field":"f","Kind":"integer"}],"Key":"00000000-0000-4000-8000-000000000001","Op":"insert","Table":"t"}]`,
		`[{"v":1},{"Entity":"note","Fields":[],"Key":null,"Op":"insert","Table":"t"}]`,
		`[{"Entity":"note","Key":"00000000-0000-4000-8000-000000000001","Op":"insert","Table":"t"}]`,
		`[{"v":1,"Opening":"o","Later":"x"}]`, `[{"Opening":"o","v":1}]`, `[{"v":1},{"v":1}]`,
		`[]`, `null`, `{}`, `x`,
	} {
		if r, err := Parse(text); err == nil {
			t.Errorf("%s was read as %+v", text, r)
		}
	}
	if _, err := Parse(`[{"v":2,"Later":"x"}]`); err == nil || !strings.Contains(err.Error(), "of version 2, and this program reads version 1") {
		t.Errorf("a record of a later version is answered with %v", err)
	}
}

// SAFE-J4: a value that was erased cannot be found out, not even from a list of
// everything that it could be: equal values are committed to differently, and
// nothing that is left depends on the value alone.
func TestACommitmentTellsNothingWithoutItsSalt(t *testing.T) {
	t.Parallel()
	codes := []string{"PASSPORT", "ID_CARD", "DRIVING_LICENCE"}
	random := chance(1)
	o := NewOpening("id", "p")
	seen := map[receipt.Commitment]bool{}
	for range 50 {
		c, err := o.Commit(random, stores.NewString("PASSPORT"))
		if err != nil || seen[c] {
			t.Fatalf("one value is committed to twice alike: %v", err)
		}
		seen[c] = true
	}
	kept := o.text()
	for c := range seen {
		if v, ok := o.Open(c); !ok || v.Text() != "PASSPORT" {
			t.Fatal("it does not open")
		}
		for _, code := range codes {
			if commit([saltSize]byte{}, stores.NewString(code)) == c {
				t.Fatalf("%s was found out without its salt", code)
			}
		}
	}
	if saltSize*8 < 128 {
		t.Error("a salt is too short")
	}
	// What is kept proves the value: another one in its place is found.
	if _, err := parseOpening("id", "p", strings.Replace(kept, "PASSPORT", "PASSP0RT", 1)); err == nil {
		t.Error("a value was altered and nobody noticed")
	}
	var all []receipt.Commitment
	for c := range seen {
		all = append(all, c)
	}
	if n := o.erase(all); n != 50 || o.Len() != 0 || strings.Contains(o.text(), "PASSPORT") {
		t.Errorf("%d erased, %s is left", n, o.text())
	}
	if _, err := NewOpening("id", "p").Commit(strings.NewReader("short"), stores.NewString("x")); err == nil {
		t.Error("a value was committed to without a salt")
	}
}

// SAFE-J2: with a checkpoint, a tail that was cut off, entries that were written
// anew with hashes that fit, a fork and another journal are all found, at every
// place; without one, none of them can be, and Verify says nothing else.
func TestACheckpointShowsWhatAChainCannot(t *testing.T) {
	t.Parallel()
	const n, at = 40, 30
	lines := ledger(n, 1)
	known := headOf(lines[:at])
	if h, err := Verify(entriesOf(lines), nil, known, headOf(lines), headOf(lines[:n/3]), headOf(lines[:5]), Head{}); err != nil || h != headOf(lines) {
		t.Fatal(h, err)
	}
	tried, found := 0, 0
	try := func(name string, lines []*Line, want bool) {
		t.Helper()
		if _, err := Verify(entriesOf(lines), nil); err != nil {
			t.Errorf("%s: the journal alone shows it: %v", name, err)
		}
		_, err := Verify(entriesOf(lines), nil, known)
		var behind *BehindError
		var fork *ForkError
		if want {
			tried++
			if errors.As(err, &behind) || errors.As(err, &fork) {
				found++
				return
			}
		}
		if (err != nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	for k := range n {
		try(fmt.Sprintf("cut off behind %d", k), lines[:k], k < at)
		anew := slices.Clone(lines)
		l := *anew[k]
		l.Entry.Call = "desk.note :text 99"
		anew[k] = &l
		try(fmt.Sprintf("written anew from %d", k+1), resealed(anew, k), k < at)
		fork := slices.Concat(lines[:k], ledger(n, 2)[k:])
		try(fmt.Sprintf("forked behind %d", k), resealed(fork, k), k < at)
	}
	try("another journal", ledger(n, 3), true)
	try("nothing", nil, true)
	// A checkpoint of the older chain that reaches behind where that chain ends speaks of another journal.
	var fork *ForkError
	if _, err := Verify(entriesOf(lines), nil, Head{Entries: at, Hash: known.Hash}); !errors.As(err, &fork) || fork.Seq != at {
		t.Errorf("a checkpoint of a chain that there never was: %v", err)
	}
	if tried != found || tried < 90 {
		t.Errorf("%d tried, %d found", tried, found)
	}
}

// SAFE-J1: in a file, whatever one bit of it becomes, it is found; and so is
// every line that is taken out, doubled or put elsewhere.
func TestEveryBitOfAFileIsLookedAt(t *testing.T) {
	t.Parallel()
	lines := ledger(4, 1)
	good := written(lines)
	check := func(b []byte) error {
		_, err := Verify(OnlyEntries(Read(bytes.NewReader(b))), nil)
		return err
	}
	if err := check(good); err != nil {
		t.Fatal(err)
	}
	for i := range good {
		for bit := range 8 {
			bad := slices.Clone(good)
			bad[i] ^= 1 << bit
			if check(bad) == nil {
				t.Fatalf("bit %d of byte %d: %.40q", bit, i, bad[max(0, i-10):])
			}
		}
		if check(good[:i]) == nil {
			t.Fatalf("cut off behind byte %d", i)
		}
	}
	text := bytes.SplitAfter(good, []byte("\n"))
	for i := range len(text) - 1 {
		if check(bytes.Join(slices.Concat(text[:i], text[i+1:]), nil)) == nil && !bytes.HasPrefix(text[i], []byte(`{"opening"`)) {
			t.Errorf("line %d taken out", i+1)
		}
		if check(bytes.Join(slices.Concat(text[:i], text[i:i+1], text[i:]), nil)) == nil {
			t.Errorf("line %d doubled", i+1)
		}
		if i > 0 && check(bytes.Join(slices.Concat(text[:i-1], text[i:i+1], text[i-1:i], text[i+1:]), nil)) == nil {
			t.Errorf("line %d moved up", i+1)
		}
	}
}

// SAFE-R10: a field that a later version writes is refused and named.
func TestAFieldOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	good := string(written(ledger(2, 1)))
	for bad, want := range map[string]string{
		strings.Replace(good, `"call":`, `"mood":"well","call":`, 1):     `holds "mood", which this version does not know`,
		strings.Replace(good, `"version":2`, `"version":3`, 1):           "begins a journal of version 3",
		strings.Replace(good, `"version":2`, `"version":1`, 1):           "has a hash that cannot be read",
		strings.Replace(good, `"version":2`, `"version":2,"x":1`, 1):     "not written as a journal writes it",
		strings.Replace(good, `{"end":`, `{"more":1}`+"\n"+`{"end":`, 1): `holds "more"`,
	} {
		_, err := Verify(OnlyEntries(Read(strings.NewReader(bad))), nil)
		var line *FileError
		if !errors.As(err, &line) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// SAFE-J5: no bytes make it panic, and none pass but those of a journal that is
// whole: what passes is written again byte for byte.
func FuzzReadJournal(f *testing.F) {
	f.Add(written(ledger(3, 1)))
	f.Add(written(nil))
	f.Add([]byte(`{"verbatim":"journal","version":1}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var lines []*Line
		for l, err := range Read(bytes.NewReader(b)) {
			if err != nil {
				return
			}
			lines = append(lines, l)
		}
		if !bytes.Equal(written(lines), bytes.Replace(b, []byte(`"version":1}`), []byte(`"version":2}`), 1)) {
			t.Fatalf("it was taken for another file:\n%s", b)
		}
		if h, err := Verify(entriesOf(lines), nil); err == nil && h.Entries != int64(len(lines)) {
			t.Fatal("a head that is not the last entry's")
		}
		for _, l := range lines {
			_, _ = l.Record()
		}
	})
}

// SAFE-J5: whatever a checkpoint says, what is accepted under it begins with
// exactly the entries that it knows.
func FuzzReadCheckpoint(f *testing.F) {
	signer, err := NewSigner("example.com"+OfLog, chance(1))
	if err != nil {
		f.Fatal(err)
	}
	lines := ledger(5, 1)
	f.Add(signer.Sign(headOf(lines)))
	f.Add(signer.Sign(Head{}))
	f.Fuzz(func(t *testing.T, note string) {
		c, err := ReadCheckpoint(note)
		if err != nil {
			return
		}
		_, err = Verify(entriesOf(lines), nil, c.Head)
		extends := c.Size == 0 && c.Entries == 0 || c.Size == 1 && c.Hash == stores.LeafHash(1, lines[0].Entry.Hash)
		for n := range len(lines) + 1 {
			h := headOf(lines[:n])
			extends = extends || h.Hash == c.Hash && h.Size == c.Size && (h.Size > 0 || h.Entries == c.Entries)
		}
		if (err == nil) != extends {
			t.Fatalf("%+v: %v", c, err)
		}
		if _, err := ReadCheckpoint(note, &signer.Verifier); err == nil && signer.Sign(c.Head) != note && strings.Count(note, "\n— ") == 1 {
			t.Fatalf("a signature that the key did not make: %q", note)
		}
	})
}

// What is signed is what the note format says: a key and a note that others
// publish are read as they read them.
func TestNotesAreThoseOfTheFormat(t *testing.T) {
	t.Parallel()
	v, err := ParseVerifier("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW")
	if err != nil {
		t.Fatal(err)
	}
	sig, err := base64.StdEncoding.DecodeString("x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=")
	if err != nil || !bytes.Equal(sig[:4], v.id()) {
		t.Fatalf("%x %x %v", sig[:4], v.id(), err)
	}
	const text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
	if !ed25519.Verify(v.key, []byte(text), sig[4:]) {
		t.Error("the signature does not fit")
	}
	if v.String() != "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW" {
		t.Error(v.String())
	}
}

func TestCheckpointsAreSignedAndReadStrictly(t *testing.T) {
	t.Parallel()
	signer, err := NewSigner("example.com"+OfLog, chance(1))
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewSigner("example.com"+OfLog, chance(2))
	if err != nil {
		t.Fatal(err)
	}
	again, err := ParseSigner(signer.Secret() + "\n")
	if err != nil || again.Secret() != signer.Secret() {
		t.Fatal(err)
	}
	h := headOf(ledger(3, 1))
	note := signer.Sign(h)
	c, err := ReadCheckpoint(note, &signer.Verifier)
	if err != nil || c.Size != h.Size || c.Hash != h.Hash || c.Origin != "example.com"+OfLog || !c.Signed {
		t.Fatal(c, err)
	}
	// A witness may add a signature of theirs.
	if _, err := ReadCheckpoint(note+"— witness.example AAAAAAAA\n", &signer.Verifier); err != nil {
		t.Error(err)
	}
	if _, err := ReadCheckpoint(note, &other.Verifier); !errors.Is(err, ErrSignature) {
		t.Error(err)
	}
	for i := range note {
		for bit := range 8 {
			b := []byte(note)
			b[i] ^= 1 << bit
			if _, err := ReadCheckpoint(string(b), &signer.Verifier); err == nil {
				t.Fatalf("bit %d of byte %d of %q", bit, i, note)
			}
		}
	}
	for _, name := range []string{"", "two words", "a+b", "line\n"} {
		if _, err := NewSigner(name, chance(1)); !errors.Is(err, ErrKey) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, k := range []string{"", "x", signer.Secret(), strings.Replace(signer.Verifier.String(), "example", "exampl3", 1)} {
		if _, err := ParseVerifier(k); !errors.Is(err, ErrKey) || strings.Contains(err.Error(), "PRIVATE+KEY+example") {
			t.Errorf("%v", err)
		}
	}
}

// SAFE-R10: the journal that the first version wrote is verified, read and
// carried out again by every later one. The file is never written again.
func TestTheFirstJournalIsReadForEver(t *testing.T) {
	t.Parallel()
	const name = "testdata/journal-1.jsonl"
	if *update {
		if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
			if err := os.WriteFile(name, written(first()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	h, err := Verify(OnlyEntries(Read(bytes.NewReader(b))), nil)
	if err != nil || h.Entries != 5 || fmt.Sprintf("%x", h.Hash[:4]) != firstHash {
		t.Fatalf("%d entries, head %x, %v", h.Entries, h.Hash[:4], err)
	}
	note := &stores.Entity{Name: "note", Table: "desk.notes", Fields: []stores.Field{
		{Name: "id", Kind: stores.UUID}, {Name: "text", Kind: stores.String}, {Name: "price", Kind: stores.Decimal}, {Name: "due", Kind: stores.Date},
		{Name: "at", Kind: stores.Time}, {Name: "lasts", Kind: stores.Duration}, {Name: "done", Kind: stores.Bool}, {Name: "more", Kind: stores.JSON}, {Name: "count", Kind: stores.Int},
	}}
	s := NewState([]*stores.Entity{note})
	for l, err := range Read(bytes.NewReader(b)) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Record()
		if err != nil {
			t.Fatal(err)
		}
		s.Apply(l.Entry.Seq, &r)
	}
	row := s.rows.get(note, key(1))
	var got []string
	for _, v := range row.values {
		got = append(got, v.String())
	}
	want := `00000000-0000-4000-8000-000000000001 "Zoë's passport" 4.10 2025-02-28 2025-01-03T10:00:00.000001Z 1h30m0s true {"a":[1,2.50]} -7`
	if strings.Join(got, " ") != want || len(s.Differences()) > 0 {
		t.Errorf("%s\n%v", got, s.Differences())
	}
	if other := s.rows.get(note, key(2)); other == nil || !other.gone || s.Erased() != 0 {
		t.Errorf("%+v", other)
	}
}

// firstHash begins the head of the first journal.
const firstHash = "b332d263"

func first() []*Line {
	random := chance(7)
	date, _ := stores.ParseDate("2025-02-28")
	var lines []*Line
	var prev [32]byte
	add := func(e stores.Entry, make func(*Record, *Opening)) {
		l := &Line{}
		var r Record
		o := NewOpening(fmt.Sprint("opening-", len(lines)+1), "clara")
		if make(&r, o); o.Len() > 0 {
			r.Opening, l.Opening = o.ID, o
		}
		e.Time, e.Principal, e.Roles, e.Session, e.Palette = time.Date(2025, 1, 3, 10, len(lines), 0, 1000, time.UTC), "clara", []string{"client", "owner"}, "s-1", "d"
		e.Changes = string(r.AppendText(nil))
		e.Chain(int64(len(lines)+1), prev)
		l.Entry, prev = e, e.Hash
		lines = append(lines, l)
	}
	text := func(o *Opening, s string) receipt.Commitment {
		c, err := o.Commit(random, stores.NewString(s))
		if err != nil {
			panic(err)
		}
		return c
	}
	add(stores.Entry{Source: "a.dsl:1", Verb: "desk.add", Call: `desk.add :text "(personal)"`, Outcome: "ok", Turn: "turn-1", Origins: `{"text":"person"}`}, func(r *Record, o *Opening) {
		r.Call = text(o, `desk.add :text "Zoë's passport"`)
		r.Rows = []receipt.Row{{Op: receipt.Inserted, Entity: "note", Table: "desk.notes", Key: key(1), Fields: []receipt.Field{
			{Name: "text", Kind: stores.String, After: receipt.Value{Is: text(o, "Zoë's passport")}},
			{Name: "price", Kind: stores.Decimal, After: receipt.Of(decimal("3.50"))},
			{Name: "due", Kind: stores.Date, After: receipt.Of(date)},
			{Name: "at", Kind: stores.Time, After: receipt.Of(stores.NewTime(time.Date(2025, 1, 3, 10, 0, 0, 1000, time.UTC)))},
			{Name: "lasts", Kind: stores.Duration, After: receipt.Of(stores.NewDuration(90 * time.Minute))},
			{Name: "done", Kind: stores.Bool, After: receipt.Of(stores.NewBool(true))},
			{Name: "more", Kind: stores.JSON, After: receipt.Of(jsonValue(`{"a":[1,2.50]}`))},
			{Name: "count", Kind: stores.Int, After: receipt.Of(stores.NewInt(-7))},
		}}}
	})
	add(stores.Entry{Source: "a.dsl:2", Verb: "desk.price", Call: `desk.price :id @zoe :price 4.10`, Outcome: "ok", Preview: "c7f2-91d0", Agreed: "t.weber, role analyst"}, func(r *Record, o *Opening) {
		r.About = nil
		r.Rows = []receipt.Row{{Op: receipt.Updated, Entity: "note", Table: "desk.notes", Key: key(1), Name: "@zoe", Fields: []receipt.Field{
			{Name: "price", Kind: stores.Decimal, Before: receipt.Of(decimal("3.50")), After: receipt.Of(decimal("4.10"))}}}}
	})
	add(stores.Entry{Source: "log", Verb: "verbatim.baseline", Call: `verbatim.baseline`, Outcome: "ok"}, func(r *Record, o *Opening) {
		r.Rows = []receipt.Row{{Op: receipt.Found, Entity: "note", Table: "desk.notes", Key: key(2), Fields: []receipt.Field{{Name: "count", Kind: stores.Int, After: receipt.Of(stores.NewInt(1))}}}}
	})
	add(stores.Entry{Source: "a.dsl:3", Verb: "desk.drop", Call: `desk.drop :id "(personal)"`, Outcome: "ok"}, func(r *Record, o *Opening) {
		r.Call, r.About = text(o, `desk.drop :id @old`), []Row{{Entity: "note", Key: key(2)}}
		r.Rows = []receipt.Row{{Op: receipt.Deleted, Entity: "note", Table: "desk.notes", Key: key(2), NameIs: text(o, "@old"), Fields: []receipt.Field{{Name: "count", Kind: stores.Int, Before: receipt.Of(stores.NewInt(1))}}}}
	})
	add(stores.Entry{Source: "a.dsl:4", Verb: "desk.drop", Call: `desk.drop :id @zoe`, Outcome: "refused", Reason: "not-permitted"}, func(*Record, *Opening) {})
	return lines
}

// A journal of any length is gone through a page at a time, and of a part of it
// nothing more is read. // SAFE-L3
func TestEntriesAreReadAPageAtATime(t *testing.T) {
	t.Parallel()
	lines := ledger(3*page+7, 1)
	last := int64(len(lines))
	for _, c := range []struct{ from, to, first, last, reads int64 }{
		{3, 0, 3, last, 5},
		{-1, 0, 1, last, 5},
		{5, 9, 5, 9, 1},
		{9, 9, 9, 9, 1},
		{1, page, 1, page, 1},
		{1, page + 1, 1, page + 1, 2},
		{9, 8, 9, 8, 0},
		{last, last + page, last, last, 2},
	} {
		s := &counting{lines: lines}
		next := c.first
		for e, err := range Entries(context.Background(), s, c.from, c.to) {
			if err != nil || e.Seq != next {
				t.Fatal(e, err)
			}
			next++
		}
		if next != c.last+1 || s.most > page || s.reads != c.reads {
			t.Errorf("%d to %d: ended before %d after %d reads, %d entries at once", c.from, c.to, next, s.reads, s.most)
		}
	}
}

// SAFE-J1: as many entries as are missing, where others are behind them, the journal does
// not end there.
func TestAGapIsNoEnd(t *testing.T) {
	t.Parallel()
	lines := ledger(4*page, 1)
	for _, gap := range [][2]int{{0, page}, {page, 2 * page}, {page, 3 * page}, {page - 1, 3*page + 1}, {0, 4*page - 1}} {
		s := &counting{lines: slices.Concat(lines[:gap[0]], lines[gap[1]:])}
		h, err := Verify(Entries(context.Background(), s, 1, 0), nil)
		var chain *stores.ChainError
		if !errors.As(err, &chain) || !chain.Missing || chain.Seq != int64(gap[0]+1) {
			t.Errorf("without entries %d to %d, %d entries are in order: %v", gap[0]+1, gap[1], h.Entries, err)
		}
	}
}

// SAFE-J1: entries that are sealed while we read are none that are missing.
func TestEntriesThatAreSealedMeanwhile(t *testing.T) {
	t.Parallel()
	lines := ledger(page+3, 1)
	for _, first := range []int{0, page, page + 1} {
		s := &growing{counting{lines: lines[:first]}, lines}
		h, err := Verify(Entries(context.Background(), s, 1, 0), nil)
		if err != nil || h.Entries != int64(len(lines)) {
			t.Errorf("%d entries, and then %d: %d are in order, %v", first, len(lines), h.Entries, err)
		}
	}
}

// growing has all entries by the time its head is asked for.
type growing struct {
	counting
	all []*Line
}

func (g *growing) Head(ctx context.Context) (int64, [32]byte, error) {
	g.lines = g.all
	return g.counting.Head(ctx)
}

// A store that fails ends the entries with its error: a journal that could not be
// read is not one that was verified. // SAFE-L3
func TestAFailureOfTheStoreEndsTheEntries(t *testing.T) {
	t.Parallel()
	s := &counting{lines: ledger(2*page, 1), fails: 2}
	h, err := Verify(Entries(context.Background(), s, 1, 0), nil)
	if !errors.Is(err, errRead) || h.Entries != page {
		t.Errorf("verified %d entries: %v", h.Entries, err)
	}
}

var errRead = errors.New("the disk is gone")

// counting counts what is read of a journal, and fails at one of the reads.
type counting struct {
	lines        []*Line
	most         int
	reads, fails int64
}

func (c *counting) Placed(_ context.Context, from, to int64) ([]stores.Entry, error) {
	if c.reads++; c.reads == c.fails {
		return nil, errRead
	}
	var out []stores.Entry
	for _, l := range c.lines {
		if l.Entry.Place >= from && (to == 0 || l.Entry.Place <= to) {
			out = append(out, l.Entry)
		}
	}
	c.most = max(c.most, len(out))
	return out, nil
}

func (c *counting) Head(context.Context) (int64, [32]byte, error) {
	if len(c.lines) == 0 {
		return 0, [32]byte{}, nil
	}
	e := c.lines[len(c.lines)-1].Entry
	return e.Place, e.Hash, nil
}

// In the order of numbers, gaps of any length are passed over, and the last entry is the end.
func TestGapsOfNumbersArePassedOver(t *testing.T) {
	t.Parallel()
	many := []int64{1, 2, 1 << 40} // behind a part that is away, say
	for range 2 * stores.EntriesAtOnce {
		many = append(many, many[len(many)-1]+1)
	}
	for _, numbers := range [][]int64{nil, {1}, {1, 2, 700}, {5, 1 << 20, 1<<20 + 1}, {3, 1 << 50}, many, many[:stores.EntriesAtOnce]} {
		s := numbered(numbers)
		var got []int64
		for e, err := range ByNumber(context.Background(), &s, 1, 0) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Seq)
		}
		if !slices.Equal(got, numbers) {
			t.Errorf("%d were read as %d", numbers, got)
		}
	}
}

type numbered []int64

func (n *numbered) Journal(_ context.Context, from, to int64) (entries []stores.Entry, err error) {
	for _, seq := range *n {
		if seq >= from && (to == 0 || seq <= to) && len(entries) < stores.EntriesAtOnce {
			entries = append(entries, stores.Entry{Seq: seq})
		}
	}
	return entries, nil
}
