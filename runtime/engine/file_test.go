package engine_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// made are the files that verbs of filingWorlds made, by the reference.
var made sync.Map

// keep keeps a file that a verb made, as package upload does.
func (w *world) keep(ctx context.Context, s *engine.Session, verb, name string, content []byte, lasts time.Duration) (uploads.Upload, error) {
	if len(content) > 0 && content[0] == '!' {
		return uploads.Upload{}, errors.New("the disk is full")
	}
	id := "made" + w.newID()
	u, err := s.Uploads().Begin(ctx, uploads.Upload{Name: name, Type: "application/pdf", Size: int64(len(content)), Sum: fmt.Sprintf("%064x", id), MadeBy: verb}, id, "0000000000000001", lasts,
		func(context.Context, uploads.Upload) error { return nil })
	if err != nil {
		return u, err
	}
	made.Store(u.Reference(), content)
	return w.engine.Uploads().Judge(ctx, u.ID, uploads.Clean, "test")
}

// cells are those of a workbook that was made, in the order of its file.
func cells(t *testing.T, reference string) string {
	t.Helper()
	content, ok := made.Load(reference)
	if !ok {
		t.Fatalf("nothing was kept as %s", reference)
	}
	z, err := zip.NewReader(bytes.NewReader(content.([]byte)), int64(len(content.([]byte))))
	if err != nil {
		t.Fatal(err)
	}
	f, err := z.Open("xl/worksheets/sheet1.xml")
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// M64: a read writes its rows into a file, which is kept as one that the caller had sent:
// in their name, with an entry in the journal, until it expires. A preview makes none.
func TestAReadMakesAFile(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*world{"sqlite": filingWorld(t), "postgres": postgresFilingWorld(t)} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			for _, call := range []string{`filing.file :paper "upload://kims-letter" :note "who sent it"`, `filing.file :paper "upload://kims-photo"`} {
				if _, err := w.run("kim", call); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := w.run("sam", `filing.file :paper "upload://sams-letter"`); err != nil {
				t.Fatal(err)
			}
			s := w.session("kim")
			p := w.program(s, "filing.papers")
			before := len(w.journal())
			preview, err := s.Preview(ctx, p)
			if err != nil {
				t.Fatal(err)
			}
			if f := preview.Calls[0].Result.File; f == nil || f.Name != "My papers.xlsx" || f.Reference != "" || len(w.journal()) != before {
				t.Errorf("a preview: %+v, and the journal went from %d to %d", f, before, len(w.journal()))
			}
			reply, err := s.Run(ctx, p, engine.RunOptions{Key: "k"})
			if err != nil {
				t.Fatal(err)
			}
			res := reply.Calls[0].Result
			if res.File == nil || res.File.Size == 0 || res.File.Says == "" || len(res.Rows) != 2 {
				t.Fatalf("%+v", res)
			}
			xml := cells(t, res.File.Reference)
			for text, in := range map[string]bool{"Filed by": true, "upload://kims-letter": true, "upload://kims-photo": true, "@upload-kims-letter": true, "who sent it": false, "(not shown)": true, "sams": false} {
				if strings.Contains(xml, text) != in {
					t.Errorf("%q in the workbook: %t", text, !in)
				}
			}
			entries := w.journal()
			var told string
			for _, e := range entries[before:] {
				if e.Verb == "verbatim.upload" {
					told += e.Call
				}
			}
			if strings.Count(told, "verbatim.upload") != 1 || !strings.Contains(told, res.File.Reference) || !strings.Contains(told, `:made-by "filing.papers"`) {
				t.Errorf("the journal tells %s", told)
			}
			again, err := s.Run(ctx, p, engine.RunOptions{Key: "k"})
			if err != nil || again.Calls[0].Result.File == nil || again.Calls[0].Result.File.Reference != res.File.Reference {
				t.Errorf("under the same key: %+v %v", again, err)
			}
			// Only its owner has it, and only until it expires.
			if u, err := s.Uploads().Get(ctx, res.File.Reference); err != nil || u.Owner != "kim" || u.Verdict != uploads.Clean {
				t.Errorf("%+v %v", u, err)
			}
			for _, other := range []string{"sam", "bo"} {
				if _, err := w.session(other).Uploads().Get(ctx, res.File.Reference); !errors.Is(err, stores.ErrNotFound) {
					t.Errorf("%s finds %v", other, err)
				}
			}
			if got := w.tries("sam", fmt.Sprintf("filing.file :paper %q", res.File.Reference)); got != "unknown-upload" {
				t.Errorf("sam files it: %s", got)
			}
			w.clock = w.clock.Add(8 * 24 * time.Hour)
			if _, err := s.Uploads().Get(ctx, res.File.Reference); !errors.Is(err, stores.ErrNotFound) {
				t.Errorf("a week later there is %v", err)
			}
		})
	}
}

