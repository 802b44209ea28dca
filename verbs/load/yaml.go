package load

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/message"
	"verbatim/verbs/naming"
	"verbatim/verbs/strict"
	"verbatim/verbs/values"
)

// maxDepth limits the nesting of a palette. A JSON Schema nests deepest, and nobody writes one of
// sixty levels.
const maxDepth = 60

// A doc is one palette file while it is read. Nodes give their positions by line and column;
// everything else here is counted in bytes.
type doc struct {
	src   *dsl.Source
	lines []int32 // offset of the first byte of each line, as YAML counts lines
	ascii bool
	diags dsl.Diagnostics
	root  *yaml.Node // nil if the file is not to be read further

	namespace string          // "" for palettes without a namespace
	shared    map[string]bool // names that mean the same in it as in palettes without a namespace
	sharing   pair

	domain *yaml.Node    // nil if it declares none
	beside bool          // it is a palette of the program's own
	apart  []*dsl.Source // all of those

	broken map[*verbs.Entity]bool // of all files: entities that lack a field which could not be read

	failed  bool // there is an error among diags
	misread bool // YAML reads something other than the author wrote
	more    int  // number of diagnostics that are not among diags

	uses *[]Use // uses of names in it; nil if nobody asks
}

// poisoned marks a node that was reported already. Code that asks for its content gets none and
// reports nothing.
const poisoned yaml.Kind = 0

// newDoc parses a file as YAML and refuses what palettes do not allow: more than one document,
// anchors, tags, merge keys, keys that are not text.
func newDoc(src *dsl.Source, maxSize int) *doc {
	d := &doc{src: src}
	switch {
	case len(src.Text) > maxSize:
		d.report(tell(dsl.Place{Source: src}, "palette-too-large", len(src.Text), maxSize))
	case !utf8.ValidString(src.Text):
		d.report(tell(d.at(invalidAt(src.Text), 1), "not-utf8"))
	default:
		d.index()
		d.parse()
	}
	return d
}

func (d *doc) parse() {
	if at, ok := strict.TooNested(d.src.Text); ok {
		d.report(tell(d.at(int32(at), 1), "too-deep", maxDepth))
		return
	}
	var root, second yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(d.src.Text))
	err := strict.Decode(dec, &root)
	if err == nil {
		if err = strict.Decode(dec, &second); err == nil {
			d.report(tell(d.place(&second), "yaml-feature/documents"))
			return
		}
	} else if errors.Is(err, io.EOF) {
		d.report(tell(d.at(0, 0), "empty-palette"))
		return
	}
	if err != nil && !errors.Is(err, io.EOF) {
		d.report(d.syntaxError())
		return
	}
	d.root = root.Content[0]
	d.inspect(d.root, 0)
	if d.misread {
		d.root = nil
	} else if d.root.Kind == yaml.ScalarNode && d.root.Tag == "!!null" {
		d.report(tell(d.at(0, 0), "empty-palette"))
		d.root = nil
	}
}

func invalidAt(text string) int32 {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				return int32(i)
			}
		}
	}
	return 0
}

// index records where lines begin. YAML ends a line at three characters that editors do not.
func (d *doc) index() {
	text := d.src.Text
	d.ascii = true
	d.lines = make([]int32, 1, len(text)/24+2)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			d.lines = append(d.lines, int32(i+1))
		case c == '\r':
			if i+1 == len(text) || text[i+1] != '\n' {
				d.lines = append(d.lines, int32(i+1))
			}
		case c >= utf8.RuneSelf:
			d.ascii = false
			if strings.HasPrefix(text[i:], "\u0085") {
				d.lines = append(d.lines, int32(i+2))
			} else if strings.HasPrefix(text[i:], "\u2028") || strings.HasPrefix(text[i:], "\u2029") {
				d.lines = append(d.lines, int32(i+3))
			}
		}
	}
	if strings.HasPrefix(text, bom) {
		d.lines[0] = int32(len(bom))
	}
}

const bom = "\ufeff"

// offset returns where a node begins.
func (d *doc) offset(n *yaml.Node) int32 {
	if n.Line < 1 || n.Line > len(d.lines) {
		return int32(len(d.src.Text))
	}
	at := d.lines[n.Line-1]
	if d.ascii {
		return min(at+int32(n.Column-1), int32(len(d.src.Text)))
	}
	rest := d.src.Text[at:]
	for i := 1; i < n.Column && rest != ""; i++ {
		_, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		at += int32(size)
	}
	return at
}

