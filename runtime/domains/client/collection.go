package client

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"verbatim/runtime/conversation/forms"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/verbs"
)

// Register registers the handlers of the palette's verbs, if the registry has the palette.
func Register(h *engine.Handlers, reg *verbs.Registry) {
	if reg.Entity(collections) == nil || reg.Entity(escalations) == nil {
		return
	}
	d := &desk{reg: reg}
	engine.Handle(h, "client.start-collection", d.start)
	engine.Handle(h, "client.collection-response", d.respond)
	engine.Handle(h, "client.collection-skip", d.skip)
	engine.Handle(h, "client.collection-stop", d.stop)
	engine.Handle(h, "client.collection-confirm", d.confirm)
	engine.Handle(h, "client.escalate", d.escalate)
}

// A desk asks clients for their answers.
type desk struct{ reg *verbs.Registry }

// The entities of the palette.
const (
	collections = "collection"
	escalations = "escalation-request"
	submissions = "info-submission"
	requests    = "outstanding-request"
)

// The states of a collection.
const (
	collecting = "COLLECTING"
	reviewing  = "REVIEWING"
	submitted  = "SUBMITTED"
	abandoned  = "ABANDONED"
	answered   = "ANSWERED" // otherwise, and in full, before it was sent
	settled    = "SETTLED"  // by the bank, before it was sent
)

// withBank is the state of a request whose answer is under review.
const withBank = "PENDING_REVIEW"

// A collection is a row, with the form of its schema.
type collection struct {
	row    engine.Ref
	status string
	info   string
	at     string // the question at hand
	filled forms.Filled
	form   *forms.Form
	in     forms.In
	given  engine.Ref // the answer given at once that is taken in; zero when none was
	moved  bool       // one was taken in just now, and something else is asked since
}

// form makes the questions for a kind of information, in a language.
func (d *desk) form(info string, l values.Language) (*forms.Form, error) {
	e := d.reg.Entity(collections)
	list := e.Fields[e.Store.FieldIndex("info_type")].Type.Codes
	schema := list.Schema(info)
	if schema == nil {
		return nil, nil
	}
	form, err := forms.Read(schema)
	if err != nil {
		return nil, err
	}
	return form.In(l), nil
}

// read makes a collection of its row.
func (d *desk) read(ctx context.Context, c *engine.Call, row engine.Row) (*collection, error) {
	col := &collection{row: row.Ref(), status: row.Value("status").Text(), info: row.Value("info_type").Text(), at: row.Value("current_field").Text()}
	err := col.listen(ctx, c)
	if err != nil {
		return nil, err
	}
	if col.form, err = d.form(col.info, col.in.Language); err != nil {
		return nil, err
	}
	if col.form == nil {
		return nil, engine.Refuse(nothingToAsk, nextDetail)
	}
	var skipped []string
	if v := row.Value("skipped"); !v.IsNull() {
		items, err := v.Items(stores.String)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			skipped = append(skipped, item.Text())
		}
	}
	if col.filled, err = col.form.Fill(row.Value("collected"), skipped); err != nil {
		return nil, err
	}
	col.given = row.To("given")
	return col, d.takeIn(ctx, c, col, row.To("request"), skipped)
}

// takeIn takes in an incomplete submission that was given since the last question. Earlier answers
// stay, answers in the submission replace them, and questions without either are asked next.
func (d *desk) takeIn(ctx context.Context, c *engine.Call, col *collection, request engine.Ref, skipped []string) error {
	last, err := d.given(ctx, c, request, col.info)
	if err != nil || last == nil || last.Ref() == col.given {
		return err
	}
	col.given = last.Ref()
	object, fields, err := over(col.filled.Object(), last.Value("collected_data"))
	if err != nil {
		return err
	}
	skipped = slices.DeleteFunc(skipped, func(field string) bool { return slices.Contains(fields, field) })
	if col.filled, err = col.form.Fill(object, skipped); err != nil || col.status == abandoned {
		return err
	}
	before := col.at
	col.next()
	col.moved = col.at != before
	return nil
}

// over lays an object over another one, and lists its members.
func over(below, above stores.Value) (stores.Value, []string, error) {
	all, given := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for _, of := range []struct {
		object stores.Value
		into   *map[string]json.RawMessage
	}{{below, &all}, {above, &given}} {
		if of.object.IsNull() {
			continue
		}
		if err := json.Unmarshal([]byte(of.object.Text()), of.into); err != nil {
			return stores.Value{}, nil, fmt.Errorf("an object of answers: %w", err)
		}
	}
	maps.Copy(all, given)
	text, err := json.Marshal(all)
	if err != nil {
		return stores.Value{}, nil, err
	}
	v, err := stores.ParseJSON(string(text))
	return v, slices.Collect(maps.Keys(given)), err
}

