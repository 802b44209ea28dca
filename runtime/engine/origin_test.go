package engine_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
)

// A till is a house that pays: Ann, Bob and Mallory may be paid by kim, the
// clerk; bo is the chief. Somebody else's house has Zoe.
type till struct{ *world }

func newTill(t testing.TB) *till {
	t.Helper()
	w := &world{t: t, reg: load(t, "testdata/paying"), clock: newWorldClock}
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "till.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	w.store = store
	if err := w.open(store); err != nil {
		t.Fatal(err)
	}
	return &till{w}
}

func (w *world) open(store stores.Store) error {
	ctx := context.Background()
	if plan, err := store.Migrate(ctx, append(w.tables(), engine.Own()...), true); err != nil || len(plan.Problems) > 0 {
		return fmt.Errorf("migrate: %w %v", err, plan.Problems)
	}
	for _, p := range []stores.Principal{
		{Name: "kim", Roles: []string{"clerk"}, Holds: map[string][]stores.Value{"house": {id(1)}}},
		{Name: "bo", Roles: []string{"chief"}},
	} {
		if err := store.SetPrincipal(ctx, p); err != nil {
			return err
		}
	}
	var all []stores.Change
	add := func(entity string, key int, values ...stores.Value) {
		c := stores.Change{Op: stores.Insert, Entity: w.entity(entity), Key: id(key)}
		for i, v := range values {
			if !v.IsNull() {
				c.Set = append(c.Set, stores.Assign{Field: i + 1, Value: v})
			}
		}
		all = append(all, c)
	}
	add("house", 1, str("House"))
	add("house", 2, str("Other"))
	add("payee", 11, id(1), str("Ann"), str("DE01"), str("pays late"))
	add("payee", 12, id(1), str("Bob"), str("DE02"))
	add("payee", 13, id(1), str("Mallory"), str("DE66"), stores.Value{}, stores.Value{}, stores.Value{}, id(11))
	add("payee", 21, id(2), str("Zoe"), str("DE99"))
	err := store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Changes: all})
	})
	if err == nil {
		w.engine, err = engine.New(w.reg, store, engine.Options{Clock: w.now, NewID: w.newID})
	}
	return err
}

var (
	ofScript = verbs.NewOrigin(verbs.FromScript, "")
	ofPerson = verbs.NewOrigin(verbs.FromPerson, "")
	ofRecord = verbs.NewOrigin(verbs.FromRecord, "")
	ofModel  = verbs.NewOrigin(verbs.FromModel, "")
	ofTool   = verbs.NewOrigin(verbs.FromTool, "crm.find")
	ofLetter = verbs.NewOrigin(verbs.FromDocument, "letter.pdf")
)

// said makes a program of a script in which what stands in guillemets came from
// elsewhere than the rest: "«DE89»" is "DE89", out of the letter, say.
func (w *till) said(s *engine.Session, text string, rest, marked verbs.Origin) *verbs.Program {
	w.t.Helper()
	var clean strings.Builder
	var at []int
	for _, r := range text {
		switch r {
		case '«':
			at = append(at, clean.Len())
		case '»':
		default:
			clean.WriteRune(r)
		}
	}
	script, ds := dsl.Parse(dsl.NewSource("said.dsl", clean.String()))
	if ds.HasErrors() {
		w.t.Fatal(text, told(ds))
	}
	p, ds := s.Check(context.Background(), script, engine.CheckOptions{Said: verbs.Literals{Origin: rest, Of: func(r dsl.Range) (verbs.Origin, bool) {
		return marked, slices.ContainsFunc(at, func(n int) bool { return int(r.Start) <= n && n < int(r.End) })
	}}})
	if p == nil {
		w.t.Fatal(text, told(ds))
	}
	return p
}

// says runs a script whose author's words are a person's own, but for those in
// guillemets, in a session of its own.
func (w *till) says(text string, marked verbs.Origin) (*receipt.Receipt, error) {
	w.t.Helper()
	s := w.session("kim")
	return s.Run(context.Background(), w.said(s, text, ofPerson, marked), engine.RunOptions{})
}

