package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

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

// dump writes the database at a URL into a new file, as one moment saw it, while others write: by pg_dump, in its
// custom format. The file is there once it is whole and flushed; its owner alone may read it.
func dump(ctx context.Context, at, file string) error {
	if _, err := os.Lstat(file); err == nil {
		return os.ErrExist
	}
	db, err := postgres.Reach(ctx, at)
	switch {
	case err != nil:
		return err
	case !db.Has:
		return errNoStore
	case !db.Free:
		return errHeld
	}
	f, err := os.CreateTemp(filepath.Dir(file), "backup") // its mode is 0600, which pg_dump keeps
	if err != nil {
		return errors.New(reason(err)) // a folder that is missing is no backup that is missing
	}
	part := f.Name()
	defer os.Remove(part)
	defer f.Close()
	if _, err := program(ctx, db, "pg_dump", "--format=custom", "--no-password", "--file="+part); err != nil {
		return err
	}
	if err := holdsJournal(ctx, db, part); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Link(part, file); errors.Is(err, os.ErrExist) { // another backup was faster
		return err
	} else if err != nil { // some file systems have no links
		if err := os.Rename(part, file); err != nil {
			return err
		}
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// undump puts a dump back into the database at a URL, which may have no tables of a store: all of it or nothing.
func undump(ctx context.Context, at, file string) error {
	if _, err := os.Stat(file); err != nil {
		return err
	}
	db, err := postgres.Reach(ctx, at)
	if err != nil {
		return err
	}
	if db.Has {
		return errHasOne
	}
	if err := holdsJournal(ctx, db, file); err != nil {
		return err
	}
	_, err = program(ctx, db, "pg_restore", "--single-transaction", "--no-password", "--dbname="+db.Database, file)
	return err
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
		return usage("the role of --store cannot back everything up: "+err.Error(), "give the URL of a superuser, or of a role made for it: verbatim help back-up says how")
	case errors.Is(err, errNoStore):
		return usage("there is no store in it: "+err.Error(), "name the store with --store, and a backup that verbatim backup made")
	case errors.Is(err, errHasOne):
		return &stop{exitRefused, "not-empty", "the database is not empty: " + err.Error(), "restore into a new one: createdb --owner OWNER NAME"}
	case errors.As(err, &said):
		return broken(said.program+" did not do it, and nothing was left behind", errors.New(said.said), "mend what it says, and try again")
	}
	return broken(fmt.Sprintf("the backup %s could not be made or read", quoted(file)), err, "check the path, who may write there, and the address")
}
