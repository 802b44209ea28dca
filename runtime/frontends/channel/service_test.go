package channel

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/frontends/channel/internal/proven"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/runtime/state/sessions"
	"verbatim/runtime/tests/told"
	"verbatim/stores"
)

// one is the only message that was sent.
func one(t *testing.T, all []Out) Out {
	t.Helper()
	if len(all) != 1 {
		t.Fatalf("%d messages were sent: %+v", len(all), all)
	}
	return all[0]
}

// says fails unless a message holds a text.
func (o Out) says(t *testing.T, text string) {
	t.Helper()
	if !strings.Contains(o.Text, text) {
		t.Errorf("nobody is told %q: %q", text, o.Text)
	}
}

// K2 K12 K13 K35 K43: a known sender is answered in their scope, by mail and by WhatsApp.
func TestAKnownPersonIsAnswered(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		out := one(t, w.hears(w.mail("ada@umza.example", "m1", "What is the status of Solar One?")))
		out.says(t, "Solar One")
		if out.To != "ada@umza.example" || out.ReplyTo != "m1" || out.Subject != "Solar" || !slices.Equal(out.References, []string{"m1"}) {
			t.Errorf("%+v", out)
		}
		out = one(t, w.hears(w.whatsapp("491515550199", "w1", "status of Solar One")))
		out.says(t, "Solar One")
		if out.To != "491515550199" || out.Inbox != "1065" {
			t.Errorf("%+v", out)
		}
		// What another organisation has is not there.
		if out := one(t, w.hears(w.mail("ada@umza.example", "m2", "status of Secret Three"))); strings.Contains(out.Text, "Three") {
			t.Error(out.Text)
		}
		if m := w.rows(messages, "", ""); len(m) != 3 || m[0].Text("status") != handled || !m[0].Value("text").IsNull() || !m[0].Value("facts").IsNull() {
			t.Errorf("words are kept outside of the conversation: %v", m[0].Values)
		}
	})
}

// K10 K13 K14 K15 K36: unknown, pending, revoked, ambiguous and unproven senders are told the
// same to the byte, once a day; no conversation is held with them.
func TestAStrangerIsToldNothing(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.known("ben", "email", "pending@umza.example", "PENDING")
		w.known("ben", "email", "revoked@umza.example", "VERIFIED")
		w.known("ada", "email", "shared@umza.example", "VERIFIED")
		w.known("ben", "email", "shared@umza.example", "VERIFIED")
		w.script("root", `system.revoke-identity :identity-id @`+w.identity("revoked@umza.example")+` :reason "Left"`)
		w.works()
		before := w.model.Load()
		said := ""
		for i, from := range []string{"nobody@umza.example", "pending@umza.example", "revoked@umza.example", "shared@umza.example", "ada@umza.example.evil.example", "unproven@umza.example"} {
			f := w.mail(from, fmt.Sprint("s", i), "What is the status of Solar One?")
			if strings.HasPrefix(from, "unproven") {
				f.Known = nil
				f.Name = "Ada <ada@umza.example>"
			}
			out := one(t, w.hears(f))
			out.Text, said = strings.TrimSpace(out.Text), strings.TrimSpace(said)
			if said != "" && out.Text != said {
				t.Errorf("%s is told %q, and others %q", from, out.Text, said)
			}
			if said = out.Text; out.To != from || strings.Contains(said, "Solar") {
				t.Errorf("%+v", out)
			}
			if again := w.hears(w.mail(from, fmt.Sprint("t", i), "Hello?")); len(again) != 0 {
				t.Errorf("%s is told twice in a day", from)
			}
		}
		if n := w.model.Load() - before; n != 0 {
			t.Errorf("%d conversations were held with strangers", n)
		}
		w.wait(25 * time.Hour)
		one(t, w.hears(w.mail("nobody@umza.example", "next", "And today?")))
		if n := len(w.rows(messages, "status", unclaimed)); n != 13 {
			t.Errorf("%d messages wait", n)
		}
		// A machine is told nothing, and does not wait.
		f := w.mail("bounce@else.example", "auto", "Out of office")
		f.Automatic = true
		if out := w.hears(f); len(out) != 0 {
			t.Errorf("%+v", out)
		}
	})
}

// K13: strangers are told so in the language that they write in, also those who prefer another,
// and in English where that is not sure.
func TestAStrangerIsToldInTheirLanguage(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		for i, c := range []struct {
			says string
			l    values.Language
		}{
			{"Wie ist der Stand von Solar One?", values.German},
			{"Quel est l'état de Solar One ?", values.French},
			{"¿Cuál es el estado de Solar One?", values.Spanish},
			{"Hoe staat Solar One ervoor?", values.English},
			{"Solar One", values.English},
			{"", values.English},
		} {
			out := one(t, w.hears(w.mail(fmt.Sprintf("nobody%d@umza.example", i), fmt.Sprint("s", i), c.says)))
			if want := sayStranger.In(c.l); !strings.HasPrefix(out.Text, want) {
				t.Errorf("%q is answered %q, not %q", c.says, out.Text, want)
			}
		}
	})
}

// identity is the name of an identity, by its address.
func (w *world) identity(address string) string {
	w.t.Helper()
	rows := w.rows(identities, "known_by", address)
	if len(rows) != 1 {
		w.t.Fatalf("%d identities of %s", len(rows), address)
	}
	return w.name("root", identities, rows[0])
}

func (w *world) name(as, entity string, r *serviceaccount.Row) string {
	w.t.Helper()
	s, err := w.e.Session(w.t.Context(), as)
	if err != nil {
		w.t.Fatal(err)
	}
	suffix, err := s.Names().Suffixes(w.t.Context(), w.reg.Entity(entity), r.Key())
	if err != nil {
		w.t.Fatal(err)
	}
	return entity + "~" + suffix[0]
}

