package dsl

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Parse reads a script. It understands every call that is well formed, whatever surrounds it, and
// reports every mistake once, in the order of the text. The Script is never nil; calls with a
// mistake are marked Broken.
func Parse(src *Source) (*Script, Diagnostics) { return DefaultLimits.Parse(src) }

// Parse is the function Parse with other limits than the default.
func (l Limits) Parse(src *Source) (*Script, Diagnostics) {
	p := &parser{src: src, text: src.Text, limits: l.withDefaults(), budget: 8*len(src.Text) + 4096, endOf: 1}
	if len(src.Text) > p.limits.Bytes {
		return &Script{Source: src}, Diagnostics{tooLarge(src, p.limits.Bytes)}
	}
	p.script()
	if !utf8.ValidString(src.Text) {
		p.invalidUTF8()
	}
	return &Script{Source: p.src, Calls: p.calls, Comments: p.comments}, p.told()
}

// A parser reads bytes by offset; lines and columns are computed only for diagnostics. Arguments
// and items are collected on two stacks and moved, once their number is known, into slabs that
// are never reallocated, so that slices of them stay valid.
type parser struct {
	src    *Source
	text   string
	pos    int
	limits Limits

	args []Arg   // of the calls and maps being read
	vals []Value // of the lists being read

	argSlab  []Arg
	valSlab  []Value
	callSlab []Call
	decoded  strings.Builder // the texts of strings with escapes
	buf      []byte
	want     []byte // closers, while looking ahead

	calls    []Call
	comments []Comment
	values   int // number of values, counted against the limit
	nested   int

	diags   Diagnostics
	dropped int // diagnostics that were not kept because of the limit
	errors  int // number of all errors

	open    []opener // brackets that are open
	callAt  int      // where the top-level call begins
	verbAt  int      // where the last verb found begins and ends
	verbEnd int
	lastEnd int // where the last understood part ended
	// unwind is set when the parser has moved to the beginning of the next call and every open
	// construct is to be abandoned.
	unwind bool
	// excused is a closing bracket whose opening one is missing because of an earlier mistake.
	excused byte
	torn    int // the end of a line in which an unclosed string took too much
	sureTo  int // nested calls before this offset are known to be nested
	lineOf  int // an offset whose line is known to begin at lineAt
	lineAt  int
	endOf   int // offsets from here to endAt are on a line that ends at endAt
	endAt   int
	budget  int // how many bytes may still be read a second time
}

type opener struct {
	at     int
	closer byte
}

// script reads calls to the end of the text.
func (p *parser) script() {
	if strings.HasPrefix(p.text, bom) {
		p.pos = len(bom)
	}
	p.lastEnd = p.pos
	for {
		p.skip()
		if p.pos >= len(p.text) {
			return
		}
		var c Call
		p.callAt = p.pos
		p.excused, p.torn = 0, 0
		errors, comments, nested, values := p.errors, len(p.comments), p.nested, p.values
		switch {
		case p.text[p.pos] == '(':
			p.push(')')
			p.callBody(&c, true)
		case class[p.text[p.pos]]&(isLower|isUpper) != 0 && (p.findVerb() || p.beginsCall() || p.meantAsCall()):
			p.callBody(&c, false)
		default:
			p.strayText()
			continue
		}
		if p.unwind {
			p.settle(&c, comments)
			p.nested, p.values = nested, values
		}
		c.Range = Range{int32(p.callAt), int32(max(p.lastEnd, p.callAt))}
		c.Broken = p.errors != errors
		if len(p.calls)+p.nested >= p.limits.Calls {
			p.tell(func() Diagnostic { return tooManyCalls(p.place(p.callAt, p.callAt+1), p.limits.Calls) })
			return
		}
		if len(p.calls) == cap(p.calls) {
			p.calls = growFor(p.calls, p.callAt, len(p.text), 64, p.limits.Calls)
		}
		p.calls = append(p.calls, c)
	}
}

// callBody reads a call from its opening parenthesis, or from its verb when
// there is none, to its end.
func (p *parser) callBody(c *Call, paren bool) {
	if paren {
		p.pos++
		p.lastEnd = p.pos
		p.skip()
	}
	if p.verb(c, paren) {
		p.arguments(c, paren)
	}
}

