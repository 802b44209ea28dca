package portal

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/forms"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/server"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
	"verbatim/verbs/message"
)

// A form is printed from the arguments of a verb. What a person fills in becomes a call, which
// enters at Check like every other.

// A filledForm is a form with the values that somebody entered.
type filledForm struct {
	verb    *verbs.Verb
	session *engine.Session
	tell    dialog.Teller
	lang    values.Language
	now     time.Time
	values  url.Values
	wrong   map[string]string // by field name
	refused map[string]bool   // files that cannot be sent
	fixed   map[int]string    // by index, arguments that the page of the form fixes
	only    map[int][]string  // by index, the codes that an argument offers
	turns   []pages.Message   // that can be left out, of a call for a person
	instead []string          // verbs that a refusal names
	before  forms.Filled      // what the person gave before, for the same item
}

func (d *Desk) fill(verb *verbs.Verb, vals url.Values) *filledForm {
	return &filledForm{verb: verb, session: d.Session, tell: d.Tell, lang: d.lang, now: d.Clock(), values: vals,
		wrong: map[string]string{}, refused: map[string]bool{}, fixed: map[int]string{}, only: map[int][]string{}}
}

func (f *filledForm) say(key values.Key, of ...string) string { return key.In(f.lang, of...) }

// schema returns the schema of an object argument; nil if it depends on a code that is not chosen
// yet.
func (f *filledForm) schema(i int) *verbs.Schema {
	p := &f.verb.Params[i]
	if of, ok := p.SchemaOf(); ok {
		if list := f.verb.Params[of].Type.Codes; list != nil {
			return list.Schema(f.given(of))
		}
		return nil
	}
	return p.Type.Schema
}

// given returns the text of an argument.
func (f *filledForm) given(i int) string {
	if text, ok := f.fixed[i]; ok {
		return text
	}
	return f.values.Get(f.verb.Params[i].Name)
}

// questions returns the questions of an object argument.
func (f *filledForm) questions(i int) *forms.Form {
	s := f.schema(i)
	if s == nil {
		return nil
	}
	form, err := forms.Read(s)
	if err != nil {
		return nil
	}
	return form.In(f.lang)
}

// waits reports whether an argument can be asked for only after another is chosen.
func (f *filledForm) waits(i int) bool {
	_, of := f.verb.Params[i].SchemaOf()
	return of && f.schema(i) == nil
}

// fields returns the fields of the form; more says that others follow once it is sent.
func (f *filledForm) fields(ctx context.Context) (all []pages.Field, files, more bool, err error) {
	for i := range f.verb.Params {
		p := &f.verb.Params[i]
		if _, ok := f.fixed[i]; ok || p.Active {
			continue // it is the row that they are at work on
		}
		if p.Type.Record() != nil {
			continue // the loader checks that such an argument need not be given
		}
		if f.waits(i) {
			return all, files, true, nil
		}
		if f.leavesOut(p) {
			if field := f.passed(); len(field.Options) > 0 {
				all = append(all, field)
			}
			continue
		}
		if p.Type.Name == verbs.ObjectType {
			if form := f.questions(i); form != nil {
				for _, q := range form.Questions {
					q.Optional = q.Optional || !p.Required
					all = append(all, f.asked(&q, p.Name+"."+q.Field))
				}
				continue
			}
		}
		field, err := f.field(ctx, p, i)
		if err != nil {
			return nil, false, false, err
		}
		files = files || field.Kind == "file"
		all = append(all, field)
	}
	return all, files, false, nil
}

// leavesOut reports whether an argument lists the messages that are not passed on.
func (f *filledForm) leavesOut(p *verbs.Param) bool {
	return f.turns != nil && p.Type.Name == verbs.ListType && p.Type.Item != nil && p.Type.Item.Name == verbs.IntegerType
}

