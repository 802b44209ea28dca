package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A Mode decides which differences count, and whether anything is committed.
type Mode string

// The modes. Rows that a session added have other keys when it is replayed; a new key must replace
// one recorded key throughout, in every mode.
const (
	// Strict makes the calls and ends at the first difference.
	Strict Mode = "strict"
	// Relaxed makes them all. Times, ids and the order of rows may differ.
	Relaxed Mode = "relaxed"
	// Dry is Relaxed, and commits nothing: all calls are previewed as one script. Refused steps are
	// left out.
	Dry Mode = "dry"
)

// A Player replays the steps of a recording.
type Player struct {
	Session  *engine.Session // of the recorded principal, on the store of the replay
	Store    stores.Store
	Registry *verbs.Registry
	// As begins a session of a principal who agreed to a step.
	As func(ctx context.Context, name string) (*engine.Session, error)
	// At sets the engine's clock to the time of a step.
	At   func(time.Time)
	Mode Mode

	keys map[string]string // of rows that were added: as recorded, and now
	ends map[string]string // suffixes of their names, likewise
	// binds are the names of their calls' results, by those suffixes, in a dry run.
	binds map[string]string
}

// A Difference is a difference between the recording and the replay.
type Difference struct {
	Step  int    `json:"step"` // from 1
	Entry int64  `json:"entry"`
	Call  string `json:"call"`
	What  string `json:"what"` // "outcome", "call", "ticket.note", …
	Was   string `json:"was"`
	Is    string `json:"is"`
}

// Play replays the steps. It returns their differences, and an error if the system failed.
func (p *Player) Play(ctx context.Context, steps []Step) ([]Difference, error) {
	p.keys, p.ends = map[string]string{}, map[string]string{}
	if p.Mode == Dry {
		return p.dry(ctx, steps)
	}
	var all []Difference
	for i := range steps {
		found, err := p.step(ctx, i+1, &steps[i])
		if err != nil {
			return all, err
		}
		all = append(all, found...)
		if len(all) > 0 && p.Mode == Strict {
			return all[:1], nil
		}
	}
	return all, nil
}

// dry previews all calls that were made as one script.
func (p *Player) dry(ctx context.Context, steps []Step) ([]Difference, error) {
	whole := Step{Outcome: "ok"}
	p.binds = map[string]string{}
	for i := range steps {
		if steps[i].Outcome != "ok" {
			continue
		}
		whole.Time = steps[i].Time
		for j, c := range steps[i].Calls {
			whole.Calls = append(whole.Calls, p.bound(c, fmt.Sprintf("recorded-%d-%d", i+1, j+1)))
		}
	}
	if len(whole.Calls) == 0 {
		return nil, nil
	}
	return p.step(ctx, 1, &whole)
}

// bound returns a call with a name for its result, if it added one row: later calls of the script
// use this name, and not the one that the row would have.
func (p *Player) bound(c Call, as string) Call {
	script, _ := dsl.Parse(dsl.NewSource("", p.now(c.Text)))
	call := script.Calls[0]
	added := slices.DeleteFunc(slices.Clone(c.Changes), func(c Change) bool { return c.Op != receipt.Inserted })
	if len(added) == 1 {
		call.As = cmp.Or(call.As, as)
		p.binds[added[0].Suffix] = call.As
	}
	c.Text = dsl.FormatCall(&call)
	return c
}

// step makes one again.
func (p *Player) step(ctx context.Context, n int, s *Step) (all []Difference, err error) {
	differs := func(i int, what, was, is string) {
		all = append(all, Difference{n, s.Calls[i].Entry, s.Calls[i].Text, what, was, is})
	}
	var lines []string
	for i := range s.Calls {
		lines = append(lines, p.now(s.Calls[i].Text))
		if strings.Contains(s.Calls[i].Text, "\"(withheld)\"") {
			differs(i, "call", "with a value that is sensitive", "unknown: the journal does not keep it")
		}
	}
	if len(all) > 0 {
		return all, nil
	}
	script, ds := dsl.Parse(dsl.NewSource("recording", strings.Join(lines, "\n")))
	p.At(s.Time)
	var program *verbs.Program
	if !ds.HasErrors() {
		program, ds = p.Session.Check(ctx, script, engine.CheckOptions{Said: said(script, s.Calls)})
	}
	if program == nil {
		differs(0, "outcome", s.Outcome, "error:"+first(ds))
		return all, nil
	}
	made, err := p.make(ctx, program, s)
	var refusal *engine.Refusal
	switch was := outcome(s.Outcome, s.Reason); {
	case errors.As(err, &refusal):
		if is := outcome("refused", refusal.Diagnostics[0].Code); is != was {
			differs(0, "outcome", was, is+": "+refusal.Diagnostics[0].Summary)
		}
		return all, nil
	case err != nil:
		return nil, err
	case s.Outcome != "ok":
		differs(0, "outcome", was, "ok")
		return all, nil
	case len(made.Calls) != len(s.Calls):
		differs(0, "calls", fmt.Sprint(len(s.Calls)), fmt.Sprint(len(made.Calls)))
		return all, nil
	}
	for i := range made.Calls {
		if is, err := p.written(ctx, made.Calls[i].Seq); err != nil {
			return nil, err
		} else if was := p.now(s.Calls[i].Text); is != "" && is != was {
			differs(i, "call", was, is)
		}
		got, err := changesOf(ctx, p.Registry, p.named(), made.Calls[i].Rows)
		if err != nil {
			return nil, err
		}
		p.compare(merged(s.Calls[i].Changes), merged(got), func(what, was, is string) { differs(i, what, was, is) })
	}
	return all, nil
}

