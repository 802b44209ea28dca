package provider_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"verbatim/runtime/tests/provider"
)

var update = flag.Bool("update", false, "write the table of what is refused anew")

// 54: the requests of build b84a0e36, which sent all parameters to all endpoints and took none of them
// back, are refused by the families of which the public reports say so. testdata/README.md says how they
// were recorded; testdata/refused.txt has each family, and its sentence.
func TestRequestsOfAnOldBuildAreRefused(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	refuses := map[string]bool{}
	for i := range provider.Families {
		f := &provider.Families[i]
		fmt.Fprintf(&table, "%s: %s (%s; %s)\n", f.Name, f.Fact, f.Source, f.Seen)
		for _, name := range []string{"tools", "tools-again", "text"} {
			request, err := os.ReadFile(filepath.Join("testdata", "b84a0e36", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			status, body := f.Refuses(request)
			if status == 0 {
				fmt.Fprintf(&table, "    %-11s is taken\n", name)
				continue
			}
			refuses[f.Name] = true
			if body = said(body); len(body) > 200 {
				body = body[:200] + "…"
			}
			fmt.Fprintf(&table, "    %-11s %d %s\n", name, status, body)
		}
	}
	const file = "testdata/refused.txt"
	if *update {
		if err := os.WriteFile(file, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != table.String() {
		t.Errorf("the table is another (-update writes it):\n%s", table.String())
	}
	// What it did not send cannot be refused.
	for i := range provider.Families {
		name := provider.Families[i].Name
		if taken := []string{"Gemini, before tools without arguments", "one that takes no strict", "one without definitions", "OpenAI of today"}; !refuses[name] && !slices.Contains(taken, name) {
			t.Errorf("%s takes all of it", name)
		}
	}
}

// said returns the text of a refusal.
func said(body string) string {
	var is any
	if json.Unmarshal([]byte(body), &is) != nil {
		return body
	}
	var texts []string
	var walk func(key string, v any)
	walk = func(key string, v any) {
		switch v := v.(type) {
		case string:
			if key == "message" || key == "msg" || key == "error" {
				texts = append(texts, v)
			}
		case []any:
			for _, of := range v {
				walk(key, of)
			}
		case map[string]any:
			for _, name := range []string{"error", "errors", "detail", "message", "msg"} {
				walk(name, v[name])
			}
		}
	}
	walk("", is)
	return strings.Join(strings.Fields(strings.Join(texts, " ")), " ")
}

// Every family refuses a request that breaks the protocol, and OpenAI takes each of the others.
func TestWhatIsAgainstTheProtocolIsRefused(t *testing.T) {
	t.Parallel()
	const (
		said  = `{"role":"user","content":"a"}`
		call  = `{"role":"assistant","tool_calls":[{"id":"call00001","type":"function","function":{"name":"a","arguments":"{}"}}]}`
		reply = `{"role":"tool","tool_call_id":"call00001","content":"x"}`
	)
	for name, c := range map[string]struct{ messages, fields string }{
		"":                         {said + "," + call + "," + reply, `"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object","properties":{}}}}]`},
		"no message":               {"", ""},
		"a call without an answer": {said + "," + call + "," + said, ""},
		"an answer without a call": {said + "," + reply, ""},
		"a message of nothing":     {`{"role":"user","content":""}`, ""},
		"a role that is none":      {`{"role":"god","content":"a"}`, ""},
		"arguments that are none":  {said + "," + strings.Replace(call, `"{}"`, `""`, 1) + "," + reply, ""},
		"a tool with a dot":        {said, `"tools":[{"type":"function","function":{"name":"a.b","parameters":{"type":"object"}}}]`},
		"a tool of a long name":    {said, `"tools":[{"type":"function","function":{"name":"` + strings.Repeat("a", 65) + `","parameters":{"type":"object"}}}]`},
		"an enum of nothing":       {said, `"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object","properties":{"x":{"enum":null}}}}}]`},
		"a tool without an object": {said, `"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"string"}}}]`},
		"a choice of no tools":     {said, `"tool_choice":"auto"`},
		"options of no stream":     {said, `"stream_options":{}`},
		"two bounds":               {said, `"max_tokens":5,"max_completion_tokens":5`},
	} {
		text := `{"model":"m","messages":[` + c.messages + `]`
		if c.fields != "" {
			text += "," + c.fields
		}
		text += "}"
		if !json.Valid([]byte(text)) {
			t.Fatalf("%s: %s", name, text)
		}
		taken := 0
		for i := range provider.Families {
			if status, _ := provider.Families[i].Refuses([]byte(text)); status == 0 {
				taken++
			}
		}
		if openAI, _ := provider.Named("OpenAI of today").Refuses([]byte(text)); (openAI == 0) != (name == "") || name != "" && taken > 0 {
			t.Errorf("%q: OpenAI %d, taken by %d: %s", name, openAI, taken, text)
		}
	}
}