// passed lists the messages that are passed on, each with a box to leave it out.
func (f *filledForm) passed() pages.Field {
	out := pages.Field{ID: "pass", Name: "pass", Kind: "checks", Label: f.say("pages/passed-messages"), Hint: f.say("pages/untick")}
	for _, m := range f.turns {
		if m.Number != "" {
			out.Options = append(out.Options, pages.Choice{Value: m.Number, Text: m.Who + ": " + strings.Join(m.Lines, " "), Chosen: !f.values.Has("shown") || slices.Contains(f.values["pass"], m.Number)})
		}
	}
	return out
}

// shortText is the longest text, in characters, that gets a single line.
const shortText = 200

func (f *filledForm) field(ctx context.Context, p *verbs.Param, i int) (pages.Field, error) {
	out := pages.Field{ID: p.Name, Name: p.Name, Kind: "text", Label: f.label(p), Hint: pages.Sentence(f.tell.Text(p.Description)), Value: f.values.Get(p.Name), Optional: !p.Required, Wrong: f.wrong[p.Name], Max: p.Type.MaxLength, Draft: f.verb.Name + " " + f.values.Get("item") + " " + p.Name}
	if p.Sensitive || p.Personal {
		out.Draft = "" // it does not stay behind in a browser
	}
	if f.lang != values.English && out.Hint == pages.Sentence(p.Description) {
		out.Hint = "" // it is not translated
	}
	if out.Value == "" && !p.Default.IsNull() && !f.values.Has(p.Name) {
		out.Value = p.Default.Text()
	}
	choose := func(value, text string) {
		out.Options = append(out.Options, pages.Choice{Value: value, Text: text, Chosen: value == out.Value || slices.Contains(f.values[p.Name], value)})
	}
	switch t := p.Type; t.Name {
	case verbs.RefType:
		names, err := f.names(ctx, p)
		if err != nil {
			return out, err
		}
		for _, name := range names {
			choose(name, f.called(name))
		}
		out.Kind = "select"
	case verbs.CodeType:
		if t.Codes == nil {
			break
		}
		for _, c := range t.Codes.Codes {
			if only := f.only[i]; len(only) > 0 && !slices.Contains(only, c.Name) {
				continue
			}
			choose(c.Name, f.code(c.Name))
		}
		if out.Kind = "radio"; len(out.Options) > 7 {
			out.Kind = "select"
		}
	case verbs.ListType:
		if t.Item != nil && t.Item.Name == verbs.CodeType && t.Item.Codes != nil {
			for _, c := range t.Item.Codes.Codes {
				choose(c.Name, f.code(c.Name))
			}
			out.Kind = "checks"
			break
		}
		out.Kind, out.Hint = "area", f.say("pages/one-a-line")
	case verbs.BooleanType:
		choose("true", pages.Sentence(f.say("dialog/yes")))
		choose("false", pages.Sentence(f.say("dialog/no")))
		out.Kind = "radio"
	case verbs.DateType:
		out.Kind, out.Day, out.Month, out.Year = "date", f.values.Get(p.Name+"-day"), f.values.Get(p.Name+"-month"), f.values.Get(p.Name+"-year")
	case verbs.IntegerType, verbs.DecimalType:
		out.Kind = "number"
	case verbs.MoneyType:
		out.Hint = strings.TrimSpace(out.Hint + " " + f.say("pages/money", values.AmountExample(t.Currencies, f.lang)))
	case verbs.EmailType:
		out.Kind = "email"
	case verbs.PhoneType:
		out.Kind = "tel"
	case verbs.StringType:
		switch {
		case p.Upload != nil:
			out.Kind, out.Accept, out.Hint = "file", accept(p.Upload), fileHint(f.lang, p.Upload)
			out.Here, out.Value, out.Many, out.Most = f.sent(ctx, f.values[p.Name]), "", true, p.Upload.MaxSize
		case t.MaxLength == 0 || t.MaxLength > shortText:
			out.Kind = "area"
		}
	}
	if out.Kind == "text" && out.Hint == "" && len(p.Examples) > 0 {
		out.Hint = f.say("pages/for-example", p.Examples[0])
	}
	return out, nil
}

