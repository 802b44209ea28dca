package workflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Where a step names the result of another, the value of that result is written in its
// place, with the origin that it has.

// mostText is the default number of characters of a result that fit in one argument; a quarter of
// them is for the end of the result.
const mostText = 8192

// errWithheld says that a result holds a sensitive value, which was not kept.
var errWithheld = errors.New("what is sensitive was not kept")

// A filledCall is a call with the results of other steps filled in, and the origins of the arguments
// that hold them.
type filledCall struct {
	call    dsl.Call
	origins map[int]verbs.Origin // by the index of the argument
	cut     bool                 // not all of a result fits
	ofModel bool                 // one of the results is a model's: nobody saw it when the plan was agreed to
}

// fill puts the results of other steps into a call.
func (r *Runner) fill(ctx context.Context, asker *engine.Session, p *Plan, s *Step, call *dsl.Call) (f filledCall, err error) {
	f = filledCall{call: *call, origins: map[int]verbs.Origin{}}
	verb := r.Clerk.Registry.Verb(call.Verb)
	f.call.Args = make([]dsl.Arg, len(call.Args))
	for i := range call.Args {
		arg := call.Args[i]
		var t *verbs.Type
		if verb != nil {
			for j := range verb.Params {
				if verb.Params[j].Name == arg.Key {
					t = verb.Params[j].Type
				}
			}
		}
		came, has := s.origin, false
		one := dsl.NewCall(call.Verb, arg)
		out := dsl.Replace(&one, func(_ *dsl.Call, _ string, v *dsl.Value) (dsl.Value, bool) {
			if v.Kind != dsl.Symbol || err != nil {
				return dsl.Value{}, false
			}
			name, path, _ := strings.Cut(v.Text, ".")
			from := p.byName(name)
			if from == nil || from == s {
				return dsl.Value{}, false
			}
			var w dsl.Value
			var o verbs.Origin
			if w, o, err = r.valueOf(ctx, asker, from, path, t); err != nil {
				err = fmt.Errorf("@%s: %w", v.Text, err)
				return dsl.Value{}, false
			}
			came, has = came.Mix(o), true
			f.cut = f.cut || w.Kind == dsl.String && path == "" && len(Text(resultOf(from.answer), math.MaxInt32)) > cmp.Or(r.Text, mostText)
			f.ofModel = f.ofModel || o.Kinds()&verbs.FromModel != 0
			return w, true
		})
		f.call.Args[i] = out.Args[0]
		if has {
			f.origins[i] = came
		}
	}
	f.call.As = ""
	return f, err
}

// valueOf returns the result of a step, or a field of it, as a written value of type t.
func (r *Runner) valueOf(ctx context.Context, asker *engine.Session, s *Step, path string, t *verbs.Type) (v dsl.Value, o verbs.Origin, err error) {
	if s.answer == nil || len(s.answer.Calls) == 0 {
		return v, o, errors.New("it gave nothing")
	}
	c := &s.answer.Calls[0]
	res := c.Result
	if res == nil || len(res.Columns) == 0 || path == "" && t != nil && t.Name == verbs.RefType && len(res.Keys) == 0 && len(res.Refs) == 0 {
		return r.rowOf(ctx, asker, c, path)
	}
	for i := range res.Columns {
		if res.Withheld(i) && (path == "" || sameWord(res.Columns[i], path)) {
			return v, o, errWithheld
		}
	}
	if t != nil && t.Name == verbs.StringType && path == "" && !(len(res.Rows) == 1 && len(res.Columns) == 1) {
		return dsl.NewString(Text(res, cmp.Or(r.Text, mostText))), originOf(res, -1, -1), nil
	}
	column := 0
	if path != "" {
		column = -1
		for i, name := range res.Columns {
			if sameWord(name, path) {
				column = i
			}
		}
		if column < 0 {
			return r.rowOf(ctx, asker, c, path)
		}
	}
	cell := func(row int) (dsl.Value, error) {
		wanted := path == "" && refersTo(t)
		if wanted && len(res.Keys) > row {
			return r.Clerk.Name(ctx, asker, res.Entity, res.Keys[row])
		}
		for _, ref := range res.Refs {
			if ref.Row == row && (wanted || ref.Column == column) {
				return r.Clerk.Name(ctx, asker, ref.Entity, ref.Key)
			}
		}
		return verbs.AsLiteral(res.Rows[row][column]), nil
	}
	if t != nil && t.Name == verbs.ListType {
		items := make([]dsl.Value, len(res.Rows))
		for i := range res.Rows {
			if items[i], err = cell(i); err != nil {
				return v, o, err
			}
			o = o.Mix(originOf(res, i, column))
		}
		if len(items) == 1 && items[0].Kind == dsl.List {
			return items[0], o, nil // the row holds the list
		}
		return dsl.NewList(items...), o, nil
	}
	if len(res.Rows) != 1 {
		return v, o, fmt.Errorf("it gave %s where one is wanted", receipt.Counted(len(res.Rows), "row"))
	}
	v, err = cell(0)
	return v, originOf(res, 0, column), err
}