func (d *doc) at(offset, length int32) dsl.Place {
	end := min(offset+length, int32(len(d.src.Text)))
	return dsl.Place{Source: d.src, Range: dsl.Range{Start: offset, End: end}}
}

// place returns the range to underline for a node: a scalar with its quotes, the first key of a
// mapping, the first item of a list.
func (d *doc) place(n *yaml.Node) dsl.Place {
	start := d.offset(n)
	switch n.Kind {
	case yaml.MappingNode, yaml.SequenceNode, yaml.DocumentNode:
		if n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0 {
			return d.place(n.Content[0])
		}
		return d.at(start, 1)
	case yaml.AliasNode:
		return d.at(start, int32(len(n.Value))+1)
	}
	return d.at(start, d.scalarLength(n, start))
}

func (d *doc) scalarLength(n *yaml.Node, start int32) int32 {
	rest := d.src.Text[start:]
	switch {
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		if rest == "" {
			return 0
		}
		quote := rest[0]
		// Nearly every quoted scalar has no escapes.
		if len(rest) > len(n.Value)+1 && rest[len(n.Value)+1] == quote && rest[1:len(n.Value)+1] == n.Value {
			return int32(len(n.Value)) + 2
		}
		for i := 1; i < len(rest); i++ {
			switch {
			case rest[i] == '\\' && quote == '"':
				i++
			case rest[i] == quote && quote == '\'' && i+1 < len(rest) && rest[i+1] == quote:
				i++
			case rest[i] == quote:
				return int32(i + 1)
			}
		}
		return int32(len(rest))
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return 1
	case strings.HasPrefix(rest, n.Value):
		return int32(len(n.Value))
	}
	line, _, _ := strings.Cut(rest, "\n") // for a plain scalar of several lines
	return int32(len(strings.TrimRight(line, " \t\r")))
}

