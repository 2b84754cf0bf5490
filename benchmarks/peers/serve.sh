#!/usr/bin/env bash
# Holds the description of refract serve's interface to OpenAPI 3.1, and has Triton's
# own client ask it for scores, in JSON and in binary tensors.
#
# usage: benchmarks/peers/serve.sh
#
# The virtual environment (200 MB) is kept in $CI_CACHE.
set -euo pipefail
cd "$(dirname "$0")/../.."
requirements=benchmarks/peers/serve_requirements.txt
source benchmarks/peers/kept_venv.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

go build -o "$work/refract" ./cmd/refract
"$venv/bin/python" benchmarks/peers/serve_check.py "$work/refract"
