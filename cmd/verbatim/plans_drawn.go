package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/domains/confidence"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/portal"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/runtime/jobs/workflow"
	"verbatim/stores"
	"verbatim/verbs"
)

// Drawings of plans for pages: steps as a graph, the attempts of a step, and the calibration of a
// tool's scores.

// draws implements portal.Draws.
func (p *planning) draws(ctx context.Context, s *engine.Session, entity string, key stores.Value, l values.Language) ([]portal.Drawing, error) {
	if p == nil {
		return nil, nil
	}
	switch entity {
	case "plan":
		of, err := p.runner.Load(ctx, key)
		if err != nil || of == nil {
			return nil, err
		}
		return []portal.Drawing{drawnPlan(of, "", oversees(s), l)}, nil
	case "plan-step":
		row, err := p.runner.Clerk.Get(ctx, "plan-step", key)
		if err != nil || row == nil {
			return nil, err
		}
		of, err := p.runner.Load(ctx, row.Value("plan"))
		if err != nil || of == nil {
			return nil, err
		}
		tried, err := p.drawnAttempts(ctx, row.Text("name"), key, l)
		return append([]portal.Drawing{drawnPlan(of, row.Text("name"), oversees(s), l)}, tried...), err
	case "confidence-threshold":
		row, err := p.runner.Clerk.Get(ctx, entity, key)
		if err != nil || row == nil {
			return nil, err
		}
		return p.drawnReliability(ctx, row.Text("tool"), l), nil
	}
	return nil, nil
}

// oversees reports whether a principal may see confidence figures.
func oversees(s *engine.Session) bool {
	return slices.ContainsFunc(s.Roles(), func(r *verbs.Role) bool { return r.Name == "plan-overseer" })
}

var tones = map[string]string{"DONE": "done", "WAITING": "wait", "DOUBTFUL": "wait", "FAILED": "bad", "SKIPPED": "left"}

func say(l values.Language, key string, of ...string) string { return values.Key(key).In(l, of...) }

func drawnPlan(p *workflow.Plan, named string, figures bool, l values.Language) portal.Drawing {
	d := portal.Drawing{Title: say(l, "plans/steps"), Head: []string{say(l, "plans/step"), say(l, "plans/does"), say(l, "plans/state"), say(l, "plans/tries"), say(l, "plans/sure"), say(l, "plans/why")}, Moves: p.Status == "RUNNING"}
	done := 0
	for _, s := range p.Steps {
		if s.Status == "DONE" {
			done++
		}
		does, sure := s.Call.Verb, ""
		if s.Verb != nil {
			does = s.Verb.Description
		}
		if s.Score != nil && figures {
			sure = fmt.Sprintf("%.2f", *s.Score)
			if s.Least != nil {
				sure = say(l, "plans/needed", sure, fmt.Sprintf("%.2f", *s.Least))
			}
		} else if s.Score != nil {
			sure = confidence.Level(*s.Score)
		}
		state := strings.ToLower(s.Status)
		box := portal.Box{Tone: cmp.Or(tones[s.Status], "open"), Text: s.Name, Under: strings.TrimSuffix(state+", "+sure, ", ")}
		if s.Name == named {
			box.Text = "▸ " + s.Name
		}
		for i, o := range p.Steps {
			if slices.Contains(s.Needs, o) {
				box.From = append(box.From, i)
			}
		}
		d.Boxes = append(d.Boxes, box)
		d.Rows = append(d.Rows, []string{s.Name, does, state, strconv.Itoa(s.Tries), sure, s.Reason})
	}
	d.Says = say(l, "plans/done-of", strconv.Itoa(done), strconv.Itoa(len(p.Steps)))
	return d
}

// drawnAttempts draws the confidence of each attempt of a step.
func (p *planning) drawnAttempts(ctx context.Context, name string, step stores.Value, l values.Language) ([]portal.Drawing, error) {
	rows, err := p.runner.Clerk.All(ctx, "plan-attempt", map[string]stores.Value{"step": step})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return []portal.Drawing{drawnTries(name, rows, l)}, nil
}

func drawnTries(name string, rows []*serviceaccount.Row, l values.Language) portal.Drawing {
	d := portal.Drawing{Title: say(l, "plans/attempts", name), Says: say(l, "plans/attempted", strconv.Itoa(len(rows))), Legend: []string{say(l, "plans/sure")}, Head: []string{say(l, "plans/tries"), say(l, "plans/does"), say(l, "plans/state"), say(l, "plans/sure"), say(l, "plans/why")}}
	slices.SortFunc(rows, func(a, b *serviceaccount.Row) int {
		return cmp.Compare(a.Value("number").Int(), b.Value("number").Int())
	})
	for i, r := range rows {
		score, _ := strconv.ParseFloat(r.Text("score"), 64) // 0 if there is none
		d.Bars = append(d.Bars, portal.Bars{Text: strconv.Itoa(i + 1), A: score})
		why := confidence.Reasons(r.Text("factors"), l.String())
		d.Rows = append(d.Rows, []string{r.Text("number"), r.Text("call"), strings.ToLower(r.Text("outcome")), r.Text("score"), cmp.Or(strings.Join(why, " "), r.Text("reason"))})
	}
	return d
}

func (p *planning) drawnReliability(ctx context.Context, tool string, l values.Language) (all []portal.Drawing) {
	for _, r := range p.agent.Reliabilities(ctx) {
		if confidence.CodeOf(r.Tool) != tool {
			continue
		}
		all = append(all, drawnFigures(&r, l))
	}
	return all
}

func drawnFigures(r *confidence.Reliability, l values.Language) portal.Drawing {
	d := portal.Drawing{Title: say(l, "plans/reliable", string(r.Tool)), Legend: []string{say(l, "plans/sure"), say(l, "plans/right")}, Head: []string{say(l, "plans/bin"), say(l, "plans/sure"), say(l, "plans/right"), say(l, "plans/many")},
		Says: say(l, "plans/reliable-says", strconv.Itoa(r.Judged), fmt.Sprintf("%.3f", r.Before), fmt.Sprintf("%.3f", r.After))}
	if r.Alarm {
		d.Says += " " + say(l, "plans/alarm", strconv.Itoa(r.Alarmed))
	}
	for _, b := range r.Bins {
		d.Bars = append(d.Bars, portal.Bars{Text: fmt.Sprintf("%.1f", b.From), A: b.Score * math.Min(1, float64(b.Count)), B: b.Right * math.Min(1, float64(b.Count))})
		d.Rows = append(d.Rows, []string{fmt.Sprintf("%.1f–%.1f", b.From, b.To), fmt.Sprintf("%.2f", b.Score), fmt.Sprintf("%.2f", b.Right), strconv.Itoa(b.Count)})
	}
	return d
}