// listen notes in which language, and when, answers are given.
func (col *collection) listen(ctx context.Context, c *engine.Call) error {
	s, err := c.Session(ctx)
	if err != nil {
		return err
	}
	language, _ := values.ParseLanguage(s.Language) // English if the language is not supported
	col.in = forms.In{Now: c.Now().In(s.Zone), Language: language}
	return nil
}

// open finds the collection of a client for a request that is not over.
func (d *desk) open(ctx context.Context, c *engine.Call, request engine.Ref, states ...string) (*collection, error) {
	// The request is locked first: if two windows begin at once, they begin one collection.
	if _, err := c.Get(ctx, request); err != nil {
		return nil, err
	}
	for _, status := range states {
		rows, err := c.Find(ctx, collections, engine.Fields{"request": request, "client": c.Principal(), "status": status})
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			return d.read(ctx, c, rows[len(rows)-1])
		}
	}
	return nil, nil
}

// current returns the open collection of the session. It may have been overtaken: the request was
// answered in full in another way, or the bank settled it, and no more questions are asked.
func (d *desk) current(ctx context.Context, c *engine.Call) (*collection, engine.Ref, error) {
	s, err := c.Session(ctx)
	if err != nil {
		return nil, engine.Ref{}, err
	}
	request := s.To("active_collection")
	if request.IsZero() || request.Entity() != requests {
		return nil, request, engine.Refuse(nothingAtHand, nextStart)
	}
	col, err := d.open(ctx, c, request, collecting, reviewing)
	switch {
	case err != nil:
	case col != nil:
		err = d.needed(ctx, c, request, col)
	case s.Value("collection_mode").Bool():
		col, err = d.overtaken(ctx, c, request)
	}
	if err == nil && col == nil {
		err = engine.Refuse(nothingAtHand, nextStart)
	}
	return col, request, err
}

// needed ends a collection whose request the bank has settled, with or without an answer. The verb
// that settles does not change clients' collections, so this happens at the client's next message.
func (d *desk) needed(ctx context.Context, c *engine.Call, request engine.Ref, col *collection) error {
	row, err := c.Get(ctx, request)
	if err != nil {
		return err
	}
	// A bank's palette may be older than the state.
	if _, may := d.states(collections).Steps(col.status, settled); may && d.states(requests).Ends(row.Value("status").Text()) {
		col.status, col.at = settled, ""
	}
	return nil
}

// states returns the codes of the states of an entity's rows.
func (d *desk) states(entity string) *verbs.CodeList {
	e := d.reg.Entity(entity)
	return e.Fields[e.Store.FieldIndex("status")].Type.Codes
}

// overtaken returns the latest collection of a request if it ended because the request was answered
// in another way: a window may still show it.
func (d *desk) overtaken(ctx context.Context, c *engine.Call, request engine.Ref) (*collection, error) {
	rows, err := c.Find(ctx, collections, engine.Fields{"request": request, "client": c.Principal()})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	last := slices.MaxFunc(rows, func(a, b engine.Row) int {
		return a.Value("started_at").Time().Compare(b.Value("started_at").Time())
	})
	if last.Value("status").Text() != answered {
		return nil, nil
	}
	col := &collection{row: last.Ref(), status: answered, info: last.Value("info_type").Text()}
	if err := col.listen(ctx, c); err != nil {
		return nil, err
	}
	col.form, err = d.form(col.info, col.in.Language)
	return col, err
}

// over tells a client who still answers that no more questions are asked, and stores no answer.
func (col *collection) over(c *engine.Call) (o engine.Outcome, is bool) {
	says := sayOvertaken
	switch col.status {
	case answered:
	case settled:
		says = saySettled
		o.Changes = append(o.Changes, col.keep(c, nil))
	default:
		return o, false
	}
	about := col.info
	if col.form != nil {
		about = col.form.About
	}
	o.Session = engine.Fields{"collection_mode": false}
	o.Result = &engine.Answer{Columns: columns, Rows: [][]any{{col.status, nil, nil, nil, nil, nil, nil, nil, says.In(col.in.Language, about)}}}
	return o, true
}

// taken returns the value of the row's field for the submission that was taken in.
func (col *collection) taken() any {
	if col.given.IsZero() {
		return nil
	}
	return col.given
}

// keep makes the change that stores a collection.
func (col *collection) keep(c *engine.Call, wrong *forms.Wrong) engine.Edit {
	return engine.Update(col.row, col.fields(c, wrong))
}

