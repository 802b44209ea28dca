package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"verbatim/stores"
)

const entryColumns = "seq, time, principal, roles, session, source, verb, call, outcome, reason, changes, preview, agreed, palette, prev, hash"

// journalLock is held by the one transaction that appends, until it ends. It is
// the first eight bytes of the SHA-256 of "verbatim journal".
const journalLock = "-2102251852386772864"

// append runs statements and seals entries onto the journal. The lock comes
// last, when everything else of the batch is done, so that it is held for as
// little as the commit takes; the head is read by a statement of its own, which
// begins when the lock is ours and so sees every entry that was committed. That
// prev is unique keeps the chain from forking whatever happens to the lock.
func (t *tx) append(ctx context.Context, ops []op, entries []stores.Entry) ([]stores.Entry, error) {
	if len(entries) == 0 {
		if len(ops) == 0 {
			return nil, ctx.Err()
		}
		return nil, t.c.do(ctx, ops...)
	}
	if !t.chained {
		ops = append(ops,
			op{doing: "journal", sql: "SELECT pg_catalog.pg_advisory_xact_lock(" + journalLock + ")"},
			op{doing: "journal", sql: "SELECT seq, hash FROM public.verbatim_journal ORDER BY seq DESC LIMIT 1", read: func(r row) error {
				t.seq = r.num(0)
				if copy(t.head[:], r.bytes(1)) != len(t.head) {
					return &stores.ChainError{Seq: t.seq, Msg: "has a hash that cannot be read"}
				}
				return nil
			}})
		if err := t.c.do(ctx, ops...); err != nil {
			return nil, err
		}
		t.chained, ops = true, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sealed := slices.Clone(entries)
	for i := range sealed {
		e := &sealed[i]
		e.Seal(t.seq+1, t.head)
		t.seq, t.head = e.Seq, e.Hash
	}
	var writes []op
	for run := range slices.Chunk(sealed, maxRun) {
		o, err := write(run)
		if err != nil {
			return nil, err
		}
		writes = append(writes, o)
	}
	if len(ops) > 0 {
		if err := t.c.do(ctx, ops...); err != nil {
			return nil, err
		}
	}
	// Nothing in a transaction reads the journal: what is written to it goes with
	// the commit.
	t.c.last = append(t.c.last, writes...)
	return sealed, nil
}

// write makes the statement that keeps sealed entries.
func write(entries []stores.Entry) (op, error) {
	types := [...]string{"bigint", "timestamptz", "text", "json", "text", "text", "text", "text", "text", "text", "text", "text", "text", "text", "bytea", "bytea"}
	var cols [len(types)][]any
	for i := range entries {
		e := &entries[i]
		roles, err := json.Marshal(append([]string{}, e.Roles...))
		if err != nil {
			return op{}, err
		}
		for j, v := range [...]string{strconv.FormatInt(e.Seq, 10), e.Time.Format(time.RFC3339Nano), e.Principal, string(roles), e.Session, e.Source, e.Verb, e.Call,
			e.Outcome, e.Reason, e.Changes, e.Preview, e.Agreed, e.Palette, fmt.Sprintf(`\x%x`, e.Prev), fmt.Sprintf(`\x%x`, e.Hash)} {
			cols[j] = append(cols[j], v)
		}
	}
	q := newText().add("INSERT INTO public.verbatim_journal (", entryColumns, ") SELECT ")
	if len(entries) > 1 {
		q.add("* FROM unnest(")
	}
	for j, typ := range types {
		if j > 0 {
			q.add(",")
		}
		if len(entries) > 1 {
			q.arg(arrayOf(cols[j]), typ+"[]")
		} else {
			q.arg(cols[j][0], typ)
		}
	}
	if len(entries) > 1 {
		q.add(")")
	}
	return q.op("journal", nil), nil
}

// post puts notices into the outbox.
func (t *tx) post(notices []stores.Notice) []op {
	var ops []op
	for _, n := range notices {
		ops = append(ops, op{doing: "outbox", sql: "INSERT INTO public.verbatim_outbox (id, kind, target, payload, time) VALUES ($1::text, $2::text, $3::text, $4::text, $5::timestamptz)",
			args: []any{n.ID, n.Kind, n.Target, n.Payload, n.Time.UTC().Format(time.RFC3339Nano)}})
	}
	return ops
}

// Journal implements stores.Store.
func (s *Store) Journal(ctx context.Context, from, to int64) ([]stores.Entry, error) {
	var entries []stores.Entry
	err := s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error {
		return c.do(ctx, op{doing: "journal",
			sql:  "SELECT " + entryColumns + " FROM public.verbatim_journal WHERE seq >= $1::bigint AND ($2::bigint = 0 OR seq <= $2::bigint) ORDER BY seq",
			args: []any{strconv.FormatInt(from, 10), strconv.FormatInt(to, 10)},
			read: func(r row) error {
				e, err := readEntry(r)
				if err != nil {
					return err
				}
				entries = append(entries, e)
				return nil
			}})
	})
	if err != nil {
		return nil, err
	}
	return entries, nil
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
		10: &e.Changes, 11: &e.Preview, 12: &e.Agreed, 13: &e.Palette,
	} {
		*p = r.str(i)
	}
	if copy(e.Prev[:], r.bytes(14)) != len(e.Prev) || copy(e.Hash[:], r.bytes(15)) != len(e.Hash) {
		return bad("a hash")
	}
	return e, nil
}

// Principal implements stores.Store.
func (s *Store) Principal(ctx context.Context, name string) (stores.Principal, error) {
	p := stores.Principal{Name: name}
	known := false
	err := s.read(ctx, s.pool, stores.Scope{}, func(c *conn) error {
		return c.do(ctx,
			op{doing: "principal", sql: "SELECT label FROM public.verbatim_principal WHERE name = $1::text", args: []any{name}, read: func(r row) error {
				known, p.Label = true, r.str(0)
				return nil
			}},
			op{doing: "principal", sql: "SELECT role, entity, key, kind FROM public.verbatim_grant WHERE principal = $1::text ORDER BY role, entity, key", args: []any{name}, read: func(r row) error {
				if role := r.str(0); role != "" && !slices.Contains(p.Roles, role) {
					p.Roles = append(p.Roles, role)
				}
				entity := r.str(1)
				if entity == "" {
					return nil
				}
				key, err := readKey(r.str(2), r.str(3))
				if err != nil {
					return err
				}
				if p.Holds == nil {
					p.Holds = map[string][]stores.Value{}
				}
				if !slices.Contains(p.Holds[entity], key) {
					p.Holds[entity] = append(p.Holds[entity], key)
				}
				return nil
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

// readKey takes a text that spells a uuid for one: as a key the two are found
// alike.
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
	if p.Name == "" {
		return fmt.Errorf("a principal without a name: %w", stores.ErrInvalid)
	}
	ops := []op{
		{doing: "principal", sql: "INSERT INTO public.verbatim_principal (name, label) VALUES ($1::text, $2::text) ON CONFLICT (name) DO UPDATE SET label = excluded.label", args: []any{p.Name, p.Label}},
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
				return fmt.Errorf("a grant on %s takes a key, not a %s: %w", entity, k.Kind(), stores.ErrInvalid)
			}
		}
	}
	return s.write(ctx, s.pool, stores.Scope{}, func(c *conn) error { return c.do(ctx, ops...) })
}
