package lsp

import (
	"cmp"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// A house keeps the palettes of each directory as last read.
type house struct {
	files fs.FS
	mu    sync.Mutex
	sets  map[string]*palettes
}

// palettes are the palettes of a directory, read together.
type palettes struct {
	dir   string
	files map[string]*text // by path
	draft *load.Draft
	// reg is the registry for scripts: for files that are not valid YAML at present, it has their
	// last valid text.
	reg  *verbs.Registry
	lost bool // reg may lack names

	kept     *load.Readings
	readable map[string]*text // by path, the last that was YAML
}

var domainLine = regexp.MustCompile(`(?m)^domain:`)

// filesOf returns the texts of the palettes in a directory, by path: those of files, replaced by
// those that are open. A YAML file is a palette if it has a domain, or if it is the translation of
// a palette.
func (h *house) filesOf(dir string, docs map[string]*document) map[string]string {
	found := make(map[string]string)
	entries, _ := fs.ReadDir(h.files, within(dir)) // a directory that cannot be read holds none
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if info, err := e.Info(); err != nil || !isPalette(path) || docs[path] != nil || !info.Mode().IsRegular() || info.Size() > load.DefaultMaxFile {
			continue
		}
		if raw, err := fs.ReadFile(h.files, within(path)); err == nil {
			found[path] = string(raw)
		}
	}
	for path, d := range docs {
		if filepath.Dir(path) == dir && isPalette(path) && !d.script {
			found[path] = d.text.src.Text
		}
	}
	domains := make(map[string]bool)
	for path, s := range found {
		if domainLine.MatchString(s) {
			name, _, _ := strings.Cut(filepath.Base(path), ".")
			domains[name] = true
		}
	}
	maps.DeleteFunc(found, func(path, s string) bool {
		name, _, _ := strings.Cut(filepath.Base(path), ".")
		return !domains[name]
	})
	return found
}

// within returns a path in the form of a file system.
func within(path string) string {
	return cmp.Or(strings.Trim(filepath.ToSlash(path), "/"), ".")
}

func isPalette(path string) bool {
	base := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	return isYAML(path) && filepath.IsAbs(path) && base != "" && base[0] != '.' && !strings.HasSuffix(base, "_test")
}

// palettes reads the palettes of a directory, unless they are unchanged.
func (h *house) palettes(dir string, docs map[string]*document) *palettes {
	texts := h.filesOf(dir, docs)
	h.mu.Lock()
	defer h.mu.Unlock()
	was := h.sets[dir]
	if was == nil {
		was = &palettes{kept: new(load.Readings), readable: make(map[string]*text)}
	}
	// A palette that has lost its domain is being edited.
	for path := range was.files {
		if d := docs[path]; d != nil && texts[path] == "" {
			texts[path] = d.text.src.Text
		}
	}
	if len(texts) == 0 {
		delete(h.sets, dir)
		return nil
	}
	p := &palettes{dir: dir, files: make(map[string]*text, len(texts)), kept: was.kept, readable: was.readable}
	same := was.draft != nil && len(texts) == len(was.files)
	for path, s := range texts {
		if old := was.files[path]; old != nil && old.src.Text == s {
			p.files[path] = old
		} else {
			p.files[path], same = newText(filepath.Base(path), s), false
		}
	}
	if same {
		return was
	}
	p.draft = load.ReadDraft(p.kept, false, p.sources()...)
	p.reg, p.lost = p.draft.Registry, p.draft.Lost
	for path, t := range p.files {
		if !slices.Contains(p.draft.Unread, t.src) {
			p.readable[path] = t
		}
	}
	if instead := p.instead(); !slices.Equal(instead, p.sources()) {
		if was.draft != nil && slices.Equal(was.instead(), instead) {
			p.reg, p.lost = was.reg, was.lost
		} else {
			d := load.ReadDraft(nil, false, instead...)
			p.reg, p.lost = d.Registry, d.Lost
		}
	}
	h.sets[dir] = p
	return p
}

// instead returns the texts that reg was read from.
func (p *palettes) instead() []*dsl.Source {
	var srcs []*dsl.Source
	for _, path := range p.paths() {
		t := p.files[path]
		if last := p.readable[path]; last != nil && slices.Contains(p.draft.Unread, t.src) {
			t = last
		}
		srcs = append(srcs, t.src)
	}
	return srcs
}

func (p *palettes) paths() []string { return slices.Sorted(maps.Keys(p.files)) }

func (p *palettes) sources() []*dsl.Source {
	var srcs []*dsl.Source
	for _, path := range p.paths() {
		srcs = append(srcs, p.files[path].src)
	}
	return srcs
}

