#!/usr/bin/env bash
# Runs the cases of benchmarks/conformance through other packages, and fails if the results differ
# from benchmarks/conformance/results.json.
#
# usage: benchmarks/conformance/conformance.sh [torch] [RUN.PY'S ARGUMENTS…]
#
# By default the packages are sacreBLEU, lm-eval, inspect_ai and NLTK, in the environment of
# environment.sh, and evaluate with --evaluate-metrics. With "torch" they are lighteval, mbrs,
# torchmetrics, TRL and verl, in the environment of adapters_torch.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [ "${1:-}" = torch ]; then
	shift
	mode=torch
	only='lighteval;mbrs;torchmetrics;trl;verl'
	name=adapters
	requirements=benchmarks/peers/adapters_torch_requirements.txt
	source benchmarks/servers/torch_venv.sh
else
	mode=light
	only="sacrebleu;lm-eval, targets;lm-eval, process_results;evaluate;nltk;inspect_ai"
	source benchmarks/peers/environment.sh
fi
export HF_HUB_OFFLINE=1 PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ $mode = light ]; then
	"$venv/bin/python" benchmarks/conformance/generate.py "$work/cases.jsonl"
	cmp "$work/cases.jsonl" benchmarks/conformance/cases.jsonl
	echo "conformance.sh: sacreBLEU gives the expected values"
fi
cp benchmarks/conformance/results.json "$work/"
"$venv/bin/python" benchmarks/conformance/run.py --results "$work/results.json" --only "$only" "$@" 2>/dev/null
if ! diff -u benchmarks/conformance/results.json "$work/results.json"; then
	cp "$work/results.json" benchmarks/conformance/
	echo "conformance.sh: the findings differ and stand in results.json now: go test ./benchmarks/conformance -update"
	exit 1
fi
echo "conformance.sh: the findings equal results.json"
