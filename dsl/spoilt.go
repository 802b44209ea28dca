package dsl

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// This file handles malformed words: it reports the mistake, offers what was probably meant, and
// continues as if that had been written.

// kebab writes a name in lower case, with hyphens between its words: AddNote and ADD_NOTE become
// add-note and add_note.
func kebab(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if class[c]&isUpper != 0 {
			if i > 0 && class[s[i-1]]&(isLower|isDigit) != 0 {
				b.WriteByte('-')
			}
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

// badVerb is called where a verb was expected and there is none. It reports whether arguments may
// follow.
func (p *parser) badVerb(c *Call, paren bool) bool {
	start := p.pos
	if start >= len(p.text) {
		p.unclosed(start)
		return false
	}
	end := wordEnd(p.text, start)
	w := p.text[start:end]
	c.VerbRange = Range{int32(start), int32(end)}
	switch {
	case p.text[start] == '(':
		// Doubled parentheses: the inner ones hold the call.
		p.tell(func() Diagnostic { return missingVerb(p.place(start, start+1)) })
		v := p.nestedCall()
		if inner := v.Call(); inner != nil {
			p.nested--
			*c = *inner
		}
		if p.unwind {
			return false
		}
		p.skip()
		if p.pos >= len(p.text) || p.text[p.pos] != ')' && p.text[p.pos] != ':' {
			p.pop() // the parenthesis was one too many
			return false
		}
		outer := Call{}
		p.arguments(&outer, paren)
		c.Args = append(slices.Clip(c.Args), outer.Args...)
		return false
	case w != "" && !utf8.ValidString(w):
		p.errors++
		p.pos, p.lastEnd = end, end
		return true
	case beforeColon(w) != w && isVerbLike(beforeColon(w)) && class[w[min(len(w)-1, strings.IndexByte(w, ':')+1)]]&isLower != 0:
		// A key touches the verb.
		end = start + strings.IndexByte(w, ':')
		c.VerbRange.End = int32(end)
		c.Verb = kebab(w[:end-start])
		p.tell(func() Diagnostic { return missingSpace(p.place(start, end+1), int32(end)) })
	case isVerbLike(w):
		fixed := kebab(w)
		if isVerb(w) { // a quote, or an unusual space, follows it
			if p.touchesQuote(end) {
				p.tell(func() Diagnostic { return missingSpace(p.place(start, end+1), int32(end)) })
			}
		} else {
			p.tell(func() Diagnostic { return verbCase(p.place(start, end), w, fixed) })
		}
		c.Verb = fixed
	case isNameText(w, isLower|isUpper):
		domain := ""
		if n := len(p.calls); n > 0 {
			if dot := strings.LastIndexByte(p.calls[n-1].Verb, '.'); dot > 0 {
				domain = p.calls[n-1].Verb[:dot]
			}
		}
		p.tell(func() Diagnostic { return verbWithoutDomain(p.place(start, end), w, domain) })
	case w != "" && class[w[0]]&(isLower|isUpper) != 0:
		fixed := kebab(strings.TrimRight(w, ":,.!"))
		if !isVerb(fixed) {
			fixed = ""
		}
		p.tell(func() Diagnostic { return invalidVerb(p.place(start, end), w, fixed) })
		c.Verb = fixed
	default:
		p.tell(func() Diagnostic { return missingVerb(p.place(start, max(end, start+1))) })
		if b := p.text[start]; b != ':' && b != ')' && b != ']' && b != '}' {
			if ok, _ := p.lineCall(start); !ok {
				p.quietly(func() { p.value(true) })
			}
		}
		return true
	}
	p.pos, p.lastEnd = end, end
	return true
}

// parenthesisAfterVerb handles calls in the style of other languages, verb(key: value, …). The
// text between the parentheses is read for its values, but its own mistakes are consequences of
// this one.
func (p *parser) parenthesisAfterVerb(c *Call, paren bool) bool {
	at := p.pos
	p.tell(func() Diagnostic { return parenthesisAfterVerb(p.place(at, at+1), c.Verb) })
	if !p.push(')') {
		return false
	}
	p.pos++
	p.quietly(func() { p.arguments(c, true) })
	if paren && !p.unwind {
		args := c.Args
		p.arguments(c, true)
		c.Args = append(args[:len(args):len(args)], c.Args...)
	}
	return false
}

// badKey handles a malformed key. A key of a map may have been meant as it is, since any text can
// be one.
func (p *parser) badKey(ofMap bool) (key string, at Range, ok bool) {
	start := p.pos
	take := func(key string, to int) (string, Range, bool) {
		p.pos, p.lastEnd = to, to
		return key, Range{int32(start), int32(to)}, true
	}
	n := 0
	for start+1+n < len(p.text) && class[p.text[start+1+n]]&isName != 0 {
		n++
	}
	// A word may be very long, and may be abandoned after its first few bytes: it is not read to
	// its end before that is needed.
	w := p.word()
	end := start + len(w)
	if len(w) < n+1 {
		w = p.text[start : start+1+n]
		end = start + 1 + n
	}
	name := w[1:]
	head, rest := name[:n], name[n:]
	fixed := kebab(head)
	meant := fixed
	if ofMap || isKey(head) {
		meant = head
	}
	switch {
	case name == "":
		next := p.pastBlanks(end)
		to := next
		for to < len(p.text) && class[p.text[to]]&isName != 0 {
			to++
		}
		if key := p.text[next:to]; next > end && isKey(key) && (to == len(p.text) || class[p.text[to]]&isWord == 0) {
			p.tell(func() Diagnostic { return spaceInKey(p.place(start, to), Range{int32(end), int32(next)}, key) })
			return take(key, to)
		}
	case !isKey(fixed):
	case rest == "":
		if isKey(head) { // a quote, or an unusual space, follows it
			if p.touchesQuote(end) {
				p.tell(func() Diagnostic { return missingSpace(p.place(start, end+1), int32(end)) })
			}
		} else {
			p.tell(func() Diagnostic { return keyCase(p.place(start, end), head, FormatKey(meant)) })
		}
		return take(meant, end)
	case rest[0] == '=':
		to := start + 1 + n
		p.tell(func() Diagnostic { return equalsSign(p.place(to, to+1), meant) })
		take(meant, to)
		p.pos = to + 1
		return meant, Range{int32(start), int32(to)}, true
	case rest == ":":
		p.tell(func() Diagnostic { return colonAfterKey(p.place(start, end), FormatKey(meant)) })
		return take(meant, end)
	case rest[0] == '@' || rest[0] == '\'' || rest[0] == '`':
		to := start + 1 + n
		p.tell(func() Diagnostic { return missingSpace(p.place(start, to+1), int32(to)) })
		return take(meant, to)
	}
	end = wordEnd(p.text, start)
	w = p.text[start:end]
	if !utf8.ValidString(w) {
		p.errors++
		return take("", end)
	}
	if n := strings.IndexAny(name, "0123456789"); n > 0 && isKey(name[:n]) && wordKind(name[n:]) != Invalid {
		to := start + 1 + n
		p.tell(func() Diagnostic { return missingSpace(p.place(start, end), int32(to)) })
		return take(name[:n], to)
	}
	p.tell(func() Diagnostic { return invalidKey(p.place(start, end), w, ofMap) })
	p.pos, p.lastEnd = end, end
	if next := p.pastBlanks(end); next < len(p.text) && strings.IndexByte(":)]},;#\r\n", p.text[next]) < 0 && (class[p.text[next]]&isWord != 0 || p.text[next] == '"') {
		p.pos = next
		p.quietly(func() { p.value(true) })
	}
	return "", Range{}, false
}

// colonBehind returns the end of a colon that follows the quoted key here, as in JSON; 0 if there
// is none.
func (p *parser) colonBehind() int {
	from := p.pos + 1
	n := strings.IndexAny(p.text[from:min(len(p.text), from+longWord)], "\"\\\n\r")
	if n < 0 || p.text[from+n] != '"' || !utf8.ValidString(p.text[from:from+n]) || strings.IndexFunc(p.text[from:from+n], hidden) >= 0 {
		return 0
	}
	end := from + n + 2
	if end > len(p.text) || p.text[end-1] != ':' || end < len(p.text) && class[p.text[end]]&isSpace == 0 {
		return 0
	}
	return end
}

// badAs handles an :as that is not followed by a symbol.
func (p *parser) badAs(c *Call, key Range) {
	start := p.pos
	missing := start >= len(p.text)
	if !missing {
		switch b := p.text[start]; {
		case b == ':' || b == ')' || b == ']' || b == '}' || b == ',' || b == '(':
			missing = true
		case class[b]&(isLower|isUpper) != 0:
			missing = p.startsLine(start) && p.beginsCall()
		}
	}
	if missing {
		p.tell(func() Diagnostic { return asWithoutSymbol(p.placeOf(key), "") })
		return
	}
	from := p.errors
	var v Value
	p.quietly(func() { v = p.value(false) })
	end := max(p.lastEnd, start)
	w := p.text[start:end]
	if p.pos == start {
		p.pos++
	}
	p.errors = from
	if p.unwind {
		p.tell(func() Diagnostic { return asWithoutSymbol(p.placeOf(key), "") })
		return
	}
	if !utf8.ValidString(w) {
		p.errors++
		return
	}
	if w[0] == '@' {
		dot := strings.IndexByte(w, '.')
		if dot > 1 && isSymbol(w[1:]) {
			c.As, c.AsRange = w[1:dot], Range{int32(start), int32(start + dot)}
			p.tell(func() Diagnostic { return asWithPath(p.place(start, end), w[:dot]) })
			return
		}
		p.tell(func() Diagnostic { return invalidSymbol(p.place(start, end), w) })
		return
	}
	name := w
	if v.Kind == String {
		name = v.Text
	}
	if !isNameText(name, isLower|isUpper) {
		name = ""
	} else if c.As == "" {
		c.As, c.AsRange = name, Range{int32(start), int32(end)}
	}
	p.tell(func() Diagnostic { return asWithoutSymbol(p.place(start, end), name) })
}

// equalsSign skips the sign, and any that follow it.
func (p *parser) equalsSign(key string) {
	start, end := p.pos, p.pos
	for p.pos < len(p.text) && (p.text[p.pos] == '=' || class[p.text[p.pos]]&isSpace != 0) {
		if p.text[p.pos] == '=' {
			end = p.pos + 1
		}
		p.pos++
	}
	p.pos = end
	p.tell(func() Diagnostic { return equalsSign(p.place(start, end), key) })
}

func (p *parser) missingValue(key Range) {
	p.tell(func() Diagnostic { return missingValue(p.placeOf(key), p.text[key.Start:key.End]) })
	if p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ',':
			p.pos++
		case ':':
			p.excused = '}' // perhaps the value was a map that lost its brace
		}
	}
}

