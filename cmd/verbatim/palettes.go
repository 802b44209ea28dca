package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/pack"
)

func (a *app) palettesFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "palettes", "", "where the palettes are, a `dir` or a pack (default $VERBATIM_PALETTES or verbs)")
}

func (a *app) palettesDir(flag string) string {
	switch {
	case flag != "":
		return flag
	case a.env("VERBATIM_PALETTES") != "":
		return a.env("VERBATIM_PALETTES")
	}
	return "verbs"
}

// palettes loads a directory of palettes and prints its errors. Only lint prints warnings.
func (a *app) palettes(flag string) (*verbs.Registry, error) {
	return a.palettesBeside(flag)
}

// palettesBeside loads additional palettes with those of the directory.
func (a *app) palettesBeside(flag string, beside ...*dsl.Source) (*verbs.Registry, error) {
	dir := a.palettesDir(flag)
	l, err := loadPalettes(dir, beside...)
	if err != nil {
		return nil, err
	}
	if l.reg != nil {
		return l.reg, nil
	}
	if a.json {
		a.emit(newLint(l))
		return nil, said(exitInput)
	}
	a.complain(l.ds)
	fmt.Fprintf(a.err, "\nThe palettes in %s have mistakes; nothing was loaded.\n%s\n", quoted(dir), explainOne(l.ds))
	return nil, said(exitInput)
}

// A shelf is a file system with the palettes of several places.
type shelf struct {
	entries []fs.DirEntry // sorted by name
	at      map[string]shelved
	packs   []*pack.Pack // the installed packs
}

// shelved is the place of a palette.
type shelved struct {
	fs.FS
	name string // of the directory or the archive
}

// Open opens a palette.
func (s *shelf) Open(name string) (fs.File, error) {
	at, there := s.at[name]
	if !there {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return at.FS.Open(name)
}

// ReadDir lists the palettes.
func (s *shelf) ReadDir(string) ([]fs.DirEntry, error) { return s.entries, nil }

// add adds the palettes of a place.
func (s *shelf) add(name string, files fs.FS) error {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return &stop{exitUsage, "unreadable", fmt.Sprintf("the palettes in %s cannot be read: %s", quoted(name), reason(err)), "check the path, and who may read it"}
	}
	for _, e := range entries {
		if is, _ := path.Match("*.y*ml", e.Name()); !is || e.IsDir() {
			continue
		}
		if other, there := s.at[e.Name()]; there {
			return &stop{exitInput, "pack-clash", fmt.Sprintf("%s and %s both hold a palette %s", quoted(other.name), quoted(name), e.Name()), "one of them has to go, or to be called otherwise"}
		}
		s.at[e.Name()] = shelved{files, filepath.ToSlash(filepath.Clean(name))}
		s.entries = append(s.entries, e)
	}
	slices.SortFunc(s.entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return nil
}

// addPack adds the palettes of a pack.
func (s *shelf) addPack(name string, p *pack.Pack) error {
	palettes, err := p.Palettes()
	if err == nil {
		s.packs = append(s.packs, p)
		return s.add(name, palettes)
	}
	return badPack(name, err)
}

func badPack(name string, err error) error {
	return &stop{exitInput, "bad-pack", fmt.Sprintf("the pack %s cannot be used: %s", quoted(name), receipt.Safe(err.Error())), "nothing of it was used; get it again from whoever made it"}
}

// shelve collects the palettes of a directory and of its installed packs, or those of one pack.
func shelve(dir string) (*shelf, error) {
	s := &shelf{at: map[string]shelved{}}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &stop{exitUsage, "no-palettes", fmt.Sprintf("there are no palettes: the directory %s does not exist", quoted(dir)),
			"name one with --palettes DIR or VERBATIM_PALETTES"}
	case err != nil:
		return nil, &stop{exitUsage, "unreadable", fmt.Sprintf("the palettes in %s cannot be read: %s", quoted(dir), reason(err)), "check the path, and who may read it"}
	case !info.IsDir() && filepath.Ext(dir) != ".zip":
		return nil, &stop{exitUsage, "no-palettes", fmt.Sprintf("%s is a file; palettes are a directory of YAML files, or a pack", quoted(dir)),
			"name the directory it stands in: " + shell(filepath.Dir(dir))}
	}
	lock, err := readLock(filepath.Dir(dir))
	if info.IsDir() {
		lock, err = readLock(dir)
	}
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		p, err := readPack(dir)
		if err != nil {
			return nil, err
		}
		if err := lock.Check(p); err != nil {
			return nil, badPack(dir, err)
		}
		return s, s.addPack(dir, p)
	}
	if err := s.add(dir, os.DirFS(dir)); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(lock.Packs)) {
		file := filepath.Join(dir, pack.FileName(name, lock.Packs[name].Version))
		p, err := readPack(file)
		if err != nil {
			return nil, err
		}
		if err := lock.Check(p); err == nil && p.Name != name {
			return nil, badPack(file, fmt.Errorf("it is called %s", p.Name))
		} else if err != nil {
			return nil, badPack(file, err)
		}
		if err := s.addPack(file, p); err != nil {
			return nil, err
		}
	}
	if len(s.entries) == 0 {
		return nil, &stop{exitUsage, "no-palettes", fmt.Sprintf("there are no palettes in %s: it holds no file that ends in .yaml", quoted(dir)),
			"name another directory with --palettes DIR or VERBATIM_PALETTES"}
	}
	return s, unmet(s.unmet(""))
}

