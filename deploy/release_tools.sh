# Sourced by the release scripts, in the repository's root: it puts the tools at these versions on
# the PATH. Each is built once, in its own module, and kept in $CI_CACHE, by default
# ${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci.
release_tools="github.com/goreleaser/goreleaser/v2@v2.16.0
github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"
bin=${CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci}/release-$(printf %s "$release_tools" | cksum | cut -d' ' -f1)
if ! [ -e "$bin/whole" ]; then
	for tool in $release_tools; do GOBIN=$bin go install "$tool"; done
	touch "$bin/whole"
fi
export PATH="$bin:$PATH"
