package guard

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A call is one call of a tool.
type call struct {
	session *session
	m       *message
	u       *upstream
	tool    string // the server's own name of it
	t       *tool  // nil for what is no tool
	args    json.RawMessage

	pipe    pipe   // to the server, as it was when the call was prepared
	as      string // see pin.As
	acts    bool
	own     bool   // it may reach what decides what passes
	leaves  []leaf // and the names among them
	keys    []leaf
	origins []origin // of the leaves, and then of the names
	agreed  string   // who agreed, and how
	key     string   // of its row, once it was sent
	same    string   // digest of what it does
	before  *before
}

// An origin is where an argument comes from.
type origin struct {
	path string
	from []*source // nil for the client itself
}

// pin is what the tool says of itself, as it was accepted.
func (c *call) pin() json.RawMessage {
	if c.t == nil {
		return nil
	}
	return c.t.pin
}

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d\n%s\n", len(p), p)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func decoded(raw json.RawMessage) (v any) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	_ = dec.Decode(&v)
	return v
}

func sortedKeys(m map[string]any) []string {
	return slices.Sorted(maps.Keys(m))
}

// toolResult makes the result of a call that was not passed on. It is a result and no error of the
// protocol, so that the model reads it.
func toolResult(failed bool, text string) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{"content": []map[string]string{{"type": "text", "text": text}}, "isError": failed})
	return raw
}

// call takes a call of a tool.
func (s *session) call(m *message) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil || p.Name == "" {
		s.fails(m.ID, codeParams, "a call names a tool, and its arguments are an object")
		return
	}
	if s.searches() && (p.Name == findTool || p.Name == describeTool || p.Name == callTool) {
		text, name, inner := s.finds(p.Name, p.Arguments)
		if name == "" && p.Name != callTool {
			s.answer(m.ID, toolResult(false, text))
			return
		}
		p.Name, p.Arguments = name, inner
		if len(inner) == 0 {
			p.Arguments = json.RawMessage("{}")
		}
		m.Params = with(m.Params, "arguments", p.Arguments)
	}
	s.mu.Lock()
	at, known := s.shown[p.Name]
	s.mu.Unlock()
	if known && s.begun.Load() && at.u.settled() {
		if s.passes(m, at, p.Arguments) {
			return
		}
	}
	s.later(func() { s.takes(m, p.Name, p.Arguments) })
}

// settled reports whether the server runs and its list is compared.
func (u *upstream) settled() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.pipe != nil && u.tools != nil && !u.stale && !u.forgot
}

// makes prepares a call.
func (s *session) makes(m *message, at place, args json.RawMessage) (*call, error) {
	c := &call{session: s, m: m, u: at.u, tool: at.t.name, t: at.t, args: args}
	if s.Apart {
		name, _ := json.Marshal(at.t.name)
		c.m = &message{ID: m.ID, Method: m.Method, Params: with(m.Params, "name", name)}
	}
	return c, c.looks()
}

// looks looks at a call: whether it may act, where its arguments come from, and where they lead.
func (c *call) looks() error {
	s := c.session
	c.leaves, c.keys = parts(c.args)
	c.u.mu.Lock()
	c.pipe = c.u.pipe
	switch p := c.u.pin; {
	case lists[c.m.Method] != "":
	case p == nil:
		c.acts = true
	case c.t == nil:
		c.acts = !p.Besides
	default:
		c.acts = !c.t.reads || !slices.Contains(p.Reads, c.tool)
	}
	if c.u.pin != nil {
		c.as = c.u.pin.As
	}
	c.u.mu.Unlock()
	s.coming.Lock() // what the client has seen is traced first
	defer s.coming.Unlock()
	for _, l := range slices.Concat(c.leaves, c.keys) {
		c.own = c.own || s.owns(c, l)
		if c.t != nil && c.t.args[l.text] != nil { // the tool's own word
			c.origins = append(c.origins, origin{l.path, nil})
			continue
		}
		from, err := s.traces.find(l.text)
		if err != nil {
			return err
		}
		c.origins = append(c.origins, origin{l.path, from})
	}
	return nil
}

// isTool reports whether a tool is called, and not something else asked of a server.
func (c *call) isTool() bool { return c.m.Method == "tools/call" }

