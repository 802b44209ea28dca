// Package propose writes a first palette from what there is: tables of a database, operations that an
// OpenAPI document describes, tools of an MCP server. It loads as it is written, and says DECIDE where
// a person has to.
package propose

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/naming"
	"verbatim/verbs/values"
)

// A Proposal is one file of a first palette, with the number of lines that a person has to decide
// on, which say DECIDE, and the number of lines about what could not be expressed.
type Proposal struct {
	Name   string
	Text   []byte
	Decide int
	Unsaid int
	// Left counts, by what they are, the things of tables that the palette does not say: "column of
	// type bytea".
	Left map[string]int
}

// maxProposed is how many tables one file covers at most.
const maxProposed = 100

// FromTables writes a first palette: an entity for each table that has a key, with the references
// and codes of the database, a read of all and of one of its rows, and a verb that adds one.
// Comments say what cannot be expressed. Without tables it is a palette with one verb to begin
// with.
func FromTables(domain, from string, tables []stores.Table) []Proposal {
	if from == "" {
		return []Proposal{begun(domain)}
	}
	p := &proposer{taken: map[string]bool{}, entity: map[string]*draftEntity{}, enums: map[string]string{}, left: map[string]int{}}
	var all []*draftEntity
	plain := map[string]bool{}
	for i := range tables {
		plain[slug(lastName(tables[i].Name), '-')] = true
	}
	for i := range tables {
		name := slug(lastName(tables[i].Name), '-')
		if one := singular(name); !plain[one] {
			name = one
		}
		e := &draftEntity{table: &tables[i], name: p.unique(name)}
		all = append(all, e)
		p.entity[tables[i].Name] = e
	}
	for _, e := range all {
		p.fields(e)
	}
	for _, e := range all {
		if e.why == "" {
			e.label = e.labelled()
		}
	}
	var files []Proposal
	for n, f := range inFiles(domain, all) {
		name := f.domain
		w := &writer{}
		w.line("# yaml-language-server: $schema=palette.schema.json")
		w.line("# A first palette over %s, as its tables are. It changes none of them.", from)
		w.line("# Where a line says DECIDE, it is for you to say what is right.")
		w.line("domain: %s", yamlText(name))
		w.line("description: %s  # DECIDE", yamlText("What is in "+from+"."))
		if n == 0 {
			w.line("roles:  # DECIDE: who there is")
			w.line("  - {name: reader, description: Whoever may read these tables.}")
			w.line("  - {name: keeper, description: Whoever may also add to them., sees: all}")
		}
		p.write(w, f.tables)
		files = append(files, Proposal{Name: name + ".yaml", Text: w.Bytes(), Decide: bytes.Count(w.Bytes(), []byte("DECIDE")) - 1})
	}
	files[0].Left = p.left
	return files
}

// A file holds the tables of one schema, or of a part of one.
type file struct {
	domain string
	tables []*draftEntity
}

// inFiles divides tables among files: by their schemas, and those of a large schema by the letters
// that their names begin with.
func inFiles(domain string, all []*draftEntity) (files []file) {
	var schemas []string
	of := map[string][]*draftEntity{}
	for _, e := range all {
		schema := ""
		if i := strings.LastIndexByte(e.table.Name, '.'); i >= 0 {
			schema = e.table.Name[:i]
		}
		if of[schema] == nil {
			schemas = append(schemas, schema)
		}
		of[schema] = append(of[schema], e)
	}
	taken := map[string]bool{"system": true}
	for _, schema := range schemas {
		name := domain
		if schema != "" && len(schemas) > 1 {
			if name = slug(schema, '-'); name == domain || taken[name] || strings.HasPrefix(name, "verbatim") {
				name = domain + "-" + name
			}
		}
		for some := of[schema]; len(some) > 0; {
			n, part := min(maxProposed, len(some)), name
			if len(of[schema]) > maxProposed {
				part += "-" + some[0].name[:1] + "-" + some[n-1].name[:1]
			}
			for base, i := part, 2; taken[part]; i++ {
				part = base + "-" + strconv.Itoa(i)
			}
			taken[part] = true
			files, some = append(files, file{part, some[:n]}), some[n:]
		}
	}
	return files
}

