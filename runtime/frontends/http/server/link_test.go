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
