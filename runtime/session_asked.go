package runtime

import (
	"context"
	"errors"
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
// agreed to is the preview, which Keep keeps for one use. So whoever answers at
// the same moment in another window finds either the question, and loses, or no
// question.

// The fields of a question.
const (
	qstKey      = iota // of the session, and the id of the preview
	qstSession         //
	qstPreview         // ID of the preview that it stands for
	qstAsked           // when it was first put
	qstUntil           // when it is too old to be answered
	qstPut             // how many turns the session had when it was put last
	qstPutAfter        // what the person had said to it, where it was put again
	qstBefore          // RunOptions.Before of the preview
	qstSource          // RunOptions.Source
	qstScript          // canonical text, whole; or the words that were asked about
	qstOrigins         // of what is written out in it: see verbs.Literals; or originsOfWords
	qstFirst           // how many turns the session had when it was put first
	qstAbout           // canonical JSON: whatever the asker needs to put it again
)

var questions = &stores.Entity{
	Name:    "verbatim.question",
	Table:   "verbatim.questions",
	Managed: true,
	Place:   "the engine's own",
	Key:     qstKey,
	Access:  stores.ByPrincipal,
	Scope:   []stores.Step{{Field: qstSession, To: sessions}, {Field: sesPrincipal}},
	Fields: []stores.Field{
		qstKey:      {Name: "key", Column: "key", Kind: stores.String, Required: true},
		qstSession:  {Name: "session", Column: "session", Kind: stores.String, Ref: sessions, Required: true},
		qstPreview:  {Name: "preview", Column: "preview", Kind: stores.String, Required: true},
		qstAsked:    {Name: "asked", Column: "asked_at", Kind: stores.Time, Required: true},
		qstUntil:    {Name: "until", Column: "good_until", Kind: stores.Time, Required: true},
		qstPut:      {Name: "put", Column: "put_at_turn", Kind: stores.Int, Required: true},
		qstPutAfter: {Name: "put-after", Column: "put_after", Kind: stores.String},
		qstBefore:   {Name: "before", Column: "before_turn", Kind: stores.Int, Required: true},
		qstSource:   {Name: "source", Column: "source", Kind: stores.String, Required: true},
		qstScript:   {Name: "script", Column: "script", Kind: stores.String, Required: true, Sensitive: true, Personal: true},
		qstOrigins:  {Name: "origins", Column: "origins", Kind: stores.String, Required: true},
		qstFirst:    {Name: "first", Column: "first_put_at_turn", Kind: stores.Int, Required: true},
		qstAbout:    {Name: "about", Column: "about", Kind: stores.JSON, Required: true, Sensitive: true, Personal: true},
	},
}

// originsOfWords stands in the place of origins where there is no script: what was
// said could not be made one, and the person was asked what they mean.
const originsOfWords = "words"

// A Question waits in a session for the person's answer to a preview that was
// kept: see Session.KeepWith.
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
	// Program is what it asks about. Of a question that was read, see Recall.
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

// Waiting returns the questions that wait in the session, those put first
// first, and how many turns the session has.
func (s *Session) Waiting(ctx context.Context) (all []Question, turns int64, err error) {
	err = s.lookInto(ctx, func(r *reading, kept *keptSession) error {
		turns = kept.row.Values[sesTurns].Int()
		rows, err := r.read.Find(ctx, stores.Find{Entity: questions, Order: []stores.Order{{Path: stores.Path{Field: qstFirst}}, {Path: stores.Path{Field: qstKey}}},
			Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: qstSession}, Value: s.kept}})
		for _, v := range rows {
			q := Question{
				Preview: v[qstPreview].Text(), Asked: v[qstAsked].Time(), Until: v[qstUntil].Time(), Before: v[qstBefore].Int(), Source: v[qstSource].Text(),
				After: v[qstPutAfter].Text(), About: v[qstAbout].Text(), Last: v[qstPut].Int() == turns,
				script: v[qstScript].Text(), origins: v[qstOrigins].Text(),
			}
			if q.origins == originsOfWords {
				q.Words, q.script = q.script, ""
			}
			all = append(all, q)
		}
		return err
	})
	return all, turns, err
}

// Recall makes the program of a question that was read, of what it says under the
// palettes of now: whether that is still what was asked is for the preview to say.
// It is a *Refusal where it cannot be said any more.
func (s *Session) Recall(ctx context.Context, q *Question) (*verbs.Program, error) {
	if q.Words != "" {
		return nil, &Failure{Err: fmt.Errorf("question %s asks about words, and about no program", q.Preview)}
	}
	script, ds := dsl.Parse(dsl.NewSource(q.Source, q.script))
	if ds.HasErrors() {
		return nil, &Failure{Err: fmt.Errorf("what question %s asks cannot be read: %s", q.Preview, tell(ds))}
	}
	said, err := verbs.ReadLiterals(q.origins, script)
	if err != nil {
		return nil, &Failure{Err: fmt.Errorf("what question %s asks: %w", q.Preview, err)}
	}
	p, ds := s.CheckFrom(ctx, script, said)
	switch {
	case p != nil:
		return p, nil
	case len(ds) == 1 && ds[0].Code == codeNamesUnread:
		return nil, &Failure{Err: errors.New(ds[0].Summary)}
	}
	return nil, refuse([]complaint{{-1, stalePreview(dsl.Place{}, nil)}})
}

