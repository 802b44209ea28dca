// Package verbs defines which calls are valid. A palette, one YAML file for a domain, declares
// entities, codes, roles and verbs; package load reads a directory of them into a Registry, whole or
// not at all; and only Check turns a Script into a Program.
package verbs

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs/message"
	"verbatim/verbs/naming"
)

// A Registry is a set of palettes that agree with one another. It is
// immutable and may be shared.
type Registry struct {
	palettes  []*Palette
	says      map[Saying]string
	verbs     map[string]*Verb
	sorted    []*Verb // by name
	entities  map[string]*Entity
	codes     map[string]*CodeList
	roles     map[string]*Role
	functions []*Function     // by name
	sensitive map[string]bool // names of sensitive arguments of any verb
	open      map[string]bool // names of arguments of any verb that are not sensitive
	digest    string          // of everything that was read
	excludes  bool            // some verb excludes another

	// By their former names.
	wasEntities map[string]*Entity
	wasRoles    map[string]*Role
}

// A Palette is one file.
type Palette struct {
	Domain      string
	Description string
	Source      *dsl.Source
	Verbs       []*Verb
	// Conversation says how a model talks about the domain; nil if the palette does not say.
	Conversation *Conversation
	Pages        []*Page
	Plans        bool       // the palette has the verbs of plans beside its own
	Task         *Task      // how verbs form a task for other programs; nil if none do
	Sidecars     []*Sidecar // one for each other language that it speaks
}

// A Conversation is a palette's declaration of how to talk about its domain.
type Conversation struct {
	Context []*Verb  // reads whose results a model gets at the start of a turn
	Conduct []string // rules that it is given
	// PlanFirst makes a model write all calls of a turn before it sees anything that came from a
	// document or a tool.
	PlanFirst bool
	// Phrased lets a model add sentences of its own to the facts, each about rows that it cites.
	Phrased   bool
	Answering *Answering // nil if no questions are asked one by one
	// Otherwise names the verb that receives a message that means no other verb; its While, Yes
	// and No are empty. Nil if there is none.
	Otherwise *Answering
	Person    *Verb     // the verb by which a user asks for a person; nil if there is none
	Sources   []*Entity // entities whose rows are linked below the facts that cite them
	Channels  []string  // of Channels, by which users may write besides pages
	Place     dsl.Place
}

// Answering says which call a message becomes while the user is answering a question, if no model
// reads the message.
type Answering struct {
	While   string // the session value that is set while it holds
	Verb    *Verb
	Param   int    // the argument that holds the message
	Yes, No string // the calls that a plain yes and a plain no become, or ""
}

// A Role is a role of principals.
type Role struct {
	Name        string
	Description string
	SeesAll     bool   // sees the rows of every scope
	Keeps       bool   // looks after the journal, and may erase from it
	Was         string // former name, "" if it always had its name
	Place       dsl.Place
}

// A CodeList is a closed list of codes.
type CodeList struct {
	Name        string
	Description string
	Codes       []Code
	// Spelling says how columns store the codes; nil if they store their names.
	Spelling *stores.Spelling
	Place    dsl.Place

	index map[string]int // made by New
}

// Covers reports whether a list holds every code of another.
func (l *CodeList) Covers(other *CodeList) bool {
	for i := range other.Codes {
		if !slices.ContainsFunc(l.Codes, func(c Code) bool { return c.Name == other.Codes[i].Name }) {
			return false
		}
	}
	return len(other.Codes) > 0
}

// A Code is one member of a list.
type Code struct {
	Name        string
	Description string
	Value       stores.Value // what columns store for it; null if they store its name
	Label       string       // what people call it; "" if the palette does not say
	Was         string       // former name, "" if it always had its name
	// To lists the codes to which a field with this code may change. It counts if any code of the
	// list has one: see CodeList.Steps.
	To []string
	// Else is the message for a caller who tries to change a field from this code to one that may
	// not follow; "" uses the engine's message.
	Else string
	// Schema is the schema of the objects that belong to the code; nil if the palette names none.
	Schema *Schema
}

// Steps reports whether the list declares which code may follow which, and if so, whether to may
// follow from.
func (l *CodeList) Steps(from, to string) (declared, may bool) {
	for i := range l.Codes {
		c := &l.Codes[i]
		declared = declared || len(c.To) > 0
		if c.Name == from && slices.Contains(c.To, to) {
			may = true
		}
	}
	return declared, may
}

