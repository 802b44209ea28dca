package engine

import (
	"fmt"
	"slices"
	"sync"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A journal entry is never changed, but a person may ask to be forgotten, and a log should
// hold no sensitive values. An entry holds commitments to such values; the values themselves
// stand in a row beside it, which can be erased: see package journal. These values are
//
//   - fields that are sensitive or personal, or that were taken from a sensitive argument,
//   - names of rows whose label shows a personal field, and
//   - all values in the text of a call whose verb has to do with either, or that names such a
//     row. Of such a call the entry tells only which arguments were given. That withholds more
//     than it has to, and keeps nothing that could not be erased.

// erasable replaces a value in the text of a call that may have to be erased.
const erasable = "(personal)"

// isPersonal reports whether the calls of a verb may hold personal data.
func (e *Engine) isPersonal(v *verbs.Verb) bool {
	for i := range v.Params {
		p := &v.Params[i]
		if p.Personal || e.namesPersonal(p.Type) {
			return true
		}
	}
	return slices.ContainsFunc(v.Effects, func(f verbs.Effect) bool {
		return f.Entity != nil && slices.ContainsFunc(f.Entity.Store.Fields, func(f stores.Field) bool { return f.Personal })
	})
}

// namesPersonal reports whether a value of a type may be the name of a row whose label shows a
// personal field.
func (e *Engine) namesPersonal(t *verbs.Type) bool {
	for t != nil && t.Name == verbs.ListType {
		t = t.Item
	}
	switch {
	case t != nil && t.Name == verbs.RecordType:
		return slices.ContainsFunc(t.Fields, func(f verbs.Param) bool { return e.namesPersonal(f.Type) })
	case t == nil || t.Name == verbs.AnyType || t.Name == verbs.CallType || t.Name == verbs.RefType && t.Entity == nil:
		return slices.ContainsFunc(e.catalog.entities, personalLabel)
	case t.Name == verbs.RefType:
		return personalLabel(t.Entity)
	}
	return false
}

func personalLabel(e *verbs.Entity) bool {
	return slices.ContainsFunc(e.Label.Paths, func(p stores.Path) bool { return p.Count == nil && fieldAt(e.Store, p).Personal })
}

// A journaledCall is a call in the form in which a journal entry tells it.
type journaledCall struct {
	verb   *verbs.Verb
	syntax *dsl.Call // without sensitive values
	text   string
	st     *step         // nil if the call was not carried out
	about  []journal.Row // the rows that it names
	names  bool          // one of them has a personal name
	after  int64         // see journal.Record
}

// saidOf makes the saying of a call that was not carried out as a step.
func (e *Engine) saidOf(p *verbs.Program, call int) journaledCall {
	c := &p.Calls()[call]
	syntax := e.written(p, c.Syntax, nil)
	say := journaledCall{verb: c.Verb, syntax: syntax, text: dsl.FormatCall(syntax)}
	say.aboutRows(e, p, call)
	return say
}

// says makes the saying of a step.
func (e *Engine) says(p *verbs.Program, st *step) journaledCall {
	say := journaledCall{verb: st.verb, syntax: st.call.syntax, text: st.call.text}
	say.aboutRows(e, p, st.call.index)
	return say
}

// aboutRows notes the rows that a call names. The calls of a macro name the rows of the macro's
// call.
func (say *journaledCall) aboutRows(e *Engine, p *verbs.Program, call int) {
	if !e.verbs[say.verb].personal && !e.catalog.personal {
		return
	}
	p.RowsIn(call, func(row verbs.Row) {
		say.names = say.names || personalLabel(row.Entity)
		say.add(row.Entity.Store, row.Key)
	})
}

func (say *journaledCall) add(e *stores.Entity, key stores.Value) {
	if row := (journal.Row{Entity: e.Name, Key: key}); !slices.Contains(say.about, row) {
		say.about = append(say.about, row)
	}
}

// outline returns a call with its values erased.
func outline(c *dsl.Call) string {
	out := dsl.NewCall(c.Verb)
	for i := range c.Args {
		out.Args = append(out.Args, dsl.NewArg(c.Args[i].Key, dsl.NewString(erasable)))
	}
	return dsl.FormatCall(&out)
}

// tell adds a journal entry about a call to a batch, with the values that the entry commits to.
func (e *Engine) tell(b *stores.Batch, entry stores.Entry, say journaledCall) error {
	entry.Call = say.text
	w := recorders.Get().(*recorder)
	defer recorders.Put(w)
	*w = recorder{e: e, of: &entry, fields: w.fields[:0], text: w.text[:0]}
	st := say.st
	if e.verbs[say.verb].personal || say.names {
		entry.Call = outline(say.syntax)
		w.record.Call = w.commit(stores.NewString(say.text))
		if st != nil {
			for _, row := range st.args.rows {
				if row.Entity != nil {
					say.add(row.Entity, row.Key())
				}
			}
		}
		w.record.About = say.about
	}
	if st != nil {
		for i := range st.out.changes {
			w.record.Rows = append(w.record.Rows, w.row(&st.out.changes[i]))
		}
		if v := say.verb; v.Undoes != nil || v.Undo != nil && v.Undo.Back != nil {
			w.later(st)
		}
	}
	w.record.After = say.after
	if w.err != nil {
		return failure(w.err)
	}
	if w.opening != nil {
		w.record.Opening = w.opening.ID
		b.Changes = append(b.Changes[:len(b.Changes):len(b.Changes)], w.opening.Insert())
	}
	w.text = w.record.AppendText(w.text)
	entry.Changes = string(w.text)
	b.Entries = append(b.Entries, entry)
	return nil
}

// A recorder makes the record of one entry.
type recorder struct {
	e       *Engine
	of      *stores.Entry
	record  journal.Record
	opening *journal.Opening // nil while no value is erasable
	err     error
	fields  []receipt.Field // of all rows of the record
	text    []byte          // of the record
}

// recorders keeps used recorders, whose buffers the next entries reuse.
var recorders = sync.Pool{New: func() any { return new(recorder) }}

// commit moves a value to the erasable opening, and returns the commitment to it.
func (w *recorder) commit(v stores.Value) receipt.Commitment {
	if w.opening == nil {
		w.opening = journal.NewOpening(w.e.opt.NewID(), w.of.Principal)
	}
	c, err := w.opening.Commit(w.e.opt.Random, v)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("the journal cannot be written: %w", err)
	}
	return c
}

