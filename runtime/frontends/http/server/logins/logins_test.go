package logins_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/sqlite"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// A clock is moved by hand.
type clock struct{ at atomic.Pointer[time.Time] }

func newClock() *clock {
	c := &clock{}
	c.set(time.Date(2024, 12, 27, 9, 0, 0, 0, time.UTC))
	return c
}
func (c *clock) now() time.Time       { return *c.at.Load() }
func (c *clock) set(t time.Time)      { c.at.Store(&t) }
func (c *clock) add(d time.Duration)  { c.set(c.now().Add(d)) }
func own() []*stores.Entity           { return append(logins.Own(), sessions.Budgets) }
func is(err, want error) (wrong bool) { return !errors.Is(err, want) }

// both runs a test on both stores, with two books that share one: two processes.
func both(t *testing.T, test func(t *testing.T, one, two *logins.Book, c *clock)) {
	run := func(t *testing.T, open func() stores.Store) {
		t.Parallel()
		c := newClock()
		book := func() *logins.Book {
			s := open()
			t.Cleanup(func() { s.Close() })
			return &logins.Book{Store: s, Clock: c.now}
		}
		test(t, book(), book(), c)
	}
	ctx := context.Background()
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "logins.db")
		s, err := sqlite.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Migrate(ctx, own(), true); err != nil {
			t.Fatal(err)
		}
		s.Close()
		run(t, func() stores.Store {
			s, err := sqlite.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			return s
		})
	})
	t.Run("postgres", func(t *testing.T) {
		db := pgtest.Database(t)
		migrated, err := postgres.Open(ctx, db.App, postgres.MigrateAs(db.Owner))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := migrated.Migrate(ctx, own(), true); err != nil {
			t.Fatal(err)
		}
		migrated.Close()
		run(t, func() stores.Store {
			s, err := postgres.Open(ctx, db.App)
			if err != nil {
				t.Fatal(err)
			}
			return s
		})
	})
}

// SAFE-H8: who signs in with one process is known to another, and is nobody to both as
// soon as one has ended it.
func TestALoginIsSharedByProcesses(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, one, two *logins.Book, c *clock) {
		ctx := t.Context()
		secret, err := one.Begin(ctx, "clara", "link")
		if err != nil {
			t.Fatal(err)
		}
		l, err := two.Find(ctx, secret)
		if err != nil || l.Principal != "clara" || l.How != "link" || !l.Proven.Equal(c.now()) {
			t.Fatalf("%+v %v", l, err)
		}
		if strings.Contains(l.ID, secret) || len(secret) < 43 {
			t.Errorf("the secret %q is what is kept, or short", secret)
		}
		if _, err := two.Find(ctx, l.ID); is(err, logins.ErrOver) {
			t.Errorf("somebody is signed in by what is kept: %v", err)
		}
		other, _ := one.Begin(ctx, "clara", "oidc")
		if all, err := two.List(ctx, "clara"); err != nil || len(all) != 2 {
			t.Fatalf("%+v %v", all, err)
		}
		if err := two.EndOne(ctx, "jonas", l.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := one.Find(ctx, secret); err != nil {
			t.Errorf("jonas ended clara's login: %v", err)
		}
		if err := two.EndOne(ctx, "clara", l.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := one.Find(ctx, secret); is(err, logins.ErrOver) {
			t.Errorf("it goes on after it was ended: %v", err)
		}
		if err := one.End(ctx, other); err != nil {
			t.Errorf("ending it twice: %v", err)
		}
	})
}

