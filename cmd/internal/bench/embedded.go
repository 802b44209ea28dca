package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	_ "github.com/mattn/go-sqlite3" // the C library, where there is a compiler for it
	_ "modernc.org/sqlite"          // the pure Go library behind database/sql

	"verbatim/stores"
	"verbatim/stores/sqlite"
)

const (
	ourFileWrite  = "a write verb on SQLite in pure Go, text to committed"
	theirWrite    = "the C library, the same statements"
	ourFileScript = "a script of 1 000 calls on SQLite in pure Go, a call"
	theirScript   = "the C library, the same statements in one transaction, a call"
	bareWrite     = "the pure Go library, the same statements"
	bareScript    = "the pure Go library, the same statements in one transaction, a call"
)

// embedding is PERF-X4: a write and a script on the SQLite store, which is pure
// Go, beside the C library doing the same statements on a file of the same
// tables, with the same care for the disk. What the pure Go library makes of the
// same bare statements is told too: nothing built on it can be faster.
func embedding() (*race, func(), error) {
	const (
		some  = 60 // writes in each round
		calls = 1000
	)
	with := func(cs []*contestant) *race {
		return &race{
			name:        "SQLite, one connection, WAL and synchronous=FULL: one row changed, one added, one line in the journal",
			contestants: cs,
			goals: []goal{
				{"PERF-X4", "a write, speed of the C library", faster(cs[0], cs[1]), "x", true, 0.8},
				{"PERF-X4", "a script, speed of the C library", faster(cs[2], cs[3]), "x", true, 0.75},
			},
		}
	}
	dir, err := os.MkdirTemp("", "verbatim-peers-")
	if err != nil {
		return nil, nil, err
	}
	var closing []func() error
	end := func() {
		for _, fn := range closing {
			_ = fn()
		}
		_ = os.RemoveAll(dir)
	}
	fail := func(err error) (*race, func(), error) {
		end()
		return nil, nil, err
	}
	open := func(name string) (*bank, error) {
		store, err := sqlite.Open(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		closing = append(closing, store.Close)
		return openBank(store)
	}
	ours, err := open("ours.db")
	if err != nil {
		return fail(err)
	}
	var line stores.Entry
	for _, name := range []string{"theirs.db", "bare.db"} {
		twin, err := open(name)
		if err == nil {
			err = twin.script(0, 1)
		}
		if err == nil {
			line, err = twin.lastEntry()
		}
		if err == nil {
			err = twin.store.Close()
		}
		if err != nil {
			return fail(err)
		}
	}
	bare, err := openLibrary("sqlite", "file:"+filepath.Join(dir, "bare.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=cache_size(-16384)&_pragma=busy_timeout(5000)&_txlock=immediate", line)
	if err != nil {
		return fail(err)
	}
	closing = append([]func() error{bare.db.Close}, closing...)
	cs := []*contestant{
		{name: ourFileWrite, per: 1, sample: timed(some, repeat(some, func(i int) error { return ours.script(i, 1) }))},
		absent(theirWrite, errors.New("no C compiler, or CGO_ENABLED=0")),
		{name: ourFileScript, per: 1, sample: timed(calls, func() error { return ours.script(0, calls) })},
		absent(theirScript, errors.New("no C compiler, or CGO_ENABLED=0")),
		{name: bareWrite, per: 1, sample: timed(some, repeat(some, func(i int) error { return bare.script(i, 1) }))},
		{name: bareScript, per: 1, sample: timed(calls, func() error { return bare.script(0, calls) })},
	}
	if !withC {
		return with(cs), end, nil
	}
	lib, err := openLibrary("sqlite3", "file:"+filepath.Join(dir, "theirs.db")+"?_journal_mode=WAL&_synchronous=FULL&_foreign_keys=1&_cache_size=-16384&_busy_timeout=5000&_txlock=immediate", line)
	if err != nil {
		return fail(err)
	}
	closing = append([]func() error{lib.db.Close}, closing...)
	cs[1] = &contestant{name: theirWrite, per: 1, sample: timed(some, repeat(some, func(i int) error { return lib.script(i, 1) }))}
	cs[3] = &contestant{name: theirScript, per: 1, sample: timed(calls, func() error { return lib.script(0, calls) })}
	return with(cs), end, nil
}

// A library is a file that a bare library has open, with the statements that one
// write takes.
type library struct {
	db   *sql.DB
	line stores.Entry
	seq  int64

	row, update, remind, head, entry *sql.Stmt
}

func openLibrary(driver, dsn string, line stores.Entry) (*library, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	l := &library{db: db, line: line, seq: line.Seq}
	if _, err := db.Exec(`CREATE TABLE IF NOT EXISTS peers_chain (seq INTEGER PRIMARY KEY, time TEXT NOT NULL, principal TEXT NOT NULL, roles TEXT NOT NULL, session TEXT NOT NULL, source TEXT NOT NULL, verb TEXT NOT NULL,
		call TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL, changes TEXT NOT NULL, preview TEXT NOT NULL, agreed TEXT NOT NULL, palette TEXT NOT NULL, turn TEXT NOT NULL, origins TEXT NOT NULL,
		prev TEXT NOT NULL UNIQUE, body TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
		INSERT OR IGNORE INTO peers_chain VALUES (1, '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '')`); err != nil {
		_ = db.Close()
		return nil, err
	}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&l.row, `SELECT q.* FROM bank_requests q JOIN bank_workstreams w ON w.workstream_id = q.workstream JOIN bank_cases c ON c.case_id = w."case" WHERE q.request_id = ? AND c.cbu = ?`},
		{&l.update, `UPDATE bank_requests SET notes = ?, updated_at = ? WHERE request_id = ?`},
		{&l.remind, `INSERT INTO bank_reminders (reminder_id, request, commitment, remind_on, created_at) VALUES (?, ?, ?, '2025-01-04', ?)`},
		{&l.head, `SELECT seq, hash FROM peers_chain ORDER BY seq DESC LIMIT 1`},
		{&l.entry, `INSERT INTO peers_chain (seq, time, principal, roles, session, source, verb, call, outcome, reason, changes, preview, agreed, palette, turn, origins, prev, body, hash)
			VALUES (?, ?, ?, '["client"]', ?, ?, ?, ?, 'ok', '', ?, ?, '', ?, '', '', ?, ?, ?)`},
	} {
		if *p.stmt, err = db.Prepare(p.text); err != nil {
			_ = db.Close()
			return nil, err
		}
	}
	return l, nil
}

