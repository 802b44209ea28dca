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

func (l *loader) effect(vn *verbNode, n *yaml.Node) {
	d, v := vn.d, vn.v
	f, ok := d.fields(n, "effect")
	if !ok {
		return
	}
	kind := -1
	for i := range verbs.EffectWords {
		if f.at(verbs.EffectWords[i].Name).key == nil {
			continue
		}
		if kind >= 0 {
			d.report(tell(d.place(f.at(verbs.EffectWords[i].Name).key), "two-effects", f.at(verbs.EffectWords[i].Name).key.Value, f.at(verbs.EffectWords[kind].Name).key.Value))
			return
		}
		kind = i
	}
	if kind < 0 {
		if !unknownIn(n, "effect") { // it may have been meant as the kind, and was reported
			d.report(tell(d.place(n), "no-effect"))
		}
		return
	}
	at := f.at(verbs.EffectWords[kind].Name).value
	if at == nil {
		return
	}
	e := verbs.Effect{Kind: verbs.EffectWords[kind].Kind, May: verbs.EffectWords[kind].May, Upsert: verbs.EffectWords[kind].Name == "upserts", Place: d.place(at)}
	e.Operand = l.operand(at.Value)
	rows, sends := e.Kind == verbs.Updates || e.Kind == verbs.Deletes, e.Kind == verbs.Triggers || e.Kind == verbs.Notifies
	each := f.at("for-each")
	for key, ok := range map[string]bool{"by": e.Upsert, "where": rows, "for-each": rows || sends || e.Kind == verbs.Creates, "set": e.Kind == verbs.Creates || e.Kind == verbs.Updates, "as": e.Kind == verbs.Creates && each.key == nil, "with": sends,
		"at": e.Kind == verbs.Triggers, "run": e.Kind == verbs.Triggers, "unless": e.Kind == verbs.Triggers, "key": e.Kind == verbs.Triggers, "again": e.Kind == verbs.Triggers, "retry": e.Kind == verbs.Triggers} {
		if k := f.at(key).key; k != nil && !ok {
			d.report(operandDoesNotApply(d.place(k), key, verbs.EffectWords[kind].Name))
		}
	}
	if run := f.at("run").key; run != nil && sends && each.key != nil {
		d.report(tell(d.place(each.key), "contradiction", "a trigger with run is one piece of work", "write for-each in a macro that calls this verb once for each", d.place(run), "this would be run once"))
		return
	}
	sc := scope{verb: v}
	var row *verbs.Entity
	if rows {
		row = l.effectEntity(vn, &e, f, at)
		sc.row = row
	}
	if each.value != nil {
		if e.Each = l.each(vn, each.value); e.Each == nil {
			return
		}
		if sc.each = e.Each.Entity; sc.each == nil {
			if sc.item = v.Tool.GivenAnswer(); !e.Each.Answer {
				sc.item = &v.Params[e.Each.Param]
			}
		}
	}
	if w := f.at("when"); w.value != nil && (row != nil || !rows) {
		e.When = l.compile(d, w.value, sc, wantBoolean, nil)
	}
	switch e.Kind {
	case verbs.Creates:
		if row = l.effectEntity(vn, &e, f, at); row != nil {
			l.creates(vn, &e, f, row, sc)
			l.calls(vn, &e, f.at("as").value)
		}
		if e.Upsert && row != nil {
			l.upserts(vn, &e, n, f, row)
		}
	case verbs.Updates, verbs.Deletes:
		if row != nil {
			l.changes(vn, &e, f, sc)
			noteChanged(&e)
		}
	case verbs.Triggers, verbs.Notifies:
		d.scalars(f.at("with"), func(k, val *yaml.Node) {
			value, t := l.compileTerm(d, val, sc, wantAnything, e.When)
			e.With = append(e.With, verbs.With{Key: k.Value, Value: value, Of: t.entity})
		})
		e.Declared = !e.Operand.Prose && (!e.May || e.When != nil)
		if e.Kind == verbs.Triggers {
			l.work(vn, &e, f)
		}
	case verbs.Sets:
		l.session(vn, &e, at, sc)
	}
	v.Effects = append(v.Effects, e)
}

