package dialog_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"verbatim/stores"
)

// SAFE-S8: a model names a row that the conversation was not shown, and the person is
// asked about it; one that was shown, or that the person spoke of, is not asked about.
func TestARowThatNobodyNamedIsAskedAbout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		said string
		asks bool
	}{
		{"Please note that the parts have come", true},
		{"Please note for job 77 that the parts have come", false},
	} {
		h := newHouse(t, "house")
		e := h.reg.Entity("repair").Store
		err := h.store.Update(context.Background(), stores.Scope{All: true}, func(tx stores.Tx) error {
			rows, err := tx.Find(context.Background(), stores.Find{Entity: e})
			if err != nil {
				return err
			}
			var b stores.Batch
			for n := range 80 {
				key, _ := stores.ParseUUID(fmt.Sprintf("00000000-0000-4000-8000-%012d", 9000+n))
				insert := stores.Change{Op: stores.Insert, Entity: e, Key: key}
				for i, v := range rows[0] {
					if e.Fields[i].Name == "title" {
						v = stores.NewString(fmt.Sprintf("Job %d", n))
					}
					if i != e.Key && !v.IsNull() {
						insert.Set = append(insert.Set, stores.Assign{Field: i, Value: v})
					}
				}
				b.Changes = append(b.Changes, insert)
			}
			return tx.Apply(context.Background(), b)
		})
		if err != nil {
			t.Fatal(err)
		}
		m := answers(calls(`house.note :repair-id @job-77 :note "the parts have come"`), "Noted.")
		a := h.talk(m, nil).say(c.said)
		if asked := len(a.Open) == 1 && len(a.Done) == 0; asked != c.asks || asked && !strings.Contains(a.Text, "Job 77") {
			t.Errorf("%q: asked %v: %s", c.said, asked, a.Text)
		}
	}
}
