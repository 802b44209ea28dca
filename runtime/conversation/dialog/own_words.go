package dialog

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"verbatim/runtime/conversation/values"
)

// What a person says as their own statement. Words in quotation marks, reported speech and sentences that only
// suppose are not, and what a correction takes back is none any more.

// A statement is a sentence that the person states.
type statement struct {
	text   string
	orders bool // it asks for something to be done
}

// ownWords returns the sentences that a message states. What an order dictates after a colon is the
// person's own, and what it writes in quotation marks: write on it: "if …".
func ownWords(text string, read reader, when time.Time) (all []statement) {
	const mark = "\x00"
	text = reminded(text)
	var notes []string
	text = quoting().ReplaceAllStringFunc(text, func(said string) string {
		part := quoting().FindStringSubmatch(said)
		before, note, behind := strings.TrimSpace(part[1]), part[2], part[3]
		if order := strings.TrimSuffix(before, ":"); !(order != before && asksFor(order)) && (hearsay(order) || lastOrder(order+" "+behind) == "") {
			return said
		}
		_, first := utf8.DecodeRuneInString(note)
		_, last := utf8.DecodeLastRuneInString(note)
		notes = append(notes, note[first:len(note)-last])
		return strings.TrimSuffix(before, ":") + ": " + mark + strconv.Itoa(len(notes)-1) + mark + behind
	})
	for _, said := range sentencesOf(unquoted(text)) {
		if supposes(said) && !supposesWithin(said) {
			continue
		}
		kept := firstHand(clausesOf(said))
		back := len(all) > 0
		kept, corrects := corrected(kept, read, when)
		if said := slices.DeleteFunc(slices.Clone(kept), deniesFirst); corrects && len(said) > 0 {
			kept = said // "no wait, not the accountant, write that …"
		}
		text := strings.TrimSpace(strings.Join(kept, ""))
		if back && corrects && strings.HasSuffix(said, text) {
			all[len(all)-1].text = withdrawn(all[len(all)-1].text, read(text, when), read, when)
		}
		own := statement{text, asksFor(text)}
		for i, note := range notes {
			own.text = strings.ReplaceAll(own.text, mark+strconv.Itoa(i)+mark, note)
		}
		if strings.TrimSpace(own.text) != "" {
			all = append(all, own)
		}
	}
	return all
}

// supposesWithin reports whether it is in what an order tells that a sentence supposes: "note that he comes if …", "put: if …",
// "note on Pierre - he may …".
func supposesWithin(said string) bool {
	at := tells().FindStringIndex(said)
	return at != nil && asksFor(said[:at[0]]) && !supposes(said[:at[0]])
}

// tells matches what stands between an order and what it tells.
var tells = lazily(func() string {
	return `: |\s+[-–—]+\s|(?i:\s(?:` + strings.Join(values.Phrases("conjunction"), "|") + `)\s)`
})

var conjoins = lazily(func() string { return `(?i)\s(?:` + strings.Join(values.Phrases("conjunction"), "|") + `)\s` })

// unquoted returns a text without what stands in quotation marks. Where that ends in a full stop and a capital follows,
// the full stop is kept: it ends the sentence that quotes.
func unquoted(text string) string {
	var b strings.Builder
	from := 0
	for _, at := range inQuotes().FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[from:at[0]])
		if at[2] >= 0 {
			b.WriteString(text[at[2]:at[3]])
		}
		rest := strings.TrimSpace(text[at[1]:])
		next, _ := utf8.DecodeRuneInString(rest)
		_, mark := utf8.DecodeLastRuneInString(text[:at[1]])
		if last, _ := utf8.DecodeLastRuneInString(text[:at[1]-mark]); strings.ContainsRune(".!?", last) && unicode.IsUpper(next) {
			b.WriteByte('.')
		}
		b.WriteByte(' ')
		from = at[1]
	}
	return b.String() + text[from:]
}

// textOf returns sentences, a line each.
func textOf(all []statement) string {
	var lines []string
	for _, own := range all {
		lines = append(lines, own.text)
	}
	return strings.Join(lines, "\n")
}

// asksFor reports whether a sentence asks for something to be done: it is polite about it, or a clause of
// it begins with "could you", or with an order that nobody else is said to give. "Can you believe it"
// asks for nothing.
func asksFor(said string) bool {
	return pleads(said) || lastOrder(said) != ""
}

