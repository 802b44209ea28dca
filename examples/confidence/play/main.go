// Command play is both sides of the agent in one program: the model that it asks, and the
// client that asks it. The model says what plays.json has it say, which people wrote by hand;
// no model was asked for them.
//
//	play -plays plays.json -listen 127.0.0.1:9000      be the model
//	play -url http://localhost:8080 -token T FILE      ask the questions of a file, a line each, as JSON
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
)

func main() {
	plays := flag.String("plays", "plays.json", "what the model says, a `file`")
	listen := flag.String("listen", "", "be the model at this `address`")
	url := flag.String("url", "", "the `URL` of the agent's server")
	token := flag.String("token", "", "by which the client is known")
	last := flag.String("last", "", "a `file` that holds which plan was named last")
	flag.Parse()
	log.SetFlags(0)
	if *listen != "" {
		log.Fatal(serve(*listen, *plays))
	}
	for _, name := range flag.Args() {
		if err := ask(*url, *token, name, *last); err != nil {
			log.Fatal(err)
		}
	}
}

// A play is what the model says where all of some texts stand before it.
type play struct {
	If   []string `json:"if"`
	Says any      `json:"says"`
}

func serve(address, name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	var plays []play
	if err := json.Unmarshal(text, &plays); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println("http://" + l.Addr().String() + "/v1")
	return http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		var request struct {
			Stream   bool
			Messages []struct{ Content string }
		}
		if err != nil || json.Unmarshal(body, &request) != nil {
			http.Error(w, `{"error":{"message":"this is no request"}}`, http.StatusBadRequest)
			return
		}
		var before strings.Builder
		for _, m := range request.Messages {
			before.WriteString(m.Content + "\n")
		}
		answer(w, request.Stream, says(plays, before.String()))
	}))
}

// says is the first play that fits.
func says(plays []play, before string) string {
next:
	for _, p := range plays {
		for _, text := range p.If {
			if !strings.Contains(before, text) {
				continue next
			}
		}
		if text, ok := p.Says.(string); ok {
			return text
		}
		text, _ := json.Marshal(p.Says) // it was read from JSON
		return string(text)
	}
	return "I have nothing to say to that."
}

func answer(w http.ResponseWriter, stream bool, text string) {
	usage := map[string]int{"prompt_tokens": 100, "completion_tokens": len(text) / 4, "total_tokens": 100 + len(text)/4}
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "chat.completion", "model": "play", "usage": usage,
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]string{"role": "assistant", "content": text}}}})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(v any) {
		b, _ := json.Marshal(v)
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
	send(map[string]any{"object": "chat.completion.chunk", "model": "play", "choices": []any{map[string]any{"index": 0, "delta": map[string]string{"role": "assistant", "content": text}}}})
	send(map[string]any{"object": "chat.completion.chunk", "model": "play", "choices": []any{map[string]any{"index": 0, "delta": map[string]string{}, "finish_reason": "stop"}}})
	send(map[string]any{"object": "chat.completion.chunk", "model": "play", "choices": []any{}, "usage": usage})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

var ids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// ask asks each question of a file, and prints every message of the answer as it comes. A
// line `{"again": true}` asks how far the plan is that the last answer named.
func ask(url, token, name, kept string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	text, _ := os.ReadFile(kept) // at first there is none
	last := string(text)
	defer func() { _ = os.WriteFile(kept, []byte(last), 0o600) }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var q map[string]any
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if q["again"] == true {
			q = map[string]any{"question": "How far is it?", "state": "plan:" + last}
		}
		fmt.Printf("? %s\n", q["question"])
		body, err := json.Marshal(q)
		if err != nil {
			return err
		}
		r, err := http.NewRequest("POST", url+"/api/v1/flow/default/service/agent", bytes.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
			text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
			answer.Body.Close()
			fmt.Printf("  %s\n  %s\n\n", answer.Status, strings.TrimSpace(string(text)))
			continue
		}
		events := bufio.NewScanner(answer.Body)
		events.Buffer(nil, 1<<20)
		for events.Scan() {
			text, ok := strings.CutPrefix(events.Text(), "data: ")
			if !ok {
				continue
			}
			if id := ids.FindString(text); id != "" {
				last = id
			}
			var m struct {
				Answer, Thought, Observation any
				Error                        json.RawMessage
			}
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				return err
			}
			for _, part := range []struct {
				what string
				says any
			}{{"thought", m.Thought}, {"observation", m.Observation}, {"answer", m.Answer}, {"error", string(m.Error)}} {
				if part.says != nil && part.says != "" && part.says != "null" {
					fmt.Printf("  %-12s %s\n", part.what, strings.ReplaceAll(ids.ReplaceAllString(fmt.Sprint(part.says), "ID"), "\n", "\n               "))
				}
			}
			fmt.Println()
		}
		answer.Body.Close()
		if err := events.Err(); err != nil {
			return err
		}
	}
	return nil
}
