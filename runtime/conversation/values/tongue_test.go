package values

import "testing"

// X12, X13: whoever is answered is answered in the language that they write, and
// goes on being, whatever single word, name or answer of another stands between.
func TestATongueIsSteady(t *testing.T) {
	t.Parallel()
	type said struct {
		text string
		want Language
	}
	for _, talk := range [][]said{
		{{"Pierre Dupont", English}, {"Wie weit sind wir?", German}, {"OK", German}, {"Bitte den Status", German}, {"Source of Wealth", German},
			{"Das Meeting ist next week", German}, {"yes", German}, {"Please tell me what is still missing.", English}, {"Danke", English}},
		{{"¿Qué falta?", Spanish}, {"sí", Spanish}, {"Luxembourg", Spanish}, {"no", Spanish}, {"el compliance officer", Spanish}},
		{{"Où en sommes-nous ?", French}, {"oui", French}, {"non", French}, {"der Vertrag", French}, {"12, rue du Fort", French}},
		{{"ja", German}, {"no", German}, {"3. April 1972", German}},
		// as much of two languages: their writing tells
		{{"Was kostet die Sanierung in Chemnitz?", German}}, {{"Was macht Herr Meier in Luxemburg?", German}}, {{"Combien de salariés compte le site de Roanne ?", French}}, {{"el contrato de la sede?", Spanish}},
		{{"What is due?", English}, {"Was in Chemnitz?", English}},
		{{"sí", Spanish}}, {{"oui", French}}, {{"yes", English}},
		{{"Was fehlt noch?", German}, {"¿", German}},
	} {
		var tongue Tongue
		for _, s := range talk {
			tongue.Hear(s.text)
			if got, _ := tongue.Language(); got != s.want {
				t.Errorf("after %q: %s, want %s", s.text, got, s.want)
			}
		}
	}
	var none Tongue
	if none.Hear("Pierre"); none.known {
		t.Error("a name tells no language")
	}
	if none.Hear("Revenue in France in 2024, in Chemnitz?"); none.language != English {
		t.Error("names of places are no German")
	}
}

// Whose something is, is said in English with what French begins a word with: "it's
// Thomas's passport" is no French.
func TestWhoseIsNoFrench(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Language{
		"it's Thomas's passport":              English,
		"It’s Maria’s and Pierre’s":           English,
		"that's the CEO's and the CFO's sign": English,
		"P&L, R&D, D&A?":                      English,
		"c'est le passeport de Thomas":        French,
		"C’est l’adresse d’Anna":              French,
		"s'il vous plaît, l'adresse":          French,
	} {
		var tongue Tongue
		tongue.Hear("what do you need from us?")
		if want == French {
			tongue = Tongue{}
		}
		tongue.Hear(text)
		if got, _ := tongue.Language(); got != want {
			t.Errorf("%q is %s", text, got)
		}
	}
}

// "je" before what is written as a German noun is German, and otherwise French.
func TestAWordBeforeANounTellsTheLanguage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Language{
		"Umsatz je Quartal 2024?":     German,
		"EBITDA je Quartal":           German,
		"Mitarbeiter je Standort":     German,
		"Umsatz je Monat 2024":        German,
		"je confirme":                 French,
		"je confirme pour Pierre":     French,
		"Est-ce que je paie Pierre ?": French,
	} {
		var tongue Tongue
		if tongue.Hear(text); tongue.language != want || Detect(text)[0] != want {
			t.Errorf("%q is %s, one of %v", text, tongue.language, Detect(text))
		}
	}
}
