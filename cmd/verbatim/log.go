package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verbatim/runtime/domains/rights"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/wire"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/verbs/load"
)

func logCommand(a *app) *cobra.Command {
	subcommands := []*cobra.Command{
		logShowCommand(a), logVerifyCommand(a), logCheckpointCommand(a), logKeygenCommand(a), logProveCommand(a), logCheckProofCommand(a),
		logExportCommand(a), logImportCommand(a), logReplayCommand(a), logSettleCommand(a), logBaselineCommand(a), logRedactCommand(a), logPlanCommand(a), logTemplatesCommand(a),
	}
	cmd := &cobra.Command{
		Use:     "log",
		Short:   "The journal: who said what, what it changed, and whether it is whole",
		Example: "verbatim log show --as d.lang\nverbatim log verify\nverbatim log show --since 1h --principal clara --as d.lang",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				var names []string
				for _, c := range subcommands {
					names = append(names, c.Name())
				}
				return usage(fmt.Sprintf("there is no subcommand %q%s", "log "+args[0], didYouMean(args[0], names)), "verbatim log --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(subcommands...)
	return cmd
}

// operatorName is the principal who reads the journal if none is named: an operator with access
// to the store.
const operatorName = "verbatim"

func logShowCommand(a *app) *cobra.Command {
	var store string
	var q journalQuery
	show := &cobra.Command{
		Use:     "show [N|A..B]",
		Short:   "Print entries, one a line, or one entry in full",
		Example: "verbatim log show --as d.lang\nverbatim log show 1..2 --as d.lang --json\nverbatim log show --since 1h --principal clara --as d.lang",
		Long: `Columns are number, time, who, outcome and call, with tabs between them when piped.
It is read by somebody whose role keeps the journal, such as journal-keeper, and by anybody while
the store knows nobody. A row is one that they may see, or one by the name that it had.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if err := q.entries(args[0]); err != nil {
					return err
				}
			}
			if err := q.times(a.now()); err != nil {
				return err
			}
			s, err := a.open(cmd.Context(), store)
			if err != nil {
				return err
			}
			defer s.Close()
			if err := a.readsJournal(cmd.Context(), s, q.palettes, q.as, "log show"); err != nil {
				return err
			}
			if err := a.findRow(cmd.Context(), s, &q); err != nil {
				return err
			}
			return a.logShow(cmd.Context(), s, q)
		},
	}
	a.storeFlag(show, &store)
	a.palettesFlag(show, &q.palettes)
	f := show.Flags()
	f.StringVar(&q.since, "since", "", "only since a `time`: 1h, 2d, 2025-01-03 or 2025-01-03T09:00:00Z")
	f.StringVar(&q.until, "until", "", "only before a `time`")
	f.StringVar(&q.principal, "principal", "", "only of this `name`")
	f.StringVar(&q.verb, "verb", "", "only of this `verb`")
	f.StringVar(&q.row, "row", "", "only about the row of this `name` or label")
	f.StringVar(&q.as, "as", "", "the `name` of whoever keeps the journal (default $VERBATIM_AS)")
	_ = show.RegisterFlagCompletionFunc("as", a.completeNames(&store, &q.palettes))
	f.StringVar(&q.turn, "turn", "", "only of this turn of a conversation, an `id`")
	f.StringVar(&q.outcome, "outcome", "", "only with this `outcome`, such as ok, refused or refused:CODE")
	return show
}

// A journalQuery selects entries.
type journalQuery struct {
	first, last     int64 // 0 is the end of the journal
	single          bool
	since, until    string
	after, before   time.Time
	principal, verb string
	turn, outcome   string
	row, as         string
	palettes        string
	of              *journal.Row // the row, once it has been found
}

func (q *journalQuery) entries(arg string) error {
	from, to, isRange := strings.Cut(arg, "..")
	wrong := usage(fmt.Sprintf("%q is neither an entry nor a range of entries", arg), "one entry is 12, several are 12..20")
	var err error
	if q.first, err = strconv.ParseInt(from, 10, 64); err != nil || q.first < 1 {
		return wrong
	}
	if !isRange {
		q.last, q.single = q.first, true
		return nil
	}
	if to == "" {
		return nil
	}
	if q.last, err = strconv.ParseInt(to, 10, 64); err != nil || q.last < q.first {
		return wrong
	}
	return nil
}

// outcomes are the outcomes of entries.
var outcomes = []string{"ok", "refused", "declined", "expired", "skipped", "attempted", "failed", "unknown"}

// times reads the times of a query and checks its outcome.
func (q *journalQuery) times(now time.Time) (err error) {
	word, _, _ := strings.Cut(q.outcome, ":")
	if q.outcome != "" && !slices.Contains(outcomes, word) {
		return usage(fmt.Sprintf("there is no outcome %q%s", word, didYouMean(word, outcomes)), "the outcomes are "+strings.Join(outcomes, ", "))
	}
	if q.since != "" {
		if q.after, err = when("--since", q.since, now); err != nil {
			return err
		}
	}
	if q.until != "" {
		q.before, err = when("--until", q.until, now)
	}
	return err
}

// when reads a time, or a duration before now.
func when(flag, text string, now time.Time) (time.Time, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usage(fmt.Sprintf("%s does not understand %q", flag, text), "give 30m, 1h, 2d, 2025-01-03 or 2025-01-03T09:00:00Z")
}

// findRow finds the row of --row in the scope of --as.
func (a *app) findRow(ctx context.Context, s stores.Store, q *journalQuery) error {
	if q.row == "" || cmp.Or(q.as, a.env("VERBATIM_AS")) == "" {
		return nil
	}
	session, err := a.journalSession(ctx, s, q.palettes, q.as)
	if err != nil {
		return err
	}
	e, key, err := session.Names().Find(ctx, q.row)
	if errors.Is(err, stores.ErrNotFound) {
		return nil // it may be deleted, and may have had that name
	}
	if err != nil {
		return a.noRow(err, q.row)
	}
	q.of = journal.RowOf(e, key)
	return nil
}

// journalSession opens a session for reading or keeping the journal.
func (a *app) journalSession(ctx context.Context, s stores.Store, palettes, as string) (*engine.Session, error) {
	reg, err := a.wholePalettes(palettes)
	if err != nil {
		return nil, err
	}
	engine, err := a.newEngine(reg, s, nil)
	if err != nil {
		return nil, a.runFailed(err)
	}
	session, err := engine.Session(ctx, cmp.Or(as, a.env("VERBATIM_AS")))
	if err != nil {
		return nil, a.runFailed(err)
	}
	return session, nil
}

// readsJournal refuses a principal without a role that keeps the journal, or one of the others
// given. If the store has no principals yet, it refuses nobody.
func (a *app) readsJournal(ctx context.Context, s stores.Store, palettes, as, command string, also ...string) error {
	if cmp.Or(as, a.env("VERBATIM_AS")) == "" {
		names, err := s.Principals(ctx)
		if err == nil && len(names) == 0 {
			reg, _ := load.Sources(rights.Source())
			names, err = rights.Names(ctx, reg, s)
		}
		switch {
		case err != nil:
			return a.journalFailed(err)
		case len(names) == 0:
			return nil
		}
		return &stop{exitRefused, "not-permitted", "this is read by who keeps the journal, and it was not said who reads it", "verbatim " + command + " --as NAME, or VERBATIM_AS=NAME"}
	}
	session, err := a.journalSession(ctx, s, palettes, as)
	if err != nil {
		return err
	}
	if err = session.Journal().Reads(ctx, also...); err != nil {
		err = a.runFailed(err)
	}
	return err
}

func (a *app) noRow(err error, row string) error {
	switch {
	case errors.Is(err, stores.ErrNotFound):
		return &stop{exitInput, "no-such-row", fmt.Sprintf("no row is called %q", row), "give the name or the label of a row that --as may see; people are seen by an administrator: verbatim help add-people"}
	case errors.Is(err, engine.ErrAmbiguous):
		return &stop{exitInput, "ambiguous-row", fmt.Sprintf("%q: %s", row, err), "say which of them is meant"}
	}
	return a.runFailed(err)
}

func (q *journalQuery) wants(e *stores.Entry, r *journal.Record) bool {
	if e.Time.Before(q.after) || !q.before.IsZero() && !e.Time.Before(q.before) ||
		q.principal != "" && e.Principal != q.principal || q.verb != "" && e.Verb != q.verb || q.turn != "" && e.Turn != q.turn ||
		q.outcome != "" && e.Outcome != q.outcome && outcome(e) != q.outcome {
		return false
	}
	switch {
	case q.of != nil:
		return r.Touches(*q.of)
	case q.row != "":
		return r.Called(q.row)
	}
	return true
}

func (a *app) logShow(ctx context.Context, s stores.Store, q journalQuery) error {
	if q.single && !a.json {
		return a.logEntry(ctx, s, q.first)
	}
	piped := !isTerminal(a.sent.w)
	shown := 0
	for l, err := range journal.Opened(ctx, s, operatorName, journal.ByNumber(ctx, s, q.first, q.last)) {
		if err != nil {
			return a.journalFailed(err)
		}
		record, err := l.Record()
		if err != nil {
			return a.journalFailed(err)
		}
		e := &l.Entry
		if !q.wants(e, &record) {
			continue
		}
		shown++
		line := []string{strconv.FormatInt(e.Seq, 10), stamp(e.Time), e.Principal, outcome(e), wire.CallOf(e, &record)}
		switch {
		case a.json:
			a.emit(wire.NewEntry(e, &record))
		case piped:
			fmt.Fprintln(a.out, strings.Join(line, "\t"))
		default:
			fmt.Fprintf(a.out, "%6s  %s  %-10s  %-10s  %s\n", line[0], line[1], line[2], line[3], line[4])
		}
	}
	switch {
	case q.single && shown == 0:
		return noEntry(q.first)
	case q.row != "" && q.of == nil && shown == 0:
		return a.noRow(stores.ErrNotFound, q.row)
	}
	return nil
}

func (a *app) journalFailed(err error) error {
	var chain *stores.ChainError
	var log *stores.LogError
	var fork *journal.ForkError
	var behind *journal.BehindError
	var opening *journal.OpeningError
	switch {
	case errors.As(err, &chain), errors.As(err, &log), errors.As(err, &fork), errors.As(err, &behind), errors.As(err, &opening):
		return brokenJournal(err)
	case errors.Is(err, stores.ErrSchema):
		return &stop{exitSystem, "system", "the store lacks tables that the journal needs", "verbatim migrate makes them"}
	}
	return broken("the journal cannot be read", err, "verbatim migrate --plan says whether the store is whole")
}

func noEntry(n int64) error {
	return &stop{exitUsage, "no-such-entry", fmt.Sprintf("the journal has no entry %d", n), "verbatim log show lists them"}
}

// logEntry prints an entry in full, and whether the log up to it is intact.
func (a *app) logEntry(ctx context.Context, s stores.Store, n int64) error {
	var e *stores.Entry
	var record journal.Record
	for l, err := range journal.Opened(ctx, s, operatorName, journal.ByNumber(ctx, s, n, n)) {
		if err != nil {
			return a.journalFailed(err)
		}
		if e = &l.Entry; e.Seq != n {
			return noEntry(n)
		}
		if record, err = l.Record(); err != nil {
			return a.journalFailed(err)
		}
	}
	if e == nil {
		return noEntry(n)
	}
	log := "not sealed yet"
	if e.Place > 0 {
		log = "log whole"
		if _, err := journal.Verify(journal.Entries(ctx, s, 1, e.Place), nil); err != nil {
			var bad *stores.ChainError
			if !errors.As(err, &bad) {
				return a.journalFailed(err)
			}
			log = "LOG BROKEN: " + err.Error()
		}
	}
	who := e.Principal
	if len(e.Roles) > 0 {
		who += ", role " + strings.Join(e.Roles, " and ")
	}
	line := func(name, text string) {
		for i, l := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
			if i > 0 {
				name = ""
			}
			fmt.Fprintln(a.out, strings.TrimRight(fmt.Sprintf("%-10s %s", name, l), " "))
		}
	}
	line("entry", fmt.Sprintf("%d  %s  %s", e.Seq, stamp(e.Time), outcome(e)))
	line("who", who)
	line("words", e.Source)
	if e.Turn != "" {
		line("turn", e.Turn)
	}
	line("call", wire.CallOf(e, &record))
	changed := "nothing"
	if len(record.Rows) > 0 {
		var b strings.Builder
		receipt.PrintLogged(&b, record.Rows)
		changed = b.String()
	}
	line("changed", changed)
	if record.After > 0 {
		line("after", fmt.Sprintf("entry %d, of which nobody knew whether it was done", record.After))
	}
	if e.Agreed != "" || e.Preview != "" && e.Outcome != "ok" {
		agreed := cmp.Or(e.Agreed, "nobody")
		if e.Preview != "" {
			agreed = "preview " + spaced(e.Preview) + ", " + agreed
		}
		line("agreed", agreed)
	}
	if text := originsText(e.Origins); text != "" {
		line("origins", text)
	}
	before := "the first entry"
	if n > 1 {
		before = fmt.Sprintf("previous entry %d", n-1)
	}
	line("palette", fmt.Sprintf("%s   %s, %s", short(e.Palette), before, log))
	return nil
}

// originsText lists the origins of a call's arguments, one per line.
func originsText(text string) string {
	var from map[string]string
	if text == "" || json.Unmarshal([]byte(text), &from) != nil {
		return receipt.Safe(text)
	}
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(from)) {
		lines = append(lines, receipt.Safe(fmt.Sprintf(":%s  %s", name, from[name])))
	}
	return strings.Join(lines, "\n")
}

func outcome(e *stores.Entry) string {
	if e.Reason != "" {
		return e.Outcome + ":" + e.Reason
	}
	return e.Outcome
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
