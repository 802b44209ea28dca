package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/eval"
	"verbatim/runtime/conversation/intent"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/conversation/phrases"
	"verbatim/runtime/engine"
	"verbatim/verbs"
)

// evalFlags are the flags of `verbatim eval`.
type evalFlags struct {
	chatFlags
	junit, without, against string
	judge, judgeURL         string
	price                   eval.Price
}

func evalCommand(a *app) *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use:   "eval DATASET",
		Short: "Score conversations against what is expected of them",
		Example: `verbatim eval --json conversation/asks.yaml > kept.json
verbatim eval --against kept.json conversation/asks.yaml`,
		Long: `Each case is a conversation in a store of its own, answered by the dataset's recording or a --model.
It fails below the threshold (90 % of checks), when its tokens (50,000) are spent, and where a check
fails that passed in the run of --against. VERBATIM_JUDGE_KEY is the key at --judge-url.`,
		Args: exactly(1, "one dataset"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.eval(cmd.Context(), args[0], f) },
	}
	a.palettesFlag(cmd, &f.palettes)
	cmd.Flags().StringVar(&f.model, "model", "", "ask the model of this `name`, and no recording")
	cmd.Flags().StringVar(&f.baseURL, "base-url", "", "the `URL` of the endpoint that has it")
	cmd.Flags().StringVar(&f.mode, "mode", "tools", "the `way` calls are written: tools, text, or by a grammar, llama.cpp or vllm")
	cmd.Flags().StringVar(&f.record, "record", "", "write what the model is asked and answers into this `file`")
	cmd.Flags().StringVar(&f.without, "without", "", "leave one `part` of the conversation out: model, or phrases")
	cmd.Flags().StringVar(&f.junit, "junit", "", "write the verdicts into this `file`, as JUnit does")
	cmd.Flags().StringVar(&f.against, "against", "", "fail where this kept run, a `file`, was better")
	cmd.Flags().Var(&f.price, "price", "what a million tokens `cost`, read and written: 0.15,0.60")
	cmd.Flags().StringVar(&f.judge, "judge", "", "have the model of this `name` grade the answers, as advice")
	cmd.Flags().StringVar(&f.judgeURL, "judge-url", "", "the `URL` of the judge's endpoint (default that of the model)")
	cmd.AddCommand(evalCompareCommand(a))
	return cmd
}

const (
	withoutModel   = "model"
	withoutPhrases = "phrases"
)

