// Package a2a is for agents of others: A2A 1.0 and the older envelopes of domains, by which other
// companies' programs give tasks and are told what becomes of them.
package a2a

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
	"verbatim/runtime/frontends/http/a2a/peers"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/frontends/wire"
	"verbatim/runtime/internal/digest"
	"verbatim/runtime/protocols/a2a"
	"verbatim/runtime/state/sessions"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/message"
)

// Options say what agents may ask for, besides the tasks that the palettes declare.
type Options struct {
	Envelopes []Envelope // JSON protocols of domains
	Posts     Posts      // to which addresses agents may have notifications sent
}

// Agents are the doors for agents of others. A message becomes calls, and a row becomes a task, as
// task.go describes. Make it with New.
type Agents struct {
	Options
	server *server.Server
	peers  *peers.Book
}

// New makes the doors of a server. Mount its Routes, and let Notify run beside them.
func New(s *server.Server, o Options) *Agents {
	return &Agents{o, s, &peers.Book{Store: s.Store, Clock: s.Clock}}
}

// Housekeep deletes expired data.
func (a *Agents) Housekeep(ctx context.Context) error { return a.peers.Housekeep(ctx) }

// Routes returns the routes: of A2A if a palette declares a task, and of the envelopes.
func (a *Agents) Routes() []server.Route {
	all := a.envelopes()
	if len(a.server.Registry.Tasks()) == 0 {
		return all
	}
	route := func(pattern, does string, by func(*a2a.Door, context.Context, a2a.Call) a2a.Answer) server.Route {
		return server.Route{Pattern: pattern, Door: server.Program, Body: a.server.Limits.Script + 64<<10, Stream: true, Does: does,
			Handle: func(v *server.Visit) error { return (&peer{v, a}).answers(by) }, Refuse: func(v *server.Visit, p server.Problem) { (&peer{v, a}).refuses(p) }}
	}
	return append(all,
		server.Route{Pattern: "GET /.well-known/agent-card.json", Does: "Says to agents of others what can be asked for, and how.", Handle: a.agentCard},
		server.Route{Pattern: "GET /.well-known/jwks.json", Does: "Says to agents of others by which keys their notifications are signed.", Handle: a.jwks},
		route("POST /a2a", "Takes calls of A2A, by JSON-RPC.", (*a2a.Door).RPC),
		route("POST /a2a/{path...}", "Takes calls of A2A, by HTTP and JSON.", (*a2a.Door).REST),
		route("GET /a2a/{path...}", "Tells of tasks, by HTTP and JSON.", (*a2a.Door).REST),
		route("DELETE /a2a/{path...}", "Takes back where a peer is told of a task.", (*a2a.Door).REST))
}

// a2aWait is how long a message waits for its task to end or to pause.
const a2aWait = 30 * time.Second

var a2aModes = []string{"application/json", "text/plain"}

// answers runs a call through the package of the protocol and sends its answer.
func (p *peer) answers(by func(*a2a.Door, context.Context, a2a.Call) a2a.Answer) error {
	body, err := io.ReadAll(p.R.Body)
	if err != nil {
		return server.CutShort(err)
	}
	h := p.R.Header
	door := &a2a.Door{Agent: p, Wait: a2aWait, Modes: a2aModes}
	return p.sends(by(door, p.R.Context(), a2a.Call{Version: h.Get("A2A-Version"), Type: h.Get("Content-Type"), Body: body,
		Method: p.R.Method, Path: p.R.PathValue("path"), Query: p.R.URL.Query()}))
}

func (p *peer) sends(answer a2a.Answer) error {
	if answer.Follow != nil {
		ctx, stop := context.WithCancel(p.R.Context())
		defer stop()
		stream := p.Stream()
		beat := time.NewTicker(25 * time.Second)
		defer beat.Stop()
		type event struct {
			name string
			data []byte
			told chan bool
		}
		events := make(chan event)
		done := make(chan struct{})
		go func() { // one goroutine writes, so that a beat never stands within an event
			defer close(done)
			answer.Follow(ctx, func(name string, data []byte) error {
				e := event{name, data, make(chan bool, 1)}
				select {
				case events <- e:
				case <-ctx.Done():
					return ctx.Err()
				}
				if !<-e.told {
					return errGone
				}
				return nil
			})
		}()
		for {
			select {
			case <-done:
				return nil
			case <-p.Draining:
				stop()
				<-done
				return nil
			case e := <-events:
				// Nothing is told to somebody whose rights are gone, or cannot be looked up: they come back.
				_, _, err := p.Again()
				if err == nil {
					stream.Event(e.name, e.data)
				}
				told := err == nil && !stream.Failed
				if e.told <- told; !told {
					stop()
				}
			case <-beat.C:
				if _, gone, _ := p.Again(); gone {
					stop()
					continue
				}
				if stream.Beat(); stream.Failed {
					stop()
				}
			}
		}
	}
	return p.Visit.Send(answer.Status, answer.Type, answer.Body)
}

