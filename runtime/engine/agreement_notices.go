package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"verbatim/runtime/state/confirmations"
	"verbatim/stores"
)

// Notices about pending confirmations. The transaction that keeps a proposal also adds a job. The
// job finds the principals who may decide, and adds a notice for each in the transaction that ends
// the job, so that each of them is told once however often the job is tried. The notice says that
// a proposal waits, and not what it is.

// The targets of notices about agreements.
const (
	// TargetAgreement is the target of the notice that a proposal waits for a decision. Its body holds
	// "confirmation", "to", the name of a principal who may decide, "asker", the label of the principal
	// who proposed it, and "until".
	TargetAgreement = "agreement"
	// TargetDecided is the target of the notice that tells an asker what was decided. Its body holds
	// "confirmation", the key of the confirmation, "to", the asker's name, "by", the name of the person
	// who decided, "source", where the calls come from, "status" and "reason".
	TargetDecided = "decided"
)

// decidersJob returns the job that notifies the deciders; none if nobody with these roles can be
// told.
func decidersJob(ctx context.Context, e *Engine, r stores.Reader, c *confirmations.Confirmation) ([]stores.Job, error) {
	if e.opt.People.Deciders == nil {
		return nil, nil
	}
	for _, role := range c.Roles {
		names, err := e.opt.People.Deciders(ctx, r, role)
		if err != nil {
			return nil, err
		}
		if len(names) > 0 {
			return []stores.Job{{ID: e.opt.NewID(), Kind: JobNotifyDeciders, At: c.Time, Principal: c.Asker,
				Payload: stores.NewObject([]string{"confirmation", "v"}, []stores.Value{c.Key, jobV}).Text()}}, nil
		}
	}
	return nil, nil
}

func workNotifyDeciders(ctx context.Context, e *Engine, run stores.Run) (Worked, error) {
	id, done, err := e.confirmationOf(ctx, run, verbNotifyDeciders)
	if id == "" {
		return done, err
	}
	now := stores.NewTime(e.opt.Clock()).Time()
	b := stores.Batch{Settled: []stores.Settlement{ends(run, stores.JobDone, now, "")}}
	var c *confirmations.Confirmation
	var names []string
	var asker string
	err = e.store.View(ctx, system(), func(r stores.Reader) (err error) {
		if c, err = confirmations.Get(ctx, r, stores.NewString(id)); err != nil || c == nil {
			return err
		}
		asker = c.Asker
		if e.opt.People.Profile != nil {
			whom, err := e.opt.People.Profile(ctx, r, c.Asker)
			if err != nil {
				return err
			}
			if whom.Label != "" {
				asker = whom.Label
			}
		}
		for i, role := range c.Roles {
			if c.Agreed[i] != "" || e.opt.People.Deciders == nil {
				continue
			}
			more, err := e.opt.People.Deciders(ctx, r, role)
			if err != nil {
				return err
			}
			names = append(names, more...)
		}
		return nil
	})
	switch {
	case err != nil:
		return done, failure(err)
	case c == nil:
		done.Reason = reasonRowGone
	case c.Status != confirmations.Waiting || !now.Before(c.Expires):
		done.Reason = reasonNoPoint
	}
	if done.Reason != "" {
		return done, e.endWork(ctx, b, &done, WorkSkipped)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		may, err := mayDecide(ctx, e, c, name)
		if err != nil {
			return done, failure(err)
		}
		if may {
			body := stores.NewObject([]string{"asker", "confirmation", "to", "until"},
				[]stores.Value{stores.NewString(asker), stores.NewString(c.ID), stores.NewString(name), stores.NewString(stores.NewTime(c.Expires).Text())})
			b.Jobs = append(b.Jobs, e.message("notify", TargetAgreement, now, name, body))
		}
	}
	return done, e.endWork(ctx, b, &done, WorkDone)
}

// mayDecide reports whether somebody may agree to what waits, and sees what it is about.
func mayDecide(ctx context.Context, e *Engine, c *confirmations.Confirmation, name string) (bool, error) {
	s, err := freshSession(ctx, e, name)
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return false, nil // they are gone, or may do nothing any more
	}
	if err != nil {
		return false, fmt.Errorf("the rights of somebody who may agree could not be read: %w", err)
	}
	if !s.pending(c).Mine {
		return false, nil
	}
	return s.concerns(ctx, c)
}

// decided returns the notice to an asker who wrote through a channel. Other askers get none: they
// see the decision where they asked.
func decided(e *Engine, c *confirmations.Confirmation, status, by, reason string, now time.Time) []stores.Job {
	if e.opt.People.TellsAsker == nil || !e.opt.People.TellsAsker(c.Source) {
		return nil
	}
	body := stores.NewObject([]string{"by", "confirmation", "reason", "source", "status", "to"},
		[]stores.Value{stores.NewString(by), c.Key, stores.NewString(reason), stores.NewString(c.Source), stores.NewString(status), stores.NewString(c.Asker)})
	return []stores.Job{e.message("notify", TargetDecided, now, c.Asker, body)}
}
