package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime/conversation/intent"
	"verbatim/runtime/conversation/phrases"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
)

// sayFlags are the flags of `verbatim say`.
type sayFlags struct {
	setup
	sitting, language string
}

func sayCommand(a *app) *cobra.Command {
	var f sayFlags
	cmd := &cobra.Command{
		Use:   "say MESSAGE|-",
		Short: "Show which calls a message means, without a model, and run none",
		Example: `verbatim say "Why do you need Pierre's source of wealth?" --as clara
verbatim say "How far are we?" --as clara | verbatim run --as clara -`,
		Long: `The calls go to standard output once nothing has to be asked; what was understood from
which words, and what is asked, to standard error. It takes the palettes' phrases.`,
		Args: exactly(1, "one message, in quotes, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.say(cmd.Context(), args[0], f)
		},
	}
	a.setupFlags(cmd, &f.setup, "the `name` of whoever says it")
	cmd.Flags().StringVar(&f.sitting, "session", "", "in your session of this `name`: its language and time zone count")
	cmd.Flags().StringVar(&f.language, "language", "", "the language it is said in: `tag` is en, de, fr or es")
	return cmd
}

// longestMessage is the longest message, in bytes.
const longestMessage = 64 << 10

func (a *app) say(ctx context.Context, message string, f sayFlags) error {
	if f.as = cmp.Or(f.as, a.env("VERBATIM_AS")); f.as == "" {
		return usage("who is saying it?", "verbatim say --as NAME MESSAGE")
	}
	in := values.In{Now: a.now()}
	if f.language != "" {
		l, ok := values.ParseLanguage(f.language)
		if !ok {
			return usage(fmt.Sprintf("%q is no language that is understood", f.language), "the languages are "+strings.Join(values.Tags(), ", "))
		}
		in.Languages = []values.Language{l}
	}
	if message == "-" {
		text, err := io.ReadAll(io.LimitReader(a.in, longestMessage))
		if err != nil {
			return broken("standard input cannot be read", err, "try again, or give the message in quotes")
		}
		message = strings.TrimRight(string(text), "\r\n")
	}
	zone, err := a.zone()
	if err != nil {
		return err
	}
	reg, store, eng, err := a.wire(ctx, f.setup, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	session, err := begin(ctx, eng, f.as, f.sitting)
	if err != nil {
		return a.runFailed(err)
	}
	vocabulary, err := phrases.Vocabulary(ctx, reg, session)
	if err != nil {
		return a.runFailed(err)
	}
	if own, err := time.LoadLocation(session.Person().Zone); err == nil && f.sitting != "" {
		zone = own
	}
	in.Now = in.Now.In(zone)
	if l, ok := values.ParseLanguage(session.Person().Language); ok && f.sitting != "" && in.Languages == nil {
		in.Languages = []values.Language{l}
	}
	heard := a.phrases(reg).Reader(vocabulary).Read(message, in)
	for i := range heard.Parts {
		p := &heard.Parts[i]
		if p.Call == "" {
			continue
		}
		// The interpreter's call must pass the same check as any script.
		script, ds := dsl.Parse(dsl.NewSource("said", p.Call+"\n"))
		if !ds.HasErrors() {
			_, ds = session.Check(ctx, script, engine.CheckOptions{Said: p.Literals(script)})
		}
		if halt := a.halted(ctx.Err()); halt != nil {
			return halt
		}
		if ds.HasErrors() {
			a.complain(ds)
			p.Call = ""
			p.Asks = append(p.Asks, intent.Ask{Text: "that cannot be said so"})
		}
	}
	return a.tellHeard(message, &heard)
}

// tellHeard prints the reading of a message. If the whole message was understood, the calls go to
// standard output; otherwise nothing does.
func (a *app) tellHeard(message string, h *intent.Heard) error {
	calls, open := 0, false
	for i := range h.Parts {
		if h.Parts[i].Call != "" {
			calls++
		}
		open = open || len(h.Parts[i].Asks) > 0
	}
	whole := calls > 0 && !open
	if a.json {
		a.emit(newSaid(h, whole))
	} else {
		a.explainHeard(message, h)
		if whole {
			for i := range h.Parts {
				if c := h.Parts[i].Call; c != "" {
					fmt.Fprintln(a.out, c)
				}
			}
		}
	}
	if !whole {
		return said(exitInput)
	}
	return nil
}

func (a *app) explainHeard(message string, h *intent.Heard) {
	switch {
	case h.Hidden:
		fmt.Fprintln(a.err, "there are characters in it that cannot be seen; please type it again")
		return
	case h.Cut:
		fmt.Fprintln(a.err, "that is too long to be understood at once; say it in shorter messages")
	case len(h.Parts) == 0:
		fmt.Fprintln(a.err, "nothing was said")
	}
	for i := range h.Parts {
		p := &h.Parts[i]
		fmt.Fprintf(a.err, "%s\n", quoteSaid(message[p.Range.Start:p.Range.End]))
		switch {
		case p.Verb != nil:
			fmt.Fprintf(a.err, "  means  %s\n", p.Verb.Name)
		case p.Certainty == intent.Nothing:
			fmt.Fprintln(a.err, "  not understood")
		}
		for _, arg := range p.Args {
			value := dsl.FormatValue(arg.Value)
			if arg.Param.Sensitive {
				value = "(not shown)"
			}
			from := "the only one there is"
			if arg.Follows != "" {
				from = "as @" + arg.Follows + " says"
			} else if arg.Said() && !arg.Param.Sensitive {
				from = "from " + quoteSaid(message[arg.Range.Start:arg.Range.End])
			} else if arg.Said() {
				from = "from what was said"
			}
			fmt.Fprintf(a.err, "  :%s  %s  %s", arg.Param.Name, value, from)
			if arg.Reading != nil && arg.Reading.Assumed != 0 {
				fmt.Fprintf(a.err, ", %s", arg.Reading.Assumed.Say(values.English))
			}
			fmt.Fprintln(a.err)
		}
		for _, q := range p.Asks {
			fmt.Fprintf(a.err, "  asks   %s\n", strings.ReplaceAll(q.Text, "\n", "\n         "))
		}
	}
}

// quoteSaid quotes a text on one line.
func quoteSaid(text string) string {
	v := dsl.NewString(text)
	return dsl.FormatValue(v)
}

// The JSON form of a reading.
type saidJSON struct {
	Schema string     `json:"schema"`
	Script string     `json:"script,omitempty"` // if nothing has to be asked
	Hidden bool       `json:"hidden,omitempty"`
	Cut    bool       `json:"cut,omitempty"`
	Parts  []partJSON `json:"parts"`
}

type partJSON struct {
	Start     int    `json:"start"`
	End       int    `json:"end"`
	Certainty string `json:"certainty"`
	// Intent is the likeliest verb, or UNKNOWN, with its probability.
	Intent     string         `json:"intent"`
	Confidence float64        `json:"confidence"`
	Verb       string         `json:"verb,omitempty"`
	Call       string         `json:"call,omitempty"`
	Args       []heardJSON    `json:"args"`
	Asks       []questionJSON `json:"asks"`
	Verbs      []string       `json:"verbs"` // the best ones, the likeliest first
}

type heardJSON struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Said    bool   `json:"said"`
	Start   int    `json:"start"`
	End     int    `json:"end"`
	Assumed string `json:"assumed,omitempty"`
}

