package stores

import (
	"strings"
	"time"
)

// wall returns what clocks in a zone show at an instant, as if it were UTC.
func wall(v Value, zone *time.Location) Value {
	t := v.Time()
	_, off := t.In(zone).Zone()
	return NewTime(t.Add(time.Duration(off) * time.Second))
}

// instant returns the instant at which clocks in a zone show w: the later one, as in PostgreSQL, if
// they show it twice. ok is false if they never do.
func instant(w Value, zone *time.Location) (v Value, ok bool) {
	for _, day := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		_, off := w.Time().Add(day).In(zone).Zone()
		if t := NewTime(w.Time().Add(-time.Duration(off) * time.Second)); wall(t, zone) == w && (!ok || t.num > v.num) {
			v, ok = t, true
		}
	}
	return v, ok
}

// NewFormIn is NewForm for times of a zone. Their order is that of the clock, which once a year
// goes back.
func NewFormIn(zone *time.Location, form string) (s *Spelling, ok bool) {
	if s, ok = NewForm(Time, form); !ok || zone == nil {
		return s, ok
	}
	store, load := s.Store, s.Load
	s.Name += " in " + zone.String()
	s.Store = func(v Value) (Value, bool) {
		if v.Kind() != Time {
			return Value{}, false
		}
		return store(wall(v, zone))
	}
	s.Load = func(v Value) (Value, bool) {
		w, ok := load(v)
		if !ok {
			return w, false
		}
		return instant(w, zone)
	}
	return s, true
}

// NewUnits returns the spelling of decimals that a column stores as integers. digits is the
// number of decimal places: 2 for hundredths.
func NewUnits(digits int) *Spelling {
	one, _ := ParseDecimal("0." + strings.Repeat("0", digits-1) + "1")
	many, _ := ParseInt("1" + strings.Repeat("0", digits))
	return &Spelling{
		Name: "a number of units of " + one.Text(), Kind: Int, Ordered: true, Digits: digits,
		Store: func(v Value) (Value, bool) {
			n, ok := Arith('*', v, many)
			if !ok {
				return Value{}, false
			}
			whole, point, _ := strings.Cut(n.Text(), ".")
			if strings.Trim(point, "0") != "" {
				return Value{}, false
			}
			return ParseInt(whole)
		},
		Load: func(v Value) (Value, bool) { return Arith('*', v, one) },
	}
}

// floorUnits rounds a decimal down to a whole number of units.
func floorUnits(v Value, digits int) (Value, bool) {
	many, _ := ParseInt("1" + strings.Repeat("0", digits))
	n, ok := Arith('*', v, many)
	if !ok {
		return Value{}, false
	}
	whole, _, _ := strings.Cut(n.Text(), ".")
	if floor, ok := ParseInt(whole); ok && strings.HasPrefix(whole, "-") {
		return NewInt(floor.Int() - 1), true
	} else {
		return floor, ok
	}
}

// NewForm returns the spelling of dates or times, by kind, as text. In form, YYYY, MM, DD, hh, mm
// and ss stand for the parts, and everything else for itself. Times are in UTC. ok is false if a
// part is missing or occurs twice.
func NewForm(kind Kind, form string) (s *Spelling, ok bool) {
	parts := []string{"YYYY", "MM", "DD"}
	if kind == Time {
		parts = append(parts, "hh", "mm", "ss")
	}
	at, ordered := make([]int, len(parts)), true
	for i, p := range parts {
		at[i] = strings.Index(form, p)
		if at[i] < 0 || strings.Count(form, p) != 1 {
			return nil, false
		}
		ordered = ordered && (i == 0 || at[i] > at[i-1])
	}
	full := "YYYY-MM-DD"
	if kind == Time {
		full = "YYYY-MM-DDThh:mm:ssZ"
	}
	return &Spelling{
		Name: "a " + kind.String() + " written " + form, Kind: String, Ordered: ordered,
		Store: func(v Value) (Value, bool) {
			text := v.Text()
			if v.Kind() != kind || len(text) != len(full) { // or it has parts of a second
				return Value{}, false
			}
			out := form
			for _, p := range parts {
				from := strings.Index(full, p)
				out = strings.Replace(out, p, text[from:from+len(p)], 1)
			}
			return NewString(out), true
		},
		Load: func(v Value) (Value, bool) {
			text := v.Text()
			if len(text) != len(form) {
				return Value{}, false
			}
			out, rest := full, form
			for i, p := range parts {
				out = strings.Replace(out, p, text[at[i]:at[i]+len(p)], 1)
				rest = rest[:at[i]] + text[at[i]:at[i]+len(p)] + rest[at[i]+len(p):]
			}
			w, ok := Parse(kind, out)
			return w, ok && rest == text
		},
	}, true
}
