package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"verbatim/runtime/internal/view"
	"verbatim/runtime/state/names"
	"verbatim/stores"
	"verbatim/verbs"
)

// A declared read returns rows of one entity, with the values of fields, lists of rows that
// belong to each row, and its progress. One query asks the store for all of it.

// find carries out a declarative read.
func (r *source) find(ctx context.Context, st *step) (*table, error) {
	read := st.verb.Read
	where, err := r.cond(ctx, st, read.Filter)
	if err != nil {
		return nil, err
	}
	var along []stores.Value
	if read.Along != nil {
		if along, err = r.along(ctx, st, read.Along); err != nil {
			return nil, err
		}
		where = onlyThose(where, read.Entity.Store, along)
	}
	selected := st.prep.selects
	f, err := fetchesOf(ctx, r, st, selected.rows)
	if err != nil {
		return nil, err
	}
	beside, err := r.beside(ctx, st, selected.lists)
	if err != nil {
		return nil, err
	}
	var dirty []stores.Unreadable
	find := stores.Find{Unreadable: &dirty, Entity: read.Entity.Store, Select: f.all, Where: where, Order: read.Order, Limit: read.Limit,
		Hold: r.holdsAs(stores.Shared), Last: r.last(st, append(beside.fetches, f)), Lists: beside.asked}
	if read.Groups() {
		find.Limit, find.Order = 0, nil // the groups are limited and ordered, not the rows
	}
	window := r.window
	if window != nil && !st.verb.Windowed() {
		window = nil
	}
	switch {
	case window != nil:
		err = r.windowed(ctx, st, window, &find)
	case read.After >= 0:
		err = r.behind(ctx, st, &find)
	}
	if err != nil {
		return nil, err
	}
	var rows [][]stores.Value
	if st.sees.matching != nil {
		find.Last = false
		rows, err = matchRows(ctx, r, st, f, find)
	} else {
		rows, err = r.findWithPostponed(ctx, st, find)
	}
	if err != nil {
		return nil, err
	}
	if read.Along != nil && len(read.Order) == 0 {
		asFound(rows, along)
	}
	var left []string
	if window == nil {
		rows, left, err = r.firstPage(ctx, st, rows, len(dirty))
	}
	if err == nil {
		left, err = r.leaveOut(ctx, st, dirty, left, read.One)
	}
	if err != nil {
		return nil, err
	}
	if read.One && len(rows) == 0 {
		return nil, st.refuse("unknown-name", st.verb.Params[read.By].Name)
	}
	t := &table{left: left, found: foundBy(st), entity: read.Entity, columns: make([]column, len(read.Fields)), keys: make([]stores.Value, len(rows)), rows: make([][]cell, len(rows))}
	for i := range read.Fields {
		t.columns[i] = column{read.Fields[i].Name, read.Fields[i].Sensitive}
	}
	st.reads = slices.Grow(st.reads, len(rows))
	for n, row := range rows {
		st.saw(readRow{entity: read.Entity.Store, key: row[0], paths: f.all, values: row})
		t.keys[n] = row[0]
	}
	if err := r.belonging(ctx, st, beside); err != nil {
		return nil, err
	}
	if err := f.cells(st, t, rows, beside); err != nil {
		return nil, err
	}
	if read.Groups() {
		if err := groupRows(st, t); err != nil {
			return nil, err
		}
	}
	return t, r.nameCells(ctx, t)
}

// firstPage cuts rows to one page, and says how to ask for the next one. Rows that were left out
// may have taken the place of others on the page.
func (r *source) firstPage(ctx context.Context, st *step, rows [][]stores.Value, leftOut int) (page [][]stores.Value, left []string, err error) {
	read := st.verb.Read
	if read.After < 0 || len(rows)+leftOut <= read.Limit || len(rows) == 0 {
		return rows, nil, nil
	}
	n := min(len(rows), read.Limit)
	last := rows[n-1][0]
	if _, err := r.nameRow(ctx, read.Entity, last); err != nil {
		return nil, nil, err
	}
	return rows[:n], []string{morePage(st.verb.Name, st.verb.Params[read.After].Name, r.shownName(read.Entity.Store, last))}, nil
}

// mostLeftOut is how many rows that are left out are told one by one.
const mostLeftOut = 20

