package dsl

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// lineWidth is how many characters Format puts on a line if it can.
const lineWidth = 100

// Format writes a whole script in canonical spelling and keeps its comments. A call is written on
// one line, as AppendCall does, if it fits and contains no comment; otherwise each argument has a
// line of its own. Blank lines between calls are kept, one at a time.
//
// The script should have no mistakes. A Broken call is copied as it was written, since its
// meaning is unknown.
func Format(s *Script) string {
	f := formatter{comments: s.Comments}
	if s.Source != nil {
		f.text = s.Source.Text
	}
	f.out = make([]byte, 0, len(f.text)+len(f.text)/8)
	for i := range s.Calls {
		f.topCall(&s.Calls[i])
	}
	f.ownLines(f.take(int32(len(f.text) + 1)))
	return string(f.out)
}

// A formatter writes a script. Comments are attached to their neighbours: one that follows
// something on its line trails it, any other is written on a line of its own before what comes
// next.
type formatter struct {
	text     string
	comments []Comment // comments that are not written yet
	out      []byte
}

// take removes the comments that begin before an offset.
func (f *formatter) take(before int32) []Comment {
	taken, rest := splitComments(f.comments, before)
	f.comments = rest
	return taken
}

func splitComments(cs []Comment, before int32) (taken, rest []Comment) {
	n := 0
	for n < len(cs) && cs[n].Range.Start < before {
		n++
	}
	return cs[:n:n], cs[n:]
}

// trails reports whether the first comment follows offset end on its line, with only blanks and
// commas between.
func (f *formatter) trails(end int32, cs []Comment) bool {
	return len(cs) > 0 && cs[0].Range.Start >= end && strings.Trim(f.text[end:cs[0].Range.Start], " \t,") == ""
}

func (f *formatter) comment(c Comment) {
	f.out = append(f.out, f.text[c.Range.Start:c.Range.End]...)
}

func (f *formatter) trail(cs []Comment) {
	for _, c := range cs {
		f.out = append(f.out, ' ')
		f.comment(c)
	}
}

func (f *formatter) newline(depth int) {
	f.out = append(f.out, '\n')
	for range depth {
		f.out = append(f.out, ' ', ' ')
	}
}

// ownLines writes comments on lines of their own between calls.
func (f *formatter) ownLines(cs []Comment) {
	for _, c := range cs {
		f.gap(c.Range.Start)
		f.comment(c)
		f.out = append(f.out, '\n')
	}
}

// gap writes an empty line if there were empty lines before the offset.
func (f *formatter) gap(at int32) {
	if len(f.out) == 0 {
		return
	}
	breaks := 0
	for i := int(at) - 1; i >= 0 && class[f.text[i]]&isSpace != 0; i-- {
		if f.text[i] == '\n' || f.text[i] == '\r' && f.text[i+1] != '\n' {
			breaks++
		}
	}
	if breaks > 1 {
		f.out = append(f.out, '\n')
	}
}

func (f *formatter) topCall(c *Call) {
	f.ownLines(f.take(c.VerbRange.Start))
	f.gap(c.Range.Start)
	if c.Broken && int(c.Range.End) <= len(f.text) && c.Range.End > 0 {
		f.out = append(f.out, strings.TrimSpace(f.text[c.Range.Start:c.Range.End])...)
		f.take(c.Range.End)
		f.afterCall(c.Range.End, nil)
		return
	}
	inside := f.take(c.Range.End)
	at := len(f.out)
	if len(inside) == 0 {
		f.out = AppendCall(f.out, c)
		if utf8.RuneCount(f.out[at:]) <= lineWidth || len(c.Args) == 0 {
			f.afterCall(c.Range.End, nil)
			return
		}
		f.out = f.out[:at]
	}
	parts, head, after := f.callParts(c, inside)
	// A bare call has no closing parenthesis: a comment behind its last part follows the call,
	// and so do those after it.
	if n := len(parts); n > 0 {
		after = append(slices.Clip(parts[n-1].trail), after...)
		if len(parts[n-1].trail) == 0 && len(after) > 0 {
			after = append([]Comment{{}}, after...)
		}
		parts[n-1].trail = nil
	} else {
		after, head = append(slices.Clip(head), after...), nil
		if len(head) == 0 && len(after) > 0 && !f.trails(c.VerbRange.End, after) {
			after = append([]Comment{{}}, after...)
		}
	}
	plain := len(head) == 0
	for i := range parts {
		plain = plain && len(parts[i].lead)+len(parts[i].inner)+len(parts[i].trail) == 0
	}
	if plain {
		f.out = AppendCall(f.out, c)
		plain = utf8.RuneCount(f.out[at:]) <= lineWidth || len(c.Args) == 0
	}
	if !plain {
		f.out = appendVerb(f.out[:at], c.Verb)
		f.trail(head)
		f.parts(parts, 1)
	}
	f.afterCall(c.Range.End, after)
}

