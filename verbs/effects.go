package verbs

import (
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"verbatim/verbs/expr"
)

// The operand of an effect is a few words: a path, a path with a value, or a choice of names,
// each optionally with a note in parentheses. Anything else is a sentence, and is stored as such.
//
//	outstanding-request.client_notes
//	session.collection_mode = true
//	next-question OR validation-error OR complete
//	outstanding-request (status may change)
type operandSyntax struct {
	Path  []string `parser:"@Word"`
	Or    []string `parser:"( ( Or @Word )+"`
	More  []string `parser:"| ( '.' @Word )+"`
	Value string   `parser:"  ( '=' @( Word | Number | String ) )?"`
	Only  string   `parser:"| '=' @( Word | Number | String ) )?"`
	Note  *string  `parser:"@Note?"`
}

// operandParser is made when the first operand needs it, because making it takes longer than
// reading a palette that does not need it.
var operandParser = sync.OnceValue(func() *participle.Parser[operandSyntax] {
	words := lexer.MustSimple([]lexer.SimpleRule{
		{Name: "Note", Pattern: `\([^()]*\)`},
		{Name: "String", Pattern: `"[^"]*"`},
		{Name: "Number", Pattern: `-?[0-9]+(\.[0-9]+)?`},
		{Name: "Or", Pattern: `\bOR\b`},
		{Name: "Word", Pattern: `:?[A-Za-z_][A-Za-z0-9_-]*`},
		{Name: "Punct", Pattern: `[.=]`},
		{Name: "Space", Pattern: `[ \t\r\n]+`},
	})
	return participle.MustBuild[operandSyntax](participle.Lexer(words), participle.Elide("Space"), participle.UseLookahead(3))
})

// parseOperand reads an operand. The two commonest forms, a word and two words with a dot, are
// read without the grammar; a test compares the two ways.
func parseOperand(text string) Operand {
	if path, ok := plainPath(text); ok {
		return Operand{Text: text, Path: path}
	}
	return operandByGrammar(text)
}

func operandByGrammar(text string) Operand {
	if len(text) > expr.MaxBytes {
		return Operand{Text: text, Prose: true}
	}
	syntax, err := operandParser().ParseString("", text)
	if err != nil {
		return Operand{Text: text, Prose: true}
	}
	o := Operand{Text: text, Value: syntax.Value + syntax.Only}
	if syntax.Note != nil {
		o.Note = strings.TrimSpace((*syntax.Note)[1 : len(*syntax.Note)-1])
	}
	if len(syntax.Or) > 0 {
		o.Alternatives = append(syntax.Path, syntax.Or...)
	} else {
		o.Path = append(syntax.Path, syntax.More...)
	}
	return o
}

// operand is parseOperand, once for each text.
func (l *loader) operand(text string) Operand {
	o, ok := l.operands[text]
	if !ok {
		o = parseOperand(text)
		l.operands[text] = o
	}
	return o
}

// plainPath reads `word` and `word.word`.
func plainPath(s string) ([]string, bool) {
	dot := -1
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z' || c == '_' || c >= 'A' && c <= 'Z':
		case (c >= '0' && c <= '9' || c == '-') && i > 0 && i != dot+1:
		case c == '.' && dot < 0 && i > 0:
			dot = i
		default:
			return nil, false
		}
	}
	switch {
	case s == "" || s == "OR" || dot == len(s)-1 || strings.HasPrefix(s, "OR.") || strings.HasSuffix(s, ".OR"):
		return nil, false
	case dot < 0:
		return []string{s}, true
	}
	return []string{s[:dot], s[dot+1:]}, true
}
