#!/usr/bin/env bash
# Runs refract diversity and refract select against a real sentence encoder,
# served by a real process, and compares with NumPy on the same vectors.
#
# usage: benchmarks/servers/embeddings.sh
#
# The model is part of a package, so that nothing is downloaded when it runs.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=benchmarks/servers
source benchmarks/peers/environment.sh
work=$(mktemp -d)
server=
stop() {
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
	fi
	rm -rf "$work"
}
trap stop EXIT

python=$venv/bin/python
go build -o "$work/refract" ./cmd/refract

echo "== a real encoder"
"$python" "$here/embeddings_server.py" --self-test
"$python" "$here/embeddings_server.py" >"$work/url" &
server=$!
for _ in $(seq 600); do
	if [ -s "$work/url" ]; then break; fi
	kill -0 "$server" # or the server has ended, and said why
	sleep 0.1
done

echo "== against NumPy"
"$python" "$here/embeddings_check.py" "$work/refract" "$(cat "$work/url")" "$work"
echo "embeddings agree"
