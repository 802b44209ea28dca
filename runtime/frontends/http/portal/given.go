package portal

import (
	"context"
	"slices"
	"strings"

	"verbatim/runtime/conversation/forms"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/verbs"
)

// What somebody gave for an item is shown to them, as they gave it, and their forms begin with it. What
// the palette calls sensitive stands masked until they ask for it.

// given reads the latest answers that the person gave for an item. ok is false if there are none, or
// no questions that they answer.
func (d *Desk) given(ctx context.Context, r row) (f forms.Filled, ok bool, err error) {
	if d.page.Given == nil || !d.Session.May(d.page.Given) || d.page.Questions == nil || d.page.Questions.Codes == nil {
		return f, false, nil
	}
	schema := d.page.Questions.Codes.Schema(r.value(d.page.Questions.Kind).Text())
	if schema == nil {
		return f, false, nil
	}
	call, err := d.about(ctx, d.page.Given, r.item())
	if err != nil || call.Result == nil || len(call.Result.Rows) == 0 {
		return f, false, err
	}
	form, err := forms.Read(schema)
	if err != nil {
		return f, false, nil
	}
	f, err = form.In(d.lang).Fill(call.Result.Rows[0][0], nil)
	return f, err == nil, err
}

// in is how answers are worded here.
func (d *Desk) in() forms.In { return forms.In{Now: d.Clock(), Language: d.lang} }

// givenAnswers shows what the person gave for an item, The answer to the question show is not
// masked.
func (d *Desk) givenAnswers(f forms.Filled, show string) pages.Answers {
	a := pages.Answers{Title: d.Say("pages/you-gave"), URL: d.R.URL.Path}
	for _, q := range f.Questions() {
		v := f.Given(q.Field)
		if v.IsNull() {
			continue
		}
		row := pages.Answered{Label: q.Label}
		if q.Sensitive && q.Field != show {
			row.Show = q.Field
		} else if q.Sensitive {
			row.Now = true
			q.Sensitive = false
		}
		row.Answer = pages.Sentence(q.Say(v, d.in()))
		a.Rows = append(a.Rows, row)
	}
	return a
}

// prefill begins a form with what the person gave before. What is sensitive is kept if its field stays
// empty.
func (d *Desk) prefill(f *filledForm, before forms.Filled) {
	for i := range f.verb.Params {
		p := &f.verb.Params[i]
		if p.Type.Name != verbs.ObjectType || f.questions(i) == nil {
			continue
		}
		f.before = before
		for _, q := range before.Questions() {
			name, v := p.Name+"."+q.Field, before.Given(q.Field)
			if f.values.Has(name) || f.values.Has(name+"-day") || v.IsNull() || q.Sensitive {
				continue
			}
			f.values.Set(name, v.Text())
			if day := strings.Split(v.Text(), "-"); (q.Kind == forms.Date || q.Kind == forms.Birth) && len(day) == 3 {
				f.values.Set(name+"-year", day[0])
				f.values.Set(name+"-month", strings.TrimLeft(day[1], "0"))
				f.values.Set(name+"-day", strings.TrimLeft(day[2], "0"))
			}
		}
	}
}

// gave lists what the person gave by a verb that takes answers to questions, as it is now.
func (d *Desk) gave(ctx context.Context, verb string, names []string) (all []pages.Fact) {
	v := d.Registry.Verb(verb)
	if v == nil || !corrects(v) {
		return nil
	}
	for _, name := range names {
		r, ok, err := d.find(ctx, strings.TrimPrefix(name, "@"))
		if err != nil || !ok {
			continue
		}
		if gave, ok, err := d.given(ctx, r); ok && err == nil { // without it, what was done is told all the same
			for _, row := range d.givenAnswers(gave, "").Rows {
				all = append(all, pages.Fact{Name: row.Label, Text: row.Answer})
			}
		}
	}
	return all
}

// corrects reports whether a verb takes answers to questions.
func corrects(v *verbs.Verb) bool {
	return slices.ContainsFunc(v.Params, func(p verbs.Param) bool { return p.Type.Name == verbs.ObjectType && p.Required })
}
