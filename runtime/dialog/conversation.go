package dialog

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/runtime"
	"verbatim/runtime/llm"
	"verbatim/runtime/sessions"
	"verbatim/runtime/uploads"
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
	Offers  []Offer // what Ask offers to choose from
	Matched string  // the phrase that fitted
	Verb    string  // its verb
	// Confidence is how likely it is, from 0 to 1, that this is meant.
	Confidence float64
	Verbs      []string // of every part of it that is understood for certain
	NotUsed    []string // verbs that came close
	// Places are the words that Ask is about, where one of what it offers stands in
	// their place; words of another time, said instead, do too.
	Places   []words.Range
	Resolved []string // what words were read as
	Assumed  []string // names of rows that were meant without being said
	// Beyond says that it asks for something that no verb does.
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
	c.wording.called = o.Session.Called
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
}

// An Answer is what they are told.
type Answer struct {
	Text string
	Open []*Question        // what they are asked, oldest first
	Done []*receipt.Receipt // what was done, in order
	Turn *Turn
}

// A Question is asked before something is done, because a rule says so.
type Question struct {
	ID      string // that of the preview: it stands for all that would happen
	Title   string // what would be done, in a line
	Shows   string // the rows, before and after
	Asks    string // the question in the words of its palette, "" where it has none
	Why     string
	Because string   // the same, as the person is told it
	Calls   []string // canonical, with what is sensitive withheld
	Asked   time.Time
	Until   time.Time
	program *verbs.Program
	more    []reason // the conversation's own, and no palette's
	others  []string // roles that have to agree as well
	before  int64    // the turn of the session at which it was worked out, see runtime.RunOptions
	fresh   bool     // it was put to the person in the last answer

	stored   bool               // in the session
	recalled *sessions.Question // as it stands there, where another process put it

	// shows and asks are Shows and Asks with marks where the person is shown what
	// they said themselves, own what that is, and mark the first of the marks.
	shows, asks string
	secret
}

// Open returns the questions that wait for an answer.
func (c *Conversation) Open() []*Question {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.open)
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
	text, err := t.take(ctx, m)
	c.expected = t.expects
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
	c.turns = append(c.turns, t.record)
	if keeps {
		// What cannot be kept was done and said all the same.
		if err := t.keep(ctx); err != nil {
			t.record.note(noteUnkept, runtime.Sentence(err))
		}
	}
	return &Answer{Text: text, Open: slices.Clone(c.open), Done: t.done, Turn: t.record}, nil
}

// A turn is one on its way.
type turn struct {
	c      *Conversation
	now    time.Time
	heard  heard
	record *Turn
	trace  *tracer
	names  map[*verbs.Entity][]string
	// over are the names that the model is not offered for an argument, because
	// the verb can be used on those rows no longer.
	over   map[*verbs.Param][]string
	done   []*receipt.Receipt // what was done
	found  []*receipt.Receipt // and what was found, in order
	ran    map[string]bool    // scripts that wrote something in this turn
	calls  int
	said   words.Answer
	spoken string   // the message, where it is to be kept with what it leads to
	kept   bool     // and it was
	intent string   // the verb that seems to be meant, also where it is asked about first
	about  []string // the rows that are, by their names

	settled []string    // questions that this turn answers or drops
	ends    string      // the one among what was asked back that it answers, "" where that is known
	asked   []*Question // that it puts
	was     unclear     // what was asked back before
	next    unclear     // and is next
	also    string      // what the message says in full, beside what it is asked about
	lapsed  unclear     // what was asked back too long ago
	held    *Question   // what they hold up by what they say, where no model is

	results []readout          // what reads answered, in order: a model names them
	toldOf  []*receipt.Receipt // of found, those that were told
	expects expected           // what the person is asked for

	events func(Event)
	told   strings.Builder // of the answer
}

