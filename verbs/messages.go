package verbs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/verbs/expr"
)

// What the loader says about palettes. A summary says what is wrong in the
// words of the text; a label says, beside the caret, what was expected; a note
// says what to do next.
type loaderMessages struct{}

var say loaderMessages

func problemAt(at dsl.Place, code, summary, label string, notes ...string) dsl.Diagnostic {
	return dsl.Diagnostic{Code: code, Summary: summary, Label: label, Place: at, Notes: notes}
}

// misnamed is the shape of every complaint about a word that is not among the
// legal ones.
func misnamed(at dsl.Place, code, summary, word string, legal []string, kind string) dsl.Diagnostic {
	near := nearest(word, legal)
	d := dsl.Diagnostic{Code: code, Summary: summary, Label: didYouMean(near), Place: at, Fixes: replacements(at, near, "")}
	switch {
	case len(legal) == 0:
		d.Notes = []string{"there are no " + kind + " yet"}
	default:
		d.Notes = []string{kind + ": " + some(legal, 16)}
	}
	return d
}

// nearest is dsl.Nearest, and failing that a word that differs only in dashes,
// underscores and capitals.
func nearest(word string, legal []string) []string {
	near := dsl.Nearest(word, slices.Values(legal))
	if len(near) == 0 {
		folded := underscored(strings.ToLower(word))
		for _, w := range legal {
			if underscored(strings.ToLower(w)) == folded && w != word {
				return []string{w}
			}
		}
	}
	return near
}

// misspelt reports whether a word can only have been meant as the name of an
// entity: one edit away, or two in a long name.
func (l *loader) misspelt(name string) bool {
	names := make([]string, len(l.entities))
	for i, e := range l.entities {
		names[i] = e.Store.Name
	}
	for _, n := range nearest(name, names) {
		most := 1
		if len(name) > 8 {
			most = 2
		}
		if dsl.Distance(name, n, most) <= most {
			return true
		}
	}
	return false
}

// Files and YAML

func (loaderMessages) unreadable(name, why string) dsl.Diagnostic {
	return problemAt(dsl.Place{Source: dsl.NewSource(name, "")}, "unreadable-palette", fmt.Sprintf("%s cannot be read: %s", name, why), "")
}

func (loaderMessages) noPalettes() dsl.Diagnostic {
	return problemAt(dsl.Place{}, "no-palettes", "there is no palette here", "", "a palette is a file whose name ends in .yaml; its first line is `domain: NAME`")
}

func (loaderMessages) tooLarge(at dsl.Place, size, most int) dsl.Diagnostic {
	return problemAt(at, "palette-too-large", fmt.Sprintf("the file is %d bytes long; a palette may have %d", size, most), "", "divide it into several files; a domain may be dotted: client.portal, client.admin")
}

func (loaderMessages) notUTF8(at dsl.Place) dsl.Diagnostic {
	return problemAt(at, "not-utf8", "the file is not UTF-8 text", "this byte belongs to no character", "save the file as UTF-8")
}

func (loaderMessages) emptyPalette(at dsl.Place) dsl.Diagnostic {
	return problemAt(at, "empty-palette", "the file says nothing", "", "the first line of a palette is `domain: NAME`")
}

func (loaderMessages) tooDeep(at dsl.Place) dsl.Diagnostic {
	return problemAt(at, "too-deep", fmt.Sprintf("this is nested more than %d levels deep", maxDepth), "too deep from here", "a palette needs no more than a dozen")
}

func (loaderMessages) notYAML(at dsl.Place, message string) dsl.Diagnostic {
	label, note := "", "put text that holds a colon, a quote, a bracket or a # in double quotes"
	switch {
	case strings.Contains(message, "mapping values are not allowed"):
		label, note = "a second value on one line", "text that holds a colon and a space goes in double quotes"
	case strings.Contains(message, "cannot start any token"):
		label, note = "a value cannot begin like this", "indent with spaces, never with tabs; put text that begins with @, ` or % in double quotes"
	case strings.Contains(message, "did not find expected key"), strings.Contains(message, "did not find expected '-'"):
		label, note = "this does not fit the lines above", "entries of one mapping or list begin in the same column; text that continues a quoted value is inside the quotes"
	case strings.Contains(message, "unexpected end of stream"), strings.Contains(message, "document indicator"):
		label, note = "the text ends inside quotes", "a quotation mark was opened and not closed"
	case strings.Contains(message, "could not find expected ':'"):
		label, note = "a key without a colon", "write key: value"
	case strings.Contains(message, "expected ',' or"):
		label, note = "a bracket is not closed, or a comma is missing", "lists are [a, b], mappings are {a: b}"
	case strings.Contains(message, "unknown anchor"):
		label, note = "palettes have no aliases", "text that begins with * goes in double quotes"
	case strings.Contains(message, "control characters"):
		label, note = "a character that cannot be seen", "remove it"
	}
	return problemAt(at, "not-yaml", "this cannot be read as YAML", label, note)
}

func (loaderMessages) moreDocuments(at dsl.Place) dsl.Diagnostic {
	return problemAt(at, "yaml-feature", "a second document begins in this file", "one file is one palette", "divide the file at the line `---`")
}

func (loaderMessages) noAnchors(at dsl.Place, name string) dsl.Diagnostic {
	return problemAt(at, "yaml-feature", fmt.Sprintf("&%s is an anchor; palettes have none", name), "write it out", "what a palette says stands where it is said; text that begins with & goes in double quotes")
}

func (loaderMessages) noAliases(at dsl.Place, name string) dsl.Diagnostic {
	return problemAt(at, "yaml-feature", fmt.Sprintf("*%s is an alias; palettes have none", name), "write it out", "what a palette says stands where it is said; text that begins with * goes in double quotes")
}

func (loaderMessages) noTags(at dsl.Place, tag string) dsl.Diagnostic {
	return problemAt(at, "yaml-feature", fmt.Sprintf("%s is a tag; palettes have none", tag), "leave it out", "the type of a value is what its key wants")
}

func (loaderMessages) noMerge(at dsl.Place) dsl.Diagnostic {
	return problemAt(at, "yaml-feature", "<< is a merge key; palettes have none", "write the entries out", "what a palette says stands where it is said")
}

