package servertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/runtime/tests/browsertest"
)

// G54, G55: telling states of the pages for clients, each seen to be that state, at every width, light
// and dark, without a finding of axe. make pages writes their pictures.
func TestBrowserStates(t *testing.T) {
	t.Parallel()
	h, tab := come(t, 1280, "clara", "The next thing to do")
	seen := func(name, path string, wants ...string) {
		t.Helper()
		if path != "" {
			tab.Go(h.url(path))
		}
		for _, want := range wants {
			tab.Wait(want)
		}
		// None of them is the page to sign in.
		if got := tab.Eval(`location.pathname.startsWith("/sign-in") || !document.querySelector("form[action='/sign-out']")`); got != "false" {
			t.Fatalf("%s is the page to sign in:\n%s", name, tab.Text())
		}
		everywhere(tab, "client-"+name)
		// A page ends where its foot does, and leaves nothing out of sight below.
		if got := tab.Eval(`Math.round(document.documentElement.scrollHeight - Math.max(innerHeight, document.getElementById("foot").getBoundingClientRect().bottom + scrollY))`); got != "0" && got != "1" {
			t.Errorf("%s goes on for %s px below its foot", name, got)
		}
	}
	seen("home", "/", "The next thing to do", "What else we need (2)")
	if got := tab.Eval(`document.querySelectorAll("#page .card:not(#talk) .btn:not(.bare)").length`); got != "1" {
		t.Errorf("%s buttons ask for attention", got)
	}
	seen("item", "/p/1/item/pierre-dupont-source-of-wealth", "Source of wealth: Pierre Dupont")
	seen("question", "/questions/pierre-dupont-source-of-wealth", "Question 1 of")
	tab.Click("#value")
	tab.Click("main form .acts .btn")
	tab.Wait("Question 2 of")
	seen("person", "/do/client.escalate", "What is passed on")
}

// tabTo presses Tab until the focus is on what says a text, within what a selector finds.
func tabTo(tab *browsertest.Tab, within, says string) {
	for range 120 {
		tab.Press("\t")
		at := fmt.Sprintf(`(e => e.closest(%q) && (e.textContent.trim().startsWith(%[2]q) || e.labels?.[0]?.textContent.trim().startsWith(%[2]q)))(document.activeElement)`, within, says)
		if tab.Eval("!!"+at) == "true" {
			return
		}
	}
	tab.Fail("the keyboard does not come to " + says)
}

