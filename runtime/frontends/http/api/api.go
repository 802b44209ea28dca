// Package api is the API for programs: scripts, calls, turns of a conversation, files and events, with a
// description of itself in OpenAPI, and the same verbs as tools over MCP. It answers in the documents
// that --json prints; a refusal is a problem document with the same diagnostics.
package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/engine"
	"verbatim/runtime/engine/each"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/runtime/frontends/mcp"
	"verbatim/runtime/frontends/wire"
	"verbatim/runtime/state/confirmations"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

// Options are what the API needs besides a server.
type Options struct {
	Codes   []dsl.CodeDoc // explain every code that an answer may have, for the reference
	Version string        // of the program, for clients of models
	// Search finds verbs by words, for clients of models; nil matches the words literally.
	Search func(words string, among []*verbs.Verb, most int) []*verbs.Verb
	// Sign signs a head of the journal for proofs; nil leaves them unsigned.
	Sign func(context.Context, journal.Head) (string, error)
}

// An API answers programs. Make it with New.
type API struct {
	Options
	server    *server.Server
	mcp       *mcp.Door
	described sync.Map // descriptions of the API, by the verbs that a caller may use
}

// New makes the API of a server. Mount its Routes.
func New(ctx context.Context, s *server.Server, o Options) (*API, error) {
	of, err := s.Store.Identity(ctx)
	if err != nil {
		return nil, err
	}
	a := &API{Options: o, server: s}
	a.mcp, err = mcp.New(mcp.Options{Registry: s.Registry, Seal: of.Secret, Clock: s.Clock, Search: o.Search, Version: o.Version, Log: s.Log})
	return a, err
}

// Routes returns the routes of the API and those for clients of models.
func (a *API) Routes() []server.Route { return append(a.routes(), a.mcpRoutes()...) }

// A visit is a request to the API.
type visit struct {
	*server.Visit
	api *API
}

// by makes a route answer as a method does.
func (a *API) by(answer func(*visit) error) func(*server.Visit) error {
	return func(v *server.Visit) error { return answer(&visit{v, a}) }
}

