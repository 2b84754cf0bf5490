#!/usr/bin/env bash
# Runs refract select with a real sentence encoder, served by a separate process, and compares with
# NumPy on the same vectors.
#
# usage: benchmarks/servers/embeddings.sh
#
# The model is part of a package, so nothing is downloaded during the run.
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
