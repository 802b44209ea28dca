package score

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The form of a text shows in its level; a text without faults is worth 0.8. // T5 T23
func TestCoherenceSeesTheFormOfAText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  Text
		level Level
		value float64
	}{
		"a sentence":                   {Text{Answer: "Acme and Bolt signed a partnership in 2023."}, Full, 0.8},
		"one word":                     {Text{Answer: "Berlin"}, Full, 0.8},
		"yes":                          {Text{Answer: "Yes", Question: "Is Acme a client?"}, Full, 0.8},
		"an abbreviation at the end":   {Text{Answer: "It was signed for the other side by one Dr. Miller"}, Full, 0.8},
		"a list":                       {Text{Answer: "Partners:\n- Acme\n- Bolt"}, Full, 0.8},
		"a sentence that ends in )":    {Text{Answer: "Acme has agreed. This holds for all of its parts (see annex)"}, Full, 0.8},
		"nothing":                      {Text{}, NoAnswer, 0},
		"only signs":                   {Text{Answer: " …\n--"}, NoAnswer, 0},
		"the question again":           {Text{Answer: "who owns ACME", Question: "Who owns Acme?"}, NoAnswer, 0},
		"a refusal":                    {Text{Answer: "I would rather not say.", Refused: true}, NoAnswer, 0},
		"cut off, as the model says":   {Text{Answer: "Acme and Bolt signed", CutOff: true}, CutOff, 0.4},
		"cut off after a comma":        {Text{Answer: "Acme, Bolt,"}, CutOff, 0.4},
		"cut off in brackets":          {Text{Answer: "Acme (formerly Bolt"}, CutOff, 0.4},
		"cut off in a block of code":   {Text{Answer: "```\nSELECT 1"}, CutOff, 0.4},
		"a list that is announced":     {Text{Answer: "These are the partners:"}, CutOff, 0.4},
		"cut off in a second sentence": {Text{Answer: "Acme signed the agreement. After that it went on to"}, CutOff, 0.4},
		"the same again and again":     {Text{Answer: strings.Repeat("and so on ", 20)}, Repeats, 0.8 * 3 / 58},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if f := Coherence(c.text); f.Level != c.level || math.Abs(f.Value-c.value) > 1e-12 {
				t.Errorf("got %s %v, want %s %v", f.Level, f.Value, c.level, c.value)
			}
		})
	}
}

// A text that is said more often is never more coherent. // T5
func TestCoherenceFallsWithRepetition(t *testing.T) {
	t.Parallel()
	text, last := "", 1.0
	for n := range 6 {
		text += "Acme and Bolt signed a partnership in 2023 which both renewed. "
		f := Coherence(Text{Answer: text})
		if f.Value > last || n > 0 && f.Value >= last {
			t.Errorf("%d times: %v after %v", n+1, f.Value, last)
		}
		last = f.Value
	}
}

// Numbers and names count as grounded if what was given has them, however it spells them.
// In is what stands there, not a language's rule. // T5 T23
func TestGroundingCountsWhatWasGiven(t *testing.T) {
	t.Parallel()
	given := []string{"Acme Corp signed with Bolt on 2023-04-01 for 1,234.50 EUR", `{"ref":"INV-77","share":0.250,"ids":[4,5]}`, "L'Oréal und Straße"}
	for name, c := range map[string]struct {
		answer   string
		have, of int
	}{
		"names":                               {"In 2023 Acme's partner was Bolt.", 3, 3},
		"an invented name":                    {"The partner of Acme was Crane.", 1, 2},
		"an invented number":                  {"They paid 999 EUR.", 1, 2},
		"a number with other signs":           {"They paid 1.234,5 EUR, or 1234.50.", 3, 3},
		"a number with spaces that are tight": {"They paid 1\u202f234,50.", 1, 1},
		"a number with an apostrophe":         {"They paid 1'234.50.", 1, 1},
		"a decimal in short":                  {"The share is 0.25 and not 0.26.", 1, 2},
		"numbers of a list":                   {"We saw 4 and 5 and 6.", 2, 3},
		"a code":                              {"See INV-77 and INV-78.", 1, 2},
		"markers of items":                    {"1. they signed\n2) they paid\n- (3) they left", 0, 0},
		"a number alone":                      {"2023.", 1, 1},
		"the first word of a sentence":        {"Nobody knows. Somebody may. Perhaps.", 0, 0},
		"a French article":                    {"Il s'agit de L'Oréal.", 1, 1},
		"a date":                              {"It was on 2023-04-01.", 3, 3},
		"no names or numbers":                 {"It is unknown.", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if f := Grounding(Text{Answer: c.answer, Given: given}); f.Have != c.have || f.Of != c.of {
				t.Errorf("%d of %d, want %d of %d", f.Have, f.Of, c.have, c.of)
			}
		})
	}
	t.Run("nouns with capitals are no names", func(t *testing.T) {
		t.Parallel()
		text := Text{Answer: "Nach dem Vertrag zahlt Crane die Miete an die GmbH für 4 Jahre.", Given: given, CapitalNouns: true}
		if f := Grounding(text); f.Have != 1 || f.Of != 2 {
			t.Errorf("%d of %d, want 1 of 2: GmbH and 4", f.Have, f.Of)
		}
	})
	t.Run("nothing given", func(t *testing.T) {
		t.Parallel()
		if f := Grounding(Text{Answer: "Acme has 4."}); f != (Factor{}) {
			t.Errorf("%+v", f)
		}
	})
}

// What a text was given is all grounded in it, and giving more never lowers the share. // T5
func TestGroundingRisesWithWhatIsGiven(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		text := Text{Answer: anyText(r), Given: []string{anyText(r)}}
		some := Grounding(text)
		text.Given = append(text.Given, anyText(r))
		if more := Grounding(text); more.Value < some.Value || more.Of != some.Of {
			t.Fatalf("%+v after %+v for %+v", more, some, text)
		}
		text.Given = append(text.Given, text.Answer)
		if all := Grounding(text); all.Have != all.Of {
			t.Fatalf("%+v of its own text %q", all, text.Answer)
		}
	}
}

var pieces = strings.SplitAfter("Acme |Bolt's |signed |2023 |1,234.5 |1.5, |(|) |```|.\n|- 2) |The |the |, |: |'|é|ÉA |\xff|٣|\u202f|9|INV-7 |? ", "|")

// anyText is a text of a few pieces, sensible or not.
func anyText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(strings.TrimSuffix(pieces[r.IntN(len(pieces))], "|"))
	}
	return b.String()
}

func FuzzTexts(f *testing.F) {
	for _, p := range slices.Concat(pieces, []string{"", "He paid 1'000.00, or 1.000,00!", "```", "l'"}) {
		f.Add(p, "Acme 1")
	}
	f.Fuzz(func(t *testing.T, answer, given string) {
		text := Text{Answer: answer, Given: []string{given}}
		for _, f := range []Factor{Coherence(text), Grounding(text), EntityPrecision([]string{answer}, []string{given})} {
			if !(f.Value >= 0 && f.Value <= 1) || f.Have > f.Of {
				t.Errorf("%+v", f)
			}
		}
		text.Given = []string{answer}
		if all := Grounding(text); all.Have != all.Of {
			t.Errorf("%+v of its own text %q", all, answer)
		}
	})
}
