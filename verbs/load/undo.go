package load

import (
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/naming"
)

// undoWord ends the name of a verb that undoes another.
const undoWord = ".undo"

// byRows is the value of `by` for an undo that restores rows.
const byRows = "rows"

// undo reads how a verb is undone, once its effects are known, unless they have errors.
func (l *loader) undo(vn *verbNode, wrongEffects bool) {
	d, v, at := vn.d, vn.v, vn.f.at("undo")
	if at.value == nil {
		return
	}
	u := &verbs.Undo{Within: verbs.DefaultUndo, Place: d.place(at.key)}
	by, f := at.value, mapping{}
	if at.value.Kind == yaml.MappingNode {
		var ok bool
		if f, ok = d.fields(at.value, "undo"); !ok {
			return
		}
		by = f.at("by").value
	}
	none := f.at("none")
	wrong := func(n *yaml.Node, what, help string) {
		d.report(tell(d.place(n), "contradiction", what, help, dsl.Place{}, ""))
	}
	switch {
	case by == nil && none.value == nil && unknownIn(at.value, "undo"), wrongEffects && v.Answers():
		return
	case v.Answers() && v.Macro == nil:
		wrong(at.key, v.Name+" changes nothing that could be taken back", "leave undo out")
		return
	case (by == nil) == (none.value == nil):
		wrong(at.key, "undo says neither, or both, of how "+v.Name+" is taken back and why it is not", "write `undo: rows`, `undo: {by: CALL}` or `undo: {none: REASON}`")
		return
	case none.value != nil:
		for _, k := range [...]string{"within", "except", "stays"} {
			if f.at(k).key != nil {
				wrong(f.at(k).key, v.Name+" is not taken back, and has "+k, "leave it out")
				return
			}
		}
		u.None = none.value.Value
	case by.Value == byRows && v.Macro != nil:
		wrong(by, v.Name+" is calls of other verbs, each of which is taken back by itself", "name the call that takes all of it back, or say why there is none")
		return
	case by.Value == byRows && v.Tool != nil && !v.Tool.ReadOnly:
		wrong(by, "what "+v.Name+" did elsewhere is not put back with rows", "name the call that takes it back, or say why there is none")
		return
	case by.Value != byRows:
		if u.Call = l.undoCall(vn, by); u.Call == nil {
			return
		}
	}
	var seconds int64
	d.lasting(f.at("within").value, &seconds)
	if seconds > 0 {
		u.Within = time.Duration(seconds) * time.Second
	}
	u.Stays = f.text("stays")
	d.items(f.at("except"), func(n *yaml.Node) { l.spared(d, u, n) })
	if n := f.at("except").key; n != nil && u.Call != nil {
		wrong(n, "except says which fields are left as they are when rows are put back, and a call decides that itself", "leave it out")
	}
	if v.Undo = u; u.None == "" && u.Call == nil {
		u.Back = back(v)
	}
}

// undoCall reads the call that undoes a verb.
func (l *loader) undoCall(vn *verbNode, n *yaml.Node) *verbs.Macro {
	d := vn.d
	if !strings.ContainsAny(n.Value, " .:") {
		d.report(tell(d.place(n), "unknown-word/undo", n.Value, []string{byRows}))
		return nil
	}
	script, diags := dsl.Parse(dsl.NewSource(d.src.Name+" (undo of "+vn.v.Name+")", n.Value))
	d.relay(n, diags)
	switch {
	case diags.HasErrors():
		return nil
	case len(script.Calls) != 1:
		d.report(tell(d.place(n), "not-one-call", len(script.Calls)))
		return nil
	}
	m := &verbs.Macro{Script: script, Place: d.place(n)}
	vn.undone = &runNode{n, m}
	return m
}

// spared reads a field that is left as it is, ENTITY.FIELD.
func (l *loader) spared(d *doc, u *verbs.Undo, n *yaml.Node) {
	entity, field, _ := strings.Cut(n.Value, ".")
	e := l.entity(d, n, 0, entity)
	if e == nil {
		d.report(tell(d.place(n), "unknown-entity", entity, visible(d, l.entities)))
		return
	}
	i := e.FieldNamed(field)
	d.usesField(e, i, n, len(n.Value)-len(field), len(n.Value))
	if i < 0 {
		if !d.broken[e] {
			d.report(tell(d.place(n), "unknown-field", e, field))
		}
		return
	}
	u.Except = append(u.Except, verbs.Spared{Entity: e, Field: i})
}

// checkUndo checks the call that undoes a verb, once all verbs are known.
func (l *loader) checkUndo(r *verbs.Registry, vn *verbNode) {
	vn.noWayBack()
	if vn.undone == nil {
		return
	}
	_, diags := r.CheckRun(undone(vn.v), vn.undone.macro)
	vn.d.relay(vn.undone.at, diags)
	for i := range vn.v.Params {
		p := &vn.v.Params[i]
		if p.Sensitive && verbs.NamesArgument(vn.undone.macro.Script, p.Name) {
			vn.d.report(tell(vn.d.place(vn.undone.at), "contradiction", "the journal keeps no :"+p.Name+", which is sensitive, and so nothing can take "+vn.v.Name+" back with it", "name a row that holds it", dsl.Place{}, ""))
		}
	}
	other := r.Verb(vn.undone.macro.Script.Calls[0].Verb)
	if other == vn.v {
		vn.d.report(tell(vn.d.place(vn.undone.at), "contradiction", vn.v.Name+" is taken back by itself", "name the call that does the opposite; `undo: rows` puts the rows back", dsl.Place{}, ""))
	}
	if other != nil && other.Internal {
		vn.d.report(internalNamed(vn.d.place(vn.undone.at), other, vn.v.Name+" is taken back by"))
	}
}