// spoilt returns the value that replaces one that could not be understood.
func (p *parser) spoilt(start, end int) Value {
	p.pos, p.lastEnd = end, end
	return Value{Range: Range{int32(start), int32(end)}}
}

func (p *parser) badDate(start, end int, why string) Value {
	p.tell(func() Diagnostic { return invalidDate(p.place(start, end), p.text[start:end], why) })
	return p.spoilt(start, end)
}

// badWord handles a word that is no literal.
func (p *parser) badWord(run bool) Value {
	start := p.pos
	if p.keyTouches() {
		return p.spoilt(start, p.lastEnd)
	}
	end := wordEnd(p.text, start)
	if r, size := utf8.DecodeRuneInString(p.text[start:]); r != utf8.RuneError {
		if closing := closingQuote(r); closing != 0 {
			return p.foreignQuotes(start, size, closing)
		}
		if r == '”' {
			return p.foreignQuotes(start, size, '”')
		}
		end = max(end, start+size)
	}
	end = max(end, start+1)
	w := p.text[start:end]
	if !utf8.ValidString(w) {
		p.errors++
		return p.spoilt(start, end)
	}
	if run && isVerbLike(beforeColon(w)) {
		if v, ok := p.unopened(); ok || p.unwind {
			return v
		}
	}
	touches := p.touchesQuote(end)
	if !touches && wordKind(w) != Invalid {
		return p.literal(start, end, run) // an unusual space follows
	}
	if !touches && w[0] == '@' && isSymbol(w[1:]) {
		return p.done(Symbol, start, end, w[1:])
	}
	if touches && !run && (wordKind(w) != Invalid || w[0] == '@' && isSymbol(w[1:])) {
		p.tell(func() Diagnostic { return missingSpace(p.place(start, end+1), int32(end)) })
		return p.spoilt(start, end)
	}
	if !touches {
		if d := wordMistake(w); d != nil {
			p.tell(func() Diagnostic { return d(p.place(start, end)) })
			return p.spoilt(start, end)
		}
	}
	if run {
		end = p.textRun(end)
	} else if touches {
		end++
	}
	text := strings.TrimRight(p.text[start:end], "\" \t,")
	if strings.HasSuffix(p.text[start:end], ",") {
		end = start + len(text)
	}
	p.tell(func() Diagnostic { return unquotedText(p.place(start, end), text) })
	return p.spoilt(start, end)
}

