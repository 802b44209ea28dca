package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"verbatim/runtime/tests/norace"
	"verbatim/stores"
	"verbatim/verbs"
)

// X7, O1, SAFE-A1, SAFE-A2: what a client is not to see does not exist for them.
// Whatever they call, names included, is answered by a bank that hides a request
// in the very bytes in which one answers that has no such request.
func TestHiddenIsAbsent(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	shops := map[string]func(testing.TB) *shop{"sqlite": sqliteBank, "postgres": postgresBank}
	for name, open := range shops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hides, lacks := newPortal(t, open(t)), newPortal(t, open(t))
			key, _ := stores.ParseUUID("000004e9-0000-4000-8000-000000000005")
			ctx := context.Background()
			err := lacks.store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
				return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Delete, Entity: lacks.reg.Entity("outstanding-request").Store, Key: key}}})
			})
			if err != nil {
				t.Fatal(err)
			}

			calls := []string{
				"client.get-status", "client.get-outstanding", "client.get-outstanding :include-completed true", "client.get-commitments",
				"client.get-entity-info :entity-id @allianz-reinsurance-ag",
			}
			for _, request := range []string{`"` + key.Text() + `"`, "@allianz-reinsurance-ag-address", `"Allianz Reinsurance AG ADDRESS"`, "@allianz-reinsurance-ag-adress"} {
				for _, call := range []string{
					"client.get-request-detail", `client.submit-document :document-type PASSPORT :file-reference "upload://x"`,
					"client.provide-info :info-type ADDRESS :collected-data {}", `client.add-note :note "x"`, `client.request-clarification :question "x"`,
					"client.start-collection",
				} {
					calls = append(calls, call+" :request-id "+request)
				}
			}
			calls = append(calls, `client.add-note :request-id @thomas-muller-identity :note @allianz-reinsurance-ag-address.status`)
			for _, call := range calls {
				if a, b := plain(answered(t, hides, call)), plain(answered(t, lacks, call)); a != b {
					t.Errorf("%s\nhidden: %s\nabsent: %s", call, a, b)
				}
			}
			for _, who := range []string{"clara", "t.weber"} {
				a, b := plain(called(t, hides, who)), plain(called(t, lacks, who))
				sees := who != "clara"
				if (a != b) != sees || strings.Contains(a, "allianz-reinsurance-ag-address") != sees {
					t.Errorf("%s\nhidden: %s\nabsent: %s", who, a, b)
				}
			}
		})
	}
}

// answered is all that clara reads of a call.
func answered(t testing.TB, p *portal, text string) string {
	t.Helper()
	results, err := p.try("clara", text)
	if err != nil {
		return fmt.Sprint(code(err), ": ", err)
	}
	out, err := json.Marshal(results)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// called is what somebody's session calls requests, and what is made of them.
func called(t testing.TB, p *portal, who string) string {
	t.Helper()
	s, err := p.engine.Session(context.Background(), who)
	if err != nil {
		t.Fatal(err)
	}
	var of []*verbs.Entity
	for _, e := range p.reg.Entities() {
		if strings.Contains(e.Store.Name, "request") || e.Store.Name == "case-step" {
			of = append(of, e)
		}
	}
	names, err := s.Names().All(context.Background(), of)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range of {
		fmt.Fprintln(&b, e.Store.Name, names[e])
	}
	return b.String()
}
