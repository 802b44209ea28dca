// Package phrases understands messages for a conversation without a model: by the phrases of the
// palettes, and by what the conversation was about before.
//
//	index := intent.New(registry) // once for some palettes
//	c, err := dialog.New(dialog.Options{Registry: registry, Session: session, Clock: time.Now,
//		Interpreter: phrases.New(registry, index, session, time.Now, time.UTC)})
package phrases

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/intent"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/verbs"
)

// An Interpreter understands phrases for the conversation of one session, with the verbs and names
// that the session has at the time. It is safe for use by many goroutines.
type Interpreter struct {
	reg     *verbs.Registry
	index   *intent.Index
	session *engine.Session
	now     func() time.Time
	zone    *time.Location
}

var _ dialog.Interpreter = (*Interpreter)(nil)

// New returns an interpreter for a session. The index is that of the registry, and may be shared by
// many sessions. Days such as "tomorrow" are those of clock in zone; nil is UTC.
func New(reg *verbs.Registry, index *intent.Index, session *engine.Session, clock func() time.Time, zone *time.Location) *Interpreter {
	return &Interpreter{reg, index, session, clock, cmp.Or(zone, time.UTC)}
}

// Vocabulary returns the verbs and names that a session may use now. Questions offer what can be
// used, and word it as the palettes do.
func Vocabulary(ctx context.Context, reg *verbs.Registry, s *engine.Session) (intent.Vocabulary, error) {
	names, err := s.Names().All(ctx, reg.Entities())
	if err != nil {
		return intent.Vocabulary{}, err
	}
	return intent.Vocabulary{Verbs: s.Verbs(), Names: names, Say: saying(reg, s), Usable: usable(ctx, s), Useful: useful(ctx, s)}, nil
}

// reader reads with the verbs and names that the session has now. It detects the language, unless
// the session has one.
func (i *Interpreter) reader(ctx context.Context, settled dialog.Settled) (*intent.Reader, map[*verbs.Entity][]string, values.In, error) {
	in := values.In{Now: i.now().In(i.zone)}
	v, err := Vocabulary(ctx, i.reg, i.session)
	if err != nil {
		return nil, nil, in, err
	}
	v.Chosen = settled.Verb
	for e, name := range settled.Rows {
		v.Names[e] = []string{name}
	}
	for _, g := range settled.Given {
		v.Given = append(v.Given, intent.Given(g))
	}
	if l, ok := values.ParseLanguage(i.session.Person().Language); ok {
		in.Languages, v.Tongue = []values.Language{l}, &l
	}
	return i.index.Reader(v), v.Names, in, nil
}

