package verbs

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/stores"
)

func (l *loader) declareVerbs(d *doc, p *Palette, list *yaml.Node) {
	n := len(list.Content)
	l.verbNodes = slices.Grow(l.verbNodes, n)
	p.Verbs = slices.Grow(p.Verbs, n)
	made := make([]Verb, 0, n)
	d.each(pair{value: list}, func(n *yaml.Node) {
		l.verbNodes = append(l.verbNodes, verbNode{d: d, n: n})
		vn := &l.verbNodes[len(l.verbNodes)-1]
		if !d.fields(n, verbShape, vn.f[:]) || vn.f[verbName].value == nil {
			l.verbNodes = l.verbNodes[:len(l.verbNodes)-1]
			return
		}
		k := vn.f[verbName].value
		made = append(made, Verb{Name: k.Value, Place: d.place(k)})
		vn.v = &made[len(made)-1]
		if p.Domain != "" {
			vn.v.Name = p.Domain + "." + k.Value
		}
		d.name(k, "verb")
		if first := l.verbNamed[vn.v.Name]; first != nil {
			d.report(say.declaredTwice(vn.v.Place, "verb", vn.v.Name, first.Place))
		} else {
			l.verbNamed[vn.v.Name] = vn.v
		}
		p.Verbs = append(p.Verbs, vn.v)
	})
}

// isReserved says which words an argument cannot be called: those that mean
// something in an expression, and `as`, which a call writes itself.
func isReserved(name string) bool {
	switch name {
	case "row", "today", "now", "principal", "true", "false", "nil", "not", "and", "or", "in", "let", "if", "else",
		"matches", "contains", "as":
		return true
	}
	return false
}

// verb reads everything about a verb that does not depend on other verbs.
func (l *loader) verb(vn *verbNode) {
	d, v, f := vn.d, vn.v, &vn.f
	v.Description = text(f[verbDescription])
	l.verbRoles(vn)
	l.params(vn)
	d.phrases(v, f[verbPhrases])
	if n := f[verbReturns].value; n != nil {
		var rf [retKeys]pair
		if d.fields(n, returnsShape, rf[:]) {
			v.Returns.Type = text(rf[retType])
			if rf[retIncludes].value != nil {
				v.Returns.Includes = make([]string, 0, len(rf[retIncludes].value.Content))
			}
			d.items(rf[retIncludes], func(n *yaml.Node) { v.Returns.Includes = append(v.Returns.Includes, n.Value) })
			d.items(rf[retShows], func(n *yaml.Node) {
				if !slices.Contains(v.Returns.Includes, n.Value) {
					d.report(say.unknownTold(d.place(n), n.Value, v.Returns.Includes))
					return
				}
				v.Returns.Shows = append(v.Returns.Shows, n.Value)
			})
		}
	}
	if n := f[verbDeprecated].value; n != nil {
		l.deprecation(vn, n)
	}
	l.requires(vn)
	l.confirm(vn)
	before := len(d.diags)
	if n := f[verbEffects].value; n != nil {
		v.Effects = make([]Effect, 0, len(n.Content))
		d.each(f[verbEffects], func(n *yaml.Node) { l.effect(vn, n) })
	}
	if n := f[verbReads].value; n != nil {
		l.read(vn, n)
	}
	if n := f[verbQuery].value; n != nil {
		l.query(vn, n)
	}
	if n := f[verbScript].value; n != nil {
		l.macro(vn, n)
	}
	if n := f[verbTool].value; n != nil {
		l.tool(vn, n)
	}
	v.Handler = d.boolean(f[verbHandler])
	if v.Internal = d.boolean(f[verbInternal]); v.Internal {
		for _, k := range [...]int{verbPhrases, verbTells} {
			if f[k].key != nil {
				d.report(say.contradiction(d.place(f[k].key), v.Name+" is internal, and has "+f[k].key.Value, "nobody says it and nobody is told of it; leave them out", d.place(f[verbInternal].key), "internal here"))
			}
		}
	}
	if n := f[verbTells].value; n != nil {
		l.tells(vn, n)
	}
	l.carriedOut(vn, dsl.Diagnostics(d.diags[before:]).HasErrors())
}

func (l *loader) verbRoles(vn *verbNode) {
	d, v := vn.d, vn.v
	roles := vn.f[verbRoles]
	if roles.key == nil || roles.value != nil && len(roles.value.Content) == 0 {
		place := v.Place
		if roles.key != nil {
			place = d.place(roles.key)
		}
		d.report(say.nobodyMayUse(place, v.Name))
		return
	}
	if roles.value != nil {
		v.Roles = make([]*Role, 0, len(roles.value.Content))
	}
	d.items(roles, func(n *yaml.Node) {
		r := l.roleNamed[n.Value]
		switch {
		case r == nil:
			d.report(say.unknownRole(d.place(n), n.Value, l.roles, ""))
		case slices.Contains(v.Roles, r):
			d.report(say.listedTwice(d.place(n), n.Value, "roles"))
		default:
			v.Roles = append(v.Roles, r)
		}
	})
}

