package postgres

import (
	"context"
	"crypto/sha256"
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

const entryColumns = "seq, time, principal, roles, session, source, verb, call, outcome, reason, changes, preview, agreed, palette, turn, origins, prev, body, hash"

// journalLock is held by the one transaction that appends, until it ends. It is the first eight
// bytes of the SHA-256 of "verbatim journal".
const journalLock = "-2102251852386772864"

// takeJournal takes the lock.
const takeJournal = "SELECT pg_catalog.pg_advisory_xact_lock(" + journalLock + ")"

// waitLater keeps the commit from waiting for the disk while it holds the lock, which would make
// all other writers wait: lateFlush waits, when the lock is free.
const waitLater = takeJournal + ", pg_catalog.set_config('synchronous_commit', 'off', true)"

// lateFlush is a transaction of its own behind COMMIT, in the same round trip, that waits as the
// server's synchronous_commit says: for the disk, and for replicas if it has such. When it is
// safe, everything before it in the log is safe, including the transaction that it follows. It
// writes a meaningless message to the log, because a commit that wrote nothing does not wait.
const lateFlush = "SELECT pg_catalog.pg_logical_emit_message(true, 'verbatim', '')"

// append makes the statements that chain the entries of a transaction to the journal. They go
// with the commit, when everything else is done and sent, so that the lock is held only while the
// server seals and commits: never while the client computes or an answer travels. The statement
// that seals begins when we have the lock, and so sees every committed entry. prev is unique,
// which keeps the chain from forking even if the lock fails.
func (t *tx) append() ([]op, error) {
	if len(t.Entries) == 0 {
		return nil, nil
	}
	t.c.chains = true
	ops := []op{{doing: "journal", sql: takeJournal}}
	if t.s.late {
		ops[0].sql = waitLater
	}
	for run := range slices.Chunk(t.Entries, maxRun) {
		for i := range run {
			run[i].Write()
		}
		o, err := seal(run)
		if err != nil {
			return nil, err
		}
		ops = append(ops, o)
	}
	return ops, nil
}

// hashOf writes the Hash of a stores.Entry in SQL.
func hashOf(prev, seq, body string) string {
	return "pg_catalog.sha256('verbatim journal entry 2'::bytea || " + prev + " || pg_catalog.int8send(" + seq + ") || " + body + ")"
}

// theHead reads the number and hash of the last entry, after which the next one goes.
const theHead = `SELECT COALESCE(j.seq, 0) AS seq, COALESCE(j.hash, '\x` + noHash + `'::bytea) AS hash
FROM (VALUES (0)) v LEFT JOIN (SELECT seq, hash FROM public.verbatim_journal ORDER BY seq DESC LIMIT 1) j ON true`

const noHash = "0000000000000000000000000000000000000000000000000000000000000000"

// entryTypes are the types of the columns that an entry's text fills, in the order of
// entryColumns.
var entryTypes = [...]string{"timestamptz", "text", "json", "text", "text", "text", "text", "text", "text", "text", "text", "text", "text", "text", "text"}

// sealSQLs returns two statements: sealOne stores one entry, and sealMany stores those in array
// arguments. Its last argument but one is the bodies, one after another, and its last their
// number. Both return the place of the first entry.
var sealSQLs = sync.OnceValues(func() (sealOne, sealMany string) {
	n := len(entryTypes)
	var values, arrays, names []string
	for i, typ := range entryTypes {
		values = append(values, fmt.Sprintf("$%d::%s", i+1, typ))
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", i+1, typ))
		names = append(names, fmt.Sprintf("v.c%d", i))
	}
	body := fmt.Sprintf("$%d::bytea", n+1)
	one := "INSERT INTO public.verbatim_journal (" + entryColumns + ") SELECT h.seq + 1, " + strings.Join(values, ", ") + ", h.hash, " + body + ", " +
		hashOf("h.hash", "h.seq + 1", body) + " FROM (" + theHead + ") h RETURNING seq, prev"
	nth := func(n string) string { return "substr(" + body + ", " + n + ", 32)" }
	many := "WITH RECURSIVE c (n, seq, prev, body, hash) AS (SELECT 1::bigint, h.seq + 1, h.hash, " + nth("1") + ", " + hashOf("h.hash", "h.seq + 1", nth("1")) + " FROM (" + theHead + ") h " +
		"UNION ALL SELECT c.n + 1, c.seq + 1, c.hash, " + nth("(32 * c.n + 1)::int") + ", " + hashOf("c.hash", "c.seq + 1", nth("(32 * c.n + 1)::int")) + fmt.Sprintf(" FROM c WHERE c.n < $%d::bigint), ", n+2) +
		"w AS (INSERT INTO public.verbatim_journal (" + entryColumns + ") SELECT c.seq, " + strings.Join(names, ", ") + ", c.prev, c.body, c.hash FROM c JOIN unnest(" + strings.Join(arrays, ", ") +
		") WITH ORDINALITY AS v(" + strings.ReplaceAll(strings.Join(names, ", "), "v.", "") + ", n) ON v.n = c.n) SELECT seq, prev FROM c WHERE n = 1"
	return one, many
})

// seal makes the statement that chains entries and stores them. Their places are known when it
// has run.
func seal(entries []stores.Entry) (op, error) {
	one, many := sealSQLs()
	o := op{doing: "journal", sql: one, read: func(r row) error {
		seq, prev := r.num(0), [32]byte{}
		if copy(prev[:], r.bytes(1)) != len(prev) {
			return &stores.ChainError{Seq: seq - 1, Msg: "has a hash that cannot be read"}
		}
		for i := range entries {
			entries[i].Chain(seq+int64(i), prev)
			prev = entries[i].Hash
		}
		return nil
	}}
	n := len(entries)
	bodies := make([]byte, 0, sha256.Size*n)
	cells := make([]any, len(entryTypes)*n) // column by column
	for i := range entries {
		e := &entries[i]
		roles, err := json.Marshal(append([]string{}, e.Roles...))
		if err != nil {
			return op{}, err
		}
		for j, v := range [...]string{e.Time.Format(time.RFC3339Nano), e.Principal, string(roles), e.Session, e.Source, e.Verb, e.Call,
			e.Outcome, e.Reason, e.Changes, e.Preview, e.Agreed, e.Palette, e.Turn, e.Origins} {
			cells[j*n+i] = v
		}
		bodies = append(bodies, e.Body[:]...)
	}
	kept := `\x` + hex.EncodeToString(bodies)
	if n == 1 {
		o.args = append(cells, kept)
		return o, nil
	}
	for col := range slices.Chunk(cells, n) {
		o.args = append(o.args, arrayOf(col))
	}
	o.sql, o.args = many, append(o.args, kept, strconv.Itoa(n))
	return o, nil
}

// Journal implements stores.Store.
func (s *Store) Journal(ctx context.Context, from, to int64) ([]stores.Entry, error) {
	var entries []stores.Entry
	err := s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error { return c.do(ctx, entriesOp(from, to, &entries)) })
	if err != nil {
		return nil, err
	}
	return entries, nil
}

func entriesOp(from, to int64, into *[]stores.Entry) op {
	return op{doing: "journal",
		sql:  "SELECT " + entryColumns + " FROM public.verbatim_journal WHERE seq >= $1::bigint AND ($2::bigint = 0 OR seq <= $2::bigint) ORDER BY seq",
		args: []any{strconv.FormatInt(from, 10), strconv.FormatInt(to, 10)},
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
	if copy(e.Prev[:], r.bytes(16)) != len(e.Prev) || copy(e.Body[:], r.bytes(17)) != len(e.Body) || copy(e.Hash[:], r.bytes(18)) != len(e.Hash) {
		return bad("a hash")
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
