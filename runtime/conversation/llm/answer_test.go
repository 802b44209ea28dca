package llm_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/conversation/llm"
)

func stream(deltas ...string) http.HandlerFunc {
	var chunks []string
	for _, d := range deltas {
		chunks = append(chunks, fmt.Sprintf(`{"choices":[{"index":0,"delta":%s}]}`, d))
	}
	return events("done", append(chunks, stop)...)
}

// raw streams lines as they are.
func raw(lines ...string) http.HandlerFunc {
	return status(200, "Content-Type: text/event-stream", strings.Join(lines, "\n")+"\n")
}

// 54: the same answer is read from every form that public reports tell of. What is odd stands in the
// name.
func TestOneAnswerIsReadFromManyForms(t *testing.T) {
	t.Parallel()
	one := []llm.ToolCall{{ID: "c1", Name: "b", Arguments: `{"x":"y"}`}}
	two := append(one[:1:1], llm.ToolCall{ID: "c2", Name: "b", Arguments: `{"x":"z"}`})
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   llm.Reply
	}{
		"the name and the id in every piece (NVIDIA NIM, 2026-04-13)": {stream(
			`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"b","arguments":"{\"x\""}}]}`,
			`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"b","arguments":":\"y\"}"}}]}`), llm.Reply{Calls: one}},
		"a name in pieces": {stream(
			`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"cl"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"name":"ient","arguments":"{}"}}]}`), llm.Reply{Calls: []llm.ToolCall{{ID: "c1", Name: "client", Arguments: "{}"}}}},
		"two calls with one index (Ollama 0.20, 2026-04-09)": {stream(
			`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"b","arguments":"{\"x\":\"y\"}"}}]}`,
			`{"tool_calls":[{"index":0,"id":"c2","function":{"name":"b","arguments":"{\"x\":"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"\"z\"}"}}]}`), llm.Reply{Calls: two}},
		"two calls with one index, the first without arguments": {stream(
			`{"tool_calls":[{"index":0,"id":"c0","function":{"name":"a"}}]}`,
			`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"b","arguments":"{\"x\":\"y\"}"}}]}`), llm.Reply{Calls: []llm.ToolCall{{ID: "c0", Name: "a"}, one[0]}}},
		"two calls without an index": {stream(
			`{"tool_calls":[{"id":"c1","function":{"name":"b","arguments":"{\"x\":\"y\"}"}},{"id":"c2","function":{"name":"b","arguments":"{\"x\":\"z\"}"}}]}`), llm.Reply{Calls: two}},
		"an index that begins with one": {stream(
			`{"tool_calls":[{"index":1,"id":"c1","function":{"name":"b","arguments":"{\"x\":"}}]}`,
			`{"tool_calls":[{"index":1,"function":{"arguments":"\"y\"}"}}]}`), llm.Reply{Calls: one}},
		"arguments that are an object, and a word of its own for the end (TGI 2.0.4, 2024-06-27)": {
			events("done", `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"description":null,"name":"b","arguments":{"x":"y"}}}]},"finish_reason":"eos_token"}]}`), llm.Reply{Calls: one}},
		"arguments that come whole once more at the end": {stream(
			`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"b","arguments":"{\"x\":"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":\"y\"}"}}]}`), llm.Reply{Calls: one}},
		"empty ids and null in later pieces (DashScope, 2026-09-03)": {stream(
			`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"b","arguments":""}}]}`,
			`{"content":null,"tool_calls":[{"index":0,"id":"","function":{"name":null,"arguments":"{\"x\":\"y\"}"}}]}`,
			`{"content":null,"tool_calls":[{"index":0,"id":"","function":{"name":null,"arguments":null}}]}`), llm.Reply{Calls: one}},
		"a function as before tools": {stream(`{"function_call":{"name":"b","arguments":"{}"}}`), llm.Reply{Calls: []llm.ToolCall{{ID: "call00001", Name: "b", Arguments: "{}"}}}},
		"the signature of a thought (Gemini 3, 2026-09-10)": {stream(
			`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"b","arguments":"{\"x\":\"y\"}"},"extra_content":{"google":{"thought_signature":"s"}}}]}`),
			llm.Reply{Calls: []llm.ToolCall{{ID: "c1", Name: "b", Arguments: `{"x":"y"}`, Beside: `{"extra_content":{"google":{"thought_signature":"s"}}}`}}}},
		"a content of parts, thoughts first (Magistral, 2025-11-05)": {stream(
			`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"h"}]}]}`, `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"m"}]}]}`,
			`{"content":[{"type":"text","text":"fine"}]}`), llm.Reply{Text: "fine", Reasoning: "hm"}},
		"all that was said, in each piece (DashScope, 2026-05-13)": {stream(`{"content":"I"}`, `{"content":"I am"}`, `{"content":"I am"}`, `{"content":"I am fine"}`, `{"content":""}`), llm.Reply{Text: "I am fine"}},
		"all that was thought, in each piece":                      {stream(`{"reasoning_content":"It"}`, `{"reasoning_content":"It is"}`, `{"content":"fine"}`), llm.Reply{Text: "fine", Reasoning: "It is"}},
		"all of it once more at the end (MiniMax)":                 {events("done", delta("This is a long"), delta(" answer to you, and"), delta(" a fine one."), `{"choices":[{"index":0,"message":{"role":"assistant","content":"This is a long answer to you, and a fine one."},"finish_reason":"stop"}]}`), llm.Reply{Text: "This is a long answer to you, and a fine one."}},
		"pieces that begin alike, and repeat nothing":              {stream(`{"content":"ha"}`, `{"content":"! "}`, `{"content":"ha! ha! "}`, `{"content":"1"}`, `{"content":"11"}`), llm.Reply{Text: "ha! ha! ha! 111"}},
		"numbers that begin alike":                                 {stream(`{"content":"1"}`, `{"content":"10"}`), llm.Reply{Text: "110"}},
		"all arguments so far, in each piece (Qianfan, 2026-05-31)": {stream(
			`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"b","arguments":"{\"x"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":\"y"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":\"y\"}"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":""}}]}`), llm.Reply{Calls: one}},
		"a name with the mark of its channel":     {stream(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"b<|channel|>commentary","arguments":"{\"x\":\"y\"}"}}]}`), llm.Reply{Calls: one}},
		"lines of JSON without a frame":           {status(200, "Content-Type: application/x-ndjson", delta("fi")+"\n"+delta("ne")+"\n"+stop+"\n"), llm.Reply{Text: "fine"}},
		"a list of pieces":                        {status(200, "", "["+delta("fi")+",\n"+delta("ne")+",\n"+stop+"]"), llm.Reply{Text: "fine"}},
		"thoughts in the text":                    {stream(`{"content":"<think>\nclient.add-note"}`, `{"content":"?\n</think>\n\nfine"}`), llm.Reply{Text: "fine", Reasoning: "client.add-note?"}},
		"thoughts that begin in the prompt":       {stream(`{"content":"hm\n"}`, `{"content":"</think>\n\nfine"}`), llm.Reply{Text: "fine", Reasoning: "hm"}},
		"marks behind the answer":                 {stream(`{"content":"fine<|im_end|>\n"}`), llm.Reply{Text: "fine"}},
		"signs of life without data":              {raw("data:", "", "event: ping", "data: ping", "", "data: "+delta("fine"), "", "data: "+stop, "", "data: [DONE]", ""), llm.Reply{Text: "fine"}},
		"the same call twice, with one id":        {stream(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"b","arguments":"{\"x\":\"y\"}"}},{"index":1,"id":"c1","function":{"name":"b","arguments":"{\"x\":\"y\"}"}}]}`), llm.Reply{Calls: one}},
		"a thought that is withheld":              {stream(`{"content":[{"type":"redacted_thinking","data":"x"},{"type":"text","text":"fine"}]}`), llm.Reply{Text: "fine"}},
		"thoughts under another name":             {stream(`{"reasoning":"hm"}`, `{"content":"fine"}`), llm.Reply{Text: "fine", Reasoning: "hm"}},
		"fields of other types":                   {events("done", `{"id":7,"created":"now","system_fingerprint":3,"model":null,"choices":[{"index":0,"logprobs":[],"delta":{"content":"fine","role":null}}],"usage":null}`, stop), llm.Reply{Text: "fine"}},
		"no blank lines between the events":       {raw("data: "+delta("fi"), "data: "+delta("ne"), "data: "+stop, "data: [DONE]"), llm.Reply{Text: "fine"}},
		"events with a name, an id and comments":  {raw(append(strings.Split(strings.Repeat(": keep-alive\n\n", 1000), "\n"), "id: 1", "event: message", "data:"+delta("fine"), "", "data:"+stop, "")...), llm.Reply{Text: "fine"}},
		"an event in several lines":               {raw(`data: {"choices":[{"index":0,`, `data: "delta":{"content":"fine"},"finish_reason":"stop"}]}`, ""), llm.Reply{Text: "fine"}},
		"the counts beside the choice (Moonshot)": {events("done", delta("fine"), `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":20,"completion_tokens":3}}]}`), llm.Reply{Text: "fine", Usage: llm.Usage{In: 20, Out: 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, c.answer)
			client, _ := e.client(t, nil)
			reply, err := client.Chat(t.Context(), everything(), func(string) {})
			if err != nil || len(e.asked()) != 1 {
				t.Fatalf("%v after %d requests", err, len(e.asked()))
			}
			c.want.Finish = llm.Stopped
			if len(c.want.Calls) > 0 {
				c.want.Finish = llm.Called
			}
			if c.want.Usage.In == 0 {
				c.want.Usage = reply.Usage
			}
			reply.Model = ""
			if !reflect.DeepEqual(*reply, c.want) {
				t.Errorf("got %+v, want %+v", *reply, c.want)
			}
		})
	}
	// Lines of JSON that break off are no whole answer.
	cut := serve(t, status(200, "", delta("fi")+"\n"+delta("ne")+"\n"))
	half, _ := cut.client(t, func(c *llm.Config) { c.Attempts = 1 })
	if reply, err := half.Chat(t.Context(), ask("?"), func(string) {}); err == nil {
		t.Errorf("%+v", reply)
	}
	// A stream where none was asked for.
	e := serve(t, events("done", delta("fi"), delta("ne"), stop, usage))
	client, _ := e.client(t, nil)
	if reply, err := client.Chat(t.Context(), ask("?"), nil); err != nil || reply.Text != "fine" || reply.Usage != (llm.Usage{In: 20, Out: 3}) {
		t.Errorf("%+v, %v", reply, err)
	}
}

