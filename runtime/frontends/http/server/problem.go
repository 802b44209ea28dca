package server

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/intake"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/stores"
)

// A problem is an answer that reports an error: RFC 9457, with the diagnostics that the command
// prints.
type problem struct {
	Type   string `json:"type"` // where its code is explained
	Title  string `json:"title"`
	Status int    `json:"status"`
	Code   string `json:"code"`
	Next   string `json:"next,omitempty"` // what to do
	// Request is the id of the request, for an operator.
	Request     string          `json:"request"`
	Diagnostics dsl.Diagnostics `json:"diagnostics,omitempty"`

	retry int // seconds to wait, if the problem is temporary
}

// Error implements error.
func (p problem) Error() string { return p.Title }

// problem answers with a problem.
func (s *Server) problem(w http.ResponseWriter, p problem) {
	h := w.Header()
	p.Type = "/v1/codes/" + p.Code
	p.Request = h.Get("X-Request-Id")
	h.Set("Content-Type", "application/problem+json")
	h.Del("Etag")
	if p.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(p.retry))
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
	"tool-silent": http.StatusBadGateway, "tool-failed": http.StatusBadGateway, "tool-answer": http.StatusBadGateway,
}

// codeNotMigrated says that the store's schema differs from the palettes.
const codeNotMigrated = "not-migrated"

// problemOf converts an error for the caller.
func problemOf(err error) problem {
	var p problem
	var refusal *engine.Refusal
	var failed *engine.Failure
	var file *intake.Refusal
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &refusal):
		p = problem{Status: http.StatusUnprocessableEntity, Title: "refused", Diagnostics: refusal.Diagnostics}
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
		return problem{Status: status, Code: file.Code, Title: file.Text, Next: file.Next}
	case errors.As(err, &large):
		return problem{Status: http.StatusRequestEntityTooLarge, Code: "too-large", Title: "the body is larger than " + strconv.FormatInt(large.Limit, 10) + " bytes"}
	case errors.Is(err, logins.ErrTooMany):
		return problem{Status: http.StatusTooManyRequests, Code: "too-many", Title: "this was tried too often", Next: "wait a few minutes", retry: 300}
	case errors.As(err, &failed) && failed.Told != nil:
		return problem{Status: http.StatusBadGateway, Code: failed.Told.Code, Title: failed.Told.Summary, Diagnostics: dsl.Diagnostics{*failed.Told}}
	case errors.As(err, &failed) && failed.Unknown:
		return problem{Status: http.StatusServiceUnavailable, Code: "unknown", Title: engine.Sentence(err), Next: "send it again under the same Idempotency-Key", retry: 1}
	case errors.Is(err, stores.ErrSchema):
		return problem{Status: http.StatusServiceUnavailable, Code: codeNotMigrated, Title: "the store is not prepared for the palettes", Next: "verbatim migrate prepares it", retry: 5}
	case errors.Is(err, context.Canceled):
		return problem{Status: 499, Code: "stopped", Title: "whoever asked went away"}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, stores.ErrConflict):
		return problem{Status: http.StatusServiceUnavailable, Code: "busy", Title: engine.Sentence(err), retry: 1}
	}
	return problem{Status: http.StatusServiceUnavailable, Code: "system", Title: engine.Sentence(err), retry: 5}
}

//go:embed codes.txtar
var codesText string

// Codes explains the server's own codes.
func Codes() []dsl.CodeDoc { return dsl.ReadCodes(codesText) }
