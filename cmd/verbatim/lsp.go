package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"verbatim/runtime/frontends/lsp"
)

func lspCommand(a *app) *cobra.Command {
	var palettes string
	cmd := &cobra.Command{
		Use:     "lsp",
		Short:   "Tell an editor what is wrong while scripts and palettes are written",
		Example: "verbatim lsp",
		Long: `A language server, which an editor starts and speaks to over standard input and output.
Scripts are checked with the palettes nearest to them, in their folder, in verbs beside
it or further up; those that have none use --palettes.`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir := ""
			if palettes != "" || a.env("VERBATIM_PALETTES") != "" {
				var err error
				var done func()
				if dir, done, err = editorFolder(a.palettesDir(palettes)); err != nil {
					return err
				}
				defer done()
			}
			err := lsp.Serve(cmd.Context(), stdio{a.in, a.sent}, lsp.Config{Palettes: dir, Version: version, Files: os.DirFS("/"), Log: a.err})
			if errors.Is(err, lsp.ErrNoShutdown) {
				return &stop{exitInput, "no-shutdown", err.Error(), "send shutdown before exit"}
			}
			return err
		},
	}
	a.palettesFlag(cmd, &palettes)
	return cmd
}

// editorFolder returns a folder that holds the palettes of places, and what removes it if it was made
// for this: an editor opens files.
func editorFolder(places string) (dir string, done func(), err error) {
	done = func() {}
	dir, err = onePlace(places)
	if err == nil {
		if dir, err = filepath.Abs(dir); err != nil {
			return "", done, broken("the directory of the palettes cannot be found", err, "start verbatim lsp in a folder that exists")
		}
		return dir, done, nil
	}
	found, err := shelve(places)
	if err != nil {
		return "", done, err
	}
	if dir, err = os.MkdirTemp("", "verbatim-palettes-"); err == nil {
		done = func() { os.RemoveAll(dir) }
		err = found.copyTo(dir)
	}
	if err != nil {
		done()
		return "", done, broken("the palettes cannot be shown to the editor", err, "see that temporary files can be written")
	}
	return dir, done, nil
}

// stdio is standard input and output as one connection.
type stdio struct {
	io.Reader
	io.Writer
}

func (s stdio) Close() error {
	if c, ok := s.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
