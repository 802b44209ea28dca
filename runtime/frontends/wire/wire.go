// Package wire holds the documents for programs, the same on every way: --json prints what HTTP
// returns. Members are only ever added.
//
//	json.NewEncoder(w).Encode(wire.Run{Schema: wire.RunSchema, Outcome: wire.Done, Preview: done})
//
// `verbatim help json` publishes the form of each.
package wire

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/sessions"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
)

// A Report is the part of a document that lists diagnostics.
type Report struct {
	Errors      int             `json:"errors"`
	Warnings    int             `json:"warnings"`
	Diagnostics dsl.Diagnostics `json:"diagnostics"`
}

// NewReport makes a report of diagnostics, which may be none.
func NewReport(ds dsl.Diagnostics) Report {
	r := Report{Diagnostics: ds}
	if ds == nil {
		r.Diagnostics = dsl.Diagnostics{}
	}
	for i := range ds {
		if ds[i].Severity == dsl.Error {
			r.Errors++
		} else {
			r.Warnings++
		}
	}
	return r
}

// String says "2 errors, 1 warning".
func (r Report) String() string {
	return receipt.Counted(r.Errors, "error") + ", " + receipt.Counted(r.Warnings, "warning")
}

// Some returns an empty list for nil: in JSON, every reader would have to guard against null.
func Some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// RunSchema names the form of a Run.
const RunSchema = "verbatim/run@1"

// The outcomes of a run.
const (
	Done      = "done"
	Previewed = "previewed"
	Waiting   = "waiting"
	Stopped   = "stopped"
	Refused   = "refused"
	Invalid   = "invalid"
	Unknown   = "unknown"
)

// A Run describes the effects of a script, or the reason why it did not run.
type Run struct {
	Schema  string           `json:"schema"`
	Outcome string           `json:"outcome"`
	Preview *receipt.Receipt `json:"preview,omitempty"`
	First   int64            `json:"first,omitempty"`
	Last    int64            `json:"last,omitempty"`
	// For a run that was interrupted: the reason, the number of committed calls, the number of all
	// calls, and the call to continue with.
	Code  string `json:"code,omitempty"`
	Done  int    `json:"done,omitempty"`
	Total int    `json:"total,omitempty"`
	Next  int    `json:"next,omitempty"`
	// Repeated says that it was done before, under the same key.
	Repeated bool `json:"repeated,omitempty"`
	// Proofs are those of the entries, if they were asked for. Unproven says why there are none.
	Proofs       []string      `json:"proofs,omitempty"`
	Unproven     string        `json:"unproven,omitempty"`
	Confirmation *Confirmation `json:"confirmation,omitempty"`
	Report
}

// DoneRun describes a completed run.
func DoneRun(r *receipt.Receipt) Run {
	return Run{Schema: RunSchema, Outcome: Done, Preview: r, First: r.First, Last: r.Last, Repeated: r.Repeated, Report: NewReport(nil)}
}

// A Confirmation is a pending confirmation, or a settled one.
type Confirmation struct {
	ID      string      `json:"id"`
	Asker   string      `json:"asker"`
	Asked   time.Time   `json:"asked"`
	Expires time.Time   `json:"expires"`
	Source  string      `json:"source"`
	Calls   []string    `json:"calls"`
	Roles   []Agreement `json:"roles"`
	Status  string      `json:"status"`
	By      string      `json:"settled_by,omitempty"`
	Reason  string      `json:"reason,omitempty"`
	Mine    bool        `json:"mine"`
	Stale   bool        `json:"stale"`
}

// An Agreement is a required agreement, and the principal who gave it.
type Agreement struct {
	Role string `json:"role"`
	By   string `json:"by,omitempty"`
}

// NewConfirmation describes a confirmation.
func NewConfirmation(c *engine.Pending) *Confirmation {
	out := &Confirmation{ID: c.ID, Asker: c.Asker, Asked: c.Asked, Expires: c.Expires, Source: c.Source, Calls: Some(c.Calls),
		Roles: []Agreement{}, Status: c.Status, By: c.Decision.By, Reason: c.Decision.Reason, Mine: c.Mine, Stale: c.Stale}
	for _, r := range c.Roles {
		out.Roles = append(out.Roles, Agreement(r))
	}
	return out
}

// Confirmations lists confirmations.
type Confirmations struct {
	Schema        string          `json:"schema"`
	Confirmations []*Confirmation `json:"confirmations"`
}

// NewConfirmations lists confirmations.
func NewConfirmations(all []*engine.Pending) Confirmations {
	list := []*Confirmation{}
	for _, c := range all {
		list = append(list, NewConfirmation(c))
	}
	return Confirmations{"verbatim/confirmations@1", list}
}

