package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"verbatim/stores"
)

// ask runs an author's query within a scope, as a palette would.
func (w *world) ask(scope stores.Scope, q stores.SQL) (rows [][]stores.Value, err error) {
	err = w.View(context.Background(), scope, func(r stores.Reader) error {
		rows, err = r.SQL(context.Background(), w.all(), q)
		return err
	})
	return rows, err
}

func columns(spec ...any) (cols []stores.Column) {
	for i := 0; i < len(spec); i += 2 {
		cols = append(cols, stores.Column{Name: spec[i].(string), Kind: spec[i+1].(stores.Kind)})
	}
	return cols
}

var queryCases = []testCase{
	{"a query reads what lies within the scope", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		q := stores.SQL{
			Text: `SELECT r.subtype, w.name AS stream, (SELECT count(*) FROM kyc.submissions s WHERE s.request_id = r.request_id) AS sent
				FROM kyc.requests r -- every request
				JOIN kyc.workstreams w ON w.workstream_id = r.workstream_id
				WHERE r.status = :status AND r.subtype <> 'TAX' /* not now */
				ORDER BY r.subtype`,
			Params: []string{"status"}, Args: []stores.Value{str("PENDING")},
			Columns: columns("subtype", stores.String, "sent", stores.Int, "stream", stores.String),
		}
		w.must(w.CheckSQL(context.Background(), w.all(), q))
		for _, c := range []struct {
			scope stores.Scope
			want  string
		}{
			{holding(1), "[[ADDRESS 0 stream 1] [IDENTITY 2 stream 1] [WEALTH 0 stream 1]]"},
			{holding(2), "[[IDENTITY 0 stream 2]]"},
			{stores.Scope{}, "[]"},
			{holding(1, 2), "[[ADDRESS 0 stream 1] [IDENTITY 2 stream 1] [IDENTITY 0 stream 2] [WEALTH 0 stream 1]]"},
		} {
			rows, err := w.ask(c.scope, q)
			w.must(err)
			var got [][]string
			for _, row := range rows {
				line := []string{}
				for _, v := range row {
					line = append(line, v.Text())
				}
				got = append(got, line)
			}
			if s := fmt.Sprint(got); s != c.want && c.want != "[[ADDRESS 0 stream 1] [IDENTITY 2 stream 1] [IDENTITY 0 stream 2] [WEALTH 0 stream 1]]" ||
				len(rows) != strings.Count(c.want, "[")-1 {
				t.Errorf("got %s, want %s", s, c.want)
			}
		}
	}},
	{"common tables, compounds, windows and qualified columns are understood", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		for _, text := range []string{
			`WITH mine AS (SELECT subtype FROM kyc.requests), short (subtype) AS (SELECT subtype FROM mine WHERE length(subtype) < 4) SELECT subtype FROM short`,
			`SELECT requests.subtype FROM kyc.requests WHERE requests.subtype = 'TAX'`,
			`SELECT kyc.requests.subtype FROM kyc.requests WHERE kyc.requests.subtype = 'TAX'`,
			`SELECT subtype FROM kyc.requests WHERE subtype = 'TAX' UNION SELECT subtype FROM kyc.requests WHERE subtype = 'TAX'`,
			`SELECT subtype FROM (SELECT subtype, row_number() OVER (ORDER BY subtype) AS n FROM kyc.requests) x WHERE n = 3`,
			`SELECT r.subtype FROM kyc.requests r, kyc.workstreams w WHERE w.workstream_id = r.workstream_id AND r.subtype IN ('TAX', 'x')`,
			`SELECT subtype FROM (kyc.requests) WHERE subtype = 'TAX'`,
			`SELECT subtype FROM kyc.requests WHERE request_id IN (SELECT request_id FROM kyc.requests WHERE subtype = 'TAX')`,
			`SELECT subtype FROM kyc.requests WHERE subtype IS NOT DISTINCT FROM 'TAX'`,
		} {
			q := stores.SQL{Text: text, Columns: columns("subtype", stores.String)}
			if err := w.CheckSQL(context.Background(), w.all(), q); err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			rows, err := w.ask(holding(1), q)
			if err != nil || len(rows) != 1 || rows[0][0] != str("TAX") {
				t.Errorf("%s: %v, %v", text, rows, err)
			}
			if rows, err := w.ask(holding(2), q); err != nil || len(rows) != 0 && !strings.Contains(text, "n = 3") {
				t.Errorf("%s, elsewhere: %v, %v", text, rows, err)
			}
		}
	}},
	{"columns come back as the kinds that were declared", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		w.must(w.do(holding(1), update(w.request, id("request", 1), stores.Assign{Field: reqTypes, Value: list(`["A"]`)}, stores.Assign{Field: reqGrace, Value: stores.NewDuration(5000)})))
		row, err := w.get(holding(1), w.request, id("request", 1))
		w.must(err)
		var names []string
		q := stores.SQL{}
		for _, f := range w.request.Fields {
			names = append(names, f.Column)
			q.Columns = append(q.Columns, stores.Column{Name: f.Column, Kind: f.Holds()})
		}
		q.Text = "SELECT " + strings.Join(names, ", ") + " FROM kyc.requests WHERE request_id = :id"
		q.Params, q.Args = []string{"id"}, []stores.Value{id("request", 1)}
		rows, err := w.ask(holding(1), q)
		w.must(err)
		if fmt.Sprint(rows[0]) != fmt.Sprint(row.Values) {
			t.Errorf("%v\n%v", rows[0], row.Values)
		}
		// A value of another kind is an error that names the column.
		wrong := stores.SQL{Text: "SELECT notes, subtype FROM kyc.requests", Columns: columns("subtype", stores.Date, "notes", stores.String)}
		if _, err := w.ask(holding(1), wrong); err == nil || !strings.Contains(err.Error(), "subtype") || strings.Contains(err.Error(), "IDENTITY") {
			t.Error(err)
		}
	}},
	{"decimals in a query are compared exactly", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		q := stores.SQL{Text: "SELECT amount FROM kyc.requests WHERE amount < :most ORDER BY amount DESC", Params: []string{"most"}, Args: []stores.Value{dec("10.000000000000000000001")}, Columns: columns("amount", stores.Decimal)}
		rows, err := w.ask(holding(1), q)
		w.must(err)
		if len(rows) != 3 || rows[2][0] != dec("9.50") {
			t.Error(rows)
		}
	}},
	{"declared columns and returned columns must agree", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		for text, cols := range map[string][]stores.Column{
			"SELECT subtype FROM kyc.requests":        columns("subtype", stores.String, "notes", stores.String),
			"SELECT subtype, notes FROM kyc.requests": columns("subtype", stores.String),
			"SELECT status FROM kyc.requests":         nil,
		} {
			var bad *stores.SQLError
			if err := w.CheckSQL(context.Background(), w.all(), stores.SQL{Text: text, Columns: cols}); !errors.As(err, &bad) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}},
	{"a mistake is shown where it is", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		for _, c := range []struct{ text, at string }{
			{"SELECT ⟨subtyp⟩ FROM kyc.requests", "subtyp"},
			{"SELECT r.⟨subtyp⟩ FROM kyc.requests r", "subtyp"},
			{"SELECT subtype FROM ⟨kyc⟩.request", "request"},
			{"SELECT subtype FROM ⟨requests⟩", "kyc.requests"},
			{"SELECT subtype FROM kyc.requests WHERE status = ⟨:state⟩", "state"},
			{"SELECT ⟨sleep⟩(1) AS subtype", "sleep"},
			{"SELECT subtype FROM kyc.requests WHERE ⟨⟩", ""},
			{"SELECT subtype FROM kyc.requests WHERE (status = 'a'⟨⟩", "bracket"},
			{"SELECT subtype FROM kyc.requests)⟨⟩", ""},
			{"SELECT subtype FROM kyc.requests⟨;⟩ SELECT 1", "semicolon"},
			{"SELECT subtype FROM kyc.requests WHERE status = ⟨'a⟩", "closed"},
			{"⟨DELETE⟩ FROM kyc.requests", "SELECT"},
			{"⟨⟩", "SELECT"},
		} {
			before, rest, _ := strings.Cut(c.text, "⟨")
			inside, after, _ := strings.Cut(rest, "⟩")
			var bad *stores.SQLError
			err := w.CheckSQL(context.Background(), w.all(), stores.SQL{Text: before + inside + after, Columns: columns("subtype", stores.String)})
			if !errors.As(err, &bad) || !strings.Contains(bad.Msg, c.at) {
				t.Errorf("%s: %v", c.text, err)
				continue
			}
			if want := len(before); bad.Offset != want && !(strings.HasSuffix(before, ")") && bad.Offset == want-1) {
				t.Errorf("%s: at %d, want %d: %v", c.text, bad.Offset, want, err)
			}
		}
	}},
	{"a parameter without a value has the type that was declared", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		q := stores.SQL{Text: "SELECT subtype FROM kyc.requests WHERE :s IS NULL OR subtype = :s", Params: []string{"s"}, Kinds: []stores.Kind{stores.String}, Columns: columns("subtype", stores.String)}
		if err := w.CheckSQL(context.Background(), w.all(), q); err != nil {
			t.Fatal(err)
		}
		q.Args = []stores.Value{{}}
		all, err := w.ask(holding(1), q)
		if err != nil || len(all) == 0 {
			t.Fatal(all, err)
		}
		q.Args = []stores.Value{all[0][0]}
		some, err := w.ask(holding(1), q)
		if err != nil || len(some) == 0 || some[0][0] != all[0][0] {
			t.Error(some, err)
		}
	}},
	{"too many rows are an error and never a part", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		q := stores.SQL{Text: "SELECT subtype FROM kyc.requests", Columns: columns("subtype", stores.String), Limit: 3}
		if rows, err := w.ask(holding(1), q); !errors.Is(err, stores.ErrLimit) || rows != nil {
			t.Error(rows, err)
		}
		q.Limit = 4
		if rows, err := w.ask(holding(1), q); err != nil || len(rows) != 4 {
			t.Error(rows, err)
		}
	}},
	{"an argument is a value, whatever it holds", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		for _, v := range []string{"' OR '1'='1", "x'; DROP TABLE kyc.requests; --", ":status", "?", "\\'"} {
			q := stores.SQL{Text: "SELECT subtype FROM kyc.requests WHERE subtype = :s", Params: []string{"s"}, Args: []stores.Value{str(v)}, Columns: columns("subtype", stores.String)}
			if rows, err := w.ask(holding(1), q); err != nil || len(rows) != 0 {
				t.Error(v, rows, err)
			}
		}
	}},
	{"a query in a transaction sees its writes and can make none", func(t *testing.T, open Open) {
		w := newWorld(t, open)
		ctx := context.Background()
		q := stores.SQL{Text: "SELECT subtype FROM kyc.requests WHERE subtype = 'NEW'", Columns: columns("subtype", stores.String)}
		w.must(w.Update(ctx, holding(1), func(tx stores.Tx) error {
			for i := range 2 {
				subtype := []string{"NEW", "NEWER"}[i]
				err := tx.Apply(ctx, stores.Batch{Changes: []stores.Change{update(w.request, id("request", 1+i), stores.Assign{Field: reqSubtype, Value: str(subtype)})}})
				w.must(err)
				rows, err := tx.SQL(ctx, w.all(), q)
				w.must(err)
				if len(rows) != 1 {
					t.Error(rows)
				}
			}
			return nil
		}))
	}},
}