// carriedOut settles by what a verb is carried out. Where something about that
// is wrong already, what follows from it is not.
func (l *loader) carriedOut(vn *verbNode, wrong bool) {
	d, v, f := vn.d, vn.v, &vn.f
	var first *yaml.Node
	for _, k := range [...]int{verbReads, verbQuery, verbScript, verbTool} {
		if f[k].key == nil {
			continue
		}
		if first != nil {
			d.report(say.twoWays(d.place(f[k].key), f[k].key.Value, first.Value, d.place(first)))
			continue
		}
		first = f[k].key
	}
	if f[verbHandler].key != nil && v.Handler && first != nil {
		d.report(say.twoWays(d.place(f[verbHandler].key), "handler", first.Value, d.place(first)))
	}
	prose, declared := false, (*Effect)(nil)
	for i := range v.Effects {
		e := &v.Effects[i]
		prose = prose || !e.Declared && !e.May
		if e.Declared && declared == nil && e.Kind <= Deletes {
			declared = e
		}
	}
	switch {
	case first != nil:
		if declared != nil && first.Value != "tool" {
			d.report(say.twoWays(declared.Place, effectName(declared), first.Value, d.place(first)))
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
			w := say.handlerNeeded(e.Place, v.Name, effectName(e), e.Operand.Prose, e.Entity != nil)
			if said == nil {
				said = &w
			} else {
				said.Related = append(said.Related, dsl.Related{Place: e.Place, Message: w.Label})
			}
		}
		d.report(*said)
	case len(v.Effects) > 0 || f[verbEffects].key != nil && f[verbEffects].value == nil:
	case v.Returns.Type != "":
		v.Handler = true
		d.report(say.handlerNeeded(v.Place, v.Name, "returns", false, false))
	case f[verbReturns].key == nil:
		d.report(say.nothingToDo(v.Place, v.Name))
	}
}

func effectName(e *Effect) string {
	for _, w := range effectWords {
		if w.kind == e.Kind && w.may == e.May {
			return w.name
		}
	}
	return ""
}

func (l *loader) params(vn *verbNode) {
	d, v := vn.d, vn.v
	n := vn.f[verbArgs].value
	if n == nil {
		return
	}
	if len(n.Content) > maxParams {
		d.report(say.tooManyArguments(d.place(n.Content[maxParams]), v.Name, maxParams))
		return
	}
	v.Params = make([]Param, 0, len(n.Content))
	var schemasOf []pair // parallel to v.Params
	d.each(vn.f[verbArgs], func(n *yaml.Node) {
		var f [argKeys]pair
		if !d.fields(n, argShape, f[:]) || f[argName].value == nil {
			return
		}
		k := f[argName].value
		d.name(k, "argument")
		if isReserved(k.Value) {
			d.report(say.reserved(d.place(k), "argument", k.Value))
		}
		p := Param{
			Name:        k.Value,
			Ident:       underscored(k.Value),
			Description: text(f[argDescription]),
			Required:    d.boolean(f[argRequired]),
			Sensitive:   d.boolean(f[argSensitive]),
			Personal:    d.boolean(f[argPersonal]),
			FollowUps:   d.boolean(f[argFollowUps]),
			Place:       d.place(k),
		}
		for i := range v.Params {
			if v.Params[i].Ident == p.Ident {
				d.report(say.declaredTwice(p.Place, "argument", p.Name, v.Params[i].Place))
				return
			}
		}
		p.Type = l.typeOf(d, f[:typKeys], k, "argument")
		l.upload(d, &p, f[:])
		if n := f[argDefault].value; n != nil {
			if p.Required {
				d.report(say.contradiction(d.place(f[argDefault].key), ":"+p.Name+" is required and has a default", "a default is for arguments that may be left out", d.place(f[argRequired].key), "required here"))
			}
			switch {
			case p.Type == nil:
			case p.Type.Name == RefType:
				p.Active = l.active(d, &p, n)
			default:
				p.Default, _ = l.value(d, p.Type, n, p.Name)
			}
		}
		if f[argFrom].value != nil {
			d.items(f[argFrom], func(n *yaml.Node) {
				i := slices.Index(originWords, n.Value)
				if i < 0 {
					d.report(say.unknownWord(d.place(n), "from", n.Value, originWords))
					return
				}
				p.From |= 1 << i
			})
			if len(f[argFrom].value.Content) == 0 {
				d.report(say.contradiction(d.place(f[argFrom].key), ":"+p.Name+" may come from nowhere", "leave `from` out to accept a value from anywhere", dsl.Place{}, ""))
			}
		}
		l.otherwise(d, &p, f[:])
		p.Asks = l.wordings(vn, f[argAsks], nil)
		d.items(f[argExamples], func(n *yaml.Node) {
			p.Examples = append(p.Examples, n.Value)
			if p.Type != nil && p.Type.Name != RefType {
				l.example(d, p.Type, n, p.Name)
			}
		})
		schemasOf = append(schemasOf, f[argSchemaOf])
		v.Params = append(v.Params, p)
	})
	for i, f := range schemasOf {
		l.schemaOfCode(d, v, &v.Params[i], f)
	}
}

// schemaOfCode reads which argument says what schema an object must satisfy.
// Every code of its list has one, so that nothing goes unchecked.
func (l *loader) schemaOfCode(d *doc, v *Verb, p *Param, f pair) {
	n := f.value
	if n == nil && p.FollowUps {
		d.report(say.followUpsOfWhat(p.Place, p.Name))
	}
	if n == nil || p.Type == nil {
		return
	}
	if p.Type.Name != ObjectType || p.Type.Schema != nil {
		d.report(say.schemaOfWhat(d.place(f.key), p.Name))
		return
	}
	i := v.param(strings.TrimPrefix(n.Value, ":"))
	if i < 0 {
		d.report(say.unknownArgument(d.place(n), v, n.Value))
		return
	}
	by := &v.Params[i]
	if by.Type == nil {
		return
	}
	if by.Type.Name != CodeType || by.Type.Codes == nil {
		d.report(say.schemaOfNoCode(d.place(n), by.Name))
		return
	}
	var without []string
	for _, c := range by.Type.Codes.Codes {
		if c.Schema == nil {
			without = append(without, c.Name)
		}
	}
	if len(without) > 0 {
		d.report(say.codesWithoutSchema(d.place(n), by.Type.Codes, without))
		return
	}
	p.schemaOf, p.byCode = i+1, by.Type.Codes
}