// fileHint says which files are accepted.
func fileHint(l values.Language, u *verbs.Upload) string {
	kinds := message.Names(u.Types, verbs.TypeText)
	text := values.Either(l, kinds)
	if accept(u) == "" {
		text = values.Key("pages/any-file").In(l)
	}
	if u.MaxSize == 0 {
		return text
	}
	return values.Key("pages/up-to").In(l, text, verbs.SizeText(u.MaxSize))
}

// accept lists the types of files that a browser offers; "" where any will do.
func accept(u *verbs.Upload) string {
	if slices.ContainsFunc(u.Types, func(t string) bool { return strings.HasPrefix(t, "*") }) {
		return ""
	}
	return strings.Join(u.Types, ",")
}

// label returns the question for an argument, or its name.
func (f *filledForm) label(p *verbs.Param) string {
	if asks := p.Asks.In(f.lang.String()); asks != nil {
		return asks.Say(nothing{})
	}
	return f.tell.Label(strings.TrimSuffix(p.Name, "-id"))
}

// nothing fills the placeholders of a question that has no values.
type nothing struct{}

func (nothing) Value(string) string       { return "" }
func (nothing) Items(string) []verbs.Told { return nil }

func (f *filledForm) code(code string) string {
	return pages.Sentence(f.tell.Value(stores.NewString(code)))
}

func (f *filledForm) called(name string) string { return f.tell.Value(stores.NewString("@" + name)) }

// names lists the names that an argument accepts.
func (f *filledForm) names(ctx context.Context, p *verbs.Param) ([]string, error) {
	if p.Type.Entity == nil {
		return nil, nil
	}
	all, err := f.session.Names().All(ctx, []*verbs.Entity{p.Type.Entity})
	if err != nil {
		return nil, err
	}
	return f.session.Names().Usable(ctx, f.verb, p, all[p.Type.Entity])
}

// sent lists the files that were uploaded before.
func (f *filledForm) sent(ctx context.Context, references []string) (all []pages.Choice) {
	for _, reference := range references {
		if u, err := f.session.Uploads().Get(ctx, reference); err == nil && !f.refused[reference] {
			all = append(all, pages.Choice{Value: reference, Text: f.say("pages/file-here", u.Name, verbs.SizeText(u.Size))})
		}
	}
	return all
}

// asked converts a question of a schema into a field.
func (f *filledForm) asked(q *forms.Question, name string) pages.Field {
	out := pages.Field{ID: strings.ReplaceAll(name, ".", "-"), Name: name, Kind: "text", Label: q.Label, Hint: q.Hint, Value: f.values.Get(name), Optional: q.Optional, Wrong: f.wrong[name], Max: 2000}
	if q.Sensitive && !f.before.Given(q.Field).IsNull() {
		out.Hint = strings.TrimSpace(out.Hint + " " + f.say("pages/keeps-masked"))
	}
	if q.Example != "" && q.Kind != forms.Date && q.Kind != forms.Birth {
		out.Hint = strings.TrimSpace(out.Hint + " " + f.say("pages/for-example", q.Example))
	}
	for _, o := range q.Choices {
		out.Options = append(out.Options, pages.Choice{Value: o.Code, Text: pages.Sentence(o.Label), Chosen: o.Code == out.Value})
	}
	switch q.Kind {
	case forms.Date, forms.Birth:
		out.Kind, out.Day, out.Month, out.Year = "date", f.values.Get(name+"-day"), f.values.Get(name+"-month"), f.values.Get(name+"-year")
		out.Hint = strings.TrimSpace(out.Hint + " " + f.say("pages/date-example"))
	case forms.Number, forms.Whole, forms.Percent:
		out.Kind = "number"
	case forms.YesNo:
		out.Kind, out.Options = "radio", []pages.Choice{{Value: "true", Text: pages.Sentence(f.say("dialog/yes")), Chosen: out.Value == "true"}, {Value: "false", Text: pages.Sentence(f.say("dialog/no")), Chosen: out.Value == "false"}}
	case forms.Choice:
		if out.Kind = "radio"; len(out.Options) > 7 {
			out.Kind = "select"
		}
	}
	return out
}

