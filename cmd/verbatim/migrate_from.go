package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
)

// A sqliteMove is a SQLite store that moves to PostgreSQL.
type sqliteMove struct {
	store    *sqlite.Store
	at       address
	entities []*stores.Entity
	partly   map[*stores.Entity]string // columns that have no field
	views    []*stores.Entity
	suspect  string // why what waits in it may have been decided since, or ""
}

// leave opens a store that is migrated and that nobody else uses.
func (a *app) leave(ctx context.Context, reg *verbs.Registry, from string, to address) (*sqliteMove, error) {
	at, err := a.storeAddress(from)
	switch {
	case err != nil:
		return nil, err
	case at.url != "":
		return nil, usage("--from moves a file, and PostgreSQL has programs for its databases", "pg_dump, and pg_restore")
	case to.url == "":
		return nil, usage("--from moves a file to PostgreSQL, and --store is a file", "give --store postgres://ROLE@HOST/DATABASE, or copy the file with verbatim backup")
	}
	if info, err := os.Stat(at.file); err == nil && info.Mode().IsRegular() {
		if used, err := sqlite.InUse(at.file); err == nil && used {
			return nil, &stop{exitRefused, "in-use", fmt.Sprintf("somebody uses the store %q. Nothing was moved", at.file), "stop what uses it: verbatim serve, verbatim work, and other programs"}
		}
	}
	l := &sqliteMove{at: at, entities: allTables(reg), partly: map[*stores.Entity]string{}}
	if l.store, err = a.openFile(ctx, at, false, sqlite.RowCap(math.MaxInt32)); err != nil {
		return nil, err
	}
	plan, _, err := l.store.Rehearse(ctx, l.entities, nil)
	if behind := len(plan.Steps) + len(plan.Problems); err == nil && behind > 0 {
		err = &stop{exitRefused, "store-mismatch", fmt.Sprintf("the store %q is not as the palettes say (%s). Nothing was moved", at.file, receipt.Counted(behind, "difference")), "verbatim migrate --store " + shell(at.file) + ", or give --palettes the ones that it was used with"}
	}
	if err != nil {
		_ = l.store.Close()
		return nil, err
	}
	l.views = plan.Views
	if _, l.suspect, err = a.suspects(ctx, l.store, from); err != nil {
		return nil, errors.Join(err, l.store.Close())
	}
	for _, u := range plan.Undeclared {
		for _, e := range l.entities {
			switch {
			case !strings.HasPrefix(u, e.Place+": entity "+e.Name+":"):
			case e.Managed:
				fmt.Fprintln(a.err, "warning[left-behind]: "+u+"; it is not moved")
			default:
				l.partly[e] = u
			}
		}
	}
	return l, nil
}

// moveIn copies the rows into a migrated store. What waits in a file that may be a copy is dropped there, before it
// moves: the owner of the target's tables, who migrates, drops nothing.
func (a *app) moveIn(ctx context.Context, reg *verbs.Registry, l *sqliteMove, to stores.Store) error {
	target, ok := to.(*postgres.Store)
	if !ok {
		return usage("--from moves a file to PostgreSQL", "give --store postgres://ROLE@HOST/DATABASE")
	}
	if l.suspect != "" {
		old, err := engine.New(reg, l.store, engine.Options{})
		if err == nil {
			err = a.dropOld(ctx, old, l.store, l.suspect)
		}
		if err != nil {
			return broken("what waits in the store cannot be dropped", err, "nothing was moved; the tables stand, and a second try begins anew")
		}
	}
	var moved stores.Moved
	// The transaction keeps others from writing, and is discarded.
	err := l.store.Update(ctx, stores.Scope{All: true}, func(read stores.Tx) error {
		read.Discard()
		return target.Fill(ctx, func(fill stores.Filler) (err error) {
			m := stores.Move{From: l.store, To: target, Read: read, Fill: fill, Entities: l.entities, Partly: l.partly, Views: l.views}
			moved, err = m.Run(ctx)
			return err
		})
	})
	var no *stores.MoveError
	var chain *stores.ChainError
	switch {
	case errors.As(err, &no):
		return &stop{exitRefused, "cannot-move", no.Msg + ". Nothing was moved", "see what is there; the tables stand, and a second try begins anew"}
	case errors.As(err, &chain):
		return brokenJournal(err)
	case errors.Is(err, stores.ErrUnknown):
		return broken("the line broke while the move was committed", err, "run it again: where it was moved, the target is said to have everything already")
	case err != nil:
		return broken("the store cannot be moved", err, "nothing was moved; the tables stand, and a second try begins anew")
	}
	return a.tellMoved(l, moved)
}

type movedJSON struct {
	Schema     string          `json:"schema"`
	From       string          `json:"from"`
	Rows       []movedRowsJSON `json:"rows"`
	Principals int             `json:"principals"`
	Names      int             `json:"names"`
	Jobs       int             `json:"jobs"`
	Entries    int64           `json:"entries"`
	Hash       string          `json:"hash"`
}

type movedRowsJSON struct {
	Entity string `json:"entity"`
	Rows   int    `json:"rows"`
	There  bool   `json:"there"` // the rows existed already, and are the same
}

func (a *app) tellMoved(l *sqliteMove, m stores.Moved) error {
	out := movedJSON{"verbatim/move@1", l.at.String(), []movedRowsJSON{}, m.Principals, m.Names, m.Jobs, m.Entries, fmt.Sprintf("%x", m.Head)}
	for _, r := range m.Rows {
		if r.Rows == 0 {
			continue
		}
		out.Rows = append(out.Rows, movedRowsJSON{r.Entity.Name, r.Rows, r.There})
		if !a.json {
			word := "moved"
			if r.There {
				word = "same "
			}
			fmt.Fprintf(a.out, "%s  %s of %s\n", word, receipt.Counted(r.Rows, "row"), r.Entity.Name)
		}
	}
	if a.json {
		a.emit(out)
		return nil
	}
	fmt.Fprintf(a.out, "moved  %s, %s, %s for later\nmoved  %s, head %x %x\n", receipt.Counted(m.Principals, "person"), receipt.Counted(m.Names, "name"), receipt.Counted(m.Jobs, "job"),
		receipt.Counted(int(m.Entries), "journal entry"), m.Head[:2], m.Head[2:4])
	fmt.Fprintf(a.out, "next: put %s away, or somebody goes on in it, and let VERBATIM_STORE name the new one\n", l.at)
	return nil
}
