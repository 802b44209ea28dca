package dsl_test

import (
	"fmt"
	"os"
	"slices"

	"verbatim/dsl"
)

func ExampleParse() {
	script, problems := dsl.Parse(dsl.NewSource("ask.dsl", `
client.add-note :request-id @pierre-sow :note "later" :expected-date 2025-02-30
client.get-status :as @status
`))
	if err := problems.Print(os.Stdout, dsl.Style{}); err != nil {
		panic(err)
	}
	for i := range script.Calls {
		c := &script.Calls[i]
		fmt.Println(c.Verb, c.As, c.Broken)
	}
	// Output:
	// error[invalid-date]: 2025-02-30 is not a date; February 2025 has 28 days
	//    --> ask.dsl:2:70
	//     |
	//   2 | client.add-note :request-id @pierre-sow :note "later" :expected-date 2025-02-30
	//     |                                                                      ^^^^^^^^^^ a date of the calendar is wanted here
	// client.add-note  true
	// client.get-status status false
}

func ExampleWalk() {
	script, _ := dsl.Parse(dsl.NewSource("", `deal.batch :calls [(deal.open :of @acme) (deal.close :of @acme.parent)]`))
	dsl.Walk(script, func(n dsl.Node) bool {
		switch {
		case n.Call != nil:
			fmt.Println("call  ", n.Call.Verb)
		case n.Value != nil && n.Value.Kind == dsl.Symbol:
			fmt.Println("symbol", n.Value.Text)
		}
		return true
	})
	// Output:
	// call   deal.batch
	// call   deal.open
	// symbol acme
	// call   deal.close
	// symbol acme.parent
}

// A script is read-only; to rewrite one, build new calls and print those.
func ExampleFormat() {
	script, _ := dsl.Parse(dsl.NewSource("", `
# renamed since
(client.note :text  "later")
client.get-status`[1:]))
	var calls []dsl.Call
	for _, c := range script.Calls {
		if c.Verb == "client.note" {
			text, _ := c.Get("text")
			c.Verb = "client.add-note"
			c.Args = []dsl.Arg{
				dsl.NewArg("note", text),
				dsl.NewArg("expected-date", dsl.NewDate("2025-01-03")),
			}
		}
		calls = append(calls, c)
	}
	rewritten := dsl.Script{Source: script.Source, Calls: calls, Comments: script.Comments}
	fmt.Print(dsl.Format(&rewritten))
	// Output:
	// # renamed since
	// client.add-note :note "later" :expected-date 2025-01-03
	// client.get-status
}

func ExampleNewCall() {
	call := dsl.NewCall("client.add-note",
		dsl.NewArg("request-id", dsl.NewSymbol("pierre-sow")),
		dsl.NewArg("note", dsl.NewString("he said \"later\"")),
		dsl.NewArg("tags", dsl.NewList(dsl.NewCode("URGENT"), dsl.NewInteger(2))),
	)
	call.As = "note"
	fmt.Println(dsl.FormatCall(&call), call.Err())

	call.Args[1].Value = dsl.NewDate("2025-02-30")
	fmt.Println(call.Err())
	// Output:
	// client.add-note :request-id @pierre-sow :note "he said \"later\"" :tags [URGENT 2] :as @note <nil>
	// client.add-note: :note: "2025-02-30" is not a value of the language
}

func ExampleNearest() {
	verbs := []string{"client.add-note", "client.get-status", "client.escalate"}
	fmt.Println(dsl.Nearest("client.add-noet", slices.Values(verbs)))
	fmt.Println(dsl.Nearest("client.dance", slices.Values(verbs)))
	// Output:
	// [client.add-note]
	// []
}

func ExampleApplyFixes() {
	text := `Client.Add-Note :note “later”, :expected-date=2025-1-3`
	_, problems := dsl.Parse(dsl.NewSource("", text))
	fixed, made := dsl.ApplyFixes(text, problems.Fixes(false))
	fmt.Println(made, fixed)
	// Output:
	// 5 client.add-note :note "later" :expected-date 2025-01-03
}
