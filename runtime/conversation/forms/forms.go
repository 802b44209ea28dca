// Package forms asks a person for an object, question by question. The object's JSON Schema
// contains the questions, their order and their words; the package knows nothing about their
// subject.
//
//	form, err := forms.Read(schema)
//	filled := form.Fill(answers, skipped)     // what is known so far
//	next := filled.Next()                     // the question to ask, nil when all is answered
//	filled, wrong := filled.Answer(next.Field, value, forms.In{Now: now, Language: values.English})
//	object := filled.Object()                 // what the schema describes
//
// A property is a question, in the order of the schema. Its title is the question's label, its
// description the hint, and x-example, or its first example, an example of an answer. A required
// property is asked; a property that an `if` and `then` of the schema require is asked once the
// answers so far satisfy the `if`, and dropped again when they no longer do; any other is asked and
// may be skipped. writeOnly marks answers that are not shown again. Three words of our own add to
// JSON Schema: x-reads, how words are read (birth, country, percent); x-wrong, the sentence for an
// answer that does not fit; x-about, the name of the whole. A date is bounded by the day with x-min
// and x-max, as in package verbs.
//
// An answer may be in words, in the person's language: it becomes an exact value, or a question. It
// is checked against the schema before it counts, and an answer that does not fit changes nothing.
package forms

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"verbatim/runtime/conversation/values"
	"verbatim/stores"
	"verbatim/verbs"
)

// A Form is the list of questions about one kind of object. It may be shared.
type Form struct {
	About     string // "the beneficial owner"
	Questions []Question

	schema   *verbs.Schema
	required map[string]bool // always
	follows  map[string]bool // only when an `if` holds
}

// A Kind is the way in which an answer is read.
type Kind uint8

// The kinds of question.
const (
	Text Kind = iota
	Date
	Birth
	Number
	Whole
	Percent
	Country
	Choice
	YesNo
)

// A Question is one property.
type Question struct {
	Field     string
	Label     string
	Hint      string
	Example   string
	Kind      Kind
	Choices   []Option
	Sensitive bool
	Optional  bool // it may be left unanswered

	wrong   string
	schema  *verbs.Schema
	choices []Option // as the schema has them, whatever language Choices are in
}

// An Option is one of the answers to a Choice.
type Option struct{ Code, Label string }

// property is the used part of a property of a schema.
type property struct {
	Type        string            `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Examples    []json.RawMessage `json:"examples"`
	Format      string            `json:"format"`
	WriteOnly   bool              `json:"writeOnly"`
	Enum        []string          `json:"enum"`
	OneOf       []struct {
		Const string `json:"const"`
		Title string `json:"title"`
	} `json:"oneOf"`
	Example string `json:"x-example"`
	Reads   string `json:"x-reads"`
	Wrong   string `json:"x-wrong"`
}

// Read makes a form of a schema of an object, each property of which is text, a number, true or
// false, or one of several words.
func Read(s *verbs.Schema) (*Form, error) {
	var top struct {
		Title      string          `json:"title"`
		About      string          `json:"x-about"`
		Required   []string        `json:"required"`
		Properties json.RawMessage `json:"properties"`
		Additional *bool           `json:"additionalProperties"`
	}
	if err := json.Unmarshal(s.Text(), &top); err != nil {
		return nil, fmt.Errorf("the schema %s cannot be asked for: %w", s.Name, err)
	}
	f := &Form{About: top.About, schema: s, required: map[string]bool{}, follows: map[string]bool{}}
	if f.About == "" {
		f.About = top.Title
	}
	if top.Additional == nil || *top.Additional {
		return nil, fmt.Errorf("the schema %s cannot be asked for: say additionalProperties: false, so that nothing is stored that was not asked", s.Name)
	}
	for _, name := range top.Required {
		f.required[name] = true
	}
	for _, name := range thenRequired(s.Text()) {
		f.follows[name] = !f.required[name]
	}
	// Maps have no order, and questions do.
	dec := json.NewDecoder(bytes.NewReader(top.Properties))
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("the schema %s has no properties to ask for", s.Name)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var p property
		if err := dec.Decode(&p); err != nil {
			return nil, fmt.Errorf("the schema %s: %v cannot be asked for: %w", s.Name, name, err)
		}
		q, err := p.question(fmt.Sprint(name))
		if err != nil {
			return nil, fmt.Errorf("the schema %s: %w", s.Name, err)
		}
		q.schema = s
		q.Optional = !f.required[q.Field] && !f.follows[q.Field]
		f.Questions = append(f.Questions, q)
	}
	if len(f.Questions) == 0 {
		return nil, fmt.Errorf("the schema %s has no properties to ask for", s.Name)
	}
	return f, nil
}

func (p *property) question(name string) (Question, error) {
	q := Question{Field: name, Label: p.Title, Hint: p.Description, Sensitive: p.WriteOnly, wrong: p.Wrong}
	if q.Label == "" {
		q.Label = strings.ReplaceAll(name, "_", " ")
	}
	if q.Example = p.Example; q.Example == "" && len(p.Examples) > 0 {
		q.Example = strings.Trim(string(p.Examples[0]), `"`)
	}
	for _, code := range p.Enum {
		q.Choices = append(q.Choices, Option{code, strings.ToLower(strings.ReplaceAll(code, "_", " "))})
	}
	for _, o := range p.OneOf {
		q.Choices = append(q.Choices, Option{o.Const, o.Title})
	}
	switch {
	case len(q.Choices) > 0:
		q.Kind = Choice
	case p.Reads == "birth":
		q.Kind = Birth
	case p.Reads == "country":
		q.Kind = Country
	case p.Reads == "percent":
		q.Kind = Percent
	case p.Reads != "":
		return q, fmt.Errorf("%s: nothing reads %q", name, p.Reads)
	case p.Type == "boolean":
		q.Kind = YesNo
	case p.Type == "integer":
		q.Kind = Whole
	case p.Type == "number":
		q.Kind = Number
	case p.Format == "date":
		q.Kind = Date
	case p.Type != "string":
		return q, fmt.Errorf("%s is no text, number, choice or yes and no, and cannot be asked for in one question", name)
	}
	return q, nil
}

