package manda

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"verbatim/runtime/conversation/values"
)

// An Intent is the intent of a question.
type Intent string

// The intents (M18 to M24).
const (
	FactLookup   Intent = "fact_lookup"
	DeepDive     Intent = "deep_dive"
	DueDiligence Intent = "due_diligence"
	Comparison   Intent = "comparison"
	Synthesis    Intent = "synthesis"
	Gaps         Intent = "gap_identification"
	Exploration  Intent = "exploration"
)

// A Question is a parsed question.
type Question struct {
	Text     string          // in the words that the reader knows: owner is shareholder
	Asked    string          // in the person's own
	Written  string          // as it was written
	Language values.Language // of the answer
	Intent   Intent
	Sure     bool // the question says so in words
	Metrics  []string
	Group    string   // of figures that it names: P&L
	Periods  []Period // a year may be missing
	Statuses []string // of a comparison: Forecast and Actual
	Part     string   // of the company, if one is named
	Parts    []string // the parts that it names, among those that the room knows
	Unknown  string   // a part that it names and that has no such figure in the room
	Topic    []string // the words of its subject
	Aims     []aim    // the concepts of these words, or else their stems
	Follows  bool     // it continues the previous question
	LastYear bool     // it asks about the year before
	Figure   bool     // it asks for a figure, whatever of
	When     bool     // it asks for a date
	Most     string   // it asks for an extreme: largest or smallest

	Assumed string // what it omits and the previous question stated: the period, or the metric
	Unclear bool   // it may mean several periods: see Either
	Vague   bool   // it asks for something without saying about what
}

//go:embed questions.txt
var questionsFile string

// A phrasing is one line of questions.txt.
type phrasing struct {
	kind, name string
	said       []string
	parts      [][]string // of each phrase, in lower case, between which other words may stand
}

var phrasings = sync.OnceValue(func() []phrasing {
	var all []phrasing
	for line := range strings.Lines(questionsFile) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(strings.TrimSpace(line), "|", 3)
		p := phrasing{kind: strings.TrimSpace(parts[0]), name: strings.TrimSpace(parts[1])}
		for s := range strings.SplitSeq(parts[2], ";") {
			p.said = append(p.said, strings.TrimSpace(s))
			var parts []string
			for part := range strings.SplitSeq(s, "…") {
				parts = append(parts, " "+plainly(part)+" ")
			}
			p.parts = append(p.parts, parts)
		}
		all = append(all, p)
	}
	return all
})

// says reports whether a text contains words of a kind, and returns the line of the words.
func says(kind, text string) (name, words string, ok bool) {
	text = " " + text + " "
	for _, p := range phrasings() {
		if p.kind != kind {
			continue
		}
		for i, s := range p.said {
			if stands(p.parts[i], text) && len(s) > len(words) {
				name, words, ok = p.name, s, true
				if kind == "intent" || kind == "weakly" || kind == "about" {
					return name, words, true
				}
			}
		}
	}
	return name, words, ok
}

// listed returns the words of a line of questions.txt.
func listed(kind, name string) []string {
	for _, p := range phrasings() {
		if p.kind == kind && p.name == name {
			return p.said
		}
	}
	return nil
}

// stops are the words without meaning for the subject of a question.
var stops = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, w := range listed("stop", "words") {
		all[w] = true
	}
	return all
})

// noise are all words of a question that do not name its subject.
var noise = sync.OnceValue(func() map[string]bool {
	all := maps.Clone(stops())
	for _, p := range phrasings() {
		if p.kind == "notes" || p.kind == "weakly" || p.kind == "change" {
			for _, w := range p.said {
				all[plainly(w)] = true
			}
		}
	}
	return all
})

// sameAs matches a reference to a part of another year: the same quarter of 2023.
var sameAs = pattern(`(?i)\b(?:same|gleichen?|selben?|même) (?:quarter|period|half|month|quartal|zeitraum|halbjahr|monat|trimestre|période)\b`)

