package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/engine"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
	loading "verbatim/verbs/load"
)

// What the people of a filingWorld have sent, whose ids are easier to read than
// those of real uploads.
var sent = []struct {
	id, owner, mime string
	size            int64
	verdict         string
}{
	{"kims-letter", "kim", "application/pdf", 1_000_000, uploads.Clean},
	{"kims-photo", "kim", "image/png", 10_000, uploads.Clean},
	{"kims-new-letter", "kim", "application/pdf", 2000, uploads.Pending},
	{"kims-odd-letter", "kim", "application/pdf", 2000, uploads.Failed},
	{"kims-virus", "kim", "application/pdf", 2000, uploads.Infected},
	{"kims-song", "kim", "audio/mpeg", 2000, uploads.Clean},
	{"kims-atlas", "kim", "application/pdf", 1_000_001, uploads.Clean},
	{"sams-letter", "sam", "application/pdf", 2000, uploads.Clean},
	{"sams-virus", "sam", "application/pdf", 2000, uploads.Infected},
}

func filingWorld(t testing.TB) *world {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "filing.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	w := &world{t: t, reg: load(t, "testdata/filing"), clock: newWorldClock}
	if _, err := store.Migrate(context.Background(), append(w.tables(), engine.Own()...), true); err != nil {
		t.Fatal(err)
	}
	w.file(store)
	return w
}

// postgresFilingWorld is the same on a server.
func postgresFilingWorld(t testing.TB) *world {
	t.Helper()
	ctx := context.Background()
	db := pgtest.Database(t)
	w := &world{t: t, reg: load(t, "testdata/filing"), clock: newWorldClock}
	owner, err := postgres.Open(ctx, db.Owner, postgres.AsOwner("verbatim_app"))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := owner.Migrate(ctx, append(w.tables(), engine.Own()...), true)
	if err != nil || len(plan.Problems) > 0 {
		t.Fatal(err, plan.Problems)
	}
	owner.Close()
	store, err := postgres.Open(ctx, db.App)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	w.file(store)
	return w
}

