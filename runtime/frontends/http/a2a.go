package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/peers"
	"verbatim/runtime/frontends/wire"
	"verbatim/runtime/internal/digest"
	"verbatim/runtime/protocols/a2a"
	"verbatim/runtime/state/sessions"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// The door for other agents: A2A 1.0. A message becomes calls, and a row becomes a task, as task.go
// describes. This file writes both in the protocol's form.

// a2aRoutes returns the routes of the door. There are none unless a palette declares a task.
func (s *Server) a2aRoutes() []Route {
	if s.Registry == nil || len(s.Registry.Tasks()) == 0 {
		return nil
	}
	body := s.Limits.Script + 64<<10
	return []Route{
		{Pattern: "GET /.well-known/agent-card.json", Does: "Says to agents of others what can be asked for, and how.", handle: (*visit).agentCard},
		{Pattern: "GET /.well-known/jwks.json", Does: "Says to agents of others by which keys their notifications are signed.", handle: (*visit).jwks},
		{Pattern: "POST /a2a", Door: API, Body: body, Stream: true, Does: "Takes calls of A2A, by JSON-RPC.", handle: (*visit).a2aRPC, refuse: (*visit).a2aRefuse},
		{Pattern: "POST /a2a/{path...}", Door: API, Body: body, Stream: true, Does: "Takes calls of A2A, by HTTP and JSON.", handle: (*visit).a2aREST, refuse: (*visit).a2aRefuse},
		{Pattern: "GET /a2a/{path...}", Door: API, Body: body, Stream: true, Does: "Tells of tasks, by HTTP and JSON.", handle: (*visit).a2aREST, refuse: (*visit).a2aRefuse},
		{Pattern: "DELETE /a2a/{path...}", Door: API, Body: body, Stream: true, Does: "Takes back where a peer is told of a task.", handle: (*visit).a2aREST, refuse: (*visit).a2aRefuse},
	}
}

// a2aWait is how long a message waits for its task to end or to pause.
const a2aWait = 30 * time.Second

var a2aModes = []string{"application/json", "text/plain"}

func (v *visit) a2aDoor() *a2a.Door {
	return &a2a.Door{Agent: &peer{v}, Wait: a2aWait, Modes: a2aModes}
}

func (v *visit) a2aRPC() error  { return v.a2aAnswers((*a2a.Door).RPC) }
func (v *visit) a2aREST() error { return v.a2aAnswers((*a2a.Door).REST) }

// a2aAnswers runs a call through the a2a package and sends its answer. An agent must show a token:
// a person's login is refused.
func (v *visit) a2aAnswers(by func(*a2a.Door, context.Context, a2a.Call) a2a.Answer) error {
	if v.secret != "" {
		return errToken
	}
	body, err := io.ReadAll(v.r.Body)
	if err != nil {
		return cutShort(err)
	}
	h := v.r.Header
	answer := by(v.a2aDoor(), v.r.Context(), a2a.Call{Version: h.Get("A2A-Version"), Extensions: h.Get("A2A-Extensions"), Type: h.Get("Content-Type"), Body: body,
		Method: v.r.Method, Path: v.r.PathValue("path"), Query: v.r.URL.Query()})
	v.a2aSend(answer)
	return nil
}

func (v *visit) a2aSend(answer a2a.Answer) {
	if answer.Follow != nil {
		ctx, stop := context.WithCancel(v.r.Context())
		defer stop()
		stream := v.stream()
		beat := time.NewTicker(25 * time.Second)
		defer beat.Stop()
		events := make(chan func() bool)
		done := make(chan struct{})
		go func() { // one goroutine writes, so that a beat never stands within an event
			defer close(done)
			answer.Follow(ctx, func(name string, data []byte) error {
				told := make(chan bool, 1)
				select {
				case events <- func() bool { stream.event(name, data); told <- !stream.failed; return !stream.failed }:
				case <-ctx.Done():
					return ctx.Err()
				}
				if !<-told {
					return errGone
				}
				return nil
			})
		}()
		for {
			select {
			case <-done:
				return
			case <-v.draining:
				stop() // who listens subscribes again, to a server that is there
				<-done
				return
			case write := <-events:
				if !write() {
					stop()
				}
			case <-beat.C:
				if p := problemOf(v.stillIn(ctx)); p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden {
					stop()
					continue
				}
				if stream.beat(); stream.failed {
					stop()
				}
			}
		}
	}
	_ = http.NewResponseController(v.w).SetWriteDeadline(time.Now().Add(stallTime))
	if answer.Type != "" {
		v.w.Header().Set("Content-Type", answer.Type)
	}
	v.w.WriteHeader(answer.Status)
	_, _ = v.w.Write(answer.Body)
}

