package load

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/verbstest"
)

// The palettes under testdata/load hold, beside each line, what is wrong with
// it: after `#!` the code, the text that must be underlined in <angles>, and
// pieces that the message must contain in `backquotes`. `#!+2` speaks of two
// lines further down, for places that can hold no comment. Nothing else may be
// said, and nothing loads where there is an error. X1, O4, O5, U1 to U3, SAFE-P5.
func TestLoadSaysWhatStandsBeside(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/wrong/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no palettes", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line := 0
		for i, chunk := range strings.Split(string(text), "\n#---\n") {
			start := line
			line += strings.Count(chunk, "\n") + 2
			t.Run(fmt.Sprintf("%s/%d", filepath.Base(file), i), func(t *testing.T) {
				t.Parallel()
				loadChunk(t, file, start, chunk)
			})
		}
	}
}

var beside = regexp.MustCompile("^([+-][0-9]+)? *([a-z0-9-]+) *(<.*?>)?((?: *`[^`]*`)*) *$")

// loadChunk loads the part of a file between two lines of `#---`. Lines of
// `#=== NAME` within it divide it into the files of a directory.
func loadChunk(t *testing.T, file string, start int, chunk string) {
	type wanted struct {
		code, under string
		pieces      []string
	}
	want := map[int][]wanted{}
	for i, line := range strings.Split(chunk, "\n") {
		for _, part := range strings.Split(line, "#!")[1:] {
			m := beside.FindStringSubmatch(part)
			if m == nil {
				t.Fatalf("%s:%d: not an expectation: %s", file, start+i+1, part)
			}
			offset, _ := strconv.Atoi(m[1])
			w := wanted{code: m[2], under: strings.TrimSuffix(strings.TrimPrefix(m[3], "<"), ">")}
			for piece := range strings.SplitSeq(m[4], "`") {
				if strings.TrimSpace(piece) != "" {
					w.pieces = append(w.pieces, piece)
				}
			}
			want[i+offset] = append(want[i+offset], w)
		}
	}
	var srcs []*dsl.Source
	begin := map[*dsl.Source]int{}
	at := 0
	for i, part := range strings.Split(chunk, "\n#=== ") {
		name := "palette.yaml"
		if i > 0 {
			name, part, _ = strings.Cut(part, "\n")
			at++
		}
		src := dsl.NewSource(name, part)
		begin[src] = at
		srcs = append(srcs, src)
		at += strings.Count(part, "\n") + 1
	}
	r, diags := Sources(srcs...)
	if (r == nil) != diags.HasErrors() {
		t.Errorf("a registry: %v, errors: %v", r != nil, diags.HasErrors())
	}
	for _, d := range diags {
		src := d.Place.Source
		line := begin[src] + src.Position(d.Place.Range.Start).Line - 1
		under := src.Text[d.Place.Range.Start:d.Place.Range.End]
		i := slices.IndexFunc(want[line], func(w wanted) bool { return w.code == d.Code })
		said := strings.Join(append([]string{d.Summary, d.Label}, d.Notes...), " | ")
		for _, r := range d.Related {
			said += " | " + r.Message
		}
		if i < 0 {
			t.Errorf("%s:%d: unexpected %s <%s>: %s", file, start+line+1, d.Code, under, said)
			continue
		}
		w := want[line][i]
		want[line] = slices.Delete(want[line], i, i+1)
		if w.under != "" && w.under != under {
			t.Errorf("%s:%d: %s underlines %q, not %q", file, start+line+1, d.Code, under, w.under)
		}
		for _, piece := range w.pieces {
			if !strings.Contains(said, piece) {
				t.Errorf("%s:%d: %s does not say %q: %s", file, start+line+1, d.Code, piece, said)
			}
		}
	}
	for line, ws := range want {
		for _, w := range ws {
			t.Errorf("%s:%d: nobody said %s", file, start+line+1, w.code)
		}
	}
}