// within returns the place of the bytes [from, to) of a scalar's decoded text: an expression
// inside YAML inside a file.
func (d *doc) within(n *yaml.Node, from, to int) dsl.Place {
	start := d.raw(n, from)
	end := start
	if to > from {
		// The end of the last character, not the start of the next, which may be on another line.
		last := n.Value[:min(to, len(n.Value))]
		if last != "" {
			_, size := utf8.DecodeLastRuneInString(last)
			end = d.raw(n, len(last)-size)
			_, size = utf8.DecodeRuneInString(d.src.Text[end:])
			if strings.HasPrefix(d.src.Text[end:], "''") || strings.HasPrefix(d.src.Text[end:], `\`) && n.Style&yaml.DoubleQuotedStyle != 0 {
				size = 2
			}
			end += int32(size)
		}
	}
	return dsl.Place{Source: d.src, Range: dsl.Range{Start: start, End: max(start, min(end, int32(len(d.src.Text))))}}
}

// raw returns the position in the file of byte i of a scalar's decoded text, by reading both side
// by side. They differ in white space, which YAML folds and cuts.
func (d *doc) raw(n *yaml.Node, i int) int32 {
	text := d.src.Text
	at := int(d.offset(n))
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		for at < len(text) && text[at] != '\n' {
			at++ // skips the line of the indicator
		}
	case n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		at++
	default:
		if strings.HasPrefix(text[at:], n.Value) {
			return int32(at + min(i, len(n.Value)))
		}
	}
	double, single := n.Style&yaml.DoubleQuotedStyle != 0, n.Style&yaml.SingleQuotedStyle != 0
	for j := 0; at < len(text) && j < len(n.Value); {
		c := n.Value[j]
		switch {
		case c == ' ' || c == '\n' || c == '\t':
			if j == i && (text[at] == c || !isBlank(text[at])) {
				return int32(at)
			}
			if isBlank(text[at]) {
				if j == i {
					return int32(at)
				}
				if text[at] == c {
					at++
				}
				// A line break absorbs the indentation around it, unless the text continues with
				// blanks of its own.
				if j+1 < len(n.Value) && !isBlank(n.Value[j+1]) {
					for at < len(text) && isBlank(text[at]) {
						at++
					}
				}
			} else if double && text[at] == '\\' {
				at += 2
			}
			j++
		case isBlank(text[at]):
			at++
		default:
			if j >= i {
				return int32(at)
			}
			size := 1
			switch {
			case double && text[at] == '\\':
				_, size = utf8.DecodeRuneInString(n.Value[j:])
				j += size
				at += escapeLength(text[at:])
				continue
			case single && strings.HasPrefix(text[at:], "''"):
				at++
			}
			at += size
			j += size
		}
	}
	return int32(min(at, len(text)))
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// escapeLength is the length of an escape in double quotes.
func escapeLength(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	n := 2
	switch s[1] {
	case 'x':
		n = 4
	case 'u':
		n = 6
	case 'U':
		n = 10
	}
	return min(n, len(s))
}

// maxMistakes limits the diagnostics of a part of a file; nobody reads more. An error is never
// left out in favour of warnings.
const maxMistakes = 1000

func (d *doc) report(diag dsl.Diagnostic) {
	if len(d.diags) >= maxMistakes && (d.failed || diag.Severity == dsl.Warning) {
		d.more++
		return
	}
	d.failed = d.failed || diag.Severity == dsl.Error
	d.diags = append(d.diags, diag)
}

// inspect refuses, anywhere in the file, features by which YAML means more than it shows.
func (d *doc) inspect(n *yaml.Node, depth int) {
	if depth > maxDepth {
		d.report(tell(d.place(n), "too-deep", maxDepth))
		n.Kind = poisoned
		return
	}
	if n.Anchor != "" {
		start := d.offset(n)
		// The node's own place is that of its anchor.
		d.report(tell(d.at(start, int32(len(n.Anchor))+1), "yaml-feature/anchor", n.Anchor))
	}
	if n.Style&yaml.TaggedStyle != 0 {
		start := d.offset(n)
		length := strings.IndexAny(d.src.Text[start:], " \t\r\n,}]")
		if length < 0 {
			length = len(d.src.Text) - int(start)
		}
		d.report(tell(d.at(start, int32(length)), "yaml-feature/tag", n.Tag))
		n.Kind = poisoned
		return
	}
	switch n.Kind {
	case yaml.AliasNode:
		d.report(tell(d.place(n), "yaml-feature/alias", n.Value))
		n.Kind, n.Alias = poisoned, nil
	case yaml.ScalarNode:
		if !d.ascii && plainScalar(n) && strings.ContainsAny(n.Value, oddSpaces) {
			if at := oddSpace.FindStringSubmatchIndex(n.Value); at != nil {
				d.report(d.oddSpace(int(d.raw(n, at[2]))))
				d.misread = true
			}
		}
		if i := strings.IndexFunc(n.Value, values.Unseen); i >= 0 {
			r, _ := utf8.DecodeRuneInString(n.Value[i:])
			d.report(tell(d.place(n), "yaml-feature/unseen", fmt.Sprintf("%U", r)))
		}
	case yaml.SequenceNode:
		d.commas(n, 1)
		for _, c := range n.Content {
			d.inspect(c, depth+1)
		}
	case yaml.MappingNode:
		d.commas(n, 2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			switch {
			case k.Kind == poisoned:
				continue
			case k.Kind == yaml.ScalarNode && k.Tag == "!!merge":
				d.report(tell(d.place(k), "yaml-feature/merge"))
				k.Kind = poisoned
				n.Content[i+1].Kind = poisoned
				continue
			case k.Kind == yaml.ScalarNode && k.Tag == "!!null":
				d.report(tell(d.place(k), "yaml-feature/key"))
				k.Kind = poisoned
			case k.Kind != yaml.ScalarNode && k.Kind != yaml.AliasNode:
				d.report(tell(d.place(k), "yaml-feature/key"))
				k.Kind = poisoned
			default:
				d.inspect(k, depth+1)
			}
			d.inspect(n.Content[i+1], depth+1)
		}
	}
}

// commas refuses an expression that is cut by commas, as in {mean: average(price, 2)}: within { }
// and [ ], a comma ends a value in YAML. each is how many nodes make an entry.
func (d *doc) commas(n *yaml.Node, each int) {
	if n.Style&yaml.FlowStyle == 0 {
		return
	}
	for i := each; i < len(n.Content); i += each {
		open := n.Content[i-1]
		if !plainScalar(open) || strings.Count(open.Value, "(") <= strings.Count(open.Value, ")") {
			continue
		}
		for end := i; end < len(n.Content) && plainScalar(n.Content[end]) && (each == 1 || n.Content[end+1].Tag == "!!null"); end += each {
			if !strings.Contains(n.Content[end].Value, ")") {
				continue
			}
			d.report(tell(d.place(open), "yaml-feature/comma"))
			for _, cut := range n.Content[i-1 : end+each] {
				cut.Kind = poisoned
			}
			break
		}
	}
}

func plainScalar(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Style == 0 }

// syntaxError reports where the text stops being YAML. The library gives the beginning of what it
// could not finish, at times hundreds of lines above the mistake; so the place reported is the
// end of the shortest beginning of the text that no further line can complete.
func (d *doc) syntaxError() dsl.Diagnostic {
	n := 1 + sort.Search(len(d.lines)-1, func(i int) bool { return d.readTo(i + 1).broken() })
	for n > 1 && strings.TrimSpace(d.line(n)) == "" {
		n--
	}
	stop := d.readTo(n)
	message := stop.message
	for i, open := range [...]parseStop{d.readTo(n - 1), stop} {
		began := min(open.began, n-1+i)
		switch {
		case !open.unfinished() || began < 1:
			continue
		case open.quote():
			message = open.message
		case i == 1 || d.indent(n) <= d.indent(began): // within brackets, lines are indented more
			message = "expected ',' or"
		default:
			continue
		}
		n = began
		break
	}
	for _, n := range [...]int{n, n - 1} {
		if n > 0 {
			if at := oddSpace.FindStringSubmatchIndex(d.line(n)); at != nil {
				return d.oddSpace(int(d.lines[n-1]) + at[2])
			}
		}
	}
	for _, words := range [...]string{"expected key", "expected '-'", "<document start>"} {
		if strings.Contains(message, words) {
			message = "out of line"
		}
	}
	if message == "out of line" || strings.Contains(message, "mapping values") {
		n = d.outOfLine(n)
	}
	text := d.line(n)
	from := d.indent(n)
	to := len(strings.TrimRight(text, " \t\r\n"))
	switch first := strings.TrimLeft(text, " "); {
	case strings.HasPrefix(first, "\t"):
		message, to = "a tab", from+1
	case len(first) > 1 && first[0] == '-' && !strings.ContainsRune("- \t\r\n", rune(first[1])):
		message, to = "a dash", from+2
	case strings.Contains(message, "cannot start any token"):
		if i := strings.IndexAny(text, "@`%\t"); i >= 0 {
			from, to = i, i+1
		}
	case strings.Contains(message, "mapping values are not allowed"):
		message = "under a text"
		if first, more, _ := strings.Cut(text[from:], ": "); strings.Contains(more, ": ") {
			message = stop.message
			from += len(first) + 2 + strings.Index(more, ": ")
			to = from + 1
		}
	}
	return notYAML(d.at(d.lines[n-1]+int32(from), int32(max(to-from, 0))), message)
}

// oddSpaces look like the ordinary space, but are other characters.
const oddSpaces = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u202f\u205f\u2060\u3000\ufeff"

// oddSpace finds one in a place where YAML needs a space.
var oddSpace = regexp.MustCompile(`^[ -]*(?:[\w-]+: *)?([` + oddSpaces + `])`)

// outOfLine returns the line to blame if line n does not fit those above: one that could be its
// parent or sibling, if it has an indentation that no other line of the file has.
func (d *doc) outOfLine(n int) int {
	lines := make(map[int]int) // lines by their indentation
	for i := range d.lines {
		lines[d.indent(i+1)]++
	}
	for i, least := n, len(d.src.Text); i > 0 && least >= d.indent(n); i-- {
		if strings.TrimSpace(d.line(i)) == "" || i < n && d.indent(i) >= least {
			continue
		}
		if lines[d.indent(i)] == 1 {
			return i
		}
		if i < n {
			least = d.indent(i)
		}
	}
	return n
}

func (d *doc) oddSpace(at int) dsl.Diagnostic {
	r, size := utf8.DecodeRuneInString(d.src.Text[at:])
	kind := "an odd space"
	if r == '\u00a0' || r == '\u2007' || r == '\u202f' {
		kind = "a no-break space"
	}
	place := d.at(int32(at), int32(size))
	diag := tell(place, "yaml-feature/space", fmt.Sprintf("%s, %U,", kind, r))
	diag.Fixes = message.Replacements(place, []string{" "}, "")
	return diag
}

// A parseStop is the place where the YAML library gave up.
type parseStop struct {
	message string // "" if it did not give up
	began   int    // the line at which the unfinished part begins; 0 if it does not say
	end     bool   // it had read the whole text
}

// readTo reads the first n lines.
func (d *doc) readTo(n int) (s parseStop) {
	if n < 1 {
		return s
	}
	end := int32(len(d.src.Text))
	if n < len(d.lines) {
		end = d.lines[n]
	}
	// The library never reports an error on the first line.
	r := &toEnd{Reader: strings.NewReader("#\n" + d.src.Text[d.lines[0]:end])}
	dec := yaml.NewDecoder(r)
	err := strict.Decode(dec, new(yaml.Node))
	if err == nil {
		err = strict.Decode(dec, new(yaml.Node))
	}
	if err == nil || errors.Is(err, io.EOF) {
		return s
	}
	s = parseStop{message: strings.TrimPrefix(err.Error(), "yaml: "), end: r.end}
	if rest, ok := strings.CutPrefix(s.message, "line "); ok {
		if line, after, found := strings.Cut(rest, ": "); found && allDigits(line) {
			s.message, s.began = after, parseLine(line)
			if s.quote() { // its scanner counts from one, and its parser from zero
				s.began--
			}
		}
	}
	return s
}

func (s parseStop) quote() bool { return strings.Contains(s.message, "unexpected end of stream") }

// unfinished reports whether further text may complete it.
func (s parseStop) unfinished() bool {
	return s.quote() || s.end && (strings.Contains(s.message, "expected ',' or") || strings.Contains(s.message, "expected node content"))
}

func (s parseStop) broken() bool { return s.message != "" && !s.unfinished() }

// A toEnd knows whether a text was read to its end.
type toEnd struct {
	io.Reader
	end bool
}

func (r *toEnd) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.end = err != nil
	return n, err
}

