package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
)

// An afterView is a store in which something happens right after a look at it.
type afterView struct {
	stores.Store
	then func()
}

func (s *afterView) View(ctx context.Context, scope stores.Scope, fn func(stores.Reader) error) error {
	err := s.Store.View(ctx, scope, fn)
	if then := s.then; then != nil {
		s.then = nil
		then()
	}
	return err
}

// SAFE-H7: bytes that nothing referred to a moment ago, and somebody has sent again
// since, are not let go of (both stores).
func TestBytesThatAreSentAgainStay(t *testing.T) {
	t.Parallel()
	for store, open := range map[string]func(testing.TB) *world{"sqlite": filingWorld, "postgres": postgresFilingWorld} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			ctx := context.Background()
			sum := strings.Repeat("c", 64)
			none := func(context.Context, uploads.Upload) error { return nil }
			send := func(id, tag, verdict string) {
				t.Helper()
				if _, err := w.session("kim").Uploads().Begin(ctx, uploads.Upload{Name: "x", Type: "application/pdf", Size: 5, Sum: sum}, id, tag, time.Hour, none); err != nil {
					t.Fatal(err)
				}
				if _, err := w.engine.Uploads().Judge(ctx, id, verdict, "test"); err != nil {
					t.Fatal(err)
				}
			}
			send("first", "0000000000000001", uploads.Infected)
			looked := &afterView{Store: w.store}
			other, err := engine.New(w.reg, looked, engine.Options{Clock: w.now, NewID: w.newID})
			if err != nil {
				t.Fatal(err)
			}
			free := func(want int) {
				t.Helper()
				all, err := other.Uploads().Free(ctx, 100)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for _, u := range all {
					if u.Sum == sum {
						n++
					}
				}
				if n != want {
					t.Errorf("%d bytes are freed, and %d are nobody's", n, want)
				}
			}
			looked.then = func() { send("second", "0000000000000002", uploads.Clean) }
			free(0)
			// Nothing was sent meanwhile: they go.
			w.later(30 * 24 * time.Hour)
			if _, err := w.engine.Uploads().Forget(ctx); err != nil {
				t.Fatal(err)
			}
			free(1)
		})
	}
}
