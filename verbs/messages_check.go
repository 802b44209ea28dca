package verbs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs/message"
	"verbatim/verbs/naming"
)

// The messages of the checker. A summary says what is wrong in the words of the text; a label
// says, beside the caret, what was expected; a note says what to do next. None of them contains
// the value of a sensitive argument.

func unknownVerb(at dsl.Place, name string, near, siblings []string) dsl.Diagnostic {
	d := tell(at, "unknown-verb/call", name)
	d.Label, d.Fixes = message.DidYouMean(near), message.Replacements(at, near, "")
	domain, _ := splitVerb(name)
	switch {
	case len(near) > 0:
	case len(siblings) > 0:
		d.Notes = append(d.Notes, fmt.Sprintf("verbs of %s: %s", domain, message.Some(siblings, 12)))
	default:
		d.Console = append(slices.Clone(d.Notes), "every verb there is: verbatim explain")
		d.Notes = append(d.Notes, "the palettes say which verbs there are")
	}
	return d
}

func unknownArgument(at dsl.Place, v *Verb, key string, near, free []string) dsl.Diagnostic {
	d := tell(at, "unknown-argument/call", v, key)
	d.Label, d.Fixes = message.DidYouMean(colons(near)), message.Replacements(at, near, ":")
	switch {
	case len(v.Params) == 0:
		d.Notes = append(d.Notes, v.Name+" takes no arguments")
	case len(near) > 0:
	case len(free) == 0:
		d.Notes = append(d.Notes, "it has all its arguments already")
	default:
		d.Notes = append(d.Notes, "arguments not yet given: "+strings.Join(colons(free), ", "))
	}
	return d
}

func missingArguments(at dsl.Place, v *Verb, params []*Param) dsl.Diagnostic {
	return missing(at, v, params, "argument")
}

// missingParts reports missing required fields of a record.
func missingParts(at dsl.Place, s site, fields []*Param) dsl.Diagnostic {
	return missing(at, s.part+":"+s.param.Name, fields, "field")
}

func missing(at dsl.Place, of any, params []*Param, what string) dsl.Diagnostic {
	names := make([]string, len(params))
	var notes []string
	for i, p := range params {
		names[i] = ":" + p.Name
		notes = append(notes, strings.TrimSuffix(fmt.Sprintf("add :%s %s    (%s) %s", p.Name, p.blank(), p.Type.Phrase(), p.Description), " "))
	}
	d := tell(at, "missing-argument", of, names, message.Count(len(params), what)+" are")
	if len(params) == 1 {
		d.Label = names[0] + " is missing"
	}
	d.Notes = notes
	return d
}

func unknownPart(at dsl.Place, s site, key string, near, all []string) dsl.Diagnostic {
	d := tell(at, "unknown-argument/field", s.part+":"+s.param.Name, dsl.FormatKey(key))
	if d.Label, d.Fixes = message.DidYouMean(colons(near)), message.Replacements(at, near, ":"); len(near) == 0 {
		d.Notes = append(d.Notes, "its fields are "+message.Joined(colons(all), "and"))
	}
	return d
}

