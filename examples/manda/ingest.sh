#!/bin/sh
# ingest.sh FOLDER DEAL: sends each file of a folder and has it analysed. What is in the
# room already is left out, so that it can be run again after it was stopped. A file that is
# not taken is named, and the others are sent all the same; then the exit code is 1.
set -eu
all=$(ls "$1" | wc -l)
n=0
: >failed.txt
# failed says which file was not taken, and why: $1 is how the program ended, and $2 what it
# said. Where the program was stopped, this is too, and goes on where it was when it is run again.
failed() {
	[ ! -t 2 ] || echo >&2
	echo "not taken: $name" >&2
	cat "$2" >&2
	[ "$1" -lt 128 ] || exit "$1"
	printf '%s\n' "$name" >>failed.txt
}
for file in "$1"/*; do
	n=$((n + 1))
	name=$(basename "$file")
	case $name in *[[:cntrl:]]*) echo "rename it first, its name has a line break or another control character: $name" >&2; exit 1 ;; esac
	# Whoever named the file must not write the script.
	text=$(printf '%s' "$name" | sed 's/[\\"]/\\&/g')
	[ ! -t 2 ] || printf '\r%3d of %d  %-60.60s' "$n" "$all" "$name" >&2
	if [ -f ingested ] && grep -qxF "$name" ingested; then continue; fi
	# A key stands for one script: what was stopped is sent as it was, unless the file is another by now.
	script=add-$(printf '%s' "$name" | cksum | cut -d ' ' -f 1).dsl
	if ! grep -sqF ":deal-id $2 :name \"$text\" :file" "$script" || [ -n "$(find "$file" -newer "$script")" ]; then
		verbatim upload "$file" >sent.txt 2>warned.txt || { failed $? warned.txt; continue; }
		reference=$(head -n 1 sent.txt | cut -d ' ' -f 1)
		cat >add.new <<END
manda.add-document :deal-id $2 :name "$text" :file "$reference" :as @document
manda.analyse-document :document-id @document
END
		mv add.new "$script"
	fi
	verbatim run --key "$2 $name" "$script" >added.txt 2>&1 || { failed $? added.txt; continue; }
	printf '%s\n' "$name" >>ingested
	rm -f "$script"
done
[ ! -t 2 ] || echo >&2
echo "analysed $((n - $(wc -l <failed.txt))) documents"
if [ -s failed.txt ]; then
	echo "not taken, for the reasons above:" >&2
	sed 's/^/  /' failed.txt >&2
	exit 1
fi
