package dsl

// Limits restrict what Parse accepts. A zero field takes its default from DefaultLimits. Whatever
// the limits, a text has fewer than 2 GiB.
type Limits struct {
	Bytes       int // size of the text
	Depth       int // greatest nesting of lists, maps and nested calls
	Calls       int // calls in all, nested ones included
	Values      int // arguments, map entries and list items in all
	Diagnostics int // how many are reported; one more gives the number of the others
}

// DefaultLimits are the limits of Parse. They are not modified; to parse with others, call Parse
// on your own Limits.
var DefaultLimits = Limits{
	Bytes:       4 << 20,
	Depth:       64,
	Calls:       16_000,
	Values:      80_000,
	Diagnostics: 100,
}

func (l Limits) withDefaults() Limits {
	or := func(n, otherwise int) int {
		if n <= 0 {
			return otherwise
		}
		return n
	}
	return Limits{
		Bytes:       min(or(l.Bytes, DefaultLimits.Bytes), 1<<31-2),
		Depth:       or(l.Depth, DefaultLimits.Depth),
		Calls:       or(l.Calls, DefaultLimits.Calls),
		Values:      or(l.Values, DefaultLimits.Values),
		Diagnostics: or(l.Diagnostics, DefaultLimits.Diagnostics),
	}
}
