package channel

import (
	"context"
	_ "embed"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/domains/rights"
	"verbatim/runtime/engine"
)

//go:embed channel.yaml
var palette string

// Source returns the text of the palette of messages, deliveries and quarantine.
func Source() *dsl.Source { return dsl.NewSource("channel.yaml", palette) }

// The entities of the palette.
const (
	inboxes    = "channel-inbox"
	senders    = "channel-sender"
	messages   = "channel-message"
	deliveries = "channel-delivery"
	people     = "system-principal"
	identities = "system-identity"
	codes      = "channel-code"
	tokens     = "channel-token"
)

// The targets of the palette's notices, which Deliver takes.
const (
	targetIn      = "channel-in"
	targetOut     = "channel-out"
	targetFailed  = "channel-failed"
	targetChanged = "identity-changed"
	targetCode    = "channel-code"
)

// The states of a message that came in.
const (
	received  = "RECEIVED"
	handled   = "HANDLED"
	unclaimed = "UNCLAIMED"
	claimed   = "CLAIMED"
	ignored   = "IGNORED"
)

// The states of a delivery besides those that a channel reports.
const (
	queued  = "QUEUED"
	expired = "EXPIRED"
)

const (
	// keptFor is how long a message of an unknown sender waits to be claimed.
	keptFor = 30 * 24 * time.Hour
	// mostWaiting is the greatest number of messages of one unknown sender that wait in one inbox.
	mostWaiting = 20
	// toldEvery is how often an unknown sender is told that nobody knows them.
	toldEvery = 24 * time.Hour
)

// Register registers the handlers of the palette's verbs.
func Register(h *engine.Handlers) {
	engine.Handle(h, "channel.receive", receive)
	engine.Handle(h, "channel.quarantine", quarantine)
	engine.Handle(h, "channel.send", send)
	engine.Handle(h, "channel.note", note)
}

// inbox finds an inbox by its channel and address.
func inbox(ctx context.Context, c *engine.Call, channel, address string) (engine.Ref, error) {
	rows, err := c.Find(ctx, inboxes, engine.Fields{"channel": channel, "address": address})
	if err != nil {
		return engine.Ref{}, err
	}
	if len(rows) == 0 {
		return engine.Ref{}, engine.Refuse("this is no inbox of ours", "name it in the file of channels, and start the server again")
	}
	return rows[0].Ref(), nil
}

type receiveArgs struct {
	ID      string    `verb:"id"`
	Channel string    `verb:"channel"`
	Address string    `verb:"address"`
	Kind    string    `verb:"kind"`
	Sender  string    `verb:"sender"`
	Name    *string   `verb:"sender-name"`
	Issuer  *string   `verb:"issuer"`
	Subject *string   `verb:"subject"`
	Text    *string   `verb:"text"`
	Facts   string    `verb:"facts"`
	Files   int64     `verb:"files"`
	Sent    time.Time `verb:"sent-at"`
}

func receive(ctx context.Context, c *engine.Call, a receiveArgs) (engine.Outcome, error) {
	in, err := inbox(ctx, c, a.Channel, a.Address)
	if err != nil {
		return engine.Outcome{}, err
	}
	f := engine.Fields{"message_id": a.ID, "inbox": in, "channel": a.Channel, "kind": a.Kind, "status": received, "sender": a.Sender, "facts": a.Facts,
		"files": a.Files, "sent_at": a.Sent, "received_at": c.Now(), "expires_at": c.Now().Add(keptFor)}
	optional(f, "sender_name", a.Name)
	optional(f, "issuer", a.Issuer)
	optional(f, "subject", a.Subject)
	optional(f, "text", a.Text)
	return engine.Outcome{Changes: []engine.Edit{engine.Create(messages, f)}, Notices: []engine.Notice{engine.Notify(targetIn, engine.Fields{"id": a.ID})}}, nil
}

// optional sets a field that may be absent.
func optional(f engine.Fields, name string, value *string) {
	if value != nil {
		f[name] = *value
	}
}

