package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/conversation/eval"
	"verbatim/runtime/tests/norace"
)

// A stage is a server that speaks the protocol of chat completions over a real
// connection, and says what a play has it say: one answer after the other.
type stage struct {
	*httptest.Server
	mu    sync.Mutex
	lines []string // a text, or calls as {"call": …}, each on a line
	asked []string
}

func perform(t testing.TB, lines []string) *stage {
	t.Helper()
	s := &stage{lines: lines}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		n := len(s.asked)
		s.asked = append(s.asked, string(body))
		if n >= len(s.lines) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"the play is over"}}`)
			return
		}
		message := map[string]any{"role": "assistant", "content": s.lines[n]}
		finish := "stop"
		if strings.HasPrefix(s.lines[n], "{") {
			finish = "tool_calls"
			var called []any
			for i, line := range strings.Split(s.lines[n], "\n") {
				var call struct {
					Call string         `json:"call"`
					Args map[string]any `json:"args"`
				}
				if err := json.Unmarshal([]byte(line), &call); err != nil {
					t.Error(err)
				}
				args, _ := json.Marshal(call.Args)
				if refs := referring.FindAll(body, -1); len(refs) > 0 {
					args = bytes.ReplaceAll(args, []byte(`"SENT"`), []byte(`"`+string(refs[len(refs)-1])+`"`))
				}
				called = append(called, map[string]any{"index": i, "id": fmt.Sprintf("call-%d-%d", n+1, i), "type": "function", "function": map[string]any{"name": call.Call, "arguments": string(args)}})
			}
			message = map[string]any{"role": "assistant", "content": "", "tool_calls": called}
		}
		usage := map[string]any{"prompt_tokens": len(body) / 4, "completion_tokens": len(s.lines[n]) / 4, "total_tokens": (len(body) + len(s.lines[n])) / 4}
		if strings.Contains(string(body), `"stream":true`) {
			streamed(w, message, finish, usage)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"id": "x", "object": "chat.completion", "model": "scripted",
			"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}},
			"usage":   usage,
		})
	}))
	t.Cleanup(s.Close)
	return s
}

// streamed says a message a few characters at a time.
func streamed(w http.ResponseWriter, message map[string]any, finish string, usage map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(choices []any, usage any) {
		text, _ := json.Marshal(map[string]any{"id": "x", "model": "scripted", "choices": choices, "usage": usage})
		_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
	}
	for rest := []rune(message["content"].(string)); len(rest) > 0; {
		n := min(7, len(rest))
		send([]any{map[string]any{"index": 0, "delta": map[string]any{"content": string(rest[:n])}}}, nil)
		rest = rest[n:]
	}
	delta := map[string]any{}
	if calls, ok := message["tool_calls"].([]any); ok {
		delta["tool_calls"] = calls
	}
	send([]any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}, nil)
	send([]any{}, usage)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// What a model replies: facts to tell, a courtesy, a question.
func tells(facts ...string) string {
	list, _ := json.Marshal(facts)
	return `{"call": "reply__tell", "args": {"facts": ` + string(list) + `}}`
}

func says(what string) string { return `{"call": "reply__say", "args": {"what": "` + what + `"}}` }

func asksFor(verb, argument string, choices ...string) string {
	list, _ := json.Marshal(choices)
	return `{"call": "reply__ask", "args": {"verb": "` + verb + `", "argument": "` + argument + `", "choices": ` + string(list) + `}}`
}

// clara is what Clara says in the conversation of the example, and what a model
// answers; SENT is the file that she sent last. Whoever changes a prompt records it anew, with -update.
var clara = struct{ says, model []string }{
	says: []string{
		"Hi, what do you still need from us?",
		"Maria was born March 15, 1972. I have Thomas's passport here.",
		"/send passport.pdf",
		"Still waiting on our accountant. Should have them next week.",
		"Perfect",
	},
	model: []string{
		says("GREETING") + "\n" + tells("client.get-outstanding"),
		`{"call": "client__provide-info", "args": {"request-id": "@maria-schmidt-date-of-birth", "info-type": "DATE_OF_BIRTH", "collected-data": {"date_of_birth": "1972-03-15"}}}` + "\n" + asksFor("client.submit-document", "file-reference"),
		`{"call": "client__submit-document", "args": {"request-id": "@thomas-muller-identity", "document-type": "PASSPORT", "file-reference": "SENT"}}`,
		tells("client.get-status"),
		`{"call": "client__add-note", "args": {"request-id": "@pierre-dupont-source-of-wealth", "note": "Waiting on accountant", "expected-date": "2025-01-03"}}` + "\n" + tells("client.get-status"),
		tells("client.get-status"),
	},
}

// spokenIn runs `verbatim chat` in process, in a directory of the example, at some
// time.
func spokenIn(t testing.TB, at time.Time, dir, in string, args ...string) (out, said string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	env := func(name string) string { return map[string]string{"VERBATIM_SCAN": "none"}[name] }
	w := world{load: loadOnce, args: append([]string{"chat"}, args...), in: strings.NewReader(in), out: &o, err: &e, env: env,
		now: func() time.Time { return at }, random: rand.Reader, terminal: func(world) (io.ReadCloser, bool) { return nil, false }}
	w.args = append(w.args, "--palettes", filepath.Join(dir, "verbs"), "--store", filepath.Join(dir, "verbatim.db"), "--as", "clara", "--send-from", dir)
	code = run(context.Background(), w)
	return o.String(), e.String(), code
}

// 54: chat --explain-turn shows each request as it was sent and each answer as it was received, with the
// key taken out and sensitive values masked: those that the model writes, and the words of the person
// that hold them.
func TestWhatAModelIsSentIsShown(t *testing.T) {
	t.Parallel()
	const key = "sk-secret-1234567890"
	dir := t.TempDir()
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	s := perform(t, append(slices.Clone(clara.model[:2]), "The key is "+key+"."))
	var o, e bytes.Buffer
	env := map[string]string{"VERBATIM_SCAN": "none", "VERBATIM_MODEL_KEY": key}
	code := run(context.Background(), world{load: loadOnce, in: strings.NewReader(strings.Join(clara.says[:2], "\n") + "\nWhat else is there?\n"), out: &o, err: &e, env: func(name string) string { return env[name] },
		now: func() time.Time { return morning }, random: rand.Reader, terminal: func(world) (io.ReadCloser, bool) { return nil, false },
		args: []string{"chat", "--explain-turn", "--base-url", s.URL, "--model", "scripted", "--palettes", filepath.Join(dir, "verbs"), "--store", filepath.Join(dir, "verbatim.db"), "--as", "clara"}})
	told := ""
	for line := range strings.Lines(e.String()) { // what was said to the turn is told to its own person
		if !regexp.MustCompile(`^(said|matched) |^ +in the model's own words`).MatchString(line) {
			told += line
		}
	}
	if code != 0 {
		t.Fatalf("exit %d: %s", code, told)
	}
	for _, want := range []string{"request 1 of 1, as it was sent:\n{", `"model": "scripted"`, `"tools": [`, "answer, as it was received (HTTP 200):\ndata: {", "Hi, what do you still need from us?",
		"answer, put together with sensitive values masked (HTTP 200):", "client__provide-info", "@maria-schmidt-date-of-birth", "(sensitive)", "The key is (key)."} {
		if !strings.Contains(told, want) {
			t.Errorf("it is not told: %s", want)
		}
	}
	for _, never := range []string{"1972-03-15", "March 15", key, "Authorization"} {
		if strings.Contains(told, never) {
			t.Errorf("it is told: %s", told[max(0, strings.Index(told, never)-300):strings.Index(told, never)+60])
		}
	}
}