// An Upload describes an uploaded file.
type Upload struct {
	Schema    string     `json:"schema"`
	Reference string     `json:"reference"`
	Name      string     `json:"name"`
	Type      string     `json:"type"`
	Size      int64      `json:"size"`
	Sum       string     `json:"sha256"`
	Verdict   string     `json:"verdict"`
	Scanner   string     `json:"scanner"`
	Uploaded  time.Time  `json:"uploaded"`
	Expires   *time.Time `json:"expires,omitempty"` // nil once something uses it
}

// NewUpload describes a file.
func NewUpload(u *uploads.Upload) Upload {
	out := Upload{"verbatim/upload@1", u.Reference(), u.Name, u.Type, u.Size, u.Sum, u.Told(), u.Scanner, u.Uploaded, &u.Expires}
	if u.Expires.IsZero() {
		out.Expires = nil
	}
	return out
}

// A Decision describes the result of a decision on a confirmation.
type Decision struct {
	Schema       string           `json:"schema"`
	Outcome      string           `json:"outcome"` // "shown", "agreed", "done" or "declined"
	Confirmation *Confirmation    `json:"confirmation"`
	Preview      *receipt.Receipt `json:"preview,omitempty"`
	First        int64            `json:"first,omitempty"`
	Last         int64            `json:"last,omitempty"`
}

// NewDecision describes a decision; reply is the receipt of the run that it caused, or nil.
func NewDecision(outcome string, c *engine.Pending, reply *receipt.Receipt) Decision {
	out := Decision{Schema: "verbatim/confirm@1", Outcome: outcome, Confirmation: NewConfirmation(c), Preview: c.Preview}
	if reply != nil {
		out.First, out.Last = reply.First, reply.Last
	}
	return out
}

// An Entry is an entry of the journal.
type Entry struct {
	Schema    string          `json:"schema"`
	Seq       int64           `json:"seq"`
	Time      time.Time       `json:"time"`
	Principal string          `json:"principal"`
	Roles     []string        `json:"roles"`
	Session   string          `json:"session,omitempty"`
	Source    string          `json:"source"`
	Turn      string          `json:"turn,omitempty"`
	Verb      string          `json:"verb"`
	Call      string          `json:"call"`
	Outcome   string          `json:"outcome"`
	Reason    string          `json:"reason,omitempty"`
	Changes   json.RawMessage `json:"changes,omitempty"`
	Origins   json.RawMessage `json:"origins,omitempty"`
	Preview   string          `json:"preview,omitempty"`
	Agreed    string          `json:"agreed,omitempty"`
	After     int64           `json:"after,omitempty"` // the entry of an attempt of which nobody knew whether it was done
	Palette   string          `json:"palette"`
	Place     int64           `json:"place,omitempty"` // in the sealed log
	Hash      string          `json:"hash"`            // of its leaf
}

// NewEntry describes an entry, with its opened record.
func NewEntry(e *stores.Entry, r *journal.Record) Entry {
	return Entry{
		Schema: "verbatim/entry@1", Seq: e.Seq, Time: e.Time, Principal: e.Principal, Roles: Some(e.Roles), Session: e.Session, Source: e.Source, Turn: e.Turn,
		Verb: e.Verb, Call: CallOf(e, r), Outcome: e.Outcome, Reason: e.Reason, Origins: json.RawMessage(e.Origins), Preview: e.Preview,
		Agreed: e.Agreed, After: r.After, Palette: e.Palette, Place: e.Place, Hash: hex.EncodeToString(e.Hash[:]),
		Changes: receipt.Logged(r.Rows),
	}
}

// CallOf returns the text of a call, as it was before anything was erased.
func CallOf(e *stores.Entry, r *journal.Record) string {
	if r.Words != "" {
		return r.Words
	}
	return e.Call
}

// Sessions lists the sessions of a principal.
type Sessions struct {
	Schema   string    `json:"schema"`
	Sessions []Session `json:"sessions"`
}

// NewSessions lists sessions.
func NewSessions(all []engine.SessionInfo) Sessions {
	out := Sessions{"verbatim/sessions@1", []Session{}}
	for i := range all {
		out.Sessions = append(out.Sessions, NewSession(&all[i], nil))
	}
	return out
}

// A Session is a kept session, with its turns if they are asked for.
type Session struct {
	Schema     string    `json:"schema,omitempty"`
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	Label      string    `json:"label,omitempty"`
	Email      string    `json:"email,omitempty"`
	Zone       string    `json:"zone,omitempty"`
	Language   string    `json:"language,omitempty"`
	Started    time.Time `json:"started"`
	LastActive time.Time `json:"last_active"`
	Visits     int64     `json:"visits"`
	Turns      int64     `json:"turns"`
	Version    int64     `json:"version"`
	Values     []Value   `json:"values,omitempty"`
	Said       []Turn    `json:"said,omitempty"`
}

