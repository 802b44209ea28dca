package grammar_test

import (
	"strings"
	"testing"

	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

// X6, X12: what can be done with a row no longer cannot be said of it, in any of
// the forms; what can still be done, such as reading about it, can.
func TestWhatIsSettledCannotBeSaid(t *testing.T) {
	t.Parallel()
	s := session{reg: load(t, "bank")}
	v := vocabulary(s)
	note, read := s.reg.Verb("client.add-note"), s.reg.Verb("client.get-request-detail")
	v.Verbs = []*verbs.Verb{note, read}
	v.Settled = map[*verbs.Param][]string{param(t, note, "request-id"): {"outstanding-request-1"}}
	g := grammar.New(v)
	for text, ok := range map[string]bool{
		`client.add-note :request-id @outstanding-request-1 :note "x"`:      false,
		`client.add-note :request-id @outstanding-request-zweite :note "x"`: true,
		`client.get-request-detail :request-id @outstanding-request-1`:      true,
		`client.get-request-detail :request-id @outstanding-request-zweite`: true,
	} {
		if g.Accepts(text) != ok {
			t.Errorf("%s: allowed is %t", text, !ok)
		}
	}
	says := func() map[string]string {
		schema, err := grammar.JSONSchema(v)
		if err != nil {
			t.Fatal(err)
		}
		tools, err := grammar.Tools(v)
		if err != nil {
			t.Fatal(err)
		}
		forms := map[string]string{"GBNF": grammar.New(v).GBNF(), "Lark": grammar.New(v).Lark(), "JSON Schema": string(schema), "tools": ""}
		for _, tool := range tools {
			forms["tools"] += tool.Name + " " + string(tool.Parameters) + "\n"
		}
		return forms
	}
	for form, text := range says() {
		if n := strings.Count(text, "@outstanding-request-1"); n != 1 && form != "Lark" || !strings.Contains(text, "outstanding") {
			t.Errorf("%s names it %d times:\n%s", form, n, text)
		}
	}
	// With nothing left that it could be used on, a verb is gone.
	v.Settled[param(t, note, "request-id")] = []string{"outstanding-request-1", "outstanding-request-zweite"}
	for form, text := range says() {
		if strings.Contains(text, "add-note") || !strings.Contains(text, "get-request-detail") {
			t.Errorf("%s:\n%s", form, text)
		}
	}
}

func param(t *testing.T, v *verbs.Verb, name string) *verbs.Param {
	t.Helper()
	for i := range v.Params {
		if v.Params[i].Name == name {
			return &v.Params[i]
		}
	}
	t.Fatalf("%s has no %s", v.Name, name)
	return nil
}
