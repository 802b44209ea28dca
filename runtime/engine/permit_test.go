package engine

import (
	"slices"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// noStore is for engines whose store nothing asks.
type noStore struct{ stores.Store }

func deskEngine(t *testing.T) *Engine {
	t.Helper()
	e, err := New(deskRegistry(t), noStore{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// SAFE-L3: whoever has one of a verb's roles may use it; a verb without roles is
// used by nobody.
func TestOneOfTheRolesIsEnough(t *testing.T) {
	t.Parallel()
	a, b, c := &verbs.Role{Name: "a"}, &verbs.Role{Name: "b"}, &verbs.Role{Name: "a"}
	list := func(roles ...*verbs.Role) []*verbs.Role { return roles }
	for _, c := range []struct {
		have, may []*verbs.Role
		want      bool
	}{
		{list(a), list(a), true}, {list(b, a), list(a), true}, {list(b), list(a, b), true}, {list(b), list(a), false},
		{list(c), list(a), false}, {nil, list(a), false}, {list(a), nil, false}, {nil, nil, false},
	} {
		if got := permits(c.have, c.may); got != c.want {
			t.Errorf("%v of %v: %t", c.have, c.may, got)
		}
	}
}

// SAFE-L3, SAFE-A2: each call that a principal may not make is told of once, what
// stands inside a macro as well; only work calls what is internal.
func TestEveryCallThatIsNotPermittedIsTold(t *testing.T) {
	t.Parallel()
	e := deskEngine(t)
	const pin = `"00000000-0000-4000-9000-000000000001"`
	script, ds := dsl.Parse(dsl.NewSource("a.dsl", "desk.drop :pin-id "+pin+"\ndesk.pin :text \"c\"\ndesk.turn :pin-id "+pin+"\ndesk.tidy\n"))
	if ds.HasErrors() {
		t.Fatal(inWords(ds))
	}
	p, ds := e.reg.CheckWork(script, nil)
	if ds.HasErrors() {
		t.Fatal(inWords(ds))
	}
	const noPin, noTurn = "1 desk.pin", "2 desk.turn desk.pin"
	for _, c := range []struct {
		roles []string
		work  bool
		want  []string
	}{
		{[]string{"keeper"}, true, nil},
		{[]string{"keeper"}, false, []string{"3 desk.tidy"}},
		{[]string{"guest"}, true, []string{noPin, noTurn}},
		{[]string{"guest"}, false, []string{noPin, noTurn, "3 desk.tidy"}},
		{[]string{"guest", "keeper"}, true, nil},
		{nil, true, []string{"0 desk.drop", noPin, "2 desk.turn", "3 desk.tidy"}},
	} {
		var roles []*verbs.Role
		for _, role := range c.roles {
			roles = append(roles, e.reg.Role(role))
		}
		var want []string
		for _, w := range c.want {
			words := append(strings.Fields(w), "")
			i := int(words[0][0] - '0')
			want = append(want, words[0]+notPermitted(placeOf(p, &p.Calls()[i]), words[1], words[2]).Summary)
		}
		var got []string
		for _, b := range permit(p, roles, e.verbs, c.work) {
			got = append(got, string(rune('0'+b.call))+b.diagnostic.Summary)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, of work %t:\n%q\nwant\n%q", c.roles, c.work, got, want)
		}
	}
}
