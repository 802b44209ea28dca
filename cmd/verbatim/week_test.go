package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"verbatim/stores/postgres/pgtest"
)

var weekArchive = flag.String("week", "", "the archive of a release for this machine, with which TestTheWeek plays: make week builds it")

// A week is an operator's: two servers of a release on one PostgreSQL behind nginx, and clients who write
// without a pause.
type week struct {
	*house
	own     *pgtest.Server
	nginx   *exec.Cmd
	url     string
	ports   [2]string
	watch   string
	servers [2]*running
	nina    *visitor
	mail    <-chan string

	over         atomic.Bool
	writers      sync.WaitGroup
	asked        atomic.Int64
	acknowledged atomic.Int64
	unauthorised atomic.Int64
	refused      atomic.Int64 // streams of events that were refused when their listener came back
	heard        atomic.Int64
}

// freePort is a port of this machine that nobody listens at.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// install unpacks the archive, and prepares a database with the palettes and the program that it holds.
func install(t *testing.T, archive string) *week {
	t.Helper()
	w := &week{house: newHouse(t), own: pgtest.Own(t), watch: "127.0.0.1:" + freePort(t), ports: [2]string{freePort(t), freePort(t)}}
	if out, err := exec.Command("tar", "-xzf", archive, "-C", w.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found, _ := filepath.Glob(filepath.Join(w.dir, "verbatim_*", "verbatim"))
	if len(found) != 1 {
		t.Fatalf("the archive holds the programs %q", found)
	}
	release := filepath.Dir(found[0])
	for _, name := range []string{"README.md", "VARIABLES.txt", "guide/back-up.md", "palettes/bank", "nginx.conf", "Caddyfile", "alerts.yaml", "dashboard.json", "verbatim.service", "kubernetes.yaml", "Containerfile"} {
		if _, err := os.Stat(filepath.Join(release, name)); err != nil {
			t.Errorf("the archive lacks %s", name)
		}
	}
	at := filepath.Join(w.dir, ".bin", "verbatim")
	if err := errors.Join(os.Remove(at), os.Symlink(found[0], at)); err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "TICK=now", "VERBATIM_PALETTES="+filepath.Join(release, "palettes", "bank"), "VERBATIM_STORE="+w.own.App+"&pool_max_conns=10", "VERBATIM_FILES="+filepath.Join(w.dir, "files"),
		"PATH="+filepath.Join(w.dir, ".bin")+":"+filepath.Dir(pgtest.Program(t, "pg_dump"))+":"+os.Getenv("PATH"))
	w.do("migrate", "--store", w.own.Owner, "--grant-to", "verbatim_app", "--data", "bank.postgres.sql", "--data", "people.sql")
	w.people()
	w.script("ada", `system.add-identity :principal-id "nina" :issuer "email" :subject "nina@allianz.example"`)
	w.script("ada", `system.add-principal :name "vera" :label "Vera Rosengarten"`)
	var post string
	post, w.mail = mailServer(t)
	letters := filepath.Join(w.dir, "letters.json")
	if err := os.WriteFile(letters, fmt.Appendf(nil, `{"channels": {"post": {"kind": "smtp", "server": %q, "from": "portal@bank.example", "tls": "none"}}, "routes": {"letters": {"channel": "post"}}}`, post), 0o600); err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "VERBATIM_NOTIFY="+letters)
	w.proxy(release)
	return w
}

// proxy starts nginx with the configuration of the release, before both servers.
func (w *week) proxy(release string) {
	w.t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		program = "/usr/sbin/nginx"
	}
	if _, err := os.Stat(program); err != nil {
		w.t.Fatal("nginx is not here, which stands before the servers: make nginx installs it")
	}
	text, err := os.ReadFile(filepath.Join(release, "nginx.conf"))
	if err != nil {
		w.t.Fatal(err)
	}
	port := freePort(w.t)
	w.url = "https://localhost:" + port
	cert, key, _ := certificate(w.t)
	conf := string(text)
	for old, put := range map[string]string{
		"listen 443 ssl;":                   "listen 127.0.0.1:" + port + " ssl;",
		"server_name portal.bank.example;":  "server_name localhost;",
		"/etc/ssl/portal.bank.example.pem":  cert,
		"/etc/ssl/portal.bank.example.key":  key,
		"proxy_pass http://127.0.0.1:8080;": "proxy_pass http://verbatim;",
		"proxy_set_header Host $host;":      "proxy_set_header Host $http_host;",
		"\nserver {\n":                      "\nupstream verbatim { server 127.0.0.1:" + w.ports[0] + " fail_timeout=1s; server 127.0.0.1:" + w.ports[1] + " fail_timeout=1s; keepalive 20; }\nserver {\n",
	} {
		if !strings.Contains(conf, old) {
			w.t.Fatalf("nginx.conf has no %q", old)
		}
		conf = strings.Replace(conf, old, put, 1)
	}
	dir := filepath.Join(w.dir, "nginx")
	if err := os.Mkdir(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	temp := ""
	for _, name := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		temp += name + "_temp_path " + filepath.Join(dir, name) + "; "
	}
	whole := "daemon off; pid nginx.pid; error_log stderr crit; worker_processes 1; events { worker_connections 4096; }\nhttp { access_log off; " + temp + "\n" + conf + "}\n"
	if os.Getuid() == 0 {
		whole = "user root; " + whole
	}
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(whole), 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.nginx = exec.Command(program, "-p", dir, "-c", filepath.Join(dir, "nginx.conf"))
	w.nginx.Stderr = os.Stderr
	w.nginx.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := w.nginx.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = w.nginx.Process.Signal(syscall.SIGTERM); _ = w.nginx.Wait() })
}

