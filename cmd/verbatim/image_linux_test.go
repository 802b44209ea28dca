package main

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"verbatim/runtime/tests/norace"
)

// The shipped image is built, by Buildah and without pulling anything, and serves: as a user who is not root, from
// the folders that it makes. What runs in it shares the network of this machine.
func TestTheImage(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		if os.Getenv("TEST_REQUIRE_BUILDAH") == "1" {
			t.Fatal("the image is built by root here")
		}
		t.Skip("SKIPPED, NOT TESTED: the image is built by root here")
	}
	buildah := ofDebian(t, "buildah", "image")
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	program, err := norace.Binary()
	if err != nil {
		t.Fatal(err)
	}
	built, err := os.ReadFile(program)
	for name, text := range map[string]string{"policy.json": `{"default": [{"type": "reject"}]}`, "context/verbatim": string(built), "context/LICENSES.txt": "texts", "context/ca-certificates.crt": "authorities"} {
		err = errors.Join(err, os.MkdirAll(filepath.Dir(at(name)), 0o755), os.WriteFile(at(name), []byte(text), 0o755))
	}
	if err = errors.Join(err, os.Mkdir(at("data"), 0o755), os.Chown(at("data"), 65532, 65532)); err != nil {
		t.Fatal(err)
	}
	palettes, err := filepath.Abs(filepath.Join(root, "verbs/palettes/kiisha"))
	if err != nil {
		t.Fatal(err)
	}
	containers := func(args ...string) *exec.Cmd {
		cmd := exec.Command(buildah, append([]string{"--root", at("images"), "--runroot", at("run"), "--storage-driver", "vfs"}, args...)...)
		cmd.Env = append(os.Environ(), "BUILDAH_ISOLATION=chroot", "HOME="+dir)
		return cmd
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := containers(args...)
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("buildah %q: %v\n%s%s", args, err, out, said.Bytes())
		}
		return strings.TrimSpace(string(out))
	}
	// Images of others are refused by the policy, so nothing can be pulled.
	run("bud", "--signature-policy", at("policy.json"), "-f", filepath.Join(releases, "Containerfile"), "-t", "verbatim", at("context"))
	if err := os.WriteFile(at("own.json"), []byte(`{"default": [{"type": "insecureAcceptAnything"}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	name := run("from", "--pull-never", "--signature-policy", at("own.json"), "localhost/verbatim")
	inside := func(args ...string) []string {
		return append([]string{"run", "-v", palettes + ":/palettes:ro", "-v", at("data") + ":/data", name, "--", "/verbatim"}, args...)
	}
	if said := run(inside("version")...); !strings.HasPrefix(said, "verbatim ") {
		t.Errorf("version: %s", said)
	}
	run(inside("migrate", "--store", "/data/verbatim.db")...)
	mounted := run("mount", name)
	for _, folder := range []string{"tmp", "data"} {
		info, err := os.Stat(filepath.Join(mounted, folder))
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != 65532 {
			t.Errorf("/%s is not the user's: %v", folder, err)
		}
	}
	if _, err := os.Stat(filepath.Join(mounted, "etc/ssl/certs/ca-certificates.crt")); err != nil {
		t.Error(err)
	}

	port := freePort(t)
	serve := containers(inside("serve", "--store", "/data/verbatim.db", "--listen", "0.0.0.0:"+port, "--behind-proxy", "--url", "https://portal.bank.example")...)
	serve.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said bytes.Buffer
	serve.Stdout, serve.Stderr = &said, &said
	serve.WaitDelay = 10 * time.Second
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- serve.Wait() }()
	defer func() {
		_ = syscall.Kill(-serve.Process.Pid, syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			_ = syscall.Kill(-serve.Process.Pid, syscall.SIGKILL)
			t.Error("the server did not end when it was told to")
		}
	}()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		asks, err := http.NewRequestWithContext(t.Context(), "GET", "http://127.0.0.1:"+port+"/readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		asks.Host = "portal.bank.example"
		asks.Header.Set("X-Forwarded-Proto", "https")
		answer, err := http.DefaultClient.Do(asks)
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("the image is not ready: %v", err)
		}
	}
}
