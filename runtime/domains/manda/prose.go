package manda

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"verbatim/runtime/files/documents"
)

// prose extracts the figures of sentences. It joins the lines of a page first.
func (r *reader) prose(pieces []documents.Piece) {
	type run struct {
		text   strings.Builder
		starts []int // of pieces
		of     []*documents.Piece
	}
	var now *run
	end := func() {
		if now != nil {
			text := now.text.String()
			r.passage(text, func(at int) *documents.Piece {
				i, ok := slices.BinarySearch(now.starts, at)
				if !ok {
					i--
				}
				return now.of[max(i, 0)]
			})
		}
		now = nil
	}
	var at documents.Location
	for i := range pieces {
		p := &pieces[i]
		if p.Hidden || p.Cell != nil || p.Kind == documents.Heading || strings.TrimSpace(p.Text) == "" {
			end()
			continue
		}
		if now != nil && (p.At.Page != at.Page || p.At.Slide != at.Slide || p.At.Section != at.Section || p.At.Inside != at.Inside || p.At.Part != at.Part || p.At.Page == 0 && p.At.Line == 0) {
			end()
		}
		if now == nil {
			now, at = &run{}, p.At
		}
		now.starts, now.of = append(now.starts, now.text.Len()), append(now.of, p)
		now.text.WriteString(p.Text)
		now.text.WriteByte(' ')
	}
	end()
}

var sentenceEnds = pattern(`[.!?](?:["”»)]?)\s+(?:[\p{Lu}"“«(•\d-])|\s[•▪–]\s`)

// passage reads text that stands together, sentence by sentence.
func (r *reader) passage(text string, pieceAt func(at int) *documents.Piece) {
	var lately Period
	from := 0
	for _, end := range cuts(text) {
		r.sentence(text[from:end], from, &lately, pieceAt)
		from = end
	}
}

// cuts returns the ends of the sentences of a text.
func cuts(text string) []int {
	var all []int
	for _, is := range sentenceEnds.re().FindAllStringIndex(text, -1) {
		if abbreviated.re().MatchString(strings.TrimRight(text[max(0, is[0]-12):is[0]], " ")) { // Mio. EUR, approx. 12, 3. Quartal
			continue
		}
		_, n := utf8.DecodeLastRuneInString(text[:is[1]])
		all = append(all, is[1]-n)
	}
	return append(all, len(text))
}

var abbreviated = pattern(`(?i)(?:^|[\s(])(?:mio|mrd|tsd|approx|ca|c|no|nr|inc|ltd|bzw|ggü|vs|incl|excl|z\.b|e\.g|i\.e|dr|mr|mrs|ms|\d{1,2})$`)

