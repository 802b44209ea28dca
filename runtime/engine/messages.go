package engine

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/state/names"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/message"
)

// What a person is told stands in messages.txt, to be read aloud together; what needs a choice among
// its entries stands here.

//go:embed messages.txt
var messagesText string

var messages = sync.OnceValue(func() message.Messages { return message.Read(messagesText) })

// tell makes a diagnostic of an entry of messages.txt.
func tell(at dsl.Place, name string, args ...any) dsl.Diagnostic {
	return messages().New(at, name, args...)
}

// A Refusal tells the caller that their request was not carried out, why, and what to do next.
// Nothing was changed.
type Refusal struct {
	Diagnostics dsl.Diagnostics

	calls []int // index in Program.Calls of each diagnostic's call, -1 for the whole script
	cause error // see Cause

	journalled bool
}

// Cause returns why a tool did not answer or the database refused a change, for the operator: it may
// name what the caller must not see. It is nil for every other refusal.
func (r *Refusal) Cause() error { return r.cause }

// Error implements error.
func (r *Refusal) Error() string { return "refused: " + inWords(r.Diagnostics) }

// A BrokenPromise says that a verb was carried out with more, or fewer, effects than its palette
// promises. It is for the operator; nothing was changed.
type BrokenPromise struct {
	Verb     string
	Promise  string    // the effect as the palette words it, "" for a change that no effect covers
	Happened string    // "a reminder was to be added"
	Place    dsl.Place // of the effect, or of the verb

	call int // as in callError, from one; 0 where it is not known
}

// Error implements error.
func (b *BrokenPromise) Error() string {
	if b.Promise == "" {
		return fmt.Sprintf("%s did what its palette does not promise (%s): %s", b.Verb, at(b.Place), b.Happened)
	}
	return fmt.Sprintf("%s did not keep its promise %q (%s): %s", b.Verb, b.Promise, at(b.Place), b.Happened)
}

// A Failure is any other error: a store that does not answer, a handler that fails, an expression
// that cannot be evaluated. The error chain is for the operator. Nothing was changed, unless
// Unknown is set.
type Failure struct {
	Err error
	// Unknown says that the answer to the commit, or of a tool of another server, was lost: the
	// change may or may not have happened.
	Unknown bool
	// Told, if it is not nil, tells the person what is known: a tool was asked, but the script was
	// not committed.
	Told *dsl.Diagnostic

	call int // of the call whose handler failed, from one; 0 for any other failure
}

// Error implements error.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns Err.
func (f *Failure) Unwrap() error { return f.Err }

func failure(err error) error {
	var known *Failure
	if err == nil || errors.As(err, &known) {
		return err
	}
	return &Failure{Err: err, Unknown: errors.Is(err, stores.ErrUnknown)}
}

// storeError turns an error of reading from or writing to a store into the error for the caller.
func storeError(place dsl.Place, err error) error {
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return err
	case errors.Is(err, stores.ErrConflict):
		return refuseScript(tell(place, "changed-meanwhile"))
	}
	return failure(err)
}

// Sentence says what an error means for the person being served, and what to do next. It is safe
// to show for every error.
func Sentence(err error) string {
	var refusal *Refusal
	var broken *BrokenPromise
	var failed *Failure
	var config *ConfigError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refusal):
		return inWords(refusal.Diagnostics)
	case errors.As(err, &config):
		return "the palettes and this program do not fit together, so nothing can be run. Ask whoever looks after it to compare the two."
	case errors.As(err, &broken):
		return fmt.Sprintf("%s was stopped because it did not do exactly what it promises. Nothing was changed; please tell whoever looks after this system.", broken.Verb)
	case errors.As(err, &failed) && failed.Told != nil:
		return inWords(dsl.Diagnostics{*failed.Told})
	case errors.As(err, &failed) && failed.Unknown:
		return "the connection was cut off while this was being stored, so it is unknown whether it happened: it may or may not have. Send it again with the same key, if it had one: it is done once, and you are told. Otherwise look in the journal before you try again."
	case errors.Is(err, stores.ErrSchema):
		return "the store is not prepared for the palettes. Nothing was changed; whoever looks after it migrates it."
	case errors.Is(err, context.Canceled):
		return "this was stopped. Nothing was changed."
	case errors.Is(err, context.DeadlineExceeded):
		return "this took too long and was stopped. Nothing was changed; try again, with fewer calls at a time."
	}
	if says, ok := troubles[stores.TroubleCode(err)]; ok {
		return says
	}
	return "the system could not do this. Nothing was changed; try again, and if it stays like this, tell whoever looks after it."
}

