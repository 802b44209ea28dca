package main

import (
	"context"
	"slices"
	"strings"

	"verbatim/runtime/dialog"
	"verbatim/runtime/names"
	"verbatim/runtime/phrase"
	"verbatim/verbs"
)

// meant completes a part that does not say which row it is about by the one that
// was spoken of before, and returns its name; the person is told that it was
// assumed. Where several were, it is asked which.
//
// What is nearest in the conversation counts; where that is nothing, or several, what the
// session is at work on. Where that was about something of
// the same kind which does not fit, the talk has moved on, and what was before it
// is not taken up again by itself. What something was done about is done with, so
// that what was spoken of earlier comes into question as well. What the call
// would be refused for is not meant.
func (i *interpreter) meant(ctx context.Context, p *phrase.Part, names map[*verbs.Entity][]string, before []dialog.Spoken) (string, error) {
	n := slices.IndexFunc(p.Asks, func(q phrase.Ask) bool { return q.Open || len(q.Among) > 0 })
	if n < 0 || p.Refers == phrase.Fresh {
		return "", nil
	}
	among := names[p.Asks[n].Param.Type.Entity]
	if len(p.Asks[n].Among) > 0 {
		among = p.Asks[n].Among
	}
	var fit []string
	var err error
	switch p.Refers {
	case phrase.Other:
		fit, err = i.other(ctx, p, n, among, before)
	case phrase.Own:
		fit, err = i.fits(ctx, p, n, of(i.session.Principal().Label, among))
	default:
		if fit, err = i.nearest(ctx, p, n, among, before); err == nil && len(fit) != 1 {
			var set []string
			if set, err = i.atWork(ctx, p, n, among); len(fit) == 0 || len(set) > 0 && slices.Contains(fit, set[0]) {
				fit = set
			}
		}
	}
	switch {
	case err != nil || len(fit) == 0:
		return "", err
	case len(fit) == 1:
		*p = p.Suppose(p.Asks[n].Param, fit[0])
		return fit[0], nil
	}
	p.Asks[n] = p.Which(p.Asks[n].Param, fit)
	return "", nil
}

// mostMeant is among how many rows that were spoken of the one which is meant is
// looked for.
const mostMeant = 8

// nearest lists what fits of what was spoken of last.
func (i *interpreter) nearest(ctx context.Context, p *phrase.Part, n int, among []string, before []dialog.Spoken) ([]string, error) {
	seen := map[string]bool{}
	var fit []string
	for _, turn := range before {
		about := related(turn.Names, among, seen)
		if len(seen) > mostMeant {
			return nil, nil
		}
		more, err := i.fits(ctx, p, n, about)
		if err != nil {
			return nil, err
		}
		fit = append(fit, more...)
		if (len(fit) > 0 || len(about) > 0) && !turn.Changed {
			break
		}
	}
	return fit, nil
}

// atWork is the row that the session was set to be at work on.
func (i *interpreter) atWork(ctx context.Context, p *phrase.Part, n int, among []string) ([]string, error) {
	name, err := i.session.AtWork(ctx, p.Asks[n].Param.Type.Entity)
	if err != nil || !slices.Contains(among, name) {
		return nil, err
	}
	return i.fits(ctx, p, n, []string{name})
}

// other lists what fits but for what was spoken of last: of what came up before
// that or, where nothing did, of all that there is.
func (i *interpreter) other(ctx context.Context, p *phrase.Part, n int, among []string, before []dialog.Spoken) ([]string, error) {
	seen := map[string]bool{}
	var last, rest []string
	for _, turn := range before {
		about := related(turn.Names, among, seen)
		if last == nil {
			last = about
		} else {
			rest = append(rest, about...)
		}
	}
	switch {
	case len(last) != 1:
		return nil, nil // from which it is another is not clear
	case len(rest) == 0:
		rest = slices.DeleteFunc(slices.Clone(among), func(name string) bool { return name == last[0] })
	}
	if len(rest) > mostMeant {
		return nil, nil
	}
	return i.fits(ctx, p, n, rest)
}

// fits lists the rows with which the call would not be refused.
func (i *interpreter) fits(ctx context.Context, p *phrase.Part, n int, all []string) ([]string, error) {
	var fit []string
	for _, name := range all {
		q := p.Suppose(p.Asks[n].Param, name)
		ok, err := i.possible(ctx, &q)
		if err != nil {
			return nil, err
		}
		if ok {
			fit = append(fit, name)
		}
	}
	return fit, nil
}

// related lists which rows are meant by names that were spoken of: they
// themselves, those of whom was spoken of, and of whose it was. It takes none
// twice.
func related(spoken, among []string, seen map[string]bool) []string {
	var all []string
	for _, name := range spoken {
		for _, row := range among {
			if row == name || strings.HasPrefix(row, name+"-") || strings.HasPrefix(name, row+"-") {
				if !seen[row] {
					seen[row] = true
					all = append(all, row)
				}
			}
		}
	}
	return all
}

// of lists the rows that bear somebody's name.
func of(label string, among []string) []string {
	name := names.Slug(label, "")
	if name == "" {
		return nil
	}
	return related([]string{name}, among, map[string]bool{})
}
