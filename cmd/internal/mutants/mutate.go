package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// mutated are the files whose every branch has to be noticed by a test of their
// package: what permits, asks, settles, commits, keeps to a scope, and verifies.
var mutated = []string{"runtime/engine/permit.go", "runtime/engine/gate.go", "runtime/engine/execute.go", "runtime/engine/verify.go", "runtime/engine/commit.go", "stores/sqlite/text.go", "stores/sqlcore/scope.go", "stores/journal.go", "stores/journal/verify.go"}

// listed are the tests that were written for a file. They are run however long
// they take, after a few that are quick.
var listed = map[string][]string{
	"runtime/engine/permit.go":  {"TestRoleMatrix"},
	"runtime/engine/gate.go":    {"TestARuleThatComesToNothingAsks", "TestAKeptPreviewIsGoodOnce"},
	"runtime/engine/verify.go":  {"TestWhatACallWantsIsHeldToWhatWasPromised", "TestWhatIsDeclaredIsDone", "TestWhatTheCallsOfAMacroDoIsHeldToItsPromises"},
	"runtime/engine/execute.go": {"TestAPromiseWhoseConditionDoesNotHoldCoversNothing", "TestAnEffectIsOfItsTimeAndItsRows"},
}

// A mutant is one small change of a file.
type mutant struct {
	n    int
	at   token.Position
	what string
}

// grown is a file with all of its mutants in it: each does what the file does
// unless it is switched on.
type grown struct {
	mutants []mutant
	text    []byte
}

