package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
)

func (a *app) storeFlag(cmd *cobra.Command, store *string) {
	cmd.Flags().StringVar(store, "store", "", "where rows are, a `path` or postgres://… (default $VERBATIM_STORE or verbatim.db)")
}

// An address is the location of a store.
type address struct {
	file string // of SQLite
	url  string // of PostgreSQL
}

// String returns the address without a password.
func (p address) String() string {
	if p.url == "" {
		return p.file
	}
	u, err := url.Parse(p.url)
	if err != nil {
		return "the database"
	}
	// A parameter may hold a password too.
	u.RawQuery, u.Fragment = "", ""
	return u.Redacted()
}

// as returns the URL for another role of the server, or for the same one if role is "". It
// contains no password.
func (p address) as(role string) string {
	u, err := url.Parse(p.url)
	if err != nil {
		return "postgres://" + role + "@HOST/DATABASE"
	}
	params := u.Query()
	maps.DeleteFunc(params, func(name string, _ []string) bool {
		return !slices.Contains([]string{"host", "port", "user", "sslmode", "sslrootcert", "default_query_exec_mode"}, name)
	})
	if role == "" {
		role = cmp.Or(params.Get("user"), u.User.Username())
	}
	params.Del("user")
	u.User = nil
	switch {
	case role == "":
	case u.Host == "": // a user would be followed by an @
		params.Set("user", role)
	default:
		u.User = url.User(role)
	}
	u.RawQuery, u.Fragment = params.Encode(), ""
	return u.String()
}

// storeAddress reads --store. While a password replaces another, a file holds a URL with each, one a line.
func (a *app) storeAddress(flag string) (address, error) {
	first, _, _ := strings.Cut(cmp.Or(flag, a.env("VERBATIM_STORE"), "verbatim.db"), "\n")
	at, why := addressOf(first)
	if why != "" {
		return at, usage("--store "+why, "give a path, sqlite:PATH or postgres://ROLE@HOST/DATABASE")
	}
	return at, nil
}

// connectionString matches a connection string of libpq, which is no path and may hold a password.
var connectionString = regexp.MustCompile(`^\s*(host|hostaddr|port|dbname|user|password|service|sslmode)\s*=`)

// addressOf parses the address of a store. why says what is wrong with it, and holds no password.
func addressOf(where string) (at address, why string) {
	kind, path, ok := strings.Cut(where, ":")
	switch {
	case connectionString.MatchString(where):
		return at, "takes a URL, and no keywords such as host="
	case !ok || strings.ContainsAny(kind, `/\.`):
		return address{file: where}, ""
	case kind == "sqlite" && path != "":
		return address{file: strings.TrimPrefix(path, "//")}, ""
	case (kind == "postgres" || kind == "postgresql") && strings.HasPrefix(path, "//"):
		if unescaped(path[2:]) {
			return at, "takes a URL in which the signs of a password are escaped: @ is %40, / is %2F, ? is %3F, # is %23, : is %3A and % is %25"
		}
		return address{url: where}, ""
	}
	return at, fmt.Sprintf("does not know %q", kind+":")
}

// unescaped reports whether a sign in the password of a URL, without its scheme, would end the password: what is
// behind it would be taken for the host, and shown.
func unescaped(rest string) bool {
	authority, behind := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, behind = rest[:i], rest[i:]
	}
	if i := strings.IndexByte(behind, '?'); i >= 0 && strings.Contains(authority, "@") { // parameters may hold one
		behind = behind[:i]
	}
	if strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "?") { // no host: all is in parameters
		behind = ""
	}
	return strings.Count(authority, "@") > 1 || strings.Contains(behind, "@")
}

// strange says of a database that it holds no store but tables of others; "" if it does not.
func strange(ctx context.Context, at address) string {
	db, err := postgres.Reach(ctx, at.url)
	if err != nil || db.Has || db.Others == 0 {
		return ""
	}
	return fmt.Sprintf("the database %s holds no store of Verbatim, but %s of others: is it the right one? Nothing was changed", at, receipt.Counted(db.Others, "table"))
}

