#!/usr/bin/env bash
# Compares Refract with its peers: sacreBLEU, SciPy and pyarrow, installed from
# PyPI at pinned versions into a virtual environment.
#
# usage: benchmarks/peers/check.sh [VENV]
#
# REFRACT_DATA names the folder of real data; without it, and without
# ../shared/data, the checks on real data are left out and say so.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=benchmarks/peers
venv=${1:-${REFRACT_VENV:-.venv}}
data=${REFRACT_DATA:-../shared/data}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! "$venv/bin/python" -c 'import sacrebleu, scipy, fastchrf, pyarrow' 2>/dev/null; then
	python3 -m venv "$venv"
	"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
fi
python=$venv/bin/python
go build -o "$work/refract" ./cmd/refract

have_data=()
if [ -d "$data/mt-metrics-eval-v2/wmt22" ]; then
	have_data=(--data "$data")
else
	echo "check.sh: no real data at $data: left out are WMT22 outputs and stored metrics"
fi

echo "== sacreBLEU on generated text of many scripts"
"$python" "$here/sacrebleu_vectors.py" "$work/vectors.jsonl" --seed "${REFRACT_SEED:-1}" --rounds 1 "${have_data[@]}"
REFRACT_SACREBLEU_VECTORS="$work/vectors.jsonl" go test -count=1 -v -run 'TestSacreBLEU' \
	./metrics/bleu ./metrics/chrf ./metrics/ter | grep -av '^=== '

if [ -f "$here/ter_vectors.py" ]; then
	echo "== sacreBLEU on long shifts"
	"$python" "$here/ter_vectors.py" "$work/ter.jsonl"
	REFRACT_SACREBLEU_VECTORS="$work/ter.jsonl" go test -count=1 -v -run 'TestSacreBLEU' ./metrics/ter | grep -av '^=== '
fi

echo "== SciPy on random vectors"
"$python" "$here/scipy_check.py" "$work/scipy.json"
REFRACT_SCIPY_VECTORS="$work/scipy.json" go test -count=1 -v -run 'TestSciPyVectors' ./benchmarks/correlate | grep -av '^=== '

echo "== pyarrow reads the stored matrix"
"$work/refract" demo --write "$work/sample" 2>/dev/null
"$work/refract" score "jsonl:$work/sample/sample.jsonl" --per cell -o "$work/matrix.parquet"
"$work/refract" score "jsonl:$work/sample/sample.jsonl" --per cell -o "$work/matrix.jsonl"
"$python" "$here/parquet_check.py" "$work/matrix.parquet" "$work/matrix.jsonl"

if [ ${#have_data[@]} -gt 0 ]; then
	echo "== WMT22 zh-en against SciPy and sacreBLEU"
	"$python" "$here/wmt22_check.py" "$work/refract" "$data" --every "${REFRACT_EVERY:-25}"
fi
echo "all peers agree"
