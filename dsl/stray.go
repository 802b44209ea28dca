package dsl

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// This file handles misplaced text: text between calls, values without keys, superfluous
// brackets.

// strayText handles text between calls.
func (p *parser) strayText() {
	start := p.pos
	b := p.text[start]
	switch {
	case b == ')' || b == ']' || b == '}':
		p.pos++
		p.tell(func() Diagnostic { return strayBracket(p.place(start, start+1)) })
		return
	case strings.HasPrefix(p.text[start:], "```") && p.startsLine(start):
		p.pos = p.lineEnd(start)
		p.tell(func() Diagnostic { return codeFence(p.place(start, p.textEnd(p.pos))) })
		return
	}
	end := start
	broken := false
	for p.pos < len(p.text) {
		b := p.text[p.pos]
		switch {
		case class[b]&isSpace != 0:
			p.pos++
			continue
		}
		if p.pos > start {
			if p.startsLine(p.pos) {
				if ok, _ := p.lineCall(p.pos); ok || b == ';' || b == '#' || strings.HasPrefix(p.text[p.pos:], "```") || p.meantAsCall() {
					break
				}
			} else if p.callMidLine() {
				break
			}
		}
		switch {
		case b == '"':
			if n := strings.IndexAny(p.text[p.pos+1:], "\"\n\r"); n >= 0 && p.text[p.pos+1+n] == '"' {
				p.pos += n + 1
			}
			p.pos++
		case class[b]&isWord != 0:
			to := max(wordEnd(p.text, p.pos), p.pos+1)
			if b >= utf8.RuneSelf && to == p.pos+1 {
				_, size := utf8.DecodeRuneInString(p.text[p.pos:])
				to = p.pos + size
			}
			broken = broken || !utf8.ValidString(p.text[p.pos:to])
			p.pos = to
		default:
			p.pos++
		}
		end = p.pos
	}
	if broken {
		return // reported as bytes that are not UTF-8
	}
	p.tell(func() Diagnostic { return expectedCall(p.place(start, end), p.text[start:end]) })
}

// callMidLine reports whether a call certainly begins here, after other text on the same line: a
// verb that is followed by a key.
func (p *parser) callMidLine() bool {
	i := p.pos
	if p.text[i] == '(' {
		i++
	}
	if i >= len(p.text) || class[p.text[i]]&isLower == 0 {
		return false
	}
	end := wordEnd(p.text, i)
	rest := strings.TrimLeft(p.text[end:min(len(p.text), end+64)], " \t")
	return isVerb(p.text[i:end]) && len(rest) > 1 && rest[0] == ':' && class[rest[1]]&isLower != 0
}

// lineEnd returns the end of the line of i.
func (p *parser) lineEnd(i int) int {
	if i < p.endOf || i > p.endAt {
		p.endOf, p.endAt = i, len(p.text)
		if n := strings.IndexAny(p.text[i:], "\n\r"); n >= 0 {
			p.endAt = i + n
		}
	}
	return p.endAt
}

// strayInCall handles text that is neither an argument nor the end of a call. It returns true if
// the call continues.
func (p *parser) strayInCall(c *Call, paren bool) bool {
	start := p.pos
	if !paren && p.text[start] != ',' && p.startsLine(start) && p.indent(start) <= p.callIndent() {
		return false // text on a line of its own does not belong to the call above it
	}
	switch b := p.text[start]; {
	case b == ')':
		p.pos++
		p.tell(func() Diagnostic { return strayBracket(p.place(start, start+1)) })
		return true
	case b == ']' || b == '}':
		if paren && p.encloses(b) {
			return p.outerCloser(start)
		}
		if p.excused == b {
			p.excused = 0
			p.errors++
			p.pos++
			return true
		}
		p.pos++
		if next := p.pastBlanks(p.pos); paren && (next == len(p.text) || p.text[next] != ')' && p.text[next] != ':') {
			p.mistypedCloser(start, ')')
			return false
		}
		p.tell(func() Diagnostic { return strayBracket(p.place(start, start+1)) })
		return true
	case b == ',':
		p.commaInCall(paren)
		return true
	case b == '(':
		return p.callInCall()
	case (b == '[' || b == '{') && p.oneTooMany():
		return true
	case class[b]&(isLower|isUpper) != 0:
		if p.startsLine(start) && (p.beginsCall() || p.meantAsCall() && !paren) {
			if paren {
				p.unclosed(start)
			}
			return false
		}
		if p.missingColon(c) {
			return true
		}
	}
	p.strayValues(paren)
	return true
}

// oneTooMany handles an opening bracket that leaves one open at the end.
func (p *parser) oneTooMany() bool {
	start := p.pos
	if p.closes(p.open, start) || !p.closes(p.open, start+1) {
		return false
	}
	p.pos++
	p.tell(func() Diagnostic { return strayBracket(p.place(start, start+1)) })
	return true
}

func (p *parser) pastBlanks(i int) int {
	for i < len(p.text) && (p.text[i] == ' ' || p.text[i] == '\t') {
		i++
	}
	return i
}

