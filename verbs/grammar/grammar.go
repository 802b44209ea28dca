package grammar

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/verbs"
)

// A Vocabulary is what one principal may say in one session.
type Vocabulary struct {
	Verbs []*verbs.Verb
	// Names returns the names of rows of an entity, of all entities for nil. Rows without names
	// cannot be used, and a verb that needs one is left out. If the function is nil, any name is
	// allowed.
	Names func(*verbs.Entity) []string
	// Brief makes schemas for a prompt that tells the names beside them: they hold no names, so that
	// they stay the same while rows come and go, no pattern of what is known by its name, such as a day
	// or an IBAN, and no descriptions of optional arguments where these are many. What they leave out is
	// checked all the same. A grammar is no different by it.
	Brief bool
	// Settled are the names that an argument may no longer have, because the verb can no longer
	// be used on those rows. Other arguments may have them.
	Settled map[*verbs.Param][]string
	// Calls limits the number of calls in one answer; 0 is no limit.
	Calls int
}

const root = "root"

// New makes the grammar of a vocabulary: one or more calls, each on a line, with the arguments in
// the order in which the palette declares them.
func New(v Vocabulary) *Grammar {
	b := &builder{v: v, g: &Grammar{rules: map[string]node{}, leaf: map[string]bool{}}, of: map[string]string{}}
	b.g.add(root, nil, false)
	var calls alt
	for _, verb := range v.Verbs {
		if name, ok := b.verb(verb); ok {
			calls = append(calls, rule(name))
		}
	}
	b.g.rules[root] = text("") // if there is nothing to say
	if len(calls) > 0 {
		b.g.rules[root] = several(rule("call"), v.Calls)
		b.g.add("call", simple(calls), false)
	}
	slices.Sort(b.g.loose)
	return b.g
}

func several(call node, most int) node {
	switch most {
	case 0:
		return seq{call, times{seq{text("\n"), call}, 0, -1}}
	case 1:
		return call
	}
	return seq{call, times{seq{text("\n"), call}, 0, most - 1}}
}

// Loose lists the arguments, as "client.add-note :note", for which the grammar allows more than
// the palette: those with limits that a grammar cannot express, or not together. Their values may
// still be refused when they are checked.
func (g *Grammar) Loose() []string { return slices.Clone(g.loose) }

type builder struct {
	v    Vocabulary
	g    *Grammar
	of   map[string]string // rule of a value by what it accepts
	days map[string]node   // of patterns for dates
	// param is the current argument; nil outside of arguments.
	param *verbs.Param
}

// verb adds the rule of a verb; ok is false if it cannot be used, because something that it needs
// has no name, or because it is internal.
func (b *builder) verb(v *verbs.Verb) (name string, ok bool) {
	if v.Internal {
		return "", false
	}
	parts := seq{text(v.Name)}
	object, code := b.beside(v)
	for i := 0; i < len(v.Params); i++ {
		if object >= 0 && i == min(object, code) {
			both, ok := b.codeAndObject(v, object, code)
			if !ok {
				return "", false
			}
			parts, i = append(parts, both), max(object, code)
			continue
		}
		part, ok := b.argument(v, i)
		if !ok {
			return "", false
		}
		parts = append(parts, part...)
	}
	name = "call-" + strings.NewReplacer(".", "-", "_", "-").Replace(strings.ToLower(v.Name))
	for n := 2; b.g.rules[name] != nil; n++ {
		name = fmt.Sprintf("%s-%d", strings.TrimRight(name, "-0123456789"), n)
	}
	b.g.add(name, parts, false)
	return name, true
}

// argument returns the node for an argument, an empty one for an optional argument that cannot be
// expressed.
func (b *builder) argument(v *verbs.Verb, i int) (part seq, ok bool) {
	p := &v.Params[i]
	b.param = p
	value, ok := b.value(p.Type, v.Name+" :"+p.Name)
	switch {
	case !ok:
		return nil, !p.Required
	case p.Required:
		return seq{text(" :" + p.Name + " "), value}, true
	}
	return seq{maybe(seq{text(" :" + p.Name + " "), value})}, true
}

