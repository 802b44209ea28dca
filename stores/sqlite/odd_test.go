package sqlite

import (
	"testing"

	"verbatim/stores"
	"verbatim/stores/storetest"
)

// G24, F18: whatever a column of another's table holds, it takes no other row away.
func TestUnreadableValues(t *testing.T) {
	t.Parallel()
	codes := stores.Field{Kind: stores.String, Codes: []string{"A"}, Spelling: stores.NewCodes("letters", []string{"A"}, []stores.Value{stores.NewString("a")})}
	storetest.Unreadable(t, []storetest.Odd{
		{Name: "date", Type: "", Field: stores.Field{Kind: stores.Date}, Good: "'2025-01-03'", Odd: []string{"'infinity'", "'10000-01-01'", "'2025-02-30'", "''", "12", "1.5", "x'00ff'"}},
		{Name: "datetime", Type: "", Field: stores.Field{Kind: stores.Time}, Good: "'2025-01-03 10:00'", Odd: []string{"'infinity'", "'10000-01-01 10:00'", "'2025-02-30 10:00'", "''", "12", "1.5", "x'00ff'"}},
		{Name: "decimal", Type: "", Field: stores.Field{Kind: stores.Decimal}, Good: "'1.5'", Odd: []string{"'NaN'", "''", "1.5", "x'00ff'"}},
		{Name: "numeric", Type: "NUMERIC(10,2)", Field: stores.Field{Kind: stores.Decimal, Places: 2}, Good: "1.5", Odd: []string{"'NaN'", "0.125", "9e999", "x'00ff'"}},
		{Name: "integer", Type: "", Field: stores.Field{Kind: stores.Int}, Good: "1", Odd: []string{"'many'", "1.5", "x'00ff'"}},
		{Name: "boolean", Type: "", Field: stores.Field{Kind: stores.Bool}, Good: "1", Odd: []string{"2", "'true'", "x'00ff'"}},
		{Name: "duration", Type: "", Field: stores.Field{Kind: stores.Duration}, Good: "1", Odd: []string{"9223372036854775807", "'1 day'"}},
		{Name: "uuid", Type: "", Field: stores.Field{Kind: stores.UUID}, Good: "'00000000-0000-4000-8000-00000000000a'", Odd: []string{"'00000000-0000-4000-8000-00000000000A'", "'nothing'", "12"}},
		{Name: "json", Type: "", Field: stores.Field{Kind: stores.JSON}, Good: "'{}'", Odd: []string{"'{secret'", "''", "12", "x'00ff'"}},
		{Name: "list", Type: "", Field: stores.Field{Kind: stores.JSON, Elem: stores.Date}, Good: `'["2025-01-03"]'`, Odd: []string{`'["nothing"]'`, "'{}'"}},
		{Name: "text", Type: "", Field: stores.Field{Kind: stores.String}, Good: "'x'", Odd: []string{"12", "x'00ff'", "CAST(x'ff' AS TEXT)"}},
		{Name: "codes", Type: "", Field: codes, Good: "'a'", Odd: []string{"'zzzz'", "''", "12"}},
	}, func(t *testing.T, statements []string) stores.Store { return legacy(t, statements...) })
}