// arguments reads the arguments after the verb.
func (p *parser) arguments(c *Call, paren bool) {
	base := len(p.args)
	for !p.unwind {
		p.skip()
		if p.pos >= len(p.text) {
			if paren {
				p.unclosed(p.pos)
			}
			break
		}
		switch b := p.text[p.pos]; {
		case b == ':':
			p.arg(c)
			continue
		case b == ')' && paren:
			p.pos++
			p.lastEnd = p.pos
			p.pop()
		case class[b]&(isLower|isUpper) != 0 && !paren && (p.findVerb() || p.beginsCall()):
		case b == '(' && !paren:
		default:
			if p.strayInCall(c, paren) {
				continue
			}
		}
		break
	}
	c.Args = p.takeArgs(base)
}

// verb reads the name at the head of a call. It returns false if the call cannot be read any
// further.
func (p *parser) verb(c *Call, paren bool) bool {
	if !p.findVerb() {
		return p.badVerb(c, paren)
	}
	start, end := p.pos, p.verbEnd
	c.Verb = p.text[start:end]
	c.VerbRange = Range{int32(start), int32(end)}
	p.pos, p.lastEnd = end, end
	if end < len(p.text) && p.text[end] == '(' {
		return p.parenthesisAfterVerb(c, paren)
	}
	return true
}

// findVerb reports whether there is a verb here, and records its end: the end of a bare call is
// found by looking for the verb of the next.
func (p *parser) findVerb() bool {
	if p.verbAt == p.pos && p.verbEnd > 0 {
		return true
	}
	end, parts := dottedEnd(p.text, p.pos, isLower)
	if parts < 2 || end < len(p.text) && (class[p.text[end]]&isWord != 0 || p.text[end] == '"') {
		return false
	}
	p.verbAt, p.verbEnd = p.pos, end
	return true
}

// arg reads `:key value`, or `:as @symbol`, from its colon.
func (p *parser) arg(c *Call) {
	key, at, ok := p.key(false)
	if !ok {
		return
	}
	if key == "as" {
		p.as(c, at)
		return
	}
	v := p.valueOf(key, at)
	if v.Kind == Invalid && p.errors > p.limits.Diagnostics {
		return // a text full of mistakes is not worth keeping
	}
	p.pushArg(key, at, v)
}

// pushArg adds an argument. It returns false if there are too many.
func (p *parser) pushArg(key string, at Range, v Value) bool {
	if !p.countValue(at) {
		return false
	}
	n := len(p.args)
	if n == cap(p.args) {
		p.args = growFor(p.args, p.pos-p.callAt, len(p.text)-p.callAt, 24, p.limits.Values)
	}
	p.args = p.args[:n+1]
	a := &p.args[n]
	a.Key, a.KeyRange, a.Value = key, at, v
	return true
}

// key reads a key with its colon, of a map or of a call. A malformed key has been reported; ok is
// false if not even a value can be expected after it.
func (p *parser) key(ofMap bool) (key string, at Range, ok bool) {
	start := p.pos
	end := start + 1
	if end < len(p.text) && class[p.text[end]]&isLower != 0 {
		for end < len(p.text) && class[p.text[end]]&isName != 0 {
			end++
		}
		if end == len(p.text) || class[p.text[end]]&isWord == 0 && p.text[end] != '"' {
			p.pos, p.lastEnd = end, end
			return p.text[start+1 : end], Range{int32(start), int32(end)}, true
		}
	} else if end < len(p.text) && p.text[end] == '"' {
		return p.quotedKey(ofMap)
	}
	return p.badKey(ofMap)
}