// example checks that a value held up as an example would be accepted.
func (l *loader) example(d *doc, t *Type, n *yaml.Node, name string) {
	switch t.Name {
	case AnyType, RefType, MoneyType, ObjectType, ListType:
		return
	case BooleanType, IntegerType, DecimalType:
		bare := *n // in quotes or not, an example is text
		bare.Style, bare.Tag = 0, "!!str"
		n = &bare
	}
	l.value(d, t, n, "the example of "+name)
}

// param finds an argument as palettes write it; a dash and an underscore are
// the same.
func (v *Verb) param(name string) int {
	for i := range v.Params {
		if sameName(v.Params[i].Ident, name) {
			return i
		}
	}
	return -1
}

func (v *Verb) paramNames() []string {
	names := make([]string, len(v.Params))
	for i := range v.Params {
		names[i] = v.Params[i].Name
	}
	return names
}

// phraseLanguages are those that phrases may be in.
var phraseLanguages = []string{"en", "de", "fr", "es"}

// phrases reads a list of phrases, which are English, or a mapping from languages
// to lists.
func (d *doc) phrases(v *Verb, p pair) {
	if p.value == nil {
		return
	}
	read := func(p pair) (all []string) {
		d.items(p, func(n *yaml.Node) {
			all = append(all, n.Value)
			d.phrase(v, n)
		})
		return all
	}
	if p.value.Kind != yaml.MappingNode {
		v.Phrases = read(p)
		return
	}
	d.entries(p.value, func(k, list *yaml.Node) {
		switch {
		case !slices.Contains(phraseLanguages, k.Value):
			d.report(say.unknownWord(d.place(k), "language", k.Value, phraseLanguages))
		case list.Kind != yaml.SequenceNode:
			d.report(say.wrongShape(d.place(list), "phrases", formNames[texts]))
		case k.Value == "en":
			v.Phrases = read(pair{k, list})
		default:
			if v.PhrasesIn == nil {
				v.PhrasesIn = map[string][]string{}
			}
			v.PhrasesIn[k.Value] = read(pair{k, list})
		}
	})
}

// phrase checks the arguments that a phrase names in braces.
func (d *doc) phrase(v *Verb, n *yaml.Node) {
	for at := 0; ; {
		open := strings.IndexByte(n.Value[at:], '{')
		if open < 0 {
			return
		}
		at += open
		end := strings.IndexByte(n.Value[at:], '}')
		if end < 0 {
			d.report(say.badBraces(d.within(n, at, at+1), "{"))
			return
		}
		if name := n.Value[at+1 : at+end]; v.param(name) < 0 {
			d.report(say.unknownArgument(d.within(n, at+1, at+end), v, name))
		}
		at += end
	}
}

func (l *loader) deprecation(vn *verbNode, n *yaml.Node) {
	d, v := vn.d, vn.v
	var f [depKeys]pair
	if !d.fields(n, deprecatedShape, f[:]) {
		return
	}
	v.Deprecated = &Deprecation{Reason: text(f[depReason]), ReplacedBy: text(f[depReplacedBy])}
	d.scalars(f[depArgs], func(k, to *yaml.Node) {
		if v.param(k.Value) < 0 {
			d.report(say.unknownArgument(d.place(k), v, k.Value))
			return
		}
		if v.Deprecated.Args == nil {
			v.Deprecated.Args = make(map[string]string)
		}
		v.Deprecated.Args[k.Value] = to.Value
	})
}

// settleDeprecation checks what a deprecated verb says of another one.
func (l *loader) settleDeprecation(vn *verbNode) {
	d, v := vn.d, vn.v
	if v.Deprecated == nil {
		return
	}
	var f [depKeys]pair
	quiet := &doc{src: d.src, lines: d.lines, ascii: d.ascii} // its shape was checked already
	quiet.fields(vn.f[verbDeprecated].value, deprecatedShape, f[:])
	n := f[depReplacedBy].value
	if n == nil {
		if len(v.Deprecated.Args) > 0 {
			d.report(say.contradiction(d.place(f[depArgs].key), "args are renamed, but nothing replaces "+v.Name, "say which verb with replaced-by", dsl.Place{}, ""))
		}
		return
	}
	other := l.verbNamed[n.Value]
	switch {
	case other == nil:
		d.report(say.danglingVerb(d.place(n), n.Value, l.verbNamed))
		return
	case other == v:
		d.report(say.contradiction(d.place(n), v.Name+" is replaced by itself", "name the verb to use instead", dsl.Place{}, ""))
		return
	case other.Deprecated != nil:
		d.report(say.contradiction(d.place(n), v.Name+" is replaced by "+other.Name+", which is deprecated too", "name a verb that is not", other.Place, "declared here"))
		return
	case other.Internal:
		d.report(say.internalNamed(d.place(n), other, v.Name+" is replaced by"))
		return
	}
	quiet.scalars(f[depArgs], func(k, to *yaml.Node) {
		if other.param(to.Value) < 0 {
			d.report(say.unknownArgument(d.place(to), other, to.Value))
		}
	})
}

