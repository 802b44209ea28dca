package propose

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"verbatim/verbs"
	"verbatim/verbs/jsondoc"
	"verbatim/verbs/naming"
	"verbatim/verbs/strict"
)

// A describer proposes verbs for a document: for the tools of a server, or the operations of an
// API.
type describer struct {
	domain string
	root   any  // root of the document, or of the current schema
	sends  bool // it reads arguments, so parts that occur only in answers are left out

	long   map[string]bool   // references to schemas that are too long to be copied
	lists  proposer          // names of code lists and schemas
	verbs  proposer          // names of verbs
	shares map[string]string // names of code lists and schemas by their content

	head, codes, schemas, body writer // parts of the current file
	bodies                     int    // number of its verbs
	decide, unsaid             int
	before                     int      // length of codes and schemas from earlier verbs
	nested                     int      // nesting of typed in parts of parts
	lost                       []string // losses of the current argument
	files                      []Proposal
}

// A Described is the result of reading a document.
type Described struct {
	What  string // "tool" or "operation"
	Count int    // number of them
	Verbs int    // number of verbs made from them
	At    string // where an API is, as far as its description says so
	Files []Proposal
}

// The limits of a proposed file. A palette may have a megabyte.
const (
	maxDescribed = 64 << 20
	maxVerbs     = 250
	maxBody      = 500 << 10
)

// FromDescription writes a first palette from a document: tools as MCP's tools/list returns them
// or as model APIs take them, or an API as OpenAPI 3 describes it, in JSON or YAML. Each tool of
// server, and each operation, becomes a verb. The error says what is wrong with the document.
func FromDescription(domain, server string, text []byte) (Described, error) {
	doc, err := readDocument(text)
	if err != nil {
		return Described{}, err
	}
	p := &describer{
		domain: domain, root: doc, shares: map[string]string{}, long: map[string]bool{},
		lists: proposer{taken: map[string]bool{}}, verbs: proposer{taken: map[string]bool{}},
	}
	top, _ := doc.(map[string]any)
	if result, ok := top["result"].(map[string]any); ok && top["jsonrpc"] != nil {
		top = result
	}
	tools, listed := doc.([]any)
	if top["tools"] != nil {
		if tools, listed = top["tools"].([]any); !listed {
			return Described{}, errors.New("its tools are no list")
		}
	}
	found := Described{What: "tool", Count: len(tools)}
	version, _ := top["openapi"].(string)
	switch {
	case listed && len(tools) == 0:
		return Described{}, errors.New("it lists no tools")
	case listed:
		p.begin("What the tools of "+cutText(server, 100)+" do.", "# A first palette over the tools of "+cutText(server, 100)+". All that it says of them, descriptions",
			"# too, are that server's own words. Where a line says DECIDE, it is for you to say what", "# is right.")
		for _, t := range tools {
			p.tool(server, t)
			p.turn()
		}
	case strings.HasPrefix(version, "3."):
		found.What, found.At = "operation", serverOf(top)
		if found.Count = p.api(server, top); found.Count == 0 {
			return Described{}, errors.New("it describes no operations")
		}
	case version != "":
		return Described{}, fmt.Errorf("it is OpenAPI %s, and OpenAPI 3 is read", cutText(version, 20))
	case top["swagger"] != nil:
		return Described{}, errors.New("it is Swagger 2, and OpenAPI 3 is read: convert it first")
	default:
		return Described{}, fmt.Errorf("it is neither a list of tools nor an OpenAPI description%s", hasAtTop(top))
	}
	p.flush()
	found.Files, found.Verbs = p.files, len(p.verbs.taken)
	return found, nil
}

func hasAtTop(top map[string]any) string {
	if len(top) == 0 {
		return ""
	}
	keys := slices.Sorted(maps.Keys(top))
	return ": at its top stands " + cutText(strings.Join(keys[:min(len(keys), 5)], ", "), 80)
}

