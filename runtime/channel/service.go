package channel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"verbatim/dsl"
	"verbatim/runtime"
	"verbatim/runtime/dialog"
	"verbatim/runtime/digest"
	"verbatim/runtime/upload"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A Service takes what adapters receive, handles it and sends what is said. Any number of
// processes may share one store. Its fields are set before it is used and not after; it is
// safe for use by many goroutines.
type Service struct {
	Registry *verbs.Registry
	Engine   *runtime.Engine
	Store    stores.Store
	// Uploads keeps files that people send; nil where none are taken.
	Uploads *upload.Service
	// Talk says how somebody talks in a session, as for the portal.
	Talk func(*runtime.Session) dialog.Options
	// Adapters are the channels by which messages leave, by the code of each in the palette:
	// "WHATSAPP".
	Adapters map[string]Adapter
	// As is the principal in whose name the program stores what comes in, with the role
	// channel-door.
	As string
	// Templates are the wording that a channel approved for people who have not written
	// lately, by the code of the channel. It takes one value, the text.
	Templates map[string]Template
	Clock     func() time.Time
	Zone      *time.Location
	Log       *slog.Logger

	talks sync.Map // of a session, a mutex: one message of it at a time
}

var _ Door = (*Service)(nil)

// MessageID is what a message is called here: the same whenever it arrives.
func MessageID(channel, inbox, id string) string {
	return digest.Of("verbatim channel message 1", channel, inbox, id)[:40]
}

// DeliveryID is what a message that is sent for a reason is called: the same however often
// it is sent for that.
func DeliveryID(why ...string) string {
	return digest.Of(append([]string{"verbatim channel delivery 1"}, why...)...)[:40]
}

// codeOf is the palette's code of a channel.
func codeOf(channel string) string { return strings.ToUpper(channel) }

// door is a session of the program's own.
func (s *Service) door(ctx context.Context) (*runtime.Session, error) {
	d, err := s.Engine.Session(ctx, s.As)
	if err != nil {
		return nil, fmt.Errorf("the principal %q, who stores messages, cannot be used: %w", s.As, err)
	}
	return d, nil
}

// Open makes an inbox known.
func (s *Service) Open(ctx context.Context, channel, address string) error {
	d, err := s.door(ctx)
	if err != nil {
		return err
	}
	if at, err := s.find(ctx, inboxes, map[string]stores.Value{"channel": stores.NewString(codeOf(channel)), "address": stores.NewString(address)}); err != nil || at != nil {
		return err
	}
	_, err = s.do(ctx, d, "", call("channel.open-inbox", word("channel", codeOf(channel)), text("address", address)))
	return err
}

// do makes calls in one transaction.
func (s *Service) do(ctx context.Context, d *runtime.Session, key string, calls ...dsl.Call) (*receipt.Receipt, error) {
	var b strings.Builder
	for i := range calls {
		b.WriteString(dsl.FormatCall(&calls[i]) + "\n")
	}
	script, ds := dsl.Parse(dsl.NewSource("channel", b.String()))
	if ds.HasErrors() {
		return nil, fmt.Errorf("what a channel stores cannot be said: %s", ds[0].Summary)
	}
	if key != "" {
		if done, err := d.Repeat(ctx, script, key); err != nil || done != nil {
			return done, err
		}
	}
	program, ds := d.Check(ctx, script)
	if program == nil {
		return nil, fmt.Errorf("what a channel stores does not fit its palette: %s", ds[0].Summary)
	}
	return d.Run(ctx, program, runtime.RunOptions{Source: "channel", Key: key})
}

// call is a call of a verb with the arguments that are there.
func call(verb string, args ...dsl.Arg) dsl.Call {
	return dsl.NewCall(verb, slices.DeleteFunc(args, func(a dsl.Arg) bool { return a.Key == "" })...)
}

// text is an argument that is left out where it is empty.
func text(name, value string) dsl.Arg {
	if value == "" {
		return dsl.Arg{}
	}
	return dsl.NewArg(name, dsl.NewString(value))
}

func word(name, value string) dsl.Arg {
	if value == "" {
		return dsl.Arg{}
	}
	return dsl.NewArg(name, dsl.NewCode(value))
}

func instant(name string, at time.Time) dsl.Arg {
	if at.IsZero() {
		return dsl.Arg{}
	}
	return dsl.NewArg(name, dsl.NewTime(at))
}

// A row is one of the palette's, by the names of its fields.
type row struct {
	e      *stores.Entity
	values []stores.Value
}

func (r *row) value(field string) stores.Value { return r.values[r.e.FieldIndex(field)] }
func (r *row) text(field string) string        { return r.value(field).Text() }

