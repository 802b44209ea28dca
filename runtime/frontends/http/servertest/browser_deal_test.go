package servertest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"verbatim/runtime/tests/browsertest"
)

// newDeal is a house with the data room of a deal, in which some documents were read.
func newDeal(t *testing.T, documents ...string) *house {
	t.Helper()
	const example = root + "/examples/manda"
	h := &house{t: t, dir: t.TempDir(), people: []string{"ada"}}
	h.env = []string{"VERBATIM_PALETTES=manda", "VERBATIM_FILES=" + filepath.Join(h.dir, "files")}
	h.run("migrate")
	h.run("migrate", "--data", example+"/people.sql")
	script := filepath.Join(h.dir, "add.dsl")
	for _, name := range documents {
		reference := regexp.MustCompile(`upload://\S+`).FindString(h.run("upload", "--as", "ada", filepath.Join(example, "room/heron/files", name)))
		text := "manda.add-document :deal-id @grevenau-project-heron :name \"" + name + "\" :file \"" + reference + "\" :as @document\nmanda.analyse-document :document-id @document\n"
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		h.run("run", "--as", "ada", script)
	}
	h.open()
	return h
}

// M16, U23: an analyst asks on the page of the deal, and follows an answer to its finding and
// to the page of the file; what the company is asked stands on the page.
func TestBrowserTheDeal(t *testing.T) {
	t.Parallel()
	tab := browsertest.Open(t)
	h := newDeal(t, "Q3_2024_Report.pdf", "Board_Minutes_Jan_2025.txt", "Headcount_Dec_2024.xlsx")
	tab.Size(1280, "light")
	h.signIn(tab, "ada")
	tab.Wait("The deal")
	tab.Type("#said", "What was the revenue in Q3 2024?")
	tab.Press("\r")
	tab.Wait("(source: Q3_2024_Report.pdf, p.")
	everywhere(tab, "deal")
	tab.Click(".log summary")
	tab.Audit("deal-sources")
	tab.Click(`.log details a[href^="/row/manda.get-source/"]`)
	tab.Wait("Open Q3_2024_Report.pdf at page")

	everywhereAt(tab, h.url("/do/manda.query-knowledge-base"), "deal-form")
	for _, width := range []int64{320, 1280} {
		for _, look := range []string{"dark", "light"} {
			tab.Size(width, look)
			tab.Go(h.url("/do/manda.query-knowledge-base"))
			tab.Type("#question", "What was the revenue in Q3 2024?")
			tab.Click("main form .btn")
			tab.Wait("(source: Q3_2024_Report.pdf, p.")
			tab.Audit("deal-answer")
		}
	}
	tab.Click(`main td a[href^="/row/manda.get-source/"]`)
	tab.Wait("Open Q3_2024_Report.pdf at page")
	// What was read stands marked in the file, at its page.
	tab.Until(`document.querySelectorAll(".pdf-page mark").length > 0`, "true")
	everywhere(tab, "row")
	where := tab.Eval(`document.querySelector('main a[href*="/file#page="]').href`)
	tab.Eval(`(() => { fetch(` + "`" + where + "`" + `).then(async r => { window.got = r.status + " " + r.headers.get("Content-Type") + " " + (await r.text()).slice(0, 5) }); return "" })()`)
	tab.Until("window.got", "200 application/pdf %PDF-")
	// What a browser shows of a file is its own; the click leads there.
	tab.Eval(`(() => { navigation.addEventListener("navigate", e => { window.goes = e.destination.url; e.preventDefault() }); return "" })()`)
	tab.Click(`main a[href*="/file#page="]`)
	tab.Until("window.goes", where)

	tab.Go(h.url("/do/manda.add-to-qa"))
	tab.Type("#text", "How is the lease of Roanne secured?")
	tab.Click("main form .btn")
	tab.Wait("How is the lease of Roanne secured?")
	tab.Go(h.url("/"))
	tab.Wait("How is the lease of Roanne secured?")
	everywhere(tab, "deal-questions")
	follow(tab, "[data-row]", "Note the answer")
	tab.Wait("How is the lease of Roanne secured?")
	everywhere(tab, "deal-answering")
	if text := tab.Text(); regexp.MustCompile(`(?i)confidence|likelihood|[0-9a-f]{8}-[0-9a-f]{4}-4`).MatchString(text) || strings.Contains(text, "upload://") {
		t.Errorf("the page shows a key:\n%s", text)
	}
}
