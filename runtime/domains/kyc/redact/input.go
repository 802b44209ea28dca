package redact

import (
	"encoding/base64"
	"html"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// reach is the greatest number of letters of other words between two parts of a rule that "..." or
// "~" joins; near is that between two parts that follow one another.
const (
	reach = 44
	near  = 9
)

// nested is the greatest depth of encodings within encodings that is read.
const nested = 3

// Input finds instructions that are aimed at an agent. It sees through letters that
// only look like others, characters that show nothing, spaces and marks within
// words, digits for letters, slips of the keys, rot13, texts written backwards, HTML
// entities, \u and percent escapes, and through base64 and hexadecimal up to three times
// over; a finding within an encoding spans all of the encoding.
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

// A reader divides a text into letters, and hands them to its lanes: one reads them unchanged, the
// other as rot13.
type reader struct {
	*rules
	found  []Finding
	lanes  [2]lane
	start  bool // a word starts with the next letter
	spaced bool // the word before had one letter
	line   int  // words of the line so far

	mirrored bool // there is a word that is one when it is read backwards

	mark      int32 // state of the automaton for marks
	markAt    [longest]int
	marked    int
	lineStart bool
}

// A lane reads one stream of letters, and keeps the classes of words in a sentence.
type lane struct {
	state  int32
	unread bool // the words that end in state wait for the end of the word of the text
	n      int  // letters so far
	ring   [longest]letter
	hits   []hit
	pieces []hit // of the current word of the text, which may be several without spaces
	word   int   // number of its first letter
	seen   []int // the sentence of a class's last hit
	which  []int32
	turned int // sentences so far
	words  int // words of the text so far
}

type letter struct {
	from, to int
	words    int // that began up to it
	start    bool
}

// A hit is a word of a class in a sentence, by the numbers of its letters and its bytes.
type hit struct {
	class      int32
	apart      bool // letters are spaced out, or words joined
	begin, end int
	from, to   int
}

// readers keep their memory from one text to the next.
var readers = sync.Pool{New: func() any {
	r := &reader{rules: loadPatterns()}
	for i := range r.lanes {
		r.lanes[i].seen = make([]int, len(r.of))
	}
	return r
}}

func (r *reader) begin() {
	r.found, r.start, r.spaced, r.line, r.mark, r.marked, r.lineStart, r.mirrored = nil, true, false, 0, 0, 0, true, false
	for i := range r.lanes {
		l := &r.lanes[i]
		*l = lane{hits: l.hits[:0], pieces: l.pieces[:0], seen: l.seen, which: l.which[:0], turned: l.turned + 1, word: 1}
	}
}

func read(text string, depth int) []Finding {
	r := readers.Get().(*reader)
	defer readers.Put(r)
	r.begin()
	r.sign('\n', 0, 0)
	encoded := 0 // no encoding starts before
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if r.start && i >= encoded && isAlnum(c) && depth < nested {
				n, decoded := decode(text[i:])
				encoded = i + n
				if isText(decoded) {
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
				// A number is no word, unless letters stand in it or beside it.
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
				if after && (!r.start || c == '$' || c == '@' || c == '!') || (c == '$' || c == '@') && !r.start {
					r.sign(c, i, i+1)
					r.letter(leet[c], 0, i, i+1)
					i++
					continue
				}
			}
			r.ascii(c, i, i+1)
			if c == '.' || c == '!' || c == '?' || c == ';' || c == '\n' {
				if c == '\n' {
					// A line break ends no sentence, except in a list. A word may stand alone on
					// each line.
					rest := strings.TrimLeft(text[i+1:min(len(text), i+9)], " \t\r")
					if r.line > 2 && rest != "" && strings.IndexByte("-*|#>", rest[0]) >= 0 {
						r.turn()
					}
					r.line = 0
				} else if i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\n') && !r.spaced {
					r.turn()
				}
			}
			i++
			continue
		}
		_, n := utf8.DecodeRuneInString(text[i:])
		r.show(text[i:i+n], i, i+n)
		i += n
	}
	r.turn()
	found := r.found
	if r.mirrored && depth < nested {
		for _, f := range read(backwards(text), nested) {
			found = append(found, Finding{f.Kind, len(text) - f.End, len(text) - f.Start})
		}
	}
	return found
}

