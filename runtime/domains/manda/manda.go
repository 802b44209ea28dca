// Package manda carries out what the palette of a data room cannot say in YAML: it extracts
// figures from documents, relates them to those of other documents, and answers questions from
// them, with the place of each claim.
//
// Pure functions decide: Extract, Relate, Replaced, Read and Answer. The handlers read rows, call
// these functions, and return changes or lines.
package manda

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
)

// Register brings the handlers and the functions of the palette.
func Register(h *engine.Handlers) {
	engine.Handle(h, "manda.relate-document", relate)
	engine.Handle(h, "manda.trigger-analysis", reanalyse)
	engine.Handle(h, "manda.query-knowledge-base", query)
	engine.Handle(h, "manda.score-answer", score)
	engine.Handle(h, "manda.find-gaps", gaps)
	engine.Handle(h, "manda.detect-contradictions", contradictions)
	engine.Handle(h, "manda.suggest-questions", suggest)
	h.Function("counted", func(args []stores.Value) (stores.Value, error) {
		m := lexicon()[args[0].Text()]
		return stores.NewBool(m != nil && m.kind == "count"), nil
	})
	h.Function("recency", func(args []stores.Value) (stores.Value, error) {
		v, _ := stores.ParseDecimal(strconv.FormatFloat(Recency(args[1].Days()-args[0].Days()), 'f', 4, 64))
		return v, nil
	})
}

// halfLife is the number of days after which a document counts half as much.
const halfLife = 2 * 365

// Recency returns the weight of a document of so many days ago, between 0 and 1 (M2); a document
// from the future has weight 1.
func Recency(days int64) float64 { return math.Exp2(-float64(max(0, days)) / halfLife) }

// Relating documents and findings

type relateArgs struct {
	Document engine.Ref `verb:"document-id"`
}

func filed(row engine.Row) DocumentFacts {
	f := DocumentFacts{Name: row.Value("name").Text(), Title: row.Value("title").Text()}
	if v := row.Value("dated"); !v.IsNull() {
		f.Dated = time.Unix(v.Days()*24*3600, 0).UTC()
	}
	_ = json.Unmarshal([]byte(row.Value("replaces").Text()), &f.Replaces) // an unreadable value replaces nothing
	return f
}

// stated makes a Stated from a row, with the name and the part of its document.
func stated(row engine.Row, document, part, main string) FindingFacts {
	f := FindingFacts{Document: document, Metric: row.Value("metric").Text(), Label: row.Value("label").Text(), Head: row.Value("heading").Text(), Title: row.Value("title").Text(), Subject: PartOf(row.Value("subject").Text(), part, main), Period: row.Value("period").Text(), Unit: row.Value("unit").Text(), Status: row.Value("status").Text(), Value: rat(row.Value("value")), Step: rat(row.Value("exact_to"))}
	if m := lexicon()[f.Metric]; m != nil && m.unsigned {
		f.Value = f.Value.Abs(f.Value) // some print it with a minus, and some without
	}
	return f
}

func rat(v stores.Value) *big.Rat {
	r, ok := new(big.Rat).SetString(v.Text())
	if !ok {
		return new(big.Rat)
	}
	return r
}

// mostRelated is the greatest number of relations of a finding, besides those to the findings that
// it supersedes: if a figure is stated a hundred times, further relations tell a person nothing
// new.
const mostRelated = 12

