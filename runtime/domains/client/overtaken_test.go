package client_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
)

const maria = "@maria-schmidt-date-of-birth"

const bornAtOnce = "client.provide-info :request-id " + maria + " :info-type DATE_OF_BIRTH :collected-data {:date_of_birth 1972-03-15}"

// inState lists whose questions about a request are in a state.
func (b *bank) inState(status string) (whose []string) {
	for _, c := range b.rows("collection") {
		if c["status"] == status {
			whose = append(whose, c["client"])
		}
	}
	slices.Sort(whose)
	return whose
}

// O11, O14, O15, O16, O20: a request that is answered in full, all at once, is
// asked about no more: what was begun question by question ends, the client's and a
// colleague's, in this process and in another one; whoever still answers is told,
// and nothing of it is taken. What is only answered in part goes on being asked.
func TestWhatIsAnsweredInFullIsAskedNoMore(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		b.asks(b.visit("clara"), "client.start-collection :request-id "+maria)
		b.asks(b.visit("carl"), "client.start-collection :request-id "+maria)
		b.asks(b.visit("carl"), `client.collection-response :value "March 15, 1971"`)
		b.asks(b.visit("carl"), "client.start-collection :request-id "+pierre)
		b.asks(b.visit("carl"), "client.start-collection :request-id "+maria)

		if _, err := b.say(b.visit("clara"), bornAtOnce, engine.RunOptions{}); err != nil {
			t.Fatal(err)
		}
		equal(t, b.inState("ANSWERED"), []string{"carl", "clara"})
		equal(t, b.inState("COLLECTING"), []string{"carl"}) // about Pierre

		const over = "ANSWERED |  |  |  | Somebody has answered this in full meanwhile: the date of birth. I ask nothing more, and have not taken what you just said for an answer."
		equal(t, b.asks(b.visit("clara"), `client.collection-response :value "March 15, 1970"`), []string{over})
		equal(t, b.asks(b.visit("carl"), "client.collection-confirm :confirmed true"), []string{over})
		for _, who := range []string{"clara", "carl"} {
			// It is told once: nothing is at hand any more.
			b.refused(b.visit(who), "client.collection-skip", "not-possible")
			info, err := b.visit(who).Turns().Info(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for i := range info.Values {
				if v := &info.Values[i]; v.Name == "collection_mode" && v.Value.Bool() {
					t.Errorf("%s is still being asked", who)
				}
			}
		}
		if sent := b.rows("info-submission"); len(sent) != 1 || !strings.Contains(sent[0]["collected_data"], "1972-03-15") {
			t.Errorf("%v", sent)
		}
		// Whoever begins again is told that the bank has an answer.
		if got := b.asks(b.visit("carl"), "client.start-collection :request-id "+maria); len(got) != 1 || !strings.Contains(got[0], "The bank has an answer already and is checking it: the date of birth.") {
			t.Errorf("%q", got)
		}
		equal(t, b.asks(b.visit("carl"), "client.collection-stop"), []string{"ABANDONED |  |  |  | Stopped with 0 of 1 questions answered. Nothing was sent; your answers are kept, and you can go on with them any time."})
		// The other one goes on where it was.
		if got := b.asks(b.visit("carl"), "client.start-collection :request-id "+pierre); !strings.Contains(got[0], "Question 1 of 5") {
			t.Errorf("%q", got)
		}
	})
}

// U41: it is so also where two answer in full at once while others are being asked:
// whoever comes last, nothing is left open, and no answer is taken after it.
func TestWhatIsAnsweredAtOnceByTwoIsAskedNoMore(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		for _, who := range []string{"clara", "carl"} {
			b.asks(b.visit(who), "client.start-collection :request-id "+maria)
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		full := 0
		for _, who := range []string{"clara", "carl", "clara", "carl"} {
			calls := []string{bornAtOnce, `client.collection-response :field "date_of_birth" :value "March 15, 1971"`}
			for _, call := range calls {
				s := b.visit(who)
				all.Go(func() {
					_, err := b.say(s, call, engine.RunOptions{})
					var r *engine.Refusal
					switch {
					case err == nil && call == bornAtOnce:
						mu.Lock()
						full++
						mu.Unlock()
					case err != nil && !errors.As(err, &r):
						t.Error(err)
					}
				})
			}
		}
		all.Wait()
		if full == 0 {
			// Each may have been told that something changed meanwhile; one who
			// asks again is alone.
			if _, err := b.say(b.visit("clara"), bornAtOnce, engine.RunOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		equal(t, b.inState("ANSWERED"), []string{"carl", "clara"})
		if n := len(b.rows("collection")); n != 2 {
			t.Errorf("%d collections", n)
		}
	})
}

// O14, O15, X16: what the bank settles, by accepting what is there or by doing without
// it, is asked about no more: whoever still answers is told, and nothing is taken for
// an answer that nobody needs. What a client answers meanwhile is no reason to ask two
// people once more whether the bank can do without it.
func TestWhatTheBankSettlesIsAskedNoMore(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		// Accepted, while Clara answers once more.
		b.does("clara", `client.provide-info :request-id `+taxes+` :info-type TAX_RESIDENCE :collected-data {:country "LU" :has_tax_number true :tax_number "1972 0315 99"}`,
			"client.start-collection :request-id "+taxes, `client.collection-response :value "Belgium"`)
		b.does("weber", "review.accept :request-id "+taxes)
		const over = "SETTLED |  |  |  | The bank has settled this meanwhile: the tax residence. Nothing more is needed for it, and I have not taken what you just said for an answer."
		equal(t, b.asks(b.visit("clara"), `client.collection-response :value "yes"`), []string{over})
		equal(t, b.inState("SETTLED"), []string{"clara"})
		b.refused(b.visit("clara"), "client.collection-skip", "not-possible")

		// Waived, by two.
		b.does("clara", "client.start-collection :request-id "+pierre)
		first, second := b.visit("weber"), b.visit("nowak")
		script, _ := dsl.Parse(dsl.NewSource("story.dsl", "review.waive :request-id "+pierre+` :reason "The register has it already"`))
		p, ds := first.Check(context.Background(), script)
		if p == nil {
			t.Fatal(ds)
		}
		preview, err := first.Preview(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		pending, err := first.Propose(ctx, p, engine.RunOptions{Agreed: preview.ID})
		if err != nil {
			t.Fatal(err)
		}
		b.does("clara", `client.collection-response :value "Pierre Dupont"`)
		if _, _, err := second.Agree(ctx, pending.ID); err != nil {
			t.Fatal(err)
		}
		if got := b.asks(b.visit("clara"), "client.collection-confirm :confirmed true"); len(got) != 1 || !strings.Contains(got[0], "settled this meanwhile: the beneficial owner") {
			t.Errorf("%q", got)
		}
		equal(t, b.inState("SETTLED"), []string{"clara", "clara"})
		b.refused(b.visit("clara"), "client.start-collection :request-id "+pierre, "requirement-not-met")
		if n := len(b.rows("info-submission")); n != 1 {
			t.Errorf("%d submissions", n)
		}
	})
}
