package main

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A studio frames pictures. Nothing arranges pages for its people.
const frames = `domain: frames
roles:
  - {name: customer, description: Has pictures framed.}
  - {name: framer, description: Works in the studio., sees: all}
  - {name: owner, description: Owns the studio., sees: all}
entities:
  customer: {description: Who has pictures framed., managed: true, key: customer_id, scope: self, label: "{name}", fields: {name: {type: string, required: true}}}
  job:
    description: One picture to be framed.
    managed: true
    key: job_id
    scope: customer
    label: "{picture}"
    fields:
      customer: {type: ref, ref-type: customer, required: true}
      picture: {type: string, required: true}
      price: {type: decimal, scale: 2, min: 0}
      currency: {type: string}
verbs:
  - verb: job
    description: How far a job is.
    roles: [customer, framer, owner]
    args: [{name: job-id, type: ref, ref-type: job, required: true}]
    reads: {entity: job, one: job-id, fields: {customer: customer, picture: picture, price: price}}
    phrases: ["how far is {job-id}"]
  - verb: quote
    description: Say what a job costs.
    roles: [framer]
    undo: rows
    args:
      - {name: job-id, type: ref, ref-type: job, required: true}
      - {name: price, type: money, currencies: [GBP], required: true, from: [person, script]}
    confirm: [{when: price.amount > 200, by: owner, reason: dear jobs are looked at twice}]
    phrases: ["{job-id} costs {price}"]
    tells: {asks: "May I note that {job-id} costs {price}?", done: "The price of {job-id} is {price} now."}
    effects: [{updates: job, where: job-id, set: {price: price.amount, currency: price.currency}}]
`

const framed = `INSERT INTO customer (customer_id, name) VALUES ('00000001-0000-4000-8000-000000000001', 'Ines Moreau');
INSERT INTO job (job_id, customer, picture) VALUES ('00000002-0000-4000-8000-000000000001', '00000001-0000-4000-8000-000000000001', 'Gran''s harbour'),
  ('00000002-0000-4000-8000-000000000002', '00000001-0000-4000-8000-000000000001', 'Red kite');
INSERT INTO verbatim_principal (name, label) VALUES ('fay', 'Fay Okoro'), ('olu', 'Olu Brandt');
INSERT INTO verbatim_grant (principal, role, entity, key) VALUES ('fay', 'framer', '', ''), ('olu', 'owner', '', '');
`

// A palette without pages has a first page all the same, with each verb's form and a conversation; what
// waits under other palettes is nobody's any more, and can be dropped; and people are told rows by their
// labels and money as they write it.
func TestAPaletteWithoutPagesIsOfUse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(h.dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("frames/frames.yaml", frames)
	write("framed.sql", framed)
	h.migrates("frames", "framed.sql")
	s := h.serve("--palettes", "frames", "--sign-in", "fay", "--sign-in", "olu")
	fay, olu := newVisitor(t).comes(s, "fay"), newVisitor(t).comes(s, "olu")

	key := regexp.MustCompile(`name="key" value="([^"]+)"`)
	says := func(text string, more url.Values) string {
		t.Helper()
		status, body := fay.get(s.url + "/")
		if status != http.StatusOK || !strings.Contains(body, `action="/say"`) || !strings.Contains(body, `href="/do/frames.quote"`) {
			t.Fatalf("the first page has no conversation, or no form: %d\n%s", status, body)
		}
		values := url.Values{"key": {key.FindStringSubmatch(body)[1]}, "said": {text}}
		for name := range more {
			values.Set(name, more.Get(name))
		}
		if status, body := fay.form(s.url+"/say", values); status != http.StatusSeeOther {
			t.Fatalf("%s: %d\n%s", text, status, body)
		}
		_, body = fay.get(s.url + "/")
		return body
	}
	if body := says("how far is gran's harbour", nil); !strings.Contains(body, "Ines Moreau") || strings.Contains(body, "@ines-moreau") {
		t.Errorf("a row is not told by its label:\n%s", body)
	}
	// waits has two jobs quoted that the owner looks at, and returns the pages of both.
	waits := func(jobs ...string) []string {
		t.Helper()
		for _, job := range jobs {
			asked := says(job+" costs £250.5", nil)
			if !strings.Contains(asked, "costs 250.50 GBP?") {
				t.Fatalf("the question does not tell the price:\n%s", asked)
			}
			if body := says("yes", nil); !strings.Contains(body, "role owner") {
				t.Fatalf("nobody else is asked:\n%s", body)
			}
		}
		_, body := olu.get(s.url + "/waiting")
		all := regexp.MustCompile(`href="(/waiting/[^"?]+)"`).FindAllStringSubmatch(body, -1)
		if len(all) < len(jobs) {
			t.Fatalf("nothing waits:\n%s", body)
		}
		var urls []string
		for _, one := range all {
			urls = append(urls, one[1])
		}
		return urls
	}
	first := waits("Gran's harbour")[0]
	status, body := olu.form(s.url+first, url.Values{"decide": {"agree"}})
	if status != http.StatusOK || !strings.Contains(body, "The price of Gran&#39;s harbour is 250.50 GBP now.") {
		t.Errorf("what was agreed to is told as %d\n%s", status, body)
	}

	second := waits("Red kite")[0]
	s.stop()
	write("frames/frames.yaml", strings.Replace(frames, "looked at twice", "looked at again", 1))
	if got := h.do("confirm", "--palettes", "frames", "--as", "olu"); !strings.Contains(got, "not yours any more; fay has to ask again") || strings.Contains(got, "yours to decide") {
		t.Errorf("the list says\n%s", got)
	}
	s = h.serve("--palettes", "frames", "--sign-in", "fay", "--sign-in", "olu")
	olu = newVisitor(t).comes(s, "olu")
	const again = "The palettes are new, and this is not for you to decide: Fay Okoro has to ask again."
	if _, body := olu.get(s.url + "/waiting"); !strings.Contains(body, again) {
		t.Errorf("the list does not say that nobody can agree:\n%s", body)
	}
	_, body = olu.get(s.url + second)
	if !strings.Contains(body, again) || !strings.Contains(body, `value="decline"`) || strings.Contains(body, `value="agree"`) {
		t.Errorf("it cannot be dropped, or be agreed to:\n%s", body)
	}
	if status, body := olu.form(s.url+second, url.Values{"decide": {"decline"}}); status != http.StatusOK {
		t.Errorf("declining it: %d\n%s", status, body)
	}
	if _, body := olu.get(s.url + "/waiting"); strings.Contains(body, again) {
		t.Errorf("it is still in the list:\n%s", body)
	}
}
