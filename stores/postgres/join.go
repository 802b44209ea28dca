package postgres

import (
	"strconv"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// The changes of a batch are one statement where that is possible: a statement costs the server
// and us more than the row that it changes. PostgreSQL runs the parts of such a statement side
// by side, and none sees what another did. So no two parts change one table, none refers to a
// row that another adds, and none changes the owner of rows or hides them. The answer holds the
// row count of each part, and the names that were asked for.
//
// Only our tables are changed together: triggers on other tables might do anything to rows that
// the same statement changes.

// A part is a statement that changes rows.
type part struct {
	doing string
	text  *text
	rows  int                 // the number of rows that it should return; -1 if that does not matter
	fails func(n int64) error // the error if it returned n rows instead
}

// op makes a statement of a part alone.
func (p part) op() op {
	o := opOf(p.text, p.doing, nil)
	if p.rows >= 0 {
		o = o.counted(p.rows, nil)
		o.fails = p.fails
	}
	return o
}

// A joiner makes statements of changes.
type joiner struct {
	ops   []op
	parts []part
	after []op                    // statements after the parts
	whose map[*stores.Entity]bool // entities of the parts: true where they add rows
}

// alone adds statements that cannot be joined.
func (j *joiner) alone(ops ...op) {
	j.flush(nil, nil)
	j.ops = append(j.ops, ops...)
}

// change adds changes that are alike. If they can be joined with others, they wait.
func (j *joiner) change(c *stores.Change, p part, after []op) {
	if !c.Entity.Managed || c.Op == stores.Delete || moves(c) {
		j.alone(append([]op{p.op()}, after...)...)
		return
	}
	_, there := j.whose[c.Entity]
	for _, a := range c.Set {
		there = there || j.whose[c.Entity.Fields[a.Field].Ref]
	}
	if there {
		j.flush(nil, nil)
	}
	if j.whose == nil {
		j.whose = map[*stores.Entity]bool{}
	}
	j.whose[c.Entity] = c.Op == stores.Insert
	j.parts, j.after = append(j.parts, p), append(j.after, after...)
}

// moves reports whether an update may change the owner of a row, or hide it.
func moves(c *stores.Change) bool {
	return c.Op == stores.Update && (sqlcore.Hides(c) || len(c.Entity.Scope) > 0 && sqlcore.Sets(c, c.Entity.Scope[0].Field))
}

// flush makes one statement of the parts, of the jobs and names that are kept with them
// and of the names that are asked for.
func (j *joiner) flush(also []part, asks []stores.NameAsk) {
	parts := append(j.parts, also...)
	switch {
	case len(parts) == 0 && len(asks) == 0:
	case len(parts) == 1 && len(asks) == 0:
		j.ops = append(j.ops, parts[0].op())
	default:
		j.ops = append(j.ops, join(parts, asks))
	}
	j.ops, j.parts, j.after, j.whose = append(j.ops, j.after...), nil, nil, nil
}

// missedOf encodes which part missed rows, and how many it returned.
const missedOf = 1_000_000

// join makes one statement of parts and questions for names.
func join(parts []part, asks []stores.NameAsk) op {
	t := newText()
	verdict := t.Part()
	for i, p := range parts {
		name := "u" + strconv.Itoa(i)
		if i == 0 {
			t.Add("WITH ")
		} else {
			t.Add(", ")
		}
		include(t.Add(name, " AS ("), p.text).Add(")")
		if p.rows >= 0 {
			rows := "(SELECT count(*) FROM " + name + ")"
			verdict.Add(" + CASE WHEN ", rows, " = ").Arg(strconv.Itoa(p.rows), "::bigint")
			verdict.Add(" THEN 0 ELSE ('", missing, "' || (", strconv.Itoa(i*missedOf), " + ", rows, "))::int END")
		}
	}
	t.Add(" SELECT 0").Join(verdict)
	if len(asks) > 0 {
		t.Add(", n.ask, n.row_key, n.plain, n.suffix, n.owner FROM (VALUES (0)) v LEFT JOIN (")
		for i := range asks {
			if i > 0 {
				t.Add(" UNION ALL ")
			}
			t.Add("(SELECT ", strconv.Itoa(i), " AS ask, x.* FROM (").Join(namesText(t.Part(), &asks[i].NameQuery)).Add(") x)")
		}
		t.Add(") n ON true")
	}
	o := opOf(t, "change", func(raw row) error {
		if len(asks) > 0 && raw.raw[1] != nil {
			ask := &asks[raw.num(1)]
			raw.raw, raw.fields = raw.raw[2:], raw.fields[2:]
			*ask.Into = append(*ask.Into, raw.names(ask.Entity)...)
		}
		return nil
	})
	o.fails = func(n int64) error { return parts[n/missedOf].fails(n % missedOf) }
	return o
}
