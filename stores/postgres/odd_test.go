package postgres

import (
	"strings"
	"testing"

	"verbatim/stores"
	"verbatim/stores/storetest"
)

// G24, F18: whatever a column of another's table holds, it takes no other row away.
func TestUnreadableValues(t *testing.T) {
	t.Parallel()
	codes := stores.Field{Kind: stores.String, Codes: []string{"A"}, Spelling: stores.NewCodes("letters", []string{"A"}, []stores.Value{stores.NewString("a")})}
	instants := []string{"'infinity'", "'-infinity'", "'0044-03-15 BC'", "'10000-01-01'"}
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	storetest.Unreadable(t, []storetest.Odd{
		{Name: "date", Type: "date", Field: stores.Field{Kind: stores.Date}, Good: "'2025-01-03'", Odd: instants},
		{Name: "timestamptz", Type: "timestamptz", Field: stores.Field{Kind: stores.Time}, Good: "'2025-01-03'", Odd: instants},
		{Name: "timestamp", Type: "timestamp", Field: stores.Field{Kind: stores.Time}, Good: "'2025-01-03'", Odd: instants},
		{Name: "numeric", Type: "numeric", Field: stores.Field{Kind: stores.Decimal}, Good: "1.5", Odd: []string{"'NaN'", "'Infinity'", "'-Infinity'", "1e5000", "1e-5000"}},
		{Name: "interval", Type: "interval", Field: stores.Field{Kind: stores.Duration}, Good: "'1 day'", Odd: []string{"'1 month'", "'-3 years'", "'200000 years'", "'2000000000 days'", "'-2000000000 days'"}},
		{Name: "bigint", Type: "bigint", Field: stores.Field{Kind: stores.Duration}, Good: "1", Odd: []string{"9223372036854775807", "-9223372036854775808"}},
		{Name: "json", Type: "json", Field: stores.Field{Kind: stores.JSON}, Good: "'{}'", Odd: []string{"'" + deep + "'"}},
		{Name: "jsonb", Type: "jsonb", Field: stores.Field{Kind: stores.JSON}, Good: "'{}'", Odd: []string{"'" + deep + "'"}},
		{Name: "text[]", Type: "text[]", Field: stores.Field{Kind: stores.JSON, Elem: stores.Date}, Good: "'{2025-01-03}'", Odd: []string{"'{x}'", "'{{2025-01-03},{2025-01-03}}'"}},
		{Name: "date[]", Type: "date[]", Field: stores.Field{Kind: stores.JSON, Elem: stores.Date}, Good: "'{2025-01-03}'", Odd: []string{"'{infinity}'", "'{2025-01-03,10000-01-01}'"}},
		{Name: "numeric[]", Type: "numeric[]", Field: stores.Field{Kind: stores.JSON, Elem: stores.Decimal}, Good: "'{1.5}'", Odd: []string{"'{NaN}'"}},
		{Name: "codes", Type: "text", Field: codes, Good: "'a'", Odd: []string{"'zzzz'", "''"}},
	}, func(t *testing.T, statements []string) stores.Store {
		return legacy(t, strings.Join(statements, ";"))
	})
}
