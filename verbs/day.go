package verbs

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs/jsondoc"
	"verbatim/verbs/message"
	"verbatim/verbs/naming"
)

// A Day is a bound of dates that depends on the current date: today, or so long before or after
// it. This package reads no clock: the caller says what today is for the person.
type Day struct {
	n    int // number of units from today; negative is before
	unit unit
}

type unit uint8

const (
	ofDays unit = iota
	ofWeeks
	ofMonths
	ofYears
)

var unitWords = [...]string{"day", "week", "month", "year"}

// furthestDay is how far a bound may be from today, in its unit: no date computed from it leaves
// the calendar.
var furthestDay = [...]int{ofDays: 100_000, ofWeeks: 15_000, ofMonths: 3_600, ofYears: 300}

// dayForms shows how a moving bound is written.
const dayForms = "a day is 2025-01-03, today, today + 30 days or today - 18 years"

// parseDay reads "today", "today + 30 days", "today - 18 years".
func parseDay(text string) (*Day, bool) {
	parts := strings.Fields(text)
	switch {
	case len(parts) == 1 && parts[0] == "today":
		return &Day{}, true
	case len(parts) != 4 || parts[0] != "today" || parts[1] != "+" && parts[1] != "-" || !naming.AreDigits(parts[2]) || len(parts[2]) > 6:
		return nil, false
	}
	n, err := strconv.Atoi(parts[2])
	u := slices.Index(unitWords[:], strings.TrimSuffix(parts[3], "s"))
	if err != nil || u < 0 || n > furthestDay[u] {
		return nil, false
	}
	if parts[1] == "-" {
		n = -n
	}
	return &Day{n, unit(u)}, true
}

// String returns the bound as a palette writes it.
func (d *Day) String() string {
	switch {
	case d.n < 0:
		return "today - " + message.Count(-d.n, unitWords[d.unit])
	case d.n > 0:
		return "today + " + message.Count(d.n, unitWords[d.unit])
	}
	return "today"
}

// On returns the date of the bound for a given today. If a month or a year later there is no such
// day, it is the last day of that month.
func (d *Day) On(today stores.Value) stores.Value {
	switch d.unit {
	case ofDays:
		return stores.NewDays(today.Days() + int64(d.n))
	case ofWeeks:
		return stores.NewDays(today.Days() + 7*int64(d.n))
	}
	months := d.n
	if d.unit == ofYears {
		months *= 12
	}
	to, _ := today.AddMonths(months)
	return to
}

// Moves reports whether the values that the type accepts depend on the current date.
func (t *Type) Moves() bool { return t.ByDay() || t != nil && (t.Item.Moves() || t.Schema.Moves()) }

// ByDay reports whether the type itself has such a bound, not counting the schema of objects that
// it takes.
func (t *Type) ByDay() bool {
	return t != nil && (t.MinDay != nil || t.MaxDay != nil || t.Item.ByDay() || t.AnyField(func(f *Param) bool { return f.Type.ByDay() }))
}

// Moves reports whether the values that the verb accepts depend on the current date.
func (v *Verb) Moves() bool { return v.plan.moves }

func (p *Param) moves(v *Verb) bool {
	if p.Type.Moves() {
		return true
	}
	by, ok := p.SchemaOf()
	if !ok || v.Params[by].Type == nil || v.Params[by].Type.Codes == nil {
		return false
	}
	codes := v.Params[by].Type.Codes
	return slices.ContainsFunc(codes.Codes, func(c Code) bool { return codes.Schema(c.Name).Moves() })
}

// Between returns the first and the last date that the type accepts for a given today; null is no
// bound.
func (t *Type) Between(today stores.Value) (first, last stores.Value) {
	if t.Name != DateType {
		return first, last
	}
	first, last = t.Min, t.Max
	if t.MinDay != nil {
		first = t.MinDay.On(today)
	}
	if t.MaxDay != nil {
		last = t.MaxDay.On(today)
	}
	return first, last
}

// OnDay checks a value that the type accepts against the bounds that depend on the current date.
// The error is a sentence about what is wanted and quotes nothing of the value.
func (t *Type) OnDay(today, v stores.Value) error {
	if v.IsNull() || !t.Moves() {
		return nil
	}
	switch t.Name {
	case DateType:
		if v.Kind() != stores.Date {
			return nil
		}
		if says, ok := offDay(t.MinDay, t.MaxDay, today, v); !ok {
			return errors.New(says)
		}
	case ListType:
		items, err := v.Items(t.Item.Kind())
		if err != nil {
			return nil
		}
		for i := range items {
			if err := t.Item.OnDay(today, items[i]); err != nil {
				return fmt.Errorf("item %d: %w", i+1, err)
			}
		}
	case RecordType:
		parts, _ := t.Parts(v)
		for i := range parts {
			if err := t.Fields[i].Type.OnDay(today, parts[i]); err != nil {
				return fmt.Errorf(":%s: %w", t.Fields[i].Name, err)
			}
		}
	case ObjectType:
		for _, b := range t.Schema.OnDay(today, v) {
			return errors.New(strings.TrimSpace(strings.Join(b.Path, ".") + " " + b.Says))
		}
	}
	return nil
}

