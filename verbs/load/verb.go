package load

import (
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
)

func (l *loader) declareVerbs(d *doc, p *verbs.Palette, list *yaml.Node) {
	n := len(list.Content)
	l.verbNodes = slices.Grow(l.verbNodes, n)
	p.Verbs = slices.Grow(p.Verbs, n)
	made := make([]verbs.Verb, 0, n)
	d.each(pair{value: list}, func(n *yaml.Node) {
		l.verbNodes = append(l.verbNodes, verbNode{d: d, n: n})
		vn := &l.verbNodes[len(l.verbNodes)-1]
		var ok bool
		if vn.f, ok = d.fields(n, "verb"); !ok || vn.f.at("verb").value == nil {
			l.verbNodes = l.verbNodes[:len(l.verbNodes)-1]
			return
		}
		k := vn.f.at("verb").value
		made = append(made, verbs.Verb{Name: k.Value, Place: d.place(k)})
		vn.v = &made[len(made)-1]
		if p.Domain != "" {
			vn.v.Name = p.Domain + "." + k.Value
		}
		d.name(k, "verb")
		d.declares(k, VerbThing, vn.v.Name)
		first := l.verbNamed[vn.v.Name]
		if d.beside && first != nil && !slices.Contains(d.apart, first.Place.Source) {
			first = nil // its domain is the program's own, which is said of that
		}
		if first != nil {
			d.report(tell(vn.v.Place, "declared-twice", "verb", vn.v.Name, first.Place))
		} else {
			l.verbNamed[vn.v.Name] = vn.v
		}
		p.Verbs = append(p.Verbs, vn.v)
	})
}

// verb reads everything about a verb that does not depend on other verbs.
func (l *loader) verb(vn *verbNode) {
	d, v, f := vn.d, vn.v, &vn.f
	v.Description = f.text("description")
	l.verbRoles(vn)
	l.params(vn)
	v.Phrases = d.phrases(v, f.at("phrases"))
	if n := f.at("returns").value; n != nil {
		if rf, ok := d.fields(n, "returns"); ok {
			v.Returns.Type = rf.text("type")
			if rf.at("includes").value != nil {
				v.Returns.Includes = make([]string, 0, len(rf.at("includes").value.Content))
			}
			d.items(rf.at("includes"), func(n *yaml.Node) { v.Returns.Includes = append(v.Returns.Includes, n.Value) })
			d.items(rf.at("shows"), func(n *yaml.Node) {
				if !slices.Contains(v.Returns.Includes, n.Value) {
					d.report(tell(d.place(n), "unknown-name/told", n.Value, v.Returns.Includes))
					return
				}
				v.Returns.Shows = append(v.Returns.Shows, n.Value)
			})
		}
	}
	if n := f.at("deprecated").value; n != nil {
		l.deprecation(vn, n)
	}
	if f.at("totals").value != nil {
		l.totals(vn)
	}
	if f.at("discloses").key != nil || f.at("looks").key != nil {
		l.discloses(vn)
	}
	l.requires(vn)
	l.usage(vn)
	l.confirm(vn)
	l.unheld(vn)
	before := len(d.diags)
	if n := f.at("tool").value; n != nil {
		l.tool(vn, n)
	}
	if n := f.at("effects").value; n != nil {
		v.Effects = make([]verbs.Effect, 0, len(n.Content))
		d.each(f.at("effects"), func(n *yaml.Node) { l.effect(vn, n) })
	}
	if n := f.at("reads").value; n != nil {
		l.read(vn, n)
	}
	if n := f.at("query").value; n != nil {
		l.query(vn, n)
	}
	if n := f.at("script").value; n != nil {
		l.macro(vn, n)
	} else if k := f.at("for-each").key; k != nil && f.at("script").key == nil {
		d.report(tell(d.place(k), "contradiction", "for-each stands beside no script", "of an effect, it stands in the effect", dsl.Place{}, ""))
	}
	if v.Tool != nil {
		l.toolRows(vn)
	}
	v.Broader, v.Simpler = l.instead(vn, "broader"), l.instead(vn, "simpler")
	v.Handler = f.boolean("handler")
	if at := f.at("matching"); at.value != nil && v.Handler {
		l.looksFor(vn, at)
	} else if at.key != nil {
		d.report(tell(d.place(at.key), "contradiction", "matching stands beside no handler", "of a read, it stands in the read", dsl.Place{}, ""))
	}
	if v.Internal = f.boolean("internal"); v.Internal {
		for _, k := range [...]string{"phrases", "tells"} {
			if f.at(k).key != nil {
				d.report(tell(d.place(f.at(k).key), "contradiction", v.Name+" is internal, and has "+f.at(k).key.Value, "nobody says it and nobody is told of it; leave them out", d.place(f.at("internal").key), "internal here"))
			}
		}
	}
	if n := f.at("tells").value; n != nil {
		vn.tells(n)
	}
	wrong := dsl.Diagnostics(d.diags[before:]).HasErrors()
	l.carriedOut(vn, wrong)
	l.undo(vn, wrong)
}