// file opens the engine and sends what people have sent.
func (w *world) file(store stores.Store) {
	w.t.Helper()
	ctx := context.Background()
	var err error
	w.store = store
	if w.engine, err = engine.New(w.reg, store, engine.Options{Clock: w.now, NewID: w.newID, Keep: w.keep}); err != nil {
		w.t.Fatal(err)
	}
	for _, p := range people {
		p.Holds = nil
		if err := store.SetPrincipal(ctx, p); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, u := range sent {
		w.send(u.owner, u.id, u.mime, u.size, u.verdict)
	}
}

// send puts an upload there, as if its bytes had come.
func (w *world) send(owner, id, mime string, size int64, verdict string) uploads.Upload {
	w.t.Helper()
	ctx := context.Background()
	u, err := w.session(owner).Uploads().Begin(ctx, uploads.Upload{Name: id + ".bin", Type: mime, Size: size, Sum: fmt.Sprintf("%064x", id)}, id, "0000000000000001", 7*24*time.Hour,
		func(context.Context, uploads.Upload) error { return nil })
	if err != nil {
		w.t.Fatal(err)
	}
	if verdict != uploads.Pending {
		if u, err = w.engine.Uploads().Judge(ctx, id, verdict, "test"); err != nil {
			w.t.Fatal(err)
		}
	}
	return u
}

func (w *world) tries(who, script string) string {
	w.t.Helper()
	s := w.session(who)
	_, err := s.Run(context.Background(), w.program(s, script), engine.RunOptions{})
	return codeOf(w.t, err)
}

// What the gate says of each file, to each person. A file that is somebody
// else's is told of exactly as one that is not there, whatever is known of it,
// also to somebody whose role sees all rows.
func TestGateOfUploads(t *testing.T) {
	t.Parallel()
	for store, open := range map[string]func(testing.TB) *world{"sqlite": filingWorld, "postgres": postgresFilingWorld} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			for _, c := range []struct{ who, id, code string }{
				{"kim", "kims-letter", ""},
				{"kim", "kims-photo", ""},
				{"kim", "kims-new-letter", "upload-not-scanned"},
				{"kim", "kims-odd-letter", "upload-not-scanned"},
				{"kim", "kims-virus", "upload-harmful"},
				{"kim", "kims-song", "upload-type"},
				{"kim", "kims-atlas", "upload-too-large"},
				{"kim", "sams-letter", "unknown-upload"},
				{"kim", "sams-virus", "unknown-upload"},
				{"kim", "nobodys", "unknown-upload"},
				{"sam", "kims-letter", "unknown-upload"},
				{"sam", "sams-letter", ""},
				{"ada", "kims-letter", "unknown-upload"},
				{"ada", "kims-virus", "unknown-upload"},
				{"ada", "sams-letter", "unknown-upload"},
			} {
				if got := w.tries(c.who, fmt.Sprintf("filing.file :paper %q", "upload://"+c.id)); got != c.code {
					t.Errorf("%s, %s: %q", c.who, c.id, got)
				}
			}
			// The words are the same too, but for what was asked.
			s := w.session("kim")
			var first string
			for _, id := range []string{"nobodys", "sams-letter", "sams-virus"} {
				_, err := s.Run(context.Background(), w.program(s, fmt.Sprintf("filing.file :paper %q", "upload://"+id)), engine.RunOptions{})
				if first == "" {
					first = engine.Sentence(err)
				}
				if got := engine.Sentence(err); got != first || strings.Contains(got, id) {
					t.Errorf("%s: %q and not %q", id, got, first)
				}
			}
			// Each argument has limits of its own, and one that is left out has no file.
			if got := w.tries("kim", `filing.file :paper "upload://kims-photo" :cover "upload://kims-photo"`); got != "" {
				t.Error(got)
			}
			if got := w.tries("kim", `filing.file :paper "upload://kims-photo" :cover "upload://kims-letter"`); got != "upload-type" {
				t.Error(got)
			}
		})
	}
}

// A reference that comes out of a row, through a macro, is resolved at the gate
// like one that was written: it is its owner's and nobody else's.
func TestUploadOutOfARow(t *testing.T) {
	t.Parallel()
	w := filingWorld(t)
	w.change(stores.Change{Op: stores.Insert, Entity: w.entity("paper"), Key: id(1), Set: []stores.Assign{{Field: 1, Value: str("kim")}, {Field: 2, Value: str("upload://sams-letter")}}},
		stores.Change{Op: stores.Insert, Entity: w.entity("paper"), Key: id(2), Set: []stores.Assign{{Field: 1, Value: str("kim")}, {Field: 2, Value: str("upload://kims-letter")}}})
	for key, want := range map[int]string{1: "unknown-upload", 2: ""} {
		if got := w.tries("kim", "filing.refile :paper-id "+id(key).Text()); got != want {
			t.Errorf("%d: %q", key, got)
		}
	}
}

