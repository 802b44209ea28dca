package manda

import (
	"context"
	"slices"
	"strings"

	"verbatim/runtime/engine"
)

// Answering from the row or the sentence whose words fit.

// The numbers of findings and of rows that are read for a question.
const (
	mostFindings = 160
	mostSeries   = 12
)

// figures reads the findings of the figures that a question names, and reports whether they are
// enough to answer it, so that nothing has to be looked for by words.
func (l *loader) figures(ctx context.Context, q *Question) (enough bool, err error) {
	for _, metric := range needs(q) {
		if err := l.metric(ctx, metric); err != nil {
			return false, err
		}
	}
	if q.Intent == DeepDive && len(q.Metrics) == 1 { // a plan of capital expenditure has its components
		for ref, d := range l.documents {
			if ideas(spaced(d.Value("name").Text()))[q.Metrics[0]] && !l.replaced[ref] {
				if err := l.all(ctx, ref); err != nil {
					return false, err
				}
			}
		}
	}
	if q.plain() {
		all := newFinder(q, l.room.Facts).propose(q, nil)
		a := &answer{room: &l.room, q: *q}
		return len(all) > 0 && a.sourced(all[0]) && all[0].of.cover() > 0.9, nil
	}
	return len(l.room.Facts) > 0 && (len(q.Aims) == 0 || q.Group != "") && q.Intent != DueDiligence && q.Intent != Synthesis && q.Intent != Gaps && q.Most == "", nil
}

// search reads the findings and the passages that share words with a question.
func (l *loader) search(ctx context.Context, q *Question) error {
	rows, _, err := l.c.Match(ctx, "finding", l.deal, q.Written, mostFindings)
	if err != nil {
		return err
	}
	type row struct {
		metric   string
		document engine.Ref
	}
	seen := map[row]bool{}
	for _, r := range rows {
		l.fact(r)
		of := row{r.Value("metric").Text(), r.To("document")}
		if len(seen) == mostSeries || seen[of] {
			continue
		}
		seen[of] = true
		all, err := l.c.Find(ctx, "finding", engine.Fields{"deal": l.deal, "metric": of.metric, "document": of.document})
		if err != nil {
			return err
		}
		for _, r := range all {
			l.fact(r)
		}
	}
	if !q.plain() {
		return nil
	}
	return l.passages(ctx, q.Written)
}

// widely reads the passages that have other words for what a question names, and the findings beside
// the best of all passages.
func (l *loader) widely(ctx context.Context, q *Question) error {
	texts := []string{q.Written + " " + widened(q.Text)}
	switch {
	case q.Intent == DueDiligence:
		texts = append(texts, widened(strings.Join(spoken(q.Aims), " ")), widened(strings.Join(append(spoken(q.matter()), listed("topic", "risk")...), " ")))
	case q.Intent == Synthesis || q.Most != "":
		texts = append(texts, strings.Join(spoken(q.matter()), " "))
	}
	if q.Intent == DueDiligence || q.Intent == Synthesis {
		if err := l.whole(ctx, q.Aims); err != nil {
			return err
		}
	}
	if err := l.passages(ctx, texts...); err != nil {
		return err
	}
	return l.near(ctx)
}

// passages reads the passages that fit some texts, each once.
func (l *loader) passages(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		some, err := l.matching(ctx, text, mostPassages)
		if err != nil {
			return err
		}
		for _, p := range some {
			if !slices.ContainsFunc(l.room.Passages, func(o Passage) bool { return o.Row == p.Row }) {
				l.room.Passages = append(l.room.Passages, p)
			}
		}
	}
	return nil
}

// plain reports whether a question may ask for what one row or one sentence says, and not for more.
func (q *Question) plain() bool {
	_, _, asks := says("asks", plainly(q.Written))
	_, which, _ := says("reckon", plainly(q.Written))
	if q.Metrics != nil && (q.Intent == Comparison || q.Intent == DeepDive) && developed.re().MatchString(plainly(q.Written)) {
		return false // it asks for all of a time
	}
	return asks && !q.Vague && !q.Unclear && q.Assumed == "" && !q.Follows && (len(q.Statuses) == 0 || len(q.Statuses) == 1 && len(q.Metrics) == 0) && (!q.When || which != "") && !(q.Sure && q.Intent == Synthesis) && (q.Most == "" || which != "") &&
		(len(q.Aims) > 1 || len(q.Metrics) > 0 || q.Figure || q.When || q.Intent != FactLookup || figured.re().MatchString(q.plainly())) // else all about a name is asked for
}

// single reports whether a question asks for one thing, as far as its intent tells.
func (q *Question) single(plain string) bool {
	_, reckons, _ := says("reckon", plain)
	if opens.re().MatchString(plain) && (len(q.Periods) > 0 || reckons != "" || amount.re().MatchString(plain)) {
		return true // of a year, or how much
	}
	return q.Intent == FactLookup || q.Intent == Comparison || !q.Sure && q.Intent != Synthesis && q.Intent != Exploration && (q.Intent != DueDiligence || opens.re().MatchString(plain))
}

// plainly is the question in plain words, for those that say how to reckon.
func (q *Question) plainly() string { return plainly(strings.ReplaceAll(q.Written, "%", " percent ")) }

var (
	amount = pattern(`\b(?:how (?:much|many)|amount of|number of|percentage of|wie (?:viel|viele|hoch)|combien|cuánt[oa]s?)\b`)
	opens  = pattern(`^(?:in |on |at |for |as of |under )?(?:what|which|how|why|who|when|where)\b`)
)

// developed matches a question for how a figure went.
var developed = pattern(`\b(?:how (?:did|has|have) .*\b(?:develop|evolve|go|gone|trend)(?:ed)?|wie (?:hat|haben) sich .*entwickelt|comment .*évolué|cómo .*evolucion)`)

// figured matches a question that may be one for a figure.
var figured = pattern(`^(?:in |as of |at |for |during |under )?.*\b(?:how (?:much|many|high|large|big)|what (?:is|was|were|are)|wie (?:viel|viele|hoch|groß)|combien|quel|quelle|cuánt[oa]s?|cuál)\b`)

// balance matches the label of what there is at a day, and standingAt a question for it.
var (
	balance    = pattern(`(?i)\b(?:at|as of|as at|beginning of|end of|zum|am|au)\b.{0,20}(?:19|20)\d\d`)
	standingAt = pattern(`(?i)\b(?:at|as of|as at|balance|outstandingAt|beginning|end|opening|closing|ending|zum|stand|au)\b`)
)
