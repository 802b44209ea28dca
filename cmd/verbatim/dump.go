package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

	"verbatim/runtime/state/uploads"
	"verbatim/stores/postgres"
	"verbatim/stores/receipt"
)

// Why PostgreSQL's programs are not asked for a dump, or to put one back.
var (
	errHeld    = errors.New("row-level security holds it, so a dump would fail or leave rows out")
	errNoStore = errors.New("it has no journal")
	errHasOne  = errors.New("it has tables of a store already")
)

// A programError is what a program of PostgreSQL's said before it failed.
type programError struct {
	program, said string
	dumped        string // by what a dump was made that could not be put back, and on what; "" if that is not known
}

func (e *programError) Error() string { return e.program + " failed: " + e.said }

// dumpable looks whether a role can dump the database at a URL.
func dumpable(ctx context.Context, at string) (postgres.Reached, error) {
	db, err := postgres.Reach(ctx, at)
	switch {
	case err != nil:
	case !db.Has:
		err = errNoStore
	case !db.Free:
		err = errHeld
	}
	return db, err
}

// dump writes a database into a new file, as one moment saw it, while others write: by pg_dump, in its custom
// format. The owner of the file alone may read it.
func dump(ctx context.Context, at string, db postgres.Reached, file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // a mode that pg_dump keeps
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := postgres.Counting(ctx, at, func(snapshot string) error {
		_, err := program(ctx, db, "pg_dump", "--format=custom", "--no-password", "--snapshot="+snapshot, "--file="+file)
		return err
	})
	if err == nil {
		err = holdsRows(ctx, db, file, rows)
	}
	if err == nil {
		err = holdsJournal(ctx, db, file)
	}
	if err != nil {
		return err
	}
	return f.Sync()
}

// A rowsError says that a dump lacks rows that the database had.
type rowsError struct {
	table    string
	has, had int64
}

func (e *rowsError) Error() string {
	return fmt.Sprintf("the dump has %s of %s, and the database had %s when it was made", receipt.Counted(int(e.has), "row"), e.table, receipt.Thousands(int(e.had)))
}

// holdsRows reads a dump to its end, and compares the rows of each table with those that the database had.
func holdsRows(ctx context.Context, db postgres.Reached, file string, had map[string]int64) error {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "pg_restore", "--data-only", "--file=-", file)
	cmd.Env, cmd.Stderr = append(os.Environ(), db.Environ...), &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	has, reading := countRows(out)
	if err := errors.Join(reading, cmd.Wait()); err != nil {
		return errors.Join(&programError{program: "pg_restore", said: strings.TrimSpace(said.String())}, ctx.Err())
	}
	for _, table := range slices.Sorted(maps.Keys(had)) {
		if has[table] != had[table] {
			return &rowsError{table, has[table], had[table]}
		}
	}
	return nil
}

// countRows counts the rows of each table in what pg_restore writes. A row is a line, which may be long.
func countRows(text io.Reader) (map[string]int64, error) {
	all := map[string]int64{}
	in := bufio.NewReaderSize(text, 1<<16)
	table, begins := "", true // whether a line begins
	for {
		part, err := in.ReadSlice('\n')
		switch {
		case !begins:
		case table != "" && string(part) == "\\.\n":
			table = ""
		case table != "":
			all[table]++
		case bytes.HasPrefix(part, []byte("COPY ")) && bytes.HasSuffix(part, []byte(" FROM stdin;\n")):
			table, _, _ = strings.Cut(string(part[len("COPY "):]), " (")
			table = strings.TrimSuffix(table, " FROM stdin;\n") // of a table without columns
			all[table] += 0
		}
		begins = err == nil
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return all, err
		}
	}
}

// restorable looks whether a dump can be put into the database at a URL, which may have no tables of a store.
func restorable(ctx context.Context, at, file string) (postgres.Reached, error) {
	db, err := postgres.Reach(ctx, at)
	switch {
	case err != nil:
	case db.Has:
		err = errHasOne
	default:
		err = holdsJournal(ctx, db, file)
	}
	return db, err
}

// undump puts a dump back: all of it or nothing.
func undump(ctx context.Context, db postgres.Reached, file string) error {
	_, err := program(ctx, db, "pg_restore", "--single-transaction", "--no-password", "--dbname="+db.Database, file)
	var failed *programError
	if errors.As(err, &failed) {
		if list, unread := program(ctx, db, "pg_restore", "--list", file); unread == nil {
			failed.dumped = dumpedBy(list)
		}
	}
	return err
}

