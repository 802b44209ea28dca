package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// A shape says how the table of an entity is declared, and so how its columns are read and
// written. Tables that are not ours differ in their shapes.
type shape struct {
	columns  []form // parallel to Entity.Fields
	lockable bool   // rows may be locked by this role
	view     bool
	rooted   bool // its rows keep their owner: see root.go
	marked   bool // its rows keep their marks: see mark.go
	always   bool // the database generates keys, and accepts no other unless told to
	rewrites bool // see stores.Tx
	// constraints lists the columns of each constraint and unique index of a table of others.
	constraints map[string][]string
	drawn       []string // parallel to columns: the expression that gives a new row its value, "" if there is none
	parts       []int    // the parts of a key that has several; the key is the last of the columns
	quoted      []string
	aliased     sync.Map // caches datums by alias
}

// A learned holds the shapes of entities that are known with everything that they refer to, and
// how often shapes were forgotten before. It is immutable: a new one replaces it.
type learned struct {
	shapes map[*stores.Entity]*shape
	epoch  int
}

// datums returns the fields of the row with an alias, in the form in which values are compared.
func (sh *shape) datums(alias string) []string {
	if all, ok := sh.aliased.Load(alias); ok {
		return all.([]string)
	}
	all := make([]string, len(sh.columns))
	for i := range all {
		name := sh.quoted[i]
		if name == "" {
			all[i] = sh.wholeKey(all)
			continue
		}
		if alias != "" {
			name = alias + "." + name
		}
		all[i] = sh.columns[i].read(name)
	}
	sh.aliased.Store(alias, all)
	return all
}

// wholeKey writes a key of several parts, as stores.NewKey does.
func (sh *shape) wholeKey(datums []string) string {
	parts := make([]string, len(sh.parts))
	for i, f := range sh.parts {
		if parts[i] = "(" + datums[f] + ")::text"; sh.columns[f].text {
			parts[i] = "replace(replace(" + parts[i] + ", '~', '~0'), '/', '~1')"
		}
	}
	return "(" + strings.Join(parts, "||'/'||") + ")"
}

// A form says how one column stores its field.
type form struct {
	typ    string   // of an argument that sets it
	arg    string   // type of an argument that is compared with the result of read
	reads  string   // expression that reads the column, % standing for it; "" is the column itself
	tells  string   // expression that returns the column, % standing for it, where reads could fail; "" is reads
	writes string   // expression that makes the column's value from an argument
	limit  string   // the type with its length or precision, of a column of others
	takes  []string // the labels of an enumeration; nil for other types
	domain string   // "schema.name" of its domain, "" without one
	list   bool     // an array, set from its items
	text   bool     // compared as text in any collation
}

func (f *form) read(col string) string { return fill(f.reads, col) }

// write writes the column's value from an argument, which arg writes.
func (f *form) write(t *text, arg func(*text)) {
	if f.writes == "" {
		arg(t)
		return
	}
	p := t.Part()
	arg(p)
	t.Add(fill(f.writes, p.String()))
	t.Args = append(t.Args, p.Args...)
}

func fill(pattern, with string) string {
	if pattern == "" {
		return with
	}
	return strings.ReplaceAll(pattern, "%", with)
}

// A declaration describes a column as the catalogue does.
type declaration struct {
	sqlcore.Column // declared as a person would write it
	name           string
	typ            string // the type that arguments are cast to: without length or precision
	domain         string // "schema.name", "" if the type is none
	limit          string // the base type with its length or precision
	base           string // pg_type.typname; for a domain, that of its base
	baseSchema     string
	class          string // pg_type.typtype of the base: b, e …
	category       string // pg_type.typcategory of the base: A is an array
	element        string // typname of an array's element
	always         bool   // an identity that takes no other value unless it is told to
	triggers       bool   // its table has triggers
	exact          bool   // its collation distinguishes all different texts
}

