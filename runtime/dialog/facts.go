package dialog

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"verbatim/runtime/words"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// Facts are all that may be told in a turn. A reply of a model's that says a day,
// an amount, a name or a status which is none of them says something that did not
// happen, and is not told.
type facts struct {
	*sources                   // what was shown, and what the person said
	extra    []*source         // what was done, which no literal is traced into: writing something makes it no record's
	counts   []int             // how many rows were found and changed
	words    []string          // folded text of what else may be named: palettes, names, labels
	wrote    bool              // something was changed in this turn
	deeds    did               // and what
	names    []string          // of all rows that may be spoken of
	spoken   []string          // see rowNames
	rows     map[string]string // by a row's name as it is spoken: what was shown of it
	states   []string          // the words of codes
}

func (f *facts) each() []*source { return append(f.all[:len(f.all):len(f.all)], f.extra...) }

// A claim is a part of a reply that no fact bears out.
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
	claimDeed   = "deed"
	claimLink   = "link"
)

var (
	atNames  = lazily(`@[A-Za-z][A-Za-z0-9_-]*(?:~[0-9a-z]+)?`)
	codeWord = lazily(`\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\b[A-Z]{4,}\b`)
	links    = lazily(`(?i)\b(?:https?://|www\.)\S+|\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|net|org|io|info|biz|eu|de|fr|es|uk|lu|ch|at|xyz|top|link|site|online|ru|cn|app|dev|ai|co|gov|edu|tv|cc|ws|shop|store|cloud|page|live|club|click|test|example|invalid|localhost|onion)\b(?:/\S*)?`)
	mails    = lazily(`(?i)[\pL\d._%+-]+@[\pL\d-]+(?:\.[\pL\d-]+)+`)
	// marked is what a display may make a link or a picture of, or more: the marks
	// of markdown and HTML, an address without its protocol, one in figures.
	marked   = lazily(`(?i)!?\[[^\]\n]*\]\s?\(\s*[^)\s]+[^)]*\)|\[[^\]\n]+\]:\s*\S+|</?[a-z][^>\n]*>|\b(?:javascript|data|file|ftp|sftp|ws|wss|tel|sms|mailto|vbscript|blob|intent|hxxps?):\S+|//[\pL\d-]+(?:\.[\pL\d-]+)+\S*|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?:/\S*)?|\b[\pL\d-]+(?:\[\.\]|\(dot\)| dot )[\pL]{2,}`)
	codeOnly = lazily(`^[A-Z][A-Z0-9_]+$`)
	bullet   = lazily(`(?m)^\s*(\d{1,2})[.)]\s`)
	digits   = lazily(`\d[\d.,'’  ]*\d|\d`)
	large    = lazily(`(?i)\b(hundred|thousand|million|billion|hundert|tausend|millionen?|milliarden?|cent|mille|milliards?|cien|ciento|mil|millones|millón)\b|\pL*(?:hundert|tausend)\pL*`)
	// deeds are what a reply says that was done, in the first person or shortly.
	deeds = lazily(`(?i)\b(i|we)(?:'ve| have|’ve)(?: now| just| already)? (?:\w+ed|sent|made|put|set|done|written|taken|paid|told|kept)\b` +
		`|\b(i|we) (?:just |now )?(?:saved|recorded|noted|submitted|sent|booked|transferred|approved|cancell?ed|deleted|paid|updated|changed|created|added|removed|escalated|notified|informed|scheduled|confirmed)\b` +
		`|\b(?:has|have) (?:now |just |already )?been (?:\w+ed|sent|made|set|paid|done|written)\b|\b(?:is|are) (?:now |already )?(?:saved|recorded|noted|submitted|booked|transferred|approved|cancell?ed|deleted|paid|updated|created|escalated|scheduled)\b` +
		`|^\s*(?:done|saved|noted|recorded|submitted|sent|booked|cancell?ed|deleted|updated|approved)\b` +
		`|\b(?:ich habe|wir haben|habe ich|haben wir)\b[^.?!\n]{0,80}?[^\pL](?:ge\w+t|ge\w+en|\w+iert|vermerkt|überwiesen|bestätigt|erledigt|übermittelt)\b|\b(?:wurde|wurden|ist|sind)\b[^.?!\n]{0,60}?[^\pL](?:gespeichert|notiert|vermerkt|gesendet|geschickt|gebucht|überwiesen|gelöscht|storniert|genehmigt|erledigt|eingetragen|aufgenommen)\b|^\s*(?:erledigt|gespeichert|notiert|vermerkt|gesendet)\b` +
		`|\b(?:j'ai|j’ai|nous avons|c'est|c’est|a été|ont été)\b[^.?!\n]{0,40}?\b(?:enregistrée?s?|notée?s?|envoyée?s?|soumise?s?|payée?s?|annulée?s?|supprimée?s?|fait|faite|mise? à jour|transmise?|approuvée?s?|ajoutée?s?|créée?s?)(?:[^\pL]|$)|^\s*(?:enregistré|noté|envoyé)(?:[^\pL]|$)` +
		`|\b(?:he|hemos|ha sido|han sido|está|están)\b[^.?!\n]{0,40}?\b(?:guardad|anotad|enviad|registrad|pagad|cancelad|eliminad|hech|actualizad|transferid|aprobad|añadid|cread)[oa]s?\b|^\s*(?:hecho|guardado|anotado|enviado)\b`)
)