// date joins three fields into a date; ok is false if they hold none.
func (f *filledForm) date(name string) (text string, ok bool) {
	d, m, y := strings.TrimSpace(f.values.Get(name+"-day")), strings.TrimSpace(f.values.Get(name+"-month")), strings.TrimSpace(f.values.Get(name+"-year"))
	if d+m+y == "" {
		return strings.TrimSpace(f.values.Get(name)), true
	}
	whole := ""
	if m+y == "" && len(d) > 2 { // a whole date was pasted
		whole = d
	} else if len(y) == 4 && strings.IndexFunc(m, unicode.IsLetter) >= 0 { // the name of a month
		whole = d + " " + m + " " + y
	}
	if found, _ := values.Find(whole, values.In{Now: f.now, Languages: []values.Language{f.lang}}); len(found) == 1 && found[0].Known() && found[0].Assumed == 0 && found[0].Value.Kind() == stores.Date {
		return found[0].Value.Text(), true
	}
	if len(y) == 4 && len(d) <= 2 && len(m) <= 2 {
		text = y + "-" + ("00" + m)[len(m):] + "-" + ("00" + d)[len(d):]
		if _, ok := stores.ParseDate(text); ok {
			return text, true
		}
	}
	f.wrong[name] = f.say("words/no-such-day")
	if d == "" || m == "" || len(y) != 4 {
		f.wrong[name] = f.say("words/not-whole")
	}
	return "", false
}

// call makes a script of the form: one call, or one for each file where the verb takes one file and
// several were sent. It records what is wrong beside each field.
func (f *filledForm) call() (*dsl.Script, error) {
	args := map[string]any{}
	for i := range f.verb.Params {
		p := &f.verb.Params[i]
		text := strings.TrimSpace(f.given(i))
		if _, fixed := f.fixed[i]; !fixed {
			switch {
			case p.Type.Name == verbs.DateType:
				text, _ = f.date(p.Name)
			case p.Type.Name == verbs.ObjectType && f.questions(i) != nil:
				if object := f.object(i); object != nil {
					args[p.Name] = object
				}
				continue
			case f.leavesOut(p):
				var without []any
				for _, number := range f.values["shown"] {
					if n, err := strconv.ParseInt(number, 10, 64); err == nil && !slices.Contains(f.values["pass"], number) {
						without = append(without, n)
					}
				}
				if without != nil {
					args[p.Name] = without
				}
				continue
			case p.Type.Name == verbs.ListType:
				if list := f.list(p); len(list) > 0 {
					args[p.Name] = list
				}
				continue
			}
		}
		switch {
		case text == "" && p.Required && !p.Active && p.Default.IsNull():
			if f.wrong[p.Name] == "" {
				f.wrong[p.Name] = f.needed(p)
			}
		case text == "":
		case p.Type.Name == verbs.BooleanType:
			args[p.Name] = text == "true"
		case p.Type.Name == verbs.RefType:
			args[p.Name] = "@" + strings.TrimPrefix(text, "@")
		case p.Type.Name == verbs.StringType && p.Type.Pattern == nil:
			args[p.Name] = values.WithoutCards(text)
		default:
			args[p.Name] = f.typed(p, p.Type, text)
		}
	}
	if len(f.wrong) > 0 {
		return nil, nil
	}
	file, files := f.file()
	var lines []string
	for i := range max(1, len(files)) {
		if len(files) > 0 {
			args[file] = files[i]
		}
		text, err := json.Marshal(args)
		if err != nil {
			return nil, err
		}
		call, err := grammar.Call(grammar.Vocabulary{Verbs: []*verbs.Verb{f.verb}}, strings.ReplaceAll(f.verb.Name, ".", "__"), string(text))
		if err != nil {
			return nil, server.BadBody("what was sent is no call: "+err.Error(), "go back and fill the form in again")
		}
		lines = append(lines, dsl.FormatCall(&call))
	}
	script, ds := dsl.Parse(dsl.NewSource("form", strings.Join(lines, "\n")))
	if ds.HasErrors() {
		f.misfits(script, ds)
		return nil, nil
	}
	return script, nil
}