// sentence takes the figures out of one sentence: each belongs to the metric that was
// named last, of its kind.
func (r *reader) sentence(text string, from int, lately *Period, pieceAt func(int) *documents.Piece) {
	if !strings.ContainsAny(text, "0123456789") || orders.re().MatchString(text) {
		return
	}
	stated := periods(text)
	var times []said
	for _, s := range stated {
		if until.re().MatchString(text[:s.at]) {
			if s.Kind != 'M' && s.Kind != 'D' || s.Year != r.about.Period.Year || !time.Date(s.Year, time.Month(s.N), 1, 0, 0, 0, 0, time.UTC).Before(r.about.Date) {
				continue // the end of a term
			}
			s.Period = toDate(s.Year, s.N) // a report that counts up to then
		}
		times = append(times, s)
	}
	names := mentions(text)
	if len(names) == 0 {
		if i := slices.IndexFunc(times, func(s said) bool { return s.Kind != 'D' && s.Year != 0 }); i >= 0 && len(times) == 1 {
			*lately = times[i].Period
		}
		return
	}
	next := 0 // the first finding decides the period of the following sentences
	all := figures(text, r.comma, func(at int) bool {
		return slices.ContainsFunc(stated, func(s said) bool { return at >= s.at && at < s.end })
	})
	all = slices.DeleteFunc(all, func(f Figure) bool { // 1 Business: a heading
		return len(f.Text) < 3 && f.Unit == "" && heads(pieceAt(from+f.at).Text, f.Text)
	})
	planned := forecasts.re().MatchString(text)
	for i, fig := range all {
		if isYear(&fig) || derived.re().MatchString(text[:fig.at]) {
			continue
		}
		m := nearest(names, all, i, text)
		if m == nil {
			continue
		}
		f := Finding{Figure: fig, Metric: m.name, Domain: m.domain, Status: r.about.Status, Confidence: 85, Place: pieceAt(from + fig.at).At.String()}
		f.Period = r.periodOf(text, times, all, i, *lately, pieceAt(from+fig.at), &f.Confidence)
		f.Subject = subjectOf(text, m)
		if i > 0 && m.end <= all[i-1].at { // of 8.4 %, in Chemnitz of 12.6 %
			if is := local.re().FindStringSubmatch(text[all[i-1].end:fig.at]); is != nil && month(is[1]) == 0 && len(periods(is[1])) == 0 {
				f.Subject = plainly(is[1])
			}
		}
		if planned {
			f.Status = Forecast
		} else if f.Status == Forecast && f.Period.Year < r.about.Period.Year {
			f.Status = Actual // a plan also states past figures
		}
		if next == 0 {
			next, *lately = 1, f.Period
		}
		if !fits(m, &f, text) {
			continue
		}
		r.scaled(&f)
		r.keep(f)
	}
}

// scaled gives a figure of a sentence the unit of its metric, and the unit and scale that the whole
// document states.
func (r *reader) scaled(f *Finding) {
	switch kind := lexicon()[f.Metric].kind; {
	case kind == "percent":
		if f.Unit != "pp" {
			f.Unit = "%"
		}
	case f.Unit == "%" || f.Unit == "pp":
	case kind == "count":
		f.Unit = ""
	default:
		if !f.scaled && (f.Unit == "" || f.Unit == r.measure.unit) {
			f.scale(r.measure.scale)
		}
		if f.Unit = cmp.Or(f.Unit, r.measure.unit); f.Unit == "" && kind == "amount" {
			f.Confidence -= 15
		}
	}
}

// heads reports whether a line is a heading with a number.
func heads(line, number string) bool {
	return strings.HasPrefix(line, number+" ") && len(line) < 40 && len(strings.Fields(line)) < 5
}

// orders matches a sentence that tells its reader what to answer: it states nothing of the company.
var orders = pattern(`(?i)\b(?:note|message|instructions?|hinweis|anweisung|remarque|consigne|nota) (?:to|for|an|für|à|pour|a|para) (?:\pL+ ){0,3}(?:systems?|assistants?|models?|agents?|bots?|ai|llms?|ki|systeme?|assistenten?|modelle?|systèmes?|modèles?|sistemas?|modelos?)\b|\b(?:ignore|disregard|ignoriere|vergiss|ignorez|ignora) (?:\pL+ ){0,3}(?:instructions?|prompts?|rules|anweisungen|consignes|instrucciones)\b|(?:^|[,;:.] ?|\b(?:and|und|et|y|must|should|please) )(?:answer|reply|respond|antworten?|réponds|répondez|responde)[, ]+(?:that|dass|que)\b|\byou are (?:an? )?(?:ai|assistant|language model)\b`)

// until stands before the end of a term, which no figure is of: "repayable until April 2026".
var until = pattern(`(?i)(?:^|[^\d\s])\s*(?:until|till|bis(?: zum| ende)?|jusqu['’](?:en|au|à)|expires?(?: désormais)?(?: on| le)?|ends on|terminates on|runs to|endet am|hasta(?: el)?|vence el)(?: the| end of| fin)?(?: end of)?\s+$`)

