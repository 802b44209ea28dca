package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/runtime/domains/rights"
	"verbatim/runtime/frontends/wire"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/pack"
	"verbatim/verbs/palettes"
)

// Packs: palettes and their other files in one archive, verified at each reading. Installed packs
// are loaded with the palettes of their directory.

func readPack(file string) (*pack.Pack, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, &stop{exitUsage, "no-pack", fmt.Sprintf("the pack %s cannot be read: %s", quoted(file), reason(err)), "check the path; a pack that is installed is installed again with verbatim pack install"}
	}
	defer f.Close()
	archive, err := io.ReadAll(io.LimitReader(f, pack.MaxArchive+1))
	if err != nil {
		return nil, broken("the pack "+quoted(file)+" cannot be read", err, "try again")
	}
	p, err := pack.Open(archive)
	if err != nil {
		return nil, badPack(file, err)
	}
	return p, nil
}

func packCommand(a *app) *cobra.Command {
	var palettes, out string
	cmd := &cobra.Command{
		Use:   "pack DIR",
		Short: "Put palettes and what belongs to them into one file, or install such a file",
		Example: `verbatim pack .
verbatim pack verify client-1.0.0.zip`,
		Long: `DIR holds pack.json, which says what the pack is: {"name": "shop", "version": "1.2.0",
"needs": {"packs": {"client": "1.0.0"}}}. Its palettes are those in DIR/verbs, or those of
--palettes. Scripts, datasets, SQL and pages go with them. The same files make the same
bytes. Wherever palettes are named, a pack can be: --palettes shop-1.2.0.zip.`,
		Args: exactly(1, "the folder of the pack"),
		RunE: func(_ *cobra.Command, args []string) error { return a.pack(args[0], palettes, out) },
	}
	a.palettesFlag(cmd, &palettes)
	cmd.Flags().StringVarP(&out, "output", "o", "", "write this `file` (default NAME-VERSION.zip)")
	verify := &cobra.Command{
		Use:     "verify FILE",
		Short:   "Say what a pack is, if it is what it says",
		Example: "verbatim pack verify client-1.0.0.zip",
		Args:    exactly(1, "the file of a pack"),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := readPack(args[0])
			if err == nil {
				a.toldPack("verified", args[0], p)
			}
			return err
		},
	}
	var dir, store, servers string
	install := &cobra.Command{
		Use:     "install FILE",
		Short:   "Put a pack beside palettes, and pin it",
		Example: "verbatim pack install client-1.0.0.zip --palettes palettes",
		Long: `The pack is copied into the folder of palettes, and its version and digest are pinned in
packs.lock there: another file under its name is refused from then on. Nothing is fetched.
It is refused where a need is not met, where its palettes do not load with those that are
there, and where its version is older than the one that is installed.`,
		Args: exactly(1, "the file of a pack"),
		RunE: func(_ *cobra.Command, args []string) error { return a.install(args[0], dir, store, servers) },
	}
	a.palettesFlag(install, &dir)
	a.storeFlag(install, &store)
	a.serversFlag(install, &servers)
	cmd.AddCommand(verify, install)
	return cmd
}

// packed are the kinds of files that a pack contains besides palettes.
var packed = []string{".dsl", ".json", ".jsonl", ".md", ".sql", ".txt", ".yaml", ".yml"}

