package score

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var placeholder = regexp.MustCompile(`\{[^}]*\}`)

// Every language says every reason, with the same counts. // T50
func TestAllLanguagesSayTheSame(t *testing.T) {
	t.Parallel()
	all := catalogue()
	if got := slices.Sorted(maps.Keys(all)); fmt.Sprint(got) != "[de en es fr]" {
		t.Fatal(got)
	}
	for language, sentences := range all {
		if a, b := slices.Sorted(maps.Keys(sentences)), slices.Sorted(maps.Keys(all["en"])); !slices.Equal(a, b) {
			t.Errorf("%s and en have other keys: %v, %v", language, a, b)
		}
		for key, sentence := range sentences {
			a, b := placeholder.FindAllString(sentence, -1), placeholder.FindAllString(all["en"][key], -1)
			slices.Sort(a)
			slices.Sort(b)
			if !slices.Equal(a, b) || sentence == "" {
				t.Errorf("%s: %s has %v, in English %v", language, key, a, b)
			}
			for _, p := range a {
				if !slices.Contains([]string{"{have}", "{of}", "{percent}"}, p) {
					t.Errorf("%s: %s has %s", language, key, p)
				}
			}
			if language != "en" && sentence == all["en"][key] {
				t.Errorf("%s: %s is English", language, key)
			}
		}
		text, err := os.ReadFile("reasons/" + language + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if lines := regexp.MustCompile(`(?m)^[^#\n]`).FindAllString(string(text), -1); len(lines) != len(sentences) {
			t.Errorf("%s: %d lines, %d sentences: a key stands there twice or a line is none", language, len(lines), len(sentences))
		}
	}
}

// Every level that can be reached has a sentence, and every sentence can be reached. // T50
func TestEveryLevelHasASentence(t *testing.T) {
	t.Parallel()
	reached := map[string]bool{}
	add := func(reasons ...Reason) {
		for _, r := range reasons {
			key := string(r.Measure) + "/" + string(r.Level)
			reached[key] = true
			if said := r.In("en"); said == key || placeholder.MatchString(said) {
				t.Errorf("%s is said as %q", key, said)
			}
		}
	}
	add(Combine(nil, nil).Reasons...)
	r := rand.New(rand.NewPCG(1, 70))
	for range 5000 {
		add(Combine(anyFactors(r), DefaultWeights(GraphQuery)).Reasons...)
	}
	add(Coherence(Text{Answer: strings.Repeat("and so on ", 9)}).Reason)
	add(Stated(1).Reason, Stated(0.7).Reason, Stated(0.2).Reason, Stated(7).Reason)
	b := Bounds{0.5, 0.9, 0.1}
	for _, h := range [][]Outcome{nil, judged(0.8, 40, 100), judged(0.8, 92, 100), judged(0.55, 100, 100)} {
		for _, at := range []float64{0.6, 0.9} {
			_, why, _ := Adapt(at, h, b)
			add(why)
		}
	}
	_, bound, _ := Adapt(0.9, judged(1, 0, 100), b)
	add(bound)
	for key := range catalogue()["en"] {
		if !reached[key] {
			t.Errorf("%s is never said", key)
		}
	}
}

// Neither a score as it is recorded nor its reasons hold anything of the question, of the
// answer, or of what it was made of. // T44
func TestScoresTellNothingOfTheAnswer(t *testing.T) {
	t.Parallel()
	const name, number = "Zyxwvut", "8675309"
	secret := fmt.Sprintf("The account of %s is %s, they said.", name, number)
	text := Text{Answer: secret, Question: "Whose is " + number + "?", Given: []string{secret}}
	for _, given := range [][]string{{secret}, {"nothing"}} {
		text.Given = given
		s := evaluate(TextCompletion, Coherence(text), Grounding(text), EntityPrecision([]string{name, number}, given),
			Agreement(secret, []string{secret, name}), ResultSize(Rows{Found: 1}), Attempts(2))
		data, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		told := string(data)
		for _, r := range s.Reasons {
			for language := range catalogue() {
				told += "\n" + r.In(language)
			}
		}
		for _, word := range []string{name, number, strings.ToLower(name), "account"} {
			if strings.Contains(told, word) {
				t.Errorf("%s is told: %s", word, told)
			}
		}
	}
}

// Counts stand in the sentence of each language; an unknown language is told in English, and
// a reason of a later version by its names. // T50
func TestReasonsAreSaidInTheLanguageAsked(t *testing.T) {
	t.Parallel()
	r := Completeness(2, 3).Reason
	for language, want := range map[string]string{
		"en":    "Some wanted values are missing; filled: 2 of 3 (66%).",
		"de-CH": "Einige gewünschte Werte fehlen; ausgefüllt: 2 von 3 (66 %).",
		"FR":    "Certaines valeurs voulues manquent ; remplies : 2 sur 3 (66 %).",
		"es":    "Faltan algunos valores pedidos; completos: 2 de 3 (66 %).",
		"xx":    "Some wanted values are missing; filled: 2 of 3 (66%).",
		"":      "Some wanted values are missing; filled: 2 of 3 (66%).",
	} {
		if got := r.In(language); got != want {
			t.Errorf("%q: %s", language, got)
		}
	}
	if got := r.Words("en"); got != "Some wanted values are missing." {
		t.Errorf("in words: %s", got)
	}
	for key := range catalogue()["en"] {
		measure, level, _ := strings.Cut(key, "/")
		for language := range catalogue() {
			if got := (Reason{Measure(measure), Level(level), 4711, 9999}).Words(language); Measure(measure) != aboutThreshold && Measure(measure) != MeasureAttempts && strings.ContainsAny(strings.ReplaceAll(got, "0 ", ""), "23456789%") {
				t.Errorf("%s in %s has a figure: %s", key, language, got)
			}
		}
	}
	if got := (Reason{Measure: "later", Level: "new"}).In("de"); got != "later/new" {
		t.Error(got)
	}
}