// relate finds the documents that a document replaces or is replaced by, and the relations of its
// findings to theirs. A second call changes nothing.
func relate(ctx context.Context, c *engine.Call, a relateArgs) (engine.Outcome, error) {
	var out engine.Outcome
	own, err := c.Get(ctx, a.Document)
	if err != nil {
		return out, err
	}
	deal := own.To("deal")
	at, err := c.Get(ctx, deal)
	if err != nil {
		return out, err
	}
	documents, err := c.Find(ctx, "document", engine.Fields{"deal": deal})
	if err != nil {
		return out, err
	}
	newer, older, err := corrections(ctx, c, a.Document, documents, &out)
	if err != nil {
		return out, err
	}
	names, parts := map[engine.Ref]string{}, map[engine.Ref]string{}
	for _, d := range documents {
		names[d.Ref()], parts[d.Ref()] = d.Value("name").Text(), d.Value("part").Text()
	}
	main := Main(at.Value("name").Text(), slices.Collect(maps.Values(parts)))
	findings, err := c.Find(ctx, "finding", engine.Fields{"deal": deal, "document": a.Document})
	if err != nil {
		return out, err
	}
	known := map[[2]engine.Ref]bool{}
	for _, f := range findings {
		for _, end := range [...]string{"from", "to"} {
			rows, err := c.Find(ctx, "relation", engine.Fields{"deal": deal, end: f.Ref()})
			if err != nil {
				return out, err
			}
			for _, r := range rows {
				known[[2]engine.Ref{r.To("from"), r.To("to")}] = true
			}
		}
	}
	type pair struct {
		from, to engine.Row
		how      Relation
		a, b     int // in all
	}
	var all []FindingFacts
	var pairs []pair
	index := map[engine.Ref]int{}
	facts := func(r engine.Row) int {
		i, ok := index[r.Ref()]
		if !ok {
			i = len(all)
			of := r.To("document")
			index[r.Ref()], all = i, append(all, stated(r, names[of], parts[of], main))
		}
		return i
	}
	others := map[string][]engine.Row{}
	for _, f := range findings {
		i := facts(f)
		metric := all[i].Metric
		same, ok := others[metric]
		if !ok {
			if same, err = c.Find(ctx, "finding", engine.Fields{"deal": deal, "metric": metric}); err != nil {
				return out, err
			}
			others[metric] = same
		}
		for _, o := range same {
			of := o.To("document")
			from, to := f, o
			if newer[of] {
				from, to = o, f
			}
			k := facts(o)
			if how := Relate(all[i], all[k], newer[of] || older[of]); how != Unrelated {
				pairs = append(pairs, pair{from, to, how, i, k})
			}
		}
	}
	var differ [][2]int
	for _, p := range pairs {
		if p.how == Contradicts {
			differ = append(differ, [2]int{p.a, p.b})
		}
	}
	against := Unmatched(all, differ)
	replaced := map[engine.Ref]bool{}
	related := map[int]int{}
	for _, p := range pairs {
		if p.how == Contradicts && !against[[2]int{p.a, p.b}] || known[[2]engine.Ref{p.from.Ref(), p.to.Ref()}] || known[[2]engine.Ref{p.to.Ref(), p.from.Ref()}] {
			continue
		}
		if related[p.a] == mostRelated && p.how != Supersedes {
			continue
		}
		related[p.a]++
		known[[2]engine.Ref{p.from.Ref(), p.to.Ref()}] = true
		out.Changes = append(out.Changes, engine.Create("relation", engine.Fields{"deal": deal, "from": p.from.Ref(), "to": p.to.Ref(), "kind": string(p.how)}))
		if p.how == Supersedes && !p.to.Value("superseded").Bool() && !replaced[p.to.Ref()] {
			replaced[p.to.Ref()] = true
			out.Changes = append(out.Changes, engine.Update(p.to.Ref(), engine.Fields{"superseded": true}))
		}
	}
	return out, nil
}

// reanalyse gives findings of other documents back their place, where only findings of this
// document, which are deleted, took it.
func reanalyse(ctx context.Context, c *engine.Call, a relateArgs) (engine.Outcome, error) {
	out := c.Declared()
	findings, err := c.Find(ctx, "finding", engine.Fields{"document": a.Document})
	if err != nil {
		return out, err
	}
	own, seen := map[engine.Ref]bool{}, map[engine.Ref]bool{}
	for _, f := range findings {
		own[f.Ref()], seen[f.Ref()] = true, true
	}
	for _, f := range findings {
		relations, err := c.Find(ctx, "relation", engine.Fields{"from": f.Ref(), "kind": string(Supersedes)})
		if err != nil {
			return out, err
		}
		for _, r := range relations {
			to := r.To("to")
			if seen[to] {
				continue
			}
			seen[to] = true
			others, err := c.Find(ctx, "relation", engine.Fields{"to": to, "kind": string(Supersedes)})
			if err != nil {
				return out, err
			}
			if !slices.ContainsFunc(others, func(o engine.Row) bool { return !own[o.To("from")] }) {
				out.Changes = append(out.Changes, engine.Update(to, engine.Fields{"superseded": false}))
			}
		}
	}
	return out, nil
}

