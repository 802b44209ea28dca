package intent

import (
	"os"
	"slices"
	"strings"
	"testing"

	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// What is said in another language is understood by the palette's phrases in it,
// whatever the language of the session, and asked about in it; never by another
// verb than the one that is meant.
func TestTongues(t *testing.T) {
	t.Parallel()
	in := tongues(t, "testdata/tongues.txt")
	if len(in.wrongly) > 0 {
		t.Errorf("proposed wrongly: %s", strings.Join(in.wrongly, "\n"))
	}
	if in.first*10 < in.said*8 {
		t.Errorf("of %d sentences the verb comes first for %d", in.said, in.first)
	}
}

// The same of sentences that nothing was tuned on.
func TestTonguesApart(t *testing.T) {
	t.Parallel()
	in := tongues(t, "testdata/tongues_apart.txt")
	if in.first*10 < in.said*7 {
		t.Errorf("of %d sentences the verb comes first for %d", in.said, in.first)
	}
	if len(in.wrongly)*100 > in.said*5 {
		t.Errorf("of %d sentences another verb is proposed for %d: %s", in.said, len(in.wrongly), strings.Join(in.wrongly, "\n"))
	}
}

// A few words that are no sentence are of the language that has them, or other forms of them, in the
// palette; what is in none is of no language.
func TestAFewWordsTellTheirLanguage(t *testing.T) {
	t.Parallel()
	r, _ := domains[0].reader(t)
	for said, want := range map[string]string{
		"documents manquants": "fr", "liste des documents": "fr", "date de naissance": "fr",
		"fehlende Dokumente": "de", "documentos pendientes": "es", "outstanding items": "en",
		"password": "", "": "",
	} {
		got := ""
		if l, ok := r.ix.Tongue(said); ok {
			got = l.String()
		}
		if got != want {
			t.Errorf("%q is in %q, not %q", said, got, want)
		}
	}
}

// Questions about an argument are put in the language of the conversation: as the palette words
// them, without a name for the argument, or by what it takes.
func TestQuestionsAreInTheLanguageOfTheConversation(t *testing.T) {
	t.Parallel()
	r, reg := domains[0].reader(t)
	for _, l := range []values.Language{values.German, values.French, values.Spanish} {
		for _, v := range reg.Palette("client").Verbs {
			for i := range v.Params {
				p := &v.Params[i]
				asked := p.Required && p.Type.Name != verbs.BooleanType && p.Type.Name != verbs.AnyType || slices.Contains([]verbs.TypeName{verbs.DateType, verbs.MoneyType, verbs.CodeType}, p.Type.Name)
				if len(v.PhrasesIn[l.String()]) > 0 && asked && p.Asks.In(l.String()) == nil {
					t.Errorf("%s asks for :%s of %s in English", l, p.Name, v.Name)
				}
			}
		}
		nameless := verbs.Param{Name: "no-word-for-it"}
		r := r.ix.Reader(Vocabulary{Tongue: &l})
		if asks := r.ask(l, askSeveral, &nameless, []string{"A", "B"}); asks != askWhich.In(l, values.Either(l, []string{"A", "B"})) {
			t.Errorf("%s asks %q", l, asks)
		}
		nameless.Type = &verbs.Type{Name: verbs.DateType}
		if asks := r.ask(l, askMissing, &nameless, nil); asks != askMissing.In(l, aDate.In(l)) {
			t.Errorf("%s asks %q", l, asks)
		}
	}
}

type understood struct {
	said, first, right int
	wrongly            []string
}

// tongues reads the sentences of a file, each in its own language and in a session
// that speaks English.
func tongues(t *testing.T, file string) (in understood) {
	r, _ := domains[0].reader(t)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		part := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(part) != 3 || strings.HasPrefix(line, "#") {
			continue
		}
		l, _ := values.ParseLanguage(part[0])
		for _, languages := range [][]values.Language{{l}, {values.English}} {
			h := r.Read(part[2], values.In{Now: now, Languages: languages})
			var p Part
			for i := range h.Parts {
				if h.Parts[i].Confidence >= p.Confidence {
					p = h.Parts[i]
				}
			}
			if part[1] == "ask" {
				if p.Certainty == Sure {
					in.wrongly = append(in.wrongly, part[2]+": "+p.Verb.Name)
				}
				continue
			}
			in.said++
			name, is := p.Intent()
			if name == part[1] {
				in.first++
			}
			switch {
			case p.Certainty == Sure && p.Verb.Name == part[1]:
				in.right++
			case p.Certainty == Sure:
				in.wrongly = append(in.wrongly, part[2]+": "+p.Verb.Name)
			default:
				t.Logf("%q: %s, %s %.2f", part[2], p.Certainty, name, is)
			}
		}
	}
	t.Logf("other languages: %d said, %d first, %d proposed, %d wrongly", in.said, in.first, in.right, len(in.wrongly))
	return in
}
