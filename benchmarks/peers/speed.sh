#!/usr/bin/env bash
# Measures Refract and sacreBLEU, rouge-score, pycocoevalcap and fastchrf as whole processes, from
# files to scores, and prints the ratios.
#
# usage: benchmarks/peers/speed.sh
#
# With REFRACT_EVERY=N sacreBLEU scores only every N-th segment, and its time is scaled; 1 is the
# whole matrix and takes minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=benchmarks/peers
source benchmarks/peers/environment.sh
python=$venv/bin/python
data=$(realpath "${REFRACT_DATA:-../shared/data}")
export REFRACT_DATA=$data
every=${REFRACT_EVERY:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -d "$data/mt-metrics-eval-v2/wmt22" ] || { echo "speed.sh: no real data at $data: nothing measured"; exit 0; }

go build -o "$work/refract" ./cmd/refract
go test -c -o "$work/bench.test" ./benchmarks
# The 14 systems with MQM scores.
wmt=$work/wmt22
mkdir -p "$wmt/system-outputs/zh-en"
ln -s "$data"/mt-metrics-eval-v2/wmt22/{sources,documents,references} "$wmt/"
for s in AISP-SJTU HuaweiTSC JDExploreAcademy Lan-Bridge LanguageX M2M100_1.2B-B4 Online-A Online-B Online-G Online-W Online-Y bleu_bestmbr bleurt_bestmbr comet_bestmbr; do
	ln -s "$data/mt-metrics-eval-v2/wmt22/system-outputs/zh-en/$s.txt" "$wmt/system-outputs/zh-en/"
done
div=$data/div-ref/wmt22.zh-en.refA.diversified

# seconds RUNS COMMAND… prints the minimum wall time over RUNS runs.
seconds() {
	local runs=$1 best='' start end t
	shift
	for _ in $(seq "$runs"); do
		start=$(date +%s%N)
		"$@" >"$work/stdout" 2>"$work/stderr" || { cat "$work/stderr" >&2; exit 1; }
		end=$(date +%s%N)
		t=$(((end - start) / 1000))
		if [ -z "$best" ] || [ "$t" -lt "$best" ]; then best=$t; fi
	done
	awk -v t="$best" 'BEGIN { printf "%.4f", t / 1e6 }'
}

# differ PEER OURS prints the largest difference between two files of scores.
differ() {
	"$python" - "$work/peer.tsv" "$work/ours.tsv" <<'PY'
import csv, sys
ours = {(r["id"], r["system"]): float(r["score"]) for r in csv.DictReader(open(sys.argv[2]), delimiter="\t")}
worst = max(abs(float(v) - ours[i, s]) for i, s, v in (l.rstrip("\n").split("\t") for l in open(sys.argv[1])))
print(f"largest difference {worst:.3g}")
PY
}

