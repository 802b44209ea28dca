package files

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// A Bucket keeps files in a bucket of a server that speaks S3.
type Bucket struct {
	at     S3
	base   url.URL // of the bucket
	client *http.Client
	signer *v4.Signer
}

// S3 says where a bucket is, and how to access it.
type S3 struct {
	Bucket   string
	Prefix   string // precedes every name; "" or ending in a slash
	Endpoint string // "https://host:port"; "" is Amazon's for the region
	Region   string // us-east-1 when empty
	// PathStyle puts the bucket into the path instead of the host.
	PathStyle bool

	Key, Secret, Token string // never shown

	// Stall is how long a request may make no progress; 0 is 30 seconds.
	Stall time.Duration
	// Wait waits before a request is sent again; nil waits a quarter of a second, then twice as
	// long each time.
	Wait func(ctx context.Context, attempt int) error
	// Clock dates signatures; nil is the system's clock.
	Clock func() time.Time
}

const (
	// maxPut is the largest body that S3 accepts in one request.
	maxPut = 5 << 30
	// maxTries is how often a request is sent at most.
	maxTries = 4
	// maxAnswer limits the size of an answer that is not a file.
	maxAnswer = 1 << 20
)

// The permitted forms of a bucket's options. They are compiled on first use.
var (
	bucketName   = lazily(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	bucketPrefix = lazily(`^([A-Za-z0-9_][A-Za-z0-9._-]*/)*$`) // nothing that needs escaping, and no way up
	regionName   = lazily(`^[a-z0-9-]{1,40}$`)
	errorCode    = lazily(`^[A-Za-z0-9]{1,60}$`)
)

func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// OpenS3 prepares access to a bucket; it sends no request yet.
func OpenS3(at S3) (*Bucket, error) {
	at.Region = cmp.Or(at.Region, "us-east-1")
	at.Stall = cmp.Or(at.Stall, 30*time.Second)
	if at.Wait == nil {
		at.Wait = pause
	}
	if at.Clock == nil {
		at.Clock = time.Now
	}
	switch {
	case !bucketName().MatchString(at.Bucket):
		return nil, errors.New("that is no name of a bucket")
	case !bucketPrefix().MatchString(at.Prefix):
		return nil, errors.New("that is no prefix")
	case !regionName().MatchString(at.Region):
		return nil, errors.New("that is no name of a region")
	case at.Key == "" || at.Secret == "":
		return nil, errors.New("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set")
	}
	at.Endpoint = cmp.Or(at.Endpoint, "https://s3."+at.Region+".amazonaws.com")
	base, err := url.Parse(at.Endpoint)
	switch {
	case err != nil || base.Host == "" || strings.Trim(base.Path, "/") != "" || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("an endpoint is written like https://host:port")
	case base.User != nil:
		return nil, errors.New("the key is taken from the environment and not from the endpoint")
	case base.Scheme != "https" && !(base.Scheme == "http" && local(base.Hostname())):
		return nil, errors.New("an endpoint is reached by https, unless it is on this machine")
	}
	if at.PathStyle {
		base.Path = "/" + at.Bucket + "/"
	} else {
		base.Host = at.Bucket + "." + base.Host
		base.Path = "/"
	}
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConnsPerHost: 16,
		DisableCompression:  true, // sizes and hashes are those of the stored bytes
		ForceAttemptHTTP2:   true,
	}
	return &Bucket{
		at: at, base: *base,
		client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		signer: v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }), // as S3 wants it
	}, nil
}

func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func pause(ctx context.Context, attempt int) error {
	timer := time.NewTimer(time.Second / 8 << attempt)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// String returns the address, without a key.
func (b *Bucket) String() string { return "s3://" + b.at.Bucket + "/" + b.at.Prefix }

// Close implements Store.
func (b *Bucket) Close() error {
	b.client.CloseIdleConnections()
	return nil
}

// A serverError is an unexpected answer of a server. Only its code is reported: the rest may
// repeat what was sent.
type serverError struct {
	status int
	code   string
}

func (e *serverError) Error() string {
	if e.code != "" {
		return fmt.Sprintf("the server of files answered %d (%s)", e.status, e.code)
	}
	return fmt.Sprintf("the server of files answered %d", e.status)
}

// passes reports whether a failure may be temporary.
func passes(err error) bool {
	var answered *serverError
	if !errors.As(err, &answered) {
		return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
	}
	switch answered.status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
		http.StatusTooManyRequests, http.StatusRequestTimeout:
		return true
	}
	switch answered.code {
	case "RequestTimeout", "SlowDown", "InternalError", "BadDigest", "XAmzContentSHA256Mismatch", "OperationAborted", "ConditionalRequestConflict":
		return true // damaged or delayed on its way
	}
	return false
}