// Ends reports whether a field with the code can no longer change: the list declares which code
// may follow which, and none follows this one.
func (l *CodeList) Ends(code string) bool {
	declared, ends := false, false
	for i := range l.Codes {
		c := &l.Codes[i]
		declared = declared || len(c.To) > 0
		ends = ends || c.Name == code && len(c.To) == 0
	}
	return declared && ends
}

// Ended reports whether a row is finished: it has a code that can no longer change, from a list
// whose codes can.
func (e *Entity) Ended(row []stores.Value) bool {
	for i := range e.Fields {
		if t := e.Fields[i].Type; t != nil && t.Name == CodeType && t.Codes != nil && i < len(row) && t.Codes.Ends(row[i].Text()) {
			return true
		}
	}
	return false
}

// MayEnd reports whether rows of the entity can be Ended.
func (e *Entity) MayEnd() bool {
	for i := range e.Fields {
		if t := e.Fields[i].Type; t != nil && t.Name == CodeType && t.Codes != nil {
			for j := range t.Codes.Codes {
				if t.Codes.Ends(t.Codes.Codes[j].Name) {
					return true
				}
			}
		}
	}
	return false
}

// Else returns the message for a change from a code to one that may not follow, "" if the palette
// has none.
func (l *CodeList) Else(from string) string {
	for i := range l.Codes {
		if l.Codes[i].Name == from {
			return l.Codes[i].Else
		}
	}
	return ""
}

// Schema returns the schema of the objects that belong to a code.
func (l *CodeList) Schema(code string) *Schema {
	for i := range l.Codes {
		if l.Codes[i].Name == code {
			return l.Codes[i].Schema
		}
	}
	return nil
}

// An Entity is a palette's declaration of a kind of row, beyond how it is stored.
type Entity struct {
	Store       *stores.Entity
	Description string
	Fields      []Field // parallel to Store.Fields
	Label       Template
	Progress    *Progress // how far a row is; nil if the palette does not say
	// ReadOnly says that no effect may change its rows.
	ReadOnly bool
	// Given holds, parallel to Store.Given, the messages for a change that would break one of the
	// constraints.
	Given []GivenRule
	// Twice is the message for adding a row whose unique values another row has; "" uses the
	// engine's message.
	Twice string
	// Refuses holds what is told when the database refuses a change of a row, by the name of a
	// constraint or the code of the database's error. {text} stands for the database's own words.
	Refuses map[string]string
	Place   dsl.Place
}

// A Field is a palette's declaration of a field, beyond how it is stored.
type Field struct {
	Description string
	Type        *Type
	// WrittenBy lists the roles that write its text: for everybody else the text is of untrusted
	// origin. It is empty if the palette does not say.
	WrittenBy []*Role
	Place     dsl.Place
}

// A Template is text with paths in it: "{workstream.entity.name} {subtype}". Text[i] precedes
// Paths[i]; Text has one part more than Paths.
type Template struct {
	Text  []string
	Paths []stores.Path
}

// A Verb is a declared verb.
type Verb struct {
	Name         string // "client.add-note"
	Description  string
	Roles        []*Role             // who may use it; empty means nobody
	Phrases      []string            // what people say to mean it, in English
	PhrasesIn    map[string][]string // the same in other languages: "de", "fr", "es"
	PhrasePlaces []dsl.Related       // places of the phrases
	Tells        Tells               // how the result is told to a person
	Params       []Param
	Returns      Returns
	Effects      []Effect
	Totals       []*Total
	Looks        []*Entity   // entities whose rows a Go function looks at, even rows that the caller does not see
	Discloses    []Disclosed // values about rows that callers do not see, which callers are told
	Requires     []Require
	Limits       []Limit
	Excludes     []Exclusion
	Confirm      []Confirm
	Deprecated   *Deprecation
	Place        dsl.Place
	// Broader and Simpler are the calls that a plan tries instead if the answer of a verb that
	// only reads is doubtful: one that asks for more, and one that asks for less. Their names are
	// the arguments. Nil if there are none.
	Broader, Simpler *Macro

	// Undo says how a call is undone; nil if the palette does not say.
	Undo *Undo
	// Undoes is the verb whose calls this verb undoes. No palette declares such a verb; it is
	// found by its name, and not listed. Nil for all others.
	Undoes *Verb

	// How it is carried out: by one of these, or, if all are nil, by its effects alone or by a
	// handler.
	Read  *Read
	Query *Query
	Macro *Macro
	Tool  *Tool
	// Handler says that at least one promise can be kept only by a Go
	// function, because an effect is prose or the palette says `handler: true`.
	Handler bool
	// Matching is the text that the rows of a read should fit, the best first, at most Read.Limit
	// of them; or the text that a handler looks for. Nil if there is none.
	Matching *Expr
	// Internal says that only scheduled work may call it: see Registry.CheckWork.
	Internal bool

	plan plan // made by New
}

