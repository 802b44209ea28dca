package values

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// An Answer is the kind of a person's answer to a yes-or-no question.
type Answer uint8

// The answers.
const (
	// Other is anything that is not clearly one of the answers below: another
	// subject, a question, a quotation, somebody else's words.
	Other Answer = iota
	// Agree is a yes and nothing else.
	Agree
	// Decline is a no, or a never mind, and nothing else.
	Decline
	// Change delays or changes what was asked: "no wait, make it Friday", "yes, but
	// not today".
	Change
	// Pleased is approval without a yes: "perfect". It says that the person likes
	// what they were told. If something depends on a yes, they are asked for one.
	Pleased
)

var answerNames = [...]string{"other", "agree", "decline", "change", "pleased"}

func (a Answer) String() string { return answerNames[a] }

// A Reply is an answer, and the number of the question that it answers: counted from 1, -1 is the
// last, and 0 means unspecified. "The second one" is Other with Which 2.
type Reply struct {
	Answer Answer
	Which  int
}

// A yes counts only if every word of the message is in a closed list: "yes, do it now"
// is a yes, and "yes, but make it Friday" is not, because a word outside the lists may
// change what the yes means. A person who agrees in other words is asked again, which
// costs them one more message; a wrong yes would cost far more. People mix languages
// in an answer ("ok, danke"), so each list holds the words of all languages.
var (
	agreeing = phrasesOf("agreeing")
	refusing = phrasesOf("refusing")
	// approving words express liking, and are no consent to an action.
	approving = phrasesOf("approving")
	// besides are words that change no answer: greetings, thanks, politeness.
	besides = phrasesOf("besides")
	// turning words mean that the proposal must not be carried out unchanged.
	turning = phrasesOf("turning")
	// idle phrases sound like a yes and are none: they postpone, or mock.
	idle = phrasesOf("idle")
	// amiss phrases say that the shown text is wrong.
	amiss = phrasesOf("amiss")
	// instruction phrases are orders, and no consent by themselves: the person may want something
	// else done instead.
	instruction = phrasesOf("instruction")
	// asking phrases belong to a question, not to an answer.
	asking = phrasesOf("asking")
	// around are the words around an ordinal: "yes to the second one".
	around = phrasesOf("around")
	// ofSeveral maps words to places: "second" to 2, "last" to -1.
	ofSeveral = placesOf("which")
)

const (
	// An answer has at most longestAnswer words. A message of more than longestReply
	// bytes is not read as one.
	longestAnswer = 14
	longestBack   = 40 // words, if the answer repeats the question
	longestReply  = 64 << 10
)

// answerSigns are answers without words.
var answerSigns = map[string]Answer{"👍": Agree, "✅": Agree, "✓": Agree, "✔": Agree, "👌": Pleased, "🆗": Agree, "👎": Decline, "❌": Decline}

// skins are the colours that a hand may have.
var skins = strings.NewReplacer("🏻", "", "🏼", "", "🏽", "", "🏾", "", "🏿", "")

// ReadAnswer reads the answer to a question that wants a yes or a no, in any of
// the Languages. It is strict: a yes with a question mark, in quotation marks, with
// a condition or beside a no is none. It is as strict with a no, because a question
// that was declined is not asked again.
func ReadAnswer(text string) Reply { return ReadAnswerTo(text, nil) }

// ReadAnswerTo is ReadAnswer for a known question. A yes may then also contain words of the
// question, of its verb and of its values.
func ReadAnswerTo(text string, m *Matter) Reply {
	if len(text) > longestReply {
		return Reply{}
	}
	if sign, ok := answerSigns[skins.Replace(strings.TrimSpace(text))]; ok {
		return Reply{Answer: sign}
	}
	s := scan{text: text}
	s.divide()
	words := make([]string, 0, len(s.tokens))
	question, plain := false, true
	var all []string
	var first []int
	if m != nil {
		all, first, _ = s.figured()
	}
	for i := range s.tokens {
		t := &s.tokens[i]
		plain = plain && !t.hidden
		switch t.mark {
		case 0:
			word := short(string(s.plain[t.from:t.to]))
			if word == "si" && ifClause(&s, i) {
				word = "if"
			}
			if m == nil || t.kind != numberToken {
				words = append(words, word)
			} else if k := slices.Index(first, i); k >= 0 {
				words = append(words, all[k]) // the number's other tokens are no words of their own
			}
		case '?', '¿':
			question = true
		case '.', ',', ';', ':', '!', '¡', '\'', '’', '‘', '-', '–', '—':
		case '👍', '👌', '✅', '🙏', '😊', '🙂', '🏻', '🏼', '🏽', '🏾', '🏿': // beside words they say nothing else
		default:
			// Quoted, struck out, in brackets, or a sign that the question does not have.
			plain = plain && m != nil && strings.ContainsRune(m.signs, t.mark)
		}
	}
	// A person who trails off hesitates.
	if end := strings.TrimSpace(text); strings.HasSuffix(end, "..") || strings.HasSuffix(end, "…") {
		plain = false
	}
	return replyOf(words, question, plain, m)
}

