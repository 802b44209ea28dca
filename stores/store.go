// Package stores keeps rows, and what happened to them.
//
// It is one interface over the entities that palettes declare, with two implementations:
// stores/sqlite, a file, and stores/postgres, a server. The conformance suite in stores/storetest
// defines what they promise; a behaviour that is missing there is not promised.
package stores

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"verbatim/stores/search"
)

// Errors that callers tell apart. Backends wrap them, and no type of a driver leaves a backend.
var (
	// ErrNotFound is the error for a row that does not exist and for one outside the caller's
	// scope. Nothing distinguishes the two.
	ErrNotFound = errors.New("not found")
	// ErrConflict says that a row changed since it was read, or that the
	// database asks for the transaction to be tried again.
	ErrConflict = errors.New("changed by somebody else")
	// ErrDuplicate says that a unique value is taken.
	ErrDuplicate = errors.New("already exists")
	// ErrInvalid says that the database refused a value: a missing required
	// field, a reference to nothing.
	ErrInvalid = errors.New("not accepted by the database")
	// ErrUnknown says that a commit was cut off before its answer: it may or
	// may not have happened.
	ErrUnknown = errors.New("unknown whether it was committed")
	// ErrFull says that the database has no room for what was written.
	ErrFull = errors.New("the disk is full")
	// ErrStandby says that the database takes no changes at present, as a standby does.
	ErrStandby = errors.New("the database takes no changes at present")
	// ErrCrowded says that the database has no connection left.
	ErrCrowded = errors.New("the database has no connection left")
	// ErrSlow says that the database stopped a statement which took longer than its operator
	// allows.
	ErrSlow = errors.New("it took longer than the database allows")
	// ErrReplaced says that the file of a store is no longer the one that was opened: what is written
	// would be lost.
	ErrReplaced = errors.New("the file of the store was replaced")
	// ErrLimit says that a read asked for more rows or more time than allowed.
	ErrLimit = errors.New("too much")
	// ErrReadOnly is the error for a write to a row that the scope can see but not change:
	// reference data, and the unique fields of rows that own themselves, which only a scope with
	// All may write. (If the latter were allowed, a refusal would reveal a row that the caller
	// cannot see.)
	ErrReadOnly = errors.New("may only be read")
	// ErrVersion says that another version of this program keeps the store, or wrote the data to
	// be read: see VersionError.
	ErrVersion = errors.New("kept by another version")
	// ErrSchema says that the database lacks what the palettes or the journal
	// need: Migrate has not run, or has problems to report.
	ErrSchema = errors.New("the database has not been prepared by migrate")
	// ErrDenied says that the database's role lacks a right that the palettes or the journal need.
	ErrDenied = errors.New("the role of the store lacks a right")
)

// TroubleCode returns the code for a state of a store that its operator ends: a full disk, a database
// that only reads, that has no connection left, that stops what is slow or whose file was replaced. It returns "" for any other
// error.
func TroubleCode(err error) string {
	for is, code := range map[error]string{ErrFull: "store-full", ErrStandby: "store-read-only", ErrCrowded: "store-crowded", ErrSlow: "store-slow", ErrReplaced: "store-replaced"} {
		if errors.Is(err, is) {
			return code
		}
	}
	return ""
}

// A VersionError is an ErrVersion with the version that was found and the version that this
// program knows.
type VersionError struct {
	Is, Known int64
	Old       bool // Migrate can bring the store to the known version
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("it is of version %d, and this program knows version %d", e.Is, e.Known)
}

// Unwrap gives ErrVersion.
func (e *VersionError) Unwrap() error { return ErrVersion }

// A SQLError says what is wrong with a palette author's query, and where. CheckSQL returns no
// other error when the query is at fault.
type SQLError struct {
	Offset int    // in bytes from the beginning of SQL.Text; -1 when the place is not known
	Msg    string // a phrase without a capital or a full stop
}

func (e *SQLError) Error() string { return e.Msg }

