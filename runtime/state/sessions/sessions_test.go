package sessions

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"verbatim/stores"
)

// A table is a transaction over a few rows: what is applied is read back.
type table struct {
	stores.Tx
	rows map[stores.Value][]stores.Value
}

func (t table) Get(_ context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	row, ok := t.rows[key]
	if !ok {
		return stores.Row{}, stores.ErrNotFound
	}
	return stores.Row{Entity: e, Values: row}, nil
}

func (t table) Find(context.Context, stores.Find) (all [][]stores.Value, err error) {
	for _, row := range t.rows {
		all = append(all, row)
	}
	return all, nil
}

func (t table) Apply(_ context.Context, b stores.Batch) error {
	for _, c := range b.Changes {
		if c.Op == stores.Delete {
			delete(t.rows, c.Key)
			continue
		}
		row := make([]stores.Value, len(c.Entity.Fields))
		copy(row, c.Before)
		row[c.Entity.Key] = c.Key
		for _, a := range c.Set {
			row[a.Field] = a.Value
		}
		if c.Op == stores.Insert && c.Number != 0 {
			row[c.Number] = stores.NewInt(1)
		}
		t.rows[c.Key] = row
	}
	return nil
}

func (t table) apply(test *testing.T, changes ...stores.Change) {
	test.Helper()
	for _, c := range changes {
		for i, a := range c.Set {
			if i > 0 && a.Field <= c.Set[i-1].Field {
				test.Errorf("%s: fields are set out of order: %v", c.Entity.Name, c.Set)
			}
		}
	}
	if err := t.Apply(test.Context(), stores.Batch{Changes: changes}); err != nil {
		test.Fatal(err)
	}
	for _, c := range changes {
		for f, is := range c.Entity.Fields {
			if row := t.rows[c.Key]; row != nil && is.Required && row[f].IsNull() {
				test.Errorf("%s has no %s", c.Entity.Name, is.Name)
			}
		}
	}
}

var (
	start = time.Date(2025, 1, 2, 9, 0, 0, 0, time.UTC)
	key   = Key("ada", "onboarding")
)

func begun(t *testing.T) (table, *Session) {
	t.Helper()
	tx := table{rows: map[stores.Value][]stores.Value{}}
	tx.apply(t, Begin(key, "ada", "onboarding", start).Visit("Europe/Luxembourg", "", start))
	return tx, reread(t, tx)
}

func reread(t *testing.T, tx table) *Session {
	t.Helper()
	s, err := Get(t.Context(), tx, key)
	if err != nil || s == nil {
		t.Fatal(s, err)
	}
	return s
}

// X11: a visit counts after half an hour, and what the person said of themselves stays
// until they say something else. A clock that is behind moves nothing back.
func TestAVisitIsCountedAfterAPause(t *testing.T) {
	t.Parallel()
	tx, s := begun(t)
	for _, c := range []struct {
		zone, language string
		after          time.Duration
		want           Info
	}{
		{"", "", 0, Info{Zone: "Europe/Luxembourg", LastActive: start, Visits: 1}},
		{"", "de", visitGap - time.Second, Info{Zone: "Europe/Luxembourg", Language: "de", LastActive: start.Add(visitGap - time.Second), Visits: 1}},
		{"Asia/Tokyo", "", 2 * visitGap, Info{Zone: "Asia/Tokyo", Language: "de", LastActive: start.Add(2 * visitGap), Visits: 2}},
		{"", "", -time.Hour, Info{Zone: "Asia/Tokyo", Language: "de", LastActive: start.Add(2 * visitGap), Visits: 2}},
	} {
		c.want.ID, c.want.Name, c.want.Started, c.want.Version = key.Text(), "onboarding", start, 1
		tx.apply(t, s.Visit(c.zone, c.language, start.Add(c.after)))
		if s = reread(t, tx); s.Info != c.want {
			t.Errorf("after %v: %+v\nwant %+v", c.after, s.Info, c.want)
		}
	}
	if KeyOf(s.ID) != key || !KeyOf("run-1").IsNull() || Key("sam", "onboarding") == key {
		t.Error("the key of a session is not its id, or somebody else has it")
	}
}

