package verbs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
)

// What the checker says. A summary says what is wrong in the words of the
// text; a label says, beside the caret, what was expected; a note says what to
// do next. A value of a sensitive argument appears in none of them.

func unknownVerb(at dsl.Place, name string, near, siblings []string) dsl.Diagnostic {
	d := dsl.Diagnostic{
		Code:    "unknown-verb",
		Summary: fmt.Sprintf("no verb is called %q", name),
		Label:   didYouMean(near),
		Place:   at,
		Fixes:   replacements(at, near, ""),
	}
	domain, _ := splitVerb(name)
	switch {
	case len(near) > 0:
	case len(siblings) > 0:
		d.Notes = append(d.Notes, fmt.Sprintf("verbs of %s: %s", domain, some(siblings, 12)))
	default:
		d.Notes = append(d.Notes, "every verb there is: verbatim explain")
	}
	return d
}

func internalVerb(at dsl.Place, v *Verb) dsl.Diagnostic {
	return dsl.Diagnostic{
		Code:    "unknown-verb",
		Summary: v.Name + " cannot be called",
		Label:   "it is internal",
		Place:   at,
		Notes:   []string{"it is called by itself, when the time of the work has come that another verb started"},
	}
}

func unknownArgument(at dsl.Place, v *Verb, key string, near, free []string) dsl.Diagnostic {
	d := dsl.Diagnostic{
		Code:    "unknown-argument",
		Summary: fmt.Sprintf("%s takes no argument called :%s", v.Name, key),
		Label:   didYouMean(colons(near)),
		Place:   at,
		Fixes:   replacements(at, near, ":"),
	}
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

func duplicateArgument(at dsl.Place, key string, first dsl.Place) dsl.Diagnostic {
	return dsl.Diagnostic{
		Code:    "duplicate-argument",
		Summary: fmt.Sprintf("argument :%s is given twice", key),
		Label:   "the second time",
		Place:   at,
		Related: []dsl.Related{{Place: first, Message: "first given here"}},
		Notes:   []string{"keep one of the two; a list is written [a, b]"},
	}
}

func missingArguments(at dsl.Place, v *Verb, params []*Param) dsl.Diagnostic {
	d := dsl.Diagnostic{Code: "missing-argument", Place: at}
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = ":" + p.Name
		note := fmt.Sprintf("add :%s %s    (%s)", p.Name, p.example(), p.Type.phrase())
		if p.Description != "" {
			note += " " + p.Description
		}
		d.Notes = append(d.Notes, note)
	}
	if len(params) == 1 {
		d.Summary = fmt.Sprintf("%s needs %s", v.Name, names[0])
		d.Label = names[0] + " is missing"
	} else {
		d.Summary = fmt.Sprintf("%s needs %s", v.Name, listed(names, "and"))
		d.Label = fmt.Sprintf("%d arguments are missing", len(params))
	}
	return d
}

func nilForRequired(at dsl.Place, v *Verb, p *Param) dsl.Diagnostic {
	return dsl.Diagnostic{
		Code:    "missing-argument",
		Summary: fmt.Sprintf("%s needs :%s, and nil gives nothing", v.Name, p.Name),
		Label:   p.Type.phrase() + " is wanted here",
		Place:   at,
		Notes:   []string{fmt.Sprintf("for example :%s %s", p.Name, p.example())},
	}
}

func nilInList(at dsl.Place, s site) dsl.Diagnostic {
	return dsl.Diagnostic{
		Code:    "wrong-type",
		Summary: fmt.Sprintf("nil cannot stand in the list of :%s", s.param.Name),
		Label:   "leave it out",
		Place:   at,
	}
}

func duplicateKey(at dsl.Place, key string, first dsl.Place) dsl.Diagnostic {
	return dsl.Diagnostic{
		Code:    "duplicate-key",
		Summary: fmt.Sprintf("key :%s stands twice in one map", key),
		Label:   "the second time",
		Place:   at,
		Related: []dsl.Related{{Place: first, Message: "first here"}},
		Notes:   []string{"keep one of the two"},
	}
}