// file returns the argument that is one file, with the files that were sent for it.
func (f *filledForm) file() (param string, files []string) {
	for i := range f.verb.Params {
		if p := &f.verb.Params[i]; p.Upload != nil && p.Type.Name == verbs.StringType {
			return p.Name, slices.DeleteFunc(slices.Clone(f.values[p.Name]), func(of string) bool { return of == "" })
		}
	}
	return "", nil
}

// typed reads a value as people write it in the language of the page. It returns what the checker
// takes, or records what is wrong.
func (f *filledForm) typed(p *verbs.Param, t *verbs.Type, text string) any {
	switch t.Name {
	case verbs.IntegerType, verbs.DecimalType:
		return f.number(p, t, text)
	case verbs.MoneyType:
		return f.money(p, t, text)
	}
	return text
}

// money reads an amount with its currency, by sign, name or code. A number alone is an amount in the
// only currency that is accepted.
func (f *filledForm) money(p *verbs.Param, t *verbs.Type, text string) any {
	found, _ := values.Find(text, values.In{Now: f.now, Languages: []values.Language{f.lang}})
	if len(found) != 1 || found[0].Range != (values.Range{End: len(text)}) {
		f.wrong[p.Name] = f.say("pages/an-amount", values.AmountExample(t.Currencies, f.lang))
		return nil
	}
	r := values.InCurrencies(found[0], t.Currencies)
	switch {
	case r.What == values.Money && r.Known() && t.AcceptsCurrency(r.Currency):
		return map[string]any{"amount": r.Value.Text(), "currency": r.Currency}
	case r.What == values.Money && r.Problem == 0 && len(r.Others) > 0:
		f.wrong[p.Name] = r.Ask(f.lang)
	default:
		f.wrong[p.Name] = f.say("pages/an-amount", values.AmountExample(t.Currencies, f.lang))
	}
	return nil
}

// number reads a number. The decimal sign is a point in English and a comma in the other languages,
// where "1.250" may be a thousand.
func (f *filledForm) number(p *verbs.Param, t *verbs.Type, text string) string {
	_, after, _ := strings.Cut(text, ".")
	value, ok := stores.ParseDecimal(text)
	if !ok || len(after) == 3 && f.lang != values.English {
		found, _ := values.Find(text, values.In{Now: f.now, Languages: []values.Language{f.lang}})
		if len(found) != 1 || found[0].Range.Start != 0 || found[0].Range.End != len(text) || found[0].What != values.Integer && found[0].What != values.Decimal {
			f.wrong[p.Name] = f.say("pages/a-number")
			return ""
		}
		value = found[0].Value
		if others := found[0].Others; len(others) > 0 {
			i := slices.IndexFunc(others, func(c values.Choice) bool { return c.Value.Kind() == stores.Decimal })
			if i < 0 || f.lang == values.English || !strings.Contains(text, ",") {
				f.wrong[p.Name] = f.say("pages/which-number", others[0].Value.Text(), others[len(others)-1].Value.Text())
				return ""
			}
			value = others[i].Value
		}
	}
	if _, whole := stores.ParseInt(value.Text()); t.Name == verbs.IntegerType && !whole {
		f.wrong[p.Name] = f.say("pages/whole-number")
		return ""
	}
	return value.Text()
}

// needed says that an argument is missing.
func (f *filledForm) needed(p *verbs.Param) string {
	if p.Upload != nil {
		return f.say("pages/no-file")
	}
	return f.say("pages/needed")
}

