package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/runtime/engine"
	"verbatim/stores/receipt"
)

// settlings are the outcomes that a person can give a request, as they are typed.
var settlings = []string{engine.SettleDone, engine.SettleNotDone, engine.SettleAgain}

func logSettleCommand(a *app) *cobra.Command {
	var f setup
	cmd := &cobra.Command{
		Use:     "settle [ENTRY OUTCOME]",
		Short:   "Say what became of a request to a tool whose answer was lost",
		Example: "verbatim log settle --as clara",
		Long: `Without an entry it lists the requests of which nobody knows what became: yours, or those of
everybody if your role keeps the journal. With one it says what became of it, as settle 12 done:
OUTCOME is done, not-done, or again: then it may be done again, whether or not it was done. The
journal gets an entry that names the other.`,
		Args: atMost(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.as = cmp.Or(f.as, a.env("VERBATIM_AS"))
			if f.as == "" {
				return usage("who settles it?", "verbatim log settle --as NAME")
			}
			var entry int64
			if len(args) > 0 {
				var err error
				if entry, err = strconv.ParseInt(args[0], 10, 64); err != nil || entry < 1 {
					return usage(fmt.Sprintf("%q is no entry of the journal", args[0]), "verbatim log settle lists those that can be settled")
				}
				if len(args) < 2 || !slices.Contains(settlings, args[1]) {
					return usage("what became of it?", "give "+strings.Join(settlings[:2], ", ")+" or "+settlings[2])
				}
			}
			_, store, engine, err := a.wire(cmd.Context(), f, nil)
			if err != nil {
				return err
			}
			defer store.Close()
			session, err := engine.Session(cmd.Context(), f.as)
			if err != nil {
				return a.runFailed(err)
			}
			if entry > 0 {
				by, err := session.Journal().Settle(cmd.Context(), entry, args[1])
				if err != nil {
					return a.runFailed(err)
				}
				fmt.Fprintf(a.out, "settled  entry %d: %s (entry %d)\n", entry, args[1], by)
				return nil
			}
			all, err := session.Journal().Unsettled(cmd.Context())
			if err != nil {
				return a.runFailed(err)
			}
			if len(all) == 0 {
				fmt.Fprintln(a.err, "I looked for requests without an outcome and found none that you can see")
			}
			for _, u := range all {
				fmt.Fprintln(a.out, strings.Join([]string{strconv.FormatInt(u.Entry, 10), stamp(u.Time), receipt.Safe(u.Principal), strings.ToLower(u.Status), receipt.Safe(u.Tool)}, "\t"))
			}
			return nil
		},
	}
	a.setupFlags(cmd, &f, "your `name`, which is believed")
	return cmd
}
