package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/wire"
	"verbatim/runtime/state/confirmations"
	"verbatim/stores/receipt"
)

// confirmFlags are the flags of `verbatim confirm`.
type confirmFlags struct {
	setup
	reason         string
	agree, decline bool
}

func confirmCommand(a *app) *cobra.Command {
	var f confirmFlags
	cmd := &cobra.Command{
		Use:   "confirm [ID]",
		Short: "Decide what others asked for: list, look, agree, decline",
		Example: `verbatim confirm --as clara
verbatim confirm --as clara --json`,
		Long: `With an ID it shows what would happen now, and asks on a terminal. What is agreed to is
done as whoever asked for it, if it is still what they asked for. Declining is remembered.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id := ""
			if len(args) > 0 {
				id = strings.ReplaceAll(strings.TrimSpace(args[0]), " ", "-")
			}
			return a.decide(cmd.Context(), id, f)
		},
	}
	a.setupFlags(cmd, &f.setup, "your `name`, which is believed")
	a.serversFlag(cmd, &f.servers)
	cmd.Flags().BoolVar(&f.agree, "agree", false, "agree to it without being asked")
	cmd.Flags().BoolVar(&f.decline, "decline", false, "say no to it, for as long as nothing about it changes")
	cmd.Flags().StringVar(&f.reason, "reason", "", "why not: a `text` for whoever asked")
	return cmd
}

func (a *app) decide(ctx context.Context, id string, f confirmFlags) error {
	started := a.now()
	f.as = cmp.Or(f.as, a.env("VERBATIM_AS"))
	switch {
	case f.as == "":
		return usage("who decides?", "verbatim confirm --as NAME")
	case f.agree && f.decline:
		return usage("--agree and --decline are opposites", "give one of them")
	case (f.agree || f.decline) && id == "":
		return usage("which one?", "verbatim confirm --as "+shell(f.as)+" lists what waits; give its ID")
	case f.reason != "" && !f.decline:
		return usage("--reason says why somebody declines", "give --decline as well, or leave it out")
	}
	tools, err := a.tools(f.servers)
	if err != nil {
		return err
	}
	_, store, engine, err := a.wire(ctx, f.setup, tools)
	if err != nil {
		return err
	}
	defer store.Close()
	session, err := engine.Session(ctx, f.as)
	if err != nil {
		return a.runFailed(err)
	}
	mark, err := a.marked(ctx, engine, store, f.store)
	if err != nil {
		return a.runFailed(err)
	}
	defer mark.keep(ctx)
	if why := mark.blind(); why != "" {
		fmt.Fprintf(a.err, "whether this store was restored or copied since somebody asked is not known, since nothing can be noted of it (%s); set STATE_DIRECTORY to a folder that stays\n", why)
	}
	if id == "" {
		return a.listPending(ctx, session)
	}
	d := &decision{job: &job{app: a, runFlags: runFlags{setup: setup{as: f.as}, full: true}, session: session, started: started}, id: id}
	switch {
	case f.agree:
		err = d.agree(ctx, false)
	case f.decline:
		err = d.decline(ctx, f.reason)
	default:
		err = d.look(ctx)
	}
	if why := mark.blind(); why != "" && d.done {
		fmt.Fprintf(a.err, "it is done, and could not be noted (%s): put back, a copy of before would have it agreed to again. Make room, or set STATE_DIRECTORY to a folder that stays\n", why)
	}
	return err
}

// A decision is a confirmation under decision.
type decision struct {
	*job
	id   string
	done bool // it was agreed to, and nothing more waits
}

// look shows the confirmation and asks, if the principal may decide it.
func (d *decision) look(ctx context.Context) error {
	c, err := d.session.Show(ctx, d.id)
	if err != nil {
		return d.runFailed(err)
	}
	if d.json {
		d.emit(wire.NewDecision("shown", c, nil))
		return nil
	}
	d.card(c)
	if !c.Mine || c.Stale || c.Preview == nil {
		return nil
	}
	terminal, ok := d.terminal(d.world)
	if !ok {
		fmt.Fprintf(d.out, "  decide   verbatim confirm %s --as %s --agree, or --decline --reason TEXT\n", d.id, shell(d.as))
		return nil
	}
	defer terminal.Close()
	if err := d.flush(); err != nil {
		return err
	}
	yes, err := d.ask(ctx, terminal, fmt.Sprintf("Agree to %s as %s, for %s?", all(len(c.Preview.Calls)), receipt.Safe(d.as), receipt.Safe(c.Asker)))
	if err != nil {
		return err
	}
	if !yes {
		return &stop{exitRefused, "declined", "nothing was decided and nothing was changed",
			fmt.Sprintf("to say no for good: verbatim confirm %s --as %s --decline --reason TEXT", d.id, shell(d.as))}
	}
	return d.agree(ctx, true)
}

func (d *decision) agree(ctx context.Context, seen bool) error {
	c, reply, err := d.session.Agree(ctx, d.id)
	if err != nil {
		return d.runFailed(err)
	}
	d.done = reply != nil
	if d.json {
		outcome := "agreed"
		if reply != nil {
			outcome = "done"
		}
		d.emit(wire.NewDecision(outcome, c, reply))
		return nil
	}
	if reply == nil {
		fmt.Fprintf(d.out, "agreed   %s; it still waits for somebody with %s\n", spaced(c.ID), missing(c))
		return nil
	}
	return d.told(ctx, reply, seen)
}

func (d *decision) decline(ctx context.Context, reason string) error {
	c, err := d.session.Show(ctx, d.id)
	if err == nil {
		err = d.session.Decline(ctx, d.id, reason)
	}
	if err != nil {
		return d.runFailed(err)
	}
	c.Status, c.Decision.By, c.Decision.Reason, c.Mine = confirmations.Declined, d.as, reason, false
	if d.json {
		d.emit(wire.NewDecision("declined", c, nil))
		return nil
	}
	fmt.Fprintf(d.out, "declined %s; nothing was changed. %s is told when they ask for it again\n", spaced(c.ID), receipt.Safe(c.Asker))
	return nil
}

// card shows a confirmation: who asks for what, for which reason, and all changes as of now.
func (d *decision) card(c *engine.Pending) {
	fmt.Fprintf(d.out, "confirm  %s   %s asked at %s, from %s\n", spaced(c.ID), receipt.Safe(c.Asker), minute(c.Asked), receipt.Safe(c.Source))
	// Some arguments do not show in a row, so the whole call is printed.
	fmt.Fprintln(d.out)
	for _, call := range c.Calls {
		fmt.Fprintln(d.out, "  "+receipt.Safe(call))
	}
	if c.Preview != nil {
		receipt.PrintCalls(d.out, c.Preview, receipt.Options{Full: true})
	}
	fmt.Fprintln(d.out)
	if c.Preview != nil {
		for _, ask := range c.Preview.Asks() {
			if ask.By != "" {
				fmt.Fprintf(d.out, "  asked    because of %s: %s\n", ask.Rule, receipt.Safe(ask.Reason))
			}
		}
	}
	for _, r := range c.Roles {
		switch {
		case r.By != "" && r.Role == "":
			fmt.Fprintf(d.out, "  agreed   %s\n", receipt.Safe(r.By))
		case r.By != "":
			fmt.Fprintf(d.out, "  agreed   %s, role %s\n", receipt.Safe(r.By), r.Role)
		}
	}
	switch {
	case c.Outdated():
		fmt.Fprintf(d.out, "  state    the palettes have changed since, and nobody can agree to it any more; %s has to ask again\n", receipt.Safe(c.Asker))
	case c.Status == confirmations.Waiting && c.Stale:
		fmt.Fprintln(d.out, "  state    what would happen now is not what was asked for; it has to be proposed again")
		for _, moved := range c.Moved {
			fmt.Fprintln(d.out, "  changed  "+receipt.Safe(moved))
		}
	case c.Status == confirmations.Waiting:
		fmt.Fprintf(d.out, "  state    waits for somebody with %s, until %s\n", missing(c), minute(c.Expires))
	default:
		state := strings.ToLower(c.Status)
		if c.Decision.By != "" {
			state += " by " + receipt.Safe(c.Decision.By)
		}
		if !c.Decision.At.IsZero() {
			state += " at " + minute(c.Decision.At)
		}
		if c.Decision.Reason != "" {
			state += ": " + receipt.Safe(c.Decision.Reason)
		}
		fmt.Fprintln(d.out, "  state    "+state)
	}
}

// listPending lists pending confirmations, one per line.
func (a *app) listPending(ctx context.Context, s *engine.Session) error {
	all, err := s.Pending(ctx)
	if err != nil {
		return a.runFailed(err)
	}
	if a.json {
		a.emit(wire.NewConfirmations(all))
		return nil
	}
	if len(all) == 0 {
		fmt.Fprintln(a.err, "nothing waits for you, and nothing that you asked for waits for others")
	}
	for _, c := range all {
		whose := "yours to decide"
		switch {
		case c.Outdated() && c.Mine:
			whose = "not yours any more; " + receipt.Safe(c.Asker) + " has to ask again"
		case c.Outdated():
			whose = "nobody's any more; ask again"
		case !c.Mine:
			whose = "waits for " + missing(c)
		}
		what := "(the palettes have changed since; --decline drops it)"
		if len(c.Calls) > 0 {
			what = receipt.Safe(c.Calls[0])
		}
		if n := len(c.Calls) - 1; n > 0 {
			what += " and " + receipt.Counted(n, "more call")
		}
		fmt.Fprintln(a.out, strings.Join([]string{receipt.Short(c.ID), receipt.Safe(c.Asker), "until " + minute(c.Expires), whose, what}, "\t"))
	}
	return nil
}

// missing lists the roles that have not agreed yet.
func missing(c *engine.Pending) string {
	var roles []string
	for _, r := range c.Roles {
		switch {
		case r.By == "" && r.Role == "": // their own agreement, to the outcome of their job
			roles = append(roles, "the name "+receipt.Safe(c.Asker))
		case r.By == "":
			roles = append(roles, "role "+r.Role)
		}
	}
	return strings.Join(roles, " and somebody with ")
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
