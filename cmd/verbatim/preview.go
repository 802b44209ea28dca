package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"verbatim/dsl"
	"verbatim/runtime"
	"verbatim/stores"
	"verbatim/verbs"
)

// A view prints what a program does, row by row. What somebody agrees to is
// shown whole: nothing is cut short, and what is folded is counted exactly.
type view struct {
	w      io.Writer
	p      *runtime.Preview
	full   bool
	whole  string // the command that shows every row
	tables map[string]string
}

// foldAbove is how many calls are always shown one by one.
const foldAbove = 5

func newView(w io.Writer, p *runtime.Preview, full bool, whole string) *view {
	v := &view{w: w, p: p, full: full || len(p.Calls) <= foldAbove, whole: whole, tables: map[string]string{}}
	// A table goes by its last name, unless two would then go by the same.
	named := map[string]int{}
	for _, t := range p.Tables {
		named[lastName(t.Table)]++
	}
	for _, t := range p.Tables {
		v.tables[t.Table] = t.Table
		if named[lastName(t.Table)] == 1 {
			v.tables[t.Table] = lastName(t.Table)
		}
	}
	return v
}

func lastName(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

// body prints the totals and the calls.
func (v *view) body() {
	if len(v.p.Calls) > 1 && len(v.p.Tables) > 0 {
		fmt.Fprintln(v.w)
		v.totals()
	}
	fmt.Fprintln(v.w)
	shown := map[string]int{} // shape of a call that was shown, and which it was
	for i := 0; i < len(v.p.Calls); {
		c := &v.p.Calls[i]
		if _, known := shown[shape(c)]; v.full || !known || len(c.Asks) > 0 || len(c.Errands) > 0 {
			if !known {
				shown[shape(c)] = i + 1
			}
			v.call(i+1, c)
			i++
			continue
		}
		from := i
		for i < len(v.p.Calls) && len(v.p.Calls[i].Asks) == 0 && len(v.p.Calls[i].Errands) == 0 {
			if _, known := shown[shape(&v.p.Calls[i])]; !known {
				break
			}
			i++
		}
		v.folded(from, i, shown)
	}
}

func (v *view) totals() {
	width := 0
	for _, t := range v.p.Tables {
		width = max(width, len(v.tables[t.Table]))
	}
	for _, t := range v.p.Tables {
		var parts []string
		for _, part := range []struct {
			n    int
			what string
		}{{t.Added, "added"}, {t.Changed, "changed"}, {t.Deleted, "deleted"}} {
			if part.n > 0 {
				parts = append(parts, fmt.Sprintf("%4s %s", thousands(part.n), part.what))
			}
		}
		fmt.Fprintf(v.w, "  %-*s %s\n", width+1, v.tables[t.Table], strings.Join(parts, ", "))
	}
}

// shape is what calls that are told together have in common: the verb, and
// which fields of which tables it touches in which way.
func shape(c *runtime.CallPreview) string {
	var rows []string
	for i := range c.Rows {
		r := &c.Rows[i]
		parts := []string{strconv.Itoa(int(r.Op)), r.Entity.Store.Table}
		for j := range r.Fields {
			parts = append(parts, r.Fields[j].Column)
		}
		rows = append(rows, strings.Join(parts, " "))
	}
	sort.Strings(rows)
	for _, n := range c.Notices {
		rows = append(rows, n.Kind+" "+n.Target)
	}
	for _, s := range c.Sets {
		rows = append(rows, "session "+s.Name)
	}
	for i := range c.Tended {
		rows = append(rows, fmt.Sprint("job ", c.Tended[i].Drop))
	}
	results := ""
	if c.Result != nil {
		results = "result"
	}
	return c.Verb.Name + "\n" + results + "\n" + strings.Join(rows, "\n")
}

// folded tells of calls from up to to, all of which look like one that was
// shown.
func (v *view) folded(from, to int, shown map[string]int) {
	like := map[int]bool{}
	count := map[string]int{}
	var order []string
	add := func(what string) {
		if count[what] == 0 {
			order = append(order, what)
		}
		count[what]++
	}
	for i := from; i < to; i++ {
		c := &v.p.Calls[i]
		like[shown[shape(c)]] = true
		for j := range c.Rows {
			r := &c.Rows[j]
			add(opWord[r.Op] + " in " + v.table(r.Entity))
		}
		for _, n := range c.Notices {
			if n.Kind == "trigger" {
				add("scheduled")
			} else {
				add("sent")
			}
		}
		for range c.Tended {
			add("tended")
		}
		for range c.Sets {
			add("set in the session")
		}
		if c.Result != nil {
			add("answered")
		}
	}
	var models []string
	for n := range like {
		models = append(models, strconv.Itoa(n))
	}
	sort.Slice(models, func(i, j int) bool {
		return len(models[i]) < len(models[j]) || len(models[i]) == len(models[j]) && models[i] < models[j]
	})
	var parts []string
	for _, what := range order {
		switch what {
		case "sent":
			parts = append(parts, counted(count[what], "notice")+" sent")
		case "scheduled":
			parts = append(parts, counted(count[what], "job")+" scheduled")
		case "tended":
			parts = append(parts, counted(count[what], "waiting job")+" changed")
		default:
			parts = append(parts, thousands(count[what])+" "+what)
		}
	}
	where := strconv.Itoa(from + 1)
	if to > from+1 {
		where += ".." + strconv.Itoa(to)
	}
	fmt.Fprintf(v.w, "  %s  %s like %s: %s     every row: %s\n", where, counted(to-from, "call"), strings.Join(models, " and "), strings.Join(parts, ", "), v.whole)
}

var (
	opWord = [...]string{stores.Insert: "added", stores.Update: "changed", stores.Delete: "deleted"}
	opMark = [...]string{stores.Insert: "+", stores.Update: "~", stores.Delete: "-"}
)

func (v *view) table(e *verbs.Entity) string {
	if name, ok := v.tables[e.Store.Table]; ok {
		return name
	}
	return lastName(e.Store.Table)
}

func (v *view) call(n int, c *runtime.CallPreview) {
	fmt.Fprintf(v.w, "  %-2d %-66s %s\n", n, c.Verb.Name, place(c.Place))
	for i := range c.Filled {
		if f := &c.Filled[i]; f.Stand != runtime.OnlyOne || len(c.Rows) > 0 {
			fmt.Fprintln(v.w, "     . "+safe(filledText(f)))
		}
	}
	width := 0
	for i := range c.Rows {
		width = max(width, len(v.table(c.Rows[i].Entity)))
	}
	for i := range c.Rows {
		v.row(&c.Rows[i], width)
	}
	for _, notice := range c.Notices {
		fmt.Fprintf(v.w, "     > %s\n", safe(outgoing(&notice)))
	}
	for i := range c.Tended {
		fmt.Fprintln(v.w, "     "+safe(tendedText(&c.Tended[i])))
	}
	for i := range c.Sets {
		v.set(&c.Sets[i])
	}
	for i := range c.Errands {
		v.errand(&c.Errands[i])
	}
	for _, ask := range c.Asks {
		who := "asks first"
		if ask.By != "" {
			who = "waits for somebody else with role " + ask.By
		}
		fmt.Fprintf(v.w, "     ? %s: %s\n", who, safe(ask.Reason))
	}
	if c.Result != nil {
		v.result(c.Result)
	}
	if len(c.Rows) == 0 && len(c.Notices) == 0 && len(c.Tended) == 0 && len(c.Errands) == 0 && len(c.Sets) == 0 && c.Result == nil {
		fmt.Fprintln(v.w, "     nothing to change: it is so already")
	}
}

// set tells what the session is given, before and after.
func (v *view) set(s *runtime.SessionChange) {
	what := "(not shown)"
	if !s.Sensitive {
		what = sessionWords(s.Before) + " -> " + sessionWords(s.After)
	}
	fmt.Fprintf(v.w, "     ~ session  %s  %s%s\n", safe(s.Name), what, from(&runtime.FieldChange{From: s.From, Origin: s.Origin}, what))
}

// sessionWords spells what a session keeps, on one line.
func sessionWords(v stores.Value) string { return strings.Join(answer(v), "; ") }

// outgoing tells what leaves, or what is done later and when.
func outgoing(n *runtime.NoticeChange) string {
	switch {
	case n.Kind != "trigger":
		return "notifies " + n.Target
	case n.Calls == "":
		return "starts " + n.Target
	}
	when := "then calls "
	switch n.At.Kind() {
	case stores.Date:
		when = "on " + n.At.Text() + " calls "
	case stores.Time:
		when = "at " + n.At.Text() + " calls "
	}
	if n.Instead > 0 {
		when = "instead of what waits, " + when
	}
	return when + n.Calls
}

// filledText tells what stands for an argument that was left out.
func filledText(f *runtime.Filled) string {
	line := ":" + f.Param + " is " + f.Name
	switch f.Stand {
	case runtime.AtWork:
		return line + ", which this session is at work on"
	case runtime.OnlyOne:
		return line + ", the only one there is"
	}
	line += fmt.Sprintf(", the first of %d", f.Of)
	if len(f.By) > 0 {
		line += "; " + f.By[0].Name + " goes on with another"
	}
	return line
}

// tendedText tells what becomes of a job that failed or waits.
func tendedText(t *runtime.TendedJob) string {
	does := "> tries again"
	if t.Drop {
		does = "- drops"
	}
	line := fmt.Sprintf("%s job %s: %s %s", does, t.ID, t.Kind, t.What)
	if t.Principal != "" {
		line += " of " + t.Principal
	}
	line += fmt.Sprintf(", %s after %s", t.State, countedVerb(t.Attempt, "try", "tries"))
	if t.Note != "" {
		line += ": " + t.Note
	}
	return line
}

// errand tells what a tool of another server is sent, a value a line.
func (v *view) errand(e *runtime.Errand) {
	fmt.Fprintf(v.w, "     > asks %s of %s, which is not ours\n", safe(e.Name), safe(e.Server))
	width := 0
	for _, s := range e.Sent {
		width = max(width, len(s.Key))
	}
	for _, s := range e.Sent {
		what := "(not shown)"
		if !s.Sensitive {
			what = safe(s.Value.Text())
			if s.Value.Kind() == stores.String {
				what = strconv.Quote(s.Value.Text())
			}
		}
		fmt.Fprintf(v.w, "         %-*s  %s%s\n", width, safe(s.Key), what, from(&runtime.FieldChange{From: s.From}, what))
	}
}

func (v *view) row(r *runtime.RowChange, width int) {
	line := fmt.Sprintf("     %s %-*s  %s", opMark[r.Op], width, v.table(r.Entity), safe(r.Name))
	if r.Label != "" {
		line += "   " + safe(r.Label)
	}
	fmt.Fprintln(v.w, line)
	column := 0
	for i := range r.Fields {
		column = max(column, len(r.Fields[i].Column))
	}
	for i := range r.Fields {
		f := &r.Fields[i]
		var what string
		switch {
		case f.Sensitive:
			what = "(not shown)"
		case f.File != nil && !strings.HasPrefix(f.After.Text(), verbs.UploadScheme):
			// What its bytes are known by says nothing to anybody.
			what = fmt.Sprintf("%s, %s, %s", strconv.Quote(f.File.Name), verbs.TypeText(f.File.Type), verbs.SizeText(f.File.Size))
		case r.Op == stores.Insert:
			what = spell(r.Entity, f.Field, f.After)
		case r.Op == stores.Delete:
			what = spell(r.Entity, f.Field, f.Before) + " -> gone"
		default:
			what = spell(r.Entity, f.Field, f.Before) + " -> " + spell(r.Entity, f.Field, f.After)
		}
		fmt.Fprintf(v.w, "         %-*s  %s%s\n", column, f.Column, what, from(f, what))
	}
}

// from says what a value is worked out from, unless that is the value itself, and
// whose words that was.
func from(f *runtime.FieldChange, value string) string {
	whose := safe(f.Origin.Brief())
	if was := f.Was.Brief(); was != "" && f.Was != f.Origin {
		if whose != "" {
			whose += "; "
		}
		whose += "was " + safe(was)
	}
	source := safe(f.From)
	switch {
	case f.From == "default":
		return "     by default"
	case strings.HasPrefix(f.From, ":") && whose != "":
		return "     from " + source + " (" + whose + ")"
	case strings.HasPrefix(f.From, ":"):
		return "     from " + source
	case f.From != "" && !strings.HasSuffix(value, f.From):
		if whose != "" && whose != "record" { // the expression names the record's fields
			source += ", " + whose
		}
		return "     (" + source + ")"
	case whose != "":
		return "     (" + whose + ")"
	}
	return ""
}

// result prints rows that a call gave back, a value a line: what people write
// does not fit into columns.
func (v *view) result(res *runtime.Result) {
	if len(res.Rows) == 0 {
		fmt.Fprintln(v.w, "     = nothing")
		return
	}
	width := 0
	for _, c := range res.Columns {
		width = max(width, len(c))
	}
	for i, row := range res.Rows {
		if len(res.Rows) > 1 {
			fmt.Fprintf(v.w, "     = %d of %d\n", i+1, len(res.Rows))
		} else {
			fmt.Fprintln(v.w, "     =")
		}
		for j, value := range row {
			lines := answer(value)
			if res.Withheld(j) {
				lines = []string{"(not shown)"}
			}
			for k, line := range lines {
				name := res.Columns[j]
				if k > 0 {
					name = ""
				}
				fmt.Fprintf(v.w, "         %-*s  %s\n", width, name, line)
			}
		}
	}
}

// answer spells a value for somebody who asked for it, the items of a list of
// objects a line each.
func answer(v stores.Value) []string {
	if v.Kind() == stores.JSON {
		if items, err := v.Items(stores.String); err == nil {
			var words []string
			for _, item := range items {
				words = append(words, safe(item.Text()))
			}
			return []string{cmp.Or(strings.Join(words, ", "), "(none)")}
		}
		if items, err := v.Items(stores.JSON); err == nil {
			var lines []string
			for _, item := range items {
				lines = append(lines, members(item))
			}
			return lines
		}
	}
	if v.IsNull() {
		return []string{"(empty)"}
	}
	return []string{safe(v.Text())}
}

// members spells an object as "name: value" after "name: value", without what
// is empty.
func members(v stores.Value) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(v.Text()), &object) != nil {
		return safe(v.Text())
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		text := string(object[name])
		if text == "null" {
			continue
		}
		var word string
		if json.Unmarshal(object[name], &word) == nil {
			text = word
		}
		parts = append(parts, name+": "+safe(text))
	}
	return strings.Join(parts, ", ")
}

