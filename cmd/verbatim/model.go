package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verbatim/runtime/conversation/llm"
	"verbatim/stores/receipt"
)

// modelFlags say which model is asked, and how long is waited.
type modelFlags struct {
	model, baseURL, wait string
	exchanged            func(llm.Exchange) // nil if nobody wants to see what is sent
}

// usualWait is the default of --wait.
const usualWait = "90s,5m"

func (a *app) modelFlags(cmd *cobra.Command, f *modelFlags) {
	cmd.Flags().StringVar(&f.model, "model", "", "the `name` of the model (default $VERBATIM_MODEL)")
	cmd.Flags().StringVar(&f.baseURL, "base-url", "", "the `URL` of the endpoint that has it (default $VERBATIM_BASE_URL)")
	cmd.Flags().StringVar(&f.wait, "wait", usualWait, "how `long` an answer of the model may take to begin, and in all")
}

// waits reads --wait.
func (f *modelFlags) waits() (first, whole time.Duration, err error) {
	begin, end, ok := strings.Cut(cmp.Or(f.wait, usualWait), ",")
	first, err = time.ParseDuration(strings.TrimSpace(begin))
	if err == nil {
		whole, err = time.ParseDuration(strings.TrimSpace(end))
	}
	if !ok || err != nil || first <= 0 || whole < first {
		return 0, 0, usage(fmt.Sprintf("--wait is two lengths of time, until an answer begins and until it ends, and not %q", f.wait), "verbatim chat --wait "+usualWait)
	}
	return first, whole, nil
}

// client makes a client of a model; told is told what the endpoint refuses.
func (a *app) client(f *modelFlags, grammars llm.Grammars, told func(llm.Adaptation)) (*llm.Client, error) {
	first, whole, err := f.waits()
	if err != nil {
		return nil, err
	}
	client, err := llm.New(llm.Config{BaseURL: f.baseURL, Key: a.env("VERBATIM_MODEL_KEY"), Model: f.model, Grammars: grammars,
		First: first, Timeout: whole, Random: rand.Float64, Now: a.now, Adapted: told, Exchanged: f.exchanged})
	if err != nil {
		return nil, usage(err.Error(), "verbatim chat --base-url http://localhost:11434/v1 --model NAME")
	}
	return client, nil
}

// logsModel returns the function that logs what an endpoint refuses.
func logsModel(log *slog.Logger) func(llm.Adaptation) {
	return func(a llm.Adaptation) {
		log.Info("model adapted", "parameter", a.Parameter, "change", a.Change, "said", cmp.Or(a.Said, "it is known of this model or its endpoint: see verbatim model"))
	}
}

func modelCommand(a *app) *cobra.Command {
	var f modelFlags
	var palettes string
	cmd := &cobra.Command{
		Use:     "model [check|data]",
		Short:   "Say what is known of a model's endpoint, or ask it",
		Example: "verbatim model",
		Long: `Lists the families of endpoints and models that are known, and what is changed in requests
to them. verbatim model check asks the endpoint of --model nine small questions and prints what
works, what had to be changed, how long it took, and its own sentence where it refuses.
verbatim model data lists which fields of the palettes reach an endpoint.`,
		Args:      atMost(1),
		ValidArgs: []string{"check", "data"},
		RunE: func(cmd *cobra.Command, args []string) error {
			f.model, f.baseURL = cmp.Or(f.model, a.env("VERBATIM_MODEL")), cmp.Or(f.baseURL, a.env("VERBATIM_BASE_URL"))
			if len(args) == 0 {
				return a.families(f)
			}
			if args[0] == "data" {
				return a.modelData(palettes)
			}
			if args[0] != "check" {
				return usage(fmt.Sprintf("verbatim model does not know what to do with %q", args[0]), "verbatim model check")
			}
			return a.checkModel(cmd.Context(), f)
		},
	}
	a.modelFlags(cmd, &f)
	a.palettesFlag(cmd, &palettes)
	return cmd
}

// A modelFamily is a row of the table as JSON.
type modelFamily struct {
	Name    string   `json:"name"`
	Refuses []string `json:"refuses"`
	Fact    string   `json:"fact"`
	Source  string   `json:"source"`
	Seen    string   `json:"seen"`
}

