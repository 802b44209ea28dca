package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
)

// A journalReport is the JSON report of an operation on a journal.
type journalReport struct {
	Schema  string `json:"schema"`
	Done    string `json:"done"` // "imported", "redacted", "baseline"
	Entries int64  `json:"entries"`
	Hash    string `json:"hash,omitempty"`
	Values  int    `json:"values,omitempty"`
	Turns   int    `json:"turns,omitempty"`
	Copies  int    `json:"copies,omitempty"`
	Rows    int    `json:"rows,omitempty"`
	// Elsewhere lists other places that hold the same texts and were not changed.
	Elsewhere []elsewhereJSON `json:"elsewhere,omitempty"`
}

type elsewhereJSON struct {
	Entry  int64         `json:"entry,omitempty"`
	Job    string        `json:"job,omitempty"`
	Waits  string        `json:"waits,omitempty"`
	Until  string        `json:"until,omitempty"`
	Copies int           `json:"copies,omitempty"`
	Entity string        `json:"entity,omitempty"`
	Key    *stores.Value `json:"key,omitempty"`
	Field  string        `json:"field,omitempty"`
}

func logExportCommand(a *app) *cobra.Command {
	var f setup
	var bare bool
	var from, to int64
	cmd := &cobra.Command{
		Use:     "export",
		Short:   "Write the journal as lines of JSON, for log verify and log import",
		Example: "verbatim log export --as d.lang > journal.jsonl\nverbatim log verify journal.jsonl",
		Long: `Personal and sensitive values are written beside the entries that commit to them; with
--bare they are left out, and the journal can be verified all the same. It takes a role
with keeps: journal, such as journal-keeper.`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if from < 1 || to != 0 && to < from {
				return usage("entries have numbers from 1 on", "verbatim log export --from 1 --to 1000")
			}
			return a.logExport(cmd.Context(), f, bare, from, to)
		},
	}
	a.setupFlags(cmd, &f, "the `name` of whoever keeps the journal")
	cmd.Flags().BoolVar(&bare, "bare", false, "leave out what could be erased")
	cmd.Flags().Int64Var(&from, "from", 1, "begin with the entry of this `number`")
	cmd.Flags().Int64Var(&to, "to", 0, "end with the entry of this `number` (default the last)")
	return cmd
}

func (a *app) logExport(ctx context.Context, f setup, bare bool, from, to int64) error {
	s, err := a.open(ctx, f.store)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := a.readsJournal(ctx, s, f.palettes, f.as, "log export"); err != nil {
		return err
	}
	if err := s.Seal(ctx); err != nil && !errors.Is(err, stores.ErrStandby) {
		return a.journalFailed(err)
	}
	first, last := int64(1), int64(0)
	if from > 1 || to > 0 {
		var stopped *stop
		if first, last, err = placesOf(ctx, s, from, to); errors.As(err, &stopped) {
			return err
		}
		if err != nil {
			return a.journalFailed(err)
		}
	}
	w := journal.NewWriter(a.out)
	var h journal.Head
	// The file must be readable later, so the journal is verified while it is written.
	for l, err := range journal.Verified(journal.Opened(ctx, s, operatorName, journal.Entries(ctx, s, first, last)), first == 1, &h) {
		if err != nil {
			return a.journalFailed(err)
		}
		opening := l.Opening
		if bare {
			opening = nil
		}
		if err := w.Entry(&l.Entry, opening); err != nil {
			return nil // the writer reports it
		}
	}
	_ = w.Close() // the writer reports it
	return nil
}

// placesOf returns the places of the first and the last of the entries with numbers from one to another,
// 0 being the last. An entry that was committed late stands far behind its neighbours, so it looks at all
// of them. There may be others between them.
func placesOf(ctx context.Context, s stores.Store, from, to int64) (first, last int64, err error) {
	first, last = math.MaxInt64, -1
	for e, err := range journal.ByNumber(ctx, s, from, to) {
		switch {
		case err != nil:
			return 0, 0, err
		case e.Place > 0:
			first, last = min(first, e.Place), max(last, e.Place)
		case to > 0: // what was exported may be detached, and dropped
			return 0, 0, &stop{exitRefused, "not-sealed", fmt.Sprintf("entry %d is not sealed yet", e.Seq), "ask again in a second"}
		}
	}
	if last < 0 { // there is none
		return 1, -1, nil
	}
	if to == 0 {
		last = 0
	}
	return first, last, nil
}

