package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/logins"
	"verbatim/runtime/frontends/wire"
	"verbatim/runtime/state/confirmations"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

// The API for programs. It answers in the documents that --json prints. A refusal is a problem
// document with the same diagnostics.

func (s *Server) apiRoutes() []Route {
	script := s.Limits.Script + 64<<10
	routes := []Route{
		{Pattern: "POST /v1/check", Body: script, Does: "Says what is wrong with a script.", handle: (*visit).check},
		{Pattern: "POST /v1/preview", Body: script, Does: "Says what a script would do, and does none of it.", handle: (*visit).preview},
		{Pattern: "POST /v1/run", Body: script, Does: "Does what a script says, all of it or nothing.", handle: (*visit).run},
		{Pattern: "POST /v1/propose", Body: script, Does: "Asks for the agreement that others have to give.", handle: (*visit).propose},
		{Pattern: "GET /v1/undo/{entry}", Does: "Writes the call that takes back what an entry of the journal tells of, to be previewed and run.", handle: (*visit).undo},
		{Pattern: "GET /v1/verbs", Does: "Lists the verbs that the caller may use.", handle: (*visit).verbs},
		{Pattern: "GET /v1/verbs/{verb}", Does: "Explains a verb.", handle: (*visit).verb},
		{Pattern: "POST /v1/verbs/{verb}", Body: script, Does: "Makes one call, of values.", handle: (*visit).callVerb},
		{Pattern: "GET /v1/codes/{code}", Does: "Explains a code that is answered with.", handle: (*visit).code},
		{Pattern: "GET /v1/confirmations", Whole: true, Does: "Lists what waits for the caller, and what they asked others for.", handle: (*visit).confirmations},
		{Pattern: "GET /v1/confirmations/{id}", Whole: true, Does: "Says what agreeing would do now.", handle: (*visit).confirmation},
		{Pattern: "POST /v1/confirmations/{id}/agree", Body: formSize, Does: "Agrees to it.", handle: (*visit).agree},
		{Pattern: "POST /v1/confirmations/{id}/decline", Body: formSize, Does: "Says no to it, for as long as nothing about it changes.", handle: (*visit).decline},
		{Pattern: "GET /v1/sessions", Whole: true, Does: "Lists the caller's sessions.", handle: (*visit).sessions},
		{Pattern: "GET /v1/sessions/{name}", Whole: true, Does: "Tells what a session keeps, and what was said in it.", handle: (*visit).showSession},
		{Pattern: "POST /v1/sessions/{name}/turns", Whole: true, Body: dialog.MaxMessage + 4<<10, Does: "Says something in a session.", handle: (*visit).say},
		{Pattern: "POST /v1/uploads", Body: 1 << 40, Upload: true, Does: "Takes a file.", handle: (*visit).upload},
		{Pattern: "GET /v1/uploads/{id}", Whole: true, Does: "Tells what is known of a file.", handle: (*visit).showUpload},
		{Pattern: "GET /v1/uploads/{id}/content", Whole: true, Does: "Gives a file to who sent it, or had it made.", handle: (*visit).giveUpload},
		{Pattern: "GET /v1/journal", Whole: true, Does: "Lists entries of the journal, for who keeps it.", handle: (*visit).journal},
		{Pattern: "GET /v1/events", Whole: true, Stream: true, Does: "Tells what is done in the caller's name, as it happens.", handle: (*visit).events},
		{Pattern: "GET /v1/logins", Whole: true, Does: "Lists where the caller is signed in.", handle: (*visit).logins},
		{Pattern: "DELETE /v1/logins/{id}", Does: "Signs the caller out there.", handle: (*visit).endOneLogin},
		{Pattern: "GET /v1/openapi.json", Does: "Describes all of this.", handle: (*visit).openAPI},
	}
	for i := range routes {
		routes[i].Door = API
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

// invalid is the problem document of a script with mistakes.
func (p *paper) invalid() error {
	r := wire.NewReport(p.faults)
	return problem{Status: http.StatusUnprocessableEntity, Code: "invalid", Title: fmt.Sprintf("%s in %s; nothing was changed",
		receipt.Counted(r.Errors, "error"), receipt.Counted(len(p.script.Calls), "call")), Diagnostics: p.faults}
}

// paper reads and parses the body of a request.
func (v *visit) paper() (*paper, error) {
	p := &paper{}
	if err := v.body(&p.runRequest); err != nil {
		return nil, err
	}
	if p.Script == "" {
		return nil, badBody("the body holds no script", `send {"script": "client.get-status"}`)
	}
	if int64(len(p.Script)) > v.Limits.Script {
		return nil, problem{Status: http.StatusRequestEntityTooLarge, Code: "too-large", Title: fmt.Sprintf("the script is larger than %d bytes", v.Limits.Script)}
	}
	if p.Name == "" {
		p.Name = "request"
	}
	p.script, p.faults = dsl.Parse(dsl.NewSource(p.Name, p.Script))
	return p, v.open(p)
}

// open opens the session of a paper, and reads its options.
func (v *visit) open(p *paper) (err error) {
	if p.said, err = v.whose(p.runRequest.Origin); err != nil {
		return err
	}
	p.session = v.session
	if p.Session != "" {
		if p.session, err = v.named(p.Session); err != nil {
			return err
		}
	}
	p.RunOptions = engine.RunOptions{Agreed: p.runRequest.Agreed, Source: p.Name, Each: p.runRequest.Each}
	if p.Key, err = v.key(); err != nil {
		return err
	}
	if tag := v.r.Header.Get("If-Match"); tag != "" {
		n, err := strconv.ParseInt(strings.Trim(tag, `"`), 10, 64)
		if err != nil || n < 1 || p.Session == "" {
			return problem{Status: http.StatusPreconditionFailed, Code: "session-moved", Title: "If-Match is the ETag of the session that the request names"}
		}
		p.Version = n
	}
	return nil
}

// whose returns the origin of the values in a request. What comes with a token was written by a
// program, whatever the request claims.
func (v *visit) whose(text string) (verbs.Literals, error) {
	if text == "" && v.secret != "" {
		text = "person"
	}
	o, err := verbs.ParseOrigin(text)
	if err != nil || o.Kinds()&verbs.FromRecord != 0 || v.secret == "" && o.Kinds()&verbs.FromPerson != 0 {
		return verbs.Literals{}, badBody(fmt.Sprintf("no script that you send comes from %q", text), "leave origin out, or give model, document=NAME or tool=NAME")
	}
	return verbs.Literals{Origin: o}, nil
}

// checked checks the script of a paper.
func (v *visit) checked(p *paper) error {
	var more dsl.Diagnostics
	p.program, more = p.session.CheckFrom(v.r.Context(), p.script, p.said)
	p.faults = append(v.Registry.Mask(p.script, p.faults), more...)
	slices.SortStableFunc(p.faults, func(a, b dsl.Diagnostic) int { return int(a.Place.Range.Start) - int(b.Place.Range.Start) })
	if p.faults.HasErrors() {
		return p.invalid()
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
	return v.json(http.StatusOK, struct {
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
	shown, err := p.session.KeepWith(v.r.Context(), p.program, p.RunOptions)
	if err != nil {
		return err
	}
	return v.json(http.StatusOK, wire.Run{Schema: wire.RunSchema, Outcome: wire.Previewed, Preview: shown, Report: wire.NewReport(p.faults)})
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
	ctx := v.r.Context()
	if p.Key != "" && !p.faults.HasErrors() {
		// The run may have removed rows that the script names, so a repeated request is recognised
		// before the script is checked.
		repeat := p.session.Repeat
		if p.RunOptions.Each {
			repeat = func(ctx context.Context, script *dsl.Script, key string) (*receipt.Receipt, error) {
				return p.session.RepeatEach(ctx, script, key, 0)
			}
		}
		done, err := repeat(ctx, p.script, p.Key)
		if err != nil {
			return err
		}
		if done != nil {
			return v.told(p, wire.DoneRun(done), nil)
		}
	}
	if !p.faults.HasErrors() && !p.RunOptions.Each {
		if done, err := p.session.Answered(ctx, p.script, p.RunOptions.Agreed); err != nil {
			return err
		} else if done != nil {
			return v.told(p, wire.DoneRun(done), nil)
		}
	}
	if err := v.checked(p); err != nil {
		return err
	}
	var stream *stream
	if v.wantsEvents() {
		stream = v.stream()
		p.Progress = func(at engine.Progress) { stream.send("", wire.NewProgress(at)) }
	}
	done, err := p.session.Run(ctx, p.program, p.RunOptions)
	var stopped *engine.Stopped
	switch {
	case errors.As(err, &stopped):
		why := problemOf(stopped)
		return v.told(p, wire.Run{Schema: wire.RunSchema, Outcome: wire.Stopped, Preview: done, First: stopped.First, Last: stopped.Last,
			Code: why.Code, Done: stopped.Done, Total: stopped.Total, Next: stopped.Next, Report: wire.NewReport(why.Diagnostics)}, stream)
	case err != nil && stream != nil:
		return stream.end(problemOf(err))
	case err != nil:
		return err
	}
	return v.told(p, wire.DoneRun(done), stream)
}

// told answers with the result of a run and the version of the session.
func (v *visit) told(p *paper, doc wire.Run, stream *stream) error {
	if stream != nil {
		return stream.end(wire.Event{Schema: wire.EventSchema, Event: "reply", Reply: doc})
	}
	if p.Session != "" {
		if info, err := p.session.Info(v.r.Context()); err == nil {
			v.tag(info.Version)
		}
	}
	return v.json(http.StatusOK, doc)
}

func (v *visit) tag(version int64) {
	v.w.Header().Set("Etag", `"`+strconv.FormatInt(version, 10)+`"`)
}

func (v *visit) propose() error {
	p, err := v.paper()
	if err == nil {
		err = v.checked(p)
	}
	if err != nil {
		return err
	}
	c, err := p.session.Propose(v.r.Context(), p.program, p.RunOptions)
	if err != nil {
		return err
	}
	if c.ID == "" { // nobody else has to be asked
		return v.carryOut(p)
	}
	return v.json(http.StatusAccepted, wire.Run{Schema: wire.RunSchema, Outcome: wire.Waiting, Preview: c.Preview, Confirmation: wire.NewConfirmation(c), Report: wire.NewReport(p.faults)})
}

// callVerb makes one call of JSON values. It formats them as a script, which takes the usual way.
func (v *visit) callVerb() error {
	verb, err := v.asksFor()
	if err != nil {
		return err
	}
	var args json.RawMessage // a decimal stays as it is written
	if err := v.body(&args); err != nil {
		return err
	}
	tools, err := grammar.Tools(grammar.Vocabulary{Verbs: []*verbs.Verb{verb}})
	if err != nil || len(tools) == 0 {
		return badBody("this verb cannot be called with values", "POST /v1/run takes a script")
	}
	call, err := grammar.Call(grammar.Vocabulary{Verbs: []*verbs.Verb{verb}}, tools[0].Name, string(args))
	if err != nil {
		return badBody(err.Error(), "GET /v1/verbs/"+verb.Name)
	}
	q := v.r.URL.Query()
	p := &paper{runRequest: runRequest{Name: "request", Session: q.Get("session"), Agreed: q.Get("agreed"), Origin: q.Get("origin")}}
	p.script, p.faults = dsl.Parse(dsl.NewSource(p.Name, dsl.FormatCall(&call)+"\n"))
	if err := v.open(p); err != nil {
		return err
	}
	return v.carryOut(p)
}

// asksFor returns the verb in the path. A verb that the caller may not use counts as missing.
func (v *visit) asksFor() (*verbs.Verb, error) {
	verb := v.Registry.Verb(v.r.PathValue("verb"))
	if verb == nil || !v.session.May(verb) {
		return nil, problem{Status: http.StatusNotFound, Code: "unknown-verb", Title: "there is no such verb for you", Next: "GET /v1/verbs lists them"}
	}
	return verb, nil
}

func (v *visit) confirmations() error {
	all, err := v.session.Pending(v.r.Context())
	if err != nil {
		return err
	}
	return v.json(http.StatusOK, wire.NewConfirmations(all))
}

func (v *visit) confirmation() error {
	c, err := v.session.Show(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	return v.json(http.StatusOK, wire.NewDecision("shown", c, nil))
}

func (v *visit) agree() error {
	c, done, err := v.session.Agree(v.r.Context(), v.r.PathValue("id"))
	if err != nil {
		return err
	}
	outcome := "agreed"
	if done != nil {
		outcome = "done"
	}
	return v.json(http.StatusOK, wire.NewDecision(outcome, c, done))
}

func (v *visit) decline() error {
	var why struct {
		Reason string `json:"reason"`
	}
	if v.r.ContentLength != 0 {
		if err := v.body(&why); err != nil {
			return err
		}
	}
	ctx, id := v.r.Context(), v.r.PathValue("id")
	c, err := v.session.Show(ctx, id)
	if err == nil {
		err = v.session.Decline(ctx, id, why.Reason)
	}
	if err != nil {
		return err
	}
	c.Status, c.By, c.Reason, c.Mine = confirmations.Declined, v.principal, why.Reason, false
	return v.json(http.StatusOK, wire.NewDecision("declined", c, nil))
}

func (v *visit) sessions() error {
	all, err := v.session.Sessions(v.r.Context())
	if err != nil {
		return err
	}
	return v.json(http.StatusOK, wire.NewSessions(all))
}

func (v *visit) showSession() error {
	ctx := v.r.Context()
	s, err := v.Engine.Visit(ctx, v.principal, engine.Visit{Name: v.r.PathValue("name"), Existing: true})
	if err != nil {
		return err
	}
	info, err := s.Info(ctx)
	if err != nil {
		return err
	}
	from := int64(1)
	if n, err := strconv.ParseInt(v.r.URL.Query().Get("from"), 10, 64); err == nil && n > 0 {
		from = n
	}
	said, err := s.Turns(ctx, from, 0)
	if err != nil {
		return err
	}
	doc := wire.NewSession(&info, said)
	doc.Schema = "verbatim/session@1"
	v.tag(info.Version)
	return v.json(http.StatusOK, doc)
}

// say takes one turn of the conversation in a session.
func (v *visit) say() error {
	var said struct {
		Text string `json:"text"`
	}
	if err := v.body(&said); err != nil {
		return err
	}
	if v.Talk == nil {
		return problem{Status: http.StatusNotFound, Code: "no-talk", Title: "nobody talks here"}
	}
	s, err := v.named(v.r.PathValue("name"))
	if err != nil {
		return err
	}
	ctx := v.r.Context()
	if tag := v.r.Header.Get("If-Match"); tag != "" {
		info, err := s.Info(ctx)
		if err != nil {
			return err
		}
		if tag != `"`+strconv.FormatInt(info.Version, 10)+`"` {
			return problem{Status: http.StatusPreconditionFailed, Code: "session-moved", Title: "the session went on since", Next: "GET it, and say it again"}
		}
	}
	c, err := v.talk(s)
	if err != nil {
		return err
	}
	m := dialog.Message{Text: said.Text}
	key, err := v.key()
	if err != nil {
		return err
	}
	if key != "" {
		m.ID = "api " + logins.Digest(key+" "+m.Text)
	}
	if v.wantsEvents() {
		stream := v.stream()
		answer, err := c.Follow(ctx, m, func(e dialog.Event) { stream.send("", wire.NewStep(e)) })
		if err != nil {
			return stream.end(problemOf(err))
		}
		return stream.end(wire.Event{Schema: wire.EventSchema, Event: "reply", Reply: wire.NewChat(answer)})
	}
	answer, err := c.Say(ctx, m)
	if err != nil {
		return err
	}
	if info, err := s.Info(ctx); err == nil {
		v.tag(info.Version)
	}
	return v.json(http.StatusOK, wire.NewChat(answer))
}

// entriesAtOnce is how many entries of the journal one answer holds.
const entriesAtOnce = 200

// journal lists entries from a number on, and says where the next page begins.
func (v *visit) journal() error {
	ctx := v.r.Context()
	if err := v.session.ReadsJournal(ctx); err != nil {
		return err
	}
	from := int64(1)
	if text := v.r.URL.Query().Get("from"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return badBody("from is the number of an entry", "the first is 1")
		}
		from = n
	}
	page := struct {
		Schema  string       `json:"schema"`
		Entries []wire.Entry `json:"entries"`
		Next    string       `json:"next,omitempty"`
	}{"verbatim/journal@1", []wire.Entry{}, ""}
	for l, err := range journal.Opened(ctx, v.Store, v.principal, from, from+entriesAtOnce-1) {
		if err != nil {
			return err
		}
		record, err := l.Record()
		if err != nil {
			return err
		}
		page.Entries = append(page.Entries, wire.NewEntry(&l.Entry, &record))
	}
	if len(page.Entries) == entriesAtOnce {
		page.Next = "/v1/journal?" + url.Values{"from": {strconv.FormatInt(from+entriesAtOnce, 10)}}.Encode()
	}
	return v.json(http.StatusOK, page)
}

func (v *visit) logins() error {
	all, err := v.book.List(v.r.Context(), v.principal)
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
		list = append(list, login{l.ID, l.How, stamp(l.Proven), stamp(l.Seen), stamp(l.Ends), l.ID == v.login.ID})
	}
	return v.json(http.StatusOK, struct {
		Schema string  `json:"schema"`
		Logins []login `json:"logins"`
	}{"verbatim/logins@1", list})
}

func (v *visit) endOneLogin() error {
	if v.secret == "" {
		return problem{Status: http.StatusForbidden, Code: "not-permitted", Title: "a token ends no logins", Next: "sign in"}
	}
	v.known.forget("login " + v.r.PathValue("id"))
	if err := v.book.EndOne(v.r.Context(), v.principal, v.r.PathValue("id")); err != nil {
		return err
	}
	v.w.WriteHeader(http.StatusNoContent)
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
