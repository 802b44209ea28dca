package dialog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/runtime/conversation/values"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Answers without a model, made only of findings and results. They also replace a model's sentence
// that states something else.

// maxTold is how many rows of an answer are listed.
const maxTold = 20

// told words what was done and found.
func (w wording) told(done []*receipt.Receipt) string {
	var parts []string
	for _, p := range done {
		for i := range p.Calls {
			if text := w.tellsCall(&p.Calls[i]); text != "" {
				parts = append(parts, text)
			}
		}
	}
	return strings.Join(parts, "\n")
}

// tellsCall words one call: in the sentences of its palette, or field by field.
func (w wording) tellsCall(c *receipt.Call) string {
	text := strings.TrimRight(w.call(c), "\n")
	if text == "" {
		text = w.wholly(func(w wording) string { return w.plainly(c) })
	}
	if c.Result == nil {
		return text
	}
	if f := c.Result.File; f != nil && f.Reference != "" {
		text = strings.TrimLeft(text+"\n"+w.say(sayFile, escaped(f.Name), f.Says, f.Reference), "\n")
	}
	if len(c.Result.Left) > 0 {
		text = strings.TrimLeft(text+"\n"+w.say(sayNotAll), "\n")
	}
	if c.Result.Found != "" {
		text = strings.TrimLeft(text+"\n"+w.say(sayByWords), "\n")
	}
	return text
}