// requires reads what must hold first. Whatever is said after it in the verb may
// rely on it.
func (l *loader) requires(vn *verbNode) {
	d, v := vn.d, vn.v
	list := vn.f[verbRequires]
	if list.value != nil && len(list.value.Content) == 0 {
		d.report(say.emptyList(d.place(list.key), "requires"))
	}
	d.each(list, func(n *yaml.Node) {
		var f [reqKeys]pair
		if !d.fields(n, requireShape, f[:]) {
			return
		}
		switch {
		case f[reqNone].value != nil:
			l.none(vn, n, f[:])
			return
		case f[reqWhere].value != nil:
			d.report(say.missingKey(d.place(n), requireShape, "none"))
			return
		case f[reqThat].value == nil:
			d.report(say.missingKey(d.place(n), requireShape, "that"))
			return
		}
		rule := Require{Else: text(f[reqElse]), Place: d.place(f[reqThat].value)}
		rule.That = l.compile(d, f[reqThat].value, scope{verb: v}, wantBoolean, nil)
		if rule.That == nil {
			return
		}
		if holds, ok := rule.That.Constant(); ok {
			d.report(say.requiresNothing(rule.Place, v.Name, holds.Bool()))
			return
		}
		v.there |= rule.That.nonNil
		v.Requires = append(v.Requires, rule)
	})
}

// none reads a requirement that there be no row of some kind. What is not there
// cannot be held, so it says to which row those would belong, and that is.
func (l *loader) none(vn *verbNode, n *yaml.Node, f []pair) {
	d, v := vn.d, vn.v
	at := d.place(f[reqNone].value)
	if f[reqThat].value != nil {
		d.report(say.contradiction(d.place(f[reqThat].key), "a requirement is a condition, or that there is none of some rows", "make it two requirements", dsl.Place{}, ""))
		return
	}
	if f[reqWhere].value == nil {
		d.report(say.missingKey(d.place(n), requireShape, "where"))
		return
	}
	e := l.entityNamed[f[reqNone].value.Value]
	if e == nil {
		d.report(say.unknownEntity(at, f[reqNone].value.Value, l.entities))
		return
	}
	if e.broken {
		return
	}
	rule := Require{None: e, Else: text(f[reqElse]), Place: d.place(f[reqWhere].value)}
	if rule.Filter = l.filter(d, f[reqWhere].value, scope{verb: v, row: e}); rule.Filter == nil {
		return
	}
	var ok bool
	if rule.By, rule.Of, ok = rule.Filter.root.belongs(e, v); !ok {
		d.report(say.heldByNobody(rule.Place, v, e))
		return
	}
	v.Requires = append(v.Requires, rule)
}

// belongs finds what says whose the rows are that a filter picks: that a
// reference of theirs is the row of an argument that is always given.
func (n *filterNode) belongs(e *Entity, v *Verb) (by, of int, ok bool) {
	switch {
	case n.op == stores.And:
		for i := range n.kids {
			if by, of, ok = n.kids[i].belongs(e, v); ok {
				return by, of, true
			}
		}
	case n.cond == nil && n.op == stores.Eq && len(n.path.Steps) == 0 && n.path.Count == nil && n.value != nil && n.value.kind == progArgument:
		p, to := &v.Params[n.value.index], e.Store.Fields[n.path.Field].Ref
		if to != nil && (p.Required || p.Active) && p.Type != nil && p.Type.Name == RefType && p.Type.Entity != nil && p.Type.Entity.Store == to {
			return n.path.Field, n.value.index, true
		}
	}
	return 0, 0, false
}

func (l *loader) confirm(vn *verbNode) {
	d, v := vn.d, vn.v
	n := vn.f[verbConfirm].value
	if n == nil {
		return
	}
	if n.Kind == yaml.ScalarNode {
		switch n.Value {
		case "never":
		case "always":
			v.Confirm = []Confirm{{Always: true, Place: d.place(n)}}
		default:
			d.report(say.unknownWord(d.place(n), "confirm", n.Value, []string{"never", "always"}))
		}
		return
	}
	if len(n.Content) == 0 {
		d.report(say.emptyList(d.place(n), "confirm"))
	}
	for _, n := range n.Content {
		if n.Kind == poisoned {
			continue
		}
		if n.Kind == yaml.ScalarNode {
			switch n.Value {
			case "always":
				v.Confirm = append(v.Confirm, Confirm{Always: true, Place: d.place(n)})
			case "never":
				d.report(say.contradiction(d.place(n), "never stands beside other rules", "rules add up, so `never` can only stand alone: confirm: never", dsl.Place{}, ""))
			default:
				d.report(say.unknownWord(d.place(n), "confirm", n.Value, []string{"always"}))
			}
			continue
		}
		var f [confKeys]pair
		if !d.fields(n, confirmShape, f[:]) {
			continue
		}
		c := Confirm{Place: d.place(n), Reason: text(f[confReason])}
		if w := f[confWhen]; w.value != nil {
			c.When = l.compile(d, w.value, scope{verb: v}, wantBoolean, nil)
			c.Place = d.place(w.value)
		}
		c.Always = f[confWhen].key == nil
		l.agreement(d, &c, f[confBy].value, f[confExpires].value)
		v.Confirm = append(v.Confirm, c)
	}
}

// agreement reads who must agree, and for how long the question stands.
func (l *loader) agreement(d *doc, c *Confirm, by, expires *yaml.Node) {
	if by != nil {
		if c.By = l.roleNamed[by.Value]; c.By == nil {
			d.report(say.unknownRole(d.place(by), by.Value, l.roles, "as it stands, nobody could ever agree to this verb"))
		}
	}
	if expires != nil {
		dur, ok := parseDuration(expires.Value)
		if !ok || dur.Duration().Seconds() < 1 {
			d.report(say.badDuration(d.place(expires), expires.Value))
		} else {
			c.Expires = int64(dur.Duration().Seconds())
		}
	}
}

