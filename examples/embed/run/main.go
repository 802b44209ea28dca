// Run adds a note, as somebody does who has seen what it would change, and takes it back.
package main

import (
	"context"
	"log"
	"os"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs/load"
	"verbatim/verbs/palettes"
)

func main() {
	ctx := context.Background()
	bank, _ := palettes.Files("bank")
	reg, mistakes := load.Dir(bank)
	heed(mistakes)
	store := must(sqlite.Open(os.Args[1]))
	defer store.Close()
	// Partial: the call needs no Go, so no verb of the palettes gets any here.
	eng := must(engine.New(reg, store, engine.Options{Handlers: &engine.Handlers{Partial: true}}))
	session := must(eng.Session(ctx, "clara"))
	script, mistakes := dsl.Parse(dsl.NewSource("call.dsl", `client.add-note :request-id @thomas-muller-identity :note "Passport follows"`))
	heed(mistakes)
	done := agreed(ctx, session, script)
	agreed(ctx, session, must(session.Journal().Undo(ctx, done.Last)))
}

// agreed checks and previews a script, prints what it would change, and runs that and nothing else.
func agreed(ctx context.Context, session *engine.Session, script *dsl.Script) *receipt.Receipt {
	program, mistakes := session.Check(ctx, script)
	heed(mistakes)
	preview := must(session.Preview(ctx, program))
	receipt.PrintCalls(os.Stdout, preview, receipt.Options{}) // a person would be asked here
	return must(session.Run(ctx, program, engine.RunOptions{Agreed: preview.Answer()}))
}

// heed prints mistakes with the lines that they are in, and ends the program at an error.
func heed(mistakes dsl.Diagnostics) {
	mistakes.Print(os.Stderr, dsl.Style{})
	if mistakes.HasErrors() {
		os.Exit(1)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
