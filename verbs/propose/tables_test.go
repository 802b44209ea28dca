package propose

import (
	"fmt"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs/load"
)

// loads checks that first palettes load without an error or a warning, and returns their text.
func loads(t *testing.T, what string, tables []stores.Table) (text string, files []Proposal) {
	t.Helper()
	files = FromTables("shop", "shop.db", tables)
	var srcs []*dsl.Source
	for _, f := range files {
		srcs = append(srcs, dsl.NewSource(f.Name, string(f.Text)))
		text += string(f.Text)
	}
	for _, d := range func() dsl.Diagnostics { _, ds := load.Sources(srcs...); return ds }() {
		line := ""
		if d.Place.Source != nil {
			line = strings.Split(d.Place.Source.Text, "\n")[d.Place.Source.Position(d.Place.Range.Start).Line-1]
		}
		t.Errorf("%s: %s: %s\n%s", what, d.Code, d.Summary, line)
	}
	return text, files
}

func table(name string, key []string, columns ...stores.TableColumn) stores.Table {
	return stores.Table{Name: name, Key: key, Columns: columns}
}

func column(name string, kind stores.Kind) stores.TableColumn {
	return stores.TableColumn{Name: name, Kind: kind, Type: kind.String()}
}

// G27: a first palette loads whatever its keys, references and columns are called and of which kind
// they are.
func TestAFirstPaletteLoadsWhateverColumnsAreCalled(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"token", "iban", "pin", "email", "phone", "bic", "lei", "after", "count", "describe", "progress", "row", "nil", "principal", "not", "key", "and", "user_token", "secret", "Fällig", "1st", "%", "name", "id", "label"} {
		for _, kind := range []stores.Kind{stores.String, stores.Int, stores.UUID, stores.Date, stores.Decimal, stores.JSON, stores.Bool, stores.Time, stores.Duration} {
			c := column(name, kind)
			required := c
			required.Required, required.Unique = true, true
			coded := c
			coded.Takes = []string{"1", "2"}
			own := column("own_id", stores.Int)
			ref := table("things", []string{"own_id"}, own, required, column("parent", stores.Int))
			ref.Foreign = []stores.ForeignKey{{Columns: []string{name}, Table: "others", To: []string{name}}, {Columns: []string{"parent"}, Table: "things", To: []string{"own_id"}}}
			ref.Unique = [][]string{{name}, {name, "parent"}}
			what := fmt.Sprintf("%s of kind %s", name, kind)
			loads(t, what, []stores.Table{table("others", []string{name}, required, column("note", stores.String)), ref,
				table("pairs", []string{name, "own_id"}, required, own), table("codes", []string{"own_id"}, own, coded), table(name, []string{name}, required)})
		}
	}
}

// G27: what a database says of its columns stands in the palette, as bounds, patterns, what is unique
// and descriptions; what cannot be said is counted.
func TestAFirstPaletteSaysWhatTheDatabaseSays(t *testing.T) {
	t.Parallel()
	book := table("book", []string{"id"}, stores.TableColumn{Name: "id", Kind: stores.Int, Numbered: true, Required: true},
		stores.TableColumn{Name: "title", Kind: stores.String, Few: []stores.Held{{Value: "Mr.", Rows: 9}, {Value: "Mrs.", Rows: 8}}, Comment: "how somebody is\naddressed"},
		stores.TableColumn{Name: "isbn", Kind: stores.String, Length: 13, Unique: true, Required: true}, stores.TableColumn{Name: "pages", Kind: stores.Int}, stores.TableColumn{Name: "price", Kind: stores.Decimal, Places: 2},
		stores.TableColumn{Name: "bought", Kind: stores.Date}, stores.TableColumn{Name: "shelf", Kind: stores.String}, stores.TableColumn{Name: "spine", Type: "bytea", Why: "its type bytea is not one that a field holds"})
	book.Comment, book.Unique = "What is on the shelves.", [][]string{{"isbn"}, {"shelf", "bought"}}
	for _, check := range []string{"(pages > 0)", "((price >= (0)::numeric) AND (price < 1000))", "(bought > '1990-01-01'::date)", "(char_length(isbn) >= 10)", "((shelf)::text ~ '^[A-Z][0-9]+$'::text)", "(pages > price)"} {
		book.Bounded(check)
	}
	text, files := loads(t, "books", []stores.Table{book})
	for _, want := range []string{`label: "{isbn}"`, "description: \"What is on the shelves.\"\n", "unique: [[isbn], [shelf, bought]]", `description: "how somebody is addressed"`,
		"type: integer, min: 1", "type: decimal, scale: 2, min: 0, max: 999.99", "type: date, min: 1990-01-02", "type: string, min-length: 10, max-length: 13", `type: string, pattern: "[A-Z][0-9]+"`,
		"# DECIDE: the database checks (pages > price).", "limit: 100\n      after: after\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %s\n%s", want, text)
		}
	}
	if got := fmt.Sprint(files[0].Left); got != "map[CHECK constraint that is no bound, pattern or list:1 column of type bytea:1]" {
		t.Errorf("left is %s", got)
	}
}

// G27: tables stand in files that are called like their schemas; those of a large schema by letters.
func TestAFirstPaletteIsDividedBySchemas(t *testing.T) {
	t.Parallel()
	var tables []stores.Table
	for i := range 250 {
		tables = append(tables, table(fmt.Sprintf("stock.%c%03d", 'a'+i/10, i), []string{"id"}, column("id", stores.UUID)))
	}
	tables = append(tables, table("person", []string{"id"}, column("id", stores.UUID)), table("Fleet.car", []string{"id"}, column("id", stores.UUID)))
	_, files := loads(t, "schemas", tables)
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "stock-a-j.yaml stock-k-t.yaml stock-u-y.yaml shop.yaml fleet.yaml" {
		t.Errorf("the files are %s", got)
	}
}
