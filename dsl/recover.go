package dsl

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// This file handles mistakes at the boundaries of calls: how an unclosed bracket is distinguished
// from a closed one, and where the next call is found. The rule is that a line which begins with
// a verb, or with a parenthesis and a verb, may begin a call.

// startsLine reports whether only blanks precede i on its line.
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

// longWord limits how much of a word is read to find out what it is. A longer word is no misspelt
// verb.
const longWord = 512

func (p *parser) word() string { return p.wordAt(p.pos) }

func (p *parser) wordAt(i int) string {
	return p.text[i:wordEnd(p.text[:p.whole(i+longWord)], i)]
}

// whole moves an offset back to the beginning of a character, or to the end of the text.
func (p *parser) whole(i int) int {
	if i >= len(p.text) {
		return len(p.text)
	}
	for i > 0 && !utf8.RuneStart(p.text[i]) {
		i--
	}
	return i
}

// beginsCall reports whether there is a verb here, even in the wrong case.
func (p *parser) beginsCall() bool { return isVerbLike(beforeColon(p.word())) }

// beforeColon cuts a word before a key that touches it: a.b:key.
func beforeColon(word string) string {
	if i := strings.IndexByte(word, ':'); i > 0 {
		return word[:i]
	}
	return word
}

func (p *parser) verbAtLineStart() bool { return p.beginsCall() && p.startsLine(p.pos) }

// meantAsCall reports whether the text here, at the start of a line, was meant as the head of a
// call although it is no verb: a misspelt dotted word, or a single name followed by a key.
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

// lineCall reports whether a call may begin at i, the first character of a line that is not a
// blank, and whether it begins with a parenthesis.
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

// nextCallWithin returns the beginning of the first line after from, and before to, that begins a
// call; a call in parentheses must not be indented further than indent. It returns to if there is
// none.
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

// indent returns how many blanks begin the line of i, if only blanks precede i.
func (p *parser) indent(i int) int {
	start := i
	for start > 0 && (p.text[start-1] == ' ' || p.text[start-1] == '\t') {
		start--
	}
	return i - start
}

// callIndent returns how many blanks begin the line of the top-level call.
func (p *parser) callIndent() int {
	// Calls follow one another, so the line of the next is found from that of the last: a line of
	// many calls is read once.
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

// unclosed is called when it is certain that the open brackets will not be closed: at a verb that
// begins a line, or at the end of the text. By then they may have swallowed calls that were meant
// to be separate, so the parser goes back to the first line that can begin one.
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

// textEnd returns the end of the last text before i that is not blank.
func (p *parser) textEnd(i int) int {
	for i > 0 && class[p.text[i-1]]&isSpace != 0 {
		i--
	}
	return i
}

// tellUnclosed reports an unclosed bracket, unless a string without its closing quote has
// apparently swallowed the rest of the line and the closing bracket with it.
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

// inComment reports whether text inserted at i would be within a comment.
func (p *parser) inComment(i int) bool {
	for _, c := range slices.Backward(p.comments) {
		if int(c.Range.Start) < i {
			return int(c.Range.End) >= i
		}
	}
	return false
}

// closeHere reports that the innermost bracket is not closed and continues as if it had been,
// without moving.
func (p *parser) closeHere() {
	o := p.open[len(p.open)-1]
	p.tellUnclosed(o, p.lastEnd, string(o.closer))
	p.pop()
}

// settle completes a call that was abandoned in the middle.
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

// quietly runs f and discards the mistakes it finds: a mistake already reported is their cause.
func (p *parser) quietly(f func()) {
	diags, dropped := len(p.diags), p.dropped
	f()
	if len(p.diags) > diags {
		p.diags = p.diags[:diags]
	}
	p.dropped = dropped
}

// closes reports whether these brackets, and those opened meanwhile, are closed in order by the
// text after an offset, with nothing left over, before the next call begins. If a bracket is
// missing or superfluous, that shows which reading of the rest makes sense.
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

// belongsHere reports whether a call in parentheses in a list is an item of it. A call that
// begins a line, indented no further than the call around it, may be the next call after an
// unclosed list: then the answer depends on whether the open brackets are closed at all.
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

// encloses reports whether an open bracket other than the innermost waits for this closing
// bracket.
func (p *parser) encloses(closer byte) bool {
	for _, o := range p.open[:max(0, len(p.open)-1)] {
		if o.closer == closer {
			return true
		}
	}
	return false
}

// groupEnd returns the offset after the partner of the bracket at i, if it is on the same line;
// -1 if it is not or is too far away.
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
