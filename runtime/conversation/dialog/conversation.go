package dialog

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Options configure a conversation.
type Options struct {
	Registry *verbs.Registry
	Session  *engine.Session
	// Model writes calls. If it is nil, phrases are understood as far as Interpreter can. One of the
	// two is required.
	Model llm.Model
	// Unused, if it is not nil, is told why nothing of what the model answered in a turn could be used,
	// in a sentence for the operator.
	Unused func(why string)
	// Budget bounds the tokens of the conversation. If it is nil, only the turn is bounded.
	Budget *llm.Budget
	// Mode is how the model writes calls; the default is Tools. In Grammar mode the endpoint gets a
	// grammar in GBNF, as llama.cpp reads it, or as xgrammar does.
	Mode     Mode
	XGrammar bool
	// Interpreter understands phrases, and ranks verbs for a sentence. It is used without a model,
	// and when the model cannot be reached. Package phrases has one.
	Interpreter Interpreter
	// Clock tells the time; Zone is the person's.
	Clock func() time.Time
	Zone  *time.Location
	// Referring adds a reference to each question, for channels in which an answer quotes the
	// question, such as mail.
	Referring bool
	// Person is the person's name; the default is the principal's.
	Person string
	// History is how many earlier turns the model is shown; the default is 10.
	History int
	Limits  Limits
	// Source names the conversation in the journal; the default is "chat".
	Source string
}

// DayBudget is the name of a budget that starts anew each day. A person who reaches its end is told
// when that is.
const DayBudget = "day"

const turnBudget = "turn"

// Limits bound a turn. Zero means the default beside each.
type Limits struct {
	Tokens   int           // of a turn: 30 000
	Answer   int           // of one answer of the model: 2 000
	Steps    int           // answers of the model whose calls are carried out: 5
	Repairs  int           // times that the model is told of mistakes: 3, and never more
	Calls    int           // of a turn: 20
	Question time.Duration // how long a question can be answered: 15 minutes
	Open     time.Duration // how long an unclear message waits for an answer: a day
}

const mostRepairs = 3

func (l *Limits) fill() {
	for _, of := range []struct {
		field *int
		value int
	}{{&l.Tokens, 30_000}, {&l.Answer, 2_000}, {&l.Steps, 5}, {&l.Repairs, mostRepairs}, {&l.Calls, 20}} {
		if *of.field <= 0 {
			*of.field = of.value
		}
	}
	l.Repairs = min(l.Repairs, mostRepairs)
	if l.Question <= 0 {
		l.Question = 15 * time.Minute
	}
	if l.Open <= 0 {
		l.Open = defaultOpen
	}
}

// An Interpreter turns phrases into calls.
type Interpreter interface {
	// Interpret reads a sentence. before lists what earlier turns were about, the latest first, for
	// references without a name; settled is what the person said when asked about the sentence.
	Interpret(ctx context.Context, said string, settled Settled, before []Spoken) (Understood, error)
	// Correct reads a message as a new value for an argument of a call; ok is false if it is none.
	Correct(ctx context.Context, said string, call *dsl.Call) (Correction, bool, error)
	// Named lists the rows that a text names unambiguously.
	Named(ctx context.Context, text string) ([]string, error)
	// Tongue returns the language in which the palettes have the words of a few that are no sentence.
	Tongue(said string) (values.Language, bool)
	// Shortlist returns the verbs that a sentence may be about, the likeliest first.
	Shortlist(said string, among []*verbs.Verb, most int) []*verbs.Verb
}

// Settled holds the answers to questions about a sentence.
type Settled struct {
	Verb  string // the verb that the person picked, "" if they were not asked
	Given []Given
	Rows  map[*verbs.Entity]string // the names of the only rows, of some entities, that the sentence may be about
}

// A Given is an answer for an argument of a verb: free text to the letter, anything else in words or
// as a call writes it. It fills the argument, and leaves the sentence as it was said.
type Given struct {
	Verb  string `json:"verb"`
	Param string `json:"param"`
	Text  string `json:"text,omitempty"`
}

