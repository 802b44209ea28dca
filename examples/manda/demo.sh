#!/usr/bin/env bash
# A data room in two minutes, offline: 64 documents are read, five questions are asked,
# each answer says where it stands, and what is missing goes into a workbook. room.db,
# beside this file, is what eval.yaml and paraphrases.yaml are asked of.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd "$root" && CGO_ENABLED=0 go build -o "$folder/verbatim" ./cmd/verbatim)
cp -r . "$folder/deal"
export PATH=$folder:$PATH VERBATIM_PALETTES=manda VERBATIM_STORE=$folder/deal/deal.db VERBATIM_AS=ada VERBATIM_SCAN=none NO_COLOR=1
here=$PWD
cd "$folder/deal"
rm -f room.db
verbatim migrate >/dev/null
verbatim migrate --data people.sql >/dev/null
started=$SECONDS
sh ingest.sh room/heron/files @grevenau-project-heron
echo "in $((SECONDS - started)) s, on one process a document"
reference=$(verbatim upload room/heron/irl.xlsx 2>/dev/null | head -n 1 | cut -d ' ' -f 1)
echo "manda.import-irl :file \"$reference\"" >irl.dsl
verbatim run irl.dsl | sed -n 1p
ask() { printf '\n? %s\n' "$1" && echo "$1" | verbatim chat --session demo; }
ask "What's the Q3 revenue?"
ask "Compare forecast to actual"
ask "How many employees did the group have at the end of 2024?"
ask "Any red flags?" | sed -n 1,24p
ask "What's missing in tax?"
cat >gap.dsl <<'END'
manda.add-to-qa :domain "tax" :priority HIGH :text "Please provide the transfer pricing documentation for 2022 and 2023."
manda.export-questions
END
echo
reference=$(verbatim run gap.dsl | sed -n 's/.*--get //p')
verbatim upload --get "$reference" -o "Questions and answers.xlsx"
rm -f "$here/room.db"
verbatim backup "$here/room.db"
