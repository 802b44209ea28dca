package servertest

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/tests/browsertest"
	"verbatim/stores"
)

// says checks that a page says some things, and does not say others, which begin with "not ".
func says(t *testing.T, page string, wants ...string) {
	t.Helper()
	text := plain(page)
	for _, want := range wants {
		if not, no := strings.CutPrefix(want, "not "); strings.Contains(text, not) == no {
			t.Errorf("the page says %q: %t\n%s", not, !strings.Contains(text, not), text)
		}
	}
}

// P3 of ux.md, O8: what a client sent is seen: in the receipt by its files and the time, in the list as with the
// bank, on the page of its request, and in the receipt of the journal, which has nothing of the bank's own work.
func TestWhatWasSentIsSeen(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	clara := h.reader("clara")
	const submit, item = "/do/client.submit-document", "pierre-dupont-source-of-wealth"
	f := with(form(t, clara.get(submit+"?item="+item, http.StatusOK), submit), "document-type", "TAX_RETURN", "notes", "Two of three")
	f["file-reference"] = clara.brings("Return 2021.txt") // no text is taken
	says(t, clara.post(submit, http.StatusUnprocessableEntity, f), "Return 2021.txt: this kind of file is not taken here")
	var files []string
	for _, name := range []string{"Return 2021.pdf", "Return 2022.pdf"} {
		files = append(files, regexp.MustCompile(`upload://[\w-]+`).FindString(clara.read(http.StatusCreated)(clara.c.Post(h.url("/v1/uploads?name="+strings.ReplaceAll(name, " ", "+")), "", strings.NewReader("%PDF-1.4 "+name)))))
	}
	f["file-reference"] = files
	done := clara.post(submit, http.StatusOK, f)
	banner := regexp.MustCompile(`(?s)<div class="banner ok".*?</div>`).FindString(done)
	says(t, banner, "Sent for Pierre Dupont", ": Return 2021.pdf, Return 2022.pdf.", "Received "+time.Now().UTC().Format("2 January 2006"))
	says(t, done, "You sent Bank statement (12 December 2024", "Tax return (", ", received)")
	says(t, clara.get("/p/1/item/"+item, http.StatusOK), "Part received", "The rule", "You sent", "Return 2021.pdf", "Return 2022.pdf", "received)", "not upload:")
	receipt := clara.get("/journal/"+h.entry("client.submit-document"), http.StatusOK)
	says(t, receipt, "Send a document", "File after: Return 2022.pdf", "Pierre Dupont (source of wealth)", "not Review task", "not @", "not upload:")

	// What she asked stands on the page of its request, and with an analyst.
	const ask = "/do/client.request-clarification"
	clara.post(ask, http.StatusOK, with(form(t, clara.get(ask+"?item="+item, http.StatusOK), ask), "question", "Is a copy enough?"))
	says(t, clara.get("/p/1/item/"+item, http.StatusOK), "You asked Is a copy enough?")
}

// O13, O35: a client's question reaches a page of the analysts, where it is answered and waits
// no longer, and a call for a person one of the managers.
func TestQuestionsAndCallsReachSomebody(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(h *house) {
		h.people = []string{"clara", "t.weber", "s.keller"}
	})
	clara, weber, manager := h.reader("clara"), h.reader("t.weber"), h.reader("s.keller")
	const ask, answer = "/do/client.request-clarification", "/do/review.answer"
	clara.post(ask, http.StatusOK, with(form(t, clara.get(ask+"?item=pierre-dupont-source-of-wealth", http.StatusOK), ask), "question", "Is a copy enough?"))
	open := weber.get("/p/2", http.StatusOK)
	says(t, weber.get("/", http.StatusOK), "What clients ask")
	says(t, open, "Is a copy enough?", "Pierre Dupont", "Source of wealth")
	link := regexp.MustCompile(`/do/review\.answer\?item=[^"]+`).FindString(open)
	weber.post(answer, http.StatusOK, with(form(t, weber.get(link, http.StatusOK), answer), "answer", "It is."))
	says(t, weber.get("/p/2", http.StatusOK), "not Is a copy enough?")
	says(t, clara.get("/p/1/item/pierre-dupont-source-of-wealth", http.StatusOK), "You asked Is a copy enough?", "It is.")

	const call = "/do/client.escalate"
	f := with(form(t, clara.get(call, http.StatusOK), call), "reason", "I am stuck", "preferred-contact", "CALL")
	f["pass"] = f["shown"]
	asked := clara.post(call, http.StatusOK, f)
	clara.post(call, http.StatusOK, with(form(t, asked, call), "yes", "1"))
	waits := manager.get("/", http.StatusOK)
	says(t, waits, "Clients who asked for a person", "E-1", "clara", "Allianz Reinsurance AG", "I am stuck")
}

// What is late says so beside its status, for the client and for the bank, and by how much.
func TestLateIsLateEverywhere(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	clara, weber := h.reader("clara"), h.reader("t.weber")
	clara.sends("passport.pdf", example(t, "passport.pdf"))
	h.request(thomas, "due_date", stores.DateOf(time.Now().UTC().AddDate(0, 0, -20)))
	says(t, weber.get("/", http.StatusOK), "Identity: Thomas Müller Late", "20 days ago")
	h.request(thomas, "status", stores.NewString("CORRECTION_NEEDED"))
	for _, at := range []string{"/", "/p/1/item/thomas-muller-identity"} {
		says(t, clara.get(at, http.StatusOK), "We need a correction Late", "20 days ago")
	}
}