// Understood is the reading of a message: calls for the parts that are complete, a question about
// the part that is not, and the parts without a meaning. (F25)
type Understood struct {
	Script  string
	Ask     string
	Of      values.Range // the part of the message that Ask is about
	Names   []string     // the rows that it names
	Left    []string     // the parts that nothing was made of
	Offers  []Offer      // what Ask offers to choose from
	Matched string       // the phrase that fitted
	Verb    string       // its verb
	// Confidence is the probability, from 0 to 1, that the reading is right.
	Confidence float64
	Verbs      []string // of every part of it that is understood for certain
	NotUsed    []string // verbs that came close
	Resolved   []string // what words were read as
	Assumed    []string // names of rows that were meant without being said
	Unnamed    []string // names of rows in Script that no words of the message name
	Days       []string // days that it is read by and that were said in other words, each with what it is
	Codes      []string // that the person said, in whatever words
	Withheld   string   // the verb that is surely meant and that the person may not use; "" if it is none
	Nearest    []string // the verbs that come nearest to a part that is not understood
	// Wants is the argument that Ask asks for, without a text; Dictated says that it is free text.
	Wants    Given
	Dictated bool
	// Beside is the rest of an answer that also holds the value.
	Beside string
	// Texts are the free texts of the part that Ask is about, or of all parts.
	Texts []Given
	// Long says that the message is too long to be read at once. Then nothing is understood, since
	// a part may mean something other than the whole.
	Long bool
}

// An Offer is one choice in a question.
type Offer struct {
	Says string `json:"says"`           // as the question words it
	Verb string `json:"verb,omitempty"` // the verb that it is, where verbs are asked about
	Text string `json:"text,omitempty"` // what says the same in a sentence, where anything else is
}

// A Conversation is the conversation of one person. It is safe for concurrent use; turns are taken
// one after the other.
type Conversation struct {
	o         Options
	conduct   []string
	verbs     []*verbs.Verb // the verbs that the session may use, by the roles that it began with
	context   []*verbs.Verb
	planFirst bool
	phrased   bool     // a palette lets a model add sentences of its own
	words     []string // texts of palettes, folded: a model's own sentence may name things by them
	wording   wording  // for texts to the person
	tongue    values.Tongue
	answering []*verbs.Answering
	otherwise *verbs.Answering
	person    *verbs.Verb // the verb that asks for a human, nil if there is none

	mu       sync.Mutex
	turns    []*Turn
	kept     bool            // in the session
	known    int64           // number of the session's turns that are in turns
	open     []*Question     // the last one stands, and those before it are put off
	unclear  unclear         // the unclear message, without a model
	leaves   []string        // ids of questions that nobody waits for any more
	unasked  budget          // amounts of calls that ran without a question
	named    map[string]bool // rows whose names a model was shown
	alone    bool            // the model cannot be reached, and the person was told so
	expected expected        // what the person was last asked for by itself
	lately   latest          // the last call that ran
	read     latest          // the last calls that changed nothing
	marks    rune            // number of marks for values that only the person was shown
	said     []secret        // sensitive values of the person in this turn
	masks    Masks           // sensitive values of the conversation, in what is kept of its exchanges with the model
	briefed  briefed         // the turn that has the system text which the model was told last
	toolbox  toolbox
	offered  []*verbs.Verb // the verbs that a model was shown, if there are more than it can be

	background background
}

