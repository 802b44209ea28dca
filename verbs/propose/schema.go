package propose

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/jsondoc"
	"verbatim/verbs/message"
	"verbatim/verbs/naming"
	"verbatim/verbs/values"
)

// A wording is a JSON Schema expressed as the type of an argument.
type wording struct {
	keys  string            // "string, max-length: 20"
	is    verbs.Type        // for checking examples
	codes map[string]string // of an enumeration, by its values
}

// typed expresses a schema in the words of a palette. It notes what is lost on the way; why says
// why the schema cannot be expressed, "" if it can.
func (p *describer) typed(v any, name string) (w wording, why string) {
	if p.nested++; p.nested > mostNested {
		return w, "its schema leads to itself"
	}
	defer func() { p.nested-- }()
	m, why := p.flat(v, 0)
	if why != "" {
		return w, why
	}
	whole, ref := v, ""
	if of, ok := v.(map[string]any); ok {
		if ref, _ = of["$ref"].(string); ref != "" {
			name = refName(ref)
			whole, _ = p.lookup(ref)
		}
	}
	if m, whole, why = p.alternative(m, whole); why != "" {
		return w, why
	}
	kind := jsonKindOf(m)
	rest := maps.Clone(m)
	use := func(key string) any { delete(rest, key); return m[key] }
	maps.DeleteFunc(rest, func(k string, v any) bool { return annotations[k] || strings.HasPrefix(k, "x-") })
	w.is.Scale = -1
	say := func(name verbs.TypeName, more string) { w.is.Name, w.keys = name, name.String()+more }
	switch kind {
	case "string":
		format, _ := m["format"].(string)
		if format == "binary" || m["contentEncoding"] == "binary" {
			return w, "it is a file"
		}
		if values, ok := enumTexts(m["enum"], m["const"]); ok {
			return p.coded(values, name), ""
		}
		switch format {
		case "date", "email", "uuid":
			name, _ := verbs.TypeNamed(format)
			say(name, "")
		case "date-time":
			say(verbs.DateTimeType, "")
		default:
			say(verbs.StringType, "")
		}
		if w.is.Name == verbs.StringType || w.is.Name == verbs.EmailType {
			w.keys += p.lengths(&w.is, use("minLength"), use("maxLength"))
			if text, _ := m["pattern"].(string); text != "" {
				if own, ok := ownPattern(text); ok {
					use("pattern")
					w.keys += ", pattern: " + seenPattern(own)
					w.is.Pattern = regexp.MustCompile("^(?:" + own + ")$")
				}
			}
		} else {
			for _, key := range []string{"minLength", "maxLength", "pattern"} {
				use(key) // the format of a date determines its length
			}
		}
	case "integer", "number":
		if kind == "integer" {
			say(verbs.IntegerType, "")
		} else {
			say(verbs.DecimalType, "")
		}
		if scale, ok := scaleOf(m["multipleOf"]); ok && (kind == "number" || scale == 0) {
			if use("multipleOf"); kind == "number" {
				w.is.Scale, w.keys = scale, w.keys+", scale: "+strconv.Itoa(scale)
			}
		}
		if values := listOf(m["enum"]); len(values) > 0 && m["minimum"] == nil && m["maximum"] == nil {
			all := false
			if m, all = betweenThem(m, values); all && kind == "integer" {
				use("enum")
			}
		}
		w.keys += p.bounds(&w.is, m)
		for _, key := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} {
			use(key)
		}
	case "boolean":
		say(verbs.BooleanType, "")
	case "array":
		item := wording{keys: "any"}
		if items := use("items"); items != nil && m["prefixItems"] == nil {
			if _, tuple := items.([]any); tuple {
				p.lose("which item is what")
			} else if item, why = p.typed(items, name); why != "" {
				return w, "of its items: " + why
			}
		}
		of := item.keys
		if strings.Contains(of, ",") {
			of = "{type: " + of + "}"
		}
		say(verbs.ListType, ", of: "+of)
		w.keys += p.lengths(&w.is, use("minItems"), use("maxItems"))
	case "object":
		keys, why := p.object(m, whole, name, ref)
		if why != "" {
			return w, why
		}
		say(verbs.ObjectType, keys)
		clear(rest)
	default:
		say(verbs.AnyType, "")
		if len(m) > 0 {
			use("type")
			if is := strings.Join(jsondoc.Words(m["type"]), " or "); is != "" {
				p.lose("it takes " + is)
			}
		}
	}
	use("format")
	use("type")
	for _, key := range slices.Sorted(maps.Keys(rest)) {
		p.lose(key + " " + cutText(jsondoc.Text(rest[key]), 60))
	}
	return w, ""
}