// open opens the store for use.
func (a *app) open(ctx context.Context, flag string) (stores.Store, error) {
	a.stands = flag
	at, err := a.storeAddress(flag)
	if err != nil {
		return nil, err
	}
	if at.url == "" {
		if a.replica != nil {
			return nil, usage("a file has no replica", "leave VERBATIM_REPLICA out")
		}
		if a.reads {
			if err := ofOthers(at); err != nil {
				return nil, err
			}
			if at, err = a.readable(at); err != nil {
				return nil, err
			}
		}
		return a.openFile(ctx, at, false)
	}
	var opts []postgres.Option
	if a.replica != nil {
		opts = append(opts, a.replica)
	}
	if flag == "" || flag == a.env("VERBATIM_STORE") {
		opts = append(opts, postgres.Renew(func() []string { return strings.Fields(a.anew("VERBATIM_STORE")) }))
	}
	store, err := postgres.Open(ctx, at.url, opts...)
	if errors.Is(err, postgres.ErrReplica) {
		return nil, usage(err.Error(), "VERBATIM_REPLICA names a server that follows that of the store, with its role and its database")
	}
	if errors.Is(err, postgres.ErrRole) {
		return nil, &stop{exitUsage, "store-role", fmt.Sprintf("the store %s is opened with a role that could see everything: %s", at, err),
			"name a role that owns no tables and is no superuser; migrate grants it what it needs with --grant-to"}
	}
	if err != nil {
		return nil, broken(fmt.Sprintf("the store %s cannot be opened", at), err, "check the URL, and that the server answers")
	}
	if err := ofThisVersion(ctx, at, store); err != nil {
		return nil, err
	}
	if _, err := store.Identity(ctx); errors.Is(err, stores.ErrSchema) {
		a.strange = strange(ctx, at)
	}
	if a.shares != nil {
		if err := a.byTheStore(ctx, store, a.shares); err != nil {
			_ = store.Close()
			return nil, broken(fmt.Sprintf("the clock of the store %s cannot be read", at), err, "check that the server answers")
		}
	}
	for _, u := range store.Unlocked() {
		if a.shares != nil { // a server's log has one format
			a.shares.Warn("row security", "why", u.Why, "next", toldUnlocked(u))
		} else if !a.examines {
			fmt.Fprintln(a.err, "warning[row-security]: "+u.Why+"; "+toldUnlocked(u))
		}
	}
	return store, nil
}

// ofOthers refuses a file that another application made, which is left as it is.
func ofOthers(at address) error {
	tables := sqlite.Others(at.file)
	if len(tables) == 0 {
		return nil
	}
	return &stop{exitUsage, "no-such-store", fmt.Sprintf("the file %q holds no store of Verbatim, but %s of others, such as %s: is it the right one? Nothing was changed", at.file, receipt.Counted(len(tables), "table"), quoted(tables[0])),
		"check the path; palettes can use tables that are there, once migrate has prepared the file: verbatim help use-your-own-tables"}
}

// toMigrate returns the file that migrate opens, and refuses one of another application of whose tables the palettes
// name none. Where nothing is to be changed, a file of which they name some is copied, since to open it would
// change how it is written.
func (a *app) toMigrate(at address, reg *verbs.Registry, changes bool) (address, error) {
	if at.url != "" {
		return at, nil
	}
	tables := sqlite.Others(at.file)
	if len(tables) == 0 {
		return at, nil
	}
	if !slices.ContainsFunc(reg.Entities(), func(e *verbs.Entity) bool {
		name := strings.ReplaceAll(e.Store.Table, ".", "_") // as a file has it
		return !e.Store.Managed && slices.ContainsFunc(tables, func(t string) bool { return strings.EqualFold(t, name) })
	}) {
		return at, ofOthers(at)
	}
	if changes {
		return at, nil
	}
	return a.aside(at)
}