// corrections returns the documents that replace a document, newer, and those that it replaces,
// older, and adds the new ones to the outcome.
func corrections(ctx context.Context, c *engine.Call, own engine.Ref, documents []engine.Row, out *engine.Outcome) (newer, older map[engine.Ref]bool, err error) {
	newer, older = map[engine.Ref]bool{}, map[engine.Ref]bool{}
	for end, into := range map[string]map[engine.Ref]bool{"older": newer, "newer": older} {
		rows, err := c.Find(ctx, "correction", engine.Fields{end: own})
		if err != nil {
			return nil, nil, err
		}
		other := map[string]string{"older": "newer", "newer": "older"}[end]
		for _, r := range rows {
			into[r.To(other)] = true
		}
	}
	i := slices.IndexFunc(documents, func(d engine.Row) bool { return d.Ref() == own })
	if i < 0 {
		return newer, older, nil
	}
	mine := filed(documents[i])
	for _, d := range documents {
		if d.Ref() == own || newer[d.Ref()] || older[d.Ref()] {
			continue
		}
		theirs := filed(d)
		if by, ok := Replaced(mine, theirs); ok {
			older[d.Ref()] = true
			out.Changes = append(out.Changes, engine.Create("correction", engine.Fields{"newer": own, "older": d.Ref(), "by": string(by)}))
		} else if by, ok := Replaced(theirs, mine); ok {
			newer[d.Ref()] = true
			out.Changes = append(out.Changes, engine.Create("correction", engine.Fields{"newer": d.Ref(), "older": own, "by": string(by)}))
		}
	}
	return newer, older, nil
}

// Answering

type queryArgs struct {
	Deal     engine.Ref `verb:"deal-id"`
	Question string     `verb:"question"`
}

type dealArgs struct {
	Deal engine.Ref `verb:"deal-id"`
}

// columns are the columns of an answer: each line, and for a claim its figure and its place.
var columns = []string{"text", "role", "finding", "document", "place", "value", "unit", "period", "passage"}

func query(ctx context.Context, c *engine.Call, a queryArgs) (engine.Outcome, error) {
	lines, err := answered(ctx, c, a)
	return outcome(lines), err
}

// score answers as query does, with a column for how likely that is right. No number of that kind is told to
// anybody else. (M9)
func score(ctx context.Context, c *engine.Call, a queryArgs) (engine.Outcome, error) {
	lines, err := answered(ctx, c, a)
	out := outcome(lines)
	out.Result.Columns = append(slices.Clone(columns), "score")
	for i := range lines {
		var v any
		if lines[i].Score != nil {
			v, _ = stores.ParseDecimal(strconv.FormatFloat(*lines[i].Score, 'f', 3, 64))
		}
		out.Result.Rows[i] = append(out.Result.Rows[i], v)
	}
	return out, err
}

func answered(ctx context.Context, c *engine.Call, a queryArgs) ([]Line, error) {
	turns, err := c.Turns(ctx)
	if err != nil {
		return nil, err
	}
	var before []string
	for _, t := range turns {
		if t.Role == sessions.Client && !t.Erased {
			before = append(before, t.Content)
		}
	}
	before = before[max(0, len(before)-mostBefore):]
	l, err := load(ctx, c, a.Deal)
	if err != nil {
		return nil, err
	}
	q := Read(a.Question, l.room.Deal, before)
	q.Language = spokenIn(a.Question, before, l.person)
	return l.answers(ctx, q)
}

// spokenIn returns the language of a question. If its words do not tell, it is that of the
// conversation, or else the person's own: a person with another language than English, the default,
// is taken to speak it until a sentence shows otherwise.
func spokenIn(question string, before []string, person values.Language) values.Language {
	all := append(slices.Clip(before), question)
	var said, heard values.Tongue
	for _, text := range all {
		said.Hear(text)
	}
	if l, known := said.Language(); person != values.English && !(known && l == person) { // else these words may be all that tells it of the person
		heard.Hear(tongue(person).text("offer-topics"))
	}
	for _, text := range all {
		if _, known := heard.Language(); !known {
			if l := languages(text); len(l) == 1 {
				heard.Hear(tongue(l[0]).text("offer-topics"))
			}
		}
		heard.Hear(text)
	}
	l, _ := heard.Language()
	return l
}

// mostBefore is the greatest number of earlier questions that a follow-up may refer to.
const mostBefore = 10