func (t *turn) take(ctx context.Context, m Message) (string, error) {
	c := t.c
	t.heard = hear(m.Text, m.Automatic)
	foreign := m.From != "" && m.From != c.o.Session.Principal().Name
	if t.heard.bad == nil && !t.heard.auto && !foreign {
		c.listen(t.heard.own)
	}
	c.wording.file = func(reference string) *receipt.File {
		u, err := c.o.Session.Upload(ctx, reference)
		if err != nil {
			return nil // then it is called by its reference
		}
		f := uploads.FileOf(&u)
		return &f
	}
	t.record.Said, t.record.Quoted = t.heard.own, t.heard.quoted
	switch {
	case t.heard.bad != nil:
		return c.wording.say(*t.heard.bad, size(t.heard.long), size(MaxMessage)), nil
	case foreign:
		t.record.note(noteOthers)
		t.record.Foreign = true
		return c.wording.say(saySomeoneElse, c.o.Person), nil
	case t.heard.auto:
		t.record.note(noteAutomatic)
		t.record.Foreign = true
		return c.wording.say(sayAutomatic), nil
	}
	if text, handled, err := t.settles(ctx); handled || err != nil {
		return text, err
	}
	if t.heard.own == "" {
		return c.wording.say(sayOnlyQuoted), nil
	}
	return t.converse(ctx)
}

// expired drops questions that are too old, and returns them.
func (t *turn) expired() (old []*Question) {
	for _, q := range slices.Clone(t.c.open) {
		if !t.now.Before(q.Until) {
			old = append(old, q)
			t.close(q)
		}
	}
	return old
}

// settles takes a message for an answer to a question, where it is one.
func (t *turn) settles(ctx context.Context) (text string, handled bool, err error) {
	c := t.c
	old := t.expired()
	a := t.heard.reply
	if t.quotesAnother() {
		a = words.Reply{} // it answers a question that is not open
	}
	said := a.Answer
	if said != words.Agree && said != words.Decline {
		said = words.Other
	}
	t.said = said
	t.waits()
	if t.was.open() && t.was.fresh && !slices.ContainsFunc(c.open, func(q *Question) bool { return q.fresh }) && !details().MatchString(t.heard.own) {
		// An answer is to what was asked last, and that was what they mean.
		if i, _ := choice(&t.heard, t.was.offers); i < 0 && !t.was.corrects && a.Which == 0 && !t.quotesAnother() {
			return t.corrects(ctx, t.heard.own)
		}
		return "", false, nil
	}
	choosing := c.choosing
	c.choosing = words.Other
	if a.Which == 0 && (a.Answer == words.Other || a.Answer == words.Change) && !t.quotesAnother() && !details().MatchString(t.heard.own) {
		if text, handled, err := t.corrects(ctx, t.heard.own); handled || err != nil {
			return text, true, err
		}
	}
	if len(c.open) == 0 {
		if said == words.Agree && len(old) == 1 {
			text, err := t.again(ctx, old[0], sayExpired)
			return text, true, err
		}
		return "", false, nil
	}
	if said == words.Other && a.Which != 0 && choosing != words.Other {
		said = choosing
	}
	switch {
	case a.Answer == words.Change && len(c.open) == 1 && c.open[0].fresh:
		// "No wait, make it Friday": what was asked about is off, and what they
		// say instead is said.
		q := c.open[0]
		if c.o.Model == nil && c.o.Interpreter != nil {
			q.fresh, t.held = false, q // until it is understood what they say instead
			return "", false, nil
		}
		if err := t.withdraw(ctx, q); err != nil {
			return "", true, err
		}
		t.record.Withdrawn = q.Calls
		return "", false, nil
	case a.Answer == words.Pleased && slices.ContainsFunc(c.open, func(q *Question) bool { return q.fresh }):
		// "Perfect" is no yes, and no other subject either.
		freshen(c.open)
		return c.wording.again(c.open), true, nil
	case said == words.Other && !t.heard.hidden && details().MatchString(t.heard.own):
		// All that would change is shown, and asked about anew.
		freshen(c.open)
		var all []string
		for _, q := range c.open {
			all = append(all, c.wording.rows(q))
		}
		return strings.Join(all, "\n"), true, nil
	case said == words.Other:
		// They speak of something else. The question stays, and is put again
		// before an answer to it counts.
		for _, q := range c.open {
			q.fresh = false
		}
		return "", false, nil
	}
	q := c.open[0]
	if len(c.open) > 1 {
		at := a.Which - 1
		if a.Which < 0 {
			at = len(c.open) - 1
		}
		switch {
		case a.Which == 0:
			c.choosing = said
			freshen(c.open)
			return c.wording.whichOne(c.open, whichAsks(said)), true, nil
		case at >= len(c.open):
			c.choosing = said
			freshen(c.open)
			return c.wording.whichOne(c.open, sayNoSuch), true, nil
		}
		q = c.open[at]
	} else if a.Which > 1 {
		q.fresh = true
		return c.wording.meantThat(q), true, nil
	}
	if said == words.Decline {
		if err := t.withdraw(ctx, q); err != nil {
			return "", true, err
		}
		t.record.Withdrawn = q.Calls
		text, err = t.goesOn(ctx, c.wording.say(sayNotDone))
		return text, true, err
	}
	if !q.fresh {
		q.fresh = true
		return c.wording.meantThat(q), true, nil
	}
	if text, err = t.agree(ctx, q); err == nil {
		text, err = t.goesOn(ctx, text)
	}
	return text, true, err
}

