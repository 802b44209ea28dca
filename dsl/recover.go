package dsl

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// This file holds what the parser does about mistakes where calls meet: how a
// bracket that was never closed is told apart from one that is, and where the
// next call is found. The rule is that a line which begins with a verb, or
// with a parenthesis and a verb, may begin a call.

// startsLine says whether only blanks stand before i on its line.
func (p *parser) startsLine(i int) bool {
	for i--; i >= 0; i-- {
		switch p.text[i] {
		case ' ', '\t':
		case '\n', '\r':
			return true
		default:
			return i < len(bom) && strings.HasPrefix(p.text, bom)
		}
	}
	return true
}

// longWord bounds how far ahead a word is looked at before it is known what it
// is. What is longer is no verb that somebody misspelt.
const longWord = 512

func (p *parser) word() string { return p.wordAt(p.pos) }

func (p *parser) wordAt(i int) string {
	return p.text[i:wordEnd(p.text[:p.whole(i+longWord)], i)]
}

// whole moves an offset back to where a character begins, or to the end of the
// text.
func (p *parser) whole(i int) int {
	if i >= len(p.text) {
		return len(p.text)
	}
	for i > 0 && !utf8.RuneStart(p.text[i]) {
		i--
	}
	return i
}

// beginsCall says whether a verb stands here, if in the wrong letters.
func (p *parser) beginsCall() bool { return isVerbLike(beforeColon(p.word())) }

// beforeColon cuts a word at a key that touches it: a.b:key.
func beforeColon(word string) string {
	if i := strings.IndexByte(word, ':'); i > 0 {
		return word[:i]
	}
	return word
}

func (p *parser) verbAtLineStart() bool { return p.beginsCall() && p.startsLine(p.pos) }

// meantAsCall says whether what stands here at the start of a line was meant
// as the head of a call although it is no verb: a dotted word that is
// misspelt, or a single name followed by a key.
func (p *parser) meantAsCall() bool {
	w := p.word()
	if w == "" || class[w[0]]&(isLower|isUpper) == 0 || !p.startsLine(p.pos) {
		return false
	}
	rest := strings.TrimLeft(p.text[p.pos+len(w):], " \t")
	keyed := len(rest) > 1 && rest[0] == ':' && class[rest[1]]&(isLower|isUpper) != 0
	if dot := strings.IndexByte(w, '.'); dot > 0 && dot < len(w)-1 {
		return keyed || rest == "" || rest[0] == '\n' || rest[0] == '\r'
	}
	return keyed && isNameText(w, isLower|isUpper)
}

// lineCall says whether a call may begin at i, the first character of a line
// that is not a blank, and whether it begins with a parenthesis.
func (p *parser) lineCall(i int) (ok, paren bool) {
	if i < len(p.text) && p.text[i] == '(' {
		paren = true
		for i++; i < len(p.text) && (p.text[i] == ' ' || p.text[i] == '\t'); i++ {
		}
	}
	if i >= len(p.text) || class[p.text[i]]&(isLower|isUpper) == 0 {
		return false, false
	}
	return isVerbLike(beforeColon(p.wordAt(i))), paren
}

// nextCall finds the first line after from, and before to, that begins a call;
// one in parentheses must not be indented further than indent. It is to when
// there is none.
func (p *parser) nextCallWithin(from, to, indent int) int {
	for i := from; i < to; {
		brk := strings.IndexAny(p.text[i:to], "\n\r")
		if brk < 0 {
			break
		}
		i += brk + 1
		first := i
		for first < to && (p.text[first] == ' ' || p.text[first] == '\t') {
			first++
		}
		if first >= to {
			break
		}
		if ok, paren := p.lineCall(first); ok && (!paren || first-i <= indent) {
			return first
		}
		i = first
	}
	return to
}

func (p *parser) nextCall(from, to int) int {
	return p.nextCallWithin(from, to, p.callIndent())
}