// New begins a conversation. It refuses Options without Registry, Session or Clock, or without both
// Model and Interpreter.
func New(o Options) (*Conversation, error) {
	switch {
	case o.Registry == nil || o.Session == nil || o.Clock == nil:
		return nil, errors.New("a conversation needs palettes, a session and a clock")
	case o.Model == nil && o.Interpreter == nil:
		return nil, errors.New("a conversation needs something that understands messages: set Options.Interpreter, such as phrases.New makes, or Options.Model, or both")
	case o.Mode == "":
		o.Mode = Tools
	case !slices.Contains([]Mode{Tools, Grammar, Text}, o.Mode):
		return nil, errors.New("a model writes calls as tools, grammar or text")
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Person == "" {
		o.Person = o.Session.Principal().Name
	}
	if o.History <= 0 {
		o.History = 10
	}
	if o.Source == "" {
		o.Source = "chat"
	}
	o.Limits.fill()
	c := &Conversation{o: o, wording: newWording(o.Registry)}
	c.wording.called, c.wording.zone, c.wording.refers = o.Session.Names().Called, o.Zone, o.Referring
	c.wording = c.wording.in(o.Session.Person().Language)
	may := map[string]bool{}
	c.verbs = o.Session.Verbs()
	for _, v := range c.verbs {
		may[v.Name] = true
	}
	for _, p := range o.Registry.Palettes() {
		if !slices.ContainsFunc(p.Verbs, func(v *verbs.Verb) bool { return may[v.Name] }) {
			continue
		}
		c.words = append(c.words, fold(p.Description))
		for _, v := range p.Verbs {
			if may[v.Name] {
				c.words = append(c.words, fold(v.Description), fold(strings.NewReplacer("-", " ", ".", " ").Replace(v.Name)))
			}
		}
		if p.Conversation == nil {
			continue
		}
		c.planFirst = c.planFirst || p.Conversation.PlanFirst
		c.phrased = c.phrased || p.Conversation.Phrased
		if a := p.Conversation.Answering; a != nil && may[a.Verb.Name] {
			c.answering = append(c.answering, a)
		}
		if a := p.Conversation.Otherwise; a != nil && may[a.Verb.Name] && c.otherwise == nil {
			c.otherwise = a
		}
		if v := p.Conversation.Person; v != nil && may[v.Name] && c.person == nil {
			c.person = v
		}
		for _, rule := range p.Conversation.Conduct {
			c.conduct = append(c.conduct, oneLine(rule))
		}
		for _, v := range p.Conversation.Context {
			if may[v.Name] {
				c.context = append(c.context, v)
			}
		}
	}
	// The words are joined into one text, so that one search covers them all.
	c.words = []string{strings.Join(append(c.words, fold(o.Person)), "\n")}
	return c, nil
}

// A Message is one message to the conversation.
type Message struct {
	Text string
	// From is the principal who wrote it, if others can write into the conversation; "" is the
	// session's own.
	From string
	// Automatic says that an automatic reply was sent in the person's place.
	Automatic bool
	// ID is the channel's id of the message. In a kept session a message with an ID has its effect
	// once, however often it arrives.
	ID string
	// ReplyTo is the ID of an earlier message, if this one replies to the answer to it. "This" then
	// means what that turn was about.
	ReplyTo string
	// Subject is the subject of a mail. If a row that it names has not been mentioned since, "this"
	// means that row.
	Subject string
	// Answers is the ID of the one question that the message answers, such as the tap on a button
	// does.
	Answers string
}

// An Answer is the reply to a message.
type Answer struct {
	Text  string
	Open  []*Question        // questions that wait, oldest first: the last one is asked, the others are put off
	Done  []*receipt.Receipt // what was done, in order
	Found []*receipt.Receipt // all that was called, including reads
	Turn  *Turn
	// Before says that the message was handled before; Text is what was said then. CutOff is when
	// that began, if nothing was said yet: it is still running, or was cut off.
	Before bool
	CutOff time.Time
	// Closed says that the question which the message answers is not open.
	Closed bool
}

// Open returns the questions that wait for an answer.
func (c *Conversation) Open() []*Question {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.open)
}

// Asked returns a question as its own person reads it, with what they said themselves. asks is ""
// if the palettes have no words for it.
func (c *Conversation) Asked(q *Question) (asks, shows string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reveal(q.asks), c.reveal(q.shows)
}

// Question returns a question as it was put to the person in a message, so that whoever shows it in
// another way, with buttons, shows it once.
func (c *Conversation) Question(q *Question) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.TrimSpace(c.conceal(c.wording.question(q)))
}

// Offered returns the choices of the last question in its words; repeating one of them answers it.
func (c *Conversation) Offered() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.unclear.open() {
		return nil
	}
	for _, o := range c.unclear.Offers {
		all = append(all, o.Says)
	}
	return all
}

// Turns returns the turns so far.
func (c *Conversation) Turns() []*Turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.turns)
}