// says answers what was not passed on, or whose answer was lost.
func (c *call) says(text string) {
	if c.m.ID == nil {
		return
	}
	if c.isTool() {
		c.session.answer(c.m.ID, toolResult(true, text))
	} else {
		c.session.fails(c.m.ID, codeFailed, text)
	}
}

// traced returns the sources of arguments that came out of results; with read, only those of other
// servers.
func (c *call) traced() (all []*source) {
	for _, o := range c.origins {
		for _, from := range o.from {
			if c.acts || from.Server != c.u.Name {
				all = append(all, from)
			}
		}
	}
	return all
}

// passes passes a call on at once that needs no thought: one that only reads, of a server whose
// person was asked. It reports whether it did.
func (s *session) passes(m *message, at place, args json.RawMessage) bool {
	if at.t.changed || !at.t.reads || s.State.isStopped(s.name) {
		return false
	}
	c, err := s.makes(m, at, args)
	if err != nil || c.acts || c.own || len(c.traced()) > 0 {
		return false
	}
	rules, err := s.rules()
	if rule, _, outside := rules.of(c); err != nil || rule != nil || outside > 0 {
		return false
	}
	s.sends(c)
	return true
}

// refuses answers that a call was not passed on, and why.
func (s *session) refuses(c *call, outcome, reason, text string) {
	if c.u != nil {
		e := s.log.entry(c)
		e.Outcome, e.Reason = outcome, reason
		_ = s.log.later(write{entry: e})
	}
	c.says(text)
}

// takes decides what becomes of a call.
func (s *session) takes(m *message, name string, args json.RawMessage) {
	c := &call{session: s, m: m}
	if s.stopped(c) {
		return
	}
	err := s.begins()
	for _, u := range s.servers {
		if broken := u.ready(s.ctx); broken != nil && !s.Apart && err == nil {
			err = fmt.Errorf("%s cannot be used: %w", u.Name, broken)
		}
	}
	if at := s.place(name); err == nil && at.t != nil && at.t.changed { // which may have been accepted meanwhile
		err = at.u.again(s.ctx)
	}
	if err != nil {
		s.refuses(c, outcomeRefused, "not-running", err.Error()+". Nothing was called.")
		return
	}
	s.mu.Lock()
	at, known := s.shown[name]
	s.mu.Unlock()
	if !known {
		s.fails(m.ID, codeParams, fmt.Sprintf("no tool is called %q", name))
		return
	}
	at.u.mu.Lock()
	forgot := at.u.forgot
	if forgot {
		at.u.forgot, at.u.calls = false, 0
	}
	at.u.mu.Unlock()
	ctx, stop := context.WithCancel(s.ctx)
	defer stop()
	s.runs(m.ID, &running{to: at.u, cancel: stop})
	if forgot {
		c.u, c.tool, c.args = at.u, at.t.name, args
		s.refuses(c, outcomeRefused, "restarted", fmt.Sprintf("%s had ended and was started again: what it remembered is lost. Nothing was called; call again if that still makes sense.", at.u.Name))
		return
	}
	c.u, c.tool, c.args = at.u, at.t.name, args
	if !s.admits(ctx, c) {
		return
	}
	if at.t.changed {
		if !s.acceptsChange(ctx, c, at.t) {
			return
		}
		if at = s.place(name); at.t == nil || at.t.changed {
			s.refuses(c, outcomeRefused, "changed", "What this tool says of itself has changed again. Nothing was called.")
			return
		}
	}
	s.offers(ctx, at.u)
	if ctx.Err() != nil { // it was cancelled while that was asked
		s.refuses(&call{session: s, m: m, u: at.u, tool: at.t.name, args: args}, outcomeRefused, "cancelled", "The call was cancelled while the person was asked what may pass. Nothing was called.")
		return
	}
	c, err = s.makes(m, at, args)
	if err != nil {
		s.refuses(&call{session: s, m: m}, outcomeRefused, "store", s.unread(err))
		return
	}
	if !s.decides(ctx, c) {
		return
	}
	if ctx.Err() != nil { // it was cancelled while it waited
		s.ended(m.ID)
		return
	}
	s.sends(c)
}

func (s *session) place(name string) place {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown[name]
}