func (a *API) routes() []server.Route {
	const small = 16 << 10
	script := a.server.Limits.Script + 64<<10
	routes := []server.Route{
		{Pattern: "POST /v1/check", Body: script, Does: "Says what is wrong with a script.", Handle: a.by((*visit).check)},
		{Pattern: "POST /v1/preview", Body: script, Does: "Says what a script would do, and does none of it.", Handle: a.by((*visit).preview)},
		{Pattern: "POST /v1/run", Body: script, Does: "Does what a script says, all of it or nothing.", Handle: a.by((*visit).run)},
		{Pattern: "POST /v1/propose", Body: script, Does: "Asks for the agreement that others have to give.", Handle: a.by((*visit).propose)},
		{Pattern: "GET /v1/undo/{entry}", Does: "Writes the call that takes back what an entry of the journal tells of, to be previewed and run.", Handle: a.by((*visit).undo)},
		{Pattern: "GET /v1/verbs", Does: "Lists the verbs that the caller may use.", Handle: a.by((*visit).verbs)},
		{Pattern: "GET /v1/verbs/{verb}", Does: "Explains a verb.", Handle: a.by((*visit).verb)},
		{Pattern: "POST /v1/verbs/{verb}", Body: script, Does: "Makes one call, of values.", Handle: a.by((*visit).callVerb)},
		{Pattern: "GET /v1/codes/{code}", Does: "Explains a code that is answered with.", Handle: a.by((*visit).code)},
		{Pattern: "GET /v1/confirmations", Whole: true, Does: "Lists what waits for the caller, and what they asked others for.", Handle: a.by((*visit).confirmations)},
		{Pattern: "GET /v1/confirmations/{id}", Whole: true, Does: "Says what agreeing would do now.", Handle: a.by((*visit).confirmation)},
		{Pattern: "POST /v1/confirmations/{id}/agree", Body: small, Does: "Agrees to it.", Handle: a.by((*visit).agree)},
		{Pattern: "POST /v1/confirmations/{id}/decline", Body: small, Does: "Says no to it, for as long as nothing about it changes.", Handle: a.by((*visit).decline)},
		{Pattern: "GET /v1/sessions", Whole: true, Does: "Lists the caller's sessions.", Handle: a.by((*visit).sessions)},
		{Pattern: "GET /v1/sessions/{name}", Whole: true, Does: "Tells what a session keeps, and what was said in it.", Handle: a.by((*visit).showSession)},
		{Pattern: "POST /v1/sessions/{name}/turns", Whole: true, Body: dialog.MaxMessage + 4<<10, Does: "Says something in a session.", Handle: a.by((*visit).say)},
		{Pattern: "POST /v1/uploads", Body: 1 << 40, Upload: true, Does: "Takes a file.", Handle: a.by((*visit).upload)},
		{Pattern: "GET /v1/uploads/{id}", Whole: true, Does: "Tells what is known of a file.", Handle: a.by((*visit).showUpload)},
		{Pattern: "GET /v1/uploads/{id}/content", Whole: true, Does: "Gives a file to who sent it, or had it made.", Handle: a.by((*visit).giveUpload)},
		{Pattern: "GET /v1/journal", Whole: true, Does: "Lists entries of the journal, for who keeps it.", Handle: a.by((*visit).journal)},
		{Pattern: "GET /v1/journal/{entry}/proof", Whole: true, Does: "Proves that an entry is in the journal, to who did it or keeps the journal.", Handle: a.by((*visit).proof)},
		{Pattern: "GET /v1/events", Whole: true, Stream: true, Does: "Tells what is done in the caller's name, as it happens.", Handle: (*server.Visit).Events},
		{Pattern: "GET /v1/logins", Whole: true, Does: "Lists where the caller is signed in.", Handle: a.by((*visit).logins)},
		{Pattern: "DELETE /v1/logins/{id}", Does: "Signs the caller out there.", Handle: a.by((*visit).endOneLogin)},
		{Pattern: "GET /v1/openapi.json", Does: "Describes all of this.", Handle: a.by((*visit).openAPI)},
	}
	for i := range routes {
		routes[i].Door = server.API
	}
	return routes
}

// A runRequest is the body of a request: a script, and how to run it.
type runRequest struct {
	Script  string `json:"script"`
	Name    string `json:"name"`    // its name in diagnostics and in the journal
	Session string `json:"session"` // continues the session of this name, or begins it
	Agreed  string `json:"agreed"`  // the preview that was agreed to
	Origin  string `json:"origin"`  // whose words it holds: see verbs.ParseOrigin
	Each    bool   `json:"each"`    // commits after each call
}

// A paper is a request's script after parsing, with the session that it runs in.
type paper struct {
	runRequest
	session *engine.Session
	script  *dsl.Script
	program *verbs.Program
	said    verbs.Literals
	faults  dsl.Diagnostics
	engine.RunOptions
}

// paper reads and parses the body of a request.
func (v *visit) paper() (*paper, error) {
	p := &paper{}
	if err := v.Body(&p.runRequest); err != nil {
		return nil, err
	}
	if p.Script == "" {
		return nil, server.BadBody("the body holds no script", `send {"script": "client.get-status"}`)
	}
	if int64(len(p.Script)) > v.Limits.Script {
		return nil, server.Problem{Status: http.StatusRequestEntityTooLarge, Code: "too-large", Title: fmt.Sprintf("the script is larger than %d bytes", v.Limits.Script)}
	}
	p.Name = cmp.Or(p.Name, "request")
	p.script, p.faults = v.Limits.Parse(p.Name, p.Script)
	return p, v.open(p)
}

