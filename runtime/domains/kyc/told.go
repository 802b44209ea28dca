package kyc

import (
	"fmt"
	"strings"
)

// A Said holds all the facts that a peer may be told, and all the material of the sentences to it:
// the name that the peer itself typed, and codes. It holds nothing of the person who is meant, so
// that no sentence can reveal anything about them.
type Said struct {
	Status   string
	Typed    string
	Likeness int
	Revised  bool // the draft held more than it may: it is told without the name
	Fields   [4]Field
}

// fieldNames are the protocol's names of the identifiers, in the order of Compared.Fields.
var fieldNames = [4]string{"phone", "email", "ssn_last4", "birth_date"}

// fieldWords are the names of the identifiers in sentences.
var fieldWords = [4]string{"phone number", "e-mail address", "last four digits of the number", "date of birth"}

// Matched names the identifiers that match, and Mismatched those that do not.
func (s *Said) Matched() []string    { return s.with(Matched, &fieldNames) }
func (s *Said) Mismatched() []string { return s.with(Mismatched, &fieldNames) }

func (s *Said) with(f Field, names *[4]string) (all []string) {
	for i, is := range s.Fields {
		if is == f {
			all = append(all, names[i])
		}
	}
	return all
}

func (s *Said) name() string {
	if s.Revised {
		return "the person you named"
	}
	return `"` + s.Typed + `"`
}

// Message returns the sentence for the peer.
func (s *Said) Message() string {
	switch s.Status {
	case statusNeeds:
		if !Named(s.Typed) {
			return s.name() + " is too little of a name, and nobody was looked for. Send the name in whole words, and with it again whatever else you sent."
		}
		return "A name alone verifies nobody. Send an identifier for " + s.name() + " as well: a phone number, an e-mail address, the last four digits of the number, or a date of birth."
	case statusChallenge:
		wrong := listed(s.with(Mismatched, &fieldWords), "or")
		if wrong == "" {
			return fmt.Sprintf("There is a record for %s; the names are at least %d%% alike. What you sent does not tell that person from others, or is less than this takes. Please check the name, and send another identifier: %s.", s.name(), s.Likeness, s.others())
		}
		return fmt.Sprintf("There is a record for %s; the names are at least %d%% alike. The %s that you sent %s not fit it. That may have three causes:\n- a slip in the %s\n- a record that is out of date\n- another person of a similar name\nPlease check the %s and send it again, or send another identifier: %s.", s.name(), s.Likeness, wrong, inNumber(wrong, "does", "do"), wrong, wrong, s.others())
	case statusHeld:
		return "Somebody here looks at this verification before it is answered. You need to send nothing."
	case statusRejected:
		return fmt.Sprintf("Nobody here fits %s and what you sent with it. Please check all of it before you ask again, or ask the person which name and which identifiers they gave us. If it should fit, write to our compliance, who can look into it. Of what you sent the name is kept, with the time and the purpose of your question, and no identifier; another verification begins with a new question. Names are compared in whole words: an initial stands for none.", s.name())
	case statusVerified:
		fits := listed(s.with(Matched, &fieldWords), "and")
		return fmt.Sprintf("%s is known here: the names are at least %d%% alike, and the %s %s.", s.name(), s.Likeness, fits, inNumber(fits, "fits", "fit"))
	case "KEYS_EXCHANGED":
		return "The number was sealed for your key. Nobody else can open it."
	case "COMPLETED":
		return "The link was made. It is good once, for an hour, and for the wallet that you named. As long as nobody used it, you may have another made in its place."
	case statusCancelled:
		return "You called this verification off."
	}
	return ""
}

// others lists the identifiers that were not sent.
func (s *Said) others() string {
	if rest := s.with(NotGiven, &fieldWords); len(rest) > 0 {
		return listed(rest, "or")
	}
	return "all were sent"
}

// RequiredToProceed says what would help.
func (s *Said) RequiredToProceed() (all []string) {
	if s.Status != statusChallenge && s.Status != statusNeeds {
		return nil
	}
	if s.Status == statusNeeds && !Named(s.Typed) {
		all = append(all, "the name in whole words")
	}
	for _, f := range s.with(Mismatched, &fieldWords) {
		all = append(all, "corrected "+f)
	}
	for _, f := range s.with(NotGiven, &fieldWords) {
		all = append(all, "another identifier: "+f)
	}
	return all
}

// Thoughts returns the steps of the decision. Their number is always the same.
func (s *Said) Thoughts() []string {
	step := func(i int) string {
		switch s.Fields[i] {
		case Matched:
			return "the " + fieldWords[i] + " " + inNumber(fieldWords[i], "fits", "fit")
		case Mismatched:
			return "the " + fieldWords[i] + inNumber(fieldWords[i], " does", " do") + " not fit"
		case Pending:
			return "of the " + fieldWords[i] + " nothing is told yet"
		}
		return "no " + fieldWords[i] + inNumber(fieldWords[i], " was", " were") + " sent"
	}
	reflected := "the answer was looked at before it left: it is safe"
	if s.Revised {
		reflected = "the answer was looked at before it left: it was revised"
	}
	came := map[string]string{statusNeeds: "a name alone verifies nobody", statusChallenge: "something does not fit: a challenge", statusRejected: "nobody fits: rejected", statusHeld: "somebody here looks at it first", statusCancelled: "it was called off"}[s.Status]
	if came == "" {
		came = "all fits: verified"
	}
	return []string{"looked for the name " + s.name(), step(0), step(1), step(2), step(3), came, reflected}
}

// inNumber returns the form of a verb that goes with what is listed.
func inNumber(what, one, more string) string {
	if strings.Contains(what, " and ") || strings.HasSuffix(what, fieldWords[2]) {
		return more
	}
	return one
}

func listed(all []string, word string) string {
	if n := len(all) - 1; n > 0 {
		return strings.Join(all[:n], ", ") + " " + word + " " + all[n]
	}
	return strings.Join(all, "")
}

// CandidateThoughts returns the steps for internal use, with the candidates that were compared.
func CandidateThoughts(name string, d *Decision) []string {
	all := []string{fmt.Sprintf("looked for %q in %s", name, counted(len(Spellings(name)), "spelling")), counted(len(d.Seen), "candidate") + " at least 60% alike"}
	for i, c := range d.Seen {
		if i == 10 {
			all = append(all, fmt.Sprintf("and %d more", len(d.Seen)-i))
			break
		}
		line := fmt.Sprintf("%q: %.1f%% alike by %s", c.Candidate.Names[0], 100*c.Likeness, c.By)
		for j, f := range c.Fields {
			if f != NotGiven {
				line += ", " + fieldNames[j] + " " + strings.ToLower(string(f))
			}
		}
		all = append(all, line)
	}
	return append(all, string(d.Outcome))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
