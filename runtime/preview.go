package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"time"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// A Preview is what a program would do, in rows: what is shown to whoever has
// to agree. Its ID stands for all of it, and for the rows as they were.
//
// The ID and the digest of what a Run did at once, without anybody having agreed
// to a preview, are worked out when they are asked for: by Sealed.
type Preview struct {
	ID      string // "c7f2-91d0"
	Digest  [32]byte
	Calls   []CallPreview // parallel to Program.Calls
	Tables  []TableTotal  // sorted by table
	Rows    int           // how many rows would be added, changed or deleted
	Notices int           // messages that would be sent
	Jobs    int           // pieces of work that would be started or scheduled
	Asks    []Ask

	seal *run // whose digest is not worked out; nil when it is
}

// Sealed returns the preview with its ID and its digest. It is not for several
// goroutines at once.
func (p *Preview) Sealed() *Preview {
	if r := p.seal; r != nil {
		r.finish()
		p.ID, p.Digest, p.seal = r.id, r.digest, nil
	}
	return p
}

// A CallPreview is what one call would do; for a macro, what its calls would.
type CallPreview struct {
	Verb    *verbs.Verb
	Place   dsl.Place
	Call    string // canonical text, sensitive values withheld
	Rows    []RowChange
	Notices []NoticeChange
	Sets    []SessionChange // what the session is given
	Filled  []Filled        // arguments that were left out, and what stands for them
	Tended  []TendedJob     // jobs that would be tried again or dropped
	Asks    []Ask
	Errands []Errand // what tools of other servers are asked
	Result  *Result
}

// A RowChange is one row, before and after.
type RowChange struct {
	Op     stores.Op
	Entity *verbs.Entity
	Name   string // "@pierre-dupont-identity"; "new" for a row that has no name yet
	Label  string
	Fields []FieldChange // in the order of the entity; keys are left out
}

// A FieldChange is one field, before and after. References are shown by name.
type FieldChange struct {
	Field     string
	Column    string
	Before    stores.Value
	After     stores.Value
	Sensitive bool   // printers show that it changed, and not from what to what
	From      string // ":expected-date", "expected_date + days(1)", "default"; "" where a handler made it
	// Origin says where that came from. Was is the origin that the field had,
	// where it was less trusted than a record; the zero Origin otherwise.
	Origin, Was verbs.Origin
	// File is the file that After stands for, by its reference or by what its bytes
	// are known by: what is shown of it, where a person has to agree. It is nil where
	// After stands for itself.
	File *File
}

// A NoticeChange is a message or a piece of work that would be queued.
type NoticeChange struct {
	Kind, Target string
	// Of work that is run here: the call that it is, and when it is made. A day
	// is its first instant where the organisation is; Null is at once.
	Calls string
	At    stores.Value
	// Instead counts the jobs that wait under the same key and are dropped.
	Instead int
}

// A SessionChange is something that the session keeps, before and after.
// References are shown by name.
type SessionChange struct {
	Name          string
	Before, After stores.Value
	Sensitive     bool
	From          string // what it is worked out from; "" where a handler made it
	Origin        verbs.Origin
}

// A TableTotal counts the rows of one table, each once.
type TableTotal struct {
	Table                   string
	Added, Changed, Deleted int
}

// A Result is what a call gives back. Rows are never identified by key: a
// reference is the name of its row in this session.
type Result struct {
	Columns   []string
	Sensitive []bool // parallel to Columns; nil when none is
	// Own are the sensitive ones that are told to the principal who asked, and to
	// nobody else: their own answers. Parallel to Columns; nil when none is.
	Own  []bool
	Rows [][]stores.Value
	// From says where all of it comes from, when that is not from rows within
	// scope: what a tool of another server answered is verbs.FromTool.
	From verbs.Origins
	// Origins says where each value comes from, parallel to Rows; nil when all
	// of them are a record's.
	Origins [][]verbs.Origin
}

// Withheld reports whether a column is sensitive, and not the principal's own: it
// is not shown to them. A model is shown no sensitive column at all.
func (r *Result) Withheld(column int) bool {
	return r.Sensitive != nil && r.Sensitive[column] && (r.Own == nil || !r.Own[column])
}

// toOthers withholds what is the asker's own.
func (p *Preview) toOthers() {
	for i := range p.Calls {
		if r := p.Calls[i].Result; r != nil {
			r.Own = nil
		}
	}
}

// Origin is where a value of the result comes from.
func (r *Result) Origin(row, column int) verbs.Origin {
	switch {
	case r.Origins != nil:
		return r.Origins[row][column]
	case r.From != 0:
		return verbs.NewOrigin(r.From, "")
	}
	return ofRecord
}

