package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"verbatim/runtime/protocols/tools"
	"verbatim/verbs/propose"
)

// An API is a server whose tools are the operations of its description. A call becomes a request, and
// its response the answer.

const (
	// maxTries is how often a request is sent that the API asks to send again later.
	maxTries = 4
	// maxQuoted is how much is told of a response that is a refusal.
	maxQuoted = 300
)

// A description is a file that describes an API, as it was read last.
type description struct {
	files      []string
	sum        [32]byte // of the files
	operations []propose.Operation

	mu   sync.Mutex
	said map[string]Said // by the names of operations
}

// api reads the description of an API. It is read each time, so that a change of it is noticed before
// the next call.
func (s *Servers) api(ctx context.Context, server string, config Server, fn func(context.Context, peer) error) error {
	d, err := s.description(server, config)
	if err != nil {
		return err
	}
	if err := fn(ctx, &api{servers: s, server: server, config: config, description: d}); err != nil {
		return plain(ctx, config, "", err)
	}
	return nil
}

func (s *Servers) description(server string, config Server) (*description, error) {
	if s.opt.Files == nil {
		return nil, errors.New("there is no folder with descriptions of APIs")
	}
	s.mu.Lock()
	known := s.apis[server]
	s.mu.Unlock()
	if known != nil && known.sum == s.sumOf(known.files) {
		return known, nil
	}
	text, files, err := propose.Gather(s.opt.Files, config.API)
	if err != nil {
		return nil, fmt.Errorf("its description %s cannot be read: %w", config.API, err)
	}
	d := &description{files: files, sum: s.sumOf(files), said: map[string]Said{}}
	if d.operations, err = propose.Operations(text); err != nil {
		return nil, fmt.Errorf("its description %s cannot be read: %w", config.API, err)
	}
	for _, name := range config.Reads {
		if !slices.ContainsFunc(d.operations, func(o propose.Operation) bool { return o.Name == name }) {
			return nil, fmt.Errorf("reads names %q, and its description has no such operation", name)
		}
	}
	s.mu.Lock()
	s.apis[server] = d
	s.mu.Unlock()
	return d, nil
}

// sumOf returns the digest of the files of a description as they are now.
func (s *Servers) sumOf(files []string) [32]byte {
	parts := make([]string, 0, 2*len(files))
	for _, name := range files {
		text, err := propose.ReadFile(s.opt.Files, name)
		if err != nil {
			text = []byte(err.Error())
		}
		parts = append(parts, name, string(text))
	}
	return sum(parts)
}

// An api is an API for one external call. It implements peer.
type api struct {
	servers     *Servers
	server      string
	config      Server
	description *description
}

// all yields the operations that a request can be made of.
func (a *api) all(context.Context, string) iter.Seq2[Said, error] {
	return func(yield func(Said, error) bool) {
		for i := range a.description.operations {
			if o := &a.description.operations[i]; o.Unsent == "" {
				if said, err := a.said(o.Name); !yield(said, err) || err != nil {
					return
				}
			}
		}
	}
}

func (a *api) operation(name string) (*propose.Operation, error) {
	for i := range a.description.operations {
		switch o := &a.description.operations[i]; {
		case o.Name != name:
		case o.Unsent != "":
			return nil, fmt.Errorf("%s of %s cannot be called: %s: %w", name, a.server, o.Unsent, tools.ErrNone)
		default:
			return o, nil
		}
	}
	return nil, fmt.Errorf("%s has no operation %q: %w", a.server, name, tools.ErrNone)
}

func (a *api) reads(o *propose.Operation) bool {
	return o.Reads || slices.Contains(a.config.Reads, o.Name)
}

