package verbs

import (
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs/naming"
	"verbatim/verbs/values"
)

// maxNesting bounds calls, lists and maps inside one another, for scripts that
// Parse did not make. JSON is read back to the same depth.
const maxNesting = 200

// Check turns a script into a Program, or says everything that is wrong with
// it. The Program is nil when there is an error, and also when the script has
// broken calls: their mistakes were reported by Parse and are not repeated.
// Warnings alone do not stop a script.
func (r *Registry) Check(s *dsl.Script, names Names) (*Program, dsl.Diagnostics) {
	p := new(Program)
	ds := r.CheckInto(p, s, names)
	if !p.Valid() {
		return nil, ds
	}
	return p, ds
}

// CheckInto is Check into the memory of an earlier program, whose calls must no
// longer be in use. For a valid script of plain values it allocates nothing.
// When there is an error, p is left empty and not Valid.
func (r *Registry) CheckInto(p *Program, s *dsl.Script, names Names) dsl.Diagnostics {
	p.said, p.bound, p.kept = Literals{}, nil, nil
	c := checker{r: r, p: p, s: s, names: names}
	c.run()
	return c.ds
}

// CheckWork is Check for scheduled work, which may call internal verbs too. For every other
// caller they do not exist.
func (r *Registry) CheckWork(s *dsl.Script, names Names) (*Program, dsl.Diagnostics) {
	p := new(Program)
	c := checker{r: r, p: p, s: s, names: names, work: true}
	c.run()
	if !p.Valid() {
		return nil, c.ds
	}
	return p, c.ds
}

// CheckMacro checks the script of a macro, whose names are only the arguments of its verb. Only
// the macro of an internal verb may call internal verbs.
func (r *Registry) CheckMacro(v *Verb) (*Program, dsl.Diagnostics) {
	p := new(Program)
	c := checker{r: r, p: p, s: v.Macro.Script, macro: v, work: v.Internal}
	c.run()
	if !p.Valid() {
		return nil, c.ds
	}
	if more := p.unattainable(v); more.HasErrors() {
		return nil, append(c.ds, more...)
	}
	return p, c.ds
}

// CheckRun checks the work of a trigger of v, whose names are only the arguments of v.
func (r *Registry) CheckRun(v *Verb, run *Macro) (*Program, dsl.Diagnostics) {
	as := *v
	as.Macro, as.Internal = run, true
	return r.CheckMacro(&as)
}

type checker struct {
	r     *Registry
	p     *Program
	s     *dsl.Script
	names Names
	macro *Verb // the verb whose arguments are the names, in CheckMacro
	work  bool  // internal verbs may be called
	open  bool  // unknown names are left for later: calls are stored
	depth int   // nesting of stored calls in other stored calls

	ds        dsl.Diagnostics
	broken    bool // a call is incomplete: no program, and no guesses about what is unused
	failed    bool
	sensitive bool                // inside a sensitive argument, of which nothing may be quoted
	each      bool                // the call names @each
	mending   bool                // inside a broken call, which the parser has reported already
	near      map[string][]string // verbs near an unknown one

	all    bool // every diagnostic is reported, whatever their number
	untold int  // diagnostics beyond the limit
}

// A binding is an `:as` name.
type binding struct {
	name string
	call int // index in Program.calls
	as   *dsl.Call
	used bool
}

// An edge says that call from uses the result of call to. While its call is
// being checked, from is -1.
type edge struct{ from, to int }

