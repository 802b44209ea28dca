#!/bin/bash
# Builds a release: build.sh VERSION FOLDER [OS/ARCH]...
#
# FOLDER gets an archive for each platform, the list of what the program is made of
# (CycloneDX, with licences), the texts of those licences, and SHA256SUMS of all; with
# SIGNING_KEY, the file of an SSH key, SHA256SUMS.sig too. The same commit, version and Go
# give the same bytes, wherever and whenever it is built.
set -euo pipefail
cd "$(dirname "$0")/../../.."

version=${1:?build.sh VERSION FOLDER [OS/ARCH]...: which version is it? make release VERSION=v1.2.3}
out=$(mkdir -p "${2:?build.sh VERSION FOLDER [OS/ARCH]...}" && cd "$2" && pwd)
shift 2
[ $# -gt 0 ] || set -- linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64
sbom=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.]+)?$ ]] || { echo "build.sh: $version is no version; write v1.2.3" >&2; exit 2; }
[ -z "$(git status --porcelain)" ] || { echo "build.sh: what is not committed cannot be built again; commit it first" >&2; exit 1; }
[ -z "$(ls -A "$out")" ] || { echo "build.sh: $out is not empty" >&2; exit 2; }

moment=$(git log -1 --format=%ct)
export CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off TZ=UTC LC_ALL=C
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# build writes the program of a platform to a file.
build() {
	GOOS=${1%/*} GOARCH=${1#*/} go build -trimpath -buildvcs=false -ldflags "-s -w -buildid= -X main.version=$version" -o "$2" ./cmd/verbatim
}

go mod verify >&2
build "$(go env GOHOSTOS)/$(go env GOHOSTARCH)" "$scratch/verbatim"
"$scratch/verbatim" help man --dir "$scratch/man"
"$scratch/verbatim" help variables >"$scratch/VARIABLES.txt"

# The licences of all modules ask for their texts to be handed on. TestLicences keeps the list.
"$scratch/verbatim" version --licences >"$scratch/LICENSES.txt"

go run "$sbom" app -json -licenses -assert-licenses -noserial -main cmd/verbatim -output "$scratch/sbom.json" . 2>"$scratch/sbom.log" || {
	cat "$scratch/sbom.log" >&2
	[ -d .git ] || echo "build.sh: this is a linked worktree, of which the list of components cannot be made; build from a clone" >&2
	exit 1
}
sed -E "s/(\"timestamp\": \")[^\"]*/\1$(date -u -d "@$moment" +%FT%TZ)/; s/verbatim@v0\.0\.0-[0-9]{14}-[0-9a-f]{12}/verbatim@$version/g; s/(\"version\": \")v0\.0\.0-[0-9]{14}-[0-9a-f]{12}/\1$version/" "$scratch/sbom.json" >"$out/verbatim_$version.cdx.json"
# What the tool calls BSD-Source-Code is the BSD-3-Clause of golang.org/x, and CC-BY-4.0 is
# that of the documentation of the MCP SDK, of which nothing is built in.
others=$(grep -o '"id": "[^"]*"' "$out/verbatim_$version.cdx.json" | sort -u | grep -vE '"(MIT|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|MPL-2\.0|Unlicense|CC0-1\.0|BSD-Source-Code|CC-BY-4\.0)"' || true)
[ -z "$others" ] || { printf 'build.sh: nobody has looked at these licences yet:\n%s\n' "$others" >&2; exit 1; }
cp "$scratch/LICENSES.txt" "$out/LICENSES.txt"

for platform in "$@"; do
	name=verbatim_${version}_${platform/\//_}
	mkdir -p "$scratch/$name"
	program=$scratch/$name/verbatim
	case $platform in windows/*) program=$program.exe ;; esac
	build "$platform" "$program"
	cp -r "$scratch/LICENSES.txt" "$scratch/VARIABLES.txt" "$scratch/man" "$scratch/$name"
	bash cmd/verbatim/release/papers.sh "$scratch/$name"
	tar --sort=name --mtime="@$moment" --owner=0 --group=0 --numeric-owner --mode=go+rX,go-w --format=ustar -C "$scratch" -cf - "$name" | gzip -n9 >"$out/$name.tar.gz"
done

cd "$out"
sha256sum -- * >SHA256SUMS
if [ -n "${SIGNING_KEY:-}" ]; then
	ssh-keygen -q -Y sign -f "$SIGNING_KEY" -n verbatim-release SHA256SUMS
else
	echo "build.sh: SIGNING_KEY names no key, so SHA256SUMS is not signed" >&2
fi
