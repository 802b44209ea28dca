package dsl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// captured is the token a rule captures: participle puts those before it that
// are elided.
func captured(ts []lexer.Token) lexer.Token {
	if len(ts) == 0 {
		return lexer.Token{}
	}
	return ts[len(ts)-1]
}

// kinds are the names of the tokens of calls.
var kinds = sync.OnceValue(func() map[lexer.TokenType]string {
	names := map[lexer.TokenType]string{}
	for name, t := range callGrammar.parser().Lexer().Symbols() {
		names[t] = name
	}
	return names
})

// parseByGrammar reads a script with the declared grammar. It is slow, stops at
// the first mistake and says little about it; it is there to be compared with
// Parse, which must accept the same texts and make the same of them.
//
// Beside the grammar it holds a text to the rules that a grammar of this kind
// cannot say: two words, keys or strings do not touch, nor a verb and an
// opening parenthesis; the calendar has the dates; escapes name characters;
// the keys of a map differ and a call has one :as; the limits hold, those on
// size apart.
func parseByGrammar(src *Source) (*Script, error) {
	text, skipped := strings.CutPrefix(src.Text, bom)
	c := converter{src: src}
	if skipped {
		c.shift = int32(len(bom))
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("the text is not UTF-8")
	}
	lex, err := callGrammar.parser().Lex(src.Name, strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	script := &Script{Source: src}
	var before lexer.Token
	for _, t := range lex {
		if err := c.touching(before, t); err != nil {
			return nil, err
		}
		if kinds()[t.Type] == "Comment" {
			script.Comments = append(script.Comments, Comment{c.tokenRange(t, strings.TrimRight(t.Value, " \t"))})
		}
		before = t
	}
	tree, err := callGrammar.parser().ParseString(src.Name, text)
	if err != nil {
		return nil, err
	}
	for _, r := range tree.Calls {
		body := r.Bare
		if body == nil {
			body = r.Nested.Body
			c.depth++
		}
		call := c.call(body)
		if r.Bare == nil {
			c.depth--
		}
		call.Range = c.span(r.Pos, r.EndPos)
		if r.Bare != nil {
			call.Range.End = c.last
		}
		script.Calls = append(script.Calls, call)
	}
	return script, c.err
}

type converter struct {
	src   *Source
	shift int32 // of a byte order mark
	last  int32 // where the last token converted ends
	depth int
	calls int
	count int
	err   error
}

func (c *converter) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

func (c *converter) touching(a, b lexer.Token) error {
	word := func(t lexer.Token) bool {
		switch kinds()[t.Type] {
		case "Space", "Comment", "Punctuation", "EOF", "":
			return false
		}
		return true
	}
	if word(a) && (word(b) || kinds()[a.Type] == "Verb" && b.Value == "(") {
		return fmt.Errorf("%s: %q touches %q", b.Pos, a.Value, b.Value)
	}
	return nil
}

func (c *converter) span(from, to lexer.Position) Range {
	return Range{c.shift + int32(from.Offset), c.shift + int32(to.Offset)}
}

func (c *converter) tokenRange(t lexer.Token, value string) Range {
	at := c.shift + int32(t.Pos.Offset)
	return Range{at, at + int32(len(value))}
}

func (c *converter) token(t lexer.Token) Range {
	r := c.tokenRange(t, t.Value)
	c.last = r.End
	return r
}

func (c *converter) call(body *bodyRule) Call {
	c.calls++
	if c.calls > DefaultLimits.Calls {
		c.fail("too many calls")
	}
	verb := captured(body.Verb)
	call := Call{Verb: verb.Value, VerbRange: c.token(verb)}
	for _, a := range body.Arguments {
		if as := captured(a.As); as.Value != "" {
			if call.As != "" {
				c.fail("%s: a second :as", as.Pos)
			}
			call.As, call.AsRange = as.Value[1:], c.token(as)
			continue
		}
		call.Args = append(call.Args, c.arg(captured(a.Key), a.Value))
	}
	return call
}

func (c *converter) arg(key lexer.Token, v *valueRule) Arg {
	c.counted()
	name := key.Value[1:]
	if kinds()[key.Type] == "QuotedKey" {
		name = c.unquote(name)
	}
	return Arg{Key: name, KeyRange: c.tokenRange(key, key.Value), Value: c.value(v)}
}

func (c *converter) counted() {
	if c.count++; c.count > DefaultLimits.Values {
		c.fail("too many values")
	}
}

func (c *converter) value(r *valueRule) Value {
	if t := captured(r.Literal); t.Value != "" {
		return c.literal(t)
	}
	if c.depth++; c.depth > DefaultLimits.Depth {
		c.fail("%s: too deep", r.Pos)
		return Value{}
	}
	var v Value
	switch {
	case r.List != nil:
		var items []Value
		for _, item := range r.List.Items {
			c.counted()
			items = append(items, c.value(item))
		}
		v = listOf(items)
	case r.Map != nil:
		var entries []Arg
		seen := map[string]bool{}
		for _, e := range r.Map.Entries {
			entry := c.arg(captured(e.Key), e.Value)
			if seen[entry.Key] {
				c.fail("%s: %q twice", captured(e.Key).Pos, entry.Key)
			}
			seen[entry.Key] = true
			entries = append(entries, entry)
		}
		v = mapOf(entries)
	default:
		call := c.call(r.Call.Body)
		call.Range = c.span(r.Pos, r.EndPos)
		v = nestedOf(&call)
	}
	c.depth--
	v.Range = c.span(r.Pos, r.EndPos)
	c.last = v.Range.End
	return v
}

func (c *converter) literal(t lexer.Token) Value {
	v := Value{Range: c.token(t), Text: t.Value}
	switch kinds()[t.Type] {
	case "String":
		v.Kind = String
		v.Text = c.unquote(t.Value)
	case "Integer":
		v.Kind = Integer
	case "Decimal":
		v.Kind = Decimal
	case "Date":
		v.Kind = Date
		if why := DateFault(t.Value); why != "" {
			c.fail("%s", why)
		}
	case "DateTime":
		v.Kind = DateTime
		v.Text = strings.ToUpper(t.Value)
		if why := dateTimeProblem(t.Value); why != "" {
			c.fail("%s", why)
		}
	case "UUID":
		v.Kind = UUID
		v.Text = strings.ToLower(t.Value)
	case "Code":
		v.Kind = Code
	case "Symbol", "Row", "Path":
		v.Kind = Symbol
		v.Text = t.Value[1:]
	default:
		v.Kind = Bool
		if t.Value == "nil" {
			v.Kind = Nil
		}
	}
	return v
}

// unquote decodes a string of the right shape.
func (c *converter) unquote(s string) string {
	var b strings.Builder
	for s = s[1 : len(s)-1]; s != ""; {
		plain, rest, found := strings.Cut(s, `\`)
		b.WriteString(plain)
		if !found {
			break
		}
		s = rest[1:]
		switch rest[0] {
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'u':
			var r rune
			r, s = hexRune(s)
			if utf16.IsSurrogate(r) && rest[1] != '{' && strings.HasPrefix(s, `\u`) && s[2] != '{' {
				low, after := hexRune(s[2:])
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					r, s = pair, after
				}
			}
			if !utf8.ValidRune(r) {
				c.fail("an escape names no character")
			}
			b.WriteRune(r)
		default:
			b.WriteByte(rest[0])
		}
	}
	return b.String()
}

// hexRune reads XXXX or {X…} and returns what follows.
func hexRune(s string) (rune, string) {
	hex, rest, braced := strings.Cut(s[1:], "}")
	if s[0] != '{' || !braced {
		hex, rest = s[:4], s[4:]
	}
	n, _ := strconv.ParseUint(hex, 16, 32)
	return rune(n), rest
}
