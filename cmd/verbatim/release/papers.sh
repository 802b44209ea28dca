#!/bin/bash
# Lays out what an archive holds beside the program, its manual pages and licences: papers.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/../../.."
out=${1:?papers.sh FOLDER}

mkdir -p "$out"
cp cmd/verbatim/release/{README.md,verbatim.service,Containerfile,kubernetes.yaml,nginx.conf,Caddyfile,alerts.yaml,dashboard.json} "$out"
cp -r cmd/verbatim/guide "$out/guide"
cp -r verbs/palettes "$out/palettes"
cp -r examples "$out/examples"
find "$out/palettes" "$out/examples" -name '*.go' -delete
# The quick start begins in the archive, which has the program.
sed -e 's/^At the top of the clone:/In the folder of this archive:/' -e '/^make build$/d' -e 's|"\$clone/bin:|"$clone:|' README.md >"$out/START.md"

# Links of pages lead to where things are in the archive. Those to what only the source has are text.
cd "$out"
sed -i 's|](../guide/|](guide/|g' README.md
sed -i -e 's|](cmd/verbatim/guide/|](guide/|g' -e 's|](cmd/verbatim/release/|](|g' START.md
sed -i -e 's|](../release/|](../|g' -e 's|](../../../README.md|](../START.md|g' -e 's|](../../../examples/|](../examples/|g' guide/*.md
find examples -name '*.md' -exec sed -i -e 's|](../../cmd/verbatim/guide/|](../../guide/|g' -e 's|](../../cmd/verbatim/release/|](../../|g' -e 's|](../../README.md|](../../START.md|g' {} +
find . -name '*.md' | while read -r page; do
	{ grep -oE '\]\([^)#: ]+' "$page" || true; } | cut -c3- | sort -u | while read -r to; do
		[ -e "$(dirname "$page")/$to" ] || sed -i -E "s|\[([^]]*)\]\($to(#[^)]*)?\)|\1|g" "$page"
	done
done