// begun returns a first palette without tables.
func begun(domain string) Proposal {
	text := `# yaml-language-server: $schema=palette.schema.json
domain: ` + yamlText(domain) + `
description: What this is about, in a sentence.  # DECIDE
roles:
  - {name: member, description: Whoever uses it.}
entities:
  note:  # DECIDE: what there is
    description: Something that somebody wrote down.
    managed: true
    key: note_id
    scope: {principal: owner}
    label: "{text}"
    fields:
      owner: {type: string, required: true}
      text: {type: string, required: true, max-length: 200}
verbs:
  - verb: add-note
    description: Write something down.
    roles: [member]
    args:
      - {name: text, type: string, required: true, max-length: 200}
    effects:
      - {creates: note, set: {owner: principal, text: text}}
  - verb: list-note
    description: What I wrote down.
    roles: [member]
    reads: {entity: note, order: [text], fields: {note: note_id, text: text}}
`
	return Proposal{Name: domain + ".yaml", Text: []byte(text), Decide: strings.Count(text, "DECIDE")}
}

type proposer struct {
	taken  map[string]bool
	entity map[string]*draftEntity // by table
	lists  []string                // text of the code lists
	enums  map[string]string       // code lists by enumeration type
	left   map[string]int          // see Proposal
}

// A draftEntity is a proposed entity.
type draftEntity struct {
	table  *stores.Table
	name   string
	fields []proposedField
	key    []*proposedField
	label  string
	why    string // why it has no entity
	decide []string
}

type proposedField struct {
	column *stores.TableColumn
	name   string // "artist"
	arg    string // "artist"
	ref    *draftEntity
	codes  string // name of its code list
	kept   bool   // it is listed under `fields`
}

// unique returns a name that nothing else has.
func (p *proposer) unique(name string) string {
	if strings.HasPrefix(name, "system-") { // the engine's own names begin like this
		name = "the-" + name
	}
	for n, base := 2, name; p.taken[name]; n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	p.taken[name] = true
	return name
}