func (loaderMessages) keyNotText(at dsl.Place) dsl.Diagnostic {
	return problemAt(at, "yaml-feature", "a key must be a word", "this is none", "write key: value")
}

func (loaderMessages) tooMany(at dsl.Place, more int) dsl.Diagnostic {
	return problemAt(at, "too-many-mistakes", fmt.Sprintf("there are %d more mistakes, which are not shown", more), "", "mend some of those above and try again")
}

// Keys and their values

func (loaderMessages) unknownKey(at dsl.Place, sh *shape, word string) dsl.Diagnostic {
	names := make([]string, len(sh.keys))
	for i := range sh.keys {
		names[i] = sh.keys[i].name
	}
	return misnamed(at, "unknown-key", fmt.Sprintf("%s has no key called %q", sh.name, word), word, names, "keys of "+sh.name)
}

func (loaderMessages) duplicateKey(at dsl.Place, word string, first dsl.Place) dsl.Diagnostic {
	d := problemAt(at, "duplicate-key", fmt.Sprintf("%q is given twice", word), "the second time", "keep one of the two")
	d.Related = []dsl.Related{{Place: first, Message: "first given here"}}
	return d
}

func (loaderMessages) missingKey(at dsl.Place, sh *shape, word string) dsl.Diagnostic {
	var example string
	for i := range sh.keys {
		if sh.keys[i].name == word {
			example = sh.keys[i].example
		}
	}
	return problemAt(at, "missing-key", fmt.Sprintf("%s needs %q", sh.name, word), "it belongs here", fmt.Sprintf("for example: %s: %s", word, example))
}

func (loaderMessages) wrongShape(at dsl.Place, what, wanted string) dsl.Diagnostic {
	return problemAt(at, "wrong-shape", fmt.Sprintf("%s must be %s", what, wanted), "this is something else")
}

func (loaderMessages) nothingWritten(at dsl.Place, k *key) dsl.Diagnostic {
	return problemAt(at, "nothing-written", "nothing is written after this key", "leave it out, or say what", fmt.Sprintf("for example: %s: %s", k.name, k.example))
}

func (loaderMessages) nothingDefault(at dsl.Place, name string) dsl.Diagnostic {
	return problemAt(at, "nothing-written", fmt.Sprintf("%s has no value here", name), "leave it out, or say what", "without a default there is none; nothing need be written for that")
}

func (loaderMessages) notBoolean(at dsl.Place, name, word string) dsl.Diagnostic {
	d := problemAt(at, "not-boolean", fmt.Sprintf("%s must be true or false", name), "write true or false")
	switch strings.ToLower(word) {
	case "yes", "y", "on", "true", "1":
		d.Fixes = replacements(at, []string{"true"}, "")
	case "no", "n", "off", "false", "0":
		d.Fixes = replacements(at, []string{"false"}, "")
	}
	return d
}

func (loaderMessages) notInteger(at dsl.Place, name, word string, least int) dsl.Diagnostic {
	return problemAt(at, "not-a-number", fmt.Sprintf("%s must be a whole number, %d or more", name, least), "in digits: 2000", "no signs, exponents, leading zeros or quotes")
}

func (loaderMessages) oddNumber(at dsl.Place, word string) dsl.Diagnostic {
	return problemAt(at, "not-a-number", fmt.Sprintf("%s is a number that people and YAML read differently", word), "in digits: 1000, 0.5", "put it in quotes if it is meant as text")
}

func (loaderMessages) unknownWord(at dsl.Place, key, word string, legal []string) dsl.Diagnostic {
	return misnamed(at, "unknown-word", fmt.Sprintf("%s cannot be %q", key, word), word, legal, "it may be")
}

func (loaderMessages) emptyList(at dsl.Place, key string) dsl.Diagnostic {
	return problemAt(at, "nothing-written", fmt.Sprintf("%s holds nothing", key), "leave it out, or say what")
}

func (loaderMessages) heldByNobody(at dsl.Place, v *Verb, e *Entity) dsl.Diagnostic {
	example := ""
	for i, f := range e.Store.Fields {
		for j := range v.Params {
			if t := v.Params[j].Type; f.Ref != nil && example == "" && t != nil && t.Name == RefType && t.Entity != nil && t.Entity.Store == e.Store.Fields[i].Ref {
				example = fmt.Sprintf("row.%s == %s and …", f.Name, v.Params[j].Ident)
			}
		}
	}
	if example == "" {
		example = "row.ORDER == order_id and …"
	}
	return problemAt(at, "held-by-nobody", fmt.Sprintf("it is not said to which row these of %s would belong, so two people could find none at once", e.Store.Name),
		"say so by a reference argument that must be given", "for example: "+example)
}

func (loaderMessages) requiresNothing(at dsl.Place, verb string, holds bool) dsl.Diagnostic {
	if holds {
		return problemAt(at, "requires-nothing", fmt.Sprintf("this always holds, so %s requires nothing by it", verb), "name an argument, or a field of the row that one names")
	}
	return problemAt(at, "requires-nothing", fmt.Sprintf("this never holds, so %s could never be used", verb), "name an argument, or a field of the row that one names")
}

// Names

func (loaderMessages) badName(at dsl.Place, what, word string) dsl.Diagnostic {
	d := problemAt(at, "bad-name", fmt.Sprintf("%q cannot name %s", word, article(what)+" "+what), "lower-case letters, digits and dashes", "a name begins with a letter: due-date, client, step2")
	if better := nameFrom(word); better != word && (isName(better) || what == "domain" && isDottedName(better)) {
		d.Fixes = []dsl.Fix{{Title: "call it " + better, Edits: []dsl.Edit{{Range: at.Range, Text: better}}}}
	}
	return d
}

func nameFrom(word string) string {
	var b strings.Builder
	for i, r := range strings.ToLower(word) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9' && i > 0, r == '-', r == '_', r == '.':
			b.WriteRune(r)
		case r == ' ':
			b.WriteByte('-')
		}
	}
	return b.String()
}

