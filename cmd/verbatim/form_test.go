package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Teams book rooms on a page without detail.
const bookings = `domain: rooms
roles: [{name: member, description: Books.}]
schemas:
  address: {type: object, required: [street], additionalProperties: false, properties: {street: {type: string}, town: {type: string}}}
codes:
  - name: room
    values: [{code: ATRIUM, label: the atrium}, {code: LIBRARY, label: the library}]
entities:
  team: {description: Who books., managed: true, key: team_id, scope: self, label: "{name}", fields: {name: {type: string, required: true}}}
  booking:
    description: A room for a day.
    managed: true
    key: booking_id
    scope: team
    label: "{room} {day}"
    fields:
      team: {type: ref, ref-type: team, required: true}
      room: {type: code, ref-type: room, required: true}
      day: {type: date, required: true}
      bill: {type: object, schema: address}
      price: {type: decimal}
      seats: {type: integer}
      deposit: {type: decimal}
      currency: {type: string}
pages:
  - role: member
    title: Your bookings
    about: team
    items: {verb: rooms.list, row: booking, title: [room], due: day}
    also: [rooms.book]
verbs:
  - verb: book
    description: Book a room.
    roles: [member]
    undo: rows
    args:
      - {name: room, type: code, ref-type: room, required: true}
      - {name: day, type: date, required: true}
      - {name: bill, type: object, schema: address}
      - {name: price, type: decimal}
      - {name: seats, type: integer}
      - {name: deposit, type: money, currencies: [GBP]}
      - {name: fee, type: money, currencies: [EUR, USD]}
      - {name: team-id, type: ref, ref-type: team, default: active}
    effects: [{creates: booking, set: {team: team-id, room: room, day: day, bill: bill, price: price, seats: seats, deposit: deposit.amount, currency: deposit.currency}}]
  - verb: list
    description: What is booked.
    roles: [member]
    reads:
      entity: booking
      order: [day]
      fields: {booking: booking_id, room: room, day: day, bill: bill, price: price, seats: seats, deposit: deposit, currency: currency}
`

const teams = `INSERT INTO team (team_id, name) VALUES ('00000001-0000-4000-8000-000000000001', 'Design');
INSERT INTO verbatim_principal (name, label) VALUES ('ada', 'Ada Novak');
INSERT INTO verbatim_grant (principal, role, entity, key) VALUES ('ada', 'member', 'team', '00000001-0000-4000-8000-000000000001');
`

