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
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/runtime/conversation/llm"
	endpoint "verbatim/runtime/tests/provider"
)

// hosted plays an endpoint that knows its key, refuses a temperature and older names, and takes no
// grammar: it ignores the field, as hosted endpoints do, or refuses it.
func hosted(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var q map[string]any
		if err := json.Unmarshal(text, &q); err != nil {
			t.Error(err)
		}
		refuse := func(status int, message string) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error"}}`, message)
		}
		switch {
		case r.Header.Get("Authorization") != "Bearer right":
			refuse(401, "Incorrect API key provided")
			return
		case q["temperature"] != nil:
			refuse(400, "Unsupported value: 'temperature' does not support 0 with this model.")
			return
		case q["grammar"] != nil:
			refuse(400, "Unrecognized request argument supplied: grammar")
			return
		}
		message := map[string]any{"role": "assistant", "content": "Hello."}
		finish := "stop"
		if q["response_format"] != nil {
			message["content"] = `{"white":true}`
		}
		if q["tools"] != nil && q["tool_choice"] == "required" {
			message["tool_calls"] = []any{map[string]any{"index": 0, "id": "1", "type": "function", "function": map[string]any{"name": "note", "arguments": `{"text":"milk"}`}}}
			finish = "tool_calls"
		}
		used := map[string]any{"prompt_tokens": len(text) / 4, "completion_tokens": 2}
		if q["stream"] == true {
			streamed(w, message, finish, used)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": message, "finish_reason": finish}}, "usage": used})
	}))
	t.Cleanup(s.Close)
	return s
}

func modelCheck(t *testing.T, env map[string]string, args ...string) (out, said string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), world{args: append([]string{"model"}, args...), in: strings.NewReader(""), out: &o, err: &e,
		env: func(name string) string { return env[name] }, now: time.Now, random: rand.Reader,
		terminal: func(world) (io.ReadCloser, bool) { return nil, false }})
	return o.String(), e.String(), code
}

// G36: an operator sees in nine lines what works at an endpoint, what had to be changed, and the
// endpoint's own sentence.
func TestAModelIsChecked(t *testing.T) {
	t.Parallel()
	s := hosted(t)
	env := map[string]string{"VERBATIM_MODEL": "acme/thing", "VERBATIM_BASE_URL": s.URL, "VERBATIM_MODEL_KEY": "right"}
	out, said, code := modelCheck(t, env, "check")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != exitDone || len(lines) != 10 {
		t.Fatalf("exit %d\n%s%s", code, out, said)
	}
	for i, want := range []string{"plain text works", "one tool differs the tool was not called", "forced tool works", "tool answer works", "stream works", "JSON schema works",
		"grammar refused supplied: grammar", "long prompt works", "wrong key works it is refused, as it should be", "adapted: temperature is left out: 'temperature' does not support 0"} {
		for _, word := range strings.Fields(want) {
			if !strings.Contains(lines[i], word) {
				t.Errorf("line %d is %q, and does not say %q", i+1, lines[i], word)
			}
		}
	}
	out, _, code = modelCheck(t, env, "check", "--json")
	var doc struct {
		Works   bool             `json:"works"`
		Answers []map[string]any `json:"answers"`
		Adapted []map[string]any `json:"adapted"`
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exitDone || !doc.Works || len(doc.Answers) != 9 || len(doc.Adapted) != 1 {
		t.Errorf("exit %d, %v\n%s", code, err, out)
	}
	accepted(t, out)

	// One that cannot be asked at all is one line and an exit code.
	env["VERBATIM_MODEL_KEY"] = "wrong"
	out, _, code = modelCheck(t, env, "check")
	if code != exitSystem || strings.Count(out, "\n") != 1 || !strings.Contains(out, "Incorrect API key provided") || !strings.Contains(out, "check the key in VERBATIM_MODEL_KEY") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if _, said, code := modelCheck(t, nil, "check"); code != exitUsage || !strings.Contains(said, "next: verbatim model check --base-url") {
		t.Errorf("exit %d\n%s", code, said)
	}
	if _, _, code := modelCheck(t, nil, "chekc"); code != exitUsage {
		t.Errorf("exit %d", code)
	}
}

// G36: the table of families is told by the command and in the guide, each with its source.
func TestTheFamiliesAreTold(t *testing.T) {
	t.Parallel()
	guide, ok := guideText("models")
	if !ok {
		t.Fatal("there is no guide")
	}
	guide = strings.Join(strings.Fields(guide), " ")
	out, _, _ := modelCheck(t, nil)
	for _, f := range llm.Families {
		if !strings.Contains(out, f.Name+": "+f.Fact) || !strings.Contains(out, f.Source) {
			t.Errorf("%s is not printed", f.Name)
		}
		if !strings.Contains(guide, f.Name+": "+f.Fact) {
			t.Errorf("the guide does not say: - %s: %s (%s; %s).", f.Name, f.Fact, f.Source, f.Seen)
		}
	}
	out, _, code := modelCheck(t, map[string]string{"VERBATIM_MODEL": "openai/gpt-5-mini", "VERBATIM_BASE_URL": "http://localhost:1"})
	if code != exitDone || !strings.Contains(out, "max_tokens is sent as max_completion_tokens") {
		t.Errorf("exit %d\n%s", code, out)
	}
	out, _, _ = modelCheck(t, nil, "--json")
	accepted(t, out)
}

// accepted demands that a document is as the published schema says.
func accepted(t *testing.T, out string) {
	t.Helper()
	schema, err := publishedSchema()
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Errorf("not as the schema says: %v\n%s", err, out)
	}
}

