package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime"
	"verbatim/runtime/dialog"
	"verbatim/runtime/phrase"
	"verbatim/runtime/words"
	"verbatim/verbs"
)

// An interpreter understands phrases for a conversation. The words of the
// palettes are read once; verbs and names are those of the session at the time.
type interpreter struct {
	reg     *verbs.Registry
	index   *phrase.Index
	session *runtime.Session
	now     func() time.Time
	zone    *time.Location
}

// reader reads what the session may say now. The language is left to the words
// themselves unless the session was told one.
func (i *interpreter) reader(ctx context.Context, chosen string) (*phrase.Reader, map[*verbs.Entity][]string, words.In, error) {
	in := words.In{Now: i.now().In(i.zone)}
	names, err := i.session.Names(ctx, i.reg.Entities())
	if err != nil {
		return nil, nil, in, err
	}
	v := phrase.Vocabulary{Verbs: i.session.Verbs(), Names: names, Say: saying(i.reg, i.session), Usable: usable(ctx, i.session), Useful: useful(ctx, i.session), Chosen: chosen}
	if l, ok := words.ParseLanguage(i.session.Person().Language); ok {
		in.Languages, v.Tongue = []words.Language{l}, &l
	}
	return i.index.Reader(v), names, in, nil
}

// Interpret implements dialog.Interpreter: a script of the parts of which nothing has to
// be asked, and one question about another.
func (i *interpreter) Interpret(ctx context.Context, said, chosen string, before []dialog.Spoken) (dialog.Understood, error) {
	r, names, in, err := i.reader(ctx, chosen)
	if err != nil {
		return dialog.Understood{}, err
	}
	h := r.Read(said, in)
	u := dialog.Understood{Long: h.Cut}
	if u.Long {
		return u, nil
	}
	for k := range h.Parts {
		p := &h.Parts[k]
		name, err := i.meant(ctx, p, names, before)
		if err != nil {
			return dialog.Understood{}, err
		}
		if name != "" && !slices.Contains(u.Assumed, name) {
			u.Assumed = append(u.Assumed, name)
		}
		if p.Call != "" && !strings.Contains(u.Script, p.Call+"\n") { // said twice is said once
			u.Script += p.Call + "\n"
		}
		u.Beyond = u.Beyond || p.Wish && p.Certainty == phrase.Nothing
		part := strings.TrimSpace(said[p.Range.Start:p.Range.End])
		switch {
		case p.Call != "":
		case u.Ask == "" && len(p.Asks) > 0:
			a := &p.Asks[0]
			u.Ask, u.Offers, u.Places, u.Dictated, u.Of = a.Text, offers(p, a), a.Places, a.Dictated(), p.Range
		default:
			u.Left = append(u.Left, part)
		}
		if p.Verb != nil && p.Certainty == phrase.Sure && !slices.Contains(u.Verbs, p.Verb.Name) {
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
		for _, a := range p.Args {
			if a.Said() && !a.Param.Sensitive {
				u.Resolved = append(u.Resolved, said[a.Range.Start:a.Range.End]+": "+dsl.FormatValue(a.Value))
			}
		}
	}
	u.Script = strings.TrimSuffix(u.Script, "\n")
	return u, nil
}

// Correct implements dialog.Interpreter.
func (i *interpreter) Correct(ctx context.Context, said string, call *dsl.Call) (dialog.Correction, bool, error) {
	r, _, in, err := i.reader(ctx, "")
	if err != nil {
		return dialog.Correction{}, false, err
	}
	found, ok := r.Correct(said, in, i.reg.Verb(call.Verb), call)
	c := dialog.Correction{Ask: found.Ask, Cued: found.Cued}
	for _, f := range found.Fits {
		c.Fits = append(c.Fits, dialog.Fit{Script: dsl.FormatCall(&f.Call), Says: f.Says, Text: f.Text})
	}
	return c, ok, nil
}

// Named implements dialog.Interpreter.
func (i *interpreter) Named(ctx context.Context, text string) ([]string, error) {
	r, _, in, err := i.reader(ctx, "")
	if err != nil {
		return nil, err
	}
	return r.Named(text, in), nil
}

// saying says a name as what the session's row is called, and a code as people of
// a language do.
func saying(reg *verbs.Registry, s *runtime.Session) func(l words.Language, what string) string {
	return func(l words.Language, what string) string {
		if name, ok := strings.CutPrefix(what, "@"); ok && s.Called(name) != "" {
			what = s.Called(name)
		}
		return dialog.Worded(reg, l, what)
	}
}

// usable leaves out of a question what the verb could not be used on. Where that
// cannot be found out, everything is offered: the call itself says so.
func usable(ctx context.Context, s *runtime.Session) func(*verbs.Verb, *verbs.Param, []string) []string {
	return func(v *verbs.Verb, p *verbs.Param, names []string) []string {
		if left, err := s.Usable(ctx, v, p, names); err == nil {
			return left
		}
		return names
	}
}

// useful leaves out of a question a verb that is of no use as things are. Where that
// cannot be found out, it is offered.
func useful(ctx context.Context, s *runtime.Session) func(*verbs.Verb) bool {
	return func(v *verbs.Verb) bool {
		is, err := s.Useful(ctx, v)
		return is || err != nil
	}
}

// offers are what a question about a part offers to choose from.
func offers(p *phrase.Part, a *phrase.Ask) []dialog.Offer {
	says, fits := p.Offers(a), p.Fits(a)
	all := make([]dialog.Offer, len(says))
	for k, c := range a.Choices {
		if all[k] = (dialog.Offer{Says: says[k], Text: c}); a.Param == nil {
			all[k].Verb = c
		}
		if k < len(fits) {
			all[k].Text = fits[k]
		}
	}
	return all
}

// possible reports whether a call would not be refused; one that still lacks
// something may be.
func (i *interpreter) possible(ctx context.Context, p *phrase.Part) (bool, error) {
	if p.Call == "" {
		return true, nil
	}
	script, ds := dsl.Parse(dsl.NewSource("said", p.Call+"\n"))
	if ds.HasErrors() {
		return false, nil
	}
	program, ds := i.session.CheckFrom(ctx, script, p.Literals(script))
	if ds.HasErrors() {
		return false, ctx.Err()
	}
	if i.session.Reads(program) {
		return true, nil
	}
	_, err := i.session.Preview(ctx, program)
	var refusal *runtime.Refusal
	if errors.As(err, &refusal) {
		return false, nil
	}
	return err == nil, err
}

// Shortlist implements dialog.Interpreter.
func (i *interpreter) Shortlist(said string, among []*verbs.Verb, most int) []*verbs.Verb {
	return i.index.Reader(phrase.Vocabulary{Verbs: among}).Shortlist(said, most)
}
