package channel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/domains/rights"
	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/notify"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/runtime/state/confirmations"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

const (
	// window is how long after a person's message a channel accepts free text for them.
	window = 24 * time.Hour
	// pointless is the age at which a message that could not be sent is not sent any more.
	pointless = 3 * 24 * time.Hour
)

// send hands a delivery to its channel; answers are sent in order. If it is not known whether it was
// sent, it is sent again only if no status of it has arrived by then.
func (s *Service) send(ctx context.Context, id string, attempt int) error {
	at, err := s.clerk().Get(ctx, deliveries, stores.NewString(id))
	if err != nil || at == nil || at.Text("status") != queued {
		return err
	}
	if !at.Value("answers").IsNull() {
		if err := s.inTurn(ctx, at, attempt, "recipient", "created_at"); err != nil {
			return err
		}
	}
	d, err := s.clerk().Session(ctx)
	if err != nil {
		return err
	}
	now := s.Clock()
	arrived, _, err := s.before(ctx, at)
	if err != nil {
		return err
	}
	if arrived || now.Sub(at.Value("created_at").Time()) > pointless {
		return s.noted(ctx, d, at, expired, "", nil)
	}
	in, err := s.clerk().Get(ctx, inboxes, at.Value("inbox"))
	if err != nil || in == nil {
		return err
	}
	a := s.Adapters[at.Text("channel")]
	if a == nil {
		return s.noted(ctx, d, at, string(Failed), "", &Failure{Code: "no-channel", Text: "nothing sends by this channel"})
	}
	var more outFacts
	if facts := at.Text("facts"); facts != "" {
		if err := json.Unmarshal([]byte(facts), &more); err != nil {
			return err
		}
	}
	o := Out{ID: id, Inbox: in.Text("address"), To: at.Text("recipient"), Text: at.Text("text"), Choices: more.Choices, ReplyTo: more.ReplyTo, References: more.References, Subject: more.Subject}
	if windowed(at.Text("channel")) {
		open, err := s.isOpen(ctx, at, now)
		if err != nil {
			return err
		}
		if !open || more.Template {
			t, ok := s.Templates[at.Text("channel")]
			if !ok {
				return s.noted(ctx, d, at, string(Failed), "", &Failure{Code: "window-closed", Text: "the person has not written for a day, and there is no template", Closed: true})
			}
			t.Values = []string{templated(o.Text)}
			o.Template, o.ReplyTo = &t, ""
		}
	}
	external, err := a.Send(ctx, o)
	var failed *Failure
	switch {
	case err == nil:
		return s.noted(ctx, d, at, string(Sent), external, nil)
	case errors.As(err, &failed) && (failed.Permanent || failed.Closed):
		return s.noted(ctx, d, at, string(Failed), "", failed)
	case errors.As(err, &failed) && failed.Unknown:
		return &notify.Error{Code: notify.CodeUnknown, Text: failed.Text}
	case errors.As(err, &failed):
		return &notify.Error{Code: notify.CodeUnreachable, Text: strings.TrimSpace(failed.Code + " " + failed.Text)}
	}
	return err
}

// templated returns a text as the value of a template: channels allow no line ends there.
func templated(text string) string {
	return clip(strings.Join(strings.Fields(text), " "), 1000)
}

// windowed reports whether a channel accepts free text only for a day after the person wrote.
func windowed(channel string) bool { return channel == "WHATSAPP" }

// isOpen reports whether the person wrote to this inbox within the window.
func (s *Service) isOpen(ctx context.Context, d *serviceaccount.Row, now time.Time) (bool, error) {
	if m, err := s.clerk().Get(ctx, messages, d.Value("answers")); err != nil || m != nil && now.Sub(m.Value("received_at").Time()) < window {
		return m != nil, err
	}
	for _, kind := range Kinds(d.Text("channel")) {
		knownBy, unknown := rights.Normalised(kind, dialled(kind, d.Text("recipient")))
		if unknown != nil {
			continue
		}
		id, err := s.clerk().Find(ctx, identities, map[string]stores.Value{"issuer": stores.NewString(kind), "principal": d.Value("person"), "known_by": stores.NewString(knownBy)})
		if err != nil {
			return false, err
		}
		if id != nil && !id.Value("heard_at").IsNull() && now.Sub(id.Value("heard_at").Time()) < window {
			return true, nil
		}
	}
	return false, nil
}

