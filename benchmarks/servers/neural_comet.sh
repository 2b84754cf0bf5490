#!/usr/bin/env bash
# Serves COMET, xCOMET and BERTScore on a real MLServer and compares with the official packages,
# then runs the other metrics on tiny models with random weights.
#
# usage: benchmarks/servers/neural_comet.sh
#
# The virtual environment (2.2 GB) is kept in $CI_CACHE. .ci/run leaves this out.
set -euo pipefail
cd "$(dirname "$0")/../.."
requirements=benchmarks/servers/neural_comet_requirements.txt
source benchmarks/servers/neural_venv.sh

mkdir "$work/tiny"
"$venv/bin/python" -W ignore "$here/neural_tiny.py" "$data" "$work/tiny" 2>"$work/log" || { tail -n 20 "$work/log"; exit 1; }
go build -o "$work/refract" ./cmd/refract
"$venv/bin/python" "$here/neural_comet_check.py" "$server" "$work/tiny" "$minilm" "$data" "$work" "${REFRACT_PORT:-18000}" "$work/refract"
"$venv/bin/python" -W ignore "$here/neural_tiny_check.py" "$(dirname "$server")" "$work/tiny" "$minilm" 2>"$work/log" || { tail -n 20 "$work/log"; exit 1; }
echo "neural metrics agree"
