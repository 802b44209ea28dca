package dialog

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/runtime/conversation/values"
)

// Reading a message as text. Of a mail, only a part may be the person's own words; of any message,
// a part may be hidden from people and visible to a model.

// MaxMessage is the longest message, in bytes.
const MaxMessage = 32 << 10

// A heard is a message after reading.
type heard struct {
	own    string       // the person's own words
	quoted string       // what they quote from others
	hidden bool         // characters that nobody sees were taken out
	reply  values.Reply // the answer in own; see replied
	auto   bool         // it is an automatic reply
	long   int          // the length of a message that is too long
	bad    values.Key   // why it cannot be handled, "" if it can
}

// hear reads a message.
func hear(text string, automatic bool, person string) heard {
	switch {
	case len(text) > MaxMessage:
		return heard{bad: sayTooLong, long: len(text)}
	case !utf8.ValidString(text):
		return heard{bad: sayNotText}
	}
	text, hidden := visible(text)
	own, quoted := apart(text)
	own = unsigned(unaddressed(own), person)
	h := heard{own: strings.TrimSpace(own), quoted: strings.TrimSpace(quoted), hidden: hidden}
	h.auto = automatic || autoReply().MatchString(h.own)
	if h.own == "" && h.quoted == "" {
		h.bad = sayNothing
	}
	h.reply = h.replied()
	return h
}

// unquote takes one line in quotation marks for the person's own words.
func (h *heard) unquote() {
	if inner := []rune(h.quoted); wholeQuote(h.quoted) && !h.auto && !h.hidden {
		h.own, h.quoted = strings.TrimSpace(string(inner[1:len(inner)-1])), ""
		h.reply = h.replied()
	}
}

// replied reads a yes or a no in the person's own words. An automatic reply is neither. A message
// with hidden characters can decline, but not agree.
func (h *heard) replied() values.Reply {
	if h.auto {
		return values.Reply{}
	}
	r := values.ReadAnswer(h.own)
	switch {
	case !h.hidden || r.Answer == values.Decline:
		return r
	case r.Answer == values.Agree || r.Answer == values.Pleased:
		return values.Reply{Answer: values.Pleased} // so the question is put again
	}
	return values.Reply{}
}

// The beginnings and ends of letters, in all languages.
var (
	salutes  = lazily(func() string { return `(?i)^(?:` + values.Expression("salutation") + `)\b[^.!?\n]{0,40}[,:!.]?\n` })
	signsOff = lazily(func() string {
		return `\n\s*(?i:` + values.Expression("signoff") + `)[,.!]?(?:\s+\p{Lu}[\p{L}.'-]*){0,3}[ \t]*(\n[^?\n]{0,80}){0,9}$`
	})
)

// unaddressed removes the salutation above a message and the closing and signature below it, if
// those say nothing for or against anything. "Thanks" alone stays a message.
func unaddressed(text string) string {
	text = strings.TrimSpace(text)
	for {
		at := strings.LastIndexByte(text, '\n')
		if at < 0 || !values.Notice(text[at:]) {
			break
		}
		text = strings.TrimSpace(text[:at])
	}
	if at := signsOff().FindStringIndex(text); at != nil && !values.Turns(text[at[0]:]) && values.Signature(strings.Split(strings.TrimSpace(text[at[0]:]), "\n")[1:]) {
		text = strings.TrimSpace(text[:at[0]])
	}
	return strings.TrimSpace(salutes().ReplaceAllString(text, ""))
}

// mostSignature is how many lines of signature may follow a name.
const mostSignature = 9

// unsigned removes the person's name below a message, and the signature that follows it.
func unsigned(text, person string) string {
	names := strings.Fields(values.Plain(person))
	lines := strings.Split(text, "\n")
	for i := 1; i < len(lines); i++ {
		below := lines[i+1:]
		if isName(lines[i], names) && len(below) <= mostSignature && values.Signature(below) {
			return strings.TrimSpace(strings.Join(lines[:i], "\n"))
		}
	}
	// "Yes, go ahead. Ada": the name follows the end of a sentence, or a closing.
	said := strings.Fields(text)
	for n := min(3, len(said)-1); n > 0; n-- {
		rest := strings.TrimRight(strings.TrimSuffix(text, strings.Join(said[len(said)-n:], " ")), " \n")
		if rest != text && isName(strings.Join(said[len(said)-n:], " "), names) && (strings.ContainsAny(rest[len(rest)-1:], ".!") || closes().MatchString(rest)) {
			return rest
		}
	}
	return text
}

