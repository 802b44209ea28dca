package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"sync"
	"testing"

	"verbatim/dsl"
)

// loadOnce loads palettes as loadPalettes does, and the same files under the same names once:
// reading them is two thirds of the processor time of a command, tests give thousands of commands
// the same ones, and a registry may be shared. Palettes with mistakes are loaded anew.
func loadOnce(dir string, beside ...*dsl.Source) (*loaded, error) {
	found, err := shelve(dir)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(found.at)) {
		text, err := fs.ReadFile(found, name)
		if err != nil {
			return found.load(beside...), nil
		}
		fmt.Fprintf(sum, "%q %q %d\n%s", path.Join(found.at[name].name, name), found.at[name].name, len(text), text)
	}
	for _, src := range beside {
		fmt.Fprintf(sum, "beside %q %d\n%s", src.Name, len(src.Text), src.Text)
	}
	key := [sha256.Size]byte(sum.Sum(nil))
	loads.Lock()
	known := loads.known[key]
	loads.Unlock()
	if known == nil {
		if known = found.load(beside...); known.reg != nil {
			loads.Lock()
			if len(loads.known) == 16 { // each takes megabytes
				clear(loads.known)
			}
			loads.known[key] = known
			loads.Unlock()
		}
	}
	return &loaded{known.reg, slices.Clone(known.ds), known.files}, nil
}

var loads = struct {
	sync.Mutex
	known map[[sha256.Size]byte]*loaded
}{known: map[[sha256.Size]byte]*loaded{}}

// Palettes that are loaded once are loaded again when a file, a name or what is beside them
// differs.
func TestPalettesAreLoadedOnceEach(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	load := func(dir string, beside ...*dsl.Source) *loaded {
		t.Helper()
		l, err := loadOnce(dir, beside...)
		if err != nil || l.reg == nil {
			t.Fatal(err, l)
		}
		return l
	}
	put(t, path.Join(dir, "jotting.yaml"), []byte(jotting))
	put(t, path.Join(dir, "roles.yaml"), []byte("domain: staff\ndescription: Staff.\nroles:\n  - {name: client, description: Somebody.}\n"))
	first := load(dir)
	if load(dir).reg != first.reg {
		t.Error("the same palettes are loaded twice")
	}
	copied := t.TempDir()
	for _, name := range []string{"jotting.yaml", "roles.yaml"} {
		text, err := os.ReadFile(path.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, path.Join(copied, name), text)
	}
	if name := load(copied).reg.Palettes()[0].Source.Name; path.Dir(name) != copied {
		t.Errorf("a palette of %s is called %s", copied, name)
	}
	if beside := load(dir, dsl.NewSource("more.yaml", "domain: more\ndescription: More.\n")); beside.reg == first.reg || beside.reg.Palette("more") == nil {
		t.Error("what is beside palettes is not loaded")
	}
	put(t, path.Join(dir, "jotting.yaml"), []byte(jotting+"# changed\n"))
	if load(dir).reg == first.reg {
		t.Error("changed palettes are not loaded")
	}
	put(t, path.Join(dir, "roles.yaml"), []byte("domain: staff\n"))
	for range 2 {
		if l, err := loadOnce(dir); err != nil || l.reg != nil || len(l.ds) == 0 {
			t.Error("palettes with mistakes are loaded", err)
		}
	}
}