// K4 K41: what strangers wrote waits thirty days; it is claimed for somebody, and handled with
// their rights as if sent now; or rejected, or it expires, and then its words are gone.
func TestQuarantine(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.hears(w.mail("new@umza.example", "q1", "note on Wind Two: hello"), w.mail("new@umza.example", "q2", "status of Secret Three"), w.mail("spam@x.example", "q3", "note on Wind Two: buy"), w.mail("late@x.example", "q4", "Hello"))
		from := map[string]string{"q1": "new@umza.example", "q2": "new@umza.example", "q3": "spam@x.example", "q4": "late@x.example"}
		byID := map[string]string{}
		for _, id := range []string{"q1", "q2", "q3", "q4"} {
			m := w.rows(messages, "message_id", w.idOf(from[id], id))
			if len(m) != 1 || m[0].Text("status") != unclaimed || m[0].Value("text").IsNull() {
				t.Fatal(id, m)
			}
			byID[id] = w.name("tia", messages, m[0])
		}
		w.wait(24 * time.Hour)
		w.script("tia", `channel.claim :message-id @`+byID["q1"]+` :principal-id "ben" :create-identity true`)
		out := one(t, w.hears())
		out.says(t, "Wind Two: note")
		if out.To != "new@umza.example" || out.ReplyTo != "q1" {
			t.Errorf("%+v", out)
		}
		if id := w.rows(identities, "known_by", "new@umza.example"); len(id) != 1 || id[0].Text("status") != "PENDING" {
			t.Errorf("a claim lets nobody in by itself: %v", id)
		}
		// The claimant has their own rights, and no more.
		w.script("tia", `channel.claim :message-id @`+byID["q2"]+` :principal-id "ben"`)
		if out := one(t, w.hears()); strings.Contains(out.Text, "Three") {
			t.Error(out.Text)
		}
		w.script("tia", `channel.reject :message-id @`+byID["q3"]+` :reason "Spam"`)
		w.wait(30 * 24 * time.Hour)
		w.works()
		for id, want := range map[string]string{"q1": handled, "q2": handled, "q3": "REJECTED", "q4": "EXPIRED"} {
			m := w.rows(messages, "message_id", w.idOf(from[id], id))[0]
			if m.Text("status") != want || !m.Value("text").IsNull() || !m.Value("facts").IsNull() {
				t.Errorf("%s: %v, want %s", id, m.Values, want)
			}
		}
		for _, s := range w.rows(senders, "", "") {
			if s.Value("waiting").Int() != 0 {
				t.Errorf("%v still counts as waiting", s.Values)
			}
		}
		// An unproven message is in nobody's name, whoever says so.
		f := w.mail("ben@umza.example", "q5", "note on Wind Two: forged")
		f.Known = nil
		w.hears(f)
		m := w.rows(messages, "message_id", MessageID(&f))[0]
		if err := w.tries("tia", `channel.claim :message-id @`+w.name("tia", messages, m)+` :principal-id "ben"`); err == nil || !strings.Contains(err.Error(), "nothing proves who sent") {
			t.Error(err)
		}
	})
}

// One stranger fills no house: more than twenty messages are not kept.
func TestAStrangersMessagesAreBounded(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		var all []Facts
		for i := range mostWaiting + 5 {
			all = append(all, w.mail("flood@x.example", fmt.Sprint("f", i), "Hello"))
		}
		w.hears(all...)
		if n := len(w.rows(messages, "status", unclaimed)); n != mostWaiting {
			t.Errorf("%d wait", n)
		}
		if n := len(w.rows(messages, "status", ignored)); n != 5 {
			t.Errorf("%d were ignored", n)
		}
	})
}

// SAFE-H2: one message has one effect: at once, a week later, a month later, sixty-four at a
// time, in two processes, and cut off between acknowledgement and work.
func TestAMessageHasOneEffect(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		asked := one(t, w.hears(w.whatsapp("491515550199", "ask", "order repairs for Solar One")))
		f := w.whatsapp("491515550199", "same", "Yes")
		f.Tapped = asked.Choices[0].ID
		two := w.service()
		w.hears()
		var failed sync.Map
		var all sync.WaitGroup
		for i := range 64 {
			s := w.s
			if i%2 == 1 {
				s = two
			}
			all.Go(func() {
				if err := s.Receive(t.Context(), proven.Prove(f)); err != nil {
					failed.Store(i, err)
				}
			})
		}
		all.Wait()
		failed.Range(func(k, v any) bool { t.Errorf("%v: %v", k, v); return true })
		id := MessageID(&f)
		// Both processes handle it at the same moment, and again.
		for range 2 {
			for _, s := range []*Service{w.s, two} {
				all.Go(func() {
					if err := s.handle(t.Context(), id, 1); err != nil {
						t.Log(err) // and it is tried again
					}
				})
			}
			all.Wait()
		}
		w.works()
		w.worksAs(two)
		for _, later := range []time.Duration{time.Second, 7*24*time.Hour - time.Hour, 31 * 24 * time.Hour} {
			w.wait(later)
			if err := two.Receive(t.Context(), proven.Prove(f)); err != nil {
				t.Fatal(err)
			}
			w.works()
		}
		one(t, w.outs()).says(t, "Ordered for Solar One")
		if n := len(w.rows("order", "", "")); n != 1 {
			t.Errorf("it was done %d times", n)
		}
		if n := len(w.rows(messages, "", "")); n != 2 {
			t.Errorf("%d messages are stored", n)
		}
		s, err := w.e.Session(t.Context(), "ada")
		if err != nil {
			t.Fatal(err)
		}
		info, err := s.Turns().Sessions(t.Context())
		if err != nil || len(info) != 1 || info[0].Turns != 6 {
			t.Errorf("%+v %v", info, err)
		}
	})
}

