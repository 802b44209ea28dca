package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// A tty is somebody who presses Ctrl-C when asked.
type tty struct{ interrupt context.CancelFunc }

func (t tty) Read([]byte) (int, error) {
	t.interrupt()
	select {} // the answer never comes
}

func (tty) Close() error { return nil }

// U18: whoever stops at the question, with Ctrl-C or by closing the terminal,
// has changed nothing.
func TestStoppingAtTheQuestionChangesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	session, err := txtar.ParseFile("testdata/agree.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range session.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	verbatim := func(ctx context.Context, terminal func(world) (io.ReadCloser, bool), args ...string) (string, int) {
		var said bytes.Buffer
		code := run(ctx, world{
			load: loadOnce, args: args, in: strings.NewReader(""), out: &said, err: &said, now: time.Now, terminal: terminal,
			env: func(name string) string {
				return map[string]string{"VERBATIM_AS": "anna", "VERBATIM_STORE": filepath.Join(dir, "verbatim.db"), "VERBATIM_PALETTES": filepath.Join(dir, "verbs")}[name]
			},
		})
		return said.String(), code
	}
	if said, code := verbatim(t.Context(), nil, "migrate", "--data", filepath.Join(dir, "desk.sql")); code != exitDone {
		t.Fatal(said)
	}
	for _, c := range []struct {
		name, code string
		terminal   func(context.CancelFunc) io.ReadCloser
	}{
		{"Ctrl-C", "stopped", func(cancel context.CancelFunc) io.ReadCloser { return tty{cancel} }},
		{"end of input", "declined", func(context.CancelFunc) io.ReadCloser { return io.NopCloser(strings.NewReader("")) }},
		{"a capital YES", "declined", func(context.CancelFunc) io.ReadCloser { return io.NopCloser(strings.NewReader("YES\n")) }},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		said, code := verbatim(ctx, func(world) (io.ReadCloser, bool) { return c.terminal(cancel), true }, "run", filepath.Join(dir, "close.dsl"))
		cancel()
		if code != exitRefused || !strings.Contains(said, "refused["+c.code+"]") || !strings.Contains(said, "nothing was changed") {
			t.Errorf("%s: exit code %d\n%s", c.name, code, said)
		}
	}
	if said, _ := verbatim(t.Context(), nil, "log", "show", "--as", "d.lang"); strings.Contains(said, "\tok\t") {
		t.Errorf("something was done: %s", said)
	}
}