func gaps(ctx context.Context, c *engine.Call, a dealArgs) (engine.Outcome, error) {
	l, err := load(ctx, c, a.Deal)
	if err != nil {
		return engine.Outcome{}, err
	}
	lines, err := l.answers(ctx, Question{Intent: Gaps, Language: l.person})
	return outcome(lines), err
}

type contradictionArgs struct {
	Deal   engine.Ref `verb:"deal-id"`
	Metric *string    `verb:"metric"`
}

// contradictions lists the figures that contradict each other, of one metric or of all.
func contradictions(ctx context.Context, c *engine.Call, args contradictionArgs) (engine.Outcome, error) {
	l, err := load(ctx, c, args.Deal)
	if err != nil {
		return engine.Outcome{}, err
	}
	if err := l.clashes(ctx, nil); err != nil {
		return engine.Outcome{}, err
	}
	a := &answer{tongue: tongue(l.person), room: &l.room}
	if !a.contradictions(func(f *Fact) bool { return args.Metric == nil || f.Metric == *args.Metric }) {
		if args.Metric != nil {
			a.looked("no-contradictions-of", "metric", a.called(*args.Metric, ""))
		} else {
			a.looked("no-contradictions")
		}
	}
	return outcome(a.lines), nil
}

// suggest words questions to the company about missing information and contradictions.
func suggest(ctx context.Context, c *engine.Call, a dealArgs) (engine.Outcome, error) {
	l, err := load(ctx, c, a.Deal)
	if err != nil {
		return engine.Outcome{}, err
	}
	asked, err := c.Find(ctx, "question", engine.Fields{"deal": a.Deal})
	if err != nil {
		return engine.Outcome{}, err
	}
	known := map[string]bool{}
	for _, q := range asked {
		known[plainly(q.Value("text").Text())] = true
	}
	if err := l.requests(ctx); err != nil {
		return engine.Outcome{}, err
	}
	if err := l.clashes(ctx, nil); err != nil {
		return engine.Outcome{}, err
	}
	out := &engine.Answer{Columns: []string{"text", "domain", "priority"}}
	add := func(said func(t tongue) string, domain, priority string) {
		var texts []string // it may have been asked by somebody who speaks another language
		for _, l := range values.Languages() {
			texts = append(texts, plainly(said(tongue(l))))
		}
		if !slices.ContainsFunc(texts, func(text string) bool { return known[text] }) {
			out.Rows = append(out.Rows, []any{said(tongue(l.person)), domain, priority})
		}
		for _, text := range texts {
			known[text] = true
		}
	}
	of := &answer{room: &l.room}
	for _, k := range of.differing() {
		add(func(t tongue) string {
			return t.about(k.A, "which-is-right", "source", t.stated(k.A), "other", t.value(k.B), "other-source", t.stated(k.B))
		}, k.A.Domain, "HIGH")
	}
	for _, r := range of.missing() {
		add(func(t tongue) string { return t.text("please-provide", "request", r.Text) }, r.Domain, strings.ToUpper(r.Priority))
	}
	return engine.Outcome{Result: out}, nil
}

// A loader reads the facts of a deal that a question needs.
type loader struct {
	c         *engine.Call
	deal      engine.Ref
	person    values.Language // of the asker
	room      DealFacts
	main      string // the part that the documents are of
	documents map[engine.Ref]engine.Row
	replaced  map[engine.Ref]bool       // documents
	by        map[engine.Ref]string     // the documents that took their places
	facts     map[engine.Ref]int        // in room.Facts
	texts     map[engine.Ref]engine.Row // that state the scale of a workbook
	names     map[engine.Ref]bool       // the documents that the question names
	begins    map[engine.Ref]string     // with what documents begin
}

