#!/usr/bin/env bash
# Serves COMET, xCOMET and BERTScore on a real MLServer and compares with the official packages,
# then runs the other metrics on tiny models with random weights, and those of the Python package.
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
mkdir "$work/python"
cp -r python/src/refract_eval "$work/python/"
cp -r metrics/neural/server/refract_metrics "$work/python/refract_eval/_models" # as the wheel has it
PYTHONPATH=$work/python REFRACT_PROGRAM=$work/refract "$venv/bin/python" -W ignore "$here/neural_python_check.py" "$work/tiny" "$minilm" "$data"
echo "neural metrics agree"
