package peers

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"verbatim/stores"
	"verbatim/stores/sqlite"
)

func open(t *testing.T) (*Book, *time.Time) {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "peers.db"))
	if err == nil {
		_, err = store.Migrate(context.Background(), Own(), true)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return &Book{Store: store, Clock: func() time.Time { return now }}, &now
}

// All processes sign with one key. After a quarter it is another, and the one before is
// published for as long again.
func TestKeysAreSharedAndChange(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, now := open(t)
	other := *b
	keys := func(b *Book) (ids []string) {
		t.Helper()
		all, err := b.Keys(ctx)
		if err != nil || len(all) == 0 {
			t.Fatal(err)
		}
		for _, k := range all {
			if j := k.JWK(); j.ID != k.ID || j.Type != "OKP" || j.Curve != "Ed25519" || len(j.X) != 43 {
				t.Errorf("%+v", j)
			}
			ids = append(ids, k.ID)
		}
		return ids
	}
	first := keys(b)
	if again := keys(&other); len(first) != 1 || !slices.Equal(first, again) {
		t.Fatal(first, again)
	}
	*now = now.Add(signs - time.Second)
	if again := keys(b); !slices.Equal(first, again) {
		t.Error(again)
	}
	*now = now.Add(2 * time.Second)
	second := keys(&other)
	if len(second) != 2 || second[0] == first[0] || second[1] != first[0] || !slices.Equal(second, keys(b)) {
		t.Fatal(first, second)
	}
	*now = now.Add(signs)
	if third := keys(b); len(third) != 2 || third[1] != second[0] || third[0] == second[0] {
		t.Error(second, third)
	}
	if err := b.Housekeep(ctx); err != nil {
		t.Fatal(err)
	}
	if err := b.Store.View(ctx, scope, func(r stores.Reader) error {
		rows, err := r.Find(ctx, stores.Find{Entity: Own()[2]})
		if len(rows) != 2 {
			t.Errorf("%d keys are kept", len(rows))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	// RFC 8037, appendix A: the thumbprint of a key.
	seed, _ := base64.RawURLEncoding.DecodeString("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")
	if k := keyFrom(seed); k.ID != "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k" || k.JWK().X != "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" {
		t.Errorf("%+v", k.JWK())
	}
}

// What was noted of a message stands, also where two processes note it; it is forgotten in
// time, and in which session a task was begun is not.
func TestMessagesAreKept(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, now := open(t)
	for _, sum := range []string{"first", "second"} {
		if err := b.Keep(ctx, "acme", "m", Message{Sum: sum, Task: "t", Context: "c"}); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := b.Message(ctx, "acme", "m"); err != nil || m == nil || *m != (Message{"first", "t", "c"}) {
		t.Error(m, err)
	}
	if m, err := b.Message(ctx, "other", "m"); err != nil || m != nil {
		t.Error(m, err)
	}
	*now = now.Add(kept + time.Hour)
	if err := b.Housekeep(ctx); err != nil {
		t.Fatal(err)
	}
	m, err := b.Message(ctx, "acme", "m")
	of, also := b.Contexts(ctx, "acme", "t", "u")
	if m != nil || err != nil || also != nil || fmt.Sprint(of) != "map[t:c]" {
		t.Error(m, err, of, also)
	}
}

// Of several processes that notice the same change, one leaves the notice; a place that was
// dropped is told nothing.
func TestAChangeIsToldOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b, _ := open(t)
	for i := range MostPushes + 1 {
		err := b.SetPush(ctx, Push{Principal: "acme", Task: "t", ID: fmt.Sprint(i), URL: "https://acme.example", Told: "a"})
		if errors.Is(err, ErrTooMany) != (i == MostPushes) {
			t.Fatal(i, err)
		}
	}
	if err := b.SetPush(ctx, Push{Principal: "acme", Task: "t", ID: "3", URL: "https://other.example", Told: "a"}); err != nil {
		t.Fatal(err)
	}
	one, err := b.Pushes(ctx, "acme", "t")
	two, also := b.Open(ctx, "", 100)
	if err != nil || also != nil || len(one) != MostPushes || len(two) != MostPushes || one[3].URL != "https://other.example" {
		t.Fatal(one, two, err, also)
	}
	job := func(id string) []stores.Job {
		return []stores.Job{{ID: id, Kind: "notice", Payload: "{}", At: time.Now(), Principal: "acme"}}
	}
	for i, told := range []*Push{one[0], one[0]} {
		if err := b.Tell(ctx, told, "b", true, job(fmt.Sprint("j", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.DropPush(ctx, "acme", "t", "1"); err != nil {
		t.Fatal(err)
	}
	if err := b.Tell(ctx, one[1], "b", false, job("j3")); err != nil {
		t.Fatal(err)
	}
	var jobs []stores.JobRecord
	if err := b.Store.View(ctx, scope, func(r stores.Reader) (err error) { jobs, err = r.Jobs(ctx, stores.JobFilter{}); return err }); err != nil {
		t.Fatal(err)
	}
	if len(jobs) != 1 || jobs[0].ID != "j0" {
		t.Error(jobs)
	}
	if p, err := b.PushCalled(ctx, one[1].Key()); p != nil || err != nil {
		t.Error(p, err)
	}
	if p, err := b.PushCalled(ctx, one[0].Key()); err != nil || !p.Ended {
		t.Error(p, err)
	}
	if left, err := b.Open(ctx, "", 100); err != nil || len(left) != MostPushes-2 {
		t.Error(left, err)
	}
}