// keyTouches reports a value that a key follows without a space, and returns false if the text
// here is something else. Then lastEnd is the end of the value.
func (p *parser) keyTouches() bool {
	start := p.pos
	w := p.word()
	i := strings.IndexByte(w, ':')
	if i < 1 || i+1 >= len(w) || class[w[i+1]]&isLower == 0 {
		return false
	}
	if head := w[:i]; wordKind(head) == Invalid && (head[0] != '@' || !isSymbol(head[1:])) {
		return false
	}
	p.tell(func() Diagnostic { return missingSpace(p.place(start, start+i+1), int32(start+i)) })
	p.lastEnd = start + i
	return true
}

// textRun finds the end of a text whose quotes were forgotten: further words on the same line
// belong to it, up to the next key.
func (p *parser) textRun(end int) int {
	line := p.lineEnd(end)
	for {
		if p.touchesQuote(end) {
			// The closing quote is there, or a quoted part is.
			next := p.pastBlanks(end + 1)
			if next >= line || p.text[next] == ':' || p.text[next] == ')' || p.text[next] == ']' || p.text[next] == '}' {
				return end + 1
			}
			if n := strings.IndexByte(p.text[end+1:line], '"'); n >= 0 {
				end += n + 2
				continue
			}
			return end + 1
		}
		i := end
		for i < len(p.text) && (p.text[i] == ' ' || p.text[i] == '\t' || p.text[i] == ',' && i == end) {
			i++
		}
		if i == end || i >= len(p.text) || class[p.text[i]]&isWord == 0 || p.text[i] == ':' || p.text[i] == '@' {
			return end
		}
		to := wordEnd(p.text, i)
		if to == i || isVerbLike(p.text[i:to]) {
			return end
		}
		end = to
	}
}