func (l *loader) verbRoles(vn *verbNode) {
	d, v := vn.d, vn.v
	roles := vn.f.at("roles")
	if roles.key == nil || roles.value != nil && len(roles.value.Content) == 0 {
		place := v.Place
		if roles.key != nil {
			place = d.place(roles.key)
		}
		d.report(tell(place, "nobody-may-use", v.Name))
		return
	}
	if roles.value != nil {
		v.Roles = make([]*verbs.Role, 0, len(roles.value.Content))
	}
	d.items(roles, func(n *yaml.Node) {
		r := l.roleOf(d, n)
		switch {
		case r == nil:
			d.report(unknownRole(d.place(n), n.Value, l.roles, ""))
		case slices.Contains(v.Roles, r):
			d.report(tell(d.place(n), "declared-twice/listed", n.Value, "roles"))
		default:
			v.Roles = append(v.Roles, r)
		}
	})
}

// carriedOut determines how a verb is carried out. If that has errors already, their consequences
// are not reported.
func (l *loader) carriedOut(vn *verbNode, wrong bool) {
	d, v, f := vn.d, vn.v, &vn.f
	var first *yaml.Node
	for _, k := range [...]string{"reads", "query", "script", "tool"} {
		if f.at(k).key != nil && len(v.Discloses) > 0 {
			d.report(tell(d.place(f.at("discloses").key), "two-ways", "discloses", f.at(k).key.Value, d.place(f.at(k).key)))
		}
		if f.at(k).key == nil {
			continue
		}
		if first != nil {
			d.report(tell(d.place(f.at(k).key), "two-ways", f.at(k).key.Value, first.Value, d.place(first)))
			continue
		}
		first = f.at(k).key
	}
	if f.at("handler").key != nil && v.Handler && first != nil {
		d.report(tell(d.place(f.at("handler").key), "two-ways", "handler", first.Value, d.place(first)))
	}
	prose, declared := false, (*verbs.Effect)(nil)
	for i := range v.Effects {
		e := &v.Effects[i]
		prose = prose || !e.Declared && !e.May
		if e.Declared && declared == nil && e.Kind <= verbs.Deletes {
			declared = e
		}
	}
	switch {
	case first != nil:
		if declared != nil && first.Value != "tool" {
			d.report(tell(declared.Place, "two-ways", declared.Word(), first.Value, d.place(first)))
		}
	case v.Handler, wrong:
	case prose:
		v.Handler = true
		var said *dsl.Diagnostic
		for i := range v.Effects {
			e := &v.Effects[i]
			if e.Declared || e.May {
				continue
			}
			w := handlerNeeded(e.Place, v.Name, e.Word(), e.Operand.Prose, e.Entity != nil)
			if said == nil {
				said = &w
			} else {
				said.Related = append(said.Related, dsl.Related{Place: e.Place, Message: w.Label})
			}
		}
		d.report(*said)
	case f.at("discloses").key != nil:
	case len(v.Effects) > 0 || f.at("effects").key != nil && f.at("effects").value == nil:
	case v.Returns.Type != "":
		v.Handler = true
		d.report(handlerNeeded(v.Place, v.Name, "returns", false, false))
	case f.at("returns").key == nil:
		d.report(tell(v.Place, "nothing-to-do", v.Name))
	}
}

// phrases reads a list of phrases.
func (d *doc) phrases(v *verbs.Verb, p pair) (all []string) {
	d.items(p, func(n *yaml.Node) {
		all = append(all, n.Value)
		v.PhrasePlaces = append(v.PhrasePlaces, dsl.Related{Place: d.place(n), Message: n.Value})
		d.phrase(v, n)
	})
	return all
}

