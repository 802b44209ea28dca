package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func openDir(t testing.TB) *Dir {
	t.Helper()
	d, err := OpenDir(filepath.Join(t.TempDir(), "deep", "files"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestDir(t *testing.T) {
	t.Parallel()
	suite(t, func(t testing.TB) Store { return openDir(t) })
}

// Nobody else on the machine reads what people send.
func TestDirIsItsOwners(t *testing.T) {
	t.Parallel()
	d := openDir(t)
	keep(t, d, noise(10), 1)
	taken, err := d.Take(context.Background(), strings.NewReader("x"), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Drop()
	seen := 0
	err = filepath.WalkDir(d.path, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		seen++
		return err
	})
	if err != nil || seen != 4 {
		t.Fatal(seen, err)
	}
}

// A link that somebody put there does not lead outside (SAFE-H7).
func TestDirDoesNotLeaveItself(t *testing.T) {
	t.Parallel()
	d := openDir(t)
	body := []byte("outside")
	name := keep(t, d, body, 1)
	folder, file := place(name)
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, filepath.Base(file)), body, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(d.path, folder)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Join(d.path, folder)); err != nil {
		t.Fatal(err)
	}
	if r, err := d.Open(context.Background(), name, 0, -1); err == nil {
		r.Close()
		t.Fatal("it was read outside")
	}
	taken, err := d.Take(context.Background(), bytes.NewReader(body), 10)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Drop()
	if err := taken.Keep(context.Background(), name); err == nil {
		t.Fatal("it was kept outside")
	}
	if err := d.Delete(context.Background(), name); err == nil {
		t.Fatal("it was deleted outside")
	}
}

// A file that was spoilt on the disk is never handed out as what it was.
func TestDirNoticesDamage(t *testing.T) {
	t.Parallel()
	d := openDir(t)
	body := noise(100_000)
	name := keep(t, d, body, 1)
	_, file := place(name)
	path := filepath.Join(d.path, file)
	for what, spoil := range map[string]func() error{
		"a byte": func() error { return os.WriteFile(path, append([]byte{body[0] ^ 1}, body[1:]...), 0o600) },
		"short":  func() error { return os.Truncate(path, 99_999) },
		"long":   func() error { return os.WriteFile(path, append(bytes.Clone(body), 0), 0o600) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		r, err := d.Open(context.Background(), name, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(r); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
		r.Close()
		// Whoever sends it again heals it.
		keep(t, d, body, 1)
		if !bytes.Equal(all(t, d, name, 0, -1), body) {
			t.Errorf("%s: it was not healed", what)
		}
	}
}

// What a writer that died left behind goes, and what is being written stays.
func TestDirTidies(t *testing.T) {
	t.Parallel()
	d := openDir(t)
	old := filepath.Join(d.path, incoming+"left")
	if err := os.WriteFile(old, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	yesterday := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(old, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	taken, err := d.Take(context.Background(), strings.NewReader("x"), 1)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := d.Tidy(context.Background(), time.Now().Add(-time.Hour)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if err := taken.Keep(context.Background(), Name{Sum: taken.Sum}); err != nil {
		t.Fatal(err)
	}
}

// A ledger is a disk that fails the n-th step, and knows what a power failure
// would leave: what a file held when it was last flushed, and which names a
// folder had when it was.
type ledger struct {
	disk
	mu      sync.Mutex
	steps   int
	fails   int // the step that fails; 0 for none
	with    error
	flushed map[string]bool // files, by their name at first: whole on the disk
	named   map[string]string
	firm    map[string]bool // folders whose names outlive a power failure
	made    map[string]bool
	broken  []string
}

func watch(d *Dir, fails int, with error) *ledger {
	l := &ledger{disk: d.disk, fails: fails, with: with, flushed: map[string]bool{}, named: map[string]string{}, firm: map[string]bool{}, made: map[string]bool{}}
	d.disk = l
	return l
}

func (l *ledger) step() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.steps++; l.steps == l.fails {
		return l.with
	}
	return nil
}

func (l *ledger) create(name string) (file, error) {
	if err := l.step(); err != nil {
		return nil, err
	}
	f, err := l.disk.create(name)
	return &ledgerFile{f, l, name}, err
}

func (l *ledger) mkdir(name string) error {
	if err := l.step(); err != nil {
		return err
	}
	l.made[name] = true
	return l.disk.mkdir(name)
}

func (l *ledger) rename(from, to string) error {
	if err := l.step(); err != nil {
		return err
	}
	if !l.flushed[from] {
		l.broken = append(l.broken, "a name leads to what was not flushed")
	}
	if l.made[to[:2]] && !l.firm[to[:2]] {
		l.broken = append(l.broken, "a file went into a folder that may be gone after a power failure")
	}
	l.named[to] = from
	return l.disk.rename(from, to)
}

func (l *ledger) remove(name string) error {
	if err := l.step(); err != nil {
		return err
	}
	return l.disk.remove(name)
}

func (l *ledger) flush(folder string) error {
	if err := l.step(); err != nil {
		return err
	}
	if folder == "." {
		for name := range l.made {
			l.firm[name] = true
		}
	}
	for to := range l.named {
		if strings.HasPrefix(to, folder+"/") {
			delete(l.named, to)
		}
	}
	return l.disk.flush(folder)
}

type ledgerFile struct {
	file
	l    *ledger
	name string
}

func (f *ledgerFile) Write(b []byte) (int, error) {
	if err := f.l.step(); err != nil {
		n, _ := f.file.Write(b[:len(b)/2]) // the disk is full in the middle
		return n, err
	}
	f.l.flushed[f.name] = false
	return f.file.Write(b)
}

func (f *ledgerFile) Sync() error {
	if err := f.l.step(); err != nil {
		return err
	}
	f.l.flushed[f.name] = true
	return f.file.Sync()
}

// Whatever step of keeping a file fails, and with whatever, nobody sees a file
// that is not whole; and when Keep has said yes, a power failure takes nothing
// (SAFE-R3, for files).
func TestDirEveryStepFails(t *testing.T) {
	t.Parallel()
	body := noise(3*bufferSize + 5)
	for _, with := range []error{syscall.ENOSPC, syscall.EIO} {
		for n := 1; ; n++ {
			d := openDir(t)
			l := watch(d, n, with)
			done := func() error {
				taken, err := d.Take(context.Background(), bytes.NewReader(body), int64(len(body)))
				if err != nil {
					return err
				}
				defer taken.Drop()
				return taken.Keep(context.Background(), Name{Sum: taken.Sum})
			}()
			if len(l.broken) > 0 {
				t.Fatalf("step %d: %v", n, l.broken)
			}
			if done == nil && len(l.named) > 0 {
				t.Fatalf("step %d: kept, and a power failure would take it", n)
			}
			if done != nil && !errors.Is(done, with) {
				t.Fatalf("step %d: %v", n, done)
			}
			list, err := d.List(context.Background(), Name{}, 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, info := range list {
				if !bytes.Equal(all(t, d, info.Name, 0, -1), body) {
					t.Fatalf("step %d: half a file is seen", n)
				}
			}
			if done == nil && len(list) != 1 {
				t.Fatalf("step %d: kept, and not there", n)
			}
			// It can be sent again, and then it is kept.
			l.fails = 0
			if name := keep(t, d, body, 0); !bytes.Equal(all(t, d, name, 0, -1), body) {
				t.Fatalf("step %d: it was not kept the second time", n)
			}
			if n > l.steps {
				t.Fatal("the count of steps is wrong")
			}
			if done == nil && len(list) == 1 && n > 12 {
				break // every step was reached
			}
		}
	}
}

// Processes that are killed while they write leave nothing that is seen, and many
// that keep the same bytes at once keep one file.
func TestDirIsSharedByProcesses(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv("FILES_CHILD"); dir != "" {
		child(dir)
		return
	}
	d := openDir(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for i := range 12 {
		group.Go(func() {
			cmd := exec.Command(self, "-test.run=^TestDirIsSharedByProcesses$")
			cmd.Env = append(os.Environ(), "FILES_CHILD="+d.path)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Error(err)
				return
			}
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			// It tells of each file that it has kept; it is killed after the i-th
			// word, in the middle of the next.
			for range i {
				var word string
				if _, err := fmt.Fscan(out, &word); err != nil {
					t.Error(err)
					break
				}
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
	group.Wait()
	list, err := d.List(context.Background(), Name{}, 1000)
	if err != nil || len(list) < 3 || len(list) > len(childBodies) {
		t.Fatalf("%d files: %v", len(list), err)
	}
	for _, info := range list {
		all(t, d, info.Name, 0, -1) // it is whole, or reading it fails
	}
	if _, err := d.Tidy(context.Background(), time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(d.path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if !e.IsDir() {
			t.Errorf("%s was left", e.Name())
		}
	}
}

var childBodies = []int{1, 70_000, 300_000, 2, 1_000_000}

// child keeps the same few files again and again until it is killed.
func child(dir string) {
	d, err := OpenDir(dir)
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		body := noise(childBodies[i%len(childBodies)])
		taken, err := d.Take(context.Background(), bytes.NewReader(body), 1<<20)
		if err != nil {
			panic(err)
		}
		if err := taken.Keep(context.Background(), Name{Sum: taken.Sum}); err != nil {
			panic(err)
		}
		fmt.Println("kept")
	}
}

// Only what String writes is a name, and nothing that is one leads anywhere.
func FuzzParseName(f *testing.F) {
	f.Add(Name{Sum: Sum{1, 2}, Tag: Tag{3}}.String())
	f.Add("../../etc/passwd")
	f.Add(strings.Repeat("A", 64) + "-" + strings.Repeat("0", 16))
	f.Fuzz(func(t *testing.T, text string) {
		name, ok := ParseName(text)
		if !ok {
			if name != (Name{}) {
				t.Fatal("half a name")
			}
			return
		}
		if name.String() != text {
			t.Fatalf("%q is spelt %q", text, name)
		}
		folder, file := place(name)
		if !filepath.IsLocal(file) || filepath.Dir(file) != folder || strings.ContainsAny(folder, `./\`) {
			t.Fatal(file)
		}
	})
}

// However the bytes come, the limit is kept, and what is taken is what was sent.
func FuzzTake(f *testing.F) {
	f.Add([]byte("hello"), int64(5), uint8(1))
	f.Add([]byte("hello"), int64(4), uint8(3))
	f.Add([]byte{}, int64(0), uint8(0))
	f.Fuzz(func(t *testing.T, body []byte, limit int64, step uint8) {
		limit = min(max(limit, 0), 1<<20)
		var out bytes.Buffer
		taken := &Taken{}
		err := take(context.Background(), taken, &out, &stepped{body, int(step)}, limit)
		switch {
		case int64(len(body)) > limit:
			if !errors.Is(err, ErrTooLarge) || int64(out.Len()) > limit {
				t.Fatal(err, out.Len())
			}
		case len(body) == 0:
			if !errors.Is(err, ErrEmpty) {
				t.Fatal(err)
			}
		case err != nil || !bytes.Equal(out.Bytes(), body) || taken.Size != int64(len(body)) || !bytes.Equal(taken.Head, body[:min(len(body), HeadSize)]):
			t.Fatal(err)
		}
	})
}

type stepped struct {
	left []byte
	step int
}

func (s *stepped) Read(b []byte) (int, error) {
	if len(s.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), s.step+1)], s.left)
	s.left = s.left[n:]
	return n, nil
}

// The memory that a file takes does not depend on its size.
func BenchmarkDir(b *testing.B) {
	for _, size := range []int64{4 << 10, 1 << 20, 1 << 30} {
		b.Run(fmt.Sprintf("take and keep/%d", size), func(b *testing.B) {
			d := openDir(b)
			b.SetBytes(size)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				taken, err := d.Take(context.Background(), io.LimitReader(forever{}, size), size)
				if err != nil {
					b.Fatal(err)
				}
				if err := taken.Keep(context.Background(), Name{taken.Sum, Tag{byte(i)}}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("open and read/%d", size), func(b *testing.B) {
			d := openDir(b)
			taken, err := d.Take(context.Background(), io.LimitReader(forever{}, size), size)
			if err != nil {
				b.Fatal(err)
			}
			name := Name{Sum: taken.Sum}
			if err := taken.Keep(context.Background(), name); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(size)
			b.ReportAllocs()
			buf := make([]byte, bufferSize)
			for b.Loop() {
				r, err := d.Open(context.Background(), name, 0, -1)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.CopyBuffer(io.Discard, struct{ io.Reader }{r}, buf); err != nil {
					b.Fatal(err)
				}
				r.Close()
			}
		})
	}
}
