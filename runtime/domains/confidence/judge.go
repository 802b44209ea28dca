package confidence

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/domains/confidence/score"
	"verbatim/runtime/jobs/workflow"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// endColumn is a boolean column of a read. A row in which it is true only tells that something named in
// the question is known, and one in which it is null that it is not, or may be one of several: neither
// is an answer.
const endColumn = "end"

// A Scored is the score of an attempt in the form in which it is kept with the attempt, as JSON.
type Scored struct {
	Tool    score.Tool     `json:"tool"`
	Raw     float64        `json:"raw"`
	Value   float64        `json:"value"`
	Factors []score.Factor `json:"factors"`
}

// Judge implements workflow.Judge. If a plan sets no least score for a step, any answer is accepted; and
// the effect of a step that changes something is a fact, which needs no score.
func (a *Agent) Judge(ctx context.Context, p *workflow.Plan, s *workflow.Step, t *workflow.Attempt) workflow.Verdict {
	c, tool := a.Config, ToolOf(s.Verb)
	if t.Outcome != workflow.Refused {
		a.learns.note(t.Call.Verb, t.Outcome == workflow.OK)
	}
	if t.Outcome == workflow.OK && (s.Least == nil || s.Writes()) {
		return workflow.Verdict{Good: true}
	}
	v := workflow.Verdict{Least: s.Least}
	if t.Outcome != workflow.OK {
		if t.Outcome != workflow.Refused && t.Number <= a.retries(p) {
			v.Again, v.Next, v.Wait = true, asTried(s, t), c.backoff(t.Number)
			return v
		}
		return a.next(p, s, t, v)
	}
	of := append(a.measure(p, s, t), a.near(ctx, t))
	calibrated := score.Combine(of, score.DefaultWeights(tool)).Calibrated(a.calibrator(ctx, tool))
	v.Score = &calibrated.Value
	v.Factors, _ = json.Marshal(Scored{tool, calibrated.Raw, calibrated.Value, calibrated.Factors}) // of numbers and words
	for _, r := range calibrated.Reasons {
		v.Figures = strings.TrimSpace(v.Figures + " " + r.In("en"))
		if r.Level != score.Capped { // which speaks of the next
			v.Reason = r.Words("en")
			break
		}
	}
	if v.Good = calibrated.Value >= *s.Least; v.Good {
		return v
	}
	return a.next(p, s, t, v)
}

// retries returns how often a step of a plan is tried again.
func (a *Agent) retries(p *workflow.Plan) int {
	if p.Retries != nil {
		return *p.Retries
	}
	return a.Config.MaxRetries
}

// firstWait is how long to wait before a failed call is tried a second time, as in the agent that
// makes no plans.
const firstWait = 50 * time.Millisecond

// backoff returns how long to wait before attempt n+1.
func (c *Config) backoff(n int) time.Duration {
	wait := float64(firstWait) * math.Pow(c.BackoffFactor, float64(n-1))
	return min(time.Duration(wait), c.MaxDelay)
}

// next chooses the next attempt after a doubtful or refused one, each after a longer pause: the same
// call once more, then the broader one of the palette, then the simpler one. Where the palette has no
// others, a model and a tool are asked again: a tool until an answer comes a second time. A name that
// is not known stays so: whoever asked has to say what they mean. An answer that says nothing is for
// nobody to accept.
func (a *Agent) next(p *workflow.Plan, s *workflow.Step, t *workflow.Attempt, v workflow.Verdict) workflow.Verdict {
	answered := t.Outcome == workflow.OK
	if answered && found(v.Factors, score.Unknown) {
		return v
	}
	rungs := []*dsl.Call{&s.Call}
	if s.Verb != nil {
		rungs = append(append(rungs, instead(s.Verb.Broader, &s.Call)...), instead(s.Verb.Simpler, &s.Call)...)
	}
	at := 0
	for i, rung := range rungs {
		if sameCall(rung, &t.Call) {
			at = i
		}
	}
	v.Again, v.Wait = t.Number <= a.retries(p), a.Config.backoff(t.Number)
	switch last := at == len(rungs)-1; {
	case v.Again && answered && at == 0 && !slices.ContainsFunc(s.Attempts, func(before *workflow.Attempt) bool { return sameCall(&before.Call, &t.Call) }):
	case v.Again && !last:
		v.Next = rungs[at+1]
	case v.Again && answered && (asksModel(s) || s.Verb != nil && s.Verb.Tool != nil && !repeats(s, t)):
		v.Next = asTried(s, t)
	default:
		v.Again, v.Wait = false, 0
		v.Ask = a.Config.Override && answered && (!found(v.Factors, score.NoAnswer) || slices.ContainsFunc(s.Attempts, func(before *workflow.Attempt) bool {
			return before.Verdict.Score != nil && !found(before.Verdict.Factors, score.NoAnswer)
		}))
	}
	return v
}

