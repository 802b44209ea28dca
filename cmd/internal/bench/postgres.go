package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// onServer asks for the server. Where there is none, the contestants are told
// of and not measured.
func onServer(with func(s *server) (*race, error), otherwise func(why error) *race) (*race, func(), error) {
	s, err := theServer()
	var none errNoServer
	if errors.As(err, &none) {
		return otherwise(none), func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	r, err := with(s)
	return r, func() {}, err
}

// nobody are contestants of a race that cannot take place.
func nobody(why error, names ...string) []*contestant {
	all := make([]*contestant, len(names))
	for i, name := range names {
		all[i] = absent(name, why)
	}
	return all
}

const (
	ourWrite  = "a write verb, text to committed"
	cteWrite  = "pgbench, the writes as one statement"
	sixWrite  = "pgbench, six statements"
	pgxWrite  = "pgx, the writes as one statement"
	pgxChain  = "pgx, the same with each line chained to the last"
	ourScript = "one script, a call"
	ourCalls  = "a transaction for each call, a call"
	ourRead   = "a read verb, text to rows"
	pgRead    = "pgbench, the same rows"
	pgxRead   = "pgx, the same rows"
	heldRead  = "pgx, the same rows within row-level security"
)

// writing is PERF-X1: a write through the whole path, by eight at once, by many, and by many who
// write for one client.
func writing() (*race, func(), error) {
	at := func(name string, n int) string { return fmt.Sprintf("%s, %d connections", name, n) }
	const one = ", for one client"
	with := func(cs []*contestant) *race {
		return &race{
			name:        "A write on PostgreSQL that waits for the disk: one row changed, one added, one line in the journal",
			contestants: cs,
			goals: []goal{
				{"PERF-X1", "speed of pgx with each line chained to the last, 8 connections", faster(cs[0], cs[4]), "x", true, 0.9},
				{"PERF-X1", "the same, 32 connections", faster(cs[5], cs[7]), "x", true, 1.4},
				{"PERF-X1", "the same, 32 connections for one client", faster(cs[6], cs[8]), "x", true, 1.2},
				{"PERF-X1", "speed of pgbench with six statements", faster(cs[0], cs[2]), "x", true, 0.65},
			},
		}
	}
	return onServer(func(s *server) (*race, error) {
		sql, args := s.forPgx(oneStatement)
		write := func(who, i int) error {
			tag, err := s.pool.Exec(context.Background(), sql, args(who, i)...)
			if err == nil && tag.RowsAffected() != 1 {
				err = fmt.Errorf("%d rows were written", tag.RowsAffected())
			}
			return err
		}
		if err := write(0, 0); err != nil {
			return nil, err
		}
		chained := s.chained()
		ofOne := func(who, i int) error { return chained(busy, who*theirRows+i%theirRows) }
		return with([]*contestant{
			{name: ourWrite, per: 1, sample: together(s.aNote)},
			s.pgbench(cteWrite, oneStatement),
			s.pgbench(sixWrite, sixStatements...),
			{name: pgxWrite, per: 1, sample: together(write)},
			{name: pgxChain, per: 1, sample: together(chained)},
			{name: at(ourWrite, many), per: 1, sample: by(many, s.aNote)},
			{name: at(ourWrite, many) + one, per: 1, sample: by(many, s.ofOne)},
			{name: at(pgxChain, many), per: 1, sample: by(many, chained)},
			{name: at(pgxChain, many) + one, per: 1, sample: by(many, ofOne)},
		}), nil
	}, func(why error) *race {
		return with(nobody(why, ourWrite, cteWrite, sixWrite, pgxWrite, pgxChain,
			at(ourWrite, many), at(ourWrite, many)+one, at(pgxChain, many), at(pgxChain, many)+one))
	})
}

// chained is the least that a chain costs: the writes as one statement, and in
// the same round trip a line that holds the hash of the last one, which one
// transaction at a time may add. It waits for the disk when others may go on.
func (s *server) chained() func(who, i int) error {
	sql, args := s.forPgx(twoRows)
	line, lineArgs := s.forPgx(chainedLine)
	return func(who, i int) error {
		ctx := context.Background()
		return s.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
			var b pgx.Batch
			b.Queue("BEGIN")
			b.Queue(sql, args(who, i)...)
			// Its last line was planned for when there was one.
			b.Queue("SELECT pg_advisory_xact_lock(1), set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('synchronous_commit', 'off', true)")
			b.Queue(line, lineArgs(who, i)...)
			b.Queue("COMMIT")
			b.Queue("SELECT pg_logical_emit_message(true, 'peers', '')")
			return c.SendBatch(ctx, &b).Close()
		})
	}
}