// troubles are the sentences of the codes of stores.TroubleCode.
var troubles = map[string]string{
	"store-full":      "the disk of the store is full. Nothing was changed; whoever looks after it has to make room, and then it can be tried again.",
	"store-read-only": "the store takes no changes at present; what is there can be read. Nothing was changed; try again later, or ask whoever looks after it.",
	"store-crowded":   "the database has no connection left for this. Nothing was changed; try again in a moment.",
	"store-replaced":  "the file of the store was replaced while it was in use. Nothing was changed; whoever looks after it has to start the program again.",
	"store-slow":      "the database stopped this, since it took longer than its operator allows. Nothing was changed; ask for less at once, or ask whoever looks after the database.",
}

// inWords joins the summaries and notes of diagnostics into one text.
func inWords(ds dsl.Diagnostics) string {
	var b strings.Builder
	for i := range ds {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(ds[i].Summary)
		for _, note := range ds[i].Notes {
			b.WriteString("; ")
			b.WriteString(note)
		}
	}
	return b.String()
}

// at prints a place for an operator.
func at(p dsl.Place) string {
	if p.Source == nil {
		return "in the palette"
	}
	return fmt.Sprintf("%s:%d", p.Source.Name, p.Source.Position(p.Range.Start).Line)
}

// A callError is a diagnostic about one call, on its way to a Refusal.
type callError struct {
	call       int
	diagnostic dsl.Diagnostic
}

// Error implements error, so that a callError can be returned from where a call is carried out.
func (c *callError) Error() string { return c.diagnostic.Summary }

// refuseScript refuses a script for a reason that is none of its calls.
func refuseScript(d dsl.Diagnostic) *Refusal { return refuse([]callError{{-1, d}}) }

func refuse(all []callError) *Refusal {
	r := &Refusal{}
	for _, c := range all {
		r.Diagnostics = append(r.Diagnostics, c.diagnostic)
		r.calls = append(r.calls, c.call)
	}
	return r
}

// callErrors returns the errors of calls that a refusal was made of.
func (r *Refusal) callErrors() []callError {
	all := make([]callError, len(r.calls))
	for i := range all {
		all[i] = callError{r.calls[i], r.Diagnostics[i]}
	}
	return all
}

// Codes of diagnostics by which code decides
const (
	CodeNeedsAgreement   = "needs-agreement"
	CodeChangedMeanwhile = "changed-meanwhile"
	CodeNamesUnread      = "names-unread"
	CodeToolSilent       = "tool-silent"

	codeUnknownPrincipal    = "unknown-principal"
	codeUnknownName         = "unknown-name"
	codeLimitReached        = "limit-reached"
	codeStalePreview        = "stale-preview"
	codeSignInAgain         = "sign-in-again"
	codeToolAnswer          = "tool-answer"
	codeToolUnknown         = "tool-unknown"
	codeToolAlone           = "tool-alone"
	codeUnknownConfirmation = "unknown-confirmation"
	codeAlreadyUsed         = "already-used"
	codeAgreementExpired    = "agreement-expired"
	codeDeclinedBefore      = "declined-before"
	codeSamePerson          = "same-person"
	codeRoleLost            = "role-lost"
	codeOtherPalette        = "other-palette"
)

// after puts a mark before a text; "" where there is no text.
func after(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + text
}

// meant names what a word may have been meant for, or else what there is.
func meant(word string, names []string) string {
	if near := message.Nearest(word, names); len(near) > 0 {
		return message.DidYouMean(near)
	}
	return "the palettes declare " + message.Some(names, 12)
}

// near adds the names that may have been meant.
func near(d dsl.Diagnostic, mark string, names []string) dsl.Diagnostic {
	if len(names) > 0 {
		d.Label = "did you mean " + mark + strings.Join(names, ", "+mark) + "?"
	}
	return d
}

