package engine_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"verbatim/stores"
)

// Two systems in one directory each have names of their own, and share what they say.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	bank, err := os.ReadFile("testdata/apart/bank.yaml")
	if err != nil {
		t.Fatal(err)
	}
	worldsOfPalettes(t, map[string]string{"lending.yaml": lendingText(t), "bank.yaml": string(bank)}, func(t *testing.T, w *world) {
		err := w.store.SetPrincipal(context.Background(), stores.Principal{Name: "bea", Roles: []string{"bank.keeper"}, Holds: map[string][]stores.Value{"club": {id(1)}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := inNames(w.done("bea", `bank.add :club-id @north :name "Drill"`)); len(got) != 1 || got[0] != `+ bank.item club=north name="Drill" status="NEW"` {
			t.Errorf("%q", got)
		}
		// One name, two rows: each verb means its own.
		w.done("bea", "bank.list\nbank.pay :item-id @drill")
		r, err := w.run("bea", "bank.list")
		if err != nil || plain(fmt.Sprint(r.Calls[0].Result.Rows)) != `[["@drill" "Drill" "PAID"]]` {
			t.Errorf("%v %v", r.Calls[0].Result, err)
		}
		w.done("kim", `lending.lose :item-id @drill`)
		// keeper and bank.keeper are two roles: neither may do what the other may.
		for who, script := range map[string]string{"bea": `lending.lose :item-id @drill`, "kim": `bank.pay :item-id @drill`} {
			_, err := w.run(who, script)
			if err == nil || !strings.Contains(err.Error(), "may not") && !strings.Contains(err.Error(), "not permitted") && !strings.Contains(err.Error(), "role") {
				t.Errorf("%s: %v", who, err)
			}
		}
		// What is shared is one thing: a member of the club pays.
		w.done("mia", `bank.pay :item-id @drill :status NEW`)
		if entries := w.journal(); !strings.Contains(fmt.Sprint(entries), "bank.item") {
			t.Error("the journal does not say whose it is")
		}
	})
}
