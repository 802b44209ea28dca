// Package drift reports in which respects new palettes are less safe than old ones.
//
//	for _, d := range drift.Between(old, new) {
//		fmt.Println(d.Summary) // bank.pay asks less than it did
//	}
package drift

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/message"
	"verbatim/verbs/naming"
)

// Between reports in which respects the new palettes are less safe than the old ones. Every
// change that lowers safety is an error with its place in the new palettes and, if it exists, the
// old place beside it; a new verb is a warning with its roles, because only a person can tell
// what it should be able to do. Changes that make a palette stricter, or that change only its
// wording, are not reported.
//
// If it cannot be decided whether a change lowers safety, as between two conditions of different
// text, it is reported.
func Between(old, new *verbs.Registry) dsl.Diagnostics {
	d := &drift{old: old}
	for _, role := range new.Roles() {
		d.role(role)
	}
	for _, list := range new.CodeLists() {
		d.codes(list)
	}
	for _, e := range new.Entities() {
		d.entity(e)
	}
	for _, p := range new.Palettes() {
		d.conversation(p)
		d.doors(p)
	}
	for _, v := range new.Verbs() {
		was := old.Verb(v.Name)
		if was == nil {
			d.ds = append(d.ds, newVerb(v))
			continue
		}
		d.verb(was, v)
	}
	slices.SortStableFunc(d.ds, func(a, b dsl.Diagnostic) int { return comparePlaces(a.Place, b.Place) })
	return d.ds
}

func comparePlaces(a, b dsl.Place) int {
	if a.Source != b.Source {
		return strings.Compare(sourceName(a), sourceName(b))
	}
	return int(a.Range.Start) - int(b.Range.Start)
}

func sourceName(p dsl.Place) string {
	if p.Source == nil {
		return ""
	}
	return p.Source.Name
}

//go:embed codes.txtar
var codesText string

// Codes explains the codes of this package. Each example is two palettes with a line
// of three dashes between them.
func Codes() []dsl.CodeDoc { return dsl.ReadCodes(codesText) }

type drift struct {
	old *verbs.Registry
	ds  dsl.Diagnostics
}

// lower reports one change: at is its place in the new palettes, was in the old.
func (d *drift) lower(code string, at, was dsl.Place, label, format string, args ...any) {
	lowered := dsl.Diagnostic{
		Code:    code,
		Summary: fmt.Sprintf(format, args...),
		Label:   label,
		Place:   at,
		Notes:   []string{"this lowers safety: take it back, or let somebody agree to it and compare with the new palettes from then on"},
	}
	if was.Source != nil {
		lowered.Related = []dsl.Related{{Place: was, Message: "as it was"}}
	}
	d.ds = append(d.ds, lowered)
}

func (d *drift) role(role *verbs.Role) {
	was := d.old.Role(role.Name)
	if was == nil && role.Was != "" {
		was = d.old.Role(role.Was)
	}
	if was != nil && role.SeesAll && !was.SeesAll {
		d.lower("role-widened", role.Place, was.Place, "it saw only what it was granted", "role %s sees every row", role.Name)
	}
	if was != nil && role.Keeps && !was.Keeps {
		d.lower("role-widened", role.Place, was.Place, "it could erase nothing", "role %s may erase from the journal", role.Name)
	}
}

func (d *drift) conversation(p *verbs.Palette) {
	for _, was := range d.old.Palettes() {
		if was.Domain != p.Domain || was.Conversation == nil || !was.Conversation.PlanFirst || p.Conversation != nil && p.Conversation.PlanFirst {
			continue
		}
		at := dsl.Place{Source: p.Source, Range: dsl.Range{End: int32(len("domain"))}} // the beginning of its first line
		if p.Conversation != nil {
			at = p.Conversation.Place
		}
		d.lower("origin-widened", at, was.Conversation.Place, "calls were written before anything was read",
			"a model that talks about %s reads documents and answers of tools before it writes its calls", p.Domain)
	}
}

// doors reports new ways by which others can reach a palette.
func (d *drift) doors(p *verbs.Palette) {
	i := slices.IndexFunc(d.old.Palettes(), func(o *verbs.Palette) bool { return o.Domain == p.Domain })
	if i < 0 {
		return // its verbs are new anyway
	}
	was := d.old.Palettes()[i]
	opened := func(at dsl.Place, format string, args ...any) {
		d.lower("door-opened", at, dsl.Place{Source: was.Source}, "they could not before", format, args...)
	}
	if c := p.Conversation; c != nil {
		old := was.Conversation
		for _, name := range c.Channels {
			if old == nil || !slices.Contains(old.Channels, name) {
				opened(c.Place, "people speak of %s by %s", p.Domain, name)
			}
		}
		if c.Phrased && (old == nil || !old.Phrased) {
			opened(c.Place, "a model writes sentences that people read about %s", p.Domain)
		}
	}
	if p.Task == nil {
		return
	}
	before := was.Task
	for _, v := range p.Task.Begins {
		if before == nil || !slices.ContainsFunc(before.Begins, func(o *verbs.Verb) bool { return o.Name == v.Name }) {
			opened(p.Task.Place, "agents of others begin tasks by %s", v.Name)
		}
	}
	for _, does := range []struct {
		what string
		by   func(*verbs.Task) *verbs.Verb
	}{{"go on with", func(t *verbs.Task) *verbs.Verb { return t.Continues }}, {"end", func(t *verbs.Task) *verbs.Verb { return t.Cancels }},
		{"read", func(t *verbs.Task) *verbs.Verb { return t.Tells }}, {"list", func(t *verbs.Task) *verbs.Verb { return t.Lists }}} {
		v := does.by(p.Task)
		if v != nil && (before == nil || does.by(before) == nil || does.by(before).Name != v.Name) {
			opened(p.Task.Place, "agents of others %s tasks by %s", does.what, v.Name)
		}
	}
}

