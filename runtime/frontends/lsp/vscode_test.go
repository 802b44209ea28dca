package lsp

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/tests/browsertest"
)

// OB12, U13: the extension is packaged, installed into VS Code, as code-server serves it to a
// browser, and started by its extension host: a script in a folder with palettes is coloured,
// its mistake is underlined and told in the words of the checker, and the fix mends it. `make
// vscode` fetches what it needs and runs it; it takes half a minute.
func TestExtensionInVSCode(t *testing.T) {
	home := os.Getenv("TEST_VSCODE")
	if home == "" {
		t.Skip("SKIPPED, NOT TESTED: there is no VS Code here; `make vscode` fetches it")
	}
	dir := t.TempDir()
	in := func(path ...string) string { return filepath.Join(append([]string{dir}, path...)...) }
	do := func(where, name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = where
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, args, err, out)
		}
	}
	write := func(path, text string) {
		t.Helper()
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"editors/vscode": in("extension"), filepath.Join(home, "client", "node_modules"): in("extension", "node_modules")} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	do(in("extension"), filepath.Join(home, "node_modules", ".bin", "vsce"), "package", "--allow-missing-repository", "--skip-license", "--out", in("verbatim.vsix"))
	settings, _ := json.Marshal(map[string]any{"verbatim.program": program(t), "security.workspace.trust.enabled": false, "workbench.startupEditor": "none"})
	write(in("user", "Machine", "settings.json"), string(settings))
	write(in("user", "User", "settings.json"), string(settings))
	write(in("work", "verbs", "shop.yaml"), shop)
	write(in("work", "a.dsl"), "shop.add-ordr :size SMALL\n")

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	entry := filepath.Join(home, "node_modules", "code-server", "out", "node", "entry.js")
	dirs := []string{entry, "--user-data-dir", in("user"), "--extensions-dir", in("extensions")}
	do(dir, "node", append(dirs, "--install-extension", in("verbatim.vsix"))...)
	server := exec.Command("node", append(dirs, "--auth", "none", "--bind-addr", at, "--disable-telemetry", "--disable-update-check", in("work"))...)
	server.Env = append(os.Environ(), "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	log := &strings.Builder{}
	server.Stdout, server.Stderr = log, log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		if c, err := net.Dial("tcp", at); err == nil {
			c.Close()
			break
		} else if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	tab := browsertest.Open(t)
	tab.Size(1280, "light")
	tab.Go(fmt.Sprintf(`http://%s/?folder=%s&payload=[["openFile","vscode-remote://%[1]s%[2]s/a.dsl"]]`, at, in("work")))
	until := func(expression, want string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(300 * time.Millisecond) {
			got := tab.Eval("String(" + expression + ")")
			if got == want {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s is %q, not %q\n%s", expression, got, want, tab.Text())
			}
		}
	}
	command := func(name string) {
		t.Helper()
		tab.Press(browsertest.F1)
		until(`document.querySelectorAll(".quick-input-widget:not([style*=none]) input").length > 0`, "true")
		tab.Press(name)
		until(`(document.querySelector(".quick-input-list .monaco-list-row") || {}).innerText?.startsWith("`+name+`")`, "true")
		tab.Click(".quick-input-list .monaco-list-row")
	}
	until(`document.querySelectorAll(".squiggly-error").length`, "1")
	until(`new Set([...document.querySelectorAll(".view-line span span")].map(s => s.className)).size > 2`, "true") // by the grammar
	tab.Click(".view-line")
	command("Go to Next Problem in Files")
	until(`document.querySelector(".marker-widget .message")?.innerText.includes("did you mean")`, "true")
	tab.Press(browsertest.Escape)
	command("Auto Fix")
	until(`document.querySelector(".view-line").innerText.replace(/\u00a0/g, " ")`, "shop.add-order :size SMALL")
	until(`document.querySelectorAll(".squiggly-error").length`, "0")
}
