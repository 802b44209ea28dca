package stores

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Mark says that the value of a field is less trusted than a record: it came, say, from a
// document. Stores keep the text of Origin as it is and do not interpret it.
//
// A mark is kept beside the row and never in it, so that existing tables need no column for it.
// It is stored under the database's names of the table and the column, so that renaming in a
// palette does not lose it.
type Mark struct {
	Field  int
	Origin string
}

// MarkOf returns the origin of a field according to marks, "" if it has no mark.
func MarkOf(marks []Mark, field int) string {
	for i := range marks {
		if marks[i].Field == field {
			return marks[i].Origin
		}
	}
	return ""
}

// ReadMarks decodes the value of a Path with Marks: the marks of a row of e, by field, ascending.
// Null means no marks. Columns for which e has no field are left out.
func ReadMarks(e *Entity, v Value) ([]Mark, error) {
	if v.IsNull() {
		return nil, nil
	}
	if marks, plain := plainMarks(e, v.Text()); plain {
		return marks, nil
	}
	var columns map[string]string
	if err := json.Unmarshal([]byte(v.Text()), &columns); err != nil {
		return nil, fmt.Errorf("the marks of a row of %s cannot be read: %w", e.Name, ErrInvalid)
	}
	var marks []Mark
	for i := range e.Fields {
		if origin, ok := columns[e.Fields[i].Column]; ok {
			marks = append(marks, Mark{i, origin})
		}
	}
	return marks, nil
}

// plainMarks reads an object of strings without escapes, the usual form of marks. plain is false
// for any other text. It takes a tenth of the time and of the memory of encoding/json, which used
// to dominate the reading of rows that a model wrote.
func plainMarks(e *Entity, text string) (marks []Mark, plain bool) {
	for begin := "{"; ; begin = "," {
		var column, origin string
		if text, plain = strings.CutPrefix(text, begin); !plain {
			return nil, false
		}
		if column, text, plain = plainString(text); !plain {
			return nil, false
		}
		if text, plain = strings.CutPrefix(text, ":"); !plain {
			return nil, false
		}
		if origin, text, plain = plainString(text); !plain {
			return nil, false
		}
		for i := range e.Fields {
			if e.Fields[i].Column != column {
				continue
			}
			if slices.ContainsFunc(marks, func(m Mark) bool { return m.Field == i }) {
				return nil, false
			}
			marks = append(marks, Mark{i, origin})
		}
		if text == "}" {
			slices.SortFunc(marks, func(a, b Mark) int { return a.Field - b.Field })
			return marks, true
		}
	}
}

// plainString reads a string without escapes from the beginning of JSON.
func plainString(text string) (s, rest string, plain bool) {
	text, begins := strings.CutPrefix(strings.TrimPrefix(text, " "), `"`)
	s, rest, ends := strings.Cut(text, `"`)
	plain = begins && ends && !strings.ContainsFunc(s, func(c rune) bool { return c == '\\' || c < ' ' || c == utf8.RuneError })
	return s, rest, plain
}

// Marked lists, for backends, the fields that a change marks and the fields that lose their mark.
// A deleted row loses all the marks that the change lists.
func (c *Change) Marked() (set []Mark, clear []int) {
	for i := range c.Set {
		if a := &c.Set[i]; a.Origin != "" {
			set = append(set, Mark{a.Field, a.Origin})
		}
	}
	for _, m := range c.Marks {
		assigned := slices.IndexFunc(c.Set, func(a Assign) bool { return a.Field == m.Field })
		if c.Op == Delete || assigned >= 0 && c.Set[assigned].Origin == "" {
			clear = append(clear, m.Field)
		}
	}
	return set, clear
}

// checkMarks reports whether the marks of a change can be kept.
func (c *Change) checkMarks() error {
	for i := range c.Set {
		if o := c.Set[i].Origin; o != "" && (!utf8.ValidString(o) || strings.IndexByte(o, 0) >= 0) {
			return fmt.Errorf("%s: an origin that is no text: %w", c.Entity.Name, ErrInvalid)
		}
	}
	for _, m := range c.Marks {
		if m.Field < 0 || m.Field >= len(c.Entity.Fields) {
			return fmt.Errorf("%s: a mark of no field: %w", c.Entity.Name, ErrInvalid)
		}
	}
	return nil
}
