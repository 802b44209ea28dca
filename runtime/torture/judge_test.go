package torture

import (
	"context"
	"fmt"
	"slices"

	"verbatim/stores"
	"verbatim/stores/journal"
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
	entries, err := s.Journal(ctx, 1, 0)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	v.entries = len(entries)
	if _, _, err := stores.VerifyChain(0, [32]byte{}, entries); err != nil {
		v.say("broken: %v", err)
	}
	rows := make(map[string]string)
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
				v.row(e, row, rows)
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
	v.replay(reg, entries, rows)
	return v, nil
}

// row notes every field of a row, for the comparison with the journal.
func (v *verdict) row(e *verbs.Entity, row []stores.Value, rows map[string]string) {
	for i := range e.Store.Fields {
		if i != e.Store.Key && !row[i].IsNull() {
			rows[e.Store.Name+" "+row[e.Store.Key].Text()+" "+e.Store.Fields[i].Name] = row[i].Text()
		}
	}
}

// replay carries out what the journal says on what was there at first, and
// compares. Every change that was committed is in the journal, and the reverse.
func (v *verdict) replay(reg *verbs.Registry, entries []stores.Entry, rows map[string]string) {
	told := make(map[string]string)
	told["branch "+id(1).Text()+" name"] = "High Street"
	for i := range accounts {
		key := "account " + id(100+i).Text() + " "
		told[key+"branch"], told[key+"name"], told[key+"balance"] = id(1).Text(), fmt.Sprintf("acc%d", i), fmt.Sprint(opening)
	}
	for _, e := range entries {
		if e.Outcome != "ok" {
			continue
		}
		record, err := journal.Parse(e.Changes)
		if err != nil {
			v.say("broken: entry %d: %v", e.Seq, err)
			return
		}
		for _, c := range record.Changes {
			if reg.Entity(c.Entity) == nil {
				v.say("broken: entry %d speaks of %q", e.Seq, c.Entity)
				continue
			}
			for _, f := range c.Fields {
				key := c.Entity + " " + c.Key.Text() + " " + f.Name
				if before := f.Before; c.Op != journal.Inserted && told[key] != before.Text() {
					v.say("broken: entry %d changes %s from %q, which was %q", e.Seq, key, before.Text(), told[key])
				}
				if c.Op == journal.Deleted || f.After.IsNull() {
					delete(told, key)
				} else {
					told[key] = f.After.Text()
				}
			}
		}
	}
	for _, key := range sorted(told) {
		if rows[key] != told[key] {
			v.say("broken: %s is %q, and the journal says %q", key, rows[key], told[key])
		}
	}
	for _, key := range sorted(rows) {
		if _, ok := told[key]; !ok {
			v.say("broken: %s is %q, and the journal knows nothing of it", key, rows[key])
		}
	}
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
