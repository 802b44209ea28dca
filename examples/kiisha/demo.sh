#!/usr/bin/env bash
# People write by WhatsApp and mail: the other side, the mail servers and the DNS are one
# program (world), and `verbatim serve` is another. Each scenario is played, and what was said
# is compared with the file beside it. Offline; half a minute once it is built.
#
#   bash examples/kiisha/demo.sh [--update]
set -euo pipefail
cd "$(dirname "$0")"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# PROGRAM_DIR is a folder with the program, where it is built already; KIISHA_STORE and
# KIISHA_OWNER are a database and its owner, for PostgreSQL.
[ -n "${PROGRAM_DIR:-}" ] || (cd ../.. && CGO_ENABLED=0 go build -o "$dir/verbatim" ./cmd/verbatim)
(cd world && CGO_ENABLED=0 go build -o "$dir/world" .)
export PATH="${PROGRAM_DIR:-$dir}:$dir:$PATH" VERBATIM_PALETTES=kiisha VERBATIM_STORE="${KIISHA_STORE:-$dir/kiisha.db}" VERBATIM_FILES="$dir/files" VERBATIM_SCAN=none XDG_STATE_HOME="$dir/state" NO_COLOR=1

migrate() { verbatim migrate --store "${KIISHA_OWNER:-$VERBATIM_STORE}" ${KIISHA_OWNER:+--grant-to verbatim_app} "$@" >>"$dir/log"; }
migrate
migrate --data organisations.sql
verbatim migrate --administrator ada --administrator bo >>"$dir/log"
verbatim run --as ada --yes people.dsl >>"$dir/log"
printf 'system.add-principal :name "channels"\nsystem.add-principal :name "tia" :label "Tia Berg"\n' >"$dir/more.dsl"
verbatim run --as ada --yes "$dir/more.dsl" >>"$dir/log"
for script in identities.dsl channels.dsl; do
	verbatim run --as ada --yes "$script" >>"$dir/log" 2>&1 || [ $? -eq 3 ]
done
for id in $(verbatim confirm --as bo | cut -f 1); do verbatim confirm "$id" --agree --as bo >>"$dir/log"; done

failed=0
mkdir "$dir/said"
world -inbox deals@kiisha.example -out "$dir/said" scenarios/*.jsonl || failed=1
for scenario in scenarios/*.jsonl; do
	name=$(basename "$scenario" .jsonl)
	if [ "${1:-}" = --update ]; then cp "$dir/said/$name.txt" "scenarios/$name.txt"; fi
	if diff -u "scenarios/$name.txt" "$dir/said/$name.txt" >"$dir/diff"; then
		printf 'ok    %s\n' "$name"
	else
		printf 'FAIL  %s: what was said differs from scenarios/%s.txt\n' "$name" "$name"
		cat "$dir/diff"
		failed=1
	fi
done
[ $failed = 0 ] || exit 1
cat scenarios/1-known.txt | head -n 24
