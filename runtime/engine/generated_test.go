package engine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/tests/norace"
	"verbatim/stores"
	loading "verbatim/verbs/load"
)

// An author makes verbs up: effects on several rows, each, for items of lists, for rows
// that filters pick, by values, under conditions, with totals of rows in them.
type author struct{ *rand.Rand }

func (a author) one(of ...string) string { return of[a.IntN(len(of))] }

// args are what every verb takes; some of it may be left out.
const args = `    args:
      - {name: member-id, type: ref, ref-type: member, required: true}
      - {name: loan-id, type: ref, ref-type: loan, required: true}
      - {name: loan-ids, type: list, of: {type: ref, ref-type: loan}, required: true}
      - {name: item-ids, type: list, of: {type: ref, ref-type: item}}
      - {name: days, type: list, of: date, required: true}
      - {name: lines, type: list, required: true, of: {type: record, fields: {item: {type: ref, ref-type: item, required: true}, worth: {type: decimal, scale: 2}, text: {type: string, required: true}}}}
      - {name: n, type: integer, min: 1, max: 50, required: true}
      - {name: word, type: string, required: true}
      - {name: day, type: date}
      - {name: sure, type: boolean}
`

func (a author) verb(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n  - verb: made-up-%d\n    description: Verb %d that was made up.\n    roles: [keeper]\n%s", n, n, args)
	b.WriteString("    totals:\n")
	theirs := func() string {
		return a.one("row.member == member_id", "row.member == member_id and row.status != CLOSED", "row.member == member_id and row.due < day", "loan-ids")
	}
	fmt.Fprintf(&b, "      - {name: some-loans, count: loan, where: %s}\n", theirs())
	fmt.Fprintf(&b, "      - {name: edge, %s: loan.due, where: %s}\n", a.one("min", "max"), theirs())
	fmt.Fprintf(&b, "      - {name: worth, %s: item.worth, where: item-ids}\n", a.one("sum", "min", "max"))
	fmt.Fprintf(&b, "      - {name: is-so, %s: loan, where: %s}\n", a.one("some", "none"), theirs())
	fmt.Fprintf(&b, "      - {name: so-all, all: loan, where: %s, that: %s}\n", theirs(), a.one("row.status == LATE", "row.due < today", "row.note == nil"))
	if a.IntN(3) == 0 {
		fmt.Fprintf(&b, "    requires:\n      - {that: %s, else: not so}\n", a.one("some_loans < 3", "edge != nil", "so_all or n > 10", "not is_so or sure"))
	}
	b.WriteString("    effects:\n")
	for range 1 + a.IntN(4) {
		b.WriteString(a.effect())
	}
	return b.String()
}

// when is a condition, over what an effect is there for too.
func (a author) when(more ...string) string {
	if a.IntN(2) == 0 {
		return ""
	}
	return "        when: " + a.one(append(more, "n > 25", "sure", "is_so", "so_all", "some_loans > 1", "day != nil", "(worth ?? 0.00) > 100")...) + "\n"
}

func (a author) effect() string {
	may := a.one("", "", "may-")
	date := func(of ...string) string {
		return a.one(append(of, "day ?? today", "today + days(n)", "edge ?? today")...)
	}
	text := a.one("word", "word + '!'", `"so_all ? word : 'no'"`)
	switch a.IntN(8) {
	case 0: // several rows, that a list names or a filter picks
		where := a.one("loan-ids", "row.member == member_id", "row.member == member_id and row.status in [OPEN, LATE]", "loan-id", "row == loan_id or row.due < day")
		status := a.one("CLOSED", "LATE", "row.status")
		return fmt.Sprintf("      - %s: loan\n        where: %s\n%s        set: {due: %s, note: %s, status: %s}\n",
			a.one("updates", "may-update"), where, a.when("row.status != CLOSED", "row.item.status == OUT"), date("row.due + days(n)"), text, status)
	case 1: // a row for each of several
		each := a.one("loan-ids", "{rows: loan, where: row.member == member_id, order: [due desc]}")
		return fmt.Sprintf("      - %s: reminder\n        for-each: %s\n%s        set: {loan: each, remind_on: %s, text: %s}\n",
			a.one("creates", "may-create"), each, a.when("each.status == LATE", "each.item.worth > 100"), date("each.due + days(1)"), a.one(text, "each.item.name"))
	case 2: // a row for each item
		return fmt.Sprintf("      - creates: reminder\n        for-each: days\n%s        set: {loan: loan-id, remind_on: each, text: %s}\n", a.when("each > today"), text)
	case 3: // one row, changed for several things
		return fmt.Sprintf("      - may-update: item.worth\n        for-each: loan-ids\n        where: row == each.item\n%s        set: {worth: (row.worth ?? 0.00) + %s}\n",
			a.when("each.status != CLOSED"), a.one("1.50", "n", "some_loans"))
	case 4:
		return fmt.Sprintf("      - may-delete: reminder\n        for-each: %s\n        where: row.loan == each\n%s", a.one("loan-ids", "{rows: loan, where: row.member == member_id}"), a.when("row.remind_on > today"))
	case 5: // a row that is there, or is not
		return fmt.Sprintf("      - upserts: item\n        by: [name]\n%s        set: {club: member_id.club, name: %s, worth: %s}\n", a.when(), a.one("word", "'Drill'", "'Ladder'"), a.one("worth", "n", "1.00"))
	case 6: // a row for each record
		return fmt.Sprintf("      - %s\n        for-each: lines\n%s        set: {club: member_id.club, name: each.text, worth: %s}\n",
			a.one("upserts: item\n        by: [name]", "creates: item"), a.when("each.worth != nil", "each.item.status == IN"), a.one("each.worth", "each.item.worth", "n"))
	}
	return fmt.Sprintf("      - %snotif%s: board\n        for-each: %s\n        with: {what: each, many: some_loans}\n", may, map[string]string{"": "ies", "may-": "y"}[may], a.one("loan-ids", "days"))
}