const (
	claraRecording = "../../examples/client/conversation/clara.jsonl"
	claraSays      = "../../examples/client/conversation/clara.txt"
	claraHears     = "../../examples/client/conversation/clara.out"
)

// O26–O29, U29, X15: the conversation of the example, over a real connection, then
// as the play has it, at whatever time and with whatever reference her file has:
// four messages and a file, nothing to confirm, from 87 % to 94 %, and the same
// words each time.
func TestClaraTalks(t *testing.T) {
	t.Parallel()
	recording := claraRecording
	dir := t.TempDir()
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	s := perform(t, clara.model)
	record := filepath.Join(dir, "record.jsonl")
	says := strings.Join(clara.says, "\n") + "\n"
	live, said, code := spokenIn(t, morning, dir, says, "--base-url", s.URL, "--model", "scripted", "--record", record)
	if code != 0 || said != "" {
		t.Fatalf("exit %d: %s\n%s", code, said, live)
	}
	if n := len(s.asked); n != len(clara.model) {
		t.Errorf("the model was asked %d times", n)
	}
	if *update {
		for from, to := range map[string]string{record: claraRecording} {
			text, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range map[string]string{claraSays: says, claraHears: live} {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	want, err := os.ReadFile(claraHears)
	if err != nil {
		t.Fatal(err)
	}
	if live != string(want) {
		t.Errorf("live, she hears otherwise (-update records what she hears now):\n%s", live)
	}
	again := t.TempDir()
	if err := layOut(again); err != nil {
		t.Fatal(err)
	}
	replayed, said, code := spokenIn(t, morning.AddDate(1, 2, 3), again, says, "--replay", recording)
	if code != 0 || said != "" || replayed != string(want) {
		t.Errorf("replayed, exit %d, %s (where a palette or a prompt was changed, -update records it anew):\n%s", code, said, replayed)
	}
	for _, fact := range []string{"87 %", "94 %", "15 March 1972", "3 January 2025"} {
		if !strings.Contains(live, fact) {
			t.Errorf("nothing is told of %s", fact)
		}
	}
	if strings.Contains(live, "Answer yes or no") {
		t.Error("she was asked to confirm something")
	}
}

// SAFE-C7: what asks is put to the person, whose own plain yes does it; the
// journal says who agreed, and the model was not asked about that.
func TestAChatAsks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "verbs"), os.DirFS("../../runtime/conversation/dialog/testdata/house")); err != nil {
		t.Fatal(err)
	}
	rows := filepath.Join(dir, "rows.sql")
	if err := os.WriteFile(rows, []byte(`INSERT INTO flat (flat_id, name) VALUES ('00000000-0000-4000-8000-000000000001', 'Garden Flat');
INSERT INTO repair (repair_id, flat, title, status) VALUES ('00000000-0000-4000-8000-000000000011', '00000000-0000-4000-8000-000000000001', 'Boiler', 'ORDERED');
INSERT INTO verbatim_principal (name, label) VALUES ('ann', 'Ann'), ('keeper', 'Keeper');
INSERT INTO verbatim_grant (principal, role) VALUES ('keeper', 'journal-keeper');
INSERT INTO verbatim_grant (principal, role) VALUES ('ann', 'tenant');
INSERT INTO verbatim_grant (principal, entity, key) VALUES ('ann', 'flat', '00000000-0000-4000-8000-000000000001');
`), 0o666); err != nil {
		t.Fatal(err)
	}
	command := func(in string, args ...string) (string, string, int) {
		var o, e bytes.Buffer
		args = append(args, "--palettes", filepath.Join(dir, "verbs"), "--store", filepath.Join(dir, "house.db"))
		code := run(context.Background(), world{load: loadOnce, args: args, in: strings.NewReader(in), out: &o, err: &e, env: func(string) string { return "" },
			now: func() time.Time { return morning }, random: rand.Reader, terminal: func(world) (io.ReadCloser, bool) { return nil, false }})
		return o.String(), e.String(), code
	}
	for _, args := range [][]string{{"migrate"}, {"migrate", "--data", rows}} {
		if _, said, code := command("", args...); code != 0 {
			t.Fatal(said)
		}
	}
	cancel := `{"call": "house__cancel", "args": {"repair-id": "@boiler"}}`
	s := perform(t, []string{cancel, tells("@boiler"), cancel})
	out, said, code := command("Please cancel the boiler\nno thanks\nHow is it?\ncancel it after all\nyes, but tomorrow?\nyes\n yes, do it \n",
		"chat", "--as", "ann", "--base-url", s.URL, "--model", "x", "--json")
	if code != 0 {
		t.Fatal(said)
	}
	if n := len(s.asked); n < 3 {
		t.Errorf("the model was asked %d times", n)
	}
	var texts []string
	for line := range strings.Lines(out) {
		var a struct {
			Text string            `json:"text"`
			Asks []json.RawMessage `json:"asks"`
			Done []json.RawMessage `json:"done"`
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, fmt.Sprintf("%d asked, %d done: %.40s", len(a.Asks), len(a.Done), a.Text))
	}
	want := []string{"1 asked, 0 done", "0 asked, 0 done", "0 asked, 0 done", "1 asked, 0 done", "1 asked, 0 done", "1 asked, 0 done", "0 asked, 1 done"}
	if len(texts) != len(want) {
		t.Fatal(texts)
	}
	for i := range want {
		if !strings.HasPrefix(texts[i], want[i]) {
			t.Errorf("answer %d: %s, want %s", i+1, texts[i], want[i])
		}
	}
	if strings.Contains(strings.Join(s.asked, ""), "yes, do it") {
		t.Error("a model was asked about an agreement")
	}
	log, _, _ := command("", "log", "show", "--as", "keeper")
	if !strings.Contains(log, "declined\thouse.cancel") || !strings.Contains(log, "ok\thouse.cancel") {
		t.Error(log)
	}
}

