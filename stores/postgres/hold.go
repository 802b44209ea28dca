package postgres

import (
	"fmt"

	"verbatim/stores"
)

// Every statement of a transaction that writes sees what is committed when it
// begins. What one of them has read is therefore only true for the rest of the
// transaction if nobody else may change it, and a Find that holds makes it so:
// ahead of the question, in the same round trip, go statements that lock the
// rows that it finds, then those that its paths lead to, one step after the
// other. By the time a step is taken the reference that it follows is locked, so
// that it leads where the question will find it. Joined rows cannot be locked
// together: while one is waited for, the others grow old.
//
// What lies on the way may still come and go between the statements: the
// question tells the key of each row that it stands on, and one that is not
// among those that were locked is a conflict.

// A hold is what one of those statements has locked.
type hold struct {
	entity *stores.Entity
	column int             // of the question, with the key
	keys   map[string]bool // as they are sent
}

// A way is what a path leads over: the row asked for, or one that is joined.
type way struct {
	alias   string
	entity  *stores.Entity
	counted bool // its rows are counted for
}

func reachedBy(alias string, e *stores.Entity) way { return way{alias: alias, entity: e} }

// counts notes that something is counted for the rows that alias names.
func (q *finder) counts(alias string) {
	q.counted = q.counted || alias == q.at
	for i := range q.ways {
		q.ways[i].counted = q.ways[i].counted || q.ways[i].alias == alias
	}
}

// locks writes the statements that lock what a question stands on. tail is what the
// question says after its columns.
func (q *finder) locks(r *reader, f *stores.Find, as asked, tail *text) []lockOf {
	var ways []lockOf
	for i, w := range append([]way{{"t", q.root, q.counted}}, q.ways...) {
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
		key := func(alias string) string { return r.datum(w.entity, alias, w.entity.Key) }
		t := newText()
		if i == 0 {
			t.add("SELECT ", key("t")).join(tail).add(" ORDER BY ", key("t"))
			if !f.Cut {
				t.limit(as.most)
			}
			t.add(strength, "t")
		} else {
			t.add("SELECT ", key("h"), " FROM ", table(w.entity), " h WHERE ", key("h"), " IN (SELECT ", key(w.alias)).join(tail)
			t.add(") ORDER BY ", key("h"), strength, "h")
		}
		ways = append(ways, lockOf{w.alias, w.entity, t.whole(), t.args})
	}
	return ways
}

// A lock is a row that Get was asked for. It says whether it was there, and so is
// locked as firmly as a Find can want it to be.
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

// held reports whether every row that an answer stands on is among those that
// were locked.
func held(raw row, holds []*hold) error {
	for _, h := range holds {
		if key := raw.raw[h.column]; key != nil && !h.keys[string(key)] {
			return fmt.Errorf("%s changed while it was looked at: %w", h.entity.Name, stores.ErrConflict)
		}
	}
	return nil
}

// Reference data can only be locked by who may write it. Everybody else, and
// whoever writes it, meet at the table: it is read always and written hardly
// ever.
const tableLock = `(pg_catalog.hashtextextended(`

// holdTable holds a table of reference data for the rest of the transaction.
func (r *reader) holdTable(e *stores.Entity) []op {
	if !r.writes || e.Access != stores.ForAll || r.scope.All || r.tables[e] {
		return nil
	}
	if r.tables == nil {
		r.tables = map[*stores.Entity]bool{}
	}
	r.tables[e] = true
	t := newText().add("SELECT pg_catalog.pg_advisory_xact_lock_shared", tableLock).arg("verbatim rows of "+e.Table, "text").add(", 0))")
	return []op{t.op("hold", nil)}
}

// claimTable waits until nobody holds a table of reference data any more.
func claimTable(e *stores.Entity) []op {
	if e.Access != stores.ForAll {
		return nil
	}
	t := newText().add("SELECT pg_catalog.pg_advisory_xact_lock", tableLock).arg("verbatim rows of "+e.Table, "text").add(", 0))")
	return []op{t.op("hold", nil)}
}