// 54: an answer that ended otherwise than it should is none, or is what was withheld or cut, in whatever
// word an endpoint has for it.
func TestEndsAreSortedByTheirWords(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"insufficient_system_resource": string(llm.Cut), "network_error": string(llm.Cut), "abort": string(llm.Cut), "engine_overloaded": string(llm.Cut), "error": string(llm.Cut),
		"MALFORMED_FUNCTION_CALL": string(llm.Garbled), "UNEXPECTED_TOOL_CALL": string(llm.Garbled),
		"sensitive": string(llm.Filtered), "RECITATION": string(llm.Filtered), "guardrail_intervened": string(llm.Filtered), "content_filter: hate": string(llm.Filtered),
		"model_context_window_exceeded": string(llm.TooLong), "max_output_tokens": string(llm.TooLong),
		"end_turn": string(llm.Stopped), "stop_sequence": string(llm.Stopped), "eos_token": string(llm.Stopped),
	} {
		e := serve(t, events("done", delta("half"), fmt.Sprintf(`{"choices":[{"index":0,"delta":{},"finish_reason":%q}]}`, reason)))
		client, _ := e.client(t, func(c *llm.Config) { c.Attempts = 1 })
		reply, err := client.Chat(t.Context(), ask("?"), func(string) {})
		got := ""
		var failed *llm.Error
		switch {
		case errors.As(err, &failed):
			got = string(failed.Kind)
			if !strings.Contains(err.Error(), reason) {
				t.Errorf("%s is not told: %v", reason, err)
			}
		default:
			got = string(reply.Finish)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", reason, got, want)
		}
	}
}

