package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"verbatim/runtime/engine/seal"
	"verbatim/runtime/internal/intime"
	"verbatim/stores"
	"verbatim/verbs"
)

// A Look reads rows for a verb whose palette says `looks`, including rows outside the caller's
// scope. The function that looks returns values for `discloses` and nothing else: no change,
// no answer, no notice.
type Look struct {
	r     *source
	st    *step
	reads turnstile
}

// Looks registers the function that looks for a verb. It gets its arguments as functions of
// Handle do, and returns, by name, the disclosed values that the palette has no expression
// for; one that is left out is absent.
//
//	engine.Looks(h, "desk.is-known", func(ctx context.Context, l *engine.Look, a isKnown) (engine.Fields, error) {
//		rows, err := l.Rows(ctx, "person", engine.Fields{"email": a.Email})
//		return engine.Fields{"known": len(rows) > 0}, err
//	})
//
// It may be called more than once for one run, and must not keep the Look. Only operators read
// the text of its errors.
func Looks[A any](h *Handlers, verb string, fn func(ctx context.Context, l *Look, args A) (Fields, error)) {
	h.list = append(h.list, &handler{
		verb: verb,
		args: reflect.TypeFor[A](),
		look: func(ctx context.Context, l *Look, args reflect.Value) (Fields, error) {
			return fn(ctx, l, args.Interface().(A))
		},
	})
}

// Principal returns the name of the caller.
func (l *Look) Principal() string { return l.r.s.who.Name }

// Now returns the time of the run. It is the same for all of it.
func (l *Look) Now() time.Time { return l.r.now }

// mostLooked is the greatest number of rows that one look returns.
const mostLooked = 10_000

// Rows reads all rows whose fields have these values, of every owner. The rows are not locked: they
// may change before the run commits.
func (l *Look) Rows(ctx context.Context, entity string, where Fields) ([]Row, error) {
	e, err := l.entity(entity)
	if err != nil {
		return nil, err
	}
	leave, err := l.reads.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	equal, err := fieldsEqual(e, where)
	if err != nil {
		return nil, err
	}
	return l.find(ctx, e, equal)
}

// Alike reads all rows with a searched name within an edit distance of one of these names.
// Case, accents, alphabets and punctuation make no difference. The nearest rows come first, at
// most a thousand; more says that there are others.
func (l *Look) Alike(ctx context.Context, entity string, edits int, names ...string) (rows []Row, more bool, err error) {
	e, err := l.entity(entity)
	if err != nil {
		return nil, false, err
	}
	leave, err := l.reads.enter()
	if err != nil {
		return nil, false, err
	}
	defer leave()
	if e.Store.Search == nil || len(e.Store.Search.Names) == 0 {
		return nil, false, fmt.Errorf("rows of %q are not searched by names", entity)
	}
	found, more, err := l.r.read.Match(ctx, stores.Match{Entity: e.Store, Edits: edits, Spellings: names, Beyond: true, Limit: mostAlike})
	if err != nil || len(found) == 0 {
		return nil, more, err
	}
	at, keys := make(map[stores.Value]int, len(found)), make([]stores.Value, len(found))
	for i, f := range found {
		keys[i], _ = stores.Parse(e.Store.Fields[e.Store.Key].Kind, f.Key)
		at[keys[i]] = i
	}
	rows, err = l.find(ctx, e, &stores.Cond{Op: stores.In, Path: stores.Path{Field: e.Store.Key}, Value: stores.NewList(keys...)})
	slices.SortFunc(rows, func(a, b Row) int { return at[a.row.Key()] - at[b.row.Key()] })
	return rows, more, err
}

// mostAlike is the greatest number of rows that Alike returns.
const mostAlike = 1000

// Get reads a row that the caller sees, as Call.Get does.
func (l *Look) Get(ctx context.Context, row Ref) (Row, error) {
	leave, err := l.reads.enter()
	if err != nil {
		return Row{}, err
	}
	defer leave()
	c := Call{r: l.r, st: l.st}
	return c.Get(ctx, row)
}

func (l *Look) entity(name string) (*verbs.Entity, error) {
	i := slices.IndexFunc(l.st.verb.Looks, func(e *verbs.Entity) bool { return sameWord(e.Store.Name, name) })
	if i < 0 {
		return nil, fmt.Errorf("%s does not say that it looks at rows of %q", l.st.verb.Name, name)
	}
	return l.st.verb.Looks[i], nil
}

