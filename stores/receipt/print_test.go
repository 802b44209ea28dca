package receipt_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"verbatim/stores"
	"verbatim/stores/receipt"
)

var update = flag.Bool("update", false, "write what is printed into testdata")

func value(kind stores.Kind, text string) stores.Value {
	v, ok := stores.Parse(kind, text)
	if !ok {
		panic(text)
	}
	return v
}

func key(n int) stores.Value {
	return value(stores.UUID, fmt.Sprintf("00000000-0000-4000-8000-%012d", n))
}

func text(s string) receipt.Value { return receipt.Of(stores.NewString(s)) }

// everything is a receipt with one of each thing.
func everything() *receipt.Receipt {
	day := receipt.Of(value(stores.Date, "2025-01-10"))
	return &receipt.Receipt{ID: "c7f2-91d0", Calls: []receipt.Call{
		{Verb: "lending.lend", Text: "lending.lend :item-id @saw", Place: receipt.Place{Source: "monday.dsl", Line: 3, Column: 1},
			Rows: []receipt.Row{
				{Op: receipt.Inserted, Entity: "loan", Table: "lending.loans", Key: key(1), Name: "new", Label: "Saw to Bob", Owner: "@bob", Fields: []receipt.Field{
					{Name: "item", Column: "item_id", Kind: stores.UUID, After: receipt.Value{Value: key(2), Name: "@saw"}, From: ":item-id", Origin: "document=a%2Cb.pdf,model"},
					{Name: "due", Column: "due_on", Kind: stores.Date, After: day, From: "today + days(7)", Origin: "record"},
					{Name: "status", Column: "status", Kind: stores.String, Code: true, After: text("OPEN"), From: "default"},
					{Name: "letter", Column: "letter", Kind: stores.String, After: text("sha256:77"), File: &receipt.File{Name: "a\u202eb.pdf", Type: "application/pdf", Size: 12, Says: "PDF, 12 B"}},
					{Name: "pin", Column: "pin", Kind: stores.String, After: text("1234"), Sensitive: true},
				}},
				{Op: receipt.Updated, Entity: "item", Table: "lending.items", Key: key(2), Name: "@saw", Fields: []receipt.Field{
					{Name: "note", Column: "note", Kind: stores.String, Before: receipt.Value{}, After: text("two\nlines"), From: ":note", Origin: "person", Was: "tool=crm.find"}}},
				{Op: receipt.Deleted, Entity: "hold", Table: "lending.holds", Key: key(3), Name: "(hidden)", Fields: []receipt.Field{
					{Name: "by", Column: "by", Kind: stores.String, Before: text("Ann")}}},
			},
			Notices: []receipt.Notice{{Kind: "notify", Target: "desk"}, {Kind: "trigger", Target: "remind", Calls: "lending.remind :loan-id new", At: day.Value, Instead: 1}},
			Filled:  []receipt.Filled{{Param: "club-id", Name: "@north", Label: "North", Key: key(4), Stand: receipt.AtWork}},
			Asks:    []receipt.Ask{{Reason: "it cannot be recalled"}, {By: "chief", Reason: "it is a lot", Rule: receipt.Place{Source: "lending.yaml", Line: 9, Column: 3}}},
		},
		{Verb: "desk.stand", Session: []receipt.Setting{{Name: "active", Before: receipt.Value{}, After: receipt.Value{Value: key(4), Name: "@north"}, From: ":club-id"}, {Name: "code", After: text("1234"), Sensitive: true}},
			JobChanges: []receipt.JobChange{{ID: "7", Kind: "call", What: "lending.remind", Principal: "kim", State: "dead", Attempt: 1, Note: "gone", Drop: true}},
			External:   []receipt.ExternalCall{{Server: "crm", Name: "find", Sent: []receipt.Sent{{Key: "name", Value: stores.NewString("Bob"), From: ":name"}, {Key: "pin", Value: stores.NewString("1234"), Sensitive: true}}}}},
		{Verb: "lending.list", Result: &receipt.Result{Columns: []string{"item", "tags", "pin"}, Sensitive: []bool{false, false, true}, Rows: [][]stores.Value{
			{stores.NewString("@saw"), value(stores.JSON, `["a","b"]`), stores.NewString("1234")}, {stores.NewString("@tent"), stores.Value{}, stores.Value{}}},
			Refs: []receipt.Ref{{Row: 0, Column: 0, Entity: "item", Key: key(2)}, {Row: 1, Column: 0, Entity: "item", Key: key(5)}}}},
		{Verb: "lending.touch"},
	}}
}

// many is a receipt of calls that look alike.
func many() *receipt.Receipt {
	r := &receipt.Receipt{Done: true, First: 3, Last: 14}
	for i := range 12 {
		r.Calls = append(r.Calls, receipt.Call{Verb: "lending.note", Place: receipt.Place{Source: "all.dsl", Line: i + 1, Column: 1}, Seq: int64(i + 3),
			Rows: []receipt.Row{{Op: receipt.Updated, Entity: "loan", Table: "lending.loans", Key: key(i), Name: fmt.Sprint("@loan-", i), Fields: []receipt.Field{{Name: "note", Column: "note", Kind: stores.String, After: text("x")}}}}})
	}
	return r
}

