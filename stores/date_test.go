package stores

import (
	"fmt"
	"testing"
	"time"
)

// ParseDate agrees with package time on days of the calendar, on what is not one,
// and on other texts of ten bytes.
func TestDatesAgreeWithTheCalendar(t *testing.T) {
	t.Parallel()
	agree := func(s string) {
		t.Helper()
		got, ok := ParseDate(s)
		want, err := time.Parse(time.DateOnly, s)
		valid := err == nil && want.Year() >= minYear
		if ok != valid || ok && got != NewDays(want.Unix()/86400) {
			t.Fatalf("%q: %v %v, want %v %v", s, got.Text(), ok, want, valid)
		}
	}
	for year := 0; year < 10_000; year++ {
		if year == 450 {
			year = 1850
		}
		if year == 2150 {
			year = 9900
		}
		for month := range 14 {
			for _, d := range []int{0, 1, 15, 28, 29, 30, 31, 32} {
				agree(fmt.Sprintf("%04d-%02d-%02d", year, month, d))
			}
		}
	}
	for d := range 100 {
		agree(fmt.Sprintf("2024-02-%02d", d))
	}
	for i := range 10 {
		for c := range 256 {
			text := []byte("2025-11-13")
			text[i] = byte(c)
			agree(string(text))
		}
	}
	agree("")
	agree("2025-01-3")
	agree("2025-01-031")
}