// find finds the row with some values; nil where there is none.
func (s *Service) find(ctx context.Context, entity string, where map[string]stores.Value) (*row, error) {
	e := s.Registry.Entity(entity).Store
	f := stores.Find{Entity: e, Limit: 1, Cut: true, Where: &stores.Cond{Op: stores.And}}
	for _, name := range slices.Sorted(keys(where)) {
		f.Where.Kids = append(f.Where.Kids, stores.Cond{Op: stores.Eq, Path: stores.Path{Field: e.FieldIndex(name)}, Value: where[name]})
	}
	var found *row
	err := s.Store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err := r.Find(ctx, f)
		if err == nil && len(rows) > 0 {
			found = &row{e, rows[0]}
		}
		return err
	})
	return found, err
}

func keys(m map[string]stores.Value) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// get reads the row with a key; nil where there is none.
func (s *Service) get(ctx context.Context, entity string, key stores.Value) (found *row, err error) {
	if key.IsNull() {
		return nil, nil
	}
	e := s.Registry.Entity(entity).Store
	err = s.Store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		at, err := r.Get(ctx, e, key)
		if errors.Is(err, stores.ErrNotFound) {
			return nil
		}
		if err == nil {
			found = &row{e, at.Values}
		}
		return err
	})
	return found, err
}

// ref is an argument that names a row by its key; left out where the key is null.
func (s *Service) ref(ctx context.Context, d *runtime.Session, arg, entity string, key stores.Value) (dsl.Arg, error) {
	if key.IsNull() {
		return dsl.Arg{}, nil
	}
	suffix, err := d.Suffixes(ctx, s.Registry.Entity(entity), key)
	if err != nil {
		return dsl.Arg{}, err
	}
	return dsl.NewArg(arg, dsl.NewSymbol(entity+"~"+suffix[0])), nil
}

// Receive implements Door.
func (s *Service) Receive(ctx context.Context, all ...Message) error {
	if len(all) == 0 {
		return nil
	}
	d, err := s.door(ctx)
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

// mostText is how many bytes of a message are kept: more is said by nobody, and a
// conversation takes less.
const mostText = 60_000

func (s *Service) receive(ctx context.Context, d *runtime.Session, f Facts) error {
	if f.Channel == "" || f.Inbox == "" || f.ID == "" || f.From == "" {
		return errors.New("an adapter brought a message without its channel, inbox, id or sender")
	}
	id := MessageID(f.Channel, f.Inbox, f.ID)
	key := stores.NewString(id)
	if before, err := s.get(ctx, messages, key); err != nil || before != nil {
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
		var refused *upload.Refusal
		if errors.As(err, &refused) {
			file.Content, file.ID = nil, ""
			continue
		}
		if err != nil {
			return err
		}
		file.Content, file.ID = nil, sent.Reference()
		script = append(script, call("channel.keep-file", dsl.NewArg("message-id", dsl.NewSymbol("m")), text("name", clip(file.Name, 255)), text("content", file.ID)))
	}
	own := clip(f.Text, mostText)
	f.Text, f.Quoted = "", clip(f.Quoted, 20_000)
	facts, err := json.Marshal(f)
	if err != nil {
		return err
	}
	var proved Identity
	if len(f.Known) > 0 {
		proved = f.Known[0]
	}
	store := call("channel.receive", text("id", id), word("channel", codeOf(f.Channel)), text("address", f.Inbox), word("kind", codeOf(string(f.Kind))), text("sender", clip(f.From, 320)),
		text("sender-name", clip(f.Name, 200)), text("issuer", proved.Kind), text("subject", clip(proved.Subject, 320)), text("text", own), text("facts", string(facts)),
		dsl.NewArg("files", dsl.NewInteger(int64(len(f.Files)))), instant("sent-at", f.At))
	store.As = "m"
	_, err = s.do(ctx, d, "", append([]dsl.Call{store}, script...)...)
	if err == nil {
		return nil
	}
	if before, gone := s.get(ctx, messages, key); gone == nil && before != nil {
		return nil // another process stored it at the same moment
	}
	return err
}

// clip cuts a text to so many bytes, between characters, and takes out what no store keeps.
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

// Note implements Door.
func (s *Service) Note(ctx context.Context, all ...Status) error {
	if len(all) == 0 {
		return nil
	}
	d, err := s.door(ctx)
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

func (s *Service) note(ctx context.Context, d *runtime.Session, st *Status) error {
	var at *row
	var err error
	if st.Ours != "" {
		at, err = s.get(ctx, deliveries, stores.NewString(st.Ours))
	}
	if at == nil && err == nil && st.ID != "" {
		at, err = s.find(ctx, deliveries, map[string]stores.Value{"channel": stores.NewString(codeOf(st.Channel)), "external_id": stores.NewString(clip(st.ID, 300))})
	}
	if err != nil || at == nil {
		return err // of a message that this installation did not send
	}
	ref, err := s.ref(ctx, d, "delivery-id", deliveries, at.values[at.e.Key])
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
	_, err = s.do(ctx, d, "", call("channel.note", ref, text("id", at.text("delivery_id")), word("status", string(st.State)), instant("at", when), text("external-id", clip(st.ID, 300)), text("problem", clip(problem, 300))))
	return err
}
