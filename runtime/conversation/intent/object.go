package intent

import (
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/forms"
	"verbatim/runtime/conversation/values"
	"verbatim/stores"
	"verbatim/verbs"
)

// Filling an object whose schema depends on a code: a date, a country, a share. The values are
// validated against the schema like answers to its form. A sentence seldom answers a form of
// several questions; then the verb that asks them one by one is proposed.

// readForms reads the schemas of a verb's objects. A schema without a form is not filled from words
// either.
func (ix *Index) readForms(v *verbs.Verb) {
	for i := range v.Params {
		k, ok := v.Params[i].SchemaOf()
		if !ok || v.Params[k].Type.Codes == nil {
			continue
		}
		for _, code := range v.Params[k].Type.Codes.Codes {
			if _, known := ix.forms[code.Schema]; known || code.Schema == nil {
				continue
			}
			form, err := forms.Read(code.Schema)
			if err != nil {
				form = nil
			}
			ix.forms[code.Schema] = form
		}
	}
}

// told returns the kinds of values that may answer a question of a form.
func told(k forms.Kind) []values.What {
	switch k {
	case forms.Date, forms.Birth:
		return []values.What{values.Date}
	case forms.Country:
		return []values.What{values.Country}
	case forms.Percent:
		return []values.What{values.Percent}
	}
	return nil
}

// codeOfRow returns the code that the names of rows contain: "maria-schmidt-date-of-birth" contains
// DATE_OF_BIRTH. It returns "" for none or several.
func (r *Reader) codeOfRow(l *verbs.CodeList, names ...string) string {
	var hit string
	for _, name := range names {
		var row []string
		for w := range strings.SplitSeq(name, "-") {
			row = append(row, stem(w))
		}
		one, longest := "", 0
		for _, cw := range r.ix.codeWords(l) {
			if len(cw.stems) > longest && !slices.ContainsFunc(cw.stems, func(s string) bool { return !slices.Contains(row, s) }) {
				one, longest = cw.code, len(cw.stems)
			} else if len(cw.stems) == longest && !slices.ContainsFunc(cw.stems, func(s string) bool { return !slices.Contains(row, s) }) {
				one = ""
			}
		}
		if one == "" || hit != "" && hit != one {
			return ""
		}
		hit = one
	}
	return hit
}

// formHere returns the form of an object, if the clause determines its code.
func (r *Reader) formHere(c *clause, v *verbs.Verb, object int) *forms.Form {
	k, ok := v.Params[object].SchemaOf()
	if !ok || v.Params[k].Type.Codes == nil {
		return nil
	}
	list := v.Params[k].Type.Codes
	code := ""
	if codes, _ := r.codesIn(c, list); len(codes) == 1 {
		code = codes[0]
	} else if len(codes) == 0 {
		for i := range v.Params {
			if e := v.Params[i].Type.Entity; e != nil && v.Params[i].Required && r.names[e] != nil {
				if f := r.rowsIn(c, e); len(f.names) > 0 {
					code = r.codeOfRow(list, f.names...)
				}
			}
		}
	}
	if code == "" {
		return nil
	}
	return r.ix.forms[list.Schema(code)]
}

// answers reports whether a value in the clause may answer a question of a form. A date of birth
// lies in the past and is not said in words such as "next week".
func (c *clause) answers(form *forms.Form, what values.What) bool {
	for i := range form.Questions {
		q := &form.Questions[i]
		if !slices.Contains(told(q.Kind), what) {
			continue
		}
		for k := range c.readings {
			if rd := &c.readings[k]; rd.What == what && (q.Kind != forms.Birth || c.birthday(rd)) {
				return true
			}
		}
	}
	return false
}

// birthday reports that a date may be a date of birth: one in the past, or one with an obviously
// wrong year, which the person must be told.
func (c *clause) birthday(rd *values.Reading) bool {
	if !rd.Known() {
		return len(rd.Others) > 0 || rd.Problem != 0
	}
	day := rd.Value.Time()
	return rd.What == values.Date && (day.Before(c.in.Now) || day.After(c.in.Now.AddDate(2, 0, 0)))
}

// object fills an object, whose schema its code decides.
func (f *filling) object() {
	code := f.codeOfObject()
	if code == "" {
		if len(f.p.Asks) == 0 {
			f.missing()
		}
		return
	}
	k, _ := f.pr.SchemaOf()
	form := f.r.ix.forms[f.p.Verb.Params[k].Type.Codes.Schema(code)]
	if form == nil {
		f.missing()
		return
	}
	filled, err := form.In(f.r.speaks(f.l)).Fill(stores.Value{}, nil)
	if err != nil {
		f.missing()
		return
	}
	var at values.Range
	for _, q := range filled.Questions() {
		rd, in, ok := f.answering(form, q)
		if !ok {
			return
		}
		if rd == nil {
			continue
		}
		next, ok := f.part(filled, q, rd, in)
		if !ok {
			return
		}
		filled = next
		if at.End == 0 || rd.Range.Start < at.Start {
			at.Start = rd.Range.Start
		}
		at.End = max(at.End, rd.Range.End)
	}
	var lacks []forms.Question
	var entries []dsl.Arg
	for _, q := range filled.Questions() {
		v := filled.Given(q.Field)
		if v.IsNull() {
			if !q.Optional {
				lacks = append(lacks, q)
			}
			continue
		}
		entries = append(entries, dsl.NewArg(q.Field, verbs.AsLiteral(v)))
	}
	switch {
	case len(lacks) == 0 && len(entries) > 0:
		f.take(dsl.NewMap(entries...), at, nil)
	case len(lacks) == 1 && len(entries) == 0:
		f.asks(Ask{Param: f.pr, Text: f.r.ask(f.l, askField, lacks[0], nil)})
	case !f.r.guided(f.p):
		f.missing()
	}
}