// mistypedCloser takes the bracket before the current position for the expected closing bracket.
func (p *parser) mistypedCloser(at int, want byte) {
	o := p.open[len(p.open)-1]
	p.lastEnd = p.pos
	p.pop()
	p.tell(func() Diagnostic {
		return mismatchedBracket(p.place(at, at+1), p.text[at], want, p.place(o.at, o.at+1))
	})
}

// commaInCall handles a comma between arguments, and one inside a number.
func (p *parser) commaInCall(paren bool) {
	start := p.pos
	end := start
	from := start
	for from > 0 && class[p.text[from-1]]&isWord != 0 {
		from--
	}
	told := thousands
	if start > 0 && class[p.text[start-1]]&isDigit != 0 {
		for digits(p.text, end+1, end+4) && p.text[end] == ',' && !digits(p.text, end+4, end+5) {
			end += 4
		}
		if to := wordEnd(p.text, start+1); end > start {
			if end < len(p.text) && p.text[end] == '.' {
				for end++; end < len(p.text) && class[p.text[end]]&isDigit != 0; end++ {
				}
			}
		} else if numberKind(p.text[from:start]) == Integer && to > start+1 && digits(p.text, start+1, to) && (to == len(p.text) || p.text[to] != ',') {
			end, told = to, decimalComma
		}
	}
	if end > start {
		if n := len(p.args); n > 0 && int(p.args[n-1].Value.Range.End) == start {
			p.args[n-1].Value = Value{Kind: Invalid, Range: Range{int32(from), int32(end)}}
		}
		p.pos, p.lastEnd = end, end
		p.tell(func() Diagnostic { return told(p.place(from, end), p.text[from:end]) })
		return
	}
	if next := p.pastBlanks(start + 1); next < len(p.text) {
		to := wordEnd(p.text, next)
		if b := p.text[next]; b == '"' && p.lineEnd(next) > next || b == '[' || b == '{' || to > next && (b == '@' || wordKind(p.text[next:to]) != Invalid) {
			// Values separated by commas: a list without its brackets.
			p.pos = next
			p.strayValues(paren)
			return
		}
	}
	p.pos++
	p.tell(func() Diagnostic { return commaBetween(p.place(start, start+1)) })
}

// callInCall handles a parenthesis where an argument was expected, inside a call in parentheses:
// either that call was not closed and this is the next one, or this is a value that lacks its
// key.
func (p *parser) callInCall() bool {
	start := p.pos
	ok, _ := p.lineCall(start)
	if ok && p.startsLine(start) {
		if len(p.open) > 1 && p.closes(p.open[:len(p.open)-1], start) {
			p.closeHere()
			return false
		}
		p.unclosed(start)
		return false
	}
	if p.oneTooMany() {
		return true
	}
	if ok {
		end := p.groupEnd(start)
		next := max(end, 0)
		for next < len(p.text) && class[p.text[next]]&isSpace != 0 {
			next++
		}
		if end < 0 || next >= len(p.text) || p.text[next] != ':' && p.text[next] != ')' {
			o := p.open[len(p.open)-1]
			if len(p.open) > 1 {
				p.unclosed(start)
				return false
			}
			p.tellUnclosed(o, p.lastEnd, string(o.closer))
			p.leave(start)
			return false
		}
	}
	p.strayValues(true)
	return true
}

// missingColon handles `note "x"`, `note="x"` and `note: "x"`. It returns false if the word here
// is not followed by anything that makes it a key.
func (p *parser) missingColon(c *Call) bool {
	start := p.pos
	end := start
	for end < len(p.text) && class[p.text[end]]&isName != 0 {
		end++
	}
	name := p.text[start:end]
	next := p.pastBlanks(end)
	if next >= len(p.text) || wordKind(name) != Invalid && p.text[next] != '=' && p.text[next] != ':' {
		return false
	}
	after := end // where the value begins
	switch b := p.text[next]; {
	case b == '=':
		after = next + 1
	case b == ':' && (next+1 == len(p.text) || class[p.text[next+1]]&isLower == 0 || next == end):
		after = next + 1
	case next > end && (b == '"' || b == '@' || b == '[' || b == '{' || b == '(' || b == '-' || class[b]&isDigit != 0):
	case next == end && b == '"':
	default:
		if next == end || class[b]&(isLower|isUpper) == 0 {
			return false
		}
		// `status PENDING :x 1`: a word before exactly one literal.
		to := wordEnd(p.text, next)
		if wordKind(p.text[next:to]) == Invalid {
			return false
		}
	}
	key := kebab(name)
	if !isKey(key) {
		return false
	}
	p.tell(func() Diagnostic {
		return missingColon(p.place(start, max(end, after)), p.text[start:max(end, after)], key)
	})
	p.pos, p.lastEnd = after, end
	r := Range{int32(start), int32(end)}
	if key == "as" {
		p.as(c, r)
		return true
	}
	p.pushArg(key, r, p.valueOf(key, r))
	return true
}

