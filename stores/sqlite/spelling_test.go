package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"verbatim/stores"
)

// O2: what SQL writes into tables of ours is put into the spelling of the store, so that rows
// are ordered, paged and compared by what they mean. What cannot be read is refused, and then
// nothing is loaded.
func TestWhatSQLWritesIsSpelledAnew(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, err := Open(filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := mappedTo("docs", stores.Field{Name: "at", Column: "at", Kind: stores.Time}, stores.Field{Name: "day", Column: "day", Kind: stores.Date}, stores.Field{Name: "sum", Column: "sum", Kind: stores.Decimal})
	e.Managed = true
	all := []*stores.Entity{e}
	if plan, err := s.Migrate(ctx, all, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(plan.Problems, err)
	}
	for value, why := range map[string]string{
		`'no moment', NULL, NULL`:  "column at of table docs holds something other than a datetime in row d9",
		`NULL, '2024-13-01', NULL`: "column day of table docs holds something other than a date in row d9",
		`NULL, NULL, '1,50'`:       "column sum of table docs holds something other than a decimal in row d9",
	} {
		if err := s.Load(ctx, "INSERT INTO docs VALUES ('d9', "+value+")", all...); !errors.Is(err, stores.ErrInvalid) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", value, err)
		}
	}
	if rows, err := find(s, stores.Find{Entity: e}); err != nil || len(rows) != 0 {
		t.Fatalf("what was refused was loaded: %v, %v", rows, err)
	}
	if err := s.Load(ctx, `INSERT INTO docs VALUES ('d1', '2024-12-02T09:00:00Z', '2024-12-02', '0010.50'), ('d2', '2024-12-02 09:00:00.000001', NULL, '9'), ('d3', '2024-12-02T10:30:00+01:00', NULL, '10.5'),
		('d4', '2024-12-02T09:00:00.1Z', NULL, NULL), ('d5', '2024-12-02T09:00:00.000000Z', NULL, NULL), ('d6', NULL, NULL, NULL)`, all...); err != nil {
		t.Fatal(err)
	}
	plan, err := s.Migrate(ctx, all, true)
	if err != nil || len(plan.Problems) > 0 || len(plan.Steps) != 2 {
		t.Fatalf("%+v %v", plan, err)
	}
	if plan, err = s.Migrate(ctx, all, true); err != nil || len(plan.Steps) > 0 {
		t.Errorf("it is spelled anew again: %+v %v", plan, err)
	}
	moment := func(text string) stores.Value {
		v, ok := stores.ParseTime(text)
		if !ok {
			t.Fatal(text)
		}
		return v
	}
	at, id, sum := stores.Path{Field: 1}, stores.Path{Field: 0}, stores.Path{Field: 3}
	dated := []stores.Cond{{Op: stores.Ge, Path: at, Value: moment("2024-12-02T09:00:00Z")}}
	ids := func(f stores.Find) (ids []string) {
		f.Entity, f.Select = e, []stores.Path{id, at}
		rows, err := find(s, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			ids = append(ids, row[0].Text())
		}
		return ids
	}
	// Pages of one row, each behind the last.
	var paged []string
	order := []stores.Order{{Path: at}, {Path: id}}
	where := dated
	for len(paged) < 9 {
		page := stores.Find{Entity: e, Select: []stores.Path{at, id}, Where: &stores.Cond{Op: stores.And, Kids: where}, Order: order, Limit: 1, Cut: true}
		rows, err := find(s, page)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			break
		}
		paged = append(paged, rows[0][1].Text())
		where = append(slices.Clone(dated), page.Behind(rows[0]))
	}
	if want := []string{"d1", "d5", "d2", "d4", "d3"}; !slices.Equal(paged, want) {
		t.Errorf("the pages are %v, want %v", paged, want)
	}
	if got := ids(stores.Find{Where: &stores.Cond{Op: stores.Eq, Path: at, Value: moment("2024-12-02T09:00:00Z")}, Order: order}); !slices.Equal(got, []string{"d1", "d5"}) {
		t.Errorf("at nine: %v", got)
	}
	if got := ids(stores.Find{Where: &stores.Cond{Op: stores.Gt, Path: at, Value: moment("2024-12-02T09:00:00.05Z")}, Order: order}); !slices.Equal(got, []string{"d4", "d3"}) {
		t.Errorf("after nine: %v", got)
	}
	ten, _ := stores.ParseDecimal("10.5")
	if got := ids(stores.Find{Where: &stores.Cond{Op: stores.Eq, Path: sum, Value: ten}, Order: order}); !slices.Equal(got, []string{"d1", "d3"}) {
		t.Errorf("of ten and a half: %v", got)
	}
}

// O2: the text of a key is kept in other tables too, and is not changed.
func TestAKeyThatSQLWritesIsNotSpelledAnew(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, err := Open(filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := mappedTo("hours")
	e.Managed, e.Fields[0].Kind = true, stores.Time
	all := []*stores.Entity{e}
	if _, err := s.Migrate(ctx, all, true); err != nil {
		t.Fatal(err)
	}
	if err := s.Load(ctx, "INSERT INTO hours VALUES ('2024-12-02T09:00:00Z')", all...); err == nil || !strings.Contains(err.Error(), "write it as 2006-01-02T15:04:05.000000Z") {
		t.Error(err)
	}
	if err := s.Load(ctx, "INSERT INTO hours VALUES ('2024-12-02T09:00:00.000000Z')", all...); err != nil {
		t.Error(err)
	}
}

// Rows that cannot be read stop a migration: it names their columns, one row of each, how many
// more there are, and what to write.
func TestAMigrationSaysWhatToRepair(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, err := Open(filepath.Join(t.TempDir(), "a.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	e := mappedTo("docs", stores.Field{Name: "day", Column: "day", Kind: stores.Date}, stores.Field{Name: "sum", Column: "sum", Kind: stores.Decimal, Required: true})
	e.Managed = true
	if _, err := s.Migrate(ctx, []*stores.Entity{e}, true); err != nil {
		t.Fatal(err)
	}
	w := <-s.writer
	_, err = w.exec("INSERT INTO docs VALUES ('d3', 'soon', '1'), ('d1', 'later', '2'), ('d2', NULL, '1,50'), ('d4', '2024-12-02', '3')")
	s.writer <- w
	if err != nil {
		t.Fatal(err)
	}
	plan, err := s.Migrate(ctx, []*stores.Entity{e}, true)
	want := []string{
		"column day of table docs holds something other than a date in row d1 and 1 more: write it as 2006-01-02, or NULL",
		"column sum of table docs holds something other than a decimal in row d2: write it as 12.50, without zeros in front",
	}
	if err != nil || len(plan.Problems) != 2 || !strings.HasSuffix(plan.Problems[0], want[0]) || !strings.HasSuffix(plan.Problems[1], want[1]) {
		t.Errorf("%q, %v", plan.Problems, err)
	}
}
