package dialog

import (
	"sync"

	"verbatim/runtime/conversation/values"
)

// What a refusal means to the person, by its code. In English they are told the refusal itself,
// which is more exact; the model and the record always have that.
var refusals = sync.OnceValue(func() map[string]values.Key {
	all := map[string]values.Key{}
	for _, m := range meanings {
		for _, code := range m.codes {
			all[code] = m.says
		}
	}
	return all
})

// Codes of a wrong call. The person did not write it, so they are told only that we could not do
// it.
var misspoken = []string{"unknown-verb", "unknown-argument", "duplicate-argument", "wrong-type", "bad-ref-kind", "ambiguous-name", "unknown-field", "duplicate-binding",
	"unused-binding", "binding-shadows-name", "cycle", "ended-currency", "hard-coded-uuid", "deprecated-verb", "no-result", "needs-earlier-call", "out-of-order", "no-such-call", "bad-turn", "one-tool", "not-previewed", "key-reused"}

var meanings = []struct {
	codes []string
	says  values.Key
}{
	{misspoken, sayTooHard},
	{[]string{"missing-argument", "value-needed"}, "dialog/refused-missing-argument"},
	{[]string{"unknown-name", "nothing-matched"}, "dialog/refused-unknown-name"},
	{[]string{"unknown-code"}, "dialog/refused-unknown-code"},
	{[]string{"out-of-range", "wrong-value", "too-precise"}, "dialog/refused-out-of-range"},
	{[]string{"too-short"}, "dialog/refused-too-short"},
	{[]string{"limit-reached"}, "dialog/refused-limit-reached"},
	{[]string{"too-long", "too-much"}, "dialog/refused-too-long"},
	{[]string{"pattern-mismatch", "schema-mismatch", "invalid-duration"}, "dialog/refused-pattern-mismatch"},
	{[]string{"invalid-email"}, "dialog/refused-invalid-email"},
	{[]string{"invalid-phone"}, "dialog/refused-invalid-phone"},
	{[]string{"invalid-iban"}, "dialog/refused-invalid-iban"},
	{[]string{"invalid-bic"}, "dialog/refused-invalid-bic"},
	{[]string{"invalid-lei"}, "dialog/refused-invalid-lei"},
	{[]string{"invalid-national-id"}, "dialog/refused-invalid-national-id"},
	{[]string{"not-permitted", "role-lost", "unknown-principal"}, "dialog/refused-not-permitted"},
	{[]string{"sign-in-again"}, "dialog/refused-sign-in-again"},
	{[]string{"requirement-not-met", "not-together", "not-possible", "no-step", "not-accepted"}, "dialog/refused-requirement-not-met"},
	{[]string{"needs-agreement"}, "dialog/refused-needs-agreement"},
	{[]string{"same-person"}, "dialog/refused-same-person"},
	{[]string{"declined-before"}, "dialog/refused-declined-before"},
	{[]string{"stale-preview", "changed-meanwhile", "other-palette", "rights-changed", "session-moved"}, "dialog/refused-stale-preview"},
	{[]string{"agreement-expired"}, "dialog/refused-expired"},
	{[]string{"no-undo", "unknown-entry"}, "dialog/refused-no-undo"},
	{[]string{"changed-since"}, "dialog/refused-changed-since"},
	{[]string{"already-exists", "already-waits"}, "dialog/refused-already-exists"},
	{[]string{"already-used"}, "dialog/refused-already-used"},
	{[]string{"secret-would-wait"}, "dialog/refused-secret-would-wait"},
	{[]string{"secret-would-be-open"}, "dialog/refused-secret-would-be-open"},
	{[]string{"unknown-confirmation"}, "dialog/refused-unknown-confirmation"},
	{[]string{"unknown-upload"}, "dialog/refused-unknown-upload"},
	{[]string{"upload-not-scanned"}, "dialog/refused-upload-not-scanned"},
	{[]string{"upload-harmful"}, "dialog/refused-upload-harmful"},
	{[]string{"upload-type"}, "dialog/refused-upload-type"},
	{[]string{"upload-too-large"}, "dialog/refused-upload-too-large"},
	{[]string{"no-file"}, "dialog/refused-no-file"},
	{[]string{"origin"}, "dialog/refused-origin"},
	{[]string{"which-at-work", "nothing-at-work"}, "dialog/refused-which-at-work"},
	{[]string{"no-session", "unknown-session", "session-too-large", "bad-session"}, "dialog/refused-no-session"},
	{[]string{"tool-unfit", "tool-needs", "tool-silent", "tool-failed", "tool-answer", "tool-alone", "tool-otherwise", "tool-answers-later", "names-unread", "unreadable-row", "row-rewritten", "not-carried-out"}, "dialog/refused-tool-unfit"},
	{[]string{"tool-unknown"}, sayUnknownEnd},
	{[]string{"tool-settled"}, "dialog/refused-tool-settled"},
}
