package dialog

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

// A model's reply to a person is a structure, not text: which facts of the turn to tell, what to
// ask, which courtesies, in which order. It consists of calls of the verbs below. The engine words
// the facts in the palettes' sentences and the person's language. What the turn did is told first,
// whether or not the model names it. (F5)

// The verbs of a reply.
var (
	replyTell = &verbs.Verb{Name: "reply.tell", Description: "Tell the person facts of this turn.", Params: []verbs.Param{
		{Name: "facts", Type: aList, Required: true, Description: `In order: rows "@name", fields of them "@name.field", or all that a verb answered "domain.verb".`}}}
	replyAsk = &verbs.Verb{Name: "reply.ask", Description: "Ask the person for one argument of a verb.", Params: []verbs.Param{
		{Name: "verb", Type: aText, Required: true},
		{Name: "argument", Type: aText, Required: true},
		{Name: "choices", Type: aList, Description: `Rows as "@name", or codes, where it is one of few.`}}}
	replySay = &verbs.Verb{Name: "reply.say", Description: "Say a courtesy, or what stands in the way.", Params: []verbs.Param{
		{Name: "what", Type: &verbs.Type{Name: verbs.CodeType, Codes: courtesyCodes}, Required: true}}}
	replyAdd = &verbs.Verb{Name: "reply.add", Description: "Add a sentence of your own about rows.", Params: []verbs.Param{
		{Name: "text", Type: aText, Required: true, Description: "One sentence. Each day, number, name and status in it is one of the cited rows'."},
		{Name: "rows", Type: aList, Required: true, Description: `The rows that it is about, as "@name".`}}}

	aText = &verbs.Type{Name: verbs.StringType}
	aList = &verbs.Type{Name: verbs.ListType, Item: aText}
)

var courtesyCodes = &verbs.CodeList{Name: "courtesy", Codes: []verbs.Code{
	{Name: "GREETING", Description: "a greeting, and where they stand"},
	{Name: "WELCOME", Description: "to thanks or a goodbye"},
	{Name: "ABLE_TO", Description: "what can be done here"},
	{Name: "WHO_I_AM", Description: "whom they speak with"},
	{Name: "NOT_UNDERSTOOD", Description: "what they said cannot be understood"},
	{Name: "NOT_POSSIBLE", Description: "what they want cannot be done here"},
}}

const replyDomain = "reply."

// replyVerbs returns the reply verbs that a model may use here.
func (c *Conversation) replyVerbs() []*verbs.Verb {
	all := []*verbs.Verb{replyTell, replyAsk, replySay}
	if c.phrased {
		all = append(all, replyAdd)
	}
	return all
}