// came returns the origin of a field as it is stored.
func (w *till) came(payee int, field string) verbs.Origin {
	w.t.Helper()
	var row stores.Row
	e := w.entity("payee")
	err := w.store.View(context.Background(), stores.Scope{All: true}, func(r stores.Reader) (err error) {
		row, err = r.Get(context.Background(), e, id(payee))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return verbs.Stored(stores.MarkOf(row.Marks, e.FieldIndex(field)))
}

// SAFE-S4: a value keeps its origin on every way through a script, a macro and
// the store, into a second session; of several it has all.
func TestOriginsFlow(t *testing.T) {
	t.Parallel()
	both := ofLetter.Mix(ofModel)
	for _, c := range []struct {
		name, text string
		field      string // of Bob
		want       verbs.Origin
	}{
		{"a literal", `paying.note :payee-id @bob :note "«x»"`, "note", ofLetter},
		{"a person's own words", `paying.note :payee-id @bob :note "x"`, "note", ofRecord},
		{"a binding", "paying.note :payee-id @ann :note \"«x»\" :as @a\npaying.get :payee-id @a :as @g\npaying.note :payee-id @bob :note @g.note", "note", ofLetter},
		{"a field of a binding", "paying.note :payee-id @ann :note \"«x»\" :as @a\npaying.note :payee-id @bob :note @a.note", "note", ofLetter},
		{"an expression", `paying.join :payee-id @bob :a "a" :b "«b»"`, "note", ofLetter},
		{"either side of a condition", `paying.join :payee-id @bob :a "a" :b "«b»"`, "iban", ofLetter},
		{"what decides a condition", `paying.join :payee-id @bob :a "a" :b "b"`, "iban", ofRecord},
		{"a list", `paying.keep :payee-id @bob :codes ["a" "«b»"]`, "codes", ofLetter},
		{"a list of bindings", "paying.note :payee-id @ann :note \"«x»\" :as @a\npaying.keep :payee-id @bob :codes [\"a\" @a.note]", "codes", ofLetter},
		{"a map", `paying.keep :payee-id @bob :data {:k {:l "«b»"} :m 1}`, "data", ofLetter},
		{"a map with a binding", "paying.note :payee-id @ann :note \"«x»\" :as @a\npaying.keep :payee-id @bob :data {:k [@a.note]}", "data", ofLetter},
		{"a field along a reference", "paying.note :payee-id @ann :note \"«x»\" :as @a\npaying.get :payee-id @a :as @g\npaying.find :name \"Mallory\" :as @m\npaying.keep :payee-id @bob :codes [@g.note]\npaying.note :payee-id @bob :note @m.next.name", "note", ofRecord},
		{"an effect that copies", "paying.note :payee-id @ann :note \"«x»\" :as @a\npaying.copy :from-id @a :payee-id @bob", "note", ofLetter},
		{"an effect on rows that a condition picks", "paying.note :payee-id @ann :note \"«x»\" :as @a\npaying.copy-all :from-id @a :name \"Bob\"", "note", ofLetter},
		{"a row that a condition picks", "paying.note :payee-id @bob :note \"«x»\" :as @a\npaying.copy-all :from-id @ann :name @a.name", "iban", ofLetter},
		{"a condition on a document", `paying.mark-when :payee-id @bob :note "«yes»"`, "iban", ofRecord},
		{"the answer of a query that was told it", "paying.ask :text \"«x»\" :as @q\npaying.note :payee-id @bob :note @q.text", "note", ofLetter},
		{"the answer of a query of a table that holds it", "paying.note :payee-id @ann :note \"«x»\" :as @a\npaying.keep :payee-id @a :codes [\"y\"] :as @b\npaying.ask :text @b.name :as @q\npaying.note :payee-id @bob :note @q.note", "note", ofLetter},
		{"the answer of a query of trusted rows", "paying.ask :text \"x\" :as @q\npaying.note :payee-id @bob :note @q.text", "note", ofRecord},
		{"a reference", "paying.find :name \"«Ann»\" :as @f\npaying.point :payee-id @bob :to-id @f", "next", ofLetter},
		{"a reference to what is named", "paying.get :payee-id @ann :as @g\npaying.point :payee-id @bob :to-id @g", "next", ofRecord},
		{"a row that a document chose", "paying.find :name \"«Ann»\" :as @f\npaying.note :payee-id @bob :note @f.note", "note", ofRecord},
		{"the key of a row that a document chose", "paying.find :name \"«Ann»\" :as @f\npaying.point :payee-id @bob :to-id @f.payee", "next", ofLetter},
		{"a nested call", `paying.point :payee-id @bob :to-id (paying.find :name "«Ann»")`, "next", ofLetter},
		{"two origins", "paying.note :payee-id @ann :note \"«x»\" :as @a\npaying.join :payee-id @bob :a @a.note :b @model.note", "note", both},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newTill(t)
			text := c.text
			if strings.Contains(text, "@model") {
				s := w.session("kim")
				if _, err := s.Run(context.Background(), w.said(s, `paying.note :payee-id @mallory :note "m"`, ofModel, ofModel), engine.RunOptions{}); err != nil {
					t.Fatal(err)
				}
				text = strings.ReplaceAll(text, "@model", "@mallory")
			}
			if _, err := w.says(text, ofLetter); err != nil {
				t.Fatal(codeOf(t, err), err)
			}
			if got := w.came(12, c.field); got != c.want {
				t.Errorf("%s comes from %q, want %q", c.field, got, c.want)
			}
		})
	}
}

