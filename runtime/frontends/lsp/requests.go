package lsp

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/sourcegraph/jsonrpc2"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/explain"
	"verbatim/verbs/load"
)

// requests are an editor's requests about a place, answered for the present texts.
var requests = map[string]func(s *server, p params) (any, error){
	"textDocument/codeAction":          (*server).codeActions,
	"textDocument/formatting":          (*server).format,
	"textDocument/hover":               (*server).hover,
	"textDocument/completion":          (*server).complete,
	"textDocument/signatureHelp":       (*server).signature,
	"textDocument/documentSymbol":      (*server).symbols,
	"workspace/symbol":                 (*server).workspaceSymbols,
	"textDocument/definition":          (*server).definition,
	"textDocument/references":          (*server).references,
	"textDocument/prepareRename":       (*server).prepareRename,
	"textDocument/rename":              (*server).rename,
	"textDocument/semanticTokens/full": (*server).tokens,
}

// A view is a document with its palettes and checks.
type view struct {
	doc  *document
	docs map[string]*document
	of   *palettes // nil if there are none
	is   *checked  // of a script
}

// look finds the document that a request is about.
func (s *server) look(p params) (*view, error) {
	docs, _ := s.snapshot()
	d := docs[pathOf(p.Document.URI)]
	if d == nil {
		return nil, refuse(jsonrpc2.CodeInvalidParams, "%s is not open", p.Document.URI)
	}
	v := &view{doc: d, docs: docs, of: s.palettesOf(d, docs)}
	if d.script {
		v.is = s.check(d.path, d.text, v.of)
	}
	return v, nil
}

// reg returns the registry of verbs, nil if there is none.
func (v *view) reg() *verbs.Registry {
	if v.of == nil {
		return nil
	}
	return v.of.reg
}

// said returns the diagnostics of the document.
func (v *view) said() dsl.Diagnostics {
	if v.is != nil {
		return v.is.ds
	}
	var ds dsl.Diagnostics
	if v.of != nil {
		for _, d := range v.of.draft.Diagnostics {
			if path, _ := v.of.pathOf(d.Place.Source); path == v.doc.path {
				ds = append(ds, d)
			}
		}
	}
	return ds
}

// codeActions returns the fixes of the diagnostics in a range.
func (s *server) codeActions(p params) (any, error) {
	v, err := s.look(p)
	if err != nil {
		return nil, err
	}
	t := v.doc.text
	from, to := int32(t.offset(p.Range.Start)), int32(t.offset(p.Range.End))
	out := []codeAction{}
	for _, d := range v.said() {
		if d.Place.Range.Start > to || d.Place.Range.End < from {
			continue
		}
		for i, f := range d.Fixes {
			var edits []textEdit
			for _, e := range f.Edits {
				edits = append(edits, textEdit{t.ruler().span(e.Range), e.Text})
			}
			out = append(out, codeAction{Title: f.Title, Kind: "quickfix", Preferred: i == 0 && f.Safe,
				Diagnostics: []diagnostic{toldOne(&d, v.doc.uri, t, t.ruler(), v.of)},
				Edit:        workspaceEdit{map[string][]textEdit{v.doc.uri: edits}}})
		}
	}
	return out, nil
}

// format prints a script in its one spelling. One with mistakes is left alone, and so are
// palettes.
func (s *server) format(p params) (any, error) {
	v, err := s.look(p)
	if err != nil {
		return nil, err
	}
	if v.is == nil {
		return []textEdit{}, nil
	}
	t := v.doc.text
	if _, ds := dsl.Parse(t.src); ds.HasErrors() {
		return nil, refuse(requestFailed, "the script has mistakes, and is left as it is: %s", ds[0].Summary)
	}
	text := dsl.Format(v.is.script)
	if text == t.src.Text {
		return []textEdit{}, nil
	}
	return []textEdit{{t.ruler().span(dsl.Range{End: int32(len(t.src.Text))}), text}}, nil
}

// A namedPlace is a place that names a thing. The names of results of calls belong to their script
// alone.
type namedPlace struct {
	load.Use
	path string
	text *text
}

const bindingThing = "binding"