// A login ends when nobody was there for an hour, and twelve hours after it began
// whoever was there.
func TestALoginEndsByItself(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, one, two *logins.Book, c *clock) {
		ctx := t.Context()
		left, _ := one.Begin(ctx, "clara", "link")
		used, _ := one.Begin(ctx, "clara", "link")
		begun := c.now()
		for c.now().Sub(begun) < logins.Longest-30*time.Minute {
			c.add(30 * time.Minute)
			l, err := two.Find(ctx, used)
			if c.now().Sub(begun) < logins.Longest && err != nil {
				t.Fatalf("after %s: %v", c.now().Sub(begun), err)
			}
			if l.Ends.After(begun.Add(logins.Longest)) {
				t.Fatalf("it lasts until %s", l.Ends)
			}
		}
		if _, err := one.Find(ctx, left); is(err, logins.ErrOver) {
			t.Errorf("nobody was there, and it goes on: %v", err)
		}
		c.add(30 * time.Minute)
		if _, err := one.Find(ctx, used); is(err, logins.ErrOver) {
			t.Errorf("it goes on after %s: %v", logins.Longest, err)
		}
		if err := one.Housekeep(ctx); err != nil {
			t.Fatal(err)
		}
		c.set(begun)
		if _, err := two.Find(ctx, used); is(err, logins.ErrOver) {
			t.Errorf("it is still kept: %v", err)
		}
	})
}

// Many requests of one browser at once are all of somebody who is signed in, also when
// it is time to note that they are there.
func TestManyAreNoticedAtOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, one, two *logins.Book, c *clock) {
		ctx := t.Context()
		secret, _ := one.Begin(ctx, "clara", "link")
		for range 5 {
			c.add(10 * time.Minute)
			var all sync.WaitGroup
			for i := range 16 {
				book := []*logins.Book{one, two}[i%2]
				all.Go(func() {
					if _, err := book.Find(ctx, secret); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		}
	})
}

// SAFE-H8: a link is good once, for fifteen minutes, in the browser that asked.
func TestALinkIsGoodOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, one, two *logins.Book, c *clock) {
		ctx := t.Context()
		link, err := one.Link(ctx, "clara", logins.Digest("browser"), logins.Link)
		if err != nil {
			t.Fatal(err)
		}
		for _, browser := range []string{"", "another"} {
			if _, _, err := two.Use(ctx, link, browser, "link"); is(err, logins.ErrOver) {
				t.Errorf("browser %q: %v", browser, err)
			}
		}
		var good, over atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			book := []*logins.Book{one, two}[i%2]
			all.Go(func() {
				switch secret, who, err := book.Use(ctx, link, "browser", "link"); {
				case err == nil && who == "clara" && secret != "":
					good.Add(1)
				case errors.Is(err, logins.ErrOver):
					over.Add(1)
				default:
					t.Errorf("%q %v", who, err)
				}
			})
		}
		all.Wait()
		if good.Load() != 1 || over.Load() != 7 {
			t.Errorf("it was good %d times and over %d times", good.Load(), over.Load())
		}
		if list, err := two.List(ctx, "clara"); err != nil || len(list) != 1 {
			t.Errorf("%d logins, %v", len(list), err)
		}
		late, _ := one.Link(ctx, "clara", logins.Digest("browser"), logins.Link)
		c.add(logins.Link)
		if _, _, err := two.Use(ctx, late, "browser", "link"); is(err, logins.ErrOver) {
			t.Errorf("it is good after %s: %v", logins.Link, err)
		}
	})
}

