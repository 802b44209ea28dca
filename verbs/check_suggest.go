package verbs

import (
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/verbs/naming"
	"verbatim/verbs/values"
)

// unknownVerb searches all verbs; a verb of the same last part in another domain counts as near,
// because domains are easily confused.
func (c *checker) unknownVerb(call *dsl.Call) {
	if v := c.r.verbs[call.Verb]; v != nil { // the palette's author would look for a slip otherwise
		c.add(tell(c.place(call.VerbRange), "unknown-verb/internal", v))
		return
	}
	if c.full() {
		c.add(unknownVerb(c.place(call.VerbRange), call.Verb, nil, nil))
		return
	}
	near, known := c.near[call.Verb]
	if !known {
		names := make([]string, 0, len(c.r.sorted))
		_, last := splitVerb(call.Verb)
		var elsewhere []string
		for _, v := range c.r.sorted {
			if !c.offers(v) {
				continue
			}
			names = append(names, v.Name)
			if _, l := splitVerb(v.Name); l == last {
				elsewhere = append(elsewhere, v.Name)
			}
		}
		near = dsl.Nearest(call.Verb, slices.Values(names))
		if len(near) == 0 && len(elsewhere) <= maxTies {
			near = elsewhere
		}
		if c.near == nil {
			c.near = make(map[string][]string)
		}
		c.near[call.Verb] = near
	}
	var siblings []string
	if domain, _ := splitVerb(call.Verb); len(near) == 0 {
		if p := c.r.Palette(domain); p != nil {
			for _, v := range p.Verbs {
				if !c.offers(v) {
					continue
				}
				siblings = append(siblings, v.Name)
			}
		}
	}
	c.add(unknownVerb(c.place(call.VerbRange), call.Verb, near, siblings))
}

// offers reports whether a verb is worth suggesting: whether the principal may use it.
func (c *checker) offers(v *Verb) bool {
	who, known := c.names.(Permitted)
	return (!v.Internal || c.work) && (!known || who.May(v))
}

// maxTies is how many equally good suggestions are listed at most.
const maxTies = 3

func splitVerb(name string) (domain, verb string) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:]
	}
	return "", name
}

// unknownArgument reports an argument that the verb does not take, and returns the bits of those
// that were probably meant: reporting them as missing too would be a second diagnostic of the
// same slip.
func (c *checker) unknownArgument(call *dsl.Call, v *Verb, a *dsl.Arg) uint64 {
	if c.full() { // the search takes time in proportion to the call
		c.add(dsl.Diagnostic{Severity: dsl.Error})
		return 0
	}
	var free []string
	for i := range v.Params {
		name := v.Params[i].Name
		if !slices.ContainsFunc(call.Args, func(other dsl.Arg) bool { return other.Key == name }) {
			free = append(free, name)
		}
	}
	near := dsl.Nearest(a.Key, slices.Values(free))
	if len(near) == 0 {
		for _, name := range free {
			// A reference's "-id" is easily left out. And letters left out of a short name make
			// the word too short for Nearest to allow two slips.
			if naming.Same(name, a.Key) || strings.EqualFold(name, a.Key) || strings.EqualFold(name, a.Key+"-id") || dsl.Distance(name, a.Key, len(name)/3) <= len(name)/3 {
				near = []string{name}
			}
		}
	}
	c.add(unknownArgument(c.place(a.KeyRange), v, a.Key, near, free))
	var meant uint64
	for _, name := range near {
		meant |= 1 << v.plan.param(name, 0)
	}
	return meant
}

func (c *checker) duplicateArgument(call *dsl.Call, a *dsl.Arg) {
	if c.full() {
		c.add(dsl.Diagnostic{Severity: dsl.Error})
		return
	}
	for i := range call.Args {
		if first := &call.Args[i]; first.Key == a.Key {
			c.add(tell(c.place(a.KeyRange), "duplicate-argument", a.Key, c.place(first.KeyRange)))
			return
		}
	}
}

func (c *checker) missing(call *dsl.Call, v *Verb, bits uint64) {
	var params []*Param
	for i := range v.Params {
		if bits&(1<<i) != 0 {
			params = append(params, &v.Params[i])
		}
	}
	c.add(missingArguments(c.place(call.VerbRange), v, params))
}

// deprecated warns about a deprecated verb, and offers to rewrite the call if the palette says
// how.
func (c *checker) deprecated(call *dsl.Call, v *Verb) {
	edits, why := c.renewal(call, v)
	c.add(DeprecatedVerb(c.place(call.VerbRange), v, edits, why))
}