// refusal reports a literal that its type does not accept. A sensitive value is not quoted.
func refusal(at dsl.Place, s site, t *Type, v *dsl.Value, p Problem, sensitive bool) dsl.Diagnostic {
	what := s.part + ":" + s.param.Name
	quoted, bare := strconv.Quote(message.Shorten(v.Text, 40)), message.Shorten(v.Text, 40)
	if sensitive {
		quoted, bare = "this", "this"
	}
	name := refusals[p]
	switch p {
	case notUUID:
		if t.Name != RefType {
			break
		}
		d := tell(at, "wrong-type/name", what, t, exampleName(t))
		if dsl.NewSymbol(v.Text).Kind == dsl.Symbol && !sensitive {
			d.Fixes = message.Replacements(at, []string{v.Text}, "@")
			d.Fixes[0].Safe = false
		}
		return d
	case WrongType:
		if t.Name == CodeType && t.Codes != nil && v.Kind == dsl.Integer {
			return unknownCodeOf(at, what, t.Codes, v, sensitive)
		}
		d := tell(at, "wrong-type", what, t, kindPhrase(v.Kind))
		if t.Name == RefType && v.Kind == dsl.String {
			d.Label = "name it with @"
		}
		wrongTypeHelp(&d, s, t, v, sensitive)
		return d
	case notDate:
		if why := dsl.DateFault(v.Text); why != "" && sensitive {
			return tell(at, "invalid-date/sensitive")
		} else if why != "" {
			return tell(at, "invalid-date/calendar", bare, why)
		}
	case TooShort, TooLong:
		return lengthRefusal(at, what, t, v, p)
	case unknownCode:
		return unknownCodeOf(at, what, t.Codes, v, sensitive)
	case noMatch:
		d := tell(at, name, what, quoted, patternOf(t))
		if p := s.about(); len(p.Examples) > 0 {
			d.Notes = append(d.Notes, "for example "+p.Example())
		}
		return d
	case tooSmall, tooLarge:
		limit := t.Min
		if p == tooLarge {
			limit = t.Max
		}
		if t.Name == DateType || t.Name == DateTimeType {
			name += "-date"
		}
		return tell(at, name, what, bare, limit.Text())
	case tooPrecise:
		digits := message.Count(t.Scale, "digit")
		if t.Scale == 0 {
			digits = "no digits"
		}
		return tell(at, name, what, bare, digits)
	case notInt64:
		if sensitive {
			quoted = "this number"
		} else {
			quoted = bare
		}
	case notDecimal:
		quoted = strconv.Itoa(stores.MaxDigits)
	case notRuled:
		return tell(at, "invalid-"+t.Name.String(), what, quoted, t.fault(v.Text, sensitive), t)
	case notCode:
		d := tell(at, name, what, quoted)
		if up := strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(v.Text)); naming.IsCode(up) && !sensitive {
			d.Fixes = message.Replacements(at, []string{up}, "")
			d.Fixes[0].Safe = false
		}
		return d
	}
	return tell(at, name, what, quoted)
}

// refusals are the messages for values that a type does not accept.
var refusals = [...]string{
	notUUID: "wrong-type/uuid", notDate: "invalid-date", notDateTime: "invalid-datetime", notDuration: "invalid-duration",
	notInt64: "out-of-range/int64", notDecimal: "out-of-range/digits",
	notText: "wrong-type/text", noMatch: "pattern-mismatch", tooSmall: "out-of-range/least", tooLarge: "out-of-range/most",
	tooPrecise: "too-precise", notCode: "wrong-type/code",
}

