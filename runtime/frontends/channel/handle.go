package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/domains/rights"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/intake"
	"verbatim/runtime/frontends/channel/internal/proven"
	"verbatim/runtime/jobs/notify"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
)

// Deliver handles the notices of the palette: a message to handle, a delivery to send, and one that
// failed. It reports whether the notice is one of these.
func (s *Service) Deliver(ctx context.Context, m engine.Message) (mine bool, err error) {
	var body struct {
		With struct {
			ID, To, Status, Issuer string
			Closed                 bool
		}
	}
	switch m.Target {
	case targetIn, targetOut, targetFailed, targetChanged, targetCode, engine.TargetDecided:
		if err := json.Unmarshal([]byte(m.Body), &body); err != nil {
			return true, fmt.Errorf("a notice of a channel cannot be read: %w", err)
		}
	}
	switch m.Target {
	case targetIn:
		err = s.handle(ctx, body.With.ID, m.Attempt)
	case targetOut:
		err = s.send(ctx, body.With.ID, m.Attempt)
	case targetFailed:
		err = s.another(ctx, body.With.ID, body.With.Closed)
	case targetChanged:
		err = s.changed(ctx, m.ID, body.With.To, body.With.Status, body.With.Issuer)
	case targetCode:
		err = s.sendCode(ctx, m)
	case engine.TargetDecided:
		err = s.decided(ctx, m)
	default:
		return false, nil
	}
	return true, err
}

// A sender says which person a message is from.
type sender struct {
	principal string
	key       stores.Value // of the principal's row
	identity  stores.Value // the identity that they wrote from; null for a claimed message
	doubted   stores.Value // an identity that was not used for a long time
}

// silent is the time after which an unused identity has to be verified again: numbers are
// reassigned.
const silent = 90 * 24 * time.Hour

// who finds out who sent a message, from the verified identities that the channel proved, all of
// which must belong to one person.
func (s *Service) who(ctx context.Context, known []Identity, now time.Time) (w sender, err error) {
	for _, k := range known {
		id, err := rights.IdentityOf(ctx, s.Registry, s.Store, k.Kind, k.Subject)
		if err != nil {
			return sender{}, err
		}
		switch {
		case id == nil:
		case w.principal != "" && w.principal != id.Principal:
			return sender{}, nil // the identities belong to two people, so it counts as unknown
		case now.Sub(id.Heard) > silent:
			return sender{doubted: id.Key}, nil
		case w.principal == "":
			w.principal, w.identity = id.Principal, id.Key
		}
	}
	if w.principal == "" {
		return w, nil
	}
	p, err := s.clerk().Find(ctx, people, map[string]stores.Value{"name": stores.NewString(w.principal)})
	if err != nil || p == nil {
		return sender{}, err
	}
	w.key = p.Key()
	return w, nil
}

// handle deals with a message that was stored: once, however often it is called, and after what
// its sender wrote before.
func (s *Service) handle(ctx context.Context, id string, attempt int) error {
	m, err := s.clerk().Get(ctx, messages, stores.NewString(id))
	if err != nil || m == nil {
		return err
	}
	status := m.Text("status")
	if status != received && status != claimed {
		return nil
	}
	if err := s.inTurn(ctx, m, attempt, "sender", "sent_at", "received_at"); err != nil {
		return err
	}
	var f Facts
	if err := json.Unmarshal([]byte(m.Text("facts")), &f); err != nil {
		return fmt.Errorf("what is kept of a message cannot be read: %w", err)
	}
	f.Text = m.Text("text")
	d, err := s.clerk().Session(ctx)
	if err != nil {
		return err
	}
	this, err := s.clerk().Ref(ctx, d, "message-id", messages, stores.NewString(id))
	if err != nil {
		return err
	}
	h := &handling{s: s, d: d, m: m, f: &f, this: this}
	if status == claimed {
		p, err := s.clerk().Get(ctx, people, m.Value("person"))
		if err != nil || p == nil {
			return err
		}
		return h.answer(ctx, sender{principal: p.Text("name"), key: p.Key()})
	}
	if len(f.Left) > 0 {
		return h.left(ctx)
	}
	w, err := s.who(ctx, f.Known, s.Clock())
	if err != nil {
		return err
	}
	if w.principal != "" {
		return h.answer(ctx, w)
	}
	if proved, err := h.code(ctx); proved || err != nil {
		return err
	}
	return h.stranger(ctx, w)
}

