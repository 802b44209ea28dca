package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// turned plays two hundred turns of the portal with a model that slips as hosted models do, and prints
// what each checkout of Verbatim sends it: prompts and repairs, tokens, and how many of these an endpoint
// has read before, at the head of the prompt before.
//
//	go run . -turns ../../.. [CHECKOUT …]
func turned(checkouts []string) error {
	judges := os.Getenv("TEST_JUDGES")
	if judges == "" {
		judges = "../../../.cache/judges"
	}
	if _, err := os.Stat(filepath.Join(judges, "node_modules/js-tiktoken")); err != nil {
		return fmt.Errorf("the counter of tokens is not here: make judges fetches it; %w", err)
	}
	fmt.Println("200 turns of the portal in 20 conversations; the model slips in 12 of 20.")
	for _, dir := range checkouts {
		p, err := playTurns(dir)
		if err != nil {
			return err
		}
		counts, err := counted(judges, p.texts)
		if err != nil {
			return err
		}
		all, head := 0, 0
		for i := 0; i < len(counts); i += 2 {
			all, head = all+counts[i], head+counts[i+1]
		}
		fmt.Printf("%-16s asked in %d turns, %.2f prompts for each, %d repairs, %d tokens a turn, %.0f %% of them read before, %d not\n",
			filepath.Base(p.dir), p.asked, float64(p.prompts)/float64(p.asked), p.prompts-p.asked, all/p.asked, 100*float64(head)/float64(all), (all-head)/p.asked)
	}
	return nil
}

// counted counts the tokens of texts by o200k.
func counted(judges string, texts []string) (counts []int, err error) {
	in, err := json.Marshal(texts)
	if err != nil {
		return nil, err
	}
	count := exec.Command("node", "../../verbatim/testdata/judge_tokens.mjs", judges)
	count.Stdin, count.Stderr = bytes.NewReader(in), os.Stderr
	out, err := count.Output()
	if err != nil {
		return nil, err
	}
	return counts, json.Unmarshal(out, &counts)
}

// turnSlips are what goes wrong in twenty turns, in their order: what is written differs in form, and means one thing.
var turnSlips = []string{"", "snake case", "", "empty optional", "instant for a day", "", "arguments in a text", "prefix", "", "tags", "", "fence", "no reason to end", "", "whole answer", "reasoning", "", "nothing", "read twice", ""}

// A played is a model, and what it was asked.
type played struct {
	dir            string
	mu             sync.Mutex
	turns, end     int      // the next one, and the first of the next conversation
	asked, prompts int      // turns in which it was asked, and how often in all
	last, before   string   // the request before, and the prompt before in this conversation
	texts          []string // each prompt, and the head that it shares with the one before
}

func playTurns(dir string) (*played, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	p := &played{dir: dir}
	tmp, err := os.MkdirTemp("", "turns-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	program, palettes, store := filepath.Join(tmp, "verbatim"), filepath.Join(tmp, "verbs"), filepath.Join(tmp, "verbatim.db")
	build := exec.Command("go", "build", "-o", program, "./cmd/verbatim")
	build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", dir, err, out)
	}
	from := filepath.Join(dir, "verbs/palettes/bank")
	if _, err := os.Stat(from); err != nil {
		from = filepath.Join(dir, "verbs") // where they were before
	}
	files, err := filepath.Glob(filepath.Join(from, "*.yaml"))
	if err == nil {
		err = os.Mkdir(palettes, 0o777)
	}
	for _, file := range files {
		if text, e := os.ReadFile(file); e != nil {
			err = e
		} else if e := os.WriteFile(filepath.Join(palettes, filepath.Base(file)), text, 0o666); e != nil {
			err = e
		}
	}
	if err != nil {
		return nil, err
	}
	example := filepath.Join(dir, "examples/client")
	migrate := exec.Command(program, "migrate", "--palettes", palettes, "--store", store, "--data", filepath.Join(example, "bank.sql"), "--data", filepath.Join(example, "people.sql"))
	if out, err := migrate.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", dir, err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: p}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	for conversation := range 20 {
		var says strings.Builder
		for i := range 10 {
			fmt.Fprintln(&says, turnSays[turnKind(10*conversation+i)])
		}
		p.before, p.turns, p.end = "", 10*conversation, 10*conversation+10
		chat := exec.Command(program, "chat", "--as", "clara", "--palettes", palettes, "--store", store, "--base-url", "http://"+l.Addr().String(), "--model", "played")
		chat.Stdin, chat.Env = strings.NewReader(says.String()), append(os.Environ(), "VERBATIM_SCAN=none")
		if out, err := chat.CombinedOutput(); err != nil || p.asked == 0 {
			return nil, fmt.Errorf("%s: %v: %s", dir, err, out)
		}
	}
	return p, nil
}

// What the person says, by kind of turn.
var turnSays = []string{
	"How far are we with the onboarding?",
	"Why do you need all this about Pierre?",
	"Should have Pierre's tax returns on 31 December 2026, our accountant is on it.",
	"What do you still need from Thomas?",
}

// turnKind is what a turn is about: a slip needs an argument to slip with.
func turnKind(turn int) int {
	switch turnSlips[turn%len(turnSlips)] {
	case "instant for a day":
		return 2
	case "empty optional":
		return 3
	case "read twice", "snake case":
		return 1
	}
	return turn % len(turnSays)
}