func (a *app) families(f modelFlags) error {
	var own []llm.Adaptation
	if f.model != "" && f.baseURL != "" {
		client, err := a.client(&f, llm.NoGrammars, nil)
		if err != nil {
			return err
		}
		own = client.Adaptations()
	}
	if a.json {
		rows := []modelFamily{}
		for _, r := range llm.Families {
			rows = append(rows, modelFamily{r.Name, append([]string{}, r.Refuses...), r.Fact, r.Source, r.Seen})
		}
		a.emit(struct {
			Schema   string         `json:"schema"`
			Families []modelFamily  `json:"families"`
			Adapted  []modelAdapted `json:"adapted"`
		}{"verbatim/model@1", rows, adaptedJSON(own)})
		return nil
	}
	for _, r := range llm.Families {
		fmt.Fprintf(a.out, "%s: %s.\n    %s (%s)\n", r.Name, r.Fact, r.Source, r.Seen)
	}
	for _, ad := range own {
		fmt.Fprintf(a.out, "for %s: %s is %s\n", receipt.Safe(f.model), ad.Parameter, ad.Change)
	}
	return nil
}

type modelAdapted struct {
	Parameter string `json:"parameter"`
	Change    string `json:"change"`
	Said      string `json:"said,omitempty"`
}

func adaptedJSON(all []llm.Adaptation) []modelAdapted {
	out := []modelAdapted{}
	for _, ad := range all {
		out = append(out, modelAdapted(ad))
	}
	return out
}

// A modelAnswer is what became of one question.
type modelAnswer struct {
	Question string `json:"question"`
	// Outcome is works, differs if the endpoint answers without heeding what was asked, or refused.
	Outcome string  `json:"outcome"`
	Says    string  `json:"says,omitempty"`
	Seconds float64 `json:"seconds"` // to the first byte where the answer is streamed, else to all of it
	In      int     `json:"in"`
	Out     int     `json:"out"`
}

const (
	modelWorks   = "works"
	modelDiffers = "differs"
	modelRefused = "refused"
)

// A modelQuestion is one of the nine. heeded says why an answer is not as asked; "" if it is.
type modelQuestion struct {
	name     string
	request  llm.Request
	grammars llm.Grammars
	key      string
	streamed bool
	answers  bool // it tells the answer to the call that was made before
	heeded   func(*llm.Reply, error) string
}

// The questions that doctor asks too.
const (
	plainText  = "plain text"
	forcedTool = "forced tool"
)

// notTheKey is a key that no endpoint has given out.
const notTheKey = "verbatim-wrong-key-check"

// longPrompt is how many sentences a long prompt has.
const longPrompt = 900

