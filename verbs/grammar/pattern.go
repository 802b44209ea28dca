package grammar

import (
	"regexp/syntax"
	"unicode"
)

// plain are the characters that a canonical text contains unescaped: not the quote or the
// backslash, nor control, invisible or direction-changing characters, nor those for private use.
var plain = class{
	{' ', '!'}, {'#', '['}, {']', '~'}, {0xA0, 0xAC}, {0xAE, 0x61B}, {0x61D, 0x180D}, {0x180F, 0x200A}, {0x200C, 0x200D},
	{0x2010, 0x2027}, {0x202F, 0x205F}, {0x2070, 0xD7FF}, {0xF900, 0xFDCF}, {0xFDF0, 0xFEFE}, {0xFF00, 0xFFF8},
	{0xFFFC, 0xFFFD}, {0x10000, 0x1FFFD}, {0x20000, 0x2FFFD}, {0x30000, 0x3FFFD},
}

// escaped are the characters that have a short escape.
var escaped = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`}

// character returns any one character of a text.
var character = alt{plain, seq{text(`\`), class{{'"', '"'}, {'\\', '\\'}, {'n', 'n'}, {'r', 'r'}, {'t', 't'}}}}

// quoted returns a node for a text of a number of characters; a greatest number of 0 is no limit.
func quoted(least, most int) node {
	if least > 0 && most == 0 {
		return seq{text(`"`), repeatUpTo(character, least, least), times{character, 0, -1}, text(`"`)}
	}
	if most == 0 {
		return seq{text(`"`), times{character, least, -1}, text(`"`)}
	}
	return seq{text(`"`), repeatUpTo(character, least, most), text(`"`)}
}

// repeatUpTo repeats in nested steps: llama.cpp refuses counts that it considers insane. Each
// number of repetitions can be expressed in only one way. With steps in a row, each of which may
// be short, there are so many ways that llama.cpp takes a second for a hundred characters.
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

// maxText is the greatest length of a text that a grammar counts.
const maxText = 20_000

// pattern returns a node for the texts that match a regular expression, anchored at both ends. ok
// is false if the expression uses something that a grammar cannot express, such as the end of a
// word.
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

// patternOf is pattern for texts of a number of characters; a greatest number of 0 is no limit.
// It is not exact if it cannot express both: then the number is left out.
func patternOf(expression string, least, most int) (n node, ok, exact bool) {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return nil, false, false
	}
	if n, ok = pattern(expression); !ok || least == 0 && most == 0 {
		return n, ok, ok
	}
	lo, hi := lengths(re)
	if lo >= least && (most == 0 || hi >= 0 && hi <= most) {
		return n, true, true
	}
	// One repeated character or class among parts of known length.
	parts := inner(re)
	whole := seq{text(`"`)}
	found, rest := -1, 0
	for i, part := range parts {
		switch a, b := lengths(part); {
		case a == b:
			rest += a
		case found < 0 && repeats(part):
			found = i
		default:
			return n, true, false
		}
	}
	if found < 0 {
		return n, true, false
	}
	for i, part := range parts {
		of, _ := matched(part)
		if i == found {
			lo, hi := lengths(part)
			lo = max(lo, least-rest)
			if most > 0 && (hi < 0 || hi > most-rest) {
				hi = most - rest
			}
			if hi >= 0 && lo > hi {
				return n, true, false // no text matches both
			}
			one, _ := matched(part.Sub[0])
			if of = (times{one, lo, hi}); hi >= 0 {
				of = repeatUpTo(one, lo, hi)
			}
		}
		whole = append(whole, of)
	}
	return append(whole, text(`"`)), true, true
}

// repeats reports whether an expression repeats one character or class.
func repeats(re *syntax.Regexp) bool {
	if re.Op != syntax.OpStar && re.Op != syntax.OpPlus && re.Op != syntax.OpRepeat {
		return false
	}
	lo, hi := lengths(re.Sub[0])
	return lo == 1 && hi == 1
}

// inner returns the parts of an expression's sequence.
func inner(re *syntax.Regexp) []*syntax.Regexp {
	switch re.Op {
	case syntax.OpCapture:
		return inner(re.Sub[0])
	case syntax.OpConcat:
		var parts []*syntax.Regexp
		for _, sub := range re.Sub {
			parts = append(parts, inner(sub)...)
		}
		return parts
	}
	return []*syntax.Regexp{re}
}

// lengths returns the least and the greatest number of characters that an expression matches; -1
// is no limit.
func lengths(re *syntax.Regexp) (least, most int) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, 1
	case syntax.OpCapture:
		return lengths(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		lo, hi := lengths(re.Sub[0])
		from, to := map[syntax.Op]int{syntax.OpPlus: 1, syntax.OpRepeat: re.Min}[re.Op], -1
		switch re.Op {
		case syntax.OpQuest:
			to = 1
		case syntax.OpRepeat:
			to = re.Max
		}
		if hi == 0 {
			return 0, 0
		}
		if hi < 0 || to < 0 {
			return lo * from, -1
		}
		return lo * from, hi * to
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			lo, hi := lengths(sub)
			least += lo
			if most < 0 || hi < 0 {
				most = -1
			} else {
				most += hi
			}
		}
		return least, most
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			lo, hi := lengths(sub)
			if i == 0 {
				least, most = lo, hi
				continue
			}
			least = min(least, lo)
			if hi < 0 || most < 0 {
				most = -1
			} else {
				most = max(most, hi)
			}
		}
		return least, most
	}
	return 0, 0
}

func matched(re *syntax.Regexp) (node, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginText, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine:
		// Anchors are at the ends; anywhere else they would match nothing, and Load would have
		// found no example.
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

// together returns a sequence if all of its parts can be expressed.
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

// oneOfRunes returns one character out of some, as a text writes them; nil if none of them can
// occur in a text.
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