// leaveOut adds a sentence for each row that is left out because it cannot be read. If the read is
// of one row, the call is refused.
func (r *source) leaveOut(ctx context.Context, st *step, dirty []stores.Unreadable, left []string, one bool) ([]string, error) {
	for i := range dirty {
		u := &dirty[i]
		if i == mostLeftOut {
			return append(left, moreLeftOut(len(dirty)-i)), nil
		}
		row := "a row"
		if u.Entity != nil {
			row += " of " + u.Entity.Name
		}
		if e := r.e.reg.EntityOf(u.Entity); e != nil && !u.Key.IsNull() {
			_, err := r.nameRow(ctx, e, u.Key)
			if err != nil && r.read.Misjudged(err) {
				return nil, err
			}
			if err == nil && r.shownName(u.Entity, u.Key) != hidden {
				row = u.Entity.Name + " " + r.shownName(u.Entity, u.Key)
			}
		}
		if one {
			return nil, st.refuse("unreadable-row", st.verb.Name, row, u.Field, u.Why)
		}
		left = append(left, leftOut(row, u.Field, u.Why))
	}
	return left, nil
}

// cells fills a table with the fields of its rows.
func (f *fetch) cells(st *step, t *table, rows [][]stores.Value, beside *relatedRows) (err error) {
	fields := f.fields[:len(t.columns)]
	all := make([]cell, len(rows)*len(fields))
	for n, row := range rows {
		cells := all[:len(fields):len(fields)]
		all = all[len(fields):]
		for i := range cells {
			switch g := &fields[i]; g.From {
			case verbs.FromList, verbs.FromCount, verbs.FromTotal:
				cells[i], err = beside.lists[g.List].cell(n, g.ReadField)
			case verbs.FromProgress:
				cells[i] = cell{value: beside.progress[n].part(t.entity.Progress, g.Part), from: ofRecord}
			default:
				cells[i], err = f.cell(st, i, row)
			}
			if err != nil {
				return err
			}
		}
		t.rows[n] = cells
	}
	return nil
}

// behind limits a find to a page after the row that the caller named. It asks for one row
// more than the page shows, which tells whether there is another page.
func (r *source) behind(ctx context.Context, st *step, f *stores.Find) error {
	f.Cut, f.Limit = true, f.Limit+1
	row := &st.args.rows[st.verb.Read.After]
	if row.Entity == nil {
		return nil
	}
	paths := make([]stores.Path, len(f.Order))
	for i := range f.Order {
		paths[i] = f.Order[i].Path
	}
	values, _, err := r.fields(ctx, st, row.Entity, row.Key(), append(paths, stores.Path{Field: row.Entity.Key}))
	if err != nil {
		return err
	}
	behind := f.Behind(values)
	if f.Where != nil {
		behind = stores.Cond{Op: stores.And, Kids: []stores.Cond{*f.Where, behind}}
	}
	f.Where = &behind
	return nil
}

// last reports whether a read is the last question to the store, as far as is known: the
// program ends with it, and the rows that it returns have names, unless they are new.
func (r *source) last(st *step, all []*fetch) bool {
	if r.owners || !r.snapshot || !st.tree.last {
		return false
	}
	for _, f := range all {
		for i := range f.fields {
			g := &f.fields[i]
			to := g.to
			if g.From == verbs.FromExpr && g.Type.Name == verbs.RefType {
				to = g.Type.Entity
			}
			if to != nil && r.s.names.Extent(to.Store) != names.All {
				return false
			}
		}
	}
	return true
}

// described returns the palette's description of a code, or of each code in a list.
func described(list *verbs.CodeList, t *verbs.Type, v stores.Value) (stores.Value, error) {
	words := func(code string) stores.Value {
		i := slices.IndexFunc(list.Codes, func(c verbs.Code) bool { return c.Name == code })
		if i < 0 {
			return stores.Value{} // a value that only the database knows
		}
		if said := cmp.Or(list.Codes[i].Description, list.Codes[i].Label); said != "" {
			return stores.NewString(said)
		}
		return stores.Value{}
	}
	if v.IsNull() {
		return v, nil
	}
	if t.Name != verbs.ListType {
		return words(v.Text()), nil
	}
	codes, err := v.Items(stores.String)
	if err != nil {
		return v, err
	}
	for i, code := range codes {
		codes[i] = stores.NewObject([]string{"code", "description"}, []stores.Value{code, words(code.Text())})
	}
	return stores.NewList(codes...), nil
}

