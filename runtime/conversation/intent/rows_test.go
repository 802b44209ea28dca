package intent

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
	loading "verbatim/verbs/load"
)

// Words beside those that name a row of one kind are said of that row, and name none of
// another; a file's name says nothing where the rest says what is meant.
func TestWordsNameOneRow(t *testing.T) {
	t.Parallel()
	reg, ds := loading.Dir(fstest.MapFS{"files.yaml": {Data: []byte(`
domain: files
roles: [{name: member}]
entities:
  team:
    {managed: true, key: team_id, scope: self, label: "{name}", fields: {name: {type: string}}}
  site:
    {managed: true, key: site_id, scope: team, label: "{name}", fields: {team: {type: ref, ref-type: team, required: true}, name: {type: string}}}
  paper:
    {managed: true, key: paper_id, scope: team, label: "{name}", fields: {team: {type: ref, ref-type: team, required: true}, name: {type: string}}}
verbs:
  - verb: link
    description: Say to which site a paper belongs.
    roles: [member]
    phrases: ["{paper-id} belongs to {site-id}", "link {paper-id} to {site-id}", "it belongs to {site-id}"]
    args:
      - {name: paper-id, type: ref, ref-type: paper, required: true}
      - {name: site-id, type: ref, ref-type: site, required: true}
    effects: [{notifies: desk}]
  - verb: send
    description: Take a file.
    roles: [member]
    phrases: ["here is {file}", "here is a file: {file}"]
    args:
      - {name: file, type: string, required: true, upload: {types: [text/plain], max-size: 1 MB}}
    effects: [{notifies: desk}]
`)}})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	r := New(reg).Reader(Vocabulary{Verbs: reg.Verbs(), Names: map[*verbs.Entity][]string{reg.Entity("site"): {"kwale-north", "kwale-south", "umza-1"}, reg.Entity("paper"): {"kwale-lease", "umza-permit"}}})
	for said, want := range map[string]string{
		"The permit belongs to Kwale South":   "files.link :paper-id @umza-permit :site-id @kwale-south",
		"The permit belongs to UMZA-1":        "files.link :paper-id @umza-permit :site-id @umza-1",
		"Link the Kwale lease to Kwale North": "files.link :paper-id @kwale-lease :site-id @kwale-north",
		"it belongs to Kwale South":           "",
		"Here is Minutes.txt: upload://abc12": `files.send :file "upload://abc12"`,
	} {
		h := r.Read(said, values.In{Now: now})
		if len(h.Parts) != 1 || h.Parts[0].Call != want || want == "" && (len(h.Parts[0].Asks) != 1 || !h.Parts[0].Asks[0].Open) {
			t.Errorf("%s: %+v", said, h.Parts)
		}
	}
	// What a subject names, whatever else it says.
	for subject, want := range map[string][]string{
		"Re: [External] UMZA-1, the week ahead":  {"umza-1"},
		"Fwd: the Kwale lease":                   {"kwale-lease"},
		"AW: Kwale":                              nil, // two sites and a paper
		"Kwale North and UMZA-1":                 nil, // one or the other
		"UMZA-2":                                 nil,
		"hello":                                  nil,
		"":                                       nil,
		"UMZA-1 \u202egnitirw":                   nil, // letters that nobody sees
		strings.Repeat("UMZA-1 and so on ", 500): nil,
	} {
		if got := r.Named(subject, values.In{Now: now}); !slices.Equal(got, want) {
			t.Errorf("%.60q names %v, want %v", subject, got, want)
		}
	}
}

