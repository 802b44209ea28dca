package guard

import (
	"encoding/base64"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// reach is how many letters of other words may stand between two parts of a pattern.
const reach = 32

// nested is how often a text may be encoded within an encoding and still be read.
const nested = 3

// Input finds instructions that are aimed at an agent. It sees through letters that
// only look like others, characters that show nothing, spaces and marks within
// words, digits for letters, rot13, HTML entities, \u and percent escapes, and
// through base64 and hexadecimal up to three times over; a finding within an
// encoding spans all of the encoding.
func Input(text string) Report {
	return Report{merge(read(text, 0))}
}

// merge sorts findings and joins those of one kind that overlap.
func merge(found []Finding) []Finding {
	slices.SortFunc(found, func(a, b Finding) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return a.End - b.End
	})
	last := map[Kind]int{}
	kept := found[:0]
	for _, f := range found {
		if i, ok := last[f.Kind]; ok && f.Start < kept[i].End {
			kept[i].End = max(kept[i].End, f.End)
			continue
		}
		last[f.Kind] = len(kept)
		kept = append(kept, f)
	}
	return kept
}

// A reader takes a text apart into letters, and hands them to its lanes: one reads
// them as they are, the other as rot13.
type reader struct {
	*rules
	found  []Finding
	lanes  [2]lane
	start  bool // a word starts with the next letter
	spaced bool // the word before had one letter

	mark      int32 // state of the automaton for marks
	markAt    [longest]int
	marked    int
	lineStart bool
}

// A lane reads one stream of letters.
type lane struct {
	state    int32
	unread   bool // words that end in state wait until it is known whether the word of the text ends
	n        int  // letters so far
	ring     [longest]letter
	parts    []part
	word     int32 // of the text
	sentence int32
	stop     int // number of the last letter of the last stop
}

type letter struct {
	from, to       int
	word, sentence int32
	start          bool
}

// A part is where a part of a pattern was seen last.
type part struct {
	from, end      int // byte where the pattern starts, and number of its last letter
	word, sentence int32
	ends           bool // a word of the text ends there
	any            bool
}

// leads reports whether a word that begins with the letter first, the begin-th, may
// follow the part.
func (p *part) leads(u use, begin int, first *letter, stop int) bool {
	between := begin - p.end - 1
	switch {
	case p.end <= stop || between < 0:
		return false
	case between == 0:
		return true
	case p.sentence != first.sentence || between > reach || !u.loose && !(p.any && between <= 8):
		return false
	}
	// Other words stand between whole words, or all are written as one.
	return first.start && (p.ends || p.any) || p.word == first.word
}

func read(text string, depth int) []Finding {
	r := &reader{rules: loadPatterns(), start: true, lineStart: true}
	r.sign('\n', 0, 0)
	encoded := 0 // no encoding starts before
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if r.start && i >= encoded && isAlnum(c) && depth < nested {
				n, decoded := decode(text[i:])
				encoded = i + n
				if decoded != "" {
					for _, f := range read(decoded, depth+1) {
						r.found = append(r.found, Finding{f.Kind, i, i + n})
					}
				}
			}
			n := 1
			if c == '%' || c == '&' || c == '\\' {
				if shown, width := unescape(text[i:]); width > 0 {
					r.show(shown, i, i+width)
					i += width
					continue
				}
			}
			if isDigit(c) && r.start {
				// A number is no word, unless letters stand in it or around it.
				for i+n < len(text) && isDigit(text[i+n]) {
					n++
				}
				after := i+n < len(text) && (isAlnum(text[i+n]) || text[i+n] >= utf8.RuneSelf)
				if !after && !(n == 1 && r.spaced) {
					for j := range n {
						r.sign(text[i+j], i+j, i+j+1)
					}
					r.gap()
					i += n
					continue
				}
				n = 1
			}
			if !isAlnum(c) && leet[c] != 0 {
				// A mark is a letter where letters stand on both sides, or a word begins.
				after := i+1 < len(text) && isAlnum(text[i+1])
				if after && (!r.start || c == '$' || c == '@') || c == '$' && !r.start {
					r.sign(c, i, i+1)
					r.letter(leet[c], 0, i, i+1)
					i++
					continue
				}
			}
			r.ascii(c, i, i+1)
			if c == '.' || c == '!' || c == '?' || c == ';' || c == '\n' {
				if i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\n') && !r.spaced {
					r.lanes[0].sentence++
					r.lanes[1].sentence++
				}
			}
			i++
			continue
		}
		_, n := utf8.DecodeRuneInString(text[i:])
		r.show(text[i:i+n], i, i+n)
		i += n
	}
	for i := range r.lanes {
		if l := &r.lanes[i]; l.unread {
			r.settle(l, true)
		}
	}
	return r.found
}

