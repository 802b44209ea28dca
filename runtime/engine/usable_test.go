package engine_test

import (
	"context"
	"maps"
	"slices"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/stores"
)

// X12, X13: a question offers no row that the verb could only be refused for: by
// what it requires of the row, along references too, or by the code that could not
// follow. What the other arguments decide is not asked, and what is at the end of
// its way comes last.
func TestWhatAQuestionOffersCanBeUsed(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		ctx := context.Background()
		const clara, maria, pierre, thomas = "clara-weiss-identity", "maria-schmidt-date-of-birth", "pierre-dupont-source-of-wealth", "thomas-muller-identity"
		usable := func(who, verb, arg string, names ...string) []string {
			t.Helper()
			s, err := p.engine.Session(ctx, who)
			if err != nil {
				t.Fatal(err)
			}
			all, err := s.Names().All(ctx, p.reg.Entities())
			if err != nil {
				t.Fatal(err)
			}
			v := p.reg.Verb(verb)
			for i := range v.Params {
				if v.Params[i].Name != arg {
					continue
				}
				if names == nil {
					names = all[v.Params[i].Type.Entity]
				}
				left, err := s.Names().Usable(ctx, v, &v.Params[i], names)
				if err != nil {
					t.Fatal(err)
				}
				return left
			}
			t.Fatalf("%s has no %s", verb, arg)
			return nil
		}
		open := []string{maria, pierre, thomas}
		for _, c := range []struct {
			verb string
			want []string
		}{
			{"client.add-note", open},
			{"client.provide-info", open},
			{"client.submit-document", []string{pierre, thomas}}, // F21: Maria's asks for information
			{"client.start-collection", open},
			{"client.request-clarification", append(slices.Clone(open), clara)},
			{"client.get-request-detail", append(slices.Clone(open), clara)},
		} {
			if got := usable("clara", c.verb, "request-id"); !slices.Equal(got, c.want) {
				t.Errorf("%s offers %q", c.verb, got)
			}
		}
		// What waits for a review can be decided, and nothing else can.
		if got := usable("t.weber", "review.accept", "request-id"); len(got) != 0 {
			t.Errorf("an analyst is offered %q", got)
		}
		p.did(t, "clara", `client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference "upload://abc123"`)
		if got := usable("t.weber", "review.accept", "request-id"); !slices.Equal(got, []string{thomas}) {
			t.Errorf("an analyst is offered %q", got)
		}
		// A part hangs on its request.
		if got := usable("t.weber", "review.receive-part", "part-id"); len(got) != 3 {
			t.Errorf("an analyst is offered %q", got)
		}
		e := p.reg.Entity("outstanding-request")
		for key, row := range p.rows(t, e.Store.Name) {
			if row["request_subtype"].Text() == "SOURCE_OF_WEALTH" {
				p.set(t, e.Store.Name, key, "status", stores.NewString("WAIVED"))
			}
		}
		if got := usable("t.weber", "review.receive-part", "part-id"); len(got) != 0 {
			t.Errorf("an analyst is offered %q", got)
		}
		// A name of nobody's, and somebody else's row, are left out.
		if got := usable("clara", "client.add-note", "request-id", "nobody", maria); !slices.Equal(got, []string{maria}) {
			t.Errorf("she is offered %q", got)
		}
	})
}

// X6, X12: of what is settled, a model is offered what can still be done with it,
// and nothing else. What is not at the end of its way stays, although it could be
// refused now: an earlier call of the same script may change that.
func TestWhatIsSettledIsNotOffered(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		ctx := context.Background()
		const clara, maria = "clara-weiss-identity", "maria-schmidt-date-of-birth"
		settled := func(who string) map[string][]string {
			t.Helper()
			s, err := p.engine.Session(ctx, who)
			if err != nil {
				t.Fatal(err)
			}
			names, err := s.Names().All(ctx, p.reg.Entities())
			if err != nil {
				t.Fatal(err)
			}
			found, err := s.Names().Settled(ctx, s.Verbs(), names)
			if err != nil {
				t.Fatal(err)
			}
			of := make(map[string][]string)
			for _, v := range s.Verbs() {
				for i := range v.Params {
					p := &v.Params[i]
					if left := found[p]; len(left) > 0 {
						of[v.Name+" :"+p.Name] = left
						usable, err := s.Names().Usable(ctx, v, p, left)
						if err != nil || len(usable) > 0 {
							t.Errorf("%s could still be used on %q: %v", v.Name, usable, err)
						}
					}
				}
			}
			return of
		}
		want := map[string][]string{}
		for _, verb := range []string{"add-note", "provide-info", "start-collection", "submit-document"} {
			want["client."+verb+" :request-id"] = []string{clara}
		}
		if got := settled("clara"); !maps.EqualFunc(got, want, slices.Equal[[]string]) {
			t.Errorf("not offered to Clara: %q", got)
		}
		e := p.reg.Entity("outstanding-request")
		for key, row := range p.rows(t, e.Store.Name) {
			if row["request_subtype"].Text() == "DATE_OF_BIRTH" {
				p.set(t, e.Store.Name, key, "status", stores.NewString("WAIVED"))
			}
		}
		for at := range want {
			want[at] = []string{clara, maria}
		}
		want["client.correct-info :request-id"] = []string{maria}
		if got := settled("clara"); !maps.EqualFunc(got, want, slices.Equal[[]string]) {
			t.Errorf("not offered to Clara, one waived: %q", got)
		}
		// Nothing waits for a review, and any that is open may come to.
		if got := settled("t.weber")["review.accept :request-id"]; slices.Contains(got, "thomas-muller-identity") || !slices.Contains(got, maria) {
			t.Errorf("not offered to an analyst: %q", got)
		}
	})
}

// X12: a question offers no verb that could only be refused as things are: for want
// of a row that it could name, or of one that it promises to change.
func TestWhatAQuestionOffersIsOfUse(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		ctx := context.Background()
		useful := func(who, verb string, want bool) {
			t.Helper()
			s, err := p.engine.Session(ctx, who)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.Names().Useful(ctx, p.reg.Verb(verb)); err != nil || got != want {
				t.Errorf("%s for %s: %v, %v", verb, who, got, err)
			}
		}
		asked := []string{"client.collection-response", "client.collection-skip", "client.collection-stop", "client.collection-confirm"}
		for _, verb := range asked {
			useful("clara", verb, false) // nothing is being asked
		}
		s, err := p.engine.Visit(ctx, "clara", engine.Visit{Name: "asked"})
		if err != nil {
			t.Fatal(err)
		}
		for _, verb := range asked { // nor in a session that could keep it
			if got, err := s.Names().Useful(ctx, p.reg.Verb(verb)); err != nil || got {
				t.Errorf("%s: %v, %v", verb, got, err)
			}
		}
		for _, verb := range []string{"client.get-status", "client.submit-document", "client.start-collection", "client.escalate", "client.add-note"} {
			useful("clara", verb, true)
		}
		useful("t.weber", "review.accept", false) // nothing waits for a review
		p.did(t, "clara", `client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference "upload://abc123"`)
		useful("t.weber", "review.accept", true)
	})
}
