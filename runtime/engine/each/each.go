// Package each commits a script call by call: a call and those nested in it are one transaction.
// Earlier calls stay committed if a later one is refused. So a long script holds no locks for long,
// and can be continued where it stopped.
package each

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/internal/digest"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A Stopped says that Run ended early. The committed calls stay; the Receipt that comes with it lists
// them.
type Stopped struct {
	Done, Total int   // calls that are committed, of how many
	Next        int   // the number of the call to continue with
	First, Last int64 // journal entries of what is committed
	// Err is the reason: a *engine.Refusal or a *engine.Failure of the call numbered Next, or the
	// error of the context. Nothing of that call is committed, unless Err is a *engine.Failure that
	// says Unknown.
	Err error
}

// Error implements error.
func (s *Stopped) Error() string {
	return fmt.Sprintf("stopped after %d of %d calls: %s", s.Done, s.Total, s.Err)
}

// Unwrap gives the reason.
func (s *Stopped) Unwrap() error { return s.Err }

// A Runner runs scripts call by call in a session.
type Runner struct {
	Session *engine.Session
	// From is the number that the first call of a program has in its script, see engine.CheckOptions;
	// 0 means 1.
	From int
}

// Run runs the calls of a program one after another, and returns what all of them did. The whole
// program is planned before the first commit, so that most mistakes are told while nothing is done;
// an agreement covers the whole, and each call is compared with its part of the preview.
//
// Under a key, each call is done once. One that was done before, by Run or with the whole script at
// once, is not done again.
func (r Runner) Run(ctx context.Context, p *verbs.Program, o engine.RunOptions) (*receipt.Receipt, error) {
	s, from := r.Session, r.From
	progress := Numbered(from, o.Progress)
	o.Progress = progress
	var before []*receipt.Receipt // of the calls that were done under the key already
	if o.Key != "" {
		again, err := s.Journal().Repeat(ctx, p.Script(), o.Key) // all at once
		if err != nil || again != nil {
			return again, err
		}
		if before, err = earlier(ctx, s, p.Script(), o.Key, from); err != nil {
			return nil, err
		}
	}
	done, total := joined(before), len(p.Script().Calls)
	if len(before) == total && total > 0 {
		return repeated(s, done), nil
	}
	parts, err := s.Parts(ctx, p, o, before...)
	if err != nil {
		return nil, err
	}
	done.ID, done.Digest = parts.Shown()
	for n := len(before); n < total; n++ {
		key := ""
		if o.Key != "" {
			key = keyOf(o.Key, from, n)
		}
		reply, err := parts.Next(ctx, key)
		switch {
		case err != nil && n == len(before):
			return nil, err
		case err != nil:
			return done, &Stopped{Done: n, Total: total, Next: max(1, from) + n, Err: onlyThis(err), First: done.First, Last: done.Last}
		}
		join(done, reply)
		if progress != nil {
			progress(engine.Progress{Phase: engine.Committing, Done: n + 1, Total: total, Number: n + 1, Call: &reply.Calls[len(reply.Calls)-1]})
		}
	}
	return done, nil
}

// Repeat returns the receipt of a script whose calls from From on took effect under a key, one by one
// or all at once; nil unless all of them did. Run does the same, but only for a script that still
// checks: the calls may have deleted the rows that it names.
func (r Runner) Repeat(ctx context.Context, script *dsl.Script, key string) (*receipt.Receipt, error) {
	s, from, rest := r.Session, r.From, *script
	if from <= 1 {
		if again, err := s.Journal().Repeat(ctx, script, key); err != nil || again != nil {
			return again, err
		}
	} else {
		rest.Calls = script.Calls[min(from, len(script.Calls)+1)-1:]
	}
	before, err := earlier(ctx, s, &rest, key, from)
	if err != nil || len(before) < len(rest.Calls) || len(before) == 0 {
		return nil, err
	}
	return repeated(s, joined(before)), nil
}

// Numbered passes progress on with the numbers that calls have in their script, of which from is that
// of the first call.
func Numbered(from int, to func(engine.Progress)) func(engine.Progress) {
	if to == nil || from <= 1 {
		return to
	}
	return func(p engine.Progress) {
		p.Number += from - 1
		to(p)
	}
}

// keyOf returns the key of one call of a script that has one. Rows of earlier builds hold it.
func keyOf(key string, from, n int) string { return fmt.Sprintf("%s\x1f%d", key, max(1, from)+n) }

// earlier finds what the first calls of a script did under a key, up to the first that was not done.
func earlier(ctx context.Context, s *engine.Session, script *dsl.Script, key string, from int) (all []*receipt.Receipt, err error) {
	for i := range script.Calls {
		one := &dsl.Script{Source: script.Source, Calls: script.Calls[i : i+1]}
		done, err := s.Journal().Repeat(ctx, one, keyOf(key, from, i))
		if err != nil {
			return nil, err
		}
		if done == nil {
			break
		}
		all = append(all, done)
	}
	return all, nil
}

func joined(parts []*receipt.Receipt) *receipt.Receipt {
	all := &receipt.Receipt{Done: true}
	for _, part := range parts {
		join(all, part)
	}
	return all
}

// join adds what one transaction did to what those before it did.
func join(all, part *receipt.Receipt) {
	all.Calls = append(all.Calls, part.Calls...)
	all.First = cmp.Or(all.First, part.First)
	all.Last = max(all.Last, part.Last)
}

// repeated makes the receipt of calls that were all committed before: they are looked up, not planned.
func repeated(s *engine.Session, done *receipt.Receipt) *receipt.Receipt {
	var d digest.Writer
	d.Text("verbatim repeated 1")
	d.Text(s.Principal().Name)
	for i := range done.Calls {
		d.B = done.Calls[i].AppendDigest(d.B, nil)
	}
	done.Repeated, done.Digest = true, sha256.Sum256(d.B)
	done.ID = receipt.NewID(done.Digest[:16])
	return done
}

// onlyThis makes a refusal speak of its own call where others are committed.
func onlyThis(err error) error {
	var r *engine.Refusal
	if !errors.As(err, &r) {
		return err
	}
	again := *r
	again.Diagnostics = slices.Clone(r.Diagnostics)
	for i := range again.Diagnostics {
		d := &again.Diagnostics[i]
		d.Notes = slices.Clone(d.Notes)
		for j := range d.Notes {
			d.Notes[j] = strings.Replace(d.Notes[j], "nothing was changed", "this call changed nothing", 1)
		}
	}
	return &again
}