// A shown is a preview that somebody may agree to.
type shown struct {
	id     string
	digest [32]byte
	rows   []seen       // whole rows that it stands on
	until  time.Time    // how long agreeing to it is good, where something asks
	kept   stores.Value // key of its row, when other processes know it too
	asking []int        // calls that ask the person

	used bool // guarded by Session.mu: a run has claimed it
}

// moved says which rows are no longer what they were when the preview was
// shown. It is empty when something else differs, or nothing is remembered.
func (p *shown) moved(r *run) []string {
	if p == nil {
		return nil
	}
	var moved []string
	for _, old := range p.rows {
		i := slices.IndexFunc(r.seen, func(n seen) bool { return n.paths == nil && n.entity == old.entity && n.key == old.key })
		if i < 0 || slices.Equal(r.seen[i].values, old.values) {
			continue
		}
		for f, was := range old.values {
			is := r.seen[i].values[f]
			if was == is {
				continue
			}
			field := &old.entity.Fields[f]
			line := fmt.Sprintf("%s of %s", field.Name, r.shownName(old.entity, old.key))
			if !field.Sensitive && field.Ref == nil {
				line += fmt.Sprintf(" was %s and is %s", was, is)
			}
			if !slices.Contains(moved, line) {
				moved = append(moved, line)
			}
		}
	}
	return moved
}

// Names of rows

// What stands where a row has no name.
const (
	newRow = "new"
	hidden = "(hidden)"
)

// nameRow makes sure that a row is known by a name, and returns it. A row that
// this run adds has none until it is committed; one that is out of scope never
// gets one.
func (r *run) nameRow(ctx context.Context, e *verbs.Entity, key stores.Value) (named, error) {
	if row, ok := r.s.known(e.Store, key); ok {
		return row, nil
	}
	if _, isNew := r.added[key]; isNew {
		return named{}, nil
	}
	if r.s.nameable(e) {
		if err := r.s.read(ctx, r.read, e, r.added); err != nil {
			return named{}, err
		}
		if row, ok := r.s.known(e.Store, key); ok {
			return row, nil
		}
	}
	var err error
	if n, ok := r.namingKnown(e, key); ok {
		err = r.s.name(ctx, r.read, e, []naming{n})
	} else {
		err = r.s.nameKeys(ctx, r.read, e, []stores.Value{key})
	}
	if err != nil {
		return named{}, err
	}
	row, _ := r.s.known(e.Store, key)
	return row, nil
}

// namingKnown works out what a row is to be called from what the run knows.
func (r *run) namingKnown(e *verbs.Entity, key stores.Value) (naming, bool) {
	text, known := r.labelKnown(e, key)
	owner, one := r.s.onlyOwner(e.Store)
	return naming{key: key, label: text, owner: owner}, known && one
}

// nameAdded works out what the rows that the run adds are to be called, and
// returns the names for the store to keep.
func (r *run) nameAdded(ctx context.Context) ([]stores.Name, error) {
	all := make(map[*verbs.Entity][]naming)
	var order []*verbs.Entity
	for _, st := range r.steps {
		for i := range st.changes {
			c := &st.changes[i]
			if n, ok := r.minted[c.Key]; ok && c.Op == stores.Insert {
				if all[c.entity] == nil {
					order = append(order, c.entity)
				}
				all[c.entity] = append(all[c.entity], n)
			}
		}
	}
	var names []stores.Name
	for _, e := range order {
		if err := r.s.spell(ctx, r.read, e, all[e]); err != nil {
			return nil, err
		}
		for _, n := range all[e] {
			r.minted[n.key] = n
			names = append(names, n.as(e.Store))
		}
	}
	return names, nil
}

func (r *run) nameCells(ctx context.Context, t *table) error {
	for _, row := range t.rows {
		for _, c := range row {
			if c.entity == nil || c.value.IsNull() {
				continue
			}
			if _, err := r.nameRow(ctx, c.entity, c.value); err != nil {
				return err
			}
		}
	}
	return nil
}

// shownName is what stands where a key would: a name, "new" for a row that is
// not committed yet, and no more than that it is hidden for a row out of scope.
func (r *run) shownName(e *stores.Entity, key stores.Value) string {
	if row, ok := r.s.known(e, key); ok {
		return "@" + row.name
	}
	if _, isNew := r.added[key]; isNew {
		return newRow
	}
	return hidden
}

