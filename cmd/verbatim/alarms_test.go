package main

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"verbatim/stores/postgres/pgtest"
)

// promtool runs Prometheus's judge of rules.
func promtool(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(ofDebian(t, "promtool", "prometheus"), args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// ofDebian finds a program on the PATH, or where a target of the Makefile unpacks it. Where it is missing, the
// test is skipped and says so, or fails if TEST_REQUIRE_ and its name is 1.
func ofDebian(t *testing.T, name, target string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	path, err = filepath.Abs("../../.cache/" + target + "/usr/bin/" + name)
	if _, serr := os.Stat(path); err != nil || serr != nil {
		why := name + " is not here; `make " + target + "` fetches it"
		if os.Getenv("TEST_REQUIRE_"+strings.ToUpper(name)) == "1" {
			t.Fatal(why)
		}
		fmt.Fprintln(os.Stderr, "SKIPPED, NOT TESTED:", t.Name(), why)
		t.Skip("SKIPPED, NOT TESTED: " + why)
	}
	return path
}

// A shipped rule of Prometheus.
type alarm struct {
	Alert, Expr string
	Annotations struct{ Summary, Next string }
}

func alarms(t *testing.T) []alarm {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(releases, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Groups []struct{ Rules []alarm } }
	if err := yaml.Unmarshal(text, &file); err != nil || len(file.Groups) != 1 || len(file.Groups[0].Rules) < 10 {
		t.Fatal(err, file)
	}
	return file.Groups[0].Rules
}

// A moment is what a server counted at a time, and the alarms that have to fire then.
type moment struct {
	when    string
	counted string // what /metrics said; "" is no answer
	fire    []string
	second  string // what another server counted at the same time, "" without one
}

// minutes is how long each moment lasts when rules are played: longer than each rule waits.
const minutes = 20

var sample = regexp.MustCompile(`(?m)^(\w+)(\{[^}]*\})? (\S+)$`)

// playAlarms plays the shipped rules over moments, by Prometheus's own means. At the end of each moment those
// alarms have to fire that it names, and no other of those whose names match.
func playAlarms(t *testing.T, moments []moment, names string) {
	t.Helper()
	named := map[string]bool{"up": true}
	for _, a := range alarms(t) {
		for _, name := range regexp.MustCompile(`verbatim_\w+`).FindAllString(a.Expr, -1) {
			named[name] = true
		}
	}
	of := make([]map[string]float64, len(moments))
	all := map[string]bool{}
	for i, m := range moments {
		of[i] = map[string]float64{`up{instance="one",job="verbatim"}`: 0}
		for server, counted := range map[string]string{"one": m.counted, "two": m.second} {
			labels := fmt.Sprintf(`,instance=%q,job="verbatim"}`, server)
			if counted != "" {
				of[i]["up{"+labels[1:]] = 1
			}
			for _, s := range sample.FindAllStringSubmatch(counted, -1) {
				value, err := strconv.ParseFloat(s[3], 64)
				if err != nil {
					t.Fatal(s[0], err)
				}
				if named[s[1]] {
					of[i][s[1]+strings.Replace("{"+strings.Trim(s[2], "{}")+labels, "{,", "{", 1)] = value
				}
			}
		}
		for name := range of[i] {
			all[name] = true
		}
	}
	type series struct {
		Series string `yaml:"series"`
		Values string `yaml:"values"`
	}
	type expected struct {
		Labels string `yaml:"labels"`
		Value  int    `yaml:"value"`
	}
	type look struct {
		Expr     string     `yaml:"expr"`
		EvalTime string     `yaml:"eval_time"`
		Samples  []expected `yaml:"exp_samples"`
	}
	var inputs []series
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var values []string
		before := 0.0
		for i := range moments {
			now, counted := of[i][name]
			counter := strings.Contains(name, "_total{") || strings.Contains(name, "_count{")
			switch {
			case !counted:
				values = append(values, fmt.Sprintf("_x%d", minutes))
				continue
			case counter && now > before: // it grew until then
				step := (now - before) / minutes
				values = append(values, fmt.Sprintf("%g+%gx%d", before+step, step, minutes-1))
			default:
				values = append(values, fmt.Sprintf("%g+0x%d", now, minutes-1))
			}
			before = now
		}
		inputs = append(inputs, series{name, strings.Join(values, " ")})
	}
	var looks []look
	for i, m := range moments {
		l := look{Expr: fmt.Sprintf(`group by (alertname) (ALERTS{alertstate="firing",alertname=~"Verbatim(%s)"})`, names), EvalTime: fmt.Sprintf("%dm", (i+1)*minutes-1)}
		for _, name := range m.fire {
			l.Samples = append(l.Samples, expected{fmt.Sprintf("{alertname=%q}", "Verbatim"+name), 1})
		}
		looks = append(looks, l)
	}
	dir := t.TempDir()
	rules, err := filepath.Abs(filepath.Join(releases, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.Marshal(map[string]any{"rule_files": []string{rules}, "evaluation_interval": "1m",
		"tests": []any{map[string]any{"interval": "1m", "input_series": inputs, "promql_expr_test": looks}}})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "test.yaml"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := promtool(t, dir, "test", "rules", "test.yaml"); err != nil {
		for i, m := range moments {
			t.Logf("%dm: %s", (i+1)*minutes-1, m.when)
		}
		t.Errorf("%v\n%s", err, out)
	}
}

// Each alarm of the release is made to fire by its cause, in a real server on a real database, and stops
// when the cause is gone; no other fires meanwhile. What takes hours, such as a job that fails for a quarter
// of one, is made older in the store. G84
func TestEachAlarmFiresAndStops(t *testing.T) {
	t.Parallel()
	if _, err := promtool(t, "", "--version"); err != nil {
		t.Fatal(err)
	}
	own := pgtest.Own(t)
	h := newHouse(t)
	h.env = append(h.env, "VERBATIM_STORE="+own.App+"&pool_max_conns=8", "VERBATIM_FILES="+filepath.Join(h.dir, "files"), "TICK=now")
	h.do("migrate", "--store", own.Owner, "--grant-to", "verbatim_app", "--data", "bank.postgres.sql", "--data", "people.sql")
	h.people()
	h.script("ada", `system.add-identity :principal-id "nina" :issuer "email" :subject "nina@allianz.example"
system.add-identity :principal-id "bo" :issuer "email" :subject "bo@bank.example"`)
	h.script("ada", `system.add-principal :name "olaf" :label "Olaf Berg" :as @olaf
system.grant-role :principal-id @olaf :role "operator"`)
	free := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}
	mail, watch := free(), free()
	var gone, deaf atomic.Bool
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone.Load() {
			w.WriteHeader(http.StatusGone)
		}
	}))
	defer hook.Close()
	model := perform(t, slices.Repeat([]string{says("GREETING")}, 9))
	speaks := model.Config.Handler
	model.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if deaf.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		speaks.ServeHTTP(w, r)
	})
	routes := filepath.Join(h.dir, "routes.json")
	if err := os.WriteFile(routes, fmt.Appendf(nil, `{"channels": {"post": {"kind": "smtp", "server": %q, "from": "portal@bank.example", "tls": "none"}, "flow": {"kind": "webhook", "url": %q, "secret-env": "FLOW_SECRET", "private": true}},
"routes": {"letters": {"channel": "post"}, "agreement": {"channel": "flow"}}}`, mail, hook.URL), 0o666); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "VERBATIM_NOTIFY="+routes, "FLOW_SECRET=whsec_"+base64.StdEncoding.EncodeToString(make([]byte, 32)))
	sql := func(statement string) { t.Helper(); own.Run(t, statement) }
	serve := func(more ...string) *running {
		t.Helper()
		return h.serve(append([]string{"--metrics", watch, "--log", "error", "--sign-in", "clara", "--model", "scripted", "--base-url", model.URL}, more...)...)
	}
	scrape := func() string {
		answer, err := http.Get("http://" + watch + "/metrics")
		if err != nil {
			return ""
		}
		_, body := newVisitor(t).answer(answer, nil)
		return body
	}
	due := ""
	var moments []moment
	// when scrapes until something is counted: an expression, with $ for the end of a line.
	when := func(what, counted string, fire ...string) {
		t.Helper()
		seen, body := regexp.MustCompile("(?m)^"+counted), scrape()
		for end := time.Now().Add(time.Minute); !seen.MatchString(body); body = scrape() {
			if time.Now().After(end) {
				t.Fatalf("%s: %s is not counted:\n%s", what, counted, regexp.MustCompile(`(?m)^(#|go_|process_|agent_|\w+_bucket).*\n`).ReplaceAllString(body, ""))
			}
			if due != "" {
				sql(due) // what failed is tried again at once
			}
			time.Sleep(100 * time.Millisecond)
		}
		moments = append(moments, moment{what, body, fire, ""})
	}
	const healthy = `verbatim_store_up 1\n(.*\n)*verbatim_unsealed_entries 0$`

	s := serve()
	clara := newVisitor(t).comes(s, "clara")
	clara.Transport = &http.Transport{MaxIdleConnsPerHost: 600}
	when("all is well", healthy)

	due = "UPDATE verbatim_river.river_job SET scheduled_at = now() - interval '1 second' WHERE state IN ('retryable', 'scheduled')"
	for range 3 {
		if status, body := newVisitor(t).form(s.url+"/sign-in/mail", url.Values{"email": {"nina@allianz.example"}}); status != http.StatusOK {
			t.Fatal(status, body)
		}
	}
	for end := time.Now().Add(time.Minute); !strings.Contains(scrape(), `verbatim_channel_up{channel="letters"} 0`) && time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		sql(due)
	}
	sql("UPDATE verbatim_river.river_job SET created_at = created_at - interval '20 minutes' WHERE kind = 'notice' AND state <> 'completed'")
	when("the mail server is down", `verbatim_oldest_failing_job_seconds 1[23]\d\d`, "ChannelSilent", "JobsFail", "LettersFail")
	mailServerAt(t, mail)
	when("the mail server is back", `verbatim_channel_up\{channel="letters"\} 1\n(.*\n)*verbatim_jobs\{state="running"\} 0\n(.*\n)*verbatim_oldest_failing_job_seconds 0$`)

	due = ""
	gone.Store(true)
	h.proposes(`system.grant-high-role :principal-id @nina :role "analyst"`)
	sql("UPDATE verbatim.confirmations SET asked_at = asked_at - interval '13 hours' WHERE status = 'WAITING'")
	when("a webhook is gone for good, and somebody waits for an agreement", `verbatim_jobs\{state="dead"\} 1$`, "AgreementsWait", "JobsDead")
	dead := regexp.MustCompile(`(?m)^\S+`).FindString(h.do("work", "list", "--as", "olaf"))
	h.do("work", "list", "--drop", dead, "--as", "olaf", "--yes")
	id := regexp.MustCompile(`\S+`).FindString(h.do("confirm", "--as", "bo"))
	h.do("confirm", "--as", "bo", "--agree", id)
	gone.Store(false)
	when("it was dropped, and agreed to", `verbatim_jobs\{state="dead"\} 0$`)

	deaf.Store(true)
	turn := func() {
		t.Helper()
		if status, body, err := clara.post(s.url+"/v1/sessions/portal/turns", "", map[string]string{"text": "good morning, how are you today"}); err != nil || status != http.StatusOK {
			t.Fatal(status, body, err)
		}
	}
	turn()
	when("the model cannot be asked", `verbatim_model_up\{model="scripted"\} 0$`, "ModelDown")
	deaf.Store(false)
	turn()
	when("the model answers", `verbatim_model_up\{model="scripted"\} 1$`)

	seal := own.Hold(t, "SELECT pg_advisory_lock(-2102251852386772862)")
	if n := clara.asks(s, 3, "unsealed "); n != 3 {
		t.Fatalf("%d of 3 were done", n)
	}
	when("nothing is sealed", `verbatim_unsealed_entries [1-9]`, "LogUnsealed")
	seal()
	when("all is sealed", `verbatim_unsealed_entries 0$`)

	release := own.Hang(t)
	answered := make(chan bool)
	go func() { // nobody in particular: who somebody is would be looked up before there is a place for the request
		var all sync.WaitGroup
		for range 600 {
			all.Go(func() {
				if answer, err := clara.PostForm(s.url+"/sign-in/link", url.Values{"link": {"none"}}); err == nil {
					answer.Body.Close()
				}
			})
		}
		all.Wait()
		close(answered)
	}()
	when("the database hangs", `verbatim_request_seconds_count\{.*status="503"\} \d{2,}\n(.*\n)*verbatim_requests_shed_total \d{3,}\n(.*\n)*verbatim_store_connections 8\n(.*\n)*verbatim_store_up 0$`, "Fails", "Sheds", "StoreBusy", "StoreDown")
	release()
	<-answered
	when("it goes on, and somebody has tried links too often", healthy, "Limits")

	own.Stop()
	clara.asks(s, 200, "stopped ")
	when("the database is stopped", `verbatim_store_up 0$`, "Fails", "StoreDown")
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	when("it is started", healthy)

	s.stop()
	moments = append(moments, moment{"the server is stopped", "", []string{"Down"}, ""})
	s = serve("--no-work")
	h.proposes(`system.grant-high-role :principal-id @nina :role "administrator"`)
	sql("UPDATE verbatim_river.river_job SET scheduled_at = now() - interval '10 minutes', state = 'available' WHERE state <> 'completed'")
	when("nobody works", `verbatim_oldest_job_seconds 6\d\d`, "JobsLate")
	h.do("work", "--once")
	when("somebody does", `verbatim_oldest_job_seconds 0$`)

	s.stop()
	moments = append(moments, ailing(t, h, own, watch, scrape)...)

	fired := map[string]bool{}
	for _, m := range moments {
		for _, name := range m.fire {
			fired["Verbatim"+name] = true
		}
	}
	for _, a := range alarms(t) {
		if !fired[a.Alert] {
			t.Errorf("%s was not made to fire", a.Alert)
		}
	}
	playAlarms(t, moments, ".*")
}

