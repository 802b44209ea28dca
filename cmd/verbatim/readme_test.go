package main

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/runtime/domains/confidence"
	"verbatim/runtime/frontends/mcp/guard"
	"verbatim/runtime/protocols/mcp"
	"verbatim/stores/postgres/pgtest"
	"verbatim/verbs/load"
	"verbatim/verbs/strict"
)

// A page is a Markdown file whose blocks the tests play. The commands of a
// console block print what stands below them. A sh block is pasted as a whole,
// and the text block after it holds what it prints. A block with file=NAME is
// written into the folder. YAML stands in the palette, Go in the file that the
// page names, and calls are calls. With -update, what is printed is written into
// the page.
type page struct {
	name    string
	palette string                    // that its YAML stands in
	also    string                    // another one
	scripts string                    // a pattern; the page plays each of these files
	dir     string                    // where its files are written
	run     func(lines string) string // what a command prints
}

// consolePages are all that have a console block, besides the guides, in the order of the tests below.
var consolePages = []string{
	"README.md", "examples/client/README.md", "examples/retail/README.md", "examples/workshop/README.md",
	"examples/manda/README.md", "examples/kyc/README.md", "examples/kiisha/README.md", "examples/confidence/README.md",
}

// F35: no page shows a command that no test plays.
func TestEveryPageIsPlayed(t *testing.T) {
	t.Parallel()
	var found []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != root && strings.HasPrefix(d.Name(), ".") {
			return fs.SkipDir
		}
		if err != nil || filepath.Ext(name) != ".md" {
			return err
		}
		text, err := os.ReadFile(name)
		if strings.Contains(string(text), "\n```console") {
			found = append(found, strings.TrimPrefix(filepath.ToSlash(name), root+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found = slices.DeleteFunc(found, func(name string) bool { return path.Dir(name) == "cmd/verbatim/guide" })
	want := slices.Clone(consolePages)
	slices.Sort(want)
	slices.Sort(found)
	if !slices.Equal(found, want) {
		t.Errorf("pages with commands: %v\npages that are played: %v", found, want)
	}
}

// F34: the README can be followed. Its commands are pasted into a shell that
// knows nothing but where programs, a home and Go's caches are, at the top of a
// fresh copy of the tree. The program that they build has the real clock.
func TestReadmeIsTrue(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds the program")
	}
	clone := t.TempDir()
	if err := copyTree(clone); err != nil {
		t.Fatal(err)
	}
	sh := emptyShell(t, clone)
	p := page{name: "README.md", palette: "verbs/palettes/bank/client.yaml", run: sh.paste}
	p.play(t)
	for _, want := range []string{"go install ./cmd/verbatim", "make build", "make demo", "--confirm", "go -C"} {
		if !strings.Contains(sh.pasted.String(), want) {
			t.Errorf("the README does not run %s", want)
		}
	}
}

// Issue 49: what embeds the program is short enough to be read at once.
func TestEmbeddingIsShort(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"run": 60, "chat": 40} {
		text, err := os.ReadFile(filepath.Join(root, "examples/embed", name, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > most {
			t.Errorf("examples/embed/%s has %d lines; %d at most", name, n, most)
		}
	}
}

// copyTree copies what a clone holds.
func copyTree(to string) error {
	left := []string{".git", ".cache", "bin"}
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		switch {
		case slices.Contains(left, rel):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, info.Mode().Perm())
	})
}

// A lasting shell goes on from paste to paste, as a person's does.
type lasting struct {
	t      *testing.T
	in     io.Writer
	out    *bufio.Reader
	pasted strings.Builder
	end    string
}

// emptyShell starts a shell in a folder with an empty environment, apart from
// PATH, a home and what finds Go's caches. -trimpath and CGO_ENABLED=0 let copies
// of the tree share them with make test; TMPDIR is removed after the test.
func emptyShell(t *testing.T, dir string) *lasting {
	t.Helper()
	caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Split(string(caches), "\n")
	cmd := exec.Command("bash", "--noprofile", "--norc")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "GOCACHE=" + at[0], "GOMODCACHE=" + at[1], "DEMO=exit", "GOENV=off", "GOFLAGS=-trimpath -ldflags=-w", "CGO_ENABLED=0"} // to link what debuggers read takes as long as all else
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	return &lasting{t: t, in: in, out: bufio.NewReader(out), end: "the shell is done with it"}
}

