package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"syscall"
	"testing"

	"verbatim/stores"
)

// A store that this user may not use is refused when it is opened, and each refusal says
// which right is missing.
func TestStoresThatThisUserMayNotUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	store := func(name string, file, folder os.FileMode) string {
		path := filepath.Join(dir, name, "bank.db")
		if err := os.Mkdir(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if file != 0 {
			s, err := (&app{}).openFile(context.Background(), address{file: path}, true)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(s.Close(), os.Chmod(path, file)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(filepath.Dir(path), folder); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o777) })
		return path
	}
	for name, tt := range map[string]struct {
		path, text, next string
	}{
		"read only":            {store("a", 0o444, 0o777), "the file may not be read and written", "let this user read and write it"},
		"not even that":        {store("b", 0o200, 0o777), "the file may not be read and written", "let this user read and write it"},
		"in a locked folder":   {store("c", 0o666, 0o555), "the folder may not be written to", "SQLite keeps files beside the store"},
		"new, in a locked one": {store("d", 0, 0o555), "the folder may not be written to", "SQLite keeps files beside the store"},
	} {
		var err error
		asNobody(func() {
			s, failed := (&app{}).openFile(context.Background(), address{file: tt.path}, true)
			if err = failed; err == nil {
				s.Close()
			}
		})
		var no *stop
		if !errors.As(err, &no) || no.exit != exitUsage || !strings.Contains(no.text, tt.text) || !strings.Contains(no.next, tt.next) {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

// A store that may only be read is read from a temporary copy, which has what SQLite still keeps beside it
// and goes with the program.
func TestAStoreThatMayOnlyBeRead(t *testing.T) { // not parallel: it sets where temporary files are
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	if err := errors.Join(os.Chmod(filepath.Dir(temporary), 0o755), os.Chmod(temporary, 0o777)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "bank.db")
	s, err := (&app{}).openFile(t.Context(), address{file: path}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Migrate(t.Context(), nil, true); err != nil {
		t.Fatal(err)
	}
	if err := s.SetPrincipal(t.Context(), stores.Principal{Name: "kim"}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(path, 0o444), os.Chmod(path+"-wal", 0o444), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	var said strings.Builder
	a := &app{world: world{err: &said}}
	var at address
	asNobody(func() { at, err = a.readable(address{file: path}) })
	if err != nil || !a.copied || at.file == path || !strings.Contains(said.String(), "a temporary copy of it is read") {
		t.Fatal(at.file, err, said.String())
	}
	copied, err := a.openFile(t.Context(), at, false)
	if err != nil {
		t.Fatal(err)
	}
	if names, err := copied.Principals(t.Context()); err != nil || len(names) != 1 {
		t.Errorf("the copy knows %v, %v", names, err)
	}
	copied.Close()
	a.close()
	if _, err := os.Stat(filepath.Dir(at.file)); !errors.Is(err, os.ErrNotExist) {
		t.Error("the copy stays:", err)
	}
	if again, err := a.readable(address{file: filepath.Join(t.TempDir(), "none.db")}); err != nil || again.file == "" {
		t.Error(again, err)
	}
}

// asNobody runs f on a thread that opens files as the user nobody where this one is root, whom
// no mode keeps out. The thread ends with f.
func asNobody(f func()) {
	done := make(chan bool)
	go func() {
		defer close(done)
		goruntime.LockOSThread()
		syscall.RawSyscall(syscall.SYS_SETFSUID, 65534, 0, 0)
		f()
	}()
	<-done
}
