package servertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/tests/browsertest"
)

// newPlanning is a house with a graph, people who make plans, and one who decides what is in
// doubt.
func newPlanning(t *testing.T) *house {
	t.Helper()
	const example = root + "/examples/confidence"
	h := &house{t: t, dir: t.TempDir(), people: []string{"ada", "olga"}}
	h.env = []string{"VERBATIM_PALETTES=confidence"}
	h.run("migrate")
	h.run("migrate", "--administrator", "vera", "--administrator", "wim")
	h.run("run", "--as", "vera", "--yes", example+"/people.dsl")
	_ = h.command("run", "--as", "vera", "--yes", example+"/rights.dsl").Run() // waits for the other administrator
	for line := range strings.Lines(h.run("confirm", "--as", "wim")) {
		h.run("confirm", strings.Fields(line)[0], "--agree", "--as", "wim")
	}
	h.run("run", "--as", "ed", "--yes", example+"/graph.dsl")
	script := filepath.Join(h.dir, "plan.dsl")
	if err := os.WriteFile(script, []byte(`plan.draft :title "Who knows the Zeppelin Works?" :least [0.8] :as @p :steps [
	(graph.links :name "Company A" :as @links)
	(graph.links :name "Zeppelin Works" :as @found)
	(graph.find :name @found.subject :as @ends)
	(graph.papers :about "regulation" :as @papers)]
plan.start :plan-id @p
`), 0o600); err != nil {
		t.Fatal(err)
	}
	h.open()
	h.run("run", "--as", "ada", "--yes", script)
	return h
}

// T25, T44, T50, U35: who made a plan sees how far each step is, and no figure of confidence;
// who oversees plans sees why an answer is in doubt, what depends on it, and lets it pass.
func TestBrowserPlans(t *testing.T) {
	t.Parallel()
	tab := browsertest.Open(t)
	h := newPlanning(t)
	tab.Size(1280, "light")
	h.signIn(tab, "ada")
	tab.Wait("Who knows the Zeppelin Works?")
	everywhere(tab, "plans")
	follow(tab, "main", "Who knows the Zeppelin Works?")
	tab.Wait("2 of 4 steps are done.")
	everywhere(tab, "plan")
	if text := tab.Text(); strings.Contains(text, "0.8") || strings.Contains(text, "0.2") || strings.Contains(text, "0.9") {
		t.Errorf("a figure of confidence is shown to who made the plan:\n%s", text)
	}
	if n := tab.Eval(`document.querySelectorAll("svg.graph rect").length + " " + document.querySelectorAll("svg.graph line").length`); n != `4 1` {
		t.Errorf("the graph has %s boxes and lines", n)
	}

	overseer := browsertest.Open(t)
	overseer.Size(1280, "light")
	h.signIn(overseer, "olga")
	overseer.Wait("Answers in doubt")
	overseer.Wait("found")
	everywhere(overseer, "doubts")
	follow(overseer, "main", "Who knows the Zeppelin Works?")
	overseer.Wait("Attempts of found")
	overseer.Wait("of 0.80 needed")
	everywhere(overseer, "doubt")
	follow(overseer, "main", "It will do")
	overseer.Wait("Why it will do all the same")
	overseer.Type("#reason", "The register has no Zeppelin Works either")
	overseer.Click("main form .btn")
	overseer.Wait("Answers in doubt (0)")
	tab.Go(h.url("/"))
	tab.Wait("Who knows the Zeppelin Works?")
	follow(tab, "main", "Who knows the Zeppelin Works?")
	for range 100 {
		if strings.Contains(tab.Text(), "3 of 4 steps are done.") {
			break
		}
		time.Sleep(100 * time.Millisecond)
		tab.Go(h.url("/p/1/item/who-knows-the-zeppelin-works"))
		tab.Wait("steps are done.")
	}
	tab.Wait("3 of 4 steps are done.") // what needed it had nothing to go by
	tab.Audit("plan-ended")
}
