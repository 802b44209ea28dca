package dialog

import (
	"context"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/words"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// What is sensitive is shown to nobody, and a person who says it in words wants to know
// whether it was understood: "3/4/1972" may be the third of April. So a question that
// is put to them, and the answer that says what was done, show what they said
// themselves, as it was understood, and to nobody else and nowhere else.
//
// The function that words a question is not given such a value. Where it would
// stand, it writes a mark, and everything that is made of its text holds the mark:
// the turn that is kept, the question that waits in the session, what a model is
// shown of it later. Only the answer that goes to the person is filled in, at the
// one place where it leaves, from the program that the question is about; and
// everything else is told that it is not shown.
//
// Shown is what the person said or what was made of their words. What came out of
// a document, a tool or a record is theirs to agree to as little as before.

// firstMark is the mark of the first value. No text has such characters: see
// visible and escaped.
const (
	firstMark = '\U000F0000'
	lastMark  = '\U000FFFFD'
	mostMarks = 60_000 // then they are counted anew: no question is as old
)

func isMark(r rune) bool { return r >= firstMark && r <= lastMark }

// A confided is a sensitive argument of a call that is shown to who said it.
type confided struct {
	call  int    // in the program
	param string // its name
	says  string // as it was understood
}

// confided lists what a program holds of it, in its order.
func (w wording) confided(p *verbs.Program) []confided {
	if p == nil {
		return nil
	}
	var all []confided
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
				all = append(all, confided{i, param.Name, says})
			}
		}
	}
	return all
}

// schemaBeside is the schema of an object that goes with a code beside it; nil where
// there is none.
func schemaBeside(c *verbs.Call, j int) *verbs.Schema {
	k, ok := c.Verb.Params[j].SchemaOf()
	if !ok || k >= len(c.Args) || c.Verb.Params[k].Type.Codes == nil || c.Args[k].Kind != verbs.Literal {
		return nil
	}
	return c.Verb.Params[k].Type.Codes.Schema(c.Args[k].Value.Text())
}

// own says an argument as it was understood, where the person said all of it.
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
				return value, true // what it is, the question says
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
		return words.SayDate(a.Value, w.tongue), true
	}
	return w.ownValue(a.Syntax), true
}

func scalarKind(k dsl.Kind) bool {
	return slices.Contains([]dsl.Kind{dsl.String, dsl.Integer, dsl.Decimal, dsl.Bool, dsl.Date, dsl.DateTime, dsl.UUID, dsl.Code}, k)
}

// ours reports whether a value is the person's, or was made of their words by a
// model, which is shown nothing that is sensitive.
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
			return words.SayDate(day, w.tongue)
		}
	}
	return escaped(oneLine(v.Text))
}

// Marks

// A secret is what a program holds of it, and the first of its marks.
type secret struct {
	own  []confided
	mark rune
	of   *receipt.Receipt // which the program made
}

// confide makes the marks of a program: from on they are those of this conversation,
// which no other program of it has.
func (c *Conversation) confide(p *verbs.Program, of *receipt.Receipt) secret {
	s := secret{c.wording.confided(p), c.marks, of}
	c.marks = (c.marks + rune(len(s.own))) % mostMarks
	return s
}

// markOf is the mark of an argument of a call; "" where it has none.
func (s *secret) markOf(call *receipt.Call, param string) string {
	for i := range s.own {
		if call == &s.of.Calls[s.own[i].call] && s.own[i].param == param {
			return string(firstMark + s.mark + rune(i))
		}
	}
	return ""
}

// shifted is a text with its marks moved: a question that is kept counts them from
// zero.
func shifted(text string, by rune) string {
	return strings.Map(func(r rune) rune {
		if isMark(r) {
			return r + by
		}
		return r
	}, text)
}

// reveal is a text as the person is shown it.
func (c *Conversation) reveal(text string) string {
	return c.filled(text, true, func(q *Question, i int) string {
		if q.own == nil {
			// It was put by another process, and is read here for the first time.
			// Whoever is told waits for nothing else, and Check takes its own time.
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

// conceal is a text as anybody else is shown it.
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

// marks is how many a question has: of one that was put by another process, as many
// as stand in it.
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
