package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
)

func logProveCommand(a *app) *cobra.Command {
	var f setup
	var sign string
	cmd := &cobra.Command{
		Use:     "prove ENTRY",
		Short:   "Prove that an entry is in the log, to somebody who sees no other",
		Example: "verbatim log prove 1 --as d.lang > one.tlog-proof\nverbatim log check-proof one.tlog-proof",
		Long: `What is printed has the form of a C2SP tlog-proof: the entry, and how it leads to the root
of the log. It shows nothing of other entries. --sign is the key of log keygen; without it
nobody has signed the root. Whoever did what the entry says may prove it, and so may a role
with keeps: journal.`,
		Args: exactly(1, "the number of an entry"),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || n < 1 {
				return usage(fmt.Sprintf("%q is no number of an entry", args[0]), "verbatim log show lists them")
			}
			return a.logProve(cmd.Context(), f, n, sign)
		},
	}
	a.setupFlags(cmd, &f, "the `name` of who did it, or of whoever keeps the journal")
	cmd.Flags().StringVar(&sign, "sign", "", "the `file` with the private key (default $VERBATIM_LOG_KEY)")
	return cmd
}

func (a *app) logProve(ctx context.Context, f setup, n int64, sign string) error {
	k, err := a.logKey(sign)
	if err != nil {
		return err
	}
	s, err := a.open(ctx, f.store)
	if err != nil {
		return err
	}
	defer s.Close()
	entries, err := s.Journal(ctx, n, n)
	if err != nil {
		return a.journalFailed(err)
	}
	as := f.as
	if as == "" {
		as = a.env("VERBATIM_AS")
	}
	if len(entries) == 0 || entries[0].Principal != as {
		if err := a.readsJournal(ctx, s, f.palettes, f.as, "log prove"); err != nil {
			return err
		}
	}
	if len(entries) == 0 {
		return noEntry(n)
	}
	proof, err := a.prove(ctx, s, k, n)
	switch {
	case errors.Is(err, journal.ErrWaits):
		return &stop{exitRefused, "not-sealed", fmt.Sprintf("entry %d is not sealed yet", n), "ask again in a second"}
	case errors.Is(err, journal.ErrInChain):
		return &stop{exitRefused, "in-chain", fmt.Sprintf("entry %d is of the older chain, which proves no entry without the others", n), "verbatim log export proves it together with the others"}
	case err != nil:
		return err
	}
	fmt.Fprint(a.out, proof)
	return nil
}

// prove seals what waits, and proves an entry.
func (a *app) prove(ctx context.Context, s stores.Store, k *logKey, n int64) (string, error) {
	proof, err := journal.ProveNow(ctx, s, n, k.signs(s))
	var unsigned *journal.UnsignedError
	switch {
	case err == nil:
		return proof.String(), nil
	case errors.Is(err, journal.ErrNoEntry):
		return "", noEntry(n)
	case errors.As(err, &unsigned):
		return "", a.notSigned(unsigned.Cause)
	case errors.Is(err, journal.ErrWaits), errors.Is(err, journal.ErrInChain):
		return "", err
	}
	return "", a.journalFailed(err)
}

func logCheckProofCommand(a *app) *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:     "check-proof FILE",
		Short:   "Check a proof that log prove printed, without a store",
		Example: "verbatim log prove 1 --as d.lang > one.tlog-proof\nverbatim log check-proof one.tlog-proof",
		Long: `--key is the public key that must have signed the root of the log, or a file with it.
Without it the proof says only that the entry leads to the root that it names.`,
		Args: exactly(1, "the proof"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.logCheckProof(args[0], key)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the public `key` of the log")
	return cmd
}

