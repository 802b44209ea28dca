package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/conversation/phrases"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/wire"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// chatFlags are the flags of `verbatim chat`.
type chatFlags struct {
	setup
	modelFlags
	session        string
	mode           string
	xgrammar       bool // grammars are written as vLLM reads them
	record, replay string
	explain        bool
	budget         string
	from           string
	log            *slog.Logger // of a server; nil tells the user
}

func chatCommand(a *app) *cobra.Command {
	var f chatFlags
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Talk; a model writes the calls, and you agree to them",
		Example: `verbatim chat --as clara
verbatim chat --as clara --base-url http://localhost:11434/v1 --model qwen3`,
		Long: `VERBATIM_MODEL_KEY is an endpoint's key. /why tells of an answer, /send FILE sends one, /quit ends.`,
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.chat(cmd.Context(), f) },
	}
	a.setupFlags(cmd, &f.setup, "your `name`, which is believed")
	a.serversFlag(cmd, &f.servers)
	cmd.Flags().StringVar(&f.session, "session", "", "go on in your session of this `name`, or begin it")
	a.modelFlags(cmd, &f.modelFlags)
	cmd.Flags().StringVar(&f.mode, "mode", "tools", "the `way` calls are written: tools, text, or by a grammar, llama.cpp or vllm")
	cmd.Flags().StringVar(&f.record, "record", "", "write what the model is asked and answers into this `file`")
	cmd.Flags().StringVar(&f.replay, "replay", "", "ask no model: it is as in this `file`, and that day")
	cmd.Flags().BoolVar(&a.streams, "events", false, "with --json, print a line for each step of the way")
	cmd.Flags().BoolVar(&f.explain, "explain-turn", false, "tell after each answer how it came about")
	cmd.Flags().StringVar(&f.budget, "budget", usualBudget, "most `tokens` of a message, a conversation and a day")
	cmd.Flags().StringVar(&f.from, "send-from", "", "the `folder` whose files /send may send")
	return cmd
}

func (a *app) chat(ctx context.Context, f chatFlags) error {
	if f.as = cmp.Or(f.as, a.env("VERBATIM_AS")); f.as == "" {
		return usage("who is talking?", "verbatim chat --as NAME")
	}
	if a.streams && !a.json {
		return usage("--events are for programs, which read JSON", "verbatim chat --json --events --as "+shell(f.as))
	}
	if _, err := readBudget(f.budget); err != nil {
		return err
	}
	var seen *exchanges
	if f.explain {
		seen = &exchanges{}
		f.exchanged = seen.add
	}
	talk, done, err := a.conversation(ctx, &f)
	if err != nil {
		return err
	}
	defer done()
	talk.exchanges = seen
	return a.talk(ctx, talk, f.explain)
}

// A talk is a conversation with the means to send files into it.
type talk struct {
	*dialog.Conversation
	sender    *sender // nil when nothing can be sent
	exchanges *exchanges
	reg       *verbs.Registry
}

// conversation builds a conversation. done releases what it uses.
func (a *app) conversation(ctx context.Context, f *chatFlags) (_ *talk, done func(), err error) {
	var ends []func()
	end := func() {
		for i := len(ends) - 1; i >= 0; i-- {
			ends[i]()
		}
	}
	defer func() {
		if err != nil {
			end()
		}
	}()
	zone, err := a.zone()
	if err != nil {
		return nil, nil, err
	}
	model, scene, err := a.model(f, zone, &ends)
	if err != nil {
		return nil, nil, err
	}
	clock := a.now
	if !scene.At.IsZero() {
		clock = func() time.Time { return scene.At }
	}
	if scene.Zone != "" {
		if zone, err = time.LoadLocation(scene.Zone); err != nil {
			return nil, nil, &stop{exitInput, "recording", fmt.Sprintf("the recording was made in the time zone %q, which is not known here", scene.Zone), "verbatim chat --record makes another"}
		}
	}
	reg, err := a.wholePalettes(f.palettes)
	if err != nil {
		return nil, nil, err
	}
	store, err := a.open(ctx, f.store)
	if err != nil {
		return nil, nil, err
	}
	ends = append(ends, func() { store.Close() })
	tools, err := a.tools(f.servers)
	if err != nil {
		return nil, nil, err
	}
	eng, err := a.newEngineAt(reg, store, tools, clock)
	if err != nil {
		return nil, nil, a.runFailed(err)
	}
	mark, err := a.marked(ctx, eng, store, f.store)
	if err != nil {
		return nil, nil, a.runFailed(err)
	}
	ends = append(ends, func() { mark.keep(ctx) })
	open := func() (*engine.Session, error) { return eng.Session(ctx, f.as) }
	if f.session != "" {
		open = func() (*engine.Session, error) { return eng.Visit(ctx, f.as, engine.Visit{Name: f.session}) }
	}
	session, err := open()
	if err != nil {
		return nil, nil, a.runFailed(err)
	}
	tokens, err := readBudget(f.budget)
	if err != nil {
		return nil, nil, err
	}
	var unused func(string)
	if n, is := model.(*noted); is {
		unused = n.once
	}
	c, err := dialog.New(dialog.Options{
		Unused:   unused,
		Registry: reg, Session: session, Model: model, Mode: dialog.Mode(f.mode), XGrammar: f.xgrammar, Clock: clock, Zone: zone,
		Person: session.Person().Label, Budget: tokens.of(f, session, clock), Limits: dialog.Limits{Tokens: tokens.turn}, Source: "chat",
		Interpreter: phrases.New(reg, a.phrases(reg), session, clock, zone),
	})
	if err != nil {
		return nil, nil, broken("the conversation cannot begin", err, "verbatim chat --help")
	}
	if f.session != "" {
		if err := c.Resume(ctx); err != nil {
			return nil, nil, a.runFailed(err)
		}
	}
	t := &talk{Conversation: c, reg: reg}
	if f.from != "" {
		if t.sender, err = a.newSender(ctx, f, eng, session, clock, &ends); err != nil {
			return nil, nil, err
		}
	}
	return t, end, nil
}

