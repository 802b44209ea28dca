package torture

import (
	"context"
	"fmt"
	"slices"

	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A verdict is what was found in a store.
type verdict struct {
	done    map[string]int // tag to the parts that are there
	entries int
	wrongs  []string
}

func (v *verdict) say(format string, args ...any) {
	v.wrongs = append(v.wrongs, fmt.Sprintf(format, args...))
}

// judge looks at everything that a store holds. It trusts nothing that the
// process said.
func judge(ctx context.Context, s stores.Store) (*verdict, error) {
	reg, err := registry()
	if err != nil {
		return nil, err
	}
	return judgeBy(ctx, s, reg)
}

// judgeBy is judge under other palettes.
func judgeBy(ctx context.Context, s stores.Store, reg *verbs.Registry) (*verdict, error) {
	v := &verdict{done: make(map[string]int)}
	if err := s.Seal(ctx); err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	entries, err := s.Placed(ctx, 1, 0)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	v.entries = len(entries)
	if waits, err := s.Unsealed(ctx); err != nil || waits.Waiting > 0 || len(waits.Stray) > 0 {
		v.say("broken: not sealed are %+v, %v", waits, err)
	}
	if _, err := journal.Whole(ctx, s); err != nil {
		v.say("broken: %v", err)
	}
	steps := make(map[string]map[int64]int)
	balance := make(map[string]int64)
	for i := range accounts {
		balance[id(100+i).Text()] = opening
	}
	kept := make(map[string]int64)
	err = s.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		for _, e := range reg.Entities() {
			found, err := r.Find(ctx, stores.Find{Entity: e.Store})
			if err != nil {
				return err
			}
			for _, row := range found {
				value := func(name string) stores.Value { return row[e.Store.FieldIndex(name)] }
				switch e.Store.Name {
				case "account":
					kept[row[e.Store.Key].Text()] = value("balance").Int()
				case "step":
					tag := value("tag").Text()
					if steps[tag] == nil {
						steps[tag] = make(map[int64]int)
					}
					steps[tag][value("part").Int()]++
					if amount := value("amount"); !amount.IsNull() {
						balance[value("doer").Text()] -= amount.Int()
						balance[value("other").Text()] += amount.Int()
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("rows: %w", err)
	}
	total := int64(0)
	for _, account := range sorted(kept) {
		total += kept[account]
		if kept[account] != balance[account] {
			v.say("broken: account %s holds %d, and what was moved says %d", account, kept[account], balance[account])
		}
	}
	if len(kept) != accounts || total != accounts*opening {
		v.say("broken: %d accounts hold %d, not %d", len(kept), total, accounts*opening)
	}
	for _, tag := range sorted(steps) {
		of := steps[tag]
		v.done[tag] = len(of)
		if len(of) != parts(tag) {
			v.say("half: of script %s there are parts %v", tag, of)
		}
		for part, n := range of {
			if n != 1 {
				v.say("double: part %d of script %s is there %d times", part, tag, n)
			}
		}
	}
	if err := v.replay(ctx, s, reg); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return v, nil
}

// original are the rows that were there before the journal.
func original() []receipt.Row {
	text := func(name, value string) receipt.Field {
		return receipt.Field{Name: name, Kind: stores.String, After: receipt.Of(stores.NewString(value))}
	}
	all := []receipt.Row{{Op: receipt.Found, Entity: "branch", Key: id(1), Fields: []receipt.Field{text("name", "High Street")}}}
	for i := range accounts {
		all = append(all, receipt.Row{Op: receipt.Found, Entity: "account", Key: id(100 + i), Fields: []receipt.Field{
			{Name: "branch", Kind: stores.UUID, After: receipt.Of(id(1))}, text("name", fmt.Sprintf("acc%d", i)), {Name: "balance", Kind: stores.Int, After: receipt.Of(stores.NewInt(opening))}}})
	}
	return all
}

// begun is the state of the bank before anything happened.
func begun(reg *verbs.Registry) *journal.State {
	var all []*stores.Entity
	for _, e := range reg.Entities() {
		all = append(all, e.Store)
	}
	state := journal.NewState(all)
	state.Apply(0, &journal.Record{Rows: original()})
	return state
}

// replay carries the journal out on what was there at first, as verbatim log
// replay does, and compares rows and where their values come from. Every change
// that was committed is in the journal, and the reverse.
func (v *verdict) replay(ctx context.Context, s stores.Store, reg *verbs.Registry) error {
	state := begun(reg)
	for l, err := range journal.Opened(ctx, s, "verbatim", journal.Entries(ctx, s, 1, 0)) {
		if err != nil {
			return err
		}
		record, err := l.Record()
		if err != nil {
			v.say("broken: entry %d: %v", l.Entry.Seq, err)
			return nil
		}
		state.Apply(l.Entry.Seq, &record)
	}
	return v.compared(ctx, state, s, "replayed")
}

// compared holds the rows of a store against a state.
func (v *verdict) compared(ctx context.Context, state *journal.State, s stores.Store, how string) error {
	strange := 0
	err := s.View(ctx, stores.Scope{Principal: "verbatim", All: true}, func(r stores.Reader) (err error) {
		_, strange, err = state.Compare(ctx, r)
		return err
	})
	if err != nil {
		return err
	}
	for _, d := range state.Differences() {
		v.say("broken: %s: %s %s %s %s (entry %d)", how, d.Entity.Name, d.Key.Text(), d.Field, d.Msg, d.Seq)
	}
	for _, name := range sorted(state.Foreign()) {
		v.say("broken: %s: an entry speaks of %q", how, name)
	}
	if _, partly := state.Rows(); strange > 0 || partly > 0 {
		v.say("broken: %s: the journal knows nothing of %d rows, and only a part of %d", how, strange, partly)
	}
	return nil
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// acknowledged compares what a process was told with what is there.
func (v *verdict) acknowledged(said []word) {
	for _, w := range said {
		switch n := v.done[w.tag]; {
		case w.what == saidAck && n == 0:
			v.say("lost: script %s was acknowledged", w.tag)
		case (w.what == saidRefused || w.what == saidFailed) && n > 0:
			v.say("double: script %s was not done, it was said (%s %s), and is there", w.tag, w.what, w.rest)
		}
	}
}
