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
	"sync"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime/domains/confidence"
	"verbatim/runtime/domains/rights"
	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/jobs/workflow"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/load"
	"verbatim/verbs/pack"
	"verbatim/verbs/palettes"
)

func palettesCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "palettes",
		Short:   "List the palettes that this program carries, and how to begin with them",
		Example: "verbatim palettes\nverbatim explain --palettes bank",
		Long: `A set of palettes is carried by the program: nothing has to be fetched. Wherever palettes are
named, its name can be. A name of a set is the set, and ./NAME the folder of that name. Several are
used together: --palettes bank,kyc, or the flag twice. Without it, $VERBATIM_PALETTES counts,
and without that the folder verbs.`,
		Args: atMost(0),
		RunE: func(*cobra.Command, []string) error { return a.listSets() },
	}
}

// A carriedSet is a set of palettes that this program carries.
type carriedSet struct {
	Name      string   `json:"name"`
	About     string   `json:"about"`
	Palettes  []string `json:"palettes"`
	Languages []string `json:"languages"` // besides English
	Verbs     int      `json:"verbs"`
	Begin     string   `json:"begin"` // a command
}

func (a *app) listSets() error {
	all := []carriedSet{}
	for _, set := range palettes.Sets() {
		reg, err := a.wholePalettes(set.Name)
		if err != nil {
			return err
		}
		files, _ := palettes.Files(set.Name)
		one := carriedSet{Name: set.Name, About: set.About, Languages: []string{}, Begin: "verbatim migrate --palettes " + set.Name}
		for _, p := range reg.Palettes() {
			if _, err := fs.Stat(files, path.Base(p.Source.Name)); err != nil {
				continue // the program's own
			}
			one.Palettes = append(one.Palettes, p.Domain)
			one.Verbs += len(p.Verbs)
			for _, s := range p.Sidecars {
				one.Languages = append(one.Languages, s.Language)
			}
		}
		slices.Sort(one.Languages)
		one.Languages = slices.Compact(one.Languages)
		all = append(all, one)
	}
	if a.json {
		a.emit(struct {
			Schema string       `json:"schema"`
			Sets   []carriedSet `json:"sets"`
		}{"verbatim/palettes@1", all})
		return nil
	}
	for _, one := range all {
		fmt.Fprintf(a.out, "%-11s %s\n%-11s %s: %s, in %s\n%-11s %s\n", one.Name, one.About,
			"", strings.Join(one.Palettes, ", "), receipt.Counted(one.Verbs, "verb"), strings.Join(append([]string{"en"}, one.Languages...), " "), "", one.Begin)
	}
	return nil
}

// palettesFlag declares --palettes. What it holds are places of palettes with commas between them.
func (a *app) palettesFlag(cmd *cobra.Command, places *string) {
	cmd.Flags().Var((*placesFlag)(places), "palettes", "a `dir`, pack or set; ./bank is a dir (default $VERBATIM_PALETTES or verbs)")
	_ = cmd.RegisterFlagCompletionFunc("palettes", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return palettes.Names(), cobra.ShellCompDirectiveDefault
	})
}

// placesFlag adds to the places each time that the flag is given.
type placesFlag string

func (p *placesFlag) String() string { return string(*p) }
func (p *placesFlag) Type() string   { return "string" }

func (p *placesFlag) Set(s string) error {
	if *p != "" {
		s = string(*p) + "," + s
	}
	*p = placesFlag(s)
	return nil
}

// placesIn returns the places of palettes. A folder may have a comma in its name.
func placesIn(places string) []string {
	if _, err := os.Stat(places); err == nil {
		return []string{places}
	}
	var all []string
	for place := range strings.SplitSeq(places, ",") {
		if place != "" && !slices.Contains(all, place) {
			all = append(all, place)
		}
	}
	if all == nil {
		return []string{places}
	}
	return all
}

// onePlace returns the only place of palettes, for what writes there.
func onePlace(places string) (string, error) {
	all := placesIn(places)
	switch _, carried := palettes.Files(all[0]); {
	case len(all) > 1:
		return "", usage("one folder is wanted here, and --palettes names "+receipt.Counted(len(all), "place"), "--palettes DIR names one")
	case carried:
		return "", usage(quoted(all[0])+" is a set of palettes that this program carries, and nothing can be written there", "--palettes DIR names a folder; "+shell("./"+all[0])+" is one of that name")
	}
	return all[0], nil
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

// palettes loads palettes, with others beside them, and prints errors. Only lint prints warnings.
func (a *app) palettes(flag string, beside ...*dsl.Source) (*verbs.Registry, error) {
	dir, load := a.palettesDir(flag), loadPalettes
	if a.load != nil {
		load = a.load
	}
	l, err := load(dir, beside...)
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

// ownTexts are the palettes of this program by their files. What is equal to one is loaded once.
var ownTexts = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for _, s := range []*dsl.Source{rights.Source(), channel.Source(), workflow.Source(), confidence.Source()} {
		texts[s.Name] = s.Text
	}
	return texts
})

// A shelf is a file system with the palettes of several places.
type shelf struct {
	entries []fs.DirEntry // sorted by name
	at      map[string]shelved
	packs   []*pack.Pack // the installed packs
	place   string       // what is added now
}

