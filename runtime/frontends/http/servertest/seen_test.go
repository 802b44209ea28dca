package servertest

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

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
