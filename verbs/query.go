package verbs

import "verbatim/stores"

// Spelled returns a value in the form that columns and tools use: codes, also those in a list, by
// their stored values.
func (t *Type) Spelled(v stores.Value) stores.Value {
	switch {
	case t == nil || v.IsNull():
	case t.Name == ListType && t.Item.Spelling() != nil:
		items, err := v.Items(stores.String)
		if err != nil {
			return v
		}
		for i := range items {
			items[i] = t.Item.Spelled(items[i])
		}
		return stores.NewList(items...)
	case t.Name == ListType && t.Record() != nil:
		items, err := v.Items(stores.JSON)
		if err != nil {
			return v
		}
		for i := range items {
			items[i] = t.Item.Spelled(items[i])
		}
		return stores.NewList(items...)
	case t.Name == RecordType:
		parts, ok := t.Parts(v)
		if !ok {
			return v
		}
		for i := range parts {
			parts[i] = t.Fields[i].Type.Spelled(parts[i])
		}
		return t.Whole(parts)
	case t.Spelling() != nil:
		if w, ok := t.Spelling().Store(v); ok {
			return w
		}
	}
	return v
}

// Spelling returns how columns store codes of the type; nil if they store their names.
func (t *Type) Spelling() *stores.Spelling {
	if t == nil || t.Codes == nil || t.Name != CodeType {
		return nil
	}
	return t.Codes.Spelling
}

// Arguments returns the arguments of a call that the query takes, with codes in their stored
// form.
func (q *Query) Arguments(v *Verb, args []stores.Value) []stores.Value {
	given := make([]stores.Value, len(q.Params))
	for i, p := range q.Params {
		if args == nil {
			continue
		}
		given[i] = args[p]
		if s := v.Params[p].Type.Spelling(); s != nil && !args[p].IsNull() {
			given[i], _ = s.Store(args[p])
		}
	}
	return given
}