// A Param is one declared argument.
type Param struct {
	Name        string // "expected-date"
	Ident       string // "expected_date", as expressions call it
	Description string
	Asks        Wordings // the question that asks for it if it is missing
	Type        *Type
	Required    bool
	Default     stores.Value // Null when there is none
	DefaultDay  *Day         // of dates: a default that depends on the current date; then Default is null
	// Active says that, if it is left out, a reference means the session's active row: see
	// SessionActive. The engine finds the row, or refuses the call.
	Active bool
	// Clear says that nil as its value empties the field that it sets. Without it, nil is the
	// same as leaving the argument out, which changes nothing.
	Clear     bool
	Sensitive bool
	Partly    bool    // it is sensitive only because some fields of its record are
	Personal  bool    // personal data, which can be erased from the journal
	From      Origins // where a value may come from; zero is anywhere
	// Otherwise is the confirmation rule for a value from elsewhere; nil refuses such a value.
	Otherwise *Confirm
	Examples  []string
	// FollowUps says that an object is accepted without the keys that the schema of its code
	// requires only under a condition: see Schema.FollowUps.
	FollowUps bool
	// Open says that stored calls may use unknown names: they belong to other calls that are
	// stored beside these.
	Open   bool
	Upload *Upload // which files it takes; nil if it takes no file
	Place  dsl.Place

	// CodeParam is one more than the index of the code argument whose schema this one must satisfy,
	// and ByCode the list of that argument; 0 and nil if there is none.
	CodeParam int
	ByCode    *CodeList

	HasDefault bool // it has a default, even one with an error
}

// Sure reports whether the argument has a value in every call that is carried out: it is
// required, or has a default of some kind.
func (p *Param) Sure() bool {
	return p.Required || p.Active || !p.Default.IsNull() || p.DefaultDay != nil || p.HasDefault
}

// SchemaOf returns the index of the code argument that selects the schema of this object.
func (p *Param) SchemaOf() (param int, ok bool) { return p.CodeParam - 1, p.CodeParam > 0 }

// Origins is a set of origins of values.
type Origins uint8

// The origins, least trusted last.
const (
	FromScript Origins = 1 << iota
	FromPerson
	FromRecord
	FromModel
	FromTool
	FromDocument
)

// TypeName names a type of argument or field.
type TypeName uint8

// The types.
const (
	AnyType TypeName = iota
	StringType
	IntegerType
	DecimalType
	BooleanType
	DateType
	DateTimeType
	DurationType
	UUIDType
	CodeType
	RefType
	EmailType
	PhoneType
	IBANType
	BICType
	LEIType
	NationalIDType
	MoneyType
	ObjectType
	ListType
	RecordType
	CallType // calls that are stored, and not made: see check_kept.go
)

// Ruled reports whether values of the type are texts with a rule of their own, which is in
// verbs/values: an address, a number of an account, a company or a person.
func (n TypeName) Ruled() bool { return n >= EmailType && n <= NationalIDType }

// A Type is a type with its limits. Nil pointers and zero values mean that a limit is not set.
type Type struct {
	Name       TypeName
	MinLength  int // of strings, in code points; of lists, in items
	MaxLength  int
	Pattern    *regexp.Regexp // RE2, anchored at both ends
	Min, Max   stores.Value   // of integers, decimals, dates
	MinDay     *Day           // of dates: the least, if it depends on the current date; then Min is null
	MaxDay     *Day           // of dates: the greatest, likewise
	Scale      int            // decimals: digits after the point; -1 is any
	Codes      *CodeList      // of a code; nil is any code
	Entity     *Entity        // of a ref; nil is any entity
	Item       *Type          // of a list
	Fields     []Param        // of a record; a name, a type and further declarations
	Schema     *Schema        // of an object; nil is any object
	Currencies []string       // of money; nil is any ISO 4217 code
	Country    string         // of a phone or a national-id: whose numbers they are; "" if that is not fixed
	CountryOf  string         // the argument or field beside it that holds the country, by its Ident
}

// Record returns the type of a record, or of the records in a list; nil if t is neither.
func (t *Type) Record() *Type {
	for t != nil && t.Name == ListType {
		t = t.Item
	}
	if t == nil || t.Name != RecordType {
		return nil
	}
	return t
}

