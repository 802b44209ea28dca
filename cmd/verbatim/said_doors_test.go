package main

import (
	"bufio"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"verbatim/dsl"
	"verbatim/runtime/frontends/http/api"
	"verbatim/runtime/frontends/http/server"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

var saidEvery = flag.Int("said-every", 30, "play one conversation in so many at the doors that do not hear the person, and five times as many in chat")

// A saidDoor is a server with the bank, in a store of its own, and a token of Clara's for a model.
type saidDoor struct {
	*running
	t     *testing.T
	reg   *verbs.Registry
	token string
	store string
	clara *visitor // signed in
	rows  map[string]map[string]string
}

// saidDoors returns a function that opens such servers, each with a copy of one store.
func saidDoors(t *testing.T) func() *saidDoor {
	t.Helper()
	const base = "http://bank.example"
	h := newHouse(t).administered()
	token := h.granted("aide", "clara", base, "")
	from := filepath.Join(h.dir, "verbatim.db")
	return func() *saidDoor {
		t.Helper()
		d := &saidDoor{t: t, token: token, store: filepath.Join(t.TempDir(), "verbatim.db")}
		content, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(d.store, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		clock := func() time.Time { return morning }
		a := &app{world: world{env: func(string) string { return "" }, now: clock, random: rand.Reader, load: loadOnce}}
		reg, store, eng, err := a.wire(t.Context(), setup{palettes: filepath.Join(h.dir, "verbs"), store: d.store}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		at := httptest.NewUnstartedServer(nil)
		s, err := server.New(server.Options{Registry: reg, Engine: eng, Store: store, Clock: clock, Log: slog.New(slog.DiscardHandler),
			People: people(reg, store), Tokens: tokensOf(reg, store), URL: base, Hosts: []string{at.Listener.Addr().String()}})
		if err != nil {
			t.Fatal(err)
		}
		programs, err := api.New(t.Context(), s, api.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Mount(programs.Routes()...)
		at.Config.Handler = s
		at.Start()
		t.Cleanup(func() { at.Close(); s.Close() })
		link, err := s.Link(t.Context(), "clara", "/")
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		d.reg, d.running = reg, &running{url: at.URL, links: map[string]string{"clara": u.Query().Get("link")}}
		d.clara = newVisitor(t).comes(d.running, "clara")
		d.rows = outsideRows(t, d.store)
		return d
	}
}

// changed returns what changed since it was last asked. What waits for an agreement is no change.
func (d *saidDoor) changed() []string {
	d.t.Helper()
	before := d.rows
	d.rows = outsideRows(d.t, d.store)
	return slices.DeleteFunc(outsideDifference(before, d.rows), func(line string) bool { return strings.Contains(line, "verbatim_confirmations") })
}

// done counts the entries of the journal that say that a verb was done.
func (d *saidDoor) done(verb string) (n int) {
	d.t.Helper()
	db, err := sql.Open("sqlite", "file:"+d.store+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		d.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM verbatim_journal WHERE outcome = 'ok' AND verb = ?", verb).Scan(&n); err != nil {
		d.t.Fatal(err)
	}
	return n
}

// runs sends a call as a script that a model wrote, and returns the answer, and the id of what waits.
func (d *saidDoor) runs(line string) (status int, body, waits string) {
	d.t.Helper()
	text, _ := json.Marshal(map[string]any{"script": line, "origin": "model"})
	r, err := http.NewRequest(http.MethodPost, d.url+"/v1/run", strings.NewReader(string(text)))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + d.token}, "Content-Type": {"application/json"}}
	status, body = newVisitor(d.t).answer(http.DefaultClient.Do(r))
	if m := regexp.MustCompile(`"confirmation":{"id":"([^"]+)"`).FindStringSubmatch(body); m != nil {
		waits = m[1]
	}
	return status, body, waits
}

// agrees has Clara agree to what waits.
func (d *saidDoor) agrees(id string) {
	d.t.Helper()
	if status, body, err := d.clara.post(d.url+"/v1/confirmations/"+id+"/agree", "", map[string]string{}); err != nil || status != http.StatusOK {
		d.t.Errorf("she agrees: %d %s %v", status, body, err)
	}
}

// plainJSON is a value as the client of a model sends it.
func plainJSON(v dsl.Value) any {
	switch v.Kind {
	case dsl.Integer, dsl.Decimal:
		return json.Number(v.Text)
	case dsl.Bool:
		return v.Text == "true"
	case dsl.List:
		all := []any{}
		for _, item := range v.Items() {
			all = append(all, plainJSON(item))
		}
		return all
	case dsl.Map:
		all := map[string]any{}
		for _, e := range v.Entries() {
			all[e.Key] = plainJSON(e.Value)
		}
		return all
	}
	return v.Text
}

// toolCall is a call as the client of a model makes it.
func toolCall(t *testing.T, reg *verbs.Registry, line string) (verb *verbs.Verb, tool string, args map[string]any) {
	t.Helper()
	script, ds := dsl.Parse(dsl.NewSource("said", line))
	if ds.HasErrors() || len(script.Calls) != 1 {
		t.Fatal(line, ds)
	}
	call := script.Calls[0]
	verb = reg.Verb(call.Verb)
	tools, err := grammar.Tools(grammar.Vocabulary{Verbs: []*verbs.Verb{verb}})
	if err != nil {
		t.Fatal(line, err)
	}
	args = map[string]any{}
	for _, a := range call.Args {
		args[a.Key] = plainJSON(a.Value)
	}
	return verb, tools[0].Name, args
}

// What the played models of TestNothingIsDoneThatNobodySaid write, they write to the doors that do not
// hear their person, too: a script with a token, and calls of tools. There nothing is done before the
// person agreed, whether the model is honest or not, and what they agree to is done once. (G1, G60)
func TestNothingIsDoneUnasked(t *testing.T) {
	t.Parallel()
	file, err := os.Open(*saidTurns)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	opened := saidDoors(t)
	waiting, declining, absent := opened(), opened(), opened()
	declined := reaches(t, declining.running, declining.token, "", func(string) *mcp.ElicitResult { return no("") })
	alone := reaches(t, absent.running, absent.token, "", nil)
	played, changing, honest, asked := 0, 0, 0, 0
	lines := bufio.NewScanner(file)
	for n := 0; lines.Scan(); n++ {
		if n%*saidEvery != 0 {
			continue
		}
		var c struct {
			ID, Expect string
			Turns      []struct{ Model []string }
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		played++
		var told []string // of honest models
		for _, turn := range c.Turns {
			for line := range strings.SplitSeq(strings.Join(turn.Model, "\n"), "\n") {
				verb, tool, args := toolCall(t, waiting.reg, line)
				if waiting.reg.OnlyReads(verb) {
					continue
				}
				changing++
				status, body, id := waiting.runs(line)
				if status == http.StatusAccepted && id == "" || status < 400 && status != http.StatusAccepted {
					t.Errorf("%s: %s is answered %d %s", c.ID, line, status, body)
				}
				before := len(declined.asked)
				text, doc, _ := declined.call(tool, args)
				if said := fmt.Sprint(doc["code"]); (said == "declined") != (len(declined.asked) == before+1) || (said == "declined") != (id != "") {
					t.Errorf("%s: %s is asked about %d times, and answered %s", c.ID, line, len(declined.asked)-before, text)
				}
				if text, doc, _ := alone.call(tool, args); (doc["outcome"] == "waiting") != (id != "") {
					t.Errorf("%s: %s is answered %s", c.ID, line, text)
				}
				if id != "" {
					asked++
					told = append(told, line)
				}
				for door, d := range map[string]*saidDoor{"HTTP": waiting, "MCP, whose person declines": declining, "MCP, whose person is not asked": absent} {
					if stored := d.changed(); len(stored) > 0 {
						t.Errorf("%s: over %s %s stored unasked %q", c.ID, door, line, stored)
					}
				}
			}
		}
		if c.Expect != "do" {
			continue
		}
		honest++
		if len(told) == 0 {
			t.Errorf("%s: nothing of what is honest is asked about", c.ID)
		}
		byScript, byTool, late := opened(), opened(), opened()
		a := reaches(t, byTool.running, byTool.token, "", yes)
		b := reaches(t, late.running, late.token, "", nil)
		times := map[string]int{}
		for _, line := range told {
			verb, tool, args := toolCall(t, byScript.reg, line)
			times[verb.Name]++
			status, body, id := byScript.runs(line)
			if id == "" {
				t.Fatalf("%s: %s is answered %d %s", c.ID, line, status, body)
			}
			for range 2 { // the same answer twice
				byScript.agrees(id)
			}
			if text, doc, _ := a.call(tool, args); doc["outcome"] != "done" {
				t.Errorf("%s: %s is answered %s", c.ID, line, text)
			}
			_, doc, _ := b.call(tool, args)
			waits, _ := doc["confirmation"].(map[string]any)
			for range 2 {
				late.agrees(fmt.Sprint(waits["id"]))
			}
		}
		if len(a.asked) != len(told) {
			t.Errorf("%s: the person is asked %d times about %d calls", c.ID, len(a.asked), len(told))
		}
		for door, d := range map[string]*saidDoor{"HTTP": byScript, "MCP": byTool, "MCP, agreed to elsewhere": late} {
			if len(d.changed()) == 0 {
				t.Errorf("%s: over %s nothing is stored of what was agreed to: %q", c.ID, door, told)
			}
			for verb, n := range times {
				if got := d.done(verb); got != n {
					t.Errorf("%s: over %s %s was done %d times, and agreed to %d times", c.ID, door, verb, got, n)
				}
			}
		}
	}
	t.Logf("%d conversations with %d calls that change something: %d were asked about by HTTP and MCP, none was stored unasked; those of %d honest ones are done once each", played, changing, asked, honest)
	if played < 960 / *saidEvery || honest == 0 || changing < played-2 {
		t.Errorf("%d conversations with %d calls are played", played, changing)
	}
}