// grow puts mutants into a file, numbered from first. They are the usual ones: a
// condition is negated, an operand of && or || dropped, the boundary of a
// comparison moved, a branch never taken, a statement left out, true and false
// exchanged, and a number that a length is compared with.
// What only hands an error on has none: faults of stores are seeded elsewhere.
func grow(name string, first int) (*grown, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	g := &grown{}
	on := func(n ast.Node, what string) string {
		m := mutant{first + len(g.mutants), fset.Position(n.Pos()), what}
		g.mutants = append(g.mutants, m)
		return fmt.Sprintf("mutantOn(%d)", m.n)
	}
	source := func(n ast.Node) string {
		var b bytes.Buffer
		if err := format.Node(&b, fset, n); err != nil {
			panic(err)
		}
		return b.String()
	}
	brief := func(n ast.Node) string {
		text := strings.Join(strings.Fields(source(n)), " ")
		return text[:min(len(text), 70)]
	}
	expr := func(text string) ast.Expr {
		e, err := parser.ParseExpr(text)
		if err != nil {
			panic(text + ": " + err.Error())
		}
		return e
	}
	// bend returns a condition with the mutants of its parts and its own.
	var bend func(e ast.Expr) ast.Expr
	bend = func(e ast.Expr) ast.Expr {
		said, whole := brief(e), e
		switch x := e.(type) {
		case *ast.ParenExpr:
			x.X = bend(x.X)
			return x
		case *ast.UnaryExpr:
			if x.Op == token.NOT {
				x.X = bend(x.X)
				return x
			}
		case *ast.BinaryExpr:
			switch x.Op {
			case token.LAND, token.LOR:
				left, right := brief(x.X), brief(x.Y)
				dropped := [2]string{on(x.X, "without "+left+" in "+said), on(x.Y, "without "+right+" in "+said)}
				x.X, x.Y = bend(x.X), bend(x.Y)
				for i, side := range []*ast.Expr{&x.X, &x.Y} {
					if x.Op == token.LAND {
						*side = &ast.ParenExpr{X: &ast.BinaryExpr{X: expr(dropped[i]), Op: token.LOR, Y: &ast.ParenExpr{X: *side}}}
					} else {
						*side = &ast.ParenExpr{X: &ast.BinaryExpr{X: expr("!" + dropped[i]), Op: token.LAND, Y: &ast.ParenExpr{X: *side}}}
					}
				}
				return x
			case token.LSS, token.LEQ, token.GTR, token.GEQ:
				if plain(x.X) && plain(x.Y) {
					same := source(x.X) + " == " + source(x.Y)
					e = &ast.ParenExpr{X: expr("(" + source(x) + ") != (" + on(x, "another boundary of "+said) + " && " + same + ")")}
				}
			}
		}
		if handsOn(e) {
			return e
		}
		return &ast.ParenExpr{X: &ast.BinaryExpr{X: expr(on(whole, "not "+said)), Op: token.NEQ, Y: &ast.ParenExpr{X: e}}}
	}
	never := func(e ast.Expr) ast.Expr {
		if handsOn(e) {
			return e
		}
		return &ast.BinaryExpr{X: expr("!" + on(e, "never "+brief(e))), Op: token.LAND, Y: &ast.ParenExpr{X: bend(e)}}
	}
	list := func(body []ast.Stmt) {
		for i, s := range body {
			switch s := s.(type) {
			case *ast.ExprStmt, *ast.IncDecStmt:
			case *ast.AssignStmt:
				if s.Tok == token.DEFINE {
					continue
				}
			default:
				continue
			}
			body[i] = &ast.IfStmt{Cond: expr("!" + on(s, "without "+brief(s))), Body: &ast.BlockStmt{List: []ast.Stmt{s}}}
		}
	}
	// What is grown is not gone through again.
	var nodes []ast.Node
	ast.Inspect(file, func(n ast.Node) bool {
		nodes = append(nodes, n)
		return true
	})
	for _, n := range nodes {
		switch n := n.(type) {
		case *ast.IfStmt:
			n.Cond = never(n.Cond)
		case *ast.ForStmt:
			if n.Cond != nil && !counts(n) {
				n.Cond = bend(n.Cond)
			}
		case *ast.SwitchStmt:
			if n.Tag == nil {
				for _, c := range n.Body.List {
					for i := range c.(*ast.CaseClause).List {
						c.(*ast.CaseClause).List[i] = never(c.(*ast.CaseClause).List[i])
					}
				}
			}
		case *ast.ReturnStmt:
			for i, e := range n.Results {
				switch x := e.(type) {
				case *ast.BinaryExpr:
					if x.Op == token.LAND || x.Op == token.LOR || x.Op >= token.EQL && x.Op <= token.GTR || x.Op >= token.NEQ && x.Op <= token.GEQ {
						n.Results[i] = bend(e)
					}
				case *ast.Ident:
					if x.Name == "true" {
						n.Results[i] = expr("!" + on(x, "false for true"))
					} else if x.Name == "false" {
						n.Results[i] = expr(on(x, "true for false"))
					}
				}
			}
		case *ast.BlockStmt:
			list(n.List)
		case *ast.CaseClause:
			list(n.Body)
		}
	}
	file.Comments = nil
	var b bytes.Buffer
	if err := format.Node(&b, fset, file); err != nil {
		return nil, err
	}
	g.text = b.Bytes()
	return g, nil
}

// plain reports whether an operand may be worked out twice.
func plain(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		if call, is := n.(*ast.CallExpr); is {
			id, named := call.Fun.(*ast.Ident)
			ok = ok && named && id.Name == "len"
		}
		return ok
	})
	return ok
}

// handsOn reports whether a condition only asks whether there is an error.
func handsOn(e ast.Expr) bool {
	x, ok := e.(*ast.BinaryExpr)
	if !ok || x.Op != token.NEQ && x.Op != token.EQL {
		return false
	}
	left, one := x.X.(*ast.Ident)
	right, other := x.Y.(*ast.Ident)
	return one && other && strings.HasSuffix(strings.ToLower(left.Name), "err") && right.Name == "nil"
}

// counts reports whether a loop counts: another condition would never end it.
func counts(f *ast.ForStmt) bool { return f.Post != nil }