func lastName(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

// unaccented replaces accented letters, as in names of rows: Fällig becomes fallig.
var unaccented = strings.NewReplacer("ä", "a", "à", "a", "á", "a", "â", "a", "ã", "a", "å", "a", "æ", "ae", "ç", "c", "è", "e", "é", "e", "ê", "e", "ë", "e", "ì", "i", "í", "i", "î", "i", "ï", "i", "ñ", "n",
	"ò", "o", "ó", "o", "ô", "o", "õ", "o", "ö", "o", "ø", "o", "œ", "oe", "ù", "u", "ú", "u", "û", "u", "ü", "u", "ý", "y", "ÿ", "y", "ß", "ss",
	"Ä", "A", "À", "A", "Á", "A", "Â", "A", "Ã", "A", "Å", "A", "Æ", "Ae", "Ç", "C", "È", "E", "É", "E", "Ê", "E", "Ë", "E", "Ì", "I", "Í", "I", "Î", "I", "Ï", "I", "Ñ", "N",
	"Ò", "O", "Ó", "O", "Ô", "O", "Õ", "O", "Ö", "O", "Ø", "O", "Œ", "Oe", "Ù", "U", "Ú", "U", "Û", "U", "Ü", "U", "Ý", "Y")

// slug makes a palette's name from a database's: OrderLine becomes order-line.
func slug(name string, dash rune) string {
	var b strings.Builder
	last := dash
	runes := []rune(unaccented.Replace(name))
	for i, r := range runes {
		lower := unicode.ToLower(r)
		switch {
		case lower >= 'a' && lower <= 'z' || lower >= '0' && lower <= '9':
			begins := unicode.IsUpper(r) && i > 0 && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
			if begins && last != dash {
				b.WriteRune(dash)
			}
			b.WriteRune(lower)
			last = lower
		case last != dash:
			b.WriteRune(dash)
			last = dash
		}
	}
	s := strings.Trim(b.String(), string(dash))
	if s == "" || s[0] < 'a' {
		s = "n" + s
	}
	return s[:min(len(s), 60)]
}

// singular returns the name for one row of a table with a plural name.
func singular(name string) string {
	for _, end := range [...][2]string{{"ies", "y"}, {"sses", "ss"}, {"xes", "x"}, {"ches", "ch"}, {"shes", "sh"}, {"ss", "ss"}, {"us", "us"}, {"is", "is"}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(name, end[0]); ok && len(stem) > 1 {
			return stem + end[1]
		}
	}
	return name
}

// throughOthers finds the target of a column that is one of several columns of a foreign key: the
// column at the other end may be a reference itself.
func (p *proposer) throughOthers(fk stores.ForeignKey, column string) (stores.ForeignKey, bool) {
	to, i := p.entity[fk.Table], slices.Index(fk.Columns, column)
	if len(fk.Columns) < 2 || to == nil || i < 0 || i >= len(fk.To) {
		return fk, false
	}
	for _, on := range to.table.Foreign {
		if len(on.Columns) == 1 && on.Columns[0] == fk.To[i] {
			return stores.ForeignKey{Columns: []string{column}, Table: on.Table, To: on.To}, true
		}
	}
	return fk, false
}

// fields determines the fields of an entity.
func (p *proposer) fields(e *draftEntity) {
	t := e.table
	switch {
	case t.Fault != "":
		e.why = "it cannot be read: " + verbs.OneLine(t.Fault)
	case len(t.Columns) == 0:
		e.why = "it has no columns"
	case len(t.Key) == 0 && t.View:
		e.why = "no column of the view tells its rows apart, and a row is named by its key: add one to the view"
	case len(t.Key) == 0:
		e.why = "it has no primary key, and no columns that are unique and never null: a row is named by its key"
	case naming.IsOurs(t.Name):
		e.why = "names that begin with verbatim are taken"
	case !naming.IsTable(t.Name):
		e.why = "its name cannot be written in a palette"
	}
	if e.why != "" {
		p.left["table without a key, or that cannot be read"]++
		return
	}
	for _, check := range t.Unsaid {
		p.left["CHECK constraint that is no bound, pattern or list"]++
		e.decide = append(e.decide, "the database checks "+check)
	}
	foreign := slices.Clone(t.Foreign)
	for _, fk := range t.Foreign {
		for _, c := range fk.Columns {
			if on, ok := p.throughOthers(fk, c); ok {
				foreign = append(foreign, on)
			}
		}
		if len(fk.Columns) > 1 {
			p.left["reference of several columns"]++
			e.decide = append(e.decide, fmt.Sprintf("(%s) together refer to a row of %s; a field refers by one column", strings.Join(fk.Columns, ", "), fk.Table))
		}
	}
	names := map[string]bool{}
	for i := range t.Columns {
		c := &t.Columns[i]
		f := proposedField{column: c, name: slug(c.Name, '_')}
		if c.Kind == stores.Null || !naming.IsColumn(c.Name) {
			if c.Kind != stores.Null {
				c.Why = "its name cannot be written in a palette"
			}
			if slices.Contains(t.Key, c.Name) {
				e.why = "column " + c.Name + " of its key is held by no field: " + c.Why
				p.left["table whose key no field holds"]++
				return
			}
			p.left["column of type "+strings.ToLower(c.Type)]++
			e.fields = append(e.fields, f)
			continue
		}
		for _, fk := range foreign {
			to := p.entity[fk.Table]
			if len(fk.Columns) != 1 || fk.Columns[0] != c.Name {
				continue
			}
			if len(t.Key) == 1 && t.Key[0] == c.Name {
				if !t.View && fk.Table != t.Name {
					p.left["key that is a reference"]++
					e.decide = append(e.decide, fmt.Sprintf("a row belongs to the row of %s that has its key: %s says so, and no field can", fk.Table, c.Name))
				}
				continue
			}
			short := strings.TrimSuffix(f.name, "_id")
			if to != nil && len(fk.To) == 1 && f.name == slug(fk.To[0], '_') && strings.HasPrefix(f.name, naming.Underscored(to.name)+"_") {
				short = naming.Underscored(to.name) // job_no refers to a job
			}
			switch {
			case to == nil:
				p.left["reference to a table that is not taken"]++
				e.decide = append(e.decide, fmt.Sprintf("column %s refers to %s, which is not there", c.Name, fk.Table))
			case to.table.Fault != "" || len(to.table.Key) != 1 || len(fk.To) != 1 || to.table.Key[0] != fk.To[0] || !keyFits(to.table, c):
				p.left["reference to something else than a key"]++
				e.decide = append(e.decide, fmt.Sprintf("column %s refers to rows of %s, not by a key of one column that a field holds", c.Name, fk.Table))
			default:
				f.ref = to
				if !names[short] && len(short) > 0 {
					f.name = short
				}
				if fk.Dangling {
					e.decide = append(e.decide, fmt.Sprintf("some rows refer by %s to rows of %s that are not there", c.Name, fk.Table))
				}
			}
			break
		}
		for naming.IsReserved(f.name) || f.name == "progress" || f.name == "count" || f.name == "describe" || names[f.name] {
			f.name += "_value"
		}
		names[f.name] = true
		f.arg, f.kept = strings.ReplaceAll(f.name, "_", "-"), true
		if f.ref == nil && !slices.Contains(t.Key, c.Name) {
			f.codes = p.codes(e, &f)
		}
		e.fields = append(e.fields, f)
	}
	for _, column := range t.Key {
		for i := range e.fields {
			if f := &e.fields[i]; f.column.Name == column {
				e.key = append(e.key, f)
				switch k := f.column.Kind; {
				case k == stores.Int, k == stores.String, k == stores.UUID, k == stores.Date && len(t.Key) > 1:
				default:
					e.why = fmt.Sprintf("its key %s is %s %s, which names no row", column, "a", k)
				}
			}
		}
	}
}

// keyFits reports whether a column has the kind of a table's key.
func keyFits(to *stores.Table, c *stores.TableColumn) bool {
	return slices.ContainsFunc(to.Columns, func(k stores.TableColumn) bool {
		return k.Name == to.Key[0] && k.Kind == c.Kind && (k.Kind == stores.Int || k.Kind == stores.String || k.Kind == stores.UUID)
	})
}

var (
	labels = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(name|title|label|subject|company|full_name|display_name|.*_name|.*_title)$`)
	})
	names = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(name|title|label|subject|company|full_name|display_name)$`)
	})
	private = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`mail|phone|mobile`) })
)

