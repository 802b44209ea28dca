// Package guard looks at texts on their way in and on their way out.
//
// Input finds instructions aimed at an agent in what a person or a document says,
// in English, German, French and Spanish, also when letters are disguised. Redact
// replaces personal data in what is about to be said:
//
//	if guard.Input(message).Found() {
//		return refusal
//	}
//	reply, report := guard.Redact(answer, guard.Record{Names: []string{"Ann Doe"}})
//
// The answer "Ann Doe, born 12 March 1984, ann@doe.example" is then told as
// "[name], born [dob], [email]".
//
// A guard is one layer of several. It knows how attacks and personal data look, and
// not what they mean: whoever words an instruction in a new way passes Input, and a
// secret that has no known form passes Redact. Who may see a row and what a verb may
// change is decided elsewhere, as if this package did not exist.
//
// Input was promised to find 0.80 of the attacks in a set of texts by somebody who had not
// read it, and to be right in 0.95 of what it finds. Measured are 0.487 and 0.871: it misses
// about half of what a stranger writes, and stops 72 of 9000 other texts. On texts by
// whoever wrote its rules it finds far more, which says little; see testdata/own.txt.
//
// What Input looks for is in patterns.txt: classes of words, and which of them stand
// together in a sentence when an agent is given orders. A report never says which rule a
// text met. The words that tell a telephone number from an order number are in
// words.txt. Both are data, and a person who does not program can add to them.
//
// Each function takes time in proportion to the text, however hostile that is, and
// may be called by several goroutines at once.
package guard

// A Kind says what was found.
type Kind string

// The kinds that Input finds.
const (
	Override     Kind = "override"     // sets aside what the agent was told
	Exfiltration Kind = "exfiltration" // asks for data of others, or for secrets
	Prompt       Kind = "prompt"       // asks for the agent's own instructions
	Bypass       Kind = "bypass"       // gets round a check
	Role         Kind = "role"         // makes the agent somebody else
	Tool         Kind = "tool"         // has a tool called
	Markup       Kind = "markup"       // looks like the frame around what models read
)

// The kinds that Redact finds. Name and ID are values of a record; Date is a date
// of the record, and DOB a date that the text calls a date of birth.
const (
	SSN   Kind = "ssn"
	Phone Kind = "phone"
	Email Kind = "email"
	IBAN  Kind = "iban"
	Card  Kind = "card"
	DOB   Kind = "dob"
	Tax   Kind = "tax"
	Name  Kind = "name"
	ID    Kind = "id"
	Date  Kind = "date"
)

var redacted = []Kind{SSN, Phone, Email, IBAN, Card, DOB, Tax, Name, ID, Date}

// A Finding is a part of a text, from byte Start to before byte End. Both stand
// between two characters.
type Finding struct {
	Kind       Kind
	Start, End int
}

// A Report lists what was found, by Start. It says nothing of how it was found.
type Report struct {
	Findings []Finding
}

// Found reports whether there is any finding.
func (r Report) Found() bool { return len(r.Findings) > 0 }
