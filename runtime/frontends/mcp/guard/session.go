package guard

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"verbatim/dsl"
	"verbatim/stores"

	"github.com/go-json-experiment/json/jsontext"
)

// A session is one client and its connections.
type session struct {
	*Guard
	client  pipe
	ctx     context.Context
	servers []*upstream
	began   time.Time
	calls   sync.WaitGroup // that are being answered
	heard   sync.WaitGroup // servers that are listened to
	asking  sync.Mutex     // one question at a time
	coming  sync.RWMutex   // read-locked while an answer is passed on and traced

	beginning sync.Mutex  // held while begins works
	begun     atomic.Bool // the rules were compared with the tools

	mu       sync.Mutex
	id       string
	name     string // of the client
	asks     bool   // the client says that it asks its person
	params   map[string]json.RawMessage
	next     int64
	waiting  map[int64]*waiting  // requests to the client
	running  map[string]*running // requests of the client, by id
	shown    map[string]place    // tools by the names that the client knows
	offered  map[string]bool     // what was asked once
	wrong    string              // with the rules, as the person was told
	standing []standing
}

// A running is a request of the client that is being answered.
type running struct {
	to     *upstream
	id     int64
	cancel context.CancelFunc // of the question that it waits for; nil once it was sent
}

// hears takes a message of the client.
func (s *session) hears(m *message) {
	switch {
	case m.answers():
		var id int64
		if json.Unmarshal(m.ID, &id) != nil {
			return
		}
		s.mu.Lock()
		w := s.waiting[id]
		delete(s.waiting, id) // one answer is taken, and no second
		s.mu.Unlock()
		if w != nil {
			w.done(m)
		}
	case m.asks():
		s.request(m)
	case m.Method == "notifications/cancelled":
		s.cancel(m)
	case silent[m.Method]:
	default:
		s.refused(m, codeRequest, "a request has an id, which is a number or a text; nothing was passed on")
	}
}

// silent are the notifications of the protocol that servers are not told: there is nothing in them for
// them.
var silent = map[string]bool{"notifications/initialized": true, "notifications/roots/list_changed": true, "notifications/progress": true}

// passed are the requests that servers are asked, with the parameters that are passed on. All else is
// refused, and so is another spelling.
var passed = map[string][]string{
	"tools/call":               {"name", "arguments"},
	"tools/list":               nil,
	"resources/list":           {"cursor"},
	"resources/templates/list": {"cursor"},
	"resources/read":           {"uri"},
	"resources/subscribe":      {"uri"},
	"resources/unsubscribe":    {"uri"},
	"prompts/list":             {"cursor"},
	"prompts/get":              {"name", "arguments"},
	"completion/complete":      {"ref", "argument", "context"},
	"logging/setLevel":         {"level"},
}

// refused answers what is not passed on, and journals it.
func (s *session) refused(m *message, code int, text string) {
	said := dsl.NewCall(verbRefuse, dsl.NewArg("method", dsl.NewString(m.Method[:min(len(m.Method), 200)])))
	_ = s.log.later(write{entry: stores.Entry{Time: s.Clock(), Principal: s.Who, Session: s.id, Source: "guard " + s.name, Verb: verbRefuse,
		Call: dsl.FormatCall(&said), Outcome: outcomeRefused, Reason: "not-passed"}})
	id := m.ID
	if id == nil {
		id = json.RawMessage("null")
	}
	s.fails(id, code, text)
}

// only leaves the members of parameters that are passed on, and of _meta the token of progress, unless
// that came out of a result.
func (s *session) only(params json.RawMessage, members []string) (json.RawMessage, error) {
	var all, meta, out map[string]json.RawMessage
	if len(params) > 0 && json.Unmarshal(params, &all) != nil {
		return nil, errors.New("the parameters are an object")
	}
	out = map[string]json.RawMessage{}
	for _, name := range members {
		if all[name] != nil {
			out[name] = all[name]
		}
	}
	_ = json.Unmarshal(all["_meta"], &meta)
	if token := meta["progressToken"]; len(token) > 0 && len(token) <= 64 && strings.IndexByte("{[ntf", token[0]) < 0 {
		if from, err := s.traces.find(string(token)); from == nil && err == nil {
			out["_meta"] = with(nil, "progressToken", token)
		}
	}
	if len(params) > 0 && maps.EqualFunc(all, out, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		return params, nil // as they came
	}
	return json.Marshal(out)
}

