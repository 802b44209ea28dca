package dialog

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
)

// Explaining an answer, from the record of its turn, in the reader's language. Stored records are
// in English, as operators read them; calls, names and codes are the same in all languages.

// Why explains the last answer in the conversation's language. It writes nothing before the first
// turn.
func (c *Conversation) Why(w io.Writer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.turns) == 0 {
		return nil
	}
	_, err := io.WriteString(w, c.wording.why(c.turns[len(c.turns)-1]))
	return err
}

// A remark is a remark on a turn, or a refusal in it.
type remark struct {
	says values.Key
	of   []string
	why  *dsl.Diagnostic
}

// A firedRule is a confirmation rule whose condition held.
type firedRule struct {
	reason, by string
	said       string // in the language of the turn, of a reason that no palette has
	needs      []string
}

// note adds a remark. Values without a place in the sentence are details for operators, in English.
func (r *Turn) note(s values.Key, of ...string) {
	text := s.In(values.English, of...)
	for _, detail := range of[min(len(of), strings.Count(s.Text(values.English), "{}")):] {
		text += ": " + detail
	}
	r.Notes = append(r.Notes, text)
	r.noted = append(r.noted, remark{says: s, of: of})
}

func (r *Turn) refused(ds dsl.Diagnostics) {
	for i := range ds {
		d := &ds[i]
		if text := whyRefused.In(values.English, d.Code, d.Summary); !slices.Contains(r.Notes, text) {
			r.Notes = append(r.Notes, text)
			r.noted = append(r.noted, remark{why: d})
		}
	}
}

func (r *Turn) rule(one firedRule) {
	r.Rules = append(r.Rules, one.in(wording{tongue: values.English}))
	r.ruled = append(r.ruled, one)
}

// in words a rule in a language.
func (r firedRule) in(w wording) string {
	text := r.reason
	if w.tongue != values.English {
		if said, ok := w.reg.Says(w.language, r.reason); ok || r.said == "" {
			text = said
		} else {
			text = r.said
		}
	}
	role := func(name string) string {
		if w.tongue == values.English {
			return name
		}
		said, _ := w.reg.Says(w.language, name)
		return said
	}
	if len(r.needs) > 0 {
		all := make([]string, len(r.needs))
		for i, name := range r.needs {
			all[i] = role(name)
		}
		return w.say(whyAgreement, strings.Join(all, w.say(sayAnd)))
	}
	if r.by != "" {
		text += w.say(whyBy, role(r.by))
	}
	return text
}

// refusal says why something was refused.
func (w wording) refusal(d *dsl.Diagnostic) string {
	text := d.Summary
	if w.tongue != values.English {
		if own, ok := w.reg.Says(w.language, d.Summary); ok {
			text = own
		} else if means, ok := refusals()[d.Code]; ok {
			text = w.say(means)
		}
	}
	return w.say(whyRefused, d.Code, text)
}

// saidSo quotes a text on one line.
func (w wording) saidSo(text string) string {
	if w.tongue == values.English {
		return fmt.Sprintf("%q", text)
	}
	return w.say(sayQuoted, oneLine(text))
}

func (w wording) rowsOf(n int) string {
	if n == 1 {
		return w.say(whyOneRow)
	}
	return w.say(whyRows, strconv.Itoa(n))
}

func (w wording) inPart(origin string) string {
	if origin == "" {
		return ""
	}
	return w.say(whyInPart, origin)
}

// outcome words the outcome of a proposal. What the model was told stays in English.
func (w wording) outcome(text string) string {
	for _, s := range [...]values.Key{whyWasAsked, whyWasDone} {
		if text == s.In(values.English) {
			return w.say(s)
		}
	}
	return text
}