// shelved is the place of a palette.
type shelved struct {
	fs.FS
	name  string // of the directory or the archive
	place string // as --palettes names it
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
		if own, is := ownTexts()[e.Name()]; is {
			if text, err := fs.ReadFile(files, e.Name()); err == nil && string(text) == own {
				continue // the program loads it wherever it is needed
			}
		}
		if other, there := s.at[e.Name()]; there {
			return &stop{exitInput, "pack-clash", fmt.Sprintf("%s and %s both hold a palette %s", quoted(other.name), quoted(name), e.Name()), "one of them has to go, or to be called otherwise"}
		}
		s.at[e.Name()] = shelved{files, filepath.ToSlash(filepath.Clean(name)), s.place}
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

// shelve collects the palettes of places: of the sets that this program carries, of directories
// with their installed packs, and of packs.
func shelve(places string) (*shelf, error) {
	s := &shelf{at: map[string]shelved{}}
	for _, place := range placesIn(places) {
		err, had := error(nil), len(s.entries)
		s.place = place
		if set, carried := palettes.Files(place); carried {
			err = s.add(place, set)
		} else {
			err = s.addPlace(place)
		}
		if err != nil {
			return nil, err
		}
		if len(s.entries) == had {
			return nil, &stop{exitUsage, "no-palettes", fmt.Sprintf("there are no palettes in %s: it holds no file that ends in .yaml", quoted(place)), namePalettes}
		}
	}
	return s, unmet(s.unmet(""))
}

// namePalettes says where palettes may be.
var namePalettes = "name a directory with --palettes DIR or VERBATIM_PALETTES, or a set that verbatim palettes lists: " + strings.Join(palettes.Names(), ", ")

// addPlace adds the palettes of a directory and of its installed packs, or those of one pack.
func (s *shelf) addPlace(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		what := fmt.Sprintf("there are no palettes: the directory %s does not exist", quoted(dir))
		if filepath.Base(dir) == dir && filepath.Ext(dir) == "" {
			what = fmt.Sprintf("there are no palettes: the directory %s does not exist, and this program carries no set of that name%s", quoted(dir), didYouMean(dir, palettes.Names()))
		}
		return &stop{exitUsage, "no-palettes", what, namePalettes}
	case err != nil:
		return &stop{exitUsage, "unreadable", fmt.Sprintf("the palettes in %s cannot be read: %s", quoted(dir), reason(err)), "check the path, and who may read it"}
	case !info.IsDir() && filepath.Ext(dir) != ".zip":
		return &stop{exitUsage, "no-palettes", fmt.Sprintf("%s is a file; palettes are a directory of YAML files, or a pack", quoted(dir)),
			"name the directory it stands in: " + shell(filepath.Dir(dir))}
	}
	lock, err := readLock(filepath.Dir(dir))
	if info.IsDir() {
		lock, err = readLock(dir)
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		p, err := readPack(dir)
		if err != nil {
			return err
		}
		if err := lock.Check(p); err != nil {
			return badPack(dir, err)
		}
		return s.addPack(dir, p)
	}
	if err := s.add(dir, os.DirFS(dir)); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(lock.Packs)) {
		file := filepath.Join(dir, pack.FileName(name, lock.Packs[name].Version))
		p, err := readPack(file)
		if err != nil {
			return err
		}
		if err := lock.Check(p); err == nil && p.Name != name {
			return badPack(file, fmt.Errorf("it is called %s", p.Name))
		} else if err != nil {
			return badPack(file, err)
		}
		if err := s.addPack(file, p); err != nil {
			return err
		}
	}
	return nil
}

// copyTo writes the palettes into a folder.
func (s *shelf) copyTo(dir string) error {
	for _, e := range s.entries {
		text, err := fs.ReadFile(s, e.Name())
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, e.Name()), text, 0o444)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	reg, ds := load.Dir(s, load.Beside(beside...))
	if reg != nil {
		ds = append(ds, s.oneDomain(reg)...)
	}
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

// oneDomain reports domains that two places have. In one place, several files may hold a domain.
func (s *shelf) oneDomain(reg *verbs.Registry) (ds dsl.Diagnostics) {
	first := map[string]*dsl.Source{}
	for _, p := range reg.Palettes() {
		at, is := s.at[p.Source.Name]
		if !is {
			continue // the program's own
		}
		switch other := first[p.Domain]; {
		case other == nil:
			first[p.Domain] = p.Source
		case s.at[other.Name].place != at.place:
			ds = append(ds, dsl.Diagnostic{Code: "declared-twice", Summary: "domain " + p.Domain + " is declared twice", Place: dsl.Place{Source: p.Source}, Label: "the second time",
				Notes:   []string{"use one of the two, or give it another domain"},
				Related: []dsl.Related{{Place: dsl.Place{Source: other}, Message: "first declared here"}}})
		}
	}
	return ds
}

// inOrder sorts the diagnostics of one text by place.
func inOrder(ds dsl.Diagnostics) dsl.Diagnostics {
	slices.SortStableFunc(ds, func(a, b dsl.Diagnostic) int { return int(a.Place.Range.Start) - int(b.Place.Range.Start) })
	return ds
}
