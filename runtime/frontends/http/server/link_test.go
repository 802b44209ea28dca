package server

import (
	"context"
	"errors"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/server/logins"
)

// A notice that asks for a link makes none once the link would have ended: tries of the letter end
// there. G86
func TestSignInLinksEnd(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	book := &logins.Book{Clock: func() time.Time { return asked.Add(logins.Link + time.Second) }}
	m := engine.Message{ID: "a", Target: TargetSignIn, Time: asked, Body: `{"address":"a@b.example","principal":"a","to":"/"}`}
	if _, _, _, err := SignInLink(context.Background(), book, m); !errors.Is(err, logins.ErrOver) {
		t.Errorf("a link is made too late: %v", err)
	}
	if _, _, _, err := SignInLink(context.Background(), book, engine.Message{Target: TargetSignIn, Body: `[]`}); err == nil {
		t.Error("a link is made of no notice")
	}
}

// A token for this machine is good by each of the machine's own names, and by no other, no other port
// and no other scheme. G79
func TestOneServerHasThreeNamesHere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"http://localhost:8080", "http://127.0.0.1:8080", true},
		{"http://[::1]:8080", "http://localhost:8080", true},
		{"https://portal.bank.example", "https://portal.bank.example", true},
		{"http://localhost:8080", "http://localhost:8081", false},
		{"http://localhost:8080", "https://localhost:8080", false},
		{"http://localhost:8080", "http://10.0.0.1:8080", false},
		{"http://localhost.bank.example:8080", "http://localhost:8080", false},
		{"", "http://localhost:8080", false},
	} {
		if sameServer(c.a, c.b) != c.same {
			t.Errorf("%s and %s: %t", c.a, c.b, !c.same)
		}
	}
}