func (d *drift) codes(list *verbs.CodeList) {
	was := d.old.CodeList(list.Name)
	if was == nil {
		return
	}
	var added []string
	for _, c := range list.Codes {
		if !was.Has(c.Name) {
			added = append(added, c.Name)
		}
	}
	if len(added) > 0 {
		d.lower("limit-loosened", list.Place, was.Place, "more is accepted wherever the list is used", "code list %s holds %s more: %s", list.Name, message.Count(len(added), "code"), message.Some(added, 8))
	}
	steps, _ := list.Steps("", "")
	stepped, _ := was.Steps("", "")
	for i := range list.Codes {
		c := &list.Codes[i]
		for j := range was.Codes {
			o := &was.Codes[j]
			if o.Name != c.Name {
				continue
			}
			if o.Value != c.Value {
				d.lower("table-changed", list.Place, was.Place, "other rows hold it", "%s of %s is kept in another form", c.Name, list.Name)
			}
			// A list without steps lets every code follow every other.
			if stepped && (!steps || !subset(c.To, o.To)) {
				d.lower("limit-loosened", list.Place, was.Place, "less could follow it", "%s of %s may be followed by other codes", c.Name, list.Name)
			}
			if o.Schema != nil && schemaText(c.Schema) != schemaText(o.Schema) {
				d.lower("limit-loosened", list.Place, was.Place, "two schemas cannot be compared; somebody must", "%s of %s has another schema, or none", c.Name, list.Name)
			}
		}
	}
}

func (d *drift) entity(e *verbs.Entity) {
	was := d.old.Entity(e.Store.Name)
	if was == nil {
		return
	}
	name, n, o := e.Store.Name, e.Store, was.Store
	if n.Table != o.Table {
		d.lower("table-changed", e.Place, was.Place, "other rows", "%s is kept in table %s, not %s", name, n.Table, o.Table)
	}
	if !o.Managed && n.Managed {
		d.lower("table-changed", e.Place, was.Place, "it was verified and never altered", "the table of %s may be altered", name)
	}
	if keyName(n) != keyName(o) {
		d.lower("table-changed", e.Place, was.Place, "other rows may be meant", "the key of %s is %s, not %s", name, keyName(n), keyName(o))
	}
	if scope, before := verbs.OwnerOf(n), verbs.OwnerOf(o); scope != before && o.Access != stores.ForAll {
		d.lower("scope-changed", e.Place, was.Place, "it was "+before, "rows of %s belong to %s", name, scope)
	}
	if before := verbs.FieldNames(o, o.Visible); !subset(before, verbs.FieldNames(n, n.Visible)) {
		d.lower("read-widened", e.Place, was.Place, "only rows in which "+message.Joined(before, "and")+" was true were", "more rows of %s are there for roles that do not see all", name)
	}
	for i := range o.Unique {
		if !slices.ContainsFunc(n.Unique, func(set []int) bool { return subset(verbs.FieldNames(n, set), verbs.FieldNames(o, o.Unique[i])) }) {
			d.lower("limit-loosened", e.Place, was.Place, "two rows may now agree in them", "%s of %s need not be unique together", message.Joined(verbs.FieldNames(o, o.Unique[i]), "and"), name)
		}
	}
	for _, p := range e.Label.Paths {
		if !slices.ContainsFunc(was.Label.Paths, func(q stores.Path) bool { return pathText(n, p) == pathText(o, q) }) {
			d.lower("read-widened", e.Place, was.Place, "a label is shown to everybody who sees the row", "the label of %s shows %s", name, pathText(n, p))
		}
	}
	for i := range e.Fields {
		j := slices.IndexFunc(o.Fields, func(f stores.Field) bool { return naming.Same(f.Name, n.Fields[i].Name) })
		if j < 0 {
			continue
		}
		d.field(e, i, was, j)
	}
}

func (d *drift) field(e *verbs.Entity, i int, was *verbs.Entity, j int) {
	n, o := &e.Store.Fields[i], &was.Store.Fields[j]
	at, before := e.Fields[i].Place, was.Fields[j].Place
	name := e.Store.Name + "." + n.Name
	if o.Sensitive && !n.Sensitive {
		d.lower("sensitive-dropped", at, before, "its values may be shown and logged", "%s is no longer sensitive", name)
	}
	if o.Personal && !n.Personal {
		d.lower("personal-dropped", at, before, "its values stay in the journal for ever", "%s is no longer personal", name)
	}
	if by, less := was.Fields[j].WrittenBy, e.Fields[i].WrittenBy; len(by) > 0 && (len(less) == 0 || slices.ContainsFunc(less, func(r *verbs.Role) bool {
		return !slices.ContainsFunc(by, func(b *verbs.Role) bool { return b.Name == r.Name })
	})) {
		d.lower("origin-widened", at, before, "its words were of untrusted origin for all others", "%s is written by other roles than it was", name)
	}
	if n.Column != o.Column {
		d.lower("table-changed", at, before, "other data", "%s is kept in column %s, not %s", name, n.Column, o.Column)
	}
	if o.Required && !n.Required {
		d.lower("limit-loosened", at, before, "it was required", "%s may be empty", name)
	}
	d.typ(at, before, name, e.Fields[i].Type, was.Fields[j].Type)
}