// Interpret implements dialog.Interpreter: a script of the complete parts, and a question about one
// incomplete part.
func (i *Interpreter) Interpret(ctx context.Context, said string, settled dialog.Settled, before []dialog.Spoken) (dialog.Understood, error) {
	r, names, in, err := i.reader(ctx, settled)
	if err != nil {
		return dialog.Understood{}, err
	}
	h := r.Read(said, in)
	u := dialog.Understood{Long: h.Cut}
	if u.Long {
		return u, nil
	}
	sure := slices.ContainsFunc(h.Parts, func(p intent.Part) bool { return p.Certainty == intent.Sure })
	for k := range h.Parts {
		p := &h.Parts[k]
		if sure && p.Remark() {
			u.Left = append(u.Left, strings.TrimSpace(said[p.Range.Start:p.Range.End]))
			continue
		}
		name, err := i.supposed(ctx, p, sure, names, before)
		if err == nil && name == "" {
			name, err = i.meant(ctx, p, names, before)
		}
		if err != nil {
			return dialog.Understood{}, err
		}
		if err := i.priced(ctx, p); err != nil {
			return dialog.Understood{}, err
		}
		if err := i.accepted(ctx, p); err != nil {
			return dialog.Understood{}, err
		}
		if name != "" && !slices.Contains(u.Assumed, name) {
			u.Assumed = append(u.Assumed, name)
		}
		if p.Call != "" && !strings.Contains(u.Script, p.Call+"\n") { // a call that was said twice is made once
			u.Script += p.Call + "\n"
		}
		if p.Certainty == intent.Nothing && len(u.Nearest) == 0 {
			u.Nearest = p.Near
		}
		part := strings.TrimSpace(said[p.Range.Start:p.Range.End])
		switch {
		case p.Call != "":
		case u.Ask == "" && len(p.Asks) > 0:
			a := &p.Asks[0]
			u.Ask, u.Offers, u.Of, u.Texts, u.Dictated = a.Text, offers(p, a), p.Range, nil, a.Dictated()
			if v := p.Verb; a.Param != nil {
				if v == nil {
					v = p.Ranked[0].Verb // no row with that name is known
				}
				u.Wants = dialog.Given{Verb: v.Name, Param: a.Param.Name}
			}
		default:
			u.Left = append(u.Left, part)
		}
		for _, at := range p.Left() {
			u.Left = append(u.Left, strings.TrimSpace(said[at.Start:at.End]))
		}
		if u.Ask == "" || u.Of == p.Range { // the question is about this part, if it is about a part
			for _, g := range p.Texts() {
				u.Texts = append(u.Texts, dialog.Given(g))
			}
		}
		if p.Verb != nil && p.Certainty == intent.Sure && !slices.Contains(u.Verbs, p.Verb.Name) {
			u.Verbs = append(u.Verbs, p.Verb.Name)
		}
		if p.Verb != nil && (u.Confidence == 0 || p.Confidence < u.Confidence) {
			u.Confidence = p.Confidence
		}
		if p.Verb != nil && (u.Verb == "" || u.Of == p.Range) {
			u.Verb, u.Matched = p.Verb.Name, p.Phrase
		}
		for n, r := range p.Ranked {
			if (n > 0 || p.Verb == nil) && len(u.NotUsed) < 5 {
				u.NotUsed = append(u.NotUsed, r.Verb.Name)
			}
		}
		if u.Of == p.Range && u.Ask != "" {
			u.Names = append(u.Names, p.Rows()...)
		}
		u.Days = append(u.Days, p.Days()...)
		for _, a := range p.Args {
			if a.Said() && a.Value.Kind == dsl.Code {
				u.Codes = append(u.Codes, a.Value.Text)
			}
			u.Beside = cmp.Or(u.Beside, a.Beside)
			if a.Param.Type.Name == verbs.RefType && !a.Said() {
				u.Unnamed = append(u.Unnamed, a.Value.Text)
			}
			if a.Said() && !a.Given && !a.Param.Sensitive {
				u.Resolved = append(u.Resolved, said[a.Range.Start:a.Range.End]+": "+dsl.FormatValue(a.Value))
			}
		}
	}
	u.Script = strings.TrimSuffix(u.Script, "\n")
	if settled.Verb == "" && len(settled.Given) == 0 {
		u.Withheld, err = i.withheld(ctx, said, in, h.Parts)
	}
	return u, err
}

// supposed completes a part about whose verb the person would be asked with that verb, if it can be done as it was
// said, or is likely; beside a part that is sure, only if it is likely, since one yes would agree to both. It returns the
// name of a row that it assumed.
func (i *Interpreter) supposed(ctx context.Context, p *intent.Part, beside bool, names map[*verbs.Entity][]string, before []dialog.Spoken) (string, error) {
	q, ok := p.Supposed()
	if !ok || beside && !q.Likely() {
		return "", nil
	}
	name, err := i.meant(ctx, &q, names, before)
	if err != nil {
		return "", err
	}
	if !q.Likely() {
		const half = 0.65
		if q.Call == "" || q.Confidence < half && len(q.Verb.Effects) > 0 && len(q.Args) == 0 {
			return "", nil // a change of which nothing was said, as to ask for a person, is asked about by its name
		}
		if can, err := i.possible(ctx, &q); !can || err != nil {
			return "", err
		}
	}
	*p = q
	return name, nil
}

// priced completes a part that lacks the currency of an amount with the only one with which it would be accepted, as
// that of an order is; if there is none, with the first, whose refusal says why.
func (i *Interpreter) priced(ctx context.Context, p *intent.Part) error {
	if len(p.Asks) != 1 || p.Asks[0].Param == nil || p.Asks[0].Param.Type.Name != verbs.MoneyType || len(p.Asks[0].Choices) < 2 {
		return nil
	}
	var fit []intent.Part
	first := p.Choose(p.Asks[0].Param, p.Asks[0].Choices[0])
	for _, c := range p.Asks[0].Choices {
		q := p.Choose(p.Asks[0].Param, c)
		ok, err := i.possible(ctx, &q)
		if err != nil {
			return err
		}
		if ok {
			fit = append(fit, q)
		}
	}
	if len(fit) == 0 {
		fit = append(fit, first)
	}
	if len(fit) == 1 && fit[0].Call != "" {
		*p = fit[0]
	}
	return nil
}

// withheld returns the verb that a sentence surely means, where it means nothing that the session may do, if that
// changes something and the session may not use it; "" if there is none.
func (i *Interpreter) withheld(ctx context.Context, said string, in values.In, mine []intent.Part) (string, error) {
	const likely = 0.35
	if slices.ContainsFunc(mine, func(p intent.Part) bool { return p.Certainty == intent.Sure || p.Confidence > likely || p.Call != "" }) {
		return "", nil
	}
	v, err := Vocabulary(ctx, i.reg, i.session)
	if err != nil {
		return "", err
	}
	v.Verbs = slices.DeleteFunc(slices.Clone(i.reg.Verbs()), func(v *verbs.Verb) bool { return v.Internal || v.Masked() })
	parts := i.index.Reader(v).Read(said, in).Parts
	at := slices.IndexFunc(parts, func(p intent.Part) bool {
		return p.Certainty == intent.Sure && !i.session.May(p.Verb) && len(p.Verb.Effects) > 0
	})
	if at < 0 {
		return "", nil
	}
	return parts[at].Verb.Name, nil
}

