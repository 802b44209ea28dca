#!/usr/bin/env bash
# The Go port of libphonenumber costs every start of a program 35 000 allocations, used or not.
#
# Guess: the tables are embedded and read when the first number is, or once for one region.
# Found: nyaruka/phonenumbers 1.8.1 decodes the metadata of all regions in package initialisers: more than
#   2 MB and 35 000 allocations before main, in a program that only imports it. Nothing makes it lazy.
#   And an Argentine mobile number in national format gains a 9 that nobody dials: 09 15-2345-6789, where
#   the country writes 011 15-2345-6789.
# Here: a command starts for every call of a script. Our table (verbs/values) is read at the first number.
# Needs: Go 1.26.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"

	"github.com/nyaruka/phonenumbers"
)

func main() {
	if len(os.Args) > 1 {
		n := phonenumbers.GetExampleNumberForType("AR", phonenumbers.MOBILE)
		fmt.Println(phonenumbers.Format(n, phonenumbers.E164), phonenumbers.Format(n, phonenumbers.NATIONAL))
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod init finding >/dev/null 2>&1 && go get github.com/nyaruka/phonenumbers@v1.8.1 >/dev/null 2>&1
go build -o program .
GODEBUG=inittrace=1 ./program 2>trace
grep '^init github.com/nyaruka' trace
awk '/^init github.com\/nyaruka/ { for (i = 1; i < NF; i++) { if ($(i+1) == "bytes,") bytes += $i; if ($(i+1) == "allocs") allocs += $i } }
	END { exit !(bytes > 2000000 && allocs > 30000) }' trace
./program now | tee got
[ "$(cat got)" = "+5491123456789 09 15-2345-6789" ]
echo "as found: nyaruka/phonenumbers 1.8.1, $(go env GOVERSION)"