func (d *drift) verb(was, v *verbs.Verb) {
	for _, role := range v.Roles {
		if !slices.ContainsFunc(was.Roles, func(r *verbs.Role) bool { return r.Name == role.Name }) {
			d.lower("role-added", v.Place, was.Place, "they could not before", "%s may be used by role %s", v.Name, role.Name)
		}
	}
	if was.Internal && !v.Internal {
		d.lower("role-added", v.Place, was.Place, "only work could call it before", "%s may be called by role %s", v.Name, message.Joined(roleNames(v.Roles), "or"))
	}
	d.params(was, v)
	d.totals(was, v)
	d.discloses(was, v)
	d.looks(was, v)
	d.requires(was, v)
	d.excludes(was, v)
	d.limited(was, v)
	d.confirms(was, v)
	d.effects(was, v)
	d.carrier(was, v)
	d.reads(was, v)
}

func (d *drift) params(was, v *verbs.Verb) {
	for i := range v.Params {
		p := &v.Params[i]
		o := paramNamed(was, p.Name)
		if o == nil {
			continue
		}
		name := v.Name + " :" + p.Name
		d.upload(name, p, o)
		if o.Sensitive && !p.Sensitive {
			d.lower("sensitive-dropped", p.Place, o.Place, "its values may be shown and logged", "%s is no longer sensitive", name)
		}
		if o.Personal && !p.Personal {
			d.lower("personal-dropped", p.Place, o.Place, "its values stay in the journal for ever", "%s is no longer personal", name)
		}
		if o.From != 0 && (p.From == 0 || p.From&^o.From != 0) {
			more := p.From &^ o.From
			if p.From == 0 {
				more = ^o.From
			}
			d.lower("origin-widened", p.Place, o.Place, "it had to come from "+message.Joined(o.From.Words(), "or"), "%s may also come from %s", name, message.Joined(more.Words(), "or"))
		}
		d.otherwise(name, p, o)
		if o.Required && !p.Required {
			d.lower("limit-loosened", p.Place, o.Place, "it was required", "%s may be left out", name)
		}
		if (defaultText(o) != defaultText(p) || o.Default != p.Default || o.Active != p.Active) && !o.Required {
			d.lower("default-changed", p.Place, o.Place, "the same call now says something else", "%s has another default: %s, not %s", name, defaultText(p), defaultText(o))
		}
		d.typ(p.Place, o.Place, name, p.Type, o.Type)
		if p.FollowUps && !o.FollowUps {
			d.lower("limit-loosened", p.Place, o.Place, "it was held to all of its schema", "%s is taken without what its schema requires under a condition", name)
		}
		_, held := o.SchemaOf()
		if _, holds := p.SchemaOf(); held && !holds && p.Type.Schema == nil {
			d.lower("limit-loosened", p.Place, o.Place, "it took what the code beside it says", "%s takes any object", name)
		}
	}
	for i := range was.Params {
		o := &was.Params[i]
		if o.Required && paramNamed(v, o.Name) == nil {
			d.lower("limit-loosened", v.Place, o.Place, "it was required", "%s no longer asks for :%s", v.Name, o.Name)
		}
	}
}

// otherwise compares what happens to values of other origins.
func (d *drift) otherwise(name string, p, was *verbs.Param) {
	n, o := p.Otherwise, was.Otherwise
	switch {
	case was.From == 0 || p.From == 0 || n == nil: // as strict as possible, or reported already
	case o == nil:
		d.lower("origin-widened", p.Place, was.Place, "it was refused", "%s asks where it comes from elsewhere", name)
	case o.By != nil && (n.By == nil || n.By.Name != o.By.Name):
		d.lower("origin-widened", p.Place, was.Place, "somebody with role "+o.By.Name+" had to agree", "%s asks others where it comes from elsewhere", name)
	case n.Lasts() > o.Lasts():
		d.lower("origin-widened", p.Place, was.Place, "an agreement was good for "+message.Lasting(int64(o.Lasts().Seconds())), "%s is agreed to for longer where it comes from elsewhere", name)
	}
}