// unfounded lists what a reply claims and no fact bears out.
func (f *facts) unfounded(reply string) []claim {
	for _, s := range f.each() {
		s.prepare(f.read)
	}
	var all []claim
	add := func(kind, text string) {
		c := claim{kind, strings.TrimSpace(text)}
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	// Links go nowhere but where the house itself says, or a record, or the person;
	// nor does an address of mail.
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
			if !slices.ContainsFunc(f.each(), func(s *source) bool { return s.hasSqueezed(squeezed) }) {
				add(claimNumber, text)
			}
		case !f.number(r.value) && !slices.ContainsFunc(r.others, f.number) && !f.anywhere(fold(text)):
			add(claimNumber, text)
		}
	}
	// Digits that nobody could read: part of no fact, unless they stand there as
	// they are.
	for _, at := range digits().FindAllStringIndex(reply, -1) {
		if slices.ContainsFunc(spans, func(s [2]int) bool { return at[0] < s[1] && s[0] < at[1] }) {
			continue
		}
		text := strings.TrimSpace(reply[at[0]:at[1]])
		squeezed, _, _ := squeeze(text)
		if !f.anywhere(fold(text)) && !slices.ContainsFunc(f.each(), func(s *source) bool { return s.hasSqueezed(squeezed) }) && !f.counted(text) {
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
	for _, name := range f.strangers(reply) {
		add(claimName, name)
	}
	for _, deed := range f.invented(reply) {
		add(claimDeed, deed)
	}
	for _, state := range f.misstated(reply) {
		add(claimStatus, state)
	}
	return all
}

// day reports whether a day is a fact, or all that it may be are.
func (f *facts) day(r *reading) bool {
	is := func(v stores.Value) bool {
		if v.IsNull() {
			return false
		}
		return slices.ContainsFunc(f.each(), func(s *source) bool { certain, _ := s.hasDate(v); return certain })
	}
	if len(r.others) > 0 {
		return !slices.ContainsFunc(r.others, func(v stores.Value) bool { return !is(v) })
	}
	return is(r.value)
}

func (f *facts) number(v stores.Value) bool {
	if !isNumber(v) {
		return false
	}
	if slices.ContainsFunc(f.counts, func(n int) bool { return stores.Equal(stores.NewInt(int64(n)), v) }) {
		return true
	}
	return slices.ContainsFunc(f.each(), func(s *source) bool { certain, _ := s.hasNumber(v); return certain })
}

func (f *facts) counted(text string) bool {
	n, ok := stores.ParseInt(text)
	return ok && f.number(n)
}

// anywhere reports whether words stand in anything that may be told.
func (f *facts) anywhere(folded string) bool {
	if slices.ContainsFunc(f.words, func(w string) bool { return containsWord(w, folded) }) {
		return true
	}
	return slices.ContainsFunc(f.each(), func(s *source) bool { return s.hasWords(folded) })
}

// trusted is anywhere among what is no stranger's.
func (f *facts) trusted(folded string) bool {
	return slices.ContainsFunc(f.words, func(w string) bool { return containsWord(w, folded) }) ||
		slices.ContainsFunc(f.each(), func(s *source) bool { return s.origin.Trusted() && s.hasWords(folded) })
}

// Words that begin with a capital and are no names.
var noNames = map[string]bool{
	"i": true, "i'm": true, "i've": true, "i'll": true, "i'd": true, "ok": true, "okay": true, "pdf": true, "jpg": true, "png": true, "why": true, "sie": true, "ihr": true, "ihre": true, "ihnen": true, "ihren": true, "ihrem": true, "ihrer": true, "ihres": true,
	"monday": true, "tuesday": true, "wednesday": true, "thursday": true, "friday": true, "saturday": true, "sunday": true,
	"january": true, "february": true, "march": true, "april": true, "may": true, "june": true, "july": true, "august": true, "september": true, "october": true, "november": true, "december": true,
	"montag": true, "dienstag": true, "mittwoch": true, "donnerstag": true, "freitag": true, "samstag": true, "sonntag": true,
	"januar": true, "februar": true, "märz": true, "mai": true, "juni": true, "juli": true, "oktober": true, "dezember": true,
}

// titles stand before a name, and the full stop behind one ends no sentence.
var titles = map[string]bool{"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "herr": true, "herrn": true, "frau": true, "mme": true, "monsieur": true, "madame": true, "señor": true, "señora": true, "sr": true, "sra": true}

// strangers are names in a reply that no fact has. A name is what begins with a
// capital inside of a sentence, and at its beginning where a second such word
// follows. German writes every noun so: there two on end are wanted.
func (f *facts) strangers(reply string) []string {
	german := slices.Equal(words.Detect(reply), []words.Language{words.German})
	var found []string
	for _, line := range strings.Split(reply, "\n") {
		begins := true
		var run []string
		var first bool  // the run stands at the beginning of a sentence
		var titled bool // a title stands before it: what follows is a name
		flush := func() {
			defer func() { run, titled = nil, false }()
			if len(run) == 0 || !titled && (german && len(run) < 2 || first && len(run) < 2) {
				return
			}
			at := 0
			if first && !f.known(run[0]) {
				at = 1 // any word is written with a capital there
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
			case titles[strings.ToLower(word)]:
				flush()
				begins, titled = false, true
				continue
			case word == "" || strings.HasPrefix(word, "@"):
				flush()
			case len(initial) > 0 && unicode.IsUpper(initial[0]) && !noNames[strings.ToLower(word)]:
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

// known reports whether a word stands in anything that may be told, also with an
// ending.
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

// done adds what a run did to the facts.
func (f *facts) done(p *receipt.Receipt) {
	var b strings.Builder
	for i := range p.Calls {
		c := &p.Calls[i]
		for j := range c.Rows {
			r := &c.Rows[j]
			b.WriteString(r.Name + "\n" + r.Label + "\n")
			for _, change := range r.Fields {
				if change.Sensitive {
					continue
				}
				b.WriteString(plain(change.Before.Shown()) + "\n" + plain(change.After.Shown()) + "\n")
			}
		}
		for _, a := range c.Asks {
			b.WriteString(a.Reason + "\n" + a.By + "\n")
		}
		for _, n := range c.Notices {
			b.WriteString(n.Target + "\n")
		}
		if c.Result != nil {
			f.counts = append(f.counts, len(c.Result.Rows))
		}
	}
	totals := p.Totals()
	f.counts = append(f.counts, totals.Rows, totals.Notices, len(p.Calls))
	f.extra = append(f.extra, &source{text: b.String(), when: f.now})
}

// lazily compiles an expression when it is first asked for. Those that read four
// languages take longer to compile than the whole command takes to check a script,
// and only a conversation needs them.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
