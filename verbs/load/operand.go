package load

import (
	"strings"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/expr"
	"verbatim/verbs/naming"
)

// The operand of an effect or of a condition is a few words: a path, a path with a value, or a
// choice of names, each optionally with a note in parentheses.
//
//	outstanding-request.client_notes
//	session.collection_mode = true
//	next-question OR validation-error OR complete
//	outstanding-request (status may change)
//
// Any other effect is a sentence, and is stored as such; any other condition is an expression.
type operandRule struct {
	Path    []string `parser:"@Word"`
	Or      []string `parser:"( ( Or @Word )+"`
	More    []string `parser:"| ( '.' @Word )+ )?"`
	Value   string   `parser:"( @Value"`
	Formula string   `parser:"| @Formula )?"`
	Note    string   `parser:"@Note?"`
}

var operandGrammar = dsl.NewGrammar[operandRule](`
Or      \bOR\b
Word    :?[A-Za-z_][A-Za-z0-9_-]*
Dot     \.
Space   [ \t\r\n]+
Note    \([^()]*\)
Value   =\s*("[^"]*"|-?[0-9]+(\.[0-9]+)?|:?[A-Za-z_][A-Za-z0-9_-]*)\s*$
Formula =(?s:.*)
`)

// The grammar of expressions. The specification prints it, and the tests compare expr.Parse with
// it, which says what is wrong and how strongly operators bind.
type (
	formulaRule struct {
		Expression *expressionRule `parser:"@@ ';'?"`
	}
	expressionRule struct {
		First  *termRule         `parser:"@@"`
		Steps  []*stepRule       `parser:"@@*"`
		Choice []*expressionRule `parser:"( '?' @@? ':' @@ )?"`
	}
	stepRule struct {
		Into      *nameRule      `parser:"'|' @@"`
		Arguments *argumentsRule `parser:"@@"`
		Operator  []string       `parser:"| @( 'or' | '||' | 'and' | '&&' | '==' | '!=' | '<' | '<=' | '>' | '>=' | '+' | '-' | '*' | '%' | '??' | 'not'? ( 'in' | 'contains' | 'startsWith' | 'endsWith' | 'matches' ) )"`
		Right     *termRule      `parser:"@@"`
	}
	termRule struct {
		Signs     []string        `parser:"@( 'not' | '!' | '-' | '+' )*"`
		Literal   string          `parser:"( @( Number | 'nil' | 'true' | 'false' )"`
		Text      string          `parser:"| ( @Text"`
		List      *listRule       `parser:"  | @@"`
		Inner     *expressionRule `parser:"  | '(' @@ ')'"`
		Function  *nameRule       `parser:"  | '::' @@"`
		Given     *argumentsRule  `parser:"    @@"`
		Name      *nameRule       `parser:"  | @@"`
		Arguments *argumentsRule  `parser:"    @@?"`
		Fields    []string        `parser:"  ) ( '.' @Word )* )"`
	}
	nameRule struct {
		Name string `parser:"(?! 'or' | 'and' | 'not' | 'in' | 'contains' | 'startsWith' | 'endsWith' | 'matches' | 'let' ) @Word"`
	}
	argumentsRule struct {
		Values []*expressionRule `parser:"'(' ( @@ ( ',' @@ )* ','? )? ')'"`
	}
	listRule struct {
		Items []*expressionRule `parser:"'[' ( @@ ( ',' @@ )* ','? )? ']'"`
	}
)

var formulaGrammar = dsl.NewGrammar[formulaRule](`
Space   [\s\v\x{85}\p{Z}]+
Comment \/\/[^\n]*|\/\*(?s:.*?)\*\/
Text    "([^"\\\n]|\\([abfnrtv\\"]|[0-7]{3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|U[0-9A-Fa-f]{8}))*"|'([^'\\\n]|\\([abfnrtv\\']|[0-7]{3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{1,6}\}|U[0-9A-Fa-f]{8}))*'|\x60([^\x60]|\x60\x60)*\x60
Number  (0|[1-9][0-9]*)(\.[0-9]+)?
Word    [\p{L}\p{Nd}_$]+
Mark    &&|\|\||==|!=|<=|>=|\?\?|::|[-()\[\],;.:?+*%<>!|]
`)

// Syntax returns the grammars of operands and of expressions in EBNF.
func Syntax() string { return operandGrammar.String() + "\n" + formulaGrammar.String() }

// operand reads an operand, once for each text.
func (l *loader) operand(text string) verbs.Operand {
	o, ok := l.operands[text]
	if !ok {
		o = parseOperand(text)
		l.operands[text] = o
	}
	return o
}

func parseOperand(text string) verbs.Operand {
	prose := verbs.Operand{Text: text, Prose: true}
	if len(text) > expr.MaxBytes {
		return prose
	}
	rule, ok := operandGrammar.Read(text)
	if !ok {
		return prose
	}
	value, given := strings.CutPrefix(rule.Value+rule.Formula, "=")
	o := verbs.Operand{Text: text, Path: append(rule.Path, rule.More...), Value: strings.TrimSpace(value), Note: strings.TrimSpace(strings.Trim(rule.Note, "()"))}
	switch {
	case rule.Or != nil && given, rule.Formula != "" && session(&o) == "": // only a session value is set to any expression
		return prose
	case rule.Or != nil:
		o.Path, o.Alternatives = nil, append(rule.Path, rule.Or...)
	}
	return o
}

// session returns the name of the session value that an operand is about, "" if it is none.
func session(o *verbs.Operand) string {
	if len(o.Path) != 2 || o.Path[0] != "session" || !naming.IsName(o.Path[1]) || o.Note != "" {
		return ""
	}
	return naming.Underscored(o.Path[1])
}

// argument returns the name that an operand is, without its colon, and the index of the argument
// of that name, or -1. The name is "" if the operand is something else.
func argument(o *verbs.Operand, v *verbs.Verb) (name string, param int) {
	if len(o.Path) != 1 || o.Value != "" || o.Note != "" {
		return "", -1
	}
	name = strings.TrimPrefix(o.Path[0], ":")
	return name, v.ParamNamed(name)
}
