package whatsapp

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/frontends/channel/whatsapp/cloudtest"
	"verbatim/runtime/protocols/dial"
)

func fetch(t *testing.T, w *world, f channel.File) ([]byte, error) {
	t.Helper()
	r, err := w.Fetch(t.Context(), f)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func TestAFileIsFetched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := bytes.Repeat([]byte("%PDF"), 50000)
	id, sum := w.cloud.Upload("application/pdf", content)
	raw, _ := hex.DecodeString(sum)
	for name, s := range map[string]string{"hex": sum, "base64": base64.StdEncoding.EncodeToString(raw), "capitals": strings.ToUpper(sum), "none": ""} {
		if _, _, err := w.cloud.Say(t.Context(), person, cloudtest.File("document", id, "application/pdf", s, "a.pdf", "")); err != nil {
			t.Fatal(err)
		}
		f := w.door.messages[len(w.door.messages)-1].Facts().Files[0]
		if got, err := fetch(t, w, f); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	other := strings.Repeat("0", 64)
	_, err := fetch(t, w, channel.File{ID: id, Type: "application/pdf", Sum: other})
	if why(t, err) != (failed{code: "sum"}) {
		t.Error(err)
	}
	if _, err := fetch(t, w, channel.File{ID: "404"}); why(t, err) != (failed{code: "100", permanent: true}) {
		t.Error(err)
	}
	for _, id := range []string{"", "../me", "1/2", "1?x", "1#", "%2e", strings.Repeat("1", 129)} {
		if _, err := fetch(t, w, channel.File{ID: id}); why(t, err) != (failed{code: "file", permanent: true}) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// A place is an API that says where a file is.
func place(t *testing.T, where func(asked int) string, sum string) (api string, asked *int) {
	t.Helper()
	asked = new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		_ = json.NewEncoder(w).Encode(map[string]any{"url": where(*asked), "sha256": sum, "id": "77"})
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v23.0", asked
}

func at1(u string) func(int) string { return func(int) string { return u } }

// SAFE-H4: a file is fetched from hosts of WhatsApp, by TLS, and from nowhere else.
func TestFilesComeFromKnownHosts(t *testing.T) {
	t.Parallel()
	a := adapter(t)
	for _, u := range []string{"https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1", "https://LOOKASIDE.fbsbx.com/", "https://scontent.xx.fbcdn.net/", "https://mmg.whatsapp.net/", "https://graph.facebook.com/", "https://lookaside.fbsbx.com:443/"} {
		if at, err := url.Parse(u); err != nil || !a.serves(at) {
			t.Errorf("%s is refused", u)
		}
	}
	refused := []string{"http://lookaside.fbsbx.com/", "file:///etc/passwd", "ftp://lookaside.fbsbx.com/", "https://lookaside.fbsbx.com.evil.example/", "https://evil-lookaside.fbsbx.com/", "https://notfacebook.com/",
		"https://fbsbx.com/", "https://apps.fbsbx.com/", "https://lookaside.fbsbx.com@evil.example/", "https://u:p@lookaside.fbsbx.com/", "https://evil.example/lookaside.fbsbx.com", "https://evil.example?.facebook.com",
		"https://127.0.0.1/", "https://2130706433/", "https://0x7f.1/", "https://0177.0.0.1/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://169.254.169.254/latest", "https://10.0.0.1/", "https://localhost/",
		"https://facebook.com./", "https:///x", "//lookaside.fbsbx.com/", "lookaside.fbsbx.com", "https://faceb\u043eok.com/", "gopher://x", ":", "https://facebook.com\\@evil.example/"}
	for _, u := range refused {
		if at, err := url.Parse(u); err == nil && a.serves(at) {
			t.Errorf("%s is served", u)
		}
		api, _ := place(t, at1(u), "")
		w := newWorld(t, func(o *Options, _ *cloudtest.Options) { o.API, o.MediaHosts = api, nil })
		w.opt.Private = false // for what is fetched
		if _, err := fetch(t, w, channel.File{ID: "77"}); why(t, err) != (failed{code: "host", permanent: true}) {
			t.Errorf("%s: %v", u, err)
		}
	}
}

// SAFE-H4: the address that is dialled is looked at, whatever a host is called.
func TestFilesDoNotComeFromPrivateAddresses(t *testing.T) {
	t.Parallel()
	reached := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	t.Cleanup(server.Close)
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"} {
		api, _ := place(t, at1("http://"+host+port+"/"), "")
		w := newWorld(t, func(o *Options, _ *cloudtest.Options) {
			o.API, o.MediaHosts = api, []string{strings.Trim(host, "[]")}
		})
		w.media.Transport = dial.Transport(false)
		if _, err := fetch(t, w, channel.File{ID: "77"}); why(t, err) != (failed{code: "private", permanent: true}) || reached != 0 {
			t.Errorf("%s: %v", host, err)
		}
	}
	// New guards both ways, unless it is told not to.
	a := adapter(t)
	for _, c := range []*http.Client{a.api, a.media} {
		if resp, err := c.Get(server.URL); err == nil || reached != 0 {
			t.Error(resp, err)
		}
	}
}

// A host may send us on three times, within the hosts that are known; the token is shown to
// the first alone.
func TestRedirects(t *testing.T) {
	t.Parallel()
	type seen struct{ host, token string }
	var got []seen
	mux := http.NewServeMux()
	mux.HandleFunc("/hop/{n}", func(w http.ResponseWriter, r *http.Request) {
		got = append(got, seen{r.Host, r.Header.Get("Authorization")})
		if r.PathValue("n") == "0" {
			fmt.Fprint(w, "file")
			return
		}
		n := int(r.PathValue("n")[0] - '0')
		http.Redirect(w, r, fmt.Sprintf("/hop/%d", n-1), http.StatusFound)
	})
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		got = append(got, seen{r.Host, r.Header.Get("Authorization")})
		http.Redirect(w, r, r.URL.Query().Get("u"), http.StatusFound)
	})
	one, two := httptest.NewServer(mux), httptest.NewServer(mux)
	t.Cleanup(one.Close)
	t.Cleanup(two.Close)
	host := strings.TrimPrefix(one.URL, "http://")
	for _, c := range []struct {
		url, code string
		want      []seen
	}{
		{one.URL + "/hop/0", "", []seen{{host, "Bearer token"}}},
		{one.URL + "/hop/1", "", []seen{{host, "Bearer token"}, {host, "Bearer token"}}},
		{one.URL + "/hop/3", "", []seen{{host, "Bearer token"}, {host, "Bearer token"}, {host, "Bearer token"}, {host, "Bearer token"}}},
		{one.URL + "/hop/4", "redirects", []seen{{host, "Bearer token"}, {host, "Bearer token"}, {host, "Bearer token"}, {host, "Bearer token"}}},
		{one.URL + "/to?u=" + two.URL + "/hop/0", "", []seen{{host, "Bearer token"}, {strings.TrimPrefix(two.URL, "http://"), ""}}},
		{one.URL + "/to?u=http://localhost/", "host", []seen{{host, "Bearer token"}}},
		{one.URL + "/to?u=file:///etc/passwd", "host", []seen{{host, "Bearer token"}}},
		{one.URL + "/to?u=http://u:p@" + host + "/hop/0", "host", []seen{{host, "Bearer token"}}},
	} {
		got = nil
		api, _ := place(t, at1(c.url), "")
		w := newWorld(t, func(o *Options, _ *cloudtest.Options) { o.API = api })
		text, err := fetch(t, w, channel.File{ID: "77"})
		if c.code == "" && (err != nil || string(text) != "file") || c.code != "" && why(t, err) != (failed{code: c.code, permanent: true}) {
			t.Errorf("%s: %q %v", c.url, text, err)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v", c.url, got)
		}
	}
}

