package servertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/tests/browsertest"
)

// A scripted model answers with one tool call each time, in turn, and repeats the last.
type scripted struct {
	*httptest.Server
	mu    sync.Mutex
	calls [][2]string // name and arguments
	asked []string
}

func newScripted(t testing.TB, calls ...[2]string) *scripted {
	s := &scripted{calls: calls}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		call := s.calls[min(len(s.asked), len(s.calls)-1)]
		s.asked = append(s.asked, string(body))
		s.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(choices ...any) {
			text, _ := json.Marshal(map[string]any{"id": "x", "model": "scripted", "choices": choices})
			_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
		}
		tool := map[string]any{"index": 0, "id": "call-1", "type": "function", "function": map[string]any{"name": call[0], "arguments": call[1]}}
		send(map[string]any{"index": 0, "delta": map[string]any{"content": "", "tool_calls": []any{tool}}, "finish_reason": "tool_calls"})
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s
}

// grants adds a grant to the people of a house.
func grants(principal, role string) func(*house) {
	return func(h *house) {
		h.adds("people.sql", fmt.Sprintf("INSERT INTO verbatim_grant (principal, role, entity, key) VALUES ('%s', '%s', '', '');\n", principal, role))
	}
}

// G54: somebody with a role of its own sees what a model was told and answered, with sensitive values
// masked, also in later requests; each look is in the journal. The message is said again under the
// palettes as they are now, which changes nothing, and is kept as a test that verbatim eval reads.
func TestWhatAModelWasTold(t *testing.T) {
	t.Parallel()
	model := newScripted(t,
		[2]string{"client__provide-info", `{"request-id": "@maria-schmidt-date-of-birth", "info-type": "DATE_OF_BIRTH", "collected-data": {"date_of_birth": "1972-03-15"}}`},
		[2]string{"reply__say", `{"what": "GREETING"}`},
		[2]string{"reply__tell", `{"facts": ["client.get-outstanding"]}`})
	h := newHouse(t, grants("otto", "model-auditor"), func(h *house) {
		h.env = []string{"VERBATIM_MODEL=scripted", "VERBATIM_BASE_URL=" + model.URL}
	})
	clara, otto, lang := h.reader("clara"), h.reader("otto"), h.reader("d.lang")
	says := func(text string) {
		t.Helper()
		home := clara.get("/", http.StatusOK)
		clara.post("/say", http.StatusOK, with(form(t, home, "/say"), "said", text))
	}
	says("Maria was born March 15, 1972.")
	says("What else is there?")

	const at = "/turns?who=clara"
	lang.get(at, http.StatusForbidden)
	clara.get(at, http.StatusForbidden)
	list := otto.get(at, http.StatusOK)
	turns := regexp.MustCompile(`href="(/turns/s-[^"]+)"`).FindAllStringSubmatch(list, -1)
	if len(turns) != 2 || strings.Contains(list, "Maria") {
		t.Fatalf("the list is\n%s", list)
	}
	first, second := turns[1][1], turns[0][1]
	if text := otto.get(first, http.StatusOK); strings.Contains(text, "Maria") || !strings.Contains(text, "Show the words") {
		t.Error(text)
	}
	lang.get(first, http.StatusNotFound)
	lang.post(first, http.StatusForbidden, url.Values{"do": {"show"}})
	looks := func() int { return strings.Count(h.run("log", "show", "--as", "d.lang"), "\tok\tverbatim.read-turn ") }
	before := looks()
	shown := otto.post(first, http.StatusOK, url.Values{"do": {"show"}})
	later := otto.post(second, http.StatusOK, url.Values{"do": {"show"}})
	if n := looks() - before; n != 2 {
		t.Errorf("%d looks are in the journal, of 2", n)
	}
	for _, want := range []string{"client__provide-info", "@maria-schmidt-date-of-birth", "date_of_birth&#34;: &#34;(sensitive)", "Read the rules", "You speak with Clara", "Clara Weiss says:", "Those that run here now", "Clara Weiss"} {
		if !strings.Contains(shown, want) {
			t.Errorf("it does not show %q", want)
		}
	}
	// The rules are kept once, and shown with both.
	if !strings.Contains(later, "You speak with Clara") || !strings.Contains(later, "What else is there?") {
		t.Errorf("the later message is shown without them")
	}
	for name, text := range map[string]string{"the first": shown, "the second": later} {
		if strings.Contains(text, "1972") || strings.Contains(text, "March 15") {
			t.Errorf("%s shows the date of birth", name)
		}
	}
	otto.post(strings.TrimRight(first, "0123456789")+"99", http.StatusNotFound, url.Values{"do": {"show"}})

	// Asked again, the model is told the same under the rules as they are now.
	entries := strings.Count(h.run("log", "show", "--as", "d.lang"), "client.provide-info")
	n := len(model.asked)
	again := otto.post(second, http.StatusOK, url.Values{"do": {"again"}})
	if len(model.asked) != n+1 || !strings.Contains(model.asked[n], "What else is there?") || !strings.Contains(model.asked[n], "client__provide-info") || strings.Contains(model.asked[n], "1972") || !strings.Contains(again, "reply.tell :facts") {
		t.Errorf("it is asked again otherwise:\n%s", again)
	}
	if now := strings.Count(h.run("log", "show", "--as", "d.lang"), "client.provide-info"); now != entries {
		t.Error("asking again changed something")
	}
	kept := otto.post(first, http.StatusOK, url.Values{"do": {"test"}})
	set, err := dialog.ReadDataset(strings.NewReader(kept))
	if err != nil || set.As != "clara" || len(set.Cases) != 1 || !strings.Contains((*set.Cases[0].Checks[0].Calls)[0], "client.provide-info") || strings.Contains(kept, "1972") {
		t.Errorf("%v:\n%s", err, kept)
	}
	// With its value and its rows, verbatim eval scores it.
	kept = strings.ReplaceAll(kept, "(sensitive)", "Maria was born March 15, 1972.") + "data: [bank.sql, people.sql]\nthreshold: 100\n"
	if err := os.WriteFile(filepath.Join(h.dir, "kept.yaml"), []byte(kept), 0o600); err != nil {
		t.Fatal(err)
	}
	fresh := newScripted(t, model.calls...)
	if out := h.run("eval", "--model", "scripted", "--base-url", fresh.URL, filepath.Join(h.dir, "kept.yaml")); !strings.Contains(out, "100") {
		t.Error(out)
	}
	// Without the model, that is said.
	model.Close()
	if text := otto.post(second, http.StatusOK, url.Values{"do": {"again"}}); !strings.Contains(text, "The model does not answer.") {
		t.Error(text)
	}
}

