package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"verbatim/dsl"
	"verbatim/runtime/domains/rights"
	"verbatim/runtime/engine"
	"verbatim/runtime/tests/norace"
	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

var everyPayload = flag.Bool("payloads", false, "put every payload into every argument, instead of a twentieth of them in turn")

// payloads are texts that mean something to somebody: to a database, a pattern,
// a protocol, a spreadsheet, a browser, a terminal, or our own language.
func payloads() []string {
	heads := []string{"", "x", "'", "\"", "\\", ")", "]]", "\n", "\r\n", "\u202e", "\t", "@ann ", ":note ", "; "}
	bodies := []string{
		"' OR '1'='1", "'; DROP TABLE t; --", "\" OR \"\"=\"", "1); DELETE FROM t; --", "$1", ":name", "?1", "%", "_", "%'; --", "\\%",
		"x' UNION SELECT name FROM verbatim_principal --", "/* */", "-- comment", "E'\\x27'", "$$;$$", "'||pg_sleep(1)||'", "{{7*7}}", "${jndi:ldap://x}",
		"=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", "\r\nSet-Cookie: a=b", "<script>alert(1)</script>", "<img src=x onerror=y>", "**bold** [x](http://y)",
		"![](http://y/z)", "\x1b[2K\x1b[1A", "\x07", "\u202egnirts", "zero\u200bwidth", "раураl", "(a.b :c @d)", "client.escalate",
		"\" :as @x (a.b :c @d) \"", "(withheld)", "nil", "../../etc/passwd", "{\"a\":1}", "\ufeff", "\U0001f4a9",
	}
	var all []string
	for _, h := range heads {
		for _, b := range bodies {
			all = append(all, h+b)
		}
	}
	return append(all, strings.Repeat("A", 200), strings.Repeat("é", 200))
}

// withText writes a call as crowd.call does, with a text in one argument.
func (c *crowd) withText(v *verbs.Verb, arg int, text string) string {
	rest := *v
	rest.Params = slices.Delete(slices.Clone(v.Params), arg, arg+1)
	return c.call(&rest, false) + " :" + v.Params[arg].Name + " " + dsl.FormatValue(dsl.NewString(text))
}