// work reads the call that a trigger makes, and when.
func (l *loader) work(vn *verbNode, e *verbs.Effect, f mapping) {
	d := vn.d
	run, at := f.at("run"), f.at("at")
	if run.value == nil {
		for _, k := range [...]string{"at", "unless", "key", "again", "retry"} {
			if f.at(k).key != nil {
				d.report(tell(d.place(f.at(k).key), "moment-of-nothing/"+f.at(k).key.Value))
			}
		}
		return
	}
	src := dsl.NewSource(d.src.Name+" (work of "+vn.v.Name+")", run.value.Value)
	script, diags := dsl.Parse(src)
	d.relay(run.value, diags)
	if !diags.HasErrors() && len(script.Calls) != 1 {
		d.report(tell(d.place(run.value), "not-one-call", len(script.Calls)))
		return
	}
	if e.Operand.Prose || e.May && e.When == nil {
		d.report(tell(d.place(run.key), "work-undecided"))
	}
	if at.value != nil {
		e.At = l.compile(d, at.value, scope{verb: vn.v}, wantMoment, e.When)
	}
	if u := f.at("unless"); u.value != nil {
		e.Unless = l.compile(d, u.value, scope{verb: vn.v, later: true}, wantBoolean, nil)
	}
	l.workKey(vn, e, f)
	e.Retry = d.retry(f.at("retry"))
	e.Run = &verbs.Macro{Script: script, Place: d.place(run.value)}
	for i := range vn.v.Params {
		// The arguments of a job are stored until its time, so they must not be secret.
		if p := &vn.v.Params[i]; p.Sensitive && e.WorkTakes(vn.v, i) {
			d.report(tell(d.place(run.value), "work-with-secret", p.Name))
		}
	}
	vn.runs = append(vn.runs, runNode{run.value, e.Run})
}

// workKey reads the correlation key of a job.
func (l *loader) workKey(vn *verbNode, e *verbs.Effect, f mapping) {
	d, v := vn.d, vn.v
	d.items(f.at("key"), func(n *yaml.Node) {
		i := slices.IndexFunc(v.Params, func(p verbs.Param) bool { return naming.Same(p.Name, n.Value) })
		switch {
		case i < 0:
			d.report(unknownArgument(d.place(n), v, n.Value))
		case !slices.Contains(e.Key, i):
			e.Key = append(e.Key, i)
		}
	})
	again := f.at("again")
	if again.value == nil {
		return
	}
	if f.at("key").key == nil {
		d.report(tell(d.place(again.key), "again-without-key"))
		return
	}
	e.Again = verbs.Again(slices.Index(verbs.AgainWords, again.value.Value))
}

// unknownIn reports whether a mapping has a key that its shape does not know.
func unknownIn(n *yaml.Node, name string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Kind == poisoned || shapes()[name].key(n.Content[i].Value) == nil {
			return true
		}
	}
	return false
}

// effectEntity finds the entity that an effect is about. An undeclared entity is a promise for a
// handler, unless the palette goes on to say what to do with it, or the name is so near to a
// declared one that it must be that.
func (l *loader) effectEntity(vn *verbNode, e *verbs.Effect, f mapping, at *yaml.Node) *verbs.Entity {
	d := vn.d
	if e.Operand.Prose || len(e.Operand.Path) == 0 {
		for _, k := range [...]string{"where", "by", "set"} {
			if f.at(k).key != nil {
				if name, _, ok := strings.Cut(at.Value, "."); ok && strings.Contains(at.Value, ",") && l.entity(d, at, 0, name) != nil {
					d.report(tell(e.Place, "prose-promise/fields", at.Value, f.at("updates").key.Value+": "+name))
					break
				}
				d.report(tell(e.Place, "prose-promise", at.Value, f.at(k).key.Value))
				break
			}
		}
		return nil
	}
	name := e.Operand.Path[0]
	ent := l.entity(d, at, 0, name)
	if ent == nil {
		detailed := e.Upsert || f.at("where").key != nil || f.at("set").key != nil || f.at("when").key != nil
		if detailed || l.misspelt(d, name) {
			d.report(tell(d.within(at, 0, len(name)), "unknown-entity", name, visible(d, l.entities)))
		}
		return nil
	}
	e.Entity = ent
	if ent.ReadOnly {
		d.report(tell(e.Place, "read-only", ent, e.Word()))
		return nil
	}
	s := ent.Store
	s.Added, s.Removed = s.Added || e.Kind == verbs.Creates, s.Removed || e.Kind == verbs.Deletes
	switch {
	case len(e.Operand.Path) == 1 && e.Operand.Value == "":
	case e.Kind != verbs.Updates || len(e.Operand.Path) > 2 || e.Operand.Value != "":
		d.report(operandNotEntity(e.Place, at.Value, e.Word(), name))
		return nil
	default:
		field := e.Operand.Path[1]
		from := len(name) + 1
		place := d.within(at, from, from+len(field))
		i := d.fieldWithin(ent, at, from, field)
		switch {
		case i < 0:
			return nil
		case i == ent.Store.Key, slices.Contains(ent.Store.Parts, i):
			d.report(tell(place, "key-changed", ent.Store.Fields[i].Name, ent))
			return nil
		case ent.Store.Fields[i].Computed:
			d.report(tell(place, "read-only/field", ent.Store.Fields[i].Name, ent, ent.Fields[i].Place))
			return nil
		}
		e.Fields = []int{i}
	}
	return ent
}

