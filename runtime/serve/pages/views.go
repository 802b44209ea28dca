package pages

import "verbatim/runtime/words"

// A Page is the frame around the blocks of a page.
type Page struct {
	Language words.Language
	Title    string
	Head     string // the heading; "" where a block has it
	Wrong    bool   // what was sent is wrong: the title says so first
	Theme    string // "light", "dark", or "" for what the system says
	Org      string // whose pages they are
	Person   string // who is signed in
	Help     string // where to ask for a person
	SignOut  *Act
	Look     *Act // the switch between light and dark
	Keys     bool // single keys move about
	KeysOff  *Act
	Nav      []Link
	Back     *Link
	Banners  []Banner
	Main     []Block
	Aside    []Block
	Wide     bool
}

// A Block is a part of a page.
type Block interface{ part() string }

// A Link leads somewhere.
type Link struct {
	URL, Text string
	Of        string // what it is about, for those who hear it out of its place
	Tone      string // "main" of the one that is most likely wanted
	Here      bool   // it leads to this page
}

// An Act is a form of one button.
type Act struct {
	URL    string
	Hidden []Hidden
}

// A Hidden is sent along.
type Hidden struct{ Name, Value string }

// A Button sends a form.
type Button struct{ Name, Value, Text, Tone string }

// A Tag is a status: a word, and a tone beside it.
type Tag struct{ Text, Tone string }

// A Fact is something that has a name.
type Fact struct {
	Name, Text string
	Key        string // what it is to the server
}

// A Banner is told before anything else. Its tone is "ok", "warn", "bad" or "".
type Banner struct {
	Tone, Text string
	Acts       []Link
}

// Progress says how far something is; the bar is a picture of the sentence, in
// thousandths.
type Progress struct {
	Bold, Text        string
	Done, Ours, Total int
}

// Tasks are what is to be done.
type Tasks struct {
	ID, Title string
	Tasks     []Task
	Empty     string
	Folded    *Folded // what is done
}

// A Folded is a list of tasks that is shown on request.
type Folded struct {
	Summary string
	Tasks   []Task
}

// A Task is one of them.
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
	Last     string // what was sent last: a draft of it is over
	Acts     []Link
	File     *Field // by which a file is sent; nil where none can be
	Off      string // why there is none
}

// A Message is one.
type Message struct {
	Number  string
	Who     string
	Mine    bool
	Lines   []string
	Acts    []Link // about what was done
	Sources []Link // of what it says
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

// A Mistake is told above the form, and at its field.
type Mistake struct{ Field, Text string }

// A Field is one value. Its kind is "text", "area", "number", "email", "tel", "search",
// "date", "radio", "checks", "select" or "file".
type Field struct {
	ID, Name, Kind   string
	Label, Hint      string
	Heading          bool // its label is that of the page
	Value            string
	Day, Month, Year string
	Options          []Choice
	Accept           string
	Max              int
	Optional         bool
	Wrong            string
	Draft            string // the name under which what is typed survives
}

// A Choice is one of several.
type Choice struct {
	Value, Text string
	Chosen      bool
}

// Answers are checked before they are sent.
type Answers struct {
	Title   string
	Lines   []string
	Rows    []Answered
	URL     string
	Hidden  []Hidden
	Buttons []Button
	Links   []Link
}

// Answered is one of them.
type Answered struct {
	Label, Answer, Change string
	Show                  string // what asks the server for it, where it is masked
	Now                   bool   // it was just changed
}

// A Card is something that somebody has to decide.
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
}

// A Diff is a row, before and after.
type Diff struct {
	Title, Op string
	Fields    []Changed
}

// Changed is one field of it.
type Changed struct {
	Name          string
	Was           bool // there was something before
	Before, After string
	From          string
}

// Prose is text.
type Prose struct {
	ID, Title string
	Told      bool // it tells what was done, and has the focus
	Lines     []string
	Calls     []string
	Facts     []Fact
	Links     []Link
}

// An Inbox is rows that each open something.
type Inbox struct {
	ID, Title string
	Together  string // where those that were selected are shown together; "" where none are
	Rows      []Item
	Empty     string
}

// An Item is one of them.
type Item struct {
	URL, Title, Aside string
	Key               string // by which it is selected
	Lines             []string
}

// A Find is a bar of filters.
type Find struct {
	URL    string
	Fields []Field
}

// A Pager leads to the pages before and after.
type Pager struct{ Before, After *Link }

// A Table is one.
type Table struct {
	ID, Title string
	Find      *Find
	Lines     []string
	Head      []string
	Rows      [][]Cell
	Empty     string
	Pages     *Pager
}

// A Cell is one of its values.
type Cell struct {
	Text, URL string
	Code      bool
}

// A Turn says how an answer came about.
type Turn struct {
	Happened []string
	Why      []Fact
}

// A Plot is bars, and the table that they are of.
type Plot struct {
	ID, Title, Says string
	Bars            []Bar
	Marks           []Mark
	Head            []string
	Rows            [][]string
}

// A Bar is one, in the 640 by 160 of the picture.
type Bar struct {
	Class      string // "a", "b" or "c"
	X, Y, W, H int
}

// A Mark stands below the bars.
type Mark struct {
	X    int
	Text string
}

// A Graph is boxes that lead to each other, and the table that they are of.
type Graph struct {
	ID, Title, Says string
	Width, Height   int
	Nodes           []Node
	Edges           []Edge
	Head            []string
	Rows            [][]string
	Again           string // where the page is looked at again while something moves; "" of what stands still
}

// A Node is a box with a name, and a line below that.
type Node struct {
	Class       string // "done", "open", "wait", "bad" or "left"
	X, Y, W, H  int
	Text, Under string
}

// TextX, TextY and UnderY are where the lines of a box stand.
func (n Node) TextX() int  { return n.X + 10 }
func (n Node) TextY() int  { return n.Y + 22 }
func (n Node) UnderY() int { return n.Y + 42 }

// An Edge leads from one box to another.
type Edge struct{ X1, Y1, X2, Y2 int }

func (Graph) part() string    { return "graph" }
func (Progress) part() string { return "progress" }
func (Tasks) part() string    { return "tasks" }
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