// refusal is a literal that its type does not accept. With dark, the value is
// sensitive and is not quoted.
func refusal(at dsl.Place, s site, t *Type, v *dsl.Value, p problem, dark bool) dsl.Diagnostic {
	d := dsl.Diagnostic{Place: at}
	what := ":" + s.param.Name
	if s.part != "" {
		what = s.part + what
	}
	quoted := func(otherwise string) string {
		if dark {
			return otherwise
		}
		return strconv.Quote(shorten(v.Text, 40))
	}
	bare := func(otherwise string) string {
		if dark {
			return otherwise
		}
		return shorten(v.Text, 40)
	}
	switch p {
	case wrongType:
		d.Code = "wrong-type"
		d.Summary = fmt.Sprintf("%s wants %s; this is %s", what, t.phrase(), kindPhrase(v.Kind))
		d.Label = t.phrase() + " is wanted here"
		if t.Name == RefType && v.Kind == dsl.String {
			d.Label = "name it with @"
		}
		wrongTypeHelp(&d, s, t, v, dark)
	case notUUID:
		d.Code = "wrong-type"
		if t.Name == RefType {
			d.Summary = fmt.Sprintf("%s wants %s; this is a string", what, t.phrase())
			d.Label = "name it with @"
			if dsl.NewSymbol(v.Text).Kind == dsl.Symbol && !dark {
				d.Fixes = []dsl.Fix{{Title: "write @" + v.Text, Edits: []dsl.Edit{{Range: at.Range, Text: "@" + v.Text}}}}
			}
			d.Notes = append(d.Notes, "a row is written as the name you were given for it, such as @"+exampleName(t))
			return d
		}
		d.Summary = fmt.Sprintf("%s is not a uuid", quoted("this"))
		d.Label = "a uuid is wanted here"
		d.Notes = append(d.Notes, "a uuid looks like 123e4567-e89b-12d3-a456-426614174000")
	case notDate:
		d.Code = "invalid-date"
		d.Summary = fmt.Sprintf("%s is not a date", quoted("this"))
		d.Label = "a date such as 2025-01-03 is wanted here"
		if why := dsl.DateFault(v.Text); why != "" {
			d.Summary = fmt.Sprintf("%s is not a date; %s", bare("this"), why)
			if dark {
				d.Summary = "this is not a date of the calendar"
			}
			d.Label = ""
		}
		d.Notes = append(d.Notes, "dates are written year-month-day: 2025-01-03")
	case notDateTime:
		d.Code = "invalid-datetime"
		d.Summary = fmt.Sprintf("%s is not a date and time", quoted("this"))
		d.Label = "a time such as 2025-01-03T10:00:00Z is wanted here"
		d.Notes = append(d.Notes, "the time zone must be said: Z for UTC, or an offset such as +01:00")
	case notDuration:
		d.Code = "invalid-duration"
		d.Summary = fmt.Sprintf("%s is not a duration", quoted("this"))
		d.Label = `a duration such as "3d" is wanted here`
		d.Notes = append(d.Notes, `durations are whole numbers with units, from large to small: "2w", "3d", "36h", "1d12h", "90m", "P3D"; months and years vary in length and are not accepted`)
	case notEmail:
		d.Code = "invalid-email"
		d.Summary = fmt.Sprintf("%s is not an e-mail address", quoted("this"))
		d.Label = `an address such as "clara@example.com" is wanted here`
		d.Notes = append(d.Notes, "the address alone, without a name or angle brackets")
	case notPhone:
		d.Code = "invalid-phone"
		d.Summary = fmt.Sprintf("%s is not a telephone number", quoted("this"))
		d.Label = `a number such as "+44 20 7946 0018" is wanted here`
		d.Notes = append(d.Notes, "7 to 15 digits; a leading + and spaces, dots, hyphens, slashes and parentheses are fine")
	case notInt64:
		d.Code = "out-of-range"
		d.Summary = fmt.Sprintf("%s does not fit into 64 bits", bare("this number"))
		d.Label = "too large"
		d.Notes = append(d.Notes, "integers run from -9223372036854775808 to 9223372036854775807")
	case notDecimal:
		d.Code = "out-of-range"
		d.Summary = fmt.Sprintf("a number has at most %d digits", stores.MaxDigits)
		d.Label = "too many digits"
	case notText:
		d.Code = "wrong-type"
		d.Summary = what + " is not valid UTF-8"
		d.Label = "text is wanted here"
	case tooShort, tooLong:
		lengthRefusal(&d, what, t, v, p)
	case noMatch:
		d.Code = "pattern-mismatch"
		d.Summary = fmt.Sprintf("%s does not have the form that %s wants", quoted("this"), what)
		d.Label = "this form is wanted: " + patternOf(t)
		if len(s.param.Examples) > 0 {
			d.Notes = append(d.Notes, "for example "+s.param.example())
		}
	case tooSmall, tooLarge:
		d.Code = "out-of-range"
		word, limit, side := "less", t.Min, "least"
		if p == tooLarge {
			word, limit, side = "more", t.Max, "most"
		}
		if t.Name == DateType || t.Name == DateTimeType {
			word, side = "earlier", "earliest"
			if p == tooLarge {
				word, side = "later", "latest"
			}
		}
		d.Summary = fmt.Sprintf("%s is %s than %s allows", bare("this"), word, what)
		d.Label = fmt.Sprintf("the %s is %s", side, limit.Text())
	case tooPrecise:
		d.Code = "too-precise"
		d.Summary = fmt.Sprintf("%s has more digits after the point than %s allows", bare("this"), what)
		d.Label = count(t.Scale, "digit") + " after the point"
		if t.Scale == 0 {
			d.Label = "no digits after the point"
		}
		d.Notes = append(d.Notes, "nothing is rounded for you: write the amount that is meant")
	case unknownCode:
		d = unknownCodeOf(at, what, t.Codes, v, dark)
	case notCode:
		d.Code = "wrong-type"
		d.Summary = fmt.Sprintf("%s wants a code; %s is none", what, quoted("this"))
		d.Label = "a code such as PASSPORT is wanted here"
		if up := strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(v.Text)); isCode(up) && !dark {
			d.Fixes = []dsl.Fix{{Title: "write " + up, Edits: []dsl.Edit{{Range: at.Range, Text: up}}}}
		}
		d.Notes = append(d.Notes, "a code is one word in capitals, with digits and underscores")
	}
	return d
}

