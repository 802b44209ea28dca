package dialog

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A turn is a turn under way.
type turn struct {
	c      *Conversation
	now    time.Time
	heard  heard
	record *Turn
	trace  *tracer
	names  map[*verbs.Entity][]string
	// over are the names that the model is not offered for an argument, since the verb no longer
	// accepts those rows.
	over   map[*verbs.Param][]string
	done   []*receipt.Receipt // receipts of runs with effects
	found  []*receipt.Receipt // receipts of reads, in order
	ran    map[string]bool    // scripts that wrote something in this turn
	calls  int
	said   values.Answer
	spoken string   // the message, if it is to be stored with its effects
	kept   bool     // it was stored
	intent string   // the verb that seems to be meant, even if that is asked about first
	about  []string // names of the rows that seem to be meant

	settled []string    // questions that this turn answers or drops
	ends    string      // id of the unclear message that it answers, "" once that is stored
	asked   []*Question // questions that it asks
	was     unclear     // the unclear message before this turn
	next    unclear     // the one after it
	also    string      // complete calls in a message about whose rest the person is asked
	lapsed  unclear     // an unclear message that has expired
	held    *Question   // the question that a "no, wait" delays, without a model
	stood   bool        // it was the last thing said, and the message is no yes and no no

	exchange []Asked // with the model

	results []readout          // answers of reads, in order: a model names them
	toldOf  []*receipt.Receipt // of found, those that were told
	expects expected           // what the person is asked for

	civil    bool // the message is a courtesy
	waitsFor bool // a proposal waits for somebody else

	rule   *verbs.Answering // of the palette's question that stands, once looked
	looked bool
	puts   bool // it put a question of a collection

	via     string // Message.ID
	twice   bool   // another process dealt with the message meanwhile
	answers string // Message.Answers
	earlier Spoken // the subjects of the turn that it replies to
	subject Spoken // the rows that Message.Subject names

	events func(Event)
	told   strings.Builder // of the answer
}

func (t *turn) take(ctx context.Context, m Message) (string, error) {
	c := t.c
	t.heard = hear(m.Text, m.Automatic, c.o.Person)
	foreign := m.From != "" && m.From != c.o.Session.Principal().Name
	if t.heard.bad == "" && !t.heard.auto && !foreign {
		c.listen(t.heard.own)
	}
	c.wording.file = func(reference string) *receipt.File {
		u, err := c.o.Session.Uploads().Get(ctx, reference)
		if err != nil {
			return nil // then it is called by its reference
		}
		f := uploads.FileOf(&u)
		return &f
	}
	if u := &c.unclear; u.open() && u.Text && t.heard.own == "" {
		t.heard.unquote() // the requested text is in quotation marks
	}
	t.record.Said, t.record.Quoted = t.heard.own, t.heard.quoted
	courtesy, _ := courtesyIn(t.heard.own)
	t.civil = courtesy != nil
	t.answers = m.Answers
	if m.ReplyTo != "" {
		if err := t.repliesTo(ctx, m.ReplyTo); err != nil {
			return "", err
		}
	}
	if m.Subject != "" && c.o.Interpreter != nil && !foreign {
		names, err := c.o.Interpreter.Named(ctx, m.Subject)
		if err != nil {
			return "", err
		}
		t.subject.Names = names
	}
	t.record.Taken = TakenUnheard
	switch {
	case t.heard.bad != "":
		return c.wording.say(t.heard.bad, size(t.heard.long), size(MaxMessage)), nil
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
		t.as(TakenUnheard)
		return c.wording.say(sayOnlyQuoted), nil
	}
	return t.converse(ctx)
}

// facing returns the text, or a sentence if there is nothing to tell.
func (t *turn) facing(text string) string {
	if text == "" && t.told.Len() == 0 {
		return t.c.wording.say(sayNothingChanged)
	}
	return text
}

// refused says why something cannot be done. That nothing was changed is told only if it is so of the
// whole turn.
func (t *turn) refused(ds dsl.Diagnostics) string {
	if len(t.done) > 0 {
		return t.c.wording.whyNot(ds)
	}
	return t.c.wording.refused(ds)
}

// did records what a run did.
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
		t.puts = t.puts || t.steps(t.c.o.Registry.Verb(call.Verb))
		t.record.Calls = append(t.record.Calls, note)
	}
	if wrote || reply.First > 0 || !t.foundBefore(reply) {
		t.found = append(t.found, reply)
	}
	if wrote || reply.First > 0 {
		t.done = append(t.done, reply)
		if reply.First > 0 {
			t.record.Journal = append(t.record.Journal, [2]int64{reply.First, reply.Last})
		}
	}
}

// foundBefore reports whether the same was read in this turn, with the same result: a model that reads
// twice is no reason to tell it twice.
func (t *turn) foundBefore(reply *receipt.Receipt) bool {
	return slices.ContainsFunc(t.found, func(r *receipt.Receipt) bool {
		return slices.EqualFunc(r.Calls, reply.Calls, func(a, b receipt.Call) bool {
			return a.Text == b.Text && a.Result != nil && reflect.DeepEqual(a.Result, b.Result)
		})
	})
}

