package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"verbatim/runtime/engine"
)

const safesPalette = `domain: bank
roles: [{name: clerk, description: Whoever keeps safes., sees: all}]
entities:
  safe:
    description: A safe.
    key: safe_id
    managed: true
    scope: everyone
    label: "{title}"
    fields:
      title: {type: string, required: true}
      secret: {type: string, sensitive: true}
verbs:
  - verb: fill
    description: Put something into a safe.
    roles: [clerk]
    args:
      - {name: title, type: string, required: true}
      - {name: secret, type: string, required: true, sensitive: true}
    effects:
      - creates: safe
        set: {title: title, secret: secret}
  - verb: ask
    description: Ask.
    roles: [clerk]
    query:
      columns: {%s}
      sql: %q
`

// F9, SAFE-L1: a query that does not say that something of its answer is sensitive has
// nothing sensitive to read, in whatever form it asks: there is no such column. One that
// says so is answered, and what it says is sensitive is told to nobody.
func TestAQueryHasNothingSensitiveToRead(t *testing.T) {
	t.Parallel()
	onExisting(t, "", func(t *testing.T, open func(string) *old) {
		palette := func(columns, sql string) string { return fmt.Sprintf(safesPalette, columns, sql) }
		const said = "s: sensitive string"
		o := open(palette(said, "SELECT secret AS s FROM safe")).begin()
		o.must(`bank.fill :title "One" :secret "canary4711"`)
		for _, sql := range []string{
			"SELECT secret AS s FROM safe",
			"SELECT SECRET AS s FROM safe",
			`SELECT "secret" AS s FROM safe`,
			"SELECT safe.secret AS s FROM safe",
			"SELECT x.secret AS s FROM safe AS x",
			"SELECT y.s FROM (SELECT secret AS s FROM safe) y",
			"SELECT CAST(secret AS text) AS s FROM safe",
			"SELECT upper(secret) AS s FROM safe",
			"SELECT substr(secret, 1, 6) AS s FROM safe",
			"SELECT title AS s FROM safe WHERE secret LIKE 'canary%%'",
			"SELECT title AS s FROM safe WHERE secret > 'c'",
			"SELECT title AS s FROM safe ORDER BY secret",
			"SELECT CAST(length(secret) AS text) AS s FROM safe",
			"SELECT CAST(count(DISTINCT secret) AS text) AS s FROM safe",
			"SELECT max(secret) AS s FROM safe GROUP BY title",
			"SELECT a.title AS s FROM safe a JOIN safe b ON a.secret = b.secret",
			"SELECT title || secret AS s FROM safe",
			"SELECT CASE WHEN secret IS NULL THEN 'no' ELSE 'yes' END AS s FROM safe",
			"SELECT coalesce(secret, title) AS s /* secret */ FROM safe -- secret",
		} {
			asked := open(palette("s: string", sql)).again()
			unfit := asked.engine.Unfit()
			if len(unfit) != 1 || !strings.Contains(strings.ToLower(unfit[0].Summary), "secret") {
				t.Errorf("%s: %s", sql, told(unfit))
				continue
			}
			if strings.HasPrefix(sql, "SELECT secret") && !strings.Contains(unfit[0].Summary, "is sensitive, and a query may read it that says which of its columns is: {NAME: sensitive TYPE}") {
				t.Errorf("%s: %s", sql, unfit[0].Summary)
			}
		}
		// Whole rows have no more than what may be read, and the word alone is no reason.
		for _, sql := range []string{
			"SELECT y.title AS s FROM (SELECT x.* FROM safe x) y",
			"SELECT 'secret' AS s FROM safe",
			"SELECT title AS s FROM safe -- secret",
			"SELECT title AS s FROM safe WHERE title <> 'secret' AND 2 * 3 = 6",
		} {
			asked := open(palette("s: string", sql)).again()
			if unfit := asked.engine.Unfit(); len(unfit) > 0 {
				t.Errorf("%s: %s", sql, told(unfit))
			} else if got := asked.answer("bank.ask"); got == "" {
				t.Errorf("%s gives nothing", sql)
			}
		}
		// What a store may or may not be asked gives nothing away either.
		for _, sql := range []string{
			"SELECT CAST(x AS text) AS s FROM safe x",
			"SELECT to_json(x)::text AS s FROM safe x",
			"SELECT string_agg(x::text, ',') AS s FROM safe x",
			"SELECT json_group_array(x) AS s FROM safe x",
			"SELECT s FROM (SELECT * FROM safe) AS y(a, b, s)",
		} {
			asked := open(palette("s: string", sql)).again()
			if len(asked.engine.Unfit()) == 0 {
				if got := asked.answer("bank.ask"); strings.Contains(got, "canary") {
					t.Errorf("%s gives %q", sql, got)
				}
			}
		}
		asked := open(palette(said, "SELECT secret AS s FROM safe WHERE secret LIKE 'canary%%'")).again()
		done := asked.must("bank.ask")
		if res := done.Calls[0].Result; len(res.Rows) != 1 || !res.Sensitive[0] {
			t.Errorf("what is said to be sensitive is %+v", res)
		}
	})
}

// again is an engine of other palettes over the same tables.
func (o *old) again() *old {
	o.t.Helper()
	var err error
	if o.engine, err = engine.New(o.reg, o.store, engine.Options{}); err != nil {
		o.t.Fatal(err)
	}
	return o
}
