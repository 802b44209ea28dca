package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"verbatim/runtime/tests/norace"
	"verbatim/stores/postgres/pgtest"
)

// archive lays out what the archive of a release holds, for this machine.
func archive(t *testing.T, dir, name string) {
	t.Helper()
	program, err := norace.Binary()
	if err != nil {
		t.Fatal(err)
	}
	layOutPapers(t, filepath.Join(dir, name))
	if err := os.Symlink(program, filepath.Join(dir, name, "verbatim")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("tar", "-C", dir, "-czf", filepath.Join(dir, name+".tar.gz"), name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// layOutPapers lays out what an archive holds beside the program.
func layOutPapers(t *testing.T, dir string) {
	t.Helper()
	if out, err := exec.Command("bash", filepath.Join(releases, "papers.sh"), dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// An archive holds what it speaks of: each link of its pages leads to a file in it, and the quick start begins
// with what is there.
func TestAnArchiveHoldsWhatItSpeaksOf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	layOutPapers(t, dir)
	link := regexp.MustCompile(`\]\(([^)#\s]+)`)
	pages, links, starts := 0, 0, 0
	if err := filepath.WalkDir(dir, func(page string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(page) != ".md" {
			return err
		}
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		pages++
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], ":") {
				continue
			}
			links++
			if filepath.Base(m[1]) == "START.md" {
				starts++ // what leads nowhere would be text
			}
			at := filepath.Join(filepath.Dir(page), m[1])
			if _, err := os.Stat(at); err != nil || !strings.HasPrefix(at, dir) {
				t.Errorf("%s leads to %s, which the archive has not", strings.TrimPrefix(page, dir), m[1])
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if pages < 50 || links < 200 || starts < 15 {
		t.Errorf("%d pages have %d links, %d of them to the quick start", pages, links, starts)
	}
	program, err := norace.Binary()
	if err == nil {
		err = os.Symlink(program, filepath.Join(dir, "verbatim"))
	}
	if err != nil {
		t.Fatal(err)
	}
	start, err := os.ReadFile(filepath.Join(dir, "START.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, from, _ := strings.Cut(string(start), "## Quick start")
	_, from, _ = strings.Cut(from, "```sh\n")
	from, _, _ = strings.Cut(from, "```")
	cmd := exec.Command("bash", "-c", from)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
	if out, err := cmd.CombinedOutput(); strings.Contains(from, "make ") || !strings.Contains(string(out), "16 entities verified") || !strings.Contains(string(out), "nothing is called @pierre-dupont-source-of-wealth here") {
		t.Errorf("the quick start: %v\n%s", err, out)
	}
}

// An installed machine is a folder that stands for the root of one.
type installed struct {
	t        *testing.T
	root, at string // at is the folder of the shell in it
	server   *pgtest.Server
	names    *strings.Replacer // of the guide, and what they are here
	printed  string            // by the program so far
	exported []string
	caddy    string
	config   string // that stands before the Caddyfile
}

var (
	stepOf     = regexp.MustCompile(`(?m)^## (\d+)\. `)
	urlOfRole  = regexp.MustCompile(`(?m)^  (postgres://\S+)$`)
	passwordIn = regexp.MustCompile(`postgres://(verbatim_\w+):PASSWORD@localhost/bank`)
)

// here is a text of the guide with the names of this machine.
func (m *installed) here(text string) string {
	m.t.Helper()
	text = passwordIn.ReplaceAllStringFunc(text, func(of string) string {
		for _, url := range urlOfRole.FindAllStringSubmatch(m.printed, -1) {
			if strings.Contains(url[1], passwordIn.FindStringSubmatch(of)[1]) {
				return url[1]
			}
		}
		m.t.Fatalf("nothing printed the URL that stands for %s:\n%s", of, m.printed)
		return ""
	})
	return m.names.Replace(text)
}

// runs runs a line of the guide, as a shell does; what systemd does is done here.
func (m *installed) runs(line string) {
	m.t.Helper()
	switch {
	case line == "sudo systemctl reload caddy":
		m.proxies()
		return
	case line == "sudo systemctl enable --now verbatim":
		m.starts()
		return
	case strings.HasPrefix(line, "sudo systemd-run "):
		m.asService(m.names.Replace(line))
		return
	case strings.HasPrefix(line, "cd "):
		m.at = filepath.Join(m.at, strings.TrimPrefix(line, "cd "))
		return
	case strings.HasPrefix(line, "export "):
		m.exported = append(m.exported, m.here(line))
		return
	}
	cmd := exec.Command("sh", "-e", "-c", strings.Join(append(slices.Clone(m.exported), m.here(line)), "\n"))
	cmd.Dir = filepath.Join(m.root, m.at)
	cmd.Env = m.env()
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	m.printed += string(out)
}

func (m *installed) env() []string {
	return []string{"PATH=" + filepath.Join(m.root, "sudo") + ":" + filepath.Join(m.root, "usr/local/bin") + ":" + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Join(m.root, "state"),
		"HOME=" + m.root, "TICK=now", "SSL_CERT_FILE=" + filepath.Join(m.root, "caddy/pki/authorities/local/root.crt")}
}

// proxies starts Caddy with its file, and an authority of its own in place of a public one.
func (m *installed) proxies() {
	m.t.Helper()
	file := filepath.Join(m.root, "etc/caddy/Caddyfile")
	text, err := os.ReadFile(file)
	if err = errors.Join(err, os.WriteFile(file, append([]byte(m.config), text...), 0o644)); err != nil {
		m.t.Fatal(err)
	}
	cmd := exec.Command(m.caddy, "run", "--config", file, "--adapter", "caddyfile")
	cmd.Env = m.env()
	said := &lines{}
	cmd.Stderr = said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if m.t.Failed() {
			m.t.Logf("caddy said\n%.3000s", said)
		}
	})
}

// with is the environment of a service: variables, and those of a file.
func (m *installed) with(file string, variables ...string) []string {
	m.t.Helper()
	more, err := os.ReadFile(file)
	if err != nil {
		m.t.Fatal(err)
	}
	return slices.Concat(m.env(), variables, strings.Split(strings.TrimSpace(string(more)), "\n"))
}

// asService runs a command with the variables that systemd-run is given for it.
func (m *installed) asService(line string) {
	m.t.Helper()
	var variables []string
	for _, v := range regexp.MustCompile(` -E (\S+)`).FindAllStringSubmatch(line, -1) {
		variables = append(variables, v[1])
	}
	file := regexp.MustCompile(` EnvironmentFile=(\S+)`).FindStringSubmatch(line)
	command := regexp.MustCompile(` (verbatim [a-z]+)$`).FindStringSubmatch(line)
	if file == nil || command == nil {
		m.t.Fatal(line)
	}
	cmd := exec.Command("sh", "-c", command[1])
	cmd.Env = m.with(file[1], variables...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Errorf("%s: %v\n%s", line, err, out)
	}
	m.printed += string(out)
}

// starts starts what the unit starts, with the variables that it gives.
func (m *installed) starts() {
	m.t.Helper()
	unit, err := os.ReadFile(filepath.Join(m.root, "etc/systemd/system/verbatim.service"))
	if err != nil {
		m.t.Fatal(err)
	}
	start := regexp.MustCompile(`(?m)^ExecStart=(\S+) serve (.*)$`).FindSubmatch(unit)
	environment := regexp.MustCompile(`(?m)^Environment=(.*)$`).FindSubmatch(unit)
	file := regexp.MustCompile(`(?m)^EnvironmentFile=-(.*)$`).FindSubmatch(unit)
	if start == nil || environment == nil || file == nil {
		m.t.Fatal("the unit starts nothing, or without variables")
	}
	env := m.with(m.names.Replace(string(file[1])), strings.Fields(m.names.Replace(string(environment[1])))...)
	bin := filepath.Join(m.root, "of-the-unit")
	if err := errors.Join(os.MkdirAll(filepath.Join(bin, ".bin"), 0o755), os.Symlink(m.names.Replace(string(start[1])), filepath.Join(bin, ".bin", "verbatim"))); err != nil {
		m.t.Fatal(err)
	}
	s, err := startServer(bin, env, strings.Fields(m.names.Replace(string(start[2]))))
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(s.stop)
}

// From an archive to a portal behind TLS it takes eight steps and three files to be edited at most, and the steps
// do it: on a server of PostgreSQL that asks for passwords, with Caddy and the unit that are shipped. 59
func TestTheInstallGuideIsPlayed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "cmd/verbatim/guide/install.md"))
	if err != nil {
		t.Fatal(err)
	}
	steps, files := stepOf.FindAllStringSubmatch(string(text), -1), map[string]bool{}
	for _, m := range blockOf.FindAllStringSubmatch(string(text), -1) {
		if file, ok := strings.CutPrefix(m[2], " file="); ok {
			files[file] = true
		}
		for _, edit := range regexp.MustCompile(`sed -i \S+ (\S+)`).FindAllStringSubmatch(m[3], -1) {
			files[edit[1]] = true
		}
	}
	if len(steps) > 8 || len(steps) < 5 || steps[len(steps)-1][1] != string(rune('0'+len(steps))) {
		t.Errorf("%d steps, 8 at most: %q", len(steps), steps)
	}
	if len(files) != 3 {
		t.Errorf("%d files are edited, and the guide says three: %v", len(files), files)
	}

	caddy := ofDebian(t, "caddy", "caddy")
	m := &installed{t: t, root: t.TempDir(), server: pgtest.Own(t), caddy: caddy}
	portal, inner := "localhost:"+freePort(t), "127.0.0.1:"+freePort(t)
	post, mail := mailServer(t)
	m.server.Run(t, "ALTER DATABASE "+strings.TrimPrefix(urlPath(t, m.server.Admin), "/")+" OWNER TO postgres", "DROP OWNED BY verbatim_owner, verbatim_app, verbatim_backup")
	pgtest.DB{Admin: elsewhereAt(t, m.server.Admin, "/template1", "")}.Run(t, "GRANT EXECUTE ON FUNCTION pg_catalog.set_config(text, text, boolean) TO PUBLIC",
		"DROP OWNED BY verbatim_owner, verbatim_app, verbatim_backup",
		"DROP ROLE verbatim_app_queries, verbatim_app, verbatim_owner, verbatim_backup",
		"DO $$ BEGIN EXECUTE format('COPY (VALUES (''local all postgres trust''), (''local all all scram-sha-256'')) TO %L', current_setting('hba_file')); END $$", "SELECT pg_reload_conf()")
	m.names = strings.NewReplacer("postgres:///bank?host=/var/run/postgresql", elsewhereAt(t, m.server.Admin, "/bank", ""), "/etc/", m.root+"/etc/", "/usr/local/bin/", m.root+"/usr/local/bin/",
		"/var/lib/verbatim", m.root+"/var/lib/verbatim", "PORTAL=portal.bank.example", "PORTAL="+portal, "127.0.0.1:9090", "127.0.0.1:"+freePort(t), " -g verbatim-secrets", "", "https://portal.bank.example", "https://"+portal,
		`"mail.bank.example:587"`, `"`+post+`", "tls": "none"`, "127.0.0.1:8080", inner)
	m.config = "{\n\tadmin off\n\tlocal_certs\n\tskip_install_trust\n\tauto_https disable_redirects\n\tstorage file_system " + m.root + "/caddy\n}\n"
	for _, dir := range []string{"sudo", "etc/caddy", "etc/systemd/system", "usr/local/bin", "var/lib/verbatim"} {
		if err := os.MkdirAll(filepath.Join(m.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(m.root, "sudo", "sudo"), []byte("#!/bin/sh\n[ \"$1\" != -u ] || shift 2\nexec \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/bin/true", filepath.Join(m.root, "sudo", "groupadd")); err != nil {
		t.Fatal(err)
	}
	archive(t, m.root, "verbatim_v1.0.0_linux_amd64")

	for _, b := range blockOf.FindAllStringSubmatch(string(text), -1) {
		if file, ok := strings.CutPrefix(b[2], " file="); ok {
			if err := os.WriteFile(m.names.Replace(file), []byte(m.here(b[3])), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for line := range strings.Lines(b[3]) {
			m.runs(strings.TrimSpace(line))
			if strings.HasPrefix(line, "sudo sed ") { // the port of the program is another here
				if out, err := exec.Command("sed", "-i", "s/127.0.0.1:8080/"+inner+"/", m.root+"/etc/caddy/Caddyfile").CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
		}
	}
	if want := "well   address       https://" + portal + " answers"; !strings.Contains(m.printed, want) || strings.Contains(m.printed, "fails  ") {
		t.Errorf("the doctor does not say %q:\n%s", want, m.printed)
	}

	// Ada signs in over TLS, by the link of a letter.
	authority, err := os.ReadFile(filepath.Join(m.root, "caddy/pki/authorities/local/root.crt"))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	jar, _ := cookiejar.New(nil)
	ada := &visitor{t, http.Client{Jar: jar, Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if status, body := ada.form("https://"+portal+"/sign-in/mail", url.Values{"email": {"ada@bank.example"}}); status != http.StatusOK {
		t.Fatal(status, body)
	}
	select {
	case letter := <-mail:
		link := regexp.MustCompile(`https://` + regexp.QuoteMeta(portal) + `\S*link=([\w-]+)`).FindStringSubmatch(letter)
		if link == nil {
			t.Fatalf("the mail is\n%s", letter)
		}
		if status, body := ada.form("https://"+portal+"/sign-in/link", url.Values{"link": {link[1]}, "to": {"/"}}); status != http.StatusSeeOther {
			t.Fatal(status, body)
		}
	case <-time.After(time.Minute):
		t.Fatal("no letter came")
	}
	if status, body := ada.get("https://" + portal + "/"); status != http.StatusOK || !strings.Contains(body, "Project Heron") {
		t.Errorf("the portal answers %d, and shows no deal\n%.500s", status, body)
	}

	// Somebody at the machine asks by its address, past the proxy. Others are told by which name.
	if status, body := newVisitor(t).get("http://" + inner + "/readyz"); status != http.StatusOK {
		t.Errorf("at the machine /readyz answers %d\n%s", status, body)
	}
	if status, body := newVisitor(t).get("http://" + inner + "/"); status != http.StatusMisdirectedRequest || !strings.Contains(body, inner) || !strings.Contains(body, portal) {
		t.Errorf("another host is answered %d\n%s", status, body)
	}

	// Events pass the proxy as they come.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+portal+"/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := ada.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	first := make([]byte, 1)
	if _, err := answer.Body.Read(first); err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("the stream of events: %d, %v", answer.StatusCode, err)
	}
}

func urlPath(t *testing.T, at string) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return u.Path
}