// left notes that somebody is not known any more by an identity: its verification ends, or goes on
// with what the channel gave them in place of it.
func (h *handling) left(ctx context.Context) error {
	var script []dsl.Call
	for _, k := range h.f.Left {
		w, err := h.s.who(ctx, []Identity{k}, h.s.Clock())
		if err != nil {
			return err
		}
		key := w.identity
		if key.IsNull() {
			key = w.doubted
		}
		if key.IsNull() {
			continue
		}
		ref, err := h.s.clerk().Ref(ctx, h.d, "identity-id", identities, key)
		if err != nil {
			return err
		}
		follows := dsl.Call{}
		if became := h.f.Became; became != nil {
			taken, err := h.s.clerk().Find(ctx, identities, map[string]stores.Value{"issuer": stores.NewString(became.Kind), "known_by": stores.NewString(became.Subject)})
			if err != nil {
				return err
			}
			if taken == nil {
				follows = serviceaccount.Call("channel.follow", ref, serviceaccount.Text("subject", became.Subject))
			}
		}
		if follows.Verb == "" {
			follows = serviceaccount.Call("channel.doubt", ref)
		}
		script = append(script, follows)
	}
	return h.settle(ctx, ignored, sender{}, "", "the sender is not known by this any more", script...)
}

// patience is the number of attempts for which a message waits for the one before it. With the
// worker's backoff they take about four minutes, longer than to detect that a worker died. After
// that it is handled, so that a message which always fails does not block its sender.
const patience = 5

// inTurn waits while the previous row of the same inbox and address has the same status as this one.
// Since each row waits for the one before it, they are handled in order by any number of processes.
// times are the fields that order the rows: requests may arrive in any order, and WhatsApp gives
// the sending time in whole seconds.
func (s *Service) inTurn(ctx context.Context, at *serviceaccount.Row, attempt int, address string, times ...string) error {
	if attempt > patience {
		return nil
	}
	path := func(field string) stores.Path { return stores.Path{Field: at.Entity.FieldIndex(field)} }
	f := stores.Find{Entity: at.Entity, Limit: 1, Cut: true, Select: []stores.Path{path("status")}, Where: &stores.Cond{Op: stores.And}}
	equal := func(field string) stores.Cond {
		return stores.Cond{Op: stores.Eq, Path: path(field), Value: at.Value(field)}
	}
	earlier := stores.Cond{Op: stores.Or}
	for i, field := range times {
		before := []stores.Cond{{Op: stores.Lt, Path: path(field), Value: at.Value(field)}}
		for _, same := range times[:i] {
			before = append(before, equal(same))
		}
		earlier.Kids = append(earlier.Kids, stores.Cond{Op: stores.And, Kids: before})
		f.Order = append(f.Order, stores.Order{Path: path(field), Desc: true})
	}
	f.Where.Kids = []stores.Cond{equal("inbox"), equal(address), {Op: stores.Le, Path: path(times[0]), Value: at.Value(times[0])}, earlier}
	if at.Entity.Name == deliveries {
		// Deliveries that are no answers may be delayed until the morning.
		f.Where.Kids = append(f.Where.Kids, stores.Cond{Op: stores.Ne, Path: path("answers")})
	}
	for range 200 { // five seconds; then the worker has its hands free for others
		waits := false
		err := s.Store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
			rows, err := r.Find(ctx, f)
			waits = len(rows) > 0 && rows[0][0].Text() == at.Text("status")
			return err
		})
		if err != nil || !waits {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(25 * time.Millisecond):
		}
	}
	return errEarlier
}

var errEarlier = &notify.Error{Code: "waits-for-earlier", Text: "what came before it has not been dealt with"}

// A handling is a message on its way to an answer.
type handling struct {
	s    *Service
	d    *engine.Session // the program's own
	m    *serviceaccount.Row
	f    *Facts
	this dsl.Arg // the message, as an argument
}