// wrongTypeHelp adds the repair where one suggests itself.
func wrongTypeHelp(d *dsl.Diagnostic, s site, t *Type, v *dsl.Value, dark bool) {
	fix := func(title, text string, safe bool) {
		if !dark {
			d.Fixes = append(d.Fixes, dsl.Fix{Title: title, Safe: safe, Edits: []dsl.Edit{{Range: d.Place.Range, Text: text}}})
		}
	}
	written := textAt(d.Place.Source, d.Place.Range)
	switch {
	case t.Name == StringType && v.Kind < dsl.Symbol && v.Kind != dsl.Nil && written != "":
		d.Notes = append(d.Notes, "text goes in quotes")
		fix("put it in quotes", dsl.FormatValue(dsl.NewString(written)), true)
	case (t.Name == IntegerType || t.Name == DecimalType || t.Name == BooleanType) && v.Kind == dsl.String:
		bare := &dsl.Value{Kind: dsl.NewNumber(v.Text).Kind, Text: v.Text}
		if v.Text == "true" || v.Text == "false" {
			bare.Kind = dsl.Bool
		}
		if _, p := t.literal(bare); p == fine {
			d.Notes = append(d.Notes, "without the quotes it would be one")
			fix("take the quotes away", v.Text, true)
		}
	case t.Name == DateTimeType && v.Kind == dsl.Date:
		d.Notes = append(d.Notes, "a date alone does not say when in the day, nor where: write "+written+"T09:00:00Z, or the hour that is meant")
	case t.Name == DateType && v.Kind == dsl.DateTime:
		d.Notes = append(d.Notes, "the day alone: "+shorten(v.Text, 10))
	case t.Name == ListType && v.Kind != dsl.Map && written != "":
		d.Notes = append(d.Notes, "a list is written [a, b]")
		fix("make it a list", "["+written+"]", false)
	case t.Name == MoneyType:
		d.Notes = append(d.Notes, "money is written {:amount 12.50 :currency EUR}")
	case t.Name == ObjectType:
		d.Notes = append(d.Notes, `an object is written {:key "value"}`)
	case t.Name == RefType:
		d.Notes = append(d.Notes, "a row is written as the name you were given for it, such as @"+exampleName(t))
	default:
		d.Notes = append(d.Notes, fmt.Sprintf("for example :%s %s", s.param.Name, s.param.example()))
	}
}

