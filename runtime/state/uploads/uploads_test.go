package uploads

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/stores"
)

// A heldTx holds the bytes of uploads, and notes what is applied.
type heldTx struct {
	stores.Tx
	contents map[string]stores.Row
	applied  []stores.Change
	err      error
}

func (t *heldTx) Get(_ context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	if row, ok := t.contents[key.Text()]; ok && e == Contents {
		return row, nil
	}
	return stores.Row{}, stores.ErrNotFound
}

func (t *heldTx) Apply(_ context.Context, b stores.Batch) error {
	t.applied = append(t.applied, b.Changes...)
	return t.err
}

func values(c stores.Change) []stores.Value {
	v := make([]stores.Value, len(c.Entity.Fields))
	v[c.Entity.Key] = c.Key
	for _, a := range c.Set {
		v[a.Field] = a.Value
	}
	return v
}

func sent() Upload {
	at := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	return Upload{ID: "u1", Owner: "clara", Name: "pass.pdf", Type: "application/pdf", Size: 7, Sum: "abc", Verdict: Pending, Uploaded: at, Expires: at.Add(time.Hour)}
}

// SAFE-H7: an upload is read as it was begun. The same bytes are kept once, and what
// is being deleted is not referred to again before it is gone.
func TestTheSameBytesAreKeptOnce(t *testing.T) {
	t.Parallel()
	row := func(state string) stores.Row {
		v := make([]stores.Value, len(Contents.Fields))
		v[contentSum], v[contentTag], v[contentSize], v[contentState] = stores.NewString("abc"), stores.NewString("t1"), stores.NewInt(7), stores.NewString(state)
		return stores.Row{Entity: Contents, Values: v}
	}
	for _, c := range []struct {
		name     string
		contents map[string]stores.Row
		dropped  string
		kept     string // the tag of the bytes; "" where they have to be deleted first
		ops      []stores.Op
	}{
		{"new bytes", nil, "", "t2", []stores.Op{stores.Insert, stores.Insert}},
		{"bytes that are kept", map[string]stores.Row{"abc": row(held)}, "", "t1", []stores.Op{stores.Insert}},
		{"bytes that are going", map[string]stores.Row{"abc": row(going)}, "", "", nil},
		{"bytes that are gone", map[string]stores.Row{"abc": row(going)}, "t1", "t2", []stores.Op{stores.Update, stores.Insert}},
	} {
		tx := &heldTx{contents: c.contents}
		u := sent()
		being, err := Begin(t.Context(), tx, &u, "t2", c.dropped, stores.Entry{})
		if err != nil || (being != nil) != (c.kept == "") || being != nil && being.Kept != "t1" || u.Kept != c.kept {
			t.Errorf("%s: %+v, kept as %q, %v", c.name, being, u.Kept, err)
		}
		var ops []stores.Op
		for _, change := range tx.applied {
			ops = append(ops, change.Op)
		}
		if !slices.Equal(ops, c.ops) {
			t.Errorf("%s: %v, want %v", c.name, ops, c.ops)
		}
		if len(ops) == 0 {
			continue
		}
		got, want := Of(values(tx.applied[len(ops)-1])), sent()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: read as %+v, want %+v", c.name, got, want)
		}
	}
	u := sent()
	if _, err := Begin(t.Context(), &heldTx{err: stores.ErrDuplicate}, &u, "t2", "", stores.Entry{}); !errors.Is(err, stores.ErrConflict) {
		t.Errorf("the same bytes at once: %v", err)
	}
}

// SAFE-H7: an upload expires unless it is used, and lasts as long as an agreement to
// its use may be given.
func TestAnUploadExpiresUnlessItIsUsed(t *testing.T) {
	t.Parallel()
	u := sent()
	if u.Gone(u.Expires.Add(-time.Second)) || !u.Gone(u.Expires) {
		t.Error("it expires at another time than it says")
	}
	tx := &heldTx{}
	if _, err := Begin(t.Context(), tx, &u, "t", "", stores.Entry{}); err != nil {
		t.Fatal(err)
	}
	row := stores.Row{Entity: Entity, Values: values(tx.applied[1])}
	if c, some := Await(row, u.Expires.Add(time.Minute)); !some || c.Set[0].Value != stores.NewTime(u.Expires.Add(time.Minute)) {
		t.Errorf("an agreement may outlive it: %+v", c)
	}
	if _, some := Await(row, u.Expires); some {
		t.Error("it lasts longer than it has to")
	}
	c, _ := Use(row, "client.submit-document", Contents, stores.NewString("k1"), u.Uploaded)
	if !slices.Contains(c.Guard, fieldVerdict) || !slices.Contains(c.Guard, fieldUsedAt) {
		t.Errorf("it is used whatever became of it: guarded are %v", c.Guard)
	}
	for _, a := range c.Set {
		row.Values[a.Field] = a.Value
	}
	used := Of(row.Values)
	if !slices.Equal(used.Rows, []Place{{Contents.Name, "k1"}}) || used.UsedBy != "client.submit-document" || !used.UsedAt.Equal(u.Uploaded) || !used.Expires.IsZero() || used.Gone(u.Expires.Add(time.Hour)) {
		t.Errorf("%+v", used)
	}
	if _, some := Use(row, "client.submit-document", nil, stores.Value{}, u.Expires); some {
		t.Error("a second use without a row changes it")
	}
	c, _ = Use(row, "client.submit-document", Contents, stores.NewString("k2"), u.Expires)
	if len(c.Set) != 1 || !strings.Contains(c.Set[0].Value.Text(), "k2") || !strings.Contains(c.Set[0].Value.Text(), "k1") {
		t.Errorf("a second row is noted as %+v", c.Set)
	}
	if _, some := Await(row, u.Expires.Add(time.Hour)); some {
		t.Error("what is used is given an end")
	}
}
