package torture

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/runtime"
	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
)

var keepAs = flag.String("keep", "", "keep a store of today's as that of the release `NAME`")

const releases = "testdata/releases"

// SAFE-R10: what every release left behind is opened, migrated, verified entry
// by entry, replayed and worked with. A store of today's is among them, so that
// the way they are kept is itself tested.
func TestStoresOfEveryRelease(t *testing.T) {
	t.Parallel()
	y := begin(t, "SAFE-R10", "stores of every release", "entries")
	today := t.TempDir()
	if err := keepRelease(today); err != nil {
		t.Fatal(err)
	}
	if *keepAs != "" {
		dir := filepath.Join(releases, *keepAs)
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%s is there already, and is never changed", dir)
		}
		if err := keepRelease(dir); err != nil {
			t.Fatal(err)
		}
	}
	dirs, err := filepath.Glob(filepath.Join(releases, "*"))
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, dir := range append(dirs, today) {
		if strings.HasSuffix(dir, "README.md") {
			continue
		}
		kept++
		n, err := stillGood(t, dir)
		if err != nil {
			y.wrong("%s: %v", filepath.Base(dir), err)
		}
		y.try(n)
	}
	y.remark("%d stores", kept)
}

// keepRelease makes what a release leaves behind.
func keepRelease(dir string) error {
	ctx := context.Background()
	image, err := pristine()
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	path := filepath.Join(tmp, "bank.db")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		return err
	}
	head := ""
	err = func() error {
		s, err := sqlite.Open(path)
		if err != nil {
			return err
		}
		defer s.Close()
		if err := work(ctx, s, nil, 14, "kept"); err != nil {
			return err
		}
		entries, err := s.Journal(ctx, 1, 0)
		if err != nil {
			return err
		}
		head = headOf(entries)
		return nil
	}()
	if err != nil {
		return err
	}
	if image, err = os.ReadFile(path); err != nil {
		return err
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(image); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	palette, err := palettes.ReadFile("testdata/palettes/bank.yaml")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "palettes"), 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{"bank.db.gz": zipped.Bytes(), "head": []byte(head), "palettes/bank.yaml": palette} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// headOf is the number and the hash of the last entry.
func headOf(entries []stores.Entry) string {
	if len(entries) == 0 {
		return "0\n"
	}
	last := &entries[len(entries)-1]
	return fmt.Sprintf("%d %x\n", last.Seq, last.Hash)
}

// work does scripts of every kind under the palettes given, or today's.
func work(ctx context.Context, s stores.Store, reg *verbs.Registry, scripts int, name string) error {
	if reg == nil {
		var err error
		if reg, err = registry(); err != nil {
			return err
		}
	}
	e, err := runtime.New(reg, s, runtime.Options{})
	if err != nil {
		return err
	}
	var desks [2]*desk
	for i, who := range []string{"tess", "mara"} {
		session, err := e.Session(ctx, who)
		if err != nil {
			return err
		}
		desks[i] = &desk{session, e}
	}
	for from := newStream(1, name); from.n < scripts; {
		sc := from.take(true)
		if sc.big {
			_, err = desks[0].propose(ctx, desks[1], sc)
		} else {
			_, err = desks[0].do(ctx, sc.text, sc.tag)
		}
		if err != nil {
			return fmt.Errorf("script %s: %w", sc.tag, err)
		}
	}
	return nil
}

// stillGood says what of a release's store can no longer be done, and how many
// entries it has.
func stillGood(t *testing.T, dir string) (int, error) {
	ctx := context.Background()
	reg, ds := verbs.Load(os.DirFS(filepath.Join(dir, "palettes")))
	if ds.HasErrors() {
		return 0, errors.New(told(ds))
	}
	f, err := os.Open(filepath.Join(dir, "bank.db.gz"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return 0, err
	}
	image, err := io.ReadAll(z)
	if err != nil {
		return 0, err
	}
	path := filepath.Join(t.TempDir(), "bank.db")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		return 0, err
	}
	s, err := sqlite.Open(path, sqlite.RowCap(many))
	if err != nil {
		return 0, err
	}
	defer s.Close()
	if plan, err := s.Migrate(ctx, tables(reg), true); err != nil || len(plan.Problems) > 0 {
		return 0, fmt.Errorf("migrate: %w %v", err, plan.Problems)
	}
	head, err := os.ReadFile(filepath.Join(dir, "head"))
	if err != nil {
		return 0, err
	}
	for _, when := range []string{"as it was kept", "after more work"} {
		v, err := judgeBy(ctx, s, reg)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", when, err)
		}
		if len(v.wrongs) > 0 {
			return v.entries, fmt.Errorf("%s: %s", when, strings.Join(v.wrongs, "; "))
		}
		entries, err := s.Journal(ctx, 1, 0)
		if err != nil {
			return 0, err
		}
		if when == "after more work" {
			return len(entries), nil
		}
		if got := headOf(entries); got != string(head) {
			return len(entries), fmt.Errorf("the journal ends with %q, and ended with %q", got, head)
		}
		if err := work(ctx, s, reg, 6, "more"); err != nil {
			return len(entries), fmt.Errorf("more work: %w", err)
		}
	}
	return 0, nil
}
