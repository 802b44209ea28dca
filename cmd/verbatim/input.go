package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"verbatim/dsl"
)

// maxInput bounds what is read from a file. It is one byte more than the parser accepts, so that a
// longer file gets the parser's message.
var maxInput = int64(dsl.DefaultLimits.Bytes) + 1

// source reads one file, or standard input for "-".
func (a *app) source(name string) (*dsl.Source, error) {
	if name == "-" {
		text, err := io.ReadAll(io.LimitReader(a.in, maxInput))
		if err != nil {
			return nil, broken("standard input cannot be read", err, "try again, or name a file")
		}
		return a.text("-", text)
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &stop{exitUsage, "no-such-file", fmt.Sprintf("there is no file %s%s", quoted(name), nearFile(name)), "name a file that is there, or - for standard input"}
	case err != nil:
		return nil, &stop{exitUsage, "unreadable", fmt.Sprintf("%s cannot be read: %s", quoted(name), reason(err)), "check the path, and who may read it"}
	case info.IsDir():
		return nil, &stop{exitUsage, "is-a-directory", fmt.Sprintf("%s is a directory, a script is a file", quoted(name)),
			fmt.Sprintf("name the files in it, or check palettes with: verbatim lint %s", shell(name))}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, &stop{exitUsage, "unreadable", fmt.Sprintf("%s cannot be read: %s", quoted(name), reason(err)), "check the path, and who may read it"}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxInput))
	if err != nil {
		return nil, broken(quoted(name)+" cannot be read", err, "try again")
	}
	return a.text(name, text)
}

// text refuses binary data with one sentence; a parser would complain about every other byte.
func (a *app) text(name string, text []byte) (*dsl.Source, error) {
	head := text[:min(len(text), 8000)]
	for _, c := range head {
		if c == 0 {
			return nil, &stop{exitInput, "binary", fmt.Sprintf("%s is not a text: it holds zero bytes", quoted(name)), "a script is a text file in UTF-8"}
		}
	}
	return dsl.NewSource(name, string(text)), nil
}

// nearFile suggests a similar file name in the same directory.
func nearFile(name string) string {
	dir, base := filepath.Split(name)
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return didYouMean(base, names)
}

// quoted writes a file name in a sentence.
func quoted(name string) string {
	if name == "-" {
		return "standard input"
	}
	return fmt.Sprintf("%q", name)
}

// shell quotes a word for a shell.
func shell(word string) string {
	safe := word != ""
	for _, r := range word {
		if !strings.ContainsRune("@%+=:,./-_", r) && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			safe = false
		}
	}
	if safe {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
