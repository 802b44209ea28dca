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

// A question that waits for a yes is a row of the session that it was put in, so
// that the person may answer it in another process. The row is written with the
// turn that puts the question, and is gone with the turn that settles it; what is
// agreed to is the preview, which the engine keeps for one use. So of two who answer
// at once in two windows, the second finds no question and loses.

// The fields of a question.
const (
	questionKey      = iota // of the session, and the id of the preview
	questionSession         //
	questionPreview         // ID of the preview that it stands for
	questionAsked           // when it was first put
	questionUntil           // when it is too old to be answered
	questionPut             // how many turns the session had when it was put last
	questionPutAfter        // what the person had said to it, where it was put again
	questionBefore          // RunOptions.Before of the preview
	questionSource          // RunOptions.Source
	questionScript          // canonical text, whole; or the words that were asked about
	questionOrigins         // of what is written out in it: see verbs.Literals; or originsOfWords
	questionFirst           // how many turns the session had when it was put first
	questionAbout           // canonical JSON: whatever the asker needs to put it again
)

// Questions is what a question is to a store.
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

// originsOfWords stands in the place of origins where there is no script: what was
// said could not be made one, and the person was asked what they mean.
const originsOfWords = "words"

// A Question waits in a session for the person's answer to a preview that was
// kept.
type Question struct {
	Preview      string // its ID
	Asked, Until time.Time
	Before       int64  // RunOptions.Before of the preview
	Source       string // RunOptions.Source of it
	// After is what the person had said when the question was put again to be
	// clear about it, in a word of whoever puts questions.
	After string
	// About is what it takes to put the question again, as JSON.
	About string
	// Program is what it asks about. Of a question that was read, see Read.
	Program *verbs.Program
	// Last says that nothing was said in the session since it was put. It is not
	// written.
	Last bool

	// Words are what the person said that had to be asked about, where it waits for
	// more of them and not for a yes. It stands for no preview then, and Preview is
	// whatever whoever put it calls it.
	Words string
	// Again says that it was put before: where it is gone meanwhile, it stays so.
	Again bool

	script, origins string
}

// Waiting reads the questions that wait in the session, those put first first.
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

// Read returns the script that a question which was read asks about, and where the
// values in it come from.
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

// Ask writes down the questions that turns put, and takes away those that they
// settle. gone says that a turn answers a question which is not there any more, or a
// run settles one: somebody was quicker.
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
				continue // settled by somebody quicker
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

// put makes the change that puts a question, or puts it again where there is an old row.
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

// QuestionsBefore picks the questions that were too old to be answered at a time.
func QuestionsBefore(t time.Time) stores.Cond { return before(questionUntil, t) }

// AskedOf picks the questions that were put to a principal: they are made of the
// principal's words, and nobody is going to answer them in their place.
func AskedOf(principal string) stores.Cond { return *ofPrincipal(Questions, principal) }

// ofPrincipal picks the turns or the questions of a principal's sessions.
func ofPrincipal(e *stores.Entity, principal string) *stores.Cond {
	return equals(stores.Path{Steps: e.Scope[:1], Field: fieldPrincipal}, stores.NewString(principal))
}
