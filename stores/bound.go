package stores

import (
	"regexp"
	"slices"
	"strings"
)

// A Bound is what one part of a CHECK constraint demands of a column: `pages > 0`, say, or
// `length(code) = 3`.
type Bound struct {
	Column string
	Length bool   // of the text's length, and not of the value
	Op     string // < <= > >= = or ~, which is a regular expression
	Value  string // without quotes
}

// Bounds returns the parts of the expression of a CHECK constraint that compare one column with a
// constant. ok is false if the expression says anything else.
func Bounds(expression string) (all []Bound, ok bool) {
	tokens, ok := boundTokens(expression)
	for ok && len(tokens) > 0 {
		var part []boundToken
		for len(tokens) > 0 && !(tokens[0].is("and") && !between(part)) {
			part, tokens = append(part, tokens[0]), tokens[1:]
		}
		if len(tokens) > 0 {
			tokens = tokens[1:]
		}
		var found []Bound
		found, ok = boundOf(part)
		all = append(all, found...)
	}
	return all, ok && len(all) > 0
}

// between reports whether an AND belongs to a BETWEEN.
func between(part []boundToken) bool {
	for i := range part {
		if part[i].is("between") {
			return i+2 == len(part)
		}
	}
	return false
}

func boundOf(t []boundToken) (all []Bound, ok bool) {
	if len(t) > 4 && t[1].is("is") && t[2].is("null") && t[3].is("or") { // a null passes in any case
		null := t[0].text
		all, ok = boundOf(t[4:])
		return all, ok && all[0].Column == null
	}
	length := len(t) > 0 && (t[0].is("length") || t[0].is("char_length") || t[0].is("character_length"))
	if length {
		t = t[1:]
	}
	word := func(i int) bool { return t[i].kind == 'w' }
	constant := func(i int) bool { return t[i].kind == 'n' || t[i].kind == 's' }
	switch {
	case len(t) == 5 && word(0) && t[1].is("between") && constant(2) && t[3].is("and") && constant(4):
		return []Bound{{t[0].text, length, ">=", t[2].text}, {t[0].text, length, "<=", t[4].text}}, true
	case len(t) == 3 && word(0) && t[1].kind == 'o' && constant(2):
		return []Bound{{t[0].text, length, t[1].text, t[2].text}}, true
	case len(t) == 3 && constant(0) && t[1].kind == 'o' && word(2) && t[1].text != "~":
		turned := map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "="}
		return []Bound{{t[2].text, length, turned[t[1].text], t[0].text}}, true
	}
	return nil, false
}

// A boundToken is a word, a number, a string or an operator.
type boundToken struct {
	kind byte // w, n, s or o
	text string
}

func (t *boundToken) is(word string) bool { return t.kind == 'w' && strings.EqualFold(t.text, word) }

// boundTokens splits an expression, without brackets and casts.
func boundTokens(rest string) (all []boundToken, ok bool) {
	for {
		rest = strings.TrimLeft(rest, " \t\r\n()")
		if rest == "" {
			return all, true
		}
		n := 1
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "::"):
			rest = withoutType(rest[2:])
			continue
		case c == '\'' || c == '"' || c == '`':
			text, after, closed := unquote(rest)
			if !closed {
				return nil, false
			}
			kind := byte('w')
			if c == '\'' {
				kind = 's'
			}
			all, rest = append(all, boundToken{kind, text}), after
			continue
		case isWord(c) && (c < '0' || c > '9'):
			for n < len(rest) && isWord(rest[n]) {
				n++
			}
			all = append(all, boundToken{'w', rest[:n]})
		case c >= '0' && c <= '9' || c == '-':
			for n < len(rest) && (rest[n] >= '0' && rest[n] <= '9' || rest[n] == '.') {
				n++
			}
			all = append(all, boundToken{'n', rest[:n]})
		case strings.IndexByte("<>=~", c) >= 0:
			for n < len(rest) && strings.IndexByte("<>=~*", rest[n]) >= 0 {
				n++
			}
			if op := rest[:n]; op == "<>" || len(op) > 1 && op != "<=" && op != ">=" {
				return nil, false
			}
			all = append(all, boundToken{'o', rest[:n]})
		default:
			return nil, false
		}
		rest = rest[n:]
	}
}

// withoutType removes the name of a type.
func withoutType(rest string) string {
	for {
		n := 0
		for n < len(rest) && isWord(rest[n]) {
			n++
		}
		word := rest[:n]
		rest = withoutLength(rest[n:])
		after := strings.TrimLeft(rest, " ")
		switch { // types of several words
		case word == "character" && strings.HasPrefix(after, "varying"), word == "double" && strings.HasPrefix(after, "precision"),
			word == "timestamp" && strings.HasPrefix(after, "with"), word == "without" || word == "with", word == "time" && strings.HasPrefix(after, "zone"):
			rest = after
			continue
		}
		return strings.TrimPrefix(rest, "[]")
	}
}

// Whole returns the pattern of a palette, which all of a text must match, for a regular expression
// that some of it must match. ok is false if there is none, or one that RE2 lacks.
func Whole(expression string) (pattern string, ok bool) {
	inner, begins := strings.CutPrefix(expression, "^")
	inner, ends := strings.CutSuffix(inner, "$")
	if _, err := regexp.Compile(inner); err != nil || !begins || !ends || strings.HasSuffix(inner, `\`) || strings.Contains(inner, "|") && !strings.HasPrefix(inner, "(") {
		return "", false
	}
	return inner, true
}

// Bounded notes what the expression of a CHECK constraint demands of columns, whose kinds are known,
// or that no field can say it.
func (t *Table) Bounded(expression string) {
	if _, _, ok := CheckedValues(expression); ok {
		return
	}
	all, ok := Bounds(expression)
	for i := range all {
		ok = ok && t.bound(&all[i])
	}
	if !ok {
		t.Unsaid = append(t.Unsaid, expression)
	}
}

func (t *Table) bound(b *Bound) bool {
	at := slices.IndexFunc(t.Columns, func(c TableColumn) bool { return strings.EqualFold(c.Name, b.Column) })
	if at < 0 {
		return false
	}
	c := &t.Columns[at]
	if b.Op == "~" {
		pattern, ok := Whole(b.Value)
		if ok = ok && c.Kind == String && c.Pattern == ""; ok {
			c.Pattern = pattern
		}
		return ok
	}
	kind := c.Kind
	if b.Length {
		kind = Int
	}
	v, ok := Parse(kind, b.Value)
	if !ok || b.Length != (c.Kind == String) {
		return false
	}
	if b.Op == "<" || b.Op == ">" { // the next value that it may be
		next := int64(1)
		if b.Op == "<" {
			next = -1
		}
		switch {
		case kind == Int:
			v = NewInt(v.Int() + next)
		case kind == Date:
			v = NewDays(v.num + next)
		case kind == Decimal && c.Places > 0:
			step, _ := ParseDecimal("0." + strings.Repeat("0", c.Places-1) + "1")
			if v, ok = Arith(map[int64]byte{1: '+', -1: '-'}[next], v, step); !ok {
				return false
			}
		default:
			return false
		}
	}
	least, most := b.Op[0] == '>' || b.Op == "=", b.Op[0] == '<' || b.Op == "="
	switch {
	case b.Length:
		if least {
			c.MinLength = int(v.Int())
		}
		if n := int(v.Int()); most && (c.Length == 0 || n < c.Length) {
			c.Length = n
		}
	case kind == Int || kind == Decimal || kind == Date:
		if least {
			c.Min = v.Text()
		}
		if most {
			c.Max = v.Text()
		}
	default:
		return false
	}
	return true
}
