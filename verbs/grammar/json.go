package grammar

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/jsondoc"
	"verbatim/verbs/message"
)

// Endpoints that take no grammar take a JSON Schema, or tools with one each. Both meet the
// requirements of strict modes: every key is required, an optional one may be null, and there are
// no others. Decimals are texts, because JSON numbers are rounded on the way.

// A member is one key of an object; objects keep their order.
type member struct {
	key   string
	value any
}

type object []member

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(m.key) // of texts and numbers: it cannot fail
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(append(key, ':'))
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// JSONSchema returns the schema of {"calls": [{"verb": …, "args": {…}}, …]}.
func JSONSchema(v Vocabulary) ([]byte, error) {
	b := newJSONBuilder(v)
	for _, verb := range v.Verbs {
		b.arguments(verb)
	}
	b = b.again()
	calls := []any{}
	for _, verb := range v.Verbs {
		args, ok := b.arguments(verb)
		if !ok {
			continue
		}
		calls = append(calls, object{
			{"type", "object"},
			{"description", verb.Description},
			{"properties", object{{"verb", object{{"type", "string"}, {"const", verb.Name}}}, {"args", args}}},
			{"required", []string{"verb", "args"}},
			{"additionalProperties", false},
		})
	}
	list := object{{"type", "array"}}
	if len(calls) > 0 {
		list = append(list, member{"minItems", 1}, member{"items", object{{"anyOf", calls}}})
	} else {
		list = append(list, member{"maxItems", 0})
	}
	if v.Calls > 0 && len(calls) > 0 {
		list = append(list, member{"maxItems", v.Calls})
	}
	return json.Marshal(b.finish(object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"type", "object"},
		{"properties", object{{"calls", list}}},
		{"required", []string{"calls"}},
		{"additionalProperties", false},
	}))
}

// A Tool is a verb as a tool that a model may call.
type Tool struct {
	Verb        *verbs.Verb
	Name        string // in the form that endpoints allow: no dots
	Description string
	Parameters  json.RawMessage // a JSON Schema of its arguments
	doc         object          // the same, as an object
}

// Tools makes a tool of every verb that can be used. Call converts a model's tool call into a
// call.
func Tools(v Vocabulary) ([]Tool, error) {
	var tools []Tool
	for _, verb := range v.Verbs {
		b := newJSONBuilder(v)
		args, ok := b.arguments(verb)
		if !ok {
			continue
		}
		if len(b.rows) > 0 {
			b = b.again()
			args, _ = b.arguments(verb)
		}
		doc := b.finish(args)
		text, err := json.Marshal(doc)
		if err != nil {
			return nil, err
		}
		tools = append(tools, Tool{Verb: verb, Name: toolName(verb.Name), Description: verb.Description, Parameters: text, doc: doc})
	}
	return tools, nil
}

// Plain returns a schema of the arguments for callers that leave out optional ones, as programs
// do: Parameters requires null instead. Dates have a format in place of a pattern that lists
// them.
func (t *Tool) Plain() (json.RawMessage, error) {
	doc, _ := daysByFormat(t.doc).(object)
	props, _ := doc.get("properties").(object)
	required := []string{}
	for i := range t.Verb.Params {
		if p := &t.Verb.Params[i]; p.Required && props.get(p.Name) != nil {
			required = append(required, p.Name)
		}
	}
	for i := range doc {
		if doc[i].key == "required" {
			doc[i].value = required
		}
	}
	return json.Marshal(doc)
}

// daysByFormat copies a schema with formats in place of the patterns of dates.
func daysByFormat(s any) any {
	switch s := s.(type) {
	case object:
		out := make(object, 0, len(s))
		for _, m := range s {
			if m.key != "pattern" || s.get("format") != "date" {
				out = append(out, member{m.key, daysByFormat(m.value)})
			}
		}
		return out
	case []any:
		out := make([]any, len(s))
		for i := range s {
			out[i] = daysByFormat(s[i])
		}
		return out
	}
	return s
}