// An Entity is a kind of row: its table, its fields and the path from a row to the principals who
// may see it. Package verbs makes it from a palette; it is read-only after that.
type Entity struct {
	Name   string // "outstanding-request"
	Table  string // "kyc.outstanding_requests"; a backend without schemas writes kyc_outstanding_requests. The schema verbatim is the engine's
	Fields []Field
	Key    int // index of the key in Fields
	// Parts are the fields that make up a key of several parts. Then the field at Key is the last
	// one, has no column, and holds the result of NewKey.
	Parts []int
	// Scope is the path to the row that owns this one: reference fields to follow, the
	// last of which holds a key that the caller's scope must hold. An empty path with
	// Access == ByPath means that the row owns itself.
	Scope  []Step
	Access Access
	// Visible lists Bool fields that must all be true. Otherwise a scope without All sees
	// neither the row nor any row whose scope path leads through it.
	Visible []int
	// Migrate creates and migrates the tables of managed entities. Other tables exist already;
	// they are verified and never altered.
	Managed bool
	// Added and Removed say that verbs add or remove its rows, and Changed lists the fields that
	// verbs change. The application's database role needs these rights.
	Added, Removed bool
	Changed        []int

	Unique [][]int // sets of fields unique together, always within the scope root
	Found  [][]int // sets of fields that need an index, beside Unique and references
	Given  []Given // rules about how many of some fields have values
	Search *Search // the search index; nil without one
	Place  string  // "client.yaml:12:5", for messages

	// Was is the former name of a renamed entity, and WasTable its former table, if that is
	// managed; "" otherwise.
	Was, WasTable string
}

// A Given demands that a row has values in Least to Most of some fields, or, with OrNone, in
// none of them.
type Given struct {
	Fields      []int
	Least, Most int
	OrNone      bool
}

// Holds reports whether a row with these values meets the rule.
func (g *Given) Holds(value func(field int) Value) bool {
	n := 0
	for _, f := range g.Fields {
		if !value(f).IsNull() {
			n++
		}
	}
	return n >= g.Least && n <= g.Most || g.OrNone && n == 0
}

// SQL writes the rule as a condition on an expression that counts the values.
func (g *Given) SQL(count string) string {
	sql := fmt.Sprintf("%s BETWEEN %d AND %d", count, g.Least, g.Most)
	if g.OrNone {
		sql = fmt.Sprintf("%s IN (0, %d)", count, g.Most)
	}
	return sql
}

// Access says which rows of an entity a scope opens.
type Access uint8

// The three kinds of access.
const (
	ByPath      Access = iota // rows whose scope path ends at a row that the scope holds
	ByPrincipal               // rows whose last Scope step's field is the principal's own name
	ForAll                    // reference data: every row, for reading only
)

// A Step follows one reference field of an entity.
type Step struct {
	Field int     // index in the fields of the entity reached so far
	To    *Entity // the entity it refers to
}

// A Field is one column.
type Field struct {
	Name   string // "client-notes"
	Column string // "client_notes"
	// Was is the former name of a renamed field, and WasColumn its former column, if its table is
	// managed; "" otherwise.
	Was, WasColumn string

	Kind      Kind
	Elem      Kind    // the kind of the items of a JSON list; Null otherwise
	Ref       *Entity // the entity that a reference refers to
	Required  bool
	Sensitive bool
	Personal  bool     // personal data, which can be erased from the journal
	Default   Value    // Null when there is none
	Codes     []string // closed list, nil when open
	// WasCodes maps former names of codes to their present names; for a list, the codes of its
	// items.
	WasCodes map[string]string
	// Spelling says in which form the column stores the field; nil stores values as they are.
	Spelling *Spelling
	// Zone is the time zone in which a column of others, without one of its own, holds a Time; nil
	// is UTC.
	Zone *time.Location
	// Places is how many decimal places a column of binary fractions keeps exactly; 0 if that is
	// not known.
	Places int
	// Drawn says that the database generates a value for a new row: see Tx.Draw. Computed says
	// that only the database sets the column.
	Drawn, Computed bool
}

// FieldIndex returns the index of the field with a name, present or former, or -1.
func (e *Entity) FieldIndex(name string) int {
	for i := range e.Fields {
		if e.Fields[i].Name == name {
			return i
		}
	}
	return slices.IndexFunc(e.Fields, func(f Field) bool { return f.Was != "" && f.Was == name })
}

// Now returns a value of the field with former names of codes replaced by the present ones.
func (f *Field) Now(v Value) Value {
	switch {
	case f.WasCodes == nil:
	case v.Kind() == String && f.Kind == String:
		if now, ok := f.WasCodes[v.Text()]; ok {
			return NewString(now)
		}
	case v.Kind() == JSON && f.Elem == String:
		for was, now := range f.WasCodes {
			v, _ = ParseJSON(strings.ReplaceAll(v.Text(), `"`+was+`"`, `"`+now+`"`))
		}
	}
	return v
}

// Former lists the codes that a managed column still stores under their former names, as pairs of
// former and present name.
func (f *Field) Former() (pairs [][2]string) {
	for _, was := range slices.Sorted(maps.Keys(f.WasCodes)) {
		now := f.WasCodes[was]
		if v, ok := f.Stored(NewString(now)); f.Kind == JSON || ok && v.Text() == now {
			pairs = append(pairs, [2]string{was, now})
		}
	}
	return pairs
}

// A Scope says for whom data is read or written. Its zero value gives access to reference data
// only.
type Scope struct {
	Principal string // name of the principal
	All       bool   // a role that sees every row
	// Holds lists, per root entity name, the keys of the rows that the principal holds.
	Holds map[string][]Value
}

// A Row is one row of an entity: values parallel to Entity.Fields.
type Row struct {
	Entity *Entity
	Values []Value
	Marks  []Mark // by field, ascending; nil for a row that is trusted throughout
}

// Key returns the row's key.
func (r Row) Key() Value { return r.Values[r.Entity.Key] }

// An Op is the operation of a Change.
type Op uint8

// The operations.
const (
	Insert Op = iota
	Update
	Delete
)

// A Change is a change of one row for the store. A receipt.Row tells people and the journal
// about it. For Update and Delete, Before holds the values that the change was planned on,
// parallel to Entity.Fields. The store makes the change only if the fields listed in Guard
// still have these values, and returns ErrConflict otherwise.
type Change struct {
	Op     Op
	Entity *Entity
	Key    Value
	Set    []Assign // by field, ascending
	Before []Value
	Guard  []int
	// Marks holds the marks that the row was read with. A field that is assigned without
	// an Origin loses the mark listed here. A mark that is not listed stays: the field is
	// then trusted too little, never too much.
	Marks []Mark
	// Number, if it is not zero, is an Int field of a row to insert that the store sets to
	// the number of the transaction's first journal entry, or to null if there is none. The
	// number is known only at the commit, so the change is made then, the last of all. No
	// read of the transaction sees it, and Update, not Apply, returns its error.
	Number int
}

// An Assign gives a field a value.
type Assign struct {
	Field int
	Value Value
	// Origin is the mark of the field, "" for a value that is as trusted as a record.
	Origin string
}

// A Batch is what one transaction commits, all or nothing.
type Batch struct {
	Changes    []Change
	Entries    []Entry
	Jobs       []Job        // to be done later
	Settled    []Settlement // runs of jobs that end with this transaction
	JobChanges []JobChange  // jobs at rest that are tried again or dropped; a job in Jobs may take over the correlation key of a dropped one, unless its Again is KeepOther
	Names      []Name       // of rows; a name that the store already has changes nothing
	// Asked are queries for names, answered before Names are written. The answers are
	// valid once Update has returned nil.
	Asked []NameAsk
	// Sealed are entries of another journal, which keep their numbers, salts and places. They
	// follow those that are there, and nobody else may write meanwhile.
	Sealed []Entry
	// Late allows the store to delay the batch until the next read or the commit, which
	// then return its error.
	Late bool
}

// An Entry is one line of the journal. The engine fills everything but the number, the place and
// the hashes; it may leave Salt to the store, as tests do.
//
// The store numbers an entry at its commit, and by that number it is called for ever. Numbers may
// have gaps. The entry gets its place when it is sealed, with the next pass of a sealer; places
// have no gaps, and an entry stands after all that its transaction could see. Whoever reads entries
// in order remembers a place, since an entry may become visible after others with higher numbers.
type Entry struct {
	Seq       int64
	Place     int64 // from 1; 0 while it waits to be sealed
	Time      time.Time
	Principal string
	Roles     []string
	Session   string
	Source    string // "year-end.dsl:3"
	Verb      string
	Call      string   // canonical text, sensitive values left out
	Outcome   string   // "ok", "refused", "declined"
	Reason    string   // code of a refusal
	Changes   string   // canonical JSON of the row changes
	Preview   string   // id of the preview agreed to, if any
	Agreed    string   // who agreed, and how
	Palette   string   // digest of the palettes
	Turn      string   // id of the conversation turn that caused the call, if any
	Origins   string   // canonical JSON: the origins of the arguments, if known
	Salt      Salt     // makes guesses at Body impossible; zero of an entry of the older chain
	Body      [32]byte // see Write
	Hash      [32]byte // of its leaf: see LeafHash; of an entry of the older chain, see Chain
	Prev      [32]byte // the hash before, of an entry of the older chain
	Row       []byte   // the row of its leaf in the log, if Log returned it: see package merkle
}

