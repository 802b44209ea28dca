package servertest

import (
	"strings"
	"testing"
)

// What a client did is taken back on the page that says that it is done: they see what
// would become of it, agree, and can take that back as well. Where somebody changed it
// since, they are told so.
func TestBrowserTakesBack(t *testing.T) {
	t.Parallel()
	h, tab := come(t, 640, "clara", "Your onboarding")
	note := func(text string) {
		tab.Go(h.url("/do/client.add-note?item=pierre-dupont-source-of-wealth"))
		tab.Eval(`document.querySelector("#note").value = ""`)
		tab.Type("#note", text)
		tab.Click("main form .btn")
		tab.Wait("Your note")
	}
	note("The adviser has it")
	follow(tab, ".banner", "Take it back")
	tab.Wait("Shall this be done?")
	tab.Wait("Take back: leave a note on a request")
	tab.Audit("take-back")
	here := tab.Eval("location.pathname")
	follow(tab, "main", "Take it back")
	tab.Wait("Done: take back")
	if got := h.run("log", "show", "--as", "d.lang", "--verb", "client.add-note.undo"); strings.Count(got, "client.add-note.undo :entry") != 1 {
		t.Errorf("the journal says %q", got)
	}
	follow(tab, ".banner", "Take it back")
	tab.Wait("Shall this be done?")
	follow(tab, "main", "No, leave it")
	tab.Wait("Not done. Nothing was changed.")
	// Of the first note, there is nothing left to take back.
	tab.Go(h.url(here))
	tab.Wait("Clara Weiss took it back already, by entry")
	tab.Audit("take-back-late")
	h.signIn(tab, "jonas")
	tab.Wait("Your onboarding")
	tab.Go(h.url(here))
	tab.Wait("You cannot take this back here. Ask a person for it.")
}