// relatedRows hold what belongs to the rows of a read: the questions and, parallel to the rows,
// the answers.
type relatedRows struct {
	asked    []stores.List // of each list of the palette, and the steps of progress if they are wanted
	fetches  []*fetch      // parallel to the lists
	found    [][][][]stores.Value
	lists    []listRows
	progress []*stepCount
}

// listRows are the rows of a list, grouped by the row that they belong to.
type listRows struct {
	items  [][]stores.Value
	fields [][][]stores.Value // of each
	from   []verbs.Origin
}

func (b listRows) cell(n int, as *verbs.ReadField) (c cell, err error) {
	switch as.From {
	case verbs.FromCount:
		return cell{value: stores.NewInt(int64(len(b.items[n]))), from: ofRecord}, nil
	case verbs.FromTotal:
		so := as.Total.Begin()
		for _, row := range b.fields[n] {
			if err := so.Add(row[as.Total.Field]); err != nil {
				return c, err
			}
		}
		c.from = ofRecord.Mix(b.from[n])
		c.value, err = so.Value()
		return c, err
	}
	return cell{value: stores.NewList(b.items[n]...), from: ofRecord.Mix(b.from[n])}, nil
}

// beside works out the questions for the lists and the progress of a read. They are asked
// together with the rows.
func (r *source) beside(ctx context.Context, st *step, lists []*selection) (*relatedRows, error) {
	read := st.verb.Read
	n := len(read.Lists)
	b := &relatedRows{}
	tells := slices.ContainsFunc(read.Fields, func(f verbs.ReadField) bool { return f.From == verbs.FromProgress })
	if n == 0 && !tells {
		return b, nil
	}
	b.found = make([][][][]stores.Value, n+1)
	for i := range read.Lists {
		list := &read.Lists[i]
		only, err := r.cond(ctx, st, list.Filter)
		if err != nil {
			return nil, err
		}
		f, err := fetchesOf(ctx, r, st, lists[i])
		if err != nil {
			return nil, err
		}
		b.fetches = append(b.fetches, f)
		b.asked = append(b.asked, stores.List{Entity: list.Entity.Store, By: list.By, Select: f.all, Where: only, Order: list.Order, Into: &b.found[i]})
	}
	if tells {
		p := read.Entity.Progress
		b.asked = append(b.asked, stores.List{Entity: p.Steps.Store, By: p.By, Select: stepPaths(p), Into: &b.found[n]})
	}
	return b, nil
}

// belonging turns the answers into lists and progress.
func (r *source) belonging(ctx context.Context, st *step, b *relatedRows) (err error) {
	read := st.verb.Read
	b.lists = make([]listRows, len(read.Lists))
	for i := range b.lists {
		if b.lists[i], err = r.list(ctx, st, &read.Lists[i], b.fetches[i], b.found[i]); err != nil {
			return err
		}
	}
	if len(b.asked) > len(read.Lists) {
		b.progress, err = r.progressOf(st, read.Entity.Progress, b.found[len(read.Lists)])
	}
	return err
}

// nameListed names the rows that fields of a list refer to.
func (r *source) nameListed(ctx context.Context, f *fetch, found [][][]stores.Value) error {
	for i := range f.fields {
		g := &f.fields[i]
		if g.to == nil {
			continue
		}
		var keys []stores.Value
		known := make(map[stores.Value]bool)
		for _, rows := range found {
			for _, row := range rows {
				if key := row[g.at]; !key.IsNull() && !known[key] && !r.draft.added[view.RowKey{Entity: g.to.Store, Key: key}] {
					keys, known[key] = append(keys, key), true
				}
			}
		}
		if len(keys) > 0 {
			if err := r.s.nameKeys(ctx, r.read, g.to, keys); err != nil {
				return err
			}
		}
	}
	return nil
}

// inNames replaces the keys among the values of a row by names.
func (r *source) inNames(f *fetch, values []stores.Value) []stores.Value {
	told := values
	for i := range values {
		if to := f.fields[i].to; to != nil {
			if &told[0] == &values[0] {
				told = slices.Clone(values)
			}
			told[i] = r.shownValue(to.Store, values[i])
		}
	}
	return told
}