func (loaderMessages) badCode(at dsl.Place, word string) dsl.Diagnostic {
	d := problemAt(at, "bad-name", fmt.Sprintf("%q cannot be a code", word), "capitals, digits and underscores", "a script writes codes as bare words in capitals: PASSPORT, TAX_RETURN")
	if better := strings.ToUpper(strings.ReplaceAll(word, " ", "_")); better != word && isCode(better) {
		d.Fixes = []dsl.Fix{{Title: "write " + better, Edits: []dsl.Edit{{Range: at.Range, Text: better}}}}
	}
	return d
}

func (loaderMessages) badTable(at dsl.Place, word string) dsl.Diagnostic {
	return problemAt(at, "bad-name", fmt.Sprintf("%q cannot name a table or column", word), "letters, digits, underscores and dashes", "a table may have its schema before a dot: kyc.cases")
}

func (loaderMessages) reserved(at dsl.Place, what, word string) dsl.Diagnostic {
	return problemAt(at, "reserved-word", fmt.Sprintf("%s cannot be called %q", article(what)+" "+what, word), "this word means something else", "expressions and calls use it; another name, such as "+word+"-value, will do")
}

func (loaderMessages) ours(at dsl.Place, what, word string) dsl.Diagnostic {
	return problemAt(at, "reserved-word", fmt.Sprintf("%s cannot be called %q", article(what)+" "+what, word), "names that begin with verbatim are taken", "what the engine keeps of its own has them; choose another")
}

func (loaderMessages) declaredTwice(at dsl.Place, what, name string, first dsl.Place) dsl.Diagnostic {
	d := problemAt(at, "declared-twice", fmt.Sprintf("%s %s is declared twice", what, name), "the second time", "keep one of the two, or give it another name; all files of the directory count")
	if first.Source != nil {
		d.Related = []dsl.Related{{Place: first, Message: "first declared here"}}
	}
	return d
}

func (loaderMessages) listedTwice(at dsl.Place, word, where string) dsl.Diagnostic {
	return problemAt(at, "declared-twice", fmt.Sprintf("%s stands twice in %s", word, where), "the second time", "keep one of the two")
}

func (loaderMessages) unknownType(at dsl.Place, word string) dsl.Diagnostic {
	types := slices.Clone(typeWords)
	slices.Sort(types)
	return misnamed(at, "unknown-type", fmt.Sprintf("no type is called %q", word), word, types, "types")
}

func (loaderMessages) unknownRole(at dsl.Place, word string, roles []*Role, note string) dsl.Diagnostic {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = r.Name
	}
	d := misnamed(at, "unknown-role", fmt.Sprintf("no role is called %q", word), word, names, "roles")
	if near := nearest(word, names); len(near) == 1 {
		for _, r := range roles {
			if r.Name == near[0] {
				d.Related = append(d.Related, dsl.Related{Place: r.Place, Message: near[0] + " is declared here"})
			}
		}
	}
	if note != "" {
		d.Notes = append(d.Notes, note)
	}
	return d
}

func (loaderMessages) unknownEntity(at dsl.Place, word string, entities []*Entity) dsl.Diagnostic {
	names := make([]string, len(entities))
	for i, e := range entities {
		names[i] = e.Store.Name
	}
	return misnamed(at, "unknown-entity", fmt.Sprintf("no entity is called %q", word), word, names, "entities")
}

func (loaderMessages) unknownCodeList(at dsl.Place, word string, lists []*CodeList) dsl.Diagnostic {
	names := make([]string, len(lists))
	for i, c := range lists {
		names[i] = c.Name
	}
	return misnamed(at, "unknown-code-list", fmt.Sprintf("no code list is called %q", word), word, names, "code lists")
}

func (loaderMessages) codeStep(at dsl.Place, list, code string, codes []string) dsl.Diagnostic {
	return misnamed(at, "code-step", fmt.Sprintf("%s has no code %s, so that nothing can change to it", list, code), code, codes, "codes of "+list)
}

func (loaderMessages) schemaOfWhat(at dsl.Place, name string) dsl.Diagnostic {
	return problemAt(at, "schema-of", ":"+name+" cannot have the schema of a code", "this is for an object without a schema of its own", "make it type: object, and leave out its schema")
}

func (loaderMessages) schemaOfNoCode(at dsl.Place, name string) dsl.Diagnostic {
	return problemAt(at, "schema-of", ":"+name+" is no code of a list, and has no schemas", "an argument of type code is wanted, with its ref-type", "name the argument that says what kind of object it is")
}

func (loaderMessages) codesWithoutSchema(at dsl.Place, list *CodeList, without []string) dsl.Diagnostic {
	d := problemAt(at, "schema-of", "codes of "+list.Name+" have no schema: "+some(without, 5), "objects of these would go unchecked", "give each a schema: {code: "+without[0]+", schema: NAME}")
	d.Related = append(d.Related, dsl.Related{Place: list.Place, Message: "the list is declared here"})
	return d
}

func (loaderMessages) unknownSchema(at dsl.Place, word string, schemas map[string]*Schema) dsl.Diagnostic {
	names := make([]string, 0, len(schemas))
	for n := range schemas {
		names = append(names, n)
	}
	slices.Sort(names)
	return misnamed(at, "unknown-schema", fmt.Sprintf("no schema is called %q", word), word, names, "schemas")
}

func (loaderMessages) unknownField(at dsl.Place, e *Entity, word string) dsl.Diagnostic {
	d := misnamed(at, "unknown-field", fmt.Sprintf("%s has no field called %q", e.Store.Name, word), word, e.fieldNames(), "fields of "+e.Store.Name)
	d.Related = []dsl.Related{{Place: e.Place, Message: "the entity is declared here"}}
	return d
}

func (loaderMessages) unknownArgument(at dsl.Place, v *Verb, word string) dsl.Diagnostic {
	return noArgument(at, v, word, v.paramNames())
}

// unknownParam is unknownArgument where names are written with underscores.
func (loaderMessages) unknownParam(at dsl.Place, v *Verb, word string) dsl.Diagnostic {
	names := v.paramNames()
	for i := range names {
		names[i] = underscored(names[i])
	}
	return noArgument(at, v, word, names)
}

func noArgument(at dsl.Place, v *Verb, word string, names []string) dsl.Diagnostic {
	d := misnamed(at, "unknown-argument", fmt.Sprintf("%s takes no argument called %s", v.Name, word), word, names, "arguments of "+v.Name)
	if len(names) == 0 {
		d.Notes = []string{v.Name + " takes no arguments"}
	}
	return d
}