// pleads reports whether a sentence says please, and nobody else is said to say it.
func pleads(said string) bool {
	is := func(key string) func(string) bool {
		return func(w string) bool { return slices.Contains(values.Phrases(key), w) }
	}
	return slices.ContainsFunc(clausesOf(said), func(clause string) bool {
		words := strings.Fields(nameable(clause))
		i := slices.IndexFunc(words, is("pleading"))
		return i >= 0 && !slices.ContainsFunc(words[min(1, i):i], is("saying")) // "schreibt bitte" is an order
	})
}

// lastOrder returns the last item of a sentence that gives an order, or "".
func lastOrder(said string) (order string) {
	others := false
	for _, clause := range clausesOf(said) {
		for _, item := range itemsOf(clause) {
			words := strings.Fields(nameable(item))
			if order != "" && !slices.ContainsFunc(words, func(w string) bool { return !opens(w) }) {
				continue // "take that off again, please"
			}
			marvels := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(values.Phrases("marvelling"), w) })
			for rest := words; len(rest) > 0 && !marvels; rest = rest[1:] {
				if said := strings.Join(rest, " "); !others && !tellMe().MatchString(said) && (bids(rest[0]) || amending().MatchString(said)) || courteous().MatchString(said) {
					order = item
				}
				if !opens(rest[0]) {
					break
				}
			}
			others = others || hearsay(item)
		}
	}
	return order
}

// bids reports whether a word orders something, also where a letter of it was left out: "schreibn Sie".
func bids(word string) bool {
	const long = 6
	return isOne(word, "bidding") || len(word) >= long && slices.ContainsFunc(values.Phrases("bidding"), func(other string) bool {
		return len(word) < len(other) && nearly(word, other)
	})
}

// opens reports whether a word may stand before what a sentence says; it may be drawn out: "heyy".
func opens(word string) bool {
	all := values.Phrases("opening")
	short := strings.TrimRightFunc(word, func(r rune) bool { return strings.HasSuffix(word, string(r)+string(r)) })
	return slices.Contains(all, word) || short != word && slices.Contains(all, short+word[len(word)-1:])
}

// tellMe matches what asks the assistant for an answer, and not for a change.
var tellMe = lazily(func() string { return `^(?:` + values.Expression("tellme") + `)` })

// asksToTell reports whether a message asks for an answer before anything else: "hmm, first tell me how long it may be".
func asksToTell(text string) bool {
	words := strings.Fields(nameable(text))
	i := slices.IndexFunc(words, func(w string) bool { return !opens(w) && !slices.Contains(values.Phrases("asides"), w) })
	return i >= 0 && tellMe().MatchString(strings.Join(words[i:], " "))
}

// corrects reports whether a message begins as a correction does: "sorry, it is the 13th", "it is Legal, not HR".
func corrects(text string) bool {
	for i, w := range strings.Fields(nameable(text)) {
		if slices.Contains(values.Phrases("repairing"), w) {
			return true
		}
		if i > 0 && !opens(w) {
			break
		}
	}
	return slices.ContainsFunc(clausesOf(text), deniesFirst)
}

// amends reports whether statements ask for a change of what was done last: "make that the 15th", "the same note on
// Thomas".
func amends(all []statement) bool {
	return slices.ContainsFunc(all, func(own statement) bool {
		words := strings.Fields(nameable(own.text))
		for i := range words {
			if amending().MatchString(strings.Join(words[i:], " ")) || own.orders && slices.Contains(values.Phrases("likewise"), words[i]) {
				return true
			}
		}
		return false
	})
}

var amending = lazily(func() string { return `^(?:` + values.Expression("amending") + `)\b` })

// reminded returns a text in which what must not be forgotten is asked for.
func reminded(text string) string { return reminding().ReplaceAllString(text, "please") }

var reminding = lazily(func() string { return `(?i)\b(?:` + values.Expression("reminding") + `)\b` })

// isOne reports whether a word is one of those under a key, in Spanish with a pronoun at its end or
// without: "dígales".
func isOne(word, key string) bool {
	return slices.Contains(values.Phrases(key), word) || slices.ContainsFunc(values.Spanish.Phrases("enclitic"), func(end string) bool {
		stem, ok := strings.CutSuffix(word, end)
		return ok && slices.Contains(values.Spanish.Phrases(key), stem)
	})
}

