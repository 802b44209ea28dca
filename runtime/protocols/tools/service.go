package tools

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"verbatim/runtime/internal/intime"
)

// A Service is a function of this program that verbs use like a tool of another server: their
// palette names it under `tool`, an attempt that writes is journalled before the call, it is never
// called inside a transaction, and an answer that does not fit is refused. Its description needs no
// acceptance.
type Service struct {
	Says   string
	Input  json.RawMessage // JSON Schema of its arguments
	Output json.RawMessage // JSON Schema of its answer; nil if it declares none
	Writes bool            // it changes something outside of this system
	// Document says that its answers are read from a document.
	Document bool
	// Model says that its answers are a model's.
	Model bool
	// Do carries out a call, and stops when the context ends. Its errors are those of Servers.Call.
	Do func(ctx context.Context, c Call) (Answer, error)
}

// spec returns a service's description, accepted.
func (s *Service) spec() Spec {
	sum := sha256.Sum256(fmt.Appendf(nil, "verbatim service 1\x00%s\x00%s\x00%s\x00%t", s.Says, s.Input, s.Output, s.Writes))
	digest := fmt.Sprintf("%x", sum)
	return Spec{Input: s.Input, Output: s.Output, Writes: s.Writes, Says: s.Says, Digest: digest, Accepted: digest, Local: true, Document: s.Document, Model: s.Model}
}

// Services are functions of this program, by the server and the name in palettes, in front of the
// tools of other servers. A palette cannot tell the two apart.
type Services struct {
	Own    map[string]map[string]Service
	Others Servers // nil if there are none
}

// Tool implements Servers.
func (s Services) Tool(ctx context.Context, server, name string) (Spec, error) {
	own, ours := s.Own[server]
	switch f, ok := own[name]; {
	case ok:
		return f.spec(), nil
	case ours:
		return Spec{}, fmt.Errorf("%s has no %s, only %s: %w", server, name, slices.Sorted(maps.Keys(own)), ErrNone)
	case s.Others == nil:
		return Spec{}, fmt.Errorf("there is no server %s: %w", server, ErrNone)
	}
	return s.Others.Tool(ctx, server, name)
}

// Call implements Servers. A service that panics, or does not return when ctx ends, has answered nothing.
func (s Services) Call(ctx context.Context, c Call) (a Answer, err error) {
	f, ok := s.Own[c.Server][c.Name]
	switch {
	case ok && c.Digest != f.spec().Digest:
		return a, fmt.Errorf("%s of %s: %w", c.Name, c.Server, ErrChanged)
	case ok:
		return intime.Call(ctx, func() (a Answer, err error) {
			defer func() {
				if p := recover(); p != nil {
					err = fmt.Errorf("%s of %s panicked: %v", c.Name, c.Server, p)
				}
			}()
			return f.Do(ctx, c)
		})
	case s.Others == nil:
		return a, fmt.Errorf("there is no server %s: %w", c.Server, ErrNotCalled)
	}
	return s.Others.Call(ctx, c)
}
