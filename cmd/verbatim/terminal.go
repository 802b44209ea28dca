package main

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"

	"verbatim/dsl"
)

// openTerminal finds a terminal to read answers from. A person is there if standard input or
// standard error is a terminal. A job without either is never asked, even if it was started from a
// terminal.
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

// style returns the style of messages on standard error.
func (a *app) style() dsl.Style {
	switch a.color {
	case "always":
		return dsl.Style{Color: true}
	case "never":
		return dsl.Style{}
	}
	return dsl.Style{Color: isTerminal(a.err) && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"}
}