// toolName returns a name of letters, digits, underscores and hyphens, no longer than endpoints take.
func toolName(verb string) string {
	name := strings.ReplaceAll(verb, ".", "__")
	if len(name) <= maxHostedName {
		return name
	}
	digest := sha256.Sum256([]byte(verb)) // others may begin alike
	end := "-" + hex.EncodeToString(digest[:4])
	return name[:maxHostedName-len(end)] + end
}

type jsonBuilder struct {
	b    *builder
	defs object            // schemas of palettes, which their own references lead into, and names of rows
	rows map[string]string // key in defs of the names of rows, by content
	uses map[string]int    // how often each of those is used
	last bool              // uses is known: a schema that is used once is written where it is used
}

func newJSONBuilder(v Vocabulary) *jsonBuilder {
	return &jsonBuilder{b: &builder{v: v, g: &Grammar{rules: map[string]node{}, leaf: map[string]bool{}}, of: map[string]string{}}}
}

// again returns a builder that knows the uses counted by this one.
func (b *jsonBuilder) again() *jsonBuilder {
	next := newJSONBuilder(b.b.v)
	next.uses, next.last = b.uses, true
	return next
}

func (b *jsonBuilder) finish(doc object) object {
	if len(b.defs) > 0 {
		doc = append(doc, member{"$defs", b.defs})
	}
	return doc
}

func (b *jsonBuilder) arguments(v *verbs.Verb) (object, bool) {
	if v.Internal {
		return nil, false
	}
	props, required := object{}, []string{}
	optional := 0
	for i := range v.Params {
		if !v.Params[i].Required {
			optional++
		}
	}
	for i := range v.Params {
		p := &v.Params[i]
		b.b.param = p
		s, ok := b.of(p.Type)
		if !ok {
			if p.Required {
				return nil, false
			}
			continue
		}
		if b.b.v.Brief && !p.Required && optional > mostTold {
			props = append(props, member{p.Name, slices.DeleteFunc(s, func(m member) bool { return m.key == "pattern" })})
			continue
		}
		says := p.Description
		if of, ok := s.get("description").(string); ok && b.b.v.Brief && !p.Required { // once, for both forms
			s, says = s[1:], strings.TrimPrefix(says+": "+of, ": ")
		}
		if !p.Required {
			s = object{{"anyOf", []any{s, object{{"type", "null"}}}}}
		}
		switch {
		case p.Active:
			says = strings.TrimPrefix(says+"; null: the one at work on", "; ")
		case p.DefaultDay != nil:
			says = strings.TrimPrefix(says+"; null is "+p.DefaultDay.String(), "; ")
		case !p.Default.IsNull() && !p.Sensitive:
			says = strings.TrimPrefix(says+"; null is "+p.Default.Text(), "; ")
		}
		props, required = append(props, member{p.Name, described(says, s)}), append(required, p.Name)
	}
	return closed(props, required), true
}

// mostTold is how many optional arguments of a verb have their descriptions in a prompt. If there are
// more, they have their names and types, and may be left out instead of null: an operation of an API may
// have thirty.
const mostTold = 8

// maxEnum is how many names of rows of one entity are listed. If there are more, any name is
// allowed, and a read finds them.
const maxEnum = 250