type quarantineArgs struct {
	Message engine.Ref `verb:"message-id"`
	Keeps   bool       `verb:"keeps"`
	Tells   *string    `verb:"tells"`
	Facts   *string    `verb:"facts"`
	// Delivery is the id of the reply to the sender: a handler sees no key.
	Delivery string `verb:"delivery"`
}

// quarantine keeps a message for a person to look at, and counts it for its sender. Whatever they
// send, they are told once a day that nobody knows them.
func quarantine(ctx context.Context, c *engine.Call, a quarantineArgs) (o engine.Outcome, err error) {
	o = c.Declared()
	m, err := c.Get(ctx, a.Message)
	if err != nil {
		return o, err
	}
	from := m.Value("sender").Text()
	rows, err := c.Find(ctx, senders, engine.Fields{"inbox": m.To("inbox"), "sender": from})
	if err != nil {
		return o, err
	}
	var waiting int64
	var told time.Time
	if len(rows) > 0 {
		waiting = rows[0].Value("waiting").Int()
		if at := rows[0].Value("told_at"); !at.IsNull() {
			told = at.Time()
		}
	}
	status := engine.Fields{"status": unclaimed}
	// Two messages of one sender may be handled at the same moment, so the limit is checked here
	// again.
	if !a.Keeps || waiting >= mostWaiting {
		status = engine.Fields{"status": ignored, "settled_at": c.Now(), "text": nil, "facts": nil}
	} else {
		waiting++
	}
	o.Changes = append(o.Changes, engine.Update(a.Message, status))
	f := engine.Fields{"waiting": waiting}
	if a.Tells != nil && c.Now().Sub(told) >= toldEvery {
		f["told_at"] = c.Now()
		d := engine.Fields{"delivery_id": a.Delivery, "inbox": m.To("inbox"), "channel": m.Value("channel").Text(), "answers": a.Message, "recipient": from, "text": *a.Tells, "status": queued, "created_at": c.Now()}
		optional(d, "facts", a.Facts)
		o.Changes = append(o.Changes, engine.Create(deliveries, d))
		o.Notices = append(o.Notices, engine.Notify(targetOut, engine.Fields{"id": a.Delivery}))
	}
	if len(rows) > 0 {
		o.Changes = append(o.Changes, engine.Update(rows[0].Ref(), f))
	} else {
		f["inbox"], f["sender"] = m.To("inbox"), from
		o.Changes = append(o.Changes, engine.Create(senders, f))
	}
	return o, nil
}

type sendArgs struct {
	ID        string     `verb:"id"`
	Channel   string     `verb:"channel"`
	Address   string     `verb:"address"`
	Recipient string     `verb:"recipient"`
	Person    engine.Ref `verb:"person"`
	Message   engine.Ref `verb:"message-id"`
	Instead   engine.Ref `verb:"instead"`
	Code      engine.Ref `verb:"code-id"`
	Text      string     `verb:"text"`
	Facts     *string    `verb:"facts"`
	Asks      *string    `verb:"asks"`
	At        *time.Time `verb:"at"`
}

