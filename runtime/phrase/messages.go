package phrase

import (
	"slices"
	"strings"

	"verbatim/runtime/collect"
	"verbatim/runtime/words"
	"verbatim/verbs"
)

// What is asked, in the person's language. Names of verbs and arguments are the
// palette's own, and so are the descriptions that say what is wanted.

type question uint8

const (
	askVerb question = iota
	askMissing
	askSeveral
	askLimit
	askStranger
	askField
)

var questions = [...][4]string{
	askVerb:     {"Is that what you mean: ", "Meinen Sie das: ", "Est-ce ce que vous voulez dire : ", "¿Es eso lo que quiere decir: "},
	askMissing:  {"What is {}?", "Was ist {}?", "Que vaut {} ?", "¿Cuál es {}?"},
	askSeveral:  {"Which is meant by {}?", "Was ist mit {} gemeint?", "Que désigne {} ?", "¿A qué se refiere {}?"},
	askStranger: {"I could not find that among your items. Which one is it?", "Das habe ich unter dem, was Sie betrifft, nicht gefunden. Was ist gemeint?", "Je n'ai pas trouvé cela parmi vos éléments. De quoi s'agit-il ?", "No he encontrado eso entre sus elementos. ¿De cuál se trata?"},
	askField:    {"Please tell me: {}.", "Bitte sagen Sie mir: {}.", "Dites-moi, s’il vous plaît : {}.", "Dígame, por favor: {}."},
	askLimit:    {"That does not fit {}: ", "Das passt nicht zu {}: ", "Cela ne convient pas à {} : ", "Eso no encaja en {}: "},
}

var orWords = [...]string{" or ", " oder ", " ou ", " o "}

// ask words a question about a verb or an argument.
func ask(l words.Language, q question, about any, choices []string) string {
	text := questions[q][l]
	if q, ok := about.(collect.Question); ok {
		text = strings.ReplaceAll(text, "{}", q.Label)
		if q.Hint != "" {
			text += " (" + strings.TrimSuffix(q.Hint, ".") + ")"
		}
		return text
	}
	if p, ok := about.(*verbs.Param); ok {
		if own := p.Asks.In(l.String()); own != nil && (q == askMissing || q == askSeveral) {
			text = own.Say(nil)
			if len(choices) > 0 {
				text += " " + join(l, choices)
			}
			return text
		}
		name := strings.ReplaceAll(strings.TrimSuffix(p.Name, "-id"), "-", " ")
		text = strings.ReplaceAll(text, "{}", name)
		switch {
		case q == askLimit:
			return text + strings.Join(choices, ", ")
		case len(choices) > 0:
			return text + " " + join(l, choices)
		case p.Description != "":
			return text + " (" + p.Description + ")"
		}
		return text
	}
	if q == askStranger {
		return text
	}
	names := make([]string, len(choices))
	for i, c := range choices {
		names[i] = c
		for _, v := range about.([]*verbs.Verb) {
			if v.Name == c && v.Description != "" {
				first, _, _ := strings.Cut(v.Description, ". ")
				first = strings.TrimSuffix(first, ".")
				names[i] = strings.ToLower(first[:1]) + first[1:]
			}
		}
	}
	return text + join(l, names) + "?"
}

// join lists choices; a name is told as the words that it is made of.
func join(l words.Language, all []string) string {
	all = slices.Clone(all)
	for i, c := range all {
		if name, ok := strings.CutPrefix(c, "@"); ok {
			all[i] = strings.ReplaceAll(name, "-", " ")
		}
	}
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + orWords[l] + all[len(all)-1]
}
