package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"verbatim/verbs/load"
)

func helpCommand(a *app) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "help [TASK|COMMAND|tasks|keys [KIND]|exit-codes|json|man]",
		Short: "Print the guide to a task, or how a command is used",
		Example: `verbatim help tasks
verbatim help write-a-palette
verbatim help keys "an entity"
verbatim help run
verbatim help exit-codes
verbatim help man --dir man`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "keys" {
				return atMost(2)(cmd, args)
			}
			return atMost(1)(cmd, args)
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return helpTopics(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Root().Help()
			}
			switch args[0] {
			case "exit-codes":
				a.printExitCodes()
				return nil
			case "json":
				fmt.Fprint(a.out, outputSchema)
				return nil
			case "man":
				return a.writeMan(cmd.Root(), dir)
			case "variables":
				a.printVariables()
				return nil
			case "keys":
				return a.printKeys(args[1:])
			case "tasks":
				args[0] = "README"
			}
			about := slices.IndexFunc(cmd.Root().Commands(), func(c *cobra.Command) bool { return c.Name() == args[0] })
			if text, ok := guideText(args[0]); ok {
				if about >= 0 { // a task and a command have one name
					text += fmt.Sprintf("\nThe flags of the command: verbatim %s --help\n", args[0])
				}
				a.printHelp(text)
				return nil
			}
			if about >= 0 {
				return cmd.Root().Commands()[about].Help()
			}
			next := "verbatim help tasks lists the tasks, and verbatim --help the commands"
			if near := nearGuides(args[0]); len(near) > 0 {
				next = "verbatim help " + strings.Join(near, ", verbatim help ") + "; verbatim help tasks lists all"
			}
			return usage(fmt.Sprintf("there is no help about %q%s", args[0], didYouMean(args[0], helpTopics(cmd.Root()))), next)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write the manual pages, of which man is asked, into this `folder`")
	return cmd
}

var exitCodes = []struct {
	Exit    int    `json:"exit"`
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}{
	{exitDone, "done", "what was asked for happened"},
	{exitInput, "input", "the script or the palettes are wrong; nothing was changed"},
	{exitUsage, "usage", "the command line makes no sense, or names something that is not there"},
	{exitRefused, "refused", "not permitted, or an agreement is needed or was withheld; nothing was changed"},
	{exitSystem, "system", "the system failed: disk, database, or this program itself"},
}

func (a *app) printExitCodes() {
	if a.json {
		a.emit(struct {
			Schema string `json:"schema"`
			Exits  any    `json:"exits"`
		}{"verbatim/exit-codes@1", exitCodes})
		return
	}
	for _, e := range exitCodes {
		fmt.Fprintf(a.out, "%d  %-8s %s\n", e.Exit, e.Name, e.Meaning)
	}
}

// rare are the subcommands that the first help screen only names, for lack of room.
var rare = []string{"backup", "completion", "doctor", "fix", "guard", "help", "index", "lsp", "model", "pack", "restore", "upload", "version"}

// listed returns the subcommands in the order of commands.
func (a *app) listed(cmd *cobra.Command) []*cobra.Command {
	subs := slices.Clone(cmd.Commands())
	subs = slices.DeleteFunc(subs, func(c *cobra.Command) bool { return c.Hidden })
	slices.SortStableFunc(subs, func(x, y *cobra.Command) int {
		return slices.Index(a.order, x.Name()) - slices.Index(a.order, y.Name())
	})
	return subs
}

