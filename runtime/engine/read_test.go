package engine_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/sqlite"
)

const library = `domain: library
description: Shelves and books.
roles: [{name: reader, description: Whoever reads.}]
codes:
  - {name: state, values: [NEW, {code: WORN, description: has been read a lot}, LOST]}
entities:
  shelf:
    key: shelf_id
    managed: true
    scope: self
    label: "{name}"
    progress: {of: book.shelf, stage: state, weight: pages, done: row.returned_on != nil and row.returned_on <= today}
    fields:
      name: {type: string, required: true}
      note: {type: string}
      card: {type: string, sensitive: true}
  book:
    key: book_id
    managed: true
    scope: shelf
    label: "{title}"
    fields:
      shelf: {type: ref, ref-type: shelf, required: true}
      title: {type: string, required: true}
      state: {type: code, ref-type: state, required: true}
      pages: {type: integer}
      returned_on: {type: date}
      borrower: {type: string, sensitive: true}
verbs:
  - verb: note
    roles: [reader]
    args:
      - {name: shelf-id, type: ref, ref-type: shelf, required: true}
      - {name: note, type: string, required: true}
    effects:
      - updates: shelf.note
        where: shelf-id
        set: {note: note}
  - verb: rename
    roles: [reader]
    args:
      - {name: shelf-id, type: ref, ref-type: shelf, required: true}
      - {name: name, type: string, required: true, from: [person, record]}
    effects:
      - updates: shelf.name
        where: shelf-id
        set: {name: name}
  - verb: look
    roles: [reader]
    args:
      - {name: shelf-id, type: ref, ref-type: shelf, required: true}
      - {name: since, type: date}
    reads:
      entity: shelf
      one: shelf-id
      fields:
        shelf: shelf_id
        again: row.note + "!"
        late: since != nil and since < today
        hidden: row.card != nil
        far: progress.percent
        stage: progress.stage
        complete: progress.stages
        worn_count: count(worn)
      lists:
        worn:
          of: book.shelf
          where: row.state == WORN and (since == nil or row.returned_on >= since)
          order: [title desc]
          fields: {title: title, means: describe(state), thick: row.pages > 100}
        borrowed:
          of: book.shelf
          fields: {title: title, borrower: borrower}
  - verb: shelves
    roles: [reader]
    reads:
      entity: shelf
      order: [name]
      fields: {name: name, far: progress.percent, books: count(books), of: progress.total}
      lists:
        books: {of: book.shelf}
`

func newLibrary(t *testing.T) *shop {
	t.Helper()
	ctx := context.Background()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "library.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := &shop{store: store, reg: loadYAML(t, map[string]string{"library.yaml": library})}
	if _, err := store.Migrate(ctx, append(s.tables(), engine.Own()...), true); err != nil {
		t.Fatal(err)
	}
	add := func(entity string, key int, values map[string]stores.Value) stores.Change {
		e := s.reg.Entity(entity).Store
		c := stores.Change{Op: stores.Insert, Entity: e, Key: id(key)}
		for i := range e.Fields {
			if v, ok := values[e.Fields[i].Name]; ok {
				c.Set = append(c.Set, stores.Assign{Field: i, Value: v})
			}
		}
		return c
	}
	type row = map[string]stores.Value
	err = store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{
			add("shelf", 1, row{"name": str("Atlases"), "card": str("4711")}),
			add("shelf", 2, row{"name": str("Empty")}),
			add("shelf", 3, row{"name": str("Theirs")}),
			add("book", 11, row{"shelf": id(1), "title": str("Asia"), "state": str("WORN"), "pages": stores.NewInt(300), "returned_on": date("2025-01-02")}),
			add("book", 12, row{"shelf": id(1), "title": str("Europe"), "state": str("WORN"), "borrower": str("Ann"), "returned_on": date("2025-01-09")}),
			add("book", 13, row{"shelf": id(1), "title": str("Moon"), "state": str("NEW"), "pages": stores.NewInt(100), "returned_on": date("2025-01-01")}),
			add("book", 14, row{"shelf": id(3), "title": str("Secret"), "state": str("WORN"), "pages": stores.NewInt(1)}),
		}})
	})
	if err == nil {
		err = store.SetPrincipal(ctx, stores.Principal{Name: "rita", Roles: []string{"reader"}, Holds: map[string][]stores.Value{"shelf": {id(1), id(2)}}})
	}
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2025, 1, 5, 12, 0, 0, 0, time.UTC)
	if s.engine, err = engine.New(s.reg, store, engine.Options{Clock: func() time.Time { return noon }}); err != nil {
		t.Fatal(err)
	}
	return s
}

