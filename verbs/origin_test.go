package verbs

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verbatim/dsl"
)

func origins() *rapid.Generator[Origin] {
	return rapid.Custom(func(t *rapid.T) Origin {
		var o Origin
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			kind := Origins(1) << rapid.IntRange(0, len(OriginWords)-1).Draw(t, "kind")
			o = o.Mix(NewOrigin(kind, rapid.SampledFrom([]string{"", "letter.pdf", "a,b=c;d:%", "crm", "\x00\u202e", strings.Repeat("é", 100)}).Draw(t, "source")))
		}
		return o
	})
}

// What is written down of an origin is read as the same, and mixing only ever
// adds: nothing becomes more trusted by it.
func TestOriginsMixAndAreRead(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := origins().Draw(t, "a"), origins().Draw(t, "b")
		for _, o := range []Origin{a, b, a.Mix(b)} {
			back, err := ParseOrigin(o.String())
			if err != nil || back != o {
				t.Fatalf("%q came back as %q, %v", o, back, err)
			}
			if strings.ContainsAny(o.String(), ";\n\x00") {
				t.Fatalf("%q cannot stand in a list", o)
			}
			if back := Stored(o.Mark()); back.Trusted() != o.Trusted() || !o.Trusted() && back.Kinds() != o.Kinds()&untrusted {
				t.Fatalf("%q was stored and came back as %q", o, back)
			}
		}
		m := a.Mix(b)
		if m != b.Mix(a) || m.Mix(a) != m || m.Kinds() != a.Kinds()|b.Kinds() {
			t.Fatalf("%q and %q make %q", a, b, m)
		}
		for accepted := range Origins(1 << len(OriginWords)) {
			if m.Within(accepted) && m.Kinds() != 0 && (a.Kinds()&^accepted|b.Kinds()&^accepted) != 0 {
				t.Fatalf("%q is within %s, and its parts are not", m, accepted.Wanted())
			}
		}
	})
}

// A text that no origin was written as is an error, and a mark that cannot be
// read is taken for a document's.
func TestOriginsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"letter", "document=", "model=gpt", "document=%", "document=%zz", ",", "document,", "person;model", "Document"} {
		if o, err := ParseOrigin(s); err == nil {
			t.Errorf("%q is read as %q", s, o)
		}
		if o := Stored(s); o.Kinds() != FromDocument {
			t.Errorf("a mark %q is taken for %q", s, o)
		}
	}
	if o := Stored(""); o.Kinds() != FromRecord {
		t.Error(o)
	}
}

// What a person reads of origins.
func TestOriginWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "script": "the script", "document=letter.pdf,model": "letter.pdf and the model", "tool=crm.find": "the tool crm.find",
		"document": "a document", "document=a.pdf,document=b.pdf,record": "a.pdf, b.pdf and a record",
	} {
		if o, err := ParseOrigin(text); err != nil || o.Words() != want {
			t.Errorf("%q reads %q, %v", text, o.Words(), err)
		}
	}
	if got := (FromPerson | FromRecord).Wanted(); got != "a person or a record" {
		t.Error(got)
	}
}

// Literals come back with their script, also where single ones came from
// elsewhere; what cannot be read makes everything a document's.
func TestLiteralsComeBack(t *testing.T) {
	t.Parallel()
	const text = `pay.enter :a "x" :b [1, "two", @three] :c {:k "v" :l (pay.find :n "y")} pay.enter :a @z`
	script, ds := dsl.Parse(dsl.NewSource("t", text))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	person := NewOrigin(FromPerson, "")
	said := Literals{Origin: NewOrigin(FromModel, ""), Of: func(at dsl.Range) (Origin, bool) {
		word := text[at.Start:at.End]
		switch word {
		case `"two"`, `@z`:
			return person, true
		case `"y"`:
			return NewOrigin(FromDocument, "a;b:c.pdf"), true
		}
		return Origin{}, false
	}}
	encoded := said.Encode(script)
	if want := "model;2:person;5:document=a%3Bb:c.pdf;6:person"; encoded != want {
		t.Errorf("%q, want %q", encoded, want)
	}
	again, ds := dsl.Parse(dsl.NewSource("again", dsl.Format(script)))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	back, err := ReadLiterals(encoded, again)
	if err != nil || back.Encode(again) != encoded {
		t.Errorf("%q, %v", back.Encode(again), err)
	}
	list := again.Calls[0].Args[1].Value
	if o := back.of(&list); o.Kinds() != FromModel|FromPerson {
		t.Error("a list is", o)
	}
	for _, bad := range []string{"x", "model;", "model;9:person", "model;a:person", "model;1:", "model;1:x", ";1:person;1:"} {
		if l, err := ReadLiterals(bad, again); err == nil || l.of(&list).Kinds() != FromDocument {
			t.Errorf("%q is read as %v, %v", bad, l.of(&list), err)
		}
	}
	if got := (Literals{}).Encode(script); got != "" {
		t.Errorf("an author's own script is %q", got)
	}
	if l, err := ReadLiterals("", again); err != nil || l.of(&list).Kinds() != FromScript {
		t.Error(l.of(&list), err)
	}
	if got := EncodeOrigins([]Origin{person, person, NewOrigin(FromTool, "crm")}); got != "person;2:tool=crm" {
		t.Error(got)
	}
}