// O4, O5: the palette as it is printed in the document that asked for it loads
// word for word, with warnings for what it leaves open.
func TestThePrintedPaletteLoads(t *testing.T) {
	t.Parallel()
	r, diags := Dir(os.DirFS("../testdata/printed"))
	if r == nil {
		t.Fatal(diags)
	}
	if len(r.Verbs()) != 12 {
		t.Errorf("%d verbs, not 12", len(r.Verbs()))
	}
	for _, d := range diags {
		if d.Severity != dsl.Warning {
			t.Errorf("%s: %s", d.Code, d.Summary)
		}
	}
	v := r.Verb("client.get-outstanding")
	if p := v.Params[v.ParamNamed("include-completed")]; p.Type.Name != verbs.BooleanType || p.Required || p.Default.Text() != "false" {
		t.Errorf("include-completed is %+v", p)
	}
	operands := map[string]verbs.Operand{
		"outstanding-request.client_notes":              {Path: []string{"outstanding-request", "client_notes"}},
		"outstanding-request (status may change)":       {Path: []string{"outstanding-request"}, Note: "status may change"},
		"session.collection_mode = true":                {Path: []string{"session", "collection_mode"}, Value: "true"},
		"session.active_collection = request-id":        {Path: []string{"session", "active_collection"}, Value: "request-id"},
		"next-question OR validation-error OR complete": {Alternatives: []string{"next-question", "validation-error", "complete"}},
		"value against field schema":                    {Prose: true},
		"partial collection progress":                   {Prose: true},
		"generates provide-info DSL, submits":           {Prose: true},
		"returns to editing":                            {Prose: true},
	}
	for _, v := range r.Verbs() {
		for _, e := range v.Effects {
			if want, ok := operands[e.Operand.Text]; ok {
				want.Text = e.Operand.Text
				if fmt.Sprint(want) != fmt.Sprint(e.Operand) {
					t.Errorf("%q is %+v", e.Operand.Text, e.Operand)
				}
				delete(operands, e.Operand.Text)
			}
		}
	}
	for text := range operands {
		t.Errorf("no effect says %q", text)
	}
}

// O2, O3: the palette that is part of the product loads, and its entities lie on
// the tables that were there before it; whose a row is follows from them.
func TestTheClientPaletteLoads(t *testing.T) {
	t.Parallel()
	r := loadPortal(t)
	for _, v := range r.Verbs() {
		evalAll(v)
	}
	for name, want := range map[string]string{
		"outstanding-request": "kyc.outstanding_requests workstream.case.cbu",
		"entity-workstream":   "kyc.entity_workstreams case.cbu",
		"case":                "kyc.cases cbu",
		"entity":              "ob-poc.entities cbu",
		"document-submission": "kyc.request_submissions request.workstream.case.cbu",
	} {
		e := r.Entity(name).Store
		var path []string
		at := e
		for _, step := range e.Scope {
			path = append(path, at.Fields[step.Field].Name)
			at = step.To
		}
		if got := e.Table + " " + strings.Join(path, "."); got != want || e.Managed {
			t.Errorf("%s lies on %s, managed %v; want %s", name, got, e.Managed, want)
		}
	}
}

// evalAll works out every expression of a verb for a call that gives nothing:
// that may be an error, and never a panic.
func evalAll(v *verbs.Verb) {
	try := func(e *verbs.Expr) {
		if e != nil {
			e.Eval(verbs.Env{})
		}
	}
	for _, c := range v.Confirm {
		try(c.When)
	}
	for _, e := range v.Effects {
		try(e.When)
		for _, s := range e.Set {
			try(s.Value)
		}
		for _, w := range e.With {
			try(w.Value)
		}
		if e.Where != nil {
			e.Where.Filter.Cond(verbs.Env{})
		}
	}
	if v.Read != nil {
		v.Read.Filter.Cond(verbs.Env{})
	}
}

// A directory loads in the order of its names, without what is not a palette.
func TestLoadReadsADirectory(t *testing.T) {
	t.Parallel()
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	dir := fstest.MapFS{
		"b.yaml":          file("domain: b\nverbs:\n  - {verb: do, roles: [r], handler: true}\n"),
		"a.yml":           file("domain: a\nroles: [{name: r}]\n"),
		"b_test.yaml":     file("not: a palette"),
		".hidden.yaml":    file("not: a palette"),
		"notes.txt":       file("not a palette"),
		"sub/inner.yaml":  file("not: a palette"),
		"schema.json":     file("{}"),
		"b.yaml.bak":      file("x"),
		"folder.yaml/x":   file("x"),
		"c.yaml~":         file("x"),
		".yaml":           file("x"),
		"unrelated.yaml/": nil,
	}
	delete(dir, "unrelated.yaml/")
	r, diags := Dir(dir)
	if r == nil || len(diags) > 0 {
		t.Fatal(diags)
	}
	if r.Verb("b.do") == nil || len(r.Palettes()) != 2 {
		t.Error("the verb or a palette is missing")
	}
	same, _ := Dir(dir)
	if r.Digest() == "" || r.Digest() != same.Digest() {
		t.Error("one directory, two digests")
	}
	dir["a.yml"] = file("domain: a\nroles: [{name: r}] # changed\n")
	if other, _ := Dir(dir); other.Digest() == r.Digest() {
		t.Error("two directories, one digest")
	}
}

