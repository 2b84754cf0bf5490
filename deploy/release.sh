#!/usr/bin/env bash
# Makes the release of the last commit as a snapshot, except for what needs a registry, and checks
# its content: docs/how-to/release.md. Nothing is published.
#
# usage: deploy/release.sh [DIR]
#
# DIR keeps the archives. Ten programs are built: on two cores that takes ten minutes the first
# time, including the tools, and five minutes later.
set -euo pipefail
cd "$(dirname "$0")/.."
step() { echo "== $1 ($SECONDS s)"; }
unchecked() { echo "unchecked: $1"; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step "tools"
. deploy/release_tools.sh

step "workflows and configuration"
actionlint .github/workflows/*.yml examples/github/*.yml
goreleaser check

# A clone has no untracked files, and can have its own tag.
step "a snapshot"
git diff --quiet HEAD || unchecked "changes that are not committed"
git clone --quiet . "$work/refract"
version=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' version.go)
git -C "$work/refract" tag "v$version"
(cd "$work/refract" && GOFLAGS=-mod=readonly goreleaser release --snapshot --clean --skip=docker --timeout 1h)
dist=$work/refract/dist
if go run ./deploy/pages "$work/pages" v0.0.0-other 2>/dev/null; then
	echo "a tag of another version is taken" && exit 1
fi

step "its files"
python3 deploy/release_check.py "$work/refract"

step "its programs"
mkdir "$work/root"
tar -xzf "$dist"/refract_*_linux_amd64.tar.gz -C "$work/root"
if [ "$(uname -sm)" = "Linux x86_64" ]; then
	"$work/root/refract" version | tee "$work/version"
	grep -qx "commit    $(git rev-parse HEAD)" "$work/version"
	grep -qx "date      $(TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)" "$work/version"
	grep -qx "modified  false" "$work/version"
	if [ "$(id -u)" = 0 ]; then # with nothing else, as in the image
		chroot "$work/root" /refract version >/dev/null
	fi
fi
if command -v groff >/dev/null; then
	said=$(cat "$work"/root/man/*.1 | groff -man -Kutf8 -Tutf8 -ww 2>&1 >/dev/null)
	[ -z "$said" ] || { echo "$said" && exit 1; }
else
	unchecked "the man pages: there is no groff"
fi
if command -v ruby >/dev/null; then
	ruby -c "$dist"/homebrew/Casks/refract.rb
else
	unchecked "the syntax of the cask: there is no ruby"
fi
bash -n "$work/root/completions/refract.bash"

if docker info >/dev/null 2>&1; then
	step "the image"
	mkdir -p "$work/image/linux/amd64"
	mkdir "$work/image/pages"
	cp "$work"/root/refract* "$work/image/linux/amd64/"
	cp "$work/root/LICENSE" "$work/image/"
	cp "$work/root/LICENSES.txt" "$work/image/pages/"
	docker build --quiet --build-arg TARGETPLATFORM=linux/amd64 -t refract-release-check -f deploy/release.Dockerfile "$work/image"
	docker run --rm refract-release-check version
else
	unchecked "the image: there is no docker"
fi
unchecked "what publishes: the release, the image, the tap, the bucket, the package index"
unchecked "the workflows on hosted runners, and the programs for macOS, Windows and arm64 but for their headers"
if [ $# -gt 0 ]; then
	mkdir -p "$1"
	cp "$dist"/*.tar.gz "$dist"/*.zip "$dist"/*.json "$dist"/checksums.txt "$1"
fi
step "done"
