package receipt

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode"

	"verbatim/stores"
)

// Options say how a receipt is printed. The zero Options suit any receipt.
type Options struct {
	Full  bool          // every call by itself; otherwise writes with the same shape as one already shown are only counted
	Whole string        // the command that shows every row, printed when calls are only counted
	State string        // the outcome of a preview, "nothing was changed (dry run)"
	Took  time.Duration // how long it took, if it was done
	Seen  bool          // the calls were printed already, before they were done
	Entry string        // the command that shows journal entries; their numbers are appended
	Undo  string        // the command that undoes a call; the number of its entry is appended
}

// foldAbove is how many calls are always shown one by one.
const foldAbove = 5

// Print writes a receipt as text: its totals, every call with its rows before and after, and how
// long an agreement would be valid or which journal entries record it. Nothing is cut short, and
// what is folded is counted exactly. w keeps its own errors, as a bufio.Writer does.
func Print(w io.Writer, r *Receipt, o Options) {
	t := r.Totals()
	switch {
	case !r.Done:
		fmt.Fprintf(w, "preview  %s; %s\n", summary(r, &t, false), cmp.Or(o.State, "nothing was changed"))
	case t.Acts():
		if o.Seen {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "applied  %-63s %.1f s\n", summary(r, &t, true), o.Took.Seconds())
	}
	if !r.Done || !o.Seen {
		PrintCalls(w, r, o)
	}
	switch {
	case r.Done && r.First > 0:
		entries := strconv.FormatInt(r.First, 10)
		if r.Last > r.First {
			entries += ".." + strconv.FormatInt(r.Last, 10)
		}
		if !o.Seen {
			fmt.Fprintln(w)
		}
		if o.Entry == "" {
			fmt.Fprintf(w, "journal  %s\n", entries)
		} else {
			fmt.Fprintf(w, "journal  %s   see: %s %s\n", entries, o.Entry, entries)
		}
		if o.Undo != "" {
			printUndo(w, r, o.Undo)
		}
	case !r.Done && t.Acts():
		fmt.Fprintln(w)
		printAsking(w, r)
		valid := "while nothing that it read changes"
		switch {
		case t.Rows == 1:
			valid = "while this row stays unchanged"
		case t.Rows > 1:
			valid = "while these " + Thousands(t.Rows) + " rows stay unchanged"
		}
		fmt.Fprintf(w, "  preview %s   valid %s\n", strings.ReplaceAll(Short(r.Sealed().ID), "-", " "), valid)
	}
}

// printAsking counts the calls that ask the caller, and those that wait for somebody else.
func printAsking(w io.Writer, r *Receipt) {
	own, others := map[int]bool{}, map[int]bool{}
	for _, a := range r.Asks() {
		if a.By == "" {
			own[a.Call] = true
		} else {
			others[a.Call] = true
		}
	}
	for _, asks := range []struct {
		calls     int
		one, many string
	}{{len(own), "asks first", "ask first"}, {len(others), "waits for somebody else", "wait for somebody else"}} {
		switch {
		case asks.calls > 0 && len(r.Calls) == 1:
			fmt.Fprintf(w, "  1 of 1 call %s\n", asks.one)
		case asks.calls > 0:
			fmt.Fprintf(w, "  %d of %s calls %s\n", asks.calls, Thousands(len(r.Calls)), asks.many)
		}
	}
}

// earlier says that the same was done before.
func earlier(e *Earlier) string {
	when, what := e.Time.UTC().Format("2006-01-02 15:04 MST"), "the same"
	if e.Withheld {
		what += ", as far as it is shown,"
	}
	switch e.Outcome {
	case EarlierUnknown:
		what += " was asked of " + Safe(e.Tool) + " at " + when + ", and nobody knows whether it was done"
	case EarlierAlone:
		what += " was done by " + Safe(e.Tool) + " at " + when + ", and nothing was stored here"
	default:
		what += " was done at " + when
	}
	if e.Entry > 0 {
		what += " (journal entry " + strconv.FormatInt(e.Entry, 10) + ")"
	}
	return what
}

