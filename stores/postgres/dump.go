package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Errors of Dump and Restore.
var (
	// ErrHeld says that row-level security holds the role, so that a dump by it would fail or leave rows out.
	ErrHeld = errors.New("row-level security holds the role")
	// ErrNoStore says that the database, or the dump, has no journal.
	ErrNoStore = errors.New("it has no journal")
	// ErrInUse says that the database has tables of a store already.
	ErrInUse = errors.New("it has tables of a store already")
)

// A ProgramError is what a program of PostgreSQL's said before it failed.
type ProgramError struct{ Program, Said string }

func (e *ProgramError) Error() string { return e.Program + " failed: " + e.Said }

// Dump writes the database at a URL into a new file, as one moment saw it, while others write: by PostgreSQL's own
// pg_dump, in its custom format. The role has to be a superuser or to have BYPASSRLS. The file is there once it is
// whole and flushed; an os.ErrExist says that it was there before.
func Dump(ctx context.Context, at, file string) error {
	if _, err := os.Lstat(file); err == nil {
		return os.ErrExist
	}
	var free, has bool
	err := lookUp(ctx, at, `SELECT rolsuper OR rolbypassrls, to_regclass('public.verbatim_journal') IS NOT NULL FROM pg_catalog.pg_roles WHERE rolname = current_user`, &free, &has)
	switch {
	case err != nil:
		return err
	case !has:
		return ErrNoStore
	case !free:
		return ErrHeld
	}
	part := file + ".part"
	defer os.Remove(part)
	// Only its owner reads it, as with a file: pg_dump keeps the mode of a file that is there.
	if f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return err
	} else if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return err
	}
	if _, err := program(ctx, at, "pg_dump", "--format=custom", "--no-password", "--file="+part); err != nil {
		return err
	}
	if err := holdsJournal(ctx, at, part); err != nil {
		return err
	}
	f, err := os.OpenFile(part, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err = errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(part, file); err != nil { // which overwrites nothing
		return err
	}
	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Restore puts a dump back into the database at a URL, which may have no tables of a store, by PostgreSQL's own
// pg_restore: all of it or nothing.
func Restore(ctx context.Context, at, file string) error {
	if _, err := os.Stat(file); err != nil {
		return err
	}
	var used bool
	if err := lookUp(ctx, at, `SELECT to_regclass('public.verbatim_journal') IS NOT NULL`, &used); err != nil {
		return err
	}
	if used {
		return ErrInUse
	}
	if err := holdsJournal(ctx, at, file); err != nil {
		return err
	}
	cfg, err := pgconn.ParseConfig(driverURL(at))
	if err != nil {
		return fault(ctx, "restore", err)
	}
	_, err = program(ctx, at, "pg_restore", "--single-transaction", "--no-password", "--dbname="+cfg.Database, file)
	return err
}

// holdsJournal looks for the journal in the list of a dump.
func holdsJournal(ctx context.Context, at, file string) error {
	list, err := program(ctx, at, "pg_restore", "--list", file)
	if err == nil && !strings.Contains(list, " TABLE DATA public verbatim_journal ") {
		err = ErrNoStore
	}
	return err
}

// lookUp asks one question of a database, whatever the role is.
func lookUp(ctx context.Context, at, sql string, into ...any) error {
	c, err := pgx.Connect(ctx, driverURL(at))
	if err != nil {
		return fault(ctx, "open", err)
	}
	defer c.Close(context.WithoutCancel(ctx))
	return fault(ctx, "open", c.QueryRow(ctx, sql).Scan(into...))
}

// driverURL is an address without what only a pool reads.
func driverURL(at string) string {
	u, err := url.Parse(at)
	if err != nil {
		return at
	}
	q := u.Query()
	for name := range q {
		if strings.HasPrefix(name, "pool_") {
			q.Del(name)
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// program runs a program of PostgreSQL's and returns what it printed. Where and as whom it connects stands in its
// environment: arguments are seen by everybody on the machine.
func program(ctx context.Context, at, name string, args ...string) (string, error) {
	cfg, err := pgconn.ParseConfig(driverURL(at))
	if err != nil {
		return "", fault(ctx, "open", err)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "PGHOST="+cfg.Host, "PGPORT="+strconv.Itoa(int(cfg.Port)), "PGUSER="+cfg.User, "PGDATABASE="+cfg.Database)
	if cfg.Password != "" {
		cmd.Env = append(cmd.Env, "PGPASSWORD="+cfg.Password)
	}
	u, err := url.Parse(at)
	if err != nil {
		return "", fmt.Errorf("postgres: %s: the URL cannot be read", name)
	}
	for of, variable := range map[string]string{"sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY"} {
		if v := u.Query().Get(of); v != "" {
			cmd.Env = append(cmd.Env, variable+"="+v)
		}
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) || ctx.Err() != nil {
			return "", errors.Join(err, ctx.Err())
		}
		return "", &ProgramError{name, strings.TrimSpace(said.String())}
	}
	return out.String(), nil
}
