package engine

import (
	"context"
	"errors"
	"fmt"

	"verbatim/stores"
	"verbatim/verbs"
)

// carry carries out a verb in the way that its palette declares, and returns the claimed changes
// and the answer as values.
func carry(ctx context.Context, r *source, st *step, promises []promise) (done claim, err error) {
	v := st.verb
	switch h := st.prep.handler; {
	case h != nil:
		return r.handle(ctx, st, h, promises)
	case v.Handler:
		return done, &complaint{st.call.index, notCarriedOut(st.call.place, v.Name, noHandlerHere)}
	case v.Tool != nil:
		return useTool(st, promises), nil
	case v.Undoes != nil:
		return r.takeBack(ctx, st)
	}
	done = declared(promises)
	switch {
	case v.Read != nil:
		done.answer, err = r.find(ctx, st)
	case v.Query != nil:
		done.answer, err = r.query(ctx, st)
	case len(v.Discloses) > 0:
		done.answer, err = r.disclosure(ctx, st)
	}
	return done, err
}

// query carries out a read in the palette author's own SQL.
func (r *source) query(ctx context.Context, st *step) (*table, error) {
	q := st.verb.Query
	if st.prep.unfit != nil {
		return nil, &complaint{st.call.index, notCarriedOut(st.call.place, st.verb.Name, noQueryHere)}
	}
	sql := queryOf(st.verb, st.args.values)
	var marks []string
	sql.Origins = &marks
	rows, err := r.read.SQL(ctx, r.e.catalog.tables, sql)
	var wrong *stores.SQLError
	if errors.As(err, &wrong) {
		// The query's columns do not fit its palette. No caller can help it.
		return nil, &complaint{st.call.index, notCarriedOut(st.call.place, st.verb.Name, "its query does not come to what its palette says: "+wrong.Msg)}
	}
	if err != nil {
		return nil, err
	}
	t := &table{}
	for i, c := range q.Columns {
		t.columns = append(t.columns, column{c.Name, q.IsSensitive() && q.Sensitive[i]})
	}
	if q.One && len(rows) != 1 {
		if len(rows) > 1 {
			return nil, &Failure{Err: fmt.Errorf("%s: the query of %s says one row and gave %d", at(q.Place), st.verb.Name, len(rows))}
		}
		return nil, &complaint{st.call.index, nothingThere(st.call.place, st.verb.Name)}
	}
	// The origins of what SQL computes from arguments and rows cannot be followed.
	came := st.told().Mix(ofRecord).Mix(r.s.from.Query(q))
	for _, mark := range marks {
		came = came.Mix(verbs.Stored(mark))
	}
	for _, row := range rows {
		cells := make([]cell, len(row))
		for i, v := range row {
			cells[i] = cell{value: v, entity: queryRef(q, i), from: came}
		}
		t.rows = append(t.rows, cells)
		r.mem.reads = append(r.mem.reads, readRow{values: row})
	}
	return t, r.nameCells(ctx, t)
}

// queryRef returns the entity whose key a column of a query holds.
func queryRef(q *verbs.Query, i int) *verbs.Entity {
	if i < len(q.Types) && q.Types[i] != nil && q.Types[i].Name == verbs.RefType {
		return q.Types[i].Entity
	}
	return nil
}

func queryOf(v *verbs.Verb, args []stores.Value) stores.SQL {
	q := v.Query
	return stores.SQL{Text: q.Text, Params: q.Names, Kinds: q.Kinds, Columns: q.Columns, Sensitive: q.IsSensitive(), Args: q.Arguments(v, args)}
}
