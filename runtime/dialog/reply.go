package dialog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"verbatim/runtime"
	"verbatim/stores"
	"verbatim/verbs"
)

// What a person is told without a model: composed of what was found and done, and
// of nothing else. It is also what is told where a model's own words could not be
// borne out.

// maxTold is how many rows of an answer are told.
const maxTold = 20

// told composes what was done and found.
func (w wording) told(done []*runtime.Preview) string {
	var parts []string
	for _, p := range done {
		for i := range p.Calls {
			text := strings.TrimRight(w.call(&p.Calls[i]), "\n")
			if text == "" {
				text = toldCall(&p.Calls[i])
			}
			if text != "" {
				parts = append(parts, text)
			}
		}
	}
	return strings.Join(parts, "\n")
}

func toldCall(c *runtime.CallPreview) string {
	var b strings.Builder
	if acted(c) {
		b.WriteString("Done: " + verbWords(c.Verb) + ".\n")
		b.WriteString(rowWords(c, false))
	}
	if r := c.Result; r != nil && (len(c.Rows) == 0 || len(r.Rows) > 0 && !onlyReferences(r)) {
		b.WriteString(resultWords(r))
	}
	return strings.TrimRight(b.String(), "\n")
}

// onlyReferences reports whether a result is no more than the rows that were told
// already.
func onlyReferences(r *runtime.Result) bool {
	for _, row := range r.Rows {
		for _, v := range row {
			if !v.IsNull() && !strings.HasPrefix(plain(v), "@") {
				return false
			}
		}
	}
	return true
}

// verbWords is what a verb does, in the words of its palette.
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

// rowWords tells changes of rows, and what is sent.
func rowWords(c *runtime.CallPreview, ahead bool) string {
	var b strings.Builder
	for i := range c.Rows {
		r := &c.Rows[i]
		what := label(r)
		switch r.Op {
		case stores.Insert:
			what = "New " + entityWords(r.Entity) + ": " + what
		case stores.Delete:
			if ahead {
				what = "Deletes " + entityWords(r.Entity) + ": " + what
			} else {
				what = "Deleted " + entityWords(r.Entity) + ": " + what
			}
		}
		var fields []string
		for _, f := range r.Fields {
			if r.Op == stores.Delete || f.From == "now" {
				continue
			}
			if n, ok := entries(f.After); ok && n == 0 && r.Op == stores.Insert {
				continue // a new row begins with nothing in it
			}
			name := fieldWords(f.Field)
			switch {
			case f.Sensitive:
				fields = append(fields, name+" is set")
			case r.Op == stores.Update && ahead && !f.Before.IsNull():
				fields = append(fields, fmt.Sprintf("%s from %s to %s", name, valueWords(f.Before), valueWords(f.After)))
			default:
				fields = append(fields, name+" "+valueWords(f.After))
			}
			if foreign(f.Origin) {
				fields[len(fields)-1] += " (from " + f.Origin.Words() + ")"
			}
		}
		b.WriteString("- " + what)
		if len(fields) > 0 {
			b.WriteString(": " + strings.Join(fields, "; "))
		}
		b.WriteString(".\n")
	}
	for _, n := range c.Notices {
		if ahead {
			fmt.Fprintf(&b, "- It %ss %s.\n", strings.TrimSuffix(presentNotice(n.Kind), "s"), n.Target)
			continue
		}
		fmt.Fprintf(&b, "- %s: %s.\n", sentenceCase(noticeWord(n.Kind)), n.Target)
	}
	for i := range c.Sets {
		s := &c.Sets[i]
		value := valueWords(s.After)
		if s.Sensitive {
			value = "something that is not shown"
		}
		fmt.Fprintf(&b, "- %s of this conversation: %s.\n", sentenceCase(fieldWords(s.Name)), value)
	}
	for i := range c.Errands {
		e := &c.Errands[i]
		var sent []string
		for _, s := range e.Sent {
			value := valueWords(s.Value)
			if s.Sensitive {
				value = "(not shown)"
			}
			sent = append(sent, fieldWords(s.Key)+" "+value)
		}
		fmt.Fprintf(&b, "- It asks the tool %s of %s, outside of this system", e.Name, e.Server)
		if len(sent) > 0 {
			b.WriteString(", and sends " + strings.Join(sent, "; "))
		}
		b.WriteString(".\n")
	}
	return b.String()
}

// escaped writes what nobody sees as what it is, so that a value is shown as it
// will be kept.
func escaped(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return text
	}
	quoted := strconv.Quote(text)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
}

func presentNotice(kind string) string {
	if kind == "notify" {
		return "tells"
	}
	return "starts"
}