// impossible are the forms of periods that only a question states: a fifth quarter, and a year that is
// long ago or far ahead. Documents are not read by them, since their figures look like such years. An
// answer says that there is nothing of such a period, where it would else tell the latest one.
var impossible = []struct {
	form pattern
	kind byte
}{
	{`(?i)\b(?:q([05-9])|quarter ([05-9])|([05-9])\. ?(?:quartal|quarter))(?:[ /_-]*(?:of |fy ?)?'?(20\d\d))?\b`, 'Q'},
	{`(?i)\b(?:h([03-9])|([03-9])\. ?(?:halbjahr|half))(?:[ /_-]*(?:of |fy ?)?'?(20\d\d))?\b`, 'H'},
	{`\b(1[5-9]\d\d|2[1-9]\d\d)\b`, 'Y'},
}

// impossibles finds such periods, and returns the text with blanks in their places.
func impossibles(text string) (all []said, rest string) {
	rest = text
	for _, f := range impossible {
		for _, is := range f.form.re().FindAllStringSubmatchIndex(rest, -1) {
			if strings.ContainsAny(rest[max(0, is[0]-1):is[0]]+rest[is[1]:min(len(rest), is[1]+1)], "€$£%'-/") {
				continue // an amount, or part of a number
			}
			s := said{Period: Period{Kind: f.kind}, at: is[0], end: is[1]}
			for k := 2; k < len(is); k += 2 {
				if is[k] < 0 {
					continue
				} else if n := num(rest[is[k]:is[k+1]]); n > 1000 {
					s.Year = n
				} else {
					s.N = n
				}
			}
			all = append(all, s)
			rest = rest[:is[0]] + strings.Repeat(" ", is[1]-is[0]) + rest[is[1]:]
		}
	}
	return all, rest
}

// times returns the periods that a question states. A month that is a name too counts in its own
// language: in an English question "Mars 2024" is only a year.
func times(text string, in []values.Language) []said {
	never, rest := impossibles(text)
	all := append(never, periods(rest)...)
	sortSaid(all)
	for i := range all {
		s := &all[i]
		name := strings.ToLower(monthIn.re().FindString(text[s.at:s.end]))
		if slices.Contains(listed("month", "name"), name) && !slices.ContainsFunc(in, func(l values.Language) bool {
			full, _ := tongue(l).form(s.N-1, "month")
			return strings.HasPrefix(strings.ToLower(full), name)
		}) {
			s.Period, s.at = Period{Kind: 'Y', Year: s.Year}, s.end-len("2024")
		}
	}
	return all
}

