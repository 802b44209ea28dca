// Package explain prints references from palettes: of a verb, for somebody about to use it; of a
// whole palette, as a page; and of what the code of a diagnostic means.
package explain

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/message"
)

// Verb prints the reference of a verb: its arguments, who may use it, what it can change and
// what it cannot, when it asks for confirmation, where it is declared, and a call that can be
// copied.
func Verb(w io.Writer, v *verbs.Verb) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%-30s  %s\n\n", v.Name, v.Description)
	if len(v.Params) == 0 {
		b.WriteString("  no arguments\n")
	}
	rows := make([][]string, len(v.Params))
	for i := range v.Params {
		p := &v.Params[i]
		rows[i] = []string{":" + p.Name, p.Type.Short(), need(p), remark(p)}
	}
	columns(&b, rows)
	b.WriteByte('\n')
	for _, f := range facts(v) {
		for i, line := range f.lines {
			title := f.title
			if i > 0 {
				title = ""
			}
			fmt.Fprintf(&b, "  %-9s %s\n", title, line)
		}
	}
	if !v.Internal { // nobody can call it
		fmt.Fprintf(&b, "\n  %s\n", v.Example())
	}
	_, err := w.Write(b.Bytes())
	return err
}

// columns aligns rows, two spaces apart. The last column is ragged.
func columns(b *bytes.Buffer, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := " "
		for i, cell := range row {
			line += " " + cell
			if i < len(row)-1 {
				line += strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+1)
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// A fact is one entry of a verb's reference.
type fact struct {
	title string
	lines []string
}

func facts(v *verbs.Verb) []fact {
	who := users(v)
	if v.Internal {
		who = "work whose time has come, in the name of " + who + "; nobody can call it"
	}
	facts := []fact{{"who", []string{who}}}
	add := func(title string, lines []string) {
		if len(lines) > 0 {
			facts = append(facts, fact{title, lines})
		}
	}
	add("returns", returnLines(v))
	add("changes", changeLines(v))
	add("promises", promiseLines(v))
	add("reckons", linesOf(v.Totals, func(t **verbs.Total) string { return (*t).Name + ": " + (*t).Line(v) }))
	add("discloses", linesOf(v.Discloses, func(x *verbs.Disclosed) string { return x.Line(v) }))
	add("needs", linesOf(v.Requires, func(r *verbs.Require) string { return r.Line(v) + " (otherwise: " + verbs.OneLine(r.Else) + ")" }))
	add("limits", linesOf(v.Limits, (*verbs.Limit).Line))
	add("not with", linesOf(v.Excludes, func(x *verbs.Exclusion) string { return x.Line(v) }))
	add("asks", askLines(v))
	if v.Undo != nil {
		add("undo", lines(v.Undo))
	}
	switch {
	case v.Tool != nil:
		add("done by", toolLines(v))
	case v.Handler:
		add("done by", []string{"a handler in Go, held to what stands here"})
	}
	if d := v.Deprecated; d != nil {
		line := d.Reason
		if d.ReplacedBy != "" {
			line = strings.TrimPrefix(line+"; use "+d.ReplacedBy, "; ")
		}
		add("outdated", []string{line})
	}
	if v.Place.Source != nil {
		at := v.Place.Source.Position(v.Place.Range.Start)
		add("declared", []string{fmt.Sprintf("%s:%d", v.Place.Source.Name, at.Line)})
	}
	return facts
}

func columnName(c stores.Column) string { return c.Name }

func roleNames(roles []*verbs.Role) []string { return message.Names(roles, (*verbs.Role).String) }

// users names the roles that may use a verb.
func users(v *verbs.Verb) string { return cmp.Or(strings.Join(roleNames(v.Roles), ", "), "nobody") }

func returnLines(v *verbs.Verb) []string {
	switch {
	case v.Read != nil:
		names := message.Names(v.Read.Fields, func(f verbs.ReadField) string { return f.Name })
		what := "rows of " + v.Read.Entity.Store.Name
		switch {
		case v.Read.One:
			what = "one " + v.Read.Entity.Store.Name
		case v.Read.Along != nil:
			what = "the " + v.Read.Entity.Store.Name + " that :" + v.Params[v.Read.Along.From].Name + " names and those that lead on from it, up to " + strconv.Itoa(v.Read.Limit)
		case v.Read.Limit > 0:
			what = "up to " + strconv.Itoa(v.Read.Limit) + " " + what
		}
		if len(names) > 0 {
			what += ": " + strings.Join(names, ", ")
		}
		return []string{what}
	case v.Query != nil:
		names := message.Names(v.Query.Columns, columnName)
		what := "rows: "
		if v.Query.One {
			what = "one row: "
		}
		return []string{what + strings.Join(names, ", ")}
	case v.Tool != nil && len(v.Tool.Columns) > 0:
		names := message.Names(v.Tool.Columns, columnName)
		if v.Tool.Rows != "" {
			return []string{"rows: " + strings.Join(names, ", ")}
		}
		return []string{strings.Join(names, ", ")}
	case v.Returns.Type == "" && len(v.Returns.Includes) == 0:
		return nil
	case len(v.Returns.Includes) == 0:
		return []string{v.Returns.Type}
	}
	return []string{strings.TrimPrefix(v.Returns.Type+": "+strings.Join(v.Returns.Includes, ", "), ": ")}
}

// changeLines describes which rows a verb can change. The last line says that it cannot change
// anything else.
func changeLines(v *verbs.Verb) []string {
	if v.Macro != nil {
		calls := make([]string, len(v.Macro.Script.Calls))
		for i := range v.Macro.Script.Calls {
			calls[i] = v.Macro.Script.Calls[i].Verb
			if of, ok := v.Macro.ForEach(); ok && verbs.NamesEach(&v.Macro.Script.Calls[i]) {
				calls[i] += " for each of :" + v.Params[of].Name
			}
		}
		return []string{"what these change, in this order: " + strings.Join(calls, ", ") + ". Nothing else can change."}
	}
	var lines []string
	for i := range v.Effects {
		e := &v.Effects[i]
		var what string
		target := verbs.OneLine(e.Operand.Text)
		if e.Entity != nil {
			target = e.Entity.Store.Name
		}
		switch e.Kind {
		case verbs.Creates:
			what = "a new " + target
			if e.Upsert {
				what += ", where there is none"
			}
			if e.As != "" {
				what += ", called " + e.As
			}
		case verbs.Deletes:
			what = "removes " + message.Article(target)
		case verbs.Updates:
			what = target
			if fields := e.Changes(); fields != nil {
				what = target + ": " + strings.Join(fields, ", ")
			}
		default:
			continue
		}
		switch {
		case e.Where == nil:
		case e.Where.Filter != nil:
			what += ", of rows where " + e.Where.Filter.Line()
		case e.Where.By != nil:
			what += ", of the row with the same " + message.Joined(verbs.FieldNames(e.Entity.Store, fieldsOf(e.Where.By)), "and")
		}
		if e.Each != nil {
			what += ", for each " + e.Each.Line(v)
		}
		if e.May && e.When == nil {
			what += ", at times"
		}
		if e.When != nil {
			what += ", when " + e.When.Line()
		}
		lines = append(lines, what)
	}
	switch len(lines) {
	case 0:
		return []string{"nothing"}
	case 1:
		return []string{lines[0] + ". Nothing else can change."}
	}
	return append(lines, "Nothing else can change.")
}

func fieldsOf(set []verbs.Set) []int {
	fields := make([]int, len(set))
	for i := range set {
		fields[i] = set[i].Field
	}
	return fields
}

// promiseLines lists the promises that are not about rows.
func promiseLines(v *verbs.Verb) []string {
	var lines []string
	for i := range v.Effects {
		e := &v.Effects[i]
		if e.Kind == verbs.Creates || e.Kind == verbs.Updates || e.Kind == verbs.Deletes {
			continue
		}
		line := e.Word() + " " + verbs.OneLine(e.Operand.Text)
		if e.Each != nil {
			line += ", for each " + e.Each.Line(v)
		}
		if e.When != nil {
			line += ", when " + e.When.Line()
		}
		if e.Run != nil {
			line += ": " + e.RunLine()
			if e.At != nil {
				line += ", at " + e.At.Line()
			}
			if e.Unless != nil {
				line += ", unless then " + e.Unless.Line()
			}
			if len(e.Key) > 0 {
				line += "; of one " + e.KeyNames(v) + " " + [...]string{verbs.Replace: "the latest counts", verbs.Refuse: "a further one is refused while one waits", verbs.Keep: "the first counts while it waits"}[e.Again]
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// linesOf returns a line for each of several values.
func linesOf[T any](all []T, line func(*T) string) []string {
	lines := make([]string, len(all))
	for i := range all {
		lines[i] = line(&all[i])
	}
	return lines
}

func askLines(v *verbs.Verb) []string {
	var lines []string
	for i := range v.Confirm {
		c := &v.Confirm[i]
		line := "the caller agrees first"
		if c.By != nil {
			line = c.By.Name + " agrees first"
		}
		if !c.Always && c.When != nil {
			line += " when " + c.When.Line()
		}
		if c.Expires > 0 {
			line += ", within " + message.Lasting(c.Expires)
		}
		if c.Reason != "" {
			line += " (" + c.Reason + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

func lines(u *verbs.Undo) (lines []string) {
	switch within := ", within " + message.Lasting(int64(u.Within.Seconds())); {
	case u.None != "":
		return []string{"not: " + verbs.OneLine(u.None)}
	case u.Call != nil:
		lines = []string{"by " + dsl.FormatCall(&u.Call.Script.Calls[0]) + within}
	default:
		lines = []string{"puts the rows back as they were" + within}
	}
	for _, s := range u.Except {
		lines = append(lines, "but for "+s.Entity.Store.Name+"."+s.Entity.Store.Fields[s.Field].Name)
	}
	if u.Stays != "" {
		lines = append(lines, verbs.OneLine(u.Stays))
	}
	return lines
}

// Argument returns an argument on one line, as Verb shows it: its name, its type, whether it is
// required, and what it is for.
func Argument(p *verbs.Param) string {
	return strings.Join(strings.Fields(strings.Join([]string{":" + p.Name, p.Type.Short(), need(p), remark(p)}, " ")), " ")
}

func need(p *verbs.Param) string {
	switch {
	case p.Required:
		return "required"
	case p.Active:
		return "default: the one at work"
	case p.DefaultDay != nil:
		return "default " + p.DefaultDay.String()
	case p.Default.IsNull():
		return "optional"
	case p.Sensitive:
		return "has a default"
	case p.Type.Name == verbs.CodeType:
		return "default " + p.Default.Text()
	}
	return "default " + p.Default.String()
}

// remark returns further notes about an argument, shortest first.
func remark(p *verbs.Param) string {
	var parts []string
	if p.Description != "" {
		parts = append(parts, p.Description)
	}
	if p.Upload != nil {
		parts = append(parts, "a file that you sent: "+p.Upload.Wanted())
	} else if limits := p.Type.Limits(); limits != "" {
		parts = append(parts, limits)
	}
	if p.FollowUps {
		parts = append(parts, "may lack what is required of it under a condition")
	}
	if len(p.Examples) > 0 {
		parts = append(parts, "e.g. "+p.Example())
	}
	if p.From != 0 {
		says := "must come from " + p.From.Wanted()
		switch o := p.Otherwise; {
		case o == nil:
		case o.By == nil:
			says += ", asks otherwise"
		default:
			says += ", otherwise " + o.By.Name + " agrees first"
		}
		parts = append(parts, says)
	}
	if p.Sensitive {
		parts = append(parts, "never shown")
	}
	return strings.Join(parts, "; ")
}

// Palette prints the reference of a whole palette.
func Palette(w io.Writer, r *verbs.Registry, p *verbs.Palette) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n%s\n", p.Domain, verbs.OneLine(p.Description))
	if len(p.Verbs) > 0 {
		b.WriteString("\n| verb | what it does | who |\n|---|---|---|\n")
		for _, v := range p.Verbs {
			who := users(v)
			if v.Internal {
				who = "work"
			}
			fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s |\n", v.Name, anchor(v.Name), cell(v.Description), cell(who))
		}
	}
	for _, v := range p.Verbs {
		markdownVerb(&b, v)
	}
	var entities []*verbs.Entity
	for _, e := range r.Entities() {
		if e.Place.Source == p.Source {
			entities = append(entities, e)
		}
	}
	if len(entities) > 0 {
		b.WriteString("\n## What the rows are\n")
	}
	for _, e := range entities {
		markdownEntity(&b, e)
	}
	var lists []*verbs.CodeList
	for _, l := range r.CodeLists() {
		if l.Place.Source == p.Source {
			lists = append(lists, l)
		}
	}
	if len(lists) > 0 {
		b.WriteString("\n## Codes\n")
	}
	for _, l := range lists {
		fmt.Fprintf(&b, "\n### %s\n\n", l.Name)
		if l.Description != "" {
			b.WriteString(verbs.OneLine(l.Description) + "\n\n")
		}
		for _, c := range l.Codes {
			b.WriteString("- `" + c.Name + "`")
			if c.Description != "" {
				b.WriteString(" " + verbs.OneLine(c.Description))
			}
			b.WriteByte('\n')
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func markdownVerb(b *bytes.Buffer, v *verbs.Verb) {
	fmt.Fprintf(b, "\n## %s\n\n", v.Name)
	if v.Description != "" {
		b.WriteString(verbs.OneLine(v.Description) + "\n\n")
	}
	if !v.Internal {
		fmt.Fprintf(b, "```\n%s\n```\n", v.Example())
	}
	if len(v.Params) > 0 {
		b.WriteString("\n| argument | type | | |\n|---|---|---|---|\n")
		for i := range v.Params {
			p := &v.Params[i]
			fmt.Fprintf(b, "| `:%s` | %s | %s | %s |\n", p.Name, cell(p.Type.Short()), cell(need(p)), cell(remark(p)))
		}
	}
	b.WriteByte('\n')
	for _, f := range facts(v) {
		text := strings.Join(f.lines, "; ")
		if i := strings.LastIndex(text, "; Nothing else"); i >= 0 {
			text = text[:i] + ". " + text[i+2:]
		}
		fmt.Fprintf(b, "- **%s** %s\n", f.title, text)
	}
	people := func(in string, phrases []string) {
		if len(phrases) == 0 {
			return
		}
		quoted := make([]string, len(phrases))
		for i, phrase := range phrases {
			quoted[i] = "“" + phrase + "”"
		}
		fmt.Fprintf(b, "- **people say**%s %s\n", in, strings.Join(quoted, ", "))
	}
	people("", v.Phrases)
	for _, tag := range slices.Sorted(maps.Keys(v.PhrasesIn)) {
		people(" ("+tag+")", v.PhrasesIn[tag])
	}
}

func markdownEntity(b *bytes.Buffer, e *verbs.Entity) {
	fmt.Fprintf(b, "\n### %s\n\n", e.Store.Name)
	if e.Description != "" {
		b.WriteString(verbs.OneLine(e.Description) + "\n\n")
	}
	owner := "Its rows belong to " + verbs.OwnerOf(e.Store) + "."
	switch {
	case e.Store.Access == stores.ForAll:
		owner = "Everybody may read it."
	case e.Store.Access == stores.ByPath && len(e.Store.Scope) == 0:
		owner = "Whoever was given a row sees it, and what belongs to it."
	}
	if len(e.Store.Visible) > 0 {
		owner += " A row in which " + message.Joined(verbs.FieldNames(e.Store, e.Store.Visible), "and") + " is not true exists only for roles that see all, and so does what belongs to it."
	}
	fmt.Fprintf(b, "Kept in `%s`. %s\n\n", e.Store.Table, owner)
	b.WriteString("| field | type | |\n|---|---|---|\n")
	for i := range e.Fields {
		f, kept := &e.Fields[i], &e.Store.Fields[i]
		var remarks []string
		if f.Description != "" {
			remarks = append(remarks, f.Description)
		} else if i == e.Store.Key {
			remarks = append(remarks, "the key")
		}
		if limits := f.Type.Limits(); limits != "" {
			remarks = append(remarks, limits)
		}
		if kept.Required && i != e.Store.Key {
			remarks = append(remarks, "required")
		}
		if kept.Default != (stores.Value{}) {
			remarks = append(remarks, "default "+kept.Default.Text())
		}
		if kept.Sensitive {
			remarks = append(remarks, "sensitive")
		}
		if kept.Personal {
			remarks = append(remarks, "personal")
		}
		if by := f.WrittenBy; len(by) > 0 {
			remarks = append(remarks, "written by "+message.Joined(roleNames(by), "or"))
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", kept.Name, cell(f.Type.Short()), cell(strings.Join(remarks, "; ")))
	}
}

// cell makes text safe for a table in Markdown.
func cell(s string) string { return strings.ReplaceAll(verbs.OneLine(s), "|", `\|`) }

// anchor is the name that Markdown renderers give a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r == ' ':
			return '-'
		}
		return -1
	}, heading)
}

// Code prints what a diagnostic code means, with a text that causes it and one that does
// not.
func Code(w io.Writer, doc dsl.CodeDoc) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n\n%s\n", doc.Code, doc.Meaning)
	for _, part := range []struct{ title, text string }{{"wrong", doc.Wrong}, {"right", doc.Right}} {
		if part.text == "" {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n\n", part.title)
		for _, line := range strings.Split(strings.TrimRight(part.text, "\n"), "\n") {
			b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// toolLines describes a tool for a reference.
func toolLines(v *verbs.Verb) []string {
	t := v.Tool
	line := "tool " + t.Name + " of " + t.Server
	switch {
	case t.ReadOnly:
		line += ", which only reads"
	case t.Idempotent:
		line += ", outside of this system; asked again under one key, it does nothing twice"
	default:
		line += ", outside of this system, where nothing is taken back"
	}
	lines := []string{line}
	if len(t.Sends) > 0 {
		sent := make([]string, len(t.Sends))
		for i := range t.Sends {
			s := &t.Sends[i]
			sent[i] = s.Key
			if what := s.Line(v); what != s.Key {
				sent[i] += " (" + what + ")"
			}
		}
		lines = append(lines, "it is sent "+strings.Join(sent, ", "))
	}
	return lines
}