// otherwise reads what happens to a value of another origin than the argument
// demands.
func (l *loader) otherwise(d *doc, p *Param, f []pair) {
	n := f[argOtherwise].value
	switch {
	case n == nil:
	case f[argFrom].value == nil:
		d.report(say.contradiction(d.place(f[argOtherwise].key), ":"+p.Name+" says what happens otherwise, and accepts a value from anywhere", "say with `from` where it should come from", dsl.Place{}, ""))
		return
	case n.Kind == yaml.ScalarNode:
		switch n.Value {
		case "refuse":
		case "ask":
			p.Otherwise = &Confirm{Always: true, Place: d.place(n)}
		default:
			d.report(say.unknownWord(d.place(n), "otherwise", n.Value, []string{"refuse", "ask"}))
		}
	default:
		var o [confKeys - 1]pair
		if d.fields(n, otherwiseShape, o[:]) {
			p.Otherwise = &Confirm{Always: true, Place: d.place(n), Reason: text(o[confReason-1])}
			l.agreement(d, p.Otherwise, o[confBy-1].value, o[confExpires-1].value)
		}
	}
	if p.From != 0 && p.From&FromScript == 0 && p.Otherwise == nil && f[argDefault].value != nil {
		d.report(say.contradiction(d.place(f[argDefault].key), "the default of :"+p.Name+" can never be used", "a default is the palette author's own, which is as a script's; add script to from, or leave the default out",
			d.place(f[argFrom].key), "it must come from "+p.From.Wanted()))
	}
}

func (l *loader) effect(vn *verbNode, n *yaml.Node) {
	d, v := vn.d, vn.v
	var f [effKeys]pair
	if !d.fields(n, effectShape, f[:]) {
		return
	}
	kind := -1
	for i := range effectWords {
		if f[i].key == nil {
			continue
		}
		if kind >= 0 {
			d.report(say.twoEffects(d.place(f[i].key), f[i].key.Value, f[kind].key.Value))
			return
		}
		kind = i
	}
	if kind < 0 {
		if !unknownIn(n, effectShape) { // that may have been the kind, and was reported
			d.report(say.noEffect(d.place(n)))
		}
		return
	}
	at := f[kind].value
	if at == nil {
		return
	}
	e := Effect{Kind: effectWords[kind].kind, May: effectWords[kind].may, Place: d.place(at)}
	e.Operand = l.operand(at.Value)
	rows := e.Kind == Updates || e.Kind == Deletes
	for _, k := range [...]struct {
		key int
		ok  bool
	}{{effWhere, rows}, {effSet, e.Kind == Creates || e.Kind == Updates}, {effWith, e.Kind == Triggers || e.Kind == Notifies},
		{effAt, e.Kind == Triggers}, {effRun, e.Kind == Triggers}, {effUnless, e.Kind == Triggers}, {effKey, e.Kind == Triggers}, {effAgain, e.Kind == Triggers}} {
		if f[k.key].key != nil && !k.ok {
			d.report(say.operandDoesNotApply(d.place(f[k.key].key), f[k.key].key.Value, effectWords[kind].name))
		}
	}
	sc := scope{verb: v}
	var row *Entity
	if rows {
		row = l.effectEntity(vn, &e, f[:], at)
		sc.row = row
	}
	if w := f[effWhen]; w.value != nil && (row != nil || !rows) {
		e.When = l.compile(d, w.value, sc, wantBoolean, nil)
	}
	switch e.Kind {
	case Creates:
		if row = l.effectEntity(vn, &e, f[:], at); row != nil {
			l.creates(vn, &e, f[:], row)
		}
	case Updates, Deletes:
		if row != nil {
			l.changes(vn, &e, f[:], row)
		}
	case Triggers, Notifies:
		d.scalars(f[effWith], func(k, val *yaml.Node) {
			e.With = append(e.With, With{Key: k.Value, Value: l.compile(d, val, sc, wantAnything, e.When)})
		})
		e.Declared = !e.Operand.Prose && (!e.May || e.When != nil)
		if e.Kind == Triggers {
			l.work(vn, &e, f[:])
		}
	case Sets:
		l.session(vn, &e, at, sc)
	}
	v.Effects = append(v.Effects, e)
}

