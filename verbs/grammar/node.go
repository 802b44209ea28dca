package grammar

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A node is a part of a rule. Its six kinds are what GBNF and Lark have in common and all that is
// needed.
type node interface{ node() }

type (
	text  string   // itself
	class []span   // one character out of these, ascending
	seq   []node   // one after the other
	alt   []node   // one of them
	times struct { // repeated min to max times; max < 0 is no limit
		of       node
		min, max int
	}
	rule string // the rule of that name
)

func (text) node()  {}
func (class) node() {}
func (seq) node()   {}
func (alt) node()   {}
func (times) node() {}
func (rule) node()  {}

// A span is a range of characters from lo to hi.
type span struct{ lo, hi rune }

func maybe(n node) node { return times{n, 0, 1} }

// oneOf returns an alternative of texts.
func oneOf(words []string) node {
	all := make(alt, len(words))
	for i, w := range words {
		all[i] = text(w)
	}
	return simple(all)
}

// simple unwraps a node with only one part.
func simple(n node) node {
	switch n := n.(type) {
	case seq:
		if len(n) == 1 {
			return n[0]
		}
	case alt:
		if len(n) == 1 {
			return n[0]
		}
	case times:
		if n.min == 1 && n.max == 1 {
			return n.of
		}
	}
	return n
}

// tidy simplifies a node: sequences in sequences become one, neighbouring texts are joined, and
// empty parts are removed.
func tidy(n node) node {
	switch n := n.(type) {
	case seq:
		var all seq
		for _, p := range n {
			switch p := tidy(p).(type) {
			case seq:
				all = append(all, p...)
			case text:
				if p != "" {
					all = append(all, p)
				}
			default:
				all = append(all, p)
			}
		}
		out := all[:0]
		for _, p := range all {
			if t, ok := p.(text); ok && len(out) > 0 {
				if before, ok := out[len(out)-1].(text); ok {
					out[len(out)-1] = before + t
					continue
				}
			}
			out = append(out, p)
		}
		return simple(out)
	case alt:
		all := make(alt, 0, len(n))
		for _, p := range n {
			p := tidy(p)
			if inner, ok := p.(alt); ok {
				all = append(all, inner...)
			} else {
				all = append(all, p)
			}
		}
		return simple(all)
	case times:
		if n.max == 0 {
			return text("")
		}
		n.of = tidy(n.of)
		return simple(n)
	}
	return n
}

// digits returns the digits from lo to hi.
func digits(lo, hi byte) node {
	if lo == hi {
		return text(string(lo))
	}
	return class{{rune(lo), rune(hi)}}
}

// A Grammar describes the permitted texts. It is immutable.
type Grammar struct {
	names []string        // of rules, in the order in which they are written
	rules map[string]node // by name
	// leaf rules hold values: they use no other rule.
	leaf  map[string]bool
	loose []string
}

func (g *Grammar) add(name string, n node, leaf bool) {
	g.names = append(g.names, name)
	g.rules[name] = tidy(n)
	g.leaf[name] = leaf
}

// GBNF writes the grammar as llama.cpp reads it: see its grammars/README.md. The top rule is
// root.
func (g *Grammar) GBNF() string { return g.gbnf(false) }

// XGrammar writes the grammar as xgrammar reads it, the reader of vLLM and SGLang. It allows more in
// two ways, which the checker refuses. Where one character beyond ASCII is allowed, all are: xgrammar
// cuts them to a byte in a class, and those of Latin-1 in a text too, and takes none (its issue 138 of
// 2024-12-29; so in 0.1.27). And
// nothing is counted beyond longCount: a grammar with notes of 2,000 characters takes it minutes.
func (g *Grammar) XGrammar() string { return g.gbnf(true) }

const (
	longCount   = 64
	beyondASCII = `[^\u0000-\u007F]`
)

func (g *Grammar) gbnf(wide bool) string {
	w := gbnfWriter{wide: wide}
	for _, name := range g.names {
		w.WriteString(name)
		w.WriteString(" ::= ")
		w.write(g.rules[name], 0)
		w.WriteByte('\n')
	}
	return w.String()
}