// beside returns the first object of a verb with a schema selected by a code, and the code; -1 if
// there is none.
func (b *builder) beside(v *verbs.Verb) (object, code int) {
	for i := range v.Params {
		if by, ok := v.Params[i].SchemaOf(); ok && v.Params[by].Type.Name == verbs.CodeType && v.Params[by].Type.Codes != nil {
			return i, by
		}
	}
	return -1, -1
}

// codeAndObject returns the node for a code with an object of its schema, and the arguments
// between the two. One is left out only if it is optional; an object without its code is never
// written, since nothing is known of it.
func (b *builder) codeAndObject(v *verbs.Verb, object, code int) (node, bool) {
	list, site := v.Params[code].Type.Codes, v.Name+" :"+v.Params[object].Name
	way := func(one string, s *verbs.Schema) (seq, bool) {
		var parts seq
		for i := min(object, code); i <= max(object, code); i++ {
			switch {
			case i == code && one == "", i == object && s == nil:
			case i == code:
				parts = append(parts, text(" :"+v.Params[i].Name+" "+spelt(one)))
			case i == object:
				n, ok := b.objectOf(s, site)
				if !ok {
					return nil, false
				}
				parts = append(parts, text(" :"+v.Params[i].Name+" "), n)
			default:
				part, ok := b.argument(v, i)
				if !ok {
					return nil, false
				}
				parts = append(parts, part...)
			}
		}
		return parts, true
	}
	var ways alt
	for _, c := range list.Codes {
		if n, ok := way(c.Name, list.Schema(c.Name)); ok {
			ways = append(ways, n)
		}
		if n, ok := way(c.Name, nil); ok && !v.Params[object].Required {
			ways = append(ways, n)
		}
	}
	if n, ok := way("", nil); ok && !v.Params[object].Required && !v.Params[code].Required {
		ways = append(ways, n)
	}
	return simple(ways), len(ways) > 0
}

// spelt writes a code for a script: in quotes if it is no plain word.
func spelt(code string) string {
	word := dsl.NewCode(code)
	if word.Kind != dsl.Code {
		word = dsl.NewString(code)
	}
	return dsl.FormatValue(word)
}

// value returns the node for a value of a type, and adds a rule for it unless there is one. site
// is recorded if the grammar is loose.
func (b *builder) value(t *verbs.Type, site string) (node, bool) {
	switch t.Name {
	case verbs.ListType:
		return b.list(t, site)
	case verbs.ObjectType:
		return b.object(t, site)
	case verbs.RecordType:
		return b.record(t, site)
	case verbs.MoneyType:
		amount, ok := b.value(t.Amount(), site)
		if !ok {
			return nil, false
		}
		return seq{text("{:amount "), amount, text(" :currency "), b.leaf("currency", oneOf(t.CurrencyCodes())), text("}")}, true
	case verbs.CallType:
		b.loosen(site) // the result of another call may be used
		return seq{text("("), rule("call"), text(")")}, true
	case verbs.AnyType:
		b.loosen(site) // a call may take any of them for another type
		return b.anything(), true
	}
	n, ok := b.scalar(t, site)
	if !ok {
		return nil, false
	}
	return b.leaf(ruleNames[t.Name], n), true
}

var ruleNames = map[verbs.TypeName]string{
	verbs.StringType: "string", verbs.IntegerType: "integer", verbs.DecimalType: "decimal", verbs.BooleanType: "boolean",
	verbs.DateType: "date", verbs.DateTimeType: "datetime", verbs.DurationType: "duration", verbs.UUIDType: "uuid",
	verbs.CodeType: "code", verbs.RefType: "ref", verbs.EmailType: "email", verbs.PhoneType: "phone",
	verbs.IBANType: "iban", verbs.BICType: "bic", verbs.LEIType: "lei", verbs.NationalIDType: "national-id",
}

// leaf names a value's rule. Two that accept the same share a rule.
func (b *builder) leaf(name string, n node) node { return b.named(name, n, true) }

func (b *builder) named(name string, n node, leaf bool) node {
	key := fmt.Sprintf("%#v", n)
	if known, ok := b.of[key]; ok {
		return rule(known)
	}
	unique := name
	for i := 2; b.g.rules[unique] != nil; i++ {
		unique = fmt.Sprintf("%s-%d", name, i)
	}
	b.of[key] = unique
	b.g.add(unique, n, leaf)
	return rule(unique)
}

func (b *builder) loosen(site string) {
	if !slices.Contains(b.g.loose, site) {
		b.g.loose = append(b.g.loose, site)
	}
}

