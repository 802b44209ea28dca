package intent

import (
	"slices"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// O12, U7: what is to be noted is what follows the colon or the "that" of a phrase,
// in whichever language it is said, and not the order to note it; where nothing
// follows, it is asked for.
func TestWhatFollowsIsTheNote(t *testing.T) {
	t.Parallel()
	r, _ := domains[0].reader(t)
	for _, c := range [][3]string{
		{"en", "leave a note for Pierre: the accountant is ill", "the accountant is ill"},
		{"en", "Please leave a note: Pierre's accountant is ill", "Pierre's accountant is ill"},
		{"en", "note that Pierre's accountant is ill", "Pierre's accountant is ill"},
		{"en", "Please note that the adviser of Pierre is on holiday", "the adviser of Pierre is on holiday"},
		{"en", "write down for Pierre's source of wealth that the adviser is ill", "the adviser is ill"},
		{"en", `Leave a note on Pierre: "our accountant is away"`, "our accountant is away"},
		{"en", "leave a note for Pierre, the accountant is ill", "the accountant is ill"},
		{"en", "note for Thomas that he is ill", "he is ill"},
		{"en", "a note for Thomas, that he is ill", "he is ill"},
		{"de", "Notiz für Thomas, dass er krank ist", "er krank ist"},
		{"fr", "une note pour Thomas que son comptable est malade", "son comptable est malade"},
		{"es", "nota para Thomas que su contable está enfermo", "su contable está enfermo"},
		{"en", "leave a note for Pierre", ""},
		{"en", "Leave a note on Pierre's source of wealth, please", ""},
		{"en", "note for Pierre: they open at 10:30", "they open at 10:30"},
		{"de", "Notiz: Pierres Steuerberater ist krank", "Pierres Steuerberater ist krank"},
		{"de", "Notieren Sie bitte, dass Pierres Steuerberater krank ist", "Pierres Steuerberater krank ist"},
		{"de", "Bitte notieren Sie, dass der Steuerberater von Pierre krank ist", "der Steuerberater von Pierre krank ist"},
		{"de", "Hinterlassen Sie eine Notiz zu Pierre: der Steuerberater ist krank", "der Steuerberater ist krank"},
		{"fr", "Notez que le comptable de Pierre est malade", "le comptable de Pierre est malade"},
		{"fr", "Laissez une note sur Pierre : le comptable est malade", "le comptable est malade"},
		{"fr", "Note : le comptable de Pierre est malade", "le comptable de Pierre est malade"},
		{"es", "anota que el contable de Pierre está enfermo", "el contable de Pierre está enfermo"},
		{"es", "Nota: el contable de Pierre está enfermo", "el contable de Pierre está enfermo"},
		{"es", "Deje una nota en Pierre: «el contable está enfermo»", "el contable está enfermo"},
	} {
		l, _ := values.ParseLanguage(c[0])
		v := r.in
		v.Chosen = "client.add-note" // where it is not sure that it is one
		h := r.ix.Reader(v).Read(c[1], values.In{Now: now, Languages: []values.Language{l}})
		got, asks := "", 0
		for i := range h.Parts {
			p := &h.Parts[i]
			if p.Verb == nil || p.Verb.Name != "client.add-note" {
				continue
			}
			asks = len(p.Asks)
			for _, a := range p.Args {
				if a.Param.Name == "note" {
					got = a.Value.Text
				}
			}
		}
		if got != c[2] || c[2] == "" && asks != 1 {
			t.Errorf("%q is noted as %q, and asks %d questions", c[1], got, asks)
		}
	}
}

// O12, U7: a note of several sentences is all of them. What stands in it is told to
// whoever reads it, and ordered by nobody; a question to us behind it, and an order
// on a line of its own, are none of it.
func TestANoteOfSeveralSentences(t *testing.T) {
	t.Parallel()
	r, _ := domains[0].reader(t)
	const pierre, thomas = "@pierre-dupont-source-of-wealth", "@thomas-muller-identity"
	long := strings.Repeat("He has all of the papers for every year. ", 48)
	for _, c := range []struct {
		text, row, note string
		others          []string // verbs of what is said besides
	}{
		{"Leave a note for Pierre: his accountant is ill. He will be back. Please send the list again.", pierre, "his accountant is ill. He will be back. Please send the list again.", nil},
		{"Leave a note for Pierre: Thomas Müller is ill. Maria knows. Talk to her.", pierre, "Thomas Müller is ill. Maria knows. Talk to her.", nil},
		{"Leave a note for Pierre: he is ill. Get me a person. Stop the questions.", pierre, "he is ill. Get me a person. Stop the questions.", nil},
		{"Leave a note for Pierre: he is ill.\n\nHe will come back.\n", pierre, "he is ill.\n\nHe will come back.", nil},
		{"Please note the following:\nPierre's accountant is ill.\nHe is at the hospital.", pierre, "Pierre's accountant is ill.\nHe is at the hospital.", nil},
		{"Please leave a note: his accountant is ill. He will be back.\nPierre", pierre, "his accountant is ill. He will be back.", nil},
		{`Leave a note on Thomas: "He is away. He is back soon."`, thomas, "He is away. He is back soon.", nil},
		{`Leave a note for Pierre: "He is away. He is back soon." What is still missing?`, pierre, "He is away. He is back soon.", []string{"client.get-outstanding"}},
		{"Notiz zu Pierre: „Er ist krank. Er kommt bald.“ Was fehlt noch?", pierre, "Er ist krank. Er kommt bald.", []string{"client.get-outstanding"}},
		{`Leave a note for Pierre: "Papa" is what we call him. He is away.`, pierre, `"Papa" is what we call him. He is away.`, nil},
		{"Leave a note for Pierre: " + long, pierre, strings.TrimSpace(long), nil},
		{"Notiz: Pierres Steuerberater ist krank. Er meldet sich wieder.", pierre, "Pierres Steuerberater ist krank. Er meldet sich wieder.", nil},
		{"Notez ce qui suit : le comptable de Pierre est malade. Il reviendra.", pierre, "le comptable de Pierre est malade. Il reviendra.", nil},
		{"Nota: el contable de Pierre está enfermo. No puede enviarlo.", pierre, "el contable de Pierre está enfermo. No puede enviarlo.", nil},
		{"Leave a note for Pierre: he is ill. What is still missing?", pierre, "he is ill.", []string{"client.get-outstanding"}},
		{"Leave a note for Pierre: he is ill.\nI want to talk to a person", pierre, "he is ill.", []string{"client.escalate"}},
	} {
		h := r.Read(c.text, values.In{Now: now})
		row, note := "", ""
		var others []string
		for i := range h.Parts {
			p := &h.Parts[i]
			if p.Verb == nil || p.Verb.Name != "client.add-note" {
				if p.Verb != nil {
					others = append(others, p.Verb.Name)
				} else {
					others = append(others, p.Certainty.String())
				}
				continue
			}
			for _, a := range p.Args {
				switch a.Param.Name {
				case "note":
					note = a.Value.Text
				case "request-id":
					row = dsl.FormatValue(a.Value)
				}
			}
		}
		if h.Cut || row != c.row || note != c.note || !slices.Equal(others, c.others) {
			t.Errorf("%q is noted for %s as %q, beside %q", c.text, row, note, others)
		}
	}

	// None of these is a note that somebody dictates.
	for _, text := range []string{
		"How do I leave a note for Pierre: in the app? Or by mail?",
		"Don't leave a note for Pierre: he is ill. He comes back.",
		"Two things: Pierre is ill. Thomas is not.",
	} {
		h := r.Read(text, values.In{Now: now})
		for i := range h.Parts {
			if p := &h.Parts[i]; p.Call != "" && p.Verb.Name == "client.add-note" {
				t.Errorf("%q becomes %s", text, p.Call)
			}
		}
	}
}

// A text that is too long is told its length and its limit; a message of which only
// a part would be read is not read at all.
func TestTooMuchAtOnce(t *testing.T) {
	t.Parallel()
	r, _ := domains[0].reader(t)
	h := r.Read("leave a note for Pierre: "+strings.Repeat("ä", 2001), english)
	want := Ask{Text: "That is 2001 characters long, and at most 2000 can be taken. Please say it in fewer words."}
	if h.Cut || len(h.Parts) != 1 || len(h.Parts[0].Asks) != 1 || h.Parts[0].Asks[0].Text != want.Text || h.Parts[0].Call != "" {
		t.Errorf("a note that is too long gives %s", describe("", &h))
	}
	for name, text := range map[string]string{
		"many sentences":   strings.Repeat("What is still missing? ", maxParts+1),
		"many words":       strings.Repeat("what is missing and ", maxWords/4+1),
		"many lines":       strings.Repeat("leave a note for Pierre: he is ill\n", maxNote/7+1),
		"more than a page": "leave a note for Pierre: " + strings.Repeat("x", maxBytes),
		"many amounts":     strings.Repeat("EUR 5, ", values.MaxReadings+1),
	} {
		if h := r.Read(text, english); !h.Cut {
			t.Errorf("%s are read as %s", name, describe(text, &h))
		}
	}
}

// F26: a place of one word takes what stands in it, and never the whole sentence; where
// nothing stands in it, it is asked for.
func TestANameIsNotTheSentence(t *testing.T) {
	t.Parallel()
	r, _ := domains[1].reader(t)
	for text, want := range map[string]string{
		"a new customer called Piotr":                      "Piotr",
		"register a customer named Piotr Wójcik":           "Piotr Wójcik",
		"new customer: Piotr":                              "Piotr",
		"we have a new customer":                           "",
		"create a customer, he came in today with a dog":   "",
		"please register a new customer for the Graz shop": "",
	} {
		h := r.Read(text, english)
		for i := range h.Parts {
			for _, a := range h.Parts[i].Args {
				if a.Param.Name == "name" && a.Value.Text != want {
					t.Errorf("%q takes %q", text, a.Value.Text)
				}
				if a.Param.Name == "name" {
					want = ""
				}
			}
		}
		if want != "" {
			t.Errorf("%q does not take %q", text, want)
		}
	}
}

// F26: what only says that a note is to follow is no note: it is asked for, and what is
// said behind a colon or in its phrase is.
func TestAnAnnouncementIsNoNote(t *testing.T) {
	t.Parallel()
	r, _ := domains[0].reader(t)
	for text, want := range map[string]string{
		"add a note":                                    "",
		"please add a note":                             "",
		"leave a remark on Thomas":                      "",
		"tell them":                                     "",
		"leave a note, @thomas-muller-identity":         "",
		"I have a question":                             "",
		"I have a question about Thomas":                "",
		"add a note about the accountant":               "",
		"add a note @thomas-muller-identity: he is ill": "he is ill",
		"I have a question about Thomas: is it enough?": "is it enough?",
		"still waiting on our accountant":               "still waiting on our accountant",
		"our accountant is still on it":                 "our accountant is still on it",
	} {
		h := r.Read(text, english)
		if len(h.Parts) != 1 || h.Parts[0].Verb == nil {
			t.Errorf("%q is read as %s", text, describe(text, &h))
			continue
		}
		got, asked := "", false
		for _, a := range h.Parts[0].Args {
			if a.Param.Name == "note" || a.Param.Name == "question" {
				got = a.Value.Text
			}
		}
		for _, a := range h.Parts[0].Asks {
			asked = asked || a.Dictated()
		}
		if got != want || asked != (want == "") {
			t.Errorf("%q is noted as %q, and asks for it: %v", text, got, asked)
		}
	}
}

// F27: a name that nobody has is asked about with the rows that there are, and the one
// that is chosen is meant; where there are more than a question lists, it says
// how many.
func TestAStrangerIsAskedAboutWithRows(t *testing.T) {
	t.Parallel()
	r, reg := domains[0].reader(t)
	const text = "I have the passport of Karl Weber here"
	h := r.Read(text, english)
	if len(h.Parts) != 1 || len(h.Parts[0].Asks) != 1 {
		t.Fatal(describe(text, &h))
	}
	a := &h.Parts[0].Asks[0]
	if len(a.Choices) != 4 || !strings.Contains(a.Text, "thomas muller identity") {
		t.Errorf("it asks %q, %q", a.Text, a.Choices)
	}
	v := r.in
	v.Chosen = h.Parts[0].Ranked[0].Verb.Name
	v.Given = []Given{{v.Chosen, a.Param.Name, a.Choices[1]}}
	if h = r.ix.Reader(v).Read(text, english); h.Parts[0].Verb == nil || len(h.Parts[0].Args) == 0 || dsl.FormatValue(h.Parts[0].Args[0].Value) != a.Choices[1] {
		t.Errorf("%q is read as %s", text, describe(text, &h))
	}

	many := Vocabulary{Verbs: reg.Palette("client").Verbs, Names: map[*verbs.Entity][]string{reg.Entity("outstanding-request"): {"a-identity", "b-identity", "c-identity", "d-identity", "e-identity", "f-identity", "g-identity"}}}
	h = New(reg).Reader(many).Read("add a note", english)
	if a = &h.Parts[0].Asks[0]; len(a.Choices) != maxNames || !strings.HasSuffix(a.Text, "There are 2 more: say which one by its name.") {
		t.Errorf("it asks %q, %q", a.Text, a.Choices)
	}
}

// F27: a question about somebody is answered by what reads about them, or offers that
// before anything else; what changes something is never an answer.
func TestAQuestionAboutARowIsAnswered(t *testing.T) {
	t.Parallel()
	r, _ := domains[0].reader(t)
	for text, want := range map[string]string{
		"When is Pierre's stuff due?":               "client.get-request-detail :request-id @pierre-dupont-source-of-wealth",
		"Is there a deadline for Thomas?":           "client.get-request-detail :request-id @thomas-muller-identity",
		"Until when do you need Thomas's passport?": "client.get-request-detail :request-id @thomas-muller-identity",
		"Gibt es eine Frist für Thomas?":            "client.get-request-detail :request-id @thomas-muller-identity",
		"Pour quand vous faut-il celui de Pierre ?": "client.get-request-detail :request-id @pierre-dupont-source-of-wealth",
		"¿Para cuándo necesitan el de Pierre?":      "client.get-request-detail :request-id @pierre-dupont-source-of-wealth",
	} {
		if h := r.Read(text, values.In{Now: now}); len(h.Parts) != 1 || h.Parts[0].Call != want {
			t.Errorf("%q is read as %s", text, describe(text, &h))
		}
	}
	h := r.Read("Has Thomas's passport arrived?", english)
	for _, c := range h.Parts[0].Asks[0].Choices {
		if c == "client.get-outstanding" || c == "client.escalate" {
			t.Errorf("of Thomas, %s is offered", c)
		}
	}
}

// A text does not end at an abbreviation or an initial.
func TestATextGoesOnBehindAShortForm(t *testing.T) {
	t.Parallel()
	r, _ := domains[0].reader(t)
	for text, want := range map[string]string{
		"Tell them about Pierre that Dr. Weber is away until 15 January 2025": `client.add-note :request-id @pierre-dupont-source-of-wealth :note "about Pierre that Dr. Weber is away until 15 January 2025" :expected-date 2025-01-15`,
		"Leave a note on Pierre that the accountant is ill":                   `client.add-note :request-id @pierre-dupont-source-of-wealth :note "the accountant is ill"`,
		"Leave a note on Pierre: K. L. Brown has the returns. Ask him":        `client.add-note :request-id @pierre-dupont-source-of-wealth :note "K. L. Brown has the returns. Ask him"`,
	} {
		if h := r.Read(text, english); len(h.Parts) != 1 || h.Parts[0].Call != want {
			t.Errorf("%q is read as %s", text, describe(text, &h))
		}
	}
}

// A word of a sentence fills one argument (G14): who a thing is lent to is not the clerk as well, and
// the clerk is asked for, whichever of the two the palette names first.
func TestAWordFillsOneArgument(t *testing.T) {
	t.Parallel()
	const member, clerk = "{name: member-id, type: ref, ref-type: person, required: true}", "{name: clerk-id, type: ref, ref-type: person, required: true}"
	for _, args := range []string{member + ", " + clerk, clerk + ", " + member} {
		_, r := inline(t, `
domain: lend
roles: [{name: player}]
entities:
  person: {key: person_id, scope: everyone, label: "{name}", fields: {name: {type: string}}}
verbs:
  - verb: hand
    description: Lend a thing to somebody.
    roles: [player]
    phrases: ["lend {what} to {member-id}", "{clerk-id} lends {what} to {member-id}"]
    handler: true
    args: [{name: what, type: string, required: true}, `+args+`]
`, "person", "tom-brandt", "maria-lopez")
		h := r.Read("lend ATLAS to Tom Brandt", values.In{Now: now})
		if len(h.Parts) != 1 {
			t.Fatalf("%s", describe("lend ATLAS to Tom Brandt", &h))
		}
		p := &h.Parts[0]
		for i := range p.Args {
			if a := &p.Args[i]; a.Param.Name == "clerk-id" || a.Param.Name == "member-id" && a.Value.Text != "tom-brandt" {
				t.Errorf("%s is %s", a.Param.Name, a.Value.Text)
			}
		}
		if len(p.Asks) != 1 || p.Asks[0].Param.Name != "clerk-id" {
			t.Errorf("%s asks %v", args, p.Asks)
		}
	}
}

// What stands in the place of a text is the text, also where a row is called so: whoever looks for a
// violin means the word. A row that has to be named is the row.
func TestATextThatNamesARow(t *testing.T) {
	t.Parallel()
	_, r := inline(t, `
domain: lend
roles: [{name: player}]
entities:
  instrument: {key: instrument_id, scope: everyone, label: "{name}", fields: {name: {type: string}}}
verbs:
  - verb: find
    description: Find instruments.
    roles: [player]
    phrases: ["find {name}", "is there a {name}"]
    handler: true
    args: [{name: like-id, type: ref, ref-type: instrument}, {name: name, type: string}, {name: near-id, type: ref, ref-type: instrument}]
  - verb: damage
    description: Tell what is broken.
    roles: [player]
    phrases: ["{instrument-id} is broken: {what}", "report damage {what}"]
    handler: true
    args: [{name: instrument-id, type: ref, ref-type: instrument, required: true}, {name: what, type: string, required: true, max-length: 1000}]
`, "instrument", "violin-no-1", "violin-no-2", "clarinet-buffet")
	for said, want := range map[string]string{
		"find violin":                     `lend.find :name "violin"`,
		"Find Clarinet Buffet":            `lend.find :name "Clarinet Buffet"`,
		"is there a clarinet?":            `lend.find :name "clarinet"`,
		"find trombone":                   `lend.find :name "trombone"`,
		"find":                            "lend.find",
		"report damage Clarinet Buffet":   "",
		"the clarinet is broken: the key": `lend.damage :instrument-id @clarinet-buffet :what "the key"`,
	} {
		if h := r.Read(said, values.In{Now: now}); len(h.Parts) != 1 || h.Parts[0].Call != want {
			t.Errorf("%q is read as %s", said, describe(said, &h))
		}
	}
}
