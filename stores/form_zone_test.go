package stores

import (
	"testing"
	"time"
	_ "time/tzdata"
)

// G28: a time that a column keeps as clocks of a zone show it is one instant, the later one where
// they show it twice, and none where they skip it.
func TestTimesOfAZone(t *testing.T) {
	t.Parallel()
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	s, ok := NewFormIn(paris, "DD.MM.YYYY hh:mm:ss")
	if !ok {
		t.Fatal("no form")
	}
	for text, want := range map[string]string{
		"03.01.2025 10:00:00": "2025-01-03T09:00:00Z", "03.07.2025 10:00:00": "2025-07-03T08:00:00Z",
		"26.10.2025 02:30:00": "2025-10-26T01:30:00Z", "30.03.2025 02:30:00": "", "30.02.2025 02:30:00": "",
	} {
		v, ok := s.Load(NewString(text))
		if ok != (want != "") || ok && v.Text() != want {
			t.Errorf("%s is %s, %v", text, v.Text(), ok)
		}
		if back, _ := s.Store(v); ok && back.Text() != text {
			t.Errorf("%s is written %s", text, back.Text())
		}
	}
	e := &Entity{Name: "thing", Fields: []Field{{Name: "id", Column: "id", Kind: String}, {Name: "at", Column: "at", Kind: Time, Zone: paris}}}
	for text, fits := range map[string]bool{"2025-10-26T01:30:00Z": true, "2025-10-26T00:30:00Z": false, "2025-07-03T08:00:00Z": true} {
		v, _ := ParseTime(text)
		c := Change{Op: Update, Entity: e, Key: NewString("a"), Set: []Assign{{Field: 1, Value: v}}}
		if _, err := c.Prepare(); (err == nil) != fits {
			t.Errorf("%s: %v", text, err)
		}
	}
}