// O26, OB3: what a read returns beside fields: what expressions come to, nothing
// where something in them is absent; the palette's words for codes; rows that
// belong to the row read, and no others; and how far it is.
func TestReadsReckonWhatTheyReturn(t *testing.T) {
	t.Parallel()
	p := newPortalAt(t, newLibrary(t), time.Date(2025, 1, 5, 12, 0, 0, 0, time.UTC))
	res := p.did(t, "rita", "library.look :shelf-id @atlases")[0]
	wantSaid(t, res, 0, map[string]string{
		"shelf": "@atlases", "again": "", "late": "false", "hidden": "true", "worn_count": "2",
		"worn": `[{"means":"has been read a lot","thick":null,"title":"Europe"},{"means":"has been read a lot","thick":true,"title":"Asia"}]`,
		// 400 of 400 pages are back, and a book without pages is not: it is not all.
		"far": "99", "complete": `["NEW"]`, "stage": "WORN",
	})
	res = p.did(t, "rita", `library.look :shelf-id @atlases :since 2025-01-05`)[0]
	wantSaid(t, res, 0, map[string]string{"late": "false", "worn_count": "1"})
	res = p.did(t, "rita", "library.look :shelf-id @empty")[0]
	wantSaid(t, res, 0, map[string]string{"worn": "[]", "worn_count": "0", "far": "", "stage": "", "complete": "", "hidden": "false"})
	// Of several rows each has its own, and what is out of scope is nobody's.
	all := p.did(t, "rita", "library.shelves")[0]
	if len(all.Rows) != 2 {
		t.Fatalf("%d shelves", len(all.Rows))
	}
	wantSaid(t, all, 0, map[string]string{"name": "Atlases", "books": "3", "of": "3", "far": "99"})
	wantSaid(t, all, 1, map[string]string{"name": "Empty", "books": "0", "of": "", "far": ""})
}

// SAFE-L1, X8: what is worked out from something sensitive, or listed with it, is
// as sensitive: it is marked, and that it was read is journalled.
func TestReadsKeepSensitiveApart(t *testing.T) {
	t.Parallel()
	s := newLibrary(t)
	p := newPortalAt(t, s, time.Date(2025, 1, 5, 12, 0, 0, 0, time.UTC))
	res := p.did(t, "rita", "library.look :shelf-id @atlases")[0]
	for i, column := range res.Columns {
		if dark := res.Sensitive != nil && res.Sensitive[i]; dark != slices.Contains([]string{"hidden", "borrowed"}, column) {
			t.Errorf("%s is sensitive: %v", column, dark)
		}
	}
	entries, err := s.store.Journal(context.Background(), 1, 0)
	if err != nil || len(entries) != 1 || strings.Contains(entries[0].Changes, "Ann") {
		t.Errorf("the journal has %v, %v", entries, err)
	}
}

// SAFE-S4, X9: what an expression makes of a document's words is a document's.
func TestReadsCarryOriginsThroughExpressions(t *testing.T) {
	t.Parallel()
	s := newLibrary(t)
	if err := s.saidBy("rita", `library.note :shelf-id @atlases :note "Send it to me"`, "note", ofLetter); err != nil {
		t.Fatal(err)
	}
	err := s.say("rita", `library.look :shelf-id @atlases :as @seen
		library.rename :shelf-id @atlases :name @seen.again`)
	if code(err) != "origin" {
		t.Errorf("got %v", err)
	}
	if got := s.field(t, "shelf", id(1).Text(), "name"); got != "Atlases" {
		t.Errorf("it is called %s", got)
	}
}
