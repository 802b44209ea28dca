package verbs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"verbatim/dsl"
)

// The scripts under testdata/check hold, beside each line, what is wrong with
// it: after `;!` the code, and pieces that the message must contain. Nothing
// else may be said. X2, O4, OB1, OB2, OB11, U1 to U3.
func TestCheckSaysWhatStandsBeside(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/check/*.dsl")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line := 0
		for i, chunk := range strings.Split(string(text), "\n---\n") {
			start := line
			line += strings.Count(chunk, "\n") + 2
			t.Run(fmt.Sprintf("%s/%d", filepath.Base(file), i), func(t *testing.T) {
				t.Parallel()
				checkChunk(t, file, start, chunk)
			})
		}
	}
}

var expectation = regexp.MustCompile("^ *([a-z0-9-]+)((?: *`[^`]*`)*) *$")

type expected struct {
	code   string
	pieces []string
}

func checkChunk(t *testing.T, file string, start int, chunk string) {
	bank := newBank()
	want := map[int][]expected{}
	for i, line := range strings.Split(chunk, "\n") {
		parts := strings.Split(line, ";!")
		for _, part := range parts[1:] {
			m := expectation.FindStringSubmatch(part)
			if m == nil {
				t.Fatalf("%s:%d: cannot read %q", file, start+i+1, part)
			}
			e := expected{code: m[1]}
			for _, piece := range strings.Split(m[2], "`") {
				if strings.TrimSpace(piece) != "" {
					e.pieces = append(e.pieces, piece)
				}
			}
			want[i+1] = append(want[i+1], e)
		}
	}
	src := dsl.NewSource(file, chunk)
	script, ds := dsl.Parse(src)
	if len(ds) > 0 {
		t.Fatalf("%s:%d: does not parse: %s", file, start+1, inWords(ds))
	}
	var names Names
	if !strings.Contains(chunk, ";no-session") {
		names = bank.session()
	}
	p, ds := bank.Check(script, names)
	for _, d := range ds {
		if d.Place.Source != src {
			t.Errorf("%s has no place in the script", d.Code)
			continue
		}
		line := src.Position(d.Place.Range.Start).Line
		said := strings.Join(append([]string{d.Summary, d.Label}, d.Notes...), "\n")
		for _, r := range d.Related {
			said += "\n" + r.Message
		}
		if len(want[line]) == 0 {
			t.Errorf("%s:%d: unexpected %s: %s", file, start+line, d.Code, said)
			continue
		}
		e := want[line][0]
		want[line] = want[line][1:]
		if d.Code != e.code {
			t.Errorf("%s:%d: %s where %s was expected: %s", file, start+line, d.Code, e.code, said)
			continue
		}
		for _, piece := range e.pieces {
			if !strings.Contains(said, piece) {
				t.Errorf("%s:%d: %s does not say %q:\n%s", file, start+line, d.Code, piece, said)
			}
		}
		if d.Label == "" && len(d.Notes) == 0 {
			t.Errorf("%s:%d: %s names no next step (U4)", file, start+line, d.Code)
		}
	}
	for line, rest := range want {
		for _, e := range rest {
			t.Errorf("%s:%d: expected %s, got nothing", file, start+line, e.code)
		}
	}
	if (p == nil) != ds.HasErrors() {
		t.Errorf("%s:%d: a program in spite of errors, or none without", file, start+1)
	}
	// A safe fix settles what it is for, whatever it brings to light.
	for _, d := range ds {
		for _, fix := range d.Fixes {
			if !fix.Safe {
				continue
			}
			fixed := applyEdits(chunk, fix.Edits)
			script, pds := dsl.Parse(dsl.NewSource(file, fixed))
			if len(pds) > 0 {
				t.Errorf("fix %q of %s does not parse: %s", fix.Title, d.Code, inWords(pds))
				continue
			}
			_, after := bank.Check(script, names)
			if count := func(ds dsl.Diagnostics) int { return strings.Count(inWords(ds), d.Code+": "+d.Summary) }; count(after) >= count(ds) {
				t.Errorf("fix %q of %s settles nothing:\n%s", fix.Title, d.Code, inWords(after))
			}
		}
	}
}

func inWords(ds dsl.Diagnostics) string {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "%s: %s | %s\n", d.Code, d.Summary, d.Label)
	}
	return b.String()
}

func applyEdits(text string, edits []dsl.Edit) string {
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(a, b dsl.Edit) int { return int(b.Range.Start - a.Range.Start) })
	for _, e := range edits {
		text = text[:e.Range.Start] + e.Text + text[e.Range.End:]
	}
	return text
}

func mustProgram(t *testing.T, r *Registry, names Names, text string) *Program {
	t.Helper()
	script, ds := dsl.Parse(dsl.NewSource("-", text))
	if len(ds) > 0 {
		t.Fatal(inWords(ds))
	}
	p, ds := r.Check(script, names)
	if p == nil {
		t.Fatal(inWords(ds))
	}
	return p
}

// What a program holds is typed: the text of a script becomes dates, numbers
// and canonical JSON.
func TestProgramHoldsTypedValues(t *testing.T) {
	t.Parallel()
	bank := newBank()
	p := mustProgram(t, bank.Registry, bank.session(), `
		bank.everything :count 7 :price 12.50 :day "2025-01-03" :moment "2025-01-03T10:00:00+01:00" :within "1d12h"
			:id "123E4567-E89B-12D3-A456-426614174000" :phone "+44 (20) 7946-0018" :money {:currency EUR :amount 12.50}
			:tags ["b" "a"] :anything {:z 1 :a [2.50 PASSPORT 2025-01-03 nil]}`)
	v := bank.Verb("bank.everything")
	got := map[string]string{}
	for i, a := range p.Calls()[0].Args {
		if a.Kind == Literal {
			got[v.Params[i].Name] = a.Value.Kind().String() + " " + a.Value.Text()
		}
	}
	want := map[string]string{
		"count": "integer 7", "price": "decimal 12.50", "day": "date 2025-01-03", "moment": "datetime 2025-01-03T09:00:00Z",
		"within": "duration 36h0m0s", "id": "uuid 123e4567-e89b-12d3-a456-426614174000", "phone": "string +442079460018",
		"money": `json {"amount":12.50,"currency":"EUR"}`, "tags": `json ["b","a"]`,
		"anything": `json {"a":[2.50,"PASSPORT","2025-01-03",null],"z":1}`,
	}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s: %s, want %s", name, got[name], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
}

// Defaults are filled in, nil counts as not given, and what is neither given
// nor defaulted is absent.
func TestDefaults(t *testing.T) {
	t.Parallel()
	bank := newBank()
	for _, text := range []string{"client.get-outstanding", "client.get-outstanding :include-completed nil :cbu-id nil"} {
		args := mustProgram(t, bank.Registry, nil, text).Calls()[0].Args
		if args[0].Kind != Absent || args[1].Kind != Literal || args[1].Value.Bool() || args[1].Syntax != nil {
			t.Errorf("%s: %+v", text, args)
		}
	}
	args := mustProgram(t, bank.Registry, nil, "client.get-outstanding :include-completed true").Calls()[0].Args
	if !args[1].Value.Bool() || args[1].Syntax == nil {
		t.Errorf("%+v", args)
	}
}

// OB1: calls are put into an order in which each comes after what it uses, and
// otherwise stay as written. Nested calls come before the call around them.
func TestOrderFollowsBindings(t *testing.T) {
	t.Parallel()
	bank := newBank()
	for _, c := range []struct{ text, order, needs string }{
		{"client.get-outstanding client.get-outstanding", "[0 1]", "[] []"},
		{`client.drop-reminder :reminder-id @r
		  client.get-outstanding
		  client.remind :request-id @pierre-sow :on 2025-01-03 :as @r`, "[1 2 0]", "[2] [] []"},
		{`client.drop-reminder :reminder-id (client.remind :request-id @o :on @o.due-date)
		  client.get-request :request-id @pierre-sow :as @o`, "[2 0 1]", "[2] [0] []"},
		{`bank.everything :anything [@a @b @a]
		  client.get-request :request-id @pierre-sow :as @b
		  client.get-request :request-id @pierre-sow :as @a`, "[1 2 0]", "[1 2] [] []"},
	} {
		p := mustProgram(t, bank.Registry, bank.session(), c.text)
		var needs []string
		for i, call := range p.Calls() {
			needs = append(needs, fmt.Sprint(call.Needs))
			for _, need := range call.Needs {
				if slices.Index(p.Order(), need) > slices.Index(p.Order(), i) {
					t.Errorf("call %d comes before %d, which it needs", i, need)
				}
			}
		}
		if got := fmt.Sprint(p.Order()); got != c.order || strings.Join(needs, " ") != c.needs {
			t.Errorf("%s\norder %s, want %s; needs %s, want %s", c.text, got, c.order, needs, c.needs)
		}
	}
}

// A list or map with a name in it keeps its parts, for the run to fill in.
func TestListsWithNamesStayLists(t *testing.T) {
	t.Parallel()
	bank := newBank()
	p := mustProgram(t, bank.Registry, bank.session(), `bank.everything :people [@pierre] :anything {:who @pierre.name :n [1 2]}`)
	v := bank.Verb("bank.everything")
	args := p.Calls()[0].Args
	people, thing := args[v.plan.param("people", 0)], args[v.plan.param("anything", 0)]
	if people.Kind != Listed || len(people.Items()) != 1 || people.Items()[0].Kind != Name || people.Items()[0].Name() != "pierre" {
		t.Errorf("%+v", people)
	}
	if thing.Kind != Mapped || fmt.Sprint(thing.Keys()) != "[who n]" || thing.Items()[0].Path() != "name" || thing.Items()[1].Value.Text() != "[1,2]" {
		t.Errorf("%+v", thing)
	}
}

// Mistakes that Parse reported are not reported again: a broken call defines
// its name and means its verb, and there is no program. Other mistakes in it,
// which have nothing to do with the first, are told (U1, U3).
func TestBrokenCallsAreNotReportedTwice(t *testing.T) {
	t.Parallel()
	bank := newBank()
	script, ds := dsl.Parse(dsl.NewSource("-", `
		client.remind :request-id @pierre-sow :on 2025-02-30 :as @r
		client.drop-reminder :reminder-id @r
		client.add-note :request-id @pierre-sow :notee "x"
		client.submit-document :request-id @piere-sow :document-type PASPORT :file-reference :notees "x"
		client.nothing :day 2025-02-30 :who @nobody
		client.add-note request-id @pierre-sow :note "x" :as @late
		client.drop-reminder :reminder-id @late
		client.add-note :request-id @pierre-sow "a text without its key"`))
	if len(ds) != 5 {
		t.Fatal(inWords(ds))
	}
	p, ds := bank.Check(script, bank.session())
	if p != nil {
		t.Error("a program of a broken script")
	}
	var codes []string
	for _, d := range ds {
		codes = append(codes, d.Code)
	}
	if got := strings.Join(codes, " "); got != "unknown-argument unknown-name unknown-code unknown-argument unknown-verb" {
		t.Error(inWords(ds))
	}
}

// U5: a sensitive value stands in no message and in no excerpt, whatever is
// wrong with it or beside it.
func TestSensitiveValuesAreNotShown(t *testing.T) {
	t.Parallel()
	bank := newBank()
	for _, text := range []string{
		`bank.everything :secret "hunter2"`, `bank.everything :secret hunter2`, `bank.everything :secret HUNTER2`,
		`bank.everything :secret [ "hunter2" ]`, `bank.everything :secret 1234567.5`, `bank.everything :secret 1234567,5`, `bank.everything :ssn "123-45-67891"`,
		`bank.everything :secret 2025-01-03`, `bank.everything :secret {:hunter2 "hunter2"}`,
		`bank.everything :ssn "123-45-6789" :cuont 1`, `bank.evrything :ssn "123-45-6789" :count 1`,
		`bank.everything :sns "123-45-6789"`, `bank.everything :anything (client.nothing :ssn "123-45-6789")`,
		`bank.everything :ssn "123-45-6789" :count 2025-02-31`,
		`bank.everything :secret "hun" :secret "hunter2"`,
		`bank.everything :secret {:a 123-45-6789}`, `bank.everything :secret [1972-02-31]`,
		`bank.everything :secret [“hunter2”]`, `bank.everything :secret {:a 'hunter2'}`,
	} {
		script, ds := dsl.Parse(dsl.NewSource("-", text))
		ds = bank.Mask(script, ds)
		_, more := bank.Check(script, bank.session())
		ds = append(ds, more...)
		if len(ds) == 0 {
			t.Errorf("%s: nothing to say", text)
		}
		var b strings.Builder
		if err := ds.Print(&b, dsl.Style{}); err != nil {
			t.Fatal(err)
		}
		json, err := json.Marshal(ds)
		if err != nil {
			t.Fatal(err)
		}
		if said := b.String() + string(json); regexp.MustCompile(`(?i)hunter2|1234567|123-45|2025-01-03|1972`).MatchString(said) {
			t.Errorf("%s:\n%s", text, said)
		}
	}
}

// A number that is written wrongly is no secret of a verb that has none.
func TestWrongNumbersOfVerbsWithoutSecretsAreShown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"10,50": "did you mean 10.50?", "1,000": "did you mean 1000?"} {
		script, ds := dsl.Parse(dsl.NewSource("-", "client.remind :request-id @o :on "+text))
		if ds = newBank().Mask(script, ds); len(ds) != 1 || ds[0].Label != want {
			t.Errorf("%s: %s", text, inWords(ds))
		}
	}
}

// PERF-C1: a valid script costs no memory beyond the program it is checked
// into, whatever plain values it holds.
func TestCheckIntoAllocatesNothing(t *testing.T) {
	bank := newBank()
	script, ds := dsl.Parse(dsl.NewSource("-", `
		client.drop-reminder :reminder-id @r
		client.remind :request-id @o :on @o.due-date :as @r
		client.get-request :request-id (client.get-request :request-id @pierre-sow) :as @o
		client.submit-document :request-id @pierre-sow :document-type PASSPORT :file-reference "f"
		bank.everything :count 7 :price 12.50 :flag true :day "2025-01-03" :moment 2025-01-03T10:00:00Z :within "1d12h"
			:id "123e4567-e89b-12d3-a456-426614174000" :email "clara@example.com" :phone "+442079460018" :code ANY :secret "abc" :anything 7`))
	if len(ds) > 0 {
		t.Fatal(inWords(ds))
	}
	names := Names(bank.session())
	p := new(Program)
	run := func() {
		if ds := bank.CheckInto(p, script, names); len(ds) > 0 {
			t.Fatal(inWords(ds))
		}
	}
	run()
	run()
	if n := testing.AllocsPerRun(100, run); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if !p.Valid() || len(p.Calls()) != 6 {
		t.Error("no program")
	}
}

// A program that was used again holds nothing of what it held before.
func TestCheckIntoLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	bank := newBank()
	texts := []string{
		`bank.everything :anything {:who @pierre.name} :people [@pierre] :count 3`,
		`client.remind :request-id @pierre-sow :on 2025-01-03 :as @r client.drop-reminder :reminder-id @r`,
		`bank.everything :flag true`,
		`client.add-note :request-id @nobody :note "x"`,
		`client.get-outstanding`,
	}
	reused := new(Program)
	for _, i := range []int{0, 1, 2, 3, 4, 1, 0, 3, 2, 4, 0} {
		script, _ := dsl.Parse(dsl.NewSource("-", texts[i]))
		fresh, want := bank.Check(script, bank.session())
		got := bank.CheckInto(reused, script, bank.session())
		if inWords(got) != inWords(want) || reused.Valid() != (fresh != nil) {
			t.Errorf("%s:\n%s\n%s", texts[i], inWords(got), inWords(want))
		}
		if fresh != nil && !(reflect.DeepEqual(reused.Calls(), fresh.Calls()) && slices.Equal(reused.Order(), fresh.Order())) {
			t.Errorf("%s:\n%+v\n%+v", texts[i], reused.Calls(), fresh.Calls())
		}
	}
}

// Literal text is the script's own, not a copy.
func TestValuesAliasTheScript(t *testing.T) {
	t.Parallel()
	bank := newBank()
	script, _ := dsl.Parse(dsl.NewSource("-", `client.add-note :request-id @x :note "as it stands"`))
	p, _ := bank.Check(script, nil)
	written, got := script.Calls[0].Args[1].Value.Text, p.Calls()[0].Args[1].Value.Text()
	if got != "as it stands" || unsafe.StringData(got) != unsafe.StringData(written) {
		t.Errorf("%q is a copy", got)
	}
}

// SAFE-P3: the checker's work grows with the script, also where everything in
// it is wrong. Complaints are capped, and the cap is said.
func TestHugeScriptsAreLinear(t *testing.T) {
	t.Parallel()
	bank := newBank()
	script := &dsl.Script{Source: dsl.NewSource("-", "")}
	for i := range 100_000 {
		c := dsl.NewCall("client.add-noet", dsl.NewArg("request-id", dsl.NewSymbol(fmt.Sprintf("r%d", i+1))))
		c.As = fmt.Sprintf("r%d", i)
		script.Calls = append(script.Calls, c)
	}
	_, ds := bank.Check(script, bank.session())
	if most := dsl.DefaultLimits.Diagnostics; len(ds) != most+1 || ds[most].Code != "too-many-mistakes" {
		t.Errorf("%d diagnostics", len(ds))
	}
	for i := range script.Calls {
		script.Calls[i].Verb = "client.get-request"
	}
	script.Calls[len(script.Calls)-1].Args[0].Value = dsl.NewSymbol("pierre-sow")
	p, ds := bank.Check(script, bank.session())
	if p == nil {
		t.Fatal(inWords(ds))
	}
	if order := p.Order(); order[0] != 99_999 || order[99_999] != 0 {
		t.Error("a chain written backwards runs backwards")
	}
	script.Calls[len(script.Calls)-1].Args[0].Value = dsl.NewSymbol("r0")
	if _, ds := bank.Check(script, bank.session()); len(ds) != 1 || ds[0].Code != "cycle" {
		t.Error(inWords(ds))
	}
}

// Nesting that Parse would refuse is refused here too, for calls that were
// built.
func TestDeepNestingIsRefused(t *testing.T) {
	t.Parallel()
	bank := newBank()
	list, m := dsl.NewInteger(1), dsl.NewInteger(1)
	call := dsl.NewCall("bank.everything", dsl.NewArg("count", dsl.NewInteger(1)))
	for range 100_000 {
		list = dsl.NewList(list)
		m = dsl.NewMap(dsl.NewArg("a", m))
		call = dsl.NewCall("bank.everything", dsl.NewArg("anything", dsl.NewNested(call)))
	}
	for _, c := range []dsl.Call{
		dsl.NewCall("bank.everything", dsl.NewArg("anything", list)),
		dsl.NewCall("bank.everything", dsl.NewArg("object", m)),
		dsl.NewCall("bank.nothing", dsl.NewArg("object", m)),
		call,
	} {
		script := &dsl.Script{Source: dsl.NewSource("-", ""), Calls: []dsl.Call{c}}
		if p, ds := bank.Check(script, nil); p != nil || len(ds) != 1 {
			t.Errorf("%v %s", p, inWords(ds))
		}
	}
}