func load(ctx context.Context, c *engine.Call, deal engine.Ref) (*loader, error) {
	l := &loader{c: c, deal: deal, documents: map[engine.Ref]engine.Row{}, replaced: map[engine.Ref]bool{}, by: map[engine.Ref]string{}, facts: map[engine.Ref]int{}, texts: map[engine.Ref]engine.Row{}, begins: map[engine.Ref]string{}}
	row, err := c.Get(ctx, deal)
	if err != nil {
		return nil, err
	}
	session, err := c.Session(ctx)
	if err != nil {
		return nil, err
	}
	l.person, _ = values.ParseLanguage(session.Language) // English if answers do not have the language
	l.room.Deal, l.room.Replaces = row.Value("name").Text(), map[string]string{}
	documents, err := c.Find(ctx, "document", engine.Fields{"deal": deal})
	if err != nil {
		return nil, err
	}
	var parts []string
	for _, d := range documents {
		l.documents[d.Ref()] = d
		parts = append(parts, d.Value("part").Text())
		if d.Value("state").Text() == "ADDED" {
			l.room.Unread++
		}
		if dated := filed(d).Dated; dated.After(l.room.Newest) && dated.Before(c.Now()) {
			l.room.Newest = dated
		}
	}
	l.room.Documents, l.main = len(documents), Main(l.room.Deal, parts)
	corrections, err := c.Find(ctx, "correction", nil)
	if err != nil {
		return nil, err
	}
	for _, k := range corrections {
		l.replaced[k.To("older")] = true
		newer, ok := l.documents[k.To("newer")]
		if ok && l.by[k.To("older")] == "" {
			l.by[k.To("older")] = newer.Value("name").Text()
		}
		if older, here := l.documents[k.To("older")]; ok && here {
			l.room.Replaces[newer.Value("name").Text()] = older.Value("name").Text()
		}
	}
	l.beside()
	return l, nil
}

// answers reads the facts that a question needs, and answers it.
func (l *loader) answers(ctx context.Context, q Question) ([]Line, error) {
	if q.Vague {
		return Answer(q, &l.room), nil
	}
	l.names = map[engine.Ref]bool{}
	for ref, d := range l.documents {
		l.names[ref] = names(q.Written, d.Value("name").Text())
	}
	enough, err := l.figures(ctx, &q)
	if err != nil {
		return nil, err
	}
	if !enough {
		if err := l.search(ctx, &q); err != nil {
			return nil, err
		}
	}
	var only func(metric string) bool
	if q.Intent != DueDiligence && q.Intent != Exploration {
		only = func(string) bool { return true }
	}
	if err := l.clashes(ctx, only); err != nil {
		return nil, err
	}
	var sure *float64
	if !enough {
		var lines []Line
		if lines, sure = seek(&q, &l.room); lines != nil {
			if lines[0].Fact == nil && q.Intent == FactLookup { // quoted: the list may ask for more of it
				if err := l.requests(ctx); err != nil {
					return nil, err
				}
				a := &answer{tongue: tongue(q.Language), room: &l.room, q: q}
				a.requested()
				lines = append(lines, a.lines...)
			}
			return lines, nil
		}
		q.named()
		if err := l.widely(ctx, &q); err != nil {
			return nil, err
		}
	}
	if err := l.parts(ctx, &q); err != nil {
		return nil, err
	}
	if q.Intent != DeepDive && q.Intent != Comparison && (q.Intent != FactLookup || len(q.Metrics) == 0) {
		if err := l.requests(ctx); err != nil {
			return nil, err
		}
	}
	lines := Answer(q, &l.room)
	if enough && !slices.ContainsFunc(lines, func(l Line) bool { return l.Role == Claim }) {
		if err := l.widely(ctx, &q); err != nil {
			return nil, err
		}
		lines = Answer(q, &l.room)
	}
	return scored(lines, sure), nil
}

// outcome makes the palette's answer from lines.
func outcome(lines []Line) engine.Outcome {
	a := &engine.Answer{Columns: columns}
	for _, line := range lines {
		row := []any{line.Text, string(line.Role), nil, nil, nil, nil, nil, nil, nil}
		if line.Document != "" {
			row[3], row[4] = line.Document, line.Place
		}
		if f := line.Fact; f != nil {
			v, _ := stores.ParseDecimal(shown(f.Value))
			row[2], row[5], row[6], row[7] = f.Row, v, f.Unit, f.Period
		} else if ref, ok := line.Row.(engine.Ref); ok && ref.Entity() == "passage" {
			row[8] = ref
		}
		a.Rows = append(a.Rows, row)
	}
	return engine.Outcome{Result: a}
}