// decides reports whether a call may be sent, after asking where that is needed. An acting call was
// journalled then.
func (s *session) decides(ctx context.Context, c *call) bool {
	args := jsontext.Value(slices.Clone(c.args))
	if args.Canonicalize() != nil { // numbers by their values
		args = jsontext.Value(c.args)
	}
	c.same = digest(c.u.Name, c.tool, string(args))
	rules, err := s.rules()
	if err != nil {
		s.refuses(c, outcomeRefused, "bad-rules", "The rules of the person cannot be used, and nothing passes until they are right: "+err.Error()+". Nothing was called.")
		return false
	}
	rule, number, outside := rules.of(c)
	traced := c.traced()
	if rule != nil && rule.Then == "deny" {
		s.refuses(c, outcomeRefused, "denied", fmt.Sprintf("Rule %d of the person denies this call. Nothing was called.", number))
		return false
	}
	if c.acts {
		if c.before, err = s.log.same(ctx, c.same); err != nil {
			s.refuses(c, outcomeRefused, "store", s.unread(err))
			return false
		}
	}
	ask := c.acts || len(traced) > 0 || c.own || outside > 0
	why, lost := "it may change something", c.before.lost()
	if s.stopped(c) {
		return false
	}
	switch {
	case c.own:
		why = "an argument leads to, or above, the files in which what you decided is kept"
	case rule != nil && rule.Then == "ask":
		ask, why = true, fmt.Sprintf("rule %d of guard.yaml says so", number)
	case rule != nil && slices.ContainsFunc(traced, func(f *source) bool { return !rule.covers(c, f) }):
		ask, why = true, fmt.Sprintf("an argument came out of a result, and rule %d does not name its server", number)
	case rule != nil && lost:
		ask, why = true, "nobody knows whether the same was done before"
	case rule != nil && !s.counts(rule):
		ask, why = true, fmt.Sprintf("rule %d lets %d calls pass in an hour, and there were as many", number, *rule.PerHour)
	case rule != nil:
		ask, c.agreed = false, fmt.Sprintf("%s, by rule %d", s.Who, number)
	case ask && len(traced) == 0 && !lost && s.stands(c, c.leaves):
		ask, c.agreed = false, s.Who+", for an hour"
	case outside > 0:
		why = fmt.Sprintf("rule %d lets this tool pass, and this call is not within its bounds", outside)
	case !c.acts && len(traced) > 0:
		why = "it hands to " + c.u.Name + " what came out of another server's result"
	}
	hour := rule == nil && len(traced) == 0 && !lost && !c.own
	if ask && (!s.agrees(ctx, c, why, hour) || s.stopped(c)) { // which may have been while it was asked
		return false
	}
	if (ask || c.acts) && !s.still(c, ask) {
		return false
	}
	if !c.acts {
		return true
	}
	c.key = rand.Text()
	if err := s.log.attempt(ctx, s.log.entry(c), c.key, c.same, c.before); err != nil {
		c.key = ""
		s.says("the journal cannot be written: %s", err)
		c.says("Nothing was called: verbatim guard cannot write its journal, and what acts passes only when it is written down first. The person is told why.")
		return false
	}
	return true
}

// still reports whether a call may be sent as it was prepared: the server still runs, and says of the tool
// what it said then. After a question it is asked.
func (s *session) still(c *call, asked bool) bool {
	err := c.u.ready(s.ctx)
	if err == nil && asked && c.t != nil {
		err = c.u.again(s.ctx)
	}
	c.u.mu.Lock()
	i := slices.IndexFunc(c.u.tools, func(t *tool) bool { return t.name == c.tool })
	why := ""
	switch {
	case err != nil:
		why = "cannot be used any more"
	case c.u.pipe != c.pipe:
		why, c.u.forgot, c.u.calls = "ended and was started again, and what it remembered is lost", false, 0
	case c.t != nil && i < 0:
		why = "does not have this tool any more"
	case c.t != nil && (c.u.tools[i].changed || !bytes.Equal(c.u.tools[i].pin, c.t.pin)), c.u.stale:
		why = "says something else of its tools now"
	}
	c.u.mu.Unlock()
	if why != "" {
		s.refuses(c, outcomeRefused, "changed", c.u.Name+" "+why+". Nothing was called, and what was agreed to does not hold; call again, and the person is asked anew.")
	}
	return why == ""
}

