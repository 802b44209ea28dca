package stores

import (
	"fmt"
	"strings"
)

// A Refused is what a database says about a change that it refused. Its names are those of the
// schema. Text is the wording of a trigger or function, and may quote rows that the caller must not
// see: it is for the palette's author and the operator.
type Refused struct {
	Why        Refusal
	Code       string // SQLSTATE, or SQLite's name of its code
	Constraint string
	Table      string   // as the database names it, "" if it is not known
	Columns    []string // of that table
	Entity     *Entity  // whose table it is; nil if it is not known
	Text       string
}

// A Refusal is a kind of reason of a database.
type Refusal uint8

// The reasons.
const (
	OtherReason Refusal = iota
	Raised              // RAISE of a function or trigger
	Checked             // a CHECK constraint, also of a domain
	Missing             // a column that takes no null
	Referring           // a reference to no row
	ReferredTo          // another row refers to the row that would go
	Taken               // a unique index or an exclusion constraint
	Unfit               // too large, too long, or of another form than its column takes
	Failed              // a trigger or function that could not do its work
	RuledOut            // a rule or trigger made something else of the change, or kept the row
)

// Error is for the operator.
func (r *Refused) Error() string {
	s := "the database refused it: " + r.Code
	for _, part := range []struct{ before, text string }{{"constraint ", r.Constraint}, {"table ", r.Table}, {"", r.Text}} {
		if part.text != "" {
			s += ", " + part.before + part.text
		}
	}
	if len(r.Columns) > 0 {
		s += fmt.Sprintf(", columns %q", r.Columns)
	}
	return s
}

// Fields returns the fields of Entity that the refusal is about.
func (r *Refused) Fields() (fields []int) {
	if r.Entity == nil {
		return nil
	}
	for _, c := range r.Columns {
		for i := range r.Entity.Fields {
			if strings.EqualFold(r.Entity.Fields[i].Column, c) {
				fields = append(fields, i)
			}
		}
	}
	return fields
}