// More rows than the limit are refused with a file as without one, and comma-separated
// values are told by the ending of the name.
func TestAFileHasTheLimitOfItsRead(t *testing.T) {
	t.Parallel()
	w := filingWorld(t)
	for range 4 {
		if _, err := w.run("kim", `filing.file :paper "upload://kims-letter"`); err != nil {
			t.Fatal(err)
		}
	}
	w.refused("kim", "filing.papers", "too-much")
	reply, err := w.run("kim", "filing.papers-plain")
	if err != nil {
		t.Fatal(err)
	}
	content, _ := made.Load(reply.Calls[0].Result.File.Reference)
	if want := "\ufeffFile\n" + strings.Repeat("upload://kims-letter\n", 4); string(content.([]byte)) != want {
		t.Errorf("%q, want %q", content, want)
	}
}

// scribe is a service that writes letters.
type scribe struct{ answer tools.Answer }

func (s *scribe) service(writes bool) tools.Servers {
	return tools.Services{Own: map[string]map[string]tools.Service{"scribe": {"write": {Writes: writes,
		Input: []byte(`{"type":"object"}`), Do: func(context.Context, tools.Call) (tools.Answer, error) { return s.answer, nil }}}}}
}

// A service of the program answers with a file, which is kept as any other: the caller is
// told of it, and told again under the same key.
func TestAServiceMakesAFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool    string
		content string
		want    string // "" is done
	}{
		"it reads":                      {"read-only: true", "Dear", ""},
		"it writes":                     {"idempotent: true", "Dear", ""},
		"it reads, and it is not kept":  {"read-only: true", "!", "failed"},
		"it writes, and it is not kept": {"idempotent: true", "!", "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := filingWorld(t)
			w.reg = loadYAML(t, map[string]string{"scribe.yaml": `domain: scribe
roles: [{name: keeper, description: Who files}]
verbs:
  - verb: write
    description: Write a letter.
    roles: [keeper]
    confirm: never
    tool: {server: scribe, name: write, ` + c.tool + `}
`})
			who := &scribe{tools.Answer{Text: "written", File: &tools.File{Name: "letter.pdf", Content: []byte(c.content)}}}
			var err error
			if w.engine, err = engine.New(w.reg, w.store, engine.Options{Clock: w.now, NewID: w.newID, Keep: w.keep, Tools: who.service(!strings.HasPrefix(c.tool, "read"))}); err != nil {
				t.Fatal(err)
			}
			s := w.session("kim")
			script, _ := dsl.Parse(dsl.NewSource("s.dsl", "scribe.write"))
			for range 2 {
				p, ds := s.Check(context.Background(), script)
				if p == nil {
					t.Fatal(told(ds))
				}
				reply, err := s.Run(context.Background(), p, engine.RunOptions{Key: "k"})
				var f *engine.Failure
				switch {
				case c.want == "":
					if err != nil || reply.Calls[0].Result.File == nil || reply.Calls[0].Result.File.Name != "letter.pdf" || reply.Calls[0].Result.Rows[0][0].Text() != "written" {
						t.Fatalf("%+v %v", reply, err)
					}
				case !errors.As(err, &f) || f.Unknown != (c.want == "unknown"):
					t.Fatalf("%+v %v", f, err)
				}
				who.answer.File = &tools.File{Name: "other.pdf", Content: []byte("!")} // it is not asked again
				if c.want != "" {
					break
				}
			}
		})
	}
}