// wrongTypeHelp adds a fix if an obvious one exists.
func wrongTypeHelp(d *dsl.Diagnostic, s site, t *Type, v *dsl.Value, sensitive bool) {
	fix := func(title, text string, safe bool) {
		if !sensitive {
			d.Fixes = append(d.Fixes, dsl.Fix{Title: title, Safe: safe, Edits: []dsl.Edit{{Range: d.Place.Range, Text: text}}})
		}
	}
	written := textAt(d.Place.Source, d.Place.Range)
	switch {
	case t.Name == StringType && v.Kind < dsl.Symbol && v.Kind != dsl.Nil && written != "":
		d.Notes = append(d.Notes, "text goes in quotes")
		fix("put it in quotes", dsl.FormatValue(dsl.NewString(written)), true)
	case (t.Name == IntegerType || t.Name == DecimalType || t.Name == BooleanType) && v.Kind == dsl.String:
		switch bare := t.aloneIn(v.Text); {
		case bare == v.Text:
			d.Notes = append(d.Notes, "without the quotes it would be one")
			fix("take the quotes away", v.Text, true)
		case t.Name == BooleanType:
		case bare == "" || sensitive:
			d.Notes = append(d.Notes, "a number is written in digits, alone and without quotes")
		default:
			d.Notes = append(d.Notes, "a number is written alone and without quotes: "+bare)
			fix("write the number alone", bare, false)
		}
	case t.Name == DateTimeType && v.Kind == dsl.Date:
		d.Notes = append(d.Notes, "a date alone does not say when in the day, nor where: write "+written+"T09:00:00Z, or the hour that is meant")
	case t.Name == DateType && v.Kind == dsl.DateTime:
		d.Notes = append(d.Notes, "the day alone: "+message.Shorten(v.Text, 10))
	case t.Name == ListType && v.Kind != dsl.Map && written != "":
		d.Notes = append(d.Notes, "a list is written [a, b]")
		fix("make it a list", "["+written+"]", false)
	case t.Name == MoneyType:
		d.Notes = append(d.Notes, "money is written {:amount 12.50 :currency "+t.exampleCurrency()+"}")
	case t.Name == RecordType:
		d.Notes = append(d.Notes, "a record is written "+t.blankRecord())
	case t.Name == CallType:
		d.Notes = append(d.Notes, "a call is written in brackets: (verb :argument value)")
	case t.Name == ObjectType:
		d.Notes = append(d.Notes, `an object is written {:key "value"}`)
	case t.Name == RefType:
		d.Notes = append(d.Notes, "a row is written as the name you were given for it, such as @"+exampleName(t))
	case len(s.about().Examples) > 0:
		d.Notes = append(d.Notes, fmt.Sprintf("for example :%s %s", s.about().Name, s.about().Example()))
	case t.spelt() != "":
		d.Notes = append(d.Notes, t.spelt())
	}
}

// aloneIn returns the only word of a text that is a value of the type; "" if none or several are.
func (t *Type) aloneIn(text string) (found string) {
	for _, word := range strings.Fields(text) {
		bare := &dsl.Value{Kind: dsl.NewNumber(word).Kind, Text: word}
		if word == "true" || word == "false" {
			bare.Kind = dsl.Bool
		}
		if _, p := t.Literal(bare); p == Fine {
			if found != "" {
				return ""
			}
			found = word
		}
	}
	return found
}

func lengthRefusal(at dsl.Place, what string, t *Type, v *dsl.Value, p Problem) dsl.Diagnostic {
	unit, n := "character", utf8.RuneCountInString(v.Text)
	if v.Kind == dsl.List {
		unit, n = "item", len(v.Items())
	}
	if p == TooShort {
		return tell(at, "too-short", what, message.Count(t.MinLength, unit), n)
	}
	return tell(at, "too-long", what, message.Count(t.MaxLength, unit), n, message.Count(n-t.MaxLength, unit))
}

func unknownCodeOf(at dsl.Place, what string, list *CodeList, v *dsl.Value, sensitive bool) dsl.Diagnostic {
	names := list.Names()
	var near []string
	if !sensitive {
		near = dsl.Nearest(v.Text, slices.Values(names))
		for _, name := range names {
			if strings.EqualFold(name, strings.ReplaceAll(v.Text, " ", "_")) {
				near = []string{name}
			}
		}
		// The list is closed and one of it is meant, so more slips are allowed than in other words.
		for most := 1; len(near) == 0 && most <= utf8.RuneCountInString(v.Text)/2; most++ {
			near = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return dsl.Distance(v.Text, name, most) > most })
			near = near[:min(len(near), 3)]
		}
	}
	d := tell(at, "unknown-code/call", message.Shorten(v.Text, 40), list)
	if sensitive {
		d = tell(at, "unknown-code/sensitive", what, list)
	}
	code, why := list.Called(v.Text), "is what the table holds for it, or people call it"
	if now := list.Was()[v.Text]; now != "" {
		code, why = now, "is what it was called before"
	}
	if code != "" && !sensitive {
		near = []string{code}
	}
	if d.Label, d.Fixes = message.DidYouMean(near), message.Replacements(at, near, ""); code != "" && !sensitive {
		d.Label = "say " + code
		d.Notes = append(d.Notes, fmt.Sprintf("%s %s; a script says %s", strconv.Quote(message.Shorten(v.Text, 40)), why, code))
	}
	if len(names) <= 12 || len(near) == 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s: %s", list.Name, message.Some(names, 12)))
	}
	return d
}

