package documents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/tests/norace"
)

// pagesOf is a PDF of so many pages of text, which claims to have others.
func pagesOf(n, claimed int) []byte {
	var kids, lines strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lines, "1 0 0 1 50 %d Tm (Line %d of a page that says a lot) Tj ", 780-18*i, i)
	}
	objects := []string{"<</Type/Catalog/Pages 2 0 R>>", "", stream("", "BT /F 12 Tf "+lines.String()+"ET")}
	for i := range n {
		fmt.Fprintf(&kids, "%d 0 R ", 4+i)
		objects = append(objects, "<</Type/Page/Parent 2 0 R/Contents 3 0 R"+resources+">>")
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids.String(), claimed)
	return pdfOf(objects...)
}

// While a long file is read, its reader reports how many of its pages are done: never more
// than there are, whatever the file claims, and not more than ten times a second.
func TestALongFileTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	const pages = 400 // which take some tenths of a second
	for name, claimed := range map[string]int{"as it is": pages, "fewer": 3, "none": 0, "a million": 1_000_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []int
			began := time.Now()
			_, err := Follow(t.Context(), "a.pdf", bytes.NewReader(pagesOf(pages, claimed)), Limits{Wall: time.Minute, CPU: time.Minute}, func(done, total int) {
				if len(told) > 0 && done <= told[len(told)-1] || done > total || done > pages || claimed == pages && total != pages {
					t.Errorf("%d of %d after %v", done, total, told)
				}
				told = append(told, done)
			})
			if err != nil {
				t.Fatal(err)
			}
			if most := int(time.Since(began)/(100*time.Millisecond)) + 1; claimed <= pages && len(told) < 2 || len(told) > most {
				t.Errorf("told %d times, at most %d: %v", len(told), most, told)
			}
		})
	}
}

// Who stops waiting in the middle of a long file waits no longer.
func TestALongFileIsLeftInTheMiddle(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var at time.Time
	_, err := Follow(ctx, "a.pdf", bytes.NewReader(pagesOf(4500, 4500)), Limits{Wall: time.Minute, CPU: time.Minute}, func(int, int) {
		if at.IsZero() {
			at = time.Now()
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || time.Since(at) > 2*time.Second {
		t.Errorf("%v, %v later", err, time.Since(at))
	}
}