func (c *checker) run() {
	p := c.p
	p.registry, p.script = c.r, nil
	p.calls, p.order, p.args, p.needs = p.calls[:0], p.order[:0], p.args[:0], p.needs[:0]
	p.edges, p.bindings = p.edges[:0], p.bindings[:0]
	if len(p.byName) > 0 {
		clear(p.byName)
	}

	// First the bindings, because calls may be written in any order.
	n := 0
	for i := range c.s.Calls {
		c.survey(&c.s.Calls[i], &n, 0)
	}
	if cap(p.calls) < n {
		p.calls = make([]Call, 0, n)
	}
	for i := range c.s.Calls {
		c.call(&c.s.Calls[i], false, c.depth)
	}
	c.arrange()
	if c.r.excludes && !c.failed && !c.broken {
		c.together()
	}
	if n > 1 && !c.broken && c.macro == nil {
		c.unused()
	}
	if c.failed || c.broken {
		p.calls, p.order = p.calls[:0], p.order[:0]
	} else {
		p.script = c.s
	}
	if len(c.ds) > 1 {
		slices.SortStableFunc(c.ds, func(a, b dsl.Diagnostic) int { return int(a.Place.Range.Start) - int(b.Place.Range.Start) })
	}
	if c.untold > 0 {
		c.ds = append(c.ds, untold(c.untold))
	}
	c.ds = c.r.mask(c.s, c.ds, false)
}

// survey counts calls in the order in which they will be checked, a nested one before the call
// that contains it, and notes the name that each is bound to.
func (c *checker) survey(call *dsl.Call, n *int, depth int) {
	for i := range call.Args {
		if v := &call.Args[i].Value; v.Kind >= dsl.List && !c.keeps(c.r.verbs[call.Verb], &call.Args[i]) {
			c.surveyValue(v, n, depth+1)
		}
	}
	if call.Broken {
		c.broken = true
	}
	if call.As != "" {
		c.bind(call, *n)
	}
	*n++
}

func (c *checker) surveyValue(v *dsl.Value, n *int, depth int) {
	if depth > maxNesting {
		return
	}
	switch v.Kind {
	case dsl.List:
		for i, items := 0, v.Items(); i < len(items); i++ {
			if items[i].Kind >= dsl.List {
				c.surveyValue(&items[i], n, depth+1)
			}
		}
	case dsl.Map:
		for i, entries := 0, v.Entries(); i < len(entries); i++ {
			if entries[i].Value.Kind >= dsl.List {
				c.surveyValue(&entries[i].Value, n, depth+1)
			}
		}
	case dsl.Nested:
		if call := v.Call(); call != nil {
			c.survey(call, n, depth+1)
		}
	}
}

func (c *checker) bind(call *dsl.Call, index int) {
	if first := c.binding(call.As); first >= 0 {
		if !call.Broken {
			c.add(tell(c.place(call.AsRange), "duplicate-binding", call.As, c.place(c.p.bindings[first].as.AsRange)))
		}
		return
	}
	if c.names != nil && !call.Broken && c.names.Lookup(call.As) != nil {
		c.add(tell(c.place(call.AsRange), "binding-shadows-name", call.As))
	}
	p := c.p
	p.bindings = append(p.bindings, binding{name: call.As, call: index, as: call})
	switch {
	case len(p.bindings) <= scanBelow:
	case len(p.bindings) == scanBelow+1:
		if p.byName == nil {
			p.byName = make(map[string]int)
		}
		for i := range p.bindings {
			p.byName[p.bindings[i].name] = i
		}
	default:
		p.byName[call.As] = len(p.bindings) - 1
	}
}

func (c *checker) binding(name string) int {
	p := c.p
	if len(p.bindings) > scanBelow {
		if i, ok := p.byName[name]; ok {
			return i
		}
		return -1
	}
	for i := range p.bindings {
		if p.bindings[i].name == name {
			return i
		}
	}
	return -1
}

