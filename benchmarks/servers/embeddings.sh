#!/usr/bin/env bash
# Runs refract select against a real sentence encoder,
# served by a real process, and compares with NumPy on the same vectors.
#
# usage: benchmarks/servers/embeddings.sh
#
# The model is part of a package, so that nothing is downloaded when it runs.
set -euo pipefail
cd "$(dirname "$0")/../.."
source benchmarks/servers/serve.sh

go build -o "$work/refract" ./cmd/refract

echo "== a real encoder"
"$venv/bin/python" "$here/embeddings_server.py" --self-test
serve embeddings_server.py

echo "== against NumPy"
"$venv/bin/python" "$here/embeddings_check.py" "$work/refract" "$url" "$work"
echo "embeddings agree"
