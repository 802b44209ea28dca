package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/wire"
	"verbatim/runtime/protocols/mcp"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

func (a *app) serversFlag(cmd *cobra.Command, file *string) {
	cmd.Flags().StringVar(file, "servers", "", "the servers of tools, a `file` (default $VERBATIM_SERVERS or none)")
}

// tools connects to the servers of a file; nil if there is no file.
func (a *app) tools(flag string) (tools.Servers, error) {
	file := a.serversFile(flag)
	if file == "" {
		return nil, nil
	}
	servers, _, err := a.servers(file)
	if err != nil {
		return nil, err
	}
	return servers, nil
}

func (a *app) serversFile(flag string) string {
	if flag == "" {
		flag = a.env("VERBATIM_SERVERS")
	}
	return flag
}

// servers reads the operator's configuration and the accepted tools.
func (a *app) servers(file string) (*mcp.Servers, mcp.Accepted, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, mcp.Accepted{}, usage(fmt.Sprintf("the servers in %s cannot be read: %s", quoted(file), reason(err)), "name another file with --servers or VERBATIM_SERVERS")
	}
	config, err := mcp.ReadConfig(text)
	var wrong *mcp.ConfigError
	if errors.As(err, &wrong) {
		lines := make([]string, len(wrong.Problems))
		for i, p := range wrong.Problems {
			lines[i] = fmt.Sprintf("%s:%d: %s", file, p.Line, p.Text)
		}
		return nil, mcp.Accepted{}, &stop{exitUsage, "bad-servers", safeLines(lines), "servers are programs or addresses by name: servers: {helpdesk: {command: [helpdesk-mcp]}}"}
	}
	if err != nil {
		return nil, mcp.Accepted{}, err
	}
	var accepted mcp.Accepted
	text, err = os.ReadFile(acceptedFile(file))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err == nil:
		accepted, err = mcp.ReadAccepted(text)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, mcp.Accepted{}, usage(fmt.Sprintf("what was accepted in %s cannot be read: %s", quoted(acceptedFile(file)), reason(err)), "verbatim lint --servers "+shell(file)+" --accept writes it anew")
	}
	// Descriptions of APIs are in this folder or below it. No link leads out of it.
	folder, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, mcp.Accepted{}, usage(fmt.Sprintf("the folder of %s cannot be read: %s", quoted(file), reason(err)), "name another file with --servers or VERBATIM_SERVERS")
	}
	servers := mcp.New(config, accepted, mcp.Options{Env: a.secret, Version: version, Idle: a.idle, Files: folder.FS()})
	a.ends = append(a.ends, servers.Close, func() { _ = folder.Close() })
	return servers, accepted, nil
}

func safeLines(lines []string) string {
	for i := range lines {
		lines[i] = receipt.Safe(lines[i])
	}
	return strings.Join(lines, "\n")
}

// acceptedFile is the name of the file of accepted tools, next to the configuration.
func acceptedFile(file string) string {
	return strings.TrimSuffix(file, filepath.Ext(file)) + ".accepted.json"
}

// lintTools compares palettes with the tools of their servers. With accept it accepts all tools as
// they are now, and returns how many.
func (a *app) lintTools(ctx context.Context, reg *verbs.Registry, file string, accept bool) (dsl.Diagnostics, int, error) {
	ctx = tools.For(ctx, "lint") // one start a server
	servers, accepted, err := a.servers(file)
	if err != nil {
		return nil, 0, err
	}
	taken := 0
	if accept {
		for _, v := range reg.Verbs() {
			if v.Tool == nil {
				continue
			}
			said, err := servers.Said(ctx, v.Tool.Server, v.Tool.Name)
			if err != nil {
				continue // the comparison reports why
			}
			accepted = accepted.With(said)
			taken++
		}
		if err := os.WriteFile(acceptedFile(file), accepted.Text(), 0o644); err != nil {
			return nil, 0, broken("what was accepted cannot be written", err, "check who may write "+quoted(acceptedFile(file)))
		}
		if servers, _, err = a.servers(file); err != nil {
			return nil, 0, err
		}
	}
	return tools.Check(ctx, reg, a.services(reg, servers, nil, nil)), taken, nil
}

// toolFailed reports what is known of a tool call that did not succeed.
func (a *app) toolFailed(failed *engine.Failure) error {
	d := dsl.Diagnostics{*failed.Told}.AtConsole()[0]
	if a.json {
		a.emit(wire.Run{Schema: wire.RunSchema, Outcome: wire.Unknown, Report: report(dsl.Diagnostics{d})})
		return said(exitSystem)
	}
	fmt.Fprintf(a.err, "unknown[%s]: %s\n", d.Code, receipt.Safe(d.Summary))
	if at := place(d.Place); at != "" {
		fmt.Fprintf(a.err, "   --> %s\n", at)
	}
	for _, note := range d.Notes {
		fmt.Fprintf(a.err, "next: %s\n", receipt.Safe(note))
	}
	return said(exitSystem)
}