// call checks one call, after those nested in it, and returns its index.
func (c *checker) call(call *dsl.Call, nested bool, depth int) int {
	p := c.p
	mine := len(p.edges)
	outer := c.each
	c.each = false
	v := c.r.verbs[call.Verb]
	if v != nil && v.Internal && !c.work {
		v = nil // the author of the script may not call it
	}
	var args []Arg
	switch {
	case call.Broken:
		c.mend(call, v, depth)
	case v == nil:
		c.unknownVerb(call)
		c.skim(call, depth)
	default:
		args = p.take(len(v.Params))
		clear(args)
		c.arguments(call, v, args, depth)
		if v.Deprecated != nil {
			c.deprecated(call, v)
		}
	}
	index := len(p.calls)
	for i := mine; i < len(p.edges); i++ {
		if p.edges[i].from < 0 {
			p.edges[i].from = index
		}
	}
	if c.each && (nested || call.As != "") {
		c.oneOfMany(call, nested)
	}
	p.calls = append(p.calls, Call{Verb: v, Syntax: call, Args: args, Nested: nested, Each: c.each})
	c.each = outer
	return index
}

// oneOfMany refuses to bind or nest a call that is made several times, since it has no single
// result.
func (c *checker) oneOfMany(call *dsl.Call, nested bool) {
	place := c.place(call.AsRange)
	if nested {
		place = c.place(call.VerbRange)
	}
	c.add(tell(place, "contradiction", "a call that names @each is made for each item, and here one result is wanted", "let it stand on a line of its own, without :as", dsl.Place{}, ""))
}

// take cuts n arguments from the slab, with whatever they held before. When the
// slab is full it begins another, twice as large; calls keep their parts of the
// old one.
func (p *Program) take(n int) []Arg {
	start := len(p.args)
	if start+n > cap(p.args) {
		p.args = make([]Arg, 0, max(n, 2*cap(p.args)))
		start = 0
	}
	p.args = p.args[:start+n]
	return p.args[start : start+n : start+n]
}

func (c *checker) arguments(call *dsl.Call, v *Verb, args []Arg, depth int) {
	var given uint64
	hint := 0
	for i := range call.Args {
		a := &call.Args[i]
		k := v.plan.param(a.Key, hint)
		if k < 0 {
			given |= c.unknownArgument(call, v, a)
			c.stray(&a.Value, depth+1)
			continue
		}
		hint = k + 1
		if given&(1<<k) != 0 {
			c.duplicateArgument(call, a)
			c.stray(&a.Value, depth+1)
			continue
		}
		given |= 1 << k
		out := &args[k]
		out.Syntax = &a.Value
		param := &v.Params[k]
		if a.Value.Kind == dsl.Nil {
			// nil means "not given", and a required argument must be given.
			if out.Syntax = nil; param.Clear {
				out.Kind, out.Value, out.Syntax = Literal, stores.Value{}, &a.Value
			}
			if param.Required {
				c.add(tell(c.place(a.Value.Range), "missing-argument/nil", v, param, param.blank()))
			}
			continue
		}
		c.sensitive = param.Sensitive
		c.value(site{verb: v, param: param}, param.Type, &a.Value, out, depth+1)
		c.sensitive = false
	}
	if missing := v.plan.required &^ given; missing != 0 {
		c.missing(call, v, missing)
	}
	for k := range v.Params {
		if by, ok := v.Params[k].SchemaOf(); ok {
			c.schemaOf(v, k, &args[by], &args[k])
		}
	}
	for k := 0; v.plan.defaulted>>k != 0; k++ {
		if v.plan.defaulted&(1<<k) != 0 && args[k].Syntax == nil {
			args[k].Kind, args[k].Value = Literal, v.Params[k].Default
		}
	}
	for k := range v.Params {
		if by, ok := v.CountryParam(k); ok {
			c.sensitive = v.Params[k].Sensitive
			c.countryOf(site{verb: v, param: &v.Params[k]}, v.Params[k].Type, &args[by], &args[k])
			c.sensitive = false
		}
	}
}

// A site is the argument that a value is for, and the position of the value within it: "" or
// "item 2 of".
type site struct {
	verb  *Verb
	param *Param
	part  string
	field *Param // the field of a record that the value is for; nil outside of a record
}

// about returns the declaration of the value's argument or field.
func (at site) about() *Param {
	if at.field != nil {
		return at.field
	}
	return at.param
}