// drawn matches the random parts of a reference, which a recording numbers.
var drawn = regexp.MustCompile(`upload://([a-z0-9]{32})\b`)

// model returns the model of the conversation: an endpoint, a recording, or nil. A recording has
// its own time and zone.
func (a *app) model(f *chatFlags, zone *time.Location, ends *[]func()) (_ llm.Model, scene llm.Scene, err error) {
	if f.model == "" {
		f.model = a.env("VERBATIM_MODEL")
	}
	if f.baseURL == "" {
		f.baseURL = a.env("VERBATIM_BASE_URL")
	}
	grammars := llm.NoGrammars
	switch f.mode {
	case string(dialog.Tools), string(dialog.Text):
	case string(llm.LlamaCpp), string(llm.VLLM):
		grammars, f.mode = llm.Grammars(f.mode), string(dialog.Grammar)
		f.xgrammar = grammars == llm.VLLM
	default:
		return nil, scene, usage(fmt.Sprintf("--mode is tools, text, llama.cpp or vllm, not %q", f.mode), "verbatim chat --help")
	}
	switch {
	case f.replay != "":
		if f.record != "" {
			return nil, scene, usage("--replay asks no model, so there is nothing to record", "leave one of them out")
		}
		file, err := os.Open(f.replay)
		if err != nil {
			return nil, scene, usage(fmt.Sprintf("the recording %q cannot be read: %s", f.replay, reason(err)), "check the path")
		}
		defer file.Close()
		replay, err := llm.NewReplay(file, drawn)
		if err != nil {
			return nil, scene, &stop{exitInput, "recording", fmt.Sprintf("the recording %q cannot be used: %s", f.replay, err), "verbatim chat --record makes one"}
		}
		*ends = append(*ends, func() {
			if n := replay.Left(); n > 0 {
				fmt.Fprintf(a.err, "note: %s of the recording %s not asked for\n", receipt.Counted(n, "answer"), isAre(n))
			}
		})
		return replay, replay.Scene(), nil
	case f.model == "" && f.baseURL == "":
		if f.record != "" {
			return nil, scene, usage("without a model there is nothing to record", "verbatim chat --model NAME --base-url URL --record FILE")
		}
		return nil, scene, nil
	case f.model == "" || f.baseURL == "":
		return nil, scene, usage("a model is asked by its name at an endpoint", "give both: verbatim chat --base-url http://localhost:11434/v1 --model NAME")
	}
	adapted := func(ad llm.Adaptation) {
		fmt.Fprintf(a.err, "note: the model's endpoint differs in %s; done instead: %s; it said: %s\n", ad.Parameter, ad.Change, receipt.Safe(ad.Said))
	}
	if f.log != nil {
		adapted = logsModel(f.log)
	}
	client, err := a.client(&f.modelFlags, grammars, adapted)
	if err != nil {
		return nil, scene, err
	}
	if f.log != nil {
		for _, known := range client.Adaptations() {
			adapted(known)
		}
	}
	note := func(m llm.Model) llm.Model {
		if f.log != nil {
			return m
		}
		return &noted{Model: m, note: func(why string) { fmt.Fprintf(a.err, "note: %s\n", receipt.Safe(why)) }}
	}
	if f.record == "" {
		return note(client), scene, nil
	}
	// The recording holds the conversation, so only its owner may read it.
	file, err := os.OpenFile(f.record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, scene, usage(fmt.Sprintf("the recording %q cannot be begun: %s", f.record, reason(err)), "name a file that is not there yet")
	}
	*ends = append(*ends, func() { file.Close() })
	return note(llm.NewRecorder(client, file, llm.Scene{At: a.now().UTC().Truncate(time.Second), Zone: zone.String(), Drawn: drawn})), scene, nil
}

