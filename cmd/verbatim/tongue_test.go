package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
	"gopkg.in/yaml.v3"

	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// speaks fails where something that the house or a palette says in English was
// printed: speaks de.
func speaks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: speaks LANGUAGE")
	}
	if _, ok := values.ParseLanguage(args[0]); !ok {
		ts.Fatalf("nobody speaks %s", args[0])
	}
	all, err := englishTexts()
	ts.Check(err)
	said := ts.ReadFile("stdout") + ts.ReadFile("stderr")
	for _, text := range all {
		if holds(said, text) {
			ts.Fatalf("in %s, this is English: %q\n%s", args[0], text, said)
		}
	}
}

// holds reports whether a text holds another, and not as a part of words.
func holds(said, text string) bool {
	for {
		at := strings.Index(said, text)
		if at < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(said[:at])
		after, _ := utf8.DecodeRuneInString(said[at+len(text):])
		if !unicode.IsLetter(before) && !unicode.IsLetter(after) {
			return true
		}
		said = said[at+1:]
	}
}

// englishTexts are the pieces between what is filled in, of all that is said in
// English: of every sentence of the packages that speak, and of the palettes.
// Pieces of one word are in any language.
var englishTexts = sync.OnceValues(func() (all []string, err error) {
	add := func(text string) {
		for _, piece := range regexp.MustCompile(`[{][^}]*[}]|[\][<>]|\[(?:[a-z_]+\?)?|\b[a-z_]+\*`).Split(text, -1) {
			if piece = strings.Trim(piece, " .,;:()\"“”\n"); strings.Contains(piece, " ") && len(piece) > 6 {
				all = append(all, piece)
			}
		}
	}
	sentences, err := houseSentences()
	if err != nil {
		return nil, err
	}
	for _, s := range sentences {
		add(s[values.English])
	}
	err = walkPalettes(func(file, under string, key, value *yaml.Node) {
		switch {
		case strings.HasSuffix(file, ".de.yaml") && under == "says":
			add(key.Value)
		case !strings.HasSuffix(file, ".de.yaml") && (under == "tells" || key.Value == "asks") && value.Kind == yaml.ScalarNode:
			add(value.Value)
		}
	}, "", ".de")
	return all, err
})