// fields returns the fields of a collection's row, with the next question.
func (col *collection) fields(c *engine.Call, wrong *forms.Wrong) engine.Fields {
	f := engine.Fields{"collected": col.filled.Object(), "skipped": nil, "status": col.status, "current_field": nil,
		"validation_errors": nil, "given": col.taken(), "updated_at": c.Now()}
	if left := col.filled.Skipped(); len(left) > 0 {
		f["skipped"] = left
	}
	if col.status == collecting && col.at != "" {
		f["current_field"] = col.at
	}
	if wrong != nil {
		f["validation_errors"] = stores.NewObject([]string{wrong.Field}, []stores.Value{stores.NewString(wrong.Says)})
	}
	return f
}

// next moves to the next question, or to the review.
func (col *collection) next() {
	if q := col.filled.Next(); q != nil {
		col.status, col.at = collecting, q.Field
		return
	}
	col.status, col.at = reviewing, ""
}

// counts says a sentence of how many questions are answered, and about what.
func (col *collection) counts(s values.Key, n, of int) string {
	return s.In(col.in.Language, strconv.Itoa(n), strconv.Itoa(of), col.form.About)
}

var columns = []string{"status", "step", "field", "label", "hint", "example", "choices", "answer", "message"}

// ask returns the present question, with a message. While all answers are checked, one that is asked
// again is being collected.
func (col *collection) ask(message string) *engine.Answer {
	all := col.filled.Questions()
	a := &engine.Answer{Columns: columns}
	for i := range all {
		q := &all[i]
		if q.Field != col.at {
			continue
		}
		var hint, example, choices, answer any
		if hint = q.Hint; q.Hint == "" {
			hint = nil
		}
		if example = q.Example; q.Example == "" {
			example = nil
		}
		if len(q.Choices) > 0 {
			var codes []string
			for _, o := range q.Choices {
				codes = append(codes, o.Label)
			}
			choices = codes
		}
		if v := col.filled.Given(q.Field); !v.IsNull() {
			answer = q.Say(v, col.in)
		}
		a.Rows = append(a.Rows, []any{collecting, sayQuestionOf.In(col.in.Language, strconv.Itoa(i+1), strconv.Itoa(len(all)), col.form.About), q.Field, q.Label, hint, example, choices, answer, said(message)})
	}
	return a
}

// review lists the answers to be checked.
func (col *collection) review(message string) *engine.Answer {
	a := &engine.Answer{Columns: columns}
	all := col.filled.Questions()
	for i := range all {
		q := &all[i]
		answer := q.Say(col.filled.Given(q.Field), col.in)
		if answer == "" {
			answer = sayLeftOut.In(col.in.Language)
		}
		a.Rows = append(a.Rows, []any{col.status, sayAnswerOf.In(col.in.Language, strconv.Itoa(i+1), strconv.Itoa(len(all)), col.form.About), q.Field, q.Label, nil, nil, nil, answer, said(message)})
		message = ""
	}
	return a
}

// show returns the question or the review, whichever is due.
func (col *collection) show(message string) *engine.Answer {
	if col.status == collecting && col.at != "" {
		return col.ask(message)
	} else if col.status == collecting {
		return col.review(message)
	}
	n, _ := col.filled.Answered()
	return col.review(join(message, col.pleaseCheck(n)))
}

func said(message string) any {
	if message == "" {
		return nil
	}
	return message
}

func join(parts ...string) string {
	var all []string
	for _, p := range parts {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, " ")
}

type startArgs struct {
	Request engine.Ref `verb:"request-id"`
}

// start begins with the first question, continues where the client stopped, or offers returned
// answers again.
func (d *desk) start(ctx context.Context, c *engine.Call, a startArgs) (engine.Outcome, error) {
	o := c.Declared()
	request, err := c.Get(ctx, a.Request)
	if err != nil {
		return o, err
	}
	col, err := d.open(ctx, c, a.Request, collecting, reviewing, abandoned)
	if err != nil {
		return o, err
	}
	if col != nil {
		o.Changes, o.Result, err = d.resume(ctx, c, &request, col)
		return o, err
	}
	info := request.Value("request_subtype").Text()
	col = &collection{status: collecting, info: info}
	if err := col.listen(ctx, c); err != nil {
		return o, err
	}
	if col.form, err = d.form(info, col.in.Language); err != nil {
		return o, err
	}
	if col.form == nil {
		return o, engine.Refuse(nothingToAsk, nextDetail)
	}
	if col.filled, err = col.form.Fill(stores.Value{}, nil); err != nil {
		return o, err
	}
	back, err := d.returned(ctx, c, &request, col)
	if err != nil {
		return o, err
	}
	gone, err := col.offer(back)
	if err != nil {
		return o, err
	}
	col.next()
	if err := d.takeIn(ctx, c, col, a.Request, nil); err != nil {
		return o, err
	}
	message := join(back.says, col.before(gone))
	if message == "" && request.Value("status").Text() == withBank {
		message = sayWithBank.In(col.in.Language, col.form.About)
	}
	f := col.fields(c, nil)
	maps.DeleteFunc(f, func(_ string, v any) bool { return v == nil })
	f["request"], f["client"], f["info_type"], f["started_at"] = a.Request, c.Principal(), info, c.Now()
	o.Changes = append(o.Changes, engine.Create(collections, f))
	o.Result = col.show(message)
	return o, nil
}

