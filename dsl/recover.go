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
