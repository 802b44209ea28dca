package forms

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/stores"
)

// In is the context of an answer, as far as its meaning depends on it.
type In struct {
	Now      time.Time // in the person's own time zone
	Language values.Language
}

// A Wrong is the reason why an answer does not count. Nothing of the answer was kept.
type Wrong struct {
	Field string
	Says  string // a sentence for the person
	// Entered is the understood value, to repeat it; "" if it is sensitive, or was not understood.
	Entered string
	// Asks says that Says is a question: the words may mean several things.
	Asks bool
	// Others are those things, in the order of Says.
	Others []values.Choice
}

// maxAnswer is the greatest length of an answer, in characters, if its schema sets none.
const maxAnswer = 2000

// Answer answers a question, and returns the form with the answer. It replaces an earlier answer,
// and drops answers to questions that no longer apply.
func (f Filled) Answer(field string, v stores.Value, in In) (Filled, *Wrong) {
	q, ok := f.Question(field)
	if !ok {
		return f, f.form.noQuestion(field, in.Language)
	}
	value, wrong := q.read(v, in)
	if wrong != nil {
		return f, wrong
	}
	out := Filled{form: f.form, answers: maps.Clone(f.answers), skipped: f.skipped}
	out.answers[field] = value
	found, err := f.form.schema.Check(object(out.answers))
	if err != nil {
		return f, &Wrong{Field: field, Says: sayUnusable.In(in.Language, q.Label)}
	}
	for _, b := range found {
		if len(b.Path) == 0 || b.Path[0] != field {
			continue
		}
		w := &Wrong{Field: field, Says: q.wrong, Entered: q.echo(value, in)}
		if w.Says == "" {
			w.Says = q.Label + " " + b.Says
			if !b.Safe || in.Language != values.English {
				w.Says = sayUnusable.In(in.Language, q.Label)
			}
		}
		return f, w
	}
	return out.settle(), nil
}

// noQuestion returns the message about a field that is not a question, or not yet one.
func (f *Form) noQuestion(field string, l values.Language) *Wrong {
	var names []string
	for i := range f.Questions {
		if f.Questions[i].Field == field {
			return &Wrong{Field: field, Says: sayNotAsked.In(l, f.Questions[i].Label)}
		}
		names = append(names, f.Questions[i].Field)
	}
	if near := dsl.Nearest(field, slices.Values(names)); len(near) > 0 {
		return &Wrong{Field: field, Says: sayNearQuestion.In(l, near[0])}
	}
	return &Wrong{Field: field, Says: sayNoQuestion.In(l, strings.Join(names, ", "))}
}

// read turns an answer into the value that the schema wants.
func (q *Question) read(v stores.Value, in In) (stores.Value, *Wrong) {
	no := func(says string) (stores.Value, *Wrong) { return stores.Value{}, &Wrong{Field: q.Field, Says: says} }
	if v.IsNull() {
		return no(sayNothing.In(in.Language, q.Label))
	}
	if v.Kind() == stores.JSON {
		return no(sayOneAnswer.In(in.Language, q.Label))
	}
	text := strings.TrimSpace(v.Text())
	switch {
	case utf8.RuneCountInString(text) > maxAnswer:
		return no(sayTooLong.In(in.Language, q.Label, strconv.Itoa(maxAnswer)))
	case text == "":
		return no(sayNothing.In(in.Language, q.Label))
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' || r == utf8.RuneError }):
		return no(sayUnreadable.In(in.Language, q.Label))
	}
	said := values.In{Now: in.Now, Languages: slices.Compact([]values.Language{in.Language, values.English}), Day: q.Kind == Date || q.Kind == Birth}.Answered(text)
	switch q.Kind {
	case Date, Birth:
		return q.whole(text, values.Date, said, in)
	case Country:
		if len(text) == 2 {
			text = strings.ToUpper(text)
		}
		return q.whole(text, values.Country, said, in)
	case Number, Percent, Whole:
		if v.Kind() == stores.Int || v.Kind() == stores.Decimal {
			return v, nil
		}
		if n, ok := stores.ParseInt(text); ok {
			return n, nil
		}
		if n, ok := stores.ParseDecimal(text); ok {
			return n, nil
		}
		if q.Kind == Percent {
			if _, found := values.Whole(text, values.Percent, said); found {
				return q.whole(text, values.Percent, said, in)
			}
		}
		if _, found := values.Whole(text, values.Integer, said); found {
			return q.whole(text, values.Integer, said, in)
		}
		return q.whole(text, values.Decimal, said, in)
	case YesNo:
		if v.Kind() == stores.Bool {
			return v, nil
		}
		switch values.ReadAnswer(text) {
		case values.Reply{Answer: values.Agree}:
			return stores.NewBool(true), nil
		case values.Reply{Answer: values.Decline}:
			return stores.NewBool(false), nil
		}
		return no(sayYesOrNo.In(in.Language, q.Label))
	case Choice:
		plain := values.Plain(text)
		for _, o := range q.Choices {
			if strings.EqualFold(o.Code, text) || plain != "" && (values.Plain(o.Label) == plain || values.Plain(o.Code) == plain) {
				return stores.NewString(o.Code), nil
			}
		}
		for _, o := range q.choices {
			if plain != "" && values.Plain(o.Label) == plain {
				return stores.NewString(o.Code), nil
			}
		}
		return no(oneOf(q.Label, q.Choices, in.Language))
	}
	return stores.NewString(text), nil
}

