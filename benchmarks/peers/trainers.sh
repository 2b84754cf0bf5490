#!/usr/bin/env bash
# Trains a tiny model with random weights for one step on the builders' output, by TRL, and checks
# that it gets the bytes of the prompts and completions.
#
# usage: benchmarks/peers/trainers.sh
#
# It uses the environment of adapters_torch.sh (2.8 GB), kept in $CI_CACHE, by default
# ${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci; with it, it takes a minute. .ci/run leaves it out.
set -euo pipefail
cd "$(dirname "$0")/../.."
name=adapters
requirements=benchmarks/peers/adapters_torch_requirements.txt
source benchmarks/servers/torch_venv.sh
source benchmarks/servers/tested.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/built"
REFRACT_LOAD=short REFRACT_BUILT=$work/built tested -short -parallel 4 -run 'TestBuilders$' ./benchmarks/load
HF_HOME=$work/hf "$venv/bin/python" -W ignore benchmarks/peers/trainers_check.py "$work/built"
echo "trainers read it ($SECONDS s)"
