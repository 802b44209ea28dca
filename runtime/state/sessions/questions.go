package sessions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// A question that waits for a yes is a row of its session, so that the person may answer it in
// another process. The row is written with the turn that asks the question, and deleted with the
// turn that settles it. The person agrees to the preview, which the engine keeps for one use. So if
// two windows answer at once, the second finds no question and loses.

// The fields of a question.
const (
	questionKey      = iota // of the session, and the id of the preview
	questionSession         //
	questionPreview         // ID of its preview
	questionAsked           // when it was first put
	questionUntil           // when it is too old to be answered
	questionPut             // how many turns the session had when it was last asked
	questionPutAfter        // the person's answer that caused it to be asked again
	questionBefore          // RunOptions.Before of the preview
	questionSource          // RunOptions.Source
	questionScript          // canonical text, whole; or the words that it asks about
	questionOrigins         // origins of the literals in the script: see verbs.Literals; or originsOfWords
	questionFirst           // how many turns the session had when it was first asked
	questionAbout           // canonical JSON: what the asker needs to ask it again
)

// Questions is the entity of questions.
var Questions = own("question", "questions", []stores.Step{{Field: questionSession, To: Entity}, {Field: fieldPrincipal}}, []stores.Field{
	questionKey:      {Name: "key", Column: "key", Kind: stores.String, Required: true},
	questionSession:  {Name: "session", Column: "session", Kind: stores.String, Ref: Entity, Required: true},
	questionPreview:  {Name: "preview", Column: "preview", Kind: stores.String, Required: true},
	questionAsked:    {Name: "asked", Column: "asked_at", Kind: stores.Time, Required: true},
	questionUntil:    {Name: "until", Column: "good_until", Kind: stores.Time, Required: true},
	questionPut:      {Name: "put", Column: "put_at_turn", Kind: stores.Int, Required: true},
	questionPutAfter: {Name: "put-after", Column: "put_after", Kind: stores.String},
	questionBefore:   {Name: "before", Column: "before_turn", Kind: stores.Int, Required: true},
	questionSource:   {Name: "source", Column: "source", Kind: stores.String, Required: true},
	questionScript:   {Name: "script", Column: "script", Kind: stores.String, Required: true, Sensitive: true, Personal: true},
	questionOrigins:  {Name: "origins", Column: "origins", Kind: stores.String, Required: true},
	questionFirst:    {Name: "first", Column: "first_put_at_turn", Kind: stores.Int, Required: true},
	questionAbout:    {Name: "about", Column: "about", Kind: stores.JSON, Required: true, Sensitive: true, Personal: true},
})

// Waits returns the preview of a question that waits for an answer, and the time until which it does.
func Waits(row []stores.Value) (preview string, until time.Time) {
	return row[questionPreview].Text(), row[questionUntil].Time()
}

// originsOfWords takes the place of the origins if there is no script: the person's words could not
// be turned into one, and the question asks what they mean.
const originsOfWords = "words"

// A Question waits in a session for the person's answer to a kept preview.
type Question struct {
	Preview      string // its ID
	Asked, Until time.Time
	Before       int64  // RunOptions.Before of the preview
	Source       string // RunOptions.Source of it
	// After is the person's answer that caused the question to be asked again, as a word that the
	// asker chose.
	After string
	// About is what the asker needs to ask the question again, as JSON.
	About string
	// Program is the program that the question is about. A question that was read from the store has
	// none: see Read.
	Program *verbs.Program
	// Last says that nothing was said in the session since it was asked. It is not stored.
	Last bool

	// Words are the person's words that the question is about, if it waits for more words and not
	// for a yes. Then there is no preview, and Preview is any name that the asker gives it.
	Words string
	// Again says that it was asked before: if it was settled meanwhile, it is not asked again.
	Again bool

	script, origins string
}

// Waiting reads the questions that wait in the session, the oldest first.
func (s *Session) Waiting(ctx context.Context, r stores.Reader) (all []Question, err error) {
	rows, err := r.Find(ctx, stores.Find{Entity: Questions, Order: []stores.Order{{Path: stores.Path{Field: questionFirst}}, {Path: stores.Path{Field: questionKey}}},
		Where: equals(stores.Path{Field: questionSession}, s.row[fieldKey])})
	for _, v := range rows {
		q := Question{Preview: v[questionPreview].Text(), Asked: v[questionAsked].Time(), Until: v[questionUntil].Time(), Before: v[questionBefore].Int(), Source: v[questionSource].Text(),
			After: v[questionPutAfter].Text(), About: v[questionAbout].Text(), Last: v[questionPut].Int() == s.Turns,
			script: v[questionScript].Text(), origins: v[questionOrigins].Text()}
		if q.origins == originsOfWords {
			q.Words, q.script = q.script, ""
		}
		all = append(all, q)
	}
	return all, err
}

