package lsp

import (
	"cmp"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// maxScripts is the number of scripts of the folders that are searched for a name.
const maxScripts = 5000

// scripts returns the scripts that use the palettes: open ones, and files of the folders.
func (s *server) scripts(of *palettes, docs map[string]*document) map[string]*text {
	found := make(map[string]*text)
	add := func(path string, read func() *text) {
		if s.home(path, docs) == of.dir {
			if t := read(); t != nil {
				found[path] = t
			}
		}
	}
	for path, d := range docs {
		if d.script {
			add(path, func() *text { return d.text })
		}
	}
	s.mu.Lock()
	folders := slices.Clone(s.folders)
	s.mu.Unlock()
	for _, folder := range folders {
		_ = fs.WalkDir(s.cfg.Files, within(folder), func(name string, e fs.DirEntry, err error) error {
			path := filepath.FromSlash("/" + name)
			switch {
			case err != nil:
				return nil // what cannot be read holds no names
			case e.IsDir() && path != folder && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules"):
				return fs.SkipDir
			case len(found) >= maxScripts:
				return fs.SkipAll
			case filepath.Ext(path) == ".dsl" && e.Type().IsRegular() && docs[path] == nil:
				add(path, func() *text {
					raw, err := fs.ReadFile(s.cfg.Files, name)
					if err != nil || len(raw) > dsl.DefaultLimits.Bytes {
						return nil
					}
					return newText(filepath.Base(path), string(raw))
				})
			}
			return nil
		})
	}
	return found
}

// everywhere returns the places that name a thing, in the order of paths.
func (s *server) everywhere(v *view, thing load.Thing) (all []namedPlace) {
	if thing.Kind == bindingThing {
		all = v.names()
	} else if v.of != nil {
		all, _ = v.of.named(nil)
		for path, t := range s.scripts(v.of, v.docs) {
			all = append(all, inScript(path, t, s.check(path, t, v.of).script, v.of.reg)...)
		}
	}
	all = slices.DeleteFunc(all, func(n namedPlace) bool { return n.Thing != thing })
	slices.SortFunc(all, func(a, b namedPlace) int {
		return cmp.Or(strings.Compare(a.path, b.path), int(a.Place.Range.Start-b.Place.Range.Start))
	})
	return slices.CompactFunc(all, func(a, b namedPlace) bool { return a.path == b.path && a.Place.Range == b.Place.Range })
}

func (v *view) uri(path string) string {
	if d := v.docs[path]; d != nil {
		return d.uri
	}
	return uriOf(path)
}

func (v *view) locations(all []namedPlace) []location {
	out := []location{}
	for _, n := range all {
		out = append(out, location{v.uri(n.path), n.text.ruler().span(n.Place.Range)})
	}
	return out
}

func (s *server) definition(p params) (any, error) {
	v, err := s.look(p)
	if err != nil {
		return nil, err
	}
	n, found := v.at(p.Position)
	if !found {
		return nil, nil
	}
	all := s.everywhere(v, n.Thing)
	return v.locations(slices.DeleteFunc(all, func(n namedPlace) bool { return !n.Declares })), nil
}

func (s *server) references(p params) (any, error) {
	v, err := s.look(p)
	if err != nil {
		return nil, err
	}
	n, found := v.at(p.Position)
	if !found || n.Thing.Kind == load.KeyThing {
		return nil, nil
	}
	all := s.everywhere(v, n.Thing)
	return v.locations(slices.DeleteFunc(all, func(n namedPlace) bool { return n.Declares && !p.Context.IncludeDeclaration })), nil
}

// renamable returns the name at a position, or the reason why it cannot be renamed.
func (s *server) renamable(p params) (*view, namedPlace, error) {
	v, err := s.look(p)
	if err != nil {
		return nil, namedPlace{}, err
	}
	n, found := v.at(p.Position)
	switch {
	case !found || n.Thing.Kind == load.KeyThing || n.Thing.Kind == load.WordThing:
		return nil, n, refuse(requestFailed, "nothing stands here that has a name of your own choosing")
	case !n.Known:
		return nil, n, refuse(requestFailed, "%q is declared nowhere", n.Thing.Name)
	}
	return v, n, nil
}

func (s *server) prepareRename(p params) (any, error) {
	v, n, err := s.renamable(p)
	if err != nil {
		return nil, err
	}
	return v.doc.text.ruler().span(n.Place.Range), nil
}

// rename gives a thing another name at all its places. It checks the result first: it refuses a
// rename that collides, or that misses a place.
func (s *server) rename(p params) (any, error) {
	v, n, err := s.renamable(p)
	if err != nil {
		return nil, err
	}
	all := s.everywhere(v, n.Thing)
	if !slices.ContainsFunc(all, func(n namedPlace) bool { return n.Declares }) {
		return nil, refuse(requestFailed, "%s is not declared in the files that are open or in the folder", n.Thing.Name)
	}
	if v.of != nil && len(v.of.draft.Unread) > 0 {
		return nil, refuse(requestFailed, "%s cannot be read, and may name it too: mend it first", v.of.draft.Unread[0].Name)
	}
	newName := strings.TrimLeft(strings.TrimSpace(p.NewName), ":@")
	if n.Thing.Kind == load.VerbThing {
		domain, _ := cutLast(n.Thing.Name, ".")
		newName = strings.TrimPrefix(newName, domain+".")
	}
	if newName == "" || strings.ContainsFunc(newName, func(r rune) bool { return r > 0x7f || !ofName(byte(r)) }) {
		return nil, refuse(requestFailed, "%q is no name: names are letters, digits, - and _", p.NewName)
	}
	edits := make(map[string][]textEdit)
	texts := make(map[string]string)
	was := make(map[string]*text)
	for i := len(all) - 1; i >= 0; i-- { // from the end of each text, so that places hold
		n := all[i]
		s, known := texts[n.path]
		if !known {
			s, was[n.path] = n.text.src.Text, n.text
		}
		r := n.Place.Range
		word := renamed(n.text.src.Text[r.Start:r.End], n.Thing, newName)
		texts[n.path] = s[:r.Start] + word + s[r.End:]
		uri := v.uri(n.path)
		edits[uri] = append(edits[uri], textEdit{n.text.ruler().span(r), word})
	}
	if why := s.breaks(v, all, texts, was); why != "" {
		return nil, refuse(requestFailed, "%s cannot be called %s: %s", n.Thing.Name, newName, why)
	}
	return workspaceEdit{edits}, nil
}

// renamed spells a new name like the old one: verbs with their domain or without, and expressions
// with underscores for dashes.
func renamed(old string, thing load.Thing, name string) string {
	if thing.Kind == load.VerbThing && old == thing.Name {
		domain, _ := cutLast(old, ".")
		return domain + "." + name
	}
	_, own, _ := strings.Cut(thing.Name, ":")
	if thing.Kind == load.ArgumentThing && old != own && !strings.Contains(old, "-") {
		return strings.ReplaceAll(name, "-", "_")
	}
	return name
}

// breaks says what would be wrong, and is not now, were the texts as they would be; or that
// something else would be meant.
func (s *server) breaks(v *view, renamed []namedPlace, texts map[string]string, was map[string]*text) string {
	had := make(map[string]int)
	count := func(ds dsl.Diagnostics, path string, n int) (why string) {
		for _, d := range ds {
			if d.Severity != dsl.Error {
				continue
			}
			key := path + "\x00" + d.Code
			if had[key] += n; n < 0 && had[key] < 0 {
				return d.Summary
			}
		}
		return ""
	}
	var reg *verbs.Registry
	if v.of != nil {
		count(v.of.draft.Diagnostics, "", 1)
		after, draft := v.of.named(texts)
		if why := count(draft.Diagnostics, "", -1); why != "" {
			return why
		}
		reg = draft.Registry
		things := make(map[load.Thing]int)
		for _, n := range after {
			things[n.Thing]++
		}
		for _, n := range renamed {
			if things[n.Thing] > 0 {
				return "it would still be named in places that a rename does not reach"
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		t := was[path]
		if isYAML(path) {
			continue
		}
		count(s.check(path, t, v.of).ds, path, 1)
		script, ds := dsl.Parse(dsl.NewSource(t.src.Name, texts[path]))
		if reg != nil {
			_, more := reg.Check(script, nil)
			ds = append(ds, more...)
		}
		if why := count(ds, path, -1); why != "" {
			return why
		}
	}
	return ""
}

var symbolKinds = map[string]int{load.RoleThing: symbolVariable, load.EntityThing: symbolClass, load.FieldThing: symbolField, load.CodesThing: symbolEnum,
	load.CodeThing: symbolEnumMember, load.SchemaThing: symbolClass, load.VerbThing: symbolFunction, load.ArgumentThing: symbolVariable}

// symbols returns the calls of a script, or the declarations of a palette.
func (s *server) symbols(p params) (any, error) {
	v, err := s.look(p)
	if err != nil {
		return nil, err
	}
	out := []symbol{}
	r := v.doc.text.ruler()
	if v.is != nil {
		for _, c := range v.is.script.Calls {
			whole := r.span(c.Range)
			name := r.span(c.VerbRange)
			as := ""
			if c.As != "" {
				as = "@" + c.As
			}
			out = append(out, symbol{Name: cmp.Or(c.Verb, "(a call)"), Detail: as, Kind: symbolFunction, Range: &whole, Select: &name})
		}
		return out, nil
	}
	for _, n := range declared(v.names()) {
		at := r.span(n.Place.Range)
		sym := symbol{Name: n.text.src.Text[n.Place.Range.Start:n.Place.Range.End], Detail: n.Thing.Kind, Kind: symbolKinds[n.Thing.Kind], Range: &at, Select: &at}
		switch n.Thing.Kind {
		case load.FieldThing, load.CodeThing, load.ArgumentThing:
			if len(out) > 0 {
				parent := &out[len(out)-1]
				parent.Children = append(parent.Children, sym)
				parent.Range = &span{parent.Range.Start, at.End} // which holds its children
				continue
			}
		}
		out = append(out, sym)
	}
	return out, nil
}

// declared returns the declarations, in the order of the text.
func declared(all []namedPlace) []namedPlace {
	all = slices.DeleteFunc(all, func(n namedPlace) bool { return !n.Declares })
	slices.SortStableFunc(all, func(a, b namedPlace) int {
		return cmp.Or(strings.Compare(a.path, b.path), int(a.Place.Range.Start-b.Place.Range.Start))
	})
	return all
}

// workspaceSymbols returns the declarations of the palettes of the folders, and of open documents.
func (s *server) workspaceSymbols(p params) (any, error) {
	docs, _ := s.snapshot()
	dirs := make(map[string]bool)
	s.mu.Lock()
	for _, f := range s.folders {
		dirs[f], dirs[filepath.Join(f, "verbs")] = true, true
	}
	s.mu.Unlock()
	for path, d := range docs {
		if d.script {
			dirs[s.home(path, docs)] = true
		} else {
			dirs[filepath.Dir(path)] = true
		}
	}
	out := []symbol{}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if !filepath.IsAbs(dir) {
			continue
		}
		all, _ := s.house.palettes(dir, docs).named(nil)
		for _, n := range declared(all) {
			if strings.Contains(strings.ToLower(n.Thing.Name), strings.ToLower(p.Query)) {
				out = append(out, symbol{Name: n.Thing.Name, Kind: symbolKinds[n.Thing.Kind], Location: &location{(&view{docs: docs}).uri(n.path), n.text.ruler().span(n.Place.Range)}})
			}
		}
	}
	return out, nil
}

// Types of tokens, by their place in the legend of capabilities.
const (
	tokenFunction = iota
	tokenParameter
	tokenVariable
	tokenEnumMember
	tokenString
	tokenNumber
	tokenComment
	tokenKeyword
	tokenType
	tokenProperty
)

var tokenKinds = map[string]int{load.RoleThing: tokenVariable, load.EntityThing: tokenType, load.FieldThing: tokenProperty, load.CodesThing: tokenType,
	load.CodeThing: tokenEnumMember, load.SchemaThing: tokenType, load.VerbThing: tokenFunction, load.ArgumentThing: tokenParameter, load.KeyThing: tokenKeyword}

type token struct {
	at       dsl.Range
	kind     int
	declares int
}

// tokens say what each word of the document is.
func (s *server) tokens(p params) (any, error) {
	v, err := s.look(p)
	if err != nil {
		return nil, err
	}
	var all []token
	if v.is == nil {
		for _, n := range v.names() {
			kind, known := tokenKinds[n.Thing.Kind]
			if known && n.Known {
				t := token{at: n.Place.Range, kind: kind}
				if n.Declares {
					t.declares = 1
				}
				all = append(all, t)
			}
		}
	} else {
		all = tokensOf(v.is.script)
	}
	slices.SortStableFunc(all, func(a, b token) int { return int(a.at.Start - b.at.Start) })
	data := []int{}
	r := v.doc.text.ruler()
	last, end := position{}, int32(0)
	for _, t := range all {
		at := r.span(t.at)
		if t.at.Start < end || at.Start.Line != at.End.Line || t.at.Start == t.at.End {
			continue // the protocol has tokens of one line, which do not overlap
		}
		start := at.Start.Character
		if at.Start.Line == last.Line {
			start -= last.Character
		}
		data = append(data, at.Start.Line-last.Line, start, at.End.Character-at.Start.Character, t.kind, t.declares)
		last, end = at.Start, t.at.End
	}
	return map[string][]int{"data": data}, nil
}

func tokensOf(script *dsl.Script) (all []token) {
	for _, c := range script.Comments {
		all = append(all, token{at: c.Range, kind: tokenComment})
	}
	dsl.Walk(script, func(n dsl.Node) bool {
		switch {
		case n.Call != nil:
			all = append(all, token{at: n.Call.VerbRange, kind: tokenFunction})
			if n.Call.As != "" {
				all = append(all, token{n.Call.AsRange, tokenVariable, 1})
			}
		case n.Arg != nil:
			all = append(all, token{at: n.Arg.KeyRange, kind: tokenParameter})
		default:
			switch n.Value.Kind {
			case dsl.Nil, dsl.Bool:
				all = append(all, token{at: n.Value.Range, kind: tokenKeyword})
			case dsl.Integer, dsl.Decimal, dsl.Date, dsl.DateTime, dsl.UUID:
				all = append(all, token{at: n.Value.Range, kind: tokenNumber})
			case dsl.String:
				all = append(all, token{at: n.Value.Range, kind: tokenString})
			case dsl.Code:
				all = append(all, token{at: n.Value.Range, kind: tokenEnumMember})
			case dsl.Symbol:
				all = append(all, token{at: n.Value.Range, kind: tokenVariable})
			}
		}
		return true
	})
	return all
}
