package words

import (
	"regexp"
	"strings"
	"sync"
)

// A Remark says whether a message is a remark about a question instead of an answer to it.
type Remark uint8

const (
	NoRemark     Remark = iota
	MaybeARemark        // it may be one, and may be the answer
	ARemark             // it is plainly one
)

// longestRemark is how many words a remark has at most; who tells more than that
// tells a story, which is an answer.
const longestRemark = 18

// ReadRemark tells whether what somebody says where they are asked for something
// in their own words is that, or a remark: that they do not know, that it is not
// the moment, a question of their own. It is plainly one only where little else can
// be meant; an answer that begins like one, and names no number, is MaybeARemark,
// and has to be asked about.
func ReadRemark(text string) Remark {
	text = strings.Join(strings.Fields(strings.NewReplacer("’", "'", "‘", "'").Replace(text)), " ")
	if text == "" || strings.Count(text, " ") >= longestRemark {
		return NoRemark
	}
	switch {
	case strings.HasSuffix(text, "?"):
		return ARemark
	case plainRemark().MatchString(text):
		if companyName().MatchString(text) { // "Warum Nicht Bar KG" is what somebody is called
			return MaybeARemark
		}
		return ARemark
	case !strings.ContainsAny(text, "0123456789") && likeRemark().MatchString(text): // "maybe 1998" says when
		return MaybeARemark
	}
	return NoRemark
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

// plainRemark are messages that are remarks, in the Languages.
var plainRemark = sync.OnceValue(func() *regexp.Regexp {
	return bounded(`(?i)^\W*(?:` + ours().either("remark") + `)\W*$`)
})

// likeRemark are messages that may be remarks: by how they begin, in capitals or not,
// or by what stands in them.
var likeRemark = sync.OnceValue(func() *regexp.Regexp {
	return bounded(`(?i)^\W*(?:` + ours().either("perhaps") + `)|^\W*(?:` + ours().either("cased") + `)|(?:^|[^a-zß-ÿœ0-9])(?:` + ours().either("inside") + `)`)
})