func unknownCurrency(at dsl.Place, s site, v *dsl.Value, known []string, sensitive bool) dsl.Diagnostic {
	var near []string
	d := tell(at, "unknown-code/currency-sensitive", s.param)
	if !sensitive {
		for _, k := range known {
			if strings.EqualFold(k, v.Text) {
				near = []string{k}
			}
		}
		d = tell(at, "unknown-code/currency", message.Shorten(v.Text, 40), s.param)
	}
	d.Label, d.Fixes = message.DidYouMean(near), message.Replacements(at, near, "")
	if len(known) <= 12 {
		d.Notes = append(d.Notes, "currencies: "+strings.Join(known, ", "))
	} else {
		d.Notes = append(d.Notes, "currencies are the three capitals of ISO 4217: EUR, USD, GBP")
	}
	return d
}

// misfit reports a name or a result where something else is wanted.
func misfit(at dsl.Place, s site, t *Type, m meaning, what string) dsl.Diagnostic {
	arg := s.part + ":" + s.param.Name
	if t.Name == RefType && m.name == RefType && !m.list {
		d := tell(at, "bad-ref-kind", arg, t, what, m.row, t.Entity)
		for i := range m.row.Store.Fields {
			if m.row.Store.Fields[i].Ref == t.Entity.Store && strings.HasPrefix(what, "@") {
				d.Notes = append(d.Notes, fmt.Sprintf("it refers to one: %s.%s", what, m.row.Store.Fields[i].Name))
			}
		}
		if len(d.Notes) == 0 {
			d.Notes = append(d.Notes, "name "+message.Article(t.Entity.Store.Name)+" instead")
		}
		return d
	}
	d := tell(at, "wrong-type/result", arg, t, what, m.Phrase())
	if m.row != nil && m.name == RefType && !m.list {
		var fit []string
		for i := range m.row.Store.Fields {
			if i != m.row.Store.Key && m.row.meaningOfField(i).known && m.row.meaningOfField(i).fits(t) {
				fit = append(fit, what+"."+m.row.Store.Fields[i].Name)
			}
		}
		if len(fit) > 0 && strings.HasPrefix(what, "@") {
			d.Notes = append(d.Notes, "a field of it may be meant: "+message.Some(fit, 5))
		}
	}
	if p := s.about(); len(d.Notes) == 0 && len(p.Examples) > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("for example :%s %s", p.Name, p.Example()))
	}
	return d
}

func unknownName(at dsl.Place, name string, near []string, macro *Verb) dsl.Diagnostic {
	d := tell(at, "unknown-name/row", name)
	d.Label, d.Fixes = message.DidYouMean(prefixed("@", near)), message.Replacements(at, near, "@")
	switch {
	case macro != nil && len(near) == 0:
		names := prefixed("@", macro.Names())
		if len(names) == 0 {
			d.Notes = append(d.Notes, macro.Name+" has no arguments, and a macro knows no other names than its own `:as`")
		} else {
			d.Notes = append(d.Notes, "the names in a macro are its arguments: "+strings.Join(names, ", "))
		}
	case len(near) == 0:
		d.Notes = append(d.Notes, "a name is that of a row you can see, or the `:as @"+name+"` of another call in this script")
	}
	return d
}