// ailing runs a server of which much is to be mended, beside another that has other palettes and can note nothing of
// its store, and then one of which nothing is. It returns what they counted.
func ailing(t *testing.T, h *house, own *pgtest.Server, watch string, scrape func() string) []moment {
	t.Helper()
	counts := func(what string, patterns ...string) (body string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			body = scrape()
			if !slices.ContainsFunc(patterns, func(p string) bool { return !regexp.MustCompile("(?m)^" + p).MatchString(body) }) {
				return body
			}
		}
		t.Fatalf("%s: %q are not counted:\n%s", what, patterns, regexp.MustCompile(`(?m)^(#|go_|process_|agent_|\w+_bucket).*\n`).ReplaceAllString(body, ""))
		return ""
	}
	cert, key, _ := certificateFor(t, time.Now().Add(-time.Hour), time.Now().Add(13*24*time.Hour))
	h.do("log", "keygen", "journal.key", "--name", "bank.example/journal")
	signed := filepath.Join(h.dir, "journal.key.signed")
	if err := os.Rename(signed, signed+".lost"); err != nil {
		t.Fatal(err)
	}
	own.Run(t, "DELETE FROM verbatim.tallies") // and with them how often this address tried
	usual := h.env
	h.env = append(slices.Clone(usual), "TICK=now+1h", "VERBATIM_LOG_KEY="+filepath.Join(h.dir, "journal.key"), "VERBATIM_ROOM=1000000000")
	s := h.serve("--metrics", watch, "--no-work", "--sign-in", "clara", "--rate", "5", "--burst", "20", "--tls-cert", cert, "--tls-key", key)
	secretly := newVisitor(t)
	secretly.Transport = &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // made for this play
	h.edits("verbs/client.yaml", "\nverbs:\n", "\nverb:\n")
	s.reload(t)
	h.edits("verbs/client.yaml", "\nverb:\n", "\nverbs:\n")
	own.Run(t, `CREATE FUNCTION public.no_room() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END$$;
CREATE TRIGGER no_room BEFORE INSERT ON public.verbatim_journal FOR EACH STATEMENT EXECUTE FUNCTION public.no_room()`)
	clara := secretly.comes(s, "clara")
	if status, body, err := clara.post(s.url+"/v1/run", "full", map[string]string{"script": fmt.Sprintf(aNote, 1)}); err != nil || status != http.StatusInsufficientStorage {
		t.Fatal(status, body, err)
	}
	limited := 0
	for range 60 {
		if status, _ := secretly.get(s.url + "/sign-in"); status == http.StatusTooManyRequests {
			limited++
		}
	}
	other := newHouse(t)
	other.edits("verbs/client.yaml", "It reads what the internal teams wrote", "It reads what the teams wrote")
	other.env = append(other.env, "XDG_STATE_HOME=/dev/null/none", "VERBATIM_FILES="+filepath.Join(other.dir, "files"))
	blind := other.serve("--no-work")
	answer, err := http.Get(blind.url + "/metrics")
	_, second := newVisitor(t).answer(answer, err)
	ill := moment{"all sorts of things are to be mended", counts("much is to be mended", `verbatim_certificate_days\{door="https"\} 12\.`, `verbatim_clock_ahead_seconds 3[56]\d\d`, `verbatim_disk_free_bytes\{of="state"\} \d`,
		`verbatim_disk_wanted_bytes\{of="state"\} 1\.\d+e\+15`, `verbatim_notes\{about="key"\} 1$`, `verbatim_reload_refused\{cause="mistakes",part="palettes"\} 1$`, fmt.Sprintf(`verbatim_request_seconds_count\{.*status="429"\} %d$`, limited), `verbatim_store_full 1$`),
		[]string{"CertificateEnds", "ClockOff", "DiskLow", "KeyRefuses", "Limits", "PalettesDiffer", "ReloadRefused", "RestoreUnseen", "StoreFull"}, second}
	if ready, says := newVisitor(t).get(blind.url + "/readyz"); ready != http.StatusOK || !strings.Contains(says, "would not be noticed") {
		t.Error(ready, says)
	}
	s.stop()
	blind.stop()

	own.Run(t, "DROP TRIGGER no_room ON public.verbatim_journal")
	if err := os.Rename(signed+".lost", signed); err != nil {
		t.Fatal(err)
	}
	renewsFor(t, cert, key, time.Now().Add(-time.Hour), time.Now().Add(90*24*time.Hour))
	h.env = append(slices.Clone(usual), "VERBATIM_LOG_KEY="+filepath.Join(h.dir, "journal.key"))
	s = h.serve("--metrics", watch, "--no-work", "--tls-cert", cert, "--tls-key", key)
	if said := s.reload(t); strings.Contains(said, "refused") {
		t.Error(said)
	}
	return []moment{ill, {"all is mended", counts("nothing is to be mended", `verbatim_certificate_days\{door="https"\} 89\.`, `verbatim_clock_ahead_seconds -?0`, `verbatim_notes\{about="key"\} 0$`, `verbatim_store_full 0$`), nil, ""}}
}