// theColumns reads the columns of a table from the catalogue; its arguments are schema and name.
const theColumns = `SELECT a.attname::text, pg_catalog.format_type(a.atttypid, NULL), pg_catalog.format_type(a.atttypid, a.atttypmod),
	CASE WHEN d.typtype = 'd' THEN (SELECT dn.nspname::text FROM pg_catalog.pg_namespace dn WHERE dn.oid = d.typnamespace) || '.' || d.typname ELSE '' END,
	CASE WHEN d.typtype = 'd' THEN pg_catalog.format_type(d.typbasetype, d.typtypmod) ELSE pg_catalog.format_type(a.atttypid, a.atttypmod) END,
	b.typname::text, bn.nspname::text, b.typtype::text, b.typcategory::text, COALESCE(e.typname::text, ''),
	a.attnotnull, a.atthasdef OR a.attidentity <> '' OR a.attgenerated <> '', COALESCE(co.collisdeterministic, true),
	COALESCE((SELECT pg_catalog.string_agg(en.enumlabel::text, E'\x01' ORDER BY en.enumsortorder) FROM pg_catalog.pg_enum en WHERE en.enumtypid = b.oid), ''),
	COALESCE(CASE WHEN a.attidentity <> '' THEN 'pg_catalog.nextval(' || pg_catalog.quote_literal(pg_catalog.pg_get_serial_sequence(pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname), a.attname)) || '::regclass)'
		WHEN a.attgenerated = '' THEN pg_catalog.pg_get_expr(ad.adbin, ad.adrelid) END, ''), a.attidentity = 'a', a.attgenerated <> '',
	EXISTS (SELECT 1 FROM pg_catalog.pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgenabled <> 'D')
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_catalog.pg_type d ON d.oid = a.atttypid
JOIN pg_catalog.pg_type b ON b.oid = CASE WHEN d.typtype = 'd' THEN d.typbasetype ELSE d.oid END
JOIN pg_catalog.pg_namespace bn ON bn.oid = b.typnamespace
LEFT JOIN pg_catalog.pg_type e ON e.oid = b.typelem AND b.typcategory = 'A'
LEFT JOIN pg_catalog.pg_collation co ON co.oid = a.attcollation
LEFT JOIN pg_catalog.pg_attrdef ad ON ad.adrelid = a.attrelid AND ad.adnum = a.attnum
WHERE n.nspname = $1::text AND c.relname = $2::text ORDER BY a.attnum`

func readDeclaration(r row) declaration {
	d := declaration{name: r.str(0), typ: r.str(1), domain: r.str(3), limit: r.str(4), base: r.str(5), baseSchema: r.str(6), class: r.str(7), category: r.str(8), element: r.str(9), exact: r.yes(12), always: r.yes(15), triggers: r.yes(17),
		Column: sqlcore.Column{Declared: r.str(2), NotNull: r.yes(10), Fallback: r.yes(11), Gives: r.str(14), Computed: r.yes(16)}}
	if labels := r.str(13); labels != "" {
		d.Takes = strings.Split(labels, "\x01")
	}
	return d
}

// form says how a declared column stores values of a kind, or why it cannot.
func (d *declaration) form(kind stores.Kind, managed bool) (form, error) {
	plain := form{typ: d.typ, arg: typeOf(kind)}
	refuse := func(why string) (form, error) {
		return plain, fmt.Errorf("a %s does not fit in it%s", kind, why)
	}
	builtin := d.baseSchema == "pg_catalog"
	switch kind {
	case stores.Bool:
		if builtin && d.base == "bool" {
			return plain, nil
		}
	case stores.Int:
		if builtin && (d.base == "int2" || d.base == "int4" || d.base == "int8") {
			return plain, nil
		}
	case stores.Decimal:
		if builtin && d.base == "numeric" {
			return plain, nil
		}
		if d.base == "float4" || d.base == "float8" || d.base == "money" {
			return refuse(": it would not be exact; declare it numeric")
		}
	case stores.String:
		switch {
		case d.typ == "character":
			// A cast to this type, without its length, would give one character.
			return form{typ: "text", arg: "text", reads: `(%::text COLLATE pg_catalog."C")`, text: true}, nil
		case d.class == "e", d.base == "citext", builtin && (d.base == "bpchar" || d.base == "name"):
			return form{typ: d.typ, arg: "text", reads: `(%::text COLLATE pg_catalog."C")`, text: true}, nil
		case builtin && (d.base == "text" || d.base == "varchar"):
			plain.text = true
			if !d.exact {
				plain.reads = `(% COLLATE pg_catalog."C")`
			}
			return plain, nil
		}
	case stores.Date:
		if builtin && d.base == "date" {
			return plain, nil
		}
	case stores.Time:
		switch {
		case builtin && d.base == "timestamptz":
			return plain, nil
		case builtin && d.base == "timestamp": // it means UTC
			return form{typ: "timestamptz", arg: "timestamptz", reads: "(% AT TIME ZONE 'UTC')", writes: "(% AT TIME ZONE 'UTC')"}, nil
		}
	case stores.Duration:
		switch {
		case builtin && d.base == "int8":
			return plain, nil
		case builtin && d.base == "interval":
			// A month has no length. It is compared as PostgreSQL compares it, as thirty days, and
			// returned as what no duration is.
			micros := "(CASE WHEN % IS NOT NULL THEN LEAST(GREATEST(EXTRACT(epoch FROM %), -9e12), 9e12) * 1000000 END)::bigint"
			return form{typ: "bigint", arg: "bigint", writes: "(% * interval '1 microsecond')", reads: micros,
				tells: "CASE WHEN EXTRACT(year FROM %) <> 0 OR EXTRACT(month FROM %) <> 0 OR pg_catalog.abs(EXTRACT(epoch FROM %)) > 9e12 THEN '-9223372036854775808'::bigint ELSE " + micros + " END"}, nil
		}
	case stores.UUID:
		if builtin && d.base == "uuid" {
			return plain, nil
		}
	case stores.JSON:
		switch {
		case builtin && d.base == "json" && managed:
			// The JSON that we wrote is canonical, and compares as text.
			return form{typ: d.typ, arg: "text", reads: "%::text", text: true}, nil
		case builtin && (d.base == "json" || d.base == "jsonb" || d.base == "text"):
			return form{typ: d.typ, arg: "jsonb", reads: "%::jsonb", tells: "%"}, nil
		case d.category == "A" && arrayElements[d.element]:
			return form{typ: "text", arg: "jsonb", reads: "pg_catalog.to_jsonb(%)", writes: "%::text::" + d.typ, list: true}, nil
		}
	}
	return refuse("")
}

