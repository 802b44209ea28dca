package dialog

import (
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A palette may word the question before a run. The loader checks that the sentence has a place for
// every argument. An argument that is still left out, since it stands in a bracket with an empty
// one, is said after the sentence. The person agrees to all changes, and is shown them on request.

// title says in one line what would be done.
func (w wording) title(c *receipt.Call) string {
	title := w.does(w.reg.Verb(c.Verb))
	if len(c.Rows) > 0 {
		title += " (" + w.titled(&c.Rows[0]) + ")"
	}
	return title
}

// few is how many rows may change without the question giving their number: one sentence must not
// hide many changes.
const few = 3

// asks words the question in the palettes' words. It is "" if a call has none, or if the question
// would show untrusted text: then the rows are shown, with their origins.
func (w wording) asks(p *receipt.Receipt) string {
	var b strings.Builder
	rows := 0
	for i := range p.Calls {
		c := &p.Calls[i]
		if onlyAnswers(p, c) {
			continue
		}
		own := w.reg.Verb(c.Verb).Tells.Asks.In(w.language)
		if own == nil || len(c.External) > 0 || writesUntrusted(c) {
			return ""
		}
		rows += len(c.Rows)
		b.WriteString(w.ask(c, own) + "\n")
	}
	if rows > few {
		b.WriteString(w.say(sayRows, strconv.Itoa(rows)) + "\n")
	}
	return b.String()
}

// onlyAnswers reports whether a call changes nothing, beside others that do: nobody is asked whether it
// shall answer. What a call that discloses something does is hidden in its preview.
func onlyAnswers(p *receipt.Receipt, c *receipt.Call) bool {
	return !acted(c) && !c.Result.Hidden() && slices.ContainsFunc(p.Calls, func(other receipt.Call) bool { return acted(&other) })
}

// writesUntrusted reports whether a call would write a value of untrusted origin.
func writesUntrusted(c *receipt.Call) bool {
	return slices.ContainsFunc(c.Rows, func(r receipt.Row) bool {
		return slices.ContainsFunc(r.Fields, func(f receipt.Field) bool { return foreign(verbs.Stored(f.Origin)) })
	})
}

// A value is put between these signs while a sentence is made, to see afterwards which values it
// contains. Written text cannot contain them: see escaped.
const (
	valueBegins = '\ue000'
	valueEnds   = '\ue001'
)

// ask words one call.
func (w wording) ask(c *receipt.Call, own *verbs.Wording) string {
	given := &asked{w: w, c: c, said: map[string]string{}}
	w.eachArgument(c, func(name, text string) {
		given.names = append(given.names, name)
		given.said[name] = text
	})
	text := own.Say(given)
	var besides []string
	for i, name := range given.names {
		mark := string([]rune{valueBegins, rune(0xe100 + i)})
		if strings.Contains(text, mark) || given.said[name] == "" {
			continue
		}
		besides = append(besides, w.wholly(func(w wording) string { return w.say(sayIs, w.label(name), given.said[name]) }))
	}
	text = strings.Map(func(r rune) rune {
		if r >= valueBegins && r < 0xf8ff {
			return -1
		}
		return r
	}, text)
	if len(besides) > 0 {
		text += " " + w.say(sayBesides, strings.Join(besides, w.say(sayAlso)))
	}
	return text
}

// An asked provides the arguments of a call to a question.
type asked struct {
	w     wording
	c     *receipt.Call
	names []string
	said  map[string]string
}

// Value implements verbs.Told.
func (a *asked) Value(name string) string {
	text, i := a.said[name], slices.Index(a.names, name)
	if text == "" || i < 0 {
		return ""
	}
	return string([]rune{valueBegins, rune(0xe100 + i)}) + text + string(valueEnds)
}

// Items implements verbs.Told: the rows of an entity that the call would add or change.
func (a *asked) Items(name string) (all []verbs.Told) {
	for i := range a.c.Rows {
		if r := &a.c.Rows[i]; r.Entity == name && r.Op != receipt.Deleted {
			all = append(all, changedRow(a.w.titled(r)))
		}
	}
	return all
}

// A changedRow is the name of a changed row.
type changedRow string

// Value implements verbs.Told.
func (r changedRow) Value(string) string { return string(r) }

// Items implements verbs.Told.
func (changedRow) Items(string) []verbs.Told { return nil }

// eachArgument calls fn with each argument of a call as a question says it, including false and empty
// lists.
func (w wording) eachArgument(c *receipt.Call, fn func(name, text string)) {
	var names []string
	if script, ds := dsl.Parse(dsl.NewSource("call", c.Text)); !ds.HasErrors() && len(script.Calls) == 1 {
		for i := range script.Calls[0].Args {
			a := &script.Calls[0].Args[i]
			names = append(names, a.Key)
			if slices.ContainsFunc(w.reg.Verb(c.Verb).Params, func(p verbs.Param) bool { return p.Name == a.Key && p.Sensitive }) {
				fn(a.Key, w.secret(c, a.Key))
				continue
			}
			fn(a.Key, w.given(c, w.typeOf(c, a.Key), &a.Value))
		}
	}
	for _, f := range c.Filled {
		if !slices.Contains(names, f.Param) {
			names = append(names, f.Param)
			fn(f.Param, w.asWords(escaped(f.Label)))
		}
	}
}

// sends lists the arguments of a call that notifies somebody or starts work, and changes no row that
// would show them: they go out as they are.
func (w wording) sends(c *receipt.Call) string {
	if len(c.Notices) == 0 || len(c.Rows) > 0 {
		return ""
	}
	var all []string
	w.eachArgument(c, func(name, text string) { all = append(all, w.label(name)+w.say(sayColon)+text) })
	if len(all) == 0 {
		return ""
	}
	return "- " + strings.Join(all, w.say(sayAlso)) + ".\n"
}

// assumed says which rows were meant if nobody named one.
func (w wording) assumed(names []string) string {
	called := make([]string, len(names))
	for i, name := range names {
		called[i] = w.row(&receipt.Call{}, strings.TrimPrefix(name, "@"))
	}
	return w.say(sayAssumed, strings.Join(called, w.say(sayAnd))) + "\n"
}
