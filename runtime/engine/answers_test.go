package engine_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores"
)

// answering is a world on both stores in which what a tool answers becomes rows.
func answering(t *testing.T, fn func(t *testing.T, w *world, shop *workshop)) {
	text, err := os.ReadFile("testdata/tools/answers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	worldsOfPalettes(t, map[string]string{"lending.yaml": lendingText(t), "answers.yaml": string(text)}, func(t *testing.T, w *world) {
		shop := newWorkshop()
		w.tools(shop)
		fn(t, w, shop)
	})
}

const orderKept = `kept.order :item-id @drill :loan-id @saw-bob`

// X5: what a tool that changes something answers is written down once it has answered, as
// the tool's, beside what was agreed to; the preview says what will be.
func TestTheAnswerOfAToolIsKept(t *testing.T) {
	t.Parallel()
	answering(t, func(t *testing.T, w *world, shop *workshop) {
		s := w.session("kim")
		p := w.program(s, orderKept)
		preview, err := s.Preview(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		var then []string
		for _, f := range preview.Calls[0].External[0].Then {
			then = append(then, f.Op+" "+f.What+" "+strings.Join(f.Fields, ","))
		}
		equal(t, then, []string{"update loan note", "insert reminder loan,remind_on,text", " board "})
		if rows := preview.Calls[0].Rows; len(rows) != 1 || rows[0].Entity != "item" || len(shop.calls) > 0 {
			t.Errorf("a preview shows %+v", rows)
		}
		reply, err := s.Run(t.Context(), p, engine.RunOptions{Agreed: preview.ID})
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for _, r := range reply.Calls[0].Rows {
			rows = append(rows, r.Op+" "+r.Entity)
		}
		equal(t, rows, []string{"update item", "update loan", "insert reminder"})
		if n := reply.Calls[0].Notices; len(n) != 1 || n[0].Target != "board" || len(shop.calls) != 1 {
			t.Errorf("%+v, asked %q", n, shop.asked())
		}
		if got := w.get("loan", id(31), "note"); got.Text() != "W-1" {
			t.Errorf("kept %q", got.Text())
		}
		// O: where a value comes from is kept with the field.
		var marks []string
		e := w.entity("loan")
		if err := w.store.View(t.Context(), stores.Scope{All: true}, func(r stores.Reader) error {
			row, err := r.Get(t.Context(), e, id(31))
			for _, m := range row.Marks {
				marks = append(marks, e.Fields[m.Field].Name+" "+m.Origin)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(marks, []string{"note tool=workshop.order"}) {
			t.Errorf("it comes from %q", marks)
		}
		equal(t, w.outcomes(), []string{"attempted kept.order", "ok kept.order changes"})
		// A row that is no part of what was agreed to may change meanwhile.
		shop.answer = func(n int, c tools.Call) (tools.Answer, error) {
			return tools.Answer{Structured: `{"number":"W-9","price":100,"ready":"2030-01-01"}`}, nil
		}
		shop.before = func() { w.set("item", 22, "worth", decimal("81")) }
		w.set("item", 21, "status", str("IN"))
		equal(t, w.done("kim", orderKept), []string{`~ item ` + id(21).Text() + ` status="OUT"`, `~ item ` + id(22).Text() + ` worth=81`, `~ loan ` + id(31).Text() + ` note="W-9"`})
	})
}

// What was agreed to and does not hold any more is not done, and what the tool answered is
// told, and kept under the key of the run.
func TestTheAnswerOfAToolIsToldWhereRowsMoved(t *testing.T) {
	t.Parallel()
	answering(t, func(t *testing.T, w *world, shop *workshop) {
		shop.before = func() { w.set("item", 21, "worth", decimal("81")) }
		s := w.session("kim")
		p := w.program(s, orderKept)
		_, err := s.Run(t.Context(), p, engine.RunOptions{Key: "k"})
		if got := codeOf(t, err); got != "tool-alone" {
			t.Fatalf("%s: %v", got, err)
		}
		var f *engine.Failure
		if !errors.As(err, &f) || !slices.Contains(f.Told.Notes, `it answered: number "W-1", price 12.50, ready 2025-02-01`) {
			t.Errorf("told %q", f.Told.Notes)
		}
		shop.before = nil
		if _, err := s.Run(t.Context(), p, engine.RunOptions{Key: "k"}); err != nil || len(shop.calls) != 1 {
			t.Fatalf("%v, asked %d times", err, len(shop.calls))
		}
		if got := w.get("loan", id(31), "note"); got.Text() != "W-1" {
			t.Errorf("kept %q", got.Text())
		}
	})
}

// What a tool that only reads answers is known to a preview, and what is done with it is
// agreed to like everything else: another answer is another preview.
func TestRowsOfATool(t *testing.T) {
	t.Parallel()
	answering(t, func(t *testing.T, w *world, shop *workshop) {
		const script = `kept.note-prices :loan-id @saw-bob :text "all"`
		s := w.session("kim")
		p := w.program(s, script)
		preview, err := s.Preview(t.Context(), p)
		if err != nil || len(preview.Calls[0].Rows) != 2 || len(preview.Calls[0].External[0].Then) > 0 {
			t.Fatalf("%+v %v", preview, err)
		}
		answer := shop.answer
		shop.answer = func(int, tools.Call) (tools.Answer, error) {
			return tools.Answer{Structured: `{"prices":[{"service_id":"saw","price":3.10,"since":null},{"service_id":"hammer","price":4,"since":"2024-01-01"}]}`}, nil
		}
		// The tool describes itself otherwise, so that the answer of the preview is not used.
		spec := shop.specs["prices"]
		shop.specs["prices"] = tools.Spec{Digest: "2", Accepted: "2"}
		if _, err := s.Run(t.Context(), p, engine.RunOptions{Agreed: preview.ID}); codeOf(t, err) != "stale-preview" {
			t.Errorf("another answer: %v", err)
		}
		shop.answer, shop.specs["prices"] = answer, spec
		if _, err := s.Run(t.Context(), p, engine.RunOptions{Agreed: preview.ID}); err != nil {
			t.Fatal(err)
		}
		if got := w.done("kim", script); len(got) != 2 || !strings.Contains(got[0], "remind_on=2024-01-01") || !strings.Contains(got[1], `text="saw"`) {
			t.Errorf("%q", got)
		}
		for n, want := range map[int]string{0: "", 1000: "", 1001: "tool-answer"} {
			shop.answer = func(int, tools.Call) (tools.Answer, error) {
				return tools.Answer{Structured: `{"prices":[` + strings.TrimSuffix(strings.Repeat(`{"service_id":"saw","price":3.10,"since":null},`, n), ",") + `]}`}, nil
			}
			r, err := w.run("kim", script)
			if want != "" {
				if codeOf(t, err) != want {
					t.Errorf("%d rows: %v", n, err)
				}
			} else if err != nil || len(r.Calls[0].Rows) != n {
				t.Errorf("%d rows: %v", n, err)
			}
		}
		// A null where a row needs a value.
		shop.answer = func(int, tools.Call) (tools.Answer, error) {
			return tools.Answer{Structured: `{"prices":[{"service_id":null,"price":3.10,"since":null}]}`}, nil
		}
		w.refused("kim", script, "value-needed")
	})
}

// A palette says how long a tool may take, how often it is asked and how long to wait in
// between. No wait outlives whoever asked.
func TestAToolIsAskedAgain(t *testing.T) {
	t.Parallel()
	answering(t, func(t *testing.T, w *world, shop *workshop) {
		var waits []time.Duration
		var err error
		if w.engine, err = engine.New(w.reg, w.store, engine.Options{Clock: w.now, NewID: w.newID, Tools: shop, Sleep: func(_ context.Context, d time.Duration) { waits = append(waits, d) }}); err != nil {
			t.Fatal(err)
		}
		answer := shop.answer
		shop.answer = func(n int, c tools.Call) (tools.Answer, error) {
			if n < 4 {
				return tools.Answer{}, errCut
			}
			return answer(n, c)
		}
		w.done("kim", `kept.ask-often :text "x"`)
		if !slices.Equal(waits, []time.Duration{time.Second, 3 * time.Second, 5 * time.Second}) || len(shop.calls) != 5 {
			t.Errorf("waited %v, asked %d times", waits, len(shop.calls))
		}
		shop.answer = func(int, tools.Call) (tools.Answer, error) { return tools.Answer{}, errCut }
		w.refused("kim", `kept.ask-often :text "y"`, "tool-silent")
		if len(shop.calls) != 9 {
			t.Errorf("asked %d times", len(shop.calls))
		}
		for _, left := range shop.left {
			if left <= 0 || left > time.Second {
				t.Errorf("it has %s", left)
			}
		}
	})
}
