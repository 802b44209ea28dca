package engine

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestShape keeps the engine readable: small structs that are data, types whose methods stand
// together, and a session that can be learned in an hour.
func TestShape(t *testing.T) {
	t.Parallel()
	structs := make(map[string]*ast.StructType)
	files := make(map[string]map[string]bool) // by type, the files that hold its methods
	var exported []string                     // methods of Session
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if s, ok := spec.(*ast.TypeSpec); ok {
						if of, ok := s.Type.(*ast.StructType); ok {
							structs[s.Name.Name] = of
						}
					}
				}
			case *ast.FuncDecl:
				if d.Recv == nil {
					continue
				}
				of := typeName(d.Recv.List[0].Type)
				if files[of] == nil {
					files[of] = make(map[string]bool)
				}
				files[of][path] = true
				if of == "Session" && d.Name.IsExported() {
					exported = append(exported, d.Name.Name)
				}
			}
		}
	}
	var fields func(s *ast.StructType) int
	fields = func(s *ast.StructType) (n int) {
		for _, f := range s.Fields.List {
			switch embedded := structs[typeName(f.Type)]; {
			case len(f.Names) > 0:
				n += len(f.Names)
			case embedded != nil:
				n += fields(embedded)
			default:
				n++
			}
		}
		return n
	}
	for name, s := range structs {
		if n := fields(s); n > maxFields {
			t.Errorf("%s has %d fields, those of embedded structs counted; at most %d", name, n, maxFields)
		}
	}
	for name, in := range files {
		if len(in) > maxMethodFiles {
			t.Errorf("the methods of %s are in %d files; at most %d", name, len(in), maxMethodFiles)
		}
	}
	if len(exported) > maxSessionMethods {
		t.Errorf("Session has %d exported methods; at most %d", len(exported), maxSessionMethods)
	}
}

// What a Go programmer reads first is on two screens.
func TestTheIndexIsShort(t *testing.T) {
	t.Parallel()
	text, err := exec.Command("go", "doc", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n > maxIndex {
		t.Errorf("go doc prints %d lines; at most %d", n, maxIndex)
	}
}

const (
	maxFields         = 15
	maxMethodFiles    = 6
	maxSessionMethods = 30
	maxIndex          = 95
)

func typeName(x ast.Expr) string {
	if p, ok := x.(*ast.StarExpr); ok {
		x = p.X
	}
	if id, ok := x.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