func notPermitted(place dsl.Place, verb, inner string) dsl.Diagnostic {
	if inner != "" {
		return tell(place, "not-permitted/inside", verb, inner)
	}
	return tell(place, "not-permitted", verb)
}

// notJournalKeeper names the roles that may keep the journal, if there are any.
func notJournalKeeper(may []string) dsl.Diagnostic {
	if len(may) == 0 {
		return tell(dsl.Place{}, "not-permitted/nobody")
	}
	return tell(dsl.Place{}, "not-permitted/journal", strings.Join(may, " or "))
}

func unscannedUpload(place dsl.Place, param string, failed bool) dsl.Diagnostic {
	if failed {
		return tell(place, "upload-not-scanned/failed", param)
	}
	return tell(place, "upload-not-scanned", param)
}

// limitReached says that a verb was used as often as it may be. If the limit is for everyone, it
// does not say how long to wait: that would reveal when others used the verb.
func limitReached(place dsl.Place, verb string, l *verbs.Limit, wait time.Duration) dsl.Diagnostic {
	next := "wait before you ask again"
	if !l.Everyone {
		// In minutes, or in seconds where it is less than one.
		unit := time.Minute
		if wait < unit {
			unit = time.Second
		}
		next = "ask again in " + message.Lasting(int64((wait + unit - 1).Truncate(unit).Seconds()))
	}
	return tell(place, "limit-reached", cmp.Or(l.Else, verb+" may not be used again yet: "+l.Line()), next, l, verb)
}

func needsAgreement(place dsl.Place, verb, reason, by, preview string) dsl.Diagnostic {
	if by != "" {
		return tell(place, "needs-agreement/other", verb, reason, by)
	}
	return tell(place, "needs-agreement", verb, reason, preview)
}

func stalePreview(place dsl.Place, moved []string) dsl.Diagnostic {
	if len(moved) == 0 {
		return tell(place, "stale-preview")
	}
	return tell(place, "stale-preview/moved", strings.Join(moved, "; "))
}

// noStep returns the palette's sentence about a code that may not follow the present one.
func noStep(place dsl.Place, verb, entity, field, from, to, says string) dsl.Diagnostic {
	return tell(place, "no-step", cmp.Or(says, fmt.Sprintf("%s of %s is %s, and nothing leads from there to %s", field, entity, from, cmp.Or(to, "nothing"))), verb)
}

// whichAtWork asks which row is meant. It names only rows that the session may see.
func whichAtWork(place dsl.Place, st *step, p *verbs.Param, rows []names.Row, of int, more bool, setters []*verbs.Verb) dsl.Diagnostic {
	var words []string
	var fixes []dsl.Fix
	for _, row := range rows {
		words = append(words, fmt.Sprintf(":%s @%s (%s)", p.Name, row.Name, row.Label))
		if st.tree.outer == nil { // nobody adds to the script of a macro
			end := place.Range.End
			fixes = append(fixes, dsl.Fix{Title: "add :" + p.Name + " @" + row.Name, Edits: []dsl.Edit{{Range: dsl.Range{Start: end, End: end}, Text: " :" + p.Name + " @" + row.Name}}})
		}
	}
	count := fmt.Sprint(of)
	if more {
		count = "very many"
	}
	next := "write " + strings.Join(words, " or ")
	if st.tree.outer != nil {
		next = "it is written with " + strings.Join(words, " or ")
	}
	if of > len(rows) || more {
		next += ", or another"
	}
	if len(setters) > 0 {
		next += "; in a session that has a name, " + setters[0].Name + " says it for all that follows"
	}
	d := tell(place, "which-at-work", st.verb.Name, p.Type.Entity.Store.Name, count, next)
	d.Fixes = fixes
	return d
}

// agreedAlready is for a principal all of whose roles have agreed already, while others are missing.
func agreedAlready(by []string) dsl.Diagnostic {
	var who []string
	for _, name := range by {
		if name != "" && !slices.Contains(who, name) {
			who = append(who, name)
		}
	}
	return tell(dsl.Place{}, "already-used/agreed", strings.Join(who, " and "))
}

