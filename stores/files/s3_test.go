package files

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const (
	testKey    = "AKIATESTTESTTEST"
	testSecret = "canary-secret-7f3a"
)

// A serving is a server that speaks S3. It is another project's, which does not
// look at signatures; so a guard before it does, by the published rules and with
// no code of the client's, and holds bodies against their hashes. trouble, when
// it is set, may answer instead.
type serving struct {
	*httptest.Server
	inner http.Handler

	mu       sync.Mutex
	trouble  func(w http.ResponseWriter, r *http.Request) bool
	asked    []string // method and whether there was a condition
	prefixes atomic.Int64
}

func serve(t testing.TB) *serving {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("bank-files"); err != nil {
		t.Fatal(err)
	}
	s := &serving{inner: gofakes3.New(backend, gofakes3.WithoutVersioning()).Server()}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *serving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	trouble := s.trouble
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.Header.Get("If-None-Match")))
	s.mu.Unlock()
	if trouble != nil && trouble(w, r) {
		return
	}
	if problem := signed(r); problem != "" {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", problem, r.Header.Get("Authorization"))
		return
	}
	if r.Method == http.MethodPut {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != r.Header.Get("X-Amz-Content-Sha256") {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, "<Error><Code>XAmzContentSHA256Mismatch</Code></Error>")
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	s.inner.ServeHTTP(w, r)
}

// signed says what is wrong with the signature of a request: Signature Version 4,
// from its description.
func signed(r *http.Request) string {
	fields := map[string]string{}
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return "AccessDenied"
	}
	for _, part := range strings.Split(rest, ",") {
		k, v, _ := strings.Cut(strings.TrimSpace(part), "=")
		fields[k] = v
	}
	scope := strings.Split(fields["Credential"], "/")
	if len(scope) != 5 || scope[0] != testKey {
		return "InvalidAccessKeyId"
	}
	names := strings.Split(fields["SignedHeaders"], ";")
	var head strings.Builder
	for _, n := range names {
		v := r.Header.Get(n)
		switch n {
		case "host":
			v = r.Host
		case "content-length":
			v = strconv.FormatInt(r.ContentLength, 10)
		}
		fmt.Fprintf(&head, "%s:%s\n", n, strings.TrimSpace(v))
	}
	for n := range r.Header {
		n = strings.ToLower(n)
		if strings.HasPrefix(n, "x-amz-") && !slices.Contains(names, n) {
			return "AccessDenied"
		}
	}
	canonical := strings.Join([]string{r.Method, r.URL.EscapedPath(), strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20"), head.String(), fields["SignedHeaders"], r.Header.Get("X-Amz-Content-Sha256")}, "\n")
	hashed := sha256.Sum256([]byte(canonical))
	text := strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), strings.Join(scope[1:], "/"), hex.EncodeToString(hashed[:])}, "\n")
	key := []byte("AWS4" + testSecret)
	for _, part := range append(scope[1:], text) {
		m := hmac.New(sha256.New, key)
		m.Write([]byte(part))
		key = m.Sum(nil)
	}
	if !hmac.Equal([]byte(hex.EncodeToString(key)), []byte(fields["Signature"])) {
		return "SignatureDoesNotMatch"
	}
	return ""
}

func (s *serving) at() S3 {
	return S3{Bucket: "bank-files", Prefix: fmt.Sprintf("t%d/uploads/", s.prefixes.Add(1)), Endpoint: s.URL, PathStyle: true,
		Key: testKey, Secret: testSecret, Wait: func(ctx context.Context, _ int) error { return ctx.Err() }}
}

