// Package pack keeps palettes and what belongs to them (examples, datasets of evaluations,
// data) in one file, so that they can be handed over whole:
//
//	p, err := pack.Make(files)       // files["pack.json"] says what it is
//	p, err = pack.Open(p.Archive)    // what it says of itself is true, or this is an error
//	palettes, err := p.Palettes()    // for verbs.Load
//
// An archive is a ZIP file: its entries can be judged before anything is unpacked, and it is
// read in place. The same files make the same bytes. Nothing here fetches anything.
package pack

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"
)

const (
	// ManifestName is the file that says what a pack is.
	ManifestName = "pack.json"
	// PalettesDir is the folder of its palettes.
	PalettesDir = "verbs"

	sumName = "pack.sum" // holds the digest of all other files

	// MaxArchive bounds the bytes of an archive, and MaxContent those of its files unpacked.
	MaxArchive = 64 << 20
	MaxContent = 128 << 20
	maxFiles   = 2000
)

// A Manifest says what a pack is. Versions are semantic ones, such as 1.4.0.
type Manifest struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description,omitempty"`
	Needs       Needs  `json:"needs,omitzero"`
}

// Needs are what a pack needs beside what its palettes say of themselves, which are the
// servers of its tools and the handlers of its verbs.
type Needs struct {
	Verbatim string            `json:"verbatim,omitempty"` // the oldest version of the program
	Packs    map[string]string `json:"packs,omitempty"`    // by name: the oldest version, of which the first number stays
	Stores   []string          `json:"stores,omitempty"`   // sqlite, postgres; any, where it is empty
}

// A Pack was read from an archive and is what it says. It is read-only.
type Pack struct {
	Manifest
	Digest string // of all its files
	Files  []string
	// Archive is what it was read from.
	Archive []byte
	zip     *zip.Reader
}

// Palettes are its palettes, as verbs.Load reads them.
func (p *Pack) Palettes() (fs.FS, error) { return fs.Sub(p.zip, PalettesDir) }

// ReadFile reads one of its files.
func (p *Pack) ReadFile(name string) ([]byte, error) { return fs.ReadFile(p.zip, name) }

var nameOf = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

// ReadManifest reads one, strictly.
func ReadManifest(text []byte) (m Manifest, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("%s cannot be read: %s", ManifestName, strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return m, fmt.Errorf("%s holds more than one JSON object", ManifestName)
	}
	if !nameOf.MatchString(m.Name) {
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

// Make makes an archive of files by their names, with slashes. One of them is the manifest.
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
	return Open(b.Bytes()) // what cannot be read again is not given out
}

func digest(names []string, open func(string) (io.ReadCloser, error)) (string, error) {
	return dirhash.Hash1(names, open)
}

// Open reads an archive. It is an error where an entry is anything but a plain file inside it,
// where two names are the same but for capitals, where it is too large, or where its files are
// not those of its digest.
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

// judge looks at the entries before any of them is read.
func (p *Pack) judge() error {
	if len(p.zip.File) > maxFiles {
		return fmt.Errorf("it holds %d files, and a pack at most %d", len(p.zip.File), maxFiles)
	}
	seen := map[string]string{} // by the name in small letters
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

// Unmet are the needs of a pack that are not met by a program of some version, the packs
// beside it (versions by name), and a store, each in words. A program without a version, such
// as one that is being developed, meets any.
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