func (s *session) cancel(m *message) {
	var p struct{ RequestID json.RawMessage }
	_ = json.Unmarshal(m.Params, &p)
	s.mu.Lock()
	r := s.running[string(p.RequestID)]
	s.mu.Unlock()
	switch {
	case r == nil:
	case r.cancel != nil:
		r.cancel()
	default:
		r.to.tells(&message{Method: m.Method, Params: with(nil, "requestId", number(r.id))})
	}
}

func (s *session) answer(id json.RawMessage, result any) {
	raw, ok := result.(json.RawMessage)
	if !ok {
		raw, _ = json.Marshal(result)
	}
	if s.ended(id); id == nil {
		return // another server answers the client
	}
	_ = s.client.write(&message{ID: id, Result: raw})
}

func (s *session) fails(id json.RawMessage, code int, text string) {
	if s.ended(id); id == nil {
		return
	}
	_ = s.client.write(&message{ID: id, Error: errorOf(code, text)})
}

func (s *session) ended(id json.RawMessage) {
	s.mu.Lock()
	delete(s.running, string(id))
	s.mu.Unlock()
}

// later answers a request while others are read.
func (s *session) later(fn func()) {
	s.calls.Add(1)
	go func() {
		defer s.calls.Done()
		fn()
	}()
}

// request answers a request of the client.
func (s *session) request(m *message) {
	if m.Method != "initialize" && m.Method != "ping" && s.greeting() == nil {
		s.fails(m.ID, codeMethod, "begin with initialize: guard speaks the versions of the protocol up to 2025-11-25")
		return
	}
	members, passes := passed[m.Method]
	switch {
	case m.Method == "ping":
		s.answer(m.ID, struct{}{})
		return
	case m.Method == "initialize":
		if s.greets(m) {
			s.later(func() { s.initialize(m) })
		}
		return
	case !passes:
		s.refused(m, codeMethod, "verbatim guard passes on what the protocol knows, in its spelling, and this is nothing of it; nothing was called")
		return
	case m.Method != "tools/call" && s.State.isStopped(s.name):
		s.refused(m, codeFailed, s.stopText())
		return
	}
	if _, err := jsontext.NewDecoder(bytes.NewReader(m.Params)).ReadValue(); err != nil && len(m.Params) > 0 {
		// A server that reads the second of two members with one name would do something else than is shown.
		s.fails(m.ID, codeParams, "this can be read in two ways: a member stands twice, or a text is no valid Unicode")
		return
	}
	var err error
	if m.Params, err = s.only(m.Params, members); err != nil {
		s.fails(m.ID, codeParams, err.Error())
		return
	}
	switch m.Method {
	case "tools/list":
		s.later(func() { s.listTools(m) })
	case "tools/call":
		s.call(m)
	case "logging/setLevel":
		s.forward(m, s.servers...)
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		var p struct{ URI string }
		_ = json.Unmarshal(m.Params, &p)
		s.later(func() { s.forward(m, s.holder(p.URI)) })
	case "prompts/get", "completion/complete":
		s.named(m)
	default:
		if s.Apart {
			s.later(func() { s.merge(m) })
			return
		}
		s.forward(m, s.servers[0])
	}
}

