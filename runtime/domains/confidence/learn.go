package confidence

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/domains/confidence/score"
	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/stores"
	"verbatim/verbs/palettes"
)

// Source returns the text of the palette of thresholds and outcomes.
func Source() *dsl.Source {
	return dsl.NewSource("confidence.yaml", palettes.Text("confidence/confidence.yaml"))
}

// The entities of the palette.
const (
	thresholds = "confidence-threshold"
	outcomes   = "confidence-outcome"
)

// codes are the palette's codes of the tools.
var codes = map[score.Tool]string{score.GraphQuery: "GRAPH_QUERY", score.TextCompletion: "TEXT_COMPLETION", score.Prompt: "PROMPT", score.McpTool: "MCP_TOOL", score.KnowledgeQuery: "KNOWLEDGE_QUERY"}

// CodeOf returns the palette's code of a tool.
func CodeOf(t score.Tool) string { return codes[t] }

// Reasons returns the reasons of a score that was kept with an attempt, in a language.
func Reasons(factors, language string) (all []string) {
	var s Scored
	if json.Unmarshal([]byte(factors), &s) != nil {
		return nil
	}
	for _, f := range s.Factors {
		all = append(all, f.Reason.In(language))
	}
	return all
}

// Register brings what carries out those verbs of the palette that YAML cannot say.
func Register(h *engine.Handlers) {
	type assessArgs struct {
		Step  engine.Ref `verb:"step-id"`
		Right bool       `verb:"right"`
	}
	engine.Handle(h, "confidence.assess", func(ctx context.Context, c *engine.Call, a assessArgs) (o engine.Outcome, err error) {
		step, err := c.Get(ctx, a.Step)
		if err != nil {
			return o, err
		}
		number := step.Value("settled")
		if number.IsNull() {
			number = step.Value("tries")
		}
		rows, err := c.Find(ctx, "plan-attempt", engine.Fields{"step": a.Step, "number": number})
		if err != nil {
			return o, err
		}
		var of Scored
		if len(rows) == 0 || json.Unmarshal([]byte(rows[0].Value("factors").Text()), &of) != nil || codes[of.Tool] == "" {
			return o, engine.Refuse("it is not known what the score of this answer is made of", "assess another")
		}
		o.Changes = []engine.Edit{engine.Create(outcomes, engine.Fields{"step": a.Step, "tool": codes[of.Tool], "raw": decimal(of.Raw), "right": a.Right, "assessed_by": c.Principal(), "assessed_at": c.Now()})}
		return o, nil
	})
}

func decimal(f float64) stores.Value {
	v, _ := stores.ParseDecimal(strconv.FormatFloat(f, 'f', 4, 64))
	return v
}

// A known holds the records of the tools, read from the rows of the palette and again once a minute.
type known struct {
	at          time.Time
	calibrators map[score.Tool]score.Calibrator
	records     map[score.Tool]score.Record
	thresholds  map[score.Tool]float64
	history     map[score.Tool][]score.Outcome // ordered by the time of their assessment
	bounds      map[score.Tool]bounded
}

type bounded struct {
	row   *serviceaccount.Row
	value float64
	score.Bounds
}

const learnEvery = time.Minute

type learning struct {
	mu    sync.Mutex
	now   *known
	tried map[string]score.Record // by verb, how many of its latest attempts in this process gave an answer
}

// note counts an attempt of a verb. Older ones count less and less.
func (l *learning) note(verb string, answered bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.tried[verb]
	if r.Judged >= 2*score.MinOutcomes {
		r.Judged, r.Right = r.Judged/2, r.Right/2
	}
	if r.Judged++; answered {
		r.Right++
	}
	if l.tried == nil {
		l.tried = map[string]score.Record{}
	}
	l.tried[verb] = r
}

// worst returns the record of a tool, or that of the attempts of a verb if that is worse.
func (l *learning) worst(verb string, r score.Record) score.Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.tried[verb]; t.Judged >= score.MinOutcomes && (r.Judged < score.MinOutcomes || t.Right*r.Judged < r.Right*t.Judged) {
		return t
	}
	return r
}

// learned returns the records of the tools. If the store fails, it returns those last read.
func (a *Agent) learned(ctx context.Context) *known {
	a.learns.mu.Lock()
	defer a.learns.mu.Unlock()
	if k := a.learns.now; k != nil && a.Clock().Sub(k.at) < learnEvery {
		return k
	}
	k, err := a.readLearned(ctx)
	if err != nil {
		if k = a.learns.now; k == nil {
			k = &known{}
		}
		return k
	}
	a.learns.now = k
	return k
}

// Forget lets the records of the tools be read again on the next use.
func (a *Agent) Forget() {
	a.learns.mu.Lock()
	defer a.learns.mu.Unlock()
	a.learns.now = nil
}

