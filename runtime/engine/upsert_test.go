package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores"
)

// wishVerbs are verbs over a table of what was wished for, whose rows are known by what
// they hold.
const wishVerbs = `
  - verb: wish
    description: Say how much you want a thing. Said again, the latest counts.
    roles: [keeper, member]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
      - {name: item-id, type: ref, ref-type: item, required: true}
      - {name: weight, type: integer}
      - {name: until, type: date, clear: true}
      - {name: forever, type: boolean, clear: true}
      - {name: price, type: decimal}
      - {name: currency, type: code}
    effects:
      - upserts: wish
        as: wished
        by: [item, member]
        set: {member: member-id, item: item-id, weight: weight, until: until, forever: forever, price: price, currency: currency}
      - notifies: board
        with: {wish: wished}

  - verb: wish-all
    description: Want several things alike.
    roles: [keeper]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
      - {name: item-ids, type: list, of: {type: ref, ref-type: item}, required: true}
      - {name: weight, type: integer, required: true}
    effects:
      - upserts: wish
        for-each: item-ids
        when: each.status != LOST
        by: [member, item]
        set: {member: member-id, item: each, weight: weight, forever: true}

  - verb: unwish
    description: Want it no more.
    roles: [keeper]
    args:
      - {name: wish-id, type: ref, ref-type: wish, required: true}
    effects:
      - deletes: wish
        where: wish-id

  - verb: wish-more
    description: Wish and note.
    roles: [keeper]
    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
      - {name: item-id, type: ref, ref-type: item, required: true}
    effects:
      - may-create: wish
      - may-update: wish
      - notifies: board
    script: |
      lending.wish :member-id @member-id :item-id @item-id :weight 7 :forever true
`

// wishes is the entity that they are about.
const wishes = `  wish:
    description: What somebody wants.
    key: wish_id
    managed: true
    scope: member.club
    label: "{item.name} {member.name}"
    unique: [[member, item]]
    constraints:
      - {exactly-one: [until, forever], else: "say until when, or forever"}
      - {all-or-none: [price, currency], else: a price needs its currency}
    fields:
      member:   {type: ref, ref-type: member, required: true}
      item:     {type: ref, ref-type: item, required: true}
      weight:   {type: integer, default: 1}
      until:    {type: date}
      forever:  {type: boolean}
      price:    {type: decimal}
      currency: {type: code}
`

// wishing is the palette of lending with both.
func wishing(t *testing.T) string {
	return strings.Replace(lendingText(t), "\nverbs:\n", "\n"+wishes+"\nverbs:\n", 1) + wishVerbs
}

// inNames writes the rows that every world begins with by their names, and leaves out
// the keys of others.
func inNames(lines []string) []string {
	for i := range lines {
		for _, row := range rows {
			if name := row.fields["name"]; !name.IsNull() {
				lines[i] = strings.ReplaceAll(lines[i], id(row.key).Text(), strings.ToLower(name.Text()))
			}
		}
		if change, rest, is := strings.Cut(lines[i], " wish "); is && change != "+" {
			_, rest, _ = strings.Cut(rest, " ")
			lines[i] = strings.TrimSpace(change + " wish " + rest)
		}
	}
	slices.Sort(lines)
	return lines
}

// O18: the row that is there is changed, and what is not there is created.
func TestARowIsChangedOrCreated(t *testing.T) {
	t.Parallel()
	worldsOfPalette(t, wishing(t), func(t *testing.T, w *world) {
		does := func(script string, want ...string) {
			t.Helper()
			equal(t, inNames(w.done("kim", script)), want)
		}
		const it = `lending.wish :member-id @ann :item-id @saw `
		does(it+`:weight 3 :until 2025-03-01`, "+ wish member=ann item=saw weight=3 until=2025-03-01")
		does(it+`:weight 5`, "~ wish weight=5")
		does(`lending.wish :member-id @bob :item-id @saw :forever true`, "+ wish member=bob item=saw weight=1 forever=true")
		// What is so already is no change, and the call still gives its row.
		does(it + `:weight 5`)
		does(it+`:weight 5 :as @w`+"\n"+`lending.unwish :wish-id @w`, "- wish")
		// Each thing for itself, and one that comes twice as it was said last.
		does(`lending.wish-all :member-id @ann :item-ids [@tent, @drill, @ladder] :weight 2`,
			"+ wish member=ann item=drill weight=2 forever=true", "+ wish member=ann item=tent weight=2 forever=true")
		does(`lending.wish-all :member-id @ann :item-ids [@saw, @drill] :weight 4`,
			"+ wish member=ann item=saw weight=4 forever=true", "~ wish weight=4")
		// A macro that promises the same keeps it either way.
		for range 2 {
			w.done("kim", `lending.wish-more :member-id @bob :item-id @ladder`)
		}
	})
}

// What a palette says of several fields of a row holds, whichever verb would break it, and
// the store keeps it against everybody else.
func TestConstraintsOverSeveralFieldsHold(t *testing.T) {
	t.Parallel()
	worldsOfPalette(t, wishing(t), func(t *testing.T, w *world) {
		const it = `lending.wish :member-id @ann :item-id @saw `
		for script, says := range map[string]string{
			it:                                     "say until when, or forever",
			it + `:until 2025-03-01 :forever true`: "say until when, or forever",
			it + `:forever true :price 3`:          "a price needs its currency",
			it + `:forever true :currency EUR`:     "a price needs its currency",
		} {
			if got := sentences(w.refused("kim", script, "requirement-not-met")); got != says {
				t.Errorf("%s: it says %s", script, got)
			}
		}
		w.done("kim", it+`:forever true :price 3 :currency EUR`)
		w.refused("kim", it+`:until 2025-03-01`, "requirement-not-met")
		w.done("kim", it+`:until 2025-03-01 :forever nil`)
		w.refused("kim", it+`:until nil`, "requirement-not-met")

		e := w.entity("wish")
		for key, row := range w.state() {
			if !strings.HasPrefix(key, "wish ") {
				continue
			}
			until := e.FieldIndex("until")
			err := w.store.Update(t.Context(), stores.Scope{All: true}, func(tx stores.Tx) error {
				return tx.Apply(t.Context(), stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: e, Key: row[e.Key], Before: row, Guard: []int{until},
					Set: []stores.Assign{{Field: until}}}}})
			})
			if !errors.Is(err, stores.ErrInvalid) {
				t.Errorf("the store lets it be broken: %v", err)
			}
		}
	})
}

// Of many at once, one creates it and the others change it.
func TestARowIsCreatedOnceByMany(t *testing.T) {
	t.Parallel()
	worldsOfPalette(t, wishing(t), func(t *testing.T, w *world) {
		engines := []*engine.Engine{w.engine, w.another(nil)}
		var all sync.WaitGroup
		for n := range 16 {
			s, err := engines[n%2].Session(t.Context(), "kim")
			if err != nil {
				t.Fatal(err)
			}
			p := w.program(s, fmt.Sprintf(`lending.wish :member-id @ann :item-id @saw :weight %d :forever true`, n+1))
			all.Go(func() {
				if _, err := s.Run(t.Context(), p, engine.RunOptions{}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if rows := w.rowsOf("wish"); len(rows) != 1 {
			t.Errorf("there are %d: %s", len(rows), rows)
		}
	})
}
