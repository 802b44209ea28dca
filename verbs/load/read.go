package load

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/naming"
)

// read reads how a verb is carried out as a read of one entity.
func (l *loader) read(vn *verbNode, n *yaml.Node) {
	d, v := vn.d, vn.v
	f, ok := d.fields(n, "reads")
	if !ok {
		return
	}
	r := &verbs.Read{By: -1, After: -1}
	v.Read = r
	r.Limit, _ = d.integer(f.at("limit"), 1)
	en := f.at("entity").value
	if en == nil {
		return
	}
	ent := l.entityAt(d, en)
	if ent == nil {
		return
	}
	r.Entity = ent
	if w := f.at("where").value; w != nil {
		r.Filter = l.filter(d, w, scope{verb: v, row: ent})
	}
	if one := f.at("one").value; one != nil && one.Value != "false" {
		switch i := d.paramAt(v, one); {
		case i < 0:
			d.report(unknownArgument(d.place(one), v, one.Value))
		case v.Params[i].Type == nil:
		case v.Params[i].Type.Name != verbs.RefType:
			d.report(tell(d.place(one), "type-mismatch/where-not-reference", &v.Params[i], ent))
		case v.Params[i].Type.Entity != nil && v.Params[i].Type.Entity != ent:
			d.report(tell(d.place(one), "type-mismatch/where-other-entity", &v.Params[i], ent, v.Params[i].Type.Entity))
		case !v.Params[i].Required && !v.Params[i].Active:
			d.report(tell(d.place(one), "contradiction/one", &v.Params[i]))
		case len(ent.Store.Fields) == 0: // the entity could not be read
		default:
			r.One, r.By = true, i
			r.Filter = andKey(r.Filter, ent, i, d.place(one))
		}
	}
	if f.at("from").key != nil || f.at("along").key != nil {
		l.along(vn, r, f)
	}
	if lists := f.at("lists").value; lists != nil {
		d.entries(lists, func(k, val *yaml.Node) {
			if d.name(k, "list") && val.Kind != poisoned {
				l.readList(vn, r, k.Value, val)
			}
		})
	}
	if fv := f.at("fields").value; fv != nil {
		d.filled(f.at("fields"))
		r.Fields = make([]verbs.ReadField, 0, len(fv.Content)/2+len(r.Lists))
	}
	d.scalars(f.at("fields"), func(k, val *yaml.Node) {
		if !d.name(k, "returned field") {
			return
		}
		if _, i := listNamed(r, k.Value); i >= 0 && len(r.Lists[i].Fields) > 0 {
			d.report(tell(d.place(k), "declared-twice", "returned field", k.Value, r.Lists[i].Place))
			return
		}
		if rf, ok := l.readField(vn, r, ent, val); ok {
			rf.Name = k.Value
			r.Fields = append(r.Fields, rf)
		}
	})
	for i := range r.Lists {
		if list := &r.Lists[i]; len(list.Fields) > 0 {
			sensitive := slices.ContainsFunc(list.Fields, func(f verbs.ReadField) bool { return f.Sensitive })
			r.Fields = append(r.Fields, verbs.ReadField{Name: list.Name, From: verbs.FromList, List: i, Sensitive: sensitive})
		}
	}
	if r.Groups() {
		l.grouped(d, r, f)
	} else {
		l.rowsOf(vn, r, f)
	}
	if f.at("matching").value != nil || f.at("weigh").value != nil {
		l.matching(vn, r, f)
	}
	if n := f.at("file").value; n != nil {
		switch {
		case !fileName().MatchString(n.Value):
			d.report(tell(d.place(n), "contradiction", strconv.Quote(n.Value)+" is no name of a workbook", "write a name without / and \\ that ends in .xlsx or .csv", dsl.Place{}, ""))
		case r.After >= 0:
			d.report(tell(d.place(f.at("after").key), "contradiction", "a file holds all rows, and no page of them", "leave after out, or file", dsl.Place{}, ""))
		}
		r.File = n.Value
	}
	for _, name := range v.Returns.Includes {
		if len(r.Fields) > 0 && !slices.ContainsFunc(r.Fields, func(f verbs.ReadField) bool { return naming.Same(f.Name, name) }) {
			d.report(tell(d.includePlace(vn, name), "not-returned", name, "reads", "fields"))
		}
	}
}

