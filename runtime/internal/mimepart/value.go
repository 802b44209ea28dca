package mimepart

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/mail"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/emersion/go-message/charset"
)

// A value is that of a field with parameters, such as Content-Type.
type value struct {
	main   string // in lower case
	params map[string]string
}

// parse reads the value of a field with parameters, with comments. ok says that it is as the
// standards have it, so that every program reads the same; otherwise main is a guess.
func parse(text string, slash bool) (v value, ok bool) {
	v.params = map[string]string{}
	s := &scanner{rest: strings.TrimLeft(text, " \t")}
	if !slash {
		s.skip()
	}
	v.main = s.token()
	if slash { // programs differ where a comment stands before, in or right after a type
		if s.bad = !s.take('/'); !s.bad {
			sub := s.token()
			v.main += "/" + sub
			rest := strings.TrimLeft(s.rest, " \t")
			s.bad = sub == "" || rest != "" && rest[0] != ';'
		}
	}
	if v.main == "" || s.bad {
		s.bad = true
		guess, _, _ := strings.Cut(text, ";")
		v.main = strings.TrimSpace(guess)
	}
	if lower := strings.ToLower(v.main); lower != v.main {
		s.capitals = slash
		v.main = lower
	}
	type piece struct {
		text    string
		encoded bool
	}
	pieces := map[string]map[int]piece{}
	for s.skip(); !s.bad && s.rest != ""; s.skip() {
		s.bad = !s.take(';')
		if s.skip(); s.rest == "" {
			break // programs write a last semicolon
		}
		name := strings.ToLower(s.token())
		s.skip()
		s.bad = s.bad || name == "" || !s.take('=')
		s.skip()
		text, quoted := s.value()
		if s.bad {
			break
		}
		// RFC 2231: name*0, name*1* and the like are pieces, and a star at the end says that a
		// piece is encoded.
		base, number := name, -1
		encoded := strings.HasSuffix(base, "*")
		base = strings.TrimSuffix(base, "*")
		if at := strings.LastIndexByte(base, '*'); at >= 0 {
			n, err := strconv.Atoi(base[at+1:])
			if err != nil || n < 0 || strconv.Itoa(n) != base[at+1:] {
				s.bad = true
				break
			}
			base, number = base[:at], n
		}
		if encoded && number < 0 {
			number = 0
		}
		if number < 0 {
			if _, twice := v.params[base]; twice {
				s.bad = true
				break
			}
			if base == "filename" || base == "name" { // programs encode these as if they were words
				text = Text(text)
			}
			v.params[base] = text
			continue
		}
		if pieces[base] == nil {
			pieces[base] = map[int]piece{}
		}
		if _, twice := pieces[base][number]; twice || encoded && quoted || base == "" {
			s.bad = true
			break
		}
		pieces[base][number] = piece{text, encoded}
	}
	for base, all := range pieces {
		var joined []byte
		set := ""
		for i := range len(all) {
			p, there := all[i]
			if !there {
				s.bad = true // a piece is missing
				break
			}
			text := p.text
			if p.encoded && i == 0 {
				parts := strings.SplitN(text, "'", 3)
				if len(parts) != 3 {
					s.bad = true
					break
				}
				set, text = parts[0], parts[2]
			}
			if p.encoded {
				plain, err := url.PathUnescape(text)
				if err != nil {
					s.bad = true
				}
				text = plain
			}
			joined = append(joined, text...)
		}
		text, ok := inCharset(joined, set)
		s.bad = s.bad || !ok
		if _, twice := v.params[base]; twice && base != "filename" && base != "name" { // programs write both, for older ones
			s.bad = true
		}
		v.params[base] = text
	}
	return v, !s.bad && !(s.capitals && s.commented) // go-message takes such a type for an unknown one
}

// inCharset makes UTF-8 of a text in a character set.
func inCharset(text []byte, set string) (string, bool) {
	if set == "" || strings.EqualFold(set, "utf-8") || strings.EqualFold(set, "us-ascii") {
		return strings.ToValidUTF8(string(text), "\uFFFD"), utf8.Valid(text)
	}
	r, err := charset.Reader(strings.ToLower(set), bytes.NewReader(text))
	if err != nil {
		return strings.ToValidUTF8(string(text), "\uFFFD"), false
	}
	plain, err := io.ReadAll(r)
	return strings.ToValidUTF8(string(plain), "\uFFFD"), err == nil
}

