package channel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/intake"
	"verbatim/runtime/internal/digest"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/stores"
	"verbatim/verbs"
)

// A Service receives messages from adapters, handles them and sends deliveries. Any number of
// processes may share one store. Set its fields before it is used, and do not change them
// afterwards. It is safe for use by many goroutines.
type Service struct {
	Registry *verbs.Registry
	Engine   *engine.Engine
	Store    stores.Store
	// Uploads keeps files that people send; nil if files are not accepted.
	Uploads *intake.Service
	// Talk returns the options of a conversation in a session, as for the portal.
	Talk func(*engine.Session) dialog.Options
	// Adapters are the adapters for outgoing messages, by the palette's code of the channel:
	// "WHATSAPP".
	Adapters map[string]Adapter
	// As is the principal in whose name the program stores incoming messages. They need the role
	// channel-door.
	As string
	// Templates are wordings that a channel approved for people who have not written lately, by the
	// code of the channel. A template takes one value, the text.
	Templates map[string]Template
	Clock     func() time.Time
	Zone      *time.Location
	Log       *slog.Logger

	talks sync.Map // by session, a mutex: its messages are handled one at a time
}

var _ Door = (*Service)(nil)

// MessageID returns our ID of a message: the same however often it arrives. Its sender belongs to
// it, as far as the channel proved them: a stranger who makes up the ID of somebody else's message
// has written another one.
func MessageID(f *Facts) string {
	proved := provedOf(f)
	if len(f.Known) == 0 {
		proved.Subject = f.From
	}
	return digest.Of("verbatim channel message 2", f.Channel, f.Inbox, proved.Kind, proved.Subject, f.ID)[:40]
}

// provedOf returns the surest identity that a channel proved, the zero one if it proved none.
func provedOf(f *Facts) (proved Identity) {
	if len(f.Known) > 0 {
		proved = f.Known[0]
	}
	return proved
}

// olderID returns the ID that a message had before its sender belonged to it, and that rows of then
// still have. Sessions are named by it too.
func olderID(channel, inbox, id string) string {
	return digest.Of("verbatim channel message 1", channel, inbox, id)[:40]
}

// stored reports whether a message is stored already.
func (s *Service) stored(ctx context.Context, f *Facts) (bool, error) {
	before, err := s.clerk().Get(ctx, messages, stores.NewString(MessageID(f)))
	if err != nil || before != nil {
		return before != nil, err
	}
	before, err = s.clerk().Get(ctx, messages, stores.NewString(olderID(f.Channel, f.Inbox, f.ID)))
	if err != nil || before == nil {
		return false, err
	}
	proved := provedOf(f)
	return before.Text("issuer") == proved.Kind && before.Text("subject") == clip(proved.Subject, 320) && (len(f.Known) > 0 || before.Text("sender") == clip(f.From, 320)), nil
}

// DeliveryID returns the ID of a delivery for a reason: the same however often it is sent for that
// reason.
func DeliveryID(why ...string) string {
	return digest.Of(append([]string{"verbatim channel delivery 1"}, why...)...)[:40]
}

// codeOf returns the palette's code of a channel.
func codeOf(channel string) string { return strings.ToUpper(channel) }

// clerk returns a clerk that writes and reads in the name of the program.
func (s *Service) clerk() *serviceaccount.Clerk {
	return &serviceaccount.Clerk{Registry: s.Registry, Engine: s.Engine, Store: s.Store, As: s.As, Source: "channel"}
}

// Open makes an inbox known.
func (s *Service) Open(ctx context.Context, channel, address string) error {
	d, err := s.clerk().Session(ctx)
	if err != nil {
		return err
	}
	if at, err := s.clerk().Find(ctx, inboxes, map[string]stores.Value{"channel": stores.NewString(codeOf(channel)), "address": stores.NewString(address)}); err != nil || at != nil {
		return err
	}
	_, err = s.clerk().Do(ctx, d, "", serviceaccount.Call("channel.open-inbox", serviceaccount.Word("channel", codeOf(channel)), serviceaccount.Text("address", address)))
	return err
}

// Receive implements Door.
func (s *Service) Receive(ctx context.Context, all ...Message) (err error) {
	defer func() { s.unstored("message", err) }()
	if len(all) == 0 {
		return nil
	}
	d, err := s.clerk().Session(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		if err := s.receive(ctx, d, all[i].Facts()); err != nil {
			return err
		}
	}
	return nil
}

// unstored logs why something that a channel sent could not be stored: its sender is asked to send it
// again, and not told why.
func (s *Service) unstored(what string, err error) {
	if err != nil && s.Log != nil {
		s.Log.Error("not stored", "what", what, "error", err.Error())
	}
}

// mostText is the greatest number of bytes of a message that are kept: nobody says more, and a
// conversation accepts less. mostFacts is what the palette keeps of the rest.
const (
	mostText  = 60_000
	mostFacts = 65_536
)

