package values

import (
	"testing"
	"time"

	"verbatim/stores"
)

// A day without its year is the next such day, and the last one where an argument takes none
// ahead: "since 10 January".
func TestADayWithoutItsYearLiesWhereItMay(t *testing.T) {
	t.Parallel()
	now := time.Date(2025, 1, 17, 9, 0, 0, 0, time.UTC) // a Friday
	until := Between(stores.Value{}, stores.DateOf(now))
	for said, want := range map[string][2]string{
		"since 10 January": {"2026-01-10", "2025-01-10"}, "since 20 January": {"2025-01-20", "2024-01-20"}, "seit dem 10. Januar": {"2026-01-10", "2025-01-10"},
		"since Monday": {"2025-01-20", "2025-01-13"}, "since 29 February": {"2028-02-29", "2024-02-29"}, "since 3 March 2030": {"2030-03-03", ""},
	} {
		all, _ := Find(said, In{Now: now})
		if len(all) != 1 {
			t.Errorf("%s: %d readings", said, len(all))
			continue
		}
		held := until.Hold(all[0])
		if all[0].Value.Text() != want[0] || held.Value.Text() != want[1] && !(want[1] == "" && held.Problem == TooLate) {
			t.Errorf("%s: %s, and not ahead %s (%v)", said, all[0].Value.Text(), held.Value.Text(), held.Problem)
		}
	}
}
