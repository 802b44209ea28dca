#!/usr/bin/env bash
# A program that is covered by -coverpkg without its main package writes no coverage at all, and says so only if asked.
#
# Guess: `go build -cover -covermode=atomic -coverpkg=./lib .` covers package lib. The program writes its
#   counters into GOCOVERDIR when it ends, and runtime/coverage can clear them on the way, since the mode is
#   atomic. (go.dev/doc/build-cover: -coverpkg selects the packages; nothing there asks for main.)
# Found: go 1.26 builds it without a word. ClearCounters and WriteCountersDir refuse with
#   "covermode=<invalid> (please use -covermode=atomic)", which is what was given, and at its end the program
#   writes nothing. With the main package named in -coverpkg as well, everything works.
# Here: how many files of the engine one call runs through is measured so, and a measure that finds
#   nothing looks like a call that runs nothing.
# Needs: Go 1.26.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
mkdir lib
cat >go.mod <<'MOD'
module example.com/covered

go 1.26
MOD
cat >lib/lib.go <<'GO'
package lib

// Twice doubles.
func Twice(n int) int { return 2 * n }
GO
cat >main.go <<'GO'
package main

import (
	"fmt"
	"runtime/coverage"

	"example.com/covered/lib"
)

func main() {
	fmt.Println("clear:", coverage.ClearCounters())
	fmt.Println("twice:", lib.Twice(2))
}
GO
go version | sed 's/ [^ ]*$//'
found() { # packages: what the program says, and how many files it leaves
	go build -cover -covermode=atomic -coverpkg="$1" -o program . 2>&1
	rm -rf data; mkdir data
	GOCOVERDIR=$PWD/data ./program 2>&1
	echo "files: $(ls data | wc -l)"
}
without=$(found ./lib) with=$(found ./lib,.)
printf 'without main\n%s\nwith main\n%s\n' "$without" "$with"
[ "$without" = "clear: ClearCounters invoked for program built with -covermode=<invalid> (please use -covermode=atomic)
twice: 4
files: 0" ] || { echo "changed: without main" >&2; exit 1; }
[ "$with" = "clear: <nil>
twice: 4
files: 2" ] || { echo "changed: with main" >&2; exit 1; }
