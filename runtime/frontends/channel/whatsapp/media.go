package whatsapp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"verbatim/runtime/frontends/channel"
)

const (
	maxRedirects = 3
	// mediaTime is how long a file may take: 100 MB at 3 Mbit/s.
	mediaTime = 5 * time.Minute
)

var (
	errElsewhere = errors.New("the file is at a host that files are not fetched from")
	errTooFar    = fmt.Errorf("the file is behind more than %d redirects", maxRedirects)
)

// Fetch implements channel.Adapter. Reading ends with a *channel.Failure if the file is larger
// than its kind may be or does not match its checksum, so the reader must keep nothing of it
// before the end.
func (a *Adapter) Fetch(ctx context.Context, f channel.File) (io.ReadCloser, error) {
	if !plain(f.ID) {
		return nil, lasting("file", "the file has no id that WhatsApp could have given it")
	}
	ctx, cancel := context.WithTimeout(ctx, mediaTime)
	for try := 0; ; try++ {
		body, again, err := a.fetch(ctx, f)
		if err == nil {
			body.cancel = cancel
			return body, nil
		}
		// A url lasts five minutes, so a second one is asked for.
		if !again || try > 0 {
			cancel()
			return nil, err
		}
	}
}

// fetch asks for the URL of a file and opens it. again says that the URL may have changed.
func (a *Adapter) fetch(ctx context.Context, f channel.File) (b *body, again bool, err error) {
	answer, err := a.ask(ctx, http.MethodGet, f.ID, nil)
	if err != nil {
		var said *channel.Failure
		if errors.As(err, &said) && said.Unknown { // the request changed nothing
			err = &channel.Failure{Code: said.Code, Text: "no answer came to where a file is"}
		}
		return nil, false, err
	}
	var at struct{ URL, SHA256 string }
	if err := json.Unmarshal(answer, &at); err != nil || at.URL == "" {
		return nil, false, &channel.Failure{Code: "answer", Text: "WhatsApp does not say where a file is"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.URL, nil)
	if err != nil || !a.serves(req.URL) {
		return nil, false, lasting("host", errElsewhere.Error())
	}
	req.Header.Set("Authorization", "Bearer "+a.opt.Token)
	req.Header.Set("User-Agent", "verbatim")
	resp, err := a.media.Do(req)
	switch {
	case errors.Is(err, errElsewhere):
		return nil, false, lasting("host", errElsewhere.Error())
	case errors.Is(err, errTooFar):
		return nil, false, lasting("redirects", errTooFar.Error())
	case err != nil:
		return nil, false, lost(err, false)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, resp.StatusCode >= 400 && resp.StatusCode < 500, failure(resp.StatusCode, 0)
	}
	limit := limit(f)
	if resp.ContentLength > limit {
		resp.Body.Close()
		return nil, false, errLarge()
	}
	return &body{in: resp.Body, left: limit, hash: sha256.New(), sum: cmp.Or(f.Sum, hexSum(at.SHA256))}, false, nil
}

// redirect checks a redirect. Only the first host gets the token.
func (a *Adapter) redirect(r *http.Request, via []*http.Request) error {
	switch {
	case len(via) > maxRedirects:
		return errTooFar
	case !a.serves(r.URL):
		return errElsewhere
	}
	if r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
		r.Header.Del("Authorization")
	}
	return nil
}

// serves reports whether files are fetched from there.
func (a *Adapter) serves(u *url.URL) bool {
	if u.User != nil || u.Scheme != "https" && !(u.Scheme == "http" && a.opt.Private) {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return slices.ContainsFunc(a.opt.MediaHosts, func(h string) bool { return host == h || strings.HasSuffix(host, "."+h) })
}

// limit returns the greatest size of a file. Only documents have names, and they may have any type.
func limit(f channel.File) int64 {
	kind, _, _ := strings.Cut(f.Type, "/")
	switch {
	case f.Name != "":
	case kind == "image":
		return 5 << 20
	case kind == "audio" || kind == "video":
		return 16 << 20
	}
	return 100 << 20
}

func errLarge() error { return lasting("size", "the file is larger than WhatsApp says files are") }

// A body is a file on its way.
type body struct {
	in     io.ReadCloser
	left   int64
	hash   hash.Hash
	sum    string // in hex; "" if it is unknown
	cancel context.CancelFunc
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errLarge()
	}
	b.hash.Write(p[:n])
	switch {
	case err == io.EOF && b.sum != "" && hex.EncodeToString(b.hash.Sum(nil)) != b.sum:
		return 0, &channel.Failure{Code: "sum", Text: "the file is not the one that was sent: its SHA-256 is another"}
	case err != nil && err != io.EOF:
		return n, &channel.Failure{Code: "lost", Text: "the connection was lost within a file"}
	}
	return n, err
}

func (b *body) Close() error {
	defer b.cancel()
	return b.in.Close()
}