// parts finds the parts of the company that a question names, among those of the facts: after a
// preposition, or without one.
func (l *loader) parts(ctx context.Context, q *Question) error {
	asked := " " + plainly(q.Text) + " "
	at := map[string]int{}
	for i := range l.room.Facts {
		part := l.room.Facts[i].Subject
		if k := strings.Index(asked, " "+part+" "); part != "" && k >= 0 && slices.Contains(q.Metrics, l.room.Facts[i].Metric) {
			at[part] = k
		}
	}
	q.Parts = slices.SortedFunc(maps.Keys(at), func(a, b string) int { return cmp.Or(at[a]-at[b], strings.Compare(a, b)) })
	switch {
	case len(q.Parts) == 2 && q.Intent == FactLookup:
		q.Intent = Comparison
	case len(q.Parts) == 1:
		q.Part = q.Parts[0]
	case q.Part != "":
		part := l.called(q.Metrics, strings.Fields(q.Part))
		if part == "" && somebody(q.Part) && !strings.HasPrefix(asked, " "+q.Part+" ") {
			q.Unknown = asWritten(q.Text, q.Part)
		}
		q.Part = part
	case len(q.Metrics) > 0 && (q.Intent == FactLookup || q.Intent == Comparison || q.Intent == DeepDive):
		for _, w := range q.Topic { // of a part that has other figures, but not this one
			if q.Part = cmp.Or(q.Part, l.called(q.Metrics, []string{w})); q.Part != "" {
				return nil
			}
			rows, err := l.c.Find(ctx, "finding", engine.Fields{"deal": l.deal, "subject": w})
			if err != nil {
				return err
			} else if len(rows) > 0 {
				q.Unknown = asWritten(q.Text, w)
			}
		}
		for _, w := range q.Topic { // of somebody else, whom no document names
			if q.Part == "" && q.Unknown == "" && whose(q.Text, w) && !l.mentions(w) {
				q.Unknown = asWritten(q.Text, w)
			}
		}
	}
	return nil
}

// whose reports whether a question says a word as a name: with a capital inside it, or with an 's.
func whose(question, word string) bool {
	for i, w := range strings.Fields(question) {
		first, _ := utf8.DecodeRuneInString(w)
		if bare := strings.Trim(w, ".,;:!?"); plainly(bare) == word && i > 0 && unicode.IsUpper(first) || slices.Contains([]string{word + "'s", word + "’s"}, strings.ToLower(bare)) {
			return true
		}
	}
	return false
}

// mentions reports whether the name of the deal or a passage has a word.
func (l *loader) mentions(word string) bool {
	in := func(text string) bool { return strings.Contains(" "+plainly(text)+" ", " "+word+" ") }
	return in(l.room.Deal) || slices.ContainsFunc(l.room.Passages, func(p Passage) bool { return in(p.Text) })
}

// somebody reports whether a name has a word that is not a common word of questions.
func somebody(name string) bool {
	return slices.ContainsFunc(strings.Fields(name), func(w string) bool { return !noise()[w] })
}

// called returns the part that some words name, among those of the metrics' facts: "grevenau france
// sas" for "Grevenau France". It is "" for none and for several.
func (l *loader) called(metrics, said []string) (part string) {
	several := false
	for i := range l.room.Facts {
		f := &l.room.Facts[i]
		name := strings.Fields(f.Subject)
		switch {
		case f.Subject == part || len(said) == 0 || !slices.Contains(metrics, f.Metric):
		case same(strings.Join(said, " "), f.Subject):
			return f.Subject
		case slices.ContainsFunc(said, func(w string) bool { return !slices.ContainsFunc(name, func(n string) bool { return same(w, n) }) }):
		case len(name) == len(said):
			return f.Subject
		default:
			several, part = several || part != "", f.Subject
		}
	}
	if several {
		return ""
	}
	return part
}

// same reports whether two words, or two names of several, are names of one thing: Brünn is Brno, and
// Germany Deutschland.
func same(a, b string) bool {
	if code := values.CountryNamed(a); code != "" && code == values.CountryNamed(b) {
		return true
	}
	of, ok := concepts().called(a)
	is, known := concepts().called(b)
	return a == b || ok && known && of == is
}

// asWritten returns a name in the letters of a text.
func asWritten(text, name string) string {
	if at := strings.Index(strings.ToLower(text), name); at >= 0 && at+len(name) <= len(text) {
		return text[at : at+len(name)]
	}
	return capital(name)
}