// longText limits how far the end of a malformed text is looked for.
const longText = 4096

// foreignQuotes reads a text in quotes of another kind.
func (p *parser) foreignQuotes(start, size int, closing rune) Value {
	line := min(p.lineEnd(start), p.whole(start+size+longText))
	body := p.text[start+size : line]
	n := strings.IndexRune(body, closing)
	if closing == '\'' || closing == '’' {
		// An apostrophe inside a word does not end the text.
		for from := 0; n >= 0; {
			after := from + n + utf8.RuneLen(closing)
			if after >= len(body) || class[body[after]]&isName == 0 {
				n += from
				break
			}
			from = after
			n = strings.IndexRune(body[from:], closing)
		}
	}
	plain := strings.IndexByte(body, '"')
	var end int
	text := body
	switch {
	case n >= 0:
		text = body[:n]
		end = start + size + n + utf8.RuneLen(closing)
	case plain >= 0:
		text = body[:plain]
		end = start + size + plain + 1
	default:
		if key := strings.Index(body, " :"); key >= 0 {
			text = body[:key]
		}
		text = strings.TrimRight(text, ")]} \t")
		end = start + size + len(text)
	}
	if !utf8.ValidString(text) {
		p.errors++
		return p.spoilt(start, end)
	}
	opening := p.text[start : start+size]
	p.tell(func() Diagnostic { return foreignQuotes(p.place(start, end), opening, text) })
	v := p.done(String, start, end, text)
	return v
}

// quoteTouchesWord handles a string that is followed by something without a space: most often the
// text contains a quote that lacks its backslash.
func (p *parser) quoteTouchesWord(start, end int, text string, run bool) Value {
	b := p.text[end]
	if b == ':' || b == '@' || b == '"' && p.nextQuoteCloses(end) {
		p.tell(func() Diagnostic { return missingSpace(p.place(end-1, end+1), int32(end)) })
		v := p.done(String, start, end, text)
		if b == '"' && run { // only one value is allowed here
			p.quietly(func() { p.str(run) })
		}
		return v
	}
	// The text extends to a quote that is followed by something that may follow a string, or to
	// the end of the line.
	line := min(p.lineEnd(end), p.whole(end+longText))
	last := -1
	for i := end; i < line; i++ {
		if p.text[i] == '\\' {
			i++
			continue
		}
		if p.text[i] == '"' {
			if next := p.pastBlanks(i + 1); next >= line || strings.IndexByte(":)]},;#", p.text[next]) >= 0 {
				last = i
				break
			}
		}
	}
	to := last + 1
	if last < 0 {
		to = p.withoutClosers(end, line)
	}
	p.tell(func() Diagnostic { return misplacedQuote(p.place(end-1, end), p.text, last) })
	return p.spoilt(start, to)
}