// quotedKey reads :"Content-Type". Only maps have such keys: others determine their names, while
// a palette names the arguments of a verb.
func (p *parser) quotedKey(ofMap bool) (key string, at Range, ok bool) {
	start, errors := p.pos, p.errors
	p.pos++
	if end := p.colonBehind(); end > 0 {
		key = p.text[start+2 : end-2]
		p.tell(func() Diagnostic {
			if key == "" {
				return quotedKey(p.place(start, end), key, ofMap)
			}
			return colonAfterKey(p.place(start, end), FormatKey(key))
		})
		p.pos, p.lastEnd = end, end
		return key, Range{int32(start), int32(end)}, true
	}
	v := p.str(false)
	at = Range{int32(start), v.Range.End}
	switch {
	case v.Kind != String:
		return "", at, false
	case p.errors > errors:
		return "", at, true
	case !ofMap || v.Text == "":
		p.tell(func() Diagnostic { return quotedKey(p.placeOf(at), v.Text, ofMap) })
	}
	return v.Text, at, true
}

// valueOf reads the value that follows a key.
func (p *parser) valueOf(key string, at Range) Value {
	p.skip()
	if p.pos < len(p.text) {
		switch b := p.text[p.pos]; {
		case b == '"' || b == '@' || b == '[' || b == '{' || b == '(' || class[b]&isDigit != 0:
			return p.value(true)
		case class[b]&(isLower|isUpper) != 0:
			if !p.startsLine(p.pos) || !p.beginsCall() {
				return p.value(true)
			}
		case b == '-' || class[b]&isWord != 0 && b != ':' && b != '=':
			return p.value(true)
		case b == '=':
			p.equalsSign(key)
			return p.valueOf(key, at)
		}
	}
	p.missingValue(at)
	return Value{Range: Range{at.End, at.End}}
}

// as reads the symbol that names the result of a call.
func (p *parser) as(c *Call, key Range) {
	p.skip()
	start := p.pos
	if start < len(p.text) && p.text[start] == '@' {
		end := wordEnd(p.text, start)
		name := p.text[start+1 : end]
		if isNameText(name, isLower|isUpper) && !p.touchesQuote(end) {
			p.pos, p.lastEnd = end, end
			if c.As != "" {
				p.tell(func() Diagnostic { return duplicateAs(p.place(int(key.Start), end), p.placeOf(c.AsRange)) })
				return
			}
			c.As, c.AsRange = name, Range{int32(start), int32(end)}
			return
		}
	}
	p.badAs(c, key)
}

// value reads one value. run is true where several unquoted words may be meant as one text: after
// a key, but not in a list.
func (p *parser) value(run bool) Value {
	start := p.pos
	switch b := p.text[start]; {
	case b == '"':
		return p.str(run)
	case b == '[':
		return p.list()
	case b == '{':
		return p.mapping()
	case b == '(':
		return p.nestedCall()
	case b == '@':
		end, ok := symbolEnd(p.text, start+1)
		if !ok || end < len(p.text) && (class[p.text[end]]&isWord != 0 || p.text[end] == '"') {
			return p.badWord(run)
		}
		return p.done(Symbol, start, end, p.text[start+1:end])
	}
	end := start
	for end < len(p.text) && class[p.text[end]]&isWord != 0 {
		end++
	}
	return p.literal(start, end, run)
}

// literal makes a value from a word.
func (p *parser) literal(start, end int, run bool) Value {
	word := p.text[start:end]
	kind := wordKind(word)
	switch kind {
	case Date:
		if why := DateFault(word); why != "" {
			return p.badDate(start, end, why)
		}
	case DateTime:
		if why := dateTimeProblem(word); why != "" {
			return p.badDate(start, end, why)
		}
		word = canonicalDateTime(word)
	case UUID:
		word = lowerASCII(word)
	case Invalid:
		return p.badWord(run)
	}
	if p.touchesQuote(end) {
		return p.badWord(run)
	}
	return p.done(kind, start, end, word)
}

func (p *parser) done(k Kind, start, end int, text string) Value {
	p.pos, p.lastEnd = end, end
	return Value{Kind: k, Range: Range{int32(start), int32(end)}, Text: text}
}

// touchesQuote reports whether a string begins right where a word ends. Words, keys and strings
// are separated by white space; a quote that touches a word has nearly always lost its partner.
func (p *parser) touchesQuote(end int) bool {
	return end < len(p.text) && p.text[end] == '"'
}