// G36, G37: a model that cannot be asked is no reason to refuse requests, and shows in /readyz, in a
// metric and in the log, with the endpoint's own sentence.
func TestAModelThatCannotBeAskedShows(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	model := perform(t, nil) // it refuses everything
	s := h.serve("--sign-in", "clara", "--model", "scripted", "--base-url", model.URL)
	clara := newVisitor(t).comes(s, "clara")
	if _, body := clara.get(s.url + "/readyz"); !strings.HasPrefix(body, "ready\npalettes ") || strings.Count(body, "\n") != 2 {
		t.Errorf("before it was asked: %s", body)
	}
	if status, body, err := clara.post(s.url+"/v1/sessions/portal/turns", "", map[string]string{"text": "good morning, how are you today"}); err != nil || status != http.StatusOK {
		t.Fatal(status, body, err)
	}
	if status, body := clara.get(s.url + "/readyz"); status != http.StatusOK || !strings.Contains(body, "the model could not be asked") {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if _, counts := clara.get(s.url + "/metrics"); !strings.Contains(counts, `verbatim_model_up{model="scripted"} 0`) {
		t.Error("no metric tells it")
	}
	s.stop()
	if log := s.said.String(); !strings.Contains(log, "model not asked") || !strings.Contains(log, "the play is over") {
		t.Errorf("the log does not say why: %s", log)
	}
}

// 54: each change of a request is told once in the log of a server, that which is known of a model when
// it starts, and that which is learned when it has helped; and the conversation goes on.
func TestWhatIsAdaptedIsLoggedOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	said := perform(t, []string{says("GREETING"), says("WELCOME"), says("WELCOME")})
	p := endpoint.Named("Groq of 2024").Before(said.Config.Handler)
	said.Config.Handler = p
	s := h.serve("--sign-in", "clara", "--model", "gpt-5-mini", "--base-url", said.URL)
	clara := newVisitor(t).comes(s, "clara")
	for _, text := range []string{"good morning, how are you today", "and what about the weather over there"} {
		if status, body, err := clara.post(s.url+"/v1/sessions/portal/turns", "", map[string]string{"text": text}); err != nil || status != http.StatusOK {
			t.Fatal(status, body, err)
		}
	}
	s.stop()
	log := s.said.String()
	for _, want := range []string{`"parameter":"max_tokens"`, `"parameter":"temperature"`, `"parameter":"stream_options"`} {
		if strings.Count(log, want) != 1 {
			t.Errorf("%s is logged %d times: %s", want, strings.Count(log, want), log)
		}
	}
	if asked, refused := p.Counts(); refused != 1 || asked < 3 || !strings.Contains(log, "did you mean") || !strings.Contains(log, "it is known of this model") {
		t.Errorf("%d of %d requests were refused: %s", refused, asked, log)
	}
}