// found reports whether a level is among the factors of a score.
func found(factors json.RawMessage, l score.Level) bool {
	return strings.Contains(string(factors), fmt.Sprintf(`"level":%q`, l))
}

// unclear reports whether a result says that something is not known, or may be one of several.
func unclear(res *receipt.Result) bool {
	end := -1
	if res != nil {
		end = slices.Index(res.Columns, endColumn)
	}
	return end >= 0 && slices.ContainsFunc(res.Rows, func(row []stores.Value) bool { return row[end].IsNull() })
}

func sameCall(a, b *dsl.Call) bool { return dsl.FormatCall(a) == dsl.FormatCall(b) }

// asTried returns the call of an attempt for the next one; nil if it is the step's own call.
func asTried(s *workflow.Step, t *workflow.Attempt) *dsl.Call {
	if sameCall(&t.Call, &s.Call) {
		return nil
	}
	return &t.Call
}

// asksModel reports whether a step asks a model, which answers otherwise each time.
func asksModel(s *workflow.Step) bool {
	tool := ToolOf(s.Verb)
	return tool == score.TextCompletion || tool == score.Prompt
}

// repeats reports whether an attempt got the same answer as an earlier one.
func repeats(s *workflow.Step, t *workflow.Attempt) bool {
	return slices.ContainsFunc(s.Attempts, func(before *workflow.Attempt) bool {
		return before.Number < t.Number && before.Result() != nil && t.Result() != nil && sameCall(&before.Call, &t.Call) &&
			workflow.Text(before.Result(), math.MaxInt32) == workflow.Text(t.Result(), math.MaxInt32)
	})
}

// instead returns the call that a palette declares in place of another, with its arguments.
// Arguments that were left out stay left out.
func instead(m *verbs.Macro, of *dsl.Call) []*dsl.Call {
	if m == nil {
		return nil
	}
	given := map[string]dsl.Value{}
	for _, arg := range of.Args {
		given[arg.Key] = arg.Value
	}
	call := m.Script.Calls[0]
	var args []dsl.Arg
	for _, arg := range call.Args {
		if arg.Value.Kind == dsl.Symbol {
			v, ok := given[strings.ReplaceAll(arg.Value.Text, "_", "-")]
			if !ok {
				continue
			}
			arg.Value = v
		}
		args = append(args, arg)
	}
	call.Args, call.As = args, of.As
	return []*dsl.Call{&call}
}