// rowsOf returns the schema of a name, shared by all arguments that use it.
func (b *jsonBuilder) rowsOf(t *verbs.Type, names []string) object {
	all := strings.Join(names, " ")
	at, known := b.rows[all]
	if !b.last {
		if b.uses == nil {
			b.uses = map[string]int{}
		}
		b.uses[all]++
	}
	if !known {
		of := "row"
		if t.Entity != nil {
			of = t.Entity.Store.Name
		}
		at = "names-of-" + of
		for n := 2; b.defs.get(at) != nil; n++ {
			at = fmt.Sprintf("names-of-%s-%d", of, n)
		}
		s := object{{"type", "string"}, {"enum", names}}
		if len(names) > maxEnum {
			says := fmt.Sprintf("the name of %s, such as %s", message.Article(of), names[0])
			if read := b.finds(t.Entity); read != "" {
				says += "; " + read + " finds others"
			}
			s = described(says, object{{"type", "string"}, {"pattern", "^(?:" + ecma(regexpOf(anyName())) + ")$"}})
		}
		if b.last && b.uses[all] == 1 {
			return s
		}
		if b.rows == nil {
			b.rows = map[string]string{}
		}
		b.rows[all], b.defs = at, append(b.defs, member{at, s})
	}
	return object{{"$ref", "#/$defs/" + at}}
}

// anyOf describes a name if none are listed.
func (b *jsonBuilder) anyOf(e *verbs.Entity) string {
	if e == nil {
		return "the name of a row, which begins with @"
	}
	says := "the name of " + message.Article(e.Store.Name) + ", which begins with @"
	if read := b.finds(e); read != "" {
		says += "; " + read + " tells it"
	}
	return says
}

// finds returns the read that lists rows of an entity; if there are several, the one that
// requires least.
func (b *jsonBuilder) finds(e *verbs.Entity) string {
	name, least := "", -1
	for _, v := range b.b.v.Verbs {
		if e == nil || v.Read == nil || v.Read.One || v.Read.Entity != e || v.Internal {
			continue
		}
		needs := 0
		for i := range v.Params {
			if v.Params[i].Required {
				needs++
			}
		}
		if least < 0 || needs < least {
			name, least = v.Name, needs
		}
	}
	return name
}

// described puts the description of a value before its schema.
func described(says string, s object) object {
	if says == "" {
		return s
	}
	if s.get("$ref") != nil { // some readers accept nothing else beside it
		s = object{{"anyOf", []any{s}}}
	}
	if of, ok := s.get("description").(string); ok { // names that are too many to list
		s, says = s[1:], says+": "+of
	}
	return append(object{{"description", says}}, s...)
}

// closed returns the schema of an object that has these keys, and no others.
func closed(props object, required []string) object {
	return object{{"type", "object"}, {"properties", props}, {"required", required}, {"additionalProperties", false}}
}

// record returns the schema of a record: an optional field may be null.
func (b *jsonBuilder) record(t *verbs.Type) (object, bool) {
	props, required := object{}, []string{}
	for i := range t.Fields {
		f := &t.Fields[i]
		s, ok := b.of(f.Type)
		if !ok {
			if f.Required {
				return nil, false
			}
			continue
		}
		if !f.Required {
			s = object{{"anyOf", []any{s, object{{"type", "null"}}}}}
		}
		props, required = append(props, member{f.Name, described(f.Description, s)}), append(required, f.Name)
	}
	return closed(props, required), true
}

