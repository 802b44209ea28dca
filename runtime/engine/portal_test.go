package engine_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// The client portal of examples/client: what a client is told of their own
// onboarding and may answer, and what an analyst decides of it. Clara holds
// Allianz Reinsurance, Jonas another CBU; t.weber and a.nowak review.

// A portal is the bank's store with a clock that tests set.
type portal struct {
	*shop
	now time.Time
}

func onPortals(t *testing.T, test func(t *testing.T, p *portal)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, newPortal(t, sqliteBank(t)))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, newPortal(t, postgresBank(t)))
	})
}

func newPortal(t testing.TB, s *shop) *portal {
	t.Helper()
	return newPortalAt(t, s, time.Date(2024, 12, 27, 9, 14, 2, 0, time.UTC))
}

func newPortalAt(t testing.TB, s *shop, now time.Time) *portal {
	t.Helper()
	p := &portal{shop: s, now: now}
	var err error
	p.engine, err = engine.New(s.reg, s.store, engine.Options{
		Clock:    func() time.Time { return p.now },
		Handlers: &engine.Handlers{Partial: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{"thm7qk2vx9dn4wz8rc5gy3pb6jfe0sau", "abc123", "returns", "returns-2", "returns-3", "bill", "me", "p2", "t", "b", "four", "one", "three", "two"}
	for n := range manyFiles {
		ids = append(ids, fmt.Sprintf("f%d", n))
	}
	p.sent(t, ids...)
	return p
}

// manyFiles is how many files f0, f1, … Clara has sent besides.
const manyFiles = 20

// sent is what Clara has sent and somebody has looked at, each another file.
func (p *portal) sent(t testing.TB, ids ...string) {
	t.Helper()
	for _, id := range ids {
		p.sentAgain(t, "clara", id, id)
	}
}

// sentAgain is the file that was sent as one reference, sent under others, by
// somebody who may be another.
func (p *portal) sentAgain(t testing.TB, who, file string, ids ...string) {
	t.Helper()
	ctx := context.Background()
	own := map[string]*stores.Entity{}
	for _, e := range engine.Own() {
		own[e.Name] = e
	}
	sum := str(fmt.Sprintf("%x", sha256.Sum256([]byte(file))))
	row := func(e *stores.Entity, key stores.Value, fields map[string]stores.Value) stores.Change {
		c := stores.Change{Op: stores.Insert, Entity: e, Key: key}
		for i := range e.Fields {
			if v, ok := fields[e.Fields[i].Name]; ok {
				c.Set = append(c.Set, stores.Assign{Field: i, Value: v})
			}
		}
		return c
	}
	err := p.store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		var b stores.Batch
		if _, err := tx.Get(ctx, own["verbatim.content"], sum); errors.Is(err, stores.ErrNotFound) {
			b.Changes = append(b.Changes, row(own["verbatim.content"], sum, map[string]stores.Value{"tag": str("0123456789abcdef"), "size": stores.NewInt(651), "state": str("HELD")}))
		}
		for _, id := range ids {
			b.Changes = append(b.Changes, row(own["verbatim.upload"], str(id), map[string]stores.Value{"owner": str(who), "name": str("passport.pdf"), "type": str("application/pdf"),
				"size": stores.NewInt(651), "sum": sum, "content": sum, "verdict": str(uploads.Clean), "scanner": str("none"), "time": stores.NewTime(p.now)}))
		}
		return tx.Apply(ctx, b)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// postgresBank is the bank of the examples, row for row, on a server. Its tables
// are made here, so that the server's own policies stand behind the engine's
// scope.
func postgresBank(t testing.TB) *shop {
	t.Helper()
	return openBank(t, serverLike(t, "bank", fillBank(t)))
}

func openBank(t testing.TB, store stores.Store) *shop {
	t.Helper()
	s := &shop{store: store, reg: load(t, "../../verbs/palettes/bank")}
	for _, e := range s.tables() {
		e.Managed = true
	}
	return s
}

// fillBank copies the bank's rows from a file.
func fillBank(t testing.TB) func(store stores.Store) error {
	return func(store stores.Store) error {
		ctx := context.Background()
		from, s := sqliteBank(t), openBank(t, store)
		plan, err := store.Migrate(ctx, append(s.tables(), engine.Own()...), true)
		if err != nil || len(plan.Problems) > 0 {
			t.Fatal(err, plan.Problems)
		}
		filled := map[*stores.Entity]bool{}
		for left := s.tables(); len(left) > 0; {
			i := slices.IndexFunc(left, func(e *stores.Entity) bool {
				return !slices.ContainsFunc(e.Fields, func(f stores.Field) bool { return f.Ref != nil && f.Ref != e && !filled[f.Ref] })
			})
			if i < 0 {
				t.Fatal("entities require one another")
			}
			e := left[i]
			left, filled[e] = slices.Delete(left, i, i+1), true
			var batch stores.Batch
			for key, row := range from.rows(t, e.Name) {
				c := stores.Change{Op: stores.Insert, Entity: e, Key: key}
				for f := range e.Fields {
					if v := row[e.Fields[f].Name]; f != e.Key && !v.IsNull() {
						c.Set = append(c.Set, stores.Assign{Field: f, Value: v})
					}
				}
				batch.Changes = append(batch.Changes, c)
			}
			if err := store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error { return tx.Apply(ctx, batch) }); err != nil {
				t.Fatal(e.Name, err)
			}
		}
		for _, name := range []string{"clara", "jonas", "t.weber", "a.nowak", "s.keller", "d.lang"} {
			who, err := from.store.Principal(ctx, name)
			if err == nil {
				err = store.SetPrincipal(ctx, who)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return nil
	}
}

// did runs a script that must be carried out, agreeing to what it asks of who
// asks, and returns what its calls gave back.
func (p *portal) did(t testing.TB, who, text string) []*receipt.Result {
	t.Helper()
	results, err := p.try(who, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return results
}

func (p *portal) try(who, text string) ([]*receipt.Result, error) {
	ctx := context.Background()
	session, err := p.engine.Session(ctx, who)
	if err != nil {
		return nil, err
	}
	script, ds := dsl.Parse(dsl.NewSource("portal.dsl", text))
	if ds.HasErrors() {
		return nil, errors.New(told(ds))
	}
	prog, ds := session.Check(context.Background(), script)
	if prog == nil {
		return nil, &engine.Refusal{Diagnostics: ds}
	}
	reply, err := session.Run(ctx, prog, engine.RunOptions{})
	if err != nil {
		return nil, err
	}
	var all []*receipt.Result
	for i := range reply.Calls {
		all = append(all, reply.Calls[i].Result)
	}
	return all, nil
}

// refused tries a script that must be refused with a code and a sentence, and
// must leave nothing behind but its entry in the journal.
func (p *portal) refused(t testing.TB, who, text, want, sentence string) {
	t.Helper()
	before := p.all(t)
	_, err := p.try(who, text)
	if code(err) != want || !strings.Contains(fmt.Sprint(err), sentence) {
		t.Errorf("%.200s\ngot %v\nwant %s: %s", text, err, want, sentence)
	}
	if d := changed(before, p.all(t)); len(d) > 0 {
		t.Errorf("%.200s\nwas refused and changed %v", text, d)
	}
}

// all is every row there is, by entity and key.
func (p *portal) all(t testing.TB) map[string]map[string]stores.Value {
	t.Helper()
	all := map[string]map[string]stores.Value{}
	for _, e := range p.tables() {
		for key, row := range p.rows(t, e.Name) {
			all[e.Name+" "+key.Text()] = row
		}
	}
	return all
}

// changed names the fields that differ, and the entities of rows that came or
// went.
func changed(before, after map[string]map[string]stores.Value) []string {
	var all []string
	for key, row := range after {
		entity, _, _ := strings.Cut(key, " ")
		if before[key] == nil {
			all = append(all, "+ "+entity)
			continue
		}
		for field, v := range row {
			if before[key][field] != v {
				all = append(all, entity+"."+field+"="+v.Text())
			}
		}
	}
	for key := range before {
		if after[key] == nil {
			entity, _, _ := strings.Cut(key, " ")
			all = append(all, "- "+entity)
		}
	}
	slices.Sort(all)
	return all
}

// said is a column of the row of an answer, as text; of a list its JSON.
func said(t testing.TB, res *receipt.Result, row int, column string) string {
	t.Helper()
	i := slices.Index(res.Columns, column)
	if i < 0 || row >= len(res.Rows) {
		t.Fatalf("there is no %s in row %d of %v", column, row, res.Columns)
	}
	return res.Rows[row][i].Text()
}

func wantSaid(t testing.TB, res *receipt.Result, row int, want map[string]string) {
	t.Helper()
	for column, text := range want {
		if got := said(t, res, row, column); got != text {
			t.Errorf("%s is %q, want %q", column, got, text)
		}
	}
}

const (
	sourceOfWealth = "000004e9-0000-4000-8000-000000000001"
	identity       = "000004e9-0000-4000-8000-000000000002"
	dateOfBirth    = "000004e9-0000-4000-8000-000000000003"
)

// O31, O7, O24, O2, X9, U27: what is outstanding comes with why, with the rule
// behind it, with what would do, with what is here and what is missing, in the
// order of the days it is due. What the bank keeps to itself and what is settled
// is not among it.
func TestGetOutstandingIncludesWhy(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		res := p.did(t, "clara", "client.get-outstanding")[0]
		if len(res.Rows) != 3 {
			t.Fatalf("%d requests are outstanding", len(res.Rows))
		}
		wantSaid(t, res, 0, map[string]string{
			"request_id": "@thomas-muller-identity", "request_type": "DOCUMENT", "entity_name": "Thomas Müller",
			"acceptable_documents": `["PASSPORT","NATIONAL_ID"]`, "due_date": "2025-01-10", "status": "PENDING",
			"review_hours": "24", "quick_win": "false", "submissions_count": "0", "received": "[]", "missing": "[]",
		})
		wantSaid(t, res, 1, map[string]string{
			"request_id":         "@pierre-dupont-source-of-wealth",
			"reason_for_request": "Pierre is investing EUR 50 million, so the bank has to see how his wealth was built up over the years, not only where this payment comes from.",
			"compliance_context": "FCA SYSC 6.1.1", "status": "PARTIALLY_FULFILLED", "due_date": "2025-01-15", "client_notes": "",
			"submissions_count": "1", "received": `[{"name":"Bank statements","received_on":"2024-12-12"}]`,
			"missing": `[{"name":"Tax return 2021"},{"name":"Tax return 2022"},{"name":"Tax return 2023"}]`, "review_hours": "",
		})
		wantSaid(t, res, 2, map[string]string{
			"request_id": "@maria-schmidt-date-of-birth", "request_type": "INFORMATION", "due_date": "", "quick_win": "true", "minutes": "1",
			"reason_for_request": "The register of people with significant control asks for it.",
		})
		all := p.did(t, "clara", "client.get-outstanding :include-completed true")[0]
		if len(all.Rows) != 4 {
			t.Errorf("with what is settled there are %d", len(all.Rows))
		}
		wantSaid(t, all, 0, map[string]string{"request_id": "@clara-weiss-identity", "status": "FULFILLED"})
	})
}

// O23, O25: what somebody who helps a client is told before they speak comes out of
// the rows that everybody works on, by verbs that the client may use: how far it
// is, what is outstanding and why, what is settled, what was promised, and who
// takes part. All of it is of the company at work, and none of anybody else's.
func TestWhoHelpsAClientKnowsWhereTheyAre(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		known := func() map[string]*receipt.Result {
			t.Helper()
			all := map[string]*receipt.Result{}
			for _, v := range p.reg.Palette("client").Conversation.Context {
				all[v.Name] = p.did(t, "clara", v.Name)[0]
			}
			return all
		}
		p.did(t, "clara", replayed(t, "4-next-week"))
		all := known()
		if len(all) != 5 {
			t.Errorf("%d parts", len(all))
		}
		wantSaid(t, all["client.get-status"], 0, map[string]string{"overall_progress_percent": "87", "cbu": "@allianz-reinsurance-ag"})
		wantSaid(t, all["client.get-outstanding"], 0, map[string]string{"request_id": "@thomas-muller-identity", "compliance_context": "UK Money Laundering Regulations 2017"})
		wantSaid(t, all["client.get-completed"], 0, map[string]string{"request_id": "@clara-weiss-identity", "status": "FULFILLED", "entity_name": "Clara Weiss"})
		wantSaid(t, all["client.get-commitments"], 0, map[string]string{"request_id": "@pierre-dupont-source-of-wealth", "expected_date": "2025-01-03", "status": "PENDING"})
		wantSaid(t, all["client.get-companies"], 0, map[string]string{"company": "@allianz-reinsurance-ag", "outstanding_count": "3"})
		people := said(t, all["client.get-companies"], 0, "people")
		if strings.Count(people, `"name":`) != 5 || !strings.Contains(people, `{"as":["PRINCIPAL"],"name":"Allianz Reinsurance AG","type":"COMPANY"}`) || len(all["client.get-completed"].Rows) != 1 {
			t.Errorf("%s, %d settled", people, len(all["client.get-completed"].Rows))
		}
		for name, res := range all {
			if text := fmt.Sprint(res.Rows); strings.Contains(text, "Jonas") || strings.Contains(text, "Nordlicht") || strings.Contains(text, "000004e9") {
				t.Errorf("%s tells of %s", name, text)
			}
		}
		// It is derived anew: what is done moves from one list to the other.
		p.did(t, "clara", replayed(t, "2-maria"))
		all = known()
		wantSaid(t, all["client.get-completed"], 0, map[string]string{"request_id": "@maria-schmidt-date-of-birth"})
		if len(all["client.get-outstanding"].Rows) != 2 {
			t.Errorf("%d are outstanding", len(all["client.get-outstanding"].Rows))
		}
	})
}

// O8, O26: one request in full.
func TestRequestDetailExplains(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		res := p.did(t, "clara", "client.get-request-detail :request-id @pierre-dupont-source-of-wealth")[0]
		for column, want := range map[string][]string{
			"full_why_explanation":    {"EUR 50 million", "over the years"},
			"regulatory_references":   {`"rule":"FCA SYSC 6.1.1"`, "regulation 35", `"says":"The bank must have`},
			"acceptable_alternatives": {`"code":"TAX_RETURN","description":"a tax return as it was filed`, `"code":"ADVISOR_LETTER"`},
			"common_questions":        {`{"answer":"2021, 2022 and 2023.","question":"Which years?"}`, "not filed yet"},
			"partial_progress":        {`{"name":"Bank statements","received":true,"received_on":"2024-12-12"},{"name":"Tax return 2021","received":false,"received_on":null}`},
			"submissions":             {`"document":"BANK_STATEMENT"`, `"verdict":"ACCEPTED"`},
			"status_means":            {"something was received, something is missing"},
		} {
			for _, part := range want {
				if got := said(t, res, 0, column); !strings.Contains(got, part) {
					t.Errorf("%s is %s, without %s", column, got, part)
				}
			}
		}
		// Neither what the bank keeps to itself nor somebody else's is there.
		p.refused(t, "clara", `client.get-request-detail :request-id "000004e9-0000-4000-8000-000000000005"`, "unknown-name", "")
		p.refused(t, "clara", `client.get-request-detail :request-id "000004e9-0000-4000-8000-000000000006"`, "unknown-name", "")
	})
}