func (w wording) plainly(c *receipt.Call) string {
	var b strings.Builder
	if acted(c) {
		b.WriteString(w.say(sayDid, w.does(w.reg.Verb(c.Verb))) + "\n" + w.changes(c, false))
	}
	if r := c.Result; r != nil && !w.undoes(c) && (r.File == nil || r.From != "") && (len(c.Rows) == 0 || len(r.Rows) > 0 && !onlyReferences(r)) {
		if len(r.Rows) == 0 {
			b.WriteString(w.say(sayNoneFound, w.sought(c)) + "\n")
		} else {
			b.WriteString(w.result(r))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// undoes reports whether a call takes another back. Its result is then what could not be undone.
func (w wording) undoes(c *receipt.Call) bool {
	v := w.reg.Verb(c.Verb)
	return v != nil && v.Undoes != nil
}

// onlyReferences reports whether a result holds only references to rows that were told already.
func onlyReferences(r *receipt.Result) bool {
	for _, row := range r.Rows {
		for _, v := range row {
			if !v.IsNull() && !strings.HasPrefix(plain(v), "@") {
				return false
			}
		}
	}
	return true
}

// verbWords returns a verb's description as a phrase.
func verbWords(v *verbs.Verb) string {
	says := oneLine(v.Description)
	if i := strings.Index(says, ". "); i > 0 {
		says = says[:i]
	}
	says = strings.TrimSuffix(says, ".")
	if says == "" {
		return v.Name
	}
	return strings.ToLower(says[:1]) + says[1:]
}

// does says what a verb does: in English by its description, in another language by its
// translation, or by a phrase that asks for it.
func (w wording) does(v *verbs.Verb) string {
	if v.Undoes != nil {
		return w.say(sayTakesBack, w.does(v.Undoes))
	}
	if w.tongue == values.English {
		return verbWords(v)
	}
	if said, ok := w.reg.Says(w.language, v.Description); ok {
		return strings.TrimSuffix(oneLine(said), ".")
	}
	for _, p := range v.PhrasesIn[w.language] {
		if !strings.Contains(p, "{") {
			return w.say(sayQuoted, p)
		}
	}
	*w.lacks = true
	return verbWords(v)
}

// changes words changes of rows, and notices.
func (w wording) changes(c *receipt.Call, ahead bool) string {
	var b strings.Builder
	for i := range c.Rows {
		r := &c.Rows[i]
		what := w.titled(r)
		switch r.Op {
		case receipt.Inserted:
			what = w.say(sayNew, w.label(r.Entity), what)
		case receipt.Deleted:
			if ahead {
				what = w.say(sayDeletes, w.label(r.Entity), what)
			} else {
				what = w.say(sayDeleted, w.label(r.Entity), what)
			}
		}
		var fields []string
		var files []receipt.File
		for _, f := range r.Fields {
			if r.Op == receipt.Deleted || f.From == "now" {
				continue
			}
			if f.File != nil {
				// A row may hold a file twice: as a reference, and as content.
				if !slices.Contains(files, *f.File) {
					files = append(files, *f.File)
					fields = append(fields, w.say(sayBecomes, w.label(f.Name), w.fileWords(f.File)))
				}
				continue
			}
			if n, ok := entries(f.After.Shown()); ok && n == 0 && r.Op == receipt.Inserted {
				continue // a new row begins with nothing in it
			}
			name := w.label(f.Name)
			switch {
			case f.Sensitive && ahead && w.mark != nil && w.mark(c, strings.TrimPrefix(f.From, ":")) != "":
				fields = append(fields, w.say(sayBecomes, name, w.mark(c, strings.TrimPrefix(f.From, ":"))))
			case f.Sensitive:
				fields = append(fields, w.say(sayIsSet, name))
			case r.Op == receipt.Updated && ahead && !f.Before.IsNull():
				fields = append(fields, w.say(sayFromTo, name, w.value(f.Before.Shown()), w.value(f.After.Shown())))
			default:
				fields = append(fields, w.say(sayBecomes, name, w.value(f.After.Shown())))
			}
			if o := verbs.Stored(f.Origin); foreign(o) {
				fields[len(fields)-1] += w.say(sayFrom, w.source(o))
			}
		}
		b.WriteString("- " + what)
		if len(fields) > 0 {
			b.WriteString(w.say(sayColon) + strings.Join(fields, w.say(sayAlso)))
		}
		b.WriteString(".\n")
	}
	for _, n := range c.Notices {
		says := sayTells
		switch {
		case n.Kind == "notify" && !ahead:
			says = sayTold
		case n.Kind != "notify" && ahead:
			says = sayStarts
		case n.Kind != "notify":
			says = sayStarted
		}
		if says == sayStarts && !n.At.IsNull() {
			b.WriteString("- " + w.say(sayStartsAt, w.label(n.Target), w.value(n.At)) + "\n")
			continue
		}
		b.WriteString("- " + w.say(says, w.label(n.Target)) + "\n")
	}
	for i := range c.Session {
		s := &c.Session[i]
		value := w.value(s.After.Shown())
		if s.Sensitive {
			value = w.say(saySecret)
		}
		b.WriteString("- " + w.say(sayOfTalk, sentenceCase(w.label(s.Name)), value) + "\n")
	}
	for i := range c.External {
		e := &c.External[i]
		var sent []string
		for _, s := range e.Sent {
			value := w.value(s.Value)
			if s.Sensitive {
				value = w.say(sayNotShown)
			}
			if o := verbs.Stored(s.Origin); foreign(o) || o.Kinds()&verbs.FromModel != 0 {
				value += w.say(sayFrom, w.source(o))
			}
			sent = append(sent, w.say(sayBecomes, w.label(s.Key), value))
		}
		asks := sayAsksTool
		if e.Local {
			asks = sayAsksHere
		}
		if e.Answered.IsNull() {
			b.WriteString("- " + w.say(asks, e.Name, e.Server))
		} else {
			b.WriteString("- " + w.say(sayNotAsked, e.Name, e.Server, w.value(e.Answered)))
		}
		if len(sent) > 0 {
			b.WriteString(w.say(sayAndSends, strings.Join(sent, w.say(sayAlso))))
		}
		for _, f := range e.Then {
			what := []string{w.label(f.What)}
			for _, field := range f.Fields {
				what = append(what, w.label(field))
			}
			b.WriteString(w.say(sayThenKeeps, strings.Join(what, w.say(sayAlso))))
		}
		b.WriteString(".\n")
	}
	if w.undoes(c) && c.Result != nil {
		for _, row := range c.Result.Rows {
			b.WriteString("- " + w.say(sayStays, escaped(row[0].Text())) + "\n")
		}
	}
	return b.String()
}

// fileWords names a file as a person knows it.
func (w wording) fileWords(f *receipt.File) string {
	return escaped(oneLine(f.Name)) + ", " + f.Says
}

// escaped makes invisible characters visible, so that a value is shown exactly as it will be
// stored.
func escaped(text string) string {
	text = strings.ReplaceAll(text, "\n", " ↵ ")
	if strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return text
	}
	quoted := strconv.Quote(text)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
}

func sentenceCase(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// titled returns the label of a row.
func (w wording) titled(r *receipt.Row) string {
	if r.Label != "" {
		if w.tongue == values.English {
			return escaped(r.Label)
		}
		return w.asWords(escaped(r.Label))
	}
	return r.Name
}

func fieldWords(name string) string {
	return strings.NewReplacer("_", " ", "-", " ").Replace(name)
}

// value words a value: a date with its weekday, a text in quotation marks, a row by its name.
func (w wording) value(v stores.Value) string {
	switch v.Kind() {
	case stores.Null:
		return w.say(sayNone)
	case stores.Date:
		return w.day(v)
	case stores.Bool:
		if v.Bool() {
			return w.say(sayYes)
		}
		return w.say(sayNo)
	case stores.Time:
		return values.SayDate(stores.DateOf(v.Time().In(w.zone)), w.tongue) + " " + w.hour(v.Time())
	case stores.Duration:
		return values.SayDuration(v.Duration(), w.tongue)
	case stores.JSON:
		text := w.list(v)
		switch n, ok := entries(v); {
		case ok && n == 0:
			return w.say(sayNone)
		case ok && len(text) > longList:
			return w.say(sayEntries, strconv.Itoa(n))
		}
		return text
	case stores.String:
		t := v.Text()
		switch {
		case strings.HasPrefix(t, "@"):
			return w.row(&receipt.Call{}, t[1:])
		case isCodeWord(t) && w.tongue != values.English:
			return w.asWords(t)
		case isCodeWord(t):
			return t
		}
		return w.say(sayQuoted, escaped(t))
	}
	return escaped(v.Text())
}

func isCodeWord(t string) bool { return t != "" && codeOnly().MatchString(t) }

// sought says what a call looked for: what its verb does, and with which values.
func (w wording) sought(c *receipt.Call) string {
	v := w.reg.Verb(c.Verb)
	of, said := w.does(v), w.args(c)
	var values []string
	for i := range v.Params {
		if text := said[v.Params[i].Name]; text != "" {
			values = append(values, text)
		}
	}
	if len(values) > 0 {
		of += " (" + strings.Join(values, ", ") + ")"
	}
	return of
}

// result words what was found.
func (w wording) result(r *receipt.Result) string {
	var b strings.Builder
	for i, row := range r.Rows {
		if i == maxTold {
			b.WriteString(w.say(sayAndMore, strconv.Itoa(len(r.Rows)-maxTold)) + "\n")
			break
		}
		var fields []string
		for j, v := range row {
			if v.IsNull() || v.Kind() == stores.JSON && v.Text() == "[]" {
				continue
			}
			name := w.label(r.Columns[j])
			if strings.HasPrefix(v.Text(), "@") {
				name = strings.TrimSuffix(name, " id") // it is called by its name
			}
			if r.Withheld(j) {
				fields = append(fields, name+" "+w.say(sayNotHere))
				continue
			}
			text := w.value(v)
			if v.Kind() == stores.String && !strings.HasPrefix(v.Text(), "@") {
				if text = escaped(oneLine(v.Text())); w.tongue != values.English {
					text = w.words(v)
				}
			} else if v.Kind() == stores.JSON {
				text = w.list(v)
			}
			if o := verbs.Stored(r.Origin(i, j)); foreign(o) {
				text += w.say(sayFrom, w.source(o))
			}
			fields = append(fields, w.say(sayIs, name, text))
		}
		// A row with many fields is easier to follow line by line.
		begin, between, end := "", w.say(sayAlso), ".\n"
		if len(fields) > fewFields {
			between, end = "\n", "\n"
		}
		if len(r.Rows) > 1 {
			begin = fmt.Sprintf("%d. ", i+1)
			if between == "\n" {
				between = "\n   "
			}
		}
		b.WriteString(strings.TrimSuffix(begin+strings.Join(fields, between), ".") + end)
	}
	return b.String()
}

// fewFields is how many fields of a row fit on one line.
const fewFields = 4

// longList is the longest list, in bytes, whose items are told among other changes; of a longer one
// the number of items is told.
const longList = 400

// entries counts the items of a list.
func entries(v stores.Value) (int, bool) {
	if v.Kind() != stores.JSON {
		return 0, false
	}
	var all []json.RawMessage
	err := json.Unmarshal([]byte(v.Text()), &all)
	return len(all), err == nil
}

// list words the items of a list, each by its name if it has one, and the fields of an object.
func (w wording) list(v stores.Value) string {
	d := json.NewDecoder(strings.NewReader(v.Text()))
	d.UseNumber()
	text, ok := w.item(d, true)
	if !ok {
		return escaped(v.Text())
	}
	return text
}

// item words the next value of a document: a list, an amount with its currency, another object, or a
// value that holds no others. Within another, an object stands in brackets, unless it has a name.
func (w wording) item(d *json.Decoder, whole bool) (string, bool) {
	t, err := d.Token()
	if err != nil {
		return "", false
	}
	if t == json.Delim('[') {
		var items []string
		for d.More() {
			item, ok := w.item(d, true)
			if !ok {
				return "", false
			}
			items = append(items, item)
		}
		_, err := d.Token()
		// Items that contain commas are divided by semicolons.
		between := ", "
		if slices.ContainsFunc(items, func(item string) bool { return strings.Contains(item, ", ") }) {
			between = w.say(sayAlso)
		}
		text := strings.Join(items, between)
		if !whole && len(items) > 1 {
			text = "(" + text + ")"
		}
		return text, err == nil
	}
	if t != json.Delim('{') {
		return w.scalar(t)
	}
	var parts []string
	var amount, currency, name string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return "", false
		}
		var of json.RawMessage
		if d.Decode(&of) != nil {
			return "", false
		}
		inner := json.NewDecoder(bytes.NewReader(of))
		inner.UseNumber()
		text, ok := w.item(inner, false)
		switch {
		case !ok:
			return "", false
		case string(of) == "null":
			continue
		case key == "amount":
			amount = string(of)
		case key == "currency":
			currency = text
		case key == "name":
			name = text
			continue
		}
		parts = append(parts, w.say(sayBecomes, w.label(fmt.Sprint(key)), text))
	}
	if n, ok := stores.ParseDecimal(amount); ok && len(parts) == 2 && isCodeWord(currency) && name == "" {
		parts = []string{values.SayMoney(n, currency, w.tongue)}
		whole = true
	}
	if name != "" {
		parts, whole = slices.Insert(parts, 0, name), true
	}
	text := strings.Join(parts, ", ")
	if !whole {
		text = "(" + text + ")"
	}
	_, err = d.Token()
	return text, err == nil
}

// scalar words a value that holds no others.
func (w wording) scalar(t json.Token) (string, bool) {
	switch t := t.(type) {
	case string:
		if day, ok := stores.ParseDate(t); ok {
			return w.day(day), true
		}
		return escaped(oneLine(t)), true
	case json.Number:
		return t.String(), true
	case bool:
		if t {
			return w.say(sayYes), true
		}
		return w.say(sayNo), true
	case nil:
		return w.say(sayNone), true
	}
	return "", false
}
