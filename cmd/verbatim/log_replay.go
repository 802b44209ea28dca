package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"verbatim/runtime/frontends/wire"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
)

func logReplayCommand(a *app) *cobra.Command {
	var store, palettes, into string
	cmd := &cobra.Command{
		Use:     "replay [FILE]",
		Short:   "Work rows out from the journal, and compare them with those there are",
		Example: "verbatim log replay\nverbatim migrate --store again.db --data bank.sql\nverbatim log replay --into again.db",
		Long: `FILE is a journal that log export wrote; without one it is that of the store. With --into
the rows are made in another store, which must hold none of them, and compared there.
Every difference is named. Rows that no entry speaks of cannot be judged: log baseline
tells the journal of them.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := ""
			if len(args) == 1 {
				file = args[0]
			}
			return a.logReplay(cmd.Context(), store, palettes, file, into)
		},
	}
	a.storeFlag(cmd, &store)
	a.palettesFlag(cmd, &palettes)
	cmd.Flags().StringVar(&into, "into", "", "make the rows in this `store`, a path or postgres://…")
	return cmd
}

type replayJSON struct {
	Schema      string           `json:"schema"`
	Entries     int64            `json:"entries"`
	Rows        int              `json:"rows"`    // rows that the journal records
	Partly      int              `json:"partly"`  // of those, rows known in part only
	Looked      int              `json:"looked"`  // rows in the store
	Unknown     int              `json:"unknown"` // of those, rows that are not in the journal
	Erased      []differenceJSON `json:"erased"`
	Differences []differenceJSON `json:"differences"`
	Left        []string         `json:"left"`
	Foreign     []string         `json:"foreign"`
}

type differenceJSON struct {
	Entity  string       `json:"entity"`
	Key     stores.Value `json:"key"`
	Field   string       `json:"field,omitempty"`
	Entry   int64        `json:"entry,omitempty"`
	Message string       `json:"message"`
}

// scratch is a temporary file that nobody else can open, and that ends with the command.
type scratch struct{ *os.File }

func newScratch() (journal.Scratch, error) {
	f, err := os.CreateTemp("", "verbatim-rows-")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // where a file that is open may be removed
	return scratch{f}, nil
}

// Close implements io.Closer.
func (s scratch) Close() error {
	err := s.File.Close()
	_ = os.Remove(s.Name())
	return err
}

// long has a command that goes over a whole journal collect garbage as often as a server does, so that its
// memory is that of what it holds.
func (a *app) long() {
	if a.env("GOGC") == "" {
		debug.SetGCPercent(100)
	}
}

func (a *app) logReplay(ctx context.Context, store, palettes, file, into string) error {
	a.long()
	a.reads = into == "" // which is written to
	reg, err := a.wholePalettes(palettes)
	if err != nil {
		return err
	}
	var lines func() iter.Seq2[*journal.Line, error]
	var live stores.Store
	if file == "" || into == "" {
		if live, err = a.open(ctx, store); err != nil {
			return err
		}
		defer live.Close()
		if err := live.Seal(ctx); err != nil && !errors.Is(err, stores.ErrStandby) {
			return a.journalFailed(err)
		}
	}
	if file != "" {
		f, err := a.openJournal(file)
		if err != nil {
			return err
		}
		defer f.Close()
		read := false
		lines = func() iter.Seq2[*journal.Line, error] {
			if _, err := f.Seek(0, io.SeekStart); read && err != nil { // a pipe is read once
				return func(yield func(*journal.Line, error) bool) { yield(nil, err) }
			}
			read = true
			return journal.Read(f)
		}
	} else {
		lines = func() iter.Seq2[*journal.Line, error] {
			return journal.Opened(ctx, live, operatorName, journal.Entries(ctx, live, 1, 0))
		}
	}
	state := journal.NewState(tables(reg))
	defer state.Close()
	state.Spill(newScratch)
	var h journal.Head
	var left []string
	all := stores.Scope{Principal: operatorName, All: true}
	each := func(tx stores.Tx) error {
		if tx != nil {
			if err := foretell(state, lines()); err != nil {
				return err
			}
		}
		for l, err := range journal.Verified(lines(), true, &h) {
			if err != nil {
				return err
			}
			record, err := l.Record()
			if err != nil {
				return err
			}
			if tx != nil {
				more, err := state.Rebuild(ctx, tx, l.Entry.Seq, &record)
				if err != nil {
					return fmt.Errorf("entry %d cannot be carried out again: %w", l.Entry.Seq, err)
				}
				left = append(left, more...)
			}
			state.Apply(l.Entry.Seq, &record)
		}
		return nil
	}
	target := live
	if into != "" {
		if target, err = a.open(ctx, into); err != nil {
			return err
		}
		defer target.Close()
		err = target.Update(ctx, all, each)
	} else {
		err = each(nil)
	}
	if err != nil {
		var line *journal.FileError
		var chain *stores.ChainError
		var opening *journal.OpeningError
		switch {
		case errors.As(err, &line):
			return a.badFile(file, err)
		case errors.As(err, &chain), errors.As(err, &opening):
			return brokenJournal(err)
		case into != "" && (errors.Is(err, stores.ErrDuplicate) || errors.Is(err, stores.ErrInvalid)):
			return &stop{exitRefused, "not-empty", "the rows do not fit into the store: " + err.Error(), "name a store without these rows, which verbatim migrate just made"}
		}
		return broken("the journal cannot be carried out again", err, "nothing was changed")
	}
	looked, strange := 0, 0
	err = target.View(ctx, all, func(r stores.Reader) (err error) {
		looked, strange, err = state.Compare(ctx, r)
		return err
	})
	if err != nil {
		return a.journalFailed(err)
	}
	return a.toldReplay(state, h, looked, strange, left, into)
}

// foretell reads a journal for the rows that a baseline records after other entries changed them.
func foretell(state *journal.State, lines iter.Seq2[*journal.Line, error]) error {
	for l, err := range lines {
		if err != nil {
			return err
		}
		record, err := l.Record()
		if err != nil {
			return err
		}
		state.Foretell(&record)
	}
	return nil
}

func (a *app) toldReplay(state *journal.State, h journal.Head, looked, strange int, left []string, into string) error {
	rows, partly := state.Rows()
	found := state.Differences()
	var foreign []string
	for name, n := range state.Foreign() {
		foreign = append(foreign, fmt.Sprintf("%s: %s", name, receipt.Counted(n, "change")))
	}
	slices.Sort(foreign)
	if a.json {
		out := replayJSON{Schema: "verbatim/replay@1", Entries: h.Entries, Rows: rows, Partly: partly, Looked: looked, Unknown: strange,
			Erased: differences(state.Gone()), Differences: differences(found), Left: wire.Some(left), Foreign: wire.Some(foreign)}
		a.emit(out)
		if len(found) > 0 {
			return said(exitInput)
		}
		return nil
	}
	for _, d := range found {
		where := receipt.LastName(d.Entity.Table)
		if d.Field != "" {
			where += "." + d.Field
		}
		entry := ""
		if d.Seq > 0 {
			entry = fmt.Sprintf("   (entry %d)", d.Seq)
		}
		fmt.Fprintf(a.out, "differs  %s %s%s\n", where, receipt.Safe(d.Msg), entry)
	}
	for _, d := range state.Gone() {
		fmt.Fprintf(a.out, "erased   %s.%s   (entry %d)\n", receipt.LastName(d.Entity.Table), d.Field, d.Seq)
	}
	for _, l := range left {
		fmt.Fprintf(a.out, "left out %s\n", l)
	}
	for _, f := range foreign {
		fmt.Fprintf(a.out, "unknown  %s that no palette declares\n", f)
	}
	where := "the store"
	if into != "" {
		where = into
	}
	fmt.Fprintf(a.out, "replayed %s: %s, %s in %s\n", receipt.Counted(int(h.Entries), "entry"), receipt.Counted(rows, "row"), differencesWord(len(found)), where)
	if partly > 0 {
		fmt.Fprintf(a.out, "cannot know %s from before the journal: compared where entries tell of it\n", receipt.Counted(partly, "row"))
	}
	if strange > 0 {
		fmt.Fprintf(a.out, "cannot know %s that no entry speaks of; verbatim log baseline tells the journal\n", receipt.Counted(strange, "row"))
	}
	if len(found) > 0 {
		return said(exitInput)
	}
	return nil
}

func differencesWord(n int) string {
	if n == 0 {
		return "no difference"
	}
	return receipt.Counted(n, "difference")
}

func differences(all []journal.Difference) []differenceJSON {
	out := []differenceJSON{}
	for _, d := range all {
		out = append(out, differenceJSON{d.Entity.Name, d.Key, d.Field, d.Seq, d.Msg})
	}
	return out
}

func logBaselineCommand(a *app) *cobra.Command {
	var f setup
	cmd := &cobra.Command{
		Use:     "baseline",
		Short:   "Tell the journal of rows that were there before it",
		Example: "verbatim log baseline --as d.lang",
		Long: `Entries are added that say how every row stands which no entry speaks of, or only in
part. From then on a replay knows all rows. It takes a role with keeps: journal.`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.logBaseline(cmd.Context(), f)
		},
	}
	a.setupFlags(cmd, &f, "the `name` of whoever keeps the journal")
	return cmd
}

func (a *app) logBaseline(ctx context.Context, f setup) error {
	if f.as = cmp.Or(f.as, a.env("VERBATIM_AS")); f.as == "" {
		return usage("who keeps the journal?", "verbatim log baseline --as NAME")
	}
	reg, err := a.wholePalettes(f.palettes)
	if err != nil {
		return err
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
	if err := s.Seal(ctx); err != nil { // so that the latest entries have places
		return a.journalFailed(err)
	}
	state := journal.NewState(tables(reg))
	defer state.Close()
	state.Spill(newScratch)
	for l, err := range journal.Opened(ctx, s, operatorName, journal.Entries(ctx, s, 1, 0)) {
		if err != nil {
			return a.journalFailed(err)
		}
		record, err := l.Record()
		if err != nil {
			return a.journalFailed(err)
		}
		state.Apply(l.Entry.Seq, &record)
	}
	n, err := session.Journal().Baseline(ctx, state)
	if err != nil {
		return a.runFailed(err)
	}
	if a.json {
		a.emit(journalReport{Schema: "verbatim/log@1", Done: "baseline", Rows: n})
		return nil
	}
	if n == 0 {
		fmt.Fprintln(a.out, "the journal knows every row already")
		return nil
	}
	fmt.Fprintf(a.out, "the journal was told of %s\n", receipt.Counted(n, "row"))
	return nil
}