func (loaderMessages) danglingVerb(at dsl.Place, word string, verbs map[string]*Verb) dsl.Diagnostic {
	names := make([]string, 0, len(verbs))
	for n := range verbs {
		names = append(names, n)
	}
	slices.Sort(names)
	return misnamed(at, "unknown-verb", fmt.Sprintf("no verb is called %q", word), word, names, "verbs")
}

// Types and values

func (loaderMessages) limitDoesNotApply(at dsl.Place, key, typ string, to []string) dsl.Diagnostic {
	return problemAt(at, "limit-does-not-apply", fmt.Sprintf("%s says nothing about %s", key, article(typ)+" "+typ), "leave it out", fmt.Sprintf("%s goes with: %s", key, strings.Join(to, ", ")))
}

func (loaderMessages) anyReference(at dsl.Place, name, what string) dsl.Diagnostic {
	d := problemAt(at, "any-reference", fmt.Sprintf("%s refers to a row of any kind", name), "which entity is not said", "add ref-type: ENTITY, so that a row of another kind is refused")
	d.Severity = dsl.Warning
	return d
}

func (loaderMessages) anyCode(at dsl.Place, name, what string) dsl.Diagnostic {
	d := problemAt(at, "any-code", fmt.Sprintf("%s may be any code", name), "which list is not said", "add ref-type: CODE-LIST, so that a misspelt code is refused")
	d.Severity = dsl.Warning
	return d
}

func (loaderMessages) noCodeLists(at dsl.Place, name string) dsl.Diagnostic {
	d := problemAt(at, "any-code", fmt.Sprintf("the codes of %s are declared nowhere, so any code is accepted", name), "not declared", "add a list to codes: {name: "+name+", values: [A, B]}")
	d.Severity = dsl.Warning
	return d
}

func (loaderMessages) badKeyType(at dsl.Place, name, typ string) dsl.Diagnostic {
	return problemAt(at, "bad-key", fmt.Sprintf("key %s cannot be %s", name, article(typ)+" "+typ), "declared here", "a key is a uuid, string, integer or code")
}

func (loaderMessages) moneyField(at dsl.Place, name string) dsl.Diagnostic {
	return problemAt(at, "money-field", fmt.Sprintf("field %s cannot be money", name), "money is two fields", fmt.Sprintf("declare %s_amount: {type: decimal} and %s_currency: {type: string}, and set them from ARGUMENT.amount and ARGUMENT.currency", name, name))
}

func (loaderMessages) badPattern(at dsl.Place, why string) dsl.Diagnostic {
	return problemAt(at, "bad-pattern", "this is not a regular expression (RE2)", why, "look-around and back-references do not exist in RE2; a backslash is doubled inside double quotes")
}

func (loaderMessages) badSchema(at dsl.Place, name, why string) dsl.Diagnostic {
	return problemAt(at, "bad-schema", fmt.Sprintf("schema %s is not a JSON Schema", name), "", why)
}

func (loaderMessages) badCurrency(at dsl.Place, word string) dsl.Diagnostic {
	return problemAt(at, "bad-currency", fmt.Sprintf("no currency has the code %q", word), "three capitals: EUR", "codes are those of ISO 4217")
}

func (loaderMessages) badMediaType(at dsl.Place, word string) dsl.Diagnostic {
	return problemAt(at, "bad-media-type", fmt.Sprintf("%q is no type of file", word), "a media type is wanted: application/pdf, image/jpeg, image/*", "lower case; it is what is found in the file, not how its name ends")
}

func (loaderMessages) badSize(at dsl.Place, word string) dsl.Diagnostic {
	return problemAt(at, "bad-size", fmt.Sprintf("%q is no size that a file may have", word), "a whole number and a unit: 20 MB", "units are B, kB, MB and GB, or KiB, MiB and GiB; at most 5 GiB")
}

func (loaderMessages) badDuration(at dsl.Place, word string) dsl.Diagnostic {
	return problemAt(at, "bad-duration", fmt.Sprintf("%q is not a length of time", word), "a number and a unit: 24h, 3d, 2w")
}

func (loaderMessages) noDefault(at dsl.Place, name, typ string) dsl.Diagnostic {
	return problemAt(at, "bad-value", fmt.Sprintf("%s is %s, which can have no default", name, article(typ)+" "+typ), "leave it out", "a default is a value that can be written in the palette")
}

func (loaderMessages) badValue(at dsl.Place, name, word string, t *Type, p problem) dsl.Diagnostic {
	d := problemAt(at, "bad-value", fmt.Sprintf("%s wants %s; this is %s", name, t.phrase(), word), problemWords[p])
	if word == "" {
		d.Summary = fmt.Sprintf("%s wants %s; this is something else", name, t.phrase())
	}
	switch {
	case p == unknownCode && t.Codes != nil:
		near := nearest(word, t.Codes.names())
		d.Label, d.Fixes = didYouMean(near), replacements(at, near, "")
		d.Notes = []string{"codes of " + t.Codes.Name + ": " + some(t.Codes.names(), 16)}
	case t.Name == BooleanType:
		d.Fixes = say.notBoolean(at, name, word).Fixes
	case t.Name == DateType && (name == "min" || name == "max"):
		d.Notes = append(d.Notes, dayForms)
	}
	return d
}

var problemWords = [...]string{
	wrongType:   "this is something else",
	tooShort:    "too short",
	tooLong:     "too long",
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
	notEmail:    "one address: name@example.com",
	notPhone:    "7 to 15 digits, with + and the country first",
	unknownCode: "not in the list",
	notCode:     "capitals, digits and underscores",
	notText:     "not UTF-8",
}

// internalNamed says that a palette names an internal verb where people or models
// would come to call it.
func (loaderMessages) internalNamed(at dsl.Place, v *Verb, what string) dsl.Diagnostic {
	return say.contradiction(at, what+" "+v.Name+", which is internal", "only the work of a trigger calls it, with run; name another verb", v.Place, "declared here")
}

func (loaderMessages) contradiction(at dsl.Place, summary, note string, other dsl.Place, there string) dsl.Diagnostic {
	d := problemAt(at, "contradiction", summary, "", note)
	if other.Source != nil {
		d.Related = []dsl.Related{{Place: other, Message: there}}
	}
	return d
}