// written returns the call in the present journal, "" if it has none.
func (p *Player) written(ctx context.Context, seq int64) (text string, err error) {
	if seq == 0 || p.Mode != Strict {
		return "", nil
	}
	for l, err := range journal.Opened(ctx, p.Store, p.Session.Principal().Name, journal.ByNumber(ctx, p.Store, seq, seq)) {
		if err != nil {
			return "", err
		}
		record, err := l.Record()
		if err != nil {
			return "", err
		}
		text = cmp.Or(record.Words, l.Entry.Call)
	}
	return text, nil
}

// named returns the session that can be asked for names of added rows; nil in a dry run.
func (p *Player) named() *engine.Session {
	if p.Mode == Dry {
		return nil
	}
	return p.Session
}

// make makes the calls, with the agreements that were given.
func (p *Player) make(ctx context.Context, program *verbs.Program, s *Step) (*receipt.Receipt, error) {
	o := engine.RunOptions{Source: "recording"}
	if p.Mode == Dry {
		return p.Session.Preview(ctx, program)
	}
	if s.Agreed == "" {
		return p.Session.Run(ctx, program, o)
	}
	kept, err := p.Session.Keep(ctx, program)
	if err != nil {
		return nil, err
	}
	o.Agreed = kept.Sealed().ID
	var others []string
	for _, by := range strings.Split(s.Agreed, "; ") {
		if name, _, other := strings.Cut(by, ", role "); other {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return p.Session.Run(ctx, program, o)
	}
	pending, err := p.Session.Propose(ctx, program, o)
	if err != nil {
		return nil, err
	}
	for _, name := range others {
		session, err := p.As(ctx, name)
		if err != nil {
			return nil, err
		}
		_, done, err := session.Agree(ctx, pending.ID)
		if err != nil || done != nil {
			return done, err
		}
	}
	return nil, fmt.Errorf("nobody is recorded who would have agreed last")
}

// said returns the origins of the values in calls.
func said(script *dsl.Script, calls []Call) verbs.Literals {
	type span struct {
		at dsl.Range
		of verbs.Origin
	}
	var spans []span
	for i := range script.Calls {
		var origins map[string]string
		if i >= len(calls) || json.Unmarshal(calls[i].Origins, &origins) != nil {
			continue
		}
		for _, a := range script.Calls[i].Args {
			if o, err := verbs.ParseOrigin(origins[a.Key]); err == nil && origins[a.Key] != "" {
				spans = append(spans, span{a.Value.Range, o})
			}
		}
	}
	if spans == nil {
		return verbs.Literals{}
	}
	return verbs.Literals{Of: func(at dsl.Range) (verbs.Origin, bool) {
		for _, s := range spans {
			if s.at.Start <= at.Start && at.End <= s.at.End {
				return s.of, true
			}
		}
		return verbs.Origin{}, false
	}}
}

// now returns a recorded call with the present names of rows.
func (p *Player) now(text string) string {
	script, _ := dsl.Parse(dsl.NewSource("", text))
	call := dsl.Replace(&script.Calls[0], func(_ *dsl.Call, _ string, v *dsl.Value) (dsl.Value, bool) {
		if v.Kind != dsl.Symbol {
			return dsl.Value{}, false
		}
		name, path, more := strings.Cut(v.Text, ".")
		label, suffix, found := strings.Cut(name, "~")
		switch {
		case found && p.ends[suffix] != "":
			name = label + "~" + p.ends[suffix]
		case found && p.binds[suffix] != "":
			name = p.binds[suffix]
		default:
			return dsl.Value{}, false
		}
		if more {
			name += "." + path
		}
		return dsl.NewSymbol(name), true
	})
	return dsl.FormatCall(call)
}

func outcome(is, reason string) string {
	if reason != "" {
		return is + ":" + reason
	}
	return is
}

func first(ds dsl.Diagnostics) string {
	for _, d := range ds {
		if d.Severity == dsl.Error {
			return d.Code + ": " + d.Summary
		}
	}
	return ""
}

// merged returns each row once, with its fields before the first change and after the last.
func merged(rows []Change) (all []Change) {
	for _, r := range rows {
		i := slices.IndexFunc(all, func(c Change) bool { return c.Entity == r.Entity && c.Key == r.Key })
		if i < 0 {
			r.Fields = slices.Clone(r.Fields)
			all = append(all, r)
			continue
		}
		was := &all[i]
		if r.Op == receipt.Deleted {
			was.Op = r.Op
		}
		for _, f := range r.Fields {
			if j := slices.IndexFunc(was.Fields, func(g Field) bool { return g.Name == f.Name }); j >= 0 {
				was.Fields[j].After = f.After
			} else {
				was.Fields = append(was.Fields, f)
			}
		}
	}
	return all
}

// compare tells where changes differ.
func (p *Player) compare(was, is []Change, differs func(what, was, is string)) {
	pairs := p.pairs(was, is)
	for _, pair := range pairs {
		if w, s := pair[0], pair[1]; w != nil && s != nil && w.Op == receipt.Inserted && s.Op == w.Op && s.Entity == w.Entity {
			p.keys[w.Key] = s.Key
			if w.Suffix != "" && s.Suffix != "" {
				p.ends[w.Suffix] = s.Suffix
			}
		}
	}
	for _, pair := range pairs {
		switch w, s := pair[0], pair[1]; {
		case s == nil:
			differs(w.Entity, w.Op, "nothing")
		case w == nil:
			differs(s.Entity, "nothing", s.Op)
		case w.Entity != s.Entity || w.Op != s.Op:
			differs("row", w.Op+" of "+w.Entity, s.Op+" of "+s.Entity)
		case p.key(w.Key) != s.Key:
			differs(w.Entity, w.Op+" of one row", s.Op+" of another")
		default:
			p.fields(w, s, differs)
		}
	}
}

// pairs pairs recorded changes with present ones: in their order or, if the order may differ, each
// with the likeliest one.
func (p *Player) pairs(was, is []Change) (all [][2]*Change) {
	taken := make([]bool, len(is))
	for i := range was {
		at := i
		if p.Mode != Strict {
			if at = p.find(&was[i], is, taken, true); at < 0 {
				at = p.find(&was[i], is, taken, false)
			}
		}
		if at < 0 || at >= len(is) {
			all = append(all, [2]*Change{&was[i], nil})
			continue
		}
		taken[at] = true
		all = append(all, [2]*Change{&was[i], &is[at]})
	}
	for i := range is {
		if !taken[i] {
			all = append(all, [2]*Change{nil, &is[i]})
		}
	}
	return all
}

// find returns the index of the change to the same row: exactly or, for an added row, any of its
// entity.
func (p *Player) find(was *Change, is []Change, taken []bool, exactly bool) int {
	for i := range is {
		if taken[i] || is[i].Entity != was.Entity || is[i].Op != was.Op {
			continue
		}
		if was.Op == receipt.Inserted && (!exactly || p.same(*was) == p.same(is[i])) || was.Op != receipt.Inserted && p.key(was.Key) == is[i].Key {
			return i
		}
	}
	return -1
}

// same returns the values that distinguish added rows of one entity: all fields except times and
// ids.
func (p *Player) same(c Change) string {
	var b strings.Builder
	for _, f := range c.Fields {
		if f.Kind != stores.Time.String() && f.Kind != stores.UUID.String() && f.After != nil {
			b.WriteString(f.Name + "\x00" + *f.After + "\x00")
		}
	}
	return b.String()
}

func (p *Player) key(was string) string { return cmp.Or(p.keys[was], was) }

// loose reports whether a field holds a time or an id, which may differ. What refers to a row
// may not: that is another row.
func (p *Player) loose(entity string, f *Field) bool {
	if f.Kind != stores.Time.String() && f.Kind != stores.UUID.String() {
		return false
	}
	e := p.Registry.Entity(entity)
	if e == nil {
		return false
	}
	i := e.Store.FieldIndex(f.Name)
	return i >= 0 && e.Store.Fields[i].Ref == nil
}

func (p *Player) fields(was, is *Change, differs func(what, was, is string)) {
	values := map[string][2]*Field{}
	for i := range was.Fields {
		values[was.Fields[i].Name] = [2]*Field{&was.Fields[i], nil}
	}
	for i := range is.Fields {
		v := values[is.Fields[i].Name]
		values[is.Fields[i].Name] = [2]*Field{v[0], &is.Fields[i]}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		w, s := values[name][0], values[name][1]
		what := was.Entity + "." + name
		switch {
		case p.Mode != Strict && p.loose(was.Entity, cmp.Or(w, s)):
		case s == nil:
			differs(what, told(w), "unchanged")
		case w == nil:
			differs(what, "unchanged", told(s))
		case w.Untold || s.Untold:
		case !p.equal(w.Before, s.Before) || !p.equal(w.After, s.After):
			differs(what, told(w), told(s))
		}
	}
}

func (p *Player) equal(was, is *string) bool {
	if was == nil || is == nil {
		return was == is
	}
	return *was == *is || p.keys[*was] == *is
}

// told returns a change of a field in words.
func told(f *Field) string {
	word := func(s *string) string {
		if s == nil {
			return "nothing"
		}
		return fmt.Sprintf("%q", *s)
	}
	if f.Untold {
		return "changed"
	}
	return word(f.Before) + " -> " + word(f.After)
}
