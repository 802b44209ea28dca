package a2a

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/a2a/peers"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/internal/digest"
	"verbatim/runtime/protocols/a2a"
	"verbatim/stores"
)

// Push notifications for tasks of other agents. The server notices a change and queues a notice; a
// worker posts it at least once, always with the same id.

// Posts says to which addresses notifications may go.
type Posts int

// The choices.
const (
	PostPublic  Posts = iota // to addresses of the public internet, by https
	PostPrivate              // anywhere, also by http: the peers are in the operator's own network
	PostNone                 // nowhere
)

// TargetPush is the target of such a notice.
const TargetPush = "verbatim-peer"

// mayTell refuses an address that is not allowed.
func (p *peer) mayTell(c *a2a.PushConfig) error {
	if c == nil {
		return nil
	}
	if p.Posts == PostNone {
		return &a2a.Error{Code: a2a.PushNotSupported, Text: "this agent sends no notifications"}
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !(u.Scheme == "http" && p.Posts == PostPrivate) {
		return invalidParams("notifications are sent to https://HOST/PATH, without a password in it")
	}
	return nil
}

// sum returns a digest of a task as its peer knows it.
func sum(w *a2a.Task) string {
	text, _ := json.Marshal([]any{w.Status, w.Artifacts}) // it can always be written
	return digest.Of("verbatim told 1", string(text))
}

// setPush stores where a peer wants notifications of a task. w is the task as the peer already
// knows it.
func (p *peer) setPush(ctx context.Context, c *a2a.PushConfig, t *task, w *a2a.Task) (*a2a.PushConfig, error) {
	c.ID = cmp.Or(c.ID, rand.Text())
	push := peers.Push{Principal: p.Principal, Task: c.TaskID, ID: c.ID, Row: rowOf(t), By: p.Token, URL: c.URL, Token: c.Token, Told: sum(w), Ended: w.Status.State.Ended()}
	if c.Authentication != nil {
		push.Scheme, push.Credentials = c.Authentication.Scheme, c.Authentication.Credentials
	}
	err := p.peers.SetPush(ctx, push)
	if errors.Is(err, peers.ErrTooMany) {
		err = invalidParams(fmt.Sprintf("a task has at most %d places where somebody is told of it", peers.MostPushes))
	}
	return c, err
}

// SetPush implements a2a.Agent.
func (p *peer) SetPush(ctx context.Context, c *a2a.PushConfig) (*a2a.PushConfig, error) {
	return works(ctx, p, func() (*a2a.PushConfig, error) {
		if err := p.mayTell(c); err != nil {
			return nil, err
		}
		t, err := p.task(ctx, c.TaskID)
		if err != nil {
			return nil, err
		}
		w, err := p.told(ctx, t, 0)
		if err != nil {
			return nil, err
		}
		return p.setPush(ctx, c, t, w)
	})
}

// Pushes implements a2a.Agent.
func (p *peer) Pushes(ctx context.Context, id string) ([]a2a.PushConfig, error) {
	return works(ctx, p, func() ([]a2a.PushConfig, error) {
		if p.Posts == PostNone {
			return nil, &a2a.Error{Code: a2a.PushNotSupported, Text: "this agent sends no notifications"}
		}
		if _, err := p.task(ctx, id); err != nil {
			return nil, err
		}
		all, err := p.peers.Pushes(ctx, p.Principal, id)
		list := make([]a2a.PushConfig, len(all))
		for i, push := range all {
			// The credentials that the peer gave us are never returned.
			list[i] = a2a.PushConfig{ID: push.ID, TaskID: push.Task, URL: push.URL}
			if push.Scheme != "" {
				list[i].Authentication = &a2a.Authentication{Scheme: push.Scheme}
			}
		}
		return list, err
	})
}

// Push implements a2a.Agent.
func (p *peer) Push(ctx context.Context, task, id string) (*a2a.PushConfig, error) {
	all, err := p.Pushes(ctx, task)
	for i := range all {
		if all[i].ID == id {
			return &all[i], nil
		}
	}
	if err == nil {
		err = &a2a.Error{Code: a2a.InvalidParams, Status: http.StatusNotFound, Text: "the task has no such configuration"}
	}
	return nil, err
}

// DropPush implements a2a.Agent.
func (p *peer) DropPush(ctx context.Context, task, id string) error {
	if _, err := p.Push(ctx, task, id); err != nil {
		return err
	}
	return p.wrong(p.peers.DropPush(ctx, p.Principal, task, id))
}

// sweep is how often all tasks are checked: a task may show rows whose changes do not name it.
const sweep = time.Minute

// Notify watches tasks that have push addresses, until ctx ends.
func (a *Agents) Notify(ctx context.Context) {
	s := a.server
	if a.Posts == PostNone || s.Tokens == nil || len(s.Registry.Tasks()) == 0 {
		return
	}
	l, err := s.Listen(ctx, "")
	for err != nil {
		s.Log.Error("push", "error", err.Error())
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		l, err = s.Listen(ctx, "")
	}
	defer l.Close()
	again := time.NewTicker(sweep)
	defer again.Stop()
	all := true // changes while no process watched are notified too
	for {
		touched := l.Rows()
		err := a.noticed(ctx, func(row string) bool { return all || row == "" || touched[row] })
		var soon <-chan time.Time
		if all = err != nil; all && ctx.Err() == nil { // what could not be looked at is looked at again
			s.Log.Error("push", "error", err.Error())
			soon = time.After(time.Second)
		}
		select {
		case <-ctx.Done():
			return
		case <-soon:
		case <-l.Wake:
		case <-again.C:
			all = true
		}
	}
}

// noticed checks the tasks of some rows, and queues a notice for each that differs from what its
// peer was told.
func (a *Agents) noticed(ctx context.Context, touched func(row string) bool) error {
	const page = 200
	for behind := ""; ; {
		open, err := a.peers.Open(ctx, behind, page)
		if err != nil {
			return err
		}
		var failed error
		for _, push := range open {
			if behind = push.Key(); !touched(push.Row) {
				continue
			}
			if err := a.notice(ctx, push); err != nil {
				failed = err // the others are told
			}
		}
		if failed != nil || len(open) < page {
			return failed
		}
	}
}

// notice queues a notice of one task. A peer whose token has ended gets none: the subscription ends if
// that is certain, and stays if the store cannot say.
func (a *Agents) notice(ctx context.Context, push *peers.Push) error {
	s := a.server
	c, err := s.Holder(ctx, push.By)
	if errors.Is(err, server.ErrNobody) || err == nil && c.Principal != push.Principal {
		return a.peers.DropPush(ctx, push.Principal, push.Task, push.ID)
	}
	if err != nil {
		return err
	}
	p := &peer{&server.Visit{Server: s, Caller: c}, a}
	t, err := p.task(ctx, push.Task)
	if errors.Is(err, errNoTask) {
		return a.peers.DropPush(ctx, push.Principal, push.Task, push.ID)
	}
	if err != nil {
		return err
	}
	w, err := p.told(ctx, t, 0)
	if err != nil || sum(w) == push.Told {
		return err
	}
	event, err := json.Marshal(a2a.StreamResponse{Task: w})
	if err != nil {
		return err
	}
	value, err := stores.ParseJSON(string(event))
	if err != nil {
		return err
	}
	job := s.Engine.Notice(TargetPush, s.Clock(), push.Principal, stores.NewObject([]string{"event", "issuer", "push"}, []stores.Value{value, stores.NewString(s.Origin()), stores.NewString(push.Key())}))
	return a.peers.Tell(ctx, push, sum(w), w.Status.State.Ended(), []stores.Job{job})
}

// A Posting is a notification that is ready to send.
type Posting struct {
	ID, URL string // the id is the same each time
	Headers map[string]string
	Body    []byte
}

// HeaderSigned holds the signature of a notification, if the peer wants a value of its own in
// Authorization.
const HeaderSigned = "X-A2A-Notification-Signature"

// notificationClaims are the claims of a notification's JWT. Claims that are not in RFC 7519 have the names of
// the protocol's guide.
type notificationClaims struct {
	Issuer   string `json:"iss"` // URL of the agent's card and keys
	Audience string `json:"aud"` // the URL that it is posted to
	Issued   int64  `json:"iat"`
	Expires  int64  `json:"exp"`
	ID       string `json:"jti"` // the header webhook-id, the same each time that it is sent
	Task     string `json:"taskId"`
	Body     string `json:"request_body_sha256"` // in hex
}

// lastsSigned is how long a signature is valid.
const lastsSigned = 5 * time.Minute

// jwks is public: it lists the keys that sign notifications.
func (a *Agents) jwks(v *server.Visit) error {
	shown := struct {
		Keys []peers.JWK `json:"keys"`
	}{[]peers.JWK{}}
	if a.Posts != PostNone {
		all, err := a.peers.Keys(v.R.Context())
		if err != nil {
			return err
		}
		for _, k := range all {
			shown.Keys = append(shown.Keys, k.JWK())
		}
	}
	v.W.Header().Set("Cache-Control", "public, max-age=300")
	return v.JSON(http.StatusOK, shown)
}

// PushOf returns the key of the subscription that a notice with TargetPush is for, "" if it is none.
func PushOf(m engine.Message) string {
	var body struct{ Push string }
	if m.Target != TargetPush || json.Unmarshal([]byte(m.Body), &body) != nil {
		return ""
	}
	return body.Push
}

// PostingOf reads a notice with TargetPush and signs it; nil if the peer no longer wants it.
func PostingOf(ctx context.Context, book *peers.Book, m engine.Message) (*Posting, error) {
	var body struct {
		Event  json.RawMessage
		Issuer string
		Push   string
	}
	if err := json.Unmarshal([]byte(m.Body), &body); err != nil {
		return nil, err
	}
	push, err := book.PushCalled(ctx, body.Push)
	if err != nil || push == nil {
		return nil, err
	}
	keys, err := book.Keys(ctx)
	if err != nil {
		return nil, err
	}
	sum, now := sha256.Sum256(body.Event), book.Clock()
	token, err := keys[0].Sign(notificationClaims{Issuer: body.Issuer, Audience: push.URL, Issued: now.Unix(), Expires: now.Add(lastsSigned).Unix(), ID: m.ID, Task: push.Task, Body: hex.EncodeToString(sum[:])})
	if err != nil {
		return nil, err
	}
	p := &Posting{ID: m.ID, URL: push.URL, Headers: map[string]string{"Content-Type": "application/a2a+json", "A2A-Version": a2a.Version}, Body: body.Event}
	switch {
	case push.Credentials != "":
		p.Headers["Authorization"] = push.Scheme + " " + push.Credentials
		p.Headers[HeaderSigned] = token
		return p, nil
	case push.Token != "":
		p.Headers["X-A2A-Notification-Token"] = push.Token
	}
	p.Headers["Authorization"] = "Bearer " + token
	return p, nil
}
