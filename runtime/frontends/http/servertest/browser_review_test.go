package servertest

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"verbatim/runtime/tests/browsertest"
)

// sends sends a file for Thomas's identity, as Clara.
func (r reader) sends(name, content string) {
	r.h.t.Helper()
	const at = "/do/client.submit-document"
	given := with(form(r.h.t, r.get(at+"?item=thomas-muller-identity", http.StatusOK), at), "document-type", "PASSPORT")
	r.uploads(at, http.StatusOK, given, "file-reference", name, content)
}

// example is a file of the example.
func example(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "examples/client", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// G51: an analyst sees the document beside the decision, page by page, and decides from there.
func TestBrowserADocumentBesideItsDecision(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.reader("clara").sends("passport.pdf", example(t, "passport.pdf"))
	tab := browsertest.Open(t)
	tab.Size(1280, "light")
	h.signIn(tab, "t.weber")
	tab.Wait("What clients sent (1)")
	everywhere(tab, "queue")
	follow(tab, ".queue", "Identity")
	tab.Wait("Page 1 of 1")
	for what, want := range map[string]string{
		`document.querySelector("#decision") === document.activeElement`:                                             "true",
		`document.querySelector(".decide .btn:not(.plain)").textContent`:                                             "Accept",
		`[...document.querySelectorAll(".decide .acts .btn.bare, .decide .btn.plain")].map(b => b.textContent) + ""`: "Send back: Identity: Thomas Müller,Ask for more: Identity: Thomas Müller,Waive: Identity: Thomas Müller,Show",
	} {
		if got := tab.Eval(what); got != want {
			t.Errorf("%s is %s, want %s", what, got, want)
		}
	}
	// What is on file is found in the document, however a passport writes it, and marked; what is not there
	// is told as looked for.
	tab.Until(`document.querySelectorAll(".compared tbody tr:nth-child(1) button").length`, "1")
	if got, want := tab.Eval(`[...document.querySelectorAll(".compared tbody tr")].map(r => r.innerText.replace(/\s+/g, " ")).join("|")`), "Thomas Müller Entity name Page 1|Allianz Reinsurance AG Company I looked at every page (1 in all) and did not find it."; got != want {
		t.Errorf("what is compared is %s, want %s", got, want)
	}
	tab.Until(`document.querySelectorAll(".pdf-page mark").length > 0`, "true")
	if got := tab.Eval(`getComputedStyle(document.querySelector(".pdf-page mark")).backgroundColor`); !strings.HasPrefix(got, "rgba(") {
		t.Errorf("a mark of %s hides what it marks", got)
	}
	everywhere(tab, "review")
	if !strings.Contains(tab.Text(), "passport.pdf") {
		t.Error(tab.Text())
	}
}

// G51: a queue of ten is decided without the mouse: each decision leads on to the next item.
func TestBrowserAQueueOfTenByKeyboard(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(h *house) {
		var more strings.Builder
		for i := range 10 {
			fmt.Fprintf(&more, "\nINSERT INTO kyc_outstanding_requests (request_id, workstream_id, request_type, request_subtype, status, due_date, created_at, updated_at) VALUES ('100004e9-0000-4000-8000-%012d', '00000003-0000-4000-8000-%012x', 'DOCUMENT', 'ADDRESS', 'PENDING_REVIEW', '2025-01-%02d', '2024-12-02T09:00:00Z', '2024-12-02T09:00:00Z');", i, i+1, i+10)
		}
		h.adds("bank.sql", more.String())
	})
	tab := browsertest.Open(t)
	tab.Size(1280, "light")
	h.signIn(tab, "t.weber")
	tab.Wait("What clients sent (10)")
	tab.Press("jkj\r") // the first or the second: down, up, down, open
	tab.Wait("What to decide")
	for left := 9; left > 0; left-- {
		tab.Press("\t\r") // from the heading of the decision to its first button
		tab.Wait(fmt.Sprintf("What clients sent (%d)", left))
		if got := tab.Eval(`document.activeElement.id`); left > 1 && got != "decision" {
			t.Fatalf("with %d left the focus is on %q", left, got)
		}
		if !strings.Contains(tab.Eval(`location.pathname`), "/item/") { // it was the last of the list
			tab.Press("j\r")
			tab.Wait("What to decide")
		}
	}
	tab.Press("\t\r")
	tab.Wait("found none that you can see")
	if n := strings.Count(h.run("log", "show", "--as", "d.lang", "--verb", "review.accept"), "review.accept"); n != 10 {
		t.Errorf("%d were accepted", n)
	}
}