// why explains a turn.
func (w wording) why(r *Turn) string {
	var b strings.Builder
	width := 0
	for _, l := range whyLabels {
		width = max(width, len([]rune(l.Text(w.tongue))))
	}
	line := func(what *values.Key, text string) {
		label := ""
		if what != nil {
			label = what.In(w.tongue)
		}
		fmt.Fprintf(&b, "%s%*s %s\n", label, max(10, width)-len([]rune(label)), "", oneLine(text))
	}
	line(&whyTurn, strconv.Itoa(r.Number)+", "+r.Time.UTC().Format("2006-01-02 15:04:05 UTC"))
	if r.Said != "" {
		line(&whySaid, w.saidSo(r.Said))
	}
	if r.Quoted != "" {
		line(&whyQuoted, w.saidSo(r.Quoted))
	}
	for _, c := range r.Read {
		line(&whyRead, w.say(whyFound, c.Call, w.rowsOf(c.Rows), w.inPart(c.From)))
	}
	if r.Phrase != "" {
		line(&whyMatched, w.say(whyPhrase, w.saidSo(r.Phrase)))
	}
	for _, p := range r.Proposed {
		if p.Script != "" {
			line(&whyProposed, strings.ReplaceAll(p.Script, "\n", " / "))
			line(nil, w.outcome(p.Outcome))
		} else {
			line(&whyProposed, w.say(whyNothing, p.Outcome))
		}
		if p.Says != "" {
			line(nil, w.say(whyOwnWords, w.saidSo(p.Says)))
		}
	}
	for _, t := range r.Resolved {
		if t.Words != "" {
			line(&whyResolved, w.say(whyFromWords, t.Text, w.saidSo(t.Words)))
		} else {
			line(&whyResolved, w.say(whyFrom, t.Text, w.source(t.Origin)))
		}
	}
	for _, c := range r.Calls {
		if c.Wrote > 0 {
			line(&whyDone, w.say(whyChanged, c.Call, w.rowsOf(c.Wrote)))
		} else {
			line(&whyDone, w.say(whyFound, c.Call, w.rowsOf(c.Rows), w.inPart(c.From)))
		}
	}
	for _, n := range r.NotUsed {
		line(&whyNotUsed, n)
	}
	for _, rule := range r.ruled {
		line(&whyRule, rule.in(w))
	}
	if r.Agreed != "" {
		line(&whyAgreed, w.say(whyTo, r.Agreed))
	}
	for _, c := range r.Withdrawn {
		line(&whyDeclined, c)
	}
	for _, c := range r.Replaced {
		kind := c.Kind
		if said, ok := claimKinds[kind]; ok {
			kind = w.say(said)
		}
		line(&whyReplaced, w.say(whyUnfounded, w.saidSo(c.Text), kind))
	}
	for i, n := range r.noted {
		if n.why != nil {
			line(&whyNote, w.refusal(n.why))
		} else {
			text := w.say(n.says, n.of...)
			if w.tongue == values.English {
				text = r.Notes[i]
			}
			line(&whyNote, text)
		}
	}
	for _, j := range r.Journal {
		line(&whyJournal, w.say(whyUpTo, strconv.FormatInt(j[0], 10), strconv.FormatInt(j[1], 10)))
	}
	m := r.Model
	if m.Calls == 0 {
		line(&whyModel, w.say(whyNone))
		return b.String()
	}
	name := m.Name
	if name == "" {
		name = w.say(whyNameless)
	}
	asked := w.say(whyOnce)
	if m.Calls > 1 {
		asked = w.say(whyTimes, strconv.Itoa(m.Calls))
	}
	line(&whyModel, w.say(whyAsked, name, m.Prompt, asked, strconv.Itoa(m.In), strconv.Itoa(m.Out)))
	return b.String()
}

// Explain explains a turn in English, as it is stored.
func (r *Turn) Explain(w io.Writer) error {
	_, err := io.WriteString(w, wording{tongue: values.English, language: values.English.String()}.why(r))
	return err
}