// O9: who somebody is, by the rule of a quarter of the shares or of control, and
// what is outstanding for them.
func TestEntityInfoSaysWhoIsAnOwner(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		res := p.did(t, "clara", "client.get-entity-info :entity-id @thomas-muller")[0]
		wantSaid(t, res, 0, map[string]string{
			"name": "Thomas Müller", "type": "PERSON", "ubo_status": "UBO", "outstanding_count": "1",
			"roles":                  `[{"code":"DIRECTOR","description":"directs the company"},{"code":"SIGNIFICANT_CONTROL","description":"a person with significant control, as the register calls it"}]`,
			"outstanding_for_entity": `[{"due_date":"2025-01-10","status":"PENDING","what":"IDENTITY","why":"Thomas has significant control, and the identity of everybody who has must be verified."}]`,
		})
		for name, want := range map[string]string{"pierre-dupont": "UBO", "clara-weiss": "UNKNOWN", "allianz-reinsurance-ag": "NO_PERSON"} {
			res := p.did(t, "clara", `client.get-entity-info :entity-id @`+name)[0]
			if got := said(t, res, 0, "ubo_status"); got != want {
				t.Errorf("%s is %s, want %s", name, got, want)
			}
		}
		// F32: a quarter itself is enough, and less is not.
		clara := stores.Value{}
		for key, row := range p.rows(t, "entity") {
			if row["name"].Text() == "Clara Weiss" {
				clara = key
			}
		}
		for share, want := range map[string]string{"24.99": "NOT_UBO", "25": "UBO", "25.00": "UBO", "25.01": "UBO"} {
			p.set(t, "entity", clara, "ownership", decimal(share))
			if got := said(t, p.did(t, "clara", "client.get-entity-info :entity-id @clara-weiss")[0], 0, "ubo_status"); got != want {
				t.Errorf("with %s %% she is %s, want %s", share, got, want)
			}
		}
	})
}