func isAre(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// longestLine is how much of a line is read. It is more than a message may be, so that a longer one
// is refused with a reason.
const longestLine = 4 << 20

// talk reads messages and prints answers until the input ends.
func (a *app) talk(ctx context.Context, c *talk, explain bool) error {
	prompt := isTerminal(a.in) && !a.json
	lines := make(chan string)
	failed := make(chan error, 1)
	go func() {
		defer close(lines)
		in := bufio.NewScanner(a.in)
		in.Buffer(nil, longestLine)
		for in.Scan() {
			select {
			case lines <- in.Text():
			case <-ctx.Done():
				return
			}
		}
		if err := in.Err(); err != nil {
			failed <- err
		}
	}()
	if prompt {
		fmt.Fprintln(a.out, visibly(sayBegin.In(c.Language())))
	}
	if open := c.Reminder(); open != "" && !a.json {
		fmt.Fprintf(a.out, "Assistant: %s\n", visibly(open))
	}
	for {
		if prompt {
			fmt.Fprint(a.out, "You: ")
		}
		if err := a.flush(); err != nil {
			return err
		}
		var line string
		var more bool
		select {
		case <-ctx.Done():
			if prompt {
				fmt.Fprintln(a.out)
			}
			return a.halted(ctx.Err())
		case line, more = <-lines:
		}
		if !more {
			if prompt {
				fmt.Fprintln(a.out)
			}
			select {
			case err := <-failed:
				if errors.Is(err, bufio.ErrTooLong) {
					return &stop{exitInput, "message-too-long", sayLineTooLong.In(c.Language()), saySendPart.In(c.Language())}
				}
				return broken("what you say cannot be read", err, "")
			default:
				return nil
			}
		}
		switch word, rest, _ := strings.Cut(strings.TrimSpace(line), " "); {
		case word == "":
			continue
		case word == "/quit":
			return nil
		case word == "/why":
			if err := a.why(c.Conversation, a.out); err != nil {
				return err
			}
			continue
		case word == "/send":
			said, err := a.sendFile(ctx, c.sender, c.Language(), strings.TrimSpace(rest))
			if err != nil {
				return err
			}
			if said == "" {
				continue
			}
			line = said
		case command().MatchString(word):
			fmt.Fprintln(a.err, sayNoCommand.In(c.Language(), word))
			continue
		}
		answer, err := a.follow(ctx, c.Conversation, line)
		if err != nil {
			return a.silent(err)
		}
		if a.json {
			a.emit(wire.NewChat(answer))
			continue
		}
		if explain {
			if err := a.flush(); err != nil {
				return err
			}
			if err := a.why(c.Conversation, a.err); err != nil {
				return err
			}
			c.exchanges.tell(a.err, c.reg, strings.TrimSpace(line))
		}
	}
}

// command matches what looks like a command and not like the path of a file.
var command = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/[\pL?-]+$`) })

// silent says why the conversation ends.
func (a *app) silent(err error) error {
	var e *llm.Error
	if errors.As(err, &e) && e.Kind == llm.Unrecorded {
		return &stop{exitInput, "recording", fmt.Sprintf("the recording does not hold this conversation: %s", e.Err), "record it anew with verbatim chat --record"}
	}
	return a.runFailed(err)
}

// why explains the last answer.
func (a *app) why(c *dialog.Conversation, w io.Writer) error {
	var b strings.Builder
	if err := c.Why(&b); err != nil {
		return err
	}
	if b.Len() == 0 {
		fmt.Fprintln(w, visibly(sayNoWhy.In(c.Language())))
		return nil
	}
	_, err := io.WriteString(w, visibly(strings.TrimSuffix(b.String(), "\n"))+"\n")
	return err
}

// visibly replaces control characters of a text, so that a terminal shows them instead of obeying.
// The narrow spaces of French stay.
func visibly(text string) string {
	var b strings.Builder
	for {
		at := strings.IndexAny(text, "\n\u00a0\u202f")
		if at < 0 {
			return b.String() + receipt.Safe(text)
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		b.WriteString(receipt.Safe(text[:at]) + text[at:at+size])
		text = text[at+size:]
	}
}