// forward passes a request on to a server, or to all that take it, and the answer of the last one back.
// It is asked about and journalled like a tool that only reads and has the name of the method.
func (s *session) forward(m *message, to ...*upstream) {
	if to[0] == nil {
		s.fails(m.ID, codeParams, "no server has this")
		return
	}
	s.later(func() {
		if err := s.begins(); err != nil {
			s.fails(m.ID, codeFailed, err.Error())
			return
		}
		ctx, stop := context.WithCancel(s.ctx)
		defer stop()
		if len(to) > 1 {
			to = slices.DeleteFunc(slices.Clone(to), func(u *upstream) bool {
				return u.ready(s.ctx) != nil || member(u.hello, "capabilities", "logging") == nil
			})
			if len(to) == 0 {
				s.answer(m.ID, struct{}{})
				return
			}
		}
		for i, u := range to {
			if err := u.ready(s.ctx); err != nil {
				s.fails(m.ID, codeFailed, u.Name+": "+err.Error())
				return
			}
			s.runs(m.ID, &running{to: u, cancel: stop})
			c := &call{session: s, m: m, u: u, tool: m.Method, args: m.Params}
			if lists[m.Method] == "" {
				if !s.admits(ctx, c) {
					return
				}
				s.offers(ctx, u)
			}
			if err := c.looks(); err != nil {
				s.fails(m.ID, codeFailed, s.unread(err))
				return
			}
			if !s.decides(ctx, c) {
				return
			}
			if ctx.Err() != nil {
				s.ended(m.ID)
				return
			}
			if i < len(to)-1 {
				c.m = &message{Method: m.Method, Params: m.Params} // without the client's id: it gets the answer of the last server alone
			}
			s.sends(c)
		}
	})
}

// runs notes a request that can be cancelled, unless its answer has come already.
func (s *session) runs(id json.RawMessage, r *running) {
	if id == nil {
		return
	}
	if r.cancel == nil {
		r.to.mu.Lock()
		_, waits := r.to.waiting[r.id]
		r.to.mu.Unlock()
		if !waits {
			return
		}
	}
	s.mu.Lock()
	s.running[string(id)] = r
	s.mu.Unlock()
}

// named passes on what names a prompt.
func (s *session) named(m *message) {
	if !s.Apart {
		s.forward(m, s.servers[0])
		return
	}
	var p struct {
		Name string
		Ref  map[string]json.RawMessage
	}
	_ = json.Unmarshal(m.Params, &p)
	if p.Ref == nil {
		u, name := s.owner(p.Name)
		raw, _ := json.Marshal(name)
		s.forward(&message{ID: m.ID, Method: m.Method, Params: with(m.Params, "name", raw)}, u)
		return
	}
	var uri, name string
	_ = json.Unmarshal(p.Ref["uri"], &uri)
	if _ = json.Unmarshal(p.Ref["name"], &name); name == "" {
		s.later(func() { s.forward(m, s.holder(uri)) })
		return
	}
	u, name := s.owner(name)
	p.Ref["name"], _ = json.Marshal(name)
	raw, _ := json.Marshal(p.Ref)
	s.forward(&message{ID: m.ID, Method: m.Method, Params: with(m.Params, "ref", raw)}, u)
}

// lists are the members that hold lists, by method.
var lists = map[string]string{"resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts"}

// pages asks a server for all pages of a list.
func (u *upstream) pages(ctx context.Context, method, member string) (all []json.RawMessage, err error) {
	params := json.RawMessage(`{}`)
	for range 200 {
		m, err := u.ask(ctx, method, params)
		if err != nil {
			return nil, err
		}
		if m.Error != nil {
			return nil, errors.New(textOf(m.Error))
		}
		var page map[string]json.RawMessage
		var items []json.RawMessage
		if json.Unmarshal(m.Result, &page) != nil || json.Unmarshal(page[member], &items) != nil {
			return nil, errors.New("its list cannot be read")
		}
		all = append(all, items...)
		if next := page["nextCursor"]; len(next) > 0 && string(next) != `""` && string(next) != "null" {
			params = with(json.RawMessage(`{}`), "cursor", next)
			continue
		}
		return all, nil
	}
	return nil, errors.New("its list does not end")
}