// start starts one of the two servers, by another program if one is named.
func (w *week) start(i int, program string, more ...string) {
	w.t.Helper()
	args := append([]string{"--listen", "127.0.0.1:" + w.ports[i], "--url", w.url, "--behind-proxy", "--log", "error"}, more...)
	if i == 0 {
		args = append(args, "--metrics", w.watch)
	}
	w.servers[i] = w.serveAs(program, args...)
}

// comes signs nina in, by the link of a letter.
func (w *week) comes() {
	w.t.Helper()
	jar, _ := cookiejar.New(nil)
	transport := &http.Transport{MaxIdleConnsPerHost: 64, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // the certificate is made for this play, and changed in it
	w.nina = &visitor{w.t, http.Client{Jar: jar, Timeout: 30 * time.Second, Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	if status, body := w.nina.form(w.url+"/sign-in/mail", url.Values{"email": {"nina@allianz.example"}}); status != http.StatusOK {
		w.t.Fatal(status, body)
	}
	select {
	case text := <-w.mail:
		m := regexp.MustCompile(`link=([\w-]+)`).FindStringSubmatch(text)
		if m == nil {
			w.t.Fatalf("the mail is\n%s", text)
		}
		if status, body := w.nina.form(w.url+"/sign-in/link", url.Values{"link": {m[1]}, "to": {"/"}}); status != http.StatusSeeOther {
			w.t.Fatal(status, body)
		}
	case <-time.After(time.Minute):
		w.t.Fatal("no letter came")
	}
}

// load has clients write, each line under its key until it is acknowledged, and listen to events.
func (w *week) load(writers, listeners int) {
	for n := range writers {
		w.writers.Go(func() {
			for i := 0; !w.over.Load(); i++ {
				w.write(fmt.Sprint("week ", n, " ", i), n*1_000_000+i)
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	for range listeners {
		w.writers.Go(func() {
			for !w.over.Load() {
				w.listen()
			}
		})
	}
}

func (w *week) write(key string, n int) {
	w.asked.Add(1)
	for try := range 3000 {
		status, body, err := w.nina.post(w.url+"/v1/run", key, map[string]string{"script": fmt.Sprintf(aNote, n)})
		switch {
		case err == nil && status == http.StatusOK:
			w.acknowledged.Add(1)
			return
		case err == nil && status == http.StatusUnauthorized:
			w.unauthorised.Add(1)
		case err == nil && status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests && status != http.StatusBadGateway && status != http.StatusGatewayTimeout && status != http.StatusInsufficientStorage && !strings.Contains(body, "unknown"):
			w.t.Errorf("%s, try %d: %d %s", key, try, status, body)
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	w.t.Errorf("%s was never acknowledged", key)
}

// listen opens the stream of events, for two seconds at most.
func (w *week) listen() {
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/v1/events", nil)
	if err != nil {
		w.t.Error(err)
		return
	}
	answer, err := w.nina.Do(r)
	if err != nil {
		time.Sleep(50 * time.Millisecond)
		return
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
		w.heard.Add(1)
		b := make([]byte, 1024)
		for err == nil {
			_, err = answer.Body.Read(b)
		}
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		w.refused.Add(1)
	default:
		time.Sleep(50 * time.Millisecond)
	}
}

// until waits for n more writes to be acknowledged.
func (w *week) until(n int64) {
	w.t.Helper()
	want := w.acknowledged.Load() + n
	for end := time.Now().Add(2 * time.Minute); w.acknowledged.Load() < want; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("%d writes were acknowledged, %d are wanted", w.acknowledged.Load(), want)
		}
	}
}

func (w *week) scrape() string {
	answer, err := http.Get("http://" + w.watch + "/metrics")
	if err != nil {
		return ""
	}
	_, body := newVisitor(w.t).answer(answer, nil)
	return body
}

// done counts the notes in the journal of a store, and those that stand there more than once.
func (w *week) done(store string) (all, twice int64) {
	w.t.Helper()
	out := w.do("log", "show", "--as", "d.lang", "--store", store, "--json")
	seen := map[string]int64{}
	for _, m := range regexp.MustCompile(`:note \\"(Number \d+)\\"`).FindAllStringSubmatch(out, -1) {
		seen[m[1]]++
	}
	for _, n := range seen {
		all++
		twice += n - 1
	}
	return all, twice
}

// An operator's week, in minutes: a release is installed on PostgreSQL behind nginx, loaded, restarted, cut
// off, killed, served by two versions at once, backed up, restored elsewhere, given new keys, filled; somebody
// leaves. What was acknowledged is there once, nobody is turned away wrongly, and the alarms fire.
func TestTheWeek(t *testing.T) {
	if *weekArchive == "" {
		t.Skip("make week plays it")
	}
	w := install(t, *weekArchive)
	var moments []moment
	sees := func(what string, fire ...string) {
		t.Helper()
		t.Log(what)
		moments = append(moments, moment{what, w.scrape(), fire, ""})
	}
	w.start(0, "")
	w.start(1, *olderProgram)
	w.comes()
	w.load(6, 10)
	w.until(200)
	sees("Monday: installed, and two servers serve")

	for i := range w.servers {
		w.servers[i].stop()
		w.start(i, []string{"", *olderProgram}[i])
		w.until(100)
	}
	for range 10 {
		if _, err := w.own.HangUp(); err != nil {
			t.Fatal(err)
		}
		w.until(20)
	}
	sees("Tuesday: each server was restarted, and every connection to the database cut ten times")

	for i := range w.servers {
		_ = w.servers[i].cmd.Process.Kill()
		_ = w.servers[i].cmd.Wait()
		if i == 0 {
			sees("Wednesday: a server is killed", "Down")
		}
		w.start(i, []string{"", *olderProgram}[i])
		w.until(100)
	}
	if err := w.own.Crash(); err != nil {
		t.Fatal(err)
	}
	w.until(100)
	sees("the database crashed, and is back")

	// A backup while all of them write, and a checkpoint that it must not be behind.
	public := strings.TrimSpace(w.do("log", "keygen", "monday.key", "--name", "bank.example/monday"))
	if err := os.WriteFile(filepath.Join(w.dir, "known.note"), []byte(w.do("log", "checkpoint", "--sign", "monday.key")), 0o600); err != nil {
		t.Fatal(err)
	}
	before := w.acknowledged.Load()
	w.do("backup", "--store", elsewhereAt(t, w.own.Admin, "", "verbatim_backup"), "week.dump", "--since", "known.note")
	w.until(100)
	w.own.Run(t, "CREATE DATABASE elsewhere OWNER verbatim_owner")
	w.do("restore", "--store", elsewhereAt(t, w.own.Admin, "/elsewhere", ""), "--files", filepath.Join(w.dir, "kept"), "week.dump", "--since", "known.note")
	restored := elsewhereAt(t, w.own.App, "/elsewhere", "")
	there, _ := w.done(restored)
	if there < before {
		t.Errorf("the backup has %d notes, %d were acknowledged before it", there, before)
	}
	if out := w.do("log", "replay", "--store", restored); !strings.Contains(out, "no difference in the store") {
		t.Error(out)
	}
	sees("Thursday: backed up, and restored elsewhere")

	// Another key for the journal, and another certificate, without a pause.
	w.do("log", "keygen", "friday.key", "--name", "bank.example/friday")
	w.do("log", "checkpoint", "--sign", "friday.key", "--since", "known.note", "--key", public)
	cert, key, _ := certificate(t)
	conf := filepath.Join(w.dir, "nginx", "nginx.conf")
	text, err := os.ReadFile(conf)
	if err == nil {
		text = regexp.MustCompile(`ssl_certificate +\S+;`).ReplaceAll(text, []byte("ssl_certificate "+cert+";"))
		text = regexp.MustCompile(`ssl_certificate_key +\S+;`).ReplaceAll(text, []byte("ssl_certificate_key "+key+";"))
		err = os.WriteFile(conf, text, 0o600)
	}
	if err = errors.Join(err, w.nginx.Process.Signal(syscall.SIGHUP)); err != nil {
		t.Fatal(err)
	}
	w.until(100)

	// Somebody leaves, and their name with them.
	w.script("ada", `system.end-principal :principal-id "vera"`)
	w.do("log", "redact", "--row", "@vera", "--everywhere", "--as", "d.lang", "--yes")
	w.do("log", "verify", "--since", "known.note")
	dumped, err := exec.Command(pgtest.Program(t, "pg_dump"), "--dbname="+w.own.Admin).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(dumped), w.do("log", "export", "--as", "d.lang")} {
		table := ""
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "COPY ") {
				table, _, _ = strings.Cut(line, "(")
			}
			if strings.Contains(line, "Rosengarten") {
				t.Errorf("who left is named in a dump or an export, %s: %.2000s", table, line)
			}
		}
	}
	sees("Friday: other keys; somebody left")

	// The disk of the journal is full, and has room again.
	filled := w.fill()
	sees("Saturday: " + filled)

	w.own.Stop()
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end) && !strings.Contains(w.scrape(), "\nverbatim_store_up 0\n"); {
		time.Sleep(100 * time.Millisecond)
	}
	sees("Sunday: the database is stopped", "StoreDown")
	if err := w.own.Start(); err != nil {
		t.Fatal(err)
	}
	w.until(100)
	w.over.Store(true)
	w.writers.Wait()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end) && !strings.Contains(w.scrape(), "\nverbatim_unsealed_entries 0\n"); {
		time.Sleep(100 * time.Millisecond)
	}
	sees("the database is started")

	all, twice := w.done(w.own.App)
	w.do("log", "verify", "--since", "known.note")
	// Under load the gauges of one look stand for no twenty minutes; TestEachAlarmFiresAndStops plays all alarms.
	silent := 0
	if !t.Run("alarms", func(t *testing.T) { playAlarms(t, moments, "Down|StoreDown") }) {
		silent = 1
	}
	acknowledged := w.acknowledged.Load()
	fmt.Printf("week: writes acknowledged %d, lost %d, twice %d, wrongly 401 %d, subscriptions lost %d (of %d), alarms that did not fire %d\nweek: %s\n",
		acknowledged, acknowledged-all, twice, w.unauthorised.Load(), w.refused.Load(), w.heard.Load(), silent, filled)
	if all != acknowledged || twice > 0 || w.unauthorised.Load() > 0 || w.refused.Load() > 0 || w.heard.Load() == 0 {
		t.Error("the week had a surprise")
	}
}

// fill fills the disk under the journal, and makes room again: a small file system in memory, onto which the
// table is moved. It says what it did.
func (w *week) fill() string {
	w.t.Helper()
	dir := w.t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64m,mode=777", "tmpfs", dir).CombinedOutput(); err != nil {
		return "the disk was NOT filled: nothing can be mounted here (" + strings.TrimSpace(string(out)) + ")"
	}
	w.t.Cleanup(func() { _ = exec.Command("umount", "--lazy", dir).Run() })
	small := filepath.Join(dir, "small")
	owned := exec.Command("sh", "-c", `mkdir "$0" && chmod 777 "$0" && if id postgres >/dev/null 2>&1; then chown postgres "$0"; else chown nobody "$0"; fi && chmod o+x "$(dirname "$0")" "$(dirname "$(dirname "$0")")"`, small)
	if out, err := owned.CombinedOutput(); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
	w.own.Run(w.t, "CREATE TABLESPACE small LOCATION '"+small+"'", "ALTER TABLE public.verbatim_journal SET TABLESPACE small")
	w.until(20)
	ballast := filepath.Join(dir, "ballast")
	_ = exec.Command("dd", "if=/dev/zero", "of="+ballast, "bs=64k").Run() // until there is no room
	full := false
	end := time.Now().Add(30 * time.Second)
	for i := 0; time.Now().Before(end) && !full; i++ {
		status, body, err := w.nina.post(w.url+"/v1/run", fmt.Sprint("full ", i), map[string]string{"script": `client.add-note :request-id @pierre-dupont-source-of-wealth :note "` + strings.Repeat("a long word ", 150) + `"`})
		full = err == nil && status == http.StatusInsufficientStorage && strings.Contains(body, "store-full")
	}
	if !full {
		w.t.Error("the disk was filled, and nothing said so")
	}
	if err := os.Remove(ballast); err != nil {
		w.t.Fatal(err)
	}
	w.until(100)
	w.own.Run(w.t, "ALTER TABLE public.verbatim_journal SET TABLESPACE pg_default", "DROP TABLESPACE small")
	w.until(20)
	return "the disk was filled, and writes went on once there was room"
}