// stranger keeps a message of an unknown sender for a person to look at. It does nothing that the
// message asks for. Its sender is always told the same, whether they were never known, are not
// verified or are not known any more, in the language of the message.
func (h *handling) stranger(ctx context.Context, w sender) error {
	var script []dsl.Call
	if !w.doubted.IsNull() {
		ref, err := h.s.clerk().Ref(ctx, h.d, "identity-id", identities, w.doubted)
		if err != nil {
			return err
		}
		script = append(script, serviceaccount.Call("channel.doubt", ref))
	}
	sender, err := h.s.clerk().Find(ctx, senders, map[string]stores.Value{"inbox": h.m.Value("inbox"), "sender": h.m.Value("sender")})
	if err != nil {
		return err
	}
	keeps := !h.f.Automatic && (sender == nil || sender.Value("waiting").Int() < mostWaiting)
	q := serviceaccount.Call("channel.quarantine", h.this, serviceaccount.Text("delivery", DeliveryID("stranger", h.m.Text("message_id"))), dsl.NewArg("keeps", dsl.NewBool(keeps)))
	if !h.f.Automatic {
		facts, err := h.facts(nil)
		if err != nil {
			return err
		}
		q.Args = append(q.Args, serviceaccount.Text("tells", sayStranger.In(writtenIn(h.f.Text))), serviceaccount.Text("facts", facts))
	}
	if keeps {
		if err := h.keepFiles(ctx, &script); err != nil {
			return err
		}
	}
	_, err = h.s.clerk().Do(ctx, h.d, "", append(script, q)...)
	return err
}

// keepFiles fetches the files that came without their bytes, for a person to look at later:
// channels do not keep them for long. They are looked at for harm, and not read.
func (h *handling) keepFiles(ctx context.Context, script *[]dsl.Call) error {
	s := h.s
	if s.Uploads == nil || s.Uploads.Scanner == nil {
		return nil
	}
	for i := range h.f.Files {
		f := &h.f.Files[i]
		if f.ID == "" || strings.HasPrefix(f.ID, "upload:") {
			continue
		}
		reference, refused, err := h.fetch(ctx, h.d, f)
		if err != nil {
			return err
		}
		if refused == "" {
			*script = append(*script, serviceaccount.Call("channel.keep-file", h.this, serviceaccount.Text("name", clip(f.Name, 255)), serviceaccount.Text("content", reference)))
		}
	}
	return nil
}

// joins puts a message that cites an answer of ours into the thread of what was answered, if it does
// not say in which it is: some programs for mail send no References.
func (h *handling) joins(ctx context.Context) error {
	if h.f.Thread == "" || h.f.Thread != h.f.ReplyTo {
		return nil
	}
	d, err := h.cited(ctx)
	if err != nil || d == nil || d.Value("facts").IsNull() {
		return err
	}
	var of outFacts
	if err := json.Unmarshal([]byte(d.Text("facts")), &of); err != nil {
		return err
	}
	if len(of.References) > 0 {
		h.f.Thread = of.References[0]
	}
	return nil
}

// fetch takes a file for a session's principal. refused says why it cannot be taken.
func (h *handling) fetch(ctx context.Context, to *engine.Session, f *File) (reference, refused string, err error) {
	s := h.s
	var failed *Failure
	if strings.HasPrefix(f.ID, "upload:") {
		_, content, err := s.Uploads.Open(ctx, f.ID)
		if err != nil {
			return "", "unread", nil // it was found harmful, or expired
		}
		defer content.Close()
		return s.take(ctx, to, f.Name, content)
	}
	a := s.Adapters[h.m.Text("channel")]
	if a == nil {
		return "", "unread", nil
	}
	content, err := a.Fetch(ctx, *f)
	if errors.As(err, &failed) && failed.Permanent {
		return "", failed.Text, nil
	}
	if err != nil {
		return "", "", err
	}
	defer content.Close()
	return s.take(ctx, to, f.Name, content)
}