func sentenceCase(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func label(r *runtime.RowChange) string {
	if r.Label != "" {
		return escaped(r.Label)
	}
	return r.Name
}

func entityWords(e *verbs.Entity) string { return fieldWords(e.Store.Name) }

func fieldWords(name string) string {
	return strings.NewReplacer("_", " ", "-", " ").Replace(name)
}

// valueWords says a value: a day with its weekday, a text in quotation marks, a
// row by its name.
func valueWords(v stores.Value) string {
	switch v.Kind() {
	case stores.Null:
		return "nothing"
	case stores.Date:
		return dayWords(v.Time())
	case stores.Bool:
		if v.Bool() {
			return "yes"
		}
		return "no"
	case stores.Time:
		return v.Time().UTC().Format("2 January 2006 15:04 UTC")
	case stores.JSON:
		text := listWords(v)
		if n, ok := entries(v); ok && len(text) > longList {
			return fmt.Sprintf("%d entries", n)
		}
		return text
	case stores.String:
		if t := v.Text(); strings.HasPrefix(t, "@") || isCodeWord(t) {
			return t
		}
		return `"` + escaped(v.Text()) + `"`
	}
	return escaped(v.Text())
}

func isCodeWord(t string) bool { return t != "" && codeOnly.MatchString(t) }

func andMore(n int) string { return fmt.Sprintf("And %d more.\n", n) }

// resultWords tells what was found.
func resultWords(r *runtime.Result) string {
	if len(r.Rows) == 0 {
		return "Nothing was found.\n"
	}
	var b strings.Builder
	for i, row := range r.Rows {
		if i == maxTold {
			b.WriteString(andMore(len(r.Rows) - maxTold))
			break
		}
		var fields []string
		for j, v := range row {
			if v.IsNull() || v.Kind() == stores.JSON && v.Text() == "[]" {
				continue
			}
			name := fieldWords(r.Columns[j])
			if strings.HasPrefix(v.Text(), "@") {
				name = strings.TrimSuffix(name, " id") // it is called by its name
			}
			if r.Withheld(j) {
				fields = append(fields, name+" (not shown here)")
				continue
			}
			text := valueWords(v)
			if v.Kind() == stores.String {
				text = escaped(oneLine(v.Text()))
			} else if v.Kind() == stores.JSON {
				text = listWords(v)
			}
			if o := r.Origin(i, j); foreign(o) {
				text += " (from " + o.Words() + ")"
			}
			fields = append(fields, name+": "+text)
		}
		// Much about one thing is easier to listen to line by line.
		begin, between, end := "", "; ", ".\n"
		if len(fields) > fewFields {
			between, end = "\n", "\n"
		}
		if len(r.Rows) > 1 {
			begin = fmt.Sprintf("%d. ", i+1)
			if between == "\n" {
				between = "\n   "
			}
		}
		b.WriteString(begin + strings.Join(fields, between) + end)
	}
	return b.String()
}

// fewFields is how many of a row's fields are told on one line.
const fewFields = 4

// longList is how long a list may be, in bytes, to be told one by one among other
// changes; of a longer one it is told how many it holds.
const longList = 400

// entries counts what a list holds.
func entries(v stores.Value) (int, bool) {
	if v.Kind() != stores.JSON {
		return 0, false
	}
	var all []json.RawMessage
	err := json.Unmarshal([]byte(v.Text()), &all)
	return len(all), err == nil
}

// listWords says what a list holds: one by one, each by its name if it has one,
// and the rest of it besides. Anything that is no list is said as it is.
func listWords(v stores.Value) string {
	d := json.NewDecoder(strings.NewReader(v.Text()))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return escaped(v.Text())
	}
	var items []string
	for d.More() {
		item, ok := itemWords(d)
		if !ok {
			return escaped(v.Text())
		}
		items = append(items, item)
	}
	// Within an item there are commas.
	for _, item := range items {
		if strings.Contains(item, ", ") {
			return strings.Join(items, "; ")
		}
	}
	return strings.Join(items, ", ")
}

// itemWords reads one thing of a list: a value, or an object of values.
func itemWords(d *json.Decoder) (string, bool) {
	t, err := d.Token()
	if err != nil {
		return "", false
	}
	if t != json.Delim('{') {
		return scalarWords(t)
	}
	var parts []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return "", false
		}
		value, err := d.Token()
		if err != nil {
			return "", false
		}
		text, ok := scalarWords(value)
		switch {
		case !ok:
			return "", false
		case value == nil:
		case key == "name":
			parts = slices.Insert(parts, 0, text)
		default:
			parts = append(parts, fieldWords(fmt.Sprint(key))+" "+text)
		}
	}
	_, err = d.Token()
	return strings.Join(parts, ", "), err == nil
}

// scalarWords says a value that holds no others.
func scalarWords(t json.Token) (string, bool) {
	switch t := t.(type) {
	case string:
		if day, ok := stores.ParseDate(t); ok {
			return dayWords(day.Time()), true
		}
		return escaped(oneLine(t)), true
	case json.Number:
		return t.String(), true
	case bool:
		if t {
			return "yes", true
		}
		return "no", true
	case nil:
		return "nothing", true
	}
	return "", false
}
