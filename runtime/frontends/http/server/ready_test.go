package server_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/runtime/frontends/http/server"
	"verbatim/stores"
	"verbatim/stores/sqlite"
)

// away is a store that does not tell its head, and knows what helps.
type away struct{ stores.Store }

type lost struct{}

func (lost) Error() string { return "nobody listens there" }

func (lost) Next() string { return "start the database" }

func (away) Head(context.Context) (int64, [32]byte, error) { return 0, [32]byte{}, lost{} }

// What to do stands in the log beside why a server is not ready, where the failure knows it; who asks is not told.
func TestWhyAServerIsNotReadyHasANextStep(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "away.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	url := serveOn(t, away{store}, server.Options{Log: slog.New(slog.NewTextHandler(log, nil))})
	answer, err := http.Get(url + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	body := new(bytes.Buffer)
	_, err = body.ReadFrom(answer.Body)
	if answer.Body.Close(); err != nil || answer.StatusCode != http.StatusServiceUnavailable || strings.Contains(body.String(), "database") {
		t.Errorf("%s: %s %v", answer.Status, body, err)
	}
	said, err := os.ReadFile(log.Name()) // why stands there before the answer is sent
	if want := `error="nobody listens there" next="start the database"`; err != nil || !strings.Contains(string(said), want) {
		t.Errorf("the log says %s %v", said, err)
	}
}