// summary says "2 calls would change 3 rows in 2 tables and send 1 notice".
func summary(r *Receipt, t *Totals, done bool) string {
	var parts []string
	add := func(would, did, what string) {
		switch {
		case done:
			would = did
		case len(parts) == 0:
			would = "would " + would
		}
		parts = append(parts, would+" "+what)
	}
	if t.Rows > 0 || t.Notices+t.Jobs+t.JobChanges+t.Settings == 0 {
		rows := "nothing"
		if t.Rows > 0 {
			rows = Counted(t.Rows, "row")
		}
		if len(t.Tables) > 1 {
			rows += " in " + Counted(len(t.Tables), "table")
		}
		if slices.ContainsFunc(r.Calls, func(c Call) bool { return c.Result.Hidden() }) {
			rows = strings.TrimPrefix(rows+" and what is told once it is done", "nothing and ")
		}
		add("change", "changed", rows)
	}
	if t.Notices > 0 {
		add("queue", "queued", Counted(t.Notices, "notice"))
	}
	if t.Settings > 0 {
		add("set", "set", Counted(t.Settings, "value")+" of the session")
	}
	if t.Jobs > 0 {
		add("schedule", "scheduled", Counted(t.Jobs, "job"))
	}
	if t.JobChanges > 0 {
		add("change", "changed", Counted(t.JobChanges, "waiting job"))
	}
	if t.External > 0 {
		add("ask", "asked", Counted(t.External, "tool"))
	}
	if t.Answers > 0 {
		add("use", "used", Counted(t.Answers, "answer")+" given before")
	}
	all := strings.Join(parts, " and ")
	if n := len(parts); n > 2 {
		all = strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return Counted(len(r.Calls), "call") + " " + all
}

// PrintCalls writes only the totals and the calls, and when the same was done before, for use within
// another text.
func PrintCalls(w io.Writer, r *Receipt, o Options) {
	defer func() {
		for i := range r.Earlier {
			fmt.Fprintln(w, "  earlier  "+earlier(&r.Earlier[i]))
		}
	}()
	t := r.Totals()
	if r.Done {
		o.Whole = "" // it would show what another run would do; the journal has what was done
	}
	v := &view{w: w, r: r, full: o.Full || len(r.Calls) <= foldAbove, whole: o.Whole, tables: map[string]string{}}
	// A table is called by its last name, unless two would be called the same.
	named := map[string]int{}
	for _, table := range t.Tables {
		named[LastName(table.Table)]++
	}
	for _, table := range t.Tables {
		v.tables[table.Table] = table.Table
		if named[LastName(table.Table)] == 1 {
			v.tables[table.Table] = LastName(table.Table)
		}
	}
	if len(r.Calls) > 1 && len(t.Tables) > 0 {
		fmt.Fprintln(w)
		v.totals(t.Tables)
	}
	fmt.Fprintln(w)
	shown := map[string]int{} // shape of a call that was shown -> index of that call
	for i := 0; i < len(r.Calls); {
		c := &r.Calls[i]
		if _, known := shown[shape(c)]; v.full || !known || alone(c) {
			if !known {
				shown[shape(c)] = i + 1
			}
			v.call(i+1, c)
			i++
			continue
		}
		from := i
		for i < len(r.Calls) && !alone(&r.Calls[i]) {
			if _, known := shown[shape(&r.Calls[i])]; !known {
				break
			}
			i++
		}
		v.folded(from, i, shown)
	}
}

// A view prints what calls do, row by row.
type view struct {
	w      io.Writer
	r      *Receipt
	full   bool
	whole  string
	tables map[string]string
}

// LastName returns a table's name without its schema.
func LastName(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

func (v *view) totals(tables []Table) {
	width := 0
	for _, t := range tables {
		width = max(width, len(v.tables[t.Table]))
	}
	for _, t := range tables {
		var parts []string
		for _, part := range []struct {
			n    int
			what string
		}{{t.Added, "added"}, {t.Changed, "changed"}, {t.Deleted, "deleted"}} {
			if part.n > 0 {
				parts = append(parts, fmt.Sprintf("%4s %s", Thousands(part.n), part.what))
			}
		}
		fmt.Fprintf(v.w, "  %-*s %s\n", width+1, v.tables[t.Table], strings.Join(parts, ", "))
	}
}

// alone reports whether a call is never folded: it asks for confirmation or calls a tool, or its
// result is all that it gives.
func alone(c *Call) bool {
	return len(c.Asks) > 0 || len(c.External) > 0 || c.Result != nil && len(c.Rows) == 0
}

// shape returns what folded calls have in common: the verb, and which fields of which tables it
// changes in which way.
func shape(c *Call) string {
	var rows []string
	for i := range c.Rows {
		r := &c.Rows[i]
		parts := []string{r.Op, r.Table}
		for j := range r.Fields {
			parts = append(parts, r.Fields[j].Column)
		}
		rows = append(rows, strings.Join(parts, " "))
	}
	sort.Strings(rows)
	for _, n := range c.Notices {
		rows = append(rows, n.Kind+" "+n.Target)
	}
	for _, s := range c.Session {
		rows = append(rows, "session "+s.Name)
	}
	for i := range c.JobChanges {
		rows = append(rows, fmt.Sprint("job ", c.JobChanges[i].Drop))
	}
	results := ""
	if c.Result != nil {
		results = "result"
	}
	return c.Verb + "\n" + results + "\n" + strings.Join(rows, "\n")
}

// folded prints a summary of the calls [from, to), all of which have the shape of one that was
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
		c := &v.r.Calls[i]
		like[shown[shape(c)]] = true
		for j := range c.Rows {
			add(opWord[c.Rows[j].Op] + " in " + v.table(c.Rows[j].Table))
		}
		for j := range c.Notices {
			if c.Notices[j].Scheduled() {
				add("scheduled")
			} else {
				add("queued")
			}
		}
		for range c.JobChanges {
			add("job")
		}
		for range c.Session {
			add("set in the session")
		}
		if c.Result != nil {
			add("answered")
		}
	}
	var models []string
	for _, n := range slices.Sorted(maps.Keys(like)) {
		models = append(models, strconv.Itoa(n))
	}
	var parts []string
	for _, what := range order {
		switch what {
		case "queued":
			parts = append(parts, Counted(count[what], "notice")+" queued")
		case "scheduled":
			parts = append(parts, Counted(count[what], "job")+" scheduled")
		case "job":
			parts = append(parts, Counted(count[what], "waiting job")+" changed")
		default:
			parts = append(parts, Thousands(count[what])+" "+what)
		}
	}
	where := strconv.Itoa(from + 1)
	if to > from+1 {
		where += ".." + strconv.Itoa(to)
	}
	line := fmt.Sprintf("  %s  %s like %s: %s", where, Counted(to-from, "call"), strings.Join(models, " and "), strings.Join(parts, ", "))
	if v.whole != "" {
		line += "     every row: " + v.whole
	}
	fmt.Fprintln(v.w, line)
}