// SensitivePart reports whether a part of a record argument is sensitive; parts are numbered from
// 1. Number 0 is the whole value.
func (p *Param) SensitivePart(part int) bool {
	return p.Sensitive && (part == 0 || !p.Partly || p.Type.Record().Fields[part-1].Sensitive)
}

// AnyField reports whether holds is true of a field of the record, or of the records in a list.
func (t *Type) AnyField(holds func(p *Param) bool) bool {
	rec := t.Record()
	if rec == nil {
		return false
	}
	for i := range rec.Fields {
		if holds(&rec.Fields[i]) {
			return true
		}
	}
	return false
}

// FieldIndex returns the index of the field of a record with this name, -1 if there is none.
func (t *Type) FieldIndex(name string) int {
	return slices.IndexFunc(t.Fields, func(p Param) bool { return naming.Same(p.Name, name) })
}

// Field returns the type of the field of a record with this name; nil if there is none, or t is
// no record.
func (t *Type) Field(name string) *Type {
	if t == nil || t.Name != RecordType {
		return nil
	}
	if i := t.FieldIndex(name); i >= 0 {
		return t.Fields[i].Type
	}
	return nil
}

// PartOf returns the type of part i of an argument of kind Listed or Mapped, as far as t
// determines it.
func (t *Type) PartOf(a *Arg, i int) *Type {
	switch {
	case t == nil:
	case t.Name == ListType:
		return t.Item
	case t.Name == RecordType && a.Kind == Mapped:
		return t.Field(a.Syntax.Entries()[i].Key)
	}
	return nil
}

// NeedsRecord reports whether a verb requires a record, which only a script or a model can write:
// no form asks for one, and none is read from a sentence.
func (v *Verb) NeedsRecord() bool {
	for i := range v.Params {
		if p := &v.Params[i]; p.Required && p.Type.Record() != nil {
			return true
		}
	}
	return false
}

// Returns declares the results of a verb.
type Returns struct {
	Type     string
	Includes []string
	// Shows lists results that the caller is told in a conversation even if they are sensitive,
	// because they are the caller's own.
	Shows []string
}

// A Deprecation says why a verb should not be used any more, and what replaces it.
type Deprecation struct {
	Reason     string
	ReplacedBy string            // replacing verb, or ""
	Args       map[string]string // renamed arguments, from old to new
}

// EffectKind is what an effect does. Any may be promised conditionally (May).
type EffectKind uint8

// The kinds of effect.
const (
	Creates EffectKind = iota
	Updates
	Deletes
	Triggers
	Notifies
	Sets
	Stores
	Validates
	Attaches
	ReturnsEffect
	Generates
	IfTrue
	IfFalse
)

// An Effect is one promise of a verb: a change, a job, a notice or a session value.
type Effect struct {
	Kind    EffectKind
	May     bool
	Operand Operand
	Entity  *Entity // of creates, updates, deletes; nil when none is declared under that name
	Fields  []int   // of updates: the fields that may change; nil with Entity set means any declared by Set, or any at all when there is no Set
	Where   *Where  // which rows; nil for creates
	Each    *Each   // the rows or items that it runs over; nil runs once
	As      string  // of creates: what later effects call the new row
	// Upsert marks both halves of an upsert: an updates effect on the row that Where finds
	// by its fields, and the creates effect behind it, which is used if there is no such row.
	Upsert bool
	When   *Expr // nil is always
	Set    []Set
	With   []With // of triggers and notifies: what goes along
	// Run, of triggers, is the call of another verb that the job makes, with arguments
	// of this one; nil where another system does the work. At is when the job begins: a
	// date, which means the start of that day, or an instant; nil is at once.
	Run *Macro
	At  *Expr
	// Session, of sets, is the name of a session value. Value is the value, nil where a
	// handler gives it. Of is its type, nil where it is not known.
	Session string
	Value   *Expr
	Of      *Type
	// Unless is evaluated when a job's time has come: if it holds, the job is skipped.
	Unless *Expr
	// Key lists the arguments that form the correlation key of the job; none where the
	// palette names none. Again says what happens to a job whose key another one has.
	Key   []int
	Again Again
	// Retry is how often the job of a trigger is tried; nil is the default.
	Retry *stores.Retry
	// Declared reports that the engine can perform it; otherwise a handler
	// must.
	Declared bool
	Place    dsl.Place
}

// Again says what happens to a job if a waiting job has the same correlation key.
type Again uint8

// The values of Again.
const (
	Replace Again = iota // it replaces the waiting job
	Refuse               // the call is refused
	Keep                 // the waiting job stays, and this one is dropped
)

