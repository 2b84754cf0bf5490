# Sourced by scripts that need Debian's packages, in the repository's root. apt_install PACKAGE…
# installs them where it may. It waits for its turn, as .ci/run calls it from two lanes.
apt_install() {
	if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
		flock /var/lib/apt sh -c 'apt-get update -q && DEBIAN_FRONTEND=noninteractive \
			apt-get install -y -q --no-install-recommends "$@"' - "$@" >/dev/null
	fi
}