// goesOn puts what else is open, after one of it was settled.
func (t *turn) goesOn(ctx context.Context, text string) (string, error) {
	c := t.c
	if len(c.open) > 0 && len(t.asked) == 0 {
		freshen(c.open)
		more := c.wording.whichOne(c.open, sayWhichMean)
		if len(c.open) == 1 {
			more = c.wording.say(sayStillOpen) + "\n" + c.wording.question(c.open[0])
		}
		text = joined(text, more)
	}
	return t.aside(ctx, text)
}

func freshen(list []*Question) {
	for _, q := range list {
		q.fresh = true
	}
}

// quotesAnother reports whether the message quotes a question that is not the one
// that is open: an answer to an older mail.
func (t *turn) quotesAnother() bool {
	for _, id := range previewIDs.FindAllString(t.heard.quoted, -1) {
		if !slices.ContainsFunc(t.c.open, func(q *Question) bool { return receipt.IsID(q.ID, id) }) {
			return true
		}
	}
	return false
}

// close takes a question off the list.
func (t *turn) close(q *Question) {
	t.c.open = slices.DeleteFunc(t.c.open, func(o *Question) bool { return o == q })
	if q.stored {
		t.settled = append(t.settled, q.ID)
	}
}

// listen goes by the language of what the person says, where they or their
// organisation said none.
func (c *Conversation) listen(said string) {
	c.tongue.Hear(said)
	if l, ok := c.tongue.Language(); ok {
		c.o.Session.Hears(l.String())
	}
	c.wording = c.wording.in(c.o.Session.Person().Language)
}

var previewIDs = regexp.MustCompile(`\b[0-9a-f]{4}-[0-9a-f]{4}\b`)

// details asks for all that a question is about.
var details = lazily(`(?i)^\W*(?:(?:show me |please show me |give me )?(?:the |all )?details(?: please)?|what exactly|show me everything|(?:bitte )?(?:die |alle )?(?:einzelheiten|details)(?: bitte)?|was genau|(?:montrez-moi |donnez-moi )?(?:les |tous les )?détails(?: s’il vous plaît| s'il vous plaît)?|quoi exactement|(?:muéstreme |deme )?(?:los |todos los )?detalles(?: por favor)?|qué exactamente)\W*$`)