// The letters of a reference to a file are drawn: whichever they are, the same is understood.
func TestDrawnLettersMeanNothing(t *testing.T) {
	t.Parallel()
	reg, ds := loading.Dir(os.DirFS("../../../verbs/palettes/kiisha"))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	r := New(reg).Reader(Vocabulary{Verbs: reg.Verbs(), Names: map[*verbs.Entity][]string{reg.Entity("project"): {"umza-1-solar-park", "tana-2-wind-farm"}, reg.Entity("document"): {"umza-grid-permit-txt", "kwale-lease-txt"}}})
	understood := func(format, letters string) string {
		reference := "upload://" + letters
		said := fmt.Sprintf(format, reference)
		h, text := r.Read(said, values.In{Now: now}), ""
		for i := range h.Parts {
			text += fmt.Sprint(h.Parts[i].Call, h.Parts[i].Certainty, len(h.Parts[i].Asks), "\n")
		}
		for _, v := range r.Shortlist(said, 5) {
			text += v.Name + "\n"
		}
		return strings.ReplaceAll(text, reference, "upload://…")
	}
	formats := []string{"Here is UMZA-1 permit final v2.txt: %s", "Hier ist UMZA-1 permit final v2.txt: %s", "please file %s", "no, %s", "Aquí está scan.txt: %s"}
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom(formats).Draw(t, "format")
		letters := rapid.StringMatching(`[0-9a-z]{32}`).Draw(t, "letters")
		if got, want := understood(format, letters), understood(format, strings.Repeat("q", 32)); got != want {
			t.Fatalf("%s\n%s\nwant\n%s", letters, got, want)
		}
	})
}

// What a person wrote as one word with points names a row only as a whole: two files whose names
// end alike are two files.
func TestAnExtensionNamesNoFile(t *testing.T) {
	t.Parallel()
	reg, ds := loading.Dir(os.DirFS("../../../verbs/palettes/kiisha"))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	of := func(names ...string) *Reader {
		return New(reg).Reader(Vocabulary{Verbs: reg.Verbs(), Names: map[*verbs.Entity][]string{reg.Entity("document"): names}})
	}
	one, two := of("kwale-lease-txt"), of("kwale-lease-txt", "umza-permit-pdf")
	for said, want := range map[string]string{
		"delete invoice.txt":             "",
		"delete a.txt":                   "",
		"where does ppa.txt belong?":     "",
		"delete Kwale lease.pdf":         "",
		"delete Kwale lease.txt":         "kiisha.delete-document :document-id @kwale-lease-txt",
		"Please delete kwale_lease.txt.": "kiisha.delete-document :document-id @kwale-lease-txt",
		"delete lease.txt":               "kiisha.delete-document :document-id @kwale-lease-txt",
	} {
		for _, r := range []*Reader{one, two} {
			h := r.Read(said, values.In{Now: now})
			if len(h.Parts) != 1 || h.Parts[0].Call != want || want == "" && (len(h.Parts[0].Asks) != 1 || !strings.HasPrefix(h.Parts[0].Asks[0].Text, "I could not find that")) {
				t.Errorf("%s: %+v", said, h.Parts)
			}
		}
	}
}

// What one argument has is no part of another's value, and digits inside a longer number or a date
// are no value.
func TestArgumentsDoNotOverlap(t *testing.T) {
	t.Parallel()
	reg, ds := loading.Dir(os.DirFS("../../../verbs/palettes/kyc"))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	r := New(reg).Reader(Vocabulary{Verbs: reg.Verbs()})
	for said, want := range map[string]string{
		"verify John Smith with phone 555-0123":       `kyc.verify :name "John Smith" :phone "555-0123"`,
		"verify Maria García with phone 415 555 0132": `kyc.verify :name "Maria García" :phone "415 555 0132"`,
		"check John Smith, born 1980-05-01":           `kyc.verify :name "John Smith" :birth-date 1980-05-01`,
		"Check Maria García born 1 May 1980":          `kyc.verify :name "Maria García" :birth-date 1980-05-01`,
		"check John Smith, last four digits 6789":     `kyc.verify :name "John Smith" :ssn-last4 "6789"`,
		"verify John Smith, 1234":                     `kyc.verify :name "John Smith" :ssn-last4 "1234"`,
		"verify John Smith with phone 555-0123, 1234": `kyc.verify :name "John Smith" :phone "555-0123" :ssn-last4 "1234"`,
	} {
		if h := r.Read(said, values.In{Now: now}); len(h.Parts) != 1 || h.Parts[0].Call != want {
			t.Errorf("%s: %+v", said, h.Parts)
		}
	}
}