// Shared reports whether the correlation key of a trigger is the same for everybody: it is if it
// includes a row, since everybody who uses it can see that row.
func (e *Effect) Shared(v *Verb) bool {
	for _, i := range e.Key {
		if t := v.Params[i].Type; t != nil && t.Name == RefType {
			return true
		}
	}
	return false
}

// An Operand is the text of an effect with the parts that the operand grammar found in it.
type Operand struct {
	Text         string
	Path         []string // "outstanding-request.client_notes" → 2 parts
	Value        string   // after "=", as written
	Alternatives []string // "a OR b OR c"
	Note         string   // in parentheses
	Prose        bool     // it is a sentence: only a handler can keep it
}

// A Where picks rows: the row that a reference argument names, the rows that a list of references
// names, the rows for which an expression over `row` holds, or the one row that has some values.
type Where struct {
	Param  int  // index in Params, or -1
	List   bool // the argument is a list
	Filter *Filter
	By     []Set
}

// One returns the argument that names the only row that can be picked.
func (w *Where) One() (param int, ok bool) {
	return w.Param, w.Filter == nil && !w.List && w.By == nil
}

// An Each says what an effect runs over: the rows that Where picks, the items of a list
// argument, or the rows of the tool's answer. Expressions call the current one `each`.
type Each struct {
	Entity *Entity // nil for items
	Answer bool    // the rows of the tool's answer
	Where  *Where
	Order  []stores.Order // of rows that an expression picks; ties are ordered by key
	Param  int            // the list, for items
	Place  dsl.Place
}

// Line describes the rows or items, on one line.
func (e *Each) Line(v *Verb) string {
	if e.Answer {
		return "row of the tool's answer"
	}
	if e.Entity == nil {
		return "item of :" + v.Params[e.Param].Name
	}
	return e.Where.line(e.Entity.Store.Name, v)
}

// line describes which of the rows called what are picked, on one line.
func (w *Where) line(what string, v *Verb) string {
	switch {
	case w.Filter != nil:
		return what + " where " + w.Filter.Line()
	case w.By != nil:
		return what + " found by its values"
	}
	return what + " that :" + v.Params[w.Param].Name + " names"
}

// A GivenRule is the message for a broken constraint of an entity, and its place.
type GivenRule struct {
	Else  string
	Place dsl.Place
}

// A Set gives a field a value.
type Set struct {
	Field int // in Entity.Store.Fields
	Value *Expr
	Place dsl.Place
}

// A With is one value that is sent with a notice or a job.
type With struct {
	Key   string
	Value *Expr
	Of    *Entity // entity of the row that it names; nil if it names none
}

// A Require is a precondition. A call is refused if it does not hold, or cannot be evaluated.
type Require struct {
	That  *Expr  // over arguments and the rows that they name; nil if Rows is set
	Rows  *Total // true or false
	Else  string // the message for the caller
	Place dsl.Place
}

// A Total is a value computed from several rows: their number, the sum, the least or the greatest
// of one of their fields, or whether there are some, or none, or That holds for all. The rows are
// those that a list of references names, or those that a filter picks and that belong to the row
// of an argument or are in such a list: they are locked, so the total cannot change before the
// call is committed.
type Total struct {
	Name   string
	Kind   TotalKind
	Entity *Entity
	Field  int // of sums, minima and maxima
	Where  *Where
	That   *Filter // of AllTotal
	By     int     // of a filter: the field by which the rows belong to the row of an argument; -1 if they are in a list argument, all of whose rows are locked
	Type   *Type
	Beyond bool // it includes rows that the caller does not see, and only Discloses may reveal its value
	Scale  int  // of AverageTotal: digits after the point
	Place  dsl.Place
}

// TotalKind is the kind of a total.
type TotalKind uint8

// The totals. Without rows, a count and a sum are 0, and the others are absent.
const (
	CountTotal TotalKind = iota
	SumTotal
	MinTotal
	MaxTotal
	SomeTotal    // there is at least one row
	NoneTotal    // there is no row
	AllTotal     // That holds for every row
	AverageTotal // of the values that are not absent; only in reads
)

// TotalWords are the words of palettes for the kinds of totals.
var TotalWords = [...]string{CountTotal: "count", SumTotal: "sum", MinTotal: "min", MaxTotal: "max", SomeTotal: "some", NoneTotal: "none", AllTotal: "all", AverageTotal: "average"}

// OfField reports whether a total is computed from a field of the rows, and not from the rows
// alone.
func (k TotalKind) OfField() bool { return k >= SumTotal && k <= MaxTotal || k == AverageTotal }

// Asks reports whether a total is true or false.
func (k TotalKind) Asks() bool { return k >= SomeTotal && k <= AllTotal }

// String returns the word that palettes use.
func (k TotalKind) String() string { return TotalWords[k] }

// Fits reports whether the total can be computed from values of a type.
func (k TotalKind) Fits(t TypeName) bool {
	return k.OfField() && (t == IntegerType || t == DecimalType) || (k == MinTotal || k == MaxTotal) && (t == DateType || t == DateTimeType)
}

// Line is the total as the palette words it.
func (t *Total) Line(v *Verb) string {
	what := t.Entity.Store.Name
	if t.Kind.OfField() {
		what += "." + t.Entity.Store.Fields[t.Field].Name
	}
	line := TotalWords[t.Kind] + " of " + t.Where.line(what, v)
	switch t.Kind {
	case SomeTotal:
		line = "some " + t.Where.line(what, v)
	case NoneTotal:
		line = "no " + t.Where.line(what, v)
	case AllTotal:
		line = "each " + t.Where.line(what, v) + ": " + t.That.Line()
	}
	if t.Beyond {
		line += ", also where the caller does not see it"
	}
	return line
}

// A Disclosed is a value that is derived from rows outside the caller's scope, and that the
// palette reveals to the caller: true or false, a code of a list, or a number between limits.
// Totals that look Beyond, and Looks, are revealed in no other way.
type Disclosed struct {
	Name string
	Type *Type
	Is   *Expr // nil if the Go function that looks gives the value
	// Withheld says that the caller is not told the value. It may be of any type, and may only be
	// stored in sensitive fields.
	Withheld bool
	// Fresh says that the value is random, 130 bits, and new for each call.
	Fresh bool
	// SealedFor is the argument with the public key for which the value is encrypted, -1 if it is
	// not encrypted. Bound are the arguments to which the encryption is bound.
	SealedFor int
	Bound     []int
	Place     dsl.Place
}

// Line describes on one line what is disclosed.
func (x *Disclosed) Line(v *Verb) string {
	switch line := x.Name + ", " + x.Type.Phrase(); {
	case x.Withheld:
		return x.Name + ", which no caller is told"
	case x.SealedFor >= 0:
		return x.Name + ", sealed for :" + v.Params[x.SealedFor].Name
	case x.Fresh:
		return x.Name + ", made up for each call"
	case x.Is == nil:
		return line
	default:
		return line + ": " + x.Is.Line()
	}
}

// Tells reports whether callers are told the value.
func (x *Disclosed) Tells() bool { return !x.Withheld }

// An Exclusion says that a verb and another must not be used in the same script.
type Exclusion struct {
	Verb *Verb
	// Param, and Other of the other verb, are the arguments that must be equal for the two to
	// exclude one another; -1 if they always do.
	Param, Other int
	Before       bool // only a call of the other verb before this one is excluded
	Else         string
	Place        dsl.Place
}

// Line describes the exclusion on one line.
func (x *Exclusion) Line(v *Verb) string {
	line := x.Verb.Name
	if x.Before {
		line += " before it"
	}
	if x.Param >= 0 {
		line += " of the same :" + v.Params[x.Param].Name
	}
	return line + " (otherwise: " + OneLine(x.Else) + ")"
}

// A Limit says how often a verb may be used: so many times within so many seconds.
type Limit struct {
	AtMost   int
	Within   int64
	Everyone bool // all uses count, and not only those by the caller
	Refused  bool // refused calls count too
	Else     string
	Place    dsl.Place
}

// Line describes the limit on one line.
func (l *Limit) Line() string {
	whose := "for each caller"
	if l.Everyone {
		whose = "for all callers together"
	}
	line := message.Count(l.AtMost, "use") + " within " + message.Lasting(l.Within) + ", " + whose
	if l.Refused {
		line += "; a refused call counts"
	}
	return line
}

// A Confirm is one confirmation rule. Rules add up; none cancels another.
type Confirm struct {
	Always  bool
	When    *Expr
	By      *Role // somebody else with this role; nil is the person asking
	Expires int64 // seconds; 0 is the default
	// SignedIn is the greatest permitted age, in seconds, of the sign-in of the person who
	// agrees; 0 is any age.
	SignedIn int64
	Programs bool // the agreement of By may come from a program with a token
	Reason   string
	Place    dsl.Place
}

// DefaultExpiry is how long an agreement is valid if its rule does not say.
const DefaultExpiry = 24 * time.Hour