// Entities

func (loaderMessages) notReference(at dsl.Place, e *Entity, name, next string, f *Field) dsl.Diagnostic {
	d := problemAt(at, "not-a-reference", fmt.Sprintf("%s of %s is %s, so nothing is called %q in it", name, e.Store.Name, f.Type.phrase(), next), "only a reference can be followed")
	d.Related = []dsl.Related{{Place: f.Place, Message: name + " is declared here"}}
	return d
}

func (loaderMessages) scopeNotReference(at dsl.Place, path string) dsl.Diagnostic {
	return problemAt(at, "bad-scope", fmt.Sprintf("%s does not lead to an owner", path), "its last part is no reference", "a scope is a path of reference fields, self, everyone, or {principal: FIELD}")
}

func (loaderMessages) principalNotText(at dsl.Place, path, typ string) dsl.Diagnostic {
	return problemAt(at, "bad-scope", fmt.Sprintf("%s is %s and cannot hold a principal's name", path, article(typ)+" "+typ), "a string is wanted here")
}

func (loaderMessages) visibleNotBoolean(at dsl.Place, f *Field, name string) dsl.Diagnostic {
	d := problemAt(at, "bad-visible", fmt.Sprintf("%s is %s and cannot say whether a row is seen", name, f.Type.phrase()), "a boolean field is wanted here", "rows in which the field is true are there; others exist only for roles that see all")
	d.Related = []dsl.Related{{Place: f.Place, Message: name + " is declared here"}}
	return d
}

func (loaderMessages) visibleToAll(at dsl.Place, e *Entity) dsl.Diagnostic {
	return problemAt(at, "bad-visible", fmt.Sprintf("everybody may read %s, so none of its rows can be hidden", e.Store.Name), "", "leave visible out, or give the entity an owner with scope")
}

func (loaderMessages) uniqueTellsHidden(at dsl.Place, e *Entity, set []int) dsl.Diagnostic {
	return problemAt(at, "bad-visible", fmt.Sprintf("that %s is unique would tell of rows of %s that are hidden", listed(fieldSet(e.Store, set), "and"), e.Store.Name),
		"a refusal would say that a hidden row has the same", "leave the set out; a set that begins with the reference to a row which may be hidden is fine")
}

func (loaderMessages) badBraces(at dsl.Place, brace string) dsl.Diagnostic {
	return problemAt(at, "bad-braces", "a brace is not closed", "write {NAME}", "text in braces is replaced; braces themselves cannot be written")
}

func (loaderMessages) badBrackets(at dsl.Place) dsl.Diagnostic {
	return problemAt(at, "bad-braces", "a bracket is not closed, or not open", "write [text {NAME}], or <LIST* text {NAME}>", "what stands in brackets is left out where a value in it is empty; brackets themselves cannot be written")
}

func (loaderMessages) unknownTold(at dsl.Place, word string, names []string) dsl.Diagnostic {
	return misnamed(at, "unknown-name", fmt.Sprintf("there is no value %q to be told", word), word, names, "values")
}

func (loaderMessages) noItems(at dsl.Place, name string) dsl.Diagnostic {
	return problemAt(at, "bad-value", quoted(name)+" is no list", "name one under `lists`, or a description of codes", "a value is written in braces: {"+name+"}")
}

func (loaderMessages) noLanguage(at dsl.Place, word string) dsl.Diagnostic {
	return problemAt(at, "bad-value", quoted(word)+" is no language", "two small letters: en, de, fr, es", "languages are written as ISO 639-1 has them")
}

// Verbs

func (loaderMessages) nobodyMayUse(at dsl.Place, verb string) dsl.Diagnostic {
	d := problemAt(at, "nobody-may-use", fmt.Sprintf("nobody may use %s", verb), "no roles are given", "add roles: [ROLE]")
	d.Severity = dsl.Warning
	return d
}

func (loaderMessages) tooManyArguments(at dsl.Place, verb string, most int) dsl.Diagnostic {
	return problemAt(at, "too-many-arguments", fmt.Sprintf("%s takes more than %d arguments", verb, most), "this is one too many", "gather some of them in an object")
}

func (loaderMessages) nothingToDo(at dsl.Place, verb string) dsl.Diagnostic {
	return problemAt(at, "nothing-to-do", fmt.Sprintf("nothing can carry out %s", verb), "it has no effects and reads nothing", "say what it does with effects, reads, query, script or tool, or write handler: true for a Go function")
}

func (loaderMessages) handlerNeeded(at dsl.Place, verb, what string, prose, declared bool) dsl.Diagnostic {
	label := "the engine cannot do this by itself"
	switch {
	case prose:
		label = "a sentence is a promise that only a handler can keep"
	case declared:
		label = "how is not said, so only a handler can keep this"
	case what == "returns":
		label = "where the result comes from is not said"
	}
	d := problemAt(at, "handler-needed", fmt.Sprintf("%s needs a handler in Go", verb), label, "say how with set and where, reads or query, or write handler: true to say that this is meant")
	d.Severity = dsl.Warning
	return d
}

func (loaderMessages) twoWays(at dsl.Place, second, first string, other dsl.Place) dsl.Diagnostic {
	d := problemAt(at, "two-ways", "a verb is carried out in one way, and this has two", second+" is the second", "keep one of them, or make it two verbs")
	d.Related = []dsl.Related{{Place: other, Message: first + " is the first"}}
	return d
}

// Tools of other servers

func (loaderMessages) toolUnasked(at dsl.Place, v *Verb) dsl.Diagnostic {
	return problemAt(at, "tool-unasked", fmt.Sprintf("%s acts on another system, and nothing says who agrees first", v.Name),
		"what is done there cannot be taken back here", "write confirm: always, or rules", "write confirm: never where nobody has to be asked, so that it is somebody's decision", "write read-only: true when the tool changes nothing anywhere")
}

func (loaderMessages) toolKey(at dsl.Place, v *Verb, what string) dsl.Diagnostic {
	return problemAt(at, "tool-key", fmt.Sprintf("%s would send the key of a row to another system", v.Name), what, "send a field of the row instead: with: {customer: customer_id.name}")
}