// The disk of each folder that a server writes to is watched: what is free is counted, and where it is less than the
// operator wants, /readyz, the page of health and doctor say so. 59
func TestDisksAreWatched(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.people()
	h.script("ada", `system.add-principal :name "olaf" :label "Olaf Berg" :as @olaf
system.grant-role :principal-id @olaf :role "operator"`)
	usual := h.env
	for room, low := range map[string]bool{"0": false, "1000000000": true} {
		h.env = append(slices.Clone(usual), "VERBATIM_ROOM="+room)
		s := h.serve("--no-work", "--sign-in", "olaf")
		_, ready := newVisitor(t).get(s.url + "/readyz")
		_, health := newVisitor(t).comes(s, "olaf").get(s.url + "/health")
		_, counted := newVisitor(t).get(s.url + "/metrics")
		s.stop()
		says := strings.Contains(ready, "the disk of the store has ") && strings.Contains(ready, "; the disk of the state folder has ") && strings.Contains(ready, "; the disk of files has ")
		if says != low || low != strings.Contains(health, "the disk of the store has ") {
			t.Errorf("with room %s: /readyz says %q; the page of health:\n%s", room, ready, health)
		}
		for _, of := range []string{"store", "state", "files"} {
			if !regexp.MustCompile(`(?m)^verbatim_disk_free_bytes\{of="` + of + `"\} [1-9]`).MatchString(counted) {
				t.Errorf("the disk of %s is not counted:\n%s", of, counted)
			}
		}
		if out := h.do("doctor"); low != strings.Contains(out, "look   disks         the disk of the store has ") {
			t.Errorf("with room %s doctor says\n%s", room, out)
		}
	}
}