var closes = lazily(func() string { return `(?i)(?:^|[\s.!,])(?:` + values.Expression("signoff") + `),?$` })

// isName reports whether a line is only the person's name, or its initials.
func isName(line string, names []string) bool {
	initials := ""
	for _, name := range names {
		initials += name[:1]
	}
	said := strings.Fields(values.Plain(strings.NewReplacer(".", " ", ",", " ", "-", " ").Replace(line)))
	return len(said) > 0 && (len(said) == 1 && said[0] == initials || !slices.ContainsFunc(said, func(word string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return name == word || len(word) == 1 && strings.HasPrefix(name, word) })
	}))
}

// visible removes characters that nobody sees, such as controls and characters that reverse the
// order of letters, and unifies line ends; hidden reports whether there were suspicious ones.
func visible(text string) (string, bool) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	hidden := false
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t', r == '\u00a0', r == '\u202f', r == '\u2007':
			return ' '
		case r == '\u2028', r == '\u2029', r == '\u0085':
			return '\n'
		case unicode.Is(unicode.Cf, r), unicode.IsControl(r), unicode.Is(unicode.Co, r), r == '\u3164', r == '\u115f', r == '\u1160', r == '\uffa0', r == '\u034f',
			r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
			// A soft hyphen and the joiners of an emoji are harmless.
			if r != '\u00ad' && r != '\u200d' && r != '\ufeff' && (r < 0xfe00 || r > 0xfe0f) {
				hidden = true
			}
			return -1
		}
		return r
	}, text)
	return text, hidden
}

// How mail programs introduce quoted text, in all languages.
var (
	wroteLine = lazily(func() string { return `(?i)^\s*(` + values.Expression("wrote") + `)\s*:\s*$` })
	passedOn  = lazily(func() string {
		return `(?i)^[\s>*_-]*(-+ *|begin )?(` + values.Expression("passedon") + `)\b[\s:*_-]*$`
	})
	headLine  = lazily(func() string { return `(?i)^\s*\**(` + values.Expression("sender") + `)\**\s*:\s*\S.*$` })
	headNext  = lazily(func() string { return `(?i)^\s*\**(` + values.Expression("header") + `)\**\s*:\s*\S` })
	quoteLine = lazily(as(`^\s*(>|\|\s|»\s)`))
	autoReply = lazily(func() string {
		return `(?i)^\s*(` + values.Expression("subject") + `)?\s*(` + values.Expression("automatic") + `)`
	})
)

// apart separates a message into the person's own words and quoted text: what follows an
// introducing line, lines with a quote mark, and whole lines in quotation marks.
func apart(text string) (own, quoted string) {
	lines := strings.Split(text, "\n")
	var mine, theirs []string
	for i, line := range lines {
		rest := false
		switch {
		case wroteLine().MatchString(line), passedOn().MatchString(line):
			rest = true
		case i+1 < len(lines) && wroteLine().MatchString(line+" "+lines[i+1]) && len(line) < 200:
			rest = true // mail programs break that line
		case headLine().MatchString(line) && i+1 < len(lines) && headNext().MatchString(lines[i+1]):
			rest = true
		}
		if rest {
			theirs = append(theirs, lines[i:]...)
			break
		}
		if quoteLine().MatchString(line) || wholeQuote(line) {
			theirs = append(theirs, line)
			continue
		}
		mine = append(mine, line)
	}
	return strings.Join(mine, "\n"), strings.Join(theirs, "\n")
}

// wholeQuote reports whether a line is nothing but a quotation.
func wholeQuote(line string) bool {
	line = strings.TrimSpace(line)
	for _, pair := range [...][2]string{{`"`, `"`}, {"“", "”"}, {"„", "“"}, {"„", "”"}, {"«", "»"}, {"»", "«"}} {
		if inner, ok := strings.CutPrefix(line, pair[0]); ok {
			if inner, ok = strings.CutSuffix(inner, pair[1]); ok && strings.TrimSpace(inner) != "" && !strings.Contains(inner, pair[0]) {
				return true
			}
		}
	}
	return false
}
