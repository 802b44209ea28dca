package mail

import (
	"errors"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// Normalise writes a bare address, without a name, as identities have it: in lower case, its
// domain in ASCII, and its quotes only where they are needed. Letters that merely look alike
// stay different, and addresses that other programs may take for another are refused. A tag
// ("ada+bills@") is part of the address.
func Normalise(address string) (string, error) {
	bare, _ := uncommented(address, false)
	bare = strings.TrimSuffix(strings.TrimSpace(bare), ".") // the root of the DNS
	a, err := mail.ParseAddress("<" + bare + ">")
	if err != nil || len(address) > 320 {
		return "", errors.New("the address is malformed")
	}
	at := strings.LastIndexByte(a.Address, '@')
	domain, err := normaliseDomain(a.Address[at+1:])
	if err != nil {
		return "", err
	}
	local := norm.NFC.String(a.Address[:at])
	if strings.ContainsFunc(local, unicode.IsControl) || ascii(local) > ascii(a.Address[:at]) {
		return "", errors.New("the address is malformed")
	}
	if folded := strings.ToLower(local); ascii(folded) == ascii(local) { // the sign of Kelvin is no k
		return spelled(folded + "@" + domain), nil
	}
	return "", errors.New("the address has a letter that stands for another")
}

// ascii is how many bytes of a text are ASCII.
func ascii(s string) (n int) {
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			n++
		}
	}
	return n
}

// spelled quotes an address where it has to be.
func spelled(address string) string {
	return strings.Trim((&mail.Address{Address: address}).String(), "<>")
}

// normaliseDomain writes a domain as the DNS has it.
func normaliseDomain(domain string) (string, error) {
	ascii, err := idna.Lookup.ToASCII(strings.TrimSuffix(domain, "."))
	if err != nil || len(ascii) > 253 || strings.Contains("."+ascii+".", "..") {
		return "", errors.New("the domain is malformed")
	}
	return strings.ToLower(ascii), nil
}

// domainOf is the domain of an address, or of what is only one.
func domainOf(address string) (string, error) {
	return normaliseDomain(address[strings.LastIndexByte(address, '@')+1:])
}
