package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verbatim/runtime/conversation/replay"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/wire"
	"verbatim/runtime/state/sessions"
	"verbatim/stores/receipt"
)

// sessionFlags are the flags of `verbatim session`.
type sessionFlags struct {
	setup
	say, by              string
	zone, language       string
	export, relaxed, dry bool
	replay               string
}

var speakers = map[string]sessions.Role{"client": sessions.Client, "agent": sessions.Agent, "system": sessions.System}

func sessionCommand(a *app) *cobra.Command {
	var f sessionFlags
	cmd := &cobra.Command{
		Use:   "session [NAME]",
		Short: "Your sessions: where you are, and what was said",
		Example: `verbatim session onboarding --as clara --say "What do you still need?"
verbatim session --as clara`,
		Long: `Without a name it lists your sessions. run --session NAME goes on in one, from as many
processes as there are; nobody but you can see it.
--export writes down what a session did. --replay does it again, at the times of then, on a
copy of a store, and tells the first difference; --relaxed each, but for times, ids and order.
No tool is asked. A difference is exit code 1.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			switch {
			case f.replay == "" && (f.relaxed || f.dry):
				return usage("--relaxed and --dry-run say how something is played again", "verbatim session --replay FILE --store COPY")
			case f.replay != "" && (name != "" || f.export || f.say != ""):
				return usage("--replay plays what is in a file, and nothing else", "verbatim session --replay FILE --store COPY")
			case f.replay != "" && !cmd.Flags().Changed("store"):
				return usage("on which store? What is played again is done again", "verbatim backup copy.db, and then: verbatim session --replay "+shell(f.replay)+" --store copy.db")
			case f.replay != "":
				return a.replaySession(cmd.Context(), f)
			case f.export && name == "":
				return usage("which session?", "verbatim session NAME --export")
			}
			return a.showOwn(cmd.Context(), name, f)
		},
	}
	a.setupFlags(cmd, &f.setup, "the `name` of whose session it is")
	cmd.Flags().StringVar(&f.say, "say", "", "keep these `words` as a turn; begin the session if need be")
	cmd.Flags().StringVar(&f.by, "by", "client", "`who` says them: client, agent or system")
	cmd.Flags().StringVar(&f.zone, "zone", "", "your time `zone` in it, such as Europe/Luxembourg")
	cmd.Flags().StringVar(&f.language, "language", "", "your `language` in it, such as de")
	cmd.Flags().BoolVar(&f.export, "export", false, "write down what the session did, for --replay")
	cmd.Flags().StringVar(&f.replay, "replay", "", "do again what this `file` says that a session did")
	cmd.Flags().BoolVar(&f.relaxed, "relaxed", false, "with --replay, let times, ids and order differ, and go on")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "with --replay, preview, and change nothing")
	return cmd
}

func (a *app) showOwn(ctx context.Context, name string, f sessionFlags) error {
	f.as = cmp.Or(f.as, a.env("VERBATIM_AS"))
	role, known := speakers[f.by]
	begins := f.say != "" || f.zone != "" || f.language != ""
	switch {
	case f.as == "":
		return usage("whose session?", "verbatim session --as NAME")
	case begins && name == "":
		return usage("which session?", "verbatim session --as "+shell(f.as)+" lists them; give its name, or a new one")
	case !known:
		return usage(fmt.Sprintf("nobody speaks as %q", f.by), "give --by client, agent or system")
	}
	reg, store, eng, err := a.wire(ctx, f.setup, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	if name == "" {
		s, err := eng.Session(ctx, f.as)
		if err != nil {
			return a.runFailed(err)
		}
		return a.listSessions(ctx, s)
	}
	s, err := eng.Visit(ctx, f.as, engine.Visit{Name: name, Existing: !begins, Zone: f.zone, Language: f.language})
	if err != nil {
		return a.runFailed(err)
	}
	if f.say != "" {
		if _, err := s.Turns().Say(ctx, sessions.Said{Role: role, Content: f.say}); err != nil {
			return a.runFailed(err)
		}
	}
	if f.export {
		head, steps, err := replay.Record(ctx, store, reg, s)
		if err != nil {
			return a.journalFailed(err)
		}
		_ = replay.Write(a.out, head, steps) // the writer reports it
		return nil
	}
	return a.showSession(ctx, s)
}

func (a *app) listSessions(ctx context.Context, s *engine.Session) error {
	all, err := s.Turns().Sessions(ctx)
	if err != nil {
		return a.runFailed(err)
	}
	if a.json {
		a.emit(wire.NewSessions(all))
		return nil
	}
	if len(all) == 0 {
		fmt.Fprintln(a.err, "you have no session; one begins with verbatim run --session NAME")
	}
	for i := range all {
		fmt.Fprintf(a.out, "%s\t%s\t%s\t%s\n", minute(all[i].LastActive), receipt.Counted(int(all[i].Visits), "visit"), receipt.Counted(int(all[i].Turns), "turn"), receipt.Safe(all[i].Name))
	}
	return nil
}

func (a *app) showSession(ctx context.Context, s *engine.Session) error {
	info, err := s.Turns().Info(ctx)
	if err != nil {
		return a.runFailed(err)
	}
	said, err := s.Turns().Between(ctx, 1, 0)
	if err != nil {
		return a.runFailed(err)
	}
	if a.json {
		out := wire.NewSession(&info, said)
		out.Schema = "verbatim/session@1"
		a.emit(out)
		return nil
	}
	zone, err := time.LoadLocation(info.Person.Zone)
	if err != nil {
		zone = time.UTC
	}
	fmt.Fprintf(a.out, "session  %s of %s, %s, since %s; %s, %s\n", receipt.Safe(info.Name), receipt.Safe(info.Person.Label), receipt.Counted(int(info.Visits), "visit"),
		info.Started.In(zone).Format("2006-01-02 15:04"), receipt.Safe(info.Person.Zone), receipt.Safe(info.Person.Language))
	for _, v := range info.Values {
		what := "(not shown)"
		if !v.Sensitive {
			what = receipt.OneLine(v.Value)
		}
		fmt.Fprintf(a.out, "  %s  %s\n", receipt.Safe(v.Name), what)
	}
	for i := range said {
		t := &said[i]
		words := receipt.Safe(t.Content)
		if t.Erased {
			words = "(erased)"
		}
		fmt.Fprintf(a.out, "%3d  %s  %-6s  %s\n", t.Number, t.Time.In(zone).Format("2006-01-02 15:04"), strings.ToLower(string(t.Role)), words)
		if t.Action != "" {
			fmt.Fprintf(a.out, "     > %s%s\n", receipt.Safe(t.Action), entriesOf(t))
		}
	}
	return nil
}

func entriesOf(t *sessions.Turn) string {
	if t.First == 0 {
		return ""
	}
	return "     journal " + numbered(t.First, t.First+t.Entries-1)
}