// annotations are the keywords that do not restrict the values, and those that are read earlier.
var annotations = map[string]bool{
	"title": true, "description": true, "default": true, "example": true, "examples": true, "deprecated": true, "readOnly": true, "writeOnly": true,
	"nullable": true, "externalDocs": true, "xml": true, "discriminator": true, "$schema": true, "$id": true, "$comment": true, "$defs": true, "definitions": true,
	"contentMediaType": true, "contentEncoding": true, "name": true, "in": true,
}

// mostNested limits how far references and nested schemas are followed.
const mostNested = 24

// flat returns a schema with its reference resolved and all of its allOf merged.
func (p *describer) flat(v any, depth int) (map[string]any, string) {
	if depth > mostNested {
		return nil, "its schema leads to itself"
	}
	switch v := v.(type) {
	case nil:
		return map[string]any{}, ""
	case bool:
		if !v {
			return nil, "it takes no value at all"
		}
		return map[string]any{}, ""
	case map[string]any:
		m := maps.Clone(v)
		parts := listOf(m["allOf"])
		if ref, ok := m["$ref"]; ok {
			to, why := p.lookup(ref)
			if why != "" {
				return nil, why
			}
			parts = append([]any{to}, parts...)
		}
		delete(m, "allOf")
		delete(m, "$ref")
		for _, part := range parts {
			more, why := p.flat(part, depth+1)
			if why != "" {
				return nil, why
			}
			p.join(m, more)
		}
		return m, ""
	}
	return nil, "its schema is none"
}

// refName returns the name of the target of a reference.
func refName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// lookup finds the target of a reference, in this document.
func (p *describer) lookup(ref any) (any, string) {
	s, _ := ref.(string)
	if s == "" || s[0] != '#' {
		return nil, "its schema stands in another file, " + cutText(s, 60)
	}
	if to := jsondoc.At(p.root, jsondoc.Pointer(s[1:])); to != nil {
		return to, ""
	}
	return nil, "its schema refers to " + cutText(s, 60) + ", which is not there"
}

// join merges another schema that must hold as well into a schema.
func (p *describer) join(m, more map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(more)) {
		there, twice := m[key]
		add := more[key]
		was, both := there.(map[string]any)
		switch {
		case !twice:
			m[key] = add
		case key == "properties" && both:
			all := make(map[string]any, len(was))
			maps.Copy(all, was)
			named, _ := add.(map[string]any)
			for name, s := range named {
				if old, ok := was[name]; ok && jsondoc.Text(old) != jsondoc.Text(s) {
					s = map[string]any{"allOf": []any{old, s}}
				}
				all[name] = s
			}
			m[key] = all
		case key == "required":
			m[key] = slices.Concat(listOf(there), listOf(add))
		case keywords[key] == aNumber && key != "multipleOf" && plainNumber(there) != "" && plainNumber(add) != "":
			one, _ := strconv.ParseFloat(plainNumber(there), 64)
			other, _ := strconv.ParseFloat(plainNumber(add), 64)
			if least := strings.Contains(strings.ToLower(key), "min"); least == (one < other) {
				m[key] = add // the narrower of the two
			}
		case !annotations[key] && jsondoc.Text(there) != jsondoc.Text(add):
			p.lose("a second " + key + ", " + cutText(jsondoc.Text(add), 60))
		}
	}
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

