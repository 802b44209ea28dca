package stores

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Every day that can be written is counted as package time counts it.
func TestDaysAgreeWithTheStandardCalendar(t *testing.T) {
	t.Parallel()
	day := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	end := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for ; day.Before(end); day = day.AddDate(0, 0, 1) {
		v, ok := NewDate(day.Year(), int(day.Month()), day.Day())
		if !ok || v.Days() != day.Unix()/86400 || !v.Time().Equal(day) {
			t.Fatalf("%s: %v %v, want %d", day.Format(time.DateOnly), v.Days(), ok, day.Unix()/86400)
		}
	}
}

func TestMonthsAreAddedWithinTheCalendar(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from string
		n    int
		to   string
		cut  bool
	}{
		{"2025-01-31", 1, "2025-02-28", true}, {"2024-01-31", 1, "2024-02-29", true}, {"2024-02-29", 12, "2025-02-28", true},
		{"2024-02-29", 48, "2028-02-29", false}, {"2025-03-31", -1, "2025-02-28", true}, {"2025-01-15", -13, "2023-12-15", false},
		{"2024-12-31", 0, "2024-12-31", false}, {"1969-12-31", -2, "1969-10-31", false}, {"2025-11-30", 3, "2026-02-28", true},
	} {
		from, _ := ParseDate(c.from)
		if to, cut := from.AddMonths(c.n); to.Text() != c.to || cut != c.cut {
			t.Errorf("%s and %d months: %s %v, want %s %v", c.from, c.n, to.Text(), cut, c.to, c.cut)
		}
	}
}

// An instant has the date of its own time zone, also before 1970.
func TestDateOfAnInstant(t *testing.T) {
	t.Parallel()
	at := time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC)
	if got := DateOf(at).Text(); got != "1969-12-31" {
		t.Error(got)
	}
	if got := DateOf(at.In(time.FixedZone("", 3600))).Text(); got != "1970-01-01" {
		t.Error(got)
	}
}

func TestParseRefusesWhatIsNotThere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind Kind
		text string
	}{
		{Date, "2025-02-29"}, {Date, "2025-13-01"}, {Date, "2025-00-10"}, {Date, "0000-01-01"},
		{Date, "2025-1-3"}, {Date, "2025-01-03T00:00:00Z"}, {Date, "+025-01-03"},
		{Decimal, ""}, {Decimal, "-"}, {Decimal, "."}, {Decimal, "1."}, {Decimal, ".5"}, {Decimal, "1e3"},
		{Decimal, "+1"}, {Decimal, "1-2"}, {Decimal, "1.2.3"}, {Decimal, "١"}, {Decimal, " 1"},
		{Int, "9223372036854775808"}, {Int, "+1"}, {Int, "1_000"}, {Int, ""},
		{UUID, "123e4567-e89b-12d3-a456-42661417400g"}, {UUID, "123e4567e89b12d3a456426614174000"},
		{Time, "2025-01-03"}, {Time, "2025-01-03T10:00:00"}, {Time, "2025-01-03T10:00:00.0000001Z"},
		{JSON, "{"}, {JSON, `{"a":1,"a":2}`}, {JSON, "1 2"}, {JSON, "\xff"}, {JSON, `[1,]`},
	} {
		if v, ok := Parse(c.kind, c.text); ok {
			t.Errorf("Parse(%s, %q) = %v, want a refusal", c.kind, c.text, v)
		}
	}
}

func TestTextRoundTrips(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(t)
		got, ok := Parse(v.Kind(), v.Text())
		if !ok || got != v {
			t.Fatalf("Parse(%s, %q) = %v %v", v.Kind(), v.Text(), got, ok)
		}
		got, ok = FromJSON(v.Kind(), v.AppendJSON(nil))
		if !ok || got != v {
			t.Fatalf("FromJSON(%s, %s) = %v %v", v.Kind(), v.AppendJSON(nil), got, ok)
		}
	})
}

func TestNumbersAreExact(t *testing.T) {
	t.Parallel()
	dec := func(s string) Value {
		v, ok := ParseDecimal(s)
		if !ok {
			t.Fatal(s)
		}
		return v
	}
	for _, c := range []struct {
		op         byte
		a, b, want string
	}{
		{'+', "0.1", "0.2", "0.3"}, {'+', "1.10", "1.40", "2.50"}, {'-', "1000000000000000000000.01", "0.01", "1000000000000000000000.00"},
		{'*', "5.20", "3", "15.60"},
	} {
		if got, ok := Arith(c.op, dec(c.a), dec(c.b)); !ok || got.Text() != c.want {
			t.Errorf("%s %c %s = %v %v, want %s", c.a, c.op, c.b, got, ok, c.want)
		}
	}
	if _, ok := Arith('+', NewInt(1<<62), NewInt(1<<62)); ok {
		t.Error("an integer sum that does not fit was not refused")
	}
	if !Equal(dec("3.50"), dec("3.5")) || !Equal(dec("3.0"), NewInt(3)) || Equal(dec("3"), NewString("3")) {
		t.Error("Equal does not compare numbers by worth")
	}
	if order, ok := Compare(dec("10"), dec("9.99")); !ok || order != 1 {
		t.Error("10 is not more than 9.99")
	}
	if _, ok := Compare(Value{}, Value{}); ok {
		t.Error("null was ordered")
	}
}

func TestCanonicalJSON(t *testing.T) {
	t.Parallel()
	v, err := ParseJSON("{ \"b\" : [1.50, 1e2, true, null], \"a\" : \"</é\\u000a\u2028\" }")
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":"</é\n\u2028","b":[1.50,1e2,true,null]}`; v.Text() != want {
		t.Errorf("got  %s\nwant %s", v.Text(), want)
	}
	again, err := ParseJSON(v.Text())
	if err != nil || again != v {
		t.Errorf("canonical text is not canonical: %v %v", again, err)
	}
}

// Values are read on the checker's path, which promises no allocation.
func TestParsingDoesNotAllocate(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		_, _ = ParseDate("2025-01-03")
		_, _ = ParseDecimal("1234.50")
		_, _ = ParseUUID("123e4567-e89b-12d3-a456-426614174000")
		ParseInt("42")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func anyValue(t *rapid.T) Value {
	switch Kind(rapid.IntRange(1, int(JSON)).Draw(t, "kind")) {
	case Bool:
		return NewBool(rapid.Bool().Draw(t, "bool"))
	case Int:
		return NewInt(rapid.Int64().Draw(t, "int"))
	case Decimal:
		v, _ := ParseDecimal(rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,10})?`).Draw(t, "decimal"))
		return v
	case Date:
		return NewDays(rapid.Int64Range(-719162, 2932896).Draw(t, "days"))
	case Time:
		return NewTime(time.UnixMicro(rapid.Int64Range(-6e16, 2e17).Draw(t, "micros")))
	case Duration:
		return NewDuration(time.Duration(rapid.Int64Range(-9e15, 9e15).Draw(t, "duration")) * time.Microsecond)
	case UUID:
		v, _ := ParseUUID(rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`).Draw(t, "uuid"))
		return v
	case JSON:
		var items []Value
		for _, s := range rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "items") {
			items = append(items, NewString(s))
		}
		return NewList(items...)
	default:
		return NewString(rapid.String().Draw(t, "string"))
	}
}
