package servertest

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What a browser keeps of a form belongs to that form alone, and to nobody's next message.

// papers writes files of some names into a folder, each a small PDF of its own; one whose name says that
// it is a program is one.
func papers(t *testing.T, names ...string) (all []string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		content := "%PDF-1.4 " + name
		if strings.HasSuffix(name, ".exe") {
			content = "MZ a program"
		}
		all = append(all, filepath.Join(dir, name))
		if err := os.WriteFile(all[len(all)-1], []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// U22: a file that was chosen for one request stands in no form of another, and in its own until it is sent;
// what was typed for another request stays when one is sent. How many there are is right after one is removed.
func TestBrowserFilesStayWithTheirRequest(t *testing.T) {
	t.Parallel()
	h, tab := come(t, 360, "clara", "Your onboarding")
	files := papers(t, "one.pdf", "two.pdf", "three.pdf", "setup.exe")
	const of = "/do/client.submit-document?item="
	const count = `document.querySelectorAll(".sent input[type=hidden]").length`
	tab.Go(h.url(of + "thomas-muller-identity"))
	tab.File("#file-reference", files[:2]...)
	tab.Wait("Here already: two.pdf")
	tab.Go(h.url(of + "pierre-dupont-source-of-wealth"))
	tab.Type("#notes", "Pierre's own")
	if got := tab.Eval(count); got != "0" {
		t.Errorf("%s files of another request stand in the form:\n%s", got, tab.Text())
	}
	tab.Go(h.url(of + "thomas-muller-identity"))
	tab.Until(count, "2")

	// One more, and one that is not taken, which is said at once, in words.
	tab.File("#file-reference", files[2:]...)
	tab.Wait("setup.exe: this kind of file is not taken here, and what counts is what is in it. Send PDF, JPEG, PNG")
	tab.Wait("Here: 3, to come: 0, refused: 1")
	follow(tab, ".sent li.wrong", "Remove")
	follow(tab, ".sent li", "Remove")
	tab.Wait("Here: 2, to come: 0, refused: 0")
	if got := tab.Eval(`document.querySelector(".drop [role=status]").textContent`); got != "" {
		t.Errorf("of a file that is gone is told: %s", got)
	}

	// What is lacking keeps the files as they were, with their buttons; and what was chosen beside them.
	tab.Click("main form .acts .btn")
	tab.Wait("There is a problem")
	tab.Until(`document.querySelectorAll(".sent li button").length + " " + document.querySelectorAll(".sent input[type=checkbox]").length`, "2 0")
	tab.Click("#document-type")
	tab.Go(h.url(of + "thomas-muller-identity"))
	tab.Until(`document.querySelector("#document-type").checked`, "true")
	tab.Click("main form .acts .btn")
	tab.Wait("The bank checks it now.")
	tab.Go(h.url(of + "thomas-muller-identity"))
	if got := tab.Eval(count); got != "0" {
		t.Errorf("%s files are there after they were sent", got)
	}
	tab.Go(h.url(of + "pierre-dupont-source-of-wealth"))
	tab.Until(`document.querySelector("#notes").value`, "Pierre's own")
}

// A number like that of a card is in no box and no browser once it was removed from a message, and stands
// in none of what is said next.
func TestBrowserASecretLeavesTheBox(t *testing.T) {
	t.Parallel()
	h, tab := come(t, 1280, "clara", "Your onboarding")
	kept := func(when string) {
		t.Helper()
		if got := tab.Eval(`JSON.stringify(localStorage) + document.querySelector("#said").value`); strings.Contains(got, "5500") {
			t.Errorf("%s the browser has %s", when, got)
		}
	}
	tab.Type("#said", "My card is 5500 0000 0000 0004")
	if got := tab.Eval(`JSON.stringify(localStorage)`); strings.Contains(got, "5500") {
		t.Errorf("before it is sent the browser keeps %s", got)
	}
	tab.Press("\r")
	tab.Wait("I removed what looked like a card number")
	tab.Until(`document.querySelector("#said").value`, "")
	kept("after it was sent")
	tab.Go(h.url("/"))
	kept("on the page read anew")
	tab.Type("#said", "What do you need for Thomas?")
	tab.Press("\r")
	tab.Wait("What do you need for Thomas?")
	if text := tab.Text(); strings.Contains(text, "••••••What") {
		t.Errorf("it is part of what is said next:\n%s", text)
	}
}

// names reads the names of the documents in the room.
func (h *house) names() (all []string) {
	h.t.Helper()
	out := h.run("run", "--as", "ada", write(h.t, filepath.Join(h.dir, "list.dsl"), "manda.list-documents\n"))
	for _, m := range regexp.MustCompile(`[\w ()…-]+\.(?:pdf|txt)`).FindAllString(out, -1) {
		all = append(all, strings.TrimSpace(m))
	}
	return all
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// brings uploads files as a page does, before their form is sent.
func (r reader) brings(names ...string) (references []string) {
	r.h.t.Helper()
	for _, name := range names {
		text := r.read(http.StatusCreated)(r.c.Post(r.h.url("/v1/uploads?name="+url.QueryEscape(name)), "", strings.NewReader("A document of the room: "+name)))
		references = append(references, regexp.MustCompile(`upload://[\w-]+`).FindString(text))
	}
	return references
}

// Many files are put into a room at once: each has its own name, however long and though two are the same; one
// that is there already is named, and the others can be sent. A file sent in the conversation is offered to
// the room.
func TestEachFileOfARoomHasItsName(t *testing.T) {
	t.Parallel()
	h := newDeal(t)
	ada := h.reader("ada")
	const add = "/do/manda.add-document"
	sends := func(status int, name string, references []string) string {
		t.Helper()
		f := with(form(t, ada.get(add, http.StatusOK), add), "deal-id", "grevenau-project-heron", "name", name)
		f["file"] = references
		return ada.post(add, status, f)
	}
	files := ada.brings("a.txt", "b.txt", "a.txt", strings.Repeat("long_", 40)+".txt")
	if text := plain(sends(http.StatusUnprocessableEntity, "first batch", files)); !strings.Contains(text, "That is one name for 4 files. Leave it empty: each keeps its own.") {
		t.Errorf("of one name for four files is told:\n%s", text)
	}
	sends(http.StatusOK, "", files)
	got := strings.Join(h.names(), "\n")
	for _, want := range []string{"a.txt", "b.txt", "a (2).txt", "long_…"} {
		if !strings.Contains(got, strings.TrimSuffix(want, "…")) {
			t.Errorf("%s is not in the room:\n%s", want, got)
		}
	}
	text := plain(sends(http.StatusUnprocessableEntity, "", ada.brings("c.txt", "b.txt")))
	if !strings.Contains(text, "b.txt: A document of that name is in the room already") || !strings.Contains(text, "Here already: c.txt") || strings.Contains(text, "Here already: b.txt") {
		t.Errorf("of a file that is there already is told:\n%s", text)
	}
	sends(http.StatusOK, "Chosen.txt", ada.brings("d.txt"))
	if got := strings.Join(h.names(), "\n"); !strings.Contains(got, "Chosen.txt") || strings.Contains(got, "d.txt") {
		t.Errorf("a name that was chosen is not kept:\n%s", got)
	}

	offered := ada.uploads("/say/file", http.StatusOK, form(t, ada.get("/", http.StatusOK), "/say/file"), "file", "said.txt", "A text that was sent in the conversation.")
	if text := plain(offered); !strings.Contains(text, "Put a file into the room") || !strings.Contains(text, "Here already: said.txt") {
		t.Errorf("a file of the conversation is not offered to the room:\n%s", text)
	}
}
