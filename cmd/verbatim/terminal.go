package main

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"

	"verbatim/dsl"
)

// openTerminal finds where an answer can be read. Somebody is there when
// standard input is a terminal, or when what we say appears on one; a job
// without either is never asked, even if a terminal started it.
func openTerminal(w world) (io.ReadCloser, bool) {
	if isTerminal(w.in) {
		return io.NopCloser(w.in), true
	}
	if !isTerminal(w.err) {
		return nil, false
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return nil, false
	}
	return tty, true
}

func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isatty.IsTerminal(f.Fd())
}

// style says how to print what is said on standard error.
func (a *app) style() dsl.Style {
	switch a.color {
	case "always":
		return dsl.Style{Color: true}
	case "never":
		return dsl.Style{}
	}
	return dsl.Style{Color: isTerminal(a.err) && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"}
}