// replyVerbNamed returns the reply verb of a name, or nil.
func replyVerbNamed(name string) *verbs.Verb {
	all := []*verbs.Verb{replyTell, replyAsk, replySay, replyAdd}
	if i := slices.IndexFunc(all, func(v *verbs.Verb) bool { return v.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

// divided takes the reply calls out of a script. A script that does not parse stays whole: carry
// reports its mistakes.
func divided(script string) (rest string, replies []dsl.Call) {
	parsed, ds := dsl.Parse(dsl.NewSource("reply", script))
	if ds.HasErrors() || !slices.ContainsFunc(parsed.Calls, isReply) {
		return script, nil
	}
	var lines []string
	for i := range parsed.Calls {
		if isReply(parsed.Calls[i]) {
			replies = append(replies, parsed.Calls[i])
		} else {
			lines = append(lines, dsl.FormatCall(&parsed.Calls[i]))
		}
	}
	return strings.Join(lines, "\n"), replies
}

func isReply(c dsl.Call) bool { return strings.HasPrefix(c.Verb, replyDomain) }

// A fact is one row of an answer, or all of them.
type fact struct {
	call *receipt.Call
	row  int // -1 for all rows
}

// A readout is the result of a read, and how much the turn had done before it.
type readout struct {
	call *receipt.Call
	done int
}

// hasRead records the result of a read.
func (t *turn) hasRead(c *receipt.Call) {
	t.results = append(t.results, readout{c, len(t.done)})
}

// readAgain repeats the reads that came before a change. A read that fails now is no fact any more.
func (t *turn) readAgain(ctx context.Context) error {
	before := t.results
	t.results = nil
	for _, a := range before {
		if a.done == len(t.done) {
			t.results = append(t.results, a)
			continue
		}
		script, ds := dsl.Parse(dsl.NewSource("again", a.call.Text))
		if ds.HasErrors() {
			continue
		}
		program, _ := t.c.o.Session.Check(ctx, script)
		if program == nil || !t.c.o.Session.Reads(program) {
			continue
		}
		reply, err := t.c.o.Session.Run(ctx, program, engine.RunOptions{Source: t.c.o.Source, Progress: t.far})
		var refusal *engine.Refusal
		switch {
		case errors.As(err, &refusal):
			continue
		case err != nil:
			return err
		}
		for i := range reply.Calls {
			if reply.Calls[i].Result != nil {
				t.hasRead(&reply.Calls[i])
			}
		}
	}
	return nil
}

// in returns the facts of an answer that a name refers to.
func (a readout) in(name string) (found []fact, field string) {
	row, isRow := strings.CutPrefix(name, "@")
	if !isRow {
		if a.call.Verb == name {
			found = []fact{{a.call, -1}}
		}
		return found, ""
	}
	row, field, _ = strings.Cut(row, ".")
	for i, values := range a.call.Result.Rows {
		if slices.ContainsFunc(values, func(v stores.Value) bool { return plain(v) == "@"+row }) && (field == "" || slices.Contains(a.call.Result.Columns, field)) {
			found = append(found, fact{a.call, i})
		}
	}
	return found, field
}

// factsNamed returns the facts that a name refers to: of the latest answer about that row or, if
// there is none, of one that mentions it.
func (t *turn) factsNamed(name string) (found []fact, field string) {
	for _, a := range slices.Backward(t.results) {
		all, of := a.in(name)
		if len(all) == 0 {
			continue
		}
		if about := all[0].row < 0 || strings.HasPrefix(name+".", plain(a.call.Result.Rows[all[0].row][0])+"."); about {
			return all, of
		}
		if found == nil {
			found, field = all, of
		}
	}
	return found, field
}

// only returns an answer with one of its rows, without what the call did.
func (f fact) only() *receipt.Call {
	c, r := *f.call, *f.call.Result
	c.Rows, c.Notices, c.Session, c.JobChanges, c.External = nil, nil, nil, nil, nil
	c.Result = &r
	if f.row < 0 {
		return &c
	}
	r.Rows = r.Rows[f.row : f.row+1]
	if r.Owners != nil {
		r.Owners = r.Owners[f.row : f.row+1]
	}
	if r.Origins != nil {
		r.Origins = r.Origins[f.row : f.row+1]
	}
	return &c
}

// replied words a model's reply; wrong tells the model what is wrong with it.
func (t *turn) replied(ctx context.Context, calls []dsl.Call) (says, wrong string, err error) {
	if err := t.readAgain(ctx); err != nil {
		return "", "", err
	}
	var lines []string
	add := func(line string) {
		if line = strings.TrimRight(line, "\n"); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	for i := range calls {
		call := &calls[i]
		v := replyVerbNamed(call.Verb)
		if v == nil || v == replyAdd && !t.c.phrased {
			return "", modelNoReplyVerb(call.Verb, t.c.replyVerbs()), nil
		}
		given := func(name string) dsl.Value {
			for i := range call.Args {
				if call.Args[i].Key == name {
					return call.Args[i].Value
				}
			}
			return dsl.Value{}
		}
		switch v {
		case replyTell:
			for _, name := range textsOf(given("facts")) {
				line, ok := t.fact(name)
				if !ok {
					return "", modelNoFact(name), nil
				}
				add(line)
			}
		case replyAsk:
			line, wrong := t.askFor(given("verb").Text, given("argument").Text, textsOf(given("choices")))
			if wrong != "" {
				return "", wrong, nil
			}
			add(line)
		case replySay:
			line, err := t.courteous(ctx, given("what").Text)
			if err != nil {
				return "", "", err
			}
			if line == "" {
				return "", modelNoCourtesy(given("what").Text), nil
			}
			add(line)
		case replyAdd:
			add(t.sentence(given("text").Text, textsOf(given("rows"))))
		}
	}
	return strings.Join(lines, "\n"), "", nil
}

// textsOf returns the texts of a list, or the single text in its place.
func textsOf(v dsl.Value) []string {
	items := []dsl.Value{v}
	if v.Kind == dsl.List {
		items = v.Items()
	}
	var all []string
	for i := range items {
		switch items[i].Kind {
		case dsl.Symbol:
			all = append(all, "@"+items[i].Text)
		case dsl.String, dsl.Code:
			all = append(all, items[i].Text)
		}
	}
	return all
}

// fact words what a name refers to.
func (t *turn) fact(name string) (string, bool) {
	found, field := t.factsNamed(strings.TrimSpace(name))
	if len(found) == 0 {
		return "", t.isDone(name) // that is told already
	}
	var lines []string
	for _, f := range found {
		c := f.only()
		if field == "" {
			lines = append(lines, t.c.wording.tellsCall(c))
			continue
		}
		lines = append(lines, t.c.wording.wholly(func(w wording) string {
			value := toldRow{w, c, nil, 0}.Value(field)
			if value == "" {
				value = w.say(sayNone)
			}
			row, _, _ := strings.Cut(strings.TrimPrefix(name, "@"), ".")
			return w.say(sayIs, w.say(sayOf, sentenceCase(w.label(field)), w.row(c, row)), value) + "."
		}))
	}
	return strings.Join(lines, "\n"), true
}

// isDone reports whether a name is that of a verb that did something in this turn, or of a row that
// it changed.
func (t *turn) isDone(name string) bool {
	return slices.ContainsFunc(t.done, func(r *receipt.Receipt) bool {
		return slices.ContainsFunc(r.Calls, func(c receipt.Call) bool {
			return c.Verb == name || slices.ContainsFunc(c.Rows, func(r receipt.Row) bool { return "@"+strings.TrimPrefix(r.Name, "@") == name })
		})
	})
}

// askFor asks for an argument in the palette's words, and records it for ownWord.
func (t *turn) askFor(verb, param string, choices []string) (says, wrong string) {
	w := t.c.wording
	v := t.c.o.Registry.Verb(verb)
	if v == nil || !slices.Contains(t.c.verbs, v) {
		return "", modelNoVerb(verb)
	}
	at := slices.IndexFunc(v.Params, func(p verbs.Param) bool { return p.Name == param })
	if at < 0 {
		return "", modelNoArgument(verb, param)
	}
	t.expects = expected{verb, param}
	p := &v.Params[at]
	if own := p.Asks.In(w.language); own != nil {
		says = own.Say(nil)
	} else {
		says = w.wholly(func(w wording) string {
			return w.say(sayTellMe, w.label(strings.TrimSuffix(p.Name, "-id")), w.does(v))
		})
	}
	if len(choices) == 0 {
		return says, ""
	}
	for i, choice := range choices {
		if name, ok := strings.CutPrefix(choice, "@"); ok {
			if !t.isKnown(name) {
				return "", modelNoFact(choice)
			}
			choice = w.row(&receipt.Call{}, name)
		} else {
			choice = w.asWords(escaped(oneLine(choice)))
			if p.Type.Codes == nil || !slices.ContainsFunc(p.Type.Codes.Codes, func(c verbs.Code) bool { return c.Name == choices[i] }) {
				return "", modelNoChoice(choices[i], param)
			}
		}
		says += "\n" + strconv.Itoa(i+1) + ". " + sentenceCase(choice)
	}
	return says, ""
}

// isKnown reports whether a name is that of a row the person may see.
func (t *turn) isKnown(name string) bool {
	for _, of := range t.names {
		if slices.Contains(of, name) {
			return true
		}
	}
	return false
}

// courteous words a courtesy; "" if there is none of that name.
func (t *turn) courteous(ctx context.Context, what string) (string, error) {
	w := t.c.wording
	switch what {
	case "GREETING":
		return strings.TrimSuffix(w.say(sayHello, t.c.o.Person)+" "+t.stand(), " "), nil
	case "WELCOME":
		return t.thanked(ctx, w)
	case "ABLE_TO":
		return t.ableTo(ctx, w)
	case "WHO_I_AM":
		return w.say(sayWhoIAm), nil
	case "NOT_UNDERSTOOD":
		return w.say(sayUnread), nil
	case "NOT_POSSIBLE":
		return t.cannot(), nil
	}
	return "", nil
}

// stand words the person's status; "" if there is none or it is a long list.
func (t *turn) stand() string {
	v := t.c.status()
	if v == nil {
		return ""
	}
	if found, _ := t.factsNamed(v.Name); len(found) > 0 && len(found[0].call.Result.Rows) > mostGreeted {
		return ""
	}
	text, _ := t.fact(v.Name)
	return text
}

// An expected is the argument that was asked for last.
type expected struct{ verb, param string }

// vocabulary returns the verbs and names that a model may write in this turn.
func (t *turn) vocabulary(shortlist []*verbs.Verb) grammar.Vocabulary {
	c := t.c
	return grammar.Vocabulary{Verbs: append(slices.Clip(shortlist), c.replyVerbs()...), Calls: c.o.Limits.Calls, Settled: t.over, Names: func(e *verbs.Entity) []string {
		if e != nil {
			return t.offered(e)
		}
		var all []string
		for _, of := range c.o.Registry.Entities() {
			all = append(all, t.offered(of)...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}}
}

// left words what was done or found and has not been told.
func (t *turn) left(list []*receipt.Receipt) string {
	var untold []*receipt.Receipt
	for _, r := range list {
		if !slices.Contains(t.toldOf, r) {
			untold = append(untold, r)
		}
	}
	t.toldOf = append(t.toldOf, untold...)
	w := t.c.wording
	w.mark = func(c *receipt.Call, param string) string {
		for i := range t.c.said {
			if mark := t.c.said[i].markOf(c, param); mark != "" {
				return mark
			}
		}
		return ""
	}
	return w.told(untold)
}

const (
	sayOf values.Key = "dialog/of"
	// sayOwnWord says why the person is asked about a value that they wrote themselves.
	sayOwnWord values.Key = "dialog/own-word"
	sayTellMe  values.Key = "dialog/tell-me"
)