// begin writes the beginning of a file, with a role for reading and one for acting as well. The
// roles have the domain in their names, for a folder may hold several such palettes.
func (p *describer) begin(description string, comments ...string) {
	w := &p.head
	for _, c := range comments {
		w.line("%s", c)
	}
	w.line("domain: %s", yamlText(p.domain))
	w.line("description: %s  # DECIDE", yamlText(description))
	w.line("roles:  # DECIDE: who there is")
	w.line("  - {name: %s-reader, description: Whoever may look.}", p.domain)
	w.line("  - {name: %s-user, description: Whoever may also act.}", p.domain)
	p.decide += 2
}

// readDocument reads JSON, or YAML, into JSON values.
func readDocument(text []byte) (doc any, err error) {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	switch {
	case len(text) == 0:
		return nil, errors.New("it is empty")
	case len(text) > maxDescribed:
		return nil, fmt.Errorf("it has %d bytes, and %d are read", len(text), maxDescribed)
	case !utf8.Valid(text):
		return nil, errors.New("it is no text in UTF-8")
	case text[0] == '{' || text[0] == '[':
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		if err = dec.Decode(&doc); err == nil && len(bytes.TrimSpace(text[dec.InputOffset():])) > 0 {
			err = errors.New("more follows after its end")
		}
		if err != nil {
			line := 1 + bytes.Count(text[:min(dec.InputOffset(), int64(len(text)))], []byte("\n"))
			var wrong *json.SyntaxError
			if errors.As(err, &wrong) {
				line = 1 + bytes.Count(text[:min(wrong.Offset, int64(len(text)))], []byte("\n"))
			}
			return nil, fmt.Errorf("it is no JSON: line %d: %w", line, err)
		}
		return doc, nil
	}
	if _, deep := strict.TooNested(string(text)); deep {
		return nil, errors.New("it is nested too deep")
	}
	var root yaml.Node
	if err := strict.Decode(yaml.NewDecoder(bytes.NewReader(text)), &root); err != nil {
		return nil, fmt.Errorf("it is neither JSON nor YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	left := 1_000_000 + len(text) // aliases must not multiply the text without limit
	return jsonOf(&root, &left)
}

// jsonOf converts a YAML node to a JSON value. Aliases are followed, with a limit.
func jsonOf(n *yaml.Node, left *int) (any, error) {
	if *left--; *left < 0 {
		return nil, errors.New("its anchors and aliases make too much of it")
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return jsonOf(n.Content[0], left)
	case yaml.AliasNode:
		*left -= 100 // an alias that contains itself ends before the stack does
		return jsonOf(n.Alias, left)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i := range list {
			var err error
			if list[i], err = jsonOf(n.Content[i], left); err != nil {
				return nil, err
			}
		}
		return list, nil
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, err := jsonOf(n.Content[i+1], left)
			if err != nil {
				return nil, err
			}
			if n.Content[i].Tag != "!!merge" {
				m[n.Content[i].Value] = v
				continue
			}
			for _, part := range append(listOf(v), v) {
				more, _ := part.(map[string]any)
				for k, v := range more {
					if _, there := m[k]; !there {
						m[k] = v
					}
				}
			}
		}
		return m, nil
	}
	switch n.Tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true"), nil
	case "!!int", "!!float":
		if _, err := strconv.ParseFloat(n.Value, 64); err == nil && strings.Trim(n.Value, "0123456789+-.eE") == "" {
			return json.Number(strings.TrimPrefix(n.Value, "+")), nil
		}
	}
	return n.Value, nil
}

// A describedVerb is a tool or an operation from which a verb is made.
type describedVerb struct {
	called      string // name in the document
	name        string
	heads       []string // comments above it
	description string
	deprecated  bool
	reads       bool // it changes nothing, according to the document
	args        []describedArg
	lost        []string // losses of the verb
	request     Operation
	// tail writes how the verb is carried out, given its arguments.
	tail func(args []describedArg)
}