// thenRequired lists the properties that a schema requires under a condition.
func thenRequired(text []byte) []string {
	type branch struct {
		Required []string `json:"required"`
	}
	type rule struct {
		Then *branch `json:"then"`
		Else *branch `json:"else"`
	}
	var top struct {
		rule
		AllOf []rule `json:"allOf"`
	}
	if json.Unmarshal(text, &top) != nil {
		return nil
	}
	var all []string
	for _, r := range append(top.AllOf, top.rule) {
		for _, b := range []*branch{r.Then, r.Else} {
			if b != nil {
				all = append(all, b.Required...)
			}
		}
	}
	return all
}

// In returns the form in the words of a language, as far as the palette translates it.
func (f *Form) In(l values.Language) *Form {
	if l == values.English {
		return f
	}
	out := *f
	out.About = f.schema.Says(l.String(), f.About)
	out.Questions = make([]Question, len(f.Questions))
	for i := range f.Questions {
		out.Questions[i] = f.Questions[i].In(l)
	}
	return &out
}

// In returns the question in the words of a language.
func (q Question) In(l values.Language) Question {
	if l == values.English || q.choices != nil {
		return q
	}
	says := func(text string) string { return q.schema.Says(l.String(), text) }
	q.Label, q.Hint, q.Example, q.wrong = says(q.Label), says(q.Hint), says(q.Example), says(q.wrong)
	q.choices = q.Choices
	q.Choices = make([]Option, len(q.choices))
	for i, o := range q.choices {
		q.Choices[i] = Option{o.Code, says(o.Label)}
	}
	return q
}

// A Filled is a form with answers. It is immutable.
type Filled struct {
	form    *Form
	answers map[string]stores.Value
	skipped []string
}

// Fill gives a form the answers of before, a JSON object, and the fields that
// were skipped.
func (f *Form) Fill(answers stores.Value, skipped []string) (Filled, error) {
	fl := Filled{form: f, answers: map[string]stores.Value{}, skipped: skipped}
	if answers.IsNull() {
		return fl, nil
	}
	dec := json.NewDecoder(strings.NewReader(answers.Text()))
	dec.UseNumber()
	var all map[string]any
	if err := dec.Decode(&all); err != nil {
		return fl, errors.New("the answers of before are no object")
	}
	for name, v := range all {
		switch v := v.(type) {
		case string:
			fl.answers[name] = stores.NewString(v)
		case bool:
			fl.answers[name] = stores.NewBool(v)
		case json.Number:
			if n, ok := stores.ParseInt(v.String()); ok {
				fl.answers[name] = n
			} else if n, ok := stores.ParseDecimal(v.String()); ok {
				fl.answers[name] = n
			}
		}
	}
	return fl, nil
}

// Again fills a form with the answers of an earlier time. Each is checked against the present form:
// the valid ones are kept, and gone are the questions whose answer is no longer valid, in order. An
// optional question without an answer is skipped again.
func (f *Form) Again(answers stores.Value, in In) (filled Filled, gone []Question, err error) {
	before, err := f.Fill(answers, nil)
	if err != nil {
		return before, nil, err
	}
	filled = Filled{form: f, answers: map[string]stores.Value{}}
	unfit := map[string]bool{}
	// An answer may make an earlier property a question.
	for more := true; more; {
		more = false
		all := filled.Questions()
		for i := range all {
			field := all[i].Field
			v, there := before.answers[field]
			if !there {
				continue
			}
			delete(before.answers, field)
			with := maps.Clone(filled.answers)
			with[field] = v
			if unfit[field] = !f.fits(field, with, in); !unfit[field] {
				filled.answers, more = with, true
			}
		}
	}
	filled = filled.settle()
	for _, q := range filled.Questions() {
		if _, there := filled.answers[q.Field]; there {
			continue
		}
		if unfit[q.Field] {
			gone = append(gone, q)
		} else if q.Optional {
			filled.skipped = append(filled.skipped, q.Field)
		}
	}
	return filled, gone, nil
}

