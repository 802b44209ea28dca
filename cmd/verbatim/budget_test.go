package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// A budget says how many lines of Go the rooms of a part may have, tests left out, how
// many they are over that today, and why.
type budget struct {
	rooms      []string
	most, over int
	why        []string
}

// budgets are read from testdata/budgets.list, whose head says how it is written.
func budgets(t *testing.T) (all []budget) {
	text, err := os.ReadFile("testdata/budgets.list")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		said, below := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !below:
			all = append(all, budget{rooms: strings.Fields(line)})
		case all[len(all)-1].most == 0:
			b := &all[len(all)-1]
			if n, _ := fmt.Sscanf(said, "%d + %d", &b.most, &b.over); n == 0 {
				t.Fatalf("budgets.list:%d: %q is no number of lines", i+1, said)
			}
		default:
			b := &all[len(all)-1]
			b.why = append(b.why, said)
		}
	}
	return all
}

// noBudget are what is not built into the program, and what keeps no more than the
// name of a lock.
var noBudget = map[string]bool{"runtime/frontends/http/browsertest": true, "runtime/frontends/channel/whatsapp/cloudtest": true, "runtime/domains/confidence/modeltest": true, "runtime/tests/norace": true, "runtime/protocols/trustgraph/rabbit/rabbittest": true, "stores/storetest": true, "stores/postgres/pgtest": true, "stores/postgres/internal/ajar": true, "runtime/tests/torture": true, "cmd/teeth": true, "examples/embed": true}

// A lines counts what stands in the files of a room.
type lines struct{ code, comment, blank int }

func (l lines) all() int { return l.code + l.comment + l.blank }

func (l lines) plus(m lines) lines {
	return lines{l.code + m.code, l.comment + m.comment, l.blank + m.blank}
}

// Each room keeps to its budget of lines, or says by how much and why not.
func TestRoomsKeepToTheirBudgets(t *testing.T) {
	t.Parallel()
	found := map[string]lines{}
	var archives, catalogues int
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
		if d.IsDir() {
			if name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || rel == "bin" || rel == "cmd/peers" || rel == "examples/kyc/bank" || rel == "examples/kiisha/world" || rel == "examples/confidence/play" || rel == "runtime/protocols/trustgraph/pulsar") {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		switch {
		case strings.HasSuffix(rel, ".txtar"):
			archives += bytes.Count(text, []byte("\n"))
		case strings.HasSuffix(rel, ".txt") && rel != "cmd/teeth/faults.txt":
			catalogues += bytes.Count(text, []byte("\n"))
		case strings.HasSuffix(rel, ".go") && !strings.HasSuffix(rel, "_test.go"):
			found[path.Dir(rel)] = found[path.Dir(rel)].plus(count(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var total lines
	counted := map[string]bool{}
	for _, b := range budgets(t) {
		var sum lines
		for _, room := range b.rooms {
			sum, counted[room] = sum.plus(found[room]), true
		}
		total = total.plus(sum)
		name := strings.Join(b.rooms, ", ")
		t.Logf("%6d of %6d lines: %s", sum.all(), b.most, name)
		switch most := b.most + b.over; {
		case sum.all() > most:
			t.Errorf("%s: %d lines, at most %d", name, sum.all(), most)
		case b.over > 0 && len(b.why) == 0:
			t.Errorf("%s may have %d lines more than its budget, for no reason", name, b.over)
		case b.over == 0 && len(b.why) > 0:
			t.Errorf("%s keeps to its budget; its reasons for more can go", name)
		case b.over > 0 && most-sum.all() > 500:
			t.Errorf("%s: %d lines; lower what it may be over its budget by %d", name, sum.all(), most-sum.all())
		}
	}
	for room, l := range found {
		if !counted[room] && !noBudget[room] {
			t.Errorf("%s has %d lines and no budget", room, l.all())
		}
	}
	t.Logf("%d lines of Go: %d of code, %d of comments, %d blank; %d of txtar archives, %d of catalogues", total.all(), total.code, total.comment, total.blank, archives, catalogues)
}

func count(text []byte) (l lines) {
	scan := bufio.NewScanner(bytes.NewReader(text))
	scan.Buffer(nil, len(text)+1)
	inside := false // a comment of several lines
	for scan.Scan() {
		switch line := strings.TrimSpace(scan.Text()); {
		case inside || strings.HasPrefix(line, "/*"):
			l.comment++
			inside = !strings.Contains(line, "*/")
		case line == "":
			l.blank++
		case strings.HasPrefix(line, "//"):
			l.comment++
		default:
			l.code++
		}
	}
	return l
}