// withdraw says no to a question, for the person.
func (t *turn) withdraw(ctx context.Context, q *Question) error {
	t.close(q)
	p, err := t.c.meaning(ctx, q)
	if err == nil {
		err = t.c.o.Session.DeclinePreview(ctx, p, q.ID)
	}
	var refusal *runtime.Refusal
	if errors.As(err, &refusal) {
		return nil // it could not have been agreed to either
	}
	return err
}

// agree carries out what was agreed to: exactly that, or nothing.
func (t *turn) agree(ctx context.Context, q *Question) (string, error) {
	c := t.c
	t.close(q)
	t.begin()
	t.record.Agreed = q.ID
	p, err := c.meaning(ctx, q)
	if err != nil {
		return t.stopped(ctx, q, err)
	}
	o := runtime.RunOptions{Agreed: q.ID, Source: c.o.Source, Before: q.before}
	if len(q.others) > 0 {
		pending, err := c.o.Session.Propose(ctx, p, o)
		if err == nil && pending.ID != "" {
			t.record.rule(ruled{needs: q.others})
			return c.wording.waitsFor(q.others, pending.Expires), nil
		}
		if err != nil {
			return t.stopped(ctx, q, err)
		}
	}
	reply, err := t.run(ctx, p, o, q)
	if err != nil {
		return t.stopped(ctx, q, err)
	}
	t.did(p, reply)
	t.remember(p)
	c.unasked.forget(p.Script())
	c.recount(ctx, p.Script(), t.now)
	return t.facing(t.left(t.done)), nil
}

// facing is a text, or that there is nothing to tell.
func (t *turn) facing(text string) string {
	if text == "" && t.told.Len() == 0 {
		return t.c.wording.say(sayDone)
	}
	return text
}