type describedArg struct {
	wire, place string // "PageSize", "query"
	key         string // its name for the tool
	style       string // how a request writes it
	explode     bool
	unsaid      string // why it is left out
	schema      any
	description string
	required    bool
	def         any
	examples    []any

	name  string
	typed wording
	why   string // why it cannot be expressed
	lost  []string
}

var tooMany = "a verb has at most " + strconv.Itoa(verbs.MaxParams) + " arguments"

// lose notes a property of the current argument that no palette can express.
func (p *describer) lose(what string) { p.lost = append(p.lost, what) }

// notSaid writes a comment about something that cannot be expressed, where it would be.
func (p *describer) notSaid(indent int, what string) {
	p.unsaid++
	p.body.line("%*s# not said: %s", indent, "", cutText(what, 300))
}

// verb writes a verb.
func (p *describer) verb(v describedVerb) {
	slices.SortStableFunc(v.args, func(a, b describedArg) int {
		switch {
		case a.required && !b.required:
			return -1
		case b.required && !a.required:
			return 1
		}
		return 0
	})
	name := slug(v.name, '-')
	p.before = p.codes.Len() + p.schemas.Len()
	args := proposer{taken: map[string]bool{}}
	var said []describedArg
	for i := range v.args {
		a := &v.args[i]
		base := slug(strings.NewReplacer("<", "-below", ">", "-above").Replace(a.wire), '-')
		if naming.IsReserved(base) {
			base += "-value"
		}
		p.lost = nil
		switch {
		case a.unsaid != "":
			a.why = a.unsaid
		case len(said) == verbs.MaxParams:
			a.why = tooMany
		case a.wire == "" || len(a.wire) > 200 || strings.ContainsFunc(a.wire, unicode.IsControl):
			a.why = "its name cannot be written in a palette"
		default:
			a.typed, a.why = p.typed(a.schema, base)
		}
		a.lost = p.lost
		if a.why == "" {
			a.name = args.unique(base)
			said = append(said, *a)
		} else if a.required {
			p.notSaid(2, strings.TrimPrefix(v.called+": it needs "+a.place+" "+a.wire+", and "+a.why, ": "))
			return
		}
	}
	name = p.verbs.unique(name)
	p.body.line("")
	p.body.line("  - verb: %s", yamlText(name))
	for _, h := range v.heads {
		p.body.line("    # %s", cutText(h, 300))
	}
	for _, what := range v.lost {
		p.notSaid(4, what)
	}
	p.body.line("    description: %s", yamlText(cutText(v.description, 400)))
	if v.reads {
		p.body.line("    roles: [%s-reader, %s-user]", p.domain, p.domain)
	} else {
		p.body.line("    roles: [%s-user]", p.domain)
	}
	if v.deprecated {
		p.body.line("    deprecated: {reason: its description calls it deprecated}")
	}
	if len(said) > 0 {
		p.body.line("    args:")
	}
	p.args(v.args)
	v.tail(said)
	p.bodies++
}

// turn ends a file that is long enough.
func (p *describer) turn() {
	if p.bodies >= maxVerbs || p.body.Len()+p.codes.Len()+p.schemas.Len() > maxBody {
		p.flush()
	}
}

func (p *describer) args(args []describedArg) {
	var more []string
	for i := range args {
		a := &args[i]
		switch {
		case a.why == "":
			p.argument(a)
			for _, what := range a.lost[:min(len(a.lost), 20)] {
				p.notSaid(6, ":"+a.name+": "+what)
			}
		case i < 2*verbs.MaxParams && a.why != tooMany:
			p.notSaid(6, strings.TrimSpace(a.place+" "+a.wire)+": "+a.why)
		default:
			more = append(more, a.wire)
		}
	}
	if len(more) > 0 {
		p.notSaid(6, fmt.Sprintf("%d more, for %s: %s", len(more), tooMany, strings.Join(more, ", ")))
	}
}

