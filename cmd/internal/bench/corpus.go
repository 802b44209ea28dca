package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The same calls in four languages. A contestant reads what its language would
// naturally write for them: Starlark a call with keywords, HCL a block with
// attributes, JSON an object.

type arg struct{ key, value, kind string }

type call struct {
	verb string
	args []arg
}

// script is n calls of the shapes that scripts are made of; 10 000 of them are
// one megabyte in our language.
func script(n int) []call {
	calls := make([]call, n)
	for i := range calls {
		request := fmt.Sprintf("person-%d", i%500)
		switch i % 4 {
		case 0:
			calls[i] = call{"client.add-note", []arg{
				{"request-id", request, "symbol"},
				{"note", "Accountant is sending it", "string"},
				{"expected-date", fmt.Sprintf("2025-01-%02d", i%28+1), "date"},
			}}
		case 1:
			calls[i] = call{"client.submit-document", []arg{
				{"request-id", request, "symbol"},
				{"document-type", "TAX_RETURN", "code"},
				{"file-reference", "upload://2025/return.pdf", "string"},
			}}
		case 2:
			calls[i] = call{"client.extend-due-date", []arg{
				{"request-id", request, "symbol"},
				{"days", fmt.Sprint(i%30 + 1), "integer"},
				{"reason", "Away until the end of the month", "string"},
			}}
		default:
			calls[i] = call{"client.get-outstanding", []arg{
				{"cbu-id", "allianz-re", "symbol"},
				{"include-completed", "true", "bool"},
				{"largest-amount", fmt.Sprintf("%d.50", 1000+i), "decimal"},
			}}
		}
	}
	return calls
}

func verbatimText(calls []call) string {
	var b strings.Builder
	for _, c := range calls {
		b.WriteString(c.verb)
		for _, a := range c.args {
			b.WriteString(" :" + a.key + " ")
			switch a.kind {
			case "string":
				b.WriteString(`"` + a.value + `"`)
			case "symbol":
				b.WriteString("@" + a.value)
			default:
				b.WriteString(a.value)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func underscored(s string) string { return strings.NewReplacer("-", "_", ".", "_").Replace(s) }

func starlarkText(calls []call) string {
	var b strings.Builder
	for _, c := range calls {
		b.WriteString(underscored(c.verb) + "(")
		for i, a := range c.args {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(underscored(a.key) + "=")
			switch a.kind {
			case "symbol", "code":
				b.WriteString(underscored(a.value))
			case "bool":
				b.WriteString("True")
			case "integer", "decimal":
				b.WriteString(a.value)
			default:
				b.WriteString(`"` + a.value + `"`)
			}
		}
		b.WriteString(")\n")
	}
	return b.String()
}

func hclText(calls []call) string {
	var b strings.Builder
	for _, c := range calls {
		b.WriteString(`call "` + c.verb + "\" {\n")
		for _, a := range c.args {
			b.WriteString("  " + a.key + " = ")
			switch a.kind {
			case "symbol", "code", "bool", "integer", "decimal":
				b.WriteString(a.value)
			default:
				b.WriteString(`"` + a.value + `"`)
			}
			b.WriteByte('\n')
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// jsonCall is what a program would decode calls into.
type jsonCall struct {
	Verb string         `json:"verb"`
	Args map[string]any `json:"args"`
}

func jsonText(calls []call) ([]byte, error) {
	out := make([]jsonCall, len(calls))
	for i, c := range calls {
		out[i] = jsonCall{c.verb, make(map[string]any, len(c.args))}
		for _, a := range c.args {
			switch a.kind {
			case "symbol":
				out[i].Args[a.key] = "@" + a.value
			case "bool":
				out[i].Args[a.key] = true
			case "integer", "decimal":
				out[i].Args[a.key] = json.Number(a.value)
			default:
				out[i].Args[a.key] = a.value
			}
		}
	}
	return json.Marshal(out)
}