// value checks a value against a type and sets out to its meaning.
func (c *checker) value(at site, t *Type, v *dsl.Value, out *Arg, depth int) {
	out.Syntax = v
	if t.KeepsCalls() && v.Kind != dsl.Symbol && v.Kind != dsl.Invalid {
		c.kept(at, t, v, out, depth)
		return
	}
	switch v.Kind {
	case dsl.Invalid:
		c.broken = true
	case dsl.Symbol:
		c.symbol(at, t, v, out)
	case dsl.Nested:
		c.nested(at, t, v, out, depth)
	case dsl.List:
		c.list(at, t, v, out, depth)
	case dsl.Map:
		c.object(at, t, v, out, depth)
	default:
		if t.Name == RefType && v.Kind == dsl.String && c.nameInQuotes(at, t, v, out) {
			return
		}
		w, p := t.Literal(v)
		if p == notUUID && t.Name == RefType && c.meant(at, t, v) {
			return
		}
		if p != Fine {
			c.add(c.refuse(at, t, v, p))
			return
		}
		if t.Name == RefType {
			c.add(tell(c.place(v.Range), "hard-coded-uuid", at.param, exampleName(at.param.Type)))
		}
		out.Kind, out.Value = Literal, w
	}
}

// nameInQuotes takes a string for a name if a reference is wanted and the session knows exactly
// that name: callers that use JSON write names so.
func (c *checker) nameInQuotes(at site, t *Type, v *dsl.Value, out *Arg) bool {
	if c.names == nil {
		return false
	}
	e := c.names.Lookup(v.Text)
	if e == nil {
		return false
	}
	if m := (meaning{known: true, name: RefType, row: e}); !m.fits(t) {
		c.add(c.misfit(at, t, v, m, "the name "+v.Text))
		return true
	}
	out.Kind = Name
	return true
}

func (c *checker) symbol(at site, t *Type, v *dsl.Value, out *Arg) {
	name, path := Divide(v.Text)
	m, ok := c.resolve(name, path, v, out)
	if ok && !m.fits(t) {
		c.add(c.misfit(at, t, v, m, "@"+v.Text))
	}
}

// resolve finds the meaning of a symbol. ok is false if the symbol is a mistake, or part of one.
func (c *checker) resolve(name, path string, v *dsl.Value, out *Arg) (meaning, bool) {
	if len(c.p.bindings) > 0 {
		if i := c.binding(name); i >= 0 {
			b := &c.p.bindings[i]
			b.used = true
			out.Kind, out.Call = Result, int32(b.call)
			c.p.edges = append(c.p.edges, edge{-1, b.call})
			verb := c.r.verbs[b.as.Verb]
			if verb == nil || b.as.Broken {
				return meaning{}, false
			}
			m, no := verb.plan.result.at(verb.Name, path)
			return m, c.found(no, v)
		}
	}
	out.Kind = Name
	if c.macro != nil {
		for i := range c.macro.Params {
			p := &c.macro.Params[i]
			if !naming.Same(p.Name, name) {
				continue
			}
			switch {
			case path == "":
				return meaningOf(p.Type), true
			case p.Type.Name == RefType && p.Type.Entity != nil:
				m, no := p.Type.Entity.at(path)
				return m, c.found(no, v)
			case p.Type.Name == RecordType:
				m, no := p.Type.at("@"+name, path)
				return m, c.found(no, v)
			case p.Type.Name == RefType || p.Type.Name == ObjectType || p.Type.Name == AnyType || p.Type.Name == MoneyType:
				return meaning{}, true
			}
			return meaning{}, c.found(&lost{step: firstStep(path), of: "@" + name}, v)
		}
		if i, ok := c.macro.Macro.ForEach(); ok && name == "each" {
			c.each = true
			return c.item(c.macro.Params[i].Type.Item, path, v)
		}
		c.unknownName(name, v)
		return meaning{}, false
	}
	if c.names == nil {
		return meaning{}, true
	}
	e := c.names.Lookup(name)
	switch {
	case e == nil && c.open:
		return meaning{}, true
	case e == nil:
		c.unknownName(name, v)
		return meaning{}, false
	case path == "":
		return meaning{known: true, name: RefType, row: e}, true
	}
	m, no := e.at(path)
	return m, c.found(no, v)
}