// open opens the session of a paper, and reads its options.
func (v *visit) open(p *paper) (err error) {
	if p.said, err = v.whose(p.runRequest.Origin); err != nil {
		return err
	}
	if v.byModel(p) && p.runRequest.Agreed != "" {
		return server.Problem{Status: http.StatusForbidden, Code: "not-asked", Title: "a token does not agree to what a model wrote", Next: "leave agreed out: the answer names the confirmation to which the person agrees, signed in"}
	}
	p.session = v.Session
	if p.Session != "" {
		if p.session, err = v.Named(p.Session); err != nil {
			return err
		}
	}
	p.RunOptions = engine.RunOptions{Agreed: p.runRequest.Agreed, Source: p.Name}
	if p.Key, err = v.Key(); err != nil {
		return err
	}
	if tag := v.R.Header.Get("If-Match"); tag != "" {
		n, err := strconv.ParseInt(strings.Trim(tag, `"`), 10, 64)
		if err != nil || n < 1 || p.Session == "" {
			return server.Problem{Status: http.StatusPreconditionFailed, Code: "session-moved", Title: "If-Match is the ETag of the session that the request names"}
		}
		p.Version = n
	}
	return nil
}

// whose returns the origin of the values in a request. What comes with a token was written by a
// program, whatever the request claims, and by a model unless the token is for a program without one.
func (v *visit) whose(text string) (verbs.Literals, error) {
	if text == "" && v.Token == "" {
		text = "person"
	}
	o, err := verbs.ParseOrigin(text)
	if err != nil || o.Kinds()&verbs.FromRecord != 0 || v.Token != "" && o.Kinds()&verbs.FromPerson != 0 {
		return verbs.Literals{}, server.BadBody(fmt.Sprintf("no script that you send comes from %q", text), "leave origin out, or give model, document=NAME or tool=NAME")
	}
	if v.ByModel() {
		o = o.Mix(verbs.NewOrigin(verbs.FromModel, ""))
	}
	return verbs.Literals{Origin: o, Unheard: o.Kinds()&verbs.FromModel != 0}, nil
}

// byModel reports whether a program sends what a model wrote. Its token is no word of the person, who
// agrees elsewhere.
func (v *visit) byModel(p *paper) bool { return v.Token != "" && p.said.Unheard }

// checked checks the script of a paper.
func (v *visit) checked(p *paper) error {
	var more dsl.Diagnostics
	p.program, more = p.session.Check(v.R.Context(), p.script, engine.CheckOptions{Said: p.said, Parsed: p.faults})
	p.faults = append(v.Registry.Mask(p.script, p.faults), more...)
	slices.SortStableFunc(p.faults, func(a, b dsl.Diagnostic) int { return int(a.Place.Range.Start) - int(b.Place.Range.Start) })
	if p.faults.HasErrors() {
		return server.Invalid(p.script, p.faults)
	}
	return nil
}

func (v *visit) check() error {
	p, err := v.paper()
	if err != nil {
		return err
	}
	_ = v.checked(p) // the mistakes are the answer
	r := wire.NewReport(p.faults)
	return v.JSON(http.StatusOK, struct {
		Schema string `json:"schema"`
		OK     bool   `json:"ok"`
		Calls  int    `json:"calls"`
		wire.Report
	}{"verbatim/check@1", r.Errors == 0, len(p.script.Calls), r})
}

func (v *visit) preview() error {
	p, err := v.paper()
	if err == nil {
		err = v.checked(p)
	}
	if err != nil {
		return err
	}
	// The preview is kept if it needs an agreement, which any process can then take.
	shown, err := p.session.Keep(v.R.Context(), p.program, p.RunOptions)
	if err != nil {
		return err
	}
	return v.JSON(http.StatusOK, wire.Run{Schema: wire.RunSchema, Outcome: wire.Previewed, Preview: shown, Report: wire.NewReport(p.faults)})
}

func (v *visit) run() error {
	p, err := v.paper()
	if err != nil {
		return err
	}
	return v.carryOut(p)
}