// nextQuoteCloses reports whether the quote at i opens a string that is closed on its line.
func (p *parser) nextQuoteCloses(i int) bool {
	n := strings.IndexAny(p.text[i+1:min(len(p.text), i+1+longText)], "\"\n\r")
	return n > 0 && p.text[i+1+n] == '"'
}

// withoutClosers returns the end of the text between from and to without the closing brackets at
// its end for which the open brackets wait.
func (p *parser) withoutClosers(from, to int) int {
	for to > from && (p.text[to-1] == ' ' || p.text[to-1] == '\t') {
		to--
	}
	end := to
	for _, o := range p.open {
		if end > from && p.text[end-1] == o.closer {
			end--
			continue
		}
		break
	}
	// The closing brackets are in reverse order, outermost last.
	return end
}

// openString handles a string that is not closed on its line.
func (p *parser) openString(start, line int) Value {
	if end := p.stringGoesOn(line); end > 0 {
		p.tell(func() Diagnostic { return lineBreakInString(p.place(start, end), p.text, line) })
		return p.spoilt(start, end)
	}
	end := p.withoutClosers(start+1, line)
	if end == p.textEnd(line) {
		p.torn = line
	}
	p.tell(func() Diagnostic { return unclosedString(p.place(start, start+1), end) })
	return p.spoilt(start, end)
}

// stringGoesOn finds the end of a string that was written over several lines: a later line,
// before anything that looks like a call, a key or a comment, has a quote after which a string
// may end. It returns 0 if there is none.
func (p *parser) stringGoesOn(i int) int {
	for lines := 0; lines < 32 && i < len(p.text) && i-p.pos < 4096; lines++ {
		i++
		first := p.pastBlanks(i)
		if first >= len(p.text) {
			return 0
		}
		if ok, _ := p.lineCall(first); ok || strings.IndexByte(":;#)]}", p.text[first]) >= 0 {
			return 0
		}
		end := p.lineEnd(i)
		for ; i < end; i++ {
			switch p.text[i] {
			case '\\':
				i++
			case '"':
				next := p.pastBlanks(i + 1)
				if next >= end || strings.IndexByte(":)]},;#", p.text[next]) >= 0 {
					return i + 1
				}
				return 0
			}
		}
		i = end
	}
	return 0
}

// foreignKey reads a key of a map in the style of other languages: "street":, street:, street=,
// or a bare word before a value.
func (p *parser) foreignKey(edits *[]Edit) (key string, at Range, ok bool) {
	start := p.pos
	var name string
	end := start
	if p.text[start] == '"' {
		n := strings.IndexAny(p.text[start+1:], "\"\\\n\r")
		if n < 0 || p.text[start+1+n] != '"' {
			return "", Range{}, false
		}
		name = p.text[start+1 : start+1+n]
		end = start + n + 2
	} else {
		for end < len(p.text) && class[p.text[end]]&isName != 0 {
			end++
		}
		name = p.text[start:end]
	}
	next := p.pastBlanks(end)
	if next >= len(p.text) {
		return "", Range{}, false
	}
	after := end
	switch b := p.text[next]; {
	case b == ':' && (next == end || next+1 == len(p.text) || class[p.text[next+1]]&isLower == 0), b == '=':
		after = next + 1
	case p.text[start] == '"' || next == end || wordKind(name) != Invalid || !(b == '"' || b == '@' || b == '[' || b == '{' || b == '(' || class[b]&isDigit != 0):
		return "", Range{}, false
	}
	if !utf8.ValidString(name) {
		return "", Range{}, false
	}
	key = name
	var spelt string
	if key != "" {
		spelt = FormatKey(key)
		if after < len(p.text) && class[p.text[after]]&isSpace == 0 {
			spelt += " "
		}
	}
	*edits = append(*edits, Edit{Range{int32(start), int32(after)}, spelt})
	p.pos, p.lastEnd = after, after
	return key, Range{int32(start), int32(end)}, true
}

// bracketsForMap handles [:k v].
func (p *parser) bracketsForMap(start int) Value {
	p.tell(func() Diagnostic { return bracketsForMap(p.place(start, start+1)) })
	return p.entries(start, ']')
}