// measure computes the factors that can be counted in an answer.
func (a *Agent) measure(p *workflow.Plan, s *workflow.Step, t *workflow.Attempt) []score.Factor {
	tries := t.Number
	for _, at := range append(slices.Clone(s.Attempts), t) {
		if repeats(s, at) {
			tries-- // the same answer to the same call is no further chance
		}
	}
	of := []score.Factor{score.Attempts(tries), a.agreed(s)}
	res := t.Result()
	asked := values.NamesIn(p.Question)
	// What was given is what it was made of, and not what was left out on the way.
	given := []string{p.Question}
	for _, arg := range t.Made.Args {
		if arg.Value.Kind == dsl.String {
			given = append(given, arg.Value.Text)
		}
	}
	if s.Verb != nil && s.Verb.Simpler != nil && !asksModel(s) && t.Made.Verb != s.Verb.Name && sameCall(instead(s.Verb.Simpler, &s.Call)[0], &t.Call) {
		of = append(of, score.Question())
	}
	text := score.Text{Answer: plain(res), Question: p.Question, Given: given, Refused: values.SaysNothing(plain(res), given), CutOff: values.Unended(plain(res))}
	if asksModel(s) {
		var others []string
		for _, before := range s.Attempts {
			if r := before.Result(); r != nil && sameCall(&before.Call, &t.Call) {
				others = append(others, plain(r))
			}
		}
		return append(of, score.Coherence(text), score.Grounding(text), score.Agreement(text.Answer, others))
	}
	if res == nil {
		return of
	}
	end, states := slices.Index(res.Columns, endColumn), -1
	if v := s.Verb.Tool; v != nil && len(v.Columns) > 0 {
		states = slices.Index(res.Columns, statedColumn)
	} else if v != nil && len(res.Rows) > 0 {
		of = append(of, score.Coherence(text))
	}
	ends, answers, filled, wanted, texts := 0, 0, 0, 0, []string{}
	for _, row := range res.Rows {
		texts = append(texts, textOf(res, row))
		switch {
		case end >= 0 && row[end].IsNull():
			continue
		case end >= 0 && row[end].Kind() == stores.Bool && row[end].Bool():
			ends++
			continue
		}
		says := false
		for j, v := range row {
			if j == states && !v.IsNull() {
				f, err := strconv.ParseFloat(v.Text(), 64)
				if err != nil {
					f = math.NaN()
				}
				of = append(of, score.Stated(f))
			}
			if j == end || j == states {
				continue
			}
			wanted++
			withheld := res.Sensitive != nil && res.Sensitive[j]
			if empty := v.IsNull() || s.Verb.Tool != nil && len(s.Verb.Tool.Columns) > 0 && v.Kind() == stores.String && values.Abstains(v.Text()); !empty {
				if says = true; !withheld {
					filled++
				}
			}
			if s.Verb.Tool != nil && another(t, res.Columns[j], v) {
				of = append(of, score.Names(score.Elsewhere))
			}
		}
		if says {
			answers++
		}
	}
	required := 0
	for i := range s.Verb.Params {
		if s.Verb.Params[i].Required {
			required++
		}
	}
	of = append(of, score.ResultSize(score.Rows{Found: answers, EndsExist: ends > 0 && ends >= required, Unclear: unclear(res)}))
	if wanted > 0 {
		of = append(of, score.Completeness(filled, wanted), score.SchemaConsistency(wanted, wanted))
	}
	// The answer is compared with the names that this step searched for: a step need not cover
	// the whole question. A value that another step found counts as searched for.
	mine := passedOn(t)
	for _, name := range asked {
		for _, arg := range t.Made.Args {
			if arg.Value.Kind == dsl.String && strings.Contains(strings.ToLower(arg.Value.Text), strings.ToLower(name)) {
				mine = append(mine, name)
				break
			}
		}
	}
	if len(texts) > 0 && len(mine) > 0 {
		of = append(of, score.EntityPrecision(mine, texts))
	}
	if answers > 0 && !slices.ContainsFunc(p.Steps, func(o *workflow.Step) bool { return slices.Contains(o.Needs, s) }) && nameless(p, t, asked, texts) {
		of = append(of, score.Names(score.Absent))
	}
	return of
}

// another reports whether a column of a tool's answer is called as an argument was, and names another.
func another(t *workflow.Attempt, column string, v stores.Value) bool {
	at := slices.IndexFunc(t.Made.Args, func(arg dsl.Arg) bool { return arg.Key == strings.ReplaceAll(column, "_", "-") })
	if at < 0 || t.Made.Args[at].Value.Kind != dsl.String || v.Kind() != stores.String || v.IsNull() {
		return false
	}
	asked, got := values.Plain(t.Made.Args[at].Value.Text), values.Plain(v.Text())
	return !strings.Contains(asked, got) && !strings.Contains(got, asked)
}

// nameless reports whether a question has names, and neither the calls of its plan nor an answer speaks
// of any of them. Where every noun has a capital, it is not known which are names.
func nameless(p *workflow.Plan, t *workflow.Attempt, asked, texts []string) bool {
	if l := values.Detect(p.Question); len(asked) == 0 || len(l) == 1 && l[0].Has(values.NounCapitals) {
		return false
	}
	all := []string{dsl.FormatCall(&t.Made), strings.Join(texts, " ")}
	for _, s := range p.Steps {
		all = append(all, dsl.FormatCall(&s.Call), plain(resultOf(s)))
	}
	said := values.Plain(strings.Join(all, " "))
	return !slices.ContainsFunc(asked, func(name string) bool {
		return slices.ContainsFunc(strings.Fields(name), func(word string) bool { return strings.Contains(said, values.Plain(word)) })
	})
}

