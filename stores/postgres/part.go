package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"verbatim/stores"
)

// A journal that grows can be kept in parts, which are PostgreSQL's partitions by number of
// entry. Each is called verbatim_journal_N, N being the number of its first entry, and the
// last one is open. The server finds the end of the journal in the last part alone, whatever
// the number of parts. An older part can be detached, and kept elsewhere as a table or as
// an export: log verify names it where it is missing.

// CutJournal makes Migrate end the last part of the journal, behind the last entry, and begin
// another. A journal that is one table becomes the first part. No entry is moved. Writers wait
// meanwhile.
func CutJournal() Option { return func(c *config) { c.cutJournal = true } }

// A journalPart is one part of the journal as it is.
type journalPart struct {
	name        string
	first, last int64 // entries that it is for; last is 0 of the open one
}

// partsSQL lists the parts in order: their names, and their first and last entries.
const partsSQL = `SELECT c.relname::text, (b.of)[1]::bigint, CASE WHEN (b.of)[2] = 'MAXVALUE' THEN 0 ELSE (b.of)[2]::bigint - 1 END
FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
CROSS JOIN LATERAL (SELECT pg_catalog.regexp_match(pg_catalog.pg_get_expr(c.relpartbound, c.oid), 'FROM \(''?(\d+)''?\) TO \(''?(\w+)''?\)') AS of) b
WHERE i.inhparent = pg_catalog.to_regclass('public.verbatim_journal') AND b.of IS NOT NULL ORDER BY 2`

func partsOp(into *[]journalPart) op {
	return op{doing: "journal", sql: partsSQL, read: func(r row) error {
		*into = append(*into, journalPart{r.str(0), r.num(1), r.num(2)})
		return nil
	}}
}

// attached reports whether any of these entries belongs to one of the parts.
func attached(parts []journalPart, from, to int64) bool {
	return slices.ContainsFunc(parts, func(p journalPart) bool { return p.first <= to && (p.last == 0 || from <= p.last) })
}

// MissingPart returns the name of the part of the journal that an entry belongs to, if that part
// is missing. detached says that its table still exists and was only detached. The name is "" if
// the part is there, or the journal is one table.
func (s *Store) MissingPart(ctx context.Context, seq int64) (name string, detached bool, err error) {
	var parts []journalPart
	err = s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error {
		if err := c.do(ctx, partsOp(&parts)); err != nil || len(parts) == 0 {
			return err
		}
		if attached(parts, seq, seq) {
			return nil
		}
		name = partName(seq)
		return c.do(ctx, op{doing: "journal", sql: "SELECT 1 WHERE pg_catalog.to_regclass('public.' || $1::text) IS NOT NULL", args: []any{name}, read: func(row) error {
			detached = true
			return nil
		}})
	})
	return name, detached, err
}

// partName is the name of the part that begins with an entry.
func partName(first int64) string { return "verbatim_journal_" + strconv.FormatInt(first, 10) }

// cut plans the end of the last part of the journal.
func (m *migration) cut() error {
	if !m.indexes["public"]["verbatim_journal"] {
		m.Problems = append(m.Problems, "there is no journal to cut yet: migrate first")
		return nil
	}
	if m.writes {
		// Nobody can add entries while it is cut. Whoever drew a number holds a lock on the
		// table from before until the end of the transaction, so no number below the cut can
		// still be committed.
		lock := op{doing: "journal", sql: "LOCK TABLE public.verbatim_journal IN EXCLUSIVE MODE"}
		if err := m.sealAll(lock); err != nil {
			return err
		}
	}
	var parts []journalPart
	if err := m.c.do(m.ctx, partsOp(&parts)); err != nil {
		return err
	}
	end, err := m.Count("SELECT COALESCE(max(seq), 0) FROM public.verbatim_journal")
	if err != nil {
		return err
	}
	last := journalPart{name: partName(1), first: 1}
	if len(parts) > 0 {
		last = parts[len(parts)-1]
	}
	switch {
	case len(parts) > 0 && last.last != 0:
		m.Problems = append(m.Problems, fmt.Sprintf("the last part of the journal, behind entry %d, is not attached: attach it, so that no entry is written beside it", last.last))
		return nil
	case end < last.first:
		m.Problems = append(m.Problems, fmt.Sprintf("part %s of the journal has no entry yet: there is nothing to cut", last.name))
		return nil
	}
	const journal = "public.verbatim_journal"
	part := "public." + last.name
	if len(parts) == 0 {
		m.Step("ALTER TABLE %s RENAME TO %s", journal, last.name)
		m.Step("ALTER INDEX public.verbatim_journal_pkey RENAME TO %s_pkey", last.name)
		// The row triggers, which stop accidental changes, are copied from the whole table to its
		// parts.
		m.Step("DROP TRIGGER verbatim_journal_rows ON %s", part)
		m.Step("CREATE TABLE %s (LIKE %s, PRIMARY KEY (seq)) PARTITION BY RANGE (seq)", journal, part)
		m.Step(appendOnlyRows, "journal")
		m.Step(appendOnlyTable, "journal", journal)
		// The roles that could read and add still can, through the whole table.
		err := m.ask(`SELECT pg_catalog.string_agg(a.privilege_type, ', ' ORDER BY a.privilege_type), a.grantee::pg_catalog.regrole::text FROM pg_catalog.pg_class c, LATERAL pg_catalog.aclexplode(c.relacl) a
	WHERE c.oid = 'public.verbatim_journal'::pg_catalog.regclass AND a.grantee NOT IN (c.relowner, 0) GROUP BY 2`, nil, func(r row) error {
			m.Step("GRANT %s ON %s TO %s", r.str(0), journal, r.str(1))
			m.Step("REVOKE ALL ON %s FROM %s", part, r.str(1))
			return nil
		})
		if err != nil {
			return err
		}
	} else {
		m.Step("ALTER TABLE %s DETACH PARTITION %s", journal, part)
	}
	m.Step("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)", journal, part, last.first, end+1)
	next := partName(end + 1)
	m.Step("CREATE TABLE public.%s PARTITION OF %s FOR VALUES FROM (%d) TO (MAXVALUE)", next, journal, end+1)
	m.Step(appendOnlyTable, "journal", "public."+next)
	m.DataChanges = append(m.DataChanges, stores.DataChange{Kind: stores.CutJournal, Entity: "journal", From: strings.TrimPrefix(part, "public."), Rows: end - last.first + 1})
	return nil
}

// sealAll takes a lock that keeps entries out, and seals all that waits: a part that is detached has
// nothing that waits, so no entry is sealed before one that it may refer to.
func (m *migration) sealAll(lock op) error {
	if !m.indexes["public"]["verbatim_head"] { // it is being upgraded
		return m.c.do(m.ctx, lock)
	}
	// A sealer takes its lock before it reads the journal, and so do we.
	if err := m.ask("SELECT pg_catalog.pg_advisory_xact_lock("+sealLock+")", nil, nil); err != nil {
		return err
	}
	p := placing{c: m.c, s: m.c.s}
	for n, mine := mostSealed, true; n == mostSealed; {
		var ops []op
		var err error
		if ops, n, err = p.waiting(m.ctx, lock, &mine); err == nil && n > 0 {
			err = m.c.do(m.ctx, ops...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