// Correct implements dialog.Interpreter.
func (i *Interpreter) Correct(ctx context.Context, said string, call *dsl.Call) (dialog.Correction, bool, error) {
	r, _, in, err := i.reader(ctx, dialog.Settled{})
	if err != nil {
		return dialog.Correction{}, false, err
	}
	found, ok := r.Correct(said, in, i.reg.Verb(call.Verb), call)
	c := dialog.Correction{Ask: found.Ask, Cued: found.Cued, Bare: found.Bare}
	for _, f := range found.Fits {
		c.Fits = append(c.Fits, dialog.Fit{Script: dsl.FormatCall(&f.Call), Says: f.Says, Text: f.Text})
	}
	return c, ok, nil
}

// Named implements dialog.Interpreter.
func (i *Interpreter) Named(ctx context.Context, text string) ([]string, error) {
	r, _, in, err := i.reader(ctx, dialog.Settled{})
	if err != nil {
		return nil, err
	}
	return r.Named(text, in), nil
}

// saying returns a function that writes a name as the label of its row, and a code in the words of
// a language.
func saying(reg *verbs.Registry, s *engine.Session) func(l values.Language, what string) string {
	return func(l values.Language, what string) string {
		if name, ok := strings.CutPrefix(what, "@"); ok && s.Names().Called(name) != "" {
			what = s.Names().Called(name)
		}
		return dialog.Worded(reg, l, what)
	}
}

// usable returns a filter for the names offered in a question: those that the verb would refuse are
// left out. If that cannot be determined, all are offered.
func usable(ctx context.Context, s *engine.Session) func(*verbs.Verb, *verbs.Param, []string) []string {
	return func(v *verbs.Verb, p *verbs.Param, names []string) []string {
		if left, err := s.Names().Usable(ctx, v, p, names); err == nil {
			return left
		}
		return names
	}
}

// useful returns a filter for the verbs offered in a question: those that are useless now are left
// out. If that cannot be determined, the verb is offered.
func useful(ctx context.Context, s *engine.Session) func(*verbs.Verb) bool {
	return func(v *verbs.Verb) bool {
		is, err := s.Names().Useful(ctx, v)
		return is || err != nil
	}
}

// offers lists the choices of a question.
func offers(p *intent.Part, a *intent.Ask) []dialog.Offer {
	says := p.Offers(a)
	all := make([]dialog.Offer, len(says))
	for k, c := range a.Choices {
		if all[k] = (dialog.Offer{Says: says[k], Text: c}); a.Param == nil {
			all[k].Verb = c
		}
	}
	return all
}

// possible reports whether a call would be accepted. An incomplete call may be.
func (i *Interpreter) possible(ctx context.Context, p *intent.Part) (bool, error) {
	if p.Call == "" {
		return true, nil
	}
	script, ds := dsl.Parse(dsl.NewSource("said", p.Call+"\n"))
	if ds.HasErrors() {
		return false, nil
	}
	program, ds := i.session.Check(ctx, script, engine.CheckOptions{Said: p.Literals(script)})
	if ds.HasErrors() {
		return false, ctx.Err()
	}
	if i.session.Reads(program) {
		return true, nil
	}
	_, err := i.session.Preview(ctx, program)
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		return false, nil
	}
	return err == nil, err
}

// accepted replaces a call that would be refused by one of another verb with the same values that would
// be accepted: "Maria, 15 March 1972" corrects what she gave or, if she gave nothing, gives it.
func (i *Interpreter) accepted(ctx context.Context, p *intent.Part) error {
	others := p.Instead()
	if len(others) == 0 {
		return nil
	}
	ok, err := i.possible(ctx, p)
	for k := 0; !ok && err == nil && k < len(others); k++ {
		if ok, err = i.possible(ctx, &others[k]); ok {
			*p = others[k]
		}
	}
	return err
}

// Tongue implements dialog.Interpreter.
func (i *Interpreter) Tongue(said string) (values.Language, bool) { return i.index.Tongue(said) }

// Shortlist implements dialog.Interpreter.
func (i *Interpreter) Shortlist(said string, among []*verbs.Verb, most int) []*verbs.Verb {
	return i.index.Reader(intent.Vocabulary{Verbs: among}).Shortlist(said, most)
}