// renewal rewrites a call of a deprecated verb as a call of the verb that replaces it, or says
// why that would not be the same call.
func (c *checker) renewal(call *dsl.Call, v *Verb) (edits []dsl.Edit, why string) {
	to := c.r.Verb(v.Deprecated.ReplacedBy)
	if to == nil {
		return nil, ""
	}
	edits = []dsl.Edit{{Range: call.VerbRange, Text: to.Name}}
	given := make([]bool, len(to.Params))
	for i := range call.Args {
		a := &call.Args[i]
		name := v.Deprecated.renamed(a.Key)
		k := to.plan.param(name, 0)
		switch {
		case v.plan.param(a.Key, 0) < 0:
			return nil, "" // that is reported as an error of its own
		case k < 0:
			return nil, to.Name + " takes no :" + name
		case given[k]:
			return nil, "two of its arguments are :" + to.Params[k].Name + " there"
		}
		given[k] = true
		if name != a.Key {
			edits = append(edits, dsl.Edit{Range: a.KeyRange, Text: ":" + name})
		}
	}
	for i := range v.Params {
		was := &v.Params[i]
		k := to.plan.param(v.Deprecated.renamed(was.Name), 0)
		if k < 0 || given[k] {
			continue
		}
		if was.Default != to.Params[k].Default {
			return nil, ":" + was.Name + " is left out, which means something else there"
		}
	}
	for k := range to.Params {
		if p := &to.Params[k]; p.Required && !given[k] && p.Default.IsNull() {
			return nil, to.Name + " needs :" + p.Name
		}
	}
	return edits, ""
}

// renamed returns the name of an argument in the replacing verb.
func (d *Deprecation) renamed(arg string) string {
	if is, ok := d.Args[arg]; ok {
		return is
	}
	return arg
}

func (c *checker) unknownName(name string, v *dsl.Value) {
	if c.brokenBinding(name) {
		return
	}
	if h, able := c.names.(Homonyms); able && !c.full() {
		if several := h.Homonyms(name); len(several) > 0 {
			c.add(homonyms(c.place(c.nameRange(v, name)), name, several))
			return
		}
	}
	var candidates []string
	for i := range c.p.bindings {
		candidates = append(candidates, c.p.bindings[i].name)
	}
	var near []string
	if !c.full() {
		if c.macro != nil {
			for i := range c.macro.Params {
				candidates = append(candidates, c.macro.Params[i].Name)
			}
		}
		near = dsl.Nearest(name, slices.Values(candidates))
		if c.names != nil && len(near) == 0 {
			near = c.names.Nearby(name)
		}
	}
	if len(near) > maxTies {
		near = near[:maxTies]
	}
	at := c.nameRange(v, name)
	c.add(unknownName(c.place(at), name, near, c.macro))
}

// nameRange narrows the range of `@name.field` to `@name`.
func (c *checker) nameRange(v *dsl.Value, name string) dsl.Range {
	r := v.Range
	if strings.HasPrefix(c.text(r), "@"+name) {
		r.End = r.Start + int32(len(name)) + 1
	}
	return r
}

// text returns the text of a range, "" if the script was not made by Parse.
func (c *checker) text(r dsl.Range) string { return textAt(c.s.Source, r) }

func textAt(s *dsl.Source, r dsl.Range) string {
	if s == nil || r.Start < 0 || r.End < r.Start || int(r.End) > len(s.Text) {
		return ""
	}
	return s.Text[r.Start:r.End]
}

// brokenBinding reports whether a broken call may have been meant to bind the
// name: its `:as` may have been lost with the rest.
func (c *checker) brokenBinding(name string) bool {
	if !c.broken {
		return false
	}
	for i := range c.s.Calls {
		if call := &c.s.Calls[i]; call.Broken && strings.Contains(c.text(call.Range), ":as @"+name) {
			return true
		}
	}
	return false
}

// refuse reports a literal that its type does not accept.
func (c *checker) refuse(at site, t *Type, v *dsl.Value, p Problem) dsl.Diagnostic {
	return refusal(c.place(v.Range), at, t, v, p, c.sensitive)
}

// misfit reports a name, or the result of a call, of the wrong type.
func (c *checker) misfit(at site, t *Type, v *dsl.Value, m meaning, what string) dsl.Diagnostic {
	return misfit(c.place(v.Range), at, t, m, what)
}

func (c *checker) unknownCurrency(at site, t *Type, v *dsl.Value) dsl.Diagnostic {
	known := t.Currencies
	if len(known) == 0 {
		known = values.Currencies()
	}
	return unknownCurrency(c.place(v.Range), at, v, known, c.sensitive)
}