// paste gives lines to the shell and returns what they print.
func (s *lasting) paste(lines string) string {
	s.t.Helper()
	s.pasted.WriteString(lines)
	fmt.Fprintf(s.in, "%s\necho; echo '%s'\n", strings.TrimRight(lines, "\n"), s.end)
	var b strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatalf("the shell ended: %v\n%s%s", err, b.String(), line)
		}
		if line == s.end+"\n" {
			return strings.TrimSuffix(b.String(), "\n")
		}
		b.WriteString(line)
	}
}

// F35: a bank moves to a PostgreSQL server as its guide says. The page names a
// server on this machine; the test has another.
func TestPostgresGuideIsTrue(t *testing.T) {
	t.Parallel()
	db := pgtest.Database(t)
	s := newShell(t)
	p := s.page(t, "cmd/verbatim/guide/move-to-postgresql.md", "", "")
	const super, owner, app = "postgres://postgres@localhost/bank", "postgres://verbatim_owner@localhost/bank", "postgres://verbatim_app@localhost/bank"
	printed := regexp.MustCompile(`postgres://[^\s:]*`)
	p.run = func(command string) string {
		out := s.prints(t, strings.NewReplacer(super, "'"+db.Admin+"'", owner, "'"+db.Owner+"'", app, "'"+db.App+"'").Replace(command))
		return printed.ReplaceAllString(out, printed.FindString(command))
	}
	p.play(t)
}

// page is a page that is played in this shell.
func (s shellIn) page(t *testing.T, name, palette, scripts string) *page {
	return &page{name: name, palette: palette, scripts: scripts, dir: s.dir, run: func(command string) string { return s.prints(t, command) }}
}

// with sets variables for the commands of a page, as whoever plays it has set them.
func (s shellIn) with(t *testing.T, p *page, variables string) *page {
	p.run = func(command string) string { return s.prints(t, "export "+variables+"; "+command) }
	return p
}

// prints is what a command prints, on either stream.
func (s shellIn) prints(t *testing.T, command string) string {
	t.Helper()
	out, _, _ := s.run(t, "exec 2>&1; "+command)
	return out
}

// configs read the files that an operator writes, by the name that a page gives them.
var configs = map[string]func([]byte) error{
	"channels": func(text []byte) error { return strict.JSON(text, new(channelsFile)) },
	"servers":  func(text []byte) error { _, err := mcp.ReadConfig(text); return err },
	"guard":    func(text []byte) error { _, err := guard.ReadRules(text); return err },
	"plans":    func(text []byte) error { _, err := confidence.ReadConfig(text); return err },
	"yaml":     func(text []byte) error { return yaml.Unmarshal(text, new(any)) },
	"editor":   func([]byte) error { return nil }, // of programs that are not here
}

var blockOf = regexp.MustCompile("(?ms)^```(\\w+)([^\n]*)\n(.*?)^```$")

