// Package pack stores palettes and what belongs to them (examples, datasets of evaluations, data)
// in one file, so that they can be handed over as a whole:
//
//	p, err := pack.Make(files)       // files["pack.json"] says what it is
//	p, err = pack.Open(p.Archive)    // what it says of itself is true, or this is an error
//	palettes, err := p.Palettes()    // for load.Dir
//
// An archive is a ZIP file: its entries can be checked before anything is unpacked, and it is
// read in place. The same files make the same bytes. Nothing here fetches anything.
package pack

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"

	"verbatim/verbs/strict"
)

const (
	// ManifestName is the name of the file with the manifest.
	ManifestName = "pack.json"
	// PalettesDir is the folder of the palettes.
	PalettesDir = "verbs"

	sumName = "pack.sum" // holds the digest of all other files

	// MaxArchive limits the size of an archive, and MaxContent the size of its unpacked files.
	MaxArchive = 64 << 20
	MaxContent = 128 << 20
	maxFiles   = 2000
)

// A Manifest describes a pack. Versions are semantic ones, such as 1.4.0.
type Manifest struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
	Needs       Needs  `json:"needs,omitzero"`
}

// Needs are the requirements of a pack that its palettes do not declare themselves, such as the
// servers of tools and the handlers of verbs.
type Needs struct {
	Verbatim string            `json:"verbatim,omitempty"` // the oldest usable version of the program
	Packs    map[string]string `json:"packs,omitempty"`    // by name: the oldest usable version; the major version must be the same
	Stores   []string          `json:"stores,omitempty"`   // sqlite, postgres; empty for any
}

// A Pack is a verified pack that was read from an archive. It is read-only.
type Pack struct {
	Manifest
	Digest string // of all its files
	Files  []string
	// Archive is the archive that it was read from.
	Archive []byte
	zip     *zip.Reader
}

// Palettes returns the palettes, for load.Dir.
func (p *Pack) Palettes() (fs.FS, error) { return fs.Sub(p.zip, PalettesDir) }

// ReadFile reads a file of the pack.
func (p *Pack) ReadFile(name string) ([]byte, error) { return fs.ReadFile(p.zip, name) }

var nameOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`) })

// ReadManifest reads a manifest, strictly.
func ReadManifest(text []byte) (m Manifest, err error) {
	if err := strict.JSON(text, &m); err != nil {
		return m, fmt.Errorf("%s cannot be read: %w", ManifestName, err)
	}
	if !nameOf().MatchString(m.Name) {
		return m, fmt.Errorf("%s: the name %q is not one of small letters, digits and dashes", ManifestName, m.Name)
	}
	versions := map[string]string{"version": m.Version}
	if m.Needs.Verbatim != "" {
		versions["needs.verbatim"] = m.Needs.Verbatim
	}
	for name, v := range m.Needs.Packs {
		versions["needs.packs."+name] = v
	}
	for _, key := range slices.Sorted(maps.Keys(versions)) {
		if v := versions[key]; semver.Canonical("v"+v) != "v"+v {
			return m, fmt.Errorf("%s: %s is %q, and a version is written 1.4.0", ManifestName, key, v)
		}
	}
	for _, s := range m.Needs.Stores {
		if s != "sqlite" && s != "postgres" {
			return m, fmt.Errorf("%s: there is no store %q, but sqlite and postgres", ManifestName, s)
		}
	}
	return m, nil
}

// Make makes an archive from files, by their names with slashes. One of them is the manifest.
func Make(files map[string][]byte) (*Pack, error) {
	files = maps.Clone(files)
	delete(files, sumName)
	sum, err := digest(slices.Sorted(maps.Keys(files)), func(name string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files[name])), nil
	})
	if err != nil {
		return nil, err
	}
	files[sumName] = []byte(sum + "\n")
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		// Nothing is compressed, since releases of Go compress differently.
		h := &zip.FileHeader{Name: name, Method: zip.Store, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(0o644)
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write(files[name])
		}
		if err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return Open(b.Bytes()) // an archive that cannot be read again is not returned
}

func digest(names []string, open func(string) (io.ReadCloser, error)) (string, error) {
	return dirhash.Hash1(names, open)
}

// Open reads an archive. It returns an error if an entry is anything but a plain file inside it,
// if two names differ only in case, if it is too large, or if its files do not match its digest.
func Open(archive []byte) (*Pack, error) {
	if len(archive) > MaxArchive {
		return nil, fmt.Errorf("it has %d bytes, and a pack has at most %d", len(archive), MaxArchive)
	}
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, errors.New("it is no ZIP file, or one that was cut short")
	}
	p := &Pack{Archive: archive, zip: r}
	if err := p.judge(); err != nil {
		return nil, err
	}
	text, err := p.ReadFile(ManifestName)
	if err != nil {
		return nil, fmt.Errorf("it holds no %s, which says what it is", ManifestName)
	}
	if p.Manifest, err = ReadManifest(text); err != nil {
		return nil, err
	}
	said, err := p.ReadFile(sumName)
	if err != nil {
		return nil, fmt.Errorf("it holds no %s with its digest", sumName)
	}
	p.Digest, err = digest(p.Files, func(name string) (io.ReadCloser, error) { return r.Open(name) })
	if err != nil {
		return nil, fmt.Errorf("its files cannot be read: %s", strings.TrimPrefix(err.Error(), "zip: "))
	}
	if told := strings.TrimSuffix(string(said), "\n"); told != p.Digest {
		return nil, fmt.Errorf("it says that its digest is %.60q, and that of its files is %s", told, p.Digest)
	}
	return p, nil
}

// judge checks the entries before any of them is read.
func (p *Pack) judge() error {
	if len(p.zip.File) > maxFiles {
		return fmt.Errorf("it holds %d files, and a pack at most %d", len(p.zip.File), maxFiles)
	}
	seen := map[string]string{} // by the name in lower case
	var size uint64
	for _, f := range p.zip.File {
		switch before := seen[strings.ToLower(f.Name)]; {
		case !fs.ValidPath(f.Name) || strings.ContainsAny(f.Name, `\:`) || strings.ContainsFunc(f.Name, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return fmt.Errorf("the name %q leads out of the pack, or is none that every system has", f.Name)
		case !f.Mode().IsRegular():
			return fmt.Errorf("%q is no plain file: links and folders have no place in a pack", f.Name)
		case before == f.Name:
			return fmt.Errorf("%q is there twice", f.Name)
		case before != "":
			return fmt.Errorf("%q and %q are one file on some systems", before, f.Name)
		}
		seen[strings.ToLower(f.Name)] = f.Name
		if size += f.UncompressedSize64; f.UncompressedSize64 > MaxContent || size > MaxContent {
			return fmt.Errorf("its files have more than %d bytes", MaxContent)
		}
		if f.Name != sumName {
			p.Files = append(p.Files, f.Name)
		}
	}
	for _, name := range seen {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if file, taken := seen[strings.ToLower(dir)]; taken {
				return fmt.Errorf("%q is a file, and the folder of %q", file, name)
			}
		}
	}
	slices.Sort(p.Files)
	return nil
}

// Unmet returns, in words, the needs of a pack that a version of the program, the other packs
// (versions by name) and a store do not meet. A program without a version, such as one under
// development, meets any.
func (m *Manifest) Unmet(program string, packs map[string]string, store string) (all []string) {
	if v := "v" + strings.TrimPrefix(program, "v"); m.Needs.Verbatim != "" && semver.IsValid(v) && semver.Compare(v, "v"+m.Needs.Verbatim) < 0 {
		all = append(all, fmt.Sprintf("verbatim %s or newer; this is %s", m.Needs.Verbatim, program))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Needs.Packs)) {
		least := m.Needs.Packs[name]
		switch is, there := packs[name]; {
		case !there:
			all = append(all, fmt.Sprintf("the pack %s %s; it is not installed", name, least))
		case semver.Major("v"+is) != semver.Major("v"+least) || semver.Compare("v"+is, "v"+least) < 0:
			all = append(all, fmt.Sprintf("the pack %s %s; %s is installed", name, least, is))
		}
	}
	if len(m.Needs.Stores) > 0 && store != "" && !slices.Contains(m.Needs.Stores, store) {
		all = append(all, fmt.Sprintf("a store of %s; this one is %s", strings.Join(m.Needs.Stores, " or "), store))
	}
	return all
}