// alternative expresses oneOf and anyOf as far as a type can. It returns the schema to be written
// if that differs.
func (p *describer) alternative(m map[string]any, whole any) (map[string]any, any, string) {
	for _, key := range []string{"oneOf", "anyOf"} {
		branches := listOf(m[key])
		if len(branches) == 0 {
			continue
		}
		var flat []map[string]any
		var from []any
		kinds := map[string]bool{}
		var values []any
		closed := true
		for _, b := range branches {
			f, why := p.flat(b, 1)
			if why != "" {
				return nil, nil, "of one of its forms: " + why
			}
			if f["type"] == "null" {
				continue // null means leaving it out
			}
			kind := jsonKindOf(f)
			texts, ok := enumTexts(f["enum"], f["const"])
			closed = closed && ok && kind == "string"
			for _, text := range texts {
				values = append(values, text)
			}
			kinds[kind] = true
			flat, from = append(flat, f), append(from, b)
		}
		without := maps.Clone(m)
		delete(without, key)
		switch {
		case len(flat) == 1 && flat[0]["oneOf"] == nil && flat[0]["anyOf"] == nil:
			p.join(without, flat[0])
			if len(without) == len(flat[0]) {
				whole = from[0]
			}
			m = without // it may have the other of the two
		case closed && len(values) > 0:
			without["type"], without["enum"] = "string", values
			return without, whole, ""
		case len(kinds) == 1 && kinds["object"], jsonKindOf(without) == "object":
			m = maps.Clone(m)
			m["type"] = "object"
			return m, whole, "" // its schema says it
		case len(kinds) == 1 && !kinds["any"] && !kinds["array"]:
			p.lose("which of " + strconv.Itoa(len(flat)) + " forms it may have")
			return map[string]any{"type": slices.Sorted(maps.Keys(kinds))[0]}, whole, ""
		case jsonKindOf(without) == "any":
			p.lose("it takes " + strings.Join(slices.Sorted(maps.Keys(kinds)), " or "))
			return map[string]any{}, whole, ""
		}
	}
	return m, whole, ""
}

// jsonKindOf returns the only type of a schema, "any" if there are several.
func jsonKindOf(m map[string]any) string {
	kinds := jsondoc.Words(m["type"])
	if s, ok := m["type"].(string); ok {
		kinds = []string{s}
	}
	kinds = slices.DeleteFunc(kinds, func(s string) bool { return s == "null" })
	if len(kinds) == 2 && slices.Contains(kinds, "integer") && slices.Contains(kinds, "number") {
		return "number"
	}
	if len(kinds) == 1 && jsonTypes[kinds[0]] {
		return kinds[0]
	}
	if len(kinds) > 0 {
		return "any"
	}
	if _, ok := enumTexts(m["enum"], m["const"]); ok {
		return "string"
	}
	for _, hint := range [...]struct{ key, kind string }{{"properties", "object"}, {"additionalProperties", "object"}, {"required", "object"}, {"items", "array"}, {"pattern", "string"}, {"maxLength", "string"}, {"minLength", "string"}, {"multipleOf", "number"}, {"minimum", "number"}, {"maximum", "number"}} {
		if m[hint.key] != nil {
			return hint.kind
		}
	}
	return "any"
}

var jsonTypes = map[string]bool{"string": true, "integer": true, "number": true, "boolean": true, "array": true, "object": true}

// enumTexts returns the values of an enumeration of texts.
func enumTexts(enum, constant any) (values []string, ok bool) {
	list := listOf(enum)
	if constant != nil {
		list = []any{constant}
	}
	for _, v := range list {
		s, text := v.(string)
		switch {
		case v == nil: // null means leaving it out
		case !text:
			return nil, false
		case !slices.Contains(values, s):
			values = append(values, s)
		}
	}
	return values, len(values) > 0
}

// coded makes codes of an enumeration, or a pattern if its values cannot be codes.
func (p *describer) coded(texts []string, name string) wording {
	w := wording{is: verbs.Type{Name: verbs.CodeType, Scale: -1}, codes: map[string]string{}}
	if lines, ok := codeLines(texts, stores.String); ok && p.fits(len(lines)) {
		for _, v := range texts {
			w.codes[v] = strings.ToUpper(slug(v, '_'))
		}
		w.keys = "code, ref-type: " + p.shared(&p.codes, lines, name, func(name string) string {
			return "  - name: " + name + "\n    values:\n" + lines
		})
		return w
	}
	w.is.Name, w.keys, w.codes = verbs.StringType, "string", nil
	quoted := make([]string, len(texts))
	for i, v := range texts {
		quoted[i] = regexp.QuoteMeta(v)
	}
	pattern := strings.Join(quoted, "|")
	if !utf8.ValidString(pattern) || values.PatternFault(pattern) != "" {
		p.lose("enum " + cutText(jsondoc.Text(texts), 60))
		return w
	}
	w.keys += ", pattern: " + seenPattern(pattern)
	w.is.Pattern = regexp.MustCompile("^(?:" + pattern + ")$")
	return w
}

