package sqlite

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

const entryColumns = "j.seq, j.time, j.principal, j.roles, j.session, j.source, j.verb, j.call, j.outcome, j.reason, j.changes, j.preview, j.agreed, j.palette, j.turn, j.origins, j.salt, j.body, j.chain_prev, j.chain_hash, l.place"

// entryWidth is the number of entryColumns.
const entryWidth = 21

// append numbers the entries of a transaction, and gives them their places. The write lock is held,
// so that both are in the order of commits.
func (t *tx) append() error {
	if len(t.Entries) == 0 {
		return nil
	}
	var seq int64
	err := t.c.query(context.Background(), "SELECT seq FROM main.verbatim_journal ORDER BY seq DESC LIMIT 1", nil, func(row *sqlite.Stmt) error {
		seq = row.ColumnInt64(0)
		return nil
	})
	if err != nil {
		return fault("journal", err)
	}
	for i := range t.Entries {
		t.Entries[i].Write()
		t.Entries[i].Number(seq + 1 + int64(i))
	}
	if err := t.insertEntries(t.Entries); err != nil {
		return err
	}
	return t.place(t.Entries)
}

// keep adds sealed entries of another journal.
func (t *tx) keep(entries []stores.Entry) error {
	if err := t.insertEntries(entries); err != nil {
		return err
	}
	if n := slices.IndexFunc(entries, func(e stores.Entry) bool { return !e.InChain() }); n >= 0 {
		return t.place(entries[n:])
	}
	return nil
}

func (t *tx) insertEntries(entries []stores.Entry) error {
	// The entries of one transaction have much in common, which is encoded for the first of them
	// only.
	var args [20]stores.Value
	var last *stores.Entry
	for i := range entries {
		e := &entries[i]
		args[0] = stores.NewInt(e.Seq)
		args[1] = stores.NewTime(e.Time)
		if last == nil || !slices.Equal(last.Roles, e.Roles) {
			roles, _ := json.Marshal(append([]string{}, e.Roles...)) // of texts and numbers: it cannot fail
			args[3] = str(string(roles))
		}
		salt, prev, hash := hex.EncodeToString(e.Salt[:]), "", ""
		if e.InChain() {
			salt, prev, hash = "", hex.EncodeToString(e.Prev[:]), hex.EncodeToString(e.Hash[:])
		}
		for _, s := range [...]struct {
			at   int
			text string
		}{
			{2, e.Principal}, {4, e.Session}, {5, e.Source}, {6, e.Verb}, {7, e.Call}, {8, e.Outcome}, {9, e.Reason},
			{10, e.Changes}, {11, e.Preview}, {12, e.Agreed}, {13, e.Palette}, {14, e.Turn}, {15, e.Origins},
			{16, salt}, {17, hex.EncodeToString(e.Body[:])}, {18, prev}, {19, hash},
		} {
			args[s.at] = str(s.text)
		}
		if _, err := t.c.exec("INSERT INTO main.verbatim_journal (seq, time, principal, roles, session, source, verb, call, outcome, reason, changes, preview, agreed, palette, turn, origins, salt, body, chain_prev, chain_hash) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", args[:]...); err != nil {
			return fault("journal", err)
		}
		last = e
	}
	return nil
}

// Journal implements stores.Store.
func (s *Store) Journal(ctx context.Context, from, to int64) (entries []stores.Entry, err error) {
	err = s.read(ctx, func(c *conn) error {
		entries, err = c.entries(ctx, from, to, stores.EntriesAtOnce)
		return err
	})
	if err != nil {
		return nil, fault("journal", err)
	}
	return entries, nil
}

// entries reads entries by their numbers, at most as many as limit says; 0 is no limit.
func (c *conn) entries(ctx context.Context, from, to, limit int64) (entries []stores.Entry, err error) {
	first, err := c.first(ctx)
	if err != nil {
		return nil, err
	}
	err = c.query(ctx, "SELECT "+entryColumns+" FROM main.verbatim_journal j LEFT JOIN main.verbatim_leaf l ON l.number = j.seq WHERE j.seq >= ? AND (? = 0 OR j.seq <= ?) ORDER BY j.seq LIMIT ?", []stores.Value{stores.NewInt(from), stores.NewInt(to), stores.NewInt(to), stores.NewInt(cmp.Or(limit, -1))}, func(row *sqlite.Stmt) error {
		e, err := readEntry(row, first)
		entries = append(entries, e)
		return err
	})
	return entries, err
}

