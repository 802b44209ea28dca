package main

// The cases of testdata/said/flows-seen.jsonl and letters.jsonl were written, like this driver, by
// somebody who had read the guides and the palettes and none of the program's code. They
// judge the built program from outside, as people use it: pages over HTTP, without
// scripts, and messages by WhatsApp and mail. See testdata/said/README.md.

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"math/big"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/mail"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	_ "modernc.org/sqlite"
)

var (
	outsideFlowsFile   = flag.String("outside-flows", "testdata/said/flows-seen.jsonl", "the page flows to judge")
	outsideLettersFile = flag.String("outside-letters", "testdata/said/letters-seen.jsonl", "the mails and messages to judge")
	outsideOnly        = flag.String("outside-only", "", "judge only the cases whose id matches")
	outsideTrace       = flag.Bool("outside-trace", false, "print what each step shows")
	outsideEvery       = flag.Int("outside-every", 12, "judge one case in so many, or those of -outside-only")
	outsideStrict      = flag.Bool("outside-strict", false, "fail where a case is not right")
)

// An outsideFlow is what one person does with pages, and what must stand in the
// store afterwards. Each text of Stored and Unstored is compared with the lines that
// outsideDifference makes; where it has several parts with " & " between them, all of them must
// stand in one line; one that begins with "2x " in two lines. "*" in Unstored is any line at all.
type outsideFlow struct {
	ID       string           `json:"id"`
	Lang     string           `json:"lang"`
	As       string           `json:"as"`
	Kind     string           `json:"kind"` // job, yes (an agreement), noyes (none), and others
	Steps    []map[string]any `json:"steps"`
	Stored   []string         `json:"stored"`
	Unstored []string         `json:"unstored"`
	Sees     []string         `json:"sees"`
	SeesNot  []string         `json:"sees_not"`
	Why      string           `json:"why"`
}

// outsideBuilt is the program that is judged.
func outsideBuilt(t *testing.T) string {
	built := os.Getenv("TEST_PROGRAM")
	if built == "" {
		t.Skip("TEST_PROGRAM names no program; build one and set it: go build -o bin/verbatim ./cmd/verbatim")
	}
	return built
}

// outsideRun runs the program and returns what it says.
func outsideRun(t *testing.T, dir string, env []string, built string, args ...string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, built, args...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("verbatim %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func outsideEnv(palettes, store string) []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "VERBATIM_") && !strings.HasPrefix(e, "XDG_STATE_HOME=") {
			env = append(env, e)
		}
	}
	return append(env, "VERBATIM_PALETTES="+palettes, "VERBATIM_STORE="+store, "VERBATIM_SCAN=none", "NO_COLOR=1",
		"XDG_STATE_HOME="+filepath.Join(filepath.Dir(store), "state"))
}