func unknownField(at dsl.Place, src *dsl.Source, no *lost) dsl.Diagnostic {
	near := dsl.Nearest(no.step, slices.Values(no.among))
	d := tell(at, "unknown-field/step", no.of, no.step)
	d.Label = message.DidYouMean(near)
	// The caret goes under the step itself.
	if written := textAt(src, at.Range); strings.HasPrefix(written, "@") {
		if i := strings.Index(written+".", "."+no.step+"."); i >= 0 {
			d.Place.Range.Start = at.Range.Start + int32(i) + 1
			d.Place.Range.End = d.Place.Range.Start + int32(len(no.step))
			d.Fixes = message.Replacements(d.Place, near, "")
		}
	}
	switch {
	case len(no.among) == 0:
		d.Notes = append(d.Notes, no.of+" is a single value, without fields; leave out ."+no.step)
	case len(near) == 0 || len(no.among) <= 12:
		d.Notes = append(d.Notes, "fields: "+message.Some(no.among, 12))
	}
	return d
}

func cycleOfCalls(ring []link) dsl.Diagnostic {
	says := func(l link) string {
		if l.needs == "" {
			return l.verb + " waits for the call inside it"
		}
		return fmt.Sprintf("%s waits for @%s", l.verb, l.needs)
	}
	if len(ring) == 1 {
		return tell(ring[0].place, "cycle/own", ring[0].verb, ring[0].needs)
	}
	d := tell(ring[0].place, "cycle", len(ring), says(ring[0]))
	for _, l := range ring[1:] {
		d.Related = append(d.Related, dsl.Related{Place: l.place, Message: says(l)})
	}
	return d
}

// NotRewritten begins the note on a deprecated call that cannot be rewritten.
const NotRewritten = "it cannot be rewritten: "

// DeprecatedVerb warns of a call or a name of a deprecated verb; edits write the call of the verb that
// replaces it, and why says why there are none.
func DeprecatedVerb(at dsl.Place, v *Verb, edits []dsl.Edit, why string) dsl.Diagnostic {
	d := tell(at, "deprecated-verb", v, v.Deprecated.Reason, v.Deprecated.ReplacedBy)
	if v.Deprecated.ReplacedBy == "" {
		d.Notes = nil
	}
	if why != "" {
		d.Note(NotRewritten + why)
	}
	if len(edits) > 0 {
		d.Fixes = []dsl.Fix{{Title: "write " + v.Deprecated.ReplacedBy, Safe: true, Edits: edits}}
	}
	return d
}

func untold(n int) dsl.Diagnostic {
	more := message.Count(n, "more mistake")
	if n == 1 {
		more += " is"
	} else {
		more += " are"
	}
	return tell(dsl.Place{}, "too-many-mistakes/call", more, dsl.DefaultLimits.Diagnostics)
}

// colons writes names as keys of a map.
func colons(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = dsl.FormatKey(n)
	}
	return out
}

func prefixed(mark string, names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = mark + n
	}
	return out
}

// kindPhrase names a kind of value in a script.
func kindPhrase(k dsl.Kind) string {
	return [...]string{
		dsl.Invalid: "nothing", dsl.Nil: "nil", dsl.Bool: "true or false", dsl.Integer: "an integer", dsl.Decimal: "a decimal",
		dsl.String: "a string", dsl.Date: "a date", dsl.DateTime: "a date and time", dsl.UUID: "a uuid", dsl.Code: "a code",
		dsl.Symbol: "a name", dsl.List: "a list", dsl.Map: "a map", dsl.Nested: "a call",
	}[k]
}

func (m meaning) Phrase() string {
	switch {
	case m.list:
		return "a list"
	case m.name == RefType && m.row != nil:
		return message.Article(m.row.Store.Name)
	}
	return (&Type{Name: m.name, Codes: m.codes, Entity: m.row}).Phrase()
}

func badSchema(at dsl.Place, s site, schema *Schema, err error) dsl.Diagnostic {
	return tell(at, "bad-schema/call", s.param, err, schema)
}

