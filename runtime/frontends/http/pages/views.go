package pages

import "verbatim/runtime/conversation/values"

// A Page is the frame around the blocks of a page.
type Page struct {
	Language values.Language
	Title    string
	Head     string // the heading; "" if a block has it
	Wrong    bool   // the input is wrong: the title begins with that
	Theme    string // "light", "dark", or "" for the system's theme
	Brand    Brand  // whose pages they are
	Org      string // the company that the page is about
	Person   string // who is signed in
	Help     string // where to ask for a person
	SignOut  *Act
	Look     *Act // the switch between light and dark
	Keys     bool // single keys navigate
	KeysOff  *Act
	Nav      []Link
	Back     *Link
	Banners  []Banner
	Main     []Block
	Aside    []Block
	Wide     bool
	Full     bool   // it takes the whole window
	At       string // where the browser goes back to it: the form, of an answer to one
}

// A Block is a part of a page.
type Block interface{ part() string }

// A Link leads somewhere.
type Link struct {
	URL, Text string
	Of        string // its subject, for users of screen readers
	Tone      string // "main" for the most likely choice
	Here      bool   // it leads to this page
}

// An Act is a form of one button.
type Act struct {
	URL    string
	Hidden []Hidden
}

// A Hidden is a hidden field of a form.
type Hidden struct{ Name, Value string }

// A Button is a button that sends a form.
type Button struct{ Name, Value, Text, Tone string }

// A Tag is a status: a word, and a tone beside it.
type Tag struct {
	Text, Tone string
	Late       string // beside it, if it is late too
}

// A Fact is a named text.
type Fact struct {
	Name, Text string
	Key        string // its name on the server
}

// A Banner stands above everything else. Its tone is "ok", "warn", "bad" or "".
type Banner struct {
	Tone, Text string
	Facts      []Fact
	Acts       []Link
}

// Progress says how far something is; the bar is a picture of the sentence, in
// thousandths.
type Progress struct {
	Bold, Text        string
	Done, Ours, Total int
}

// Tasks is a list of open tasks.
type Tasks struct {
	ID, Title string
	Tasks     []Task
	Empty     string
	Folded    *Folded // tasks that are done
}

// Next is the next thing that the person has to do, with the form to do it.
type Next struct {
	ID    string
	Task  Task
	Parts []Part
	Form  *Form // nil if there is only a link
}

// A Part is a part of a task, which is here or is missing.
type Part struct {
	Text string
	Here bool
}

// A Folded is a list of tasks that is shown on request.
type Folded struct {
	Summary string
	Tasks   []Task
}

// A Task is a task of a Tasks or a Folded.
type Task struct {
	Title, URL string
	Tag        Tag
	Lines      []string
	Facts      []Fact
	More       *More
	Acts       []Link
}

// More are facts behind a disclosure.
type More struct {
	Summary, Of string
	Facts       []Fact
}

// Talk is a conversation.
type Talk struct {
	URL      string
	Hidden   []Hidden
	Messages []Message
	Cards    []Card
	Replies  []Button
	Draft    string
	Last     string // the text sent last: a draft of it is deleted
	Acts     []Link
	File     *Field // to send a file; nil if that is not possible
	Off      string // why there is no form
}

// A Message is a message of a Talk.
type Message struct {
	Number  string
	Who     string
	Mine    bool
	Lines   []string
	Acts    []Link // about the calls that ran
	Sources []Link // of the answer
}

// A Form asks for values.
type Form struct {
	Title   string
	Step    string
	Lines   []string
	URL     string
	Files   bool
	Hidden  []Hidden
	Wrong   []Mistake
	Fields  []Field
	Buttons []Button
	Links   []Link
}

// A Mistake is shown above the form and at its field.
type Mistake struct{ Field, Text string }

// A Field is a field of a form. Its kind is "text", "area", "number", "email", "tel", "search",
// "date", "radio", "checks", "select" or "file".
type Field struct {
	ID, Name, Kind   string
	Label, Hint      string
	Heading          bool // its label is the heading of the page
	Value            string
	Day, Month, Year string
	Options          []Choice
	Accept           string
	Many             bool     // several files can be chosen
	Most             int64    // the greatest size of a file, in bytes
	Here             []File   // the files that are here already
	Refused          []string // the values of files that were sent and are not taken
	Max              int
	Optional         bool
	Wrong            string
	Draft            string // the name under which the browser keeps a draft
}

