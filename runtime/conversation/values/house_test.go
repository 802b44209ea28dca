package values

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// F29: a fifth language is two files and no Go: it is told from the others, its tag is
// known, dates and numbers are read and said in it, a yes is one, and the program speaks
// it, with English where the catalogue is not done yet.
func TestAFifthLanguageIsFiles(t *testing.T) {
	t.Parallel()
	all := fstest.MapFS{
		"tongues/eo.txt": {Data: []byte(`# Esperanto, some of it.
months: januaro februaro marto aprilo majo junio julio aŭgusto septembro oktobro novembro decembro
weekdays: lundo mardo merkredo ĵaŭdo vendredo sabato dimanĉo
date: la {d}-a de {month} {y}
day: {weekday}, {date}
letters: ĉĝĥĵŝŭ
answers: jes dankon
small: kaj estas ni vi mi ne sed tio kiu kion kun por pri ankoraŭ
month 3: marto, marton
weekday 5: vendredo, vendredon
unit 1: tago, tagoj, tagojn
within: post
day 1: morgau
cardinal 3: tri
agreeing: jes, certe
`)},
		"catalogue/eo.txt": {Data: []byte("collect/yes  jes\nchat/not-sent  \"ne sendita: {}\\nsekvas: {}\"\n")},
	}
	for _, dir := range []string{"tongues", "catalogue"} {
		found, err := fs.Glob(files, dir+"/*.txt")
		if err != nil || len(found) != len(Languages()) {
			t.Fatal(found, err)
		}
		for _, name := range found {
			text, err := fs.ReadFile(files, name)
			if err != nil {
				t.Fatal(err)
			}
			all[name] = &fstest.MapFile{Data: text}
		}
	}
	h := readHouse(all)
	eo, ok := h.parse("eo-XX")
	if !ok || int(eo) != len(Languages()) || len(h.tongues) != len(Languages())+1 {
		t.Fatalf("%d of %d %v", eo, len(h.tongues), ok)
	}
	if got := h.detect("ni ankoraŭ ne havas tion, sed estas bone"); !slices.Equal(got, []Language{eo}) {
		t.Errorf("it is told to be %v", got)
	}
	for _, l := range Languages() { // and the others are what they were
		if got := h.detect(map[Language]string{English: "we do not have it yet", German: "das haben wir noch nicht", French: "nous ne l'avons pas encore", Spanish: "todavía no lo tenemos"}[l]); !slices.Contains(got, l) || slices.Contains(got, eo) {
			t.Errorf("%s is told to be %v", h.tongues[l].tag, got)
		}
	}
	in := In{Now: time.Date(2024, 12, 27, 9, 0, 0, 0, time.UTC), Languages: []Language{eo}}
	for text, want := range map[string]string{"3 marto 2025": "2025-03-03", "post tri tagoj": "2024-12-30", "morgaŭ": "2024-12-28", "tri": "3"} {
		if got, _ := h.find(text, in); len(got) != 1 || got[0].Text() != want {
			t.Errorf("%s is read as %v", text, got)
		}
	}
	got, _ := h.find("3 marto 2025", in)
	if said := h.tongues[eo].sayDate(got[0].Value); said != "la 3-a de marto 2025" {
		t.Errorf("it is said as %q", said)
	}
	if said := fill(h.text("chat/not-sent", eo), []string{"a", "b"}); said != "ne sendita: a\nsekvas: b" {
		t.Errorf("it is said as %q", said)
	}
	if said := h.text("chat/no-why", eo); said != "nothing was said yet" {
		t.Errorf("what is not translated is said as %q", said)
	}
	if !slices.Contains(h.phrases("agreeing"), "certe") || !slices.Contains(h.phrases("agreeing"), "of course") {
		t.Error("its yes is none")
	}
}

// Each of our languages has all that a language says of itself.
func TestTonguesAreWhole(t *testing.T) {
	t.Parallel()
	for _, of := range ours().tongues {
		if len(of.months) != 12 || len(of.weekdays) != 7 || !strings.Contains(of.date, "{month}") || !strings.Contains(of.day, "{weekday}") || len(of.small) < 50 || len(of.answers) == 0 {
			t.Errorf("%s lacks something", of.tag)
		}
		for _, key := range []string{"agreeing", "refusing", "approving", "besides", "turning", "idle", "amiss", "instruction", "asking", "around", "which 1", "which 2", "which 3", "which -1", "offered", "reason", "remark", "perhaps", "cased", "inside", "drawn", "greeting", "abstaining", "hanging", "undo", "forget", "unaware", "thanks", "complaint", "deciding", "able", "who", "speak", "called en", "called other", "wrote", "passedon", "sender", "header", "automatic", "attribution", "sentfrom", "salutation", "signoff", "notice", "myself", "inline", "away", "details", "wish", "question", "name", "slight", "wondering", "title", "interrogative", "denial", "joining", "accompanying", "possessing", "opening", "closing", "own", "following", "article", "polite", "forbids", "supposes", "fresh", "other", "insteadof", "beforeday", "cue", "cueasks", "cuesays", "restating", "granting", "unsaid", "form", "plural", "whose", "link", "guess", "plusword", "hourbehind", "week", "upto", "span", "onday", "behindday", "filler", "short", "numbered", "clockat", "clockhour", "clockhalf", "forenoon", "afternoon", "either", "parting", "later", "returning", "smalltalk", "mild", "followon"} {
			if len(of.said[key]) == 0 {
				t.Errorf("%s has nothing under %s", of.tag, key)
			}
		}
		for key := range of.said {
			if !slices.Contains(strings.Fields("agreeing refusing approving besides turning idle amiss instruction asking around which choice offered reason remark perhaps cased inside drawn afteryes greeting undo forget unaware thanks complaint deciding able who speak called wrote passedon sender header subject automatic attribution sentfrom salutation signoff inline away details wish question ending slight wondering title interrogative denial negating supposing inverted beforename firstperson thirdperson hearsay postponing asksfirst tellme citing countsfrom generation notbefore thatsall dropping hedging asides light contracted bidding enclitic marvelling amending contrasting repairing likewise reminding separable pleading courteous saying thanksfor enquiring whether addressing joining accompanying possessing opening request thanking closing own following article asked unasked polite forbids supposes fresh other notother pronoun insteadof beforeday beforenoun cue cueasks cuesays restating granting unsaid form plural whose notice myself link onday nomorrow behindday filler verblike henceonly noname country name guess lessword noless plusword ordinalend halfend partend hourbefore hourbehind dayword week weekfrom upto span large compound short numbered conjunction clockat clockhour clockhalf clockpart forenoon afternoon noon either parting later returning smalltalk mild followon acting abstaining hanging"), strings.Fields(key)[0]) {
				t.Errorf("%s: nobody reads %s", of.tag, key)
			}
		}
		have := map[class]bool{}
		for _, all := range of.lexicon.entries {
			have[all[0].class], have[all[1].class] = true, true
		}
		for _, c := range []class{month, weekday, unit, next, this, last, ending, within, day, one, times, hundred, percent, not, or, to, cardinal, ordinal, currency} {
			if !have[c] {
				t.Errorf("%s has no words of class %d", of.tag, c)
			}
		}
	}
}
