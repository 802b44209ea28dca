package main

import (
	_ "embed"

	"github.com/spf13/cobra"
)

// A subcommand is the name and constructor of a subcommand.
type subcommand struct {
	name string
	make func(*app) *cobra.Command
}

// commands lists the subcommands in the order of the help text: for authors, for operators, and the
// others.
var commands = []subcommand{
	{"new", newCommand},
	{"check", checkCommand},
	{"fmt", fmtCommand},
	{"fix", fixCommand},
	{"lint", lintCommand},
	{"palettes", palettesCommand},
	{"pack", packCommand},
	{"explain", explainCommand},
	{"grammar", grammarCommand},
	{"say", sayCommand},
	{"run", runCommand},
	{"undo", undoCommand},
	{"session", sessionCommand},
	{"chat", chatCommand},
	{"eval", evalCommand},
	{"model", modelCommand},
	{"confirm", confirmCommand},
	{"upload", uploadCommand},
	{"serve", serveCommand},
	{"mcp", mcpCommand},
	{"guard", guardCommand},
	{"work", workCommand},
	{"log", logCommand},
	{"doctor", doctorCommand},
	{"migrate", migrateCommand},
	{"backup", backupCommand},
	{"restore", restoreCommand},
	{"index", indexCommand},
	{"lsp", lspCommand},
	{"completion", completionCommand},
	{"version", versionCommand},
	{"help", helpCommand},
}

// outputSchema is a JSON Schema of everything that --json prints. Fields are
// only ever added to it.
//
//go:embed output.schema.json
var outputSchema string