// rules are the rules as they stand in the file now.
func (s *session) rules() (*Rules, error) {
	r, err := s.Rules.Now(s.State, true)
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := fmt.Sprint(err); err != nil && text != s.wrong {
		s.says("your rules cannot be used, and nothing passes: %s", err)
		s.wrong = text
	} else if err == nil {
		s.wrong = ""
	}
	return r, err
}

// unread tells the person why the state cannot be used, and returns what the client may know of that.
func (s *session) unread(err error) string {
	s.says("%s cannot be used: %s", s.State.Dir, err)
	return "Nothing was called: the journal and state of verbatim guard cannot be used. The person is told why."
}

// stopped reports whether the client was stopped, and answers the call then.
func (s *session) stopped(c *call) bool {
	is := s.State.isStopped(s.name)
	if is {
		s.refuses(c, outcomeRefused, "stopped", s.stopText())
	}
	return is
}

func (s *session) stopText() string {
	return "The person stopped this client: nothing is passed on until they let it go on."
}

// counts counts a call of a rule, and reports whether the rule lets it pass: so many within an hour, in
// all guards of the user.
func (s *session) counts(r *Rule) bool {
	if r.PerHour == nil {
		return true
	}
	rule, _ := json.Marshal(r)
	ok, err := s.State.counts(digest(string(rule)), *r.PerHour, s.Clock())
	if err != nil {
		s.says("calls cannot be counted: %s", err)
	}
	return ok && err == nil
}

// sends sends a call, and passes the answer back before it is looked at.
func (s *session) sends(c *call) {
	c.u.mu.Lock()
	c.u.calls++
	c.u.mu.Unlock()
	s.calls.Add(1)
	id, err := c.u.send(c.m, func(a *message) {
		defer s.calls.Done()
		s.settles(c, a)
	})
	if err != nil {
		s.calls.Done()
		// It may have been written in part.
		s.settles(c, nil)
		return
	}
	s.runs(c.m.ID, &running{to: c.u, id: id})
}

// settles passes on what became of a call, and journals it.
func (s *session) settles(c *call, a *message) {
	e := s.log.entry(c)
	w := write{entry: e, key: c.key}
	switch {
	case a == nil && c.acts:
		w.entry.Outcome, w.entry.Reason, w.status = outcomeUnknown, "answer-lost", outcomeUnknown
		c.says(fmt.Sprintf("%s ended before it answered: nobody knows whether this was done. Look before you call it again; the person will be told.", c.u.Name))
	case a == nil:
		w.entry.Outcome, w.entry.Reason = outcomeFailed, "answer-lost"
		c.says(c.u.Name + " ended before it answered. It is started again for the next call; what it remembered is lost.")
	default:
		s.coming.RLock()
		defer s.coming.RUnlock()
		s.ended(c.m.ID)
		if c.m.ID != nil {
			_ = s.client.write(&message{ID: c.m.ID, Result: a.Result, Error: a.Error})
		}
		var said struct{ IsError bool }
		w.entry.Outcome, w.status = outcomeOK, outcomeOK
		if _ = json.Unmarshal(a.Result, &said); said.IsError || a.Error != nil {
			// That it says so does not mean that nothing was done.
			w.entry.Outcome, w.entry.Reason, w.status = outcomeFailed, "tool-failed", outcomeFailed
		}
		if c.u.remember(c.tool, a.Result, a.Error); lists[c.m.Method] != "" {
			return
		}
	}
	if err := s.log.later(w); err != nil {
		s.says("the journal cannot be written: %s", err)
	}
}

// textIn returns all texts of a result, without pictures and sound.
func textIn(result json.RawMessage) string {
	var b strings.Builder
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			binary := v["mimeType"] != nil
			for _, k := range sortedKeys(v) {
				if binary && (k == "data" || k == "blob") {
					continue
				}
				b.WriteString(k + "\n")
				walk(v[k])
			}
		case []any:
			for _, item := range v {
				walk(item)
			}
		case string:
			b.WriteString(v)
			b.WriteByte('\n')
		case json.Number:
			b.WriteString(v.String())
			b.WriteByte('\n')
		}
	}
	walk(decoded(result))
	return b.String()
}

// stamp says a time for people.
func stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }
