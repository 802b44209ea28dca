package dsl

import "slices"

// Severity is the severity of a diagnostic: an error stops the requested operation, a warning
// does not.
type Severity uint8

// The two severities.
const (
	Error Severity = iota
	Warning
)

// A Diagnostic is one mistake, reported once. Every package that reads text by a person or a
// model (scripts here, palettes in verbs) reports with it, and one printer shows it.
type Diagnostic struct {
	Severity Severity
	Code     string   // stable, kebab-case, without a dot: "unknown-verb"
	Summary  string   // one line: what is wrong, in the words of the text
	Label    string   // shown beside the caret: what was expected, `did you mean "date"?`
	Notes    []string // what else there is to say, and what to do next
	// Console, if it is not nil, says what Notes say to a reader who has the verbatim command, and
	// names its commands. Other readers do not see it: see AtConsole.
	Console []string
	Place   Place // where; a zero Place is the input as a whole
	Related []Related
	Fixes   []Fix
	// Mask lists ranges of the same source that must not be shown, because they hold sensitive
	// values: excerpts show bullets instead.
	Mask []Range
}

// Related is another place that explains a diagnostic.
type Related struct {
	Place   Place
	Message string
}

// A Fix is a change to the text that would remove a diagnostic. It is Safe if it cannot change
// the meaning of anything that was understood.
type Fix struct {
	Title string
	Safe  bool
	Edits []Edit
}

// An Edit replaces a range of the diagnostic's source.
type Edit struct {
	Range Range
	Text  string
}

// Diagnostics are in the order of the text.
type Diagnostics []Diagnostic

// Note adds a note, for readers with the command and without.
func (d *Diagnostic) Note(text string) {
	if d.Notes = append(d.Notes, text); d.Console != nil {
		d.Console = append(d.Console, text)
	}
}

// AtConsole returns the diagnostics for a reader who has the verbatim command.
func (ds Diagnostics) AtConsole() Diagnostics {
	at := slices.Clone(ds)
	for i := range at {
		if at[i].Console != nil {
			at[i].Notes = at[i].Console
		}
	}
	return at
}

// HasErrors reports whether any of them is an error.
func (ds Diagnostics) HasErrors() bool {
	for i := range ds {
		if ds[i].Severity == Error {
			return true
		}
	}
	return false
}

// A CodeDoc explains a diagnostic code. Both examples are tested: Wrong causes the code, Right
// causes no diagnostic.
type CodeDoc struct {
	Code    string
	Meaning string
	Wrong   string
	Right   string
	// Limits are the limits for parsing the examples. They are zero, which is the default, unless
	// the example is about a limit.
	Limits Limits
}
