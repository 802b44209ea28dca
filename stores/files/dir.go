package files

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Dir keeps files in a directory.
type Dir struct {
	path string
	disk disk

	mu sync.Mutex
	// firm are the folders that this process knows to survive a power failure: another process
	// may have just made one and not flushed it.
	firm map[string]bool
}

// OpenDir opens a directory, and creates it if it does not exist.
func OpenDir(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// The parents of a new directory are flushed too, up to one that existed.
	var made []string
	for p := path; ; p = filepath.Dir(p) {
		if _, err := os.Stat(p); !errors.Is(err, fs.ErrNotExist) || p == filepath.Dir(p) {
			break
		}
		made = append(made, filepath.Dir(p))
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	for _, p := range made {
		d, err := os.Open(p)
		if err != nil {
			return nil, err
		}
		err = d.Sync()
		d.Close()
		if err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Dir{path: path, disk: &rooted{root}, firm: make(map[string]bool)}, nil
}

// String returns the path.
func (d *Dir) String() string { return d.path }

// Close implements Store.
func (d *Dir) Close() error { return d.disk.close() }

// incoming is the prefix of the names of files that are being received.
const incoming = "in-"

// Take implements Store.
func (d *Dir) Take(ctx context.Context, r io.Reader, limit int64) (*Taken, error) {
	beside := incoming + rand.Text()
	f, err := d.disk.create(beside)
	if err != nil {
		return nil, err
	}
	drop := func() {
		f.Close()
		_ = d.disk.remove(beside) // Tidy removes what stays behind
	}
	t := &Taken{}
	err = take(ctx, t, f, r, limit)
	if err == nil {
		// Flush it before it has its name: a name must never lead to less than the whole file.
		err = f.Sync()
	}
	if err != nil {
		drop()
		return nil, err
	}
	t.drop = drop
	t.keep = func(ctx context.Context, t *Taken, name Name) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		folder, file := place(name)
		if err := d.folder(folder); err != nil {
			return err
		}
		if err := d.disk.rename(beside, file); err != nil {
			return err
		}
		t.drop = func() { f.Close() }
		t.keep = func(context.Context, *Taken, Name) error { return d.disk.flush(folder) } // the rest of it, when it failed
		return d.disk.flush(folder)
	}
	return t, nil
}

// place returns the folder and file name of a name.
func place(name Name) (folder, file string) {
	text := name.String()
	return text[:2], text[:2] + "/" + text
}

// folder makes a folder that survives a power failure.
func (d *Dir) folder(folder string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.firm[folder] {
		return nil
	}
	if err := d.disk.mkdir(folder); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := d.disk.flush("."); err != nil {
		return err
	}
	d.firm[folder] = true
	return nil
}

// Open implements Store.
func (d *Dir) Open(ctx context.Context, name Name, from, n int64) (io.ReadCloser, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	_, file := place(name)
	f, err := d.disk.open(file)
	if err != nil {
		return nil, missing(err)
	}
	if from <= 0 && n < 0 {
		return check(&until{f, ctx}, name.Sum), nil
	}
	if n < 0 {
		n = 1<<63 - 1 - from
	}
	return &part{io.NewSectionReader(f, from, n), &until{f, ctx}}, nil
}

// An until is a file that is not read any further once a context has ended.
type until struct {
	file
	ctx context.Context
}

func (u *until) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.file.Read(b)
}

type part struct {
	*io.SectionReader
	of *until
}

func (p *part) Read(b []byte) (int, error) {
	if err := p.of.ctx.Err(); err != nil {
		return 0, err
	}
	return p.SectionReader.Read(b)
}

func (p *part) Close() error { return p.of.Close() }

func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	return err
}

// Stat implements Store.
func (d *Dir) Stat(ctx context.Context, name Name) (Info, error) {
	if err := ctx.Err(); err != nil {
		return Info{}, err
	}
	_, file := place(name)
	info, err := d.disk.stat(file)
	if err != nil {
		return Info{}, missing(err)
	}
	return Info{name, info.Size()}, nil
}

// Delete implements Store.
func (d *Dir) Delete(ctx context.Context, name Name) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, file := place(name)
	if err := d.disk.remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// List implements Store. Files that a person put into the directory are not listed.
func (d *Dir) List(ctx context.Context, after Name, n int) ([]Info, error) {
	var all []Info
	spelt := after.String()
	if after == (Name{}) {
		spelt = ""
	}
	folders, err := d.disk.list(".")
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		if !unhex(make([]byte, 1), folder) || len(spelt) > 2 && folder < spelt[:2] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		names, err := d.disk.list(folder)
		if err != nil {
			return nil, err
		}
		for _, text := range names {
			name, ok := ParseName(text)
			if !ok || text[:2] != folder || text <= spelt {
				continue
			}
			info, err := d.Stat(ctx, name)
			if errors.Is(err, ErrNotFound) {
				continue // it was deleted meanwhile
			}
			if err != nil {
				return nil, err
			}
			if all = append(all, info); len(all) == n {
				return all, nil
			}
		}
	}
	return all, nil
}

// Tidy implements Store.
func (d *Dir) Tidy(ctx context.Context, before time.Time) (n int, err error) {
	names, err := d.disk.list(".")
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, incoming) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return n, err
		}
		// A file that is still being written was changed a moment ago.
		info, err := d.disk.stat(name)
		if err != nil || !info.ModTime().Before(before) {
			continue
		}
		if err := d.disk.remove(name); err == nil {
			n++
		} else if !errors.Is(err, fs.ErrNotExist) {
			return n, err
		}
	}
	return n, nil
}

// A disk is what a Dir needs of a file system, so that tests can make each step fail and see what
// would survive a power failure after it.
type disk interface {
	create(name string) (file, error) // new, for its owner only
	open(name string) (file, error)
	stat(name string) (fs.FileInfo, error)
	mkdir(name string) error
	rename(from, to string) error
	remove(name string) error
	list(folder string) ([]string, error) // sorted
	flush(folder string) error            // the names that it holds
	close() error
}

type file interface {
	io.ReadWriteCloser
	io.ReaderAt
	Sync() error
}

// rooted is a directory of the operating system.
type rooted struct{ root *os.Root }

func (r *rooted) create(name string) (file, error) {
	return r.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

func (r *rooted) open(name string) (file, error) {
	f, err := r.root.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s is not a file", name)
	}
	return f, nil
}

func (r *rooted) stat(name string) (fs.FileInfo, error) { return r.root.Lstat(name) }
func (r *rooted) mkdir(name string) error               { return r.root.Mkdir(name, 0o700) }
func (r *rooted) rename(from, to string) error          { return r.root.Rename(from, to) }
func (r *rooted) remove(name string) error              { return r.root.Remove(name) }
func (r *rooted) close() error                          { return r.root.Close() }

func (r *rooted) list(folder string) ([]string, error) {
	f, err := r.root.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func (r *rooted) flush(folder string) error {
	f, err := r.root.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
