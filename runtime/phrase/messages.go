package phrase

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

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
	askUnfit
	askShorter
	askWhich
	askVerbs
)

var questions = [...]words.Sentence{
	askVerb:     {"Do you mean {}?", "Meinen Sie {}?", "Voulez-vous dire {} ?", "¿Se refiere a {}?"},
	askVerbs:    {"Which of these do you mean? Say its number.{}", "Was davon meinen Sie? Nennen Sie die Nummer.{}", "Que voulez-vous dire parmi ceci ? Dites le numéro.{}", "¿A cuál de estas cosas se refiere? Diga el número.{}"},
	askMissing:  {words.English: "What is {}?"},
	askSeveral:  {words.English: "Which is meant by {}?"},
	askStranger: {"I could not find that among your items. Which one is it?", "Das habe ich unter dem, was Sie betrifft, nicht gefunden. Was ist gemeint?", "Je n’ai pas trouvé cela parmi vos éléments. De quoi s’agit-il ?", "No he encontrado eso entre sus elementos. ¿De cuál se trata?"},
	askField:    {"Please tell me: {}.", "Bitte sagen Sie mir: {}.", "Dites-moi, s’il vous plaît : {}.", "Dígame, por favor: {}."},
	askLimit:    {words.English: "That does not fit {}: "},
	askWhich:    {"Which do you mean: {}?", "Was ist gemeint: {}?", "Que voulez-vous dire : {} ?", "¿A qué se refiere: {}?"},
	askUnfit:    {"That does not fit here. Please check the value.", "Das passt hier nicht. Bitte prüfen Sie den Wert.", "Cela ne convient pas ici. Vérifiez la valeur, s’il vous plaît.", "Eso no encaja aquí. Por favor, revise el valor."},
	askShorter:  {"That is {} characters long, and at most {} can be taken. Please say it in fewer words.", "Das sind {} Zeichen, und höchstens {} passen. Bitte sagen Sie es kürzer.", "Cela fait {} caractères, et {} au plus peuvent être pris. Dites-le plus brièvement, s’il vous plaît.", "Son {} caracteres, y caben {} como máximo. Por favor, dígalo con menos palabras."},
}

// in is the question in a language; {} in it is filled in later.
func (q question) in(l words.Language) string { return words.Typeset(l, questions[q][l]) }

var orWords = [...]string{" or ", " oder ", " ou ", " o "}

// speaks is the language that is asked in, of a sentence in one.
func (r *Reader) speaks(l words.Language) words.Language {
	if r.in.Tongue != nil {
		return *r.in.Tongue
	}
	return l
}

// ask words a question about a verb or an argument.
func (r *Reader) ask(l words.Language, q question, about any, choices []string) string {
	l = r.speaks(l)
	if field, ok := about.(collect.Question); ok {
		field = field.In(l)
		text := strings.ReplaceAll(q.in(l), "{}", field.Label)
		if field.Hint != "" {
			text += " (" + strings.TrimSuffix(field.Hint, ".") + ")"
		}
		return text
	}
	if p, ok := about.(*verbs.Param); ok {
		if own := p.Asks.In(l.String()); own != nil && (q == askMissing || q == askSeveral) {
			text := own.Say(nil)
			if len(choices) > 0 {
				text += " " + r.join(l, choices)
			}
			return text
		}
		switch q {
		case askStranger:
			return q.in(l)
		case askShorter: // choices are how long it is, and may be
			return strings.Replace(strings.Replace(q.in(l), "{}", choices[0], 1), "{}", choices[1], 1)
		}
		if q == askLimit && l != words.English {
			return askUnfit.in(l)
		}
		// What an argument is called is English, and so is the whole sentence.
		l = words.English
		text := strings.ReplaceAll(q.in(l), "{}", strings.ReplaceAll(strings.TrimSuffix(p.Name, "-id"), "-", " "))
		switch {
		case q == askLimit:
			return text + strings.Join(choices, ", ")
		case len(choices) > 0:
			return text + " " + r.join(l, choices)
		case p.Description != "":
			return text + " (" + p.Description + ")"
		}
		return text
	}
	if q == askStranger {
		return q.in(l)
	}
	names := make([]string, len(choices))
	all := about.([]*verbs.Verb)
	for i, c := range choices {
		v := all[slices.IndexFunc(all, func(v *verbs.Verb) bool { return v.Name == c })]
		names[i] = r.does(l, v)
		if names[i] == "" {
			english := *r
			english.in.Tongue = new(words.Language)
			return english.ask(words.English, q, about, choices)
		}
	}
	if len(names) == 1 {
		return questions[q].In(l, inQuotes.In(l, names[0]))
	}
	var list strings.Builder
	for i, name := range names {
		list.WriteString("\n" + strconv.Itoa(i+1) + ". " + upper(name))
	}
	return questions[askVerbs].In(l, list.String())
}

// upper begins with a capital, as a line of a list does.
func upper(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:]
}

// does is what a verb does, in the words of its palette: its description, or a
// phrase of the language that nothing has to be filled into; "" where there is
// none.
func (r *Reader) does(l words.Language, v *verbs.Verb) string {
	if l != words.English {
		if said, ok := r.ix.reg.Says(l.String(), v.Description); ok {
			first, _, _ := strings.Cut(said, ". ")
			return strings.TrimSuffix(first, ".")
		}
		for _, p := range v.PhrasesIn[l.String()] {
			if !strings.Contains(p, "{") {
				return p
			}
		}
		return ""
	}
	first, _, _ := strings.Cut(v.Description, ". ")
	if first = strings.TrimSuffix(first, "."); first == "" {
		return v.Name
	}
	return strings.ToLower(first[:1]) + first[1:]
}

var inQuotes = words.Sentence{"“{}”", "„{}“", "« {} »", "«{}»"}

// join lists choices; a name is told as the words that it is made of.
func (r *Reader) join(l words.Language, all []string) string {
	all = slices.Clone(all)
	for i, c := range all {
		if r.in.Say != nil {
			all[i] = r.in.Say(l, c)
		}
		if name, ok := strings.CutPrefix(all[i], "@"); ok {
			all[i] = strings.ReplaceAll(name, "-", " ")
		}
	}
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + orWords[l] + all[len(all)-1]
}
