package dialog_test

import (
	"strings"
	"testing"
)

// U30: one thing was done in the turn, and a model's sentence tells of another, or
// of the same to another row, or says that something will be: no such sentence
// reaches the person. What was done may be told in many ways.
func TestASecondDeedIsNotInvented(t *testing.T) {
	t.Parallel()
	note := calls(`house.note :repair-id @boiler :note "the part comes on 2025-01-10" :expected 2025-01-10`)
	for name, c := range map[string]struct {
		reply string
		ok    bool
	}{
		"what was done":                     {"I have noted it on the Boiler.", true},
		"shortly":                           {"Noted.", true},
		"in other words":                    {"That is saved. The Boiler is expected on 2025-01-10.", true},
		"passively":                         {"Your note has been recorded.", true},
		"in German":                         {"Ich habe das zum Boiler notiert.", true},
		"in French":                         {"C'est noté pour le Boiler.", true},
		"in Spanish":                        {"He anotado eso para el Boiler.", true},
		"it is settled":                     {"That is settled then.", true},
		"with what is so besides":           {"I have noted it. The Kitchen Window is still reported.", true},
		"an offer":                          {"Noted. If you like, I will cancel the Boiler.", true},
		"a question":                        {"Noted. Shall I cancel the Kitchen Window?", true},
		"that it was not done":              {"Noted. I have not cancelled the Kitchen Window.", true},
		"an answer to come":                 {"Noted. I will tell you more about the Boiler.", true},
		"a second deed":                     {"I have noted it, and I have cancelled the Boiler.", false},
		"a second deed, alone":              {"Noted. I've cancelled the Boiler.", false},
		"another row":                       {"I have noted it on the Kitchen Window.", false},
		"another row as well":               {"I have noted it on the Boiler and the Kitchen Window.", false},
		"money":                             {"Noted. I have paid the plumber.", false},
		"money, passively":                  {"Noted. The plumber has been paid.", false},
		"a transfer":                        {"Noted, and the amount has been transferred.", false},
		"somebody was told":                 {"Noted, and I have informed the landlord.", false},
		"somebody was written to":           {"I've sent your note to the plumber.", false},
		"an approval":                       {"Noted. The repair has been approved.", false},
		"an appointment":                    {"Noted. I have booked the plumber.", false},
		"a deletion":                        {"Noted, and I've deleted the letter.", false},
		"a deed of no family":               {"Noted. The boiler has been replaced.", false},
		"in German, another":                {"Notiert. Ich habe den Boiler storniert.", false},
		"in German, money":                  {"Notiert. Das Geld wurde überwiesen.", false},
		"in French, another":                {"Noté. J'ai annulé le Boiler.", false},
		"in Spanish, another":               {"Anotado. He cancelado el Boiler.", false},
		"a promise":                         {"Noted. I will send the plumber a message.", false},
		"a promise of money":                {"Noted. We'll refund you.", false},
		"a promise, going to":               {"Noted. I'm going to escalate it.", false},
		"a promise in German":               {"Notiert. Ich werde den Vermieter benachrichtigen.", false},
		"another row is settled, impliedly": {"Noted. Everything is settled for the Kitchen Window.", false},
		"paid, impliedly":                   {"Noted. That's paid then.", false},
		"approved, impliedly":               {"Noted. Consider it approved.", false},
		"a state of another's":              {"Noted. The Boiler is fixed.", false},
		"a state, in a code's other words":  {"Noted. The Boiler is settled.", false},
		"a state that is another row's":     {"Noted. The Kitchen Window is ordered.", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, "house")
			a := h.talk(answers(calls(`house.list-repairs`), note, c.reply), nil).say("For the boiler: the part comes on 2025-01-10")
			if len(a.Done) != 1 {
				t.Fatalf("not done: %q", a.Text)
			}
			switch {
			case c.ok && a.Text != c.reply:
				t.Errorf("told %q; not borne out: %v", a.Text, a.Turn.Replaced)
			case !c.ok && a.Text == c.reply:
				t.Error("it was told")
			case !c.ok && !strings.Contains(a.Text, "Done: leave a note on a repair"):
				t.Errorf("told %q", a.Text)
			}
		})
	}
}