// A url that is over is asked for anew, once.
func TestAUrlThatIsOverIsAskedForAnew(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/good":
			fmt.Fprint(w, "file")
		case "/ill":
			w.WriteHeader(http.StatusBadGateway)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	for _, c := range []struct {
		first, second string
		asked         int
		code          string
	}{{"/good", "/good", 1, ""}, {"/old", "/good", 2, ""}, {"/old", "/old", 2, "404"}, {"/ill", "/good", 1, "502"}} {
		api, asked := place(t, func(n int) string {
			if n == 1 {
				return server.URL + c.first
			}
			return server.URL + c.second
		}, "")
		w := newWorld(t, func(o *Options, _ *cloudtest.Options) { o.API = api })
		text, err := fetch(t, w, channel.File{ID: "77"})
		if *asked != c.asked || c.code == "" && string(text) != "file" || c.code != "" && why(t, err).code != c.code {
			t.Errorf("%v: asked %d times, %q %v", c, *asked, text, err)
		}
	}
	// The one that plays WhatsApp ends its urls, too.
	w := newWorld(t)
	id, _ := w.cloud.Upload("image/png", []byte("png"))
	answer, err := w.ask(t.Context(), http.MethodGet, id, nil)
	if err != nil {
		t.Fatal(err)
	}
	var where struct{ URL string }
	if err := json.Unmarshal(answer, &where); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 200}, {5*time.Minute - 1, 200}, {1, 404}} {
		w.clock.Add(c.after)
		req, _ := http.NewRequest(http.MethodGet, where.URL, nil)
		req.Header.Set("Authorization", "Bearer token")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != c.want {
			t.Errorf("after %v: %d", c.after, resp.StatusCode)
		}
	}
}

