package dialog

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"time"

	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// The prompt. A template is never changed after use: a recorded conversation names the template
// that it was made with, so a new template gets a new number.

// PromptVersion is the name of the template.
const PromptVersion = "system.v4"

//go:embed prompts/system.v4.tmpl
var promptText string

// PromptText returns the template. Its digest distinguishes drafts of one version.
func PromptText() string { return promptText }

var systemPrompt = template.Must(template.New(PromptVersion).Parse(promptText))

// A Mode is how a model writes calls.
type Mode string

// The modes.
const (
	Tools   Mode = "tools"   // it asks for functions, one for each verb
	Grammar Mode = "grammar" // the endpoint holds it to a grammar
	Text    Mode = "text"    // calls stand in a fenced block
)

// Limits of lists in a prompt.
const (
	maxVerbs = 20     // the shortlist, at first
	maxTools = 12_000 // bytes of their functions, at first
	maxNames = 40     // of each entity
	maxRows  = 40     // of each answer
	maxCell  = 2000
)

// A brief is the data of the template.
type brief struct {
	Person, Today string
	Mode          Mode
	PlanFirst     bool
	Phrased       bool // it may add sentences of its own
	Steps         int
	Conduct       []string
	Verbs         []verbBrief
	More          int
	Codes         []listBrief
}

type verbBrief struct {
	Call, Says string
	Asks       bool
}

type listBrief struct{ Name, List string }

// system writes the rules and the available verbs.
func (b *brief) system() (string, error) {
	var out strings.Builder
	if err := systemPrompt.Execute(&out, b); err != nil {
		return "", err
	}
	return strings.TrimSpace(out.String()) + "\n", nil
}

// digest describes verbs as far as a model needs to call them. It returns the entities whose rows
// they name.
func (b *brief) digest(list []*verbs.Verb) (entities []*verbs.Entity) {
	var codes []*verbs.CodeList
	var note func(of *verbs.Type)
	note = func(of *verbs.Type) {
		for of.Name == verbs.ListType && of.Item != nil {
			of = of.Item
		}
		switch {
		case of.Name == verbs.CodeType && of.Codes != nil && !slices.Contains(codes, of.Codes):
			codes = append(codes, of.Codes)
		case of.Name == verbs.RefType && of.Entity != nil && !slices.Contains(entities, of.Entity):
			entities = append(entities, of.Entity)
		}
		for i := range of.Fields {
			note(of.Fields[i].Type)
		}
	}
	for _, v := range list {
		call := v.Name
		for i := range v.Params {
			p := &v.Params[i]
			word := typeWord(p.Type)
			note(p.Type)
			arg := ":" + p.Name + " " + word
			if !p.Required {
				arg = "[" + arg + "]"
			}
			call += " " + arg
		}
		b.Verbs = append(b.Verbs, verbBrief{Call: call, Says: oneLine(v.Description), Asks: len(v.Confirm) > 0})
	}
	for _, list := range codes {
		words := make([]string, len(list.Codes))
		for i, c := range list.Codes {
			words[i] = c.Name
			if c.Description != "" {
				words[i] += " (" + oneLine(c.Description) + ")"
			}
		}
		if b.Mode != Tools || slices.ContainsFunc(list.Codes, func(c verbs.Code) bool { return c.Description != "" }) { // tools list them
			b.Codes = append(b.Codes, listBrief{list.Name, strings.Join(words, ", ")})
		}
	}
	return entities
}

// listed returns the names of an entity's rows. Rows that accept no more calls stand apart, so that
// the model knows why none is offered.
func (t *turn) listed(e *verbs.Entity) string {
	if len(t.names[e]) == 0 {
		return "none that " + t.c.o.Person + " may see"
	}
	var open, settled []string
	for _, name := range t.offered(e) {
		if t.isOver(e, name) {
			settled = append(settled, "@"+name)
		} else {
			open = append(open, "@"+name)
		}
	}
	text := strings.Join(open, ", ")
	if len(settled) > 0 {
		text = strings.TrimPrefix(text+"; settled: ", "; ") + strings.Join(settled, ", ")
	}
	if n := len(t.names[e]) - maxNames; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}

// likely returns the names of which a text contains most words, in order.
func likely(names []string, said string, most int) []string {
	if len(names) <= most {
		return names
	}
	words := wordsOf(said)
	sorted := slices.Clone(names)
	slices.SortStableFunc(sorted, func(a, b string) int { return hits(words, b) - hits(words, a) })
	sorted = sorted[:most]
	slices.Sort(sorted)
	return sorted
}

