package names

import (
	"testing"

	"pgregory.net/rapid"

	"verbatim/dsl"
)

func TestSlug(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{
		"Pierre Dupont SOURCE_OF_WEALTH": "pierre-dupont-source-of-wealth",
		"Thomas Müller IDENTITY":         "thomas-muller-identity",
		"Thomas Mu\u0308ller":            "thomas-muller",
		"  Łódź / Ærø (Straße) ":         "lodz-aero-strasse",
		"O'Brien & Sons, Ltd.":           "o-brien-sons-ltd",
		"2024 accounts":                  "thing-2024-accounts",
		"東京":                             "thing",
		"":                               "thing",
		"--":                             "thing",
		"a":                              "a",
		"Ĳsselmeer":                      "sselmeer",
		"one two three four five six seven eight nine ten eleven": "one-two-three-four-five-six-seven-eight-nine-ten",
		"no\u00a0break": "no-break",
	} {
		if got := Slug(label, "thing"); got != want {
			t.Errorf("%q: got %q, want %q", label, got, want)
		}
	}
}

// Whatever a label holds, its name is a symbol of the language and short.
func TestSlugIsAlwaysASymbol(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := Slug(rapid.String().Draw(t, "label"), "some-entity")
		script, ds := dsl.Parse(dsl.NewSource("", "a.b :c @"+name))
		if ds.HasErrors() || script.Calls[0].Args[0].Value.Text != name || len(name) > maxSlug+len("some-entity-") {
			t.Fatalf("%q", name)
		}
	})
}

// The table of letters has no letter twice.
func TestLettersAreFoldedOnce(t *testing.T) {
	t.Parallel()
	seen := make(map[rune]bool)
	for _, r := range latin {
		if r < 0xc0 {
			continue
		}
		if seen[r] {
			t.Errorf("%c stands there twice", r)
		}
		seen[r] = true
		if Fold(r) == "" {
			t.Errorf("%c becomes nothing", r)
		}
	}
}

// The words of a text fit those of a label the better the more of them are found,
// also misspelt, shortened, joined, divided or as initials.
func TestLikeness(t *testing.T) {
	t.Parallel()
	label := Words("Pierre Dupont, source of wealth")
	at := func(text string) float64 { return Likeness(Words(text), label) }
	falling := []string{"PIERRE DUPONT: Source of Wealth", "Pierre Dupont source", "Piere Dupont source", "Maria Dupont", "Maria Schmidt"}
	for i := 1; i < len(falling); i++ {
		if at(falling[i-1]) <= at(falling[i]) {
			t.Errorf("%q fits no better than %q: %.2f, %.2f", falling[i-1], falling[i], at(falling[i-1]), at(falling[i]))
		}
	}
	if at(falling[0]) != 1 || at("Maria Schmidt") > 0.05 || at("") != 0 {
		t.Errorf("all of it: %.2f, nothing of it: %.2f, no text: %.2f", at(falling[0]), at("Maria Schmidt"), at(""))
	}
	for _, text := range []string{"Pierre SOW", "pierre-dupont sourceofwealth", "Dup ont", "Pierré Dupónt", "P. Dupont"} {
		if at(text) < 0.3 {
			t.Errorf("%q does not fit: %.2f", text, at(text))
		}
	}
}
