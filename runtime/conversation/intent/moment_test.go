package intent

import (
	"testing"
	"time"

	"verbatim/runtime/conversation/values"
)

// A moment is a day and a time of day in the person's time zone, or what a program writes. Either may
// be missing, and is asked for; and an answer that has only the other one completes it.
func TestAMoment(t *testing.T) {
	t.Parallel()
	_, r := inline(t, `
domain: c
roles: [{name: u}]
entities:
  own: {key: own_id, scope: everyone, label: "{name}", fields: {name: {type: string}}}
verbs:
  - verb: meet
    description: Arrange a meeting.
    roles: [u]
    phrases: ["meet me {at}", "a meeting {at}"]
    handler: true
    args: [{name: at, type: datetime, min: "2024-12-01T00:00:00Z", required: true, asks: "When?"}]
`, "own")
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	in := values.In{Now: now.In(berlin)} // a Friday in December 2024
	for _, c := range []struct {
		said, answer, more string
		call, asks         string
	}{
		{"meet me tomorrow at 10", "", "", "2024-12-28T09:00:00Z", ""},
		{"meet me on 3 July 2025, 10:00", "", "", "2025-07-03T08:00:00Z", ""},
		{"meet me at 3 pm on Monday", "", "", "2024-12-30T14:00:00Z", ""},
		{"meet me on 2025-01-03T10:00:00Z", "", "", "2025-01-03T10:00:00Z", ""},
		{"meet me 2025-01-03 10:00", "", "", "2025-01-03T09:00:00Z", ""},
		{"meet me", "morgen um 10 Uhr", "", "2024-12-28T09:00:00Z", ""},
		{"a meeting demain à 10 h", "", "", "2024-12-28T09:00:00Z", ""},
		{"a meeting mañana a las 10", "", "", "2024-12-28T09:00:00Z", ""},
		{"meet me", "", "", "", "When?"},
		{"meet me tomorrow", "", "", "", "At what time, on Saturday 28 December 2024?"},
		{"meet me tomorrow", "10", "", "2024-12-28T09:00:00Z", ""},
		{"meet me tomorrow", "at 10:30", "", "2024-12-28T09:30:00Z", ""},
		{"meet me tomorrow", "on Monday at 10", "", "2024-12-30T09:00:00Z", ""},
		{"meet me tomorrow", "at 3", "", "", "Which do you mean: 03:00 or 15:00?"},
		{"meet me tomorrow", "at 3", "15:00", "2024-12-28T14:00:00Z", ""},
		{"meet me at 10:00", "", "", "", "On which day, at 10:00?"},
		{"meet me at 10:00", "tomorrow", "", "2024-12-28T09:00:00Z", ""},
		{"meet me", "tomorrow", "10", "2024-12-28T09:00:00Z", ""},
		{"meet me", "10:00", "tomorrow", "2024-12-28T09:00:00Z", ""},
		{"meet me tomorrow", "banana", "", "", "At what time, on Saturday 28 December 2024?"},
		{"meet me tomorrow at half past 8 pm", "", "", "", "I understood only a part of that. Please say it in another way."},
		{"meet me tomorrow at 10:00 and 11:00", "", "", "", "That is more than one. Which one is meant?"},
		{"meet me on 2025-01-03T10:00Z or 2025-01-04T10:00Z", "", "", "", "That is more than one. Which one is meant?"},
		{"meet me on 30 February at 10", "", "", "", "There is no such day in the calendar. Please check the date."},
		{"meet me on 30 March 2025 at 02:30", "", "", "", "I understood only a part of that. Please say it in another way."},
		{"meet me on 3 January 2020 at 10", "", "", "", "That does not fit at: the least is 2024-12-01T00:00:00Z"},
	} {
		v := r.in
		for _, answer := range []string{c.answer, c.more} {
			if answer != "" {
				v.Given = append(v.Given[:len(v.Given):len(v.Given)], Given{"c.meet", "at", answer})
			}
		}
		want := ""
		if c.call != "" {
			want = "c.meet :at " + c.call
		}
		h := r.ix.Reader(v).Read(c.said, in)
		if len(h.Parts) != 1 || h.Parts[0].Call != want || want == "" && (len(h.Parts[0].Asks) != 1 || h.Parts[0].Asks[0].Text != c.asks && c.asks != "?") {
			t.Errorf("%q, %q, %q is read as %s", c.said, c.answer, c.more, describe(c.said, &h))
		}
	}
}
