package dialog

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Wording the outcome of calls by a palette's `tells`. What it does not word is told field by
// field.

// A wording tells things in the palettes' words and in one language.
type wording struct {
	language string          // as palettes write it
	tongue   values.Language // as the house speaks it
	reg      *verbs.Registry
	zone     *time.Location // of the person
	refers   bool           // see Options.Referring
	// lacks is set if something has no words in the language.
	lacks *bool
	// called returns the session's name for a row.
	called func(name string) string
	// mark stands for a sensitive argument in a question to the person who said it.
	mark func(c *receipt.Call, param string) string
	// file describes an upload that the person sent; nil for any other text.
	file func(reference string) *receipt.File
}

func newWording(reg *verbs.Registry) wording {
	w := wording{language: values.English.String(), reg: reg, zone: time.UTC, lacks: new(bool)}
	return w
}

// in returns the wording in a language, such as "de" or "de-AT".
func (w wording) in(tag string) wording {
	w.language, _, _ = strings.Cut(strings.ReplaceAll(strings.ToLower(tag), "_", "-"), "-")
	w.tongue, _ = values.ParseLanguage(w.language) // English if the engine does not have the language
	return w
}

// say returns a sentence of the engine.
func (w wording) say(s values.Key, of ...string) string { return s.In(w.tongue, of...) }

// day writes a date in full: "Friday 3 January 2025".
func (w wording) day(v stores.Value) string { return values.SayDay(v, w.tongue) }

// wholly makes a text in the language, or all of it in English if a part has no words in that
// language, so that no sentence mixes two.
func (w wording) wholly(text func(w wording) string) string {
	w.lacks = new(bool)
	said := text(w)
	if *w.lacks {
		return text(w.in(values.English.String()))
	}
	return said
}

// label returns the name of a field, an entity or another thing of a palette.
func (w wording) label(name string) string {
	said, ok := w.reg.Says(w.language, name)
	if !ok {
		said, ok = w.reg.Says(w.language, strings.ReplaceAll(name, "-", "_"))
	}
	if !ok {
		if w.tongue != values.English {
			*w.lacks = true
		}
		return fieldWords(name)
	}
	return said
}

// call words a call as far as its palette has sentences for the outcome.
func (w wording) call(c *receipt.Call) string {
	t, language := &w.reg.Verb(c.Verb).Tells, w.language
	said := w.args(c)
	result := c.Result
	if acted(c) {
		done := t.Done.In(language)
		switch each := t.Each.In(language); {
		case done == nil && each != nil && result != nil:
			// Its result says what it did.
			var b strings.Builder
			for i := range result.Rows {
				b.WriteString(each.Say(toldRow{w, c, said, i}) + "\n")
			}
			return b.String()
		case done == nil:
			return ""
		}
		row := -1
		if result != nil && len(result.Rows) == 1 {
			row = 0
		}
		return done.Say(toldRow{w, c, said, row}) + "\n"
	}
	if result == nil {
		return ""
	}
	if len(result.Rows) == 0 {
		if none := t.None.In(language); none != nil {
			return none.Say(toldRow{w, c, said, -1}) + "\n"
		}
		return ""
	}
	if lines := t.Lines.In(language); lines != nil {
		var b strings.Builder
		for i := range result.Rows {
			if line := lines.Say(toldLine{toldRow{w, c, said, i}}); line != "" {
				b.WriteString(line + "\n")
			}
		}
		return b.String()
	}
	each := t.Each.In(language)
	if each == nil {
		return ""
	}
	var b strings.Builder
	first := t.First.In(language)
	if one := t.One.In(language); one != nil && len(result.Rows) == 1 {
		first = one
	}
	if first != nil {
		said["count"] = strconv.Itoa(len(result.Rows))
		b.WriteString(first.Say(toldRow{w, c, said, -1}) + "\n")
	}
	for i := range result.Rows {
		if i == maxTold {
			b.WriteString(w.say(sayAndMore, strconv.Itoa(len(result.Rows)-maxTold)) + "\n")
			break
		}
		begin := ""
		if len(result.Rows) > 1 {
			begin = strconv.Itoa(i+1) + ". "
		}
		b.WriteString(begin + each.Say(toldRow{w, c, said, i}) + "\n")
	}
	return b.String()
}