func modelQuestions() []modelQuestion {
	ask := func(text string) llm.Request {
		zero := float32(0)
		return llm.Request{Messages: []llm.Message{{Role: llm.System, Text: "Be short."}, {Role: llm.User, Text: text}}, Temperature: &zero, MaxTokens: 500}
	}
	with := func(r llm.Request, change func(*llm.Request)) llm.Request { change(&r); return r }
	tool := []llm.Tool{{Name: "note", Description: "Write something down.", Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`)}}
	speaks := func(r *llm.Reply, _ error) string {
		if strings.TrimSpace(r.Text) == "" {
			return "the answer is empty"
		}
		return ""
	}
	called := func(r *llm.Reply, _ error) string {
		if len(r.Calls) == 0 {
			return "the tool was not called"
		}
		if !json.Valid([]byte(r.Calls[0].Arguments)) {
			return "the arguments of the call are not JSON"
		}
		return ""
	}
	yes := func(r *llm.Reply, _ error) string {
		if s := strings.TrimSpace(r.Text); s != "yes" && s != "no" {
			return "the grammar was not kept to"
		}
		return ""
	}
	return []modelQuestion{
		{name: plainText, request: ask("Say hello."), heeded: speaks},
		{name: "one tool", request: with(ask("Write down: milk."), func(r *llm.Request) { r.Tools = tool }), heeded: called},
		{name: forcedTool, request: with(ask("Write down: milk."), func(r *llm.Request) { r.Tools, r.MustCall = tool, true }), streamed: true, heeded: called},
		{name: "tool answer", request: with(ask("Write down: milk."), func(r *llm.Request) { r.Tools = tool }), streamed: true, answers: true, heeded: func(*llm.Reply, error) string { return "" }},
		{name: "stream", request: ask("Say hello."), streamed: true, heeded: speaks},
		{name: "JSON schema", request: with(ask("Is milk white?"), func(r *llm.Request) {
			r.SchemaName, r.Schema = "answer", json.RawMessage(`{"type":"object","properties":{"white":{"type":"boolean"}},"required":["white"],"additionalProperties":false}`)
		}), heeded: func(r *llm.Reply, _ error) string {
			var is struct {
				White *bool `json:"white"`
			}
			if json.Unmarshal([]byte(r.Text), &is) != nil || is.White == nil {
				return "the schema was not kept to"
			}
			return ""
		}},
		{name: "grammar", request: with(ask("Is milk white? Tell me a story about it."), func(r *llm.Request) { r.Grammar = `root ::= "yes" | "no"` }), grammars: llm.LlamaCpp, heeded: yes},
		{name: "long prompt", request: ask(strings.Repeat("This is a long prompt about milk. ", longPrompt) + "Say hello."), streamed: true, heeded: func(r *llm.Reply, err error) string {
			if r.Unread { // each sentence has seven words
				return fmt.Sprintf("of its %d words, %d tokens were read, and the rest was left out: load the model with a larger context", 7*longPrompt, r.Usage.In)
			}
			return speaks(r, err)
		}},
		{name: "wrong key", request: ask("Say hello."), key: notTheKey, heeded: func(_ *llm.Reply, err error) string {
			if err == nil {
				return "a wrong key is taken: anybody who reaches the endpoint can use it"
			}
			return ""
		}},
	}
}

func (a *app) checkModel(ctx context.Context, f modelFlags) error {
	if f.model == "" || f.baseURL == "" {
		return usage("a model is asked by its name at an endpoint", "verbatim model check --base-url http://localhost:11434/v1 --model NAME")
	}
	client, err := a.client(&f, llm.NoGrammars, nil)
	if err != nil {
		return err
	}
	client.Attempts = 1
	var all []modelAnswer
	called := llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "call00001", Name: "note", Arguments: `{"text":"milk"}`}}} // unless it calls
	for _, q := range modelQuestions() {
		asks := client
		if q.grammars != llm.NoGrammars || q.key != "" {
			config := client.Config
			config.Grammars, config.Key = q.grammars, cmp.Or(q.key, a.env("VERBATIM_MODEL_KEY"))
			if asks, err = llm.New(config); err != nil {
				return usage(err.Error(), "verbatim model check --help")
			}
		}
		if q.answers {
			q.request.Messages = append(q.request.Messages, called)
			for _, c := range called.Calls {
				q.request.Messages = append(q.request.Messages, llm.Message{Role: llm.ToolRole, CallID: c.ID, Text: "It is written down."})
			}
		}
		answer, reply := a.modelAsked(ctx, asks, &q)
		if reply != nil && len(reply.Calls) > 0 {
			called.Calls, called.Reasoning, called.Beside = reply.Calls, reply.Reasoning, reply.Beside
		}
		if ctx.Err() != nil {
			return a.halted(ctx.Err())
		}
		all = append(all, answer)
		if !a.json {
			fmt.Fprintf(a.out, "%-12s %-8s %6.2f s  %d + %d tokens%s\n", answer.Question, answer.Outcome, answer.Seconds, answer.In, answer.Out, trailing("  ", receipt.Safe(answer.Says)))
			if err := a.flush(); err != nil {
				return err
			}
		}
		if answer.Outcome == modelRefused && len(all) == 1 {
			break // nothing else would work
		}
	}
	adapted := client.Adaptations()
	works := all[0].Outcome == modelWorks
	if a.json {
		a.emit(struct {
			Schema  string         `json:"schema"`
			Works   bool           `json:"works"`
			Answers []modelAnswer  `json:"answers"`
			Adapted []modelAdapted `json:"adapted"`
		}{"verbatim/model-check@1", works, all, adaptedJSON(adapted)})
	} else {
		for _, ad := range adapted {
			fmt.Fprintf(a.out, "adapted: %s is %s%s\n", ad.Parameter, ad.Change, trailing(": ", receipt.Safe(ad.Said)))
		}
	}
	if !works {
		return said(exitSystem)
	}
	return nil
}

func trailing(sep, text string) string {
	if text == "" {
		return ""
	}
	return sep + text
}

func (a *app) modelAsked(ctx context.Context, client *llm.Client, q *modelQuestion) (modelAnswer, *llm.Reply) {
	began := a.now()
	var first time.Duration
	var piece func(string)
	if q.streamed {
		piece = func(string) {
			if first == 0 {
				first = a.now().Sub(began)
			}
		}
	}
	reply, err := client.Chat(ctx, q.request, piece)
	answer := modelAnswer{Question: q.name, Outcome: modelWorks, Seconds: cmp.Or(first, a.now().Sub(began)).Seconds()}
	var failed *llm.Error
	switch {
	case q.key != "" && errors.As(err, &failed) && failed.Kind == llm.Denied:
		answer.Says = "it is refused, as it should be"
		return answer, nil
	case errors.As(err, &failed):
		answer.Outcome, answer.Says = modelRefused, failed.Error()
		answer.In, answer.Out = failed.Usage.In, failed.Usage.Out
		return answer, nil
	}
	answer.In, answer.Out = reply.Usage.In, reply.Usage.Out
	if why := q.heeded(reply, err); why != "" {
		answer.Outcome, answer.Says = modelDiffers, why
	}
	return answer, reply
}
