#!/usr/bin/env bash
# Our agent and a bank's, as two processes that talk over HTTP. Each scenario is played, and
# what was said is compared with the file beside it. Offline; half a minute once it is built.
#
#   bash examples/kyc/demo.sh [--update]
set -euo pipefail
cd "$(dirname "$0")"

dir=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$dir"' EXIT
# PROGRAM_DIR is a folder with the program, where it is built already; KYC_STORE and
# KYC_OWNER are a database and its owner, for PostgreSQL; KYC_WITHIN is a command that runs
# another, our server, with less than everything.
[ -n "${PROGRAM_DIR:-}" ] || go build -o "$dir/verbatim" ../../cmd/verbatim
(cd bank && go build -o "$dir/bank-agent" .)
export PATH="${PROGRAM_DIR:-$dir}:$dir:$PATH" VERBATIM_PALETTES=kyc VERBATIM_STORE="${KYC_STORE:-$dir/kyc.db}" XDG_STATE_HOME="$dir/state"

migrate() { verbatim migrate --store "${KYC_OWNER:-$VERBATIM_STORE}" ${KYC_OWNER:+--grant-to verbatim_app} "$@" >>"$dir/log"; }
migrate
migrate --data people.sql
verbatim migrate --administrator ada --administrator bo >>"$dir/log"
verbatim run --as ada --yes agents.dsl >>"$dir/log"
verbatim run --as ada --yes officers.dsl >>"$dir/log" 2>&1 || [ $? -eq 3 ]

# The bank is told on this machine what becomes of a task.
export VERBATIM_A2A_PUSH=private
${KYC_WITHIN:-} verbatim serve --listen 127.0.0.1:0 --log off >"$dir/serving" &
server=$!
for _ in $(seq 100); do grep -qs http "$dir/serving" && break; sleep 0.1; done
url=$(grep -o 'http://[^ ]*' "$dir/serving" | head -n 1)
token() { verbatim serve token "$1" --as ada --for "$2" --url "$url" --yes 2>>"$dir/log" | grep -E '^[A-Za-z0-9_-]{40,}$' || true; }
BANK_TOKEN=$(token bank northbank)
HOSTILE=$(token hostile southbank)
for id in $(verbatim confirm --as bo | cut -f 1); do verbatim confirm "$id" --agree --as bo >>"$dir/log"; done
export BANK_TOKEN

failed=0
for scenario in scenarios/*.jsonl; do
	token=$BANK_TOKEN
	case $scenario in *hostile*) token=$HOSTILE ;; esac
	name=$(basename "$scenario" .jsonl)
	bank-agent -url "$url" -token "$token" "$scenario" >"$dir/said"
	if [ "${1:-}" = --update ]; then cp "$dir/said" "scenarios/$name.txt"; fi
	if diff -u "scenarios/$name.txt" "$dir/said" >"$dir/diff"; then
		printf 'ok    %s\n' "$name"
	else
		printf 'FAIL  %s: what was said differs from scenarios/%s.txt\n' "$name" "$name"
		cat "$dir/diff"
		failed=1
	fi
done
[ $failed = 0 ] || exit 1

# What is stored of people, and was not sent by the bank itself, stands in no transcript.
for secret in 'john.smith@mail' '219-09' '1980-05-01' 'mgarcia@mail' '078-05' '2065550144' 'ana.novak@' 'a.novak@post' '536-22' '1962-07-09' '3125550188' 'bill@mail' '387-01' '1958-03-17' 'R-100' 'William' 'García'; do
	if grep -l -e "$secret" scenarios/*.txt; then echo "FAIL  $secret was told"; exit 1; fi
done
echo 'ok    nothing that is stored was told'
echo
cat scenarios/2-wrong-then-corrected.txt | head -n 50
echo
echo 'What our compliance sees of the last challenge:'
cat >"$dir/seen.dsl" <<'DSL'
kyc.challenges
DSL
verbatim run --as rosa "$dir/seen.dsl" | tail -n 16