var errGone = errors.New("whoever listened is gone")

// refuses answers a request that was refused before it was read.
func (p *peer) refuses(why server.Problem) {
	if why.Retry > 0 {
		p.W.Header().Set("Retry-After", "1")
	}
	code := a2a.InvalidRequest
	if why.Status >= 500 {
		code = a2a.Internal
	}
	_ = p.sends(a2a.Refused(p.Route.Pattern == "POST /a2a", &a2a.Error{Code: code, Status: why.Status, Text: why.Title}))
}

// agentCard is public: it lists what the palettes offer, and says nothing about their users.
func (a *Agents) agentCard(v *server.Visit) error {
	return v.JSON(http.StatusOK, a.card(func(*verbs.Verb) bool { return true }))
}

// card describes the agent with the skills that the caller may use.
func (a *Agents) card(may func(*verbs.Verb) bool) *a2a.AgentCard {
	c := &a2a.AgentCard{
		Version: a.server.Registry.Digest()[:12], DefaultInputModes: a2aModes, DefaultOutputModes: a2aModes, Skills: []a2a.AgentSkill{},
		SupportedInterfaces: []a2a.AgentInterface{
			{URL: a.server.Origin() + "/a2a", ProtocolBinding: "JSONRPC", ProtocolVersion: a2a.Version},
			{URL: a.server.Origin() + "/a2a", ProtocolBinding: "HTTP+JSON", ProtocolVersion: a2a.Version}},
		Capabilities:         a2a.AgentCapabilities{Streaming: true, PushNotifications: a.Posts != PostNone, ExtendedAgentCard: true},
		SecuritySchemes:      map[string]a2a.SecurityScheme{"bearer": {HTTP: &a2a.HTTPAuthScheme{Scheme: "Bearer", Description: "A token of this server's API."}}},
		SecurityRequirements: []a2a.SecurityRequirement{{Schemes: map[string]a2a.StringList{"bearer": {List: []string{}}}}},
	}
	if a.server.Certificates {
		c.SecuritySchemes["certificate"] = a2a.SecurityScheme{MTLS: &a2a.MTLSScheme{Description: "A client's certificate that this server knows."}}
		c.SecurityRequirements = append(c.SecurityRequirements, a2a.SecurityRequirement{Schemes: map[string]a2a.StringList{"certificate": {List: []string{}}}})
	}
	var names, descriptions []string
	for _, p := range a.server.Registry.Palettes() {
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

// A peer is a program of somebody else that sent a request, and speaks as its principal. It implements
// a2a.Agent.
type peer struct {
	*server.Visit
	*Agents
}

// works runs a function in one of the limited places for work. A stream holds no place while it
// waits.
func works[T any](ctx context.Context, p *peer, do func() (T, error)) (T, error) {
	leave, err := p.Enter(ctx)
	if err != nil {
		var none T
		return none, p.wrong(err)
	}
	defer leave()
	done, err := do()
	return done, p.wrong(err)
}

// wrong is peerError, and logs what is the system's own fault.
func (p *peer) wrong(err error) error {
	if _, known := errors.AsType[*a2a.Error](err); !known && err != nil && server.ProblemOf(err).Status >= 500 {
		p.Log.Error("failed", "error", err.Error())
	}
	return peerError(err)
}

// peerError converts an error into the protocol's form.
func peerError(err error) error {
	if _, known := errors.AsType[*a2a.Error](err); known || err == nil {
		return err
	}
	if errors.Is(err, errNoTask) {
		return &a2a.Error{Code: a2a.TaskNotFound, Text: errNoTask.Title}
	}
	p := server.ProblemOf(err)
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

func refusalOf(p server.Problem) refusal {
	return refusal{"verbatim/refusal@1", p.Code, p.Title, p.Next, p.Diagnostics}
}

func invalidParams(text string) error { return &a2a.Error{Code: a2a.InvalidParams, Text: text} }

// Card implements a2a.Agent.
func (p *peer) Card(_ context.Context, extended bool) (*a2a.AgentCard, error) {
	if !extended {
		return p.card(func(*verbs.Verb) bool { return true }), nil
	}
	return p.card(p.Session.May), nil
}

// stateOf spells a state as the protocol does.
func stateOf(s verbs.TaskState) a2a.State {
	return a2a.State("TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_")))
}

// contexts returns the session of each task. A task that no agent began gets one, which is kept.
func (p *peer) contexts(ctx context.Context, all ...*task) ([]string, error) {
	ids := message.Names(all, func(t *task) string { return t.id })
	of, err := p.peers.Contexts(ctx, p.Principal, ids...)
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

// told converts a task for a peer, in the session that it has.
func (p *peer) told(ctx context.Context, t *task, history int) (*a2a.Task, error) {
	names, err := p.contexts(ctx, t)
	if err != nil {
		return nil, err
	}
	return p.tells(ctx, t, names[0], history)
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
	if row := p.rowID(ctx, t); row != t.id && !t.key.IsNull() {
		// The task has two names, and one session.
		if of, err := p.peers.Contexts(ctx, p.Principal, row); err != nil {
			return nil, err
		} else if of[row] == "" {
			if err := p.peers.Begun(ctx, p.Principal, row, names[0]); err != nil {
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
	key, sum := "a2a "+m.MessageID, digest.Of("verbatim message 1", p.Principal, m.MessageID, m.TaskID, m.ContextID, string(parts))
	before, err := p.peers.Message(ctx, p.Principal, m.MessageID)
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
	s, err := p.Named(name)
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
	case errors.As(err, &refused) && server.ProblemOf(err).Code != "key-reused":
		return p.says(name, t, refusedIn(server.ProblemOf(err))...), nil
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
	w, err := p.told(ctx, now, history)
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
	done, err := p.Session.Journal().Done(ctx, key)
	if err == nil && done == nil && (t.state.Ended() || t.key.IsNull()) {
		err = &a2a.Error{Code: a2a.UnsupportedOperation, Text: "the task takes no messages as it is"}
	}
	return t, names[0], err
}

func refusedIn(why server.Problem) []a2a.Part {
	text := why.Title + "."
	if why.Next != "" {
		text += " " + why.Next + "."
	}
	return []a2a.Part{a2a.TextPart(text), a2a.DataPart(refusalOf(why))}
}

func asksFirst(preview *receipt.Receipt) []a2a.Part {
	why := message.Names(preview.Asks(), func(ask receipt.Ask) string { return ask.Reason })
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
		if _, err := s.Turns().Say(ctx, said...); err != nil {
			return nil, err
		}
	}
	return now, p.peers.Keep(ctx, p.Principal, id, kept)
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
				if in, err = p.peers.Contexts(ctx, p.Principal, ids...); err != nil {
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
		case t.of.Cancels == nil || !p.Session.May(t.of.Cancels):
			return nil, no("tasks of this kind are not canceled")
		}
		call := dsl.NewCall(t.of.Cancels.Name, dsl.NewArg(t.of.Cancels.Params[t.of.CancelRow].Name, symbol(p.rowID(ctx, t))))
		script, _ := dsl.Parse(dsl.NewSource(taskKind, dsl.FormatCall(&call)+"\n"))
		names, err := p.contexts(ctx, t)
		if err != nil {
			return nil, err
		}
		s, err := p.Named(names[0])
		if err != nil {
			return nil, err
		}
		a, err := p.act(ctx, s, script, engine.RunOptions{})
		var refused *engine.Refusal
		switch {
		case errors.As(err, &refused):
			return nil, no(server.ProblemOf(err).Title)
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
	l, err := p.Listen(ctx, rowOf(t))
	if err != nil {
		return p.wrong(err)
	}
	defer l.Close()
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
		case <-p.Draining:
			return nil
		case <-l.Wake:
			l.Rows() // whichever they are, the task is looked at
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
