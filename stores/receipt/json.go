package receipt

import (
	"bytes"
	"encoding/json"
	"strconv"

	"verbatim/stores"
)

// The outside form is the output of json.Marshal and of --json. It has names and no keys, and no
// sensitive value. Fields are only ever added to it.

// MarshalJSON writes the outside form of the receipt: with its totals, without keys. A receipt
// has no ID if something was done without anybody agreeing to a preview.
func (r *Receipt) MarshalJSON() ([]byte, error) {
	if !r.Done {
		r.Sealed()
	}
	t, asks := r.Totals(), r.Asks()
	o := outside{coder{b: make([]byte, 0, 1024)}}
	o.object(func() {
		o.text("id", &r.ID)
		shown(&o, "calls", r.Calls, o.call)
		shown(&o, "tables", t.Tables, func(t *Table) {
			o.object(func() {
				o.said("table", t.Table)
				o.count("added", t.Added)
				o.count("changed", t.Changed)
				o.count("deleted", t.Deleted)
			})
		})
		o.count("rows", t.Rows)
		o.count("notices", t.Notices)
		o.count("jobs", t.Jobs)
		shown(&o, "asks", asks, o.ask)
		if !r.Done && r.Occasion != "" {
			answer := r.Answer()
			o.text("answer", &answer)
		}
		some(&o, "earlier", r.Earlier, func(e *Earlier) {
			o.object(func() {
				o.said("outcome", e.Outcome)
				o.value("time", stores.NewTime(e.Time))
				if e.Entry > 0 {
					o.count("entry", int(e.Entry))
				}
				o.text("tool", &e.Tool)
			})
		})
	})
	return o.b, nil
}

// An outside writes the outside form. It uses the coder only for writing.
type outside struct{ coder }

// said and count write members that are always present, as shown does lists.
func (o *outside) said(name, text string) {
	o.member(name, true)
	o.word(&text)
}

func (o *outside) count(name string, n int) {
	o.member(name, true)
	o.b = strconv.AppendInt(o.b, int64(n), 10)
}

func (o *outside) value(name string, v stores.Value) {
	o.member(name, true)
	o.b = v.AppendJSON(o.b)
}

func shown[T any](o *outside, name string, all []T, item func(*T)) {
	o.member(name, true)
	items(&o.coder, &all, item)
}

// some writes a list, and leaves it out if it is empty.
func some[T any](o *outside, name string, all []T, item func(*T)) {
	if len(all) > 0 {
		shown(o, name, all, item)
	}
}

func (o *outside) call(c *Call) {
	o.object(func() {
		o.said("verb", c.Verb)
		o.said("place", c.Place.String())
		o.said("call", c.Text)
		shown(o, "rows", c.Rows, o.row)
		shown(o, "notices", c.Notices, o.notice)
		some(o, "filled", c.Filled, o.filled)
		some(o, "jobs", c.JobChanges, o.jobChange)
		shown(o, "asks", c.Asks, o.ask)
		o.text("passed", &c.Passed)
		o.text("within", &c.Within)
		if c.Origins != "" {
			o.member("origins", true)
			o.b = append(o.b, c.Origins...)
		}
		some(o, "sets", c.Session, o.setting)
		some(o, "external", c.External, o.externalCall)
		if !c.Undo.IsNull() {
			o.member("undo", true)
			o.object(func() {
				o.count("entry", int(c.Seq))
				o.value("until", c.Undo)
			})
		}
		if c.Result != nil {
			o.member("result", true)
			o.result(c.Result)
		}
	})
}

func (o *outside) row(r *Row) {
	o.object(func() {
		o.said("op", r.Op)
		o.said("table", r.Table)
		o.said("entity", r.Entity)
		o.said("name", r.Name)
		o.text("label", &r.Label)
		o.text("owner", &r.Owner)
		shown(o, "fields", r.Shown(), o.field)
	})
}

func (o *outside) field(f *Field) {
	o.object(func() {
		o.said("field", f.Name)
		o.said("column", f.Column)
		o.change(f.Before, f.After, f.Sensitive)
		if o.flag("made", &f.Made); f.Made && !f.Sensitive {
			o.value("given", f.Given.Shown())
		}
		o.text("from", &f.From)
		o.text("origin", &f.Origin)
		o.text("was", &f.Was)
		o.file(f.File)
	})
}

func (o *outside) file(f *File) {
	if f == nil {
		return
	}
	o.member("file", true)
	o.object(func() {
		o.text("reference", &f.Reference)
		o.said("name", f.Name)
		o.said("type", f.Type)
		o.count("size", int(f.Size))
	})
}

