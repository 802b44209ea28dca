package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// What an operator gets wrong in a bad week: the last line of issue 59.

// A backup of another version is not put back, and the refusal names it.
func TestABackupOfAnotherVersionIsNotRestored(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	f, err := os.Open("testdata/stores/version-2.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	image, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(h.dir, "old.db"), image, 0o600); err != nil {
		t.Fatal(err)
	}
	h.fails("the store old.db cannot be used: it is of version 2, and this program knows version 4", "restore", "old.db", "--store", "new.db")
	if left, _ := filepath.Glob(filepath.Join(h.dir, "*new.db*")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	if left, _ := filepath.Glob(filepath.Join(h.dir, ".restore*")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}

// Nothing is restored over a store that a server uses: it goes on, with what it has.
func TestNothingIsRestoredOverAStoreInUse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.do("backup", "monday.db")
	s := h.serve("--no-work", "--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	write := func(key string) {
		t.Helper()
		if status, body, err := clara.post(s.url+"/v1/run", key, map[string]string{"script": `client.add-note :request-id @pierre-dupont-source-of-wealth :note "` + key + `"`}); err != nil || status != 200 {
			t.Fatalf("%d %s %v", status, body, err)
		}
	}
	write("before")
	h.fails("is there already, and was left alone\nnext: stop what uses it", "restore", "monday.db")
	write("after")
	if n := h.done(); n != 2 {
		t.Errorf("%d writes are left of 2", n)
	}
	h.do("log", "verify")
}

// The folder for the program's state is read-only, full or another store's: then a restore might not be noticed. So
// what waits is dropped; and where nothing can be noted, operators are told.
func TestAStateFolderThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, says, next string
		spoil            func(t *testing.T, h *house, dir string)
	}{
		{"read-only", "a restored store would not be noticed", "STATE_DIRECTORY", func(t *testing.T, _ *house, dir string) {
			tiny(t, dir)
			mounts(t, "-o", "remount,ro", dir)
		}},
		{"full", "no space left on device", "STATE_DIRECTORY", func(t *testing.T, _ *house, dir string) {
			tiny(t, dir)
			if f, err := os.Create(filepath.Join(dir, "fill")); err == nil {
				_, _ = f.Write(bytes.Repeat([]byte("x"), 1<<20)) // as much as there is room for
				f.Close()
			}
		}},
		{"another store's", "", "it is a copy of a store that was used elsewhere", func(t *testing.T, h *house, dir string) {
			other := newHouse(t)
			other.env = append(other.env, "XDG_STATE_HOME="+dir)
			other.people()
			notes, _ := filepath.Glob(filepath.Join(dir, "verbatim", "*.json"))
			mine, _ := filepath.Glob(filepath.Join(h.dir, ".state", "verbatim", "*.json"))
			if len(notes) != 1 || len(mine) != 1 {
				t.Fatalf("%q and %q are noted", notes, mine)
			}
			if err := os.Rename(notes[0], filepath.Join(filepath.Dir(notes[0]), filepath.Base(mine[0]))); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h, dir := newHouse(t), t.TempDir()
			h.people()
			h.proposes(`system.grant-high-role :principal-id @nina :role "analyst"`)
			c.spoil(t, h, dir)
			h.env = append(h.env, "XDG_STATE_HOME="+dir)
			s := h.serve("--no-work")
			status, body := newVisitor(t).get(s.url + "/readyz")
			s.stop()
			if status != 200 || !strings.Contains(body, c.says) || !strings.Contains(s.said.String(), c.next) {
				t.Errorf("/readyz says %d %q, and the log %s", status, body, s.said)
			}
			if out := h.do("confirm", "--as", "bo"); strings.Contains(out, "system.grant-high-role") {
				t.Errorf("it waits still: %s", out)
			}
		})
	}
}