// A Principal is somebody known to the store: a name, a label, roles and the rows that they hold.
type Principal struct {
	Name  string
	Label string
	// Person is the person who owns the login. A person may have several logins; the rule that
	// somebody else must agree compares persons. "" means that the name of the login stands for
	// the person.
	Person string
	Roles  []string
	Holds  map[string][]Value
}

// IsPerson reports whether two principals belong to the same person. Names that differ only in
// case are equal.
func (p *Principal) IsPerson(q *Principal) bool { return p.Whose() == q.Whose() }

// Whose returns the person who owns the principal's login, in lower case.
func (p *Principal) Whose() string {
	if p.Person != "" {
		return strings.ToLower(p.Person)
	}
	return strings.ToLower(p.Name)
}

// A Path leads from a row along references to a field or, if Count is set, to the number of
// rows of Count whose field By refers to the row at its end.
type Path struct {
	Steps []Step
	Field int
	Count *Entity
	By    int
	// Marks asks for the marks of the row at the end of the path instead, for ReadMarks; null if
	// it has none. It is valid in Select only.
	Marks bool
}

// Is reports whether two paths are equal.
func (p Path) Is(q Path) bool {
	return p.Field == q.Field && p.Count == q.Count && p.By == q.By && p.Marks == q.Marks && slices.Equal(p.Steps, q.Steps)
}

// A Find asks for rows of one entity.
type Find struct {
	Entity *Entity
	Select []Path // what to return; nil is every field of the entity, in order
	Where  *Cond  // nil is every row
	Order  []Order
	Limit  int // 0 is the store's cap; more rows than the limit is ErrLimit, never a silent cut
	// Cut asks for the first rows up to the limit, and no error if there are more. It is for
	// reading page by page, with a Where that begins after the last row of the page before: see
	// Behind.
	Cut bool
	// Beyond ignores the scope: the caller must not be told the rows. It holds no locks,
	// and is not valid with Lists or in Together.
	Beyond bool
	// Hold says which rows stay locked until the transaction ends.
	Hold Hold
	// Last says that nothing else will be read in this View: the store may end its snapshot
	// with it, and save a round trip. A later read sees a later snapshot. Within an Update
	// it means nothing.
	Last bool
	// Lists are read with the rows, on the same snapshot.
	Lists []List
	// Unreadable, if it is set, collects the rows found with values that their entity does not
	// allow, rows of Lists too, and Find returns the others. Without it, such a row is an error of
	// that type.
	Unreadable *[]Unreadable
	// Blank returns null for such a value instead, and leaves out only rows whose key is one,
	// without an error: in tables of others, since ours hold such a value only if the palettes are
	// not those of the store. It is for labels and offers, which one value must not take away from everybody.
	Blank bool
}

// An Unreadable is a row with a value that its entity does not allow. It holds the name of the
// field and the reason, and not the value.
type Unreadable struct {
	Entity *Entity // nil for a row of a query
	Key    Value
	Field  string // "bill.total", or a field of a row that it refers to
	Why    string
}

func (u *Unreadable) Error() string { return u.Field + " holds " + u.Why + ": " + ErrInvalid.Error() }

// Unwrap gives ErrInvalid.
func (u *Unreadable) Unwrap() error { return ErrInvalid }

// Tolerant reports whether the Find returns other rows if one cannot be read.
func (f *Find) Tolerant() bool { return f.Unreadable != nil || f.Blank }

// Leave handles a returned row whose value at index at cannot be read. key is the row's key, as
// far as it is known. If blank is true, the value is null; otherwise the row is left out, unless
// there is an error.
func (f *Find) Leave(at int, key Value, err error) (blank bool, _ error) {
	of := f.Entity
	if f.Select != nil {
		for _, s := range f.Select[at].Steps {
			of = s.To
		}
	}
	if f.Blank && !of.Managed && (at != f.KeyAt() || f.Unreadable == nil) {
		return at != f.KeyAt(), nil
	}
	return false, leave(f.Unreadable, f.Entity, f.Select, at, key, err)
}