func (a *app) eval(ctx context.Context, file string, f evalFlags) error {
	switch {
	case !slices.Contains([]string{"", withoutModel, withoutPhrases}, f.without):
		return usage(fmt.Sprintf("--without is model or phrases, not %q", f.without), "verbatim eval --without model "+shell(file))
	case f.without == withoutModel && f.model+f.baseURL+f.record != "":
		return usage("--without model asks none, so there is nothing to ask or to record", "leave --without out, or --model, --base-url and --record")
	case f.judge == "" && f.judgeURL != "":
		return usage("--judge-url is where a judge is asked, and there is none", "verbatim eval --judge NAME --judge-url "+shell(f.judgeURL)+" "+shell(file))
	}
	in, err := os.Open(file)
	if err != nil {
		return usage(fmt.Sprintf("the dataset %q cannot be read: %s", file, reason(err)), "check the path")
	}
	defer in.Close()
	set, err := dialog.ReadDataset(in)
	if err != nil {
		return &stop{exitInput, "dataset", fmt.Sprintf("the dataset %q cannot be used: %s", file, err), "correct it and try again"}
	}
	dir := filepath.Dir(file)
	if f.model == "" && f.baseURL == "" && set.Recording != "" {
		f.replay = filepath.Join(dir, set.Recording)
	}
	f.as = set.As
	var ends []func()
	defer func() {
		for _, end := range ends {
			end()
		}
	}()
	zone, err := a.zone()
	if err != nil {
		return err
	}
	var model llm.Model
	var scene llm.Scene
	if f.without == withoutModel {
		f.mode = string(dialog.Tools) // it makes no difference
	} else if model, scene, err = a.model(&f.chatFlags, zone, &ends); err != nil {
		return err
	}
	if model == nil && f.without == withoutPhrases {
		return usage("without phrases and without a model, nothing understands a message", "name a model with --model, leave --without out, or give the dataset a recording")
	}
	judge, err := a.judge(&f)
	if err != nil {
		return err
	}
	var data []string
	for _, name := range set.Data {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return usage(fmt.Sprintf("the data %q cannot be read: %s", name, reason(err)), "data stands beside the dataset")
		}
		data = append(data, string(text))
	}
	if f.store = filepath.Join(dir, set.Store); set.Store != "" && len(set.Data) > 0 {
		return &stop{exitInput, "dataset", "the dataset has a store and data", "a store has its data: leave one of them out"}
	}
	name, revision := built()
	setup := eval.Setup{Dataset: filepath.Base(file), Digest: eval.Digest(set, data), Price: f.price.String(), Program: strings.TrimSpace(name + " " + revision)}
	if set.Now.IsZero() {
		set.Now = scene.At
	}
	reg, err := a.wholePalettes(f.palettes)
	if err != nil {
		return err
	}
	if setup.Palettes = reg.Digest(); model != nil {
		setup.Mode, setup.Prompt = f.mode, dialog.PromptVersion+" "+eval.Sum(dialog.PromptText())
		if f.replay == "" {
			setup.Model, setup.Host = f.model, eval.HostOf(f.baseURL)
		} else if text, err := os.ReadFile(f.replay); err == nil {
			setup.Recording = eval.Sum(string(text))
		}
	}
	var then *eval.Run
	if f.against != "" {
		if then, err = a.kept(f.against); err != nil {
			return err
		}
		if err := then.Fits(setup); err != nil {
			return unkept(f.against, err)
		}
	}
	out := &eval.Run{Schema: eval.Schema, Setup: setup, Without: f.without, Cases: []eval.Case{}, Threshold: set.Threshold, Budget: set.Budget}
	folder, err := os.MkdirTemp("", "verbatim-eval-")
	if err != nil {
		return broken("there is no place for a store", err, "check the temporary folder")
	}
	defer os.RemoveAll(folder)
	first, err := a.evalStore(ctx, filepath.Join(folder, "first.db"), set, reg, &f, data)
	if err != nil {
		return err
	}
	index := sync.OnceValue(func() *intent.Index { return a.phrases(reg) })
	budget := llm.NewBudget("run", set.Budget)
	for i := range set.Cases {
		own := filepath.Join(folder, fmt.Sprintf("case%d.db", i))
		if err := os.WriteFile(own, first, 0o600); err != nil {
			return broken("the store of a case cannot be written", err, "check the room that is left")
		}
		one, err := a.evalCase(ctx, own, set, &set.Cases[i], reg, index, model, budget, &f)
		_ = os.Remove(own)
		if err != nil {
			return err
		}
		out.Cases = append(out.Cases, one)
		if !a.json {
			fmt.Fprint(a.out, &one)
		}
	}
	out.Add(budget.Spent())
	if then != nil {
		if out.Since, err = eval.Since(then, out); err != nil {
			return unkept(f.against, err)
		}
	}
	if f.junit != "" {
		if err := os.WriteFile(f.junit, out.JUnit(file), 0o666); err != nil {
			return broken(fmt.Sprintf("the report %q cannot be written", f.junit), err, "check the path")
		}
	}
	if judge != nil { // once everything else is decided
		judge.Budget = budget
		out.Judge = judge.Grade(ctx, set, out)
	}
	if a.json {
		a.emit(out)
	} else {
		fmt.Fprint(a.out, out)
	}
	if !out.OK || out.Since != nil && len(out.Since.Regressed) > 0 {
		return said(exitInput)
	}
	return nil
}

// judge returns the model that grades answers; nil if there is none. Its key is sent to its own
// endpoint only.
func (a *app) judge(f *evalFlags) (*eval.Judge, error) {
	if f.judge == "" {
		return nil, nil
	}
	base, key := f.baseURL, a.env("VERBATIM_MODEL_KEY")
	if base == "" {
		base = a.env("VERBATIM_BASE_URL")
	}
	if f.judgeURL != "" && f.judgeURL != base {
		base, key = f.judgeURL, a.env("VERBATIM_JUDGE_KEY")
	}
	const next = "verbatim eval --judge NAME --judge-url http://localhost:11434/v1 DATASET"
	if base == "" {
		return nil, usage("a judge is asked at an endpoint", next)
	}
	client, err := llm.New(llm.Config{BaseURL: base, Key: key, Model: f.judge, Random: rand.Float64, Now: a.now})
	if err != nil {
		return nil, usage(err.Error(), next)
	}
	return &eval.Judge{Model: client, Name: f.judge, Host: eval.HostOf(base), Shuffle: fixed().Shuffle}, nil
}

