#!/usr/bin/env bash
# Compares statistics, p-values and speed with mt-metrics-eval on WMT22 zh-en.
#
# usage: benchmarks/peers/mtme.sh
#
# PyPI has only an empty package of that name, so the peer is installed from its GitHub repository
# at a pinned commit, or taken from the checkout named by REFRACT_MTME. If neither is available, the
# script says so and compares Refract with values taken earlier from that commit.
#
# REFRACT_MTME_PARTS selects from "values", "pvalues", "tasks" and "speed"; by default all. For
# values mt-metrics-eval takes a minute or two, for p-values two, for tasks and speed one each.
set -euo pipefail
cd "$(dirname "$0")/../.."
commit=68a481aea1a787392d55af8f76ac8ef40c5f4664
here=benchmarks/peers
source benchmarks/peers/environment.sh
source benchmarks/servers/tested.sh
data=${REFRACT_DATA:-../shared/data}
parts=${REFRACT_MTME_PARTS:-values pvalues tasks speed}

if [ ! -d "$data/mt-metrics-eval-v2/wmt22" ]; then
	echo "mtme.sh: skipped: no WMT22 data at $data; set REFRACT_DATA"
	exit 77
fi
data=$(cd "$data" && pwd)
export REFRACT_DATA=$data
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

peer=${REFRACT_MTME:-}
if [ -z "$peer" ] && command -v git >/dev/null; then
	if git init -q "$work/peer" && timeout 60 git -C "$work/peer" fetch -q --depth 1 \
		https://github.com/google-research/mt-metrics-eval "$commit" 2>/dev/null; then
		git -C "$work/peer" checkout -q FETCH_HEAD
		peer=$work/peer
	fi
fi
if [ -z "$peer" ]; then
	echo "mtme.sh: mt-metrics-eval is left out: PyPI's package of that name is empty, its repository cannot be"
	echo "mtme.sh: reached, and REFRACT_MTME names no checkout. Refract is compared with the values in"
	echo "mtme.sh: benchmarks/{correlate,significance}/testdata, taken once from commit $commit."
	tested -run 'TestMTME' ./benchmarks/correlate ./benchmarks/significance
	exit 0
fi
check() { PYTHONPATH=$peer taskset -c "${core:-0}" "$venv/bin/python" "$here/mtme_check.py" "$@"; }

for part in $parts; do
	case $part in
	values)
		echo "== statistics of all stored metrics"
		check values "$data" "$work/values.json"
		REFRACT_MTME_VALUES=$work/values.json tested -run 'TestMTME$' ./benchmarks/correlate
		;;
	pvalues)
		echo "== p-values"
		check pvalues "$data" "$work/pvalues.json"
		REFRACT_MTME_PVALUES=$work/pvalues.json tested -run 'TestMTMEPValues' ./benchmarks/significance
		;;
	tasks)
		echo "== tasks of WMT22 zh-en"
		sed -e "s|mtme:data|mtme:$data|" -e 's|^significance:.*|significance: {resamples: 0}|' benchmarks/recipes/wmt22/tasks.yaml >"$work/tasks.yaml"
		go run ./cmd/refract experiment -q "$work/tasks.yaml" -o "$work/tasks.json"
		check tasks "$data" "$work/tasks.json"
		check averages "$data" "$work/averages.json"
		REFRACT_MTME_AVERAGES=$work/averages.json tested -run 'TestMTMEAverages' ./benchmarks/significance
		;;
	speed)
		echo "== speed"
		go test -c -o "$work/significance.test" ./benchmarks/significance
		(cd benchmarks/significance && GOMAXPROCS=1 REFRACT_MTME_SPEED=$work/one.json taskset -c "${core:-0}" "$work/significance.test" -test.run 'TestSpeedOnWMT22' >/dev/null)
		if [ "$(nproc)" -gt 1 ]; then
			(cd benchmarks/significance && GOMAXPROCS=2 REFRACT_MTME_SPEED=$work/two.json "$work/significance.test" -test.run 'TestSpeedOnWMT22' >/dev/null)
		fi
		check speed "$data" "$work"/one.json "$work"/two.json
		;;
	*)
		echo "mtme.sh: REFRACT_MTME_PARTS: no part \"$part\"" >&2
		exit 2
		;;
	esac
done
