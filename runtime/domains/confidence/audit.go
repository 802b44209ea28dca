package confidence

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/workflow"
	"verbatim/stores"
	"verbatim/stores/journal"
)

// A Record is the audit record of a plan: the audit trail of TrustGraph's specification, section
// 6.2. It holds no value of an answer, unless the configuration includes raw outputs.
type Record struct {
	ExecutionID string `json:"execution_id"`
	Timestamp   string `json:"timestamp"`
	Request     struct {
		Question  string   `json:"question"`
		Threshold *float64 `json:"confidence_threshold"` // null of a plan that answers no question
	} `json:"request"`
	Plan struct {
		Steps []RecordStep `json:"steps"`
	} `json:"plan"`
	Execution       []RecordedStep `json:"execution"`
	FinalConfidence *float64       `json:"final_confidence"`
	TotalDurationMS int64          `json:"total_duration_ms"`
}

// A RecordStep is a step that was planned.
type RecordStep struct {
	ID        string   `json:"id"`
	Function  string   `json:"function"`
	Threshold *float64 `json:"confidence_threshold"` // null where any answer would do
}

// A RecordedStep is a step that was made, tried, or left out.
type RecordedStep struct {
	StepID     string   `json:"step_id"`
	Start      string   `json:"start_time"`
	End        string   `json:"end_time"`
	Score      *float64 `json:"confidence_score"`
	RetryCount int      `json:"retry_count"`
	Success    bool     `json:"success"`
	Output     string   `json:"output,omitempty"`
}

// A told is a row as the journal records it: the last value of each field.
type told map[string]json.RawMessage

func (t told) text(field string) string {
	var s string
	_ = json.Unmarshal(t[field], &s) // "" if it is no text
	return s
}

func (t told) number(field string) *float64 {
	var n json.Number
	if len(t[field]) == 0 || json.Unmarshal(t[field], &n) != nil || n == "" {
		return nil
	}
	f, err := n.Float64()
	if err != nil {
		return nil
	}
	return &f
}

// ErrDiffers says that rows of a plan differ from the journal.
var ErrDiffers = errors.New("the rows of the plan are not what the journal tells of them")

// Audit reads the record of a plan from the journal, by its ID or by a name such as @ends, for a
// principal who may read the journal, and compares it with the plan's rows. The question and the
// functions, to which the journal only holds commitments, are taken from the rows.
func (a *Agent) Audit(ctx context.Context, s *engine.Session, id string) (*Record, error) {
	if err := s.Journal().Reads(ctx); err != nil {
		return nil, err
	}
	c := &a.Runner.Clerk
	e := c.Registry.Entity("plan").Store
	key, ok := stores.Parse(e.Fields[e.Key].Kind, strings.TrimPrefix(id, statePrefix))
	if !ok {
		d, err := c.Session(ctx)
		if err == nil {
			_, key, err = d.Names().Find(ctx, "plan "+id)
		}
		if errors.Is(err, stores.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	row, err := c.Get(ctx, "plan", key)
	if err != nil || row == nil {
		return nil, err
	}
	p, err := a.Runner.Answered(ctx, key)
	if err != nil {
		return nil, err
	}
	rows, err := a.tells(ctx, p, row.Value("created_at").Time())
	if err != nil {
		return nil, err
	}
	of := rows[key.Text()]
	r := &Record{ExecutionID: key.Text(), Timestamp: of.text("created_at"), Execution: []RecordedStep{}}
	r.Request.Question, r.Request.Threshold, r.Plan.Steps = a.Sanitize(p.Question), of.number("threshold"), []RecordStep{}
	for _, step := range p.Steps {
		t := rows[step.Key.Text()]
		if t == nil || t.text("status") != step.Status || count(t) != step.Tries || !same(t.number("score"), step.Score) {
			return nil, fmt.Errorf("%w: step %s", ErrDiffers, step.Name)
		}
		r.Plan.Steps = append(r.Plan.Steps, RecordStep{t.text("name"), string(ToolOf(step.Verb)), t.number("least")})
		if n := count(t); n > 0 || step.Status == "SKIPPED" {
			one := RecordedStep{StepID: t.text("name"), Start: cmp.Or(t.text("started_at"), t.text("ended_at")), End: t.text("ended_at"), Score: t.number("score"), RetryCount: max(0, n-1), Success: t.text("status") == "DONE"}
			if a.Config.Audit.Raw && one.Success {
				one.Output = workflow.Text(resultOf(step), a.Config.Context)
			}
			r.Execution = append(r.Execution, one)
		}
	}
	if p.Status == "DONE" { // otherwise there is no answer
		r.FinalConfidence = Overall(p)
	}
	slices.SortStableFunc(r.Execution, func(x, y RecordedStep) int { return strings.Compare(x.Start, y.Start) })
	from, err1 := time.Parse(time.RFC3339Nano, of.text("started_at"))
	to, err2 := time.Parse(time.RFC3339Nano, of.text("ended_at"))
	if err2 != nil { // it has taken so long until now
		to = a.Clock()
	}
	if err1 == nil {
		r.TotalDurationMS = to.Sub(from).Milliseconds()
	}
	return r, nil
}

func count(t told) int {
	if n := t.number("tries"); n != nil {
		return int(*n)
	}
	return 0
}

func same(a, b *float64) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

// tells reads the journal's records of the rows of a plan, since it was drafted.
func (a *Agent) tells(ctx context.Context, p *workflow.Plan, from time.Time) (map[string]told, error) {
	rows := map[string]told{p.Key.Text(): {}}
	for _, s := range p.Steps {
		rows[s.Key.Text()] = told{}
	}
	err := a.Runner.Clerk.Store.Seal(ctx) // so that the plan's last entries have places
	if err != nil {
		return nil, err
	}
	first, err := journal.EntryAt(ctx, a.Runner.Clerk.Store, from)
	if err != nil {
		return nil, err
	}
	for entry, err := range journal.Entries(ctx, a.Runner.Clerk.Store, first, 0) {
		if err != nil {
			return nil, err
		}
		if !strings.Contains(entry.Changes, `"plan.`) {
			continue
		}
		var changes []struct {
			Table, Key string
			Fields     []struct {
				Field string
				After json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(entry.Changes), &changes); err != nil {
			return nil, fmt.Errorf("entry %d of the journal cannot be read: %w", entry.Seq, err)
		}
		for _, c := range changes {
			t, mine := rows[c.Key]
			if !mine || c.Table != "plan.plans" && c.Table != "plan.steps" {
				continue
			}
			for _, f := range c.Fields {
				t[f.Field] = f.After
			}
		}
	}
	return rows, nil
}