// change says of a sensitive value only that it changes.
func (o *outside) change(before, after Value, sensitive bool) {
	if o.flag("sensitive", &sensitive); !sensitive {
		o.value("before", before.Shown())
		o.value("after", after.Shown())
	}
}

func (o *outside) notice(n *Notice) {
	o.object(func() {
		o.said("kind", n.Kind)
		o.said("target", n.Target)
		o.text("calls", &n.Calls)
		if !n.At.IsNull() {
			o.value("at", n.At)
		}
		o.number("instead", &n.Instead)
	})
}

func (o *outside) filled(f *Filled) {
	o.object(func() {
		o.said("param", f.Param)
		o.said("name", f.Name)
		o.text("label", &f.Label)
		o.said("why", f.Stand)
		o.number("of", &f.Of)
	})
}

func (o *outside) jobChange(t *JobChange) {
	o.object(func() {
		o.said("job", t.ID)
		o.said("kind", t.Kind)
		o.said("what", t.What)
		o.text("principal", &t.Principal)
		o.said("state", t.State)
		o.count("attempt", t.Attempt)
		o.text("note", &t.Note)
		o.member("drop", true)
		o.b = strconv.AppendBool(o.b, t.Drop)
	})
}

func (o *outside) ask(a *Ask) {
	o.object(func() {
		o.text("by", &a.By)
		o.said("reason", a.Reason)
		o.said("rule", a.Rule.String())
	})
}

func (o *outside) setting(s *Setting) {
	o.object(func() {
		o.said("name", s.Name)
		o.change(s.Before, s.After, s.Sensitive)
		o.text("from", &s.From)
		o.text("origin", &s.Origin)
	})
}

func (o *outside) externalCall(e *ExternalCall) {
	o.object(func() {
		o.said("server", e.Server)
		o.said("tool", e.Name)
		switch {
		case !e.Answered.IsNull():
			o.count("asked", 0)
			o.value("answered", e.Answered)
			o.flag("previewed", &e.Previewed)
		case e.Tries > 1:
			o.count("asked", e.Tries)
		}
		shown(o, "sent", e.Sent, func(s *Sent) {
			o.object(func() {
				o.said("name", s.Key)
				if o.flag("sensitive", &s.Sensitive); !s.Sensitive {
					o.value("value", s.Value)
				}
				o.text("from", &s.From)
				o.text("origin", &s.Origin)
			})
		})
		some(o, "then", e.Then, func(f *Follow) {
			o.object(func() {
				o.text("op", &f.Op)
				o.said("what", f.What)
				some(o, "fields", f.Fields, o.word)
			})
		})
	})
}

func (o *outside) result(r *Result) {
	o.object(func() {
		shown(o, "columns", r.Columns, o.word)
		o.file(r.File)
		some(o, "left", r.Left, o.word)
		if r.Found != "" {
			o.said("foundBy", string(r.Found))
		}
		some(o, "owners", r.Owners, o.word)
		shown(o, "rows", r.Rows, func(row *[]stores.Value) {
			j := -1
			items(&o.coder, row, func(v *stores.Value) {
				if j++; r.Withheld(j) {
					v = new(stores.Value)
				}
				o.b = v.AppendJSON(o.b)
			})
		})
	})
}

// Logged writes rows for a log that machines read: with their keys and kinds, since a name
// belongs to a session and the journal outlives it, and without sensitive values.
func Logged(rows []Row) json.RawMessage {
	type field struct {
		Name      string       `json:"field"`
		Kind      string       `json:"kind"`
		Before    stores.Value `json:"before"`
		After     stores.Value `json:"after"`
		Sensitive bool         `json:"sensitive,omitempty"` // the values are left out
		Erased    bool         `json:"erased,omitempty"`    // one of them was erased
	}
	type row struct {
		Op     string       `json:"op"`
		Entity string       `json:"entity"`
		Table  string       `json:"table"`
		Key    stores.Value `json:"key"`
		Name   string       `json:"name,omitempty"`
		Fields []field      `json:"fields"`
	}
	var all []row
	for i := range rows {
		r := &rows[i]
		out := row{r.Op, r.Entity, r.Table, r.Key, r.Name, []field{}}
		for j := range r.Fields {
			f := &r.Fields[j]
			told := field{Name: f.Name, Kind: f.Kind.String(), Sensitive: f.Sensitive, Erased: f.Before.Gone || f.After.Gone}
			if !f.Sensitive {
				told.Before, told.After = f.Before.Value, f.After.Value
			}
			out.Fields = append(out.Fields, told)
		}
		all = append(all, out)
	}
	if all == nil {
		return nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(all) // of texts and values, which can always be written
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
