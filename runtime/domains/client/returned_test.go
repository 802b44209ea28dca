package client_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/tests/told"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

const taxes = "@clara-weiss-tax-residence"

// does runs calls that must be done, each by another process.
func (b *bank) does(who string, calls ...string) {
	b.t.Helper()
	for _, call := range calls {
		if _, err := b.say(b.visit(who), call, engine.RunOptions{}); err != nil {
			b.t.Fatalf("%s: %s: %v", who, call, err)
		}
	}
}

// questionsOf lists the collections of somebody, the oldest first.
func (b *bank) questionsOf(who string) []map[string]string {
	b.t.Helper()
	all := slices.DeleteFunc(b.rows("collection"), func(c map[string]string) bool { return c["client"] != who })
	slices.SortFunc(all, func(x, y map[string]string) int { return strings.Compare(x["started_at"], y["started_at"]) })
	return all
}

// edit writes over what was sent, as the bank itself does behind everybody's back.
func (b *bank) edit(change func(old string) string) {
	b.t.Helper()
	e := b.reg.Entity("info-submission").Store
	field := e.FieldIndex("collected_data")
	err := b.store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		rows, err := tx.Find(ctx, stores.Find{Entity: e})
		for _, row := range rows {
			v, ok := stores.ParseJSON(change(row[field].Text()))
			if ok != nil {
				b.t.Fatal(ok)
			}
			batch := stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: e, Key: row[e.Key], Set: []stores.Assign{{Field: field, Value: v}}}}}
			if err == nil {
				err = tx.Apply(ctx, batch)
			}
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// answerPierre sends all about Pierre, question by question.
func (b *bank) answerPierre(who string) {
	b.t.Helper()
	b.does(who, "client.start-collection :request-id "+pierre,
		`client.collection-response :field "full_name" :value "Pierre Dupont" client.collection-response :field "date_of_birth" :value "March 15, 1972"
		client.collection-response :field "nationality" :value "France" client.collection-response :field "ownership_percent" :value "40 %"
		client.collection-response :field "control" :value "through a trust" client.collection-response :field "trust_name" :value "Dupont Family Trust"`,
		"client.collection-confirm :confirmed true")
}