// indent is how many blanks begin the line of i, before which only blanks stand.
func (p *parser) indent(i int) int {
	start := i
	for start > 0 && (p.text[start-1] == ' ' || p.text[start-1] == '\t') {
		start--
	}
	return i - start
}

// callIndent is how many blanks begin the line of the top-level call.
func (p *parser) callIndent() int {
	// Calls come one after the other, so the line of the next is found from
	// that of the last: a line of many calls is read once.
	if p.lineOf < p.callAt {
		start := p.callAt
		for start > p.lineOf && p.text[start-1] != '\n' && p.text[start-1] != '\r' {
			start--
		}
		if start > p.lineOf {
			p.lineAt = start
		}
		p.lineOf = p.callAt
	}
	return p.pastBlanks(p.lineAt) - p.lineAt
}

// unclosed is called where it becomes certain that the brackets which are open
// will not be closed: at a verb that begins a line, or at the end of the text.
// By then they may have swallowed calls that were meant to stand on their own,
// so the parser goes back to the first line that can begin one.
func (p *parser) unclosed(at int) {
	first := p.open[0].at
	next := at
	if cost := at - first; cost <= p.budget {
		next = p.nextCall(first, at)
		if next < at {
			p.budget -= cost
		}
	}
	inner := len(p.open) - 1
	for inner > 0 && p.open[inner].at >= next {
		inner--
	}
	end := p.textEnd(next)
	var missing []byte
	for i := inner; i >= 0; i-- {
		missing = append(missing, p.open[i].closer)
	}
	p.diags = slices.DeleteFunc(p.diags, func(d Diagnostic) bool { return int(d.Place.Range.Start) >= next })
	p.tellUnclosed(p.open[inner], end, string(missing))
	p.lastEnd = end
	p.leave(next)
}

// textEnd is the end of the last thing that stands before i, blanks apart.
func (p *parser) textEnd(i int) int {
	for i > 0 && class[p.text[i-1]]&isSpace != 0 {
		i--
	}
	return i
}

// tellUnclosed is silent when a string without its closing quote has swallowed
// the rest of the line, and with it, it seems, the bracket that is missed.
func (p *parser) tellUnclosed(o opener, end int, missing string) {
	if o.at < p.torn {
		p.errors++
		return
	}
	if p.inComment(end) {
		end = -1
	}
	p.tell(func() Diagnostic { return unclosed(p.place(o.at, o.at+1), o.closer, end, missing) })
}

// inComment says whether text put in at i would fall into a comment.
func (p *parser) inComment(i int) bool {
	for _, c := range slices.Backward(p.comments) {
		if int(c.Range.Start) < i {
			return int(c.Range.End) >= i
		}
	}
	return false
}

// closeHere tells that the innermost bracket is not closed and goes on as if
// it had been, without moving.
func (p *parser) closeHere() {
	o := p.open[len(p.open)-1]
	p.tellUnclosed(o, p.lastEnd, string(o.closer))
	p.pop()
}

// settle puts a call in order that was left in the middle.
func (p *parser) settle(c *Call, comments int) {
	p.unwind = false
	p.open = p.open[:0]
	p.args, p.vals = p.args[:0], p.vals[:0]
	for len(p.comments) > comments && int(p.comments[len(p.comments)-1].Range.Start) >= p.pos {
		p.comments = p.comments[:len(p.comments)-1]
	}
	if p.lastEnd > p.pos {
		p.lastEnd = p.textEnd(p.pos)
	}
	for len(c.Args) > 0 && int(c.Args[len(c.Args)-1].KeyRange.Start) >= p.pos {
		c.Args = c.Args[:len(c.Args)-1]
	}
	if int(c.AsRange.End) > p.lastEnd {
		c.As, c.AsRange = "", Range{}
	}
}