func (r *run) shownValue(e *stores.Entity, key stores.Value) stores.Value {
	if key.IsNull() {
		return key
	}
	return stores.NewString(r.shownName(e, key))
}

// nameReferences names what the changes of a run refer to, and gives the
// labels of the rows that it adds. It is the last thing that reads.
func (r *run) nameReferences(ctx context.Context) (map[stores.Value]string, error) {
	found := make(map[stores.Value]string)
	fresh := make(map[*verbs.Entity][]stores.Value)
	var order []*verbs.Entity
	for _, st := range r.steps {
		for i := range st.changes {
			c := &st.changes[i]
			if c.Op == stores.Insert {
				if n, ok := r.namingKnown(c.entity, c.Key); ok {
					found[c.Key], r.minted[c.Key] = n.label, n
				} else {
					if fresh[c.entity] == nil {
						order = append(order, c.entity)
					}
					fresh[c.entity] = append(fresh[c.entity], c.Key)
				}
			}
			if err := r.nameChange(ctx, c); err != nil {
				return nil, err
			}
		}
		if err := r.nameSets(ctx, st); err != nil {
			return nil, err
		}
	}
	for _, e := range order {
		where := isRow(e.Store, fresh[e][0])
		if len(fresh[e]) > 1 {
			where = &stores.Cond{Op: stores.In, Path: stores.Path{Field: e.Store.Key}, Value: stores.NewList(fresh[e]...)}
		}
		rows, err := r.read.Find(ctx, stores.Find{Entity: e.Store, Select: r.e.naming[e], Limit: len(fresh[e]), Where: where})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			n := toName(e, row)
			found[n.key], r.minted[n.key] = n.label, n
		}
	}
	return found, nil
}

// Showing

func (r *run) rowChanges(st *step, labels map[stores.Value]string) []RowChange {
	changes := st.changes
	if len(st.inner) > 0 {
		changes = st.gather(&gathered{}).changes
	}
	if len(changes) == 0 {
		return nil
	}
	out := make([]RowChange, 0, len(changes))
	for i := range changes {
		c := &changes[i]
		row := RowChange{Op: c.Op, Entity: c.entity, Name: r.shownName(c.Entity, c.Key), Label: c.named.label}
		if c.Op == stores.Insert || row.Label == "" { // it was added by an earlier call
			row.Label = labels[c.Key]
		}
		if c.Op == stores.Delete {
			for f, v := range c.Before {
				if f != c.Entity.Key && !v.IsNull() {
					row.Fields = append(row.Fields, r.fieldChange(c, f, v, stores.Value{}, "", verbs.Origin{}))
				}
			}
		}
		row.Fields = slices.Grow(row.Fields, len(c.Set))
		for i, a := range c.Set {
			var before stores.Value
			if c.Before != nil {
				before = c.Before[a.Field]
			}
			row.Fields = append(row.Fields, r.fieldChange(c, a.Field, before, a.Value, c.from[i], c.came[i]))
		}
		out = append(out, row)
	}
	return out
}

func (r *run) fieldChange(c *change, field int, before, after stores.Value, from string, came verbs.Origin) FieldChange {
	f := &c.Entity.Fields[field]
	if f.Ref != nil {
		before, after = r.shownValue(f.Ref, before), r.shownValue(f.Ref, after)
	}
	out := FieldChange{Field: f.Name, Column: f.Column, Before: before, After: after, Sensitive: slices.Contains(c.secret, field), From: from, Origin: came}
	if !out.Sensitive {
		out.File = r.fileOf(after)
	}
	if mark := stores.MarkOf(c.Marks, field); mark != "" {
		out.Was = verbs.Stored(mark)
	}
	return out
}

func (r *run) noticeChanges(st *step) []NoticeChange {
	if len(st.notices) == 0 && len(st.inner) == 0 {
		return nil
	}
	var out []NoticeChange
	for i := range st.notices {
		n := &st.notices[i]
		out = append(out, NoticeChange{n.kind, n.target, r.callOf(st, n), n.at, len(n.instead)})
	}
	for _, inner := range st.inner {
		out = append(out, r.noticeChanges(inner)...)
	}
	return out
}

// errandsOf gathers what a call asks of tools, and those that it makes as a
// macro.
func (st *step) errandsOf(all []Errand) []Errand {
	if st.errand != nil {
		all = append(all, st.errand.Errand)
	}
	for _, inner := range st.inner {
		all = inner.errandsOf(all)
	}
	return all
}

