package grammar

import (
	"regexp/syntax"
	"unicode"
)

// The characters that stand for themselves in the one spelling of a text:
// neither what ends it or begins an escape, nor controls, nor what cannot be
// seen or turns the direction of writing; and none for private use.
var plain = class{
	{' ', '!'}, {'#', '['}, {']', '~'}, {0xA0, 0xAC}, {0xAE, 0x61B}, {0x61D, 0x180D}, {0x180F, 0x200A}, {0x200C, 0x200D},
	{0x2010, 0x2027}, {0x202F, 0x205F}, {0x2070, 0xD7FF}, {0xF900, 0xFDCF}, {0xFDF0, 0xFEFE}, {0xFF00, 0xFFF8},
	{0xFFFC, 0xFFFD}, {0x10000, 0x1FFFD}, {0x20000, 0x2FFFD}, {0x30000, 0x3FFFD},
}

// escaped are the characters that have a short escape.
var escaped = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

// character is any one character of a text.
var character = alt{plain, seq{text(`\`), class{{'"', '"'}, {'\\', '\\'}, {'n', 'n'}, {'r', 'r'}, {'t', 't'}}}}

// quoted is a text of some number of characters; max 0 bounds nothing.
func quoted(least, most int) node {
	if least > 0 && most == 0 {
		return seq{text(`"`), repeatUpTo(character, least, least), times{character, 0, -1}, text(`"`)}
	}
	if most == 0 {
		return seq{text(`"`), times{character, least, -1}, text(`"`)}
	}
	return seq{text(`"`), repeatUpTo(character, least, most), text(`"`)}
}

// repeatUpTo repeats in steps, one inside the other: llama.cpp refuses counts
// that it thinks insane. There is one way to say each number of them. With the
// steps in a row, of which each may be short, there are so many that llama.cpp
// takes a second for a hundred characters.
func repeatUpTo(n node, least, most int) node {
	const step = 500
	if most <= step {
		return simple(times{n, least, most})
	}
	more := seq{times{n, step, step}, repeatUpTo(n, max(least-step, 0), most-step)}
	if least >= step {
		return more
	}
	return alt{times{n, least, step - 1}, more}
}

// maxText is the longest text whose length a grammar counts.
const maxText = 20_000

// pattern is the texts that a regular expression, anchored at both ends,
// matches. ok is false where an expression asks for something that a grammar
// cannot say, such as the end of a word.
func pattern(expression string) (n node, ok bool) {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, false
	}
	if n, ok = matched(re); !ok {
		return nil, false
	}
	return seq{text(`"`), n, text(`"`)}, true
}

func matched(re *syntax.Regexp) (node, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine:
		// Anchors stand at the ends; anywhere else they would match nothing, and
		// Load would have found no example.
		return seq{}, true
	case syntax.OpLiteral:
		var all seq
		for _, c := range re.Rune {
			if re.Flags&syntax.FoldCase != 0 {
				all = append(all, oneOfRunes(folds(c)))
			} else {
				all = append(all, oneOfRunes([]span{{c, c}}))
			}
		}
		return together(all)
	case syntax.OpCharClass:
		var spans []span
		for i := 0; i+1 < len(re.Rune); i += 2 {
			spans = append(spans, span{re.Rune[i], re.Rune[i+1]})
		}
		return together(seq{oneOfRunes(spans)})
	case syntax.OpAnyChar:
		return character, true
	case syntax.OpAnyCharNotNL:
		return together(seq{oneOfRunes([]span{{0, '\n' - 1}, {'\n' + 1, unicode.MaxRune}})})
	case syntax.OpCapture:
		return matched(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		of, ok := matched(re.Sub[0])
		least, most := 0, -1
		switch re.Op {
		case syntax.OpPlus:
			least = 1
		case syntax.OpQuest:
			most = 1
		case syntax.OpRepeat:
			least, most = re.Min, re.Max
		}
		return simple(times{of, least, most}), ok
	case syntax.OpConcat, syntax.OpAlternate:
		parts := make([]node, len(re.Sub))
		for i, sub := range re.Sub {
			var ok bool
			if parts[i], ok = matched(sub); !ok {
				return nil, false
			}
		}
		if re.Op == syntax.OpConcat {
			return simple(seq(parts)), true
		}
		return simple(alt(parts)), true
	}
	return nil, false
}

// together is a sequence whose parts can all be said.
func together(all seq) (node, bool) {
	for _, n := range all {
		if n == nil {
			return nil, false
		}
	}
	return simple(all), true
}

func folds(c rune) []span {
	spans := []span{{c, c}}
	for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
		spans = append(spans, span{f, f})
	}
	return spans
}

// oneOfRunes is one character out of some, as a text spells them; nil when none
// of them can stand in a text.
func oneOfRunes(spans []span) node {
	var direct class
	for _, p := range plain {
		for _, s := range spans {
			if lo, hi := max(p.lo, s.lo), min(p.hi, s.hi); lo <= hi {
				direct = append(direct, span{lo, hi})
			}
		}
	}
	var all alt
	if len(direct) == 1 && direct[0].lo == direct[0].hi {
		all = append(all, text(string(direct[0].lo)))
	} else if len(direct) > 0 {
		all = append(all, direct)
	}
	for _, c := range []rune{'"', '\\', '\n', '\r', '\t'} {
		for _, s := range spans {
			if s.lo <= c && c <= s.hi {
				all = append(all, text(escaped[c]))
				break
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return simple(all)
}
