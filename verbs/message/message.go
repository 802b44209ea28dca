// Package message makes diagnostics of sentences that stand in a text file. The file says how they
// are written; an entry is found by its name, and refers to the arguments by their numbers.
package message

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
)

// Messages are the entries of a file, by name. They are not changed, and may be shared.
type Messages map[string]*Message

// A Message is one entry.
type Message struct {
	code           string
	warning        bool
	summary, label string
	notes, console []string
	related        []related
	word, among    int    // indexes of an unknown word and of the legal words
	kind           string // what the legal words are called
}

type related struct {
	arg  int
	says string
}

// Read reads a file of messages, which a program carries. An entry begins with its code, a slash and
// a name where several share a code, and "warning" where it is no error. Then come, indented, what is
// wrong, in the words of the text; after ^, what was expected, beside the caret; after -, what to do
// next; after $, the same where the reader has the verbatim command, in place of all that stands after
// -; after @ and the number of an argument, what stands at the place where that argument is
// declared; after ?, that argument 1 is a word which is not among the names of argument 2, and what
// those are.
//
// {1} is the first argument, {1 quoted} in quotes, {1 a} with its article; {1 and}, {1 names} and
// {1 some} are the names that it holds; {1 Type} is its field of that name.
func Read(text string) Messages {
	all := make(Messages)
	var m *Message
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		text, inside := strings.CutPrefix(line, "  ")
		mark, rest, _ := strings.Cut(text, " ")
		switch {
		case line == "" || line[0] == '#':
		case !inside:
			name, warning := strings.CutSuffix(line, " warning")
			code, _, _ := strings.Cut(name, "/")
			m = &Message{code: code, warning: warning}
			all[name] = m
		case mark == "^":
			m.label = rest
		case mark == "-":
			m.notes = append(m.notes, rest)
		case mark == "$":
			m.console = append(m.console, rest)
		case mark == "?":
			parts := strings.SplitN(rest, " ", 3)
			m.word, m.among, m.kind = int(parts[0][0]-'0'), int(parts[1][0]-'0'), parts[2]
		case len(mark) == 2 && mark[0] == '@':
			m.related = append(m.related, related{int(mark[1] - '0'), rest})
		default:
			m.summary = text
		}
	}
	return all
}

// New makes a diagnostic of an entry. An argument says itself by its String method, its names by
// Names, and where it is declared by its field Place. A note of which nothing is left is left out.
// New panics on a name that is not in the file: a test of each package looks for those.
func (all Messages) New(at dsl.Place, name string, args ...any) dsl.Diagnostic {
	m := all[name]
	if m == nil {
		panic("no message is called " + name)
	}
	d := dsl.Diagnostic{Code: m.code, Place: at, Summary: filled(m.summary, args), Label: filled(m.label, args)}
	if m.warning {
		d.Severity = dsl.Warning
	}
	if m.word > 0 {
		Suggest(&d, fmt.Sprint(args[m.word-1]), namesOf(args[m.among-1]), filled(m.kind, args))
	}
	for _, n := range m.notes {
		if n = filled(n, args); n != "" {
			d.Notes = append(d.Notes, n)
		}
	}
	for _, n := range m.console {
		d.Console = append(d.Console, filled(n, args))
	}
	for _, r := range m.related {
		place, ok := args[r.arg-1].(dsl.Place)
		if !ok {
			place, _ = field(args[r.arg-1], "Place").(dsl.Place)
		}
		if place.Source != nil {
			d.Related = append(d.Related, dsl.Related{Place: place, Message: filled(r.says, args)})
		}
	}
	return d
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
			b.WriteString(written(args[i], how))
		}
		text = after
	}
}

// written writes an argument in the form that its {…} asks for, "quoted" for instance.
func written(arg any, how string) string {
	switch how {
	case "":
		return fmt.Sprint(arg)
	case "quoted":
		return strconv.Quote(fmt.Sprint(arg))
	case "a":
		return Article(fmt.Sprint(arg))
	case "and":
		return Joined(namesOf(arg), "and")
	case "names":
		return strings.Join(namesOf(arg), ", ")
	case "some":
		return Some(namesOf(arg), 5)
	}
	return fmt.Sprint(field(arg, how))
}

// field returns a field of an argument; nil if it has none of that name.
func field(arg any, name string) any {
	v := reflect.Indirect(reflect.ValueOf(arg))
	if v.Kind() != reflect.Struct || !v.FieldByName(name).IsValid() {
		return nil
	}
	return v.FieldByName(name).Interface()
}

// namesOf returns the names that an argument holds, those of a map in order.
func namesOf(arg any) (names []string) {
	switch arg := arg.(type) {
	case []string:
		return arg
	case interface{ Names() []string }:
		return arg.Names()
	}
	switch v := reflect.ValueOf(arg); v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			names = append(names, fmt.Sprint(v.Index(i).Interface()))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			names = append(names, key.String())
		}
		slices.Sort(names)
	}
	return names
}