// A toldRow provides the values of a sentence: of a result row, if it is about one, and of the
// arguments.
type toldRow struct {
	w    wording
	call *receipt.Call
	said map[string]string
	row  int
}

func (t toldRow) column(name string) (stores.Value, int, bool) {
	if r := t.call.Result; r != nil && t.row >= 0 {
		if j := slices.Index(r.Columns, name); j >= 0 {
			return r.Rows[t.row][j], j, true
		}
	}
	return stores.Value{}, 0, false
}

// Value is "" for nil, false and an empty list.
func (t toldRow) Value(name string) string {
	v, j, ok := t.column(name)
	if !ok {
		return t.said[name]
	}
	if t.call.Result.Withheld(j) {
		return t.w.say(sayNotHere)
	}
	text := t.w.words(v)
	if o := verbs.Stored(t.call.Result.Origin(t.row, j)); text != "" && foreign(o) && !t.w.ours(v) {
		text += t.w.say(sayFrom, t.w.source(o))
	}
	return text
}

// ours reports whether a value is the name of a row or a code: such a value holds no words of
// people.
func (w wording) ours(v stores.Value) bool {
	return strings.HasPrefix(plain(v), "@") || slices.ContainsFunc(w.reg.CodeLists(), func(l *verbs.CodeList) bool {
		return slices.ContainsFunc(l.Codes, func(c verbs.Code) bool { return c.Name == plain(v) })
	})
}

// A toldLine is a row whose text already names its source.
type toldLine struct{ toldRow }

func (t toldLine) Value(name string) string {
	v, j, ok := t.column(name)
	if !ok || t.call.Result.Withheld(j) {
		return t.toldRow.Value(name)
	}
	return t.w.words(v)
}

func (t toldRow) Items(name string) (all []verbs.Told) {
	v, j, ok := t.column(name)
	if !ok || t.call.Result.Withheld(j) {
		return nil
	}
	var items []map[string]any
	d := json.NewDecoder(strings.NewReader(v.Text()))
	d.UseNumber()
	if d.Decode(&items) != nil {
		return nil
	}
	for _, item := range items {
		all = append(all, toldItem{t.w, item})
	}
	return all
}

// A toldItem is an item of a list.
type toldItem struct {
	w  wording
	of map[string]any
}

func (t toldItem) Value(name string) string {
	if is, ok := t.of[name].(bool); ok && !is {
		return ""
	}
	text, ok := t.w.scalar(t.of[name])
	if !ok || t.of[name] == nil {
		return ""
	}
	if said, ok := t.w.reg.Says(t.w.language, text); ok {
		return said
	}
	return t.w.asWords(text)
}

func (toldItem) Items(string) []verbs.Told { return nil }

// words writes a value inside a sentence.
func (w wording) words(v stores.Value) string {
	switch v.Kind() {
	case stores.Null:
		return ""
	case stores.Bool:
		if !v.Bool() {
			return ""
		}
	case stores.JSON:
		if n, ok := entries(v); ok && n == 0 {
			return ""
		}
		return w.asWords(w.list(v))
	case stores.String:
		if said, ok := w.reg.Says(w.language, v.Text()); ok {
			return said
		}
		return w.asWords(oneSpoken(v.Text()))
	}
	return w.value(v)
}

