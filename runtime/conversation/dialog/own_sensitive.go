package dialog

import (
	"context"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Sensitive values are shown to nobody but the person who said them, who wants to know if they were
// understood: "3/4/1972" may be the third of April. Questions and answers to that person show such
// values as they were understood.
//
// The function that words a question does not receive the value. It writes a mark in its place, and
// every copy of the text holds the mark: the stored turn, the stored question, what a model is
// shown later. Only the text that goes to the person is filled in, in one place, from the program
// that the question is about. Everybody else is told that the value is not shown.
//
// Only values that the person said, or that a model made of their words, are shown this way. Values
// from documents, tools or records are not.

// firstMark stands for the first value. No text contains such characters: see visible and escaped.
const (
	firstMark = '\U000F0000'
	lastMark  = '\U000FFFFD'
	mostMarks = 60_000 // then they are counted anew: no question is as old
)

func isMark(r rune) bool { return r >= firstMark && r <= lastMark }

// An ownSensitive is a sensitive argument of a call that its own person may see.
type ownSensitive struct {
	call  int    // in the program
	param string // its name
	says  string // as it was understood
}

// confided lists those arguments of a program, in order.
func (w wording) confided(p *verbs.Program) []ownSensitive {
	if p == nil {
		return nil
	}
	var all []ownSensitive
	said := p.Literals()
	for i := range p.Calls() {
		c := &p.Calls()[i]
		for j := range c.Args {
			a, param := &c.Args[j], &c.Verb.Params[j]
			if !param.Sensitive || a.Syntax == nil || a.Kind != verbs.Literal {
				continue
			}
			s := schemaBeside(c, j)
			if says, ok := w.own(a, s, &said); ok {
				all = append(all, ownSensitive{i, param.Name, says})
			}
		}
	}
	return all
}

// schemaBeside returns the schema of an object argument, if a code argument selects it; otherwise
// nil.
func schemaBeside(c *verbs.Call, j int) *verbs.Schema {
	k, ok := c.Verb.Params[j].SchemaOf()
	if !ok || k >= len(c.Args) || c.Verb.Params[k].Type.Codes == nil || c.Args[k].Kind != verbs.Literal {
		return nil
	}
	return c.Verb.Params[k].Type.Codes.Schema(c.Args[k].Value.Text())
}

// own says an argument as it was understood, if the person said all of it.
func (w wording) own(a *verbs.Arg, s *verbs.Schema, said *verbs.Literals) (string, bool) {
	switch a.Syntax.Kind {
	case dsl.Map:
		var parts []string
		for _, e := range a.Syntax.Entries() {
			if !scalarKind(e.Value.Kind) || !ours(said, &e.Value) {
				return "", false
			}
			title, value := "", w.ownValue(&e.Value)
			if s != nil {
				called := ""
				if title, called = s.Titles(e.Key, e.Value.Text); called != "" {
					value = s.Says(w.language, called)
				}
			}
			if title != "" {
				title = s.Says(w.language, title)
			} else {
				title = w.label(e.Key)
			}
			if len(a.Syntax.Entries()) == 1 {
				return value, true // the question names it
			}
			parts = append(parts, w.say(sayIs, title, value))
		}
		return strings.Join(parts, w.say(sayAlso)), len(parts) > 0
	case dsl.List:
		var parts []string
		items := a.Syntax.Items()
		for i := range items {
			if !scalarKind(items[i].Kind) || !ours(said, &items[i]) {
				return "", false
			}
			parts = append(parts, w.ownValue(&items[i]))
		}
		return strings.Join(parts, ", "), len(parts) > 0
	}
	if !scalarKind(a.Syntax.Kind) || !ours(said, a.Syntax) {
		return "", false
	}
	if a.Value.Kind() == stores.Date { // it may stand there as text
		return values.SayDate(a.Value, w.tongue), true
	}
	return w.ownValue(a.Syntax), true
}

func scalarKind(k dsl.Kind) bool {
	return slices.Contains([]dsl.Kind{dsl.String, dsl.Integer, dsl.Decimal, dsl.Bool, dsl.Date, dsl.DateTime, dsl.UUID, dsl.Code}, k)
}

// ours reports whether a value is the person's, or was made of their words by a model, which never
// sees sensitive values.
func ours(said *verbs.Literals, v *dsl.Value) bool {
	o := said.Origin
	if said.Of != nil {
		if of, ok := said.Of(v.Range); ok {
			o = of
		}
	}
	return o == ofPerson || o == ofModel
}

// ownValue says a value as it was understood.
func (w wording) ownValue(v *dsl.Value) string {
	switch v.Kind {
	case dsl.Bool:
		return w.value(stores.NewBool(v.Text == "true"))
	case dsl.Code:
		return w.asWords(v.Text)
	case dsl.Date, dsl.String:
		if day, ok := stores.ParseDate(v.Text); ok {
			return values.SayDate(day, w.tongue)
		}
	}
	return escaped(oneLine(v.Text))
}

// Marks

// A secret is the sensitive arguments of a program, and the first of their marks.
type secret struct {
	own  []ownSensitive
	mark rune
	of   *receipt.Receipt // which the program made
}

// confide assigns marks to a program. No other program of the conversation has the same.
func (c *Conversation) confide(p *verbs.Program, of *receipt.Receipt) secret {
	s := secret{c.wording.confided(p), c.marks, of}
	c.marks = (c.marks + rune(len(s.own))) % mostMarks
	return s
}

// markOf returns the mark of an argument of a call, "" for none.
func (s *secret) markOf(call *receipt.Call, param string) string {
	for i := range s.own {
		if call == &s.of.Calls[s.own[i].call] && s.own[i].param == param {
			return string(firstMark + s.mark + rune(i))
		}
	}
	return ""
}

// shifted moves the marks of a text: a stored question numbers them from zero.
func shifted(text string, by rune) string {
	return strings.Map(func(r rune) rune {
		if isMark(r) {
			return r + by
		}
		return r
	}, text)
}

// reveal returns a text as its own person sees it.
func (c *Conversation) reveal(text string) string {
	return c.filled(text, true, func(q *Question, i int) string {
		if q.own == nil {
			// Another process put the question, so it is read here for the first time. The check
			// has no deadline of its own.
			if p, err := c.meaning(context.Background(), q); err == nil {
				q.own = c.wording.confided(p)
			}
		}
		if i < len(q.own) {
			return q.own[i].says
		}
		return ""
	})
}

// conceal returns a text as anybody else sees it.
func (c *Conversation) conceal(text string) string {
	return c.filled(text, false, func(*Question, int) string { return "" })
}

func (c *Conversation) filled(text string, reveals bool, value func(q *Question, i int) string) string {
	if !strings.ContainsFunc(text, isMark) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if !isMark(r) {
			b.WriteRune(r)
			continue
		}
		says := ""
		for _, s := range c.said {
			if i := int(r - firstMark - s.mark); i >= 0 && i < len(s.own) && reveals {
				says = s.own[i].says
			}
		}
		for _, q := range c.open {
			if i := int(r - firstMark - q.mark); i >= 0 && i < q.marks() {
				says = value(q, i)
				break
			}
		}
		if says == "" {
			says = c.wording.say(sayNotShown)
		}
		b.WriteString(says)
	}
	return b.String()
}

// marks returns the number of marks in a question: for one of another process, those that its text
// contains.
func (q *Question) marks() int {
	if q.own != nil {
		return len(q.own)
	}
	n := 0
	for _, r := range q.shows + q.asks {
		if isMark(r) {
			n = max(n, int(r-firstMark-q.mark)+1)
		}
	}
	return n
}