// answer continues the conversation of the person who sent the message.
func (h *handling) answer(ctx context.Context, w sender) error {
	s := h.s
	if h.f.Automatic || h.f.Kind == proven.Reaction {
		return h.settle(ctx, ignored, w, "", "nobody waits for an answer to it")
	}
	if err := h.joins(ctx); err != nil {
		return err
	}
	name := h.m.Text("channel") + " " + h.f.Inbox
	if h.f.Thread != "" {
		name = h.m.Text("channel") + " " + olderID(h.f.Channel, h.f.Inbox, h.f.Thread)[:16]
	}
	one, _ := s.talks.LoadOrStore(w.principal+" "+name, &sync.Mutex{})
	one.(*sync.Mutex).Lock()
	defer one.(*sync.Mutex).Unlock()
	session, err := s.Engine.Visit(ctx, w.principal, engine.Visit{Name: strings.ToLower(name)})
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		return h.stranger(ctx, sender{}) // they may do nothing any more
	}
	if err != nil {
		return err
	}
	session.Prove(s.Clock())
	o := s.Talk(session)
	o.Session, o.Source, o.Referring = session, source+strings.ToLower(name), h.f.Channel == "mail"
	c, err := dialog.New(o)
	if err != nil {
		return err
	}
	if err := c.Resume(ctx); err != nil {
		return err
	}
	r := &reply{h: h, c: c, w: w, l: languageOf(session)}
	if err := r.make(ctx, session); err != nil {
		return err
	}
	return r.send(ctx)
}

// source is the prefix of the source of calls from a conversation by a channel.
const source = "channel "

// languageOf returns the language in which a person is answered.
func languageOf(session *engine.Session) values.Language {
	if l, ok := values.ParseLanguage(session.Person().Language); ok {
		return l
	}
	return values.English
}

// writtenIn returns the language of a text, English if that is uncertain. Nothing else is known
// about an unknown sender's language.
func writtenIn(text string) values.Language {
	if all := values.Detect(text); len(all) == 1 {
		return all[0]
	}
	return values.English
}

// settle notes what became of a message.
func (h *handling) settle(ctx context.Context, status string, w sender, answers, reason string, before ...dsl.Call) error {
	person, err := h.s.clerk().Ref(ctx, h.d, "person", people, w.key)
	if err != nil {
		return err
	}
	identity, err := h.s.clerk().Ref(ctx, h.d, "identity-id", identities, w.identity)
	if err != nil {
		return err
	}
	_, err = h.s.clerk().Do(ctx, h.d, "", append(before, serviceaccount.Call("channel.settle", h.this, serviceaccount.Word("status", status), person, identity, serviceaccount.Text("answers", answers), serviceaccount.Text("reason", reason)))...)
	return err
}

// A reply is the answer to one incoming message, while it is being built.
type reply struct {
	h *handling
	c *dialog.Conversation
	w sender
	l values.Language

	lines    []string
	choices  []Choice
	asks     string // the question that it puts
	answered string // the question that their message answers
}

// kinds are the answers to messages of kinds that cannot be read.
var kinds = map[Kind]values.Key{
	proven.Audio: sayAudio, proven.Video: sayVideo, proven.Sticker: sayUnknown, proven.Location: sayLocation, proven.Contacts: sayContacts, proven.Invite: sayInvite, proven.Unknown: sayUnknown,
}

// make makes the answer.
func (r *reply) make(ctx context.Context, session *engine.Session) error {
	f := r.h.f
	if say, ok := kinds[f.Kind]; ok && f.Text == "" && len(f.Files) == 0 || ok && f.Kind != proven.Unknown && f.Kind != proven.Invite {
		r.lines = append(r.lines, say.In(r.l))
		return r.files(ctx, session, nil)
	}
	if f.Unsure && (f.Text != "" || f.Channel == "mail") { // of a mail, the words may be in what was taken for a file
		r.lines = append(r.lines, sayUnsure.In(r.l))
		return nil
	}
	m := dialog.Message{Text: f.Text, ID: r.h.m.Text("message_id"), Subject: f.Subject}
	if f.ReplyTo != "" {
		other, err := r.repliesTo(ctx, &m)
		if err != nil {
			return err
		}
		if other && (f.Tapped != "" || decides(f.Text)) {
			r.lines = append(r.lines, sayOther.In(r.l))
			return r.files(ctx, session, nil)
		}
	}
	if verb, question, ok := strings.Cut(f.Tapped, " "); ok && (verb == tapYes || verb == tapNo) {
		m.Answers, m.Text = question, map[string]string{tapYes: sayYes.In(r.l), tapNo: sayNo.In(r.l)}[verb]
	}
	if err := r.files(ctx, session, &m); err != nil {
		return err
	}
	if f.Quoted != "" {
		m.Text = strings.TrimSpace(m.Text + "\n\n> " + strings.ReplaceAll(f.Quoted, "\n", "\n> "))
	}
	if m.Text == "" {
		if len(r.lines) == 0 {
			r.lines = append(r.lines, sayEmpty.In(r.l))
		}
		return nil
	}
	before := r.c.Open()
	a, err := r.c.Follow(ctx, m, nil)
	if err != nil {
		return err
	}
	if a.Before && !a.CutOff.IsZero() && r.h.s.Clock().Sub(a.CutOff) < busy {
		return errBusy
	}
	r.l = languageOf(session)
	if a.Closed {
		return r.closed(ctx, m.Answers)
	}
	r.lines = append(r.lines, a.Text)
	for _, q := range before {
		if !slices.ContainsFunc(a.Open, func(o *dialog.Question) bool { return o.ID == q.ID }) {
			r.answered = q.ID
		}
	}
	r.offers(a)
	return nil
}