// arrayElements are the types of array items that a list may have.
var arrayElements = sqlcore.SetOf("text varchar bpchar citext uuid int2 int4 int8 numeric bool date")

// declaredAs returns the type of a column of ours.
func declaredAs(kind stores.Kind) string {
	switch kind {
	case stores.String:
		return `text COLLATE pg_catalog."C"`
	case stores.Time:
		return "timestamp with time zone"
	case stores.JSON:
		return "json"
	}
	return typeOf(kind)
}

// ready makes sure that the shapes of entities, and of those that their references lead to, are
// known.
func (c *conn) ready(ctx context.Context, v *view, entities ...*stores.Entity) error {
	c.learned(v)
	if !slices.ContainsFunc(entities, func(e *stores.Entity) bool { return e != nil && v.shapes[e] == nil }) {
		return nil
	}
	if v.shapes == nil {
		c.s.mu.Lock()
		v.epoch = c.s.epoch
		c.s.mu.Unlock()
	}
	more := map[*stores.Entity]*shape{}
	maps.Copy(more, v.shapes)
	v.shapes = more
	if err := c.learn(ctx, v, entities...); err != nil {
		return err
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if c.s.epoch == v.epoch {
		all := maps.Clone(more)
		if old := c.s.learned.Load(); old != nil {
			maps.Copy(all, old.shapes)
		}
		c.s.learned.Store(&learned{all, v.epoch})
	}
	return nil
}

// learned uses the shapes that are already known.
func (c *conn) learned(v *view) {
	if all := c.s.learned.Load(); v.shapes == nil && all != nil {
		v.shapes, v.epoch = all.shapes, all.epoch
	}
}

func (c *conn) learn(ctx context.Context, v *view, entities ...*stores.Entity) error {
	for _, e := range entities {
		if e == nil || v.shapes[e] != nil {
			continue
		}
		sh, err := c.shape(ctx, e)
		if err != nil {
			return err
		}
		v.shapes[e] = sh
		for i := range e.Fields {
			if err := c.learn(ctx, v, e.Fields[i].Ref); err != nil {
				return err
			}
		}
		for _, step := range e.Scope {
			if err := c.learn(ctx, v, step.To); err != nil {
				return err
			}
		}
	}
	return nil
}

// shape returns the shape of an entity's table, and reads it from the catalogue if it is not
// known.
func (c *conn) shape(ctx context.Context, e *stores.Entity) (*shape, error) {
	c.s.mu.Lock()
	sh := c.s.shapes[e]
	c.s.mu.Unlock()
	if sh != nil {
		return sh, nil
	}
	sh = &shape{columns: make([]form, len(e.Fields)), quoted: make([]string, len(e.Fields)), drawn: make([]string, len(e.Fields)), parts: e.Parts}
	schema, name := schemaAndName(e.Table)
	root := ""
	if rooted(e) {
		root = rootName(e)
	}
	found := map[string]declaration{}
	var before, after []op
	if c.worlds { // the catalogue names schemas that the path does not
		set := op{doing: "schema", sql: settingSQLs()[1], args: []any{"search_path", "pg_catalog"}}
		before, after = []op{set}, []op{set}
		after[0].args = []any{"search_path", c.s.path}
	}
	err := c.do(ctx, slices.Concat(before, []op{
		{doing: "schema", sql: theColumns, args: []any{schema, name}, read: func(r row) error {
			d := readDeclaration(r)
			found[d.name] = d
			return nil
		}},
		{doing: "schema", sql: `SELECT c.relkind = 'v', c.relkind IN ('r', 'p') AND pg_catalog.has_any_column_privilege(c.oid, 'UPDATE'),
	EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.convalidated AND k.conname = $3::text),
	COALESCE((SELECT pg_catalog.string_agg(k.name || E'\x01' || (SELECT pg_catalog.string_agg(a.attname::text, E'\x01') FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum = ANY (k.at)), E'\x02')
		FROM (SELECT o.conname::text, o.conkey FROM pg_catalog.pg_constraint o WHERE o.conrelid = c.oid
			UNION ALL SELECT ic.relname::text, x.indkey::int2[] FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class ic ON ic.oid = x.indexrelid WHERE x.indrelid = c.oid AND x.indisunique) k(name, at)), '')
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text AND c.relname = $2::text`,
			args: []any{schema, name, root}, read: func(r row) error {
				sh.view, sh.lockable, sh.rooted = r.yes(0), r.yes(1), r.yes(2)
				sh.constraints = map[string][]string{}
				for one := range strings.SplitSeq(r.str(3), "\x02") {
					name, columns, _ := strings.Cut(one, "\x01")
					sh.constraints[name] = strings.Split(columns, "\x01")
				}
				return nil
			}}}, after)...)
	if err != nil {
		return nil, err
	}
	_, sh.marked = found[markColumn]
	sh.marked = sh.marked && e.Managed
	for i := range e.Fields {
		f := &e.Fields[i]
		if i == e.Key && len(e.Parts) > 0 {
			sh.columns[i] = form{typ: "text", arg: "text", text: true}
			continue
		}
		d, ok := found[f.Column]
		sh.drawn[i], sh.always = d.Gives, sh.always || d.always
		sh.rewrites = sh.rewrites || !e.Managed && d.triggers
		if !ok {
			return nil, sqlcore.Because(stores.ErrSchema, &failure{doing: "schema", code: "42703", about: "column " + e.Table + "." + f.Column})
		}
		sh.quoted[i] = quote(f.Column)
		if sh.columns[i], err = d.form(f.Keeps(), e.Managed); err != nil {
			return nil, sqlcore.Because(stores.ErrSchema, &failure{doing: "schema", code: "42804", about: "column " + e.Table + "." + f.Column})
		}
		if zone := literalText(zoneOf(f)); d.base == "timestamp" && !e.Managed {
			sh.columns[i].reads, sh.columns[i].writes = "(% AT TIME ZONE "+zone+")", "(% AT TIME ZONE "+zone+")"
		}
		sh.columns[i].limit, sh.columns[i].domain, sh.columns[i].takes = d.limit, d.domain, d.Takes
	}
	c.s.mu.Lock()
	c.s.shapes[e] = sh
	c.s.mu.Unlock()
	return sh, nil
}

// fits reports whether the column has room for a value, as far as its declared type tells.
func (f *form) fits(v stores.Value) bool {
	typ, sizes, sized := strings.Cut(strings.TrimSuffix(f.limit, ")"), "(")
	switch v.Kind() {
	case stores.Int:
		bits := map[string]int{"smallint": 16, "integer": 32}[typ]
		return bits == 0 || v.Int()>>(bits-1) == v.Int()>>63
	case stores.String:
		n, err := strconv.Atoi(sizes)
		return (!sized || err != nil || utf8.RuneCountInString(v.Text()) <= n) && (f.takes == nil || slices.Contains(f.takes, v.Text()))
	case stores.Decimal:
		precision, scale, _ := strings.Cut(sizes, ",")
		n, err := strconv.Atoi(precision)
		m, _ := strconv.Atoi(scale)
		whole, _, _ := strings.Cut(strings.TrimLeft(v.Text(), "-0"), ".")
		return !sized || err != nil || len(whole) <= n-m
	}
	return true
}

// zoneOf returns the zone of times in a column that has none.
func zoneOf(f *stores.Field) string {
	if f.Zone == nil {
		return "UTC"
	}
	return f.Zone.String()
}

// encodeAs encodes a value for a column: an array is set from its items.
func (f *form) encodeAs(v stores.Value) (any, error) {
	if !f.list || v.IsNull() {
		return encode(v), nil
	}
	items, err := v.Items(stores.JSON)
	if err != nil {
		return nil, fmt.Errorf("the column takes a list: %w", stores.ErrInvalid)
	}
	list := make([]any, len(items))
	for i, item := range items {
		switch raw := item.Text(); {
		case item.IsNull():
		case raw[0] == '"':
			s, ok := stores.FromJSON(stores.String, []byte(raw))
			if !ok {
				return nil, fmt.Errorf("the column takes a list of values: %w", stores.ErrInvalid)
			}
			list[i] = s.Text()
		case raw[0] == '[' || raw[0] == '{':
			return nil, fmt.Errorf("the column takes a list of single values: %w", stores.ErrInvalid)
		default:
			list[i] = raw
		}
	}
	return arrayOf(list), nil
}