// A type is loosened when it accepts what it did not accept before.
func (d *drift) typ(at, before dsl.Place, name string, n, o *verbs.Type) {
	loosened := func(label, format string, args ...any) {
		d.lower("limit-loosened", at, before, label, "%s %s", name, fmt.Sprintf(format, args...))
	}
	if n.Name != o.Name {
		narrower := o.Name == verbs.AnyType || o.Name == verbs.StringType && isSpelt(n.Name) || o.Name == verbs.DecimalType && n.Name == verbs.IntegerType
		if !narrower {
			loosened("it was "+o.Phrase(), "is %s", n.Phrase())
			return
		}
		// The limits of the old type no longer apply.
		if o.Name == verbs.StringType && (o.Pattern != nil || o.MaxLength > 0 || o.MinLength > 0) && n.Name != verbs.CodeType && n.Name != verbs.DateType && n.Name != verbs.UUIDType && n.Name != verbs.RefType {
			loosened("it was a string with limits", "is %s", n.Phrase())
		}
		return
	}
	unit := "characters"
	if n.Name == verbs.ListType {
		unit = "items"
	}
	if n.MinLength < o.MinLength {
		loosened(fmt.Sprintf("it needed %d", o.MinLength), "needs only %d %s", n.MinLength, unit)
	}
	if o.MaxLength > 0 && (n.MaxLength == 0 || n.MaxLength > o.MaxLength) {
		if n.MaxLength == 0 {
			loosened(fmt.Sprintf("it took %d %s", o.MaxLength, unit), "has no limit of length")
		} else {
			loosened(fmt.Sprintf("it took %d", o.MaxLength), "takes %d %s", n.MaxLength, unit)
		}
	}
	if o.Pattern != nil && patternText(n.Pattern) != patternText(o.Pattern) {
		loosened("two patterns cannot be compared; somebody must", "has another pattern, or none")
	}
	if !o.Min.IsNull() && (n.Min.IsNull() || less(n.Min, o.Min)) {
		loosened("the least was "+o.Min.Text(), "goes lower")
	}
	if !o.Max.IsNull() && (n.Max.IsNull() || less(o.Max, n.Max)) {
		loosened("the most was "+o.Max.Text(), "goes higher")
	}
	if looserDay(o.MinDay, n.MinDay, true) {
		loosened("the least was "+o.MinDay.String(), "goes lower, or to where nobody can tell")
	}
	if looserDay(o.MaxDay, n.MaxDay, false) {
		loosened("the most was "+o.MaxDay.String(), "goes higher, or to where nobody can tell")
	}
	if (n.Name == verbs.DecimalType || n.Name == verbs.MoneyType) && o.Scale >= 0 && (n.Scale < 0 || n.Scale > o.Scale) {
		loosened(fmt.Sprintf("it took %d", o.Scale), "takes more digits after the point")
	}
	if o.Codes != nil && (n.Codes == nil || n.Codes.Name != o.Codes.Name && !subset(n.Codes.Names(), o.Codes.Names())) {
		loosened("it took "+o.Codes.Name, "takes other codes")
	}
	if o.Entity != nil && (n.Entity == nil || n.Entity.Store.Name != o.Entity.Store.Name) {
		loosened("it referred to "+message.Article(o.Entity.Store.Name), "is %s", n.Phrase())
	}
	if o.Schema != nil && schemaText(n.Schema) != schemaText(o.Schema) {
		loosened("two schemas cannot be compared; somebody must", "has another schema, or none")
	}
	if o.Country != n.Country || o.CountryOf != n.CountryOf {
		loosened("it was of "+cmp.Or(o.Country, o.CountryOf, "no country"), "is of %s", cmp.Or(n.Country, n.CountryOf, "no country"))
	}
	if len(o.Currencies) > 0 && (len(n.Currencies) == 0 || !subset(n.Currencies, o.Currencies)) {
		loosened("it took "+message.Joined(o.Currencies, "and"), "takes other currencies")
	}
	for i := range o.Fields {
		f := &o.Fields[i]
		k := slices.IndexFunc(n.Fields, func(p verbs.Param) bool { return p.Ident == f.Ident })
		if k < 0 {
			continue // nobody can write it any more
		}
		called := ":" + f.Name + " of " + name
		if f.Required && !n.Fields[k].Required {
			d.lower("limit-loosened", n.Fields[k].Place, f.Place, "it had to be given", "%s may be left out", called)
		}
		d.typ(n.Fields[k].Place, f.Place, called, n.Fields[k].Type, f.Type)
	}
	for i := range n.Fields {
		if f := &n.Fields[i]; !slices.ContainsFunc(o.Fields, func(p verbs.Param) bool { return p.Ident == f.Ident }) {
			d.lower("limit-loosened", f.Place, before, "it did not have it", "%s takes :%s too", name, f.Name)
		}
	}
	if o.Item != nil {
		item := n.Item
		if item == nil {
			item = &verbs.Type{Name: verbs.AnyType, Scale: -1}
		}
		d.typ(at, before, "each of "+name, item, o.Item)
	}
}

// isSpelt reports whether values of a type are strings with a form.
func isSpelt(t verbs.TypeName) bool {
	switch t {
	case verbs.DateType, verbs.DateTimeType, verbs.DurationType, verbs.UUIDType, verbs.CodeType, verbs.RefType:
		return true
	}
	return t.Ruled()
}

// requires compares each old requirement with the new ones, without its message.
func (d *drift) requires(was, v *verbs.Verb) {
	for i := range was.Requires {
		o := &was.Requires[i]
		if requires(v, o.Line(was)) {
			continue
		}
		// A single one in the same place was probably rewritten.
		at := v.Place
		if i < len(v.Requires) && !requires(was, v.Requires[i].Line(v)) {
			at = v.Requires[i].Place
		}
		d.lower("requirement-dropped", at, o.Place, "it required "+o.Line(was), "%s can be used where it could not", v.Name)
	}
}