// strayValues handles one or more values that lack a key; they are reported once, together.
func (p *parser) strayValues(paren bool) {
	start, end := p.pos, p.pos
	p.errors++
	bytes := true
	p.quietly(func() {
		for p.pos < len(p.text) && !p.unwind {
			from := p.pos
			b := p.text[from]
			if b == ',' && from > start {
				p.pos = p.pastBlanks(from + 1)
				continue
			}
			if from > start && (b == ':' || b == '(' || class[b]&(isLower|isUpper) != 0 && p.verbLikeStart(paren)) {
				return
			}
			if b == ';' || b == '#' || b == ')' || class[b]&isSpace != 0 {
				return
			}
			if b == ']' || b == '}' {
				if n := len(p.open); n == 0 || p.open[n-1].closer != b && !p.encloses(b) {
					p.pos++ // skips the closer of a list or map whose opening bracket is missing
					end = p.pos
				}
				return
			}
			p.value(true)
			if p.unwind {
				return
			}
			if p.pos == from {
				p.pos++
				p.lastEnd = p.pos
			}
			end = p.lastEnd
			bytes = bytes && utf8.ValidString(p.text[from:end])
			p.pos = p.pastBlanks(p.pos)
		}
	})
	if p.unwind || !bytes {
		if !bytes {
			return
		}
		end = min(max(end, start+1), p.lineEnd(start))
	}
	p.keep(func() Diagnostic {
		return valueWithoutKey(p.place(start, max(end, start+1)), p.text[start:max(end, start+1)])
	})
}

func (p *parser) verbLikeStart(paren bool) bool {
	return p.beginsCall() && (!paren || p.startsLine(p.pos)) || p.meantAsCall()
}

// strayInList handles text that is not an item. It returns true if the list continues.
func (p *parser) strayInList() bool {
	start := p.pos
	switch b := p.text[start]; {
	case b == ',':
		p.pos++
		p.tell(func() Diagnostic { return strayComma(p.place(start, start+1)) })
		return true
	case b == ')' || b == '}':
		return p.foreignCloser(']')
	case b == ':':
		p.closeHere()
		return false
	case class[b]&(isLower|isUpper) != 0:
		p.unclosed(start)
		return false
	}
	p.pos++
	return true
}

// unopened reads a nested call whose opening parenthesis is missing, as the rest of the text
// shows. It returns false if the word here is no such call.
func (p *parser) unopened() (Value, bool) {
	start := p.pos
	if !isVerbLike(beforeColon(p.word())) || !p.closes(append(slices.Clip(p.open), opener{start, ')'}), start) || !p.push(')') {
		return Value{}, false
	}
	p.tell(func() Diagnostic { return unopenedCall(p.place(start, start+len(p.word()))) })
	c := &Call{}
	if p.verb(c, true) {
		p.arguments(c, true)
	}
	c.Broken = true
	c.Range = Range{int32(start), int32(max(p.lastEnd, start))}
	v := nestedOf(c)
	v.Range = c.Range
	return v, !p.unwind
}

// outerCloser handles the closer of a bracket outside the innermost one: it is superfluous if the
// brackets close without it, and otherwise the innermost bracket was forgotten.
func (p *parser) outerCloser(start int) bool {
	if p.closes(p.open, start+1) && !p.closes(p.open[:len(p.open)-1], start) {
		p.pos++
		p.tell(func() Diagnostic { return strayBracket(p.place(start, start+1)) })
		return true
	}
	p.closeHere()
	return false
}

// foreignCloser handles the closer of another kind of bracket: either the innermost bracket was
// forgotten, or this one was mistyped.
func (p *parser) foreignCloser(want byte) bool {
	start := p.pos
	if p.encloses(p.text[start]) {
		return p.outerCloser(start)
	}
	p.pos++
	p.mistypedCloser(start, want)
	return false
}

func (p *parser) strayInMap() bool {
	start := p.pos
	switch b := p.text[start]; {
	case b == ',':
		p.pos++
		p.tell(func() Diagnostic { return strayComma(p.place(start, start+1)) })
		return true
	case b == ')' || b == ']' || b == '}':
		return p.foreignCloser(p.open[len(p.open)-1].closer)
	case class[b]&(isLower|isUpper) != 0 && p.verbAtLineStart():
		p.unclosed(start)
		return false
	case (b == '[' || b == '{' || b == '(') && p.oneTooMany():
		return true
	}
	p.strayValues(true)
	return !p.unwind
}

func (p *parser) duplicateKeys(entries []Arg) {
	again := func(first, second *Arg) {
		p.tell(func() Diagnostic {
			return duplicateKey(p.placeOf(second.KeyRange), second.Key, p.placeOf(first.KeyRange))
		})
	}
	if len(entries) <= 16 {
		for i := range entries {
			for j := range i {
				if entries[j].Key == entries[i].Key && entries[i].Key != "" {
					again(&entries[j], &entries[i])
					break
				}
			}
		}
		return
	}
	first := make(map[string]int, len(entries))
	for i := range entries {
		if j, ok := first[entries[i].Key]; ok && entries[i].Key != "" {
			again(&entries[j], &entries[i])
			continue
		}
		first[entries[i].Key] = i
	}
}