// inScript returns the places of a script that name something.
func inScript(path string, t *text, script *dsl.Script, reg *verbs.Registry) (all []namedPlace) {
	if reg != nil {
		for _, u := range load.Uses(reg, script, nil) {
			all = append(all, namedPlace{u, path, t})
		}
	}
	bound := make(map[string]bool)
	dsl.Walk(script, func(n dsl.Node) bool {
		if n.Call != nil && n.Call.As != "" {
			bound[n.Call.As] = true
			all = append(all, namedPlace{load.Use{Thing: load.Thing{Kind: bindingThing, Name: n.Call.As}, Declares: true, Known: true,
				Place: dsl.Place{Source: t.src, Range: dsl.Range{Start: n.Call.AsRange.Start + 1, End: n.Call.AsRange.End}}}, path, t})
		}
		return true
	})
	dsl.Walk(script, func(n dsl.Node) bool {
		if n.Value != nil && n.Value.Kind == dsl.Symbol {
			name, _, _ := strings.Cut(n.Value.Text, ".")
			start := n.Value.Range.Start + 1
			if bound[name] {
				all = append(all, namedPlace{load.Use{Thing: load.Thing{Kind: bindingThing, Name: name}, Known: true,
					Place: dsl.Place{Source: t.src, Range: dsl.Range{Start: start, End: start + int32(len(name))}}}, path, t})
			}
		}
		return true
	})
	return all
}

// named returns the places of the palettes that name something, with other texts in place of some
// files.
func (p *palettes) named(texts map[string]string) ([]namedPlace, *load.Draft) {
	if p == nil {
		return nil, nil
	}
	draft, paths := p.with(texts)
	files := make(map[*dsl.Source]*text)
	var all []namedPlace
	for _, u := range draft.Uses {
		src := u.Place.Source
		if files[src] == nil {
			files[src] = newText(src.Name, src.Text)
		}
		all = append(all, namedPlace{u, paths[src], files[src]})
	}
	return all, draft
}

// names returns the places in the document that name something.
func (v *view) names() []namedPlace {
	if v.is != nil {
		return inScript(v.doc.path, v.doc.text, v.is.script, v.reg())
	}
	all, _ := v.of.named(nil)
	return slices.DeleteFunc(all, func(n namedPlace) bool { return n.path != v.doc.path })
}

// at returns the name at a position in the document: the shortest place that contains it.
func (v *view) at(p position) (namedPlace, bool) {
	at := int32(v.doc.text.offset(p))
	var best *namedPlace
	all := v.names()
	for i := range all {
		r := all[i].Place.Range
		if r.Start <= at && at <= r.End && (best == nil || r.End-r.Start < best.Place.Range.End-best.Place.Range.Start) {
			best = &all[i]
		}
	}
	if best == nil {
		return namedPlace{}, false
	}
	return *best, true
}

// hover returns the palettes' description of the name at a position.
func (s *server) hover(p params) (any, error) {
	v, err := s.look(p)
	if err != nil {
		return nil, err
	}
	n, found := v.at(p.Position)
	if !found {
		return nil, nil
	}
	words := v.describe(n)
	if words == "" {
		return nil, nil
	}
	span := v.doc.text.ruler().span(n.Place.Range)
	return hover{markup{"markdown", words}, &span}, nil
}

func code(s string) string { return "```text\n" + strings.TrimRight(s, "\n") + "\n```" }