// Leave handles a related row as Find.Leave does; the Find's Unreadable is into. Its key, if it is
// selected, stands at KeyAt.
func (l *List) Leave(into *[]Unreadable, at int, key Value, err error) error {
	return leave(into, l.Entity, l.Select, at, key, err)
}

func leave(into *[]Unreadable, of *Entity, paths []Path, at int, key Value, err error) error {
	e, field := of, at
	if paths != nil {
		for _, s := range paths[at].Steps {
			e = s.To
		}
		field = paths[at].Field
	}
	u := &Unreadable{of, key, e.Name + "." + e.Fields[field].Name, err.Error()}
	if into == nil {
		return u
	}
	*into = append(*into, *u)
	return nil
}

// Behind returns the condition on the rows that the Find returns after a given row. values are
// that row's values of the order's paths, and then its key.
func (f *Find) Behind(values []Value) Cond {
	any := Cond{Op: Or}
	var alike []Cond
	for i, v := range values {
		o := Order{Path: Path{Field: f.Entity.Key}}
		if i < len(f.Order) {
			o = f.Order[i]
		}
		if !v.IsNull() { // nothing sorts after null but rows with the same value
			next := Cond{Op: Gt, Path: o.Path, Value: v}
			if o.Desc {
				next.Op = Lt
			}
			next = Cond{Op: Or, Kids: []Cond{next, {Op: Eq, Path: o.Path}}}
			any.Kids = append(any.Kids, Cond{Op: And, Kids: append(alike[:len(alike):len(alike)], next)})
		}
		alike = append(alike, Cond{Op: Eq, Path: o.Path, Value: v})
	}
	return any
}

// KeyAt returns the index of the row's key among the values that the Find returns, -1 if it is
// not among them.
func (f *Find) KeyAt() int {
	if f.Select == nil {
		return f.Entity.Key
	}
	return keyAt(f.Entity, f.Select)
}

// KeyAt returns the same for a List.
func (l *List) KeyAt() int { return keyAt(l.Entity, l.Select) }

func keyAt(e *Entity, paths []Path) int {
	return slices.IndexFunc(paths, func(p Path) bool { return p.Is(Path{Field: e.Key}) })
}

// A Hold says which rows a Find within an Update locks. Nobody else can change locked rows before
// the transaction ends, and the Find waits for transactions that are changing them. Others can
// still add rows that the Find would return. On a snapshot, and in a store with one writer, a
// Hold has no effect.
type Hold uint8

// The holds.
const (
	Loose Hold = iota // no locks
	// Shared takes shared locks on the rows found, and on the rows at the ends of paths. If rows
	// that refer to a row are counted, that row is locked as by Get.
	Shared
	// Firm locks the rows found as Get does, for a later change, and the rows at the ends of
	// paths as Shared does.
	Firm
)

// A Cond is a condition on a row. And and Or have Kids; Not has one; True and False have none;
// the rest compare Path with Value, where Null equals only Null, and In takes a JSON list.
// Contains, Starts, Ends and Same compare two texts, and are false for any other kind.
type Cond struct {
	Op    CondOp
	Kids  []Cond
	Path  Path
	Value Value
	// Other, when set, is compared instead of Value.
	Other *Path
	// Lower makes Contains, Starts, Ends and Same compare the text in lower case, as by
	// strings.ToLower. Value is compared as it is.
	Lower bool
}

// CondOp is the operator of a Cond.
type CondOp uint8

// The conditions.
const (
	True CondOp = iota
	False
	And
	Or
	Not
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
	In
	Contains
	Starts
	Ends
	Same
)

// OfText reports whether the text condition holds for text.
func (c *Cond) OfText(text string) bool {
	if c.Lower {
		text = strings.ToLower(text)
	}
	part := c.Value.Text()
	switch c.Op {
	case Contains:
		return strings.Contains(text, part)
	case Starts:
		return strings.HasPrefix(text, part)
	case Ends:
		return strings.HasSuffix(text, part)
	}
	return text == part
}

// Order sorts; nulls come last in either direction. Ties are broken by the key,
// so that every order is total.
type Order struct {
	Path Path
	Desc bool
}

