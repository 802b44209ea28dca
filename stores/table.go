package stores

import "slices"

// A Table is what a database tells of a table or a view that is there, for a first
// palette over it.
type Table struct {
	Name    string // with its schema, where that is not the usual one
	View    bool
	Columns []TableColumn
	// Key are the columns of the primary key, or of the first others that nothing is
	// twice or null in; of a view, of some in which that is so now.
	Key     []string
	Foreign []ForeignKey
	Many    bool   // more rows than one read returns
	Fault   string // why it cannot be read, "" where it can
}

// A TableColumn is one column of a Table.
type TableColumn struct {
	Name     string
	Type     string // as it is declared
	Kind     Kind   // of a field that holds it; Null where none does
	Elem     Kind   // of a list of one kind
	Why      string // why none does
	Required bool   // it takes no null
	Given    bool   // the database has a value for a new row
	Numbered bool   // it counts: an identity, a sequence, an INTEGER PRIMARY KEY
	Computed bool   // the database alone gives it a value
	Unique   bool   // no two rows are alike in it, and it takes no null
	Enum     string // the enumeration type that lists its values, "" without one
	Length   int    // of text, at most; 0 is any
	Places   int    // of a decimal
	Form     string // of a date or instant that is kept as text
	Takes    []string
	// Few are the values of a column of text that has few different ones.
	Few []Held
}

// Tells notes that no two rows are alike in a set of columns.
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
	Dangling bool // some row refers to one that is not there
}

// MaxFew is how many different values a column with few of them has, at most.
const MaxFew = 8

// Forms are the forms of dates and instants that are looked for in text, by kind. The
// first that all values have is proposed.
var Forms = []struct {
	Kind Kind
	Form string
}{
	{Date, "YYYY-MM-DD"}, {Date, "YYYY-MM-DD 00:00:00"}, {Date, "DD.MM.YYYY"}, {Date, "DD/MM/YYYY"}, {Date, "MM/DD/YYYY"}, {Date, "YYYY/MM/DD"},
	{Time, "YYYY-MM-DD hh:mm:ss"}, {Time, "YYYY-MM-DDThh:mm:ss"}, {Time, "DD.MM.YYYY hh:mm:ss"},
}

// FormOf finds the form that all of some texts have.
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