// busy is how long another process may take to handle a message. A worker waits as long before it
// takes over the job of one that died.
const busy = 2 * time.Minute

var errBusy = errors.New("another process is handling this message")

const (
	tapYes = "yes"
	tapNo  = "no"
	tapSay = "say"
)

// offers puts the expected answers on buttons. A mail has no buttons; its text says what they are.
func (r *reply) offers(a *dialog.Answer) {
	if r.h.m.Text("channel") == mailCode {
		if n := len(a.Open); n > 0 && a.Open[n-1].Asked.Equal(a.Turn.Time) {
			r.asks = a.Open[n-1].ID
		}
		return
	}
	if len(a.Open) == 1 && a.Open[0].Asked.Equal(a.Turn.Time) || len(a.Open) > 0 && !a.Before && len(r.c.Offered()) == 0 && a.Open[len(a.Open)-1].Asked.Equal(a.Turn.Time) {
		q := a.Open[len(a.Open)-1]
		r.asks = q.ID
		r.choices = []Choice{{ID: tapYes + " " + q.ID, Title: sayYes.In(r.l)}, {ID: tapNo + " " + q.ID, Title: sayNo.In(r.l)}}
		return
	}
	for _, says := range r.c.Offered() {
		r.choices = append(r.choices, Choice{ID: clip(tapSay+" "+says, 190), Title: says})
	}
}

// closed says when a question was answered that is not open any more.
func (r *reply) closed(ctx context.Context, question string) error {
	s := r.h.s
	before, err := s.clerk().Find(ctx, messages, map[string]stores.Value{"inbox": r.h.m.Value("inbox"), "sender": r.h.m.Value("sender"), "answers": stores.NewString(question)})
	if err != nil {
		return err
	}
	if before == nil {
		r.lines = append(r.lines, sayNotOpen.In(r.l))
		return nil
	}
	at := before.Value("settled_at").Time().In(s.Zone)
	day, _ := stores.NewDate(at.Year(), int(at.Month()), at.Day())
	r.lines = append(r.lines, sayAnswered.In(r.l, values.SayDate(day, r.l)))
	return nil
}

// decides reports whether a text is a yes, a no or a choice and nothing else.
func decides(text string) bool {
	return values.ReadAnswer(text).Answer != values.Other || values.ReadChoice(text) != 0
}

// cited finds the delivery that a message cites; nil if it cites none, or one that we did not send.
func (h *handling) cited(ctx context.Context) (*serviceaccount.Row, error) {
	if h.f.ReplyTo == "" {
		return nil, nil
	}
	return h.s.clerk().Find(ctx, deliveries, map[string]stores.Value{"inbox": h.m.Value("inbox"), "external_id": stores.NewString(clip(h.f.ReplyTo, 300))})
}