// F32: of what is due on the same day the oldest comes first, however its keys
// are ordered.
func TestOfOneDayTheOldestComesFirst(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		uuid := func(key string) stores.Value {
			v, _ := stores.ParseUUID(key)
			return v
		}
		column := map[string]string{"client.get-outstanding": "request_id", "client.get-status": "blockers", "client.get-entity-info :entity-id @thomas-muller": "outstanding_for_entity"}
		// All three are Thomas's, so that each list holds them.
		his := p.rows(t, "outstanding-request")[uuid(identity)]["workstream"]
		for _, request := range []string{sourceOfWealth, dateOfBirth} {
			p.set(t, "outstanding-request", uuid(request), "workstream", his)
		}
		for _, order := range [][]string{{sourceOfWealth, identity, dateOfBirth}, {dateOfBirth, identity, sourceOfWealth}, {identity, dateOfBirth, sourceOfWealth}} {
			var want []string
			for i, key := range order {
				p.set(t, "outstanding-request", uuid(key), "due_date", date("2025-01-10"))
				p.set(t, "outstanding-request", uuid(key), "created_at", stores.NewTime(time.Date(2024, 12, 2, 9, i, 0, 0, time.UTC)))
				want = append(want, map[string]string{sourceOfWealth: "SOURCE_OF_WEALTH", identity: "IDENTITY", dateOfBirth: "DATE_OF_BIRTH"}[key])
			}
			for call, list := range column {
				res := p.did(t, "clara", call)[0]
				text := said(t, res, 0, list)
				if list == "request_id" {
					text = said(t, res, 0, "request_subtype") + said(t, res, 1, "request_subtype") + said(t, res, 2, "request_subtype")
				}
				got := regexp.MustCompile("SOURCE_OF_WEALTH|IDENTITY|DATE_OF_BIRTH").FindAllString(text, -1)
				if !slices.Equal(got, want) {
					t.Errorf("%s: %v, want %v", call, got, want)
				}
			}
		}
	})
}