// 54: an id that an endpoint gives in each turn is sent once, and each answer with the id of its call.
func TestIdsAreSentOnce(t *testing.T) {
	t.Parallel()
	e := serve(t, says("fine"))
	client, _ := e.client(t, nil)
	q := ask("?")
	for _, of := range []string{"first", "second"} {
		q.Messages = append(q.Messages, llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "0", Name: "b", Arguments: "{}"}, {ID: "1", Name: "b", Arguments: "{}"}}},
			llm.Message{Role: llm.ToolRole, CallID: "0", Text: of}, llm.Message{Role: llm.ToolRole, CallID: "1", Text: of})
	}
	if _, err := client.Chat(t.Context(), q, nil); err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{}
	for _, m := range e.asked()[0].body["messages"].([]any) {
		m := m.(map[string]any)
		for _, c := range list(m["tool_calls"]) {
			answers[c.(map[string]any)["id"].(string)] = ""
		}
		if id, ok := m["tool_call_id"].(string); ok {
			if was, sent := answers[id]; !sent || was != "" {
				t.Errorf("%s is answered %q and %q", id, was, m["content"])
			}
			answers[id] = m["content"].(string)
		}
	}
	if len(answers) != 4 || answers["0"] != "first" || answers["1"] != "first" {
		t.Errorf("sent %v", answers)
	}
}

