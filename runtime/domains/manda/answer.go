package manda

import (
	"slices"
	"strings"
	"time"
)

// A Fact is a stored finding.
type Fact struct {
	FindingFacts
	Domain, Place, Text string
	Confidence          int
	Dated               time.Time // the document
	Superseded          bool
	By                  string // the document that replaced its own; "" if none did
	Corrected           bool   // somebody replaced the value in Text
	Scaled              string // the document beside its own that states its scale; "" if none did
	Number              int    // of its row in its document
	Named               bool   // the question names its document
	Row                 any    // its row, for links
}

// A Clash is two facts that contradict each other.
type Clash struct{ A, B *Fact }

// A Request is an item of the list of information that the seller is asked for.
type Request struct {
	Domain, Text, Priority string
	Covered                bool
	Document, Place        string // the passage that covers it
	Row                    any
}

// A Passage is text that fits a question.
type Passage struct {
	Document, Place, Heading, Text string
	About                          string // what its document is called and begins with
	Whole                          bool   // its document is about the question
	Row, Of                        any    // its row, and the row of its document
}

// DealFacts holds the facts about a deal that a question needs.
type DealFacts struct {
	Deal      string
	Documents int       // that the person can see
	Unread    int       // of them, those whose text is not here, so that no search finds it
	Newest    time.Time // of the documents
	Facts     []Fact
	Clashes   []Clash
	Requests  []Request
	Passages  []Passage         // that fit the question, the best first
	Replaces  map[string]string // a document, and one whose place it took
}

// A Line is a line of an answer. A claim has a place in a document.
type Line struct {
	Text            string
	Fact            *Fact // the fact that it states, nil if it states none
	Document, Place string
	Row             any // a passage, a finding or a request
	Role            Role
	Score           *float64 // how likely the answer that it begins is right; nil where nothing says
}

// A Role is the role of a line in an answer.
type Role string

// The roles of lines.
const (
	Said     Role = "said"    // orientation, headings, notes without a source
	Claim    Role = "claim"   // a statement with its place
	Against  Role = "against" // a statement against a claim: a conflict, an earlier version, a forecast
	Covered  Role = "covered" // a request that something covers
	Missing  Role = "missing" // a request that nothing covers
	NextStep Role = "next"    // an offer, or a question
)

// An answer is an answer that is built line by line.
type answer struct {
	tongue
	room  *DealFacts
	q     Question
	lines []Line
	index *index // of the passages
}

// sentences returns the sentences of the passages that fit the question.
func (a *answer) sentences() *index {
	if a.index == nil {
		a.index = indexed(a.room.Passages)
	}
	return a.index
}

// Answer answers a question from the facts of a room. It states only figures and sentences that are
// in a document, each with its place. A confidence is never told as a number, but by its reasons.
// The result depends only on the arguments.
func Answer(q Question, room *DealFacts) []Line {
	a := &answer{tongue: tongue(q.Language), room: room, q: q}
	if q.Vague {
		a.say("offer-topics")
		return a.lines
	}
	switch q.Intent {
	case Gaps:
		a.gaps()
	case DueDiligence:
		a.risks()
	case Comparison:
		a.compare()
	case DeepDive:
		a.breakDown()
	case Synthesis:
		a.bringTogether()
	case Exploration:
		a.overview()
	default:
		a.look()
	}
	return a.lines
}

// versions says of the documents that some lines rest on which take the place of an earlier
// version.
func (a *answer) versions(of []Line) {
	told := map[string]bool{}
	for _, l := range slices.Clone(of) {
		if old := a.room.Replaces[l.Document]; old != "" && !told[l.Document] {
			told[l.Document] = true
			a.say("note-replaced", "document", l.Document, "older", old)
		}
	}
}

// say adds a sentence of the catalogue.
func (a *answer) say(key string, places ...string) { a.write(a.text(key, places...)) }

// write adds a line of text.
func (a *answer) write(text string) {
	l := Line{Text: text, Role: Said}
	if strings.HasSuffix(l.Text, "?") {
		l.Role = NextStep
	}
	a.lines = append(a.lines, l)
}

// offer says how a question gets on the list for the company.
func (a *answer) offer() {
	a.lines = append(a.lines, Line{Text: a.text("offer"), Role: NextStep})
}

// tell adds a statement about a fact, with its place.
func (a *answer) tell(f *Fact, key string, places ...string) {
	a.lines = append(a.lines, a.line(f, Claim, a.about(f, key, places...)))
}

// doubt adds a statement against a fact that was told, with the text below before it.
func (a *answer) doubt(f *Fact, below, key string, places ...string) {
	a.lines = append(a.lines, a.line(f, Against, below+a.about(f, key, places...)))
}

func (a *answer) line(f *Fact, role Role, text string) Line {
	return Line{Text: text + " " + a.stated(f), Fact: f, Document: f.Document, Place: f.Place, Row: f.Row, Role: role}
}

// quote makes a line with a sentence of a passage, and with the figure in it if that is known.
func (a *answer) quote(p *Passage, s string) Line {
	l := Line{Text: a.text("quote", "text", headed(p.Text, s)) + " " + a.source(p.Document, p.Place), Document: p.Document, Place: p.Place, Row: p.Row, Role: Claim}
	for i := range a.room.Facts {
		beside := func(f *Fact) bool { // in a table, each cell has its own place
			return f.Place == p.Place && strings.Contains(s, f.Text) || within(f.Place) == within(p.Place) && strings.Contains(" | "+s+" | ", " | "+f.Text+" | ")
		}
		if f := &a.room.Facts[i]; f.Document == p.Document && !f.Superseded && f.Text != "" && beside(f) {
			l.Fact = f
			break
		}
	}
	return l
}
