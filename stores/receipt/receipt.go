// Package receipt holds the one value that says what calls would do, or did: rows
// before and after, with where their values come from; notices and jobs; what the
// session is given; results, and questions. A preview is a Receipt, and so is what
// a run answers; the journal keeps its rows, and a reply that is kept under a key is
// the Receipt as it was.
//
//	r, err := session.Preview(ctx, program)
//	receipt.Print(os.Stdout, r, receipt.Options{})   // as the command prints it
//	json.Marshal(r)                                  // as --json prints it
//
// A Receipt holds the keys of rows, for the engine, the store and the journal. What
// is printed, and what json.Marshal writes, has the names of rows instead, and
// nothing of values that are sensitive: see AppendKept for the form that has keys.
package receipt

import (
	"fmt"
	"slices"
	"strings"

	"verbatim/stores"
)

// A Receipt says what a program would do or, when Done is set, did. It may be
// shared once it is made, but for Sealed.
type Receipt struct {
	// ID and Digest stand for all of it, and for the rows as they were. Those of
	// what was done at once, without anybody having agreed to a preview, are worked
	// out when they are asked for: by Sealed.
	ID          string // "c7f2-91d0"
	Digest      [32]byte
	Done        bool
	Calls       []Call // parallel to the calls of the program
	First, Last int64  // journal entries; zero when there are none
	// Repeated says that it was done before, under the same key. Values of
	// sensitive fields are not kept and left out of such a receipt.
	Repeated bool

	seal func() (id string, digest [32]byte)
}

// SealLater leaves the ID and the digest to be worked out by Sealed.
func (r *Receipt) SealLater(seal func() (id string, digest [32]byte)) { r.seal = seal }

// Sealed returns the receipt with its ID and its digest. It is not for several
// goroutines at once.
func (r *Receipt) Sealed() *Receipt {
	if r.seal != nil {
		r.ID, r.Digest = r.seal()
		r.seal = nil
	}
	return r
}

// A Call is what one call would do or did; for a macro, what its calls do.
type Call struct {
	Verb       string
	Place      Place
	Text       string // canonical, sensitive values withheld
	Rows       []Row
	Notices    []Notice
	Filled     []Filled
	JobChanges []JobChange
	Asks       []Ask
	Session    []Setting
	External   []ExternalCall
	Result     *Result
	Seq        int64 // its journal entry; zero when there is none
	// Undo is until when what was done can be taken back, a time; null where it cannot be,
	// or the palette does not say.
	Undo stores.Value
}

// A Place is where something stands in a text that has a name.
type Place struct {
	Source       string // "year-end.dsl"
	Line, Column int    // from 1
}

// String is "year-end.dsl:3"; "" of the zero Place.
func (p Place) String() string {
	if p == (Place{}) {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.Source, p.Line)
}

// What becomes of a row.
const (
	Inserted = "insert"
	Updated  = "update"
	Deleted  = "delete"
	// Found tells of a row that was there already when the journal came to know
	// it: see journal.Baseline.
	Found = "found"
	// Redacted names the row whose values were erased from the entries before.
	Redacted = "redact"
)

// A Row is one row, before and after. Of a row that is added or deleted it lists
// every field but the key that holds a value; of one that is changed, those that
// change.
type Row struct {
	Op     string
	Table  string
	Entity string
	Key    stores.Value
	Name   string     // "@pierre-dupont-identity"; "new" for a row that has no name yet
	NameIs Commitment // instead of Name, in the journal, where a name says something of a person
	Label  string
	Owner  string  // name of the row that it belongs to; "" where that is not shown
	Fields []Field // in the order of the entity
}

