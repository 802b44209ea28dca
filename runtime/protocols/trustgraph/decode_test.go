package trustgraph

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s is otherwise:\n%s", name, got)
	}
}

// T10, T38, T52: what each request of the file means, and what is said of one that is wrong.
func TestARequestIsReadOrItsSenderIsToldWhatIsWrong(t *testing.T) {
	t.Parallel()
	const name = "testdata/requests.txt"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "= ") || strings.HasPrefix(line, "! ") {
			continue
		}
		got.WriteString(line)
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		r, err := DecodeRequest([]byte(line))
		if err != nil {
			fmt.Fprintf(&got, "! %s\n", err.(*Error).Message)
			continue
		}
		fmt.Fprintf(&got, "= %s\n", encoded(r))
	}
	golden(t, name, got.String())
}

// T38: what a client sends is bounded.
func TestARequestThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxText+1)
	for _, c := range []struct{ text, want string }{
		{`{"question":"` + long + `"}`, "question is longer than 262144 bytes"},
		{`{"question":"q","session_id":"` + long + `"}`, "session_id is longer than 1000 bytes"},
		{`{"question":"q","plan":"` + long + `"}`, "plan is longer than 1000 bytes"},
		{`{"question":"q","group":["` + long + `"]}`, "group is longer than 1000 bytes"},
		{`{"question":"q","group":[` + strings.Repeat(`"a",`, maxGroup) + `"a"]}`, "group has more than 100 members"},
		{`{"question":"q","history":[` + strings.Repeat(`{},`, maxSteps) + `{}]}`, "history has more than 1000 steps"},
		{`{"question":"q","history":[{"arguments":{"a":"` + long + `"}}]}`, "history[0].arguments is longer than 262144 bytes"},
		{`{"question":"q","x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "the request is not JSON"},
		{"{\"question\":\"\xff\"}", "the request is not JSON"},
		{"", "the request is not JSON"},
	} {
		if _, err := DecodeRequest([]byte(c.text)); err == nil || err.(*Error).Message != c.want {
			t.Errorf("%.60s: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestAShapeIsKnownByItsName(t *testing.T) {
	t.Parallel()
	for _, s := range []Shape{Chunked, ChunkType, Old} {
		if got, err := ParseShape(s.String()); got != s || err != nil {
			t.Errorf("%v: %v, %v", s, got, err)
		}
	}
	if _, err := ParseShape("new"); err == nil {
		t.Error("there is no shape new")
	}
}

// T38: whatever comes, it is read or refused, and what was read is written so that it means
// the same.
func FuzzRequest(f *testing.F) {
	text, err := os.ReadFile("testdata/requests.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if line[0] == '{' {
			f.Add(bytes.TrimSpace(line))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := DecodeRequest(text)
		if err != nil {
			if e, ok := err.(*Error); !ok || len(e.Message) > 400 || e.Type != BadRequest {
				t.Fatalf("%v", err)
			}
			return
		}
		once := encoded(r)
		again, err := DecodeRequest(once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice := encoded(again); !bytes.Equal(once, twice) {
			t.Fatalf("%s\n%s", once, twice)
		}
	})
}