// carryOut runs a paper. It streams progress to a program that listens for events.
func (v *visit) carryOut(p *paper) error {
	ctx := v.R.Context()
	calls := each.Runner{Session: p.session}
	if p.Key != "" && !p.faults.HasErrors() {
		// The run may have removed rows that the script names, so a repeated request is recognised
		// before the script is checked.
		done, err := calls.Repeat(ctx, p.script, p.Key)
		if err != nil {
			return err
		}
		if done != nil {
			return v.told(p, wire.DoneRun(done), nil)
		}
	}
	if !p.faults.HasErrors() && !p.Each {
		if done, err := p.session.Journal().Answered(ctx, p.script, p.RunOptions.Agreed); err != nil {
			return err
		} else if done != nil {
			return v.told(p, wire.DoneRun(done), nil)
		}
	}
	if err := v.checked(p); err != nil {
		return err
	}
	var stream *server.Stream
	if v.WantsEvents() {
		stream = v.Stream()
		p.Progress = func(at engine.Progress) { stream.Send("", wire.NewProgress(at)) }
	}
	run := p.session.Run
	if p.Each {
		run = calls.Run
	}
	done, err := run(ctx, p.program, p.RunOptions)
	var refusal *engine.Refusal
	if v.byModel(p) && !p.Each && errors.As(err, &refusal) && refusal.Diagnostics[0].Code == engine.CodeNeedsAgreement {
		waits, failed := v.proposed(p)
		if waits != nil && stream == nil {
			return v.JSON(http.StatusAccepted, waits)
		} else if waits != nil {
			return v.told(p, *waits, stream)
		}
		err = cmp.Or(failed, err)
	}
	var stopped *each.Stopped
	switch {
	case errors.As(err, &stopped):
		why := server.ProblemOf(stopped)
		return v.told(p, wire.Run{Schema: wire.RunSchema, Outcome: wire.Stopped, Preview: done, First: stopped.First, Last: stopped.Last,
			Code: why.Code, Done: stopped.Done, Total: stopped.Total, Next: stopped.Next, Report: wire.NewReport(why.Diagnostics)}, stream)
	case err != nil && stream != nil:
		return stream.End(server.ProblemOf(err))
	case err != nil:
		return err
	}
	return v.told(p, wire.DoneRun(done), stream)
}

// proposed asks those for their agreement whom the calls of a paper ask, the caller's person among them
// if a model wrote it. It returns nil if nobody has to be asked.
func (v *visit) proposed(p *paper) (*wire.Run, error) {
	o := p.RunOptions
	o.Absent, o.Progress = v.byModel(p), nil
	c, err := p.session.Propose(v.R.Context(), p.program, o)
	if err != nil || c.ID == "" {
		return nil, err
	}
	return &wire.Run{Schema: wire.RunSchema, Outcome: wire.Waiting, Preview: c.Preview, Confirmation: wire.NewConfirmation(c), Report: wire.NewReport(p.faults)}, nil
}

// told answers with the result of a run and the version of the session.
func (v *visit) told(p *paper, doc wire.Run, stream *server.Stream) error {
	if stream != nil {
		return stream.End(wire.Event{Schema: wire.EventSchema, Event: "reply", Reply: doc})
	}
	if p.Session != "" {
		if info, err := p.session.Turns().Info(v.R.Context()); err == nil {
			v.tag(info.Version)
		}
	}
	return v.JSON(http.StatusOK, doc)
}

func (v *visit) tag(version int64) {
	v.W.Header().Set("Etag", `"`+strconv.FormatInt(version, 10)+`"`)
}

func (v *visit) propose() error {
	p, err := v.paper()
	if err == nil {
		err = v.checked(p)
	}
	if err != nil {
		return err
	}
	waits, err := v.proposed(p)
	switch {
	case err != nil:
		return err
	case waits == nil:
		return v.carryOut(p)
	}
	return v.JSON(http.StatusAccepted, waits)
}

// callVerb makes one call of JSON values. It formats them as a script, which takes the usual way.
func (v *visit) callVerb() error {
	verb, err := v.asksFor()
	if err != nil {
		return err
	}
	var args json.RawMessage // a decimal stays as it is written
	if err := v.Body(&args); err != nil {
		return err
	}
	tools, err := grammar.Tools(grammar.Vocabulary{Verbs: []*verbs.Verb{verb}})
	if err != nil || len(tools) == 0 {
		return server.BadBody("this verb cannot be called with values", "POST /v1/run takes a script")
	}
	call, err := grammar.Call(grammar.Vocabulary{Verbs: []*verbs.Verb{verb}}, tools[0].Name, string(args))
	if err != nil {
		return server.BadBody(err.Error(), "GET /v1/verbs/"+verb.Name)
	}
	q := v.R.URL.Query()
	p := &paper{runRequest: runRequest{Name: "request", Session: q.Get("session"), Agreed: q.Get("agreed"), Origin: q.Get("origin")}}
	p.script, p.faults = dsl.Parse(dsl.NewSource(p.Name, dsl.FormatCall(&call)+"\n"))
	if err := v.open(p); err != nil {
		return err
	}
	return v.carryOut(p)
}

