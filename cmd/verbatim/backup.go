package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"verbatim/stores"
	"verbatim/stores/sqlite"
)

func backupCommand(a *app) *cobra.Command {
	var store string
	cmd := &cobra.Command{
		Use:     "backup FILE",
		Short:   "Copy the store into a new file while others write",
		Example: "verbatim backup monday.db\nverbatim log verify --store monday.db",
		Long: `FILE is the store as it was at one moment, whole by itself. To restore it, stop what uses
the store, remove the store with its -wal and -shm files, and copy FILE to its place; log
verify --since then says whether it is behind a checkpoint. PostgreSQL has pg_dump for this.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "" {
				return usage("where does the backup go?", "verbatim backup FILE")
			}
			return a.backup(cmd.Context(), store, args[0])
		},
	}
	a.storeFlag(cmd, &store)
	return cmd
}

func (a *app) backup(ctx context.Context, store, file string) error {
	at, err := a.storeAddress(store)
	if err != nil {
		return err
	}
	if at.url != "" {
		return usage("a store on PostgreSQL is backed up by PostgreSQL's own programs", "as a superuser, pg_dump --format=custom --file=FILE, and pg_restore to put it back; verbatim help back-up says more")
	}
	s, err := a.openFile(ctx, at, false)
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := s.Identity(ctx); errors.Is(err, stores.ErrSchema) {
		return usage(fmt.Sprintf("%s is no store: verbatim migrate never prepared it", quoted(at.file)), "name the store with --store")
	}
	switch err := s.Backup(ctx, file); {
	case errors.Is(err, os.ErrExist):
		return usage(fmt.Sprintf("the file %s is there already, and was left alone", quoted(file)), "name a file that is not there yet")
	case errors.Is(err, sqlite.ErrDamaged):
		return damaged(at.file)
	case err != nil:
		return broken(fmt.Sprintf("the backup %s could not be written", quoted(file)), err, "check the path, who may write there, and the room that is left")
	}
	fmt.Fprintf(a.out, "backed up: %s\n", file)
	return nil
}
