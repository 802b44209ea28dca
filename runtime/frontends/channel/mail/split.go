package mail

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"verbatim/runtime/conversation/values"
)

// Patterns of the lines with which mail programs introduce the words of others, in all languages.
var (
	wrote = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\s*(?:` + values.Expression("wrote") + `)\s*:\s*$`)
	})
	// Yahoo's line continues with the quoted text.
	wroteOn = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\s*(?:` + values.Expression("wrote") + `)\s*:\s+\S`)
	})
	wroteToo = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\s*(?:` + values.Expression("attribution") + `)\s*:\s*$`)
	})
	passedOn = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^[\s*_-]*(?:\pL+ ){0,3}(?:` + values.Expression("passedon") + `)[\s:*_-]*$`)
	})
	senderLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\s*\**(?:` + values.Expression("sender") + `)\**\s*:\**\s*\S`)
	})
	headLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\s*\**(?:` + values.Expression("sender") + `|` + values.Expression("header") + `|cc)\**\s*:\**\s*\S`)
	})
	sentFrom = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^\s*(?:` + values.Expression("sentfrom") + `)`) })
	inline   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)(?:^|\P{L})(?:` + values.Expression("inline") + `)`)
	})

	marked   = regexp.MustCompile(`^\s*>`)
	barred   = regexp.MustCompile(`^\s*(?:\|\s|»\s)`)
	rule     = regexp.MustCompile(`^\s*(?:_{8,}|-{8,}|\*{8,}|={8,})\s*$`)
	entitled = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*-{3,}\s?\pL.{2,180}?-{3,}\s*$`) })
	anybody  = regexp.MustCompile(`<?[^\s<>@]+@[^\s<>@]+\.[^\s<>@]+>?`)
	moment   = regexp.MustCompile(`\b\d{1,2}[:.h]\d{2}\b`)
	colon    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\**\pL[\pL -]{0,20}\**\s?:\**\s+\S`) })
)

// Split divides the text of a mail into the sender's new text and earlier text of others. Signatures
// are in neither. It is unsure if quoted and new lines alternate, or if a part looks like the words
// of others but not clearly so.
func Split(text string) (own, quoted string, unsure bool) {
	lines := strings.Split(spaces.Replace(text), "\n")
	var mine, theirs []string
	var runs []bool // alternately, whether lines are quoted
	begun := false  // there was a line of own text
	add := func(line string, quote bool) {
		if quote {
			theirs = append(theirs, line)
		} else {
			mine = append(mine, line)
		}
		blank := strings.TrimLeft(line, "> ") == ""
		begun = begun || !quote && !blank
		if !blank && (len(runs) == 0 || runs[len(runs)-1] != quote) {
			runs = append(runs, quote)
		}
	}
	signed, passed := -1, false // how many lines a signature has; whether a mail is passed on
	for i := 0; i < len(lines); {
		line := lines[i]
		in := introduces(lines[i:])
		unsure = unsure || in.unsure
		switch {
		case in.lines > 0 && in.rest:
			passed = in.passed
			for _, line := range lines[i:] {
				add(line, true)
			}
			i = len(lines)
			signed = min(signed, 0)
			continue
		case in.lines > 0:
			signed = min(signed, 0)
			for _, line := range lines[i : i+in.lines] {
				add(line, true)
			}
			i += in.lines
			continue
		case marked.MatchString(line), barred.MatchString(line):
			unsure = unsure || barred.MatchString(line)
			signed = min(signed, 0)
			add(line, true)
		case signed > 0:
			signed++
			unsure = unsure || signed > mostSignature || values.Afterthought(line)
		case strings.TrimRight(line, " ") == "--":
			signed = 1
			unsure = unsure || !begun
		case len(line) < 120 && sentFrom().MatchString(line) && ends(lines[i+1:]):
		case rule.MatchString(line):
			unsure = unsure || skip(lines[i+1:]) < len(lines[i+1:])
			add(line, false)
		default:
			add(line, false)
		}
		i++
	}
	own, quoted = strings.TrimSpace(strings.Join(mine, "\n")), strings.TrimSpace(strings.Join(theirs, "\n"))
	unsure = unsure || len(runs) > 2 && !inBetween(runs, lines) || own == "" && quoted != "" && !passed || quoted != "" && inline().MatchString(own)
	return own, quoted, unsure
}

// inBetween reports whether a single answer stands inside the quoted text, below its only question.
func inBetween(runs []bool, lines []string) bool {
	if !slices.Equal(runs, []bool{true, false, true}) {
		return false
	}
	answered, questions := false, 0
	for _, line := range lines {
		text := strings.TrimLeft(line, "> ")
		switch {
		case text == "":
		case !marked.MatchString(line):
			answered = answered || questions > 0
		case strings.Contains(text, "?"):
			questions++
		}
	}
	return answered && questions == 1
}