func (b *builder) scalar(t *verbs.Type, site string) (node, bool) {
	switch t.Name {
	case verbs.StringType:
		return b.text(t, site), true
	case verbs.IntegerType:
		lo, hi := int64(-1<<63), int64(1<<63-1)
		if !t.Min.IsNull() {
			lo = t.Min.Int()
		}
		if !t.Max.IsNull() {
			hi = t.Max.Int()
		}
		if lo > hi {
			return nil, false
		}
		return integers(lo, hi), true
	case verbs.DecimalType:
		return decimals(t.Min, t.Max, t.Scale), true
	case verbs.BooleanType:
		return oneOf([]string{"true", "false"}), true
	case verbs.DateType:
		if t.Moves() {
			b.loosen(site) // a grammar may be used on another day than it was made
		}
		lo, hi := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
		if !t.Min.IsNull() {
			lo = t.Min.Time()
		}
		if !t.Max.IsNull() {
			hi = t.Max.Time()
		}
		if hi.Before(lo) {
			return nil, false
		}
		return dates(lo, hi), true
	case verbs.DateTimeType:
		if !t.Min.IsNull() || !t.Max.IsNull() {
			b.loosen(site)
		}
		return instants(), true
	case verbs.DurationType:
		if !t.Min.IsNull() || !t.Max.IsNull() {
			b.loosen(site)
		}
		return durations(), true
	case verbs.UUIDType:
		hex := class{{'0', '9'}, {'a', 'f'}}
		return seq{times{hex, 8, 8}, text("-"), times{hex, 4, 4}, text("-"), times{hex, 4, 4}, text("-"), times{hex, 4, 4}, text("-"), times{hex, 12, 12}}, true
	case verbs.CodeType:
		if t.Codes == nil {
			return seq{class{{'A', 'Z'}}, times{class{{'0', '9'}, {'A', 'Z'}, {'_', '_'}}, 0, 40}}, true
		}
		words := make([]string, len(t.Codes.Codes))
		for i, c := range t.Codes.Codes {
			words[i] = spelt(c.Name)
		}
		return oneOf(words), len(words) > 0
	case verbs.RefType:
		if b.v.Names == nil {
			return anyName(), true
		}
		names := b.names(t)
		return oneOf(names), len(names) > 0
	case verbs.EmailType:
		if t.MinLength > 0 || t.MaxLength > 0 || t.Pattern != nil {
			b.loosen(site)
		}
		return email(), true
	case verbs.IBANType, verbs.BICType, verbs.LEIType:
		b.loosen(site) // check digits are no matter of form
		return seq{text(`"`), codes[t.Name], text(`"`)}, true
	case verbs.NationalIDType:
		b.loosen(site)
		return seq{text(`"`), times{class{{' ', ' '}, {'-', '9'}, {'A', 'Z'}, {'a', 'z'}}, 1, 40}, text(`"`)}, true
	case verbs.PhoneType:
		b.loosen(site) // how many digits a number has is a matter of its country
		if t.Country == "" && t.CountryOf == "" {
			return seq{text(`"+`), digits('1', '9'), times{seq{maybe(class{{' ', ' '}, {'-', '/'}}), digits('0', '9')}, 6, 14}, text(`"`)}, true
		}
		return seq{text(`"`), maybe(text("+")), digits('0', '9'), times{seq{maybe(class{{' ', ' '}, {'-', '/'}}), digits('0', '9')}, 6, 14}, text(`"`)}, true
	}
	return nil, false
}

// names returns the names that may be used for rows of a type, in order.
func (b *builder) names(t *verbs.Type) []string {
	names := slices.Clone(b.v.Names(t.Entity))
	if b.param != nil && b.param.Type == t {
		if settled := b.v.Settled[b.param]; len(settled) > 0 {
			names = slices.DeleteFunc(names, func(n string) bool { return slices.Contains(settled, n) })
		}
	}
	slices.Sort(names)
	for i := range names {
		names[i] = "@" + names[i]
	}
	return names
}

var (
	capitals = class{{'A', 'Z'}}
	decimal  = class{{'0', '9'}}
	either   = class{{'0', '9'}, {'A', 'Z'}}
)

