package torture

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/storetest"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

var keepAs = flag.String("keep", "", "keep stores of today's as those of the format or release `NAME`")

const releases = "testdata/releases"

// A kept is what is known of a store that was kept, beside the store itself.
type kept struct {
	Head     string            // number and hash of the last entry
	At       time.Time         // when it was made
	Scripts  []keyed           // that were done, each under a key, by tess
	Names    map[string]string // of rows that share a plain name, to their keys
	Turns    []string          // of the session talk of tess
	Question string            // the preview that it asks about
	Preview  keyed             // that theo has kept: its ID and its script
	Pending  string            // the confirmation that mara is asked for
	Waiting  keyed             // what it is about
	Due      time.Time         // when the work that waits is due
	Then     string            // the tag of what that does
}

type keyed struct{ Key, Text string }

// SAFE-R10: what every format left behind is opened, migrated, verified entry by entry,
// replayed, continued and worked with, on both stores. Stores of today's are among them,
// so that the way they are kept is itself tested.
func TestStoresOfEveryRelease(t *testing.T) {
	t.Parallel()
	dirs, err := filepath.Glob(filepath.Join(releases, "*", "palettes"))
	if err != nil || len(dirs) == 0 && *keepAs == "" {
		t.Fatalf("there are no stores: %v", err)
	}
	for _, k := range []releaseKind{{"sqlite", "bank.db.gz", keepFile, restoreFile}, {"postgres", "bank.sql.gz", keepDatabase, restoreDatabase}} {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			y := begin(t, "SAFE-R10", "stores of every format, "+k.name, "entries")
			today := t.TempDir()
			k.keep(t, filepath.Join(today, k.name))
			palette := keepPalette(t, today)
			if *keepAs != "" {
				dir := filepath.Join(releases, *keepAs)
				if _, err := os.Stat(filepath.Join(dir, k.name)); !errors.Is(err, fs.ErrNotExist) {
					t.Fatalf("%s is there already, and is never changed", dir)
				}
				k.keep(t, filepath.Join(dir, k.name))
				if there := keepPalette(t, dir); there != palette {
					t.Fatal("its palette is another")
				}
			}
			for _, dir := range append(slices.Clone(dirs), filepath.Join(today, "palettes")) {
				dir = filepath.Dir(dir)
				n, err := stillGood(t, k, dir)
				if err != nil {
					y.wrong("%s: %v", filepath.Base(dir), err)
				}
				y.try(n)
			}
			y.remark("%d stores", len(dirs)+1)
		})
	}
}

// A releaseKind is a kind of store, and how one is kept and put back.
type releaseKind struct {
	name, file string
	keep       func(t *testing.T, dir string)
	restore    func(t *testing.T, image []byte) stores.Store
}

func keepFile(t *testing.T, dir string) {
	at := newFile(t)
	k := leave(t, at)
	image, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "bank.db.gz", image, k)
}

func restoreFile(t *testing.T, image []byte) stores.Store {
	at := filepath.Join(t.TempDir(), "bank.db")
	if err := os.WriteFile(at, image, 0o600); err != nil {
		t.Fatal(err)
	}
	return opened(t, at)
}

func keepDatabase(t *testing.T, dir string) {
	db := newDatabase(t)
	k := leave(t, db.App)
	var said bytes.Buffer
	dump := exec.Command(pgtest.Program(t, "pg_dump"), "--no-owner", "--rows-per-insert=100", db.Admin)
	dump.Stderr = &said
	sql, err := dump.Output()
	if err != nil {
		t.Fatalf("pg_dump: %v\n%s", err, said.Bytes())
	}
	put(t, dir, "bank.sql.gz", sql, k)
}

