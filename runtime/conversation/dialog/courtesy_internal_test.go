package dialog

import (
	"testing"
	"testing/fstest"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// What is nothing but a courtesy is answered in its own language, and what says
// more is left to the palettes.
func TestCourtesies(t *testing.T) {
	t.Parallel()
	const parts, later, talks, greets, thanks, able, who, none = 0, 1, 2, 3, 4, 5, 6, -1
	const english, german, french, spanish, others = 7, 8, 9, 10, 11
	for _, c := range []struct {
		is   int
		in   values.Language
		said []string
	}{
		{greets, values.English, []string{"Hi", "hello there!", "Good morning."}},
		{greets, values.German, []string{"Grüß Gott", "guten Tag!", "Servus"}},
		{greets, values.French, []string{"Bonjour", "coucou !", "Bonjour bonjour"}},
		{greets, values.Spanish, []string{"¡Hola!", "Buenos días"}},
		{thanks, values.English, []string{"ok thanks", "That's all, thank you", "Thanks 👍"}},
		{thanks, values.German, []string{"Das war alles, danke schön!", "super danke"}},
		{thanks, values.French, []string{"C’est tout, merci"}},
		{thanks, values.Spanish, []string{"vale, muchas gracias"}},
		{parts, values.English, []string{"thanks, bye", "Thank you very much for your help. Goodbye!", "great, see you soon", "that was it for today, see you on Monday", "haha, good one. Have a nice weekend!"}},
		{parts, values.German, []string{"Vielen Dank, tschüss", "Auf Wiedersehen", "Danke, einen schönen Tag noch", "passt, bis morgen", "das war's für heute, schönes Wochenende"}},
		{parts, values.French, []string{"merci, au revoir", "Bonne journée !", "c'est tout, à demain"}},
		{parts, values.Spanish, []string{"gracias, adiós", "Eso es todo, gracias. Hasta luego", "vale, hasta el lunes"}},
		{later, values.English, []string{"not now", "maybe later, thanks", "Not today. I'll get back to you on Friday"}},
		{later, values.German, []string{"jetzt nicht, ich melde mich morgen nach dem Essen", "später bitte"}},
		{later, values.French, []string{"pas maintenant, je reviens dans une heure"}},
		{later, values.Spanish, []string{"ahora no, ya le digo mañana"}},
		{talks, values.English, []string{"Hello, how are you?", "good morning, how was your weekend?"}},
		{talks, values.German, []string{"Guten Tag, wie geht es Ihnen?"}},
		{talks, values.French, []string{"Bonjour, comment allez-vous ?"}},
		{talks, values.Spanish, []string{"Hola, ¿qué tal?"}},
		{able, values.English, []string{"What can you do?", "what can I say here", "How does this work?", "Hi, what can you do?"}},
		{able, values.German, []string{"Was können Sie?", "Was kann ich hier tun?", "Wie funktioniert das?"}},
		{able, values.French, []string{"Qu'est-ce que vous pouvez faire ?", "Que puis-je faire ici ?", "Comment ça marche ?"}},
		{able, values.Spanish, []string{"¿Qué puede hacer?", "¿Cómo funciona?"}},
		{who, values.English, []string{"Who are you?", "are you a bot", "Am I talking to a real person?"}},
		{who, values.German, []string{"Wer sind Sie?", "Bist du ein Roboter?", "Spreche ich mit einem Menschen?"}},
		{who, values.French, []string{"Qui êtes-vous ?", "Êtes-vous un robot ?", "Est-ce que je parle à une personne ?"}},
		{who, values.Spanish, []string{"¿Quién es usted?", "¿Eres un robot?", "¿Estoy hablando con una persona?"}},
		{english, values.English, []string{"in English please", "Can we speak English?"}},
		{english, values.German, []string{"Auf Englisch bitte", "Sprechen Sie auch Englisch?"}},
		{german, values.English, []string{"I want to speak German", "do you speak German?", "Could you answer me in German, please?", "in German"}},
		{german, values.German, []string{"auf Deutsch bitte", "Guten Tag, sprechen Sie Deutsch?", "Ich möchte lieber Deutsch sprechen", "Können wir auf Deutsch schreiben?", "Geht das auch auf Deutsch?"}},
		{german, values.French, []string{"Parlez-vous allemand ?", "en allemand, s'il vous plaît"}},
		{french, values.French, []string{"en français s’il vous plaît", "Vous parlez français ?", "Je voudrais parler français", "Répondez-moi en français"}},
		{french, values.Spanish, []string{"¿Habla francés?"}},
		{spanish, values.Spanish, []string{"en español por favor", "¿Habla usted español?", "Prefiero hablar en castellano"}},
		{spanish, values.English, []string{"Do you understand Spanish?"}},
		{others, values.English, []string{"Do you speak Italian?"}},
		{others, values.German, []string{"Sprechen Sie Türkisch?"}},
		{others, values.French, []string{"Parlez-vous italien ?"}},
		{others, values.Spanish, []string{"¿Habla portugués?"}},
		{none, 0, []string{
			"German", "deutsch", "español", "is the passport German", "I sent it in German", "the letter is in German", "er ist Deutscher", "mon passeport allemand", "do you accept documents in German?",
			"", "!", "ok", "no", "good", "perfect", "super", "that's all", "das ist alles", "c'est tout", "vale",
			"hello, the passport is on its way", "thanks, but no", "thanks, what is left?", "danke, und was fehlt noch?", "merci de me rappeler",
			"what can you do about Pierre's accounts", "was kann ich statt des Passes schicken?", "how does this work for Thomas",
			"who are you waiting for", "wer sind Sie alle, die darauf warten", "I want to talk to a person", "ein Mensch", "quiero hablar con una persona",
			"hi, bye, yes", "not now, tell me what is missing", "see you on Monday with the passport", "I will get back to you on Friday", "ich melde mich am Montag", "buenas noticias", "moin moin meister, ja bitte",
		}},
	} {
		for _, said := range c.said {
			is, in := none, values.English
			if found, l := courtesyIn(said); found != nil {
				in = l
				for i := range courtesies() {
					if found == &courtesies()[i] {
						is = i
					}
				}
			}
			if is != c.is || is != none && in != c.in {
				t.Errorf("%q: courtesy %d in %s, want %d in %s", said, is, in, c.is, c.in)
			}
		}
	}
}

// Whoever is served reads no verb, no argument, no name and no command; what else
// a refusal says of their case they do read.
func TestRefusalsAreForPeople(t *testing.T) {
	t.Parallel()
	reg, ds := load.Dir(fstest.MapFS{"p.yaml": {Data: []byte("domain: post\nroles:\n  - {name: clerk, description: Who writes.}\nverbs:\n  - verb: send\n    description: Send a letter.\n    handler: true\n    roles: [clerk]\n")}})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	w := newWording(reg)
	const unchanged = " Nothing was changed."
	for _, c := range []struct {
		d    dsl.Diagnostic
		want string
	}{
		{dsl.Diagnostic{Code: "requirement-not-met", Summary: "this request is settled"}, "This request is settled."},
		{dsl.Diagnostic{Code: "requirement-not-met", Summary: "this file was sent for it already; post.send says what became of it"}, "This file was sent for it already."},
		{dsl.Diagnostic{Code: "requirement-not-met", Summary: "this request is settled", Notes: []string{"verbatim explain post.send says what it needs; see to that first"}}, "This request is settled."},
		{dsl.Diagnostic{Code: "requirement-not-met", Summary: "it is sent at 10:30; see https://bank.example/a.b"}, "It is sent at 10:30; see https://bank.example/a.b."},
		{dsl.Diagnostic{Code: "unknown-upload", Summary: ":file-reference names no file that you have sent", Notes: []string{"send the file, and use the reference that you are given"}},
			"File reference names no file that you have sent. Send the file, and use the reference that you are given."},
		{dsl.Diagnostic{Code: "not-permitted", Summary: "you may not use post.send", Notes: []string{"verbatim explain post.send says who may; ask one of them"}}, refusals()["not-permitted"].Text(values.English)},
		{dsl.Diagnostic{Code: "unknown-name", Summary: "nothing is called @pierre here"}, refusals()["unknown-name"].Text(values.English)},
		{dsl.Diagnostic{Code: "no-such-code", Summary: "use `as`"}, sayTooHard.Text(values.English)},
	} {
		want := c.want
		if want != sayTooHard.Text(values.English) {
			want += unchanged
		}
		if got := w.refused(dsl.Diagnostics{c.d}); got != want {
			t.Errorf("%s\n got %s\nwant %s", c.d.Summary, got, want)
		}
	}
}

// "Call me", after somebody asked for a person, is the same wish with more said.
func TestAQuestionIsOvertaken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		now, before string
		overtakes   bool
	}{
		{`desk.ask`, `desk.ask`, true},
		{`desk.ask :by CALL`, `desk.ask`, true},
		{`desk.ask`, `desk.ask :by CALL`, false},
		{`desk.ask :by CALL`, `desk.ask :by MAIL`, false},
		{`desk.ask :for @a :by CALL`, `desk.ask :for @a`, true},
		{`desk.ask :for @b :by CALL`, `desk.ask :for @a`, false},
		{`desk.tell :by CALL`, `desk.ask`, false},
		{`desk.note :text "a b" :on 2025-01-03`, `desk.note :text "a b"`, true},
		{`desk.note :text "a c" :on 2025-01-03`, `desk.note :text "a b"`, false},
		{`desk.born :on (withheld)`, `desk.born :on (withheld)`, true},
	} {
		now, before := &Question{Calls: []string{c.now}}, &Question{Calls: []string{c.before}}
		if got := now.overtakes(before); got != c.overtakes {
			t.Errorf("%s overtakes %s: %v", c.now, c.before, got)
		}
	}
	two, one := &Question{Calls: []string{"desk.ask", "desk.tell"}}, &Question{Calls: []string{"desk.ask"}}
	if two.overtakes(one) || one.overtakes(two) || !two.overtakes(two) {
		t.Error("several calls are overtaken by the same ones alone")
	}
}