func list(v any) []any { l, _ := v.([]any); return l }

// 54: counts that cannot be right, such as negative ones, are ignored, and the tokens are estimated.
func TestCountsThatCannotBeAreNone(t *testing.T) {
	t.Parallel()
	for _, counts := range []string{`{"prompt_tokens":-1,"completion_tokens":-1}`, `{"prompt_tokens":"many"}`, `null`} {
		e := serve(t, status(200, "", `{"choices":[{"message":{"content":"fine"},"finish_reason":"stop"}],"usage":`+counts+`}`))
		client, _ := e.client(t, nil)
		if reply, err := client.Chat(t.Context(), ask("?"), nil); err != nil || !reply.Usage.Estimated || reply.Usage.Total() < 2 || reply.Usage.Total() > 20 {
			t.Errorf("%s: %+v, %v", counts, reply, err)
		}
	}
}

// 54: what stands beside a call comes back with it, to the endpoint that wrote it.
func TestWhatStandsBesideACallComesBack(t *testing.T) {
	t.Parallel()
	e := serve(t, stream(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"b","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]}`), says("fine"))
	client, _ := e.client(t, nil)
	q := everything()
	reply, err := client.Chat(t.Context(), q, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	q.Messages = append(q.Messages, llm.Message{Role: llm.Assistant, Calls: reply.Calls}, llm.Message{Role: llm.ToolRole, CallID: "c1", Text: "x"})
	if _, err := client.Chat(t.Context(), q, nil); err != nil {
		t.Fatal(err)
	}
	messages := e.asked()[1].body["messages"].([]any)
	call := messages[len(messages)-2].(map[string]any)["tool_calls"].([]any)[0].(map[string]any)
	want := map[string]any{"google": map[string]any{"thought_signature": "s"}}
	if !reflect.DeepEqual(call["extra_content"], want) {
		t.Errorf("the call comes back as %v", call)
	}
	if before := messages[3].(map[string]any)["tool_calls"].([]any)[0].(map[string]any); len(before) != 3 {
		t.Errorf("another call has it: %v", before)
	}
}

// 54: what stands beside a message comes back too, and a call without arguments, or with half of them, is
// sent back with an object: endpoints read what they get.
func TestAMessageComesBackAsEndpointsReadIt(t *testing.T) {
	t.Parallel()
	e := serve(t, stream(
		`{"reasoning_details":[{"type":"reasoning.text","text":"h"}]}`,
		`{"reasoning_details":[{"type":"reasoning.encrypted","data":"s"}],"tool_calls":[{"index":0,"id":"c1","function":{"name":"b"}}]}`), says("fine"))
	client, _ := e.client(t, nil)
	reply, err := client.Chat(t.Context(), everything(), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	q := ask("?")
	q.Messages = append(q.Messages, llm.Message{Role: llm.Assistant, Beside: reply.Beside, Calls: append(reply.Calls,
		llm.ToolCall{ID: "c2", Name: "b", Arguments: `{"x":`}, llm.ToolCall{ID: "c3", Name: "b", Arguments: `{"x":"y"}`})})
	if _, err := client.Chat(t.Context(), q, nil); err != nil {
		t.Fatal(err)
	}
	m := e.asked()[1].body["messages"].([]any)[1].(map[string]any)
	if details, _ := m["reasoning_details"].([]any); len(details) != 2 || details[1].(map[string]any)["data"] != "s" {
		t.Errorf("the message comes back as %v", m)
	}
	for i, want := range []string{`{}`, `{"text":"{\"x\":"}`, `{"x":"y"}`} {
		if got := m["tool_calls"].([]any)[i].(map[string]any)["function"].(map[string]any)["arguments"]; got != want {
			t.Errorf("call %d comes back with %v, want %s", i+1, got, want)
		}
	}
}

// 54: a model that is being loaded is waited for as long as an answer may take to begin, however often
// its server says so; other trouble is not.
func TestAModelThatIsLoadedIsWaitedFor(t *testing.T) {
	t.Parallel()
	loading := status(503, "", `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`)
	e := serve(t, loading, loading, loading, loading, loading, loading, says("fine"))
	client, waits := e.client(t, nil)
	if reply, err := client.Chat(t.Context(), ask("?"), nil); err != nil || reply.Text != "fine" || len(*waits) != 6 {
		t.Errorf("%+v, %v after %v", reply, err, *waits)
	}
	e = serve(t, loading)
	client, waits = e.client(t, func(c *llm.Config) { c.First = 10 * time.Second })
	_, err := client.Chat(t.Context(), ask("?"), nil)
	var all time.Duration
	for _, w := range *waits {
		all += w
	}
	if err == nil || !strings.Contains(err.Error(), "Loading model; wait until it is loaded, or give --wait a longer time") || all < 10*time.Second || all > 12*time.Second {
		t.Errorf("%v after %v", err, *waits)
	}
}

// 54: a call that has neither a name, an id nor arguments is none beside another (LM Studio 0.3.21), and the
// operator is told once.
func TestAGhostBesideACallIsDropped(t *testing.T) {
	t.Parallel()
	const call, ghost = `"id":"c1","type":"function","function":{"name":"b","arguments":"{}"}}`, `"id":"","type":"function"}`
	whole := status(200, "", `{"choices":[{"message":{"tool_calls":[{`+call+`,{`+ghost+`]},"finish_reason":"tool_calls"}]}`)
	pieces := events("done", `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,`+call+`]}}]}`, `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,`+ghost+`]}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`)
	for _, answer := range []http.HandlerFunc{whole, pieces} {
		var told []llm.Adaptation
		client, _ := serve(t, answer).client(t, func(c *llm.Config) { c.Adapted = func(a llm.Adaptation) { told = append(told, a) } })
		for range 2 {
			reply, err := client.Chat(t.Context(), everything(), func(string) {})
			if err != nil || len(reply.Calls) != 1 || reply.Calls[0].ID != "c1" {
				t.Errorf("%+v, %v", reply, err)
			}
		}
		if len(told) != 1 || told[0].Parameter != "tool_calls" || told[0].Change != "an entry without a name is dropped" {
			t.Errorf("told %v", told)
		}
	}
}

// 54: a refusal for good is not tried again.
func TestARefusalForGoodIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"a spent account":   status(429, "", `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`),
		"no balance":        status(403, "", `{"error":{"message":"Insufficient balance or no resource package"}}`),
		"a limit of a day":  status(429, "", `{"error":{"message":"Rate limit reached for tokens per day. Please try again in 7m12.5s."}}`),
		"a wrong key":       status(400, "", `{"error":"Incorrect API key provided"}`),
		"a budget":          status(429, "", `{"error":{"message":"Budget has been exceeded! Max budget: 10.0","type":"budget_exceeded"}}`),
		"no such model":     status(503, "", `{"error":{"message":"nothing serves this","code":"model_not_found"}}`),
		"too little memory": status(500, "", `{"error":{"message":"model requires more system memory (5.3 GiB) than is available (4.4 GiB)"}}`),
		"a firewall":        status(403, "", "<!DOCTYPE html><title>Just a moment...</title>"),
	} {
		e := serve(t, answer)
		client, waits := e.client(t, nil)
		if _, err := client.Chat(t.Context(), everything(), func(string) {}); err == nil || len(e.asked()) != 1 || len(*waits) != 0 {
			t.Errorf("%s: %v after %d requests", name, err, len(e.asked()))
		}
	}
}

// 54: a call that the endpoint's own check does not take is the model's slip, which does better next time.
func TestACallThatTheEndpointDoesNotTakeIsAskedForAgain(t *testing.T) {
	t.Parallel()
	const slip = `{"error":{"message":"Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"x"}}`
	for name, answer := range map[string]http.HandlerFunc{"refused": status(400, "", slip), "as an event": raw("event: error", "data: "+slip, ""),
		"Ollama":    status(500, "", `{"error":{"message":"error parsing tool call: raw='{\"name\": \"b\", \"content\": ' err=unexpected end of JSON input","type":"api_error"}}`),
		"llama.cpp": status(500, "", `{"error":{"code":500,"message":"Failed to parse input at pos 12: <tool_call>{\"name\": \"b\"","type":"server_error"}}`)} {
		e := serve(t, answer, says("fine"))
		client, _ := e.client(t, nil)
		if reply, err := client.Chat(t.Context(), everything(), func(string) {}); err != nil || reply.Text != "fine" || len(client.Adaptations()) != 0 {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
	}
}
