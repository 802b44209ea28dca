package strict_test

import (
	"strings"
	"testing"
	"time"

	"verbatim/verbs/strict"
)

type settings struct {
	Name    string             `yaml:"name" json:"name"`
	Share   int                `yaml:"share" json:"share"`
	Part    *float64           `yaml:"part" json:"part"`
	On      bool               `yaml:"on" json:"on"`
	Turns   []string           `yaml:"turns" json:"turns"`
	Weights map[string]float64 `yaml:"weights" json:"weights"`
	Inner   struct {
		At *int `yaml:"at" json:"at"`
	} `yaml:"inner" json:"inner"`
	Since time.Time `yaml:"since" json:"since"`
}

func TestWhatFitsIsRead(t *testing.T) {
	t.Parallel()
	for format, text := range map[string]string{
		"yaml": "name: x\nshare: 5\npart: 1\non: true\nturns: [a, 5]\nweights: {w: 0.5}\ninner: {at: 3}\nsince: 2025-01-31T09:00:00Z\n",
		"json": "{\n\t\"name\": \"x\", \"share\": 5, \"part\": 1, \"on\": true,\n\t\"turns\": [\"a\", \"5\"], \"weights\": {\"w\": 0.5}, \"inner\": {\"at\": 3}, \"since\": \"2025-01-31T09:00:00Z\"}",
	} {
		read := strict.YAML
		if format == "json" {
			read = strict.JSON
		}
		var s settings
		if err := read([]byte(text), &s); err != nil {
			t.Fatal(format, err)
		}
		if s.Name != "x" || s.Share != 5 || *s.Part != 1 || !s.On || strings.Join(s.Turns, " ") != "a 5" || s.Weights["w"] != 0.5 || *s.Inner.At != 3 || s.Since.Year() != 2025 {
			t.Errorf("%s: %+v", format, s)
		}
	}
	if err := strict.YAML([]byte("# nothing\n"), &settings{}); err != nil {
		t.Error(err)
	}
}

// What libraries cut, drop or pass over is an error with its line. (G70)
func TestNothingIsCut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: 1\nshare: 0.5":          `line 1: "a" means nothing in the file`,
		"share: 0.5":                `line 1: "share" is 0.5, and a whole number is wanted`,
		"share: 99.9":               `"share" is 99.9`,
		"share: 1e30":               `"share" is 1e30`,
		"turns:\n- a\n- null":       `line 3: item 2 of "turns" has no value, and a text is wanted`,
		"turns:\n- a\n-":            `line 3: item 2 of "turns" has no value`,
		"name:":                     `"name" has no value`,
		"name: x\nname: y":          `line 2: "name" stands here and in line 1`,
		"weights: {w: 1, w: 2}":     `"w" stands here and in line 1`,
		"on: maybe":                 `"on" is maybe, and true or false is wanted`,
		"part: .nan":                `"part" is .nan, and a number is wanted`,
		"turns: a":                  `"turns" is a, and a list is wanted`,
		"inner: [1]":                `"inner" is a list, and a mapping of keys is wanted`,
		"inner: {att: 1}":           `"att" means nothing in "inner"; did you mean at?`,
		"name: [":                   `this is not YAML`,
		"name: x\n---\nname: y":     `line 2: a second document begins here`,
		"{\"share\": 0.5}":          `line 1: "share" is 0.5, and a whole number is wanted`,
		"{\n\"name\": null}":        `line 2: "name" is null`,
		"{\n\n\"nam\": \"x\"}":      `line 3: "nam" means nothing here`,
		"{\"name\":1,\n\"name\":2}": `line 2: "name" stands twice`,
		"{\"turns\": [null]}":       `"turns/0" is null`,
		"{\"turns\": \"a\"}":        `"turns" is a text, and a list is wanted`,
		"{} {}":                     `a second value begins here`,
		"{":                         `this is not JSON`,
		"{ }x":                      `this is not JSON`,
	} {
		read := strict.YAML
		if strings.HasPrefix(text, "{") {
			read = strict.JSON
		}
		if err := read([]byte(text), &settings{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzYAML(f *testing.F) {
	f.Add("name: x\nshare: 5")
	f.Fuzz(func(t *testing.T, text string) {
		_ = strict.YAML([]byte(text), &settings{})
		_ = strict.JSON([]byte(text), &settings{})
	})
}
