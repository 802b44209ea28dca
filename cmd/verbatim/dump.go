package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"verbatim/runtime/state/uploads"
	"verbatim/stores/postgres"
)

// Why PostgreSQL's programs are not asked for a dump, or to put one back.
var (
	errHeld    = errors.New("row-level security holds it, so a dump would fail or leave rows out")
	errNoStore = errors.New("it has no journal")
	errHasOne  = errors.New("it has tables of a store already")
)

// A programError is what a program of PostgreSQL's said before it failed.
type programError struct{ program, said string }

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
func dump(ctx context.Context, db postgres.Reached, file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // a mode that pg_dump keeps
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := program(ctx, db, "pg_dump", "--format=custom", "--no-password", "--file="+file); err != nil {
		return err
	}
	if err := holdsJournal(ctx, db, file); err != nil {
		return err
	}
	return f.Sync()
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
	return err
}

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
		return "", &programError{name, strings.TrimSpace(said.String())}
	}
	return out.String(), nil
}

// notDumped reports why there is no dump, or why it was not put back.
func notDumped(err error, file string) error {
	var said *programError
	switch {
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
	case errors.As(err, &said):
		return broken(said.program+" did not do it, and nothing was left behind", errors.New(said.said), "mend what it says, and try again")
	}
	return broken(fmt.Sprintf("the backup %s could not be made or read", quoted(file)), err, "check the path, who may write there, and the address")
}
