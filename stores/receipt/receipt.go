// Package receipt holds the one value that says what calls would do, or did: rows before and
// after, with the origins of their values; notices and jobs; session values; results, and
// questions. A preview is a Receipt, and so is the result of a run; the journal keeps its rows,
// and a reply that is stored under an idempotency key is the Receipt unchanged.
//
//	r, err := session.Preview(ctx, program)
//	receipt.Print(os.Stdout, r, receipt.Options{})   // as the command prints it
//	json.Marshal(r)                                  // as --json prints it
//
// A Receipt holds the keys of rows, for the engine, the store and the journal. Printed receipts,
// and the output of json.Marshal, have the names of rows instead, and no sensitive values: see
// AppendKept for the form with keys.
package receipt

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/stores"
)

// A Receipt says what a program would do or, if Done is set, did. It may be shared once it is
// made, except while Sealed is called.
type Receipt struct {
	// ID and Digest identify the whole receipt, and the rows as they were. If something was done
	// without anybody agreeing to a preview, Sealed computes them on demand.
	ID          string // "c7f2-91d0"
	Digest      [32]byte
	Done        bool
	Calls       []Call // parallel to the calls of the program
	First, Last int64  // journal entries; zero when there are none
	// Repeated says that the calls were done before, under the same idempotency key. Values of
	// sensitive fields are not kept, and are missing from such a receipt.
	Repeated bool
	// Occasion identifies the question that a preview asks: it is drawn each time that somebody is
	// asked, and empty if nobody is.
	Occasion string
	// Earlier says when the same calls were done before, or asked of a tool whose answer was lost.
	// Only a preview that asks somebody has it.
	Earlier []Earlier

	seal func() (id string, digest [32]byte)
}

// SealLater leaves the computation of the ID and the digest to Sealed.
func (r *Receipt) SealLater(seal func() (id string, digest [32]byte)) { r.seal = seal }

// Sealed returns the receipt with its ID and its digest. It must not be called by several
// goroutines at once.
func (r *Receipt) Sealed() *Receipt {
	if r.seal != nil {
		r.ID, r.Digest = r.seal()
		r.seal = nil
	}
	return r
}

// An Earlier is an earlier time at which the same principal did the same calls.
type Earlier struct {
	// Outcome is EarlierDone, EarlierUnknown or EarlierAlone.
	Outcome string
	Time    time.Time
	Entry   int64  // of the journal; zero when there is none
	Tool    string // that was asked, "bank pay"; "" if the calls asked none
	// Withheld says that the calls hold sensitive values, which were not compared.
	Withheld bool
}

// The outcomes of an Earlier.
const (
	EarlierDone    = "done"
	EarlierUnknown = "unknown" // the tool's answer was lost, and nobody has settled it
	EarlierAlone   = "alone"   // the tool did it, and nothing was stored here
)

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
	// Passed is the name of the person's standing rule that passed a model's call without a
	// question; "" if none had to.
	Passed string
	// Within tells the bounds of that rule; "" if it has none.
	Within string
	// Origins says where the arguments came from, as JSON from argument to the words of
	// verbs.Origin, without those that a script or a palette gave; "" if there are no others.
	Origins  string
	Session  []Setting
	External []ExternalCall
	Result   *Result
	Seq      int64 // its journal entry; zero when there is none
	// Undo is the time until which the call can be undone; null if it cannot be, or if the
	// palette does not say.
	Undo stores.Value
}

// A Place is a position in a named text.
type Place struct {
	Source       string // "year-end.dsl"
	Line, Column int    // from 1
}

// String is "year-end.dsl:3"; "" for the zero Place.
func (p Place) String() string {
	if p == (Place{}) {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.Source, p.Line)
}

// The operations on a row.
const (
	Inserted = "insert"
	Updated  = "update"
	Deleted  = "delete"
	// Found records a row that existed before the journal recorded it: see journal.Baseline.
	Found = "found"
	// Redacted names the row whose values were erased from earlier entries.
	Redacted = "redact"
)

// A Row is one row, before and after. For an added or deleted row it lists every field but the
// key that has a value; for a changed row, the fields that change.
type Row struct {
	Op     string
	Table  string
	Entity string
	Key    stores.Value
	Name   string     // "@pierre-dupont-identity"; "new" for a row that has no name yet
	NameIs Commitment // instead of Name, in the journal, if the name reveals something about a person
	Label  string
	Owner  string  // name of the row that owns it; "" if that is not shown
	Fields []Field // in the order of the entity, without the key
	Given  []Field // the key of a new row, if the caller gave it
}