func lengthRefusal(d *dsl.Diagnostic, what string, t *Type, v *dsl.Value, p problem) {
	unit, n := "character", 0
	if v.Kind == dsl.List {
		unit, n = "item", len(v.Items())
	} else {
		for range v.Text {
			n++
		}
	}
	if p == tooShort {
		d.Code = "too-short"
		d.Summary = fmt.Sprintf("%s needs at least %s; this has %d", what, count(t.MinLength, unit), n)
		d.Label = fmt.Sprintf("%s or more", count(t.MinLength, unit))
		return
	}
	d.Code = "too-long"
	d.Summary = fmt.Sprintf("%s takes at most %s; this has %d", what, count(t.MaxLength, unit), n)
	d.Label = fmt.Sprintf("%s too many", count(n-t.MaxLength, unit))
}

func unknownCodeOf(at dsl.Place, what string, list *CodeList, v *dsl.Value, dark bool) dsl.Diagnostic {
	names := list.names()
	var near []string
	if !dark {
		near = dsl.Nearest(v.Text, slices.Values(names))
		for _, name := range names {
			if strings.EqualFold(name, strings.ReplaceAll(v.Text, " ", "_")) {
				near = []string{name}
			}
		}
	}
	d := dsl.Diagnostic{
		Code:    "unknown-code",
		Summary: fmt.Sprintf("%s is no %s", shorten(v.Text, 40), list.Name),
		Label:   didYouMean(near),
		Place:   at,
		Fixes:   replacements(at, near, ""),
	}
	if dark {
		d.Summary = fmt.Sprintf("%s holds no %s", what, list.Name)
	}
	if len(names) <= 12 || len(near) == 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("%s: %s", list.Name, some(names, 12)))
	}
	return d
}

func unknownCurrency(at dsl.Place, s site, v *dsl.Value, known []string, dark bool) dsl.Diagnostic {
	var near []string
	d := dsl.Diagnostic{Code: "unknown-code", Place: at, Summary: ":" + s.param.Name + " is not in this currency"}
	if !dark {
		for _, k := range known {
			if strings.EqualFold(k, v.Text) {
				near = []string{k}
			}
		}
		d.Summary = fmt.Sprintf("%s is no currency that :%s may be in", shorten(v.Text, 40), s.param.Name)
	}
	d.Label, d.Fixes = didYouMean(near), replacements(at, near, "")
	if len(known) <= 12 {
		d.Notes = append(d.Notes, "currencies: "+strings.Join(known, ", "))
	} else {
		d.Notes = append(d.Notes, "currencies are the three capitals of ISO 4217: EUR, USD, GBP")
	}
	return d
}

