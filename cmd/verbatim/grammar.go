package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
	"verbatim/verbs/load"
)

// The formats of a grammar.
var grammarFormats = []string{"gbnf", "xgrammar", "lark", "json-schema", "openai-tools", "ebnf"}

func grammarCommand(a *app) *cobra.Command {
	var f setup
	var format string
	var calls int
	var profile string
	cmd := &cobra.Command{
		Use:   "grammar",
		Short: "Print what a model may say, for engines that hold it to that",
		Example: `verbatim grammar --as clara --format gbnf
verbatim grammar --format openai-tools`,
		Long: `With --as, it holds the verbs that this principal may use and the names that stand for
the rows that they may see now; without, all verbs and any name. Format ebnf is
the grammar of the language itself, whatever the palettes: that of calls, and those of
the operands and the expressions in palettes.`,
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(grammarFormats, format) {
				return usage(fmt.Sprintf("there is no format %q%s", format, didYouMean(format, grammarFormats)), "the formats are "+strings.Join(grammarFormats, ", "))
			}
			if calls < 0 {
				return usage("--calls counts calls", "give a number, or 0 for any number of them")
			}
			if format == "ebnf" {
				for _, flag := range []string{"as", "calls", "palettes"} {
					if cmd.Flags().Changed(flag) {
						return usage("--"+flag+" changes nothing in the grammar of the language", "leave it out, or ask for another format")
					}
				}
				return a.printGrammar(grammar.Vocabulary{}, format, "")
			}
			if profile != "" {
				switch {
				case !slices.Contains(llm.Profiles(), profile):
					return usage(fmt.Sprintf("there is no profile %q%s", profile, didYouMean(profile, llm.Profiles())), "the profiles are "+strings.Join(llm.Profiles(), ", "))
				case format != "openai-tools":
					return usage("--profile is of tools", "verbatim grammar --format openai-tools --profile "+profile)
				}
			}
			v, err := a.vocabulary(cmd.Context(), f)
			if err != nil {
				return err
			}
			v.Calls = calls
			return a.printGrammar(v, format, profile)
		},
	}
	a.setupFlags(cmd, &f, "the `name` of the principal whom the model speaks for")
	cmd.Flags().StringVar(&format, "format", "gbnf", "one of "+strings.Join(grammarFormats, ", "))
	cmd.Flags().StringVar(&profile, "profile", "", "whose `reader` takes the tools, such as gemini")
	cmd.Flags().IntVar(&calls, "calls", 0, "how many calls one answer makes at most; 0 is any number")
	return cmd
}

// vocabulary is what anybody may write, or what one principal may write now.
func (a *app) vocabulary(ctx context.Context, f setup) (grammar.Vocabulary, error) {
	if f.as = cmp.Or(f.as, a.env("VERBATIM_AS")); f.as == "" {
		reg, err := a.palettes(f.palettes)
		if err != nil {
			return grammar.Vocabulary{}, err
		}
		return grammar.Vocabulary{Verbs: reg.Verbs()}, nil
	}
	reg, store, engine, err := a.wire(ctx, f, nil)
	if err != nil {
		return grammar.Vocabulary{}, err
	}
	defer store.Close()
	session, err := engine.Session(ctx, f.as)
	if err != nil {
		return grammar.Vocabulary{}, a.runFailed(err)
	}
	names, err := session.Names().All(ctx, reg.Entities())
	if err != nil {
		return grammar.Vocabulary{}, a.runFailed(err)
	}
	settled, err := session.Names().Settled(ctx, session.Verbs(), names)
	if err != nil {
		return grammar.Vocabulary{}, a.runFailed(err)
	}
	return grammar.Vocabulary{Verbs: session.Verbs(), Settled: settled, Names: func(e *verbs.Entity) []string {
		if e != nil {
			return names[e]
		}
		var all []string
		for _, of := range reg.Entities() {
			all = append(all, names[of]...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}}, nil
}

func (a *app) printGrammar(v grammar.Vocabulary, format, profile string) error {
	var text []byte
	var loose []string
	var err error
	switch format {
	case "gbnf", "xgrammar", "lark":
		g := grammar.New(v)
		loose = g.Loose()
		text = []byte(map[string]func() string{"gbnf": g.GBNF, "xgrammar": g.XGrammar, "lark": g.Lark}[format]())
	case "ebnf":
		text = []byte(dsl.Syntax() + "\n" + load.Syntax())
	case "json-schema":
		if text, err = grammar.JSONSchema(v); err == nil {
			text = append(text, '\n')
		}
	case "openai-tools":
		if text, err = openaiTools(v, profile); err == nil {
			text = append(text, '\n')
		}
	}
	if s := (*stop)(nil); errors.As(err, &s) {
		return s
	}
	if err != nil {
		return broken("the grammar cannot be written", err, "verbatim lint says whether the palettes are in order")
	}
	if a.json {
		a.emit(struct {
			Schema  string   `json:"schema"`
			Format  string   `json:"format"`
			Grammar string   `json:"grammar"`
			Loose   []string `json:"loose"`
		}{"verbatim/grammar@1", format, string(text), append([]string{}, loose...)})
		return nil
	}
	if len(loose) > 0 {
		fmt.Fprintf(a.err, "note: more can be said than is accepted of %s; it is refused when it is checked\n", strings.Join(loose, ", "))
	}
	_, err = a.out.Write(text)
	return err
}

// openaiTools are the tools of a chat completions request.
func openaiTools(v grammar.Vocabulary, profile string) ([]byte, error) {
	type function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
		Strict      bool            `json:"strict"`
	}
	type tool struct {
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	tools, err := grammar.Tools(v)
	if err != nil {
		return nil, err
	}
	if err := grammar.Hosted(tools); err != nil {
		return nil, &stop{exitInput, "tools", "hosted endpoints refuse these tools: " + err.Error(), "--as NAME leaves those that one principal may use; json-schema is one schema of all"}
	}
	all := make([]tool, len(tools))
	for i := range tools {
		t := &tools[i]
		parameters, strict := t.Strict()
		if !strict {
			parameters = t.Parameters
		}
		if profile != "" && profile != "openai-strict" {
			if parameters, err = llm.SchemaFor(profile, t.Parameters); err != nil {
				return nil, err
			}
			strict = false
		}
		all[i] = tool{"function", function{t.Name, t.Description, parameters, strict}}
	}
	return json.MarshalIndent(all, "", "  ")
}
