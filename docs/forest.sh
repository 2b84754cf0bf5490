#!/usr/bin/env bash
# Draws README's figure, docs/forest.svg and docs/forest-dark.svg, out of a report on WMT22 zh-en.
#
# usage: docs/forest.sh [FOLDER OF REAL DATA], by default ../shared/data
set -euo pipefail
data=$(realpath "${1:-../shared/data}")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/refract" ./cmd/refract
docs=$PWD/docs
cd "$work"
ln -s "$data" data
cat >forest.yaml <<'EOF'
name: one reference against eleven
datasets:
  - name: zh-en
    dataset: mtme:data/mt-metrics-eval-v2/wmt22/zh-en
    expansions: [div-ref:data/div-ref/wmt22.zh-en.refA.diversified]
    human: mqm
references: [original, all]
metrics: [bleu, chrf]
aggregators: [single, max, mean, native]
statistics: [kendall]
analyses: []
EOF
./refract report forest.yaml -o forest.html
# The page has its first figure twice, for a dark and a light background.
grep -o 'svg&#43;xml;base64,[^"]*' forest.html | cut -d, -f2 | sed 's/&#43;/+/g; s/&#61;/=/g' >figures
sed -n 1p figures | base64 -d >"$docs/forest-dark.svg"
sed -n 2p figures | base64 -d >"$docs/forest.svg"
