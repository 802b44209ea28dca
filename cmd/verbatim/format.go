package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime/frontends/wire"
)

func fmtCommand(a *app) *cobra.Command {
	var write, diff, list bool
	cmd := &cobra.Command{
		Use:   "fmt FILE…|-",
		Short: "Print scripts in their one spelling",
		Example: `verbatim fmt answer.dsl
verbatim fmt -w answer.dsl
verbatim fmt -d answer.dsl
verbatim fmt - <answer.dsl`,
		Long: "Comments stay. A script with mistakes is left alone. With -l and -d, a difference is exit code 1.",
		Args: atLeast(1, "a file, or - for standard input"),
		RunE: func(_ *cobra.Command, names []string) error {
			return a.format(names, write, diff, list)
		},
	}
	cmd.Flags().BoolVarP(&write, "write", "w", false, "write the result back to the file")
	cmd.Flags().BoolVarP(&diff, "diff", "d", false, "print what would change, as a patch")
	cmd.Flags().BoolVarP(&list, "list", "l", false, "print the names of files that would change")
	return cmd
}

type formatted struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Text    string `json:"text"`
}

func (a *app) format(names []string, write, diff, list bool) error {
	if write && diff || write && list || diff && list {
		return usage("-w, -d and -l are three answers to one question", "give one of them")
	}
	var found dsl.Diagnostics
	var files []formatted
	differs := false
	for _, name := range names {
		if name == "-" && write {
			return usage("standard input cannot be written back", "leave out -w")
		}
		src, err := a.source(name)
		if err != nil {
			return err
		}
		script, ds := dsl.Parse(src)
		found = append(found, a.withoutSecrets(script, ds)...)
		if ds.HasErrors() {
			continue
		}
		f := formatted{File: name, Text: dsl.Format(script)}
		f.Changed = f.Text != src.Text
		differs = differs || f.Changed
		files = append(files, f)
		if write && f.Changed {
			if err := replace(name, f.Text); err != nil {
				return broken(quoted(name)+" cannot be written", err, "the file is as it was; try again")
			}
		}
		switch {
		case a.json, write:
		case list:
			if f.Changed {
				fmt.Fprintln(a.out, name)
			}
		case diff:
			if f.Changed {
				writeDiff(a.out, name, "formatted", src.Text, f.Text)
			}
		default:
			fmt.Fprint(a.out, f.Text)
		}
	}
	if a.json {
		a.emit(struct {
			Schema string      `json:"schema"`
			Files  []formatted `json:"files"`
			wire.Report
		}{"verbatim/fmt@1", wire.Some(files), report(found)})
	}
	a.complain(found)
	if found.HasErrors() || differs && (diff || list) {
		return said(exitInput)
	}
	return nil
}

// withoutSecrets removes sensitive values from diagnostics of a script, if palettes are there to
// tell which they are. Formatting needs no palettes.
func (a *app) withoutSecrets(script *dsl.Script, ds dsl.Diagnostics) dsl.Diagnostics {
	if len(ds) == 0 {
		return ds
	}
	if l, err := loadPalettes(a.palettesDir("")); err == nil && l.reg != nil {
		return l.reg.Mask(script, ds)
	}
	return ds
}

// replace writes a file atomically: at every moment it holds the old text or the new one.
func replace(name, text string) error {
	real, err := filepath.EvalSymlinks(name)
	mode := fs.FileMode(0o644)
	switch info, at := os.Stat(real); {
	case errors.Is(err, fs.ErrNotExist):
		real = name
	case err != nil:
		return err
	case at != nil:
		return at
	default:
		mode = info.Mode().Perm()
	}
	tmp, err := os.CreateTemp(filepath.Dir(real), "."+filepath.Base(real)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.WriteString(text)
	if err == nil {
		err = tmp.Chmod(mode)
	}
	if err == nil {
		err = tmp.Sync()
	}
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), real)
}