// A model may fill what it judges or sums up, where a palette says so, and never a reference, an amount
// or a text with a rule of its own, nor what may hold one. (G1)
func TestWhatAModelMayFill(t *testing.T) {
	t.Parallel()
	for kind, may := range map[string]bool{
		"type: string": true, "type: integer": true, "type: boolean": true, "type: date": true, "type: uuid": true, "type: list, of: string": true,
		"type: decimal, min: 0, max: 1": true, "type: decimal, min: 0, max: 100": true,
		"type: decimal": false, "type: decimal, min: 0": false, "type: decimal, min: -1, max: 1": false, "type: decimal, min: 0, max: 101": false,
		"type: ref, ref-type: account": false, "type: money": false, "type: iban": false, "type: bic": false, "type: lei": false, "type: phone": false, "type: email": false,
		"type: national-id, country: DE": false, "type: object": false, "type: any": false, "type: list, of: iban": false, "type: list, of: {type: decimal}": false,
	} {
		for from, loads := range map[string]bool{"person, record, model": may, "model": may, "person, record": true} {
			text := "domain: bank\nroles: [{name: teller}]\nentities:\n  account: {key: id, scope: self, fields: {name: {type: string}}}\nverbs:\n  - verb: pay\n    roles: [teller]\n    handler: true\n    args: [{name: x, " + kind + ", from: [" + from + "]}]\n"
			r, ds := Dir(fstest.MapFS{"bank.yaml": {Data: []byte(text)}})
			if refused := slices.ContainsFunc(ds, func(d dsl.Diagnostic) bool { return d.Code == "from-model" }); refused == loads {
				t.Errorf("%s from %s: %v", kind, from, ds)
			}
			if r != nil && len(r.FromModels()) > 0 != strings.Contains(from, "model") {
				t.Errorf("%s from %s: a model may fill %q", kind, from, r.FromModels())
			}
		}
	}
}