// derived matches the text before an amount by which something was written down.
var derived = pattern(`(?i)(?:write-?downs?|allowances?|impairments?|provisions? for|wertberichtigung\pL*|abwertung\pL*|dépréciations?)[^\d.;]{0,40}$`)

// local matches the place that the second of two figures belongs to.
var local = pattern(`(?:^|[ ,(])(?:in|at|à|für|for) (\p{Lu}\p{L}{2,})`)

// change matches the text before an amount by which something changed.
var change = pattern(`(?i)(?:\bby|\bum|\bde|\bof some|\+)(?: (?:about|around|some|rund|etwa|environ|nearly|almost|over))?[ \x{a0}]?[(]?$`)

// counts matches the text after a number that counts the thing named before it, not the following
// one.
var counts = pattern(`^(?:[ \x{a0}]*(?:[.,;:)(]|$|(?:in|at|by|on|as|and|am|zum|im|an|und|au|à|en|fin|end|with|mit|after|nach|against|compared|from|persons?|people|employees|personen|mitarbeiter\pL*|personnes|salariés)(?:[^\p{L}]|$)))`)

var days = pattern(`(?i)^ ?(?:days|tage|jours)`)

// lost and lacking match the text before and behind the name of what is not all of it: "loss of revenue".
// ofWhich stands before a part, bound before what somebody has to keep to, apart before a difference.
var (
	lost    = pattern(`(?i)\b(?:loss(?:es)?|lack|parts?|share|portion|perte|partie|verlust|teil|pérdida|parte)[ ](?:of|an|von|de[rsm]?|du|d['’])[ ]?(?:(?:the|its|our|annual|les?|la)[ ])*$`)
	lacking = pattern(`(?i)^[ -](?:loss(?:es)?|shortfall|gap|at risk|verlust\pL*|ausfall\pL*|perdue?s?|manquante?s?|en moins)\b`)
	ofWhich = pattern(`(?i)\b(?:of which|of this|thereof|davon|darunter|hiervon|dont|de los cuales|de las cuales)\b[^.;]{0,50}$`)
	bound   = pattern(`(?i)(?:\b(?:must|shall|ensures?|undertakes?|covenants?|required?|muss|darf|doit|devra|debe)\b[^;]*)(?:\bnot (?:to |be )*(?:below|exceed|fall|less|more|above)\w*|\bat (?:least|most)|\bno (?:more|less) than|\bminimum|\bmaximum|\bmindestens|\bhöchstens|\bnicht (?:unter|über)\w*|\bau (?:moins|plus)|\bal menos)[^.;\d]{0,30}$`)
	apart   = pattern(`(?i)\bum(?: rund| etwa)? $`)
)

var rose = pattern(`(?i)(?:increase|decrease|decline|reduced|lowered|raised|verringert|reduziert|réduit|growth|improvement|reduction|rise|fall|drop|rose|grew|fell|up|down|gestiegen|stieg|sank|gefallen|wuchs|anstieg|rückgang|plus|minus|hausse|baisse|progression|progressé|augmenté|recul|reculé|croissance)[^\d.;]{0,24}$`)

// fits reports whether a figure may be one of a kind.
func fits(m *mention, f *Finding, text string) bool {
	kind := m.kind
	before := text[:f.at]
	switch {
	case kind == "text":
		return false
	case lost.re().MatchString(text[:m.at]), lacking.re().MatchString(text[m.end:]), apart.re().MatchString(before), ofWhich.re().MatchString(before), bound.re().MatchString(before):
		return false
	case change.re().MatchString(before) && rose.re().MatchString(strings.TrimRight(change.re().ReplaceAllString(before, ""), " ")):
		return false
	case f.Unit == "pp":
		return false
	case kind == "percent":
		return f.Unit == "%" && !change.re().MatchString(before)
	case f.Unit == "%":
		return false
	case kind == "amount":
		return f.Unit != ""
	case kind == "count":
		return f.Unit == "" && f.Value.IsInt() && f.Value.Sign() > 0 && (m.at > f.at || counts.re().MatchString(text[f.end:]))
	case kind == "days":
		return f.Unit == "" && days.re().MatchString(text[f.end:])
	}
	return true
}

