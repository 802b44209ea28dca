// Command mutants shows that tests can fail. It seeds one fault at a time into a
// copy of a file, runs the test that exists for it on the faulty program, and
// expects that test to fail. A fault that no test notices is printed, and the
// command exits 1. A test that does not end has noticed nothing: a busy machine
// does the same to it.
//
//	go run ./cmd/internal/mutants              all of faults.txt
//	go run ./cmd/internal/mutants SAFE-C SAFE-A7
//	go run ./cmd/internal/mutants -mutate      every small change of a few files, see mutate.go
//	go run ./cmd/internal/mutants -mutate verify.go gate.go
//
// Nothing in the tree is changed: the faulty file reaches the compiler through
// the overlay of the go command, and tests that read it a copy of the tree.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	// What a faulty program fails on is no case to try again ever after.
	os.Setenv("RAPID_NOFAILFILE", "true")
	if len(os.Args) > 1 && os.Args[1] == "-mutate" {
		os.Exit(mutate(".", os.Args[2:], os.Stdout))
	}
	os.Exit(run(".", os.Args[1:], os.Stdout))
}

// A fault is one wrong line, and the test that has to notice it.
type fault struct {
	id, what string
	file     string
	find     string // stands in the file exactly once
	put      string
	pkg, run string
}

func run(root string, want []string, out io.Writer) int {
	faults, err := read(filepath.Join(root, "cmd/internal/mutants/faults.txt"))
	if err != nil {
		fmt.Fprintln(out, "mutants:", err)
		return 1
	}
	faults = slices.DeleteFunc(faults, func(f fault) bool { return !wanted(f, want) })
	// Compiling uses every processor and tests mostly wait, so as many faults as
	// there are processors are tried at once. They are told in their order.
	verdicts := make([]chan string, len(faults))
	places := make(chan bool, runtime.GOMAXPROCS(0))
	for i := range faults {
		verdicts[i] = make(chan string, 1)
	}
	go func() {
		for i, f := range faults {
			places <- true
			go func() {
				verdicts[i] <- seed(root, f)
				<-places
			}()
		}
	}()
	missed, tried := 0, len(faults)
	for i, f := range faults {
		if verdict := <-verdicts[i]; verdict != "" {
			missed++
			fmt.Fprintf(out, "MISSED  %-8s %s\n        %s\n", f.id, f.what, strings.ReplaceAll(verdict, "\n", "\n        "))
			continue
		}
		fmt.Fprintf(out, "caught  %-8s %s\n", f.id, f.what)
	}
	if len(want) == 0 {
		bare, err := unseeded(root, faults)
		if err != nil {
			fmt.Fprintln(out, "mutants:", err)
			return 1
		}
		fmt.Fprintf(out, "\npromises that a test names and no fault is seeded for: %s\n", strings.Join(bare, " "))
	}
	fmt.Fprintf(out, "\n%d passed, %d failed\n", tried-missed, missed)
	if missed > 0 || tried == 0 {
		return 1
	}
	return 0
}

// unseeded finds the promises that tests name, such as SAFE-A1, and that no
// fault is seeded for.
func unseeded(root string, faults []fault) ([]string, error) {
	named := make(map[string]bool)
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, id := range promise.FindAllString(string(text), -1) {
			named[id] = true
		}
		return err
	})
	for _, f := range faults {
		delete(named, f.id)
	}
	return slices.Sorted(maps.Keys(named)), err
}

var promise = regexp.MustCompile(`\bSAFE-[A-Z]\d+\b`)

func wanted(f fault, want []string) bool {
	for _, w := range want {
		if strings.HasPrefix(f.id+" "+f.what, w) {
			return true
		}
	}
	return len(want) == 0
}