// phrase checks the arguments that a phrase names in braces, and that it has words of its own.
func (d *doc) phrase(v *verbs.Verb, n *yaml.Node) {
	words, last := "", -1 // its words outside braces, and the argument that was named last
	for at := 0; ; {
		open := strings.IndexByte(n.Value[at:], '{')
		if open < 0 {
			if words += n.Value[at:]; !strings.ContainsFunc(words, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				d.report(tell(d.place(n), "phrase-without-words", n.Value))
			}
			return
		}
		between := n.Value[at : at+open]
		words += between
		at += open
		end := strings.IndexByte(n.Value[at:], '}')
		if end < 0 {
			d.report(tell(d.within(n, at, at+1), "bad-braces", "{"))
			return
		}
		name := n.Value[at+1 : at+end]
		d.usesParam(v, v.ParamNamed(name), n, at+1, at+end, v.Names)
		if v.ParamNamed(name) < 0 {
			d.report(unknownArgument(d.within(n, at+1, at+end), v, name))
		}
		this := v.ParamNamed(name)
		if strings.TrimSpace(between) == "" && anyText(v, last) && anyText(v, this) {
			d.report(tell(d.within(n, at, at+end+1), "texts-side-by-side", &v.Params[last], &v.Params[this]))
		}
		last = this
		at += end + 1
	}
}

// anyText reports whether an argument accepts any words.
func anyText(v *verbs.Verb, i int) bool {
	return i >= 0 && v.Params[i].Type != nil && v.Params[i].Type.Name == verbs.StringType && v.Params[i].Type.Pattern == nil
}

func (l *loader) deprecation(vn *verbNode, n *yaml.Node) {
	d, v := vn.d, vn.v
	f, ok := d.fields(n, "deprecated")
	if !ok {
		return
	}
	v.Deprecated = &verbs.Deprecation{Reason: f.text("reason"), ReplacedBy: f.text("replaced-by")}
	d.scalars(f.at("args"), func(k, to *yaml.Node) {
		i := d.paramAt(v, k)
		if i < 0 {
			d.report(unknownArgument(d.place(k), v, k.Value))
			return
		}
		if v.Deprecated.Args == nil {
			v.Deprecated.Args = make(map[string]string)
		}
		v.Deprecated.Args[v.Params[i].Name] = to.Value
	})
}

// settleDeprecation checks the replacement that a deprecated verb names.
func (l *loader) settleDeprecation(vn *verbNode) {
	d, v := vn.d, vn.v
	if v.Deprecated == nil {
		return
	}
	quiet := &doc{src: d.src, lines: d.lines, ascii: d.ascii} // its shape was checked already
	f, _ := quiet.fields(vn.f.at("deprecated").value, "deprecated")
	n := f.at("replaced-by").value
	if n == nil {
		if len(v.Deprecated.Args) > 0 {
			d.report(tell(d.place(f.at("args").key), "contradiction", "args are renamed, but nothing replaces "+v.Name, "say which verb with replaced-by", dsl.Place{}, ""))
		}
		return
	}
	other := l.verbOf(d, n)
	switch {
	case other == nil:
		d.report(tell(d.place(n), "unknown-verb", n.Value, l.verbNamed))
		return
	case other == v:
		d.report(tell(d.place(n), "contradiction", v.Name+" is replaced by itself", "name the verb to use instead", dsl.Place{}, ""))
		return
	case other.Deprecated != nil:
		d.report(tell(d.place(n), "contradiction", v.Name+" is replaced by "+other.Name+", which is deprecated too", "name a verb that is not", other.Place, "declared here"))
		return
	case other.Internal:
		d.report(internalNamed(d.place(n), other, v.Name+" is replaced by"))
		return
	}
	quiet.scalars(f.at("args"), func(k, to *yaml.Node) {
		i := d.paramAt(other, to)
		if i < 0 {
			d.report(unknownArgument(d.place(to), other, to.Value))
		} else if k := v.ParamNamed(strings.TrimPrefix(k.Value, ":")); k >= 0 {
			v.Deprecated.Args[v.Params[k].Name] = other.Params[i].Name
		}
	})
}
