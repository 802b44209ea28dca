package main

import (
	"fmt"
	"math/rand/v2"
	"os"

	"github.com/spf13/cobra"

	"verbatim/runtime/conversation/eval"
)

func evalCompareCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "compare A B",
		Short: "Say which of two kept runs of a dataset is better, and whether that can be told",
		Example: `verbatim eval --json conversation/asks.yaml > new.json
verbatim eval compare kept.json new.json`,
		Long: `A and B are what --json printed, with two models, prompts or palettes. Their cases are paired; the
interval holds the difference in score with 95 % confidence, and one is better where 0 is not in it.`,
		Args: exactly(2, "two kept runs"),
		RunE: func(_ *cobra.Command, args []string) error { return a.evalCompare(args[0], args[1]) },
	}
}

// evalCompare says which of two stored runs is better.
func (a *app) evalCompare(first, second string) error {
	one, err := a.kept(first)
	if err != nil {
		return err
	}
	other, err := a.kept(second)
	if err != nil {
		return err
	}
	c, err := eval.Compare(one, other, fixed().Uint64)
	if err != nil {
		return &stop{exitInput, "kept-run", fmt.Sprintf("%q and %q cannot be compared: %s", first, second, err), "compare two runs of one dataset"}
	}
	c.A, c.B = first, second
	if a.json {
		a.emit(c)
	} else {
		fmt.Fprint(a.out, c)
	}
	return nil
}

// kept reads a stored run, or says why it cannot be used.
func (a *app) kept(file string) (*eval.Run, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usage(fmt.Sprintf("the kept run %q cannot be read: %s", file, reason(err)), "check the path")
	}
	run, err := eval.Read(text)
	if err != nil {
		return nil, unkept(file, err)
	}
	return run, nil
}

func unkept(file string, err error) error {
	return &stop{exitInput, "kept-run", fmt.Sprintf("the kept run %q cannot be used: %s", file, err), "verbatim eval --json DATASET > FILE keeps one"}
}

// fixed is a random source with a fixed seed, so a comparison is reproducible.
func fixed() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