func (a *app) logCheckProof(file, key string) error {
	src, err := a.source(file)
	if err != nil {
		return err
	}
	keys, err := publicKey(key)
	if err != nil {
		return err
	}
	p, c, err := journal.ReadProof(src.Text, keys...)
	if err != nil {
		return &stop{exitInput, "bad-proof", fmt.Sprintf("%s: %s", file, err), "a proof is what verbatim log prove printed, unchanged, and --key the key of that log"}
	}
	entry := p.Parts[stores.EntryPart]
	if len(entry.Texts) != 9 { // a later version may say more
		return &stop{exitInput, "bad-proof", file + ": it shows an entry that this version cannot read", "check it with the version that made it"}
	}
	micros, _ := strconv.ParseInt(entry.Texts[0], 10, 64)
	unsure := []string{}
	if !c.Signed {
		unsure = append(unsure, "who signed the root of the log: --key checks that")
	}
	out := proofJSON{Schema: "verbatim/proof@1", Entry: p.Number, Time: time.UnixMicro(micros).UTC(), Principal: entry.Texts[1], Verb: entry.Texts[5], Outcome: entry.Texts[6],
		Index: p.Index, Leaves: c.Size, Origin: c.Origin, Signed: c.Signed, Rows: []string{}, Unknown: unsure}
	for i, part := range p.Parts {
		switch {
		case part.Texts == nil:
			out.Withheld++
		case i == stores.CallPart:
			out.Call = part.Texts[0]
		case i >= stores.RowParts:
			out.Rows = append(out.Rows, part.Texts[0])
		}
	}
	if a.json {
		a.emit(out)
		return nil
	}
	fmt.Fprintf(a.out, "entry %d is in the log of %s: %s  %s  %s  %s\n", out.Entry, receipt.Counted(int(c.Size), "leaf"), stamp(out.Time), receipt.Safe(out.Principal), receipt.Safe(out.Verb), receipt.Safe(out.Outcome))
	if out.Call != "" {
		fmt.Fprintf(a.out, "call       %s\n", receipt.Safe(out.Call))
	}
	for _, row := range out.Rows {
		fmt.Fprintf(a.out, "changed    %s\n", receipt.Safe(row))
	}
	if out.Withheld > 0 {
		fmt.Fprintf(a.out, "withheld   %s\n", receipt.Counted(out.Withheld, "part"))
	}
	if c.Signed {
		fmt.Fprintf(a.out, "signed by  %s\n", c.Origin)
	}
	for _, u := range unsure {
		fmt.Fprintf(a.out, "cannot know %s\n", u)
	}
	return nil
}

type proofJSON struct {
	Schema    string    `json:"schema"`
	Entry     int64     `json:"entry"`
	Time      time.Time `json:"time"`
	Principal string    `json:"principal"`
	Verb      string    `json:"verb"`
	Outcome   string    `json:"outcome"`
	Call      string    `json:"call,omitempty"`
	Rows      []string  `json:"rows"` // changes, each a JSON text
	Withheld  int       `json:"withheld,omitempty"`
	Index     int64     `json:"index"`
	Leaves    int64     `json:"leaves"`
	Origin    string    `json:"origin"`
	Signed    bool      `json:"signed"`
	Unknown   []string  `json:"unknown"`
}

// sealedWithin is how long a run waits for its entries to be sealed.
const sealedWithin = 2 * time.Second

// proofs returns the proofs of entries, in their order. If they are not sealed in time, or cannot
// be proven for another reason, why says so: what was done is done all the same.
func (a *app) proofs(ctx context.Context, s stores.Store, k *logKey, entries []int64) (all []string, why string) {
	ctx, end := context.WithTimeout(ctx, sealedWithin)
	defer end()
	for _, n := range entries {
		proof, err := a.prove(ctx, s, k, n)
		var stopped *stop
		switch {
		case errors.Is(err, journal.ErrInChain):
			return nil, "entry " + strconv.FormatInt(n, 10) + " is of the older chain, which proves no entry without the others"
		case errors.As(err, &stopped) && strings.HasPrefix(stopped.code, "log-"):
			return nil, stopped.text
		case err != nil:
			return nil, "not sealed yet"
		}
		all = append(all, proof)
	}
	return all, ""
}
