package values

import (
	"testing"
	"time"
)

// G10: a time of day is the reader's own, or says that it is UTC.
func TestATimeIsLocalOrCarriesItsZone(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 20, 21, 0, 0, time.UTC)
	for zone, want := range map[*time.Location]string{time.UTC: "20:21 UTC", time.FixedZone("Berlin", 3600): "21:21"} {
		if got := SayTime(at, zone); got != want {
			t.Errorf("in %s: %q, want %q", zone, got, want)
		}
	}
}