// lengths writes the keys that limit a length.
func (p *describer) lengths(is *verbs.Type, least, most any) (keys string) {
	number := func(v any) int {
		n, err := strconv.ParseFloat(plainNumber(v), 64)
		if err != nil || n < 0 || n > 999_999_999 {
			return 0
		}
		return int(n)
	}
	is.MinLength, is.MaxLength = number(least), number(most)
	if most != nil && is.MinLength > is.MaxLength && is.MaxLength > 0 || most != nil && plainNumber(most) == "0" {
		p.lose("at least " + jsondoc.Text(least) + " and at most " + jsondoc.Text(most) + " long")
		is.MinLength, is.MaxLength = 0, 0
	}
	if is.MinLength > 0 {
		keys += ", min-length: " + strconv.Itoa(is.MinLength)
	}
	if is.MaxLength > 0 {
		keys += ", max-length: " + strconv.Itoa(is.MaxLength)
	}
	return keys
}

// ownPattern converts a pattern to a palette's: it must match the whole text, and is RE2.
func ownPattern(s string) (string, bool) {
	re, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		return "", false
	}
	ends := re.Op == syntax.OpConcat && re.Sub[0].Op == syntax.OpBeginText && re.Sub[len(re.Sub)-1].Op == syntax.OpEndText
	if ends && s[0] == '^' && s[len(s)-1] == '$' {
		s = s[1 : len(s)-1]
	} else {
		s = `[\s\S]*(?:` + s + `)[\s\S]*` // in a form that other readers of patterns know, too
	}
	return s, values.PatternFault(s) == ""
}

// plainNumber returns a JSON number without an exponent, "" if it is none.
func plainNumber(v any) string {
	n, _ := v.(json.Number)
	if naming.IsNumber(n.String()) {
		return n.String()
	}
	f, err := n.Float64()
	if s := strconv.FormatFloat(f, 'f', -1, 64); err == nil && naming.IsNumber(s) && len(s) < 30 {
		return s
	}
	return ""
}

// scaleOf returns the number of decimal places of multiples of 1, 0.1, 0.01 and so on.
func scaleOf(v any) (int, bool) {
	s := plainNumber(v)
	if s == "1" {
		return 0, true
	}
	zeros, ok := strings.CutPrefix(s, "0.")
	zeros, one := strings.CutSuffix(zeros, "1")
	return len(zeros) + 1, ok && one && strings.Trim(zeros, "0") == ""
}

// betweenThem adds the bounds of a numeric enumeration to its schema, and reports whether the
// enumeration has all whole numbers between them.
func betweenThem(m map[string]any, enum []any) (map[string]any, bool) {
	least, most := math.Inf(1), math.Inf(-1)
	seen := map[float64]bool{}
	for _, v := range enum {
		f, err := strconv.ParseFloat(plainNumber(v), 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
			return m, false
		}
		least, most, seen[f] = min(least, f), max(most, f), true
	}
	m = maps.Clone(m)
	m["minimum"], m["maximum"] = json.Number(strconv.FormatFloat(least, 'f', -1, 64)), json.Number(strconv.FormatFloat(most, 'f', -1, 64))
	return m, most-least+1 == float64(len(seen))
}