// evalStore makes the store with which each case begins, and returns its file.
func (a *app) evalStore(ctx context.Context, path string, set *dialog.Dataset, reg *verbs.Registry, f *evalFlags, data []string) ([]byte, error) {
	if set.Store != "" {
		from, err := a.openFile(ctx, address{file: f.store}, false)
		if err != nil {
			return nil, err
		}
		err = from.Backup(ctx, path)
		from.Close()
		if err != nil {
			return nil, broken("the store of the dataset cannot be copied", err, "check the room that is left")
		}
	}
	store, err := a.openFile(ctx, address{file: path}, true)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	all := allTables(reg)
	if _, err := a.fill(ctx, store, all, set.Data, data); err != nil {
		return nil, err
	}
	if plan, err := store.Migrate(ctx, all, true); err != nil || len(plan.Problems) > 0 {
		return nil, &stop{exitInput, "dataset", "the data of the dataset and the palettes do not fit together: " + strings.Join(plan.Problems, "; "), "correct one of them"}
	}
	if len(set.Data) > 0 {
		if err := indexed(ctx, reg, store); err != nil {
			return nil, a.runFailed(err)
		}
	}
	if err := store.Close(); err != nil {
		return nil, broken("the store of the cases cannot be made", err, "check the room that is left")
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, broken("the store of the cases cannot be made", err, "check the room that is left")
	}
	return file, nil
}

// evalCase plays one conversation, in a store of its own.
func (a *app) evalCase(ctx context.Context, own string, set *dialog.Dataset, c *dialog.Case, reg *verbs.Registry, index func() *intent.Index, model llm.Model, run *llm.Budget, f *evalFlags) (eval.Case, error) {
	out := eval.Case{ID: c.ID, Category: c.Category, Intent: c.Intent, Checks: []dialog.Verdict{}, Said: c.Turns, Told: []string{}}
	store, err := a.openFile(ctx, address{file: own}, false)
	if err != nil {
		return out, err
	}
	defer store.Close()
	clock := a.now
	if !set.Now.IsZero() {
		clock = func() time.Time { return set.Now }
	}
	eng, err := a.newEngineAt(reg, store, nil, clock)
	if err != nil {
		return out, a.runFailed(err)
	}
	// The session has a name, as in `verbatim chat --session`, so that collections continue from
	// turn to turn.
	session, err := eng.Visit(ctx, set.As, engine.Visit{Name: "case"})
	if err != nil {
		return out, a.runFailed(err)
	}
	zone, err := a.zone()
	if err != nil {
		return out, err
	}
	budget := run.Within("case", 0)
	o := dialog.Options{Registry: reg, Session: session, Model: model, Mode: dialog.Mode(f.mode), XGrammar: f.xgrammar, Clock: clock, Zone: zone,
		Person: session.Person().Label, Budget: budget, Source: "eval"}
	if f.without != withoutPhrases {
		o.Interpreter = phrases.New(reg, index(), session, clock, zone)
	}
	talk, err := dialog.New(o)
	if err != nil {
		return out, broken("the conversation cannot begin", err, "verbatim eval --help")
	}
	if err := talk.Resume(ctx); err != nil {
		return out, a.runFailed(err)
	}
	var answers []*dialog.Answer
	for _, said := range c.Turns {
		answer, err := talk.Say(ctx, dialog.Message{Text: said})
		var e *llm.Error
		switch {
		case errors.As(err, &e) && e.Kind == llm.Unrecorded:
			out.Problem = "the recording does not hold it: " + e.Err.Error()
		case err != nil:
			return out, a.silent(err)
		default:
			answers = append(answers, answer)
			out.Told = append(out.Told, answer.Text)
			out.Cost += f.price.Of(answer.Turn.Model.In, answer.Turn.Model.Out)
			continue
		}
		break
	}
	out.Tokens = budget.Spent()
	if out.Problem != "" {
		for i := range c.Checks {
			out.Checks = append(out.Checks, dialog.Verdict{Check: c.Checks[i].Says(), Got: out.Problem})
		}
		return out, nil
	}
	out.Checks, out.Pass = c.Score(answers), true
	for _, v := range out.Checks {
		out.Pass = out.Pass && v.Pass
	}
	return out, nil
}
