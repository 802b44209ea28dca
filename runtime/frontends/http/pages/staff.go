package pages

// What staff works with: a queue, and an item of it beside its document.

// A Queue is a list of items to decide on, a page at a time.
type Queue struct {
	ID, Title string
	Find      *Filters // nil where the queue stands beside an item
	Rows      []Queued
	Empty     string
	Pages     *Pager
}

// A Queued is an item of a Queue.
type Queued struct {
	Title, URL string
	Tag        Tag
	Lines      []string
	Due        string
	Here       bool   // it is the item that is shown
	Acts       []Link // of an item that has no page of its own
}

// Filters limit a list. They are kept in the URL, so that a list can be sent to somebody.
type Filters struct {
	URL    string
	Hidden []Hidden
	Fields []Field
	Links  []Link // views of the list, one of which is Here
	Clear  string // the URL without filters; "" if there are none
}

// A Review shows an item with its queue, its document, and what can be done about it.
type Review struct {
	Queue    Queue
	Document *Document // nil if there is none
	NoFiles  bool      // no verb takes a file, so there never is one
	Files    []Link    // the item's files, if there are several
	Side     []Block
}

// A Document is a file that is shown. A page shows what Kind says, and leads to the file in any case.
type Document struct {
	Name, Says string
	URL        string // of its content
	Kind       string // "pdf", "image", "text", or "" for what is not shown
	Text       []Run  // of a text
	Cut        bool   // Text is only the beginning
	Page       int    // at which a PDF opens; 0 is the first
	Marks      []Marked
}

// A Run is a piece of a text. Mark is the number of the mark that it is, from 1.
type Run struct {
	Text string
	Mark int
}

// A Marked is a text that is looked for in a document, as it may be written there; where Words is set, its
// words may stand in any order.
type Marked struct {
	Spellings []string
	Words     bool
}

// Compared puts what is on file beside where a document says the same. Rows are parallel to the marks
// of the document; where it is drawn in the browser, its text is looked through there.
type Compared struct {
	ID, Title, Says string
	Rows            []OnFile
}

// An OnFile is one row of a Compared.
type OnFile struct{ Name, Text, Where, URL string }

// A Timeline tells what happened to a row, the latest first.
type Timeline struct {
	ID, Title string
	Events    []Event
	Empty     string
	More      *Link
}

// An Event is one thing that happened.
type Event struct{ When, Who, What, Why, URL string }

// Picks is a table whose rows can be selected, with what can be done with those that are.
type Picks struct {
	ID, Title string
	Views     []Link
	URL, Name string // where the selection is sent, and the name of the field of a row before its value
	Head      []string
	Rows      []Pick
	Buttons   []Button
	Empty     string
	More      string // says that there are more
}

// A Pick is a row of Picks. Text is its first cell.
type Pick struct {
	Value, Text string
	Cells       []string
}

// An Exchange shows what a model was told and what it answered, in order.
type Exchange struct {
	ID, Title string
	Lines     []string
	Parts     []Told
}

// A Told is one text of an Exchange. What has a summary is shown on request.
type Told struct{ Who, Summary, Text string }

func (Compared) part() string { return "compared" }
func (Exchange) part() string { return "exchange" }
func (Picks) part() string    { return "picks" }
func (Queue) part() string    { return "queue" }
func (Review) part() string   { return "review" }
func (Document) part() string { return "document" }
func (Timeline) part() string { return "timeline" }