// acted reports whether a call did something. A tool that only reads does nothing.
func acted(c *receipt.Call) bool {
	return len(c.Rows)+len(c.Notices)+len(c.Session)+len(c.JobChanges) > 0 || slices.ContainsFunc(c.External, func(e receipt.ExternalCall) bool { return !e.ReadOnly })
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

// begin gathers the sources of the turn.
func (t *turn) begin() {
	if t.trace != nil {
		return
	}
	c := t.c
	src := sources{read: readWords, now: t.now}
	t.trace = &tracer{sources: src, said: t.said}
	t.trace.names, t.trace.called, t.trace.only = t.alike, t.calledBy, c.onlyCurrency
	// The person's own messages that are still part of the context.
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
	t.trace.wishes(c.latest(), c.expected != (expected{}))
	t.trace.add(ofQuoted, t.heard.quoted, t.now)
	t.ran = map[string]bool{}
}

// latest returns the turns that the person and the model still see.
func (c *Conversation) latest() []*Turn {
	return c.turns[max(0, len(c.turns)-c.o.History):]
}

// calledBy reports whether a word is one of the name of a row.
func (t *turn) calledBy(word string) bool {
	words := wordsOf(word)
	for _, all := range t.names {
		if slices.ContainsFunc(all, func(name string) bool { return hits(words, name) > 0 }) {
			return true
		}
	}
	return false
}

// alike returns the names of all rows of the entity that a name belongs to.
func (t *turn) alike(name string) []string {
	for _, names := range t.names {
		if slices.Contains(names, name) {
			return names
		}
	}
	return nil
}

var ofQuoted = verbs.NewOrigin(verbs.FromDocument, "a quoted message")

// converse answers the message, with a model or without.
func (t *turn) converse(ctx context.Context) (string, error) {
	c := t.c
	if err := t.ready(ctx); err != nil {
		return t.system(ctx, err)
	}
	if text, taken, err := t.takesBack(ctx); taken || err != nil {
		return text, err
	}
	if text, taken, err := t.decides(ctx); taken || err != nil {
		return text, err
	}
	var err error
	shortlist := t.shortlist()
	if c.o.Model == nil {
		return t.interpret(ctx, "")
	}
	if t.over, err = c.o.Session.Names().Settled(ctx, shortlist, t.names); err != nil {
		return t.system(ctx, err)
	}
	messages, err := t.prompt(ctx, shortlist)
	if err != nil {
		return t.system(ctx, err)
	}
	return t.ask(ctx, messages, shortlist)
}

// ready gathers the sources of the turn, and the names known now.
func (t *turn) ready(ctx context.Context) (err error) {
	t.begin()
	if t.names != nil {
		return nil
	}
	t.names, err = t.c.o.Session.Names().All(ctx, t.c.o.Registry.Entities())
	return err
}

// system reports an error of the system.
func (t *turn) system(ctx context.Context, err error) (string, error) {
	var refusal *engine.Refusal
	var failed *engine.Failure
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &refusal):
		t.record.refused(refusal.Diagnostics)
		return t.refused(refusal.Diagnostics), nil
	case errors.As(err, &failed) && failed.Unknown:
		t.record.note(noteLost)
		return t.c.wording.say(sayUnknownEnd), nil
	}
	if len(t.done) > 0 {
		t.record.note(noteFailed, engine.Sentence(err))
		return joined(t.left(t.done), t.c.wording.say(sayThenFailed)), nil
	}
	return t.failed(err), nil
}

// Trouble returns the sentence for people about a trouble of the store, by stores.TroubleCode; "" if there
// is none.
func Trouble(code string) values.Key {
	switch code {
	case "store-full":
		return sayStoreFull
	case "store-read-only":
		return sayStoreReadOnly
	case "store-crowded":
		return sayStoreCrowded
	case "store-slow":
		return sayStoreSlow
	}
	return ""
}

// failed reports that the system failed and nothing changed.
func (t *turn) failed(err error) string {
	t.record.note(noteFailed, engine.Sentence(err))
	if errors.Is(err, stores.ErrSchema) {
		return t.c.wording.say(sayNotMigrated)
	}
	if key := Trouble(stores.TroubleCode(err)); key != "" {
		return t.c.wording.say(key)
	}
	return t.c.wording.say(sayFailed)
}

// shortlist picks the verbs that the model is shown: if they are too many, those that the first
// messages seem to be about, and others as messages need them. None goes, so that an endpoint seldom
// has to read the tools anew.
func (t *turn) shortlist() []*verbs.Verb {
	c := t.c
	switch {
	case len(c.verbs) <= maxVerbs:
		return c.verbs
	case c.o.Interpreter == nil:
		return c.verbs[:maxVerbs]
	}
	earlier := c.latest()
	if c.offered == nil {
		for i := range earlier { // in another process
			c.offer(earlier[:i], earlier[i].Said)
		}
	}
	c.offer(earlier, t.heard.own)
	return c.offered
}

// offer adds the verbs that a message needs to those that the model is shown: many at once, so that it
// is done seldom.
func (c *Conversation) offer(earlier []*Turn, said string) {
	// The message before helps to understand "and for Thomas?".
	if n := len(earlier); n > 0 {
		said += "\n" + earlier[n-1].Said
	}
	list := c.o.Interpreter.Shortlist(said, c.verbs, maxVerbs)
	likeliest := list[:min(len(list), 3)]
	size := c.toolbox.size(c.offered...)
	most, largest := len(c.offered)+maxVerbs/2, size+maxTools/2
	switch {
	case c.offered == nil || largest > 2*maxTools:
		c.offered = slices.Clone(c.context[:min(len(c.context), maxVerbs)]) // these can always be called again
		size, most, largest = c.toolbox.size(c.offered...), maxVerbs, maxTools
	case !slices.ContainsFunc(likeliest, func(v *verbs.Verb) bool { return !slices.Contains(c.offered, v) }):
		return
	case slices.Equal(likeliest, c.verbs[:len(likeliest)]):
		return // the message tells of no verb, and these are the first of all
	}
	for i, v := range list {
		own := c.toolbox.size(v)
		if !slices.Contains(c.offered, v) && len(c.offered) < most && (size+own <= largest || i < len(likeliest)) {
			c.offered, size = append(c.offered, v), size+own
		}
	}
}
