package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verbatim/runtime/engine"
	"verbatim/runtime/files/intake"
	"verbatim/runtime/frontends/wire"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/files"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// uploadFlags are the flags of `verbatim upload`.
type uploadFlags struct {
	setup
	files, scan, name, get, to string
}

func uploadCommand(a *app) *cobra.Command {
	var f uploadFlags
	cmd := &cobra.Command{
		Use:   "upload FILE|-",
		Short: "Send a file for a call to use, or get one that a call made",
		Example: `verbatim upload --as clara --scan none passport.pdf
verbatim upload --as clara --get upload://thm7qk2vx9dn4wz8rc5gy3pb6jfe0sau -o answers.xlsx`,
		Long: `Prints the reference, upload://…, that calls of the same person name it by. What it is
is told by what is in it. It cannot be used before a scanner found nothing harmful in it;
--scan none says that nobody looks. Unused, it goes after a week, when verbatim work runs.
A key for s3:// is taken from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.get != "" {
				return a.getFile(cmd.Context(), args, f)
			}
			if err := exactly(1, "one file, or - for standard input")(cmd, args); err != nil {
				return err
			}
			return a.upload(cmd.Context(), args[0], f)
		},
	}
	a.setupFlags(cmd, &f.setup, "the `name` of whoever sends it")
	a.filesFlag(cmd, &f.files)
	cmd.Flags().StringVar(&f.scan, "scan", "", "`who` looks for harm: clamd://HOST:PORT or none (default $VERBATIM_SCAN)")
	cmd.Flags().StringVar(&f.get, "get", "", "give the file of this `reference`, which you sent or a call of yours made")
	cmd.Flags().StringVarP(&f.to, "output", "o", "", "with --get, a `path` for it where nothing is yet (default: standard output)")
	cmd.Flags().StringVar(&f.name, "name", "", "`what` it is called, when that is not the name of FILE")
	return cmd
}

func (a *app) filesFlag(cmd *cobra.Command, where *string) {
	cmd.Flags().StringVar(where, "files", "", "where files are, a `path` or s3://… (default $VERBATIM_FILES or beside the store)")
}

// filesAt returns the location of files: the given one, or a directory next to a SQLite store.
func (a *app) filesAt(flag, store string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if where := a.env("VERBATIM_FILES"); where != "" {
		return where, nil
	}
	at, err := a.storeAddress(store)
	if err != nil {
		return "", err
	}
	if at.url != "" {
		// Not every command that needs files has the flag --files.
		return "", usage("nothing says where files are", "set VERBATIM_FILES to a folder or to s3://BUCKET/PREFIX; verbatim upload, work, backup and restore take --files as well")
	}
	return filesBeside(at.file), nil
}

func (a *app) openFiles(ctx context.Context, where string) (files.Store, error) {
	kept, err := files.Open(ctx, where, a.env)
	if err == nil {
		return kept, nil
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return nil, broken("the place for files "+receipt.Safe(where)+" cannot be opened", err, "check the path, and who may write there")
	}
	return nil, usage("the place for files cannot be used: "+receipt.Safe(err.Error()), "give --files PATH or --files 's3://BUCKET/PREFIX?endpoint=https://HOST:PORT'")
}

// scanner returns the malware scanner. Having none must be said explicitly.
func (a *app) scanner(flag string) (intake.Scanner, error) {
	who := flag
	if who == "" {
		who = a.env("VERBATIM_SCAN")
	}
	if who == "" {
		return nil, usage("nothing says who looks at files for harm", "set VERBATIM_SCAN to clamd://HOST:PORT; none says that nobody does")
	}
	s, err := intake.ReadScanner(who)
	if err != nil {
		by := "--scan"
		if flag == "" {
			by = "VERBATIM_SCAN"
		}
		return nil, usage(fmt.Sprintf("%s is %q: %s", by, who, err), "verbatim upload --help")
	}
	return s, nil
}

func (a *app) upload(ctx context.Context, file string, f uploadFlags) error {
	if f.as = cmp.Or(f.as, a.env("VERBATIM_AS")); f.as == "" {
		return usage("who is sending it?", "verbatim upload --as NAME "+shell(file))
	}
	scanner, err := a.scanner(f.scan)
	if err != nil {
		return err
	}
	reg, err := a.wholePalettes(f.palettes)
	if err != nil {
		return err
	}
	where, err := a.filesAt(f.files, f.store)
	if err != nil {
		return err
	}
	body, name, err := a.body(file)
	if err != nil {
		return err
	}
	defer body.Close()
	if f.name != "" {
		name = f.name
	}
	service, session, end, err := a.filesOf(ctx, f, reg, where)
	if err != nil {
		return err
	}
	defer end()
	service.Scanner = scanner
	// A terminal or a pipe may never end, so an interruption closes it.
	defer context.AfterFunc(ctx, func() { body.Close() })()
	u, err := service.Receive(ctx, session, name, body)
	return a.uploaded(u, err)
}

// filesOf opens the files of a store, and a session; end closes both.
func (a *app) filesOf(ctx context.Context, f uploadFlags, reg *verbs.Registry, where string) (_ *intake.Service, _ *engine.Session, end func(), err error) {
	store, err := a.open(ctx, f.store)
	if err != nil {
		return nil, nil, nil, err
	}
	defer func() {
		if err != nil {
			store.Close()
		}
	}()
	engine, err := a.newEngine(reg, store, nil)
	if err != nil {
		return nil, nil, nil, a.runFailed(err)
	}
	session, err := engine.Session(ctx, f.as)
	if err != nil {
		return nil, nil, nil, a.runFailed(err)
	}
	kept, err := a.openFiles(ctx, where)
	if err != nil {
		return nil, nil, nil, err
	}
	return &intake.Service{Engine: engine, Files: kept, Clock: a.now}, session, func() { kept.Close(); store.Close() }, nil
}

// getFile downloads a file of the principal.
func (a *app) getFile(ctx context.Context, args []string, f uploadFlags) error {
	f.as = cmp.Or(f.as, a.env("VERBATIM_AS"))
	switch {
	case f.as == "":
		return usage("who wants it?", "verbatim upload --as NAME --get "+shell(f.get))
	case len(args) > 0:
		return usage("--get gives a file and sends none", "verbatim upload --get "+shell(f.get))
	}
	reg, err := a.wholePalettes(f.palettes)
	if err != nil {
		return err
	}
	where, err := a.filesAt(f.files, f.store)
	if err != nil {
		return err
	}
	service, session, end, err := a.filesOf(ctx, f, reg, where)
	if err != nil {
		return err
	}
	defer end()
	var content io.ReadCloser
	u, err := session.Uploads().Get(ctx, f.get)
	if err == nil {
		_, content, err = service.Open(ctx, f.get)
	}
	switch {
	case errors.Is(err, stores.ErrNotFound), errors.Is(err, files.ErrNotFound):
		return &stop{exitRefused, "unknown-upload", "there is no such file of yours", "a file that nothing used goes after a week; have it made again"}
	case err != nil:
		return broken("the file could not be read", err, "try again")
	}
	defer content.Close()
	out := a.out
	if f.to != "" {
		to, err := os.OpenFile(f.to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return &stop{exitUsage, "unwritable", fmt.Sprintf("%s cannot be written: %s", quoted(f.to), reason(err)), "name a file that is not there yet"}
		}
		defer to.Close()
		out = to
	}
	if _, err := io.Copy(out, content); err != nil {
		return broken("the file could not be written to its end", err, "try again")
	}
	fmt.Fprintf(a.err, "given    %s, %s, %s\n", u.Name, u.Type, verbs.SizeText(u.Size))
	return nil
}

// body opens the file to upload.
func (a *app) body(file string) (io.ReadCloser, string, error) {
	if file == "-" {
		if c, ok := a.in.(io.ReadCloser); ok {
			return c, "", nil
		}
		return io.NopCloser(a.in), "", nil
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, "", &stop{exitUsage, "no-such-file", fmt.Sprintf("there is no file %s%s", quoted(file), nearFile(file)), "name a file that is there, or - for standard input"}
	case err == nil && info.IsDir():
		return nil, "", &stop{exitUsage, "is-a-directory", fmt.Sprintf("%s is a directory, and one file is sent at a time", quoted(file)), "name a file in it"}
	case err == nil && !info.Mode().IsRegular():
		// A pipe or device may never end, or act when it is opened.
		return nil, "", &stop{exitUsage, "unreadable", fmt.Sprintf("%s is a pipe, a device or a socket", quoted(file)), "name a regular file; what another program writes is read from standard input, with -"}
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(file)
	}
	if err != nil {
		return nil, "", &stop{exitUsage, "unreadable", fmt.Sprintf("%s cannot be read: %s", quoted(file), reason(err)), "check the path, and who may read it"}
	}
	return f, filepath.Base(file), nil
}

// uploaded reports the outcome of an upload.
func (a *app) uploaded(u uploads.Upload, err error) error {
	var refused *intake.Refusal
	switch {
	case errors.As(err, &refused) && refused.Code == intake.CodeNotPermitted:
		return &stop{exitRefused, refused.Code, refused.Text, refused.Next}
	case errors.As(err, &refused):
		return &stop{exitInput, refused.Code, refused.Text, refused.Next}
	case errors.Is(err, files.ErrSent):
		return broken("the file could not be read to its end", errors.Unwrap(err), "nothing was sent; try again")
	case err != nil && (u.ID == "" || u.Verdict == uploads.Pending):
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return a.halted(err)
		}
		return broken("the file could not be kept", err, "send it again")
	case u.Verdict == uploads.Infected:
		return &stop{exitRefused, "upload-harmful", "something harmful was found in the file, and it was not kept", "send another, from a device that was checked"}
	}
	if a.json {
		a.emit(wire.NewUpload(&u))
	} else {
		fmt.Fprintln(a.out, u.Reference())
	}
	looked := "nothing harmful found, scan: " + u.Scanner
	switch {
	case err != nil:
		looked = "not looked at for harm yet, scan: " + u.Scanner + " failed"
	case u.Scanner == intake.NoScanner.String():
		looked = "nobody looked for harm, scan: none"
	}
	fmt.Fprintf(a.err, "sent     %s, %s, %s\n         %s\n         goes unused on %s\n", u.Name, u.Type, verbs.SizeText(u.Size), looked, u.Expires.UTC().Format(time.DateOnly))
	if err != nil {
		fmt.Fprintf(a.err, "verbatim: it cannot be used yet: %s\nnext: check the scanner; verbatim work looks at the file again\n", receipt.Safe(err.Error()))
		return said(exitSystem)
	}
	return nil
}

// keepFiles lets the upload service delete expired files, if this process knows where files are and
// who scans them. A failure is reported, and stops nothing else.
func (a *app) keepFiles(ctx context.Context, engine *engine.Engine, flag, store string, clock func() time.Time) error {
	where, err := a.filesAt(flag, store)
	if err != nil {
		return nil // no location was given, and there may be no files
	}
	if flag == "" && a.env("VERBATIM_FILES") == "" {
		if _, err := os.Stat(where); err != nil {
			return nil // nobody has sent any file
		}
	}
	kept, err := a.openFiles(ctx, where)
	if err != nil {
		return err
	}
	defer kept.Close()
	service := &intake.Service{Engine: engine, Files: kept, Clock: clock}
	if a.env("VERBATIM_SCAN") != "" {
		if service.Scanner, err = a.scanner(""); err != nil {
			return err
		}
	}
	if _, err = service.Housekeep(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintf(a.err, "verbatim: files were not all looked after: %s\n", strings.ReplaceAll(receipt.Safe(err.Error()), "\n", "; "))
	}
	return nil
}