// said describes an operation as a tool. What is accepted of it is all of its text, all schemas that it
// leads to, and how and where a request is sent.
func (a *api) said(name string) (Said, error) {
	o, err := a.operation(name)
	if err != nil {
		return Said{}, err
	}
	base, err := a.base(o)
	if err != nil {
		return Said{}, err
	}
	a.description.mu.Lock()
	defer a.description.mu.Unlock()
	if said, ok := a.description.said[name]; ok {
		return said, nil
	}
	input := o.InputSchema(a.sets)
	input["additionalProperties"] = false
	said := Said{Server: a.server, Name: name, Description: o.Description, Input: raw(input), Output: raw(o.OutputSchema()), Hints: raw(map[string]any{"readOnlyHint": a.reads(o)}),
		Meta: raw(map[string]any{"method": o.Method, "path": o.Path, "base": base, "body": o.Media, "accept": o.Accept, "sends": o.Inputs, "idempotency": a.config.Idempotency, "text": o.Text})}
	a.description.said[name] = said
	return said, nil
}

// sets reports whether the operator's file says what an input is.
func (a *api) sets(in propose.Input) bool {
	if in.In != "header" {
		return false
	}
	_, set := a.config.Headers[http.CanonicalHeaderKey(in.Name)]
	return set || a.config.Idempotency != "" && strings.EqualFold(in.Name, a.config.Idempotency)
}

// base returns where an operation is: where the operator says, or else its description.
func (a *api) base(o *propose.Operation) (string, error) {
	if a.config.URL != "" {
		return strings.TrimRight(a.config.URL, "/"), nil
	}
	u, err := url.Parse(o.Server)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("its description does not say where it is; say so with url")
	case u.Scheme != "https" && (u.Scheme != "http" || !a.config.Local):
		return "", errors.New("its description names an address that is not encrypted; say with url where it is")
	}
	return o.Server, nil
}

// call makes a request. Only an operation that reads, or one with an idempotency key, is sent more than
// once. Whatever leaves open whether an operation has acted is an error.
func (a *api) call(ctx context.Context, call tools.Call) (tools.Answer, error) {
	o, err := a.operation(call.Name)
	if err != nil {
		return tools.Answer{}, err
	}
	reads := a.reads(o)
	again := reads || a.config.Idempotency != "" && call.Key != ""
	base, err := a.base(o)
	var r *request
	if err == nil {
		r, err = compose(o, base, call.Args, a.sets)
	}
	var client *http.Client
	shut := func() {}
	if err == nil {
		client, shut, err = a.servers.door(ctx, a.config, base, nil)
	}
	if err != nil {
		return tools.Answer{}, fmt.Errorf("%w: %w", tools.ErrNotCalled, err)
	}
	defer shut()
	within := client.CheckRedirect
	client.CheckRedirect = func(to *http.Request, via []*http.Request) error {
		if !reads || to.Method != via[0].Method {
			return http.ErrUseLastResponse // a request that changes something goes where it was sent
		}
		return within(to, via)
	}
	if again && !reads {
		r.header.Set(a.config.Idempotency, call.Key)
	}
	perhaps := false // an earlier try may have acted
	for try := 1; ; try++ {
		got, err := a.send(ctx, client, r, again)
		switch {
		case err != nil && got.begun || err != nil && perhaps:
			return tools.Answer{}, err
		case err != nil:
			return tools.Answer{}, fmt.Errorf("%w: %w", tools.ErrNotCalled, err)
		}
		if wait, ok := got.later(); ok && again && try < maxTries && sleeps(ctx, wait) {
			perhaps = perhaps || !reads && got.status >= 500
			continue
		}
		answer, err := got.answer(a.config.Token+a.config.Basic != "" || len(a.config.Headers) > 0)
		if err == nil && answer.Failed && perhaps {
			err = errors.New(answer.Text)
		}
		return answer, err
	}
}

// A response is what a request was answered with.
type response struct {
	begun  bool // the request may have been written
	status int
	header http.Header
	body   []byte
}