// asksFor returns the verb in the path. A verb that the caller may not use counts as missing.
func (v *visit) asksFor() (*verbs.Verb, error) {
	verb := v.Registry.Verb(v.R.PathValue("verb"))
	if verb == nil || !v.Session.May(verb) {
		return nil, server.Problem{Status: http.StatusNotFound, Code: "unknown-verb", Title: "there is no such verb for you", Next: "GET /v1/verbs lists them"}
	}
	return verb, nil
}

func (v *visit) confirmations() error {
	all, err := v.Session.Pending(v.R.Context())
	if err != nil {
		return err
	}
	return v.JSON(http.StatusOK, wire.NewConfirmations(all))
}

func (v *visit) confirmation() error {
	c, err := v.Session.Show(v.R.Context(), v.R.PathValue("id"))
	if err != nil {
		return err
	}
	return v.JSON(http.StatusOK, wire.NewDecision("shown", c, nil))
}

// decides refuses a decision by a model, which is its person's to make.
func (v *visit) decides() error {
	if v.ByModel() {
		return server.Problem{Status: http.StatusForbidden, Code: "not-asked", Title: "a token for a model decides nothing", Next: "the person decides, signed in; a token of serve token --origin script is for programs without a model"}
	}
	return nil
}

func (v *visit) agree() error {
	if err := v.decides(); err != nil {
		return err
	}
	c, done, err := v.Session.Agree(v.R.Context(), v.R.PathValue("id"))
	if err != nil {
		return err
	}
	outcome := "agreed"
	if done != nil {
		outcome = "done"
	}
	return v.JSON(http.StatusOK, wire.NewDecision(outcome, c, done))
}

func (v *visit) decline() error {
	if err := v.decides(); err != nil {
		return err
	}
	var why struct {
		Reason string `json:"reason"`
	}
	if v.R.ContentLength != 0 {
		if err := v.Body(&why); err != nil {
			return err
		}
	}
	ctx, id := v.R.Context(), v.R.PathValue("id")
	c, err := v.Session.Show(ctx, id)
	if err == nil {
		err = v.Session.Decline(ctx, id, why.Reason)
	}
	if err != nil {
		return err
	}
	c.Status, c.Decision.By, c.Decision.Reason, c.Mine = confirmations.Declined, v.Principal, why.Reason, false
	return v.JSON(http.StatusOK, wire.NewDecision("declined", c, nil))
}

func (v *visit) sessions() error {
	all, err := v.Session.Turns().Sessions(v.R.Context())
	if err != nil {
		return err
	}
	return v.JSON(http.StatusOK, wire.NewSessions(all))
}

func (v *visit) showSession() error {
	ctx := v.R.Context()
	s, err := v.Engine.Visit(ctx, v.Principal, engine.Visit{Name: v.R.PathValue("name"), Existing: true})
	if err != nil {
		return err
	}
	info, err := s.Turns().Info(ctx)
	if err != nil {
		return err
	}
	from := int64(1)
	if n, err := strconv.ParseInt(v.R.URL.Query().Get("from"), 10, 64); err == nil && n > 0 {
		from = n
	}
	said, err := s.Turns().Between(ctx, from, 0)
	if err != nil {
		return err
	}
	doc := wire.NewSession(&info, said)
	doc.Schema = "verbatim/session@1"
	v.tag(info.Version)
	return v.JSON(http.StatusOK, doc)
}

