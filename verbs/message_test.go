package verbs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every message that is told stands in messages.txt, with no more arguments than it
// is told with, and every entry is told somewhere.
func TestEveryMessageThatIsToldIsWritten(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, file := range files {
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.Ident); !ok || f.Name != "tell" {
				return true
			}
			if sum, ok := call.Args[1].(*ast.BinaryExpr); ok { // "moment-of-nothing/" + key
				prefix, _ := strconv.Unquote(sum.X.(*ast.BasicLit).Value)
				for name := range messages() {
					told[name] = told[name] || strings.HasPrefix(name, prefix)
				}
				return true
			}
			lit, ok := call.Args[1].(*ast.BasicLit)
			if !ok {
				return true
			}
			name, _ := strconv.Unquote(lit.Value)
			m := messages()[name]
			if told[name] = true; m == nil {
				t.Errorf("%s: no message is called %s", fset.Position(call.Pos()), name)
				return true
			}
			// The last of those of an expression may be left out.
			if most := m.Takes(); most > len(call.Args)-2 && name != "bad-expression" {
				t.Errorf("%s: %s takes %d arguments", fset.Position(call.Pos()), name, most)
			}
			return true
		})
	}
	if headings := len(regexp.MustCompile(`(?m)^[a-z]`).FindAllString(messagesText, -1)); headings != len(messages()) {
		t.Errorf("%d of %d entries have a name of their own", len(messages()), headings)
	}
	if len(told) < 100 {
		t.Errorf("only %d messages are told", len(told))
	}
	for _, name := range refusals {
		told[name] = true
	}
	for _, name := range []string{"out-of-range/least-date", "out-of-range/most-date"} {
		told[name] = true
	}
	for name := range messages() {
		if !told[name] && !strings.HasPrefix(name, "not-yaml/") {
			t.Errorf("nothing tells %s", name)
		}
	}
}
