package dialog

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"verbatim/runtime/conversation/values"
	"verbatim/stores"
)

// Facts are what a model's own sentence may state: the values of the rows that it cites, and the
// palettes' names for things. A sentence that states any other date, number, name or status is
// dropped. (F5)
type facts struct {
	sources
	words  []string // folded text of what else may be named: palettes, names, labels
	counts []int    // how many entries lists have
}

// sentence returns a model's own sentence about some rows, if the palette allows such sentences and
// every fact in it is a value of those rows; otherwise "".
func (t *turn) sentence(text string, rows []string) string {
	seen, hidden := visible(text)
	text = oneLine(seen)
	f := &facts{sources: sources{read: readWords, now: t.now}, words: t.c.words}
	w := t.c.wording
	if l := values.Detect(text); len(l) == 1 {
		w = w.in(l[0].String())
	}
	for _, name := range rows {
		for _, a := range t.results {
			found, _ := a.in(name)
			for _, one := range found {
				c := one.only()
				f.result(c.Result)
				// What the engine would say about the row may be said too.
				f.words = append(f.words[:len(f.words):len(f.words)], fold(w.tellsCall(c)), fold(w.row(c, strings.TrimPrefix(name, "@"))))
				for _, row := range c.Result.Rows {
					for _, v := range row {
						if n, ok := entries(v); ok {
							f.counts = append(f.counts, n)
						}
					}
				}
			}
		}
	}
	claims := f.unfounded(text)
	if hidden || len(f.all) == 0 {
		claims = append(claims, claim{claimName, text})
	}
	t.record.Replaced = append(t.record.Replaced, claims...)
	if len(claims) > 0 {
		return ""
	}
	return text
}

// A claim is a part of a reply without a fact behind it.
type claim struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// The kinds of claim.
const (
	claimDate   = "date"
	claimNumber = "number"
	claimName   = "name"
	claimStatus = "status"
	claimLink   = "link"
)

var (
	atNames  = lazily(as(`@[A-Za-z][A-Za-z0-9_-]*(?:~[0-9a-z]+)?`))
	codeWord = lazily(as(`\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\b[A-Z]{4,}\b`))
	links    = lazily(as(`(?i)\b(?:https?://|www\.)\S+|\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|net|org|io|info|biz|eu|de|fr|es|uk|lu|ch|at|xyz|top|link|site|online|ru|cn|app|dev|ai|co|gov|edu|tv|cc|ws|shop|store|cloud|page|live|club|click|test|example|invalid|localhost|onion)\b(?:/\S*)?`))
	mails    = lazily(as(`(?i)[\pL\d._%+-]+@[\pL\d-]+(?:\.[\pL\d-]+)+`))
	// marked matches markup that a display might turn into a link or an image: markdown, HTML,
	// addresses without a protocol.
	marked   = lazily(as(`(?i)!?\[[^\]\n]*\]\s?\(\s*[^)\s]+[^)]*\)|\[[^\]\n]+\]:\s*\S+|</?[a-z][^>\n]*>|\b(?:javascript|data|file|ftp|sftp|ws|wss|tel|sms|mailto|vbscript|blob|intent|hxxps?):\S+|//[\pL\d-]+(?:\.[\pL\d-]+)+\S*|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:/\S*)?|\b[\pL\d-]+(?:\[\.\]|\(dot\)| dot )[\pL]{2,}`))
	codeOnly = lazily(as(`^[A-Z][A-Z0-9_]+$`))
	bullet   = lazily(as(`(?m)^\s*(\d{1,2})[.)]\s`))
	digits   = lazily(as(`\d[\d.,'’  ]*\d|\d`))
	large    = lazily(func() string {
		return `(?i)\b(?:` + values.Expression("large") + `)\b|\pL*(?:` + values.Expression("compound") + `)\pL*`
	})
)

