package journal

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"verbatim/stores"
	"verbatim/stores/receipt"
)

// Opened iterates over entries with their openings, which it reads a page at a time.
func Opened(ctx context.Context, s stores.Store, principal string, entries iter.Seq2[*stores.Entry, error]) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		var lines []*Line
		flush := func() bool {
			var ids []stores.Value
			at := map[string]*Line{}
			for _, l := range lines {
				record, err := l.written()
				if err != nil {
					// Verify decides whether that is right.
					continue
				}
				if record.Opening != "" {
					ids = append(ids, stores.NewString(record.Opening))
					at[record.Opening] = l
				}
			}
			if len(ids) > 0 {
				err := s.View(ctx, everything(principal), func(r stores.Reader) error {
					found, err := openings(ctx, r, ids)
					var bad *OpeningError
					if asOpening(err, &bad) && at[bad.ID] != nil {
						bad.Seq = at[bad.ID].Entry.Seq
					}
					for id, o := range found {
						if l := at[id]; l != nil {
							l.Opening = o
						}
					}
					return err
				})
				if err != nil {
					yield(nil, err)
					return false
				}
			}
			for _, l := range lines {
				if !yield(l, nil) {
					return false
				}
			}
			lines = lines[:0]
			return true
		}
		for e, err := range entries {
			if err != nil {
				if flush() {
					yield(nil, err)
				}
				return
			}
			lines = append(lines, &Line{Entry: *e})
			if len(lines) == page && !flush() {
				return
			}
		}
		flush()
	}
}

func asOpening(err error, to **OpeningError) bool {
	o, ok := err.(*OpeningError)
	*to = o
	return ok
}

// Record decodes the changes of a line's entry and opens them.
func (l *Line) Record() (Record, error) {
	w, err := l.written()
	if err != nil {
		return Record{}, err
	}
	r := *w
	if r.Opening != "" { // what is opened is the caller's own
		r.Rows = slices.Clone(r.Rows)
		for i := range r.Rows {
			r.Rows[i].Fields = slices.Clone(r.Rows[i].Fields)
		}
	}
	r.Open(l.Opening)
	return r, nil
}

// Import adds the entries of a file to an empty journal, with their numbers, salts and places. So
// the log's root must come out the same; Import checks that. It returns the head.
func Import(ctx context.Context, s stores.Store, lines iter.Seq2[*Line, error]) (Head, error) {
	there, err := s.Journal(ctx, 1, 0)
	if err != nil {
		return Head{}, err
	}
	if len(there) > 0 {
		return Head{}, ErrNotEmpty
	}
	var b stores.Batch
	flush := func() error {
		if len(b.Sealed) == 0 {
			return nil
		}
		err := s.Update(ctx, everything("verbatim"), func(tx stores.Tx) error { return tx.Apply(ctx, b) })
		b = stores.Batch{}
		return err
	}
	var h Head
	for l, err := range Verified(lines, true, &h) {
		if err != nil {
			return h, err
		}
		b.Sealed = append(b.Sealed, l.Entry)
		if l.Opening != nil {
			b.Changes = append(b.Changes, l.Opening.Insert())
		}
		if len(b.Sealed) == page {
			if err := flush(); err != nil {
				return h, err
			}
		}
	}
	if err := flush(); err != nil {
		return h, err
	}
	n, hash, err := s.Head(ctx)
	if err == nil && (n != h.Entries || hash != h.Hash) {
		err = fmt.Errorf("the journal did not come out as it was: somebody else writes to it")
	}
	return h, err
}

// ErrNotEmpty says that a journal can be imported only into an empty one.
var ErrNotEmpty = fmt.Errorf("the journal has entries already")

// A Redaction says which values to erase.
type Redaction struct {
	Row       *Row   // the values of this row
	Principal string // everything that this principal said, about any row
	// Everywhere, together with Row, includes the same texts in commitments to other rows, and to
	// calls that mention them.
	Everywhere bool
	// Below, together with Everywhere, are the fields by which rows belong to Row. What the journal
	// tells of those rows is erased with it: nobody can name a row that is gone.
	Below []Below
	// Texts are further texts to be erased Everywhere: those that rows hold now.
	Texts []string

	rows []Row // of Below, found in the journal
}

// A Below names the rows whose Field refers to the row of a Redaction.
type Below struct {
	Entity, Field string
	// Live includes rows that still exist. Those can be redacted by their own names.
	Live bool
}

// covered lists the rows whose values are erased.
func (w *Redaction) covered() []Row {
	if w.Row == nil {
		return nil
	}
	return append([]Row{*w.Row}, w.rows...)
}