// each reads what an effect runs over: the rows or items of a list argument, or rows that an
// expression picks.
func (l *loader) each(vn *verbNode, n *yaml.Node) *verbs.Each {
	d, v := vn.d, vn.v
	if n.Kind == yaml.ScalarNode {
		e := &verbs.Each{Param: d.paramAt(v, n), Place: d.place(n)}
		if e.Param < 0 && n.Value == answerWord && v.Tool != nil {
			if e.Answer = v.Tool.Answer != nil; !e.Answer {
				d.report(tell(d.place(n), "tool-columns"))
				return nil
			}
			return e
		}
		if e.Param < 0 {
			d.report(unknownArgument(e.Place, v, n.Value))
			return nil
		}
		switch t := v.Params[e.Param].Type; {
		case t == nil:
			return nil
		case t.Name != verbs.ListType || t.Item == nil:
			d.report(tell(e.Place, "type-mismatch/each", &v.Params[e.Param]))
			return nil
		case t.Item.Entity != nil:
			e.Entity, e.Where = t.Item.Entity, &verbs.Where{Param: e.Param, List: true}
		}
		return e
	}
	f, ok := d.fields(n, "each")
	if !ok || f.at("rows").value == nil || f.at("where").value == nil {
		return nil
	}
	name := f.at("rows").value
	e := &verbs.Each{Entity: l.entityAt(d, name), Place: d.place(name)}
	if e.Entity == nil {
		return nil
	}
	e.Order = l.order(d, f.at("order"), e.Entity)
	if e.Where = l.where(vn, f.at("where").value, scope{verb: v, row: e.Entity}); e.Where == nil {
		return nil
	}
	return e
}

func (l *loader) creates(vn *verbNode, e *verbs.Effect, f mapping, ent *verbs.Entity, sc scope) {
	d := vn.d
	set := f.at("set")
	if set.key == nil {
		return // a promise about rows that a handler creates
	}
	e.Declared = true
	l.set(vn, e, set, ent, sc)
	if set.value == nil || d.broken[ent] {
		return
	}
	var missing []string
	for i := range ent.Store.Fields {
		field := &ent.Store.Fields[i]
		ours := i == ent.Store.Key && (field.Kind == stores.UUID || len(ent.Store.Parts) > 0) // or made from its parts
		if ours || field.Drawn || field.Computed || !field.Required || !field.Default.IsNull() {
			continue
		}
		if !slices.ContainsFunc(e.Set, func(s verbs.Set) bool { return s.Field == i }) && !mentions(set.value, field.Name) {
			missing = append(missing, field.Name)
		}
	}
	if len(missing) > 0 {
		d.report(tell(d.place(set.key), "missing-field", ent, missing))
	}
}