// A Field is one field of a Row.
type Field struct {
	Name          string
	Column        string
	Kind          stores.Kind // of Before and After
	Code          bool        // one of a list of codes: text without quotation marks
	Before, After Value
	Sensitive     bool   // printers show that it changed, and not from what to what
	From          string // ":expected-date", "expected_date + days(1)", "default"; "" where a handler made it
	// Origin says where After came from, in the words of verbs.Origin; in the
	// journal, what the field is marked with. Was is what it was marked with
	// before, "" for a value that was as trusted as a record.
	Origin, Was string
	// File is the file that After stands for, by its reference or by what its bytes
	// are known by. It is nil where After stands for itself.
	File *File
}

// A Value is a value of a row. The key of another row has the name that is shown
// instead: Text, Kind, String and JSON are those of the name.
type Value struct {
	stores.Value
	Name string // "@bob", "new", "(hidden)"; "" where the value is shown itself
	// Entity is that of the row whose key it is, where it has a name and the receipt
	// was not kept meanwhile.
	Entity string
	// Is stands in the journal for a value that may have to be erased, and Gone says
	// that it was.
	Is   Commitment
	Gone bool
}

// Of is a value that is shown itself.
func Of(v stores.Value) Value { return Value{Value: v} }

// Shown is what people see of the value.
func (v Value) Shown() stores.Value {
	if v.Name != "" {
		return stores.NewString(v.Name)
	}
	return v.Value
}

// Text is that of what is shown.
func (v Value) Text() string { return v.Shown().Text() }

// Kind is that of what is shown.
func (v Value) Kind() stores.Kind { return v.Shown().Kind() }

// String does not show a key that has a name.
func (v Value) String() string { return v.Shown().String() }

// A Commitment stands for a value that may have to be forgotten: see package
// journal, which makes them.
type Commitment string

// A File is what a person knows a file by.
type File struct {
	Name string
	Type string // "application/pdf"
	Size int64
	Says string // what people are told of it besides its name: "PDF, 12.5 MB"
	// Reference is what a call names it by, of a file that a call made: upload://…; "" in
	// a preview, which makes none.
	Reference string
}

// A Notice is a message or a piece of work that is queued.
type Notice struct {
	Kind   string // "notify" or "trigger"
	Target string
	// Of work that is run here: the call that it is, and when it is made. A day
	// is its first instant where the organisation is; Null is at once.
	Calls string
	At    stores.Value
	// Instead counts the jobs that wait under the same key and are dropped.
	Instead int
}

// Scheduled reports whether it is work, and no message.
func (n *Notice) Scheduled() bool { return n.Kind == "trigger" }

// Why a row stands for an argument that a call left out.
const (
	AtWork       = "active" // the session was set to it
	OnlyOne      = "only"   // there is no other within scope
	FirstOfThese = "first"  // nobody chose, and nothing hangs on it
)

// A Filled is an argument that a call left out and that a row stands for.
type Filled struct {
	Param  string // "cbu-id"
	Name   string // "@allianz-reinsurance-ag"
	Label  string
	Entity string
	Key    stores.Value
	Stand  string
	Of     int      // of how many it is the first
	By     []string // verbs of the principal's by which a session is set to another
}

// A JobChange is a job that failed or waits, and is tried again or dropped.
type JobChange struct {
	ID        string
	Kind      string
	What      string
	Principal string // in whose name it is
	State     string // that it is in before
	Attempt   int
	Note      string // why it is not done
	Drop      bool
}

// An Ask is one confirmation that a call needs before it may happen.
type Ask struct {
	By     string // a role that somebody else must have; "" is the person asking
	Reason string // "it sends a message that cannot be recalled"
	Rule   Place  // in the palette
	Call   int    // index in the program
}

// A Setting is something that the session is given, before and after.
type Setting struct {
	Name          string
	Before, After Value
	Sensitive     bool
	From          string // what it is worked out from; "" where a handler made it
	Origin        string
}

// An ExternalCall is a request to a tool of another server.
type ExternalCall struct {
	Server string
	Name   string
	Sent   []Sent
	// ReadOnly says that the tool changes nothing.
	ReadOnly bool
	Local    bool // it is a function of this program
	// Then is what is done with its answer, where nothing of that is known before it is
	// there.
	Then []Follow
}