// O14, O15, O16, X12: what the bank cannot use, or wants more of, is offered again
// to whoever sent it, with the reason, in another session of another process: they
// check it, change one answer and send it again. What was sent stays as it was sent.
func TestWhatCameBackIsOfferedAgain(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		b.answerPierre("clara")
		// While the bank looks at it, nothing has come back.
		if got := b.asks(b.visit("clara"), "client.start-collection :request-id "+pierre); len(got) != 1 || !strings.Contains(got[0], "Question 1 of 5") || !strings.Contains(got[0], "The bank has an answer already") {
			t.Errorf("%q", got)
		}
		b.does("clara", "client.collection-stop")
		b.does("weber", `review.reject :request-id `+pierre+` :reason "The share is not what the register says."`)

		const why = "The bank cannot use what was sent. It says: “The share is not what the register says”."
		before := len(mustJournal(t, b))
		equal(t, b.asks(b.visit("clara"), "client.start-collection :request-id "+pierre), []string{
			"REVIEWING | Answer 1 of 6: the beneficial owner | Full name | Pierre Dupont | " + why + " These are your earlier answers; say which one to change, and to what, as in “Full name: …”. Please check your 6 answers. They are sent when you confirm them; you can correct them until the bank has checked them.",
			"REVIEWING | Answer 2 of 6: the beneficial owner | Date of birth | 15 March 1972",
			"REVIEWING | Answer 3 of 6: the beneficial owner | Nationality | France",
			"REVIEWING | Answer 4 of 6: the beneficial owner | Share held | 40 %",
			"REVIEWING | Answer 5 of 6: the beneficial owner | How they control the client | through a trust",
			"REVIEWING | Answer 6 of 6: the beneficial owner | Name of the trust | Dupont Family Trust"})
		for _, e := range mustJournal(t, b)[before:] {
			if strings.Contains(e.Call+e.Changes, "Dupont Family") || strings.Contains(e.Changes, "1972") {
				t.Errorf("an answer stands in the journal: %s", e.Changes)
			}
		}
		b.does("clara", `client.collection-response :field "ownership_percent" :value "38 %"`)
		// Whoever comes back once more finds it as they left it, and is told again.
		if got := b.asks(b.visit("clara"), "client.start-collection :request-id "+pierre); len(got) != 6 || !strings.Contains(got[3], "38 %") || !strings.Contains(got[0], why) {
			t.Errorf("%q", got)
		}
		b.does("clara", "client.collection-confirm :confirmed true")
		sent := b.rows("info-submission")
		slices.SortFunc(sent, func(x, y map[string]string) int { return strings.Compare(x["submitted_at"], y["submitted_at"]) })
		if len(sent) != 2 || sent[0]["verdict"] != "REJECTED" || !strings.Contains(sent[0]["collected_data"], `"ownership_percent":40`) ||
			sent[1]["verdict"] != "RECEIVED" || sent[1]["collected_data"] != strings.Replace(sent[0]["collected_data"], "40", "38", 1) {
			t.Errorf("%v", sent)
		}
		of := b.questionsOf("clara")
		if len(of) != 2 || of[0]["status"] != "SUBMITTED" || of[1]["status"] != "SUBMITTED" || !strings.Contains(of[0]["collected"], "40") || of[1]["given"] != sent[0]["submission_id"] {
			t.Errorf("%v", of)
		}
		if len(b.rows("review-task")) != 2 {
			t.Errorf("%v", b.rows("review-task"))
		}

		// What was good and is not all comes back as well, with what is missing.
		b.does("weber", `review.ask-for-more :request-id `+pierre+` :missing "The deed of the trust"`, `review.ask-for-more :request-id `+pierre+` :missing "The trustee's name"`)
		german, err := b.engine.Visit(ctx, "clara", engine.Visit{Name: "portal", Language: "de"})
		if err != nil {
			t.Fatal(err)
		}
		if got := b.asks(german, "client.start-collection :request-id "+pierre); len(got) != 6 || !strings.Contains(got[0], "Die Bank hat es geprüft und braucht noch: The deed of the trust, The trustee's name. Das sind Ihre bisherigen Antworten; sagen Sie, welche geändert werden soll, und wie, zum Beispiel „Vollständiger Name: …“. ") || !strings.Contains(got[3], "38 %") {
			t.Errorf("%q", got)
		}
	})
}

// O11, O14: what was given all at once comes back question by question, with what is
// sensitive not shown, and what was left out left out again.
func TestWhatWasGivenAtOnceComesBackToo(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		b.does("clara", `client.provide-info :request-id `+taxes+` :info-type TAX_RESIDENCE :collected-data {:country "LU" :has_tax_number true :tax_number "1972 0315 99"}`)
		b.does("weber", `review.reject :request-id `+taxes+` :reason "No such number"`)
		got := b.asks(b.visit("clara"), "client.start-collection :request-id "+taxes)
		if text := strings.Join(got, "\n"); len(got) != 4 || strings.Contains(text, "0315") || !strings.Contains(text, "Tax number | ••••••") || !strings.Contains(text, "Since when | (left out)") {
			t.Errorf("%q", got)
		}
		// Another answer has other questions, as ever.
		if got := b.asks(b.visit("clara"), `client.collection-response :field "has_tax_number" :value "no"`); len(got) != 1 || !strings.Contains(got[0], "Why there is none") {
			t.Errorf("%q", got)
		}
		b.does("clara", `client.collection-response :value "The country issues none."`, "client.collection-confirm :confirmed true")
		for _, row := range b.rows("info-submission") {
			if row["verdict"] == "RECEIVED" && row["collected_data"] != `{"country":"LU","has_tax_number":false,"why_no_number":"The country issues none."}` {
				t.Errorf("%v", row)
			}
		}
	})
}