// upserts makes two effects of one: the first changes the row that has the same values in some
// fields, and if there is none, the next effect creates it. The store prevents two such rows.
func (l *loader) upserts(vn *verbNode, e *verbs.Effect, n *yaml.Node, f mapping, ent *verbs.Entity) {
	d, s := vn.d, ent.Store
	for _, key := range [...]string{"by", "set"} {
		if f.at(key).value == nil {
			d.report(missingKey(d.place(n), "effect", key))
			return
		}
	}
	if !e.Declared || d.broken[ent] {
		return
	}
	change := *e
	change.Kind, change.As, change.Set, change.Where = verbs.Updates, "", nil, &verbs.Where{Param: -1}
	by := f.at("by")
	var fields []int
	d.items(by, func(n *yaml.Node) {
		i := ent.FieldNamed(n.Value)
		d.usesField(ent, i, n, 0, len(n.Value))
		at := slices.IndexFunc(e.Set, func(set verbs.Set) bool { return set.Field == i })
		switch {
		case i < 0:
			d.report(tell(d.place(n), "unknown-field", ent, n.Value))
		case at < 0:
			d.report(tell(d.place(n), "missing-field", ent, []string{n.Value}))
		default:
			fields, change.Where.By = append(fields, i), append(change.Where.By, e.Set[at])
		}
	})
	slices.Sort(fields)
	alike := func(set []int) bool { return slices.Equal(fields, slices.Sorted(slices.Values(set))) }
	switch {
	case len(fields) < len(by.value.Content):
		return
	case !alike([]int{s.Key}) && !alike(s.Parts) && !slices.ContainsFunc(s.Unique, alike):
		d.report(tell(d.place(by.value), "contradiction", "there may be several rows of "+s.Name+" that are alike in these fields", "name the key, or fields that stand together under unique", ent.Place, s.Name+" is declared here"))
		return
	}
	for _, set := range e.Set {
		switch own := set.Field == s.Key || slices.Contains(s.Parts, set.Field); {
		case slices.Contains(fields, set.Field):
		case own:
			d.report(tell(set.Place, "key-changed", s.Fields[set.Field].Name, ent))
		default:
			change.Set = append(change.Set, set)
		}
	}
	noteChanged(&change)
	vn.v.Effects = append(vn.v.Effects, change)
}

// noteChanged records in the entity which of its fields an update changes.
func noteChanged(e *verbs.Effect) {
	if e.Kind != verbs.Updates {
		return
	}
	s := e.Entity.Store
	fields := slices.Clone(e.Fields)
	for _, set := range e.Set {
		fields = append(fields, set.Field)
	}
	if len(fields) == 0 && !e.Upsert { // a handler may change any field
		for i := range s.Fields {
			if i != s.Key && !slices.Contains(s.Parts, i) && !s.Fields[i].Computed {
				fields = append(fields, i)
			}
		}
	}
	for _, f := range fields {
		if !slices.Contains(s.Changed, f) {
			s.Changed = append(s.Changed, f)
		}
	}
}

// calls reads the name that later effects use for a new row.
func (l *loader) calls(vn *verbNode, e *verbs.Effect, n *yaml.Node) {
	d, v := vn.d, vn.v
	if n == nil || !d.name(n, "row") {
		return
	}
	name := naming.Underscored(strings.TrimPrefix(n.Value, "@"))
	switch first := slices.IndexFunc(v.Effects, func(o verbs.Effect) bool { return o.As == name }); {
	case naming.IsReserved(name):
		d.report(tell(d.place(n), "reserved-word", "row", n.Value))
	case v.ParamNamed(name) >= 0:
		d.report(tell(d.place(n), "declared-twice", "argument", n.Value, v.Params[v.ParamNamed(name)].Place))
	case slices.ContainsFunc(v.Totals, func(t *verbs.Total) bool { return t.Name == name }):
		d.report(tell(d.place(n), "declared-twice", "total", n.Value, d.place(n)))
	case first >= 0:
		d.report(tell(d.place(n), "declared-twice", "row", n.Value, v.Effects[first].Place))
	case len(e.Entity.Store.Parts) > 0 || !e.Declared || vn.f.boolean("handler"):
		d.report(tell(d.place(n), "contradiction", "nothing can refer to this row", "a row can be named that the palette says how to make, and that has one key", dsl.Place{}, ""))
	default:
		e.As = name
	}
}

func mentions(n *yaml.Node, name string) bool {
	for i := 0; i < len(n.Content); i += 2 {
		if naming.Same(n.Content[i].Value, name) {
			return true
		}
	}
	return false
}