// offDay says which bound a date breaks.
func offDay(first, last *Day, today, v stores.Value) (says string, ok bool) {
	if first != nil {
		if bound := first.On(today); Less(v, bound) {
			return "the earliest is " + first.told(bound), false
		}
	}
	if last != nil {
		if bound := last.On(today); Less(bound, v) {
			return "the latest is " + last.told(bound), false
		}
	}
	return "", true
}

func (d *Day) told(bound stores.Value) string {
	if d.n == 0 {
		return "today, " + bound.Text()
	}
	return bound.Text() + " (" + d.String() + ")"
}

// Moving reads a bound that may be a Day.
func (t *Type) Moving(text string, into **Day) bool {
	if t.Name != DateType || !strings.HasPrefix(text, "today") {
		return false
	}
	d, ok := parseDay(text)
	*into = d
	return ok
}

// NeverBoth reports whether no date ever lies between two bounds.
func NeverBoth(first, last *Day) bool {
	if first == nil || last == nil {
		return false
	}
	for _, text := range [...]string{"2023-01-31", "2024-02-29", "2024-06-15", "2024-12-31"} {
		today, _ := stores.ParseDate(text)
		if !Less(last.On(today), first.On(today)) {
			return false
		}
	}
	return true
}

// Moves reports whether the values that some call of the program accepts depend on the current
// date.
func (p *Program) Moves() bool {
	return slices.ContainsFunc(p.calls, func(c Call) bool { return c.Verb.plan.moves })
}

// Days checks the values written out in a program against the bounds that depend on the current
// date, for a given today. The engine checks values that become known later.
func (p *Program) Days(today stores.Value) dsl.Diagnostics {
	var ds dsl.Diagnostics
	for i := range p.calls {
		c := &p.calls[i]
		if !c.Verb.plan.moves {
			continue
		}
		for j := range c.Args {
			param := &c.Verb.Params[j]
			ds = append(ds, p.day(today, param, ":"+param.Name, param.Type, &c.Args[j])...)
			if by, ok := param.SchemaOf(); ok && c.Args[by].Kind == Literal && c.Args[by].Value.Kind() == stores.String {
				if s := c.Verb.Params[by].Type.Codes.Schema(c.Args[by].Value.Text()); s.Moves() {
					ds = append(ds, p.daysOf(today, param, s, &c.Args[j])...)
				}
			}
		}
	}
	return ds
}

func (p *Program) day(today stores.Value, param *Param, name string, t *Type, a *Arg) (ds dsl.Diagnostics) {
	if a.Syntax == nil || !t.Moves() {
		return nil
	}
	rec := t.Record()
	switch {
	case t == rec:
		parts, _ := t.Parts(a.Value) // of one that is written out whole
		for i, entries := 0, a.Syntax.Entries(); i < len(entries); i++ {
			k := t.FieldIndex(entries[i].Key)
			part := &Arg{Kind: Literal, Syntax: &entries[i].Value}
			if a.Kind == Mapped {
				part = &a.Items()[i]
			} else if parts != nil && k >= 0 {
				part.Value = parts[k]
			}
			if k >= 0 {
				ds = append(ds, p.day(today, param, ":"+t.Fields[k].Name+" in "+name, t.Fields[k].Type, part)...)
			}
		}
		return ds
	case a.Kind == Literal && rec != nil:
		items, _ := a.Value.Items(stores.JSON)
		for i := range items {
			ds = append(ds, p.day(today, param, "item "+strconv.Itoa(i+1)+" of "+name, t.Item, &Arg{Kind: Literal, Value: items[i], Syntax: &a.Syntax.Items()[i]})...)
		}
		return ds
	case a.Kind == Listed:
		for i := range a.Items() {
			within := name
			if rec != nil {
				within = "item " + strconv.Itoa(i+1) + " of " + name
			}
			ds = append(ds, p.day(today, param, within, t.Item, &a.Items()[i])...)
		}
		return ds
	}
	if a.Kind != Literal {
		return nil
	}
	if t.Name == ObjectType {
		return p.daysOf(today, param, t.Schema, a)
	}
	if err := t.OnDay(today, a.Value); err != nil {
		return dsl.Diagnostics{offToday(dsl.Place{Source: p.script.Source, Range: a.Syntax.Range}, name, "is out of range: "+err.Error())}
	}
	return nil
}

func (p *Program) daysOf(today stores.Value, param *Param, s *Schema, a *Arg) dsl.Diagnostics {
	if a.Kind != Literal || a.Syntax == nil {
		return nil
	}
	var ds dsl.Diagnostics
	for _, b := range s.OnDay(today, a.Value) {
		where, name := a.Syntax, ":"+param.Name
		for _, step := range b.Path {
			next, label := into(where, step)
			if next == nil {
				break
			}
			where, name = next, label+" in "+name
		}
		d := offToday(dsl.Place{Source: p.script.Source, Range: where.Range}, name, b.Says)
		if b.Wrong != "" {
			d.Notes = append([]string{b.Wrong}, d.Notes...)
		}
		ds = append(ds, d)
	}
	return ds
}

