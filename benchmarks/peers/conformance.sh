#!/usr/bin/env bash
# Runs the cases of benchmarks/conformance through other packages, and fails where what
# it finds is not what benchmarks/conformance/results.json says.
#
# usage: benchmarks/peers/conformance.sh [torch] [RUN.PY'S ARGUMENTS…]
#
# Without "torch" these are sacreBLEU, lm-eval, inspect_ai and NLTK (1 GB of packages
# from PyPI: three minutes, then one), and evaluate with --evaluate-metrics. With it they are
# lighteval, mbrs, torchmetrics, TRL and verl (2.4 GB with PyTorch, without NVIDIA's libraries, and
# a C compiler for stubs of them: six minutes, then two). The environments are kept in
# $CI_CACHE, by default ${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=benchmarks/peers
cache=${CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci}
requirements=$here/conformance_requirements.txt
options=()
mode=light
only="sacrebleu;lm-eval, targets;lm-eval, process_results;evaluate;nltk;inspect_ai"
if [ "${1:-}" = torch ]; then
	shift
	mode=torch
	requirements=$here/conformance_torch_requirements.txt
	options=(--no-deps)
	only='lighteval;mbrs;torchmetrics;trl;verl'
fi
python=${REFRACT_PYTHON:-$(command -v python3.11 || command -v python3)}
venv=$cache/conformance-$mode-$(sha256sum <"$requirements" | cut -c1-12)
if ! [ -e "$venv/done" ]; then
	rm -rf "$venv"
	mkdir -p "$cache"
	"$python" -m venv "$venv"
	"$venv/bin/pip" install --quiet --disable-pip-version-check "${options[@]}" -r "$requirements"
	if [ $mode = torch ]; then
		"$venv/bin/python" "$here/cuda_stubs.py" "$("$venv/bin/python" -c '
import sysconfig; print(sysconfig.get_path("purelib") + "/torch")')" "$venv/stubs"
	fi
	touch "$venv/done"
fi
if [ $mode = torch ]; then
	export LD_LIBRARY_PATH=$venv/stubs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
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
echo "conformance.sh: the findings are those of results.json"