func (l *loader) changes(vn *verbNode, e *verbs.Effect, f mapping, sc scope) {
	d, v, ent := vn.d, vn.v, sc.row
	where, set := f.at("where"), f.at("set")
	if where.value != nil {
		e.Where = l.where(vn, where.value, sc)
		if e.Where != nil && e.Where.Param >= 0 {
			p := &v.Params[e.Where.Param]
			if !p.Sure() && present(v)&(1<<e.Where.Param) == 0 && (e.When == nil || e.When.Present&(1<<e.Where.Param) == 0) {
				d.report(tell(d.place(where.value), "may-be-absent", p))
			}
		}
	}
	if e.Kind == verbs.Deletes {
		e.Declared = where.key != nil
		return
	}
	if set.key == nil {
		return
	}
	if where.key == nil {
		d.report(missingWhere(d.place(set.key), ent, v))
	}
	e.Declared = true
	l.set(vn, e, set, ent, sc)
}

// where reads which rows an effect is about.
func (l *loader) where(vn *verbNode, n *yaml.Node, sc scope) *verbs.Where {
	d, v, ent := vn.d, vn.v, sc.row
	o := l.operand(n.Value)
	if name, i := argument(&o, v); i >= 0 {
		at := strings.Index(n.Value, name)
		d.usesParam(v, i, n, at, at+len(name), nil)
		p := &v.Params[i]
		t := p.Type
		if t != nil && t.Name == verbs.ListType && t.Item != nil && t.Item.Entity != nil {
			t = t.Item
		}
		switch {
		case t == nil:
			return nil
		case t.Name != verbs.RefType:
			d.report(tell(d.place(n), "type-mismatch/where-not-reference", p, ent))
			return nil
		case t.Entity != nil && t.Entity != ent:
			d.report(tell(d.place(n), "type-mismatch/where-other-entity", p, ent, t.Entity))
			return nil
		}
		return &verbs.Where{Param: i, List: t != p.Type}
	}
	filter := l.filter(d, n, sc)
	if filter == nil {
		return nil
	}
	return &verbs.Where{Param: -1, Filter: filter}
}

func (l *loader) set(vn *verbNode, e *verbs.Effect, p pair, ent *verbs.Entity, sc scope) {
	d := vn.d
	if p.value == nil {
		return
	}
	if len(p.value.Content) == 0 {
		d.report(tell(d.place(p.key), "nothing-written/list", "set"))
		return
	}
	e.Set = make([]verbs.Set, 0, len(p.value.Content)/2)
	d.scalars(p, func(k, val *yaml.Node) {
		i := d.fieldAt(ent, k)
		switch {
		case i < 0:
			return
		case i == ent.Store.Key && (e.Kind == verbs.Updates || ent.Store.Fields[i].Kind == stores.UUID || ent.Store.Fields[i].Drawn), e.Kind == verbs.Updates && slices.Contains(ent.Store.Parts, i):
			d.report(tell(d.place(k), "key-changed", k.Value, ent))
			return
		case ent.Store.Fields[i].Computed:
			d.report(tell(d.place(k), "read-only/field", k.Value, ent, ent.Fields[i].Place))
			return
		case e.Kind == verbs.Updates && len(e.Fields) > 0 && i != e.Fields[0]:
			d.report(tell(d.place(k), "outside-promise", ent, k.Value, ent.Store.Fields[e.Fields[0]].Name, e.Place))
			return
		case val.Tag == "!!null" && val.Style == 0 && val.Value != "null":
			d.report(nothingWritten(d.place(k), shapes()["effect"].key("set")))
			return
		}
		if ent.Fields[i].Type == nil {
			return
		}
		want := wantField(ent, i)
		want.kept = e.Kind == verbs.Updates || ent.Store.Fields[i].Drawn
		sc.namesSensitive = ent.Store.Fields[i].Sensitive
		x := l.compile(d, val, sc, want, e.When)
		if f := &ent.Store.Fields[i]; x != nil && !f.Sensitive && f.Kind != stores.Bool && x.Copies(func(arg, part int) bool { return vn.v.Params[arg].SensitivePart(part) }, sc.sensitive) {
			d.report(tell(d.place(val), "open-secret", k.Value, ent))
		}
		e.Set = append(e.Set, verbs.Set{Field: i, Value: x, Place: d.place(val)})
	})
	slices.SortStableFunc(e.Set, func(a, b verbs.Set) int { return a.Field - b.Field })
}
