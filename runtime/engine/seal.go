package engine

import (
	"crypto/sha256"
	"slices"

	"verbatim/runtime/internal/digest"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A digester hashes a plan, and the rows that it depends on.
type digester struct{ digest.Writer }

// sealIn hashes the verb and the resolved arguments of a call, in a buffer that is reused.
func (st *step) sealIn(b *[]byte) [32]byte {
	d := digester{digest.Writer{B: (*b)[:0]}}
	d.Text(st.verb.Name)
	d.Values(st.args.values)
	d.origins(st.args.from)
	*b = d.B
	return sha256.Sum256(d.B)
}

// finish computes the digest of the plan: the principal, the palettes, the changes, and the
// rows that they depend on. Generated keys and instants that move with the clock are replaced
// by descriptions, so that two previews of the same plan are equal.
func (r *run) finish() {
	d := digester{digest.Writer{Alias: r.src.mem.alias, Into: sha256.New()}}
	d.Text("verbatim preview 1")
	d.Text(r.src.e.reg.Digest())
	d.Text(r.src.s.who.Name)
	d.Value(r.src.s.kept) // what was shown in one session is not agreed to in another
	d.Number(len(r.src.s.rights.roles))
	for _, role := range r.src.s.rights.roles {
		d.Text(role.Name)
	}
	d.Number(len(r.plan.steps))
	for i := range r.plan.told {
		d.B = r.plan.told[i].AppendDigest(d.B, d.Alias)
		d.Spill()
	}
	for _, st := range r.plan.steps {
		d.step(st)
		d.Spill()
	}
	d.readSet(r.src.mem.reads)
	d.Into.Write(d.B)
	d.Into.Sum(r.plan.digest[:0])
	r.plan.id = receipt.NewID(r.plan.digest[:16])
}

// step hashes what a call depends on and its receipt does not hold.
func (d *digester) step(st *step) {
	d.Text(st.call.text)
	d.Number(len(st.args.values))
	for i, v := range st.args.values {
		d.of(st.verb.Params[i].Type, v)
	}
	d.origins(st.args.from)
	d.Number(len(st.out.notices))
	for _, n := range st.out.notices {
		d.Number(len(n.values))
		for i, v := range n.values {
			if n.effect != nil && i < len(n.effect.With) && n.effect.With[i].Of != nil {
				d.Key(n.effect.With[i].Of.Store.Name, v)
			} else {
				d.Value(v)
			}
		}
		d.origins(n.came)
		d.instead(n.instead)
	}
	if e := st.external; e != nil {
		d.Text(e.spec.Digest)
	}
}

// of hashes a value of a type; the type says whether it is the key of a row.
func (d *digester) of(t *verbs.Type, v stores.Value) {
	if t != nil && t.Name == verbs.RefType && t.Entity != nil {
		d.Key(t.Entity.Store.Name, v)
		return
	}
	d.Value(v)
}

// fieldOf hashes a value that was read along a path.
func (d *digester) fieldOf(e *stores.Entity, p stores.Path, v stores.Value) {
	for _, s := range p.Steps {
		e = s.To
	}
	switch {
	case e == nil || p.Count != nil || p.Marks || p.Field >= len(e.Fields):
		d.Value(v)
	case p.Field == e.Key:
		d.Key(e.Name, v)
	case e.Fields[p.Field].Ref != nil:
		d.Key(e.Fields[p.Field].Ref.Name, v)
	default:
		d.Value(v)
	}
}

// readSet hashes the rows that a plan depends on.
func (d *digester) readSet(rows []readRow) {
	d.Number(len(rows))
	for _, s := range rows {
		if s.entity == nil {
			d.Value(s.key)
			d.Values(s.values)
		} else {
			d.Text(s.entity.Name)
			d.Key(s.entity.Name, s.key)
			d.Number(len(s.values))
			for i, v := range s.values {
				p := stores.Path{Field: i}
				if i < len(s.paths) {
					p = s.paths[i]
				}
				d.fieldOf(s.entity, p, v)
			}
		}
		d.Number(len(s.marks))
		for _, m := range s.marks {
			d.Number(m.Field)
			d.Text(m.Origin)
		}
		d.Spill()
	}
}

// origins hashes the origins of values.
func (d *digester) origins(origins []verbs.Origin) {
	for _, o := range origins {
		d.origin(o)
	}
}

func (d *digester) origin(o verbs.Origin) {
	d.Number(int(o.Kinds()))
	d.Text(o.Sources())
}

// instead hashes the jobs that a job replaces, if there are any.
func (d *digester) instead(jobs []stores.JobRecord) {
	if len(jobs) == 0 {
		return
	}
	d.Text("instead")
	d.Number(len(jobs))
	for i := range jobs {
		d.Text(jobs[i].ID)
	}
}

// unitDigest returns the digest of some calls of a plan: what they would do, and the rows that they
// depend on, after the earlier calls.
func (r *run) unitDigest(calls []int) [32]byte {
	d := digester{digest.Writer{Alias: r.src.mem.alias}}
	d.Text("verbatim call 1")
	d.Text(r.src.e.reg.Digest())
	d.Text(r.src.s.who.Name)
	for i, st := range r.written() {
		if slices.Contains(calls, st.call.index) {
			d.B = r.plan.told[i].AppendDigest(d.B, d.Alias)
		}
	}
	for _, st := range r.plan.steps {
		if slices.Contains(calls, st.call.index) {
			d.step(st)
		}
	}
	for _, i := range calls {
		if st := r.plan.top[i]; st != nil {
			d.readSet(r.src.mem.reads[st.reads.from:st.reads.to])
		}
	}
	return sha256.Sum256(d.B)
}