// Read returns the script of a question that was read from the store, and the origins of the values
// in it.
func (q *Question) Read() (*dsl.Script, verbs.Literals, error) {
	if q.Words != "" {
		return nil, verbs.Literals{}, fmt.Errorf("question %s asks about words, and about no program", q.Preview)
	}
	script, ds := dsl.Parse(dsl.NewSource(q.Source, q.script))
	if ds.HasErrors() {
		return nil, verbs.Literals{}, fmt.Errorf("what question %s asks cannot be read: %s", q.Preview, ds[0].Summary)
	}
	said, err := verbs.ReadLiterals(q.origins, script)
	if err != nil {
		err = fmt.Errorf("what question %s asks: %w", q.Preview, err)
	}
	return script, said, err
}

func (s *Session) question(ctx context.Context, r stores.Reader, preview string) (key stores.Value, row []stores.Value, err error) {
	key = stores.NewString(s.ID + "/" + preview)
	row, err = get(ctx, r, Questions, key)
	return key, row, err
}

// Ask makes the changes that store the questions of turns, and delete those that the turns settle.
// gone says that a question which a turn answers or a run settles does not exist any more: it was
// settled elsewhere.
func (s *Session) Ask(ctx context.Context, r stores.Reader, said []Said, ran bool) (all []stores.Change, gone bool, err error) {
	turns := s.Turns + int64(len(said))
	done := map[string]bool{} // each once
	for i := range said {
		for j := range said[i].Puts {
			q := &said[i].Puts[j]
			if done[q.Preview] {
				continue
			}
			done[q.Preview] = true
			key, old, err := s.question(ctx, r, q.Preview)
			if err != nil {
				return nil, false, err
			}
			if old == nil && q.Again {
				continue // it was settled meanwhile
			}
			c, err := q.put(s.row[fieldKey], key, turns, old)
			if err != nil {
				return nil, false, err
			}
			all = append(all, c)
		}
	}
	for i := range said {
		for j, preview := range append(slices.Clone(said[i].Settles), said[i].Answers) {
			if done[preview] || preview == "" {
				continue
			}
			answers := j == len(said[i].Settles)
			key, row, err := s.question(ctx, r, preview)
			switch {
			case err != nil:
				return nil, false, err
			case row == nil && (ran || answers):
				return nil, true, nil
			case row == nil:
				continue
			}
			done[preview] = true
			all = append(all, stores.Change{Op: stores.Delete, Entity: Questions, Key: key, Before: row, Guard: []int{questionPut}})
		}
	}
	return all, false, nil
}

// put makes the change that asks a question, or asks it again if there is an old row.
func (q *Question) put(session, key stores.Value, turns int64, old []stores.Value) (stores.Change, error) {
	about, err := stores.ParseJSON(q.About)
	if err != nil {
		return stores.Change{}, fmt.Errorf("what a question is about is no JSON: %w", err)
	}
	script, origins := q.script, q.origins
	switch {
	case q.Words != "":
		script, origins = q.Words, originsOfWords
	case q.Program != nil:
		script, origins = dsl.Format(q.Program.Canonical()), q.Program.Literals().Encode(q.Program.Script())
	}
	row := []stores.Value{questionKey: key, questionSession: session, questionPreview: stores.NewString(q.Preview), questionAsked: stores.NewTime(q.Asked),
		questionUntil: stores.NewTime(q.Until), questionPut: stores.NewInt(turns), questionPutAfter: stores.NewString(q.After), questionBefore: stores.NewInt(q.Before),
		questionSource: stores.NewString(q.Source), questionScript: stores.NewString(script), questionOrigins: stores.NewString(origins), questionFirst: stores.NewInt(turns), questionAbout: about}
	if old != nil {
		row[questionFirst] = old[questionFirst]
	}
	return change(Questions, old, row, questionPut, questionUntil), nil
}

// QuestionsBefore picks the questions that had expired at a time.
func QuestionsBefore(t time.Time) stores.Cond { return before(questionUntil, t) }

// AskedOf picks the questions of a principal: they hold the principal's words, and nobody else is
// going to answer them.
func AskedOf(principal string) stores.Cond { return *ofPrincipal(Questions, principal) }

// ofPrincipal picks the turns or the questions of a principal's sessions.
func ofPrincipal(e *stores.Entity, principal string) *stores.Cond {
	return equals(stores.Path{Steps: e.Scope[:1], Field: fieldPrincipal}, stores.NewString(principal))
}
