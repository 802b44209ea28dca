package intake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/files"
	"verbatim/stores/sqlite"
	"verbatim/verbs/load"
)

// An office is a service on a real file and a real directory, with a scanner that
// speaks clamd's protocol. Kim and sam keep papers, ray only reads.
type office struct {
	t testing.TB
	*Service
	scanning *scanning
	disk     *files.Dir

	mu  sync.Mutex
	now time.Time
}

func newOffice(t testing.TB) *office {
	t.Helper()
	ctx := context.Background()
	reg, ds := load.Dir(os.DirFS("testdata"))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "filing.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	all := engine.Own()
	for _, e := range reg.Entities() {
		all = append(all, e.Store)
	}
	if plan, err := store.Migrate(ctx, all, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(err, plan.Problems)
	}
	for name, role := range map[string]string{"kim": "keeper", "sam": "keeper", "ray": "reader"} {
		if err := store.SetPrincipal(ctx, stores.Principal{Name: name, Roles: []string{role}}); err != nil {
			t.Fatal(err)
		}
	}
	o := &office{t: t, now: time.Date(2025, 1, 3, 10, 0, 0, 0, time.UTC)}
	engine, err := engine.New(reg, store, engine.Options{Clock: o.clock})
	if err != nil {
		t.Fatal(err)
	}
	if o.disk, err = files.OpenDir(filepath.Join(t.TempDir(), "files")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.disk.Close() })
	var clamd *Clamav
	o.scanning, clamd = scanner(t, "tcp")
	o.Service = &Service{Engine: engine, Files: o.disk, Scanner: clamd, Clock: o.clock}
	return o
}

func (o *office) clock() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now
}

func (o *office) later(d time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now = o.now.Add(d)
}

func (o *office) session(who string) *engine.Session {
	o.t.Helper()
	s, err := o.Engine.Session(context.Background(), who)
	if err != nil {
		o.t.Fatal(err)
	}
	return s
}