// called returns the fields by which people know a row, nil if none is recognized.
func (e *draftEntity) called() []string {
	text := func(f *proposedField) bool {
		return f.kept && f.ref == nil && f.codes == "" && f.column.Kind == stores.String && !secret().MatchString(f.name)
	}
	alike := func(f *proposedField) bool { // "Mr." tells nobody apart
		rows := int64(0)
		for _, h := range f.column.Few {
			rows += h.Rows
		}
		return !f.column.Unique && rows > int64(len(f.column.Few))
	}
	find := func(name string) bool {
		return slices.ContainsFunc(e.fields, func(f proposedField) bool { return f.name == name && text(&f) })
	}
	if find("first_name") && find("last_name") {
		return []string{"first_name", "last_name"}
	}
	for _, fits := range []func(f *proposedField) bool{
		func(f *proposedField) bool { return f.column.Unique && labels().MatchString(f.name) },
		func(f *proposedField) bool { return names().MatchString(f.name) && !alike(f) },
		func(f *proposedField) bool { return f.column.Unique && !private().MatchString(f.name) },
		func(f *proposedField) bool { return labels().MatchString(f.name) && !alike(f) },
	} {
		for i := range e.fields {
			if f := &e.fields[i]; text(f) && fits(f) {
				return []string{f.name}
			}
		}
	}
	return nil
}

