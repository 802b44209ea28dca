package message_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs/message"
)

// Every message that is told stands in the messages.txt beside it, with no more arguments than it
// is told with, and every entry is told somewhere.
func TestEveryMessageThatIsToldIsWritten(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"..", "../load", "../../runtime/engine"} {
		text, err := os.ReadFile(filepath.Join(dir, "messages.txt"))
		if err != nil {
			t.Fatal(err)
		}
		all := message.Read(string(text))
		told := map[string]bool{"out-of-range/least-date": true, "out-of-range/most-date": true}
		files, _ := filepath.Glob(dir + "/*.go")
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			tree, err := parser.ParseFile(fset, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BasicLit: // also those that stand in a table
					name, _ := strconv.Unquote(n.Value)
					told[name] = told[name] || n.Kind == token.STRING
				case *ast.BinaryExpr: // "moment-of-nothing/" + key
					if lit, ok := n.X.(*ast.BasicLit); ok && n.Op == token.ADD {
						prefix, _ := strconv.Unquote(lit.Value)
						for name := range all {
							told[name] = told[name] || len(prefix) > 3 && strings.HasPrefix(name, prefix)
						}
					}
				case *ast.CallExpr:
					if f, ok := n.Fun.(*ast.Ident); !ok || f.Name != "tell" {
						break
					}
					lit, ok := n.Args[1].(*ast.BasicLit)
					if !ok {
						break
					}
					name, _ := strconv.Unquote(lit.Value)
					m := all[name]
					if m == nil {
						t.Errorf("%s: no message is called %s", fset.Position(n.Pos()), name)
						break
					}
					// The last of those of an expression may be left out.
					if most := m.Takes(); most > len(n.Args)-2 && name != "bad-expression" {
						t.Errorf("%s: %s takes %d arguments", fset.Position(n.Pos()), name, most)
					}
				}
				return true
			})
		}
		if headings := len(regexp.MustCompile(`(?m)^[a-z]`).FindAll(text, -1)); headings != len(all) || len(all) < 50 {
			t.Errorf("%d of %d entries have a name of their own", len(all), headings)
		}
		for name := range all {
			if !told[name] && !strings.HasPrefix(name, "not-yaml/") {
				t.Errorf("nothing tells %s", name)
			}
		}
	}
}

type row struct {
	Place dsl.Place
	Owner string
}

func (row) String() string  { return "order" }
func (row) Names() []string { return []string{"status", "due"} }

// An argument is written by what it says of itself.
func TestArguments(t *testing.T) {
	t.Parallel()
	all := message.Read("no-field/x\n  {1} of {2 Owner} has no {3 quoted}; {{} stays\n  ^ {2 a}\n  - {4}\n  - known: {2 and}\n  @2 declared here\n  ? 3 2 fields of {2}\n\nodd warning\n  {1 some}\n")
	src := dsl.NewSource("a.yaml", "order: statu")
	at, declared := dsl.Place{Source: src, Range: dsl.Range{Start: 7, End: 12}}, dsl.Place{Source: src, Range: dsl.Range{Start: 0, End: 5}}
	d := all.New(at, "no-field/x", "it", &row{declared, "we"}, "statu", "")
	if d.Code != "no-field" || d.Severity != dsl.Error || d.Summary != `it of we has no "statu"; {{} stays` || d.Label != `did you mean "status"?` ||
		strings.Join(d.Notes, "|") != "fields of order: status, due|known: status and due" || len(d.Fixes) != 1 || d.Fixes[0].Edits[0].Text != "status" ||
		len(d.Related) != 1 || d.Related[0].Place != declared {
		t.Errorf("%+v", d)
	}
	if d := all.New(at, "odd", map[string]int{"b": 1, "a": 2}); d.Severity != dsl.Warning || d.Summary != "a, b" {
		t.Errorf("%+v", d)
	}
}