func (loaderMessages) toolGivesKey(at dsl.Place, v *Verb) dsl.Diagnostic {
	return problemAt(at, "tool-key", fmt.Sprintf("%s would take the key of a row from another system", v.Name), "what another system answers names no row here", "take it as a string or uuid")
}

func (loaderMessages) toolRowsOfNothing(at dsl.Place) dsl.Diagnostic {
	return problemAt(at, "tool-columns", "rows are listed, and nothing says what is in them", "columns are missing", "name them and their types: columns: {number: string}")
}

func (loaderMessages) toolChangesRows(at dsl.Place, v *Verb, e *Entity) dsl.Diagnostic {
	return problemAt(at, "tool-rows", fmt.Sprintf("%s cannot change rows of %s by a tool", v.Name, e.Store.Name), "how is not said", "say with set and where what the engine changes once the tool has answered")
}

func (loaderMessages) emptyMacro(at dsl.Place) dsl.Diagnostic {
	return problemAt(at, "nothing-written", "the script has no calls", "write calls of other verbs", "for example: client.add-note :request-id @request-id :note @note")
}

func (loaderMessages) macroCircle(at dsl.Place, circle []*Verb) dsl.Diagnostic {
	names := make([]string, len(circle))
	for i, v := range circle {
		names[i] = v.Name
	}
	d := problemAt(at, "macro-circle", "a script leads back to itself: "+strings.Join(names, " -> "), "this closes the circle", "a script may use other scripts, but not itself")
	for _, v := range circle[1 : len(circle)-1] {
		d.Related = append(d.Related, dsl.Related{Place: v.Place, Message: v.Name})
	}
	return d
}

// Effects and reads

func (loaderMessages) noEffect(at dsl.Place) dsl.Diagnostic {
	return problemAt(at, "no-effect", "an effect must say what it does", "none of its keys does", "for example: creates: reminder, or may-create: reminder")
}

func (loaderMessages) twoEffects(at dsl.Place, second, first string) dsl.Diagnostic {
	return problemAt(at, "two-effects", fmt.Sprintf("one effect cannot say both %s and %s", first, second), "the second one", "make it two effects, each with a dash of its own")
}

func (loaderMessages) operandDoesNotApply(at dsl.Place, key, kind string) dsl.Diagnostic {
	to := map[string]string{"where": "updates and deletes", "set": "creates and updates", "with": "triggers and notifies", "at": "triggers", "run": "triggers", "unless": "triggers", "key": "triggers", "again": "triggers"}[key]
	return problemAt(at, "limit-does-not-apply", fmt.Sprintf("%s says nothing about %s", key, kind), "leave it out", fmt.Sprintf("%s goes with %s", key, to))
}

func (loaderMessages) momentOfNothing(at dsl.Place, key string) dsl.Diagnostic {
	about, nothing := map[string]string{"at": "when something begins", "unless": "when something is not done", "key": "what is the same work", "again": "what becomes of work that waits already"}[key], "there is no such work"
	if key == "at" {
		nothing = "nothing begins then"
	}
	return problemAt(at, "moment-of-nothing", fmt.Sprintf("%s says %s, and nothing is run", key, about), nothing, "say what is run, for example: run: client.remind :request-id @request-id")
}

func (loaderMessages) againWithoutKey(at dsl.Place) dsl.Diagnostic {
	return problemAt(at, "again-without-key", "nothing says which pieces of this work are the same", "the same as what?", "name the arguments by which it is told apart, for example: key: [request-id]")
}

func (loaderMessages) notOneCall(at dsl.Place, n int) dsl.Diagnostic {
	return problemAt(at, "not-one-call", "the work of a trigger is one call", fmt.Sprintf("these are %d", n), "make a verb with a script of these calls, and run that")
}

func (loaderMessages) workUndecided(at dsl.Place) dsl.Diagnostic {
	return problemAt(at, "work-undecided", "nothing says whether this work is run", "it may be triggered, and may not", "give the effect a name in one word and, if it is a may-trigger, a condition with when")
}

func (loaderMessages) workWithSecret(at dsl.Place, param string) dsl.Diagnostic {
	return problemAt(at, "work-with-secret", fmt.Sprintf("work cannot be given %s, which is sensitive", param), "it would be kept until its time", "keep the value in a sensitive field, and give the work the row that it is in")
}

func (loaderMessages) prosePromise(at dsl.Place, text, key string) dsl.Diagnostic {
	return problemAt(at, "prose-promise", fmt.Sprintf("%q is a sentence, so %s has nothing to work on", text, key), "an entity is wanted here", "name an entity, or leave out where and set and let a handler keep the promise")
}

func (loaderMessages) operandNotEntity(at dsl.Place, text, kind, entity string) dsl.Diagnostic {
	wanted := "the name of an entity"
	if strings.Contains(kind, "update") {
		wanted = "an entity, or one field of it"
	}
	return problemAt(at, "bad-operand", fmt.Sprintf("%s wants %s; this is %s", kind, wanted, text), "write "+entity)
}

func (loaderMessages) sessionNothing(at dsl.Place, name string) dsl.Diagnostic {
	return problemAt(at, "session-nothing", "session."+name+" is given no value", "an expression is wanted after =", "write a value, such as true or an argument; or leave out the = and let a handler set it")
}

func (loaderMessages) sessionType(at dsl.Place, name string, is *Type, was *Effect) dsl.Diagnostic {
	d := problemAt(at, "session-type", "session."+name+" is "+was.Of.phrase()+" elsewhere, and "+is.phrase()+" here", "a value of another type", "use another name, or the same type in every verb")
	d.Related = append(d.Related, dsl.Related{Place: was.Place, Message: "it is " + was.Of.phrase() + " here"})
	return d
}

func (loaderMessages) sessionActive(at dsl.Place, is *Type) dsl.Diagnostic {
	return problemAt(at, "session-type", "session.active is the row that somebody is at work on; this is "+is.phrase(), "a reference is wanted", "set it from an argument of type ref; a reference to one entity says what kind of row it is")
}

func (loaderMessages) followUpsOfWhat(at dsl.Place, name string) dsl.Diagnostic {
	return problemAt(at, "schema-of", ":"+name+" has no schema of a code, so nothing of it can be asked later", "follow-ups is for an object with schema-of", "name the code that says what kind of object it is: schema-of: ARGUMENT")
}

