package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// A request with one question can be checked and sent, also after a wrong answer; a month may be
// written as a name; and a note is shown as it was written. (G10)
func TestAPersonFillsInForms(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		h.people()
		s := h.serve("--log", "off", "--sign-in", "clara")
		clara := newVisitor(t).comes(s, "clara")
		keyed := regexp.MustCompile(`name="key" value="([^"]*)"`)
		fill := func(where string, form url.Values) (int, string) {
			t.Helper()
			_, page := clara.get(s.url + where)
			key := keyed.FindStringSubmatch(page)
			if key == nil {
				t.Fatal(page)
			}
			form.Set("key", key[1])
			return clara.form(s.url+where, form)
		}
		const questions = "/questions/maria-schmidt-date-of-birth"
		birth := func(day, month string) url.Values {
			return url.Values{"field": {"date_of_birth"}, "value-day": {day}, "value-month": {month}, "value-year": {"1972"}}
		}
		if status, page := fill(questions, birth("15", "March")); status != http.StatusSeeOther {
			t.Fatalf("%d %s", status, page)
		}
		if _, page := clara.get(s.url + questions); !strings.Contains(page, "Send these answers") && !strings.Contains(page, `name="send"`) || !strings.Contains(page, "15 March 1972") {
			t.Errorf("it is not to be checked: %s", page)
		}
		if status, page := fill(questions+"?field=date_of_birth", birth("31", "February")); status != http.StatusUnprocessableEntity || !strings.Contains(page, "There is no such day") {
			t.Errorf("%d %s", status, page)
		}
		if status, page := fill(questions+"?field=date_of_birth", url.Values{"field": {"date_of_birth"}, "value-day": {"16"}, "value-month": {"3"}, "value-year": {"2972"}}); status != http.StatusUnprocessableEntity {
			t.Errorf("%d %s", status, page)
		}
		if status, page := fill(questions, url.Values{"send": {"1"}}); status != http.StatusSeeOther {
			t.Errorf("%d %s", status, page)
		}
		if status, page := fill("/do/client.add-note?item=thomas-muller-identity", url.Values{"item": {"thomas-muller-identity"}, "note": {"iPad scans <follow>"}}); status != http.StatusSeeOther {
			t.Errorf("%d %s", status, page)
		}
		if _, page := clara.get(s.url + "/"); !strings.Contains(page, "iPad scans &lt;follow&gt;") {
			t.Errorf("the note is not as it was written: %s", page)
		}
	})
}
