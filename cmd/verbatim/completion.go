package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

func completionCommand(a *app) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print a completion script for a shell",
		Example: `verbatim completion bash
verbatim completion zsh
verbatim completion fish`,
		Long: `It completes subcommands, flags and the names of verbs. To have it always:
  bash  verbatim completion bash >~/.local/share/bash-completion/completions/verbatim
  zsh   verbatim completion zsh  >"${fpath[1]}/_verbatim"
  fish  verbatim completion fish >~/.config/fish/completions/verbatim.fish`,
		Args:      exactly(1, "the name of a shell: bash, zsh or fish"),
		ValidArgs: shells,
		RunE: func(cmd *cobra.Command, args []string) error {
			write := map[string]func(io.Writer) error{
				"bash": func(w io.Writer) error { return cmd.Root().GenBashCompletionV2(w, true) },
				"zsh":  cmd.Root().GenZshCompletion,
				"fish": func(w io.Writer) error { return cmd.Root().GenFishCompletion(w, true) },
			}[args[0]]
			if write == nil {
				return usage(fmt.Sprintf("there is no completion for %q%s", args[0], didYouMean(args[0], shells)), "bash, zsh and fish are known")
			}
			var b bytes.Buffer
			if err := write(&b); err != nil {
				return broken("the completion script cannot be made", err, "try again")
			}
			if a.json {
				a.emit(struct {
					Schema string `json:"schema"`
					Shell  string `json:"shell"`
					Script string `json:"script"`
				}{"verbatim/completion@1", args[0], b.String()})
				return nil
			}
			_, err := a.out.Write(b.Bytes())
			return err
		},
	}
}
