package stores

import "slices"

// A Table describes an existing table or view of a database, for a first palette over it.
type Table struct {
	Name    string // with its schema, unless that is the default one
	View    bool
	Columns []TableColumn
	// Key are the columns of the primary key, or else the first columns that are unique and never
	// null; for a view, columns of which that is true at present.
	Key     []string
	Foreign []ForeignKey
	Unique  [][]string // sets of columns that no two rows share, beside the primary key
	Comment string     // what the database says of it
	Unsaid  []string   // CHECK constraints that no field can say
	Fault   string     // why it cannot be read, "" if it can
}

// A TableColumn is one column of a Table.
type TableColumn struct {
	Name     string
	Type     string // as it is declared
	Kind     Kind   // of a field that holds it; Null if no field can
	Elem     Kind   // the kind of the items of a list
	Why      string // why no field can hold it
	Required bool   // it does not accept null
	Given    bool   // the database generates a value for a new row
	Numbered bool   // it is numbered: an identity, a sequence, an INTEGER PRIMARY KEY
	Computed bool   // only the database sets it
	Unique   bool   // its values are unique and never null
	Enum     string // the enumeration type that lists its values, "" without one
	Length   int    // greatest length of a text; 0 is any
	Places   int    // decimal places of a decimal
	Form     string // the form of a date or time that is stored as text
	Takes    []string
	Comment  string // what the database says of it
	Min, Max string // of an integer, decimal or date
	// MinLength is the least length of a text, and Pattern what all of it matches.
	MinLength int
	Pattern   string
	// Few are the values of a text column that has few different ones.
	Few []Held
}

// Tells notes that a set of columns is unique.
func (t *Table) Tells(set []string) {
	var columns []*TableColumn
	for _, name := range set {
		i := slices.IndexFunc(t.Columns, func(c TableColumn) bool { return c.Name == name && c.Required })
		if i < 0 {
			return
		}
		columns = append(columns, &t.Columns[i])
	}
	if len(columns) == 1 {
		columns[0].Unique = true
	}
	if len(t.Key) == 0 {
		t.Key = set
	}
}

// A ForeignKey is a reference from columns of a table to those of another.
type ForeignKey struct {
	Columns  []string
	Table    string
	To       []string
	Dangling bool // some row refers to a row that does not exist
}

// MaxFew is the greatest number of different values that Few holds.
const MaxFew = 8

// Forms are the forms of dates and times that are looked for in text columns. The first that fits
// all values is proposed.
var Forms = []struct {
	Kind Kind
	Form string
}{
	{Date, "YYYY-MM-DD"}, {Date, "YYYY-MM-DD 00:00:00"}, {Date, "DD.MM.YYYY"}, {Date, "DD/MM/YYYY"}, {Date, "MM/DD/YYYY"}, {Date, "YYYY/MM/DD"},
	{Time, "YYYY-MM-DD hh:mm:ss"}, {Time, "YYYY-MM-DDThh:mm:ss"}, {Time, "DD.MM.YYYY hh:mm:ss"},
}

// FormOf returns the first form that fits all of some texts.
func FormOf(texts []string) (kind Kind, form string, ok bool) {
	if len(texts) == 0 {
		return Null, "", false
	}
	for _, f := range Forms {
		s, _ := NewForm(f.Kind, f.Form)
		fits := true
		for _, text := range texts {
			_, is := s.Load(NewString(text))
			fits = fits && is
		}
		if fits {
			return f.Kind, f.Form, true
		}
	}
	return Null, "", false
}