// 54: Clara's conversation is the same with an endpoint of each kind that refuses what is sent first; what
// is done instead is told once.
func TestClaraTalksToOthers(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile(claraHears)
	if err != nil {
		t.Fatal(err)
	}
	for family, told := range map[string]int{"OpenAI, reasoning models": 2, "Gemini": 4, "a template of Mistral elsewhere": 1} {
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := layOut(dir); err != nil {
				t.Fatal(err)
			}
			s := perform(t, clara.model)
			s.Config.Handler = endpoint.Named(family).Before(s.Config.Handler)
			live, said, code := spokenIn(t, morning, dir, strings.Join(clara.says, "\n")+"\n", "--base-url", s.URL, "--model", "scripted")
			if notes := strings.Count(said, "note: the model's endpoint differs in "); code != exitDone || live != string(want) || notes != told || strings.Count(said, "\n") != notes {
				t.Errorf("exit %d, %d notes: %s\n%s", code, notes, said, live)
			}
		})
	}
}

// 54: a server that leaves out of a long prompt what does not fit is seen by its count; doctor says of a
// model that calls no tools that conversations go without it.
func TestWhatAModelDoesNotHeedIsTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		calls bool
		read  int
		check string
		heals string
	}{
		"a short context": {true, 2048, "of its 6300 words, 2048 tokens were read, and the rest was left out: load the model with a larger context", "well   model         scripted answers, and calls a tool"},
		"words alone":     {false, 7000, "the tool was not called", "look   model         scripted answers, and calls no tool: the tool was not called\n                     next: verbatim model check; serve with --mode text goes without tools"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var q map[string]any
				if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
					t.Error(err)
				}
				message := map[string]any{"role": "assistant", "content": "Hello."}
				if q["tools"] != nil && c.calls {
					message["tool_calls"] = []any{map[string]any{"id": "1", "type": "function", "function": map[string]any{"name": "note", "arguments": `{"text":"milk"}`}}}
				}
				_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"message": message, "finish_reason": "stop"}}, "usage": map[string]any{"prompt_tokens": c.read, "completion_tokens": 2}})
			}))
			t.Cleanup(s.Close)
			env := map[string]string{"VERBATIM_MODEL": "scripted", "VERBATIM_BASE_URL": s.URL}
			if out, _, _ := modelCheck(t, env, "check"); !strings.Contains(out, c.check) {
				t.Errorf("check says\n%s", out)
			}
			var o, e bytes.Buffer
			run(context.Background(), world{args: []string{"doctor", "--palettes", "../../verbs/palettes/kyc", "--store", filepath.Join(t.TempDir(), "none.db")}, in: strings.NewReader(""), out: &o, err: &e,
				env: func(name string) string { return env[name] }, now: time.Now, random: rand.Reader, terminal: func(world) (io.ReadCloser, bool) { return nil, false }})
			if !strings.Contains(o.String(), c.heals) {
				t.Errorf("doctor says\n%s", &o)
			}
		})
	}
}

