package main

import (
	"os"
	"testing"
)

// X16: the example of the shops is true: what its README shows is what
// happens, its palette stands in its palette, and every script of it is played.
// With -update the output is written into it.
func TestShopsReadmeIsTrue(t *testing.T) {
	t.Parallel()
	s := shellIn{t.TempDir(), t.TempDir()}
	err := putProgram(s.bin)
	if err == nil {
		err = layOutShop(s.dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.page(t, "examples/retail/README.md", "examples/retail/verbs/retail.yaml", "examples/retail/*.dsl").play(t)
}

// M16, SAFE-S4: so is that of the data room: what is in a file becomes rows, with its places.
func TestDataRoomReadmeIsTrue(t *testing.T) {
	t.Parallel()
	s := shellIn{t.TempDir(), t.TempDir()}
	err := putProgram(s.bin)
	if err == nil {
		err = os.CopyFS(s.dir, os.DirFS("../../examples/manda"))
	}
	if err != nil {
		t.Fatal(err)
	}
	p := s.page(t, "examples/manda/README.md", "examples/manda/verbs/manda.yaml", "")
	p.run = func(command string) string { return s.prints(t, "export VERBATIM_SCAN=none VERBATIM_AS=ada; "+command) }
	p.play(t)
}

// O26 to O30, O22, X16, U29: so is that of the bank, the conversation with a
// client among it.
func TestBankReadmeIsTrue(t *testing.T) {
	t.Parallel()
	newShell(t).page(t, "examples/client/README.md", "verbs/onboarding.yaml", "examples/client/conversation/*.dsl").play(t)
}