// say takes one turn of the conversation in a session.
func (v *visit) say() error {
	var said struct {
		Text string `json:"text"`
	}
	if err := v.Body(&said); err != nil {
		return err
	}
	if v.ByModel() { // a conversation takes what is said for the person's own words
		return server.Problem{Status: http.StatusForbidden, Code: "not-asked", Title: "a token for a model does not speak for its person", Next: "call verbs, with POST /v1/run or over MCP; the person speaks signed in"}
	}
	if v.Talk == nil {
		return server.Problem{Status: http.StatusNotFound, Code: "no-talk", Title: "nobody talks here"}
	}
	s, err := v.Named(v.R.PathValue("name"))
	if err != nil {
		return err
	}
	ctx := v.R.Context()
	if tag := v.R.Header.Get("If-Match"); tag != "" {
		info, err := s.Turns().Info(ctx)
		if err != nil {
			return err
		}
		if tag != `"`+strconv.FormatInt(info.Version, 10)+`"` {
			return server.Problem{Status: http.StatusPreconditionFailed, Code: "session-moved", Title: "the session went on since", Next: "GET it, and say it again"}
		}
	}
	c, err := v.Converse(s)
	if err != nil {
		return err
	}
	m := dialog.Message{Text: said.Text}
	key, err := v.Key()
	if err != nil {
		return err
	}
	if key != "" {
		m.ID = "api " + logins.Digest(key+" "+m.Text)
	}
	if v.WantsEvents() {
		stream := v.Stream()
		answer, err := c.Follow(ctx, m, func(e dialog.Event) { stream.Send("", wire.NewStep(e)) })
		if err != nil {
			return stream.End(server.ProblemOf(err))
		}
		return stream.End(wire.Event{Schema: wire.EventSchema, Event: "reply", Reply: wire.NewChat(answer)})
	}
	answer, err := c.Say(ctx, m)
	if err != nil {
		return err
	}
	if info, err := s.Turns().Info(ctx); err == nil {
		v.tag(info.Version)
	}
	return v.JSON(http.StatusOK, wire.NewChat(answer))
}

// entriesAtOnce is how many entries of the journal one answer holds.
const entriesAtOnce = 200

// journal lists entries from a number on, and says where the next page begins.
func (v *visit) journal() error {
	ctx := v.R.Context()
	if err := v.Session.Journal().Reads(ctx); err != nil {
		return err
	}
	from := int64(1)
	if text := v.R.URL.Query().Get("from"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return server.BadBody("from is the number of an entry", "the first is 1")
		}
		from = n
	}
	page := struct {
		Schema  string       `json:"schema"`
		Entries []wire.Entry `json:"entries"`
		Next    string       `json:"next,omitempty"`
	}{"verbatim/journal@1", []wire.Entry{}, ""}
	for l, err := range journal.Opened(ctx, v.Store, v.Principal, journal.ByNumber(ctx, v.Store, from, 0)) {
		if err != nil {
			return err
		}
		if len(page.Entries) == entriesAtOnce {
			page.Next = "/v1/journal?" + url.Values{"from": {strconv.FormatInt(l.Entry.Seq, 10)}}.Encode()
			break
		}
		record, err := l.Record()
		if err != nil {
			return err
		}
		page.Entries = append(page.Entries, wire.NewEntry(&l.Entry, &record))
	}
	return v.JSON(http.StatusOK, page)
}

// proof proves an entry of the caller's own, or any to who keeps the journal. Of another's entry and of one that
// is not there others are told the same.
func (v *visit) proof() error {
	ctx := v.R.Context()
	seq, err := v.Entry()
	if err != nil {
		return err
	}
	entries, err := v.Store.Journal(ctx, seq, seq)
	if err != nil {
		return err
	}
	if len(entries) == 0 || entries[0].Principal != v.Principal {
		if err := v.Session.Journal().Reads(ctx); err != nil {
			return err
		}
	}
	proof, err := journal.ProveNow(ctx, v.Store, seq, v.api.Sign)
	var unsigned *journal.UnsignedError
	switch {
	case errors.Is(err, journal.ErrNoEntry):
		return v.NotFound()
	case errors.Is(err, journal.ErrWaits):
		return server.Problem{Status: http.StatusConflict, Code: "not-sealed", Title: fmt.Sprintf("entry %d is not sealed yet", seq), Next: "ask again in a second", Retry: 1}
	case errors.Is(err, journal.ErrInChain):
		return server.Problem{Status: http.StatusConflict, Code: "in-chain", Title: fmt.Sprintf("entry %d is of the older chain, which proves no entry without the others", seq), Next: "whoever keeps the journal exports it"}
	case errors.As(err, &unsigned):
		v.LogError("not signed", err)
		return server.Problem{Status: http.StatusServiceUnavailable, Code: "log-not-signed", Title: "the journal could not be signed, so nothing is proven", Next: "whoever runs the server finds the reason in its log and on /readyz"}
	case err != nil:
		return err
	}
	return v.Send(http.StatusOK, "text/plain; charset=utf-8", []byte(proof.String()))
}