// O33, O10, X14: a document puts its request under review: what was sent is
// recorded, somebody has something to look at, and they are told.
func TestDocumentSubmissionUpdatesRequest(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		before := p.all(t)
		p.did(t, "clara", `client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference "upload://abc123" :notes "Thomas, all pages"`)
		want := []string{"+ document-submission", "+ review-task", "outstanding-request.status=PENDING_REVIEW", "outstanding-request.updated_at=2024-12-27T09:14:02Z"}
		if got := changed(before, p.all(t)); !slices.Equal(got, want) {
			t.Errorf("it changed %q", got)
		}
		res := p.did(t, "t.weber", "review.waiting")[0]
		wantSaid(t, res, 0, map[string]string{
			"request": "@thomas-muller-identity", "analyst": "t.weber", "open_tasks": "1",
			"documents": `[{"document":"PASSPORT","file":"upload://abc123","notes":"Thomas, all pages","submitted_at":"2024-12-27T09:14:02Z"}]`,
		})
		if len(res.Rows) != 1 {
			t.Errorf("%d requests wait", len(res.Rows))
		}
	})
}

// G10: what is missing keeps a request with the client, whatever was sent of it: of three tax
// returns, one or two leave it there, and the bank may look at them all the same.
func TestMissingPartsKeepARequestWithTheClient(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		wealth, _ := stores.ParseUUID(sourceOfWealth)
		steps := func() string {
			res := p.did(t, "clara", "client.get-status")[0]
			row := map[string]string{}
			for i, column := range res.Columns {
				row[column] = res.Rows[0][i].Text()
			}
			return fmt.Sprint(row["steps_done"], " done, ", row["with_you"], " with you, ", row["with_us"], " with us, Pierre ", strings.Contains(row["blockers"], "Pierre"))
		}
		before := steps()
		for i, want := range []string{"PART_IN_REVIEW", "PART_IN_REVIEW", "PENDING_REVIEW"} {
			p.did(t, "clara", fmt.Sprintf(`client.submit-document :request-id @pierre-dupont-source-of-wealth :document-type TAX_RETURN :file-reference "upload://f%d"`, i+1))
			if got := p.rows(t, "outstanding-request")[wealth]["status"].Text(); got != want {
				t.Errorf("%d of three returns: %s, want %s", i+1, got, want)
			}
			if after := steps(); (after == before) != (want == "PART_IN_REVIEW") {
				t.Errorf("%d of three returns: %s, and before %s", i+1, after, before)
			}
			if res := p.did(t, "t.weber", "review.waiting")[0]; len(res.Rows) != 1 {
				t.Errorf("%d of three returns: %d requests wait for the bank", i+1, len(res.Rows))
			}
		}
	})
}

// O36, X4: what is another CBU's cannot be looked at, answered or named, and is
// refused as what is nobody's.
func TestCBUScopingEnforced(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		theirs := map[string]string{
			"@outstanding-request": `"` + identity + `"`, "@entity": `"0000000e-0000-4000-8000-000000000002"`, "@cbu": `"0000000c-0000-4000-8000-000000000001"`,
		}
		tried := 0
		for _, v := range p.reg.Verbs() {
			if !strings.HasPrefix(v.Name, "client.") || v.Internal {
				continue
			}
			call := v.Example()
			if i := slices.IndexFunc(v.Params, func(p verbs.Param) bool { return p.Name == "cbu-id" && !p.Required }); i >= 0 {
				call += " :cbu-id @cbu"
			}
			hers, nobodys := call, call
			for name, key := range theirs {
				hers = strings.ReplaceAll(hers, name, key)
				nobodys = strings.ReplaceAll(nobodys, name, `"00000000-0000-4000-8000-0000000000ff"`)
			}
			if hers == call {
				continue
			}
			tried++
			_, one := p.try("jonas", hers)
			_, other := p.try("jonas", nobodys)
			if code(one) != "unknown-name" || code(other) != "unknown-name" {
				t.Errorf("%s\nof another: %v\nof nobody: %v", call, one, other)
			}
		}
		if tried < 9 {
			t.Errorf("only %d verbs were tried", tried)
		}
		for _, call := range []string{"client.get-status", "client.get-outstanding", "client.get-commitments"} {
			for _, row := range p.did(t, "jonas", call)[0].Rows {
				for _, v := range row {
					if strings.Contains(v.Text(), "Allianz") || strings.Contains(v.Text(), "Dupont") || strings.Contains(v.Text(), "Müller") {
						t.Errorf("%s tells jonas of %s", call, v.Text())
					}
				}
			}
		}
	})
}

// O6, O29, U28: how far an onboarding is follows from what the palette says a
// step is and when it is done; both numbers are told, and the stages in their
// order. What the client did counts as done while the bank checks it.
func TestProgressIsWhatThePaletteSays(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		status := func(want map[string]string) {
			t.Helper()
			res := p.did(t, "clara", "client.get-status")[0]
			if len(res.Rows) != 1 {
				t.Fatalf("clara has %d onboardings", len(res.Rows))
			}
			wantSaid(t, res, 0, want)
		}
		status(map[string]string{
			"overall_progress_percent": "87", "steps_done": "27", "steps_total": "31", "with_you": "4", "with_us": "0",
			"current_stage": "DOCUMENTS", "completed_stages": "[]", "outstanding_count": "3",
			"blockers": `[{"due_date":"2025-01-10","status":"PENDING","what":"IDENTITY","who":"Thomas Müller"},` +
				`{"due_date":"2025-01-15","status":"PARTIALLY_FULFILLED","what":"SOURCE_OF_WEALTH","who":"Pierre Dupont"},` +
				`{"due_date":null,"status":"PENDING","what":"DATE_OF_BIRTH","who":"Maria Schmidt"}]`,
		})
		// In the order in which the palette lists the stages: INTAKE is not the
		// first of them by the alphabet.
		p.did(t, "clara", replayed(t, "2-maria"))
		status(map[string]string{"overall_progress_percent": "90", "steps_done": "28", "completed_stages": `["INTAKE"]`, "outstanding_count": "2"})
		p.did(t, "clara", replayed(t, "3-passport"))
		status(map[string]string{"overall_progress_percent": "94", "steps_done": "29", "steps_total": "31", "with_you": "2", "with_us": "1", "outstanding_count": "2"})

		// Three returns are missing: with one of them the request is still hers (G10).
		send := func(file string) {
			p.did(t, "clara", fmt.Sprintf(`client.submit-document :request-id @pierre-dupont-source-of-wealth :document-type TAX_RETURN :file-reference "upload://%s"`, file))
		}
		send("returns")
		status(map[string]string{"overall_progress_percent": "94", "with_you": "2", "with_us": "1", "completed_stages": `["INTAKE"]`,
			"blockers": `[{"due_date":"2025-01-15","status":"PART_IN_REVIEW","what":"SOURCE_OF_WEALTH","who":"Pierre Dupont"}]`})
		send("returns-2")
		send("returns-3")
		status(map[string]string{"overall_progress_percent": "100", "with_you": "0", "with_us": "2", "completed_stages": `["INTAKE","DOCUMENTS","VERIFICATION"]`, "blockers": "[]"})
		p.did(t, "t.weber", `review.reject :request-id @pierre-dupont-source-of-wealth :reason "The pages of 2022 are missing"`)
		status(map[string]string{"overall_progress_percent": "94", "steps_done": "29", "completed_stages": `["INTAKE"]`})

		// A step that counts more moves the percentage and not the number: 29 steps
		// of weight 1, and two of 20 and 1 that are left.
		key, _ := stores.ParseUUID("000057e9-0000-4000-8000-00000000001c")
		p.set(t, "case-step", key, "weight", stores.NewInt(20))
		status(map[string]string{"overall_progress_percent": "58", "steps_done": "29", "steps_total": "31"})
		// What is nearly done is not done.
		p.set(t, "case-step", key, "weight", stores.NewInt(0))
		for step := 1; step <= 0x1b; step++ {
			key, _ := stores.ParseUUID(fmt.Sprintf("000057e9-0000-4000-8000-%012x", step))
			p.set(t, "case-step", key, "weight", stores.NewInt(100))
		}
		status(map[string]string{"overall_progress_percent": "99", "steps_done": "29", "steps_total": "31"})
	})
}

