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
	says words.Key
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
func (r *Turn) note(s words.Key, of ...string) {
	text := s.In(words.English, of...)
	for _, detail := range of[min(len(of), strings.Count(s.Text(words.English), "{}")):] {
		text += ": " + detail
	}
	r.Notes = append(r.Notes, text)
	r.noted = append(r.noted, remark{says: s, of: of})
}

func (r *Turn) refused(ds dsl.Diagnostics) {
	for i := range ds {
		d := &ds[i]
		if text := whyRefused.In(words.English, d.Code, d.Summary); !slices.Contains(r.Notes, text) {
			r.Notes = append(r.Notes, text)
			r.noted = append(r.noted, remark{why: d})
		}
	}
}

func (r *Turn) rule(one firedRule) {
	r.Rules = append(r.Rules, one.in(wording{tongue: words.English}))
	r.ruled = append(r.ruled, one)
}

// in words a rule in a language.
func (r firedRule) in(w wording) string {
	text := r.reason
	if w.tongue != words.English {
		if said, ok := w.reg.Says(w.language, r.reason); ok || r.said == "" {
			text = said
		} else {
			text = r.said
		}
	}
	role := func(name string) string {
		if w.tongue == words.English {
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
	if w.tongue != words.English {
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
	if w.tongue == words.English {
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
	for _, s := range [...]words.Key{whyWasAsked, whyWasDone} {
		if text == s.In(words.English) {
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
	line := func(what *words.Key, text string) {
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
			if w.tongue == words.English {
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
	_, err := io.WriteString(w, wording{tongue: words.English, language: words.English.String()}.why(r))
	return err
}

var (
	whyTurn     words.Key = "dialog/why-turn"
	whySaid     words.Key = "dialog/why-said"
	whyQuoted   words.Key = "dialog/why-quoted"
	whyRead     words.Key = "dialog/why-read"
	whyMatched  words.Key = "dialog/why-matched"
	whyProposed words.Key = "dialog/why-proposed"
	whyResolved words.Key = "dialog/why-resolved"
	whyDone     words.Key = "dialog/why-done"
	whyNotUsed  words.Key = "dialog/why-not-used"
	whyRule     words.Key = "dialog/why-rule"
	whyAgreed   words.Key = "dialog/why-agreed"
	whyDeclined words.Key = "dialog/why-declined"
	whyReplaced words.Key = "dialog/why-replaced"
	whyNote     words.Key = "dialog/why-note"
	whyJournal  words.Key = "dialog/why-journal"
	whyModel    words.Key = "dialog/why-model"

	whyLabels = [...]words.Key{whyTurn, whySaid, whyQuoted, whyRead, whyMatched, whyProposed, whyResolved, whyDone, whyNotUsed, whyRule, whyAgreed, whyDeclined, whyReplaced, whyNote, whyJournal, whyModel}
)

const (
	whyPhrase    words.Key = "dialog/why-phrase"
	whyNothing   words.Key = "dialog/why-nothing"
	whyOwnWords  words.Key = "dialog/why-own-words"
	whyFromWords words.Key = "dialog/why-from-words"
	whyFrom      words.Key = "dialog/why-from"
	whyChanged   words.Key = "dialog/why-changed"
	whyFound     words.Key = "dialog/why-found"
	whyTo        words.Key = "dialog/why-to"
	whyUnfounded words.Key = "dialog/why-unfounded"
	whyUpTo      words.Key = "dialog/why-up-to"
	whyNone      words.Key = "dialog/why-none"
	whyAsked     words.Key = "dialog/why-asked"
	whyNameless  words.Key = "dialog/why-nameless"
	whyOnce      words.Key = "dialog/why-once"
	whyTimes     words.Key = "dialog/why-times"
	whyOneRow    words.Key = "dialog/why-one-row"
	whyRows      words.Key = "dialog/why-rows"
	whyInPart    words.Key = "dialog/why-in-part"
	whyBy        words.Key = "dialog/why-by"
	whyAgreement words.Key = "dialog/why-agreement"
	whyWasAsked  words.Key = "dialog/why-was-asked"
	whyWasDone   words.Key = "dialog/why-was-done"
	whyRefused   words.Key = "dialog/why-refused"
)

// claimKinds name the kinds of claims.
var claimKinds = map[string]words.Key{
	"date":   "dialog/claim-date",
	"number": "dialog/claim-number",
	"name":   "dialog/claim-name",
	"status": "dialog/claim-status",
	"link":   "dialog/claim-link",
}

// Remarks on a turn.
const (
	noteRemark          words.Key = "dialog/note-remark"
	noteMaybeRemark     words.Key = "dialog/note-maybe-remark"
	noteAnswered        words.Key = "dialog/note-answered"
	noteOthers          words.Key = "dialog/note-others"
	noteAutomatic       words.Key = "dialog/note-automatic"
	noteBadCorrection   words.Key = "dialog/note-bad-correction"
	noteWhichCorrection words.Key = "dialog/note-which-correction"
	noteCorrection      words.Key = "dialog/note-correction"
	noteLetGo           words.Key = "dialog/note-let-go"
	noteStillOpen       words.Key = "dialog/note-still-open"
	noteElsewhere       words.Key = "dialog/note-elsewhere"
	noteLost            words.Key = "dialog/note-lost"
	noteDeclined        words.Key = "dialog/note-declined"
	noteNoCalls         words.Key = "dialog/note-no-calls"
	noteSteps           words.Key = "dialog/note-steps"
	noteAnswerBefore    words.Key = "dialog/note-answer-before"
	noteHeldUp          words.Key = "dialog/note-held-up"
	noteUnkept          words.Key = "dialog/note-unkept"
	noteFailed          words.Key = "dialog/note-failed"
	noteContext         words.Key = "dialog/note-context"
	noteBrokeOff        words.Key = "dialog/note-broke-off"
	noteAssumed         words.Key = "dialog/note-assumed"
	noteToolAfter       words.Key = "dialog/note-tool-after"
	noteUnasked         words.Key = "dialog/note-unasked"
)