// A value that can never be accepted is told when the palette is loaded.
func TestOriginsThatCannotBe(t *testing.T) {
	t.Parallel()
	const head = "domain: pay\nroles: [{name: clerk}]\nverbs:\n" +
		"  - {verb: enter, description: Enter., roles: [clerk], args: [{name: iban, type: string, from: [person, record]}, {name: parts, type: list, of: {type: string}, from: [person]}, {name: free, type: string, from: [document], otherwise: {by: clerk, expires: 1h}}], effects: [{notifies: till}]}\n"
	for name, c := range map[string]struct{ more, want string }{
		"a default":             {"  - {verb: a, description: A., roles: [clerk], args: [{name: x, type: string, from: [person], default: y}], effects: [{notifies: till}]}\n", "the default of :x can never be used"},
		"a macro's own":         {"  - {verb: a, description: A., roles: [clerk], script: 'pay.enter :iban \"DE89\"'}\n", ":iban of pay.enter must come from a person or a record, and here it is the palette author's own"},
		"a part of a list":      {"  - {verb: a, description: A., roles: [clerk], args: [{name: x, type: string}], script: 'pay.enter :parts [@x \"y\"]'}\n", ":parts of pay.enter must come from a person, and here it is the palette author's own"},
		"a macro's argument":    {"  - {verb: a, description: A., roles: [clerk], args: [{name: x, type: string, from: [document]}], script: 'pay.enter :iban @x'}\n", "and :x of pay.a comes from a document"},
		"otherwise alone":       {"  - {verb: a, description: A., roles: [clerk], args: [{name: x, type: string, otherwise: ask}], effects: [{notifies: till}]}\n", "accepts a value from anywhere"},
		"another word":          {"  - {verb: a, description: A., roles: [clerk], args: [{name: x, type: string, from: [person], otherwise: allow}], effects: [{notifies: till}]}\n", "allow"},
		"nobody's role":         {"  - {verb: a, description: A., roles: [clerk], args: [{name: x, type: string, from: [person], otherwise: {by: boss}}], effects: [{notifies: till}]}\n", "boss"},
		"no duration":           {"  - {verb: a, description: A., roles: [clerk], args: [{name: x, type: string, from: [person], otherwise: {expires: soon}}], effects: [{notifies: till}]}\n", "soon"},
		"asking makes it right": {"  - {verb: a, description: A., roles: [clerk], script: 'pay.enter :free \"x\"'}\n", ""},
		"a script's is right":   {"  - {verb: a, description: A., roles: [clerk], args: [{name: x, type: string, from: [script, person], default: y}], effects: [{notifies: till}]}\n", ""},
	} {
		r, ds := LoadSources(dsl.NewSource("pay.yaml", head+c.more))
		if c.want == "" {
			if r == nil {
				t.Errorf("%s: %s", name, inWords(ds))
			}
			continue
		}
		if r != nil || !strings.Contains(inWords(ds), c.want) {
			t.Errorf("%s: %s", name, inWords(ds))
		}
	}
}

// A person is told of a document, and not of the tool that read it; the kind stays, and so do the
// names of files and of other tools.
func TestNamesOfToolsAreLeftOut(t *testing.T) {
	t.Parallel()
	tool := func(name string) bool { return strings.HasPrefix(name, "filing.") }
	for mark, want := range map[string]string{
		"":                             "",
		"document=filing.about":        "a document",
		"document=letter.pdf":          "letter.pdf",
		"document=filing.about,tool=a": "a document and the tool a",
		"document=filing.about,document=filing.read":      "a document",
		"document=filing.about,document=letter.pdf,model": "letter.pdf and the model",
		"tool=filing.about":                               "the tool filing.about",
	} {
		o, err := ParseOrigin(mark)
		if got := o.Unnamed(tool); err != nil || got.Words() != want || got.Kinds() != o.Kinds() {
			t.Errorf("%s: %v, %q, want %q", mark, err, got.Words(), want)
		}
	}
}
