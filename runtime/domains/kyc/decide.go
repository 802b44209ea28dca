package kyc

import (
	"cmp"
	"slices"

	"verbatim/verbs/values"
)

// A Field is the result of comparing one identifier. A peer is told no more about it.
type Field string

// The results of comparing an identifier.
const (
	NotGiven   Field = "NOT_GIVEN"
	Matched    Field = "MATCHED"
	Mismatched Field = "MISMATCHED"
	Pending    Field = "PENDING" // it is told when somebody of ours has looked
)

// An Outcome is the result of a verification.
type Outcome string

// The outcomes.
const (
	Perfect Outcome = "PERFECT_MATCH"
	Partial Outcome = "PARTIAL_MATCH"
	None    Outcome = "NO_MATCH"
)

// Identifiers are a person's identifiers besides the name, each in the form in which it is compared,
// and a telephone number in any; "" means none.
type Identifiers struct{ Phone, Email, SSNLast4, BirthDate string }

func (i *Identifiers) each() [4]string { return [4]string{i.Phone, i.Email, i.SSNLast4, i.BirthDate} }

// Given returns the number of identifiers.
func (i *Identifiers) Given() (n int) {
	for _, v := range i.each() {
		if v != "" {
			n++
		}
	}
	return n
}

// A Candidate is a person who may be meant.
type Candidate struct {
	ID          string
	Names       []string
	Identifiers Identifiers
}

// A Threshold is the least that a verification requires for a match.
type Threshold struct {
	Similarity  float64
	Identifiers int
	Held        bool
}

// Least is the least likeness of names, whatever a threshold says (H22), and Close that of names which
// differ by a slip. No more is told of a likeness than which of the two it reaches: percents would be a
// ladder by which a name is climbed letter by letter.
const (
	Least = 0.60
	Close = 0.90
)

// A Compared is a candidate with the results of the comparison.
type Compared struct {
	Candidate *Candidate
	Likeness  float64
	By        Rule
	Fields    [4]Field // phone, e-mail, last four of the number, day of birth
}

func (c *Compared) count(f Field) (n int) {
	for _, is := range c.Fields {
		if is == f {
			n++
		}
	}
	return n
}

// reached reports whether the telephone number or the address is the candidate's.
func (c *Compared) reached() bool { return c.Fields[0] == Matched || c.Fields[1] == Matched }

// A Decision is the result of a verification in full. Seen is internal; a peer may be told the
// rest.
type Decision struct {
	Outcome  Outcome
	Likeness int // of the names, in percent: Close, Least or 0
	Fields   [4]Field
	// Subject is the ID of the one person who is meant; "" if it is nobody or not clear who.
	Subject string
	// Owner is, where no name is alike, somebody who has the telephone number or the address.
	Owner string
	Seen  []Compared // the best first
}

// Decide decides which of the candidates is meant by a name and identifiers. A name alone verifies
// nobody. An identifier that does not match is a challenge, and so are two people who cannot be told
// apart. If more says that other people have such a name, only a telephone number or an address
// tells them apart: all people who have one of those are among the candidates.
func Decide(name string, sent Identifiers, candidates []Candidate, more bool, t Threshold) Decision {
	d := Decision{Outcome: None, Fields: compare(sent, Identifiers{})}
	for i := range candidates {
		c := Compared{Candidate: &candidates[i], Fields: compare(sent, candidates[i].Identifiers)}
		for _, known := range candidates[i].Names {
			if likeness, by := Alike(name, known); likeness > c.Likeness && whole(name, known) {
				c.Likeness, c.By = likeness, by
			}
		}
		if c.Likeness >= max(Least, t.Similarity) {
			d.Seen = append(d.Seen, c)
		} else if c.reached() && (d.Owner == "" || c.Candidate.ID < d.Owner) {
			d.Owner = c.Candidate.ID
		}
	}
	if len(d.Seen) == 0 {
		return d
	}
	slices.SortStableFunc(d.Seen, func(a, b Compared) int {
		return cmp.Or(cmp.Compare(b.count(Matched), a.count(Matched)), cmp.Compare(b.Likeness, a.Likeness), cmp.Compare(a.Candidate.ID, b.Candidate.ID))
	})
	best := &d.Seen[0]
	d.Outcome, d.Likeness, d.Fields = Partial, int(100*Least), best.Fields
	if best.Likeness >= Close {
		d.Likeness = int(100 * Close)
	}
	fits := func(c *Compared) bool {
		return c.count(Matched) >= max(1, t.Identifiers) && c.count(Mismatched) == 0 && (!more || c.reached())
	}
	if fits(best) && (len(d.Seen) == 1 || !fits(&d.Seen[1])) {
		d.Outcome, d.Subject = Perfect, best.Candidate.ID
	}
	return d
}

func compare(sent, known Identifiers) (all [4]Field) {
	is := known.each()
	for i, v := range sent.each() {
		switch {
		case v == "":
			all[i] = NotGiven
		case v == is[i], i == 0 && values.SamePhone(v, is[i]):
			all[i] = Matched
		default:
			all[i] = Mismatched
		}
	}
	return all
}

// The states of a verification.
const (
	statusNeeds     = "NEEDS_IDENTIFIERS"
	statusChallenge = "CHALLENGED"
	statusHeld      = "HELD"
	statusVerified  = "VERIFIED"
	statusRejected  = "REJECTED"
	statusCancelled = "CANCELLED"
)

// Status returns the state of the verification.
func (d *Decision) Status(t Threshold) string {
	switch {
	case d.Outcome == Perfect && t.Held:
		return statusHeld
	case d.Outcome == Perfect:
		return statusVerified
	case d.Outcome == Partial:
		return statusChallenge
	}
	return statusRejected
}