// SAFE-H2: a token comes once, to all processes together, and is forgotten in the end.
func TestATokenComesWithOneThing(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		two := w.service()
		var all sync.WaitGroup
		var mu sync.Mutex
		taken := map[string]int{}
		for i := range 16 {
			s, with := w.s, "one"
			if i%2 == 1 {
				s, with = two, "two"
			}
			all.Go(func() {
				first, err := s.Once(t.Context(), "mail", "token", with)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Log(err) // and it comes again
				} else if first {
					taken[with]++
				}
			})
		}
		all.Wait()
		if len(taken) != 1 {
			t.Fatalf("it came with %v", taken)
		}
		for with := range map[string]bool{"one": true, "two": true} {
			for _, s := range []*Service{w.s, two, w.service()} { // the last was not there
				if first, err := s.Once(t.Context(), "mail", "token", with); err != nil || first != (taken[with] > 0) {
					t.Errorf("%s: %v %v", with, first, err)
				}
			}
		}
		if first, err := two.Once(t.Context(), "mail", "another", "two"); err != nil || !first {
			t.Errorf("%v %v", first, err)
		}
		w.wait(23 * time.Hour)
		w.works()
		if n := len(w.rows(tokens, "", "")); n != 2 {
			t.Errorf("%d tokens are known after a day", n)
		}
		w.wait(2 * time.Hour)
		w.works()
		if n := len(w.rows(tokens, "", "")); n != 0 {
			t.Errorf("%d tokens are never forgotten", n)
		}
	})
}

// A message whose turn was cut off after it changed something is not carried out again: its
// sender is told so.
func TestATurnThatWasCutOff(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		f := w.whatsapp("491515550199", "cut", "note on Solar One: once")
		if err := w.s.Receive(t.Context(), proven.Prove(f)); err != nil {
			t.Fatal(err)
		}
		// What the turn would have done is committed with the words of the person, and then the
		// process ends.
		v := w.visit("ada", "whatsapp 1065")
		script := w.program(v, `desk.remark :project-id @solar-one :text "once"`)
		o := w.options()
		o.Said = []sessions.Said{{Role: sessions.Client, Content: f.Text, Via: MessageID(&f)}}
		if _, err := v.Run(t.Context(), script, o); err != nil {
			t.Fatal(err)
		}
		w.works()
		if out := w.outs(); len(out) != 0 {
			t.Errorf("another process may be at it: %+v", out)
		}
		w.wait(time.Hour)
		w.works()
		one(t, w.outs()).says(t, "interrupted")
		if n := len(w.rows("project", "note", "note on Solar One: once")); n != 0 {
			t.Error("it was done again")
		}
	})
}

// What must be agreed to is asked about, with buttons; a yes is the asked person's own, in the
// channel and the thread in which it was asked, and only once. (K20–K25)
func TestAQuestionIsAnsweredWhereItWasAsked(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		orders := func() int { return len(w.rows("order", "", "")) }
		out := one(t, w.hears(w.whatsapp("491515550199", "w1", "order repairs for Solar One")))
		out.says(t, "Shall I order repairs for Solar One?")
		if len(out.Choices) != 2 || out.Choices[0].Title != "Yes" || out.Choices[1].Title != "No" {
			t.Fatalf("%+v", out.Choices)
		}
		yes := func(id string, c Choice) Facts {
			f := w.whatsapp("491515550199", id, c.Title)
			f.Tapped = c.ID
			return f
		}
		// By mail, by somebody else, in another thread, by a machine: nothing of this is a yes.
		ada := w.mail("ada@umza.example", "y1", "Yes")
		ben := w.mail("ben@umza.example", "y2", "Yes")
		auto := w.mail("ada@umza.example", "y3", "Yes")
		auto.Automatic = true
		quoted := w.whatsapp("491515550199", "y4", "")
		quoted.Quoted, quoted.Unsure = "Yes", true
		unsure := w.whatsapp("491515550199", "y5", "Yes")
		unsure.Unsure = true
		machine := w.whatsapp("491515550199", "y6", "Yes")
		machine.Automatic = true
		w.hears(machine)
		var all []string
		for _, o := range w.hears(ada, ben, auto, quoted, unsure) {
			all = append(all, o.Text)
		}
		if orders() != 0 {
			t.Fatal("somebody else's yes counted")
		}
		done := one(t, w.hears(yes("w2", out.Choices[0])))
		done.says(t, "Ordered for Solar One: repairs")
		told.Check(t, "channel/unsure", strings.Join(all, "\n"), done.Text)
		if orders() != 1 {
			t.Fatal("a yes did not count")
		}
		w.wait(48 * time.Hour)
		answered := one(t, w.hears(yes("w3", out.Choices[0])))
		closed := one(t, w.hears(yes("w4", Choice{ID: "yes 00000000", Title: "Yes"})))
		told.Check(t, "channel/answered", answered.Text, closed.Text, "2 March 2026")
		told.Check(t, "channel/answered", answered.Text, done.Text)
		told.Check(t, "channel/not-open", closed.Text, done.Text)
		if orders() != 1 {
			t.Fatal("an old button did something")
		}
		// A typed yes counts too, and a number.
		w.hears(w.whatsapp("491515550199", "w5", "order repairs for Wind Two"))
		one(t, w.hears(w.whatsapp("491515550199", "w6", "yes"))).says(t, "Ordered for Wind Two")
	})
}

// A yes is one to the message that it cites, and to no other question (G2, G6): a button of an older
// template, an entry of a list, a quotation of another message.
func TestAYesIsToTheMessageThatItCites(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		orders := func() int { return len(w.rows("order", "", "")) }
		cites := func(id, text, to string) Facts {
			f := w.whatsapp("491515550199", id, text)
			f.ReplyTo = to
			return f
		}
		sentAs := func(o Out) string { return w.rows(deliveries, "delivery_id", o.ID)[0].Text("external_id") }
		status := sentAs(one(t, w.hears(w.whatsapp("491515550199", "c1", "status of Solar One"))))
		w.wait(time.Minute)
		asked := sentAs(one(t, w.hears(w.whatsapp("491515550199", "c2", "order repairs for Solar One"))))
		tapped := cites("c3", "Yes", "wamid.template")
		tapped.Tapped = "yes"
		listed := cites("c4", "Newsletter", "wamid.list")
		listed.Tapped = "row-7"
		another := ""
		for _, f := range []Facts{tapped, listed, cites("c5", "Yes", "wamid.unknown"), cites("c6", "yes please", status), cites("c7", "1", status)} {
			out := one(t, w.hears(f))
			out.says(t, "You answer another message")
			another = out.Text
		}
		if orders() != 0 {
			t.Fatal("a yes to another message counted")
		}
		// What is no answer is a message, whatever it cites.
		one(t, w.hears(cites("c8", "status of Wind Two", "wamid.unknown"))).says(t, "Wind Two")
		ordered := one(t, w.hears(cites("c9", "Yes", asked)))
		ordered.says(t, "Ordered for Solar One")
		told.Check(t, "channel/other", another, ordered.Text)
		if orders() != 1 {
			t.Error("a yes to the question did not count")
		}
		// Where nothing is open, a yes is told as such, whatever it cites.
		if out := one(t, w.hears(cites("c10", "Yes", "wamid.unknown"))); strings.Contains(out.Text, "another message") {
			t.Error(out.Text)
		}
	})
}

