package load

import (
	"os"
	"strings"
	"testing"

	"verbatim/dsl"
)

// A catalogue that staff write and everybody reads needs a role that sees all, and lint says so
// for each way to declare it otherwise. What is shipped earns no such warning.
func TestLintSaysWhoMayNotWrite(t *testing.T) {
	t.Parallel()
	warned := func(text string) (all []string) {
		t.Helper()
		r, ds := Sources(dsl.NewSource("shelf.yaml", text))
		if r == nil {
			t.Fatal(inWords(ds))
		}
		for _, d := range OnlyToRead(r) {
			if d.Code != "only-to-read" || d.Severity != dsl.Warning {
				t.Errorf("%s: %s", d.Code, d.Summary)
			}
			all = append(all, d.Summary)
		}
		return all
	}
	doc := unspokenCodes()[1]
	adds := strings.Replace(doc.Wrong, "effects: [{updates: book.title, where: book-id, set: {title: title}}]", "effects: [{creates: book, set: {title: title}}]", 1)
	for text, want := range map[string]string{
		doc.Wrong: "shelf.retitle would be refused to role librarian, which may only read rows of book",
		doc.Right: "",
		adds:      "shelf.retitle would be refused to role librarian, which may only read rows of book",
		strings.Replace(adds, "everyone", "self", 1):      "shelf.retitle would be refused to role librarian: nobody holds a row of book that is new",
		strings.Replace(doc.Wrong, "everyone", "self", 1): "", // whoever holds the book does
	} {
		if got := strings.Join(warned(text), "|"); got != want {
			t.Errorf("%s\nearns %q, want %q", text, got, want)
		}
	}
	for _, dir := range []string{"../palettes/bank", "../../examples/helpdesk/verbs"} {
		r, ds := Dir(os.DirFS(dir))
		if r == nil {
			t.Fatal(inWords(ds))
		}
		for _, d := range OnlyToRead(r) {
			t.Errorf("%s: %s", dir, d.Summary)
		}
	}
}

// Whoever may use a verb may use those that it calls, schedules and is taken back by, or lint says so.
func TestLintSaysWhoMayNotCall(t *testing.T) {
	t.Parallel()
	doc := unspokenCodes()[2]
	inner := func(as string) string {
		return strings.Replace(doc.Wrong, `script: "shelf.retitle :book-id @book-id :title @title"`, as, 1)
	}
	const call = `"shelf.retitle :book-id @book-id :title @title"`
	for text, want := range map[string]string{
		doc.Wrong: "shelf.correct would be refused to role librarian: it calls shelf.retitle, which that role may not use",
		doc.Right: "",
		inner("effects: [{triggers: later, run: " + call + "}]"):                                                              "shelf.correct would be refused to role librarian: it schedules shelf.retitle, which that role may not use",
		inner("undo: {by: " + call + "}\n    effects: [{updates: book.title, where: book-id, set: {title: title}}]"):          "shelf.correct would be refused to role librarian: it is taken back by shelf.retitle, which that role may not use",
		strings.Replace(inner("effects: [{triggers: later, run: "+call+"}]"), "roles: [librarian, head]", "roles: [head]", 1): "",
	} {
		r, ds := Sources(dsl.NewSource("shelf.yaml", text))
		if r == nil {
			t.Fatal(inWords(ds))
		}
		var all []string
		for _, d := range NotForRoles(r) {
			if d.Code != "not-for-role" || d.Severity != dsl.Warning {
				t.Errorf("%s: %s", d.Code, d.Summary)
			}
			all = append(all, d.Summary)
		}
		if got := strings.Join(all, "|"); got != want {
			t.Errorf("%s\nearns %q, want %q", text, got, want)
		}
	}
	for _, dir := range []string{"../palettes/bank", "../../examples/helpdesk/verbs", "../palettes/kyc", "../palettes/kiisha", "../../examples/retail/verbs", "../../examples/workshop/verbs"} {
		r, ds := Dir(os.DirFS(dir))
		if r == nil {
			t.Fatal(inWords(ds))
		}
		for _, d := range NotForRoles(r) {
			t.Errorf("%s: %s", dir, d.Summary)
		}
	}
}
