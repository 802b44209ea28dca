package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// X12, X9: no answer is a dead end. Whatever Clara is refused for, she is told why,
// the code is explained, what she is told to do next can be done and leads on, and a
// person can be asked for after any of them. A step that is told is carried out here
// as it is told: every command and every verb that an answer names, and the call
// that does what it says.
func TestNoRefusalIsADeadEnd(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	says := func(who, script string) (string, int) {
		t.Helper()
		name := "call.dsl"
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(script+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		out, said, code := s.run(t, "verbatim run --yes --session portal --as "+who+" "+name)
		return out + said, code
	}
	const (
		thomas, pierre, maria, settled = "@thomas-muller-identity", "@pierre-dupont-source-of-wealth", "@maria-schmidt-date-of-birth", "@clara-weiss-identity"
		file                           = `"upload://thm7qk2vx9dn4wz8rc5gy3pb6jfe0sau"`
		passport                       = "client.submit-document :request-id " + thomas + " :document-type PASSPORT :file-reference " + file
		detail                         = "client.get-request-detail :request-id "
	)
	verb, command := regexp.MustCompile(`client\.[a-z]+(?:-[a-z]+)*`), regexp.MustCompile(`verbatim explain [a-z.-]+[a-z]`)
	known := func(v string) bool {
		_, _, code := s.run(t, "verbatim explain "+v)
		return code == exitDone
	}
	tried := map[string]bool{}
	for _, c := range []struct {
		call, code string
		says       string // the next step, as it is told
		then       string // carried out
	}{
		{"client.add-noet :request-id " + pierre + ` :note "x"`, "unknown-verb", `did you mean "client.add-note"`, "client.add-note :request-id " + pierre + ` :note "x"`},
		{"client.add-note :request-id " + pierre + ` :notes "x"`, "unknown-argument", `did you mean ":note"`, "client.add-note :request-id " + pierre + ` :note "y"`},
		{"client.add-note :request-id " + pierre, "missing-argument", ":note", "client.add-note :request-id " + pierre + ` :note "z"`},
		{"client.submit-document :request-id " + thomas + " :document-type PASPORT :file-reference " + file, "unknown-code", `did you mean "PASSPORT"`, passport},
		{passport, "requirement-not-met", "client.get-request-detail says what became of it", detail + thomas},
		{"client.submit-document :request-id " + pierre + " :document-type UTILITY_BILL :file-reference " + file, "requirement-not-met", "client.get-request-detail says what would do", detail + pierre},
		{"client.submit-document :request-id " + pierre + ` :document-type TAX_RETURN :file-reference "upload://nothing"`, "unknown-upload", "send", "client.add-note :request-id " + pierre + ` :note "I will send it"`},
		{"client.submit-document :request-id " + pierre + ` :document-type TAX_RETURN :file-reference "return.pdf"`, "pattern-mismatch", "upload://", "client.submit-document :request-id " + pierre + " :document-type TAX_RETURN :file-reference " + file},
		{"client.add-note :request-id " + settled + ` :note "x"`, "requirement-not-met", "settled", detail + settled},
		{`client.add-note :request-id @the-king-of-france :note "x"`, "unknown-name", "a row you can see", "client.get-outstanding"},
		{"client.add-note :request-id " + maria + ` :note "x" :expected-date 2020-01-01`, "out-of-range", "today", "client.add-note :request-id " + maria + ` :note "x"`},
		{"client.add-note :request-id " + maria + ` :note "x" :expected-date "2025-02-30"`, "invalid-date", "28 days", "client.add-note :request-id " + maria + ` :note "y"`},
		{"client.provide-info :request-id " + maria + ` :info-type DATE_OF_BIRTH :collected-data {:date_of_birth "1850-01-01"}`, "schema-mismatch", "after 1 January 1900", "client.start-collection :request-id " + maria},
		{"client.collection-confirm :confirmed true", "not-possible", `client.collection-response :field "date_of_birth" gives the answer`, `client.collection-response :field "date_of_birth" :value "15 March 1972"`},
		{"client.start-collection :request-id " + settled, "requirement-not-met", "settled", "client.start-collection :request-id " + maria},
		{`client.collection-skip :field "shoe_size"`, "not-possible", "client.start-collection", "client.start-collection :request-id " + maria},
		{"review.waive :request-id " + pierre + ` :reason "We do not like it"`, "not-permitted", "says who may; ask one of them", `client.escalate :reason "We cannot get it" :preferred-contact CALL`},
	} {
		said, code := says("clara", c.call)
		if code == exitDone || !strings.Contains(said, "["+c.code+"]") || !strings.Contains(said, c.says) {
			t.Errorf("%s\nexit %d, want %s and %q:\n%s", c.call, code, c.code, c.says, said)
			continue
		}
		for _, named := range append(verb.FindAllString(said, -1), command.FindAllString(said, -1)...) {
			if named == "client.yaml" || tried[named] || strings.Contains(c.call, named+" ") && !known(named) {
				continue
			}
			tried[named] = true
			if !known(strings.TrimPrefix(named, "verbatim explain ")) {
				t.Errorf("%s\nis told of %s, which there is not:\n%s", c.call, named, said)
			}
		}
		if !known(c.code) {
			t.Errorf("nothing explains %s", c.code)
		}
		if then, code := says("clara", c.then); code != exitDone {
			t.Errorf("%s\nwas told to go on by %q, and cannot (exit %d):\n%s", c.call, c.then, code, then)
		}
		// Whatever it was, a person can be asked for.
		if escalated, code := says("clara", `client.escalate :reason "I do not get on"`); code != exitDone {
			t.Errorf("after %s nobody can be asked for (exit %d):\n%s", c.code, code, escalated)
		}
	}
}