func (r *source) list(ctx context.Context, st *step, list *verbs.ReadList, f *fetch, found [][][]stores.Value) (b listRows, err error) {
	names := make([]string, len(list.Fields))
	for i := range names {
		names[i] = list.Fields[i].Name
	}
	b.items, b.fields, b.from = make([][]stores.Value, len(found)), make([][][]stores.Value, len(found)), make([]verbs.Origin, len(found))
	if err := r.nameListed(ctx, f, found); err != nil {
		return b, err
	}
	for n, rows := range found {
		st.reads = slices.Grow(st.reads, len(rows))
		b.items[n] = make([]stores.Value, 0, len(rows))
		for _, row := range rows {
			st.saw(readRow{entity: list.Entity.Store, key: row[0], paths: f.all, values: row})
			values := make([]stores.Value, len(f.fields))
			for i := range values {
				c, err := f.cell(st, i, row)
				if err != nil {
					return b, err
				}
				values[i], b.from[n] = c.value, b.from[n].Mix(c.from)
			}
			b.fields[n] = append(b.fields[n], values)
			b.items[n] = append(b.items[n], stores.NewObject(names, r.inNames(f, values)))
		}
	}
	return b, nil
}

// A stepCount counts the steps of one row.
type stepCount struct {
	done, total   int64 // steps
	worth, weight int64 // of those that are done, and of all
	stages        map[string]bool
}

// stepPaths lists the fields that are read of a step: its key, the row that it belongs to, its
// stage, its weight, and the fields that the condition for being done reads.
func stepPaths(p *verbs.Progress) []stores.Path {
	paths := []stores.Path{{Field: p.Steps.Store.Key}, p.By}
	for _, field := range []int{p.Stage, p.Weight} {
		paths = append(paths, stores.Path{Field: max(field, 0)})
	}
	for _, read := range p.Done.Reads {
		paths = append(paths, read.Path)
	}
	return paths
}

// progressOf counts the steps of each row.
func (r *source) progressOf(st *step, p *verbs.Progress, found [][][]stores.Value) ([]*stepCount, error) {
	const reads = 4 // of stepPaths, before what p.Done reads
	paths := stepPaths(p)
	all := make([]*stepCount, len(found))
	for n, rows := range found {
		for _, row := range rows {
			st.saw(readRow{entity: p.Steps.Store, key: row[0], paths: paths, values: row})
			t := all[n]
			if t == nil {
				t = &stepCount{stages: map[string]bool{}}
				all[n] = t
			}
			// A step whose condition has no value is not done.
			done, err := p.Done.Eval(verbs.Env{Reads: row[reads:], Principal: r.s.who.Name, Now: r.now, Outside: r.e.outside})
			if err != nil && !errors.Is(err, verbs.ErrAbsent) {
				return nil, &evalError{p.Done.Place, p.Done.Text, err}
			}
			worth := int64(1)
			if p.Weight >= 0 {
				worth = min(max(row[3].Int(), 0), 1<<32)
			}
			t.total, t.weight = t.total+1, t.weight+worth
			if done.Bool() {
				t.done, t.worth = t.done+1, t.worth+worth
			}
			if p.Stage >= 0 {
				stage := row[2].Text()
				so, known := t.stages[stage]
				t.stages[stage] = done.Bool() && (so || !known)
			}
		}
	}
	return all, nil
}

// part returns one figure of a stepCount; null for a row without steps.
func (t *stepCount) part(p *verbs.Progress, part verbs.ProgressPart) stores.Value {
	if t == nil {
		return stores.Value{}
	}
	switch part {
	case verbs.ProgressDone:
		return stores.NewInt(t.done)
	case verbs.ProgressTotal:
		return stores.NewInt(t.total)
	case verbs.ProgressLeft:
		return stores.NewInt(t.total - t.done)
	case verbs.ProgressPercent:
		return stores.NewInt(t.percent())
	}
	var complete []stores.Value
	for _, c := range p.Steps.Fields[p.Stage].Type.Codes.Codes {
		done, known := t.stages[c.Name]
		switch {
		case known && done:
			complete = append(complete, stores.NewString(c.Name))
		case known && part == verbs.ProgressStage:
			return stores.NewString(c.Name)
		}
	}
	if part == verbs.ProgressStage {
		return stores.Value{}
	}
	return stores.NewList(complete...)
}

