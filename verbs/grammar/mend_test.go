package grammar_test

import (
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

// G40: slips of form that can mean one thing only are mended, and what could mean two is as it was
// written. Programs that call the API are read by the letter.
func TestAModelsSlipsOfFormAreMended(t *testing.T) {
	t.Parallel()
	v := vocabulary(session{reg: load(t, "bank")})
	const want = `client.add-note :request-id @r :note "x" :expected-date 2025-01-03`
	const good = `{"request-id":"@r","note":"x","expected-date":"2025-01-03"}`
	for name, c := range map[string]struct{ tool, args, want string }{
		"as it should be":             {"client__add-note", good, want},
		"snake case":                  {"client__add-note", `{"request_id":"@r","note":"x","expected_date":"2025-01-03"}`, want},
		"camel case":                  {"client__add-note", `{"requestId":"@r","Note":"x","expectedDate":"2025-01-03"}`, want},
		"a prefix":                    {"functions.client__add-note", good, want},
		"the verb's own name":         {"client.add-note", good, want},
		"another spelling":            {"client_add_note", good, want},
		"midnight":                    {"client__add-note", `{"request-id":"@r","note":"x","expected-date":"2025-01-03T00:00:00.000Z"}`, want},
		"an empty optional":           {"client__add-note", `{"request-id":"@r","note":"x","expected-date":""}`, `client.add-note :request-id @r :note "x"`},
		"a text that holds it":        {"client__add-note", `"{\"request-id\":\"@r\",\"note\":\"x\",\"expected-date\":\"2025-01-03\"}"`, want},
		"twice":                       {"client__add-note", good + good, want},
		"behind an empty object":      {"client__add-note", "{}" + good, want},
		"behind several of them":      {"default_api:client__add-note", "{} {}" + good + good, want},
		"a fence":                     {"client__add-note", "```json\n" + good + "\n```", want},
		"noon is another matter":      {"client__add-note", `{"request-id":"@r","note":"x","expected-date":"2025-01-03T12:00:00Z"}`, `client.add-note :request-id @r :note "x" :expected-date "2025-01-03T12:00:00Z"`},
		"an empty text is a text":     {"client__add-note", `{"request-id":"@r","note":""}`, `client.add-note :request-id @r :note ""`},
		"two spellings at once":       {"client__add-note", `{"request-id":"@r","note":"x","Note":"y"}`, ""},
		"two different ones in a row": {"client__add-note", `{"note":"x"}{"note":"y"}`, ""},
		"half of it":                  {"client__add-note", `{"note":"x`, ""},
	} {
		call, err := grammar.ModelCall(v, c.tool, c.args)
		got := ""
		if err == nil {
			got = dsl.FormatCall(&call)
		}
		if got != c.want {
			t.Errorf("%s: %s (%v), want %s", name, got, err, c.want)
		}
	}
	// A name is no longer than endpoints take, and is known by what is left of it.
	long := &verbs.Verb{Name: "client." + strings.Repeat("long-", 14) + "way"}
	other := &verbs.Verb{Name: long.Name + "-on"}
	tools, err := grammar.Tools(grammar.Vocabulary{Verbs: []*verbs.Verb{other, long}})
	if err != nil || len(tools[0].Name) != 64 || len(tools[1].Name) != 64 || tools[0].Name == tools[1].Name {
		t.Fatal(err, tools)
	}
	for i, verb := range []*verbs.Verb{other, long} {
		call, err := grammar.ModelCall(grammar.Vocabulary{Verbs: []*verbs.Verb{other, long}}, tools[i].Name, "{}")
		if err != nil || call.Verb != verb.Name {
			t.Errorf("%s is %s, %v", tools[i].Name, call.Verb, err)
		}
	}
	if call, err := grammar.Call(v, "client__add-note", `{"request_id":"@r","note":"x"}`); err != nil || dsl.FormatCall(&call) == `client.add-note :request-id @r :note "x"` {
		t.Errorf("a program's call is guessed at: %s, %v", dsl.FormatCall(&call), err)
	}
}