var courteous = lazily(func() string { return `^(?:` + values.Expression("courteous") + `)\b` })

// firstHand returns the clauses of a sentence without what somebody else says in it: "he said, put down …", "his
// letter: put down …".
func firstHand(clauses []string) []string {
	for i, clause := range clauses[:len(clauses)-1] {
		head := strings.Join(clauses[:i+1], "")
		if strings.HasSuffix(strings.TrimSpace(clause), ":") && citing().MatchString(values.Plain(head)) && lastOrder(head) == "" {
			return clauses[:i+1]
		}
		if words := wordsIn(clause); len(words) > 1 && slices.Contains(values.Phrases("saying"), values.Plain(words[len(words)-1])) {
			return clauses[:i+1]
		}
	}
	return clauses
}

var citing = lazily(func() string { return `\b(?:` + values.Expression("citing") + `)` })

// hearsay reports whether a text tells what others say.
func hearsay(text string) bool {
	return slices.ContainsFunc(wordsIn(text), func(w string) bool {
		w = values.Plain(w)
		return slices.Contains(values.Phrases("saying"), w) || slices.Contains(values.Phrases("hearsay"), w)
	})
}

// corrected returns clauses without those that only take back what was said, "no, sorry", "not the 3rd, sorry",
// and without the dates and numbers before them for which others stand behind.
func corrected(clauses []string, read reader, when time.Time) (kept []string, corrects bool) {
	cues := func(clause string) bool {
		cue := func(w string) bool { return slices.Contains(values.Phrases("cue"), w) }
		words := strings.Fields(nameable(clause))
		if strings.HasSuffix(strings.TrimSpace(clause), ":") && slices.ContainsFunc(words, func(w string) bool { return isOne(w, "bidding") }) {
			return false // "just put: …" is an order
		}
		return slices.ContainsFunc(words, cue) && !slices.ContainsFunc(words, func(w string) bool { return !cue(w) && !opens(w) })
	}
	for i := 0; i < len(clauses); i++ {
		first := wordsIn(clauses[i])
		takesBack := cues(clauses[i]) && i+1 < len(clauses)
		if i+2 < len(clauses) && len(first) > 1 && denies(first[0]) && cues(clauses[i+1]) {
			takesBack = true
			i++
		}
		if !takesBack {
			kept = append(kept, clauses[i])
			continue
		}
		corrects = true
		behind := read(strings.Join(clauses[i+1:], ""), when)
		for j := range kept {
			kept[j] = withdrawn(kept[j], behind, read, when)
		}
		if n := len(kept); n > 0 && i+1 < len(clauses) {
			kept[n-1] = restated(kept[n-1], clauses[i+1])
		}
	}
	return kept, corrects
}

// restated returns a clause without its end, where a correction says that again from the same word: "at the embassy, no wait,
// at the consulate".
func restated(clause, again string) string {
	const most = 4
	words := strings.Fields(again)
	if len(words) == 0 {
		return clause
	}
	ends := spokenWords().FindAllStringIndex(clause, -1)
	for _, at := range slices.Backward(ends[max(0, len(ends)-most):]) {
		if fold(clause[at[0]:at[1]]) == fold(words[0]) {
			return clause[:at[0]]
		}
	}
	return clause
}

// withdrawn returns a text without its dates or numbers, where a correction says others.
func withdrawn(said string, others []reading, read reader, when time.Time) string {
	for _, r := range slices.Backward(read(said, when)) {
		if slices.ContainsFunc(others, func(other reading) bool { return other.date == r.date }) {
			said = said[:r.start] + said[r.end:]
		}
	}
	return said
}

// supposes reports whether a sentence only supposes. "Ask them if …" wants to know, and "if you could" and
// "might I trouble you" are polite.
func supposes(said string) bool {
	words := wordsIn(said)
	polite := func(i int) bool {
		return i < len(words) && slices.Contains(values.Phrases("addressing"), values.Plain(words[i]))
	}
	if fields := strings.Fields(said); len(fields) > 1 && len(words) > 1 && !polite(1) && !strings.ContainsAny(said, "?") {
		second, _ := utf8.DecodeRuneInString(fields[1])
		first := values.Plain(words[0])
		if slices.Contains(values.Phrases("inverted"), first) || slices.Contains(values.Phrases("beforename"), first) && unicode.IsUpper(second) {
			return true // "were she born in 1970, …", "should Pierre call, …"
		}
	}
	if postpones().MatchString(values.Plain(said)) {
		return true
	}
	for i, w := range words {
		if !slices.Contains(values.Phrases("supposing"), values.Plain(w)) {
			continue
		}
		asks := slices.ContainsFunc(words[:i], func(w string) bool { return isOne(values.Plain(w), "enquiring") })
		if !asks && !polite(i+1) && !courteous().MatchString(values.Plain(strings.Join(words[i:], " "))) {
			return true
		}
	}
	return false
}