// Say takes a turn. It fails only if the system does: then the person was told nothing, and earlier
// runs stand in the journal.
func (c *Conversation) Say(ctx context.Context, m Message) (*Answer, error) {
	return c.Follow(ctx, m, nil)
}

// Follow is Say with progress: tell receives each Event as it happens, on the caller's goroutine,
// and the answer in parts.
func (c *Conversation) Follow(ctx context.Context, m Message, tell func(Event)) (*Answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.o.Clock().In(c.o.Zone)
	t := &turn{c: c, now: now, events: tell, record: &Turn{Number: len(c.turns) + 1, Time: now, Model: ModelNote{Prompt: PromptVersion}}}
	if t.spoken = m.Text; !utf8.ValidString(m.Text) || strings.TrimSpace(m.Text) == "" {
		t.spoken = "(a message that could not be read)"
	}
	if err := c.catchUp(ctx); err != nil {
		return nil, err
	}
	t.record.Number = len(c.turns) + 1
	t.record.From = t.state(t.asking(ctx) != nil)
	if c.kept && m.ID != "" {
		if before, err := c.answeredBefore(ctx, m.ID); err != nil || before != nil {
			return before, err
		}
		t.via = m.ID
	}
	if m.Answers != "" && !slices.ContainsFunc(c.open, func(q *Question) bool { return q.ID == m.Answers }) {
		return &Answer{Open: slices.Clone(c.open), Turn: t.record, Closed: true}, nil
	}
	// Card numbers are masked before the text is read, kept or shown.
	if without := values.WithoutCards(m.Text); without != m.Text {
		m.Text, t.spoken = without, without
		t.tell(c.wording.say(sayCardTaken) + "\n")
	}
	stood, asked := c.stands(), c.unclear.id
	text, err := t.take(ctx, m)
	if stood != nil && err == nil && slices.Contains(c.open, stood) && (c.stands() != stood || c.unclear.open() && c.unclear.id != asked && !c.unclear.Corrects) {
		text = joined(c.wording.say(sayPutOff, stood.line()), text)
	}
	if err == nil {
		text = t.collects(ctx, text)
	}
	c.expected = t.expects
	if t.via != "" && t.twice {
		// Another process may be handling the same message.
		if before, err := c.answeredBefore(ctx, m.ID); err != nil || before != nil {
			return before, err
		}
	}
	if err != nil {
		return nil, err
	}
	if t.trace != nil {
		t.record.tainted = t.trace.untrusted()
	}
	defer func() { c.said = nil }()
	keeps := c.kept && len(m.Text) <= MaxMessage
	if keeps && t.ends != "" && t.told.Len() == 0 {
		// Only the first process to answer tells the outcome.
		t.record.Told = c.conceal(t.whole(text))
		switch err := t.keep(ctx); {
		case err == nil:
			keeps = false
		case quicker(err):
			text = t.overtaken()
		}
	}
	t.tell(text)
	text = c.reveal(t.told.String())
	t.record.Told = c.conceal(t.told.String())
	t.record.To = t.state(t.record.asks != "" && !t.record.later)
	c.turns = append(c.turns, t.record)
	if keeps {
		// The turn is over even if it could not be stored.
		if err := t.keep(ctx); err != nil {
			t.record.note(noteUnkept, engine.Sentence(err))
		}
	}
	return &Answer{Text: text, Open: slices.Clone(c.open), Done: t.done, Found: t.found, Turn: t.record}, nil
}

// listen detects the person's language, unless they or their organisation set one. A repeated offer
// says nothing about their language.
func (c *Conversation) listen(said string) {
	if !slices.ContainsFunc(c.unclear.Offers, func(o Offer) bool { return strings.Contains(values.Plain(o.Says), values.Plain(said)) }) {
		c.tongue.Hear(said)
	}
	if _, known := c.tongue.Language(); !known && c.o.Interpreter != nil {
		if l, ok := c.o.Interpreter.Tongue(said); ok {
			c.tongue.Is(l)
		}
	}
	if l, ok := c.tongue.Language(); ok {
		c.o.Session.Turns().Hears(l.String())
	}
	c.wording = c.wording.in(c.o.Session.Person().Language)
}