// The first call that is committed keeps an upload; one that is only shown,
// or refused, does not. It may be used again.
func TestUploadIsKeptOnceUsed(t *testing.T) {
	t.Parallel()
	for store, open := range map[string]func(testing.TB) *world{"sqlite": filingWorld, "postgres": postgresFilingWorld} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			ctx := context.Background()
			kim := w.session("kim")
			state := func(ref string) string {
				u, err := kim.Uploads().Get(ctx, "upload://"+ref)
				if err != nil {
					return err.Error()
				}
				return fmt.Sprint(u.UsedBy, " ", u.UsedAt.IsZero(), " ", u.Expires.IsZero())
			}
			const script = `filing.file :paper "upload://kims-letter"`
			if _, err := kim.Preview(ctx, w.program(kim, script)); err != nil {
				t.Fatal(err)
			}
			w.tries("kim", script+"\nfiling.file :paper \"upload://kims-song\"")
			if got := state("kims-letter"); got != " true false" {
				t.Fatal(got)
			}
			for range 2 {
				if got := w.tries("kim", script); got != "" {
					t.Fatal(got)
				}
				if got := state("kims-letter"); got != "filing.file false true" {
					t.Fatal(got)
				}
			}
			// What is not used is gone after a while, at once for its owner and then
			// for good; and what is used is not.
			w.later(8 * 24 * time.Hour)
			if got := w.tries("kim", `filing.file :paper "upload://kims-photo"`); got != "unknown-upload" {
				t.Error(got)
			}
			if got := state("kims-photo"); got != stores.ErrNotFound.Error() {
				t.Error(got)
			}
			if n, err := w.engine.Uploads().Forget(ctx); n != len(sent)-1 || err != nil {
				t.Fatal(n, err)
			}
			if got := w.tries("kim", script); got != "" {
				t.Error(got)
			}
		})
	}
}

// A proposal keeps what it names for as long as somebody may agree to it.
func TestUploadWaitsForAgreement(t *testing.T) {
	t.Parallel()
	w := filingWorld(t)
	ctx := context.Background()
	w.later(7*24*time.Hour - time.Hour)
	kim := w.session("kim")
	c, err := kim.Propose(ctx, w.program(kim, `filing.file-asking :paper "upload://kims-letter"`), engine.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.later(20 * time.Hour)
	if _, err := w.engine.Uploads().Forget(ctx); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.session("ada").Agree(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
	u, err := kim.Uploads().Get(ctx, "upload://kims-letter")
	if err != nil || u.UsedBy != "filing.file-asking" {
		t.Fatal(u, err)
	}
}

// Every upload leaves an entry that says which bytes they were, and not what
// their owner calls them.
func TestUploadIsJournalled(t *testing.T) {
	t.Parallel()
	w := filingWorld(t)
	all, err := w.store.Journal(context.Background(), 0, 0)
	if err != nil || len(all) != len(sent) {
		t.Fatal(len(all), err)
	}
	if e := all[0]; e.Principal != "kim" || e.Outcome != "ok" ||
		e.Call != fmt.Sprintf(`verbatim.upload :reference "upload://kims-letter" :sha-256 "%064x" :type "application/pdf" :size 1000000`, "kims-letter") {
		t.Fatalf("%+v", e)
	}
}

// Bytes that nothing refers to are let go of, and nothing else, while the same
// bytes are sent again and again, used, and expire: whoever was told that theirs
// are kept finds them there (both stores).
func TestBytesAreFreedSafely(t *testing.T) {
	t.Parallel()
	for store, open := range map[string]func(testing.TB) *world{"sqlite": filingWorld, "postgres": postgresFilingWorld} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			ctx := context.Background()
			var mu sync.Mutex
			disk := map[string]bool{} // by sum and tag
			name := func(u uploads.Upload) string { return u.Sum + u.Kept }
			drop := func(_ context.Context, u uploads.Upload) error {
				mu.Lock()
				defer mu.Unlock()
				delete(disk, name(u))
				return nil
			}
			const senders, rounds = 3, 12
			var group sync.WaitGroup
			sums := []string{strings.Repeat("a", 64), strings.Repeat("b", 64)}
			for i := range senders {
				group.Go(func() {
					s := w.session("kim")
					for j := range rounds {
						id := fmt.Sprintf("s%d-%d", i, j)
						u, err := s.Uploads().Begin(ctx, uploads.Upload{Name: "x", Type: "application/pdf", Size: 5, Sum: sums[j%2]}, id, fmt.Sprintf("%08d%08d", i, j), time.Hour, drop)
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						disk[name(u)] = true
						mu.Unlock()
						verdict := []string{uploads.Clean, uploads.Infected}[(i+j)%2]
						if _, err := w.engine.Uploads().Judge(ctx, id, verdict, "test"); err != nil {
							t.Error(err)
							return
						}
						if verdict == uploads.Infected {
							continue
						}
						mu.Lock()
						if !disk[name(u)] {
							t.Errorf("%s: its bytes are gone", id)
						}
						mu.Unlock()
					}
				})
			}
			stop := make(chan struct{})
			var sweeper sync.WaitGroup
			for range 2 {
				sweeper.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						free, err := w.engine.Uploads().Free(ctx, 10)
						if err != nil {
							t.Error(err)
							return
						}
						for _, u := range free {
							if err := errors.Join(drop(ctx, u), w.engine.Uploads().ForgetContent(ctx, u)); err != nil {
								t.Error(err)
								return
							}
						}
					}
				})
			}
			group.Wait()
			close(stop)
			sweeper.Wait()
			// In the end everything expires, and nothing is left.
			w.later(30 * 24 * time.Hour)
			if _, err := w.engine.Uploads().Forget(ctx); err != nil {
				t.Fatal(err)
			}
			free, err := w.engine.Uploads().Free(ctx, 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range free {
				if err := errors.Join(drop(ctx, u), w.engine.Uploads().ForgetContent(ctx, u)); err != nil {
					t.Fatal(err)
				}
			}
			if again, err := w.engine.Uploads().Free(ctx, 100); len(again) > 0 || err != nil {
				t.Fatal(again, err)
			}
			if len(disk) > 0 {
				t.Errorf("%d are left", len(disk))
			}
		})
	}
}

