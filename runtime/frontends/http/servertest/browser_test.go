package servertest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"verbatim/runtime/frontends/http/console"
	"verbatim/runtime/frontends/http/portal"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/tests/browsertest"
	"verbatim/stores/postgres/pgtest"
)

// The program itself, on a database of its own: what people see is looked at in a browser, over a
// socket. It is built once: by make test, which says where in TEST_PROGRAM, or here.

var program = sync.OnceValues(func() (string, error) {
	if at := os.Getenv("TEST_PROGRAM"); at != "" {
		return at, nil
	}
	dir, err := os.MkdirTemp("", "verbatim-browser")
	if err != nil {
		return "", err
	}
	built = dir
	name := filepath.Join(dir, "verbatim")
	build := exec.Command("go", "build", "-o", name, "verbatim/cmd/verbatim")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return name, nil
})

// built is where the program is, "" while no test wanted it.
var built string

func TestMain(m *testing.M) {
	code := pgtest.Run(m)
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// A house is one process that serves.
type house struct {
	t       testing.TB
	dir     string
	address string
	links   map[string]string
	cmd     *exec.Cmd
	env     []string // besides
	people  []string // who sign in; nil is those of the bank
}

const root = "../../../.."

// daysAhead moves the days of the example's data, so that they lie ahead of today as they
// did of the day that it was written for.
func daysAhead(text string) string {
	shift := time.Since(time.Date(2024, 12, 27, 0, 0, 0, 0, time.UTC)).Truncate(24 * time.Hour)
	return regexp.MustCompile(`'2025-01-[0-9]{2}'`).ReplaceAllStringFunc(text, func(day string) string {
		at, _ := time.Parse(time.DateOnly, strings.Trim(day, "'"))
		return "'" + at.Add(shift).Format(time.DateOnly) + "'"
	})
}

// more are people whom the example has not: a client of nobody yet, one of the third
// company, and who looks after jobs. Who looks after rights is made by the command.
const more = `
INSERT INTO verbatim_principal (name, label) VALUES ('nina', 'Nina Neu'), ('kim', 'Kim Marsh'), ('otto', 'Otto Orth');
INSERT INTO verbatim_grant (principal, role, entity, key) VALUES ('nina', 'client', '', ''), ('kim', 'client', 'cbu', '0000000c-0000-4000-8000-000000000003'), ('otto', 'operator', '', '');
`

// edit puts one text in place of another, in a file of the house.
func (h *house) edit(name, old, new string) {
	h.t.Helper()
	name = filepath.Join(h.dir, name)
	text, err := os.ReadFile(name)
	if err == nil && !strings.Contains(string(text), old) {
		err = fmt.Errorf("%s does not hold %q", name, old)
	}
	if err == nil {
		err = os.WriteFile(name, []byte(strings.Replace(string(text), old, new, 1)), 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

// adds puts a text at the end of a file of the house.
func (h *house) adds(name, text string) {
	h.t.Helper()
	f, err := os.OpenFile(filepath.Join(h.dir, name), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func newHouse(t testing.TB, prepare ...func(*house)) *house {
	t.Helper()
	dir := t.TempDir()
	h := &house{t: t, dir: dir}
	for _, file := range []string{"bank.sql", "people.sql"} {
		text, err := os.ReadFile(filepath.Join(root, "examples/client", file))
		if err != nil {
			t.Fatal(err)
		}
		if file == "people.sql" {
			text = append(text, more...)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(daysAhead(string(text))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, do := range prepare {
		do(h)
	}
	h.run("migrate", "--data", filepath.Join(dir, "bank.sql"), "--data", filepath.Join(dir, "people.sql"), "--administrator", "ada")
	h.open()
	return h
}

// open begins to serve at an address that is free.
func (h *house) open() {
	h.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		h.t.Fatal(err)
	}
	h.address = l.Addr().String()
	_ = l.Close()
	h.start()
	h.t.Cleanup(h.kill)
}

func (h *house) command(args ...string) *exec.Cmd {
	h.t.Helper()
	name, err := program()
	if err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "VERBATIM_STORE="+filepath.Join(h.dir, "house.db"), "VERBATIM_PALETTES="+filepath.Join(root, "verbs/palettes/bank"), "VERBATIM_SCAN=none", "NO_COLOR=1", "VERBATIM_MODEL=", "VERBATIM_BASE_URL=")
	cmd.Env = append(cmd.Env, h.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

func (h *house) run(args ...string) string {
	h.t.Helper()
	out, err := h.command(args...).CombinedOutput()
	if err != nil {
		h.t.Fatalf("verbatim %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// start serves, and waits until it does. Links to sign in are new each time.
func (h *house) start(flags ...string) {
	h.t.Helper()
	_, port, _ := net.SplitHostPort(h.address)
	people := h.people
	if people == nil {
		people = []string{"clara", "t.weber", "a.nowak", "d.lang", "nina", "otto", "ada", "jonas", "kim"}
	}
	args := append([]string{"serve", "--listen", h.address, "--log", "error"}, flags...)
	for _, who := range people {
		args = append(args, "--sign-in", who)
	}
	h.cmd = h.command(args...)
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	h.cmd.Stderr = os.Stderr
	if err := h.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.links = map[string]string{}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := regexp.MustCompile(`^sign in +(\S+) +(\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			h.links[m[1]] = m[2]
		}
		if len(h.links) == len(people) {
			break
		}
	}
	go func() {
		for lines.Scan() {
		}
	}()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if r, err := http.Get("http://localhost:" + port + "/readyz"); err == nil {
			_ = r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			h.t.Fatal("the server does not start")
		}
	}
}

func (h *house) kill() {
	if h.cmd != nil {
		_ = h.cmd.Process.Kill()
		_ = h.cmd.Wait()
		h.cmd = nil
	}
}

// signIn follows a link, and presses its button.
func (h *house) signIn(tab *browsertest.Tab, who string) {
	h.t.Helper()
	tab.Go(h.links[who])
	tab.Wait("Press the button to sign in")
	tab.Click("main form button")
}

// come opens a house of its own for somebody, in a window so wide.
func come(t *testing.T, width int64, who, wants string) (*house, *browsertest.Tab) {
	t.Helper()
	h, tab := newHouse(t), browsertest.Open(t)
	tab.Size(width, "light")
	h.signIn(tab, who)
	tab.Wait(wants)
	return h, tab
}

func (h *house) url(path string) string {
	_, port, _ := net.SplitHostPort(h.address)
	return "http://localhost:" + port + path
}

// follow presses a link or a button by what it says, within what a selector finds.
func follow(tab *browsertest.Tab, within, says string) {
	tab.Eval(fmt.Sprintf(`(() => { for (const root of document.querySelectorAll(%q)) for (const el of root.querySelectorAll("a,button,summary")) if (el.textContent.trim().startsWith(%q)) { el.click(); return "ok" } throw new Error("nothing says " + %q) })()`, within, says, says))
}

// item is a selector of the task whose title holds a text.
func item(text string) string { return fmt.Sprintf("[data-row]:has(:is(h2,h3) a[href*=%q])", text) }

// everywhere audits the page as it is at every width, light and dark.
func everywhere(tab *browsertest.Tab, name string) {
	everywhereAt(tab, tab.Eval("location.href"), name)
}

func everywhereAt(tab *browsertest.Tab, url, name string) {
	tab.Everywhere(url, name)
	// Text of twice the size is all there (WCAG 1.4.4).
	if got := tab.Eval(`(() => { const root = document.documentElement; root.style.fontSize = "200%"; const wide = root.scrollWidth - innerWidth; root.style.fontSize = ""; return wide })()`); got != "0" {
		tab.Fail(name + " at twice the size of text is wider than the window by " + got)
	}
}

// U23, U24, U25, U26, U43, U47: each page that the router knows, as it is for those who
// may see it, at every width, light or dark. A page that is added is in.
func TestBrowserEveryPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tab := browsertest.Open(t)
	tab.Size(1280, "light")
	seen := map[string]bool{}
	look := func(name, path, wants string) {
		t.Helper()
		everywhereAt(tab, h.url(path), name)
		tab.Wait(wants)
		seen[name] = true
		if text := tab.Text(); regexp.MustCompile(`(?i)confidence|likelihood|[0-9a-f]{8}-[0-9a-f]{4}-4`).MatchString(text) {
			t.Errorf("%s shows a key or a figure of confidence:\n%s", name, text)
		}
	}
	look("sign-in", "/sign-in", "Sign in")
	everywhereAt(tab, h.links["clara"], "sign-in-link")
	seen["sign-in-link"] = true
	tab.Click("main form button")
	tab.Wait("Your onboarding")
	used := h.links["clara"]
	look("home", "/", "27 of 31 steps done (87 %).")
	look("page", "/p/1", "What else we need (2)")
	look("item", "/p/1/item/thomas-muller-identity", "Often asked")
	look("form", "/do/client.submit-document?item=pierre-dupont-source-of-wealth", "What kind of document is it?")
	look("form-object", "/do/client.provide-info?item=maria-schmidt-date-of-birth", "Day, month and year")
	look("form-person", "/do/client.escalate", "What is passed on")
	look("form-account", "/do/client.name-repayment-account", "What is the IBAN?")
	look("question", "/questions/pierre-dupont-source-of-wealth", "Question 1 of")
	look("why", "/why", "How the last answer came about")
	look("not-found", "/p/77", "There is nothing here that you can see.")
	if tab.Eval(`document.querySelector("header a.btn")?.textContent ?? ""`) == "Talk to a person" {
		t.Error("a page outside offers a person of one palette")
	}
	for _, path := range []string{"/", "/why", "/do/client.add-note?item=pierre-dupont-source-of-wealth", "/questions/pierre-dupont-source-of-wealth"} {
		tab.Go(h.url(path))
		if got := tab.Eval(`document.querySelector("header .tools a").textContent`); got != "Talk to a person" {
			t.Errorf("%s begins its tools with %q", path, got) // WCAG 3.2.6
		}
	}
	// What is sent is answered with pages too.
	tab.Go(h.url("/do/client.provide-info?item=maria-schmidt-date-of-birth"))
	tab.Click("main form .btn")
	tab.Wait("There is a problem")
	tab.Audit("done")
	seen["done"] = true
	tab.Go(h.url("/questions/pierre-dupont-source-of-wealth"))
	tab.Click("main form .btn")
	tab.Wait("There is a problem")
	tab.Audit("answered")
	seen["answered"] = true
	tab.Go(h.url("/do/client.add-note?item=pierre-dupont-source-of-wealth"))
	tab.Type("#note", "The register has it")
	tab.Click("main form .btn")
	tab.Wait("Your note")
	look("undo", "/undo/"+h.entry("client.add-note"), "Shall this be done?")
	tab.Go(used)
	tab.Click("main form button")
	tab.Wait("This link was used")
	tab.Audit("sign-in-over")
	seen["sign-in-over"] = true
	h.signIn(tab, "t.weber")
	tab.Wait("What clients sent")
	look("analyst", "/", "I looked for decisions to make and found none that you can see.")
	look("reference", "/verbs", "review.accept")
	look("verb", "/verbs/review.accept", "Try it")
	look("palettes", "/palettes?palette=review", "The other version")
	tab.Click("main form .acts .btn")
	tab.Wait("The two say the same.")
	tab.Audit("palettes-compared")
	seen["palettes-compared"] = true
	look("queue", "/waiting", "Nothing that you can see waits for you.")
	tab.Go(h.url("/do/review.waive?try=1"))
	tab.Wait("Show the call")
	id := h.waive(tab)
	h.signIn(tab, "a.nowak")
	tab.Wait("What clients sent")
	look("queue", "/waiting", "asked by T. Weber")
	tab.Go(h.url("/p/1/item/pierre-dupont-source-of-wealth"))
	follow(tab, "main", "Show")
	tab.Wait("None that you can see.")
	everywhere(tab, "item-opened")
	seen["item-opened"] = true
	look("decision", "/waiting/"+id, "Allianz Reinsurance AG")
	follow(tab, "main", "Decline")
	tab.Wait("Decided")
	tab.Audit("decided")
	seen["decided"] = true
	h.signIn(tab, "d.lang")
	tab.Wait("Waiting")
	look("journal", "/journal", "As a CSV file")
	look("entry", "/journal/1", "Outcome")
	// U44: a plot is a picture with a name, a description and its table, and is told apart
	// without colour.
	look("health", "/health", "The chain is whole")
	for what, want := range map[string]string{
		`[...document.querySelectorAll("svg.plot")].every(s => s.getAttribute("role") === "img" && s.getAttribute("aria-labelledby").split(" ").every(id => document.getElementById(id).textContent.length > 3))`:                                                                                                                                                 "true",
		`[...document.querySelectorAll("svg.plot")].every(s => s.closest("section").querySelectorAll("details tbody tr").length === s.querySelectorAll("rect.a").length)`:                                                                                                                                                                                         "true",
		`(() => { const grey = css => { const m = getComputedStyle(document.querySelector(css)).fill.match(/[0-9]+/g).map(v => { v /= 255; return v > .03928 ? ((v + .055) / 1.055) ** 2.4 : v / 12.92; }); return .2126 * m[0] + .7152 * m[1] + .0722 * m[2] + .05; }, a = grey("rect.a"), c = grey("rect.c"); return Math.max(a, c) / Math.min(a, c) >= 3 })()`: "true",
		`document.querySelectorAll("svg.plot").length`: "3",
	} {
		if got := tab.Eval(what); got != want {
			t.Errorf("%s is %s", what, got)
		}
	}
	// How long programs took is what this process counted.
	counted := func() (n int) {
		t.Helper()
		r, err := http.Get(h.url("/metrics"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, _ := io.ReadAll(r.Body)
		m := regexp.MustCompile(`verbatim_program_seconds_count{outcome="ok",stage="run"} ([0-9]+)`).FindSubmatch(text)
		if m == nil {
			t.Fatalf("nothing is counted:\n%s", text)
		}
		n, _ = strconv.Atoi(string(m[1]))
		return n
	}
	least := counted()
	tab.Go(h.url("/health"))
	tab.Wait("since this process started")
	drawn, _ := strconv.Atoi(tab.Eval(`[...document.querySelectorAll("section[aria-labelledby=latency] tbody tr")].reduce((n, r) => n + Number(r.cells[1].textContent), 0)`))
	if most := counted(); drawn < least || drawn > most || drawn == 0 {
		t.Errorf("of %d to %d programs, %d are drawn", least, most, drawn)
	}
	if says := tab.Eval(`document.querySelector("#latency-says").textContent`); !regexp.MustCompile(fmt.Sprintf(`^%d programs were carried out. Half of them took at most [0-9.]+(µs|ms|s), and 95 of 100 at most [0-9.]+(µs|ms|s)\.$`, drawn)).MatchString(says) {
		t.Errorf("the plot says %q", says)
	}
	h.opened(tab)
	everywhere(tab, "entry-opened")
	seen["entry-opened"] = true
	h.signIn(tab, "nina")
	tab.Wait("Your account is not linked to an organisation yet.")
	everywhere(tab, "home-nobody")
	h.signIn(tab, "ada")
	tab.Wait("People named in rows (1)")
	tab.Go(h.url("/do/system.add-principal"))
	for css, text := range map[string]string{"#name": "p.neu", "#label": "Paula Neu"} {
		tab.Type(css, text)
	}
	tab.Click("main form .btn")
	tab.Wait("People named in rows (2)")
	tab.Wait("Paula Neu")
	everywhere(tab, "people")
	h.signIn(tab, "otto")
	tab.Wait("Jobs (0)")
	look("jobs", "/", "Jobs (0)")
	look("open", "/open", "found none that you can see")
	s, err := server.New(server.Options{URL: "http://localhost"})
	if err != nil {
		t.Fatal(err)
	}
	site := portal.New(portal.Options{})
	s.Mount(append(site.Routes(), console.Routes(site)...)...)
	if len(s.Routes()) < 30 {
		t.Errorf("only %d routes", len(s.Routes()))
	}
	for _, r := range s.Routes() {
		switch r.Name {
		case "settled": // settles a call whose outcome is unknown: open_test.go does
		case "people", "turns", "turn", "turn-shown": // TestBrowserStatesOfStaff does
		case "decided-together", "jobs-tended": // tables of what became of each: staff_test.go reads them
		case "row": // the bank's verbs read no row alone: TestBrowserTheDeal looks at it
		case "", "sign-out", "sign-in-openid", "sign-in-back", "sign-in-sent": // no page of their own, or none without another system
		default:
			if !seen[r.Name] {
				t.Errorf("nobody looked at %s, the page %s", r.Pattern, r.Name)
			}
		}
	}
}

// waive has t.weber ask for a waiver, and returns what it is known by.
func (h *house) waive(tab *browsertest.Tab) string { return h.waiveOf(tab, "Pierre") }

func (h *house) waiveOther(tab *browsertest.Tab) string { return h.waiveOf(tab, "Thomas") }

func (h *house) waiveOf(tab *browsertest.Tab, whose string) string {
	tab.Go(h.url("/do/review.waive"))
	tab.Eval(`(() => { const s = document.querySelector("#request-id"); s.value = [...s.options].find(o => o.text.includes("` + whose + `")).value; return "" })()`)
	tab.Type("#reason", "The register already holds <b>all of it</b>")
	tab.Click("main form .btn")
	tab.Wait("Must agree too")
	follow(tab, "main", "Yes, ask for it")
	tab.Wait("It waits for somebody")
	tab.Go(h.url("/waiting"))
	tab.Wait("What you asked others for")
	return strings.TrimPrefix(tab.Eval(`document.querySelector("[data-row] a").getAttribute("href")`), "/waiting/")
}

// U22, U27, U28, U29, U33, U34, U39: the conversation of the source document, from 87 % to
// 94 %, without a model; with the scripts of the pages and without them.
func TestBrowserConversation(t *testing.T) {
	t.Parallel()
	for _, scripts := range []bool{true, false} {
		t.Run(fmt.Sprintf("scripts=%v", scripts), func(t *testing.T) {
			h := newHouse(t)
			tab := browsertest.Open(t)
			tab.Size(1280, "light")
			tab.Scripts(scripts)
			h.signIn(tab, "clara")
			for _, text := range []string{"27 of 31 steps done (87 %). 4 are with you, 0 are with us.", "The next thing to do", "What else we need (2)",
				"Source of wealth: Pierre Dupont", "Part received", "Bank statements", "Tax return 2021", "Tax return 2023",
				"Identity: Thomas Müller", "in 14 days", "UK Money Laundering Regulations 2017", "Passport, national id", "Date of birth: Maria Schmidt", "About 1 minute"} {
				tab.Wait(text)
			}
			say := func(text string, wants ...string) {
				t.Helper()
				tab.Type("#said", text)
				if scripts {
					tab.Eval(`(() => { window.said = []; window.watched?.disconnect(); window.watched = new MutationObserver(() => window.said.push(document.getElementById("state").textContent)); window.watched.observe(document.getElementById("state"), {childList: true}); window.live = ""; new MutationObserver(all => all.forEach(m => m.addedNodes.forEach(n => window.live += n.textContent))).observe(document.getElementById("live"), {childList: true}); return "" })()`)
					tab.Press("\r")
				} else {
					tab.Click(".say .btn")
				}
				for _, want := range append(wants, text) {
					tab.Wait(want)
				}
				if scripts {
					tab.Wait("Write a message")
					if got := tab.Eval(`document.activeElement.id`); got != "said" {
						t.Errorf("the focus is on %q after sending", got)
					}
					if got := tab.Eval(`document.querySelector("#said").value`); got != "" {
						t.Errorf("the box still holds %q", got)
					}
					if got := tab.Eval(`window.said ? window.said.length : -1`); got != "2" {
						t.Errorf("the status changed %s times", got)
					}
					if got := tab.Eval(`(window.live.length > 0) + document.getElementById("live").textContent + document.getElementById("live").getAttribute("aria-busy")`); got != "truefalse" {
						t.Errorf("the reply did not come bit by bit beside the log: %s", got)
					}
				}
			}
			say("Hi, what do you still need from us?", "What is still needed:", "not only where this payment comes from")
			say("Maria was born March 15, 1972. I have Thomas's passport here.", "Maria Schmidt (date of birth)", "15 March 1972", "Please send me the file.")
			if got := tab.Eval(`document.getElementById("state").textContent`); scripts && (!strings.Contains(got, "may I hand in") || !strings.Contains(got, "send me the file")) {
				t.Errorf("the question is not read aloud: %q", got)
			}
			follow(tab, "#talk", "Yes")
			tab.Wait("28 of 31 steps done (90 %).")
			tab.Wait("What else we need (1)")
			// U42: the turn has one id, which the journal has too. It is for staff alone. (G54)
			tab.Go(h.url("/why"))
			tab.Wait("What happened")
			if text := tab.Text(); regexp.MustCompile(`[0-9a-f]{8}-|client\.|Turn, as`).MatchString(text) {
				t.Errorf("a client is told of calls and ids:\n%s", text)
			}
			entry := h.reader("d.lang").get("/journal/"+h.entry("client.provide-info"), http.StatusOK)
			turn := regexp.MustCompile(`Turn, as the journal has it</dt><dd>([^<]+)`).FindStringSubmatch(entry)[1]
			if turn == "" || !strings.Contains(h.run("log", "show", "--as", "d.lang", "--turn", turn), "client.provide-info") {
				t.Errorf("the journal knows nothing of turn %q", turn)
			}
			tab.Go(h.url("/"))
			// The file that the assistant asked for is sent where it was asked for, or by the
			// form of the item.
			passport, err := filepath.Abs(filepath.Join(root, "examples/client/passport.pdf"))
			if err != nil {
				t.Fatal(err)
			}
			if scripts {
				tab.File("#file", passport)
				tab.Wait("Here already: passport.pdf")
				follow(tab, "#talk", "Send the file")
				tab.Wait("Here is passport.pdf")
				tab.Wait("may I hand in the passport")
				if strings.Contains(tab.Text(), "upload://") {
					t.Error("the page tells what a file is known by")
				}
				follow(tab, "#talk", "Yes")
			} else {
				follow(tab, item("thomas"), "Send a document")
				tab.Wait("What kind of document is it?")
				tab.Wait("PDF")
				tab.File("#file-reference", passport)
				tab.Click("#document-type")
				tab.Click("main form .btn")
			}
			tab.Wait("29 of 31 steps done (94 %). 2 are with you, 1 is with us.")
			tab.Wait("The bank checks it now.")
			tab.Wait("With us for checking")
			say("Still waiting on our accountant. Should have them next week.", "Still waiting on our accountant")
			tab.Wait("I took that to be about Thomas Müller")
			say("no, for Pierre", "Changed, and nothing is done yet")
			tab.Wait("You expect it on")
			if got := tab.Eval(`document.activeElement.id`); scripts && got != "said" {
				t.Errorf("the focus is on %q after an answer was chosen", got)
			}
			follow(tab, "#talk", "Yes")
			tab.Wait("You told us: by")
			tab.Go(h.url("/"))
			tab.Wait("Your note")
			// A receipt says how it is changed, taken back, and how it came about.
			for says, leads := range map[string]string{"Change": "What shall I note?", "Take it back": "Shall this be done?", "How this came about": "Receipt"} {
				follow(tab, ".log li:last-child", says)
				tab.Wait(leads)
				tab.Go(h.url("/"))
				tab.Wait("Your note")
			}
			tab.Go(h.url("/journal/" + h.entry("client.add-note")))
			follow(tab, "main", "What happened")
			tab.Wait("You: yes")
			tab.Go(h.url("/"))
			say("Perfect")
			tab.Scripts(true)
			tab.Go(h.url("/why"))
			tab.Wait("What happened")
			tab.Audit("why-said")
			everywhereAt(tab, h.url("/"), "portal-94")
			// What she sent waits for the bank, which accepts it.
			h.signIn(tab, "t.weber")
			tab.Wait("What clients sent (1)")
			tab.Wait("Identity: Thomas Müller")
			tab.Wait("Allianz Reinsurance AG")
			everywhere(tab, "analyst-1")
			follow(tab, item("thomas"), "Identity: Thomas Müller") // the decision stands beside the document
			tab.Wait("Send back")
			tab.Scripts(scripts)
			follow(tab, ".decide", "Accept")
			tab.Wait("Accepted: Thomas Müller (identity).")
			tab.Wait("I looked for decisions to make and found none that you can see.")
		})
	}
}

// U26, U34, U39: while a reply is on its way, the page says so, lets the person stop it and
// keeps what they typed; a model that fails takes nothing else away.
func TestBrowserStop(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.kill()
	asked, left := make(chan bool, 10), make(chan bool, 10)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- true
		// It is at work as long as somebody listens, so that nobody gives up on it.
		w.Header().Set("Content-Type", "text/event-stream")
		for end := time.After(time.Minute); ; {
			_, _ = io.WriteString(w, ":\n\n")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				left <- true
				return
			case <-end:
				return
			case <-time.After(time.Second):
			}
		}
	}))
	defer model.Close()
	h.env = []string{"VERBATIM_MODEL=scripted", "VERBATIM_BASE_URL=" + model.URL}
	h.start()
	tab := browsertest.Open(t)
	tab.Size(1280, "light")
	h.signIn(tab, "clara")
	tab.Wait("Your onboarding")
	for i, way := range []string{"the button", "Esc", "the button", "Esc", "the button", "Esc"} {
		tab.Size(browsertest.Widths[i/2], []string{"light", "dark"}[i%2])
		tab.Go(h.url("/"))
		tab.Eval(`(() => { document.querySelector("#said").value = ""; return "" })()`)
		tab.Type("#said", "Could our adviser write to you directly?")
		tab.Press("\r")
		tab.Wait("The assistant is writing.")
		tab.Until(`document.getElementById("live").getAttribute("aria-busy")`, "true")
		<-asked
		tab.Audit("home-writing")
		if i == 0 { // after eight seconds
			tab.Wait("This takes longer than usual.")
			tab.Audit("home-slow")
		}
		if len(left) > 0 {
			t.Fatal("the model was left before anybody pressed anything")
		}
		if way == "Esc" {
			tab.Press("\x1b")
		} else {
			tab.Click("#stop")
		}
		tab.Wait("Stopped. What you typed is still here.")
		if got := tab.Eval(`document.querySelector("#said").value.trim() + document.getElementById("stop").hidden + document.activeElement.id`); got != "Could our adviser write to you directly?truesaid" {
			t.Errorf("%s leaves %q", way, got)
		}
		select {
		case <-left:
		case <-time.After(10 * time.Second):
			t.Errorf("%s stops nothing: the model is still asked", way)
		}
		tab.Audit("home-stopped")
	}
	model.Close()
	follow(tab, item("maria"), "Give the information")
	tab.Wait("1972")
}

// U22, U26: with scripts, a file is on its way as soon as it is chosen, which the page
// shows; the form sends what it is known by. What is refused says why, at the field.
func TestBrowserUpload(t *testing.T) {
	t.Parallel()
	h, tab := come(t, 360, "clara", "Your onboarding")
	tab.Go(h.url("/do/client.submit-document?item=thomas-muller-identity"))
	dir := t.TempDir()
	bad, good, empty := filepath.Join(dir, "note.pdf"), filepath.Join(dir, "passport.pdf"), filepath.Join(dir, "empty.pdf")
	text, err := os.ReadFile(filepath.Join(root, "examples/client/passport.pdf"))
	if err == nil {
		err = errors.Join(os.WriteFile(empty, nil, 0o600), os.WriteFile(bad, []byte("MZ not what it says"), 0o600), os.WriteFile(good, append(text, make([]byte, 600<<10)...), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	// Without scripts the form brings the file along.
	tab.Scripts(false)
	tab.File("#file-reference", bad)
	tab.Click("#document-type")
	tab.Click("main form .acts .btn")
	tab.Wait("There is a problem")
	tab.Scripts(true)
	tab.Go(h.url("/do/client.submit-document?item=thomas-muller-identity"))
	tab.File("#file-reference", bad)
	tab.Wait("note.pdf: this kind of file is not taken here") // before it is sent
	tab.Click("#document-type")
	tab.Click("main form .acts .btn")
	tab.Wait("There is a problem")
	tab.Audit("form-refused")
	tab.Eval(`(() => { window.told = []; new MutationObserver(() => window.told.push(document.querySelector("main .sent").textContent)).observe(document.querySelector("main .sent"), {childList: true, subtree: true, characterData: true}); return "" })()`)
	tab.File("#file-reference", good)
	tab.Wait("Here already: passport.pdf, 615.1 kB")
	if got := tab.Eval(`window.told.some(t => /: (sending, \d+ %|checking)Remove/.test(t))`); got != "true" {
		t.Errorf("how far it is was not told: %s", tab.Eval("window.told.join()"))
	}
	if got := tab.Eval(`document.querySelector("input[type=hidden][name=file-reference]").value`); !strings.HasPrefix(got, "upload://") {
		t.Errorf("the form sends %q", got)
	}
	tab.Audit("form-uploaded")
	tab.Click("main form .acts .btn")
	tab.Wait("The bank checks it now.")
	// In the conversation too: one that is none, and one that is not what it says.
	tab.Go(h.url("/"))
	follow(tab, "#talk", "Send the file")
	tab.Wait("Please choose a file.")
	tab.Audit("home-no-file")
	for _, scripts := range []bool{true, false} {
		tab.Scripts(scripts)
		tab.Go(h.url("/"))
		tab.File("#file", empty)
		if scripts {
			tab.Wait("The file is empty")
		}
		follow(tab, "#talk", "Send the file")
		tab.Wait(map[bool]string{true: "Please choose a file.", false: "The file is empty. Send one that has something in it"}[scripts])
	}
	if text := tab.Text(); strings.Contains(text, "Here is empty") {
		t.Errorf("it was said all the same:\n%s", text)
	}
	tab.File("#file", good)
	follow(tab, "#talk", "Send the file")
	tab.Wait("Here is passport.pdf")
}

// U38: a message whose answer was lost is still in the box. Sent again it is not said
// twice, and does nothing twice; one that the server never got is said then. With scripts
// and without them, a form that is sent twice says what it says once.
func TestBrowserSaidOnce(t *testing.T) {
	t.Parallel()
	h, tab := come(t, 360, "clara", "Your onboarding")
	follow(tab, ".jump", "Messages") // on a phone they stand below the list
	tab.Until(`document.querySelector("#talk").getBoundingClientRect().top < innerHeight`, "true")
	mine := func(text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll(".log .me p")].filter(p => p.textContent === %q).length`, text)
	}
	say := func(text string) {
		t.Helper()
		tab.Type("#said", text)
		tab.Press("\r")
	}
	const note = "For Pierre's source of wealth, note: the register has it"
	say(note)
	tab.Until(mine(note), "1")
	tab.Until(`[...document.querySelectorAll("#talk button")].some(b => b.textContent.trim() === "Yes")`, "true")
	// The server does it, and what it answers is lost.
	tab.Go(h.url("/"))
	tab.Until(mine(note), "1")
	tab.Eval(`(() => { const real = window.fetch; window.fetch = async (...a) => { const r = await real(...a); await r.text(); window.fetch = real; throw new TypeError("lost") }; return "" })()`)
	say("yes")
	tab.Wait("That may not have arrived. Please try again.")
	tab.Audit("home-not-sent")
	if got := tab.Eval(`document.querySelector("#said").value.trim()`); got != "yes" {
		t.Errorf("the box holds %q", got)
	}
	tab.Press("\r")
	tab.Until(mine("yes"), "1")
	tab.Wait("Your note")
	notes := func() int {
		return strings.Count(h.run("log", "show", "--as", "d.lang", "--verb", "client.add-note", "--outcome", "ok"), "client.add-note ")
	}
	if n := notes(); n != 1 {
		t.Errorf("it was done %d times", n)
	}
	// The server is gone, and comes back.
	h.kill()
	say("How far are we?")
	tab.Wait("That may not have arrived. Please try again.")
	h.start()
	tab.Press("\r")
	tab.Until(mine("How far are we?"), "1")
	tab.Until(`document.querySelector("#said").value`, "")
	// What was edited since is another message.
	tab.Eval(`(() => { window.sent = Promise.all(["Who are you?", "Who are you?", "What do you need?"].map(text => { const b = new FormData(document.querySelector("form.say")); b.set("said", text); return fetch("/say", {method: "POST", body: new URLSearchParams(b)}) })).then(() => window.all = "all"); return "" })()`)
	tab.Until("window.all", "all")
	tab.Go(h.url("/"))
	tab.Until(mine("Who are you?"), "1")
	tab.Until(mine("What do you need?"), "1")
}

// P8, P9: what was promised and has not come is told above all else, with what can be
// done about it. Whoever asks for a person sees what goes along, and leaves out what they
// like.
func TestBrowserPromisesAndPersons(t *testing.T) {
	t.Parallel()
	// The promise is in a table that was there before, since no call makes one of a day
	// that is over.
	h := newHouse(t, func(h *house) {
		own := filepath.Join(h.dir, "palettes")
		if err := os.CopyFS(own, os.DirFS(filepath.Join(root, "verbs/palettes/bank"))); err != nil {
			t.Fatal(err)
		}
		h.edit("palettes/onboarding.yaml", "table: kyc.reminders\n    managed: true", "table: kyc.reminders")
		h.edit("people.sql", "INSERT INTO verbatim_grant", `CREATE TABLE kyc_reminders (reminder_id TEXT PRIMARY KEY, request TEXT NOT NULL REFERENCES kyc_outstanding_requests, commitment TEXT NOT NULL, expected_date TEXT NOT NULL, remind_on TEXT NOT NULL, replaced_at TEXT, created_at TEXT NOT NULL);
CREATE INDEX reminders_request ON kyc_reminders (request);
INSERT INTO kyc_reminders VALUES ('0000004e-0000-4000-8000-000000000001', '000004e9-0000-4000-8000-000000000007', 'the tax number', '2024-12-23', '2024-12-24', NULL, '2024-12-20T09:00:00Z');
INSERT INTO verbatim_grant`)
		h.env = []string{"VERBATIM_PALETTES=" + own}
	})
	tab := browsertest.Open(t)
	tab.Size(1280, "light")
	h.signIn(tab, "kim")
	tab.Wait("You expected this: The tax number, by 23 December 2024.")
	if got := tab.Eval(`document.querySelector(".banner.warn").textContent.includes("Tell us when")`); got != "true" {
		t.Error("the banner offers nothing")
	}
	everywhere(tab, "home-late")
	follow(tab, ".banner", "Tell us when")
	tab.Wait("What shall I note?")
	tab.Go(h.url("/"))
	for _, text := range []string{"How far are we?", "My brother must not know of this"} {
		tab.Type("#said", text)
		tab.Press("\r")
		tab.Until(`[...document.querySelectorAll(".log .me p")].some(p => p.textContent === `+strconv.Quote(text)+`)`, "true")
		tab.Until(`document.querySelector("#said").value`, "")
	}
	tab.Scripts(false)
	follow(tab, "header", "Talk to a person")
	tab.Wait("Messages that are passed on")
	tab.Wait("Tax residence: James Okafor")
	tab.Scripts(true)
	everywhere(tab, "form-person-messages")
	tab.Eval(`(() => { const o = [...document.querySelectorAll(".opt")].find(o => o.textContent.includes("My brother")); o.querySelector("input").click(); return "" })()`)
	tab.Click("main form .btn")
	tab.Wait("It sends a message that cannot be recalled")
	tab.Wait("Left out, by number: ")
	tab.Audit("card-person")
	follow(tab, "main", "Yes, do it")
	tab.Wait("I have passed this conversation on")
	if text := h.run("log", "show", "--as", "d.lang", "--verb", "client.escalate", "--json"); !strings.Contains(text, "How far are we?") || strings.Contains(text, "My brother") {
		t.Errorf("what was left out went along, or more was left out:\n%s", text)
	}
}

// U32, U38, U45: a form that is wrong says so beside the field and keeps what was typed;
// one that is sent twice acts once; markup is text; what was done can be changed.
func TestBrowserForms(t *testing.T) {
	t.Parallel()
	h, tab := come(t, 360, "clara", "Your onboarding")
	for _, look := range []string{"dark", "light"} {
		follow(tab, "footer", map[string]string{"dark": "Dark colours", "light": "Light colours"}[look])
		tab.Until("document.documentElement.dataset.theme", look)
		tab.Wait("Your onboarding")
	}
	tab.Go(h.url("/do/client.provide-info?item=maria-schmidt-date-of-birth"))
	field := "#collected-data-date_of_birth"
	tab.Type(field, "15")
	tab.Type(field+"-m", "3")
	tab.Type(field+"-y", "1872")
	tab.Click("main form .btn")
	tab.Wait("There is a problem")
	for what, want := range map[string]string{
		`document.title.startsWith("Error:")`:                       "true",
		`document.activeElement.className`:                          "summary",
		`document.querySelector(".summary a").getAttribute("href")`: field,
		`document.querySelector("` + field + `-y").value`:           "1872",
		`document.querySelector(".summary a").textContent.includes(document.querySelector(".why").lastChild.textContent)`: "true",
	} {
		if got := tab.Eval(what); got != want {
			t.Errorf("%s is %s, not %s", what, got, want)
		}
	}
	tab.Wait("must be after 1 January 1900")
	tab.Audit("form-wrong")
	tab.Eval(`(() => { document.querySelector("` + field + `-y").value = "1972"; return "" })()`)
	// U47: sent twice at once, and again when it is done: it is done once, each is told so,
	// and nothing is asked that the form had.
	twice := tab.Eval(`(() => { const f = document.querySelector("main form"), b = () => new FormData(f); window.send = () => fetch(f.action, {method: "POST", body: new URLSearchParams(b())}).then(r => r.text()).then(t => t.includes("Done (2)")); window.twice = Promise.all([window.send(), window.send()]).then(async a => { window.sent = [...a, await window.send()].join() }); return "ok" })()`)
	if twice != "ok" {
		t.Fatal(twice)
	}
	for end := time.Now().Add(10 * time.Second); tab.Eval("window.sent ?? ''") == "" && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	if got := tab.Eval("window.sent"); got != "true,true,true" {
		t.Errorf("of what was sent three times, not all were answered with what is done: %s", got)
	}
	tab.Go(h.url("/"))
	tab.Wait("28 of 31 steps done (90 %).")
	if n := strings.Count(h.run("log", "show", "--as", "d.lang", "--verb", "client.provide-info", "--outcome", "ok"), "client.provide-info"); n != 1 {
		t.Errorf("it was done %d times", n)
	}
	// What somebody writes is text wherever it comes out.
	tab.Go(h.url("/do/client.add-note?item=pierre-dupont-source-of-wealth"))
	tab.Type("#note", `<img src=x onerror="document.title='owned'"> "quoted" @thomas :note`)
	tab.Click("main form .btn")
	tab.Wait("Your note")
	tab.Wait("<img src=x")
	if got := tab.Eval(`document.querySelectorAll("main img").length + document.title`); !strings.HasPrefix(got, "0Your onboarding") {
		t.Errorf("markup became more than text: %s", got)
	}
	tab.Audit("note-done")
	follow(tab, ".banner", "Change")
	tab.Wait("What shall I note?")
	if got := tab.Eval(`document.querySelector("#note").value`); !strings.Contains(got, "<img src=x") {
		t.Errorf("what was noted is not there to be changed: %q", got)
	}
	// What is refused is told beside the field that it is about.
	tab.Go(h.url("/do/client.add-note?item=pierre-dupont-source-of-wealth"))
	tab.Type("#expected-date", "3")
	tab.Type("#expected-date-m", "1")
	tab.Type("#expected-date-y", "2020")
	tab.Click("main form .btn")
	tab.Wait("There is a problem")
	if got := tab.Eval(`document.querySelector(".summary a").getAttribute("href")`); got != "#expected-date" {
		t.Errorf("the mistake is told of %s", got)
	}
	// A form that asks first: shown, and done by another press.
	tab.Go(h.url("/do/client.escalate"))
	tab.Type("#reason", "I am stuck")
	tab.Click("main form .btn")
	tab.Wait("It sends a message that cannot be recalled")
	if got := tab.Eval(`document.activeElement.tagName`); got != "BODY" {
		t.Errorf("a card takes the focus: %s", got)
	}
	tab.Audit("card")
	follow(tab, "main", "Yes, do it")
	tab.Wait("I have passed this conversation on")
	// The login is over while somebody types: they sign in, and go on.
	tab.Go(h.url("/do/client.request-clarification?item=pierre-dupont-source-of-wealth"))
	tab.Type("#question", "Would a copy of the accounts be enough for the year before?")
	h.kill()
	h.start()
	tab.Forget()
	tab.Click("main form .btn")
	tab.Wait("Sign in")
	if got := tab.Eval(`new URL(location.href).searchParams.get("to")`); got != "/do/client.request-clarification?item=pierre-dupont-source-of-wealth" {
		t.Errorf("who signs in goes on to %s", got)
	}
	h.signIn(tab, "clara")
	tab.Wait("Your onboarding")
	tab.Go(h.url("/do/client.request-clarification?item=pierre-dupont-source-of-wealth"))
	if got := tab.Eval(`document.querySelector("#question").value`); got != "Would a copy of the accounts be enough for the year before?" {
		t.Errorf("what was typed is %q", got)
	}
	tab.Click("main form .btn")
	tab.Wait("The analyst has your question")
	tab.Go(h.url("/do/client.request-clarification?item=pierre-dupont-source-of-wealth"))
	if got := tab.Eval(`document.querySelector("#question").value`); got != "" {
		t.Errorf("what was sent is still there: %q", got)
	}
}

// A form that was open while newer palettes came is shown anew, with what was typed, and does
// nothing before; one of a verb that is gone does nothing at all. What is typed on a page
// without such a form, and the login, outlast it.
func TestBrowserAcrossAnUpgrade(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(h *house) {
		own := filepath.Join(h.dir, "palettes")
		if err := os.CopyFS(own, os.DirFS(filepath.Join(root, "verbs/palettes/bank"))); err != nil {
			t.Fatal(err)
		}
		h.env = []string{"VERBATIM_PALETTES=" + own}
	})
	tab, other := browsertest.Open(t), browsertest.Open(t)
	tab.Size(360, "light")
	other.Size(360, "light")
	h.signIn(tab, "clara")
	tab.Wait("Your onboarding")
	tab.Go(h.url("/do/client.add-note?item=pierre-dupont-source-of-wealth"))
	tab.Type("#note", "The accountant has it")
	h.signIn(other, "kim")
	other.Wait("Your onboarding")
	other.Go(h.url("/do/client.name-repayment-account"))
	other.Type("#iban", "LU280019400644750000")
	// The day of a note means something else, and the account is not asked for by that name.
	h.kill()
	h.edit("palettes/client.yaml", "when it should be there; a reminder is set for the day after", "the day after which the bank stops waiting")
	h.edit("palettes/client.yaml", "- verb: name-repayment-account", "- verb: name-account")
	for _, language := range []string{"de", "es", "fr"} {
		h.edit("palettes/client."+language+".yaml", "  name-repayment-account:", "  name-account:")
	}
	h.edit("palettes/onboarding.yaml", "client.name-repayment-account", "client.name-account")
	h.run("migrate", "--yes")
	h.start()
	tab.Click("main form .btn")
	tab.Wait("Something has changed since.")
	tab.Wait("The day after which the bank stops waiting")
	tab.Audit("form-newer")
	if got := tab.Eval(`document.querySelector("#note").value`); got != "The accountant has it" {
		t.Errorf("what was typed is %q", got)
	}
	if text := h.run("log", "show", "--as", "d.lang"); strings.Contains(text, "client.add-note") {
		t.Errorf("it was done before it was shown:\n%s", text)
	}
	tab.Click("main form .btn")
	tab.Wait("Your note")
	other.Click("main form .btn")
	other.Wait("There is nothing here that you can see.")
}

// U47: what somebody gave is there when a page comes again: after a mistake, from the
// question before something is done, in a new login. Every field can be pasted into, and the
// address to sign in with is known to browsers as one.
func TestBrowserNothingTwice(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(h *house) {
		letters := filepath.Join(h.dir, "letters.json")
		if err := os.WriteFile(letters, []byte(`{"channels": {"post": {"kind": "smtp", "server": "127.0.0.1:9", "from": "portal@bank.example", "tls": "none"}}, "routes": {"letters": {"channel": "post"}}}`), 0o600); err != nil {
			h.t.Fatal(err)
		}
		h.env = []string{"VERBATIM_NOTIFY=" + letters}
	})
	tab := browsertest.Open(t)
	tab.Size(360, "light")
	holds := func(css, want string) {
		t.Helper()
		if got := tab.Eval(fmt.Sprintf(`document.querySelector(%q).value`, css)); got != want {
			t.Errorf("%s holds %q, not %q", css, got, want)
		}
	}
	tab.Go(h.url("/sign-in?to=%2Fwhy"))
	tab.Wait("E-mail address")
	if got := tab.Eval(`(e => e.type + " " + e.autocomplete)(document.querySelector("#email"))`); got != "email email" { // WCAG 1.3.5, 3.3.8
		t.Errorf("the address to sign in with is an input of %s", got)
	}
	tab.Paste("#email", "Clara Weiss")
	tab.Click("main form .btn")
	tab.Wait("There is a problem")
	holds("#email", "Clara Weiss")
	fields := `main input:not([type=hidden]):not([type=radio]):not([type=checkbox]):not([type=file]), main textarea`
	tab.Paste("#email", "clara@allianz.example")
	tab.Click("main form .btn")
	tab.Wait("If we know that address, we write to it")
	holds("#email", "clara@allianz.example")
	holds("main input[name=to]", "/why")
	h.signIn(tab, "clara")
	tab.Wait("Your onboarding")
	// Each field of these pages takes what is pasted, whole.
	for _, path := range []string{"/", "/do/client.add-note?item=pierre-dupont-source-of-wealth", "/do/client.provide-info?item=maria-schmidt-date-of-birth", "/do/client.name-repayment-account", "/do/client.escalate", "/questions/pierre-dupont-source-of-wealth"} {
		tab.Go(h.url(path))
		tab.Wait("Sign out")
		n, _ := strconv.Atoi(tab.Eval(fmt.Sprintf(`(() => { let n = 0; document.querySelectorAll(%q).forEach(e => { e.id ||= "field"; e.dataset.nth = n++; delete e.dataset.draft }); return n })()`, fields)))
		for i := range n {
			field := fmt.Sprintf(`[data-nth="%d"]`, i)
			tab.Paste(field, "15 March 1972")
			holds(field, "15 March 1972")
		}
		if n == 0 && !strings.HasPrefix(path, "/questions") {
			t.Errorf("%s has no field", path)
		}
	}
	// A form that is wrong keeps what was chosen.
	tab.Go(h.url("/do/client.submit-document?item=pierre-dupont-source-of-wealth"))
	tab.Wait("What kind of document is it?")
	tab.Eval(`(() => { const e = document.querySelector("#document-type"); e.tagName === "SELECT" ? e.selectedIndex = 1 : e.click(); return "" })()`)
	chosen := tab.Eval(`new FormData(document.querySelector("main form")).get("document-type")`)
	tab.Click("main form .btn")
	tab.Wait("There is a problem")
	if got := tab.Eval(`new FormData(document.querySelector("main form")).get("document-type")`); got != chosen || chosen == "" {
		t.Errorf("%q was chosen, and is %q now", chosen, got)
	}
	// Whoever is asked first goes back to the form as it was.
	for _, scripts := range []bool{false, true} {
		tab.Scripts(scripts)
		tab.Go(h.url("/do/client.escalate"))
		tab.Type("#reason", "I am stuck")
		tab.Click("main form .btn")
		tab.Wait("It sends a message that cannot be recalled")
		follow(tab, "main", "Change")
		tab.Wait("What is passed on")
		holds("#reason", "I am stuck")
	}
	tab.Paste("#reason", "I am stuck at the tax return")
	tab.Click("main form .btn")
	tab.Wait("I am stuck at the tax return")
	// The call that is tried is changed in its form.
	tab.Go(h.url("/do/client.request-clarification?try=1"))
	tab.Eval(`(() => { document.querySelector("select").selectedIndex = 1; return "" })()`)
	tab.Type("#question", "Which year?")
	tab.Click("main form .btn")
	tab.Wait("Send this call")
	follow(tab, "main", "Change")
	tab.Wait("Show the call")
	holds("#question", "Which year?")
	// A whole day that is pasted is one; half of one that was typed is there in a new login.
	tab.Go(h.url("/do/client.add-note?item=pierre-dupont-source-of-wealth"))
	tab.Type("#note", "The accountant is away")
	tab.Type("#expected-date-m", "2")
	tab.Type("#expected-date-y", "2099")
	tab.Forget()
	tab.Click("main form .btn")
	tab.Wait("Sign in")
	h.kill()
	h.start()
	h.signIn(tab, "clara")
	tab.Wait("Your onboarding")
	tab.Go(h.url("/do/client.add-note?item=pierre-dupont-source-of-wealth"))
	holds("#note", "The accountant is away")
	holds("#expected-date-m", "2")
	holds("#expected-date-y", "2099")
	tab.Go(h.url("/do/client.provide-info?item=maria-schmidt-date-of-birth"))
	tab.Paste("#collected-data-date_of_birth", "15 March 1972")
	tab.Click("main form .btn")
	tab.Wait("28 of 31 steps done (90 %).")
}

// U17, SAFE-C1: a card carries what was typed, and the preview that was shown stands for it
// whole. Where somebody edits what the card carries, it is shown anew and nothing is done;
// a preview of something else is no agreement either.
func TestBrowserCardIsWhatRuns(t *testing.T) {
	t.Parallel()
	h, tab := come(t, 1280, "clara", "Your onboarding")
	set := func(name, value string) {
		t.Helper()
		tab.Eval(fmt.Sprintf(`(() => { const e = document.querySelector("main form input[type=hidden][name=%s]"); const was = e.value; e.value = %q; return was })()`, name, value))
	}
	holds := func(name string) string {
		return tab.Eval(fmt.Sprintf(`document.querySelector("main form input[type=hidden][name=%s]").value`, name))
	}
	none := func(verb, why string) {
		t.Helper()
		for _, outcome := range []string{"ok", "refused"} {
			if text := h.run("log", "show", "--as", "d.lang", "--verb", verb, "--outcome", outcome); strings.Contains(text, verb) {
				t.Errorf("%s, and the journal tells of\n%s", why, text)
			}
		}
	}
	asks := func(reason string) {
		t.Helper()
		tab.Go(h.url("/do/client.escalate"))
		tab.Type("#reason", reason)
		tab.Click("main form .btn")
		tab.Wait("It sends a message that cannot be recalled")
	}
	asks("The first reason")
	first := holds("agreed")
	asks("The second reason")
	for why, edit := range map[string]func(){
		"the reason is another":  func() { set("reason", "A reason that nobody saw") },
		"the preview is another": func() { set("agreed", first) },
		"the preview is made up": func() { set("agreed", "0000-0000") },
		"more is left out": func() {
			tab.Eval(`(() => { document.querySelector("main form").append(Object.assign(document.createElement("input"), {type: "hidden", name: "shown", value: "1"})); return "" })()`)
			set("reason", "x")
		},
	} {
		asks("The second reason")
		edit()
		says := holds("reason")
		follow(tab, "main", "Yes, do it")
		tab.Wait("Something has changed since.")
		tab.Wait(says)
		none("client.escalate", why)
	}
	asks("The second reason")
	follow(tab, "main", "Yes, do it")
	tab.Wait("I have passed this conversation on")
	if text := h.run("log", "show", "--as", "d.lang", "--verb", "client.escalate", "--outcome", "ok"); strings.Count(text, "client.escalate ") != 1 || !strings.Contains(text, "The second reason") {
		t.Errorf("the journal tells of\n%s", text)
	}
	// What somebody else must agree to is asked for as it was shown, or not at all.
	h.signIn(tab, "t.weber")
	tab.Wait("What clients sent")
	tab.Go(h.url("/do/review.waive"))
	tab.Eval(`(() => { const s = document.querySelector("#request-id"); s.value = [...s.options].find(o => o.text.includes("Pierre")).value; return "" })()`)
	other := tab.Eval(`[...document.querySelector("#request-id").options].find(o => o.text.includes("Thomas")).value`)
	tab.Type("#reason", "The register already holds it")
	tab.Click("main form .btn")
	tab.Wait("Must agree too")
	set("request-id", other)
	follow(tab, "main", "Yes, ask for it")
	tab.Wait("Something has changed since.")
	tab.Go(h.url("/waiting"))
	tab.Wait("Nothing that you can see waits for you.")
	if text := tab.Text(); strings.Contains(text, "What you asked others for") {
		t.Errorf("something else is asked for:\n%s", text)
	}
	none("review.waive", "the request is another")
}

// U37: the portal is painted within a second at 1.6 Mbit/s, from an empty cache, and
// nothing on it comes from elsewhere.
func TestBrowserFirstPaint(t *testing.T) {
	h, tab := come(t, 360, "clara", "Your onboarding")
	tab.Slow(1.6e6 / 8)
	tab.Go(h.url("/"))
	tab.Wait("Your onboarding")
	took, _ := strconv.ParseFloat(tab.Eval(`performance.getEntriesByName("first-contentful-paint")[0].startTime`), 64)
	if t.Logf("painted after %.0f ms", took); took == 0 || took > 1000 {
		t.Errorf("the first paint is after %.0f ms", took)
	}
	if got := tab.Eval(`performance.getEntriesByType("resource").filter(e => new URL(e.name).protocol !== "data:" && new URL(e.name).host !== location.host).length`); got != "0" {
		t.Errorf("%s requests go elsewhere", got)
	}
}

// X12, U46: the portal in each language of its palettes.
func TestBrowserLanguages(t *testing.T) {
	t.Parallel()
	h, tab := come(t, 360, "clara", "Your onboarding")
	for language, wants := range map[string][]string{
		"de-AT": {"Ihre Aufnahme", "27 von 31 Schritten erledigt (87", "Was wir außerdem brauchen (2)", "Zu erledigen", "Dokument senden", "Mit einem Menschen sprechen", "Nachricht schreiben"},
		"fr":    {"Votre entrée en relation", "27 étapes sur 31 faites", "À faire", "Envoyer un document", "Écrivez un message"},
		"es":    {"Su alta como cliente", "27 de 31 pasos hechos", "Pendiente", "Enviar un documento", "Escriba un mensaje"},
	} {
		tab.Speaks(language)
		tab.Go(h.url("/"))
		for _, want := range wants {
			tab.Wait(want)
		}
		if got := tab.Eval("document.documentElement.lang"); got != language[:2] {
			t.Errorf("the page says that it is %s", got)
		}
		if text := tab.Text(); regexp.MustCompile(`What we|Why we|Send a|Still needed|Talk to`).MatchString(text) {
			t.Errorf("%s: some of it is English:\n%s", language, text)
		}
		tab.Audit("home-" + language[:2])
		tab.Go(h.url("/do/client.provide-info?item=maria-schmidt-date-of-birth"))
		tab.Wait("1972")
		tab.Audit("form-" + language[:2])
	}
}

// U31, U38: questions one by one go on where they were left, after the server was killed
// and in a new login; an answer that does not fit is not kept; a draft stays.
func TestBrowserQuestions(t *testing.T) {
	t.Parallel()
	h, tab := come(t, 1280, "clara", "Your onboarding")
	tab.Type("#said", "half a sen")
	follow(tab, item("pierre"), "Answer question by question")
	tab.Wait("Question 1 of")
	first := tab.Eval(`document.querySelector("h1").textContent`)
	tab.Click("main form .btn")
	tab.Wait("There is a problem")
	answer(t, tab)
	tab.Wait("Question 2 of")
	second := tab.Eval(`document.querySelector("h1").textContent`)
	// Back to what was answered, which is there.
	follow(tab, "main", "Back")
	tab.Until(`document.querySelector("h1").textContent`, first)
	given := `[...document.querySelectorAll("main form input:not([type=hidden]), main textarea, main select")].map(e => e.value).join("")`
	if tab.Eval(given) == "" {
		t.Error("what was answered has to be typed once more")
	}
	everywhere(tab, "question-back")
	answer(t, tab)
	tab.Wait("Question 2 of")
	h.kill()
	h.start()
	tab.Click("main form .btn") // the login is a row: it lives on in the new process
	tab.Wait("There is a problem")
	h.signIn(tab, "clara")
	tab.Wait("Your onboarding")
	if got := tab.Eval(`document.querySelector("#said").value`); got != "half a sen" {
		t.Errorf("the draft is %q", got)
	}
	follow(tab, item("pierre"), "Answer question by question")
	tab.Wait("Question 2 of")
	if got := tab.Eval(`document.querySelector("h1").textContent`); got != second || second == first {
		t.Errorf("it goes on with %q, not with %q", got, second)
	}
	for n := 2; n < 12 && !strings.Contains(tab.Text(), "Check your answers"); n++ {
		answer(t, tab)
		tab.Wait("Your onboarding")
	}
	tab.Wait("Check your answers")
	tab.Wait("you can correct them until the bank has checked them")
	everywhere(tab, "check")
	follow(tab, "main", "Change")
	tab.Wait("Save and return to your answers")
	if got := tab.Eval(`document.querySelector("h1").textContent`); got != first {
		t.Errorf("Change leads to %q", got)
	}
	answer(t, tab)
	tab.Wait("Check your answers")
	if got := tab.Eval(`document.activeElement.closest("tr.now") ? "row" : document.activeElement.tagName`); got != "row" {
		t.Errorf("the focus is not on the row that was changed: %s", got)
	}
	follow(tab, "main", "Send these answers")
	tab.Wait("steps done")
	tab.Wait("Source of wealth: Pierre Dupont")
	if n := strings.Count(h.run("log", "show", "--as", "d.lang", "--verb", "client.provide-info", "--outcome", "ok"), "client.provide-info"); n != 1 {
		t.Errorf("the answers were sent %d times", n)
	}
}

// answer gives whatever the question at hand takes.
func answer(t *testing.T, tab *browsertest.Tab) {
	t.Helper()
	switch tab.Eval(`document.querySelector("input[type=radio]") ? "radio" : document.querySelector("select") ? "select" : document.querySelector("#value-y") ? "date" : "text"`) {
	case "radio":
		tab.Click("input[type=radio]")
	case "select":
		tab.Eval(`(() => { const s = document.querySelector("select"); s.selectedIndex = 1; return "" })()`)
	case "date":
		for css, text := range map[string]string{"#value": "1", "#value-m": "2", "#value-y": "1990"} {
			tab.Eval(fmt.Sprintf(`(() => { document.querySelector(%q).value = %q; return "" })()`, css, text))
		}
	default:
		text := "12"
		if tab.Eval(`document.querySelector("#value[inputmode]") !== null`) == "false" {
			text = "Inheritance from his father"
		}
		if example := regexp.MustCompile(`(?m)For example (.+)$`).FindStringSubmatch(tab.Text()); example != nil {
			text = example[1]
		}
		tab.Eval(fmt.Sprintf(`(() => { document.querySelector("#value").value = %q; return "" })()`, text))
	}
	was := tab.Eval("document.title")
	tab.Eval(`(() => { document.querySelector("main form .btn").click(); return "" })()`)
	for end := time.Now().Add(10 * time.Second); tab.Eval("document.title") == was && time.Now().Before(end); {
		time.Sleep(30 * time.Millisecond)
	}
}

// entry is the number of the latest entry of the journal of a verb, for d.lang, who
// keeps it.
func (h *house) entry(verb string) string {
	h.t.Helper()
	lines := strings.Split(strings.TrimSpace(h.run("log", "show", "--as", "d.lang", "--verb", verb)), "\n")
	number, _, _ := strings.Cut(lines[len(lines)-1], "\t")
	if number == "" {
		h.t.Fatalf("the journal tells of no %s", verb)
	}
	return number
}

// opened opens, for whoever keeps the journal, the entry of the latest note.
func (h *house) opened(tab *browsertest.Tab) {
	h.t.Helper()
	tab.Go(h.url("/journal/" + h.entry("client.add-note")))
	tab.Wait("••••••")
	if html := tab.Eval("document.documentElement.outerHTML"); strings.Contains(html, "register") {
		h.t.Error("what is masked is in the page before it is shown")
	}
	follow(tab, "main", "Show what is masked")
	tab.Wait("The register has it")
}

// U42, OB8: why something was done is told from what was recorded, on one page, to whom
// it was done for and to who keeps the journal; by the number that the journal has. What
// is personal in it is masked until it is opened, which the journal is told.
func TestBrowserWhy(t *testing.T) {
	t.Parallel()
	h, tab := come(t, 1280, "clara", "Your onboarding")
	tab.Go(h.url("/do/client.add-note?item=pierre-dupont-source-of-wealth"))
	tab.Type("#note", "The register has it")
	tab.Click("main form .btn")
	tab.Wait("Your note")
	follow(tab, ".banner", "How this came about")
	for _, text := range []string{"Receipt", "Tell us when", "Clara Weiss", "Client notes", "••••••"} {
		tab.Wait(text)
	}
	if text := tab.Text(); strings.Contains(text, "client.add-note") || strings.Contains(text, "Updated at") { // G54
		t.Errorf("the receipt is not in words:\n%s", text)
	}
	if html := tab.Eval("document.documentElement.outerHTML"); strings.Contains(html, "register") {
		t.Error("what is masked is in the page before it is shown")
	}
	tab.Audit("why-own")
	entry := strings.TrimPrefix(tab.Eval("location.pathname"), "/journal/")
	if entry != h.entry("client.add-note") {
		t.Errorf("the page is of entry %s", entry)
	}
	follow(tab, "main", "Show what is masked")
	tab.Wait("The register has it")
	if n := strings.Count(h.run("log", "show", "--as", "d.lang", "--verb", "verbatim.read-journal"), "verbatim.read-journal :entry "+entry); n != 1 {
		t.Errorf("that it was opened is told %d times", n)
	}
	// Two agree; the page names who asked and who agreed.
	h.signIn(tab, "t.weber")
	tab.Wait("What clients sent")
	id := h.waive(tab)
	h.signIn(tab, "a.nowak")
	tab.Wait("What clients sent")
	tab.Go(h.url("/waiting/" + id))
	follow(tab, "main", "Agree")
	tab.Wait("You agreed, and it is done.")
	waived := h.entry("review.waive")
	tab.Go(h.url("/journal/" + waived)) // it was done for another, and he keeps no journal
	tab.Wait("This could not be done")
	h.signIn(tab, "d.lang")
	tab.Wait("Waiting")
	tab.Go(h.url("/journal/" + waived))
	for _, text := range []string{"T. Weber (t.weber), analyst", "Agreed by", "A. Nowak, role analyst", "The rule", "A requirement is waived by two people", "review.yaml:", "Preview"} {
		tab.Wait(text)
	}
	tab.Audit("why-waived")
	h.opened(tab)
	tab.Go(h.url("/journal"))
	tab.Wait("verbatim.read-journal")
	tab.Wait("Clara Weiss")
	if n := strings.Count(h.run("log", "show", "--as", "d.lang", "--verb", "verbatim.read-journal", "--outcome", "ok"), "d.lang"); n == 0 {
		t.Error("d.lang opened an entry, and the journal tells nothing of it")
	}
}

// What is sensitive stands masked where answers are checked and where an analyst looks at
// them, and is not in the page; whoever may see it asks the server for it, which is in the
// journal each time.
func TestBrowserMasked(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	tab := browsertest.Open(t)
	tab.Size(1280, "light")
	const secret = "1972 0315 99999"
	masked := func() {
		t.Helper()
		tab.Wait("••••••")
		if strings.Contains(tab.Eval("document.documentElement.outerHTML"), secret) {
			t.Errorf("what is masked is in the page of %s", tab.Eval("location.href"))
		}
	}
	opened := func(verb string) int {
		t.Helper()
		return strings.Count(h.run("log", "show", "--as", "d.lang", "--verb", verb, "--outcome", "ok"), verb+" ")
	}
	h.signIn(tab, "kim")
	tab.Wait("Your onboarding")
	follow(tab, item("okafor"), "Answer question by question")
	for _, step := range [][2]string{{"Country", "Luxembourg"}, {"Whether they have a tax number there", ""}, {"Tax number", secret}, {"Since when", "skip"}} {
		tab.Wait(step[0])
		switch step[1] {
		case "":
			tab.Click("input[type=radio]")
			tab.Click("main form .btn")
		case "skip":
			follow(tab, "main", "Leave this question out")
		default:
			tab.Type("#value", step[1])
			tab.Click("main form .btn")
		}
		if step[0] == "Country" { // back, to an answer that does not fit
			tab.Wait("Whether they have")
			follow(tab, "main", "Back")
			tab.Wait("Country")
			tab.Until(`document.querySelector("#value").value`, "Luxembourg")
			tab.Paste("#value", "Atlantis")
			tab.Click("main form .btn")
			tab.Wait("There is a problem")
			tab.Paste("#value", "Luxembourg")
			tab.Click("main form .btn")
		}
	}
	tab.Wait("Check your answers")
	masked()
	everywhere(tab, "check-masked")
	if n := opened("client.collection-answers"); n != 0 {
		t.Errorf("it was opened %d times before anybody asked", n)
	}
	tab.Scripts(false)
	follow(tab, "main", "Show")
	tab.Wait(secret)
	tab.Scripts(true)
	tab.Audit("check-shown")
	if n := opened("client.collection-answers"); n != 1 {
		t.Errorf("that it was opened is told %d times", n)
	}
	tab.Go(h.url("/questions/james-okafor-tax-residence?field=tax_number"))
	tab.Wait("Tax number")
	if strings.Contains(tab.Eval("document.documentElement.outerHTML"), secret) {
		t.Error("a sensitive answer stands in the question to change it")
	}
	tab.Go(h.url("/questions/james-okafor-tax-residence"))
	masked()
	follow(tab, "main", "Send these answers")
	tab.Wait("Your 3 answers were sent.")
	if strings.Contains(tab.Eval("document.documentElement.outerHTML"), secret) {
		t.Error("the receipt holds what is sensitive")
	}
	h.signIn(tab, "t.weber")
	tab.Wait("What clients sent (1)")
	tab.Go(h.url("/p/1/item/james-okafor-tax-residence"))
	tab.Wait("The information that was sent for a request")
	masked()
	everywhere(tab, "item-masked")
	if n := opened("review.open"); n != 0 {
		t.Errorf("it was opened %d times before anybody asked", n)
	}
	follow(tab, "main", "Show")
	tab.Wait(secret)
	tab.Audit("item-shown")
	if n := opened("review.open"); n != 1 {
		t.Errorf("that it was opened is told %d times", n)
	}
	if text := h.run("log", "show", "--as", "d.lang"); strings.Contains(text, secret) {
		t.Error("the journal holds what is sensitive")
	}
	// The number of a card is masked before it is kept or shown, in a message and in a form.
	h.signIn(tab, "clara")
	tab.Wait("Your onboarding")
	tab.Type("#said", "My card is 4111 1111 1111 1111, is that of use?")
	tab.Press("\r")
	tab.Wait("I removed what looked like a card number.")
	tab.Wait("My card is ••••••, is that of use?")
	tab.Go(h.url("/do/client.add-note?item=pierre-dupont-source-of-wealth"))
	tab.Type("#note", "Paid with 4111-1111-1111-1111")
	tab.Click("main form .btn")
	tab.Wait("Paid with ••••••")
	// Eight digits: four would be found in a digest of the journal now and then.
	if text := tab.Eval("document.documentElement.outerHTML") + h.run("log", "show", "--as", "d.lang", "--json"); regexp.MustCompile(`1111[ -]?1111`).MatchString(text) {
		t.Error("the number of a card is kept")
	}
	// Who may not see it gets what whoever asks for nothing gets.
	h.signIn(tab, "jonas")
	tab.Wait("Your onboarding")
	for _, path := range []string{"/questions/james-okafor-tax-residence", "/p/1/item/james-okafor-tax-residence", "/do/review.open?item=james-okafor-tax-residence"} {
		if got := tab.Eval(fmt.Sprintf(`(() => { const x = new XMLHttpRequest(); x.open("POST", %q, false); x.setRequestHeader("Content-Type", "application/x-www-form-urlencoded"); x.send("show=tax_number&key=k"); return x.status + x.responseText })()`, path)); !strings.HasPrefix(got, "404") || strings.Contains(got, secret) {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// OB8: whoever must agree is shown, when they ask for it, what the person wrote that led to
// the question. Until then it is not in the page, and the journal is told each time.
func TestBrowserWords(t *testing.T) {
	t.Parallel()
	h, tab := come(t, 1280, "t.weber", "What clients sent")
	const wrote = "Waive Pierre Dupont's source of wealth, since the register already holds all of it"
	tab.Type("#said", wrote)
	tab.Press("\r")
	tab.Until(`[...document.querySelectorAll("#talk button")].some(b => b.textContent.trim() === "Yes")`, "true")
	follow(tab, "#talk", "Yes")
	tab.Wait("has to agree as well")
	tab.Go(h.url("/waiting"))
	tab.Wait("What you asked others for")
	card := tab.Eval(`document.querySelector("[data-row] a").getAttribute("href")`)
	tab.Go(h.url(card))
	tab.Wait("Waits for somebody with this role")
	show := func() string {
		return tab.Eval(fmt.Sprintf(`(() => { const x = new XMLHttpRequest(); x.open("POST", %q, false); x.setRequestHeader("Content-Type", "application/x-www-form-urlencoded"); x.send("decide=show"); return x.status + x.responseText })()`, card))
	}
	masked := func() {
		t.Helper()
		if text := tab.Eval("document.documentElement.outerHTML"); strings.Contains(text, "since the register") {
			t.Errorf("what was written is in the page:\n%s", tab.Text())
		}
	}
	opened := func() int {
		t.Helper()
		return strings.Count(h.run("log", "show", "--as", "d.lang", "--verb", "verbatim.read-words", "--outcome", "ok"), "verbatim.read-words ")
	}
	masked()
	for _, who := range []string{"", "jonas", "d.lang"} { // the asker, a client, and who keeps the journal
		if who != "" {
			h.signIn(tab, who)
			tab.Wait("Sign out")
		}
		if got := show(); !strings.HasPrefix(got, "404") || strings.Contains(got, "since the register") {
			t.Errorf("%s is answered %s", who, got)
		}
	}
	h.signIn(tab, "a.nowak")
	tab.Wait("What clients sent")
	tab.Go(h.url(card))
	tab.Wait("In their words")
	tab.Wait("••••••")
	masked()
	everywhere(tab, "decision-words")
	if n := opened(); n != 0 {
		t.Errorf("it was read %d times before anybody asked", n)
	}
	tab.Scripts(false)
	follow(tab, "main", "Show their words")
	tab.Wait(wrote)
	tab.Scripts(true)
	tab.Audit("decision-words-shown")
	if n := opened(); n != 1 {
		t.Errorf("that it was read is told %d times", n)
	}
	follow(tab, "main", "Agree")
	tab.Wait("You agreed, and it is done.")
	if got := show(); !strings.HasPrefix(got, "404") {
		t.Errorf("what was decided is still shown: %s", got)
	}
}

// U40, U41: several that wait are selected and shown together, and each is decided by
// itself; who else looks at one is told.
func TestBrowserTogether(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	asks, decides := browsertest.Open(t), browsertest.Open(t)
	asks.Size(1280, "light")
	decides.Size(1280, "light")
	h.signIn(decides, "a.nowak")
	decides.Wait("What clients sent")
	decides.Go(h.url("/waiting"))
	decides.Wait("Nothing that you can see waits for you.")
	h.signIn(asks, "t.weber")
	asks.Wait("What clients sent")
	h.waive(asks)
	h.waiveOther(asks)
	// Who looks at another tab and comes back sees what came meanwhile; who has begun to
	// choose is left alone.
	back := func() {
		decides.Eval(`(() => { for (const hidden of [true, false]) { Object.defineProperty(document, "hidden", {configurable: true, get: () => hidden}); document.dispatchEvent(new Event("visibilitychange")) } return "" })()`)
	}
	back()
	decides.Wait("Waiting for you (2)")
	decides.Press("jx")
	back()
	time.Sleep(300 * time.Millisecond)
	if got := decides.Eval(`document.querySelectorAll("[data-row] input:checked").length`); got != "1" {
		t.Errorf("%s of what was selected is selected", got)
	}
	decides.Go(h.url("/waiting"))
	everywhere(decides, "queue-two")
	decides.Press("jxjx")
	if got := decides.Eval(`document.querySelectorAll("[data-row] input:checked").length + location.pathname`); got != "2/waiting" {
		t.Errorf("j x j x selects %s", got)
	}
	decides.Scripts(false)
	follow(decides, "main", "Show the selected together")
	decides.Wait("Decide on these 2 together")
	decides.Scripts(true)
	everywhere(decides, "decision-together")
	second := strings.TrimPrefix(decides.Eval(`document.querySelectorAll("main form")[1].getAttribute("action")`), "/waiting/")
	decides.Eval(`(() => { document.querySelectorAll("main form")[1].querySelector("button").click(); return "" })()`)
	decides.Wait("You agreed, and it is done.")
	decides.Go(h.url("/waiting"))
	decides.Wait("Waiting for you (1)")
	asks.Go(h.url("/waiting/" + second))
	asks.Wait("Agreed to and done: A. Nowak")
	asks.Wait("A. Nowak looked at this in the last five minutes.")
	asks.Audit("decision-present")
	if n := strings.Count(h.run("log", "show", "--as", "d.lang", "--verb", "review.waive", "--outcome", "ok"), "review.waive"); n != 1 {
		t.Errorf("%d were done, one was agreed to", n)
	}
	// What is another's is nobody's to see, one by one or together.
	h.signIn(asks, "jonas")
	asks.Wait("Your onboarding")
	asks.Go(h.url("/waiting?show=" + second))
	asks.Wait("There is nothing here that you can see.")
}

// A palette may want an agreement from somebody who has just signed in: others sign in
// again, come back to the card, and agree to it then. (SAFE-H6)
func TestBrowserSignsInAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(h *house) {
		own := filepath.Join(h.dir, "palettes")
		if err := os.CopyFS(own, os.DirFS(filepath.Join(root, "verbs/palettes/bank"))); err != nil {
			t.Fatal(err)
		}
		h.edit("palettes/review.yaml", "- {by: analyst, expires: 3d,", "- {by: analyst, signed-in: 8s, expires: 3d,")
		h.env = []string{"VERBATIM_PALETTES=" + own}
	})
	tab := browsertest.Open(t)
	tab.Size(1280, "light")
	h.signIn(tab, "a.nowak")
	tab.Wait("What clients sent")
	began := time.Now()
	asks := browsertest.Open(t)
	asks.Size(1280, "light")
	h.signIn(asks, "t.weber")
	asks.Wait("What clients sent")
	card := "/waiting/" + h.waive(asks)
	tab.Go(h.url(card))
	tab.Wait("asked by T. Weber")
	time.Sleep(time.Until(began.Add(9 * time.Second)))
	follow(tab, "main", "Agree")
	tab.Wait("Sign in")
	if got := tab.Eval(`new URL(location.href).searchParams.get("to")`); got != card {
		t.Errorf("who signs in again goes on to %s", got)
	}
	if text := h.run("log", "show", "--as", "d.lang", "--verb", "review.waive", "--outcome", "ok"); text != "" {
		t.Errorf("it was done:\n%s", text)
	}
	h.kill()
	h.start() // with new links
	h.signIn(tab, "a.nowak")
	tab.Wait("What clients sent")
	tab.Go(h.url(card))
	follow(tab, "main", "Agree")
	tab.Wait("You agreed, and it is done.")
}

// What could not be carried out stays with why, to be tried again or dropped by who looks
// after jobs.
func TestBrowserJobs(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(h *house) {
		nowhere := filepath.Join(h.dir, "nowhere.json")
		if err := os.WriteFile(nowhere, []byte(`{"channels": {}, "routes": {}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		h.env = []string{"VERBATIM_NOTIFY=" + nowhere}
	})
	tab := browsertest.Open(t)
	tab.Size(1280, "light")
	h.signIn(tab, "clara")
	tab.Wait("Your onboarding")
	tab.Go(h.url("/do/client.request-clarification?item=pierre-dupont-source-of-wealth"))
	tab.Type("#question", "Which year?")
	tab.Click("main form .btn")
	tab.Wait("The analyst has your question")
	h.signIn(tab, "otto")
	tab.Wait("Jobs (")
	for end := time.Now().Add(15 * time.Second); !strings.Contains(tab.Text(), "no-route") && time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		tab.Go(h.url("/"))
	}
	tab.Wait("Jobs (1)")
	tab.Wait("nothing says where notices to")
	tab.Audit("jobs-one")
	follow(tab, "[data-row]", "Try again")
	tab.Click("main form .btn")
	tab.Wait("Jobs (1)")
	follow(tab, "[data-row]", "Drop")
	tab.Click("main form .btn")
	tab.Wait("Shall this be done?")
	tab.Audit("card-drop")
	follow(tab, "main", "Yes, do it")
	tab.Until(`/Jobs .0.|Something has changed/.test(document.body.innerText)`, "true")
	if strings.Contains(tab.Text(), "Something has changed since.") { // it was tried in between
		follow(tab, "main", "Yes, do it")
	}
	tab.Wait("Jobs (0)")
	if text := h.run("log", "show", "--as", "d.lang"); !strings.Contains(text, "system.retry-job") || !strings.Contains(text, "system.drop-job") {
		t.Errorf("the journal tells of\n%s", text)
	}
}

// U40, U41, U45, OB10: what waits for somebody else is shown whole, decided once, and
// refused where it moved; keys move and never act; a call can be tried without being sent.
func TestBrowserConsole(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	asks, decides := browsertest.Open(t), browsertest.Open(t)
	asks.Size(1280, "light")
	decides.Size(1280, "dark")
	h.signIn(asks, "t.weber")
	asks.Wait("What clients sent")
	id := h.waive(asks)
	asks.Go(h.url("/waiting/" + id))
	asks.Wait("Waits for somebody with this role")
	if asks.Eval(`[...document.querySelectorAll("main form button")].map(b => b.value) + ""`) != "withdraw" {
		t.Error("whoever asks may decide")
	}
	h.signIn(decides, "a.nowak")
	decides.Wait("What clients sent")
	decides.Go(h.url("/waiting/" + id))
	for _, text := range []string{"review.waive", "<b>all of it</b>", "asked by T. Weber", "A requirement is waived by two people", "review.yaml:", "It is good only while the rows are as shown."} {
		decides.Wait(text)
	}
	if decides.Eval(`document.querySelectorAll("main b").length`) != "0" {
		t.Error("markup in a call became more than text")
	}
	everywhere(decides, "decision")
	decides.Type("#reason", "because")
	decides.Press("\r")
	decides.Press("of it")
	if got := decides.Eval(`document.querySelector("#reason").value`); got != "because\nof it" {
		t.Errorf("Enter in the text of a card does something else: %q", got)
	}
	follow(decides, "main", "Agree")
	decides.Wait("You agreed, and it is done.")
	decides.Audit("agreed")
	// Again, from a page that is still open.
	asks.Go(h.url("/waiting/" + id))
	asks.Wait("Agreed to and done: A. Nowak")
	// Somebody else was faster: what is agreed to is what was asked for, or nothing.
	id = h.waiveOther(asks)
	client := browsertest.Open(t)
	client.Size(360, "light")
	h.signIn(client, "clara")
	client.Wait("Your onboarding")
	decides.Go(h.url("/waiting/" + id))
	decides.Wait("It is good only while the rows are as shown.")
	client.Go(h.url("/do/client.add-note?item=thomas-muller-identity"))
	client.Type("#note", "On its way")
	client.Click("main form .btn")
	client.Wait("Your note")
	asks.Go(h.url("/waiting/" + id))
	asks.Wait("What would happen now is not what was asked for.")
	asks.Audit("stale")
	follow(decides, "main", "Agree")
	decides.Wait("has to be asked for again")
	if decides.Eval(`document.querySelectorAll("main form").length`) != "0" {
		t.Error("what moved can still be agreed to")
	}
	// Keys move, and do nothing in fields.
	decides.Go(h.url("/verbs"))
	decides.Wait("review.accept")
	decides.Press("j")
	one := decides.Eval(`document.activeElement.textContent`)
	decides.Press("j")
	two := decides.Eval(`document.activeElement.textContent`)
	decides.Press("k")
	if again := decides.Eval(`document.activeElement.textContent`); one == two || again != one || one == "" {
		t.Errorf("j, j, k go to %q, %q, %q", one, two, again)
	}
	decides.Press("/")
	decides.Press("jx")
	if got := decides.Eval(`document.activeElement.value`); !strings.HasSuffix(got, "jx") {
		t.Errorf("a key in a field is a letter: %q", got)
	}
	decides.Go(h.url("/verbs?q=waive"))
	decides.Wait("Verbs: 1")
	decides.Go(h.url("/do/review.waiting?try=1"))
	decides.Click("main form .btn")
	decides.Wait("review.waiting")
	decides.Wait("Send this call")
	decides.Audit("try")
	// The keys can be switched off.
	follow(decides, "footer", "Keys")
	follow(decides, "footer", "Switch the keys off")
	decides.Until(`"keys" in document.body.dataset`, "false")
	// What is somebody else's is not there, whether there is such a thing or not.
	h.signIn(asks, "jonas")
	asks.Wait("Your onboarding")
	for _, path := range []string{"/p/1/item/thomas-muller-identity", "/p/1/item/thomas-muller-identify", "/do/client.add-note?item=thomas-muller-identity", "/do/client.add-note?item=thomas-muller-identify", "/questions/pierre-dupont-source-of-wealth", "/questions/nobody"} {
		asks.Go(h.url(path))
		asks.Wait("There is nothing here that you can see.")
	}
	// A client has none of it.
	for path, wants := range map[string]string{"/journal": "This could not be done", "/waiting/" + id: "There is nothing here that you can see.", "/verbs/review.waive": "There is nothing here that you can see.", "/do/review.waive": "There is nothing here that you can see."} {
		client.Go(h.url(path))
		client.Wait(wants)
	}
}