// bounds writes the keys that limit a number.
func (p *describer) bounds(is *verbs.Type, m map[string]any) (keys string) {
	for _, side := range []struct {
		key, bound, beyond string
		sign               float64
		into               *stores.Value
	}{{"min", "minimum", "exclusiveMinimum", 1, &is.Min}, {"max", "maximum", "exclusiveMaximum", -1, &is.Max}} {
		s, without := plainNumber(m[side.bound]), m[side.beyond] == true
		if n := plainNumber(m[side.beyond]); n != "" {
			s, without = n, true
		}
		if s == "" {
			continue
		}
		v, ok := stores.ParseDecimal(s)
		if is.Name == verbs.IntegerType {
			n, err := strconv.ParseInt(s, 10, 64)
			if f, bad := strconv.ParseFloat(s, 64); err != nil && bad == nil && math.Abs(f) < 1<<53 {
				whole := side.sign * math.Ceil(side.sign*f)
				without = without && whole == f
				n, err = int64(whole), nil
			}
			if without && err == nil && n > math.MinInt64 && n < math.MaxInt64 {
				n, without = n+int64(side.sign), false
			}
			v, ok = stores.NewInt(n), err == nil
		}
		if without {
			p.lose("not " + s + " itself")
		}
		if ok {
			*side.into, keys = v, keys+", "+side.key+": "+v.Text()
		}
	}
	if !is.Min.IsNull() && !is.Max.IsNull() && verbs.Less(is.Max, is.Min) {
		p.lose("at least " + is.Min.Text() + " and at most " + is.Max.Text())
		is.Min, is.Max, keys = stores.Value{}, stores.Value{}, ""
	}
	return keys
}

// sample writes an example or a default of a document for a palette. ok is false if the type does
// not accept it.
func (w *wording) sample(v any) (text string, ok bool) {
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		if text = plainNumber(v); text == "" {
			return "", false
		}
	case bool:
		text = strconv.FormatBool(v)
	default:
		return "", false
	}
	if w.codes != nil {
		code, ok := w.codes[text]
		return code, ok
	}
	var value stores.Value
	problem := verbs.Fine
	switch w.is.Name {
	case verbs.BooleanType:
		return text, text == "true" || text == "false"
	case verbs.IntegerType:
		value, ok = stores.ParseInt(text)
		ok = ok && naming.IsNumber(text)
	case verbs.DecimalType:
		value, ok = stores.ParseDecimal(text)
		ok = ok && naming.IsNumber(text)
	case verbs.ListType, verbs.ObjectType, verbs.AnyType:
		return "", false
	default:
		ok = len(text) <= 200 && !strings.ContainsFunc(text, unicode.IsControl)
		value, problem = w.is.Read(text)
	}
	if ok && problem == verbs.Fine {
		_, problem = w.is.Limit(value)
	}
	return text, ok && problem == verbs.Fine
}

// object names the schema of an object, or none if any object is accepted.
func (p *describer) object(m map[string]any, whole any, name, ref string) (keys, why string) {
	says := slices.ContainsFunc(slices.Sorted(maps.Keys(m)), func(k string) bool {
		empty, _ := m[k].(map[string]any)
		return k != "type" && !annotations[k] && !strings.HasPrefix(k, "x-") && m[k] != true && (empty == nil || len(empty) > 0)
	})
	if !says {
		return "", ""
	}
	x := exporter{p: p, names: map[string]string{}, defs: map[string]any{}, left: 1000}
	made, why := any(nil), sayTooLong
	if !p.long[ref] {
		made, why = x.copy(whole, 0)
	}
	if x.unspoken {
		return "", why
	}
	if x.left < 0 && ref != "" {
		p.long[ref] = true // and need not be tried as a part of others
	}
	top, _ := made.(map[string]any)
	if why == "" {
		if len(x.defs) > 0 {
			top["$defs"] = x.defs
		}
		text, _ := json.Marshal(top)
		if err := verbs.NewSchema(name, text, dsl.Place{}).Compile(); err != nil {
			why = "its schema is wrong: " + err.Error()
		}
	}
	w := &writer{}
	if w.block(4, "schema", top); why == "" && !p.fits(w.Len()) {
		why = sayTooLong
	}
	if why != "" {
		p.lose(why)
		return "", ""
	}
	return ", schema: " + p.shared(&p.schemas, jsondoc.Text(top), name, func(name string) string {
		w.Reset()
		w.block(2, name, top)
		return w.String()
	}), ""
}

