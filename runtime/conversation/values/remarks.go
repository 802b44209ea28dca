package values

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// A Remark says whether a message is a remark about a question instead of an answer to it.
type Remark uint8

const (
	NoRemark     Remark = iota
	MaybeARemark        // it may be one, and may be the answer
	ARemark             // it is plainly one
)

// longestRemark is the greatest number of words of a remark; a longer text is a story, which is an
// answer.
const longestRemark = 18

// ReadRemark decides whether the answer to an open question is an answer, or a remark: that the
// person does not know, that it is not the moment, a question of their own. It is ARemark only if
// it can hardly be anything else; an answer that begins like a remark, and names no number, is
// MaybeARemark, and the person has to be asked.
func ReadRemark(text string) Remark {
	text = strings.Join(strings.Fields(strings.NewReplacer("’", "'", "‘", "'").Replace(text)), " ")
	if text == "" || strings.Count(text, " ") >= longestRemark {
		return NoRemark
	}
	switch {
	case strings.HasSuffix(text, "?"):
		return ARemark
	case plainRemark().MatchString(text):
		if companyName().MatchString(text) { // "Warum Nicht Bar KG" is a company's name
			return MaybeARemark
		}
		return ARemark
	case !strings.ContainsAny(text, "0123456789") && likeRemark().MatchString(text): // "maybe 1998" says when
		return MaybeARemark
	}
	return NoRemark
}

// AsksBack reports whether a message asks about the question that it follows: "why?", "what do you mean?".
// "When is my picture ready?" is a question of its own.
func AsksBack(text string) bool {
	const few = 2
	text = strings.NewReplacer("’", "'", "‘", "'").Replace(text)
	return len(strings.Fields(text)) <= few || plainRemark().MatchString(text)
}

// companyName ends as companies are called, and begins as a remark may.
var companyName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\pL .*\b(?:GmbH|AG|KG|OHG|UG|SE|SA|SAS|SARL|SCI|SL|SLU|SRL|Ltd|Inc|LLC|LLP|plc|PLC|BV|NV|Corp|Holdings?)\.?$`)
})

// bounded compiles an expression in which \b is the end of a word of the Languages.
// The class of all letters would do as well, and make each of some hundred places large.
func bounded(expression string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(expression, `\b`, `(?:$|[^a-zß-ÿœ0-9])`))
}

// plainRemark matches messages that are remarks, in the Languages.
var plainRemark = sync.OnceValue(func() *regexp.Regexp {
	return bounded(`(?i)^\W*(?:` + ours().either("remark") + `)\W*$`)
})

// likeRemark matches messages that may be remarks: by their beginning, in capitals or not, or by a
// part of them.
var likeRemark = sync.OnceValue(func() *regexp.Regexp {
	return bounded(`(?i)^\W*(?:` + ours().either("perhaps") + `)|^\W*(?:` + ours().either("cased") + `)|(?:^|[^a-zß-ÿœ0-9])(?:` + ours().either("inside") + `)`)
})

// Abstains reports whether a text gives no answer, of whatever length: every sentence of it says that
// something is not known or went wrong, greets, or asks back. A text without words abstains too.
func Abstains(text string) bool {
	text = strings.NewReplacer("’", "'", "‘", "'").Replace(text)
	for _, s := range oneSentence().FindAllString(text, -1) {
		s = strings.Join(strings.Fields(s), " ")
		if said := strings.TrimFunc(s, notWord); said != "" && !strings.HasSuffix(s, "?") && !abstaining().MatchString(said) {
			return false
		}
	}
	return true
}

// SaysNothing reports whether an answer abstains, or is a bare yes or no where nothing that it was made
// of asks whether something is so.
func SaysNothing(answer string, given []string) bool {
	return Abstains(answer) || bareAnswer().MatchString(answer) && !slices.ContainsFunc(given, func(g string) bool {
		first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(g)), " ")
		return strings.HasSuffix(strings.TrimSpace(g), "?") && !slices.Contains(Phrases("interrogative"), first) || asksWhether().MatchString(g)
	})
}

var (
	bareAnswer = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\W*(?:yes|no|yep|nope|ok|okay|sure|certainly|of course|ja|nein|oui|non|sí|si)\W*$`)
	})
	asksWhether = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)\b(?:yes|ja|oui|sí|whether)\b`) })
)

// Unended reports whether a text stops at a word behind which more has to come, without a mark.
func Unended(text string) bool {
	words := strings.Fields(text)
	return len(words) > 1 && slices.Contains(Phrases("hanging"), strings.ToLower(words[len(words)-1]))
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

var oneSentence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:[^.!?;\n]|[.](?:\S))+[.!?]*`) })

// abstaining matches sentences that give no answer, in the Languages.
var abstaining = sync.OnceValue(func() *regexp.Regexp {
	return bounded(`(?i)^(?:` + ours().either("abstaining") + `)$`)
})
