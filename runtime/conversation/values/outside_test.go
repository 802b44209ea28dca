package values

import (
	"bufio"
	"encoding/json"
	"flag"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// Dates and numbers of the tests of other libraries are no part of this project:
//
//	go test ./runtime/conversation/values -run TestOutside -v -outside FILE
//
// Each line of the file has a text, where in it the value stands, when it is said, and what is right.
var outside = flag.String("outside", "", "the `file` of dates and numbers by others, to measure with")

// TestOutside counts what is read of them: alone, as an answer, and within a sentence. A value that is not
// what was said is wrong; to ask is neither right nor wrong.
func TestOutside(t *testing.T) {
	if *outside == "" {
		t.Skip("-outside names no file")
	}
	file, err := os.Open(*outside)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	type tally struct{ all, right, asked, wrong, within, missed, amiss int }
	counts := map[string]*tally{}
	kinds := map[string][]What{"date": {Date}, "number": {Integer, Decimal}, "money": {Money}, "percent": {Percent}}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var c struct {
			Lang, Text, Now, What, None, Currency string
			At                                    []int
			Accept                                []any
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		of := kinds[c.What]
		if c.What == "none" {
			of = kinds[c.None]
		}
		if of == nil {
			continue
		}
		now, err := time.Parse("2006-01-02T15:04:05", c.Now)
		if err != nil {
			t.Fatal(err)
		}
		l, _ := ParseLanguage(c.Lang)
		in := In{Now: now, Languages: []Language{l}}
		n := counts[c.What]
		if n == nil {
			n = &tally{}
			counts[c.What] = n
		}
		n.all++
		accepts := func(v Choice) bool {
			return slices.ContainsFunc(c.Accept, func(of any) bool {
				switch of := of.(type) {
				case string:
					return v.Value.Text() == of
				case float64:
					is, err := strconv.ParseFloat(v.Value.Text(), 64)
					return err == nil && math.Abs(is-of) < 1e-6 && (c.Currency == "" || v.Currency == c.Currency)
				}
				return false
			})
		}
		if c.What == "none" {
			found, _ := Find(c.Text, in)
			if slices.ContainsFunc(found, func(r Reading) bool { return slices.Contains(of, r.What) && r.Known() }) {
				n.amiss++
			}
			continue
		}
		said := string([]rune(c.Text)[c.At[0]:c.At[1]])
		whole := false
		for _, what := range of {
			r, ok := Whole(said, what, in)
			switch {
			case !ok || whole:
				continue
			case r.Known() && accepts(r.Choice):
				n.right++
			case r.Known():
				n.wrong++
				t.Logf("wrong: %s %q is %s, and not %v", c.Lang, said, r.Value.Text(), c.Accept)
			default:
				n.asked++
			}
			whole = true
		}
		if !whole {
			n.missed++
		}
		from, to := len(string([]rune(c.Text)[:c.At[0]])), len(string([]rune(c.Text)[:c.At[1]]))
		found, _ := Find(c.Text, in)
		right, wrong := false, false
		for _, r := range found {
			if slices.Contains(of, r.What) && r.Known() && r.Range.Start < to && r.Range.End > from {
				right, wrong = right || accepts(r.Choice), wrong || !accepts(r.Choice)
			}
		}
		if right {
			n.within++
		} else if wrong {
			n.amiss++
		}
	}
	for what, n := range counts {
		of := func(some int) float64 { return 100 * float64(some) / float64(n.all) }
		t.Logf("%s: %d: as a whole right %.1f %%, asked about %.1f, wrong %.1f, nothing %.1f; within a sentence right %.1f, wrong %.1f", what, n.all, of(n.right), of(n.asked), of(n.wrong), of(n.missed), of(n.within), of(n.amiss))
	}
}