// readable returns the address of a store that is only to be read. A file that this user may not write
// to, or in a folder where nothing may be written, is copied to a temporary folder, which goes when the
// program ends: SQLite writes beside each file that it opens.
func (a *app) readable(at address) (address, error) {
	if !locked(at.file) {
		return at, nil
	}
	to, err := a.aside(at)
	if err != nil {
		return at, err
	}
	fmt.Fprintf(a.err, "%s may not be written to: a temporary copy of it is read\n", at.file)
	a.copied = true
	return to, nil
}

// aside copies a file to a temporary folder, which goes when the program ends.
func (a *app) aside(at address) (address, error) {
	dir, err := os.MkdirTemp("", "verbatim-")
	if err != nil {
		return at, broken("no temporary folder can be made", err, "let this user write to "+shell(os.TempDir()))
	}
	a.ends = append(a.ends, func() { _ = os.RemoveAll(dir) })
	to := filepath.Join(dir, filepath.Base(at.file))
	if err := copyStill(at.file, to); err != nil {
		return at, usage(fmt.Sprintf("the store %q may not be written to, and cannot be copied: %s", at.file, reason(err)), "let this user read it, and write to "+shell(filepath.Dir(at.file))+": SQLite keeps files beside the store")
	}
	return address{file: to}, nil
}

// locked reports whether a store is there that this user may not write to, as SQLite sees it.
func locked(path string) bool {
	if info, err := os.Stat(path); err != nil || info.Size() == 0 || info.IsDir() {
		return false // openFile says so
	}
	s, err := sqlite.Open(path)
	if err == nil {
		_ = s.Close()
	}
	return errors.Is(err, sqlite.ErrFile) || errors.Is(err, sqlite.ErrFolder)
}

// errMoves says that a store was written to while it was copied.
var errMoves = errors.New("somebody writes to it")

