package postgres

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

const entryColumns = "j.seq, j.time, j.principal, j.roles, j.session, j.source, j.verb, j.call, j.outcome, j.reason, j.changes, j.preview, j.agreed, j.palette, j.turn, j.origins, j.salt, j.body, j.chain_prev, j.chain_hash, l.place, (SELECT h.number FROM public.verbatim_leaf h WHERE h.place = 0)"

// entryWidth is the number of entryColumns.
const entryWidth = 22

// ownColumns are those of entryColumns that an entry's text fills, behind its number.
const ownColumns = "time, principal, roles, session, source, verb, call, outcome, reason, changes, preview, agreed, palette, turn, origins, salt, body"

// entryTypes are their types.
var entryTypes = [...]string{"timestamptz", "text", "json", "text", "text", "text", "text", "text", "text", "text", "text", "text", "text", "text", "text", "bytea", "bytea"}

// chainLock is held by a transaction of the older version that appends. Migrate takes it.
const chainLock = "-2102251852386772864"

// judgeAll makes the server check deferred constraints: a transaction draws the number of its
// entries when nothing can delay or change its work any more.
const judgeAll = "SET CONSTRAINTS ALL IMMEDIATE"

// The numbers of one transaction's entries are consecutive. A few are drawn again until nobody has
// drawn one between them; gaps are no fault. For many, the transaction holds numbersLock alone until
// its end; whoever draws few shares it.
const (
	numbersLock = "-2102251852386772861"
	fewEntries  = 64
)

// append makes the statements that add the entries of a transaction, the last before the commit.
func (t *tx) append() ([]op, error) {
	if len(t.Entries) == 0 {
		return nil, nil
	}
	ops := []op{{doing: "journal", sql: judgeAll}}
	if len(t.Entries) > fewEntries {
		ops = append(ops, op{doing: "journal", sql: "SELECT pg_catalog.pg_advisory_xact_lock(" + numbersLock + ")"})
	}
	for run := range slices.Chunk(t.Entries, maxRun) {
		o, err := numbering(run)
		if err != nil {
			return nil, err
		}
		ops = append(ops, o)
	}
	return ops, nil
}

// numberSQLs returns two statements: one adds an entry, and many those in array arguments, of which
// the last argument is the number. Both number entries and note that they wait to be sealed, and
// return the numbers.
var numberSQLs = sync.OnceValues(func() (one, many string) {
	var values, arrays, names []string
	for i, typ := range entryTypes {
		values = append(values, fmt.Sprintf("$%d::%s", i+1, typ))
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", i+1, typ))
		names = append(names, fmt.Sprintf("c%d", i))
	}
	const (
		next   = "pg_catalog.nextval('public.verbatim_number')"
		shares = "l AS MATERIALIZED (SELECT pg_catalog.pg_advisory_xact_lock_shared(" + numbersLock + "))"
		insert = "j AS (INSERT INTO public.verbatim_journal (seq, " + ownColumns + ") SELECT "
		waits  = " RETURNING seq) INSERT INTO public.verbatim_waiting (number) SELECT seq FROM j RETURNING number"
	)
	all, n := strings.Join(names, ", "), fmt.Sprintf("$%d::bigint", len(entryTypes)+1)
	one = "WITH " + shares + ", " + insert + next + ", " + strings.Join(values, ", ") + " FROM l" + waits
	many = "WITH RECURSIVE " + shares + ", d (v, run) AS (SELECT " + next + ", 1 FROM l UNION ALL SELECT x.w, CASE WHEN x.w = x.v + 1 THEN x.run + 1 ELSE 1 END FROM (SELECT v, run, " + next + " AS w FROM d WHERE run < " + n + ") x), " +
		"f AS (SELECT max(v) - " + n + " AS before FROM d), " +
		insert + "f.before + v.n, " + all + " FROM f, unnest(" + strings.Join(arrays, ", ") + ") WITH ORDINALITY AS v (" + all + ", n)" + waits
	return one, many
})

// numbering makes the statement that adds entries. Their numbers are known when it has run.
func numbering(entries []stores.Entry) (op, error) {
	one, many := numberSQLs()
	for i := range entries {
		entries[i].Write()
	}
	cells, err := cellsOf(entries)
	if err != nil {
		return op{}, err
	}
	var numbers []int64
	o := op{doing: "journal", sql: one, args: cells, read: func(r row) error {
		if numbers = append(numbers, r.num(0)); len(numbers) == len(entries) {
			slices.Sort(numbers)
			for i := range entries {
				entries[i].Number(numbers[i])
			}
		}
		return nil
	}}
	if n := len(entries); n > 1 {
		o.sql, o.args = many, nil
		for col := range slices.Chunk(cells, n) {
			o.args = append(o.args, arrayOf(col))
		}
		o.args = append(o.args, strconv.Itoa(n))
	}
	return o, nil
}

