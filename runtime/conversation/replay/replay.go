// Package replay records a session, call by call, and makes the calls again, on a copy of a store or
// with another palette, and reports the differences:
//
//	steps, err := replay.Record(ctx, store, reg, session)
//	p := &replay.Player{Session: again, Registry: reg, Clock: clock, Mode: replay.Strict}
//	differences, err := p.Play(ctx, steps)
//
// The recording comes from the journal: calls that changed something or were refused, and their
// changes. Reads have no journal entry. Sensitive values are left out.
package replay

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Schema is the schema of a recording, which begins with a Head and has a Step per line.
const Schema = "verbatim/recording@1"

// A Head describes a recording.
type Head struct {
	Schema    string `json:"schema"`
	Session   string `json:"session"`
	Principal string `json:"principal"`
	Palette   string `json:"palette"` // digest of the palettes of the last step
}

// A Step is a unit of calls that ran together: a call, and those that name its result.
type Step struct {
	Time    time.Time `json:"time"`
	Outcome string    `json:"outcome"`          // "ok", "refused"
	Reason  string    `json:"reason,omitempty"` // code of a refusal
	Agreed  string    `json:"agreed,omitempty"` // the principals who agreed, if agreement was needed
	Calls   []Call    `json:"calls"`
}

// A Call is one call, and its changes. A macro's call has the changes of its calls.
type Call struct {
	Entry   int64           `json:"entry"`
	Text    string          `json:"text"`              // canonical
	Origins json.RawMessage `json:"origins,omitempty"` // origins of arguments, except those written into a script
	Changes []Change        `json:"changes"`
}

// A Change spells a row of a receipt in a recording, which is read by other versions of the
// program and holds less: no names or labels, and nothing sensitive.
type Change struct {
	Op     string  `json:"op"`
	Entity string  `json:"entity"`
	Key    string  `json:"key"`
	Suffix string  `json:"suffix,omitempty"` // of the name of a row that was added
	Fields []Field `json:"fields,omitempty"`
}

// A Field spells one of a receipt. Null is no value.
type Field struct {
	Name   string  `json:"name"`
	Kind   string  `json:"kind"`
	Before *string `json:"before"`
	After  *string `json:"after"`
	// Untold says that the values are sensitive or were erased: that they changed is all that is
	// compared.
	Untold bool `json:"untold,omitempty"`
}

// Record reads the calls of a kept session of the principal from the journal.
func Record(ctx context.Context, store stores.Store, reg *verbs.Registry, s *engine.Session) (Head, []Step, error) {
	who := s.Principal().Name
	head := Head{Schema: Schema, Session: s.ID(), Principal: who}
	var steps []Step
	var last *stores.Entry // of a macro, whose calls come next
	for l, err := range journal.Opened(ctx, store, who, journal.ByNumber(ctx, store, 1, 0)) {
		if err != nil {
			return head, nil, err
		}
		e := &l.Entry
		if e.Session != head.Session || e.Principal != who {
			continue
		}
		record, err := l.Record()
		if err != nil {
			return head, nil, err
		}
		changes, err := changesOf(ctx, reg, s, record.Rows)
		if err != nil {
			return head, nil, err
		}
		if last != nil && last.Time.Equal(e.Time) && last.Source == e.Source && e.Outcome == "ok" && e.Seq > last.Seq {
			of := &steps[len(steps)-1]
			of.Calls[len(of.Calls)-1].Changes = append(of.Calls[len(of.Calls)-1].Changes, changes...)
			continue
		}
		last = nil
		if v := reg.Verb(e.Verb); v != nil && v.Macro != nil && e.Outcome == "ok" {
			last = e
		}
		head.Palette = e.Palette
		call := Call{Entry: e.Seq, Text: e.Call, Changes: changes}
		if record.Words != "" {
			call.Text = record.Words
		}
		if e.Origins != "" {
			call.Origins = json.RawMessage(e.Origins)
		}
		if n := len(steps) - 1; n >= 0 && steps[n].Time.Equal(e.Time) && steps[n].Outcome == e.Outcome && names(call.Text, steps[n].Calls) {
			steps[n].Calls = append(steps[n].Calls, call)
			continue
		}
		steps = append(steps, Step{Time: e.Time, Outcome: e.Outcome, Reason: e.Reason, Agreed: e.Agreed, Calls: []Call{call}})
	}
	return head, steps, nil
}