var errGone = errors.New("whoever listened is gone")

// a2aRefuse answers a request that was refused before it was read.
func (v *visit) a2aRefuse(p problem) {
	if p.retry > 0 {
		v.w.Header().Set("Retry-After", "1")
	}
	code := a2a.InvalidRequest
	if p.Status >= 500 {
		code = a2a.Internal
	}
	v.a2aSend(a2a.Refused(v.route.Pattern == "POST /a2a", &a2a.Error{Code: code, Status: p.Status, Text: p.Title}))
}

// agentCard is public: it lists what the palettes offer, and says nothing about their users.
func (v *visit) agentCard() error {
	return v.json(http.StatusOK, v.card(func(*verbs.Verb) bool { return true }))
}

// card describes the agent with the skills that the caller may use.
func (v *visit) card(may func(*verbs.Verb) bool) *a2a.AgentCard {
	c := &a2a.AgentCard{
		Version: v.Registry.Digest()[:12], DefaultInputModes: a2aModes, DefaultOutputModes: a2aModes, Skills: []a2a.AgentSkill{},
		SupportedInterfaces: []a2a.AgentInterface{
			{URL: v.origin() + "/a2a", ProtocolBinding: "JSONRPC", ProtocolVersion: a2a.Version},
			{URL: v.origin() + "/a2a", ProtocolBinding: "HTTP+JSON", ProtocolVersion: a2a.Version}},
		Capabilities:         a2a.AgentCapabilities{Streaming: true, PushNotifications: v.Posts != PostNone, ExtendedAgentCard: true},
		SecuritySchemes:      map[string]a2a.SecurityScheme{"bearer": {HTTP: &a2a.HTTPAuthScheme{Scheme: "Bearer", Description: "A token of this server's API."}}},
		SecurityRequirements: []a2a.SecurityRequirement{{Schemes: map[string]a2a.StringList{"bearer": {List: []string{}}}}},
	}
	if v.Certificates {
		c.SecuritySchemes["certificate"] = a2a.SecurityScheme{MTLS: &a2a.MTLSScheme{Description: "A client's certificate that this server knows."}}
		c.SecurityRequirements = append(c.SecurityRequirements, a2a.SecurityRequirement{Schemes: map[string]a2a.StringList{"certificate": {List: []string{}}}})
	}
	var names, descriptions []string
	for _, p := range v.Registry.Palettes() {
		if p.Task == nil {
			continue
		}
		names, descriptions = append(names, p.Domain), append(descriptions, p.Description)
		for _, verb := range p.Task.Begins {
			if !may(verb) {
				continue
			}
			c.Skills = append(c.Skills, a2a.AgentSkill{ID: verb.Name, Name: strings.ReplaceAll(verb.Name[strings.LastIndexByte(verb.Name, '.')+1:], "-", " "),
				Description: verb.Description, Tags: []string{p.Domain}, Examples: append(slices.Clone(verb.Phrases[:min(len(verb.Phrases), 4)]), verb.Example())})
		}
	}
	c.Name, c.Description = strings.Join(names, ", "), strings.Join(descriptions, " ")
	return c
}

// A peer is another agent, speaking as its principal. It implements a2a.Agent.
type peer struct{ *visit }

// works runs a function in one of the limited places for work. A stream holds no place while it
// waits.
func works[T any](ctx context.Context, p *peer, do func() (T, error)) (T, error) {
	leave, ok := p.gate.enter(ctx, false)
	if !ok {
		var none T
		return none, peerError(errBusy)
	}
	defer leave()
	done, err := do()
	return done, peerError(err)
}

