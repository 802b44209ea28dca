#!/usr/bin/env bash
# A library that reads DMARC policies refuses records that the standard says how to take.
#
# Guess: tags that are not valid are passed over, values are read in any case, and a record without p
#   but with an address for reports counts as one of none; adkim and aspf are relaxed then.
# Found: go-msgauth 0.7.0 returns an error for p=None, for a record without p, for ri=often, fo=7,
#   adkim=maybe and rf=x, so that nothing is known of alignment, and a sender's subdomain counts as a stranger. Of
#   two records it takes the first, where the standard takes none.
#   Source: RFC 7489, 6.3 (unknown and faulty tags are ignored), 6.4 (ABNF, whose texts have any case:
#   RFC 5234, 2.3), 6.6.3 (no p, an rua: as none; several records: none).
# Here: the channel of mails hands the library what is left of a record when the standard's rules
#   have been applied (runtime/frontends/channel/mail/sender.go).
# Needs: go 1.24.
set -euo pipefail
dir=$(mktemp -d); trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT; cd "$dir"
export GOMODCACHE="$dir/mod" GOFLAGS=-mod=mod
cat >go.mod <<'MOD'
module look
go 1.24
require github.com/emersion/go-msgauth v0.7.0
MOD
cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/emersion/go-msgauth/dmarc"
)

func main() {
	for _, record := range []string{"v=DMARC1; p=none", "v=DMARC1; p=None", "v=DMARC1; rua=mailto:d@example.com", "v=DMARC1; p=none; ri=often",
		"v=DMARC1; p=none; fo=7", "v=DMARC1; p=none; adkim=maybe", "v=DMARC1; p=none; adkim=S", "v=DMARC1; p=none; rf=x"} {
		r, err := dmarc.Parse(record)
		if err != nil {
			fmt.Println(record, "->", err)
			continue
		}
		fmt.Println(record, "->", r.DKIMAlignment)
	}
	two := dmarc.LookupOptions{LookupTXT: func(string) ([]string, error) { return []string{"v=DMARC1; p=none", "v=DMARC1; p=reject"}, nil }}
	r, err := dmarc.LookupWithOptions("example.com", &two)
	fmt.Println("two records ->", r.Policy, err)
}
GO
go run . | tee got
cat >want <<'TXT'
v=DMARC1; p=none -> r
v=DMARC1; p=None -> dmarc: invalid policy for parameter 'p'
v=DMARC1; rua=mailto:d@example.com -> dmarc: record is missing a 'p' parameter
v=DMARC1; p=none; ri=often -> dmarc: invalid parameter 'ri': strconv.Atoi: parsing "often": invalid syntax
v=DMARC1; p=none; fo=7 -> dmarc: invalid failure option in parameter 'fo'
v=DMARC1; p=none; adkim=maybe -> dmarc: invalid alignment mode for parameter 'adkim'
v=DMARC1; p=none; adkim=S -> dmarc: invalid alignment mode for parameter 'adkim'
v=DMARC1; p=none; rf=x -> dmarc: invalid parameter 'rf'
two records -> none <nil>
TXT
diff want got && echo "as found: go-msgauth 0.7.0, $(go env GOVERSION)"
