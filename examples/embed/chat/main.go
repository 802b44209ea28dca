// Chat talks with a person, without a model, in the words of the palettes of a folder, about a store.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/intent"
	"verbatim/runtime/conversation/phrases"
	"verbatim/runtime/engine"
	"verbatim/stores/sqlite"
	"verbatim/verbs/load"
)

func main() {
	reg, mistakes := load.Dir(os.DirFS(os.Args[1]))
	if mistakes.HasErrors() {
		log.Fatal(mistakes[0].Summary)
	}
	store := must(sqlite.Open(os.Args[2]))
	defer store.Close()
	eng := must(engine.New(reg, store, engine.Options{})) // no handlers: verbs that need Go are refused
	session := must(eng.Session(context.Background(), os.Args[3]))
	chat := must(dialog.New(dialog.Options{Registry: reg, Session: session, Clock: time.Now, Interpreter: phrases.New(reg, intent.New(reg), session, time.Now, time.UTC)}))
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println(must(chat.Say(context.Background(), dialog.Message{Text: in.Text()})).Text)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
