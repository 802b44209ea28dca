// Package proven holds messages whose sender a channel has proved. Only the adapters below
// runtime/frontends/channel can import it, so nothing else in the program can make such a message:
//
//	m := proven.Prove(proven.Facts{Channel: "whatsapp", Inbox: "106540352242922", ID: "wamid.HBg…", …})
package proven

import "time"

// An Identity is an address of a sender that a channel has proved.
type Identity struct {
	Kind    string // a kind of system identities: "email", "whatsapp_phone", "whatsapp_id"
	Subject string // normalised by the adapter: "ada@umza.example", "+4915155501990"
}

// A Kind is the kind of content of a message.
type Kind string

// The kinds.
const (
	Text     Kind = "text"
	Image    Kind = "image"
	Document Kind = "document"
	Audio    Kind = "audio"
	Video    Kind = "video"
	Sticker  Kind = "sticker"
	Location Kind = "location"
	Contacts Kind = "contacts"
	Reaction Kind = "reaction"
	Invite   Kind = "invite"  // to a meeting
	Unknown  Kind = "unknown" // the channel itself does not understand it
)

// A File came with a message. Its bytes are in Content, or have to be fetched by ID.
type File struct {
	Name    string `json:"name"`
	Type    string `json:"type"` // as stated by the sender; the true type is found out
	Size    int64  `json:"size,omitempty"`
	ID      string `json:"id,omitempty"`
	Sum     string `json:"sum,omitempty"` // SHA-256 in hex, "" if the channel states none
	Content []byte `json:"content,omitempty"`
}

// Facts are the facts about a message that an adapter found out.
type Facts struct {
	Channel string `json:"channel"`
	Inbox   string `json:"inbox"` // our address that it came to
	ID      string `json:"id"`    // unique within the inbox
	// Known are the proven identities of the sender, the surest first. It is empty if the channel
	// could prove nothing, as for a mail that no domain vouches for.
	Known []Identity `json:"known,omitempty"`
	// Left are identities that are the sender's no longer, as the channel reports, and Became what
	// they have in place of them; nil if that has to be verified anew.
	Left   []Identity `json:"left,omitempty"`
	Became *Identity  `json:"became,omitempty"`
	From   string     `json:"from"`           // the sender's address as it arrived, for answers
	Name   string     `json:"name,omitempty"` // the sender's name for themselves. It proves nothing.
	At     time.Time  `json:"at"`             // when it was sent, by the channel's clock
	Kind   Kind       `json:"kind"`
	Text   string     `json:"text,omitempty"` // the sender's new text, without quoted text
	// Quoted is text of others, below or between the sender's own.
	Quoted string `json:"quoted,omitempty"`
	// Unsure says that it is not certain where Text ends and Quoted begins, or whether a reader
	// would see more of the message.
	Unsure bool `json:"unsure,omitempty"`
	// Tapped is the ID of the choice whose button was tapped, "" if none was.
	Tapped string `json:"tapped,omitempty"`
	// Automatic says that a machine sent it: an out-of-office reply, a bounce, a list.
	Automatic bool `json:"automatic,omitempty"`
	// ReplyTo is the channel's ID of the message that it answers.
	ReplyTo string `json:"reply_to,omitempty"`
	// Thread is the conversation within the channel: the first message of a chain of mails. It is ""
	// if the channel has one conversation with each person.
	Thread string `json:"thread,omitempty"`
	// References are the messages before it in a chain of mails, oldest first.
	References []string `json:"references,omitempty"`
	Subject    string   `json:"subject,omitempty"` // of a mail
	Others     []string `json:"others,omitempty"`  // other recipients
	Files      []File   `json:"files,omitempty"`
	// TooMany says that files were left out, because there were too many or they were too large.
	TooMany bool `json:"too_many,omitempty"`
}

// A Message is one whose sender a channel has proved. The zero Message is none.
type Message struct{ facts Facts }

// Prove makes a message. Only an adapter that has proved the sender calls it.
func Prove(f Facts) Message { return Message{f} }

// Facts returns the facts about the message.
func (m Message) Facts() Facts { return m.facts }