// 54: an operator sees which fields of which palette reach an endpoint, and which are withheld; what a
// conversation sends of the example keeps to it.
func TestWhatReachesAModelIsListed(t *testing.T) {
	t.Parallel()
	out, _, code := modelCheck(t, nil, "data", "--palettes", "../../verbs/palettes/kyc")
	if code != exitDone || !strings.Contains(out, "withheld  ") || !strings.Contains(out, "kyc.list\n    sent      ") {
		t.Errorf("exit %d\n%s", code, out)
	}
	out, _, code = modelCheck(t, nil, "data", "--json", "--palettes", "../../verbs/palettes/bank")
	accepted(t, out)
	var doc struct{ Verbs []modelData }
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exitDone {
		t.Fatal(err, code)
	}
	sent := map[string]modelData{}
	for _, d := range doc.Verbs {
		sent[d.Verb] = d
		for _, field := range d.Fields {
			if strings.Contains(field, "collected_data") {
				t.Errorf("%s is said to send %s, which is sensitive", d.Verb, field)
			}
		}
	}
	dir := t.TempDir()
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	s := perform(t, clara.model)
	if _, said, code := spokenIn(t, morning, dir, strings.Join(clara.says, "\n")+"\n", "--base-url", s.URL, "--model", "scripted"); code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	looked := 0
	for _, text := range s.asked {
		var q struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.Unmarshal([]byte(text), &q); err != nil {
			t.Fatal(err)
		}
		verb := ""
		for line := range strings.Lines(q.Messages[len(q.Messages)-1].Content) {
			if name, _, is := strings.Cut(line, " answered"); is {
				verb = name
				continue
			}
			if line = strings.TrimLeft(line, "0123456789. "); verb == "" || !strings.Contains(line, ": ") {
				continue
			}
			field, _, _ := strings.Cut(line, ": ")
			if looked++; !slices.Contains(sent[verb].Fields, field) && sent[verb].Verb != "" && !strings.Contains(field, " ") {
				t.Errorf("%s sends %s, which is not listed: %v", verb, field, sent[verb])
			}
		}
	}
	if looked < 5 {
		t.Errorf("only %d answers were looked at", looked)
	}
}

// 54: whatever stops a model from being asked, or its answers from being used, is one sentence on
// standard error in a conversation, with what to change, however often it happens and whatever figures
// stand in it; the person is answered by phrases.
func TestWhyAModelIsNotUsedIsToldOnce(t *testing.T) {
	t.Parallel()
	var n atomic.Int32
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		args   []string
		want   string
	}{
		"a spent account": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`)
		}, nil, "note: the model has nothing left on our account (HTTP 429): You exceeded your current quota; top up the account, or raise what it may spend\n"},
		"a limit that counts": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", fmt.Sprint(4000+n.Add(1)))
			w.WriteHeader(http.StatusTooManyRequests)
		}, nil, "note: the model has too many requests (HTTP 429): too many requests; it may be asked again in 1h6m"},
		"words alone": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"I would like to help."},"finish_reason":"stop"}]}`)
		}, nil, "note: the model answers in words where it is asked to call one of the tools; choose a server that reads its calls"},
		"words alone, in text": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"I would like to help."},"finish_reason":"stop"}]}`)
		}, []string{"--mode", "text"}, "note: the model answers in words where it is asked for calls; choose another model"},
		"words alone, recorded": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"I would like to help."},"finish_reason":"stop"}]}`)
		}, []string{"--record", filepath.Join(t.TempDir(), "recording")}, "note: the model answers in words where it is asked to call one of the tools"},
		"words alone, to a prompt that was cut": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"I would like to help."},"finish_reason":"stop"}],"usage":{"prompt_tokens":512,"completion_tokens":7}}`)
		}, nil, "note: the model has not read all of what it was asked; its server read far fewer tokens than it was sent, so it cuts off what is too long: load the model with a larger context"},
		"a filter": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}`)
		}, nil, "note: the model, or the filter of its provider, declined to answer; have the filter relaxed, or choose another model"},
		"answers that are cut": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"choices":[{"message":{"tool_calls":[{"id":"1","type":"function","function":{"name":"client__add-note","arguments":"{\"note\":"}}]},"finish_reason":"length"}]}`)
		}, nil, "note: the answers of the model are cut before they end; choose a model that thinks less"},
		"a call that is never right": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"choices":[{"message":{"tool_calls":[{"id":"1","type":"function","function":{"name":"rm","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`)
		}, nil, "note: nothing of what the model calls in a turn can be done; choose another model"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(c.answer)
			t.Cleanup(s.Close)
			dir := t.TempDir()
			if err := layOut(dir); err != nil {
				t.Fatal(err)
			}
			const twice = "Give me the open points in one go, I am on the train.\nGive me the open points in one go, I am on the ferry.\n"
			out, said, code := spokenIn(t, morning, dir, twice, append([]string{"--base-url", s.URL, "--model", "m"}, c.args...)...)
			if code != exitDone || strings.Count(said, "note: ") != 1 || !strings.Contains(said, c.want) || strings.Count(out, "Assistant: ") != 2 {
				t.Errorf("exit %d\n%s\n%s", code, out, said)
			}
		})
	}
}
