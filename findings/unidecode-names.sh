#!/usr/bin/env bash
# go-unidecode writes names otherwise than passports do: a sign for a letter, and readings that no family has.
#
# Guess: a letter becomes a letter, and a character of Chinese the reading that it has as a family name.
# Found: go-unidecode 0.2.0 writes "@" for ə, which every second name of Azerbaijan has, where ICAO Doc 9303-3
#   writes E. The families 曾, 单, 解, 翟, 仇 and 万 are Ceng, Dan, Jie, Di, Chou and Mo, where their passports
#   have Zeng, Shan, Xie, Zhai, Qiu and Wan.
# Here: letters and such characters stand in stores/search/letters.txt with their sources; what the library
#   writes is taken for letters that have no line there, and only its letters and digits are.
# Needs: Go 1.26.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/mozillazg/go-unidecode"
)

func main() { fmt.Printf("%s|%s\n", unidecode.Unidecode("Məmməd"), unidecode.Unidecode("曾单解翟仇万")) }
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod init finding >/dev/null 2>&1 && go get github.com/mozillazg/go-unidecode@v0.2.0 >/dev/null 2>&1
go run . | tee got
[ "$(cat got)" = "M@mm@d|Ceng Dan Jie Di Chou Mo " ]
echo "as found: go-unidecode 0.2.0, $(go env GOVERSION)"