// Where metrics have an address of their own and nobody reads them there, no alarm can reach anybody: /readyz and the
// page of health say so, and no more once somebody reads. 59
func TestNobodyReadsTheMetrics(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.env = append(h.env, "TICK=20s") // each look at the clock
	watch := "127.0.0.1:" + freePort(t)
	s := h.serve("--no-work", "--metrics", watch)
	const says = "nobody has read /metrics at "
	ready := func() string {
		t.Helper()
		_, body := newVisitor(t).get(s.url + "/readyz")
		return body
	}
	for end := time.Now().Add(30 * time.Second); !strings.Contains(ready(), says+watch); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("/readyz says %s", ready())
		}
	}
	answer, err := http.Get("http://" + watch + "/metrics")
	if _, body := newVisitor(t).answer(answer, err); !strings.Contains(body, `verbatim_notes{about="watch"} 0`) {
		t.Error(body)
	}
	if body := ready(); strings.Contains(body, says) {
		t.Errorf("it was read, and /readyz says %s", body)
	}
}

// The dashboard shows each metric that there is, or says that it does not; it and the rules name no other; and
// Prometheus can read every expression of them. G84
func TestTheDashboardShowsWhatIsCounted(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(releases, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Title, UID string
		Panels     []struct {
			ID          int
			Type, Title string
			GridPos     struct{ X, Y, W, H int }
			Datasource  struct{ Type, UID string }
			Targets     []struct{ RefID, Expr, LegendFormat string }
			Options     struct{ Content string }
		}
		Templating struct {
			List []struct{ Name, Type, Query string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil || board.UID == "" {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../../runtime/frontends/http/server/metrics.go")
	if err != nil {
		t.Fatal(err)
	}
	counted := map[string]bool{} // names, and whether they are shown
	for _, m := range regexp.MustCompile(`"((?:verbatim|agent)_\w+)["{]`).FindAllSubmatch(source, -1) {
		counted[string(m[1])] = false
	}
	if len(counted) < 25 {
		t.Fatal(counted)
	}
	words := regexp.MustCompile(`\b(?:verbatim|agent|go|process)_\w+|\bup\{`)
	base := regexp.MustCompile(`_(bucket|sum|count)$`)
	names := func(what, expr string, shown bool) {
		found := words.FindAllString(expr, -1)
		if len(found) == 0 && !strings.HasPrefix(expr, "ALERTS{") {
			t.Errorf("%s names no metric: %s", what, expr)
		}
		for _, name := range found {
			if name == "up{" || strings.HasPrefix(name, "go_") || strings.HasPrefix(name, "process_") {
				continue
			}
			if _, there := counted[name]; !there {
				name = base.ReplaceAllString(name, "")
			}
			if _, there := counted[name]; !there {
				t.Errorf("%s names %s, which nothing counts", what, name)
			} else if shown {
				counted[name] = true
			}
		}
	}
	type record struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	var records []record
	ids, notShown := map[int]bool{}, ""
	for i, p := range board.Panels {
		if ids[p.ID] || p.Title == "" || p.GridPos.W < 1 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d, %q, has no place or no name of its own", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, q := range board.Panels[:i] {
			a, b := p.GridPos, q.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("the panels %q and %q lie on each other", p.Title, q.Title)
			}
		}
		notShown += p.Options.Content
		if p.Type != "text" && (len(p.Targets) == 0 || p.Datasource.UID != "${source}") {
			t.Errorf("the panel %q asks nothing", p.Title)
		}
		for _, target := range p.Targets {
			names("the panel "+p.Title, target.Expr, true)
			records = append(records, record{"panel", strings.ReplaceAll(target.Expr, "$instance", ".*")})
		}
	}
	for _, a := range alarms(t) {
		names("the rule "+a.Alert, a.Expr, false)
		for _, name := range words.FindAllString(a.Expr, -1) {
			if shown, there := counted[base.ReplaceAllString(name, "")]; there && !shown {
				t.Errorf("the rule %s watches %s, which the dashboard does not show", a.Alert, name)
			}
		}
		if a.Annotations.Summary == "" || a.Annotations.Next == "" {
			t.Errorf("the rule %s says nothing, or no next step", a.Alert)
		}
	}
	for name, shown := range counted {
		if !shown && !strings.Contains(notShown, "`"+name+"`") {
			t.Errorf("%s is neither shown nor listed as not shown", name)
		}
	}
	dir := t.TempDir()
	var file bytes.Buffer
	if err := yaml.NewEncoder(&file).Encode(map[string]any{"groups": []any{map[string]any{"name": "panels", "rules": records}}}); err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile(filepath.Join(releases, "alerts.yaml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "alerts.yaml"), rules, 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "panels.yaml"), file.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := promtool(t, dir, "check", "rules", "--lint=none", "alerts.yaml", "panels.yaml"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
