package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/engine/each"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	loading "verbatim/verbs/load"
)

// deskPalette sets things in the session, over the rows of the palettes beside
// it.
const deskPalette = `domain: desk
roles: [{name: archivist, sees: all, keeps: journal}]
schemas:
  size: {type: object, required: [cm], properties: {cm: {type: integer, maximum: 300}}, additionalProperties: false}
  tint: {type: object, required: [colour], properties: {colour: {enum: [RED, BLUE]}}, additionalProperties: false}
codes:
  - name: job-status
    values:
      - {code: OPEN, to: [BEGUN, DONE]}
      - {code: BEGUN, to: [DONE]}
      - DONE
  - name: job-kind
    values: [{code: CUT, schema: size}, {code: PAINT, schema: tint}]
entities:
  job:
    key: job_id
    managed: true
    scope: item.club
    label: "{name}"
    fields:
      item: {type: ref, ref-type: item, required: true}
      name: {type: string, required: true}
      kind: {type: code, ref-type: job-kind}
      details: {type: object}
      status: {type: code, ref-type: job-status, required: true, default: OPEN}
verbs:
  - verb: take
    description: Take an item in hand.
    roles: [keeper, auditor]
    args:
      - {name: item-id, type: ref, ref-type: item, required: true}
    effects:
      - sets: session.in_hand = item-id
      - sets: session.busy = true
      - may-set: session.since = now
        when: item_id.status == LOST
  - verb: drop
    description: Put it back.
    roles: [keeper]
    effects:
      - sets: session.in_hand = nil
      - sets: session.busy = false
  - verb: jot
    description: Keep a word in mind.
    roles: [keeper]
    args: [{name: text, type: string, required: true}]
    effects:
      - sets: session.word = text + ""
  - verb: whisper
    description: Keep a secret in mind.
    roles: [keeper]
    args: [{name: secret, type: string, required: true, sensitive: true}]
    effects:
      - sets: session.secret = secret
  - verb: stand
    description: Be at work on a club.
    roles: [keeper, auditor]
    args: [{name: club-id, type: ref, ref-type: club, required: true}]
    effects:
      - sets: session.active = club-id
  - verb: shelf
    description: What a club has.
    roles: [keeper, auditor]
    args: [{name: club-id, type: ref, ref-type: club, default: active}]
    reads:
      entity: item
      where: row.club == club_id
      order: [name]
      fields: {item: item_id, name: name}
  - verb: buy
    description: Get something for a club.
    roles: [keeper, auditor]
    args:
      - {name: name, type: string, required: true}
      - {name: club-id, type: ref, ref-type: club, default: active}
    effects:
      - creates: item
        set: {club: club-id, name: name}
  - verb: buy-two
    description: Get two things for a club.
    roles: [keeper, auditor]
    args:
      - {name: one, type: string, required: true}
      - {name: two, type: string, required: true}
    effects: [{creates: item}, {creates: item}]
    script: |
      desk.buy :name @one
      desk.buy :name @two
  - verb: count
    description: Count on in the session, by hand.
    roles: [keeper]
    handler: true
    effects:
      - sets: session.count
      - returns: what the session holds
  - verb: order
    description: Have something done to an item.
    roles: [keeper]
    args:
      - {name: item-id, type: ref, ref-type: item, required: true}
      - {name: name, type: string, required: true}
      - {name: kind, type: code, ref-type: job-kind, required: true}
      - {name: details, type: object, required: true, schema-of: kind}
    confirm:
      - {when: item_id.status == LOST, reason: it is lost}
    effects:
      - creates: job
        set: {item: item-id, name: name, kind: kind, details: details}
  - verb: start
    description: Begin.
    roles: [keeper]
    args: [{name: job-id, type: ref, ref-type: job, required: true}]
    effects: [{updates: job, where: job-id, set: {status: BEGUN}}]
  - verb: finish
    description: End.
    roles: [keeper]
    args: [{name: job-id, type: ref, ref-type: job, required: true}]
    effects: [{updates: job, where: job-id, set: {status: DONE}}]
  - verb: hand-over
    description: Leave it to a program to order what is in hand.
    roles: [keeper, member]
    handler: true
    args: [{name: kind, type: code, ref-type: job-kind, required: true}, {name: number, type: integer, required: true}]
    effects:
      - generates: desk.order
      - returns: what was ordered
  - verb: report
    description: Hand on how much was said.
    roles: [keeper]
    handler: true
    confirm: [{by: archivist, reason: it leaves the house}]
    effects:
      - sets: session.reported
  - verb: both
    description: Two calls in one.
    roles: [keeper]
    args: [{name: item-id, type: ref, ref-type: item, required: true}]
    effects:
      - sets: session.in_hand = item-id
      - sets: session.busy = true
      - may-set: session.since
    script: desk.take :item-id @item-id
`