func (loaderMessages) refDefault(at dsl.Place, name, value string) dsl.Diagnostic {
	d := problemAt(at, "bad-value", fmt.Sprintf("%s is a ref, which can have no default that names a row; this is %s", name, value), "active is wanted here, or no default", "default: active is the row that whoever asks is at work on")
	d.Fixes = replacements(at, []string{activeWord}, "")
	return d
}

func (loaderMessages) activeOfWhat(at dsl.Place, p *Param) dsl.Diagnostic {
	is := "any row"
	d := problemAt(at, "default-active", "", "leave the default out", "people are at work on what they are given access to: a ref to an entity whose scope is self")
	if e := p.Type.Entity; e != nil {
		is = "a row of " + e.Store.Name
		d.Related = []dsl.Related{{Place: e.Place, Message: "it belongs to something else"}}
	}
	d.Summary = fmt.Sprintf(":%s is %s, and nobody is at work on one of those", p.Name, is)
	return d
}

func (loaderMessages) keyChanged(at dsl.Place, name string, e *Entity) dsl.Diagnostic {
	return problemAt(at, "key-changed", fmt.Sprintf("%s is the key of %s and cannot be set", name, e.Store.Name), "leave it out", "a new row is given its key, and keeps it")
}

func (loaderMessages) outsidePromise(at dsl.Place, e *Entity, name, promised string, promise dsl.Place) dsl.Diagnostic {
	d := problemAt(at, "outside-promise", fmt.Sprintf("only %s may change, and this sets %s", promised, name), "outside what is promised", fmt.Sprintf("write updates: %s, to promise every field under set", e.Store.Name))
	d.Related = []dsl.Related{{Place: promise, Message: "promised here"}}
	return d
}

func (loaderMessages) missingFields(at dsl.Place, e *Entity, names []string) dsl.Diagnostic {
	verb := "needs"
	return problemAt(at, "missing-field", fmt.Sprintf("a new %s %s %s", e.Store.Name, verb, listed(names, "and")), "missing here", "set it, give the field a default, or make it not required")
}

func (loaderMessages) missingWhere(at dsl.Place, e *Entity, v *Verb) dsl.Diagnostic {
	d := problemAt(at, "missing-where", fmt.Sprintf("which rows of %s change is not said", e.Store.Name), "where is missing", "where: ARGUMENT is the row that it refers to; where: EXPRESSION is every row for which it holds")
	for i := range v.Params {
		if t := v.Params[i].Type; t != nil && t.Name == RefType && t.Entity == e {
			d.Notes = append(d.Notes, "the argument you may mean: where: "+v.Params[i].Name)
		}
	}
	return d
}

func (loaderMessages) whereNotReference(at dsl.Place, p *Param, e *Entity) dsl.Diagnostic {
	d := problemAt(at, "type-mismatch", fmt.Sprintf(":%s is %s and does not name a row of %s", p.Name, p.Type.phrase(), e.Store.Name), "a reference is wanted here")
	d.Related = []dsl.Related{{Place: p.Place, Message: p.Type.phrase() + ", declared here"}}
	return d
}

func (loaderMessages) whereOtherEntity(at dsl.Place, p *Param, e *Entity) dsl.Diagnostic {
	d := problemAt(at, "type-mismatch", fmt.Sprintf(":%s refers to %s, not to %s", p.Name, p.Type.Entity.Store.Name, e.Store.Name), "a reference to "+e.Store.Name+" is wanted here")
	d.Related = []dsl.Related{{Place: p.Place, Message: p.Type.phrase() + ", declared here"}}
	return d
}

func (loaderMessages) oneNotRequired(at dsl.Place, p *Param) dsl.Diagnostic {
	d := problemAt(at, "contradiction", fmt.Sprintf("one row is read by :%s, which may be left out", p.Name), "it must be given", "write required: true for the argument, or leave out `one`")
	d.Related = []dsl.Related{{Place: p.Place, Message: "declared here"}}
	return d
}

func (loaderMessages) notOrdered(at dsl.Place, path, typ string) dsl.Diagnostic {
	return problemAt(at, "type-mismatch", fmt.Sprintf("%s is %s, which has no order", path, article(typ)+" "+typ), "sort by something else")
}

func (loaderMessages) badCount(at dsl.Place, text string) dsl.Diagnostic {
	return problemAt(at, "bad-operand", fmt.Sprintf("%s does not say what to count", text), "count(ENTITY.FIELD)", "it counts the rows of ENTITY whose reference FIELD is this row")
}

func (loaderMessages) badList(at dsl.Place, text string) dsl.Diagnostic {
	return problemAt(at, "bad-operand", fmt.Sprintf("%s does not say which rows", text), "ENTITY.FIELD", "they are the rows of ENTITY whose reference FIELD, or the end of a path of references, is this row")
}

func (loaderMessages) unknownList(at dsl.Place, name string, lists []ReadList) dsl.Diagnostic {
	var names []string
	for i := range lists {
		names = append(names, lists[i].Name)
	}
	return misnamed(at, "unknown-list", "no list is called "+quoted(name), name, names, "lists of this read")
}

func (loaderMessages) keyInList(at dsl.Place, list, field string) dsl.Diagnostic {
	return problemAt(at, "key-in-list", fmt.Sprintf("%s of %s is a reference, and a list shows no names", field, list), "a field of that row is wanted here", "name what people know it by, such as entity.name; a reference can be a field of the read itself")
}

func (loaderMessages) notDescribed(at dsl.Place, path string, t *Type) dsl.Diagnostic {
	return problemAt(at, "bad-operand", fmt.Sprintf("%s is %s, of which the palettes say nothing", path, t.phrase()), "a code of a declared list, or a list of them, is wanted here")
}

func (loaderMessages) noProgress(at dsl.Place, e *Entity) dsl.Diagnostic {
	return problemAt(at, "no-progress", fmt.Sprintf("%s does not say what its progress is", e.Store.Name), "not declared", "add progress: {of: ENTITY.PATH, done: CONDITION} to the entity")
}