func (a *app) pack(dir, places, out string) error {
	text, err := os.ReadFile(filepath.Join(dir, pack.ManifestName))
	if err != nil {
		return usage(fmt.Sprintf("%s cannot be read: %s", quoted(filepath.Join(dir, pack.ManifestName)), reason(err)), `write {"name": "shop", "version": "1.0.0"} into it`)
	}
	if _, err := pack.ReadManifest(text); err != nil {
		return &stop{exitInput, "bad-pack", receipt.Safe(err.Error()), "verbatim pack --help shows one"}
	}
	if info, err := os.Stat(filepath.Join(dir, pack.PalettesDir)); places == "" && err == nil && info.IsDir() {
		places = filepath.Join(dir, pack.PalettesDir)
	}
	if _, err := a.wholePalettes(places); err != nil {
		return err
	}
	// Installed packs stay packs of their own.
	found := &shelf{at: map[string]shelved{}}
	for _, place := range placesIn(a.palettesDir(places)) {
		files, carried := palettes.Files(place)
		if !carried {
			files = os.DirFS(place)
		}
		if err := found.add(place, files); err != nil {
			return err
		}
	}
	files := map[string][]byte{}
	take := func(to, from string) error {
		text, err := os.ReadFile(from)
		files[to] = text
		return err
	}
	left := 0
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, name)
		switch {
		case err != nil || name == dir:
			return err
		case strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.IsDir() || found.holds(name): // palettes are added below
		case !d.Type().IsRegular():
			return &stop{exitInput, "bad-pack", quoted(name) + " is no plain file, and only those go into a pack", "put the file itself there"}
		case slices.Contains(packed, filepath.Ext(name)):
			return take(filepath.ToSlash(rel), name)
		default:
			left++
		}
		return nil
	})
	for _, e := range found.entries {
		if err == nil && e.Type().IsRegular() {
			files[path.Join(pack.PalettesDir, e.Name())], err = fs.ReadFile(found, e.Name())
		}
	}
	var told *stop
	switch {
	case errors.As(err, &told):
		return err
	case err != nil:
		return broken("a file of the pack cannot be read", err, "nothing was written")
	}
	p, err := pack.Make(files)
	if err != nil {
		return &stop{exitInput, "bad-pack", "no pack can be made of these files: " + receipt.Safe(err.Error()), "nothing was written"}
	}
	out = cmp.Or(out, pack.FileName(p.Name, p.Version))
	if err := replace(out, string(p.Archive)); err != nil {
		return broken(quoted(out)+" cannot be written", err, "check the path, and who may write there")
	}
	if left > 0 {
		fmt.Fprintf(a.err, "left out %s: only %s go into a pack\n", receipt.Counted(left, "file"), strings.Join(packed, ", "))
	}
	a.toldPack("packed", out, p)
	return nil
}

// holds reports whether a file is one of the palettes.
func (s *shelf) holds(name string) bool {
	at, there := s.at[filepath.Base(name)]
	if _, carried := palettes.Files(at.name); !there || carried {
		return false
	}
	a, err := os.Stat(name)
	b, err2 := os.Stat(filepath.Join(filepath.FromSlash(at.name), filepath.Base(name)))
	return err == nil && err2 == nil && os.SameFile(a, b)
}

type packJSON struct {
	Schema  string     `json:"schema"`
	Done    string     `json:"done"` // "packed", "verified", "installed"
	File    string     `json:"file"`
	Name    string     `json:"name"`
	Version string     `json:"version"`
	Digest  string     `json:"digest"`
	Needs   pack.Needs `json:"needs"`
	Files   []string   `json:"files"`
}

func (a *app) toldPack(done, file string, p *pack.Pack) {
	if a.json {
		a.emit(packJSON{"verbatim/pack@1", done, file, p.Name, p.Version, p.Digest, p.Needs, wire.Some(p.Files)})
		return
	}
	fmt.Fprintf(a.out, "%-9s %s %s, %s, in %s\n%-9s %s\n", done, p.Name, p.Version, receipt.Counted(len(p.Files), "file"), file, "digest", p.Digest)
	if p.Description != "" {
		fmt.Fprintf(a.out, "%-9s %s\n", "", receipt.Safe(p.Description))
	}
	needs := []string{}
	if p.Needs.Verbatim != "" {
		needs = append(needs, "verbatim "+p.Needs.Verbatim)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Needs.Packs)) {
		needs = append(needs, "the pack "+name+" "+p.Needs.Packs[name])
	}
	if len(p.Needs.Stores) > 0 {
		needs = append(needs, "a store of "+strings.Join(p.Needs.Stores, " or "))
	}
	if len(needs) > 0 {
		fmt.Fprintf(a.out, "%-9s %s\n", "needs", strings.Join(needs, ", "))
	}
}

