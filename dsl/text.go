package dsl

import (
	"strings"
	"unicode/utf8"
)

// str reads a quoted string. A string ends on the line it began on, so that one without its
// closing quote cannot swallow the rest of the text.
func (p *parser) str(run bool) Value {
	start := p.pos
	i := start + 1
	for i < len(p.text) && class[p.text[i]]&inString != 0 {
		i++
	}
	if i < len(p.text) && p.text[i] == '"' {
		return p.endString(start, i, p.text[start+1:i], run)
	}
	return p.escapedString(start, i, run)
}

// escapedString continues where something other than plain text occurs.
func (p *parser) escapedString(start, i int, run bool) Value {
	p.buf = append(p.buf[:0], p.text[start+1:i]...)
	for i < len(p.text) {
		b := p.text[i]
		switch {
		case class[b]&inString != 0:
			from := i
			for i < len(p.text) && class[p.text[i]]&inString != 0 {
				i++
			}
			p.buf = append(p.buf, p.text[from:i]...)
		case b == '"':
			return p.endString(start, i, p.keepText(), run)
		case b == '\n' || b == '\r':
			return p.openString(start, i)
		case b == '\\':
			i += p.escape(i)
		default:
			size := p.control(i)
			p.buf = append(p.buf, p.text[i:i+size]...)
			i += size
		}
	}
	return p.openString(start, i)
}

func (p *parser) endString(start, quote int, text string, run bool) Value {
	end := quote + 1
	if end < len(p.text) && (class[p.text[end]]&isWord != 0 || p.text[end] == '"') {
		if p.text[end] >= utf8.RuneSelf {
			if r, _ := utf8.DecodeRuneInString(p.text[end:]); unusualSpace(r) {
				return p.done(String, start, end, text)
			}
		}
		return p.quoteTouchesWord(start, end, text, run)
	}
	return p.done(String, start, end, text)
}

// keepText copies the decoded text to memory that stays valid. The texts share a few large
// buffers, in which nothing that was handed out is ever overwritten.
func (p *parser) keepText() string {
	if p.decoded.Cap()-p.decoded.Len() < len(p.buf) {
		p.decoded = strings.Builder{}
		p.decoded.Grow(max(len(p.buf), min(4096, len(p.text)-p.pos)))
	}
	from := p.decoded.Len()
	p.decoded.Write(p.buf)
	return p.decoded.String()[from:]
}

// escape decodes the escape at i into the buffer and returns its length.
func (p *parser) escape(i int) int {
	rest := p.text[i:]
	if len(rest) < 2 {
		return 1
	}
	switch rest[1] {
	case '"', '\\':
		p.buf = append(p.buf, rest[1])
		return 2
	case 'n':
		p.buf = append(p.buf, '\n')
		return 2
	case 'r':
		p.buf = append(p.buf, '\r')
		return 2
	case 't':
		p.buf = append(p.buf, '\t')
		return 2
	case '\n', '\r':
		return 1
	case 'u':
		if r, size := unicodeEscape(rest); size > 0 {
			if utf8.ValidRune(r) {
				p.buf = utf8.AppendRune(p.buf, r)
				return size
			}
			// Programs that use UTF-16 write one character as two.
			if low, more := unicodeEscape(rest[size:]); size == 6 && more == 6 &&
				r >= 0xd800 && r < 0xdc00 && low >= 0xdc00 && low < 0xe000 {
				p.buf = utf8.AppendRune(p.buf, (r-0xd800)<<10|(low-0xdc00)+0x10000)
				return size + more
			}
			p.tell(func() Diagnostic { return noCharacter(p.place(i, i+size), rest[:size]) })
			return size
		}
	}
	_, size := utf8.DecodeRuneInString(rest[1:])
	p.tell(func() Diagnostic { return invalidEscape(p.place(i, i+1+size), rest[:1+size]) })
	p.buf = append(p.buf, rest[1:1+size]...)
	return 1 + size
}

// unicodeEscape reads \uXXXX or \u{X…}; the size is 0 when it is neither.
func unicodeEscape(s string) (r rune, size int) {
	if len(s) < 3 || s[0] != '\\' || s[1] != 'u' {
		return 0, 0
	}
	from, to := 2, 6
	if s[2] == '{' {
		from = 3
		if to = strings.IndexByte(s[:min(len(s), 10)], '}'); to <= from {
			return 0, 0
		}
		size = to + 1
	} else {
		size = to
	}
	if to > len(s) {
		return 0, 0
	}
	for _, c := range []byte(s[from:to]) {
		switch {
		case class[c]&isDigit != 0:
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, 0
		}
	}
	return r, size
}

// control reports the control characters at i and returns how many bytes they have. C2 is also
// the first byte of harmless characters, which are skipped.
func (p *parser) control(i int) int {
	end := i
	for end < len(p.text) {
		b := p.text[end]
		switch {
		case b == 0xc2 && end+1 < len(p.text) && p.text[end+1] >= 0x80 && p.text[end+1] < 0xa0:
			end += 2
			continue
		case b < ' ' && b != '\n' && b != '\r' || b == 0x7f:
			end++
			continue
		}
		break
	}
	if end == i {
		_, size := utf8.DecodeRuneInString(p.text[i:])
		return size
	}
	p.tell(func() Diagnostic { return controlCharacter(p.place(i, end), p.text[i:end], p.inQuotes(i)) })
	return end - i
}

// inQuotes reports whether offset i is inside a string: one is being read and nothing has been
// understood since its quote.
func (p *parser) inQuotes(i int) bool {
	return p.pos < i && p.text[p.pos] == '"'
}

// oddity handles a character that is neither white space nor part of anything. It returns false
// if a word may begin there.
func (p *parser) oddity() bool {
	if b := p.text[p.pos]; b < utf8.RuneSelf {
		p.pos += p.control(p.pos)
		return true
	}
	end := p.pos
	for end < len(p.text) {
		r, size := utf8.DecodeRuneInString(p.text[end:])
		if !unusualSpace(r) {
			break
		}
		end += size
	}
	if end == p.pos {
		return false
	}
	start := p.pos
	p.tell(func() Diagnostic { return oddSpace(p.place(start, end), p.text[start:end]) })
	p.pos = end
	return true
}

// invalidUTF8 reports each run of bytes that is not UTF-8 and marks the calls that contain them
// as broken.
func (p *parser) invalidUTF8() {
	call := 0
	for i := 0; i < len(p.text); {
		if p.text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(p.text[i:])
		if r != utf8.RuneError || size > 1 {
			i += size
			continue
		}
		start := i
		for i < len(p.text) {
			if r, size := utf8.DecodeRuneInString(p.text[i:]); r != utf8.RuneError || size > 1 {
				break
			}
			i++
		}
		p.tell(func() Diagnostic { return invalidUTF8(p.place(start, i), p.text[start:i]) })
		for call < len(p.calls) && int(p.calls[call].Range.End) <= start {
			call++
		}
		if call < len(p.calls) && int(p.calls[call].Range.Start) < i {
			p.calls[call].Broken = true
		}
	}
}