// houseSentences are those of the catalogue, and of the package dialog out of its
// source.
func houseSentences() (all []map[values.Language]string, err error) {
	english, err := os.ReadFile("../../runtime/conversation/values/catalogue/en.txt")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(english)) {
		if key, _, ok := strings.Cut(line, "  "); ok && key[0] != '#' {
			s := map[values.Language]string{}
			for _, l := range values.Languages() {
				s[l] = values.Key(key).Text(l)
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// speaking are the palettes of which people are told things.
var speaking = []string{"../../verbs/palettes/bank/client", "../../verbs/palettes/bank/onboarding", "../../verbs/palettes/bank/review", "../../examples/helpdesk/verbs/desk", "../../verbs/palettes/kiisha/kiisha"}

// walkPalettes calls fn with every pair of every mapping of them, and the key under
// which that mapping stands: of the palettes themselves, "", and of what stands beside
// them, ".de".
func walkPalettes(fn func(file, under string, key, value *yaml.Node), which ...string) error {
	for _, name := range speaking {
		for _, beside := range which {
			file := name + beside + ".yaml"
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			var palette yaml.Node
			if err := yaml.Unmarshal(text, &palette); err != nil {
				return err
			}
			var walk func(under string, n *yaml.Node)
			walk = func(under string, n *yaml.Node) {
				for i, c := range n.Content {
					inner := ""
					if n.Kind == yaml.MappingNode && i%2 == 0 {
						fn(file, under, c, n.Content[i+1])
					} else if n.Kind == yaml.MappingNode {
						inner = n.Content[i-1].Value
					}
					walk(inner, c)
				}
			}
			walk("", &palette)
		}
	}
	return nil
}

// illSet says what the printers of a language would not let pass: in French the
// high signs stand off, behind a space that no line breaks at, and so do the words
// within quotation marks; in Spanish what asks or calls is opened; in each what is
// quoted is quoted as is the custom there.
func illSet(l values.Language, text string) string {
	text = regexp.MustCompile(`\{[^}]*\}|\[[a-z_]+\?|<[a-z_]+\*`).ReplaceAllString(text, "x")
	has := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) }
	switch {
	case l != values.English && has(`["“”]`) && !(l == values.German && strings.Count(text, "„") == strings.Count(text, "“") && !has(`["”]`)):
		return "quotation marks of another language"
	case l != values.English && has(`\pL'\pL`):
		return "an apostrophe of a typewriter"
	case l == values.French && has("[^\u202f?!][;?!]|[^\u00a0]:(?:[ \n]|$)|[^\u00a0]%"):
		return "a sign without its space before it"
	case l == values.French && has("«[^\u00a0]|[^\u00a0]»"):
		return "a quotation without its spaces"
	case l != values.French && has(`[ \x{a0}\x{202f}][;:?!]`):
		return "a space before a sign"
	case l == values.Spanish && (strings.Count(text, "?") != strings.Count(text, "¿") || strings.Count(text, "!") != strings.Count(text, "¡")):
		return "a question that is not opened"
	}
	return ""
}

// Whatever the house and the palettes say is set as is the custom of the language.
func TestWhatIsSaidIsSetAsIsCustom(t *testing.T) {
	t.Parallel()
	n := 0
	held := func(where string, l values.Language, text string) {
		n++
		if why := illSet(l, values.Typeset(l, text)); why != "" {
			t.Errorf("%s, in %s: %s: %q", where, l, why, text)
		}
	}
	sentences, err := houseSentences()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sentences {
		for _, l := range values.Languages() {
			held("a sentence", l, s[l])
		}
	}
	l, err := loadPalettes("../../verbs/palettes/bank")
	if err != nil || l.reg == nil {
		t.Fatal(err)
	}
	for _, lang := range values.Languages()[1:] {
		if err := walkPalettes(func(file, under string, key, value *yaml.Node) {
			if value.Kind == yaml.ScalarNode {
				held(file, lang, value.Value)
			}
			if said, ok := l.reg.Says("fr", key.Value); ok && said != values.Typeset(values.French, said) {
				t.Errorf("%s: the palette is not set as the house: %q", file, said)
			}
		}, "."+lang.String()); err != nil {
			t.Fatal(err)
		}
	}
	if n < 1500 {
		t.Errorf("%d texts were found; there are more", n)
	}
	for text, l := range map[string]values.Language{"Où ?": values.French, "Où?": values.French, "« x »": values.French, "Cuándo?": values.Spanish, "„x”": values.German, `"x"`: values.German, "Was ?": values.German, "note: x": values.French} {
		if illSet(l, text) == "" {
			t.Errorf("nothing is wrong with %q in %s", text, l)
		}
	}
}

// What is looked for is there: the check is of something.
func TestEnglishIsKnown(t *testing.T) {
	t.Parallel()
	all, err := englishTexts()
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.Join(all, "\n")
	for _, text := range []string{"What comes nearest", "What is still needed", "was not understood. Write it like this", "Nothing was saved", "May I go through", "Which request is it for?",
		"it sends a message that cannot be recalled", "That would make an age of", "both sides of a valid national identity card"} {
		if !strings.Contains(whole, text) {
			t.Errorf("%q is not among what is English", text)
		}
	}
	if len(all) < 250 {
		t.Errorf("%d pieces of English were found; there are more", len(all))
	}
}

// The palettes say all of what they say in each language that is spoken: nobody is
// answered half in another.
func TestPalettesSpeakEachLanguage(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"../../verbs/palettes/bank", "../../examples/helpdesk/verbs", "../../verbs/palettes/kiisha"} {
		l, err := loadPalettes(dir)
		if err != nil || l.reg == nil {
			t.Fatal(err)
		}
		for _, p := range l.reg.Palettes() {
			for _, lang := range values.Languages()[1:] {
				if !slices.ContainsFunc(p.Sidecars, func(s *verbs.Sidecar) bool { return s.Language == lang.String() }) {
					t.Errorf("%s says nothing in %s", p.Domain, lang)
				}
			}
		}
		for _, d := range load.MissingTranslations(l.reg) {
			t.Errorf("%s: %s", dir, d.Summary)
		}
	}
}