func (p *describer) argument(a *describedArg) {
	line := fmt.Sprintf("      - {name: %s, type: %s", yamlText(a.name), a.typed.keys)
	m, _ := p.flat(a.schema, 0)
	if a.required {
		line += ", required: true"
	}
	sensitive := m["format"] == "password" || secret().MatchString(naming.Underscored(a.name)) && !strings.Contains(a.name, "page")
	if sensitive {
		line += ", sensitive: true"
	}
	if a.def == nil {
		a.def = m["default"]
	}
	if text, ok := a.typed.sample(a.def); ok && !a.required && !sensitive {
		line += ", default: " + a.typed.written(text)
	}
	if a.description == "" {
		a.description, _ = m["description"].(string)
	}
	if text := cutText(a.description, 200); text != "" {
		line += ", description: " + yamlText(text)
	}
	var examples []string
	for _, v := range slices.Concat(a.examples, []any{m["example"]}, listOf(m["examples"])) {
		if text, ok := a.typed.sample(v); ok && text != "" && !sensitive && len(examples) < 2 {
			if text = yamlText(text); !slices.Contains(examples, text) {
				examples = append(examples, text)
			}
		}
	}
	if len(examples) > 0 {
		line += ", examples: [" + strings.Join(examples, ", ") + "]"
	}
	line += "}"
	if a.place != "" {
		line += "  # " + cutText(a.place+" "+a.wire, 250)
	}
	p.body.line("%s", line)
}

// written writes a sample as the default in a palette.
func (w *wording) written(text string) string {
	switch w.is.Name {
	case verbs.BooleanType, verbs.IntegerType, verbs.DecimalType:
		return text
	}
	return yamlText(text)
}

// fits reports whether n more bytes may be written for the current verb, so that no file becomes
// longer than a palette may be.
func (p *describer) fits(n int) bool {
	return n+p.codes.Len()+p.schemas.Len()-p.before < maxBody/2
}

// shared writes a code list or a schema, once for each content, and returns its name.
func (p *describer) shared(w *writer, says, name string, write func(name string) string) string {
	if known := p.shares[says]; known != "" {
		return known
	}
	name = p.domain + "-" + slug(strings.TrimPrefix(name, p.domain), '-')
	name = yamlText(p.lists.unique(strings.TrimRight(name[:min(len(name), 90)], "-")))
	p.shares[says] = name
	w.WriteString(write(name))
	return name
}

// flush ends a file.
func (p *describer) flush() {
	if p.body.Len() == 0 && len(p.files) > 0 {
		return
	}
	name := p.domain
	if len(p.files) > 0 {
		name += "-" + strconv.Itoa(len(p.files)+1)
	}
	w := &writer{}
	w.line("# yaml-language-server: $schema=palette.schema.json")
	if w.Write(p.head.Bytes()); len(p.files) > 0 {
		w.line("domain: %s", yamlText(p.domain))
	}
	p.head.Reset()
	for _, part := range []struct {
		key  string
		text *writer
	}{{"codes", &p.codes}, {"schemas", &p.schemas}, {"verbs", &p.body}} {
		if part.text.Len() > 0 {
			if part.key != "verbs" || strings.Contains(part.text.String(), "\n  - verb:") {
				w.line("%s:", part.key)
			}
			w.Write(part.text.Bytes())
			part.text.Reset()
		}
	}
	p.files = append(p.files, Proposal{Name: name + ".yaml", Text: w.Bytes(), Decide: p.decide, Unsaid: p.unsaid})
	p.bodies, p.decide, p.unsaid = 0, 0, 0
}

