package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// toolboxPath is where `make toolbox` puts MCP Toolbox for Databases.
const toolboxPath = "../../../.cache/toolbox/toolbox"

// toolbox starts MCP Toolbox for Databases with our two statements as tools. They are called
// over REST or over MCP. It checks no token and keeps to no policy: who may see what stands in
// the statements, as parameters that whoever calls fills in.
func (s *server) toolbox() (call func(overMCP bool, tool string, who, i int) error, err error) {
	if _, err := os.Stat(toolboxPath); err != nil {
		return nil, fmt.Errorf("MCP Toolbox is not there: make toolbox fetches it")
	}
	admin, err := url.Parse(s.db.Admin)
	if err != nil {
		return nil, err
	}
	readSQL, readArgs := s.forPgx(theirs)
	writeSQL, writeArgs := s.forPgx(oneStatement)
	args := map[string]func(who, i int) []any{"read": readArgs, "write": writeArgs}
	var config strings.Builder
	quoted := func(text string) string { return strconv.Quote(text) } // JSON, which YAML is
	fmt.Fprintf(&config, "sources:\n  bank: {kind: postgres, host: localhost, port: \"5432\", database: %s, user: %s, password: none, queryParams: {host: %s, pool_max_conns: %q}}\ntools:\n",
		quoted(strings.TrimPrefix(admin.Path, "/")), quoted(admin.Query().Get("user")), quoted(s.db.Dir), strconv.Itoa(clients))
	for _, tool := range []struct{ name, sql string }{{"read", readSQL}, {"write", writeSQL}} {
		fmt.Fprintf(&config, "  %s:\n    kind: postgres-sql\n    source: bank\n    description: one statement\n    statement: %s\n    parameters:\n", tool.name, quoted(tool.sql))
		for i := range args[tool.name](0, 0) {
			fmt.Fprintf(&config, "      - {name: p%d, type: string, description: a value}\n", i+1)
		}
	}
	file := filepath.Join(s.db.Dir, "toolbox.yaml")
	if err := os.WriteFile(file, []byte(config.String()), 0o644); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	cmd := exec.Command(toolboxPath, "--config", file, "--port", port, "--enable-api", "--disable-reload", "--disable-version-check", "--log-level", "ERROR")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	s.host.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	call = func(overMCP bool, tool string, who, i int) error {
		params := map[string]any{}
		for n, v := range args[tool](who, i) {
			params["p"+strconv.Itoa(n+1)] = v
		}
		var asked any = params
		path := "/api/tool/" + tool + "/invoke"
		if overMCP {
			path, asked = "/mcp", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": params}}
		}
		body, err := json.Marshal(asked)
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://127.0.0.1:"+port+path, bytes.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		if overMCP {
			r.Header.Set("Accept", "application/json, text/event-stream")
			r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
		}
		answer, err := visitors.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err == nil && (answer.StatusCode != http.StatusOK || !bytes.Contains(text, []byte("result")) || bytes.Contains(text, []byte(`"isError":true`)) || tool == "read" && !bytes.Contains(text, []byte("due_date"))) {
			err = fmt.Errorf("%s is answered %d: %s", tool, answer.StatusCode, text)
		}
		return err
	}
	for range 100 {
		if err = call(false, "read", 0, 0); err == nil {
			return call, nil
		}
		select {
		case <-ended:
			return nil, fmt.Errorf("MCP Toolbox ended: %s", said.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil, fmt.Errorf("MCP Toolbox does not serve: %w %s", err, said.String())
}