// spell writes a value of a field: text in quotes, codes, names, numbers and
// dates without.
func spell(e *verbs.Entity, field string, v stores.Value) string {
	if v.IsNull() {
		return "(empty)"
	}
	bare := v.Kind() != stores.String
	if i := e.Store.FieldIndex(field); i >= 0 && (e.Store.Fields[i].Ref != nil || e.Store.Fields[i].Codes != nil) {
		bare = true
	}
	if bare {
		return safe(v.Text())
	}
	return strconv.Quote(v.Text())
}

// safe makes text fit for a terminal: what cannot be printed, line breaks and
// marks that turn the direction of writing are spelt out, so that nobody can
// agree to something that looks like something else.
func safe(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return s
	}
	quoted := strconv.Quote(s)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
}

// place is where a call stands, as file:line.
func place(p dsl.Place) string {
	if p.Source == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.Source.Name, p.Source.Position(p.Range.Start).Line)
}

// spaced is how an id is read aloud: c7f2 91d0.
func spaced(id string) string { return strings.ReplaceAll(id, "-", " ") }

func short(digest string) string { return digest[:min(len(digest), 8)] }

// The same for programs.

type previewJSON struct {
	ID      string      `json:"id"`
	Calls   []callJSON  `json:"calls"`
	Tables  []tableJSON `json:"tables"`
	Rows    int         `json:"rows"`
	Notices int         `json:"notices"`
	Jobs    int         `json:"jobs"`
	Asks    []askJSON   `json:"asks"`
}