// totals reports values that are computed differently, so that conditions that use them may now
// hold.
func (d *drift) totals(was, v *verbs.Verb) {
	for _, o := range was.Totals {
		for _, n := range v.Totals {
			if n.Name == o.Name && n.Line(v) != o.Line(was) {
				d.lower("requirement-dropped", n.Place, o.Place, "it was "+o.Line(was), "%s reckons %s otherwise", v.Name, n.Name)
			}
		}
	}
}

// discloses reports values about rows that callers do not see, which callers are newly told.
func (d *drift) discloses(was, v *verbs.Verb) {
	for i := range v.Discloses {
		n := &v.Discloses[i]
		if !slices.ContainsFunc(was.Discloses, func(o verbs.Disclosed) bool { return o.Line(was) == n.Line(v) }) {
			d.lower("read-widened", n.Place, was.Place, "it did not before", "%s discloses %s", v.Name, n.Line(v))
		}
	}
}

// looks reports entities whose rows a function newly looks at.
func (d *drift) looks(was, v *verbs.Verb) {
	for _, e := range v.Looks {
		if !slices.ContainsFunc(was.Looks, func(o *verbs.Entity) bool { return o.Store.Name == e.Store.Name }) {
			d.lower("read-widened", v.Place, was.Place, "it did not before", "%s looks at rows of %s that its caller does not see", v.Name, e.Store.Name)
		}
	}
}

// excludes compares each old exclusion with the new ones.
func (d *drift) excludes(was, v *verbs.Verb) {
	for i := range was.Excludes {
		o := &was.Excludes[i]
		line, _, _ := strings.Cut(o.Line(was), " (otherwise:")
		kept := slices.ContainsFunc(v.Excludes, func(n verbs.Exclusion) bool {
			return n.Verb.Name == o.Verb.Name && (!n.Before || o.Before) && (n.Param < 0 || o.Param >= 0 && v.Params[n.Param].Name == was.Params[o.Param].Name)
		})
		if !kept {
			d.lower("requirement-dropped", v.Place, o.Place, "it excluded "+line, "%s can be used where it could not", v.Name)
		}
	}
}

// limited compares each old limit with the new ones: at least one must be as strict.
func (d *drift) limited(was, v *verbs.Verb) {
	for i := range was.Limits {
		o := &was.Limits[i]
		kept := slices.ContainsFunc(v.Limits, func(n verbs.Limit) bool {
			return n.AtMost <= o.AtMost && n.Within >= o.Within && (n.Everyone || !o.Everyone) && (n.Refused || !o.Refused)
		})
		if !kept {
			at := v.Place
			if i < len(v.Limits) {
				at = v.Limits[i].Place
			}
			d.lower("limit-loosened", at, o.Place, "it was "+o.Line(), "%s can be used more often than it could", v.Name)
		}
	}
}

// confirms compares each old rule with the new ones: at least one must ask whenever it asked, the
// same people, and be valid for no longer.
func (d *drift) confirms(was, v *verbs.Verb) {
	for i := range was.Confirm {
		o := &was.Confirm[i]
		var closest *verbs.Confirm
		covered, best := false, -1
		for k := range v.Confirm {
			n := &v.Confirm[k]
			when := n.Always || !o.Always && sameExpr(n.When, o.When)
			by := o.By == nil || n.By != nil && n.By.Name == o.By.Name
			expires := n.Lasts() <= o.Lasts() && (o.SignedIn == 0 || n.SignedIn > 0 && n.SignedIn <= o.SignedIn) && (o.Programs || !n.Programs)
			if when && by && expires {
				covered = true
				break
			}
			score := 0
			if when {
				score += 2
			}
			if by {
				score++
			}
			if score > best {
				closest, best = n, score
			}
		}
		if covered {
			continue
		}
		at, says := v.Place, "no rule asks any more"
		if closest != nil {
			at = closest.Place
			switch {
			case o.Always && !closest.Always:
				says = "it asked always"
			case !closest.Always && !sameExpr(closest.When, o.When):
				says = "the condition was " + strconv.Quote(o.When.Line())
			case o.By != nil && (closest.By == nil || closest.By.Name != o.By.Name):
				says = "somebody with role " + o.By.Name + " had to agree"
			case closest.Programs && !o.Programs:
				says = "no program could agree in the place of a person"
			case o.SignedIn > 0 && (closest.SignedIn == 0 || closest.SignedIn > o.SignedIn):
				says = "whoever agrees had to have signed in " + message.Lasting(o.SignedIn) + " ago at most"
			default:
				says = "an agreement was good for " + message.Lasting(int64(o.Lasts().Seconds()))
			}
		}
		d.lower("confirm-lowered", at, o.Place, says, "%s asks less than it did", v.Name)
	}
}

