#!/usr/bin/env bash
# A client asks the agent as it would ask TrustGraph's; `verbatim serve` plans, asks a model
# and the graph, and says how sure it is. The model says what plays.json has it say. Each
# scenario is played, and what was said is compared with the file beside it. Offline; half a
# minute once it is built.
#
#   bash examples/confidence/demo.sh [--update]
set -euo pipefail
cd "$(dirname "$0")"

dir=$(mktemp -d)
trap 'kill "${server:-}" "${model:-}" 2>/dev/null || true; rm -rf "$dir"' EXIT
# PROGRAM_DIR is a folder with the program, where it is built already; CONFIDENCE_STORE and
# CONFIDENCE_OWNER are a database and its owner, for PostgreSQL.
[ -n "${PROGRAM_DIR:-}" ] || (cd ../.. && CGO_ENABLED=0 go build -o "$dir/verbatim" ./cmd/verbatim)
(cd play && CGO_ENABLED=0 go build -o "$dir/play" .)
export PATH="${PROGRAM_DIR:-$dir}:$dir:$PATH" VERBATIM_PALETTES=confidence VERBATIM_STORE="${CONFIDENCE_STORE:-$dir/graph.db}" VERBATIM_PLANS="$PWD/plans.yaml" XDG_STATE_HOME="$dir/state" NO_COLOR=1

migrate() { verbatim migrate --store "${CONFIDENCE_OWNER:-$VERBATIM_STORE}" ${CONFIDENCE_OWNER:+--grant-to verbatim_app} "$@" >>"$dir/log"; }
agreed() { for id in $(verbatim confirm --as wim | cut -f 1); do verbatim confirm "$id" --agree --as wim >>"$dir/log"; done; }
migrate
verbatim migrate --administrator vera --administrator wim >>"$dir/log"
verbatim run --as vera --yes people.dsl >>"$dir/log"
verbatim run --as vera --yes rights.dsl >>"$dir/log" 2>&1 || [ $? -eq 3 ]
agreed
verbatim run --as ed --yes graph.dsl >>"$dir/log" 2>&1

play -plays plays.json -listen 127.0.0.1:0 >"$dir/model" &
model=$!
for _ in $(seq 100); do grep -qs http "$dir/model" && break; sleep 0.1; done
VERBATIM_BASE_URL=$(head -n 1 "$dir/model")
export VERBATIM_BASE_URL VERBATIM_MODEL=play

verbatim serve --listen 127.0.0.1:0 --log off >"$dir/serving" 2>"$dir/errors" &
server=$!
for _ in $(seq 100); do grep -qs http "$dir/serving" && break; sleep 0.1; done
url=$(grep -o 'http://[^ ]*' "$dir/serving" | head -n 1)
token() { verbatim serve token "$1" --as vera --for "$2" --url "$url" --yes 2>>"$dir/log" | grep -E '^[A-Za-z0-9_-]{40,}$' || true; }
ada=$(token client ada)
olga=$(token desk olga)
agreed

failed=0
for scenario in scenarios/*.jsonl; do
	name=$(basename "$scenario" .jsonl)
	who=$ada
	case $name in *-seen) who=$olga ;; esac
	if [ "$name" = 4-accepted ]; then
		verbatim run --as olga doubts.dsl >"$dir/doubts"
		sed "s/@STEP/$(awk '$1 == "step" { print $2; exit }' "$dir/doubts")/" accept.dsl >"$dir/accept.dsl"
		verbatim run --as olga --yes "$dir/accept.dsl" >>"$dir/log"
	fi
	play -url "$url" -token "$who" -last "$dir/last" "$scenario" >"$dir/said"
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
cat scenarios/1-connections.txt
echo 'What the keeper of the journal reads of the last plan:'
verbatim log plan "$(cat "$dir/last")" --as vera
