package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verbatim/runtime"
	"verbatim/runtime/dialog"
	"verbatim/runtime/llm"
	"verbatim/stores/receipt"
)

func evalCommand(a *app) *cobra.Command {
	var f chatFlags
	var junit, without string
	cmd := &cobra.Command{
		Use:   "eval DATASET",
		Short: "Score conversations against what is expected of them",
		Example: `verbatim eval conversation/asks.yaml
verbatim eval --junit report.xml conversation/asks.yaml
verbatim eval --without phrases conversation/asks.yaml`,
		Long: `Each case is a conversation in a named session, with a store of its own made of the
dataset's data. Answers come from the dataset's recording, or from --model at --base-url, and
--record writes a new one. It fails below the dataset's threshold (90 % of checks), and when
its tokens (50,000) are spent. --without shows what the model, or the phrases, are worth.`,
		Args: exactly(1, "one dataset"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.eval(cmd.Context(), args[0], junit, without, f)
		},
	}
	a.palettesFlag(cmd, &f.palettes)
	cmd.Flags().StringVar(&f.model, "model", "", "ask the model of this `name`, and no recording")
	cmd.Flags().StringVar(&f.baseURL, "base-url", "", "the `URL` of the endpoint that has it")
	cmd.Flags().StringVar(&f.mode, "mode", "tools", "the `way` calls are written: tools, text, or by a grammar, llama.cpp or vllm")
	cmd.Flags().StringVar(&f.record, "record", "", "write what the model is asked and answers into this `file`")
	cmd.Flags().StringVar(&without, "without", "", "leave one `part` of the conversation out: model, or phrases")
	cmd.Flags().StringVar(&junit, "junit", "", "write the verdicts into this `file`, as JUnit does")
	return cmd
}

// evalJSON is what came of a dataset.
type evalJSON struct {
	Schema string `json:"schema"`
	// Without is what the conversations were held without: the model, or the
	// phrases.
	Without string     `json:"without,omitempty"`
	Cases   []caseJSON `json:"cases"`
	// Categories are those of the cases, in the order of dialog.Categories.
	Categories []categoryJSON `json:"categories,omitempty"`
	Passed     int            `json:"passed"`
	Checks     int            `json:"checks"`
	Score      int            `json:"score"` // percent, rounded down
	Threshold  int            `json:"threshold"`
	Tokens     int            `json:"tokens"`
	Budget     int            `json:"budget"`
	OK         bool           `json:"ok"`
}

type categoryJSON struct {
	Name   string `json:"name"`
	Passed int    `json:"passed"`
	Checks int    `json:"checks"`
	Tokens int    `json:"tokens"`
}

// byCategory adds up what came of cases by their category.
func (e *evalJSON) byCategory() {
	for _, name := range dialog.Categories {
		c := categoryJSON{Name: name}
		for i := range e.Cases {
			if e.Cases[i].Category != name {
				continue
			}
			c.Tokens += e.Cases[i].Tokens
			for _, v := range e.Cases[i].Checks {
				c.Checks++
				if v.Pass {
					c.Passed++
				}
			}
		}
		if c.Checks > 0 {
			e.Categories = append(e.Categories, c)
		}
	}
}

type caseJSON struct {
	ID       string           `json:"id"`
	Category string           `json:"category,omitempty"`
	Intent   string           `json:"intent,omitempty"`
	Pass     bool             `json:"pass"`
	Tokens   int              `json:"tokens"`
	Checks   []dialog.Verdict `json:"checks"`
	Problem  string           `json:"problem,omitempty"` // why it could not be held to the end
	Told     []string         `json:"told"`
}

const (
	withoutModel   = "model"
	withoutPhrases = "phrases"
)