// turnCalls is what the model means to do in a turn.
func turnCalls(kind int) (calls []turnCall) {
	tell := func(fact string) turnCall {
		return turnCall{"reply__tell", map[string]any{"facts": []string{fact}}}
	}
	switch kind {
	case 0:
		return []turnCall{{"client__get-status", map[string]any{"cbu-id": nil}}, tell("client.get-status")}
	case 1:
		return []turnCall{{"client__get-request-detail", map[string]any{"request-id": "@pierre-dupont-source-of-wealth"}}, tell("client.get-request-detail")}
	case 2:
		return []turnCall{{"client__add-note", map[string]any{"request-id": "@pierre-dupont-source-of-wealth", "note": "our accountant is on it", "expected-date": "2026-12-31"}}, tell("client.get-status")}
	}
	return []turnCall{{"client__get-outstanding", map[string]any{"cbu-id": nil, "include-completed": nil}}, tell("client.get-outstanding")}
}

type turnCall struct {
	name string
	args map[string]any
}

// ServeHTTP implements http.Handler: the first answer of a turn slips, and further ones are right.
func (p *played) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var q struct {
		Stream   bool
		Messages []struct{ Role, Content string }
		Tools    []struct {
			Function struct {
				Name, Description string
				Parameters        json.RawMessage
			}
		}
	}
	if json.Unmarshal(body, &q) != nil || len(q.Messages) == 0 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	prompt := ""
	for _, tool := range q.Tools {
		prompt += tool.Function.Name + "\n" + tool.Function.Description + "\n" + string(tool.Function.Parameters) + "\n"
	}
	for _, m := range q.Messages {
		prompt += m.Content + "\n"
	}
	n := 0
	for n < min(len(prompt), len(p.before)) && prompt[n] == p.before[n] {
		n++
	}
	p.texts = append(p.texts, prompt, strings.ToValidUTF8(prompt[:n], ""))
	p.before = prompt
	p.prompts++
	slip := ""
	last := q.Messages[len(q.Messages)-1]
	// What the model was not asked about, the program dealt with by itself.
	for turn := p.turns; turn < p.end && last.Role == "user" && string(body) != p.last; turn++ {
		if strings.HasSuffix(last.Content, turnSays[turnKind(turn)]) {
			slip, p.turns, p.asked = turnSlips[turn%len(turnSlips)], turn+1, p.asked+1
			break
		}
	}
	p.last = string(body)
	p.answer(w, slip, turnKind(p.turns-1), q.Stream)
}

// answer writes what the model says, in the form of a slip.
func (p *played) answer(w http.ResponseWriter, slip string, kind int, stream bool) {
	calls := turnCalls(kind)
	switch slip {
	case "read twice":
		calls = append(calls[:1:1], calls...)
	case "snake case":
		for _, c := range calls {
			for key, value := range c.args {
				delete(c.args, key)
				c.args[strings.ReplaceAll(key, "-", "_")] = value
			}
		}
	case "empty optional":
		for key, value := range calls[0].args {
			if value == nil {
				calls[0].args[key] = ""
			}
		}
	case "instant for a day":
		calls[0].args["expected-date"] = "2026-12-31T00:00:00Z"
	case "prefix":
		calls[0].name = "functions." + calls[0].name
	}
	message, finish := map[string]any{"role": "assistant", "content": ""}, any("tool_calls")
	var tools []any
	text := ""
	for i, c := range calls {
		args, _ := json.Marshal(c.args)
		if slip == "arguments in a text" {
			args, _ = json.Marshal(string(args))
		}
		one, _ := json.Marshal(map[string]any{"name": c.name, "arguments": c.args})
		switch slip {
		case "tags":
			text += "<tool_call>" + string(one) + "</tool_call>"
		case "fence":
			text += "```json\n" + string(one) + "\n```\n"
		}
		tools = append(tools, map[string]any{"index": i, "id": fmt.Sprintf("call%05d", p.prompts*10+i), "type": "function", "function": map[string]any{"name": c.name, "arguments": string(args)}})
	}
	message["tool_calls"] = tools
	switch slip {
	case "nothing":
		message["tool_calls"], finish = nil, "stop"
	case "tags", "fence":
		message = map[string]any{"role": "assistant", "content": text}
		finish = "stop"
	case "no reason to end":
		finish = nil
	case "reasoning":
		message["reasoning_content"] = strings.Repeat("They ask about their own situation. ", 50)
	}
	usage := map[string]any{"prompt_tokens": len(p.before) / 4, "completion_tokens": 50, "total_tokens": len(p.before)/4 + 50}
	if !stream || slip == "whole answer" {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"id": "x", "object": "chat.completion", "model": "played", "choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}}, "usage": usage})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, chunk := range []map[string]any{
		{"id": "x", "model": "played", "choices": []any{map[string]any{"index": 0, "delta": message}}},
		{"id": "x", "model": "played", "choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finish}}},
		{"id": "x", "model": "played", "choices": []any{}, "usage": usage},
	} {
		line, _ := json.Marshal(chunk)
		_, _ = fmt.Fprintf(w, "data: %s\n\n", line)
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}