// misfit is a name or a result where something else is wanted.
func misfit(at dsl.Place, s site, t *Type, m meaning, what string) dsl.Diagnostic {
	d := dsl.Diagnostic{Place: at}
	arg := s.part + ":" + s.param.Name
	if t.Name == RefType && m.name == RefType && !m.list {
		d.Code = "bad-ref-kind"
		d.Summary = fmt.Sprintf("%s wants %s; %s is %s", arg, t.phrase(), what, article(m.row.Store.Name))
		d.Label = fmt.Sprintf("%s, not %s", article(t.Entity.Store.Name), article(m.row.Store.Name))
		for i := range m.row.Store.Fields {
			if m.row.Store.Fields[i].Ref == t.Entity.Store && strings.HasPrefix(what, "@") {
				d.Notes = append(d.Notes, fmt.Sprintf("it refers to one: %s.%s", what, m.row.Store.Fields[i].Name))
			}
		}
		if len(d.Notes) == 0 {
			d.Notes = append(d.Notes, "name "+article(t.Entity.Store.Name)+" instead")
		}
		return d
	}
	d.Code = "wrong-type"
	d.Summary = fmt.Sprintf("%s wants %s; %s is %s", arg, t.phrase(), what, m.phrase())
	d.Label = t.phrase() + " is wanted here"
	if m.row != nil && m.name == RefType && !m.list {
		var fit []string
		for i := range m.row.Store.Fields {
			if i != m.row.Store.Key && m.row.meaningOfField(i).known && m.row.meaningOfField(i).fits(t) {
				fit = append(fit, what+"."+m.row.Store.Fields[i].Name)
			}
		}
		if len(fit) > 0 && strings.HasPrefix(what, "@") {
			d.Notes = append(d.Notes, "a field of it may be meant: "+some(fit, 5))
		}
	}
	if len(d.Notes) == 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("for example :%s %s", s.param.Name, s.param.example()))
	}
	return d
}