// Begins says how a text begins, whatever follows: like a yes ("sí, apúntelo"), like a no or a but, or
// otherwise. It answers nothing: a beginning like a yes may be an answer to a question that stands.
func Begins(text string) Answer {
	s := scan{text: text}
	s.divide()
	var words []string
	for i := range s.tokens {
		switch t := &s.tokens[i]; t.mark {
		case '?', '¿':
			return Other
		case 0:
			words = append(words, short(string(s.plain[t.from:t.to])))
		}
	}
	i := 0
	for i < len(words) && agreeing.at(words, i) == 0 && besides.at(words, i) > 0 {
		i += besides.at(words, i)
	}
	switch {
	case i == len(words), words[i] == "si" && ifClause(&s, 0):
		return Other
	case refusing.at(words, i)+turning.at(words, i) > 0:
		return Change
	case agreeing.at(words, i)+approving.at(words, i) > 0:
		return Agree
	}
	return Other
}

// Turns reports whether a text has a word that may take back or limit an earlier statement: a no, a
// but, an if, an amount. A telephone number is no amount.
func Turns(text string) bool {
	for line := range strings.Lines(text) {
		if n := len(digits.FindAllString(line, -1)); n > 0 && n < 7 {
			return true
		}
	}
	s := scan{text: text}
	s.divide()
	var words []string
	for i := range s.tokens {
		if t := &s.tokens[i]; t.mark == 0 {
			words = append(words, string(s.plain[t.from:t.to]))
		}
	}
	for i := range words {
		if turning.at(words, i) > 0 || refusing.at(words, i) > 0 || words[i] == "ps" || words[i] == "si" {
			return true
		}
	}
	return false
}

var digits = regexp.MustCompile(`[0-9]`)

// afterYes are the words before which a Spanish "si", written without its accent, is a
// yes. Before any other word it is an if.
var afterYes = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, line := range ours().phrases("afteryes") {
		for w := range strings.FieldsSeq(line) {
			all[w] = true
		}
	}
	return all
})

// ifClause reports whether a "si" begins a condition.
func ifClause(s *scan, i int) bool {
	if t := &s.tokens[i]; strings.EqualFold(s.text[t.start:t.end], "sí") || i+1 == len(s.tokens) || s.tokens[i+1].kind == markToken || i > 0 && string(s.plain[s.tokens[i-1].from:s.tokens[i-1].to]) == "que" {
		return false
	}
	next := &s.tokens[i+1]
	return !afterYes()[string(s.plain[next.from:next.to])]
}

// drawnOut are words that people draw out: "nooo", "jaaa", "siii".
var drawnOut = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^(" + ours().either("drawn") + ")$")
})

// short returns a word with each of its letters once, if it is a drawn-out word.
func short(word string) string {
	if !drawnOut().MatchString(word) {
		return word
	}
	return string(slices.Compact([]byte(word)))
}

// replyOf reads an answer out of its words.
func replyOf(words []string, question, plain bool, m *Matter) Reply {
	against := false
	for i := range words {
		if turning.at(words, i) > 0 || refusing.at(words, i) > 1 {
			against = true
		}
	}
	otherwise := Reply{}
	if against {
		otherwise.Answer = Change
	}
	longest := longestAnswer
	if m != nil {
		longest = longestBack
	}
	if len(words) == 0 || len(words) > longest || question {
		// A long text is none, and a question asks.
		if question && against && turning.at(words, 0) == 0 {
			return Reply{}
		}
		return otherwise
	}
	if !plain {
		return otherwise
	}
	said := map[Answer]bool{}
	which, does := 0, false
	back, liked := retelling{of: m}, 0 // liked is how many words only like what is asked
	for i := 0; i < len(words); {
		yes, no, like := agreeing.at(words, i), refusing.at(words, i), approving.at(words, i)
		polite := besides.at(words, i)
		if m != nil {
			if n := granting.at(words, i); n > yes && !back.named(words, i+n) {
				yes = n
			}
			polite = max(polite, restating.at(words, i))
		} else {
			polite = max(polite, around.at(words, i))
		}
		most := max(yes, no, like)
		run := back.at(words, i)
		place := 0
		if m == nil {
			place = ofSeveral()[words[i]] // a number in what says the question back may be another row's
		}
		n := 0
		switch {
		case asking.at(words, i) > max(yes, no):
		case amiss.at(words, i) > 0 && amiss.at(words, i) >= most:
			return Reply{Answer: Change}
		case idle.at(words, i) > most:
			return otherwise
		case len(run) > max(most, polite, 1), len(run) == 1 && most == 0 && polite == 0:
			n = len(run)
			back.take(run)
		case instruction.at(words, i) > most:
			n = instruction.at(words, i)
			does = true
		case polite > max(most, 1):
			n = polite
		case no > 0 && no >= yes && no >= like:
			n = no
			said[Decline] = true
		case yes > 0 && yes >= like:
			n = yes
			said[Agree] = true
		case like > 0:
			n = like
			liked += n
			said[Pleased] = true
		case place != 0:
			switch {
			case which == 0:
				which, n = place, 1
			case which == place || words[i] == "one" || words[i] == "un" || words[i] == "uno":
				n = 1
			}
		case polite > 0:
			n = polite
		case m != nil && (back.links(words, i) || slips(words[i])):
			n = 1
		}
		if n == 0 {
			return otherwise // a word that is not known, or two of several
		}
		i += n
	}
	if back.half() {
		return otherwise
	}
	r := Reply{Which: which}
	switch {
	case said[Decline] && (said[Agree] || said[Pleased] || does):
		return Reply{Answer: Change}
	case said[Agree], said[Pleased] && back.does && len(words)-liked > 1:
		r.Answer = Agree
	case said[Decline]:
		r.Answer = Decline
	case said[Pleased]:
		r.Answer = Pleased
	}
	return r
}
