package verbs

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/stores"
)

// SAFE-P1: whatever is parsed can be checked. Nothing panics, every complaint
// has a place inside the text, every fix is within it, and a program is what it
// promises to be.
func FuzzCheck(f *testing.F) {
	files, _ := filepath.Glob("testdata/check/*.dsl")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, chunk := range strings.Split(string(text), "\n---\n") {
			f.Add(chunk)
		}
	}
	f.Add(`client.add-note :request-id @a :note (client.add-note :request-id @b) :as @b client.x`)
	f.Add(`bank.everything :count 3 :flag true :day 2025-01-03 :code ANY :secret "abc" client.get-outstanding client.get-outstanding :cbu-id @allianz :include-completed nil`)
	f.Add(`client.submit-document :request-id @pierre-sow :document-type PASSPORT :file-reference "f"`)
	f.Add(`bank.everything :address {:a {:b [@x.y (bank.everything :as @x)]}} :money {:amount @x :currency EUR}`)
	bank := newBank()
	names := bank.session()
	reused := new(Program)
	f.Fuzz(func(t *testing.T, text string) {
		script, parsed := dsl.Parse(dsl.NewSource("-", text))
		p, ds := bank.Check(script, names)
		// The short way for ordinary scripts and the long way are one.
		long := checker{r: bank.Registry, p: new(Program), s: script, names: names}
		long.run()
		if inWords(long.ds) != inWords(ds) || long.p.Valid() != (p != nil) {
			t.Fatalf("the long way says\n%s\nthe short way\n%s", inWords(long.ds), inWords(ds))
		}
		if p != nil && !(reflect.DeepEqual(long.p.Calls(), p.Calls()) && slices.Equal(long.p.Order(), p.Order())) {
			t.Fatalf("the long way makes\n%+v\nthe short way\n%+v", long.p.Calls(), p.Calls())
		}
		for _, d := range ds {
			if r := d.Place.Range; r.Start < 0 || r.End < r.Start || int(r.End) > len(text) {
				t.Fatalf("%s at %v of %d bytes", d.Code, r, len(text))
			}
			for _, fix := range d.Fixes {
				for _, e := range fix.Edits {
					if e.Range.Start < 0 || e.Range.End < e.Range.Start || int(e.Range.End) > len(text) {
						t.Fatalf("fix %q of %s at %v of %d bytes", fix.Title, d.Code, e.Range, len(text))
					}
				}
			}
		}
		if p == nil {
			if len(ds) == 0 && len(parsed) == 0 {
				t.Fatal("neither a program nor a reason")
			}
			return
		}
		if ds.HasErrors() {
			t.Fatal("a program in spite of errors")
		}
		order := p.Order()
		if len(order) != len(p.Calls()) {
			t.Fatal("the order misses calls")
		}
		for at, i := range order {
			c := &p.Calls()[i]
			if c.Verb == nil || len(c.Args) != len(c.Verb.Params) {
				t.Fatal("a call without its verb or arguments")
			}
			for _, need := range c.Needs {
				if slices.Index(order[:at], need) < 0 {
					t.Fatal("a call runs before what it needs")
				}
			}
			for k := range c.Args {
				a, param := &c.Args[k], &c.Verb.Params[k]
				if param.Required && a.Kind == Absent {
					t.Fatalf("%s :%s is absent", c.Verb.Name, param.Name)
				}
				if a.Kind == Literal && param.Type.Name != RefType {
					if v, err := param.Type.Accept(a.Value); err != nil || !stores.Equal(v, a.Value) {
						t.Fatalf("%s :%s holds %v: %v", c.Verb.Name, param.Name, a.Value, err)
					}
				}
			}
		}
		if again := bank.CheckInto(reused, script, names); len(again) != len(ds) || !reused.Valid() {
			t.Fatal("checked twice, it means something else")
		}
	})
}

// F23, SAFE-L1: what is written wrongly a hundred thousand times is told a hundred times,
// and takes no longer than to read it.
func TestAWrongArgumentManyTimes(t *testing.T) {
	t.Parallel()
	bank := newBank()
	script, _ := dsl.Parse(dsl.NewSource("many.dsl", "client.add-note "+strings.Repeat(":nte 1 ", 100_000)))
	if p, ds := bank.Check(script, bank.session()); p != nil || len(ds) != dsl.DefaultLimits.Diagnostics+1 {
		t.Errorf("%d complaints", len(ds))
	}
}