var (
	opWord = map[string]string{Inserted: "added", Updated: "changed", Deleted: "deleted"}
	opMark = map[string]string{Inserted: "+", Updated: "~", Deleted: "-", Found: "=", Redacted: "x"}
)

func (v *view) table(table string) string {
	return cmp.Or(v.tables[table], LastName(table))
}

func (v *view) call(n int, c *Call) {
	fmt.Fprintf(v.w, "  %-2d %-66s %s\n", n, c.Verb, c.Place)
	for i := range c.Filled {
		if f := &c.Filled[i]; f.Stand != OnlyOne || len(c.Rows) > 0 {
			fmt.Fprintln(v.w, "     . "+Safe(filledText(f)))
		}
	}
	if from := c.unshownOrigins(); from != "" {
		fmt.Fprintln(v.w, "     . "+Safe(from))
	}
	if c.Passed != "" {
		within := ""
		if c.Within != "" {
			within = " " + c.Within + ","
		}
		fmt.Fprintf(v.w, "     . not asked about: the standing rule %s%s passes it\n", Safe(c.Passed), Safe(within))
	}
	width := 0
	for i := range c.Rows {
		width = max(width, len(v.table(c.Rows[i].Table)))
	}
	for i := range c.Rows {
		v.row(&c.Rows[i], width)
	}
	for i := range c.Notices {
		fmt.Fprintf(v.w, "     > %s\n", Safe(outgoing(&c.Notices[i])))
	}
	for i := range c.JobChanges {
		fmt.Fprintln(v.w, "     "+Safe(jobChangeText(&c.JobChanges[i])))
	}
	for i := range c.Session {
		s := &c.Session[i]
		what := notShown
		if !s.Sensitive {
			what = OneLine(s.Before.Shown()) + " -> " + OneLine(s.After.Shown())
		}
		fmt.Fprintf(v.w, "     ~ session  %s  %s%s\n", Safe(s.Name), what, from(s.From, s.Origin, "", what))
	}
	for i := range c.External {
		v.externalCall(&c.External[i])
	}
	for _, ask := range c.Asks {
		who := "asks first"
		switch {
		case ask.By != "" && v.r.Done:
			who = "agreed to by somebody else with role " + ask.By
		case ask.By != "":
			who = "waits for somebody else with role " + ask.By
		case v.r.Done:
			who = "agreed to first"
		}
		fmt.Fprintf(v.w, "     ? %s: %s\n", who, Safe(ask.Reason))
	}
	if c.Result != nil {
		v.result(c.Result)
	}
	if len(c.Rows) == 0 && len(c.Notices) == 0 && len(c.JobChanges) == 0 && len(c.External) == 0 && len(c.Session) == 0 && c.Result == nil {
		fmt.Fprintln(v.w, "     nothing to change: it is so already")
	}
}

