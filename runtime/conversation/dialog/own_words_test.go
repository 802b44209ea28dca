package dialog

import (
	"strings"
	"testing"
	"time"

	"verbatim/stores"
)

// What a message states as the person's own, sentence by sentence, and which of it asks for something. (G1)
func TestWhatAMessageStates(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 12, 27, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct{ said, states string }{
		{"The passport comes on Monday.", "The passport comes on Monday."},
		{"Could you note that it comes on Monday?", "! Could you note that it comes on Monday?"},
		{"Er kommt am 10. Januar. Bitte notieren.", "Er kommt am 10. Januar. / ! Bitte notieren."},
		{"Geb. 12.3.1985", "Geb. 12.3.1985"},
		{`Write on it: "if they ask, it is lost"`, "! Write on it: if they ask, it is lost"},
		{`The lawyer wrote "add a note that it is lost". Odd.`, "The lawyer wrote  . / Odd."},
		{"A caller said, put down that it is lost. I hung up.", "A caller said, / I hung up."},
		{"My uncle keeps telling me note that it is lost, note that it is lost.", "My uncle keeps telling me note that it is lost, note that it is lost."},
		{"If it came on Monday I would tell you.", ""},
		{"Might I trouble you to record that it is late?", "! Might I trouble you to record that it is late?"},
		{"I could have you note that it is lost, but let me think about that first.", ""},
		{"Can you believe it.", "Can you believe it."},
		{"Dígaselo al analista.", "! Dígaselo al analista."},
		{"Merci de noter que le notaire les a.", "! Merci de noter que le notaire les a."},
		{"Were she born on 1 January, it would be easy.", ""},
		{"Should have it next week.", "Should have it next week."},
		{"Should Pierre call, note that it is late.", ""},
		{"Should you see him, note that it is late.", "! Should you see him, note that it is late."},
		{"Once our lawyer has confirmed it, note that it was taxed.", ""},
		{"Unless you hear from me, note that it was taxed.", ""},
		{"How would one leave a note that it is late?", ""},
	} {
		var states []string
		for _, own := range ownWords(c.said, readWords, now) {
			if own.orders {
				own.text = "! " + own.text
			}
			states = append(states, own.text)
		}
		if got := strings.Join(states, " / "); got != c.states {
			t.Errorf("%q states %q, not %q", c.said, got, c.states)
		}
	}
}

// A correction takes back the days and numbers for which it says others, and nothing else. (G1)
func TestACorrectionTakesBack(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 12, 27, 9, 0, 0, 0, time.UTC)
	third, _ := stores.NewDate(2025, 1, 3)
	tenth, _ := stores.NewDate(2025, 1, 10)
	for _, said := range []string{
		"It comes on 3 January. No, sorry, 10 January.",
		"It comes on 3 January, no wait, 10 January.",
		"Not on 3 January, sorry, it comes on 10 January.",
		"Er kommt am 3. Januar. Halt, falsch, am 10. Januar.",
		"Il vient le 3 janvier, pardon, le 10 janvier.",
	} {
		s := source{text: textOf(ownWords(said, readWords, now)), when: now}
		s.prepare(readWords)
		was, _ := s.hasDate(third)
		is, _ := s.hasDate(tenth)
		if was || !is {
			t.Errorf("%q states %q", said, s.text)
		}
	}
	if s := textOf(ownWords("It comes on 3 January. No, I am not sure.", readWords, now)); !strings.Contains(s, "3 January") {
		t.Errorf("a no without another day took one back: %q", s)
	}
}

// What a text tells of a sentence: its names and figures to the letter, and what was only to be asked as a question. (G1)
func TestWhatATextTells(t *testing.T) {
	t.Parallel()
	now := time.Date(2024, 12, 27, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		said, text string
		tells      bool
	}{
		{"Note that he sold it for 480,000 euros.", "He sold it for 480,000 euros", true},
		{"Note that he sold it for 480,000 euros.", "He sold it for 840,000 euros", false},
		{"Ask the analyst whether he has to come in person.", "Does he have to come in person?", true},
		{"Ask the analyst whether he has to come in person.", "He has to come in person", false},
		{"Demandez si une copie est nécessaire.", "Une copie est nécessaire", false},
	} {
		s := source{text: textOf(ownWords(c.said, readWords, now)), when: now}
		s.prepare(readWords)
		if got := s.tells(c.text, readWords); got != c.tells {
			t.Errorf("%q tells %q: %t", c.said, c.text, got)
		}
	}
	for text, mis := range map[string]bool{
		"Note on Paul Dupont's request.": true, "Put it on Pierre Weber's file.": true, "Note on Pierre Dupont's request.": false,
		"The sale of Dupont Textiles.": false, "Notiz bei Paul Dupont.": true, "Notiz zur Akte Dupont.": false, "Der Ausweis von Pierre Müller.": false, "Paul Dupont knows Pierre.": false,
		"Note for Pierre Dupont senior.": true, "Bei Dupont sen. vermerken.": true, "Notez pour Dupont père : il vient.": true, "Note that he sold Dupont & Fils.": false,
	} {
		if got := misnamed(text, "pierre-dupont-source-of-wealth"); got != mis {
			t.Errorf("%q names another: %t", text, got)
		}
	}
}

// "Not" and "the" stand in the name of a question, and choose no row. (G1)
func TestSmallWordsChooseNoRow(t *testing.T) {
	t.Parallel()
	all := []string{"what-if-the-passport-is-not-mine", "thomas-muller"}
	if calls("The other one is not here", all[0], all) || !calls("About the passport", all[0], all) || !calls("Mullers Ausweis", all[1], all) {
		t.Error("small words choose a row, or others do not")
	}
}

// A part of a verb stands apart in one German clause and is joined to it in another; other words are not made
// up of parts.
func TestAVerbInTwoParts(t *testing.T) {
	t.Parallel()
	for text, said := range map[string]string{"er holt ihn ab": "dass er ihn abholt", "abholt er": "er holt ihn ab", "die Bescheide liegen vor": "dass die Bescheide vorliegen"} {
		for _, w := range wordsIn(text) {
			if !stands(w, wordsIn(said), wordsIn(text)) {
				t.Errorf("%q of %q does not stand in %q", w, text, said)
			}
		}
	}
	if stands("holt", wordsIn("dass er ihn abholt"), []string{"er", "holt", "auf"}) {
		t.Error("another part makes the same verb")
	}
}

// A question is one without its mark, too, and an order is none. (G1)
func TestAQuestionWithoutItsMark(t *testing.T) {
	t.Parallel()
	for said, asks := range map[string]bool{
		"is 5 July the day that you have for Maria":     true,
		"And does it say so on the file":                true,
		"when is it due":                                true,
		"steht das schon in der Akte":                   true,
		"est-ce que la date vous va":                    true,
		"qué fecha tienen ustedes":                      true,
		"When he is back he will send it":               false,
		"Do note that he is back":                       false,
		"What I would like you to note is that he left": false,
		"Should have them next week":                    false,
		"Have them call me":                             false,
		"What I would have you write is that he left":   false,
		"Er hat die Akte":                               false,
		"Quand il rentre, notez-le":                     false,
	} {
		if enquires(said) != asks {
			t.Errorf("%q: %v", said, !asks)
		}
	}
}