// repliesTo finds the message to whose answer this one replies, and the question that it answers. It
// reports whether a question or a choice is open that was put in another message than the one that
// is cited: a yes to that one is none to this. Mails cite whatever their program likes, so that an
// id which is not ours says nothing there.
func (r *reply) repliesTo(ctx context.Context, m *dialog.Message) (other bool, err error) {
	d, err := r.h.cited(ctx)
	if err != nil {
		return false, err
	}
	open := r.c.Open()
	if d == nil {
		return r.h.m.Text("channel") != mailCode && (len(open) > 0 || len(r.c.Offered()) > 0), nil
	}
	if to := d.Value("answers"); !to.IsNull() {
		m.ReplyTo = to.Text()
	}
	asks := d.Text("asks")
	for _, q := range open {
		if q.ID == asks {
			if decides(r.h.f.Text) {
				m.Answers = asks
			}
			return false, nil
		}
	}
	sent := d.Value("created_at").Time()
	return slices.ContainsFunc(open, func(q *dialog.Question) bool { return q.Asked.After(sent) }), nil
}

// files takes the files of a message as uploads of the person, and adds a sentence about each
// to m. Where m is nil, as for a voice message, they are kept and not spoken of.
func (r *reply) files(ctx context.Context, session *engine.Session, m *dialog.Message) error {
	f := r.h.f
	if len(f.Files) == 0 {
		return nil
	}
	if f.TooMany {
		r.lines = append(r.lines, sayTooMany.In(r.l))
	}
	s := r.h.s
	if s.Uploads == nil || s.Uploads.Scanner == nil {
		r.lines = append(r.lines, sayNoFiles.In(r.l))
		return nil
	}
	for i := range f.Files {
		file := &f.Files[i]
		reference, refused, err := "", "unread", error(nil)
		if file.ID != "" {
			reference, refused, err = r.h.fetch(ctx, session, file)
		}
		switch {
		case err != nil:
			return err
		case refused != "":
			r.lines = append(r.lines, sayRefused.In(r.l, intake.Harmless(file.Name)))
		case m != nil:
			m.Text = strings.TrimSpace(m.Text + "\n" + sayHereIs.In(r.l, intake.Harmless(file.Name), reference))
		}
	}
	return nil
}

// take takes a file for a session's principal. refused says why it was not taken.
func (s *Service) take(ctx context.Context, to *engine.Session, name string, content io.Reader) (reference, refused string, err error) {
	u, err := s.Uploads.Receive(ctx, to, name, content)
	var no *intake.Refusal
	switch {
	case errors.As(err, &no):
		return "", no.Text, nil
	case err != nil:
		return "", "", err
	case u.Verdict == uploads.Infected:
		return "", "harmful", nil
	}
	return u.Reference(), "", nil
}

// send has the answer sent, and notes that the message was handled, in one transaction.
func (r *reply) send(ctx context.Context) error {
	said := strings.TrimSpace(strings.Join(r.lines, "\n\n"))
	if said == "" {
		return r.h.settle(ctx, handled, r.w, r.answered, "")
	}
	facts, err := r.h.facts(r.choices)
	if err != nil {
		return err
	}
	person, err := r.h.s.clerk().Ref(ctx, r.h.d, "person", people, r.w.key)
	if err != nil {
		return err
	}
	m := r.h.m
	return r.h.settle(ctx, handled, r.w, r.answered, "", serviceaccount.Call("channel.send", serviceaccount.Text("id", DeliveryID("answer", m.Text("message_id"), m.Text("status"))), serviceaccount.Word("channel", m.Text("channel")), serviceaccount.Text("address", r.h.f.Inbox),
		serviceaccount.Text("recipient", m.Text("sender")), person, r.h.this, serviceaccount.Text("text", clip(said, mostText)), serviceaccount.Text("facts", facts), serviceaccount.Text("asks", r.asks)))
}

// facts returns the JSON of an answer's outFacts.
func (h *handling) facts(choices []Choice) (string, error) {
	facts, err := json.Marshal(outFacts{Choices: choices, Subject: h.f.Subject, ReplyTo: h.f.ID, References: append(slices.DeleteFunc(slices.Clone(h.f.References), func(id string) bool { return id == h.f.ID }), h.f.ID)})
	return string(facts), err
}

// outFacts is the content of a delivery besides its text.
type outFacts struct {
	Choices    []Choice `json:"choices,omitempty"`
	Subject    string   `json:"subject,omitempty"`
	ReplyTo    string   `json:"reply_to,omitempty"`
	References []string `json:"references,omitempty"`
	// Template says that it is sent in the wording of a template, whenever the person wrote.
	Template bool `json:"template,omitempty"`
}
