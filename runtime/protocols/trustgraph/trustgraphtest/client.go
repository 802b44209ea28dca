// Package trustgraphtest asks an agent as TrustGraph's clients do, over every wire. Tests use it, and
// the bridge to Pulsar, which is a module of its own. A server never asks.
//
//	client := &trustgraphtest.Client{URL: server.URL, Token: token}
//	err := client.Socket(ctx, trustgraph.Caller{}, request, tell)
package trustgraphtest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"verbatim/runtime/protocols/trustgraph"
)

var (
	errNoMessage = errors.New("trustgraphtest: this is no message of an agent")
	errEnded     = errors.New("trustgraphtest: the answer ended before the dialog did")
)

// maxAnswer is the largest answer that a Client accepts: a frame of TrustGraph's gateway.
const maxAnswer = 50 << 20

// A Client asks a gateway, ours or TrustGraph's. Post, Events and Socket are AskFuncs, so that a
// gateway can be used wherever an Agent can. They ignore their Caller: the token says who asks. A
// gateway's refusals and failures are *trustgraph.Error.
type Client struct {
	URL       string // of the gateway, such as http://localhost:8888
	Token     string
	Flow      string // "": "default"
	Workspace string // "": that of the gateway
	HTTP      *http.Client
}

// Post asks over HTTP. It tells the last message only.
func (c *Client) Post(ctx context.Context, _ trustgraph.Caller, r trustgraph.Request, tell func(trustgraph.Message) error) error {
	response, err := c.post(ctx, r, "application/json")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return err
	}
	_, err = relay(text, tell)
	return err
}

// Events asks over HTTP, and tells each message as the event comes.
func (c *Client) Events(ctx context.Context, _ trustgraph.Caller, r trustgraph.Request, tell func(trustgraph.Message) error) error {
	response, err := c.post(ctx, r, "text/event-stream")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxAnswer)
	for lines.Scan() {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
			if last, err := relay(data, tell); last || err != nil {
				return err
			}
		}
	}
	return cmp.Or(lines.Err(), errEnded)
}

func (c *Client) post(ctx context.Context, r trustgraph.Request, accept string) (*http.Response, error) {
	r.Workspace = cmp.Or(c.Workspace, r.Workspace)
	address := strings.TrimSuffix(c.URL, "/") + "/api/v1/flow/" + url.PathEscape(cmp.Or(c.Flow, r.Flow, "default")) + "/service/agent"
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", accept)
	if c.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	response, err := cmp.Or(c.HTTP, http.DefaultClient).Do(request)
	if err != nil || response.StatusCode == http.StatusOK {
		return response, err
	}
	defer response.Body.Close()
	var doc struct{ Error string }
	err = json.NewDecoder(io.LimitReader(response.Body, 1<<16)).Decode(&doc)
	kind := map[int]string{401: trustgraph.AuthRequired, 403: trustgraph.AccessDenied, 404: trustgraph.UnknownService}[response.StatusCode]
	if err != nil || doc.Error == "" {
		return nil, fmt.Errorf("trustgraphtest: the gateway answered with status %d", response.StatusCode)
	}
	return nil, &trustgraph.Error{Type: cmp.Or(kind, trustgraph.BadRequest), Message: doc.Error}
}

// Socket asks over a WebSocket of its own.
func (c *Client) Socket(ctx context.Context, _ trustgraph.Caller, r trustgraph.Request, tell func(trustgraph.Message) error) error {
	conn, _, err := websocket.Dial(ctx, strings.TrimSuffix(c.URL, "/")+"/api/v1/socket", &websocket.DialOptions{HTTPClient: c.HTTP})
	if err != nil {
		return err
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxAnswer)
	send := func(v any) error { return wsjson.Write(ctx, conn, v) }
	if err := send(map[string]string{"type": "auth", "token": c.Token}); err != nil {
		return err
	}
	question := map[string]any{"id": "1", "service": "agent", "flow": cmp.Or(c.Flow, r.Flow, "default"), "request": r}
	if w := cmp.Or(c.Workspace, r.Workspace); w != "" {
		question["workspace"] = w
	}
	for {
		_, text, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		var f struct {
			Type     string            `json:"type"`
			Response json.RawMessage   `json:"response"`
			Error    *trustgraph.Error `json:"error"`
			Complete bool              `json:"complete"`
		}
		if json.Unmarshal(text, &f) != nil && f.Type != "auth-failed" { // whose error is a text
			return errNoMessage
		}
		switch {
		case f.Type == "auth-failed":
			return &trustgraph.Error{Type: trustgraph.AuthRequired, Message: "auth failure"}
		case f.Type == "auth-ok":
			if err := send(question); err != nil {
				return err
			}
			continue
		case f.Error != nil:
			return f.Error
		}
		last, err := relay(f.Response, tell)
		if last || err != nil || f.Complete {
			_ = conn.Close(websocket.StatusNormalClosure, "")
			return err
		}
	}
}

// relay tells a message. It reports whether it was the last one.
func relay(text []byte, tell func(trustgraph.Message) error) (last bool, err error) {
	m, err := DecodeMessage(text)
	switch {
	case err != nil:
		return true, err
	case m.Type == trustgraph.Failure:
		return true, m.Error
	}
	return m.EndOfDialog, tell(m)
}

// A Line is the asker's side of a queue.
type Line interface {
	// Ask sends a question and hands over each reply with the same id until it was the last.
	// After the broker failed it sends the question again, so that messages may come twice.
	// Others wait while reply runs.
	Ask(ctx context.Context, id string, body []byte, reply func(body []byte) (last bool)) error
}

// Over asks over a queue. NewID makes the id of each question.
func Over(line Line, newID func() string) trustgraph.AskFunc {
	return func(ctx context.Context, _ trustgraph.Caller, r trustgraph.Request, tell func(trustgraph.Message) error) error {
		question, err := json.Marshal(r)
		if err != nil {
			return err
		}
		var failed error
		err = line.Ask(ctx, newID(), question, func(body []byte) (last bool) {
			last, failed = relay(body, tell)
			return last || failed != nil
		})
		return cmp.Or(failed, err)
	}
}