// What a model answers to the dataset of the example.
var asks = []string{
	tells("client.get-status"),
	`{"call": "client__get-request-detail", "args": {"request-id": "@pierre-dupont-source-of-wealth"}}` + "\n" + tells("client.get-request-detail"),
	`{"call": "client__add-note", "args": {"request-id": "@pierre-dupont-source-of-wealth", "note": "Accountant is on it", "expected-date": "2025-01-03"}}` + "\n" + tells("client.get-status"),
	asksFor("client.submit-document", "request-id", "@pierre-dupont-source-of-wealth", "@thomas-muller-identity"),
	tells("@thomas-muller-identity"),
	tells("@maria-schmidt-date-of-birth"),
	says("NOT_UNDERSTOOD"),
	says("NOT_POSSIBLE"),
}

const asksPlay = "../../examples/client/conversation/asks.jsonl"

// X15, M31, M33, M44: a dataset is scored check by check, alive and as a
// play, with the same verdicts; below its threshold, or over its budget, it
// fails.
func TestADatasetIsScored(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	dir := t.TempDir()
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) (string, string, int) {
		var o, e bytes.Buffer
		code := run(context.Background(), world{load: loadOnce, args: append([]string{"eval"}, args...), in: strings.NewReader(""), out: &o, err: &e, env: func(string) string { return "" },
			now: func() time.Time { return morning }, random: rand.Reader, terminal: func(world) (io.ReadCloser, bool) { return nil, false }})
		return o.String(), e.String(), code
	}
	palettes := filepath.Join(dir, "verbs")
	dataset := filepath.Join(dir, "conversation", "asks.yaml")
	s := perform(t, asks)
	record := filepath.Join(dir, "asks.jsonl")
	live, said, code := command("--palettes", palettes, "--base-url", s.URL, "--model", "scripted", "--record", record, dataset)
	if code != 0 || said != "" || len(s.asked) != len(asks) {
		t.Fatalf("exit %d, asked %d times: %s\n%s", code, len(s.asked), said, live)
	}
	if *update {
		text, err := os.ReadFile(record)
		if err == nil {
			err = os.WriteFile(asksPlay, text, 0o644)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "conversation", "asks.jsonl"), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	report := filepath.Join(dir, "report.xml")
	replayed, said, code := command("--palettes", palettes, "--junit", report, dataset)
	if code != 0 || said != "" || replayed != live {
		t.Errorf("replayed, exit %d: %s\n%s\nlive:\n%s (where a palette or a prompt was changed, -update records it anew)", code, said, replayed, live)
	}
	if xml, err := os.ReadFile(report); err != nil || !strings.Contains(string(xml), `<testsuite name="WHY-1" tests="3" failures="0">`) {
		t.Errorf("%v\n%s", err, xml)
	}

	// A model that makes things up, and one that costs too much.
	worse := perform(t, []string{
		"You are nearly there.",
		"It is our policy.",
		"Noted for Monday.",
		`{"call": "client__add-note", "args": {"request-id": "@thomas-muller-identity", "note": "tomorrow"}}`, "Noted.",
		"A passport.", "Thomas again.", "Soon.", "They owe us a lot, says Jonas.",
	})
	out, _, code := command("--palettes", palettes, "--base-url", worse.URL, "--model", "scripted", "--junit", report, "--json", dataset)
	var got eval.Run
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if code != exitInput || got.OK || got.Score >= 90 || got.Score == 0 { // what it makes up reaches nobody
		t.Errorf("exit %d, %d %%", code, got.Score)
	}
	// F32: a build server is told of each check that failed, and how many did.
	xml, err := os.ReadFile(report)
	if failures := strings.Count(string(xml), "<failure message=\"got "); err != nil || failures == 0 || failures != got.Checks-got.Passed ||
		!strings.Contains(string(xml), fmt.Sprintf(`tests="%d" failures="%d">`, got.Checks, failures)) {
		t.Errorf("%v, %d failures of %d:\n%s", err, failures, got.Checks-got.Passed, xml)
	}
	for _, c := range got.Cases {
		failed := 0
		for _, v := range c.Checks {
			if !v.Pass {
				failed++
			}
		}
		if want := fmt.Sprintf(`<testsuite name="%s" tests="%d" failures="%d">`, c.ID, len(c.Checks), failed); !strings.Contains(string(xml), want) {
			t.Errorf("no %s in\n%s", want, xml)
		}
	}
	text, err := os.ReadFile(dataset)
	if err != nil {
		t.Fatal(err)
	}
	poor := filepath.Join(dir, "conversation", "poor.yaml")
	if err := os.WriteFile(poor, bytes.Replace(text, []byte("budget: 50000\n"), []byte("budget: 12000\n"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	s = perform(t, asks)
	out, _, code = command("--palettes", palettes, "--base-url", s.URL, "--model", "scripted", "--json", poor)
	got = eval.Run{}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	sum := 0
	for i := range got.Cases {
		sum += got.Cases[i].Tokens
	}
	if code != exitInput || got.OK || got.Budget != 12_000 || got.Tokens == 0 || got.Tokens > got.Budget || sum != got.Tokens || len(got.Cases) != 7 || len(s.asked) == 0 || len(s.asked) > 3 {
		t.Errorf("exit %d after %d tokens, %d of them in cases, and %d questions: %s", code, got.Tokens, sum, len(s.asked), out)
	}
}

// What a model answers to the workflow of the example.
var planned = []string{
	says("GREETING") + "\n" + tells("client.get-outstanding"),
	`{"call": "client__provide-info", "args": {"request-id": "@maria-schmidt-date-of-birth", "info-type": "DATE_OF_BIRTH", "collected-data": {"date_of_birth": "1972-03-15"}}}`,
	tells("client.get-status"),
	`{"call": "client__add-note", "args": {"request-id": "@pierre-dupont-source-of-wealth", "note": "Waiting on accountant", "expected-date": "2025-01-03"}}`,
	says("WELCOME"),
	tells("client.get-status"),
}

// M30, M32, X15: a whole workflow, as a category of its own: alive over a real
// connection, within the budget of a run, and as a play.
func TestAWorkflowIsScored(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	dir := t.TempDir()
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) (string, string, int) {
		var o, e bytes.Buffer
		code := run(context.Background(), world{load: loadOnce, args: append([]string{"eval", "--palettes", filepath.Join(dir, "verbs")}, args...), in: strings.NewReader(""), out: &o, err: &e, env: func(string) string { return "" },
			now: func() time.Time { return morning }, random: rand.Reader, terminal: func(world) (io.ReadCloser, bool) { return nil, false }})
		return o.String(), e.String(), code
	}
	dataset := filepath.Join(dir, "conversation", "workflow.yaml")
	s := perform(t, planned)
	record := filepath.Join(dir, "workflow.jsonl")
	live, said, code := command("--base-url", s.URL, "--model", "scripted", "--record", record, dataset)
	if code != 0 || said != "" || len(s.asked) != len(planned) || !strings.Contains(live, "workflow 5 of 5 checks passed") || !strings.Contains(live, " of 50,000 tokens.") {
		t.Fatalf("exit %d, asked %d times: %s\n%s", code, len(s.asked), said, live)
	}
	if *update {
		text, err := os.ReadFile(record)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range []string{"../../examples/client/conversation/workflow.jsonl", filepath.Join(dir, "conversation", "workflow.jsonl")} {
			if err := os.WriteFile(to, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if replayed, said, code := command(dataset); code != 0 || said != "" || replayed != live {
		t.Errorf("replayed, exit %d: %s\n%s\nlive:\n%s (where a palette or a prompt was changed, -update records it anew)", code, said, replayed, live)
	}
}

// SAFE-L1, O16: what somebody answered is theirs to check, in a conversation
// without a model; a model that takes over in another session is not shown it.
func TestOwnAnswersAreForTheirOwnEyes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	talk := func(says []string, args ...string) string {
		out, said, code := spokenIn(t, morning, dir, strings.Join(says, "\n")+"\n", args...)
		if code != 0 {
			t.Fatalf("exit %d: %s\n%s", code, said, out)
		}
		return out
	}
	const secret = "Dupont Logistics SA"
	out := talk([]string{"guide me through Pierre's source of wealth", "yes", "a business", secret, "Founded a company in 1998, and sold it in 2015.", "1998", "yes"}, "--session", "s1")
	if !strings.Contains(out, "Name of the business: "+secret) {
		t.Errorf("she is told\n%s", out)
	}
	s := perform(t, []string{`{"call": "client__start-collection", "args": {"request-id": "@pierre-dupont-source-of-wealth"}}`, "Please check your answers."})
	talk([]string{"Please go on with the questions about Pierre"}, "--session", "s2", "--base-url", s.URL, "--model", "scripted")
	if len(s.asked) < 2 || !strings.Contains(s.asked[1], "Please check your 5 answers") {
		t.Fatalf("the model was asked %d times", len(s.asked))
	}
	if asked := strings.Join(s.asked, "\n"); strings.Contains(asked, secret) {
		at := strings.Index(asked, secret)
		t.Errorf("a model was shown what is sensitive: …%s", asked[max(0, at-600):at+40])
	}
}