// readEntry reads an entry. first is the number of entries of the older chain.
func readEntry(row *sqlite.Stmt, first int64) (e stores.Entry, err error) {
	e.Seq = row.ColumnInt64(0)
	bad := func(what string) (stores.Entry, error) {
		return e, &stores.ChainError{Seq: e.Seq, Msg: "has " + what + " that cannot be read"}
	}
	if e.Time, err = time.Parse(timeLayout, row.ColumnText(1)); err != nil {
		return bad("a time")
	}
	if json.Unmarshal([]byte(row.ColumnText(3)), &e.Roles) != nil {
		return bad("roles")
	}
	for i, p := range map[int]*string{
		2: &e.Principal, 4: &e.Session, 5: &e.Source, 6: &e.Verb, 7: &e.Call, 8: &e.Outcome, 9: &e.Reason,
		10: &e.Changes, 11: &e.Preview, 12: &e.Agreed, 13: &e.Palette, 14: &e.Turn, 15: &e.Origins,
	} {
		if row.ColumnType(i) != sqlite.TypeText {
			return bad("a text")
		}
		*p = row.ColumnText(i)
	}
	if readHash(row, 17, &e.Body) != nil {
		return bad("a hash")
	}
	if salt := row.ColumnText(16); salt == "" {
		if e.Seq <= first { // otherwise the chain has ended
			e.Place = e.Seq
		}
		if readHash(row, 18, &e.Prev) != nil || readHash(row, 19, &e.Hash) != nil {
			return bad("a hash")
		}
		return e, nil
	} else if b, err := hex.DecodeString(salt); err != nil || copy(e.Salt[:], b) != len(b) || len(b) != len(e.Salt) || e.InChain() || hex.EncodeToString(b) != salt {
		return bad("a salt")
	}
	if e.Number(e.Seq); row.ColumnType(20) != sqlite.TypeNull {
		e.Place = first + row.ColumnInt64(20)
	}
	return e, nil
}

func readHash(row *sqlite.Stmt, at int, sum *[32]byte) error {
	text := row.ColumnText(at)
	if n, err := hex.Decode(sum[:], []byte(text)[:min(len(text), 2*len(sum))]); err != nil || n != len(sum) || len(text) != 2*len(sum) {
		return errors.New("sqlite: the journal holds a hash that cannot be read")
	}
	return nil
}

// Principals implements stores.Store.
func (s *Store) Principals(ctx context.Context) (names []string, err error) {
	err = s.read(ctx, func(c *conn) error {
		return c.query(ctx, "SELECT name FROM main.verbatim_principal ORDER BY name", nil, func(row *sqlite.Stmt) error {
			names = append(names, row.ColumnText(0))
			return nil
		})
	})
	return names, fault("principals", err)
}

// Principal implements stores.Store.
func (s *Store) Principal(ctx context.Context, name string) (stores.Principal, error) {
	p := stores.Principal{Name: name}
	known := false
	err := s.read(ctx, func(c *conn) error {
		err := c.query(ctx, "SELECT label, person FROM main.verbatim_principal WHERE name = ?", []stores.Value{str(name)}, func(row *sqlite.Stmt) error {
			known = true
			p.Label, p.Person = row.ColumnText(0), row.ColumnText(1)
			return nil
		})
		if err != nil || !known {
			return err
		}
		return c.query(ctx, "SELECT role, entity, key FROM main.verbatim_grant WHERE principal = ? ORDER BY role, entity, key", []stores.Value{str(name)}, func(row *sqlite.Stmt) error {
			return sqlcore.Granted(&p, row.ColumnText(0), row.ColumnText(1), func() (stores.Value, error) { return readKey(cellOf{row, 2}) })
		})
	})
	if err != nil {
		return stores.Principal{}, fault("principal", err)
	}
	if !known {
		return stores.Principal{}, stores.ErrNotFound
	}
	return p, nil
}

// readKey reads a text that spells a UUID as a UUID: as keys the two are found alike.
func readKey(c cellOf) (stores.Value, error) {
	switch c.Type() {
	case sqlite.TypeInteger:
		return stores.NewInt(c.Int64()), nil
	case sqlite.TypeText:
		s := c.Text()
		if u, ok := stores.ParseUUID(s); ok && u.Text() == s {
			return u, nil
		}
		return str(s), nil
	}
	return stores.Value{}, fmt.Errorf("a grant holds something other than a key: %w", stores.ErrInvalid)
}

// SetPrincipal implements stores.Store.
func (s *Store) SetPrincipal(ctx context.Context, p stores.Principal) error {
	return s.write(ctx, func(c *conn) error {
		exec := func(text string, args ...stores.Value) error {
			_, err := c.exec(text, args...)
			return fault("principal", err)
		}
		if p.Name == "" {
			return fmt.Errorf("a principal without a name: %w", stores.ErrInvalid)
		}
		if err := exec("INSERT INTO main.verbatim_principal (name, label, person) VALUES (?,?,?) ON CONFLICT (name) DO UPDATE SET label = excluded.label, person = excluded.person", str(p.Name), str(p.Label), str(p.Person)); err != nil {
			return err
		}
		if err := exec("DELETE FROM main.verbatim_grant WHERE principal = ?", str(p.Name)); err != nil {
			return err
		}
		const grant = "INSERT INTO main.verbatim_grant (principal, role, entity, key) VALUES (?,?,?,?) ON CONFLICT DO NOTHING"
		for _, role := range p.Roles {
			if err := exec(grant, str(p.Name), str(role), str(""), str("")); err != nil {
				return err
			}
		}
		for entity, keys := range p.Holds {
			for _, k := range keys {
				if k.Kind() != stores.Int && k.Kind() != stores.String && k.Kind() != stores.UUID {
					return fmt.Errorf("a grant on %s takes a key, not a %s: %w", entity, k.Kind(), stores.ErrInvalid)
				}
				if err := exec(grant, str(p.Name), str(""), str(entity), k); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