// Lasts returns how long an agreement under this rule is valid.
func (c *Confirm) Lasts() time.Duration {
	if c.Expires > 0 {
		const century = 100 * 365 * 24 * 60 * 60 // no sum of times overflows
		return time.Duration(min(c.Expires, century)) * time.Second
	}
	return DefaultExpiry
}

// Proof returns how old the sign-in of the person who agrees may be; 0 is any age.
func (c *Confirm) Proof() time.Duration { return time.Duration(c.SignedIn) * time.Second }

// A Progress says how far a row is, by rows of another entity, its steps.
type Progress struct {
	Steps  *Entity
	By     stores.Path // from a step to its row
	Stage  int         // field of a step with a code of a declared list; -1 if there is none
	Weight int         // field of a step with an integer; -1 if all count the same
	Done   *Expr       // over the step
	Place  dsl.Place
}

// ProgressPart is a part of the progress that can be read.
type ProgressPart uint8

// The parts of progress.
const (
	ProgressPercent ProgressPart = iota // of the weight of all steps, rounded; 100 only when all are done
	ProgressDone                        // how many steps are done
	ProgressTotal                       // the number of all steps
	ProgressLeft                        // how many steps are not done
	ProgressStages                      // the stages whose steps are all done, in declared order
	ProgressStage                       // the first stage with a step that is not done; absent if all are done
)

// A Read is a declarative read.
type Read struct {
	Entity *Entity
	Filter *Filter // nil is every row in scope
	Order  []stores.Order
	Fields []ReadField
	Lists  []ReadList
	One    bool   // exactly one row, the one that the reference argument By names
	By     int    // index in Params, -1 without One; Filter holds the key against it already
	Along  *Along // nil follows no reference
	Sort   []Sort // of grouped rows
	Limit  int
	After  int // index in Params of the row after which a page of Limit rows begins; -1 if more rows than Limit are an error
	// Weigh is a number of 0 or more by which the fit of a row is multiplied, if the verb has
	// Matching; nil is 1.
	Weigh *ReadField
	// File is the name of a file into which the rows are written; its ending gives the format:
	// .xlsx or .csv. "" writes no file.
	File string
}

// A Sort orders rows by a returned field.
type Sort struct {
	Field int
	Desc  bool
}

// Groups reports whether rows with the same returned fields are merged into one, with totals over
// them.
func (r *Read) Groups() bool {
	return slices.ContainsFunc(r.Fields, func(f ReadField) bool { return f.Over != nil })
}

// Masked reports whether a verb returns only sensitive values: a page reveals them on request,
// and no conversation tells any of them.
func (v *Verb) Masked() bool {
	return v.Read != nil && len(v.Read.Fields) > 0 && !slices.ContainsFunc(v.Read.Fields, func(f ReadField) bool { return !f.Sensitive })
}

// A ReadField is one returned field.
type ReadField struct {
	Name      string
	From      ReadSource
	Path      stores.Path  // of FromPath and FromCodes
	Type      *Type        // type of the result; nil if it follows from From
	Expr      *Expr        // of FromExpr
	Codes     *CodeList    // of FromCodes
	List      int          // of FromList, FromCount and FromTotal, in Read.Lists
	Total     *Total       // of FromTotal; Field is in the list's Fields
	Over      *Total       // total over merged rows; nil if the value is one row's
	Part      ProgressPart // of FromProgress
	Sensitive bool
}

// ReadSource says where a returned field comes from.
type ReadSource uint8

// The sources of returned fields.
const (
	FromPath     ReadSource = iota // a field along references, or a count of rows that refer here
	FromExpr                       // an expression over `row`
	FromCodes                      // what the palette declares of the code, or the codes, at Path
	FromList                       // related rows, as a list of objects
	FromCount                      // number of the related rows
	FromTotal                      // total of a field of the related rows
	FromProgress                   // how far the row is
)

// A ReadList lists rows of another entity that belong to the row read.
type ReadList struct {
	Name   string
	Entity *Entity
	By     stores.Path // from one of them to the row read
	Filter *Filter     // nil is all of them
	Order  []stores.Order
	Fields []ReadField // none if the rows are only counted
	Place  dsl.Place
}

// A Query is a read in the author's own SQL.
type Query struct {
	Text    string
	Params  []int // index in Params of each :name, in order of first use
	Names   []string
	Kinds   []stores.Kind // of the arguments, parallel to Names; Null if the type does not determine it
	Columns []stores.Column
	Types   []*Type // parallel to Columns: a ref names its entity
	// Sensitive is parallel to Columns, and nil if the palette marks none: then the query cannot
	// read sensitive columns.
	Sensitive []bool
	One       bool
	Place     dsl.Place

	PlaceWithin func(from, to int) dsl.Place // place in the file of a part of Text
}