const notShown = "(not shown)"

// OneLine writes a value on one line, for a caller who asked for it.
func OneLine(v stores.Value) string { return strings.Join(answer(v), "; ") }

// outgoing describes what is sent, or what is done later and when.
func outgoing(n *Notice) string {
	switch {
	case !n.Scheduled():
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

// unshownOrigins says where arguments came from, without those beside whose value it stands anyway, and
// those that were left out.
func (c *Call) unshownOrigins() string {
	if c.Origins == "" {
		return ""
	}
	var from map[string]string
	if json.Unmarshal([]byte(c.Origins), &from) != nil {
		return ""
	}
	beside := func(arg string) bool {
		has := func(from string) bool {
			return slices.ContainsFunc(strings.FieldsFunc(from, func(r rune) bool { return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }),
				func(word string) bool { return word == arg || word == strings.ReplaceAll(arg, "-", "_") })
		}
		return slices.ContainsFunc(c.Rows, func(r Row) bool { return slices.ContainsFunc(r.Fields, func(f Field) bool { return has(f.From) }) }) ||
			slices.ContainsFunc(c.Session, func(s Setting) bool { return has(s.From) }) ||
			slices.ContainsFunc(c.External, func(e ExternalCall) bool {
				return slices.ContainsFunc(e.Sent, func(s Sent) bool { return has(s.From) })
			})
	}
	var parts []string
	for _, arg := range slices.Sorted(maps.Keys(from)) {
		if !beside(arg) && !slices.ContainsFunc(c.Filled, func(f Filled) bool { return f.Param == arg }) {
			parts = append(parts, fmt.Sprintf(":%s (%s)", arg, brief(from[arg])))
		}
	}
	return strings.Join(parts, "  ")
}

// filledText describes the row that stands for an argument that was left out.
func filledText(f *Filled) string {
	line := ":" + f.Param + " is " + f.Name
	switch f.Stand {
	case AtWork:
		return line + ", which this session is at work on"
	case OnlyOne:
		return line + ", the only one there is"
	}
	line += fmt.Sprintf(", the first of %d", f.Of)
	if len(f.By) > 0 {
		line += "; " + f.By[0] + " goes on with another"
	}
	return line
}

// jobChangeText describes a change of a job.
func jobChangeText(t *JobChange) string {
	does := "> tries again"
	if t.Drop {
		does = "- drops"
	}
	line := fmt.Sprintf("%s job %s: %s %s", does, t.ID, t.Kind, t.What)
	if t.Principal != "" {
		line += " of " + t.Principal
	}
	tries := "tries"
	if t.Attempt == 1 {
		tries = "try"
	}
	line += fmt.Sprintf(", %s after %s %s", t.State, Thousands(t.Attempt), tries)
	if t.Note != "" {
		line += ": " + t.Note
	}
	return line
}

// externalCall prints what is sent to a tool of another server, one value a line.
func (v *view) externalCall(e *ExternalCall) {
	whose := ", which is not ours"
	if e.Local {
		whose = ""
	}
	if e.Tries > 1 {
		whose += fmt.Sprintf(", and was asked %d times", e.Tries)
	}
	if e.Answered.IsNull() {
		fmt.Fprintf(v.w, "     > asks %s of %s%s\n", Safe(e.Name), Safe(e.Server), whose)
	} else {
		what := "it answered this before"
		if e.Previewed {
			what = "its answer is the preview's"
		}
		fmt.Fprintf(v.w, "     > does not ask %s of %s again: %s, at %s\n", Safe(e.Name), Safe(e.Server), what, e.Answered.Time().UTC().Format("2006-01-02 15:04:05 MST"))
	}
	width := 0
	for _, s := range e.Sent {
		width = max(width, len(s.Key))
	}
	for _, s := range e.Sent {
		what := notShown
		if !s.Sensitive {
			what = spell(s.Value, false)
		}
		fmt.Fprintf(v.w, "         %-*s  %s%s\n", width, Safe(s.Key), what, from(s.From, s.Origin, "", what))
	}
	for _, f := range e.Then {
		line := cmp.Or(opMark[f.Op], ">") + " " + Safe(f.What)
		if len(f.Fields) > 0 {
			line += ": " + Safe(strings.Join(f.Fields, ", "))
		}
		fmt.Fprintf(v.w, "       then, from its answer, %s\n", line)
	}
}

func (v *view) row(r *Row, width int) {
	line := fmt.Sprintf("     %s %-*s  %s", opMark[r.Op], width, v.table(r.Table), Safe(r.Name))
	if r.Label != "" {
		line += "   " + Safe(r.Label)
	}
	if r.Owner != "" {
		line += "   of " + Safe(r.Owner)
	}
	fmt.Fprintln(v.w, line)
	column := 0
	fields := r.Shown()
	for i := range fields {
		column = max(column, len(fields[i].Column))
	}
	for i := range fields {
		f := &fields[i]
		var what string
		switch {
		case f.Sensitive:
			what = notShown
		case f.File != nil && !strings.HasPrefix(f.After.Text(), "upload://"):
			// The digest of its bytes means nothing to a person.
			what = strconv.Quote(f.File.Name) + ", " + Safe(f.File.Says)
		case r.Op == Inserted:
			what = f.spell(&f.After)
		case r.Op == Deleted:
			what = f.spell(&f.Before) + " -> gone"
		default:
			what = f.spell(&f.Before) + " -> " + f.spell(&f.After)
		}
		fmt.Fprintf(v.w, "         %-*s  %s%s%s\n", column, f.Column, what, from(f.From, f.Origin, f.Was, what), f.made())
	}
}

// made says that the database made something else of the value that was set.
func (f *Field) made() string {
	switch {
	case !f.Made:
		return ""
	case f.Given.IsNull() && f.Given.Is == "":
		return "     the database made this"
	case f.Sensitive, f.Given.IsNull():
		return "     the database made this of what was set"
	}
	return "     the database made this of " + f.spell(&f.Given)
}

// longRule is the longest expression, in bytes, that a margin quotes.
const longRule = 40

// from says what a value is computed from, unless that is the value itself, and its origin.
func from(source, origin, was, value string) string {
	whose := Safe(brief(origin))
	if was != "" && was != origin {
		if whose != "" {
			whose += "; "
		}
		whose += "was " + Safe(brief(was))
	}
	said := Safe(source)
	switch {
	case source == "default":
		return "     by default"
	case strings.HasPrefix(source, ":") && whose != "":
		return "     from " + said + " (" + whose + ")"
	case strings.HasPrefix(source, ":"):
		return "     from " + said
	case source != "" && !strings.HasSuffix(value, source):
		if strings.Contains(source, " ? ") || len(source) > longRule {
			said = "as its rule says" // the palette has the rule, and --json
		}
		if whose != "" && whose != "record" { // the expression names the record's fields
			said += ", " + whose
		}
		return "     (" + said + ")"
	case whose != "":
		return "     (" + whose + ")"
	}
	return ""
}

// brief returns the least trusted part of an origin, for a margin: "script", "letter.pdf". An
// origin is written least trusted first.
func brief(origin string) string {
	first, _, _ := strings.Cut(origin, ",")
	word, _, named := strings.Cut(first, "=")
	if !named {
		return word
	}
	var names []string
	for part := range strings.SplitSeq(origin, ",") {
		if name, ok := strings.CutPrefix(part, word+"="); ok {
			names = append(names, unescaped(name))
		}
	}
	if word == "document" {
		return strings.Join(names, ", ")
	}
	return word + " " + strings.Join(names, ", ")
}

// unescaped decodes the name of a source: a character that has a meaning in an origin is written
// as % and two digits for each of its bytes.
func unescaped(name string) string {
	var b []byte
	for i := 0; i < len(name); i++ {
		if name[i] == '%' && i+2 < len(name) {
			if n, err := strconv.ParseUint(name[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(n))
				i += 2
				continue
			}
		}
		b = append(b, name[i])
	}
	return string(b)
}

// result prints the rows of a result, a value a line: people's texts do not fit into columns.
func (v *view) result(res *Result) {
	defer func() {
		switch res.Found {
		case ByLetters:
			fmt.Fprintln(v.w, "     ! found by words and by runs of letters: no model compares meanings here")
		case ByWords:
			fmt.Fprintln(v.w, "     ! found by words alone: the model that compares meanings did not answer")
		}
		for _, why := range res.Left {
			fmt.Fprintf(v.w, "     ! %s\n", Safe(why))
		}
	}()
	if f := res.File; f != nil {
		fmt.Fprintf(v.w, "     = file %s%s\n", strconv.Quote(f.Name), says(f))
		if res.From == "" { // the file holds the rows
			fmt.Fprintf(v.w, "         with %s\n", Counted(len(res.Rows), "row"))
			return
		}
	}
	if len(res.Rows) == 0 {
		if !res.Hidden() {
			fmt.Fprintln(v.w, "     = nothing")
		}
		return
	}
	width := 0
	for _, c := range res.Columns {
		width = max(width, len(c))
	}
	if res.Owners != nil {
		width = max(width, len("of"))
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
				lines = []string{notShown}
			}
			for k, line := range lines {
				name := res.Columns[j]
				if k > 0 {
					name = ""
				}
				fmt.Fprintf(v.w, "         %-*s  %s\n", width, name, line)
			}
		}
		if res.Owners != nil && res.Owners[i] != "" {
			fmt.Fprintf(v.w, "         %-*s  %s\n", width, "of", Safe(res.Owners[i]))
		}
	}
}