// Nothing that a script can say reads a palette's own upload: the entity has a
// name that no palette may use.
func TestUploadsAreNoPalettes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.yaml"), []byte("domain: x\nentities:\n  mine: {table: verbatim.uploads, key: id, scope: everyone, managed: true, label: \"{name}\", fields: {id: {type: string}, name: {type: string}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ds := loading.Dir(os.DirFS(dir)); !ds.HasErrors() {
		t.Fatal("a palette may name the table of uploads")
	}
}

// SAFE-H7: a file that was taken while nobody looked at files is not used once somebody
// does, and is looked at like one that nobody has judged: what is harmful is let
// go of, also where a call used it before.
func TestFilesThatNobodyLookedAt(t *testing.T) {
	t.Parallel()
	for store, open := range map[string]func(testing.TB) *world{"sqlite": filingWorld, "postgres": postgresFilingWorld} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			w := open(t)
			judge := func(id, verdict, scanner string) {
				t.Helper()
				if _, err := w.engine.Uploads().Judge(ctx, id, verdict, scanner); err != nil {
					t.Fatal(err)
				}
			}
			waits := func(scanner string) int {
				t.Helper()
				list, err := w.engine.Uploads().Unjudged(ctx, w.now().Add(time.Hour), "", 100, scanner)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for _, u := range list {
					if strings.HasPrefix(u.ID, "unseen") {
						n++
					}
				}
				return n
			}
			for _, id := range []string{"unseen-good", "unseen-bad", "unseen-odd"} {
				w.send("kim", id, "application/pdf", 1000, uploads.Pending)
				judge(id, uploads.Clean, uploads.ScannedByNobody)
			}
			for _, c := range []struct{ scanner, code string }{{"", ""}, {uploads.ScannedByNobody, ""}, {"clamd", "upload-not-scanned"}} {
				var err error
				if w.engine, err = engine.New(w.reg, w.store, engine.Options{Clock: w.now, NewID: w.newID, Scanner: c.scanner}); err != nil {
					t.Fatal(err)
				}
				for _, id := range []string{"unseen-good", "unseen-bad", "unseen-odd"} {
					if got := w.tries("kim", fmt.Sprintf("filing.file :paper %q", "upload://"+id)); got != c.code {
						t.Errorf("%s, %q looks: %q, want %q", id, c.scanner, got, c.code)
					}
				}
				if got := w.tries("kim", `filing.file :paper "upload://kims-letter"`); got != "" {
					t.Errorf("what was looked at, %q looks: %q", c.scanner, got)
				}
			}
			if none, some := waits(uploads.ScannedByNobody), waits("clamd"); none != 0 || some != 3 {
				t.Errorf("%d wait for nobody, %d for a scanner", none, some)
			}
			judge("unseen-good", uploads.Clean, "clamd")
			judge("unseen-bad", uploads.Infected, "clamd")
			judge("unseen-odd", uploads.Failed, "clamd")
			// Nobody takes back what somebody saw.
			judge("unseen-good", uploads.Infected, uploads.ScannedByNobody)
			judge("unseen-bad", uploads.Clean, "clamd")
			for id, code := range map[string]string{"unseen-good": "", "unseen-bad": "upload-harmful", "unseen-odd": "upload-not-scanned"} {
				if got := w.tries("kim", fmt.Sprintf("filing.file :paper %q", "upload://"+id)); got != code {
					t.Errorf("%s: %q, want %q", id, got, code)
				}
			}
			if n := waits("clamd"); n != 1 {
				t.Errorf("%d wait", n)
			}
		})
	}
}