// with reads the palettes as they would be with other texts in place of some, and what
// their names are used for.
func (p *palettes) with(texts map[string]string) (*load.Draft, map[*dsl.Source]string) {
	var srcs []*dsl.Source
	paths := make(map[*dsl.Source]string)
	for _, path := range p.paths() {
		src := p.files[path].src
		if s, other := texts[path]; other {
			src = dsl.NewSource(filepath.Base(path), s)
		}
		srcs = append(srcs, src)
		paths[src] = path
	}
	return load.ReadDraft(nil, true, srcs...), paths
}

// pathOf returns the file of a text of the palettes.
func (p *palettes) pathOf(src *dsl.Source) (path string, t *text) {
	if p == nil || src == nil {
		return "", nil
	}
	for path, t := range p.files {
		if t.src == src {
			return path, t
		}
	}
	for path, t := range p.readable {
		if t.src == src {
			return path, t
		}
	}
	return "", nil
}

// checked is a script with the diagnostics of its last check.
type checked struct {
	text   *text
	reg    *verbs.Registry
	script *dsl.Script
	ds     dsl.Diagnostics
}

// check checks a script, unless it and its palettes are unchanged.
func (s *server) check(path string, t *text, p *palettes) *checked {
	s.checking.Lock()
	defer s.checking.Unlock()
	var reg *verbs.Registry
	lost := false
	if p != nil {
		reg, lost = p.reg, p.lost
	}
	if c := s.checked[path]; c != nil && c.text == t && c.reg == reg {
		return c
	}
	c := &checked{text: t, reg: reg}
	c.script, c.ds = dsl.Parse(t.src)
	if reg != nil {
		_, more := reg.Check(c.script, nil)
		if lost { // an unread palette may declare the name
			more = slices.DeleteFunc(more, func(d dsl.Diagnostic) bool { return d.Code == "unknown-verb" && len(d.Fixes) == 0 })
		}
		c.ds = append(reg.Mask(c.script, c.ds), more...)
	}
	slices.SortStableFunc(c.ds, func(a, b dsl.Diagnostic) int { return int(a.Place.Range.Start) - int(b.Place.Range.Start) })
	s.checked[path] = c
	return c
}

// everything returns the diagnostics of all documents, and of the palettes beside them, by URI.
func (s *server) everything(docs map[string]*document) map[string]published {
	found := make(map[string]published)
	sets := make(map[string]bool)
	for path, d := range docs {
		switch {
		case d.script:
			p := s.palettesOf(d, docs)
			c := s.check(path, d.text, p)
			found[d.uri] = told(d, d.uri, d.text, c.ds, p)
		case isPalette(path):
			sets[filepath.Dir(path)] = true
		}
	}
	for dir := range sets {
		p := s.house.palettes(dir, docs)
		if p == nil {
			continue
		}
		of := make(map[*dsl.Source]dsl.Diagnostics)
		first := p.files[p.paths()[0]].src
		for _, d := range p.draft.Diagnostics {
			src := d.Place.Source
			if src == nil { // a diagnostic of all files
				src = first
			}
			of[src] = append(of[src], d)
		}
		for path, t := range p.files {
			d, uri := docs[path], uriOf(path)
			if d != nil {
				uri = d.uri
			}
			found[uri] = told(d, uri, t, of[t.src], p)
		}
	}
	return found
}

// palettesOf returns the palettes that a document belongs to, or is checked with; nil if there are
// none.
func (s *server) palettesOf(d *document, docs map[string]*document) *palettes {
	dir := filepath.Dir(d.path)
	if d.script {
		dir = s.home(d.path, docs)
	} else if !isPalette(d.path) {
		return nil
	}
	if dir == "" {
		return nil
	}
	return s.house.palettes(dir, docs)
}

// told returns the message to the editor about a text. d is its document, nil if the file is not
// open.
func told(d *document, uri string, t *text, ds dsl.Diagnostics, p *palettes) published {
	out := published{URI: uri, Diagnostics: []diagnostic{}}
	if d != nil {
		out.Version = &d.version
	}
	r := t.ruler()
	for i := range ds {
		out.Diagnostics = append(out.Diagnostics, toldOne(&ds[i], uri, t, r, p))
	}
	return out
}

func toldOne(d *dsl.Diagnostic, uri string, t *text, r *ruler, p *palettes) diagnostic {
	said := []string{d.Summary}
	if d.Label != "" {
		said = append(said, d.Label)
	}
	out := diagnostic{Severity: 1 + int(d.Severity), Code: d.Code, Source: "verbatim", Message: strings.Join(append(said, d.Notes...), "\n")}
	if d.Place.Source != nil {
		out.Range = r.span(d.Place.Range)
	}
	for _, rel := range d.Related {
		switch path, at := p.pathOf(rel.Place.Source); {
		case rel.Place.Source == t.src:
			out.Related = append(out.Related, related{location{uri, t.ruler().span(rel.Place.Range)}, rel.Message})
		case at != nil:
			out.Related = append(out.Related, related{location{uriOf(path), at.ruler().span(rel.Place.Range)}, rel.Message})
		}
	}
	return out
}
