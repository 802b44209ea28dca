package dsl

// A Script is what Parse understood of a source: its calls in the order they were written, and
// its comments. It is read-only; to write a new one, build calls with the constructors and print
// them with Format.
type Script struct {
	Source   *Source
	Calls    []Call
	Comments []Comment // in source order, wherever they were
}

// A Comment runs from its semicolon to the end of its line.
type Comment struct{ Range Range }

// A Call is one verb with its arguments, in either spelling:
//
//	client.add-note :request-id @x :note "later"
//	(client.add-note :request-id @x :note "later" :as @note)
type Call struct {
	Verb      string // "domain.verb", at least two parts
	VerbRange Range
	Args      []Arg
	As        string // the symbol of :as, without its @; "" if there is none
	AsRange   Range  // of the symbol, @ included
	Range     Range
	// Broken says that an error inside the call was reported. The call is kept so that later ones
	// can be understood (its symbol is defined, its verb was meant) without a second diagnostic
	// of the same mistake.
	Broken bool
}

// An Arg is `:key value`, in a call or in a map.
type Arg struct {
	Key      string // without its colon
	KeyRange Range  // colon included
	Value    Value
}

// Kind is the kind of literal that a Value is.
type Kind uint8

// The kinds of value. Invalid replaces a value with a reported error.
const (
	Invalid  Kind = iota
	Nil           // nil
	Bool          // true, false
	Integer       // 12
	Decimal       // -3.50, exact
	String        // "text"
	Date          // 2025-01-03
	DateTime      // 2025-01-03T10:00:00Z
	UUID          // 123e4567-e89b-12d3-a456-426614174000
	Code          // PASSPORT
	Symbol        // @request.due-date
	List          // [1 2 3]
	Map           // {:street "…" :city "…"}
	Nested        // (client.get-status)
)