type callJSON struct {
	Verb    string       `json:"verb"`
	Place   string       `json:"place"`
	Call    string       `json:"call"`
	Rows    []rowJSON    `json:"rows"`
	Notices []noticeJSON `json:"notices"`
	Filled  []filledJSON `json:"filled,omitempty"`
	Tended  []tendedJSON `json:"tended,omitempty"`
	Asks    []askJSON    `json:"asks"`
	Sets    []setJSON    `json:"sets,omitempty"`
	Errands []errandJSON `json:"errands,omitempty"`
	Result  *resultJSON  `json:"result,omitempty"`
}

type filledJSON struct {
	Param string `json:"param"`
	Name  string `json:"name"`
	Label string `json:"label,omitempty"`
	Why   string `json:"why"`
	Of    int    `json:"of,omitempty"`
}

type setJSON struct {
	Name      string        `json:"name"`
	Before    *stores.Value `json:"before,omitempty"`
	After     *stores.Value `json:"after,omitempty"`
	Sensitive bool          `json:"sensitive,omitempty"`
	From      string        `json:"from,omitempty"`
	Origin    string        `json:"origin,omitempty"`
}

type errandJSON struct {
	Server string     `json:"server"`
	Tool   string     `json:"tool"`
	Sent   []sentJSON `json:"sent"`
}