func (f *filledForm) list(p *verbs.Param) (all []any) {
	vals := f.values[p.Name]
	if len(vals) == 1 {
		vals = strings.Split(vals[0], "\n")
	}
	item := p.Type.Item
	if item == nil {
		item = &verbs.Type{Name: verbs.AnyType}
	}
	for _, line := range vals {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, f.typed(p, item, line))
		}
	}
	if len(all) == 0 && p.Required {
		f.wrong[p.Name] = f.needed(p)
	}
	return all
}

// object reads the answers to the questions of a schema, as a conversation would.
func (f *filledForm) object(i int) map[string]any {
	p := &f.verb.Params[i]
	form := f.questions(i)
	answers, err := form.Fill(stores.Value{}, nil)
	if err != nil {
		return nil
	}
	in := forms.In{Now: f.now, Language: f.lang}
	for k := range form.Questions {
		q := &form.Questions[k]
		name := p.Name + "." + q.Field
		text, ok := strings.TrimSpace(f.values.Get(name)), true
		if q.Kind == forms.Date || q.Kind == forms.Birth {
			text, ok = f.date(name)
		}
		if !ok {
			continue
		}
		said := f.answer(q, text)
		if text == "" {
			if said = f.before.Given(q.Field); !q.Sensitive || said.IsNull() {
				continue
			}
		}
		next, wrong := answers.Answer(q.Field, said, in)
		if wrong != nil {
			f.wrong[name] = wrong.Says
			continue
		}
		answers = next
	}
	if strings.TrimSpace(answers.Object().Text()) == "{}" && !p.Required && !f.wrongIn(p.Name+".") {
		return nil // it is left out
	}
	for _, q := range answers.Questions() {
		if name := p.Name + "." + q.Field; !q.Optional && f.wrong[name] == "" && !strings.Contains(answers.Object().Text(), strconv.Quote(q.Field)+":") {
			f.wrong[name] = f.say("pages/needed")
		}
	}
	var object map[string]any
	d := json.NewDecoder(strings.NewReader(answers.Object().Text()))
	d.UseNumber()
	if d.Decode(&object) != nil || len(object) == 0 && !p.Required {
		return nil
	}
	return object
}

// wrongIn reports whether a field whose name has a prefix is wrong.
func (f *filledForm) wrongIn(prefix string) bool {
	for name := range f.wrong {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

func (f *filledForm) answer(q *forms.Question, text string) stores.Value {
	if q.Kind == forms.YesNo {
		return stores.NewBool(text == "true")
	}
	return stores.NewString(text)
}

// misfits sorts diagnostics to the fields that they are about; those about no field go under "".
func (f *filledForm) misfits(script *dsl.Script, ds dsl.Diagnostics) {
	for i := range ds {
		if ds[i].Severity != dsl.Error {
			continue
		}
		name, call := f.about(script, &ds[i])
		file, files := f.file()
		if name == file && call < len(files) {
			// This file cannot be sent; the others stay.
			f.refused[files[call]] = true
		}
		if f.wrong[name] == "" {
			f.wrong[name] = f.tell.Refused(ds[i : i+1])
		}
		f.instead = append(f.instead, symbols().FindAllString(ds[i].Summary, -1)...)
	}
}

// about returns the field that a diagnostic is about, and the number of the call.
func (f *filledForm) about(script *dsl.Script, d *dsl.Diagnostic) (string, int) {
	for k := range f.verb.Requires {
		if r := &f.verb.Requires[k]; r.Else == d.Summary && r.That != nil {
			name := ""
			r.That.Args(func(i int) {
				if _, fixed := f.fixed[i]; !fixed {
					name = f.verb.Params[i].Name
				}
			})
			if name != "" {
				return name, math.MaxInt
			}
		}
	}
	for call := 0; script != nil && call < len(script.Calls); call++ {
		for _, a := range script.Calls[call].Args {
			if at := d.Place.Range; at.Start >= a.KeyRange.Start && at.End <= a.Value.Range.End && at.End > at.Start {
				if i := slices.IndexFunc(f.verb.Params, func(p verbs.Param) bool { return p.Name == a.Key }); i >= 0 {
					if _, fixed := f.fixed[i]; !fixed {
						return a.Key, call
					}
				}
			}
		}
	}
	return "", math.MaxInt
}

// mistakes lists the messages above the form, in the order of its fields.
func (f *filledForm) mistakes(fields []pages.Field) (all []pages.Mistake) {
	if text := f.wrong[""]; text != "" {
		all = append(all, pages.Mistake{Text: text})
	}
	for _, field := range fields {
		if text := f.wrong[field.Name]; text != "" {
			all = append(all, pages.Mistake{Field: field.ID, Text: field.Label + ": " + text})
		}
	}
	return all
}

// hidden returns the values of the form, to be sent again with an agreement.
func (f *filledForm) hidden() (all []pages.Hidden) {
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range f.values {
			if !yield(name) {
				return
			}
		}
	}) {
		for _, value := range f.values[name] {
			if !slices.Contains([]string{"agreed", "yes", "no", "change", "try"}, name) && value != "" {
				all = append(all, pages.Hidden{Name: name, Value: value})
			}
		}
	}
	return all
}

