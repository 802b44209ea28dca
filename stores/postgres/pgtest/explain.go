package pgtest

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// A Plan is the plan with which the server ran a statement, and the blocks that it touched.
type Plan struct {
	SQL string `json:"Query Text"`
	Top *Node  `json:"Plan"`
}

// A Node is one step of a Plan. What it touched includes the steps below it.
type Node struct {
	Type     string  `json:"Node Type"`
	Schema   string  `json:"Schema"`
	Relation string  `json:"Relation Name"`
	Removed  float64 `json:"Rows Removed by Filter"` // each time
	Hit      int     `json:"Shared Hit Blocks"`
	Read     int     `json:"Shared Read Blocks"`
	Nodes    []*Node `json:"Plans"`
}

// Walk calls fn with a node and all below it.
func (n *Node) Walk(fn func(*Node)) {
	fn(n)
	for _, kid := range n.Nodes {
		kid.Walk(fn)
	}
}

// Explained collects plans.
type Explained struct {
	// Pool belongs to the application's role. The server reports the plan of every statement that
	// it runs, as it was carried out: with the exact text and arguments that were sent, within
	// the scope that was set.
	Pool *pgxpool.Pool

	t     testing.TB
	db    DB
	mu    sync.Mutex
	plans []Plan
}

// Explain makes the server report the plans of a pool's statements.
func Explain(t testing.TB, db DB) *Explained {
	t.Helper()
	x := &Explained{t: t, db: db}
	// Only a superuser may make the settings of auto_explain, and they exist once it is loaded.
	db.Run(t, "LOAD 'auto_explain'", `DO $$BEGIN
		EXECUTE format('ALTER ROLE verbatim_app IN DATABASE %I SET session_preload_libraries = ''auto_explain''', current_database());
		EXECUTE format('ALTER ROLE verbatim_app IN DATABASE %I SET auto_explain.log_min_duration = 0', current_database());
		EXECUTE format('ALTER ROLE verbatim_app IN DATABASE %I SET auto_explain.log_level = notice', current_database());
		EXECUTE format('ALTER ROLE verbatim_app IN DATABASE %I SET auto_explain.log_format = json', current_database());
		EXECUTE format('ALTER ROLE verbatim_app IN DATABASE %I SET auto_explain.log_analyze = on', current_database());
		EXECUTE format('ALTER ROLE verbatim_app IN DATABASE %I SET auto_explain.log_timing = off', current_database());
		EXECUTE format('ALTER ROLE verbatim_app IN DATABASE %I SET auto_explain.log_buffers = on', current_database());
		EXECUTE format('ALTER ROLE verbatim_app IN DATABASE %I SET auto_explain.log_verbose = on', current_database());
	END$$`)
	cfg, err := pgxpool.ParseConfig(db.App)
	if err != nil {
		t.Fatal(err)
	}
	cfg.ConnConfig.OnNotice = x.notice
	if x.Pool, err = pgxpool.NewWithConfig(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Pool.Close)
	return x
}

func (x *Explained) notice(_ *pgconn.PgConn, n *pgconn.Notice) {
	at := strings.IndexByte(n.Message, '{')
	if !strings.HasPrefix(n.Message, "duration: ") || at < 0 {
		return
	}
	var p Plan
	err := json.Unmarshal([]byte(n.Message[at:]), &p)
	if err != nil || p.Top == nil {
		x.t.Errorf("pgtest: a plan that cannot be read: %v\n%s", err, n.Message)
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.plans = append(x.plans, p)
}

// Plans returns the plans reported since the last call, in the order of the statements of each
// connection.
func (x *Explained) Plans() []Plan {
	x.mu.Lock()
	defer x.mu.Unlock()
	all := x.plans
	x.plans = nil
	return all
}

// Analyze makes the server analyze and vacuum the tables, so that plans are as in a database that
// has been in use for a while.
func (x *Explained) Analyze() {
	x.t.Helper()
	x.db.Run(x.t, "VACUUM ANALYZE")
}