// SAFE-R11: a clock that is set back by a day gives no login and no link a day more, and nobody has to
// wait a day for what they may ask; one that is set back by a minute ends nothing.
func TestAClockIsSetBack(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, one, two *logins.Book, c *clock) {
		ctx := t.Context()
		login, err := one.Begin(ctx, "clara", "link")
		if err != nil {
			t.Fatal(err)
		}
		minute, _ := one.Link(ctx, "clara", "", logins.Link)
		link, _ := one.Link(ctx, "clara", "", logins.Link)
		if n, err := one.Lease(ctx, "clara", 10, 10, 1); err != nil || n != 10 {
			t.Fatal(n, err)
		}
		c.add(-time.Minute)
		if _, err := two.Find(ctx, login); err != nil {
			t.Errorf("a minute back, a login: %v", err)
		}
		if _, _, err := two.Use(ctx, minute, "", "link"); err != nil {
			t.Errorf("a minute back, a link: %v", err)
		}
		if n, err := two.Lease(ctx, "clara", 10, 10, 1); err != nil || n != 0 {
			t.Errorf("a minute back, %d more may be asked: %v", n, err)
		}
		// Nothing is gained twice where a clock is behind and another is not.
		for _, ask := range []struct {
			after time.Duration
			n     int64
		}{{time.Minute, 5}, {-30 * time.Second, 5}, {30 * time.Second, 0}} {
			c.add(ask.after)
			if n, err := two.Lease(ctx, "jonas", 5, 10, 1); err != nil || n != ask.n {
				t.Errorf("%s on, jonas may ask %d more, want %d: %v", ask.after, n, ask.n, err)
			}
		}
		c.add(-24 * time.Hour)
		if _, err := two.Find(ctx, login); is(err, logins.ErrOver) {
			t.Errorf("a day back, a login: %v", err)
		}
		if _, _, err := two.Use(ctx, link, "", "link"); is(err, logins.ErrOver) {
			t.Errorf("a day back, a link: %v", err)
		}
		first, err := two.Lease(ctx, "clara", 10, 10, 1)
		c.add(20 * time.Second)
		if again, err2 := two.Lease(ctx, "clara", 10, 10, 1); err != nil || err2 != nil || first+again == 0 || first+again > 10 {
			t.Errorf("a day back, %d may be asked, and then %d: %v %v", first, again, err, err2)
		}
		fresh, _ := one.Begin(ctx, "clara", "link")
		if _, err := two.Find(ctx, fresh); err != nil {
			t.Errorf("who signs in now: %v", err)
		}
	})
}

// What a client may ask is one bucket for all processes: they draw from it at the same time, and it never
// gives more than it held and gained since.
func TestProcessesDrawFromOneBucket(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, one, two *logins.Book, c *clock) {
		ctx := t.Context()
		var given atomic.Int64
		draw := func(times int) {
			var all sync.WaitGroup
			for i := range times {
				all.Go(func() {
					got, err := []*logins.Book{one, two}[i%2].Lease(ctx, "from 192.0.2.1", 7, 50, 10)
					if err != nil && !errors.Is(err, stores.ErrConflict) && !errors.Is(err, stores.ErrDuplicate) {
						t.Error(err)
					}
					given.Add(got)
				})
			}
			all.Wait()
		}
		takes := func(want int64) {
			t.Helper()
			for range 20 {
				if draw(2); given.Load() >= want {
					break
				}
			}
			draw(4)
			if got := given.Swap(0); got != want {
				t.Errorf("%d were given, and not %d", got, want)
			}
		}
		takes(50)
		c.add(time.Second)
		takes(10)
		c.add(time.Hour)
		takes(50) // it holds no more
		if got, err := one.Lease(ctx, "from 192.0.2.2", 7, 50, 10); err != nil || got != 7 {
			t.Errorf("another client is given %d: %v", got, err)
		}
		c.add(-time.Minute) // a process that is behind neither fills nor empties it
		takes(0)
		if got, err := two.Lease(ctx, "from 192.0.2.2", 7, 50, 10); err != nil || got != 7 {
			t.Errorf("a process that is behind is given %d: %v", got, err)
		}
	})
}

// SAFE-H8: what was tried is counted for all processes together, and anew in the next
// period.
func TestAttemptsAreCountedTogether(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, one, two *logins.Book, c *clock) {
		ctx := t.Context()
		let := 0
		for i := range 8 {
			err := []*logins.Book{one, two}[i%2].Try(ctx, "link", "clara", 5, time.Minute)
			if err == nil {
				let++
			} else if is(err, logins.ErrTooMany) {
				t.Fatal(err)
			}
		}
		if let != 5 {
			t.Errorf("%d were let through, 5 are allowed", let)
		}
		if err := two.Try(ctx, "link", "jonas", 5, time.Minute); err != nil {
			t.Errorf("clara's attempts count for jonas: %v", err)
		}
		c.add(time.Minute)
		if err := two.Try(ctx, "link", "clara", 5, time.Minute); err != nil {
			t.Errorf("a minute later: %v", err)
		}
	})
}