// call uses a verb that was made up.
func (a author) call(n int) string {
	list := func(most int, of ...string) string {
		a.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
		return "[" + strings.Join(of[:a.IntN(min(most, len(of)))+1], " ") + "]"
	}
	text := fmt.Sprintf("lending.made-up-%d :member-id %s :loan-id %s :loan-ids %s :days %s :n %d :word \"%s\" :lines [", n, a.one("@ann", "@bob"),
		a.one("@saw-bob", "@tent-ann", "@ladder-ann"), list(3, "@saw-bob", "@tent-ann", "@ladder-ann"), list(3, "2025-01-10", "2024-12-31", "2025-03-01"), 1+a.IntN(50), a.one("one", "two", "Saw", "ü"))
	for range 1 + a.IntN(2) {
		text += "{:item " + a.one("@drill", "@saw") + " :text \"" + a.one("x", "y", "Tent", "z") + "\"" + a.one("", " :worth 12.50") + "} "
	}
	text += "]"
	for _, more := range []string{" :item-ids " + list(4, "@drill", "@saw", "@tent", "@ladder"), " :day " + a.one("2025-01-09", "2026-01-01"), " :sure " + a.one("true", "false")} {
		if a.IntN(2) == 0 {
			text += more
		}
	}
	return text
}

var madeUp = flag.Uint64("made-up", 8, "how many palettes TestMadeUpPalettes makes up")

// F12, O18: whatever palette is made up, what is observed is what was shown and promised,
// and a file and a server come to the same: the same answer, the same rows, in the same
// order.
func TestMadeUpPalettes(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	const verbsOf, calls = 8, 24
	for seed := range *madeUp {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			a := author{rand.New(rand.NewPCG(seed, 12))}
			text := lendingText(t)
			for n := range verbsOf {
				for tries := 0; ; tries++ {
					more := a.verb(n)
					_, ds := loading.Sources(dsl.NewSource("lending.yaml", text+more))
					if !ds.HasErrors() {
						text += more
						break
					}
					if tries > 20 {
						t.Fatalf("nothing that is made up loads: %s\n%s", told(ds), more)
					}
				}
			}
			palette := map[string]string{"lending.yaml": text}
			worlds := []*world{fileWorld(t, palette), serverWorld(t, palette)}
			ran, refused := 0, map[string]int{}
			for n := range calls {
				call := a.call(n % verbsOf)
				var told []string
				for _, w := range worlds {
					told = append(told, w.observes(t, call))
				}
				if told[0] != told[1] {
					t.Fatalf("%s\n%s\na file: %s\na server: %s", text[len(lendingText(t)):], call, told[0], told[1])
				}
				if code, is := strings.CutPrefix(told[0], "refused "); is {
					refused[code]++
				} else {
					ran++
				}
			}
			one, two := worlds[0].rendered(), worlds[1].rendered()
			if !slices.Equal(one, two) {
				t.Errorf("they hold\n%s\nand\n%s", strings.Join(one, "\n"), strings.Join(two, "\n"))
			}
			if ran < calls/4 {
				t.Errorf("%d of %d calls are carried out; refused are %v", ran, calls, refused)
			}
			t.Logf("%d carried out, refused %v", ran, refused)
		})
	}
}

// observes carries a call out and holds what happened against what was shown. It says what
// became of it, in an order that counts.
func (w *world) observes(t *testing.T, call string) string {
	t.Helper()
	s := w.session("kim")
	p := w.program(s, call)
	before := w.state()
	preview, err := s.Preview(context.Background(), p)
	if d := diff(w.entity, before, w.state()); len(d) > 0 {
		t.Fatalf("%s: the preview changed %q", call, d)
	}
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		if _, again := s.Run(context.Background(), p, engine.RunOptions{}); again == nil {
			t.Fatalf("%s: it is refused in the preview, and done", call)
		}
		if d := diff(w.entity, before, w.state()); len(d) > 0 {
			t.Fatalf("%s was refused and changed %q", call, d)
		}
		return "refused " + refusal.Diagnostics[0].Code + " " + plain(refusal.Diagnostics[0].Summary)
	}
	if err != nil && strings.Contains(err.Error(), "two values") {
		return "failed " + err.Error() // the palette contradicts itself
	}
	if err != nil {
		t.Fatalf("%s: %v", call, err)
	}
	done, err := s.Run(context.Background(), p, engine.RunOptions{Agreed: preview.ID})
	if err != nil {
		t.Fatalf("%s: %v", call, err)
	}
	if done.Digest != preview.Digest {
		t.Fatalf("%s: what ran is not what was shown", call)
	}
	w.compare(t, call, before, w.state(), done.Calls[0].Rows)
	promised(t, call, w.reg.Verb(done.Calls[0].Verb).Effects, done.Calls[0])
	var b strings.Builder
	for _, row := range done.Calls[0].Rows {
		fmt.Fprintf(&b, "%s %s", row.Op, row.Entity)
		for _, f := range row.Fields {
			if f.Kind != stores.UUID {
				fmt.Fprintf(&b, " %s=%s", f.Name, f.After.Shown())
			}
		}
		b.WriteByte('\n')
	}
	for _, n := range done.Calls[0].Notices {
		fmt.Fprintf(&b, "%s %s\n", n.Kind, n.Target)
	}
	return b.String()
}