// X11: what was set is read back as it was, and each run moves the version by one.
func TestValuesAreReadAsTheyWereKept(t *testing.T) {
	t.Parallel()
	tx, s := begun(t)
	pin := Value{Kind: stores.String, Text: "7310", Origin: "person", Sensitive: true}
	if !s.Set("pin", pin) || s.Set("pin", pin) || s.Set("none", Value{}) || !s.Set("row", Value{Kind: stores.String, Text: "k-1", Entity: "request"}) || !s.Set("gone", Value{Kind: stores.Bool, Text: "true"}) || !s.Set("gone", Value{}) {
		t.Error("what changes a session is not told from what does not")
	}
	c, err := s.Keep(2, start.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	tx.apply(t, c)
	again := reread(t, tx)
	if !reflect.DeepEqual(again.Values, s.Values) || again.Values["pin"] != pin || len(again.Values) != 2 || again.Turns != 2 || again.Version != 2 || again.Changed {
		t.Errorf("%+v", again)
	}
	if again.Set("long", Value{Kind: stores.String, Text: strings.Repeat("x", maxSize)}); s.TooLarge() || !again.TooLarge() {
		t.Error("a session keeps documents, or no pointers")
	}
	// X11: of who asks to be forgotten, pointers and marks stay, and no words.
	changes, err := ForgetValues(t.Context(), tx, "ada")
	if err != nil {
		t.Fatal(err)
	}
	tx.apply(t, changes...)
	if left := reread(t, tx); len(left.Values) != 1 || left.Values["row"].Entity != "request" || left.Version != 3 {
		t.Errorf("%+v", left)
	}
}

// X11: a turn is read as it was said, with the rows that it was about, each once, until
// it is erased.
func TestATurnIsReadAsItWasSaid(t *testing.T) {
	t.Parallel()
	said := Said{Role: Client, Content: "the passport", Intent: "send", Mentions: []string{"passport"}}
	row, other := Row{"request", stores.String, "k-1"}, Row{"person", stores.String, "k-2"}
	c, err := said.Turn(key, 3, []Row{row}, Notes{Rows: []Row{row, other}, Action: "client.send"}, 2, start)
	if err != nil {
		t.Fatal(err)
	}
	tx := table{rows: map[stores.Value][]stores.Value{}}
	tx.apply(t, c)
	all, err := Between(t.Context(), tx, key, 1, 0)
	want := Turn{Said: said, ID: key.Text() + "/3", Number: 3, Time: start, Entries: 2, First: 1, Rows: []Row{row, other}}
	if want.Action = "client.send"; err != nil || len(all) != 1 || !reflect.DeepEqual(all[0], want) {
		t.Errorf("%+v\nwant %+v, %v", all, want, err)
	}
	tx.apply(t, Erase(tx.rows[c.Key]))
	if all, err := Between(t.Context(), tx, key, 1, 0); err != nil || !reflect.DeepEqual(all, []Turn{{Said: Said{Role: Client}, ID: want.ID, Number: 3, Time: start, Entries: 2, First: 1, Erased: true}}) {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := (&Said{Role: "NOBODY"}).Turn(key, 1, nil, Notes{}, 0, start); err == nil {
		t.Error("nobody speaks")
	}
	if said := (&Said{Mentions: []string{strings.Repeat("x", MaxTurn+1)}}); !said.TooLong() || !said.IsText() {
		t.Error("a turn may be as long as it likes")
	}
	if (&Said{Intent: "a\x00"}).IsText() || (&Said{Mentions: []string{"\xff"}}).IsText() {
		t.Error("what no store keeps is taken for text")
	}
}

// X11: a run comes of what the person said last with it; without that, of the turn that
// was named, or of the last.
func TestARunComesOfThePersonsWords(t *testing.T) {
	t.Parallel()
	person, agent := Said{Role: Client}, Said{Role: Agent}
	for _, c := range []struct {
		said  []Said
		named int64
		want  int64
	}{{nil, 2, 2}, {[]Said{agent}, 2, 2}, {[]Said{agent, agent}, 0, 6}, {[]Said{person, agent}, 0, 5}, {[]Said{person, agent}, 2, 5}, {[]Said{agent, person}, 2, 6}} {
		if got := SpokenBy(c.said, 5, c.named); got != c.want {
			t.Errorf("%v, %d: %d, want %d", c.said, c.named, got, c.want)
		}
	}
}

// SAFE-C7: a question is put once, put again while it waits, and settled once.
func TestAQuestionIsSettledOnce(t *testing.T) {
	t.Parallel()
	tx, s := begun(t)
	ask := func(ran bool, said ...Said) bool {
		t.Helper()
		changes, gone, err := s.Ask(t.Context(), tx, said, ran)
		if err != nil {
			t.Fatal(err)
		}
		tx.apply(t, changes...)
		return gone
	}
	q := Question{Preview: "p", Asked: start, Until: start.Add(time.Hour), Before: 4, Source: "talk", About: `{"a":1}`, Words: "the other one"}
	put, row := Said{Role: Agent, Puts: []Question{q, q}}, stores.NewString(s.ID+"/p")
	if ask(false, put) || tx.rows[row] == nil || tx.rows[row][questionFirst].Int() != 1 {
		t.Fatal("it does not wait")
	}
	waits := table{rows: map[stores.Value][]stores.Value{row: tx.rows[row]}}
	all, err := s.Waiting(t.Context(), waits)
	if want := q; err != nil || len(all) != 1 || all[0].origins != originsOfWords {
		t.Errorf("%+v, %v", all, err)
	} else if want.origins = originsOfWords; !reflect.DeepEqual(all[0], want) {
		t.Errorf("%+v\nwant %+v", all[0], want)
	}
	if _, _, err := all[0].Read(); err == nil {
		t.Error("words are read as a script")
	}
	all[0].After, all[0].Again = "yes", true
	s.Turns = 3
	if ask(false, Said{Role: Agent, Puts: all}); tx.rows[row][questionFirst].Int() != 1 || tx.rows[row][questionPut].Int() != 4 || tx.rows[row][questionPutAfter].Text() != "yes" {
		t.Error("put again, it is another question")
	}
	if ask(true, Said{Role: Client, Settles: []string{"p", "p"}, Answers: "p"}) || tx.rows[row] != nil {
		t.Error("it waits on")
	}
	for _, c := range []struct {
		ran  bool
		said Said
		gone bool
	}{{true, Said{Settles: []string{"p"}}, true}, {false, Said{Answers: "p"}, true}, {false, Said{Settles: []string{"p"}}, false}, {false, Said{Puts: all}, false}} {
		if gone := ask(c.ran, c.said); gone != c.gone || tx.rows[row] != nil {
			t.Errorf("%+v: %v", c.said, gone)
		}
	}
	if _, _, err := s.Ask(t.Context(), tx, []Said{{Puts: []Question{{Preview: "x", About: "{"}}}}, false); err == nil {
		t.Error("what is no JSON is kept as JSON")
	}
}

// SAFE-S7: a budget never goes over its limit, below nothing, or round.
func TestABudgetStaysWithinItsLimit(t *testing.T) {
	t.Parallel()
	tx := table{rows: map[stores.Value][]stores.Value{}}
	for _, c := range []struct {
		n, limit, want int64
		ok             bool
	}{{60, 100, 60, true}, {50, 100, 60, false}, {40, 100, 100, true}, {1, 0, 101, true}, {0, 100, 101, true}, {-500, 100, 0, true}, {5, 0, 5, true}, {math.MaxInt64, 0, math.MaxInt64, true}} {
		total, ok, err := Count(t.Context(), tx, "ada", "tokens", c.n, c.limit, start)
		if kept, _ := Counted(t.Context(), tx, "ada", "tokens"); err != nil || total != c.want || ok != c.ok || kept != c.want {
			t.Errorf("%+v: %d, %v, %d are kept, %v", c, total, ok, kept, err)
		}
	}
	if n, err := Counted(t.Context(), tx, "sam", "tokens"); n != 0 || err != nil {
		t.Error(n, err)
	}
}
