package verbs

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verbatim/dsl"
	"verbatim/stores"
)

const dated = `
domain: d
schemas:
  person:
    type: object
    properties:
      born: {type: string, format: date, x-min: today - 130 years, x-max: today}
      moves: {type: array, items: {$ref: "#/$defs/move"}}
    $defs:
      move: {type: string, format: date, x-max: today + 1 month}
codes:
  - name: kind
    values: [{code: PERSON, schema: person}]
roles: [{name: clerk}]
verbs:
  - verb: wait
    description: Wait for something.
    roles: [clerk]
    args:
      - {name: by, type: date, min: today, max: today + 30 days}
      - {name: on, type: list, of: {type: date, min: today - 1 week}}
      - {name: who, type: object, schema: person}
      - {name: kind, type: code, ref-type: kind}
      - {name: what, type: object, schema-of: kind}
      - {name: note, type: string}
    effects: [{notifies: desk}]
`

// A bound that moves: what is said of each call depends on what today is, and
// everything that is written out is looked at, wherever it stands.
func TestDaysMoveWithTheCalendar(t *testing.T) {
	t.Parallel()
	r := loadText(t, "d.yaml", dated)
	for _, c := range []struct{ today, call, want string }{
		{"2024-12-27", `d.wait :by 2024-12-27`, ""},
		{"2024-12-27", `d.wait :by 2024-12-26`, ":by is out of range: the earliest is today, 2024-12-27"},
		{"2024-12-28", `d.wait :by 2024-12-27`, ":by is out of range: the earliest is today, 2024-12-28"},
		{"2024-12-27", `d.wait :by "2025-01-26"`, ""},
		{"2024-12-27", `d.wait :by "2025-01-27"`, ":by is out of range: the latest is 2025-01-26 (today + 30 days)"},
		{"2024-12-27", `d.wait :on [2024-12-20, 2024-12-19]`, ":on is out of range: item 2: the earliest is 2024-12-20 (today - 1 week)"},
		{"2024-12-27", `d.wait :who {:born "1972-03-15"}`, ""},
		{"2024-12-27", `d.wait :who {:born "2024-12-28"}`, ":born in :who is out of range: the latest is today, 2024-12-27"},
		{"2024-02-29", `d.wait :who {:born "1894-02-27"}`, ":born in :who is out of range: the earliest is 1894-02-28 (today - 130 years)"},
		{"2024-01-31", `d.wait :who {:moves ["2024-02-29"]}`, ""},
		{"2024-01-31", `d.wait :who {:moves ["2024-02-29", "2024-03-01"]}`, "item 2 in :moves in :who is out of range: the latest is 2024-02-29 (today + 1 month)"},
		{"2024-12-27", `d.wait :kind PERSON :what {:born "2030-01-01"}`, ":born in :what is out of range: the latest is today, 2024-12-27"},
		{"2024-12-27", `d.wait :note "2020-01-01"`, ""},
	} {
		script, ds := dsl.Parse(dsl.NewSource("s", c.call))
		p, more := r.Check(script, nil)
		if ds = append(ds, more...); ds.HasErrors() {
			t.Fatalf("%s: %s", c.call, inWords(ds))
		}
		found := p.Days(date(c.today))
		got := ""
		if len(found) > 0 {
			got = found[0].Summary
			if found[0].Code != "out-of-range" || len(found) > 1 {
				t.Errorf("%s: %s", c.call, inWords(found))
			}
		}
		if got != c.want {
			t.Errorf("%s on %s\ngot  %s\nwant %s", c.call, c.today, got, c.want)
		}
	}
}

// What cannot be meant is told when the palette is loaded.
func TestDaysThatCannotBe(t *testing.T) {
	t.Parallel()
	for change, want := range map[string]string{
		"max: today + 30 days|max: today - 1 day":                                            "min is greater than max",
		"max: today + 30 days|max: today + 30":                                               "today + 30",
		"max: today + 30 days|max: tomorrow":                                                 "tomorrow",
		"max: today + 30 days|max: today + 999999 years":                                     "999999",
		"name: note, type: string|name: note, type: integer, min: today":                     "min wants an integer",
		"x-max: today}|x-max: yesterday}":                                                    "x-max is yesterday",
		"format: date, x-min|x-min":                                                          "goes with format: date",
		"x-min: today - 130 years|x-min: today + 1 day":                                      "no date could be both",
		"    $defs:\n|    anyOf: [{type: string, format: date, x-max: today}]\n    $defs:\n": "would not be held",
	} {
		from, to, _ := strings.Cut(change, "|")
		text := strings.Replace(dated, from, to, 1)
		if text == dated {
			t.Fatalf("%q is not there", from)
		}
		_, ds := LoadSources(dsl.NewSource("d.yaml", text))
		said := inWords(ds)
		for _, d := range ds {
			said += strings.Join(d.Notes, "\n")
		}
		if !ds.HasErrors() || !strings.Contains(said, want) {
			t.Errorf("%s: %s", to, said)
		}
	}
	kept := strings.Replace(dated, "verbs:", "entities:\n  row:\n    key: id\n    fields:\n      id: {type: uuid}\n      due: {type: date, min: today}\nverbs:", 1)
	if _, ds := LoadSources(dsl.NewSource("d.yaml", kept)); !strings.Contains(inWords(ds), "due is bounded by today, and is kept") {
		t.Errorf("a kept field is bounded by today: %s", inWords(ds))
	}
}

// Every bound reads back as it is written, and moves with the calendar: never
// backwards, and by days exactly.
func TestEveryDay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		u := unit(rapid.IntRange(0, 3).Draw(t, "unit"))
		d := &Day{rapid.IntRange(-furthestDay[u], furthestDay[u]).Draw(t, "n"), u}
		if d.n == 0 {
			d.unit = ofDays
		}
		if got, ok := parseDay(d.String()); !ok || *got != *d {
			t.Fatalf("%s reads as %v", d, got)
		}
		today, _ := stores.NewDate(rapid.IntRange(1970, 2100).Draw(t, "year"), rapid.IntRange(1, 12).Draw(t, "month"), rapid.IntRange(1, 28).Draw(t, "day"))
		on := d.On(today)
		if on.IsNull() {
			t.Fatalf("%s on %s is no day", d, today.Text())
		}
		if d.unit == ofDays && on.Days()-today.Days() != int64(d.n) {
			t.Fatalf("%s on %s is %s", d, today.Text(), on.Text())
		}
		next := (&Day{1, ofDays}).On(today)
		if d.On(next).Days() < on.Days() {
			t.Fatalf("%s is %s on %s, and earlier the day after", d, on.Text(), today.Text())
		}
	})
}