// G10, G54: everybody who may sign in is listed, whoever named them, a page at a time, with their roles,
// where they are signed in and when they were last seen.
func TestEverybodyIsListed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(h *house) {
		for i := range 60 {
			h.adds("people.sql", fmt.Sprintf("INSERT INTO verbatim_principal (name, label) VALUES ('p%02d', 'Person %d');\n", i, i))
		}
	})
	clara, ada := h.reader("clara"), h.reader("ada")
	clara.get("/people", http.StatusNotFound)
	name := regexp.MustCompile(`<tr data-row><td[^>]*>([^<]+)<`)
	seen := map[string]int{}
	text := ""
	for at := "/people"; at != ""; {
		page := ada.get(at, http.StatusOK)
		found := name.FindAllStringSubmatch(page, -1)
		if len(found) > 50 {
			t.Errorf("%d are on a page", len(found))
		}
		for _, m := range found {
			seen[m[1]]++
		}
		text += page
		at = ""
		if m := regexp.MustCompile(`href="(/people\?after=[^"]+)"`).FindStringSubmatch(page); m != nil {
			at = m[1]
		}
	}
	all := strings.Fields("a.nowak ada clara d.lang jonas kim nina otto s.keller t.weber")
	for i := range 60 {
		all = append(all, fmt.Sprintf("p%02d", i))
	}
	for _, who := range all {
		if seen[who] != 1 {
			t.Errorf("%s is listed %d times", who, seen[who])
		}
	}
	if len(seen) != len(all) {
		t.Errorf("%d are listed, of %d", len(seen), len(all))
	}
	cells := plain(text[strings.Index(text, ">clara<"):])
	if !regexp.MustCompile(`^>clara Clara Weiss client [0-9]+ \pL+ [0-9]{4}, [0-9:]+ \w+ just now`).MatchString(cells) {
		t.Errorf("of Clara it says %.200s", cells)
	}
}