func (a *app) install(file, palettes, store, servers string) error {
	p, err := readPack(file)
	if err != nil {
		return err
	}
	dir, err := onePlace(a.palettesDir(palettes))
	if err != nil {
		return err
	}
	info, err := os.Stat(dir)
	fresh := errors.Is(err, fs.ErrNotExist)
	if !fresh && (err != nil || !info.IsDir()) {
		return usage(quoted(dir)+" is no folder of palettes", "name another with --palettes DIR")
	}
	lock, err := readLock(dir)
	if err != nil {
		return err
	}
	before := lock.Packs[p.Name].Version
	if err := lock.Pin(p); err != nil {
		return &stop{exitInput, "pack-version", receipt.Safe(err.Error()), "nothing was installed; to go back after all, take it out of " + filepath.Join(dir, pack.LockName)}
	}
	next := &shelf{at: map[string]shelved{}}
	if !fresh {
		if err := next.add(dir, os.DirFS(dir)); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lock.Packs)) {
		file, is := file, p
		if name != p.Name {
			file = filepath.Join(dir, pack.FileName(name, lock.Packs[name].Version))
			if is, err = readPack(file); err == nil {
				err = lock.Check(is)
			}
			if err != nil {
				return err
			}
		}
		if err := next.addPack(file, is); err != nil {
			return err
		}
	}
	kind := ""
	if at, err := a.storeAddress(store); err == nil && (store != "" || a.env("VERBATIM_STORE") != "") {
		kind = map[bool]string{true: "sqlite", false: "postgres"}[at.url == ""]
	}
	needs := next.unmet(kind)
	l := next.load(rights.Source())
	if l.reg != nil {
		more, err := a.lacks(l.reg, file, servers)
		if err != nil {
			return err
		}
		needs = append(needs, more...)
	}
	if err := unmet(needs); err != nil {
		return err
	}
	if l.reg == nil {
		a.complain(l.ds)
		return &stop{exitInput, "pack-clash", fmt.Sprintf("the palettes of %s do not load with those in %s; nothing was installed", p.Name, quoted(dir)), "verbatim lint " + shell(file)}
	}
	if err = nil; fresh {
		err = os.Mkdir(dir, 0o777)
	}
	if err == nil {
		err = replace(filepath.Join(dir, pack.FileName(p.Name, p.Version)), string(p.Archive))
	}
	if err == nil {
		err = replace(filepath.Join(dir, pack.LockName), lock.Text())
	}
	if err != nil {
		return broken("the pack cannot be installed", err, "what was installed before is still there; try again")
	}
	if before != "" && before != p.Version {
		_ = os.Remove(filepath.Join(dir, pack.FileName(p.Name, before))) // nothing refers to it any more
	}
	a.toldPack("installed", filepath.Join(dir, pack.FileName(p.Name, p.Version)), p)
	return nil
}

// lacks lists what a pack needs and this program or the server file does not have.
func (a *app) lacks(reg *verbs.Registry, file, servers string) (all []string, err error) {
	ours := func(v *verbs.Verb) bool {
		return strings.HasPrefix(v.Place.Source.Name, filepath.ToSlash(filepath.Clean(file))+"/")
	}
	h := handlers(reg)
	lacking := h.Lacks(reg)
	has := func(string) bool { return false }
	if at := a.serversFile(servers); at != "" {
		s, _, err := a.servers(at)
		if err != nil {
			return nil, err
		}
		has = s.Has
	}
	named := slices.Clone(ownServers)
	for _, v := range reg.Verbs() {
		if !ours(v) {
			continue
		}
		if slices.Contains(lacking, v.Name) {
			all = append(all, v.Name+" needs a handler in Go, which this program does not have")
		}
		if v.Tool != nil && !has(v.Tool.Server) && !slices.Contains(named, v.Tool.Server) {
			named = append(named, v.Tool.Server) // it is reported once
			all = append(all, v.Name+" needs the server of tools "+v.Tool.Server+", which --servers does not name")
		}
	}
	for _, name := range h.LacksFunctions(reg) {
		all = append(all, "expressions need the function "+name+", which this program does not have")
	}
	return all, nil
}