func (d *doc) line(n int) string {
	end := int32(len(d.src.Text))
	if n < len(d.lines) {
		end = d.lines[n]
	}
	return d.src.Text[d.lines[n-1]:end]
}

// indent returns how many spaces begin a line.
func (d *doc) indent(n int) int {
	text := d.line(n)
	return len(text) - len(strings.TrimLeft(text, " "))
}

func allDigits(s string) bool {
	return len(s) < 10 && naming.AreDigits(s)
}

func parseLine(s string) int {
	n := 0
	for _, c := range s {
		n = n*10 + int(c-'0')
	}
	return n
}

// A pair is a key with its value in a mapping. Both are nil if the key is missing.
type pair struct{ key, value *yaml.Node }

// A mapping holds the values of the keys of a shape.
type mapping struct {
	d     *doc
	of    *shape
	pairs []pair // by the keys of the shape
}

// at returns the pair of a key, an empty one if the shape has no such key.
func (m mapping) at(name string) pair {
	if m.of == nil {
		return pair{}
	}
	if i, ok := m.of.index[name]; ok {
		return m.pairs[i]
	}
	return pair{}
}

// text returns the text of a key, "" if there is none.
func (m mapping) text(name string) string {
	if n := m.at(name).value; n != nil {
		return n.Value
	}
	return ""
}