// A tool that makes a file is asked once for a preview and the run that follows it. The file expires
// with the preview; once the run is carried out, or while somebody may still agree to it, it is kept.
// Where it is gone, the tool is asked again. (G15)
func TestTheFileOfAPreviewIsTheOneOfItsRun(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(testing.TB) *world{"sqlite": filingWorld, "postgres": postgresFilingWorld} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			w.reg = loadYAML(t, map[string]string{"scribe.yaml": `domain: scribe
roles: [{name: keeper, description: Who files}, {name: auditor, description: Who reads everything}]
verbs:
  - verb: write
    description: Write a letter.
    roles: [keeper]
    confirm: always
    tool: {server: scribe, name: write, read-only: true}
  - verb: write-for
    description: Write a letter that somebody else has to agree to.
    roles: [keeper]
    confirm: [{by: auditor, expires: 20d}]
    tool: {server: scribe, name: write, read-only: true}
`})
			asked := 0
			tool := tools.Services{Own: map[string]map[string]tools.Service{"scribe": {"write": {Input: []byte(`{"type":"object"}`), Do: func(context.Context, tools.Call) (tools.Answer, error) {
				asked++
				return tools.Answer{Text: "written", File: &tools.File{Name: "letter.pdf", Content: []byte("Dear")}}, nil
			}}}}}
			begins := func() *engine.Session {
				var err error
				if w.engine, err = engine.New(w.reg, w.store, engine.Options{Clock: w.now, NewID: w.newID, Keep: w.keep, Tools: tool}); err != nil {
					t.Fatal(err)
				}
				return w.session("kim")
			}
			holds := func(s *engine.Session, reference string, left time.Duration) {
				t.Helper()
				u, err := s.Uploads().Get(t.Context(), reference)
				if is := u.Expires.Sub(w.now()); err != nil || is < left-time.Hour || is > left+time.Hour {
					t.Errorf("the file is kept for %v, not %v: %v", is, left, err)
				}
			}
			file := func(r *receipt.Receipt, err error) string {
				t.Helper()
				if err != nil || r.Calls[0].Result.File == nil {
					t.Fatal(r, err)
				}
				return r.Calls[0].Result.File.Reference
			}
			const day, write = 24 * time.Hour, "scribe.write"
			s := begins()
			for _, elsewhere := range []bool{false, true} {
				asked = 0
				preview, err := s.Keep(t.Context(), w.program(s, write))
				first := file(preview, err)
				holds(s, first, day)
				w.later(20 * time.Hour)
				if elsewhere {
					s = begins()
				}
				done, err := s.Run(t.Context(), w.program(s, write), engine.RunOptions{Agreed: preview.Answer()})
				if reference := file(done, err); reference != first || asked != 1 {
					t.Errorf("elsewhere %t: the tool was asked %d times, and the file is %s, not %s", elsewhere, asked, reference, first)
				}
				if e := done.Calls[0].External[0]; !e.Previewed || e.Answered.IsNull() || done.Totals().External != 0 {
					t.Errorf("elsewhere %t: the receipt counts %+v", elsewhere, e)
				}
				holds(s, first, 7*day)
			}

			// Somebody else has longer to agree than a file lasts that nothing uses, from when they are asked.
			asked = 0
			before, err := s.Preview(t.Context(), w.program(s, "scribe.write-for"))
			holds(s, file(before, err), 20*day)
			w.later(10 * day)
			pending, err := s.Propose(t.Context(), w.program(s, "scribe.write-for"), engine.RunOptions{Agreed: before.Answer()})
			if err != nil {
				t.Fatal(err)
			}
			first := file(pending.Preview, nil)
			holds(s, first, 20*day)
			w.later(15 * day)
			begins()
			_, done, err := w.session("ada").Agree(t.Context(), pending.ID)
			if reference := file(done, err); reference != first || asked != 1 {
				t.Errorf("the tool was asked %d times, and the file is %s, not %s", asked, reference, first)
			}
			holds(w.session("kim"), first, 7*day)

			// Nobody agrees: nothing is left of it, and who asks again has another.
			s, asked = begins(), 0
			preview, err := s.Keep(t.Context(), w.program(s, write))
			first = file(preview, err)
			w.later(25 * time.Hour)
			if _, err := s.Uploads().Get(t.Context(), first); !errors.Is(err, stores.ErrNotFound) {
				t.Errorf("the file outlives its preview: %v", err)
			}
			if n, err := w.engine.Uploads().Forget(t.Context()); err != nil || n < 1 {
				t.Errorf("%d files are forgotten: %v", n, err)
			}

			// The file of a preview that is valid has to be there.
			asked = 0
			preview, err = s.Keep(t.Context(), w.program(s, write))
			first = file(preview, err)
			if _, err := w.engine.Uploads().Prune(t.Context(), uploads.Entity, stores.Cond{Op: stores.Eq, Path: stores.Path{Field: uploads.Entity.FieldIndex("id")}, Value: stores.NewString(strings.TrimPrefix(first, "upload://"))}); err != nil {
				t.Fatal(err)
			}
			done, err = s.Run(t.Context(), w.program(s, write), engine.RunOptions{Agreed: preview.Answer()})
			if reference := file(done, err); reference == first || asked != 2 {
				t.Errorf("the tool was asked %d times, and the file is %s", asked, reference)
			}
		})
	}
}