// A mail that cites our question and says nothing of the thread is in that thread.
func TestAMailIsInTheThreadThatItCites(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		order := w.mail("ada@umza.example", "i1", "order repairs for Solar One")
		order.Thread = "i1" // as a first mail is
		out := one(t, w.hears(order))
		yes := w.mail("ada@umza.example", "i2", "Yes")
		yes.ReplyTo = w.rows(deliveries, "delivery_id", out.ID)[0].Text("external_id")
		yes.Thread = yes.ReplyTo
		out = one(t, w.hears(yes))
		out.says(t, "Ordered for Solar One")
		if !slices.Equal(out.References, []string{"i2"}) { // each once
			t.Errorf("%q", out.References)
		}
	})
}

// K38: "this project" is what the message was about to whose answer a message replies, and
// otherwise what was spoken of last in the thread, or its subject.
func TestThisProject(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.hears(w.mail("ada@umza.example", "p1", "What is the status of Solar One?"))
		one(t, w.hears(w.mail("ada@umza.example", "p2", "note on this: rain"))).says(t, "Solar One: note")
		// In another thread nothing was spoken of.
		f := w.mail("ada@umza.example", "p3", "note on this: snow")
		f.Thread = "t2"
		if out := one(t, w.hears(f)); strings.Contains(out.Text, "Solar") {
			t.Errorf("a thread knows what another spoke of: %s", out.Text)
		}
		// The subject of a mail says it, until something else is spoken of, and never names what
		// is somebody else's.
		subject := func(id, subject, text string) Facts {
			f := w.mail("ada@umza.example", id, text)
			f.Thread, f.Subject = "t3", subject
			return f
		}
		one(t, w.hears(subject("s1", "Re: Wind Two, the week ahead", "note on this: wind"))).says(t, "Wind Two: note")
		w.hears(subject("s2", "Re: Wind Two, the week ahead", "status of Solar One"))
		one(t, w.hears(subject("s3", "Re: Wind Two, the week ahead", "note on this: calm"))).says(t, "Solar One: note")
		f = subject("s4", "Secret Three", "note on this: fog")
		f.Thread = "t4"
		if out := one(t, w.hears(f)); strings.Contains(out.Text, "Secret") {
			t.Errorf("a subject names what is somebody else's: %s", out.Text)
		}
		first := one(t, w.hears(w.whatsapp("491515550199", "p4", "status of Solar One")))
		w.hears(w.whatsapp("491515550199", "p5", "status of Wind Two"))
		d := w.rows(deliveries, "delivery_id", first.ID)[0]
		reply := w.whatsapp("491515550199", "p6", "note on this: sun")
		reply.ReplyTo = d.Text("external_id")
		one(t, w.hears(reply)).says(t, "Solar One: note")
	})
}

// What cannot be read is answered with what to do instead, and files are taken as the
// person's own.
func TestFilesAndOtherKinds(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		for i, k := range []Kind{proven.Audio, proven.Sticker, proven.Location, proven.Contacts, proven.Video, proven.Unknown} {
			f := w.whatsapp("491515550199", fmt.Sprint("k", i), "")
			f.Kind = k
			one(t, w.hears(f)).says(t, "write")
		}
		f := w.whatsapp("491515550199", "react", "")
		f.Kind = proven.Reaction
		if out := w.hears(f); len(out) != 0 {
			t.Errorf("a reaction is answered: %+v", out)
		}
		f = w.whatsapp("491515550199", "file", "for Solar One")
		f.Kind, f.Files = proven.Document, []File{{Name: "plan.pdf", Type: "application/pdf", ID: "media-1"}}
		one(t, w.hears(f)).says(t, "Solar One: note plan.pdf, PDF")
		// By mail the bytes come along; what is gone is told.
		f = w.mail("ada@umza.example", "att", "for Wind Two")
		f.Files = []File{{Name: "plan.pdf", Type: "application/pdf", Content: []byte("%PDF-1.4 mail")}, {Name: "lost.pdf"}}
		out := one(t, w.hears(f))
		out.says(t, "Wind Two: note plan.pdf, PDF")
		f = w.mail("ada@umza.example", "all", "for Wind Two")
		f.Files = []File{{Name: "plan.pdf", Type: "application/pdf", Content: []byte("%PDF-1.4 more")}}
		whole := one(t, w.hears(f)).Text
		told.Check(t, "channel/refused", out.Text, whole, "lost.pdf")
		f = w.mail("ada@umza.example", "many", "for Wind Two")
		f.TooMany, f.Files = true, []File{{Name: "plan.pdf", Type: "application/pdf", Content: []byte("%PDF-1.4 many")}}
		told.Check(t, "channel/too-many", one(t, w.hears(f)).Text, whole)
		// A stranger's file is kept for a person.
		f = w.mail("who@x.example", "theirs", "Here")
		f.Files = []File{{Name: "cv.pdf", Content: []byte("%PDF-1.4 cv")}}
		w.hears(f)
		if n := w.rows("channel-file", "", ""); len(n) != 4 {
			t.Errorf("%d files are kept", len(n))
		}
	})
}

