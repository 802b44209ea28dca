package load

import (
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/naming"
)

// tool reads how a tool of another server carries a verb out. The tool acts outside of our
// transaction and we cannot undo it, so a palette has to say more about it than about anything
// else.
func (l *loader) tool(vn *verbNode, n *yaml.Node) {
	d, v := vn.d, vn.v
	f, ok := d.fields(n, "tool")
	if !ok {
		return
	}
	t := &verbs.Tool{Server: f.text("server"), Name: f.text("name"), Rows: f.text("rows"), Place: d.place(n),
		ReadOnly: f.boolean("read-only"), Idempotent: f.boolean("idempotent")}
	v.Tool = t
	var timeout int64
	d.lasting(f.at("timeout").value, &timeout)
	t.Timeout, t.Retry = time.Duration(timeout)*time.Second, d.retry(f.at("retry"))
	if name := f.at("name").value; name != nil {
		t.Place = d.place(name)
	}
	if !t.ReadOnly && vn.f.at("confirm").key == nil {
		d.report(tell(t.Place, "tool-unasked", v))
	}
	if f.at("read-only").key != nil && f.at("idempotent").key != nil && t.ReadOnly && t.Idempotent {
		d.report(tell(d.place(f.at("idempotent").key), "contradiction", "what only reads needs no idempotency", "keep one of them: read-only for what changes nothing anywhere, idempotent for what is done once under a key", d.place(f.at("read-only").key), "said here"))
	}
	if f.at("with").key == nil {
		for i := range v.Params {
			p := &v.Params[i]
			t.Sends = append(t.Sends, verbs.Send{Key: p.Ident, Param: i, Type: p.Type, Place: p.Place})
			if holdsKey(p.Type) {
				d.report(tell(p.Place, "tool-key", v, ":"+p.Name+" is a reference"))
			}
		}
	}
	d.members(f.at("with"), func(k, val *yaml.Node) {
		s := verbs.Send{Key: k.Value, Param: -1, Place: d.place(val)}
		var is term
		if s.Value, is = l.compileTerm(d, val, scope{verb: v}, wantAnything, nil); s.Value == nil {
			return
		}
		if i, alone := s.Value.ArgOnly(); alone {
			s.Param, s.Value, s.Type = i, nil, v.Params[i].Type
		} else if is.name < nilType && is.name != verbs.AnyType {
			s.Type = &verbs.Type{Name: is.name, Codes: is.codes, Entity: is.entity, Item: is.item, Scale: -1}
		}
		if holdsKey(s.Type) {
			d.report(tell(s.Place, "tool-key", v, "this is a reference"))
		}
		t.Sends = append(t.Sends, s)
	})
	l.toolColumns(vn, t, f)
}

// toolRows refuses promises about rows that nobody would keep. A tool knows nothing of our rows;
// it keeps promises about undeclared entities itself.
func (l *loader) toolRows(vn *verbNode) {
	d, v := vn.d, vn.v
	for i := range v.Effects {
		if e := &v.Effects[i]; e.Entity != nil && !e.Declared {
			d.report(tell(e.Place, "tool-rows", v, e.Entity))
		}
	}
}

// answerWord is the name of the rows of a tool's answer in for-each.
const answerWord = "answer"

// holdsKey reports whether values of a type are keys of rows.
func holdsKey(t *verbs.Type) bool {
	return t != nil && (t.Name == verbs.RefType || t.Name == verbs.ListType && holdsKey(t.Item) || t.AnyField(func(f *verbs.Param) bool { return holdsKey(f.Type) }))
}

func (l *loader) toolColumns(vn *verbNode, t *verbs.Tool, f mapping) {
	d, v := vn.d, vn.v
	columns := f.at("columns")
	d.filled(columns)
	d.scalars(columns, func(k, val *yaml.Node) {
		d.name(k, "column")
		is := l.typeText(d, val)
		if is == nil {
			return
		}
		if holdsKey(is) {
			d.report(tell(d.place(val), "tool-key/given", v))
			return
		}
		c := stores.Column{Name: k.Value, Kind: l.kindOf(is), Spelling: is.Spelling()}
		if c.Spelling != nil {
			c.Kind = c.Spelling.Kind
		}
		t.Columns = append(t.Columns, c)
		t.Types, t.Places = append(t.Types, is), append(t.Places, d.place(k))
	})
	if len(t.Columns) > 0 {
		is := &verbs.Type{Name: verbs.RecordType, Scale: -1}
		for i, c := range t.Columns {
			is.Fields = append(is.Fields, verbs.Param{Name: c.Name, Ident: naming.Underscored(c.Name), Type: t.Types[i], Place: t.Places[i], Required: true})
		}
		t.Answer = &verbs.Param{Name: answerWord, Type: &verbs.Type{Name: verbs.ListType, Item: is, Scale: -1}, Place: t.Place}
	}
	if f.at("rows").key != nil && columns.key == nil {
		d.report(tell(d.place(f.at("rows").key), "tool-columns"))
	}
	for _, name := range v.Returns.Includes {
		if columns.key != nil && !slices.ContainsFunc(t.Columns, func(c stores.Column) bool { return naming.Same(c.Name, name) }) {
			d.report(tell(d.includePlace(vn, name), "not-returned", name, "tool", "columns"))
		}
	}
}
