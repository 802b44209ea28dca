package dsl

import (
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// Parse makes a Script a part of another participle grammar: a field of type *dsl.Script,
// captured with @@, takes the calls at its place. They end at anything that is neither an
// argument nor a verb.
//
// The text is reconstructed from the tokens of the other language, so its lexer must pass them on
// unchanged (no participle.Unquote or Upper), and must be able to split calls into tokens of some
// kind. White space may be elided or dropped. The first mistake in a call is the error. elided or
// dropped. The first mistake in a call is the error.
func (s *Script) Parse(lex *lexer.PeekingLexer) error {
	first := lex.Peek()
	if first.EOF() {
		return participle.NextMatch
	}
	text, at := restOf(lex)
	src := NewSource(first.Pos.Filename, text)
	p := newParser(src, DefaultLimits)
	if len(text) <= p.limits.Bytes {
		p.guest = true
		p.script()
	}
	if len(p.calls) == 0 && len(p.diags) == 0 {
		return participle.NextMatch
	}
	if ds := p.told(); len(ds) > 0 {
		d := ds[0]
		start := int(d.Place.Range.Start)
		i := 0
		for i+1 < len(at) && at[i+1].offset <= start {
			i++
		}
		pos := at[i].token.Pos
		skipped := text[at[i].offset:min(start, len(text))]
		pos.Advance(skipped)
		// The tokens read stay consumed, so that the other grammar does not take the mistake for
		// something that it may read differently.
		for range i + 1 {
			lex.Next()
		}
		return participle.Errorf(pos, "%s", d.Summary)
	}
	for i := 0; !lex.Peek().EOF() && i < len(at) && at[i].offset < p.lastEnd; i++ {
		lex.Next()
	}
	*s = *p.result()
	for n := len(s.Comments); n > 0 && int(s.Comments[n-1].Range.Start) >= p.lastEnd; n-- {
		s.Comments = s.Comments[:n-1]
	}
	return nil
}

// A placed token is one that is not elided, with its offset in the reconstructed text.
type placed struct {
	token  lexer.Token
	offset int
}

// restOf reconstructs the text that the lexer has not read yet.
func restOf(lex *lexer.PeekingLexer) (string, []placed) {
	back := lex.MakeCheckpoint()
	defer func() { lex.LoadCheckpoint(back) }()
	var at []placed
	var b strings.Builder
	end := lex.Peek().Pos
	for {
		// Anything elided or dropped between two tokens counts as white space: a comment of the
		// other language is not a comment of ours.
		t := *lex.Peek()
		if t.EOF() {
			return b.String(), at
		}
		if t.Pos.Line > end.Line {
			b.WriteByte('\n')
			b.WriteString(strings.Repeat(" ", max(0, t.Pos.Column-1)))
		} else {
			b.WriteString(strings.Repeat(" ", max(0, t.Pos.Offset-end.Offset)))
		}
		at = append(at, placed{t, b.Len()})
		b.WriteString(t.Value)
		end = t.Pos
		end.Advance(t.Value)
		lex.Next()
	}
}
