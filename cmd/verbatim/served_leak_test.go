package main

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"verbatim/runtime/domains/rights"
	"verbatim/verbs/load"
)

// SAFE-A1, SAFE-A2: through the API, what is somebody else's is answered as what is not
// there, to the byte: for every reference argument of every verb that a client may use,
// by each route that takes a call, and for sessions, files and confirmations. Nothing is
// changed by any of it.
func TestNothingLeaksThroughTheAPI(t *testing.T) {
	t.Parallel()
	reg, ds := load.Dir(os.DirFS("../../verbs/palettes/bank"), load.Beside(rights.Source()))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	onBoth(t, func(t *testing.T, h *house) {
		s := h.serve("--log", "off", "--sign-in", "clara", "--sign-in", "jonas")
		clara, jonas := newVisitor(t).comes(s, "clara"), newVisitor(t).comes(s, "jonas")
		run := func(v *visitor, route, script string) (int, string) {
			status, body, err := v.post(s.url+route, "", map[string]string{"script": script})
			if err != nil {
				t.Fatal(err)
			}
			return status, body
		}
		// What jonas sees, clara does not: the names of his rows, by what they are.
		_, his := run(jonas, "/v1/run", "client.get-companies client.get-outstanding :include-completed true")
		names := regexp.MustCompile(`"@([a-z0-9-]+)"`).FindAllStringSubmatch(his, -1)
		_, hers := run(clara, "/v1/run", "client.get-companies client.get-outstanding :include-completed true")
		foreign := map[string]bool{}
		for _, n := range names {
			if !strings.Contains(hers, n[0]) {
				foreign[n[1]] = true
			}
		}
		if len(foreign) < 2 {
			t.Fatalf("jonas sees %d rows that clara does not: %s", len(foreign), his)
		}
		before := h.do("log", "show", "--as", "d.lang")
		tried := 0
		for _, verb := range reg.Verbs() {
			for i := range verb.Params {
				p := &verb.Params[i]
				if p.Type.Entity == nil || verb.Internal || !strings.HasPrefix(verb.Name, "client.") {
					continue
				}
				place := regexp.MustCompile(`(:` + p.Name + ` )@[a-z0-9-]+`)
				example := verb.Example()
				if !place.MatchString(example) {
					example += " :" + p.Name + " @x"
				}
				for name := range foreign {
					absent := strings.Map(func(r rune) rune {
						if r >= 'a' && r <= 'z' {
							return 'a' + (r-'a'+13)%26
						}
						return r
					}, name)
					for _, route := range []string{"/v1/check", "/v1/preview", "/v1/run", "/v1/propose"} {
						tried++
						status, theirs := run(clara, route, place.ReplaceAllString(example, "${1}@"+name))
						none, nothing := run(clara, route, place.ReplaceAllString(example, "${1}@"+absent))
						if status != none || masked(theirs) != strings.ReplaceAll(masked(nothing), absent, name) {
							t.Errorf("%s %s :%s\n%d %s\n%d %s", route, verb.Name, p.Name, status, theirs, none, nothing)
						}
						if status == http.StatusOK && route != "/v1/check" {
							t.Errorf("%s %s :%s is done with another's row: %s", route, verb.Name, p.Name, theirs)
						}
					}
				}
			}
		}
		for _, path := range []string{"/v1/sessions/his", "/v1/confirmations/1111-2222-3333-4444-5555-6666-7777-8888"} {
			tried++
			if status, body := clara.get(s.url + path); status != http.StatusNotFound {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
		var lines []string
		for line := range strings.Lines(strings.TrimPrefix(h.do("log", "show", "--as", "d.lang"), before)) {
			if !strings.Contains(line, "refused") {
				lines = append(lines, line)
			}
		}
		if len(lines) > 0 {
			t.Errorf("the journal tells of\n%s", strings.Join(lines, ""))
		}
		t.Logf("%d questions about %d rows of another's, each answered as one about nothing", tried, len(foreign))
	})
}
