package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/state/names"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/message"
)

// All sentences of the engine are in this file, to be read aloud together. A sentence for a person
// holds no key, no sensitive value, no Go and no SQL, and it is the same for a row that does not
// exist and one outside their scope.

// A Refusal tells the caller that their request was not carried out, why, and what to do next.
// Nothing was changed.
type Refusal struct {
	Diagnostics dsl.Diagnostics

	calls []int // index in Program.Calls of each diagnostic's call, -1 for the whole script
	told  bool  // it is journalled already
}

// Error implements error.
func (r *Refusal) Error() string { return "refused: " + tell(r.Diagnostics) }

// A BrokenPromise says that a verb was carried out with more, or fewer, effects than its palette
// promises. It is for the operator; nothing was changed.
type BrokenPromise struct {
	Verb     string
	Promise  string    // the effect as the palette words it, "" for a change that no effect covers
	Happened string    // "a reminder was to be added"
	Place    dsl.Place // of the effect, or of the verb
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
		return refuse([]callError{{-1, changedMeanwhile(place)}})
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
		return tell(refusal.Diagnostics)
	case errors.As(err, &config):
		return "the palettes and this program do not fit together, so nothing can be run. Ask whoever looks after it to run verbatim lint."
	case errors.As(err, &broken):
		return fmt.Sprintf("%s was stopped because it did not do exactly what it promises. Nothing was changed; please tell whoever looks after this system.", broken.Verb)
	case errors.As(err, &failed) && failed.Told != nil:
		return tell(dsl.Diagnostics{*failed.Told})
	case errors.As(err, &failed) && failed.Unknown:
		return "the connection was cut off while this was being stored, so it is unknown whether it happened: it may or may not have. Send it again with the same key, if it had one: it is done once, and you are told. Otherwise look at verbatim log before you try again."
	case errors.Is(err, stores.ErrSchema):
		return "the store is not prepared for the palettes. Nothing was changed; whoever looks after it runs verbatim migrate."
	case errors.Is(err, context.Canceled):
		return "this was stopped. Nothing was changed."
	case errors.Is(err, context.DeadlineExceeded):
		return "this took too long and was stopped. Nothing was changed; try again, with fewer calls at a time."
	}
	return "the system could not do this. Nothing was changed; try again, and if it stays like this, tell whoever looks after it."
}

