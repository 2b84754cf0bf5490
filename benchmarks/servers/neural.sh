#!/usr/bin/env bash
# Serves BERTScore with real weights on a real Triton, and compares with the official package's
# values, over HTTP and through refract, while the server crashes.
#
# usage: benchmarks/servers/neural.sh
#
# The virtual environment (1.7 GB) is kept in $CI_CACHE. It is made with python3.11, or the Python
# that REFRACT_PYTHON names.
set -euo pipefail
cd "$(dirname "$0")/../.."
requirements=benchmarks/servers/neural_requirements.txt
source benchmarks/servers/neural_venv.sh

go build -o "$work/refract" ./cmd/refract
"$venv/bin/python" "$here/neural_check.py" "$server" "$minilm" "$data" "$work" "${REFRACT_PORT:-18000}" "$work/refract"
echo "neural metrics agree"
