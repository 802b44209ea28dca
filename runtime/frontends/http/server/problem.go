package server

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/intake"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/runtime/frontends/wire"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// A problem is an answer that reports an error: RFC 9457, with the diagnostics that the command
// prints.
type Problem struct {
	Type   string `json:"type"` // where its code is explained
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   string `json:"code"`
	Next   string `json:"next,omitempty"` // what to do
	// Request is the id of the request, for an operator.
	Request     string          `json:"request"`
	Diagnostics dsl.Diagnostics `json:"diagnostics,omitempty"`

	Retry int `json:"-"` // seconds to wait, if the problem is temporary

	unsure bool // nobody knows whether it was done
}

// Error implements error.
func (p Problem) Error() string { return p.Title }

// Is compares problems by code and title, for errors.Is.
func (p Problem) Is(other error) bool {
	q, ok := other.(Problem)
	return ok && q.Code == p.Code && q.Title == p.Title
}

// Send answers with the problem as JSON.
func (p Problem) Send(w http.ResponseWriter) {
	h := w.Header()
	p.Type = "/v1/codes/" + p.Code
	p.Request = h.Get("X-Request-Id")
	h.Set("Content-Type", "application/problem+json")
	h.Del("Etag")
	if p.Retry > 0 {
		h.Set("Retry-After", strconv.Itoa(p.Retry))
	}
	body, err := json.Marshal(p)
	if err != nil {
		body = []byte(`{}`)
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n'))
}

// statuses are the codes with a status other than 422, which says that a request was understood and
// cannot be carried out.
var statuses = map[string]int{
	"not-permitted": http.StatusForbidden, "origin": http.StatusForbidden, "role-lost": http.StatusForbidden, "same-person": http.StatusForbidden,
	"unknown-principal": http.StatusForbidden, "rights-changed": http.StatusForbidden, "sign-in-again": http.StatusForbidden,
	"unknown-confirmation": http.StatusNotFound, "unknown-session": http.StatusNotFound, "unknown-upload": http.StatusNotFound,
	"needs-agreement": http.StatusConflict, "stale-preview": http.StatusConflict, "already-used": http.StatusConflict, "already-exists": http.StatusConflict,
	"already-waits": http.StatusConflict, "declined-before": http.StatusConflict, "changed-meanwhile": http.StatusConflict, "agreement-expired": http.StatusConflict,
	"other-palette": http.StatusConflict, "out-of-order": http.StatusConflict,
	"session-moved": http.StatusPreconditionFailed, "too-much": http.StatusRequestEntityTooLarge,
	"store-full": http.StatusInsufficientStorage, "store-read-only": http.StatusServiceUnavailable, "store-crowded": http.StatusServiceUnavailable, "store-slow": http.StatusGatewayTimeout, "store-replaced": http.StatusServiceUnavailable,
	"tool-silent": http.StatusBadGateway, "tool-failed": http.StatusBadGateway, "tool-answer": http.StatusBadGateway,
}

// codeNotMigrated says that the store's schema differs from the palettes.
const codeNotMigrated = "not-migrated"

// ProblemOf converts an error for the caller.
func ProblemOf(err error) Problem {
	var p Problem
	var refusal *engine.Refusal
	var failed *engine.Failure
	var file *intake.Refusal
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &refusal):
		p = Problem{Status: http.StatusUnprocessableEntity, Title: "refused", Diagnostics: refusal.Diagnostics}
		if len(refusal.Diagnostics) > 0 {
			d := &refusal.Diagnostics[0]
			p.Code, p.Title = d.Code, d.Summary
			if len(d.Notes) > 0 {
				p.Next = d.Notes[0]
			}
			if d.Code == engine.CodeNeedsAgreement {
				p.Next += `; "agreed" takes the id of a preview, and POST /v1/propose waits for somebody else`
			}
			if status, ok := statuses[d.Code]; ok {
				p.Status = status
			}
		}
		return p
	case errors.As(err, &file):
		status := http.StatusUnprocessableEntity
		if file.Code == intake.CodeTooLarge {
			status = http.StatusRequestEntityTooLarge
		}
		if file.Code == intake.CodeNotPermitted {
			status = http.StatusForbidden
		}
		return Problem{Status: status, Code: file.Code, Title: file.Text, Next: file.Next}
	case errors.As(err, &large):
		return Problem{Status: http.StatusRequestEntityTooLarge, Code: "too-large", Title: "the body is larger than " + strconv.FormatInt(large.Limit, 10) + " bytes"}
	case errors.Is(err, logins.ErrTooMany):
		return Problem{Status: http.StatusTooManyRequests, Code: "too-many", Title: "this was tried too often", Next: "wait a few minutes", Retry: 300}
	case errors.As(err, &failed) && failed.Told != nil:
		return Problem{Status: http.StatusBadGateway, Code: failed.Told.Code, Title: failed.Told.Summary, Diagnostics: dsl.Diagnostics{*failed.Told}, unsure: failed.Unknown}
	case errors.As(err, &failed) && failed.Unknown:
		return Problem{Status: http.StatusServiceUnavailable, Code: "unknown", Title: engine.Sentence(err), Next: "send it again under the same Idempotency-Key", Retry: 1, unsure: true}
	case errors.Is(err, stores.ErrSchema):
		return Problem{Status: http.StatusServiceUnavailable, Code: codeNotMigrated, Title: "the store is not prepared for the palettes", Next: "verbatim migrate prepares it", Retry: 5}
	case errors.Is(err, context.Canceled):
		return Problem{Status: 499, Code: "stopped", Title: "whoever asked went away"}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, stores.ErrConflict):
		return Problem{Status: http.StatusServiceUnavailable, Code: "busy", Title: engine.Sentence(err), Retry: 1}
	}
	if code := stores.TroubleCode(err); code != "" {
		return Problem{Status: statuses[code], Code: code, Title: engine.Sentence(err), Retry: 10}
	}
	return Problem{Status: http.StatusServiceUnavailable, Code: "system", Title: engine.Sentence(err), Retry: 5}
}

// BadBody is the error of an unreadable body.
func BadBody(why, next string) error {
	return Problem{Status: http.StatusBadRequest, Code: "bad-body", Title: why, Next: next}
}

// CutShort converts an error of reading a body.
func CutShort(err error) error {
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return err
	}
	return BadBody("the body was cut short", "send it again")
}

// Invalid is the error of a script with mistakes. One whose names could not be looked up has none that
// is known.
func Invalid(script *dsl.Script, faults dsl.Diagnostics) error {
	if i := slices.IndexFunc(faults, func(d dsl.Diagnostic) bool { return d.Code == engine.CodeNamesUnread }); i >= 0 {
		d := faults[i]
		return Problem{Status: http.StatusServiceUnavailable, Code: d.Code, Title: d.Summary, Next: strings.Join(d.Notes, "; "), Retry: 1, Diagnostics: dsl.Diagnostics{d}}
	}
	r := wire.NewReport(faults)
	return Problem{Status: http.StatusUnprocessableEntity, Code: "invalid", Title: fmt.Sprintf("%s in %s; nothing was changed",
		receipt.Counted(r.Errors, "error"), receipt.Counted(len(script.Calls), "call")), Diagnostics: faults}
}

//go:embed codes.txtar
var codesText string

// Codes explains the server's own codes.
func Codes() []dsl.CodeDoc { return dsl.ReadCodes(codesText) }