// effects compares promises in both directions. Each new effect must be within an old one, or the
// verb can do more; each old unconditional promise must still be made, or something that others
// rely on no longer happens.
func (d *drift) effects(was, v *verbs.Verb) {
	for i := range v.Effects {
		n := &v.Effects[i]
		var closest *verbs.Effect
		within, reason := false, ""
		for k := range was.Effects {
			o := &was.Effects[k]
			if o.Kind != n.Kind || targetOf(o) != targetOf(n) {
				continue
			}
			why := exceeds(v, n, was, o)
			if why == "" {
				within = true
				break
			}
			if closest == nil {
				closest, reason = o, why
			}
		}
		switch {
		case within:
		case closest != nil:
			d.lower("effect-widened", n.Place, closest.Place, reason, "%s can do more than it promised: %s", v.Name, effectPhrase(n))
		default:
			d.lower("effect-widened", n.Place, was.Place, "it could not before", "%s has a new effect: %s", v.Name, effectPhrase(n))
		}
	}
	for i := range was.Effects {
		o := &was.Effects[i]
		if o.May {
			continue
		}
		kept := slices.ContainsFunc(v.Effects, func(n verbs.Effect) bool {
			return n.Kind == o.Kind && targetOf(&n) == targetOf(o) && !n.May && (n.When == nil || sameExpr(n.When, o.When))
		})
		if !kept {
			d.lower("promise-dropped", v.Place, o.Place, "it was promised here", "%s no longer promises: %s", v.Name, effectPhrase(o))
		}
	}
}

// exceeds says how an effect goes beyond an older one of the same kind and target; "" if it does
// not.
func exceeds(v *verbs.Verb, n *verbs.Effect, was *verbs.Verb, o *verbs.Effect) string {
	if o.Entity != nil && n.Entity != nil {
		could, can := o.Changes(), n.Changes()
		if could != nil && (can == nil || !subset(can, could)) {
			return "it changed only " + message.Joined(could, "and")
		}
	}
	if o.When != nil && !sameExpr(n.When, o.When) {
		return "it happened only when " + o.When.Line()
	}
	if w := whereText(was, o); w != "" && whereText(v, n) != w {
		return "it reached only rows where " + w
	}
	if before, now := eachText(was, o), eachText(v, n); before != now && now != "" {
		return "it was there " + cmp.Or(before, "once")
	}
	for _, set := range n.Set {
		name := n.Entity.Store.Fields[set.Field].Name
		for _, before := range o.Set {
			if naming.Same(o.Entity.Store.Fields[before.Field].Name, name) && !sameExpr(set.Value, before.Value) {
				return fmt.Sprintf("it set %s to %s", name, before.Value.Line())
			}
		}
	}
	if o.Unless != nil && !sameExpr(n.Unless, o.Unless) {
		return "it was not done where, by then, " + o.Unless.Line()
	}
	if was, is := againText(was, o), againText(v, n); was != is {
		return "pieces of it were told apart otherwise: " + was
	}
	if withText(n) != withText(o) {
		return "something else went along"
	}
	if operandRest(n) != operandRest(o) {
		return "it was: " + verbs.OneLine(o.Operand.Text)
	}
	return ""
}

// carrier compares how a verb is carried out.
func (d *drift) carrier(was, v *verbs.Verb) {
	before, now := carrierText(was), carrierText(v)
	if before == now {
		return
	}
	at, old := v.Place, was.Place
	switch {
	case v.Macro != nil:
		at = v.Macro.Place
	case v.Tool != nil:
		at = v.Tool.Place
	case v.Query != nil:
		at = v.Query.Place
	}
	switch {
	case was.Macro != nil:
		old = was.Macro.Place
	case was.Tool != nil:
		old = was.Tool.Place
	case was.Query != nil:
		old = was.Query.Place
	}
	code, label := "carrier-changed", "it was "+carrierPhrase(was)
	if was.Query != nil && v.Query != nil {
		code, label = "query-changed", "two queries cannot be compared; somebody must"
	}
	d.lower(code, at, old, label, "%s is carried out by %s", v.Name, carrierPhrase(v))
}

func carrierText(v *verbs.Verb) string {
	switch {
	case v.Query != nil:
		return "query " + verbs.OneLine(v.Query.Text)
	case v.Macro != nil:
		var b strings.Builder
		if of, ok := v.Macro.ForEach(); ok {
			b.WriteString("for each of :" + v.Params[of].Name + "\n")
		}
		for i := range v.Macro.Script.Calls {
			b.WriteString(dsl.FormatCall(&v.Macro.Script.Calls[i]))
			b.WriteByte('\n')
		}
		return "macro " + b.String()
	case v.Tool != nil:
		return toolText(v)
	case v.Handler:
		return "handler"
	case v.Read != nil:
		return "read " + v.Read.Entity.Store.Name
	}
	return "effects"
}

func carrierPhrase(v *verbs.Verb) string {
	switch {
	case v.Query != nil:
		return "another query"
	case v.Macro != nil:
		return "another script"
	case v.Tool != nil:
		return "tool " + v.Tool.Name + " of " + v.Tool.Server
	case v.Handler:
		return "a handler"
	case v.Read != nil:
		return "a read of " + v.Read.Entity.Store.Name
	}
	return "its effects"
}