// noWayBack reports a field that putting rows back can never put back: the verb always sets it to a code from
// which nothing leads to any code that leads there. The undo would be offered, and refused each time.
func (vn *verbNode) noWayBack() {
	u := vn.v.Undo
	if u == nil || u.Back == nil {
		return
	}
	for i := range vn.v.Effects {
		e := &vn.v.Effects[i]
		for _, s := range e.Set {
			codes := e.Entity.Fields[s.Field].Type.Codes
			if e.Kind != verbs.Updates || e.May || codes == nil || s.Value == nil || !codes.Has(s.Value.Text) || u.Spares(e.Entity.Store, s.Field) {
				continue
			}
			to := s.Value.Text
			leads, back := "", false
			for _, c := range codes.Codes {
				if _, may := codes.Steps(c.Name, to); may && c.Name != to {
					leads = c.Name
					_, returns := codes.Steps(to, c.Name)
					back = back || returns
				}
			}
			if leads != "" && !back {
				field := e.Entity.Store.Name + "." + e.Entity.Store.Fields[s.Field].Name
				vn.d.report(tell(u.Place, "contradiction", "undo puts "+field+" back from "+to+", and nothing leads from there to "+leads,
					"let "+to+" lead to it, or say what takes it back: undo: {by: CALL}, undo: {none: REASON}, or except: ["+field+"]", s.Place, "it is set here"))
				return
			}
		}
	}
}

// undone returns the verb with the rows that it adds as further arguments, which the call that
// undoes it may name.
func undone(v *verbs.Verb) *verbs.Verb {
	as := *v
	as.Params = slices.Clone(v.Params)
	for i := range v.Effects {
		e := &v.Effects[i]
		if e.Adds() && v.ParamNamed(e.Entity.Store.Name) < 0 {
			as.Params = append(as.Params, verbs.Param{Name: e.Entity.Store.Name, Ident: naming.Underscored(e.Entity.Store.Name), Type: &verbs.Type{Name: verbs.RefType, Entity: e.Entity}, Required: true})
		}
	}
	return &as
}

// back makes the verb that undoes another. The same roles may use it, and those whose agreement
// the other may need have to agree: whether a condition held then is not tested again. It may do
// the opposite of what the other may do, and nothing else.
func back(v *verbs.Verb) *verbs.Verb {
	b := &verbs.Verb{Name: v.Name + undoWord, Description: "Take back what a call of " + v.Name + " did.", Roles: v.Roles, Undoes: v, Place: v.Place,
		Returns: verbs.Returns{Type: "record", Includes: []string{"stays"}},
		Params: []verbs.Param{{Name: "entry", Ident: "entry", Description: "the number of the call's entry in the journal", Required: true,
			Type: &verbs.Type{Name: verbs.IntegerType, Min: stores.NewInt(1)}, Place: v.Place}}}
	for i := range v.Confirm {
		c := v.Confirm[i]
		if c.When != nil {
			c.Reason = "" // which would say that the condition holds
		}
		c.Always, c.When = true, nil
		b.Confirm = append(b.Confirm, c)
	}
	may := func(kind verbs.EffectKind, of *verbs.Effect) *verbs.Effect {
		e := verbs.Effect{Kind: kind, May: true, Operand: of.Operand, Entity: of.Entity, Place: of.Place}
		b.Effects = append(b.Effects, e)
		return &b.Effects[len(b.Effects)-1]
	}
	for i := range v.Effects {
		switch e := &v.Effects[i]; {
		case e.Adds():
			may(verbs.Deletes, e)
			may(verbs.Creates, e) // an undo can be undone
			e.Entity.Store.Removed = true
		case e.Kind == verbs.Deletes && e.Entity != nil:
			may(verbs.Creates, e)
			may(verbs.Deletes, e)
			e.Entity.Store.Added = true
		case e.OnRows():
			to := may(verbs.Updates, e)
			if to.Fields = slices.Clone(e.Fields); e.Fields != nil || len(e.Set) > 0 {
				for _, s := range e.Set {
					to.Fields = append(to.Fields, s.Field)
				}
			}
		case e.Kind == verbs.Triggers && e.Run != nil:
			may(verbs.Triggers, e)
		}
	}
	if slices.ContainsFunc(v.Effects, func(e verbs.Effect) bool { return e.Kind == verbs.Triggers && e.Run != nil }) {
		b.Effects = append(b.Effects, verbs.Effect{Kind: verbs.Stores, May: true, Operand: parseOperand("verbatim.job"), Place: v.Place})
	}
	return b
}
