package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"verbatim/runtime/protocols/tools"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/stores/search"
)

// An Embedder makes vectors of texts, for searches by meaning: one for each text, all of one
// length. It must be safe for use by many goroutines.
type Embedder interface {
	// Maker names the model. Vectors of different makers are not compared.
	Maker() string
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// candidates is the least number of best fitting rows that are read. A read returns the best of
// them, by fit and weight.
const candidates = 200

// almost is the greatest edit distance of a name that a search finds.
const almost = 2

// A matching is the text that a call searches for.
type matching struct {
	text  string
	near  []float32 // its meaning; nil where none is compared
	maker string
	found receipt.FoundBy
	asked bool // whether the handler has searched
}

// match makes the query to the index of an entity, for rows of one owner or, if owner is null, for
// all rows that the caller may see.
func (m *matching) match(e *stores.Entity, owner stores.Value, limit int) stores.Match {
	ask := stores.Match{Entity: e, Owner: owner, Text: m.text, Limit: limit, Edits: almost}
	if len(e.Search.Meaning) > 0 {
		ask.Near, ask.Maker = m.near, m.maker
	}
	return ask
}

// embedding returns the request for the vector of a search by meaning, which is made with no
// transaction open; nil where no vector is needed.
func embedding(ctx context.Context, r *run, st *step) (*externalCall, error) {
	text, err := r.src.eval(ctx, st, st.verb.Matching, nil)
	if err != nil || text.IsNull() {
		return nil, err
	}
	m := &matching{text: text.Text()}
	st.sees.matching = m
	switch read := st.verb.Read; {
	case read != nil && len(read.Entity.Store.Search.Meaning) == 0:
	case r.src.e.opt.Embedder == nil:
		m.near, m.maker, m.found = search.Grams(m.text), search.Letters, receipt.ByLetters
	default:
		e := &externalCall{ExternalCall: receipt.ExternalCall{Name: "meaning", ReadOnly: true}, st: st, args: text, embeds: true}
		answer, answered := r.src.answers[e.id()]
		switch {
		case !answered:
			return e, nil
		case answer.Failed:
			m.found = receipt.ByWords
		default:
			m.near, m.maker = search.Vector([]byte(answer.Text), nil), r.src.e.opt.Embedder.Maker()
		}
	}
	return nil, nil
}

// Match finds the rows within scope that fit a text best, with their scores, the best first. It
// compares words and, if the text is the verb's `matching`, meaning. With an owner, the row at
// the end of the entity's scope path, rows of other owners are not found, nor do they count for
// the rarity of words; the zero Ref means every owner. Rows are read as Get reads them.
func (c *Call) Match(ctx context.Context, entity string, owner Ref, text string, limit int) (rows []Row, fit []float64, err error) {
	e := c.r.e.reg.Entity(entity)
	if e == nil || e.Store.Search == nil {
		return nil, nil, fmt.Errorf("rows of %q are not searched", entity)
	}
	if !owner.IsZero() && c.r.e.reg.Entity(owner.entity).Store != e.Store.Root() {
		return nil, nil, fmt.Errorf("rows of %q are not owned by a %s", entity, owner.entity)
	}
	leave, err := c.reads.enter()
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	m := c.st.sees.matching
	if m == nil || m.text != text {
		m = &matching{text: text, near: search.Grams(text), maker: search.Letters}
	}
	m.asked = true
	found, _, err := c.r.read.Match(ctx, m.match(e.Store, owner.key, limit))
	if err != nil || len(found) == 0 {
		return nil, nil, err
	}
	keys, score := make([]stores.Value, len(found)), map[stores.Value]float64{}
	for i, f := range found {
		keys[i], _ = stores.Parse(e.Store.Fields[e.Store.Key].Kind, f.Key)
		score[keys[i]] = f.Score
	}
	all, err := c.r.rowsWhere(ctx, c.st, e.Store, &stores.Cond{Op: stores.In, Path: stores.Path{Field: e.Store.Key}, Value: stores.NewList(keys...)})
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(all, func(a, b stores.Row) int { return cmp.Compare(score[b.Key()], score[a.Key()]) })
	for i := range all {
		rows, fit = append(rows, Row{c.r.e, c.r.s, all[i]}), append(fit, score[all[i].Key()])
		c.saw(&all[i])
	}
	return rows, fit, nil
}

// embed asks for the vector of one text. If that fails, the search uses words alone.
func (e *Engine) embed(ctx context.Context, text string) (tools.Answer, error) {
	vectors, err := e.opt.Embedder.Embed(ctx, []string{text})
	if ctx.Err() != nil {
		return tools.Answer{}, ctx.Err()
	}
	if err != nil || len(vectors) != 1 || search.Unit(vectors[0]) == nil {
		return tools.Answer{Failed: true}, nil
	}
	return tools.Answer{Text: string(search.Bytes(vectors[0]))}, nil
}

// Near returns how close each of some texts is to another in meaning: the cosine of their
// vectors, at least 0. It returns nil without an Embedder. Nothing is kept.
func (e *Engine) Near(ctx context.Context, text string, others []string) ([]float64, error) {
	if e.opt.Embedder == nil || len(others) == 0 {
		return nil, nil
	}
	vectors, err := e.opt.Embedder.Embed(ctx, append([]string{text}, others...))
	if err == nil && len(vectors) != len(others)+1 {
		err = fmt.Errorf("the model made %d vectors of %d texts", len(vectors), len(others)+1)
	}
	if err != nil {
		return nil, failure(err)
	}
	near := make([]float64, len(others))
	for i, v := range vectors[1:] {
		dot, a, b := 0.0, 0.0, 0.0
		for k := range min(len(v), len(vectors[0])) {
			x, y := float64(vectors[0][k]), float64(v[k])
			dot, a, b = dot+x*y, a+x*x, b+y*y
		}
		if a > 0 && b > 0 {
			near[i] = max(0, dot/math.Sqrt(a*b))
		}
	}
	return near, nil
}

// Embeds reports whether there is an Embedder.
func (e *Engine) Embeds() bool { return e.opt.Embedder != nil }

// Embed makes the vectors of rows that lack them, at most so many, and returns the number.
// Background workers call it. Without an Embedder it does nothing. Until then, searches find
// such rows by their words.
func (e *Engine) Embed(ctx context.Context, most int) (n int, err error) {
	if e.opt.Embedder == nil {
		return 0, nil
	}
	for _, t := range e.catalog.tables {
		if t.Search == nil || len(t.Search.Meaning) == 0 || n >= most {
			continue
		}
		made, err := e.store.Vectors(ctx, t, e.opt.Embedder.Maker(), most-n, func(texts []string) ([][]float32, error) {
			vectors, err := e.opt.Embedder.Embed(ctx, texts)
			if err == nil && len(vectors) != len(texts) {
				err = fmt.Errorf("%d vectors for %d texts", len(vectors), len(texts))
			}
			for i := range vectors {
				if err == nil && search.Unit(vectors[i]) == nil {
					err = errors.New("a vector that is none")
				}
			}
			return vectors, err
		})
		if n += made; err != nil {
			return n, fmt.Errorf("vectors of %s: %w", t.Name, err)
		}
	}
	return n, nil
}

// Fits reports whether the store has the tables, columns and search indexes that the palettes declare, and
// whether its role may read them. It returns stores.ErrSchema or stores.ErrDenied if not.
func (e *Engine) Fits(ctx context.Context) error {
	return e.store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		for _, t := range e.catalog.tables {
			if _, err := r.Find(ctx, stores.Find{Entity: t, Where: &stores.Cond{Op: stores.False}}); err != nil {
				return err
			}
			if t.Search == nil {
				continue
			}
			if _, _, err := r.Match(ctx, stores.Match{Entity: t, Owner: stores.NewString("nobody"), Limit: 1}); err != nil {
				return err
			}
		}
		return nil
	})
}

