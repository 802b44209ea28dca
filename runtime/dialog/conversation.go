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
	"verbatim/runtime"
	"verbatim/runtime/llm"
	"verbatim/runtime/words"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Options say who talks, and to what.
type Options struct {
	Registry *verbs.Registry
	Session  *runtime.Session
	// Model writes calls. Without one, phrases are understood as far as
	// Interpreter does.
	Model llm.Model
	// Budget bounds the tokens that the conversation may spend; each turn stands
	// in it. Without one, only the turn is bounded.
	Budget *llm.Budget
	// Mode is how the model writes calls; the default is Tools. In Grammar, the
	// endpoint is given a grammar in the syntax of GBNF, or of Lark.
	Mode Mode
	Lark bool
	// Interpreter understands phrases, and says which verbs a sentence may be
	// about. It is asked where there is no model, and where it cannot be had.
	Interpreter Interpreter
	// Clock tells the time; Zone is the person's.
	Clock func() time.Time
	Zone  *time.Location
	// Referring lets each question carry what it is known by, for channels in which an
	// answer quotes what it answers, such as mail.
	Referring bool
	// Person is what the person is called; without it, the principal's name.
	Person string
	// History is how many turns before this one the model is shown; the default
	// is 10.
	History int
	Limits  Limits
	// Source names the conversation in the journal; the default is "chat".
	Source string
}

// DayBudget is what a budget is called that begins anew each day, so that whoever
// meets its end is told when that is.
const DayBudget = "day"

const turnBudget = "turn"

// Limits bound a turn. Zero is the default that stands beside each.
type Limits struct {
	Tokens   int           // of a turn: 30 000
	Answer   int           // of one answer of the model: 2 000
	Steps    int           // answers of the model whose calls are carried out: 5
	Repairs  int           // times that the model is told what is wrong: 3, and never more
	Calls    int           // of a turn: 20
	Question time.Duration // how long a question is good: 15 minutes
	Open     time.Duration // how long it is waited for what was asked back: a day
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

// An Interpreter makes calls of phrases.
type Interpreter interface {
	// Interpret says what a sentence asks for. What was spoken of before, the
	// latest first, is what it may mean without a name; chosen is the verb that
	// somebody chose when they were asked which of some they mean, "" where none.
	Interpret(ctx context.Context, said, chosen string, before []Spoken) (Understood, error)
	// Correct reads a message as one that puts another value in the place of one in
	// a call; false where it is none.
	Correct(ctx context.Context, said string, call *dsl.Call) (Correction, bool, error)
	// Named lists the rows that a text names beyond doubt, whatever else it says.
	Named(ctx context.Context, text string) ([]string, error)
	// Shortlist returns the verbs that a sentence may be about, likeliest first.
	Shortlist(said string, among []*verbs.Verb, most int) []*verbs.Verb
}

// Understood is what an Interpreter made of a message: calls of what it says in full, a
// question about what it does not, and what nothing was made of. (F25)
type Understood struct {
	Script  string
	Ask     string
	Of      words.Range // the part of the message that Ask is about
	Left    []string    // the parts that nothing was made of
	Offers  []Offer     // what Ask offers to choose from
	Matched string      // the phrase that fitted
	Verb    string      // its verb
	// Confidence is how likely it is, from 0 to 1, that this is meant.
	Confidence float64
	Verbs      []string // of every part of it that is understood for certain
	NotUsed    []string // verbs that came close
	// Places are the words that Ask is about, where one of what it offers stands in
	// their place; words of another time, said instead, do too.
	Places   []words.Range
	Resolved []string // what words were read as
	Assumed  []string // names of rows that were meant without being said
	// Beyond says that it asks for something to be done which nothing here does.
	Beyond bool
	// Dictated says that Ask asks for words which are taken as they come.
	Dictated bool
	// Long says that it was more than is read at once. Nothing was understood then:
	// a part of what somebody says may mean what the whole of it does not.
	Long bool
}

// An Offer is something that a question offers.
type Offer struct {
	Says string `json:"says"`           // as the question words it
	Verb string `json:"verb,omitempty"` // the verb that it is, where verbs are asked about
	Text string `json:"text,omitempty"` // what says the same in a sentence, where anything else is
}

// A Conversation is one person talking. It is safe for use by many goroutines,
// which then take turns.
type Conversation struct {
	o         Options
	conduct   []string
	verbs     []*verbs.Verb // that the session may use: its roles are those that it began with
	context   []*verbs.Verb
	planFirst bool
	phrased   bool     // a palette lets a model add sentences of its own
	words     []string // what palettes say, folded: those may name it
	wording   wording  // in which the person is told things
	tongue    words.Tongue
	answering []*verbs.Answering
	otherwise *verbs.Answering
	person    *verbs.Verb // by which somebody asks for a person, nil where none does

	mu       sync.Mutex
	turns    []*Turn
	kept     bool  // in the session
	known    int64 // turns of the session that are among turns
	open     []*Question
	unclear  unclear         // what was asked back, where no model is
	leaves   []string        // questions of the session that nobody waits for any longer
	unasked  tally           // what was done without a question
	named    map[string]bool // rows whose names a model was shown
	choosing words.Answer    // what was said when it was asked which question is meant
	alone    bool            // without the model, and the person was told so
	expected expected        // what the person was asked for last, by itself
	lately   latest          // what was done last
	marks    rune            // how many stand for what the person was shown alone
	said     []secret        // in this turn, with what was done
	toolbox  toolbox
}

// New begins a conversation.
func New(o Options) (*Conversation, error) {
	switch {
	case o.Registry == nil || o.Session == nil || o.Clock == nil:
		return nil, errors.New("a conversation needs palettes, a session and a clock")
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
	c.wording.called, c.wording.zone, c.wording.refers = o.Session.Called, o.Zone, o.Referring
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
	// One text, which is searched at once.
	c.words = []string{strings.Join(append(c.words, fold(o.Person)), "\n")}
	return c, nil
}

// A Message is what somebody sends.
type Message struct {
	Text string
	// From is the principal who wrote it, where others can write into the same
	// conversation; "" is the session's own.
	From string
	// Automatic says that a machine answered in their place.
	Automatic bool
	// ID is what the channel calls the message that it came by. In a session that is kept, a
	// message with an ID has its effect once, however often it is said.
	ID string
	// ReplyTo is the ID of an earlier message, where this one replies to the answer to that:
	// what was spoken of there is what "this" means here.
	ReplyTo string
	// Subject is what it says above the text that it is about, as a mail does. Of what has not
	// been spoken of since, that is what "this" means.
	Subject string
	// Answers is the Question.ID of the question that it answers, and no other, as the
	// tap on one of its buttons does.
	Answers string
}

// An Answer is what they are told.
type Answer struct {
	Text  string
	Open  []*Question        // what they are asked, oldest first
	Done  []*receipt.Receipt // what was done, in order
	Found []*receipt.Receipt // all that was called, what only reads included
	Turn  *Turn
	// Before says that the message was dealt with before: Text is what was told then. CutOff
	// is when that began, where nothing was told yet: it is still on its way, or was cut off.
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

// Asked is a question as the person whose it is reads it: with what they said themselves.
// asks is "" where the palettes have no words for it.
func (c *Conversation) Asked(q *Question) (asks, shows string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reveal(q.asks), c.reveal(q.shows)
}

// Offered is what the last question offers to choose from, as it words them: each said
// back answers it.
func (c *Conversation) Offered() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.unclear.open() {
		return nil
	}
	for _, o := range c.unclear.offers {
		all = append(all, o.Says)
	}
	return all
}

// Turns returns the turns of the conversation so far.
func (c *Conversation) Turns() []*Turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.turns)
}