type sentJSON struct {
	Name      string        `json:"name"`
	Value     *stores.Value `json:"value,omitempty"`
	Sensitive bool          `json:"sensitive,omitempty"`
	From      string        `json:"from,omitempty"`
}

type rowJSON struct {
	Op     string      `json:"op"`
	Table  string      `json:"table"`
	Entity string      `json:"entity"`
	Name   string      `json:"name"`
	Label  string      `json:"label,omitempty"`
	Fields []fieldJSON `json:"fields"`
}

type fieldJSON struct {
	Field     string        `json:"field"`
	Column    string        `json:"column"`
	Before    *stores.Value `json:"before,omitempty"`
	After     *stores.Value `json:"after,omitempty"`
	Sensitive bool          `json:"sensitive,omitempty"`
	From      string        `json:"from,omitempty"`
	Origin    string        `json:"origin,omitempty"`
	Was       string        `json:"was,omitempty"`
	File      *fileJSON     `json:"file,omitempty"`
}

// A fileJSON is the file that a value stands for.
type fileJSON struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Size int64  `json:"size"`
}

type noticeJSON struct {
	Kind    string        `json:"kind"`
	Target  string        `json:"target"`
	Calls   string        `json:"calls,omitempty"`
	At      *stores.Value `json:"at,omitempty"`
	Instead int           `json:"instead,omitempty"`
}

