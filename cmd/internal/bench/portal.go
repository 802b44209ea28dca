package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgxpool"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/verbs/load"
)

// The portal is the palettes that we ship, over 10 000 clients and 100 000
// requests. Eight clients at once read what is outstanding for them, with its
// reasons and its parts, and answer.
type portal struct {
	*server
	sessions []*engine.Session
	pool     *pgxpool.Pool
	app      *pgxpool.Pool // as the application's role
	sent     atomic.Int64  // documents: no two are the same
	made     atomic.Int64  // those of the peers
}

// A portal's clients each hold a CBU of their own, far from one another.
func portalCBU(who int) int { return 1234 * (who + 1) % 10000 }

func openPortal(s *server) (*portal, error) {
	ctx := context.Background()
	db, err := s.host.database()
	if err != nil {
		return nil, err
	}
	p := &portal{server: s}
	store, err := postgres.Open(ctx, db.App+fmt.Sprintf("&pool_max_conns=%d", clients), postgres.MigrateAs(db.Owner))
	if err != nil {
		return nil, err
	}
	s.host.Cleanup(func() { store.Close() })
	reg, ds := load.Dir(os.DirFS(filepath.Join("..", "..", "..", "verbs", "palettes", "bank")))
	if ds.HasErrors() {
		return nil, fmt.Errorf("the palettes do not load: %v", ds)
	}
	tables := engine.Own()
	for _, e := range reg.Entities() {
		e.Store.Managed = true
		tables = append(tables, e.Store)
	}
	if plan, err := store.Migrate(ctx, tables, true); err != nil || len(plan.Problems) > 0 {
		return nil, fmt.Errorf("the store cannot be prepared: %w %v", err, plan.Problems)
	}
	crowd, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", "client", "crowd.postgres.sql"))
	if err == nil {
		err = store.Load(ctx, string(crowd))
	}
	if err != nil {
		return nil, err
	}
	e, err := engine.New(reg, store, engine.Options{Handlers: &engine.Handlers{Partial: true}})
	if err != nil {
		return nil, err
	}
	for who := range clients {
		cbu, _ := stores.ParseUUID(fmt.Sprintf("0000000c-0000-4000-8000-%012x", portalCBU(who)))
		if err := store.SetPrincipal(ctx, stores.Principal{Name: client(who), Roles: []string{"client"}, Holds: map[string][]stores.Value{"cbu": {cbu}}}); err != nil {
			return nil, err
		}
		session, err := e.Session(ctx, client(who))
		if err != nil {
			return nil, err
		}
		p.sessions = append(p.sessions, session)
	}
	if p.pool, err = pgxpool.New(ctx, db.Admin+fmt.Sprintf("&pool_max_conns=%d", clients)); err != nil {
		return nil, err
	}
	s.host.Cleanup(p.pool.Close)
	if p.app, err = pgxpool.New(ctx, db.App+fmt.Sprintf("&pool_max_conns=%d", clients)); err != nil {
		return nil, err
	}
	s.host.Cleanup(p.app.Close)
	for who := range clients {
		if _, err := p.pool.Exec(ctx, fmt.Sprintf(`INSERT INTO verbatim.contents (sum, tag, size, state) SELECT '%[1]s-' || i, '01', 651, 'HELD' FROM generate_series(0, %[2]d) i ON CONFLICT DO NOTHING;
			INSERT INTO verbatim.uploads (id, owner, name, media_type, size, sum, content, verdict, uploaded_at)
			SELECT '%[1]s-' || i, '%[1]s', 'return.pdf', 'application/pdf', 651, '%[1]s-' || i, '%[1]s-' || i, 'CLEAN', now() FROM generate_series(0, %[2]d) i`, client(who), portalFiles-1)); err != nil {
			return nil, err
		}
	}
	for _, sql := range []string{
		chainTable("peers_journal"), `TRUNCATE public.peers_journal`, `CREATE SEQUENCE public.peers_seq`,
		`CREATE TABLE public.peers_outbox (id text COLLATE "C" PRIMARY KEY, kind text NOT NULL, target text NOT NULL, payload text NOT NULL, time timestamptz NOT NULL)`, `VACUUM ANALYZE`,
	} {
		if _, err := p.pool.Exec(ctx, sql); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// say takes a text through the whole path, and returns how many rows came back.
func (p *portal) say(who int, text string) (int, error) {
	script, ds := dsl.Parse(dsl.NewSource("bench.dsl", text))
	if ds.HasErrors() {
		return 0, fmt.Errorf("%v", ds)
	}
	prog, ds := p.sessions[who].Check(context.Background(), script)
	if prog == nil {
		return 0, fmt.Errorf("%v", ds)
	}
	reply, err := p.sessions[who].Run(context.Background(), prog, engine.RunOptions{})
	if err != nil || reply.Calls[0].Result == nil {
		return 0, err
	}
	return len(reply.Calls[0].Result.Rows), nil
}

// The statements of the peers, with the same rows: a request of the client's own
// CBU is found three references below it.
const (
	portalRead = `SELECT r.request_id, r.request_type, r.request_subtype, e.name, r.reason_for_request, r.compliance_context, r.acceptable_document_types, r.status, r.due_date, r.client_notes,
	(SELECT count(*) FROM kyc.request_submissions s WHERE s.request_id = r.request_id),
	(SELECT json_agg(json_build_object('name', q.name, 'received_on', q.received_on) ORDER BY q.added_at) FROM kyc.request_parts q WHERE q.request_id = r.request_id AND q.received_on IS NOT NULL),
	(SELECT json_agg(json_build_object('name', q.name) ORDER BY q.added_at) FROM kyc.request_parts q WHERE q.request_id = r.request_id AND q.received_on IS NULL)
	FROM "ob-poc".cbus b JOIN kyc.cases c ON c.cbu_id = b.cbu_id JOIN kyc.entity_workstreams w ON w.case_id = c.case_id
	JOIN "ob-poc".entities e ON e.entity_id = w.entity_id JOIN kyc.outstanding_requests r ON r.workstream_id = w.workstream_id
	WHERE b.cbu_id = $1::uuid AND r.client_visible AND r.status NOT IN ('FULFILLED', 'WAIVED') ORDER BY r.due_date, r.created_at, r.request_id`
	portalWrite = `WITH r AS (SELECT r.request_id FROM kyc.outstanding_requests r JOIN kyc.entity_workstreams w ON w.workstream_id = r.workstream_id JOIN kyc.cases c ON c.case_id = w.case_id
		WHERE r.request_id = $2::uuid AND c.cbu_id = $1::uuid AND r.client_visible AND r.status NOT IN ('FULFILLED', 'WAIVED')),
	u AS (UPDATE kyc.outstanding_requests t SET status = 'PENDING_REVIEW', updated_at = now() FROM r WHERE t.request_id = r.request_id RETURNING t.request_id),
	s AS (INSERT INTO kyc.request_submissions (submission_id, request_id, document_type, file_reference, submitted_at, verdict) SELECT gen_random_uuid(), request_id, 'TAX_RETURN', $3::text, now(), 'RECEIVED' FROM u),
	k AS (INSERT INTO kyc.review_tasks (task_id, request, state, opened_at) SELECT gen_random_uuid(), request_id, 'OPEN', now() FROM u),
	o AS (INSERT INTO public.peers_outbox (id, kind, target, payload, time) SELECT gen_random_uuid()::text, 'notify', t, '{"request":"' || request_id || '","document_type":"TAX_RETURN"}', now() FROM u, unnest(ARRAY['internal-review-workflow', 'assigned-analyst']) t)
	INSERT INTO public.peers_journal SELECT n, now(), 'client', '["client"]', 'session', 'bench.dsl:1', 'client.submit-document', 'client.submit-document :request-id @x :document-type TAX_RETURN :file-reference "' || $3::text || '"',
		'ok', '', '[{"op":"insert"},{"op":"update"},{"op":"insert"}]', '', '', '', '', '', sha256(int8send(n)), sha256(int8send(n)), sha256(int8send(n)) FROM nextval('public.peers_seq') n, u`
)

// thePortal is opened by the first race that asks.
var thePortal *portal

func withPortal(s *server) (*portal, error) {
	var err error
	if thePortal == nil {
		thePortal, err = openPortal(s)
	}
	return thePortal, err
}

func (p *portal) cbu(who int) string {
	return fmt.Sprintf("0000000c-0000-4000-8000-%012x", portalCBU(who))
}

// request is the key of one of the ten requests of a client.
func (p *portal) request(who, i int) string {
	return fmt.Sprintf("000004e9-0000-4000-8000-%012x", portalCBU(who)*10+i%10)
}

// file is one of the files that a client has sent.
func (p *portal) file(who int) string {
	return fmt.Sprintf("upload://%s-%d", client(who), p.sent.Add(1)%portalFiles)
}

// another is a file that nobody sent: the peers ask for no proof that it was, and use more of
// them than could be kept.
func (p *portal) another() string { return fmt.Sprintf("peer-%d", p.made.Add(1)) }

// portalFiles is how many files each client has sent: more than are used.
const portalFiles = 20_000

const (
	portalReads  = "client.get-outstanding, text to rows"
	portalWrites = "client.submit-document, text to committed"
	plainReads   = "pgx, the same rows by one statement"
	heldReads    = "pgx, the same rows within row-level security"
	plainWrites  = "pgx, the writes as one statement"
)

// portalReading is PERF-X3 on the palette that we ship.
func portalReading() (*race, func(), error) {
	with := func(cs []*contestant) *race {
		return &race{
			name:        "What is outstanding, of one client among 10 000, 8 connections: ten requests with their parts",
			contestants: cs,
			goals:       []goal{{"PORTAL-X3", "speed of pgx within row-level security", faster(cs[0], cs[2]), "x", true, 0.9}},
		}
	}
	return onServer(func(s *server) (*race, error) {
		p, err := withPortal(s)
		if err != nil {
			return nil, err
		}
		return with([]*contestant{
			{name: portalReads, per: 1, sample: together(func(who, _ int) error {
				n, err := p.say(who, "client.get-outstanding")
				if err == nil && n != 10 {
					err = fmt.Errorf("%d rows were read", n)
				}
				return err
			})},
			{name: plainReads, per: 1, sample: together(func(who, _ int) error {
				rows, err := p.pool.Query(context.Background(), portalRead, p.cbu(who))
				if err != nil {
					return err
				}
				n := 0
				for ; rows.Next(); n++ {
					if _, err := rows.Values(); err != nil {
						return err
					}
				}
				rows.Close()
				if n != 10 {
					return errors.Join(rows.Err(), fmt.Errorf("%d rows were read", n))
				}
				return nil
			})},
			{name: heldReads, per: 1, sample: together(func(who, _ int) error {
				return within(p.app, who, p.cbu(who), 10, portalRead, p.cbu(who))
			})},
		}), nil
	}, func(why error) *race { return with(nobody(why, portalReads, plainReads, heldReads)) })
}

// portalWriting is PERF-X1 on the palette that we ship.
func portalWriting() (*race, func(), error) {
	with := func(cs []*contestant) *race {
		return &race{
			name:        "A document sent, among 100 000 requests, 8 connections: one row changed, two added, two notices, one line in the journal",
			contestants: cs,
			goals:       []goal{{"PORTAL-X1", "speed of one statement for all of it", faster(cs[0], cs[1]), "x", true, 0.45}},
		}
	}
	return onServer(func(s *server) (*race, error) {
		p, err := withPortal(s)
		if err != nil {
			return nil, err
		}
		return with([]*contestant{
			{name: portalWrites, per: 1, sample: together(func(who, i int) error {
				_, err := p.say(who, strings.Join([]string{`client.submit-document :request-id "`, p.request(who, i), `" :document-type TAX_RETURN :file-reference "`, p.file(who), `"`}, ""))
				return err
			})},
			{name: plainWrites, per: 1, sample: together(func(who, i int) error {
				tag, err := p.pool.Exec(context.Background(), portalWrite, p.cbu(who), p.request(who, i), p.another())
				if err == nil && tag.RowsAffected() != 1 {
					err = fmt.Errorf("%d rows were written", tag.RowsAffected())
				}
				return err
			})},
		}), nil
	}, func(why error) *race { return with(nobody(why, portalWrites, plainWrites)) })
}