// speaksOf reports whether the text of an expression names an argument.
func (x *Expr) speaksOf(p *Param) bool {
	if x == nil {
		return false
	}
	words := strings.FieldsFunc(x.Text, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	return slices.Contains(words, p.Ident) || slices.Contains(words, p.Name)
}

// WorkTakes reports whether the work of a trigger needs an argument of its verb:
// the call that it is, what decides whether and when it is made, and what tells it
// from other work. What it needs is kept until its time.
func (e *Effect) WorkTakes(v *Verb, i int) bool {
	p := &v.Params[i]
	return e.Run != nil && (e.When.speaksOf(p) || e.At.speaksOf(p) || e.Unless.speaksOf(p) || slices.Contains(e.Key, i) || names(e.Run.Script, p.Name))
}

// names reports whether a script names an argument.
func names(script *dsl.Script, param string) bool {
	found := false
	var value func(v dsl.Value)
	value = func(v dsl.Value) {
		if name, _, _ := strings.Cut(v.Text, "."); v.Kind == dsl.Symbol && strings.ReplaceAll(name, "_", "-") == strings.ReplaceAll(param, "_", "-") {
			found = true
		}
		if c := v.Call(); c != nil {
			for i := range c.Args {
				value(c.Args[i].Value)
			}
		}
		for _, item := range v.Items() {
			value(item)
		}
		for _, entry := range v.Entries() {
			value(entry.Value)
		}
	}
	for i := range script.Calls {
		for j := range script.Calls[i].Args {
			value(script.Calls[i].Args[j].Value)
		}
	}
	return found
}

// work reads what a trigger runs, and when.
func (l *loader) work(vn *verbNode, e *Effect, f []pair) {
	d := vn.d
	run, at := f[effRun], f[effAt]
	if run.value == nil {
		for _, k := range [...]int{effAt, effUnless, effKey, effAgain} {
			if f[k].key != nil {
				d.report(say.momentOfNothing(d.place(f[k].key), f[k].key.Value))
			}
		}
		return
	}
	src := dsl.NewSource(d.src.Name+" (work of "+vn.v.Name+")", run.value.Value)
	script, diags := dsl.Parse(src)
	d.relay(run.value, diags)
	if !diags.HasErrors() && len(script.Calls) != 1 {
		d.report(say.notOneCall(d.place(run.value), len(script.Calls)))
		return
	}
	if e.Operand.Prose || e.May && e.When == nil {
		d.report(say.workUndecided(d.place(run.key)))
	}
	if at.value != nil {
		e.At = l.compile(d, at.value, scope{verb: vn.v}, wantMoment, e.When)
	}
	if u := f[effUnless]; u.value != nil {
		e.Unless = l.compile(d, u.value, scope{verb: vn.v}, wantBoolean, nil)
	}
	l.workKey(vn, e, f)
	e.Run = &Macro{Script: script, Place: d.place(run.value)}
	for i := range vn.v.Params {
		// What waits is kept until its time, and what is kept must not be secret.
		if p := &vn.v.Params[i]; p.Sensitive && e.WorkTakes(vn.v, i) {
			d.report(say.workWithSecret(d.place(run.value), p.Name))
		}
	}
	vn.runs = append(vn.runs, runNode{run.value, e.Run})
}

// workKey reads by what pieces of work are told apart.
func (l *loader) workKey(vn *verbNode, e *Effect, f []pair) {
	d, v := vn.d, vn.v
	d.items(f[effKey], func(n *yaml.Node) {
		i := slices.IndexFunc(v.Params, func(p Param) bool { return sameName(p.Name, n.Value) })
		switch {
		case i < 0:
			d.report(say.unknownArgument(d.place(n), v, n.Value))
		case !slices.Contains(e.Key, i):
			e.Key = append(e.Key, i)
		}
	})
	again := f[effAgain]
	if again.value == nil {
		return
	}
	switch i := slices.Index(againWords, again.value.Value); {
	case f[effKey].key == nil:
		d.report(say.againWithoutKey(d.place(again.key)))
	case i < 0:
		d.report(say.unknownWord(d.place(again.value), "again", again.value.Value, againWords))
	default:
		e.Again = Again(i)
	}
}

// unknownIn reports whether a mapping has a key that its shape does not know.
func unknownIn(n *yaml.Node, sh *shape) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Kind == poisoned || !slices.ContainsFunc(sh.keys, func(k key) bool { return k.name == n.Content[i].Value }) {
			return true
		}
	}
	return false
}

// effectEntity finds the entity that an effect is about. One that is not
// declared is a promise for a handler, unless the palette goes on to say what
// to do with it, or it is so near to a declared name that it must be that.
func (l *loader) effectEntity(vn *verbNode, e *Effect, f []pair, at *yaml.Node) *Entity {
	d := vn.d
	if e.Operand.Prose || len(e.Operand.Path) == 0 {
		for _, k := range [...]int{effWhere, effSet} {
			if f[k].key != nil {
				d.report(say.prosePromise(e.Place, at.Value, f[k].key.Value))
				break
			}
		}
		return nil
	}
	name := e.Operand.Path[0]
	ent := l.entityNamed[name]
	if ent == nil {
		detailed := f[effWhere].key != nil || f[effSet].key != nil || f[effWhen].key != nil
		if detailed || l.misspelt(name) {
			d.report(say.unknownEntity(d.within(at, 0, len(name)), name, l.entities))
		}
		return nil
	}
	e.Entity = ent
	switch {
	case len(e.Operand.Path) == 1 && e.Operand.Value == "":
	case e.Kind != Updates || len(e.Operand.Path) > 2 || e.Operand.Value != "":
		d.report(say.operandNotEntity(e.Place, at.Value, effectName(e), name))
		return nil
	default:
		field := e.Operand.Path[1]
		from := len(name) + 1
		place := d.within(at, from, from+len(field))
		i := ent.field(field)
		switch {
		case i < 0:
			if !ent.broken {
				d.report(say.unknownField(place, ent, field))
			}
			return nil
		case i == ent.Store.Key:
			d.report(say.keyChanged(place, ent.Store.Fields[i].Name, ent))
			return nil
		}
		e.Fields = []int{i}
	}
	return ent
}

func (l *loader) creates(vn *verbNode, e *Effect, f []pair, ent *Entity) {
	d := vn.d
	set := f[effSet]
	if set.key == nil {
		return // a promise about what a handler creates
	}
	e.Declared = true
	l.set(vn, e, set, ent, scope{verb: vn.v})
	if set.value == nil || ent.broken {
		return
	}
	var missing []string
	for i := range ent.Store.Fields {
		field := &ent.Store.Fields[i]
		if i == ent.Store.Key && field.Kind == stores.UUID || !field.Required || !field.Default.IsNull() {
			continue
		}
		if !slices.ContainsFunc(e.Set, func(s Set) bool { return s.Field == i }) && !mentions(set.value, field.Name) {
			missing = append(missing, field.Name)
		}
	}
	if len(missing) > 0 {
		d.report(say.missingFields(d.place(set.key), ent, missing))
	}
}