// Numbers are given to others: after ninety silent days somebody is nobody until the number is
// verified again.
func TestANumberThatWasSilent(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		one(t, w.hears(w.whatsapp("491515550199", "w1", "status of Solar One"))).says(t, "Solar One")
		w.wait(89 * 24 * time.Hour)
		one(t, w.hears(w.whatsapp("491515550199", "w2", "status of Solar One"))).says(t, "Solar One")
		w.wait(91 * 24 * time.Hour)
		if out := one(t, w.hears(w.whatsapp("491515550199", "w3", "status of Solar One"))); strings.Contains(out.Text, "Solar") {
			t.Error(out.Text)
		}
		if id := w.rows(identities, "known_by", "+491515550199")[0]; id.Text("status") != "PENDING" {
			t.Error(id.Values)
		}
		w.script("root", "system.verify-identity :identity-id @"+w.identity("+491515550199"))
		w.hears()
		one(t, w.hears(w.whatsapp("491515550199", "w4", "status of Solar One"))).says(t, "Solar One")
	})
}

// A delivery moves forward only, whatever order a channel tells of it in.
func TestStatesNeverStepBack(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		out := one(t, w.hears(w.whatsapp("491515550199", "w1", "status of Solar One")))
		tell := func(st State, why *Failure) string {
			if err := w.s.Note(t.Context(), Status{Channel: "whatsapp", ID: "whatsapp-1", Ours: out.ID, State: st, At: w.clock(), Why: why}); err != nil {
				t.Fatal(err)
			}
			return w.rows(deliveries, "delivery_id", out.ID)[0].Text("status")
		}
		for _, c := range []struct {
			told State
			want string
		}{{Sent, "SENT"}, {Delivered, "DELIVERED"}, {Sent, "DELIVERED"}, {Failed, "DELIVERED"}, {Read, "READ"}, {Delivered, "READ"}, {Failed, "READ"}} {
			if got := tell(c.told, nil); got != c.want {
				t.Errorf("told %s: %s, want %s", c.told, got, c.want)
			}
		}
		// One that another installation sent is nothing to us.
		if err := w.s.Note(t.Context(), Status{Channel: "whatsapp", ID: "else", State: Read}); err != nil {
			t.Error(err)
		}
	})
}

// U35: what is decided by somebody else is told where it was asked, by a template or by mail
// where the window has closed, at no hour of the night, and once.
func TestADecisionIsTold(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		of := "Solar One"
		ask := func(id string) string {
			w.hears(w.whatsapp("491515550199", id, "share "+of))
			one(t, w.hears(w.whatsapp("491515550199", id+"y", "yes"))).says(t, "manager")
			s, err := w.e.Session(t.Context(), "max")
			if err != nil {
				t.Fatal(err)
			}
			all, err := s.Pending(t.Context())
			if err != nil || len(all) == 0 {
				t.Fatal(all, err)
			}
			return all[len(all)-1].ID
		}
		id := ask("a")
		w.agree("max", id)
		out := one(t, w.hears())
		agreed := out.Text
		if out.Template != nil || out.To != "491515550199" {
			t.Errorf("%+v", out)
		}
		// A day later there is no template: it goes by mail, and not by both.
		id = ask("b")
		w.wait(25 * time.Hour)
		w.agree("max", id)
		out = one(t, w.hears())
		if out.To != "ada@umza.example" || !strings.Contains(out.Text, "Max agreed") {
			t.Errorf("%+v", out)
		}
		// With one, it is used.
		w.s.Templates = map[string]Template{"WHATSAPP": {Name: "news", Language: "en"}}
		id = ask("c")
		w.wait(30 * time.Hour) // to 16:00
		w.agree("max", id)
		out = one(t, w.hears())
		if out.Template == nil || out.Template.Name != "news" || !strings.Contains(out.Template.Values[0], "Max agreed") {
			t.Errorf("%+v", out)
		}
		// Not at night.
		id = ask("d")
		w.wait(6 * time.Hour) // to 22:00
		w.agree("max", id)
		if out := w.hears(); len(out) != 0 {
			t.Errorf("somebody is woken: %+v", out)
		}
		w.wait(10 * time.Hour)
		one(t, w.hears()).says(t, "Max agreed")
		// One is declined, and one is decided by nobody (G10).
		text := func(o Out) string {
			if o.Template != nil {
				return strings.Join(o.Template.Values, " ")
			}
			return o.Text
		}
		id = ask("e")
		s, err := w.e.Session(t.Context(), "max")
		if err == nil {
			err = s.Decline(t.Context(), id, "not yet")
		}
		if err != nil {
			t.Fatal(err)
		}
		declined := text(one(t, w.hears()))
		of = "Wind Two"
		ask("f")
		w.wait(8 * 24 * time.Hour)
		if _, err := w.e.Housekeep(t.Context(), w.clock()); err != nil {
			t.Fatal(err)
		}
		lapsed := text(one(t, w.hears()))
		told.Check(t, "channel/agreed", agreed, declined, "Max")
		told.Check(t, "channel/declined", declined, agreed, "Max", "not yet.")
		told.Check(t, "channel/lapsed", lapsed, declined)
	})
}

// Nobody is written to more than ten times a day who has not written: the rest waits for
// tomorrow.
func TestNobodyIsWrittenToTooOften(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		p, err := w.s.clerk().Find(t.Context(), people, map[string]stores.Value{"name": stores.NewString("ada")})
		if err != nil {
			t.Fatal(err)
		}
		for i := range mostADay + 2 {
			if err := w.s.queue(t.Context(), fmt.Sprint("n", i), p, "MAIL", "deals@umza.example", "ada@umza.example", "News", &outFacts{}, nil); err != nil {
				t.Fatal(err)
			}
		}
		if out := w.hears(); len(out) != mostADay {
			t.Errorf("%d were sent", len(out))
		}
		w.wait(23 * time.Hour)
		if out := w.hears(); len(out) != 2 {
			t.Errorf("%d were sent the day after", len(out))
		}
	})
}

