package mcp_test

import (
	"context"
	"errors"
	"testing"

	"verbatim/runtime/protocols/tools"
)

// A server remembers one call in the next of the same principal, and never tells another. Once it
// has ended, the next call is told so and asks nothing; the one after that goes on. G64
func TestConnectionsStayOpen(t *testing.T) {
	t.Parallel()
	s, _ := started(t, "basket")
	defer s.Close()
	ask := func(who, title string) (string, error) {
		ctx := tools.For(context.Background(), who)
		spec, err := s.Tool(ctx, "desk", "create_ticket")
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.Call(ctx, tools.Call{Server: "desk", Name: "create_ticket", Digest: spec.Digest, Args: `{"title":"` + title + `"}`})
		return a.Text, err
	}
	for _, c := range []struct {
		who, title, want string
		err              error
	}{
		{"kim", "begin", "1", nil},
		{"kim", "go on", "2", nil},
		{"pat", "begin", "1", nil},
		{"kim", "go on", "3", nil},
		{"", "alone", "1", nil},
		{"", "alone", "1", nil},
		{"kim", "die", "", errors.New("any")},
		{"kim", "go on", "", tools.ErrRestarted},
		{"kim", "begin", "1", nil},
		{"pat", "go on", "2", nil},
	} {
		got, err := ask(c.who, c.title)
		if got != c.want || (err == nil) != (c.err == nil) || errors.Is(c.err, tools.ErrRestarted) != errors.Is(err, tools.ErrRestarted) || errors.Is(err, tools.ErrNotCalled) {
			t.Errorf("%s, %s: %q %v", c.who, c.title, got, err)
		}
	}
}