// SAFE-S4: what a document said, saved by a harmless verb and read back in a
// second session, in whatever way, is still a document's; and a person's own
// word makes it theirs.
func TestNothingIsLaunderedByBeingSaved(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a field of a name":         `paying.pay :payee-id @bob :iban @ann.note`,
		"a field of a binding":      "paying.get :payee-id @ann :as @g\npaying.pay :payee-id @bob :iban @g.note",
		"a field that was found":    "paying.find :name \"Ann\" :as @g\npaying.pay :payee-id @bob :iban @g.note",
		"a field along a reference": "paying.pay :payee-id @bob :iban @mallory.next.note",
		"a field of what was found": "paying.find :name \"Mallory\" :as @g\npaying.pay :payee-id @bob :iban @g.next-note",
		"a list":                    `paying.pay :payee-id @bob :codes ["x" @ann.note]`,
		"a map":                     `paying.pay :payee-id @bob :data {:k [@ann.note]}`,
		"a macro":                   `paying.pay-by :payee-id @bob :iban @ann.note`,
		"a list in a macro":         `paying.pay-by :payee-id @bob :codes [@ann.note]`,
		"a macro in a macro":        `paying.pay-by-two :payee-id @bob :iban @ann.note`,
		"inside a macro":            `paying.pay-noted :payee-id @ann`,
		"a query":                   "paying.ask :text \"x\" :as @q\npaying.pay :payee-id @bob :iban @q.note",
		"saved once more":           "paying.note :payee-id @bob :note @ann.note :as @n\npaying.pay :payee-id @bob :iban @n.note",
		"made into another":         "paying.join :payee-id @bob :a \"\" :b @ann.note :as @n\npaying.pay :payee-id @bob :iban @n.iban",
		"copied":                    "paying.copy :from-id @ann :payee-id @bob :as @n\npaying.pay :payee-id @bob :iban @n.note",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTill(t)
			if _, err := w.says(`paying.note :payee-id @ann :note "«DE89»"`, ofLetter); err != nil {
				t.Fatal(err)
			}
			before := w.state()
			_, err := w.says(text, ofPerson)
			if got := codeOf(t, err); got != "origin" {
				t.Fatalf("it is told %q, %v", got, err)
			}
			if !strings.Contains(err.Error(), "letter.pdf") {
				t.Errorf("it is not told where it came from: %v", err)
			}
			if d := diff(w.entity, before, w.state()); len(d) > 0 {
				t.Error(d)
			}
			// The very same words, in a person's mouth.
			if _, err := w.says(`paying.note :payee-id @ann :note "DE89"`, ofLetter); err != nil {
				t.Fatal(err)
			}
			if _, err := w.says(text, ofPerson); err != nil {
				t.Error("typed by a person:", err)
			}
		})
	}
}

