package main

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/verbs"
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

// palettes loads a directory of palettes, and tells what is wrong with it when
// it does not load. Warnings are for lint.
func (a *app) palettes(flag string) (*verbs.Registry, error) {
	return a.palettesBeside(flag)
}

// palettesBeside loads further palettes with those of the directory.
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

// loaded is a directory of palettes: a registry, unless there are errors.
type loaded struct {
	reg   *verbs.Registry
	ds    dsl.Diagnostics
	files int
}

// loadPalettes loads a directory with the packs that are installed there, or a pack. Places
// are told with its name in front, so that an editor or a terminal can jump to them.
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

// inOrder sorts diagnostics of one text by place.
func inOrder(ds dsl.Diagnostics) dsl.Diagnostics {
	slices.SortStableFunc(ds, func(a, b dsl.Diagnostic) int { return int(a.Place.Range.Start) - int(b.Place.Range.Start) })
	return ds
}