// fileName is the name of a file that rows are written into.
var fileName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[^\s./\\<>:"|?*\x60\pC-][^/\\<>:"|?*\x60\pC]{0,110}\.(xlsx|csv)$`)
})

// grouped reads the order of a read that merges rows.
func (l *loader) grouped(d *doc, r *verbs.Read, f mapping) {
	for _, key := range [...]string{"one", "after", "lists"} {
		if p := f.at(key); p.key != nil {
			d.report(tell(d.place(p.key), "contradiction", "what several rows come to is no one row's", "leave "+key+" out, or count() and the like", r.Entity.Place, r.Entity.Store.Name+" is declared here"))
		}
	}
	for i := range r.Fields {
		if r.Fields[i].From == verbs.FromProgress {
			d.report(tell(d.place(f.at("fields").key), "contradiction", "what several rows come to is no one row's", "leave progress out, or count() and the like", r.Entity.Place, r.Entity.Store.Name+" is declared here"))
		}
	}
	d.items(f.at("order"), func(n *yaml.Node) {
		name, dir, _ := strings.Cut(strings.TrimSpace(n.Value), " ")
		i := slices.IndexFunc(r.Fields, func(f verbs.ReadField) bool { return naming.Same(f.Name, name) })
		switch dir = strings.TrimSpace(dir); {
		case i < 0:
			names := make([]string, len(r.Fields))
			for j := range names {
				names[j] = r.Fields[j].Name
			}
			d.report(tell(d.within(n, 0, len(name)), "unknown-name/told", name, names))
		case dir != "" && dir != "asc" && dir != "desc":
			d.report(tell(d.within(n, len(n.Value)-len(dir), len(n.Value)), "unknown-word", "order", dir, []string{"asc", "desc"}))
		default:
			r.Sort = append(r.Sort, verbs.Sort{Field: i, Desc: dir == "desc"})
		}
	})
}

// rowsOf reads in which order rows are returned, and in what pages.
func (l *loader) rowsOf(vn *verbNode, r *verbs.Read, f mapping) {
	d, v, ent := vn.d, vn.v, r.Entity
	r.Order = l.order(d, f.at("order"), ent)
	d.unprobed(ent, f, r.Filter, r.Order)
	if after := f.at("after").value; after != nil {
		switch i := d.paramAt(v, after); {
		case i < 0:
			d.report(unknownArgument(d.place(after), v, after.Value))
		case v.Params[i].Type == nil:
		case v.Params[i].Type.Name != verbs.RefType || v.Params[i].Type.Entity != ent:
			d.report(tell(d.place(after), "type-mismatch/where-not-reference", &v.Params[i], ent))
		case r.Limit == 0 || r.Limit > maxPage || r.One || v.Params[i].Required:
			d.report(tell(d.place(after), "contradiction", "no page can be made", "say limit, of 1000 at most, and no `one`; and let :"+v.Params[i].Name+" be left out", dsl.Place{}, ""))
		default:
			r.After = i
			// The rows after a row are found by comparing values with it.
			for _, o := range r.Order {
				if f := o.Path.End(ent.Store); f != nil && f.Spelling != nil && !f.Spelling.Ordered {
					d.report(tell(d.place(after), "bad-form/pages", f.Name, f.Spelling.Name))
				}
			}
		}
	}
}

// maxPage is how many rows a page has at most.
const maxPage = 1000

func hasList(r *verbs.Read, list string) bool {
	_, i := listNamed(r, list)
	return i >= 0 || len(r.Lists) > 0 && r.Entity.FieldNamed(list) < 0
}

// listNamed finds a list by its name.
func listNamed(r *verbs.Read, name string) (*verbs.ReadList, int) {
	i := slices.IndexFunc(r.Lists, func(l verbs.ReadList) bool { return naming.Same(l.Name, name) })
	if i < 0 {
		return nil, -1
	}
	return &r.Lists[i], i
}

func (l *loader) order(d *doc, p pair, ent *verbs.Entity) []stores.Order {
	var all []stores.Order
	d.items(p, func(n *yaml.Node) {
		path, dir, _ := strings.Cut(strings.TrimSpace(n.Value), " ")
		o := stores.Order{}
		switch dir = strings.TrimSpace(dir); dir {
		case "", "asc":
		case "desc":
			o.Desc = true
		default:
			d.report(tell(d.within(n, len(n.Value)-len(dir), len(n.Value)), "unknown-word", "order", dir, []string{"asc", "desc"}))
			return
		}
		p, last, ok := d.path(ent, n, strings.Index(n.Value, path), path)
		if !ok {
			return
		}
		if t := last.Type; t != nil && (t.Name == verbs.ListType || t.Name == verbs.ObjectType || t.Name == verbs.AnyType) {
			d.report(tell(d.place(n), "type-mismatch/not-ordered", path, t.Name.String()))
			return
		}
		if f := p.End(ent.Store); f != nil && f.Codes == nil && f.Spelling != nil && !f.Spelling.Ordered {
			d.report(tell(d.place(n), "bad-form/order", f.Name, f.Spelling.Name))
			return
		}
		o.Path = p
		all = append(all, o)
	})
	return all
}

// readField reads where one returned field comes from. Within a list, r is nil.
func (l *loader) readField(vn *verbNode, r *verbs.Read, ent *verbs.Entity, val *yaml.Node) (f verbs.ReadField, ok bool) {
	d := vn.d
	if inner, ok := within(val.Value, "count("); ok {
		if r != nil && inner == "" {
			t := plainTypes[verbs.IntegerType]
			return verbs.ReadField{Path: stores.Path{Field: ent.Store.Key}, Type: t, Over: &verbs.Total{Kind: verbs.CountTotal, Type: t, Place: d.place(val)}}, true
		}
		if r != nil && len(r.Lists) > 0 && !strings.Contains(inner, ".") {
			_, i := listNamed(r, inner)
			if i < 0 {
				d.report(tell(d.within(val, len("count("), len(val.Value)-1), "unknown-list", inner, r.Lists))
			}
			return verbs.ReadField{From: verbs.FromCount, List: i}, i >= 0
		}
		p, ok := l.count(d, val, ent, inner)
		return verbs.ReadField{Path: p}, ok
	}
	for kind, word := range verbs.TotalWords {
		inner, ok := strings.CutPrefix(val.Value, word+"(")
		if t := (&verbs.Total{Kind: verbs.TotalKind(kind), Place: d.place(val)}); ok && r != nil && t.Kind.OfField() {
			name, places, several := strings.Cut(strings.TrimSuffix(inner, ")"), ",")
			if n, ok := stores.ParseInt(strings.TrimSpace(places)); ok && n.Int() >= 0 && n.Int() <= maxPlaces {
				t.Scale = int(n.Int())
			} else if t.Kind == verbs.AverageTotal {
				d.report(tell(d.place(val), "bad-expression/places", word, maxPlaces))
				return f, false
			}
			if several != (t.Kind == verbs.AverageTotal) || !isPath(name) {
				break
			}
			if first, _, _ := strings.Cut(name, "."); hasList(r, first) {
				return l.readTotal(d, r, val, t, name)
			}
			return l.readOver(d, ent, val, t, name)
		}
	}
	if inner, ok := within(val.Value, "describe("); ok {
		p, last, ok := d.path(ent, val, len("describe("), inner)
		if !ok || last.Type == nil {
			return f, false
		}
		codes := last.Type.Codes
		if last.Type.Name == verbs.ListType && last.Type.Item != nil {
			codes = last.Type.Item.Codes
		}
		if codes == nil {
			d.report(tell(d.place(val), "bad-operand/not-described", inner, last.Type))
			return f, false
		}
		return verbs.ReadField{From: verbs.FromCodes, Path: p, Codes: codes, Type: last.Type, Sensitive: sensitivePath(ent, p)}, true
	}
	if part, ok := strings.CutPrefix(val.Value, "progress."); ok && r != nil && ent.FieldNamed("progress") < 0 {
		i := slices.Index(verbs.ProgressWords, part)
		switch {
		case ent.Progress == nil:
			d.report(tell(d.place(val), "no-progress", ent))
		case i < 0:
			d.report(tell(d.within(val, len("progress."), len(val.Value)), "unknown-word", "part of progress", part, verbs.ProgressWords))
		case (verbs.ProgressPart(i) == verbs.ProgressStages || verbs.ProgressPart(i) == verbs.ProgressStage) && ent.Progress.Stage < 0:
			d.report(tell(d.place(val), "no-progress/stages", ent, ent.Progress))
		default:
			return verbs.ReadField{From: verbs.FromProgress, Part: verbs.ProgressPart(i)}, true
		}
		return f, false
	}
	if isPath(val.Value) || ent.FieldNamed(val.Value) >= 0 { // a key of several parts has a + in its name
		p, last, ok := d.path(ent, val, 0, val.Value)
		if !ok {
			return f, false
		}
		return verbs.ReadField{Path: p, Type: last.Type, Sensitive: sensitivePath(ent, p)}, true
	}
	sc := scope{verb: vn.v, row: ent}
	x, t := l.compileTerm(d, val, sc, wantAnything, nil)
	if x == nil {
		return f, false
	}
	f = verbs.ReadField{From: verbs.FromExpr, Expr: x, Type: &verbs.Type{Name: t.name, Scale: -1, Codes: t.codes, Entity: t.entity, Item: t.item}}
	if t.name >= nilType || t.name == verbs.RecordType { // nil alone, or a value that no column holds
		f.Type = plainTypes[verbs.AnyType]
	}
	for i := range x.Reads {
		f.Sensitive = f.Sensitive || sc.sensitive(&x.Reads[i])
	}
	x.Args(func(i int) { f.Sensitive = f.Sensitive || vn.v.Params[i].Sensitive })
	return f, true
}

// readTotal reads LIST.FIELD: a total of a field of a list.
func (l *loader) readTotal(d *doc, r *verbs.Read, val *yaml.Node, t *verbs.Total, inner string) (f verbs.ReadField, ok bool) {
	kind := t.Kind
	from := len(kind.String()) + 1
	name, field, _ := strings.Cut(inner, ".")
	list, i := listNamed(r, name)
	if i < 0 {
		d.report(tell(d.within(val, from, from+len(name)), "unknown-list", name, r.Lists))
		return f, false
	}
	place := d.within(val, min(from+len(name)+1, len(val.Value)-1), len(val.Value)-1)
	j := slices.IndexFunc(list.Fields, func(f verbs.ReadField) bool { return naming.Same(f.Name, field) })
	if j < 0 {
		names := make([]string, len(list.Fields))
		for k := range names {
			names[k] = list.Fields[k].Name
		}
		d.report(tell(place, "unknown-name/told", field, names))
		return f, false
	}
	of := &list.Fields[j]
	if of.Type == nil || !kind.Fits(of.Type.Name) {
		d.report(tell(place, "type-mismatch/total", kind.String(), field))
		return f, false
	}
	t.Field, t.Type = j, of.Type
	return verbs.ReadField{From: verbs.FromTotal, List: i, Total: t, Type: comesTo(t), Sensitive: of.Sensitive}, true
}

// readOver reads the total of a field over merged rows.
func (l *loader) readOver(d *doc, ent *verbs.Entity, val *yaml.Node, t *verbs.Total, name string) (f verbs.ReadField, ok bool) {
	from := len(t.Kind.String()) + 1
	p, last, ok := d.path(ent, val, from, name)
	if !ok || last.Type == nil {
		return f, false
	}
	if t.Type = last.Type; !t.Kind.Fits(t.Type.Name) {
		d.report(tell(d.within(val, from, from+len(name)), "type-mismatch/total", t.Kind.String(), name))
		return f, false
	}
	return verbs.ReadField{Path: p, Type: comesTo(t), Over: t, Sensitive: sensitivePath(ent, p)}, true
}

// comesTo returns the type of a total of a field.
func comesTo(t *verbs.Total) *verbs.Type {
	if t.Kind == verbs.AverageTotal {
		return &verbs.Type{Name: verbs.DecimalType, Scale: t.Scale}
	}
	return t.Type
}

// within returns the text between an opening such as "count(" and the parenthesis that ends a
// text.
func within(s, opening string) (string, bool) {
	inner, ok := strings.CutPrefix(s, opening)
	if !ok || !strings.HasSuffix(inner, ")") || strings.ContainsAny(inner[:len(inner)-1], "() ") {
		return "", false
	}
	return inner[:len(inner)-1], true
}

// isPath reports whether a text consists of names separated by dots, and so is a field and no
// expression.
func isPath(s string) bool {
	if s == "" || s == "nil" || strings.HasPrefix(s, "row.") {
		return false
	}
	for _, r := range s {
		if r != '.' && r != '_' && r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return false
		}
	}
	return s[0] >= 'a'
}

// sensitive reports whether an expression reads a sensitive field, or reads through one.
func (sc scope) sensitive(read *verbs.ExprRead) bool {
	of, path := sc.row, read.Path
	switch {
	case read.Param >= 0:
		of = read.Entity(sc.verb)
	case read.Param == verbs.OfEach:
		of = sc.each
	case read.Param == verbs.OfNew, read.Param == verbs.OfDisclosed:
		return false
	case read.Param == verbs.OfTotal:
		t := sc.verb.Totals[read.Path.Field]
		of, path = t.Entity, stores.Path{Field: t.Field}
	}
	return of != nil && sensitivePath(of, path)
}

func sensitivePath(e *verbs.Entity, p stores.Path) bool {
	if p.Count != nil {
		return false
	}
	at := e.Store
	for _, step := range p.Steps {
		at = step.To
	}
	return at.Fields[p.Field].Sensitive
}

// readList reads a list of rows that belong to the row read.
func (l *loader) readList(vn *verbNode, r *verbs.Read, name string, n *yaml.Node) {
	d, v := vn.d, vn.v
	f, ok := d.fields(n, "list")
	if !ok || f.at("of").value == nil {
		return
	}
	list := verbs.ReadList{Name: name, Place: d.place(n)}
	if list.Entity, list.By, ok = l.belonging(d, f.at("of").value, r.Entity); !ok {
		return
	}
	if w := f.at("where").value; w != nil {
		list.Filter = l.filter(d, w, scope{verb: v, row: list.Entity})
	}
	list.Order = l.order(d, f.at("order"), list.Entity)
	d.unprobed(list.Entity, f, list.Filter, list.Order)
	d.scalars(f.at("fields"), func(k, val *yaml.Node) {
		if !d.name(k, "field of a list") {
			return
		}
		rf, ok := l.readField(vn, nil, list.Entity, val)
		if !ok {
			return
		}
		// Values in a list within a list are shown as they are, and keys are never shown.
		if t := rf.Type; t != nil && (t.Name == verbs.ListType && t.Item != nil && t.Item.Name == verbs.RefType || t.Name == verbs.RefType && rf.From == verbs.FromExpr) {
			d.report(tell(d.place(val), "key-in-list", name, k.Value))
			return
		}
		rf.Name = k.Value
		list.Fields = append(list.Fields, rf)
	})
	r.Lists = append(r.Lists, list)
}

// belonging reads ENTITY.PATH: the rows of an entity from which a path of references leads to a
// row of another.
func (l *loader) belonging(d *doc, n *yaml.Node, to *verbs.Entity) (*verbs.Entity, stores.Path, bool) {
	name, dotted, ok := strings.Cut(n.Value, ".")
	if !ok {
		d.report(tell(d.place(n), "bad-operand/list", n.Value))
		return nil, stores.Path{}, false
	}
	other := l.entityWithin(d, n, 0, name)
	if other == nil {
		return nil, stores.Path{}, false
	}
	p, last, ok := d.path(other, n, len(name)+1, dotted)
	if !ok || last.Type == nil {
		return nil, stores.Path{}, false
	}
	if last.Type.Name != verbs.RefType || last.Type.Entity != to {
		d.report(countNotReference(d.within(n, len(name)+1, len(n.Value)), other, dotted, to))
		return nil, stores.Path{}, false
	}
	return other, p, true
}

// progress reads how the progress of an entity's rows is computed.
func (l *loader) progress(en *entityNode) {
	d, e := en.d, en.e
	n := en.f.at("progress").value
	if n == nil {
		return
	}
	f, ok := d.fields(n, "progress")
	if !ok || f.at("of").value == nil || f.at("done").value == nil {
		return
	}
	p := &verbs.Progress{Weight: -1, Stage: -1, Place: d.place(n)}
	if p.Steps, p.By, ok = l.belonging(d, f.at("of").value, e); !ok {
		return
	}
	field := func(at pair, what string, fits func(*verbs.Type) bool) int {
		if at.value == nil {
			return -1
		}
		i := p.Steps.FieldNamed(at.value.Value)
		switch {
		case i < 0:
			if !d.broken[p.Steps] {
				d.report(tell(d.place(at.value), "unknown-field", p.Steps, at.value.Value))
			}
		case p.Steps.Fields[i].Type == nil:
		case !fits(p.Steps.Fields[i].Type):
			d.report(tell(d.place(at.value), "type-mismatch/progress", at.key.Value, p.Steps, &p.Steps.Fields[i], what, p.Steps.Store.Fields[i].Name))
		default:
			return i
		}
		return -1
	}
	p.Weight = field(f.at("weight"), "an integer", func(t *verbs.Type) bool { return t.Name == verbs.IntegerType })
	p.Stage = field(f.at("stage"), "a code of a declared list, whose order is that of the stages", func(t *verbs.Type) bool { return t.Name == verbs.CodeType && t.Codes != nil })
	p.Done = l.compile(d, f.at("done").value, scope{verb: new(verbs.Verb), row: p.Steps}, wantBoolean, nil)
	if p.Done != nil {
		e.Progress = p
	}
}

// count reads ENTITY.FIELD, the rows to count.
func (l *loader) count(d *doc, n *yaml.Node, row *verbs.Entity, inner string) (stores.Path, bool) {
	const base = len("count(")
	name, field, ok := strings.Cut(inner, ".")
	if !ok {
		d.report(tell(d.place(n), "bad-operand/count", n.Value))
		return stores.Path{}, false
	}
	other := l.entityWithin(d, n, base, name)
	if other == nil {
		return stores.Path{}, false
	}
	from := base + len(name) + 1
	place := d.within(n, from, from+len(field))
	i := d.fieldWithin(other, n, from, field)
	if i < 0 {
		return stores.Path{}, false
	}
	t := other.Fields[i].Type
	if t == nil {
		return stores.Path{}, false
	}
	if t.Name != verbs.RefType || t.Entity != row {
		d.report(countNotReference(place, other, field, row))
		return stores.Path{}, false
	}
	return stores.Path{Count: other.Store, By: i}, true
}
