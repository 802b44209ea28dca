package manda

import (
	"slices"
	"strings"
	"time"
)

// A Fact is a finding as it is kept.
type Fact struct {
	Stated
	Domain, Place, Text string
	Confidence          int
	Dated               time.Time // the document
	Superseded          bool
	By                  string // the document that took its place; empty where its own did
	Corrected           bool   // somebody gave it another value than Text has
	Row                 any    // its row, for who wants to go there
}

// A Clash is two facts that contradict each other.
type Clash struct{ A, B *Fact }

// A Request is an item of the list of what the seller is asked for.
type Request struct {
	Domain, Text, Priority string
	Covered                bool
	Document, Place        string // what covers it
	Row                    any
}

// A Passage is text that fits a question.
type Passage struct {
	Document, Place, Heading, Text string
	Whole                          bool // its document is about what was asked
	Row, Of                        any  // its row, and that of its document
}

// A Room holds the facts about a deal that a question needs.
type Room struct {
	Deal      string
	Documents int
	Newest    time.Time // of the documents
	Facts     []Fact
	Clashes   []Clash
	Requests  []Request
	Passages  []Passage         // that fit the question, the best first
	Replaces  map[string]string // a document, and one whose place it took
}

// A Line is one line of an answer. A claim has the place where it stands.
type Line struct {
	Text            string
	Fact            *Fact // that it states, nil where it states none
	Document, Place string
	Row             any // a passage, a finding or a request
	Role            Role
}

// A Role is the role of a line in an answer.
type Role string

// The roles of lines.
const (
	Said     Role = "said"    // orientation, headings, notes without a source
	Claim    Role = "claim"   // it states something, and where that stands
	Against  Role = "against" // it states what speaks against a claim: a conflict, an earlier version, a forecast
	Covered  Role = "covered" // a request that something covers
	Missing  Role = "missing" // a request that nothing covers
	NextStep Role = "next"    // an offer, or a question
)

// An answer is put together line by line.
type answer struct {
	tongue
	room  *Room
	q     Question
	lines []Line
}

// Answer answers a question from what a room knows. It states no figure and no sentence
// that does not stand in a document, and says where each does; a confidence is never told
// as a number, but as what it comes of. It is a function of its arguments.
func Answer(q Question, room *Room) []Line {
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

// write adds a line as it is.
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

// tell says something of a fact, and where that stands.
func (a *answer) tell(f *Fact, key string, places ...string) {
	a.lines = append(a.lines, a.line(f, Claim, a.about(f, key, places...)))
}

// doubt says what speaks against a fact that was told, below what it is said of.
func (a *answer) doubt(f *Fact, below, key string, places ...string) {
	a.lines = append(a.lines, a.line(f, Against, below+a.about(f, key, places...)))
}

func (a *answer) line(f *Fact, role Role, text string) Line {
	return Line{Text: text + " " + a.stated(f), Fact: f, Document: f.Document, Place: f.Place, Row: f.Row, Role: role}
}

// quote is a sentence of a passage, with the figure that it states, where one is known.
func (a *answer) quote(p *Passage, s string) Line {
	l := Line{Text: a.text("quote", "text", headed(p.Text, s)) + " " + a.source(p.Document, p.Place), Document: p.Document, Place: p.Place, Row: p.Row, Role: Claim}
	for i := range a.room.Facts {
		beside := func(f *Fact) bool { // of a table each cell has its own place
			return f.Place == p.Place && strings.Contains(s, f.Text) || within(f.Place) == within(p.Place) && strings.Contains(" | "+s+" | ", " | "+f.Text+" | ")
		}
		if f := &a.room.Facts[i]; f.Document == p.Document && !f.Superseded && f.Text != "" && beside(f) {
			l.Fact = f
			break
		}
	}
	return l
}