// IsSensitive reports whether some column of the query is sensitive.
func (q *Query) IsSensitive() bool { return slices.Contains(q.Sensitive, true) }

// PlaceOf returns the place in the palette of the word that begins at a byte of Text, however
// YAML folds or quotes it. For an offset outside Text it returns Place, the place of the whole.
func (q *Query) PlaceOf(offset int) dsl.Place {
	if q.PlaceWithin == nil || offset < 0 || offset > len(q.Text) || q.Text == "" {
		return q.Place
	}
	if offset == len(q.Text) {
		// Something missing at the end is reported after the last word.
		last := strings.TrimRight(q.Text, " \t\r\n")
		_, size := utf8.DecodeLastRuneInString(last)
		offset = max(0, len(last)-size)
	}
	to := offset
	for to < len(q.Text) {
		r, size := utf8.DecodeRuneInString(q.Text[to:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !(r == ':' && to == offset) {
			if to == offset {
				to += size
			}
			break
		}
		to += size
	}
	return q.PlaceWithin(offset, to)
}

// A Macro is a script of other verbs; its @names are the macro's arguments.
type Macro struct {
	Script *dsl.Script
	Place  dsl.Place

	Each int // one more than the index of the argument for whose items calls are made
}

// ForEach returns the list argument for each of whose items the calls that name @each are made.
func (m *Macro) ForEach() (param int, ok bool) {
	if m == nil || m.Each == 0 {
		return -1, false
	}
	return m.Each - 1, true
}

// A Tool is a tool of an MCP server.
type Tool struct {
	Server, Name string
	Sends        []Send
	// ReadOnly says that it changes nothing anywhere: a preview may call it.
	ReadOnly bool
	// Idempotent says that the server does it only once, however often it is called with the same
	// idempotency key.
	Idempotent bool
	Rows       string          // the member of the answer that lists rows; "" if the answer is one row
	Columns    []stores.Column // members of the answer; none if the answer is only text
	Types      []*Type         // parallel to Columns
	Places     []dsl.Place     // parallel to Columns
	Place      dsl.Place

	Timeout time.Duration // of one try; 0 is the operator's limit
	Retry   *stores.Retry // nil is three tries without a wait

	Answer *Param // type of its answer, a list of records; nil without Columns
}

// GivenAnswer returns the rows of the answer as an argument would declare them; nil without columns.
func (t *Tool) GivenAnswer() *Param {
	if t == nil {
		return nil
	}
	return t.Answer
}

// Answers makes a record of one row of the answer, for effects that run once for each.
func (t *Tool) Answers(row []stores.Value) stores.Value { return t.Answer.Type.Item.Whole(row) }

// Follows reports whether an effect runs over the answer of its verb's tool.
func (e *Effect) Follows() bool { return e.Each != nil && e.Each.Answer }

// A Send is one value that is sent to a tool.
type Send struct {
	Key   string
	Param int   // the argument to send, -1 if Value is sent
	Value *Expr // nil if an argument is sent
	Type  *Type // its type, as far as the palette determines it; nil if it does not
	Place dsl.Place
}

// KeepsCalls reports whether values of t are calls, or lists of calls.
func (t *Type) KeepsCalls() bool {
	return t != nil && (t.Name == CallType || t.Name == ListType && t.Item != nil && t.Item.Name == CallType)
}

// An Along says that a read returns the row that an argument names, and every row that can be
// reached from there along a reference, however many steps away. One step finds the rows of
// Entity whose field Here is one of the rows found so far, and continues with the rows in their
// field There.
type Along struct {
	From        int // index in Params
	Entity      *Entity
	Here, There int
}

// Step returns the find for one step from some rows.
func (a *Along) Step(from []stores.Value) stores.Find {
	there := stores.Path{Field: a.There}
	return stores.Find{Entity: a.Entity.Store, Select: []stores.Path{there}, Order: []stores.Order{{Path: there}},
		Where: &stores.Cond{Op: stores.In, Path: stores.Path{Field: a.Here}, Value: stores.NewList(from...)}}
}

// SessionActive is the name of the session value with the row that the person works on, such as
// one of the organisations that they act for.
const SessionActive = "active"

// A Function is a function that expressions may call and that a Go program supplies. Its result
// depends only on its arguments: it reads no clock and no row, so that a preview and a run give
// the same.
type Function struct {
	Name        string // "same-person", written same_person in expressions
	Description string
	Takes       []*Type
	Gives       *Type
	Place       dsl.Place
}
