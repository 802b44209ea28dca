package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// SAFE-R10: every command refuses a store of another version, says which version it has
// and what to do, and leaves it as it is. The store was made by the program at commit
// 522f4cb: its journal has three entries, a confirmation and jobs wait in it, and it has
// a session and a key.
func TestStoreOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
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
	s := newShell(t)
	name := filepath.Join(s.dir, "verbatim.db")
	if err := os.WriteFile(name, image, 0o600); err != nil {
		t.Fatal(err)
	}
	const says = "refused[store-version]: the store verbatim.db cannot be used: it is of version 2, and this program knows version 3. Nothing was changed\n" +
		"next: use the version that made it, or load its data into a new store: verbatim migrate --store NEW\n"
	for _, line := range []string{
		"run --as clara --yes note.dsl", "run --as clara --dry-run note.dsl", "run --as clara --session talk --key k1 --yes note.dsl",
		"confirm --as t.weber", "confirm e56f-49fe --agree --as t.weber",
		"log show", "log verify", "log export", "log keygen k --name bank.example/j && verbatim log checkpoint --sign k",
		"work --once", "work list", "migrate", "migrate --plan", "migrate --data people.sql", "migrate --administrator ada",
		"session --as clara", "chat --as clara", "say --as clara 'how far are we'", "upload --as clara --scan none passport.pdf", "grammar --as clara",
	} {
		_, said, code := s.run(t, "verbatim "+line+" </dev/null")
		if code != exitRefused || !strings.HasSuffix(said, says) {
			t.Errorf("%s: exit code %d\n%s", line, code, said)
		}
		if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, image) {
			t.Fatalf("%s changed the store: %v", line, err)
		}
	}
	if out, _, code := s.run(t, "verbatim log show --json"); code != exitRefused || !strings.Contains(out, `"code":"store-version"`) {
		t.Errorf("exit code %d: %s", code, out)
	}
	if left, _ := filepath.Glob(name + "-*"); len(left) > 0 {
		t.Errorf("%q are left beside it", left)
	}
}