func deskRegistry(t testing.TB) *verbs.Registry {
	t.Helper()
	reg, ds := loading.Dir(os.DirFS("testdata/palettes"), loading.Beside(dsl.NewSource("desk.yaml", deskPalette)))
	if ds.HasErrors() {
		t.Fatalf("palettes: %s", told(ds))
	}
	return reg
}

// counted is the handler of desk.count. More is what it sets besides.
func counted(more engine.Fields) *engine.Handlers {
	h := &engine.Handlers{Partial: true}
	engine.Handle(h, "desk.count", func(ctx context.Context, c *engine.Call, _ struct{}) (engine.Outcome, error) {
		s, err := c.Session(ctx)
		if err != nil {
			return engine.Outcome{}, err
		}
		n := int64(1)
		if v := s.Value("count"); !v.IsNull() {
			n += v.Int()
		}
		said, err := c.Turns(ctx)
		if err != nil {
			return engine.Outcome{}, err
		}
		o := engine.Outcome{Session: engine.Fields{"count": n}, Result: &engine.Answer{
			Columns: []string{"kept", "turns", "in-hand", "zone", "language"},
			Rows:    [][]any{{s.Kept, len(said), s.To("in-hand"), s.Zone.String(), s.Language}}}}
		for name, v := range more {
			o.Session[name] = v
		}
		return o, nil
	})
	engine.Handle(h, "desk.report", func(ctx context.Context, c *engine.Call, _ struct{}) (engine.Outcome, error) {
		said, err := c.Turns(ctx)
		return engine.Outcome{Session: engine.Fields{"reported": int64(len(said))}}, err
	})
	type handOver struct {
		Kind   string `verb:"kind"`
		Number int64  `verb:"number"`
	}
	engine.Handle(h, "desk.hand-over", func(ctx context.Context, c *engine.Call, a handOver) (engine.Outcome, error) {
		s, err := c.Session(ctx)
		if err != nil || s.To("in-hand").IsZero() {
			return engine.Outcome{}, engine.Refuse("nothing is in hand", "take something in hand first")
		}
		o := engine.Outcome{Result: &engine.Answer{Columns: []string{"ordered"}, Rows: [][]any{{true}}}}
		if a.Number != 0 {
			o.Calls = []engine.Generated{{Verb: "desk.order", Args: engine.Fields{"item-id": s.To("in-hand"), "name": "made by hand", "kind": a.Kind, "details": map[string]any{"cm": a.Number}}}}
		}
		return o, nil
	})
	return h
}

// deskWorlds are a file and a server.
func deskWorlds(t *testing.T, fn func(t *testing.T, w *world)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		w := newWorldOf(t, deskRegistry(t), counted(nil))
		if _, err := w.store.Migrate(ctx, append(w.tables(), engine.Own()...), true); err != nil {
			t.Fatal(err)
		}
		fn(t, w)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		w := &world{t: t, reg: deskRegistry(t), clock: newWorldClock}
		w.store = serverLike(t, w.reg.Digest(), w.furnish)
		w.engine = w.another(counted(nil))
		fn(t, w)
	})
}

// another is an engine of another process on the same store.
func (w *world) another(h *engine.Handlers) *engine.Engine {
	w.t.Helper()
	e, err := engine.New(w.reg, w.store, engine.Options{Clock: w.now, NewID: w.newID, Handlers: h, People: engine.People{Profile: profiles}})
	if err != nil {
		w.t.Fatal(err)
	}
	return e
}

func profiles(_ context.Context, _ stores.Reader, name string) (engine.Profile, error) {
	if name == "kim" {
		return engine.Profile{Label: "Kim Keeper", Email: "kim@north.example", Zone: "Europe/Luxembourg", Language: "de"}, nil
	}
	return engine.Profile{}, nil
}

func (w *world) visit(e *engine.Engine, who string, v engine.Visit) *engine.Session {
	w.t.Helper()
	s, err := e.Visit(ctx, who, v)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) does(s *engine.Session, text string, o engine.RunOptions) (*receipt.Receipt, error) {
	w.t.Helper()
	return s.Run(ctx, w.program(s, text), o)
}

func (w *world) must(s *engine.Session, text string, o engine.RunOptions) *receipt.Receipt {
	w.t.Helper()
	reply, err := w.does(s, text, o)
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	return reply
}

func settings(all []receipt.Setting) []string {
	var out []string
	for _, c := range all {
		if c.Sensitive {
			c.Before, c.After = receipt.Of(str("hidden")), receipt.Of(str("hidden"))
		}
		out = append(out, fmt.Sprintf("%s: %s -> %s (%s, %s)", c.Name, c.Before, c.After, c.From, c.Origin))
	}
	return out
}