// codes are the forms of codes with check digits, as they are kept.
var codes = map[verbs.TypeName]node{
	verbs.IBANType: seq{times{capitals, 2, 2}, times{decimal, 2, 2}, times{either, 11, 29}},
	verbs.BICType:  seq{times{either, 4, 4}, times{capitals, 2, 2}, times{either, 2, 2}, maybe(times{either, 3, 3})},
	verbs.LEIType:  seq{times{either, 18, 18}, times{decimal, 2, 2}},
}

// anyName returns a node for any name.
func anyName() node {
	suffix := seq{text("~"), times{class{{'0', '9'}, {'a', 'z'}}, 1, 16}}
	return seq{text("@"), class{{'a', 'z'}}, times{class{{'-', '-'}, {'0', '9'}, {'a', 'z'}}, 0, 60}, maybe(suffix)}
}

// text returns a node for a text within limits. It cannot express both a pattern and a length.
func (b *builder) text(t *verbs.Type, site string) node {
	if t.Pattern == nil {
		if t.MaxLength > maxText || t.MinLength > maxText {
			b.loosen(site)
			return quoted(min(t.MinLength, maxText), 0)
		}
		return quoted(t.MinLength, t.MaxLength)
	}
	n, ok, exact := patternOf(t.Pattern.String(), t.MinLength, t.MaxLength)
	if !exact {
		b.loosen(site)
	}
	if !ok {
		return quoted(t.MinLength, t.MaxLength)
	}
	return n
}

// instants returns a node for dates with times of day. It leaves out the first and the last year,
// where an offset would lead out of the calendar.
func instants() node {
	day := dates(time.Date(2, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9998, 12, 31, 0, 0, 0, 0, time.UTC))
	hour, minute := sameLength("00", "23"), sameLength("00", "59")
	offset := seq{class{{'+', '+'}, {'-', '-'}}, sameLength("00", "13"), text(":"), minute}
	return seq{day, text("T"), hour, text(":"), minute, text(":"), minute, maybe(seq{text("."), times{digits('0', '9'), 1, 6}}), alt{text("Z"), offset}}
}

// durations returns a node for weeks, days, hours, minutes and seconds, large before small.
func durations() node {
	count := times{digits('0', '9'), 1, 4}
	units := []string{"w", "d", "h", "m", "s"}
	var all alt
	for i, first := range units {
		parts := seq{count, text(first)}
		for _, u := range units[i+1:] {
			parts = append(parts, maybe(seq{count, text(u)}))
		}
		all = append(all, parts)
	}
	return seq{text(`"`), all, text(`"`)}
}

// email returns a node for addresses of the ordinary form, of limited length.
func email() node {
	atom := times{class{{'!', '!'}, {'#', '\''}, {'*', '+'}, {'-', '-'}, {'/', '9'}, {'=', '='}, {'?', '?'}, {'A', 'Z'}, {'^', '~'}}, 1, 16}
	alnum := class{{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}
	label := seq{alnum, maybe(seq{times{class{{'-', '-'}, {'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, 0, 28}, alnum})}
	return seq{text(`"`), atom, times{seq{text("."), atom}, 0, 2}, text("@"), label, times{seq{text("."), label}, 1, 3}, text(`"`)}
}

func (b *builder) list(t *verbs.Type, site string) (node, bool) {
	if t.MaxLength > 0 && t.MaxLength < t.MinLength {
		return nil, false
	}
	item := b.anything()
	if t.Item != nil {
		var ok bool
		if item, ok = b.value(t.Item, site); !ok {
			return text("[]"), t.MinLength == 0
		}
	} else {
		b.loosen(site)
	}
	more := times{seq{text(" "), item}, max(t.MinLength-1, 0), -1}
	if t.MaxLength > 0 {
		more.max = t.MaxLength - 1
	}
	var inside node = seq{item, more}
	if t.MinLength == 0 {
		inside = maybe(inside)
	}
	return seq{text("["), inside, text("]")}, true
}

// anything returns a node for a value of any kind, of limited depth.
func (b *builder) anything() node {
	if b.g.rules["any"] != nil {
		return rule("any")
	}
	n := alt{b.leaf("string", quoted(0, 0)), b.leaf("amount", amounts()), b.leaf("boolean", oneOf([]string{"true", "false"}))}
	b.g.add("any", n, false)
	return rule("any")
}