// item returns the meaning of @each, or of a part of it, in the script of a macro.
func (c *checker) item(t *Type, path string, v *dsl.Value) (meaning, bool) {
	switch {
	case path == "":
		return meaningOf(t), true
	case t == nil:
		return meaning{}, true // it has an error, which is reported elsewhere
	case t.Name == RecordType:
		m, no := t.at("@each", path)
		return m, c.found(no, v)
	case t.Name == RefType && t.Entity != nil:
		m, no := t.Entity.at(path)
		return m, c.found(no, v)
	case t.Name == RefType || t.Name == ObjectType || t.Name == AnyType || t.Name == MoneyType:
		return meaning{}, true
	}
	return meaning{}, c.found(&lost{step: firstStep(path), of: "@each"}, v)
}

// found reports whether a path leads to a field, and complains if it does not.
func (c *checker) found(no *lost, v *dsl.Value) bool {
	if no != nil {
		c.add(unknownField(c.place(v.Range), c.s.Source, no))
	}
	return no == nil
}

func firstStep(path string) string {
	step, _, _ := strings.Cut(path, ".")
	return step
}

// nested checks a call inside a value; the value is that call's result.
func (c *checker) nested(at site, t *Type, v *dsl.Value, out *Arg, depth int) {
	call := v.Call()
	if call == nil {
		c.broken = true
		return
	}
	if depth > maxNesting {
		c.add(tell(c.place(v.Range), "too-deep/calls", maxNesting))
		return
	}
	sensitive := c.sensitive
	c.sensitive = false // the inner call's arguments have their own sensitivity
	index := c.call(call, true, depth+1)
	c.sensitive = sensitive
	out.Kind, out.Call = Result, int32(index)
	c.p.edges = append(c.p.edges, edge{-1, index})
	if verb := c.r.verbs[call.Verb]; verb != nil && !call.Broken {
		if m, _ := verb.plan.result.at(verb.Name, ""); !m.fits(t) {
			c.add(c.misfit(at, t, v, m, "the result of "+verb.Name))
		}
	}
}

// list checks a list. If all of it is literal it becomes one JSON value.
func (c *checker) list(at site, t *Type, v *dsl.Value, out *Arg, depth int) {
	switch {
	case depth > maxNesting:
		c.add(tell(c.place(v.Range), "too-deep/calls", maxNesting))
		return
	case t.Name != ListType && t.Name != AnyType:
		c.add(c.refuse(at, t, v, WrongType))
		c.stray(v, depth)
		return
	}
	item := anyType
	if t.Name == ListType && t.Item != nil {
		item = t.Item
	}
	items := v.Items()
	args := make([]Arg, len(items))
	before := len(c.ds)
	whole := true
	for i := range items {
		if items[i].Kind == dsl.Nil && item.Name != AnyType {
			c.add(tell(c.place(items[i].Range), "wrong-type/nil", at.param))
			continue
		}
		if items[i].Kind == dsl.Nil {
			args[i] = Arg{Kind: Literal, Syntax: &items[i]}
			continue
		}
		c.value(at.item(i), item, &items[i], &args[i], depth+1)
		whole = whole && args[i].Kind == Literal
	}
	if t.Name == ListType {
		switch {
		case len(items) < t.MinLength:
			c.add(c.refuse(at, t, v, TooShort))
		case t.MaxLength > 0 && len(items) > t.MaxLength:
			c.add(c.refuse(at, t, v, TooLong))
		}
	}
	switch {
	case len(c.ds) > before && c.failed:
		return
	case !whole:
		out.Kind, out.items = Listed, &args
		return
	}
	values := make([]stores.Value, len(args))
	for i := range args {
		values[i] = args[i].Value
	}
	out.Kind, out.Value = Literal, stores.NewList(values...)
}