// The keywords of a schema for date bounds that depend on the current date: JSON Schema has none.
const (
	dayLeast = "x-min"
	dayMost  = "x-max"
)

// Moves reports whether the values that the schema accepts depend on the current date.
func (s *Schema) Moves() bool {
	return s != nil && bytes.Contains(s.text, []byte(`"x-m`)) && s.Compile() == nil && s.moves
}

// Between returns the first and the last date that a property of an object may have for a given
// today; null is no bound.
func (s *Schema) Between(property string, today stores.Value) (first, last stores.Value) {
	if !s.Moves() {
		return first, last
	}
	m, _ := jsondoc.At(s.doc, []string{"properties", property}).(map[string]any)
	if d := dayIn(m, dayLeast); d != nil {
		first = d.On(today)
	}
	if d := dayIn(m, dayMost); d != nil {
		last = d.On(today)
	}
	return first, last
}

// OnDay checks an object against the bounds of its dates that depend on the current date, for a
// given today. The breaches quote nothing of the object.
func (s *Schema) OnDay(today, v stores.Value) []Breach {
	if !s.Moves() || v.Kind() != stores.JSON {
		return nil
	}
	instance, err := jsondoc.Decode(v.Text())
	if err != nil {
		return nil
	}
	var found []Breach
	s.onDay(s.doc, instance, nil, today, 0, &found)
	slices.SortStableFunc(found, func(a, b Breach) int { return slices.Compare(a.Path, b.Path) })
	return found
}

// deepestRule limits how deep a schema, which may refer to itself, is followed.
const deepestRule = 32

func (s *Schema) onDay(rule, v any, path []string, today stores.Value, depth int, found *[]Breach) {
	m, ok := rule.(map[string]any)
	if !ok || depth > deepestRule {
		return
	}
	if text, ok := v.(string); ok {
		first, last := dayIn(m, dayLeast), dayIn(m, dayMost)
		if date, ok := stores.ParseDate(text); ok && (first != nil || last != nil) {
			if says, ok := offDay(first, last, today, date); !ok {
				*found = append(*found, Breach{Path: slices.Clone(path), Rule: "day", Says: "is out of range: " + says, Safe: true, Wrong: s.wrongAt(path)})
			}
		}
	}
	if ref, ok := m["$ref"].(string); ok && strings.HasPrefix(ref, "#") {
		s.onDay(jsondoc.At(s.doc, jsondoc.Pointer(ref[1:])), v, path, today, depth+1, found)
	}
	all, _ := m["allOf"].([]any)
	for _, r := range all {
		s.onDay(r, v, path, today, depth+1, found)
	}
	if object, ok := v.(map[string]any); ok {
		properties, _ := m["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if inner, there := object[name]; there {
				s.onDay(properties[name], inner, append(path, name), today, depth+1, found)
			}
		}
	}
	if list, ok := v.([]any); ok && m["items"] != nil {
		for i, inner := range list {
			s.onDay(m["items"], inner, append(path, strconv.Itoa(i)), today, depth+1, found)
		}
	}
}

func dayIn(m map[string]any, key string) *Day {
	text, _ := m[key].(string)
	d, _ := parseDay(text)
	return d
}

// lookForDays finds the bounds of dates in a schema, and reports errors in them. A bound in a
// place that is not searched is an error too: a rule that is not enforced is worse than none.
func (s *Schema) lookForDays(rule any, held bool) error {
	switch rule := rule.(type) {
	case []any:
		for _, r := range rule {
			if err := s.lookForDays(r, held); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, key := range [...]string{dayLeast, dayMost} {
			text, there := rule[key]
			if !there {
				continue
			}
			switch _, ok := parseDay(fmt.Sprint(text)); {
			case !ok:
				return fmt.Errorf("%s is %v; it is today, or so long before or after it: today + 30 days, today - 18 years", key, text)
			case rule["format"] != "date":
				return fmt.Errorf("%s goes with format: date", key)
			case !held:
				return fmt.Errorf("%s stands where it would not be held: it may stand under properties, items, allOf and $defs", key)
			}
			s.moves = true
		}
		if NeverBoth(dayIn(rule, dayLeast), dayIn(rule, dayMost)) {
			return fmt.Errorf("%s lies after %s, and no date could be both", dayLeast, dayMost)
		}
		for _, key := range slices.Sorted(maps.Keys(rule)) {
			switch key {
			case "properties", "$defs":
				inner, _ := rule[key].(map[string]any)
				for _, name := range slices.Sorted(maps.Keys(inner)) {
					if err := s.lookForDays(inner[name], held); err != nil {
						return err
					}
				}
			case "examples", "default", "const", "enum":
			default:
				if err := s.lookForDays(rule[key], held && (key == "items" || key == "allOf")); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
