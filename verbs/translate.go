package verbs

import (
	"strings"

	"verbatim/dsl"
)

// A Sidecar holds the translations of a palette into one language: the file client.de.yaml beside
// client.yaml. Its keys are verbs and arguments, and for all other texts the text itself, so that
// a text that was changed in the palette is found. A translation "" is still missing.
type Sidecar struct {
	Language string // ISO 639-1 code: "de"
	Source   *dsl.Source
}

// A Saying is a text with the language of a translation. The original text is what is recorded;
// translations are shown only to people.
type Saying struct{ Language, Text string }

// Translated returns the texts that some palette translates into some language.
func (r *Registry) Translated() map[string]bool {
	all := make(map[string]bool, len(r.says))
	for s := range r.says {
		all[s.Text] = true
	}
	return all
}

// Says returns the translation of a text of any palette; ok says that a palette translates it
// into that language. If two palettes do, the first counts.
func (r *Registry) Says(language, text string) (said string, ok bool) {
	if said, ok = r.says[Saying{language, text}]; ok {
		return said, true
	}
	return text, false
}

// Typeset replaces the spaces of French by those that are printed: palettes write plain ones.
func Typeset(language, text string) string {
	if language != "fr" {
		return text
	}
	return frenchSpaces.Replace(text)
}

var frenchSpaces = strings.NewReplacer(" :", "\u00a0:", " ;", "\u202f;", " ?", "\u202f?", " !", "\u202f!", " %", "\u00a0%", "« ", "«\u00a0", " »", "\u00a0»")