// enquires reports whether a sentence is a question: by its mark, or because it begins as one, "is that the date you
// have".
func enquires(said string) bool {
	if strings.ContainsAny(said, "?¿") {
		return true
	}
	plain := values.Plain(said)
	for {
		if asksFirst().MatchString(plain) {
			return true
		}
		first, rest, more := strings.Cut(plain, " ")
		if !more || !opens(first) {
			return false
		}
		plain = rest
	}
}

var asksFirst = lazily(func() string { return `^(?:` + values.Expression("asksfirst") + `)` })

// drops reports whether a sentence calls off what it, or one before it, asked for: "but forget it".
func drops(said string) bool { return dropping().MatchString(values.Plain(said)) }

var thatsAll = lazily(func() string { return `^(?:` + values.Expression("thatsall") + `)` })

var dropping = lazily(func() string { return `\b(?:` + values.Expression("dropping") + `)` })

var postpones = lazily(func() string { return `\b(?:` + values.Expression("postponing") + `)\b` })

// sentencesOf divides a text at the ends of its sentences and lines.
func sentencesOf(text string) (all []string) {
	from := 0
	for i, r := range text {
		next := i + len(string(r))
		ends := r == '\n' || strings.ContainsRune(".!?;", r) && (next == len(text) || text[next] == ' ' || text[next] == '\n') && !(r == '.' && (ordinal().MatchString(text[from:i]) || shortened().MatchString(text[from:min(i+3, len(text))])))
		if ends && strings.TrimSpace(text[from:next]) != "" {
			all, from = append(all, strings.TrimSpace(text[from:next])), next
		}
	}
	if rest := strings.TrimSpace(text[from:]); rest != "" {
		all = append(all, rest)
	}
	return all
}

// ordinal matches a text that ends in a number as a day has it: "am 10. Januar" is one sentence.
var ordinal = lazily(func() string { return `(^|[^\pL\pN.,])\d{1,2}$` })

// shortened matches a text that ends in a shortened word and begins a number: "geb. 12.3.1985".
var shortened = lazily(func() string { return `(^|[^\pL])\pL{1,4}\. \d$` })

// clausesOf divides a sentence behind its commas, colons and dashes; there is at least one clause.
func clausesOf(said string) (clauses []string) {
	from := 0
	for _, at := range clauseEnds().FindAllStringIndex(said, -1) {
		clauses, from = append(clauses, said[from:at[1]]), at[1]
	}
	return append(clauses, said[from:])
}

var clauseEnds = lazily(func() string { return `[,;:]\s+|\s+[-–—]+\s+|(?:…|\.\.\.)\s*` })

// itemsOf divides a sentence where it may come to something else: "on Pierre: …, and on Thomas: …".
func itemsOf(said string) []string { return joints().Split(said, -1) }

var joints = lazily(func() string {
	return `(?i)(?:[,;]\s+|\s+[-–—]+\s+|\s)(?:(?:` + strings.Join(values.Phrases("joining"), "|") + `)\s+)|[,;]\s+|\s+[-–—]+\s+`
})

const quotations = `"[^"\n]+"|“[^”“\n]+[”“]|„[^“”\n]+[“”]|«[^»\n]+»|»[^«\n]+«|‘[^’‘\n]+’`

const singleQuoted = `'\pL[^'\n]*(?:'\pL[^'\n]*)*'`

var (
	inQuotes = lazily(func() string { return quotations + `|(^|[\s(:])` + singleQuoted })
	// quoting matches a sentence with one text in quotation marks, and what stands before it and behind.
	quoting = lazily(func() string {
		return `([^.!?;\n"“„«»‘']*(?:'\pL+[^.!?;\n"“„«»‘']*)*\s)(` + quotations + `|` + singleQuoted + `)([^.!?;\n"“„«»‘]*)`
	})
)
