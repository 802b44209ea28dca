// Embed adds a note, as somebody does who has seen what it would change, and takes it back.
package main

import (
	"context"
	"fmt"
	"os"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs/load"
	"verbatim/verbs/palettes"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run makes one call on the store in a file, and undoes it.
func run(ctx context.Context, file string) error {
	bank, _ := palettes.Files("bank")
	reg, mistakes := load.Dir(bank)
	if mistakes.HasErrors() {
		return fmt.Errorf("%s", mistakes[0].Summary)
	}
	store, err := sqlite.Open(file)
	if err != nil {
		return err
	}
	defer store.Close()
	// Partial: the call needs no Go, so no verb of the palettes gets any here.
	eng, err := engine.New(reg, store, engine.Options{Handlers: &engine.Handlers{Partial: true}})
	if err != nil {
		return err
	}
	session, err := eng.Session(ctx, "clara")
	if err != nil {
		return err
	}
	script, mistakes := dsl.Parse(dsl.NewSource("call.dsl", `client.add-note :request-id @thomas-muller-identity :note "Passport follows"`))
	if mistakes.HasErrors() {
		return fmt.Errorf("%s", mistakes[0].Summary)
	}
	done, err := agreed(ctx, session, script)
	if err != nil {
		return err
	}
	back, err := session.Journal().Undo(ctx, done.Last)
	if err != nil {
		return err
	}
	_, err = agreed(ctx, session, back)
	return err
}

// agreed checks and previews a script, prints what it would change, and runs that and nothing else.
func agreed(ctx context.Context, session *engine.Session, script *dsl.Script) (*receipt.Receipt, error) {
	program, mistakes := session.Check(ctx, script)
	if mistakes.HasErrors() {
		return nil, fmt.Errorf("%s", mistakes[0].Summary)
	}
	preview, err := session.Preview(ctx, program)
	if err != nil {
		return nil, err
	}
	receipt.PrintCalls(os.Stdout, preview, receipt.Options{}) // a person would be asked here
	return session.Run(ctx, program, engine.RunOptions{Agreed: preview.Answer()})
}
