package client_test

import (
	"fmt"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/tests/told"
	"verbatim/stores"
)

// unreviewed says of a request that nobody at the bank looks at its answer.
func (b *bank) unreviewed(n int) {
	b.t.Helper()
	e := b.reg.Entity("outstanding-request").Store
	err := b.store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: e, Key: key(n), Set: []stores.Assign{{Field: e.FieldIndex("needs_review"), Value: stores.NewBool(false)}}}}})
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// G10: what is told of the questions, and of what was sent, is so in the rows: each sentence is told
// while they are so, and not while they are otherwise.
func TestWhatIsToldOfQuestionsIsSo(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, b *bank) {
		ask := func(who, call string) string {
			t.Helper()
			return strings.Join(b.asks(b.visit(who), call), "\n")
		}
		const about = "the beneficial owner"
		answer := func(field, value string) string {
			t.Helper()
			return ask("clara", `client.collection-response :field "`+field+`" :value "`+value+`"`)
		}
		start := "client.start-collection :request-id "
		first := ask("clara", start+pierre)
		wrong := answer("date_of_birth", "1 January 1850")
		told.Check(t, "client/not-saved", wrong, first)
		if strings.Contains(b.rows("collection")[0]["collected"], "1850") {
			t.Error("it was saved")
		}
		second := answer("full_name", "Pierre Dupont")
		told.Check(t, "client/not-saved", wrong, second)
		told.Check(t, "client/question-of", first, second, "1", "5", about)
		once := ask("clara", start+pierre)
		answer("date_of_birth", "March 15, 1972")
		twice := ask("clara", start+pierre)
		told.Check(t, "client/welcome-back", once, twice, "1", "5", about)
		told.Check(t, "client/welcome-back", once, first)
		stopped := ask("clara", "client.collection-stop")
		told.Check(t, "client/stopped", stopped, twice, "2", "5", about)
		if n := len(b.rows("info-submission")); n != 0 {
			t.Errorf("stopped, and %d were sent", n)
		}
		told.Check(t, "client/stopped", stopped, b.refused(b.visit("clara"), "client.collection-stop", "not-possible")) // nothing is being asked any more

		// All at once, with a gap: what was given is counted, and is not asked again.
		ask("clara", start+pierre)
		b.does("clara", "client.provide-info :request-id "+pierre+` :info-type BENEFICIAL_OWNER :collected-data {:full_name "Pierre Dupont" :date_of_birth 1972-03-15 :nationality "FR" :ownership_percent 40 :control "TRUST"}`)
		gap := ask("clara", `client.collection-response :value "15 March 1971"`)
		told.Check(t, "client/goes-on", gap, twice, "5", "6", about)
		all := answer("trust_name", "Dupont Family Trust")
		told.Check(t, "client/answer-of", all, gap, "6", "6", about)
		told.Check(t, "client/check", all, gap, "6")
		changed := answer("ownership_percent", "41 %")
		told.Check(t, "client/changed", changed, all, "Share held")
		sent := ask("clara", "client.collection-confirm :confirmed true")
		told.Check(t, "client/sent", sent, changed, "6")
		told.Check(t, "client/with-bank", ask("carl", start+pierre), ask("carl", start+maria), about)
		b.does("carl", "client.collection-stop")

		// What came back.
		again := ask("clara", start+pierre)
		b.does("weber", `review.reject :request-id `+pierre+` :reason "The share is not what the register says."`)
		rejected := ask("clara", start+pierre)
		told.Check(t, "client/cannot-use", rejected, again, "The share is not what the register says")
		told.Check(t, "client/as-before", rejected, first)
		ask("clara", "client.collection-confirm :confirmed true")
		b.does("weber", `review.ask-for-more :request-id `+pierre+` :missing "The deed of the trust"`)
		more := ask("clara", start+pierre)
		told.Check(t, "client/still-needs", more, rejected, "The deed of the trust")
		told.Check(t, "client/cannot-use", rejected, more)
		part := ask("clara", "client.collection-confirm :confirmed true")
		told.Check(t, "client/part", part, sent, "6", "The deed of the trust")
		told.Check(t, "client/sent", sent, part)

		// One question, and an answer that nobody looks at, or that somebody does.
		ask("clara", start+maria)
		one := ask("clara", `client.collection-response :value "March 15, 1972"`)
		told.Check(t, "client/check-one", one, all)
		sentOne := ask("clara", "client.collection-confirm :confirmed true")
		told.Check(t, "client/sent-one", sentOne, one)
		b.does("weber", `review.ask-for-more :request-id `+maria+` :missing "The birth certificate"`)
		ask("clara", start+maria)
		partOne := ask("clara", "client.collection-confirm :confirmed true")
		told.Check(t, "client/part-one", partOne, sentOne, "The birth certificate")
		told.Check(t, "client/sent-one", sentOne, partOne)
		b.does("weber", `review.receive-part :part-id @maria-schmidt-the-birth-certificate`, `review.reject :request-id `+maria+` :reason "Not readable"`)
		b.unreviewed(103)
		ask("clara", start+maria)
		takenOne := ask("clara", "client.collection-confirm :confirmed true")
		told.Check(t, "client/taken-one", takenOne, sentOne)
		told.Check(t, "client/sent-one", sentOne, takenOne)
		b.unreviewed(104)
		b.does("clara", start+taxes, `client.collection-response :field "country" :value "LU"`, `client.collection-response :field "has_tax_number" :value "yes"`, `client.collection-response :field "tax_number" :value "1972 0315 99"`)
		without := ask("clara", "client.collection-skip")
		told.Check(t, "client/left-out", without, all)
		taken := ask("clara", "client.collection-confirm :confirmed true")
		told.Check(t, "client/taken", taken, sent, "3")
		told.Check(t, "client/sent", sent, taken)

		// A person: before it is agreed to, nothing is handed over.
		s := b.visit("clara")
		script, _ := dsl.Parse(dsl.NewSource("story.dsl", `client.escalate :reason "I am lost" :preferred-contact CALL`))
		p, _ := s.Check(ctx, script)
		preview, err := s.Preview(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		none := fmt.Sprint(b.rows("escalation-request"))
		r, err := s.Run(ctx, p, engine.RunOptions{Agreed: preview.ID})
		if err != nil {
			t.Fatal(err)
		}
		told.Check(t, "client/handed-over", r.Calls[0].Result.Rows[0][4].Text(), none+b.refused(s, script.Calls[0].Verb+` :reason "I am lost" :preferred-contact CALL`, "needs-agreement"), "your relationship manager", b.rows("escalation-request")[0]["reference"])
	})
}

// G10: a question that somebody else answered, or the bank settled, is told as that, and as nothing
// else.
func TestWhatIsToldOfOvertakenQuestionsIsSo(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, b *bank) {
		ask := func(who, call string) string {
			t.Helper()
			return strings.Join(b.asks(b.visit(who), call), "\n")
		}
		const answer = `client.collection-response :value "March 15, 1850"`
		ask("carl", "client.start-collection :request-id "+maria)
		open := ask("carl", answer)
		b.does("clara", bornAtOnce)
		overtaken := ask("carl", answer)
		told.Check(t, "client/overtaken", overtaken, open, "the date of birth")
		ask("carl", "client.start-collection :request-id "+maria)
		open = ask("carl", answer)
		b.does("weber", "review.accept :request-id "+maria)
		settled := ask("carl", answer)
		told.Check(t, "client/settled", settled, open, "the date of birth")
		told.Check(t, "client/settled", settled, overtaken)
		told.Check(t, "client/overtaken", overtaken, settled)
	})
}
