package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing/fstest"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	loading "verbatim/verbs/load"
)

// From text to a committed row: an engine on a new file, one verb without a
// line of Go, and what the person is shown before and after.
func Example() {
	reg, mistakes := loading.Dir(fstest.MapFS{"tea.yaml": &fstest.MapFile{Data: []byte(`
domain: tea
roles: [{name: guest}]
entities:
  order:
    table: tea.orders
    key: order_id
    managed: true
    scope: {principal: who}
    label: "{kind} tea"
    fields:
      who:   {type: string, required: true}
      kind:  {type: string, required: true}
      cups:  {type: integer, required: true, default: 1}
verbs:
  - verb: order
    description: Order tea.
    roles: [guest]
    args: [{name: kind, type: string, required: true}, {name: cups, type: integer, default: 2}]
    effects:
      - {creates: order, set: {who: principal, kind: kind, cups: cups}}
`)}})
	if mistakes.HasErrors() {
		panic(mistakes[0].Summary)
	}
	dir, err := os.MkdirTemp("", "tea")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(filepath.Join(dir, "tea.db"))
	if err != nil {
		panic(err)
	}
	defer store.Close()
	ctx := context.Background()
	store.Migrate(ctx, []*stores.Entity{reg.Entity("order").Store}, true)

	eng, err := engine.New(reg, store, engine.Options{})
	if err == nil {
		err = eng.SetPrincipal(ctx, stores.Principal{Name: "alice", Roles: []string{"guest"}})
	}
	if err != nil {
		panic(err)
	}
	session, err := eng.Session(ctx, "alice")
	if err != nil {
		panic(err)
	}
	script, _ := dsl.Parse(dsl.NewSource("order.dsl", `tea.order :kind "green"`))
	program, _ := session.Check(context.Background(), script)
	preview, err := session.Preview(ctx, program)
	if err != nil {
		panic(engine.Sentence(err))
	}
	receipt.PrintCalls(os.Stdout, preview, receipt.Options{}) // as the command prints it
	done, err := session.Run(ctx, program, engine.RunOptions{Agreed: preview.ID})
	if err != nil {
		panic(engine.Sentence(err))
	}
	fmt.Println(done.Calls[0].Rows[0].Name, "journal", done.First)
	// Output:
	//   1  tea.order                                                          order.dsl:1
	//      + orders  new   green tea
	//          who   "alice"     (principal)
	//          kind  "green"     from :kind (script)
	//          cups  2     from :cups
	// @green-tea journal 1
}