// codeOfObject returns the part's code for the object at hand, or "".
func (f *filling) codeOfObject() string {
	k, ok := f.pr.SchemaOf()
	if !ok {
		return ""
	}
	for i := range f.p.Args {
		if a := &f.p.Args[i]; a.Param == &f.p.Verb.Params[k] && a.Value.Kind == dsl.Code {
			return a.Value.Text
		}
	}
	return ""
}

// answering returns the reading that answers a question of a form, and its clause. It returns nil if
// there is none, or if several questions would take it. ok is false if there are two readings: then
// it has asked which is meant.
func (f *filling) answering(form *forms.Form, q forms.Question) (rd *values.Reading, in *clause, ok bool) {
	of := told(q.Kind)
	alike := 0
	for _, other := range form.Questions {
		if len(of) > 0 && slices.Equal(told(other.Kind), of) {
			alike++
		}
	}
	if alike != 1 {
		return nil, nil, true
	}
	for _, c := range f.answers {
		if i := slices.IndexFunc(c.readings, func(rd values.Reading) bool { return slices.Contains(of, rd.What) }); i >= 0 {
			return &c.readings[i], c, true
		}
	}
	var found []int
	for i := range f.c.readings {
		if !f.used[i] && slices.Contains(of, f.c.readings[i].What) {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return nil, nil, true
	}
	rd = &f.c.readings[found[0]]
	other := slices.IndexFunc(found, func(i int) bool { return !rd.Same(&f.c.readings[i]) })
	if other < 0 {
		f.use(found)
		return rd, f.c, true
	}
	a := f.r.either(f.pr, f.l, rd, &f.c.readings[found[other]])
	if f.pr.Sensitive {
		a.Text = f.r.ask(f.l, askField, q, nil)
	}
	f.asks(a)
	return nil, nil, false
}

// part answers a question of a form with a reading of a clause, or asks again if the form refuses
// it.
func (f *filling) part(filled forms.Filled, q forms.Question, rd *values.Reading, in *clause) (forms.Filled, bool) {
	speaks := f.r.speaks(f.l)
	next, wrong := filled.Answer(q.Field, stores.NewString(in.raw(rd.Range)), forms.In{Now: f.c.in.Now, Language: speaks})
	if wrong == nil {
		return next, true
	}
	a := Ask{Param: f.pr, Text: wrong.Says}
	if wrong.Asks && rd.Problem == 0 {
		for _, o := range wrong.Others {
			a.offer(rd, o, speaks)
		}
	}
	f.asks(a)
	return filled, false
}

// guided turns a part into the call that asks the questions of a row one by one: it requires only
// the row, and makes it the session's active one.
func (r *Reader) guided(p *Part) bool {
	if len(p.Asks) > 0 {
		return false
	}
	for i := range p.Args {
		row := p.Args[i]
		if row.Param.Type.Name != verbs.RefType || !row.Param.Required {
			continue
		}
		for k, v := range r.ix.verbs {
			if pr := leads(v); r.may[k] && pr != nil && pr.Type.Entity == row.Param.Type.Entity && domainOf(v) == domainOf(p.Verb) {
				row.Param = pr
				p.Verb, p.Args, p.Phrase = v, []Arg{row}, ""
				p.guide = true
				return true
			}
		}
	}
	return false
}

func domainOf(v *verbs.Verb) string {
	domain, _, _ := strings.Cut(v.Name, ".")
	return domain
}

// leads returns the only argument of a verb that makes a row active; nil for any other verb.
func leads(v *verbs.Verb) *verbs.Param {
	if len(v.Params) != 1 || v.Params[0].Type.Name != verbs.RefType {
		return nil
	}
	for i := range v.Effects {
		e := &v.Effects[i]
		if e.Session != "" && e.Of != nil && e.Of.Name == verbs.RefType && e.Of.Entity == v.Params[0].Type.Entity {
			return &v.Params[0]
		}
	}
	return nil
}

// Which asks which of some rows is meant.
func (p *Part) Which(pr *verbs.Param, names []string) Ask {
	choices := symbols(names)
	return Ask{Param: pr, Text: p.reader.ask(p.language, askSeveral, pr, choices), Choices: choices}
}

// Choose returns the part with one of the choices of a question for an argument.
func (p *Part) Choose(pr *verbs.Param, text string) Part {
	q, r := *p, *p.reader
	r.in.Given = append(slices.Clone(r.in.Given), Given{p.Verb.Name, pr.Name, text})
	q.Args, q.Asks, q.reader = nil, nil, &r
	r.arguments(&q, q.clauses[0], q.language)
	for _, c := range q.clauses[1:] {
		r.fill(&q, c, q.language)
	}
	for i := range q.Args { // it stands where the amount does that it completes
		for k := range q.clauses[0].readings {
			if rd := &q.clauses[0].readings[k]; q.Args[i].Param == pr && strings.HasSuffix(text, rd.Value.Text()) && !q.took(rd.Range) {
				q.Args[i].Range = rd.Range
			}
		}
	}
	return q
}

// Suppose returns the part with a row that the conversation implies. The row counts as assumed, not
// as said. The argument must be that of an Ask that is Open or has the row among its choices.
func (p *Part) Suppose(pr *verbs.Param, name string) Part {
	q := *p
	q.Args, q.Asks, q.supposed, q.supposing = nil, nil, name, pr
	q.reader.arguments(&q, q.clauses[0], q.language)
	for _, c := range q.clauses[1:] {
		q.reader.fill(&q, c, q.language)
	}
	return q
}