// matchRows finds the rows that fit best, in that order. If the palette weighs rows, the weight is
// the last of their fields.
func matchRows(ctx context.Context, r *source, st *step, f *fetch, find stores.Find) ([][]stores.Value, error) {
	read, m := st.verb.Read, st.sees.matching
	e := read.Entity.Store
	key := e.Fields[e.Key].Kind
	fit, owner := map[stores.Value]float64{}, e.OwnerIn(find.Where)
	var rows [][]stores.Value
	for limit := candidates; ; limit *= 8 {
		found, more, err := r.read.Match(ctx, m.match(e, owner, limit))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, nil
		}
		keys := make([]stores.Value, len(found))
		for i, is := range found {
			keys[i], _ = stores.Parse(key, is.Key)
			fit[keys[i]] = is.Score
		}
		only := stores.Cond{Op: stores.In, Path: stores.Path{Field: e.Key}, Value: stores.NewList(keys...)}
		if find.Where != nil {
			only = stores.Cond{Op: stores.And, Kids: []stores.Cond{*find.Where, only}}
		}
		one := find
		one.Where, one.Order, one.Limit = &only, nil, len(keys)
		if rows, err = r.findWithPostponed(ctx, st, one); err != nil {
			return nil, err
		}
		if len(rows) >= read.Limit || !more {
			break // the condition leaves enough of the best
		}
	}
	if read.Weigh != nil {
		for _, row := range rows {
			c, err := f.cell(st, len(f.fields)-1, row)
			if err != nil {
				return nil, err
			}
			if w, err := strconv.ParseFloat(c.value.Text(), 64); err == nil { // nothing weighs as much as 1
				fit[row[0]] *= max(0, w)
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b []stores.Value) int {
		if c := cmp.Compare(fit[b[0]], fit[a[0]]); c != 0 {
			return c
		}
		return strings.Compare(a[0].Text(), b[0].Text())
	})
	return rows[:min(len(rows), read.Limit)], nil
}

// foundBy says how the rows of a read were found, if a better way is switched off.
func foundBy(st *step) receipt.FoundBy {
	if st.sees.matching == nil || st.verb.Handler && !st.sees.matching.asked {
		return ""
	}
	return st.sees.matching.found
}
