# Sourced by scripts that exist to run tests. tested [FLAG OR PACKAGE]… runs go test, and fails also
# if a test was skipped, or if there was none.
tested() {
	local log status=0
	log=$(mktemp -d)
	{ go test -count=1 -v "$@" 2>&1 || touch "$log/failed"; } | tee "$log/all" | { grep -av '^=== ' || true; }
	if [ -e "$log/failed" ]; then
		status=1
	elif grep -aE '^ *--- SKIP|no tests to run|^skipped:' "$log/all" >&2; then
		echo "$(basename "$0"): a test that this script exists for was skipped" >&2
		status=1
	fi
	rm -rf "$log"
	return "$status"
}
