package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
)

// A script may add more rows than one read of the store returns: their labels are read in shares.
func TestAScriptAddsMoreRowsThanAReadReturns(t *testing.T) {
	t.Parallel()
	s := sqliteShop(t, t.TempDir(), sqlite.RowCap(1000))
	var b strings.Builder
	for i := range 1001 {
		fmt.Fprintf(&b, "retail.add-address :customer-id @anna-berger :street \"Ring %d\" :postcode \"1010\" :city \"City %d\"\n", i, i)
	}
	session, err := s.engine.Session(t.Context(), "mara")
	if err != nil {
		t.Fatal(err)
	}
	script, _ := dsl.Parse(dsl.NewSource("many.dsl", b.String()))
	p, ds := session.Check(t.Context(), script, engine.CheckOptions{Said: verbs.Literals{Origin: ofPerson}})
	if p == nil {
		t.Fatal(told(ds))
	}
	done, err := session.Run(t.Context(), p, engine.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := done.Calls[1000].Rows[0].Label; got != "Anna Berger City 1000" {
		t.Errorf("the last row is called %q", got)
	}
}
