package servertest

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"verbatim/stores"
)

// plain is the text of a page, without its markup.
func plain(page string) string {
	text := regexp.MustCompile(`(?s)<(?:script|style|title).*?</(?:script|style|title)>|<[^>]*>`).ReplaceAllString(page, " ")
	return strings.Join(strings.Fields(html.UnescapeString(text)), " ")
}

// G52: what was given is shown to the person who gave it, and corrected until the bank has checked it;
// then there is somebody to ask.
func TestAWrongDateIsCorrected(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	clara, weber := h.reader("clara"), h.reader("t.weber")
	const give, item, correct, mariaItem = "/do/client.provide-info", "/p/1/item/maria-schmidt-date-of-birth", "/do/client.correct-info", "?item=maria-schmidt-date-of-birth"
	says := func(page string, wants ...string) {
		t.Helper()
		text := plain(page)
		for _, want := range wants {
			if not, no := strings.CutPrefix(want, "not "); strings.Contains(text, not) == no || !no && !strings.Contains(text, want) {
				t.Errorf("the page says %q: %t\n%s", not, no, text)
			}
		}
	}
	f := form(t, clara.get(give+mariaItem, http.StatusOK), give)
	done := clara.post(give, http.StatusOK, with(f, "collected-data.date_of_birth-day", "5", "collected-data.date_of_birth-month", "3", "collected-data.date_of_birth-year", "1972"))
	says(done, "I have saved this", "5 March 1972", "not (not shown)", "Correct it")
	says(clara.get(item, http.StatusOK), "What you gave", "5 March 1972", "Correct it")

	// The form begins with what was given, and the correction is in the place of it.
	page := clara.get(correct+mariaItem, http.StatusOK)
	for name, value := range map[string]string{"day": "5", "month": "3", "year": "1972"} {
		if !regexp.MustCompile(`name="collected-data.date_of_birth-` + name + `" value="` + value + `"`).MatchString(page) {
			t.Errorf("the form does not begin with the %s that was given:\n%s", name, page)
		}
	}
	f = form(t, page, correct)
	done = clara.post(correct, http.StatusOK, with(f, "collected-data.date_of_birth-day", "15", "collected-data.date_of_birth-month", "3", "collected-data.date_of_birth-year", "1972"))
	says(done, "Corrected", "15 March 1972", "not (not shown)")
	says(clara.get(item, http.StatusOK), "15 March 1972", "not  5 March 1972")
	if got := h.run("log", "show", "--as", "d.lang"); strings.Count(got, "client.correct-info") == 0 {
		t.Errorf("the journal does not have the correction:\n%s", got)
	}

	// A receipt is in words (G54): no call, no number of the journal, no digest and no key.
	number := h.entry("client.correct-info")
	receipt := clara.get("/journal/"+number, http.StatusOK)
	says(receipt, "Receipt", "Correct it", "Clara Weiss", "not client.", "not Journal entry", "not :request-id", "not 1972")
	for _, page := range []string{receipt, clara.get("/", http.StatusOK), clara.get("/why", http.StatusOK), clara.get(item, http.StatusOK)} {
		if odd := regexp.MustCompile(`[0-9a-f]{16}|[0-9a-f]{8}-[0-9a-f]{4}|upload://|client\.[a-z]|\.yaml|/tmp/`).FindString(plain(page)); odd != "" {
			t.Errorf("a client is shown %q:\n%s", odd, plain(page))
		}
	}
	clara.get("/verbs", http.StatusNotFound)
	if text := weber.get("/verbs/review.accept", http.StatusOK); !strings.Contains(text, " review.yaml:") {
		t.Errorf("the reference does not say where it is declared, or where on this machine:\n%s", plain(text))
	}

	// Once the bank has checked it, it cannot be corrected, and there is somebody to ask.
	h.request(maria, "status", stores.NewString("PENDING"))
	h.request(maria, "needs_review", stores.NewBool(true))
	again := form(t, clara.get(give+mariaItem, http.StatusOK), give)
	again = with(again, "collected-data.date_of_birth-day", "15", "collected-data.date_of_birth-month", "3", "collected-data.date_of_birth-year", "1972")
	says(clara.post(give, http.StatusOK, again), "Correct it")
	says(clara.get(item, http.StatusOK), "Correct it")
	const accept = "/do/review.accept"
	accepts := with(form(t, weber.get(accept, http.StatusOK), accept), "request-id", "maria-schmidt-date-of-birth")
	says(weber.post(accept, http.StatusOK, accepts), "Accepted")
	says(clara.get(item, http.StatusOK), "15 March 1972", "not Correct it", "Ask about this")
	clara.get(correct+mariaItem, http.StatusNotFound)
	f = with(f, "key", "another", "collected-data.date_of_birth-day", "6", "collected-data.date_of_birth-month", "6", "collected-data.date_of_birth-year", "1976")
	says(clara.post(correct, http.StatusUnprocessableEntity, f), "nothing is left that the bank has not checked", "ask the analyst")
	says(clara.get("/do/client.request-clarification"+mariaItem, http.StatusOK), "What would you like to ask?")
}