// unmet lists the unmet needs of packs.
func (s *shelf) unmet(store string) (all []string) {
	program, _ := built()
	versions := map[string]string{}
	for _, p := range s.packs {
		versions[p.Name] = p.Version
	}
	for _, p := range s.packs {
		for _, need := range p.Unmet(program, versions, store) {
			all = append(all, p.Name+" needs "+need)
		}
	}
	return all
}

func unmet(all []string) error {
	if len(all) == 0 {
		return nil
	}
	return &stop{exitInput, "unmet-needs", strings.Join(all, "; "), "install what is missing first; nothing was loaded"}
}

// readLock reads the list of installed packs.
func readLock(dir string) (l pack.Lock, err error) {
	file := filepath.Join(dir, pack.LockName)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err == nil {
		l, err = pack.ReadLock(text)
	}
	if errors.Is(err, fs.ErrPermission) {
		return l, &stop{exitInput, "unreadable-palette", fmt.Sprintf("the palettes in %s cannot be read: %s", quoted(dir), receipt.Safe(reason(err))), "let this user read the folder"}
	}
	if err != nil {
		return l, &stop{exitInput, "bad-lock", fmt.Sprintf("which packs are installed cannot be told: %s: %s", quoted(file), receipt.Safe(reason(err))), "put the file back as it was"}
	}
	return l, nil
}

// loaded is a loaded directory: a registry, unless there are errors.
type loaded struct {
	reg   *verbs.Registry
	ds    dsl.Diagnostics
	files int
}

// loadPalettes loads a directory with its installed packs, or one pack. Places begin with its name,
// so that editors and terminals can link to them.
func loadPalettes(dir string, beside ...*dsl.Source) (*loaded, error) {
	found, err := shelve(dir)
	if err != nil {
		return nil, err
	}
	return found.load(beside...), nil
}

func (s *shelf) load(beside ...*dsl.Source) *loaded {
	reg, ds := verbs.Load(s, verbs.Beside(beside...))
	if ds.HasErrors() {
		reg = nil
	}
	seen := slices.Clone(beside)
	rename := func(src *dsl.Source) {
		if src != nil && !slices.Contains(seen, src) {
			seen = append(seen, src)
			src.Name = path.Join(s.at[src.Name].name, src.Name)
		}
	}
	if reg != nil {
		for _, p := range reg.Palettes() {
			rename(p.Source)
			for _, s := range p.Sidecars {
				rename(s.Source)
			}
		}
	}
	for i := range ds {
		rename(ds[i].Place.Source)
		for j := range ds[i].Related {
			rename(ds[i].Related[j].Place.Source)
		}
	}
	palettes := slices.DeleteFunc(slices.Clone(s.entries), func(e fs.DirEntry) bool { return strings.Count(e.Name(), ".") > 1 }) // but for NAME.de.yaml
	return &loaded{reg, ds, len(palettes)}
}

// inOrder sorts the diagnostics of one text by place.
func inOrder(ds dsl.Diagnostics) dsl.Diagnostics {
	slices.SortStableFunc(ds, func(a, b dsl.Diagnostic) int { return int(a.Place.Range.Start) - int(b.Place.Range.Start) })
	return ds
}
