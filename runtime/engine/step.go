package engine

import (
	"errors"
	"fmt"
	"slices"

	"verbatim/dsl"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A step is one call that is being carried out.
type step struct {
	verb   *verbs.Verb
	index  int       // in Program.Calls: of the call, or of the call of the macro that it belongs to
	place  dsl.Place // in the script that was run
	syntax *dsl.Call // as the journal keeps it: see written
	text   string    // canonical
	args   []stores.Value
	// contents is parallel to args, nil where none is an upload: the digests of uploads.
	contents    []stores.Value
	added       []stores.Value // parallel to the effects of the verb, nil where none is named: the keys of the rows that they add
	disclosures []disclosure   // parallel to the verb's `discloses`; nil before any was needed
	each        eachOf         // the row or item that an effect, or a call of a macro, is being worked out for
	emptied     uint64         // bits of the arguments that were given as nil, and not left out
	rows        []stores.Row   // parallel to args: the rows that references name
	from        []verbs.Origin // parallel to args: where they came from
	accepts     verbs.Origins  // of the argument being resolved: the origins that it accepts
	trail       []string       // the path by which a value with another origin came
	sensitive   []bool         // parallel to args: taken from a sensitive value; nil when none was
	taken       uint64         // one bit for each argument: its value was taken from something sensitive, whatever its palette says
	sealed      [32]byte       // digest of verb and arguments when they passed the gate

	matching *matching // the text that a read searches for; nil without one

	asks       []ask
	passed     string // the standing rule that passed it; "" if none had to
	changes    []change
	notices    []notice
	sets       []setting        // values that it gave the session
	filled     []receipt.Filled // arguments that it left out, by key
	jobChanges []receipt.JobChange
	jobs       []stores.Job // of notices, once they are to be committed
	dropped    []stores.Job // jobs that it drops, where it can be taken back
	cells      *table
	external   *externalCall // the request to a tool
	follows    bool          // the tool has answered, and the effects that wait for that are carried out
	inner      []*step       // of a macro
	outer      *step         // the macro that it belongs to
	depth      int           // how many macros it stands in
	made       int           // of a call in the script: the number of calls that it led to, itself included
	seq        int64         // of its journal entry

	readFrom, readTo int // the part of run.seen that was read for it
}

// tellsOnceDone reports whether a verb discloses something and also changes something. The changes
// limit how often it can be asked: they use up a link, or count a question. A preview is rolled
// back, so it must not show the result.
func tellsOnceDone(v *verbs.Verb) bool { return len(v.Discloses) > 0 && !v.Answers() }

// toldOnceDone stands in a preview in place of the result of such a call.
const toldOnceDone = "what comes of it is told once it is done"

// hidesResult reports whether a preview hides the result of a call, or of a call inside its macro.
func (st *step) hidesResult() bool {
	return tellsOnceDone(st.verb) || slices.ContainsFunc(st.inner, (*step).hidesResult)
}

// A change is a change of a row for the store, and the receipt's account of it.
type change struct {
	stores.Change
	entity *verbs.Entity
	row    receipt.Row // without the names of the rows that it refers to; its fields are parallel to Set, unless the row is deleted
}

// at returns the entity's field of the k-th field of the receipt's row.
func (c *change) at(k int) int {
	if k < len(c.Set) {
		return c.Set[k].Field
	}
	return c.Entity.FieldIndex(c.row.Fields[k].Name)
}

// A notice is an outgoing message or a job before it has an id.
type notice struct {
	kind, target string
	keys         []string
	values       []stores.Value
	came         []verbs.Origin     // parallel to values
	sensitive    []bool             // parallel to values: taken from something sensitive; nil when none is
	effect       *verbs.Effect      // that promised it
	at           stores.Value       // when its job is due
	unique       string             // its correlation key, where the palette names one
	instead      []stores.JobRecord // waiting jobs with that key, which it replaces
	active       sessions.Value     // the row at work that the job takes along: see takeAlong
	again        *stores.Job        // a dropped job that is scheduled again; nil for all others
	says         string             // the call that its job makes
}

// A table is the result of a call, with keys in place of names.
type table struct {
	columns []column
	rows    [][]cell
	entity  *verbs.Entity // of keys
	keys    []stores.Value
	from    verbs.Origins   // the origin of all its values; zero is rows within scope
	found   receipt.FoundBy // how a search found the rows, where a better way is switched off
	left    []string        // why rows were left out: a value in them cannot be read
	file    *tools.File     // the file that is made of it, or that came with a tool's answer
	// late says that it is known only once a tool has acted, so that no plan depends on
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

// told turns an error of a call into the error that its caller is told.
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
		// A row that it would change does not exist, or is out of scope.
		return &complaint{st.index, notReached(st.place, st.verb.Name)}
	case errors.Is(err, stores.ErrReadOnly):
		return &complaint{st.index, onlyForReading(st.place, st.verb.Name)}
	case errors.Is(err, stores.ErrDuplicate):
		return &complaint{st.index, alreadyExists(st.place, st.verb.Name, duplicateText(st))}
	case errors.As(err, &unread):
		return &complaint{st.index, unreadable(st.place, st.verb.Name, unread.Entity.Name, unread.Field, unread.Why)}
	case errors.Is(err, stores.ErrInvalid):
		return &complaint{st.index, notAccepted(st.place, st.verb.Name)}
	case errors.Is(err, stores.ErrLimit):
		return &complaint{st.index, tooMuch(st.place, st.verb.Name)}
	}
	return &Failure{Err: fmt.Errorf("%s: %w", st.verb.Name, err)}
}

// row returns the row that a call resulted in: one that it added, changed or read, of the
// wanted entity if that is known.
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
	// A change that sets a field to its present value is still about its row.
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