func (o *office) sends(who, body string) uploads.Upload {
	o.t.Helper()
	u, err := o.Receive(context.Background(), o.session(who), "a.txt", strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	return u
}

// files counts what the directory holds.
func (o *office) files() int {
	o.t.Helper()
	list, err := o.disk.List(context.Background(), files.Name{}, 1000)
	if err != nil {
		o.t.Fatal(err)
	}
	return len(list)
}

// uses runs the one verb, and returns the code that it earns.
func (o *office) uses(who, reference string) string {
	o.t.Helper()
	s := o.session(who)
	script, _ := dsl.Parse(dsl.NewSource("t.dsl", fmt.Sprintf("filing.file :paper %q", reference)))
	p, ds := s.Check(context.Background(), script)
	if ds.HasErrors() {
		o.t.Fatal(ds)
	}
	_, err := s.Run(context.Background(), p, engine.RunOptions{})
	var refused *engine.Refusal
	if err != nil && !errors.As(err, &refused) {
		o.t.Fatal(err)
	}
	if err == nil {
		return ""
	}
	return refused.Diagnostics[0].Code
}

func (o *office) keeps() Housekept {
	o.t.Helper()
	t, err := o.Housekeep(context.Background())
	if err != nil {
		o.t.Fatal(err)
	}
	return t
}

func TestReceive(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	u, err := o.Receive(context.Background(), o.session("kim"), "../My\x00 letter.pdf", strings.NewReader("%PDF-1.7 and so on"))
	if err != nil {
		t.Fatal(err)
	}
	if u.Name != "My letter.pdf" || u.Type != "application/pdf" || u.Size != 18 || u.Owner != "kim" || u.Verdict != uploads.Clean || u.Scanner != "clamd" || len(u.ID) != 32 {
		t.Fatalf("%+v", u)
	}
	if string(o.scanning.seen) != "%PDF-1.7 and so on" {
		t.Errorf("the scanner saw %q", o.scanning.seen)
	}
	name, err := nameOf(u)
	if err != nil {
		t.Fatal(err)
	}
	r, err := o.disk.Open(context.Background(), name, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if body, err := io.ReadAll(r); err != nil || string(body) != "%PDF-1.7 and so on" {
		t.Errorf("%q %v", body, err)
	}
	if got := o.uses("kim", u.Reference()); got != "" {
		t.Error(got)
	}
	if got := o.uses("sam", u.Reference()); got != "unknown-upload" {
		t.Error(got)
	}
}

// What is not taken leaves neither bytes nor a row.
func TestReceiveRefuses(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	broken := errors.New("line cut")
	for _, c := range []struct {
		who, code string
		body      io.Reader
	}{
		{"kim", CodeEmpty, strings.NewReader("")},
		{"kim", CodeTooLarge, bytes.NewReader(make([]byte, 100_001))},
		{"ray", CodeNotPermitted, strings.NewReader("x")},
		{"kim", "", io.MultiReader(strings.NewReader("x"), iotest.ErrReader(broken))},
	} {
		_, err := o.Receive(context.Background(), o.session(c.who), "a", c.body)
		var refused *Refusal
		if errors.As(err, &refused); (refused == nil) != (c.code == "") || refused != nil && (refused.Code != c.code || refused.Next == "") || err == nil {
			t.Errorf("%s: %v", c.code, err)
		}
	}
	if n := o.files(); n != 0 {
		t.Errorf("%d files", n)
	}
	if _, err := o.Receive(context.Background(), o.session("kim"), "a", bytes.NewReader(make([]byte, 100_000))); err != nil {
		t.Errorf("to the byte: %v", err)
	}
	o.Scanner = nil
	if _, err := o.Receive(context.Background(), o.session("kim"), "a", strings.NewReader("x")); err == nil {
		t.Error("nobody said that nobody scans")
	}
}

// What is harmful cannot be used, and its bytes go.
func TestReceiveHarmful(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	u := o.sends("kim", eicar)
	if u.Verdict != uploads.Infected || o.uses("kim", u.Reference()) != "upload-harmful" {
		t.Fatalf("%+v", u)
	}
	if got := o.keeps(); got.Freed != 1 || o.files() != 0 {
		t.Fatalf("%+v", got)
	}
	if got := o.uses("kim", u.Reference()); got != "upload-harmful" {
		t.Error(got)
	}
}

// Where the scanner is in trouble, the file waits and cannot be used; when the
// scanner is back, it can.
func TestScannerInTrouble(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.scanning.makes(func(net.Conn) {})
	good, err := o.Receive(context.Background(), o.session("kim"), "a", strings.NewReader("good"))
	if err == nil || good.Verdict != uploads.Failed {
		t.Fatal(good, err)
	}
	bad, err := o.Receive(context.Background(), o.session("kim"), "a", strings.NewReader(eicar))
	if err == nil || bad.Verdict != uploads.Failed {
		t.Fatal(bad, err)
	}
	for _, u := range []uploads.Upload{good, bad} {
		if got := o.uses("kim", u.Reference()); got != "upload-not-scanned" {
			t.Error(got)
		}
	}
	o.later(time.Hour)
	if got, err := o.Housekeep(context.Background()); err == nil || got.Judged[uploads.Failed] != 2 {
		t.Fatal(got, err)
	}
	o.scanning.makes(nil)
	if got := o.keeps(); got.Judged[uploads.Clean] != 1 || got.Judged[uploads.Infected] != 1 {
		t.Fatal(got)
	}
	if o.uses("kim", good.Reference()) != "" || o.uses("kim", bad.Reference()) != "upload-harmful" {
		t.Error("the verdicts do not count")
	}
}

// A sender that goes away while the file is scanned leaves a file that waits.
func TestSenderGoesAway(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	ctx, cancel := context.WithCancel(context.Background())
	o.scanning.makes(func(net.Conn) { cancel(); <-ctx.Done() })
	u, err := o.Receive(ctx, o.session("kim"), "a", strings.NewReader("x"))
	if !errors.Is(err, context.Canceled) || u.Verdict != uploads.Pending || o.uses("kim", u.Reference()) != "upload-not-scanned" {
		t.Fatal(u, err)
	}
	o.scanning.makes(nil)
	if got := o.keeps(); len(got.Judged) != 0 {
		t.Errorf("one that may be on its way is judged by others: %v", got)
	}
	o.later(time.Hour)
	if o.keeps(); o.uses("kim", u.Reference()) != "" {
		t.Error("it was not judged later")
	}
}

// A file whose bytes were lost is never found harmless, and goes in the end.
func TestBytesAreLost(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.scanning.makes(func(net.Conn) {})
	u, err := o.Receive(context.Background(), o.session("kim"), "a", strings.NewReader("x"))
	if err == nil {
		t.Fatal("it was judged")
	}
	o.scanning.makes(nil)
	if err := o.drop(context.Background(), u); err != nil {
		t.Fatal(err)
	}
	o.later(time.Hour)
	if got, err := o.Housekeep(context.Background()); !errors.Is(err, files.ErrNotFound) || got.Judged[uploads.Failed] != 1 {
		t.Fatal(got, err)
	}
	if got := o.uses("kim", u.Reference()); got != "upload-not-scanned" {
		t.Fatal(got)
	}
	// Who sends the same bytes has them, though there was a row that had none.
	if again := o.sends("sam", "x"); o.uses("sam", again.Reference()) != "" || o.files() != 1 {
		t.Fatal("they are still lost")
	}
	o.later(7 * 24 * time.Hour)
	if got := o.keeps(); got.Expired != 1 {
		t.Fatalf("%+v", got)
	}
}

// The same bytes of two people are one file; what one of them does or lets go
// changes nothing for the other; and both are told the same.
func TestSameBytesOfTwoPeople(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	kim, sam := o.sends("kim", "the same"), o.sends("sam", "the same")
	if kim.Kept != sam.Kept || kim.ID == sam.ID || o.files() != 1 {
		t.Fatalf("%+v %+v, %d files", kim, sam, o.files())
	}
	kim.ID, kim.Owner, sam.ID, sam.Owner = "", "", "", ""
	if !reflect.DeepEqual(kim, sam) {
		t.Errorf("they are told %+v and %+v", kim, sam)
	}
	again := o.sends("kim", "the same")
	if got := o.uses("kim", again.Reference()); got != "" {
		t.Fatal(got)
	}
	o.later(8 * 24 * time.Hour)
	if got := o.keeps(); got.Expired != 2 || got.Freed != 0 || o.files() != 1 {
		t.Fatalf("%+v", got)
	}
}

// What nobody used goes with its bytes, and what somebody used stays.
func TestHousekeep(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	used, unused := o.sends("kim", "used"), o.sends("kim", "unused")
	if got := o.uses("kim", used.Reference()); got != "" {
		t.Fatal(got)
	}
	if got := o.keeps(); got.Expired != 0 || got.Freed != 0 {
		t.Fatalf("%+v", got)
	}
	o.later(7 * 24 * time.Hour)
	if got := o.keeps(); got.Expired != 1 || got.Freed != 1 || got.Bytes != 6 || o.files() != 1 {
		t.Fatalf("%+v", got)
	}
	if got := o.uses("kim", unused.Reference()); got != "unknown-upload" {
		t.Error(got)
	}
	if got := o.uses("kim", used.Reference()); got != "" {
		t.Error(got)
	}
	// A store that does not delete is asked again.
	o.sends("kim", "more")
	o.later(7 * 24 * time.Hour)
	full := errors.New("read-only")
	o.Files = &failing{Store: o.disk, err: full}
	if _, err := o.Housekeep(context.Background()); !errors.Is(err, full) {
		t.Fatal(err)
	}
	// The same bytes come just then: they are kept, and stay.
	o.Files = o.disk
	anew := o.sends("kim", "more")
	if got := o.keeps(); got.Freed != 0 || o.uses("kim", anew.Reference()) != "" || o.files() != 2 {
		t.Fatalf("%+v, %d files", got, o.files())
	}
}

type failing struct {
	files.Store
	err error
}

func (f *failing) Delete(context.Context, files.Name) error { return f.err }

func (f *failing) Take(ctx context.Context, r io.Reader, limit int64) (*files.Taken, error) {
	return f.Store.Take(ctx, io.MultiReader(r, iotest.ErrReader(f.err)), limit)
}

// Senders and housekeepers at once: whoever is told that their file is clean can
// use it, and finds its bytes, until the end.
func TestSendersAndHousekeepers(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	ctx := context.Background()
	var group, sweepers sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		sweepers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if _, err := o.Housekeep(ctx); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for i := range 3 {
		group.Go(func() {
			s := o.session([]string{"kim", "sam", "kim"}[i])
			for j := range 8 {
				body := []string{"a", "b", eicar}[(i+j)%3]
				u, err := o.Receive(ctx, s, "x", strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				if u.Verdict != uploads.Clean {
					continue
				}
				if got := o.uses(u.Owner, u.Reference()); got != "" {
					t.Errorf("%s: %s", u.ID, got)
				}
				name, _ := nameOf(u)
				if _, err := o.disk.Stat(ctx, name); err != nil {
					t.Errorf("its bytes: %v", err)
				}
			}
		})
	}
	group.Wait()
	close(stop)
	sweepers.Wait()
	o.keeps()
	if n := o.files(); n != 2 {
		t.Errorf("%d files of two are left", n)
	}
}

// SAFE-H7: what was taken while nobody looked is scanned once somebody does, in use or not,
// and what is harmful is let go of.
func TestHousekeepLooksAtWhatNobodyLookedAt(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	clamd := o.Scanner
	o.Scanner = NoScanner
	good, bad := o.sends("kim", "a letter"), o.sends("kim", eicar)
	for _, u := range []uploads.Upload{good, bad} {
		if got := o.uses("kim", u.Reference()); got != "" {
			t.Fatal(got)
		}
	}
	o.later(time.Hour)
	if got := o.keeps(); len(got.Judged) != 0 {
		t.Fatalf("%+v", got)
	}
	o.Scanner = clamd
	if got := o.keeps(); got.Judged[uploads.Clean] != 1 || got.Judged[uploads.Infected] != 1 || got.Freed != 1 {
		t.Fatalf("%+v", got)
	}
	if got := o.uses("kim", good.Reference()); got != "" {
		t.Error(got)
	}
	if got := o.uses("kim", bad.Reference()); got != "upload-harmful" {
		t.Error(got)
	}
	if got := o.keeps(); len(got.Judged) != 0 {
		t.Errorf("it was looked at twice: %+v", got)
	}
}