// Shown lists the fields of a row that people are shown.
func (r *Row) Shown() []Field {
	if len(r.Given) == 0 {
		return r.Fields
	}
	return slices.Concat(r.Given, r.Fields)
}

// A Field is one field of a Row.
type Field struct {
	Name          string
	Column        string
	Kind          stores.Kind // of Before and After
	Code          bool        // the value is a code: text without quotation marks
	Before, After Value
	Sensitive     bool   // printers show that it changed, but not its values
	From          string // ":expected-date", "expected_date + days(1)", "default"; "" if a handler made it
	// Made says that the database made After of it: by a trigger. Given is then the value that was set; null if none was.
	Made  bool
	Given Value
	// Origin says where After came from, in the words of verbs.Origin; in the journal, it is the
	// mark of the field. Was is the mark before, "" for a value that was as trusted as a record.
	Origin, Was string
	// File is the file that After refers to, by its reference or by the digest of its bytes. It
	// is nil if After refers to no file.
	File *File
}

// A Value is a value of a row. If it is the key of another row, the name of that row is shown
// instead: Text, Kind, String and JSON use the name.
type Value struct {
	stores.Value
	Name string // "@bob", "new", "(hidden)"; "" if the value itself is shown
	// Entity is the entity of the row that the key refers to, if it has a name and the receipt
	// was not stored and read back.
	Entity string
	// Is takes the place, in the journal, of a value that may have to be erased, and Gone says
	// that it was erased.
	Is   Commitment
	Gone bool
}

// Of returns a Value that is shown itself.
func Of(v stores.Value) Value { return Value{Value: v} }

// Shown returns what people see of the value.
func (v Value) Shown() stores.Value {
	if v.Name != "" {
		return stores.NewString(v.Name)
	}
	return v.Value
}

// Text returns the text of what is shown.
func (v Value) Text() string { return v.Shown().Text() }

// Kind returns the kind of what is shown.
func (v Value) Kind() stores.Kind { return v.Shown().Kind() }

// String returns what is shown, and so not a key that has a name.
func (v Value) String() string { return v.Shown().String() }

// A Commitment takes the place of a value that may have to be forgotten: see package journal,
// which makes them.
type Commitment string

// A File describes a file to people.
type File struct {
	Name string
	Type string // "application/pdf"
	Size int64
	Says string // description besides its name: "PDF, 12.5 MB"
	// Reference is the name of a file that a call made, for use in other calls: upload://…; "" in
	// a preview, which makes none.
	Reference string
}

// A Notice is a message or a piece of work that is queued.
type Notice struct {
	Kind   string // "notify" or "trigger"
	Target string
	// For work that runs here: the call, and when it is made. A date is its first instant in the
	// organisation's time zone; Null is at once.
	Calls string
	At    stores.Value
	// Instead counts the waiting jobs with the same correlation key that are dropped.
	Instead int
}

// Scheduled reports whether it is work, and not a message.
func (n *Notice) Scheduled() bool { return n.Kind == "trigger" }

// Reasons why a row stands for an argument that a call left out.
const (
	AtWork       = "active" // the session was set to it
	OnlyOne      = "only"   // the scope holds no other
	FirstOfThese = "first"  // nobody chose it, and nothing depends on the choice
)

// A Filled is an argument that a call left out, with the row that stands for it.
type Filled struct {
	Param  string // "cbu-id"
	Name   string // "@allianz-reinsurance-ag"
	Label  string
	Entity string
	Key    stores.Value
	Stand  string
	Of     int      // number of rows of which it is the first
	By     []string // the principal's verbs that set a session to another row
}

// A JobChange is a failed or waiting job that is tried again or dropped.
type JobChange struct {
	ID        string
	Kind      string
	What      string
	Principal string // in whose name it runs
	State     string // its state before
	Attempt   int
	Note      string // why it has not been done
	Drop      bool
}

// An Ask is a confirmation that a call needs before it may happen.
type Ask struct {
	By     string // a role that somebody else must have; "" is the person asking
	Reason string // "it sends a message that cannot be recalled"
	Rule   Place  // in the palette
	Call   int    // index in the program
}