func (w *Redaction) covers(entity string, key stores.Value) bool {
	return slices.ContainsFunc(w.covered(), func(r Row) bool { return r.is(entity, key) })
}

func (w *Redaction) touched(r *Record) bool { return slices.ContainsFunc(w.covered(), r.Touches) }

func (w *Redaction) of(e *stores.Entry, r *Record) (all []receipt.Commitment) {
	if w.Principal != "" {
		if e.Principal == w.Principal {
			return r.commitments(nil)
		}
		return nil
	}
	for _, row := range w.covered() {
		all = append(all, r.commitments(&row)...)
	}
	return all
}

// An Erased says how much was erased, or would be.
type Erased struct {
	Entries int // entries that lose a value
	Values  int
	Turns   int // conversation turns; their keeper stores them beside the journal
	First   int64
	Last    int64
	Of      Numbers // the entries, as the entry about it lists them
	// Copies counts previews, receipts, finished jobs and turns that hold the texts and lose them;
	// their keeper stores them beside the journal.
	Copies int
	// Elsewhere lists places that hold erased texts and are not erased themselves.
	Elsewhere []Repeat
}

// A Repeat is a place that holds a text which is erased elsewhere.
type Repeat struct {
	Seq   int64  // of the entry, or
	Job   string // id of the job that needs it, or
	Waits string // id of the confirmation or question that waits, and
	Until time.Time
	// Copies counts the previews, receipts, finished jobs and turns of Erased.Copies.
	Copies int
	Row    Row // the row that the entry is about; zero if the text is in its call
	Field  string
}

// texts collects the texts that a redaction erases from a row, so that repetitions of them can be
// found. Equal texts are mostly the same datum, but equal numbers or dates may not be; so only
// texts are searched for.
func (w *Redaction) texts(r *Record, o *Opening, found map[stores.Value]bool) {
	if w.Row == nil {
		return
	}
	for i := range r.Rows {
		c := &r.Rows[i]
		if !w.covers(c.Entity, c.Key) {
			continue
		}
		for j := range c.Fields {
			for _, is := range [...]receipt.Commitment{c.Fields[j].Before.Is, c.Fields[j].After.Is} {
				if v, ok := o.Open(is); ok && is != "" && v.Kind() == stores.String && v.Text() != "" {
					found[v] = true
				}
			}
		}
	}
}

// A repeated is a commitment to a text that is erased elsewhere.
type repeated struct {
	Repeat
	is receipt.Commitment
}

// repeats finds the commitments of an entry to such texts that the redaction does not cover.
func (w *Redaction) repeats(seq int64, r *Record, o *Opening, texts map[stores.Value]bool) (all []repeated) {
	if len(texts) == 0 || w.Row == nil {
		return nil
	}
	for i := range r.Rows {
		c := &r.Rows[i]
		if w.covers(c.Entity, c.Key) {
			continue
		}
		for j := range c.Fields {
			f := &c.Fields[j]
			for _, is := range [...]receipt.Commitment{f.Before.Is, f.After.Is} {
				if v, ok := o.Open(is); ok && is != "" && texts[v] {
					all = append(all, repeated{Repeat{Seq: seq, Row: Row{Entity: c.Entity, Key: c.Key}, Field: f.Name}, is})
				}
			}
		}
	}
	if w.touched(r) {
		return all
	}
	for _, is := range append([]receipt.Commitment{r.Call}, r.Instead...) {
		v, ok := o.Open(is)
		if is == "" || !ok {
			continue
		}
		for text := range texts {
			if Holds(v.Text(), text.Text()) {
				all = append(all, repeated{Repeat{Seq: seq}, is})
				break
			}
		}
	}
	return all
}

// LongEnough is the length from which a text is searched for within other texts.
const LongEnough = 4

// Holds reports whether a text, a script or JSON holds another one.
func Holds(in, text string) bool {
	quoted := stores.AppendJSONString(nil, text)
	return len(text) >= LongEnough && (strings.Contains(in, text) || strings.Contains(in, string(quoted[1:len(quoted)-1])))
}

// jobs finds the jobs whose payloads hold such texts.
func (n *Erased) jobs(ctx context.Context, s stores.Store, texts map[stores.Value]bool) error {
	if len(texts) == 0 {
		return nil
	}
	all, err := s.Jobs(ctx, stores.JobFilter{States: []stores.JobState{stores.JobWaiting, stores.JobRunning, stores.JobDead}})
	if err != nil {
		return err
	}
	for i := range all {
		for text := range texts {
			if Holds(all[i].Payload, text.Text()) {
				n.Elsewhere = append(n.Elsewhere, Repeat{Job: all[i].ID})
				break
			}
		}
	}
	return nil
}