// another is one more request of Pierre's, which is called as the first is.
const another = `
INSERT INTO kyc_outstanding_requests (request_id, workstream_id, request_type, request_subtype, status, due_date, created_at, updated_at)
    VALUES ('000004e9-0000-4000-8000-000000000077', '00000003-0000-4000-8000-000000000001', 'DOCUMENT', 'SOURCE_OF_WEALTH', 'PENDING', '2031-03-03', '2024-12-03T09:00:00Z', '2024-12-03T09:00:00Z');
`

// Choices that are called the same say what differs: for the client the day, and for an analyst whose list has
// neither, the name of the row.
func TestChoicesThatLookAlikeDiffer(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(h *house) { h.adds("bank.sql", another) })
	for who, at := range map[string]string{"clara": "/do/client.add-note", "t.weber": "/do/review.waive"} {
		page := h.reader(who).get(at, http.StatusOK)
		var all []string
		for _, m := range regexp.MustCompile(`<option [^>]*>([^<]*)</option>`).FindAllStringSubmatch(page, -1) {
			if strings.HasPrefix(m[1], "Pierre Dupont (source of wealth)") {
				all = append(all, m[1])
			}
		}
		if len(all) != 2 || all[0] == all[1] || who == "clara" && !strings.Contains(strings.Join(all, ""), "Due Monday 3 March 2031") {
			t.Errorf("%s chooses among %q", who, all)
		}
	}
}

// Pages for clients have no language of machines, and what cannot be had says what to do; what is somebody else's
// and what is not there are told alike.
func TestPagesForClientsAreInWords(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	clara, kim := h.reader("clara"), h.reader("kim")
	clara.post("/say", http.StatusOK, with(form(t, clara.get("/", http.StatusOK), "/say"), "said", "What do you still need?"))
	says(t, clara.get("/why", http.StatusOK), "What do you still need?", "not Turn", "not UTC Said", "not Matched", "not Not used", "not Model")
	const note, item = "/do/client.add-note", "?item=pierre-dupont-source-of-wealth"
	clara.post(note, http.StatusOK, with(form(t, clara.get(note+item, http.StatusOK), note), "note", "Soon"))
	late := clara.post(note, http.StatusUnprocessableEntity, with(form(t, clara.get(note+item, http.StatusOK), note), "note", "Soon", "expected-date-day", "1", "expected-date-month", "2", "expected-date-year", "2020"))
	says(t, late, "the earliest is today, "+time.Now().UTC().Format("2 January 2006"), "not today, 20")
	entry := h.entry("client.add-note")
	says(t, clara.get("/undo/99999", http.StatusUnprocessableEntity), "not Entry 99999", "Ask a person")
	theirs, none := kim.get("/journal/"+entry, http.StatusNotFound), kim.get("/journal/99999", http.StatusNotFound)
	if plain(theirs) != plain(none) {
		t.Errorf("an entry of somebody else is told otherwise than one that is not there:\n%s\n%s", plain(theirs), plain(none))
	}
	says(t, none, "Begin on the first page", "not What you typed")

	// A login that ends while a form is open.
	f := form(t, clara.get(note+item, http.StatusOK), note)
	f.Set("note", "Another")
	clara.c.Jar, _ = cookiejar.New(nil)
	says(t, clara.post(note, http.StatusOK, f), "You were signed out, and what you sent was not taken")
}

// A document whose name has 200 letters makes no page wider than its window, and from a document of the room a
// page leads to its analysis. Whoever goes back from what they sent comes to the form.
func TestBrowserNamesOfAnyLength(t *testing.T) {
	t.Parallel()
	tab := browsertest.Open(t)
	h := newDeal(t)
	const add = "/do/manda.add-document"
	reference := regexp.MustCompile(`upload://\S+`).FindString(h.run("upload", "--as", "ada", write(t, filepath.Join(h.dir, "long.txt"), "Revenue in 2025 was EUR 1m.")))
	h.run("run", "--as", "ada", write(t, filepath.Join(h.dir, "add.dsl"), "manda.add-document :deal-id @grevenau-project-heron :name \""+strings.Repeat("LongNameOfADocument", 6)+".txt\" :file \""+reference+"\"\n"))
	tab.Size(1280, "light")
	h.signIn(tab, "ada")
	tab.Wait("The deal")
	for _, width := range []int64{1280, 360} {
		tab.Size(width, "light")
		tab.Go(h.url("/do/manda.list-documents"))
		tab.Click("main form .btn")
		tab.Wait("LongNameOfADocument")
		if got := tab.Eval(`document.documentElement.scrollWidth - innerWidth`); got != "0" {
			t.Errorf("at %d the list is wider than the window by %s", width, got)
		}
		tab.Shoot(fmt.Sprintf("room-long-%d", width))
	}
	tab.Go(h.url("/p/2"))
	everywhere(tab, "room-documents")
	follow(tab, "[data-row]", "LongName")
	tab.Wait("Analyse")
	tab.Audit("room-document")

	// The answer to a form has the address of the form.
	tab.Go(h.url(add))
	tab.Click("main form .acts .btn")
	tab.Wait("There is a problem")
	tab.Go(h.url("/"))
	tab.Eval("(history.back(), '')")
	tab.Wait("Put a file into the room")
}