// A SQL is a palette author's own query, prepared by Store.Prepare.
type SQL struct {
	Text    string
	Params  []string // names of :name parameters, in the order of Args
	Args    []Value
	Kinds   []Kind   // the kind of each parameter, so that a null has a type; may be nil
	Columns []Column // the columns of the result, as the palette declares them
	// Sensitive says that some result columns are sensitive. Only then does the query see
	// sensitive columns at all, so that it cannot leak them in any form.
	Sensitive bool
	Limit     int
	// Unreadable, if it is set, collects the rows with values that their columns do not allow, and
	// the others are returned. Without it, such a row is an error.
	Unreadable *[]Unreadable
	// Origins, if it is set, receives the distinct origins with which rows of the query's tables
	// are marked, within the scope. Which of them apply to the query's own values cannot be
	// known.
	Origins *[]string
}

// Reads reports whether a field has a column for the query.
func (q *SQL) Reads(e *Entity, field int) bool {
	if field == e.Key {
		return len(e.Parts) == 0 // a key of several parts has no column
	}
	return q.Sensitive || !e.Fields[field].Sensitive
}

// Leave handles a row whose value in one of the columns cannot be read: it returns nil if the row
// is left out. hint tells the author of the query more.
func (q *SQL) Leave(column int, err error, hint string) error {
	if q.Unreadable != nil {
		*q.Unreadable = append(*q.Unreadable, Unreadable{Field: q.Columns[column].Name, Why: err.Error()})
		return nil
	}
	return &SQLError{Offset: 0, Msg: fmt.Sprintf("column %s holds %v%s", q.Columns[column].Name, err, hint)}
}

// Unread says that the query cannot read a column because it is sensitive; it returns "" for
// other columns.
func (q *SQL) Unread(tables []*Entity, column string) (why string) {
	for _, e := range tables {
		for i := range e.Fields {
			if strings.EqualFold(e.Fields[i].Column, column) && !q.Reads(e, i) && e.Fields[i].Sensitive {
				return "; " + column + " is sensitive, and a query may read it that says which of its columns is: {NAME: sensitive TYPE}"
			}
		}
	}
	return ""
}

// A Column names and types one column of a SQL.
type Column struct {
	Name     string
	Kind     Kind      // the kind of the values that the query returns
	Spelling *Spelling // how to decode them; nil leaves them as they are
}

// A Store keeps rows. It is safe for use by many goroutines.
type Store interface {
	// Migrate plans the statements that the entities need, and with apply runs them in one
	// transaction. Managed tables are created and only ever extended; mapped tables are
	// verified. Every problem is reported at once. tell sees the plan first: the entries
	// that it returns are journalled with the plan, and its error stops Migrate.
	Migrate(ctx context.Context, entities []*Entity, apply bool, tell ...func(*Plan) ([]Entry, error)) (Plan, error)
	// Rehearse says what Migrate would do, and what would be wrong afterwards: with each
	// query, as an error of CheckSQL, and with the rights of the store's role, if another
	// role migrates. It changes nothing: its statements are rolled back.
	Rehearse(ctx context.Context, entities []*Entity, queries []SQL) (Plan, []error, error)
	// CheckSQL refuses a query that could do anything but read the declared
	// entities' rows inside a scope, without running it.
	CheckSQL(ctx context.Context, entities []*Entity, q SQL) error
	// View runs fn on one consistent snapshot, within the scope. The snapshot is taken at the
	// first read at the latest. If a read replica goes away, fn runs once more, on a new
	// snapshot, and must set all its results anew.
	View(ctx context.Context, scope Scope, fn func(Reader) error) error
	// Update runs fn in one read-write transaction within the scope and
	// commits it if fn returns nil. It does not retry.
	Update(ctx context.Context, scope Scope, fn func(Tx) error) error
	// Full reports whether an Update has failed with ErrFull since the last Update that added to
	// the journal.
	Full() bool
	// Identity tells which store this is. It returns ErrSchema before Migrate has run.
	Identity(ctx context.Context) (Identity, error)
	// Settle notes that what a restore brought back has been dealt with: from now on Identity says
	// that the store was not restored. A store that does not tell does nothing.
	Settle(ctx context.Context) error
	// Head returns the place of the last sealed entry, and the root of the log that ends with it.
	// If nothing was sealed since a chain was migrated, they are the number and hash of the
	// chain's last entry. Both are zero for a journal without any.
	Head(ctx context.Context) (int64, [32]byte, error)
	Log
	// Principal returns a principal, or ErrNotFound.
	Principal(ctx context.Context, name string) (Principal, error)
	// Principals returns the names of all principals, in order.
	Principals(ctx context.Context) ([]string, error)
	// SetPrincipal adds or replaces a principal. Holds must be keys of kind Int, String or
	// UUID. Roles and entities may be any words: engine.SetPrincipal compares them with palettes.
	SetPrincipal(ctx context.Context, p Principal) error
	// Journal returns entries with Seq in [from, to], ascending by number, at most EntriesAtOnce of
	// them; to == 0 is the end. Entries that wait to be sealed are among them.
	Journal(ctx context.Context, from, to int64) ([]Entry, error)
	Queue
	Searcher
	Close() error
}