type tendedJSON struct {
	Job       string `json:"job"`
	Kind      string `json:"kind"`
	What      string `json:"what"`
	Principal string `json:"principal,omitempty"`
	State     string `json:"state"`
	Attempt   int    `json:"attempt"`
	Note      string `json:"note,omitempty"`
	Drop      bool   `json:"drop"`
}

type askJSON struct {
	By     string `json:"by,omitempty"`
	Reason string `json:"reason"`
	Rule   string `json:"rule"`
}

type tableJSON struct {
	Table   string `json:"table"`
	Added   int    `json:"added"`
	Changed int    `json:"changed"`
	Deleted int    `json:"deleted"`
}

type resultJSON struct {
	Columns []string         `json:"columns"`
	Rows    [][]stores.Value `json:"rows"`
}

func newPreview(p *runtime.Preview) *previewJSON {
	p = p.Sealed()
	out := &previewJSON{ID: p.ID, Calls: []callJSON{}, Tables: []tableJSON{}, Rows: p.Rows, Notices: p.Notices, Jobs: p.Jobs, Asks: newAsks(p.Asks)}
	for i := range p.Calls {
		c := &p.Calls[i]
		call := callJSON{Verb: c.Verb.Name, Place: place(c.Place), Call: c.Call, Rows: []rowJSON{}, Notices: []noticeJSON{}, Asks: newAsks(c.Asks)}
		for j := range c.Rows {
			r := &c.Rows[j]
			row := rowJSON{Op: [...]string{"insert", "update", "delete"}[r.Op], Table: r.Entity.Store.Table, Entity: r.Entity.Store.Name,
				Name: r.Name, Label: r.Label, Fields: []fieldJSON{}}
			for k := range r.Fields {
				f := &r.Fields[k]
				field := fieldJSON{Field: f.Field, Column: f.Column, Sensitive: f.Sensitive, From: f.From, Origin: f.Origin.String(), Was: f.Was.Mark()}
				if !f.Sensitive {
					field.Before, field.After = &f.Before, &f.After
				}
				if f.File != nil {
					field.File = &fileJSON{f.File.Name, f.File.Type, f.File.Size}
				}
				row.Fields = append(row.Fields, field)
			}
			call.Rows = append(call.Rows, row)
		}
		for _, n := range c.Notices {
			out := noticeJSON{Kind: n.Kind, Target: n.Target, Calls: n.Calls, Instead: n.Instead}
			if !n.At.IsNull() {
				out.At = &n.At
			}
			call.Notices = append(call.Notices, out)
		}
		for _, f := range c.Filled {
			why := [...]string{runtime.AtWork: "active", runtime.OnlyOne: "only", runtime.FirstOfThese: "first"}[f.Stand]
			call.Filled = append(call.Filled, filledJSON{f.Param, f.Name, f.Label, why, f.Of})
		}
		for _, t := range c.Tended {
			call.Tended = append(call.Tended, tendedJSON{t.ID, t.Kind, t.What, t.Principal, t.State, t.Attempt, t.Note, t.Drop})
		}
		for k := range c.Sets {
			s := &c.Sets[k]
			set := setJSON{Name: s.Name, Sensitive: s.Sensitive, From: s.From, Origin: s.Origin.String()}
			if !s.Sensitive {
				set.Before, set.After = &s.Before, &s.After
			}
			call.Sets = append(call.Sets, set)
		}
		for _, e := range c.Errands {
			out := errandJSON{Server: e.Server, Tool: e.Name, Sent: []sentJSON{}}
			for k := range e.Sent {
				s := sentJSON{Name: e.Sent[k].Key, Sensitive: e.Sent[k].Sensitive, From: e.Sent[k].From}
				if !s.Sensitive {
					s.Value = &e.Sent[k].Value
				}
				out.Sent = append(out.Sent, s)
			}
			call.Errands = append(call.Errands, out)
		}
		if c.Result != nil {
			call.Result = &resultJSON{Columns: some(c.Result.Columns), Rows: [][]stores.Value{}}
			for _, row := range c.Result.Rows {
				told := append([]stores.Value(nil), row...)
				for k := range told {
					if c.Result.Withheld(k) {
						told[k] = stores.Value{}
					}
				}
				call.Result.Rows = append(call.Result.Rows, told)
			}
		}
		out.Calls = append(out.Calls, call)
	}
	for _, t := range p.Tables {
		out.Tables = append(out.Tables, tableJSON(t))
	}
	return out
}

func newAsks(asks []runtime.Ask) []askJSON {
	out := []askJSON{}
	for _, a := range asks {
		out = append(out, askJSON{a.By, a.Reason, place(a.Rule)})
	}
	return out
}