// Somebody agrees on the command line while the folder for the program's state is full or read-only. It is done once
// and nothing is lost; and they are told that a restore of the store would not be noticed. 59
func TestAgreeingWithAStateFolderThatIsFull(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, cause string
		noted       bool // the store was noted there before
	}{{"full", "no space left on device", false}, {"full", "no space left on device", true}, {"read-only", "read-only file system", false}, {"read-only", "read-only file system", true}} {
		t.Run(fmt.Sprint(c.name, ", noted ", c.noted), func(t *testing.T) {
			t.Parallel()
			h, dir := newHouse(t), t.TempDir()
			h.env = append(h.env, "TICK=now")
			tiny(t, dir)
			h.people()
			if c.noted {
				h.env = append(h.env, "XDG_STATE_HOME="+dir)
			}
			h.proposes(`system.grant-high-role :principal-id @nina :role "analyst"`)
			id := regexp.MustCompile(`\S+`).FindString(h.do("confirm", "--as", "bo"))
			h.env = append(h.env, "XDG_STATE_HOME="+dir)
			if c.name == "full" {
				if f, err := os.Create(filepath.Join(dir, "fill")); err == nil {
					_, _ = f.Write(bytes.Repeat([]byte("x"), 1<<20)) // as much as there is room for
					f.Close()
				}
			} else {
				mounts(t, "-o", "remount,ro", dir)
			}
			for range 2 {
				if out := h.do("confirm", "--as", "bo"); !strings.Contains(out, "grant-high-role") || strings.Contains(out, "dropped") || !strings.Contains(out, c.cause+"); set STATE_DIRECTORY") {
					t.Fatalf("what waits is told as\n%s", out)
				}
			}
			out := h.do("confirm", "--as", "bo", "--agree", id)
			if !strings.Contains(out, "system.grant-high-role") || !strings.Contains(out, c.cause+"); set STATE_DIRECTORY") || !strings.Contains(out, "a copy of before would have it agreed to again") {
				t.Errorf("agreeing says\n%s", out)
			}
			if out := h.do("confirm", "--as", "bo", "--agree", id); !strings.Contains(out, "this was done before") {
				t.Errorf("agreeing again says\n%s", out)
			}
			if out := h.do("log", "show", "--as", "d.lang"); strings.Count(out, "\tok\tsystem.grant-high-role") != 1 {
				t.Errorf("the journal has\n%s", out)
			}
			h.do("log", "verify")
		})
	}
}

// tiny mounts a file system of little room, for who may.
func tiny(t *testing.T, dir string) {
	t.Helper()
	mounts(t, "-t", "tmpfs", "-o", "size=16k", "tmpfs", dir)
	t.Cleanup(func() { _ = exec.Command("umount", dir).Run() })
}

func mounts(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
		t.Skipf("nothing can be mounted here: %s", out)
	}
}

// After a restore the clock is an hour behind: an agreement counts no second time, keys still answer, what is not due
// is not done, and the journal stays whole.
func TestAClockThatIsBehindAfterARestore(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	env := map[string]string{"VERBATIM_PALETTES": filepath.Join(h.dir, "verbs"), "VERBATIM_STORE": filepath.Join(h.dir, "verbatim.db"), "XDG_STATE_HOME": filepath.Join(h.dir, ".state")}
	noon := morning.Add(3 * time.Hour)
	at := noon
	verbatim := func(exit int, args ...string) string {
		t.Helper()
		var said strings.Builder
		code := run(context.Background(), world{load: loadOnce, args: args, in: strings.NewReader(""), out: &said, err: &said, random: rand.Reader,
			env: func(name string) string { return env[name] }, now: func() time.Time { at = at.Add(time.Millisecond); return at }})
		if code != exit {
			t.Errorf("%q: exit code %d\n%s", args, code, &said)
		}
		return said.String()
	}
	waive, note, kept := filepath.Join(h.dir, "waive.dsl"), filepath.Join(h.dir, "note.dsl"), filepath.Join(h.dir, "noon.db")
	verbatim(exitDone, "run", "--as", "clara", "--yes", "--key", "once", note)
	verbatim(exitRefused, "run", "--as", "t.weber", "--yes", waive)
	id, _, _ := strings.Cut(verbatim(exitDone, "confirm", "--as", "a.nowak"), "\t")
	verbatim(exitDone, "backup", kept)
	at = noon.Add(10 * time.Minute)
	verbatim(exitDone, "confirm", "--as", "a.nowak", "--agree", id)

	for _, beside := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(env["VERBATIM_STORE"] + beside)
	}
	at = noon.Add(-time.Hour)
	verbatim(exitDone, "restore", kept)
	if out := verbatim(exitRefused, "confirm", "--as", "a.nowak", "--agree", id); !strings.Contains(out, "What waited for an agreement was dropped (1)") {
		t.Errorf("it can be agreed to a second time: %s", out)
	}
	if out := verbatim(exitDone, "run", "--as", "clara", "--yes", "--key", "once", note); !strings.Contains(out, "this was done before, under the same key") {
		t.Errorf("it is done a second time: %s", out)
	}
	verbatim(exitDone, "work", "--once")
	verbatim(exitRefused, "run", "--as", "t.weber", "--yes", waive)
	id, _, _ = strings.Cut(verbatim(exitDone, "confirm", "--as", "a.nowak"), "\t")
	if out := verbatim(exitDone, "confirm", "--as", "a.nowak", "--agree", id); !strings.Contains(out, "applied") {
		t.Errorf("what is asked anew cannot be agreed to: %s", out)
	}
	verbatim(exitDone, "log", "verify")
}
