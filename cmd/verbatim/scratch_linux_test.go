package main

import (
	"os"
	"testing"
)

// G23: the rows of a replay are in a file that has no name, so that nobody else opens it, and none is left
// behind by a command that is killed.
func TestAScratchHasNoName(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s, err := newScratch()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.WriteAt([]byte("a row"), 0); err != nil {
		t.Fatal(err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) > 0 {
		t.Errorf("%v %v", all, err)
	}
}