// boolean reads true or false. YAML 1.1 has eleven words for each, so only these two are
// accepted.
func (m mapping) boolean(name string) bool {
	n := m.at(name).value
	if n == nil {
		return false
	}
	if n.Style == 0 && (n.Value == "true" || n.Value == "false") {
		return n.Value == "true"
	}
	m.d.report(notBoolean(m.d.place(n), name, n.Value))
	return false
}

// fields sorts the entries of a mapping by the keys of its shape, and reports every key that is
// unknown, given twice, missing, or holds the wrong kind of YAML. A key that was reported has a
// nil value, but its key is not nil.
func (d *doc) fields(n *yaml.Node, name string) (mapping, bool) {
	sh := shapes()[name]
	if n.Kind != yaml.MappingNode {
		if n.Kind != poisoned {
			d.report(tell(d.place(n), "wrong-shape", sh.name, "a mapping: key: value"))
		}
		return mapping{}, false
	}
	m := mapping{d, sh, make([]pair, len(sh.keys))}
	meant := map[string]pair{} // by misspelt keys
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == poisoned {
			continue
		}
		j, known := sh.index[k.Value]
		if !known {
			d.use(k, 0, len(k.Value), KeyThing, name+" "+k.Value, false, false, sh.Names)
			diag := tell(d.place(k), "unknown-key", sh, k.Value)
			if n.Style&yaml.FlowStyle != 0 && v.Kind == yaml.ScalarNode && v.Tag == "!!null" && v.Value == "" {
				diag.Notes = append(diag.Notes, "inside braces, text that holds a comma goes in double quotes")
			}
			d.report(diag)
			for _, fix := range diag.Fixes {
				for _, e := range fix.Edits {
					if meant[e.Text] = (pair{}); len(diag.Fixes) == 1 {
						meant[e.Text] = pair{k, v}
					}
				}
			}
			continue
		}
		if m.pairs[j].key != nil {
			d.report(tell(d.place(k), "duplicate-key", k.Value, d.place(m.pairs[j].key)))
			continue
		}
		m.pairs[j] = pair{key: k}
		d.use(k, 0, len(k.Value), KeyThing, name+" "+k.Value, false, true, nil)
		if d.holds(k, v, &sh.keys[j]) {
			m.pairs[j].value = v
		}
	}
	for j := range sh.keys {
		k := &sh.keys[j]
		if m.pairs[j].key != nil {
			continue
		}
		if p, misspelt := meant[k.name]; p.key != nil && slices.Contains(forms[k.holds].kinds, p.value.Kind) {
			m.pairs[j] = p // so that a misspelt key is not reported as missing too
		} else if k.required && !misspelt {
			d.report(missingKey(d.place(n), name, k.name))
		}
	}
	return m, true
}

