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
	p := s.page(t, "examples/manda/README.md", "verbs/palettes/manda/manda.yaml", "")
	s.with(t, p, "VERBATIM_PALETTES=manda VERBATIM_SCAN=none VERBATIM_AS=ada").play(t)
}

// O26 to O30, O22, X16, U29: so is that of the bank, the conversation with a
// client among it.
func TestBankReadmeIsTrue(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.with(t, s.page(t, "examples/client/README.md", "verbs/palettes/bank/onboarding.yaml", "examples/client/conversation/*.dsl"), "VERBATIM_PALETTES=bank").play(t)
}