// U30: where nothing was done at all, no sentence says so, however it is put.
func TestNothingIsSettledByBeingSaid(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	for _, reply := range []string{
		"That is settled then.", "That's sorted.", "Consider it done.", "You're all set.", "It has been taken care of.", "Everything is in order now.", "This is paid.", "It's cancelled.",
		"All done.", "Das ist erledigt.", "Damit ist alles geregelt.", "C'est réglé.", "Tout est en ordre.", "Eso está resuelto.", "Queda solucionado.",
		"I'll send it right away.", "We will refund you.", "I am going to notify the plumber.", "Ich werde das Geld überweisen.", "Je vais annuler cela.", "Voy a pagar eso.",
		"Approved.", "Sent.", "Booked.", "I have agreed to it for you.", "The Boiler has been fixed.", "Your payment went through and has been booked.",
	} {
		t.Run(reply, func(t *testing.T) {
			t.Parallel()
			if a := h.talk(answers(calls(`house.list-repairs`), reply), nil).say("How is it going?"); a.Text == reply {
				t.Error("it was told")
			}
		})
	}
	for _, reply := range []string{
		"Is that settled then?", "Shall I note it?", "Once you say yes, I will cancel it.", "The Boiler is ordered.", "The Front Door is fixed.", "What would you like done?", "Nothing has to be done today.",
	} {
		t.Run(reply, func(t *testing.T) {
			t.Parallel()
			if a := h.talk(answers(calls(`house.list-repairs`), reply), nil).say("How is it going?"); a.Text != reply {
				t.Errorf("told %q: %v", a.Text, a.Turn.Replaced)
			}
		})
	}
}

// U30: a day, an amount, a name or a state that is no fact is none in another way
// of writing it either, nor in another language.
func TestOtherSpellingsAreNoFacts(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	for _, reply := range []string{
		"It is due on 16.01.2025.", "It is due on January 16th.", "Er kommt am 16. Januar 2025.", "C'est pour le 16 janvier 2025.", "Es para el 16 de enero de 2025.", "It is due on 2025/01/16.", "It is due on the sixteenth of January 2025.",
		"It costs EUR 250.", "It costs 250 €.", "It costs €1.250,00.", "Das kostet zweihundertfünfzig Euro.", "It costs two hundred and fifty euros.", "Cela coûte deux cents euros.", "It costs 2.5k.", "It costs 1’250.",
		"It will take 24 hours.", "Es dauert drei Wochen.", "There are seven repairs.", "Il y a sept réparations.",
		"The plumber, Mr. Oldershaw, comes.", "Herr Max Oldershaw kommt.", "Ask for Ms Greta Thornfield.",
		"The Kitchen Window is fixed.", "The Boiler is cancelled.", "Its status is ON_HOLD.", "The Kitchen Window is now ORDERED.",
		"Pay at bank.example.", "See http://10.0.0.1/x.", "See //evil.test/x.", "[pay](evil)", "![x](data:image/png;base64,AAAA)", "<img src=x>", "Write to helper@collect.example.", "Go to evil[.]com.", "Open javascript:alert(1).", "[1]: http://a.test", "Call tel:+4912345678.", "See evil (dot) com: evil(dot)com.",
	} {
		t.Run(reply, func(t *testing.T) {
			t.Parallel()
			if a := h.talk(answers(calls(`house.list-repairs`), reply), nil).say("How is it going?"); a.Text == reply {
				t.Error("it was told")
			}
		})
	}
	for _, reply := range []string{
		"It is due on 15 January 2025.", "Der Boiler soll am 15. Januar 2025 fertig sein.", "Le Boiler est pour le 15 janvier 2025.", "The Boiler is due on 2025-01-15.", "Three repairs are listed.", "3 repairs are listed.",
	} {
		t.Run(reply, func(t *testing.T) {
			t.Parallel()
			if a := h.talk(answers(calls(`house.list-repairs`), reply), nil).say("How is it going?"); a.Text != reply {
				t.Errorf("told %q: %v", a.Text, a.Turn.Replaced)
			}
		})
	}
}