// One bad file keeps all the others from loading, and every file is heard.
func TestADirectoryLoadsWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	dir := fstest.MapFS{
		"a.yaml": {Data: []byte("domain: a\nverbs:\n  - {verb: good, roles: [], handler: true}\n")},
		"b.yaml": {Data: []byte("domain: b\nvrbs: []\n")},
		"c.yaml": {Data: []byte("domain: [c\n")},
		"d.yaml": {Data: []byte("domain: d\nverbs:\n  - {verb: x, handler: true, rols: []}\n")},
	}
	r, diags := Dir(dir)
	if r != nil {
		t.Error("it loaded in part")
	}
	var names []string
	for _, d := range diags {
		names = append(names, d.Place.Source.Name+" "+d.Code)
	}
	want := []string{"a.yaml nobody-may-use", "b.yaml unknown-key", "c.yaml not-yaml", "d.yaml unknown-key", "d.yaml nobody-may-use"}
	if !slices.Equal(names, want) {
		t.Errorf("said %q", names)
	}
	if r, diags := Dir(fstest.MapFS{}); r != nil || len(diags) != 1 || diags[0].Code != "no-palettes" {
		t.Error("an empty directory loads")
	}
	// What cannot be read is reported alone: the others would seem to lack what stands in it.
	gone := t.TempDir()
	for name, text := range map[string]string{"a.de.yaml": "verbs: {}\n", "b.yaml": "domain: b\nverbs:\n  - {verb: x, roles: [], script: a.good}\n"} {
		if err := os.WriteFile(filepath.Join(gone, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("nowhere", filepath.Join(gone, "a.yaml")); err != nil {
		t.Fatal(err)
	}
	if r, diags := Dir(os.DirFS(gone)); r != nil || len(diags) != 1 || diags[0].Code != "unreadable-palette" {
		t.Errorf("said %v", diags)
	}
}

// O18: the thirteen kinds of effect, and their may- forms, are declarations
// that the engine can tell apart.
func TestEveryKindOfEffectIsRead(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("domain: a\nroles: [{name: r}]\nverbs:\n  - verb: v\n    roles: [r]\n    handler: true\n    effects:\n")
	effectWords := slices.DeleteFunc(slices.Clone(verbs.EffectWords), func(w verbs.EffectWord) bool { return w.Name == "upserts" }) // is two of them
	for _, w := range effectWords {
		b.WriteString("      - " + w.Name + ": something\n")
	}
	r, diags := Sources(dsl.NewSource("a.yaml", b.String()))
	if r == nil {
		t.Fatal(diags)
	}
	kinds := map[verbs.EffectKind]int{}
	for i, e := range r.Verb("a.v").Effects {
		w := effectWords[i]
		if e.Kind != w.Kind || e.May != w.May || e.Operand.Text != "something" || e.Word() != w.Name {
			t.Errorf("%s is read as %+v", w.Name, e)
		}
		if declared := (w.Kind == verbs.Triggers || w.Kind == verbs.Notifies) && !w.May; e.Declared != declared {
			t.Errorf("%s: the engine can do it: %v", w.Name, e.Declared)
		}
		kinds[e.Kind]++
	}
	if len(kinds) != int(verbs.IfFalse)+1 {
		t.Errorf("%d kinds", len(kinds))
	}
}

// What a verb's YAML says arrives where the engine looks for it.
func TestVerbsAreReadInFull(t *testing.T) {
	t.Parallel()
	r, diags := Sources(dsl.NewSource("work.yaml", string(verbstest.Palette(8))))
	if r == nil {
		t.Fatal(diags)
	}
	request := r.Entity("request")
	note := r.Verb("work." + verbstest.VerbName(0))
	if len(note.Effects) != 2 || note.Effects[0].Entity != request || note.Effects[0].Where.Param != 0 || !note.Effects[0].Declared {
		t.Errorf("the first effect is %+v", note.Effects[0])
	}
	if e := note.Effects[1]; !e.May || e.When == nil || len(e.Set) != 3 || e.Set[1].Value.Text != "expected_date + days(1)" {
		t.Errorf("the second effect is %+v", e)
	}
	extend := r.Verb("work." + verbstest.VerbName(3))
	if c := extend.Confirm[0]; c.By != r.Role("compliance") || c.Expires != 24*60*60 || c.Always || len(c.When.Reads) != 1 || c.When.Reads[0].Param != 0 {
		t.Errorf("the rule is %+v", c)
	}
	record := r.Verb("work." + verbstest.VerbName(4))
	if p := record.Params[3]; !p.Sensitive || p.From != verbs.FromPerson|verbs.FromRecord {
		t.Errorf("the argument is %+v", p)
	}
	if p := record.Params[1]; p.Type.Scale != 2 || p.Type.Max.Text() != "1000000.00" || p.Ident != "amount" {
		t.Errorf("the amount is %+v", p.Type)
	}
	if p := record.Params[4]; p.Type.Item.MaxLength != 20 || p.Type.MaxLength != 10 {
		t.Errorf("the list is %+v", p.Type)
	}
	list := r.Verb("work." + verbstest.VerbName(2)).Read
	if list.Limit != 200 || list.One || list.Order[1].Desc != true || len(list.Fields) != 5 || list.Fields[4].Path.Count != r.Entity("submission").Store {
		t.Errorf("the read is %+v", list)
	}
	s := request.Store
	if len(s.Scope) != 2 || s.Scope[1].To != r.Entity("cbu").Store || s.Fields[s.Key].Name != "request_id" || s.Table != "work.requests" {
		t.Errorf("the entity is %+v", s)
	}
	if f := s.Fields[request.FieldNamed("case")]; f.Ref != r.Entity("case").Store || f.Column != "case_id" || f.Kind.String() != "uuid" {
		t.Errorf("the reference is %+v", f)
	}
	if l := request.Label; len(l.Text) != 3 || len(l.Paths) != 2 || len(l.Paths[0].Steps) != 2 || l.Text[1] != " " {
		t.Errorf("the label is %+v", l)
	}
	if files, _ := Dir(verbstest.Files(1200)); files == nil || len(files.Verbs()) != 1200 || files.Verb("work2."+verbstest.VerbName(1100)) == nil {
		t.Error("the generated directory does not load")
	}
}

// A key may be of another type than uuid, a scope may be a principal's name,
// a table may be called as its entity.
func TestEntitiesOfOtherShapes(t *testing.T) {
	t.Parallel()
	r, diags := Sources(dsl.NewSource("a.yaml", `domain: a
entities:
  page-view:
    key: id
    scope: {principal: reader.name}
    unique: [[reader, page]]
    fields:
      reader: {type: ref, ref-type: reader, required: true}
      page: {type: ref, ref-type: page}
  reader: {key: reader-id, scope: {principal: name}, fields: {name: {type: string}}}
  page: {key: slug, scope: everyone, managed: true, found-by: [[title, slug], [slug]], fields: {title: {type: string}, slug: {type: string}}}
  owner: {key: id, scope: self}
`))
	if r == nil {
		t.Fatal(diags)
	}
	view, page := r.Entity("page-view").Store, r.Entity("page").Store
	if view.Table != "page_view" || view.Access != stores.ByPrincipal || len(view.Scope) != 2 || view.Scope[1].To != nil {
		t.Errorf("the view is %+v", view)
	}
	if f := view.Fields[view.FieldIndex("page")]; f.Kind.String() != "string" {
		t.Errorf("a reference to a string key is a %s", f.Kind)
	}
	if !page.Managed || page.Key != 1 || !page.Fields[1].Required || page.Access != stores.ForAll {
		t.Errorf("the page is %+v", page)
	}
	if reader := r.Entity("reader").Store; reader.Fields[0].Column != "reader_id" || reader.Place != "a.yaml:10:3" {
		t.Errorf("the reader is %+v", reader)
	}
	if owner := r.Entity("owner").Store; owner.Access != stores.ByPath || owner.Scope != nil {
		t.Errorf("the owner is %+v", owner)
	}
	if len(view.Unique) != 1 || len(view.Unique[0]) != 2 || view.Found != nil {
		t.Errorf("unique is %v, found by %v", view.Unique, view.Found)
	}
	if len(page.Found) != 2 || len(page.Found[0]) != 2 || page.Found[1][0] != 1 {
		t.Errorf("found by %v", page.Found)
	}
}

// What a macro did is taken back call by call, so nothing is missing of it.
func TestMacrosNeedNotSayHowTheyAreTakenBack(t *testing.T) {
	t.Parallel()
	r, diags := Sources(dsl.NewSource("a.yaml", `domain: a
roles: [{name: r}]
verbs:
  - {verb: tell, roles: [r], effects: [{notifies: r}]}
  - {verb: both, roles: [r], script: "a.tell\na.tell"}
`))
	if r == nil {
		t.Fatal(diags)
	}
	if names := r.NoUndo(); !slices.Equal(names, []string{"a.tell"}) {
		t.Errorf("nothing says how to take back %q", names)
	}
}

// U1: places are exact whatever ends the lines and begins the file, and where
// characters are of several bytes.
func TestPlacesInOddFiles(t *testing.T) {
	t.Parallel()
	const text = "domain: a\ndescription: \"Größe\", # é\nroles: [{name: \"ü\", nam: b}]\nverbs:\n  - {verb: x, \"rols\": [a]}\n"
	good := strings.Replace(text, "\",", "\"", 1)
	for name, edit := range map[string]func(string) string{
		"as it is": func(s string) string { return s },
		"bom":      func(s string) string { return bom + s },
		"crlf":     func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"cr":       func(s string) string { return strings.ReplaceAll(s, "\n", "\r") },
		"nel":      func(s string) string { return strings.ReplaceAll(s, "\n", "\u0085") },
		"ls":       func(s string) string { return strings.ReplaceAll(s, "\n", "\u2028") },
	} {
		_, diags := Sources(dsl.NewSource("a.yaml", edit(good)))
		var under []string
		for _, d := range diags {
			under = append(under, d.Place.Source.Text[d.Place.Range.Start:d.Place.Range.End])
		}
		want := []string{`"ü"`, "nam", "x", `"rols"`, "a"}
		if !slices.Equal(under, want) {
			t.Errorf("%s: underlined %q", name, under)
		}
	}
}