func (s *serving) open(t testing.TB, change func(*S3)) *Bucket {
	t.Helper()
	at := s.at()
	if change != nil {
		change(&at)
	}
	b, err := OpenS3(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// makes lets something happen to each request from now on.
func (s *serving) makes(trouble func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble, s.asked = trouble, nil
}

func TestS3(t *testing.T) {
	t.Parallel()
	s := serve(t)
	suite(t, func(t testing.TB) Store { return s.open(t, nil) })
}

// The guard can fail, or the suite would say nothing about signatures.
func TestS3Signatures(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for name, change := range map[string]func(*S3){
		"another secret": func(at *S3) { at.Secret = "another" },
		"another key":    func(at *S3) { at.Key = "AKIAANOTHER" },
	} {
		b := s.open(t, change)
		_, err := b.Stat(context.Background(), Name{})
		if err == nil || errors.Is(err, ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
		mute(t, err)
	}
	plain, err := http.Get(s.URL + "/bank-files/")
	if err != nil {
		t.Fatal(err)
	}
	plain.Body.Close()
	if plain.StatusCode != http.StatusForbidden {
		t.Error(plain.Status)
	}
}

// mute demands that an error holds nothing that is secret.
func mute(t *testing.T, err error) {
	t.Helper()
	for _, secret := range []string{testSecret, testKey, "Signature", "Credential"} {
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%q is told: %v", secret, err)
		}
	}
}

// hangUp cuts the connection.
func hangUp(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

// What passes is waited for, at each request, and not for ever.
func TestS3TriesAgain(t *testing.T) {
	t.Parallel()
	answer := func(status int, code string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(status)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s %s</Message></Error>", code, r.Header.Get("Authorization"), testSecret)
		}
	}
	body := noise(200_000)
	for _, c := range []struct {
		name  string
		fail  func(http.ResponseWriter, *http.Request)
		again bool
		words bool // what it is, only the answer's words say
	}{
		{"cut", func(w http.ResponseWriter, r *http.Request) { hangUp(w) }, true, false},
		{"cut in the middle of the body", func(w http.ResponseWriter, r *http.Request) {
			io.CopyN(io.Discard, r.Body, 1000)
			hangUp(w)
		}, true, false},
		{"500", answer(500, "InternalError"), true, false},
		{"503", answer(503, "SlowDown"), true, false},
		{"spoilt on its way", answer(400, "BadDigest"), true, true},
		{"403", answer(403, "AccessDenied"), false, false},
		{"no bucket", answer(404, "NoSuchBucket"), false, true},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://example.invalid/", http.StatusTemporaryRedirect)
		}, false, false},
		{"words that are no code", answer(418, "<b>"+testSecret), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			b := s.open(t, nil)
			name := keep(t, b, body, 9)
			for _, op := range []struct {
				name string
				do   func() error
			}{
				{"keep", func() error {
					taken, err := b.Take(context.Background(), bytes.NewReader(body), 1<<20)
					if err != nil {
						return err
					}
					defer taken.Drop()
					return taken.Keep(context.Background(), Name{Sum: taken.Sum})
				}},
				{"open", func() error {
					r, err := b.Open(context.Background(), name, 0, -1)
					if err != nil {
						return err
					}
					defer r.Close()
					return iotest.TestReader(r, body)
				}},
				{"stat", func() error { _, err := b.Stat(context.Background(), name); return err }},
				{"list", func() error { _, err := b.List(context.Background(), Name{}, 5); return err }},
				{"delete", func() error { return b.Delete(context.Background(), name) }},
			} {
				if c.words && op.name == "stat" {
					continue // an answer to HEAD has no words
				}
				fails := 2
				s.makes(func(w http.ResponseWriter, r *http.Request) bool {
					s.mu.Lock()
					fails--
					fail := fails >= 0
					s.mu.Unlock()
					if fail {
						c.fail(w, r)
					}
					return fail
				})
				err := op.do()
				if (err == nil) != c.again {
					t.Errorf("%s: %v", op.name, err)
				}
				mute(t, err)
				// Where it never passes, it ends.
				s.makes(func(w http.ResponseWriter, r *http.Request) bool { c.fail(w, r); return true })
				err = op.do()
				if err == nil || errors.Is(err, ErrNotFound) {
					t.Errorf("%s, always: %v", op.name, err)
				}
				mute(t, err)
				s.mu.Lock()
				n := len(s.asked)
				s.mu.Unlock()
				if n > maxTries+1 { // net/http itself asks again where a connection that it kept was closed
					t.Errorf("%s: %d requests", op.name, n)
				}
				s.makes(nil)
			}
		})
	}
}

