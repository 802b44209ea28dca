package stores

import "fmt"

// A List asks a Find for related rows of another entity as well: the rows within the scope from
// which the path By leads to one of the rows found. A remote store reads them in the same round
// trip.
type List struct {
	Entity *Entity
	By     Path   // a reference to the entity of the Find, perhaps behind other references
	Select []Path // what to return, at least one
	Where  *Cond  // nil is all of them
	Order  []Order
	// Into receives the related rows of each row, parallel to the Find's result. Altogether they
	// may be as many as the store's cap; more is ErrLimit.
	Into *[][][]Value
}

// Apart carries out a Find as one read for its rows and one for each of its lists, for a store
// that gains nothing from one read, or would have to hold the rows found.
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
	hold := min(of.Hold, Shared) // related rows are not going to be changed
	rows, err := find(Find{Entity: l.Entity, Select: append(l.Select[:n:n], l.By), Where: &where, Order: l.Order, Hold: hold,
		Unreadable: of.Unreadable, Blank: of.Blank})
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

// Check returns an error if the list does not belong to rows of an entity.
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