func (loaderMessages) noStages(at dsl.Place, e *Entity) dsl.Diagnostic {
	d := problemAt(at, "no-progress", fmt.Sprintf("the progress of %s has no stages", e.Store.Name), "not declared", "add stage: FIELD to it, a code whose list is in the order of the stages")
	d.Related = []dsl.Related{{Place: e.Progress.Place, Message: "declared here"}}
	return d
}

func (loaderMessages) progressType(at dsl.Place, key string, e *Entity, i int, wanted string) dsl.Diagnostic {
	d := problemAt(at, "type-mismatch", fmt.Sprintf("%s of %s is %s", e.Store.Fields[i].Name, e.Store.Name, e.Fields[i].Type.phrase()), wanted+" is wanted for "+key)
	d.Related = []dsl.Related{{Place: e.Fields[i].Place, Message: "declared here"}}
	return d
}

func (loaderMessages) countNotReference(at dsl.Place, e *Entity, field string, row *Entity) dsl.Diagnostic {
	var to []string
	for i := range e.Fields {
		if t := e.Fields[i].Type; t != nil && t.Name == RefType && t.Entity == row {
			to = append(to, e.Store.Fields[i].Name)
		}
	}
	d := problemAt(at, "not-a-reference", fmt.Sprintf("%s of %s does not refer to %s", field, e.Store.Name, row.Store.Name), "a reference to "+row.Store.Name+" is wanted here")
	if len(to) > 0 {
		d.Notes = []string{"references to " + row.Store.Name + ": " + strings.Join(to, ", ")}
		d.Fixes = replacements(at, to, "")
	}
	return d
}

func (loaderMessages) notReturned(at dsl.Place, name, by string) dsl.Diagnostic {
	where := "fields"
	if by == "query" || by == "tool" {
		where = "columns"
	}
	return problemAt(at, "not-returned", fmt.Sprintf("%s is promised, and %s does not give it", name, by), "no such name under "+where, "add it to "+where+", or take it out of includes")
}

// Expressions

func (loaderMessages) exprSyntax(at dsl.Place, summary, label string, notes ...string) dsl.Diagnostic {
	return problemAt(at, "bad-expression", summary, label, notes...)
}

// exprFault is what is wrong with the text of an expression.
func (loaderMessages) exprFault(at dsl.Place, e *expr.Error, word string) dsl.Diagnostic {
	d := problemAt(at, e.Code, e.Summary, e.Label, e.Notes...)
	if e.Write != "" {
		d.Fixes = replacements(at, []string{e.Write}, "")
	}
	if near := nearest(word, e.Legal); len(near) > 0 {
		d.Label, d.Fixes = didYouMean(near), replacements(at, near, "")
	}
	return d
}

func (loaderMessages) unknownName(at dsl.Place, word string, legal []string) dsl.Diagnostic {
	return misnamed(at, "unknown-name", fmt.Sprintf("nothing is called %q here", word), word, legal, "names")
}

func (loaderMessages) unknownFunction(at dsl.Place, word string) dsl.Diagnostic {
	return misnamed(at, "unknown-function", fmt.Sprintf("no function is called %q", word), word, functionNames, "functions")
}

func (loaderMessages) noRow(at dsl.Place) dsl.Diagnostic {
	return problemAt(at, "unknown-name", "there is no row here", "only effects that change rows, and reads, have one", "the row that a reference argument names is ARGUMENT.FIELD")
}

func (loaderMessages) unknownCodeIn(at dsl.Place, word string, list *CodeList) dsl.Diagnostic {
	d := misnamed(at, "unknown-code", fmt.Sprintf("%s has no code %s", list.Name, word), word, list.names(), "codes of "+list.Name)
	if list.Place.Source != nil {
		d.Related = []dsl.Related{{Place: list.Place, Message: "the list is declared here"}}
	}
	return d
}

func (loaderMessages) codeInQuotes(at dsl.Place, word string) dsl.Diagnostic {
	d := problemAt(at, "type-mismatch", fmt.Sprintf("%q is text; a code is wanted", word), "a code has no quotes")
	if isCode(word) {
		d.Fixes = replacements(at, []string{word}, "")
	}
	return d
}

func (loaderMessages) mismatch(at dsl.Place, summary, label string) dsl.Diagnostic {
	return problemAt(at, "type-mismatch", summary, label)
}

func (loaderMessages) filterTooMuch(at dsl.Place, what string) dsl.Diagnostic {
	return problemAt(at, "not-a-filter", "a store cannot select rows by "+what, "not over `row`", "compare a field of `row` with something else: and, or, not, ==, !=, <, <=, >, >=, in")
}

func quoted(s string) string { return strconv.Quote(s) }

func (loaderMessages) passesOnNil(at dsl.Place, path string) dsl.Diagnostic {
	d := problemAt(at, "passes-on-nil", fmt.Sprintf("this holds where %s is nil", path), "nil passes", "ask what it is when it is there: "+path+" != nil and …; or say that this is meant: nil: passes")
	d.Severity = dsl.Warning
	return d
}

func (loaderMessages) unheldSchema(at dsl.Place, v *Verb, object, code, ref *Param, field string) dsl.Diagnostic {
	d := problemAt(at, "unheld-schema", fmt.Sprintf(":%s picks the schema of :%s, and nothing holds it against :%s", code.Name, object.Name, ref.Name), "any of its codes is taken for any row",
		fmt.Sprintf("add to requires: {that: %s.%s == %s, else: TEXT}", ref.Ident, field, code.Ident))
	d.Severity = dsl.Warning
	d.Related = []dsl.Related{{Place: ref.Place, Message: "the row is named here"}}
	return d
}

func (loaderMessages) mayBeAbsent(at dsl.Place, p *Param) dsl.Diagnostic {
	d := problemAt(at, "may-be-absent", fmt.Sprintf(":%s may be left out, and a value is needed here", p.Name), "it may be absent", fmt.Sprintf("ask first: %s != nil and …; or make the argument required, or give it a default", p.Ident))
	d.Severity = dsl.Warning
	d.Related = []dsl.Related{{Place: p.Place, Message: "declared here"}}
	return d
}

func (loaderMessages) notText(at dsl.Place, path string, t *Type) dsl.Diagnostic {
	return problemAt(at, "type-mismatch", fmt.Sprintf("%s is %s, which does not read as a line of text", path, t.phrase()), "a single value is wanted here")
}