// A Follow is what is done with each row that a tool answers with.
type Follow struct {
	Op     string // as of a Row; "" of a notice
	What   string // the entity, or whom the notice is for
	Fields []string
}

// A Sent is one thing that a tool is sent.
type Sent struct {
	Key       string
	Value     stores.Value
	Sensitive bool   // printers do not show it
	From      string // ":text", "request_id.subtype"
}

// A Result is what a call gives back. Its values are what is shown: a reference is
// the name of its row, and Refs says whose.
type Result struct {
	Columns   []string
	Sensitive []bool // parallel to Columns; nil when none is
	// Own are the sensitive ones that are told to the principal who asked, and to
	// nobody else: their own answers. Parallel to Columns; nil when none is.
	Own  []bool
	Rows [][]stores.Value
	// Owners are the names of the rows that these belong to, parallel to Rows, where
	// somebody is told who sees rows of several owners; nil otherwise.
	Owners []string
	// From says where all of it comes from, when that is not from rows within
	// scope: what a tool of another server answered is "tool".
	From string
	// Origins says where each value comes from, parallel to Rows; nil when all
	// of them are a record's.
	Origins [][]string
	Refs    []Ref // the values that are names of rows, by row and column
	// Entity and Keys are those of the rows that a read gave, one a row.
	Entity string
	Keys   []stores.Value
	// Left says of rows that are left out why: they hold what cannot be read, or come
	// on the next page.
	Left []string
	// Found says how the rows were found that fit a text, where that is worse than it
	// could be.
	Found FoundBy
	// File is what the call made of its rows, or of what a tool answered; nil where it
	// made none. Only the principal can read it.
	File *File
	// Late says that it is known only once a tool has acted: no agreement stands on
	// it.
	Late bool
}

// Hidden reports whether a preview hides the result of the call; Left says why.
func (r *Result) Hidden() bool { return r != nil && len(r.Columns) == 0 && len(r.Left) > 0 }

// A FoundBy is how rows were found for want of a model that compares meanings.
type FoundBy string

// The ways.
const (
	ByLetters FoundBy = "letters" // by words and runs of letters: no such model is set up
	ByWords   FoundBy = "words"   // by words alone: the model did not answer
)

// A Ref says which row a value of a result names.
type Ref struct {
	Row, Column int
	Entity      string
	Key         stores.Value
}

// Withheld reports whether a column is sensitive, and not the principal's own: it
// is not shown to them. A model is shown no sensitive column at all.
func (r *Result) Withheld(column int) bool {
	return r.Sensitive != nil && r.Sensitive[column] && (r.Own == nil || !r.Own[column])
}

// Origin is where a value of the result comes from.
func (r *Result) Origin(row, column int) string {
	switch {
	case r.Origins != nil:
		return r.Origins[row][column]
	case r.From != "":
		return r.From
	}
	return "record"
}

// ToOthers withholds what is the asker's own.
func (r *Receipt) ToOthers() {
	for i := range r.Calls {
		if res := r.Calls[i].Result; res != nil {
			res.Own = nil
		}
	}
}

// Asks lists the questions of all calls.
func (r *Receipt) Asks() (all []Ask) {
	for i := range r.Calls {
		all = append(all, r.Calls[i].Asks...)
	}
	return all
}

// Totals counts what a Receipt tells of.
type Totals struct {
	Tables     []Table // sorted by name
	Rows       int     // how many rows are added, changed or deleted, each once
	Notices    int     // messages that are sent
	Jobs       int     // pieces of work that are started or scheduled
	JobChanges int     // waiting jobs that are tried again or dropped
	Settings   int     // values that the session is given
	External   int     // tools of other servers that are asked
}

// A Table counts the rows of one table, each once.
type Table struct {
	Table   string
	Added   int
	Changed int
	Deleted int
}