// oneSpoken writes a text on one line, with invisible characters made visible. The narrow spaces of
// French stay.
func oneSpoken(s string) string {
	var b strings.Builder
	for {
		at := strings.IndexAny(s, "\u00a0\u202f")
		if at < 0 {
			return b.String() + escaped(oneLine(s))
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		b.WriteString(escaped(oneLine(s[:at])) + s[at:at+size])
		s = s[at+size:]
	}
}

// asWords writes codes as words: SOURCE_OF_WEALTH as source of wealth.
func (w wording) asWords(text string) string { return Worded(w.reg, w.tongue, text) }

// Worded replaces the codes in a text by their words in a language.
func Worded(reg *verbs.Registry, l values.Language, text string) string {
	return capitals.ReplaceAllStringFunc(text, func(code string) string {
		if !slices.ContainsFunc(reg.CodeLists(), func(c *verbs.CodeList) bool {
			return slices.ContainsFunc(c.Codes, func(c verbs.Code) bool { return c.Name == code })
		}) {
			return code
		}
		if said, ok := reg.Says(l.String(), code); ok {
			return said
		}
		return strings.ToLower(strings.ReplaceAll(code, "_", " "))
	})
}

var capitals = regexp.MustCompile(`\b[A-Z][A-Z0-9_]+\b`)

// args words the arguments of a call; a row is told by its label if the call mentions it.
func (w wording) args(c *receipt.Call) map[string]string {
	said := map[string]string{}
	script, ds := dsl.Parse(dsl.NewSource("call", c.Text))
	if ds.HasErrors() || len(script.Calls) != 1 {
		return said
	}
	for _, a := range script.Calls[0].Args {
		said[a.Key] = w.arg(c, w.typeOf(c, a.Key), &a.Value)
	}
	if v := w.reg.Verb(c.Verb); v != nil {
		for i := range v.Params {
			if name := v.Params[i].Name; v.Params[i].Sensitive && said[name] != "" {
				said[name] = ""
				if w.mark != nil {
					said[name] = w.mark(c, name)
				}
			}
		}
	}
	for _, f := range c.Filled {
		if _, ok := said[f.Param]; !ok {
			said[f.Param] = w.asWords(escaped(f.Label))
		}
	}
	return said
}

// arg words an argument; "" for nil, false and an empty list.
func (w wording) arg(c *receipt.Call, t *verbs.Type, v *dsl.Value) string {
	switch v.Kind {
	case dsl.Bool:
		if v.Text != "true" {
			return ""
		}
	case dsl.List:
		if len(v.Items()) == 0 {
			return ""
		}
	case dsl.Map:
		if len(v.Entries()) == 0 {
			return ""
		}
	case dsl.Nil:
		return ""
	}
	return w.given(c, t, v)
}

// given words an argument as a person writes it, of whatever kind it is: an amount with its currency,
// a day with its weekday, a list item by item, an object field by field. t is its type, nil where it
// has none of its own.
func (w wording) given(c *receipt.Call, t *verbs.Type, v *dsl.Value) string {
	switch v.Kind {
	case dsl.Symbol:
		return w.row(c, v.Text)
	case dsl.String:
		if w.file != nil && strings.HasPrefix(v.Text, "upload://") {
			if f := w.file(v.Text); f != nil {
				return w.fileWords(f)
			}
		}
		if t != nil && t.Name == verbs.DurationType {
			if d, ok := verbs.ParseDuration(v.Text); ok {
				return values.SayDuration(d.Duration(), w.tongue)
			}
		}
		return escaped(oneLine(v.Text))
	case dsl.Code:
		return w.asWords(v.Text)
	case dsl.Date:
		if day, ok := stores.ParseDate(v.Text); ok {
			return w.day(day)
		}
	case dsl.DateTime: // to the second it stays as it is written
		if t, ok := stores.ParseTime(v.Text); ok && t.Time().Truncate(time.Minute).Equal(t.Time()) {
			return w.day(stores.DateOf(t.Time().In(w.zone))) + " " + w.hour(t.Time())
		}
	case dsl.Bool:
		return w.value(stores.NewBool(v.Text == "true"))
	case dsl.Nil:
		return w.say(sayNone)
	case dsl.Nested:
		return w.asWords(escaped(dsl.FormatValue(*v)))
	case dsl.List:
		var of *verbs.Type
		if t != nil {
			of = t.Item
		}
		var parts []string
		for i, items := 0, v.Items(); i < len(items); i++ {
			parts = append(parts, w.part(&items[i], w.given(c, of, &items[i])))
		}
		if len(parts) == 0 {
			return w.say(sayNone)
		}
		return strings.Join(parts, ", ")
	case dsl.Map:
		if amount, currency, ok := moneyOf(v); ok {
			return values.SayMoney(amount, currency, w.tongue)
		}
		var parts []string
		for i, entries := 0, v.Entries(); i < len(entries); i++ {
			if e := &entries[i]; e.Value.Kind != dsl.Nil {
				parts = append(parts, w.say(sayIs, w.label(e.Key), w.part(&e.Value, w.given(c, t.Field(e.Key), &e.Value))))
			}
		}
		return "(" + strings.Join(parts, w.say(sayAlso)) + ")"
	}
	return v.Text
}

// part sets a text within a list or an object apart, where it could be taken for more of them.
func (w wording) part(v *dsl.Value, text string) string {
	if v.Kind == dsl.String && strings.ContainsAny(text, ",;:()") {
		return w.say(sayQuoted, text)
	}
	return text
}

// moneyOf reads an amount and its currency.
func moneyOf(v *dsl.Value) (amount stores.Value, currency string, ok bool) {
	entries := v.Entries()
	if len(entries) != 2 {
		return amount, "", false
	}
	for i := range entries {
		switch e := &entries[i]; {
		case e.Key == "amount" && (e.Value.Kind == dsl.Integer || e.Value.Kind == dsl.Decimal):
			amount, ok = stores.ParseDecimal(e.Value.Text)
		case e.Key == "currency" && e.Value.Kind == dsl.Code:
			currency = e.Value.Text
		}
	}
	return amount, currency, ok && currency != ""
}

// typeOf returns the type of a call's argument; nil if its verb has none.
func (w wording) typeOf(c *receipt.Call, param string) *verbs.Type {
	if v := w.reg.Verb(c.Verb); v != nil {
		if i := slices.IndexFunc(v.Params, func(p verbs.Param) bool { return p.Name == param }); i >= 0 {
			return v.Params[i].Type
		}
	}
	return nil
}

// secret words a sensitive argument in a question.
func (w wording) secret(c *receipt.Call, param string) string {
	if w.mark != nil {
		if mark := w.mark(c, param); mark != "" {
			return mark
		}
	}
	return w.say(sayNotShown)
}

// row returns the label of a row. The name may be as records keep it, with the end that tells rows of one
// name apart; nobody is told that end.
func (w wording) row(c *receipt.Call, name string) string {
	plain, end, _ := strings.Cut(name, "~")
	for i := range c.Rows {
		r := &c.Rows[i]
		has, its, _ := strings.Cut(strings.TrimPrefix(r.Name, "@"), "~")
		if has == plain && (strings.HasPrefix(end, its) || strings.HasPrefix(its, end)) && r.Label != "" {
			return w.asWords(escaped(r.Label))
		}
	}
	if w.called != nil {
		if l := w.called(name); l != "" {
			return w.asWords(escaped(l))
		}
	}
	return strings.ReplaceAll(plain, "-", " ") // names are made of what people call it
}

// source names an untrusted origin. The name of a tool that reads documents means nothing to the
// person who is served; explanations for operators, which have no palettes, keep it.
func (w wording) source(o verbs.Origin) string {
	if w.reg != nil {
		o = o.Unnamed(w.reg.HasTool)
	}
	text := o.Words()
	if w.tongue == values.English {
		return text
	}
	text = othersWords.ReplaceAllString(text, sayOthersWords.In(w.tongue))
	for _, s := range originSays {
		text = strings.ReplaceAll(text, s.Text(values.English), s.Text(w.tongue))
	}
	return text
}

// othersWords matches the words of a person with a role, other than the one who is spoken to.
var (
	othersWords               = regexp.MustCompile(`\bthe words of a [\pL\d-]+(?: or [\pL\d-]+)*`)
	sayOthersWords values.Key = "dialog/others-words"
)

// originSays name origins that the catalogue has words for.
var originSays = []values.Key{
	"dialog/origin-a-quoted-message",
	"dialog/origin-a-document",
	"dialog/origin-a-tool",
	"dialog/origin-the-tool",
	"dialog/origin-the-model",
	"dialog/origin-the-script",
	"dialog/origin-a-person",
	"dialog/origin-a-record",
	"dialog/origin-and",
}