// cellsOf returns the values of ownColumns, column by column.
func cellsOf(entries []stores.Entry) ([]any, error) {
	n := len(entries)
	cells := make([]any, len(entryTypes)*n)
	for i := range entries {
		e := &entries[i]
		roles, _ := json.Marshal(append([]string{}, e.Roles...)) // of texts and numbers: it cannot fail
		for j, v := range [...]string{e.Time.Format(time.RFC3339Nano), e.Principal, string(roles), e.Session, e.Source, e.Verb, e.Call,
			e.Outcome, e.Reason, e.Changes, e.Preview, e.Agreed, e.Palette, e.Turn, e.Origins, hashText(e.Salt[:]), hashText(e.Body[:])} {
			cells[j*n+i] = v
		}
		if e.InChain() {
			cells[(len(entryTypes)-2)*n+i] = nil
		}
	}
	return cells, nil
}

func hashText(b []byte) string { return `\x` + hex.EncodeToString(b) }

// keepSQL makes the statements that add entries of another journal, with their numbers.
func keepSQL(entries []stores.Entry) ([]op, error) {
	cells, err := cellsOf(entries)
	if err != nil {
		return nil, err
	}
	n := len(entries)
	types := append([]string{"bigint"}, append(slices.Clone(entryTypes[:]), "bytea", "bytea")...)
	columns := make([][]any, len(types))
	for i := range entries {
		e := &entries[i]
		var prev, hash any
		if e.InChain() {
			prev, hash = hashText(e.Prev[:]), hashText(e.Hash[:])
		}
		columns[0], columns[len(types)-2], columns[len(types)-1] = append(columns[0], strconv.FormatInt(e.Seq, 10)), append(columns[len(types)-2], prev), append(columns[len(types)-1], hash)
	}
	for i := range entryTypes {
		columns[i+1] = cells[i*n : (i+1)*n]
	}
	q := newText().Add("INSERT INTO public.verbatim_journal (seq, ", ownColumns, ", chain_prev, chain_hash) SELECT * FROM unnest(")
	for i, typ := range types {
		if i > 0 {
			q.Add(", ")
		}
		q.Arg(arrayOf(columns[i]), "::", typ, "[]")
	}
	last := slices.MaxFunc(entries, func(a, b stores.Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	return []op{opOf(q.Add(")"), "journal", nil), {doing: "journal", sql: countOn, args: []any{strconv.FormatInt(last.Seq, 10)}}}, nil
}

// countOn makes the next number one behind $1, or a greater one.
const countOn = "SELECT pg_catalog.setval('public.verbatim_number', GREATEST($1::bigint, (SELECT last_value FROM public.verbatim_number)))"

// Journal implements stores.Store.
func (s *Store) Journal(ctx context.Context, from, to int64) ([]stores.Entry, error) {
	var entries []stores.Entry
	err := s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error { return c.do(ctx, entriesOp(from, to, stores.EntriesAtOnce, &entries)) })
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// entriesOp reads entries by their numbers, at most as many as limit says; 0 is no limit.
func entriesOp(from, to, limit int64, into *[]stores.Entry) op {
	return op{doing: "journal",
		sql:  "SELECT " + entryColumns + " FROM public.verbatim_journal j LEFT JOIN LATERAL (SELECT place FROM public.verbatim_leaf WHERE number = j.seq LIMIT 1) l ON true WHERE j.seq >= $1::bigint AND ($2::bigint = 0 OR j.seq <= $2::bigint) ORDER BY j.seq LIMIT NULLIF($3::bigint, 0)",
		args: []any{strconv.FormatInt(from, 10), strconv.FormatInt(to, 10), strconv.FormatInt(limit, 10)},
		read: func(r row) error {
			e, err := readEntry(r)
			if err != nil {
				return err
			}
			*into = append(*into, e)
			return nil
		}}
}

func readEntry(r row) (e stores.Entry, err error) {
	e.Seq = r.num(0)
	bad := func(what string) (stores.Entry, error) {
		return e, &stores.ChainError{Seq: e.Seq, Msg: "has " + what + " that cannot be read"}
	}
	when, err := r.decode(1, stores.Time)
	if err != nil {
		return bad("a time")
	}
	e.Time = when.Time()
	if json.Unmarshal(r.raw[3], &e.Roles) != nil {
		return bad("roles")
	}
	for i, p := range map[int]*string{
		2: &e.Principal, 4: &e.Session, 5: &e.Source, 6: &e.Verb, 7: &e.Call, 8: &e.Outcome, 9: &e.Reason,
		10: &e.Changes, 11: &e.Preview, 12: &e.Agreed, 13: &e.Palette, 14: &e.Turn, 15: &e.Origins,
	} {
		*p = r.str(i)
	}
	if copy(e.Body[:], r.bytes(17)) != len(e.Body) {
		return bad("a hash")
	}
	if r.raw[16] == nil {
		if e.Place = e.Seq; len(r.raw) > 21 && r.raw[21] != nil && e.Seq > r.num(21) {
			e.Place = 0 // the chain has ended
		}
		if copy(e.Prev[:], r.bytes(18)) != len(e.Prev) || copy(e.Hash[:], r.bytes(19)) != len(e.Hash) {
			return bad("a hash")
		}
		return e, nil
	}
	if copy(e.Salt[:], r.bytes(16)) != len(e.Salt) || e.InChain() {
		return bad("a salt")
	}
	if e.Number(e.Seq); r.raw[20] != nil {
		e.Place = r.num(21) + r.num(20)
	}
	return e, nil
}

// Principals implements stores.Store.
func (s *Store) Principals(ctx context.Context) (names []string, err error) {
	err = s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error {
		return c.do(ctx, op{doing: "principals", sql: `SELECT name FROM public.verbatim_principal ORDER BY name COLLATE "C"`, read: func(r row) error {
			names = append(names, r.str(0))
			return nil
		}})
	})
	return names, err
}

// Principal implements stores.Store.
func (s *Store) Principal(ctx context.Context, name string) (stores.Principal, error) {
	p := stores.Principal{Name: name}
	known := false
	err := s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error {
		return c.do(ctx,
			op{doing: "principal", sql: "SELECT label, person FROM public.verbatim_principal WHERE name = $1::text", args: []any{name}, read: func(r row) error {
				known, p.Label, p.Person = true, r.str(0), r.str(1)
				return nil
			}},
			op{doing: "principal", sql: "SELECT role, entity, key, kind FROM public.verbatim_grant WHERE principal = $1::text ORDER BY role, entity, key", args: []any{name}, read: func(r row) error {
				return sqlcore.Granted(&p, r.str(0), r.str(1), func() (stores.Value, error) { return readKey(r.str(2), r.str(3)) })
			}})
	})
	if err != nil {
		return stores.Principal{}, err
	}
	if !known {
		return stores.Principal{}, stores.ErrNotFound
	}
	return p, nil
}