// G51: a file of a stranger is shown or given, and runs nothing: what a browser would run is never shown
// in our origin, and the file opens for nobody else.
func TestAStrangersFileRunsNothing(t *testing.T) {
	t.Parallel()
	const types = "types: [application/pdf, image/jpeg, image/png, image/heic, image/tiff]"
	h := newHouse(t, func(h *house) {
		own := filepath.Join(h.dir, "palettes")
		if err := os.CopyFS(own, os.DirFS(filepath.Join(root, "verbs/palettes/bank"))); err != nil {
			t.Fatal(err)
		}
		h.edit("palettes/client.yaml", types, "types: [application/pdf, image/*, text/*]")
		h.env = []string{"VERBATIM_PALETTES=" + own}
	})
	clara, weber, jonas := h.reader("clara"), h.reader("t.weber"), h.reader("jonas")
	files := regexp.MustCompile(`href="(/file/[^"]+)"`)
	for _, c := range []struct{ name, content, kind, shown string }{
		{"a.html", "<!doctype html><script>alert(1)</script><p>hello", "attachment", "Save the file"},
		{"a.svg", `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`, "attachment", "Save the file"},
		{"a.txt", "plain <script>alert(1)</script> text", "attachment", "plain &lt;script&gt;alert(1)&lt;/script&gt; text"},
		{"b.txt", "first line\nof THOMAS   MÜLLER, born", "attachment", `of <mark id="mark-1">THOMAS   MÜLLER</mark>, born`},
		{"a.pdf", example(t, "passport.pdf"), "inline", "data-pdf="},
		{strings.Repeat("long", 50) + ".pdf", example(t, "passport.pdf") + "%", "inline", "longlonglong"},
	} {
		clara.sends(c.name, c.content)
		page := weber.get("/p/1/item/thomas-muller-identity", http.StatusOK)
		if !strings.Contains(page, c.shown) || strings.Contains(page, "<script>alert") {
			t.Errorf("%.20s is shown otherwise:\n%s", c.name, page)
		}
		at := files.FindStringSubmatch(page)
		if at == nil {
			t.Fatalf("%.20s does not open:\n%s", c.name, page)
		}
		r, err := weber.c.Get(h.url(at[1]))
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		policy, kind, _ := strings.Cut(r.Header.Get("Content-Disposition"), ";")
		if policy != c.kind || r.Header.Get("X-Content-Type-Options") != "nosniff" || c.kind == "attachment" && !strings.Contains(r.Header.Get("Content-Security-Policy"), "sandbox") || len(kind) > 300 {
			t.Errorf("%.20s is given with %v", c.name, r.Header)
		}
		jonas.get(at[1], http.StatusNotFound)
	}
	weber.get("/file/"+url.PathEscape("../x"), http.StatusNotFound)
	page := weber.get("/p/1/item/thomas-muller-identity", http.StatusOK)
	if n := len(files.FindAllString(page, -1)); n != 1 || strings.Count(page, `?file=`) < 4 {
		t.Errorf("%d files are shown at once:\n%s", n, page)
	}
}

// A document that cannot be drawn says so, and opens by its link.
func TestBrowserADocumentThatCannotBeDrawn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.reader("clara").sends("broken.pdf", "%PDF-1.4 a file")
	tab := browsertest.Open(t)
	tab.Size(360, "light")
	h.signIn(tab, "t.weber")
	tab.Wait("What clients sent (1)")
	tab.Go(h.url("/p/1/item/thomas-muller-identity"))
	tab.Wait("The document cannot be drawn here. Open it in a tab of its own.")
	everywhere(tab, "review-broken")
}