func (w *world) info(s *engine.Session) (engine.SessionInfo, []string) {
	w.t.Helper()
	info, err := s.Turns().Info(ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	var values []string
	for _, v := range info.Values {
		values = append(values, fmt.Sprintf("%s=%s", v.Name, v.Value))
	}
	return info, values
}

// X11, O14, O19: what `sets` promises is carried out by the engine from YAML,
// shown as it will be, and there again in another process, typed. Visits are
// counted when somebody has been away.
func TestASessionGoesOnInAnotherProcess(t *testing.T) {
	t.Parallel()
	deskWorlds(t, func(t *testing.T, w *world) {
		one := w.visit(w.engine, "kim", engine.Visit{Name: "today"})
		p := w.program(one, "desk.take :item-id @drill")
		preview, err := one.Preview(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{`in_hand: nil -> "@drill" (:item-id, script)`, "busy: nil -> true (true, )"}
		equal(t, settings(preview.Calls[0].Session), want)
		if _, values := w.info(one); values != nil {
			t.Errorf("a preview has set %q", values)
		}
		reply, err := one.Run(ctx, p, engine.RunOptions{Agreed: preview.ID})
		if err != nil {
			t.Fatal(err)
		}
		equal(t, settings(reply.Calls[0].Session), want)

		w.later(time.Hour)
		two := w.visit(w.another(counted(nil)), "kim", engine.Visit{Name: "today"})
		info, values := w.info(two)
		equal(t, values, []string{"busy=true", `in_hand="@drill"`})
		if info.Visits != 2 || info.Version != 2 || info.ID != one.ID() || info.Name != "today" || !info.LastActive.After(info.Started) {
			t.Errorf("%+v", info)
		}
		if info.Person != (engine.Profile{Label: "Kim", Zone: "UTC", Language: "en"}) && info.Person.Label != "Kim Keeper" {
			t.Errorf("%+v", info.Person)
		}
		// A handler sees the same, and sets something itself.
		reply = w.must(two, "desk.count", engine.RunOptions{})
		equal(t, settings(reply.Calls[0].Session), []string{"count: nil -> 1 (, record)"})
		equal(t, table(reply.Calls[0].Result), []string{"kept|turns|in-hand|zone|language", `true|0|"@drill"|"Europe/Luxembourg"|"de"`})
		reply = w.must(two, "desk.count desk.count", engine.RunOptions{})
		equal(t, settings(reply.Calls[1].Session), []string{"count: 2 -> 3 (, record)"})
		// Setting what is there already changes nothing.
		if reply := w.must(two, "desk.take :item-id @drill", engine.RunOptions{}); len(reply.Calls[0].Session) > 0 {
			t.Errorf("%q", settings(reply.Calls[0].Session))
		}
		// Minutes later is the same visit.
		w.later(time.Minute)
		info, _ = w.info(w.visit(w.engine, "kim", engine.Visit{ID: one.ID(), Language: "fr", Zone: "Europe/Paris"}))
		if info.Visits != 2 || info.Person.Language != "fr" || info.Person.Zone != "Europe/Paris" {
			t.Errorf("%+v", info)
		}
		w.must(two, "desk.drop", engine.RunOptions{})
		_, values = w.info(two)
		equal(t, values, []string{"busy=false", "count=3"})
		// A macro sets what its calls set.
		equal(t, settings(w.must(two, "desk.both :item-id @ladder", engine.RunOptions{}).Calls[0].Session)[:1], []string{`in_hand: nil -> "@ladder" (:item-id, script)`})
		if _, values := w.info(two); len(values) != 4 {
			t.Errorf("a condition that holds has set %q", values)
		}
	})
}

// SAFE-A1: nobody reaches the session of somebody else, by its name or by its id,
// not even who may see every row; and they are told what they would be told of
// one that does not exist.
func TestASessionIsOfItsPrincipalAlone(t *testing.T) {
	t.Parallel()
	deskWorlds(t, func(t *testing.T, w *world) {
		kim := w.visit(w.engine, "kim", engine.Visit{Name: "today"})
		w.must(kim, "desk.take :item-id @drill", engine.RunOptions{Said: []sessions.Said{{Role: sessions.Client, Content: "mine alone"}}})
		none := ""
		for _, id := range []string{"s-00000000000000000000000000000000", "anything", kim.ID()} {
			for _, who := range []string{"sam", "ada"} {
				_, err := w.engine.Visit(ctx, who, engine.Visit{ID: id})
				text := wantRefusal(t, err, "unknown-session").Error()
				if none != "" && text != none {
					t.Errorf("%s is told %q of %s, and %q of others", who, text, id, none)
				}
				none = text
			}
		}
		ada := w.visit(w.engine, "ada", engine.Visit{Name: "today"})
		if info, values := w.info(ada); values != nil || info.ID == kim.ID() || info.Turns != 0 {
			t.Errorf("%+v %q", info, values)
		}
		if said, err := ada.Turns().Between(ctx, 1, 0); err != nil || len(said) > 0 {
			t.Errorf("%+v, %v", said, err)
		}
		// The rows stand behind the scope of the store, too.
		for _, e := range engine.Own() {
			if e.Name != "verbatim.session" && e.Name != "verbatim.turn" {
				continue
			}
			err := w.store.View(ctx, stores.Scope{Principal: "sam", Holds: map[string][]stores.Value{"verbatim.session": {str(kim.ID())}}}, func(r stores.Reader) error {
				rows, err := r.Find(ctx, stores.Find{Entity: e})
				if len(rows) > 0 {
					t.Errorf("sam sees %s", e.Name)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// U41, X11: two windows at once are safe. Whoever sends what was made for an
// earlier state is told so, nothing of theirs is done and nothing of the other's
// lost; where neither says what they saw, both are done, one after the other.
func TestTwoWindowsAtOnce(t *testing.T) {
	t.Parallel()
	deskWorlds(t, func(t *testing.T, w *world) {
		left := w.visit(w.engine, "kim", engine.Visit{Name: "today"})
		right := w.visit(w.another(counted(nil)), "kim", engine.Visit{Name: "today"})
		seen, _ := w.info(left)
		w.must(right, "desk.take :item-id @saw", engine.RunOptions{Version: seen.Version,
			Said: []sessions.Said{{Role: sessions.Client, Content: "the saw", Action: "took the saw"}}})
		_, err := w.does(left, "desk.take :item-id @drill", engine.RunOptions{Version: seen.Version})
		refusal := wantRefusal(t, err, "session-moved")
		if text := refusal.Error(); !strings.Contains(text, "took the saw") || !strings.Contains(text, " on 2025-01-03") {
			t.Error(text)
		}
		_, err = left.Preview(ctx, w.program(left, "desk.take :item-id @drill"), engine.RunOptions{Version: seen.Version})
		wantRefusal(t, err, "session-moved")
		now, values := w.info(left)
		equal(t, values, []string{"busy=true", `in_hand="@saw"`})
		w.must(left, "desk.take :item-id @drill", engine.RunOptions{Version: now.Version})

		var all sync.WaitGroup
		errs := make([]error, 6)
		for i := range errs {
			s := left
			if i%2 == 0 {
				s = right
			}
			p := w.program(s, "desk.count")
			all.Go(func() {
				_, errs[i] = s.Run(ctx, p, engine.RunOptions{Said: []sessions.Said{{Role: sessions.Client, Content: fmt.Sprint("count ", i)}}})
			})
		}
		all.Wait()
		done := 0
		for _, err := range errs {
			var refusal *engine.Refusal
			if errors.As(err, &refusal) && refusal.Diagnostics[0].Code == "changed-meanwhile" {
				continue // the loser of eight attempts is told, and nothing of theirs is there
			}
			if err != nil {
				t.Error(err)
			}
			done++
		}
		info, values := w.info(left)
		if want := fmt.Sprintf("count=%d", done); !slices.Contains(values, want) || info.Turns != int64(1+done) || done < 2 {
			t.Errorf("%d were done: %q, %d turns", done, values, info.Turns)
		}
		said, err := left.Turns().Between(ctx, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, turn := range said {
			if turn.Number != int64(i+1) {
				t.Errorf("turn %d is number %d", i+1, turn.Number)
			}
		}
	})
}

// O21, X11: what is said is kept with what was done about it, exactly when that
// is, with what it was about; the journal names the turn, and the turn the
// journal.
func TestTurnsAreKeptWithWhatTheyDid(t *testing.T) {
	t.Parallel()
	deskWorlds(t, func(t *testing.T, w *world) {
		s := w.visit(w.engine, "kim", engine.Visit{Name: "today"})
		first, err := s.Turns().Say(ctx, sessions.Said{Role: sessions.Agent, Content: "What is it about?"})
		if err != nil || first != 1 {
			t.Fatal(first, err)
		}
		said := []sessions.Said{
			{Role: sessions.Client, Content: "Bob lost the saw, I fear.", Intent: "note", Mentions: []string{"Bob", "the saw"}, Names: []string{"@saw"}},
			{Role: sessions.Agent, Content: "I have noted that.", Action: "noted it"},
		}
		w.program(s, "lending.lose :item-id @saw") // names are known once they were spoken of
		reply := w.must(s, `lending.note :loan-id @saw-bob :note "lost, he fears"`, engine.RunOptions{Said: said})
		all, err := s.Turns().Between(ctx, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 3 || all[0].Entries != 0 || all[0].First != 0 || all[0].Role != sessions.Agent {
			t.Fatalf("%+v", all)
		}
		got := all[1]
		if got.Content != said[0].Content || got.Intent != "note" || !slices.Equal(got.Mentions, said[0].Mentions) ||
			!slices.Equal(got.Names, []string{"@saw", "@saw-bob"}) || got.Action != "lending.note" || got.First != reply.First || got.Entries != 1 || got.Time.IsZero() {
			t.Errorf("%+v", got)
		}
		if all[2].Action != "noted it" || all[2].Role != sessions.Agent {
			t.Errorf("%+v", all[2])
		}
		entry := w.journal()[reply.First-1]
		if entry.Turn != got.ID || entry.Session != s.ID() || entry.Turn != s.ID()+"/2" {
			t.Errorf("%q, %q", entry.Turn, entry.Session)
		}
		// What is refused leaves nothing of what was said with it, and the journal
		// says of which turn it came.
		_, err = w.does(s, "lending.return :loan-id @saw-bob lending.return :loan-id @saw-bob", engine.RunOptions{Said: said, Turn: 2})
		wantRefusal(t, err, "requirement-not-met")
		if info, _ := w.info(s); info.Turns != 3 {
			t.Errorf("%d turns", info.Turns)
		}
		if last := w.journal(); last[len(last)-1].Turn != s.ID()+"/2" || last[len(last)-1].Outcome != "refused" {
			t.Errorf("%+v", last[len(last)-1])
		}
		// Words of which nothing comes but an answer are kept as well.
		w.must(s, "lending.list-items", engine.RunOptions{Said: said[:1]})
		// Call by call, the words are kept once.
		if _, err := (each.Runner{Session: s}).Run(ctx, w.program(s, `lending.note :loan-id @saw-bob :note "one" lending.note :loan-id @saw-bob :note "two"`), engine.RunOptions{Said: said[:1]}); err != nil {
			t.Fatal(err)
		}
		for _, e := range w.journal()[len(w.journal())-2:] {
			if e.Turn != s.ID()+"/5" {
				t.Errorf("%q", e.Turn)
			}
		}
		if part, err := s.Turns().Between(ctx, 4, 4); err != nil || len(part) != 1 || part[0].Number != 4 || part[0].Action != "lending.list-items" {
			t.Errorf("%+v, %v", part, err)
		}
		// A row that is out of scope by now is not named.
		w.set("item", 22, "club", id(2))
		fresh := w.visit(w.another(nil), "kim", engine.Visit{Name: "today"})
		if part, err := fresh.Turns().Between(ctx, 2, 2); err != nil || slices.Contains(part[0].Names, "@saw") {
			t.Errorf("%+v, %v", part, err)
		}
	})
}

// Words that somebody said are erased from the turns when they ask to be
// forgotten, and from what the session keeps; that something was said stays.
func TestWhatWasSaidIsForgotten(t *testing.T) {
	t.Parallel()
	deskWorlds(t, func(t *testing.T, w *world) {
		kim, sam := w.visit(w.engine, "kim", engine.Visit{Name: "today"}), w.visit(w.engine, "sam", engine.Visit{Name: "today"})
		for i := range 3 {
			for _, s := range []*engine.Session{kim, sam} {
				if _, err := s.Turns().Say(ctx, sessions.Said{Role: sessions.Client, Content: fmt.Sprint("a word about Ann ", i), Mentions: []string{"Ann"}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.must(kim, `desk.jot :text "Ann" desk.take :item-id @drill desk.whisper :secret "7310"`, engine.RunOptions{})
		w.grant("ada", "archivist")
		ada := w.session("ada")
		would, err := ada.Journal().Redactable(ctx, engine.Redaction{Principal: "kim"})
		if err != nil || would.Turns != 3 {
			t.Fatalf("%+v, %v", would, err)
		}
		did, err := ada.Journal().Redact(ctx, engine.Redaction{Principal: "kim"})
		if err != nil || did.Turns != 3 {
			t.Fatalf("%+v, %v", did, err)
		}
		all, err := kim.Turns().Between(ctx, 1, 0)
		if err != nil || len(all) != 3 {
			t.Fatal(all, err)
		}
		for _, turn := range all {
			if !turn.Erased || turn.Content != "" || len(turn.Mentions) > 0 || turn.Time.IsZero() {
				t.Errorf("%+v", turn)
			}
		}
		_, values := w.info(kim)
		equal(t, values, []string{"busy=true", `in_hand="@drill"`})
		if all, err := sam.Turns().Between(ctx, 1, 0); err != nil || len(all) != 3 || all[0].Erased {
			t.Errorf("%+v, %v", all, err)
		}
		if last := w.journal()[len(w.journal())-1]; !strings.Contains(last.Call, ":turns 3") {
			t.Error(last.Call)
		}
		if again, err := ada.Journal().Redact(ctx, engine.Redaction{Principal: "kim"}); err != nil || again.Turns != 0 {
			t.Errorf("%+v, %v", again, err)
		}
	})
}

// A session that nobody comes back to goes, with what was said in it; one that
// somebody came back to stays whole.
func TestOldSessionsGo(t *testing.T) {
	t.Parallel()
	deskWorlds(t, func(t *testing.T, w *world) {
		for i := range 25 {
			s := w.visit(w.engine, "kim", engine.Visit{Name: fmt.Sprint("old ", i)})
			if _, err := s.Turns().Say(ctx, sessions.Said{Role: sessions.Client, Content: "hello"}); err != nil {
				t.Fatal(err)
			}
		}
		stays := w.visit(w.engine, "kim", engine.Visit{Name: "old 7"})
		w.later(91 * 24 * time.Hour)
		w.visit(w.engine, "kim", engine.Visit{Name: "old 7"})
		n, err := w.engine.Housekeep(ctx, w.now().Add(-90*24*time.Hour))
		if err != nil || n != 24 {
			t.Fatal(n, err)
		}
		if all, err := stays.Turns().Between(ctx, 1, 0); err != nil || len(all) != 1 {
			t.Error(all, err)
		}
		gone := w.visit(w.engine, "kim", engine.Visit{Name: "old 8"})
		if info, _ := w.info(gone); info.Turns != 0 || info.Visits != 1 {
			t.Errorf("%+v", info)
		}
	})
}

// A handler can give the session nothing that its verb does not promise, and
// must give what it promises.
func TestTheSessionIsGivenWhatIsPromised(t *testing.T) {
	t.Parallel()
	reg := deskRegistry(t)
	w := newWorldOf(t, reg, counted(engine.Fields{"busy": true}))
	s := w.visit(w.engine, "kim", engine.Visit{Name: "today"})
	var broken *engine.BrokenPromise
	if _, err := w.does(s, "desk.count", engine.RunOptions{}); !errors.As(err, &broken) || broken.Happened != "session.busy was to be set" {
		t.Errorf("%v", err)
	}
	idle := &engine.Handlers{Partial: true}
	engine.Handle(idle, "desk.count", func(context.Context, *engine.Call, struct{}) (engine.Outcome, error) {
		return engine.Outcome{Result: &engine.Answer{}}, nil
	})
	s = w.visit(w.another(idle), "kim", engine.Visit{Name: "today"})
	if _, err := w.does(s, "desk.count", engine.RunOptions{}); !errors.As(err, &broken) || broken.Happened != "session.count was not to be set" {
		t.Errorf("%v", err)
	}
	if _, values := w.info(s); values != nil {
		t.Errorf("%q", values)
	}
}

// A secret that the session is given is never shown, not in a preview, not in a
// reply, not in one that is repeated and not in the journal.
func TestASecretOfTheSessionStaysOne(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, deskRegistry(t), counted(nil))
	s := w.visit(w.engine, "kim", engine.Visit{Name: "today"})
	for range 2 {
		reply := w.must(s, `desk.whisper :secret "7310"`, engine.RunOptions{Key: "k"})
		if c := reply.Calls[0].Session; len(c) != 1 || !c[0].Sensitive {
			t.Errorf("%+v", c)
		}
		if reply.Repeated && strings.Contains(fmt.Sprintf("%+v", reply.Calls[0].Session), "7310") {
			t.Errorf("%+v", reply.Calls[0].Session)
		}
	}
	info, _ := w.info(s)
	if len(info.Values) != 1 || !info.Values[0].Sensitive {
		t.Errorf("%+v", info.Values)
	}
	for _, e := range w.journal() {
		if strings.Contains(fmt.Sprintf("%+v", e), "7310") {
			t.Errorf("%+v", e)
		}
	}
}

// O23: the row at work on is the one that was chosen while it can be seen, and
// else the first by name.
func TestTheRowAtWorkOn(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, deskRegistry(t), counted(nil))
	at := func(s *engine.Session, want string) {
		t.Helper()
		if got, err := s.Names().Active(ctx, "club"); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	ada := w.visit(w.engine, "ada", engine.Visit{Name: "today"})
	at(ada, "@north")
	w.must(ada, "desk.stand :club-id @south", engine.RunOptions{})
	at(ada, "@south")
	at(w.session("ada"), "@north")
	w.grant("ada", "keeper") // who holds nothing
	at(w.visit(w.engine, "ada", engine.Visit{Name: "today"}), "")
	at(w.session("kim"), "@north")
}

// earnedAtDesk runs an example in a session that is kept, or is not.
func earnedAtDesk(t *testing.T, who, how, example string) string {
	t.Helper()
	w := newWorldOf(t, deskRegistry(t), counted(nil))
	if _, err := w.store.Migrate(ctx, append(w.tables(), engine.Own()...), true); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(example, "@paint") {
		w.done("kim", `desk.order :item-id @drill :name "paint" :kind PAINT :details {:colour RED}`)
	}
	o := engine.RunOptions{}
	v := engine.Visit{Name: "today"}
	switch {
	case how == "holding nothing":
		w.grant(who, "keeper")
		fallthrough
	case how == "":
		_, err := w.does(w.session(who), example, o)
		return codeOf(t, err)
	case how == "in the session of sam":
		v = engine.Visit{ID: w.visit(w.engine, "sam", v).ID()}
	case how == "in a session that went on":
		o.Version = 1
		w.must(w.visit(w.engine, who, v), "desk.drop", engine.RunOptions{})
	case how == "in a session that is full":
		w.must(w.visit(w.engine, who, v), `desk.whisper :secret "`+strings.Repeat("x", 65_480)+`"`, engine.RunOptions{})
	case strings.HasPrefix(how, "in the zone "):
		v.Zone = strings.TrimPrefix(how, "in the zone ")
	case how == "saying too much":
		o.Said = []sessions.Said{{Role: sessions.Client, Content: strings.Repeat("x", 200_000)}}
	case how == "saying little":
		o.Said = []sessions.Said{{Role: sessions.Client, Content: "this one"}}
	}
	s, err := w.engine.Visit(ctx, who, v)
	if err != nil {
		return codeOf(t, err)
	}
	_, err = w.does(s, example, o)
	return codeOf(t, err)
}

// A call that a handler makes has no private door: it is checked, permitted,
// asked about, promised and journalled as if whoever asked had written it, and
// where it is refused nothing is done.
func TestACallThatAHandlerMakesGoesThroughTheGate(t *testing.T) {
	t.Parallel()
	deskWorlds(t, func(t *testing.T, w *world) {
		s := w.visit(w.engine, "kim", engine.Visit{Name: "today"})
		w.must(s, "desk.take :item-id @drill", engine.RunOptions{})
		before := len(w.journal())
		reply := w.must(s, "desk.hand-over :kind CUT :number 120", engine.RunOptions{})
		if rows := reply.Calls[0].Rows; len(rows) != 1 || rows[0].Label != "made by hand" {
			t.Errorf("%+v", rows)
		}
		entries := w.journal()[before:]
		if len(entries) != 2 || entries[0].Verb != "desk.hand-over" || plain(entries[1].Call) != `desk.order :details {:cm 120} :item-id @drill :kind CUT :name "made by hand"` {
			t.Errorf("%+v", entries)
		}
		// What is wrong with it is said of the call that was written.
		for _, text := range []string{"desk.hand-over :kind CUT :number 301", "desk.hand-over :kind PAINT :number 1"} {
			_, err := w.does(s, text, engine.RunOptions{})
			wantRefusal(t, err, "wrong-value")
		}
		var broken *engine.BrokenPromise
		if _, err := w.does(s, "desk.hand-over :kind CUT :number 0", engine.RunOptions{}); !errors.As(err, &broken) || broken.Happened != "desk.order was not to be called" {
			t.Errorf("%v", err)
		}
		// Its own rule asks.
		w.must(s, "desk.take :item-id @ladder", engine.RunOptions{})
		lost := w.program(s, "desk.hand-over :kind CUT :number 12")
		_, err := s.Run(ctx, lost, engine.RunOptions{})
		wantRefusal(t, err, "needs-agreement")
		preview, err := s.Preview(ctx, lost)
		if err != nil || len(preview.Asks()) != 1 || preview.Asks()[0].Reason != "it is lost" {
			t.Fatalf("%+v, %v", preview, err)
		}
		if _, err := s.Run(ctx, lost, engine.RunOptions{Agreed: preview.ID}); err != nil {
			t.Error(err)
		}
		// And its own roles: a member may hand over, and not order.
		mia := w.visit(w.engine, "mia", engine.Visit{Name: "today"})
		_, err = w.does(mia, "desk.hand-over :kind CUT :number 12", engine.RunOptions{})
		wantRefusal(t, err, "not-permitted")
		// An object that comes out of a row is held against the schema of its code,
		// too, where no checker could.
		w.must(s, `desk.order :item-id @drill :name "one" :kind CUT :details {:cm 1}`, engine.RunOptions{})
		_, err = w.does(s, `desk.order :item-id @drill :name "two" :kind PAINT :details @one.details`, engine.RunOptions{})
		wantRefusal(t, err, "wrong-value")
		script, _ := dsl.Parse(dsl.NewSource("test.dsl", `desk.order :item-id @drill :name "three" :kind PAINT :details {:colour GREEN :cm 1}`))
		if p, ds := s.Check(context.Background(), script); p != nil || len(ds) != 2 || ds[0].Code != "schema-mismatch" || ds[1].Code != "schema-mismatch" {
			t.Errorf("%v", told(ds))
		}
	})
}

// A state that the palette does not let follow is refused, whoever asks for it.
func TestAStateFollowsAnother(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, deskRegistry(t), counted(nil))
	if _, err := w.store.Migrate(ctx, append(w.tables(), engine.Own()...), true); err != nil {
		t.Fatal(err)
	}
	w.done("kim", `desk.order :item-id @drill :name "paint" :kind PAINT :details {:colour RED}`)
	w.done("kim", "desk.start :job-id @paint")
	w.done("kim", "desk.start :job-id @paint") // it is so already
	w.done("kim", "desk.finish :job-id @paint")
	refusal := w.refused("kim", "desk.start :job-id @paint", "no-step")
	if text := refusal.Error(); !strings.Contains(text, "status of job is DONE, and nothing leads from there to BEGUN") {
		t.Error(text)
	}
}

// A handler makes no call that its verb does not promise, whoever asked.
func TestAHandlerCallsOnlyWhatIsPromised(t *testing.T) {
	t.Parallel()
	h := &engine.Handlers{Partial: true}
	engine.Handle(h, "desk.hand-over", func(context.Context, *engine.Call, struct {
		Kind   string `verb:"kind"`
		Number int64  `verb:"number"`
	}) (engine.Outcome, error) {
		return engine.Outcome{Result: &engine.Answer{}, Calls: []engine.Generated{{Verb: "desk.drop"}}}, nil
	})
	w := newWorldOf(t, deskRegistry(t), h)
	s := w.visit(w.engine, "kim", engine.Visit{Name: "today"})
	var broken *engine.BrokenPromise
	if _, err := w.does(s, "desk.hand-over :kind CUT :number 1", engine.RunOptions{}); !errors.As(err, &broken) || broken.Happened != "desk.drop was to be called" {
		t.Errorf("%v", err)
	}
}

// A program that only asks Check, and not Parse, learns that a call could not be read; one that tells
// what Parse said is told nothing twice.
func TestCheckSaysThatACallIsBroken(t *testing.T) {
	t.Parallel()
	s := newWorld(t).session("kim")
	for text, want := range map[string]int{"lending.lose :item-id": 1, "lending.lose :item-id\nlending.list-items\nlending.note :loan-id": 2, "lending.list-items": 0} {
		script, parsed := dsl.Parse(dsl.NewSource("a.dsl", text))
		p, ds := s.Check(t.Context(), script)
		if len(ds) != want || ds.HasErrors() != (p == nil) {
			t.Errorf("%s: %v, %v", text, p, ds)
		}
		for _, d := range ds {
			if d.Code != "broken-call" || d.Place.Source == nil {
				t.Errorf("%s: %+v", text, d)
			}
		}
		if p, ds := s.Check(t.Context(), script, engine.CheckOptions{Parsed: parsed}); len(ds) > 0 || parsed.HasErrors() != (p == nil) {
			t.Errorf("%s: once more, %v", text, ds)
		}
	}
}

// A misspelt role, entity or kind of key is told when a principal is set, all at once, and nothing is set.
func TestAPrincipalHasWhatThePalettesDeclare(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kim, err := w.store.Principal(t.Context(), "kim")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.engine.SetPrincipal(t.Context(), kim); err != nil {
		t.Errorf("as she is: %v", err)
	}
	wrong := stores.Principal{Name: "kim", Roles: []string{"menber"}, Holds: map[string][]stores.Value{"cbu": {id(1)}, "member": {str("kim")}}}
	err = w.engine.SetPrincipal(t.Context(), wrong)
	var refusal *engine.Refusal
	if !errors.As(err, &refusal) || len(refusal.Diagnostics) != 3 || !strings.Contains(err.Error(), `did you mean "member"?`) || !strings.Contains(err.Error(), "entity cbu") || !strings.Contains(err.Error(), "of kind uuid, and not of kind string") {
		t.Errorf("it says %v", err)
	}
	if now, err := w.store.Principal(t.Context(), "kim"); err != nil || strings.Join(now.Roles, " ") != strings.Join(kim.Roles, " ") {
		t.Errorf("%+v %v", now, err)
	}
}

// A plan is data, and prints what each call promises, rests on and does.
func TestAPlanIsData(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.session("kim")
	before := w.state()
	plan, err := s.Plan(t.Context(), w.program(s, "lending.lose :item-id @drill"))
	if err != nil {
		t.Fatal(err)
	}
	preview, err := s.Preview(t.Context(), plan.Program)
	if err != nil || preview.ID != plan.ID || plan.ID == "" {
		t.Errorf("%s is not %s: %v", plan.ID, preview.ID, err)
	}
	item := "item " + id(21).String()
	st := plan.Steps[0]
	if len(plan.Steps) != 1 || len(st.Promises) == 0 || !slices.Contains(st.Reads, item) || len(st.Does) == 0 || !strings.HasPrefix(st.Does[0], "updates "+item+" :") {
		t.Errorf("%+v", plan.Steps)
	}
	text := plan.String()
	for _, want := range []string{plan.ID, "lending.lose :item-id @drill", "promises updates: ", "reads " + item, st.Does[0]} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	equal(t, diff(w.entity, before, w.state()), nil)
}
