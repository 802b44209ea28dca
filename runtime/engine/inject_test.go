package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores/receipt"
)

// payloads are texts that mean something to somebody: to a database, a pattern,
// a protocol, a spreadsheet, a browser, a terminal, or our own language.
func payloads() []string {
	heads := []string{"", "x", "'", "\"", "\\", ")", "]]", "\n", "\r\n", "\u202e", "\t", "@ann ", ":note ", "; "}
	bodies := []string{
		"' OR '1'='1", "'; DROP TABLE club_items; --", "\" OR \"\"=\"", "1); DELETE FROM club_items; --", "$1", ":name", "?1", "%", "_", "%'; --", "\\%",
		"x' UNION SELECT name FROM verbatim_principal --", "/* */", "-- comment", "E'\\x27'", "$$;$$", "'||pg_sleep(1)||'", "{{7*7}}", "${jndi:ldap://x}",
		"=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", "\r\nSet-Cookie: a=b", "<script>alert(1)</script>", "<img src=x onerror=y>", "**bold** [x](http://y)",
		"![](http://y/z)", "\x1b[2K\x1b[1A", "\x07", "\u202egnirts", "zero\u200bwidth", "раураl", "(lending.lose :item-id @drill)", "lending.lose :item-id @drill",
		"\" :as @x (lending.lose :item-id @drill) \"", "(withheld)", "nil", "../../etc/passwd", "{\"a\":1}", "\ufeff", "\U0001f4a9",
	}
	var all []string
	for _, h := range heads {
		for _, b := range bodies {
			all = append(all, h+b)
		}
	}
	return append(all, strings.Repeat("A", 200), strings.Repeat("é", 200))
}

// SAFE-A6: a text is a text. Whatever it would mean to somebody else, it is
// stored as it is, changes nothing but what its verb declares, and stands in the
// journal as a call that reads back as what it was.
func TestTextsAreNothingButTexts(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"sqlite", "postgres"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			w := twinWorld(t, backend, 2)
			all := payloads()
			if len(all) < 500 {
				t.Fatalf("%d payloads", len(all))
			}
			before := w.state()
			var script strings.Builder
			for _, p := range all {
				fmt.Fprintf(&script, "lending.remind :loan-id @saw-bob :on 2025-02-01 :text %s\n", dsl.FormatValue(dsl.NewString(p)))
			}
			s := w.session("kim")
			reply, err := s.Run(t.Context(), w.program(s, script.String()), engine.RunOptions{})
			if err != nil {
				t.Fatal(err)
			}
			after := w.state()
			stored := make(map[string]int)
			text := w.entity("reminder").FieldIndex("text")
			for key, row := range after {
				if was, there := before[key]; there {
					if fmt.Sprint(was) != fmt.Sprint(row) {
						t.Errorf("%s changed", key)
					}
					continue
				}
				if !strings.HasPrefix(key, "reminder ") {
					t.Errorf("%s was added", key)
				}
				stored[row[text].Text()]++
			}
			if len(after) != len(before)+len(all) {
				t.Errorf("%d rows became %d", len(before), len(after))
			}
			entries := w.journal()
			for i, p := range all {
				if stored[p] == 0 {
					t.Errorf("%q is not there", p)
				}
				stored[p]--
				got := reply.Calls[i].Rows[0].Fields
				if !slices.ContainsFunc(got, func(f receipt.Field) bool { return f.Name == "text" && f.After.Text() == p }) {
					t.Errorf("%q is told as %v", p, got)
				}
				call, ds := dsl.Parse(dsl.NewSource("journal", entries[i].Call))
				if len(ds) > 0 || len(call.Calls) != 1 || call.Calls[0].Verb != "lending.remind" {
					t.Fatalf("%q reads back as %s", entries[i].Call, told(ds))
				}
				if v, _ := call.Calls[0].Get("text"); v.Text != p || strings.ContainsAny(entries[i].Call, "\n\r\x1b\u202e") {
					t.Errorf("%q stands in the journal as %q", p, entries[i].Call)
				}
			}
			t.Logf("%d texts", len(all))
		})
	}
}