// Palette authors try a verb on a dry run, and see what another version of a palette would change. A
// client does neither.
func TestAuthorsTryVerbsAndCompareVersions(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	weber, clara := h.reader("t.weber"), h.reader("clara")
	const waive = "/do/review.waive"
	page := weber.get("/verbs/review.waive", http.StatusOK)
	f := with(form(t, page, waive), "request-id", "thomas-muller-identity", "reason", "The register has it", "try", "show")
	tried := plain(weber.post(waive, http.StatusOK, f))
	for _, want := range []string{`review.waive :request-id @thomas-muller-identity~`, `:reason "The register has it"`, "What the person is asked", "Waived"} {
		if !strings.Contains(tried, want) {
			t.Errorf("there is no %q:\n%s", want, tried)
		}
	}
	if log := h.run("log", "show", "--as", "d.lang"); strings.Contains(log, "review.waive") {
		t.Errorf("a dry run did something:\n%s", log)
	}
	// What only answers is answered at once.
	waiting := plain(weber.post("/do/review.waiting", http.StatusOK, with(form(t, weber.get("/verbs/review.waiting", http.StatusOK), "/do/review.waiting"), "try", "show")))
	if !strings.Contains(waiting, "What was found") {
		t.Errorf("the answer is not shown:\n%s", waiting)
	}

	text := regexp.MustCompile(`(?s)<textarea id="text"[^>]*>(.*?)</textarea>`).FindStringSubmatch(weber.get("/palettes?palette=review", http.StatusOK))[1]
	text = html.UnescapeString(text)
	compare := func(status int, old, new string, wants ...string) {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("the palette has no %q", old)
		}
		got := plain(weber.post("/palettes", status, url.Values{"palette": {"review"}, "text": {strings.ReplaceAll(text, old, new)}}))
		got, _, _ = strings.Cut(got, "The other version")
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("there is no %q:\n%s", want, got)
			}
		}
	}
	compare(http.StatusOK, "verbs:", "verbs:", "The two say the same.")
	compare(http.StatusOK, "Accept what was sent, which settles the request.", "Accept it.", "review.accept", "− review.accept Accept what was sent", "+ review.accept Accept it.")
	compare(http.StatusOK, "      - {by: analyst, expires: 3d, reason: a requirement is waived by two people}\n", "      - {expires: 3d, reason: a requirement is waived}\n", "review.waive", "review.yaml:")
	compare(http.StatusOK, "waive", "forgo", "review.waive gone", "review.forgo new")
	compare(http.StatusUnprocessableEntity, "roles: [analyst]", "roles: [analist]", "There is a problem", "analist", "review.yaml:")
	compare(http.StatusUnprocessableEntity, "\nverbs:", "\nverbs: {", "There is a problem")
	clara.get("/palettes", http.StatusNotFound)
	clara.post("/palettes", http.StatusNotFound, url.Values{"palette": {"review"}, "text": {text}})
}

// 55: what a page shows of an item stands under the palette's own words, in each language, and under no
// name of a column.
func TestLabelsAreForPeople(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	readers := map[string]reader{"clara": h.reader("clara"), "t.weber": h.reader("t.weber")}
	dt := regexp.MustCompile(`<dt>([^<]*)</dt>`)
	for _, c := range []struct {
		who, language string
		want          []string
	}{
		{"clara", "en", []string{"Why", "The rule", "Accepted", "So far", "Often asked"}},
		{"clara", "de", []string{"Grund", "Die Vorschrift", "Möglich", "Bisher", "Häufig gefragt"}},
		{"t.weber", "en", []string{"Why it is needed", "The rule", "Accepted"}},
	} {
		r := readers[c.who]
		r.post("/look", http.StatusOK, with(form(t, r.get("/", http.StatusOK), "/look"), "language", c.language))
		page := r.get("/p/1/item/pierre-dupont-source-of-wealth", http.StatusOK)
		var got []string
		for _, m := range dt.FindAllStringSubmatch(page, -1) {
			got = append(got, html.UnescapeString(m[1]))
		}
		for _, want := range c.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s sees no %q in %s, but %q", c.who, want, c.language, got)
			}
		}
		if text := strings.Join(got, " "); regexp.MustCompile(`(?i)explanation|references|alternatives|_`).MatchString(text) {
			t.Errorf("%s sees names of columns in %s: %q", c.who, c.language, got)
		}
	}
}