// needs returns the metrics whose facts a question asks for.
func needs(q *Question) []string {
	switch {
	case q.Intent == Exploration:
		return []string{"revenue", "ebitda", "net income", "headcount"}
	case q.Intent == DueDiligence:
		return slices.Concat(listed("group", "risk"), q.Metrics, q.risky())
	case q.Group != "":
		return slices.Concat(listed("group", q.Group), q.Metrics)
	case len(q.Metrics) == 0 && q.Intent == Comparison:
		return slices.Concat(listed("group", "P&L"), []string{"headcount", "capex", "order intake"})
	case len(q.Metrics) == 0 && q.Intent == DeepDive:
		return listed("group", "P&L")
	}
	all := slices.Clone(q.Metrics)
	for _, m := range q.Metrics {
		if of := quotients[m]; of[0] != "" {
			all = append(all, of[:]...)
		}
	}
	return all
}

// metric reads the findings of one metric.
func (l *loader) metric(ctx context.Context, metric string) error {
	rows, err := l.c.Find(ctx, "finding", engine.Fields{"deal": l.deal, "metric": metric})
	if err != nil {
		return err
	}
	for _, r := range rows {
		l.fact(r)
	}
	return nil
}

// fact keeps a finding and returns its index; -1 if its document is not loaded or it is no finding.
func (l *loader) fact(r engine.Row) int {
	if i, ok := l.facts[r.Ref()]; ok {
		return i
	}
	d, ok := l.documents[r.To("document")]
	if !ok || r.Value("state").Text() == "REJECTED" {
		return -1
	}
	f := Fact{FindingFacts: stated(r, d.Value("name").Text(), d.Value("part").Text(), l.main), Domain: r.Value("domain").Text(), Place: r.Value("place").Text(), Text: r.Value("text").Text(), Confidence: int(r.Value("confidence").Int()), Dated: filed(d).Dated, Superseded: r.Value("superseded").Bool() || l.replaced[d.Ref()], By: l.by[d.Ref()], Corrected: r.Value("state").Text() == "CORRECTED", Number: int(r.Value("number").Int()), Named: l.names[d.Ref()], Row: r.Ref()}
	if text, ok := l.texts[d.Ref()]; ok {
		f.scaledBy(text)
	}
	l.room.Facts = append(l.room.Facts, f)
	l.facts[r.Ref()] = len(l.room.Facts) - 1
	return len(l.room.Facts) - 1
}

// clashes reads the findings that contradict each other, of some metrics or of all.
func (l *loader) clashes(ctx context.Context, only func(metric string) bool) error {
	rows, err := l.c.Find(ctx, "relation", engine.Fields{"deal": l.deal, "kind": string(Contradicts)})
	if err != nil {
		return err
	}
	var pairs [][2]int
	for _, r := range rows {
		var pair [2]int
		for k, end := range [...]string{"from", "to"} {
			i, ok := l.facts[r.To(end)]
			if !ok {
				if only != nil {
					i = -1
				} else if f, err := l.c.Get(ctx, r.To(end)); err != nil {
					return err
				} else {
					i = l.fact(f)
				}
			}
			pair[k] = i
		}
		if pair[0] >= 0 && pair[1] >= 0 {
			pairs = append(pairs, pair)
		}
	}
	for _, p := range pairs {
		l.room.Clashes = append(l.room.Clashes, Clash{&l.room.Facts[p[0]], &l.room.Facts[p[1]]})
	}
	slices.SortFunc(l.room.Clashes, func(x, y Clash) int {
		return cmp.Or(strings.Compare(x.A.Metric, y.A.Metric), strings.Compare(x.A.Period, y.A.Period), better(x.A, y.A), better(x.B, y.B))
	})
	return nil
}

// mostPassages is the greatest number of passages that are read for a question, mostFit for a
// request.
const (
	mostPassages = 40
	mostFit      = 16
)

// mostBeside is the number of the best passages whose documents' findings are read too.
const mostBeside = 12

// near reads the findings of the documents of the first passages, so that a quoted sentence is
// told with its figure, and a figure with those of its table.
func (l *loader) near(ctx context.Context) error {
	read := map[any]bool{}
	for _, p := range l.room.Passages[:min(len(l.room.Passages), mostBeside)] {
		if read[p.Of] {
			continue
		}
		read[p.Of] = true
		if err := l.all(ctx, p.Of); err != nil {
			return err
		}
	}
	return nil
}

// all reads the findings of a document.
func (l *loader) all(ctx context.Context, document any) error {
	rows, err := l.c.Find(ctx, "finding", engine.Fields{"deal": l.deal, "document": document})
	for _, r := range rows {
		l.fact(r)
	}
	return err
}

