package main

import (
	"fmt"
	"strconv"
	"strings"

	"verbatim/dsl"
)

// A report is the part of a JSON answer that tells of mistakes.
type report struct {
	Errors      int             `json:"errors"`
	Warnings    int             `json:"warnings"`
	Diagnostics dsl.Diagnostics `json:"diagnostics"`
}

func newReport(ds dsl.Diagnostics) report {
	r := report{Diagnostics: ds}
	if ds == nil {
		r.Diagnostics = dsl.Diagnostics{}
	}
	for i := range ds {
		if ds[i].Severity == dsl.Error {
			r.Errors++
		} else {
			r.Warnings++
		}
	}
	return r
}

// some makes an empty list of none: in JSON, a list that is null is a list
// that every reader must guard against.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// complain prints mistakes for a person. With --json they are in the document,
// and standard error stays free of what is said twice.
func (a *app) complain(ds dsl.Diagnostics) {
	if len(ds) > 0 && !a.json {
		ds.Print(a.err, a.style())
	}
}

// explainOne is the last line under mistakes: a command that says more.
func explainOne(ds dsl.Diagnostics) string {
	for i := range ds {
		if ds[i].Severity == dsl.Error {
			return "More about one of them: verbatim explain " + ds[i].Code
		}
	}
	if len(ds) > 0 {
		return "More about one of them: verbatim explain " + ds[0].Code
	}
	return ""
}

// counted says "1 row" and "4 rows", with separators where they help.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	plural := noun + "s"
	switch {
	case strings.HasSuffix(noun, "y"):
		plural = strings.TrimSuffix(noun, "y") + "ies"
	case noun == "person":
		plural = "people"
	}
	return thousands(n) + " " + plural
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// errorsAndWarnings says "2 errors, 1 warning".
func (r report) String() string {
	return fmt.Sprintf("%s, %s", counted(r.Errors, "error"), counted(r.Warnings, "warning"))
}