// Count returns what Redact would erase.
func Count(ctx context.Context, s stores.Store, principal string, w Redaction) (n Erased, err error) {
	each := func(do func(*Line, *Record)) error {
		for l, err := range Opened(ctx, s, principal, ByNumber(ctx, s, 1, 0)) {
			if err != nil {
				return err
			}
			if record, err := Parse(l.Entry.Changes); err == nil && l.Opening != nil {
				do(l, &record)
			}
		}
		return nil
	}
	texts, err := w.gather(ctx, s, principal)
	if err != nil {
		return n, err
	}
	err = each(func(l *Line, record *Record) {
		values := 0
		for _, c := range w.of(&l.Entry, record) {
			if _, ok := l.Opening.Open(c); ok {
				values++
			}
		}
		n.add(l.Entry.Seq, values)
	})
	if err != nil || len(texts) == 0 {
		return n, err
	}
	err = each(func(l *Line, record *Record) {
		n.repeated(w, w.repeats(l.Entry.Seq, record, l.Opening, texts), record)
	})
	if err != nil {
		return n, err
	}
	return n, n.jobs(ctx, s, texts)
}

// repeated counts repetitions: as erased, or as remaining.
func (n *Erased) repeated(w Redaction, found []repeated, r *Record) {
	if !w.Everywhere {
		for _, f := range found {
			if len(n.Elsewhere) == 0 || n.Elsewhere[len(n.Elsewhere)-1] != f.Repeat {
				n.Elsewhere = append(n.Elsewhere, f.Repeat)
			}
		}
		return
	}
	if len(found) == 0 {
		return
	}
	if seq := found[0].Seq; w.touched(r) {
		n.Values += len(found) // of an entry that is counted already
	} else {
		n.add(seq, len(found))
	}
}

func (n *Erased) add(seq int64, values int) {
	if values == 0 {
		return
	}
	n.First = cmp.Or(n.First, seq)
	n.Last, n.Entries, n.Values = seq, n.Entries+1, n.Values+values
	n.Of.add(seq)
}