// show reads characters that were written from one byte to another.
func (r *reader) show(s string, from, to int) {
	for i, c := range s {
		if c < utf8.RuneSelf {
			r.ascii(byte(c), from, to)
			continue
		}
		switch ascii, n, is := fold(c, s[i:]); is {
		case plain:
			for _, c := range ascii[:n] {
				r.ascii(c, from, to)
			}
		case foreign:
			r.sign(0xff, from, to)
			r.letter(0xff, 0, from, to)
		case gap:
			r.gap()
		}
	}
}

func (r *reader) ascii(c byte, from, to int) {
	c = lower[c]
	switch {
	case isLower(c):
		r.sign(c, from, to)
		r.letter(leet[c], c, from, to)
	case isDigit(c):
		r.sign(c, from, to)
		r.letter(leet[c], 0, from, to)
	case c < ' ' && c != '\n' && c != '\t' && c != '\r':
		// Nothing is shown.
	default:
		r.sign(c, from, to)
		r.gap()
	}
}

// leet gives the letter that a character is read as; l and i are one.
var leet = func() (table [256]byte) {
	for c := byte('a'); c <= 'z'; c++ {
		table[c] = c
	}
	for i, c := range []byte("013456789@$!|") {
		table[c] = "oieasgtbgasii"[i]
	}
	table['l'], table[0xff] = 'i', 0xff
	return
}()

func (r *reader) gap() {
	if !r.start {
		first := &r.lanes[0]
		r.spaced = first.ring[first.n%longest].start
		r.start = true
	}
}

// letter reads a letter that is seen as c and, if it is one of ASCII, written as raw.
func (r *reader) letter(c, raw byte, from, to int) {
	r.take(&r.lanes[0], c, from, to)
	turned := byte(0xff)
	if raw != 0 {
		turned = leet['a'+(raw-'a'+13)%26]
	}
	r.take(&r.lanes[1], turned, from, to)
	r.start = false
}

func (r *reader) take(l *lane, c byte, from, to int) {
	if l.unread {
		r.settle(l, r.start)
	}
	l.n++
	if r.start {
		l.word++
	}
	l.ring[l.n%longest] = letter{from, to, l.word, l.sentence, r.start}
	l.state = r.words.step(l.state, c)
	l.unread = len(r.words.ends[l.state]) > 0
}

// settle looks at the words that end with the last letter of a lane.
func (r *reader) settle(l *lane, ends bool) {
	l.unread = false
	last := l.ring[l.n%longest]
	stop := false
	for _, w := range r.words.ends[l.state] {
		begin := l.n - r.size[w] + 1
		first := l.ring[begin%longest]
		if first.sentence != last.sentence || first.word != last.word && !(first.start && ends) && !r.open[w] {
			continue // "these" in "the security"
		}
		if most := r.stops[w]; most > 0 && first.start && ends {
			starts := 0
			for i := begin; i <= l.n; i++ {
				if l.ring[i%longest].start {
					starts++
				}
			}
			stop = stop || starts <= most // letters that are spaced out are no stop
		}
		for _, u := range r.uses[w] {
			p := part{first.from, l.n, last.word, last.sentence, ends, u.any}
			if u.before == none && !first.start || u.before != none && l.parts == nil {
				continue
			}
			if u.before != none {
				if before := &l.parts[u.before]; before.leads(u, begin, &first, l.stop) {
					p.from = before.from
				} else if u.part == none {
					continue
				} else if again := &l.parts[u.part]; again.end > l.stop && again.end == begin-1 {
					p.from = again.from // "all previous"
				} else {
					continue
				}
			}
			if u.part == none {
				if ends || u.any {
					r.found = append(r.found, Finding{u.kind, p.from, last.to})
				}
				continue
			}
			if l.parts == nil {
				l.parts = make([]part, r.parts)
			}
			l.parts[u.part] = p
		}
	}
	if stop {
		l.stop = l.n
	}
}

// sign reads a character as it stands, for the marks.
func (r *reader) sign(c byte, from, to int) {
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		return
	case c == '\n':
		if r.lineStart && r.marked > 0 {
			return
		}
		r.lineStart = true
	case r.lineStart && (c == '>' || c == '*' || c == '#' || c == '-'):
		return // what stands before a line in a mail or in Markdown
	default:
		r.lineStart = false
	}
	r.marked++
	r.markAt[r.marked%longest] = from
	r.mark = r.marks.step(r.mark, c)
	for _, m := range r.marks.ends[r.mark] {
		first := r.marked - r.markSize[m] + 1
		if mark := r.markAt[first%longest]; c != '\n' {
			r.found = append(r.found, Finding{Markup, mark, to})
		}
	}
}

