// Package dsl reads and writes the command language: scripts of calls such as
//
//	client.add-note :request-id @pierre-sow :note "Accountant is sending it"
//
// A call is a verb and arguments with names. Parse turns a text into a Script
// and tells every mistake at once, each with its place, what was expected and,
// where the right spelling can be told from the wrong one, a fix; one broken
// call never hides another. Format and AppendCall write a Script or a call in
// its one spelling, which is what journals and confirmations hold.
//
//	script, problems := dsl.Parse(dsl.NewSource("ask.dsl", text))
//	if problems.HasErrors() {
//		problems.Print(os.Stderr, dsl.Style{})
//	}
//	for i := range script.Calls {
//		fmt.Println(dsl.FormatCall(&script.Calls[i]))
//	}
//
// What a call means is not this package's business: it accepts any verb, any
// argument and any value that is well formed. SPEC.md describes the language
// for its users and prints its grammar. The tests make a second, slow parser out of
// that grammar, and compare Parse with it.
//
// Package dsl also holds what everything that reads text written by people or
// models shares: sources and places, diagnostics, their printer, and Nearest,
// which says what a misspelt name was meant for.
package dsl
