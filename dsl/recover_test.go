package dsl

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"verbatim/runtime/tests/norace"
)

// mixed is a script in every style: bare and in parentheses, on one line and
// on several, nested, with comments.
func mixed() []string {
	return []string{
		`client.add-note :request-id @pierre-sow :note "Accountant is sending it" :expected-date 2025-01-03`,
		`(client.submit-document :request-id @thomas-id :document-type PASSPORT :file-reference "passport.pdf" :as @doc)`,
		"client.provide-value\n  :request-id @maria-dob ; a comment\n  :field-name \"date of birth\"\n  :value 1972-03-15",
		`client.set-address :entity 123e4567-e89b-12d3-a456-426614174000 :lines ["Main street 4", "Zug"] :meta {:zip 6300 :po-box nil}`,
		"(deal.batch :calls [\n  (deal.open :name \"Alpha\" :amount 12.50)\n  (deal.open :name \"Beta\" :amount -3)\n] :strict true)",
		`kyc.escalate :reason "he said \"no\"" :at 2025-01-03T10:00:00+01:00 :to (kyc.officer :region EU)`,
		"(client.extend-due-date\n  :request-id @doc.request\n  :new-date 2025-02-10\n)",
		`client.get-status`,
		`client.get-outstanding :include-completed false :as @list`,
		`(agent.ask :question "Where is it?" :options [A B C])`,
	}
}

// SAFE-P2: each token dropped, doubled or cut in two. What the grammar refuses
// is reported inside the call that was changed or at its edges, and the other
// calls are understood as before.
func TestMutatedCallsAreDiagnosedAndLeaveTheOthersAlone(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	all := mixed()
	r := rand.New(rand.NewPCG(1, 2))
	var mutants, refused, single, others, spared int
	kinds := map[string]int{}
	most := 10_000
	if testing.Short() {
		most = 1_000
	}
	for mutants < most {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		calls := all[:4]
		which := r.IntN(len(calls))
		tokens, err := callGrammar.parser().Lex("", strings.NewReader(calls[which]))
		if err != nil {
			t.Fatal(err)
		}
		tok := tokens[r.IntN(len(tokens)-1)]
		from, to := tok.Pos.Offset, tok.Pos.Offset+len(tok.Value)
		c := calls[which]
		var changed string
		switch r.IntN(3) {
		case 0:
			changed = c[:from] + c[to:]
		case 1:
			changed = c[:to] + tok.Value + c[to:]
		case 2:
			changed = c[:from+len(tok.Value)/2] + c[to:]
		}
		mutants++
		script := strings.Join(calls[:which], "\n") + "\n"
		start := len(script)
		script += changed + "\n"
		end := len(script)
		script += strings.Join(calls[which+1:], "\n") + "\n"
		src := NewSource("mutant", script)
		got, ds := Parse(src)
		want, err := parseByGrammar(src)
		if (err != nil) != ds.HasErrors() {
			t.Fatalf("the grammar says %v, the parser %v, of\n%s", err, ds, changed)
		}
		if err == nil {
			// Still a script: then with the meaning that the grammar gives it.
			for i := range got.Calls {
				if !got.Calls[i].Equal(&want.Calls[i]) {
					t.Fatalf("another meaning: %s", changed)
				}
			}
			continue
		}
		refused++
		if len(ds) == 1 {
			single++
		} else {
			kinds[fmt.Sprintf("%q", changed)]++
		}
		for _, d := range ds {
			if int(d.Place.Range.Start) < start-1 || int(d.Place.Range.Start) > end {
				t.Errorf("%s at %d, outside %d to %d:\n%s", d.Code, d.Place.Range.Start, start, end, changed)
			}
		}
		for i, other := range calls {
			if i == which {
				continue
			}
			others++
			alone, _ := Parse(NewSource("", other))
			for j := range got.Calls {
				if !got.Calls[j].Broken && got.Calls[j].Equal(&alone.Calls[0]) {
					spared++
					break
				}
			}
		}
	}
	t.Logf("%d mutants, %d refused, %.1f%% of them with one diagnostic; %.2f%% of %d other calls unaffected",
		mutants, refused, 100*float64(single)/float64(refused), 100*float64(spared)/float64(others), others)
	if float64(spared) < 0.99*float64(others) {
		t.Errorf("only %d of %d other calls are unaffected", spared, others)
	}
	if float64(single) < 0.97*float64(refused) {
		t.Errorf("only %d of %d mutants have one diagnostic", single, refused)
		for k, n := range kinds {
			t.Log(n, k)
		}
	}
}
