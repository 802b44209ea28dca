package verbs

import (
	"strings"
	"unicode/utf8"
)

// Tells says how a person is told the result of a call, if no model words it.
type Tells struct {
	First Wordings // before the rows that were found
	One   Wordings // in its place where one row was found
	Each  Wordings // for each row
	Lines Wordings // each row is a line of one text, which states its own source
	None  Wordings // if no row was found
	Done  Wordings // for what was changed
	Asks  Wordings // before it is done, if somebody is asked
}

// Wordings hold the same text in several languages.
type Wordings []Wording

// A Wording is text with the values of a result, or of arguments, in it.
type Wording struct {
	Language string // ISO 639-1 code; "" is the palette's own
	Parts    []WordingPart
}

// A WordingPart is text, a value, or parts that are left out together.
type WordingPart struct {
	Text  string
	Name  string        // of a value
	Group []WordingPart // left out if a value in it is empty, or if the value called name is
	Items bool          // the group is repeated for each item of the list called name
}

// Told are the values that a wording is filled with.
type Told interface {
	// Value returns a value in words, "" if it is empty.
	Value(name string) string
	// Items returns the items of a list.
	Items(name string) []Told
}

// In returns the wording in a language, or else in the palette's own; nil if there is none.
func (w Wordings) In(language string) *Wording {
	for i := range w {
		if w[i].Language == language {
			return &w[i]
		}
	}
	if len(w) > 0 {
		return &w[0]
	}
	return nil
}

// Heading returns what a wording writes before a value or a list, as "Why" in "[ Why: {reason}]"; "" where
// that is no heading.
func (w *Wording) Heading(name string) string { return heading(w.Parts, name) }

func heading(parts []WordingPart, name string) string {
	before := ""
	for i := range parts {
		p := &parts[i]
		if text, ok := strings.CutSuffix(before, ":"); p.Name == name && ok {
			if at := strings.LastIndexAny(text, ".;"); at >= 0 {
				text = text[at+1:]
			}
			return strings.TrimSpace(text)
		}
		if !p.Items {
			if found := heading(p.Group, name); found != "" {
				return found
			}
		}
		before = strings.TrimSpace(p.Text)
	}
	return ""
}

// Say fills in the values. A group that needs an empty value is left out; the texts for the items
// of a list are separated by semicolons, whole sentences by a space.
func (w *Wording) Say(of Told) string {
	between := "; "
	if w.Language == "fr" {
		between = Typeset(w.Language, " ; ")
	}
	text, _ := sayParts(w.Parts, of, between)
	return text
}

func sayParts(parts []WordingPart, of Told, between string) (_ string, whole bool) {
	var b strings.Builder
	whole = true
	for i := range parts {
		p := &parts[i]
		switch {
		case p.Items:
			last := ""
			for _, item := range of.Items(p.Name) {
				text, ok := sayParts(p.Group, item, between)
				if !ok {
					continue
				}
				switch {
				case last == "":
				case strings.HasSuffix(last, ".") || strings.HasSuffix(last, "?"):
					b.WriteString(" ")
				default:
					b.WriteString(between)
				}
				b.WriteString(text)
				last = text
			}
			whole = whole && last != ""
		case p.Group != nil:
			if p.Name != "" {
				if is := of.Value(p.Name); is == "" || is == "0" {
					continue
				}
			}
			if text, ok := sayParts(p.Group, of, between); ok {
				b.WriteString(text)
			}
		case p.Name != "":
			text := of.Value(p.Name)
			whole = whole && text != ""
			b.WriteString(text)
		default:
			text := p.Text
			if i > 0 && endsSentence(b.String()) {
				text = strings.TrimPrefix(text, ".") // a value that is a sentence has its own full stop
			}
			b.WriteString(text)
		}
	}
	return b.String(), whole
}

func endsSentence(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return text != "" && strings.ContainsRune(".?!…", last)
}