// An exporter copies a schema from its document, with everything that it refers to, as draft
// 2020-12 and in a form that a script can satisfy.
type exporter struct {
	p        *describer
	names    map[string]string // by reference
	defs     map[string]any
	left     int
	unspoken bool // a required key cannot be written in a script
}

const sayTooLong = "its schema is too long to be copied"

// isMapKey reports whether a name can be a key of a map in a script, and is of readable length.
func isMapKey(name string) bool { return name != "" && len(name) <= 100 }

func (x *exporter) copy(v any, depth int) (any, string) {
	from, ok := v.(map[string]any)
	if is, ok := v.(bool); ok {
		return is, ""
	}
	switch x.left--; {
	case !ok:
		return nil, "its schema is none"
	case x.left < 0:
		return nil, sayTooLong
	case depth > mostNested:
		return nil, "its schema is nested too deep"
	}
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(from)) {
		var part any
		why := ""
		list, _ := from[key].([]any)
		switch keywords[key] {
		case aRef:
			ref, _ := from[key].(string)
			part, why = x.refer(ref)
		case aSchema:
			if list == nil {
				part, why = x.copy(from[key], depth+1)
				break
			}
			key = "prefixItems" // the form of older drafts
			fallthrough
		case schemas:
			parts := make([]any, len(list))
			for i := range list {
				if parts[i], why = x.copy(list[i], depth+1); why != "" {
					break
				}
			}
			part = parts
		case namedSchemas:
			named, _ := from[key].(map[string]any)
			part, why = x.properties(from, named, depth, key == "properties")
		case aText:
			text, _ := from[key].(string)
			part = cutText(text, 200)
		case aValue:
			if part = plainValue(from[key]); key == "pattern" && values.PatternFault(fmt.Sprint(part)) != "" {
				x.p.lose("pattern " + cutText(jsondoc.Text(part), 60))
				continue
			}
		case aNumber:
			if n := plainNumber(from[key]); n != "" {
				part = json.Number(n)
			}
		case needed: // handled below
		default:
			if !annotations[key] && !strings.HasPrefix(key, "x-") {
				x.p.lose(key + " " + cutText(jsondoc.Text(from[key]), 60))
			}
		}
		if why != "" {
			return nil, why
		}
		if part != nil {
			out[key] = part
		}
	}
	for _, side := range [...][2]string{{"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"}} {
		if from[side[1]] == true && out[side[0]] != nil { // the form of OpenAPI 3.0
			out[side[1]] = out[side[0]]
			delete(out, side[0])
		}
	}
	if from["nullable"] == true {
		if is, ok := out["type"].(string); ok {
			out["type"] = []any{is, "null"}
		}
		if list, ok := out["enum"].([]any); ok && !slices.Contains(list, nil) {
			out["enum"] = append(list, nil)
		}
	}
	return out, x.needs(from, out)
}

// The kinds of value that a keyword of JSON Schema holds.
const (
	aSchema = iota + 1
	schemas
	namedSchemas
	aRef
	aText
	aNumber
	aValue
	needed
)

var keywords = map[string]int{
	"$ref": aRef, "required": needed, "title": aText, "description": aText,
	"items": aSchema, "additionalProperties": aSchema, "not": aSchema, "if": aSchema, "then": aSchema, "else": aSchema, "propertyNames": aSchema,
	"contains": aSchema, "unevaluatedProperties": aSchema, "unevaluatedItems": aSchema,
	"allOf": schemas, "anyOf": schemas, "oneOf": schemas, "prefixItems": schemas,
	"properties": namedSchemas, "patternProperties": namedSchemas, "dependentSchemas": namedSchemas,
	"type": aValue, "enum": aValue, "const": aValue, "format": aValue, "uniqueItems": aValue, "pattern": aValue, "dependentRequired": aValue,
	"minimum": aNumber, "maximum": aNumber, "exclusiveMinimum": aNumber, "exclusiveMaximum": aNumber, "multipleOf": aNumber, "minLength": aNumber, "maxLength": aNumber,
	"minItems": aNumber, "maxItems": aNumber, "minProperties": aNumber, "maxProperties": aNumber, "minContains": aNumber, "maxContains": aNumber,
}