// merge answers with the lists of all servers. One that has no such list adds nothing.
func (s *session) merge(m *message) {
	member := lists[m.Method]
	all := []json.RawMessage{}
	for _, u := range s.servers {
		if u.ready(s.ctx) != nil {
			continue
		}
		items, _ := u.pages(s.ctx, m.Method, member)
		u.remember(m.Method, items...)
		for _, item := range items {
			if member == "prompts" {
				var p struct{ Name string }
				_ = json.Unmarshal(item, &p)
				name, _ := json.Marshal(s.apart(u, p.Name))
				item = with(item, "name", name)
			}
			all = append(all, item)
		}
	}
	s.answer(m.ID, map[string]any{member: all})
}

// holder returns the server that has a resource: the only one, or the first that lists it, or whose
// templates begin like it.
func (s *session) holder(uri string) *upstream {
	if !s.Apart || len(s.servers) == 1 {
		return s.servers[0]
	}
	for _, method := range []string{"resources/list", "resources/templates/list"} {
		for _, u := range s.servers {
			if u.ready(s.ctx) != nil {
				continue
			}
			items, _ := u.pages(s.ctx, method, lists[method])
			for _, item := range items {
				var r struct{ URI, URITemplate string }
				_ = json.Unmarshal(item, &r)
				begin, _, _ := strings.Cut(r.URITemplate, "{")
				if r.URI == uri && uri != "" || begin != "" && strings.HasPrefix(uri, begin) {
					return u
				}
			}
		}
	}
	return nil
}

// greeting returns the parameters of initialize for servers, nil before the client has come.
func (s *session) greeting() json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.params == nil {
		return nil
	}
	raw, _ := json.Marshal(s.params)
	return raw
}

// greets reads how the client greets us. Servers are greeted likewise, but for what is offered to them:
// questions to its person only.
func (s *session) greets(m *message) bool {
	var p map[string]json.RawMessage
	var caps map[string]json.RawMessage
	if json.Unmarshal(m.Params, &p) != nil || p == nil {
		s.fails(m.ID, codeParams, "initialize says who begins")
		return false
	}
	_ = json.Unmarshal(p["capabilities"], &caps)
	var client struct{ Name string }
	_ = json.Unmarshal(p["clientInfo"], &client)
	ask, is := caps["elicitation"]
	offer := map[string]json.RawMessage{}
	if is {
		offer["elicitation"] = ask
	}
	var version string
	if _ = json.Unmarshal(p["protocolVersion"], &version); version > newest {
		p["protocolVersion"] = json.RawMessage(`"` + newest + `"`)
	}
	p["capabilities"], _ = json.Marshal(offer)
	s.mu.Lock()
	began := s.params != nil
	s.mu.Unlock()
	if began { // a stopped client would go on under another name
		s.fails(m.ID, codeRequest, "this connection has begun already")
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id = rand.Text()
	s.params, s.asks, s.name = p, is && asksForms(ask), client.Name
	return true
}

// initialize starts the servers.
func (s *session) initialize(m *message) {
	if s.State.isStopped(s.name) {
		s.refused(m, codeFailed, s.stopText())
		return
	}
	r := Running{PID: os.Getpid(), Client: s.name, Since: s.began}
	var first error
	var hellos []map[string]json.RawMessage
	for _, u := range s.servers {
		r.Servers = append(r.Servers, u.Name)
		if err := u.ready(s.ctx); err != nil {
			s.says("%s cannot be used: %s", u.Name, err)
			first = err
			continue
		}
		var hello map[string]json.RawMessage
		_ = json.Unmarshal(u.hello, &hello)
		hellos = append(hellos, hello)
	}
	s.State.enter(s.id, r)
	if len(hellos) > 0 {
		if err := s.begins(); err != nil {
			s.says("%s", err)
			s.fails(m.ID, codeFailed, err.Error())
			return
		}
	}
	switch {
	case len(hellos) == 0:
		s.fails(m.ID, codeFailed, s.servers[0].Name+": "+first.Error())
	case !s.Apart:
		s.answer(m.ID, plainHello(hellos[0]))
	default:
		s.answer(m.ID, s.together(hellos))
	}
}

// begins starts the servers, and compares the rules with their tools before anything is passed on.
func (s *session) begins() error {
	s.beginning.Lock()
	defer s.beginning.Unlock()
	if s.begun.Load() {
		return nil
	}
	for _, u := range s.servers {
		if err := u.ready(s.ctx); err != nil && !s.Apart {
			return fmt.Errorf("%s cannot be used: %w", u.Name, err)
		}
	}
	if _, err := s.rules(); err != nil {
		return fmt.Errorf("the rules of the person cannot be used, and nothing passes until they are right: %w", err)
	}
	s.begun.Store(true)
	return nil
}

// plainHello leaves out of a greeting what is not passed on.
func plainHello(hello map[string]json.RawMessage) map[string]json.RawMessage {
	var caps map[string]json.RawMessage
	_ = json.Unmarshal(hello["capabilities"], &caps)
	delete(caps, "tasks")
	delete(caps, "experimental")
	hello["capabilities"], _ = json.Marshal(caps)
	return hello
}

// newest is the newest version of the protocol that is passed on: the next one has no connections.
const newest = "2025-11-25"

// asksForms reports whether a client fills in forms, as it does if it names no mode.
func asksForms(raw json.RawMessage) bool {
	var modes map[string]json.RawMessage
	_ = json.Unmarshal(raw, &modes)
	return len(modes) == 0 || modes["form"] != nil
}

func (s *session) elicits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asks
}

