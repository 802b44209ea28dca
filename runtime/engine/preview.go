package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/internal/view"
	"verbatim/runtime/state/names"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A shown is a preview that somebody may agree to.
type shown struct {
	id     string
	digest [32]byte
	rows   []readRow    // whole rows that it stands on
	until  time.Time    // until when agreeing to it is valid, if it asks anybody
	kept   stores.Value // key of its row, if other processes know it too
	asking []int        // calls that ask the person

	answers map[string]toolAnswer // of the tools that it asked

	occasion string // see receipt.Receipt; "" if it asks nobody
	key      string // guarded by previews.mu: under which the run that claimed it goes
	used     bool   // guarded by previews.mu: a run has claimed it
	declined bool   // guarded by previews.mu: its person said no
}

// moved names the rows that have changed since the preview was shown. It is empty if something
// else differs, or if the session does not remember the preview.
func (p *shown) moved(r *run) []string {
	if p == nil {
		return nil
	}
	var moved []string
	for _, old := range p.rows {
		var now []stores.Value
		for n := range r.plan.reads {
			if n.paths == nil && n.entity == old.entity && n.key == old.key {
				now = n.values
				break
			}
		}
		if now == nil || slices.Equal(now, old.values) {
			continue
		}
		for f, was := range old.values {
			is := now[f]
			if was == is {
				continue
			}
			field := &old.entity.Fields[f]
			line := fmt.Sprintf("%s of %s", field.Name, r.src.shownName(old.entity, old.key))
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

// Texts in place of the name of a row.
const (
	newRow = "new"
	hidden = "(hidden)"
)

// nameRow makes sure that a row has a name in the session, and returns it. A row that this run
// adds has none until the commit; a row out of scope never gets one.
func (r *source) nameRow(ctx context.Context, e *verbs.Entity, key stores.Value) (names.Row, error) {
	if row, ok := r.s.names.Row(e.Store, key); ok {
		return row, nil
	}
	if r.draft.added[view.RowKey{Entity: e.Store, Key: key}] {
		return names.Row{}, nil
	}
	// A principal with a narrow scope reads all its rows once, and asks for no name again.
	// One who sees all rows reads those that the run refers to.
	if r.s.names.Extent(e.Store) == names.Some && !r.s.scope.All {
		if err := r.s.read(ctx, r.read, e, r.draft.added); err != nil {
			return names.Row{}, err
		}
		if row, ok := r.s.names.Row(e.Store, key); ok {
			return row, nil
		}
	}
	var err error
	if n, ok := r.namingKnown(e, key); ok {
		err = r.s.name(ctx, r.read, e, []names.NamedRow{n})
	} else {
		err = r.s.nameKeys(ctx, r.read, e, []stores.Value{key})
	}
	if err != nil {
		return names.Row{}, err
	}
	row, _ := r.s.names.Row(e.Store, key)
	return row, nil
}

// A reference is a key that stands where people read a name.
type reference struct {
	to  *verbs.Entity
	key stores.Value
}

// nameAll makes sure that rows have names, with one query for each entity.
func (r *source) nameAll(ctx context.Context, all []reference) error {
	missing := make(map[*verbs.Entity][]stores.Value)
	asked := make(map[reference]bool, len(all))
	var order []*verbs.Entity
	for _, ref := range all {
		_, named := r.s.names.Row(ref.to.Store, ref.key)
		if named || asked[ref] || ref.key.IsNull() || r.draft.added[view.RowKey{Entity: ref.to.Store, Key: ref.key}] {
			continue
		}
		if asked[ref] = true; missing[ref.to] == nil {
			order = append(order, ref.to)
		}
		missing[ref.to] = append(missing[ref.to], ref.key)
	}
	for _, e := range order {
		keys := missing[e]
		if _, err := r.nameRow(ctx, e, keys[0]); err != nil {
			return err
		}
		keys = slices.DeleteFunc(keys[1:], func(key stores.Value) bool {
			_, named := r.s.names.Row(e.Store, key)
			return named
		})
		if len(keys) > 0 {
			if err := r.s.nameKeys(ctx, r.read, e, keys); err != nil {
				return err
			}
		}
	}
	return nil
}

// namingKnown makes the name of a row from what the run has read.
func (r *source) namingKnown(e *verbs.Entity, key stores.Value) (names.NamedRow, bool) {
	text, known := r.labelKnown(e, key)
	owner, one := r.s.onlyOwner(e.Store)
	return names.NamedRow{Key: key, Label: text, Owner: owner}, known && one
}

// labelKnown makes the label of a row from what the run has read.
func (r *source) labelKnown(e *verbs.Entity, key stores.Value) (string, bool) {
	row, ok := r.read.Known(view.RowKey{Entity: e.Store, Key: key})
	if !ok {
		return "", false
	}
	paths := r.e.catalog.labels[e]
	values := make([]stores.Value, len(paths))
	for i, p := range paths {
		if values[i], ok = r.read.Follow(row.Values, p); !ok {
			return "", false
		}
	}
	return label(e, values), true
}

// nameAdded makes the names of the rows that the run adds, and asks the store which other rows
// share them. The answer comes with the commit, and only the reply needs it.
func (r *run) nameAdded(ctx context.Context, b *stores.Batch) error {
	all := make(map[*verbs.Entity][]names.NamedRow)
	var order []*verbs.Entity
	for _, st := range r.plan.steps {
		for i := range st.out.changes {
			c := &st.out.changes[i]
			if n := r.src.draft.minted[view.RowKey{Entity: c.Entity, Key: c.Key}]; n != nil && c.Op == stores.Insert {
				if all[c.entity] == nil {
					order = append(order, c.entity)
				}
				all[c.entity] = append(all[c.entity], *n)
			}
		}
	}
	for _, e := range order {
		ask, err := r.src.s.spelled(ctx, e, all[e])
		if err != nil {
			return err
		}
		n := &newNames{entity: e.Store, rows: all[e]}
		r.plan.called = append(r.plan.called, n)
		if ask != nil {
			b.Asked = append(b.Asked, stores.NameAsk{NameQuery: *ask, Into: &n.found})
		}
		for i := range n.rows {
			g := &n.rows[i]
			r.src.draft.mint(e.Store, g)
			b.Names = append(b.Names, g.Name(e.Store))
		}
	}
	return nil
}

// newNames are the names of the rows that a run adds, and equal names that the store has.
type newNames struct {
	entity *stores.Entity
	rows   []names.NamedRow
	found  []stores.Name
}

func (r *source) nameCells(ctx context.Context, t *table) error {
	var all []reference
	for _, row := range t.rows {
		for _, c := range row {
			if c.entity == nil || c.value.IsNull() {
				continue
			}
			if _, named := r.s.names.Row(c.entity.Store, c.value); !named {
				all = append(all, reference{c.entity, c.value})
			}
		}
	}
	if len(all) > 0 {
		if err := r.nameAll(ctx, all); err != nil {
			return err
		}
	}
	if !r.owners || t.entity == nil || len(t.keys) == 0 || rootOf(t.entity.Store) == t.entity.Store {
		return nil
	}
	if err := r.s.nameKeys(ctx, r.read, t.entity, t.keys); err != nil {
		return err
	}
	return r.s.nameOwners(ctx, r.read, t.entity, t.keys)
}

// shownName returns what is shown in place of a key: a name, "new" for a row that is not
// committed yet, or "(hidden)" for a row out of scope.
func (r *source) shownName(e *stores.Entity, key stores.Value) string {
	if row, ok := r.s.names.Row(e, key); ok {
		return row.Shown()
	}
	if r.draft.added[view.RowKey{Entity: e, Key: key}] {
		return newRow
	}
	return hidden
}

func (r *source) shownValue(e *stores.Entity, key stores.Value) stores.Value {
	if key.IsNull() {
		return key
	}
	return stores.NewString(r.shownName(e, key))
}

// nameReferences names the rows that the changes of a run refer to, and reads the labels of
// the rows that it adds. Nothing is read after it.
func (r *run) nameReferences(ctx context.Context) error {
	fresh := make(map[*verbs.Entity][]stores.Value)
	var order []*verbs.Entity
	var refs []reference
	for _, st := range r.plan.steps {
		for i := range st.out.changes {
			c := &st.out.changes[i]
			if c.Op == stores.Insert {
				if n, ok := r.src.namingKnown(c.entity, c.Key); ok {
					r.src.draft.mint(c.Entity, &n)
				} else {
					if fresh[c.entity] == nil {
						order = append(order, c.entity)
					}
					fresh[c.entity] = append(fresh[c.entity], c.Key)
				}
			}
			refs = refers(r.src, refs, c)
		}
		if err := r.src.nameSets(ctx, st); err != nil {
			return err
		}
	}
	if len(refs) > 0 {
		if err := r.src.nameAll(ctx, refs); err != nil {
			return err
		}
	}
	for _, e := range order {
		err := r.src.s.labels(ctx, r.src.read, e, fresh[e], func(rows []names.NamedRow) error {
			for i := range rows {
				r.src.draft.mint(e.Store, &rows[i])
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !r.src.owners {
		return nil
	}
	for _, st := range r.plan.steps {
		for i := range st.out.changes {
			c := &st.out.changes[i]
			if root, key, ok := ownerOf(c.Entity, r.src.owner(c)); ok && r.src.e.reg.EntityOf(root) != nil {
				if _, err := r.src.nameRow(ctx, r.src.e.reg.EntityOf(root), key); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// owner returns the owner of a changed row, as in stores.Name.
func (r *source) owner(c *change) string {
	if row, ok := r.s.names.Row(c.Entity, c.Key); ok {
		return row.Owner
	}
	if n := r.draft.minted[view.RowKey{Entity: c.Entity, Key: c.Key}]; n != nil {
		return n.Owner
	}
	return ""
}

// Telling

// makeReceipts makes the receipt of each call of the script.
func (r *run) makeReceipts() {
	written := r.written()
	r.plan.receipts = make([]receipt.Call, len(written))
	var files []knownFile
	for _, st := range r.plan.steps {
		files = append(files, st.args.files...)
	}
	for i, st := range written {
		r.plan.receipts[i] = receipt.Call{Verb: st.verb.Name, Place: placed(st.call.place), Text: st.call.text, Rows: r.rowsOf(st, files), Notices: r.src.noticesOf(st, nil), Filled: fills(r.src, st),
			JobChanges: st.gather().jobChanges, Asks: st.questions(), Origins: originsText(st), Session: r.src.sessionChanges(st), External: externalCallsOf(st, nil), Result: r.src.result(st), Seq: st.out.seq}
		if st.passed != nil {
			r.plan.receipts[i].Passed, r.plan.receipts[i].Within = st.passed.Name, st.passed.Within()
		}
	}
}

// preview returns the receipt of a run, after makeReceipts. A dry run hides the results of calls that
// disclose something and change something.
func (r *run) preview() *receipt.Receipt {
	calls := r.plan.receipts
	if r.phase == Previewing {
		calls = slices.Clone(calls)
		for i, st := range r.written() {
			if c := &calls[i]; st.hidesResult() {
				calls[i] = receipt.Call{Verb: c.Verb, Place: c.Place, Text: c.Text, Filled: c.Filled, Asks: c.Asks, Passed: c.Passed, Within: c.Within, Origins: c.Origins, Result: &receipt.Result{Left: []string{toldOnceDone}}}
			}
		}
	}
	return &receipt.Receipt{ID: r.plan.id, Digest: r.plan.digest, Calls: calls}
}

func placed(p dsl.Place) receipt.Place {
	if p.Source == nil {
		return receipt.Place{}
	}
	at := p.Source.Position(p.Range.Start)
	return receipt.Place{Source: p.Source.Name, Line: at.Line, Column: at.Column}
}

// rowsOf returns the changed rows of a call, by their present names.
func (r *run) rowsOf(st *step, files []knownFile) []receipt.Row {
	changes := st.gather().changes
	if len(changes) == 0 {
		return nil
	}
	out := make([]receipt.Row, len(changes))
	for i := range changes {
		c := &changes[i]
		out[i] = c.row
		row := &out[i]
		row.Name = r.src.shownName(c.Entity, c.Key)
		if r.src.owners {
			row.Owner = r.src.s.ownerName(c.Entity, r.src.owner(c))
		}
		if c.Op == stores.Insert || row.Label == "" { // it was added by an earlier call
			if n := r.src.draft.minted[view.RowKey{Entity: c.Entity, Key: c.Key}]; n != nil {
				row.Label = n.Label
			}
		}
		for k := range row.Fields {
			f := &row.Fields[k]
			def := &c.Entity.Fields[c.at(k)]
			if def.Ref != nil {
				r.src.nameValue(&f.Before, def.Ref)
				r.src.nameValue(&f.After, def.Ref)
				r.src.nameValue(&f.Given, def.Ref)
			}
			if !f.Sensitive {
				f.File = fileOf(files, f.After.Shown())
			}
		}
	}
	return out
}

// nameValue replaces the key of a row by the name that is shown.
func (r *source) nameValue(v *receipt.Value, e *stores.Entity) {
	if !v.IsNull() {
		v.Name, v.Entity = r.shownName(e, v.Value), e.Name
	}
}

func (r *source) noticesOf(st *step, all []receipt.Notice) []receipt.Notice {
	for i := range st.out.notices {
		n := &st.out.notices[i]
		all = append(all, receipt.Notice{Kind: n.kind, Target: n.target, Calls: callOf(r, st, n), At: n.at, Instead: len(n.instead)})
	}
	for _, inner := range st.tree.inner {
		all = r.noticesOf(inner, all)
	}
	return all
}

// externalCallsOf collects the external calls of a call, and of the calls in a macro.
func externalCallsOf(st *step, all []receipt.ExternalCall) []receipt.ExternalCall {
	if st.external != nil {
		all = append(all, st.external.ExternalCall)
	}
	for _, inner := range st.tree.inner {
		all = externalCallsOf(inner, all)
	}
	return all
}

func (r *source) result(st *step) *receipt.Result {
	t := st.out.cells
	if t == nil || t.late && t.rows == nil {
		return nil
	}
	res := &receipt.Result{Columns: make([]string, len(t.columns)), Rows: make([][]stores.Value, len(t.rows)), Keys: t.keys, Late: t.late, Left: t.left, Found: t.found}
	if f := t.file; f != nil {
		res.File = &receipt.File{Name: f.Name, Type: f.Type, Size: f.Size, Says: f.Says, Reference: f.Reference}
	}
	usual := ofRecord
	if t.from != 0 {
		usual = verbs.NewOrigin(t.from, "")
		res.From = usual.String()
	}
	if t.entity != nil {
		res.Entity = t.entity.Store.Name
	}
	if r.owners && t.entity != nil && len(t.keys) == len(t.rows) && rootOf(t.entity.Store) != t.entity.Store {
		res.Owners = make([]string, len(t.keys))
		for i, key := range t.keys {
			row, _ := r.s.names.Row(t.entity.Store, key)
			res.Owners[i] = r.s.ownerName(t.entity.Store, row.Owner)
		}
	}
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
	n, refs := 0, 0
	for _, row := range t.rows {
		n += len(row)
		for i := range row {
			if row[i].entity != nil {
				refs++
			}
		}
	}
	all := make([]stores.Value, n)
	if refs > 0 {
		res.Refs = make([]receipt.Ref, 0, refs)
	}
	for i, row := range t.rows {
		res.Rows[i], all = all[:len(row):len(row)], all[len(row):]
		for j, c := range row {
			from := c.from
			if from == (verbs.Origin{}) {
				from = usual
			}
			if res.Origins == nil && from != ofRecord {
				res.Origins = make([][]string, len(t.rows))
				for k := range res.Origins {
					res.Origins[k] = slices.Repeat([]string{ofRecord.String()}, len(t.columns))
				}
			}
			if res.Origins != nil {
				res.Origins[i][j] = from.String()
			}
			ref := receipt.Ref{Row: i, Column: j, Key: c.value}
			switch {
			case c.entity != nil && !c.value.IsNull():
				ref.Entity = c.entity.Store.Name
				res.Rows[i][j] = stores.NewString(r.shownName(c.entity.Store, c.value))
			case c.entity == nil && t.entity == nil && c.value.Kind() == stores.UUID:
				// A query's or a handler's own uuid may be a key of anything.
				res.Rows[i][j] = stores.NewString(hidden)
			default:
				res.Rows[i][j] = c.value
				continue
			}
			res.Refs = append(res.Refs, ref)
		}
	}
	return res
}

// tableOf makes the table of a call from the receipt of an earlier run, for the calls that use
// its result.
func tableOf(e *Engine, res *receipt.Result) *table {
	if res == nil {
		return nil
	}
	t := &table{keys: res.Keys, entity: e.reg.Entity(res.Entity), columns: make([]column, len(res.Columns)), rows: make([][]cell, len(res.Rows))}
	for i, name := range res.Columns {
		t.columns[i] = column{name, res.Sensitive != nil && res.Sensitive[i] && (res.Own == nil || !res.Own[i])}
	}
	for i, row := range res.Rows {
		t.rows[i] = make([]cell, len(row))
		for j, v := range row {
			t.rows[i][j] = cell{value: v, from: verbs.Stored(res.Origin(i, j))}
		}
	}
	for _, ref := range res.Refs {
		c := &t.rows[ref.Row][ref.Column]
		c.value, c.entity = ref.Key, e.reg.Entity(ref.Entity)
	}
	return t
}

// shown keeps what moved needs to name the rows that have changed.
func (r *run) shown() *shown {
	p := &shown{id: r.plan.id, digest: r.plan.digest, until: r.src.now.Add(r.lasts()), answers: fromPreview(answersOf(r, maxKeptAnswers, true))}
	for _, st := range r.written() {
		for _, ask := range st.allAsks(nil) {
			if ask.By == "" && !slices.Contains(p.asking, ask.Call) {
				p.asking = append(p.asking, ask.Call)
			}
		}
	}
	for s := range r.plan.reads {
		if s.paths == nil && s.entity != nil {
			if !r.src.draft.added[view.RowKey{Entity: s.entity, Key: s.key}] {
				p.rows = append(p.rows, *s)
			}
		}
	}
	return p
}

// fileOf finds the file that a value stands for; nil if the value stands for no file.
func fileOf(files []knownFile, v stores.Value) *receipt.File {
	if len(files) == 0 || v.Kind() != stores.String {
		return nil
	}
	text := v.Text()
	for i := range files {
		if k := &files[i]; k.Reference == text || k.Content == text {
			return &k.File
		}
	}
	return nil
}

// fills lists the arguments that a call and the calls of its macro left out and the engine filled.
func fills(r *source, st *step) []receipt.Filled {
	var out []receipt.Filled
	for _, f := range st.out.filled {
		e := r.e.reg.Entity(f.Entity)
		row, _ := r.s.names.Row(e.Store, f.Key)
		f.Name, f.Label = r.shownName(e.Store, f.Key), row.Label
		for _, v := range settersFor(r.s, e) {
			f.By = append(f.By, v.Name)
		}
		out = append(out, f)
	}
	for _, inner := range st.tree.inner {
		for _, f := range fills(r, inner) {
			if !slices.ContainsFunc(out, func(o receipt.Filled) bool { return o.Name == f.Name }) {
				out = append(out, f)
			}
		}
	}
	return out
}