func (b *jsonBuilder) of(t *verbs.Type) (object, bool) {
	text := object{{"type", "string"}}
	pattern := func(p string) object { return append(text, member{"pattern", "^(?:" + ecma(p) + ")$"}) }
	switch t.Name {
	case verbs.StringType, verbs.EmailType:
		if t.MinLength > 0 {
			text = append(text, member{"minLength", t.MinLength})
		}
		if t.MaxLength > 0 {
			text = append(text, member{"maxLength", t.MaxLength})
		}
		if t.Pattern != nil {
			text = append(text, member{"pattern", ecma(t.Pattern.String())})
		}
		if t.Name == verbs.EmailType {
			text = append(text, member{"format", "email"})
		}
		return text, true
	case verbs.IntegerType:
		// Bounds that every integer has are not written: xgrammar refuses them (0.1.27).
		s := object{{"type", "integer"}}
		if !t.Min.IsNull() {
			s = append(s, member{"minimum", json.Number(t.Min.Text())})
		}
		if !t.Max.IsNull() {
			s = append(s, member{"maximum", json.Number(t.Max.Text())})
		}
		return s, t.Min.IsNull() || t.Max.IsNull() || t.Min.Int() <= t.Max.Int()
	case verbs.DecimalType:
		return pattern(regexpOf(decimals(t.Min, t.Max, t.Scale))), true
	case verbs.BooleanType:
		return object{{"type", "boolean"}}, true
	case verbs.DateType:
		n, ok := b.b.scalar(t, "")
		if !ok {
			return nil, false
		}
		if b.b.v.Brief {
			return append(text, member{"format", "date"}), true
		}
		return append(pattern(regexpOf(n)), member{"format", "date"}), true
	case verbs.DateTimeType:
		if b.b.v.Brief {
			return append(text, member{"format", "date-time"}), true
		}
		return pattern(regexpOf(instants())), true
	case verbs.DurationType:
		return pattern(strings.Trim(regexpOf(durations()), `\"`)), true
	case verbs.UUIDType:
		return append(text, member{"format", "uuid"}), true
	case verbs.IBANType:
		if b.b.v.Brief {
			return described("an IBAN", text), true
		}
		return pattern(`[A-Za-z]{2}[ \-]?[0-9]{2}(?:[ \-]?[A-Za-z0-9]){11,29}`), true
	case verbs.BICType:
		if b.b.v.Brief {
			return described("a BIC", text), true
		}
		return pattern(`(?:[ \-]?[A-Za-z0-9]){8}(?:(?:[ \-]?[A-Za-z0-9]){3})?`), true
	case verbs.LEIType:
		if b.b.v.Brief {
			return described("an LEI", text), true
		}
		return pattern(`[A-Za-z0-9](?:[ \-]?[A-Za-z0-9]){17}(?:[ \-]?[0-9]){2}`), true
	case verbs.NationalIDType:
		return append(text, member{"minLength", 1}, member{"maxLength", 60}), true
	case verbs.PhoneType:
		if t.Country == "" && t.CountryOf == "" {
			return pattern(`(?:\+|00)[ ()]?[1-9](?:[ \-./()]{0,2}[0-9]){4,14}`), true
		}
		return pattern(`\+?[ (]?[0-9](?:[ \-./()]{0,2}[0-9]){3,17}`), true
	case verbs.CodeType:
		if t.Codes == nil {
			return pattern(`[A-Z][A-Z0-9_]{0,40}`), true
		}
		words := make([]string, len(t.Codes.Codes))
		for i, c := range t.Codes.Codes {
			words[i] = c.Name
		}
		return append(text, member{"enum", words}), len(words) > 0
	case verbs.RefType:
		switch {
		case b.b.v.Brief && t.Entity != nil:
			return described("@"+t.Entity.Store.Name, text), true
		case b.b.v.Brief:
			return described("@name", text), true
		case b.b.v.Names == nil:
			return described(b.anyOf(t.Entity), pattern(regexpOf(anyName()))), true
		}
		names := b.b.names(t)
		if len(names) == 0 { // an enum without values is no schema
			return nil, false
		}
		return b.rowsOf(t, names), true
	case verbs.MoneyType:
		amount, ok := b.of(t.Amount())
		return object{
			{"type", "object"},
			{"properties", object{{"amount", amount}, {"currency", object{{"type", "string"}, {"enum", t.CurrencyCodes()}}}}},
			{"required", []string{"amount", "currency"}},
			{"additionalProperties", false},
		}, ok
	case verbs.ListType:
		s := object{{"type", "array"}}
		if t.MinLength > 0 {
			s = append(s, member{"minItems", t.MinLength})
		}
		if t.MaxLength > 0 {
			s = append(s, member{"maxItems", t.MaxLength})
		}
		if t.Item == nil {
			return s, true
		}
		item, ok := b.of(t.Item)
		if !ok {
			return append(s, member{"maxItems", 0}), t.MinLength == 0
		}
		return append(s, member{"items", item}), true
	case verbs.ObjectType:
		return b.schema(t)
	case verbs.RecordType:
		return b.record(t)
	case verbs.CallType:
		return object{{"type", "string"}, {"description", "a call in brackets: (verb :argument value)"}}, true
	}
	return object{{"anyOf", []any{object{{"type", "string"}}, object{{"type", "number"}}, object{{"type", "boolean"}}}}}, true
}