echo "machine: $(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo), $(nproc) cores; $(go version | cut -d' ' -f3); $("$python" --version)"
[ "$every" = 1 ] || echo "every $every. segment for sacreBLEU: its start weighs more than in the whole matrix, and so the ratios are too high"
# A SentencePiece model, in the place where sacreBLEU would put flores200's.
export SACREBLEU=$work
mkdir "$work/models"
"$python" - "$work/models/flores200sacrebleuspm" "$data"/mt-metrics-eval-v2/wmt22/{sources,references,system-outputs}/zh-en* <<'PY'
import os, sys, sentencepiece
files = [os.path.join(p, f) for p in sys.argv[2:] for f in (os.listdir(p) if os.path.isdir(p) else [""])]
sentencepiece.SentencePieceTrainer.train(input=[f.rstrip("/") for f in files], model_prefix=sys.argv[1], vocab_size=16000, minloglevel=2)
os.rename(sys.argv[1] + ".model", sys.argv[1])
PY
for metric in bleu chrf spbleu; do
	spec=$metric
	if [ "$metric" = spbleu ]; then spec=bleu:tokenize=flores200; fi
	score=("$work/refract" score "mtme:$wmt/zh-en" --references "div-ref-lines:$div" -m "$spec" -a max --per segment -f tsv -o "$work/ours.tsv")
	peer=$(seconds 1 taskset -c 0 "$python" "$here/sacrebleu_speed.py" "$metric" "$wmt" "$div" "$work/peer.tsv" --every "$every")
	pairs=$(cat "$work/stdout")
	plain=$peer # sentence_bleu() loads the model for each pair, and keeps it
	if [ "$metric" != spbleu ]; then
		plain=$(seconds 1 taskset -c 0 "$python" "$here/sacrebleu_speed.py" "$metric" "$wmt" "$div" "$work/plain.tsv" --every "$every" --function)
	fi
	one=$(seconds 15 env GOMAXPROCS=1 taskset -c 0 "${score[@]}")
	two=$(seconds 15 env GOMAXPROCS=2 taskset -c 0,1 "${score[@]}")
	memory=$( { /usr/bin/env GOMAXPROCS=2 "$python" -c 'import resource,subprocess,sys
subprocess.run(sys.argv[1:], check=True, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "${score[@]}"; } )
	awk -v m="$metric" -v p="$peer" -v f="$plain" -v n="$pairs" -v one="$one" -v two="$two" -v mem="$memory" 'BEGIN {
		all = 288750
		whole = p / n * all
		printf "%s: sacreBLEU %.1f s for %d pairs by sentence_%s() (%.1f us a pair), %.1f s by one object (%.1f us)\n", m, f, n, m, 1e6 * f / n, p, 1e6 * p / n
		printf "%s: Refract %.3f s for %d pairs on one core (%.3f us a pair), %.3f s on two, peak memory %d MB\n", m, one, all, 1e6 * one / all, two, mem
		printf "%s: %.0f x sentence_%s(), %.0f x one object, %.2f x faster again on two cores\n", m, f / n * all / one, m, whole / one, one / two
	}'
	differ "$work/peer.tsv" "$work/ours.tsv"
done

# The peers score only part of the matrix, every N-th segment, or every N-th system for CIDEr, which
# needs Java. Their time is scaled.
for metric in rouge1 rougeL rougeLsum cider-d; do
	part=20 aggregate=max
	if [ "$metric" = cider-d ]; then
		command -v java >/dev/null || { echo "cider-d: no Java: not measured"; continue; }
		part=7 aggregate=native
	fi
	peer=$(taskset -c 0 "$python" "$here/lexical_speed.py" "$metric" "$wmt" "$div" "$work/peer.tsv" --every "$part" 2>"$work/stderr" | tail -1)
	one=$(seconds 5 env GOMAXPROCS=1 taskset -c 0 "$work/refract" score "mtme:$wmt/zh-en" --references "div-ref-lines:$div" -m "$metric" -a "$aggregate" --per segment -f tsv -o "$work/ours.tsv")
	awk -v m="$metric" -v p="$peer" -v one="$one" 'BEGIN {
		all = 288750
		split(p, t, " ")
		whole = t[3] + t[2] / t[1] * all
		printf "%s: the peer %.1f s for %d pairs (of %d), Refract %.3f s on one core: %.0f x\n", m, whole, all, t[1], one, whole / one
	}'
	differ "$work/peer.tsv" "$work/ours.tsv"
done

echo "== texts in memory, one core"
GOMAXPROCS=1 taskset -c 0 "$work/bench.test" -test.run '^$' -test.bench 'Matrix|Floor' -test.benchtime 5x | grep Benchmark

for samples in 0 256; do
	"$python" "$here/fastchrf_speed.py" "$work/task.json" --data "$data" --samples "$samples"
	f=$(RAYON_NUM_THREADS=1 taskset -c 0 "$python" "$here/fastchrf_speed.py" "$work/task.json")
	o=$(GOMAXPROCS=1 REFRACT_PAIRWISE=$work/task.json taskset -c 0 "$work/bench.test" -test.run '^$' -test.bench Pairwise -test.benchtime 5x | awk '/ns\/pair/ { for (i = 1; i < NF; i++) if ($(i + 1) == "ns/pair") print $i }')
	awk -v f="$f" -v o="$o" -v s="$samples" 'BEGIN {
		split(f, w, " ")
		printf "%s: %s; Refract %.1f ns/pair: %.0f x\n", s ? "pairwise chrF, " s " samples against each other" : "pairwise chrF, WMT22 segments", f, o, w[2] / o
	}'
done