// typeWord says how a value of a type is written.
func typeWord(t *verbs.Type) string {
	switch t.Name {
	case verbs.CodeType:
		if t.Codes != nil {
			return t.Codes.Name
		}
		return "CODE"
	case verbs.RefType:
		if t.Entity != nil {
			return "@" + t.Entity.Store.Name
		}
		return "@name"
	case verbs.ListType:
		if t.Item != nil {
			return "[" + typeWord(t.Item) + " …]"
		}
		return "[…]"
	case verbs.RecordType:
		var parts []string
		for i := range t.Fields {
			part := ":" + t.Fields[i].Name + " " + typeWord(t.Fields[i].Type)
			if !t.Fields[i].Required {
				part = "[" + part + "]"
			}
			parts = append(parts, part)
		}
		return "{" + strings.Join(parts, " ") + "}"
	case verbs.ObjectType:
		return "{:key value …}"
	case verbs.CallType:
		return "(verb :argument value)"
	case verbs.MoneyType:
		return (&verbs.Param{Type: t}).Example()
	case verbs.DateType:
		return "date"
	case verbs.BooleanType:
		return "true|false"
	case verbs.IntegerType, verbs.DecimalType:
		return "number"
	case verbs.DateTimeType:
		return "2025-01-03T10:00:00Z"
	}
	return `"text"`
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// behindBar marks every line of untrusted text, so that nothing in it can end the mark.
func behindBar(text string) string {
	return "| " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n| ")
}

// foreign reports whether a value comes from a document or a tool.
func foreign(o verbs.Origin) bool { return o.Kinds()&(verbs.FromTool|verbs.FromDocument) != 0 }

// stood says which rows stand for arguments that were left out, if others were possible.
func stood(filled []receipt.Filled) string {
	var b strings.Builder
	for _, f := range filled {
		switch f.Stand {
		case receipt.AtWork:
			fmt.Fprintf(&b, "of %s (%s), which they are at work on; ", f.Name, f.Label)
		case receipt.FirstOfThese:
			fmt.Fprintf(&b, "of %s (%s), the first of %d that they see; say so, and that there are others; ", f.Name, f.Label, f.Of)
		}
	}
	return b.String()
}

// shown writes a result for a model: no keys, no sensitive values, and untrusted values behind a
// bar, or left out. Of a row that was in an earlier result, which begins with the same value, it writes
// what is different.
func shown(call string, r, was *receipt.Result, strangers bool) string {
	var b strings.Builder
	switch n := len(r.Rows); {
	case n == 0:
		fmt.Fprintf(&b, "%s answered: nothing was found.\n", call)
		return b.String()
	case n == 1:
		fmt.Fprintf(&b, "%s answered:\n", call)
	default:
		fmt.Fprintf(&b, "%s answered %d rows:\n", call, n)
	}
	for i, row := range r.Rows {
		if i == maxRows {
			fmt.Fprintf(&b, "and %d more rows; ask for fewer to see them\n", len(r.Rows)-maxRows)
			break
		}
		before, same := alikeIn(was, r, i), false
		var fields []string
		var others []string
		for j, v := range row {
			if before >= 0 && j > 0 && plain(v) == plain(was.Rows[before][j]) && r.Origin(i, j) == was.Origin(before, j) {
				same = same || !isEmpty(v)
				continue
			}
			name := r.Columns[j]
			switch o := verbs.Stored(r.Origin(i, j)); {
			case isEmpty(v) && before < 0:
			case isEmpty(v):
				fields = append(fields, name+": none")
			case r.Sensitive != nil && r.Sensitive[j]:
				fields = append(fields, name+": (not shown)")
			case foreign(o) && !strangers:
				fields = append(fields, name+": (from "+o.Words()+", not shown)")
			case foreign(o):
				others = append(others, fmt.Sprintf("   %s, from %s:\n%s", name, o.Words(), behindBar(cut(plain(v)))))
			default:
				fields = append(fields, name+": "+cut(oneLine(plain(v))))
			}
		}
		if same {
			fields = append(fields, "the rest as above")
		}
		if len(r.Rows) > 1 {
			fmt.Fprintf(&b, "%d. ", i+1)
		}
		b.WriteString(strings.Join(fields, "; "))
		b.WriteByte('\n')
		for _, f := range others {
			b.WriteString(f + "\n")
		}
	}
	return b.String()
}

// alikeIn returns which of the rows that a model was shown before begins as a row does, -1 for none and
// for several.
func alikeIn(was, r *receipt.Result, row int) int {
	at := -1
	if was == nil || !slices.Equal(was.Columns, r.Columns) {
		return at
	}
	for i, before := range was.Rows[:min(len(was.Rows), maxRows)] {
		switch {
		case plain(before[0]) != plain(r.Rows[row][0]):
		case at >= 0:
			return -1
		default:
			at = i
		}
	}
	return at
}

// isEmpty reports whether a value says nothing.
func isEmpty(v stores.Value) bool { return v.IsNull() || v.Kind() == stores.JSON && v.Text() == "[]" }

func cut(text string) string {
	if len(text) <= maxCell {
		return text
	}
	return strings.ToValidUTF8(text[:maxCell], "") + "…"
}

// doneText tells a model what was done, as a person is told.
func doneText(p *receipt.Receipt) string {
	var b strings.Builder
	for i := range p.Calls {
		c := &p.Calls[i]
		fmt.Fprintf(&b, "done: %s\n", c.Verb)
		for j := range c.Rows {
			r := &c.Rows[j]
			fmt.Fprintf(&b, "  %s %s %s", opWords[r.Op], r.Name, r.Label)
			for _, f := range r.Fields {
				o := verbs.Stored(f.Origin)
				switch {
				case f.Sensitive:
					fmt.Fprintf(&b, "; %s changed", f.Name)
				case foreign(o):
					fmt.Fprintf(&b, "; %s is what %s says", f.Name, o.Words())
				default:
					fmt.Fprintf(&b, "; %s: %s", f.Name, cut(oneLine(plain(f.After.Shown()))))
				}
			}
			b.WriteByte('\n')
		}
		for _, n := range c.Notices {
			fmt.Fprintf(&b, "  %s %s\n", noticeWord(n.Kind), n.Target)
		}
	}
	return b.String()
}

var opWords = map[string]string{receipt.Inserted: "new", receipt.Updated: "changed", receipt.Deleted: "deleted"}

func noticeWord(kind string) string {
	if kind == "notify" {
		return "told"
	}
	return "started"
}

// dayWords writes a date in full: "Friday 3 January 2025".
func dayWords(t time.Time) string { return t.Format("Monday 2 January 2006") }