type questionJSON struct {
	Argument string   `json:"argument,omitempty"`
	Question string   `json:"question"`
	Choices  []string `json:"choices"`
}

func newSaid(h *intent.Heard, whole bool) saidJSON {
	out := saidJSON{Schema: "verbatim/say@1", Hidden: h.Hidden, Cut: h.Cut, Parts: []partJSON{}}
	for i := range h.Parts {
		p := &h.Parts[i]
		part := partJSON{Start: p.Range.Start, End: p.Range.End, Certainty: p.Certainty.String(), Call: p.Call, Args: []heardJSON{}, Asks: []questionJSON{}, Verbs: []string{}}
		part.Intent, part.Confidence = p.Intent()
		part.Confidence = math.Round(part.Confidence*100) / 100
		if p.Verb != nil {
			part.Verb = p.Verb.Name
		}
		for _, arg := range p.Args {
			heard := heardJSON{Name: arg.Param.Name, Value: dsl.FormatValue(arg.Value), Said: arg.Said(), Start: arg.Range.Start, End: arg.Range.End}
			if arg.Param.Sensitive {
				heard.Value = "(not shown)"
			}
			if arg.Reading != nil {
				heard.Assumed = arg.Reading.Assumed.Say(values.English)
			}
			part.Args = append(part.Args, heard)
		}
		for _, q := range p.Asks {
			ask := questionJSON{Question: q.Text, Choices: append([]string{}, q.Choices...)}
			if q.Param != nil {
				ask.Argument = q.Param.Name
			}
			part.Asks = append(part.Asks, ask)
		}
		for _, r := range p.Ranked {
			part.Verbs = append(part.Verbs, r.Verb.Name)
		}
		if whole && p.Call != "" {
			out.Script += p.Call + "\n"
		}
		out.Parts = append(out.Parts, part)
	}
	return out
}