// labelled proposes a label for rows.
func (e *draftEntity) labelled() string {
	if all := e.called(); all != nil {
		return "{" + strings.Join(all, "} {") + "}"
	}
	label := strings.ReplaceAll(e.name, "-", " ")
	for _, f := range e.key {
		switch {
		case secret().MatchString(f.name): // the name of the row has a suffix of its own
		case f.ref == nil:
			label += " {" + f.name + "}"
		case len(f.ref.called()) == 1:
			label += " {" + f.name + "." + f.ref.called()[0] + "}"
		case len(f.ref.key) == 1:
			label += " {" + f.name + "." + f.ref.key[0].name + "}"
		}
	}
	return label
}

var secret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|_)(password|passwd|secret|token|ssn|iban|card_number|api_key|pin)($|_)`)
})

// codes writes a list for a column that accepts only some values, and returns its name.
func (p *proposer) codes(e *draftEntity, f *proposedField) string {
	c := f.column
	if len(c.Takes) == 0 || c.Kind != stores.String && c.Kind != stores.Int {
		return ""
	}
	if name := p.enums[c.Enum]; name != "" {
		return name
	}
	lines, ok := codeLines(c.Takes, c.Kind)
	if !ok {
		return ""
	}
	name := e.name + "-" + f.arg
	if c.Enum != "" {
		name = slug(lastName(c.Enum), '-')
	}
	name = p.unique(name)
	if c.Enum != "" {
		p.enums[c.Enum] = name
	}
	p.lists = append(p.lists, "  - name: "+yamlText(name)+"\n    values:\n"+lines)
	return name
}

// codeLines writes the values of a code list.
func codeLines(all []string, kind stores.Kind) (string, bool) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, v := range all {
		code := strings.ToUpper(slug(v, '_'))
		decide := ""
		if kind == stores.Int {
			code, decide = "CODE_"+strings.ReplaceAll(v, "-", "MINUS_"), "  # DECIDE: what is it called?"
		}
		if seen[code] || !naming.IsCode(code) || v == "" || strings.ContainsFunc(v, values.Unseen) {
			return "", false
		}
		seen[code] = true
		value := yamlText(v)
		if kind == stores.Int {
			value = v
		} else if naming.IsNumber(v) {
			value = strconv.Quote(v)
		}
		if code == v {
			fmt.Fprintf(&b, "      - %s\n", yamlText(code))
		} else {
			fmt.Fprintf(&b, "      - {code: %s, value: %s}%s\n", yamlText(code), value, decide)
		}
	}
	return b.String(), true
}

// A writer writes lines.
type writer struct{ bytes.Buffer }

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.Buffer, format, args...)
	w.WriteByte('\n')
}

func (p *proposer) write(w *writer, all []*draftEntity) {
	if len(p.lists) > 0 { // only in the first file
		w.line("codes:  # as the types and constraints of the tables list them")
		w.WriteString(strings.Join(p.lists, ""))
		p.lists = nil
	}
	some := slices.ContainsFunc(all, func(e *draftEntity) bool { return e.why == "" })
	if some {
		w.line("entities:")
	}
	for _, e := range all {
		if e.why != "" {
			w.line("  # DECIDE: nothing is said of %s: %s.", verbs.OneLine(e.table.Name), e.why)
			continue
		}
		e.writeEntity(w)
	}
	if some {
		w.line("verbs:")
	}
	for _, e := range all {
		if e.why == "" {
			e.writeVerbs(w)
		}
	}
}

func (e *draftEntity) writeEntity(w *writer) {
	t := e.table
	what := "table"
	if t.View {
		what = "view"
	}
	w.line("")
	w.line("  %s:", yamlText(e.name))
	if t.Comment != "" {
		w.line("    description: %s", strconv.Quote(verbs.OneLine(t.Comment)))
	} else {
		w.line("    description: %s  # DECIDE", yamlText("A row of "+what+" "+t.Name+"."))
	}
	w.line("    table: %s", yamlText(t.Name))
	keys := make([]string, len(e.key))
	for i, f := range e.key {
		keys[i] = yamlText(f.name)
	}
	guess := ""
	if t.View {
		guess = "  # DECIDE: it tells the rows apart that are there now; will it always?"
	}
	if len(keys) > 1 {
		w.line("    key: [%s]%s", strings.Join(keys, ", "), guess)
	} else {
		w.line("    key: %s%s", keys[0], guess)
		switch c := e.key[0].column; {
		case t.View:
		case c.Numbered, c.Given && c.Kind != stores.UUID:
			w.line("    key-by: database")
		case c.Kind != stores.UUID:
			w.line("    key-by: caller")
		}
	}
	if t.View {
		w.line("    read-only: true")
	}
	owner := e.owners()
	if owner != "" {
		w.line("    scope: everyone  # DECIDE: or, if a row belongs to whoever it refers to: scope: %s", owner)
	} else {
		w.line("    scope: everyone  # DECIDE: or self, if its rows own themselves and what refers to them")
	}
	w.line("    label: %s", strconv.Quote(e.label))
	if unique := e.unique(); unique != "" {
		w.line("    unique: [%s]", unique)
	}
	for _, d := range e.decide {
		w.line("    # DECIDE: %s.", verbs.OneLine(d))
	}
	w.line("    fields:")
	for i := range e.fields {
		e.writeField(w, &e.fields[i])
	}
}

// isKey reports whether a field is the key, or a part of it.
func (e *draftEntity) isKey(f *proposedField) bool {
	return slices.ContainsFunc(e.key, func(k *proposedField) bool { return k.name == f.name })
}

// hides reports whether a field is proposed as sensitive. A key names rows, and cannot be.
func (e *draftEntity) hides(f *proposedField) bool {
	return secret().MatchString(f.name) && !e.isKey(f)
}

// unique writes the sets of fields that no two rows share.
func (e *draftEntity) unique() string {
	var all []string
	for _, set := range e.table.Unique {
		var names []string
		for _, column := range set {
			for i := range e.fields {
				if f := &e.fields[i]; f.kept && f.column.Name == column && !secret().MatchString(f.name) {
					names = append(names, yamlText(f.name))
				}
			}
		}
		if one := "[" + strings.Join(names, ", ") + "]"; len(names) == len(set) && !e.table.View && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return strings.Join(all, ", ")
}

// owners returns the path of required references from a row to its owner: the first such
// reference, and so on.
func (e *draftEntity) owners() string {
	var path []string
	for at := e; len(path) < 5; {
		i := slices.IndexFunc(at.fields, func(f proposedField) bool { return f.ref != nil && f.ref != at && (f.column.Required || at.table.View) })
		if i < 0 {
			break
		}
		path = append(path, at.fields[i].name)
		at = at.fields[i].ref
	}
	return strings.Join(path, ".")
}

func (e *draftEntity) writeField(w *writer, f *proposedField) {
	c := f.column
	if !f.kept {
		w.line("      # DECIDE: column %s is left out: %s.", verbs.OneLine(c.Name), verbs.OneLine(c.Why))
		return
	}
	keys := "type: " + f.typed()
	if c.Name != f.name {
		keys += ", column: " + yamlText(c.Name)
	}
	if c.Form != "" {
		keys += ", form: " + strconv.Quote(c.Form)
	}
	zoneless := c.Kind == stores.Time && strings.HasPrefix(c.Type, "timestamp") && strings.HasSuffix(c.Type, "without time zone")
	if zoneless {
		keys += ", zone: UTC"
	}
	switch {
	case c.Computed:
		keys += ", read-only: true"
	case c.Required:
		keys += ", required: true"
	}
	if c.Given && !c.Numbered && !c.Computed {
		keys += ", default-by: database"
	}
	if e.hides(f) {
		keys += ", sensitive: true"
	}
	if c.Comment != "" {
		keys += ", description: " + strconv.Quote(verbs.OneLine(c.Comment))
	}
	w.line("      %s: {%s}", yamlText(f.name), keys)
	if zoneless {
		w.line("      # DECIDE: %s has no time zone: in which is it written? Europe/Paris, say.", f.name)
	}
	if e.isKey(f) && secret().MatchString(f.name) {
		w.line("      # DECIDE: %s looks like a secret, and is the key: whoever may read the rows is shown it.", f.name)
	}
	if len(c.Few) > 0 && f.ref == nil && f.codes == "" {
		rows := int64(0)
		values := make([]string, len(c.Few))
		for i, h := range c.Few {
			rows += h.Rows
			values[i] = h.Value
		}
		if lines, ok := codeLines(values, stores.String); ok && len(values) > 1 && rows >= 5*int64(len(values)) && !secret().MatchString(f.name) {
			w.line("      # DECIDE: if %s takes only these, make it a code of a list with these values:", f.name)
			for line := range strings.Lines(lines) {
				w.WriteString("      # " + strings.TrimLeft(line, " "))
			}
		}
	}
}

// typed writes the type of a field or an argument, with its limits.
func (f *proposedField) typed() string {
	c := f.column
	switch {
	case f.ref != nil:
		return "ref, ref-type: " + yamlText(f.ref.name)
	case f.codes != "":
		return "code, ref-type: " + yamlText(f.codes)
	case c.Elem != stores.Null:
		return "list, of: " + c.Elem.String()
	case c.Kind == stores.JSON:
		return "object"
	}
	typ := c.Kind.String()
	if c.Kind == stores.Decimal && c.Places > 0 {
		typ += fmt.Sprintf(", scale: %d", c.Places)
	}
	if c.Kind == stores.String && c.MinLength > 0 && (c.Length == 0 || c.MinLength <= c.Length) {
		typ += fmt.Sprintf(", min-length: %d", c.MinLength)
	}
	if c.Kind == stores.String && c.Length > 0 {
		typ += fmt.Sprintf(", max-length: %d", c.Length)
	}
	if c.Kind == stores.String && c.Pattern != "" {
		typ += ", pattern: " + strconv.Quote(c.Pattern)
	}
	if c.Min != "" {
		typ += ", min: " + c.Min
	}
	if c.Max != "" {
		typ += ", max: " + c.Max
	}
	return typ
}

func (e *draftEntity) writeVerbs(w *writer) {
	t := e.table
	var shown []string
	if len(e.key) == 1 {
		shown = append(shown, yamlText(e.key[0].name)+": "+yamlText(e.key[0].name))
	}
	var refs []*proposedField
	for i := range e.fields {
		f := &e.fields[i]
		if !f.kept || len(e.key) == 1 && f == e.key[0] || e.hides(f) {
			continue
		}
		shown = append(shown, yamlText(f.name)+": "+yamlText(f.name))
		if f.ref != nil {
			refs = append(refs, f)
		}
	}
	w.line("")
	w.line("  - verb: list-%s", e.name)
	w.line("    description: %s", yamlText("Rows of "+t.Name+", page by page."))
	w.line("    roles: [reader, keeper]")
	w.line("    args:")
	after := "after"
	var where []string
	for _, f := range refs {
		if f.arg == after {
			after = "after-row"
		}
		where = append(where, "("+f.name+" == nil or row."+f.name+" == "+f.name+")")
		w.line("      - {name: %s, type: ref, ref-type: %s}", yamlText(f.arg), yamlText(f.ref.name))
	}
	w.line("      - {name: %s, type: ref, ref-type: %s, description: the row after which the page begins}", after, yamlText(e.name))
	w.line("    reads:")
	w.line("      entity: %s", yamlText(e.name))
	if len(where) > 0 {
		w.line("      where: %s", strconv.Quote(strings.Join(where, " and ")))
	}
	order := make([]string, len(e.key))
	for i, f := range e.key {
		order[i] = yamlText(f.name)
	}
	w.line("      order: [%s]", strings.Join(order, ", "))
	w.line("      limit: 100")
	w.line("      after: %s", after)
	w.line("      fields: {%s}", strings.Join(shown, ", "))
	w.line("  - verb: show-%s", e.name)
	w.line("    description: %s", yamlText("One row of "+t.Name+"."))
	w.line("    roles: [reader, keeper]")
	w.line("    args: [{name: %s, type: ref, ref-type: %s, required: true}]", e.its(), yamlText(e.name))
	w.line("    reads: {entity: %s, one: %s, fields: {%s}}", yamlText(e.name), e.its(), strings.Join(shown, ", "))
	e.writeAdd(w)
}

// its returns the name of the argument that names one row of the entity.
func (e *draftEntity) its() string {
	if naming.IsReserved(e.name) {
		return e.name + "-row"
	}
	return yamlText(e.name)
}

func (e *draftEntity) writeAdd(w *writer) {
	if e.table.View {
		return
	}
	for i := range e.fields {
		if f := &e.fields[i]; !f.kept && f.column.Required && !f.column.Given && !f.column.Computed {
			w.line("  # DECIDE: nothing adds to %s: column %s must have a value, and no field holds it.", verbs.OneLine(e.table.Name), verbs.OneLine(f.column.Name))
			return
		}
	}
	var args, set []string
	for i := range e.fields {
		f := &e.fields[i]
		c := f.column
		ours := len(e.key) == 1 && f == e.key[0] && (c.Numbered || c.Given || c.Kind == stores.UUID)
		if !f.kept || c.Computed || ours {
			continue
		}
		typ := f.typed()
		if word := verbs.TypeOfName(f.name); word != "" && typ == "string" && !e.hides(f) {
			typ = word // what is written from now on is one; the field stays text, since nobody knows what rows hold
		}
		arg := fmt.Sprintf("{name: %s, type: %s", yamlText(f.arg), typ)
		if (c.Required || e.isKey(f)) && !c.Given {
			arg += ", required: true"
		}
		if e.hides(f) {
			arg += ", sensitive: true"
		}
		args = append(args, arg+"}")
		set = append(set, yamlText(f.name)+": "+yamlText(f.name))
	}
	if len(set) == 0 {
		w.line("  # DECIDE: nothing adds to %s: no field of it can be set.", verbs.OneLine(e.table.Name))
		return
	}
	w.line("  - verb: add-%s", e.name)
	w.line("    description: %s", yamlText("Add a row to "+e.table.Name+"."))
	w.line("    roles: [keeper]")
	w.line("    args:")
	for _, a := range args {
		w.line("      - %s", a)
	}
	w.line("    effects:")
	w.line("      - {creates: %s, set: {%s}}", yamlText(e.name), strings.Join(set, ", "))
}

var plainYAML = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`) })

// yamlText writes a text in YAML, in quotes if it could be read as something else.
func yamlText(s string) string {
	switch strings.ToLower(s) {
	case "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return strconv.Quote(s)
	}
	if plainYAML().MatchString(s) {
		return s
	}
	return strconv.Quote(s) // YAML has all of its escapes
}
