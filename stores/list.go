package stores

import "fmt"

// A List asks, with the rows that a Find finds, for rows of another entity that
// belong to them: those that By leads from to one of them, within the scope. A
// store that is far away gets them in the round trip of the rows.
type List struct {
	Entity *Entity
	By     Path   // a reference, or along some to one, to the entity of the Find
	Select []Path // what to return, at least one
	Where  *Cond  // nil is all of them
	Order  []Order
	// Into is given what belongs to each row: parallel to what Find returns.
	// Through all of them they may be as many as the store's cap; more is ErrLimit.
	Into *[][][]Value
}

// Apart carries out a Find as one for its rows and one for each of its lists, for
// a store that gains nothing by asking for all at once, or would have to hold
// what it finds.
func (f Find) Apart(find func(Find) ([][]Value, error)) ([][]Value, error) {
	lists := f.Lists
	f.Lists, f.Last = nil, false
	paths := f.Select
	if paths == nil {
		for i := range f.Entity.Fields {
			paths = append(paths, Path{Field: i})
		}
	}
	n := len(paths)
	f.Select = append(paths[:n:n], Path{Field: f.Entity.Key})
	rows, err := find(f)
	if err != nil {
		return nil, err
	}
	keys := make([]Value, len(rows))
	at := make(map[Value]int, len(rows))
	for i := range rows {
		keys[i] = rows[i][n]
		rows[i], at[keys[i]] = rows[i][:n:n], i
	}
	for i := range lists {
		if err := lists[i].apart(f, keys, at, find); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (l *List) apart(of Find, keys []Value, at map[Value]int, find func(Find) ([][]Value, error)) error {
	all := make([][][]Value, len(keys))
	*l.Into = all
	if err := l.Check(of.Entity); err != nil || len(keys) == 0 {
		return err
	}
	where := Cond{Op: In, Path: l.By, Value: NewList(keys...)}
	if len(keys) == 1 {
		where = Cond{Op: Eq, Path: l.By, Value: keys[0]}
	}
	if l.Where != nil {
		where = Cond{Op: And, Kids: []Cond{where, *l.Where}}
	}
	n := len(l.Select)
	hold := min(of.Hold, Shared) // what belongs to a row is not what is to be changed
	rows, err := find(Find{Entity: l.Entity, Select: append(l.Select[:n:n], l.By), Where: &where, Order: l.Order, Hold: hold})
	if err != nil {
		return err
	}
	for _, row := range rows {
		if i, ok := at[row[n]]; ok {
			all[i] = append(all[i], row[:n:n])
		}
	}
	return nil
}

// Check refuses a list that does not belong to rows of an entity.
func (l *List) Check(of *Entity) error {
	e := l.Entity
	for _, s := range l.By.Steps {
		if s.To == nil || s.Field < 0 || s.Field >= len(e.Fields) || e.Fields[s.Field].Ref != s.To {
			return fmt.Errorf("a list of %s by a path that follows a field that is no reference: %w", l.Entity.Name, ErrInvalid)
		}
		e = s.To
	}
	f := l.By.Field
	if l.By.Count != nil || l.By.Marks || f < 0 || f >= len(e.Fields) || e.Fields[f].Ref != of || len(l.Select) == 0 {
		return fmt.Errorf("a list of %s by a path that does not lead to %s: %w", l.Entity.Name, of.Name, ErrInvalid)
	}
	return nil
}