// tool proposes a verb for a tool.
func (p *describer) tool(server string, t any) {
	m, _ := t.(map[string]any)
	if of, ok := m["function"].(map[string]any); ok && m["type"] == "function" {
		m = of
	}
	name, _ := m["name"].(string)
	p.root = nil
	switch {
	case strings.TrimSpace(name) == "" || strings.ContainsFunc(name, unicode.IsControl) || len(name) > 200:
		p.notSaid(2, "a tool: it has no name that can be written, "+cutText(jsondoc.Text(t), 100))
		return
	case p.shares["tool "+name] != "":
		p.notSaid(2, "tool "+name+": it is listed twice")
		return
	}
	p.shares["tool "+name] = name
	v := describedVerb{called: "tool " + name, name: name}
	for _, key := range []string{"description", "title"} {
		if v.description, _ = m[key].(string); strings.TrimSpace(v.description) != "" {
			break
		}
	}
	if strings.TrimSpace(v.description) == "" {
		v.description = "What the tool " + name + " does."
	}
	hints, _ := m["annotations"].(map[string]any)
	v.reads = hints["readOnlyHint"] == true
	v.tail = func(args []describedArg) { p.toolTail(server, name, m, hints, args) }
	for _, key := range []string{"inputSchema", "input_schema", "parameters"} {
		if m[key] != nil {
			p.root = m[key]
			break
		}
	}
	if p.root == nil {
		p.root = map[string]any{}
	}
	p.lost = nil
	takes, why := p.members(p.root)
	if why != "" {
		p.notSaid(2, v.called+": "+why)
		return
	}
	v.args, v.lost = takes, p.lost
	p.verb(v)
}

// members makes arguments from the properties of an object. Nothing else can be expressed; losses
// are noted.
func (p *describer) members(schema any) ([]describedArg, string) {
	m, why := p.flat(schema, 0)
	if why != "" {
		return nil, why
	}
	if kind := jsonKindOf(m); kind != "object" && kind != "any" {
		return nil, "it takes no named arguments"
	}
	properties, _ := m["properties"].(map[string]any)
	required := jsondoc.Words(m["required"])
	for _, key := range []string{"oneOf", "anyOf"} {
		branches := listOf(m[key])
		if len(branches) == 0 {
			continue
		}
		p.lose("which arguments go together, in " + strconv.Itoa(len(branches)) + " forms")
		all := map[string]any{"properties": properties}
		var always []string
		for i, b := range branches {
			f, why := p.flat(b, 1)
			if why != "" {
				return nil, why
			}
			p.join(all, map[string]any{"properties": f["properties"]})
			if i == 0 {
				always = jsondoc.Words(f["required"])
			}
			always = slices.DeleteFunc(always, func(s string) bool { return !slices.Contains(jsondoc.Words(f["required"]), s) })
		}
		if all["properties"] != nil {
			properties, _ = all["properties"].(map[string]any)
		}
		required = append(required, always...)
	}
	if more := m["additionalProperties"]; more != nil && more != false && len(properties) > 0 {
		p.lose("arguments that it does not name")
	}
	for _, key := range []string{"patternProperties", "not", "if", "dependentRequired", "dependentSchemas", "dependencies", "minProperties"} {
		if m[key] != nil {
			p.lose(key + " " + cutText(jsondoc.Text(m[key]), 100))
		}
	}
	var args []describedArg
	add := func(name string, required bool) {
		if part, ok := properties[name].(map[string]any); ok && p.sends && part["readOnly"] == true {
			return
		}
		if !slices.ContainsFunc(args, func(a describedArg) bool { return a.wire == name }) {
			args = append(args, describedArg{wire: name, key: name, schema: properties[name], required: required})
		}
	}
	for _, name := range required {
		add(name, true)
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		add(name, false)
	}
	return args, ""
}