// O26 to O30, O38, U28, U29: the conversation of the document, with the calls that a
// model would make of it: 87 %, then 94 %, the same requests, dates and outcomes,
// in four messages and a file, and nothing is asked but whether the day suits.
func TestTheConversation(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		ctx := context.Background()
		steps, err := filepath.Glob("../../examples/client/conversation/*.dsl")
		if err != nil || len(steps) != 5 {
			t.Fatal(steps, err)
		}
		session, err := p.engine.Session(ctx, "clara")
		if err != nil {
			t.Fatal(err)
		}
		messages, files, asked := 0, 0, 0
		percents := []string{}
		for _, step := range steps {
			text := replayed(t, strings.TrimSuffix(filepath.Base(step), ".dsl"))
			messages += strings.Count(text, `Clara: "`)
			files += strings.Count(text, "drops a file")
			script, _ := dsl.Parse(dsl.NewSource(step, text))
			prog, ds := session.Check(context.Background(), script)
			if prog == nil {
				t.Fatal(step, told(ds))
			}
			preview, err := session.Preview(ctx, prog)
			if err != nil {
				t.Fatal(step, err)
			}
			asked += len(preview.Asks())
			reply, err := session.Run(ctx, prog, engine.RunOptions{})
			if err != nil {
				t.Fatal(step, err)
			}
			for i := range reply.Calls {
				if reply.Calls[i].Verb == "client.get-status" {
					percents = append(percents, said(t, reply.Calls[i].Result, 0, "overall_progress_percent"))
				}
			}
		}
		if messages != 4 || files != 1 || asked != 0 {
			t.Errorf("%d messages, %d files, %d questions", messages, files, asked)
		}
		if want := []string{"87", "90", "94", "94"}; !slices.Equal(percents, want) {
			t.Errorf("it goes by %v percent", percents)
		}
		res := p.did(t, "clara", "client.get-outstanding")[0]
		if len(res.Rows) != 2 {
			t.Fatalf("%d are outstanding", len(res.Rows))
		}
		wantSaid(t, res, 0, map[string]string{"request_id": "@thomas-muller-identity", "status": "PENDING_REVIEW"})
		wantSaid(t, res, 1, map[string]string{"request_id": "@pierre-dupont-source-of-wealth", "expected_date": "2025-01-03", "client_notes": "Waiting on accountant"})
		wantSaid(t, p.did(t, "clara", "client.get-commitments")[0], 0, map[string]string{"expected_date": "2025-01-03", "reminder_date": "2025-01-04", "status": "PENDING"})
		for _, row := range p.rows(t, "info-submission") {
			if got := row["collected_data"].Text(); !strings.Contains(got, "1972-03-15") {
				t.Errorf("of Maria is kept %s", got)
			}
		}
	})
}

// set changes a field behind the engine's back.
func (p *portal) set(t testing.TB, entity string, key stores.Value, field string, v stores.Value) {
	t.Helper()
	ctx := context.Background()
	e := p.reg.Entity(entity).Store
	err := p.store.Update(ctx, stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: e, Key: key, Set: []stores.Assign{{Field: e.FieldIndex(field), Value: v}}}}})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// replayed is a step of the conversation of examples/client.
func replayed(t testing.TB, step string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "client", "conversation", step+".dsl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// O34, O12, O22, O39: a note with a day makes a commitment and a reminder for the
// day after. Another day replaces it; whether it is pending, kept or overdue is
// worked out from the rows, never stored.
func TestClientNoteCreatesReminder(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		p.did(t, "clara", `client.add-note :request-id @thomas-muller-identity :note "At the consulate"`)
		if n := len(p.rows(t, "reminder")); n != 0 {
			t.Errorf("a note without a day made %d reminders", n)
		}
		commitments := func(want ...string) {
			t.Helper()
			res := p.did(t, "clara", "client.get-commitments")[0]
			var got []string
			for i := range res.Rows {
				got = append(got, strings.Join([]string{said(t, res, i, "request_id"), said(t, res, i, "commitment"), said(t, res, i, "expected_date"), said(t, res, i, "reminder_date"), said(t, res, i, "status")}, " "))
			}
			if !slices.Equal(got, want) {
				t.Errorf("the commitments are\n%s", strings.Join(got, "\n"))
			}
		}
		commitments()
		p.did(t, "clara", replayed(t, "4-next-week"))
		commitments("@pierre-dupont-source-of-wealth Waiting on accountant 2025-01-03 2025-01-04 PENDING")
		res := p.did(t, "clara", "client.get-outstanding")[0]
		wantSaid(t, res, 1, map[string]string{"client_notes": "Waiting on accountant", "expected_date": "2025-01-03"})

		p.now = time.Date(2025, 1, 3, 23, 59, 0, 0, time.UTC)
		commitments("@pierre-dupont-source-of-wealth Waiting on accountant 2025-01-03 2025-01-04 PENDING")
		p.now = time.Date(2025, 1, 4, 0, 0, 0, 0, time.UTC)
		commitments("@pierre-dupont-source-of-wealth Waiting on accountant 2025-01-03 2025-01-04 OVERDUE")
		late := p.did(t, "s.keller", "review.overdue")[0]
		wantSaid(t, late, 0, map[string]string{"request": "@pierre-dupont-source-of-wealth", "expected_date": "2025-01-03"})

		// Another day: one commitment, not two, and a plain note leaves it.
		p.did(t, "clara", `client.add-note :request-id @pierre-dupont-source-of-wealth :note "He is ill" :expected-date 2025-01-10`)
		p.did(t, "clara", `client.add-note :request-id @pierre-dupont-source-of-wealth :note "He is better"`)
		commitments("@pierre-dupont-source-of-wealth He is ill 2025-01-10 2025-01-11 PENDING")
		if res := p.did(t, "t.weber", "review.overdue")[0]; len(res.Rows) != 0 {
			t.Error("somebody is late who named another day")
		}
		for _, file := range []string{"f1", "f2", "f3"} { // of three returns, one does not keep a promise
			commitments("@pierre-dupont-source-of-wealth He is ill 2025-01-10 2025-01-11 PENDING")
			p.did(t, "clara", `client.submit-document :request-id @pierre-dupont-source-of-wealth :document-type TAX_RETURN :file-reference "upload://`+file+`"`)
		}
		commitments("@pierre-dupont-source-of-wealth He is ill 2025-01-10 2025-01-11 FULFILLED")
	})
}