// What is printed, and what programs are given, is read as prose in testdata.
func TestReceiptsArePrinted(t *testing.T) {
	t.Parallel()
	for name, print := range map[string]func(w *strings.Builder){
		"preview.txt": func(w *strings.Builder) {
			receipt.Print(w, everything(), receipt.Options{State: "nothing was changed (dry run)"})
		},
		"done.txt": func(w *strings.Builder) {
			receipt.Print(w, many(), receipt.Options{Took: 1500 * time.Millisecond, Whole: "verbatim run --full", Entry: "verbatim log show"})
		},
		"full.txt": func(w *strings.Builder) { receipt.Print(w, many(), receipt.Options{Full: true}) },
		"seen.txt": func(w *strings.Builder) { receipt.Print(w, many(), receipt.Options{Seen: true}) },
		"logged.txt": func(w *strings.Builder) {
			rows := everything().Calls[0].Rows
			rows[0].Name, rows[2].Name, rows[2].NameIs, rows[2].Fields[0].Before = "", "", "fBSr", receipt.Value{Is: "c7tl", Gone: true}
			receipt.PrintLogged(w, rows)
		},
		"preview.json": func(w *strings.Builder) {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			if err := e.Encode(everything()); err != nil {
				t.Error(err)
			}
		},
	} {
		var got strings.Builder
		print(&got)
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got.String() != string(want) {
			t.Errorf("%s:\n%s\nwanted:\n%s", name, got.String(), want)
		}
		if strings.Contains(got.String(), "1234") || strings.Contains(got.String(), "0000-4000") && name != "logged.txt" {
			t.Errorf("%s shows a sensitive value or a key:\n%s", name, got.String())
		}
	}
}

// A program that embeds the engine prints what the command prints.
func ExamplePrint() {
	day, _ := stores.ParseDate("2025-01-10")
	r := &receipt.Receipt{ID: "c7f2-91d0", Calls: []receipt.Call{{
		Verb: "lending.extend", Place: receipt.Place{Source: "monday.dsl", Line: 1, Column: 1},
		Rows: []receipt.Row{{Op: receipt.Updated, Entity: "loan", Table: "lending.loans", Key: stores.NewInt(7), Name: "@saw-bob", Fields: []receipt.Field{
			{Name: "due", Column: "due_on", Kind: stores.Date, After: receipt.Of(day), From: ":until", Origin: "person"},
		}}},
	}}}
	receipt.Print(os.Stdout, r, receipt.Options{})
	// Output:
	// preview  1 call would change 1 row; nothing was changed
	//
	//   1  lending.extend                                                     monday.dsl:1
	//      ~ loans  @saw-bob
	//          due_on  (empty) -> 2025-01-10     from :until (person)
	//
	//   preview c7f2 91d0   valid while this row stays unchanged
}

// Rows that are changed several times count once, and those that come and go do not
// count.
func TestTotalsCountRowsOnce(t *testing.T) {
	t.Parallel()
	row := func(op string, n int) receipt.Row {
		return receipt.Row{Op: op, Entity: "loan", Table: "l", Key: key(n)}
	}
	r := &receipt.Receipt{Calls: []receipt.Call{
		{Rows: []receipt.Row{row(receipt.Inserted, 1), row(receipt.Updated, 2), row(receipt.Inserted, 3), row(receipt.Updated, 4)}},
		{Rows: []receipt.Row{row(receipt.Updated, 1), row(receipt.Deleted, 2), row(receipt.Updated, 3), row(receipt.Updated, 4)}},
		{Rows: []receipt.Row{row(receipt.Deleted, 3)}},
	}}
	if got := fmt.Sprint(r.Totals()); got != "{[{l 1 1 1}] 3 0 0 0 0 0 0}" {
		t.Error(got)
	}
}

// What a call only answers is shown, however many calls answer alike.
func TestAnswersAreNotCounted(t *testing.T) {
	t.Parallel()
	r := &receipt.Receipt{Done: true, First: 1, Last: 9}
	for i := range 9 {
		r.Calls = append(r.Calls, receipt.Call{Verb: "lending.find", Result: &receipt.Result{Columns: []string{"item"}, Sensitive: []bool{false}, Rows: [][]stores.Value{{stores.NewString(fmt.Sprint("thing ", i))}}}})
	}
	var got strings.Builder
	receipt.Print(&got, r, receipt.Options{})
	for i := range 9 {
		if want := fmt.Sprint("thing ", i); !strings.Contains(got.String(), want) {
			t.Errorf("%s is not told:\n%s", want, got.String())
		}
	}
}