// restoreDatabase fills a database as its owner.
func restoreDatabase(t *testing.T, image []byte) stores.Store {
	db := pgtest.Database(t)
	if err := db.Load(string(image)); err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Open(context.Background(), db.App, postgres.MigrateAs(db.Owner), postgres.RowCap(many))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// put writes what is kept into a folder.
func put(t *testing.T, dir, name string, image []byte, k kept) {
	t.Helper()
	var zipped bytes.Buffer
	z, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	_, err := z.Write(image)
	if err == nil {
		err = z.Close()
	}
	known, more := json.MarshalIndent(k, "", "  ")
	for _, err := range []error{err, more, os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, name), zipped.Bytes(), 0o644),
		os.WriteFile(filepath.Join(dir, "kept.json"), append(known, '\n'), 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// keepPalette writes the palette of today into a folder that has none, and returns the
// one that is there.
func keepPalette(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "palettes", "bank.yaml")
	if palette, err := os.ReadFile(name); err == nil {
		return string(palette)
	}
	palette, err := palettes.ReadFile("testdata/palettes/bank.yaml")
	for _, err := range []error{err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, palette, 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return string(palette)
}

// headOf is the place of the last entry, and the root of the log; the hash of the last entry where the
// journal was a chain.
func headOf(t *testing.T, s stores.Store) string {
	t.Helper()
	if err := s.Seal(context.Background()); err != nil {
		t.Fatal(err)
	}
	seq, hash, err := s.Head(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %x", seq, hash)
}

// sitters are desks of everybody at one engine, which stands at one instant.
func sitters(ctx context.Context, s stores.Store, reg *verbs.Registry, at time.Time) (tess, theo, mara *desk, err error) {
	e, err := engine.New(reg, s, engine.Options{Clock: func() time.Time { return at }})
	if err != nil {
		return nil, nil, nil, err
	}
	var all [3]*desk
	for i, who := range []string{"tess", "theo", "mara"} {
		session, err := e.Session(ctx, who)
		if err != nil {
			return nil, nil, nil, err
		}
		all[i] = &desk{session, e}
	}
	return all[0], all[1], all[2], nil
}

// perform does scripts of every kind, and returns them.
func perform(ctx context.Context, tess, mara *desk, scripts int, name string) (all []keyed, err error) {
	for from := newStream(1, name); from.n < scripts; {
		sc := from.take(true)
		if sc.big {
			_, err = tess.propose(ctx, mara, sc)
		} else {
			_, err = tess.do(ctx, sc.text, sc.tag)
		}
		if err != nil {
			return nil, fmt.Errorf("script %s: %w", sc.tag, err)
		}
		all = append(all, keyed{sc.tag, sc.text})
	}
	return all, nil
}

// leave makes what a format leaves behind, in a bank in which nothing happened yet, and
// closes it.
func leave(t *testing.T, address string) kept {
	t.Helper()
	ctx := context.Background()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	s, err := open(ctx, address)
	must(err)
	defer s.Close()
	reg, err := registry()
	must(err)
	k := kept{At: time.Date(2026, 6, 1, 9, 30, 0, 0, time.UTC), Due: time.Date(2026, 6, 3, 0, 0, 0, 0, time.UTC), Then: "then/1", Names: map[string]string{}}
	tess, theo, mara, err := sitters(ctx, s, reg, k.At)
	must(err)
	k.Scripts, err = perform(ctx, tess, mara, 14, "kept")
	must(err)
	do := func(key, text string) {
		t.Helper()
		_, err := tess.do(ctx, text, key)
		must(err)
		k.Scripts = append(k.Scripts, keyed{key, text})
	}
	do("whisper/1", `bank.whisper :account-id @acc1 :secret "an old debt" :tag "whisper/1" :part 1`)
	for i := range 2 {
		tag := fmt.Sprintf("alike%d/1", i)
		do(tag, `bank.write :account-id @acc1 :text "alike" :tag "`+tag+`" :part 1`)
	}
	names, err := tess.Names().All(ctx, []*verbs.Entity{reg.Entity("note")})
	must(err)
	for _, name := range names[reg.Entity("note")] {
		if strings.HasPrefix(strings.TrimPrefix(name, "@"), "alike~") {
			_, key, err := tess.Names().Find(ctx, "@"+strings.TrimPrefix(name, "@"))
			must(err)
			k.Names["@"+strings.TrimPrefix(name, "@")] = key.Text()
		}
	}
	if len(k.Names) != 2 {
		t.Fatalf("two rows of one plain name are called %v", names)
	}
	do("mark/1", `bank.mark :note-id `+sorted(k.Names)[0]+` :tag "mark/1" :part 1`)
	do("later/1", `bank.write-on :account-id @acc2 :on 2026-06-03 :tag "later/1" :part 1 :then "`+k.Then+`"`)

	talk, err := tess.engine.Visit(ctx, "tess", engine.Visit{Name: "talk", Language: "de"})
	must(err)
	tidy := &desk{talk, tess.engine}
	p, err := tidy.program(`bank.tidy :account-id @acc3 :tag "asked/1" :part 1`)
	must(err)
	preview, err := talk.Keep(ctx, p, engine.RunOptions{Source: "talk"})
	must(err)
	k.Question, k.Turns = preview.ID, []string{"Räum bei acc3 auf", "Soll ich?"}
	_, err = talk.Turns().Say(ctx, sessions.Said{Role: sessions.Client, Content: k.Turns[0]}, sessions.Said{Role: sessions.Agent, Content: k.Turns[1],
		Puts: []sessions.Question{{Preview: preview.ID, Asked: k.At, Until: k.At.Add(time.Hour), Source: "talk", About: `{"title":"tidy"}`, Program: p}}})
	must(err)

	k.Preview.Text = `bank.tidy :account-id @acc4 :tag "shown/1" :part 1`
	p, err = theo.program(k.Preview.Text)
	must(err)
	preview, err = theo.Keep(ctx, p)
	must(err)
	k.Preview.Key = preview.ID

	k.Waiting = keyed{"pending/1", `bank.move :from-id @acc5 :to-id @acc6 :amount 501 :tag "pending/1" :part 1`}
	p, err = tess.program(k.Waiting.Text)
	must(err)
	pending, err := tess.Propose(ctx, p, engine.RunOptions{Key: k.Waiting.Key})
	must(err)
	k.Pending = pending.ID
	k.Head = headOf(t, s)
	return k
}

// stillGood says what of a store that was kept can no longer be done, and how many
// entries its journal has.
func stillGood(t *testing.T, kind releaseKind, dir string) (entries int, err error) {
	ctx := context.Background()
	reg, ds := load.Dir(os.DirFS(filepath.Join(dir, "palettes")))
	if ds.HasErrors() {
		return 0, errors.New(told(ds))
	}
	var k kept
	known, err := os.ReadFile(filepath.Join(dir, kind.name, "kept.json"))
	if err == nil {
		err = json.Unmarshal(known, &k)
	}
	if err != nil {
		return 0, err
	}
	zipped, err := os.Open(filepath.Join(dir, kind.name, kind.file))
	if err != nil {
		return 0, err
	}
	defer zipped.Close()
	z, err := gzip.NewReader(zipped)
	if err != nil {
		return 0, err
	}
	image, err := io.ReadAll(z)
	if err != nil {
		return 0, err
	}
	s := kind.restore(t, image)
	if plan, err := s.Migrate(ctx, tables(reg), true); err != nil || len(plan.Problems) > 0 {
		return 0, fmt.Errorf("migrate: %v %v", err, plan.Problems)
	}
	if got := headOf(t, s); got != k.Head {
		return 0, fmt.Errorf("the journal ends with %q, and ended with %q", got, k.Head)
	}
	// A database knows that it came of a dump, and what waits in it would be asked anew: it is kept here.
	if err := s.Settle(ctx); err != nil {
		return 0, err
	}
	tess, theo, mara, err := sitters(ctx, s, reg, k.At.Add(time.Minute))
	if err != nil {
		return 0, err
	}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"keys", func() error { return k.repeats(ctx, tess) }},
		{"names", func() error { return k.names(ctx, tess) }},
		{"session", func() error { return k.session(ctx, tess.engine) }},
		{"preview", func() error {
			p, err := theo.program(k.Preview.Text)
			if err == nil {
				_, err = theo.Run(ctx, p, engine.RunOptions{Agreed: k.Preview.Key})
			}
			return err
		}},
		{"confirmation", func() error {
			if _, _, err := mara.Agree(ctx, k.Pending); err != nil {
				return err
			}
			k.Scripts = append(k.Scripts, k.Waiting)
			return k.repeats(ctx, tess)
		}},
		{"work", func() error { return k.works(ctx, s, reg) }},
		{"more work", func() error {
			_, err := perform(ctx, tess, mara, 6, "more")
			return err
		}},
	} {
		v, err := judgeBy(ctx, s, reg)
		if err == nil && len(v.wrongs) > 0 {
			err = errors.New(strings.Join(v.wrongs, "; "))
		}
		if err != nil {
			return entries, fmt.Errorf("before %s: %w", step.name, err)
		}
		if err := step.do(); err != nil {
			return v.entries, fmt.Errorf("%s: %w", step.name, err)
		}
	}
	v, err := judgeBy(ctx, s, reg)
	if err != nil {
		return entries, err
	}
	for _, tag := range []string{"asked/1", "shown/1", k.Waiting.Key, k.Then} {
		if v.done[tag] != 1 {
			v.say("what waited as %s was not done", tag)
		}
	}
	if len(v.wrongs) > 0 {
		err = fmt.Errorf("after all: %s", strings.Join(v.wrongs, "; "))
	}
	return v.entries, err
}

// repeats sends every script again under its key: it is written as it was, and answered
// with the receipt that was kept.
func (k *kept) repeats(ctx context.Context, tess *desk) error {
	for _, sc := range k.Scripts {
		script, ds := dsl.Parse(dsl.NewSource("bank.dsl", sc.Text))
		if ds.HasErrors() {
			return errors.New(told(ds))
		}
		r, err := tess.Journal().Repeat(ctx, script, sc.Key)
		if err != nil || r == nil || !r.Repeated || len(r.Calls) != len(script.Calls) || !r.Done {
			return fmt.Errorf("%s is answered with %+v, %v", sc.Key, r, err)
		}
	}
	return nil
}

func (k *kept) names(ctx context.Context, tess *desk) error {
	for _, name := range sorted(k.Names) {
		if _, key, err := tess.Names().Find(ctx, name); err != nil || key.Text() != k.Names[name] {
			return fmt.Errorf("%s is %v, and was %s: %v", name, key, k.Names[name], err)
		}
	}
	return nil
}

// session goes on with the session. X11: it is as it was left, and its question is
// answered once.
func (k *kept) session(ctx context.Context, e *engine.Engine) error {
	talk, err := e.Visit(ctx, "tess", engine.Visit{Name: "talk", Existing: true})
	if err != nil {
		return err
	}
	turns, err := talk.Turns().Between(ctx, 1, 0)
	if err != nil || len(turns) != len(k.Turns) || talk.Person().Language != "de" {
		return fmt.Errorf("there are the turns %+v, %v", turns, err)
	}
	for i := range turns {
		if turns[i].Content != k.Turns[i] {
			return fmt.Errorf("turn %d says %q", i+1, turns[i].Content)
		}
	}
	all, _, err := talk.Turns().Waiting(ctx)
	if err != nil || len(all) != 1 || all[0].Preview != k.Question || !all[0].Last {
		return fmt.Errorf("there are the questions %+v, %v", all, err)
	}
	p, err := talk.Turns().Recall(ctx, &all[0])
	if err != nil {
		return err
	}
	o := engine.RunOptions{Agreed: k.Question, Source: "talk", Said: []sessions.Said{{Role: sessions.Client, Content: "ja", Settles: []string{k.Question}}}}
	if _, err := talk.Run(ctx, p, o); err != nil {
		return err
	}
	if all, n, err := talk.Turns().Waiting(ctx); err != nil || len(all) > 0 || n != int64(len(k.Turns))+1 {
		return fmt.Errorf("there are %d turns and the questions %+v, %v", n, all, err)
	}
	return nil
}

// works does the work that waits, at its time and not before.
func (k *kept) works(ctx context.Context, s stores.Store, reg *verbs.Registry) error {
	for _, look := range []struct {
		at   time.Time
		want []string
	}{
		{k.Due.Add(-time.Second), nil},
		{k.Due, []string{engine.WorkDone + " bank.write"}},
		{k.Due.AddDate(0, 1, 0), nil},
	} {
		e, err := engine.New(reg, s, engine.Options{Clock: func() time.Time { return look.at }})
		if err != nil {
			return err
		}
		runs, err := storetest.Take(ctx, s, look.at, "release", 100, engine.JobKinds()...)
		if err != nil {
			return err
		}
		var did []string
		for _, run := range runs {
			done, err := e.Work(ctx, run)
			if err != nil {
				return err
			}
			if run.Kind == engine.JobCall {
				did = append(did, done.Outcome+" "+done.Verb)
			}
		}
		if !slices.Equal(did, look.want) {
			return fmt.Errorf("at %s it did %q", look.at, did)
		}
	}
	notices, err := storetest.Take(ctx, s, k.Due, "release", 1000, engine.JobNotice)
	for i := range notices {
		if m, err := engine.ReadMessage(&notices[i].Job); err != nil || m.Target != "auditor" || m.Body == "" {
			return fmt.Errorf("a notice is read as %+v, %v", m, err)
		}
	}
	if err == nil && len(notices) == 0 {
		err = errors.New("no notice waits")
	}
	return err
}
