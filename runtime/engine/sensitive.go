package engine

import (
	"errors"
	"fmt"
	"regexp"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"verbatim/stores"
	"verbatim/verbs"
)

// A value that was taken from a sensitive value is sensitive too, wherever it goes: through
// the result of another call, an argument of a macro, an expression or a handler. The palette
// marks where sensitive values begin. A step knows which of its arguments hold one, and the
// receipt leaves it out of every change that it reaches.

// markSensitive notes that an argument was taken from something sensitive.
func (st *step) markSensitive(i int) {
	if st.args.sensitive == nil {
		st.args.sensitive = make([]bool, len(st.args.values))
	}
	st.args.sensitive[i] = true
}

func (st *step) isSensitive(i int) bool { return st.args.sensitive != nil && st.args.sensitive[i] }

// secret reports whether an argument, or a part of the record that it is, holds a sensitive value.
func (st *step) secret(i, part int) bool {
	return st.args.taken&(1<<i) != 0 || st.verb.Params[i].SensitivePart(part)
}

// partly reports whether an argument is a record of which only the sensitive parts are sensitive.
func (st *step) partly(i int) bool { return st.verb.Params[i].Partly && st.args.taken&(1<<i) == 0 }

// sensitiveAt marks one of several values as sensitive.
func sensitiveAt(sensitive []bool, i int) []bool {
	for len(sensitive) <= i {
		sensitive = append(sensitive, false)
	}
	sensitive[i] = true
	return sensitive
}

// told returns the values that go along with a notice. A notice waits in a queue and is sent
// to others, so sensitive values are left out: its reader looks them up, if they may.
func (n *notice) told() []stores.Value {
	if n.sensitive == nil {
		return n.values
	}
	told := slices.Clone(n.values)
	for i, sensitive := range n.sensitive {
		if sensitive && !told[i].IsNull() {
			told[i] = stores.NewString(withheld)
		}
	}
	return told
}

// askedLater describes the part of an expression that is still to be evaluated of an argument.
// It holds names from the palette and no values.
var askedLater = regexp.MustCompile(`\bmissing\s*\(\s*\w+\s*\)`)

// origin says what a set value is taken from, an argument by its name and anything else by its
// expression, and whether that is sensitive.
func (st *step) origin(x *verbs.Expr, row *stores.Row) (from string, sensitive bool) {
	if i, alone := x.ArgOnly(); alone {
		return ":" + st.verb.Params[i].Name, st.isSensitive(i)
	}
	if list, ok := x.ItemOf(); ok && st.isSensitive(list) {
		return x.Text, true
	}
	for i := range x.Reads {
		read := &x.Reads[i]
		of := row
		switch {
		case read.Part > 0:
			if st.isSensitive(read.Param) || sensitivePath(read.Entity(st.verb).Store, read.Path) {
				return x.Text, true
			}
			continue
		case read.Param >= 0:
			of = &st.args.rows[read.Param]
		case read.Param == verbs.OfEach:
			of = st.sees.each.row
		case read.Param == verbs.OfNew, read.Param == verbs.OfDisclosed:
			continue
		case read.Param == verbs.OfTotal:
			if t := st.verb.Totals[read.Path.Field]; t.Kind.OfField() && t.Entity.Store.Fields[t.Field].Sensitive {
				return x.Text, true
			}
			continue
		}
		if of != nil && of.Entity != nil && sensitivePath(of.Entity, read.Path) {
			return x.Text, true
		}
	}
	if st.args.sensitive == nil {
		return x.Text, false
	}
	words := strings.FieldsFunc(askedLater.ReplaceAllString(x.Text, ""), func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	for i := range st.verb.Params {
		if st.args.sensitive[i] && slices.Contains(words, st.verb.Params[i].Ident) {
			return x.Text, true
		}
	}
	return x.Text, false
}

// secrets calls fn for each sensitive value among the arguments of a call and in the rows that were
// read for it.
func (r *source) secrets(st *step, fn func(stores.Value)) {
	for i := range st.args.values {
		if st.isSensitive(i) {
			fn(st.args.values[i])
		}
	}
	for i := range r.mem.reads {
		s := &r.mem.reads[i]
		if s.entity == nil {
			continue
		}
		for j, v := range s.values {
			if s.paths == nil && s.entity.Fields[j].Sensitive || s.paths != nil && sensitivePath(s.entity, s.paths[j]) {
				fn(v)
			}
		}
	}
}

// carries reports whether a handler's value equals a sensitive value that the handler got or read.
func (r *source) carries(st *step, v stores.Value) bool {
	found := false
	if !v.IsNull() && v.Kind() != stores.Bool {
		r.secrets(st, func(secret stores.Value) { found = found || stores.Equal(secret, v) })
	}
	return found
}

// dim marks the columns of a handler's answer that hold a sensitive value.
func (r *source) dim(st *step, t *table) {
	for _, row := range t.rows {
		for i, c := range row {
			if !t.columns[i].sensitive && c.entity == nil {
				t.columns[i].sensitive = r.carries(st, c.value)
			}
		}
	}
}

// A redactedError is an error of a handler or a tool without the sensitive values of the call.
// Operators read it, and they may not see those values.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }

// redact removes the sensitive values of a call from an error of its handler.
func (r *source) redact(st *step, err error) error {
	dim := func(text string) string {
		r.secrets(st, func(v stores.Value) {
			if secret := v.Text(); len(secret) > 1 {
				text = strings.ReplaceAll(text, secret, withheld)
				text = strings.ReplaceAll(text, strings.Trim(strconv.Quote(secret), `"`), withheld)
			}
		})
		return text
	}
	var c *complaint
	if errors.As(err, &c) {
		told := *c
		d := &told.diagnostic
		d.Summary, d.Label, d.Notes = dim(d.Summary), dim(d.Label), slices.Clone(d.Notes)
		for i := range d.Notes {
			d.Notes[i] = dim(d.Notes[i])
		}
		return &told
	}
	if text := dim(err.Error()); text != err.Error() {
		return &redactedError{text, err}
	}
	return err
}

// panicked makes an error of a handler's panic. A runtime error of Go names only types and
// numbers. Any other panic value may hold anything, so the error tells only its type, and
// where it happened.
func panicked(p any) error {
	what := fmt.Sprintf("with a %T", p)
	var fault goruntime.Error
	if err, ok := p.(error); ok && errors.As(err, &fault) {
		what = fault.Error()
	}
	return fmt.Errorf("it panicked: %s\n%s", what, debug.Stack())
}
