package react

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/engine"
)

// What a model and an asker are told stands here.

//go:embed prompt.txt
var prompt string

// An Error says why there is no answer. Its text may be shown to the asker.
type Error struct {
	Type    string // one of the types below
	Message string
	Err     error // for the operator; may be nil
}

func (e *Error) Error() string { return e.Message }

func (e *Error) Unwrap() error { return e.Err }

// The types of an Error.
const (
	NoQuestion   = "no-question"
	ModelFailed  = "model-failed"
	ModelRefused = "model-refused"
	TooManySteps = "too-many-steps"
	Repeated     = "repeated-call"
	Cancelled    = "cancelled"
	Failed       = "system-failed"
	Unknown      = "outcome-unknown" // a call may or may not have had its effect
)

// sentences are the messages of most types. For the others engine.Sentence has better ones.
var sentences = map[string]string{
	NoQuestion:   "There is no question. Ask one.",
	ModelFailed:  "The language model could not be reached or gave no usable answer. Ask again in a while.",
	ModelRefused: "The language model refused to answer this. Ask it in another way.",
	TooManySteps: "No answer was found within the steps that one question may take. Ask for less at a time.",
	Repeated:     "The language model made the same call over and over and found no answer. Ask in another way.",
	Cancelled:    "This was stopped before there was an answer. Ask again.",
}

func failed(kind string, err error) *Error { return &Error{kind, sentences[kind], err} }

// ended returns the error that ends a question: the caller gave up, or the given kind.
func ended(ctx context.Context, kind string, err error) *Error {
	switch {
	case ctx.Err() != nil:
		return failed(Cancelled, errors.Join(ctx.Err(), err))
	case sentences[kind] == "":
		return &Error{kind, engine.Sentence(err), err}
	}
	return failed(kind, err)
}

const (
	sayQuestion = "Today is %s.\n\n%s"
	sayShorter  = "Your answer was too long and was cut off. Write it again, shorter."
	sayLastStep = "You have no call left. Answer now with what you know."
	sayOneCall  = "This call was not made: one call is made in each turn. Make it again if you still need it."
	sayCutCall  = "Your call was cut off and was not made. Write it again, shorter."
	sayRepeated = "You have made this very call before, and nothing was changed since that could change what it comes to. Take another way, or answer with what you know."
	sayNothing  = "Done. It answered nothing."
	sayNotFound = "Nothing was found that you can see."
	sayAgree    = "The call was not made and nothing was changed, because it needs an agreement that cannot be given here: %s."
	sayRefused  = "The call was refused and nothing was changed. The reason:\n"
	sayUnread   = "The call of %q could not be read and was not made: %v. Write it again, whole."
	sayKey      = "a row is called by its @name; rows have no keys here"
	sayNoTool   = "There is no function %q, so nothing was called.%s"
)

// unknown names the functions that may be meant by one that does not exist.
func unknown(name string, nearest []string) string {
	meant := ""
	if len(nearest) > 0 {
		meant = " Did you mean " + strings.Join(nearest, " or ") + "?"
	}
	return fmt.Sprintf(sayNoTool, short(name, maxCell), meant)
}

// refused describes the mistakes in a call.
func refused(ds dsl.Diagnostics) string {
	var b strings.Builder
	b.WriteString(sayRefused)
	for _, d := range ds {
		if d.Severity != dsl.Error {
			continue
		}
		fmt.Fprintf(&b, "- %s", d.Summary)
		for _, more := range append([]string{d.Label}, d.Notes...) {
			if more != "" {
				b.WriteString("; " + more)
			}
		}
		b.WriteByte('\n')
	}
	return short(strings.TrimSpace(b.String()), maxObserved)
}

// short cuts a text to a number of characters.
func short(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n == most {
			return strings.ToValidUTF8(text[:i], "�") + "…"
		}
	}
	return text
}
