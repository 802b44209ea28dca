package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"verbatim/stores"
)

// storage is a palette of shelves that stand on one another, and of things that took the
// place of others.
const storage = `
domain: storage
entities:
  shelf:
    description: Where things are.
    table: club.shelves
    key: shelf_id
    managed: true
    scope: club
    label: "{name}"
    fields:
      club:   {type: ref, ref-type: club, required: true}
      name:   {type: string, required: true}
      inside: {type: ref, ref-type: shelf}
  swap:
    description: A thing that took the place of another.
    table: club.swaps
    key: swap_id
    managed: true
    scope: now.club
    label: "{now.name} for {was.name}"
    fields:
      now: {type: ref, ref-type: item, required: true}
      was: {type: ref, ref-type: item, required: true}
verbs:
  - verb: above
    description: What a shelf is in, up to the top.
    roles: [keeper, auditor]
    args: [{name: shelf-id, type: ref, ref-type: shelf, required: true}]
    reads: {entity: shelf, from: shelf-id, along: inside, fields: {name: name}}
  - verb: below
    description: What is in a shelf, however deep.
    roles: [keeper, auditor]
    args: [{name: shelf-id, type: ref, ref-type: shelf, required: true}]
    reads: {entity: shelf, from: shelf-id, along: shelf.inside, limit: 60, fields: {name: name}}
  - verb: named
    description: What is in a shelf and has a long name, by name downwards.
    roles: [keeper]
    args: [{name: shelf-id, type: ref, ref-type: shelf, required: true}]
    reads: {entity: shelf, from: shelf-id, along: shelf.inside, where: row.name > "b", order: [name desc], fields: {name: name}}
  - verb: deepest
    description: What is in a shelf and is called so, however deep.
    roles: [keeper]
    args: [{name: shelf-id, type: ref, ref-type: shelf, required: true}, {name: name, type: string, required: true}]
    reads: {entity: shelf, from: shelf-id, along: shelf.inside, where: row.name == name, limit: 2, fields: {name: name}}
  - verb: how-many
    description: How many shelves are in one, with itself.
    roles: [keeper]
    args: [{name: shelf-id, type: ref, ref-type: shelf, required: true}]
    reads: {entity: shelf, from: shelf-id, along: shelf.inside, fields: {shelves: count()}}
  - verb: before
    description: What a thing took the place of, back to the first.
    roles: [keeper, auditor]
    args: [{name: item-id, type: ref, ref-type: item, required: true}]
    reads: {entity: item, from: item-id, along: swap.now.was, fields: {name: name}}
`

// M11: a read goes along a reference to any depth: up, down, and by rows that stand between. It ends
// in a circle, stays within the scope, and gives no more rows than its limit. On both stores.
func TestReadsGoAlongAReference(t *testing.T) {
	t.Parallel()
	worldsOfPalettes(t, map[string]string{"lending.yaml": lendingText(t), "storage.yaml": storage}, func(t *testing.T, w *world) {
		shelf, swap := w.entity("shelf"), w.entity("swap")
		put := func(key, club int, name string, inside int) stores.Change {
			c := stores.Change{Op: stores.Insert, Entity: shelf, Key: id(key), Set: []stores.Assign{{Field: 1, Value: id(club)}, {Field: 2, Value: str(name)}}}
			if inside > 0 {
				c.Set = append(c.Set, stores.Assign{Field: 3, Value: id(inside)})
			}
			return c
		}
		swapped := func(key, now, was int) stores.Change {
			return stores.Change{Op: stores.Insert, Entity: swap, Key: id(key), Set: []stores.Assign{{Field: 1, Value: id(now)}, {Field: 2, Value: id(was)}}}
		}
		w.change(put(501, 1, "hall", 0), put(502, 1, "cupboard", 501), put(503, 1, "box", 502), put(504, 1, "tin", 503), put(505, 1, "attic", 501))
		// Somebody else's shelf stands in the hall, and one of the hall's in theirs.
		w.change(put(510, 2, "theirs", 501), put(511, 1, "beyond", 510))
		w.change(swapped(601, 21, 22), swapped(602, 22, 23), swapped(603, 21, 24), swapped(604, 23, 21))
		deep := []stores.Change{put(700, 1, "level 00", 0)}
		for i := 1; i < 60; i++ {
			deep = append(deep, put(700+i, 1, fmt.Sprintf("level %02d", i), 699+i))
		}
		w.change(deep...)
		if _, err := w.engine.NameRows(t.Context()); err != nil {
			t.Fatal(err)
		}
		column := func(who, script string) string {
			t.Helper()
			reply, err := w.run(who, script)
			if err != nil {
				t.Fatal(script, err)
			}
			var all []string
			for _, row := range reply.Calls[len(reply.Calls)-1].Result.Rows {
				all = append(all, strings.Trim(row[0].String(), `"`))
			}
			return strings.Join(all, " ")
		}
		for _, c := range []struct{ who, call, want string }{
			{"kim", "storage.above :shelf-id @tin", "tin box cupboard hall"},
			{"kim", "storage.above :shelf-id @hall", "hall"},
			{"kim", "storage.below :shelf-id @cupboard", "cupboard box tin"},
			{"kim", "storage.below :shelf-id @hall", "hall cupboard attic box tin"},
			{"ada", "storage.below :shelf-id @hall", "hall cupboard attic theirs box beyond tin"},
			{"kim", "storage.named :shelf-id @hall", "tin hall cupboard box"},
			{"kim", "storage.how-many :shelf-id @hall", "5"},
			// A limit is of what is given, and not of what is gone through.
			{"kim", "storage.deepest :shelf-id @level-00 :name \"level 59\"", "level 59"},
			{"kim", "storage.how-many :shelf-id @level-00", "60"},
			{"kim", "storage.before :item-id @drill", "Drill Saw Tent Ladder"},
			{"kim", "storage.before :item-id @tent", "Tent"},
			// In a script that writes, the rows are held.
			{"kim", "lending.add-item :club-id @north :name \"Rope\"\nstorage.above :shelf-id @box", "box cupboard hall"},
		} {
			if got := column(c.who, c.call); got != c.want {
				t.Errorf("%s: %s: %q, not %q", c.who, c.call, got, c.want)
			}
		}
		if got := column("kim", "storage.below :shelf-id @level-00"); strings.Count(got, "level") != 60 || !strings.HasPrefix(got, "level 00 level 01 level 02 ") {
			t.Error(got)
		}
		w.change(put(790, 1, "level 60", 759))
		w.refused("kim", "storage.below :shelf-id @level-00", "too-much")
	})
}
