package mail

import (
	"bytes"
	"errors"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"verbatim/runtime/internal/mimepart"
	"verbatim/runtime/state/contact"
)

// What a header holds at most. More is read no further, and proves nothing: comparing each
// name in a signature with each field takes time.
const (
	mostFields = 500
	mostHeader = 256 << 10
	mostField  = 8 << 10 // of a signature
)

// A field is one of a header: its name in lower case, its value without line breaks, and the
// lines that it came in.
type field struct {
	name, value string
	raw         []byte
}

// A head is the header of a mail, as DKIM takes it apart, so that both see the same fields.
type head struct {
	fields []field
	count  map[string]int
	// odd says that programs may differ in where its fields begin and end.
	odd bool
}

// readHead takes a mail apart.
func readHead(raw []byte) (*head, []byte) {
	h := &head{count: map[string]int{}}
	var value []byte // of the last field
	from := 0        // where it begins
	ends := func(at int) {
		if n := len(h.fields); n > 0 {
			h.fields[n-1].value, h.fields[n-1].raw = string(value), raw[from:at]
			h.count[h.fields[n-1].name]++
		}
	}
	for rest, size := raw, 0; ; {
		at := len(raw) - len(rest)
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			ends(at)
			return h, after
		}
		rest, size = after, size+len(line)
		h.odd = h.odd || bytes.ContainsAny(line, "\r\x00")
		switch {
		case size > mostHeader || len(h.fields) > mostFields:
			h.odd = true
		case line[0] == ' ' || line[0] == '\t':
			value = append(value, line...)
			h.odd = h.odd || len(h.fields) == 0
		default:
			ends(at)
			from = at
			name, first, ok := bytes.Cut(line, []byte(":"))
			trimmed := strings.ToLower(string(bytes.TrimSpace(name)))
			h.odd = h.odd || !ok || trimmed == "" || len(trimmed) != len(name)
			h.fields = append(h.fields, field{name: trimmed})
			value = append(value[:0], first...)
		}
	}
}

// value returns the value of the topmost field with a name.
func (h *head) value(name string) string {
	for _, f := range h.fields {
		if f.name == name {
			return strings.TrimSpace(f.value)
		}
	}
	return ""
}

// last returns a field with a name, counted from the bottom: the first is 0.
func (h *head) last(name string, n int) *field {
	for i := len(h.fields) - 1; i >= 0; i-- {
		if h.fields[i].name == name {
			if n == 0 {
				return &h.fields[i]
			}
			n--
		}
	}
	return nil
}

// part returns the mail as a part that can be taken apart.
func (h *head) part(body []byte) *mimepart.Part {
	var all []mimepart.Field
	for _, f := range h.fields {
		all = append(all, mimepart.Field{Name: f.name, Value: f.value})
	}
	return mimepart.New(all, bytes.NewReader(body))
}

// author returns the normalised address of a mail with one author.
func (h *head) author() (string, error) {
	from := h.value("from")
	a, err := addresses.Parse(mimepart.MissingTranslations(from))
	if err != nil {
		return "", err
	}
	if bare, _ := contact.Uncommented(from, true); strings.ContainsAny(bare, ":;") {
		return "", errors.New("a group of addresses")
	}
	return contact.Mail(contact.Spelled(a.Address))
}

// addresses parses addresses; names in unknown encodings stay as they are.
var addresses = mail.AddressParser{WordDecoder: mimepart.Words}

// answerTo returns the address for answers, and the sender's name for themselves.
func (h *head) answerTo() (address, name string) {
	all, _ := addresses.ParseList(mimepart.MissingTranslations(h.value("from")))
	if len(all) == 0 {
		return "", ""
	}
	return contact.Spelled(all[0].Address), oneLine(all[0].Name, 100)
}

// recipients returns the addresses that a mail names as its recipients.
func (h *head) recipients() (named []string) {
	for _, f := range h.fields {
		if f.name != "to" && f.name != "cc" {
			continue
		}
		all, _ := addresses.ParseList(f.value)
		for _, a := range all {
			if n, err := contact.Mail(contact.Spelled(a.Address)); err == nil {
				named = append(named, n)
			}
		}
	}
	return named
}

// addressed reports whether an address of ours is among the recipients of a mail.
func (h *head) addressed(ours string) bool { return slices.Contains(h.recipients(), ours) }

// others returns the recipients of a mail besides one of our addresses.
func (h *head) others(ours string) (others []string) {
	seen := map[string]bool{ours: true}
	for _, n := range h.recipients() {
		if !seen[n] && len(others) < mostOthers {
			seen[n] = true
			others = append(others, n)
		}
	}
	return others
}

var oneID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<[!-;=?-~]{1,120}@[!-;=?-~]{1,120}>`) })

// messageID returns the first ID in the value of a field, "" if there is none or it is too long.
func messageID(value string) string { return oneID().FindString(value) }

// messageIDs returns the IDs of a chain, oldest first. Of a long chain it keeps the first and the
// latest.
func messageIDs(value string) []string {
	ids := oneID().FindAllString(value, -1)
	if len(ids) > mostReferences {
		ids = append(ids[:1], ids[len(ids)-mostReferences+1:]...)
	}
	return ids
}

// oneLine makes one line of a text, of so many letters at most.
func oneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most])
	}
	return s
}