func unknownName(at dsl.Place, name string, near []string, macro *Verb) dsl.Diagnostic {
	d := dsl.Diagnostic{
		Code:    "unknown-name",
		Summary: fmt.Sprintf("nothing is called @%s here", name),
		Label:   didYouMean(ats(near)),
		Place:   at,
		Fixes:   replacements(at, near, "@"),
	}
	switch {
	case macro != nil && len(near) == 0:
		names := make([]string, len(macro.Params))
		for i := range macro.Params {
			names[i] = "@" + macro.Params[i].Name
		}
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

func unknownField(at dsl.Place, src *dsl.Source, v *dsl.Value, no *lost) dsl.Diagnostic {
	near := dsl.Nearest(no.step, slices.Values(no.among))
	d := dsl.Diagnostic{
		Code:    "unknown-field",
		Summary: fmt.Sprintf("%s has no field called %q", no.of, no.step),
		Label:   didYouMean(near),
		Place:   at,
	}
	// The caret goes under the step itself.
	if written := textAt(src, at.Range); strings.HasPrefix(written, "@") {
		if i := strings.Index(written+".", "."+no.step+"."); i >= 0 {
			d.Place.Range.Start = at.Range.Start + int32(i) + 1
			d.Place.Range.End = d.Place.Range.Start + int32(len(no.step))
			d.Fixes = replacements(d.Place, near, "")
		}
	}
	switch {
	case len(no.among) == 0:
		d.Notes = append(d.Notes, no.of+" is a single value, without fields; leave out ."+no.step)
	case len(near) == 0 || len(no.among) <= 12:
		d.Notes = append(d.Notes, "fields: "+some(no.among, 12))
	}
	return d
}

func duplicateBinding(at dsl.Place, name string, first dsl.Place) dsl.Diagnostic {
	return dsl.Diagnostic{
		Code:    "duplicate-binding",
		Summary: fmt.Sprintf("two calls are called @%s", name),
		Label:   "choose another name",
		Place:   at,
		Related: []dsl.Related{{Place: first, Message: "the first one"}},
		Notes:   []string{"calls may stand in any order, so a name can belong to one call only"},
	}
}

func unusedBinding(at dsl.Place, name string) dsl.Diagnostic {
	return dsl.Diagnostic{
		Severity: dsl.Warning,
		Code:     "unused-binding",
		Summary:  fmt.Sprintf("nothing uses @%s", name),
		Label:    "named here",
		Place:    at,
		Notes:    []string{"use it in another call, or leave out the `:as`"},
	}
}

func bindingShadowsName(at dsl.Place, name string) dsl.Diagnostic {
	return dsl.Diagnostic{
		Severity: dsl.Warning,
		Code:     "binding-shadows-name",
		Summary:  fmt.Sprintf("@%s is also a name that the session knows", name),
		Label:    "in this script it means the result of this call",
		Place:    at,
		Notes:    []string{"another name would leave no doubt"},
	}
}

func cycleOfCalls(ring []link) dsl.Diagnostic {
	d := dsl.Diagnostic{Code: "cycle", Place: ring[0].place}
	says := func(l link) string {
		if l.needs == "" {
			return l.verb + " waits for the call inside it"
		}
		return fmt.Sprintf("%s waits for @%s", l.verb, l.needs)
	}
	if len(ring) == 1 {
		d.Summary = fmt.Sprintf("%s uses its own result, @%s", ring[0].verb, ring[0].needs)
		d.Label = "it would have to run before itself"
		d.Notes = []string{"a call can use only what other calls give back"}
		return d
	}
	d.Summary = fmt.Sprintf("these %d calls wait for one another", len(ring))
	d.Label = says(ring[0])
	for _, l := range ring[1:] {
		d.Related = append(d.Related, dsl.Related{Place: l.place, Message: says(l)})
	}
	d.Notes = []string{"one of them must do without the result of the next"}
	return d
}

func hardCodedUUID(at dsl.Place, s site) dsl.Diagnostic {
	return dsl.Diagnostic{
		Severity: dsl.Warning,
		Code:     "hard-coded-uuid",
		Summary:  fmt.Sprintf("a key is written out for :%s", s.param.Name),
		Label:    "a name such as @" + exampleName(s.param.Type) + " would say which row is meant",
		Place:    at,
		Notes:    []string{"keys differ from one database to the next, and nobody can see whether this one is right"},
	}
}

func deprecatedVerb(at dsl.Place, v *Verb, edits []dsl.Edit) dsl.Diagnostic {
	d := dsl.Diagnostic{
		Severity: dsl.Warning,
		Code:     "deprecated-verb",
		Summary:  v.Name + " is deprecated",
		Label:    v.Deprecated.Reason,
		Place:    at,
	}
	if v.Deprecated.ReplacedBy != "" {
		d.Notes = []string{"use " + v.Deprecated.ReplacedBy + " instead: verbatim explain " + v.Deprecated.ReplacedBy}
	}
	if len(edits) > 0 {
		d.Fixes = []dsl.Fix{{Title: "write " + v.Deprecated.ReplacedBy, Safe: true, Edits: edits}}
	}
	return d
}

func nestedTooDeep(at dsl.Place) dsl.Diagnostic {
	return dsl.Diagnostic{
		Code:    "too-deep",
		Summary: fmt.Sprintf("calls, lists and maps stand inside one another more than %d deep", maxNesting),
		Label:   "this one is too deep",
		Place:   at,
		Notes:   []string{"give inner calls a name with `:as` and write them beside, not inside"},
	}
}

func untold(n int) dsl.Diagnostic {
	verb := "are"
	if n == 1 {
		verb = "is"
	}
	return dsl.Diagnostic{
		Code:    "too-many-mistakes",
		Summary: fmt.Sprintf("%s more %s not shown; at most %d are", count(n, "mistake"), verb, dsl.DefaultLimits.Diagnostics),
		Notes:   []string{"correct those above and check again"},
	}
}

// Words.

func didYouMean(near []string) string {
	if len(near) == 0 {
		return ""
	}
	quoted := make([]string, len(near))
	for i, n := range near {
		quoted[i] = strconv.Quote(n)
	}
	return "did you mean " + listed(quoted, "or") + "?"
}

// replacements offers each of the near words; a single one is safe to apply,
// because what stood there meant nothing.
func replacements(at dsl.Place, near []string, mark string) []dsl.Fix {
	var fixes []dsl.Fix
	for _, n := range near {
		fixes = append(fixes, dsl.Fix{
			Title: "write " + mark + n,
			Safe:  len(near) == 1,
			Edits: []dsl.Edit{{Range: at.Range, Text: mark + n}},
		})
	}
	return fixes
}

func colons(names []string) []string { return prefixed(":", names) }
func ats(names []string) []string    { return prefixed("@", names) }

func prefixed(mark string, names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = mark + n
	}
	return out
}

// listed joins words as a sentence does: "a, b and c".
func listed(words []string, last string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
}

// some lists up to n words and counts the rest.
func some(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:n], ", "), len(words)-n)
}