// A refusal says what the argument accepts, where the value came from and on
// which way, and what to do; and nothing was done.
func TestWhatIsSaidOfOrigins(t *testing.T) {
	t.Parallel()
	w := newTill(t)
	if _, err := w.says(`paying.note :payee-id @ann :note "«DE89»"`, ofLetter); err != nil {
		t.Fatal(err)
	}
	const next = "a person says it in their own words, or somebody who knows it adds it to the record"
	for text, want := range map[string]string{
		`paying.pay :payee-id @bob :iban "«DE89»"`:                                           ":iban must come from a person or a record; this came from letter.pdf",
		`paying.pay :payee-id @bob :iban @ann.note`:                                          ":iban must come from a person or a record; this came from letter.pdf, through @ann.note",
		"paying.get :payee-id @ann :as @g\npaying.pay :payee-id @bob :iban @g.note":          ":iban must come from a person or a record; this came from letter.pdf, through @g.note",
		`paying.pay :payee-id @bob :codes ["x" @bob.name @ann.note]`:                         ":codes must come from a person or a record; this came from letter.pdf, a record and a person, through @ann.note",
		`paying.pay-by :payee-id @bob :iban @ann.note`:                                       ":iban must come from a person or a record; this came from letter.pdf, through @ann.note and :iban of paying.pay-by",
		`paying.pay :payee-id @bob :to-id (paying.find :name "«Ann»")`:                       ":to-id must come from a person or a record; this came from letter.pdf, through the answer of paying.find",
		`paying.pay :payee-id @bob :iban "«DE89»" :codes ["«x»"] :to-id @ann`:                ":iban must come from a person or a record; this came from letter.pdf",
		"paying.ask :text \"«x»\" :as @q\npaying.pay :payee-id @bob :iban @q.text :amount 2": ":iban must come from a person or a record; this came from letter.pdf and a record, through @q.text",
	} {
		_, err := w.says(text, ofLetter)
		var r *engine.Refusal
		if !errors.As(err, &r) || r.Diagnostics[0].Code != "origin" {
			t.Errorf("%s: %v", text, err)
			continue
		}
		d := r.Diagnostics[0]
		if plain(d.Summary) != want {
			t.Errorf("%s:\n got %s\nwant %s", text, d.Summary, want)
		}
		if len(d.Notes) != 1 || d.Notes[0] != next {
			t.Errorf("%s: next: %q", text, d.Notes)
		}
		if strings.Contains(text, ":codes [\"«x»\"]") && len(r.Diagnostics) != 2 {
			t.Errorf("not all is told at once: %v", err)
		}
	}
	if e := w.journal(); e[len(e)-1].Reason != "origin" {
		t.Error("the journal does not know of it")
	}
}