// fits reports whether the answer to a question does, among these.
func (f *Form) fits(field string, answers map[string]stores.Value, in In) bool {
	object := object(answers)
	found, err := f.schema.Check(object)
	found = append(found, f.schema.OnDay(stores.DateOf(in.Now), object)...)
	return err == nil && !slices.ContainsFunc(found, func(b verbs.Breach) bool { return len(b.Path) > 0 && b.Path[0] == field })
}

// Object returns the object that the answers make.
func (f Filled) Object() stores.Value { return object(f.answers) }

func object(answers map[string]stores.Value) stores.Value {
	var keys []string
	for name := range answers {
		keys = append(keys, name)
	}
	slices.Sort(keys)
	values := make([]stores.Value, len(keys))
	for i, name := range keys {
		values[i] = answers[name]
	}
	return stores.NewObject(keys, values)
}

// Skipped lists the fields that were skipped and are not answered.
func (f Filled) Skipped() []string { return f.skipped }

// missing lists the further properties that the schema requires, given these answers.
func (f *Form) missing(answers map[string]stores.Value) map[string]bool {
	missing := map[string]bool{}
	found, err := f.schema.Check(object(answers))
	if err != nil {
		return missing
	}
	for _, b := range found {
		if b.Rule == "required" && len(b.Path) == 0 {
			missing[b.Key] = true
		}
	}
	return missing
}

// applies reports whether a question is one for these answers.
func (f *Form) applies(q *Question, answers map[string]stores.Value, missing map[string]bool) bool {
	if !f.follows[q.Field] || missing[q.Field] {
		return true
	}
	if _, there := answers[q.Field]; !there {
		return false
	}
	without := make(map[string]stores.Value, len(answers))
	for name, v := range answers {
		if name != q.Field {
			without[name] = v
		}
	}
	return f.missing(without)[q.Field]
}

// Questions returns the questions that apply, given the answers so far, in order.
func (f Filled) Questions() []Question {
	missing := f.form.missing(f.answers)
	var all []Question
	for i := range f.form.Questions {
		if q := &f.form.Questions[i]; f.form.applies(q, f.answers, missing) {
			all = append(all, *q)
		}
	}
	return all
}

// Answered returns the number of answered questions, and of all questions.
func (f Filled) Answered() (n, of int) {
	all := f.Questions()
	for i := range all {
		if _, there := f.answers[all[i].Field]; there {
			n++
		}
	}
	return n, len(all)
}

// Given returns the answer to a question, null when there is none.
func (f Filled) Given(field string) stores.Value { return f.answers[field] }

// Question returns the question about a field, if it applies.
func (f Filled) Question(field string) (Question, bool) {
	all := f.Questions()
	i := slices.IndexFunc(all, func(q Question) bool { return q.Field == field })
	if i < 0 {
		return Question{}, false
	}
	return all[i], true
}

// Next returns the question to ask: the first without an answer; after those, a skipped one that is
// required. It returns nil if all are answered.
func (f Filled) Next() *Question {
	all := f.Questions()
	for i := range all {
		if _, there := f.answers[all[i].Field]; !there && !slices.Contains(f.skipped, all[i].Field) {
			return &all[i]
		}
	}
	for i := range all {
		if _, there := f.answers[all[i].Field]; !there && !all[i].Optional {
			return &all[i]
		}
	}
	return nil
}

// Skip leaves a question for later, or for good if it is optional.
func (f Filled) Skip(field string, l values.Language) (Filled, *Wrong) {
	if _, ok := f.Question(field); !ok {
		return f, f.form.noQuestion(field, l)
	}
	if !slices.Contains(f.skipped, field) {
		f.skipped = append(slices.Clone(f.skipped), field)
	}
	return f, nil
}

// settle drops answers to questions that are none any more.
func (f Filled) settle() Filled {
	for {
		missing := f.form.missing(f.answers)
		gone := ""
		for i := range f.form.Questions {
			q := &f.form.Questions[i]
			if _, there := f.answers[q.Field]; there && !f.form.applies(q, f.answers, missing) {
				gone = q.Field
			}
		}
		if gone == "" {
			break
		}
		delete(f.answers, gone)
	}
	f.skipped = slices.DeleteFunc(slices.Clone(f.skipped), func(field string) bool {
		_, there := f.answers[field]
		return there
	})
	return f
}