func count(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return strconv.Itoa(n) + " " + unit + "s"
}

// article puts "a" or "an" before a word.
func article(word string) string {
	if word != "" && strings.IndexByte("aeioAEIO", word[0]) >= 0 || strings.HasPrefix(word, "un") {
		return "an " + word
	}
	return "a " + word
}

func shorten(s string, n int) string {
	runes := []rune(s)
	if len(runes) <= n {
		return s
	}
	return string(runes[:n]) + "…"
}

func itoa(n int) string { return strconv.Itoa(n) }

// kindPhrase names what stands in a script.
func kindPhrase(k dsl.Kind) string {
	return [...]string{
		dsl.Invalid: "nothing", dsl.Nil: "nil", dsl.Bool: "true or false", dsl.Integer: "an integer", dsl.Decimal: "a decimal",
		dsl.String: "a string", dsl.Date: "a date", dsl.DateTime: "a date and time", dsl.UUID: "a uuid", dsl.Code: "a code",
		dsl.Symbol: "a name", dsl.List: "a list", dsl.Map: "a map", dsl.Nested: "a call",
	}[k]
}

// phrase names what a type wants.
func (t *Type) phrase() string {
	switch t.Name {
	case AnyType:
		return "a value"
	case BooleanType:
		return "true or false"
	case DateTimeType:
		return "a date and time"
	case EmailType:
		return "an e-mail address"
	case PhoneType:
		return "a telephone number"
	case MoneyType:
		return "an amount of money"
	case CodeType:
		if t.Codes != nil {
			return "a code of " + t.Codes.Name
		}
		return "a code"
	case RefType:
		if t.Entity != nil {
			return "a reference to " + article(t.Entity.Store.Name)
		}
		return "a reference"
	case ListType:
		if t.Item != nil && t.Item.Name != AnyType {
			return "a list of " + t.Item.plural()
		}
		return "a list"
	case UUIDType:
		return "a uuid"
	}
	return article(typeWords[t.Name])
}

func (t *Type) plural() string {
	switch t.Name {
	case BooleanType:
		return "true or false"
	case CodeType:
		if t.Codes != nil {
			return t.Codes.Name + " codes"
		}
	case RefType:
		if t.Entity != nil {
			return t.Entity.Store.Name + " references"
		}
		return "references"
	case MoneyType:
		return "amounts of money"
	case EmailType:
		return "e-mail addresses"
	case PhoneType:
		return "telephone numbers"
	case AnyType:
		return "values"
	}
	return typeWords[t.Name] + "s"
}

func (m meaning) phrase() string {
	switch {
	case m.list:
		return "a list"
	case m.name == RefType && m.row != nil:
		return article(m.row.Store.Name)
	}
	return (&Type{Name: m.name, Codes: m.codes, Entity: m.row}).phrase()
}