// dumpedBy says which pg_dump made a dump of which server, by the list of it.
func dumpedBy(list string) string {
	var by, of string
	for line := range strings.Lines(list) {
		if _, version, found := strings.Cut(line, "Dumped by pg_dump version: "); found {
			by = strings.TrimSpace(version)
		}
		if _, version, found := strings.Cut(line, "Dumped from database version: "); found {
			of = strings.TrimSpace(version)
		}
	}
	return fmt.Sprintf("the dump was made by pg_dump %s of a server %s", by, of)
}

// unknownFormat is what pg_restore says of a dump that a newer pg_dump made.
const unknownFormat = "unsupported version ("

// filesOfDump lists the files that a dump's rows name.
func filesOfDump(ctx context.Context, db postgres.Reached, file string) (all []uploads.Upload, err error) {
	schema, table, _ := strings.Cut(uploads.Contents.Table, ".")
	text, err := program(ctx, db, "pg_restore", "--data-only", "--schema="+schema, "--table="+table, "--file=-", file)
	if err != nil {
		return nil, err
	}
	var columns []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if _, after, begins := strings.Cut(line, "COPY "+uploads.Contents.Table+" ("); begins {
			names, _, _ := strings.Cut(after, ")")
			columns = strings.Split(names, ", ")
		} else if line == `\.` {
			columns = nil
		} else if columns != nil {
			if u, kept := uploads.Dumped(columns, line); kept {
				all = append(all, u)
			}
		}
	}
	return all, nil
}

// holdsJournal looks for the journal in the list of a dump.
func holdsJournal(ctx context.Context, db postgres.Reached, file string) error {
	list, err := program(ctx, db, "pg_restore", "--list", file)
	if err == nil && !strings.Contains(list, " TABLE DATA public verbatim_journal ") {
		err = errNoStore
	}
	return err
}

// program runs a program of PostgreSQL's, and returns what it printed.
func program(ctx context.Context, db postgres.Reached, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, said bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), db.Environ...), &out, &said
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) || ctx.Err() != nil {
			return "", errors.Join(err, ctx.Err())
		}
		return "", &programError{program: name, said: strings.TrimSpace(said.String())}
	}
	return out.String(), nil
}

// notDumped reports why there is no dump, or why it was not put back.
func notDumped(err error, file string) error {
	var said *programError
	var lacks *rowsError
	switch {
	case errors.As(err, &lacks):
		return &stop{exitSystem, "backup-lacks-rows", lacks.Error() + "; nothing was left behind", "look whether pg_dump is of the server's version or newer, and try again"}
	case errors.Is(err, os.ErrExist):
		return usage(fmt.Sprintf("the file %s is there already, and was left alone", quoted(file)), "name a file that is not there yet")
	case errors.Is(err, os.ErrNotExist):
		return &stop{exitUsage, "no-such-file", fmt.Sprintf("the backup %s is not there", quoted(file)), "name a file that verbatim backup made"}
	case errors.Is(err, exec.ErrNotFound):
		return usage("PostgreSQL's programs pg_dump and pg_restore are not on the PATH", "install its client programs, of the server's version or newer")
	case errors.Is(err, errHeld):
		return usage("the role of --store cannot back everything up: "+err.Error(), "give the URL of a role for backups: verbatim migrate --roles NAME makes it, as a superuser")
	case errors.Is(err, errNoStore):
		return usage("there is no store in it: "+err.Error(), "name the store with --store, and a backup that verbatim backup made")
	case errors.Is(err, errHasOne):
		return &stop{exitRefused, "not-empty", "the database is not empty: " + err.Error(), "restore into a new one: createdb --owner OWNER NAME"}
	case errors.As(err, &said) && strings.Contains(said.said, unknownFormat):
		return &stop{exitUsage, "no-backup", fmt.Sprintf("a newer pg_dump made the backup %s than the pg_restore on the PATH reads (%s); nothing was changed", quoted(file), said.said),
			"put the client programs of the version that made it, or newer, first on the PATH, and restore into a server of that version"}
	case errors.As(err, &said) && said.dumped != "":
		return broken(said.program+" did not do it, and nothing was left behind", errors.New(said.said+"; "+said.dumped),
			"mend what it says; where the versions differ, restore with the client programs of the newer one into a server that is no older than that of the dump")
	case errors.As(err, &said):
		return broken(said.program+" did not do it, and nothing was left behind", errors.New(said.said), "mend what it says, and try again")
	}
	return broken(fmt.Sprintf("the backup %s could not be made or read", quoted(file)), err, "check the path, who may write there, and the address")
}
