package client_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/state/sessions"
)

// O19, O20, X11: all that the document lists of a client's dialogue, and of the
// questions in it, is there in rows: what one process has left, another one finds,
// field by field, and nothing of it was only in memory.
func TestAllOfADialogueIsThereInAnotherProcess(t *testing.T) {
	t.Parallel()
	banks(t, func(t *testing.T, b *bank) {
		const zone, language = "Europe/Luxembourg", "en"
		visit := func() *engine.Session {
			t.Helper()
			b.open(b.store)
			s, err := b.engine.Visit(ctx, "clara", engine.Visit{Name: "portal", Zone: zone, Language: language})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		s := visit()
		if _, err := s.Turns().Say(ctx, sessions.Said{Role: sessions.Client, Content: "Let us do Pierre", Intent: "client.start-collection"},
			sessions.Said{Role: sessions.Agent, Content: "Gladly", Action: "began the questions"}, sessions.Said{Role: sessions.System, Content: "why"}); err != nil {
			t.Fatal(err)
		}
		b.asks(s, "client.work-on :cbu-id @allianz-reinsurance-ag client.start-collection :request-id "+pierre)
		b.asks(s, `client.collection-response :field "full_name" :value "Pierre Dupont"`)
		b.asks(s, `client.collection-response :field "nationality" :value "France"`)
		b.asks(s, `client.collection-response :field "date_of_birth" :value "1850-01-01"`)
		if _, err := b.say(s, `client.add-note :request-id @thomas-muller-identity :note "He is away" :expected-date 2025-01-03`, engine.RunOptions{}); err != nil {
			t.Fatal(err)
		}
		b.mu.Lock()
		left := b.clock
		b.clock = b.clock.Add(24 * time.Hour)
		b.mu.Unlock()

		s = visit()
		info, err := s.Turns().Info(ctx)
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]string{}
		for i := range info.Values {
			values[info.Values[i].Name] = info.Values[i].Value.Text()
		}
		read := func(text string) []string {
			t.Helper()
			reply, err := b.say(s, text, engine.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			res := reply.Calls[0].Result
			for _, row := range res.Rows {
				var cells []string
				for i, v := range row {
					cells = append(cells, res.Columns[i]+"="+v.Text())
				}
				out = append(out, strings.Join(cells, " "))
			}
			return out
		}
		who := s.Principal()
		turns, err := s.Turns().Between(ctx, 1, 0)
		if err != nil || len(turns) != 3 {
			t.Fatalf("%+v, %v", turns, err)
		}
		companies, promised := read("client.get-companies"), read("client.get-commitments")
		// ClientDialogState
		for field, is := range map[string]bool{
			"client_id":            who.Name == "clara",
			"client_name":          who.Label == "Clara" && info.Person.Label == "Clara",
			"client_email":         info.Person.Email == "clara@allianz.example",
			"accessible_cbus":      len(companies) == 1 && strings.Contains(companies[0], "company=@allianz-reinsurance-ag"),
			"active_cbu":           values["active"] == "@allianz-reinsurance-ag",
			"collection":           values["collection_mode"] == "true" && values["active_collection"] == pierre,
			"conversation_history": turns[0].Role == sessions.Client && turns[0].Content == "Let us do Pierre" && turns[0].Intent == "client.start-collection" && turns[1].Role == sessions.Agent && turns[1].Action == "began the questions" && turns[2].Role == sessions.System && !turns[0].Time.IsZero(),
			"pending_commitments":  len(promised) == 1 && strings.Contains(promised[0], "commitment=He is away expected_date=2025-01-03 reminder_date=2025-01-04 status=PENDING"),
			"last_active":          !info.LastActive.Before(left),
			"session_count":        info.Visits == 2,
		} {
			if !is {
				t.Errorf("ClientDialogState.%s is not there: %+v, %v, %v", field, info, companies, promised)
			}
		}
		// ActiveCollection
		rows := b.rows("collection")
		if len(rows) != 1 {
			t.Fatal(rows)
		}
		c := rows[0]
		asked := b.asks(s, "client.start-collection :request-id "+pierre)
		for field, is := range map[string]bool{
			"request_id":        c["request"] == key(101).Text(),
			"info_type":         c["info_type"] == "BENEFICIAL_OWNER",
			"schema":            b.reg.Entity("collection").Fields[b.reg.Entity("collection").Store.FieldIndex("info_type")].Type.Codes.Schema(c["info_type"]) != nil,
			"collected_fields":  c["collected"] == `{"full_name":"Pierre Dupont","nationality":"FR"}`,
			"pending_fields":    strings.Contains(asked[0], "You have answered 2 of 5 questions") && strings.Contains(asked[0], "Date of birth"),
			"current_field":     c["current_field"] == "date_of_birth",
			"validation_errors": strings.HasPrefix(c["validation_errors"], `{"date_of_birth":"Date of birth must be after 1 January 1900`),
		} {
			if !is {
				t.Errorf("ActiveCollection.%s is not there: %v, %v", field, c, asked)
			}
		}
		// What is left of it is asked, each once, in its order, by whichever process.
		var fields []string
		for range 3 {
			c := b.rows("collection")[0]
			fields = append(fields, c["current_field"])
			b.asks(visit(), "client.collection-response :value "+map[string]string{"date_of_birth": "1972-03-15", "ownership_percent": "40", "control": "OWNERSHIP"}[c["current_field"]])
		}
		if !slices.Equal(fields, []string{"date_of_birth", "ownership_percent", "control"}) || b.rows("collection")[0]["status"] != "REVIEWING" {
			t.Errorf("asked %v", fields)
		}
	})
}