func (r *run) result(st *step) *Result {
	t := st.cells
	if t == nil || t.late && t.rows == nil {
		return nil
	}
	res := &Result{Columns: make([]string, len(t.columns)), Rows: make([][]stores.Value, len(t.rows)), From: t.from}
	for i, c := range t.columns {
		res.Columns[i] = c.name
		own := slices.Contains(st.verb.Returns.Shows, c.name)
		if c.sensitive || own {
			if res.Sensitive == nil {
				res.Sensitive = make([]bool, len(t.columns))
			}
			res.Sensitive[i] = true
		}
		if own {
			if res.Own == nil {
				res.Own = make([]bool, len(t.columns))
			}
			res.Own[i] = true
		}
	}
	n := 0
	for _, row := range t.rows {
		n += len(row)
	}
	all := make([]stores.Value, n)
	for i, row := range t.rows {
		res.Rows[i], all = all[:len(row):len(row)], all[len(row):]
		for j, c := range row {
			from := c.from
			if from == (verbs.Origin{}) {
				from = ofRecord
				if t.from != 0 {
					from = verbs.NewOrigin(t.from, "")
				}
			}
			if res.Origins == nil && from != ofRecord {
				res.Origins = make([][]verbs.Origin, len(t.rows))
				for k := range res.Origins {
					res.Origins[k] = slices.Repeat([]verbs.Origin{ofRecord}, len(t.columns))
				}
			}
			if res.Origins != nil {
				res.Origins[i][j] = from
			}
			switch {
			case c.entity != nil:
				res.Rows[i][j] = r.shownValue(c.entity.Store, c.value)
			case t.entity == nil && c.value.Kind() == stores.UUID:
				// A query's or a handler's own uuid may be a key of anything.
				res.Rows[i][j] = stores.NewString(hidden)
			default:
				res.Rows[i][j] = c.value
			}
		}
	}
	return res
}

func (r *run) preview(labels map[stores.Value]string) *Preview {
	written := r.written()
	p := &Preview{ID: r.id, Digest: r.digest, Calls: make([]CallPreview, 0, len(written))}
	ops := make(map[rowKey]stores.Op, len(r.steps))
	totals := make(map[*stores.Entity]*TableTotal)
	for _, st := range written {
		c := CallPreview{Verb: st.verb, Place: st.place, Call: st.text, Asks: st.allAsks(nil),
			Rows: r.rowChanges(st, labels), Notices: r.noticeChanges(st), Sets: r.sessionChanges(st), Filled: r.fills(st), Tended: st.allTended(), Errands: st.errandsOf(nil), Result: r.result(st)}
		p.Calls = append(p.Calls, c)
		p.Asks = append(p.Asks, c.Asks...)
		for _, n := range c.Notices {
			if n.Kind == noticeKind(verbs.Triggers) {
				p.Jobs++
			} else {
				p.Notices++
			}
		}
	}
	for _, st := range r.steps {
		for i := range st.changes {
			c := &st.changes[i]
			id := rowKey{c.Entity, c.Key}
			was, before := ops[id]
			switch {
			case !before:
				ops[id] = c.Op
			case was == stores.Insert && c.Op == stores.Delete:
				delete(ops, id) // it came and went
			case c.Op == stores.Delete:
				ops[id] = stores.Delete
			}
		}
	}
	for id, op := range ops {
		t := totals[id.entity]
		if t == nil {
			t = &TableTotal{Table: id.entity.Table}
			totals[id.entity] = t
		}
		switch op {
		case stores.Insert:
			t.Added++
		case stores.Update:
			t.Changed++
		case stores.Delete:
			t.Deleted++
		}
		p.Rows++
	}
	for _, t := range totals {
		p.Tables = append(p.Tables, *t)
	}
	slices.SortFunc(p.Tables, func(a, b TableTotal) int {
		if a.Table < b.Table {
			return -1
		}
		return 1
	})
	return p
}

// The digest

// A digester writes down what is to be hashed. Every text has its length before
// it, so that nothing can be moved from one part to the next.
type digester struct {
	b     []byte
	alias map[stores.Value]string
	into  hash.Hash // takes what was written down, now and then; nil when b keeps all of it
}

// spill hands on what was written down, so that a long plan is never in memory
// as a whole.
func (d *digester) spill() {
	const enough = 4 << 10
	if d.into != nil && len(d.b) >= enough {
		d.into.Write(d.b)
		d.b = d.b[:0]
	}
}

func (d *digester) text(s string) {
	d.b = binary.BigEndian.AppendUint64(d.b, uint64(len(s)))
	d.b = append(d.b, s...)
}

// sum is the hash of what was written down, in hex.
func (d *digester) sum() string { return fmt.Sprintf("%x", sha256.Sum256(d.b)) }

