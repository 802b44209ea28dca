package stores

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
)

// A Filler is a transaction that fills a newly migrated store with the content of another store.
type Filler interface {
	Tx
	// Keep stores, unchanged, what another store keeps beside rows.
	Keep(ctx context.Context, k Kept) error
	// Root returns what Head will return once the transaction is committed: the hash of it.
	Root(ctx context.Context) ([32]byte, error)
	// CountFrom makes the database draw this number, or a greater one, for a field of the next
	// new row.
	CountFrom(ctx context.Context, e *Entity, field int, next int64) error
}

// Kept is what a store keeps beside rows, or a part of it.
type Kept struct {
	Secret     []byte // of its Identity; names that were made with another secret are forgotten
	Principals []Principal
	Jobs       []JobRecord
}

// Moved says what Move has moved.
type Moved struct {
	Rows       []MovedRows
	Principals int
	Names      int
	Jobs       int
	Entries    int64
	Head       [32]byte
}

// MovedRows are the rows of one entity.
type MovedRows struct {
	Entity *Entity
	Rows   int
	There  bool // the rows were there already, and were compared
}

// A MoveError says why a store cannot be moved, because of one store or the other. It shows no
// value and no key.
type MoveError struct{ Msg string }

func (e *MoveError) Error() string { return e.Msg }

func unmoved(format string, args ...any) error { return &MoveError{fmt.Sprintf(format, args...)} }

// A Move copies one store to another. Read is a transaction of From that keeps others from
// writing, and Fill a transaction of To that does the copying.
type Move struct {
	From, To Store
	Read     Tx
	Fill     Filler
	Entities []*Entity
	// Partly says, for an entity, which columns of its table have no field. The rows of such a
	// table are compared and not moved.
	Partly map[*Entity]string
	Views  []*Entity // entities whose rows come from other tables

	done  map[*Entity]bool // entities whose rows are there
	after []Change         // changes to make once all rows are there
}

// movePage is how many rows or entries are moved at once.
const movePage = 1000

// Run moves rows, principals, names, jobs and the journal, and compares the result with the
// source. Rows of tables that are not managed are moved if the table is empty, and compared
// otherwise.
func (m *Move) Run(ctx context.Context) (moved Moved, err error) {
	if err := m.empty(ctx); err != nil {
		return moved, err
	}
	id, err := m.From.Identity(ctx)
	if err == nil {
		err = m.Fill.Keep(ctx, Kept{Secret: id.Secret})
	}
	if err != nil {
		return moved, err
	}
	m.done = map[*Entity]bool{}
	for _, e := range m.order() {
		rows, err := m.rows(ctx, e)
		if err != nil {
			return moved, m.failed(ctx, e, err)
		}
		moved.Rows = append(moved.Rows, rows)
		m.done[e] = true
		for i := range e.Fields {
			if f := &e.Fields[i]; f.Drawn && f.Kind == Int {
				next, err := m.Read.Draw(ctx, e, i)
				if err == nil {
					err = m.Fill.CountFrom(ctx, e, i, next.Int())
				}
				if err != nil {
					return moved, err
				}
			}
		}
	}
	for part := range slices.Chunk(m.after, movePage) {
		if err := m.Fill.Apply(ctx, Batch{Changes: part}); err != nil {
			return moved, err
		}
	}
	for i := range moved.Rows {
		if err := m.compare(ctx, &moved.Rows[i]); err != nil {
			return moved, err
		}
	}
	return moved, m.beside(ctx, &moved)
}

// empty returns an error if the target store already has anything of what is moved.
func (m *Move) empty(ctx context.Context) error {
	var there []string
	has := func(some bool, what string) {
		if some {
			there = append(there, what)
		}
	}
	names, err := m.To.Principals(ctx)
	has(len(names) > 0, "people")
	if err == nil {
		var entries []Entry // some may wait to be sealed
		entries, err = m.To.Journal(ctx, 1, 0)
		has(len(entries) > 0, "a journal")
	}
	if err == nil {
		var jobs []JobRecord
		jobs, err = m.Fill.Jobs(ctx, JobFilter{Limit: 1})
		has(len(jobs) > 0, "work for later")
	}
	for _, e := range m.Entities {
		if err == nil && e.Managed {
			var rows bool
			rows, err = some(ctx, m.Fill, e)
			has(rows, "rows of "+e.Name)
		}
	}
	if err == nil && len(there) > 0 {
		err = unmoved("the target has %s already", strings.Join(there, ", "))
	}
	return err
}