// EntriesAtOnce is how many entries Store.Journal returns at most. Numbers have gaps of any length, so
// numbers alone bound nothing.
const EntriesAtOnce = 500

// A Log is the sealed log of a store: an append-only Merkle tree whose leaves are entries.
type Log interface {
	// Seal gives a place to every entry that was committed before. A store does so by itself:
	// with the commit, or within a second of it while a process that writes to it is at work.
	Seal(ctx context.Context) error
	// Placed returns sealed entries with Place in [from, to], ascending by place; to == 0 is the
	// end. If an entry is missing that has a leaf, Placed returns those before it, or a
	// *ChainError if there are none.
	Placed(ctx context.Context, from, to int64) ([]Entry, error)
	// Roots returns the roots of the log with sizes from a number of leaves on, ascending, at
	// most a thousand.
	Roots(ctx context.Context, from int64) ([]Root, error)
	// Leaves returns the rows of the leaves with these numbers, from 0. The first is not that of
	// an entry: see LeafData.
	Leaves(ctx context.Context, numbers []int64) (map[int64]Leaf, error)
	// Unsealed says which entries have no place yet.
	Unsealed(ctx context.Context) (Unsealed, error)
}

// A Root is the hash of a log of a size.
type Root struct {
	Size int64 // leaves
	Hash [32]byte
}

// A Leaf is one leaf of a log.
type Leaf struct {
	Seq int64  // the number of its entry
	Row []byte // its hash, and those of the subtrees that it completes: see package merkle
}

// Unsealed are the entries without a place.
type Unsealed struct {
	Waiting int64   // how many are to be sealed next
	Stray   []int64 // numbers of some that are not, because nothing says so any more: they were written by other means
}

// A Reader reads within one scope, on one snapshot.
type Reader interface {
	// Get reads one row. Within an Update it locks the row: see Hold.
	Get(ctx context.Context, e *Entity, key Value) (Row, error)
	// Rows is Get for several keys: it returns those rows that exist, each once, in the
	// order of their keys.
	Rows(ctx context.Context, e *Entity, keys []Value) ([]Row, error)
	Find(ctx context.Context, f Find) ([][]Value, error)
	// Together makes several calls of Rows and Find, in order and in one round trip. If one
	// fails, all have failed.
	Together(ctx context.Context, asks []Ask) error
	// Jobs lists the jobs of all principals, in the order in which they fall due. Jobs have
	// no scope: the caller decides who may know of them.
	Jobs(ctx context.Context, f JobFilter) ([]JobRecord, error)
	// Names finds names, in the order of their rows' keys. Names have no scope: the caller
	// reads the rows before it passes them on.
	Names(ctx context.Context, q NameQuery) ([]Name, error)
	// Match searches rows by their texts, the best first, up to its limit, and says whether
	// there are more. Within an Update it finds rows of that transaction too. It returns
	// ErrSchema if the index is of another version, or of other fields: Migrate rebuilds it.
	Match(ctx context.Context, m Match) (found []search.Found, more bool, err error)
	// SQL runs a query that CheckSQL accepts. It may name the given entities as relations.
	SQL(ctx context.Context, entities []*Entity, q SQL) ([][]Value, error)
}

// A Tx reads its own writes and commits them with its entries.
type Tx interface {
	Reader
	// Apply carries out a batch. It may be called more than once in a transaction. Once it
	// has failed, the transaction cannot commit any more, whatever fn returns.
	Apply(ctx context.Context, b Batch) error
	// Draw returns the value that the database gives a drawn field of a new row: the next
	// of a sequence, or its default. A drawn value is not given out again.
	Draw(ctx context.Context, e *Entity, field int) (Value, error)
	// Rewrites reports whether the database may keep something else of a row than what is written:
	// the table is not ours, and has triggers. PostgreSQL knows of a trigger that is added later
	// once the store is opened again.
	Rewrites(ctx context.Context, e *Entity) (bool, error)
	// Numbered returns the entries of all batches with their numbers, which are consecutive. They
	// get these in the last statement before the commit: Numbered returns nothing before Update
	// has returned nil.
	Numbered() []Entry
	// Discard makes Update roll the transaction back, and return nil, once fn has returned
	// nil.
	Discard()
}