// Where the palette says that another origin asks, somebody is asked, and told
// why; what they agree to is that origin too.
func TestOtherOriginsAsk(t *testing.T) {
	t.Parallel()
	w := newTill(t)
	ctx := context.Background()
	s := w.session("kim")
	const text = `paying.pay-asking :payee-id @bob :iban "«DE89»"`
	p := w.said(s, text, ofPerson, ofLetter)
	if _, err := s.Run(ctx, p, engine.RunOptions{}); codeOf(t, err) != "needs-agreement" {
		t.Fatal(err)
	}
	c, err := s.Propose(ctx, p, engine.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if ask := c.Preview.Asks(); len(ask) != 1 || ask[0].By != "chief" || ask[0].Reason != ":iban must come from a person or a record; this came from letter.pdf; money cannot be called back" {
		t.Errorf("%+v", ask)
	}
	shown, err := w.session("bo").Show(ctx, c.ID)
	if err != nil || shown.Stale {
		t.Fatal(shown, err)
	}
	if got := fieldNamed(t, shown.Preview, "iban").Origin; got != ofLetter.String() {
		t.Errorf("the card says it came from %q", got)
	}
	if _, _, err := w.session("bo").Agree(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
	if rows := w.rowsOf("payment"); len(rows) != 1 {
		t.Errorf("%d payments", len(rows))
	}
	// From a person nobody is asked.
	if _, err := w.says(`paying.pay-asking :payee-id @bob :iban "DE89"`, ofLetter); err != nil {
		t.Error(err)
	}
	// Whoever asks may agree where the palette says so; not to another origin.
	mine := w.said(s, `paying.pay-sure :payee-id @bob :iban "«DE77»"`, ofPerson, ofLetter)
	preview, err := s.Preview(ctx, mine)
	if err != nil {
		t.Fatal(err)
	}
	other := w.said(s, `paying.pay-sure :payee-id @bob :iban "«DE77»"`, ofPerson, ofTool)
	if _, err := s.Run(ctx, other, engine.RunOptions{Agreed: preview.ID}); codeOf(t, err) != "stale-preview" {
		t.Errorf("what a tool says was agreed to as a letter's: %v", err)
	}
	if _, err := s.Run(ctx, mine, engine.RunOptions{Agreed: preview.ID}); err != nil {
		t.Error(err)
	}
}

// A confirmation is stale once a value that it is about is no longer from where
// it was, though it is the same value.
func TestAnOriginThatChangesMakesAConfirmationStale(t *testing.T) {
	t.Parallel()
	w := newTill(t)
	ctx := context.Background()
	s := w.session("kim")
	p := w.said(s, `paying.pay-asking :payee-id @bob :iban @ann.note`, ofPerson, ofLetter)
	if _, err := w.says(`paying.note :payee-id @ann :note "«pays late»"`, ofLetter); err != nil {
		t.Fatal(err)
	}
	if got := w.came(11, "note"); got != ofRecord {
		t.Fatalf("a document that says what is known already makes it %q", got)
	}
	if _, err := w.says(`paying.note :payee-id @ann :note "«DE89»"`, ofLetter); err != nil {
		t.Fatal(err)
	}
	c, err := s.Propose(ctx, p, engine.RunOptions{})
	if err != nil || c.ID == "" {
		t.Fatal(c, err)
	}
	reply, err := w.says(`paying.note :payee-id @ann :note "DE89"`, ofLetter)
	if err != nil {
		t.Fatal(err)
	}
	f := fieldNamed(t, reply, "note")
	if f.Before != f.After || f.Was != ofLetter.String() || f.Origin != ofPerson.String() {
		t.Errorf("a person vouching for a value shows as %+v", f)
	}
	if got := w.came(11, "note"); got != ofRecord {
		t.Errorf("what a person typed is %q", got)
	}
	if _, _, err := w.session("bo").Agree(ctx, c.ID); codeOf(t, err) != "stale-preview" {
		t.Errorf("it was agreed to: %v", err)
	}
}

// Marks go when their value goes: by another value, or with the row.
func TestMarksAreCleared(t *testing.T) {
	t.Parallel()
	w := newTill(t)
	for _, text := range []string{`paying.note :payee-id @bob :note "«x»"`, `paying.join :payee-id @bob :a "«a»" :b "b"`} {
		if _, err := w.says(text, ofLetter); err != nil {
			t.Fatal(err)
		}
	}
	if w.came(12, "note") != ofLetter || w.came(12, "iban") != ofLetter {
		t.Fatal("not marked")
	}
	if _, err := w.says(`paying.note :payee-id @bob :note "y"`, ofLetter); err != nil {
		t.Fatal(err)
	}
	if w.came(12, "note") != ofRecord || w.came(12, "iban") != ofLetter {
		t.Error("what was typed keeps its mark, or what was not touched has lost it")
	}
	if _, err := w.says("paying.mark-when :payee-id @bob :note \"«yes»\"", ofLetter); err != nil {
		t.Fatal(err)
	}
	if w.came(12, "iban") != ofRecord {
		t.Error("what the palette itself says keeps the mark")
	}
	if _, err := w.says("paying.keep :payee-id @bob :codes [\"«x»\"] :as @k\npaying.remove :payee-id @k", ofLetter); err != nil {
		t.Fatal(err)
	}
	e := w.entity("payee")
	err := w.store.Update(context.Background(), stores.Scope{All: true}, func(tx stores.Tx) error {
		err := tx.Apply(context.Background(), stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: e, Key: id(12), Set: []stores.Assign{{Field: 1, Value: id(1)}, {Field: 2, Value: str("Bob")}}}}})
		if err != nil {
			return err
		}
		row, err := tx.Get(context.Background(), e, id(12))
		if len(row.Marks) > 0 {
			t.Errorf("a new row has the marks of an old one: %v", row.Marks)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A journal entry says where what the call was given came from, and its changes
// what was marked; a notice takes the origins of what goes with it along.
func TestOriginsAreJournalled(t *testing.T) {
	t.Parallel()
	w := newTill(t)
	for _, text := range []string{`paying.note :payee-id @bob :note "«DE89»"`, `paying.pay :payee-id @bob :iban @ann.iban`} {
		if _, err := w.says(text, ofLetter); err != nil {
			t.Fatal(err)
		}
	}
	entries := w.journal()
	if got := entries[0].Origins; got != `{"note":"document=letter.pdf","payee-id":"person"}` {
		t.Error(got)
	}
	if got := entries[1].Origins; got != `{"iban":"record","payee-id":"person"}` {
		t.Error(got)
	}
	record, err := journal.Parse(entries[0].Changes)
	if err != nil || len(record.Rows) != 1 || record.Rows[0].Fields[0].Origin != "document=letter.pdf" {
		t.Errorf("%+v, %v", record, err)
	}
	s := w.session("kim")
	if _, err := s.Run(context.Background(), w.program(s, `paying.note :payee-id @bob :note "x"`), engine.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	entries = w.journal()
	if got := entries[len(entries)-1].Origins; got != "" {
		t.Errorf("a script's own values are told: %s", got)
	}
}

func fieldNamed(t *testing.T, p *receipt.Receipt, name string) receipt.Field {
	t.Helper()
	for _, c := range p.Calls {
		for _, r := range c.Rows {
			if i := slices.IndexFunc(r.Fields, func(f receipt.Field) bool { return f.Name == name }); i >= 0 {
				return r.Fields[i]
			}
		}
	}
	t.Fatalf("no %s in %+v", name, p)
	return receipt.Field{}
}

func (w *world) rowsOf(entity string) []string {
	var found []string
	for k := range w.state() {
		if strings.HasPrefix(k, entity+" ") {
			found = append(found, k)
		}
	}
	return found
}

// SAFE-S4: what a call answers says of every value where it came from, so that
// whoever copies one by hand cannot make it a record's.
func TestAnAnswerSaysWhereItsValuesComeFrom(t *testing.T) {
	t.Parallel()
	w := newTill(t)
	if _, err := w.says(`paying.note :payee-id @ann :note "«DE89»"`, ofLetter); err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{`paying.get :payee-id @ann`, `paying.find :name "Ann"`, `paying.ask :text "x"`, `paying.get :payee-id @bob`} {
		s := w.session("kim")
		p := w.said(s, script, ofPerson, ofLetter)
		if !s.Reads(p) {
			t.Error(script, "does more than read")
		}
		reply, err := s.Run(context.Background(), p, engine.RunOptions{})
		if err != nil {
			t.Fatal(script, err)
		}
		result := reply.Calls[0].Result
		for i, name := range result.Columns {
			if name != "note" || result.Rows[0][i].IsNull() {
				continue
			}
			want := ofRecord
			if result.Rows[0][i].Text() == "DE89" {
				want = ofLetter
			}
			if got := verbs.Stored(result.Origin(0, i)); got.Trusted() != want.Trusted() || want == ofLetter && got.Kinds()&verbs.FromDocument == 0 {
				t.Errorf("%s: %s comes from %q, want %q", script, name, got, want)
			}
		}
	}
	if s := w.session("kim"); s.Reads(w.said(s, `paying.note :payee-id @ann :note "x"`, ofPerson, ofLetter)) {
		t.Error("a write reads")
	}
}