// reads compares what a verb returns.
func (d *drift) reads(was, v *verbs.Verb) {
	for _, name := range v.Returns.Includes {
		if !slices.Contains(was.Returns.Includes, name) {
			d.lower("read-widened", v.Place, was.Place, "it did not before", "%s returns %s", v.Name, name)
		}
	}
	for _, name := range v.Returns.Shows {
		if !slices.Contains(was.Returns.Shows, name) {
			d.lower("read-widened", v.Place, was.Place, "it was withheld where it was sensitive", "%s shows %s", v.Name, name)
		}
	}
	if n, o := v.Query, was.Query; n != nil && o != nil {
		for i, c := range n.Columns {
			j := slices.IndexFunc(o.Columns, func(d stores.Column) bool { return d.Name == c.Name })
			if j >= 0 && o.Sensitive != nil && o.Sensitive[j] && (n.Sensitive == nil || !n.Sensitive[i]) {
				d.lower("sensitive-dropped", n.Place, o.Place, "its values may be shown and logged", "%s returns %s as if it were not sensitive", v.Name, c.Name)
			}
		}
	}
	if n, o := v.Query, was.Query; n != nil && o != nil && o.One && !n.One {
		d.lower("read-widened", n.Place, o.Place, "it returned one row", "%s returns many rows", v.Name)
	}
	n, o := v.Read, was.Read
	if n == nil || o == nil || n.Entity.Store.Name != o.Entity.Store.Name {
		return
	}
	widened := func(label, format string, args ...any) {
		d.lower("read-widened", v.Place, was.Place, label, "%s %s", v.Name, fmt.Sprintf(format, args...))
	}
	for _, f := range n.Fields {
		path := readText(n, &f)
		if !slices.ContainsFunc(o.Fields, func(g verbs.ReadField) bool { return readText(o, &g) == path }) {
			widened("it did not before", "returns %s", path)
		}
		for _, g := range o.Fields {
			if g.Name == f.Name && g.Sensitive && !f.Sensitive && readText(o, &g) == path {
				d.lower("sensitive-dropped", v.Place, was.Place, "its values may be shown and logged", "%s returns %s as if it were not sensitive", v.Name, f.Name)
			}
		}
	}
	switch {
	case o.One && !n.One:
		widened("it returned the one row that an argument names", "returns many rows")
	case o.One && n.One && (o.By < 0 || n.By < 0 || o.By >= len(was.Params) || n.By >= len(v.Params) || was.Params[o.By].Name != v.Params[n.By].Name):
		widened("it returned the row that another argument names", "returns another row")
	}
	if o.Filter != nil && n.Filter.Line() != o.Filter.Line() {
		widened("it returned only rows where "+o.Filter.Line(), "returns other rows")
	}
	if o.Limit > 0 && (n.Limit == 0 || n.Limit > o.Limit) {
		widened(fmt.Sprintf("it returned at most %d", o.Limit), "returns more rows")
	}
}

// Texts for comparing. White space does not count.

// readText says where a returned field comes from, as text for comparing.
func readText(r *verbs.Read, f *verbs.ReadField) string {
	if f.Over != nil {
		of := *f
		of.Over = nil
		return f.Over.Kind.String() + " over " + readText(r, &of)
	}
	switch f.From {
	case verbs.FromList, verbs.FromCount, verbs.FromTotal:
		list := &r.Lists[f.List]
		if f.From == verbs.FromTotal {
			return f.Total.Kind.String() + " of " + fieldText(list.Entity, &list.Fields[f.Total.Field]) + " in " + listText(list)
		}
		if f.From == verbs.FromCount {
			return "a count of " + listText(list)
		}
		return listText(list)
	case verbs.FromProgress:
		p := r.Entity.Progress
		return "progress." + f.Part.String() + ", by " + p.Steps.Store.Name + "." + pathText(p.Steps.Store, p.By) + " where " + p.Done.Line()
	}
	return fieldText(r.Entity, f)
}

func fieldText(of *verbs.Entity, f *verbs.ReadField) string {
	switch f.From {
	case verbs.FromExpr:
		return f.Expr.Line()
	case verbs.FromCodes:
		return "the meaning of " + pathText(of.Store, f.Path)
	}
	return pathText(of.Store, f.Path)
}

func listText(l *verbs.ReadList) string {
	s := l.Entity.Store.Name + "." + pathText(l.Entity.Store, l.By)
	if l.Filter != nil {
		s += " where " + l.Filter.Line()
	}
	for i := range l.Fields {
		s += ", " + fieldText(l.Entity, &l.Fields[i])
	}
	return s
}

// requires reports whether a verb has a requirement, as a line.
func requires(v *verbs.Verb, line string) bool {
	return slices.ContainsFunc(v.Requires, func(r verbs.Require) bool { return r.Line(v) == line })
}

func sameExpr(a, b *verbs.Expr) bool { return (a == nil) == (b == nil) && a.Line() == b.Line() }

func whereText(v *verbs.Verb, e *verbs.Effect) string {
	switch {
	case e.Where == nil:
		return ""
	case e.Where.Filter != nil:
		return e.Where.Filter.Line()
	case e.Where.Param >= 0 && e.Where.Param < len(v.Params):
		return ":" + v.Params[e.Where.Param].Name + " names them"
	}
	return ""
}

func eachText(v *verbs.Verb, e *verbs.Effect) string {
	if e.Each == nil {
		return ""
	}
	return "once for each " + e.Each.Line(v)
}

func withText(e *verbs.Effect) string {
	var b strings.Builder
	for _, w := range e.With {
		fmt.Fprintf(&b, "%s=%s;", w.Key, w.Value.Line())
	}
	if e.Run != nil {
		fmt.Fprintf(&b, "at %s run %s", e.At.Line(), e.RunLine())
	}
	return b.String()
}

// againText says which jobs of a trigger have the same correlation key, and what happens to
// another.
func againText(v *verbs.Verb, e *verbs.Effect) string {
	if e.Run == nil || len(e.Key) == 0 {
		return "by no key"
	}
	return "by " + e.KeyNames(v) + ", " + e.Again.String()
}