// outsideTemplate makes the store that flows of clients begin with, and the one for staff, in
// which Clara sent a passport, explained a source of wealth and asked something.
func outsideTemplate(t *testing.T, built string) (clients, staff string) {
	bank, err := filepath.Abs("../../examples/client")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	clients, staff = filepath.Join(dir, "clients", "bank.db"), filepath.Join(dir, "staff", "bank.db")
	for _, store := range []string{clients, staff} {
		if err := os.Mkdir(filepath.Dir(store), 0o700); err != nil {
			t.Fatal(err)
		}
		env := outsideEnv("bank", store)
		outsideRun(t, bank, env, built, "migrate", "--data", "bank.sql", "--data", "people.sql")
		if store == clients {
			continue
		}
		out := outsideRun(t, bank, env, built, "upload", "--as", "clara", "--scan", "none", "passport.pdf")
		reference := regexp.MustCompile(`upload://[a-z0-9]+`).FindString(out)
		script := filepath.Join(dir, "given.dsl")
		lines := `client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference "` + reference + `"
client.provide-info :request-id @pierre-dupont-source-of-wealth :info-type SOURCE_OF_WEALTH :collected-data {:main_source "BUSINESS" :business_name "Dupont Logistics SA" :description "Founded a logistics company in 1998 and sold it in 2015." :since_year 1998 :documented true}
client.request-clarification :request-id @maria-schmidt-date-of-birth :question "Does the day have to stand in a document?"
`
		if err := os.WriteFile(script, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		outsideRun(t, bank, env, built, "run", "--as", "clara", "--yes", script)
	}
	return clients, staff
}

// outsideCopy copies a store that nobody writes to, with its folder.
func outsideCopy(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(filepath.Dir(to), os.DirFS(filepath.Dir(from))); err != nil {
		t.Fatal(err)
	}
}

// outsideNames are what the seeded rows are called in the lines of a difference.
var outsideNames = strings.NewReplacer(
	"000004e9-0000-4000-8000-000000000001", "@pierre-dupont-source-of-wealth",
	"000004e9-0000-4000-8000-000000000002", "@thomas-muller-identity",
	"000004e9-0000-4000-8000-000000000003", "@maria-schmidt-date-of-birth",
	"000004e9-0000-4000-8000-000000000004", "@clara-weiss-identity",
	"000004e9-0000-4000-8000-000000000005", "@hidden-address",
	"000004e9-0000-4000-8000-000000000006", "@jonas-lindqvist-source-of-wealth",
	"000004e9-0000-4000-8000-000000000007", "@james-okafor-tax-residence",
	"0000000c-0000-4000-8000-000000000001", "@allianz-reinsurance-ag",
	"0000000c-0000-4000-8000-000000000002", "@nordlicht",
	"0000009a-0000-4000-8000-000000000002", "@tax-return-2021",
	"0000009a-0000-4000-8000-000000000003", "@tax-return-2022",
	"0000009a-0000-4000-8000-000000000004", "@tax-return-2023",
)

// outsideRows reads every row that is not the program's own, by table and key, and what
// waits for somebody's agreement.
func outsideRows(t *testing.T, store string) map[string]map[string]string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+store+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	names, err := db.Query("SELECT name FROM sqlite_master WHERE type = 'table'")
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for names.Next() {
		var name string
		if err := names.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if name == "verbatim_confirmations" || !strings.HasPrefix(name, "verbatim_") && !strings.HasPrefix(name, "sqlite_") && !strings.HasPrefix(name, "system_") && !strings.HasPrefix(name, "channel_") {
			tables = append(tables, name)
		}
	}
	names.Close()
	all := map[string]map[string]string{}
	for _, table := range tables {
		rows, err := db.Query(`SELECT * FROM "` + table + `"`)
		if err != nil {
			continue // a table of an index of words, which is nobody's data
		}
		columns, _ := rows.Columns()
		for rows.Next() {
			cells := make([]any, len(columns))
			into := make([]any, len(columns))
			for i := range cells {
				into[i] = &cells[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			row := map[string]string{}
			for i, name := range columns {
				if cells[i] == nil {
					continue
				}
				if b, ok := cells[i].([]byte); ok {
					row[name] = string(b)
				} else {
					row[name] = fmt.Sprint(cells[i])
				}
			}
			all[strings.TrimPrefix(table, "kyc_")+" "+outsideNames.Replace(fmt.Sprint(cells[0]))] = row
		}
		rows.Close()
	}
	return all
}

// outsideDifference is a line for each row that is new, changed or gone: "+ reminders
// request=@thomas-muller-identity commitment=…", "~ outstanding_requests
// @thomas-muller-identity client_notes=…", with what changed in it.
func outsideDifference(before, after map[string]map[string]string) []string {
	var lines []string
	for key, row := range after {
		old, was := before[key]
		table, name, _ := strings.Cut(key, " ")
		var cells []string
		for column, value := range row {
			if was && old[column] == value || column == "updated_at" && was {
				continue
			}
			cells = append(cells, column+"="+outsideNames.Replace(value))
		}
		for column := range old {
			if _, is := row[column]; !is {
				cells = append(cells, column+"=(empty)")
			}
		}
		sort.Strings(cells)
		switch {
		case !was:
			lines = append(lines, "+ "+table+" "+strings.Join(cells, " "))
		case len(cells) > 0:
			lines = append(lines, "~ "+table+" "+name+" "+strings.Join(cells, " "))
		}
	}
	for key := range before {
		if _, is := after[key]; !is {
			lines = append(lines, "- "+key)
		}
	}
	sort.Strings(lines)
	return lines
}

// outsideStands says whether a text of a case stands in one of the lines, or in two where it
// begins with "2x ". What only waits for an agreement counts where the text names it.
func outsideStands(lines []string, text string) bool {
	want := 1
	if rest, ok := strings.CutPrefix(text, "2x "); ok {
		want, text = 2, rest
	}
	stand := 0
	for _, line := range lines {
		all := strings.HasPrefix(text, "verbatim_confirmations") == strings.Contains(line[:min(len(line), 25)], "verbatim_confirmations")
		for part := range strings.SplitSeq(text, " & ") {
			all = all && (text == "*" || strings.Contains(line, part))
		}
		if all {
			stand++
		}
	}
	return stand >= want
}

// An outsideServer is the program, serving one store.
type outsideServer struct {
	cmd  *exec.Cmd
	base string
	link map[string]string
	logs bytes.Buffer
}

func outsidePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func outsideServe(t *testing.T, built, dir string, env []string, people ...string) *outsideServer {
	t.Helper()
	s := &outsideServer{base: "http://localhost:" + outsidePort(t), link: map[string]string{}}
	args := []string{"serve", "--listen", strings.TrimPrefix(s.base, "http://"), "--log", "error"}
	for _, name := range people {
		args = append(args, "--sign-in", name)
	}
	s.cmd = exec.Command(built, args...)
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = dir, env, &s.logs
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { s.cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if f := strings.Fields(lines.Text()); len(f) == 4 && f[0] == "sign" {
			s.link[f[2]] = f[3]
		}
		if len(s.link) == len(people) && (len(people) > 0 || strings.HasPrefix(lines.Text(), "serving")) {
			break
		}
	}
	late.Stop()
	if len(s.link) != len(people) {
		t.Fatalf("the server does not begin: %s", &s.logs)
	}
	go io.Copy(io.Discard, out)
	return s
}

func (s *outsideServer) stop() {
	s.cmd.Process.Signal(os.Interrupt)
	done := make(chan struct{})
	go func() { s.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(15 * time.Second):
		s.cmd.Process.Kill()
		<-done
	}
}

// An outsidePage is what a browser without scripts shows, with what was filled in.
type outsidePage struct {
	at     *url.URL
	root   *html.Node
	status int
	filled map[*html.Node][]string // by field; a nil list is an empty field
	files  map[*html.Node]string
}

// An outsideBrowser is one person with tabs.
type outsideBrowser struct {
	base string
	http *http.Client
	tabs map[int][]*outsidePage // the pages of each tab, the latest last
	tab  int
	seen strings.Builder // every text that was shown
}

func (b *outsideBrowser) page() *outsidePage {
	pages := b.tabs[b.tab]
	return pages[len(pages)-1]
}

func (b *outsideBrowser) do(req *http.Request) error {
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	req.Header.Set("Accept", "text/html")
	if req.Method == http.MethodPost {
		req.Header.Set("Origin", b.base)
	}
	res, err := b.http.Do(req.WithContext(ctx))
	if err != nil {
		return err
	}
	defer res.Body.Close()
	root, err := html.Parse(io.LimitReader(res.Body, 8<<20))
	if err != nil {
		return err
	}
	p := &outsidePage{at: res.Request.URL, root: root, status: res.StatusCode, filled: map[*html.Node][]string{}, files: map[*html.Node]string{}}
	b.tabs[b.tab] = append(b.tabs[b.tab], p)
	b.seen.WriteString(outsideText(root) + "\n")
	return nil
}

func (b *outsideBrowser) open(where string) error {
	var at *url.URL
	var err error
	if strings.HasPrefix(where, "/") || strings.HasPrefix(where, "http") {
		at, err = url.Parse(where)
		if err != nil {
			return err
		}
		if !at.IsAbs() {
			at, _ = url.Parse(b.base + where)
		}
	} else {
		a, err := outsideFind(b.page().root, where, "a link", func(n *html.Node) bool { return n.DataAtom == atom.A && outsideAttr(n, "href") != "" })
		if err != nil {
			return err
		}
		at, err = b.page().at.Parse(outsideAttr(a, "href"))
		if err != nil {
			return err
		}
	}
	req, err := http.NewRequest(http.MethodGet, at.String(), nil)
	if err != nil {
		return err
	}
	return b.do(req)
}

func outsideAttr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func outsideHas(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// outsideText is what stands there to read, with single spaces.
func outsideText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && d.Parent != nil && d.Parent.DataAtom != atom.Script && d.Parent.DataAtom != atom.Style && d.Parent.DataAtom != atom.Title {
			b.WriteString(d.Data)
		} else if d.Type == html.ElementNode && d.DataAtom != atom.Span && d.DataAtom != atom.Strong && d.DataAtom != atom.A {
			b.WriteString(" ")
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// outsideFind is the only element with this text: the very text, or else the only one that
// begins with it, or else the only one that has it. Of several buttons it is the last, which
// is that of the newest question.
func outsideFind(root *html.Node, text, what string, is func(*html.Node) bool) (*html.Node, error) {
	ways := []func(string) bool{
		func(s string) bool { return s == text },
		func(s string) bool { return strings.HasPrefix(s, text) },
		func(s string) bool { return strings.Contains(s, text) },
	}
	var all []string
	for _, way := range ways {
		var found []*html.Node
		all = nil
		for n := range root.Descendants() {
			if n.Type == html.ElementNode && is(n) {
				all = append(all, outsideText(n))
				if way(outsideText(n)) {
					found = append(found, n)
				}
			}
		}
		if len(found) == 1 || len(found) > 1 && what == "a button" {
			return found[len(found)-1], nil
		}
		if len(found) > 1 {
			return nil, fmt.Errorf("%d of %s are called %q", len(found), what, text)
		}
	}
	return nil, fmt.Errorf("there is not %s called %q; there are %q", what, text, all)
}

func outsideForm(n *html.Node) *html.Node {
	for ; n != nil; n = n.Parent {
		if n.DataAtom == atom.Form {
			return n
		}
	}
	return nil
}

func outsideIsField(n *html.Node) bool {
	return n.DataAtom == atom.Textarea || n.DataAtom == atom.Select || n.DataAtom == atom.Input && !slices.Contains([]string{"hidden", "submit", "button"}, outsideAttr(n, "type"))
}

// field finds a field by its label or, in a group, by the label after the legend:
// "Date of birth / Day".
func (p *outsidePage) field(label string) (*html.Node, error) {
	root := p.root
	if group, part, ok := strings.Cut(label, " / "); ok {
		legend, err := outsideFind(root, group, "a legend", func(n *html.Node) bool { return n.DataAtom == atom.Legend })
		if err != nil {
			return nil, err
		}
		root, label = legend.Parent, part
	}
	l, err := outsideFind(root, label, "a label", func(n *html.Node) bool { return n.DataAtom == atom.Label })
	if err != nil {
		return nil, err
	}
	if id := outsideAttr(l, "for"); id != "" {
		for n := range p.root.Descendants() {
			if n.Type == html.ElementNode && outsideAttr(n, "id") == id {
				return n, nil
			}
		}
	}
	for n := range l.Descendants() {
		if outsideIsField(n) {
			return n, nil
		}
	}
	return nil, fmt.Errorf("the label %q has no field", label)
}

func (p *outsidePage) fill(label, value string) error {
	n, err := p.field(label)
	if err != nil {
		return err
	}
	switch typ := outsideAttr(n, "type"); {
	case n.DataAtom == atom.Select:
		o, err := outsideFind(n, value, "an option", func(n *html.Node) bool { return n.DataAtom == atom.Option })
		if err != nil {
			return err
		}
		v := outsideAttr(o, "value")
		if !outsideHas(o, "value") {
			v = outsideText(o)
		}
		p.filled[n] = []string{v}
	case typ == "radio":
		for other := range outsideForm(n).Descendants() {
			if outsideAttr(other, "type") == "radio" && outsideAttr(other, "name") == outsideAttr(n, "name") {
				p.filled[other] = nil
			}
		}
		p.filled[n] = []string{outsideAttr(n, "value")}
	case typ == "checkbox":
		p.filled[n] = nil
		if value != "" {
			v := outsideAttr(n, "value")
			if v == "" {
				v = "on"
			}
			p.filled[n] = []string{v}
		}
	case typ == "file":
		p.files[n] = value
	default:
		p.filled[n] = []string{value}
	}
	return nil
}

// values are what a browser would send of a form.
func (p *outsidePage) values(form, button *html.Node) (url.Values, map[string]string) {
	v, files := url.Values{}, map[string]string{}
	for n := range form.Descendants() {
		name := outsideAttr(n, "name")
		if n.Type != html.ElementNode || name == "" || outsideHas(n, "disabled") {
			continue
		}
		filled, is := p.filled[n]
		typ := outsideAttr(n, "type")
		switch {
		case n.DataAtom == atom.Button:
			if n == button {
				v.Add(name, outsideAttr(n, "value"))
			}
		case typ == "file":
			files[name] = p.files[n]
		case is:
			for _, s := range filled {
				v.Add(name, s)
			}
		case n.DataAtom == atom.Textarea:
			s := ""
			if n.FirstChild != nil {
				s = strings.TrimPrefix(n.FirstChild.Data, "\n")
			}
			v.Add(name, s)
		case n.DataAtom == atom.Select:
			var first, chosen *html.Node
			for o := range n.Descendants() {
				if o.DataAtom == atom.Option {
					if first == nil {
						first = o
					}
					if outsideHas(o, "selected") {
						chosen = o
					}
				}
			}
			if chosen == nil {
				chosen = first
			}
			if chosen != nil {
				s := outsideAttr(chosen, "value")
				if !outsideHas(chosen, "value") {
					s = outsideText(chosen)
				}
				v.Add(name, s)
			}
		case typ == "radio" || typ == "checkbox":
			if outsideHas(n, "checked") {
				s := outsideAttr(n, "value")
				if s == "" {
					s = "on"
				}
				v.Add(name, s)
			}
		case n.DataAtom == atom.Input && typ != "submit" && typ != "button":
			v.Add(name, outsideAttr(n, "value"))
		}
	}
	return v, files
}

func (b *outsideBrowser) submit(form, button *html.Node) error {
	p := b.page()
	v, files := p.values(form, button)
	action := outsideAttr(form, "action")
	if button != nil && outsideAttr(button, "formaction") != "" {
		action = outsideAttr(button, "formaction")
	}
	at, err := p.at.Parse(action)
	if err != nil {
		return err
	}
	if outsideAttr(form, "method") != "post" {
		at.RawQuery = v.Encode()
		req, err := http.NewRequest(http.MethodGet, at.String(), nil)
		if err != nil {
			return err
		}
		return b.do(req)
	}
	if outsideAttr(form, "enctype") != "multipart/form-data" {
		req, err := http.NewRequest(http.MethodPost, at.String(), strings.NewReader(v.Encode()))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		return b.do(req)
	}
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, values := range v {
		for _, s := range values {
			w.WriteField(name, s)
		}
	}
	for name, file := range files {
		part, _ := w.CreateFormFile(name, filepath.Base(file))
		if file != "" {
			data, err := os.ReadFile(filepath.Join("../../examples/client", file))
			if err != nil {
				return err
			}
			part.Write(data)
		}
	}
	w.Close()
	req, err := http.NewRequest(http.MethodPost, at.String(), &body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", w.FormDataContentType())
	return b.do(req)
}

func (b *outsideBrowser) press(text string) error {
	n, err := outsideFind(b.page().root, text, "a button", func(n *html.Node) bool {
		return n.DataAtom == atom.Button && outsideForm(n) != nil && outsideAttr(n, "type") != "button"
	})
	if err != nil {
		return err
	}
	return b.submit(outsideForm(n), n)
}

func (b *outsideBrowser) say(text string) error {
	for n := range b.page().root.Descendants() {
		if n.DataAtom == atom.Textarea && outsideAttr(n, "name") == "said" {
			b.page().filled[n] = []string{text}
			return b.submit(outsideForm(n), nil)
		}
	}
	return fmt.Errorf("this page has no box for a message")
}

// step does one step of a flow.
func (b *outsideBrowser) step(step map[string]any) error {
	for what, with := range step {
		switch what {
		case "open":
			return b.open(with.(string))
		case "press":
			return b.press(with.(string))
		case "say":
			return b.say(with.(string))
		case "fill":
			for label, value := range with.(map[string]any) {
				if err := b.page().fill(label, value.(string)); err != nil {
					return err
				}
			}
			return nil
		case "tab":
			b.tab = int(with.(float64))
			if len(b.tabs[b.tab]) == 0 {
				return b.open("/")
			}
			return nil
		case "back":
			pages := b.tabs[b.tab]
			if len(pages) < 2 {
				return fmt.Errorf("there is no page to go back to")
			}
			b.tabs[b.tab] = pages[:len(pages)-1]
			return nil
		default:
			return fmt.Errorf("nobody knows the step %q", what)
		}
	}
	return fmt.Errorf("a step says nothing")
}

// outsideSignIn signs somebody in by the link that the server printed.
func outsideSignIn(s *outsideServer, name string) (*outsideBrowser, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	b := &outsideBrowser{base: s.base, http: &http.Client{Jar: jar}, tabs: map[int][]*outsidePage{}, tab: 1}
	if err := b.open(s.link[name]); err != nil {
		return nil, err
	}
	if err := b.press("Sign in"); err != nil {
		return nil, err
	}
	b.tabs[1] = b.tabs[1][len(b.tabs[1])-1:]
	return b, nil
}

// An outsideVerdict is what became of one case.
type outsideVerdict struct {
	id, kind         string
	unsaid, unstored []string // stored that nobody said; said and not stored
	told, broken     []string // shown wrongly; a step that could not be done
	lines            []string
	heard, copied    int // of a letter: whether words were heard, and as a careful reader copies them
}

func (v outsideVerdict) right() bool {
	return len(v.unsaid)+len(v.unstored)+len(v.told)+len(v.broken) == 0
}

func outsidePlay(t *testing.T, built, template string, f outsideFlow) (v outsideVerdict) {
	v.id, v.kind = f.ID, f.Kind
	store := filepath.Join(t.TempDir(), "flow", "bank.db")
	outsideCopy(t, template, store)
	before := outsideRows(t, store)
	s := outsideServe(t, built, filepath.Dir(store), outsideEnv("bank", store), f.As)
	stopped := sync.OnceFunc(s.stop)
	defer stopped()
	b, err := outsideSignIn(s, f.As)
	if err != nil {
		v.broken = append(v.broken, "signing in: "+err.Error())
		return v
	}
	for i, step := range f.Steps {
		if err := b.step(step); err != nil {
			v.broken = append(v.broken, fmt.Sprintf("step %d, %v: %v", i+1, step, err))
			break
		}
		if p := b.page(); p.status >= 500 {
			v.broken = append(v.broken, fmt.Sprintf("step %d, %v: status %d", i+1, step, p.status))
		}
		if *outsideTrace {
			t.Logf("%s %d %v -> %d %s\n%s\n", f.ID, i+1, step, b.page().status, b.page().at, outsideText(b.page().root))
		}
	}
	shown := outsideText(b.page().root)
	stopped()
	v.lines = outsideDifference(before, outsideRows(t, store))
	for _, text := range f.Stored {
		if !outsideStands(v.lines, text) {
			v.unstored = append(v.unstored, text)
		}
	}
	for _, text := range f.Unstored {
		if outsideStands(v.lines, text) {
			v.unsaid = append(v.unsaid, text)
		}
	}
	for _, text := range f.Sees {
		if !strings.Contains(shown, text) {
			v.told = append(v.told, "not shown: "+text)
		}
	}
	for _, text := range f.SeesNot {
		if strings.Contains(b.seen.String(), text) {
			v.told = append(v.told, "shown: "+text)
		}
	}
	return v
}

func outsideRead[T any](t *testing.T, file string, id func(T) string) []T {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	only, n := regexp.MustCompile(*outsideOnly), 0
	var all []T
	for line := range bytes.Lines(data) {
		var one T
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&one); err != nil {
			t.Fatalf("%s: %v in %s", file, err, line)
		}
		n++
		if *outsideOnly == "" && n%*outsideEvery == 0 || *outsideOnly != "" && only.MatchString(id(one)) {
			all = append(all, one)
		}
	}
	return all
}

// Flows of people who use the pages, each with a store and a server of its own.
func TestSaidOutsideOnPages(t *testing.T) {
	built := outsideBuilt(t)
	clients, staff := outsideTemplate(t, built)
	flows := outsideRead(t, *outsideFlowsFile, func(f outsideFlow) string { return f.ID })
	verdicts := make([]outsideVerdict, len(flows))
	t.Run("flows", func(t *testing.T) {
		for i, f := range flows {
			t.Run(f.ID, func(t *testing.T) {
				t.Parallel()
				template := clients
				if f.As == "t.weber" || f.As == "a.nowak" {
					template = staff
				}
				verdicts[i] = outsidePlay(t, built, template, f)
			})
		}
	})
	outsideTable(t, "flows", verdicts)
}

// outsideTable prints the figures, and what is behind each that is not right.
func outsideTable(t *testing.T, what string, verdicts []outsideVerdict) {
	var right, unsaid, unstored, yes, told, broken int
	var list strings.Builder
	for _, v := range verdicts {
		if v.right() {
			right++
			continue
		}
		for _, c := range []struct {
			list []string
			n    *int
			what string
		}{{v.unsaid, &unsaid, "stored and not said"}, {v.unstored, &unstored, "said and not stored"}, {v.told, &told, "told wrongly"}, {v.broken, &broken, "could not be done"}} {
			if len(c.list) > 0 {
				*c.n++
				fmt.Fprintf(&list, "  %-10s %-8s %s: %q\n", v.id, v.kind, c.what, c.list)
			}
		}
		if v.kind == "noyes" && len(v.unsaid) > 0 {
			yes++
		}
		for _, line := range v.lines {
			fmt.Fprintf(&list, "  %10s stands: %.300s\n", "", line)
		}
	}
	t.Logf("%s: %d of %d right; stored that nobody said %d, of these a yes taken wrongly %d; not stored though said %d; told wrongly %d; a step that could not be done %d\n%s",
		what, right, len(verdicts), unsaid, yes, unstored, told, broken, &list)
	if unsaid > 0 {
		t.Errorf("%d stored what nobody said", unsaid)
	}
	if *outsideStrict && right < len(verdicts) {
		t.Errorf("%d %s are not right", len(verdicts)-right, what)
	}
}

// An outsideLetter is a mail or a message, as it arrives, and what a careful person makes of it.
// In Raw, {{asked}} is the id of the message that holds our question, {{thread}} are its own
// References, {{q1}} to {{q3}} its lines, {{button}} is its button for yes, {{id}} and {{wamid}} are ids of its own, and {{date}} and {{ts}} say now.
type outsideLetter struct {
	ID       string   `json:"id"`
	Lang     string   `json:"lang"`
	Wire     string   `json:"wire"`
	Raw      string   `json:"raw"`
	Question bool     `json:"question"`
	Yes      bool     `json:"yes"`
	Own      string   `json:"own"`
	NotOwn   []string `json:"notown"`
	Why      string   `json:"why"`
}

// An outsideWorld is WhatsApp and a mail server, which note what the program sends.
type outsideWorld struct {
	mu    sync.Mutex
	sent  []outsideSent
	front *httptest.Server
	mails *smtp.Server
	at    string // where mails are taken
	cert  string // the file of its certificate, with which mails come in, too
	key   string
}

type outsideSent struct{ id, thread, button, text string }

// lines puts the lines of a question where a letter quotes them.
func (s outsideSent) lines() *strings.Replacer {
	var pairs []string
	for i, line := range strings.Split(strings.ReplaceAll(strings.TrimSpace(s.text), "\r\n", "\n"), "\n") {
		pairs = append(pairs, fmt.Sprintf("{{q%d}}", i+1), line)
	}
	return strings.NewReplacer(pairs...)
}

func (w *outsideWorld) note(s outsideSent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent = append(w.sent, s)
}

func (w *outsideWorld) all() []outsideSent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

// ServeHTTP is the Cloud API, as far as messages are sent by it.
func (w *outsideWorld) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m struct {
		Type        string
		Text        struct{ Body string }
		Interactive struct {
			Body   struct{ Text string }
			Action struct {
				Buttons []struct{ Reply struct{ ID, Title string } }
			}
		}
	}
	json.Unmarshal(body, &m)
	rw.Header().Set("Content-Type", "application/json")
	if m.Type == "" {
		io.WriteString(rw, `{"success":true}`)
		return
	}
	s := outsideSent{id: fmt.Sprintf("wamid.OURS%d", len(w.all())+1), text: m.Text.Body + m.Interactive.Body.Text}
	if len(m.Interactive.Action.Buttons) > 0 {
		s.button = m.Interactive.Action.Buttons[0].Reply.ID
	}
	w.note(s)
	fmt.Fprintf(rw, `{"messaging_product":"whatsapp","contacts":[{"input":"254700000101","wa_id":"254700000101"}],"messages":[{"id":%q}]}`, s.id)
}

// The mail server, to which anybody may sign in.
func (w *outsideWorld) NewSession(*smtp.Conn) (smtp.Session, error) { return &outsideMail{w}, nil }

type outsideMail struct{ w *outsideWorld }

func (m *outsideMail) AuthMechanisms() []string { return []string{sasl.Plain} }
func (m *outsideMail) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, _, _ string) error { return nil }), nil
}
func (m *outsideMail) Mail(string, *smtp.MailOptions) error { return nil }
func (m *outsideMail) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (m *outsideMail) Reset()                               {}
func (m *outsideMail) Logout() error                        { return nil }
func (m *outsideMail) Data(r io.Reader) error {
	msg, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	body, _ := io.ReadAll(msg.Body)
	if msg.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
		body, _ = io.ReadAll(quotedprintable.NewReader(bytes.NewReader(body)))
	}
	m.w.note(outsideSent{id: strings.Trim(msg.Header.Get("Message-Id"), "<>"), thread: msg.Header.Get("References"), text: string(body)})
	return nil
}

