#!/usr/bin/env bash
# Compares Refract with its peers: sacreBLEU, rouge-score, pycocoevalcap, SciPy, pyarrow, Hugging
# Face's datasets, and the schemas of OpenAPI and Kubernetes. It installs what it needs.
#
# usage: benchmarks/peers/run.sh [PYTEST ARGUMENT]…
#
# REFRACT_DATA names the folder of real data, by default ../shared/data; checks that need it are
# skipped without it. REFRACT_SEED changes the random texts. One in REFRACT_EVERY of the cases is
# compared, by default one in five. REFRACT_PROGRAM names a program that is built already.
set -euo pipefail
cd "$(dirname "$0")/../.."
source benchmarks/peers/environment.sh
command -v java >/dev/null || apt_install default-jre-headless
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export REFRACT_PROGRAM=${REFRACT_PROGRAM:-$work/refract}
[ -e "$REFRACT_PROGRAM" ] || go build -o "$REFRACT_PROGRAM" ./cmd/refract
"$venv/bin/python" -m pytest -q -rs -n 2 -p no:cacheprovider benchmarks/peers "$@"