// How tightly a part has to bind in its context.
const (
	anywhere = iota // alternatives need no parentheses
	inSeq
	repeated
)

type gbnfWriter struct {
	strings.Builder
	wide bool // for xgrammar
}

func (w *gbnfWriter) write(n node, where int) {
	if of, least := longRepeat(n); w.wide && of != nil {
		n = times{of, min(least, 1), -1}
	}
	switch n := n.(type) {
	case text:
		latin := func(c rune) bool { return w.wide && c >= utf8.RuneSelf && c <= unicode.MaxLatin1 }
		if wrap := where >= repeated && strings.ContainsFunc(string(n), latin); wrap {
			w.WriteByte('(')
			defer w.WriteByte(')')
		}
		w.WriteByte('"')
		for _, c := range string(n) {
			if latin(c) {
				w.WriteString(`" ` + beyondASCII + ` "`)
			} else {
				w.WriteString(gbnfRune(c, false))
			}
		}
		w.WriteByte('"')
	case class:
		w.class(n, where)
	case seq:
		if w.wide {
			n = joined(n)
		}
		writeParts(&w.Builder, n, " ", where >= repeated, func(n node) { w.write(n, inSeq) })
	case alt:
		writeParts(&w.Builder, n, " | ", where >= inSeq, func(n node) { w.write(n, inSeq) })
	case times:
		if where >= repeated {
			w.WriteByte('(')
			defer w.WriteByte(')')
		}
		w.write(n.of, repeated)
		w.WriteString(n.often())
	case rule:
		w.WriteString(string(n))
	}
}

func (w *gbnfWriter) class(n class, where int) {
	spell := func(c rune) string { return gbnfRune(c, true) }
	if !w.wide || n[len(n)-1].hi < utf8.RuneSelf {
		writeClass(&w.Builder, n, spell)
		return
	}
	var ascii class
	for _, s := range n {
		if s.lo < utf8.RuneSelf {
			ascii = append(ascii, span{s.lo, min(s.hi, utf8.RuneSelf-1)})
		}
	}
	if len(ascii) == 0 {
		w.WriteString(beyondASCII)
		return
	}
	if where >= inSeq {
		w.WriteByte('(')
		defer w.WriteByte(')')
	}
	writeClass(&w.Builder, ascii, spell)
	w.WriteString(" | " + beyondASCII)
}

// longRepeat returns what a node repeats more often than longCount, in one step or in those of
// repeatUpTo, and how often at least; nil if it does not.
func longRepeat(n node) (of node, least int) {
	switch n := n.(type) {
	case times:
		if n.max > longCount {
			return n.of, n.min
		}
	case alt:
		return longRepeatOf(n, n)
	case seq:
		return longRepeatOf(n, n)
	}
	return nil, 0
}

func longRepeatOf(n node, parts []node) (of node, least int) {
	if len(parts) == 0 {
		return nil, 0
	}
	if of, least = longRepeat(parts[0]); of == nil || !repeatsOnly(n, of) {
		return nil, 0
	}
	return of, least
}

// repeatsOnly reports whether a node is nothing but another, any number of times.
func repeatsOnly(n, of node) bool {
	each := func(n node) bool { return repeatsOnly(n, of) }
	switch n := n.(type) {
	case times:
		return reflect.DeepEqual(n.of, of)
	case alt:
		return all(n, each)
	case seq:
		return all(n, each)
	}
	return false
}

func all(parts []node, is func(node) bool) bool {
	return !slices.ContainsFunc(parts, func(n node) bool { return !is(n) })
}

// joined makes one of the steps of a long repetition.
func joined(n seq) (out seq) {
	for i := 0; i < len(n); i++ {
		of, least := longRepeat(n[i])
		for of != nil && i+1 < len(n) && repeatsOnly(n[i+1], of) {
			i++
		}
		if of == nil {
			out = append(out, n[i])
			continue
		}
		out = append(out, times{of, min(least, 1), -1})
	}
	return out
}

