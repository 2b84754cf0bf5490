#!/usr/bin/env bash
# Compares the paired tests of `refract systems` with sacreBLEU's, and their speed:
# two minutes, most of them sacreBLEU's.
#
# usage: benchmarks/peers/systems.sh
#
# REFRACT_DATA names the folder of real data; without WMT22 there, generated texts
# are compared. The virtual environment is kept, see kept_venv.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
requirements=benchmarks/peers/systems_requirements.txt
. benchmarks/peers/kept_venv.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/refract" ./cmd/refract
data=${REFRACT_DATA:-../shared/data}
options=()
if [ -d "$data/mt-metrics-eval-v2/wmt22" ]; then
	options=(--data "$data")
else
	echo "systems.sh: no real data at $data: generated texts are compared"
fi
PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" benchmarks/peers/systems_check.py "$work/refract" --speed "${options[@]}"
