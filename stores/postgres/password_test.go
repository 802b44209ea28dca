package postgres_test

import (
	"sync/atomic"
	"testing"

	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
)

// The password of a role is changed under a store that is open: whichever learns of it first, the
// database or the program, each read is answered. A password that nobody has is refused.
func TestAPasswordIsChanged(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	url, change := db.Keyed(t, "first")
	var file atomic.Pointer[[]string]
	says := func(passwords ...string) {
		var all []string
		for _, p := range passwords {
			all = append(all, url(p))
		}
		file.Store(&all)
	}
	says("first")
	s, err := postgres.Open(t.Context(), url("first"), postgres.Renew(func() []string { return *file.Load() }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	reads := func(when string) {
		t.Helper()
		var failed error
		for range 20 { // connections that the server ended are found broken once
			if _, failed = s.Clock(t.Context()); failed == nil {
				return
			}
		}
		t.Errorf("%s: %v", when, failed)
	}
	reads("with the first")
	says("second")
	reads("the file is ahead of the database")
	change("second")
	reads("both have the second")
	change("first")
	reads("the database was put back to the first, which the file has no more")
	change("third")
	if _, err := s.Clock(t.Context()); err == nil {
		t.Error("a password that nothing says is taken")
	}
	says("third")
	reads("the database was ahead of the file")
	says("fourth", "third")
	change("third")
	reads("the file has both")
	change("fourth")
	reads("the file has both, and the database the newer")
	if _, err := postgres.Open(t.Context(), url("none"), postgres.Renew(func() []string { return []string{url("no"), url("neither")} })); err == nil {
		t.Error("a store is opened with passwords that are wrong")
	}
	if s, err := postgres.Open(t.Context(), url("third"), postgres.Renew(func() []string { return *file.Load() })); err != nil {
		t.Errorf("a store is not opened with the second that its file has: %v", err)
	} else {
		_ = s.Close()
	}
}