// says returns the description of a file that was made, and nothing for one that would be.
func says(f *File) string {
	if f.Reference == "" {
		return ""
	}
	return ", " + Safe(f.Says) + "\n         to have it: verbatim upload --get " + f.Reference
}

// answer writes a value for a caller who asked for it; each item of a list of objects is a line.
func answer(v stores.Value) []string {
	if v.Kind() == stores.JSON {
		if items, err := v.Items(stores.String); err == nil {
			var words []string
			for _, item := range items {
				words = append(words, Safe(item.Text()))
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
		return []string{empty}
	}
	return []string{Safe(v.Text())}
}

const empty = "(empty)"

// members writes an object as "name: value" pairs, without empty ones.
func members(v stores.Value) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(v.Text()), &object) != nil {
		return Safe(v.Text())
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
		parts = append(parts, name+": "+Safe(text))
	}
	return strings.Join(parts, ", ")
}

func (f *Field) spell(v *Value) string { return spell(v.Shown(), f.Code || v.Name != "") }

// spell writes a value: text in quotes, numbers and dates without. bare is for codes and names,
// which have no quotes either.
func spell(v stores.Value, bare bool) string {
	switch {
	case v.IsNull():
		return empty
	case bare || v.Kind() != stores.String:
		return Safe(v.Text())
	}
	return strconv.Quote(v.Text())
}

