package kyc

import (
	"errors"
	"strconv"
	"strings"

	"verbatim/runtime/domains/kyc/redact"
)

// The results of checking a draft.
const (
	safe    = "SAFE"
	revised = "REVISED"
)

var errUnsafe = errors.New("the answer would have held personal data, and was withheld")

// Reflect checks a text for a peer before it leaves: it must contain no stored telephone number,
// address or name (1), no whole social security number (2), no hint at one of them, such as a digit
// (3), and nothing that the output guard takes for personal data (4). A draft that fails is replaced
// by one without the typed name, which says so; if that fails too, Reflect returns an error, and the
// peer is told nothing.
func Reflect(s *Said, people []Candidate) (string, error) {
	if !holds(s, people) {
		return safe, nil
	}
	s.Revised = true
	if holds(s, people) {
		return "", errUnsafe
	}
	return revised, nil
}

// holds reports whether a draft holds more than the peer sent itself.
func holds(s *Said, people []Candidate) bool {
	if _, report := redact.Redact(s.Typed, redact.Record{}); report.Found() && !s.Revised { // by itself: the surrounding text must not excuse it
		return true
	}
	draft := s.Message() + "\n" + strings.Join(s.Thoughts(), "\n") + "\n" + strings.Join(s.RequiredToProceed(), "\n")
	if _, report := redact.Redact(draft, redact.Record{}); report.Found() {
		return true
	}
	rest := strings.ReplaceAll(draft, `"`+s.Typed+`"`, "")
	rest = strings.ReplaceAll(rest, strconv.Itoa(s.Likeness)+"%", "")
	if strings.ContainsAny(rest, "0123456789") {
		return true
	}
	record := redact.Record{}
	for i := range people {
		p := &people[i]
		record.Names = append(record.Names, p.Names...)
		record.Phones = append(record.Phones, p.Identifiers.Phone)
		record.Emails = append(record.Emails, p.Identifiers.Email)
		record.IDs = append(record.IDs, p.ID)
		record.Dates = append(record.Dates, p.Identifiers.BirthDate)
	}
	_, report := redact.Redact(rest, record)
	return report.Found()
}