// plainValue returns a JSON value with its numbers written without exponents.
func plainValue(v any) any {
	switch v := v.(type) {
	case json.Number:
		return json.Number(cmp.Or(plainNumber(v), "0"))
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plainValue(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for k := range v {
			m[k] = plainValue(v[k])
		}
		return m
	}
	return v
}

// properties copies the schemas of keys, and leaves out keys that a script cannot write.
func (x *exporter) properties(from, all map[string]any, depth int, names bool) (any, string) {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		part, _ := all[name].(map[string]any)
		if names && x.p.sends && part["readOnly"] == true {
			continue // it occurs in answers only
		}
		if names && !isMapKey(name) {
			continue // needs reports such keys
		}
		made, why := x.copy(all[name], depth+1)
		if why != "" {
			if !x.unspoken || slices.Contains(jsondoc.Words(from["required"]), name) {
				return nil, why
			}
			x.unspoken = false
			x.p.lose("key " + name + ": " + why)
			continue
		}
		out[name] = made
	}
	if len(out) == 0 {
		return nil, ""
	}
	return out, ""
}

// needs handles the required keys.
func (x *exporter) needs(from, out map[string]any) string {
	all, _ := from["properties"].(map[string]any)
	var required []any
	for _, name := range jsondoc.Words(from["required"]) {
		part, _ := all[name].(map[string]any)
		if x.p.sends && part["readOnly"] == true {
			continue
		}
		if !isMapKey(name) {
			x.unspoken = true
			return "a script cannot write its key " + strconv.Quote(cutText(name, 60))
		}
		required = append(required, name)
	}
	if len(required) > 0 {
		out["required"] = required
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !isMapKey(name) {
			x.p.lose("key " + strconv.Quote(cutText(name, 60)) + ", which a script cannot write")
		}
	}
	return ""
}

// refer copies the target of a reference, once, and returns the name of the copy.
func (x *exporter) refer(ref string) (any, string) {
	name := x.names[ref]
	if name == "" {
		to, why := x.p.lookup(ref)
		if why != "" {
			return nil, why
		}
		if x.p.long[ref] {
			return nil, sayTooLong
		}
		name = slug(refName(ref), '_')
		for x.defs[name] != nil {
			name += "_"
		}
		x.names[ref], x.defs[name] = name, true // the content is filled in when it is copied
		// A named schema is nested no deeper than the names are.
		if x.defs[name], why = x.copy(to, 2); why != "" {
			return nil, why
		}
	}
	return "#/$defs/" + name, ""
}

// flow writes a JSON value as YAML on one line.
func flow(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return yamlText(v)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = flow(v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		parts := message.Names(typeFirst(v), func(k string) string { return yamlText(k) + ": " + flow(v[k]) })
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return jsondoc.Text(v)
}

func typeFirst(m map[string]any) []string {
	keys := slices.Sorted(maps.Keys(m))
	if i := slices.Index(keys, "type"); i > 0 {
		keys = slices.Concat(keys[i:i+1], keys[:i], keys[i+1:])
	}
	return keys
}

// block writes a JSON value under a key, on a line if it fits there.
func (w *writer) block(indent int, key string, v any) {
	m, ok := v.(map[string]any)
	text := flow(v)
	if !ok || len(text)+len(key)+indent < 100 {
		w.line("%*s%s: %s", indent, "", yamlText(key), text)
		return
	}
	w.line("%*s%s:", indent, "", yamlText(key))
	for _, k := range typeFirst(m) {
		w.block(indent+2, k, m[k])
	}
}

// seenPattern quotes a pattern, with invisible characters written as their numbers.
func seenPattern(pattern string) string {
	var b strings.Builder
	for _, r := range pattern {
		if values.Unseen(r) {
			fmt.Fprintf(&b, `\x{%x}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return strconv.Quote(b.String())
}

// cutText returns a text on one line, without invisible characters, and of limited length.
func cutText(s string, most int) string {
	s = verbs.OneLine(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s))
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	s = string([]rune(s)[:most])
	if end := strings.LastIndex(s, ". "); end > most/3 {
		return s[:end+1]
	}
	if end := strings.LastIndexByte(s, ' '); end > most/3 {
		s = s[:end]
	}
	return s + "…"
}
