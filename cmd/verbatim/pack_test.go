package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// OB9: each example that has palettes is a pack, whose palettes are those of its folder.
func TestEveryExampleIsAPack(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob("../../examples/*/pack.json")
	if err != nil || len(all) < 8 {
		t.Fatal(all, err)
	}
	for _, manifest := range all {
		dir := filepath.Dir(manifest)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			palettes := filepath.Base(dir) // most take a set that is carried
			if own := filepath.Join(dir, "verbs"); isFolder(own) {
				palettes = own
			} else if palettes == "client" {
				palettes = "bank"
			}
			file := filepath.Join(t.TempDir(), "pack.zip")
			var said bytes.Buffer
			code := run(context.Background(), world{args: []string{"pack", dir, "--palettes", palettes, "-o", file}, in: strings.NewReader(""), out: &said, err: &said,
				env: func(string) string { return "" }, now: func() time.Time { return morning }, terminal: openTerminal})
			if code != exitDone {
				t.Fatal(said.String())
			}
			folder, err := loadPalettes(palettes)
			if err != nil {
				t.Fatal(err)
			}
			packed, err := loadPalettes(file)
			if err != nil {
				t.Fatal(err)
			}
			if folder.reg == nil || packed.reg == nil || folder.reg.Digest() != packed.reg.Digest() {
				t.Error("the palettes of the pack are not those of its folder")
			}
			// Beside others it is the same palette too.
			dir := t.TempDir()
			code = run(context.Background(), world{args: []string{"pack", "install", file, "--palettes", dir, "--servers", ""}, in: strings.NewReader(""), out: &said, err: &said,
				env: func(string) string { return "" }, now: func() time.Time { return morning }, terminal: openTerminal})
			if code != exitDone {
				if strings.Contains(said.String(), "needs the server of tools") {
					return // the example names it in a file of its own
				}
				t.Fatal(said.String())
			}
			installed, err := loadPalettes(dir)
			if err != nil || installed.reg == nil || installed.reg.Digest() != folder.reg.Digest() {
				t.Error("the palettes of the pack that is installed are others", err)
			}
			if _, err := os.Stat(filepath.Join(dir, "packs.lock")); err != nil {
				t.Error(err)
			}
		})
	}
}