// later records the jobs that a call scheduled and dropped, and the messages that it sent, so that
// the call can be undone.
func (w *recorder) later(st *step) {
	for i := range st.out.jobs {
		if st.out.jobs[i].Kind == JobCall {
			w.record.Jobs = append(w.record.Jobs, st.out.jobs[i].ID)
		} else {
			w.record.Sent = append(w.record.Sent, st.out.notices[i].target)
		}
	}
	for i := range st.out.dropped {
		w.record.Instead = append(w.record.Instead, w.commit(journal.JobValue(&st.out.dropped[i])))
	}
}

// row records one changed row. It leaves out columns, sources and names of other rows: a replay
// does not need them, and the journal outlives them.
func (w *recorder) row(c *change) receipt.Row {
	out := c.row
	if out.Label = ""; out.Name != "" && personalLabel(c.entity) {
		out.NameIs, out.Name = w.commit(stores.NewString(out.Name)), ""
	}
	from := len(w.fields)
	for k := range c.row.Fields {
		f := &c.row.Fields[k]
		at := c.at(k)
		def := &c.Entity.Fields[at]
		g := receipt.Field{Name: f.Name, Kind: f.Kind, Before: receipt.Of(f.Before.Value), After: receipt.Of(f.After.Value), Sensitive: f.Sensitive, Was: f.Was}
		if c.Op != stores.Delete {
			g.Origin = c.Set[k].Origin
		}
		if g.Sensitive || def.Personal {
			g.Before, g.After = receipt.Value{Is: w.commit(f.Before.Value)}, receipt.Value{Is: w.commit(f.After.Value)}
		}
		switch g.Made = f.Made; {
		case f.Given.IsNull():
		case g.Sensitive, def.Personal:
			g.Given = receipt.Value{Is: w.commit(f.Given.Value)}
		default:
			g.Given = receipt.Of(f.Given.Value)
		}
		w.fields = append(w.fields, g)
	}
	out.Fields = w.fields[from:len(w.fields):len(w.fields)]
	return out
}