func mentions(n *yaml.Node, name string) bool {
	for i := 0; i < len(n.Content); i += 2 {
		if sameName(n.Content[i].Value, name) {
			return true
		}
	}
	return false
}

func (l *loader) changes(vn *verbNode, e *Effect, f []pair, ent *Entity) {
	d, v := vn.d, vn.v
	where, set := f[effWhere], f[effSet]
	if where.value != nil {
		e.Where = l.where(vn, where.value, ent)
		if e.Where != nil && e.Where.Param >= 0 {
			p := &v.Params[e.Where.Param]
			if !p.Sure() && v.there&(1<<e.Where.Param) == 0 && (e.When == nil || e.When.nonNil&(1<<e.Where.Param) == 0) {
				d.report(say.mayBeAbsent(d.place(where.value), p))
			}
		}
	}
	if e.Kind == Deletes {
		e.Declared = where.key != nil
		return
	}
	if set.key == nil {
		return
	}
	if where.key == nil {
		d.report(say.missingWhere(d.place(set.key), ent, v))
	}
	e.Declared = true
	l.set(vn, e, set, ent, scope{verb: v, row: ent})
}

// where reads which rows an effect is about.
func (l *loader) where(vn *verbNode, n *yaml.Node, ent *Entity) *Where {
	d, v := vn.d, vn.v
	name := strings.TrimPrefix(strings.TrimSpace(n.Value), ":")
	if i := v.param(name); i >= 0 {
		p := &v.Params[i]
		switch {
		case p.Type == nil:
			return nil
		case p.Type.Name != RefType:
			d.report(say.whereNotReference(d.place(n), p, ent))
			return nil
		case p.Type.Entity != nil && p.Type.Entity != ent:
			d.report(say.whereOtherEntity(d.place(n), p, ent))
			return nil
		}
		return &Where{Param: i}
	}
	filter := l.filter(d, n, scope{verb: v, row: ent})
	if filter == nil {
		return nil
	}
	return &Where{Param: -1, Filter: filter}
}

func (l *loader) set(vn *verbNode, e *Effect, p pair, ent *Entity, sc scope) {
	d := vn.d
	if p.value == nil {
		return
	}
	if len(p.value.Content) == 0 {
		d.report(say.emptyList(d.place(p.key), "set"))
		return
	}
	e.Set = make([]Set, 0, len(p.value.Content)/2)
	d.scalars(p, func(k, val *yaml.Node) {
		i := ent.field(k.Value)
		switch {
		case i < 0:
			if !ent.broken {
				d.report(say.unknownField(d.place(k), ent, k.Value))
			}
			return
		case i == ent.Store.Key && (e.Kind == Updates || ent.Store.Fields[i].Kind == stores.UUID):
			d.report(say.keyChanged(d.place(k), k.Value, ent))
			return
		case e.Kind == Updates && len(e.Fields) > 0 && i != e.Fields[0]:
			d.report(say.outsidePromise(d.place(k), ent, k.Value, ent.Store.Fields[e.Fields[0]].Name, e.Place))
			return
		case val.Tag == "!!null" && val.Style == 0 && val.Value != "null":
			d.report(say.nothingWritten(d.place(k), &effectShape.keys[effSet]))
			return
		}
		if ent.Fields[i].Type == nil {
			return
		}
		e.Set = append(e.Set, Set{Field: i, Value: l.compile(d, val, sc, wantField(ent, i), e.When), Place: d.place(val)})
	})
	slices.SortStableFunc(e.Set, func(a, b Set) int { return a.Field - b.Field })
}

// includePlace finds where a promised field is written.
func (d *doc) includePlace(vn *verbNode, name string) dsl.Place {
	place := vn.v.Place
	ret := vn.f[verbReturns].value
	for i := 0; i+1 < len(ret.Content); i += 2 {
		if ret.Content[i].Value == "includes" {
			for _, n := range ret.Content[i+1].Content {
				if n.Value == name {
					return d.place(n)
				}
			}
		}
	}
	return place
}

func (l *loader) query(vn *verbNode, n *yaml.Node) {
	d, v := vn.d, vn.v
	var f [queryKeys]pair
	if !d.fields(n, queryShape, f[:]) {
		return
	}
	q := &Query{Place: d.place(n), One: d.boolean(f[queryOne])}
	v.Query = q
	if sql := f[querySQL].value; sql != nil {
		q.Text = sql.Value
		q.Place = d.place(sql)
		q.place = func(from, to int) dsl.Place { return d.within(sql, from, to) }
		for from, to := range sqlParams(sql.Value) {
			name := sql.Value[from+1 : to]
			i := v.param(name)
			if i < 0 || name != v.Params[i].Ident {
				d.report(say.unknownParam(d.within(sql, from+1, to), v, name))
				continue
			}
			if !slices.Contains(q.Names, name) {
				q.Names = append(q.Names, name)
				q.Params = append(q.Params, i)
				q.Kinds = append(q.Kinds, l.kindOf(v.Params[i].Type))
			}
		}
	}
	if cv := f[queryColumns].value; cv != nil && len(cv.Content) == 0 {
		d.report(say.emptyList(d.place(f[queryColumns].key), "columns"))
	}
	d.scalars(f[queryColumns], func(k, val *yaml.Node) {
		d.name(k, "column")
		word, dark := strings.CutPrefix(val.Value, "sensitive ")
		if dark {
			bare := *val
			bare.Value, bare.Column = word, val.Column+len("sensitive ")
			val = &bare
		}
		t := l.typeText(d, val)
		if t == nil {
			return
		}
		if dark && q.Sensitive == nil {
			q.Sensitive = make([]bool, len(q.Columns))
		}
		if q.Sensitive != nil {
			q.Sensitive = append(q.Sensitive, dark)
		}
		q.Columns = append(q.Columns, stores.Column{Name: k.Value, Kind: l.kindOf(t)})
		q.Types = append(q.Types, t)
	})
	for _, name := range v.Returns.Includes {
		if len(q.Columns) > 0 && !slices.ContainsFunc(q.Columns, func(c stores.Column) bool { return sameName(c.Name, name) }) {
			d.report(say.notReturned(d.includePlace(vn, name), name, "query"))
		}
	}
}