// X16, O10, O13: an analyst, in a palette of their own over the same rows, takes
// what waits and decides it; the client sees what came of it, and no decision is
// taken out of its turn.
func TestReviewCompletesTheLoop(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		submit := func(file string) {
			t.Helper()
			p.did(t, "clara", `client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference "upload://`+file+`"`)
		}
		request := func(want map[string]string) {
			t.Helper()
			wantSaid(t, p.did(t, "clara", "client.get-request-detail :request-id @thomas-muller-identity")[0], 0, want)
		}
		open := func(want int) {
			t.Helper()
			n := 0
			for _, row := range p.rows(t, "review-task") {
				if row["state"].Text() == "OPEN" {
					n++
				}
			}
			if n != want || (len(p.did(t, "t.weber", "review.waiting")[0].Rows) > 0) != (want > 0) {
				t.Errorf("%d tasks are open, want %d", n, want)
			}
		}
		early := "this request does not wait for a review"
		p.refused(t, "t.weber", `review.accept :request-id @thomas-muller-identity`, "requirement-not-met", early)
		p.refused(t, "t.weber", `review.reject :request-id @thomas-muller-identity :reason "x"`, "requirement-not-met", early)
		p.refused(t, "t.weber", `review.ask-for-more :request-id @thomas-muller-identity :missing "x"`, "requirement-not-met", early)

		submit("one")
		open(1)
		p.did(t, "t.weber", `review.reject :request-id @thomas-muller-identity :reason "The photograph is cut off"`)
		request(map[string]string{"status": "CORRECTION_NEEDED", "review_note": "The photograph is cut off",
			"submissions": `[{"document":"PASSPORT","file":"upload://one","submitted_at":"2024-12-27T09:14:02Z","verdict":"REJECTED"}]`})
		open(0)
		p.refused(t, "t.weber", `review.accept :request-id @thomas-muller-identity`, "requirement-not-met", early)

		submit("two")
		request(map[string]string{"status": "PENDING_REVIEW", "review_note": ""})
		p.did(t, "t.weber", `review.ask-for-more :request-id @thomas-muller-identity :missing "The last page"`)
		p.now = p.now.Add(time.Second)
		p.did(t, "t.weber", `review.ask-for-more :request-id @thomas-muller-identity :missing "A second photograph"`)
		request(map[string]string{"status": "PARTIALLY_FULFILLED"})
		res := p.did(t, "clara", "client.get-outstanding")[0]
		wantSaid(t, res, 0, map[string]string{"received": "[]", "missing": `[{"name":"The last page"},{"name":"A second photograph"}]`})
		open(0)
		p.did(t, "t.weber", `review.receive-part :part-id @thomas-muller-the-last-page`)
		p.refused(t, "t.weber", `review.receive-part :part-id @thomas-muller-the-last-page`, "requirement-not-met", "was received already")

		submit("three")
		submit("four")
		open(2)
		p.did(t, "t.weber", `review.accept :request-id @thomas-muller-identity`)
		request(map[string]string{"status": "FULFILLED"})
		open(0)
		if res := p.did(t, "clara", "client.get-outstanding")[0]; len(res.Rows) != 2 {
			t.Errorf("%d are outstanding", len(res.Rows))
		}

		// A question and its answer.
		p.did(t, "clara", `client.request-clarification :request-id @pierre-dupont-source-of-wealth :question "Do drafts count?"`)
		wantSaid(t, p.did(t, "a.nowak", "review.questions")[0], 0, map[string]string{"question": "Do drafts count?", "entity_name": "Pierre Dupont"})
		p.did(t, "a.nowak", `review.answer :clarification-id @pierre-dupont-question :answer "No, only what was filed."`)
		p.refused(t, "t.weber", `review.answer :clarification-id @pierre-dupont-question :answer "Yes"`, "requirement-not-met", "answered already")
		detail := p.did(t, "clara", "client.get-request-detail :request-id @pierre-dupont-source-of-wealth")[0]
		if got := said(t, detail, 0, "your_questions"); !strings.Contains(got, `"answer":"No, only what was filed."`) {
			t.Errorf("she reads %s", got)
		}

		// Nobody waives alone, and a client not at all.
		waive := `review.waive :request-id @pierre-dupont-source-of-wealth :reason "The register already holds it"`
		p.refused(t, "clara", waive, "not-permitted", "")
		ctx := context.Background()
		session, err := p.engine.Session(ctx, "t.weber")
		if err != nil {
			t.Fatal(err)
		}
		script, _ := dsl.Parse(dsl.NewSource("waive.dsl", waive))
		prog, _ := session.Check(context.Background(), script)
		pending, err := session.Propose(ctx, prog, engine.RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := session.Agree(ctx, pending.ID); err == nil {
			t.Error("who asked agreed to it")
		}
		other, err := p.engine.Session(ctx, "a.nowak")
		if err == nil {
			_, _, err = other.Agree(ctx, pending.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		detail = p.did(t, "clara", "client.get-request-detail :request-id @pierre-dupont-source-of-wealth")[0]
		wantSaid(t, detail, 0, map[string]string{"status": "WAIVED", "review_note": "The register already holds it"})
		p.refused(t, "clara", replayed(t, "4-next-week"), "requirement-not-met", "nobody waits for it any more")
	})
}

// O10, O12, O13: what cannot be used is refused with a sentence and a code, and
// leaves nothing behind.
func TestBadAnswersStoreNothing(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		p.sentAgain(t, "clara", "abc123", "abc123-again")
		p.did(t, "clara", `client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference "upload://abc123"`)
		submit := "client.submit-document :document-type %s :file-reference \"%s\" :request-id %s"
		hidden := `"000004e9-0000-4000-8000-000000000005"`
		for _, c := range []struct{ what, call, code, sentence string }{
			{"the same file again", fmt.Sprintf(submit, "PASSPORT", "upload://abc123", "@thomas-muller-identity"), "requirement-not-met", "this file was sent for this request already; client.get-request-detail says what became of it"},
			{"the same bytes under another reference", fmt.Sprintf(submit, "NATIONAL_ID", "upload://abc123-again", "@thomas-muller-identity"), "requirement-not-met", "this file was sent for this request already; client.get-request-detail says what became of it"},
			{"a kind that is not accepted", fmt.Sprintf(submit, "UTILITY_BILL", "upload://bill", "@thomas-muller-identity"), "requirement-not-met", "cannot be settled with such a document"},
			{"a kind that there is not", fmt.Sprintf(submit, "SELFIE", "upload://me", "@thomas-muller-identity"), "unknown-code", "SELFIE"},
			{"a request that is settled", fmt.Sprintf(submit, "PASSPORT", "upload://p2", "@clara-weiss-identity"), "no-step", "this request is settled; nothing more is needed for it"},
			{"information for one that is", `client.provide-info :request-id @clara-weiss-identity :info-type ADDRESS :collected-data {:street "12, rue du Fort" :city "Luxembourg" :country "LU" :since 2019-03-01}`, "requirement-not-met", "you can correct what you gave until the bank has checked it"},
			{"a file that there is not", fmt.Sprintf(submit, "PASSPORT", "upload://nothing", "@thomas-muller-identity"), "unknown-upload", ""},
			{"no file at all", fmt.Sprintf(submit, "PASSPORT", "passport.pdf", "@thomas-muller-identity"), "pattern-mismatch", "upload://"},
			{"somebody else's request", fmt.Sprintf(submit, "TAX_RETURN", "upload://t", `"000004e9-0000-4000-8000-000000000006"`), "unknown-name", ""},
			{"a request that there is not", fmt.Sprintf(submit, "TAX_RETURN", "upload://t", `"000004e9-0000-4000-8000-0000000000ff"`), "unknown-name", ""},
			{"what the bank sees to by itself", fmt.Sprintf(submit, "UTILITY_BILL", "upload://b", hidden), "unknown-name", ""},
			{"a note on that", `client.add-note :note "x" :request-id ` + hidden, "unknown-name", ""},
			{"a question about that", `client.request-clarification :question "x" :request-id ` + hidden, "unknown-name", ""},
			{"a note on what is settled", `client.add-note :note "x" :request-id @clara-weiss-identity`, "requirement-not-met", "nobody waits for it"},
			{"ten megabytes of note", `client.add-note :request-id @pierre-dupont-source-of-wealth :note "` + strings.Repeat("waiting ", 10<<20/8) + `"`, "", "[too-large]"},
			{"two thousand and one characters", `client.add-note :request-id @pierre-dupont-source-of-wealth :note "` + strings.Repeat("é", 2001) + `"`, "too-long", "at most 2000 characters"},
			{"a kind of information that there is not", `client.provide-info :request-id @maria-schmidt-date-of-birth :info-type SHOE_SIZE :collected-data {:size 37}`, "unknown-code", "SHOE_SIZE"},
			{"a day that there is not", `client.add-note :request-id @pierre-dupont-source-of-wealth :note "x" :expected-date "2025-02-30"`, "invalid-date", "February"},
			{"a day that is over", `client.add-note :request-id @pierre-dupont-source-of-wealth :note "x" :expected-date 2024-12-26`, "out-of-range", "the earliest is today, 2024-12-27"},
			{"a birth that is to come", `client.provide-info :request-id @maria-schmidt-date-of-birth :info-type DATE_OF_BIRTH :collected-data {:date_of_birth "2024-12-28"}`, "out-of-range", "Date of birth must be after 1 January 1900 and not in the future. Please check the year."},
			{"a birth long ago", `client.provide-info :request-id @maria-schmidt-date-of-birth :info-type DATE_OF_BIRTH :collected-data {:date_of_birth "1850-01-01"}`, "schema-mismatch", "Date of birth must be after 1 January 1900 and not in the future. Please check the year."},
		} {
			t.Log(c.what)
			p.refused(t, "clara", c.call, c.code, c.sentence)
		}
	})
}