// readKey reads a text that spells a UUID as a UUID: as keys the two are found alike.
func readKey(key, kind string) (stores.Value, error) {
	switch kind {
	case stores.Int.String():
		if v, ok := stores.ParseInt(key); ok {
			return v, nil
		}
	case "":
		if u, ok := stores.ParseUUID(key); ok && u.Text() == key {
			return u, nil
		}
		return stores.NewString(key), nil
	}
	return stores.Value{}, fmt.Errorf("a grant holds something other than a key: %w", stores.ErrInvalid)
}

// SetPrincipal implements stores.Store.
func (s *Store) SetPrincipal(ctx context.Context, p stores.Principal) error {
	ops, err := principalOps(p)
	if err != nil {
		return err
	}
	return s.write(ctx, s.pool, stores.Scope{}, func(c *conn) error { return c.do(ctx, ops...) })
}

func principalOps(p stores.Principal) ([]op, error) {
	if p.Name == "" {
		return nil, fmt.Errorf("a principal without a name: %w", stores.ErrInvalid)
	}
	ops := []op{
		{doing: "principal", sql: "INSERT INTO public.verbatim_principal (name, label, person) VALUES ($1::text, $2::text, $3::text) ON CONFLICT (name) DO UPDATE SET label = excluded.label, person = excluded.person", args: []any{p.Name, p.Label, p.Person}},
		{doing: "principal", sql: "DELETE FROM public.verbatim_grant WHERE principal = $1::text", args: []any{p.Name}},
	}
	grant := func(role, entity, key, kind string) {
		ops = append(ops, op{doing: "principal",
			sql:  "INSERT INTO public.verbatim_grant (principal, role, entity, key, kind) VALUES ($1::text, $2::text, $3::text, $4::text, $5::text) ON CONFLICT DO NOTHING",
			args: []any{p.Name, role, entity, key, kind}})
	}
	for _, role := range p.Roles {
		grant(role, "", "", "")
	}
	for entity, keys := range p.Holds {
		for _, k := range keys {
			switch k.Kind() {
			case stores.Int:
				grant("", entity, k.Text(), stores.Int.String())
			case stores.String, stores.UUID:
				grant("", entity, k.Text(), "")
			default:
				return nil, fmt.Errorf("a grant on %s takes a key, not a %s: %w", entity, k.Kind(), stores.ErrInvalid)
			}
		}
	}
	return ops, nil
}
