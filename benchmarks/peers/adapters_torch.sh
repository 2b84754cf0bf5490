#!/usr/bin/env bash
# Runs the Python package's adapters in lighteval's pipeline, mbrs's decoder, a step of TRL's
# GRPOTrainer on a tiny model with random weights, verl's reward managers, and what docs/how-to/adapters.md
# shows of them. Compares the time of MBR decoding by chrF with mbrs's.
#
# usage: benchmarks/peers/adapters_torch.sh [PYTEST ARGUMENT]…
#
# It needs 2.8 GB of packages from PyPI and a C compiler; the environment is kept in $CI_CACHE, by
# default ${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci. With a new environment it takes three to six
# minutes on two cores, afterwards 76 seconds. .ci/run leaves it out. mbrs needs transformers 4,
# which verl and TRL accept too; the releases of datasets, xxhash and omegaconf match it. verl's
# trainers need hydra and GPUs, but its reward managers do not.
set -euo pipefail
cd "$(dirname "$0")/../.."
name=adapters
requirements=benchmarks/peers/adapters_torch_requirements.txt
source benchmarks/servers/torch_venv.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -trimpath -o "$work/refract" ./cmd/refract
export REFRACT_PROGRAM=$work/refract PYTHONPATH=$PWD/python/src HF_HOME=$work/hf
export REFRACT_DATA=${REFRACT_DATA:-$PWD/../shared/data}
(cd python && "$venv/bin/python" -m pytest -q -rs -p no:cacheprovider tests/test_trainers.py tests/test_integrations.py \
	tests/test_docs.py -k "not examples" "$@")
"$venv/bin/python" -W ignore benchmarks/peers/adapters_mbrs.py
echo "the adapters give the command's scores ($SECONDS s)"
