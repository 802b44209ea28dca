package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
)

// The first thing that anybody reads is true: the commands of the README print
// what it says they print, its palette is in the palette, and its calls are
// calls. With -update the output is written into it.
func TestReadmeIsTrue(t *testing.T) {
	t.Parallel()
	const name = "../../README.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	palette, err := os.ReadFile("../../verbs/client.yaml")
	if err != nil {
		t.Fatal(err)
	}
	reg, ds := verbs.Load(os.DirFS("../../verbs"))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	s := newShell(t)
	blocks := 0
	var last lastIDs
	written := regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").ReplaceAllStringFunc(string(text), func(block string) string {
		blocks++
		head, body, _ := strings.Cut(block, "\n")
		body = strings.TrimSuffix(body, "```")
		switch head {
		case "```console":
			return playedBlock(block, head+"\n"+s.replay(t, body, &last)+"```")
		case "```yaml":
			for _, piece := range leftOut.Split(body, -1) {
				if !strings.Contains(string(palette), piece) {
					t.Errorf("this is not in verbs/client.yaml:\n%s", piece)
				}
			}
		case "```dsl":
			script, ds := dsl.Parse(dsl.NewSource("README.md", body))
			_, more := reg.Check(script, nil)
			if ds = append(ds, more...); len(ds) > 0 {
				t.Errorf("%v: %s", ds, body)
			}
		default:
			t.Errorf("nothing checks a block of %s", strings.TrimPrefix(head, "```"))
		}
		return block
	})
	if blocks < 5 {
		t.Errorf("only %d blocks were found", blocks)
	}
	if *update {
		if err := os.WriteFile(name, []byte(written), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, want := anyReference(written), anyReference(string(text)); got != want {
		var b strings.Builder
		writeDiff(&b, "README.md", want, got)
		t.Errorf("the README says something else than the program (-update writes what the program says):\n%s", b.String())
	}
}

// anyReference is text without what depends on every word of the palettes, or is
// drawn at random: it differs and means nothing.
func anyReference(text string) string {
	return declaredAt.ReplaceAllString(referring.ReplaceAllString(anyID(text), "upload://REFERENCE"), "${1}LINE")
}

// playedBlock is what a block prints now, or the block as it stands when nothing
// differs that means anything.
func playedBlock(was, is string) string {
	if anyReference(was) == anyReference(is) {
		return was
	}
	return is
}

// lastIDs are the ids of a preview and of what waits for somebody.
type lastIDs struct{ preview, waiting string }

// replay runs the commands of a block and gives the block as it should read.
// last are the ids that were printed last.
func (s shellIn) replay(t *testing.T, body string, last *lastIDs) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(body) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		command = strings.TrimSpace(command)
		// An id is good for the rows as they are, so the one that was printed
		// last is meant.
		command = confirming.ReplaceAllString(command, "--confirm "+last.preview)
		command = settling.ReplaceAllString(command, "verbatim confirm "+last.waiting)
		out, _, _ := s.run(t, "exec 2>&1; "+command)
		for _, id := range previewed.FindAllStringSubmatch(out, -1) {
			last.preview = id[1] + "-" + id[2]
		}
		for _, id := range settling.FindAllStringSubmatch(out, -1) {
			last.waiting = id[1]
		}
		b.WriteString("$ " + command + "\n" + out)
	}
	return b.String()
}

var (
	statements = regexp.MustCompile(`\b[1-9]\d* statements run`) // grows with what the engine keeps of its own
	settling   = regexp.MustCompile(`verbatim confirm ([0-9a-f]{4}-[0-9a-f]{4})`)
	confirming = regexp.MustCompile(`--confirm [0-9a-f]{4}-[0-9a-f]{4}`)
	deciding   = regexp.MustCompile(`(?m)((?:^|\bverbatim )confirm +|^|"id":"|:id ")(?:[0-9a-f]{4}[- ]){1,7}[0-9a-f]{4}\b`)
	leftOut    = regexp.MustCompile(`(?m)^ *# … .*\n`) // a line that stands for others
	declaredAt = regexp.MustCompile(`(declared  [a-z/]+\.yaml:)\d+`)
	referring  = regexp.MustCompile(`upload://[a-z0-9]{32}\b`)
	suffixed   = regexp.MustCompile(`~([0-9a-hjkmnp-tv-z]{16}|[0-9a-hjkmnp-tv-z]{6})\b`)
	previewed  = regexp.MustCompile(`preview ([0-9a-f]{4}) ([0-9a-f]{4})`)
)

func anyID(text string) string {
	text = statements.ReplaceAllString(text, "some statements run")
	text = suffixed.ReplaceAllString(text, "~SUFFIX")
	text = deciding.ReplaceAllString(text, "${1}ID")
	return previewed.ReplaceAllString(confirming.ReplaceAllString(text, "--confirm ID"), "preview ID")
}
