// Embed previews one call, and prints what it would change as the command does.
package main

import (
	"context"
	"fmt"
	"os"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/palettes"
)

func main() {
	if err := show(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// show previews a call on the store in a file.
func show(file string) error {
	ctx := context.Background()
	bank, _ := palettes.Files("bank")
	reg, mistakes := verbs.Load(bank)
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
	program, mistakes := session.Check(ctx, script)
	if mistakes.HasErrors() {
		return fmt.Errorf("%s", mistakes[0].Summary)
	}
	preview, err := session.Preview(ctx, program)
	if err != nil {
		return err
	}
	receipt.PrintCalls(os.Stdout, preview, receipt.Options{})
	return nil
}