// F21: a document answers a request for documents, and is of a type that the
// request accepts; information is of the kind that was asked, and settles no
// request for a document by itself.
func TestAnAnswerIsOfTheKindThatWasAsked(t *testing.T) {
	t.Parallel()
	onPortals(t, func(t *testing.T, p *portal) {
		for i, c := range p.reg.CodeList("document-type").Codes {
			send := func(request string) string {
				return fmt.Sprintf(`client.submit-document :request-id @%s :document-type %s :file-reference "upload://f%d"`, request, c.Name, i)
			}
			p.refused(t, "clara", send("maria-schmidt-date-of-birth"), "requirement-not-met", "this request asks for information, not for a document")
			if !slices.Contains([]string{"PASSPORT", "NATIONAL_ID"}, c.Name) {
				p.refused(t, "clara", send("thomas-muller-identity"), "requirement-not-met", "cannot be settled with such a document")
			}
		}
		address := `client.provide-info :request-id @%s :info-type ADDRESS :collected-data {:street "12, rue du Fort" :city "Luxembourg" :country "LU" :since 2019-03-01}`
		for _, request := range []string{"maria-schmidt-date-of-birth", "thomas-muller-identity", "pierre-dupont-source-of-wealth"} {
			p.refused(t, "clara", fmt.Sprintf(address, request), "requirement-not-met", "this request asks for other information")
		}
		wealth, _ := stores.ParseUUID(sourceOfWealth)
		p.set(t, "outstanding-request", wealth, "needs_review", stores.NewBool(false))
		today, _ := stores.NewDate(2024, 12, 27)
		for id := range p.rows(t, "request-part") {
			p.set(t, "request-part", id, "received_on", today) // so that nothing but the document is left
		}
		p.did(t, "clara", `client.provide-info :request-id @pierre-dupont-source-of-wealth :info-type SOURCE_OF_WEALTH :collected-data {:main_source "EMPLOYMENT" :description "Worked as an engineer for thirty years." :since_year 1990 :documented true}`)
		if row := p.rows(t, "outstanding-request")[wealth]; row["status"].Text() != "PENDING_REVIEW" || len(p.rows(t, "review-task")) != 1 {
			t.Errorf("information settled a request for a document: %s", row["status"])
		}
	})
}