// fieldSize is the most bytes of one field.
const fieldSize = 64 << 10

// multipart reads a form that may hold a file. It stores a file while reading it, if the field
// takes one, and puts the reference in its place.
func (d *Desk) multipart(takes func(field string) bool) (url.Values, string, error) {
	d.R.Body = io.NopCloser(d.Slowly())
	kind, _, _ := mime.ParseMediaType(d.R.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		if err := d.R.ParseForm(); err != nil {
			return nil, "", server.CutShort(err)
		}
		return d.R.PostForm, "", nil
	}
	parts, err := d.R.MultipartReader()
	if err != nil {
		return nil, "", server.CutShort(err)
	}
	vals, refused := url.Values{}, ""
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return vals, refused, nil
		}
		if err != nil {
			return nil, "", server.CutShort(err)
		}
		name := part.FormName()
		if part.FileName() == "" {
			text, err := io.ReadAll(io.LimitReader(part, fieldSize+1))
			if err != nil {
				return nil, "", server.CutShort(err)
			}
			if len(text) > fieldSize {
				return nil, "", &http.MaxBytesError{Limit: fieldSize}
			}
			if vals.Get(name) == "" {
				vals.Set(name, string(text))
			} else if len(text) > 0 {
				vals.Add(name, string(text))
			}
			continue
		}
		if !d.TakesFiles() || !takes(name) {
			return nil, "", server.BadBody("no file is taken there", "send the form as it was shown")
		}
		u, err := d.Uploads.Receive(d.R.Context(), d.Session, part.FileName(), part)
		switch p := server.ProblemOf(err); {
		case err != nil && u.ID == "" && p.Status < 500:
			refused = pages.Sentence(strings.TrimSuffix(p.Title, ".")) + ". " + pages.Sentence(p.Next)
		case err != nil && u.ID == "":
			return nil, "", err
		default:
			if vals.Get(name) == "" {
				vals.Del(name)
			}
			vals.Add(name, u.Reference())
		}
	}
}

// answeredBefore fills the fields of a question with the earlier answer.
func (s *step) answeredBefore(q *forms.Question, text string, vals url.Values) {
	switch q.Kind {
	case forms.Date, forms.Birth:
		found, _ := values.Find(text, values.In{Now: s.Clock(), Languages: []values.Language{s.lang}})
		if len(found) != 1 {
			return
		}
		if day := strings.Split(found[0].Text(), "-"); len(day) == 3 {
			vals.Set("value-year", day[0])
			vals.Set("value-month", strings.TrimLeft(day[1], "0"))
			vals.Set("value-day", strings.TrimLeft(day[2], "0"))
		}
	case forms.Choice:
		for _, o := range q.Choices {
			if strings.EqualFold(o.Label, text) {
				vals.Set("value", o.Code)
			}
		}
	case forms.YesNo:
		vals.Set("value", strconv.FormatBool(strings.EqualFold(text, values.Key("dialog/yes").In(s.lang))))
	}
}