// mostSignature is the greatest number of lines of a signature.
const mostSignature = 12

var spaces = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u00a0", " ", "\u202f", " ", "\u200b", "", "\u200e", "", "\u200f", "", "\ufeff", "")

// ends reports whether no further own text follows before the end of the mail or the words of
// others, which must come soon.
func ends(lines []string) bool {
	for i, line := range lines[:min(len(lines), 2*mostSignature)] {
		if strings.TrimSpace(line) == "" || sentFrom().MatchString(line) {
			continue
		}
		return marked.MatchString(line) || strings.TrimRight(line, " ") == "--" || introduces(lines[i:]).lines > 0
	}
	return true
}

// An introduction is the lines that introduce a quotation or a forwarded mail.
type introduction struct {
	lines  int  // how many it has; 0 is none
	rest   bool // all that follows is theirs
	passed bool // a mail is passed on
	unsure bool
}

// introduces looks for an introduction in the first of some lines.
func introduces(lines []string) (in introduction) {
	first := lines[0]
	if strings.TrimSpace(first) == "" || marked.MatchString(first) {
		return in
	}
	if strings.ContainsAny(first, "-:") && len(first) < 200 {
		if passedOn().MatchString(first) {
			return introduction{lines: 1, rest: true, passed: true}
		}
		if entitled().MatchString(first) {
			return introduction{lines: 1, rest: true, unsure: true}
		}
	}
	if rule.MatchString(first) {
		if next := skip(lines[1:]); next < len(lines)-1 {
			if in := header(lines[1+next:]); in.lines > 0 {
				return in
			}
		}
		return in
	}
	if in := header(lines); in.lines > 0 {
		return in
	}
	if wroteOn().MatchString(first) && anybody.MatchString(first) {
		return introduction{lines: 1, rest: true}
	}
	// Mail programs break the line that says who wrote.
	for n := 1; n <= min(4, len(lines)) && strings.TrimSpace(lines[n-1]) != ""; n++ {
		if !strings.HasSuffix(strings.TrimSpace(lines[n-1]), ":") {
			continue
		}
		if len(strings.Join(lines[:n], " ")) > 400 {
			break
		}
		known, like := attributes(lines[:n])
		for later := 1; later < n; later++ {
			if k, l := attributes(lines[later:n]); k && !known || l && like && !known || wrote().MatchString(joined(lines[later:n])) {
				return in // it begins later
			}
		}
		if !known && !like {
			continue
		}
		next := n + skip(lines[n:])
		follows := next < len(lines) && marked.MatchString(lines[next])
		return introduction{lines: n, rest: !follows, unsure: !follows && (!known || !strings.ContainsAny(joined(lines[:n]), "0123456789"))}
	}
	return in
}

func joined(lines []string) string {
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}

// attributes reports whether lines say who wrote the following text, in a language that we know, or
// look as if they did. Several lines count only if they begin with a date or break within an
// address.
func attributes(lines []string) (known, like bool) {
	all, first := joined(lines), lines[0]
	broken := strings.LastIndexByte(first, '<') > strings.LastIndexByte(first, '>')
	known = wrote().MatchString(all) && (len(lines) == 1 || strings.ContainsAny(first, "0123456789")) || wroteToo().MatchString(all) && (len(lines) == 1 || broken)
	return known, anybody.MatchString(all) && moment.MatchString(all)
}

// header looks for the first lines of a header that Outlook and others copy into the text.
func header(lines []string) (in introduction) {
	if !colon().MatchString(lines[0]) {
		return in
	}
	heads, sender, like, addressed, timed := 0, false, 0, false, false
	for _, line := range lines[:min(8, len(lines))] {
		if strings.TrimSpace(line) == "" {
			break
		}
		if headLine().MatchString(line) {
			heads++
			sender = sender || senderLine().MatchString(line)
		}
		if colon().MatchString(line) {
			like++
		}
		addressed, timed = addressed || anybody.MatchString(line), timed || moment.MatchString(line)
	}
	switch {
	case heads >= 2 && sender && headLine().MatchString(lines[0]):
		return introduction{lines: 1, rest: true, unsure: heads < 3 || !addressed && !timed}
	case like >= 3 && addressed && timed: // in another language
		return introduction{lines: 1, rest: true, unsure: true}
	}
	return in
}

// skip returns the number of leading blank lines.
func skip(lines []string) int {
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			return i
		}
	}
	return len(lines)
}