// sqlParams finds the :name parameters of a query: outside strings, quoted
// names and comments, and apart from :: casts.
func sqlParams(sql string) func(yield func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		for i := 0; i < len(sql); {
			switch c := sql[i]; {
			case c == '\'' || c == '"' || c == '`':
				i = after(sql, i+1, string(c))
			case c == '[': // SQLite quotes names so; in PostgreSQL it is an index, which may hold a parameter
				i++
			case strings.HasPrefix(sql[i:], "--"):
				i = after(sql, i, "\n")
			case strings.HasPrefix(sql[i:], "/*"):
				i = after(sql, i+2, "*/")
			case c == '$':
				tag := dollarTag(sql[i:])
				if tag == "" {
					i++
				} else {
					i = after(sql, i+len(tag), tag)
				}
			case strings.HasPrefix(sql[i:], "::"):
				i += 2
			case c == ':':
				j := i + 1
				for j < len(sql) && isWord(sql[j], j > i+1) {
					j++
				}
				if j > i+1 && !yield(i, j) {
					return
				}
				i = j
			default:
				i++
			}
		}
	}
}

func after(s string, from int, mark string) int {
	if from > len(s) {
		return len(s)
	}
	i := strings.Index(s[from:], mark)
	if i < 0 {
		return len(s)
	}
	return from + i + len(mark)
}

// dollarTag returns the $tag$ that opens a PostgreSQL string, if one does.
func dollarTag(s string) string {
	for i := 1; i < len(s); i++ {
		if s[i] == '$' {
			return s[:i+1]
		}
		if !isWord(s[i], i > 1) {
			return ""
		}
	}
	return ""
}

func isWord(c byte, digits bool) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || digits && c >= '0' && c <= '9'
}

// macro parses the script of a verb. What it means is checked when every verb
// is known.
func (l *loader) macro(vn *verbNode, n *yaml.Node) {
	d, v := vn.d, vn.v
	src := dsl.NewSource(d.src.Name+" (script of "+v.Name+")", n.Value)
	script, diags := dsl.Parse(src)
	d.relay(n, diags)
	if len(script.Calls) == 0 && !diags.HasErrors() {
		d.report(say.emptyMacro(d.place(n)))
	}
	v.Macro = &Macro{Script: script, Place: d.place(n)}
}

// relay reports what was said of a text inside a scalar, at its place in the
// file.
func (d *doc) relay(n *yaml.Node, diags dsl.Diagnostics) {
	for _, diag := range diags {
		inner := diag.Place.Source
		move := func(p dsl.Place) dsl.Place {
			if p.Source == nil || p.Source != inner {
				return p
			}
			return d.within(n, int(p.Range.Start), int(p.Range.End))
		}
		for i := range diag.Related {
			diag.Related[i].Place = move(diag.Related[i].Place)
		}
		for i := range diag.Fixes {
			edits := slices.Clone(diag.Fixes[i].Edits)
			for j := range edits {
				edits[j].Range = d.within(n, int(edits[j].Range.Start), int(edits[j].Range.End)).Range
			}
			diag.Fixes[i].Edits = edits
		}
		if inner == nil {
			diag.Place = d.place(n)
		} else {
			diag.Place = move(diag.Place)
		}
		d.report(diag)
	}
}

// recursion finds macros that call themselves, however far around, and names
// the way. Each circle is told once.
func (l *loader) recursion() {
	const (
		unseen = iota
		open
		done
	)
	state := make(map[*Verb]int)
	nodes := make(map[*Verb]*verbNode)
	for i := range l.verbNodes {
		if vn := &l.verbNodes[i]; vn.v.Macro != nil && l.verbNamed[vn.v.Name] == vn.v {
			nodes[vn.v] = vn
		}
	}
	var path []*Verb
	var visit func(v *Verb)
	var calls func(v *Verb, c *dsl.Call, value *dsl.Value)
	calls = func(v *Verb, c *dsl.Call, value *dsl.Value) {
		if value != nil {
			for i := range value.Items() {
				calls(v, nil, &value.Items()[i])
			}
			for i := range value.Entries() {
				calls(v, nil, &value.Entries()[i].Value)
			}
			if c = value.Call(); c == nil {
				return
			}
		}
		if next := l.verbNamed[c.Verb]; next != nil && nodes[next] != nil {
			switch state[next] {
			case open:
				circle := append(slices.Clone(path[slices.Index(path, next):]), next)
				vn := nodes[v]
				vn.d.report(say.macroCircle(vn.d.within(vn.f[verbScript].value, int(c.VerbRange.Start), int(c.VerbRange.End)), circle))
			case unseen:
				visit(next)
			}
		}
		for i := range c.Args {
			calls(v, nil, &c.Args[i].Value)
		}
	}
	visit = func(v *Verb) {
		state[v] = open
		path = append(path, v)
		for i := range v.Macro.Script.Calls {
			calls(v, &v.Macro.Script.Calls[i], nil)
		}
		path = path[:len(path)-1]
		state[v] = done
	}
	for i := range l.verbNodes {
		if v := l.verbNodes[i].v; nodes[v] != nil && state[v] == unseen {
			visit(v)
		}
	}
}