// A question is one request, built anew each time that it is sent.
type question struct {
	method string
	key    string
	query  url.Values
	header http.Header
	sum    Sum // of the body
	size   int64
	body   func() io.Reader // nil for none
	fine   int              // the expected status
}

var emptySum = Sum(sha256.Sum256(nil))

// ask sends a question until it is answered. The caller closes the answer.
func (b *Bucket) ask(ctx context.Context, q question) (*http.Response, error) {
	for attempt := 1; ; attempt++ {
		answer, err := b.once(ctx, q)
		if err == nil {
			return answer, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if attempt == maxTries || !passes(err) {
			return nil, err
		}
		if err := b.at.Wait(ctx, attempt); err != nil {
			return nil, err
		}
	}
}

func (b *Bucket) once(ctx context.Context, q question) (*http.Response, error) {
	ctx, stop := context.WithCancelCause(ctx)
	watch := watchdog(b.at.Stall, func() { stop(errStalled) })
	done := func() { watch.stop(); stop(nil) }
	u := b.base
	u.Path += q.key
	u.RawQuery = q.query.Encode()
	req, err := http.NewRequestWithContext(ctx, q.method, u.String(), nil)
	if err != nil {
		done()
		return nil, errors.New("the address of a file could not be made")
	}
	for k, v := range q.header {
		req.Header[k] = v
	}
	sum := emptySum
	if q.body != nil {
		sum = q.sum
		req.Body = io.NopCloser(&watched{q.body(), watch})
		req.ContentLength = q.size
	}
	req.Header.Set("X-Amz-Content-Sha256", sum.String())
	key := aws.Credentials{AccessKeyID: b.at.Key, SecretAccessKey: b.at.Secret, SessionToken: b.at.Token}
	if err := b.signer.SignHTTP(ctx, key, req, sum.String(), "s3", b.at.Region, b.at.Clock()); err != nil {
		done()
		return nil, errors.New("the request could not be signed")
	}
	answer, err := b.client.Do(req)
	if err != nil {
		cause := context.Cause(ctx)
		done()
		if errors.Is(cause, errStalled) {
			return nil, errStalled
		}
		return nil, outside(err)
	}
	watch.stop()
	answer.Body = &watchedBody{answer.Body, watch, ctx, done}
	if answer.StatusCode == q.fine {
		return answer, nil
	}
	defer answer.Body.Close()
	failed := &serverError{status: answer.StatusCode}
	var told struct{ Code string }
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if xml.Unmarshal(text, &told) == nil && errorCode().MatchString(told.Code) {
		failed.code = told.Code
	}
	if failed.status == http.StatusNotFound && failed.code != "NoSuchBucket" {
		return nil, ErrNotFound
	}
	return nil, failed
}

// outside removes the address from a transport's error: it says what went wrong, and nothing
// about the request.
func outside(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("the server of files could not be asked: %w", err)
}

var errStalled = errors.New("the server of files made no progress")

// A dog is a watchdog timer: it fires if it is not fed for a while.
type dog struct {
	timer *time.Timer
	after time.Duration
}

func watchdog(after time.Duration, bite func()) *dog { return &dog{time.AfterFunc(after, bite), after} }
func (d *dog) feed()                                 { d.timer.Reset(d.after) }
func (d *dog) stop()                                 { d.timer.Stop() }

// A watched is a request body: it stalls when the transport stops reading it.
type watched struct {
	io.Reader
	dog *dog
}

func (w *watched) Read(b []byte) (int, error) {
	w.dog.feed()
	return w.Reader.Read(b)
}

// A watchedBody is a response body. Its reader may take its time; the server may not.
type watchedBody struct {
	io.ReadCloser
	dog  *dog
	ctx  context.Context
	done func()
}

func (w *watchedBody) Read(b []byte) (int, error) {
	w.dog.feed()
	n, err := w.ReadCloser.Read(b)
	w.dog.stop()
	if err != nil && err != io.EOF && errors.Is(context.Cause(w.ctx), errStalled) {
		err = errStalled
	}
	return n, err
}

func (w *watchedBody) Close() error {
	defer w.done()
	return w.ReadCloser.Close()
}

// Take implements Store.
func (b *Bucket) Take(ctx context.Context, r io.Reader, limit int64) (*Taken, error) {
	f, err := os.CreateTemp("", "verbatim-")
	if err != nil {
		return nil, err
	}
	// Without a name it disappears with the process, however that ends.
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	t := &Taken{}
	if err := take(ctx, t, f, r, min(limit, maxPut)); err != nil {
		f.Close()
		return nil, err
	}
	t.drop = func() { f.Close() }
	t.keep = func(ctx context.Context, t *Taken, name Name) error { return b.put(ctx, t, name, f) }
	return t, nil
}

// put sends a file. The first and every later sender send it whole and then look at what is
// stored, so that neither the answer nor the time tells them apart.
func (b *Bucket) put(ctx context.Context, t *Taken, name Name, f io.ReaderAt) error {
	checksum := base64.StdEncoding.EncodeToString(t.Sum[:])
	for _, unless := range []bool{true, false} {
		q := question{method: http.MethodPut, key: b.key(name), header: http.Header{
			"X-Amz-Checksum-Sha256": {checksum},
			"Content-Type":          {"application/octet-stream"},
		}, sum: t.Sum, size: t.Size, fine: http.StatusOK, body: func() io.Reader { return io.NewSectionReader(f, 0, t.Size) }}
		if unless {
			q.header["If-None-Match"] = []string{"*"}
		}
		answer, err := b.ask(ctx, q)
		var failed *serverError
		switch {
		case err == nil:
			answer.Body.Close()
		case unless && errors.As(err, &failed) && (failed.status == http.StatusPreconditionFailed || failed.status == http.StatusNotImplemented):
			// It exists, or the server knows no conditions; the HEAD below tells which.
		default:
			return err
		}
		info, sum, err := b.head(ctx, name)
		switch {
		case errors.Is(err, ErrNotFound):
		case err != nil:
			return err
		case info.Size == t.Size && (sum == "" || sum == checksum):
			return nil
		}
	}
	return fmt.Errorf("the server of files does not hold what it was sent: %w", ErrCorrupt)
}

func (b *Bucket) key(name Name) string {
	text := name.String()
	return b.at.Prefix + text[:2] + "/" + text
}

func (b *Bucket) head(ctx context.Context, name Name) (Info, string, error) {
	answer, err := b.ask(ctx, question{method: http.MethodHead, key: b.key(name), fine: http.StatusOK, header: http.Header{"X-Amz-Checksum-Mode": {"ENABLED"}}})
	if err != nil {
		return Info{}, "", err
	}
	answer.Body.Close()
	return Info{name, answer.ContentLength}, answer.Header.Get("X-Amz-Checksum-Sha256"), nil
}

// Stat implements Store.
func (b *Bucket) Stat(ctx context.Context, name Name) (Info, error) {
	info, _, err := b.head(ctx, name)
	return info, err
}

// Delete implements Store.
func (b *Bucket) Delete(ctx context.Context, name Name) error {
	answer, err := b.ask(ctx, question{method: http.MethodDelete, key: b.key(name), fine: http.StatusNoContent})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// Open implements Store.
func (b *Bucket) Open(ctx context.Context, name Name, from, n int64) (io.ReadCloser, error) {
	from = max(from, 0)
	d := &download{b: b, ctx: ctx, name: name, at: from, end: -1}
	if n >= 0 {
		if n == 0 {
			// No range selects nothing; but the file must still exist.
			if _, err := b.Stat(ctx, name); err != nil {
				return nil, err
			}
			return io.NopCloser(bytes.NewReader(nil)), nil
		}
		d.end = from + min(n, 1<<62)
	}
	if err := d.open(); err != nil {
		return nil, err
	}
	if from == 0 && n < 0 {
		return check(d, name.Sum), nil
	}
	return d, nil
}

// A download resumes where it was interrupted.
type download struct {
	b       *Bucket
	ctx     context.Context
	name    Name
	at, end int64 // end is -1 for all of it
	body    io.ReadCloser
	left    int64 // of body
	tries   int
}

func (d *download) open() error {
	q := question{method: http.MethodGet, key: d.b.key(d.name), fine: http.StatusOK, header: http.Header{}}
	if d.at > 0 || d.end >= 0 {
		to := ""
		if d.end >= 0 {
			to = strconv.FormatInt(d.end-1, 10)
		}
		q.header["Range"] = []string{fmt.Sprintf("bytes=%d-%s", d.at, to)}
		q.fine = http.StatusPartialContent
	}
	answer, err := d.b.ask(d.ctx, q)
	var failed *serverError
	if errors.As(err, &failed) && failed.status == http.StatusRequestedRangeNotSatisfiable {
		d.body, d.left = io.NopCloser(bytes.NewReader(nil)), 0 // it begins behind the end
		return nil
	}
	if err != nil {
		return err
	}
	if answer.ContentLength < 0 {
		answer.Body.Close()
		return errors.New("the server of files does not say how large a file is")
	}
	d.body, d.left = answer.Body, answer.ContentLength
	return nil
}

// Read implements io.Reader.
func (d *download) Read(b []byte) (int, error) {
	for {
		if d.body == nil {
			if err := d.open(); err != nil {
				return 0, err
			}
		}
		n, err := d.body.Read(b)
		d.at, d.left = d.at+int64(n), d.left-int64(n)
		if n > 0 {
			d.tries = 0
		}
		switch {
		case err == nil || n > 0:
			return n, nil // the next Read returns the error
		case err == io.EOF && d.left <= 0:
			return 0, io.EOF
		case d.ctx.Err() != nil:
			return 0, d.ctx.Err()
		}
		if d.tries++; d.tries == maxTries {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, outside(err)
		}
		d.body.Close()
		d.body = nil
		if err := d.b.at.Wait(d.ctx, d.tries); err != nil {
			return 0, err
		}
	}
}

// Close implements io.Closer.
func (d *download) Close() error {
	if d.body == nil {
		return nil
	}
	return d.body.Close()
}

// List implements Store.
func (b *Bucket) List(ctx context.Context, after Name, n int) ([]Info, error) {
	query := url.Values{"list-type": {"2"}, "prefix": {b.at.Prefix}}
	if after != (Name{}) {
		query.Set("start-after", b.key(after))
	}
	var all []Info
	for {
		query.Set("max-keys", strconv.Itoa(min(n-len(all), 1000)))
		answer, err := b.ask(ctx, question{method: http.MethodGet, query: query, fine: http.StatusOK})
		if err != nil {
			return nil, err
		}
		var page struct {
			IsTruncated           bool
			NextContinuationToken string
			Contents              []struct {
				Key  string
				Size int64
			}
		}
		err = xml.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(&page)
		answer.Body.Close()
		if err != nil {
			return nil, errors.New("the server of files gave a list that cannot be read")
		}
		for _, c := range page.Contents {
			text, ok := strings.CutPrefix(c.Key, b.at.Prefix)
			if !ok || len(text) < 3 || text[2] != '/' {
				continue
			}
			if name, ok := ParseName(text[3:]); ok && text[:2] == text[3:5] {
				all = append(all, Info{name, c.Size})
			}
		}
		if len(all) >= n || !page.IsTruncated || page.NextContinuationToken == "" {
			return all[:min(len(all), n)], nil
		}
		query.Del("start-after")
		query.Set("continuation-token", page.NextContinuationToken)
	}
}

// Tidy implements Store. A file that is being taken has no name, and disappears with its process.
func (b *Bucket) Tidy(context.Context, time.Time) (int, error) { return 0, nil }