// some reports whether an entity has rows.
func some(ctx context.Context, r Reader, e *Entity) (bool, error) {
	rows, err := r.Find(ctx, Find{Entity: e, Select: []Path{{Field: e.Key}}, Limit: 1, Cut: true})
	return len(rows) > 0, err
}

// order sorts entities behind those that they refer to, as far as possible.
func (m *Move) order() (sorted []*Entity) {
	seen := map[*Entity]bool{}
	var visit func(e *Entity)
	visit = func(e *Entity) {
		if seen[e] || !slices.Contains(m.Entities, e) {
			return
		}
		seen[e] = true
		for _, must := range [...]bool{true, false} {
			for i := range e.Fields {
				if f := &e.Fields[i]; f.Ref != nil && f.Required == must {
					visit(f.Ref)
				}
			}
		}
		sorted = append(sorted, e)
	}
	for _, e := range m.Entities {
		visit(e)
	}
	return sorted
}

// rows moves the rows of one entity, or notes which marks the existing rows lack.
func (m *Move) rows(ctx context.Context, e *Entity) (MovedRows, error) {
	moved := MovedRows{Entity: e}
	there, err := some(ctx, m.Fill, e)
	if err != nil {
		return moved, err
	}
	view := slices.Contains(m.Views, e)
	there = there || view
	moved.There = there
	in := map[Value]bool{}
	var page []Row
	flush := func() error {
		for part := range slices.Chunk(page, movePage) {
			var b Batch
			for _, row := range part {
				b.Changes = append(b.Changes, m.insert(row, in))
			}
			if err := m.Fill.Apply(ctx, b); err != nil {
				return err
			}
		}
		page = page[:0]
		return nil
	}
	itself := slices.ContainsFunc(e.Fields, func(f Field) bool { return f.Ref == e })
	for row, err := range EachRow(ctx, m.Read, e) {
		if err != nil {
			return moved, err
		}
		moved.Rows++
		if there {
			if c := (Change{Op: Update, Entity: e, Key: row.Key()}); len(row.Marks) > 0 && !view {
				for _, k := range row.Marks {
					c.Set = append(c.Set, Assign{k.Field, row.Values[k.Field], k.Origin})
				}
				m.after = append(m.after, c)
			}
			continue
		}
		if why := m.Partly[e]; why != "" {
			return moved, unmoved("%s. The rows cannot be moved whole: bring the table with the database's own tools, and they are compared", why)
		}
		if page = append(page, row); len(page) == movePage && !itself {
			if err := flush(); err != nil {
				return moved, err
			}
		}
	}
	if itself {
		page = parentsFirst(page)
	}
	return moved, flush()
}

// parentsFirst sorts rows behind the rows of the same entity that they refer to. In a cycle, one
// of them comes first.
func parentsFirst(rows []Row) []Row {
	by, sorted := make(map[Value]*Row, len(rows)), make([]Row, 0, len(rows))
	for i := range rows {
		by[rows[i].Key()] = &rows[i]
	}
	var visit func(r *Row)
	visit = func(r *Row) {
		delete(by, r.Key())
		for i, v := range r.Values {
			if to := by[v]; r.Entity.Fields[i].Ref == r.Entity && to != nil {
				visit(to)
			}
		}
		sorted = append(sorted, *r)
	}
	for i := range rows {
		if r := by[rows[i].Key()]; r != nil {
			visit(r)
		}
	}
	return sorted
}