func badSchema(at dsl.Place, s site, schema *Schema, err error) dsl.Diagnostic {
	return dsl.Diagnostic{
		Code:    "bad-schema",
		Summary: fmt.Sprintf("the schema of :%s cannot be used: %v", s.param.Name, err),
		Label:   "cannot be checked",
		Place:   at,
		Related: []dsl.Related{{Place: schema.Place, Message: "declared here"}},
		Notes:   []string{"the palette's author can find it with: verbatim lint"},
	}
}

func schemaBreach(at dsl.Place, name string, s *Schema, b breach, kind dsl.Kind, dark bool) dsl.Diagnostic {
	d := dsl.Diagnostic{Code: "schema-mismatch", Place: at, Summary: name + " " + b.says, Label: b.want}
	if len(b.near) > 0 && !dark {
		near, mark := b.near, ""
		if b.key != "" {
			mark = ":"
		} else if kind == dsl.String {
			near = make([]string, len(b.near))
			for i, n := range b.near {
				near[i] = dsl.FormatValue(dsl.NewString(n))
			}
		}
		d.Label = didYouMean(prefixed(mark, b.near))
		d.Fixes = replacements(at, near, mark)
	}
	if dark && !b.safe {
		d.Summary, d.Label = name+" does not satisfy its schema", ""
	}
	if len(b.list) > 0 {
		d.Notes = append(d.Notes, "allowed: "+some(b.list, 12))
	}
	if s.Place.Source != nil {
		d.Related = append(d.Related, dsl.Related{Place: s.Place, Message: "the schema is declared here"})
	}
	return d
}

// offToday is told of a date that was right on another day, or will be.
func offToday(at dsl.Place, name, says string) dsl.Diagnostic {
	_, label, _ := strings.Cut(says, ": ")
	return dsl.Diagnostic{Code: "out-of-range", Place: at, Summary: name + " " + says, Label: label}
}

// What Drift says.

func lowered(code string, at, was dsl.Place, label, summary string) dsl.Diagnostic {
	d := dsl.Diagnostic{
		Code:    code,
		Summary: summary,
		Label:   label,
		Place:   at,
		Notes:   []string{"this lowers safety: take it back, or let somebody agree to it and compare with the new palettes from then on"},
	}
	if was.Source != nil {
		d.Related = []dsl.Related{{Place: was, Message: "as it was"}}
	}
	return d
}

func newVerb(v *Verb) dsl.Diagnostic {
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
		names := make([]string, len(v.Roles))
		for i, r := range v.Roles {
			names[i] = r.Name
		}
		d.Label = "may be used by " + listed(names, "and")
	}
	return d
}

func effectPhrase(e *Effect) string {
	word := effectWord(e)
	text := oneLine(e.Operand.Text)
	if e.Entity != nil {
		text = e.Entity.Store.Name
		if fields := fieldsOf(e); fields != nil {
			text += " (" + strings.Join(fields, ", ") + ")"
		}
	}
	if e.When != nil {
		text += " when " + exprText(e.When)
	}
	return word + " " + text
}

func defaultText(p *Param) string {
	if p.Active {
		return "the row at work"
	}
	if p.Default.IsNull() {
		return "none"
	}
	if p.Sensitive {
		return "a sensitive value"
	}
	return p.Default.String()
}

// effectWord is the key that a palette writes for an effect.
func effectWord(e *Effect) string {
	for _, w := range effectWords {
		if w.kind == e.Kind && w.may == e.May {
			return w.name
		}
	}
	return ""
}

// lasting says a number of seconds in words.
func lasting(seconds int64) string {
	for _, unit := range []struct {
		seconds int64
		name    string
	}{{7 * 86400, "week"}, {86400, "day"}, {3600, "hour"}, {60, "minute"}} {
		if seconds >= unit.seconds && seconds%unit.seconds == 0 {
			return count(int(seconds/unit.seconds), unit.name)
		}
	}
	return count(int(seconds), "second")
}