// A file ends where its kind ends, whether its length is told or not.
func TestLargeFilesAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		f    channel.File
		want int64
	}{
		{channel.File{Type: "image/jpeg"}, 5 << 20}, {channel.File{Type: "image/webp"}, 5 << 20}, {channel.File{Type: "audio/ogg; codecs=opus"}, 16 << 20}, {channel.File{Type: "video/mp4"}, 16 << 20},
		{channel.File{Type: "application/pdf", Name: "a.pdf"}, 100 << 20}, {channel.File{Type: "image/png", Name: "scan.png"}, 100 << 20}, {channel.File{}, 100 << 20},
	} {
		if got := limit(c.f); got != c.want {
			t.Errorf("%+v: %d", c.f, got)
		}
	}
	const most = 5 << 20
	content := make([]byte, most+1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := most
		if strings.HasPrefix(r.URL.Path, "/large") {
			n++
		}
		if strings.HasSuffix(r.URL.Path, "told") {
			w.Header().Set("Content-Length", fmt.Sprint(n))
		}
		_, _ = w.Write(content[:n])
	}))
	t.Cleanup(server.Close)
	for _, path := range []string{"/small-told", "/small", "/large-told", "/large"} {
		api, _ := place(t, at1(server.URL+path), "")
		w := newWorld(t, func(o *Options, _ *cloudtest.Options) { o.API = api })
		r, err := w.Fetch(t.Context(), channel.File{ID: "77", Type: "image/png"})
		if (path == "/large-told") != (err != nil) { // what is told is not read
			t.Errorf("%s: %v", path, err)
		}
		var got []byte
		if err == nil {
			got, err = io.ReadAll(r)
			r.Close()
		}
		if large := strings.HasPrefix(path, "/large"); large && why(t, err) != (failed{code: "size", permanent: true}) || !large && (err != nil || len(got) != most) || len(got) > most {
			t.Errorf("%s: %d bytes, %v", path, len(got), err)
		}
	}
}

// A file that breaks off, or whose place is not told, can be had later.
func TestAFileThatBreaksOffIsNotWhole(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("whole"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "5")
		fmt.Fprint(w, "who")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(server.Close)
	api, _ := place(t, at1(server.URL), hex.EncodeToString(sum[:]))
	w := newWorld(t, func(o *Options, _ *cloudtest.Options) { o.API = api })
	if _, err := fetch(t, w, channel.File{ID: "77"}); why(t, err) != (failed{code: "lost"}) {
		t.Error(err)
	}
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	t.Cleanup(silent.Close)
	w = newWorld(t, func(o *Options, _ *cloudtest.Options) { o.API = silent.URL })
	if _, err := fetch(t, w, channel.File{ID: "77"}); why(t, err) != (failed{code: "lost"}) {
		t.Error(err)
	}
	api, _ = place(t, at1(""), "")
	w = newWorld(t, func(o *Options, _ *cloudtest.Options) { o.API = api })
	if _, err := fetch(t, w, channel.File{ID: "77"}); why(t, err) != (failed{code: "answer"}) {
		t.Error(err)
	}
	// The sum of the API is looked at where the message has none.
	whole := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "other") }))
	t.Cleanup(whole.Close)
	api, _ = place(t, at1(whole.URL), base64.StdEncoding.EncodeToString(sum[:]))
	w = newWorld(t, func(o *Options, _ *cloudtest.Options) { o.API = api })
	if _, err := fetch(t, w, channel.File{ID: "77"}); why(t, err) != (failed{code: "sum"}) {
		t.Error(err)
	}
}