// An Ask is one of several reads that are made together: Find or Jobs if one of them is set, and
// otherwise the rows of Keys.
type Ask struct {
	Find *Find // with Lists on a snapshot only, and with Last only in the last Ask
	Jobs *JobFilter

	Entity *Entity
	Keys   []Value

	Found  [][]Value   // the result of Find
	Listed []JobRecord // the result of Reader.Jobs
	Rows   []Row       // the result of Reader.Rows for Keys
}

// OneByOne makes the reads of several asks one after another, for a store that gains nothing from
// one round trip.
func OneByOne(ctx context.Context, r Reader, asks []Ask) (err error) {
	for i := range asks {
		switch a := &asks[i]; {
		case a.Find != nil:
			a.Found, err = r.Find(ctx, *a.Find)
		case a.Jobs != nil:
			a.Listed, err = r.Jobs(ctx, *a.Jobs)
		default:
			a.Rows, err = r.Rows(ctx, a.Entity, a.Keys)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A Plan lists what Migrate would do, or did.
type Plan struct {
	Steps    []string // statements, in order
	Problems []string // obstacles: Migrate does nothing while there is one
	Lacks    []string // statements that give the role rights which verbs need, for owners of tables to run
	Warnings []string // what makes it slow, or what could not be checked
	// DataChanges are the changes that Steps make to existing rows. A person agrees to them, and
	// they are journalled.
	DataChanges []DataChange
	// Undeclared lists table columns for which no entity has a field, and Views the entities that
	// are views. Only Rehearse sets them.
	Undeclared []string
	Views      []*Entity
	// Costs say what Steps lock of the tables that are there, and how long that takes. Only Rehearse
	// sets them. On SQLite there is one, without a table, since a file is locked whole.
	Costs []Cost
}

// A Cost is what the steps of a plan come to for one table.
type Cost struct {
	Table string
	Lock  string // the strongest of them, by the database's name for it
	Rows  int64  // of the table, about
	Steps int
	Reads bool // a step goes through its rows
	// Took is how long the steps that go through rows take: those of Sample rows, times Rows by Sample. It is
	// 0 where Sample is. Untimed counts those that could not be tried.
	Took    time.Duration
	Sample  int64
	Untimed int
}

// Spoken returns the entities that queries may use: those of palettes, without the engine's own.
func Spoken(entities []*Entity) []*Entity {
	return slices.DeleteFunc(slices.Clone(entities), func(e *Entity) bool { return strings.HasPrefix(e.Table, "verbatim.") })
}

// OfNoField is the message that an entity has no field for a column. must says that a new row
// needs a value in the column.
func OfNoField(e *Entity, column, table string, must bool) string {
	s := fmt.Sprintf("%s: entity %s: column %s of table %s is that of no field", e.Place, e.Name, column, table)
	if must && e.Added {
		s += ", and it takes no null: verbs can add rows only where a trigger fills it"
	}
	return s
}

// A DataChange is one change that a Plan makes to existing rows.
type DataChange struct {
	Kind   DataChangeKind
	Entity string
	Field  string // "" for an entity
	From   string // the former name of the entity, field or code
	To     string // its present name, or the value that rows get
	Rows   int64
}

// Filled returns the data change by which rows get the default of a new field.
func Filled(e *Entity, f *Field, rows int64) DataChange {
	d := DataChange{Kind: Backfill, Entity: e.Name, Field: f.Name, Rows: rows}
	if !f.Sensitive && !f.Personal {
		d.To = f.Default.Text()
	}
	return d
}

// A DataChangeKind says what a DataChange does.
type DataChangeKind string

// The kinds of data changes.
const (
	RenameEntity DataChangeKind = "rename-entity" // and its table, if that is managed
	RenameField  DataChangeKind = "rename-field"  // and its column
	RenameCode   DataChangeKind = "rename-code"   // in a column
	Backfill     DataChangeKind = "backfill"      // the default of a new field
	CutJournal   DataChangeKind = "cut-journal"   // the journal continues in another part
)
