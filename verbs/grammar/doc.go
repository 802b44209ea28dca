// Package grammar makes grammars from palettes, to constrain a language model while it writes: it
// cannot write anything that is not permitted.
//
//	g := grammar.New(grammar.Vocabulary{Verbs: permitted, Names: session.Names})
//	reply, err := model.Chat(ctx, llm.Request{Messages: m, Grammar: g.GBNF()}, nil)
//
// A grammar covers verbs, arguments, types and their limits, code lists and the names that a
// session knows, in the language's canonical spelling. It is not a permission check: the model's
// text is parsed and checked like any other.
//
// Endpoints that take no grammar take Tools. A tool is strict if its schema uses only the part of
// JSON Schema that such endpoints enforce: see Strict. There the length of a text is described in
// words. Names of rows are listed once; if an entity has more than 250, any name is allowed, and
// the description names the read that finds them.
//
// # Who reads it
//
// The tests give the output to other programs that read it. A batch of sentences of each
// palette's grammar, and the same sentences with a mistake at one place, is put to Lark for
// Python, with both of its parsers, to llama.cpp's own reader of GBNF, and to xgrammar, which vLLM
// and SGLang use; their verdict on each must equal ours. xgrammar has a form of its own, which
// allows a little more: see XGrammar. ajv in strict mode and xgrammar compile every JSON Schema of
// every role of every shipped palette, with rows and without.
//
//	make grammars
//
// asks of 2 063 sentences; Lark 1.1.5 (lalr and earley), llama.cpp v0.5.0 and xgrammar 0.1.27
// agree with us on every one of them. make test asks of fewer. A grammar of
// the client palette with its analysts' verbs is 17 kB; llama.cpp loads it in
// some 15 ms and takes some 3 µs for a character of a note, Lark and xgrammar load it in
// half a second.
//
// The output uses only the features that all of them share:
//
//   - GBNF counts to 500 at a time, one count inside the other, because
//     llama.cpp refuses greater ones and is slow where there is more than one
//     way to count the same thing.
//   - Lark gets plain rules, quoted texts and terminals that are one regular
//     expression: no imports, priorities, templates, lookarounds, lazy repeats,
//     nor anything that is ignored. Texts have the escapes that JSON and Python
//     share, and regular expressions those that Python and Rust share, since
//     llguidance reads texts as JSON and compiles with Rust's. llguidance itself
//     was not at hand; its documentation and its lexer were followed.
//   - What a rule may leave out, or choose between, is a rule of its own in Lark,
//     which would else multiply all of it out.
//   - Terminals do not overlap where one may follow another, so that a lexer that
//     takes the longest, the first or any match finds the same. The exception is
//     a palette's own schema whose anyOf has numbers with different limits:
//     Lark's lalr parser may then refuse one of them, its earley parser and the
//     others do not.
package grammar