// copyStill copies a store that nobody writes to, with what SQLite keeps beside it.
func copyStill(from, to string) error {
	was := [2]os.FileInfo{}
	for _, last := range [...]bool{false, true} {
		for i, beside := range [...]string{"", "-wal"} {
			is, err := os.Stat(from + beside)
			switch {
			case errors.Is(err, fs.ErrNotExist) && i == 1 && (!last || was[i] == nil):
				continue
			case err != nil:
				return err
			case last && (was[i] == nil || is.Size() != was[i].Size() || !is.ModTime().Equal(was[i].ModTime())):
				return errMoves
			case last:
				continue
			}
			was[i] = is
			if err := copyFile(from+beside, to+beside); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofThisVersion refuses and closes a store of another version of the program. Other problems are
// reported when the store is used.
func ofThisVersion(ctx context.Context, at address, store stores.Store) error {
	var other *stores.VersionError
	if _, err := store.Identity(ctx); !errors.As(err, &other) {
		return nil
	}
	_ = store.Close()
	if other.Old {
		return &stop{exitRefused, "store-version", fmt.Sprintf("the store %s is of the version before this program's. Nothing was changed", at),
			"end the programs of the older version that use it, then: verbatim migrate --store " + shell(at.String())}
	}
	return &stop{exitRefused, "store-version", fmt.Sprintf("the store %s cannot be used: %s. Nothing was changed", at, other),
		"use the version that made it, or load its data into a new store: verbatim migrate --store NEW"}
}

// A preparer is a store that can be migrated and filled.
type preparer interface {
	stores.Store
	Load(ctx context.Context, script string, entities ...*stores.Entity) error
}

// prepare opens the store for migrate.
func (a *app) prepare(ctx context.Context, at address, create bool, grantTo string, opts ...postgres.Option) (preparer, error) {
	if at.url == "" {
		if len(opts) > 0 {
			return nil, usage("the journal of a file has no parts", "leave --cut-journal out; verbatim log export copies a journal")
		}
		if grantTo != "" {
			return nil, usage("a file has no roles to grant anything to", "leave --grant-to out")
		}
		return a.openFile(ctx, at, create)
	}
	store, err := postgres.Open(ctx, at.url, append(opts, postgres.AsOwner(grantTo))...)
	if err != nil {
		return nil, broken(fmt.Sprintf("the store %s cannot be opened", at), err, "check the URL, and that the server answers")
	}
	var other *stores.VersionError
	if _, err := store.Identity(ctx); errors.As(err, &other) && other.Old {
		return store, nil
	}
	if err := ofThisVersion(ctx, at, store); err != nil {
		return nil, err
	}
	return store, nil
}

// damaged reports a store whose file is damaged.
func damaged(path string) error {
	return &stop{exitSystem, "system", fmt.Sprintf("the store %q is damaged", path), "keep a copy of the file as it is, and put the last backup in its place; verbatim log export writes what can still be read of the journal"}
}

// openFile opens a SQLite file. Only migrate creates one: a misspelt path must not become an empty
// database.
func (a *app) openFile(ctx context.Context, at address, create bool, opts ...sqlite.Option) (*sqlite.Store, error) {
	path := at.file
	info, err := os.Stat(path)
	_, nowhere := os.Stat(filepath.Dir(path))
	switch {
	case err == nil && info.IsDir():
		return nil, usage(fmt.Sprintf("the store %q is a directory", path), "give the path of a file")
	case errors.Is(nowhere, fs.ErrNotExist):
		return nil, usage(fmt.Sprintf("there is no folder %q for a store", filepath.Dir(path)), "check the path, or make the folder")
	case errors.Is(err, fs.ErrNotExist) && !create:
		return nil, &stop{exitUsage, "no-such-store", fmt.Sprintf("there is no store %q", path), "verbatim migrate --store " + shell(path) + " makes one; if there was one, put a backup in its place: verbatim help back-up"}
	case err == nil && info.Size() == 0 && !create:
		return nil, &stop{exitUsage, "no-such-store", fmt.Sprintf("the file %q is empty, and no store", path), "check the path; verbatim migrate --store " + shell(path) + " makes it one"}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, usage(fmt.Sprintf("the store %q cannot be read: %s", path, reason(err)), "check the path, and who may read it")
	}
	if !create {
		if err := ofOthers(at); err != nil {
			return nil, err
		}
	}
	made := errors.Is(err, fs.ErrNotExist)
	store, err := sqlite.Open(path, opts...)
	if made && err == nil { // it will hold what people told: whoever else is to read it is let in by hand
		for _, beside := range [...]string{"", "-wal", "-shm"} {
			_ = os.Chmod(path+beside, 0o600)
		}
	}
	switch {
	case errors.Is(err, sqlite.ErrDamaged):
		return nil, damaged(path)
	case errors.Is(err, sqlite.ErrNoDatabase):
		return nil, usage(fmt.Sprintf("%q is no store: %s", path, sqlite.ErrNoDatabase), "name a file that verbatim migrate made, or have it make one at another path")
	case errors.Is(err, sqlite.ErrFile):
		return nil, usage(fmt.Sprintf("the store %q cannot be used: %s", path, sqlite.ErrFile), "let this user read and write it")
	case errors.Is(err, sqlite.ErrFolder):
		return nil, usage(fmt.Sprintf("the store %q cannot be used: %s", path, sqlite.ErrFolder), "let this user write to "+shell(filepath.Dir(path))+": SQLite keeps files beside the store")
	case errors.Is(err, sqlite.ErrDisk):
		return nil, &stop{exitSystem, "system", fmt.Sprintf("the store %q cannot be used: %s", path, sqlite.ErrDisk), "make room on its disk: SQLite keeps files beside the store"}
	case err != nil:
		return nil, broken(fmt.Sprintf("the store %q cannot be opened", path), err, "a store is an SQLite file that verbatim migrate made")
	}
	if err := ofThisVersion(ctx, at, store); err != nil {
		return nil, err
	}
	return store, nil
}