// Redact erases values that entries commit to, in one transaction with the entry that describe
// makes to record it. The entries that lose values do not change, and so neither does their
// chain.
func Redact(ctx context.Context, s stores.Store, principal string, w Redaction, describe func(Erased) stores.Entry) (n Erased, err error) {
	var texts map[stores.Value]bool
	err = s.Update(ctx, everything(principal), func(tx stores.Tx) (err error) {
		n = Erased{}
		var changes []stores.Change
		if texts, err = w.gather(ctx, s, principal); err != nil {
			return err
		}
		flush := func() error {
			err := tx.Apply(ctx, stores.Batch{Changes: changes})
			changes = changes[:0]
			return err
		}
		for l, err := range ByNumber(ctx, s, 1, 0) {
			if err != nil {
				return err
			}
			record, err := Parse(l.Changes)
			if err != nil || record.Opening == "" {
				continue
			}
			which := w.of(l, &record)
			if len(which) == 0 && len(texts) == 0 {
				continue
			}
			found, err := openings(ctx, tx, []stores.Value{stores.NewString(record.Opening)})
			if err != nil {
				return err
			}
			o := found[record.Opening]
			if o == nil {
				continue
			}
			before := o.text()
			if more := w.repeats(l.Seq, &record, o, texts); w.Everywhere {
				for _, m := range more {
					which = append(which, m.is)
				}
			} else {
				n.repeated(w, more, &record)
			}
			values := o.erase(which)
			if values == 0 {
				continue
			}
			n.add(l.Seq, values)
			row := make([]stores.Value, len(Openings.Fields))
			row[opnKey], row[opnPrincipal], row[opnValues] = stores.NewString(o.ID), stores.NewString(o.Principal), stores.NewString(before)
			change := stores.Change{Op: stores.Update, Entity: Openings, Key: row[opnKey], Before: row, Guard: []int{opnValues},
				Set: []stores.Assign{{Field: opnValues, Value: stores.NewString(o.text())}}}
			if o.Len() == 0 {
				change.Op, change.Set = stores.Delete, nil
			}
			if changes = append(changes, change); len(changes) >= page {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		if len(changes) > 0 {
			if err := flush(); err != nil {
				return err
			}
		}
		return tx.Apply(ctx, stores.Batch{Entries: []stores.Entry{describe(n)}})
	})
	if err == nil {
		err = n.jobs(ctx, s, texts)
	}
	return n, err
}

// gather finds the rows of Below, and the texts of all rows that are covered, in the whole journal.
func (w *Redaction) gather(ctx context.Context, s stores.Store, principal string) (texts map[stores.Value]bool, err error) {
	texts = map[stores.Value]bool{}
	if w.Row == nil {
		return texts, nil
	}
	w.rows = nil
	gone := map[Row]bool{}
	for e, err := range ByNumber(ctx, s, 1, 0) {
		if err != nil {
			return nil, err
		}
		if len(w.Below) == 0 || !w.Everywhere {
			break
		}
		record, err := Parse(e.Changes)
		if err != nil {
			continue // Verify reports it
		}
		for i := range record.Rows {
			c := &record.Rows[i]
			row := Row{Entity: c.Entity, Key: c.Key}
			for _, b := range w.Below {
				if b.Entity == c.Entity && slices.ContainsFunc(c.Fields, func(f receipt.Field) bool {
					return f.Name == b.Field && (f.After.Value == w.Row.Key || f.Before.Value == w.Row.Key)
				}) {
					gone[row] = gone[row] || b.Live
				}
			}
			if _, below := gone[row]; below && c.Op == receipt.Deleted {
				gone[row] = true
			}
		}
	}
	for row, erase := range gone {
		if erase {
			w.rows = append(w.rows, row)
		}
	}
	for l, err := range Opened(ctx, s, principal, ByNumber(ctx, s, 1, 0)) {
		if err != nil {
			return nil, err
		}
		if record, err := Parse(l.Entry.Changes); err == nil && l.Opening != nil {
			w.texts(&record, l.Opening, texts)
		}
	}
	for _, text := range w.Texts {
		texts[stores.NewString(text)] = true
	}
	return texts, nil
}

// Find returns the rows that a redaction covers, and the texts that they hold in the journal.
func (w Redaction) Find(ctx context.Context, s stores.Store, principal string) (rows []Row, texts []string, err error) {
	found, err := w.gather(ctx, s, principal)
	for text := range found {
		texts = append(texts, text.Text())
	}
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) // the longest first: it may hold others
	return w.covered(), texts, err
}

// Baseline makes entries for existing rows that no entry mentions, so that a replay can begin
// with them. template supplies the rest of each entry; conceal conceals a row's fields as it does
// for those that calls change.
func Baseline(ctx context.Context, s stores.Store, principal string, state *State, template stores.Entry, newID func() string, random io.Reader) (n int, err error) {
	err = s.Update(ctx, everything(principal), func(tx stores.Tx) error {
		n = 0
		var b stores.Batch
		var record Record
		opening := NewOpening(newID(), template.Principal)
		flush := func() error {
			if len(record.Rows) == 0 {
				return nil
			}
			if opening.Len() > 0 {
				record.Opening = opening.ID
				b.Changes = append(b.Changes, opening.Insert())
			}
			e := template
			e.Changes = string(record.AppendText(nil))
			b.Entries = append(b.Entries, e)
			err := tx.Apply(ctx, b)
			b, record, opening = stores.Batch{}, Record{}, NewOpening(newID(), template.Principal)
			return err
		}
		for _, e := range state.order {
			for row, err := range stores.EachRow(ctx, tx, e) {
				if err != nil {
					return err
				}
				values := row.Values
				if r := state.rows.get(e, values[e.Key]); r != nil && r.whole && !r.gone {
					continue
				}
				c := receipt.Row{Op: receipt.Found, Entity: e.Name, Table: e.Table, Key: values[e.Key]}
				for f, v := range values {
					if f == e.Key || v.IsNull() {
						continue
					}
					field := receipt.Field{Name: e.Fields[f].Name, Kind: e.Fields[f].Holds(), Origin: stores.MarkOf(row.Marks, f), Sensitive: e.Fields[f].Sensitive}
					if field.After.Value = v; e.Fields[f].Sensitive || e.Fields[f].Personal {
						is, err := opening.Commit(random, v)
						if err != nil {
							return err
						}
						field.After = receipt.Value{Is: is}
					}
					c.Fields = append(c.Fields, field)
				}
				record.Rows = append(record.Rows, c)
				if n++; len(record.Rows) == baselineRows {
					if err := flush(); err != nil {
						return err
					}
				}
			}
		}
		if state.rows.err != nil {
			return state.rows.err
		}
		return flush()
	})
	return n, err
}

// baselineRows is how many rows one baseline entry records.
const baselineRows = 100

// Own lists the entities that the journal keeps beside its entries.
func Own() []*stores.Entity { return slices.Clone([]*stores.Entity{Openings}) }