// O1, SAFE-S1: read and respond. Whatever a client calls, with whatever in it, no
// more comes of it than answers, notes, questions and calls for help of their
// own; no requirement is changed, settled or waived, and nothing of anybody else's.
func TestClientsReadAndRespond(t *testing.T) {
	t.Parallel()
	answers := map[string]bool{
		"document-submission": true, "info-submission": true, "review-task": true, "reminder": true,
		"clarification-request": true, "repayment-account": true, "escalation-request": true,
	}
	collected := func(entity string) bool { return strings.HasPrefix(entity, "collection") }
	fields := map[string]bool{
		"outstanding-request.client_notes": true, "outstanding-request.expected_date": true, "outstanding-request.review_note": true,
		"outstanding-request.status": true, "outstanding-request.updated_at": true, "reminder.replaced_at": true,
		"info-submission.collected_data": true, "info-submission.missing": true, "info-submission.submitted_at": true,
	}

	// By the palette: what the verbs of a client promise is all that they can do.
	reg := load(t, "../../verbs/palettes/bank")
	tried := 0
	for _, v := range reg.Verbs() {
		if !slices.ContainsFunc(v.Roles, func(r *verbs.Role) bool { return r.Name == "client" }) {
			continue
		}
		for _, e := range v.Effects {
			if e.Entity == nil {
				continue
			}
			tried++
			name := e.Entity.Store.Name
			switch {
			case collected(name), e.Kind == verbs.Creates && answers[name]:
			case e.Kind == verbs.Updates:
				set := e.Fields
				for _, s := range e.Set {
					set = append(set, s.Field)
				}
				if len(set) == 0 {
					t.Errorf("%s may change anything of %s", v.Name, name)
				}
				for _, f := range set {
					if field := name + "." + e.Entity.Store.Fields[f].Name; !fields[field] {
						t.Errorf("%s may change %s", v.Name, field)
					}
				}
			default:
				t.Errorf("%s does more to %s than answer", v.Name, name)
			}
		}
	}
	if tried < 8 {
		t.Errorf("only %d promises were looked at", tried)
	}

	// And in deed: calls of every verb that there is, with keys, names, codes and
	// words from everywhere.
	onPortals(t, func(t *testing.T, p *portal) {
		rng := rand.New(rand.NewPCG(7, 7))
		keys := map[string][]string{}
		for _, e := range p.tables() {
			for key := range p.rows(t, e.Name) {
				keys[e.Name] = append(keys[e.Name], key.Text())
			}
			slices.Sort(keys[e.Name])
		}
		hers := func(entity string) string {
			all := keys[entity]
			if len(all) == 0 || rng.IntN(8) == 0 {
				return "00000000-0000-4000-8000-0000000000ff"
			}
			return all[rng.IntN(len(all))]
		}
		words := []string{"WAIVED", "FULFILLED", "waive it", "'; UPDATE kyc_outstanding_requests SET status = 'WAIVED'; --", "status: FULFILLED", "client.add-note", "upload://abc123", "@pierre-dupont", "ten words and some more of them"}
		value := func(param *verbs.Param) string {
			switch {
			case param.Type.Entity != nil:
				return `"` + hers(param.Type.Entity.Store.Name) + `"`
			case param.Type.Codes != nil:
				return param.Type.Codes.Codes[rng.IntN(len(param.Type.Codes.Codes))].Name
			}
			switch param.Type.Name {
			case verbs.BooleanType:
				return "true"
			case verbs.DateType:
				return fmt.Sprintf("2025-01-%02d", 1+rng.IntN(28))
			case verbs.ObjectType:
				return `{:status "WAIVED" :date_of_birth 1972-03-15}`
			case verbs.IntegerType:
				return "1"
			}
			if strings.HasPrefix(param.Name, "file") {
				return fmt.Sprintf(`"upload://f%d"`, rng.IntN(manyFiles))
			}
			return dsl.FormatValue(dsl.NewString(words[rng.IntN(len(words))]))
		}
		all := p.reg.Verbs()
		done, refusals := map[string]int{}, map[string]int{}
		before := p.all(t)
		for n := range 600 {
			v := all[n%len(all)]
			call := v.Name
			for i := range v.Params {
				if param := &v.Params[i]; param.Required || rng.IntN(2) == 0 {
					call += " :" + param.Name + " " + value(param)
				}
			}
			if _, err := p.try("clara", call); err != nil {
				refusals[code(err)]++
			} else {
				done[v.Name]++
			}
			after := p.all(t)
			for key, row := range after {
				entity, id, _ := strings.Cut(key, " ")
				was := before[key]
				if was == nil {
					if !answers[entity] && !collected(entity) {
						t.Fatalf("%s\nadded %s", call, entity)
					}
					continue
				}
				for field, v := range row {
					if was[field] == v || collected(entity) {
						continue
					}
					if !fields[entity+"."+field] {
						t.Fatalf("%s\nmade %s of %s.%s", call, v, entity, field)
					}
					if field == "status" && !(v.Text() == "PENDING_REVIEW" || v.Text() == "PART_IN_REVIEW" || v.Text() == "PARTIALLY_FULFILLED" || v.Text() == "FULFILLED" && id == dateOfBirth) {
						t.Fatalf("%s\nmade a request %s", call, v)
					}
				}
			}
			for key := range before {
				if entity, _, _ := strings.Cut(key, " "); after[key] == nil && !collected(entity) {
					t.Fatalf("%s\ntook %s away", call, key)
				}
			}
			before = after
		}
		for _, v := range []string{"client.add-note", "client.submit-document", "client.request-clarification"} {
			if done[v] == 0 {
				t.Errorf("%s was never carried out: %v", v, done)
			}
		}
		if refusals["not-permitted"] == 0 || refusals["unknown-name"] == 0 || refusals["requirement-not-met"] == 0 {
			t.Errorf("refused: %v", refusals)
		}
		for name := range done {
			if strings.HasPrefix(name, "review.") {
				t.Errorf("clara did %s", name)
			}
		}
	})
}