func passage(document, row engine.Row) Passage {
	return Passage{Document: document.Value("name").Text(), Place: row.Value("place").Text(), Heading: row.Value("heading").Text(), Text: row.Value("text").Text(), Row: row.Ref(), Of: document.Ref()}
}

// whole reads the passages of documents that are named after the subject of a question.
func (l *loader) whole(ctx context.Context, topic []aim) error {
	if len(topic) == 0 {
		return nil
	}
	for ref, d := range l.documents {
		if l.replaced[ref] {
			continue
		}
		if shared(topic, ideas(d.Value("title").Text())) < len(topic) {
			continue
		}
		rows, err := l.c.Find(ctx, "passage", engine.Fields{"document": ref})
		if err != nil {
			return err
		}
		slices.SortFunc(rows, func(a, b engine.Row) int { return cmp.Compare(a.Value("number").Int(), b.Value("number").Int()) })
		for _, r := range rows[:min(len(rows), mostPassages)] {
			p := passage(d, r)
			p.Whole = true
			l.room.Passages = append(l.room.Passages, p)
		}
	}
	slices.SortStableFunc(l.room.Passages, func(a, b Passage) int { return strings.Compare(a.Document, b.Document) })
	return nil
}

// matching finds passages of the deal that fit a text, of documents whose place nothing took.
func (l *loader) matching(ctx context.Context, text string, most int) ([]Passage, error) {
	rows, _, err := l.c.Match(ctx, "passage", l.deal, text, most)
	if err != nil {
		return nil, err
	}
	var all []Passage
	for _, r := range rows {
		if d := l.documents[r.To("document")]; !l.replaced[d.Ref()] {
			p := passage(d, r)
			if p.About, err = l.about(ctx, d); err != nil {
				return nil, err
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// about returns what a document is called and begins with, which says of whom its sentences are.
func (l *loader) about(ctx context.Context, d engine.Row) (string, error) {
	said, ok := l.begins[d.Ref()]
	if !ok {
		rows, err := l.c.Find(ctx, "passage", engine.Fields{"document": d.Ref(), "number": 1})
		if err != nil {
			return "", err
		}
		if said = d.Value("title").Text(); len(rows) > 0 {
			said += " " + firstRunes(rows[0].Value("text").Text(), 200)
		}
		l.begins[d.Ref()] = said
	}
	return said, nil
}

// requests reads the information request list, and decides for each item whether it is covered: by a
// person's decision, by a finding of the requested metric, or by a passage with its subjects.
func (l *loader) requests(ctx context.Context) error {
	rows, err := l.c.Find(ctx, "request", engine.Fields{"deal": l.deal})
	if err != nil {
		return err
	}
	var passages []Passage
	for _, d := range l.documents {
		if !l.replaced[d.Ref()] {
			passages = append(passages, Passage{Document: d.Value("name").Text(), Heading: d.Value("title").Text()})
		}
	}
	seen := map[engine.Ref]bool{}
	var open []string
	for _, row := range rows {
		text := row.Value("text").Text()
		open = append(open, text)
		fit, err := l.matching(ctx, widened(text), mostFit)
		if err != nil {
			return err
		}
		for _, p := range fit {
			if ref := p.Row.(engine.Ref); !seen[ref] {
				p.Heading = strings.TrimSpace(p.Heading + " " + l.documents[p.Of.(engine.Ref)].Value("title").Text())
				seen[ref], passages = true, append(passages, p)
			}
		}
	}
	slices.SortStableFunc(passages, func(a, b Passage) int {
		return cmp.Or(strings.Compare(a.Document, b.Document), strings.Compare(a.Place, b.Place))
	})
	by := Covering(open, passages)
	for i, row := range rows {
		r := Request{Domain: row.Value("domain").Text(), Text: open[i], Priority: strings.ToLower(row.Value("priority").Text()), Row: row.Ref()}
		if d, ok := l.documents[row.To("document")]; ok {
			r.Covered, r.Document = true, d.Value("name").Text()
		} else if p := by[i]; p != nil {
			r.Covered, r.Document, r.Place = true, p.Document, p.Place
		}
		l.room.Requests = append(l.room.Requests, r)
	}
	slices.SortStableFunc(l.room.Requests, func(a, b Request) int {
		return cmp.Or(strings.Compare(a.Domain, b.Domain), strings.Compare(a.Text, b.Text))
	})
	return nil
}
