package client_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// X9: whatever a client is told has a source: every value that would be written and
// every one that was says what it is worked out from and whose word that is, every
// question gives its reason and the rule of the palette, every refusal its code and
// its place, every value that is read whose it is, and every entry of the
// journal who, on which words of the conversation, by which call of which palette,
// and from where each value that it was given came.
func TestEveryStatementHasItsSource(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		s := b.visit("clara")
		written := func(calls []receipt.Call) {
			t.Helper()
			for i := range calls {
				for _, row := range calls[i].Rows {
					for _, f := range row.Fields {
						if f.From == "" && f.Origin == "" {
							t.Errorf("%s: nothing says where %s.%s comes from", calls[i].Text, row.Entity, f.Name)
						}
					}
				}
				for _, set := range calls[i].Session {
					if set.From == "" && set.Origin == "" {
						t.Errorf("%s: nothing says where %s comes from", calls[i].Text, set.Name)
					}
				}
				for _, ask := range calls[i].Asks {
					if ask.Reason == "" || ask.Rule == (receipt.Place{}) {
						t.Errorf("%s asks without a reason", calls[i].Text)
					}
				}
				if r := calls[i].Result; r != nil {
					for row := range r.Rows {
						for column := range r.Columns {
							if r.Origin(row, column) == "" {
								t.Errorf("%s: nothing says whose word %s is", calls[i].Text, r.Columns[column])
							}
						}
					}
				}
			}
		}
		asked, done := 0, 0
		for _, text := range []string{
			"client.get-status", "client.get-outstanding", "client.get-request-detail :request-id " + pierre, "client.get-companies", "client.get-completed",
			"client.start-collection :request-id " + pierre, `client.collection-response :field "full_name" :value "Pierre Dupont"`, "client.collection-skip", "client.collection-stop",
			bornAtOnce, `client.add-note :request-id @thomas-muller-identity :note "He is away" :expected-date 2025-01-03`, "client.get-commitments",
			`client.request-clarification :request-id ` + pierre + ` :question "Why?"`, `client.name-repayment-account :cbu-id @allianz-reinsurance-ag :iban "LU280019400644750000"`,
			`client.escalate :reason "I am lost"`,
		} {
			script, _ := dsl.Parse(dsl.NewSource("story.dsl", text))
			p, ds := s.Check(context.Background(), script, engine.CheckOptions{Said: verbs.Literals{Origin: verbs.NewOrigin(verbs.FromPerson, "")}})
			if p == nil {
				t.Fatal(text, ds)
			}
			preview, err := s.Preview(ctx, p)
			if err != nil {
				t.Fatal(text, err)
			}
			written(preview.Calls)
			o := engine.RunOptions{Source: "story.dsl", Said: []sessions.Said{{Role: sessions.Client, Content: "about " + text}}}
			if s.Reads(p) {
				o.Said = nil
			}
			if len(preview.Asks()) > 0 {
				asked++
				o.Agreed = preview.ID
			}
			reply, err := s.Run(ctx, p, o)
			if err != nil {
				t.Fatal(text, err)
			}
			written(reply.Calls)
			done++
		}
		if asked == 0 || done < 15 {
			t.Errorf("%d asked, %d done", asked, done)
		}
		for _, text := range []string{
			"client.add-note :request-id @jonas-lindqvist-address :note \"x\"", "client.collection-confirm :confirmed true", "review.waiting",
			`client.escalate :reason "again"`,
		} {
			_, err := b.say(s, text, engine.RunOptions{})
			var r *engine.Refusal
			if !errors.As(err, &r) {
				t.Fatal(text, err)
			}
			for _, d := range r.Diagnostics {
				if d.Code == "" || d.Summary == "" || d.Place.Source == nil {
					t.Errorf("%s: refused without a source: %+v", text, d)
				}
			}
		}
		entries := mustJournal(t, b)
		if len(entries) < 9 {
			t.Fatalf("%d entries", len(entries))
		}
		turns, err := s.Turns().Between(ctx, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		heard := 0
		for i := range turns {
			if turns[i].Entries > 0 {
				heard++
			}
		}
		ok := 0
		for i := range entries {
			e := &entries[i]
			if e.Principal != "clara" || e.Session == "" || !strings.HasPrefix(e.Source, "story.dsl") || e.Verb == "" || e.Call == "" || e.Palette == "" {
				t.Errorf("entry %d has no source: %+v", e.Seq, e)
			}
			if e.Outcome == "ok" {
				ok++
				if e.Turn == "" {
					t.Errorf("entry %d does not say on whose words: %s", e.Seq, e.Call)
				}
			} else if e.Reason == "" {
				t.Errorf("entry %d was refused for no reason", e.Seq)
			}
		}
		if heard == 0 || ok < 8 {
			t.Errorf("%d turns led to entries, of which %d were done", heard, ok)
		}
		for _, n := range notices(t, b) {
			if n.Payload == "" || n.Kind == "" || n.Principal != "clara" {
				t.Errorf("a notice has no source: %+v", n)
			}
		}
	})
}

func notices(t *testing.T, b *bank) []stores.JobRecord {
	t.Helper()
	all, err := b.store.Jobs(ctx, stores.JobFilter{})
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	return all
}