// peerError converts an error into the protocol's form.
func peerError(err error) error {
	var known *a2a.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	if errors.Is(err, errNoTask) {
		return &a2a.Error{Code: a2a.TaskNotFound, Text: errNoTask.Title}
	}
	p := problemOf(err)
	switch {
	case p.Status >= 500 || p.Status == 499:
		return &a2a.Error{Code: a2a.Internal, Status: p.Status, Text: p.Title}
	case p.Status == http.StatusUnauthorized || p.Status == http.StatusTooManyRequests:
		return &a2a.Error{Code: a2a.InvalidRequest, Status: p.Status, Text: p.Title}
	}
	e := &a2a.Error{Code: a2a.InvalidParams, Text: p.Title}
	if len(p.Diagnostics) > 0 {
		e.Details = []any{refusalOf(p)}
	}
	return e
}

// A refusal is a problem, as one part of a message.
type refusal struct {
	Schema      string          `json:"schema"`
	Code        string          `json:"code"`
	Title       string          `json:"title"`
	Next        string          `json:"next,omitempty"`
	Diagnostics dsl.Diagnostics `json:"diagnostics,omitempty"`
}

func refusalOf(p problem) refusal {
	return refusal{"verbatim/refusal@1", p.Code, p.Title, p.Next, p.Diagnostics}
}

func invalidParams(text string) error { return &a2a.Error{Code: a2a.InvalidParams, Text: text} }

// Card implements a2a.Agent.
func (p *peer) Card(_ context.Context, extended bool) (*a2a.AgentCard, error) {
	if !extended {
		return p.card(func(*verbs.Verb) bool { return true }), nil
	}
	return p.card(p.session.May), nil
}

// stateOf spells a state as the protocol does.
func stateOf(s verbs.TaskState) a2a.State {
	return a2a.State("TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_")))
}

// contexts returns the session of each task. A task that no agent began gets one, which is kept.
func (p *peer) contexts(ctx context.Context, all ...*task) ([]string, error) {
	var ids []string
	for _, t := range all {
		ids = append(ids, t.id)
	}
	of, err := p.peers.Contexts(ctx, p.principal, ids...)
	names := make([]string, len(all))
	for i, t := range all {
		if names[i] = of[t.id]; names[i] == "" {
			names[i] = t.id
		}
	}
	return names, err
}

// tells converts a task for a peer, with the last messages of its history; a negative number means
// all of them.
func (p *peer) tells(ctx context.Context, t *task, session string, history int) (*a2a.Task, error) {
	w := &a2a.Task{ID: t.id, ContextID: session, Status: a2a.TaskStatus{State: stateOf(t.state), Timestamp: a2a.Stamp(t.changed)}}
	if t.says != "" {
		w.Status.Message = &a2a.Message{MessageID: digest.Of("verbatim status 1", t.id, string(t.state), t.says, w.Status.Timestamp)[:32], ContextID: session, TaskID: t.id,
			Role: a2a.Other, Parts: []a2a.Part{a2a.TextPart(t.says)}}
	}
	if doc := t.document(); doc != nil {
		w.Artifacts = []a2a.Artifact{{ArtifactID: short(t.of), Name: t.of.Tells.Name, Description: t.of.Tells.Description, Parts: []a2a.Part{a2a.DataPart(doc)}}}
	}
	if history == 0 {
		return w, nil
	}
	turns, err := p.saidOf(ctx, t, session)
	if err != nil {
		return nil, err
	}
	for _, turn := range turns {
		var m a2a.Message
		if turn.Erased || json.Unmarshal([]byte(turn.Content), &m) != nil || m.MessageID == "" {
			continue // it was no message to this agent, or is erased
		}
		m.TaskID, m.ContextID = t.id, session
		w.History = append(w.History, m)
	}
	if history > 0 && len(w.History) > history {
		w.History = w.History[len(w.History)-history:]
	}
	return w, nil
}

