package confidence

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/runtime/jobs/workflow"
	"verbatim/stores/receipt"
)

// A Proposal is a template that an operator may add to the configuration: a plan that answered
// questions of one shape without any doubtful answer.
type Proposal struct {
	Template Template
	Plans    int // plans of this form
	Askers   int
	Others   int // plans for questions of the shape that had another form, or a doubtful answer
}

// mostLooked is the number of plans of a shape that are looked at, the latest ones.
const mostLooked = 50

// Proposals returns the templates that plans since a time suggest, for a principal who may read the
// journal. It leaves out questions that were asked less often than least, and those that a template
// answers already.
func (a *Agent) Proposals(ctx context.Context, s *engine.Session, since time.Time, least int) ([]Proposal, error) {
	if err := s.Journal().Reads(ctx); err != nil {
		return nil, err
	}
	rows, err := a.Runner.Clerk.All(ctx, "plan", nil)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(rows, func(x, y *serviceaccount.Row) int {
		return y.Value("created_at").Time().Compare(x.Value("created_at").Time())
	})
	shapes := map[string][]*serviceaccount.Row{}
	var order []string
	for _, r := range rows {
		question, ended := cmp.Or(r.Text("question"), r.Text("title")), r.Value("ended_at")
		if ended.IsNull() || r.Value("created_at").Time().Before(since) || slices.ContainsFunc(a.Config.Templates, func(t Template) bool { return t.plan(question) != "" }) {
			continue
		}
		text := shapeOf(question).text
		if shapes[text] == nil {
			order = append(order, text)
		}
		shapes[text] = append(shapes[text], r)
	}
	slices.Sort(order)
	var all []Proposal
	for _, text := range order {
		if len(shapes[text]) < least {
			continue
		}
		p, err := a.proposal(ctx, shapes[text][:min(mostLooked, len(shapes[text]))])
		if err != nil {
			return nil, err
		}
		if p.Plans < least {
			continue
		}
		p.Template.Name = fmt.Sprintf("proposed-%d", len(all)+1)
		all = append(all, p)
	}
	return all, nil
}

// proposal returns the most common form of the plans for questions of one shape.
func (a *Agent) proposal(ctx context.Context, rows []*serviceaccount.Row) (best Proposal, err error) {
	type way struct {
		Proposal
		askers map[string]bool
	}
	ways := map[string]*way{}
	for _, r := range rows {
		p, err := a.Runner.Load(ctx, r.Key())
		if err != nil {
			return best, err
		}
		if p == nil || !smooth(p) {
			continue
		}
		shape := shapeOf(p.Question)
		steps := shape.empty(script(p))
		if steps == "" {
			continue
		}
		if ways[steps] == nil {
			t, ok := shape.template(steps)
			if !ok || t.plan(p.Question) != script(p) {
				continue // it would not make the plan that it is made of
			}
			ways[steps] = &way{Proposal{Template: t}, map[string]bool{}}
		}
		w := ways[steps]
		w.Plans++
		w.askers[p.Owner] = true
		w.Askers = len(w.askers)
		if w.Plans > best.Plans {
			best = w.Proposal
		}
	}
	best.Others = len(rows) - best.Plans
	return best, nil
}

// smooth reports whether all steps of a plan were made without a doubtful answer, and none names a
// row.
func smooth(p *workflow.Plan) bool {
	var calls []dsl.Call
	for _, s := range p.Steps {
		if s.Status != "DONE" || s.DecidedBy != "" {
			return false
		}
		calls = append(calls, s.Call)
	}
	return len(calls) > 0 && !namesRows(calls)
}

// script returns the calls of a plan as a script.
func script(p *workflow.Plan) string {
	var b strings.Builder
	for _, s := range p.Steps {
		b.WriteString(dsl.FormatCall(&s.Call) + "\n")
	}
	return b.String()
}

// template makes a template for questions of the shape from a plan with places for names.
func (s shape) template(steps string) (Template, bool) {
	asks := s.text
	for i := range s.names {
		asks = strings.ReplaceAll(asks, fmt.Sprintf("{%d}", i+1), fmt.Sprintf("{name%d}", i+1))
		steps = strings.ReplaceAll(steps, fmt.Sprintf("\x00%d\x00", i+1), fmt.Sprintf(`"{name%d}"`, i+1))
	}
	t := Template{Name: "proposed", Asks: []string{asks}, Steps: steps}
	return t, t.prepare() == nil
}

// Templates writes proposals as the configuration has templates.
func Templates(all []Proposal) string {
	var b strings.Builder
	b.WriteString("templates:\n")
	for _, p := range all {
		asks, _ := yaml.Marshal(p.Template.Asks[0]) // of text
		fmt.Fprintf(&b, "  # %s of %s; %d others of this shape went otherwise, or did not do\n  - name: %s\n    asks:\n      - %s    steps: |\n", receipt.Counted(p.Plans, "plan"), receipt.Counted(p.Askers, "asker"), p.Others, p.Template.Name, asks)
		for line := range strings.Lines(p.Template.Steps) {
			b.WriteString("      " + line)
		}
	}
	return b.String()
}