// Say takes a turn. An error is one of the system's: the person was told nothing,
// and what was done before it stands in the journal.
func (c *Conversation) Say(ctx context.Context, m Message) (*Answer, error) {
	return c.Follow(ctx, m, nil)
}

// Follow is Say for whoever wants to know how far the turn is: tell is given each
// Event as it happens, on the caller's goroutine, and the answer as it comes.
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
	t.record.From = t.state(ctx)
	if c.kept && m.ID != "" {
		if before, err := c.answeredBefore(ctx, m.ID); err != nil || before != nil {
			return before, err
		}
		t.via = m.ID
	}
	if m.Answers != "" && !slices.ContainsFunc(c.open, func(q *Question) bool { return q.ID == m.Answers }) {
		return &Answer{Open: slices.Clone(c.open), Turn: t.record, Closed: true}, nil
	}
	// It is masked before anything is made of it, kept or shown.
	if without := words.WithoutCards(m.Text); without != m.Text {
		m.Text, t.spoken = without, without
		t.tell(c.wording.say(sayCardTaken) + "\n")
	}
	text, err := t.take(ctx, m)
	c.expected = t.expects
	if t.via != "" && t.twice {
		// Another process dealt with it at the same moment.
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
		// Only who is the first to answer is told what comes of it.
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
	t.record.To = t.state(ctx)
	c.turns = append(c.turns, t.record)
	if keeps {
		// What cannot be kept was done and said all the same.
		if err := t.keep(ctx); err != nil {
			t.record.note(noteUnkept, runtime.Sentence(err))
		}
	}
	return &Answer{Text: text, Open: slices.Clone(c.open), Done: t.done, Found: t.found, Turn: t.record}, nil
}

// listen goes by the language of what the person says, where they or their
// organisation said none. What was offered, and is said back, is in no language of theirs.
func (c *Conversation) listen(said string) {
	if !slices.ContainsFunc(c.unclear.offers, func(o Offer) bool { return strings.Contains(words.Plain(o.Says), words.Plain(said)) }) {
		c.tongue.Hear(said)
	}
	if l, ok := c.tongue.Language(); ok {
		c.o.Session.Hears(l.String())
	}
	c.wording = c.wording.in(c.o.Session.Person().Language)
}
