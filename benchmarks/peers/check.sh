#!/usr/bin/env bash
# Compares Refract with its peers: sacreBLEU, rouge-score, pycocoevalcap (where
# Java is), SciPy and pyarrow, installed from PyPI at pinned versions into a
# virtual environment.
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

if ! "$venv/bin/python" -c 'import sacrebleu, sentencepiece, MeCab, mecab_ko, scipy, fastchrf, pyarrow, datasets, rouge_score, pycocoevalcap' 2>/dev/null; then
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
REFRACT_SACREBLEU_VECTORS="$work/vectors.jsonl" go test -count=1 -v -run 'TestSacreBLEU' ./metrics | grep -av '^=== '

if [ -f "$here/ter_vectors.py" ]; then
	echo "== sacreBLEU on long shifts"
	"$python" "$here/ter_vectors.py" "$work/ter.jsonl"
	REFRACT_SACREBLEU_VECTORS="$work/ter.jsonl" go test -count=1 -v -run 'TestSacreBLEU' ./metrics | grep -av '^=== '
fi

echo "== rouge-score, and NLTK's stems"
"$python" "$here/rouge_vectors.py" "$work/rouge.jsonl" "$work/stems.tsv" --seed "${REFRACT_SEED:-1}" "${have_data[@]}"
REFRACT_SACREBLEU_VECTORS="$work/rouge.jsonl" REFRACT_STEMS="$work/stems.tsv" go test -count=1 -v -run 'TestSacreBLEU|TestPeer' ./metrics ./metrics/internal/porter | grep -av '^=== '

echo "== SentencePiece, and sacreBLEU by its models"
mkdir "$work/spm"
SACREBLEU=$work/spm "$python" "$here/sentencepiece_vectors.py" "$work/spm" --seed "${REFRACT_SEED:-1}" --texts 300 "${have_data[@]}"
REFRACT_SENTENCEPIECE_VECTORS="$work/spm" go test -count=1 -v -run 'TestSentencePiece' ./metrics/internal/sentencepiece | grep -av '^=== '
SACREBLEU=$work/spm REFRACT_SACREBLEU_VECTORS="$work/spm/bleu.jsonl" go test -count=1 -v -run 'TestSacreBLEU' ./metrics | grep -av '^=== '

echo "== sacreBLEU by MeCab, as a program"
"$python" "$here/mecab_check.py" "$work/refract" "$work"

if command -v java >/dev/null; then
	echo "== pycocoevalcap's CIDEr, and Stanford's words"
	"$python" "$here/cider_vectors.py" "$work/cider.jsonl" "$work/words.tsv" --seed "${REFRACT_SEED:-1}" "${have_data[@]}" 2>"$work/log" || { cat "$work/log" && exit 1; }
	REFRACT_CIDER_VECTORS="$work/cider.jsonl" REFRACT_PTB="$work/words.tsv" go test -count=1 -v -run 'TestPeer' ./metrics/cider ./metrics/internal/ptb | grep -av '^=== '
else
	echo "check.sh: no Java: left out is pycocoevalcap"
fi

echo "== SciPy on random vectors"
"$python" "$here/scipy_check.py" "$work/scipy.json"
REFRACT_SCIPY_VECTORS="$work/scipy.json" go test -count=1 -v -run 'TestSciPyVectors' ./benchmarks/correlate | grep -av '^=== '

echo "== pyarrow reads the stored matrix"
"$work/refract" demo --write "$work/sample" 2>/dev/null
"$work/refract" score "jsonl:$work/sample/sample.jsonl" --per cell -o "$work/matrix.parquet"
"$work/refract" score "jsonl:$work/sample/sample.jsonl" --per cell -o "$work/matrix.jsonl"
"$python" "$here/parquet_check.py" "$work/matrix.parquet" "$work/matrix.jsonl"

publish() { "$work/refract" publish "$@" >/dev/null 2>"$work/log" || { cat "$work/log" && return 1; }; }
echo "== published sets in Hugging Face's datasets, Python and sacreBLEU"
"$work/refract" cache import "$work/sample/cache.sqlite" "$work/sample/answers.jsonl" 2>/dev/null
"$work/refract" expand "jsonl:$work/sample/sample.jsonl" --model recorded --cache "$work/sample/cache.sqlite" --offline -o "$work/expanded.jsonl" 2>/dev/null
"$python" "$here/publish_vectors.py" "$work/hostile.jsonl" --seed "${REFRACT_SEED:-1}"
for set in expanded hostile; do
	for format in jsonl parquet div-ref; do
		publish "jsonl:$work/$set.jsonl" --to "$format" -o "$work/$set-$format"
	done
	"$python" "$here/hf_check.py" "$work/$set-parquet" "$work/$set-jsonl" "$work/$set.rewritten.parquet"
	publish "parquet:$work/$set.rewritten.parquet" --to jsonl -o "$work/$set-again"
	cmp "$work/$set-again/references.jsonl" "$work/$set-jsonl/references.jsonl"
	"$python" "$here/pylist_check.py" "$work/$set-div-ref/references.diversified" "$work/$set-jsonl/references.jsonl"
done
publish "jsonl:$work/expanded.jsonl" --to text -o "$work/text"
awk '{ $2 = "word"; print }' "$work/text/ref.3" >"$work/system.txt"
"$python" "$here/sacrebleu_files.py" "$work/refract" "$work/text" "$work/system.txt"

if [ ${#have_data[@]} -gt 0 ]; then
	echo "== WMT22 zh-en against SciPy and sacreBLEU"
	"$python" "$here/wmt22_check.py" "$work/refract" "$data" --every "${REFRACT_EVERY:-25}"
fi
echo "all peers agree"
