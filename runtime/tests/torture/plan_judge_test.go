package torture

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
)

// An audit is what rows and journal say of plans. Nothing is believed that a process said.
type audit struct {
	verdict
	plans     map[string]*planTold // by title
	steps     map[string]*stepTold // by title/name
	attempts  int
	takenOver int
}

// planTold is a plan, as its row and the journal tell of it.
type planTold struct {
	status string
	steps  int
	ends   int // how often the journal tells that it ended
}

// stepTold is a step, as rows and the journal tell of it.
type stepTold struct {
	status   string
	tries    int
	decided  string
	items    []itemTold
	attempts []attemptTold
	// What the journal tells: the attempts in its order, the entries that left an item and
	// who agreed to them, the first and last entry of the work itself, when it was done,
	// and how often it ended, and somebody's decision ended its wait.
	noted       []attemptTold
	effects     []int64
	agreed      []string
	first, done int64
	ends        int
	decisions   int
}

type itemTold struct{ beside, words string }

type attemptTold struct {
	number         int64
	outcome, score string
}

// audited reads the rows and the journal, and carries the journal out to see whether it
// comes to the same rows.
func audited(ctx context.Context, o *office) (*audit, error) {
	a := &audit{plans: map[string]*planTold{}, steps: map[string]*stepTold{}}
	c := &o.runner.Clerk
	plans, steps := map[stores.Value]string{}, map[stores.Value]*stepTold{}
	all := func(entity string, fn func(r *serviceaccount.Row)) error {
		rows, err := c.All(ctx, entity, nil)
		for _, r := range rows {
			fn(r)
		}
		return err
	}
	items := map[stores.Value]string{}
	for _, err := range []error{
		all("plan", func(r *serviceaccount.Row) {
			plans[r.Key()] = r.Text("title")
			if a.plans[r.Text("title")] != nil {
				a.say("double: plan %s is there twice", r.Text("title"))
			}
			a.plans[r.Text("title")] = &planTold{status: r.Text("status")}
		}),
		all("plan-step", func(r *serviceaccount.Row) {
			title := plans[r.Value("plan")]
			s := &stepTold{status: r.Text("status"), tries: int(r.Value("tries").Int()), decided: r.Text("decided_by")}
			a.plans[title].steps++
			a.steps[title+"/"+r.Text("name")], steps[r.Key()] = s, s
		}),
		all("plan-attempt", func(r *serviceaccount.Row) {
			s := steps[r.Value("step")]
			s.attempts = append(s.attempts, attemptTold{r.Value("number").Int(), r.Text("outcome"), r.Text("score")})
			a.attempts++
		}),
		all("item", func(r *serviceaccount.Row) { items[r.Key()] = r.Text("text") }),
		all("item", func(r *serviceaccount.Row) {
			s := a.steps[r.Text("text")]
			if s == nil {
				a.say("double: nobody asked for the item %s", r.Text("text"))
				return
			}
			s.items = append(s.items, itemTold{items[r.Value("beside")], r.Text("words")})
		}),
	} {
		if err != nil {
			return nil, fmt.Errorf("rows: %w", err)
		}
	}
	if err := o.store.Seal(ctx); err != nil {
		return nil, err
	}
	if _, err := journal.Whole(ctx, o.store); err != nil {
		a.say("broken: %v", err)
	}
	var entities []*stores.Entity
	for _, e := range c.Registry.Entities() {
		entities = append(entities, e.Store)
	}
	state := journal.NewState(entities)
	for l, err := range journal.Opened(ctx, o.store, "verbatim", journal.Entries(ctx, o.store, 1, 0)) {
		if err != nil {
			return nil, fmt.Errorf("journal: %w", err)
		}
		record, err := l.Record()
		if err != nil {
			a.say("broken: entry %d: %v", l.Entry.Seq, err)
			continue
		}
		a.entries++
		state.Apply(l.Entry.Seq, &record)
		for i := range record.Rows {
			a.tells(&l.Entry, &record.Rows[i], plans, steps)
		}
	}
	if err := a.compared(ctx, state, o.store, "replayed"); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	dead, err := o.store.Jobs(ctx, stores.JobFilter{States: []stores.JobState{stores.JobDead}})
	for _, j := range dead {
		a.say("lost: a job is dead: %s %s %s", j.Kind, j.Note, j.Payload)
	}
	return a, err
}

