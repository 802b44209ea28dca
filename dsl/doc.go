// Package dsl reads and writes the command language: scripts of calls such as
//
//	client.add-note :request-id @pierre-sow :note "Accountant is sending it"
//
// A call is a verb with named arguments. Parse turns a text into a Script and reports every
// mistake at once, each with its place, what was expected and, if the right spelling can be
// derived from the wrong one, a fix; one broken call never hides another. Format and AppendCall
// write a Script or a call in its canonical spelling, which is what journals and confirmations
// hold.
//
//	script, problems := dsl.Parse(dsl.NewSource("ask.dsl", text))
//	if problems.HasErrors() {
//		problems.Print(os.Stderr, dsl.Style{})
//	}
//	for i := range script.Calls {
//		fmt.Println(dsl.FormatCall(&script.Calls[i]))
//	}
//
// This package does not interpret calls: it accepts any verb, any argument and any value that is
// well formed. SPEC.md describes the language for its users and prints its grammar. The tests
// make a second, slow parser from that grammar, and compare Parse with it.
//
// Package dsl also holds what all readers of text by people or models share: sources and places,
// diagnostics, their printer, and Nearest, which suggests names for a misspelt one.
package dsl