// Safe makes text safe for a terminal: unprintable characters, line breaks and marks that change
// the direction of writing are escaped, so that nobody can agree to something that looks like
// something else.
func Safe(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return s
	}
	quoted := strconv.Quote(s)
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
}

// Counted writes "1 row" and "4 rows", with separators in large numbers.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	plural := noun + "s"
	switch {
	case strings.HasSuffix(noun, "y"):
		plural = strings.TrimSuffix(noun, "y") + "ies"
	case noun == "person":
		plural = "people"
	case noun == "leaf":
		plural = "leaves"
	}
	return Thousands(n) + " " + plural
}

// Thousands writes a number with separators.
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// PrintLogged writes rows as the journal has them, without keys, which are for machines: see
// Logged. It says which values were erased.
func PrintLogged(w io.Writer, rows []Row) {
	for i := range rows {
		r := &rows[i]
		name := r.Name
		switch {
		case r.NameIs != "" && name == "":
			name = "(erased)"
		case name == "" && r.Op == Inserted:
			name = "new"
		case name == "":
			name = aRow
		}
		var b bytes.Buffer
		fmt.Fprintf(&b, "%s %s  %s\n", opMark[r.Op], LastName(r.Table), Safe(name))
		for j := range r.Fields {
			f := &r.Fields[j]
			after := logged(&f.After)
			switch {
			case f.Sensitive:
				after = notShown
			case r.Op == Updated:
				after = logged(&f.Before) + " -> " + after
			case r.Op == Deleted:
				after = logged(&f.Before) + " -> gone"
			}
			fmt.Fprintf(&b, "    %s  %s%s\n", f.Name, after, f.made())
		}
		w.Write(b.Bytes())
	}
}

