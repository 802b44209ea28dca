#!/usr/bin/env bash
# A client, its person and a server, with verbatim guard between them. What is said is compared with
# demo.txt. Offline; seconds once the program is built.
#
#   bash examples/guard/demo.sh [--update]
set -euo pipefail
cd "$(dirname "$0")"

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# PROGRAM_DIR is a folder with the program, where it is built already.
[ -n "${PROGRAM_DIR:-}" ] || go build -o "$dir/verbatim" ../../cmd/verbatim
export PATH="${PROGRAM_DIR:-$dir}:$PATH" VERBATIM_GUARD="$dir/state"

# connect starts a client before the bank, by the one line.
connect() {
	coproc CLIENT { verbatim guard --name bank -- bash bank.sh "$dir/payments" 2>>"$dir/log"; }
	n=0
	tell '"id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"demo","version":"1"}}'
	hear
	tell '"method":"notifications/initialized"'
}
tell() { printf '{"jsonrpc":"2.0",%s}\n' "$1" >&"${CLIENT[1]}"; }
hear() { IFS= read -r line <&"${CLIENT[0]}"; }
leave() {
	local pid=$CLIENT_PID
	exec {CLIENT[1]}>&-
	wait "$pid" 2>>"$dir/log" || true
}

# call calls a tool; the person answers each question with the next of the words behind it.
call() {
	echo "> $1 $2"
	n=$((n + 1))
	tell '"id":'"$n"',"method":"tools/call","params":{"name":"'"$1"'","arguments":'"$2"'}'
	shift 2
	while hear; do
		case $line in
		*elicitation/create*)
			printf '%s' "$line" | sed 's/.*"message":"//; s/","requestedSchema.*//; s/\\n/\n/g; s/\\"/"/g' | sed -E 's/20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9:]{8}/TIME/g; s/^/    /'
			echo
			echo "  the person: ${1:-no}"
			content='"decline"'
			[ "${1:-no}" = yes ] && content='"accept","content":{"agree":true}'
			tell '"id":'"$(sed 's/.*"id":\([0-9]*\).*/\1/' <<<"$line")"',"result":{"action":'"$content"'}'
			shift || true
			;;
		*)
			sed 's/.*"text":"//; s/"}\].*//; s/","type":"text$//; s/^/< /' <<<"$line"
			echo
			return
			;;
		esac
	done
}

play() {
	echo "# Reading passes once the person said so. Paying is asked about."
	connect
	call pay '{"to":"Ann","amount":20}' yes yes
	call read_letter '{}'
	echo "# What comes out of a letter is shown to be that."
	call pay '{"to":"DE89370400440532013000","amount":900}' no
	echo "# The server dies while it pays: nobody knows. The next question says so."
	call pay '{"to":"crash","amount":1}' yes
	leave
	connect
	call pay '{"to":"crash","amount":1}' no
	leave
	echo "# Its author lets the tool say something else: it is not used, and the model does not see it."
	touch "$dir/payments.taken-over"
	connect
	call pay '{"to":"Ann","amount":20}' no
	leave
	echo "# What was paid:"
	cat "$dir/payments"
	echo
	echo '$ verbatim guard status'
	verbatim guard status | sed "s#$dir#DIR#"
	echo '$ verbatim log verify'
	verbatim log verify --store "$dir/state/guard.db" 2>&1 | sed -E 's/head [0-9a-f ]+/head HASH/'
	echo '$ verbatim log show'
	verbatim log show --store "$dir/state/guard.db" 2>&1 | sed -E 's/20[0-9]{2}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+Z?/TIME/g; s/(guard)\.call.*/&/' | sed "s/$(id -un)/kim/g"
}

play >"$dir/said" || { cat "$dir/said" "$dir/log"; exit 1; }
cat "$dir/said"
if [ "${1:-}" = --update ]; then
	cp "$dir/said" demo.txt
elif ! diff -u demo.txt "$dir/said"; then
	cat "$dir/log"
	exit 1
fi