// targetOf returns the target of an effect: its entity, or the first word of its operand.
func targetOf(e *verbs.Effect) string {
	switch {
	case e.Entity != nil:
		return e.Entity.Store.Name
	case len(e.Operand.Path) > 0:
		return strings.Join(e.Operand.Path, ".")
	}
	return verbs.OneLine(e.Operand.Text)
}

// operandRest returns the rest of an operand after its target, without notes, which are for
// people.
func operandRest(e *verbs.Effect) string {
	if e.Entity != nil {
		return ""
	}
	return verbs.OneLine(e.Operand.Value + " " + strings.Join(e.Operand.Alternatives, " OR "))
}

func patternText(p *regexp.Regexp) string {
	if p == nil {
		return ""
	}
	return p.String()
}

func schemaText(s *verbs.Schema) string {
	if s == nil {
		return ""
	}
	if v, err := stores.ParseJSON(string(s.Text())); err == nil {
		return v.Text()
	}
	return string(s.Text())
}

func keyName(e *stores.Entity) string {
	if e.Key < 0 || e.Key >= len(e.Fields) {
		return ""
	}
	return e.Fields[e.Key].Name
}

func pathText(e *stores.Entity, p stores.Path) string {
	var b strings.Builder
	at := e
	for _, s := range p.Steps {
		if at == nil || s.Field >= len(at.Fields) {
			return "?"
		}
		b.WriteString(at.Fields[s.Field].Name + ".")
		at = s.To
	}
	switch {
	case p.Count != nil:
		return b.String() + "Count(" + p.Count.Name + "." + p.Count.Fields[p.By].Name + ")"
	case at == nil || p.Field < 0 || p.Field >= len(at.Fields):
		return "?"
	}
	return b.String() + at.Fields[p.Field].Name
}

func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}

func paramNamed(v *verbs.Verb, name string) *verbs.Param {
	if i := v.ParamNamed(name); i >= 0 {
		return &v.Params[i]
	}
	return nil
}

// roleNames are the names of roles.
func roleNames(roles []*verbs.Role) []string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = r.Name
	}
	return names
}

func less(a, b stores.Value) bool {
	n, ok := stores.Compare(a, b)
	return ok && n < 0
}

func newVerb(v *verbs.Verb) dsl.Diagnostic {
	d := dsl.Diagnostic{
		Severity: dsl.Warning,
		Code:     "new-verb",
		Summary:  v.Name + " is new",
		Place:    v.Place,
		Notes:    []string{"read what it changes: verbatim explain " + v.Name},
	}
	if len(v.Roles) == 0 {
		d.Label = "nobody may use it"
	} else {
		d.Label = "may be used by " + message.Joined(roleNames(v.Roles), "and")
	}
	return d
}

func effectPhrase(e *verbs.Effect) string {
	word := e.Word()
	text := verbs.OneLine(e.Operand.Text)
	if e.Entity != nil {
		text = e.Entity.Store.Name
		if fields := e.Changes(); fields != nil {
			text += " (" + strings.Join(fields, ", ") + ")"
		}
	}
	if e.When != nil {
		text += " when " + e.When.Line()
	}
	return word + " " + text
}

func defaultText(p *verbs.Param) string {
	if p.Active {
		return "the row at work"
	}
	if p.DefaultDay != nil {
		return p.DefaultDay.String()
	}
	if p.Default.IsNull() {
		return "none"
	}
	if p.Sensitive {
		return "a sensitive value"
	}
	return p.Default.String()
}

// upload compares the files that an argument accepts.
func (d *drift) upload(name string, p, was *verbs.Param) {
	o, n := was.Upload, p.Upload
	switch {
	case o == nil:
		return
	case n == nil:
		d.lower("limit-loosened", p.Place, was.Place, "it took "+o.Wanted(), "%s takes any text, and not only a file of the caller", name)
		return
	case n.MaxSize > o.MaxSize:
		d.lower("limit-loosened", p.Place, was.Place, "it took "+verbs.SizeText(o.MaxSize), "%s takes files up to %s", name, verbs.SizeText(n.MaxSize))
	}
	for _, t := range n.Types {
		if !o.Takes(t) {
			d.lower("limit-loosened", p.Place, was.Place, "it took "+message.Joined(o.Types, "or"), "%s takes files of type %s", name, t)
		}
	}
}

// toolText writes everything that distinguishes one tool from another, for comparing palettes.
func toolText(v *verbs.Verb) string {
	t := v.Tool
	var b strings.Builder
	fmt.Fprintf(&b, "tool %s %s %t %t %s", t.Server, t.Name, t.ReadOnly, t.Idempotent, t.Rows)
	for i := range t.Sends {
		s := &t.Sends[i]
		fmt.Fprintf(&b, "\n%s=%s", s.Key, s.Line(v))
	}
	return b.String()
}

// looserDay reports whether a new bound allows dates that the old one did not.
func looserDay(before, after *verbs.Day, least bool) bool {
	switch {
	case before == nil:
		return false
	case after == nil:
		return true
	}
	for _, text := range [...]string{"2023-01-31", "2024-02-29", "2024-06-15", "2024-12-31"} {
		today, _ := stores.ParseDate(text)
		b, a := before.On(today), after.On(today)
		if least && less(a, b) || !least && less(b, a) {
			return true
		}
	}
	return false
}
