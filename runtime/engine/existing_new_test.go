package engine_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	loading "verbatim/verbs/load"
	"verbatim/verbs/propose"
)

// proposed is a first palette over the tables of a database that is there.
func proposed(t *testing.T, tables []stores.Table) (*verbs.Registry, string) {
	t.Helper()
	var srcs []*dsl.Source
	all := ""
	for _, f := range propose.FromTables("music", "music.db", tables) {
		srcs = append(srcs, dsl.NewSource(f.Name, string(f.Text)))
		all += string(f.Text)
	}
	reg, ds := loading.Sources(srcs...)
	if len(ds) > 0 {
		t.Fatal(told(ds))
	}
	return reg, all
}

// F18: a first palette over a database that is there lints clean, every table is read,
// a row is added to each that has a key, money is exact, and no table is touched.
func TestAFirstPaletteOfADatabaseIsUsedAsItIs(t *testing.T) {
	t.Parallel()
	sql, err := os.ReadFile("testdata/existing/music.sql")
	if err != nil {
		t.Fatal(err)
	}
	onTables(t, string(sql), func(t *testing.T, store stores.Store, tables func() []stores.Table) {
		before := tables()
		reg, text := proposed(t, before)
		for _, want := range []string{
			"nothing is said of log_line: it has no primary key", "nothing is said of broken: it cannot be read",
			"column Cover is left out", "column Shape is left out", "column Loudness is left out",
			"nothing adds to scan: column page must have a value",
			"album-size:", "read-only: true", "key: [playlist, track]", "{code: CALM, value: calm}", "{code: CODE_1, value: 1}  # DECIDE",
			"sensitive: true", "scope: everyone  # DECIDE: or, if a row belongs to whoever it refers to: scope: artist",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("it does not say %q", want)
			}
		}
		o := (&old{&shop{reg: reg, store: store}, t}).begin("reader", "keeper")
		rows := func(entity string) int {
			return len(strings.Split(strings.TrimSpace(o.answer("music.list-"+entity)), "\n"))
		}
		for _, e := range reg.Entities() {
			name := e.Store.Name
			v := reg.Verb("music.add-" + name)
			if strings.HasPrefix(name, "system-") || v == nil {
				if !strings.HasPrefix(name, "system-") {
					o.must("music.list-" + name)
				}
				continue
			}
			n := rows(name)
			call := v.Name
			for i := range v.Params {
				if p := &v.Params[i]; p.Required || p.Type.Name != verbs.RefType {
					call += " :" + p.Name + " " + o.some(p.Type, p.Name)
				}
			}
			o.must(call)
			if now := rows(name); now != n+1 {
				t.Errorf("%s: %d rows became %d", call, n, now)
			}
		}
		got := o.answer("music.list-track")
		for _, want := range []string{"CALM CODE_1 300500 0.99 300", "WILD CODE_2 1000 1.99 1", " 5 12345.67 0", "7 0.07 0"} {
			if !strings.Contains(got, want) {
				t.Errorf("the tracks are\n%s\nwithout %s", got, want)
			}
		}
		for i, now := range tables() {
			if now.View {
				continue // it shows what was added
			}
			for j := range now.Columns {
				now.Columns[j].Few = before[i].Columns[j].Few
			}
			if fmt.Sprint(now) != fmt.Sprint(before[i]) {
				t.Errorf("table %s became\n%v\nof\n%v", now.Name, now, before[i])
			}
		}
	})
}

// some is a value of a type as a script writes it: of a reference, the first row.
func (o *old) some(t *verbs.Type, name string) string {
	switch t.Name {
	case verbs.RefType:
		first, _, _ := strings.Cut(strings.TrimSpace(o.answer("music.list-"+t.Entity.Store.Name)), " ")
		return first
	case verbs.CodeType:
		return t.Codes.Codes[0].Name
	case verbs.IntegerType:
		return "7"
	case verbs.DecimalType:
		return "0.07"
	case verbs.BooleanType:
		return "true"
	case verbs.DateType:
		return "2024-02-29"
	case verbs.DateTimeType:
		return "2024-02-29T10:11:12Z"
	}
	return `"new ` + name + `"`
}

// F18: a thousand tables are a few files, names that palettes cannot have become ones
// that they can, and none is lost to another.
func TestAFirstPaletteTakesAThousandTablesAndOddNames(t *testing.T) {
	t.Parallel()
	column := func(name string, kind stores.Kind) stores.TableColumn {
		return stores.TableColumn{Name: name, Type: "x", Kind: kind}
	}
	var tables []stores.Table
	for i := range 1000 {
		key := column("id", stores.Int)
		key.Required, key.Numbered = true, true
		ref := column("other_id", stores.Int)
		tables = append(tables, stores.Table{Name: fmt.Sprintf("Table%d", i), Key: []string{"id"}, Columns: []stores.TableColumn{key, ref, column("null", stores.String), column("Null", stores.String)},
			Foreign: []stores.ForeignKey{{Columns: []string{"other_id"}, Table: fmt.Sprintf("Table%d", (i+1)%1000), To: []string{"id"}}}})
	}
	for _, name := range []string{"select", "Größe", "größe", "a b", "a-b", "AB_c", "1st", "null", "row", "x.y z", `q"uote`, "Verbatim_x", strings.Repeat("long", 15)} {
		key := column("True", stores.String)
		key.Required = true
		tables = append(tables, stores.Table{Name: name, Key: []string{"True"}, Columns: []stores.TableColumn{key, column("today", stores.Date), column("Not", stores.Bool), column("a\"b", stores.Int)}})
	}
	reg, text := proposed(t, tables)
	if n := len(reg.Entities()); n < 1000 {
		t.Errorf("only %d entities", n)
	}
	for _, want := range []string{"Größe", "nothing is said of q\"uote"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %s", want)
		}
	}
	if reg, ds := loading.Sources(dsl.NewSource("notes.yaml", string(propose.FromTables("notes", "", nil)[0].Text))); reg == nil || len(ds) > 0 {
		t.Errorf("an empty start: %s", told(ds))
	}
}