// A form is of use again after whatever went wrong with it: it may leave out what a call may leave
// out, takes numbers as people write them, and does another thing after the first was done.
func TestAFormIsFilledInAsPeopleDo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	if err := os.Mkdir(filepath.Join(h.dir, "rooms"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"rooms/rooms.yaml": bookings, "teams.sql": teams, "list.dsl": "rooms.list"} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.migrates("rooms", "teams.sql")
	s := h.serve("--palettes", "rooms", "--sign-in", "ada")
	ada := newVisitor(t).comes(s, "ada")
	key := regexp.MustCompile(`name="key" value="([^"]+)"`)
	fresh := func(body string) string {
		t.Helper()
		found := key.FindStringSubmatch(body)
		if found == nil {
			t.Fatalf("the form has no key:\n%s", body)
		}
		return found[1]
	}
	n := 0
	// send sends a form of another day each time, and returns the answer.
	send := func(fields ...string) (int, string) {
		t.Helper()
		_, body := ada.get(s.url + "/do/rooms.book")
		n++
		values := url.Values{"key": {fresh(body)}, "room": {"ATRIUM"}, "day-day": {fmt.Sprint(n)}, "day-month": {"12"}, "day-year": {"2027"}}
		for i := 0; i < len(fields); i += 2 {
			values.Set(fields[i], fields[i+1])
		}
		return ada.form(s.url+"/do/rooms.book", values)
	}
	done := func(what string, code int, body string) {
		t.Helper()
		if code != http.StatusSeeOther {
			t.Errorf("%s: %d\n%s", what, code, body)
		}
	}

	if _, body := ada.get(s.url + "/do/rooms.book"); !regexp.MustCompile(`>street <span class="quiet">\(may be left out\)`).MatchString(body) {
		t.Errorf("a part of an optional object is not said to be optional:\n%s", body)
	}
	code, body := send()
	done("an optional object that is left out", code, body)
	if code, body := send("bill.town", "Roanne"); code != http.StatusUnprocessableEntity || !strings.Contains(body, "This is needed.") {
		t.Errorf("a part of an optional object: %d\n%s", code, body)
	}
	code, body = send("bill.street", "Rue 1")
	done("an optional object", code, body)

	for given, want := range map[string]string{"1.5": "1.5", "1,5": "1.5", "1,250.00": "1250.00", "1.250": "1.250", "-3": "-3", "1e5": "100000", "12345678901234567890.25": "12345678901234567890.25"} {
		code, body := send("price", given)
		done(given, code, body)
		if got := h.do("run", "--palettes", "rooms", "--as", "ada", "list.dsl"); !regexp.MustCompile(`price +` + regexp.QuoteMeta(want) + `\n`).MatchString(got) {
			t.Errorf("%s is not kept as %s:\n%s", given, want, got)
		}
	}
	for _, c := range [][3]string{{"price", "a lot", "Write a number, such as"}, {"price", "5 kg", "Write a number, such as"}, {"price", "1 250", "Is that "},
		{"seats", "1.5", "Write a whole number"}, {"seats", "1.000", "Write a whole number"}} {
		if code, body := send(c[0], c[1]); code != http.StatusUnprocessableEntity || !strings.Contains(body, c[2]) {
			t.Errorf("%s %s: %d\n%s", c[0], c[1], code, body)
		}
	}
	for given, want := range map[string]string{"260": "260", "£260.5": "260.5", "260,50 GBP": "260.50", "£1,250": "1250", "40 pounds": "40"} {
		code, body := send("deposit", given)
		done(given, code, body)
		if got := h.do("run", "--palettes", "rooms", "--as", "ada", "list.dsl"); !regexp.MustCompile(`deposit +` + regexp.QuoteMeta(want) + `\n +currency +GBP\n`).MatchString(got) {
			t.Errorf("%s is not kept as %s:\n%s", given, want, got)
		}
	}
	for _, c := range [][3]string{{"deposit", "a lot", "Write an amount, for example 12.50 GBP."}, {"deposit", "3 EUR", "Write an amount, for example 12.50 GBP."},
		{"fee", "12", "Write an amount, for example 12.50 EUR or 12.50 USD."}} {
		if code, body := send(c[0], c[1]); code != http.StatusUnprocessableEntity || !strings.Contains(body, c[2]) {
			t.Errorf("%s %s: %d\n%s", c[0], c[1], code, body)
		}
	}
	code, body = send("fee", "$12")
	done("the only dollar", code, body)
	if _, body := ada.get(s.url + "/do/rooms.book"); !strings.Contains(body, "Amount, for example 12.50 GBP<") || !strings.Contains(body, "Amount, for example 12.50 EUR or 12.50 USD<") {
		t.Errorf("the hints are not in the currencies that are accepted:\n%s", body)
	}
	code, body = send("seats", "1,000")
	done("thousands", code, body)

	// The same form once more, with something else in it.
	_, body = ada.get(s.url + "/do/rooms.book")
	values := url.Values{"key": {fresh(body)}, "room": {"ATRIUM"}, "day-day": {"1"}, "day-month": {"3"}, "day-year": {"2028"}}
	code, body = ada.form(s.url+"/do/rooms.book", values)
	done("first", code, body)
	values.Set("room", "LIBRARY")
	code, body = ada.form(s.url+"/do/rooms.book", values)
	if code != http.StatusConflict || !strings.Contains(body, "This form was sent before with other values") || fresh(body) == values.Get("key") {
		t.Fatalf("a form whose key was used: %d\n%s", code, body)
	}
	values.Set("key", fresh(body))
	code, body = ada.form(s.url+"/do/rooms.book", values)
	done("sent again with its new key", code, body)
	if got := h.do("run", "--palettes", "rooms", "--as", "ada", "list.dsl"); !strings.Contains(got, "@atrium-2028-03-01") || !strings.Contains(got, "@library-2028-03-01") {
		t.Errorf("two rooms were booked for one day:\n%s", got)
	}

	// A page that declares no detail has no links to one.
	if _, body := ada.get(s.url + "/"); strings.Contains(body, "/item/") || !strings.Contains(body, "<h3>The atrium</h3>") {
		t.Errorf("items without detail:\n%s", body)
	}
}