// nearest returns the metric of a figure: the last one named before it in the sentence, unless one
// stands right after it, as in "240 employees".
func nearest(names []mention, all []Figure, i int, text string) *mention {
	f := &all[i]
	var m *mention
	for k := range names {
		n := &names[k]
		fitting := (f.Unit == "%") == (n.kind == "percent")
		switch {
		case n.end <= f.at && fitting:
			m = n
		case n.at >= f.end && fitting && (m == nil || n.kind == "count") && n.at-f.end < 40 && !strings.ContainsAny(text[f.end:n.at], ".;,") && !joins.re().MatchString(text[f.end:n.at]):
			if i+1 < len(all) && all[i+1].at < n.at {
				return m
			}
			return n
		}
	}
	if m != nil && strings.ContainsAny(text[m.end:f.at], ";") {
		return nil
	}
	return m
}

// joins matches what stands between a figure and the name of the next thing.
var joins = pattern(`(?i)^\s*(?:and|und|et|y|or|oder|ou|o)\s`)

// periodFor returns the index of the period of a figure in a sentence, -1 if there is none: in the
// order of both, if they are listed; or else the one stated for it alone, or right behind it; or else
// the last one before it that is not of another figure, or the first, which others may share.
func periodFor(text string, times []said, all []Figure, i int) (of int, alone bool) {
	if n := len(times); n > 1 && strings.Contains(text, "respectively") && len(all)%n == 0 {
		return i % n, true
	}
	ahead := func(i int) int { // (2023: 38.5 %)
		return slices.IndexFunc(times, func(s said) bool { return s.end <= all[i].at && strings.Trim(text[s.end:all[i].at], " \u00a0") == ":" })
	}
	behind := func(i int) int {
		next := len(text)
		if i+1 < len(all) {
			next = all[i+1].at
		}
		return slices.IndexFunc(times, func(s said) bool {
			return s.at >= all[i].end && s.at < next && s.at-all[i].end < 40 && !strings.ContainsAny(text[all[i].end:s.at], ",;:")
		})
	}
	taken := map[int]bool{}
	for k := range all {
		if k != i {
			taken[behind(k)], taken[ahead(k)] = true, true
		}
	}
	if k := ahead(i); k >= 0 {
		return k, true
	} else if k := behind(i); k >= 0 && !taken[k] {
		return k, true
	}
	of = -1
	for k := range times {
		if !taken[k] && (times[k].end <= all[i].at || of < 0) {
			of = k
		}
	}
	return of, false
}

// periodOf returns the period of a figure in a sentence: its own, or the year before where the text
// says that, or else that of the surroundings.
func (r *reader) periodOf(text string, times []said, all []Figure, i int, lately Period, at *documents.Piece, confidence *int) (p Period) {
	f := &all[i]
	k, alone := periodFor(text, times, all, i)
	if k >= 0 {
		p = times[k].Period
	}
	next, prior := len(text), max(0, f.at-30)
	if i+1 < len(all) {
		next = all[i+1].at
	}
	if i > 0 {
		prior = all[i-1].end
	}
	if !alone && (earlier.re().MatchString(text[f.end:min(next, f.end+60)]) || earlier.re().MatchString(text[prior:f.at])) {
		for _, main := range [...]Period{p, lately, r.about.Period} {
			if main.Kind != 0 && main.Year != 0 {
				main.Year--
				return main
			}
		}
	}
	if p.Kind == 0 {
		*confidence -= 10
		if s := periods(at.At.Section); len(s) > 0 {
			p = s[0].Period
		} else if r.contract {
			return Period{}
		} else if p = lately; p.Kind == 0 {
			p, *confidence = r.about.Period, *confidence-5
		}
	}
	if p.Year == 0 && p.Kind != 0 {
		p.Year, *confidence = cmp.Or(lately.Year, r.about.Period.Year), *confidence-5
	}
	return p
}

