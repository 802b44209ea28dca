package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime"
)

const lost = `
  - verb: miss
    description: Say that a thing is lost.
    roles: [keeper]
    args:
      - {name: item-id, type: ref, ref-type: item, required: true}
    requires:
      - {that: item_id.status == IN, else: it is not here}
    effects:
      - updates: item
        where: item-id
        set: {status: LOST}

  - verb: find-again
    description: Say that a lost thing is here again.
    roles: [keeper]
    args:
      - {name: item-id, type: ref, ref-type: item, required: true}
    requires:
      - {that: item_id.status == LOST, else: it is not lost}
    effects:
      - updates: item
        where: item-id
        set: {status: IN}

  - verb: tell
    description: Tell somebody of a thing that is here.
    roles: [keeper]
    args:
      - {name: item-id, type: ref, ref-type: item, required: true}
    requires:
      - {that: item_id.status == IN, else: it is not here}
    effects:
      - notifies: keeper
        with: {status: item_id.status}
`

// Rows that are remembered are compared with those of the store before anything hangs on them:
// two processes and one that reads each row come to the same, whoever changed what in between.
func TestWhatIsRememberedIsCompared(t *testing.T) { // PERF-X1
	t.Parallel()
	worldsOf(t, lost, func(t *testing.T, w *world) {
		processes := []*runtime.Engine{w.engine, w.another(nil)}
		reader := w.another(nil)
		runtime.AtOnce(reader)
		open := map[*runtime.Engine]*runtime.Session{}
		for _, e := range append(processes, reader) {
			var err error
			if open[e], err = e.Session(ctx, "kim"); err != nil {
				t.Fatal(err)
			}
		}
		did := func(e *runtime.Engine, verb, item string) string {
			t.Helper()
			script, _ := dsl.Parse(dsl.NewSource("test.dsl", fmt.Sprintf("lending.%s :item-id @%s", verb, item)))
			prog, ds := open[e].Check(ctx, script)
			if prog == nil {
				t.Fatal(told(ds))
			}
			if _, err := open[e].Run(ctx, prog, runtime.RunOptions{}); err != nil {
				return code(err)
			}
			return "done"
		}
		draw := rand.New(rand.NewPCG(17, 6))
		keys := map[string]int{"drill": 21, "tent": 24}
		state := map[string]string{"drill": "IN", "tent": "IN"}
		seen := map[string]int{}
		for range 120 {
			e := processes[draw.IntN(2)]
			if draw.IntN(8) == 0 {
				e = reader
			}
			if draw.IntN(8) == 0 { // another program changes it
				item := []string{"drill", "tent"}[draw.IntN(2)]
				state[item] = []string{"IN", "OUT", "LOST"}[draw.IntN(3)]
				w.set("item", keys[item], "status", str(state[item]))
			}
			verb, item := []string{"miss", "find-again", "tell"}[draw.IntN(3)], []string{"drill", "tent"}[draw.IntN(2)]
			want := "requirement-not-met"
			switch is := state[item]; {
			case verb == "miss" && is == "IN":
				want, state[item] = "done", "LOST"
			case verb == "find-again" && is == "LOST":
				want, state[item] = "done", "IN"
			case verb == "tell" && is == "IN":
				want = "done"
			}
			if got := did(e, verb, item); got != want {
				t.Fatalf("%s @%s: %s, want %s", verb, item, got, want)
			}
			if got := w.get("item", id(keys[item]), "status").Text(); got != state[item] {
				t.Fatalf("@%s is %s, want %s", item, got, state[item])
			}
			seen[verb+" "+want]++
		}
		if len(seen) != 6 {
			t.Errorf("only this came: %v", seen)
		}
	})
}