// toolTail writes how a tool is called.
func (p *describer) toolTail(server, name string, m, hints map[string]any, args []describedArg) {
	decide := func(text string) string {
		p.decide++
		return "  # DECIDE: " + text
	}
	w := &p.body
	itself := "it says so itself"
	if p.sends {
		itself = "its method says so"
	}
	switch destroys, says := hints["destructiveHint"].(bool); {
	case hints["readOnlyHint"] == true:
	case says && !destroys: // its word frees nothing
		w.line("    confirm: always%s", decide("who agrees, and when; it says that it destroys nothing"))
	default:
		w.line("    confirm: always%s", decide("who agrees, and when"))
	}
	w.line("    tool:")
	w.line("      server: %s", yamlText(server))
	w.line("      name: %s", yamlText(name))
	switch {
	case hints["readOnlyHint"] == true:
		w.line("      read-only: true%s", decide(itself))
	case hints["idempotentHint"] == true:
		w.line("      # idempotent: true%s", decide("it says so itself; then a lost answer is asked for again"))
	}
	var with []string
	other := false
	for _, a := range args {
		ident := naming.Underscored(a.name)
		with, other = append(with, yamlText(a.key)+": "+ident), other || ident != a.key
	}
	if other {
		w.line("      with: {%s}", strings.Join(with, ", "))
	}
	p.columns(m["outputSchema"])
}

// columnKinds are the types of columns that are only mentioned. Their codes and schemas are not
// written, since nothing has them.
var columnKinds = map[string]string{"string": "string", "integer": "integer", "number": "decimal", "boolean": "boolean", "array": "list", "object": "object", "any": "any"}

// columns writes the columns of a tool's answer, as far as it always has them.
func (p *describer) columns(schema any) {
	if schema == nil {
		return
	}
	p.root, p.sends = schema, false
	m, why := p.flat(schema, 0)
	if why != "" {
		p.notSaid(6, "what it answers: "+why)
		return
	}
	rows := ""
	for _, name := range jsondoc.Words(m["required"]) {
		properties, _ := m["properties"].(map[string]any)
		list, _ := p.flat(properties[name], 0)
		item, why := p.flat(list["items"], 0)
		if jsonKindOf(list) == "array" && why == "" && item["properties"] != nil && (rows == "" || len(properties) == 1) {
			rows = name
			if m = item; len(properties) > 1 {
				p.notSaid(6, "what it answers beside "+name)
			}
			break
		}
	}
	properties, _ := m["properties"].(map[string]any)
	var columns, perhaps []string
	taken := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		column := slug(name, '_')
		p.lost = nil
		always := slices.Contains(jsondoc.Words(m["required"]), name)
		of, _ := p.flat(properties[name], 0)
		is, why := wording{keys: columnKinds[jsonKindOf(of)]}, ""
		if always && jsonKindOf(of) != "object" {
			is, why = p.typed(properties[name], column)
		}
		if why == "" && strings.ContainsAny(is.keys, ",:") {
			is.keys = strings.NewReplacer(", of: ", " ", ", ref-type: ", " ").Replace(is.keys) // the form `list string`
			is.keys, _, _ = strings.Cut(is.keys, ",")
			if strings.Contains(is.keys, "{") {
				is.keys = "list"
			}
		}
		flat := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
		if why == "" && (taken[column] || strings.ReplaceAll(column, "_", "") != flat) {
			why = "its name cannot be that of a column"
		}
		if why != "" {
			p.notSaid(6, "answer "+name+": "+why)
			continue
		}
		taken[column] = true
		if part := yamlText(column) + ": " + is.keys; always {
			columns = append(columns, part)
		} else {
			perhaps = append(perhaps, part)
		}
	}
	if len(columns) > 0 && rows != "" {
		p.body.line("      rows: %s", yamlText(rows))
	}
	if len(columns) > 0 {
		p.body.line("      columns: {%s}", strings.Join(columns, ", "))
	}
	if len(perhaps) > 0 {
		p.decide++
		p.body.line("      # DECIDE: columns may be added that are in every answer: %s", cutText(strings.Join(perhaps, ", "), 300))
	}
}
