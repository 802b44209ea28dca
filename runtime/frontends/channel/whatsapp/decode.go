package whatsapp

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/frontends/channel/internal/proven"
	"verbatim/runtime/state/contact"
)

// An envelope is the part of a webhook's body that is read. Changes, messages and statuses are
// decoded one by one, so that a malformed one does not affect the others.
type envelope struct {
	Object string
	Entry  []struct {
		Changes []struct {
			Field string
			Value json.RawMessage
		}
	}
}

type change struct {
	Metadata struct {
		ID string `json:"phone_number_id"`
	}
	Contacts           []profiled
	Messages, Statuses []json.RawMessage
	Errors             []wireError
}

type profiled struct {
	Profile struct{ Name, Username string }
	WaID    string `json:"wa_id"`
	UserID  string `json:"user_id"`
}

type wireError struct{ Code int }

type wireMessage struct {
	ID, From, Type string
	FromUserID     string `json:"from_user_id"`
	Timestamp      stamp
	Context        struct {
		ID        string
		Forwarded bool
		Often     bool `json:"frequently_forwarded"`
	}
	Text                                   struct{ Body string }
	Image, Video, Audio, Document, Sticker *wireMedia
	Location                               struct {
		Latitude, Longitude number
		Name, Address       string
	}
	Contacts []struct {
		Name struct {
			Formatted string `json:"formatted_name"`
		}
		Phones []struct{ Phone string }
	}
	Interactive struct {
		Type   string
		Button *wireReply `json:"button_reply"`
		List   *wireReply `json:"list_reply"`
	}
	Button   struct{ Payload, Text string }
	Reaction struct {
		ID    string `json:"message_id"`
		Emoji string
	}
	System struct {
		Body, Type string
		UserID     string `json:"user_id"`
		Previous   string `json:"previous_user_id"`
	}
}

type wireMedia struct {
	ID, Caption, Filename, SHA256 string
	Type                          string `json:"mime_type"`
}

type wireReply struct{ ID, Title string }

type wireStatus struct {
	ID, Status string
	Timestamp  stamp
	Ours       string `json:"biz_opaque_callback_data"`
	Errors     []wireError
}

// A stamp is a time in Unix seconds, as text or as a number; 0 if it is neither.
type stamp int64

func (s *stamp) UnmarshalJSON(b []byte) error {
	n, _ := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	*s = stamp(n)
	return nil
}

// A number is kept in its digits, whether it comes as text or as a number.
type number string

func (n *number) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		*n = number(s)
	}
	return nil
}

// deepest is how far down a webhook may be nested: many times what WhatsApp sends.
const deepest = 50