// subjectOf returns the part of the company for a metric in a sentence.
func subjectOf(text string, m *mention) string {
	part := ""
	if is := partBehind.re().FindStringSubmatch(text[m.end:]); is != nil {
		part = is[1]
	} else if is := partBefore.re().FindStringSubmatch(text[:m.at]); is != nil && m.at > len(is[0]) {
		part = is[1]
	}
	if len(part) < 3 || len(periods(part)) > 0 || month(part) > 0 || len(mentions(part)) > 0 {
		part = ""
	}
	if part, _ = partOf(plainly(part), ""); part == "" {
		part = plainly(kindOf.re().FindString(text[:m.at]))
	}
	if is := attributed.re().FindStringSubmatch(text[:m.at]); part == "" && is != nil && !stops()[is[1]] {
		part, _ = partOf(is[1], "")
	}
	if part == "" {
		part = plainly(someOf.re().FindString(text[max(0, m.at-50):m.at]))
	}
	if is := anothers.re().FindStringSubmatch(text[:m.at]); part == "" && is != nil {
		if part = plainly(is[3]); part == "" {
			part = plainly(is[1])
		}
	}
	if is := standsAt.re().FindStringSubmatch(text[:m.at]); part == "" && is != nil {
		part = plainly(is[1] + is[2])
	}
	return part
}

// attributed matches an adjective that makes a figure that of a part: "der wegfallende Umsatz".
var attributed = pattern(`(?:^|[\s(])(?:[Tt]he|[Aa]n?|[Ii]ts|[Oo]ur|[Tt]heir|[Tt]his|[Dd]er|[Dd]ie|[Dd]as|[Dd]en|[Dd]em|[Dd]es|[Ee]ine?[mnrs]?|[Ss]ein\pL*|[Ii]hr\pL*|[Dd]iese\pL*) (\p{Ll}{4,}) $`)

// anothers matches a sentence whose figures are those of somebody else, by name if it has one.
var anothers = pattern(`\b([Cc]ustomer|[Cc]lient|[Ss]upplier|[Cc]ompetitor|[Tt]enant|[Kk]unde|Kundin|Lieferant|Wettbewerber|Abnehmer|[Ff]ournisseur|[Cc]oncurrent|[Cc]liente|[Pp]roveedor)(?:,? (?:(?:is|was|ist|war|est|était|es|era) )?(?:(?:the|die|der|das|la|le|el) )?((\p{Lu}[\p{L}&.-]*(?: \p{Lu}[\p{L}&.-]*){0,4})|[^.;]{0,40}))?[^.;]{0,60}$`)

// standsAt matches the site that a sentence is about.
var standsAt = pattern(`(?:^|[.!?] )(?:The |Das |Der |Die |L['’]|Le |La )?(?:(\p{Lu}\p{L}{2,}) (?:[Pp]lant|[Ss]ite|[Ff]actory|[Ww]arehouse|[Oo]ffice|[Ss]tore|mill)\b|(?:[Pp]lant|[Ss]ite|[Ff]actory|[Ww]arehouse|[Ww]erk|Standort|[Uu]sine|[Ff]iliale) (?:in |at |of |de |in |von )?(\p{Lu}\p{L}{2,}))[^.;]*$`)

// kindOf matches a word right before a metric that restricts it to a part.
var kindOf = pattern(`(?i)(?:recurring|subscription|services?|export|domestic|spare[- ]parts|after-sales|licen[cs]e|product|software|online|digital|rental|wiederkehrende\pL*|inlands|auslands|export|gross|brutto)[ -]$`)

// someOf matches the words that restrict the following text to some part.
var someOf = pattern(`(?i)\b(?:product line|segment|subsidiary|division|business unit|region|this customer|produktlinie|sparte|tochter\pL*|filiale|diesem kunden|ce client)\b`)