// noted notes what became of a delivery.
func (s *Service) noted(ctx context.Context, d *engine.Session, at *serviceaccount.Row, status, external string, why *Failure) error {
	ref, err := s.clerk().Ref(ctx, d, "delivery-id", deliveries, at.Key())
	if err != nil {
		return err
	}
	problem := ""
	if why != nil {
		problem = clip(strings.TrimSpace(why.Code+" "+why.Text), 300)
	}
	_, err = s.clerk().Do(ctx, d, "", serviceaccount.Call("channel.note", ref, serviceaccount.Text("id", at.Text("delivery_id")), serviceaccount.Word("status", status), serviceaccount.Instant("at", s.Clock()), serviceaccount.Text("external-id", clip(external, 300)), serviceaccount.Text("problem", problem), closed(why)))
	return err
}

// closed says whether a message failed since only a template would have been delivered.
func closed(why *Failure) dsl.Arg {
	if why == nil || !why.Closed {
		return dsl.Arg{}
	}
	return dsl.NewArg("closed", dsl.NewBool(true))
}

// before looks at the deliveries that a delivery replaces: whether one of them arrived after all,
// and by which channels they were tried.
func (s *Service) before(ctx context.Context, at *serviceaccount.Row) (arrived bool, tried []string, err error) {
	for at != nil && err == nil && len(tried) < mostWays {
		arrived, tried = arrived || !at.Value("delivered_at").IsNull(), append(tried, at.Text("channel"))
		at, err = s.clerk().Get(ctx, deliveries, at.Value("instead"))
	}
	return arrived, tried, err
}

// mostWays is more than the number of ways to one person.
const mostWays = 10

// another sends a failed message by the next way to the same person, once: as a template, if the
// channel asks for one and it was not one yet; then to the person's verified mail address. If there
// is none, somebody has to look: the notice waits for a route to the person.
func (s *Service) another(ctx context.Context, id string, closed bool) error {
	at, err := s.clerk().Get(ctx, deliveries, stores.NewString(id))
	if err != nil || at == nil || at.Text("status") != string(Failed) || at.Value("text").IsNull() {
		return err
	}
	arrived, tried, err := s.before(ctx, at)
	if err != nil || arrived {
		return err
	}
	stuck := &notify.Error{Code: notify.CodeNoRoute, Text: "a message could not be delivered, and there is no other way to the person"}
	p, err := s.clerk().Get(ctx, people, at.Value("person"))
	if err != nil {
		return err
	}
	if p == nil {
		return stuck
	}
	if _, wording := s.Templates[at.Text("channel")]; closed && wording && windowed(at.Text("channel")) && len(tried) == 1 {
		in, err := s.clerk().Get(ctx, inboxes, at.Value("inbox"))
		if err != nil || in == nil {
			return err
		}
		return s.queue(ctx, DeliveryID("template", id), p, at.Text("channel"), in.Text("address"), at.Text("recipient"), at.Text("text"), &outFacts{Template: true}, at)
	}
	if slices.Contains(tried, mailCode) || s.Adapters[mailCode] == nil {
		return stuck
	}
	to, _, err := rights.AddressOf(ctx, s.Registry, s.Store, p.Text("name"))
	if err != nil {
		return err
	}
	in, err := s.clerk().Find(ctx, inboxes, map[string]stores.Value{"channel": stores.NewString(mailCode)})
	if err != nil {
		return err
	}
	if to == "" || in == nil {
		return stuck
	}
	return s.queue(ctx, DeliveryID("instead", id), p, mailCode, in.Text("address"), to, at.Text("text"), &outFacts{Subject: saySubject.In(speaks(p))}, at)
}

const mailCode = "MAIL"

