package values

import (
	"net/mail"
	"strings"
	"unicode/utf8"
)

// Email reads one bare address. Its domain is kept in lower case; what stands before the @ is left as
// it is, since only the domain's own server knows whether capitals matter there.
func Email(text string) (string, error) {
	at := strings.LastIndexByte(text, '@')
	if at < 0 {
		return text, fault("it has no @")
	}
	local, domain := text[:at], text[at+1:]
	// Ordinary addresses are decided here, without allocating; net/mail decides the rest.
	if len(text) > 254 || !isDotted(local, "!#$%&'*+-/=?^_`{|}~") || !isDotted(domain, "-") {
		if len(text) > 320 || strings.ContainsAny(text, "<>()\r\n\t, ") || !utf8.ValidString(text) {
			return text, fault("it is not one address by itself")
		}
		a, err := mail.ParseAddress(text)
		if err != nil || a.Name != "" {
			return text, fault("it is not one address by itself")
		}
	}
	if lower := strings.ToLower(domain); lower != domain {
		return local + "@" + lower, nil
	}
	return text, nil
}

func isDotted(s, more string) bool {
	if s == "" || s[0] == '.' || s[len(s)-1] == '.' || strings.Contains(s, "..") {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || strings.IndexByte(more, c) >= 0) {
			return false
		}
	}
	return true
}