func logImportCommand(a *app) *cobra.Command {
	var store string
	cmd := &cobra.Command{
		Use:     "import FILE",
		Short:   "Read an exported journal into a store whose journal is empty",
		Example: "verbatim log export --as d.lang > move.jsonl\nverbatim migrate --store moved.db --data bank.sql\nverbatim log import move.jsonl --store moved.db",
		Long: `The file is verified first. Its entries keep their numbers and hashes, so that checkpoints
of before hold. Rows are not made: verbatim log replay FILE --into STORE does that.`,
		Args: exactly(1, "the file to read"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.logImport(cmd.Context(), store, args[0])
		},
	}
	a.storeFlag(cmd, &store)
	return cmd
}

func (a *app) logImport(ctx context.Context, store, file string) error {
	f, err := a.openJournal(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := journal.Verify(journal.OnlyEntries(journal.Read(f)), nil); err != nil {
		return a.badFile(file, err)
	}
	if _, err := f.Seek(0, 0); err != nil {
		return broken("the file cannot be read again", err, "give a file, not a pipe")
	}
	s, err := a.open(ctx, store)
	if err != nil {
		return err
	}
	defer s.Close()
	h, err := journal.Import(ctx, s, journal.Read(bufio.NewReader(f)))
	var line *journal.FileError
	switch {
	case errors.Is(err, journal.ErrNotEmpty):
		return &stop{exitRefused, "not-empty", "the journal of the store has entries already", "import into a store that verbatim migrate just made"}
	case errors.As(err, &line):
		return a.badFile(file, err)
	case err != nil:
		return broken(fmt.Sprintf("the journal was read up to entry %d", h.Entries), err, "begin again with a store that verbatim migrate just made")
	}
	if a.json {
		a.emit(journalReport{Schema: "verbatim/log@1", Done: "imported", Entries: h.Entries, Hash: hex.EncodeToString(h.Hash[:])})
		return nil
	}
	fmt.Fprintf(a.out, "imported %s, head %x %x\n", receipt.Counted(int(h.Entries), "entry"), h.Hash[:2], h.Hash[2:4])
	return nil
}

func (a *app) badFile(file string, err error) error {
	var chain *stores.ChainError
	var line *journal.FileError
	if errors.As(err, &chain) || errors.As(err, &line) {
		return &stop{exitInput, "journal-broken", file + ": " + err.Error(), "export it again, or look for a copy"}
	}
	return broken("the file cannot be read", err, "check the path, and who may read it")
}

// redactFlags are the flags of `verbatim log redact`.
type redactFlags struct {
	setup
	row, principal  string
	yes, everywhere bool
}

func logRedactCommand(a *app) *cobra.Command {
	var f redactFlags
	cmd := &cobra.Command{
		Use:     "redact",
		Short:   "Erase what the journal tells of a row, or what somebody said",
		Example: `verbatim log redact --row "@pierre-dupont-source-of-wealth" --as d.lang --yes` + "\nverbatim log redact --principal jonas --as d.lang --yes",
		Long: `Values that palettes mark as personal or sensitive are erased for ever; entries stay, and
the journal stays whole. Rows are not touched. It takes a role with keeps: journal, asks
first, and is journalled itself. Where the same words stand elsewhere too, in another row
or in work for later, that is listed; --everywhere erases them there as well.`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.logRedact(cmd.Context(), f)
		},
	}
	a.setupFlags(cmd, &f.setup, "the `name` of whoever keeps the journal")
	cmd.Flags().StringVar(&f.row, "row", "", "what was said of the row with this `name` or label")
	cmd.Flags().BoolVar(&f.everywhere, "everywhere", false, "with --row: the same words of other rows as well")
	cmd.Flags().StringVar(&f.principal, "principal", "", "what this `name` said")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "do not ask")
	return cmd
}