// scripting is PERF-X2: a thousand calls in one transaction against one
// transaction for each call.
func scripting() (*race, func(), error) {
	const (
		off   = ", synchronous_commit off"
		calls = 1000
		some  = 150 // calls one by one, in each round
	)
	with := func(cs []*contestant) *race {
		return &race{
			name:        "A script of 1 000 calls on PostgreSQL",
			contestants: cs,
			goals: []goal{
				{"PERF-X2", "times faster than call by call", faster(cs[0], cs[1]), "x", true, 8},
				{"PERF-X2", "the same" + off, faster(cs[2], cs[3]), "x", true, 4},
			},
		}
	}
	return onServer(func(s *server) (*race, error) {
		return with([]*contestant{
			{name: ourScript, per: 1, sample: timed(calls, func() error { return s.script(0, calls) })},
			{name: ourCalls, per: 1, sample: timed(some, repeat(some, func(i int) error { return s.script(i, 1) }))},
			{name: ourScript + off, per: 1, sample: timed(calls, func() error { return s.async.script(0, calls) })},
			{name: ourCalls + off, per: 1, sample: timed(some, repeat(some, func(i int) error { return s.async.script(i, 1) }))},
		}), nil
	}, func(why error) *race { return with(nobody(why, ourScript, ourCalls, ourScript+off, ourCalls+off)) })
}

// reading is PERF-X3: a read verb, eight clients at once.
func reading() (*race, func(), error) {
	with := func(cs []*contestant) *race {
		return &race{
			name:        "A read on PostgreSQL, 8 connections: ten rows in order, of one client among nine",
			contestants: cs,
			goals: []goal{
				{"PERF-X3", "speed of pgx within row-level security", faster(cs[0], cs[3]), "x", true, 1.1},
				{"PERF-X3", "speed of pgbench, which keeps no such promise", faster(cs[0], cs[1]), "x", true, 0.55},
			},
		}
	}
	return onServer(func(s *server) (*race, error) {
		sql, args := s.forPgx(theirs)
		return with([]*contestant{
			{name: ourRead, per: 1, sample: together(func(who, _ int) error {
				reply, err := s.do(who, listing)
				if err == nil && len(reply.Calls[0].Result.Rows) != theirRows {
					err = fmt.Errorf("%d rows were read", len(reply.Calls[0].Result.Rows))
				}
				return err
			})},
			s.pgbench(pgRead, theirs),
			{name: pgxRead, per: 1, sample: together(func(who, i int) error {
				rows, err := s.pool.Query(context.Background(), sql, args(who, i)...)
				if err != nil {
					return err
				}
				n := 0
				for rows.Next() {
					if _, err := rows.Values(); err != nil {
						return err
					}
					n++
				}
				rows.Close()
				if n != theirRows {
					return errors.Join(rows.Err(), fmt.Errorf("%d rows were read", n))
				}
				return nil
			})},
			{name: heldRead, per: 1, sample: together(func(who, i int) error {
				return within(s.app, who, bankKey(aCBU, who).Text(), theirRows, sql, args(who, i)...)
			})},
		}), nil
	}, func(why error) *race { return with(nobody(why, ourRead, pgRead, pgxRead, heldRead)) })
}

// within reads as the application's role does, which policies hold: the server is
// told in every transaction whose rows may be seen. It is the least that a read
// costs behind that second lock.
func within(pool *pgxpool.Pool, who int, cbu string, want int, sql string, args ...any) error {
	rows, err := rowsWithin(pool, who, cbu, sql, args...)
	if err == nil && len(rows) != want {
		err = fmt.Errorf("%d rows were read", len(rows))
	}
	return err
}

func rowsWithin(pool *pgxpool.Pool, who int, cbu string, sql string, args ...any) (all [][]any, err error) {
	var b pgx.Batch
	b.Queue("SELECT set_config('verbatim.all', 'off', true), set_config('verbatim.principal', $1, true), set_config('verbatim.holds_cbu_uuid', $2, true), set_config('verbatim.holds_cbu_string', $2, true)",
		client(who), "{"+cbu+"}")
	b.Queue(sql, args...)
	res := pool.SendBatch(context.Background(), &b)
	_, err = res.Exec()
	if rows, e := res.Query(); err == nil && e == nil {
		for rows.Next() {
			values, e := rows.Values()
			if err = e; err != nil {
				break
			}
			all = append(all, values)
		}
		rows.Close()
	}
	return all, errors.Join(err, res.Close())
}