// resume continues an open collection.
func (d *desk) resume(ctx context.Context, c *engine.Call, request *engine.Row, col *collection) ([]engine.Edit, *engine.Answer, error) {
	again := col.status == abandoned
	if again {
		col.status = collecting
	}
	back, err := d.returned(ctx, c, request, col)
	if err != nil {
		return nil, nil, err
	}
	welcome := ""
	if n, of := col.filled.Answered(); n > 0 && col.status == collecting {
		welcome = col.counts(sayWelcomeBack, n, of)
	}
	taken := col.given
	gone, err := col.offer(back)
	if err != nil {
		return nil, nil, err
	}
	if offered := col.given != taken; offered || col.status == collecting {
		col.next()
		if offered {
			welcome = col.before(gone)
		} else if again && col.status == reviewing {
			// A client who had stopped sees the first answer before the review of all of them.
			col.status, col.at = collecting, col.filled.Questions()[0].Field
		}
	}
	return []engine.Edit{col.keep(c, nil)}, col.show(join(back.says, welcome)), nil
}

// given returns the client's last submission if answers are missing in it; nil if there is none, or
// if they were given since.
func (d *desk) given(ctx context.Context, c *engine.Call, request engine.Ref, info string) (*engine.Row, error) {
	last, err := d.sent(ctx, c, request, info)
	if err != nil || last == nil || last.Value("verdict").Text() != received {
		return nil, err
	}
	if lacks, err := lacking(last); !lacks {
		return nil, err
	}
	return last, nil
}

// instead handles an answer to a question that a submission has answered meanwhile: the next
// question is asked, and the answer is not stored.
func (col *collection) instead(c *engine.Call) (engine.Outcome, bool) {
	if !col.moved {
		return engine.Outcome{}, false
	}
	n, of := col.filled.Answered()
	return engine.Outcome{Changes: []engine.Edit{col.keep(c, nil)}, Result: col.show(col.counts(sayGoesOn, n, of))}, true
}

type respondArgs struct {
	Field *string      `verb:"field"`
	Value stores.Value `verb:"value"`
}

// fieldSchema is the promise that an answer is checked against its schema.
const fieldSchema = "value against field schema"

// named returns the question that an answer names. Without a present question, an answer is for the
// only question, if there is one and the answer fits it.
func (col *collection) named(value stores.Value) (field string, answer stores.Value) {
	if value.Kind() == stores.String {
		if field, said := col.filled.Named(value.Text(), col.at == "", col.in.Language); field != "" {
			return field, stores.NewString(said)
		}
	}
	if all := col.filled.Questions(); col.at == "" && len(all) == 1 && all[0].Kind != forms.Text {
		if _, wrong := col.filled.Answer(all[0].Field, value, col.in); wrong == nil {
			return all[0].Field, value
		}
	}
	return "", value
}

// respond takes an answer. An answer that does not fit changes nothing.
func (d *desk) respond(ctx context.Context, c *engine.Call, a respondArgs) (engine.Outcome, error) {
	o := engine.Outcome{Kept: []string{fieldSchema}}
	col, _, err := d.current(ctx, c)
	if err != nil {
		return o, err
	}
	if over, is := col.over(c); is {
		over.Kept = o.Kept
		return over, nil
	}
	free, field, value := col.at == "", col.at, a.Value // free: all is answered, and any may change
	if a.Field != nil {
		field = *a.Field
	} else if other, moved := col.instead(c); moved {
		other.Kept = o.Kept
		return other, nil
	} else if named, said := col.named(value); named != "" {
		field, value = named, said
	}
	if field == "" {
		return o, engine.Refuse(nothingToAnswer, nextConfirm)
	}
	filled, wrong := col.filled.Answer(field, value, col.in)
	if wrong != nil {
		o.Changes = append(o.Changes, col.keep(c, wrong))
		if _, asked := col.filled.Question(field); !asked {
			if o.Result = col.show(wrong.Says); free {
				o.Result = col.review(wrong.Says)
			}
			return o, nil
		}
		col.at = field
		o.Result = col.ask(col.notSaved(wrong))
		return o, nil
	}
	col.filled = filled
	message := ""
	q, _ := filled.Question(field)
	if col.next(); free && col.status == reviewing {
		message = sayChanged.In(col.in.Language, q.Label)
	}
	o.Changes = append(o.Changes, col.keep(c, nil))
	o.Result = col.show(message)
	return o, nil
}

