package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// writeMan writes a manual page for the program and each subcommand, from the help texts.
func (a *app) writeMan(root *cobra.Command, dir string) error {
	if a.json {
		return usage("manual pages are files, and nothing of them is JSON", "leave --json out")
	}
	if dir == "" {
		return usage("manual pages go into a folder", "verbatim help man --dir DIR")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return usage(fmt.Sprintf("the folder %q cannot be made: %s", dir, reason(err)), "check the path")
	}
	var write func(cmd *cobra.Command) error
	write = func(cmd *cobra.Command) error {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(manPage(cmd)), 0o666); err != nil {
			return usage(fmt.Sprintf("%q cannot be written: %s", filepath.Join(dir, name), reason(err)), "check the path, and who may write there")
		}
		for _, sub := range cmd.Commands() {
			if err := write(sub); err != nil {
				return err
			}
		}
		return nil
	}
	return write(root)
}

// manPage writes the page of one command, in the man macros.
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	path := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %s 1\n.SH NAME\n%s \\- %s\n", roff(strings.ToUpper(path)), roff(path), roff(strings.TrimSuffix(cmd.Short, ".")))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	for _, part := range []struct{ title, text string }{{"DESCRIPTION", cmd.Long}, {"EXAMPLES", cmd.Example}} {
		if part.text != "" {
			fmt.Fprintf(&b, ".SH %s\n.nf\n%s\n.fi\n", part.title, roff(part.text))
		}
	}
	if cmd.HasAvailableLocalFlags() {
		b.WriteString(".SH OPTIONS\n")
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, what := pflag.UnquoteUsage(f)
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(strings.TrimSpace("--"+f.Name+" "+strings.ToUpper(value))), roff(what))
	})
	if subs := cmd.Commands(); len(subs) > 0 {
		b.WriteString(".SH SEE ALSO\n")
		for _, sub := range subs {
			fmt.Fprintf(&b, ".BR %s (1)\n", roff(path+"-"+sub.Name()))
		}
	}
	return b.String()
}

// roff escapes text for troff.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