var (
	whyTurn     values.Key = "dialog/why-turn"
	whySaid     values.Key = "dialog/why-said"
	whyQuoted   values.Key = "dialog/why-quoted"
	whyRead     values.Key = "dialog/why-read"
	whyMatched  values.Key = "dialog/why-matched"
	whyProposed values.Key = "dialog/why-proposed"
	whyResolved values.Key = "dialog/why-resolved"
	whyDone     values.Key = "dialog/why-done"
	whyNotUsed  values.Key = "dialog/why-not-used"
	whyRule     values.Key = "dialog/why-rule"
	whyAgreed   values.Key = "dialog/why-agreed"
	whyDeclined values.Key = "dialog/why-declined"
	whyReplaced values.Key = "dialog/why-replaced"
	whyNote     values.Key = "dialog/why-note"
	whyJournal  values.Key = "dialog/why-journal"
	whyModel    values.Key = "dialog/why-model"

	whyLabels = [...]values.Key{whyTurn, whySaid, whyQuoted, whyRead, whyMatched, whyProposed, whyResolved, whyDone, whyNotUsed, whyRule, whyAgreed, whyDeclined, whyReplaced, whyNote, whyJournal, whyModel}
)

const (
	whyPhrase    values.Key = "dialog/why-phrase"
	whyNothing   values.Key = "dialog/why-nothing"
	whyOwnWords  values.Key = "dialog/why-own-words"
	whyFromWords values.Key = "dialog/why-from-words"
	whyFrom      values.Key = "dialog/why-from"
	whyChanged   values.Key = "dialog/why-changed"
	whyFound     values.Key = "dialog/why-found"
	whyTo        values.Key = "dialog/why-to"
	whyUnfounded values.Key = "dialog/why-unfounded"
	whyUpTo      values.Key = "dialog/why-up-to"
	whyNone      values.Key = "dialog/why-none"
	whyAsked     values.Key = "dialog/why-asked"
	whyNameless  values.Key = "dialog/why-nameless"
	whyOnce      values.Key = "dialog/why-once"
	whyTimes     values.Key = "dialog/why-times"
	whyOneRow    values.Key = "dialog/why-one-row"
	whyRows      values.Key = "dialog/why-rows"
	whyInPart    values.Key = "dialog/why-in-part"
	whyBy        values.Key = "dialog/why-by"
	whyAgreement values.Key = "dialog/why-agreement"
	whyWasAsked  values.Key = "dialog/why-was-asked"
	whyWasDone   values.Key = "dialog/why-was-done"
	whyRefused   values.Key = "dialog/why-refused"
)

// claimKinds name the kinds of claims.
var claimKinds = map[string]values.Key{
	"date":   "dialog/claim-date",
	"number": "dialog/claim-number",
	"name":   "dialog/claim-name",
	"status": "dialog/claim-status",
	"link":   "dialog/claim-link",
}

// Remarks on a turn.
const (
	noteRemark          values.Key = "dialog/note-remark"
	noteMaybeRemark     values.Key = "dialog/note-maybe-remark"
	noteAnswered        values.Key = "dialog/note-answered"
	noteOthers          values.Key = "dialog/note-others"
	noteAutomatic       values.Key = "dialog/note-automatic"
	noteBadCorrection   values.Key = "dialog/note-bad-correction"
	noteWhichCorrection values.Key = "dialog/note-which-correction"
	noteCorrection      values.Key = "dialog/note-correction"
	noteLetGo           values.Key = "dialog/note-let-go"
	noteStillOpen       values.Key = "dialog/note-still-open"
	noteElsewhere       values.Key = "dialog/note-elsewhere"
	noteLost            values.Key = "dialog/note-lost"
	noteDeclined        values.Key = "dialog/note-declined"
	noteNoCalls         values.Key = "dialog/note-no-calls"
	noteSteps           values.Key = "dialog/note-steps"
	noteAnswerBefore    values.Key = "dialog/note-answer-before"
	noteHeldUp          values.Key = "dialog/note-held-up"
	noteUnkept          values.Key = "dialog/note-unkept"
	noteFailed          values.Key = "dialog/note-failed"
	noteContext         values.Key = "dialog/note-context"
	noteBrokeOff        values.Key = "dialog/note-broke-off"
	noteAssumed         values.Key = "dialog/note-assumed"
	noteToolAfter       values.Key = "dialog/note-tool-after"
	noteUnasked         values.Key = "dialog/note-unasked"
)
