package load

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"verbatim/dsl"
	"verbatim/verbs"
)

// besideOne is a palette and what stands beside it, parted by lines of `#=== NAME`.
func besideOne(name, text string) []*dsl.Source {
	var all []*dsl.Source
	for i, part := range strings.Split(text, "\n#=== ") {
		if i > 0 {
			name, part, _ = strings.Cut(part, "\n")
		}
		all = append(all, dsl.NewSource(name, part+"\n"))
	}
	return all
}

// unspokenIn says what Unspoken warns of, a line for each warning.
func unspokenIn(t *testing.T, r *verbs.Registry) (all []string) {
	for _, d := range MissingTranslations(r) {
		if d.Code != "unspoken" || d.Severity != dsl.Warning {
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

const letters = `domain: bank
roles: [{name: client}]
codes: [{name: kind, values: [URGENT, {code: PLAIN, description: not urgent}]}]
schemas: {form: {type: object, examples: [{title: Sir}], properties: {street: {type: string, title: Street}}}}
entities:
  letter: {table: letters, key: letter_id, scope: self, label: "{text}", unique: [[text]], unique-else: it was sent, fields: {text: {type: string, required: true}}}
verbs:
  - verb: write
    description: Write a letter.
    roles: [client]
    phrases: ["write {text}"]
    tells: {asks: "May I write {text}?", done: "{text}"}
    args:
      - {name: text, type: string, required: true, asks: "What is it?"}
    confirm: [{reason: it is sent}]
    requires: [{that: text != "", else: nothing is written}]
    effects: [{creates: letter, set: {text: text}}]
  - {verb: tend, description: Tend to it., internal: true, roles: [client], effects: [{notifies: client}]}
#=== bank.de.yaml
verbs:
  write:
    phrases: ["schreibe {text}"]
    tells: {asks: "Darf ich {text} schreiben?"}
    asks: {text: "Was ist es?"}
says:
  URGENT: eilig
  PLAIN: gewöhnlich
  not urgent: nicht eilig
  Street: Straße
  it was sent: er wurde gesendet
  Write a letter.: einen Brief schreiben
  it is sent: er wird gesendet
  nothing is written: es steht nichts da
`

// A file with another language is warned about where it lacks something, once, with
// the first places and how many more; one that says all is not. (U2, X12)
func TestUnspoken(t *testing.T) {
	t.Parallel()
	told := func(text string) []string {
		r, ds := Sources(besideOne("bank.yaml", text)...)
		if r == nil {
			t.Fatal(inWords(ds))
		}
		return unspokenIn(t, r)
	}
	for change, want := range map[string]string{
		"":                                   "",
		`["schreibe {text}"]=>[]`:            "the palette bank speaks de, and in 1 place it does not: [",
		`"Was ist es?"=>""`:                  `the palette bank speaks de, and in 1 place it does not: "What is it?"`,
		"  it is sent: er wird gesendet\n=>": "the palette bank speaks de, and in 1 place it does not: it is sent",
		"  it was sent: er wurde gesendet\n  Write a=>  Write a":               "the palette bank speaks de, and in 1 place it does not: it was sent",
		"  Street: Straße\n=>":                                                 "the palette bank speaks de, and in 1 place it does not: Street",
		`done: "{text}"=>done: "Written: {text}"`:                              `the palette bank speaks de, and in 1 place it does not: "Written: {text}"`,
		`da` + "\n" + `=>da` + "\n#=== bank.fr.yaml\nsays: {URGENT: urgent}\n": "the palette bank speaks fr, and in 10 places it does not: [, \"May I write {text}?\", \"What is it?\"and in 7 more",
		`Darf ich {text} schreiben?=>Darf ich[ {text}] schreiben?`:             "",
	} {
		from, to, _ := strings.Cut(change, "=>")
		if !strings.Contains(letters, from) {
			t.Fatal(from)
		}
		if got := strings.Join(told(strings.Replace(letters, from, to, 1)), "|"); got != want {
			t.Errorf("%s:\n%s\nnot\n%s", change, got, want)
		}
	}
	doc := unspokenCodes()[0]
	if got := told(doc.Wrong); len(got) != 1 {
		t.Errorf("the wrong example earns %q", got)
	}
	if got := told(doc.Right); len(got) != 0 {
		t.Errorf("the right example earns %q", got)
	}
	// The palettes that are shipped are whole in what they speak.
	for _, dir := range []string{"../palettes/bank", "../palettes/kiisha", "../../examples/helpdesk/verbs"} {
		r, ds := Dir(os.DirFS(dir))
		if r == nil {
			t.Fatal(inWords(ds))
		}
		for _, p := range r.Palettes() {
			if len(p.Sidecars) != 3 {
				t.Errorf("%s speaks %d other languages", p.Domain, len(p.Sidecars))
			}
		}
		if got := unspokenIn(t, r); len(got) > 0 {
			t.Errorf("%s: %q", dir, got)
		}
	}
}

// What is printed for a translator loads as it is, beside any palette, and says
// nothing; once each place is filled, nothing is lacking.
func TestUntranslated(t *testing.T) {
	t.Parallel()
	palette, _, _ := strings.Cut(letters, "\n#=== ")
	portal := portalSources(t)
	for name, srcs := range map[string][]*dsl.Source{"letters": {dsl.NewSource("bank.yaml", palette)}, "portal": portal, "rows": {portal[1], portal[0]}} {
		file := strings.Replace(srcs[0].Name, ".yaml", ".it.yaml", 1)
		load := func(text string) (*verbs.Registry, *verbs.Palette) {
			r, ds := Sources(append(srcs, dsl.NewSource(file, text))...)
			if r == nil {
				t.Fatalf("%s\n%s", text, inWords(ds))
			}
			for _, p := range r.Palettes() {
				if p.Source == srcs[0] {
					return r, p
				}
			}
			t.Fatal("the palette is gone")
			return nil, nil
		}
		lacked := func(r *verbs.Registry, p *verbs.Palette) string {
			var b bytes.Buffer
			if err := Untranslated(&b, r, p, "it"); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		r, p := load("") // a translator begins with an empty file
		skeleton := lacked(r, p)
		r, p = load(skeleton)
		if again := lacked(r, p); again != skeleton || len(unspokenIn(t, r)) != 1 {
			t.Errorf("%s: it was printed\n%s\nand with that\n%s", name, skeleton, again)
		}
		// What stands above each place would do for its translation.
		var filled []string
		var above []string
		for line := range strings.Lines(skeleton) {
			text, comment := strings.CutPrefix(strings.TrimSpace(line), "# ")
			switch {
			case comment:
				above = append(above, text)
			case strings.HasSuffix(line, ": \"\"\n") && len(above) > 0:
				line = strings.Replace(line, `""`, `"`+strings.ReplaceAll(above[len(above)-1], `"`, `\"`)+`"`, 1)
			case strings.HasSuffix(line, ": \"\"\n"):
				line = strings.Replace(line, `""`, "detto", 1)
			case strings.HasSuffix(line, " []\n"):
				line = strings.Replace(line, "[]", `["`+above[len(above)-1]+`"]`, 1)
			}
			if !comment {
				above = nil
			}
			filled = append(filled, line)
		}
		r, _ = load(strings.Join(filled, ""))
		if got := unspokenIn(t, r); len(got) > 0 {
			t.Errorf("%s: filled, it still lacks %q", name, got)
		}
	}
}

// What stands beside a palette is read with it, from a file system too, belongs to
// its digest, and is said to those who speak it.
func TestSidecarsAreLoadedWithTheirPalette(t *testing.T) {
	t.Parallel()
	dir := fstest.MapFS{}
	for _, src := range besideOne("bank.yaml", letters) {
		dir[src.Name] = &fstest.MapFile{Data: []byte(src.Text)}
	}
	r, ds := Dir(dir)
	if r == nil {
		t.Fatal(inWords(ds))
	}
	v := r.Verb("bank.write")
	if len(v.Phrases) != 1 || len(v.PhrasesIn["de"]) != 1 || v.Params[0].Asks.In("de").Say(nil) != "Was ist es?" || v.Params[0].Asks.In("fr").Say(nil) != "What is it?" {
		t.Errorf("%q %q %v", v.Phrases, v.PhrasesIn, v.Params[0].Asks)
	}
	if said, ok := r.Says("de", "URGENT"); said != "eilig" || !ok {
		t.Errorf("%q %v", said, ok)
	}
	if said, ok := r.Says("es", "URGENT"); said != "URGENT" || ok {
		t.Errorf("%q %v", said, ok)
	}
	digest := r.Digest()
	dir["bank.de.yaml"].Data = bytes.Replace(dir["bank.de.yaml"].Data, []byte("eilig"), []byte("dringend"), 1)
	if r, _ = Dir(dir); r.Digest() == digest {
		t.Error("another word has the same digest")
	}
	files, _ := filepath.Glob("../palettes/bank/*.de.yaml")
	if len(files) != 3 {
		t.Errorf("beside the palettes stand %q", files)
	}
}