// A download that breaks goes on where it was, and comes out whole.
func TestS3GoesOn(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.open(t, nil)
	body := noise(1 << 20)
	name := keep(t, b, body, 1)
	var ranges []string
	s.makes(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		s.mu.Lock()
		ranges = append(ranges, r.Header.Get("Range"))
		s.mu.Unlock()
		rec := httptest.NewRecorder()
		s.inner.ServeHTTP(rec, r)
		sent := rec.Body.Bytes()
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(sent)))
		w.WriteHeader(rec.Code)
		w.Write(sent[:min(len(sent), 300_000)])
		if len(sent) > 300_000 {
			w.(http.Flusher).Flush()
			hangUp(w)
		}
		return true
	})
	if got := all(t, b, name, 0, -1); !bytes.Equal(got, body) {
		t.Fatalf("%d bytes of %d", len(got), len(body))
	}
	if len(ranges) < 4 || ranges[0] != "" {
		t.Fatal(ranges)
	}
}

// A server that hands out other bytes is noticed, at the end of the file at the
// latest; one that kept other bytes than it was sent, at once.
func TestS3NoticesDamage(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.open(t, nil)
	body := noise(50_000)
	name := keep(t, b, body, 1)
	spoilt := bytes.Clone(body)
	spoilt[100] ^= 1
	s.makes(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Length", strconv.Itoa(len(spoilt)))
			w.Write(spoilt)
		}
		return r.Method == http.MethodGet
	})
	r, err := b.Open(context.Background(), name, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadAll(r); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
	for what, head := range map[string]func(http.ResponseWriter){
		"a shorter file": func(w http.ResponseWriter) { w.Header().Set("Content-Length", "49999") },
		"another checksum": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "50000")
			w.Header().Set("X-Amz-Checksum-Sha256", "AAAA")
		},
	} {
		s.makes(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodHead {
				head(w)
			}
			return r.Method == http.MethodHead
		})
		taken, err := b.Take(context.Background(), bytes.NewReader(body), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if err := taken.Keep(context.Background(), name); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
		taken.Drop()
	}
}

// A copy that is there and is not whole is replaced; one that is whole is not.
func TestS3PutsUnderACondition(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.open(t, nil)
	body := noise(1000)
	asked := func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return strings.Join(s.asked, ", ")
	}
	s.makes(nil)
	name := keep(t, b, body, 1)
	first := asked()
	if first != "PUT *, HEAD" {
		t.Error(first)
	}
	// Whoever is second asks the same questions (nobody learns of the first).
	s.makes(nil)
	keep(t, b, body, 1)
	if got := asked(); got != first {
		t.Errorf("%q, and the first asked %q", got, first)
	}
	// Somebody spoilt it behind our back.
	half := httptest.NewRequest(http.MethodPut, "/bank-files/"+b.key(name), bytes.NewReader(body[:500]))
	half.Header.Set("Content-Length", "500")
	s.inner.ServeHTTP(httptest.NewRecorder(), half)
	if info, err := b.Stat(context.Background(), name); err != nil || info.Size != 500 {
		t.Fatal(info, err)
	}
	s.makes(nil)
	keep(t, b, body, 1)
	if got := asked(); got != "PUT *, HEAD, PUT, HEAD" || !bytes.Equal(all(t, b, name, 0, -1), body) {
		t.Errorf("%q: it was not healed", got)
	}
}