// describe returns the known facts about a thing.
func (v *view) describe(n namedPlace) string {
	reg, name := v.reg(), n.Thing.Name
	if n.Thing.Kind == load.KeyThing {
		doc, example := load.KeyDoc(name)
		if doc == "" {
			return ""
		}
		_, key, _ := strings.Cut(name, " ")
		return doc + "\n\n" + code(key+": "+example)
	}
	if n.Thing.Kind == bindingThing {
		for _, other := range v.names() {
			if other.Thing == n.Thing && other.Declares {
				return "What the call in line " + strconv.Itoa(other.text.ruler().position(int(other.Place.Range.Start)).Line+1) + " comes to."
			}
		}
	}
	if reg == nil {
		return ""
	}
	titled := func(description string) string {
		_, last, _ := strings.Cut(name, " ")
		return "**" + cmp.Or(last, name) + "**, a " + n.Thing.Kind + ". " + description
	}
	switch n.Thing.Kind {
	case load.VerbThing:
		if verb := reg.Verb(name); verb != nil {
			var b strings.Builder
			if explain.Verb(&b, verb) == nil {
				return code(b.String())
			}
		}
	case load.ArgumentThing:
		if p := param(reg, name); p != nil {
			return code(explain.Argument(p)) + "\n\n" + p.Description
		}
	case load.RoleThing:
		if r := reg.Role(name); r != nil {
			return titled(r.Description)
		}
	case load.CodesThing:
		if l := reg.CodeList(name); l != nil {
			return titled(l.Description) + "\n\n" + code(strings.Join(l.Names(), "\n"))
		}
	case load.CodeThing:
		list, word, _ := strings.Cut(name, " ")
		if l := reg.CodeList(list); l != nil {
			for _, c := range l.Codes {
				if c.Name == word {
					return titled(strings.TrimSpace(c.Label+" "+c.Description)) + "\n\nOf " + list + ": " + strings.Join(l.Names(), ", ") + "."
				}
			}
		}
	case load.EntityThing:
		if e := reg.Entity(name); e != nil {
			var fields []string
			for i, f := range e.Store.Fields {
				fields = append(fields, f.Name+typed(e.Fields[i].Type))
			}
			return titled(e.Description) + "\n\n" + code(strings.Join(fields, "\n"))
		}
	case load.FieldThing:
		entity, field := cutLast(name, ".")
		if e := reg.Entity(entity); e != nil {
			for i, f := range e.Store.Fields {
				if f.Name == field {
					return titled(strings.TrimSpace(typed(e.Fields[i].Type) + " " + e.Fields[i].Description))
				}
			}
		}
	}
	return ""
}

func typed(t *verbs.Type) string {
	if t == nil {
		return ""
	}
	return ": " + t.Short()
}

func cutLast(s, sep string) (before, after string) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i+len(sep):]
}

// param finds the argument that a thing is, VERB:NAME.
func param(reg *verbs.Registry, name string) *verbs.Param {
	verb, arg, _ := strings.Cut(name, ":")
	if v := reg.Verb(verb); v != nil {
		for i := range v.Params {
			if v.Params[i].Name == arg {
				return &v.Params[i]
			}
		}
	}
	return nil
}

// calledAt finds the innermost call around a byte, or the last one before it, when nothing
// but blanks of its line stands between.
func calledAt(script *dsl.Script, at int32) *dsl.Call {
	var found *dsl.Call
	text := script.Source.Text
	dsl.Walk(script, func(n dsl.Node) bool {
		c := n.Call
		if c == nil || c.Range.Start > at {
			return true
		}
		if c.Range.End >= at || strings.Trim(text[c.Range.End:min(int(at), len(text))], " \t") == "" {
			found = c
		}
		return true
	})
	return found
}

// signature returns the parameters of the call at a position.
func (s *server) signature(p params) (any, error) {
	v, err := s.look(p)
	if err != nil || v.is == nil || v.reg() == nil {
		return nil, err
	}
	at := int32(v.doc.text.offset(p.Position))
	c := calledAt(v.is.script, at)
	if c == nil {
		return nil, nil
	}
	verb := v.reg().Verb(c.Verb)
	if verb == nil {
		return nil, nil
	}
	sig := signature{Label: verb.Name, Doc: verb.Description, Parameters: []parameterLabel{}}
	active := len(verb.Params)
	for i := range verb.Params {
		p := &verb.Params[i]
		label := ":" + p.Name + strings.TrimPrefix(typed(p.Type), ":")
		sig.Label += " " + label
		sig.Parameters = append(sig.Parameters, parameterLabel{label, explain.Argument(p)})
		for j := range c.Args {
			if a := &c.Args[j]; a.Key == p.Name && a.KeyRange.Start <= at && (j+1 == len(c.Args) || at < c.Args[j+1].KeyRange.Start) {
				active = i
			}
		}
	}
	return signatureHelp{Signatures: []signature{sig}, Parameter: active}, nil
}
