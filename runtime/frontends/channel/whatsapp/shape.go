package whatsapp

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"verbatim/runtime/frontends/channel"
)

// A Form is the form in which a message with choices is shown.
type Form string

// The forms.
const (
	Plain    Form = "plain"    // text without choices
	Buttons  Form = "buttons"  // at most three, below the text
	List     Form = "list"     // at most ten rows, behind a button
	Numbered Form = "numbered" // "1) …" within the text
	TooLong  Form = "too-long" // it cannot be sent in one message
)

// What WhatsApp takes, in letters.
const (
	maxText        = 4096
	maxButtons     = 3
	maxButtonTitle = 20
	maxButtonID    = 256
	maxButtonBody  = 1024
	maxRows        = 10
	maxRowTitle    = 24
	maxRowID       = 200
	maxOpaque      = 512
)

// Shape says in which form a text and its choices are sent.
func Shape(text string, choices []channel.Choice) Form {
	length := utf8.RuneCountInString(text)
	switch {
	case length > maxText:
		return TooLong
	case len(choices) == 0:
		return Plain
	case len(choices) <= maxButtons && length <= maxButtonBody && fit(choices, maxButtonTitle, maxButtonID):
		return Buttons
	case len(choices) <= maxRows && fit(choices, maxRowTitle, maxRowID):
		return List
	case utf8.RuneCountInString(numbered(text, choices)) > maxText:
		return TooLong
	}
	return Numbered
}

// fit reports whether choices are short enough, and differ.
func fit(choices []channel.Choice, title, id int) bool {
	ids, titles := map[string]bool{}, map[string]bool{}
	for _, c := range choices {
		n := utf8.RuneCountInString(c.Title)
		switch {
		case n == 0 || n > title || c.ID == "" || len(c.ID) > id:
			return false
		case ids[c.ID] || titles[c.Title] || strings.ContainsAny(c.Title, "\r\n"):
			return false
		}
		ids[c.ID], titles[c.Title] = true, true
	}
	return true
}

// numbered writes choices below a text.
func numbered(text string, choices []channel.Choice) string {
	var b strings.Builder
	b.WriteString(text)
	b.WriteString("\n")
	for i, c := range choices {
		fmt.Fprintf(&b, "\n%d) %s", i+1, c.Title)
	}
	return b.String()
}