// A Setting is a session value, before and after.
type Setting struct {
	Name          string
	Before, After Value
	Sensitive     bool
	From          string // what it is computed from; "" if a handler made it
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
	// Tries is how often it was asked, if that was more than once.
	Tries int
	// Answered is when it gave its answer, if it was not asked for this call: it had answered the
	// same request before, and Previewed says that this was for the preview.
	Answered  stores.Value
	Previewed bool
	// Then says what is done with the tool's answer, if that is unknown until the answer arrives.
	Then []Follow
}

// A Follow says what is done with each row of a tool's answer.
type Follow struct {
	Op     string // as in Row; "" for a notice
	What   string // the entity, or the recipient of the notice
	Fields []string
}

// A Sent is one value that is sent to a tool.
type Sent struct {
	Key       string
	Value     stores.Value
	Sensitive bool   // printers do not show it
	From      string // ":text", "request_id.subtype"
	Origin    string // where the value came from, in the words of verbs.Origin
}

// A Result is the result of a call. Its values are what is shown: a reference is the name of its
// row, and Refs says which row that is.
type Result struct {
	Columns   []string
	Sensitive []bool // parallel to Columns; nil when none is
	// Own marks sensitive columns that are shown to the calling principal, and to nobody else:
	// their own answers. Parallel to Columns; nil if there are none.
	Own  []bool
	Rows [][]stores.Value
	// Owners are the names of the rows that own these rows, parallel to Rows, if the principal
	// sees rows of several owners; nil otherwise.
	Owners []string
	// From is the origin of the whole result, unless that is rows within scope: the answer of
	// another server's tool has the origin "tool".
	From string
	// Origins holds the origin of each value, parallel to Rows; nil if all of them have the
	// origin of a record.
	Origins [][]string
	Refs    []Ref // the values that are names of rows, by row and column
	// Entity and Keys identify the rows that a read returned, one for each row of the result.
	Entity string
	Keys   []stores.Value
	// Left says why rows are left out: they hold values that cannot be read, or come on the next
	// page.
	Left []string
	// Found says how the rows that fit a text were found, if not in the best way.
	Found FoundBy
	// File is the file that the call made from its rows, or from a tool's answer; nil if it made
	// none. Only the principal can read it.
	File *File
	// Late says that the result is known only after a tool has acted: no agreement can depend on
	// it.
	Late bool
}

// Hidden reports whether a preview hides the result of the call; Left says why.
func (r *Result) Hidden() bool { return r != nil && len(r.Columns) == 0 && len(r.Left) > 0 }

// A FoundBy says how rows were found without a model that compares meanings.
type FoundBy string

// The values of FoundBy.
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

// Origin returns the origin of a value of the result.
func (r *Result) Origin(row, column int) string {
	switch {
	case r.Origins != nil:
		return r.Origins[row][column]
	case r.From != "":
		return r.From
	}
	return "record"
}

// ToOthers withholds the values that only the caller may see.
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

// Totals counts the contents of a Receipt.
type Totals struct {
	Tables     []Table // sorted by name
	Rows       int     // how many rows are added, changed or deleted, each once
	Notices    int     // messages that are sent
	Jobs       int     // pieces of work that are started or scheduled
	JobChanges int     // jobs that are tried again or dropped
	Settings   int     // session values that are set
	External   int     // tools of other servers that are called
	Answers    int     // answers that tools gave before
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
	return t.Rows+t.Notices+t.Jobs+t.JobChanges+t.Settings+t.External+t.Answers > 0
}

// Totals computes the totals.
func (r *Receipt) Totals() Totals {
	type row struct {
		entity string
		key    stores.Value
	}
	var t Totals
	ops := map[row]string{}
	tables := map[string]string{} // by entity
	gone := map[row]bool{}        // rows that are added and deleted again
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
		for j := range c.External {
			if c.External[j].Answered.IsNull() {
				t.External++
			} else {
				t.Answers++
			}
		}
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

// Number sets the journal entries of a receipt that counts them from one, given the number of the
// first.
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

// Rename gives the values shown as old their present names, by stores.NewRow: a row that is being
// added has no name yet. If a kept receipt lacks the entity of a row, the row is found by its key
// alone, if only one row has that key.
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
