package runtime

import (
	"errors"
	"fmt"

	"verbatim/dsl"
	"verbatim/runtime/sessions"
	"verbatim/runtime/tools"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A step is one call being carried out.
type step struct {
	verb   *verbs.Verb
	index  int       // in Program.Calls: of the call, or of the call of the macro that it belongs to
	place  dsl.Place // in the script that was run
	syntax *dsl.Call // as it is kept: see written
	text   string    // canonical
	args   []stores.Value
	// contents is parallel to args, nil where none is an upload: what the bytes of
	// uploads are known by.
	contents    []stores.Value
	added       []stores.Value // parallel to the effects of the verb, nil where none is named: the keys of the rows that they add
	disclosures []disclosure   // parallel to what the verb discloses; nil where nothing was asked for
	each        eachOf         // what an effect is worked out for, or a call of a macro is made for, while it is
	emptied     uint64         // bits of the arguments that are said to be nothing, and not left out
	rows        []stores.Row   // parallel to args: the rows that references name
	from        []verbs.Origin // parallel to args: where they came from
	accepts     verbs.Origins  // of the argument at hand: where it may come from
	trail       []string       // and on which way it came, where that is not so
	dark        []bool         // parallel to args: what was taken from something sensitive; nil when nothing was
	sealed      [32]byte       // of verb and arguments, as they passed the gate

	matching *matching // what a read looks for, nil where it looks for nothing

	asks    []ask
	changes []change
	notices []notice
	sets    []setting        // what it gave the session
	filled  []receipt.Filled // arguments that it left out, by key
	tended  []receipt.Tended
	jobs    []stores.Job // of notices, once they are to be committed
	dropped []stores.Job // what it drops of them, where it can be taken back
	cells   *table
	errand  *errand // what a tool is asked
	follows bool    // the tool has answered, and what waits for that is carried out
	inner   []*step // of a macro
	outer   *step   // the macro that it belongs to
	depth   int     // how many macros it stands in
	made    int     // of a call that a person wrote: the calls that it led to, itself included
	seq     int64   // of its journal entry

	seenFrom, seenTo int // what was read for it, in run.seen
}

// A change is what a store is to do with a row, and what is told of that.
type change struct {
	stores.Change
	entity *verbs.Entity
	row    receipt.Row // without the names of what it refers to; its fields are parallel to Set, where the row is not deleted
}

// at is the field of the entity that the k-th field of the row tells of.
func (c *change) at(k int) int {
	if k < len(c.Set) {
		return c.Set[k].Field
	}
	return c.Entity.FieldIndex(c.row.Fields[k].Name)
}

// A notice is an outgoing message before it has an id.
type notice struct {
	kind, target string
	keys         []string
	values       []stores.Value
	came         []verbs.Origin     // parallel to values
	dark         []bool             // parallel to values: taken from something sensitive; nil when none is
	effect       *verbs.Effect      // that promised it
	at           stores.Value       // when its work begins
	unique       string             // its correlation key, where the palette names one
	instead      []stores.JobRecord // what waits under that key, and is dropped
	active       sessions.Value     // what the work takes along: see takeAlong
	again        *stores.Job        // that was dropped before, and is scheduled again; nil of all others
	says         string             // the call that it makes
}

// A table is what a call gives back, with keys still in it.
type table struct {
	columns []column
	rows    [][]cell
	entity  *verbs.Entity // of keys
	keys    []stores.Value
	from    verbs.Origins   // where all of it comes from; zero is from rows within scope
	found   receipt.FoundBy // how rows were found, where it could be better
	left    []string        // why rows are left out that hold what cannot be read
	file    *tools.File     // that is made of it, or that a tool made with it
	// late says that it is known only once a tool has acted: no plan stands on
	// it.
	late bool
}

type column struct {
	name      string
	sensitive bool
}

type cell struct {
	value  stores.Value
	entity *verbs.Entity // whose key the value is; nil for everything else
	from   verbs.Origin
}

// told turns what a store says about a call into what a person is told.
func told(st *step, err error) error {
	var c *complaint
	var refusal *Refusal
	var promise *BrokenPromise
	var failed *Failure
	var unread *stores.Unreadable
	switch {
	case errors.As(err, &c):
		if c.call < 0 { // of a handler, which knows nothing of calls
			c = &complaint{st.index, c.diagnostic}
			c.diagnostic.Place = st.place
		}
		return c
	case errors.As(err, &refusal), errors.As(err, &promise), errors.As(err, &failed):
		return err
	case errors.Is(err, verbs.ErrAbsent):
		return &complaint{st.index, cannotWorkOut(st.place, st.verb.Name)}
	case errors.Is(err, verbs.ErrRange), errors.Is(err, verbs.ErrZero):
		return &complaint{st.index, leadsOutOfRange(st.place, st.verb.Name)}
	case errors.Is(err, stores.ErrConflict):
		return err // the whole run may be tried again
	case errors.Is(err, stores.ErrNotFound):
		// A row that it would touch is not there, or not theirs.
		return &complaint{st.index, notReached(st.place, st.verb.Name)}
	case errors.Is(err, stores.ErrReadOnly):
		return &complaint{st.index, onlyForReading(st.place, st.verb.Name)}
	case errors.Is(err, stores.ErrDuplicate):
		return &complaint{st.index, alreadyExists(st.place, st.verb.Name, twice(st))}
	case errors.As(err, &unread):
		return &complaint{st.index, unreadable(st.place, st.verb.Name, unread.Entity.Name, unread.Field, unread.Why)}
	case errors.Is(err, stores.ErrInvalid):
		return &complaint{st.index, notAccepted(st.place, st.verb.Name)}
	case errors.Is(err, stores.ErrLimit):
		return &complaint{st.index, tooMuch(st.place, st.verb.Name)}
	}
	return &Failure{Err: fmt.Errorf("%s: %w", st.verb.Name, err)}
}

// row returns the row that a call gave: one that it added or changed, of the
// wanted entity if that is known, or the one that it read.
func (st *step) row(want *verbs.Entity) (*verbs.Entity, stores.Value, bool) {
	fits := func(e *verbs.Entity) bool { return want == nil || e == want }
	all := st.gather().changes
	for i := range all {
		if c := &all[i]; c.Op == stores.Insert && fits(c.entity) {
			return c.entity, c.Key, true
		}
	}
	for i := range all {
		if c := &all[i]; c.Op == stores.Update && fits(c.entity) {
			return c.entity, c.Key, true
		}
	}
	if t := st.cells; t != nil && t.entity != nil && len(t.keys) == 1 && fits(t.entity) {
		return t.entity, t.keys[0], true
	}
	// A change that set what was there already is still about its row.
	for i := range st.verb.Effects {
		e := &st.verb.Effects[i]
		if !e.OnRows() || e.Where == nil || !fits(e.Entity) {
			continue
		}
		if e.Upsert && i+1 < len(st.added) && !st.added[i+1].IsNull() {
			return e.Entity, st.added[i+1], true
		}
		if param, one := e.Where.One(); one && st.rows[param].Entity != nil {
			return e.Entity, st.rows[param].Key(), true
		}
	}
	return nil, stores.Value{}, false
}

// isStoreError reports whether a store, and not an expression, failed.
func isStoreError(err error) bool {
	var x *evalError
	return !errors.As(err, &x)
}
