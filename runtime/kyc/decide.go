package kyc

import (
	"cmp"
	"math"
	"slices"
)

// A Field says what came of comparing one identifier. A peer is told no more of it.
type Field string

// What comes of comparing an identifier.
const (
	NotGiven   Field = "NOT_GIVEN"
	Matched    Field = "MATCHED"
	Mismatched Field = "MISMATCHED"
)

// An Outcome is the result of a verification.
type Outcome string

// The outcomes.
const (
	Perfect Outcome = "PERFECT_MATCH"
	Partial Outcome = "PARTIAL_MATCH"
	None    Outcome = "NO_MATCH"
)

// Identifiers are what somebody is known by besides a name, each as it is compared; "" is
// none.
type Identifiers struct{ Phone, Email, SSNLast4, BirthDate string }

func (i *Identifiers) each() [4]string { return [4]string{i.Phone, i.Email, i.SSNLast4, i.BirthDate} }

// Given is how many there are.
func (i *Identifiers) Given() (n int) {
	for _, v := range i.each() {
		if v != "" {
			n++
		}
	}
	return n
}

// A Candidate is somebody who may be meant.
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

// Least is how alike a name has to be at least, whatever a threshold says (H22).
const Least = 0.60

// A Compared is a candidate, and how they compare with what was sent.
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

// A Decision is the result of a verification in full. Seen is internal; a peer may be told the
// rest.
type Decision struct {
	Outcome  Outcome
	Likeness int // of the names, in percent
	Fields   [4]Field
	// Subject is the ID of the one person who is meant; "" where it is nobody, or nobody
	// knows which.
	Subject string
	Seen    []Compared // the best first
}

// Decide says who is meant by a name and identifiers, of those who may be. A name alone
// verifies nobody; what is sent and does not fit is a challenge, and so are two people whom
// it does not tell apart. Where there are more of such a name than the candidates, only a
// telephone or an address tells somebody apart: all who have one are among them.
func Decide(name string, sent Identifiers, candidates []Candidate, more bool, t Threshold) Decision {
	d := Decision{Outcome: None, Fields: compare(sent, Identifiers{})}
	for i := range candidates {
		c := Compared{Candidate: &candidates[i], Fields: compare(sent, candidates[i].Identifiers)}
		for _, known := range candidates[i].Names {
			if likeness, by := Alike(name, known); likeness > c.Likeness || c.By == "" {
				c.Likeness, c.By = likeness, by
			}
		}
		if c.Likeness >= max(Least, t.Similarity) {
			d.Seen = append(d.Seen, c)
		}
	}
	if len(d.Seen) == 0 {
		return d
	}
	slices.SortStableFunc(d.Seen, func(a, b Compared) int {
		return cmp.Or(cmp.Compare(b.count(Matched), a.count(Matched)), cmp.Compare(b.Likeness, a.Likeness), cmp.Compare(a.Candidate.ID, b.Candidate.ID))
	})
	best := &d.Seen[0]
	d.Outcome, d.Likeness, d.Fields = Partial, int(math.Round(100*best.Likeness)), best.Fields
	fits := func(c *Compared) bool {
		return c.count(Matched) >= max(1, t.Identifiers) && c.count(Mismatched) == 0 && (!more || c.Fields[0] == Matched || c.Fields[1] == Matched)
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
		case v == is[i]:
			all[i] = Matched
		default:
			all[i] = Mismatched
		}
	}
	return all
}

// The states that a verification may come to.
const (
	statusNeeds     = "NEEDS_IDENTIFIERS"
	statusChallenge = "CHALLENGED"
	statusHeld      = "HELD"
	statusVerified  = "VERIFIED"
	statusRejected  = "REJECTED"
)

// Status is what a verification comes to.
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
