package collect

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
	Language words.Language
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
	Others []words.Choice
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
			if !b.Safe || in.Language != words.English {
				w.Says = sayUnusable.In(in.Language, q.Label)
			}
		}
		return f, w
	}
	return out.settle(), nil
}

// noQuestion returns the message about a field that is not a question, or not yet one.
func (f *Form) noQuestion(field string, l words.Language) *Wrong {
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
	said := words.In{Now: in.Now, Languages: slices.Compact([]words.Language{in.Language, words.English}), Day: q.Kind == Date || q.Kind == Birth}.Answered(text)
	switch q.Kind {
	case Date, Birth:
		return q.whole(text, words.Date, said, in)
	case Country:
		if len(text) == 2 {
			text = strings.ToUpper(text)
		}
		return q.whole(text, words.Country, said, in)
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
			if _, found := words.Whole(text, words.Percent, said); found {
				return q.whole(text, words.Percent, said, in)
			}
		}
		if _, found := words.Whole(text, words.Integer, said); found {
			return q.whole(text, words.Integer, said, in)
		}
		return q.whole(text, words.Decimal, said, in)
	case YesNo:
		if v.Kind() == stores.Bool {
			return v, nil
		}
		switch words.ReadAnswer(text) {
		case words.Reply{Answer: words.Agree}:
			return stores.NewBool(true), nil
		case words.Reply{Answer: words.Decline}:
			return stores.NewBool(false), nil
		}
		return no(sayYesOrNo.In(in.Language, q.Label))
	case Choice:
		plain := words.Plain(text)
		for _, o := range q.Choices {
			if strings.EqualFold(o.Code, text) || plain != "" && (words.Plain(o.Label) == plain || words.Plain(o.Code) == plain) {
				return stores.NewString(o.Code), nil
			}
		}
		for _, o := range q.choices {
			if plain != "" && words.Plain(o.Label) == plain {
				return stores.NewString(o.Code), nil
			}
		}
		return no(oneOf(q.Label, q.Choices, in.Language))
	}
	return stores.NewString(text), nil
}

// whole reads an answer that is one thing and nothing else.
func (q *Question) whole(text string, what words.What, said words.In, in In) (stores.Value, *Wrong) {
	r, found := words.Whole(text, what, said)
	if !found {
		return stores.Value{}, &Wrong{Field: q.Field, Says: notUnderstood(q.Label, q.Example, in.Language)}
	}
	if what == words.Date && q.Kind == Birth {
		r = words.Birth(in.Now).Hold(r)
	}
	if what == words.Date {
		r = words.Between(q.schema.Between(q.Field, stores.DateOf(in.Now))).Hold(r)
	}
	if !r.Known() {
		w := &Wrong{Field: q.Field, Says: r.Ask(in.Language), Asks: r.Problem == 0 && len(r.Others) > 0}
		if w.Asks {
			w.Others = r.Offered()
		}
		if w.Says == "" {
			w.Says = notUnderstood(q.Label, q.Example, in.Language)
		}
		if iso, ok := stores.ParseDate(text); ok && !q.Sensitive && what == words.Date {
			w.Entered = words.SayDate(iso, in.Language)
			if q.wrong != "" && r.Problem != 0 {
				w.Says = q.wrong
			}
		}
		return stores.Value{}, w
	}
	if what == words.Date || what == words.Country {
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
			return words.SayDate(day, in.Language)
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
			return words.SayDate(day, in.Language)
		}
	}
	for _, o := range q.Choices {
		if o.Code == v.Text() {
			return o.Label
		}
	}
	return v.Text()
}
