package manda_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"verbatim/runtime/documents"
	"verbatim/runtime/manda"
	"verbatim/runtime/services"
)

type truth struct {
	Documents []struct{ File, Date, Status string }
	Findings  []struct {
		ID, File, Place, Metric, Entity, Period, Value, Unit, Status string
		AsWritten                                                    string `yaml:"as_written"`
		Form                                                         string
	}
	Contradictions []struct{ ID, A, B string }
	Corrections    []struct {
		ID, By, Newer, Older string
	}
	Gaps       []struct{ Domain, Request string }
	Covered    []struct{ Domain, Request string }
	NearMisses struct {
		Contradictions []struct{ A, B, Why string }
		Corrections    []struct{ A, B, Why string }
	} `yaml:"near_misses"`
}

func TestRoom(t *testing.T) {
	dir := os.Getenv("ROOM")
	if dir == "" {
		t.Skip()
	}
	text, err := os.ReadFile(filepath.Join(dir, "truth.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var w truth
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	type doc struct {
		about manda.About
		found []manda.Finding
	}
	docs := map[string]*doc{}
	var passages []manda.Passage
	all, _ := filepath.Glob(filepath.Join(dir, "files", "*"))
	for _, name := range all {
		f, _ := os.Open(name)
		d, err := documents.Read(t.Context(), filepath.Base(name), f, documents.Limits{})
		if err != nil {
			t.Error(name, err)
		}
		about, found := manda.Extract(filepath.Base(name), &d)
		docs[filepath.Base(name)] = &doc{about, found}
		for _, c := range services.Chunks(&d, 0) {
			h := ""
			if c.Heading != nil {
				h = *c.Heading
			}
			passages = append(passages, manda.Passage{Document: filepath.Base(name), Place: c.Place, Heading: h + " " + about.Title, Text: c.Text})
		}
	}
	var parts []string
	for _, d := range docs {
		parts = append(parts, d.about.Part)
	}
	main := manda.Main(parts)
	show := os.Getenv("SHOW")
	{
		wrong, missed := 0, 0
		var asked []string
		for _, g := range append(slices.Clone(w.Gaps), w.Covered...) {
			asked = append(asked, g.Request)
		}
		for i, p := range manda.Covering(asked, passages) {
			switch {
			case i < len(w.Gaps) && p != nil:
				wrong++
			case i >= len(w.Gaps) && p == nil:
				missed++
			}
		}
		fmt.Printf("gaps: %d of %d covered wrongly, %d of %d missed\n", wrong, len(w.Gaps), missed, len(w.Covered))
	}
	n, ok := 0, 0
	byID := map[string]manda.Stated{}
	for _, x := range w.Findings {
		n++
		hit := false
		var near []string
		for _, f := range docs[x.File].found {
			if manda.ShownOf(f.Value) == x.Value && same(f.Period, x.Period) {
				hit = true
				near = append(near, fmt.Sprintf("%s/%s/%s/%s/%s", f.Metric, f.Subject, f.Unit, f.Status, f.Place))
			}
		}
		if hit {
			ok++
		}
		byID[x.ID] = manda.Stated{}
		if strings.Contains(show, "f") && !hit || strings.Contains(show, "F") {
			fmt.Printf("%v %s %s %s %q %s %s %s | %s %v\n", hit, x.ID, x.File, x.Place, x.Metric, x.Entity, x.Period, x.Value, x.AsWritten, near)
		}
	}
	fmt.Printf("findings %d of %d\n", ok, n)
	// corrections
	want := map[string]string{}
	for _, c := range w.Corrections {
		want[c.Newer+" > "+c.Older] = c.By
	}
	filed := func(name string) manda.Filed {
		d := docs[name]
		return manda.Filed{Name: name, Title: d.about.Title, Dated: d.about.Date, Replaces: d.about.Replaces}
	}
	names := []string{}
	for name := range docs {
		names = append(names, name)
	}
	slices.Sort(names)
	got := map[string]bool{}
	for _, a := range names {
		for _, b := range names {
			if a == b {
				continue
			}
			if by, is := manda.Replaced(filed(a), filed(b)); is {
				got[a+" > "+b] = true
				if _, ok := want[a+" > "+b]; !ok && strings.Contains(show, "c") {
					fmt.Println("  wrong:", by, a, ">", b)
				}
			}
		}
	}
	right := 0
	for k, by := range want {
		if got[k] {
			right++
		} else if strings.Contains(show, "c") {
			fmt.Println("  missed:", by, k, docs[strings.Split(k, " > ")[0]].about)
		}
	}
	fmt.Printf("corrections: %d of %d, %d in all\n", right, len(want), len(got))
	// contradictions
	type at struct{ file, value string }
	ids := map[at][]string{}
	for _, x := range w.Findings {
		ids[at{x.File, x.Value}] = append(ids[at{x.File, x.Value}], x.ID)
	}
	clash := map[string]string{}
	for _, c := range w.Contradictions {
		clash[c.A+"/"+c.B], clash[c.B+"/"+c.A] = c.ID, c.ID
	}
	near := map[string]string{}
	for _, c := range w.NearMisses.Contradictions {
		near[c.A+"/"+c.B], near[c.B+"/"+c.A] = c.Why, c.Why
	}
	hits := map[string]bool{}
	wrongNear := 0
	others := 0
	superseded := map[string]bool{}
	for _, a := range names {
		for _, b := range names {
			if got[a+" > "+b] {
				superseded[b] = true
			}
		}
	}
	stated := func(name string, f *manda.Finding) manda.Stated {
		return manda.Stated{Metric: f.Metric, Subject: manda.PartOf(f.Subject, docs[name].about.Part, main), Period: f.Period.String(), Unit: f.Unit, Status: f.Status, Document: name, Value: f.Value, Step: f.Step}
	}
	for i, a := range names {
		for _, b := range names[i+1:] {
			for k := range docs[a].found {
				for l := range docs[b].found {
					f, g := &docs[a].found[k], &docs[b].found[l]
					if manda.Relate(stated(a, f), stated(b, g), got[a+" > "+b] || got[b+" > "+a]) != manda.Contradicts {
						continue
					}
					known := false
					for _, x := range ids[at{a, manda.ShownOf(f.Value)}] {
						for _, y := range ids[at{b, manda.ShownOf(g.Value)}] {
							if id := clash[x+"/"+y]; id != "" {
								hits[id], known = true, true
							}
							if why := near[x+"/"+y]; why != "" && !known {
								wrongNear++
								known = true
								if strings.Contains(show, "n") {
									fmt.Println("  near miss told:", why, f.Metric, f.Period, a, f.Text, b, g.Text)
								}
							}
						}
					}
					if !known && !superseded[a] && !superseded[b] {
						others++
						if strings.Contains(show, "o") {
							fmt.Printf("  other: %s|%s|%s %s %q [%s %s] / %q [%s %s]\n", f.Metric, f.Subject, f.Period, f.Unit, f.Text, a, f.Place, g.Text, b, g.Place)
						}
					}
				}
			}
		}
	}
	for _, c := range w.Contradictions {
		if !hits[c.ID] && strings.Contains(show, "m") {
			for _, x := range w.Findings {
				if x.ID == c.A || x.ID == c.B {
					fmt.Printf("  missed %s: %s %s %s %q %s %s %s %q\n", c.ID, x.ID, x.File, x.Place, x.Metric, x.Entity, x.Period, x.Value, x.AsWritten)
				}
			}
		}
	}
	fmt.Printf("contradictions: %d of %d, %d near misses told, %d others\n", len(hits), len(w.Contradictions), wrongNear, others)
}

// same reports whether a period is the one that is meant: 2024-09-30 may be called Q3 2024.
func same(p manda.Period, want string) bool {
	if p.String() == want {
		return true
	}
	for end, name := range map[string]string{"-12-31": "FY", "-12": "FY", "-09-30": "Q3 ", "-06-30": "Q2 ", "-03-31": "Q1 "} {
		if year, is := strings.CutSuffix(want, end); is && p.String() == name+year {
			return true
		}
	}
	return false
}