// tell joins the summaries and notes of diagnostics into one text.
func tell(ds dsl.Diagnostics) string {
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

// Codes of diagnostics for a person

const (
	codeUnknownPrincipal  = "unknown-principal"
	codeNotPermitted      = "not-permitted"
	codeUnknownName       = "unknown-name"
	codeNothingMatched    = "nothing-matched"
	codeNoResult          = "no-result"
	codeWrongValue        = "wrong-value"
	codeRequirementNotMet = "requirement-not-met"
	codeLimitReached      = "limit-reached"
	codeNotTogether       = "not-together"
	CodeNeedsAgreement    = "needs-agreement"
	CodeChangedMeanwhile  = "changed-meanwhile"
	codeStalePreview      = "stale-preview"
	codeSignInAgain       = "sign-in-again"
	codeNotCarriedOut     = "not-carried-out"
	codeValueNeeded       = "value-needed"
	codeNotAccepted       = "not-accepted"
	codeUnreadable        = "unreadable-row"
	codeAlreadyExists     = "already-exists"
	codeWorkWaits         = "already-waits"
	codeSecretWaits       = "secret-would-wait"
	codeSecretOpen        = "secret-would-be-open"
	codeTooMuch           = "too-much"
	codeNamesUnread       = "names-unread"
	codeHandlerRefused    = "not-possible"

	codeNoFile          = "no-file"
	codeToolUnfit       = "tool-unfit"
	codeToolNeeds       = "tool-needs"
	codeToolSilent      = "tool-silent"
	codeToolFailed      = "tool-failed"
	codeToolAnswer      = "tool-answer"
	codeToolUnknown     = "tool-unknown"
	codeToolSettled     = "tool-settled"
	codeRowRewritten    = "row-rewritten"
	codeStillAsking     = "still-asking"
	codeToolAlone       = "tool-alone"
	codeToolOtherwise   = "tool-otherwise"
	codeOneTool         = "one-tool"
	codeNotPreviewed    = "not-previewed"
	codeToolAnswerLater = "tool-answers-later"

	codeUnknownConfirmation = "unknown-confirmation"
	codeAlreadyUsed         = "already-used"
	codeAgreementExpired    = "agreement-expired"
	codeDeclinedBefore      = "declined-before"
	codeSamePerson          = "same-person"
	codeRoleLost            = "role-lost"
	codeRightsChanged       = "rights-changed"
	codeOtherPalette        = "other-palette"
	codeKeyReused           = "key-reused"
	codeUnknownUpload       = "unknown-upload"
	codeUploadUnscanned     = "upload-not-scanned"
	codeUploadHarmful       = "upload-harmful"
	codeUploadType          = "upload-type"
	codeUploadTooLarge      = "upload-too-large"
	codeOrigin              = "origin"

	codeNoSession       = "no-session"
	codeUnknownSession  = "unknown-session"
	codeSessionMoved    = "session-moved"
	codeSessionTooLarge = "session-too-large"
	codeBadSession      = "bad-session"
	codeBadTurn         = "bad-turn"
	codeNoStep          = "no-step"
	codeWhichAtWork     = "which-at-work"
	codeNothingAtWork   = "nothing-at-work"

	codeNeedsEarlierCall = "needs-earlier-call"
	codeOutOfOrder       = "out-of-order"
	codeNoSuchCall       = "no-such-call"

	codeUnknownEntry = "unknown-entry"
	codeNoUndo       = "no-undo"
	codeChangedSince = "changed-since"
)

// Codes of diagnostics for an operator, when palettes and handlers do not fit
const (
	codeHandlerUnknownVerb     = "handler-unknown-verb"
	codeHandlerMissing         = "handler-missing"
	codeHandlerNotWanted       = "handler-not-wanted"
	codeHandlerArgumentMissing = "handler-argument-missing"
	codeHandlerArgumentExtra   = "handler-argument-extra"
	codeHandlerArgumentType    = "handler-argument-type"
	codeBadQuery               = "bad-query"
	codeGeneratesUnknown       = "generates-unknown"
)

func complain(code string, place dsl.Place, summary, next string) dsl.Diagnostic {
	return dsl.Diagnostic{Code: code, Summary: summary, Place: place, Notes: []string{next}}
}

// Sentences that are known but for the words in them, in the order of the arguments.
var (
	unknownPrincipal = says1(codeUnknownPrincipal, "nobody is known as %q", "check the name; whoever looks after this system can add somebody")
	rightsChanged    = says(codeRightsChanged, "what you may do, or may see, has changed since this session began", "nothing was changed; begin again, and look at a new preview where you agreed to one")
	narrowed         = says(codeRoleLost, "what you showed is good for some verbs, and decides nothing", "sign in to decide")
	byProgram        = says(codeRoleLost, "a program does not agree in its person's place to what a model wrote", "sign in to decide, or use verbatim confirm")
	// unknownName must not tell whether there is such a row: apart from the place, which shows the
	// written text, it is always the same.
	unknownName = says1(codeUnknownName, ":%s names nothing that you can see", "use a name that a reading verb showed you")
	// notReached and nothingThere are unknownName for the case that no argument is to blame.
	notReached   = says1(codeUnknownName, "%s would touch something that you cannot see", "use a name that a reading verb showed you")
	nothingThere = says1(codeUnknownName, "%s found nothing that you can see", "use a name that a reading verb showed you")
	// unknownUpload returns the one answer for an upload that does not exist, belongs to somebody else,
	// or has expired.
	unknownUpload = says1(codeUnknownUpload, ":%s names no file that you have sent", "send the file, and use the reference that you are given; one that is not used for a while expires")
	harmfulUpload = says1(codeUploadHarmful, "something harmful was found in the file in :%s, and it was not kept", "send another file, from a device that was checked")
	noResult      = says2(codeNoResult, "@%s stands for nothing here: %s", "run the call that it comes from by itself and look at what it gives")
	// wrongValue does not quote the value, which may be secret.
	wrongValue      = says2(codeWrongValue, "what :%s was given does not fit: %s", "write the value out, or take it from another field")
	gaveNothing     = says1(codeWrongValue, ":%s is needed, and what it was given turned out to be nothing", "write the value out, or take it from another field")
	leadsOutOfRange = says1(codeWrongValue, "%s would reckon with what it was given and come to no possible value", "give values that are less extreme")
	// unknownConfirmation must not reveal whether a proposal waits for somebody else.
	unknownConfirmation = says1(codeUnknownConfirmation, "nothing that is called %q waits for you", "verbatim confirm lists what does")
	// keptTool refuses kept calls that run together if one of them uses a tool: a tool acts outside the
	// transaction that they share.
	keptTool  = says2(codeWrongValue, "%s makes all calls together, and %s asks a tool", "make them one after the other")
	noSession = says1(codeNoSession, "%s goes on from call to call, and this session keeps nothing", "give the session a name, and the same name again to go on: verbatim run --session NAME")
	// unknownSession must not reveal whether somebody else has the session.
	unknownSession   = says(codeUnknownSession, "you have no such session", "begin one under a name: verbatim run --session NAME")
	sessionTooLarge  = says(codeSessionTooLarge, "a session keeps where somebody is, and this is too much for that", "keep it in a row, and let the session name the row")
	badZone          = says1(codeBadSession, "no time zone is called %q", "name it by its place, such as Europe/Luxembourg")
	badLanguage      = says1(codeBadSession, "%q is no language tag", "write it as en, de or pt-BR")
	turnUnreadable   = says(codeBadTurn, "what was said is not text", "send UTF-8 without zero bytes")
	declinedYourself = says(codeDeclinedBefore, "you said no to this; nothing was changed", "to do it after all, look again and agree to what you see then")
	samePerson       = says(codeSamePerson, "you asked for this yourself, and somebody else has to decide", "ask somebody who has the role")
	askerMayNot      = says1(codeRoleLost, "%s asked for this and may not do it any more", "nothing was changed; somebody who may do it has to propose it")
	otherPalette     = says(codeOtherPalette, "the palettes have changed since this was asked for, so it may mean something else", "nothing was changed; have it proposed again")
	keyReused        = says(codeKeyReused, "this key was used for something else already", "nothing was changed; a key stands for one script: take a new one")
	keyOfCalls       = says(codeKeyReused, "this key is used to commit call by call, and not every call is done", "nothing was changed; go on as it was begun, each call by itself: what is done is not done again")
	outOfOrder       = says(codeOutOfOrder, "this is written before a call whose result it needs, and call by call they are done as they are written", "nothing was changed; write it after that call, or do the script whole")
	notCarriedOut    = says2(codeNotCarriedOut, "%s cannot be used here yet: %s", "ask whoever looks after this system; the other verbs work")
	valueNeeded      = says3(codeValueNeeded, "%[1]s needs a value for %[3]s of the %[2]s", "give every argument that it is taken from")
	// cannotWorkOut is for a condition or a value that cannot be evaluated because a value is null.
	cannotWorkOut = says1(codeValueNeeded, "whether %s may be done, or how, hangs on a value that is missing", "give every argument that you can")
	notAccepted   = says1(codeNotAccepted, "what %s would store was not accepted", "check the values, and that nothing else still needs what would be deleted")
	// unreadable says that a row holds a value that cannot be read, without the value.
	unreadable = says4(codeUnreadable, "%s cannot read %s: %s holds %s", "whoever looks after the table can correct the row")
	// notHeld does not quote the value: why describes what the field can hold.
	notHeld          = says4(codeNotAccepted, "%[1]s would give %[3]s of the %[2]s a value that it does not hold: %[4]s", "give other values")
	onlyForReading   = says1(codeNotAccepted, "what %s would store is only for you to read", "ask whoever looks after it")
	secretWaits      = says2(codeSecretWaits, "what %s would start cannot be given :%s: that is taken from something sensitive, and would be kept until its time", "say it in other words, or name the row that it is in; what is done later looks there itself")
	secretOpen       = says3(codeSecretOpen, "%[1]s would keep something sensitive in %[3]s of %[2]s, where everybody who sees the row sees it", "say it in other words; what is sensitive is kept in fields that are marked so")
	changedMeanwhile = says(CodeChangedMeanwhile, "somebody else was changing the same rows", "nothing was changed; try again")
	tooMuch          = says1(codeTooMuch, "%s would go through more rows than is allowed at once", "narrow it down")
	tooDeep          = says1(codeTooMuch, "%s would make more calls than is allowed at once", "do it in several steps")
	toolNeeds        = says3(codeToolNeeds, "%[1]s has nothing to send as %[3]q, which %[2]s needs", "give every argument that you can")
	// rowRewritten is for a row that is not found under its key after it was written.
	rowRewritten     = says2(codeRowRewritten, "%s wrote a row of %s, and the database does not have it under its key any more, or not where you can see it", "a trigger of its table drops the row, or changes its key or its owner: that cannot be shown, recorded or taken back, so nothing was changed; ask whoever looks after the database")
	oneTool          = says2(codeOneTool, "%[2]s and %[1]s both act on another system, where nothing can be taken back when the other fails", "put them into two scripts")
	notPreviewed     = says2(codeNotPreviewed, "%s cannot be shown before it is done: what comes of %s before it is told once it is done", "put it into the next script, or run both without a preview")
	toolAnswersLater = says2(codeToolAnswerLater, "@%s is known only once %s was done, and nobody could see beforehand what is done with it", "run it by itself, and use what it answers in the next script")
	functionUnknown  = says1(codeHandlerUnknownVerb, "a function %s is registered, which no palette declares", "declare it under functions, or take it away")
	// noUndo is for a call that cannot be undone.
	noUndo = says1(codeNoUndo, "that cannot be taken back: %s", "make the call that puts it right")
)

// says makes the function that says a sentence, and what to do next. A sentence of says1 and the others
// takes so many words.
func says(code, summary, next string) func(dsl.Place) dsl.Diagnostic {
	return func(at dsl.Place) dsl.Diagnostic { return complain(code, at, summary, next) }
}

func says1(code, summary, next string) func(at dsl.Place, a string) dsl.Diagnostic {
	return func(at dsl.Place, a string) dsl.Diagnostic { return complain(code, at, fmt.Sprintf(summary, a), next) }
}

func says2(code, summary, next string) func(at dsl.Place, a, b string) dsl.Diagnostic {
	return func(at dsl.Place, a, b string) dsl.Diagnostic {
		return complain(code, at, fmt.Sprintf(summary, a, b), next)
	}
}

func says3(code, summary, next string) func(at dsl.Place, a, b, c string) dsl.Diagnostic {
	return func(at dsl.Place, a, b, c string) dsl.Diagnostic {
		return complain(code, at, fmt.Sprintf(summary, a, b, c), next)
	}
}

func says4(code, summary, next string) func(at dsl.Place, a, b, c, d string) dsl.Diagnostic {
	return func(at dsl.Place, a, b, c, d string) dsl.Diagnostic {
		return complain(code, at, fmt.Sprintf(summary, a, b, c, d), next)
	}
}

func notPermitted(place dsl.Place, verb, inner string) dsl.Diagnostic {
	d := complain(codeNotPermitted, place, "you may not use "+verb,
		"verbatim explain "+verb+" says who may; ask one of them")
	if inner != "" {
		d.Summary = fmt.Sprintf("you may not use %s, because it uses %s and you may not use that", verb, inner)
		d.Notes[0] = "verbatim explain " + inner + " says who may; ask one of them"
	}
	return d
}

func signInAgain(place dsl.Place, proof time.Duration) dsl.Diagnostic {
	return complain(codeSignInAgain, place, "whoever agrees to this has to have signed in within the last "+message.Lasting(int64(proof/time.Second)),
		"sign in again, and agree; where nobody signs in, nobody can")
}

// notJournalKeeper names the roles that may keep the journal, if there are any.
func notJournalKeeper(may []string) dsl.Diagnostic {
	next := "give one role `keeps: journal` in the palettes, and the role to a person"
	if len(may) > 0 {
		next = "ask somebody with role " + strings.Join(may, " or ")
	}
	return complain(codeNotPermitted, dsl.Place{}, "no role of yours may do that", next)
}

// nothingMatched is for an effect that must change a row and found none.
func nothingMatched(place dsl.Place, verb string, of *verbs.Entity, e *verbs.Effect) dsl.Diagnostic {
	d := complain(codeNothingMatched, place, fmt.Sprintf("%s is about at least one %s, and none fits what it was given", verb, of.Store.Name),
		"look at what is there, and name that")
	d.Related = append(d.Related, dsl.Related{Place: e.Place, Message: verb + " promises it"})
	return d
}

func unscannedUpload(place dsl.Place, param string, failed bool) dsl.Diagnostic {
	if failed {
		return complain(codeUploadUnscanned, place, fmt.Sprintf("the file in :%s could not be looked at for anything harmful", param),
			"it is tried again; wait a little, and if it stays like this, tell whoever looks after this system")
	}
	return complain(codeUploadUnscanned, place, fmt.Sprintf("the file in :%s has not been looked at for anything harmful yet", param),
		"wait a little, and ask again")
}

func uploadOfType(place dsl.Place, p *verbs.Param, is string) dsl.Diagnostic {
	return complain(codeUploadType, place, fmt.Sprintf(":%s takes no file of type %s", p.Name, is),
		"send it as "+p.Upload.Wanted()+"; what counts is what is in the file, and not its name")
}

func uploadTooLarge(place dsl.Place, p *verbs.Param, size int64) dsl.Diagnostic {
	return complain(codeUploadTooLarge, place, fmt.Sprintf(":%s takes files up to %s; this one has %s", p.Name, verbs.SizeText(p.Upload.MaxSize), verbs.SizeText(size)),
		"send a smaller one: fewer pages, or a picture of less detail")
}

func notTogether(place dsl.Place, v *verbs.Verb, x *verbs.Exclusion) dsl.Diagnostic {
	d := complain(codeNotTogether, place, x.Else, "say them in scripts of their own, if both are meant")
	d.Related = []dsl.Related{{Place: x.Place, Message: v.Name + " excludes " + x.Verb.Name}}
	return d
}

// requirementNotMet returns the palette's sentence about a requirement, with its place there.
func requirementNotMet(place dsl.Place, verb string, rule *verbs.Require) dsl.Diagnostic {
	d := complain(codeRequirementNotMet, place, rule.Else, "verbatim explain "+verb+" says what it needs; see to that first")
	d.Related = []dsl.Related{{Place: rule.Place, Message: verb + " requires this"}}
	return d
}

// requirementUnclear is for a requirement that cannot be evaluated because a value is null.
func requirementUnclear(place dsl.Place, verb string, rule *verbs.Require) dsl.Diagnostic {
	d := requirementNotMet(place, verb, rule)
	d.Notes[0] = "it could not be worked out, because a value is missing or out of range; " + d.Notes[0]
	return d
}

// constraintBroken returns the palette's sentence about a constraint that a row would break.
func constraintBroken(place dsl.Place, entity string, rule *verbs.GivenRule) dsl.Diagnostic {
	d := complain(codeRequirementNotMet, place, rule.Else, "no row of "+entity+" may be otherwise")
	d.Related = []dsl.Related{{Place: rule.Place, Message: entity + " requires this"}}
	return d
}

// limitReached says that a verb was used as often as it may be. If the limit is for everyone, it
// does not say how long to wait: that would reveal when others used the verb.
func limitReached(place dsl.Place, verb string, l *verbs.Limit, wait time.Duration) dsl.Diagnostic {
	summary := l.Else
	if summary == "" {
		summary = verb + " may not be used again yet: " + l.Line()
	}
	next := "wait before you ask again"
	if !l.Everyone {
		// In minutes, or in seconds where it is less than one.
		unit := time.Minute
		if wait < unit {
			unit = time.Second
		}
		next = "ask again in " + message.Lasting(int64((wait + unit - 1).Truncate(unit).Seconds()))
	}
	d := complain(codeLimitReached, place, summary, next)
	d.Related = []dsl.Related{{Place: l.Place, Message: "the limit of " + verb}}
	return d
}

func needsAgreement(place dsl.Place, verb, reason, by, preview string) dsl.Diagnostic {
	if by != "" {
		return complain(CodeNeedsAgreement, place, fmt.Sprintf("%s needs the agreement of somebody else with role %s: %s", verb, by, reason),
			"ask somebody with role "+by)
	}
	return complain(CodeNeedsAgreement, place, fmt.Sprintf("%s asks first: %s", verb, reason),
		"look at what would change, then agree to preview "+preview)
}

func stalePreview(place dsl.Place, moved []string) dsl.Diagnostic {
	summary := "what would happen now is not what you agreed to"
	if len(moved) > 0 {
		summary = "something changed after you looked: " + strings.Join(moved, "; ")
	}
	return complain(codeStalePreview, place, summary, "nothing was changed; look again, and agree to the new preview")
}

// askedInVain returns the next step for an approver who agrees after a row has changed: the pending
// confirmation is no longer valid, and only the asker can ask again.
func askedInVain(asker string) string {
	return "nothing was changed, and nobody can agree to this any more; if it is still wanted, " + asker + " asks for it again"
}

// wrongCall describes the mistake in a call that a handler made.
func wrongCall(place dsl.Place, verb, inner string, d dsl.Diagnostic) dsl.Diagnostic {
	return complain(codeWrongValue, place, fmt.Sprintf("%s leads to %s, and that cannot be said: %s", verb, inner, d.Summary),
		"change what it was made of, and try again")
}

// noStep returns the palette's sentence about a code that may not follow the present one.
func noStep(place dsl.Place, verb, entity, field, from, to, says string) dsl.Diagnostic {
	if to == "" {
		to = "nothing"
	}
	if says == "" {
		says = fmt.Sprintf("%s of %s is %s, and nothing leads from there to %s", field, entity, from, to)
	}
	return complain(codeNoStep, place, says, "look at it as it is now; verbatim explain "+verb+" says what it would change")
}

// noneAtWork says that there is no row at work for an argument that was left out.
func noneAtWork(place dsl.Place, verb string, p *verbs.Param) dsl.Diagnostic {
	return complain(codeNothingAtWork, place, fmt.Sprintf("%s is about one %s, and there is none that you can see", verb, p.Type.Entity.Store.Name),
		"ask whoever looks after this system to give you access to it")
}

// whichAtWork asks which row is meant. It names only rows that the session may see.
func whichAtWork(place dsl.Place, st *step, p *verbs.Param, rows []names.Row, of int, more bool, setters []*verbs.Verb) dsl.Diagnostic {
	var words []string
	d := dsl.Diagnostic{Code: codeWhichAtWork, Place: place}
	for _, row := range rows {
		words = append(words, fmt.Sprintf(":%s @%s (%s)", p.Name, row.Name, row.Label))
		if st.tree.outer == nil { // nobody adds to the script of a macro
			end := place.Range.End
			d.Fixes = append(d.Fixes, dsl.Fix{Title: "add :" + p.Name + " @" + row.Name, Edits: []dsl.Edit{{Range: dsl.Range{Start: end, End: end}, Text: " :" + p.Name + " @" + row.Name}}})
		}
	}
	count := fmt.Sprint(of)
	if more {
		count = "very many"
	}
	d.Summary = fmt.Sprintf("%s is about one %s, and you have %s; say which", st.verb.Name, p.Type.Entity.Store.Name, count)
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
	d.Notes = []string{next}
	return d
}

func sessionMoved(place dsl.Place, when time.Time, what string) dsl.Diagnostic {
	summary := "this session went on meanwhile, in another window or on another device"
	if what != "" {
		summary += ": " + what
	}
	return complain(codeSessionMoved, place, summary+", at "+when.Format("15:04:05 on 2006-01-02"),
		"nothing was changed, and nothing of what was done there is lost; look at it as it is now, and go on from there")
}

func badSessionName() dsl.Diagnostic {
	return complain(codeBadSession, dsl.Place{}, fmt.Sprintf("the name of a session is 1 to %d letters, digits, blanks or signs", maxSessionName), "give it a short name, such as onboarding")
}

func turnTooLong(limit int) dsl.Diagnostic {
	return complain(codeBadTurn, dsl.Place{}, fmt.Sprintf("what is said at once has at most %d bytes", limit), "send what is longer as a file, or say it in parts")
}

func unknownTurn(number int64) dsl.Diagnostic {
	return complain(codeBadTurn, dsl.Place{}, fmt.Sprintf("the session has no turn %d", number), "name a turn that was kept")
}

func alreadyUsed(place dsl.Place, by, when string) dsl.Diagnostic {
	summary := "this was agreed to and carried out already"
	if by != "" {
		summary += fmt.Sprintf(", by %s at %s", by, when)
	}
	return complain(codeAlreadyUsed, place, summary, "an agreement is good once; to do it again, look again and agree again")
}

// agreedAlready is for a principal all of whose roles have agreed already, while others are missing.
func agreedAlready(by []string) dsl.Diagnostic {
	var who []string
	for _, name := range by {
		if name != "" && !slices.Contains(who, name) {
			who = append(who, name)
		}
	}
	return complain(codeAlreadyUsed, dsl.Place{}, "what you could agree to has the agreement of "+strings.Join(who, " and ")+" already",
		"it waits for somebody with another role; verbatim confirm shows which")
}

func agreementExpired(place dsl.Place, until time.Time) dsl.Diagnostic {
	return complain(codeAgreementExpired, place, "this could be agreed to until "+stamp(until), "nothing was changed; look again, or have it proposed again")
}

func declinedBefore(place dsl.Place, by, reason string) dsl.Diagnostic {
	summary := by + " said no to this"
	if reason != "" {
		summary += ": " + reason
	}
	return complain(codeDeclinedBefore, place, summary, "talk to "+by+"; it can be proposed again once something about it is different")
}

func roleLost(roles []string) dsl.Diagnostic {
	return complain(codeRoleLost, dsl.Place{}, "you may not agree to this any more; it needs role "+strings.Join(roles, " and "),
		"ask somebody who has the role")
}

func needsEarlierCall(place dsl.Place, number int, symbol string, by int) dsl.Diagnostic {
	return complain(codeNeedsEarlierCall, place, fmt.Sprintf("call %d needs @%s, which call %d gave, and that is left out", number, symbol, by),
		"write a name that a reading verb shows you in its place; nothing was changed")
}

func noSuchCall(place dsl.Place, number, calls int) dsl.Diagnostic {
	return complain(codeNoSuchCall, place, fmt.Sprintf("there is no call %d: the script has %d", number, calls), "nothing was changed; look where it stopped, in verbatim log show")
}

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

// morePage says that there are more rows than fit on a page.
func morePage(verb, param, last string) string {
	return fmt.Sprintf("there are more: %s with :%s %s tells the next", verb, param, last)
}

func alreadyExists(place dsl.Place, verb, says string) dsl.Diagnostic {
	if says == "" {
		says = fmt.Sprintf("%s would add what is there already", verb)
	}
	return complain(codeAlreadyExists, place, says,
		"look at what is there, and change that instead")
}

func workWaits(place dsl.Place, verb string, at time.Time) dsl.Diagnostic {
	return complain(codeWorkWaits, place, fmt.Sprintf("what %s would start waits already, for %s", verb, stamp(at)),
		"let it come, or let an operator drop it first: verbatim work list --all")
}

func namesUnread(err error) dsl.Diagnostic {
	if errors.Is(err, stores.ErrSchema) || errors.Is(err, stores.ErrInvalid) { // or a row holds what its palette does not say
		return complain(codeNamesUnread, dsl.Place{}, "what your names stand for could not be looked up: the store is not as the palettes say", "whoever looks after it runs verbatim migrate")
	}
	return complain(codeNamesUnread, dsl.Place{}, "what your names stand for could not be looked up", "try again in a moment")
}

// Tools of other servers. A tool's own text is quoted once, marked as its text.

func toolUnfit(place dsl.Place, v *verbs.Verb, code string) dsl.Diagnostic {
	return complain(codeToolUnfit, place, fmt.Sprintf("%s cannot be used now: %s of %s is not as it was accepted (%s)", v.Name, v.Tool.Name, v.Tool.Server, code),
		"nothing was asked of it; whoever looks after this system finds out more with verbatim lint --servers")
}

func toolSilent(place dsl.Place, v *verbs.Verb) dsl.Diagnostic {
	return complain(codeToolSilent, place, fmt.Sprintf("%s of %s does not answer", v.Tool.Name, v.Tool.Server),
		"nothing was done there; try again in a while")
}

func noFile(place dsl.Place, verb, why, next string) dsl.Diagnostic {
	return complain(codeNoFile, place, fmt.Sprintf("%s can make no file: %s", verb, why), next)
}

func toolFailed(e *externalCall, says string) dsl.Diagnostic {
	next := "see to what it says, or ask whoever looks after " + e.Server
	if e.Local {
		next = "see to what it says"
	}
	return tools.Said(says, complain(codeToolFailed, e.st.call.place, fmt.Sprintf("%s of %s did not do it", e.Name, e.Server), next))
}

func toolAnswerUnfit(place dsl.Place, v *verbs.Verb, why string) dsl.Diagnostic {
	return complain(codeToolAnswer, place, fmt.Sprintf("what %s of %s answered cannot be used: %s", v.Tool.Name, v.Tool.Server, why),
		"ask whoever looks after this system to compare the palette with the tool")
}

func toolLost(place dsl.Place, v *verbs.Verb, when string, again, asked bool) dsl.Diagnostic {
	d := complain(codeToolUnknown, place,
		fmt.Sprintf("%s of %s was asked at %s and its answer was lost: it is unknown whether it did what it was asked. Nothing was changed here", v.Tool.Name, v.Tool.Server, when),
		"look there before you ask again, under another key if this had one; verbatim log settle says what became of it")
	switch {
	case again:
		d.Notes[0] = "send it again under the same key: the tool does it once"
	case asked:
		d.Notes[0] = "look there before you ask for it again: the next question says that this one was lost, and a yes to it does it again. verbatim log settle says what became of it"
	}
	return d
}

// toolSettled is for a request that a person settled as done.
func toolSettled(place dsl.Place, v *verbs.Verb, when, by string) dsl.Diagnostic {
	return complain(codeToolSettled, place, fmt.Sprintf("%s of %s was asked at %s, and %s has settled that it did what it was asked", v.Tool.Name, v.Tool.Server, when, by),
		"nothing was done now; to do it once more, send it under another key")
}

func nothingToSettle(entry int64) dsl.Diagnostic {
	return complain(codeUnknownEntry, dsl.Place{}, fmt.Sprintf("entry %d of the journal is no request of yours that waits to be settled", entry),
		"verbatim log settle lists those that do")
}

func mayBeAsking(entry int64, when, until string) dsl.Diagnostic {
	return complain(codeStillAsking, dsl.Place{}, fmt.Sprintf("the tool of entry %d was asked at %s and may still answer", entry, when),
		"settle it after "+until)
}

func toolAlone(place dsl.Place, v *verbs.Verb, why string, keyed, asked bool) dsl.Diagnostic {
	d := complain(codeToolAlone, place, fmt.Sprintf("%s of %s did what it was asked, but nothing was changed here: %s", v.Tool.Name, v.Tool.Server, why),
		"what it did stands; look at both, and do here what is missing")
	switch {
	case keyed:
		d.Notes[0] = "send it again under the same key: the tool is not asked again, and what is missing here is done"
	case asked:
		d.Notes[0] += ". If it is asked for again, the tool is asked again"
	}
	return d
}

func toolOtherwise(place dsl.Place, v *verbs.Verb, when string) dsl.Diagnostic {
	return complain(codeToolOtherwise, place, fmt.Sprintf("under this key %s of %s was asked something else at %s, because rows have changed since", v.Tool.Name, v.Tool.Server, when),
		"nothing was done now; look there at what was done then, and take a new key")
}

// wrongOrigin names the argument, the accepted origins and the actual one, but never the value.
func wrongOrigin(place dsl.Place, p *verbs.Param, from verbs.Origin, trail []string) dsl.Diagnostic {
	return complain(codeOrigin, place, cameFrom(p, from, trail), toComeFrom(p.From))
}

func cameFrom(p *verbs.Param, from verbs.Origin, trail []string) string {
	words := from.Words()
	if words == "" {
		words = "the palette itself"
	}
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
	return &callError{call: -1, diagnostic: complain(codeHandlerRefused, dsl.Place{}, reason, next)}
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

// What an operator is told

func handlerUnknownVerb(name string, near []string) dsl.Diagnostic {
	d := complain(codeHandlerUnknownVerb, dsl.Place{}, fmt.Sprintf("a handler is registered for %s, which no palette declares", name),
		"declare the verb, or take the handler away")
	if len(near) > 0 {
		d.Label = "did you mean " + strings.Join(near, ", ") + "?"
	}
	return d
}

// generatesUnknown is for a promise to call a verb that does not exist.
func generatesUnknown(e *verbs.Effect, v *verbs.Verb, name string, near []string) dsl.Diagnostic {
	d := complain(codeGeneratesUnknown, e.Place, fmt.Sprintf("%s promises to call %s, and there is no such other verb", v.Name, name), "name a verb of the palettes")
	if len(near) > 0 {
		d.Notes[0] = "did you mean " + near[0] + "?"
	}
	return d
}

// generatesInternal is for a promise to call an internal verb, which only jobs may call.
func generatesInternal(e *verbs.Effect, v, inner *verbs.Verb) dsl.Diagnostic {
	return complain(codeGeneratesUnknown, e.Place, fmt.Sprintf("%s promises to call %s, which is internal", v.Name, inner.Name), "only the work of a trigger calls it; name another verb")
}

func handlerMissing(v *verbs.Verb) dsl.Diagnostic {
	return complain(codeHandlerMissing, v.Place, fmt.Sprintf("%s needs a handler and none is registered", v.Name),
		"register one, or say in the palette what it does")
}

func functionMissing(f *verbs.Function) dsl.Diagnostic {
	return complain(codeHandlerMissing, f.Place, fmt.Sprintf("no function %s is registered, which expressions call", f.Name),
		"register one, or take it out of the palette")
}

func handlerNotWanted(v *verbs.Verb) dsl.Diagnostic {
	return complain(codeHandlerNotWanted, v.Place, fmt.Sprintf("%s has a handler, but its palette says all of what it does", v.Name),
		"take the handler away, or say `handler: true`")
}

func handlerArgumentMissing(v *verbs.Verb, p *verbs.Param) dsl.Diagnostic {
	return complain(codeHandlerArgumentMissing, p.Place, fmt.Sprintf("the handler of %s takes no :%s", v.Name, p.Name),
		"add a field with the tag `verb:\""+p.Name+"\"` to what it takes")
}

func handlerArgumentExtra(v *verbs.Verb, name string, near []string) dsl.Diagnostic {
	d := complain(codeHandlerArgumentExtra, v.Place, fmt.Sprintf("the handler of %s takes :%s, which the palette does not declare", v.Name, name),
		"declare it, or take the field away")
	if len(near) > 0 {
		d.Label = "did you mean :" + strings.Join(near, ", :") + "?"
	}
	return d
}

func handlerArgumentType(v *verbs.Verb, p *verbs.Param, have, want string) dsl.Diagnostic {
	return complain(codeHandlerArgumentType, p.Place, fmt.Sprintf("the handler of %s takes :%s as %s", v.Name, p.Name, have),
		"the palette's type is held by "+want)
}

func badQuery(v *verbs.Verb, wrong *stores.SQLError) dsl.Diagnostic {
	return complain(codeBadQuery, v.Query.PlaceOf(wrong.Offset), fmt.Sprintf("the query of %s cannot be run: %s", v.Name, wrong),
		"a query is one SELECT over tables of declared entities")
}

// unknownEntry is for a journal entry that does not exist, that the caller does not see, or whose
// verb they may not use.
func unknownEntry(place dsl.Place, seq int64) dsl.Diagnostic {
	return complain(codeUnknownEntry, place, fmt.Sprintf("entry %d of the journal is nothing that you can take back", seq),
		"the number of a call stands below what came of it")
}

// undoLate is for a call that was made too long ago.
func undoLate(place dsl.Place, until time.Time) dsl.Diagnostic {
	return complain(codeNoUndo, place, "that could be taken back until "+stamp(until), "make the call that puts it right")
}

// changedSince is for a call on which later changes were built.
func changedSince(place dsl.Place, what string) dsl.Diagnostic {
	return complain(codeChangedSince, place, "that cannot be taken back any more; "+what, "nothing was changed; take that back first, or make the call that puts it right")
}
