package verbs

import (
	"slices"

	"verbatim/dsl"
)

// A Page says what pages show to a principal with a role.
type Page struct {
	Role     *Role
	Title    string
	About    *Entity // entity whose active row it is about; nil if the palette names none
	Desk     bool    // for those who serve others
	Progress *PageProgress
	Items    *PageList
	Done     *PageList // nil if the palette names none; so is Promises
	Promises *PageList
	Detail   *Verb
	Sent     string // the column of Detail that says what was sent for an item; "" if the palette names none
	Opens    *Verb  // the verb that reveals masked values; nil if the palette names none
	Given    *Verb  // the verb that shows what the person gave for an item; nil if the palette names none
	Acts     []PageAct
	Also     []*Verb
	Plots    []PagePlot
	// Questions are asked one by one; nil if there are none.
	Questions *PageQuestions
	Person    *Verb // verb by which a user asks for a person
	Place     dsl.Place
}

// PageProgress names the columns of a verb's result that hold the progress.
type PageProgress struct {
	Verb                              *Verb
	Done, Total, Percent, Yours, Ours string
}

// A PagePlot is a result that is drawn: each row is a bar.
type PagePlot struct {
	Verb   *Verb
	Title  string
	Label  []string // columns
	Number string   // the column with the height of a bar
}

// A PageList shows the rows that a verb lists.
type PageList struct {
	Verb   *Verb
	Row    string // the column that names the row
	Title  []string
	Head   string            // stands above the list; "" if the palette says none
	Slots  map[string]string // the columns that are shown, by their role in the list
	States map[string]string // meaning of the codes in the column under "status"
}

// A PageAct is a verb that is offered for an item.
type PageAct struct {
	Verb *Verb
	Item int    // the argument that names the item
	Says string // "" if the verb's description says enough
	With []PageWith
	All  bool
	In   []string // the states of the item, of PageStates; nil is any
}

// OfferedIn reports whether the act is offered for an item in a state. What is late is to be done.
func (a *PageAct) OfferedIn(state string) bool {
	return len(a.In) == 0 || slices.Contains(a.In, state) || state == "late" && slices.Contains(a.In, "to-do")
}

// A PageWith is an argument whose value comes from a column of the item.
type PageWith struct {
	Param  int
	Column string
}

// PageQuestions declares the questions that are asked one by one.
type PageQuestions struct {
	Start  *Verb
	Item   int // the argument of Start that names the item
	Answer *Verb
	Param  int // the argument of Answer that is the answer
	Field  string
	// Checking is the status of the answers while they are to be checked.
	Checking string
	Codes    *CodeList // codes whose schemas give the questions; nil if the palette does not say
	Kind     string    // the column of the items with the code
	Skip     *Verb     // nil if no question can be left for later
	Send     string    // the call that sends the answers
}

// PageStates are the possible meanings of the status of an item.
var PageStates = []string{"to-do", "part", "with-us", "correction", "late", "done"}