// refersTo reports whether t is a reference or a list of references.
func refersTo(t *verbs.Type) bool {
	if t != nil && t.Name == verbs.ListType {
		t = t.Item
	}
	return t != nil && t.Name == verbs.RefType
}

// rowOf returns the row that a call added or changed, or a value that it set in the row.
func (r *Runner) rowOf(ctx context.Context, asker *engine.Session, c *receipt.Call, path string) (v dsl.Value, o verbs.Origin, err error) {
	for _, op := range [...]string{receipt.Inserted, receipt.Updated} {
		for i := range c.Rows {
			row := &c.Rows[i]
			if row.Op != op || r.Clerk.Registry.Entity(row.Entity) == nil {
				continue
			}
			if path == "" {
				v, err = r.Clerk.Name(ctx, asker, row.Entity, row.Key)
				return v, o, err
			}
			for j := range row.Fields {
				f := &row.Fields[j]
				if !sameWord(f.Name, path) {
					continue
				}
				if f.Sensitive {
					return v, o, errWithheld
				}
				o, _ = verbs.ParseOrigin(f.Origin)
				if f.After.Entity != "" {
					v, err = r.Clerk.Name(ctx, asker, f.After.Entity, f.After.Value)
					return v, o, err
				}
				return verbs.AsLiteral(f.After.Value), o, nil
			}
		}
	}
	if path != "" {
		return v, o, errors.New("it has no such field")
	}
	return v, o, errors.New("it gave no row")
}

// originOf returns the origin of a value of a result; for a negative row, of the whole column.
func originOf(res *receipt.Result, row, column int) (o verbs.Origin) {
	if row >= 0 {
		o, _ = verbs.ParseOrigin(res.Origin(row, column))
		return o
	}
	for i := range res.Rows {
		for j := range res.Columns {
			one, _ := verbs.ParseOrigin(res.Origin(i, j))
			o = o.Mix(one)
		}
	}
	if len(res.Rows) == 0 && res.From != "" {
		o, _ = verbs.ParseOrigin(res.From)
	}
	return o
}

// Text writes a result as lines, with at most so many characters: it leaves out rows in the middle,
// and says so. Sensitive columns are left out.
func Text(res *receipt.Result, most int) string {
	if res == nil || len(res.Rows) == 0 {
		return "(nothing)"
	}
	lines := make([]string, len(res.Rows))
	for i, row := range res.Rows {
		var b strings.Builder
		for j, v := range row {
			if v.IsNull() || res.Sensitive != nil && res.Sensitive[j] {
				continue
			}
			if b.Len() > 0 {
				b.WriteString("; ")
			}
			if len(res.Columns) > 1 {
				b.WriteString(res.Columns[j] + ": ")
			}
			b.WriteString(v.Text())
		}
		lines[i] = b.String()
	}
	return window(lines, most)
}

// window keeps of lines the first and the last, of at most so many characters.
func window(lines []string, most int) string {
	whole := strings.Join(lines, "\n")
	if len(whole) <= most {
		return whole
	}
	const left = "(%d left out)"
	head, tail, size := 0, len(lines), len(left)+8
	for head < tail && size+len(lines[head])+1 <= most*3/4 {
		size += len(lines[head]) + 1
		head++
	}
	for tail > head && size+len(lines[tail-1])+1 <= most {
		tail--
		size += len(lines[tail]) + 1
	}
	if head == 0 && tail == len(lines) { // one line is longer than all that fits
		return strings.ToValidUTF8(whole[:max(0, most-len(left)-8)], "") + "\n" + fmt.Sprintf(left, len(lines)-1)
	}
	kept := append(append([]string{}, lines[:head]...), fmt.Sprintf(left, tail-head))
	return strings.Join(append(kept, lines[tail:]...), "\n")
}

// sameWord compares names, for which expected-date and expected_date are one.
func sameWord(a, b string) bool {
	return strings.ReplaceAll(a, "_", "-") == strings.ReplaceAll(b, "_", "-")
}