// Why a verb cannot be used here.
const (
	noHandlerHere = "it is carried out by a program that is not part of this one"
	noToolHere    = "it is carried out by a tool of another server, which is not connected"
	noFilesHere   = "it makes a file, and nothing says where files are kept"
	noQueryHere   = "its query cannot be run on this store"
)

// leftOut says why a row is left out of the result.
func leftOut(row, field, why string) string {
	return fmt.Sprintf("%s is left out: %s holds %s", row, field, why)
}

func moreLeftOut(n int) string {
	return fmt.Sprintf("%d more rows are left out, because a value in each of them cannot be read", n)
}

// morePage says that there are more rows than fit on a page.
func morePage(verb, param, last string) string {
	return fmt.Sprintf("there are more: %s with :%s %s tells the next", verb, param, last)
}

func namesUnread(err error) dsl.Diagnostic {
	if errors.Is(err, stores.ErrSchema) || errors.Is(err, stores.ErrInvalid) { // or a row holds what its palette does not say
		return tell(dsl.Place{}, "names-unread/schema")
	}
	return tell(dsl.Place{}, "names-unread")
}

func toolFailed(e *externalCall, says string) dsl.Diagnostic {
	next := "see to what it says, or ask whoever looks after " + e.Server
	if e.Local {
		next = "see to what it says"
	}
	return tools.Said(says, tell(e.st.call.place, "tool-failed", e.Name, e.Server, next))
}

// A toolMessage is the names of a message about a call of a tool, which has other words where the call has a key, or
// where somebody was asked.
type toolMessage struct{ plain, keyed, asked string }

var (
	toolUnknown = toolMessage{"tool-unknown", "tool-unknown/key", "tool-unknown/asked"}
	toolAlone   = toolMessage{"tool-alone", "tool-alone/key", "tool-alone/asked"}
)

func (m toolMessage) tell(place dsl.Place, v *verbs.Verb, says string, keyed, asked bool) dsl.Diagnostic {
	name := m.plain
	switch {
	case keyed:
		name = m.keyed
	case asked:
		name = m.asked
	}
	return tell(place, name, v.Tool.Name, v.Tool.Server, says)
}

func cameFrom(p *verbs.Param, from verbs.Origin, trail []string) string {
	words := cmp.Or(from.Words(), "the palette itself")
	return fmt.Sprintf(":%s must come from %s; this came from %s%s", p.Name, p.From.Wanted(), words, throughWords(trail))
}

// toComeFrom says how a value can get an accepted origin.
func toComeFrom(accepted verbs.Origins) string {
	var ways []string
	for _, way := range []struct {
		from verbs.Origins
		says string
	}{
		{verbs.FromPerson, "a person says it in their own words"},
		{verbs.FromRecord, "somebody who knows it adds it to the record"},
		{verbs.FromScript, "it is written in the script"},
		{verbs.FromModel, "the model says it"},
		{verbs.FromTool, "a tool is asked for it"},
		{verbs.FromDocument, "it is taken out of a document"},
	} {
		if accepted&way.from != 0 {
			ways = append(ways, way.says)
		}
	}
	return strings.Join(ways, ", or ")
}

// Refuse makes the error with which a handler refuses a call: the reason and the next step, in
// words for the person. Nothing is changed.
func Refuse(reason, next string) error {
	return &callError{-1, tell(dsl.Place{}, "not-possible", reason, next)}
}

// What a person is asked

// wroteUnheard is the reason of a question about a model's call: see standing.go.
const wroteUnheard = "a model wrote it, and the person it works for was not heard"

// byStandingRule says in the journal who agreed to a call that was not asked about.
func byStandingRule(who string, rule *StandingRule) string {
	by := who + ", standing rule " + rule.Name
	if within := rule.Within(); within != "" {
		by += " " + within
	}
	return by
}

func alwaysAsks(verb string) string { return verb + " always asks" }

func asksWhen(condition string) string { return "it asks when " + condition }

// generatesUnknown is for a promise to call a verb that does not exist.
func generatesUnknown(e *verbs.Effect, v *verbs.Verb, name string, near []string) dsl.Diagnostic {
	next := "name a verb of the palettes"
	if len(near) > 0 {
		next = "did you mean " + near[0] + "?"
	}
	return tell(e.Place, "generates-unknown", v.Name, name, next)
}