// A message that failed goes another way, and never two ways at once; what is not known to
// have been sent is sent again unless its status came.
func TestAFailureTakesAnotherWay(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.fail = func(o Out) error {
			if o.To == "491515550199" {
				return &Failure{Code: "131026", Text: "undeliverable", Permanent: true}
			}
			return nil
		}
		out := one(t, w.hears(w.whatsapp("491515550199", "w1", "status of Solar One")))
		if out.To != "ada@umza.example" {
			t.Errorf("%+v", out)
		}
		lost := true
		w.fail = func(o Out) error {
			if lost {
				return &Failure{Code: "timeout", Text: "no answer", Unknown: true}
			}
			return nil
		}
		if out := w.hears(w.whatsapp("491515550199", "w2", "status of Wind Two")); len(out) != 0 {
			t.Fatalf("%+v", out)
		}
		lost = false
		d := w.rows(deliveries, "status", queued)[0]
		if err := w.s.Note(t.Context(), Status{Channel: "whatsapp", ID: "wamid.1", Ours: d.Text("delivery_id"), State: Delivered, At: w.clock()}); err != nil {
			t.Fatal(err)
		}
		w.wait(time.Hour)
		if out := w.hears(); len(out) != 0 {
			t.Errorf("what arrived is sent again: %+v", out)
		}
		// Without a status it is sent again.
		lost = true
		w.hears(w.whatsapp("491515550199", "w3", "status of Wind Two"))
		lost = false
		w.wait(time.Hour)
		one(t, w.hears()).says(t, "Wind Two")
		// And after three days there is no point.
		lost = true
		w.hears(w.whatsapp("491515550199", "w4", "status of Wind Two"))
		w.wait(4 * 24 * time.Hour)
		lost = false
		if out := w.hears(); len(out) != 0 {
			t.Errorf("%+v", out)
		}
	})
}

// U35: what WhatsApp took and could not deliver (131026), as it tells later, goes by mail: once,
// however often and late it is told, and not if it arrived after all.
func TestALateFailureTakesAnotherWay(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		told := func(id string, state State, why *Failure) {
			t.Helper()
			if err := w.s.Note(t.Context(), Status{Channel: "whatsapp", ID: id, State: state, At: w.clock(), Why: why}); err != nil {
				t.Fatal(err)
			}
		}
		undeliverable := &Failure{Code: "131026", Text: "it cannot be delivered to them", Permanent: true}
		out := one(t, w.hears(w.whatsapp("491515550199", "w1", "status of Solar One")))
		id := fmt.Sprintf("whatsapp-%d", w.n)
		told(id, Sent, nil)
		for range 2 {
			told(id, Failed, undeliverable)
		}
		mail := one(t, w.hears())
		if mail.To != "ada@umza.example" || mail.Text != out.Text || mail.Template != nil {
			t.Errorf("%+v", mail)
		}
		for _, state := range []State{Failed, Sent, Failed} {
			told(id, state, undeliverable)
			if all := w.hears(); len(all) != 0 {
				t.Errorf("told %s again, it is sent again: %+v", state, all)
			}
		}
		// The mail is returned, too: now somebody has to look, and nothing is sent any more.
		second := w.rows(deliveries, "channel", "MAIL")[0]
		if err := w.s.Note(t.Context(), Status{Channel: "mail", Ours: second.Text("delivery_id"), State: Failed, At: w.clock(), Why: &Failure{Code: "5.1.1", Permanent: true}}); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if all := w.hears(); len(all) != 0 {
				t.Errorf("%+v", all)
			}
			w.wait(time.Hour)
		}
		if err := w.s.another(t.Context(), second.Text("delivery_id"), true); err == nil || !strings.Contains(err.Error(), "no other way") {
			t.Errorf("nobody is asked to look: %v", err)
		}

		// In the night it waits. That it arrived meanwhile ends it.
		w.wait(14 * time.Hour)
		at := w.clock()
		w.wait(time.Date(at.Year(), at.Month(), at.Day(), 20, 30, 0, 0, time.UTC).Add(24 * time.Hour).Sub(at))
		one(t, w.hears(w.whatsapp("491515550199", "w2", "status of Wind Two")))
		id = fmt.Sprintf("whatsapp-%d", w.n)
		w.wait(2 * time.Hour)
		told(id, Failed, undeliverable)
		if all := w.hears(); len(all) != 0 {
			t.Fatalf("it is sent at night: %+v", all)
		}
		told(id, Delivered, nil)
		w.wait(11 * time.Hour)
		if all := w.hears(); len(all) != 0 {
			t.Errorf("it goes by two ways: %+v", all)
		}
		for _, d := range w.rows(deliveries, "", "") {
			if d.Text("external_id") == id && (d.Text("status") != "FAILED" || d.Value("delivered_at").IsNull() || !d.Value("text").IsNull()) {
				t.Errorf("%v", d.Values)
			}
			if !d.Value("instead").IsNull() && d.Text("status") != "FAILED" && d.Text("status") != expired {
				t.Errorf("%v", d.Values)
			}
		}
	})
}

