package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
		Long: `FILE is the store as it was at one moment, whole by itself; verbatim restore puts it back. Of
PostgreSQL pg_dump makes it, as a role that row-level security does not hold: a superuser,
or one made for it, as verbatim help back-up says.`,
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
		if err := dump(ctx, at.url, file); err != nil {
			return notDumped(err, file)
		}
		fmt.Fprintf(a.out, "backed up: %s\n", file)
		return nil
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

func restoreCommand(a *app) *cobra.Command {
	var store, since, key string
	cmd := &cobra.Command{
		Use:     "restore FILE",
		Short:   "Put a backup back where no store is",
		Example: "verbatim restore monday.db --store restored.db",
		Long: `A file becomes the store if it verifies: --since is a checkpoint that it must not be behind. On
PostgreSQL FILE goes into an empty database, as a superuser, so that owners and rights come
back too: then verbatim migrate --check, doctor and log verify, as the role of runs.`,
		Args: exactly(1, "the backup"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.restore(cmd.Context(), store, args[0], since, key)
		},
	}
	a.storeFlag(cmd, &store)
	cmd.Flags().StringVar(&since, "since", "", "a `file` with a checkpoint that the store has to extend")
	cmd.Flags().StringVar(&key, "key", "", "the public `key` of whoever signed it")
	return cmd
}

func (a *app) restore(ctx context.Context, store, file, since, key string) error {
	at, err := a.storeAddress(store)
	if err != nil {
		return err
	}
	if at.url != "" {
		if since != "" {
			return usage("--since is for files", "verbatim log verify --since, as the role of runs, when it is restored")
		}
		if err := undump(ctx, at.url, file); err != nil {
			return notDumped(err, file)
		}
		fmt.Fprintf(a.out, "restored: %s\n", file)
		return nil
	}
	for _, beside := range []string{"", "-wal", "-shm"} {
		if _, err := os.Lstat(at.file + beside); err == nil {
			return &stop{exitRefused, "not-empty", fmt.Sprintf("the file %s is there already, and was left alone", quoted(at.file+beside)), "stop what uses it, and move it away with its -wal and -shm files"}
		}
	}
	if err := copyFile(file, at.file); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return notDumped(err, file)
		}
		return broken(fmt.Sprintf("the store %s could not be written", quoted(at.file)), err, "check the path, who may write there, and the room that is left")
	}
	if err := a.logVerify(ctx, store, "", "", since, key, nil); err != nil {
		for _, left := range []string{"", "-wal", "-shm"} {
			os.Remove(at.file + left) // the backup is where it was, and the next may fit
		}
		return err
	}
	fmt.Fprintf(a.out, "restored: %s\n", at.file)
	return nil
}

// copyFile copies a file into one that does not exist, and flushes it.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err != nil {
		os.Remove(to)
	}
	return err
}