// tells notes what one row of an entry tells.
func (a *audit) tells(e *stores.Entry, r *receipt.Row, plans map[stores.Value]string, steps map[stores.Value]*stepTold) {
	field := func(name string) (before, after stores.Value) {
		for i := range r.Fields {
			if f := &r.Fields[i]; f.Name == name {
				return f.Before.Value, f.After.Value
			}
		}
		return before, after
	}
	is := func(name string) stores.Value { _, v := field(name); return v }
	switch r.Entity {
	case "plan":
		if p := a.plans[plans[r.Key]]; p != nil && !is("ended_at").IsNull() {
			p.ends++
		}
		if was, by := field("held_by"); !was.IsNull() && !by.IsNull() && was != by {
			a.takenOver++
		}
	case "plan-step":
		s := steps[r.Key]
		was, now := field("status")
		if s == nil || now.IsNull() || now == was {
			return
		}
		switch now.Text() {
		case "DONE":
			s.done = e.Seq
			fallthrough
		case "FAILED", "SKIPPED":
			s.ends++
			if was := was.Text(); was == "WAITING" || was == "DOUBTFUL" {
				s.decisions++
			}
		}
	case "plan-attempt":
		s := steps[is("step")]
		if s == nil {
			a.say("broken: entry %d notes an attempt of no step", e.Seq)
			return
		}
		s.noted = append(s.noted, attemptTold{is("number").Int(), is("outcome").Text(), is("score").Text()})
		s.worked(e.Seq)
	case "item":
		if s := a.steps[is("text").Text()]; s != nil && r.Op == receipt.Inserted {
			s.effects, s.agreed = append(s.effects, e.Seq), append(s.agreed, e.Agreed)
			s.worked(e.Seq)
		}
	}
}

func (s *stepTold) worked(seq int64) {
	if s.first == 0 {
		s.first = seq
	}
}

// held compares what is told with what was drawn.
func (a *audit) held(all []*drawn) {
	if len(a.plans) != len(all) {
		a.say("lost: there are %d plans, and %d were started", len(a.plans), len(all))
	}
	for _, d := range all {
		p := a.plans[d.title]
		switch {
		case p == nil:
			a.say("lost: plan %s is not there", d.title)
			continue
		case p.status != d.ends():
			a.say("broken: plan %s is %s, and is to be %s", d.title, p.status, d.ends())
		case p.ends != 1:
			a.say("double: plan %s ended %d times", d.title, p.ends)
		case p.steps != len(d.steps):
			a.say("half: plan %s has %d steps, and is to have %d", d.title, p.steps, len(d.steps))
		}
		for i := range d.steps {
			a.step(d, &d.steps[i])
		}
	}
}

func (a *audit) step(d *drawn, want *drawnStep) {
	name := d.title + "/" + want.name
	s := a.steps[name]
	if s == nil {
		a.say("lost: step %s is not there", name)
		return
	}
	if s.status != want.state {
		a.say("broken: step %s is %s, and is to be %s", name, s.status, want.state)
	}
	if s.ends != 1 {
		a.say("double: step %s ended %d times", name, s.ends)
	}
	// Its effect, once, with what it was to hold.
	effects := 0
	if want.writes() && want.state == "DONE" {
		effects = 1
	}
	if len(s.items) != effects || len(s.effects) != effects {
		a.say("double: step %s left %d items, and the journal tells of %d; it is to leave %d", name, len(s.items), len(s.effects), effects)
	}
	for _, item := range s.items {
		if item.beside != want.beside || want.known && item.words != want.words {
			a.say("broken: step %s left an item beside %q with %q, and not beside %q with %q", name, item.beside, item.words, want.beside, want.words)
		}
	}
	// What waited was decided once, by whom it waited for.
	if want.state == "DONE" {
		switch decided := strings.Join(s.agreed, "; "); {
		case want.kind() == signs && (decided != "chief, role chief" || s.decisions > 1):
			a.say("broken: step %s was agreed to by %q and decided %d times", name, decided, s.decisions)
		case want.kind() == doubts && (s.decided != "overseer" || s.decisions != 1):
			a.say("broken: step %s was accepted by %q and decided %d times", name, s.decided, s.decisions)
		case want.kind() != signs && want.kind() != doubts && s.decisions > 0:
			a.say("broken: step %s was decided, and waited for nobody", name)
		}
	}
	// Its attempts: one number after the other, and the same in rows and journal.
	slices.SortFunc(s.attempts, func(a, b attemptTold) int { return int(a.number - b.number) })
	if !slices.Equal(s.attempts, s.noted) {
		a.say("broken: step %s has the attempts %v, and the journal tells %v", name, s.attempts, s.noted)
	}
	for i, at := range s.attempts {
		if at.number != int64(i+1) {
			a.say("broken: attempt %d of step %s is number %d", i+1, name, at.number)
		}
	}
	if len(s.attempts) != s.tries || (s.tries == 0) != (want.state == "SKIPPED") {
		a.say("broken: step %s is %s after %d tries, and has %d attempts", name, s.status, s.tries, len(s.attempts))
	}
	if want.kind() == odd && want.state == "DONE" && (len(s.attempts) < 2 || s.attempts[len(s.attempts)-1].score != "0.8000") {
		a.say("broken: step %s will do with the attempts %v", name, s.attempts)
	}
	// Everything of it comes after what it needs.
	for _, need := range want.needs {
		if of := a.steps[d.title+"/"+need]; of != nil && s.first > 0 && (of.done == 0 || of.done > s.first) {
			a.say("broken: step %s was at work at entry %d, and @%s, which it needs, was done at entry %d", name, s.first, need, of.done)
		}
	}
}