// Clara's morning with a wrong date corrected, by the keyboard alone and on a phone: she gives Maria's
// date of birth, sees that the day is wrong and corrects it; she sends two pages of Thomas's passport at
// once, and what she meant to leave out is not sent. What the pages say is so of the rows. (G52, G55)
func TestBrowserClarasMorning(t *testing.T) {
	t.Parallel()
	h, tab := come(t, 360, "clara", "The next thing to do")
	still := func(where string) {
		t.Helper()
		if got := tab.Shift(); got > 0.02 {
			t.Errorf("%s shifts by %.3f", where, got)
		}
	}
	const marias, card = `[data-row]:has(a[href*="maria"])`, `.card.next`
	tabTo(tab, marias, "Give the information")
	tab.Press("\r")
	tab.Wait("Day, month and year")
	tabTo(tab, "main form", "Day")
	tab.Press("5")
	tab.Press("\t")
	tab.Press("3")
	tab.Press("\t")
	tab.Press("1972")
	tab.Press("\r")
	tab.Wait("I have saved this")
	tab.Wait("5 March 1972")
	still("the receipt")
	tabTo(tab, ".banner", "Correct it")
	tab.Press("\r")
	tab.Wait("Day, month and year")
	tabTo(tab, "main form", "Day")
	tab.Eval(`(document.activeElement.select(), "")`) // Tab selects what is in a field; the protocol's key does not
	tab.Press("15")
	tab.Press("\r")
	tab.Wait("Corrected")
	tab.Wait("15 March 1972")
	tab.Audit("journey-corrected")
	e, rows := h.rows("info-submission")
	if len(rows) != 1 || !strings.Contains(rows[0][e.FieldIndex("collected_data")].Text(), "1972-03-15") || rows[0][e.FieldIndex("client")].Text() != "clara" {
		t.Errorf("the rows are %v", rows)
	}

	_, before := h.rows("document-submission")
	// Two files at once, one of a name of 200 letters; a third is removed, and one is dropped on the card.
	dir := t.TempDir()
	var files []string
	for i, name := range []string{"page-1.pdf", strings.Repeat("long", 49) + ".pdf", "wrong.pdf"} {
		files = append(files, filepath.Join(dir, name))
		if err := os.WriteFile(files[i], fmt.Appendf(nil, "%%PDF-1.4 %d", i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tab.Go(h.url("/"))
	tabTo(tab, card, "Passport")
	tab.Press(" ")
	tab.File(card+" input[type=file]", files...)
	for _, file := range files {
		tab.Wait("Here already: " + filepath.Base(file))
	}
	tab.Eval(`(() => { const all = new DataTransfer(); all.items.add(new File(["%PDF-1.4 dropped"], "dropped.pdf", {type: "application/pdf"}));
		document.querySelector(".card.next h2").dispatchEvent(new DragEvent("drop", {dataTransfer: all, bubbles: true, cancelable: true})); return "" })()`)
	tab.Wait("Here already: dropped.pdf")
	follow(tab, `.sent li:nth-child(3)`, "Remove")
	if strings.Contains(tab.Text(), "wrong.pdf") {
		t.Error("what was removed is still there")
	}
	tab.AuditAct("journey-files")
	tabTo(tab, card, "Send a document")
	tab.Press("\r")
	tab.Wait("The bank checks it now.")
	if n := strings.Count(tab.Eval(`document.querySelector(".banner").innerText`), "The bank checks it now."); n != 1 {
		t.Errorf("it is told %d times", n)
	}
	if _, rows := h.rows("document-submission"); len(rows)-len(before) != 3 {
		t.Errorf("%d documents were sent", len(rows)-len(before))
	}

	// A session that ends while a file is sent is said, and nothing is lost on the way.
	tab.Go(h.url("/do/client.submit-document?item=pierre-dupont-source-of-wealth"))
	tab.Wait("What kind of document is it?")
	tab.Forget()
	tab.File("#file-reference", files[0])
	tab.Wait("You are signed out. Sign in in another tab")
}

// G55: a screen reader hears an answer, also one with sources, and hears it whole; the page does not
// grow below its foot by it.
func TestBrowserAnswersAreHeard(t *testing.T) {
	t.Parallel()
	h, tab := come(t, 360, "clara", "The next thing to do")
	_ = h
	tab.Type("#said", "Hi, what do you still need from us?")
	tab.Press("\r")
	tab.Wait("not only where this payment comes from")
	tab.Until(`document.querySelector("#live").getAttribute("aria-busy")`, "false")
	// A list of sources below the answer, as package portal writes it.
	tab.Eval(`(() => { const last = [...document.querySelectorAll(".log>li")].pop(); last.insertAdjacentHTML("beforeend", "<details><summary>Sources</summary><ul><li><a href='/'>A row</a></li></ul></details>");
		document.dispatchEvent(new CustomEvent("htmx:after:swap")); return "" })()`)
	if got := tab.Eval(`document.getElementById("state").textContent`); !strings.Contains(got, "What is still needed") {
		t.Errorf("what is heard is %q", got)
	}
	if got := tab.Eval(`Math.round(document.documentElement.scrollHeight - document.getElementById("foot").getBoundingClientRect().bottom - scrollY)`); got != "0" && got != "1" {
		t.Errorf("the page goes on for %s px below its foot", got)
	}
	if got := tab.Shift(); got > 0.02 {
		t.Errorf("the answer shifts the page by %.3f", got)
	}
}
