// Package channel connects the channels that people already use (WhatsApp, mail, programs): it
// finds out exactly who wrote a message, and sends answers back.
//
// An adapter proves who sent a message and hands it to a Door, which stores it once before the
// adapter acknowledges it. A worker handles it later: it looks the sender up among the verified
// identities and continues that person's conversation (runtime/conversation/dialog), or keeps the message in
// quarantine. An outgoing message is a delivery, a row with an ID of its own, which a worker
// hands to the adapter of its channel.
package channel

import (
	"context"
	"io"
	"time"

	"verbatim/runtime/frontends/channel/internal/proven"
)

// Types of incoming messages, from package proven.
type (
	Message  = proven.Message
	Facts    = proven.Facts
	File     = proven.File
	Identity = proven.Identity
	Kind     = proven.Kind
)

// A Door takes what adapters receive. It is safe for use by many goroutines.
type Door interface {
	// Receive stores messages, each once, and returns when they are safe. After an error
	// nothing may be acknowledged: the channel sends them all again.
	Receive(ctx context.Context, all ...Message) error
	// Note stores a channel's report on a message that was sent. Reports may come in any order and
	// any number of times.
	Note(ctx context.Context, all ...Status) error
}

// A State is the state of a message that was sent. A later state is never followed by an earlier
// one.
type State string

// The states that a channel reports.
const (
	Sent      State = "SENT" // the channel took it
	Delivered State = "DELIVERED"
	Read      State = "READ"
	Failed    State = "FAILED"
)

// A Status is a channel's report on a message that was sent.
type Status struct {
	Channel string
	ID      string // the channel's ID of the message
	Ours    string // the delivery's ID, if the channel returns it
	State   State
	At      time.Time
	Why     *Failure // of Failed
}

// A Failure says why a message could not be sent, or a file not be had. Its text is for
// operators and holds nothing that anybody wrote.
type Failure struct {
	Code string // of the channel: "131047"
	Text string
	// Permanent says that it is pointless to try again in the same way.
	Permanent bool
	// Closed says that the person has to write first, or that a template is needed.
	Closed bool
	// Unknown says that it may have been sent: the answer was lost.
	Unknown bool
}

// Error implements error.
func (f *Failure) Error() string { return f.Text }

// A Choice is something that a message offers to tap.
type Choice struct {
	ID    string // returned as Facts.Tapped
	Title string
}

// A Template is wording that a channel approved beforehand, for a person who has not written lately.
type Template struct {
	Name     string
	Language string // "en", "de"
	Values   []string
}

// An Out is a message on its way to one person.
type Out struct {
	ID      string // of the delivery, the same each time that it is tried
	Inbox   string // our address that it is sent from
	To      string // in the form of Facts.From, or the subject of an identity
	Text    string
	Choices []Choice
	// Template takes the place of text and choices.
	Template *Template
	// ReplyTo, References and Subject are those of the message that it answers.
	ReplyTo    string
	References []string
	Subject    string
}

// An Adapter speaks the protocol of one channel. It is safe for use by many goroutines.
type Adapter interface {
	// Channel is the name of the channel: "whatsapp".
	Channel() string
	// Send sends a message and returns the channel's ID for it. A *Failure says why it could not.
	Send(ctx context.Context, o Out) (id string, err error)
	// Fetch opens a file that came with a message without its bytes.
	Fetch(ctx context.Context, f File) (io.ReadCloser, error)
}