// send sends a request once.
func (a *api) send(ctx context.Context, client *http.Client, r *request, again bool) (got response, err error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { got.begun = true }})
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, bytes.NewReader(r.body))
	if err != nil {
		return got, errors.New("its address cannot be written")
	}
	req.Header = r.header.Clone()
	if len(r.body) == 0 {
		req.Body, req.GetBody = http.NoBody, nil
	}
	if !again {
		req.GetBody = nil // then the transport cannot send it twice either
	}
	resp, err := client.Do(req)
	if err != nil {
		if at := (*url.Error)(nil); errors.As(err, &at) {
			err = at.Err // the address has what was sent in it
		}
		return got, err
	}
	defer resp.Body.Close()
	got.status, got.header = resp.StatusCode, resp.Header
	most := a.config.MaxAnswer
	if resp.StatusCode >= 300 {
		most = 8 << 10 // a refusal is told in part
	}
	if got.body, err = io.ReadAll(io.LimitReader(resp.Body, int64(most)+1)); err != nil && resp.StatusCode < 300 {
		return got, fmt.Errorf("its answer ends before its end: %w", err)
	}
	if len(got.body) > most && resp.StatusCode < 300 {
		return got, fmt.Errorf("it answered with more than %d bytes", most)
	}
	return got, nil
}

// later returns how long the API asks to wait before the request is sent again.
func (r *response) later() (time.Duration, bool) {
	if r.status != http.StatusTooManyRequests && r.status != http.StatusServiceUnavailable {
		return 0, false
	}
	says := r.header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(says, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(says)
	return max(time.Until(at), 0), err == nil
}

// sleeps waits, and reports whether there is time left after it.
func sleeps(ctx context.Context, wait time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
		return false
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// answer makes an answer of a response to a request that showed a token or did not. An error leaves open whether the operation has acted.
func (r *response) answer(shown bool) (tools.Answer, error) {
	status := fmt.Sprintf("status %d", r.status)
	if words := r.words(); words != "" {
		status += ": " + words
	}
	switch refused := r.status == http.StatusUnauthorized || r.status == http.StatusForbidden; {
	case refused && !shown:
		return tools.Answer{Failed: true, Text: "it wants a token and was shown none (" + status + ")"}, nil
	case refused:
		return tools.Answer{Failed: true, Text: "it refuses the token that it was shown (" + status + ")"}, nil
	case r.status >= 400 && r.status < 500:
		return tools.Answer{Failed: true, Text: "it refuses the request (" + status + ")"}, nil
	case r.status < 200 || r.status >= 300:
		return tools.Answer{}, errors.New("it answered with " + status)
	}
	kind, _, _ := strings.Cut(strings.ToLower(r.header.Get("Content-Type")), ";")
	kind = strings.TrimSpace(kind)
	body := bytes.TrimSpace(bytes.TrimPrefix(r.body, []byte("\ufeff")))
	isJSON := kind == "application/json" || strings.HasSuffix(kind, "+json")
	switch valid := json.Valid(body); {
	case len(body) == 0:
		return tools.Answer{Text: http.StatusText(r.status)}, nil
	case isJSON && !valid:
		return tools.Answer{}, errors.New("its answer is no JSON")
	case isJSON && body[0] == '{':
		return tools.Answer{Structured: string(body), Text: string(body)}, nil
	case isJSON && body[0] == '[':
		return tools.Answer{Structured: `{"` + propose.Items + `":` + string(body) + `}`, Text: string(body)}, nil
	case isJSON || kind == "" || strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "xml"):
		return tools.Answer{Text: strings.ToValidUTF8(string(body), "\uFFFD")}, nil
	}
	return tools.Answer{Text: fmt.Sprintf("%d bytes of %s", len(r.body), kind)}, nil
}

// words returns the beginning of what a response says, on one line.
func (r *response) words() string {
	said := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(string(r.body), "\uFFFD"), func(c rune) bool { return unicode.IsSpace(c) || !unicode.IsPrint(c) }), " ")
	if runes := []rune(said); len(runes) > maxQuoted {
		said = string(runes[:maxQuoted]) + "…"
	}
	return said
}