// toldTask reads a task and converts it for a peer.
func (p *peer) toldTask(ctx context.Context, id string, history int) (*a2a.Task, error) {
	t, err := p.task(ctx, id)
	if err != nil {
		return nil, err
	}
	names, err := p.contexts(ctx, t)
	if err != nil {
		return nil, err
	}
	if row := p.rowID(t); row != t.id && !t.key.IsNull() {
		// The task has two names, and one session.
		if of, err := p.peers.Contexts(ctx, p.principal, row); err != nil {
			return nil, err
		} else if of[row] == "" {
			if err := p.peers.Begun(ctx, p.principal, row, names[0]); err != nil {
				return nil, err
			}
		}
	}
	return p.tells(ctx, t, names[0], history)
}

// Task implements a2a.Agent.
func (p *peer) Task(ctx context.Context, id string, history int) (*a2a.Task, error) {
	return works(ctx, p, func() (*a2a.Task, error) { return p.toldTask(ctx, id, history) })
}

// Send implements a2a.Agent.
func (p *peer) Send(ctx context.Context, r *a2a.SendMessageRequest) (*a2a.SendMessageResponse, error) {
	return works(ctx, p, func() (*a2a.SendMessageResponse, error) { return p.takes(ctx, r) })
}

// takes carries out a message.
func (p *peer) takes(ctx context.Context, r *a2a.SendMessageRequest) (*a2a.SendMessageResponse, error) {
	m := r.Message
	if err := p.mayTell(r.Configuration.Push); err != nil {
		return nil, err
	}
	history := -1
	if n := r.Configuration.HistoryLength; n != nil {
		history = *n
	}
	parts, err := json.Marshal(m.Parts)
	if err != nil {
		return nil, err
	}
	key, sum := "a2a "+m.MessageID, digest.Of("verbatim message 1", p.principal, m.MessageID, m.TaskID, m.ContextID, string(parts))
	before, err := p.peers.Message(ctx, p.principal, m.MessageID)
	switch {
	case err != nil:
		return nil, err
	case before != nil && before.Sum != sum:
		return nil, invalidParams("this messageId is another message's")
	case before != nil && before.Task != "":
		t, err := p.toldTask(ctx, before.Task, history)
		return &a2a.SendMessageResponse{Task: t}, err
	}
	t, name, err := p.addressed(ctx, m, key)
	if err != nil {
		return nil, err
	}
	s, err := p.named(name)
	if err != nil {
		return nil, err
	}
	asks, reply, err := p.understands(ctx, s, m, t)
	if err != nil {
		return nil, err
	}
	if reply != nil {
		return p.says(name, t, reply...), nil
	}
	said := p.said(m, t, asks.kept)
	a, err := p.act(ctx, s, asks.script, engine.RunOptions{Key: key, Agreed: asks.agreed, Said: said})
	var refused *engine.Refusal
	switch {
	case errors.As(err, &refused) && problemOf(err).Code != "key-reused":
		return p.says(name, t, refusedIn(problemOf(err))...), nil
	case err != nil:
		return nil, err
	case a.asks != nil:
		return p.says(name, t, asksFirst(a.asks)...), nil
	}
	now, err := p.keeps(ctx, s, m.MessageID, peers.Message{Sum: sum, Context: name}, t, a, said)
	switch {
	case err != nil:
		return nil, err
	case now == nil && a.pending != nil:
		return p.says(name, nil, a2a.TextPart("Somebody else has to agree to it first; whether they did is not told here."),
			a2a.DataPart(wire.Run{Schema: wire.RunSchema, Outcome: wire.Waiting, Preview: a.pending.Preview, Confirmation: wire.NewConfirmation(a.pending)})), nil
	case now == nil:
		return p.says(name, nil, a2a.DataPart(wire.DoneRun(a.done))), nil
	}
	names, err := p.contexts(ctx, now)
	if err != nil {
		return nil, err
	}
	w, err := p.tells(ctx, now, names[0], history)
	if err == nil && r.Configuration.Push != nil {
		c := *r.Configuration.Push
		c.TaskID = now.id
		_, err = p.setPush(ctx, &c, now, w)
	}
	return &a2a.SendMessageResponse{Task: w}, err
}