// switches is the file that switches mutants on. A test tells which of them it
// came by in the file that MUTANTS_REACHED names.
const switches = `package %s

import (
	"fmt"
	"os"
	"strconv"
	"sync"
)

var (
	mutantChosen, _ = strconv.Atoi(os.Getenv("MUTANT"))
	mutantFile      = os.Getenv("MUTANTS_REACHED")
	mutantSeen      sync.Map
)

func mutantOn(n int) bool {
	if mutantFile != "" {
		if _, seen := mutantSeen.LoadOrStore(n, true); !seen {
			if f, err := os.OpenFile(mutantFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
				fmt.Fprintln(f, n)
				f.Close()
			}
		}
	}
	return n == mutantChosen
}
`

// mutantTime is how long the tests of one mutant may take, those first that are
// quickest.
const mutantTime = 20 * time.Second

// mutate tries the mutants of files, or of all of mutated, and prints which of them
// the tests of their package do not notice.
func mutate(root string, want []string, out io.Writer) int {
	files := slices.DeleteFunc(slices.Clone(mutated), func(f string) bool {
		return len(want) > 0 && !slices.ContainsFunc(want, func(w string) bool { return strings.HasSuffix(f, w) })
	})
	byPackage := map[string][]string{}
	for _, f := range files {
		byPackage[filepath.Dir(f)] = append(byPackage[filepath.Dir(f)], f)
	}
	killed, all := 0, 0
	for _, dir := range slices.Sorted(maps.Keys(byPackage)) {
		k, n, err := mutatePackage(root, dir, byPackage[dir], out)
		if err != nil {
			fmt.Fprintln(out, "mutants:", err)
			return 1
		}
		killed, all = killed+k, all+n
	}
	if all == 0 {
		fmt.Fprintln(out, "mutants: no such file is mutated; these are:", strings.Join(mutated, " "))
		return 1
	}
	fmt.Fprintf(out, "\n%d of %d mutants were noticed, %.1f %%\n", killed, all, 100*float64(killed)/float64(all))
	return 0
}

func mutatePackage(root, dir string, files []string, out io.Writer) (killed, all int, err error) {
	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(temp)
	base, err := filepath.Abs(filepath.Join(root, dir))
	if err != nil {
		return 0, 0, err
	}
	var mutants []mutant
	replace := map[string]string{}
	put := func(name string, text []byte) error {
		at := filepath.Join(temp, fmt.Sprintf("file%d.go", len(replace)))
		replace[filepath.Join(base, name)] = at
		return os.WriteFile(at, text, 0o600)
	}
	for _, f := range files {
		g, err := grow(filepath.Join(root, f), len(mutants)+1)
		if err != nil {
			return 0, 0, err
		}
		mutants = append(mutants, g.mutants...)
		if err := put(filepath.Base(f), g.text); err != nil {
			return 0, 0, err
		}
	}
	if err := put("mutant_switches.go", fmt.Appendf(nil, switches, filepath.Base(dir))); err != nil {
		return 0, 0, err
	}
	overlay := filepath.Join(temp, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(overlay, text, 0o600)
	}
	if err != nil {
		return 0, 0, err
	}
	binary := filepath.Join(temp, "test")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, "./"+dir)
	build.Dir = root
	if said, err := build.CombinedOutput(); err != nil {
		return 0, 0, fmt.Errorf("the mutants of %s do not build:\n%s", dir, said)
	}
	b := &bed{binary: binary, dir: base, temp: temp}
	if err := b.survey(len(mutants), out); err != nil {
		return 0, 0, err
	}
	b.hung.Store(0)
	for _, test := range b.slow {
		fmt.Fprintf(out, "NOT RUN   %s  %s takes longer than %s\n", dir, test, 3*mutantTime)
	}
	verdicts := make([]chan string, len(mutants))
	places := make(chan bool, runtime.GOMAXPROCS(0))
	for i := range mutants {
		verdicts[i] = make(chan string, 1)
	}
	go func() {
		for i, m := range mutants {
			places <- true
			go func() {
				verdicts[i] <- b.try(m.n, listed[filepath.ToSlash(filepath.Join(dir, filepath.Base(m.at.Filename)))])
				<-places
			}()
		}
	}()
	for i, m := range mutants {
		place := fmt.Sprintf("%s/%s:%d:%d", dir, filepath.Base(m.at.Filename), m.at.Line, m.at.Column)
		switch verdict := <-verdicts[i]; verdict {
		case "":
			killed++
		default:
			fmt.Fprintf(out, "SURVIVED  %s  %s (%s)\n", place, m.what, verdict)
		}
	}
	fmt.Fprintf(out, "%s: %d of %d mutants were noticed, %d of them by tests that did not end\n", dir, killed, len(mutants), b.hung.Load())
	return killed, len(mutants), nil
}