// A file that a row names is given to whoever sees the row, whoever sent it. A row of which
// it is only written that it names a file gives none.
func TestAFileIsGivenToWhoSeesItsRow(t *testing.T) {
	t.Parallel()
	for store, open := range map[string]func(testing.TB) *world{"sqlite": filingWorld, "postgres": postgresFilingWorld} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			if code := w.tries("kim", `filing.file :paper "upload://kims-letter"`); code != "" {
				t.Fatal(code)
			}
			paper := w.entity("paper")
			key := func(file string) (key stores.Value) {
				t.Helper()
				err := w.store.View(t.Context(), stores.Scope{All: true}, func(r stores.Reader) error {
					rows, err := r.Find(t.Context(), stores.Find{Entity: paper, Select: []stores.Path{{Field: paper.Key}}, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: paper.FieldIndex("file")}, Value: stores.NewString(file)}})
					if err == nil && len(rows) == 1 {
						key = rows[0][0]
					}
					return err
				})
				if err != nil || key.IsNull() {
					t.Fatal(file, err)
				}
				return key
			}
			given := func(who, entity string, key stores.Value) string {
				t.Helper()
				u, err := w.session(who).Uploads().Of(t.Context(), entity, key)
				if err != nil && (!errors.Is(err, stores.ErrNotFound) || u.ID != "") {
					t.Error(who, u.ID, err)
				}
				return u.ID
			}
			letter := key("upload://kims-letter")
			for who, want := range map[string]string{"kim": "kims-letter", "ada": "kims-letter", "sam": "", "nobody": ""} {
				if got := given(who, "paper", letter); got != want {
					t.Errorf("%s is given %q, want %q", who, got, want)
				}
			}
			if got := given("kim", "verbatim.upload", letter) + given("kim", "none", letter) + given("kim", "paper", stores.NewString("none")); got != "" {
				t.Error(got)
			}
			// What nobody used is nobody else's, wherever its name came to stand.
			for _, file := range []string{"upload://sams-letter", "upload://kims-new-letter", "upload://none", "sams-letter"} {
				w.change(stores.Change{Op: stores.Insert, Entity: paper, Key: id(77), Set: []stores.Assign{
					{Field: paper.FieldIndex("owner"), Value: stores.NewString("kim")}, {Field: paper.FieldIndex("file"), Value: stores.NewString(file)}}})
				if got := given("kim", "paper", id(77)); got != "" {
					t.Errorf("%s: %q", file, got)
				}
				w.change(stores.Change{Op: stores.Delete, Entity: paper, Key: id(77)})
			}
		})
	}
}
