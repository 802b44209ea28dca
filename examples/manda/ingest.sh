#!/bin/sh
# ingest.sh FOLDER DEAL: sends each file of a folder and has it analysed. What is in the
# room already is left out, so that it can be run again after it was stopped. One call reads the
# first thousand passages and figures; a longer document is read on to its end, call by call.
# A file that is not taken is named, and the others are sent all the same; then the exit code is 1.
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
# told is what info.txt says of the document.
told() { sed -n "s/^ *$1  *\([^ ]*\)\$/\1/p" info.txt; }
# rest reads what the first call left of a long document. It asks each time how far that is, so that
# it goes on where it was stopped.
rest() {
	document=$(sed -n 's/^ *+ document  *\(@[^ ]*\) .*/\1/p' added.txt | head -n 1)
	before=
	while :; do
		echo "manda.get-document-info :document-id $document" | verbatim run - >info.txt 2>&1 || { code=$?; cat info.txt >added.txt; return $code; }
		passages=$(told passages) findings=$(told findings) figures=$(told figures) state=$(told state)
		[ "$state" != ANALYSED ] || return 0
		if [ "$state $passages $findings" = "$before" ]; then
			echo "it is not read to its end: $passages of $(told chunks) passages, $findings of $figures figures" >added.txt
			return 1
		fi
		before="$state $passages $findings"
		if [ "$state" = ADDED ]; then
			echo "manda.read-document :document-id $document :from $((passages + 1))"
		else
			echo "manda.extract-findings :document-id $document :from $((findings + 1))"
			# A last call and what it comes to are one: whoever is stopped has both or neither.
			[ "$((findings + 1000))" -lt "$figures" ] || echo "manda.relate-document :document-id $document"
		fi >rest.dsl
		verbatim run rest.dsl >added.txt 2>&1 || return
	done
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
	rest || { failed $? added.txt; continue; }
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