// speaks returns the language that a principal reads.
func speaks(p *serviceaccount.Row) values.Language {
	if l, ok := values.ParseLanguage(p.Text("language")); ok {
		return l
	}
	return values.English
}

// queue has a message sent to a person.
func (s *Service) queue(ctx context.Context, id string, p *serviceaccount.Row, channel, address, to, says string, more *outFacts, instead *serviceaccount.Row) error {
	if before, err := s.clerk().Get(ctx, deliveries, stores.NewString(id)); err != nil || before != nil {
		return err
	}
	d, err := s.clerk().Session(ctx)
	if err != nil {
		return err
	}
	person, err := s.clerk().Ref(ctx, d, "person", people, p.Key())
	if err != nil {
		return err
	}
	inPlace := dsl.Arg{}
	if instead != nil {
		if inPlace, err = s.clerk().Ref(ctx, d, "instead", deliveries, instead.Key()); err != nil {
			return err
		}
	}
	facts, _ := json.Marshal(more) // of texts and numbers: it cannot fail
	at, err := s.notBefore(ctx, p)
	if err != nil {
		return err
	}
	_, err = s.clerk().Do(ctx, d, "", serviceaccount.Call("channel.send", serviceaccount.Text("id", id), serviceaccount.Word("channel", channel), serviceaccount.Text("address", address), serviceaccount.Text("recipient", to), person, inPlace, serviceaccount.Text("text", clip(says, mostText)), serviceaccount.Text("facts", string(facts)),
		serviceaccount.Instant("at", at)))
	return err
}

// The hours, in the person's zone, in which nobody is written to unless they have just written, and
// the greatest number of messages a day.
const (
	quietFrom = 21
	quietTo   = 8
	mostADay  = 10
)

// notBefore returns the time at which a person who waits for no answer may be written to: not at
// night, and not too often in a day, unless they have just written themselves. The zero time means
// now.
func (s *Service) notBefore(ctx context.Context, p *serviceaccount.Row) (time.Time, error) {
	zone := s.Zone
	if at, err := time.LoadLocation(p.Text("zone")); err == nil && p.Text("zone") != "" {
		zone = at
	}
	now := s.Clock().In(zone)
	if heard, err := s.heard(ctx, p); err != nil || now.Sub(heard) < awake {
		return time.Time{}, err
	}
	morning := func(in int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+in, quietTo, 0, 0, 0, zone)
	}
	switch {
	case now.Hour() >= quietFrom:
		return morning(1), nil
	case now.Hour() < quietTo:
		return morning(0), nil
	}
	session, err := s.Engine.Session(ctx, p.Text("name"))
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		return time.Time{}, nil // they may do nothing any more, and are still told
	}
	if err != nil {
		return time.Time{}, err
	}
	_, within, err := session.Turns().Count(ctx, "messages of "+now.Format(time.DateOnly), 1, mostADay)
	if err != nil || within {
		return time.Time{}, err
	}
	return morning(1), nil
}

// awake is how long somebody who wrote counts as awake.
const awake = time.Hour

// heard returns the time when a person last wrote from any of their identities.
func (s *Service) heard(ctx context.Context, p *serviceaccount.Row) (last time.Time, err error) {
	e := s.Registry.Entity(identities).Store
	at := e.FieldIndex("heard_at")
	f := stores.Find{Entity: e, Limit: 100, Cut: true, Select: []stores.Path{{Field: at}},
		Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: e.FieldIndex("principal")}, Value: p.Key()}}
	err = s.Store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err := r.Find(ctx, f)
		for _, row := range rows {
			if !row[0].IsNull() && row[0].Time().After(last) {
				last = row[0].Time()
			}
		}
		return err
	})
	return last, err
}