// stopped tells why something that was agreed to was not done, and puts it again
// where it still can be.
func (t *turn) stopped(ctx context.Context, q *Question, err error) (string, error) {
	var refusal *runtime.Refusal
	var failed *runtime.Failure
	switch {
	case errors.As(err, &refusal):
		code := ""
		if len(refusal.Diagnostics) > 0 {
			code = refusal.Diagnostics[0].Code
		}
		t.record.refused(refusal.Diagnostics)
		switch {
		case code == "already-used", t.answeredElsewhere(ctx, q):
			return t.c.wording.say(sayAnswered), nil
		case slices.Contains([]string{"stale-preview", "agreement-expired", "changed-meanwhile", "other-palette"}, code):
			return t.again(ctx, q, sayStale)
		}
		return t.c.wording.refused(refusal.Diagnostics), nil
	case errors.As(err, &failed) && failed.Unknown:
		return t.c.wording.say(sayUnknownEnd), nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	t.record.note(noteFailed, runtime.Sentence(err))
	return t.c.wording.say(sayFailed), nil
}

// again puts a question anew, with the rows as they are now.
func (t *turn) again(ctx context.Context, q *Question, why words.Sentence) (string, error) {
	program, err := t.c.meaning(ctx, q)
	var p *receipt.Receipt
	var before int64
	if err == nil {
		p, before, err = t.preview(ctx, program)
	}
	var refusal *runtime.Refusal
	switch {
	case errors.As(err, &refusal):
		t.record.refused(refusal.Diagnostics)
		return t.c.wording.say(sayGone) + " " + t.c.wording.refused(refusal.Diagnostics), nil
	case err != nil && ctx.Err() != nil:
		return "", err
	case err != nil:
		return t.c.wording.say(sayFailed), nil
	}
	fresh := t.question(program, p, before, q.more...)
	return t.c.wording.say(why) + "\n" + t.c.wording.question(fresh), nil
}

// preview works out what a program would do, and at which turn of the session.
func (t *turn) preview(ctx context.Context, p *verbs.Program) (*receipt.Receipt, int64, error) {
	var before int64
	if t.c.kept {
		info, err := t.c.o.Session.Info(ctx)
		if err != nil {
			return nil, 0, err
		}
		before = info.Turns + 1
	}
	o := runtime.RunOptions{Before: before, Source: t.c.o.Source}
	if t.c.kept {
		// The answer may be given in another process.
		preview, err := t.c.o.Session.KeepWith(ctx, p, o)
		if preview != nil {
			err = nil // what could not be kept can be agreed to here
		}
		return preview, before, err
	}
	preview, err := t.c.o.Session.PreviewWith(ctx, p, o)
	return preview, before, err
}

// question puts a program to the person.
func (t *turn) question(p *verbs.Program, preview *receipt.Receipt, before int64, more ...reason) *Question {
	w := t.c.wording
	q := &Question{before: before, ID: preview.ID, Asked: t.now, Until: t.now.Add(t.c.o.Limits.Question), program: p, fresh: true}
	q.secret = t.c.confide(p, preview)
	w.mark = q.markOf
	var shows, titles []string
	for i := range preview.Calls {
		call := &preview.Calls[i]
		q.Calls = append(q.Calls, call.Text)
		titles = append(titles, w.wholly(func(w wording) string { return w.title(call) }))
		shows = append(shows, w.wholly(func(w wording) string { return w.say(sayWouldDo, w.title(call)) + "\n" + w.changes(call, true) }))
	}
	var why, because []string
	known := true
	for _, ask := range preview.Asks() {
		if ask.Reason != "" && !slices.Contains(why, ask.Reason) {
			said, ok := w.reg.Says(w.language, ask.Reason)
			known = known && (ok || w.tongue == words.English)
			why, because = append(why, ask.Reason), append(because, strings.TrimSuffix(said, "."))
		}
		if ask.By != "" && !slices.Contains(q.others, ask.By) {
			q.others = append(q.others, ask.By)
		}
		t.record.rule(ruled{reason: ask.Reason, by: ask.By})
	}
	for _, r := range more {
		why, because = append(why, r.Rule), append(because, strings.TrimSuffix(r.Said, "."))
		t.record.rule(ruled{reason: r.Rule, said: r.Said})
	}
	q.Title, q.shows, q.Why, q.more = strings.Join(titles, "; "), strings.Join(shows, ""), strings.Join(why, "; "), more
	switch {
	case len(why) == 0:
	case known:
		q.Because = w.say(sayBecause, strings.Join(because, w.say(sayAlso)))
	default:
		q.Because = sayBecause.In(words.English, strings.TrimSuffix(q.Why, "."))
	}
	if len(more) == 0 {
		q.asks = w.asks(preview)
	}
	q.Shows, q.Asks = t.c.conceal(q.shows), t.c.conceal(q.asks)
	// What was asked before and is asked again, with more said of it or other rows
	// by now, is this question.
	for _, o := range slices.Clone(t.c.open) {
		switch {
		case o.ID == q.ID:
			t.c.open = slices.DeleteFunc(t.c.open, func(other *Question) bool { return other == o })
		case q.overtakes(o):
			t.close(o)
		}
	}
	t.asked = append(t.asked, q)
	t.c.open = append(t.c.open, q)
	freshen(t.c.open)
	return q
}

// overtakes reports whether a question asks all that another one asks, and maybe
// more: the same calls, or the same call with more said. "Call me", after somebody
// asked for a person, is no second wish.
func (q *Question) overtakes(o *Question) bool {
	if slices.Equal(q.Calls, o.Calls) {
		return true
	}
	if len(q.Calls) != 1 || len(o.Calls) != 1 {
		return false
	}
	now, before := oneCall(q.Calls[0]), oneCall(o.Calls[0])
	if now == nil || before == nil || now.Verb != before.Verb {
		return false
	}
	said := map[string]string{}
	for i := range now.Args {
		said[now.Args[i].Key] = dsl.FormatValue(now.Args[i].Value)
	}
	return !slices.ContainsFunc(before.Args, func(a dsl.Arg) bool { return said[a.Key] != dsl.FormatValue(a.Value) })
}

func oneCall(text string) *dsl.Call {
	script, ds := dsl.Parse(dsl.NewSource("call", text))
	if ds.HasErrors() || len(script.Calls) != 1 {
		return nil
	}
	return &script.Calls[0]
}

// A reason is why somebody is asked where no palette asks.
type reason struct {
	Rule string `json:"rule"` // for the record
	Said string `json:"said"` // in the person's language
}

func (w wording) reason(s words.Sentence, of ...string) reason {
	return reason{s.In(words.English, of...), w.say(s, of...)}
}

// did takes down what a run did.
func (t *turn) did(p *verbs.Program, reply *receipt.Receipt) {
	if said := t.c.confide(p, reply); len(said.own) > 0 {
		t.c.said = append(t.c.said, said)
	}
	wrote := false
	for i := range reply.Calls {
		call := &reply.Calls[i]
		wrote = wrote || acted(call)
		note := CallNote{Call: call.Text, Verb: call.Verb}
		if call.Result != nil {
			note.Rows = len(call.Result.Rows)
			t.trace.result(call.Result)
			t.hasRead(call)
			note.From = resultFrom(call.Result)
		}
		note.Wrote = len(call.Rows)
		t.record.spoken.speak(call)
		t.record.Calls = append(t.record.Calls, note)
	}
	t.found = append(t.found, reply)
	if wrote || reply.First > 0 {
		t.done = append(t.done, reply)
		if reply.First > 0 {
			t.record.Journal = append(t.record.Journal, [2]int64{reply.First, reply.Last})
		}
	}
}

// acted reports whether a call did something. Asking a tool that only reads is
// nothing.
func acted(c *receipt.Call) bool {
	return len(c.Rows)+len(c.Notices)+len(c.Session)+len(c.Tended) > 0 || slices.ContainsFunc(c.Errands, func(e receipt.Errand) bool { return !e.ReadOnly })
}

func resultFrom(r *receipt.Result) string {
	var o verbs.Origin
	for i, row := range r.Rows {
		for j, v := range row {
			if !v.IsNull() {
				if from := verbs.Stored(r.Origin(i, j)); !from.Trusted() {
					o = o.Mix(from)
				}
			}
		}
	}
	return o.String()
}

// begin gathers what the turn may speak of.
func (t *turn) begin() {
	if t.trace != nil {
		return
	}
	c := t.c
	src := sources{read: readWords, now: t.now}
	t.trace = &tracer{sources: src, said: t.said}
	t.trace.names = t.alike
	// What they said before, as far as it is still before them.
	for _, past := range c.latest() {
		if !past.Foreign {
			t.trace.add(ofPerson, past.Said, past.Time)
		}
		if past.Quoted != "" {
			t.trace.add(ofQuoted, past.Quoted, past.Time)
			t.trace.all[len(t.trace.all)-1].unshown = true
		}
		if past.tainted != (verbs.Origin{}) {
			t.trace.add(past.tainted, past.Told, past.Time)
		}
	}
	for _, s := range t.trace.all {
		s.past = true
	}
	t.trace.add(ofPerson, t.heard.own, t.now)
	t.trace.add(ofQuoted, t.heard.quoted, t.now)
	t.ran = map[string]bool{}
}

// latest are the turns that are still before the person and the model.
func (c *Conversation) latest() []*Turn {
	return c.turns[max(0, len(c.turns)-c.o.History):]
}

// alike returns the names of rows of the kind that a name stands for.
func (t *turn) alike(name string) []string {
	for _, names := range t.names {
		if slices.Contains(names, name) {
			return names
		}
	}
	return nil
}

var ofQuoted = verbs.NewOrigin(verbs.FromDocument, "a quoted message")
