package dsl

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// All messages of this package are in this file. A summary says what is wrong, a label (shown
// beside the caret) what was expected, a note what else may help; there is a fix whenever the
// right spelling can be derived from the wrong one.

func mistake(code string, at Place, summary, label string) Diagnostic {
	return Diagnostic{Code: code, Place: at, Summary: summary, Label: label}
}

// fix adds a fix of one edit.
func (d Diagnostic) fix(safe bool, title string, r Range, text string) Diagnostic {
	d.Fixes = append(d.Fixes, Fix{Title: title, Safe: safe, Edits: []Edit{{r, text}}})
	return d
}

func (d Diagnostic) note(notes ...string) Diagnostic {
	d.Notes = append(d.Notes, notes...)
	return d
}

// shown quotes a piece of the text for a summary: short, on one line, without hidden characters.
func shown(s string) string {
	const most = 40
	var b []byte
	n := 0
	for i, r := range s {
		if n == most {
			b = append(b, "…"...)
			break
		}
		if hidden(r) {
			b = appendEscape(b, r)
		} else if r == utf8.RuneError {
			b = append(b, "\ufffd"...)
		} else {
			b = append(b, s[i:i+utf8.RuneLen(r)]...)
		}
		n++
	}
	return string(b)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Limits.

func tooLarge(src *Source, most int) Diagnostic {
	return mistake("too-large", Place{Source: src},
		fmt.Sprintf("the text holds %d bytes; at most %d are read", len(src.Text), most), "").
		note("split it into several scripts")
}

func tooDeep(at Place, most int) Diagnostic {
	return mistake("too-deep", at, fmt.Sprintf("brackets stand more than %d deep here", most), "one too many").
		note("give an inner call a name with :as and use the name")
}

func tooManyCalls(at Place, most int) Diagnostic {
	return mistake("too-many-calls", at, fmt.Sprintf("the script holds more than %s", plural(most, "call", "calls")),
		"nothing from here on was read").note("split it into several scripts")
}

func tooManyValues(at Place, most int) Diagnostic {
	return mistake("too-many-values", at, fmt.Sprintf("the script holds more than %s", plural(most, "value", "values")),
		"nothing from here on was read").note("split it into several scripts")
}

func tooManyMistakes(more, most int) Diagnostic {
	return Diagnostic{Code: "too-many-mistakes",
		Summary: fmt.Sprintf("%s not shown; at most %d are", plural(more, "more mistake is", "more mistakes are"), most),
		Notes:   []string{"correct those above and check again"}}
}

// Characters.

func invalidUTF8(at Place, bytes string) Diagnostic {
	return mistake("invalid-utf8", at,
		fmt.Sprintf("%s here that %s not UTF-8 text", plural(len(bytes), "byte stands", "bytes stand"), isAre(len(bytes))),
		"").note("save the text as UTF-8")
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func controlCharacter(at Place, chars string, inString bool) Diagnostic {
	d := mistake("control-character", at, "a control character stands here", "")
	if inString {
		q := appendString(nil, chars)
		escaped := string(q[1 : len(q)-1])
		d.Label = "write " + escaped
		return d.fix(true, "write it as an escape", at.Range, escaped)
	}
	return d.fix(true, "remove it", at.Range, "")
}

func oddSpace(at Place, chars string) Diagnostic {
	r, _ := utf8.DecodeRuneInString(chars)
	return mistake("unusual-space", at, fmt.Sprintf("this white space is not an ordinary one (U+%04X)", r),
		"an ordinary space is wanted here").fix(true, "write a space", at.Range, " ")
}

// Brackets.

var bracketNames = map[byte][3]string{
	')': {"unclosed-call", "call", "parenthesis"},
	']': {"unclosed-list", "list", "bracket"},
	'}': {"unclosed-map", "map", "brace"},
}

func unclosed(at Place, closer byte, end int, missing string) Diagnostic {
	n := bracketNames[closer]
	d := mistake(n[0], at, fmt.Sprintf("the %s that begins here is not closed", n[1]),
		fmt.Sprintf("its \"%c\" is missing", closer))
	if end < 0 {
		return d
	}
	return d.fix(false, fmt.Sprintf("close it with %s", missing), Range{int32(end), int32(end)}, missing)
}

func strayBracket(at Place) Diagnostic {
	return mistake("stray-bracket", at, "this closes nothing", "no partner of it is open").
		fix(false, "remove it", at.Range, "")
}

func mismatchedBracket(at Place, got, want byte, opener Place) Diagnostic {
	d := mistake("mismatched-bracket", at,
		fmt.Sprintf("a %s ends with \"%c\", not with \"%c\"", bracketNames[want][1], want, got),
		fmt.Sprintf("\"%c\" is wanted here", want)).
		fix(false, fmt.Sprintf("write \"%c\"", want), at.Range, string(want))
	d.Related = []Related{{opener, fmt.Sprintf("the %s begins here", bracketNames[want][1])}}
	return d
}

func strayComma(at Place) Diagnostic {
	return mistake("stray-comma", at, "a comma stands between two values, and there is none before this one", "remove it").
		fix(true, "remove it", at.Range, "")
}

// Calls.

func expectedCall(at Place, text string) Diagnostic {
	d := mistake("expected-call", at, fmt.Sprintf("%q is not a call", shown(firstLine(text))), "a call begins with a verb")
	if strings.HasPrefix(text, ":") {
		d.Summary = "an argument stands here without a call"
	}
	return d.note("a call is written domain.verb :key value", "words that are not for the machine go behind a semicolon")
}

func firstLine(s string) string {
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		return s[:i] + "…"
	}
	return s
}

func codeFence(at Place) Diagnostic {
	return mistake("code-fence", at, "a line of backquotes is not part of the language", "remove it").
		fix(true, "remove it", at.Range, "")
}

func missingVerb(at Place) Diagnostic {
	return mistake("missing-verb", at, "a call begins with a verb", "a verb is wanted here").
		note("a verb is written domain.verb, all in lower case")
}

func verbCase(at Place, got, fixed string) Diagnostic {
	d := mistake("verb-case", at, fmt.Sprintf("%q is not in lower case", shown(got)), "")
	if !isVerb(fixed) {
		return d.note("each part of a verb begins with a lower-case letter")
	}
	d.Label = fmt.Sprintf("did you mean %q?", fixed)
	return d.fix(true, "write "+fixed, at.Range, fixed)
}

func verbWithoutDomain(at Place, got, domain string) Diagnostic {
	d := mistake("verb-without-domain", at, fmt.Sprintf("the verb %q lacks its domain", shown(got)),
		"a verb is written domain.verb")
	if fixed := domain + "." + kebab(got); domain != "" && isVerb(fixed) {
		return d.fix(false, "write "+fixed, at.Range, fixed)
	}
	return d
}

func invalidVerb(at Place, got, fixed string) Diagnostic {
	d := mistake("invalid-verb", at, fmt.Sprintf("%q is not a verb", shown(got)), "").
		note("a verb is names joined by dots; a name is a lower-case letter, then letters, digits, - and _")
	if fixed == "" {
		return d
	}
	d.Label = fmt.Sprintf("did you mean %q?", fixed)
	return d.fix(false, "write "+fixed, at.Range, fixed)
}

func unopenedCall(at Place) Diagnostic {
	return mistake("unopened-call", at, "a call inside another stands in parentheses", `its "(" is missing`).
		fix(false, `write "("`, Range{at.Range.Start, at.Range.Start}, "(")
}

func parenthesisAfterVerb(at Place, verb string) Diagnostic {
	return mistake("parenthesis-after-verb", at, "arguments do not stand in parentheses",
		fmt.Sprintf("write %s :key value", shown(verb)))
}

// Keys.

// keyWord writes a key inside a sentence, in quotes unless it has quotes itself.
func keyWord(key string) string {
	if strings.HasPrefix(key, `:"`) {
		return shown(key)
	}
	return strconv.Quote(key)
}

func keyCase(at Place, got, fixed string) Diagnostic {
	d := mistake("key-case", at, fmt.Sprintf("the key %q does not begin with a lower-case letter", ":"+shown(got)),
		"did you mean "+keyWord(fixed)+"?")
	return d.fix(true, "write "+fixed, at.Range, fixed)
}

func invalidKey(at Place, got string, ofMap bool) Diagnostic {
	d := mistake("invalid-key", at, fmt.Sprintf("%q is not a key", shown(got)), "").
		note("a key is a colon and a lower-case letter, then letters, digits, - and _")
	if name := strings.TrimPrefix(got, ":"); ofMap && name != "" {
		fixed := FormatKey(name)
		d.Label = "any other key of a map stands in quotes"
		return d.fix(false, "write "+shown(fixed), at.Range, fixed)
	}
	return d
}

func quotedKey(at Place, key string, ofMap bool) Diagnostic {
	if ofMap { // with nothing between the quotes
		return mistake("invalid-key", at, "a key of a map is one character at least", "a name is wanted between the quotes")
	}
	d := mistake("invalid-key", at, fmt.Sprintf("the argument %s stands in quotes", shown(FormatKey(key))), "only the keys of a map may")
	if isKey(key) {
		d.Summary = fmt.Sprintf("the argument :%s stands in quotes", shown(key))
		return d.fix(true, "write :"+key, at.Range, ":"+key)
	}
	return d.note("a key is a colon and a lower-case letter, then letters, digits, - and _")
}

func spaceInKey(at Place, gap Range, key string) Diagnostic {
	return mistake("space-in-key", at, "the colon of a key touches its name", fmt.Sprintf("write :%s", shown(key))).
		fix(true, "close the gap", gap, "")
}

func missingColon(at Place, got, key string) Diagnostic {
	text := ":" + key
	if c := got[len(got)-1]; c == '=' || c == ':' {
		text += " "
	}
	return mistake("missing-colon", at, "the colon of a key stands before its name",
		fmt.Sprintf("did you mean %q?", ":"+key)).
		fix(true, "write :"+key, at.Range, text)
}

func equalsSign(at Place, key string) Diagnostic {
	return mistake("equals-sign", at, "no equals sign stands between a key and its value",
		fmt.Sprintf("write %s value", shown(FormatKey(key)))).fix(true, "write a space", at.Range, " ")
}

func colonAfterKey(at Place, key string) Diagnostic {
	return mistake("colon-after-key", at, "a key has one colon, before its name", "write "+shown(key)).
		fix(true, "remove the second colon", at.Range, key)
}

func missingSpace(at Place, where int32) Diagnostic {
	return mistake("missing-space", at, "white space is missing between these two", "a space is wanted here").
		fix(true, "put a space between them", Range{where, where}, " ")
}

func missingValue(at Place, key string) Diagnostic {
	return mistake("missing-value", at, fmt.Sprintf("%s has no value", shown(key)), "a value is wanted after it").
		note("for no value at all, write nil or leave the argument out")
}

func valueWithoutKey(at Place, text string) Diagnostic {
	return mistake("value-without-key", at, fmt.Sprintf("%q stands here without a key", shown(firstLine(text))),
		"an argument is written :key value")
}

func commaBetween(at Place) Diagnostic {
	return mistake("comma-between-arguments", at, "arguments are not separated by commas", "remove it").
		fix(true, "remove it", at.Range, "")
}

func duplicateKey(at Place, key string, first Place) Diagnostic {
	d := mistake("duplicate-key", at, "the map holds "+keyWord(FormatKey(key))+" twice", "a second time")
	d.Related = []Related{{first, "first here"}}
	return d
}

func jsonMap(at Place, edits []Edit) Diagnostic {
	d := mistake("map-key", at, "a key of a map is written :key", "no quotes, and the colon first")
	if strings.HasPrefix(edits[0].Text, `:"`) {
		d.Label = "the colon stands first"
	}
	for _, e := range edits {
		if e.Text == "" { // a key without a character
			return d
		}
	}
	d.Fixes = []Fix{{Title: "write the keys of this map as :key", Edits: edits}}
	return d
}

func bracketsForMap(at Place) Diagnostic {
	return mistake("brackets-for-map", at, "a map stands in braces", "{:key value} is a map, [value value] a list")
}

// Symbols.

func asWithoutSymbol(at Place, name string) Diagnostic {
	d := mistake("as-without-symbol", at, ":as names the result with a symbol", "")
	if name == "" {
		d.Label = "a symbol such as @request is wanted after it"
		return d
	}
	d.Label = fmt.Sprintf("did you mean \"@%s\"?", shown(name))
	return d.fix(true, "write @"+name, at.Range, "@"+name)
}

func asWithPath(at Place, symbol string) Diagnostic {
	return mistake("as-with-path", at, ":as names the whole result, not a field of it",
		fmt.Sprintf("write %s", shown(symbol))).fix(false, "write "+symbol, at.Range, symbol)
}

func duplicateAs(at, first Place) Diagnostic {
	d := mistake("duplicate-as", at, "the result of a call has one name", "a second name")
	d.Related = []Related{{first, "the first"}}
	return d.fix(false, "remove it", at.Range, "")
}

func invalidSymbol(at Place, got string) Diagnostic {
	return mistake("invalid-symbol", at, fmt.Sprintf("%q is not a symbol", shown(got)), "").
		note("a symbol is written @name, @name.field or @name~k3f9ab; a name is a letter, then letters, digits, - and _")
}

// Strings.

func unclosedString(at Place, end int) Diagnostic {
	return mistake("unclosed-string", at, "the text that begins here has no closing quote on its line",
		"its quote is missing").fix(false, "close it", Range{int32(end), int32(end)}, `"`)
}

func lineBreakInString(at Place, text string, brk int) Diagnostic {
	d := mistake("line-break-in-string", at, "a text stands on one line", `write \n for a line break`)
	var edits []Edit
	for i := brk; i < int(at.Range.End); i++ {
		switch text[i] {
		case '\r':
			n := 1
			if i+1 < len(text) && text[i+1] == '\n' {
				n = 2
			}
			edits = append(edits, Edit{Range{int32(i), int32(i + n)}, `\n`})
			i += n - 1
		case '\n':
			edits = append(edits, Edit{Range{int32(i), int32(i + 1)}, `\n`})
		}
	}
	d.Fixes = []Fix{{Title: `write \n`, Edits: edits}}
	return d
}

func misplacedQuote(at Place, text string, last int) Diagnostic {
	d := mistake("misplaced-quote", at, "this quote ends the text, and more text follows it", `inside a text, a quote is written \"`)
	if last < 0 {
		return d
	}
	var edits []Edit
	for i := int(at.Range.Start); i < last; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			if len(edits) == 16 {
				return d // nobody meant that
			}
			edits = append(edits, Edit{Range{int32(i), int32(i)}, `\`})
		}
	}
	d.Fixes = []Fix{{Title: `write \"`, Edits: edits}}
	return d
}

func invalidEscape(at Place, got string) Diagnostic {
	d := mistake("invalid-escape", at, fmt.Sprintf("%q is not an escape", shown(got)), "").
		note(`the escapes are \" \\ \n \r \t \u00E9 \u{1F600}`)
	switch got[1] {
	case 'u', 'x', '0', 'U', 'N', 'a', 'b', 'f', 'v', 'e':
		return d
	case '\'', '/':
		return d.fix(true, "remove the backslash", Range{at.Range.Start, at.Range.Start + 1}, "")
	}
	return d.fix(false, "write a backslash", Range{at.Range.Start, at.Range.Start}, `\`)
}

func noCharacter(at Place, got string) Diagnostic {
	return mistake("invalid-escape", at, fmt.Sprintf("%q is no character", shown(got)), "").
		note("characters run to 10FFFF, without D800 to DFFF")
}

func foreignQuotes(at Place, opening, text string) Diagnostic {
	code, summary := "typographic-quotes", "a text stands in plain double quotes, not in typographic ones"
	if opening == "'" || opening == "`" {
		code, summary = "single-quotes", fmt.Sprintf("a text stands in double quotes, not in %s", opening)
	}
	return mistake(code, at, summary, "write plain double quotes").
		fix(true, "write double quotes", at.Range, string(appendString(nil, text)))
}

func unquotedText(at Place, text string) Diagnostic {
	quoted := string(appendString(nil, strings.TrimPrefix(text, `"`)))
	d := mistake("unquoted-text", at, fmt.Sprintf("%q is not a value", shown(text)), "a text stands in double quotes")
	if isKey(text) {
		d = d.note("a code is in upper case; true, false and nil are the only words in lower case")
	}
	return d.fix(false, "put it in quotes", at.Range, quoted)
}

// Literals.

func invalidDate(at Place, got, why string) Diagnostic {
	code, what := "invalid-date", "a date"
	if len(got) > 10 {
		code, what = "invalid-datetime", "a date and time"
	}
	return mistake(code, at, fmt.Sprintf("%s is not %s; %s", shown(got), what, why), what+" of the calendar is wanted here")
}

// wordMistake returns the diagnostic for a word that was meant as a literal; nil if it was
// probably meant as text.
func wordMistake(w string) func(Place) Diagnostic {
	with := func(code, summary, label, title, fixed string, safe bool) func(Place) Diagnostic {
		return func(at Place) Diagnostic {
			d := mistake(code, at, summary, label)
			if fixed != "" {
				if label == "" {
					d.Label = fmt.Sprintf("did you mean %s?", shown(fixed))
				}
				d = d.fix(safe, title+" "+fixed, at.Range, fixed)
			}
			return d
		}
	}
	c := class[w[0]]
	switch w {
	case "null", "None", "undefined", "Nil":
		return with("foreign-word", fmt.Sprintf("%q is written nil here", w), "", "write", "nil", true)
	case "True", "yes", "Yes":
		return with("foreign-word", fmt.Sprintf("%q is written true here", w), "", "write", "true", true)
	case "False", "no", "No":
		return with("foreign-word", fmt.Sprintf("%q is written false here", w), "", "write", "false", true)
	}
	switch {
	case w[0] == '@':
		return func(at Place) Diagnostic { return invalidSymbol(at, w) }
	case len(w) >= 30 && len(w) <= 42 && strings.Count(w, "-") == 4 && strings.Trim(lowerASCII(w), "0123456789abcdef-") == "":
		return with("invalid-uuid", fmt.Sprintf("%q is not a uuid", shown(w)), "a uuid has 8-4-4-4-12 hexadecimal digits", "", "", false)
	case c&isUpper != 0 && strings.Trim(w, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == "":
		return with("invalid-code", fmt.Sprintf("a code has no hyphen: %q", shown(w)), "", "write", strings.Trim(strings.ReplaceAll(w, "-", "_"), "_"), false)
	case c&isDigit != 0 || len(w) > 1 && (w[0] == '-' || w[0] == '+' || w[0] == '.') && class[w[1]]&isDigit != 0:
		return numberMistake(w, with)
	}
	if r, size := utf8.DecodeRuneInString(w); strings.ContainsRune("$€£¥", r) && wordKind(w[size:]) != Invalid {
		return with("invalid-number", "a number stands without its currency", "", "write", w[size:], false)
	}
	return nil
}

func numberMistake(w string, with func(code, summary, label, title, fixed string, safe bool) func(Place) Diagnostic) func(Place) Diagnostic {
	if fixed, isDate := dateMeant(w); isDate {
		code, label := "invalid-date", ""
		what := "a date is written year-month-day, as in 2025-01-03"
		if len(w) > 11 {
			code, what = "invalid-datetime", "a date and time is written 2025-01-03T10:00:00Z, with Z or an offset such as +01:00"
		}
		if fixed == "" {
			label = "year, month, day"
		}
		return with(code, fmt.Sprintf("%q: %s", shown(w), what), label, "write", fixed, false)
	}
	digitsOnly := strings.ReplaceAll(strings.TrimPrefix(w, "+"), "_", "")
	sign := ""
	if strings.HasPrefix(digitsOnly, "-") {
		sign, digitsOnly = "-", digitsOnly[1:]
	}
	trimmed := strings.TrimLeft(digitsOnly, "0")
	if trimmed == "" || class[trimmed[0]]&isDigit == 0 {
		trimmed = "0" + trimmed
	}
	fixed := sign + strings.TrimSuffix(trimmed, ".")
	summary := fmt.Sprintf("%q is not a number", shown(w))
	switch {
	case numberKind(fixed) == Invalid:
		fixed = ""
		if strings.ContainsAny(w, "eE") && strings.Trim(w, "0123456789eE+-.") == "" {
			summary += "; numbers have no exponent"
		} else if strings.HasSuffix(w, "%") && numberKind(w[:len(w)-1]) != Invalid {
			fixed = w[:len(w)-1]
			summary += "; the percent sign is not part of one"
		}
	case strings.HasPrefix(w, "+"):
		summary += "; there is no plus sign"
	case strings.Contains(w, "_"):
		summary += "; its digits stand together"
	case strings.HasSuffix(w, "."), strings.HasPrefix(digitsOnly, "."):
		summary += "; digits stand on both sides of the point"
	default:
		summary += "; it has no leading zeros"
	}
	label := ""
	if fixed == "" {
		label = "if it is a text, put it in quotes"
	}
	return with("invalid-number", summary, label, "write", fixed, fixed != "" && !strings.HasSuffix(w, "%") && digitsOnly[0] != '0')
}

// dateMeant reports whether a word was meant as a date or date-time, and its spelling if it can
// be read in only one way.
func dateMeant(w string) (fixed string, ok bool) {
	day, clock := w, ""
	if i := strings.IndexAny(w, "Tt"); i > 0 {
		day, clock = w[:i], w[i+1:]
	}
	parts := strings.FieldsFunc(day, func(r rune) bool { return r == '-' || r == '/' || r == '.' })
	if len(parts) != 3 || len(day) < 5 {
		return "", false
	}
	for _, s := range parts {
		if !digits(s, 0, len(s)) || len(s) > 4 {
			return "", false
		}
	}
	if strings.Count(day, ".") == 2 && len(parts[0]) > 2 && len(parts[2]) > 2 {
		return "", false
	}
	if len(parts[0]) == 4 && len(parts[1]) <= 2 && len(parts[2]) <= 2 {
		fixed = parts[0] + "-" + twoDigits(parts[1]) + "-" + twoDigits(parts[2])
		if DateFault(fixed) != "" {
			fixed = ""
		}
	} else if len(parts[2]) != 4 && len(parts[0]) != 4 && len(parts[2]) != 2 {
		return "", false
	}
	if clock == "" {
		return fixed, true
	}
	if fixed == "" {
		return "", true
	}
	for _, end := range []string{"", "Z", ":00Z"} {
		if full := fixed + "T" + clock + end; isDateTimeShape(full) && dateTimeProblem(full) == "" {
			return canonicalDateTime(full), true
		}
	}
	if i := strings.IndexAny(clock, "Zz+-"); i == 5 {
		if full := fixed + "T" + clock[:5] + ":00" + clock[5:]; isDateTimeShape(full) && dateTimeProblem(full) == "" {
			return canonicalDateTime(full), true
		}
	}
	return "", true
}

func twoDigits(s string) string {
	if len(s) == 1 {
		return "0" + s
	}
	return s
}

func decimalComma(at Place, got string) Diagnostic {
	whole, rest, _ := strings.Cut(got, ",")
	fixed := whole + "." + rest
	return mistake("decimal-comma", at, "a decimal has a point, not a comma", fmt.Sprintf("did you mean %s?", shown(fixed))).
		note(fmt.Sprintf("a list has brackets: [%s, %s]", shown(whole), shown(rest))).
		fix(false, "write "+fixed, at.Range, fixed)
}

func thousands(at Place, got string) Diagnostic {
	fixed := strings.ReplaceAll(got, ",", "")
	d := mistake("thousands-separator", at, fmt.Sprintf("the number %s is written without commas", shown(fixed)), "")
	if numberKind(fixed) == Invalid {
		d.Label = "write its digits together"
		return d
	}
	d.Label = fmt.Sprintf("did you mean %s?", shown(fixed))
	return d.fix(false, "write "+fixed, at.Range, fixed)
}
