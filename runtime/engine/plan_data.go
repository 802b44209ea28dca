package engine

import (
	"cmp"
	"fmt"
	"strings"

	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A Plan says what a program would do, and what that rests on, to a developer who prints it. It holds
// keys of rows, and no sensitive value. The person who is asked gets a receipt.Receipt.
type Plan struct {
	Program *verbs.Program
	Steps   []Step // every call that would be made, those of macros behind the call that makes them
	ID      string // of the digest; "" if the plan ends at a tool that has to be asked first
	Digest  [32]byte
	Waits   string // the tool that it waits for, "order of desk"
}

// A Step is one call of a Plan.
type Step struct {
	Call     string   // canonical, sensitive values withheld
	Depth    int      // how many macros it stands in
	Origins  string   // see receipt.Call
	Promises []string // the effects of its verb that are due, as the palette words them
	Asks     []receipt.Ask
	Reads    []string // the rows that it rests on: "item 21"
	Does     []string // "updates item 21 :status", "notify bank", "sets active"
}

func (p *plan) data() *Plan {
	all := &Plan{Program: p.prog, Steps: make([]Step, len(p.steps)), ID: p.id, Digest: p.digest}
	if e := cmp.Or(p.needs, p.external); e != nil {
		all.Waits = e.Name + " of " + e.Server
	}
	for i, st := range p.steps {
		all.Steps[i] = stepData(st)
	}
	return all
}

func stepData(st *step) Step {
	d := Step{Call: st.call.text, Depth: int(st.tree.depth), Origins: originsText(st)}
	for _, effect := range st.due {
		d.Promises = append(d.Promises, promiseText(effect))
	}
	for _, a := range st.asks {
		d.Asks = append(d.Asks, a.Ask)
	}
	for i := range st.reads {
		if e := st.reads[i].entity; e != nil {
			d.Reads = append(d.Reads, e.Name+" "+st.reads[i].key.String())
		}
	}
	for i := range st.out.changes {
		c := &st.out.changes[i]
		does := fmt.Sprintf("%ss %s %s", opNames[c.Op], c.Entity.Name, c.Key)
		for _, a := range c.Set {
			does += " :" + c.Entity.Fields[a.Field].Name
		}
		d.Does = append(d.Does, does)
	}
	for i := range st.out.notices {
		d.Does = append(d.Does, st.out.notices[i].kind+" "+st.out.notices[i].target)
	}
	for _, a := range st.out.sets {
		d.Does = append(d.Does, "sets "+a.name)
	}
	return d
}

// String prints the plan, a step a line.
func (p *Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "plan %s of %d calls", cmp.Or(p.ID, "without a digest"), len(p.Steps))
	if p.Waits != "" {
		b.WriteString(", waits for " + p.Waits)
	}
	for i := range p.Steps {
		b.WriteString("\n  " + p.Steps[i].String())
	}
	return b.String()
}

// String prints the step.
func (st *Step) String() string {
	parts := []string{strings.Repeat("  ", st.Depth) + st.Call}
	if st.Origins != "" {
		parts = append(parts, "from "+st.Origins)
	}
	if len(st.Promises) > 0 {
		parts = append(parts, "promises "+strings.Join(st.Promises, ", "))
	}
	for _, a := range st.Asks {
		parts = append(parts, "asks "+cmp.Or(a.By, "the caller")+": "+a.Reason)
	}
	for _, row := range st.Reads {
		parts = append(parts, "reads "+row)
	}
	return strings.Join(append(parts, st.Does...), "; ")
}
