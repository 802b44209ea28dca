package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"verbatim/stores"
)

func logCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "log",
		Short:   "Read the journal: who said what, and what it changed",
		Example: "verbatim log show\nverbatim log show 1\nverbatim log show --since 1h --principal clara",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(fmt.Sprintf("there is no subcommand %q%s", "log "+args[0], didYouMean(args[0], []string{"show"})), "verbatim log --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var store string
	var q journalQuery
	show := &cobra.Command{
		Use:     "show [N|A..B]",
		Short:   "Print entries, one a line, or one entry in full",
		Example: "verbatim log show\nverbatim log show 1\nverbatim log show 1..2 --json",
		Long:    "Columns are number, time, who, outcome and call, with tabs between them when piped.",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if err := q.entries(args[0]); err != nil {
					return err
				}
			}
			if err := q.from(a.now()); err != nil {
				return err
			}
			s, err := a.open(cmd.Context(), store)
			if err != nil {
				return err
			}
			defer s.Close()
			return a.logShow(cmd.Context(), s, q)
		},
	}
	a.storeFlag(show, &store)
	show.Flags().StringVar(&q.since, "since", "", "only entries since a `time`: 1h, 2d, 2025-01-03 or 2025-01-03T09:00:00Z")
	show.Flags().StringVar(&q.principal, "principal", "", "only entries of this `name`")
	show.Flags().StringVar(&q.verb, "verb", "", "only entries of this `verb`")
	cmd.AddCommand(show)
	return cmd
}

// A journalQuery says which entries are wanted.
type journalQuery struct {
	first, last     int64 // 0 is the end of the journal
	single          bool
	since           string
	after           time.Time
	principal, verb string
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

func (q *journalQuery) from(now time.Time) error {
	if q.since == "" {
		return nil
	}
	if days, ok := strings.CutSuffix(q.since, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			q.after = now.AddDate(0, 0, -n)
			return nil
		}
	}
	if d, err := time.ParseDuration(q.since); err == nil && d >= 0 {
		q.after = now.Add(-d)
		return nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano} {
		if t, err := time.Parse(layout, q.since); err == nil {
			q.after = t
			return nil
		}
	}
	return usage(fmt.Sprintf("--since does not understand %q", q.since), "give 30m, 1h, 2d, 2025-01-03 or 2025-01-03T09:00:00Z")
}

func (q *journalQuery) wants(e *stores.Entry) bool {
	return !e.Time.Before(q.after) && (q.principal == "" || e.Principal == q.principal) && (q.verb == "" || e.Verb == q.verb)
}

// logPage bounds how many entries are held in memory at once.
const logPage = 1000

func (a *app) logShow(ctx context.Context, s stores.Store, q journalQuery) error {
	if q.single && !a.json {
		return a.logEntry(ctx, s, q.first)
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	defer w.Flush()
	piped := !isTerminal(a.sent.w)
	shown := 0
	for at := max(1, q.first); q.last == 0 || at <= q.last; {
		to := at + logPage - 1
		if q.last != 0 {
			to = min(to, q.last)
		}
		entries, err := s.Journal(ctx, at, to)
		if err != nil {
			return journalFailed(err)
		}
		for i := range entries {
			e := &entries[i]
			if !q.wants(e) {
				continue
			}
			shown++
			line := []string{strconv.FormatInt(e.Seq, 10), stamp(e.Time), e.Principal, outcome(e), e.Call}
			switch {
			case a.json:
				a.emit(newEntry(e))
			case piped:
				fmt.Fprintln(a.out, strings.Join(line, "\t"))
			default:
				fmt.Fprintln(w, strings.Join(line, "\t"))
			}
		}
		if int64(len(entries)) < to-at+1 {
			break
		}
		at = to + 1
	}
	if q.single && shown == 0 {
		return noEntry(q.first)
	}
	return nil
}

func journalFailed(err error) error {
	return broken("the journal cannot be read", err, "verbatim migrate --plan says whether the store is whole")
}

func noEntry(n int64) error {
	return &stop{exitUsage, "no-such-entry", fmt.Sprintf("the journal has no entry %d", n), "verbatim log show lists them"}
}

// logEntry prints one entry in full, and whether the journal up to it is whole.
func (a *app) logEntry(ctx context.Context, s stores.Store, n int64) error {
	var last int64
	var hash [32]byte
	var e stores.Entry
	chain := "chain whole"
	for at := int64(1); at <= n; at += logPage {
		entries, err := s.Journal(ctx, at, min(n, at+logPage-1))
		if err != nil {
			return journalFailed(err)
		}
		if chain == "chain whole" {
			if last, hash, err = stores.VerifyChain(last, hash, entries); err != nil {
				chain = "CHAIN BROKEN: " + err.Error()
			}
		}
		if len(entries) > 0 {
			e = entries[len(entries)-1]
		}
	}
	if e.Seq != n {
		return noEntry(n)
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
	line("entry", fmt.Sprintf("%d  %s  %s", e.Seq, stamp(e.Time), outcome(&e)))
	line("who", who)
	line("words", e.Source)
	line("call", e.Call)
	line("changed", changesText(e.Changes))
	if e.Agreed != "" {
		agreed := e.Agreed
		if e.Preview != "" {
			agreed = "preview " + spaced(e.Preview) + ", " + agreed
		}
		line("agreed", agreed)
	}
	before := "the first entry"
	if n > 1 {
		before = fmt.Sprintf("previous entry %d", n-1)
	}
	line("palette", fmt.Sprintf("%s   %s, %s", short(e.Palette), before, chain))
	return nil
}

func outcome(e *stores.Entry) string {
	if e.Reason != "" {
		return e.Outcome + ":" + e.Reason
	}
	return e.Outcome
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// entry is a journal entry as JSON.
type entry struct {
	Schema    string          `json:"schema"`
	Seq       int64           `json:"seq"`
	Time      time.Time       `json:"time"`
	Principal string          `json:"principal"`
	Roles     []string        `json:"roles"`
	Session   string          `json:"session,omitempty"`
	Source    string          `json:"source"`
	Verb      string          `json:"verb"`
	Call      string          `json:"call"`
	Outcome   string          `json:"outcome"`
	Reason    string          `json:"reason,omitempty"`
	Changes   json.RawMessage `json:"changes,omitempty"`
	Preview   string          `json:"preview,omitempty"`
	Agreed    string          `json:"agreed,omitempty"`
	Palette   string          `json:"palette"`
	Prev      string          `json:"prev"`
	Hash      string          `json:"hash"`
}

func newEntry(e *stores.Entry) entry {
	return entry{
		"verbatim/entry@1", e.Seq, e.Time, e.Principal, some(e.Roles), e.Session, e.Source, e.Verb, e.Call, e.Outcome, e.Reason,
		json.RawMessage(e.Changes), e.Preview, e.Agreed, e.Palette, hex.EncodeToString(e.Prev[:]), hex.EncodeToString(e.Hash[:]),
	}
}
