package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// allowed tells a licence that may be in the program by words that its text alone has.
var allowed = map[string]string{
	"Apache-2.0": "Apache License Version 2.0, January 2004",
	"MPL-2.0":    "Mozilla Public License Version 2.0",
	"MIT":        "Permission is hereby granted, free of charge, to any person obtaining a copy",
	"BSD":        "Redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met",
	"ISC":        "Permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted",
	"ISC, or so": "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted",
	"public":     "This is free and unencumbered software released into the public domain",
	"SQLite":     "All of the code and documentation in SQLite has been dedicated to the public domain",
}

// forbidden are words of licences that ask for more than their text to be handed on.
var forbidden = regexp.MustCompile(`GNU (?:AFFERO |LESSER |LIBRARY )?GENERAL PUBLIC LICENSE|Server Side Public License|Business Source License|Elastic License|Commons Clause|NonCommercial`)

var (
	licenceFile = regexp.MustCompile(`(?i)^(?:licen[sc]e|copying|notice|patents)`)
	noLicence   = regexp.MustCompile(`(?i)^(?:notice|patents)|-logo`) // beside a licence
)

// The program prints the licence of every module that is in it, on any platform, and of Go; each
// is one that somebody has looked at. -update writes the list.
func TestLicences(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it lists what the program is made of")
	}
	folders := map[string]string{} // by module
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", ".")
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			if module, folder, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				folders[module] = folder
			}
		}
	}
	if len(folders) < 50 {
		t.Fatalf("%d modules were found", len(folders))
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	folders["Go"] = strings.TrimSpace(string(root))
	type text struct {
		of   []string
		said []byte
	}
	texts := map[[sha256.Size]byte]*text{}
	var order [][sha256.Size]byte
	for _, module := range slices.Sorted(maps.Keys(folders)) {
		entries, err := os.ReadDir(folders[module])
		if err != nil {
			t.Fatal(err)
		}
		licensed := false
		for _, e := range entries {
			if e.IsDir() || !licenceFile.MatchString(e.Name()) || module == "Go" && e.Name() != "LICENSE" {
				continue
			}
			said, err := os.ReadFile(filepath.Join(folders[module], e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if !noLicence.MatchString(e.Name()) {
				licensed = true
				words := strings.Join(strings.Fields(string(said)), " ")
				known := slices.ContainsFunc(slices.Collect(maps.Values(allowed)), func(has string) bool { return strings.Contains(words, has) })
				if bad := forbidden.FindString(words); bad != "" {
					t.Errorf("%s has a %s that says %s", module, e.Name(), bad)
				} else if !known {
					t.Errorf("nobody has looked at the licence of %s yet: %s", module, e.Name())
				}
			}
			key := sha256.Sum256(said)
			if texts[key] == nil {
				texts[key] = &text{said: said}
				order = append(order, key)
			}
			texts[key].of = append(texts[key].of, module+": "+e.Name())
		}
		if !licensed {
			t.Errorf("%s has no text of its licence", module)
		}
	}
	// Scripts of others that pages load stand beside their licences.
	const assets = "../../runtime/frontends/http/pages/assets"
	vendored, err := filepath.Glob(filepath.Join(assets, "*.LICENSE"))
	if err != nil || len(vendored) == 0 {
		t.Fatal("pages load no script of others", err)
	}
	for _, name := range vendored {
		said, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Join(strings.Fields(strings.ReplaceAll(strings.ReplaceAll(string(said), "//", " "), "*", " ")), " ")
		if bad := forbidden.FindString(words); bad != "" || !slices.ContainsFunc(slices.Collect(maps.Values(allowed)), func(has string) bool { return strings.Contains(words, has) }) {
			t.Errorf("nobody has looked at %s yet", name)
		}
		texts[sha256.Sum256(said)] = &text{of: []string{"a script of the pages: " + filepath.Base(name)}, said: said}
		order = append(order, sha256.Sum256(said))
	}
	scripts, err := os.ReadDir(assets)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range scripts {
		name, _, _ := strings.Cut(strings.TrimSuffix(e.Name(), "_nowasm_fallback.js"), ".")
		own := slices.Contains([]string{"page.js", "document.js", "style.css"}, e.Name())
		if !own && !slices.Contains(vendored, filepath.Join(assets, name+".LICENSE")) {
			t.Errorf("%s has no licence beside it", e.Name())
		}
	}
	var b bytes.Buffer
	for _, key := range order {
		for _, of := range texts[key].of {
			fmt.Fprintf(&b, "==== %s\n", of)
		}
		fmt.Fprintf(&b, "\n%s\n\n", bytes.TrimRight(bytes.ReplaceAll(texts[key].said, []byte("\r\n"), []byte("\n")), "\n"))
	}
	if *update {
		put(t, "release/licences.txt", b.Bytes())
		return
	}
	if licences != b.String() {
		t.Error("release/licences.txt is not what the program is made of; run with -update, and look at what is new")
	}
	s := newShell(t)
	if out, said, code := s.run(t, "verbatim version --licences"); code != exitDone || out != b.String() {
		t.Errorf("verbatim version --licences: %d %s, %d bytes", code, said, len(out))
	}
}
