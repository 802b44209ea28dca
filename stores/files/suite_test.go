package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"
)

// suite is what both stores promise. open gives a store that holds nothing.
func suite(t *testing.T, open func(testing.TB) Store) {
	ctx := context.Background()
	for _, c := range []struct {
		name string
		test func(*testing.T, Store)
	}{
		{"a file comes back as it was", func(t *testing.T, s Store) {
			for _, size := range []int{1, HeadSize - 1, HeadSize, HeadSize + 1, bufferSize, bufferSize + 1, 300_000} {
				body := noise(size)
				name := keep(t, s, body, 1)
				if got := all(t, s, name, 0, -1); !bytes.Equal(got, body) {
					t.Fatalf("%d bytes came back as %d others", size, len(got))
				}
				info, err := s.Stat(ctx, name)
				if err != nil || info != (Info{name, int64(size)}) {
					t.Fatalf("%v %v", info, err)
				}
			}
		}},
		{"its name is its hash, and its head is at hand", func(t *testing.T, s Store) {
			body := noise(10_000)
			taken, err := s.Take(ctx, bytes.NewReader(body), 10_000)
			if err != nil {
				t.Fatal(err)
			}
			defer taken.Drop()
			if taken.Sum != sha256.Sum256(body) || taken.Size != 10_000 || !bytes.Equal(taken.Head, body[:HeadSize]) {
				t.Fatalf("%v %d %d", taken.Sum, taken.Size, len(taken.Head))
			}
			if err := taken.Keep(ctx, Name{Sum: Sum{1}}); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("kept under the name of other bytes: %v", err)
			}
		}},
		{"the limit is kept to the byte", func(t *testing.T, s Store) {
			for _, limit := range []int{1, 10, bufferSize - 1, bufferSize, bufferSize + 1} {
				if _, err := s.Take(ctx, bytes.NewReader(noise(limit+1)), int64(limit)); !errors.Is(err, ErrTooLarge) {
					t.Fatalf("%d bytes over a limit of %d: %v", limit+1, limit, err)
				}
				taken, err := s.Take(ctx, iotest.OneByteReader(bytes.NewReader(noise(limit))), int64(limit))
				if err != nil {
					t.Fatalf("%d bytes at a limit of %d: %v", limit, limit, err)
				}
				taken.Drop()
			}
		}},
		{"a file without end is read one byte over the limit and no further", func(t *testing.T, s Store) {
			endless := &counted{Reader: forever{}}
			if _, err := s.Take(ctx, endless, 1000); !errors.Is(err, ErrTooLarge) || endless.n != 1001 {
				t.Fatalf("%d bytes were read: %v", endless.n, err)
			}
		}},
		{"an empty file is refused", func(t *testing.T, s Store) {
			if _, err := s.Take(ctx, strings.NewReader(""), 10); !errors.Is(err, ErrEmpty) {
				t.Fatal(err)
			}
		}},
		{"a sender that breaks off leaves nothing", func(t *testing.T, s Store) {
			broken := errors.New("line cut")
			_, err := s.Take(ctx, io.MultiReader(bytes.NewReader(noise(100_000)), iotest.ErrReader(broken)), 1<<20)
			if !errors.Is(err, ErrSent) || !errors.Is(err, broken) {
				t.Fatal(err)
			}
			empty(t, s)
		}},
		{"what is taken is not there until it is kept", func(t *testing.T, s Store) {
			body := noise(5000)
			taken, err := s.Take(ctx, bytes.NewReader(body), 5000)
			if err != nil {
				t.Fatal(err)
			}
			name := Name{Sum: taken.Sum}
			if _, err := s.Stat(ctx, name); !errors.Is(err, ErrNotFound) {
				t.Fatal(err)
			}
			empty(t, s)
			taken.Drop()
			taken.Drop()
			if err := taken.Keep(ctx, name); err == nil {
				t.Fatal("kept after it was dropped")
			}
			empty(t, s)
		}},
		{"what is not there is told so", func(t *testing.T, s Store) {
			name := Name{Sum: Sum{7}}
			if _, err := s.Open(ctx, name, 0, -1); !errors.Is(err, ErrNotFound) {
				t.Errorf("open: %v", err)
			}
			if _, err := s.Open(ctx, name, 3, 5); !errors.Is(err, ErrNotFound) {
				t.Errorf("part: %v", err)
			}
			if _, err := s.Open(ctx, name, 3, 0); !errors.Is(err, ErrNotFound) {
				t.Errorf("nothing of it: %v", err)
			}
			if _, err := s.Stat(ctx, name); !errors.Is(err, ErrNotFound) {
				t.Errorf("stat: %v", err)
			}
			if err := s.Delete(ctx, name); err != nil {
				t.Errorf("delete: %v", err)
			}
		}},
		{"parts", func(t *testing.T, s Store) {
			body := noise(1000)
			name := keep(t, s, body, 1)
			for _, c := range []struct{ from, n, lo, hi int }{
				{0, 10, 0, 10}, {10, 5, 10, 15}, {990, 100, 990, 1000}, {500, -1, 500, 1000}, {1000, 5, 1000, 1000}, {5000, 5, 1000, 1000}, {0, 0, 0, 0}, {999, -1, 999, 1000},
			} {
				if got := all(t, s, name, int64(c.from), int64(c.n)); !bytes.Equal(got, body[c.lo:c.hi]) {
					t.Errorf("%d bytes from %d: %d came", c.n, c.from, len(got))
				}
			}
		}},
		{"the same bytes are one file, and whoever is second is told the same", func(t *testing.T, s Store) {
			body := noise(2000)
			name := keep(t, s, body, 1)
			if again := keep(t, s, body, 1); again != name {
				t.Fatal(again)
			}
			if list, err := s.List(ctx, Name{}, 10); err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
		}},
		{"another tag is another file: deleting one leaves the other", func(t *testing.T, s Store) {
			body := noise(2000)
			one, two := keep(t, s, body, 1), keep(t, s, body, 2)
			for range 2 {
				if err := s.Delete(ctx, one); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Stat(ctx, one); !errors.Is(err, ErrNotFound) {
				t.Fatal(err)
			}
			if !bytes.Equal(all(t, s, two, 0, -1), body) {
				t.Fatal("the other is spoilt")
			}
		}},
		{"a list is in order and goes on where it ended", func(t *testing.T, s Store) {
			var want []Info
			for i := range 25 {
				body := []byte(fmt.Sprint("file ", i))
				want = append(want, Info{keep(t, s, body, byte(i)), int64(len(body))})
			}
			slices.SortFunc(want, func(a, b Info) int { return strings.Compare(a.Name.String(), b.Name.String()) })
			var got []Info
			for after := (Name{}); ; {
				page, err := s.List(ctx, after, 7)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, page...)
				if len(page) < 7 {
					break
				}
				after = page[len(page)-1].Name
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d of %d", len(got), len(want))
			}
		}},
		{"a context that has ended stops everything", func(t *testing.T, s Store) {
			name := keep(t, s, noise(100), 1)
			done, cancel := context.WithCancel(ctx)
			r, err := s.Open(done, name, 0, -1)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			cancel()
			if _, err := io.ReadAll(r); err == nil {
				t.Log("it had come already")
			}
			if _, err := s.Take(done, strings.NewReader("x"), 10); !errors.Is(err, context.Canceled) {
				t.Errorf("take: %v", err)
			}
			if _, err := s.Open(done, name, 0, -1); !errors.Is(err, context.Canceled) {
				t.Errorf("open: %v", err)
			}
			if _, err := s.Stat(done, name); !errors.Is(err, context.Canceled) {
				t.Errorf("stat: %v", err)
			}
			if err := s.Delete(done, name); !errors.Is(err, context.Canceled) {
				t.Errorf("delete: %v", err)
			}
			taken, err := s.Take(ctx, strings.NewReader("y"), 10)
			if err != nil {
				t.Fatal(err)
			}
			defer taken.Drop()
			if err := taken.Keep(done, Name{Sum: taken.Sum}); !errors.Is(err, context.Canceled) {
				t.Errorf("keep: %v", err)
			}
		}},
		{"many at once", func(t *testing.T, s Store) {
			bodies := [][]byte{noise(10), noise(70_000), noise(1234)}
			var group sync.WaitGroup
			for i := range 24 {
				group.Go(func() {
					body := bodies[i%len(bodies)]
					taken, err := s.Take(ctx, bytes.NewReader(body), 1<<20)
					if err != nil {
						t.Error(err)
						return
					}
					name := Name{Sum: taken.Sum, Tag: Tag{byte(i % 2)}}
					if err := taken.Keep(ctx, name); err != nil {
						t.Error(err)
						return
					}
					r, err := s.Open(ctx, name, 0, -1)
					if err != nil {
						t.Error(err)
						return
					}
					defer r.Close()
					if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, body) {
						t.Errorf("%d bytes: %v", len(got), err)
					}
				})
			}
			group.Wait()
			if list, err := s.List(ctx, Name{}, 100); err != nil || len(list) != 6 {
				t.Fatal(len(list), err)
			}
		}},
		{"nothing is tidied away that is kept", func(t *testing.T, s Store) {
			name := keep(t, s, noise(10), 1)
			if n, err := s.Tidy(ctx, time.Now().Add(time.Hour)); n != 0 || err != nil {
				t.Fatal(n, err)
			}
			all(t, s, name, 0, -1)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			c.test(t, s)
		})
	}
	// Whatever is done in whatever order, a store is a map from names to bytes.
	t.Run("it is a map", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(rt *rapid.T) {
			s := open(t)
			model := map[Name][]byte{}
			draw := func() ([]byte, Name) {
				body := noise(1 + rapid.IntRange(0, 3).Draw(rt, "which")*40_000)
				return body, Name{sha256.Sum256(body), Tag{byte(rapid.IntRange(0, 1).Draw(rt, "tag"))}}
			}
			for range rapid.IntRange(1, 8).Draw(rt, "steps") {
				body, name := draw()
				switch rapid.IntRange(0, 3).Draw(rt, "what") {
				case 0, 1:
					keep(t, s, body, name.Tag[0])
					model[name] = body
				case 2:
					taken, err := s.Take(ctx, bytes.NewReader(body), 1<<20)
					if err != nil {
						rt.Fatal(err)
					}
					taken.Drop()
				case 3:
					if err := s.Delete(ctx, name); err != nil {
						rt.Fatal(err)
					}
					delete(model, name)
				}
			}
			list, err := s.List(ctx, Name{}, 100)
			if err != nil || len(list) != len(model) {
				rt.Fatalf("%d listed, %d kept: %v", len(list), len(model), err)
			}
			for _, info := range list {
				if body, ok := model[info.Name]; !ok || int64(len(body)) != info.Size || !bytes.Equal(all(t, s, info.Name, 0, -1), body) {
					rt.Fatalf("%v is not what was kept", info)
				}
			}
		})
	})
}

func noise(n int) []byte {
	b := make([]byte, n)
	rand.New(rand.NewSource(int64(n))).Read(b)
	return b
}

func keep(t testing.TB, s Store, body []byte, tag byte) Name {
	t.Helper()
	taken, err := s.Take(context.Background(), bytes.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	name := Name{taken.Sum, Tag{tag}}
	if err := taken.Keep(context.Background(), name); err != nil {
		t.Fatal(err)
	}
	return name
}

func all(t testing.TB, s Store, name Name, from, n int64) []byte {
	t.Helper()
	r, err := s.Open(context.Background(), name, from, n)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func empty(t testing.TB, s Store) {
	t.Helper()
	if list, err := s.List(context.Background(), Name{}, 10); len(list) > 0 || err != nil {
		t.Fatal(list, err)
	}
}

type forever struct{}

func (forever) Read(b []byte) (int, error) { return len(b), nil }

type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += n
	return n, err
}
