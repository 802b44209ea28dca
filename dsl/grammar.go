package dsl

import (
	"fmt"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// A Grammar is declared by types with tags for participle, which only this file meets. T is the type
// of what is read; a type named xRule is the production x. It is compiled when it is first used.
type Grammar[T any] struct {
	tokens [][2]string
	parser func() *participle.Parser[T]
}

// NewGrammar makes a grammar. Each line of tokens has the name of a kind of token and the regular
// expression for it; the first that matches is taken. Space and Comment may stand anywhere.
func NewGrammar[T any](tokens string) *Grammar[T] {
	g := &Grammar[T]{}
	for line := range strings.Lines(strings.TrimSpace(tokens)) {
		name, pattern, _ := strings.Cut(strings.TrimSpace(line), " ")
		g.tokens = append(g.tokens, [2]string{name, strings.TrimLeft(pattern, " ")})
	}
	g.parser = sync.OnceValue(func() *participle.Parser[T] {
		options := []participle.Option{participle.UseLookahead(2)} // a comma, and what is behind it
		var rules []lexer.SimpleRule
		for _, t := range g.tokens {
			rules = append(rules, lexer.SimpleRule{Name: t[0], Pattern: t[1]})
			if t[0] == "Space" || t[0] == "Comment" {
				options = append(options, participle.Elide(t[0]))
			}
		}
		return participle.MustBuild[T](append(options, participle.Lexer(lexer.MustSimple(rules)))...)
	})
	return g
}

// Read reads a text, and reports whether the grammar has it.
func (g *Grammar[T]) Read(text string) (*T, bool) {
	tree, err := g.parser().ParseString("", text)
	return tree, err == nil
}

// String returns the grammar in EBNF: its productions, then its tokens in their order.
func (g *Grammar[T]) String() string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(g.parser().String(), "Rule", "") + "\n\n")
	for _, t := range g.tokens {
		fmt.Fprintf(&b, "%-11s = /%s/ .\n", strings.ToLower(t[0]), t[1])
	}
	return b.String()
}

// Syntax returns the grammar of calls in EBNF.
func Syntax() string { return callGrammar.String() }

// The grammar of calls. The specification prints it, and the tests compare Parse with it. Parse does
// not use it: participle takes 85 times as long, and reads nothing after the first mistake.
type (
	scriptRule struct {
		Calls []*callRule `parser:"@@*"`
	}
	callRule struct {
		Pos    lexer.Position
		EndPos lexer.Position
		Nested *nestedRule `parser:"@@"`
		Bare   *bodyRule   `parser:"| @@"`
	}
	nestedRule struct {
		Pos    lexer.Position
		EndPos lexer.Position
		Body   *bodyRule `parser:"'(' @@ ')'"`
	}
	bodyRule struct {
		Verb      []lexer.Token   `parser:"@Verb"`
		Arguments []*argumentRule `parser:"@@*"`
	}
	argumentRule struct {
		As    []lexer.Token `parser:"':as' @Symbol"`
		Key   []lexer.Token `parser:"| (?! ':as') @Key"`
		Value *valueRule    `parser:"@@"`
	}
	valueRule struct {
		Pos     lexer.Position
		EndPos  lexer.Position
		Literal []lexer.Token `parser:"@( String | Integer | Decimal | Date | DateTime | UUID | Code | Symbol | Row | Path | Word )"`
		List    *listRule     `parser:"| @@"`
		Map     *mapRule      `parser:"| @@"`
		Call    *nestedRule   `parser:"| @@"`
	}
	listRule struct {
		Items []*valueRule `parser:"'[' ( @@ ','? )* ']'"`
	}
	mapRule struct {
		Entries []*entryRule `parser:"'{' ( @@ ','? )* '}'"`
	}
	entryRule struct {
		Key   []lexer.Token `parser:"@( Key | QuotedKey )"`
		Value *valueRule    `parser:"@@"`
	}
)

var callGrammar = NewGrammar[scriptRule](`
Space       [ \t\r\n]+
Comment     [;#][^\x00-\x08\x0A-\x1F\x7F\x{80}-\x{9F}]*
String      "([^"\\\x00-\x1F\x7F\x{80}-\x{9F}]|\\(["\\nrt]|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}))*"
Verb        [a-z][A-Za-z0-9_-]*(\.[a-z][A-Za-z0-9_-]*)+
QuotedKey   :"([^"\\\x00-\x1F\x7F\x{80}-\x{9F}]|\\(["\\nrt]|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}))+"
Key         :[a-z][A-Za-z0-9_-]*
Path        @[A-Za-z][A-Za-z0-9_-]*(~[a-z0-9]+)?(\.[A-Za-z][A-Za-z0-9_-]*)+
Row         @[A-Za-z][A-Za-z0-9_-]*~[a-z0-9]+
Symbol      @[A-Za-z][A-Za-z0-9_-]*
UUID        [0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}
DateTime    [0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?([Zz]|[+-][0-9]{2}:[0-9]{2})
Date        [0-9]{4}-[0-9]{2}-[0-9]{2}
Decimal     -?(0|[1-9][0-9]*)\.[0-9]+
Integer     -?(0|[1-9][0-9]*)
Code        [A-Z][A-Z0-9_]*
Word        nil|true|false
Punctuation [()\[\]{},]
`)