// A server that stands still is left.
func TestS3Stalls(t *testing.T) {
	t.Parallel()
	s := serve(t)
	body := noise(4 << 20)
	patient := s.open(t, nil)
	name := keep(t, patient, body, 1)
	b := s.open(t, func(at *S3) { at.Stall, at.Prefix = 250*time.Millisecond, patient.at.Prefix })
	still := make(chan struct{})
	defer close(still)
	stand := func(w http.ResponseWriter, r *http.Request) bool {
		select {
		case <-still:
		case <-r.Context().Done():
		}
		return true
	}
	taken, err := b.Take(context.Background(), bytes.NewReader(body), 8<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Drop()
	s.makes(stand)
	if err := taken.Keep(context.Background(), name); !errors.Is(err, errStalled) {
		t.Errorf("put: %v", err)
	}
	if _, err := b.Stat(context.Background(), name); !errors.Is(err, errStalled) {
		t.Errorf("head: %v", err)
	}
	s.makes(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Length", "1000")
		w.(http.Flusher).Flush()
		return stand(w, r)
	})
	r, err := b.Open(context.Background(), name, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := io.ReadAll(r); !errors.Is(err, errStalled) {
		t.Errorf("get: %v", err)
	}
	// Whoever asked may stop before that.
	ctx, cancel := context.WithCancel(context.Background())
	s.makes(func(w http.ResponseWriter, r *http.Request) bool { cancel(); return stand(w, r) })
	if _, err := b.Stat(ctx, name); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A list that lies is read as far as it makes sense.
func TestS3ReadsLists(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := s.open(t, nil)
	good := Name{Sum: Sum{1}}
	for text, want := range map[string]int{
		"not xml":                      -1,
		"<ListBucketResult/>":          0,
		strings.Repeat("<a>", 100_000): -1,
		"<ListBucketResult><Contents><Key>" + b.key(good) + "</Key><Size>4</Size></Contents><Contents><Key>" + b.at.Prefix + "01/../../x</Key></Contents><Contents><Key>elsewhere</Key></Contents></ListBucketResult>": 1,
	} {
		s.makes(func(w http.ResponseWriter, r *http.Request) bool { io.WriteString(w, text); return true })
		list, err := b.List(context.Background(), Name{}, 10)
		if (err != nil) != (want < 0) || len(list) != max(want, 0) {
			t.Errorf("%.40q: %v %v", text, list, err)
		}
	}
}

// What an address may say, and that none of what it says is repeated.
func TestOpen(t *testing.T) {
	t.Parallel()
	env := map[string]string{"AWS_ACCESS_KEY_ID": testKey, "AWS_SECRET_ACCESS_KEY": testSecret}
	dir := t.TempDir()
	for _, c := range []struct{ where, want string }{
		{dir + "/a", dir + "/a"},
		{"file://" + dir + "/b", dir + "/b"},
		{"s3://bank-files", "s3://bank-files/"},
		{"s3://bank-files/up?endpoint=https://minio.example:9000&region=eu-1", "s3://bank-files/up/"},
		{"s3://bank-files/?endpoint=http://127.0.0.1:9&path-style=false", "s3://bank-files/"},
		{"", "!nothing says where files are"},
		{"gs://bucket", "!files are kept in a directory or at s3://, not at \"gs://\""},
		{"s3://" + testKey + ":" + testSecret + "@bank-files/", "!the key is taken from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and not from the address"},
		{"s3://bank-files/?secret=" + testSecret, "!an address of files takes endpoint, region and path-style; keys are taken from the environment"},
		{"s3://bank-files/?endpoint=http://example.com", "!an endpoint is reached by https, unless it is on this machine"},
		{"s3://bank-files/?endpoint=https://" + testKey + ":x@example.com", "!the key is taken from the environment and not from the endpoint"},
		{"s3://bank-files/?endpoint=https://example.com/x", "!an endpoint is written like https://host:port"},
		{"s3://bank-files/../x", "!that is no prefix"},
		{"s3://bank-files/a?path-style=yes", "!path-style is true or false"},
		{"s3://bank-files/a?region=A%20B", "!that is no name of a region"},
		{"s3://B/", "!that is no name of a bucket"},
		{"s3://bank-files/%zz" + testSecret, "!an address of files is written like s3://bucket/prefix?endpoint=https://host:port"},
	} {
		s, err := Open(context.Background(), c.where, func(k string) string { return env[k] })
		got := ""
		if err != nil {
			got = "!" + err.Error()
		} else {
			got = s.String()
			s.Close()
		}
		if got != c.want {
			t.Errorf("%q: %s", c.where, got)
		}
		mute(t, err)
	}
	if _, err := Open(context.Background(), "s3://bank-files", func(string) string { return "" }); err == nil {
		t.Error("opened without a key")
	}
}