func (p *page) play(t *testing.T) {
	t.Helper()
	name := filepath.Join(root, p.name)
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	reg, ds := load.Dir(os.DirFS(filepath.Join(root, "verbs/palettes/bank")))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	var last lastIDs
	printed, pending := "", false // by the paste before
	played := 0
	written := blockOf.ReplaceAllStringFunc(string(text), func(block string) string {
		m := blockOf.FindStringSubmatch(block)
		lang, info, body := m[1], m[2], m[3]
		head := "```" + lang + info + "\n"
		if pending && lang != "text" {
			t.Errorf("nothing stands below what prints\n%s", printed)
		}
		file, ok := strings.CutPrefix(info, " file=")
		if ok {
			p.put(t, file, body)
			return block
		}
		if info == " checked" { // by another test
			return block
		}
		if kind, ok := strings.CutPrefix(info, " config="); ok { // a file of the operator's
			if reads := configs[kind]; reads == nil {
				t.Errorf("nothing reads a configuration of %s", kind)
			} else if err := reads([]byte(body)); err != nil {
				t.Errorf("%v:\n%s", err, body)
			}
			return block
		}
		switch lang {
		case "console":
			played++
			return playedBlock(block, head+replayBlock(body, p.run, &last)+"```")
		case "sh":
			played++
			printed = p.run(body)
			pending = printed != ""
		case "text":
			if !pending {
				t.Errorf("nothing prints\n%s", body)
			}
			pending = false
			last.see(printed)
			return playedBlock(block, head+printed+"```")
		case "yaml":
			p.stands(t, leftOut.Split(body, -1), p.palette, p.also)
		case "go":
			p.stands(t, []string{body}, "examples/embed/run/main.go", "examples/embed/chat/main.go")
		case "dsl":
			script, ds := dsl.Parse(dsl.NewSource(p.name, body))
			_, more := reg.Check(script, nil)
			if ds = append(ds, more...); len(ds) > 0 {
				t.Errorf("%v: %s", ds, body)
			}
		default:
			t.Errorf("nothing checks a block of %s", lang)
		}
		return block
	})
	if played == 0 && path.Dir(p.name) != "cmd/verbatim/guide" {
		t.Error("no commands were found")
	}
	scripts, err := filepath.Glob(filepath.Join(root, p.scripts))
	if err != nil || len(scripts) == 0 {
		t.Error("there are no scripts", err)
	}
	for _, script := range scripts {
		if p.scripts != "" && !strings.Contains(written, filepath.Base(script)) {
			t.Errorf("nothing runs %s", script)
		}
	}
	if *update {
		if err := os.WriteFile(name, []byte(written), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, want := anyReference(written), anyReference(string(text)); got != want {
		var b strings.Builder
		writeDiff(&b, p.name, "formatted", want, got)
		t.Errorf("%s says something else than the program (-update writes what the program says):\n%s", p.name, b.String())
	}
}

// put writes a file of the page.
func (p *page) put(t *testing.T, file, body string) {
	t.Helper()
	to := filepath.Join(p.dir, file)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte(body), 0o644); err != nil {
		t.Fatal(err)
	}
}

// stands looks for pieces in files.
func (p *page) stands(t *testing.T, pieces []string, files ...string) {
	t.Helper()
	var all []byte
	for _, file := range files {
		if file == "" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	for _, piece := range pieces {
		if !strings.Contains(string(all), piece) {
			t.Errorf("this is not in %v:\n%s", files, piece)
		}
	}
}

// anyReference is text without what depends on every word of the palettes, on the
// day and the machine, or is drawn at random: it differs and means nothing.
func anyReference(text string) string {
	text = declaredAt.ReplaceAllString(referring.ReplaceAllString(anyID(text), "upload://REFERENCE"), "${1}LINE")
	text = candidates.ReplaceAllStringFunc(text, func(rows string) string { // they stand in the order of their suffixes
		lines := strings.SplitAfter(rows, "\n")
		slices.Sort(lines)
		return strings.Join(lines, "")
	})
	text = signingIn.ReplaceAllString(text, "PORT/sign-in/link?link=LINK")
	return signature.ReplaceAllString(lasted.ReplaceAllString(thisYear.ReplaceAllString(text, "DAY"), "SIZE"), "SIGNATURE")
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

// see takes the ids that were printed last.
func (l *lastIDs) see(out string) {
	for _, id := range previewed.FindAllStringSubmatch(out, -1) {
		l.preview = id[1] + "-" + id[2]
	}
	for _, id := range settling.FindAllStringSubmatch(out, -1) {
		l.waiting = id[1]
	}
}

// replayBlock runs the commands of a block and gives the block as it should read.
// last are the ids that were printed last.
func replayBlock(body string, run func(string) string, last *lastIDs) string {
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
		out := run(command)
		last.see(out)
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
	signingIn  = regexp.MustCompile(`\d+/sign-in/link\?link=[\w-]+`)
	referring  = regexp.MustCompile(`upload://[a-z0-9]{32}\b`)
	suffixed   = regexp.MustCompile(`~([0-9a-hjkmnp-tv-z]{16}|[0-9a-hjkmnp-tv-z]{6})\b`)
	previewed  = regexp.MustCompile(`preview ([0-9a-f]{4}) ([0-9a-f]{4})`)
	candidates = regexp.MustCompile(`(?m)(^    = @.*\n){2,}`)
	thisYear   = regexp.MustCompile(`\b20(2[6-9]|[3-9]\d)-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?Z)?)?`) // the examples end in 2025
	lasted     = regexp.MustCompile(`(?m)\b\d+ MB, \d+ s\b| +\d+ ms$|\b\d+\.\d s$`)
	signature  = regexp.MustCompile(`(?m)head [0-9a-f]{4} [0-9a-f]{4}|^[A-Za-z0-9+/]{43}=$|(/journal )[A-Za-z0-9+/]{80,}=*$|/journal\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$`)
)

func anyID(text string) string {
	text = statements.ReplaceAllString(text, "some statements run")
	text = suffixed.ReplaceAllString(text, "~SUFFIX")
	text = deciding.ReplaceAllString(text, "${1}ID")
	return previewed.ReplaceAllString(confirming.ReplaceAllString(text, "--confirm ID"), "preview ID")
}