// Who wants to be asked question by question is asked the first one; whatever else
// would come of it is asked about as of any call.
func TestAskingToBeAskedNeedsNoYes(t *testing.T) {
	t.Parallel()
	sets := func(name string, may bool) *verbs.Verb {
		return &verbs.Verb{Name: "desk.go", Effects: []verbs.Effect{{Kind: verbs.Sets, Session: name, May: may}, {Kind: verbs.Creates, May: true}}}
	}
	row := receipt.Row{}
	for _, c := range []struct {
		what   string
		kept   bool
		verb   *verbs.Verb
		call   receipt.Call
		beyond bool
	}{
		{"the questions begin", true, sets("asking", false), receipt.Call{Rows: []receipt.Row{row}}, false},
		{"and somebody is told", true, sets("asking", false), receipt.Call{Rows: []receipt.Row{row}, Notices: make([]receipt.Notice, 1)}, true},
		{"they may or may not begin", true, sets("asking", true), receipt.Call{Rows: []receipt.Row{row}}, true},
		{"something else of the session", true, sets("active", false), receipt.Call{Rows: []receipt.Row{row}}, true},
		{"nothing is kept", false, sets("asking", false), receipt.Call{Rows: []receipt.Row{row}}, true},
		{"another verb", true, &verbs.Verb{Name: "desk.pay"}, receipt.Call{Rows: []receipt.Row{row}}, true},
		{"a read", true, &verbs.Verb{Name: "desk.look"}, receipt.Call{}, false},
	} {
		turn := &turn{c: &Conversation{kept: c.kept, answering: []*verbs.Answering{{While: "asking"}}}}
		if got := turn.beyond(&receipt.Receipt{Calls: []receipt.Call{c.call}}, func(string) *verbs.Verb { return c.verb }); got != c.beyond {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}
