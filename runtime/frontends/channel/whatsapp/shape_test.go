package whatsapp

import (
	"fmt"
	"strings"
	"testing"

	"verbatim/runtime/frontends/channel"
)

func choices(n, title int) (all []channel.Choice) {
	for i := range n {
		c := channel.Choice{ID: fmt.Sprint(i), Title: fmt.Sprint(i % 10)}
		c.Title += strings.Repeat("ü", max(0, title-1))
		all = append(all, c)
	}
	return all
}

// U35: what is shown fits, or is written as numbers.
func TestShape(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("t", 24) // too long for a button
	with := func(f func(c *channel.Choice)) []channel.Choice {
		all := choices(2, 5)
		f(&all[1])
		return all
	}
	for name, c := range map[string]struct {
		text    int
		choices []channel.Choice
		want    Form
	}{
		"text":                          {5, nil, Plain},
		"the longest text":              {4096, nil, Plain},
		"a longer text":                 {4097, nil, TooLong},
		"one button":                    {5, choices(1, 5), Buttons},
		"three buttons":                 {1024, choices(3, 20), Buttons},
		"buttons below a longer text":   {1025, choices(3, 20), List},
		"four":                          {5, choices(4, 20), List},
		"titles of 21":                  {5, choices(3, 21), List},
		"ten rows":                      {4096, choices(10, 24), List},
		"eleven":                        {5, choices(11, 5), Numbered},
		"titles of 25":                  {5, choices(3, 25), Numbered},
		"a list below a longer text":    {4097, choices(3, 5), TooLong},
		"numbers with no room":          {4090, choices(3, 25), TooLong},
		"numbers with room":             {4096 - 1 - 3*29, choices(3, 25), Numbered},
		"numbers with a letter too few": {4096 - 3*29, choices(3, 25), TooLong},
		"no title":                      {5, with(func(c *channel.Choice) { c.Title = "" }), Numbered},
		"no id":                         {5, with(func(c *channel.Choice) { c.ID = "" }), Numbered},
		"an id twice":                   {5, with(func(c *channel.Choice) { c.ID = "0" }), Numbered},
		"a title twice":                 {5, with(func(c *channel.Choice) { c.Title = "0üüüü" }), Numbered},
		"a title of two lines":          {5, with(func(c *channel.Choice) { c.Title = "a\nb" }), Numbered},
		"an id of 256":                  {5, with(func(c *channel.Choice) { c.ID = strings.Repeat("i", 256) }), Buttons},
		"an id of 257":                  {5, with(func(c *channel.Choice) { c.ID = strings.Repeat("i", 257) }), Numbered},
		"an id of 200 in a list":        {5, with(func(c *channel.Choice) { c.ID, c.Title = strings.Repeat("i", 200), long }), List},
		"an id of 201 in a list":        {5, with(func(c *channel.Choice) { c.ID, c.Title = strings.Repeat("i", 201), long }), Numbered},
	} {
		text := strings.Repeat("ü", c.text)
		if got := Shape(text, c.choices); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		// What the shape says is what the cloud takes.
		w := newWorld(t)
		if _, _, err := w.cloud.Say(t.Context(), person, map[string]any{"type": "text", "text": map[string]any{"body": "hi"}}); err != nil {
			t.Fatal(err)
		}
		_, err := w.Send(t.Context(), channel.Out{ID: "d", Inbox: inbox, To: person, Text: text, Choices: c.choices})
		if (err == nil) != (c.want != TooLong) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			want := map[Form]string{Plain: "text", Numbered: "text", Buttons: "button", List: "list"}[c.want]
			if got := w.cloud.Sent()[0].Form; got != want {
				t.Errorf("%s: sent as %s", name, got)
			}
		}
	}
}

func TestNumbersStandBelowTheText(t *testing.T) {
	t.Parallel()
	if got := numbered("Which?", []channel.Choice{{Title: "Passport"}, {Title: "Licence"}}); got != "Which?\n\n1) Passport\n2) Licence" {
		t.Errorf("%q", got)
	}
}
