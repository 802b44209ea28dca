package palettes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each folder is a set, and each palette has an editor's schema where its first line says.
func TestEachFolderIsASet(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var folders []string
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, e.Name())
		}
	}
	if !slices.Equal(folders, Names()) {
		t.Errorf("the folders are %v, the sets %v", folders, Names())
	}
	files, err := filepath.Glob("*/*.yaml")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text := Text(filepath.ToSlash(file))
		first, _, _ := strings.Cut(text, "\n")
		if schema, is := strings.CutPrefix(first, "# yaml-language-server: $schema="); is {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), schema)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
		if set, there := Files(filepath.Dir(file)); !there || set == nil {
			t.Errorf("%s is carried in no set", file)
		}
	}
	if _, there := Files("bnak"); there {
		t.Error("there is a set bnak")
	}
}