func (a *app) eval(ctx context.Context, file, junit, without string, f chatFlags) error {
	switch {
	case !slices.Contains([]string{"", withoutModel, withoutPhrases}, without):
		return usage(fmt.Sprintf("--without is model or phrases, not %q", without), "verbatim eval --without model "+shell(file))
	case without == withoutModel && f.model+f.baseURL+f.record != "":
		return usage("--without model asks none, so there is nothing to ask or to record", "leave --without out, or --model, --base-url and --record")
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
	if without == withoutModel {
		f.mode = string(dialog.Tools) // which is all the same
	} else if model, scene, err = a.model(&f, zone, &ends); err != nil {
		return err
	}
	if set.Now.IsZero() {
		set.Now = scene.At
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
	out := evalJSON{Schema: "verbatim/eval@1", Without: without, Cases: []caseJSON{}, Threshold: set.Threshold, Budget: set.Budget}
	budget := llm.NewBudget("run", set.Budget)
	for i := range set.Cases {
		one, err := a.evalCase(ctx, set, &set.Cases[i], model, without != withoutPhrases, budget, &f, data)
		if err != nil {
			return err
		}
		out.Cases = append(out.Cases, one)
		for _, v := range one.Checks {
			out.Checks++
			if v.Pass {
				out.Passed++
			}
		}
		if !a.json {
			a.tellCase(&one)
		}
	}
	out.byCategory()
	out.Score, out.Tokens = 100*out.Passed/max(1, out.Checks), budget.Spent()
	out.OK = out.Score >= out.Threshold && out.Tokens < out.Budget
	if junit != "" {
		if err := os.WriteFile(junit, out.junit(file), 0o666); err != nil {
			return broken(fmt.Sprintf("the report %q cannot be written", junit), err, "check the path")
		}
	}
	if a.json {
		a.emit(out)
	} else {
		for _, c := range out.Categories {
			fmt.Fprintf(a.out, "%-8s %d of %s passed, %s tokens\n", c.Name, c.Passed, receipt.Counted(c.Checks, "check"), receipt.Thousands(c.Tokens))
		}
		fmt.Fprintf(a.out, "%d of %s passed, %d %%; %d %% is wanted. %s of %s tokens.\n", out.Passed, receipt.Counted(out.Checks, "check"), out.Score, out.Threshold, receipt.Thousands(out.Tokens), receipt.Thousands(out.Budget))
	}
	if !out.OK {
		return said(exitInput)
	}
	return nil
}

// evalCase holds one conversation, in a store of its own.
func (a *app) evalCase(ctx context.Context, set *dialog.Dataset, c *dialog.Case, model llm.Model, phrases bool, run *llm.Budget, f *chatFlags, data []string) (caseJSON, error) {
	out := caseJSON{ID: c.ID, Category: c.Category, Intent: c.Intent, Checks: []dialog.Verdict{}, Told: []string{}}
	dir, err := os.MkdirTemp("", "verbatim-eval-")
	if err != nil {
		return out, broken("there is no place for a store", err, "check the temporary folder")
	}
	defer os.RemoveAll(dir)
	reg, err := a.wholePalettes(f.palettes)
	if err != nil {
		return out, err
	}
	own := filepath.Join(dir, "case.db")
	if set.Store != "" {
		from, err := a.openFile(ctx, address{file: f.store}, false)
		if err != nil {
			return out, err
		}
		err = from.Backup(ctx, own)
		from.Close()
		if err != nil {
			return out, broken("the store of the dataset cannot be copied", err, "check the room that is left")
		}
	}
	store, err := a.prepare(ctx, address{file: own}, true, "")
	if err != nil {
		return out, err
	}
	defer store.Close()
	all := append(tables(reg), ownTables()...)
	// Where all tables are ours, they are there before the data. Where some are not, this
	// makes none, and the data brings those.
	if _, err := store.Migrate(ctx, all, true); err != nil {
		return out, broken("there is no store for the case", err, "try again")
	}
	if err := a.fill(ctx, store, set.Data, data); err != nil {
		return out, err
	}
	if plan, err := store.Migrate(ctx, all, true); err != nil || len(plan.Problems) > 0 {
		return out, &stop{exitInput, "dataset", "the data of the dataset and the palettes do not fit together: " + strings.Join(plan.Problems, "; "), "correct one of them"}
	}
	clock := a.now
	if !set.Now.IsZero() {
		clock = func() time.Time { return set.Now }
	}
	engine, err := a.newEngineAt(reg, store, nil, clock)
	if err != nil {
		return out, a.runFailed(err)
	}
	// A session with a name, as verbatim chat --session has one, so that what goes
	// from turn to turn, such as questions one by one, goes on here as well. Its store
	// is this case's alone.
	session, err := engine.Visit(ctx, set.As, runtime.Visit{Name: "case"})
	if err != nil {
		return out, a.runFailed(err)
	}
	zone, err := a.zone()
	if err != nil {
		return out, err
	}
	budget := run.Within("case", 0)
	o := dialog.Options{Registry: reg, Session: session, Model: model, Mode: dialog.Mode(f.mode), Clock: clock, Zone: zone,
		Person: session.Person().Label, Budget: budget, Source: "eval"}
	if phrases {
		o.Interpreter = &interpreter{reg, a.phrases(reg), session, clock, zone}
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

func (a *app) tellCase(c *caseJSON) {
	state := "ok  "
	if !c.Pass {
		state = "FAIL"
	}
	fmt.Fprintf(a.out, "%s  %-14s %s, %s tokens\n", state, receipt.Safe(c.ID), receipt.Counted(len(c.Checks), "check"), receipt.Thousands(c.Tokens))
	for _, v := range c.Checks {
		if !v.Pass {
			fmt.Fprintf(a.out, "      expected that it %s; got %s\n", receipt.Safe(v.Check), receipt.Safe(strings.Join(strings.Fields(v.Got), " ")))
		}
	}
}

// junit writes the verdicts as build servers read them: a case is a suite, and
// each of its checks a test.
func (e *evalJSON) junit(name string) []byte {
	type failure struct {
		Message string `xml:"message,attr"`
	}
	type test struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		Failure *failure `xml:"failure,omitempty"`
	}
	type suite struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Cases    []test `xml:"testcase"`
	}
	doc := struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Suites   []suite  `xml:"testsuite"`
	}{Name: name, Tests: e.Checks, Failures: e.Checks - e.Passed}
	for _, c := range e.Cases {
		s := suite{Name: c.ID, Tests: len(c.Checks)}
		for _, v := range c.Checks {
			t := test{Name: v.Check, Class: c.ID}
			if !v.Pass {
				t.Failure = &failure{"got " + v.Got}
				s.Failures++
			}
			s.Cases = append(s.Cases, t)
		}
		doc.Suites = append(doc.Suites, s)
	}
	text, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil // of strings and numbers
	}
	return append([]byte(xml.Header), append(text, '\n')...)
}