// quietly runs f and forgets the mistakes it finds: a mistake already told is
// their cause.
func (p *parser) quietly(f func()) {
	diags, dropped := len(p.diags), p.dropped
	f()
	if len(p.diags) > diags {
		p.diags = p.diags[:diags]
	}
	p.dropped = dropped
}

// closes says whether these brackets, and those opened meanwhile, are closed in
// order by what follows an offset, with nothing left over, before the next call
// begins. Where a bracket is missing or too many it tells which reading of the
// rest makes sense.
func (p *parser) closes(open []opener, from int) bool {
	want := p.want[:0]
	defer func() { p.want = want[:0] }()
	for _, o := range open {
		want = append(want, o.closer)
	}
	indent := p.callIndent()
	for i := from; i < len(p.text); i++ {
		if i-from > p.budget {
			break
		}
		b := p.text[i]
		if len(want) == 0 && class[b]&isSpace == 0 {
			p.budget -= i - from
			return b != ')' && b != ']' && b != '}'
		}
		switch b {
		case '(':
			want = append(want, ')')
		case '[':
			want = append(want, ']')
		case '{':
			want = append(want, '}')
		case ')', ']', '}':
			if want[len(want)-1] != b {
				p.budget -= i - from
				return false
			}
			want = want[:len(want)-1]
		case '"':
			for i++; i < len(p.text) && p.text[i] != '"' && p.text[i] != '\n' && p.text[i] != '\r'; i++ {
				if p.text[i] == '\\' {
					i++
				}
			}
		case ';', '#':
			i = p.lineEnd(i) - 1
		case '\n', '\r':
			first := p.pastBlanks(i + 1)
			if ok, _ := p.lineCall(first); ok && first-i-1 <= indent {
				p.budget -= i - from
				return len(want) == 0
			}
		}
	}
	p.budget -= min(p.budget, len(p.text)-from)
	return len(want) == 0
}

// belongsHere says whether a call in parentheses that stands in a list is an
// item of it. One that begins a line, no further in than the call around it,
// may be the next call, the list being left open: then it depends on whether
// what is open is closed at all.
func (p *parser) belongsHere() bool {
	if !p.startsLine(p.pos) || p.indent(p.pos) > p.callIndent() {
		return true
	}
	depth := len(p.open)
	for i := p.pos; i < len(p.text); i++ {
		if i-p.pos > p.budget {
			p.budget = 0
			return false
		}
		switch p.text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				p.budget -= i - p.pos
				p.sureTo = i
				return true
			}
		case '"':
			for i++; i < len(p.text) && p.text[i] != '"' && p.text[i] != '\n' && p.text[i] != '\r'; i++ {
				if p.text[i] == '\\' {
					i++
				}
			}
		case ';', '#':
			i = p.lineEnd(i)
		}
	}
	p.budget -= len(p.text) - p.pos
	return false
}

// encloses says whether a bracket that is open, the innermost apart, waits for
// this closer.
func (p *parser) encloses(closer byte) bool {
	for _, o := range p.open[:max(0, len(p.open)-1)] {
		if o.closer == closer {
			return true
		}
	}
	return false
}

// strayText deals with what stands between calls and is none.
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
		return // told about as bytes that are not UTF-8
	}
	p.tell(func() Diagnostic { return expectedCall(p.place(start, end), p.text[start:end]) })
}

// callMidLine says whether a call surely begins here, after other text on the
// same line: a verb that is followed by a key.
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

// lineEnd is where the line of i ends.
func (p *parser) lineEnd(i int) int {
	if i < p.endOf || i > p.endAt {
		p.endOf, p.endAt = i, len(p.text)
		if n := strings.IndexAny(p.text[i:], "\n\r"); n >= 0 {
			p.endAt = i + n
		}
	}
	return p.endAt
}