const aRow = "(a row; --json tells its key)"

func logged(v *Value) string {
	switch {
	case v.Gone:
		return "(erased)"
	case v.IsNull():
		return empty
	case v.Kind() == stores.UUID:
		return aRow
	}
	return Safe(v.Text())
}

// minute is the format of a time for people.
const minute = "2006-01-02 15:04 UTC"

// printUndo says what can be undone, and until when the first of it can.
func printUndo(w io.Writer, r *Receipt, command string) {
	var entries []string
	var until stores.Value
	for i := range r.Calls {
		if c := &r.Calls[i]; !c.Undo.IsNull() && c.Seq > 0 {
			entries = append(entries, strconv.FormatInt(c.Seq, 10))
			if until.IsNull() || c.Undo.Time().Before(until.Time()) {
				until = c.Undo
			}
		}
	}
	switch n := len(entries); {
	case n == 0:
	case n == 1:
		fmt.Fprintf(w, "undo     %s %s   until %s\n", command, entries[0], until.Time().UTC().Format(minute))
	default:
		if n > foldAbove {
			entries = append(entries[:foldAbove], "…")
		}
		fmt.Fprintf(w, "undo     %s N   of %s, until %s\n", command, strings.Join(entries, ", "), until.Time().UTC().Format(minute))
	}
}
