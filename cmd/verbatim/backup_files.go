package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/files"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// namedFiles lists the files that the rows of a store name.
func namedFiles(ctx context.Context, s stores.Store) (all []uploads.Upload, err error) {
	const page = 500
	for after, more := "", true; more && err == nil; {
		var some []uploads.Upload
		err = s.View(ctx, stores.Scope{All: true}, func(r stores.Reader) (err error) {
			some, err = uploads.Held(ctx, r, after, page)
			return err
		})
		if more = len(some) == page; len(some) > 0 {
			after = some[len(some)-1].Sum
		}
		all = append(all, some...)
	}
	return all, err
}

// A fileCopy copies files between a store's and the folder of its backup.
type fileCopy struct {
	*app
	flags    backupFlags
	from, to string // addresses
	missing  error  // why the files of the store have no address
	back     bool   // from the backup
	put      []files.Name
	kept     files.Store // at to
}

// before copies the files that a store's rows name now, and passes over those that are let go meanwhile.
func (b *fileCopy) before(ctx context.Context, s stores.Store) error {
	if b.flags.withoutFiles {
		return nil
	}
	list, err := namedFiles(ctx, s)
	if err != nil {
		return b.journalFailed(err)
	}
	return b.copy(ctx, list, true)
}

// exactly makes the copy hold the files of a list; when it makes a backup, and no other.
func (b *fileCopy) exactly(ctx context.Context, list []uploads.Upload) error {
	if b.flags.withoutFiles {
		return nil
	}
	err := b.copy(ctx, list, false)
	if err != nil || b.back || b.kept == nil {
		if b.back && err != nil {
			b.undo(ctx)
		}
		return err
	}
	needed := make(map[string]bool, len(list))
	for _, u := range list {
		needed[u.Sum+"-"+u.Kept] = true
	}
	for _, name := range b.put {
		if !needed[name.String()] {
			if err := b.kept.Delete(ctx, name); err != nil {
				return b.filesFailed(b.to, err)
			}
		}
	}
	return nil
}

// undo takes files away that were put back before something failed.
func (b *fileCopy) undo(ctx context.Context) {
	for _, name := range b.put {
		_ = b.kept.Delete(context.WithoutCancel(ctx), name) // one that stays names no row, and is equal to that of the next try
	}
}

// copy copies those files of a list that are not there yet.
func (b *fileCopy) copy(ctx context.Context, list []uploads.Upload, passing bool) error {
	if len(list) == 0 {
		return nil
	}
	if b.missing != nil {
		return b.missing
	}
	if b.back {
		if _, err := os.Stat(b.from); errors.Is(err, fs.ErrNotExist) {
			return &stop{exitUsage, "no-such-file", fmt.Sprintf("the backup names %s, and the folder %s is not there", receipt.Counted(len(list), "file"), quoted(b.from)), "put it beside the backup; --without-files leaves them to other means"}
		}
	}
	from, err := b.openFiles(ctx, b.from)
	if err != nil {
		return err
	}
	defer from.Close()
	if b.kept == nil {
		if b.kept, err = b.openFiles(ctx, b.to); err != nil {
			return err
		}
	}
	total, done := int64(0), int64(0)
	for _, u := range list {
		total += u.Size
	}
	tell := b.far("files", total)
	for _, u := range list {
		name, ok := files.ParseName(u.Sum + "-" + u.Kept)
		if !ok {
			return &stop{exitInput, "journal-broken", "a row names a file that cannot be one", "verbatim log verify says whether somebody changed the store"}
		}
		if info, err := b.kept.Stat(ctx, name); err == nil && info.Size == u.Size {
			continue
		}
		switch err := files.Copy(ctx, from, b.kept, name); {
		case errors.Is(err, files.ErrNotFound) && passing:
		case errors.Is(err, files.ErrNotFound), errors.Is(err, files.ErrCorrupt):
			return &stop{exitSystem, "system", fmt.Sprintf("a file that a row names is missing or damaged in %s: %s", from, name), "put it there from an older backup; --without-files copies the rows alone"}
		case err != nil:
			return b.filesFailed(b.to, err)
		default:
			b.put = append(b.put, name)
		}
		done += u.Size
		tell(done)
	}
	return nil
}

func (b *fileCopy) filesFailed(where string, err error) error {
	return broken(fmt.Sprintf("the files could not be copied to %s", quoted(where)), err, "check the path, who may write there, and the room that is left")
}

// far returns a function that draws on a terminal how far something has come, of a number of bytes, or of
// an unknown number if that is 0.
func (a *app) far(what string, total int64) func(done int64) {
	if a.json || !isTerminal(a.err) {
		return func(int64) {}
	}
	m := &meter{w: a.err, now: a.now, began: a.now()}
	return func(done int64) {
		if !m.due(engine.Progress{Done: int(done), Total: int(total)}, meterPatience) {
			return
		}
		if total == 0 {
			fmt.Fprintf(a.err, "%s: %s\n", what, verbs.SizeText(done))
			return
		}
		tenth := int(done * 10 / total)
		fmt.Fprintf(a.err, "%s: [%s%s] %s of %s\n", what, strings.Repeat("#", tenth), strings.Repeat("-", 10-tenth), verbs.SizeText(done), verbs.SizeText(total))
	}
}

// watchSize tells how large the files in a folder have become, until it is ended.
func (a *app) watchSize(what, dir string) (end func()) {
	tell, over, done := a.far(what, 0), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		again := time.NewTicker(meterPatience)
		defer again.Stop()
		for {
			select {
			case <-over:
				return
			case <-again.C:
			}
			size := int64(0)
			_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // what went away meanwhile counts nothing
				if err == nil && !d.IsDir() {
					if info, err := d.Info(); err == nil {
						size += info.Size()
					}
				}
				return nil
			})
			tell(size)
		}
	}()
	return func() { close(over); <-done }
}