// together makes one greeting of several: what any of the servers can do, and all that they say.
func (s *session) together(hellos []map[string]json.RawMessage) any {
	caps := map[string]json.RawMessage{}
	var words []string
	version := newest
	for _, h := range hellos {
		var own map[string]json.RawMessage
		_ = json.Unmarshal(h["capabilities"], &own)
		for name, raw := range own {
			if name != "tasks" && name != "experimental" && (caps[name] == nil || len(raw) > len(caps[name])) {
				caps[name] = raw
			}
		}
		var text, v string
		if _ = json.Unmarshal(h["instructions"], &text); text != "" {
			words = append(words, text)
		}
		if _ = json.Unmarshal(h["protocolVersion"], &v); v != "" && v < version {
			version = v
		}
	}
	out := map[string]any{"protocolVersion": version, "capabilities": caps, "serverInfo": map[string]string{"name": "verbatim guard", "version": s.Version}}
	if len(words) > 0 {
		out["instructions"] = strings.Join(words, "\n\n")
	}
	return out
}

// asksClient sends a request to the client. done gets the answer, or nil if none comes any more.
func (s *session) asksClient(method string, params json.RawMessage, done func(*message)) (int64, error) {
	s.mu.Lock()
	s.next++
	id := s.next
	s.waiting[id] = &waiting{done}
	s.mu.Unlock()
	err := s.client.write(&message{ID: number(id), Method: method, Params: params})
	if err != nil {
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
	}
	return id, err
}

// finish waits for the answers to what came before the input ended. What waits for the client itself
// gets none any more.
func (s *session) finish() {
	s.mu.Lock()
	lost := s.waiting
	s.waiting = map[int64]*waiting{}
	s.mu.Unlock()
	for _, w := range lost {
		w.done(nil)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.calls.Wait()
		for {
			s.mu.Lock()
			left := len(s.running)
			s.mu.Unlock()
			if left == 0 || s.ctx.Err() != nil {
				return
			}
			time.Sleep(2 * time.Millisecond)
		}
	}()
	select {
	case <-done:
	case <-s.ctx.Done():
	}
}

// ends ends the connections to the servers.
func (s *session) ends() {
	for _, u := range slices.Backward(s.servers) {
		u.stop()
	}
	if s.id != "" {
		s.State.leave(s.id)
	}
	s.calls.Wait()
	s.heard.Wait()
}