// seed returns why a fault was not caught, or nothing.
func seed(root string, f fault) string {
	if err := f.fits(root); err != nil {
		return err.Error()
	}
	text, err := os.ReadFile(filepath.Join(root, f.file))
	if err != nil {
		return err.Error()
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err.Error()
	}
	defer os.RemoveAll(dir)
	faulty, overlay := filepath.Join(dir, "faulty.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(faulty, bytes.Replace(text, []byte(f.find), []byte(f.put), 1), 0o600); err != nil {
		return err.Error()
	}
	at, err := filepath.Abs(filepath.Join(root, f.file))
	if err != nil {
		return err.Error()
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {at: faulty}})
	if err != nil {
		return err.Error()
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return err.Error()
	}
	const limit = 5 * time.Minute
	module, pkg := f.module(root)
	cmd := exec.Command("go", "test", "-count=1", "-timeout", limit.String(), "-overlay", overlay, "-vet=off", "-run", f.run, pkg)
	cmd.Dir = module
	// A test that builds the program builds the faulty one.
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false -overlay="+overlay)
	if !strings.HasSuffix(f.file, ".go") {
		// Tests read such a file from the tree as well: they run in a copy of it.
		tree, binary := filepath.Join(dir, "tree"), filepath.Join(dir, "test")
		build := exec.Command("go", "test", "-c", "-o", binary, "-overlay", overlay, "-vet=off", pkg)
		build.Dir = module
		if said, err := build.CombinedOutput(); err != nil {
			return "the faulty program does not build:\n" + string(said)
		}
		if err := plant(root, tree, f.file, faulty); err != nil {
			return err.Error()
		}
		if fetched, err := filepath.Abs(filepath.Join(root, ".cache")); err == nil { // programs that tests use
			_ = os.Symlink(fetched, filepath.Join(tree, ".cache"))
		}
		cmd = exec.Command(binary, "-test.timeout", limit.String(), "-test.run", f.run)
		cmd.Dir = filepath.Join(tree, f.pkg)
	}
	said, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil && bytes.Contains(said, []byte("no tests to run")):
		return "there is no test " + f.run + " in " + f.pkg
	case err == nil:
		return f.pkg + " " + f.run + " passes all the same"
	case !errors.As(err, &exit):
		return err.Error()
	case bytes.Contains(said, []byte("panic: test timed out after ")):
		return f.pkg + " " + f.run + " does not end: a test that hangs says nothing of the fault"
	case bytes.Contains(said, []byte("[build failed]")) || bytes.Contains(said, []byte("[setup failed]")):
		return "the faulty program does not build:\n" + string(said)
	}
	return ""
}

// module returns the folder of the module that has the test, and its package there: some are modules of
// their own.
func (f fault) module(root string) (dir, pkg string) {
	for at := path.Clean(f.pkg); at != "."; at = path.Dir(at) {
		if dir = filepath.Join(root, at); exists(filepath.Join(dir, "go.mod")) {
			return dir, "./" + strings.TrimPrefix(strings.TrimPrefix(path.Clean(f.pkg), at), "/")
		}
	}
	return root, f.pkg
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// plant copies the tree, with a faulty file in the place of one.
func plant(root, tree, file, faulty string) error {
	return filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && rel != "." && (strings.HasPrefix(rel, ".") || rel == "bin"):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(tree, rel), 0o700)
		case filepath.ToSlash(rel) == file:
			name = faulty
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(tree, rel), text, 0o700)
	})
}

// fits reports whether the line to spoil stands exactly once in its file.
func (f fault) fits(root string) error {
	text, err := os.ReadFile(filepath.Join(root, f.file))
	if err != nil {
		return err
	}
	if n := bytes.Count(text, []byte(f.find)); n != 1 {
		return fmt.Errorf("the line to spoil stands %d times in %s: faults.txt is out of date", n, f.file)
	}
	return nil
}

// read takes faults from lines such as
//
//	SAFE-A7 a change that no promise covers is let through
//	  file runtime/engine/verify.go
//	  find if !covered {
//	  put  if false {
//	  test ./runtime/engine TestSettle
//
// In find and put, \n is a line break and \t a tab.
func read(name string) ([]fault, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	unescape := strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\\`, `\`)
	var all []fault
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		key, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(rest)
		if key == "" || strings.HasPrefix(key, "#") {
			continue
		}
		if line[0] != ' ' {
			all = append(all, fault{id: key, what: rest})
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("%s:%d: a fault begins with its id", name, n)
		}
		f := &all[len(all)-1]
		switch key {
		case "file":
			f.file = rest
		case "find":
			f.find = unescape.Replace(rest)
		case "put":
			f.put = unescape.Replace(rest)
		case "test":
			f.pkg, f.run, _ = strings.Cut(rest, " ")
		default:
			return nil, fmt.Errorf("%s:%d: %q is not file, find, put or test", name, n, key)
		}
	}
	for _, f := range all {
		if f.file == "" || f.find == "" || f.pkg == "" || f.run == "" {
			return nil, fmt.Errorf("%s: %s %s is not whole", name, f.id, f.what)
		}
	}
	return all, lines.Err()
}
