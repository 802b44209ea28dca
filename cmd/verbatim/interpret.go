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

func newInterpreter(reg *verbs.Registry, s *runtime.Session, now func() time.Time, zone *time.Location) *interpreter {
	return &interpreter{reg, phrase.New(reg), s, now, zone}
}

// in is who speaks. The language is left to the words themselves unless the
// session was told one.
func (i *interpreter) in() words.In {
	in := words.In{Now: i.now().In(i.zone)}
	if l, ok := words.ParseLanguage(i.session.Person().Language); ok {
		in.Languages = []words.Language{l}
	}
	return in
}

// Interpret implements dialog.Interpreter. There is a script where nothing has
// to be asked, and one question otherwise.
func (i *interpreter) Interpret(ctx context.Context, said string, before []dialog.Spoken) (dialog.Understood, error) {
	names, err := i.session.Names(ctx, i.reg.Entities())
	if err != nil {
		return dialog.Understood{}, err
	}
	h := i.index.Reader(phrase.Vocabulary{Verbs: i.session.Verbs(), Names: names}).Read(said, i.in())
	var u dialog.Understood
	for k := range h.Parts {
		p := &h.Parts[k]
		name, err := i.meant(ctx, p, names, before)
		if err != nil {
			return dialog.Understood{}, err
		}
		if name != "" && !slices.Contains(u.Assumed, name) {
			u.Assumed = append(u.Assumed, name)
		}
		if p.Call != "" {
			u.Script += p.Call + "\n"
		}
		if u.Ask == "" && len(p.Asks) > 0 {
			u.Ask = p.Asks[0].Text
		}
		if p.Verb != nil && p.Certainty == phrase.Sure && !slices.Contains(u.Verbs, p.Verb.Name) {
			u.Verbs = append(u.Verbs, p.Verb.Name)
		}
		if p.Verb != nil && (u.Confidence == 0 || p.Confidence < u.Confidence) {
			u.Confidence = p.Confidence
		}
		if u.Verb == "" && p.Verb != nil {
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
	if u.Ask != "" {
		u.Script = ""
	}
	u.Script = strings.TrimSuffix(u.Script, "\n")
	return u, nil
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
	program, ds := i.session.CheckFrom(script, p.Literals(script))
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