func (a *Agent) readLearned(ctx context.Context) (*known, error) {
	k := &known{at: a.Clock(), calibrators: map[score.Tool]score.Calibrator{}, records: map[score.Tool]score.Record{}, thresholds: map[score.Tool]float64{}, history: map[score.Tool][]score.Outcome{}, bounds: map[score.Tool]bounded{}}
	tool := func(code string) score.Tool {
		for t, c := range codes {
			if c == code {
				return t
			}
		}
		return score.McpTool
	}
	number := func(v stores.Value) float64 {
		f, _ := strconv.ParseFloat(v.Text(), 64) // a decimal of the palette
		return f
	}
	rows, err := a.Runner.Clerk.All(ctx, thresholds, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		t := tool(r.Text("tool"))
		b := bounded{row: r, value: number(r.Value("value")), Bounds: score.Bounds{Min: number(r.Value("least")), Max: number(r.Value("most")), Step: number(r.Value("step"))}}
		k.thresholds[t], k.bounds[t] = b.value, b
	}
	if rows, err = a.Runner.Clerk.All(ctx, outcomes, nil); err != nil {
		return nil, err
	}
	slices.SortStableFunc(rows, func(x, y *serviceaccount.Row) int {
		return x.Value("assessed_at").Time().Compare(y.Value("assessed_at").Time())
	})
	for _, r := range rows {
		t, o := tool(r.Text("tool")), score.Outcome{Score: number(r.Value("raw")), Right: r.Value("right").Bool()}
		k.history[t] = append(k.history[t], o)
		record := k.records[t]
		if record.Judged++; o.Right {
			record.Right++
		}
		k.records[t] = record
	}
	for t, all := range k.history {
		if k.calibrators[t], err = score.Fit(all); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (a *Agent) calibrator(ctx context.Context, t score.Tool) score.Calibrator {
	return a.learned(ctx).calibrators[t]
}

// A Reliability says how well the scores of a tool hold.
type Reliability struct {
	Tool    score.Tool
	Judged  int
	Before  float64 // the expected calibration error of the raw scores
	After   float64 // of the calibrated scores, on outcomes that were not used for the calibration
	Bins    []score.Bin
	Alarm   bool // its answers are right less often than before
	Alarmed int  // the number of its latest outcomes after which this showed; 0 without an alarm
}

// Reliabilities returns the reliability of each tool that has outcomes.
func (a *Agent) Reliabilities(ctx context.Context) []Reliability {
	k := a.learned(ctx)
	var all []Reliability
	for _, t := range allTools {
		h := k.history[t]
		if len(h) == 0 {
			continue
		}
		r := Reliability{Tool: t, Judged: len(h), Before: score.ExpectedCalibrationError(h)}
		// Every other outcome is held out of the calibration.
		var fit, held []score.Outcome
		for i, o := range h {
			if i%2 == 0 {
				fit = append(fit, o)
			} else {
				held = append(held, o)
			}
		}
		if c, err := score.Fit(fit); err == nil {
			for i := range held {
				held[i].Score = c.Calibrate(held[i].Score)
			}
		}
		r.After, r.Bins = score.ExpectedCalibrationError(held), score.Reliability(held)
		r.Alarm, r.Alarmed = drifted(h)
		all = append(all, r)
	}
	return all
}

// drifted reports whether the latest outcomes of a tool are right less often than the first ones,
// and after how many of them that showed.
func drifted(h []score.Outcome) (bool, int) {
	if len(h) < 2*score.MinOutcomes {
		return false, 0
	}
	right := 0
	first := h[:max(score.MinOutcomes, len(h)/2)]
	for _, o := range first {
		if o.Right {
			right++
		}
	}
	d := score.Drift{Expected: min(0.99, max(0.5, float64(right)/float64(len(first))))}
	for i, o := range h[len(first):] {
		var alarm bool
		if d, alarm = d.Add(o.Right); alarm {
			return true, i + 1
		}
	}
	return false, 0
}

// Adapt moves the thresholds that have bounds as their history suggests, each by at most one step,
// and returns the tools whose threshold moved.
func (a *Agent) Adapt(ctx context.Context) (moved []score.Tool, err error) {
	k, err := a.readLearned(ctx)
	if err != nil {
		return nil, err
	}
	d, err := a.Runner.Clerk.Session(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range allTools {
		b, ok := k.bounds[t]
		if !ok {
			continue
		}
		calibrated := slices.Clone(k.history[t])
		for i := range calibrated {
			calibrated[i].Score = k.calibrators[t].Calibrate(calibrated[i].Score)
		}
		next, why, err := score.Adapt(b.value, calibrated, b.Bounds)
		if err != nil {
			return moved, err
		}
		if decimal(next).Text() == decimal(b.value).Text() {
			continue
		}
		ref, err := a.Runner.Clerk.Ref(ctx, d, "threshold-id", thresholds, b.row.Key())
		if err != nil {
			return moved, err
		}
		if _, err := a.Runner.Clerk.Do(ctx, d, "", serviceaccount.Call("confidence.adapt", ref, dsl.NewArg("value", dsl.NewNumber(decimal(next).Text())), serviceaccount.Text("reason", why.In("en")))); err != nil {
			return moved, err
		}
		moved = append(moved, t)
	}
	a.Forget()
	return moved, nil
}