// The parts of a search's result that are compared with the searched text: the number of the best
// rows, and the number of characters of each. A row below nearEnough is a doubtful hit.
const (
	bestFound  = 3
	mostText   = 2000
	nearEnough = 0.5
)

// near compares the result of a search by meaning with the searched text. There is no factor for
// other verbs, or if the embedding model does not answer: that counts neither for nor against.
func (a *Agent) near(ctx context.Context, t *workflow.Attempt) (f score.Factor) {
	v := a.Runner.Clerk.Registry.Verb(t.Made.Verb)
	res := t.Result()
	if v == nil || res == nil || v.Matching == nil || v.Read == nil || v.Read.Entity.Store.Search == nil || len(v.Read.Entity.Store.Search.Meaning) == 0 {
		return f
	}
	var wanted, found []string
	for _, arg := range t.Made.Args {
		if arg.Value.Kind == dsl.String {
			wanted = append(wanted, arg.Value.Text)
		}
	}
	for _, row := range res.Rows[:min(len(res.Rows), bestFound)] {
		text := []rune(textOf(res, row))
		found = append(found, string(text[:min(len(text), mostText)]))
	}
	hits, err := a.Runner.Clerk.Engine.Near(ctx, strings.Join(wanted, "\n"), found)
	if err != nil || len(hits) == 0 {
		return f
	}
	return score.VectorSimilarity(hits, nearEnough)
}

// statedColumn is the column in another server's answer that states the confidence in it.
const statedColumn = "confidence"

// agreed compares the answers that a step uses, if different servers were asked the same: the
// factor is the share of the other answers that agree with the most common one. A server's stated
// confidence is not part of its answer. There is no factor if no two servers were asked the same.
func (a *Agent) agreed(s *workflow.Step) (best score.Factor) {
	type asked struct{ server, what, says string }
	var all []asked
	for _, n := range s.Needs {
		call, res := n.Asked(), resultOf(n) // a retry may have asked another server
		verb := a.Runner.Clerk.Registry.Verb(call.Verb)
		if verb == nil || verb.Tool == nil || len(verb.Tool.Columns) == 0 || res == nil {
			continue
		}
		told := *res
		told.Sensitive = make([]bool, len(res.Columns))
		for i, name := range res.Columns {
			told.Sensitive[i] = name == statedColumn || res.Sensitive != nil && res.Sensitive[i]
		}
		call.Verb, call.As = "x.x", ""
		all = append(all, asked{verb.Tool.Server, dsl.FormatCall(&call) + strings.Join(res.Columns, " "), plain(&told)})
	}
	for _, one := range all {
		var others []string
		for _, other := range all {
			if other.server != one.server && other.what == one.what {
				others = append(others, other.says)
			}
		}
		if f := score.Agreement(one.says, others); f.Measure != "" && (best.Measure == "" || f.Value > best.Value) {
			best = f
		}
	}
	return best
}

// passedOn returns the texts in the arguments of an attempt that are values of another step's answer.
func passedOn(t *workflow.Attempt) (texts []string) {
	for i := range t.Made.Args {
		v := &t.Made.Args[i].Value
		if v.Kind == dsl.String && len(v.Text) <= longestName && i < len(t.Call.Args) && t.Call.Args[i].Value.Kind == dsl.Symbol && strings.Contains(t.Call.Args[i].Value.Text, ".") {
			texts = append(texts, v.Text)
		}
	}
	return texts
}

// longestName is the greatest length of a text that counts as a name.
const longestName = 200

// resultOf returns the result of a step; nil if it has none.
func resultOf(s *workflow.Step) *receipt.Result {
	if r := s.Answer(); r != nil && len(r.Calls) > 0 {
		return r.Calls[0].Result
	}
	return nil
}

// plain returns the text of an answer.
func plain(res *receipt.Result) string {
	if res == nil || len(res.Rows) == 0 {
		return ""
	}
	return workflow.Text(res, math.MaxInt32)
}

func textOf(res *receipt.Result, row []stores.Value) string {
	return workflow.Text(&receipt.Result{Columns: res.Columns, Sensitive: res.Sensitive, Rows: [][]stores.Value{row}}, math.MaxInt32)
}
