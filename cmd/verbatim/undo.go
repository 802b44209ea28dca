package main

import (
	"cmp"
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"verbatim/dsl"
)

func undoCommand(a *app) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "undo N",
		Short: "Take back what a call did, by the number of its journal entry",
		Example: `verbatim undo --dry-run --as clara 17
verbatim undo --as clara 17`,
		Long: `Makes the call that takes entry N back, as its palette says, and runs it like any other:
it is checked, previewed and journalled, under the rules of today. It is refused where
others built on what the call did. On a terminal it is shown and asked about first, as
nobody sees in a number what it would change; elsewhere it is asked about where a rule
says so. An undo is undone by its own number.`,
		Args: exactly(1, "the number of one entry: verbatim log show lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.confirms = cmd.Flags().Changed("confirm")
			if err := f.emptyKey(cmd); err != nil {
				return err
			}
			seq, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || seq < 1 {
				return usage(quoted(args[0])+" is the number of no entry", "verbatim undo 17")
			}
			return a.undo(cmd.Context(), seq, f)
		},
	}
	a.setupFlags(cmd, &f.setup, "your `name`, which is believed")
	a.serversFlag(cmd, &f.servers)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change and change nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "agree to what is asked, without looking")
	cmd.Flags().StringVar(&f.confirm, "confirm", "", "agree to the preview with this `id`, and to no other")
	cmd.Flags().StringVar(&f.key, "key", "", "do it once under this `key`, however often it is sent")
	return cmd
}

func (a *app) undo(ctx context.Context, seq int64, f runFlags) error {
	if f.as = cmp.Or(f.as, a.env("VERBATIM_AS")); f.as == "" {
		return usage("who is asking?", "verbatim undo --as NAME "+strconv.FormatInt(seq, 10))
	}
	src, err := a.undoScript(ctx, seq, f)
	if err != nil {
		return err
	}
	f.unseen, f.undoes = true, seq
	return a.runSource(ctx, "", func() (*dsl.Source, error) { return src, nil }, f)
}

// undoScript returns the call that undoes an entry.
func (a *app) undoScript(ctx context.Context, seq int64, f runFlags) (*dsl.Source, error) {
	_, store, engine, err := a.wire(ctx, f.setup, nil)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	session, err := begin(ctx, engine, f.as, "")
	if err != nil {
		return nil, a.runFailed(err)
	}
	script, err := session.Journal().Undo(ctx, seq)
	if err != nil {
		return nil, a.runFailed(err)
	}
	return script.Source, nil
}