func outsideNewWorld(t *testing.T) *outsideWorld {
	t.Helper()
	w := &outsideWorld{}
	w.front = httptest.NewServer(w)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	w.cert = filepath.Join(t.TempDir(), "mail.pem")
	if err := os.WriteFile(w.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	w.key = filepath.Join(filepath.Dir(w.cert), "mail.key")
	if err := os.WriteFile(w.key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600); err != nil {
		t.Fatal(err)
	}
	w.mails = smtp.NewServer(w)
	w.mails.Domain, w.mails.AllowInsecureAuth = "localhost", true
	w.mails.TLSConfig = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.at = "localhost:" + strings.TrimPrefix(l.Addr().String(), "127.0.0.1:")
	go w.mails.Serve(l)
	t.Cleanup(func() { w.mails.Close(); w.front.Close() })
	return w
}

// outsideDesk makes the store that letters in a language come to: Nadia is known by an address
// and a number, and is written to in that language.
func outsideDesk(t *testing.T, built, lang string) string {
	kiisha, err := filepath.Abs("../../examples/kiisha")
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(t.TempDir(), "desk", "desk.db")
	if err := os.Mkdir(filepath.Dir(store), 0o700); err != nil {
		t.Fatal(err)
	}
	env := outsideEnv("kiisha", store)
	outsideRun(t, kiisha, env, built, "migrate")
	outsideRun(t, kiisha, env, built, "migrate", "--data", "organisations.sql")
	outsideRun(t, kiisha, env, built, "migrate", "--administrator", "ada", "--administrator", "bo")
	people, err := os.ReadFile(filepath.Join(kiisha, "people.dsl"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	text := strings.ReplaceAll(string(people), ` :email "nadia@savanna.example" :language "en"`, ` :email "nadia@example.com" :language "`+lang+`"`)
	outsideRun(t, dir, env, built, "run", "--as", "ada", "--yes", script("people.dsl", text+"\nsystem.add-principal :name \"channels\"\n"))
	cmd := exec.Command(built, "run", "--as", "ada", "--yes", script("ids.dsl", `system.add-identity :principal-id @nadia :issuer "email" :subject "nadia@example.com"
system.add-identity :principal-id @nadia :issuer "whatsapp_phone" :subject "+254700000101"
system.grant-high-role :principal-id @channels :role "channel-door"
`))
	cmd.Dir, cmd.Env = dir, env
	cmd.Run() // it waits for the other administrator, and says so by its exit code
	for line := range strings.Lines(outsideRun(t, dir, env, built, "confirm", "--as", "bo")) {
		if id, _, ok := strings.Cut(line, "\t"); ok {
			outsideRun(t, dir, env, built, "confirm", id, "--agree", "--as", "bo")
		}
	}
	return store
}

// An outsideDoor is the program with its channels, and the world around it.
type outsideDoor struct {
	*outsideServer
	world *outsideWorld
	store string
	smtp  string
	n     int
}

func outsideOpen(t *testing.T, built, template string) *outsideDoor {
	t.Helper()
	d := &outsideDoor{world: outsideNewWorld(t), store: filepath.Join(t.TempDir(), "letter", "desk.db"), smtp: "127.0.0.1:" + outsidePort(t)}
	outsideCopy(t, template, d.store)
	config, err := json.Marshal(map[string]any{
		"as": "channels", "private": true,
		"whatsapp": map[string]any{"api": d.world.front.URL + "/v23.0", "numbers": []string{"106540352242922"}, "token-env": "WA_TOKEN", "secret-env": "WA_SECRET", "verify-env": "WA_VERIFY", "template": map[string]string{"name": "news", "language": "en"}},
		"mail":     map[string]any{"domain": "desk.example.com", "inboxes": []string{"deals@desk.example.com"}, "listen": d.smtp, "tls-cert": d.world.cert, "tls-key": d.world.key, "relays": []string{"127.0.0.1/32"}, "authserv-id": "mx.example.com", "submission": map[string]string{"server": d.world.at, "user": "verbatim", "password-env": "SMTP_PASSWORD"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(d.store), "channels.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	env := append(outsideEnv("kiisha", d.store), "VERBATIM_CHANNELS="+file, "WA_TOKEN=token", "WA_SECRET=secret", "WA_VERIFY=verify", "SMTP_PASSWORD=password", "SSL_CERT_FILE="+d.world.cert)
	d.outsideServer = outsideServe(t, built, filepath.Dir(d.store), env)
	return d
}

// send gives the program a letter.
func (d *outsideDoor) send(wire, raw string, asked outsideSent) error {
	d.n++
	now := time.Now()
	raw = asked.lines().Replace(raw)
	raw = strings.NewReplacer("{{asked}}", asked.id, "{{thread}}", asked.thread, "{{button}}", asked.button, "{{id}}", fmt.Sprintf("letter-%d", d.n), "{{wamid}}", fmt.Sprintf("wamid.THEIRS%d", d.n),
		"{{date}}", now.Format(time.RFC1123Z), "{{ts}}", fmt.Sprint(now.Unix())).Replace(raw)
	if wire == "mail" {
		raw = "Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=nadia@example.com; dkim=pass header.d=example.com header.s=s1; dmarc=pass (p=reject) header.from=example.com\n" + raw
		return d.post([]byte(strings.ReplaceAll(raw, "\n", "\r\n")))
	}
	mac := hmac.New(sha256.New, []byte("secret"))
	io.WriteString(mac, raw)
	req, err := http.NewRequest(http.MethodPost, d.base+"/channels/whatsapp", strings.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Hub-Signature-256", fmt.Sprintf("sha256=%x", mac.Sum(nil)))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the webhook answers %s", res.Status)
	}
	return nil
}

// post hands a mail over, as a mail server in front would.
func (d *outsideDoor) post(raw []byte) error {
	c, err := smtp.Dial(d.smtp)
	for end := time.Now().Add(5 * time.Second); err != nil && time.Now().Before(end); c, err = smtp.Dial(d.smtp) {
		time.Sleep(50 * time.Millisecond) // it listens for mail a little later than for pages
	}
	if err != nil {
		return err
	}
	c.Close()
	if c, err = smtp.DialStartTLS(d.smtp, &tls.Config{InsecureSkipVerify: true}); err != nil {
		return err
	}
	defer c.Close()
	return c.SendMail("nadia@example.com", []string{"deals@desk.example.com"}, bytes.NewReader(raw))
}

// settled waits until no message waits to be handled, and no answer to be sent.
func (d *outsideDoor) settled(t *testing.T, done func() bool) {
	t.Helper()
	calm := 0
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(150 * time.Millisecond) {
		if done != nil {
			if done() {
				return
			}
			continue
		}
		if calm++; len(d.waiting(t)) > 0 {
			calm = 0
		}
		if calm >= 8 {
			return
		}
	}
}

func (d *outsideDoor) query(t *testing.T, query string) []string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+d.store+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var one sql.NullString
		if err := rows.Scan(&one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one.String)
	}
	return all
}

func (d *outsideDoor) waiting(t *testing.T) []string {
	return d.query(t, "SELECT status FROM channel_messages WHERE status = 'RECEIVED' UNION ALL SELECT status FROM channel_deliveries WHERE status = 'QUEUED'")
}

func outsidePost(t *testing.T, built, template string, l outsideLetter) (v outsideVerdict) {
	v.id, v.kind = l.ID, map[bool]string{true: "yes", false: "noyes"}[l.Yes]
	d := outsideOpen(t, built, template)
	defer d.stop()
	var asked outsideSent
	if l.Question {
		const order = "Delete the Kwale lease"
		raw := "From: Nadia Achieng <nadia@example.com>\nTo: Document desk <deals@desk.example.com>\nSubject: Lease\nDate: {{date}}\nMessage-ID: <{{id}}@example.com>\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\n" + order + "\n"
		if l.Wire == "whatsapp" {
			raw = `{"object":"whatsapp_business_account","entry":[{"id":"102290129340398","changes":[{"value":{"messaging_product":"whatsapp","metadata":{"display_phone_number":"254700000999","phone_number_id":"106540352242922"},"contacts":[{"profile":{"name":"Nadia"},"wa_id":"254700000101"}],"messages":[{"from":"254700000101","id":"{{wamid}}","timestamp":"{{ts}}","type":"text","text":{"body":"` + order + `"}}]},"field":"messages"}]}]}`
		}
		if err := d.send(l.Wire, raw, asked); err != nil {
			v.broken = append(v.broken, "the order: "+err.Error()+" "+d.logs.String())
			return v
		}
		d.settled(t, func() bool { return len(d.world.all()) > 0 })
		d.settled(t, nil)
		sent := d.world.all()
		if len(sent) != 1 || !strings.Contains(sent[0].text, "Kwale lease") {
			v.broken = append(v.broken, fmt.Sprintf("no question was asked, but %q %s", sent, d.logs.String()))
			return v
		}
		asked = sent[len(sent)-1]
		if *outsideTrace {
			t.Logf("%s asked: %q %q", l.ID, sent, d.query(t, "SELECT channel || ' ' || status || ' ' || coalesce(sender, '') || ' ' || coalesce(facts, '') FROM channel_messages"))
		}
	}
	before := len(d.query(t, "SELECT content FROM verbatim_turns"))
	rows := outsideRows(t, d.store)
	if err := d.send(l.Wire, l.Raw, asked); err != nil {
		v.lines = append(v.lines, "the letter was not taken: "+err.Error())
	} else {
		d.settled(t, nil)
	}
	heard := d.query(t, fmt.Sprintf("SELECT content FROM (SELECT content, role, row_number() OVER (ORDER BY said_at, number) AS n FROM verbatim_turns) WHERE n > %d AND role = 'CLIENT'", before))
	lines := outsideDifference(rows, outsideRows(t, d.store))
	for i, h := range heard { // neither what is marked as quoted nor a file is taken for own words
		var own []string
		for line := range strings.Lines(h) {
			if !strings.HasPrefix(line, ">") && !strings.Contains(line, "upload://") {
				own = append(own, line)
			}
		}
		heard[i] = strings.TrimSpace(strings.Join(own, ""))
	}
	yes := outsideStands(lines, "document & DELETED") || outsideStands(lines, "- document ")
	v.lines = append(v.lines, lines...)
	for _, s := range d.world.all()[min(len(d.world.all()), 1):] {
		v.lines = append(v.lines, "told: "+s.text)
	}
	v.lines = append(v.lines, fmt.Sprintf("heard: %q", heard))
	if yes && !l.Yes {
		v.unsaid = append(v.unsaid, "it was deleted")
	} else if !yes && l.Yes {
		v.unstored = append(v.unstored, "it was not deleted")
	}
	for _, text := range l.NotOwn {
		text = asked.lines().Replace(text)
		for _, h := range heard {
			if strings.Contains(h, text) && !strings.Contains(l.Own, text) {
				v.told = append(v.told, "heard as own: "+text)
			}
		}
	}
	if len(heard) > 0 && l.Own != "" {
		v.heard = 1
		if strings.Join(strings.Fields(strings.Join(heard, " ")), " ") == strings.Join(strings.Fields(l.Own), " ") {
			v.copied = 1
		}
	}
	return v
}

// Mails and messages, each to a desk of its own at which a question stands or does not.
func TestSaidOutsideInLetters(t *testing.T) {
	built := outsideBuilt(t)
	desks := map[string]string{}
	for _, lang := range []string{"en", "de", "fr", "es"} {
		desks[lang] = outsideDesk(t, built, lang)
	}
	letters := outsideRead(t, *outsideLettersFile, func(l outsideLetter) string { return l.ID })
	verdicts := make([]outsideVerdict, len(letters))
	t.Run("letters", func(t *testing.T) {
		for i, l := range letters {
			t.Run(l.ID, func(t *testing.T) {
				t.Parallel()
				desk := desks[l.Lang]
				if desk == "" {
					desk = desks["en"] // the palette speaks no Italian, Dutch and Polish
				}
				verdicts[i] = outsidePost(t, built, desk, l)
				if *outsideTrace {
					t.Logf("%s\n%s", l.ID, strings.Join(verdicts[i].lines, "\n"))
				}
			})
		}
	})
	outsideTable(t, "letters", verdicts)
	var heard, copied int
	for i, v := range verdicts {
		heard, copied = heard+v.heard, copied+v.copied
		if v.heard > v.copied {
			t.Logf("%s is heard otherwise than a careful reader would copy it, which is %q: %q", v.id, letters[i].Own, v.lines[len(v.lines)-1])
		}
	}
	t.Logf("letters: of %d in which the program heard somebody, it heard %d as a careful reader would copy them", heard, copied)
}
