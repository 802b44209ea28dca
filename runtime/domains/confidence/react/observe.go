package react

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Limits of the text that the model gets about one call, in characters.
const (
	maxObserved = 8192
	maxCell     = 2000 // of one value
)

// acted reports whether a call had an effect that remains even if its answer is dropped.
func acted(c receipt.Call) bool {
	return len(c.Rows)+len(c.Notices)+len(c.Session)+len(c.JobChanges) > 0 || slices.ContainsFunc(c.External, func(e receipt.ExternalCall) bool { return !e.ReadOnly })
}

// A sheet is the text that the model gets about its calls, line by line up to a limit.
type sheet struct {
	strings.Builder
	left   int          // characters
	more   int          // lines for which there was no room
	origin verbs.Origin // untrusted origins of the text
}

// observed writes the answers and effects of calls: rows by their names, without keys and sensitive
// values. The origin is that of the untrusted text in it.
func observed(done *receipt.Receipt) (string, verbs.Origin) {
	s := &sheet{left: maxObserved - 100} // for the last line
	for i := range done.Calls {
		c := &done.Calls[i]
		for _, f := range c.Filled {
			s.line(fmt.Sprintf(":%s was taken to be %s %s", f.Param, f.Name, f.Label))
		}
		for j := range c.Rows {
			s.changed(&c.Rows[j])
		}
		for _, n := range c.Notices {
			s.line(n.Kind + " " + n.Target)
		}
		for _, set := range c.Session {
			if !set.Sensitive {
				s.line(set.Name + " is now " + oneLine(set.After.Text()))
			}
		}
		if c.Result != nil {
			s.result(c.Result)
		}
	}
	if s.Len() == 0 {
		s.line(sayNothing)
	}
	if s.more > 0 {
		fmt.Fprintf(s, "and %d more lines, for which there is no room; ask for less to see them\n", s.more)
	}
	return strings.TrimSuffix(s.String(), "\n"), s.origin
}

// line adds a line, whole or not at all. After one for which there was no room none is added.
func (s *sheet) line(text string) {
	if n := utf8.RuneCountInString(text) + 1; s.more == 0 && n <= s.left {
		s.left -= n
		s.WriteString(text + "\n")
		return
	}
	s.more++
}

func (s *sheet) changed(r *receipt.Row) {
	var fields []string
	for _, f := range r.Fields {
		if !f.Sensitive {
			fields = s.field(fields, f.Name, f.After.Shown(), f.Origin)
		}
	}
	s.line(strings.TrimSuffix(fmt.Sprintf("%s %s %s: %s", r.Op, r.Name, oneLine(r.Label), strings.Join(fields, "; ")), ": "))
}

func (s *sheet) result(r *receipt.Result) {
	if len(r.Rows) == 0 {
		s.line(sayNotFound)
	}
	for i, row := range r.Rows {
		var fields []string
		for j, v := range row {
			if r.Sensitive == nil || !r.Sensitive[j] {
				fields = s.field(fields, r.Columns[j], v, r.Origin(i, j))
			}
		}
		begin := ""
		if len(r.Rows) > 1 {
			begin = strconv.Itoa(i+1) + ". "
		}
		s.line(begin + strings.Join(fields, "; "))
	}
	if len(r.Left) > 0 {
		s.line("not all rows are here: " + strings.Join(r.Left, "; "))
	}
	if r.File != nil {
		s.line("made the file " + oneLine(r.File.Name))
	}
}

// field adds a value with its name. Untrusted text is quoted on one line together with its origin,
// so that it can end neither the line nor the mark.
func (s *sheet) field(fields []string, name string, v stores.Value, origin string) []string {
	if v.IsNull() || v.Kind() == stores.UUID { // a key, or as good as one
		return fields
	}
	text := short(oneLine(v.Text()), maxCell)
	if o := verbs.Stored(origin); o.Kinds()&(verbs.FromTool|verbs.FromDocument) != 0 {
		s.origin = s.origin.Mix(o)
		return append(fields, fmt.Sprintf("%s (from %s): %s", name, o.Words(), strconv.Quote(text)))
	}
	return append(fields, name+": "+text)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