func (v *visit) logins() error {
	all, err := v.Logins.List(v.R.Context(), v.Principal)
	if err != nil {
		return err
	}
	type login struct {
		ID     string `json:"id"`
		How    string `json:"how"`
		Begun  string `json:"begun"`
		Seen   string `json:"seen"`
		Ends   string `json:"ends"`
		Itself bool   `json:"this"`
	}
	list := []login{}
	for _, l := range all {
		list = append(list, login{l.ID, l.How, stamp(l.Proven), stamp(l.Seen), stamp(l.Ends), l.ID == v.Login.ID})
	}
	return v.JSON(http.StatusOK, struct {
		Schema string  `json:"schema"`
		Logins []login `json:"logins"`
	}{"verbatim/logins@1", list})
}

func (v *visit) endOneLogin() error {
	if v.Token != "" {
		return server.Problem{Status: http.StatusForbidden, Code: "not-permitted", Title: "a token ends no logins", Next: "sign in"}
	}
	if err := v.EndLogin(v.R.PathValue("id")); err != nil {
		return err
	}
	v.W.WriteHeader(http.StatusNoContent)
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// undo writes the call that takes back what an entry of the journal tells of, to preview and run.
func (v *visit) undo() error {
	seq, err := v.Entry()
	if err != nil {
		return err
	}
	script, err := v.Session.Journal().Undo(v.R.Context(), seq)
	if err != nil {
		return err
	}
	return v.JSON(http.StatusOK, struct {
		Schema string `json:"schema"`
		Script string `json:"script"`
	}{"verbatim/undo@1", dsl.Format(script)})
}

func (v *visit) upload() error {
	if !v.TakesFiles() {
		return server.Problem{Status: http.StatusNotFound, Code: "no-uploads", Title: "no files are taken here"}
	}
	name := v.R.URL.Query().Get("name")
	if name == "" {
		return server.BadBody("the file has no name", "POST /v1/uploads?name=passport.pdf")
	}
	if kind, _, _ := mime.ParseMediaType(v.R.Header.Get("Content-Type")); kind == "multipart/form-data" {
		return server.Problem{Status: http.StatusUnsupportedMediaType, Code: "bad-body", Title: "the body is a form, and not the file", Next: "send the file itself, as curl --data-binary @FILE does, and not curl -F"}
	}
	u, err := v.Uploads.Receive(v.R.Context(), v.Session, name, v.Slowly())
	if err != nil && u.ID == "" {
		return err
	}
	// A file that is not scanned yet is accepted, and waits.
	return v.JSON(http.StatusCreated, wire.NewUpload(&u))
}

// file returns the caller's file in the path.
func (v *visit) file() (uploads.Upload, error) {
	u, err := v.Session.Uploads().Get(v.R.Context(), "upload://"+v.R.PathValue("id"))
	if errors.Is(err, stores.ErrNotFound) {
		err = server.ErrNoUpload
	}
	return u, err
}

// giveUpload sends a file to its owner. The browser must never render its content as one of our
// pages.
func (v *visit) giveUpload() error {
	u, err := v.file()
	if err == nil && (v.Uploads == nil || u.Verdict != uploads.Clean) {
		err = server.ErrNoUpload
	}
	if err != nil {
		return err
	}
	return v.Give(&u, false)
}

func (v *visit) showUpload() error {
	u, err := v.file()
	if err != nil {
		return err
	}
	return v.JSON(http.StatusOK, wire.NewUpload(&u))
}