// schema adds the palette's schema to the definitions, with references to its own parts adjusted.
func (b *jsonBuilder) schema(t *verbs.Type) (object, bool) {
	if t.Schema == nil {
		return object{{"type", "object"}}, true
	}
	doc, err := jsondoc.Decode(string(t.Schema.Text()))
	if err != nil {
		return nil, false
	}
	name := fmt.Sprintf("object-%d", len(b.defs)+1)
	here := "#/$defs/" + name
	relocate(doc, here)
	b.defs = append(b.defs, member{name, doc})
	return object{{"$ref", here}}, true
}

// relocate adjusts references from the top of a schema to its new place. A step that is a fraction
// becomes words, and the checker holds it: readers that divide binary fractions say that 19.99 is no
// multiple of 0.01.
func relocate(doc any, here string) {
	switch d := doc.(type) {
	case map[string]any:
		delete(d, "$id")
		delete(d, "$schema")
		if step, ok := d["multipleOf"].(json.Number); ok && strings.ContainsAny(step.String(), ".eE") {
			said, _ := d["description"].(string)
			d["description"] = strings.TrimPrefix(said+"; in steps of "+step.String(), "; ")
			delete(d, "multipleOf")
		}
		if ref, ok := d["$ref"].(string); ok && strings.HasPrefix(ref, "#") {
			d["$ref"] = here + ref[1:]
		}
		for _, v := range d {
			relocate(v, here)
		}
	case []any:
		for _, v := range d {
			relocate(v, here)
		}
	}
}

// ecma converts one of our regular expressions to ECMA-262 with the flag u, which JSON Schema
// uses: there, only characters with a special meaning may be escaped.
func ecma(expression string) string {
	var b strings.Builder
	class := false
	for rest := expression; rest != ""; {
		c, size := utf8.DecodeRuneInString(rest)
		if c == '\\' && len(rest) > 1 {
			switch next := rest[1]; {
			case next == 'u' && len(rest) >= 6, next == 'U' && len(rest) >= 10:
				size = map[byte]int{'u': 6, 'U': 10}[next]
				n, _ := strconv.ParseUint(rest[2:size], 16, 32)
				b.WriteRune(rune(n))
			case strings.ContainsRune(`"&~#`, rune(next)), next == '-' && !class:
				size = 2
				b.WriteByte(next)
			default:
				size = 2
				b.WriteString(rest[:2])
			}
			rest = rest[size:]
			continue
		}
		switch c {
		case '[':
			class = true
		case ']':
			class = false
		}
		b.WriteRune(c)
		rest = rest[size:]
	}
	return b.String()
}

func regexpOf(n node) string {
	var b strings.Builder
	writeRegexp(&b, tidy(n), anywhere)
	return b.String()
}

// Call converts a model's tool call into a call, given the name and the arguments.
func Call(v Vocabulary, tool, arguments string) (dsl.Call, error) {
	var args map[string]any
	if strings.TrimSpace(arguments) != "" { // some models leave them out
		if err := decode(arguments, &args); err != nil {
			return dsl.Call{}, err
		}
	}
	for _, verb := range v.Verbs {
		if toolName(verb.Name) == tool {
			return callOf(v, verb.Name, args)
		}
	}
	return callOf(v, strings.ReplaceAll(tool, "__", "."), args)
}

