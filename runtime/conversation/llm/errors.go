package llm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// An Error tells why there is no answer. Its text is safe for an operator: it holds neither the key
// nor the request.
type Error struct {
	Kind Kind
	// Status is the HTTP status that was received, 0 when there was none.
	Status int
	// RetryAfter is the wait that the endpoint asked for; zero if it did not.
	RetryAfter time.Duration
	// Budget is the name of the exhausted budget.
	Budget string
	// Attempts is the number of attempts.
	Attempts int
	// Usage is the cost although there is no answer: what the endpoint has read, and written, in all
	// attempts. A request that was refused costs nothing.
	Usage Usage
	// Advice says what an operator can do, if that is known.
	Advice string
	// Err is the cause, for a log.
	Err error

	last  bool // the same request would do no better
	empty bool // an answer came, with nothing in it
}

// Kind sorts errors by the action that a caller can take.
type Kind string

// The kinds of error.
const (
	Unavailable Kind = "unavailable"   // no answer, or the endpoint is in trouble: try again later
	Busy        Kind = "busy"          // too many requests: after RetryAfter
	Denied      Kind = "denied"        // the key is not accepted: an operator has to act
	Unpaid      Kind = "unpaid"        // the account has nothing left: an operator has to act
	Invalid     Kind = "invalid"       // the endpoint refuses such a request: a fault of ours, or of the configuration
	Overlong    Kind = "overlong"      // the conversation does not fit the model: send less
	Late        Kind = "late"          // it took longer than allowed
	Cut         Kind = "cut"           // the answer broke off in the middle
	Garbled     Kind = "garbled"       // what came back is not the protocol, or more than allowed
	Spent       Kind = "budget-spent"  // a budget has nothing left: nothing was sent
	Uncounted   Kind = "not-counted"   // the spending could not be counted: nothing was sent
	Cancelled   Kind = "cancelled"     // the caller gave up
	Unrecorded  Kind = "not-recorded"  // a replay has no answer to this request
	Unsupported Kind = "not-supported" // the endpoint is not configured for this request
)

func (e *Error) Error() string {
	text := "the model " + e.says()
	if e.Status != 0 {
		text += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Attempts > 1 {
		text += fmt.Sprintf(", tried %d times", e.Attempts)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Advice != "" {
		text = strings.TrimRight(text, ". ") + "; " + e.Advice
	}
	return text
}

func (e *Error) says() string {
	switch e.Kind {
	case Unavailable:
		if e.Status != 0 {
			return "does not answer"
		}
		return "could not be reached"
	case Busy:
		return "has too many requests"
	case Denied:
		return "does not accept our key"
	case Unpaid:
		return "has nothing left on our account"
	case Invalid:
		return "does not take such a request"
	case Overlong:
		return "does not take so long a conversation"
	case Late:
		return "took too long"
	case Cut:
		return "broke off in the middle"
	case Garbled:
		return "answered with something else than the protocol"
	case Spent:
		return "was not asked: the budget is spent"
	case Uncounted:
		return "was not asked: what it costs cannot be counted"
	case Cancelled:
		return "was told to stop"
	case Unrecorded:
		return "was asked something that was not recorded"
	case Unsupported:
		return "cannot be asked for that here"
	}
	return "failed"
}

func (e *Error) Unwrap() error { return e.Err }

// again reports whether the same request may do better another time.
func (e *Error) again() bool {
	switch {
	case e.last:
		return false
	case slices.Contains([]Kind{Unavailable, Busy, Cut, Garbled}, e.Kind): // not after a time-out: one long wait was enough
		return true
	}
	return false
}

// failed makes an *Error of an error of the protocol library or the network. It removes the key:
// providers repeat it, or part of it, in their answers. ctx is the caller's context, attempt the one
// of the exchange.
func (c *Client) failed(ctx, attempt context.Context, err error, s *exchange) *Error {
	e := &Error{Kind: Unavailable, Status: s.status, RetryAfter: s.retryAfter, Err: c.scrubbed(err)}
	var api *openai.APIError
	var known *Error
	switch {
	case s.refused != nil:
		// The endpoint's own sentence, instead of the library's around it.
		e.Kind, e.Err = s.refused.kind(), c.scrubbed(errors.New(s.refused.best))
		if e.Kind == Busy {
			e.RetryAfter = max(e.RetryAfter, s.refused.after())
		}
		e.Advice = c.advice(s.refused, e.Kind, e.RetryAfter, bytes.Contains(s.asked, []byte(`"tools":`)))
		e.last = s.refused.cause().last
		return e
	case errors.As(err, &known):
		known.Status, known.Err = s.status, c.scrubbed(known.Err)
		e = known
	case ctx.Err() != nil:
		e.Kind = Cancelled
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			e.Kind = Late
		}
	case errors.Is(context.Cause(attempt), errLate), errors.Is(context.Cause(attempt), errSilent):
		e.Kind, e.Err = Late, context.Cause(attempt)
	case errors.Is(err, errTooMuch):
		e.Kind, e.Err = Garbled, errTooMuch
	case errors.As(err, &api):
		// Said in the middle of a stream that began well.
		e.Err = c.scrubbed(errors.New(api.Message))
	case !s.sent:
		e.Kind = Invalid // the library itself would not send it
	case s.broken:
		e.Kind = Cut
	case s.status != 0:
		e.Kind = Garbled
	}
	if e.Advice == "" {
		e.Advice = c.remedy(e)
	}
	return e
}

// remedy says what an operator can do where the endpoint itself says nothing.
func (c *Client) remedy(e *Error) string {
	switch {
	case e.Kind == Late:
		return "give --wait longer times, or choose a faster model"
	case e.Kind == Unavailable && strings.Contains(e.Err.Error(), "HTTP response to HTTPS client"):
		return "write the base URL with http://"
	case e.Kind == Unavailable && (strings.Contains(e.Err.Error(), "x509:") || strings.Contains(e.Err.Error(), "certificate")):
		return "name the file of the authority that made its certificate as SSL_CERT_FILE, or check the base URL"
	case e.Kind == Unavailable && strings.Contains(e.Err.Error(), "proxyconnect"):
		return "check the proxy that HTTPS_PROXY or HTTP_PROXY names"
	case e.Kind == Unavailable && e.Status == 0:
		return "check the base URL, and that the model's server runs"
	case e.Kind == Garbled:
		return "check that the base URL is the API of a model, such as https://host/v1; verbatim model check says what works there"
	case e.Kind == Cut, e.Kind == Unavailable:
		return "see the log of the model's server, and whether a proxy before it ends long answers"
	}
	return ""
}

// scrubbed returns an error's text without the key, and no longer than a log line.
func (c *Client) scrubbed(err error) error {
	const most = 500
	text := c.keyless(err.Error())
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return errors.New(text)
}

// keyless returns a text without the key.
func (c *Client) keyless(text string) string {
	if c.key == "" {
		return text
	}
	text = strings.ReplaceAll(text, c.key, "(key)")
	// Some providers show the ends of a key around stars.
	if len(c.key) > 8 {
		text = strings.ReplaceAll(text, c.key[len(c.key)-4:], "(key)")
	}
	return text
}