// writeClass writes a class of characters, for GBNF and regular expressions.
func writeClass(b *strings.Builder, n class, spell func(rune) string) {
	b.WriteByte('[')
	for _, s := range n {
		b.WriteString(spell(s.lo))
		if s.hi > s.lo {
			b.WriteString("-" + spell(s.hi))
		}
	}
	b.WriteByte(']')
}

// often writes a repetition, for GBNF and regular expressions.
func (n times) often() string {
	switch {
	case n.min == 0 && n.max == 1:
		return "?"
	case n.min == 0 && n.max < 0:
		return "*"
	case n.min == 1 && n.max < 0:
		return "+"
	case n.max < 0:
		return fmt.Sprintf("{%d,}", n.min)
	case n.min == n.max:
		return fmt.Sprintf("{%d}", n.min)
	}
	return fmt.Sprintf("{%d,%d}", n.min, n.max)
}

func writeParts(b *strings.Builder, parts []node, between string, wrap bool, write func(node)) {
	if wrap {
		b.WriteByte('(')
	}
	if len(parts) == 0 {
		b.WriteString(`""`)
	}
	for i, p := range parts {
		if i > 0 {
			b.WriteString(between)
		}
		write(p)
	}
	if wrap {
		b.WriteByte(')')
	}
}

// gbnfRune writes a character inside quotes or brackets. Characters that could end them, and
// those that an editor would not show, are written as numbers of four digits: xgrammar takes
// every hexadecimal digit that follows \x.
func gbnfRune(c rune, inClass bool) string {
	switch {
	case c == '\n':
		return `\n`
	case c == '\\':
		return `\\`
	case c == '"' && !inClass:
		return `\"`
	case inClass && (c == ']' || c == '[' || c == '^' || c == '-'), c < ' ', c >= 0x7F && c <= 0xFFFF:
		return fmt.Sprintf(`\u%04X`, c)
	case c < 0x7F:
		return string(c)
	}
	return fmt.Sprintf(`\U%08X`, c)
}

// writeRegexp writes a leaf as a regular expression that Python, Rust and Go
// read alike.
func writeRegexp(b *strings.Builder, n node, where int) {
	switch n := n.(type) {
	case text:
		wrap := where >= repeated && len([]rune(string(n))) != 1
		if wrap {
			b.WriteString("(?:")
		}
		for _, c := range string(n) {
			b.WriteString(regexpRune(c))
		}
		if wrap {
			b.WriteByte(')')
		}
	case class:
		writeClass(b, n, regexpRune)
	case seq:
		writeGroup(b, n, "", where >= repeated, inSeq)
	case alt:
		writeGroup(b, longestFirst(n), "|", where >= inSeq, inSeq)
	case times:
		if where >= repeated {
			b.WriteString("(?:")
			defer b.WriteByte(')')
		}
		writeRegexp(b, n.of, repeated)
		b.WriteString(n.often())
	case rule:
		panic("grammar: a leaf uses the rule " + string(n))
	}
}

// longestFirst orders alternatives for engines that take the first that fits,
// as Python's does, and not the longest: texts by their length, and others from
// last to first, since the shorter numbers are made first.
func longestFirst(n alt) alt {
	n = slices.Clone(n)
	slices.Reverse(n)
	slices.SortStableFunc(n, func(a, b node) int {
		x, ok := a.(text)
		y, also := b.(text)
		if !ok || !also {
			return 0
		}
		return len(y) - len(x)
	})
	return n
}

func writeGroup(b *strings.Builder, parts []node, between string, wrap bool, where int) {
	if wrap {
		b.WriteString("(?:")
	}
	for i, p := range parts {
		if i > 0 {
			b.WriteString(between)
		}
		writeRegexp(b, p, where)
	}
	if wrap {
		b.WriteByte(')')
	}
}

func regexpRune(c rune) string {
	switch {
	case strings.ContainsRune(`\.+*?()|[]{}^$/-"&~#`, c):
		return `\` + string(c)
	case c < ' ' || c == 0x7F:
		return fmt.Sprintf(`\x%02x`, c)
	case c < 0x7F:
		return string(c)
	case c <= 0xFFFF:
		return fmt.Sprintf(`\u%04x`, c)
	}
	return fmt.Sprintf(`\U%08x`, c)
}
