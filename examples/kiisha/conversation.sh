#!/usr/bin/env bash
# Somebody sends three files and speaks of a project; a manager agrees to what leaves the
# house. Offline, half a minute with the build.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD root=$(cd ../.. && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[ -n "${PROGRAM_DIR:-}" ] || (cd "$root" && CGO_ENABLED=0 go build -o "$folder/verbatim" ./cmd/verbatim)
export PATH="${PROGRAM_DIR:-$folder}:$PATH" VERBATIM_PALETTES=kiisha VERBATIM_STORE=$folder/kiisha.db VERBATIM_FILES=$folder/files VERBATIM_SCAN=none XDG_STATE_HOME=$folder NO_COLOR=1
verbatim migrate >/dev/null
verbatim migrate --data organisations.sql >/dev/null
verbatim migrate --administrator ada --administrator bo >/dev/null
verbatim run --as ada --yes people.dsl >/dev/null
verbatim run --as ada --yes identities.dsl >/dev/null 2>&1 || [ $? -eq 3 ]
for id in $(verbatim confirm --as bo | cut -f 1); do verbatim confirm "$id" --agree --as bo >/dev/null; done
says() { printf '\n%s> %s\n' "$1" "$2" && echo "$2" | verbatim chat --as "$1" --session demo | grep -v '^This still waits\|^$' || true; }
for file in files/*.txt; do
	reference=$(verbatim upload --as nadia "$file" 2>/dev/null | grep -o 'upload://[a-z0-9]*' | head -n 1)
	says nadia "Here is $(basename "$file"): $reference"
	says nadia yes
	verbatim work --once >/dev/null 2>&1
done
says nadia "Which files are not linked?"
says nadia "Verify the grid permit"
says nadia yes
says nadia "What's the status of UMZA?"
says nadia "Show me the documents for this project"
says nadia "Create a data room for UMZA-1 called Lenders"
says nadia yes
says nadia "Share the Lenders room with ana@bank.example until in 30 days"
says nadia yes
for id in $(verbatim confirm --as omar | cut -f 1); do verbatim confirm "$id" --agree --as omar | tail -n 12; done
says omar "what is shared with others"