// script is what bank.script is: n writes in one transaction.
func (l *library) script(first, n int) (err error) {
	ctx := context.Background()
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback()
		}
	}()
	row, update, remind := tx.Stmt(l.row), tx.Stmt(l.update), tx.Stmt(l.remind)
	head, entry := tx.Stmt(l.head), tx.Stmt(l.entry)
	var seq int64
	var hash string
	if err := head.QueryRow().Scan(&seq, &hash); err != nil {
		return err
	}
	cbu := bankKey(aCBU, busy).Text()
	for i := range n {
		request := bankKey(aRequest, busy*theirRows+(first+i)%manyRows).Text()
		number := notes.Add(1)
		text := fmt.Sprintf("Accountant is sending it, %d", number)
		now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
		var was [7]any
		if err := row.QueryRow(request, cbu).Scan(&was[0], &was[1], &was[2], &was[3], &was[4], &was[5], &was[6]); err != nil {
			return err
		}
		if _, err := update.Exec(text, now, request); err != nil {
			return err
		}
		if _, err := remind.Exec(fmt.Sprintf("%08x-0000-4000-9000-%012x", number*2654435761%(1<<32), number), request, text, now); err != nil {
			return err
		}
		e := &l.line
		seq++
		next := fmt.Sprintf("%064x", seq)
		if _, err := entry.Exec(seq, now, e.Principal, e.Session, e.Source, e.Verb, e.Call, e.Changes, e.Preview, e.Palette, hash, next, next); err != nil {
			return err
		}
		hash = next
	}
	return tx.Commit()
}
