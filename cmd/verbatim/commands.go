package main

import (
	_ "embed"

	"github.com/spf13/cobra"
)

// commands are all there are, in the order in which help lists them: what an
// author needs, then what an operator needs, then the rest.
var commands = []func(*app) *cobra.Command{
	checkCommand,
	fmtCommand,
	lintCommand,
	explainCommand,
	grammarCommand,
	sayCommand,
	runCommand,
	sessionCommand,
	chatCommand,
	evalCommand,
	confirmCommand,
	uploadCommand,
	workCommand,
	logCommand,
	migrateCommand,
	completionCommand,
	versionCommand,
	helpCommand,
}

// outputSchema is a JSON Schema of everything that --json prints. Fields are
// only ever added to it.
//
//go:embed output.schema.json
var outputSchema string
