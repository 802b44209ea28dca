package redact

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed words.txt
var wordsText string

// A label is the meaning that a word gives to the number beside it.
type label uint8

const (
	unlabelled label = iota
	phoneLabel
	ssnLabel
	taxLabel
	dobLabel
	otherLabel // of something that is not confidential
	moneyLabel // after a number
	shortLabel // says nothing, and the full stop after it ends no sentence
)

type wordList struct {
	labels, begins map[string]label
	months         map[string]int
}

var loadWords = sync.OnceValue(func() wordList {
	list := wordList{map[string]label{}, map[string]label{}, map[string]int{}}
	labels := map[string]label{"phone": phoneLabel, "ssn": ssnLabel, "tax": taxLabel, "dob": dobLabel, "other": otherLabel, "money": moneyLabel, "short": shortLabel}
	for line := range strings.Lines(wordsText) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch kind {
		case "months":
			for i, name := range strings.Fields(rest) {
				list.months[squeeze(name)] = i%12 + 1
			}
		default:
			for word := range strings.SplitSeq(rest, ",") {
				word = strings.TrimSpace(word)
				if begin, ok := strings.CutSuffix(word, "*"); ok {
					list.begins[begin] = labels[kind]
				} else if labels[kind] != unlabelled {
					list.labels[word] = labels[kind]
				}
			}
		}
	}
	return list
})

// of returns the label of a word in lower case.
func (list wordList) of(word []byte) label {
	if l := list.labels[string(word)]; l != unlabelled {
		return l
	}
	for n := min(len(word), 12); n >= 3; n-- {
		if l := list.begins[string(word[:n])]; l != unlabelled {
			return l
		}
	}
	return unlabelled
}

const (
	around = 6 // number of words before a number that may label it
	beside = 3 // number of those that may mark it as not confidential; words farther away may refer to its owner
)

// before returns the label of the nearest word before a number that has one. A label does not reach
// over the end of a sentence, but may end with a full stop itself.
func before(text string) label {
	list := loadWords()
	for n := 0; n < around; {
		end, stops := len(text), false
		for end > 0 {
			r, n := utf8.DecodeLastRuneInString(text[:end])
			if isWord(r) {
				break
			}
			stops = stops || r == '\n' || r == '!' || r == '?' || r == ';' || r == '.' && end < len(text)
			if r == '#' && n == 0 {
				return otherLabel
			}
			end -= n
		}
		begin := end
		var word []byte
		for begin > 0 {
			r, n := utf8.DecodeLastRuneInString(text[:begin])
			if !isWord(r) {
				break
			}
			begin -= n
		}
		for _, r := range text[begin:end] {
			if len(word) < 32 {
				word = utf8.AppendRune(word, unicode.ToLower(r))
			}
		}
		l := list.of(word)
		if l != shortLabel {
			n++
		}
		if l != unlabelled && l != moneyLabel && l != shortLabel && (l != otherLabel || n <= beside) {
			return l
		}
		if stops && l != shortLabel || begin == 0 {
			break
		}
		text = text[:begin]
	}
	return unlabelled
}

// after says whether a word after a number has a label, before another number comes
// or the sentence ends.
func after(text string, wanted label, words int) bool {
	list := loadWords()
	for range words {
		begin := 0
		for begin < len(text) {
			r, n := utf8.DecodeRuneInString(text[begin:])
			if isWord(r) {
				break
			}
			if r == '\n' || r == '!' || r == '?' || r == ';' || r == '[' || r == '@' || r == '.' && begin > 0 || unicode.IsDigit(r) {
				return false
			}
			begin += n
		}
		end := begin
		var word []byte
		for end < len(text) {
			r, n := utf8.DecodeRuneInString(text[end:])
			if unicode.IsDigit(r) || r == '@' {
				return false
			}
			if !isWord(r) {
				break
			}
			if len(word) < 32 {
				word = utf8.AppendRune(word, unicode.ToLower(r))
			}
			end += n
		}
		if end == begin {
			return false
		}
		if list.of(word) == wanted {
			return true
		}
		text = text[end:]
	}
	return false
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }
