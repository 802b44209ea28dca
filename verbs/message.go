package verbs

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"verbatim/dsl"
)

//go:embed messages.txt
var messagesText string

// A message is one entry of messages.txt, which says how they are written.
type message struct {
	code           string
	warning        bool
	summary, label string
	notes          []string
	related        []relatedPlace
	word, among    int    // indexes of an unknown word and of the legal words
	kind           string // what the legal words are called
}

type relatedPlace struct {
	arg  int
	says string
}

var messages = sync.OnceValue(func() map[string]*message {
	all := make(map[string]*message)
	var m *message
	for line := range strings.Lines(messagesText) {
		line = strings.TrimSuffix(line, "\n")
		text, inside := strings.CutPrefix(line, "  ")
		mark, rest, _ := strings.Cut(text, " ")
		switch {
		case line == "" || line[0] == '#':
		case !inside:
			name, warning := strings.CutSuffix(line, " warning")
			code, _, _ := strings.Cut(name, "/")
			m = &message{code: code, warning: warning}
			all[name] = m
		case mark == "^":
			m.label = rest
		case mark == "-":
			m.notes = append(m.notes, rest)
		case mark == "?":
			parts := strings.SplitN(rest, " ", 3)
			m.word, m.among, m.kind = int(parts[0][0]-'0'), int(parts[1][0]-'0'), parts[2]
		case len(mark) == 2 && mark[0] == '@':
			m.related = append(m.related, relatedPlace{int(mark[1] - '0'), rest})
		default:
			m.summary = text
		}
	}
	return all
})

// tell makes a diagnostic from an entry of messages.txt, whose text refers to the arguments by
// their numbers, from 1.
func tell(at dsl.Place, name string, args ...any) dsl.Diagnostic {
	m := messages()[name]
	if m == nil {
		panic("no message is called " + name) // TestEveryMessageThatIsToldIsWritten finds it
	}
	d := dsl.Diagnostic{Code: m.code, Place: at, Summary: filled(m.summary, args), Label: filled(m.label, args)}
	if m.warning {
		d.Severity = dsl.Warning
	}
	if m.word > 0 {
		suggest(&d, wordOf(args[m.word-1]), namesOf(args[m.among-1]), filled(m.kind, args))
	}
	for _, n := range m.notes {
		if n = filled(n, args); n != "" {
			d.Notes = append(d.Notes, n)
		}
	}
	for _, r := range m.related {
		if place := placeOf(args[r.arg-1]); place.Source != nil {
			d.Related = append(d.Related, dsl.Related{Place: place, Message: filled(r.says, args)})
		}
	}
	return d
}

// suggest offers the legal words that are nearest to an unknown word.
func suggest(d *dsl.Diagnostic, word string, legal []string, kind string) {
	near := nearest(word, legal)
	d.Label, d.Fixes = didYouMean(near), replacements(d.Place, near, "")
	if len(legal) == 0 {
		d.Notes = append(d.Notes, "there are no "+kind+" yet")
	} else {
		d.Notes = append(d.Notes, kind+": "+Some(legal, 16))
	}
}

// filled replaces {1}, {2 quoted} and the like by arguments. Other braces stay as they are.
func filled(text string, args []any) string {
	var b strings.Builder
	for {
		before, rest, open := strings.Cut(text, "{")
		b.WriteString(before)
		if !open {
			return b.String()
		}
		inside, after, _ := strings.Cut(rest, "}")
		n, how, _ := strings.Cut(inside, " ")
		if len(n) != 1 || n[0] < '1' || n[0] > '9' {
			b.WriteByte('{')
			text = rest
			continue
		}
		if i := int(n[0] - '1'); i < len(args) {
			b.WriteString(argumentText(args[i], how))
		}
		text = after
	}
}

// argumentText writes an argument in the form that its {…} asks for, "quoted" for instance.
func argumentText(arg any, how string) string {
	switch how {
	case "quoted":
		return strconv.Quote(wordOf(arg))
	case "a":
		return Article(wordOf(arg))
	case "and":
		return Joined(namesOf(arg), "and")
	case "names":
		return strings.Join(namesOf(arg), ", ")
	case "some":
		return Some(namesOf(arg), 5)
	case "type":
		return typeOfArg(arg).Phrase()
	case "ident":
		return arg.(*Param).Ident
	}
	return wordOf(arg)
}

func typeOfArg(arg any) *Type {
	switch arg := arg.(type) {
	case *Param:
		return arg.Type
	case *Field:
		return arg.Type
	case *Effect:
		return arg.Of
	}
	return arg.(*Type)
}

// wordOf returns an argument as messages name it.
func wordOf(arg any) string {
	switch arg := arg.(type) {
	case string:
		return arg
	case *Verb:
		return arg.Name
	case *Param:
		return arg.Name
	case *Entity:
		return arg.Store.Name
	case *CodeList:
		return arg.Name
	case *Role:
		return arg.Name
	case *Type:
		return arg.Phrase()
	case *shape:
		return arg.name
	}
	return fmt.Sprint(arg)
}

// namesOf returns the names that an argument holds.
func namesOf(arg any) (names []string) {
	switch arg := arg.(type) {
	case []string:
		return arg
	case *CodeList:
		return arg.Names()
	case *Entity:
		return arg.fieldNames()
	case *Verb:
		return arg.paramNames()
	case []*Role:
		names = namesBy(arg, func(r *Role) string { return r.Name })
	case []*Verb:
		names = namesBy(arg, func(v *Verb) string { return v.Name })
	case []*Entity:
		names = namesBy(arg, func(e *Entity) string { return e.Store.Name })
	case []*CodeList:
		names = namesBy(arg, func(c *CodeList) string { return c.Name })
	case []ReadList:
		names = namesBy(arg, func(l ReadList) string { return l.Name })
	case *shape:
		names = namesBy(arg.keys, func(k key) string { return k.name })
	case map[string]*Schema:
		names = sortedKeys(arg)
	case map[string]*Verb:
		names = sortedKeys(arg)
	}
	return names
}

func namesBy[T any](all []T, name func(T) string) []string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = name(one)
	}
	return names
}

// placeOf returns the place where an argument is declared.
func placeOf(arg any) dsl.Place {
	switch arg := arg.(type) {
	case dsl.Place:
		return arg
	case *Param:
		return arg.Place
	case *Entity:
		return arg.Place
	case *Field:
		return arg.Place
	case *Effect:
		return arg.Place
	case *Verb:
		return arg.Place
	case *CodeList:
		return arg.Place
	case *Progress:
		return arg.Place
	case *Schema:
		return arg.Place
	}
	return dsl.Place{}
}

// nearest is dsl.Nearest, or else returns a word that differs only in dashes, underscores and
// case.
func nearest(word string, legal []string) []string {
	near := dsl.Nearest(word, slices.Values(legal))
	if len(near) == 0 {
		folded := underscored(strings.ToLower(word))
		for _, w := range legal {
			if underscored(strings.ToLower(w)) == folded && w != word {
				return []string{w}
			}
		}
	}
	return near
}

// Joined joins words as a sentence does: "a, b and c".
func Joined(words []string, last string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
}

// Some lists up to n words and counts the rest.
func Some(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:n], ", "), len(words)-n)
}

// Count writes a number of things.
func Count(n int, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return strconv.Itoa(n) + " " + unit + "s"
}

// Article puts "a" or "an" before a word.
func Article(word string) string {
	if word != "" && strings.IndexByte("aeioAEIO", word[0]) >= 0 || strings.HasPrefix(word, "un") {
		return "an " + word
	}
	return "a " + word
}

// Lasting says a number of seconds in words.
func Lasting(seconds int64) string {
	for _, unit := range []struct {
		seconds int64
		name    string
	}{{7 * 86400, "week"}, {86400, "day"}, {3600, "hour"}, {60, "minute"}} {
		if seconds >= unit.seconds && seconds%unit.seconds == 0 {
			return Count(int(seconds/unit.seconds), unit.name)
		}
	}
	return Count(int(seconds), "second")
}