// O15, O16, X12: where all is answered, a sentence says which answer it changes, by
// what the question is called, in the person's language; where nothing says it,
// nothing is changed. While a question is at hand, only a colon names another.
func TestAnAnswerNamesItsQuestion(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, b *bank) {
		b.does("clara", "client.start-collection :request-id "+pierre, `client.collection-response :value "Full name: Pierre Dupont"`)
		b.does("clara", `client.collection-response :value "Nationality: France"`)
		if got := b.asks(b.visit("clara"), `client.collection-response :value "nationality is Belgium"`); !strings.Contains(got[0], "Date of birth was not understood") {
			t.Errorf("%q", got)
		}
		b.does("clara", `client.collection-response :value "March 15, 1972"`, `client.collection-response :value "40 %"`)
		b.does("clara", `client.collection-response :value "by owning shares"`)
		for _, say := range []struct{ language, says, has string }{
			{"en", "Please change the share held to 38 %", "Share held | 38 %"},
			{"en", "share held: 37 %", "Share held | 37 %"},
			{"en", "Full name: Pierre: the younger", "Full name | Pierre: the younger"},
			{"de", "Ändern Sie den Anteil auf 36 %", "Anteil | 36 %"},
			{"fr", "La part détenue est 35 %", "Part détenue | 35 %"},
			{"es", "Fecha de nacimiento: 16 de marzo de 1972", "Fecha de nacimiento | 16 de marzo de 1972"},
			{"en", "date of birth: 15 March 1972", "Date of birth | 15 March 1972"},
		} {
			s, err := b.engine.Visit(ctx, "clara", engine.Visit{Name: "portal", Language: say.language})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(b.asks(s, `client.collection-response :value "`+say.says+`"`), "\n"); !strings.Contains(got, say.has) || !strings.Contains(got, "REVIEWING") {
				t.Errorf("%s: %q", say.says, got)
			}
		}
		for _, nothing := range []string{"38 %", "to 38 %", "the weather is 38 %", "share held:", "I think that you should know that the share held is 38 %"} {
			b.refused(b.visit("clara"), `client.collection-response :value "`+nothing+`"`, "not-possible")
		}
		// Who says no is asked what to change, and nothing is taken for an answer that
		// names no question; a yes to that sends nothing, it shows them once more.
		s := b.visit("clara")
		for range 2 {
			if got := b.asks(s, "client.collection-confirm :confirmed false"); len(got) != 5 || !strings.Contains(got[0], "Say which answer to change, and to what, as in “Full name: …”.") {
				t.Errorf("%q", got)
			}
			b.refused(s, `client.collection-response :value "Somebody"`, "not-possible")
		}
		if got := b.asks(s, "client.collection-confirm :confirmed true"); len(got) != 5 || !strings.HasPrefix(got[0], "REVIEWING") || len(b.rows("info-submission")) != 0 {
			t.Errorf("%q", got)
		}
		b.asks(s, "client.collection-confirm :confirmed false")
		if got := b.asks(s, `client.collection-response :value "full name: P"`); len(got) != 1 || !strings.Contains(got[0], "Nothing was saved") {
			t.Errorf("%q", got)
		}
		b.does("clara", `client.collection-response :value "full name: Pierre"`, "client.collection-confirm :confirmed true")
		if sent := b.rows("info-submission"); len(sent) != 1 || !strings.Contains(sent[0]["collected_data"], `"full_name":"Pierre","nationality":"FR","ownership_percent":35`) {
			t.Errorf("%v", sent)
		}
		// Of one question, whatever is said is the answer.
		b.does("clara", "client.start-collection :request-id "+maria, `client.collection-response :value "March 15, 1972"`)
		if got := b.asks(b.visit("clara"), `client.collection-response :value "March 16, 1972"`); len(got) != 1 || !strings.Contains(got[0], "16 March 1972") {
			t.Errorf("%q", got)
		}
	})
}