// strayInCall deals with what is neither an argument nor the end of a call. It
// says true when the call goes on.
func (p *parser) strayInCall(c *Call, paren bool) bool {
	if p.guest && len(p.open) == 0 {
		return false
	}
	start := p.pos
	if !paren && p.text[start] != ',' && p.startsLine(start) && p.indent(start) <= p.callIndent() {
		return false // a line of its own is no part of the call above it
	}
	switch b := p.text[start]; {
	case b == ')':
		p.pos++
		p.tell(func() Diagnostic { return strayBracket(p.place(start, start+1)) })
		return true
	case b == ']' || b == '}':
		if paren && p.encloses(b) {
			if p.closes(p.open, start+1) && !p.closes(p.open[:len(p.open)-1], start) {
				p.pos++
				p.tell(func() Diagnostic { return strayBracket(p.place(start, start+1)) })
				return true
			}
			p.closeHere()
			return false
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

// oneTooMany deals with an opening bracket that leaves one open at the end.
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

// mistypedCloser takes the bracket before the current position for the one
// that was wanted.
func (p *parser) mistypedCloser(at int, want byte) {
	o := p.open[len(p.open)-1]
	p.lastEnd = p.pos
	p.pop()
	p.tell(func() Diagnostic {
		return mismatchedBracket(p.place(at, at+1), p.text[at], want, p.place(o.at, o.at+1))
	})
}

// commaInCall deals with a comma between arguments, and with one inside a
// number.
func (p *parser) commaInCall(paren bool) {
	start := p.pos
	end := start
	if start > 0 && class[p.text[start-1]]&isDigit != 0 {
		for digits(p.text, end+1, end+4) && p.text[end] == ',' && !digits(p.text, end+4, end+5) {
			end += 4
		}
	}
	if end > start {
		if end < len(p.text) && p.text[end] == '.' {
			for end++; end < len(p.text) && class[p.text[end]]&isDigit != 0; end++ {
			}
		}
		from := start
		for from > 0 && class[p.text[from-1]]&isWord != 0 {
			from--
		}
		p.pos, p.lastEnd = end, end
		p.tell(func() Diagnostic { return thousands(p.place(from, end), p.text[from:end]) })
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

// callInCall deals with a parenthesis where an argument was expected, inside a
// call in parentheses: either that call was not closed and this is the next,
// or this is a value that lacks its key.
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

// groupEnd is the offset after the partner of the bracket at i, when it stands
// on the same line; -1 when it does not or is not worth looking for.
func (p *parser) groupEnd(i int) int {
	depth := 0
	for from := i; i < len(p.text); i++ {
		if i-from > p.budget {
			p.budget = 0
			return -1
		}
		switch p.text[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				p.budget -= i - from
				return i + 1
			}
		case '"':
			for i++; i < len(p.text) && p.text[i] != '"' && p.text[i] != '\n'; i++ {
				if p.text[i] == '\\' {
					i++
				}
			}
		case '\n', '\r':
			p.budget -= i - from
			return -1
		}
	}
	p.budget = 0
	return -1
}

// missingColon deals with `note "x"`, `note="x"` and `note: "x"`. It says
// false when the word that stands here is not followed by anything that makes
// it a key.
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
	after := end // where the value's side begins
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

// strayValues deals with one or more values that lack a key; they are told
// about once, together.
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
					p.pos++ // of a list or map whose opening bracket is missing
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

// strayInList deals with what is not an item. It says true when the list goes
// on.
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

// unopened reads a nested call whose opening parenthesis is missing, as the
// rest of the text shows. It says false when the word that stands here is no
// such call.
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

// foreignCloser deals with the closer of another kind of bracket: either the
// innermost bracket was forgotten, or this one was mistyped.
func (p *parser) foreignCloser(want byte) bool {
	start := p.pos
	if p.encloses(p.text[start]) {
		if p.closes(p.open, start+1) && !p.closes(p.open[:len(p.open)-1], start) {
			p.pos++
			p.tell(func() Diagnostic { return strayBracket(p.place(start, start+1)) })
			return true
		}
		p.closeHere()
		return false
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