// holds reports whether a value is of the kind of YAML that its key requires, and complains if it
// is not.
func (d *doc) holds(k, v *yaml.Node, want *key) bool {
	if v.Kind == poisoned {
		return false
	}
	if v.Kind == yaml.ScalarNode && v.Tag == "!!null" && want.holds != "anything" {
		d.report(nothingWritten(d.place(k), want))
		return false
	}
	if !slices.Contains(forms[want.holds].kinds, v.Kind) {
		if v.Kind == yaml.ScalarNode || v.Kind == yaml.SequenceNode || v.Kind == yaml.MappingNode {
			d.report(tell(d.place(v), "wrong-shape", want.name, forms[want.holds].wanted))
		}
		return false
	}
	if v.Kind == yaml.ScalarNode && want.closed && !slices.Contains(want.words, v.Value) {
		d.use(v, 0, len(v.Value), WordThing, v.Value, false, false, func() []string { return want.words })
		d.report(tell(d.place(v), "unknown-word", want.name, v.Value, want.words))
		return false
	}
	return true
}

// integer reads a whole number of at least least.
func (d *doc) integer(p pair, least int) (int, bool) {
	if p.value == nil {
		return 0, false
	}
	s := p.value.Value
	if p.value.Style == 0 && len(s) > 9 && s[0] != '0' && naming.AreDigits(s) {
		d.report(tell(d.place(p.value), "not-a-number/large", p.key.Value))
		return 0, false
	}
	if p.value.Style != 0 || !isDigits(s) {
		d.report(tell(d.place(p.value), "not-a-number", p.key.Value, s, least))
		return 0, false
	}
	n := parseLine(s)
	if n < least {
		d.report(tell(d.place(p.value), "not-a-number", p.key.Value, s, least))
		return 0, false
	}
	return n, true
}

// isDigits refuses 007 too: YAML reads it as octal, and people do not.
func isDigits(s string) bool { return allDigits(s) && (len(s) == 1 || s[0] != '0') }

// items calls fn with each item of a list of text.
func (d *doc) items(p pair, fn func(n *yaml.Node)) {
	if p.value == nil {
		return
	}
	for _, n := range p.value.Content {
		switch {
		case n.Kind == poisoned:
		case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
			d.report(tell(d.place(n), "wrong-shape", "an item of "+p.key.Value, "text"))
		default:
			fn(n)
		}
	}
}

// entries calls fn with each entry of a mapping whose keys are names of the author's choice, once
// for each name; due-date and due_date are the same name.
func (d *doc) entries(n *yaml.Node, fn func(k, v *yaml.Node)) {
	d.entriesBy(n, naming.Underscored, naming.Same, fn)
}