func (d *digester) number(n int) { d.b = binary.BigEndian.AppendUint64(d.b, uint64(n)) }

func (d *digester) value(v stores.Value) {
	if name, ok := d.alias[v]; ok {
		d.text("alias")
		d.text(name)
		return
	}
	d.text(v.Kind().String())
	at := len(d.b)
	d.b = append(d.b, 0, 0, 0, 0, 0, 0, 0, 0)
	d.b = v.AppendText(d.b)
	binary.BigEndian.PutUint64(d.b[at:], uint64(len(d.b)-at-8))
}

func (d *digester) values(vs []stores.Value) {
	d.number(len(vs))
	for _, v := range vs {
		d.value(v)
	}
}

// seal hashes what a call says: its verb and its resolved arguments.
func (st *step) seal() [32]byte { return st.sealIn(new([]byte)) }

// sealIn is seal with memory that is used again.
func (st *step) sealIn(b *[]byte) [32]byte {
	d := digester{b: (*b)[:0]}
	d.text(st.verb.Name)
	d.values(st.args)
	d.origins(st.from)
	*b = d.b
	return sha256.Sum256(d.b)
}

// finish gives the plan its digest: who, under which palettes, would do what,
// on which rows as they are. Keys that were made up and instants that move with
// the clock are left out of it, so that looking twice shows the same preview.
func (r *run) finish() {
	d := digester{alias: r.alias, into: sha256.New()}
	d.text("verbatim preview 1")
	d.text(r.e.reg.Digest())
	d.text(r.s.who.Name)
	d.number(len(r.s.roles))
	for _, role := range r.s.roles {
		d.text(role.Name)
	}
	d.number(len(r.steps))
	for _, st := range r.steps {
		d.step(st)
		d.spill()
	}
	d.seen(r.seen)
	d.into.Write(d.b)
	d.into.Sum(r.digest[:0])
	r.id = fmt.Sprintf("%x-%x", r.digest[:2], r.digest[2:4])
}

// step writes down what a call would do.
func (d *digester) step(st *step) {
	d.text(st.text)
	d.values(st.args)
	d.origins(st.from)
	d.number(len(st.asks))
	for _, a := range st.asks {
		d.text(a.By)
		d.text(a.Reason)
	}
	d.number(len(st.changes))
	for i := range st.changes {
		c := &st.changes[i]
		d.number(int(c.Op))
		d.text(c.Entity.Name)
		d.value(c.Key)
		d.number(len(c.Set))
		for _, a := range c.Set {
			d.number(a.Field)
			d.value(a.Value)
		}
		d.origins(c.came)
	}
	d.number(len(st.notices))
	for _, n := range st.notices {
		d.text(n.kind)
		d.text(n.target)
		d.values(n.values)
		d.origins(n.came)
		d.instead(n.instead)
	}
	for _, a := range st.sets {
		d.text("session")
		d.text(a.name)
		d.value(a.value)
		d.origin(a.came)
	}
	d.tended(st.tended)
	if e := st.errand; e != nil {
		d.text(e.Server)
		d.text(e.Name)
		d.text(e.spec.Digest)
		for _, sent := range e.Sent {
			d.text(sent.Key)
			d.value(sent.Value)
		}
	}
	if st.cells != nil && !st.cells.late {
		d.number(len(st.cells.rows))
		for _, row := range st.cells.rows {
			for _, c := range row {
				d.value(c.value)
				d.origin(c.from)
			}
		}
	}
}

// seen writes down the rows that a plan stands on.
func (d *digester) seen(rows []seen) {
	d.number(len(rows))
	for _, s := range rows {
		if s.entity != nil {
			d.text(s.entity.Name)
		}
		d.value(s.key)
		d.values(s.values)
		d.number(len(s.marks))
		for _, m := range s.marks {
			d.number(m.Field)
			d.text(m.Origin)
		}
		d.spill()
	}
}

// shown keeps what is needed to say, later, what moved.
func (r *run) shown() *shown {
	p := &shown{id: r.id, digest: r.digest, until: r.now.Add(r.lasts())}
	for _, st := range r.written() {
		for _, ask := range st.allAsks(nil) {
			if ask.By == "" && !slices.Contains(p.asking, ask.Call) {
				p.asking = append(p.asking, ask.Call)
			}
		}
	}
	for _, s := range r.seen {
		if s.paths == nil && s.entity != nil {
			if _, isNew := r.added[s.key]; !isNew {
				p.rows = append(p.rows, s)
			}
		}
	}
	return p
}
