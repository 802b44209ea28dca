package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/stores/sqlite"
)

func (a *app) storeFlag(cmd *cobra.Command, store *string) {
	cmd.Flags().StringVar(store, "store", "", "where rows are, a `path` or sqlite:PATH (default $VERBATIM_STORE or verbatim.db)")
}

// storePath reads what --store says.
func (a *app) storePath(flag string) (string, error) {
	where := flag
	if where == "" {
		where = a.env("VERBATIM_STORE")
	}
	if where == "" {
		return "verbatim.db", nil
	}
	kind, path, ok := strings.Cut(where, ":")
	switch {
	case !ok || strings.ContainsAny(kind, `/\.`):
		return where, nil
	case kind == "sqlite" && path != "":
		return strings.TrimPrefix(path, "//"), nil
	case kind == "postgres" || kind == "postgresql":
		return "", usage("PostgreSQL is not in this build yet", "use a file: --store verbatim.db")
	}
	return "", usage(fmt.Sprintf("--store does not know %q", kind+":"), "give a path, or sqlite:PATH")
}

// open opens the store. Only migrate makes one: a misspelt path must not
// become an empty database that answers every question with nothing.
func (a *app) open(flag string, create bool) (*sqlite.Store, error) {
	path, err := a.storePath(flag)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, usage(fmt.Sprintf("the store %q is a directory", path), "give the path of a file")
	case errors.Is(err, fs.ErrNotExist) && !create:
		return nil, &stop{exitUsage, "no-such-store", fmt.Sprintf("there is no store %q", path), "verbatim migrate --store " + shell(path) + " makes one"}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, usage(fmt.Sprintf("the store %q cannot be read: %s", path, reason(err)), "check the path, and who may read it")
	}
	store, err := sqlite.Open(path)
	if err != nil {
		return nil, broken(fmt.Sprintf("the store %q cannot be opened", path), err, "a store is an SQLite file that verbatim migrate made")
	}
	return store, nil
}