// unfounded lists the claims of a reply.
func (f *facts) unfounded(reply string) []claim {
	for _, s := range f.all {
		s.prepare(f.read)
	}
	var all []claim
	add := func(kind, text string) {
		c := claim{kind, strings.TrimSpace(text)}
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	// A link or mail address must occur in a fact or in the person's own words.
	for _, form := range []*regexp.Regexp{links(), mails(), marked()} {
		for _, link := range form.FindAllString(reply, -1) {
			link = strings.TrimRight(link, ".,;:!?)")
			if !f.trusted(fold(link)) {
				add(claimLink, link)
			}
		}
	}
	for _, name := range atNames().FindAllString(reply, -1) {
		if !f.anywhere(strings.ToLower(name)) {
			add(claimName, name)
		}
	}
	covered := bullet().FindAllStringSubmatchIndex(reply, -1)
	spans := make([][2]int, 0, len(covered)+8)
	for _, m := range covered {
		spans = append(spans, [2]int{m[2], m[3]})
	}
	said := &source{text: reply, when: f.now}
	said.prepare(f.read)
	for i := range said.readings {
		r := &said.readings[i]
		text := reply[r.start:r.end]
		spans = append(spans, [2]int{r.start, r.end})
		if slices.ContainsFunc(covered, func(m []int) bool { return m[2] <= r.start && r.end <= m[3]+1 }) {
			continue
		}
		switch {
		case r.date:
			if !f.day(r) && !f.anywhere(fold(text)) {
				add(claimDate, text)
			}
		case r.text != "":
			squeezed, _, _ := squeeze(r.text)
			if !slices.ContainsFunc(f.all, func(s *source) bool { return s.hasSqueezed(squeezed) }) {
				add(claimNumber, text)
			}
		case !f.number(r.value) && !slices.ContainsFunc(r.others, f.number) && !f.figure(fold(text)):
			add(claimNumber, text)
		}
	}
	// Digits that were not parsed as a value must occur literally in a fact.
	for _, at := range digits().FindAllStringIndex(reply, -1) {
		if slices.ContainsFunc(spans, func(s [2]int) bool { return at[0] < s[1] && s[0] < at[1] }) {
			continue
		}
		text := strings.TrimSpace(reply[at[0]:at[1]])
		squeezed, _, _ := squeeze(text)
		if !f.figure(fold(text)) && !slices.ContainsFunc(f.all, func(s *source) bool { return s.hasSqueezed(squeezed) }) {
			add(claimNumber, text)
		}
	}
	for _, at := range large().FindAllStringIndex(reply, -1) {
		if !slices.ContainsFunc(spans, func(s [2]int) bool { return at[0] < s[1] && s[0] < at[1] }) && !f.anywhere(fold(reply[at[0]:at[1]])) {
			add(claimNumber, reply[at[0]:at[1]])
		}
	}
	for _, at := range codeWord().FindAllStringIndex(reply, -1) {
		code := reply[at[0]:at[1]]
		if at[0] > 0 && reply[at[0]-1] == '@' {
			continue
		}
		if !f.anywhere(fold(code)) && !f.anywhere(fold(strings.ReplaceAll(code, "_", " "))) {
			add(claimStatus, code)
		}
	}
	for _, name := range f.unknownNames(reply) {
		add(claimName, name)
	}
	return all
}

// day reports whether every date that a text could mean is among the facts.
func (f *facts) day(r *reading) bool {
	is := func(v stores.Value) bool {
		if v.IsNull() {
			return false
		}
		return slices.ContainsFunc(f.all, func(s *source) bool { certain, _ := s.hasDate(v); return certain })
	}
	switch {
	case r.value.IsNull() && len(r.others) == 1:
		return false // another weekday than that day has
	case len(r.others) > 0:
		return !slices.ContainsFunc(r.others, func(v stores.Value) bool { return !is(v) })
	}
	return is(r.value)
}

func (f *facts) number(v stores.Value) bool {
	if !isNumber(v) {
		return false
	}
	return slices.ContainsFunc(f.all, func(s *source) bool { certain, _ := s.hasNumber(v); return certain }) ||
		slices.ContainsFunc(f.counts, func(n int) bool { return stores.Equal(stores.NewInt(int64(n)), v) })
}

// figure reports whether a number occurs in the facts, other than as a part of a date or time.
func (f *facts) figure(folded string) bool {
	is := func(text string) bool {
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\n' }) {
			if part = strings.Trim(part, `.,;:!?"'()[]{}`); part == folded || strings.Contains(folded, " ") && containsWord(text, folded) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(f.words, is) || slices.ContainsFunc(f.all, func(s *source) bool { return is(s.folded) })
}

// anywhere reports whether words occur in the facts.
func (f *facts) anywhere(folded string) bool {
	if slices.ContainsFunc(f.words, func(w string) bool { return containsWord(w, folded) }) {
		return true
	}
	return slices.ContainsFunc(f.all, func(s *source) bool { return s.hasWords(folded) })
}

// trusted is anywhere without texts of untrusted origin.
func (f *facts) trusted(folded string) bool {
	return slices.ContainsFunc(f.words, func(w string) bool { return containsWord(w, folded) }) ||
		slices.ContainsFunc(f.all, func(s *source) bool { return s.origin.Trusted() && s.hasWords(folded) })
}

// noNames are capitalised words that are no names. titles stand before a name; the full stop after
// one ends no sentence.
var noNames, titles = among("noname"), among("title")

// among reports whether some language lists a word under a key.
func among(key string) func(word string) bool {
	return func(word string) bool { return slices.Contains(values.Phrases(key), values.Plain(word)) }
}

// unknownNames returns the names in a reply that occur in no fact. A name is a capitalised word inside
// a sentence, or at its beginning if a second one follows. In a language that capitalises nouns,
// two in a row are needed.
func (f *facts) unknownNames(reply string) []string {
	in := values.Detect(reply)
	nouns := len(in) == 1 && in[0].Has(values.NounCapitals)
	var found []string
	for _, line := range strings.Split(reply, "\n") {
		begins := true
		var run []string
		var first bool  // the run stands at the beginning of a sentence
		var titled bool // a title stands before it: what follows is a name
		flush := func() {
			defer func() { run, titled = nil, false }()
			if len(run) == 0 || !titled && (nouns && len(run) < 2 || first && len(run) < 2) {
				return
			}
			at := 0
			if first && !f.known(run[0]) {
				at = 1 // any word is written with a capital there
			}
			if nouns && !titled && len(run)-at < 2 {
				return
			}
			for _, w := range run[at:] {
				if !f.known(w) {
					found = append(found, strings.Join(run, " "))
					return
				}
			}
		}
		for _, w := range strings.Fields(line) {
			word := strings.Trim(w, `.,;:!?"'“”„«»()[]*_…`)
			ends := strings.ContainsAny(w[len(w)-1:], ".!?:,;") || strings.HasSuffix(w, ")")
			initial := []rune(word)
			switch {
			case titles(word):
				flush()
				begins, titled = false, true
				continue
			case word == "" || strings.HasPrefix(word, "@"):
				flush()
			case len(initial) > 0 && unicode.IsUpper(initial[0]) && !noNames(word):
				if len(run) == 0 {
					first = begins
				}
				run = append(run, word)
			default:
				flush()
			}
			begins = strings.ContainsAny(w[len(w)-1:], ".!?:") || (begins && word == "")
			if ends {
				flush()
			}
		}
		flush()
	}
	return found
}

// known reports whether a word occurs in the facts, possibly with an ending.
func (f *facts) known(word string) bool {
	w := fold(word)
	for _, form := range []string{w, strings.TrimSuffix(w, "'s"), strings.TrimSuffix(w, "s"), w + "s"} {
		if f.anywhere(form) {
			return true
		}
	}
	if parts := strings.FieldsFunc(w, func(r rune) bool { return r == '-' || r == '/' }); len(parts) > 1 {
		return !slices.ContainsFunc(parts, func(p string) bool { return !f.anywhere(p) })
	}
	return false
}

// lazily compiles an expression on first use. Expressions over all languages take longer to compile
// than a whole `check` takes, and only conversations need them.
func lazily(expression func() string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression()) })
}

func as(expression string) func() string { return func() string { return expression } }