// afterCall writes the comments that follow a call: the first on its line, unless it is empty,
// the others below. The comment behind the closing parenthesis is one of them.
func (f *formatter) afterCall(end int32, after []Comment) {
	if f.trails(end, f.comments) && end > 0 {
		after = append(slices.Clip(after), f.comments[0])
		f.comments = f.comments[1:]
	}
	if len(after) > 0 {
		if after[0].Range.End > 0 {
			f.trail(after[:1])
		}
		after = after[1:]
	}
	f.out = append(f.out, '\n')
	f.ownLines(after)
}

// A part is an element of a value or call that is written over several lines: an argument, an
// entry, an item, or the :as of a call.
type part struct {
	key   string // "" for an item
	ofMap bool   // the key may be quoted
	value *Value
	as    *Call // the call whose :as symbol the part is, instead of a value
	start int32 // where it begins; 0 if it was not in the text
	body  int32 // where its value begins; earlier comments precede it
	end   int32
	lead  []Comment
	inner []Comment
	trail []Comment
}

func (f *formatter) callParts(c *Call, cs []Comment) (parts []part, head, rest []Comment) {
	parts = argParts(c.Args, false)
	if c.As != "" {
		parts = append(parts, part{as: c, start: c.AsRange.Start, body: c.AsRange.Start, end: c.AsRange.End})
	}
	head, rest = f.distribute(parts, cs, c.VerbRange.End)
	return parts, head, rest
}

func argParts(args []Arg, ofMap bool) []part {
	parts := make([]part, 0, len(args)+1)
	for i := range args {
		a := &args[i]
		pt := valuePart(&a.Value)
		pt.key, pt.ofMap = a.Key, ofMap
		pt.start = a.KeyRange.Start
		parts = append(parts, pt)
	}
	return parts
}

func valuePart(v *Value) part {
	pt := part{value: v, start: v.Range.Start, body: v.Range.Start, end: v.Range.End}
	if c := v.Call(); c != nil {
		pt.body = max(pt.body, c.VerbRange.Start)
	}
	return pt
}

// distribute attaches comments to their parts. head are the comments that follow the head of the
// whole on its line, and rest those after the last part.
func (f *formatter) distribute(parts []part, cs []Comment, headEnd int32) (head, rest []Comment) {
	if f.trails(headEnd, cs) {
		head, cs = cs[:1:1], cs[1:]
	}
	order := make([]*part, len(parts))
	for i := range parts {
		order[i] = &parts[i]
	}
	slices.SortStableFunc(order, func(a, b *part) int { return int(a.start) - int(b.start) })
	for _, pt := range order {
		if pt.end == 0 {
			continue
		}
		pt.lead, cs = splitComments(cs, pt.body)
		pt.inner, cs = splitComments(cs, pt.end)
		if f.trails(pt.end, cs) {
			pt.trail, cs = cs[:1:1], cs[1:]
		}
	}
	return head, cs
}

// parts writes each part on a line of its own.
func (f *formatter) parts(parts []part, depth int) {
	for i := range parts {
		pt := &parts[i]
		for _, c := range pt.lead {
			f.newline(depth)
			f.comment(c)
		}
		f.newline(depth)
		line := len(f.out) - 2*depth
		switch {
		case pt.as != nil:
			f.out = appendAs(f.out, pt.as.As)
		case pt.key != "":
			if pt.ofMap {
				f.out = appendMapKey(f.out, pt.key)
			} else {
				f.out = appendKey(f.out, pt.key)
			}
			f.out = append(f.out, ' ')
			f.value(pt, line, depth)
		default:
			f.value(pt, line, depth)
		}
		f.trail(pt.trail)
	}
}

// value writes the value of a part on its line if it fits, otherwise over
// several.
func (f *formatter) value(pt *part, line, depth int) {
	at := len(f.out)
	if len(pt.inner) == 0 {
		f.out = appendValue(f.out, pt.value)
		if utf8.RuneCount(f.out[line:]) <= lineWidth || pt.value.n == 0 && pt.value.Kind != Nested {
			return
		}
		f.out = f.out[:at]
	}
	v := pt.value
	var parts []part
	var head, rest []Comment
	closer := byte(']')
	switch v.Kind {
	case List:
		f.out = append(f.out, '[')
		for i := range v.Items() {
			parts = append(parts, valuePart(&v.Items()[i]))
		}
		head, rest = f.distribute(parts, pt.inner, v.Range.Start+1)
	case Map:
		f.out = append(f.out, '{')
		closer = '}'
		parts = argParts(v.Entries(), true)
		head, rest = f.distribute(parts, pt.inner, v.Range.Start+1)
	case Nested:
		f.out = append(f.out, '(')
		closer = ')'
		f.out = appendVerb(f.out, v.Call().Verb)
		parts, head, rest = f.callParts(v.Call(), pt.inner)
	default: // a literal holds no comment
		f.out = appendValue(f.out, v)
		return
	}
	f.trail(head)
	f.parts(parts, depth+1)
	for _, c := range rest {
		f.newline(depth + 1)
		f.comment(c)
	}
	f.newline(depth)
	f.out = append(f.out, closer)
}