// Acts reports whether anything at all is done.
func (t *Totals) Acts() bool {
	return t.Rows+t.Notices+t.Jobs+t.JobChanges+t.Settings+t.External > 0
}

// Totals works them out.
func (r *Receipt) Totals() Totals {
	type row struct {
		entity string
		key    stores.Value
	}
	var t Totals
	ops := map[row]string{}
	tables := map[string]string{} // by entity
	gone := map[row]bool{}        // it came and went
	for i := range r.Calls {
		c := &r.Calls[i]
		for j := range c.Rows {
			id, op := row{c.Rows[j].Entity, c.Rows[j].Key}, c.Rows[j].Op
			tables[id.entity] = c.Rows[j].Table
			was := ops[id]
			gone[id] = gone[id] || was == Inserted && op == Deleted || was == Deleted && op == Inserted
			if was == "" || was == Updated {
				ops[id] = op
			}
		}
		for j := range c.Notices {
			if c.Notices[j].Scheduled() {
				t.Jobs++
			} else {
				t.Notices++
			}
		}
		t.JobChanges += len(c.JobChanges)
		t.Settings += len(c.Session)
		t.External += len(c.External)
	}
	by := map[string]*Table{}
	for id, op := range ops {
		if gone[id] {
			continue
		}
		table := by[tables[id.entity]]
		if table == nil {
			table = &Table{Table: tables[id.entity]}
			by[table.Table] = table
		}
		switch op {
		case Inserted:
			table.Added++
		case Updated:
			table.Changed++
		case Deleted:
			table.Deleted++
		}
		t.Rows++
	}
	for _, table := range by {
		t.Tables = append(t.Tables, *table)
	}
	slices.SortFunc(t.Tables, func(a, b Table) int { return strings.Compare(a.Table, b.Table) })
	return t
}

// Number says which entry of the journal is the first, of a receipt that counts them
// from one.
func (r *Receipt) Number(first int64) {
	add := func(n *int64) {
		if *n > 0 {
			*n += first - 1
		}
	}
	add(&r.First)
	add(&r.Last)
	for i := range r.Calls {
		add(&r.Calls[i].Seq)
	}
}

// Rename gives rows that were shown as old the names that they have now, by
// stores.NewRow: what is being added has no name yet. What a kept receipt does not tell
// the entity of is found by its key alone, where that is one row's.
func (r *Receipt) Rename(old string, names map[stores.Value]string) {
	alone := make(map[string]string, len(names))
	for row, name := range names {
		_, key, _ := strings.Cut(strings.TrimPrefix(row.Text(), "row\x00"), "\x00")
		if _, twice := alone[key]; twice {
			name = old
		}
		alone[key] = name
	}
	rename := func(name *string, entity string, key stores.Value) {
		now, ok := names[stores.NewRow(entity, key)]
		if entity == "" {
			now, ok = alone[key.Text()]
		}
		if ok && *name == old {
			*name = now
		}
	}
	for i := range r.Calls {
		c := &r.Calls[i]
		for j := range c.Rows {
			row := &c.Rows[j]
			rename(&row.Name, row.Entity, row.Key)
			for k := range row.Fields {
				rename(&row.Fields[k].Before.Name, row.Fields[k].Before.Entity, row.Fields[k].Before.Value)
				rename(&row.Fields[k].After.Name, row.Fields[k].After.Entity, row.Fields[k].After.Value)
			}
		}
		for j := range c.Session {
			rename(&c.Session[j].Before.Name, c.Session[j].Before.Entity, c.Session[j].Before.Value)
			rename(&c.Session[j].After.Name, c.Session[j].After.Entity, c.Session[j].After.Value)
		}
		if c.Result == nil {
			continue
		}
		for _, ref := range c.Result.Refs {
			name := c.Result.Rows[ref.Row][ref.Column].Text()
			rename(&name, ref.Entity, ref.Key)
			c.Result.Rows[ref.Row][ref.Column] = stores.NewString(name)
		}
	}
}