func schemaBreach(at dsl.Place, name string, s *Schema, b breach, kind dsl.Kind, sensitive bool) dsl.Diagnostic {
	d := tell(at, "schema-mismatch", name, b.says, b.want)
	if len(b.near) > 0 && !sensitive {
		near, said := b.near, b.near
		if b.key != "" {
			near = colons(near)
			said = near
		} else if kind == dsl.String {
			near = make([]string, len(b.near))
			for i, n := range b.near {
				near[i] = dsl.FormatValue(dsl.NewString(n))
			}
		}
		d.Label = message.DidYouMean(said)
		d.Fixes = message.Replacements(at, near, "")
	}
	if sensitive && !b.safe {
		d.Summary, d.Label = name+" does not satisfy its schema", ""
	}
	if len(b.list) > 0 {
		d.Notes = append(d.Notes, "allowed: "+message.Some(b.list, 12))
	}
	if s.Place.Source != nil {
		d.Related = append(d.Related, dsl.Related{Place: s.Place, Message: "the schema is declared here"})
	}
	return d
}

// offToday reports a date that was valid on another day, or will be.
func offToday(at dsl.Place, name, says string) dsl.Diagnostic {
	_, label, _ := strings.Cut(says, ": ")
	return tell(at, "out-of-range/today", name, says, label)
}

// BadValue says why a word of a palette is no value of a type; name is what has the type.
func BadValue(at dsl.Place, name, word string, t *Type, p Problem) dsl.Diagnostic {
	d := tell(at, "bad-value", name, t, cmp.Or(word, "something else"), problemWords[p])
	switch {
	case p == tooSmall && !t.Min.IsNull():
		return tell(at, "bad-value/bound", name, word, problemWords[p], t.Min.Text())
	case p == tooLarge && !t.Max.IsNull():
		return tell(at, "bad-value/bound", name, word, problemWords[p], t.Max.Text())
	case p == unknownCode && t.Codes != nil:
		near := message.Nearest(word, t.Codes.Names())
		if code := t.Codes.Called(word); code != "" {
			near = []string{code}
		}
		d.Label, d.Fixes = message.DidYouMean(near), message.Replacements(at, near, "")
		d.Notes = []string{"codes of " + t.Codes.Name + ": " + message.Some(t.Codes.Names(), 16)}
	case p == notRuled:
		d = tell(at, "bad-value", name, t, cmp.Or(word, "something else"), t.fault(strings.Trim(word, `"`), false))
	case t.Name == BooleanType:
		d.Fixes = TruthFix(at, word)
	case t.Name == DateType && (name == "min" || name == "max"):
		d.Notes = append(d.Notes, dayForms)
	}
	return d
}

var problemWords = [...]string{
	WrongType:   "this is something else",
	TooShort:    "too short",
	TooLong:     "too long",
	noMatch:     "it does not match the pattern",
	tooSmall:    "less than the least",
	tooLarge:    "more than the greatest",
	tooPrecise:  "too many digits after the point",
	notInt64:    "too large",
	notDecimal:  "in digits: 12.50",
	notDate:     "year-month-day: 2025-01-03",
	notDateTime: "with its offset: 2025-01-03T10:00:00Z",
	notDuration: "a number and a unit: 24h",
	notUUID:     "8-4-4-4-12 hexadecimal digits",
	notRuled:    "something else is written",
	unknownCode: "not in the list",
	notCode:     "capitals, digits and underscores",
	notText:     "not UTF-8 without zero characters",
}

// TruthFix offers true or false for a word that means it.
func TruthFix(at dsl.Place, word string) []dsl.Fix {
	switch strings.ToLower(word) {
	case "yes", "y", "on", "true", "1":
		return message.Replacements(at, []string{"true"}, "")
	case "no", "n", "off", "false", "0":
		return message.Replacements(at, []string{"false"}, "")
	}
	return nil
}