// 55: until when a question can be answered is told while it is open, and not of one that was answered.
func TestAnAnsweredQuestionIsOpenNoLonger(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	clara := h.reader("clara")
	says := func(text string) string {
		t.Helper()
		clara.post("/say", http.StatusOK, with(form(t, clara.get("/", http.StatusOK), "/say"), "said", text))
		return clara.get("/", http.StatusOK)
	}
	asked := says("For Pierre's source of wealth, note: the register has it")
	if n := strings.Count(strings.ToLower(plain(asked)), "good until"); n != 1 {
		t.Errorf("it is told %d times until when it can be answered", n)
	}
	done := says("yes")
	if text := plain(done); strings.Contains(strings.ToLower(text), "good until") || !strings.Contains(text, "May I note for Pierre Dupont") {
		t.Errorf("after the answer the page says\n%s", text)
	}
}

// 55: telling states of the pages for staff, as TestBrowserStates has them of those for clients.
func TestBrowserStatesOfStaff(t *testing.T) {
	t.Parallel()
	model := newScripted(t, [2]string{"client__provide-info", `{"request-id": "@maria-schmidt-date-of-birth", "info-type": "DATE_OF_BIRTH", "collected-data": {"date_of_birth": "1972-03-15"}}`},
		[2]string{"reply__tell", `{"facts": ["client.get-outstanding"]}`})
	h := newHouse(t, grants("otto", "model-auditor"), func(h *house) {
		h.env = []string{"VERBATIM_MODEL=scripted", "VERBATIM_BASE_URL=" + model.URL}
	})
	clara, weber := h.reader("clara"), h.reader("t.weber")
	clara.post("/say", http.StatusOK, with(form(t, clara.get("/", http.StatusOK), "/say"), "said", "Maria was born March 15, 1972."))
	weber.waives("thomas-muller-identity", "The register has it already")
	weber.waives("pierre-dupont-source-of-wealth", "The register has it already")
	for _, who := range []struct {
		name  string
		pages map[string]string
	}{
		{"otto", map[string]string{"health": "/health", "turns": "/turns?who=clara"}},
		{"ada", map[string]string{"people": "/people"}},
		{"a.nowak", map[string]string{"waiting": "/waiting"}},
		{"d.lang", map[string]string{"history": "/journal"}},
	} {
		tab := browsertest.Open(t)
		tab.Size(1280, "light")
		h.signIn(tab, who.name)
		tab.Wait("Sign out")
		for name, path := range who.pages {
			everywhereAt(tab, h.url(path), "staff-"+name)
		}
		if who.name != "otto" {
			continue
		}
		for _, width := range []int64{320, 1280} {
			tab.Size(width, "light")
			tab.Go(h.url("/turns?who=clara"))
			tab.Click(`tbody a[href^="/turns/"]`)
			tab.Wait("Show the words")
			tab.Click("main form .btn")
			tab.Wait("Read the rules")
			tab.Audit("staff-turn")
			follow(tab, "main", "Say it again with these palettes")
			tab.Wait("Its calls do not run.")
			tab.Wait("Then")
			tab.Audit("staff-again")
		}
	}
}