// SAFE-A6: a text is a text, whatever it would mean to somebody else. Every
// argument that takes text, of every verb of every palette that we ship, is given
// every payload (a twentieth of them in turn, unless -payloads is given). Where the
// call can be done the text stands in the journal, and in the rows that it went
// to, as it was given; whatever becomes of the call, nothing that the command
// prints moves a cursor, breaks a line or a column, or is no JSON.
func TestTextsAreTextsInEveryOutput(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	all := payloads()
	if len(all) < 500 {
		t.Fatalf("%d payloads", len(all))
	}
	domains := shippedReads(t)
	domains["desk"] = func(t *testing.T) (*verbs.Registry, *engine.Handlers) {
		return mustLoad(t)(load.Dir(os.DirFS("../../examples/helpdesk/verbs"))), &engine.Handlers{Partial: true}
	}
	dirs := map[string]string{"client": "bank", "retail": "../../examples/retail/verbs", "manda": "manda", "kyc": "kyc", "kiisha": "kiisha", "desk": "../../examples/helpdesk/verbs", "graph": "confidence"}
	for domain, load := range domains {
		t.Run(domain, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "verbatim.db")
			store, err := sqlite.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			reg, _ := load(t)
			if domain != "system" {
				reg = loadedFrom(t, dirs[domain], rights.Source())
			}
			h := &engine.Handlers{Partial: true}
			rights.Register(h, reg)
			c := newCrowd(t, reg, h, store, 2, 1, 2, 4, 6)
			holds := map[string][]stores.Value{}
			for _, e := range reg.Entities() {
				if len(e.Store.Scope) == 0 && e.Store.Access == stores.ByPath {
					holds[e.Store.Name] = []stores.Value{c.value(e.Store, e.Store.Key, 0)}
				}
			}
			palettes := dirs[domain]
			if palettes == "" {
				palettes = filepath.Join(dir, "verbs")
				if err := os.Mkdir(palettes, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(palettes, "empty.yaml"), []byte("domain: empty\ndescription: Nothing.\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			env := map[string]string{"VERBATIM_PALETTES": palettes, "VERBATIM_STORE": file}
			outputs := 0
			play := func(args ...string) (string, int) {
				var out, errs bytes.Buffer
				code := run(context.Background(), world{load: loadOnce, args: args, in: strings.NewReader(""), out: &out, err: &errs,
					env: func(name string) string { return env[name] }, now: func() time.Time { return time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC) }})
				for _, text := range []string{out.String(), errs.String()} {
					outputs++
					for _, r := range text {
						if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
							t.Fatalf("verbatim %s prints %q:\n%s", strings.Join(args, " "), r, text)
						}
					}
				}
				if slices.Contains(args, "--json") {
					for d := json.NewDecoder(strings.NewReader(out.String())); d.More(); {
						var v any
						if err := d.Decode(&v); err != nil {
							t.Fatalf("verbatim %s: no JSON: %v", strings.Join(args, " "), err)
						}
					}
				}
				return out.String() + errs.String(), code
			}
			script := filepath.Join(dir, "payloads.dsl")
			write := func(calls ...string) {
				if err := os.WriteFile(script, []byte(strings.Join(calls, "\n")+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			arguments, calls, done, kept := 0, 0, 0, 0
			given := map[string][]string{} // by verb and argument, what was done
			for _, v := range reg.Verbs() {
				if len(v.Roles) == 0 || domain != "system" && strings.HasPrefix(v.Name, "system.") {
					continue // nobody's, or tried elsewhere
				}
				who := roleOf(v)
				if err := store.SetPrincipal(t.Context(), stores.Principal{Name: who, Roles: []string{who}, Holds: holds}); err != nil {
					t.Fatal(err)
				}
				for i := range v.Params {
					p := &v.Params[i]
					if p.Type.Name != verbs.StringType && p.Type.Name != verbs.AnyType {
						continue
					}
					arguments++
					var texts, lines []string
					for n, text := range all {
						if *everyPayload || (n+arguments)%20 == 0 {
							texts = append(texts, text)
							lines = append(lines, c.withText(v, i, text))
						}
					}
					calls += len(lines)
					write(lines...)
					_, code := play("run", "--dry-run", "--full", "--as", who, script)
					play("run", "--dry-run", "--json", "--as", who, script)
					play("check", "--json", script)
					if code == exitDone {
						_, code = play("run", "--yes", "--full", "--as", who, script)
					}
					if code == exitDone {
						done += len(lines)
						given[v.Name+" "+p.Name] = texts
						continue
					}
					// What cannot be done together is told for one at a time.
					for n := 0; n < len(lines); n += 9 {
						write(lines[n])
						play("run", "--dry-run", "--as", who, script)
						if _, code := play("run", "--yes", "--as", who, script); code == exitDone {
							done++
							given[v.Name+" "+p.Name] = append(given[v.Name+" "+p.Name], texts[n])
						}
						play("run", "--yes", "--json", "--as", who, script)
					}
				}
			}
			// What the journal and the lists print.
			if err := store.SetPrincipal(t.Context(), stores.Principal{Name: "keeper", Roles: []string{"journal-keeper"}}); err != nil {
				t.Fatal(err)
			}
			listed, _ := play("log", "show", "--as", "keeper")
			entries, err := store.Journal(t.Context(), 1, 0)
			if err != nil {
				t.Fatal(err)
			}
			if lines := strings.Split(strings.TrimSuffix(listed, "\n"), "\n"); len(entries) > 0 && len(lines) != len(entries) {
				t.Errorf("%d entries on %d lines", len(entries), len(lines))
			} else {
				for _, line := range lines {
					if len(entries) > 0 && strings.Count(line, "\t") != 4 {
						t.Errorf("a line of the journal has other columns: %q", line)
					}
				}
			}
			whole, _ := play("log", "show", "--as", "keeper", "--json")
			for n := 0; n < len(entries); n += 97 {
				play("log", "show", "--as", "keeper", fmt.Sprint(n+1))
				play("log", "show", "--as", "keeper", "--json", fmt.Sprint(n+1))
			}
			for _, role := range reg.Roles() {
				if err := store.SetPrincipal(t.Context(), stores.Principal{Name: role.Name, Roles: []string{role.Name}, Holds: holds}); err != nil {
					t.Fatal(err)
				}
				waiting, _ := play("confirm", "--as", role.Name)
				play("confirm", "--json", "--as", role.Name)
				for line := range strings.Lines(waiting) {
					if id, rest, ok := strings.Cut(line, "\t"); ok && len(id) == 9 {
						if strings.Count(rest, "\t") != 3 {
							t.Errorf("a line of what waits has other columns: %q", line)
						}
						play("confirm", "--as", role.Name, id)
						play("confirm", "--json", "--as", role.Name, id)
					}
				}
			}
			// What was done stands where it went, as it was given.
			stored := map[string]bool{}
			err = store.View(t.Context(), stores.Scope{All: true}, func(r stores.Reader) error {
				for _, e := range reg.Entities() {
					rows, err := r.Find(t.Context(), stores.Find{Entity: e.Store})
					if err != nil {
						return err
					}
					for _, row := range rows {
						for _, v := range row {
							stored[v.Text()] = true
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			// What is somebody's to have forgotten stands elsewhere, and is withheld
			// in a list.
			const withheldText = "(personal)"
			told := map[string]bool{}
			for d := json.NewDecoder(strings.NewReader(whole)); d.More(); {
				var e struct{ Call string }
				if err := d.Decode(&e); err != nil {
					t.Fatal(err)
				}
				parsed, ds := dsl.Parse(dsl.NewSource("journal", e.Call))
				if ds.HasErrors() || len(parsed.Calls) != 1 {
					t.Errorf("a call in the journal does not read back: %q", e.Call)
					continue
				}
				for _, arg := range parsed.Calls[0].Args {
					told[parsed.Calls[0].Verb+" "+arg.Key+" "+arg.Value.Text] = true
				}
			}
			for what, texts := range given {
				verb, name, _ := strings.Cut(what, " ")
				v := reg.Verb(verb)
				i := slices.IndexFunc(v.Params, func(p verbs.Param) bool { return p.Name == name })
				into := slices.ContainsFunc(v.Effects, func(e verbs.Effect) bool {
					return e.Entity != nil && e.When == nil && !e.May && slices.ContainsFunc(e.Set, func(s verbs.Set) bool {
						only, alone := s.Value.ArgOnly()
						return alone && only == i
					}) && e.Kind == verbs.Creates
				})
				for _, text := range texts {
					if into && !stored[text] {
						t.Errorf("%s :%s was given %q, which is not there", verb, name, text)
					}
					if into {
						kept++
					}
					if writes(v) && !told[what+" "+text] && !told[what+" "+withheldText] {
						t.Errorf("%s :%s was given %q, which the journal does not tell", verb, name, text)
					}
				}
			}
			t.Logf("%d arguments, %d calls, of which %d were done and %d added a row with the text; %d outputs", arguments, calls, done, kept, outputs)
			if arguments == 0 || calls == 0 {
				t.Error("nothing was tried")
			}
		})
	}
}

// writes reports whether a verb promises more than an answer.
func writes(v *verbs.Verb) bool {
	return slices.ContainsFunc(v.Effects, func(e verbs.Effect) bool { return e.Kind != verbs.ReturnsEffect && e.Kind != verbs.Validates })
}
