// Package frozen is a parser of the command language written by hand for one
// purpose: to say how fast such a thing can reasonably be. It builds the whole
// tree, every node with its range of bytes, and gives up at the first mistake
// with nothing but an offset: no messages, no recovery, no comments, no limits
// on size. It is frozen: when the parser of package dsl gets faster or slower,
// this one does not follow.
package frozen

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Range is a half-open run of bytes.
type Range struct{ Start, End int32 }

// A Call is a verb and its arguments.
type Call struct {
	Verb      string
	VerbRange Range
	Args      []Arg
	As        string
	AsRange   Range
	Range     Range
}

// An Arg is a key and its value.
type Arg struct {
	Key      string
	KeyRange Range
	Value    Value
}

// Kind is what a value is.
type Kind uint8

// The kinds of value.
const (
	Nil Kind = iota
	Bool
	Integer
	Decimal
	String
	Date
	DateTime
	UUID
	Code
	Symbol
	List
	Map
	Nested
)

// A Value is a literal, or made of values.
type Value struct {
	Kind  Kind
	Range Range
	Text  string
	Inner *Inner // of a list, a map or a nested call
}

// Inner holds what few values have.
type Inner struct {
	Items   []Value
	Entries []Arg
	Call    Call
}

// An Error is where the text stopped making sense.
type Error struct{ Offset int }

func (e Error) Error() string { return fmt.Sprintf("syntax error at byte %d", e.Offset) }

// Character classes of a byte.
const (
	space = 1 << iota
	lower
	upper
	digit
	word // goes on in a name or a code: letters, digits, - _
)

var class = func() (t [256]uint8) {
	for _, c := range " \t\r\n" {
		t[c] |= space
	}
	for c := 'a'; c <= 'z'; c++ {
		t[c] |= lower | word
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c] |= upper | word
	}
	for c := '0'; c <= '9'; c++ {
		t[c] |= digit | word
	}
	t['-'] |= word
	t['_'] |= word
	return t
}()

const maxDepth = 100

type parser struct {
	src   string
	pos   int
	depth int
	args  []Arg // arguments of outermost calls, which are cut from it
	stack []Arg // arguments and entries of what is nested and still open
	items []Value
}

// Parse reads a script.
func Parse(src string) (calls []Call, err error) {
	if !utf8.ValidString(src) {
		return nil, Error{0}
	}
	p := parser{src: src}
	// A colon stands before every key and in few other places, so this is a
	// good guess at the number of arguments; a call has a line more often than
	// not.
	p.args = make([]Arg, 0, strings.Count(src, ":")+1)
	calls = make([]Call, 0, strings.Count(src, "\n")+1)
	for {
		p.skip()
		if p.pos >= len(src) {
			return calls, nil
		}
		calls = append(calls, Call{})
		if !p.call(&calls[len(calls)-1], &p.args) {
			return nil, Error{p.pos}
		}
	}
}

// skip passes over white space and comments.
func (p *parser) skip() {
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		if class[c]&space != 0 {
			p.pos++
			continue
		}
		if c != ';' && c != '#' {
			return
		}
		if i := strings.IndexByte(p.src[p.pos:], '\n'); i >= 0 {
			p.pos += i + 1
		} else {
			p.pos = len(p.src)
		}
	}
}