// asks returns the periods that a question asks for. A part of a year belongs to the year that is
// named elsewhere: Q3 revenue in 2024.
func asks(text string, in []values.Language) (all []Period) {
	stated := times(text, in)
	counted := toDateIn.re().MatchString(text)
	for i, s := range stated {
		if (s.Kind == 'M' || s.Kind == 'D') && (counted || until.re().MatchString(text[:s.at])) {
			stated[i].Period = toDate(s.Year, s.N)
		}
	}
	var years []Period
	for _, s := range stated {
		if s.Kind == 'Y' {
			years = append(years, s.Period)
		}
	}
	same := sameAs.re().MatchString(text)
	partly := slices.ContainsFunc(stated, func(s said) bool { return s.Kind != 'Y' && s.Year == 0 })
	for i, s := range stated {
		of := []Period{s.Period}
		switch {
		case s.Kind == 'Y' && partly:
			of = nil // the year of the part
		case s.Kind == 'Y' && same && i > 0 && stated[i-1].Kind != 'Y':
			of[0] = stated[i-1].Period
			of[0].Year = s.Year
		case s.Year == 0 && len(years) > 0:
			of = nil
			for _, y := range years {
				of = append(of, Period{Kind: s.Kind, Year: y.Year, N: s.N})
			}
		case s.Year == 0:
			for _, o := range stated {
				if o.Year != 0 {
					of[0].Year = o.Year
				}
			}
		}
		for _, p := range of {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// without returns a text without the words of a kind.
func without(kind, text string) string {
	text = " " + text + " "
	for _, p := range phrasings() {
		if p.kind != kind {
			continue
		}
		for _, parts := range p.parts {
			if stands(parts, text) {
				for _, part := range parts {
					text = strings.ReplaceAll(text, part, " ")
				}
			}
		}
	}
	return text
}

// stands reports whether phrases occur in a text that begins and ends with a space: each as a whole,
// one after the other.
func stands(parts []string, text string) bool {
	for _, part := range parts {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part)-1:]
	}
	return true
}

// mostAsked is the length of a question that is read.
const mostAsked = 4000

// Read parses a question. before are the earlier questions of the same person, the latest last;
// deal is the name of the company.
func Read(text, deal string, before []string) Question {
	q := read(text, deal)
	if len(before) == 0 {
		return q
	}
	short := len(q.Topic) <= 2 && q.Group == "" && len(strings.Fields(q.Text)) <= 9
	if (q.Follows || q.LastYear) && len(q.Metrics) == 0 && len(q.Topic) == 0 && q.Group == "" && q.Intent != Gaps && q.Intent != DueDiligence {
		q.Intent = FactLookup // and how did last year look?
	}
	if q.Intent != FactLookup || !short || !q.Follows && len(q.Metrics) > 0 && len(q.Periods) > 0 {
		return q
	}
	prior := Read(before[len(before)-1], deal, before[:len(before)-1])
	switch {
	case len(q.Metrics) > 0 && len(q.Periods) == 0 && !q.LastYear && len(prior.Metrics) > 0:
		q.Periods, q.Assumed = prior.Periods, "period" // And EBITDA?
		if len(prior.Periods) == 0 {
			q.Assumed = "latest"
		}
	case len(q.Metrics) == 0 && (len(q.Periods) > 0 || q.LastYear) && len(prior.Metrics) > 0 && (q.Follows || len(q.Topic) == 0):
		q.Metrics, q.Assumed, q.Part = prior.Metrics, "metric", prior.Part
		if q.LastYear {
			if len(prior.Periods) == 0 || prior.Periods[0].Kind != 'Y' {
				q.Unclear = true // a quarter of it, or all of it?
			}
			for _, p := range prior.Periods {
				if p.Year != 0 {
					p.Year--
				}
				q.Periods = append(q.Periods, p)
			}
		}
	}
	return q
}

// joined matches what French writes as one word: l'entreprise, manque-t-il, expliquez-moi.
var joined = pattern(`(?i)\b[ld]['’]|-(?:t-)?(?:ils?|elles?|on|moi|nous|vous)\b`)

// elided matches a French elision before the name of a figure: l'EBITDA, d'EBIT, combien d'employés.
var elided = pattern(`\b(?:[lL]['’]|[dD]['’](\p{Lu}{2})|[cC]ombien d['’])`)

// byKind matches the text after a figure that is asked for part by part.
var byKind = pattern(`(?i)^[ ]*(?:down )?(?:by|per|nach|pro|par|por|je) \pL`)

var possessive = pattern(`['’]s\b`)

// read takes one question apart, whatever was asked before.
func read(text, deal string) Question {
	letters := strings.TrimSpace(firstRunes(text, mostAsked))
	asked := written(letters)
	text = named(asked)
	q := Question{Text: text, Asked: asked, Written: letters}
	plain := plainly(possessive.re().ReplaceAllString(text, ""))
	whole := plainly(joined.re().ReplaceAllString(text, " "))
	intent, sure := intended(asked, whole)
	q.Intent, q.Sure = intent, sure
	text = elided.re().ReplaceAllString(text, " $1")
	in := languages(asked)
	q.Periods = asks(text, in)
	_, _, q.LastYear = says("relative", whole)
	for _, s := range sentences(text + " ") {
		s = plainly(joined.re().ReplaceAllString(s, " "))
		for head, tail, ok := strings.Cut(s, " "); ok && slices.Contains(listed("thanks", "words"), head); head, tail, ok = strings.Cut(s, " ") {
			s = tail
		}
		for _, w := range listed("follow", "and") {
			q.Follows = q.Follows || strings.HasPrefix(s+" ", plainly(w)+" ")
		}
	}
	_, _, q.Figure = says("figure", whole)
	_, _, q.When = says("when", whole)
	if _, _, asks := says("asks", whole); asks && !q.Figure && !q.When {
		q.Most, _, _ = says("most", whole)
	}
	_, _, several := says("several", whole)
	names := slices.DeleteFunc(mentions(text), func(m mention) bool {
		_, _, most := says("most", plainly(text[m.at:m.end])) // who the largest customers are, and not their share
		return partOfName(text, m) || most && several
	})
	for _, m := range names {
		if !slices.Contains(q.Metrics, m.name) {
			q.Metrics = append(q.Metrics, m.name)
		}
	}
	if len(q.Metrics) > 1 { // how many people at two sites
		q.Metrics = slices.DeleteFunc(q.Metrics, func(m string) bool { return m == "sites" })
	}
	name, said, ok := says("names", whole)
	strong := ok
	if !ok {
		name, said, ok = says("loosely", whole)
	}
	if ok && !slices.ContainsFunc(names, func(m mention) bool { return len(m.name) >= len(said) }) && (len(names) == 0 || q.Intent != FactLookup) {
		q.Group = name
	}
	if forecasts.re().MatchString(text) {
		q.Statuses = append(q.Statuses, Forecast)
	}
	if actuals.re().MatchString(text) {
		q.Statuses = append(q.Statuses, Actual)
	}
	if _, _, change := says("change", whole); q.Intent == Comparison && len(q.Statuses) == 1 && (q.Statuses[0] == Forecast || !change) && len(q.Periods) < 2 && len(q.Metrics) < 2 {
		q.Statuses = []string{Forecast, Actual}
	}
	rest := text
	for _, m := range slices.Backward(names) {
		if q.Part == "" && len(names) == 1 {
			q.Part = subjectOf(text, &m)
		}
		rest = rest[:m.at] + " " + rest[m.end:]
	}
	for _, p := range slices.Backward(times(rest, in)) {
		rest = rest[:p.at] + " " + rest[p.end:]
	}
	ours := strings.Fields(plainly(deal))
	if !slices.ContainsFunc(strings.Fields(q.Part), func(w string) bool { return !slices.Contains(ours, w) }) {
		q.Part = ""
	}
	rest = without("relative", without("intent", plainly(possessive.re().ReplaceAllString(rest, ""))))
	for _, kind := range [...]string{"names", "loosely", "whole", "whole"} {
		if _, words, ok := says(kind, rest); ok {
			rest = strings.ReplaceAll(" "+rest+" ", " "+plainly(words)+" ", " ")
		}
	}
	for w := range strings.FieldsSeq(rest) {
		if w = strings.TrimPrefix(strings.TrimPrefix(w, "l'"), "d'"); !noise()[w] && !slices.Contains(ours, w) && !slices.Contains(q.Topic, w) {
			q.Topic = append(q.Topic, w)
		}
	}
	q.Aims = aims(rest, func(w string) bool { return noise()[w] || !slices.Contains(q.Topic, w) })
	if !strong && q.Intent == FactLookup && len(q.Topic) > 0 { // the results of a survey
		q.Group = ""
	}
	kinds := len(names) > 0 && byKind.re().MatchString(text[names[0].end:])
	if q.Intent == FactLookup && !kinds && len(q.Metrics) > 0 && (q.When && len(q.Periods) == 0 || !q.Figure && counted(names) && slices.ContainsFunc(q.Aims, func(a aim) bool { return a.named })) {
		for _, m := range q.Metrics { // when loans are due, not their amount; the opinions of customers, not their number
			if due := listed("due", m); q.When && due != nil {
				m = due[0]
			}
			q.Aims = append(q.Aims, aims(m, unsaid)...)
		}
		q.Metrics = nil
	}
	q.Intent = q.settled(plain, whole, sure, kinds, ours)
	if kinds && q.Intent == DeepDive && q.Most == "" {
		q.Most = "every"
	}
	return q
}

// intended returns the intent of a question, from its own words and from the words of documents, and
// whether it was stated explicitly.
func intended(asked, whole string) (intent Intent, sure bool) {
	for _, s := range slices.Backward(sentences(asked + " ")) { // the intent is stated last
		if name, _, ok := says("intent", plainly(joined.re().ReplaceAllString(s, " "))); ok {
			return Intent(name), true
		}
	}
	asked = plainly(joined.re().ReplaceAllString(asked, " "))
	for _, kind := range [...]string{"intent", "weakly", "about"} {
		for _, text := range [...]string{asked, whole} {
			name, _, ok := says(kind, text)
			if !ok {
				continue
			}
			intent, sure = Intent(name), kind == "intent"
			if about, _, _ := says("about", whole); (intent == Synthesis || intent == Gaps) && !sure && about == string(DueDiligence) {
				intent = DueDiligence
			}
			return intent, sure
		}
	}
	return FactLookup, false
}

// matter returns the subjects of a question, with the related ones: legal includes contracts and
// litigation.
func (q *Question) matter() []aim {
	all := slices.Clone(q.Aims)
	for _, m := range q.Metrics {
		all = append(all, aims(m, unsaid)...)
	}
	topic := " " + strings.Join(q.Topic, " ") + " "
	for _, p := range phrasings() {
		if p.kind == "topic" && p.name != "risk" && slices.ContainsFunc(p.parts, func(parts []string) bool { return stands(parts, topic) }) {
			all = append(all, aims(strings.Join(slices.Concat(p.said, listed("within", p.name)), " "), unsaid)...)
		}
	}
	return all
}

// settled returns the intent of a parsed question: its subject may say more than its words. sure
// says whether the words stated it explicitly. It adds a subject that is only named by a verb (who
// runs it).
func (q *Question) settled(plain, whole string, sure, byKind bool, ours []string) Intent {
	if name, words, ok := says("means", whole); ok && !slices.ContainsFunc(q.Topic, func(w string) bool { return !slices.Contains(strings.Fields(words), w) }) {
		q.Topic, q.Aims = []string{name}, aims(name, unsaid)
		return Synthesis
	}
	change := q.through(whole)
	figures := len(q.Metrics) > 0 || q.Group != ""
	_, _, company := says("whole", whole)
	company = company || len(ours) > 0 && strings.Contains(" "+plain+" ", " "+ours[0]+" ")
	empty := !slices.ContainsFunc(q.Topic, func(w string) bool { return !formal()[stem(w)] && w != "profile" })
	things := slices.DeleteFunc(slices.Clone(q.Aims), func(a aim) bool { return !a.named })
	_, _, sentence := says("asks", whole)
	matter := q.Intent == FactLookup && !figures && !q.Figure && !q.When
	switch {
	case q.Intent == Comparison && !figures && len(q.Statuses) == 0 && len(q.Periods) < 2 && len(q.Aims) > 0 && opposed.re().MatchString(plain):
		return FactLookup // a claim against somebody
	case !sure && len(q.Metrics) > 0 && (q.Intent == FactLookup || q.Intent == Comparison || q.Intent == DeepDive) && (len(q.Periods) > 1 || change && (q.LastYear || len(q.Periods) == 1)):
		return Comparison
	case !sure && len(q.Metrics) > 0 && (q.Intent == FactLookup || q.Intent == Comparison || q.Intent == DeepDive) && change:
		return DeepDive // how it went
	case q.Intent == FactLookup && !figures && q.Text != "" && len(q.Aims) == 0 && !q.LastYear && len(q.Periods) == 0:
		q.Vague = q.Most != "" || !strings.ContainsFunc(q.Text, unicode.IsLetter)
		return Exploration // it names no subject: offer what can be asked about
	case q.Most != "" && (q.Intent == Exploration || !sure && (q.Intent == Synthesis || q.Intent == DeepDive)):
		return FactLookup // who owns it
	case matter && !sentence && !company && len(things) == 1:
		return Synthesis // leases?
	case q.Intent == FactLookup && !figures && slices.Contains(q.Statuses, Forecast) && !slices.ContainsFunc(q.Topic, func(w string) bool { return !forecasts.re().MatchString(w) && !actuals.re().MatchString(w) }):
		return Comparison // how good the forecast was
	case !sure && q.When, !figures && q.Figure && q.Intent == DeepDive && !empty:
		return FactLookup
	case q.Intent == Exploration && len(q.Metrics) > 0 && !company:
		return DeepDive // what's in the plan
	case matter && slices.ContainsFunc(things, func(a aim) bool { return slices.Contains(listed("about", string(DueDiligence)), a.of) }):
		return DueDiligence // Klagen?
	case !sure && (q.Intent == Synthesis && (empty || len(q.Periods) > 0) || q.Intent == DeepDive && q.Follows) && len(q.Metrics) > 0:
		return FactLookup
	case q.Intent == Gaps && figures && (!sure || len(q.Periods) > 0):
		return FactLookup // as in what was covered by insurance in 2024
	case q.Intent == Exploration && !empty && !company && !figures:
		return Synthesis
	case q.Intent == FactLookup && (q.Group != "" && len(q.Metrics) == 0 || byKind):
		return DeepDive
	case (q.Intent == FactLookup || q.Intent == Gaps && !sure) && company && empty && !figures:
		return Exploration
	case q.Intent == Synthesis && !figures && (len(q.Topic) == 0 || company && len(q.Topic) <= 1 && !sure && len(things) == 0):
		return Exploration
	case q.Intent == Synthesis && (q.Group != "" || len(q.Metrics) > 0 && len(q.Topic) == 0):
		return DeepDive
	}
	return q.Intent
}

// opposed matches what is against somebody, and compares nothing.
var opposed = pattern(`\b(?:claims?|suits?|lawsuits?|actions?|proceedings?|guarantees?|complaints?|insured|protect\pL*|case|appeal|assessment) (?:\pL+ )?against\b`)

// through decides which development over time a question asks for, and reports whether it asks for a
// change.
func (q *Question) through(whole string) bool {
	_, _, change := says("change", whole)
	if len(q.Metrics) == 1 && q.Metrics[0] == "revenue growth" && (q.LastYear || len(q.Periods) > 0) {
		q.Metrics[0], q.LastYear, change = "revenue", q.LastYear || len(q.Periods) == 1, true
	}
	if change && len(q.Metrics) > 0 && len(q.Periods) == 1 && !slices.Contains(q.Statuses, Forecast) {
		q.LastYear = true // how much it grew in a year is asked against the year before, and not against a plan
	}
	for i, p := range q.Periods { // a stock at the end of a year belongs to that year
		if p.Kind == 'M' && p.N == 12 && len(q.Metrics) > 0 && !slices.ContainsFunc(q.Metrics, func(m string) bool { return !lexicon()[m].stock }) {
			q.Periods[i] = p.close()
		}
	}
	if q.Intent == DeepDive && q.Group == "" && len(q.Metrics) > 1 && !slices.ContainsFunc(q.Metrics, func(m string) bool { return !slices.Contains(listed("group", "P&L"), m) }) {
		q.Group = "P&L" // how it goes from one to the other
	}
	return change
}

// named makes a question for nothing but a name, as that of a site, one for all about it.
func (q *Question) named() {
	left := slices.DeleteFunc(slices.Clone(q.Aims), func(a aim) bool { return a.of == "site" })
	if q.Intent != FactLookup || len(q.Metrics) > 0 || q.Group != "" || q.Figure || q.When || len(left) != 1 || left[0].named {
		return
	}
	if i := slices.IndexFunc(q.Topic, func(w string) bool { return stem(w) == left[0].of }); i >= 0 && strings.Contains(q.Text, capital(q.Topic[i])) {
		q.Intent, q.Aims, q.Topic = Synthesis, left, q.Topic[i:i+1]
	}
}

// counted reports whether all that a text names is counted in heads or pieces.
func counted(names []mention) bool {
	return !slices.ContainsFunc(names, func(m mention) bool { return m.kind != "count" })
}

// Either returns the two periods that a question about the year before may mean, after a period
// that was told.
func Either(told Period) (same, all Period) {
	same, all = told, Period{Kind: 'Y', Year: told.Year - 1}
	same.Year--
	return same, all
}
