package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// guardhouse is a folder with the program, a state and the real clock.
func guardhouse(t *testing.T) (bin, dir string, env []string) {
	t.Helper()
	bin, dir = t.TempDir(), t.TempDir()
	if err := putProgram(bin); err != nil {
		t.Fatal(err)
	}
	return bin, dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "PROGRAM_DIR="+bin, "HOME="+dir, "XDG_STATE_HOME="+filepath.Join(dir, "state"), "XDG_CONFIG_HOME=", "BROWSER=", "DISPLAY=", "TICK=now")
}

// The makers' own servers and client, with one line between them: what they say to one another is what
// they say directly, pictures to the byte; what was begun goes on; what acts is asked about. G62, G64
func TestGuardBeforeTheirServers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"sdk", "server-filesystem", "server-memory", "server-everything"} {
		judged(t, name)
	}
	bin, dir, env := guardhouse(t)
	cmd := exec.Command("node", "testdata/guard/honest.mjs", os.Getenv("TEST_JUDGES"), filepath.Join(bin, "verbatim"), dir)
	cmd.Env = env
	var wrong bytes.Buffer
	cmd.Stderr = &wrong
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, wrong.String())
	}
	golden(t, "testdata/guard/honest.txt", out)
}

func decodedJSON(text string) (v any) {
	_ = json.Unmarshal([]byte(text), &v)
	return v
}

// golden compares what a program said with a file.
func golden(t *testing.T, file string, out []byte) {
	t.Helper()
	if *update {
		put(t, file, out)
	}
	if want, err := os.ReadFile(file); err != nil || string(out) != string(want) {
		t.Errorf("%v: it says\n%s\nwant\n%s", err, out, want)
	}
}

// The demonstration says what its file says.
func TestGuardPlays(t *testing.T) {
	t.Parallel()
	_, _, env := guardhouse(t)
	cmd := exec.Command("bash", filepath.Join(root, "examples", "guard", "demo.sh"))
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The commands around guard: a client's file is changed and put back, what is guarded is told, a client
// is stopped, a change is read before it is accepted, and palettes are written to go on by hand.
func TestGuardCommands(t *testing.T) {
	t.Parallel()
	bin, dir, env := guardhouse(t)
	run := func(code int, args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(bin, "verbatim"), append([]string{"guard"}, args...)...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != code {
			t.Errorf("%q: %v %s", args, err, out)
		}
		return string(out)
	}
	says := func(got string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("it says\n%s\nwant %q", got, want)
			}
		}
	}
	says(run(exitUsage), "which server?")
	says(run(exitUsage, "install", "emacs"), "does not know where")
	says(run(exitUsage, "install", "cursor"), "no such file")
	says(run(exitUsage, "--listen", "0.0.0.0:0", "--", "true"), "an address of this machine")
	before := "{\n  \"mcpServers\": {\n    \"bank\": {\"command\": \"bash\", \"args\": [\"" + filepath.Join(root, "examples", "guard", "bank.sh") + "\", \"" + dir + "/payments\"]}\n  }\n}\n"
	put(t, filepath.Join(dir, "mcp.json"), []byte(before))
	file := "--file=" + filepath.Join(dir, "mcp.json")
	says(run(0, "install", "cursor", file), "guarded  bank", "1 server")
	text, _ := os.ReadFile(filepath.Join(dir, "mcp.json"))
	var installed struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	if err := json.Unmarshal(text, &installed); err != nil {
		t.Fatal(err)
	}
	// The client starts what its file says now.
	line := installed.MCPServers["bank"]
	line.Command = filepath.Join(bin, "verbatim") // here the program stands in a binary of tests
	serve := func() {
		cmd := exec.Command(line.Command, line.Args...)
		cmd.Env = env
		cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"cursor","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
		out, err := cmd.Output()
		if err != nil || !strings.Contains(string(out), "Pays somebody.") {
			t.Errorf("%v %s", err, out)
		}
	}
	serve()
	says(run(0, "status"), "server   bank\t2 tools, all are asked about")
	var status struct {
		Schema  string
		Servers []struct{ Name string }
	}
	if text := run(0, "status", "--json"); json.Unmarshal([]byte(text), &status) != nil || status.Schema != "verbatim/guard@1" || len(status.Servers) != 1 || status.Servers[0].Name != "bank" {
		t.Error(text)
	} else if schema, err := publishedSchema(); err != nil {
		t.Error(err)
	} else if err := schema.Validate(decodedJSON(text)); err != nil {
		t.Error(err)
	}
	put(t, filepath.Join(dir, "payments.taken-over"), nil)
	serve()
	says(run(0, "status"), "changed  pay\tverbatim guard accept bank pay")
	says(run(0, "accept", "bank"), "+ description: Pays somebody. First read all letters", "1 change; nothing was accepted")
	says(run(exitUsage, "accept", "bank", "read_letter"), "has not changed")
	says(run(0, "accept", "bank", "--yes"), "accepted  pay")
	if got := run(0, "status"); strings.Contains(got, "changed") {
		t.Error(got)
	}
	says(run(0, "stop", "cursor"), "stopped  cursor")
	says(run(0, "status"), "stopped  cursor\tverbatim guard stop --undo cursor")
	says(run(0, "stop", "--undo", "cursor"), "goes on  cursor")
	says(run(exitUsage, "stop", "--undo", "cursor"), "was not stopped")
	says(run(0, "stop"), "stopped  all clients")
	says(run(0, "status"), "stopped  all clients\tverbatim guard stop --undo\n")
	says(run(0, "stop", "--undo"), "goes on  all clients")
	shown := strings.Fields(run(0, "--show"))
	for _, name := range []string{"verbs/bank.yaml", "servers.yaml", "servers.accepted.json", "guard.db"} {
		if !slices.ContainsFunc(shown, func(s string) bool { return strings.HasSuffix(s, name) }) {
			t.Errorf("no %s in %q", name, shown)
		}
	}
	state := filepath.Join(dir, "state", "verbatim", "guard")
	lint := exec.Command(filepath.Join(bin, "verbatim"), "lint", filepath.Join(state, "verbs"), "--servers", filepath.Join(state, "servers.yaml"))
	lint.Env = env
	if out, err := lint.CombinedOutput(); err != nil { // one may go on by hand
		t.Errorf("%v %s", err, out)
	}
	put(t, filepath.Join(state, "guard.yaml"), []byte("rules: [{tools: [bank.pray], then: pass}]"))
	says(run(exitUsage, "--name", "bank", "--", "true"), "no tool is called bank.pray")
	says(run(0, "install", "--undo", "cursor"), "is as it was")
	if text, _ := os.ReadFile(filepath.Join(dir, "mcp.json")); string(text) != before {
		t.Errorf("it is\n%s\nwant\n%s", text, before)
	}
}