// A scanner reads a value from its beginning. It is bad after something that the standards do not
// have.
type scanner struct {
	rest                string
	bad                 bool
	capitals, commented bool
}

// skip skips white space and comments.
func (s *scanner) skip() {
	for s.rest != "" {
		switch c := s.rest[0]; {
		case c == ' ' || c == '\t':
			s.rest = s.rest[1:]
		case c == '(':
			n := comment(s.rest)
			if n < 0 {
				s.bad, s.rest = true, ""
				return
			}
			s.rest, s.commented = s.rest[n:], true
		default:
			return
		}
	}
}

// comment returns the length of the comment that a text begins with, -1 if it does not end.
func comment(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

func (s *scanner) take(c byte) bool {
	if s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// token reads a token (RFC 2045, 5.1), "" if there is none.
func (s *scanner) token() string {
	n := 0
	for n < len(s.rest) && s.rest[n] > ' ' && s.rest[n] < 0x7f && !strings.ContainsRune(`()<>@,;:\"/[]?=`, rune(s.rest[n])) {
		n++
	}
	token := s.rest[:n]
	s.rest = s.rest[n:]
	return token
}

// value reads a token or a quoted string.
func (s *scanner) value() (text string, quoted bool) {
	if !s.take('"') {
		text = s.token()
		s.bad = s.bad || text == ""
		return text, false
	}
	var b strings.Builder
	for s.rest != "" {
		c := s.rest[0]
		s.rest = s.rest[1:]
		switch {
		case c == '"':
			s.bad = s.bad || !utf8.ValidString(b.String())
			return b.String(), true
		case c == '\\' && s.rest != "":
			c = s.rest[0]
			s.rest = s.rest[1:]
		case c < ' ' && c != '\t' || c == 0x7f:
			s.bad = true
		}
		b.WriteByte(c)
	}
	s.bad = true
	return b.String(), true
}

// bare reads a value that is one token, such as that of Content-Transfer-Encoding; "" if it is empty.
func bare(text string) (string, bool) {
	s := &scanner{rest: text}
	s.skip()
	token := s.token()
	s.skip()
	return strings.ToLower(token), !s.bad && s.rest == "" && (token != "" || text == "")
}

// Uncommented leaves comments out of a text that has no quotes. One that does not end stays.
func Uncommented(text string) string {
	var b strings.Builder
	for text != "" {
		n := 0
		if text[0] == '(' {
			n = comment(text)
		}
		if n <= 0 {
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		b.WriteByte(' ')
		text = text[n:]
	}
	return b.String()
}

// Words decodes encoded words, in every character set that is known.
var Words = &mime.WordDecoder{CharsetReader: charset.Reader}

var spoken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`=\?([^?*\s]+)\*[^?\s]*\?([bBqQ])\?`)
})

// Unspoken leaves the languages out of the encoded words of a text (RFC 2231, section 5): they
// change nothing, and decoders do not know them.
func MissingTranslations(text string) string {
	if !strings.Contains(text, "*") {
		return text
	}
	return spoken().ReplaceAllString(text, "=?$1?$2?")
}

// Text reads the value of a field that is text, with encoded words. One in an unknown character set
// stays as it is.
func Text(text string) string {
	if s, err := Words.DecodeHeader(MissingTranslations(text)); err == nil {
		return s
	}
	return text
}

// zones are the names of zones that a date may have (RFC 5322, 4.3), besides numbers.
var zones = map[string]string{"UT": "+0000", "GMT": "+0000", "UTC": "+0000", "EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500", "MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700"}

// Date reads the date of a mail. A zone that is a name and not one of the standard's is an error:
// what time it means is unknown.
func Date(text string) (time.Time, error) {
	words := strings.Fields(Uncommented(text))
	if len(words) == 0 {
		return time.Time{}, errors.New("the date cannot be read")
	}
	zone := strings.ToUpper(words[len(words)-1])
	switch number, known := zones[zone]; {
	case known:
		words[len(words)-1] = number
	case len(zone) == 1 && zone >= "A" && zone <= "Z" && zone != "J": // of soldiers: the standard takes them for no zone
		words[len(words)-1] = "+0000"
	case strings.Trim(zone, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "":
		return time.Time{}, errors.New("the zone of the date is unknown")
	}
	return mail.ParseDate(strings.Join(words, " "))
}