// help prints an example first, since most readers want one.
func (a *app) help(cmd *cobra.Command, _ []string) {
	var b strings.Builder
	for line := range strings.Lines(cmd.Example) {
		b.WriteString("  " + line)
	}
	b.WriteByte('\n')
	if cmd.HasParent() {
		b.WriteByte('\n') // the first screen has no line to spare
	}
	fmt.Fprintf(&b, "%s.\n", strings.TrimSuffix(cmd.Short, "."))
	if cmd.HasParent() {
		fmt.Fprintf(&b, "usage: %s\n", cmd.UseLine())
		if cmd.Long != "" {
			fmt.Fprintf(&b, "%s\n", cmd.Long)
		}
	}
	if subs := a.listed(cmd); len(subs) > 0 {
		if cmd.HasParent() {
			b.WriteByte('\n')
		}
		var rest []string
		for _, c := range subs {
			if slices.Contains(rare, c.Name()) && !cmd.HasParent() {
				if c.Name() != "help" { // which brought us here
					rest = append(rest, c.Name())
				}
			} else {
				fmt.Fprintf(&b, "  %-11s %s\n", c.Name(), c.Short)
			}
		}
		if rest != nil {
			fmt.Fprintf(&b, "  and %s\n", strings.Join(rest, ", "))
		}
	}
	if cmd.HasParent() {
		b.WriteByte('\n')
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name, what := pflag.UnquoteUsage(f)
		flag := "--" + f.Name
		if f.Shorthand != "" {
			flag = "-" + f.Shorthand + ", " + flag
		}
		if f.Value.Type() != "bool" && name != "" {
			flag += " " + strings.ToUpper(name)
		}
		fmt.Fprintf(&b, "  %-18s %s\n", flag, what)
	})
	a.printHelp(b.String())
}

func (a *app) printHelp(text string) {
	if a.json {
		a.emit(struct {
			Schema string `json:"schema"`
			Text   string `json:"text"`
		}{"verbatim/help@1", text})
		return
	}
	fmt.Fprint(a.out, text)
}

// helpTopics are the words that verbatim help knows.
func helpTopics(root *cobra.Command) []string {
	all := append(guideNames(), "tasks", "keys", "variables", "exit-codes", "json", "man")
	for _, c := range root.Commands() {
		if !slices.Contains(all, c.Name()) {
			all = append(all, c.Name())
		}
	}
	return all
}

// printKeys prints the kinds of mappings in palettes, or the keys of one.
func (a *app) printKeys(kind []string) error {
	if len(kind) == 0 {
		a.printHelp(strings.Join(load.KeyKinds(), "\n") + "\n\nThe keys of one: verbatim help keys \"an entity\"\n")
		return nil
	}
	text, ok := load.KeysOf(kind[0])
	if !ok {
		return usage(fmt.Sprintf("no mapping of a palette is called %q%s", kind[0], didYouMean(kind[0], load.KeyKinds())), "verbatim help keys lists them")
	}
	a.printHelp(text)
	return nil
}

// flagError suggests the flag that was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	next := fmt.Sprintf("verbatim %s--help", prefix(cmd))
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		near := ""
		if s := didYouMean(unknown.GetSpecifiedName(), names); s != "" {
			near = strings.ReplaceAll(s, `"`, "")
			near = strings.Replace(near, "did you mean ", "did you mean --", 1)
			near = strings.ReplaceAll(near, " or ", " or --")
		}
		return usage(fmt.Sprintf("there is no flag --%s%s", unknown.GetSpecifiedName(), near), next)
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		takes := map[string]string{"int": "a whole number", "int64": "a whole number", "duration": "a duration such as 1m30s", "bool": "true or false"}
		if kind := takes[invalid.GetFlag().Value.Type()]; kind != "" {
			return usage(fmt.Sprintf("--%s takes %s, and %q is none", invalid.GetFlag().Name, kind, invalid.GetValue()), next)
		}
	}
	return usage(err.Error(), next)
}

func prefix(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return ""
	}
	return strings.TrimPrefix(cmd.CommandPath(), "verbatim ") + " "
}

// Checks of the number of arguments, with our own messages.

func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > n {
			return usage(fmt.Sprintf("verbatim %sdoes not know what to do with %q", prefix(cmd), args[n]), "verbatim "+prefix(cmd)+"--help")
		}
		return nil
	}
}

func atLeast(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return usage(fmt.Sprintf("verbatim %swants %s", prefix(cmd), what), "verbatim "+prefix(cmd)+"--help")
		}
		return nil
	}
}

func exactly(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := atLeast(n, what)(cmd, args); err != nil {
			return err
		}
		return atMost(n)(cmd, args)
	}
}
