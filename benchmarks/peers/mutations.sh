#!/usr/bin/env bash
# Damages files of every format that Refract reads, and compares what it reads with Python's csv and
# json, PyYAML and pyarrow: mutations.py says how. It installs what it needs.
#
# usage: benchmarks/peers/mutations.sh [MUTATIONS [SEED]]
#
# The default is 1000 mutations of seed 1; other seeds make others.
set -euo pipefail
cd "$(dirname "$0")/../.."
source benchmarks/peers/environment.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -trimpath -o "$work/refract" ./cmd/refract
"$venv/bin/python" benchmarks/peers/mutations.py "$work/refract" "${1:-1000}" "${2:-1}"