// single reports whether no member stands twice, whatever its capitals, in a text or in what it holds;
// the values of the members left are decoded on their own. Of such a pair one reader takes the first,
// another the second, and encoding/json merges both.
func single(text []byte, deep int, left ...string) bool {
	dec := json.NewDecoder(bytes.NewReader(text))
	open, err := dec.Token()
	if err != nil || open != json.Delim('{') && open != json.Delim('[') {
		return true // no object, or no JSON, which is found out where it is decoded
	}
	had := map[string]bool{}
	for dec.More() {
		name := ""
		if open == json.Delim('{') {
			token, err := dec.Token()
			key, _ := token.(string)
			if name = strings.ToLower(key); err != nil || had[name] {
				return false
			}
			had[name] = true
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil || !slices.Contains(left, name) && (deep == 0 || !single(value, deep-1, left...)) {
			return false
		}
	}
	return true
}

var errBroken = errors.New("it cannot be read")

// decode reads a proven body. It returns an error if the body contains nothing readable.
func (a *Adapter) decode(body []byte) (got batch, err error) {
	var e envelope
	if err := json.Unmarshal(body, &e); err != nil {
		// A value of another type is skipped, and the rest is read.
		got.broken++
		if e.Entry == nil {
			return got, errBroken
		}
	}
	if !single(body, deepest, "value") {
		got.broken++
		return got, errBroken
	}
	if e.Object != "whatsapp_business_account" {
		return got, nil // of another product that the app has
	}
	now := a.opt.Clock()
	for _, entry := range e.Entry {
		for _, c := range entry.Changes {
			if c.Field == "messages" {
				a.change(c.Value, now, &got)
			}
		}
	}
	return got, nil
}

func (a *Adapter) change(raw json.RawMessage, now time.Time, got *batch) {
	var c change
	if err := json.Unmarshal(raw, &c); err != nil {
		got.broken++ // and the rest is read
	}
	if !single(raw, deepest, "messages", "statuses") {
		got.broken++
		return
	}
	for _, e := range c.Errors {
		if got.errors == nil {
			got.errors = map[int]int{}
		}
		got.errors[e.Code]++
	}
	if !slices.Contains(a.opt.Numbers, c.Metadata.ID) {
		return
	}
	for _, raw := range c.Messages {
		does, unknown := unread(raw, a.opt.Ignore)
		for _, member := range unknown {
			if got.unknown == nil {
				got.unknown = map[string]int{}
			}
			got.unknown[member]++
		}
		if does == refuse {
			got.refused++
			continue
		}
		if f, ok := facts(raw, c.Metadata.ID, c.Contacts, now, does == unsure); ok {
			got.messages = append(got.messages, proven.Prove(f))
		} else {
			got.broken++
		}
	}
	for _, raw := range c.Statuses {
		s, ok := status(raw, now)
		switch {
		case !ok:
			got.broken++
		case s.State != "":
			got.statuses = append(got.statuses, s)
		}
	}
}

// facts reads one message. doubted says that more than is read of it may change whose words it holds.
func facts(raw json.RawMessage, inbox string, contacts []profiled, now time.Time, doubted bool) (f proven.Facts, ok bool) {
	var m wireMessage
	if err := json.Unmarshal(raw, &m); err != nil || !named(m.ID) || !single(raw, deepest) {
		return f, false
	}
	f = proven.Facts{Channel: Channel, Inbox: inbox, ID: m.ID, At: m.Timestamp.near(now), ReplyTo: clean(m.Context.ID)}
	if !m.sender(&f, contacts) {
		return f, false
	}
	m.content(&f)
	if m.Context.Forwarded || m.Context.Often || doubted {
		// Somebody else wrote it, and the sender's own words cannot be told apart.
		f.Text, f.Tapped, f.Quoted, f.Unsure = "", "", join("\n", f.Text, f.Quoted), true
	}
	f.Text, f.Quoted = clean(f.Text), clean(f.Quoted)
	return f, true
}

// named reports whether a row can have an id.
func named(id string) bool { return id != "" && len(id) <= 512 && clean(id) == id }

// sender fills in the sender of a message, and reports whether they are known.
func (m *wireMessage) sender(f *proven.Facts, contacts []profiled) bool {
	from, user := m.From, m.FromUserID
	if from == "" && user == "" && m.Type == "system" {
		user = m.System.Previous
	}
	for _, c := range contacts {
		// A contact is the sender's if it has an id of theirs and no id of another person.
		same := c.WaID != "" && c.WaID == from || c.UserID != "" && c.UserID == user
		other := c.WaID != "" && from != "" && c.WaID != from || c.UserID != "" && user != "" && c.UserID != user
		if !same || other {
			continue
		}
		from = cmp.Or(from, c.WaID)
		user = cmp.Or(user, c.UserID)
		if f.Name = clean(c.Profile.Name); f.Name == "" {
			f.Name = clean(c.Profile.Username)
		}
		break
	}
	if user != "" && clean(user) == user {
		f.Known, f.From = append(f.Known, proven.Identity{Kind: "whatsapp_id", Subject: user}), user
	}
	if n, err := contact.Phone("+" + from); err == nil && n == "+"+from {
		f.Known, f.From = append(f.Known, proven.Identity{Kind: "whatsapp_phone", Subject: n}), from
	}
	return len(f.Known) > 0
}

// content fills in the content of a message. A place or a card, which nobody wrote, counts as
// quoted.
func (m *wireMessage) content(f *proven.Facts) {
	f.Kind = proven.Unknown
	switch m.Type {
	case "text":
		f.Kind, f.Text = proven.Text, m.Text.Body
	case "image":
		m.Image.into(f, proven.Image)
	case "video":
		m.Video.into(f, proven.Video)
	case "audio":
		m.Audio.into(f, proven.Audio)
	case "document":
		m.Document.into(f, proven.Document)
	case "sticker":
		m.Sticker.into(f, proven.Sticker)
	case "location":
		l := m.Location
		f.Kind, f.Quoted = proven.Location, join("\n", l.Name, l.Address, join(", ", string(l.Latitude), string(l.Longitude)))
	case "contacts":
		f.Kind = proven.Contacts
		for _, c := range m.Contacts {
			line := c.Name.Formatted
			for _, p := range c.Phones {
				line = join(", ", line, p.Phone)
			}
			f.Quoted = join("\n", f.Quoted, line)
		}
	case "interactive":
		reply := m.Interactive.Button
		if m.Interactive.Type == "list_reply" {
			reply = m.Interactive.List
		}
		if reply != nil {
			f.Kind, f.Text, f.Tapped = proven.Text, reply.Title, clean(reply.ID)
		}
	case "button":
		f.Kind, f.Text, f.Tapped = proven.Text, m.Button.Text, clean(m.Button.Payload)
	case "reaction":
		f.Kind, f.Text, f.ReplyTo = proven.Reaction, m.Reaction.Emoji, clean(m.Reaction.ID)
	case "system": // a report of WhatsApp about the sender, not words of theirs
		f.Automatic, f.Quoted = true, m.System.Body
		m.changed(f)
	}
}

// changed notes what the sender is not known by any more.
func (m *wireMessage) changed(f *proven.Facts) {
	switch m.System.Type {
	case "user_changed_number", "customer_changed_number":
		for _, k := range f.Known {
			if k.Kind == "whatsapp_phone" {
				f.Left = append(f.Left, k)
			}
		}
	case "user_changed_user_id":
		if before, after := m.System.Previous, m.System.UserID; before != "" && clean(before) == before {
			f.Left = append(f.Left, proven.Identity{Kind: "whatsapp_id", Subject: before})
			if after != "" && clean(after) == after && after != before {
				f.Became = &proven.Identity{Kind: "whatsapp_id", Subject: after}
			}
		}
	}
}

func (m *wireMedia) into(f *proven.Facts, kind proven.Kind) {
	if m == nil {
		return
	}
	f.Kind, f.Text = kind, m.Caption
	f.Files = []proven.File{{ID: clean(m.ID), Type: clean(m.Type), Name: clean(m.Filename), Sum: hexSum(m.SHA256)}}
}

// status reads one status. One of a kind that is not passed on has no state.
func status(raw json.RawMessage, now time.Time) (s channel.Status, ok bool) {
	var w wireStatus
	if err := json.Unmarshal(raw, &w); err != nil || !named(w.ID) || !single(raw, deepest) {
		return s, false
	}
	s = channel.Status{Channel: Channel, ID: w.ID, Ours: clean(w.Ours), At: w.Timestamp.near(now)}
	switch w.Status {
	case "sent":
		s.State = channel.Sent
	case "delivered":
		s.State = channel.Delivered
	case "read", "played":
		s.State = channel.Read
	case "failed":
		s.State, s.Why = channel.Failed, failure(0, append(w.Errors, wireError{})[0].Code)
	}
	return s, true
}

// near returns the time, or now if the clock is off: a day ahead, or further behind than requests
// are repeated.
func (s stamp) near(now time.Time) time.Time {
	t := time.Unix(int64(s), 0)
	if t.After(now.Add(24*time.Hour)) || t.Before(now.Add(-8*24*time.Hour)) {
		t = now
	}
	return t.UTC()
}

// hexSum reads a SHA-256 in hex or base64.
func hexSum(s string) string {
	b, err := hex.DecodeString(s)
	if len(s) != 64 || err != nil {
		if b, err = base64.StdEncoding.DecodeString(s); err != nil || len(b) != 32 {
			return ""
		}
	}
	return hex.EncodeToString(b)
}

// clean removes characters that databases cannot store in a text.
func clean(s string) string { return strings.ReplaceAll(s, "\x00", "") }

// join joins the texts that are not empty.
func join(between string, all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), between)
}
