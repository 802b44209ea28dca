package server

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/runtime/tests/told"
	"verbatim/stores"
)

// G10: a page that reports an error says that nothing was changed only where that is known, and that
// there is too much to do only where that is so.
func TestWhatAPageOfAnErrorTellsIsSo(t *testing.T) {
	t.Parallel()
	page := func(err error) string {
		t.Helper()
		w := httptest.NewRecorder()
		v := &Visit{Server: &Server{public: &url.URL{Host: "bank.example"}}, W: w, R: httptest.NewRequest(http.MethodGet, "/", nil)}
		v.failPage(ProblemOf(err))
		return w.Body.String()
	}
	failed := page(&engine.Failure{Err: errors.New("the disk is full")})
	lost := page(&engine.Failure{Err: stores.ErrUnknown, Unknown: true})
	busy := page(stores.ErrConflict)
	old := page(stores.ErrSchema)
	told.Check(t, "pages/nothing-changed", failed, lost)
	told.Check(t, "pages/unknown-end", lost, failed)
	told.Check(t, "pages/unknown-next", lost, failed)
	told.Check(t, "pages/busy", busy, failed)
	told.Check(t, "pages/not-possible", failed, lost)
	told.Check(t, "pages/not-migrated", old, failed)
}
