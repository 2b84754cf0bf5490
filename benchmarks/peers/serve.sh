#!/usr/bin/env bash
# Holds the description of refract serve's interface to OpenAPI 3.1.
#
# usage: benchmarks/peers/serve.sh
#
# The virtual environment is kept in $CI_CACHE.
set -euo pipefail
cd "$(dirname "$0")/../.."
requirements=benchmarks/peers/serve_requirements.txt
source benchmarks/peers/kept_venv.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

go build -o "$work/refract" ./cmd/refract
"$venv/bin/python" benchmarks/peers/serve_check.py "$work/refract"