// entriesBy is entries for names that are the same when their folded forms are.
func (d *doc) entriesBy(n *yaml.Node, fold func(string) string, same func(a, b string) bool, fn func(k, v *yaml.Node)) {
	if n == nil {
		return
	}
	var seen map[string]*yaml.Node // for a long mapping
	if len(n.Content) > 32 {
		seen = make(map[string]*yaml.Node, len(n.Content)/2)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind == poisoned {
			continue
		}
		var first *yaml.Node
		if seen != nil {
			name := fold(k.Value)
			if first = seen[name]; first == nil {
				seen[name] = k
			}
		} else {
			for j := 0; j < i && first == nil; j += 2 {
				if n.Content[j].Kind != poisoned && same(n.Content[j].Value, k.Value) {
					first = n.Content[j]
				}
			}
		}
		if first != nil {
			d.report(tell(d.place(k), "duplicate-key", k.Value, d.place(first)))
			continue
		}
		fn(k, n.Content[i+1])
	}
}

// scalars is entries for mappings to text.
func (d *doc) scalars(p pair, fn func(k, v *yaml.Node)) {
	if p.value == nil {
		return
	}
	d.entries(p.value, d.texts(fn))
}

// members is scalars for the names of another system: there due-date and due_date are two names.
func (d *doc) members(p pair, fn func(k, v *yaml.Node)) {
	exact := func(name string) string { return name }
	d.entriesBy(p.value, exact, func(a, b string) bool { return a == b }, d.texts(fn))
}

// texts calls fn with entries that are text, and reports others.
func (d *doc) texts(fn func(k, v *yaml.Node)) func(k, v *yaml.Node) {
	return func(k, v *yaml.Node) {
		switch {
		case v.Kind == poisoned:
		case v.Kind != yaml.ScalarNode:
			d.report(tell(d.place(v), "wrong-shape", k.Value, "text"))
		default:
			fn(k, v)
		}
	}
}

// Uses: places of names, recorded for a Draft

// use records that the bytes [from, to) of a scalar name something.
func (d *doc) use(n *yaml.Node, from, to int, kind, name string, declares, known bool, names func() []string) {
	if d.uses == nil || n == nil {
		return
	}
	u := Use{Thing: Thing{kind, name}, Declares: declares, Known: known}
	if from == 0 && to == len(n.Value) && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) == 0 {
		u.Place = d.place(n)
	} else {
		u.Place = d.within(n, from, to)
	}
	if !known && names != nil {
		u.Names = names()
	}
	*d.uses = append(*d.uses, u)
}

// declares records that a scalar is the name of a declaration.
func (d *doc) declares(n *yaml.Node, kind, name string) {
	if d.uses != nil {
		d.use(n, 0, len(n.Value), kind, name, true, true, nil)
	}
}

// filled reports a list or mapping that is empty.
func (d *doc) filled(p pair) {
	if p.value != nil && len(p.value.Content) == 0 {
		d.report(tell(d.place(p.key), "nothing-written/list", p.key.Value))
	}
}

// usesField records the use of a field by its name in a scalar, index i of e, or -1.
func (d *doc) usesField(e *verbs.Entity, i int, n *yaml.Node, from, to int) {
	if d.uses == nil {
		return
	}
	name := ""
	if i >= 0 {
		name = e.Store.Fields[i].Name
	}
	d.use(n, from, to, FieldThing, e.Store.Name+"."+name, false, i >= 0, e.Names)
}

// usesParam records the use of an argument by its name in a scalar, index i of v, or -1.
func (d *doc) usesParam(v *verbs.Verb, i int, n *yaml.Node, from, to int, names func() []string) {
	if d.uses == nil {
		return
	}
	name := ""
	if i >= 0 {
		name = v.Params[i].Name
	}
	d.use(n, from, to, ArgumentThing, v.Name+":"+name, false, i >= 0, names)
}

// paramAt returns the index of the argument that a scalar names, with or without a colon, -1 if
// it names none.
func (d *doc) paramAt(v *verbs.Verb, n *yaml.Node) int {
	from := 0
	if len(n.Value) > 0 && n.Value[0] == ':' {
		from = 1
	}
	i := v.ParamNamed(n.Value[from:])
	d.usesParam(v, i, n, from, len(n.Value), v.Names)
	return i
}