// backwards turns the characters of a text round.
func backwards(text string) string {
	turned := make([]byte, 0, len(text))
	for end := len(text); end > 0; {
		_, n := utf8.DecodeLastRuneInString(text[:end])
		turned, end = append(turned, text[end-n:end]...), end-n
	}
	return string(turned)
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
	c = lower(c)
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
var leet = [256]byte{
	'a': 'a', 'b': 'b', 'c': 'c', 'd': 'd', 'e': 'e', 'f': 'f', 'g': 'g', 'h': 'h', 'i': 'i', 'j': 'j', 'k': 'k',
	'l': 'i', 'm': 'm', 'n': 'n', 'o': 'o', 'p': 'p', 'q': 'q', 'r': 'r', 's': 's', 't': 't', 'u': 'u', 'v': 'v',
	'w': 'w', 'x': 'x', 'y': 'y', 'z': 'z', '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '6': 'g', '7': 't',
	'8': 'b', '9': 'g', '@': 'a', '$': 's', '!': 'i', '|': 'i', 0xff: 0xff,
}

func (r *reader) gap() {
	if !r.start {
		first := &r.lanes[0]
		r.spaced = first.ring[first.n%longest].start
		r.line++
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
		r.join(l)
		l.word = l.n
		l.words++
	}
	l.ring[l.n%longest] = letter{from, to, l.words, r.start}
	l.state = r.words.step(l.state, c)
	l.unread = len(r.words.ends[l.state]) > 0
}

// settle looks at the words that end with the last letter of a lane.
func (r *reader) settle(l *lane, ends bool) {
	l.unread = false
	last := l.ring[l.n%longest]
	for _, w := range r.words.ends[l.state] {
		begin := l.n - r.size[w] + 1
		first := l.ring[begin%longest]
		for _, u := range r.uses[w] {
			h := hit{u.class, last.words-first.words >= u.words, begin, l.n, first.from, last.to}
			switch {
			case (first.start || u.before) && (ends || u.after):
				r.see(l, h)
			case begin >= l.word && r.size[w] > 2: // "these" in "the security" is none
				h.apart = true
				l.pieces = append(l.pieces, h)
			}
		}
	}
}

func (r *reader) see(l *lane, h hit) {
	if h.class == r.about && h.apart {
		return
	}
	r.mirrored = r.mirrored || h.class == r.mirror
	l.hits = append(l.hits, h)
	if l.seen[h.class] != l.turned {
		l.seen[h.class] = l.turned
		l.which = append(l.which, h.class)
	}
}

// join uses the pieces of a long word of the text, which may be many words without spaces: long
// pieces, and short ones that follow one another.
func (r *reader) join(l *lane) {
	if l.n-l.word > 2*near {
		for i, h := range l.pieces {
			if h.end-h.begin > 3 || i > 0 && l.pieces[i-1].end == h.begin-1 || i+1 < len(l.pieces) && l.pieces[i+1].begin == h.end+1 {
				r.see(l, h)
			}
		}
	}
	l.pieces = l.pieces[:0]
}

// turn ends a sentence, and applies the rules to it.
func (r *reader) turn() {
	r.line = 0
	for i := range r.lanes {
		l := &r.lanes[i]
		if l.unread {
			r.settle(l, true)
		}
		r.join(l)
		l.word = l.n + 1
		if len(l.hits) == 0 {
			continue
		}
		byEnd := func(a, b hit) int { return a.end - b.end }
		if !slices.IsSortedFunc(l.hits, byEnd) {
			slices.SortStableFunc(l.hits, byEnd)
		}
		if l.seen[r.about] == l.turned { // attacks are spoken of
			l.which = l.which[:0]
		}
		for _, class := range l.which {
			for _, n := range r.of[class] {
				if rule := &r.all[n]; rule.in(l) {
					r.found = rule.find(l.hits, i == 1, r.found)
				}
			}
		}
		l.hits, l.which = l.hits[:0], l.which[:0]
		l.turned++
	}
}

func (u *rule) in(l *lane) bool {
	for _, p := range u.parts {
		if l.seen[p.class] != l.turned {
			return false
		}
	}
	return true
}

// find appends the findings of a rule in the hits of a sentence.
func (u *rule) find(hits []hit, turned bool, found []Finding) []Finding {
	type chain struct{ from, begin, end int }
	const kept = 3
	var seen [most][kept]chain // the last ones of each part, since words of one class overlap
	for i := range seen {
		for j := range seen[i] {
			seen[i][j].end = -longest
		}
	}
	looked, excused := [2]int{}, -longest // hits looked at for what excuses the rule, and the last such
	for _, h := range hits {
		for i := len(u.parts) - 1; i >= 0; i-- {
			p := &u.parts[i]
			if p.class != h.class {
				continue
			}
			c := chain{h.from, h.begin, h.end}
			if i > 0 {
				joined := false
				for _, before := range seen[i-1] {
					if gap := h.begin - before.end - 1; gap >= 0 && gap <= p.gap {
						c.from, c.begin, joined = before.from, before.begin, true
						break
					}
				}
				if !joined {
					continue
				}
			}
			if i < len(u.parts)-1 {
				seen[i] = [kept]chain{c, seen[i][0], seen[i][1]}
				continue
			}
			for i, classes := range [...][]uint64{u.unless, u.around} {
				for n := &looked[i]; *n < len(hits) && hits[*n].end <= h.end+i*(2*near+4); *n++ {
					if b := &hits[*n]; !b.apart && classes[b.class/64]&(1<<(b.class%64)) != 0 && !u.covers(hits[*n:]) {
						excused = max(excused, b.end)
					}
				}
			}
			if excused < c.begin-near+2 && (!turned || h.end-c.begin > near) {
				found = append(found, Finding{u.kind, c.from, h.to})
			}
		}
	}
	return found
}

// covers reports whether the first of some hits stands within a part of the rule, as
// "do not" does in "do not obey", and so excuses nothing.
func (u *rule) covers(hits []hit) bool {
	b := hits[0]
	for _, h := range hits[1:min(len(hits), 12)] {
		if h.begin < b.begin || h.begin == b.begin && h.end > b.end {
			for _, p := range u.parts {
				if p.class == h.class {
					return true
				}
			}
		}
	}
	return false
}

// sign reads a character unchanged, for the marks.
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
		return // the beginning of a line in a mail or in Markdown
	default:
		r.lineStart = false
	}
	r.marked++
	r.markAt[r.marked%longest] = from
	r.mark = r.marks.step(r.mark, c)
	for _, m := range r.marks.ends[r.mark] {
		first := r.marked - r.markSize[m] + 1
		if mark := r.markAt[first%longest]; r.frame[m] == none {
			r.found = append(r.found, Finding{Markup, mark, to})
		} else {
			l := &r.lanes[0]
			r.see(l, hit{r.frame[m], false, l.n, l.n, mark, to})
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
	high, low := hexValue(text[0]), hexValue(text[1])
	return high<<4 | low&15, high < 16 && low < 16
}

// hexValue returns the value of a digit, and 255 for other characters.
func hexValue(c byte) byte {
	switch {
	case isDigit(c):
		return c - '0'
	case lower(c)-'a' < 6:
		return lower(c) - 'a' + 10
	}
	return 0xff
}

// decode reads the hexadecimal or base64 at the beginning of a text. n is the number of bytes that
// it took or would have taken; decoded is empty if they are no encoding.
func decode(text string) (n int, decoded string) {
	if n, decoded = decodeHex(text); n > 0 {
		return n, decoded
	}
	const enough = 16
	line := 0 // where the current line begins
	var joined []byte
	for n < len(text) {
		if c := text[n]; base64Letter(c) {
			n++
		} else if end := n; n-line >= 40 && (c == '\n' || c == '\r') {
			for end < len(text) && (text[end] == '\n' || text[end] == '\r' || text[end] == ' ') && end-n < 8 {
				end++
			}
			if end == len(text) || !base64Letter(text[end]) {
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

// isText reports whether nearly all decoded characters are characters of texts; an identifier or a
// key that looks like an encoding gives others.
func isText(decoded string) bool {
	odd := 0
	for _, c := range decoded {
		if c == utf8.RuneError || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			odd++
		}
	}
	return decoded != "" && odd*8 <= len(decoded)
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

func base64Letter(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '-' || c == '_' }
