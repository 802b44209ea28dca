#!/bin/sh
# ingest.sh FOLDER DEAL: sends each file of a folder and has it analysed. What is in the
# room already is left out, so that it can be run again after it was stopped.
set -eu
all=$(ls "$1" | wc -l)
n=0
for file in "$1"/*; do
	n=$((n + 1))
	name=$(basename "$file")
	case $name in *[[:cntrl:]]*) echo "rename it first, its name has a line break or another control character: $name" >&2; exit 1 ;; esac
	# Whoever named the file must not write the script.
	text=$(printf '%s' "$name" | sed 's/[\\"]/\\&/g')
	[ ! -t 2 ] || printf '\r%3d of %d  %-60.60s' "$n" "$all" "$name" >&2
	if [ -f ingested ] && grep -qxF "$name" ingested; then continue; fi
	# A key stands for one script: what was stopped on the way is sent as it was.
	if ! grep -sqF ":deal-id $2 :name \"$text\" :file" add.dsl; then
		verbatim upload "$file" >sent.txt 2>warned.txt || { cat warned.txt >&2; exit 1; }
		reference=$(head -n 1 sent.txt | cut -d ' ' -f 1)
		cat >add.new <<END
manda.add-document :deal-id $2 :name "$text" :file "$reference" :as @document
manda.analyse-document :document-id @document
END
		mv add.new add.dsl
	fi
	verbatim run --key "$2 $name" add.dsl >added.txt 2>&1 || { cat added.txt >&2; exit 1; }
	printf '%s\n' "$name" >>ingested
done
[ ! -t 2 ] || echo >&2
echo "analysed $n documents"