func (s *Service) receive(ctx context.Context, d *engine.Session, f Facts) error {
	if f.Channel == "" || f.Inbox == "" || f.ID == "" || f.From == "" {
		return errors.New("an adapter brought a message without its channel, inbox, id or sender")
	}
	id := MessageID(&f)
	if before, err := s.stored(ctx, &f); err != nil || before {
		return err
	}
	script := []dsl.Call{}
	for i := range f.Files {
		file := &f.Files[i]
		if len(file.Content) == 0 || s.Uploads == nil || s.Uploads.Scanner == nil {
			file.Content = nil
			continue
		}
		sent, err := s.Uploads.Receive(ctx, d, file.Name, bytes.NewReader(file.Content))
		var refused *intake.Refusal
		if errors.As(err, &refused) {
			file.Content, file.ID = nil, ""
			continue
		}
		if err != nil {
			return err
		}
		file.Content, file.ID = nil, sent.Reference()
		script = append(script, serviceaccount.Call("channel.keep-file", dsl.NewArg("message-id", dsl.NewSymbol("m")), serviceaccount.Text("name", clip(file.Name, 255)), serviceaccount.Text("content", file.ID)))
	}
	own := clip(f.Text, mostText)
	f.Text, f.Quoted = "", clip(f.Quoted, 20_000)
	facts, err := json.Marshal(f)
	for err == nil && len(facts) > mostFacts && f.Quoted != "" { // as JSON some letters are six
		f.Quoted = clip(f.Quoted, len(f.Quoted)/2)
		facts, err = json.Marshal(f)
	}
	if err != nil {
		return err
	}
	proved := provedOf(&f)
	store := serviceaccount.Call("channel.receive", serviceaccount.Text("id", id), serviceaccount.Word("channel", codeOf(f.Channel)), serviceaccount.Text("address", f.Inbox), serviceaccount.Word("kind", codeOf(string(f.Kind))), serviceaccount.Text("sender", clip(f.From, 320)),
		serviceaccount.Text("sender-name", clip(f.Name, 200)), serviceaccount.Text("issuer", proved.Kind), serviceaccount.Text("subject", clip(proved.Subject, 320)), serviceaccount.Text("text", own), serviceaccount.Text("facts", string(facts)),
		dsl.NewArg("files", dsl.NewInteger(int64(len(f.Files)))), serviceaccount.Instant("sent-at", f.At))
	store.As = "m"
	_, err = s.clerk().Do(ctx, d, "", append([]dsl.Call{store}, script...)...)
	if err == nil {
		return nil
	}
	if before, gone := s.clerk().Get(ctx, messages, stores.NewString(id)); gone == nil && before != nil {
		return nil // another process stored it at the same moment
	}
	return err
}

// clip cuts a text to a number of bytes, between characters, and removes what stores cannot keep.
func clip(text string, most int) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
	if len(text) <= most {
		return text
	}
	for most > 0 && text[most]&0xC0 == 0x80 {
		most--
	}
	return text[:most]
}

// Once reports whether a token that may be used once comes with the same content as the first time.
// All processes of an installation remember it for a day.
func (s *Service) Once(ctx context.Context, channel, token, with string) (first bool, failed error) {
	defer func() { s.unstored("token", failed) }()
	id := digest.Of("verbatim channel token 1", channel, token)[:40]
	for range 2 {
		taken, err := s.clerk().Get(ctx, tokens, stores.NewString(id))
		if err != nil || taken != nil {
			return taken != nil && taken.Text("with") == with, err
		}
		d, err := s.clerk().Session(ctx)
		if err != nil {
			return false, err
		}
		if _, err = s.clerk().Do(ctx, d, "", serviceaccount.Call("channel.take-token", serviceaccount.Text("id", id), serviceaccount.Text("with", with))); err == nil {
			return true, nil
		}
		failed = err // unless another process took it at the same moment
	}
	return false, failed
}

// Note implements Door.
func (s *Service) Note(ctx context.Context, all ...Status) (err error) {
	defer func() { s.unstored("status", err) }()
	if len(all) == 0 {
		return nil
	}
	d, err := s.clerk().Session(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		if err := s.note(ctx, d, &all[i]); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) note(ctx context.Context, d *engine.Session, st *Status) error {
	var at *serviceaccount.Row
	var err error
	if st.Ours != "" {
		at, err = s.clerk().Get(ctx, deliveries, stores.NewString(st.Ours))
	}
	if at == nil && err == nil && st.ID != "" {
		at, err = s.clerk().Find(ctx, deliveries, map[string]stores.Value{"channel": stores.NewString(codeOf(st.Channel)), "external_id": stores.NewString(clip(st.ID, 300))})
	}
	if err != nil || at == nil {
		return err // of a message that this installation did not send
	}
	ref, err := s.clerk().Ref(ctx, d, "delivery-id", deliveries, at.Key())
	if err != nil {
		return err
	}
	problem := ""
	if st.Why != nil {
		problem = strings.TrimSpace(st.Why.Code + " " + st.Why.Text)
	}
	when := st.At
	if now := s.Clock(); when.IsZero() || when.Sub(now).Abs() > 24*time.Hour {
		when = now
	}
	_, err = s.clerk().Do(ctx, d, "", serviceaccount.Call("channel.note", ref, serviceaccount.Text("id", at.Text("delivery_id")), serviceaccount.Word("status", string(st.State)), serviceaccount.Instant("at", when), serviceaccount.Text("external-id", clip(st.ID, 300)), serviceaccount.Text("problem", clip(problem, 300)), closed(st.Why)))
	return err
}