func (l *Look) find(ctx context.Context, e *verbs.Entity, where *stores.Cond) ([]Row, error) {
	find := stores.Find{Entity: e.Store, Where: where, Order: []stores.Order{{Path: stores.Path{Field: e.Store.Key}}}, Limit: mostLooked, Beyond: true}
	for i := range e.Store.Fields {
		find.Select = append(find.Select, stores.Path{Field: i})
	}
	found, err := l.r.read.Find(ctx, find)
	rows := make([]Row, len(found))
	for i, values := range found {
		rows[i] = Row{l.r.e, l.r.s, stores.Row{Entity: e.Store, Values: values}}
	}
	return rows, err
}

// looked calls the function of a verb that looks, once for each call, and keeps its values.
func looked(ctx context.Context, r *source, st *step) error {
	h := st.prep.looker
	if h == nil {
		return st.refuse("not-carried-out", st.verb.Name, noHandlerHere)
	}
	args, err := h.arguments(st)
	if err != nil {
		return &Failure{Err: err}
	}
	// This is checked before anything is read: the error about a bad key must not reveal whether
	// there was something to seal.
	for i := range st.verb.Discloses {
		if k := st.verb.Discloses[i].SealedFor; k >= 0 {
			if _, err := seal.Key(st.args.values[k].Text()); err != nil {
				return handlerError(st, Refuse(":"+st.verb.Params[k].Name+" is no public key of X25519", "send 32 bytes in base64, made anew for this"))
			}
		}
	}
	l := &Look{r: r, st: st}
	given, err := intime.Call(ctx, func() (Fields, error) {
		return safely(func() (Fields, error) { return h.look(ctx, l, args) })
	})
	l.reads.shut()
	var said *callError
	if errors.As(err, &said) { // its text may reveal what was read
		return &Failure{Err: fmt.Errorf("the function of %s looks, and refuses nothing", st.verb.Name)}
	}
	if err != nil {
		return handlerError(st, redact(st, err))
	}
	for i := range st.verb.Discloses {
		x := &st.verb.Discloses[i]
		if x.Is != nil || x.Fresh {
			continue
		}
		name := x.Name
		if _, ok := given[name]; !ok {
			name = strings.ReplaceAll(name, "_", "-")
		}
		v, err := plainValue(given[name])
		if err == nil {
			v, err = tellable(r, st, x, v)
		}
		if err != nil { // the error may reveal what was read
			return &Failure{Err: fmt.Errorf("%s: the function of %s gave %s a value that is no %s", at(x.Place), st.verb.Name, x.Name, x.Type.Phrase())}
		}
		st.sees.disclosures[i] = disclosure{true, v}
		delete(given, name)
	}
	for _, name := range sortedKeys(given) {
		return &Failure{Err: fmt.Errorf("the function of %s gave %s, which its palette does not disclose", st.verb.Name, name)}
	}
	return nil
}

// tellable returns a disclosed value as the caller gets it: of its type, and sealed where the
// palette says so.
func tellable(r *source, st *step, x *verbs.Disclosed, v stores.Value) (stores.Value, error) {
	v, err := x.Type.Accept(v)
	if err != nil || x.SealedFor < 0 || v.IsNull() {
		return v, err
	}
	sealed, err := seal.For(st.args.values[x.SealedFor].Text(), sealInfo(st, r, x), []byte(v.Text()))
	if err != nil {
		return v, err
	}
	told := stores.NewString(sealed)
	r.draft.alias[told] = "sealed " + x.Name // another each time
	return told, nil
}

// sealInfo returns the info that a seal is bound to: the verb, the name of the value, the caller,
// and the arguments that the palette names. A row stands in it by the whole suffix of its name,
// which never changes.
func sealInfo(st *step, r *source, x *verbs.Disclosed) string {
	parts := []string{st.verb.Name, x.Name, r.s.who.Name}
	for _, i := range x.Bound {
		text := st.args.values[i].Text()
		if p := &st.verb.Params[i]; p.Type.Name == verbs.RefType {
			if kept, ok := st.call.syntax.Get(p.Name); ok {
				text = kept.Text[strings.LastIndexByte(kept.Text, '~')+1:]
			}
		}
		parts = append(parts, text)
	}
	return seal.Info(parts...)
}