// insert returns the change that adds a row; in holds the rows of its entity that are there.
// References to rows that are not there yet are set later.
func (m *Move) insert(row Row, in map[Value]bool) Change {
	e := row.Entity
	c := Change{Op: Insert, Entity: e, Key: row.Key()}
	later := Change{Op: Update, Entity: e, Key: row.Key()}
	for i, v := range row.Values {
		f := &e.Fields[i]
		a := Assign{i, v, MarkOf(row.Marks, i)}
		switch {
		case f.Computed:
			continue
		case f.Ref == nil || v.IsNull() || f.Required:
		case f.Ref == e && v != row.Key() && !in[v], f.Ref != e && !m.done[f.Ref] && slices.Contains(m.Entities, f.Ref):
			later.Set = append(later.Set, a)
			a = Assign{Field: i}
		}
		c.Set = append(c.Set, a)
	}
	if len(later.Set) > 0 {
		m.after = append(m.after, later)
	}
	if slices.ContainsFunc(e.Fields, func(f Field) bool { return f.Ref == e }) {
		in[c.Key] = true
	}
	return c
}

// failed names the row that could not be added because it refers to a row that does not exist.
func (m *Move) failed(ctx context.Context, e *Entity, err error) error {
	if _, ok := err.(*MoveError); ok {
		return err
	}
	for row, bad := range EachRow(ctx, m.Read, e) {
		if bad != nil {
			break // which may be the cause of err
		}
		for i, v := range row.Values {
			if ref := e.Fields[i].Ref; ref != nil && !v.IsNull() {
				if _, bad := m.Read.Get(ctx, ref, v); bad != nil {
					return unmoved("%s refers with %s to a row of %s that is not there", m.called(ctx, row), e.Fields[i].Name, ref.Name)
				}
			}
		}
	}
	return fmt.Errorf("rows of %s: %w", e.Name, err)
}

// called returns the name of a row for people.
func (m *Move) called(ctx context.Context, row Row) string {
	if names, err := m.Read.Names(ctx, NameQuery{Entity: row.Entity, Keys: []Value{row.Key()}}); err == nil && len(names) > 0 {
		return "@" + names[0].Plain + "~" + names[0].Suffix
	}
	return "a row of " + row.Entity.Name
}

// compare reads the rows of one entity again from both stores and compares them.
func (m *Move) compare(ctx context.Context, moved *MovedRows) error {
	e := moved.Entity
	var page []Row
	same := func() error {
		keys := make([]Value, len(page))
		for i := range page {
			keys[i] = page[i].Key()
		}
		found, err := m.Fill.Rows(ctx, e, keys)
		if err != nil {
			return err
		}
		by := make(map[Value]Row, len(found))
		for _, row := range found {
			by[row.Key()] = row
		}
		for _, row := range page {
			is, ok := by[row.Key()]
			if !ok {
				return unmoved("%s is not in the table of the target, which has other rows", m.called(ctx, row))
			}
			for i := range row.Values {
				if is.Values[i] != row.Values[i] || MarkOf(is.Marks, i) != MarkOf(row.Marks, i) {
					return unmoved("%s of %s is another value in the target", e.Fields[i].Name, m.called(ctx, row))
				}
			}
		}
		page = page[:0]
		return nil
	}
	for row, err := range EachRow(ctx, m.Read, e) {
		if err != nil {
			return err
		}
		if page = append(page, row); len(page) == movePage {
			if err := same(); err != nil {
				return err
			}
		}
	}
	if err := same(); err != nil {
		return err
	}
	n := 0
	for _, err := range EachRow(ctx, m.Fill, e) {
		if err != nil {
			return err
		}
		n++
	}
	if n != moved.Rows {
		return unmoved("%s has %d rows in the target, and %d are moved", e.Name, n, moved.Rows)
	}
	return nil
}