// percent rounds to the nearest whole number, but to 100 only when all steps are done, and to
// 0 only when none is.
func (t *stepCount) percent() int64 {
	done, all := t.worth, t.weight
	if all == 0 { // steps that count for nothing are told by their number
		done, all = t.done, t.total
	}
	p := (200*done/all + 1) / 2
	switch {
	case t.done == t.total:
		return 100
	case p > 99:
		return 99
	case p == 0 && done > 0:
		return 1
	}
	return p
}

// windowed limits a find to a window.
func (r *source) windowed(ctx context.Context, st *step, w *verbs.Window, f *stores.Find) error {
	read := st.verb.Read
	if p := st.verb.Pickable(w.Order); p != nil {
		f.Order = append([]stores.Order{{Path: *p, Desc: w.Desc}}, f.Order...)
	}
	if w.Limit > 0 {
		f.Limit, f.Cut = w.Limit, true
	}
	var all []stores.Cond
	if f.Where != nil {
		all = append(all, *f.Where)
	}
	if p := st.verb.Pickable(w.Field); p != nil && w.Only != nil {
		of := read.Entity
		if len(p.Steps) > 0 || p.Field != of.Store.Key {
			of = pathEnd(r.e, of.Store, *p)
		}
		var keys []stores.Value
		if of != nil {
			for _, name := range w.Only {
				if key, ok, err := r.keyOf(ctx, of, name); err != nil {
					return err
				} else if ok {
					keys = append(keys, key)
				}
			}
		}
		only := stores.Cond{Op: stores.False}
		if len(keys) > 0 {
			only = stores.Cond{Op: stores.In, Path: *p, Value: stores.NewList(keys...)}
		}
		all = append(all, only)
	}
	for _, one := range w.Where {
		all = append(all, r.matched(st.verb, one))
	}
	if w.After != "" {
		key, ok, err := r.keyOf(ctx, read.Entity, w.After)
		if err != nil {
			return err
		}
		if ok {
			paths := make([]stores.Path, len(f.Order), len(f.Order)+1)
			for i := range f.Order {
				paths[i] = f.Order[i].Path
			}
			values, _, err := r.fields(ctx, st, read.Entity.Store, key, append(paths, stores.Path{Field: read.Entity.Store.Key}))
			if err != nil {
				return err
			}
			all = append(all, f.Behind(values))
		}
	}
	if len(all) > 0 {
		f.Where = &stores.Cond{Op: stores.And, Kids: all}
	}
	return nil
}

// matched returns the condition that one of the matches holds.
func (r *source) matched(v *verbs.Verb, all []verbs.Match) stores.Cond {
	any := stores.Cond{Op: stores.Or}
	for _, m := range all {
		p := v.Pickable(m.Field)
		if p == nil || p.Count != nil {
			continue
		}
		switch kind := fieldAt(v.Read.Entity.Store, *p).Kind; {
		case kind != stores.String:
		case m.Codes == nil:
			any.Kids = append(any.Kids, stores.Cond{Op: stores.Contains, Path: *p, Value: stores.NewString(strings.ToLower(m.Text)), Lower: true})
		case len(m.Codes) > 0:
			codes := make([]stores.Value, len(m.Codes))
			for i, code := range m.Codes {
				codes[i] = stores.NewString(code)
			}
			any.Kids = append(any.Kids, stores.Cond{Op: stores.In, Path: *p, Value: stores.NewList(codes...)})
		}
	}
	if len(any.Kids) == 0 {
		any.Op = stores.False
	}
	return any
}

// keyOf returns the key of the row with a name.
func (r *source) keyOf(ctx context.Context, e *verbs.Entity, name string) (stores.Value, bool, error) {
	name = strings.TrimPrefix(name, "@")
	if key, ok := r.s.names.Key(e.Store, name); ok {
		return key, true, nil
	}
	if err := r.s.lookUp(ctx, r.read, e, []string{name}); err != nil {
		return stores.Value{}, false, err
	}
	key, ok := r.s.names.Key(e.Store, name)
	return key, ok, nil
}