// SAFE-A1, X12: what came back is its sender's: a colleague is told why the request
// is open again, and is shown nothing of it; no other request gets anything of it,
// nor does another company. So it is with what was given in part.
func TestWhatCameBackIsItsSenders(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		b.answerPierre("clara")
		b.does("weber", `review.reject :request-id `+pierre+` :reason "Not readable"`)
		equal(t, b.asks(b.visit("carl"), "client.start-collection :request-id "+pierre), []string{
			"COLLECTING | Question 1 of 5: the beneficial owner | Full name |  | The bank cannot use what was sent. It says: “Not readable”."})
		equal(t, b.asks(b.visit("clara"), "client.start-collection :request-id "+maria), []string{"COLLECTING | Question 1 of 1: the date of birth | Date of birth"})
		b.refused(b.visit("jonas"), "client.start-collection :request-id "+pierre, "unknown-name")
		b.does("clara", `client.provide-info :request-id `+taxes+` :info-type TAX_RESIDENCE :collected-data {:country "LU" :has_tax_number true}`)
		equal(t, b.asks(b.visit("carl"), "client.start-collection :request-id "+taxes), []string{"COLLECTING | Question 1 of 4: the tax residence | Country"})
		for _, c := range b.questionsOf("carl") {
			if c["collected"] != "{}" || c["given"] != "" {
				t.Errorf("%v", c)
			}
		}
		// What the one sends and what the other sends is offered to each.
		b.answerPierre("carl")
		b.does("weber", `review.reject :request-id `+pierre+` :reason "Neither"`)
		b.does("carl", "client.start-collection :request-id "+pierre, `client.collection-response :field "full_name" :value "Carl says Pierre"`, "client.collection-confirm :confirmed true")
		b.does("weber", `review.reject :request-id `+pierre+` :reason "Neither"`)
		if got := b.asks(b.visit("clara"), "client.start-collection :request-id "+pierre); len(got) != 6 || !strings.Contains(got[0], "| Pierre Dupont |") {
			t.Errorf("%q", got)
		}
		if got := b.asks(b.visit("carl"), "client.start-collection :request-id "+pierre); len(got) != 6 || !strings.Contains(got[0], "| Carl says Pierre |") {
			t.Errorf("%q", got)
		}
	})
}

// O15, O32: an answer that was erased from what the bank received is not there, not
// even where the questions of then still hold it, or the journal does.
func TestAnErasedAnswerDoesNotComeBack(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, b *bank) {
		b.answerPierre("clara")
		b.does("weber", `review.reject :request-id `+pierre+` :reason "Not readable"`)
		b.edit(func(old string) string { return strings.Replace(old, `"nationality":"FR",`, "", 1) })
		equal(t, b.asks(b.visit("clara"), "client.start-collection :request-id "+pierre), []string{
			"COLLECTING | Question 3 of 6: the beneficial owner | Nationality |  | The bank cannot use what was sent. It says: “Not readable”. You have given 5 of 6 answers about the beneficial owner. This is what is left."})
		b.does("clara", `client.collection-response :value "Belgium"`, "client.collection-confirm :confirmed true")
		b.does("weber", `review.reject :request-id `+pierre+` :reason "Again"`)
		b.edit(func(string) string { return "{}" })
		equal(t, b.asks(b.visit("clara"), "client.start-collection :request-id "+pierre), []string{
			"COLLECTING | Question 1 of 5: the beneficial owner | Full name |  | The bank cannot use what was sent. It says: “Again”."})
		of := b.questionsOf("clara")
		if last := of[len(of)-1]; last["collected"] != "{}" {
			t.Errorf("%v", last)
		}
	})
}