// A File is a file that was sent, and that a form still has to hand on.
type File struct{ Value, Name, Size string }

// A Choice is an option of a Field.
type Choice struct {
	Value, Text string
	Chosen      bool
}

// Answers is the list of answers that a person checks before they are sent.
type Answers struct {
	Title   string
	Lines   []string
	Rows    []Answered
	URL     string
	Hidden  []Hidden
	Buttons []Button
	Links   []Link
}

// Answered is an answer of Answers.
type Answered struct {
	Label, Answer, Change string
	Show                  string // the value that asks the server to show a masked answer
	Now                   bool   // it was just changed
}

// A Card is a decision that the person has to make.
type Card struct {
	ID, Title, Aside string
	Calls            []string // canonical
	Lines            []string
	Rows             []Diff
	Folded           []Diff // shown on request
	Facts            []Fact
	Notes            []Banner
	URL              string
	Hidden           []Hidden
	Fields           []Field
	Buttons          []Button
	Links            []Link // what can be done besides
	Arrive           bool   // it gets the focus
}

// A Diff is a row, before and after.
type Diff struct {
	Title, Op string
	Fields    []Changed
}

// Changed is a field of a Diff.
type Changed struct {
	Name          string
	Was           bool // there was a value before
	Before, After string
	From          string
}

// Prose is a block of text.
type Prose struct {
	ID, Title string
	Told      bool // it reports a result, and gets the focus
	Tag       Tag
	Lines     []string
	Calls     []string
	Facts     []Fact
	Links     []Link
}

// An Inbox is a list of rows, each with a link.
type Inbox struct {
	ID, Title string
	Together  string // where the selected rows are shown together; "" if they cannot be
	Rows      []Item
	Empty     string
	Pages     *Pager
}

// An Item is a row of an Inbox.
type Item struct {
	URL, Title, Aside string
	Key               string // the value that selects it
	Lines             []string
}

// A Find is a bar of filters.
type Find struct {
	URL    string
	Fields []Field
}

// A Pager leads to the pages before and after.
type Pager struct{ Before, After *Link }

// A Table is a table.
type Table struct {
	ID, Title string
	Find      *Find
	Filters   *Filters
	Lines     []string
	Head      []string
	Rows      [][]Cell
	Empty     string
	Pages     *Pager
}

// A Cell is a cell of a Table.
type Cell struct {
	Text, URL string
	Code      bool
}

// A Turn says how an answer came about.
type Turn struct {
	Happened []string
	Why      []Fact
}

// A Graph is a graph of boxes, with the table of its values.
type Graph struct {
	ID, Title, Says string
	Width, Height   int
	Nodes           []Node
	Edges           []Edge
	Head            []string
	Rows            [][]string
	Again           string // the URL to poll while something changes; "" if nothing does
}

// A Node is a box with a name and a line below it.
type Node struct {
	Class       string // "done", "open", "wait", "bad" or "left"
	X, Y, W, H  int
	Text, Under string
}

// TextX, TextY and UnderY are the positions of the lines of a box.
func (n Node) TextX() int  { return n.X + 10 }
func (n Node) TextY() int  { return n.Y + 22 }
func (n Node) UnderY() int { return n.Y + 42 }

// An Edge leads from one box to another.
type Edge struct{ X1, Y1, X2, Y2 int }

func (Graph) part() string    { return "graph" }
func (Progress) part() string { return "progress" }
func (Tasks) part() string    { return "tasks" }
func (Next) part() string     { return "next" }
func (Talk) part() string     { return "talk" }
func (Form) part() string     { return "form" }
func (Answers) part() string  { return "answers" }
func (Card) part() string     { return "card" }
func (Prose) part() string    { return "prose" }
func (Inbox) part() string    { return "inbox" }
func (Table) part() string    { return "table" }
func (Turn) part() string     { return "turn" }
func (Plot) part() string     { return "plot" }
func (Banner) part() string   { return "banner" }