// beside moves everything that a store keeps beside rows.
func (m *Move) beside(ctx context.Context, moved *Moved) error {
	names, err := m.From.Principals(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		p, err := m.From.Principal(ctx, name)
		if err == nil {
			err = m.Fill.Keep(ctx, Kept{Principals: []Principal{p}})
		}
		if err != nil {
			return err
		}
	}
	moved.Principals = len(names)
	for _, e := range m.Entities {
		for last := (&Name{}); ; {
			page, err := m.Read.Names(ctx, NameQuery{Entity: e, Behind: last, Most: movePage})
			if err != nil {
				return err
			}
			if len(page) == 0 {
				break
			}
			if err := m.Fill.Apply(ctx, Batch{Names: page}); err != nil {
				return err
			}
			moved.Names += len(page)
			last = &page[len(page)-1]
		}
	}
	jobs, err := m.Read.Jobs(ctx, JobFilter{})
	if err != nil {
		return err
	}
	for part := range slices.Chunk(jobs, movePage) {
		if err := m.jobs(ctx, part); err != nil {
			return err
		}
	}
	moved.Jobs = len(jobs)
	return m.journal(ctx, moved)
}

func (m *Move) jobs(ctx context.Context, jobs []JobRecord) error {
	if err := m.Fill.Keep(ctx, Kept{Jobs: jobs}); err != nil {
		return err
	}
	ids := make([]string, len(jobs))
	for i := range jobs {
		ids[i] = jobs[i].ID
	}
	found, err := m.Fill.Jobs(ctx, JobFilter{IDs: ids})
	if err != nil {
		return err
	}
	by := map[string]JobRecord{}
	for _, j := range found {
		by[j.ID] = j
	}
	for _, j := range jobs {
		if !reflect.DeepEqual(by[j.ID], j) {
			return unmoved("job %s did not come out as it was", j.ID)
		}
	}
	return nil
}

func (m *Move) journal(ctx context.Context, moved *Moved) error {
	switch waits, err := m.From.Unsealed(ctx); {
	case err != nil:
		return err
	case waits.Waiting > 0 || len(waits.Stray) > 0: // only what has a place is moved
		return unmoved("the journal has entries that are not sealed: verbatim log verify says which")
	}
	size, head, err := m.From.Head(ctx)
	if err != nil {
		return err
	}
	for moved.Entries < size {
		part, err := m.From.Placed(ctx, moved.Entries+1, moved.Entries+movePage)
		if err != nil {
			return err
		}
		for i := range part {
			e := &part[i]
			if moved.Entries++; e.Place != moved.Entries {
				return &ChainError{Seq: e.Seq, Msg: "stands in the place of another"}
			}
			if !e.InChain() {
				err = e.Check()
			} else if _, moved.Head, err = VerifyChain(moved.Entries-1, moved.Head, part[i:i+1]); err != nil {
				return err
			}
			if err != nil {
				return err
			}
		}
		if len(part) == 0 {
			return &ChainError{Seq: moved.Entries + 1, Msg: "is missing"}
		}
		if err := m.Fill.Apply(ctx, Batch{Sealed: part}); err != nil {
			return err
		}
	}
	// The target computed the root of its own leaves.
	if moved.Head, err = m.Fill.Root(ctx); err == nil && moved.Head != head {
		err = &ChainError{Seq: size, Msg: "or one before it did not come out as it was"}
	}
	return err
}

// EachRow yields the rows of an entity in the order of their keys, and reads them a page at a
// time.
func EachRow(ctx context.Context, r Reader, e *Entity) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		n := len(e.Fields)
		f := Find{Entity: e, Select: make([]Path, n+1), Limit: movePage, Cut: true}
		for i := range n {
			f.Select[i].Field = i
		}
		f.Select[n].Marks = true
		for {
			page, err := r.Find(ctx, f)
			if err != nil {
				yield(Row{}, err)
				return
			}
			for _, values := range page {
				marks, err := ReadMarks(e, values[n])
				if !yield(Row{Entity: e, Values: values[:n:n], Marks: marks}, err) || err != nil {
					return
				}
			}
			if len(page) < movePage {
				return
			}
			f.Where = &Cond{Op: Gt, Path: Path{Field: e.Key}, Value: page[movePage-1][e.Key]}
		}
	}
}