// edited loads the palettes with some of them put differently.
func edited(t *testing.T, change ...string) *verbs.Registry {
	t.Helper()
	files := fstest.MapFS{}
	missing := map[string]bool{}
	for i := 0; i < len(change); i += 2 {
		missing[change[i]] = true
	}
	for _, name := range []string{"client.yaml", "onboarding.yaml", "review.yaml"} {
		text, err := os.ReadFile("../../../verbs/palettes/bank/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(change); i += 2 {
			if strings.Contains(string(text), change[i]) && name != "review.yaml" {
				delete(missing, change[i])
				text = []byte(strings.ReplaceAll(string(text), change[i], change[i+1]))
			}
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	if len(missing) > 0 {
		t.Fatalf("no palette has %v", missing)
	}
	reg, ds := load.Dir(files)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for _, e := range reg.Entities() {
		e.Store.Managed = true
	}
	return reg
}

// A bank's own copy of the palette may be older: where it does not keep who sent
// something, nothing is offered to anybody, and all else goes on as it did.
func TestAnOlderPaletteOffersNothing(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, b *bank) {
		b.reg = edited(t, "      client:         {type: string, description: who sent it}\n", "", "client: principal, ", "", "row.client == principal and row.verdict", "row.verdict", "row.client == principal and row.info_type", "row.info_type", "where: row.request == request_id and row.client == principal\n", "where: row.request == request_id\n", ", SETTLED]", "]",
			"      - {code: SETTLED, description: the bank settled the request before this was sent}\n", "",
			"[COLLECTING, REVIEWING, ANSWERED]", "[COLLECTING, ANSWERED]")
		b.answerPierre("clara")
		b.does("weber", `review.reject :request-id `+pierre+` :reason "Not readable"`)
		equal(t, b.asks(b.visit("clara"), "client.start-collection :request-id "+pierre), []string{
			"COLLECTING | Question 1 of 5: the beneficial owner | Full name |  | The bank cannot use what was sent. It says: “Not readable”."})
		b.does("clara", "client.collection-stop")
		b.answerPierre("clara")
		b.does("clara", "client.start-collection :request-id "+pierre)
		b.does("weber", "review.accept :request-id "+pierre)
		if got := b.asks(b.visit("clara"), `client.collection-response :value "Pierre"`); !strings.Contains(got[0], "Question 2 of 5") {
			t.Errorf("%q", got)
		}
	})
}

// O15, O37: what came back is held against what is asked for today: an answer that
// no longer does is not taken, and is asked for, with the others kept.
func TestWhatCameBackIsHeldAgainstTheQuestionsOfToday(t *testing.T) {
	t.Parallel()
	onSQLite(t, func(t *testing.T, b *bank) {
		b.answerPierre("clara")
		b.does("weber", `review.reject :request-id `+pierre+` :reason "Not readable"`)
		asked := func() string { // looks, and changes nothing
			t.Helper()
			s := b.visit("clara")
			script, _ := dsl.Parse(dsl.NewSource("story.dsl", "client.start-collection :request-id "+pierre))
			p, _ := s.Check(ctx, script)
			r, err := s.Preview(ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(r.Calls[0].Result.Rows)
		}
		fit := asked()
		b.reg = edited(t, "x-reads: percent, minimum: 0, maximum: 100", "x-reads: percent, minimum: 0, maximum: 25",
			`title: Name of the trust, description: "As it is registered.", minLength: 2`, `title: Name of the trust, description: "As it is registered.", minLength: 50`)
		told.Check(t, "client/no-longer", asked(), fit, "Share held")
		equal(t, b.asks(b.visit("clara"), "client.start-collection :request-id "+pierre), []string{
			"COLLECTING | Question 4 of 6: the beneficial owner | Share held |  | The bank cannot use what was sent. It says: “Not readable”." +
				" Share held: your earlier answer can no longer be taken. Name of the trust: your earlier answer can no longer be taken. You have given 4 of 6 answers about the beneficial owner. This is what is left."})
		if of := b.questionsOf("clara"); strings.Contains(of[1]["collected"], "40") || strings.Contains(of[1]["collected"], "Family") || !strings.Contains(of[1]["collected"], "1972-03-15") {
			t.Errorf("%v", of)
		}
		// What was answered since counts for more than what came back.
		b.does("clara", "client.collection-stop")
		b.clock = b.clock.Add(time.Hour)
		if got := b.asks(b.visit("clara"), "client.start-collection :request-id "+pierre); !strings.Contains(got[0], "Share held") {
			t.Errorf("%q", got)
		}
	})
}
