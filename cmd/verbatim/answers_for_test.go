package main

import (
	"testing"

	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/jobs/worker"
)

// G22: each notice has a provider that it takes a share of the workers for, plans together one.
func TestEachNoticeHasItsProvider(t *testing.T) {
	t.Parallel()
	of := answersFor(func(target string) string { return map[string]string{"customer": "mail"}[target] })
	for target, want := range map[string]string{"customer": "mail", "nobody": "", server.TargetSignIn: "letters", engine.TargetAgreement: "letters",
		"plan-work": worker.Plans, "plan-wake": worker.Plans, "plan-deadline": worker.Plans, "plan-lapse": worker.Plans} {
		if got := of(engine.Message{Target: target}); got != want {
			t.Errorf("a notice to %s is of %q, want %q", target, got, want)
		}
	}
}
