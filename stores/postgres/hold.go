package postgres

import (
	"fmt"

	"verbatim/stores"
)

// Every statement of a transaction that writes sees what is committed when it begins. So what
// it read stays true for the transaction only if nobody else can change it. A Find that holds
// locks first: before the question, in the same round trip, it sends statements that lock the
// rows that it finds, then those that its paths lead to, one step after the other. The
// reference that a step follows is locked by then, so the step leads to the row that the
// question will find. Joined rows cannot be locked by one statement: while it waits for one
// row, others may change.
//
// Rows may still appear and disappear between these statements. The question returns the key
// of each row that it depends on; a key that was not locked is a conflict.

// A hold is the set of rows that one of those statements has locked.
type hold struct {
	entity *stores.Entity
	column int             // of the question, with the key
	keys   map[string]bool // as they are sent
}

// A way is a table on a path: that of the row asked for, or a joined one.
type way struct {
	alias   string
	entity  *stores.Entity
	counted bool // its rows are counted for
}

func reachedBy(alias string, e *stores.Entity) way { return way{alias: alias, entity: e} }

// Counted implements sqlcore.Asks.
func (q *finder) Counted(alias string) {
	q.counted = q.counted || alias == q.At
	for i := range q.ways {
		q.ways[i].counted = q.ways[i].counted || q.ways[i].alias == alias
	}
}

// locks writes the statements that lock the rows of a question. tail is the part of the
// question after its columns.
func (q *finder) locks(r *reader, f *stores.Find, as asked, tail *text) []lockOf {
	var ways []lockOf
	for i, w := range append([]way{{"t", q.Root, q.counted}}, q.ways...) {
		if i == 0 && as.has {
			continue
		}
		if !r.locks(w.entity) {
			ways = append(ways, lockOf{entity: w.entity})
			continue
		}
		strength := " FOR SHARE OF "
		if w.counted || i == 0 && as.hold == stores.Firm {
			strength = " FOR NO KEY UPDATE OF "
		}
		key := func(alias string) string { return r.Datum(w.entity, alias, w.entity.Key) }
		t := newText()
		if i == 0 {
			t.Add("SELECT ", key("t")).Join(tail).Add(" ORDER BY ", key("t"))
			if !f.Cut {
				t.Limit(as.most)
			}
			t.Add(strength, "t")
		} else {
			t.Add("SELECT ", key("h"), " FROM ", table(w.entity), " h WHERE ", key("h"), " IN (SELECT ", key(w.alias)).Join(tail)
			t.Add(") ORDER BY ", key("h"), strength, "h")
		}
		ways = append(ways, lockOf{w.alias, w.entity, t.Whole(), t.Args})
	}
	return ways
}

// A lock is a row that Get was asked for. If it exists, it has the strongest lock that a Find
// can want.
type lock struct {
	entity *stores.Entity
	key    stores.Value
}

// has reports whether a Find asks for one row that Get was asked for before, in
// this round trip or an earlier one.
func (r *reader) has(f stores.Find) bool {
	c := f.Where
	if c == nil || c.Op != stores.Eq || c.Other != nil || len(c.Path.Steps) > 0 || c.Path.Count != nil || c.Path.Field != f.Entity.Key {
		return false
	}
	_, asked := r.locked[lock{f.Entity, c.Value}]
	return asked
}

// held returns a conflict unless every row that an answer depends on was locked.
func held(raw row, holds []*hold) error {
	for _, h := range holds {
		if key := raw.raw[h.column]; key != nil && !h.keys[string(key)] {
			return fmt.Errorf("%s changed while it was looked at: %w", h.entity.Name, stores.ErrConflict)
		}
	}
	return nil
}

// Only a role that may write reference data can lock its rows. Readers and writers lock the
// table instead: it is read all the time, and hardly ever written.
const tableLock = `(pg_catalog.hashtextextended(`

// holdTable takes a shared lock on a table of reference data until the transaction ends.
func (r *reader) holdTable(e *stores.Entity) []op {
	if !r.writes || e.Access != stores.ForAll || r.scope.All || r.tables[e] {
		return nil
	}
	if r.tables == nil {
		r.tables = map[*stores.Entity]bool{}
	}
	r.tables[e] = true
	t := newText().Add("SELECT pg_catalog.pg_advisory_xact_lock_shared", tableLock).Arg("verbatim rows of "+e.Table, "::text").Add(", 0))")
	return []op{opOf(t, "hold", nil)}
}

// claimTable takes the exclusive lock on a table of reference data.
func claimTable(e *stores.Entity) []op {
	if e.Access != stores.ForAll {
		return nil
	}
	t := newText().Add("SELECT pg_catalog.pg_advisory_xact_lock", tableLock).Arg("verbatim rows of "+e.Table, "::text").Add(", 0))")
	return []op{opOf(t, "hold", nil)}
}