// addressed returns the task that a message is to, nil for none, and the name of its context. key
// is that of what the message does.
func (p *peer) addressed(ctx context.Context, m *a2a.Message, key string) (t *task, name string, err error) {
	if name = m.ContextID; m.TaskID == "" {
		if name == "" {
			name = "a2a-" + digest.Of("verbatim context 1", m.MessageID)[:24]
		}
		return nil, name, nil
	}
	if t, err = p.task(ctx, m.TaskID); err != nil {
		return nil, "", err
	}
	names, err := p.contexts(ctx, t)
	if err != nil {
		return nil, "", err
	}
	if name != "" && name != names[0] {
		return nil, "", invalidParams("the task is of another contextId")
	}
	// This message may be the one that ended the task, if its answer was lost.
	done, err := p.session.Done(ctx, key)
	if err == nil && done == nil && (t.state.Ended() || t.key.IsNull()) {
		err = &a2a.Error{Code: a2a.UnsupportedOperation, Text: "the task takes no messages as it is"}
	}
	return t, names[0], err
}

func refusedIn(why problem) []a2a.Part {
	text := why.Title + "."
	if why.Next != "" {
		text += " " + why.Next + "."
	}
	return []a2a.Part{a2a.TextPart(text), a2a.DataPart(refusalOf(why))}
}

func asksFirst(preview *receipt.Receipt) []a2a.Part {
	var why []string
	for _, ask := range preview.Asks() {
		why = append(why, ask.Reason)
	}
	return []a2a.Part{
		a2a.TextPart("You have to agree first: " + strings.Join(why, "; ") + ". Send it again as data in this context, with agreed: " + preview.Answer() + "."),
		a2a.DataPart(wire.Run{Schema: wire.RunSchema, Outcome: wire.Previewed, Preview: preview}),
	}
}

// keeps notes what a message became, and returns the task that it is or was to, nil for none.
func (p *peer) keeps(ctx context.Context, s *engine.Session, id string, kept peers.Message, t *task, a *callOutcome, said []sessions.Said) (*task, error) {
	now, err := p.became(ctx, a)
	if err != nil {
		return nil, err
	}
	if now == nil && t != nil {
		if now, err = p.task(ctx, t.id); err != nil {
			return nil, err
		}
	}
	if now != nil {
		kept.Task = now.id
		if t != nil && t.id != now.id && now.key == t.key {
			now.id, kept.Task = t.id, t.id // it is known by the name under which its agreement was asked
		}
	}
	if a.pending != nil && now != nil {
		for i := range said {
			said[i].Mentions = []string{now.id}
		}
		if _, err := s.Say(ctx, said...); err != nil {
			return nil, err
		}
	}
	return now, p.peers.Keep(ctx, p.principal, id, kept)
}

// List implements a2a.Agent.
func (p *peer) List(ctx context.Context, r *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return works(ctx, p, func() (*a2a.ListTasksResponse, error) {
		if !p.listed() {
			return nil, &a2a.Error{Code: a2a.UnsupportedOperation, Text: "this agent lists no tasks"}
		}
		after, _ := r.After() // it was checked
		type found struct {
			of *verbs.Task // nil for a task that waits for an agreement before it has a row
			id string
		}
		var all []found
		add := func(of *verbs.Task, ids []string, states []verbs.TaskState, changed []time.Time) error {
			var in map[string]string
			if r.ContextID != "" {
				var err error
				if in, err = p.peers.Contexts(ctx, p.principal, ids...); err != nil {
					return err
				}
			}
			if !after.IsZero() && changed == nil {
				return invalidParams("this agent does not list tasks by when their status changed")
			}
			for i, id := range ids {
				switch {
				case r.Status != "" && stateOf(states[i]) != r.Status:
				case r.ContextID != "" && in[id] != r.ContextID && (in[id] != "" || id != r.ContextID):
				case !after.IsZero() && !changed[i].After(after):
				default:
					all = append(all, found{of, id})
				}
			}
			return nil
		}
		asked, err := p.listAsked(ctx)
		if err == nil && len(asked) > 0 && after.IsZero() {
			err = add(nil, asked, slices.Repeat([]verbs.TaskState{verbs.TaskAuth}, len(asked)), nil)
		}
		if err == nil {
			err = p.listTasks(ctx, add)
		}
		if err != nil {
			return nil, err
		}
		from := 0
		if r.PageToken != "" {
			if from = 1 + slices.IndexFunc(all, func(f found) bool { return f.id == r.PageToken }); from == 0 {
				return nil, invalidParams("pageToken is none that this agent gave")
			}
		}
		to := min(len(all), from+*r.PageSize)
		page := &a2a.ListTasksResponse{Tasks: []a2a.Task{}, PageSize: *r.PageSize, TotalSize: len(all)}
		if to < len(all) {
			page.NextPageToken = all[to-1].id
		}
		history := 0
		if r.HistoryLength != nil {
			history = *r.HistoryLength
		}
		for i := from; i < to; {
			var ids []string
			of := all[i].of
			for ; i < to && all[i].of == of; i++ {
				ids = append(ids, all[i].id)
			}
			var tasks []*task
			if of != nil {
				if tasks, err = p.tellTasks(ctx, of, ids...); err != nil {
					return nil, err
				}
			}
			for _, id := range ids[:len(ids)-len(tasks)] {
				t, err := p.task(ctx, id)
				if err != nil {
					return nil, err
				}
				tasks = append(tasks, t)
			}
			names, err := p.contexts(ctx, tasks...)
			if err != nil {
				return nil, err
			}
			for j, t := range tasks {
				w, err := p.tells(ctx, t, names[j], history)
				if err != nil {
					return nil, err
				}
				if !r.IncludeArtifacts {
					w.Artifacts = nil
				}
				page.Tasks = append(page.Tasks, *w)
			}
		}
		return page, nil
	})
}