// list reads from [ to ].
func (p *parser) list() Value {
	start := p.pos
	if !p.push(']') {
		return Value{Range: Range{int32(start), int32(start + 1)}}
	}
	p.pos++
	p.lastEnd = p.pos
	base := len(p.vals)
	comma := true // a comma here would follow no item
	for !p.unwind {
		p.skip()
		if p.pos >= len(p.text) {
			p.unclosed(p.pos)
			break
		}
		b := p.text[p.pos]
		if b == ']' {
			p.pos++
			p.lastEnd = p.pos
			p.pop()
			break
		}
		if b == ',' && !comma {
			comma = true
			p.pos++
			continue
		}
		if b == '(' && p.pos >= p.sureTo && !p.belongsHere() {
			p.unclosed(p.pos)
			break
		}
		if class[b]&isWord == 0 && b != '"' && b != '[' && b != '{' && b != '(' || b == ':' ||
			class[b]&(isLower|isUpper) != 0 && p.verbAtLineStart() {
			if b == ':' && len(p.vals) == base {
				return p.bracketsForMap(start)
			}
			if class[b]&(isLower|isUpper) != 0 {
				if v, ok := p.unopened(); ok {
					p.vals = append(p.vals, v)
					comma = false
					continue
				} else if p.unwind {
					break
				}
			}
			if p.strayInList() {
				continue
			}
			break
		}
		v := p.value(false)
		comma = false
		if !p.countValue(v.Range) {
			break
		}
		if len(p.vals) == cap(p.vals) {
			p.vals = growFor(p.vals, p.pos-p.callAt, len(p.text)-p.callAt, 64, p.limits.Values)
		}
		p.vals = append(p.vals, v)
	}
	if p.unwind {
		p.vals = p.vals[:base]
		return Value{Range: Range{int32(start), int32(start + 1)}}
	}
	v := listOf(p.takeVals(base))
	v.Range = Range{int32(start), int32(p.lastEnd)}
	return v
}

// mapping reads from { to }.
func (p *parser) mapping() Value {
	start := p.pos
	if !p.push('}') {
		return Value{Range: Range{int32(start), int32(start + 1)}}
	}
	p.pos++
	p.lastEnd = p.pos
	return p.entries(start, '}')
}

func (p *parser) entries(start int, closer byte) Value {
	base := len(p.args)
	comma := true
	var foreign []Edit // edits that would turn JSON keys into keys of ours
	var foreignAt Range
	for !p.unwind {
		p.skip()
		if p.pos >= len(p.text) {
			p.unclosed(p.pos)
			break
		}
		b := p.text[p.pos]
		if b == closer {
			p.pos++
			p.lastEnd = p.pos
			p.pop()
			break
		}
		if b == ',' && !comma {
			comma = true
			p.pos++
			continue
		}
		var key string
		var at Range
		ok := false
		if b == ':' {
			key, at, ok = p.key(true)
			if !ok {
				comma = false
				continue
			}
		} else if key, at, ok = p.foreignKey(&foreign); ok {
			if foreignAt.End == 0 {
				foreignAt = at
			}
		} else if p.strayInMap() {
			comma = false
			continue
		} else {
			break
		}
		comma = false
		if v := p.valueOf(key, at); !p.pushArg(key, at, v) {
			break
		}
	}
	if len(foreign) > 0 {
		p.errors++
		p.keep(func() Diagnostic { return jsonMap(p.placeOf(foreignAt), foreign) })
	}
	if p.unwind {
		p.args = p.args[:base]
		return Value{Range: Range{int32(start), int32(start + 1)}}
	}
	p.duplicateKeys(p.args[base:])
	v := mapOf(p.takeArgs(base))
	v.Range = Range{int32(start), int32(p.lastEnd)}
	return v
}

