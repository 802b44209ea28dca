package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Say which build this is",
		Example: "verbatim version",
		Args:    atMost(0),
		RunE: func(*cobra.Command, []string) error {
			name, revision := version, ""
			if info, ok := debug.ReadBuildInfo(); ok {
				if name == "" {
					name = info.Main.Version
				}
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						revision = s.Value
					}
				}
			}
			if name == "" || name == "(devel)" {
				name = "development build"
			}
			if a.json {
				a.emit(struct {
					Schema   string `json:"schema"`
					Version  string `json:"version"`
					Revision string `json:"revision,omitempty"`
					Go       string `json:"go"`
				}{"verbatim/version@1", name, revision, runtime.Version()})
				return nil
			}
			fmt.Fprintf(a.out, "verbatim  %s\n", name)
			if revision != "" {
				fmt.Fprintf(a.out, "revision  %s\n", revision)
			}
			fmt.Fprintf(a.out, "built by  %s\n", runtime.Version())
			return nil
		},
	}
}
