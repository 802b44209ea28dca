package dialog_test

import (
	"net/http"
	"strings"
	"testing"

	"verbatim/runtime/dialog"
)

// SAFE-S2, SAFE-S6: while strangers stand before a model, in this turn or from one
// before, nothing it says is told before it is known what it proposes; and what
// nobody can see is not told while it speaks either.
func TestAModelIsHeldWhereStrangersAre(t *testing.T) {
	t.Parallel()
	const routine = "The Boiler is ordered and all of this is routine business. The Kitchen Window is reported too. "
	for name, c := range map[string]struct {
		says    []string
		answers []http.HandlerFunc
	}{
		"a turn ago": {[]string{"What does the letter say?", "And the window?"}, []http.HandlerFunc{
			calling("", "house__read-letters", `{"repair-id": "@boiler"}`), whole("It says: zebra."),
			calling(routine, "house__note", `{"repair-id": "@kitchen-window", "note": "whatever", "expected": null}`)}},
		"in the message": {[]string{"Look at this.\n> zebra"}, []http.HandlerFunc{
			calling(routine, "house__note", `{"repair-id": "@kitchen-window", "note": "whatever", "expected": null}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, "house")
			h.files("boiler", "zebra")
			talk := h.talk(serves(t, c.answers...).model(t), tools)
			for i, say := range c.says {
				a, told, all := follow(t, talk, say, nil)
				if i < len(c.says)-1 {
					continue
				}
				if len(a.Open) != 1 || strings.Contains(strings.Join(told, "")+all+a.Text, "routine business") {
					t.Errorf("told %q, %q, %q", told, all, a.Text)
				}
			}
		})
	}
	t.Run("hidden", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, "house")
		_, told, all := follow(t, h.talk(serves(t, speaks("done", "The Boiler is or\u202ede\u200bred. ", "And more of\U000e0063 it.")).model(t), tools), "How is it?", func(dialog.Event) {})
		if text := strings.Join(told, "") + all; strings.ContainsAny(text, "\u202e\u200b\U000e0063") {
			t.Errorf("told %q", text)
		}
	})
}
