package servertest

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/tests/told"
	"verbatim/stores"
)

// waives has somebody ask for a waiver of a request.
func (r reader) waives(item, reason string) {
	r.h.t.Helper()
	const at = "/do/review.waive"
	f := with(form(r.h.t, r.get(at+"?item="+item, http.StatusOK), at), "request-id", item, "reason", reason)
	r.post(at, http.StatusOK, with(form(r.h.t, r.post(at, http.StatusOK, f), at), "yes", "1"))
}

// waiting are the proposals that a page lists, by their ids.
var waiting = regexp.MustCompile(`href="/waiting/([^"?]+)"`)

// G54: four eyes see the case; who asked learns of a decline with its reason and can withdraw; proposals
// that are alike are decided together, each with its own entry of the journal.
func TestFourEyesSeeTheCase(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	weber, nowak := h.reader("t.weber"), h.reader("a.nowak")
	for _, item := range []string{"thomas-muller-identity", "maria-schmidt-date-of-birth", "pierre-dupont-source-of-wealth"} {
		weber.waives(item, "The register has it already")
	}
	list := nowak.get("/waiting", http.StatusOK)
	for _, want := range []string{">Thomas Müller (identity)<", ">Maria Schmidt (date of birth)<", ">Pierre Dupont (source of wealth)<", "Waive a request"} {
		if !strings.Contains(list, want) {
			t.Errorf("the list does not say %q:\n%s", want, list)
		}
	}
	id := func(label string) string {
		t.Helper()
		at := strings.Index(list, label)
		all := waiting.FindAllStringSubmatch(list[:at], -1)
		return all[len(all)-1][1]
	}
	thomas, maria, pierre := id(">Thomas"), id(">Maria"), id(">Pierre")

	// The asker withdraws one; nobody else can.
	nowak.post("/waiting/"+thomas, http.StatusNotFound, url.Values{"decide": {"withdraw"}})
	if text := weber.get("/waiting/"+thomas, http.StatusOK); !strings.Contains(text, "Withdraw it") {
		t.Error(text)
	}
	before := weber.get("/waiting", http.StatusOK)
	withdrawn := weber.post("/waiting/"+thomas, http.StatusOK, url.Values{"decide": {"withdraw"}})
	told.Check(t, "pages/staff-withdrawn", withdrawn, before)
	told.Check(t, "pages/staff-withdrawn-by", weber.get("/waiting", http.StatusOK), before, "T. Weber")
	if text := nowak.get("/waiting", http.StatusOK); strings.Contains(text, "Thomas") {
		t.Error("what was withdrawn still waits")
	}
	weber.waives("thomas-muller-identity", "The register has it already") // it can be asked for again

	// The others are declined together, and the asker is told why.
	list = nowak.get("/waiting", http.StatusOK)
	both := nowak.get("/waiting?"+url.Values{"show": {maria, pierre}}.Encode(), http.StatusOK)
	said := nowak.post("/waiting", http.StatusOK, with(form(t, both, "/waiting"), "decide", "decline", "reason", "The law asks for it"))
	said += nowak.post("/waiting", http.StatusOK, url.Values{"ids": {id(">Thomas")}, "decide": {"decline"}, "reason": {"The law asks for it"}})
	if strings.Count(said, "You declined.") != 3 {
		t.Error(said)
	}
	mine := weber.get("/waiting", http.StatusOK)
	if strings.Count(mine, "Declined: A. Nowak. The law asks for it") != 3 || !strings.Contains(mine, "Withdrawn by T. Weber") {
		t.Errorf("the asker is not told:\n%s", mine)
	}
	again := nowak.post("/waiting", http.StatusOK, url.Values{"ids": {pierre}, "decide": {"agree"}})
	if strings.Contains(again, "Agreed") {
		t.Errorf("what was declined is agreed to:\n%s", again)
	}
	nowak.post("/waiting", http.StatusBadRequest, url.Values{"ids": {pierre}})
	if declined := strings.Count(h.run("log", "show", "--as", "d.lang"), "verbatim.decline"); declined != 3 {
		t.Errorf("%d declines are in the journal", declined)
	}
}

