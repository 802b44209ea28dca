package dsl

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"
)

//go:embed codes.txtar
var codesText string

var codes = sync.OnceValue(func() []CodeDoc { return ReadCodes(codesText) })

// Codes explains every code that this package reports, in alphabetical order.
func Codes() []CodeDoc { return slices.Clone(codes()) }

// ReadCodes reads explanations of codes from a txtar archive with the parts CODE/meaning,
// CODE/wrong, CODE/right and CODE/limits, of which only the first is required. In an example the
// line "< NAME" stands for the part NAME. It panics if the archive does not have this form:
// archives are parts of the program.
func ReadCodes(archive string) []CodeDoc {
	var docs []CodeDoc
	shared := map[string]string{}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		text := string(f.Data)
		code, part, is := strings.Cut(f.Name, "/")
		if !is {
			shared[f.Name] = text
			continue
		}
		if part == "meaning" {
			docs = append(docs, CodeDoc{Code: code, Meaning: strings.TrimSpace(text)})
			continue
		}
		if len(docs) == 0 || docs[len(docs)-1].Code != code {
			panic("dsl: " + f.Name + " does not follow what " + code + " means")
		}
		doc := &docs[len(docs)-1]
		switch part {
		case "wrong":
			doc.Wrong = include(text, shared)
		case "right":
			doc.Right = include(text, shared)
		case "limits":
			doc.Limits = readLimits(text)
		default:
			panic("dsl: nothing of a code is called " + part)
		}
	}
	return docs
}

func include(text string, shared map[string]string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if name, is := strings.CutPrefix(line, "< "); is {
			line = shared[strings.TrimSpace(name)]
			if line == "" {
				panic("dsl: no part is called " + name)
			}
		}
		b.WriteString(line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func readLimits(text string) (l Limits) {
	for line := range strings.Lines(text) {
		var name string
		var n int
		if _, err := fmt.Sscan(line, &name, &n); err != nil {
			panic(err)
		}
		switch name {
		case "bytes":
			l.Bytes = n
		case "depth":
			l.Depth = n
		case "calls":
			l.Calls = n
		case "values":
			l.Values = n
		case "diagnostics":
			l.Diagnostics = n
		default:
			panic("dsl: no limit is called " + name)
		}
	}
	return l
}
