package grammar

import (
	"fmt"
	"strings"
)

// Lark writes the grammar for Lark, and for other readers of its syntax, such as llguidance. The
// top rule is start; values are terminals.
//
// Lark expands optional parts and alternatives inside a rule: it would expand a verb with ten
// optional arguments to a thousand rules, which takes minutes. Here each such part is a rule of
// its own, so that a verb remains one rule in Lark as well.
func (g *Grammar) Lark() string {
	w := larkWriter{g: g, parts: map[string]string{}}
	for _, name := range g.names {
		if g.leaf[name] {
			w.b.WriteString(larkName(name, true) + ": /")
			writeRegexp(&w.b, g.rules[name], anywhere)
			w.b.WriteString("/\n")
			continue
		}
		w.rule(larkName(name, false), w.choice(g.rules[name]))
	}
	return w.b.String()
}

type larkWriter struct {
	g     *Grammar
	b     strings.Builder
	parts map[string]string // rule of a part, by its text
	late  []string          // rules that were made while another is written
}

func (w *larkWriter) rule(name, says string) {
	// Lark has no empty text, but a rule may be empty.
	w.b.WriteString(strings.TrimRight(name+": "+says, " ") + "\n")
	for _, line := range w.late {
		w.b.WriteString(line)
	}
	w.late = w.late[:0]
}

// choice writes what may only stand alone in a rule: alternatives, or a repetition.
func (w *larkWriter) choice(n node) string {
	switch n := n.(type) {
	case alt:
		ways := make([]string, len(n))
		for i, p := range n {
			ways[i] = w.row(p)
		}
		return strings.Join(ways, " | ")
	case times:
		one := "(" + w.row(n.of) + ")"
		switch {
		case n.min == 0 && n.max == 1:
			return one + "?"
		case n.min == 0 && n.max < 0:
			return one + "*"
		case n.min == 1 && n.max < 0:
			return one + "+"
		case n.max < 0:
			return fmt.Sprintf("%s~%d %s*", one, n.min, one)
		case n.min == n.max:
			return fmt.Sprintf("%s~%d", one, n.min)
		}
		// Without the spaces, llguidance took "0." for a number until August 2026.
		return fmt.Sprintf("%s~%d .. %d", one, n.min, n.max)
	}
	return w.row(n)
}

// row writes a sequence whose parts are single items.
func (w *larkWriter) row(n node) string {
	switch n := n.(type) {
	case text:
		return larkText(string(n))
	case class:
		var b strings.Builder
		writeRegexp(&b, n, anywhere)
		return "/" + b.String() + "/"
	case rule:
		return larkName(string(n), w.g.leaf[string(n)])
	case seq:
		var parts []string
		for _, p := range n {
			if said := w.row(p); said != "" {
				parts = append(parts, said)
			}
		}
		return strings.Join(parts, " ")
	}
	says := w.choice(n)
	name, known := w.parts[says]
	if !known {
		// No other rule's name begins like this: those of verbs begin with call.
		name = fmt.Sprintf("part_%d", len(w.parts)+1)
		w.parts[says] = name
		w.late = append(w.late, name+": "+says+"\n")
	}
	return name
}

// larkText quotes a text, using only escapes that Python and JSON read alike. An empty text is
// left out.
func larkText(s string) string {
	if s == "" {
		return ""
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c == '\n':
			b.WriteString(`\n`)
		case c < ' ' || c >= 0x7F && c <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// larkName writes a rule's name: terminals are in capitals, and neither has hyphens.
func larkName(name string, leaf bool) string {
	if name == root {
		return "start"
	}
	name = strings.ReplaceAll(name, "-", "_")
	if leaf {
		return strings.ToUpper(name)
	}
	return name
}
