#!/usr/bin/env bash
# Compares Refract with its peers: sacreBLEU, rouge-score, pycocoevalcap, SciPy, pyarrow, Hugging
# Face's datasets, and the schemas of OpenAPI and Kubernetes. It installs what it needs.
#
# usage: benchmarks/peers/run.sh [PYTEST ARGUMENT]…
#
# REFRACT_DATA names the folder of real data, by default ../shared/data; checks that need it are
# skipped without it. REFRACT_SEED changes the random texts.
set -euo pipefail
cd "$(dirname "$0")/../.."
source benchmarks/peers/environment.sh
if ! command -v java >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	apt-get update -q && apt-get install -y -q default-jre-headless
fi
exec "$venv/bin/python" -m pytest -q -rs -n 2 -p no:cacheprovider benchmarks/peers "$@"