// object checks a map. If all of it is literal it becomes one JSON value, with its keys sorted.
// Only such a value can be checked against a schema; a map with names in it is checked at run
// time.
func (c *checker) object(at site, t *Type, v *dsl.Value, out *Arg, depth int) {
	switch {
	case depth > maxNesting:
		c.add(tell(c.place(v.Range), "too-deep/calls", maxNesting))
		return
	case t.Name == RecordType:
		c.record(at, t, v, out, depth)
		return
	case t.Name != ObjectType && t.Name != MoneyType && t.Name != AnyType:
		c.add(c.refuse(at, t, v, WrongType))
		c.stray(v, depth)
		return
	}
	entries := v.Entries()
	args := make([]Arg, len(entries))
	keys := make([]string, len(entries))
	before := len(c.ds)
	whole := true
	seen := make(map[string]int, len(entries))
	for i := range entries {
		e := &entries[i]
		keys[i] = e.Key
		if first, twice := seen[e.Key]; twice {
			if !c.mending { // the parser has reported it
				c.add(tell(c.place(e.KeyRange), "duplicate-key/map", dsl.FormatKey(e.Key), c.place(entries[first].KeyRange)))
			}
		} else {
			seen[e.Key] = i
		}
		if e.Value.Kind == dsl.Nil {
			args[i] = Arg{Kind: Literal, Syntax: &e.Value}
			continue
		}
		inner := anyType
		if t.Name == MoneyType {
			inner = t.moneyPart(e.Key)
		}
		c.value(at.entry(e.Key), inner, &e.Value, &args[i], depth+1)
		whole = whole && args[i].Kind == Literal
	}
	if len(c.ds) > before && c.failed {
		return
	}
	if t.Name == MoneyType && !c.money(at, t, v, seen) {
		return
	}
	if !whole {
		out.Kind, out.items = Mapped, &args
		return
	}
	values := make([]stores.Value, len(args))
	for i := range args {
		values[i] = args[i].Value
	}
	w := stores.NewObject(keys, values)
	if t.Name == ObjectType && t.Schema != nil {
		for _, d := range c.unschematic(at, t.Schema, v, w) {
			c.add(d)
		}
	}
	out.Kind, out.Value = Literal, w
}

var (
	anyType      = &Type{Name: AnyType, Scale: -1}
	amountType   = &Type{Name: DecimalType, Scale: -1}
	currencyType = &Type{Name: CodeType, Scale: -1}
)

// moneyPart returns the type of the amount or the currency of money.
func (t *Type) moneyPart(key string) *Type {
	switch key {
	case "amount":
		if t.Scale < 0 && t.Min.IsNull() && t.Max.IsNull() {
			return amountType
		}
		return &Type{Name: DecimalType, Scale: t.Scale, Min: t.Min, Max: t.Max}
	case "currency":
		return currencyType
	}
	return anyType
}

// Amount returns the type of the amount of money.
func (t *Type) Amount() *Type { return t.moneyPart("amount") }

// money checks that a map is an amount and a currency, and no more.
func (c *checker) money(at site, t *Type, v *dsl.Value, seen map[string]int) bool {
	amount, a := seen["amount"]
	currency, b := seen["currency"]
	entries := v.Entries()
	if !a || !b || len(entries) != 2 || entries[amount].Value.Kind == dsl.Nil || entries[currency].Value.Kind == dsl.Nil {
		c.add(c.refuse(at, t, v, WrongType))
		return false
	}
	if cur := &entries[currency].Value; cur.Kind == dsl.Code || cur.Kind == dsl.String {
		if !t.AcceptsCurrency(cur.Text) {
			c.add(c.unknownCurrency(at, t, cur))
			return false
		}
		if is, _ := values.CurrencyOf(cur.Text); is.Ended != "" && !c.sensitive {
			c.add(tell(c.place(cur.Range), "ended-currency", is.Code, is.Ended, is.Now))
		}
	}
	return true
}

