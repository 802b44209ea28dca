package values

import (
	"bufio"
	"embed"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// All knowledge of a language is text: the files under tongues tell how to read it, how to
// distinguish it from others and how it writes dates; those under catalogue hold the program's
// sentences in it. The heads of the English files explain them.
//
//go:embed tongues catalogue
var files embed.FS

// A house holds the supported languages, by their number.
type house struct{ tongues []*tongue }

// A tongue is one language.
type tongue struct {
	tag              string
	months, weekdays []string
	date, day        string // with {d}, {month}, {y}; with {weekday} and {date}
	first            string // the word for the first of a month, if that is no number
	letters          string // letters of no other language, as far as these go
	opens            string // marks that no other language begins a sentence with
	traits           map[string]bool
	answers          map[string]bool
	small            map[string]bool
	lexicon          *lexicon
	said             map[string][]string // phrases and expressions, by their keys
	sentences        map[Key]string
}

// ours holds the languages that come with the program.
var ours = sync.OnceValue(func() *house { return readHouse(files) })

// readHouse reads the languages of some files: first those with numbers in Go, then the others by
// their tags. A test finds errors in ours.
func readHouse(files fs.FS) *house {
	tags := []string{"en", "de", "fr", "es"}
	found, _ := fs.Glob(files, "tongues/*.txt")
	for _, name := range found {
		tag := strings.TrimSuffix(strings.TrimPrefix(name, "tongues/"), ".txt")
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	h := &house{}
	for _, tag := range tags {
		h.tongues = append(h.tongues, readTongue(files, tag))
	}
	return h
}

func readTongue(files fs.FS, tag string) *tongue {
	t := &tongue{tag: tag, answers: map[string]bool{}, small: map[string]bool{}, traits: map[string]bool{}, said: map[string][]string{}, sentences: map[Key]string{},
		lexicon: &lexicon{entries: make(map[string][2]entry, 600), longest: make(map[string]int, 500)}}
	Lines(files, "tongues/"+tag+".txt", ": ", func(key, text string) {
		switch key {
		case "months":
			t.months = strings.Fields(text)
		case "weekdays":
			t.weekdays = strings.Fields(text)
		case "date":
			t.date = text
		case "day":
			t.day = text
		case "first":
			t.first = text
		case "letters":
			t.letters = text
		case "opens":
			t.opens = text
		case "answers", "small", "traits":
			for w := range strings.FieldsSeq(text) {
				map[string]map[string]bool{"answers": t.answers, "small": t.small, "traits": t.traits}[key][w] = true
			}
		default:
			name, _, _ := strings.Cut(key, " ")
			switch {
			case slices.Contains(expressions, name):
				t.said[key] = append(t.said[key], text)
			case classNames[name] != none:
				t.lexicon.takes(key, text)
			default:
				t.said[key] = append(t.said[key], strings.Split(text, ", ")...)
			}
		}
	})
	Lines(files, "catalogue/"+tag+".txt", "  ", func(key, text string) {
		if quoted, err := strconv.Unquote(text); err == nil {
			text = quoted
		}
		t.sentences[Key(key)] = t.typeset(text)
	})
	return t
}

// What the grammar of a language is like, as far as dates, numbers and names go.
const (
	monthFirst         = "monthfirst"         // "3/4/1972" may be 4 March
	dayFirstAlways     = "dayfirst"           // "3/4/1972" is 3 April
	ordinalPoint       = "ordinalpoint"       // "15." is an ordinal
	cardinalDays       = "cardinaldays"       // "quince de marzo"
	linkedDays         = "linkeddays"         // and with a word between
	markedDays         = "markeddays"         // "the 10th": a number alone is no day
	adjectivesBehind   = "adjectivesbehind"   // "semaine prochaine"
	weekOfEight        = "weekofeight"        // "in acht Tagen" is a week
	fortnightOfFifteen = "fortnightoffifteen" // "quinze jours" are two weeks
	spacedThousands    = "spacedthousands"    // "1 234"
	commaThousands     = "commathousands"     // "1,234"
	fourTwenties       = "fourtwenties"       // "quatre-vingt-dix"
	unitsFirst         = "unitsfirst"         // "einundzwanzig"
	andAfterTens       = "andaftertens"       // "treinta y uno", and not "hundred and one"
	partsWith          = "partswith"          // "tres con un quinto": "y" joins no part
	bareThousand       = "barethousand"       // "mil" is one thousand
	VerbLast           = "verblast"           // the verb of a subordinate clause stands last
	NounCapitals       = "nouncapitals"       // every noun has a capital
	SpacedMarks        = "spacedmarks"        // a space stands before high marks
)

// Has reports whether a language has a trait.
func (l Language) Has(trait string) bool { return ours().tongues[l].traits[trait] }

// Lines calls fn with the two parts of each line of a file, except comments.
func Lines(files fs.FS, name, between string, fn func(key, text string)) {
	f, err := files.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, text, ok := strings.Cut(lines.Text(), between); ok && key[0] != '#' {
			fn(key, text)
		}
	}
}

// phrases returns the phrases under a key, in all languages: people mix them.
func (h *house) phrases(key string) (all []string) {
	for _, t := range h.tongues {
		all = append(all, t.said[key]...)
	}
	return all
}

// expressions are the keys of regular expressions; all other keys are those of phrases.
var expressions = []string{"remark", "perhaps", "cased", "inside", "drawn", "afteryes", "greeting", "courteous", "amending", "reminding", "thanksfor", "postponing", "asksfirst", "tellme", "citing", "countsfrom", "notbefore", "abstaining", "thatsall", "dropping", "undo", "forget", "unaware", "thanks", "complaint", "deciding", "able", "who", "speak", "called", "wrote", "passedon", "sender", "header",
	"subject", "automatic", "attribution", "sentfrom", "salutation", "signoff", "notice", "inline", "away", "details", "asked", "unasked", "polite", "forbids", "supposes", "fresh", "other", "notother", "pronoun",
	"guess", "lessword", "noless", "plusword", "hourbefore", "hourbehind", "week", "weekfrom", "upto", "span", "large", "compound",
	"clockat", "clockhour", "clockpart", "clockhalf", "forenoon", "afternoon", "noon", "either", "followon"}

// Phrases returns the phrases of all languages under a key of their files.
func Phrases(key string) []string { return ours().phrases(key) }

// Phrases returns the phrases of a language under a key of its file.
func (l Language) Phrases(key string) []string { return ours().tongues[l].said[key] }

// Expression returns an expression that matches any of all languages' phrases under a key.
func Expression(key string) string { return ours().either(key) }

// Expression returns an expression that matches any of a language's phrases under a key.
func (l Language) Expression(key string) string {
	return strings.Join(ours().tongues[l].said[key], "|")
}

// either returns an expression that matches any phrase under a key.
func (h *house) either(key string) string { return strings.Join(h.phrases(key), "|") }

// text returns a sentence in a language, or in English if that language does not have it.
func (h *house) text(k Key, l Language) string {
	if text := h.tongues[l].sentences[k]; text != "" {
		return text
	}
	return h.tongues[English].sentences[k]
}