// send sends a message: to the sender of the message that it answers, to a verified identity of the
// person, or to one that it serves to verify, and to nobody else.
func send(ctx context.Context, c *engine.Call, a sendArgs) (o engine.Outcome, err error) {
	o = c.Declared()
	may := false
	if !a.Message.IsZero() {
		m, err := c.Get(ctx, a.Message)
		if err != nil {
			return o, err
		}
		may = m.Value("sender").Text() == a.Recipient && m.Value("channel").Text() == a.Channel
	}
	if !a.Code.IsZero() {
		code, err := c.Get(ctx, a.Code)
		if err != nil {
			return o, err
		}
		id, err := c.Get(ctx, code.To("identity"))
		if err != nil {
			return o, err
		}
		may = may || id.Value("subject").Text() == a.Recipient
	}
	if !may && !a.Person.IsZero() {
		for _, kind := range Kinds(a.Channel) {
			knownBy, unknown := rights.Normalised(kind, dialled(kind, a.Recipient))
			rows, err := c.Find(ctx, identities, engine.Fields{"principal": a.Person, "issuer": kind, "known_by": knownBy, "status": rights.Verified})
			if err != nil {
				return o, err
			}
			may = may || unknown == nil && len(rows) > 0
		}
	}
	if !may {
		return o, engine.Refuse("this address is neither verified nor that of the person who wrote", "verify the identity first")
	}
	in, err := inbox(ctx, c, a.Channel, a.Address)
	if err != nil {
		return o, err
	}
	f := engine.Fields{"delivery_id": a.ID, "inbox": in, "channel": a.Channel, "recipient": a.Recipient, "text": a.Text, "status": queued, "created_at": c.Now()}
	for name, ref := range map[string]engine.Ref{"person": a.Person, "answers": a.Message, "instead": a.Instead} {
		if !ref.IsZero() {
			f[name] = ref
		}
	}
	optional(f, "facts", a.Facts)
	optional(f, "asks", a.Asks)
	o.Changes = append(o.Changes, engine.Create(deliveries, f))
	if a.At == nil {
		o.Notices = append(o.Notices, engine.Notify(targetOut, engine.Fields{"id": a.ID}))
	}
	return o, nil
}

type noteArgs struct {
	Delivery engine.Ref `verb:"delivery-id"`
	ID       string     `verb:"id"`
	Status   string     `verb:"status"`
	At       time.Time  `verb:"at"`
	External *string    `verb:"external-id"`
	Problem  *string    `verb:"problem"`
	Closed   bool       `verb:"closed"`
}

// rank orders the states of a delivery.
var rank = map[string]int{queued: 0, string(Sent): 1, string(Delivered): 2, string(Read): 3}

// note updates the state of a delivery, but never back to an earlier one: channels report states
// late, twice and out of order.
func note(ctx context.Context, c *engine.Call, a noteArgs) (o engine.Outcome, err error) {
	d, err := c.Get(ctx, a.Delivery)
	if err != nil {
		return o, err
	}
	now := d.Value("status").Text()
	f := engine.Fields{}
	if a.External != nil && d.Value("external_id").IsNull() {
		f["external_id"] = *a.External
	}
	at, known := rank[now]
	next, goes := rank[a.Status]
	ends := a.Status == string(Failed) || a.Status == expired
	switch {
	case now == string(Failed) && goes && next >= rank[string(Delivered)]: // it arrived after all
		f["text"] = nil
		if d.Value("delivered_at").IsNull() {
			f["delivered_at"] = a.At
		}
	case !known || ends && at > rank[string(Sent)]: // it has ended, or arrived
	case ends:
		f["status"], f["ended_at"] = a.Status, a.At
		optional(f, "problem", a.Problem)
		if a.Status == string(Failed) {
			o.Notices = append(o.Notices, engine.Notify(targetFailed, engine.Fields{"id": a.ID, "closed": a.Closed}))
		} else {
			f["text"] = nil
		}
	case goes && next > at:
		f["status"] = a.Status
		switch State(a.Status) {
		case Sent:
			f["sent_at"] = a.At
			if to := d.To("answers"); !to.IsZero() {
				m, err := c.Get(ctx, to)
				if err != nil {
					return o, err
				}
				f["wait"] = int64(max(0, a.At.Sub(m.Value("received_at").Time())/time.Second))
			}
		case Delivered:
			f["delivered_at"], f["text"] = a.At, nil
		case Read:
			f["ended_at"], f["text"] = a.At, nil
		}
	}
	if len(f) > 0 {
		o.Changes = append(o.Changes, engine.Update(a.Delivery, f))
	}
	return o, nil
}

// dialled returns an address in the form of identities: WhatsApp omits the + of a number.
func dialled(kind, address string) string {
	if kind == rights.WhatsAppPhone && !strings.HasPrefix(address, "+") {
		return "+" + address
	}
	return address
}

// Kinds returns the kinds of identities that a channel can write to.
func Kinds(channel string) []string {
	switch channel {
	case "WHATSAPP":
		return []string{"whatsapp_id", "whatsapp_phone"}
	case "MAIL":
		return []string{"email"}
	}
	return nil
}
