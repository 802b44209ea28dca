package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
)

// backupFlags are the flags of `verbatim backup` and `verbatim restore`.
type backupFlags struct {
	store, files, since, key string
	withoutFiles             bool
}

func (a *app) backupFlags(cmd *cobra.Command, f *backupFlags) {
	a.storeFlag(cmd, &f.store)
	a.filesFlag(cmd, &f.files)
	cmd.Flags().BoolVar(&f.withoutFiles, "without-files", false, "leave the files to other means, such as a copy of the bucket")
	cmd.Flags().StringVar(&f.since, "since", "", "a `file` with a checkpoint that the journal has to extend")
	cmd.Flags().StringVar(&f.key, "key", "", "the public `key` of whoever signed it")
}

func backupCommand(a *app) *cobra.Command {
	var f backupFlags
	cmd := &cobra.Command{
		Use:     "backup FILE",
		Short:   "Copy the store and its files while others write",
		Example: "verbatim backup monday.db\nverbatim log verify --store monday.db",
		Long: `FILE is the store as it was at one moment, and FILE's name with .files a folder of the files
that its rows name. The journal is verified at once, and with --since against a checkpoint.
verbatim restore puts both back. Of PostgreSQL pg_dump makes it, as a role that row-level
security does not hold: verbatim migrate --roles makes one for that.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "" {
				return usage("where does the backup go?", "verbatim backup FILE")
			}
			return a.backup(cmd.Context(), f, args[0])
		},
	}
	a.backupFlags(cmd, &f)
	return cmd
}

// filesBeside is the folder of the files of a store, or of a backup, that is a file.
func filesBeside(file string) string {
	return strings.TrimSuffix(file, filepath.Ext(file)) + ".files"
}

// backup makes everything in a folder of its own first: FILE appears last, once all of it is whole.
func (a *app) backup(ctx context.Context, f backupFlags, file string) error {
	at, err := a.storeAddress(f.store)
	if err != nil {
		return err
	}
	own := []string{file}
	if !f.withoutFiles {
		own = append(own, filesBeside(file))
	}
	for _, there := range own {
		if _, err := os.Lstat(there); err == nil {
			return usage(fmt.Sprintf("the file %s is there already, and was left alone", quoted(there)), "name a file that is not there yet")
		}
	}
	c, err := a.copies(ctx, at)
	if err != nil {
		return err
	}
	defer c.Close()
	unwritten := func(err error) error {
		return broken(fmt.Sprintf("the backup %s could not be written", quoted(file)), err, "check the path, who may write there, and the room that is left")
	}
	dir, err := os.MkdirTemp(filepath.Dir(file), ".backup-*")
	if err != nil {
		return unwritten(err)
	}
	defer os.RemoveAll(dir)
	b := fileCopy{app: a, flags: f, to: filepath.Join(dir, "files")}
	if b.from, err = a.filesAt(f.files, f.store); err != nil {
		b.missing = err // which matters if a row names a file
	}
	// Files can be let go while the store is copied. So they are copied before it, and those that came
	// meanwhile after it.
	if err := b.before(ctx, c.Store); err != nil {
		return err
	}
	part := filepath.Join(dir, "store", filepath.Base(file))
	if err := os.Mkdir(filepath.Dir(part), 0o700); err != nil {
		return unwritten(err)
	}
	end := a.watchSize("database", filepath.Dir(part))
	err = c.write(ctx, part)
	end()
	switch {
	case errors.Is(err, sqlite.ErrDamaged):
		return damaged(at.file)
	case err != nil && at.url != "":
		return notDumped(err, file)
	case err != nil:
		return unwritten(err)
	}
	needs, err := c.names(ctx, part)
	if err != nil {
		return unwritten(err)
	}
	if err := b.exactly(ctx, needs); err != nil {
		return err
	}
	if err := c.verify(ctx, part, f); err != nil {
		return err
	}
	if len(needs) > 0 && !f.withoutFiles {
		if err := os.Rename(b.to, filesBeside(file)); err != nil {
			return unwritten(err)
		}
	}
	if err := os.Link(part, file); err != nil && !errors.Is(err, os.ErrExist) { // some file systems have no links
		err = os.Rename(part, file)
		if err != nil {
			return unwritten(err)
		}
	} else if err != nil { // another backup was faster
		return notDumped(err, file)
	}
	if err := syncFolder(filepath.Dir(file)); err != nil {
		return unwritten(err)
	}
	a.copiedTo("backed up", file, &b, needs)
	return nil
}

// copiedTo says what was backed up or restored.
func (a *app) copiedTo(did, file string, b *fileCopy, needs []uploads.Upload) {
	if !a.json {
		fmt.Fprintf(a.out, "%s: %s%s\n", did, file, b.told(needs))
		return
	}
	files, size := len(needs), int64(0)
	for _, u := range needs {
		size += u.Size
	}
	if b.flags.withoutFiles {
		files, size = 0, 0
	}
	a.emit(struct {
		Schema string `json:"schema"`
		Did    string `json:"did"`
		File   string `json:"file"`
		Files  int    `json:"files"`
		Bytes  int64  `json:"bytes"` // of the files
	}{"verbatim/backup@1", did, file, files, size})
}

// A copied is a store of which a backup is made.
type copied struct {
	stores.Store
	write  func(ctx context.Context, part string) error                     // writes it into a new file
	names  func(ctx context.Context, part string) ([]uploads.Upload, error) // lists the files that the rows in it name
	verify func(ctx context.Context, part string, f backupFlags) error
}

func (a *app) copies(ctx context.Context, at address) (*copied, error) {
	if at.url != "" {
		db, err := dumpable(ctx, at.url)
		if err != nil {
			return nil, notDumped(err, "")
		}
		s, err := postgres.Open(ctx, at.url, postgres.AsOwner(""))
		if err != nil {
			return nil, broken(fmt.Sprintf("the store %s cannot be opened", at), err, "check the URL, and that the server answers")
		}
		return &copied{s,
			func(ctx context.Context, part string) error { return dump(ctx, at.url, db, part) },
			func(ctx context.Context, part string) ([]uploads.Upload, error) { return filesOfDump(ctx, db, part) },
			func(ctx context.Context, _ string, f backupFlags) error { // a dump has no journal that can be read
				return (&verifying{app: a, opened: s}).verify(ctx, "", "", f.since, f.key, nil)
			}}, nil
	}
	s, err := a.openFile(ctx, at, false)
	if err != nil {
		return nil, err
	}
	if _, err := s.Identity(ctx); errors.Is(err, stores.ErrSchema) {
		s.Close()
		return nil, usage(fmt.Sprintf("%s is no store: verbatim migrate never prepared it", quoted(at.file)), "name the store with --store")
	}
	if err := s.Seal(ctx); err != nil { // so that all that was committed before can be verified
		s.Close()
		return nil, a.journalFailed(err)
	}
	return &copied{s, s.Backup,
		func(ctx context.Context, part string) ([]uploads.Upload, error) {
			copy, err := a.openFile(ctx, address{file: part}, false)
			if err != nil {
				return nil, err
			}
			defer copy.Close()
			return namedFiles(ctx, copy)
		},
		func(ctx context.Context, part string, f backupFlags) error {
			copy, err := a.openFile(ctx, address{file: part}, false)
			if err != nil {
				return err
			}
			defer copy.Close()
			return (&verifying{app: a, opened: copy}).verify(ctx, "", "", f.since, f.key, nil)
		}}, nil
}

func restoreCommand(a *app) *cobra.Command {
	var f backupFlags
	cmd := &cobra.Command{
		Use:     "restore FILE",
		Short:   "Put a backup back where no store is",
		Example: "verbatim restore monday.db --store restored.db",
		Long: `A file becomes the store if it verifies: --since is a checkpoint that it must not be behind. On
PostgreSQL FILE goes into an empty database, as a superuser, so that owners and rights come
back too: then verbatim migrate --check and doctor, as the role of runs. The folder of files
beside FILE goes where --files says.`,
		Args: exactly(1, "the backup"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.restore(cmd.Context(), f, args[0])
		},
	}
	a.backupFlags(cmd, &f)
	return cmd
}

// noBackup says why a file cannot be put back, by its first bytes; nil if it may be.
func noBackup(file string, database bool) error {
	f, err := os.Open(file)
	if err != nil {
		return notDumped(err, file)
	}
	defer f.Close()
	head := make([]byte, len("SQLite format 3\x00"))
	n, err := io.ReadFull(f, head)
	next := "name a file that verbatim backup made"
	no := func(what string) error {
		return &stop{exitUsage, "no-backup", fmt.Sprintf("the file %s is %s", quoted(file), what), next}
	}
	dumped := strings.HasPrefix(string(head[:n]), "PGDMP")
	switch {
	case n == 0:
		return no("empty, and no backup")
	case dumped && !database:
		next = "give --store postgres://… of an empty database, as a superuser"
		return no("a backup of a PostgreSQL database, and --store is a file")
	case err == nil && string(head) == "SQLite format 3\x00" && database:
		next = "restore it into a file, and move that: verbatim migrate --from FILE"
		return no("a backup of a store that is a file, and --store is a database")
	case !dumped && string(head) != "SQLite format 3\x00":
		return no("no backup")
	}
	return nil
}

func (a *app) restore(ctx context.Context, f backupFlags, file string) error {
	at, err := a.storeAddress(f.store)
	if err != nil {
		return err
	}
	if err := noBackup(file, at.url != ""); err != nil {
		return err
	}
	b := fileCopy{app: a, flags: f, from: filesBeside(file), back: true}
	if b.to, err = a.filesAt(f.files, f.store); err != nil {
		b.missing = err
	}
	if at.url != "" {
		return a.restoreDatabase(ctx, at, b, file)
	}
	for _, beside := range []string{"", "-wal", "-shm"} {
		if _, err := os.Lstat(at.file + beside); err == nil {
			return &stop{exitRefused, "not-empty", fmt.Sprintf("the file %s is there already, and was left alone", quoted(at.file+beside)), "stop what uses it, and move it away with its -wal and -shm files"}
		}
	}
	unwritten := func(err error) error {
		return broken(fmt.Sprintf("the store %s could not be written", quoted(at.file)), err, "check the path, who may write there, and the room that is left")
	}
	dir, err := os.MkdirTemp(filepath.Dir(at.file), ".restore-*")
	if err != nil {
		return unwritten(err)
	}
	defer os.RemoveAll(dir)
	part := filepath.Join(dir, filepath.Base(at.file))
	if err := copyFile(file, part); err != nil {
		return unwritten(err)
	}
	if err := a.logVerify(ctx, part, "", "", f.since, f.key, nil); err != nil {
		return ofBackup(err, part, file)
	}
	s, err := a.openFile(ctx, address{file: part}, false)
	if err != nil {
		return ofBackup(err, part, file)
	}
	needs, err := namedFiles(ctx, s)
	if err = errors.Join(err, s.Close()); err != nil {
		return unwritten(err)
	}
	if err := b.exactly(ctx, needs); err != nil {
		return err
	}
	if err := os.Rename(part, at.file); err != nil {
		b.undo(ctx)
		return unwritten(err)
	}
	if err := syncFolder(filepath.Dir(at.file)); err != nil {
		return unwritten(err)
	}
	a.copiedTo("restored", at.file, &b, needs)
	return nil
}

// ofBackup names the backup in an error about the copy of it that was tried.
func ofBackup(err error, part, file string) error {
	var s *stop
	if !errors.As(err, &s) {
		return err
	}
	of := *s
	of.text, of.next = strings.ReplaceAll(s.text, part, file), strings.ReplaceAll(s.next, part, file)
	return &of
}

// restoreDatabase puts files back before rows, so that no row names a file that is not there.
func (a *app) restoreDatabase(ctx context.Context, at address, b fileCopy, file string) error {
	db, err := restorable(ctx, at.url, file)
	if err != nil {
		return notDumped(err, file)
	}
	needs, err := filesOfDump(ctx, db, file)
	if err != nil {
		return notDumped(err, file)
	}
	drop, err := postgres.Undo(ctx, at.url)
	if err != nil {
		return notDumped(err, file)
	}
	if err := b.exactly(ctx, needs); err != nil {
		return err
	}
	if err := undump(ctx, db, file); err != nil {
		b.undo(ctx)
		return notDumped(err, file)
	}
	if err := a.verifyRestored(ctx, at, b.flags); err != nil {
		undoing, cancel := stores.Detached(ctx)
		defer cancel()
		if left := drop(undoing); left != nil { // the files of its rows stay with it
			return errors.Join(err, broken(fmt.Sprintf("it was restored into %s all the same, and could not be taken away", at), left, "drop that database, and make it anew"))
		}
		b.undo(undoing)
		return err
	}
	a.copiedTo("restored", file, &b, needs)
	if !db.Super {
		fmt.Fprintln(a.err, "warning[row-security]: whoever restored is no superuser, so rights that were taken away are there again: queries of palettes may choose whose rows they see; verbatim migrate --roles NAME as a superuser takes them away, and verbatim doctor names them")
	}
	return nil
}

// verifyRestored verifies a database that was restored.
func (a *app) verifyRestored(ctx context.Context, at address, f backupFlags) error {
	s, err := postgres.Open(ctx, at.url, postgres.AsOwner(""))
	if err != nil {
		return broken(fmt.Sprintf("the store %s cannot be opened", at), err, "check the URL, and that the server answers")
	}
	defer s.Close()
	return (&verifying{app: a, opened: s}).verify(ctx, "", "", f.since, f.key, nil)
}

// told says how many files went with a store.
func (b *fileCopy) told(needs []uploads.Upload) string {
	size := int64(0)
	for _, u := range needs {
		size += u.Size
	}
	switch {
	case len(needs) == 0:
		return ""
	case b.flags.withoutFiles:
		return ", without its " + receipt.Counted(len(needs), "file")
	}
	return ", with " + receipt.Counted(len(needs), "file") + " (" + verbs.SizeText(size) + ")"
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

// syncFolder makes the names in a folder survive a power cut.
func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	err = errors.Join(dir.Sync(), dir.Close())
	if errors.Is(err, fs.ErrInvalid) { // some file systems have no such thing
		return nil
	}
	return err
}