type skipArgs struct {
	Field *string `verb:"field"`
}

// skip leaves a question.
func (d *desk) skip(ctx context.Context, c *engine.Call, a skipArgs) (engine.Outcome, error) {
	col, _, err := d.current(ctx, c)
	if err != nil {
		return engine.Outcome{}, err
	}
	if over, is := col.over(c); is {
		return over, nil
	}
	field := col.at
	if a.Field != nil {
		field = *a.Field
	} else if other, moved := col.instead(c); moved {
		return other, nil
	}
	if field == "" {
		return engine.Outcome{}, engine.Refuse(nothingToSkip, nextConfirm)
	}
	filled, wrong := col.filled.Skip(field, col.in.Language)
	if wrong != nil {
		return engine.Outcome{}, engine.Refuse(wrong.Says, nextStart)
	}
	col.filled = filled
	col.next()
	message := ""
	if col.at == field {
		message = sayNeeded.In(col.in.Language)
	}
	return engine.Outcome{Changes: []engine.Edit{col.keep(c, nil)}, Result: col.show(message)}, nil
}

// stop ends a collection before it is sent.
func (d *desk) stop(ctx context.Context, c *engine.Call, _ struct{}) (engine.Outcome, error) {
	o := c.Declared()
	col, _, err := d.current(ctx, c)
	if err != nil {
		return o, err
	}
	if over, is := col.over(c); is {
		return over, nil
	}
	col.status, col.at = abandoned, ""
	n, of := col.filled.Answered()
	o.Changes = append(o.Changes, col.keep(c, nil))
	o.Result = &engine.Answer{Columns: columns, Rows: [][]any{{col.status, nil, nil, nil, nil, nil, nil, nil, col.counts(sayStopped, n, of)}}}
	return o, nil
}

type confirmArgs struct {
	Confirmed bool `verb:"confirmed"`
}

// confirm sends the answers with the call that gives all of them at once, or returns to the
// questions.
func (d *desk) confirm(ctx context.Context, c *engine.Call, a confirmArgs) (engine.Outcome, error) {
	var o engine.Outcome
	col, request, err := d.current(ctx, c)
	if err != nil {
		return o, err
	}
	if over, is := col.over(c); is {
		return over, nil
	}
	changing := col.status == collecting && col.at == "" // they were asked what to change
	if changing && a.Confirmed {
		col.next()
	}
	switch {
	case col.status == collecting && !changing || col.at != "":
		q, _ := col.filled.Question(col.at)
		return o, engine.Refuse(notComplete(q.Label), nextAnswer(col.at))
	case !a.Confirmed:
		// There is no present question: the next message names the question that it answers.
		col.status, col.at = collecting, ""
		o.Changes = append(o.Changes, col.keep(c, nil))
		o.Result = col.review(sayChangeWhat.In(col.in.Language, col.filled.Questions()[0].Label))
		return o, nil
	case changing:
		// The client wanted to change something, and did not: they review again.
		o.Changes = append(o.Changes, col.keep(c, nil))
		o.Result = col.show("")
		return o, nil
	}
	row, err := c.Get(ctx, request)
	if err != nil {
		return o, err
	}
	review, kind := row.Value("needs_review"), row.Value("request_type") // a bank's palette may not have them
	looks := review.IsNull() || review.Bool() || kind.Text() == "DOCUMENT"
	var lacks []string
	if d.reg.Entity(parts) != nil {
		if lacks, err = d.lacks(ctx, c, request); err != nil {
			return o, err
		}
	}
	col.status, col.at = submitted, ""
	o.Session = engine.Fields{"collection_mode": false}
	n, _ := col.filled.Answered()
	o.Changes = append(o.Changes, col.keep(c, nil))
	o.Calls = append(o.Calls, engine.Generated{Verb: "client.provide-info", Args: engine.Fields{
		"request-id": request, "info-type": col.info, "collected-data": col.filled.Object()}})
	o.Result = &engine.Answer{Columns: columns, Rows: [][]any{{col.status, nil, nil, nil, nil, nil, nil, nil, col.sent(n, looks, lacks)}}}
	return o, nil
}