func questionKey(session, preview string) stores.Value {
	return stores.NewString(session + "/" + preview)
}

// ask writes down the questions that turns put, and takes away those that they
// settle. turns is how many the session has after them. A run that answers a
// question which is not there any more is refused, and so is a turn that does:
// somebody was quicker.
func (r *reading) ask(ctx context.Context, changes []stores.Change, said []Said, turns int64, ran bool) ([]stores.Change, error) {
	put := map[string]bool{}
	for i := range said {
		for j := range said[i].Puts {
			q := &said[i].Puts[j]
			if put[q.Preview] {
				continue
			}
			put[q.Preview] = true
			c, err := r.put(ctx, q, turns)
			if err != nil {
				return nil, err
			}
			if c.Entity == nil {
				continue
			}
			changes = append(changes[:len(changes):len(changes)], c)
		}
	}
	for i := range said {
		for j, preview := range append(said[i].Settles[:len(said[i].Settles):len(said[i].Settles)], said[i].Answers) {
			if put[preview] || preview == "" {
				continue
			}
			answers := j == len(said[i].Settles)
			key := questionKey(r.s.id, preview)
			row, err := r.read.Get(ctx, questions, key)
			switch {
			case errors.Is(err, stores.ErrNotFound) && (ran || answers):
				return nil, refuse([]complaint{{-1, alreadyUsed(dsl.Place{Source: r.source}, "", "")}})
			case errors.Is(err, stores.ErrNotFound):
				continue
			case err != nil:
				return nil, err
			}
			put[preview] = true // once
			changes = append(changes[:len(changes):len(changes)], stores.Change{Op: stores.Delete, Entity: questions, Key: key, Before: row.Values, Guard: []int{qstPut}})
		}
	}
	return changes, nil
}

// put makes the change that puts a question, or puts it again; none where it is to
// be put again and was settled by somebody quicker.
func (r *reading) put(ctx context.Context, q *Question, turns int64) (stores.Change, error) {
	about, err := stores.ParseJSON(q.About)
	if err != nil {
		return stores.Change{}, &Failure{Err: fmt.Errorf("what a question is about is no JSON: %w", err)}
	}
	script, origins := q.script, q.origins
	switch {
	case q.Words != "":
		script, origins = q.Words, originsOfWords
	case q.Program != nil:
		src := q.Program.Script()
		script, origins = dsl.Format(q.Program.Canonical()), q.Program.Literals().Encode(src)
	}
	key := questionKey(r.s.id, q.Preview)
	c := stores.Change{Op: stores.Insert, Entity: questions, Key: key, Set: []stores.Assign{
		{Field: qstSession, Value: r.s.kept}, {Field: qstPreview, Value: stores.NewString(q.Preview)}, {Field: qstAsked, Value: stores.NewTime(q.Asked)},
		{Field: qstUntil, Value: stores.NewTime(q.Until)}, {Field: qstPut, Value: stores.NewInt(turns)}, {Field: qstPutAfter, Value: stores.NewString(q.After)},
		{Field: qstBefore, Value: stores.NewInt(q.Before)}, {Field: qstSource, Value: stores.NewString(q.Source)}, {Field: qstScript, Value: stores.NewString(script)},
		{Field: qstOrigins, Value: stores.NewString(origins)}, {Field: qstFirst, Value: stores.NewInt(turns)}, {Field: qstAbout, Value: about},
	}}
	old, err := r.read.Get(ctx, questions, key)
	switch {
	case errors.Is(err, stores.ErrNotFound) && q.Again:
		return stores.Change{}, nil
	case errors.Is(err, stores.ErrNotFound):
		return c, nil
	case err != nil:
		return c, err
	}
	c.Op, c.Before, c.Guard = stores.Update, old.Values, []int{qstPut, qstUntil}
	c.Set = slices.DeleteFunc(c.Set, func(a stores.Assign) bool { return a.Field == qstFirst || stores.Equal(a.Value, old.Values[a.Field]) })
	if len(c.Set) == 0 { // as it was; the turns that it is put with guard the session
		c.Set = []stores.Assign{{Field: qstPut, Value: stores.NewInt(turns)}}
	}
	return c, nil
}

// forgetQuestions takes away what a principal was asked in their sessions: it is
// made of their words, and nobody is going to answer it for them.
func (e *Engine) forgetQuestions(ctx context.Context, principal string) error {
	of := stores.Path{Steps: []stores.Step{{Field: qstSession, To: sessions}}, Field: sesPrincipal}
	_, err := e.prune(ctx, questions, stores.Cond{Op: stores.Eq, Path: of, Value: stores.NewString(principal)})
	return err
}
