package postgres

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

//go:embed engine.txt
var engineText string

// A Need is a feature of the database engine that a store needs.
type Need struct {
	What, For string
	Only      bool   // it is needed for that alone
	Lacks     string // what the engine said instead; "" if it has the feature
}

// Engine tests a database for the features that a store needs, whatever the engine calls itself.
// It tries each need with statements of its own, in one transaction that is rolled back: nothing
// stays. The role of the URL may create schemas.
func Engine(ctx context.Context, url string) (about string, all []Need, err error) {
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return "", nil, fault(ctx, "open", err)
	}
	c.DefaultQueryExecMode = pgx.QueryExecModeExec
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return "", nil, fault(ctx, "open", err)
	}
	defer leave(ctx, conn)
	if err := conn.QueryRow(ctx, "SELECT version()").Scan(&about); err != nil {
		return "", nil, fault(ctx, "open", err)
	}
	try := func(sql string) error {
		_, err := conn.Exec(ctx, sql)
		return err
	}
	for _, sql := range []string{"BEGIN", "CREATE SCHEMA verbatim_probe"} {
		if err := try(sql); err != nil {
			return about, nil, fault(ctx, "open", err)
		}
	}
	for _, block := range strings.Split(engineText, "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		if strings.HasPrefix(lines[0], "#") {
			continue
		}
		n := Need{}
		n.What, n.For, _ = strings.Cut(lines[0], ": ")
		n.For, n.Only = strings.CutSuffix(n.For, ", only")
		err := try("SAVEPOINT need")
		for _, sql := range lines[1:] {
			if err == nil {
				err = try(strings.TrimSpace(sql))
			}
		}
		if err != nil {
			n.Lacks = lack(err)
			if undo := try("ROLLBACK TO SAVEPOINT need"); undo != nil {
				return about, append(all, n), fault(ctx, "open", undo)
			}
		}
		all = append(all, n)
	}
	all = append(all, beside(ctx, c))
	if err := try("ROLLBACK"); err != nil {
		return about, all, fault(ctx, "open", err)
	}
	var left bool
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'verbatim_probe')").Scan(&left)
	if err == nil && left {
		all = append(all, Need{What: "transactions", For: "everything", Lacks: "what was rolled back is still there"})
	}
	return about, all, fault(ctx, "open", err)
}

// beside tests whether a second connection gets an answer while a transaction is open, and sees
// none of its changes.
func beside(ctx context.Context, c *pgx.ConnConfig) Need {
	n := Need{What: "several connections at once, that see nothing of one another", For: "everybody beside everybody"}
	ctx, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	other, err := pgx.ConnectConfig(ctx, c)
	sees := false
	if err == nil {
		defer leave(ctx, other)
		err = other.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'verbatim_probe')").Scan(&sees)
	}
	switch {
	case err != nil:
		n.Lacks = lack(err)
	case sees:
		n.Lacks = "what was not committed is seen"
	}
	return n
}

// lack returns the engine's message about a statement of ours, which contains nobody's data.
func lack(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Message + " (" + e.Code + ")"
	}
	return plainCause(err).Error()
}
