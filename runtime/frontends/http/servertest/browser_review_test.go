package servertest

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/runtime/tests/browsertest"
)

// sends has Clara send a file for Thomas's identity.
func (h *house) sends(name, content string) {
	h.t.Helper()
	const at = "/do/client.submit-document"
	clara := h.reader("clara")
	given := with(form(h.t, clara.get(at+"?item=thomas-muller-identity", http.StatusOK), at), "document-type", "PASSPORT")
	clara.uploads(at, http.StatusOK, given, "file-reference", name, content)
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
	h.sends("passport.pdf", example(t, "passport.pdf"))
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
	everywhere(tab, "review")
	if !strings.Contains(tab.Text(), "passport.pdf") {
		t.Error(tab.Text())
	}
}