// What WhatsApp would deliver only as a template is sent as one, then by mail, each once.
func TestAClosedWindowTakesTheTemplate(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.s.Templates = map[string]Template{"WHATSAPP": {Name: "news", Language: "en"}}
		told := func(why *Failure) {
			t.Helper()
			for range 2 {
				if err := w.s.Note(t.Context(), Status{Channel: "whatsapp", ID: fmt.Sprintf("whatsapp-%d", w.n), State: Failed, At: w.clock(), Why: why}); err != nil {
					t.Fatal(err)
				}
			}
		}
		out := one(t, w.hears(w.whatsapp("491515550199", "w1", "status of Solar One")))
		closed := &Failure{Code: "131047", Text: "they have not written for a day", Closed: true}
		told(closed)
		template := one(t, w.hears())
		if template.To != out.To || template.Inbox != out.Inbox || template.Template == nil || template.Template.Name != "news" || template.Template.Values[0] != templated(out.Text) {
			t.Errorf("%+v", template)
		}
		told(closed)
		if mail := one(t, w.hears()); mail.To != "ada@umza.example" || mail.Text != out.Text {
			t.Errorf("%+v", mail)
		}
		if all := w.hears(); len(all) != 0 {
			t.Errorf("%+v", all)
		}
		// What cannot be delivered at all takes no template.
		one(t, w.hears(w.whatsapp("491515550199", "w2", "status of Wind Two")))
		told(&Failure{Code: "131026", Text: "it cannot be delivered to them", Permanent: true})
		if mail := one(t, w.hears()); mail.To != "ada@umza.example" {
			t.Errorf("%+v", mail)
		}
		// Without a template it is mail at once.
		w.s.Templates = nil
		one(t, w.hears(w.whatsapp("491515550199", "w3", "status of Wind Two")))
		told(closed)
		if mail := one(t, w.hears()); mail.To != "ada@umza.example" {
			t.Errorf("%+v", mail)
		}
		// A stranger has no other way.
		w.hears(w.whatsapp("4915112345678", "w4", "Hello"))
		told(&Failure{Code: "131026", Permanent: true})
		if all := w.hears(); len(all) != 0 {
			t.Errorf("%+v", all)
		}
	})
}

// A status names a delivery as the channel calls it. The store has an index of that, so that
// none but that delivery is read.
func TestAStatusFindsItsDeliveryByAnIndex(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		if !slices.ContainsFunc(w.steps, func(step string) bool {
			return strings.HasPrefix(step, "CREATE INDEX") && strings.Contains(step, "deliveries") && strings.Contains(step, "(\"external_id\")")
		}) {
			t.Errorf("%s", strings.Join(w.steps, "\n"))
		}
	})
}

// Nothing leaves to an address that is neither verified nor the sender's own.
func TestNothingLeavesToOthers(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		err := w.tries("channels", `channel.send :id "x" :channel MAIL :address "deals@umza.example" :recipient "ben@umza.example" :person "ada" :text "secret"`)
		if err == nil || !strings.Contains(err.Error(), "neither verified") {
			t.Error(err)
		}
		if err := w.tries("channels", `channel.send :id "y" :channel MAIL :address "deals@umza.example" :recipient "ada@umza.example" :person "ada" :text "hers"`); err != nil {
			t.Error(err)
		}
	})
}

// A person who may do nothing any more is a stranger.
func TestAPersonWithoutRights(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.script("root", `system.revoke-role :principal-id "ben" :role "member"`)
		out := one(t, w.hears(w.mail("ben@umza.example", "m1", "What is the status of Solar One?")))
		if strings.Contains(out.Text, "Solar") {
			t.Error(out.Text)
		}
	})
}

// What came to no inbox of ours, or cannot be stored, is an error: nothing is acknowledged.
func TestWhatCannotBeStoredIsNotAcknowledged(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		f := w.mail("ada@umza.example", "m1", "Hello")
		f.Inbox = "else@umza.example"
		if err := w.s.Receive(t.Context(), proven.Prove(f)); err == nil {
			t.Error("a message to nobody was taken")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.s.Receive(ctx, proven.Prove(w.mail("ada@umza.example", "m2", "Hello"))); err == nil {
			t.Error("a message was acknowledged that is not stored")
		}
		// Bytes that are no text are made text.
		f = w.mail("ada@umza.example", "m3", "a\x00b\xff status of Solar One"+strings.Repeat("x", 100_000))
		if err := w.s.Receive(t.Context(), proven.Prove(f)); err != nil {
			t.Error(err)
		}
		w.works()
		if m, _ := w.s.clerk().Get(t.Context(), messages, stores.NewString(MessageID(&f))); m == nil || m.Text("status") != handled {
			t.Error("it was not handled")
		}
	})
}

// K40: an address is verified by who writes the code back that was sent to it, within a
// quarter of an hour and five tries.
func TestACodeVerifiesAnAddress(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.known("ben", "email", "new@umza.example", "PENDING")
		send := func() string {
			w.script("root", "channel.send-code :identity-id @"+w.identity("new@umza.example"))
			out := one(t, w.hears())
			if out.To != "new@umza.example" {
				t.Fatalf("%+v", out)
			}
			return regexp.MustCompile(`\d{8}`).FindString(out.Text)
		}
		status := func() string { return w.rows(identities, "known_by", "new@umza.example")[0].Text("status") }
		write := func(id, text string) { w.hears(w.mail("new@umza.example", id, text)) }
		code := send()
		w.wait(16 * time.Minute)
		write("late", code)
		code = send()
		w.hears(w.mail("else@umza.example", "else", code))
		write("wrong", "00000000")
		write("more", code+" is it")
		if status() != "PENDING" {
			t.Fatal("verified by a code that is late, wrong, of another sender or not alone")
		}
		for i := range codeTries {
			write(fmt.Sprint("try", i), fmt.Sprintf("%08d", i))
		}
		write("tried", code)
		if status() != "PENDING" {
			t.Fatal("verified after too many tries")
		}
		texts := func(all []Out) (text string) {
			for _, o := range all {
				text += o.Text + "\n"
			}
			return text
		}
		verified := texts(w.hears(w.mail("new@umza.example", "right", send())))
		if status() != "VERIFIED" || len(w.rows(codes, "", "")) != 0 {
			t.Fatal(status())
		}
		one(t, w.hears(w.mail("new@umza.example", "then", "status of Wind Two"))).says(t, "Wind Two")
		w.script("root", "system.revoke-identity :identity-id @"+w.identity("new@umza.example")+` :reason "Left"`)
		revoked := texts(w.hears())
		told.Check(t, "channel/verified", verified, revoked, "email")
		told.Check(t, "channel/revoked", revoked, verified, "email")
	})
}

