package contact

import (
	"errors"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// Mail returns a bare address, without a name, in the form of identities: in lower case, with its
// domain in ASCII, and quoted only if necessary. Letters that merely look alike stay different, and
// addresses that other programs may read differently are refused. A tag ("ada+bills@") is part of
// the address.
func Mail(address string) (string, error) {
	bare, _ := Uncommented(address, false)
	bare = strings.TrimSuffix(strings.TrimSpace(bare), ".") // the root of the DNS
	a, err := mail.ParseAddress("<" + bare + ">")
	if err != nil || len(address) > 320 {
		return "", errors.New("the address is malformed")
	}
	at := strings.LastIndexByte(a.Address, '@')
	domain, err := Domain(a.Address[at+1:])
	if err != nil {
		return "", err
	}
	local := norm.NFC.String(a.Address[:at])
	if strings.ContainsFunc(local, unicode.IsControl) || ascii(local) > ascii(a.Address[:at]) {
		return "", errors.New("the address is malformed")
	}
	if folded := strings.ToLower(local); ascii(folded) == ascii(local) { // the sign of Kelvin is no k
		return Spelled(folded + "@" + domain), nil
	}
	return "", errors.New("the address has a letter that stands for another")
}

// ascii returns the number of bytes of a text that are ASCII.
func ascii(s string) (n int) {
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			n++
		}
	}
	return n
}

// Spelled quotes an address if necessary.
func Spelled(address string) string {
	return strings.Trim((&mail.Address{Address: address}).String(), "<>")
}

// Domain returns a domain in the form of the DNS.
func Domain(domain string) (string, error) {
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(domain, "."))
	if err != nil || len(ascii) > 253 || strings.Contains("."+ascii+".", "..") {
		return "", errors.New("the domain is malformed")
	}
	return strings.ToLower(ascii), nil
}

// DomainOf returns the domain of an address, or of a text that is a domain.
func DomainOf(address string) (string, error) {
	return Domain(address[strings.LastIndexByte(address, '@')+1:])
}

// Uncommented removes comments and, with unquoted, the insides of quoted strings. It fails if either
// does not end.
func Uncommented(s string, unquoted bool) (string, bool) {
	var b strings.Builder
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && (quoted || depth > 0):
			if i++; quoted && !unquoted && i < len(s) {
				b.WriteString(s[i-1 : i+1])
			}
		case c == '"' && depth == 0:
			quoted = !quoted
			b.WriteByte(c)
		case quoted:
			if !unquoted {
				b.WriteByte(c)
			}
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				return "", false
			}
			if unquoted {
				b.WriteByte(' ')
			}
		case depth == 0:
			b.WriteByte(c)
		}
	}
	return b.String(), depth == 0 && !quoted
}