// A bed is the test program of a package with its mutants.
type bed struct {
	binary, dir, temp string
	tests             [][]string // of each mutant, those that reach it, quickest first
	took              map[string]time.Duration
	slow              []string // too long for any mutant
	hung              atomic.Int32
}

// survey runs each test by itself, and notes how long it takes and which mutants
// it reaches. It tells of every hundredth test, since a large package takes minutes.
func (b *bed) survey(mutants int, out io.Writer) error {
	list := exec.Command(b.binary, "-test.list", "^Test")
	list.Dir = b.dir
	said, err := list.Output()
	if err != nil {
		return fmt.Errorf("the tests cannot be listed: %w", err)
	}
	b.tests, b.took = make([][]string, mutants+1), map[string]time.Duration{}
	tests := strings.Fields(string(said))
	for i, test := range tests {
		if i%100 == 0 {
			fmt.Fprintf(out, "%s: %d of %d tests were run by themselves\n", b.dir, i, len(tests))
		}
		reached := filepath.Join(b.temp, "reached")
		os.Remove(reached)
		begun := time.Now()
		if said, ok := b.run([]string{test}, 3*mutantTime, "MUTANTS_REACHED="+reached); !ok {
			if time.Since(begun) >= 3*mutantTime {
				b.slow = append(b.slow, test)
				continue
			}
			return fmt.Errorf("%s fails without a mutant:\n%s", test, said)
		}
		b.took[test] = time.Since(begun)
		text, _ := os.ReadFile(reached)
		for _, word := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(word); err == nil && n <= mutants {
				b.tests[n] = append(b.tests[n], test)
			}
		}
	}
	for _, tests := range b.tests {
		slices.SortStableFunc(tests, func(x, y string) int { return int(b.took[x] - b.took[y]) })
	}
	return nil
}

func (b *bed) run(tests []string, limit time.Duration, env ...string) (string, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.binary, "-test.failfast", "-test.run", "^("+strings.Join(tests, "|")+")$")
	cmd.Dir, cmd.Env = b.dir, append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	said, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		b.hung.Add(1)
	}
	return string(said), err == nil
}

// try switches a mutant on, runs tests that reach it, and says why none noticed;
// nothing when one did, or did not end.
func (b *bed) try(n int, first []string) string {
	reach := b.tests[n]
	if len(reach) == 0 {
		return "no test reaches it"
	}
	few := min(len(reach), 8)
	parts := [3][]string{slices.Clone(reach[:few])}
	sum := time.Duration(0)
	for _, test := range reach[few:] {
		if sum += b.took[test]; slices.Contains(first, test) {
			parts[1] = append(parts[1], test)
		} else if sum < mutantTime {
			parts[2] = append(parts[2], test)
		}
	}
	tried := 0
	for _, part := range parts {
		if len(part) == 0 {
			continue
		}
		if _, ok := b.run(part, 3*mutantTime, fmt.Sprintf("MUTANT=%d", n)); !ok {
			return ""
		}
		tried += len(part)
	}
	return fmt.Sprintf("%d of %d tests that reach it were run and pass", tried, len(reach))
}