// K5 K16 K44: what waits for a yes expires and says so; a session keeps pointers beside what was
// said in it, and no words.
func TestAPendingActionExpires(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.hears(w.whatsapp("491515550199", "w1", "order repairs for Solar One"))
		w.wait(20 * time.Minute)
		late := one(t, w.hears(w.whatsapp("491515550199", "w2", "yes")))
		late.says(t, "too old to answer")
		if n := len(w.rows("order", "", "")); n != 0 {
			t.Fatal("what had expired was done")
		}
		s := w.visit("ada", "whatsapp 1065")
		info, err := s.Turns().Info(t.Context())
		if err != nil || len(info.Values) != 0 {
			t.Errorf("the session keeps %v %v", info.Values, err)
		}
	})
}

// Whoever makes up the ID of somebody else's message has written another one, whichever comes first.
// G7
func TestAStrangerDropsNobodysMessage(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		const id = "<m1@umza.example>"
		forged := w.mail("ada@umza.example", id, "note on Wind Two: forged")
		forged.Known = nil
		stranger := w.mail("eve@evil.example", id, "note on Wind Two: forged too")
		w.hears(forged, stranger)
		real := w.mail("ada@umza.example", id, "note on Wind Two: real")
		out := one(t, w.hears(real))
		out.says(t, "Wind Two: note")
		if out.To != "ada@umza.example" {
			t.Errorf("%+v", out)
		}
		// Each of them is stored once, however often it comes.
		if again := w.hears(real, stranger, forged); len(again) != 0 || len(w.rows(messages, "", "")) != 3 {
			t.Errorf("%v, %d messages", again, len(w.rows(messages, "", "")))
		}
	})
}

// A store of an older version has the same messages under other keys. None of them has a second
// effect, and none of them drops somebody else's. G7
func TestMessagesOfAnOlderStoreAreKnown(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		older := func(f Facts) {
			facts, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			proved := ""
			if p := provedOf(&f); p.Kind != "" {
				proved = fmt.Sprintf(" :issuer %q :subject %q", p.Kind, p.Subject)
			}
			w.script("channels", fmt.Sprintf("channel.receive :id %q :channel MAIL :address %q :kind TEXT :sender %q%s :text %q :facts %q :files 0 :sent-at %s", olderID(f.Channel, f.Inbox, f.ID), f.Inbox, f.From, proved, f.Text, facts, f.At.UTC().Format(time.RFC3339)))
		}
		real, forged := w.mail("ada@umza.example", "m1", "note on Wind Two: once"), w.mail("ada@umza.example", "m2", "note on Wind Two: forged")
		forged.Known = nil
		older(real)
		older(forged)
		if out := w.hears(); len(out) != 2 {
			t.Fatal(out)
		}
		if out := w.hears(real, forged); len(out) != 0 || len(w.rows(messages, "", "")) != 2 {
			t.Errorf("%v, %d messages", out, len(w.rows(messages, "", "")))
		}
		one(t, w.hears(w.mail("ada@umza.example", "m2", "note on Wind Two: real"))).says(t, "Wind Two: note")
	})
}

// What is quoted may be twice as long and more once it is kept; that stops no message.
func TestAQuotationOfSignsIsKept(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		f := w.mail("ada@umza.example", "m1", "note on Wind Two: hello")
		f.Quoted = strings.Repeat("<", 30_000)
		if err := w.s.Receive(t.Context(), proven.Prove(f)); err != nil {
			t.Error(err)
		}
	})
}

// Who gave a number up is not known by it any more, and who has another id is known by that. // G6
func TestWhoChangesIsFollowed(t *testing.T) {
	on(t, func(t *testing.T, w *world) {
		w.known("ada", "whatsapp_id", "DE.1", "VERIFIED")
		says := func(id, by string, kind string) Facts {
			f := w.whatsapp("491515550199", id, "status of Solar One")
			f.Known = []Identity{{Kind: kind, Subject: by}}
			return f
		}
		report := func(id string, left Identity, became *Identity) Facts {
			f := w.whatsapp("491515550199", id, "")
			f.Kind, f.Automatic, f.Left, f.Became = proven.Unknown, true, []Identity{left}, became
			return f
		}
		status := func(by string) string {
			all := w.rows(identities, "known_by", by)
			if len(all) != 1 {
				return fmt.Sprint(len(all))
			}
			return all[0].Text("status")
		}
		if out := w.hears(report("r1", Identity{Kind: "whatsapp_id", Subject: "DE.1"}, &Identity{Kind: "whatsapp_id", Subject: "DE.2"})); len(out) != 0 || status("DE.1") != "0" || status("DE.2") != "VERIFIED" {
			t.Fatalf("%v: %s, %s", out, status("DE.1"), status("DE.2"))
		}
		one(t, w.hears(says("m1", "DE.2", "whatsapp_id"))).says(t, "Solar One")
		// An id that somebody has already is nobody else's.
		w.known("eve", "whatsapp_id", "DE.3", "VERIFIED")
		if w.hears(report("r2", Identity{Kind: "whatsapp_id", Subject: "DE.2"}, &Identity{Kind: "whatsapp_id", Subject: "DE.3"})); status("DE.2") != "PENDING" || status("DE.3") != "VERIFIED" {
			t.Fatalf("%s, %s", status("DE.2"), status("DE.3"))
		}
		// The number of somebody else now.
		one(t, w.hears(says("m2", "+491515550199", "whatsapp_phone"))).says(t, "Solar One")
		if w.hears(report("r3", Identity{Kind: "whatsapp_phone", Subject: "+491515550199"}, nil)); status("+491515550199") != "PENDING" {
			t.Fatal(status("+491515550199"))
		}
		if out := one(t, w.hears(says("m3", "+491515550199", "whatsapp_phone"))); strings.Contains(out.Text, "Solar") {
			t.Error(out.Text)
		}
		for _, id := range []string{"r1", "r2", "r3"} {
			f := report(id, Identity{}, nil)
			if m := w.rows(messages, "message_id", MessageID(&f)); len(m) != 1 || m[0].Text("status") != ignored {
				t.Errorf("%s: %v", id, m)
			}
		}
	})
}
