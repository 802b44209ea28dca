package load

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/naming"
)

// includePlace finds where a promised field is written.
func (d *doc) includePlace(vn *verbNode, name string) dsl.Place {
	place := vn.v.Place
	ret := vn.f.at("returns").value
	for i := 0; i+1 < len(ret.Content); i += 2 {
		if ret.Content[i].Value == "includes" {
			for _, n := range ret.Content[i+1].Content {
				if n.Value == name {
					return d.place(n)
				}
			}
		}
	}
	return place
}

func (l *loader) query(vn *verbNode, n *yaml.Node) {
	d, v := vn.d, vn.v
	f, ok := d.fields(n, "query")
	if !ok {
		return
	}
	q := &verbs.Query{Place: d.place(n), One: f.boolean("one")}
	v.Query = q
	if sql := f.at("sql").value; sql != nil {
		q.Text = sql.Value
		q.Place = d.place(sql)
		q.PlaceWithin = func(from, to int) dsl.Place { return d.within(sql, from, to) }
		for from, to := range sqlParams(sql.Value) {
			name := sql.Value[from+1 : to]
			i := v.ParamNamed(name)
			d.usesParam(v, i, sql, from+1, to, v.Names)
			if i < 0 || name != v.Params[i].Ident {
				d.report(unknownParam(d.within(sql, from+1, to), v, name))
				continue
			}
			if !slices.Contains(q.Names, name) {
				q.Names = append(q.Names, name)
				q.Params = append(q.Params, i)
				kind := l.kindOf(v.Params[i].Type)
				if s := v.Params[i].Type.Spelling(); s != nil {
					kind = s.Kind
				}
				q.Kinds = append(q.Kinds, kind)
			}
		}
	}
	d.filled(f.at("columns"))
	d.scalars(f.at("columns"), func(k, val *yaml.Node) {
		d.name(k, "column")
		word, sensitive := strings.CutPrefix(val.Value, "sensitive ")
		if sensitive {
			bare := *val
			bare.Value, bare.Column = word, val.Column+len("sensitive ")
			val = &bare
		}
		t := l.typeText(d, val)
		if t == nil {
			return
		}
		if sensitive && q.Sensitive == nil {
			q.Sensitive = make([]bool, len(q.Columns))
		}
		if q.Sensitive != nil {
			q.Sensitive = append(q.Sensitive, sensitive)
		}
		c := stores.Column{Name: k.Value, Kind: l.kindOf(t), Spelling: t.Spelling()}
		if c.Spelling != nil {
			c.Kind = c.Spelling.Kind
		}
		q.Columns = append(q.Columns, c)
		q.Types = append(q.Types, t)
	})
	for _, name := range v.Returns.Includes {
		if len(q.Columns) > 0 && !slices.ContainsFunc(q.Columns, func(c stores.Column) bool { return naming.Same(c.Name, name) }) {
			d.report(tell(d.includePlace(vn, name), "not-returned", name, "query", "columns"))
		}
	}
}

// sqlParams finds the :name parameters of a query: outside strings, quoted
// names and comments, and apart from :: casts.
func sqlParams(sql string) func(yield func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		for i := 0; i < len(sql); {
			switch c := sql[i]; {
			case c == '\'' || c == '"' || c == '`':
				i = after(sql, i+1, string(c))
			case c == '[': // SQLite quotes names so; in PostgreSQL it is an index, which may hold a parameter
				i++
			case strings.HasPrefix(sql[i:], "--"):
				i = after(sql, i, "\n")
			case strings.HasPrefix(sql[i:], "/*"):
				i = after(sql, i+2, "*/")
			case c == '$':
				tag := dollarTag(sql[i:])
				if tag == "" {
					i++
				} else {
					i = after(sql, i+len(tag), tag)
				}
			case strings.HasPrefix(sql[i:], "::"):
				i += 2
			case c == ':':
				j := i + 1
				for j < len(sql) && naming.IsWord(sql[j], j > i+1) {
					j++
				}
				if j > i+1 && !yield(i, j) {
					return
				}
				i = j
			default:
				i++
			}
		}
	}
}

func after(s string, from int, mark string) int {
	if from > len(s) {
		return len(s)
	}
	i := strings.Index(s[from:], mark)
	if i < 0 {
		return len(s)
	}
	return from + i + len(mark)
}

// dollarTag returns the $tag$ that opens a PostgreSQL string, if one does.
func dollarTag(s string) string {
	for i := 1; i < len(s); i++ {
		if s[i] == '$' {
			return s[:i+1]
		}
		if !naming.IsWord(s[i], i > 1) {
			return ""
		}
	}
	return ""
}
