package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/verbstest"
)

// newIndex lays palettes out in a folder and makes what check remembers of
// them.
func newIndex(t *testing.T, files fs.FS) (dir string, ix func() *index, reg *verbs.Registry) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, files); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	a := &app{world: world{env: func(name string) string {
		return map[string]string{"XDG_CACHE_HOME": cache}[name]
	}}}
	l, err := loadPalettes(dir)
	if err != nil || l.reg == nil {
		t.Fatal(err, l.ds)
	}
	a.quickIndex(dir).remember(l.reg)
	return dir, func() *index { return a.quickIndex(dir) }, l.reg
}

func scriptOf(t *testing.T, text string) []*dsl.Script {
	t.Helper()
	s, ds := dsl.Parse(dsl.NewSource("one.dsl", text))
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	return []*dsl.Script{s}
}

// PERF-L2 rests on this: what is remembered of a palette knows every verb, lets
// the same calls pass as the whole palettes do, and no others.
func TestQuickCheckAgreesWithThePalettes(t *testing.T) {
	t.Parallel()
	if withoutRace(t) {
		return
	}
	for name, files := range map[string]fs.FS{"the client palette": os.DirFS("../../verbs"), "1 000 verbs": verbstest.Files(1000)} {
		only, err := fs.Glob(files, "*.yaml")
		if err != nil || len(only) == 0 {
			t.Fatal(only, err)
		}
		_, open, reg := newIndex(t, files)
		ix := open()
		if !ix.read() || len(ix.verbs) != len(reg.Verbs()) {
			t.Fatalf("%s: %d verbs are remembered of %d", name, len(ix.verbs), len(reg.Verbs()))
		}
		step := max(1, len(reg.Verbs())/60)
		for i := 0; i < len(reg.Verbs()); i += step {
			v := reg.Verbs()[i]
			calls := []string{v.Example(), v.Name, v.Name + ` :no-such-argument 1`, v.Example() + "\n" + v.Name + "s"}
			for _, text := range calls {
				scripts := scriptOf(t, text)
				_, ds := reg.Check(scripts[0], nil)
				if got, want := open().quickCheck(scripts), len(ds) == 0; got != want {
					t.Errorf("%s: quick says %v of %s, the palettes %v", name, got, text, ds)
				}
			}
			// The verb stands where it stood.
			part := ix.registry(scriptOf(t, v.Example()))
			if part == nil || part.Verb(v.Name) == nil {
				t.Fatalf("%s: %s is lost", name, v.Name)
			}
			p := part.Verb(v.Name).Place
			q := v.Place
			if got, want := p.Source.Position(p.Range.Start), q.Source.Position(q.Range.Start); got != want {
				t.Errorf("%s: %s stands at %v, %v wanted", name, v.Name, got, want)
			}
		}
	}
}

// A palette that changes, however little, is a palette that nothing is known
// of; so is one whose memory was tampered with.
func TestQuickCheckForgetsWhatChanged(t *testing.T) {
	t.Parallel()
	dir, open, reg := newIndex(t, verbstest.Files(20))
	good := scriptOf(t, reg.Verbs()[3].Example())
	if !open().quickCheck(good) {
		t.Fatal("nothing is remembered")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func() error{
		func() error { return os.WriteFile(names[0], append(text, "# more\n"...), 0o666) },
		func() error { return os.WriteFile(filepath.Join(dir, "roles.yml"), []byte("domain: x\n"), 0o666) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if open().quickCheck(good) {
			t.Error("it vouches for palettes that it has not seen")
		}
		_ = os.Remove(filepath.Join(dir, "roles.yml"))
		if err := os.WriteFile(names[0], text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	place := open().place
	kept, err := os.ReadFile(place)
	if err != nil {
		t.Fatal(err)
	}
	for _, spoilt := range []string{"", "verbatim palette index 1 0\n", strings.Replace(string(kept), "\nverb\t", "\nverb\tx", 1), string(kept[:len(kept)/2]), fmt.Sprintf("%s\nverb\n", strings.TrimSpace(string(kept)))} {
		if err := os.WriteFile(place, []byte(spoilt), 0o666); err != nil {
			t.Fatal(err)
		}
		if open().quickCheck(scriptOf(t, "work0.no-such-verb")) {
			t.Errorf("it vouches for anything after %.40q", spoilt)
		}
	}
}

// Palettes that are written in another way than usual are loaded whole, every
// time.
func TestQuickCheckLeavesUnusualPalettesAlone(t *testing.T) {
	t.Parallel()
	const flow = `domain: a
description: One line, as a program might write it.
roles: [{name: clerk, description: Somebody.}]
verbs: [{verb: b, description: Nothing much., roles: [clerk], args: [{name: x, type: string}], handler: true, returns: {type: c}}]
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(flow), 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := loadPalettes(dir)
	if err != nil || l.reg == nil {
		t.Fatal(err, l.ds)
	}
	var b strings.Builder
	if writeIndex(&b, l.reg.Palettes()[0]) {
		t.Errorf("it was remembered: %s", b.String())
	}
}