func (a *app) logRedact(ctx context.Context, f redactFlags) error {
	f.as = cmp.Or(f.as, a.env("VERBATIM_AS"))
	switch {
	case f.as == "":
		return usage("who keeps the journal?", "verbatim log redact --as NAME")
	case (f.row == "") == (f.principal == ""):
		return usage("what is to be erased?", "give --row or --principal, one of them")
	case f.everywhere && f.row == "":
		return usage("what somebody said is erased wherever it stands", "leave --everywhere out")
	}
	s, err := a.open(ctx, f.store)
	if err != nil {
		return err
	}
	defer s.Close()
	session, err := a.journalSession(ctx, s, f.palettes, f.as)
	if err != nil {
		return err
	}
	w := engine.Redaction{Principal: f.principal, Everywhere: f.everywhere}
	what := "what " + f.principal + " said"
	if f.row != "" {
		if w.Entity, w.Key, err = session.Names().Find(ctx, f.row); err != nil {
			return a.noRow(err, f.row)
		}
		what = "what was said of " + f.row
	}
	n, err := session.Journal().Redactable(ctx, w)
	if err != nil {
		return a.redactFailed(err)
	}
	if n.Entries == 0 && n.Turns == 0 && n.Copies == 0 {
		return a.toldRedacted(n)
	}
	much := muchErased(n, "in")
	if !f.yes {
		terminal, ok := a.terminal(a.world)
		if !ok {
			return &stop{exitRefused, "needs-agreement", fmt.Sprintf("%s would be erased, for ever, and there is no terminal to ask on", much), "pass --yes to erase them"}
		}
		defer terminal.Close()
		if !a.json {
			fmt.Fprintf(a.out, "%s: %s%s\n", what, much, between(n))
			a.elsewhere(n)
		}
		if err := a.flush(); err != nil {
			return err
		}
		yes, err := a.ask(ctx, terminal, "Erase them from the journal, for ever?")
		if err != nil {
			return err
		}
		if !yes {
			return &stop{exitRefused, "declined", "not agreed to; nothing was erased", "to do it after all, run it again and type yes"}
		}
	}
	if n, err = session.Journal().Redact(ctx, w); err != nil {
		return a.redactFailed(err)
	}
	return a.toldRedacted(n)
}

func (a *app) redactFailed(err error) error {
	var opening *journal.OpeningError
	if errors.As(err, &opening) {
		return brokenJournal(err)
	}
	return a.runFailed(err)
}

// between describes which entries are affected.
func between(n journal.Erased) string {
	if n.First == 0 {
		return ""
	}
	return fmt.Sprintf(", from %d to %d", n.First, n.Last)
}

func (a *app) toldRedacted(n journal.Erased) error {
	switch {
	case a.json:
		a.emit(journalReport{Schema: "verbatim/log@1", Done: "redacted", Entries: int64(n.Entries), Values: n.Values, Turns: n.Turns, Copies: n.Copies, Elsewhere: elsewhere(n)})
	case n.Values == 0 && n.Turns == 0 && n.Copies == 0:
		fmt.Fprintln(a.out, "there is nothing to erase")
		a.elsewhere(n)
	default:
		fmt.Fprintf(a.out, "erased %s; backups and exports of before still hold them\n", muchErased(n, "from"))
		a.elsewhere(n)
	}
	return nil
}

// copiesOf counts the rows beside the journal that repeat a text.
func copiesOf(n int) string {
	return receipt.Counted(n, "copy") + " in previews, receipts, finished jobs and turns"
}

// muchErased says how much is erased.
func muchErased(n journal.Erased, from string) string {
	all := []string{receipt.Counted(n.Values, "value") + " " + from + " " + receipt.Counted(n.Entries, "entry")}
	if n.Turns > 0 {
		all = append(all, "the words of "+receipt.Counted(n.Turns, "turn"))
	}
	if n.Copies > 0 {
		all = append(all, copiesOf(n.Copies))
	}
	return strings.Join(all, " and ")
}

// elsewhere lists other places that hold the same texts and were not changed.
func (a *app) elsewhere(n journal.Erased) {
	for _, e := range n.Elsewhere {
		switch {
		case e.Waits != "":
			fmt.Fprintf(a.out, "also in  %s, which waits for somebody until %s; once it is decided, redact again\n", receipt.Safe(e.Waits), stamp(e.Until))
		case e.Copies > 0:
			fmt.Fprintf(a.out, "also in  %s; --everywhere erases it there\n", copiesOf(e.Copies))
		case e.Job != "":
			fmt.Fprintf(a.out, "also in  job %s, until it is done; verbatim work list %s --drop removes it\n", receipt.Safe(e.Job), shell(e.Job))
		case e.Field != "":
			fmt.Fprintf(a.out, "also in  entry %d, %s of a row of %s; --everywhere erases it there\n", e.Seq, e.Field, e.Row.Entity)
		default:
			fmt.Fprintf(a.out, "also in  entry %d, in what was asked for; --everywhere erases it there\n", e.Seq)
		}
	}
}

func elsewhere(n journal.Erased) (all []elsewhereJSON) {
	for _, e := range n.Elsewhere {
		out := elsewhereJSON{Entry: e.Seq, Job: e.Job, Waits: e.Waits, Copies: e.Copies, Entity: e.Row.Entity, Field: e.Field}
		if !e.Row.Key.IsNull() {
			out.Key = &e.Row.Key
		}
		if e.Waits != "" {
			out.Until = stamp(e.Until)
		}
		all = append(all, out)
	}
	return all
}
