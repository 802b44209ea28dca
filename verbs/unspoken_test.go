package verbs

import (
	"os"
	"strings"
	"testing"

	"verbatim/dsl"
)

// A palette that has a language in some places is warned about where it lacks it, once
// for a language, with the first places and how many more; one that has all of it, or
// none, is not. Its example in the documentation earns it. (U2, X12)
func TestUnspoken(t *testing.T) {
	t.Parallel()
	doc := unspokenCodes()[0]
	told := func(text string) []string {
		r := loadText(t, "bank.yaml", text)
		var all []string
		for _, d := range Unspoken(r) {
			if d.Code != doc.Code || d.Severity != dsl.Warning {
				t.Errorf("%s %v", d.Code, d.Severity)
			}
			line := d.Summary + ": " + d.Place.Source.Text[d.Place.Range.Start:d.Place.Range.End]
			for _, r := range d.Related {
				line += ", " + r.Place.Source.Text[r.Place.Range.Start:r.Place.Range.End]
			}
			all = append(all, line+strings.Join(d.Notes[1:], ""))
		}
		return all
	}
	const whole = `domain: bank
roles: [{name: client}]
entities:
  letter: {table: letters, key: letter_id, scope: self, label: "{text}", fields: {text: {type: string, required: true}}}
verbs:
  - verb: write
    description: Write a letter.
    roles: [client]
    phrases: {en: ["write {text}"], de: ["schreibe {text}"]}
    tells: {asks: {en: "May I write {text}?", de: "Darf ich {text} schreiben?"}, done: "{text}"}
    args:
      - {name: text, type: string, required: true, asks: {en: "What is it?", de: "Was ist es?"}}
    confirm: [{reason: it is sent}]
    requires: [{that: text != "", else: nothing is written}]
    effects: [{creates: letter, set: {text: text}}]
  - {verb: tend, description: Tend to it., internal: true, roles: [client], effects: [{notifies: client}]}
says:
  Write a letter.: {de: einen Brief schreiben}
  it is sent: {de: er wird gesendet}
  nothing is written: {de: es steht nichts da}
`
	for change, want := range map[string][]string{
		"":                            nil,
		`, de: ["schreibe {text}"]=>`: {"the palette bank speaks de, and in 1 place it does not: phrases"},
		`, de: "Was ist es?"=>`:       {"the palette bank speaks de, and in 1 place it does not: asks"},
		`asks: {en: "What is it?", de: "Was ist es?"}=>asks: "What is it?"`: {"the palette bank speaks de, and in 1 place it does not: asks"},
		"  it is sent: {de: er wird gesendet}\n=>":                          {"the palette bank speaks de, and in 1 place it does not: it is sent"},
		`{de: es steht nichts da}=>{de: es steht nichts da, fr: rien}`:      {"the palette bank speaks fr, and in 5 places it does not: phrases, asks, asksand in 2 more"},
		`done: "{text}"=>done: "Written: {text}"`:                           {"the palette bank speaks de, and in 1 place it does not: done"},
	} {
		text := whole
		if change != "" {
			from, to, _ := strings.Cut(change, "=>")
			if !strings.Contains(text, from) {
				t.Fatal(from)
			}
			text = strings.Replace(text, from, to, 1)
		}
		if got := told(text); strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: %q, not %q", change, got, want)
		}
	}
	// F20: of a column called id, {id: id} is no Indonesian.
	if got := told(strings.ReplaceAll(whole, "text", "id")); len(got) != 0 {
		t.Errorf("with a column called id: %q", got)
	}
	if got := told(doc.Wrong); len(got) != 1 {
		t.Errorf("the wrong example earns %q", got)
	}
	if got := told(doc.Right); len(got) != 0 {
		t.Errorf("the right example earns %q", got)
	}
	// The palettes that are shipped are whole in what they speak.
	for _, file := range []string{"client.yaml", "../examples/helpdesk/verbs/desk.yaml"} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := told(string(data)); len(got) > 0 {
			t.Errorf("%s: %q", file, got)
		}
	}
}
