package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/intent"
	"verbatim/runtime/conversation/phrases"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/domains/confidence"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/intake"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/runtime/jobs/workflow"
	stated "verbatim/runtime/tests/told"
	"verbatim/stores"
	"verbatim/stores/files"
)

// What the command tells of a state is so (G10); claims.txt of package values names these tests.

// A verdict is a scanner that finds what it is told.
type verdict struct {
	harmful bool
	fails   error
}

func (v verdict) Scan(context.Context, io.Reader) (intake.Finding, error) {
	return intake.Finding{Harmful: v.harmful, What: "Eicar"}, v.fails
}

func (verdict) String() string { return "verdict" }

// G10: whether a file was sent, or kept, is told from what became of it.
func TestWhatChatTellsOfFilesIsSo(t *testing.T) {
	t.Parallel()
	h := clientBank(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "passport.pdf"), []byte("%PDF-1.4 a passport"), 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { folder.Close() })
	kept, err := files.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	session, err := h.engine.Visit(t.Context(), h.who, engine.Visit{Name: "files"})
	if err != nil {
		t.Fatal(err)
	}
	send := func(name string, v verdict, store files.Store) string {
		t.Helper()
		var out bytes.Buffer
		a := &app{world: world{out: &out, err: &out}}
		s := &sender{folder, &intake.Service{Engine: h.engine, Files: store, Scanner: v, Clock: func() time.Time { return h.now }}, session}
		said, err := a.sendFile(t.Context(), s, values.English, name)
		if err != nil || (said == "") == (name == "passport.pdf" && !v.harmful && store == files.Store(kept)) {
			t.Errorf("%q, %v", said, err)
		}
		return out.String()
	}
	sent := send("passport.pdf", verdict{}, kept)
	harmful := send("passport.pdf", verdict{harmful: true}, kept)
	missing := send("other.pdf", verdict{}, kept)
	lost := send("passport.pdf", verdict{}, full{kept})
	stated.Check(t, "chat/was-sent", sent, missing, "passport.pdf")
	stated.Check(t, "chat/not-sent", missing, sent)
	stated.Check(t, "chat/harmful", harmful, sent)
	stated.Check(t, "chat/file-lost", lost, harmful)
}

// A full store of files keeps nothing more.
type full struct{ files.Store }

func (full) Take(context.Context, io.Reader, int64) (*files.Taken, error) {
	return nil, errors.New("the disk is full")
}

// G10: whether something was taken for an answer, and whether anything was said.
func TestWhatChatTellsOfAnswersIsSo(t *testing.T) {
	t.Parallel()
	h := clientBank(t)
	session, err := h.engine.Visit(t.Context(), h.who, engine.Visit{Name: "answers"})
	if err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return h.now }
	c, err := dialog.New(dialog.Options{Registry: h.reg, Session: session, Clock: clock, Zone: time.UTC, Person: session.Person().Label, Interpreter: phrases.New(h.reg, intent.New(h.reg), session, clock, time.UTC)})
	if err == nil {
		err = c.Resume(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	say := func(text string) string {
		t.Helper()
		a, err := c.Say(t.Context(), dialog.Message{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		return a.Text
	}
	why := func() string {
		t.Helper()
		var out bytes.Buffer
		if err := (&app{}).why(c, &out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	before := why()
	say("start the questions about Pierre")
	taken := say("a business")
	told := why()
	stated.Check(t, "chat/no-why", before, told)
	stated.Check(t, "dialog/not-an-answer", say("one moment please"), taken)
	say("What's Cooking Ltd")
	stated.Check(t, "dialog/not-taken", say("no"), taken)
}

// G10: that somebody waits for an agreement is told while it is waited for.
func TestWhatAMailTellsOfAnAgreementIsSo(t *testing.T) {
	t.Parallel()
	h := clientBank(t)
	ctx := t.Context()
	analyst, err := h.engine.Session(ctx, "t.weber")
	if err != nil {
		t.Fatal(err)
	}
	script, _ := dsl.Parse(dsl.NewSource("told", `review.waive :request-id @pierre-dupont-source-of-wealth :reason "The register has it"`))
	p, ds := analyst.Check(ctx, script)
	if p == nil {
		t.Fatal(ds)
	}
	preview, err := analyst.Preview(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = analyst.Propose(ctx, p, engine.RunOptions{Agreed: preview.Answer()}); err != nil {
		t.Fatal(err)
	}
	other, err := h.engine.Session(ctx, "a.nowak")
	if err != nil {
		t.Fatal(err)
	}
	pending, err := other.Pending(ctx)
	if err != nil || len(pending) != 1 {
		t.Fatal(pending, err)
	}
	letter := func() string {
		t.Helper()
		l, err := askedLetter(ctx, h.store, &engine.Message{Body: fmt.Sprintf(`{"asker": "T. Weber", "confirmation": %q, "to": "a.nowak"}`, pending[0].ID)}, "", func(name string) (string, string, error) { return name + "@bank.example", "en", nil })
		if err != nil {
			return err.Error()
		}
		return l.Subject
	}
	waits := letter()
	if err := other.Decline(ctx, pending[0].ID, "not now"); err != nil {
		t.Fatal(err)
	}
	stated.Check(t, "serve/asked", waits, letter())
}

// G10: how many steps of a plan are done, how often one was tried, and what was assessed.
func TestWhatIsToldOfPlansIsSo(t *testing.T) {
	t.Parallel()
	plan := &workflow.Plan{Status: "RUNNING", Steps: []*workflow.Step{{Name: "a", Status: "DONE"}, {Name: "b", Status: "RUNNING"}}}
	one := drawnPlan(plan, "", false, values.English).Says
	plan.Steps[1].Status = "DONE"
	stated.Check(t, "plans/done-of", one, drawnPlan(plan, "", false, values.English).Says, "1", "2")
	e := &stores.Entity{}
	for _, name := range []string{"number", "call", "outcome", "score", "factors", "reason"} {
		e.Fields = append(e.Fields, stores.Field{Name: name})
	}
	row := &serviceaccount.Row{Entity: e, Values: make([]stores.Value, len(e.Fields))}
	row.Values[e.FieldIndex("number")] = stores.NewInt(1)
	tries := func(n int) string {
		return drawnTries("a", slices.Repeat([]*serviceaccount.Row{row}, n), values.English).Says
	}
	stated.Check(t, "plans/attempted", tries(2), tries(3), "2")
	figures := func(r confidence.Reliability) string { return drawnFigures(&r, values.English).Says }
	calm := figures(confidence.Reliability{Judged: 60})
	stated.Check(t, "plans/reliable-says", calm, figures(confidence.Reliability{Judged: 61}), "60")
	stated.Check(t, "plans/alarm", figures(confidence.Reliability{Judged: 60, Alarm: true, Alarmed: 9}), calm, "9")
}
