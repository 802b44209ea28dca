#!/usr/bin/env bash
# cyclonedx-gomod knows a module's version in a repository and not in a linked worktree of it: one command ends, the other leaves it out.
#
# Guess: the same commit gives the same list of components, in the repository and in a folder of `git worktree add`.
# Found: cyclonedx-gomod 1.9.0 gives v0.0.0-DATE-COMMIT in the repository. In a worktree of the same commit `app` ends with
#   "failed to determine version of main module: object not found", and `mod` ends well with a list whose main component
#   has no version in its purl. Objects lie in the common folder that `commondir` names (git-worktree(1), "Details"), where
#   go-git looks only if it is opened with EnableDotGitCommonDir.
# Here: who built a release in a worktree got none and no word of why; cmd/verbatim/release/build.sh shows what the tool says
#   now. A list by `mod` would be delivered without the version of what it describes.
# Needs: Go 1.26, git.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
export GOFLAGS=-mod=mod CGO_ENABLED=0 GIT_CONFIG_GLOBAL=/dev/null NO_COLOR=1
GOBIN=$dir/bin go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0 >/dev/null 2>&1
git init -q -b main home
printf 'module example.com/thing\n\ngo 1.26\n' >home/go.mod
printf 'package main\n\nfunc main() {}\n' >home/main.go
git -C home add -A
git -C home -c user.name=a -c user.email=a@example.com commit -qm one
git -C home worktree add -q --detach ../beside
for place in home beside; do
	for command in app mod; do
		if (cd "$place" && "$dir/bin/cyclonedx-gomod" "$command" -json -noserial . >"$dir/out" 2>"$dir/err"); then
			echo "$place $command: $(grep -om1 'golang/example.com/thing[^?]*' out | sed -E 's/-[0-9]{14}-[0-9a-f]{12}/-DATE-COMMIT/')"
		else
			echo "$place $command: $(grep -o 'failed to [^"]*' err)"
		fi
	done
done | tee got
[ "$(cat got)" = "home app: golang/example.com/thing@v0.0.0-DATE-COMMIT
home mod: golang/example.com/thing@v0.0.0-DATE-COMMIT
beside app: failed to determine version of main module: object not found
beside mod: golang/example.com/thing" ]
echo "as found: cyclonedx-gomod 1.9.0, $(go env GOVERSION), $(git --version)"