func decode(text string, into any) error {
	if !utf8.ValidString(text) {
		return errors.New("the answer is not UTF-8")
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("the answer is not the JSON that was asked for: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more behind the JSON that was asked for")
	}
	return nil
}

// callOf makes a call, with its arguments in the order of the palette and unknown ones after
// them.
func callOf(v Vocabulary, name string, args map[string]any) (dsl.Call, error) {
	call := dsl.NewCall(name)
	left := maps.Clone(args)
	for _, verb := range v.Verbs {
		if verb.Name != name {
			continue
		}
		for i := range verb.Params {
			p := &verb.Params[i]
			value, there := left[p.Name]
			delete(left, p.Name)
			if there && value != nil {
				call.Args = append(call.Args, dsl.NewArg(p.Name, valueOf(p.Type, value)))
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(left)) {
		if left[key] != nil {
			call.Args = append(call.Args, dsl.NewArg(key, jsondoc.Value(left[key])))
		}
	}
	if err := call.Err(); err != nil {
		return call, err
	}
	return call, nil
}

// valueOf converts a JSON value to a value of the type, or unchanged if it does not fit.
func valueOf(t *verbs.Type, v any) dsl.Value {
	word, isText := v.(string)
	fits := func(w dsl.Value) dsl.Value {
		if w.Kind == dsl.Invalid {
			return jsondoc.Value(v)
		}
		return w
	}
	switch {
	case t.Name == verbs.ListType && t.Item != nil:
		if list, ok := v.([]any); ok {
			items := make([]dsl.Value, len(list))
			for i := range list {
				items[i] = valueOf(t.Item, list[i])
			}
			return dsl.NewList(items...)
		}
	case t.Name == verbs.RecordType:
		if m, ok := v.(map[string]any); ok {
			return recordOf(t, m)
		}
	case t.Name == verbs.MoneyType:
		if m, ok := v.(map[string]any); ok && m["amount"] != nil && m["currency"] != nil && len(m) == 2 {
			currency, _ := m["currency"].(string)
			if code := dsl.NewCode(currency); code.Kind == dsl.Code {
				return dsl.NewMap(dsl.NewArg("amount", valueOf(t.Amount(), m["amount"])), dsl.NewArg("currency", code))
			}
		}
	case !isText:
	case t.Name == verbs.DecimalType || t.Name == verbs.IntegerType:
		return fits(dsl.NewNumber(word))
	case t.Name == verbs.DateType:
		return fits(dsl.NewDate(word))
	case t.Name == verbs.DateTimeType:
		return fits(dsl.NewDateTime(word))
	case t.Name == verbs.UUIDType:
		return fits(dsl.NewUUID(word))
	case t.Name == verbs.CodeType:
		return fits(dsl.NewCode(word))
	case t.Name == verbs.RefType && strings.HasPrefix(word, "@"):
		return fits(dsl.NewSymbol(word[1:]))
	case t.Name == verbs.CallType:
		if s, ds := dsl.Parse(dsl.NewSource("call", word)); !ds.HasErrors() && len(s.Calls) == 1 {
			return fits(dsl.NewNested(s.Calls[0]))
		}
	}
	return jsondoc.Value(v)
}

// recordOf converts a record, with its fields in the order of the palette and unknown ones after
// them. A null field is left out.
func recordOf(t *verbs.Type, m map[string]any) dsl.Value {
	var entries []dsl.Arg
	left := maps.Clone(m)
	for i := range t.Fields {
		f := &t.Fields[i]
		if v := left[f.Name]; v != nil {
			entries = append(entries, dsl.NewArg(f.Name, valueOf(f.Type, v)))
		}
		delete(left, f.Name)
	}
	for _, key := range slices.Sorted(maps.Keys(left)) {
		if left[key] != nil {
			entries = append(entries, dsl.NewArg(key, jsondoc.Value(left[key])))
		}
	}
	return dsl.NewMap(entries...)
}
