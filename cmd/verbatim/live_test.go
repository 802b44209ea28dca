package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/conversation/eval"
)

// liveBudget is how many tokens a live run may cost, all its cases together.
const liveBudget = 50_000

// scoreLive holds the conversations of live.yaml with the model of an environment,
// and logs what each cost.
func scoreLive(t *testing.T, env func(string) string, budget int) (eval.Run, int) {
	t.Helper()
	dir := t.TempDir()
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	dataset := filepath.Join(dir, "conversation", "live.yaml")
	text, err := os.ReadFile(dataset)
	if err != nil {
		t.Fatal(err)
	}
	line := fmt.Appendf(nil, "budget: %d\n", liveBudget)
	if !bytes.Contains(text, line) {
		t.Fatalf("live.yaml does not keep to %d tokens", liveBudget)
	}
	if err := os.WriteFile(dataset, bytes.Replace(text, line, fmt.Appendf(nil, "budget: %d\n", budget), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	code := run(context.Background(), world{load: loadOnce, args: []string{"eval", "--json", "--palettes", filepath.Join(dir, "verbs"), dataset},
		in: strings.NewReader(""), out: &out, err: &said, env: env, now: time.Now, random: rand.Reader,
		terminal: func(world) (io.ReadCloser, bool) { return nil, false }})
	var got eval.Run
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("exit %d: %v\n%s%s", code, err, &out, &said)
	}
	for _, c := range got.Cases {
		t.Logf("%-14s %6d tokens, passed: %v %s", c.ID, c.Tokens, c.Pass, c.Problem)
		for _, v := range c.Checks {
			if !v.Pass {
				t.Logf("    expected that it %s; got %s", v.Check, v.Got)
			}
		}
	}
	t.Logf("%-14s %6d of %d tokens", "in all", got.Tokens, got.Budget)
	return got, code
}

// M30, M31, M32: a real model calls what it should, keeps to its prompt and goes
// through a whole task, within the budget. There is no model in CI.
func TestLive(t *testing.T) {
	if os.Getenv("VERBATIM_MODEL") == "" || os.Getenv("VERBATIM_BASE_URL") == "" {
		fmt.Fprintln(os.Stderr, "SKIPPED: no model was asked; VERBATIM_MODEL=NAME VERBATIM_BASE_URL=URL make live asks one")
		t.Skip("VERBATIM_MODEL and VERBATIM_BASE_URL name no model")
	}
	got, code := scoreLive(t, os.Getenv, liveBudget)
	if got.Tokens >= liveBudget {
		t.Errorf("it cost %d tokens, and %d are all that a run may cost", got.Tokens, liveBudget)
	}
	if code != exitDone || !got.OK {
		t.Errorf("exit %d, %d of %d checks passed", code, got.Passed, got.Checks)
	}
}

// M31: a live run counts what each case costs, sends nothing once its budget is
// spent, and fails then. The model is a play on a server that speaks the protocol.
func TestALiveRunKeepsItsBudget(t *testing.T) {
	t.Parallel()
	lines := []string{
		`{"call": "client__add-note", "args": {"request-id": "@pierre-dupont-source-of-wealth", "note": "Accountant is on it", "expected-date": "2025-01-03"}}`,
		tells("@pierre-dupont-source-of-wealth"),
		tells("client.get-status"),
		`{"call": "client__provide-info", "args": {"request-id": "@maria-schmidt-date-of-birth", "info-type": "DATE_OF_BIRTH", "collected-data": {"date_of_birth": "1972-03-15"}}}`,
		says("WELCOME"),
		tells("client.get-status"),
	}
	score := func(budget int) (eval.Run, int, *stage) {
		s := perform(t, lines)
		env := map[string]string{"VERBATIM_MODEL": "scripted", "VERBATIM_BASE_URL": s.URL}
		got, code := scoreLive(t, func(name string) string { return env[name] }, budget)
		sum := 0
		for _, c := range got.Cases {
			sum += c.Tokens
		}
		if sum != got.Tokens || len(got.Cases) != 3 || len(got.Categories) != 3 {
			t.Errorf("%d tokens of cases, %d in all, %d cases, %d categories", sum, got.Tokens, len(got.Cases), len(got.Categories))
		}
		return got, code, s
	}
	if got, code, s := score(liveBudget); code != exitDone || !got.OK || got.Tokens == 0 || got.Tokens >= liveBudget || len(s.asked) != len(lines) {
		t.Errorf("exit %d, ok %v, %d tokens, asked %d times", code, got.OK, got.Tokens, len(s.asked))
	}
	const little = 14_000
	if got, code, s := score(little); code != exitInput || got.OK || got.Tokens == 0 || got.Tokens > little || len(s.asked) == 0 || len(s.asked) >= len(lines) {
		t.Errorf("exit %d, ok %v, %d tokens, asked %d times", code, got.OK, got.Tokens, len(s.asked))
	}
}
