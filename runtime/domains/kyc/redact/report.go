// Package redact examines incoming and outgoing texts.
//
// Input finds instructions aimed at an agent in a message or a document, in English, German, French
// and Spanish, also when letters are disguised. Redact replaces personal data in a reply:
//
//	if redact.Input(message).Found() {
//		return refusal
//	}
//	reply, report := redact.Redact(answer, redact.Record{Names: []string{"Ann Doe"}})
//
// The reply to "Ann Doe, born 12 March 1984, ann@doe.example" is then "[name], born [dob],
// [email]".
//
// It is one layer of several. It knows the forms of attacks and of personal data, and not their
// meaning: an instruction in new words passes Input, and a secret without a known form passes
// Redact. Other packages decide who may see a row and what a verb may change, as if this package did
// not exist.
//
// The requirement was that Input finds 0.80 of the attacks in a set of texts by an author who had
// not read it, and is right in 0.95 of its findings. Measured are 0.487 and 0.871: it misses about
// half of a stranger's attacks, and stops 72 of 9000 other texts. On texts by the author of its
// rules it finds far more, which says little; see testdata/own.txt.
//
// The rules of Input are in patterns.txt: classes of words, and the classes that occur together in a
// sentence with orders to an agent. A report never names the rule that matched. The words that
// distinguish a telephone number from an order number are in words.txt. Both are data, and a person
// who does not program can add to them.
//
// Each function takes time in proportion to the text, however hostile the text is, and may be called
// by several goroutines at once.
package redact

// A Kind is the kind of a finding.
type Kind string

// The kinds that Input finds.
const (
	Override     Kind = "override"     // sets the agent's instructions aside
	Exfiltration Kind = "exfiltration" // asks for data of others, or for secrets
	Prompt       Kind = "prompt"       // asks for the agent's own instructions
	Bypass       Kind = "bypass"       // circumvents a check
	Role         Kind = "role"         // gives the agent another identity
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

// A Report lists the findings by Start. It does not tell how they were found.
type Report struct {
	Findings []Finding
}

// Found reports whether there is any finding.
func (r Report) Found() bool { return len(r.Findings) > 0 }