// G54: who changed what is found by person, verb, day and row, under names, as a link and as a file, and
// no page tells where a palette lies on the server.
func TestWhatHappenedIsFound(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	clara, weber, lang := h.reader("clara"), h.reader("t.weber"), h.reader("d.lang")
	const note = "/do/client.add-note"
	for i, item := range []string{"pierre-dupont-source-of-wealth", "thomas-muller-identity"} {
		clara.post(note, http.StatusOK, with(form(t, clara.get(note+"?item="+item, http.StatusOK), note), "note", fmt.Sprint("=2+", i)))
	}
	weber.waives("maria-schmidt-date-of-birth", "The register has it already")

	all := lang.get("/journal", http.StatusOK)
	for _, want := range []string{"Clara Weiss", "Pierre Dupont (source of wealth)", "Thomas Müller (identity)", `href="/journal?who=clara"`, `href="/journal?verb=client.add-note"`} {
		if !strings.Contains(all, want) {
			t.Errorf("the history does not say %q:\n%s", want, all)
		}
	}
	if strings.Contains(all, "(personal)") || regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-`).MatchString(all) {
		t.Errorf("the history shows keys, or no names:\n%s", all)
	}
	for args, want := range map[string][2]int{ // of Pierre and of Thomas
		"who=clara": {1, 1}, "who=t.weber": {0, 0}, "who=nobody": {0, 0}, "verb=client.add-note": {1, 1}, "verb=review.accept": {0, 0},
		"from=today": {1, 1}, "until=yesterday": {0, 0}, "row=outstanding-request+%40pierre-dupont-source-of-wealth": {1, 0},
	} {
		page := lang.get("/journal?"+args, http.StatusOK)
		page = page[strings.Index(page, "</form>"):]
		if got := [2]int{strings.Count(page, "Pierre Dupont (source of wealth)"), strings.Count(page, "Thomas Müller (identity)")}; got != want {
			t.Errorf("%s finds %v, want %v", args, got, want)
		}
	}
	if text := lang.get("/journal?from=someday", http.StatusOK); !strings.Contains(text, "Error:") {
		t.Error("a day that is none is not told")
	}
	if text := lang.get("/journal?row=%40nobody", http.StatusOK); !strings.Contains(text, "I looked for that name and found no row that you can see.") {
		t.Error("a row that is none is not told")
	}
	rows, err := csv.NewReader(strings.NewReader(lang.get("/journal.csv?who=clara&verb=client.add-note", http.StatusOK))).ReadAll()
	if err != nil || len(rows) != 3 || rows[1][2] != "clara" || rows[1][3] != "Clara Weiss" || !strings.HasPrefix(rows[2][6], "Pierre Dupont (source of wealth)") {
		t.Errorf("%v %q", err, rows)
	}
	weber.get("/journal", http.StatusForbidden)
	weber.get("/journal.csv", http.StatusForbidden)
	if text := weber.get("/verbs/review.waive", http.StatusOK); strings.Contains(text, "/palettes/") || !strings.Contains(text, "review.yaml") {
		t.Errorf("the reference tells where the palette lies:\n%s", text)
	}

	// What somebody agreed to says so.
	before, nowak := lang.get("/journal?verb=review.waive", http.StatusOK), h.reader("a.nowak")
	id := waiting.FindStringSubmatch(nowak.get("/waiting", http.StatusOK))[1]
	nowak.post("/waiting/"+id, http.StatusOK, url.Values{"decide": {"agree"}})
	told.Check(t, "pages/staff-done-agreed", lang.get("/journal?verb=review.waive", http.StatusOK), before, "A. Nowak")

	// Whoever sees a request sees what happened to it.
	look := weber.get("/p/1/item/pierre-dupont-source-of-wealth", http.StatusOK)
	if !strings.Contains(look, "Clara Weiss") || !strings.Contains(look, "Leave a note on a request, and say when something is expected</strong>") || strings.Contains(look, "Updated at:") {
		t.Errorf("the timeline tells nothing:\n%s", look[strings.Index(look, `<ol class="timeline`):])
	}
}

// G54: an operator is told whether everything is well and what to do where it is not, sees jobs by their
// state, and tries several again or drops them, each with its own entry of the journal.
func TestWhetherEverythingIsWell(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	otto, weber := h.reader("otto"), h.reader("t.weber")
	weber.get("/health", http.StatusNotFound)
	well := otto.get("/health", http.StatusOK)
	if !strings.Contains(well, "The palettes in use are version ") { // G88
		t.Error("an operator is not told which palettes are in use")
	}
	if !strings.Contains(otto.get("/health?state=done", http.StatusOK), `aria-current="true">Finished<`) {
		t.Error("the jobs of a state are not shown")
	}
	h.kill()
	for i := range int64(3) { // their workers are away
		h.lost(i+1, "t.weber", time.Now().Add(-time.Hour))
	}
	h.ends("lost 1", "notice 1")
	h.start("--no-work")
	otto, weber = h.reader("otto"), h.reader("t.weber")
	weber.waives("maria-schmidt-date-of-birth", "The register has it already")
	h.sets("verbatim.confirmation", h.waits(), map[string]stores.Value{"expires": stores.NewTime(time.Now().Add(time.Hour))})
	ill := otto.get("/health", http.StatusOK)
	told.Check(t, "pages/staff-all-well", well, ill)
	told.Check(t, "pages/staff-dead", ill, well, "1")
	told.Check(t, "pages/staff-ending", ill, well, "1")
	if !strings.Contains(ill, "nowhere") || !strings.Contains(ill, "Assigned analyst") {
		t.Errorf("the job that was given up is not shown:\n%s", ill)
	}
	h.lost(4, "t.weber", time.Now().Add(-time.Hour))
	told.Check(t, "pages/staff-no-worker", otto.get("/health", http.StatusOK), well)

	f := form(t, ill, "/health/jobs")
	otto.post("/health/jobs", http.StatusBadRequest, with(f, "do", "retry"))
	again := otto.post("/health/jobs", http.StatusOK, with(f, "job notice 1", "1", "do", "retry"))
	if dead := otto.get("/health?state=dead", http.StatusOK); strings.Contains(dead, "notice 1") {
		t.Errorf("it is not tried again:\n%s", again[strings.Index(again, "<tbody"):])
	}
	sure := otto.post("/health/jobs", http.StatusOK, url.Values{"do": {"drop"}, "job notice 1": {"1"}, "job notice 2": {"1"}})
	if n := strings.Count(h.run("log", "show", "--as", "d.lang"), "system.drop-job"); n != 0 || !strings.Contains(sure, "Drop 2 for good?") {
		t.Errorf("%d were dropped unasked:\n%s", n, sure)
	}
	otto.post("/health/jobs", http.StatusOK, with(form(t, sure, "/health/jobs"), "sure", "1"))
	if n := strings.Count(h.run("log", "show", "--as", "d.lang"), "system.drop-job"); n != 2 {
		t.Errorf("%d drops are in the journal", n)
	}
	weber.post("/health/jobs", http.StatusNotFound, url.Values{"do": {"drop"}, "job notice 3": {"1"}, "sure": {"1"}})
}
