package engine_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores/postgres"
)

// SAFE-R12: two who change the same rows at once, each through a store of their
// own and in the order that is worst for the other, both get through: whoever is
// in the way of somebody waits a little and tries again. Nothing is lost of what
// either did.
func TestTwoInOneAnothersWayBothFinish(t *testing.T) {
	t.Parallel()
	const rounds = 12
	for _, backend := range []string{"sqlite", "postgres"} {
		for _, byCall := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s each=%v", backend, byCall), func(t *testing.T) {
				t.Parallel()
				var two [2]*world
				if backend == "sqlite" {
					two[0], two[1] = newTwo(t)
				} else {
					two[0], two[1] = newTwoOnServer(t)
				}
				// One of them takes a lock for each row when it comes to it.
				engine.AtOnce(two[1].engine)
				scripts := [2]string{
					"lending.note :loan-id @saw-bob :note \"%[1]s\"\nlending.note :loan-id @ladder-ann :note \"%[1]s\"\nlending.note :loan-id @tent-ann :note \"%[1]s\"\nlending.remind :loan-id @saw-bob :on 2025-04-01 :text \"%[1]s\"",
					"lending.note :loan-id @tent-ann :note \"%[1]s\"\nlending.note :loan-id @saw-bob :note \"%[1]s\"\nlending.remind :loan-id @tent-ann :on 2025-04-01 :text \"%[1]s\"",
				}
				var all sync.WaitGroup
				for i, w := range two {
					s := w.session("kim")
					all.Go(func() {
						for n := range rounds {
							p := w.program(s, fmt.Sprintf(scripts[i], fmt.Sprintf("%d of %d", n, i)))
							if _, err := committed(context.Background(), s, p, byCall, engine.RunOptions{}); err != nil {
								t.Errorf("%d of %d: %v", n, i, err)
							}
						}
					})
				}
				all.Wait()
				added := 0
				for key, row := range two[0].state() {
					if strings.HasPrefix(key, "reminder ") && strings.Contains(row[two[0].entity("reminder").FieldIndex("text")].Text(), " of ") {
						added++
					}
				}
				if added != 2*rounds {
					t.Errorf("%d of %d reminders are there", added, 2*rounds)
				}
			})
		}
	}
}

// newTwoOnServer opens one database twice.
func newTwoOnServer(t *testing.T) (*world, *world) {
	t.Helper()
	base := &world{t: t, reg: load(t, "testdata/palettes"), clock: newWorldClock}
	first, db := serverAndLike(t, base.reg.Digest(), base.furnish)
	second, err := postgres.Open(context.Background(), db.App, postgres.MigrateAs(db.Owner))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { second.Close() })
	return base.with(base.reg, first), base.with(base.reg, second)
}

// F17: a total of some of the rows of a list holds all of them, those that it leaves out
// too: of two lamps, each of which is lit only while the other is dark, two people at once
// light one.
func TestATotalHoldsTheRowsThatItLeavesOut(t *testing.T) {
	t.Parallel()
	onExisting(t, `CREATE TABLE lamp (id varchar(10) PRIMARY KEY, lit boolean NOT NULL DEFAULT false);
INSERT INTO lamp (id) VALUES ('left'), ('right');
`, func(t *testing.T, open func(string) *old) {
		o := open(`
domain: lamps
roles: [{name: clerk, sees: all}]
entities:
  lamp:
    key: id
    key-by: caller
    scope: everyone
    label: "{id}"
    fields: {id: {type: string, required: true}, lit: {type: boolean, required: true}}
verbs:
  - verb: light
    roles: [clerk]
    args: [{name: lamp, type: ref, ref-type: lamp, required: true}, {name: others, type: list, of: {type: ref, ref-type: lamp}, required: true}]
    totals: [{name: lit, count: lamp, where: row in others and row.lit}]
    requires: [{that: lit == 0, else: another is lit}]
    effects: [{updates: lamp, where: lamp, set: {lit: "true"}}]
  - verb: dark
    roles: [clerk]
    effects: [{may-update: lamp, where: row.lit, set: {lit: "false"}}]
  - verb: lit
    roles: [clerk]
    reads: {entity: lamp, where: row.lit, order: [id], fields: {lamp: id}}
`).begin()
		for range 20 {
			o.must("lamps.dark")
			var both sync.WaitGroup
			for _, call := range []string{"lamps.light :lamp @left :others [@right]", "lamps.light :lamp @right :others [@left]"} {
				both.Go(func() {
					_, err := o.run(call)
					for code(err) == "changed-meanwhile" {
						_, err = o.run(call)
					}
					if err != nil && code(err) != "requirement-not-met" {
						t.Error(err)
					}
				})
			}
			both.Wait()
			if got := o.answer("lamps.lit"); got != "@left" && got != "@right" {
				t.Fatalf("lit is %q", got)
			}
		}
	})
}