// names reports whether a call names the result of one of some others.
func names(text string, before []Call) (does bool) {
	bound := map[string]bool{}
	for _, c := range before {
		script, _ := dsl.Parse(dsl.NewSource("", c.Text))
		for i := range script.Calls {
			bound[script.Calls[i].As] = true
		}
	}
	script, _ := dsl.Parse(dsl.NewSource("", text))
	dsl.Walk(script, func(at dsl.Node) bool {
		if at.Value != nil && at.Value.Kind == dsl.Symbol {
			name, _, _ := strings.Cut(at.Value.Text, ".")
			does = does || bound[name]
		}
		return !does
	})
	return does
}

// changesOf returns rows in the form of a recording, each row once.
func changesOf(ctx context.Context, reg *verbs.Registry, s *engine.Session, rows []receipt.Row) ([]Change, error) {
	all := []Change{}
	for _, r := range rows {
		c := Change{Op: r.Op, Entity: r.Entity, Key: r.Key.Text()}
		e := reg.Entity(r.Entity)
		if e == nil {
			continue // the engine's own
		}
		if r.Op == receipt.Inserted && s != nil {
			suffix, err := s.Names().Suffixes(ctx, e, r.Key)
			if err != nil {
				return nil, err
			}
			c.Suffix = suffix[0]
		}
		for _, f := range r.Fields {
			out := Field{Name: f.Name, Kind: f.Kind.String(), Untold: f.Sensitive || f.Before.Gone || f.After.Gone}
			if !out.Untold {
				out.Before, out.After = textOf(f.Before), textOf(f.After)
			}
			c.Fields = append(c.Fields, out)
		}
		all = append(all, c)
	}
	return all, nil
}

func textOf(v receipt.Value) *string {
	if v.Value.IsNull() {
		return nil
	}
	text := v.Value.Text()
	return &text
}

// Write writes a recording.
func Write(w io.Writer, head Head, steps []Step) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	err := enc.Encode(head)
	for i := range steps {
		if err == nil {
			err = enc.Encode(steps[i])
		}
	}
	return err
}

// maxLine bounds a line of a recording, and maxSteps their number.
const (
	maxLine  = 16 << 20
	maxSteps = 100_000
)

// Read reads a recording, strictly. An error says in which line.
func Read(r io.Reader) (head Head, steps []Step, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var into any = &head
		if n > 1 {
			steps = append(steps, Step{})
			into = &steps[len(steps)-1]
		}
		d := json.NewDecoder(strings.NewReader(lines.Text()))
		d.DisallowUnknownFields()
		err := d.Decode(into)
		switch {
		case err == nil && d.More():
			err = errors.New("more than one JSON object")
		case err == nil && n == 1 && head.Schema != Schema:
			err = fmt.Errorf("its schema is not %s", Schema)
		case err == nil && n > 1:
			err = steps[len(steps)-1].check()
		}
		if err == nil && len(steps) > maxSteps {
			err = fmt.Errorf("more than %d steps", maxSteps)
		}
		if err != nil {
			return head, nil, fmt.Errorf("line %d is none of a recording: %s", n, strings.TrimPrefix(err.Error(), "json: "))
		}
	}
	if err := lines.Err(); err != nil {
		return head, nil, err
	}
	if head.Schema == "" {
		return head, nil, errors.New("it is empty")
	}
	return head, steps, nil
}

func (s *Step) check() error {
	if len(s.Calls) == 0 {
		return errors.New("a step without a call")
	}
	for _, c := range s.Calls {
		script, ds := dsl.Parse(dsl.NewSource("", c.Text))
		if ds.HasErrors() || len(script.Calls) != 1 {
			return fmt.Errorf("entry %d is not one call", c.Entry)
		}
	}
	return nil
}