// Cancel implements a2a.Agent.
func (p *peer) Cancel(ctx context.Context, r *a2a.CancelTaskRequest) (*a2a.Task, error) {
	return works(ctx, p, func() (*a2a.Task, error) {
		t, err := p.task(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		no := func(why string) error { return &a2a.Error{Code: a2a.TaskNotCancelable, Text: why} }
		switch {
		case t.state.Ended():
			return nil, no("the task has ended")
		case t.key.IsNull():
			return nil, no("what waits for an agreement is not taken back; it ends by itself where nobody agrees in time")
		case t.of.Cancels == nil || !p.session.May(t.of.Cancels):
			return nil, no("tasks of this kind are not canceled")
		}
		call := dsl.NewCall(t.of.Cancels.Name, dsl.NewArg(t.of.Cancels.Params[t.of.CancelRow].Name, symbol(p.rowID(t))))
		script, _ := dsl.Parse(dsl.NewSource(taskKind, dsl.FormatCall(&call)+"\n"))
		names, err := p.contexts(ctx, t)
		if err != nil {
			return nil, err
		}
		s, err := p.named(names[0])
		if err != nil {
			return nil, err
		}
		a, err := p.act(ctx, s, script, engine.RunOptions{})
		var refused *engine.Refusal
		switch {
		case errors.As(err, &refused):
			return nil, no(problemOf(err).Title)
		case err != nil:
			return nil, err
		case a.asks != nil:
			return nil, no("it has to be agreed to: send " + t.of.Cancels.Name + " as a message")
		}
		return p.toldTask(ctx, t.id, -1)
	})
}

// Watch implements a2a.Agent. It follows the task in the journal, so it sees changes by any
// process.
func (p *peer) Watch(ctx context.Context, was *a2a.Task, tell func(*a2a.Task) bool) error {
	t, err := works(ctx, p, func() (*task, error) { return p.task(ctx, was.ID) })
	if err != nil {
		return err
	}
	l, err := p.news.about(ctx, rowOf(t))
	if err != nil {
		return peerError(err)
	}
	defer p.news.leave(l)
	again := time.NewTicker(25 * time.Second) // columns may depend on other rows
	defer again.Stop()
	for {
		now, err := works(ctx, p, func() (*a2a.Task, error) { return p.toldTask(ctx, was.ID, 0) })
		if err != nil {
			return err
		}
		if len(a2a.Changes(was, now)) > 0 || now.Status.State.Ended() {
			if !tell(now) {
				return nil
			}
			was = now
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.draining:
			return nil
		case <-l.wake:
		case <-again.C:
		}
	}
}

// rowOf returns the name of a task's row in the journal, "" while there is no row.
func rowOf(t *task) string {
	if t.key.IsNull() {
		return ""
	}
	return string(t.key.AppendJSON(nil))
}