// whole reads an answer that is one thing and nothing else.
func (q *Question) whole(text string, what values.What, said values.In, in In) (stores.Value, *Wrong) {
	r, found := values.Whole(text, what, said)
	if !found {
		return stores.Value{}, &Wrong{Field: q.Field, Says: notUnderstood(q.Label, q.Example, in.Language)}
	}
	if what == values.Date && q.Kind == Birth {
		r = values.Birth(in.Now).Hold(r)
	}
	if what == values.Date {
		r = values.Between(q.schema.Between(q.Field, stores.DateOf(in.Now))).Hold(r)
	}
	if !r.Known() {
		w := &Wrong{Field: q.Field, Says: r.Ask(in.Language), Asks: r.Problem == 0 && len(r.Others) > 0}
		if w.Asks {
			w.Others = r.Offered()
		}
		if w.Says == "" {
			w.Says = notUnderstood(q.Label, q.Example, in.Language)
		}
		if iso, ok := stores.ParseDate(text); ok && !q.Sensitive && what == values.Date {
			w.Entered = values.SayDate(iso, in.Language)
			if q.wrong != "" && r.Problem != 0 {
				w.Says = q.wrong
			}
		}
		return stores.Value{}, w
	}
	if what == values.Date || what == values.Country {
		return stores.NewString(r.Value.Text()), nil
	}
	return r.Value, nil
}

// echo repeats an answer to the person who gave it.
func (q *Question) echo(v stores.Value, in In) string {
	if q.Sensitive {
		return ""
	}
	if q.Kind == Date || q.Kind == Birth {
		if day, ok := stores.ParseDate(v.Text()); ok {
			return values.SayDate(day, in.Language)
		}
	}
	const enough = 80
	if text := v.Text(); utf8.RuneCountInString(text) <= enough {
		return text
	}
	return ""
}

// Say words an answer for a person who checks it. A sensitive answer is masked.
func (q *Question) Say(v stores.Value, in In) string {
	switch {
	case v.IsNull():
		return ""
	case q.Sensitive:
		return masked
	case q.Kind == YesNo && v.Kind() == stores.Bool:
		if v.Bool() {
			return sayYes.In(in.Language)
		}
		return sayNo.In(in.Language)
	case q.Kind == Percent:
		return v.Text() + " %"
	case q.Kind == Date || q.Kind == Birth:
		if day, ok := stores.ParseDate(v.Text()); ok {
			return values.SayDate(day, in.Language)
		}
	case q.Kind == Country:
		return values.CountryOf(v.Text(), in.Language)
	}
	for _, o := range q.Choices {
		if o.Code == v.Text() {
			return o.Label
		}
	}
	return v.Text()
}
