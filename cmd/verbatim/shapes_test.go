package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The finding "what a call changed exists in seven shapes": there is one, the Receipt.
// The others are gone by name, and nobody declares another pair of what was before and
// what is after, or another row with an operation and fields.
func TestWhatACallChangedHasOneShape(t *testing.T) {
	t.Parallel()
	// These are no records of what changed, and each says so where it is declared.
	others := map[string]string{
		"stores/store.go Change":                        "what a store is to do",
		"runtime/engine/handlers.go Edit":               "what a handler asks for",
		"runtime/engine/verify.go rowChange":            "what was asked for, resolved and typed",
		"runtime/engine/session_kept.go setting":        "what the session is to keep, with the entity that its value names",
		"runtime/frontends/http/pages/views.go Changed": "how a page shows a field of a receipt",
		"runtime/conversation/replay/replay.go Change":  "how a recording spells a row of a receipt",
		"runtime/conversation/replay/replay.go Field":   "how a recording spells a field of a receipt",
		"stores/sqlite/wording.go shape":                "which statement carries a change out",
	}
	gone := []string{"RowChange", "FieldChange", "NoticeChange", "SessionChange", "CallPreview", "CallReply", "TableTotal", "Preview", "TendedJob", "keptChange", "keptField",
		"keptNotice", "keptSet", "keptAsk", "keptFill", "keptTable", "keptColumn", "keptCell", "keptValue", "keptCall", "rowJSON", "fieldJSON", "noticeJSON", "setJSON",
		"previewJSON", "callJSON", "loggedChangeJSON", "loggedFieldJSON"}
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		rel := strings.TrimPrefix(filepath.ToSlash(name), root+"/")
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			id := rel + " " + spec.Name.Name
			if slices.Contains(gone, spec.Name.Name) || rel != "stores/store.go" && strings.HasPrefix(rel, "stores/journal/") && slices.Contains([]string{"Change", "Field"}, spec.Name.Name) {
				t.Errorf("%s tells what a call changed: that is a receipt", id)
			}
			s, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			has := map[string]bool{}
			for _, field := range s.Fields.List {
				for _, n := range field.Names {
					has[strings.ToLower(n.Name)] = true
				}
			}
			pair := has["before"] && (has["after"] || has["value"] || has["set"]) && (has["name"] || has["entity"] || has["field"])
			row := has["op"] && has["entity"] && (has["fields"] || has["set"])
			if !pair && !row || strings.HasPrefix(rel, "stores/receipt/") {
				return true
			}
			if found[id] = true; others[id] == "" {
				t.Errorf("%s looks like a record of what a call changed: that is a receipt", id)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id := range others {
		if !found[id] {
			t.Errorf("%s is not there any more", id)
		}
	}
}