// decided tells an asker, in the conversation where they asked, how their proposal was decided.
func (s *Service) decided(ctx context.Context, m engine.Message) error {
	var body struct{ Confirmation, To, By, Status, Reason string }
	if err := json.Unmarshal([]byte(m.Body), &body); err != nil {
		return err
	}
	var c *confirmations.Confirmation
	err := s.Store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) (err error) {
		c, err = confirmations.Get(ctx, r, stores.NewString(body.Confirmation))
		return err
	})
	if err != nil || c == nil {
		return err
	}
	p, err := s.clerk().Find(ctx, people, map[string]stores.Value{"name": stores.NewString(body.To)})
	if err != nil || p == nil {
		return err
	}
	asked, err := s.clerk().Find(ctx, deliveries, map[string]stores.Value{"person": p.Key(), "asks": stores.NewString(receipt.AnswerTo(c.Preview, c.Occasion))})
	if err != nil {
		return err
	}
	if asked == nil {
		return &notify.Error{Code: notify.CodeNoRoute, Text: "it is not known any more where this was asked"}
	}
	session, err := s.Engine.Visit(ctx, body.To, engine.Visit{ID: c.Session, Existing: true})
	refusal, gone := errors.AsType[*engine.Refusal](err)
	if gone = gone && refusal.Diagnostics[0].Code == "unknown-session"; gone { // it was silent for longer than this waited
		session, err = s.Engine.Session(ctx, body.To)
	}
	if err != nil {
		return err
	}
	if _, err := session.Names().All(ctx, s.Registry.Entities()); err != nil {
		return err
	}
	l := languageOf(session)
	if gone {
		l = speaks(p)
	}
	what := ""
	if shown, err := receipt.ParseKept(c.Receipt); err == nil {
		teller := dialog.NewTeller(s.Registry, session, l)
		if what = teller.Done(shown); body.Status != confirmations.Used {
			what = teller.Asks(shown)
		}
	}
	by := s.Engine.Label(ctx, body.By)
	says := ""
	switch body.Status {
	case confirmations.Used:
		says = sayAgreed.In(l, by, what)
	case confirmations.Declined:
		says = sayDeclined.In(l, by, sentence(cmp.Or(body.Reason, what)))
	default:
		says = sayLapsed.In(l, what)
	}
	// This goes into the conversation too, so that they can refer to it.
	if !gone {
		if _, err := session.Turns().Say(ctx, sessions.Said{Role: sessions.System, Content: says, Intent: "decided"}); err != nil {
			return err
		}
	}
	in, err := s.clerk().Get(ctx, inboxes, asked.Value("inbox"))
	if err != nil || in == nil {
		return err
	}
	var more outFacts
	if facts := asked.Text("facts"); facts != "" {
		if err := json.Unmarshal([]byte(facts), &more); err != nil {
			return err
		}
	}
	more.Choices = nil
	return s.queue(ctx, DeliveryID("decided", body.Confirmation), p, asked.Text("channel"), in.Text("address"), asked.Text("recipient"), says, &more, nil)
}

// sentence ends a text with a full stop.
func sentence(text string) string {
	if text = strings.TrimSpace(text); text == "" || strings.ContainsAny(text[len(text)-1:], ".!?") {
		return text
	}
	return text + "."
}

// changed tells a person by mail that an identity of theirs was verified or revoked.
func (s *Service) changed(ctx context.Context, notice, to, status, issuer string) error {
	p, err := s.clerk().Find(ctx, people, map[string]stores.Value{"name": stores.NewString(to)})
	if err != nil || p == nil {
		return err
	}
	address, _, err := rights.AddressOf(ctx, s.Registry, s.Store, to)
	if err != nil {
		return err
	}
	in, err := s.clerk().Find(ctx, inboxes, map[string]stores.Value{"channel": stores.NewString(mailCode)})
	if err != nil {
		return err
	}
	if address == "" || in == nil {
		return nil // nobody can be told
	}
	say := sayVerified
	if status != rights.Verified {
		say = sayRevoked
	}
	l := speaks(p)
	return s.queue(ctx, DeliveryID("changed", notice), p, mailCode, in.Text("address"), address, say.In(l, strings.ReplaceAll(issuer, "_", " ")), &outFacts{Subject: saySubject.In(l)}, nil)
}

// TellsAsker is for engine.Options: an asker who wrote by a channel is told there about the
// decisions of others.
func TellsAsker(of string) bool { return strings.HasPrefix(of, source) }
