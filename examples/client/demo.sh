#!/usr/bin/env bash
# The first minute with Verbatim: a bank's database, a client's morning, what is
# changed, what is refused, and what the journal says. Everything happens in a
# temporary folder; the network is not used. PROGRAM_DIR is a folder with the program, where
# it is built already.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)

stop() { echo "demo: $1" >&2; exit 1; }
command -v go >/dev/null || stop "Go 1.26 or newer is needed. Get it at go.dev/dl, then run make demo again"
have=$(go env GOVERSION)
case $have in
go1.[0-9] | go1.[0-9].* | go1.1[0-9]* | go1.2[0-5]*) stop "Go 1.26 or newer is needed, this is ${have#go}. Get it at go.dev/dl, then run make demo again" ;;
esac

folder=$(mktemp -d)
trap 'kill $! 2>/dev/null; wait; rm -rf "$folder"' EXIT
export PATH="${PROGRAM_DIR:-$folder}:$PATH" VERBATIM_STORE=$folder/demo.db VERBATIM_PALETTES=bank VERBATIM_AS=clara NO_COLOR=1

# say shows a command, runs it, and goes on whatever its exit code is: some of
# them are meant to be refused.
say() {
	echo "\$ $1"
	bash -c "$1" 2>&1 || true
}

started=$SECONDS
[ -n "${PROGRAM_DIR:-}" ] || (cd "$root" && CGO_ENABLED=0 go build -o "$folder/verbatim" ./cmd/verbatim) || stop "the program does not build. Look above, then run make demo again"
echo "build     verbatim, one file, $(($(wc -c <"$(command -v verbatim)") / 1000000)) MB, $((SECONDS - started)) s"
verbatim migrate --data bank.sql --data people.sql | sed "s|^ok   $folder/|store     |"
verbatim lint 2>/dev/null | sed 's/^ok  /palettes /'
echo 'Clara writes "Still waiting on our accountant. Should have them next week." As a call, in note.dsl:'
# What is expected has to lie ahead, and the day in the script may be over.
ahead=$(date -u -d '+7 days' +%F 2>/dev/null || date -u -v+7d +%F)
sed "s|2025-01-03|$ahead|" note.dsl >"$folder/note.dsl"
cd "$folder"
tail -n 1 note.dsl
say "verbatim run --dry-run note.dsl | grep -vE '\(now\)|valid while|^$|^ {9}(request|commitment)'"
cd - >/dev/null
# The reference that the script was written with is another day's.
reference=$(verbatim upload --scan none passport.pdf 2>/dev/null)
echo "She sends passport.pdf: $reference"
sed "s|upload://[a-z0-9]*|$reference|; s|2025-01-03|$ahead|" answer.dsl >"$folder/answer.dsl"
cd "$folder"
say "verbatim run answer.dsl | grep '^applied'"
cd - >/dev/null
echo 'A letter of hers names an account, and a model has read it to letter.dsl:'
say "verbatim run --origin document=letter.pdf letter.dsl 2>&1 | grep -E '^(refused|next)'"
say "verbatim log show 3..4 --as d.lang | cut -f 1,3-5"
export VERBATIM_STORE=$folder/talk.db VERBATIM_SCAN=none
verbatim migrate --data bank.sql --data people.sql >/dev/null
echo 'The same morning again as a play, in which a model speaks lines written by hand:'
say "verbatim chat --send-from . --replay conversation/clara.jsonl <conversation/clara.txt | grep -E '^(Sent|Assistant)' | tail -n 2 | cut -c 1-150"
# The portal and the console, in the morning's store. DEMO=exit shows where they are and
# ends.
echo "Look around; Ctrl-C ends it. Clara is a client, T. Weber an analyst:"
verbatim serve --log off --sign-in clara --sign-in t.weber >"$folder/serving" &
for _ in $(seq 100); do
	[ "$(grep -sc '^sign in' "$folder/serving")" = 2 ] && break
	sleep 0.1
done
grep '^sign in' "$folder/serving" || stop "the server does not begin. Run verbatim serve to see why"
[ "${DEMO:-}" = exit ] || wait $! || true
