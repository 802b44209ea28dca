package server

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"verbatim/runtime/frontends/http/pages"
)

// Pages, style sheets and scripts are sent by gzip to those who take it, and as they are to the others.
func TestPagesAreSentSmall(t *testing.T) {
	t.Parallel()
	s := &Server{public: &url.URL{Host: "bank.example"}, Options: Options{Brand: pages.Brand{Name: "Bank of the North"}}}
	of := func(accepts string, answer func(*Visit) error) (text string, small bool) {
		t.Helper()
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", accepts)
		r.SetPathValue("name", "style.css")
		if err := answer(&Visit{Server: s, W: w, R: r, Route: &Route{}}); err != nil {
			t.Fatal(err)
		}
		if w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("it varies by %q", w.Header().Get("Vary"))
		}
		body := io.Reader(w.Body)
		if small = w.Header().Get("Content-Encoding") == "gzip"; small {
			z, err := gzip.NewReader(body)
			if err != nil {
				t.Fatal(err)
			}
			body = z
		}
		all, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		return string(all), small
	}
	for _, answer := range []func(*Visit) error{func(v *Visit) error { return v.Render(http.StatusOK, v.Frame("A page")) }, (*Visit).asset} {
		whole, small := of("", answer)
		if small || len(whole) < 500 {
			t.Errorf("who takes no gzip gets %d bytes, by gzip %t", len(whole), small)
		}
		for accepts, want := range map[string]bool{"gzip": true, "br, GZIP;q=0.8": true, "gzip;q=0": false, "identity": false, "x-gzip-2": false} {
			if text, small := of(accepts, answer); text != whole || small != want {
				t.Errorf("%q: by gzip is %t, and %d of %d bytes", accepts, small, len(text), len(whole))
			}
		}
	}
	// The organisation is configured, and is never the name of a machine. (G55)
	if page, _ := of("", func(v *Visit) error { return v.Render(http.StatusOK, v.Frame("A page")) }); !strings.Contains(page, "<title>A page – Bank of the North</title>") || strings.Contains(page, "bank.example") {
		t.Error(page)
	}
}