func (p *parser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

// name passes over lower-case words joined by dots, and counts them.
func (p *parser) name() (parts int) {
	for {
		if class[p.peek()]&lower == 0 {
			return 0
		}
		for p.pos < len(p.src) && class[p.src[p.pos]]&word != 0 {
			p.pos++
		}
		parts++
		if p.peek() != '.' {
			return parts
		}
		p.pos++
	}
}

// call reads one call. Its arguments are gathered at the end of into, which is
// p.args for an outermost call, whose arguments stay there, and p.stack for a
// nested one.
func (p *parser) call(c *Call, into *[]Arg) bool {
	start := p.pos
	closed := p.peek() == '('
	if closed {
		p.pos++
		p.skip()
	}
	verb := p.pos
	if p.name() < 2 {
		return false
	}
	c.Verb, c.VerbRange = p.src[verb:p.pos], p.span(verb)
	end := p.pos
	base := len(*into)
	for {
		p.skip()
		if p.peek() != ':' {
			break
		}
		at := p.pos
		p.pos++
		if p.name() != 1 {
			return false
		}
		key, keyRange := p.src[at+1:p.pos], p.span(at)
		p.skip()
		if key == "as" {
			at := p.pos
			if p.peek() != '@' {
				return false
			}
			p.pos++
			if p.name() != 1 || c.As != "" {
				return false
			}
			c.As, c.AsRange = p.src[at+1:p.pos], p.span(at)
			end = p.pos
			continue
		}
		*into = append(*into, Arg{Key: key, KeyRange: keyRange})
		i := len(*into) - 1
		if into == &p.args {
			// Nothing else is appended to it meanwhile, so the value can be
			// read where it stays.
			if !p.value(&(*into)[i].Value) {
				return false
			}
		} else {
			var v Value
			if !p.value(&v) {
				return false
			}
			(*into)[i].Value = v
		}
		end = p.pos
	}
	if closed {
		if p.peek() != ')' {
			return false
		}
		p.pos++
		end = p.pos
	}
	c.Range = Range{int32(start), int32(end)}
	if into == &p.args {
		c.Args = p.args[base:len(p.args):len(p.args)]
	} else {
		c.Args = p.cut(base)
	}
	return true
}

// cut moves what is above base from the stack to where it stays.
func (p *parser) cut(base int) []Arg {
	args := append([]Arg(nil), p.stack[base:]...)
	p.stack = p.stack[:base]
	return args
}

func (p *parser) span(start int) Range { return Range{int32(start), int32(p.pos)} }

func (p *parser) value(v *Value) bool {
	start := p.pos
	switch c := p.peek(); {
	case c == '"':
		v.Kind = String
		if !p.text(v) {
			return false
		}
	case c == '@':
		v.Kind = Symbol
		p.pos++
		if p.name() == 0 {
			return false
		}
		v.Text = p.src[start+1 : p.pos]
	case class[c]&(digit|lower|upper) != 0 || c == '-' || c == '+':
		if !p.atom(v) {
			return false
		}
	case c == '[' || c == '{' || c == '(':
		if p.depth++; p.depth > maxDepth {
			return false
		}
		ok := false
		switch c {
		case '[':
			ok = p.list(v)
		case '{':
			ok = p.mapping(v)
		default:
			v.Kind, v.Inner = Nested, &Inner{}
			ok = p.call(&v.Inner.Call, &p.stack)
		}
		if !ok {
			return false
		}
		p.depth--
	default:
		return false
	}
	v.Range = p.span(start)
	return true
}

func (p *parser) list(v *Value) bool {
	v.Kind, v.Inner = List, &Inner{}
	p.pos++
	base := len(p.items)
	for {
		p.skip()
		switch p.peek() {
		case ']':
			p.pos++
			v.Inner.Items = append([]Value(nil), p.items[base:]...)
			p.items = p.items[:base]
			return true
		case ',':
			if len(p.items) == base {
				return false
			}
			p.pos++
			p.skip()
		}
		var item Value
		if !p.value(&item) {
			return false
		}
		p.items = append(p.items, item)
	}
}

func (p *parser) mapping(v *Value) bool {
	v.Kind, v.Inner = Map, &Inner{}
	p.pos++
	base := len(p.stack)
	for {
		p.skip()
		switch p.peek() {
		case '}':
			p.pos++
			v.Inner.Entries = p.cut(base)
			return true
		case ',':
			if len(p.stack) == base {
				return false
			}
			p.pos++
			p.skip()
		}
		at := p.pos
		if p.peek() != ':' {
			return false
		}
		p.pos++
		if p.name() != 1 {
			return false
		}
		p.stack = append(p.stack, Arg{Key: p.src[at+1 : p.pos], KeyRange: p.span(at)})
		i := len(p.stack) - 1
		p.skip()
		var entry Value
		if !p.value(&entry) {
			return false
		}
		p.stack[i].Value = entry
	}
}

// text reads a string; one without a backslash is a slice of the source.
func (p *parser) text(v *Value) bool {
	p.pos++
	start := p.pos
	for i := start; i < len(p.src); i++ {
		switch p.src[i] {
		case '"':
			v.Text = p.src[start:i]
			p.pos = i + 1
			return true
		case '\\':
			return p.escaped(v, start, i)
		}
	}
	return false
}

func (p *parser) escaped(v *Value, start, i int) bool {
	out := append(make([]byte, 0, 2*(i-start)+16), p.src[start:i]...)
	for i < len(p.src) {
		c := p.src[i]
		switch {
		case c == '"':
			v.Text = string(out)
			p.pos = i + 1
			return true
		case c != '\\':
			out = append(out, c)
			i++
			continue
		case i+1 >= len(p.src):
			return false
		}
		switch c := p.src[i+1]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			if i+6 > len(p.src) {
				return false
			}
			n, err := strconv.ParseUint(p.src[i+2:i+6], 16, 32)
			if err != nil {
				return false
			}
			out = utf8.AppendRune(out, rune(n))
			i += 4
		default:
			return false
		}
		i += 2
	}
	return false
}

