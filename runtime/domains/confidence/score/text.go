package score

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Text is an answer in words, with the facts about its origin.
type Text struct {
	Answer   string
	Question string   // compared with Answer: repeating the question is no answer
	Given    []string // the material for the answer; none if it was free
	Refused  bool     // the model says that it refused
	CutOff   bool     // the model says that it ran out of room
	// CapitalNouns says that the language, such as German, writes every noun with a
	// capital. Capitals then do not tell a name from another noun.
	CapitalNouns bool
}

const (
	wellFormed  = 0.8 // a text without faults: its form says little about its truth
	cutOffWorth = 0.5 // a text that stops before its end
	repetitive  = 0.8 // below this share of new word sequences a text is repetitive
)

// Coherence looks at the form of a text: whether it answers at all, whether it is cut off,
// and which share of its sequences of three words is new. It does not understand the text;
// Refused must come from the model, since no list of polite refusals is complete.
func Coherence(t Text) Factor {
	said := words(t.Answer)
	if t.Refused || said == "" || said == words(t.Question) {
		return Factor{Reason{MeasureCoherence, NoAnswer, 0, 1}, 0}
	}
	fresh, of := freshSequences(strings.Fields(said))
	f := share(MeasureCoherence, fresh, of)
	switch {
	case t.CutOff || stopsShort(t.Answer):
		f.Level = CutOff
		f.Value *= cutOffWorth
	case f.Value < repetitive:
		f.Level = Repeats
	default:
		f.Level = Full
	}
	f.Value *= wellFormed
	return f
}

// sequence is the number of words in a sequence. A text of fewer than twice as many cannot repeat
// itself.
const sequence = 3

// freshSequences counts the word sequences of a text, and those that occur for the first time.
func freshSequences(w []string) (fresh, of int) {
	if len(w) < 2*sequence {
		return 1, 1
	}
	seen := make(map[[sequence]string]bool, len(w))
	for i := range len(w) - sequence + 1 {
		seen[[sequence]string(w[i:i+sequence])] = true
	}
	return len(seen), len(w) - sequence + 1
}

// stopsShort reports whether a text visibly lacks its end: it stops after a sign that announces
// more, within brackets or a block of code, or in a long line in which only the earlier sentences
// end.
func stopsShort(text string) bool {
	text = strings.TrimRightFunc(text, unicode.IsSpace)
	if strings.HasSuffix(text, ",") || strings.HasSuffix(text, ":") || strings.HasSuffix(text, "-") ||
		strings.HasSuffix(text, "–") || strings.HasSuffix(text, "—") ||
		strings.Count(text, "```")%2 == 1 || strings.Count(text, "(") > strings.Count(text, ")") {
		return true
	}
	line := text[strings.LastIndexByte(text, '\n')+1:]
	last, open := strings.Fields(line), false
	for i, w := range last {
		// Words before the period that are as long as this are no abbreviations.
		open = open || i < len(last)-1 && len(w) > 5 && strings.HasSuffix(w, ".") && strings.IndexFunc(last[i+1], unicode.IsUpper) == 0
	}
	final, _ := utf8.DecodeLastRuneInString(text)
	return open && len(last) >= 8 && !notWord(final)
}

// Grounding returns the share of the numbers and names in a text that occur in the given material.
// It is absent if nothing was given or the text has neither. A name is a capitalised word that does
// not begin a sentence. A computed number, such as a sum, counts as not given, unless the caller
// adds it to Given.
func Grounding(t Text) Factor {
	if len(t.Given) == 0 {
		return Factor{}
	}
	given, known := strings.Builder{}, map[string]bool{}
	for _, g := range t.Given {
		given.WriteString(words(g))
		for _, n := range numbers.FindAllString(g, -1) {
			for _, r := range readings(n) {
				known[r] = true
			}
			// "1,2,3" may be a number or a list.
			for part := range strings.SplitSeq(n, ",") {
				known[plain(part)] = true
			}
		}
	}
	found, of := 0, 0
	claims(t, func(word string, number bool) {
		of++
		r := readings(word)
		if number && (known[r[0]] || known[r[1]]) || !number && strings.Contains(given.String(), words(word)) {
			found++
		}
	})
	return share(MeasureGrounding, found, of)
}

// claims calls yield with each number and each name in an answer.
func claims(t Text, yield func(word string, number bool)) {
	for line := range strings.Lines(t.Answer) {
		begins := true // the next word begins a sentence
		fields := strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) && !strings.ContainsRune(grouping, r) })
		for i, field := range fields {
			word := strings.TrimFunc(field, notWord)
			if word == "" || isMarker(field, word) && (strings.HasSuffix(field, ")") || i == 0 && len(fields) > 1) {
				continue // "-", "2." or "b)" opens an item; the sentence is still to begin
			}
			ends := strings.ContainsAny(field[strings.LastIndex(field, word)+len(word):], ".!?")
			word = stem(word)
			digit, capital := strings.IndexFunc(word, unicode.IsDigit), strings.IndexFunc(word, unicode.IsUpper)
			inner := strings.ContainsFunc(word[1:], unicode.IsUpper) // as in GmbH
			switch {
			case digit == 0:
				for _, n := range numbers.FindAllString(word, -1) {
					yield(n, true)
				}
			case digit > 0, inner, capital == 0 && !begins && !t.CapitalNouns && len(word) > 1:
				yield(word, false)
			}
			begins = ends
		}
	}
}

// isMarker reports whether a field numbers an item of a list: "2.", "2)", "(2)" or "b)".
func isMarker(field, word string) bool {
	short := len(word) == 1 || len(word) == 2 && strings.Trim(word, "0123456789") == ""
	return short && strings.TrimLeft(field, "(") != word && (strings.HasSuffix(field, word+")") || field == word+".")
}

// stem returns the longest part of a word with apostrophes: Acme of Acme's, Oréal of L'Oréal. An
// apostrophe between digits groups them and stays.
func stem(word string) string {
	if strings.ContainsFunc(word, unicode.IsDigit) {
		return word
	}
	longest := ""
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == '\'' || r == '’' }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// grouping are the signs that may stand between the digits of a number.
const grouping = ".,'’\u00a0\u202f"

// numbers finds the numbers of a text with the signs that group them.
var numbers = regexp.MustCompile("[0-9]+(?:[" + grouping + "][0-9]+)*")

// readings returns the one or two numbers that digits with signs may mean: 1.234 is a little more
// than one, or a little more than a thousand.
func readings(number string) [2]string {
	number = groups.Replace(number)
	return [2]string{
		plain(strings.ReplaceAll(number, ",", "")),
		plain(strings.ReplaceAll(strings.ReplaceAll(number, ".", ""), ",", ".")),
	}
}

var groups = strings.NewReplacer("'", "", "’", "", "\u00a0", "", "\u202f", "")

// plain spells a number without zeros that mean nothing.
func plain(number string) string {
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	if number = strings.TrimLeft(number, "0"); number == "" || number[0] == '.' {
		number = "0" + number
	}
	return number
}

// words returns the words of a text in lower case, each between two spaces.
func words(text string) string {
	var b strings.Builder
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), notWord) {
		if b.Len() == 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
		b.WriteByte(' ')
	}
	return b.String()
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }
