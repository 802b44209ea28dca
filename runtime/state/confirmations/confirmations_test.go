package confirmations

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"verbatim/stores"
)

// asRow is a change that adds a row, as it is read back.
func asRow(c stores.Change) stores.Row {
	row := stores.Row{Entity: Entity, Values: make([]stores.Value, len(Entity.Fields))}
	row.Values[FieldKey] = c.Key
	for _, a := range c.Set {
		row.Values[a.Field] = a.Value
	}
	return row
}

func waiting() *Confirmation {
	at := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	return &Confirmation{Key: stores.NewString("k"), ID: "0123456789abcdef0123456789abcdef", Asker: "kim", Person: "kim@example.org", Session: "s-1", Source: "a.dsl",
		Script: `desk.pin :text "secret"`, Origins: "o", Digest: "d", Preview: "p", Palette: "q", Roles: []string{"keeper", ByAsker}, Agreed: []string{"", "kim"},
		Rows: []string{"pin 1"}, UnderKey: "u", Before: 7, Time: at, Expires: at.Add(time.Hour), Status: Waiting, Receipt: "r", Answers: `{"a":{}}`}
}

// What is kept of a confirmation is all of it.
func TestAConfirmationIsReadAsItWasKept(t *testing.T) {
	t.Parallel()
	c := waiting()
	row := asRow(c.Insert())
	got := Of(row)
	got.Row = stores.Row{}
	if !reflect.DeepEqual(got, c) {
		t.Errorf("%+v\nwant\n%+v", got, c)
	}
	for i, f := range Entity.Fields {
		if f.Required && row.Values[i].IsNull() {
			t.Errorf("%s is left out", f.Name)
		}
	}
}

// SAFE-C5: what is settled holds only while nobody else has settled it, and its
// secrets go with it.
func TestWhatIsSettledLosesItsSecrets(t *testing.T) {
	t.Parallel()
	c := Of(asRow(waiting().Insert()))
	at := c.Time.Add(time.Minute)
	for _, status := range []string{Used, Declined, Expired, Stale} {
		change := c.Settle(`desk.pin :text "(not shown)"`, status, "bob", "not now", at)
		if !slices.Contains(change.Guard, FieldStatus) || !slices.Contains(change.Guard, FieldDigest) || !slices.Contains(change.Guard, FieldAgreed) {
			t.Errorf("%s holds whatever became of it: guarded are %v", status, change.Guard)
		}
		row := stores.Row{Entity: Entity, Values: slices.Clone(c.Row.Values)}
		for _, a := range change.Set {
			row.Values[a.Field] = a.Value
		}
		got := Of(row)
		if got.Script != `desk.pin :text "(not shown)"` || got.Status != status || got.By != "bob" || got.Reason != "not now" || got.Answers != "" || !got.Settled.Equal(at) {
			t.Errorf("%s: %+v", status, got)
		}
	}
}

// SAFE-C4: nobody agrees to what they asked for themselves, by whichever login,
// unless they were not there when it was asked.
func TestTheAskerDoesNotAgreeForOthers(t *testing.T) {
	t.Parallel()
	all := func(string) bool { return true }
	none := func(string) bool { return false }
	asker := &stores.Principal{Name: "kim"}
	again := &stores.Principal{Name: "kim-at-home", Person: "kim@example.org"}
	other := &stores.Principal{Name: "bob"}
	for _, c := range []struct {
		name  string
		roles []string
		who   *stores.Principal
		has   func(string) bool
		role  string
		may   bool
		leave bool // it has to be left to others
	}{
		{"the asker", []string{"keeper"}, asker, all, "keeper", false, true},
		{"the asker, by another login", []string{"keeper"}, again, all, "keeper", false, true},
		{"the asker, of a job of theirs", []string{"keeper", ByAsker}, asker, all, ByAsker, true, false},
		{"the asker's other login, of a job of theirs", []string{"keeper", ByAsker}, again, all, ByAsker, false, false},
		{"the asker, for others, of a job of theirs", []string{"keeper", ByAsker}, asker, all, "keeper", false, false},
		{"somebody else", []string{"keeper"}, other, all, "keeper", true, false},
		{"somebody else without the role", []string{"keeper"}, other, none, "keeper", false, false},
		{"somebody else, in the asker's place", []string{ByAsker}, other, all, ByAsker, false, false},
	} {
		x := waiting()
		x.Roles = c.roles
		if got := x.MayAgree(c.who, c.has, c.role); got != c.may {
			t.Errorf("%s may agree: %t", c.name, got)
		}
		if got := !x.MayDecide(c.who); got != c.leave {
			t.Errorf("%s has to leave it to others: %t", c.name, got)
		}
	}
}

// SAFE-C1: two who ask the same at once make one key; asking again after it was
// settled makes another, and so does asking somebody else.
func TestTheKeyOfAConfirmationFollowsFromThoseBeforeIt(t *testing.T) {
	t.Parallel()
	c := waiting()
	first := c.MakeKey(nil)
	if first != c.MakeKey(nil) {
		t.Error("asked twice at once, there are two")
	}
	others := []*Confirmation{{Key: first}}
	if c.MakeKey(others) == first {
		t.Error("asked again, it is the one that was settled")
	}
	for _, change := range []func(*Confirmation){
		func(c *Confirmation) { c.Asker = "bob" }, func(c *Confirmation) { c.Digest = "e" }, func(c *Confirmation) { c.Roles = nil },
	} {
		d := waiting()
		if change(d); d.MakeKey(nil) == first {
			t.Errorf("%+v has the key of another", d)
		}
	}
}
