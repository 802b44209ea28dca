package phrases

import (
	"context"
	"slices"
	"strings"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/intent"
	"verbatim/runtime/state/names"
	"verbatim/verbs"
)

// meant completes a part that does not name its row with the row that was mentioned before, and
// returns its name; the person is told. If several rows fit, they are asked.
//
// The most recent turn counts. If it mentions no row that fits, or several, the session's active
// row counts. If it mentioned a row of the same entity that does not fit, the subject has changed
// and older rows are not used. A row that was just changed counts as done, so that older rows come
// into question. A row with which the call would be refused is never meant.
func (i *Interpreter) meant(ctx context.Context, p *intent.Part, names map[*verbs.Entity][]string, before []dialog.Spoken) (string, error) {
	n := slices.IndexFunc(p.Asks, func(q intent.Ask) bool { return q.Open || len(q.Among) > 0 })
	if n < 0 || p.Refers == intent.Fresh {
		return "", nil
	}
	among := names[p.Asks[n].Param.Type.Entity]
	if len(p.Asks[n].Among) > 0 {
		among = p.Asks[n].Among
	}
	var fit []string
	var err error
	switch p.Refers {
	case intent.Other:
		fit, err = i.other(ctx, p, n, among, before)
	case intent.Own:
		fit, err = i.fits(ctx, p, n, of(i.session.Principal().Label, among))
	default:
		if fit, err = i.nearest(ctx, p, n, among, before); err == nil && len(fit) != 1 {
			var set []string
			if set, err = i.atWork(ctx, p, n, among); len(fit) == 0 || len(set) > 0 && slices.Contains(fit, set[0]) {
				fit = set
			}
		}
	}
	if c := p.Asks[n].Choices; err == nil && len(fit) == 0 && p.Refers == intent.Same && len(c) == 1 {
		fit = []string{strings.TrimPrefix(c[0], "@")} // of the others the verb takes none
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

// mostMeant is how many mentioned rows are considered.
const mostMeant = 8

// nearest lists the fitting rows of the most recent mention.
func (i *Interpreter) nearest(ctx context.Context, p *intent.Part, n int, among []string, before []dialog.Spoken) ([]string, error) {
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

// atWork returns the session's active row.
func (i *Interpreter) atWork(ctx context.Context, p *intent.Part, n int, among []string) ([]string, error) {
	name, err := i.session.Names().AtWork(ctx, p.Asks[n].Param.Type.Entity)
	if err != nil || !slices.Contains(among, name) {
		return nil, err
	}
	return i.fits(ctx, p, n, []string{name})
}

// other lists the fitting rows without the most recent one: of earlier mentions or, if there are
// none, of all rows.
func (i *Interpreter) other(ctx context.Context, p *intent.Part, n int, among []string, before []dialog.Spoken) ([]string, error) {
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
		return nil, nil // it is not clear which row to leave out
	case len(rest) == 0:
		rest = slices.DeleteFunc(slices.Clone(among), func(name string) bool { return name == last[0] })
	}
	if len(rest) > mostMeant {
		return nil, nil
	}
	return i.fits(ctx, p, n, rest)
}

// fits lists the rows with which the call would be accepted.
func (i *Interpreter) fits(ctx context.Context, p *intent.Part, n int, all []string) ([]string, error) {
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

// related lists the rows meant by mentioned names: the rows themselves, and rows of the same
// person. It lists none twice.
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

// of lists the rows whose name contains a person's.
func of(label string, among []string) []string {
	name := names.Slug(label, "")
	if name == "" {
		return nil
	}
	return related([]string{name}, among, map[string]bool{})
}