// nestedCall reads a call in parentheses as a value.
func (p *parser) nestedCall() Value {
	start := p.pos
	if len(p.calls)+p.nested+1 >= p.limits.Calls {
		p.tell(func() Diagnostic { return tooManyCalls(p.place(start, start+1), p.limits.Calls) })
		p.stop()
		return Value{Range: Range{int32(start), int32(start + 1)}}
	}
	if !p.push(')') {
		return Value{Range: Range{int32(start), int32(start + 1)}}
	}
	p.nested++
	if len(p.callSlab) == 0 {
		p.callSlab = make([]Call, min(256, (len(p.text)-start)/64+1))
	}
	c := &p.callSlab[0]
	p.callSlab = p.callSlab[1:]
	errors := p.errors
	p.callBody(c, true)
	if p.unwind {
		return Value{Range: Range{int32(start), int32(start + 1)}}
	}
	c.Range = Range{int32(start), int32(p.lastEnd)}
	c.Broken = p.errors != errors
	v := nestedOf(c)
	v.Range = c.Range
	return v
}

// push opens a bracket. If it is nested too deeply, it reports that, moves to the next call, and
// returns false.
func (p *parser) push(closer byte) bool {
	if len(p.open) >= p.limits.Depth {
		p.tell(func() Diagnostic { return tooDeep(p.place(p.pos, p.pos+1), p.limits.Depth) })
		p.leave(p.nextCall(p.pos+1, len(p.text)))
		return false
	}
	p.open = append(p.open, opener{p.pos, closer})
	return true
}

func (p *parser) pop() { p.open = p.open[:len(p.open)-1] }

// countValue counts a value, and stops the parser beyond the limit.
func (p *parser) countValue(at Range) bool {
	p.values++
	if p.values <= p.limits.Values {
		return true
	}
	if !p.unwind {
		p.tell(func() Diagnostic { return tooManyValues(p.placeOf(at), p.limits.Values) })
		p.stop()
	}
	return false
}

// stop ends the parsing: nothing further is read.
func (p *parser) stop() { p.leave(len(p.text)) }

// leave moves to an offset where a call may begin and abandons everything that is open.
func (p *parser) leave(to int) {
	p.pos = to
	p.unwind = true
}

// skip skips white space and comments, most often a single space.
func (p *parser) skip() {
	if p.pos+1 < len(p.text) && p.text[p.pos] == ' ' && class[p.text[p.pos+1]]&isStart != 0 {
		p.pos++
		return
	}
	p.skipMore()
}

func (p *parser) skipMore() {
	for p.pos < len(p.text) {
		b := p.text[p.pos]
		switch {
		case class[b]&isSpace != 0:
			p.pos++
		case b == ';' || b == '#':
			p.comment()
		case b >= utf8.RuneSelf || b < ' ' || b == 0x7f:
			if !p.oddity() {
				return
			}
		default:
			return
		}
	}
}

func (p *parser) comment() {
	start := p.pos
	i := start
	for i < len(p.text) {
		if class[p.text[i]]&inComment != 0 {
			i++
			continue
		}
		if b := p.text[i]; b == '\n' || b == '\r' {
			break
		}
		i += p.control(i)
	}
	end := i
	for end > start && (p.text[end-1] == ' ' || p.text[end-1] == '\t') {
		end--
	}
	if len(p.comments) == cap(p.comments) {
		p.comments = growFor(p.comments, start, len(p.text), 256, len(p.text))
	}
	p.comments = append(p.comments, Comment{Range{int32(start), int32(end)}})
	p.pos = i
}

// place returns a range of the text for diagnostics.
func (p *parser) place(start, end int) Place {
	return Place{p.src, Range{int32(start), int32(min(end, len(p.text), math.MaxInt32))}}
}

func (p *parser) placeOf(r Range) Place { return Place{p.src, r} }

// tell counts a mistake and keeps it while there is room; only then is the diagnostic made.
func (p *parser) tell(make func() Diagnostic) {
	p.errors++
	p.keep(make)
}

func (p *parser) keep(make func() Diagnostic) {
	if len(p.diags) >= p.limits.Diagnostics {
		p.dropped++
		return
	}
	p.diags = append(p.diags, make())
}

// told returns the diagnostics in the order of the text.
func (p *parser) told() Diagnostics {
	slices.SortStableFunc(p.diags, func(a, b Diagnostic) int {
		return int(a.Place.Range.Start) - int(b.Place.Range.Start)
	})
	if p.dropped > 0 {
		p.diags = append(p.diags, tooManyMistakes(p.dropped, p.limits.Diagnostics))
	}
	return p.diags
}