// unescape reads one character that is written as an HTML entity, as \u or \x with
// digits, or as percent signs with digits. Width is 0 if there is none.
func unescape(text string) (shown string, width int) {
	switch text[0] {
	case '&':
		at := 1
		for strings.HasPrefix(text[at:], "amp;") {
			at += 4
		}
		end := strings.IndexByte(text[at:min(len(text), at+12)], ';')
		if end < 0 {
			return "", 0
		}
		if s := html.UnescapeString("&" + text[at:at+end+1]); len(s) <= end+1 && s[0] != '&' {
			return s, at + end + 1
		}
	case '\\':
		for _, form := range []struct {
			mark   string
			digits int
		}{{`\u`, 4}, {`\x`, 2}} {
			if n := len(form.mark) + form.digits; strings.HasPrefix(text, form.mark) && len(text) >= n {
				if r, err := strconv.ParseUint(text[2:n], 16, 32); err == nil {
					return string(rune(r)), n
				}
			}
		}
		if len(text) > 1 && (text[1] == 'n' || text[1] == 't' || text[1] == 'r') {
			return " ", 2
		}
	case '%':
		var bytes []byte
		for at := 0; at < len(text) && text[at] == '%' && len(bytes) < utf8.UTFMax; {
			at++
			for strings.HasPrefix(text[at:], "25") {
				at += 2
			}
			c, ok := hexByte(text[at:])
			if !ok {
				break
			}
			bytes, at = append(bytes, c), at+2
			if utf8.FullRune(bytes) {
				return string(bytes), at
			}
		}
	}
	return "", 0
}

func hexByte(text string) (byte, bool) {
	if len(text) < 2 {
		return 0, false
	}
	high, low := hexValue[text[0]], hexValue[text[1]]
	return high<<4 | low&15, high < 16 && low < 16
}

var hexValue = func() (table [256]byte) {
	for i := range table {
		table[i] = 0xff
	}
	for i, c := range []byte("0123456789abcdef") {
		table[c] = byte(i)
	}
	for i, c := range []byte("ABCDEF") {
		table[c] = byte(10 + i)
	}
	return
}()

// decode reads the hexadecimal or base64 that a text begins with. N is how many
// bytes it took or would have taken; decoded is empty if that is no encoding.
func decode(text string) (n int, decoded string) {
	if n, decoded = decodeHex(text); n > 0 {
		return n, decoded
	}
	const enough = 16
	line := 0 // where the current line begins
	var joined []byte
	for n < len(text) {
		if c := text[n]; base64Letter[c] {
			n++
		} else if end := n; n-line >= 40 && (c == '\n' || c == '\r') {
			for end < len(text) && (text[end] == '\n' || text[end] == '\r' || text[end] == ' ') && end-n < 8 {
				end++
			}
			if end == len(text) || !base64Letter[text[end]] {
				break
			}
			joined = append(joined, text[line:n]...)
			n, line = end, end
		} else {
			break
		}
	}
	if n < enough {
		return n, ""
	}
	joined = append(joined, text[line:n]...)
	for i, c := range joined {
		switch c {
		case '-':
			joined[i] = '+'
		case '_':
			joined[i] = '/'
		}
	}
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(joined)))
	got, _ := base64.RawStdEncoding.Decode(out, joined)
	for n < len(text) && text[n] == '=' {
		n++
	}
	return n, string(out[:got])
}

// decodeHex reads at least eight pairs of digits, with or without a mark between and
// with 0x or \x before. A pair in the middle of a word is none.
func decodeHex(text string) (n int, decoded string) {
	for _, out := range [][]byte{nil, {}} { // counts first, since most words are no pairs
		pairs, whole := 0, 0
		for at := 0; ; {
			if rest := text[at:]; strings.HasPrefix(rest, "0x") || strings.HasPrefix(rest, `\x`) {
				at += 2
			}
			c, ok := hexByte(text[at:])
			if !ok {
				break
			}
			if out != nil {
				out = append(out, c)
			}
			pairs, at = pairs+1, at+2
			if at == len(text) || !isAlnum(text[at]) {
				n, whole = at, pairs
			}
			if at < len(text) && (text[at] == ' ' || text[at] == ':' || text[at] == ',' || text[at] == '-') {
				at++
				if at < len(text) && text[at] == ' ' {
					at++
				}
			}
		}
		if whole < 8 {
			return 0, ""
		}
		decoded = string(out[:min(len(out), whole)])
	}
	return n, decoded
}

var base64Letter = func() (table [256]bool) {
	for i := range table {
		table[i] = isAlnum(byte(i)) || strings.IndexByte("+/-_", byte(i)) >= 0
	}
	return
}()