// A Value is a value that a session keeps under a name.
type Value struct {
	Name      string        `json:"name"`
	Value     *stores.Value `json:"value,omitempty"`
	Sensitive bool          `json:"sensitive,omitempty"`
	Origin    string        `json:"origin,omitempty"`
}

// A Turn is a message of a session.
type Turn struct {
	Turn     string    `json:"turn"`
	Number   int64     `json:"number"`
	Time     time.Time `json:"time"`
	Role     string    `json:"role"`
	Content  string    `json:"content"`
	Erased   bool      `json:"erased,omitempty"`
	Intent   string    `json:"intent,omitempty"`
	Mentions []string  `json:"mentions,omitempty"`
	Rows     []string  `json:"rows,omitempty"`
	Action   string    `json:"action,omitempty"`
	First    int64     `json:"first,omitempty"`
	Entries  int64     `json:"entries,omitempty"`
}

// NewSession describes a session, and its turns.
func NewSession(info *engine.SessionInfo, said []sessions.Turn) Session {
	out := Session{ID: info.ID, Name: info.Name, Label: info.Person.Label, Email: info.Person.Email, Zone: info.Person.Zone, Language: info.Person.Language,
		Started: info.Started, LastActive: info.LastActive, Visits: info.Visits, Turns: info.Turns, Version: info.Version}
	for _, v := range info.Values {
		value := Value{Name: v.Name, Sensitive: v.Sensitive, Origin: v.Origin.String()}
		if !v.Sensitive {
			value.Value = &v.Value
		}
		out.Values = append(out.Values, value)
	}
	for i := range said {
		t := &said[i]
		out.Said = append(out.Said, Turn{t.ID, t.Number, t.Time, string(t.Role), t.Content, t.Erased, t.Intent, t.Mentions, t.Names, t.Action, t.First, t.Entries})
	}
	return out
}

// A Chat is the answer of a turn.
type Chat struct {
	Schema  string             `json:"schema"`
	Text    string             `json:"text"`
	Asks    []Question         `json:"asks"`
	Preview []*receipt.Receipt `json:"done"`
	Turn    *dialog.Turn       `json:"turn"`
}

// A Question is a question that waits for an answer.
type Question struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	Text  string   `json:"text"`
	Why   string   `json:"why,omitempty"`
	Calls []string `json:"calls"`
	Until string   `json:"until"`
}

// NewChat describes an answer.
func NewChat(answer *dialog.Answer) Chat {
	out := Chat{Schema: "verbatim/chat@1", Text: answer.Text, Asks: []Question{}, Preview: Some(answer.Done), Turn: answer.Turn}
	for _, q := range answer.Open {
		out.Asks = append(out.Asks, Question{q.ID, q.Title, q.Shows, q.Why, q.Calls, q.Until.UTC().Format(time.RFC3339)})
	}
	return out
}

// EventSchema names the form of an Event.
const EventSchema = "verbatim/event@1"

// An Event is a step of a run or a turn in progress. The last one carries the document that is the
// reply.
type Event struct {
	Schema  string       `json:"schema"`
	Event   string       `json:"event"` // "progress", "call" or "reply"; of a conversation, see dialog.EventKind
	Phase   engine.Phase `json:"phase,omitempty"`
	Done    int          `json:"done,omitempty"`
	Total   int          `json:"total,omitempty"`
	Number  int          `json:"number,omitempty"`
	Verb    string       `json:"verb,omitempty"`
	Place   string       `json:"place,omitempty"`
	Journal int64        `json:"journal,omitempty"`
	Text    string       `json:"text,omitempty"`
	Reply   any          `json:"reply,omitempty"`
}

// NewProgress reports the progress of a run.
func NewProgress(p engine.Progress) Event {
	e := Event{Schema: EventSchema, Event: "progress", Phase: p.Phase, Done: p.Done, Total: p.Total}
	if p.Phase == engine.Asking {
		e.Number, e.Verb, e.Text = p.Number, p.Verb, p.What
	}
	if p.Call != nil {
		e.Event, e.Number, e.Verb, e.Place, e.Journal = "call", p.Number, p.Call.Verb, p.Call.Place.String(), p.Call.Seq
	}
	return e
}

// NewStep reports the progress of a turn.
func NewStep(e dialog.Event) Event {
	return Event{Schema: EventSchema, Event: string(e.Kind), Verb: e.Verb, Text: e.Text, Done: e.Done, Total: e.Total}
}