// atom reads what begins with a letter, a digit or a sign: a number, a date, a
// uuid, a code, true, false or nil.
func (p *parser) atom(v *Value) bool {
	start := p.pos
	signed := p.src[start] == '-' || p.src[start] == '+'
	if signed {
		p.pos++
	}
	digits := p.pos
	for p.pos < len(p.src) && class[p.src[p.pos]]&word != 0 {
		p.pos++
	}
	word := p.src[start:p.pos]
	if isUUID(word) {
		v.Kind, v.Text = UUID, strings.ToLower(word)
		return true
	}
	switch c := word[0]; {
	case signed || class[c]&digit != 0:
		return p.number(v, start, digits)
	case class[c]&upper != 0:
		for i := 1; i < len(word); i++ {
			if class[word[i]]&lower != 0 || word[i] == '-' {
				return false
			}
		}
		v.Kind = Code
	case word == "true" || word == "false":
		v.Kind = Bool
	case word == "nil":
		v.Kind = Nil
	default:
		return false
	}
	v.Text = word
	return true
}

func (p *parser) number(v *Value, start, digits int) bool {
	text := p.src[digits:p.pos]
	if len(text) >= 10 && text[4] == '-' && start == digits {
		if !isDate(text[:10]) {
			return false
		}
		if len(text) == 10 {
			v.Kind, v.Text = Date, text
			return true
		}
		return p.instant(v, start)
	}
	if !allDigits(text) {
		return false
	}
	v.Kind = Integer
	if p.peek() == '.' {
		p.pos++
		from := p.pos
		for class[p.peek()]&digit != 0 {
			p.pos++
		}
		if p.pos == from {
			return false
		}
		v.Kind = Decimal
	}
	v.Text = p.src[start:p.pos]
	return true
}

// instant reads the time of day after a date: T10:00, seconds, a fraction and
// an offset; the words between colons were cut at the first colon.
func (p *parser) instant(v *Value, start int) bool {
	s := p.src[start:]
	if len(s) < 17 || s[10] != 'T' || !allDigits(s[11:13]) || s[13] != ':' || !allDigits(s[14:16]) || s[11:13] > "23" || s[14:16] > "59" {
		return false
	}
	i := 16
	if i+3 <= len(s) && s[i] == ':' {
		if !allDigits(s[i+1:i+3]) || s[i+1:i+3] > "59" {
			return false
		}
		i += 3
		if i < len(s) && s[i] == '.' {
			from := i + 1
			for i++; i < len(s) && class[s[i]]&digit != 0; i++ {
			}
			if i == from {
				return false
			}
		}
	}
	switch {
	case i < len(s) && s[i] == 'Z':
		i++
	case i+6 <= len(s) && (s[i] == '+' || s[i] == '-') && allDigits(s[i+1:i+3]) && s[i+3] == ':' && allDigits(s[i+4:i+6]):
		i += 6
	default:
		return false
	}
	p.pos = start + i
	v.Kind, v.Text = DateTime, s[:i]
	return true
}

func allDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if class[s[i]]&digit == 0 {
			return false
		}
	}
	return s != ""
}

func isDate(s string) bool {
	if s[4] != '-' || s[7] != '-' || !allDigits(s[:4]) || !allDigits(s[5:7]) || !allDigits(s[8:10]) {
		return false
	}
	month := int(s[5]-'0')*10 + int(s[6]-'0')
	day := int(s[8]-'0')*10 + int(s[9]-'0')
	year := int(s[0]-'0')*1000 + int(s[1]-'0')*100 + int(s[2]-'0')*10 + int(s[3]-'0')
	if month < 1 || month > 12 || day < 1 {
		return false
	}
	last := [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		last = 29
	}
	return day <= last
}

func isUUID(s string) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i] | 0x20; {
		case i == 8 || i == 13 || i == 18 || i == 23:
		case c >= 'a' && c <= 'f', s[i] >= '0' && s[i] <= '9':
		default:
			return false
		}
	}
	return true
}