func (at site) item(i int) site {
	at.part = "item " + strconv.Itoa(i+1) + " of " + at.part
	return at
}

func (at site) entry(key string) site {
	at.part = key + " in " + at.part
	return at
}

// mend checks a call in which Parse found a mistake. The parts that are intact are checked as
// usual; consequences of the mistake (a missing argument, a name that nothing uses) are not
// reported.
func (c *checker) mend(call *dsl.Call, v *Verb, depth int) {
	if v == nil {
		if call.Verb != "" && c.text(call.VerbRange) == call.Verb && strings.IndexByte(call.Verb, '.') > 0 {
			c.unknownVerb(call)
		}
		c.skim(call, depth)
		return
	}
	var ignored Arg
	for i := range call.Args {
		a := &call.Args[i]
		k := v.plan.param(a.Key, i)
		asWritten := c.text(a.KeyRange) == ":"+a.Key
		switch {
		case k >= 0 && asWritten && a.Value.Kind != dsl.Nil:
			param := &v.Params[k]
			ignored = Arg{}
			c.sensitive, c.mending = param.Sensitive, true
			c.value(site{verb: v, param: param}, param.Type, &a.Value, &ignored, depth+1)
			c.sensitive, c.mending = false, false
			continue
		case k < 0 && asWritten:
			c.unknownArgument(call, v, a)
		}
		c.skimValue(&a.Value, depth+1, true)
	}
}

// skim visits a call that cannot be understood: names in it count as used, and calls in it are
// checked.
func (c *checker) skim(call *dsl.Call, depth int) {
	for i := range call.Args {
		c.skimValue(&call.Args[i].Value, depth+1, call.Broken)
	}
}

// stray visits a value that belongs to no argument.
func (c *checker) stray(v *dsl.Value, depth int) { c.skimValue(v, depth, false) }

func (c *checker) skimValue(v *dsl.Value, depth int, quiet bool) {
	switch v.Kind {
	case dsl.Symbol:
		name, _, _ := strings.Cut(v.Text, ".")
		var ignored Arg
		if quiet {
			if i := c.binding(name); i >= 0 {
				c.p.bindings[i].used = true
			}
			return
		}
		c.resolve(name, "", v, &ignored)
	case dsl.List:
		if depth > maxNesting {
			return
		}
		for i, items := 0, v.Items(); i < len(items); i++ {
			c.skimValue(&items[i], depth+1, quiet)
		}
	case dsl.Map:
		if depth > maxNesting {
			return
		}
		for i, entries := 0, v.Entries(); i < len(entries); i++ {
			c.skimValue(&entries[i].Value, depth+1, quiet)
		}
	case dsl.Nested:
		if call := v.Call(); call != nil && depth <= maxNesting {
			c.call(call, true, depth+1)
		}
	}
}

func (c *checker) place(r dsl.Range) dsl.Place { return dsl.Place{Source: c.s.Source, Range: r} }

func (c *checker) add(d dsl.Diagnostic) {
	if d.Severity == dsl.Error {
		c.failed = true
	}
	if !c.full() {
		c.ds = append(c.ds, d)
		return
	}
	c.untold++
}

// full reports whether the limit of diagnostics is reached, so that no more suggestions need be
// computed.
func (c *checker) full() bool { return !c.all && len(c.ds) >= dsl.DefaultLimits.Diagnostics }

// keeps reports whether the calls in an argument are stored and not made.
func (c *checker) keeps(v *Verb, a *dsl.Arg) bool {
	if v == nil || v.plan.keeps == 0 {
		return false
	}
	k := v.plan.param(a.Key, 0)
	return k >= 0 && v.plan.keeps&(1<<k) != 0
}
