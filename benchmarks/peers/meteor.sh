#!/usr/bin/env bash
# Scores with METEOR 1.5 through metrics/program/meteor.py, and compares with the
# figures of pycocoevalcap.
#
# usage: benchmarks/peers/meteor.sh [VENV]
set -euo pipefail
cd "$(dirname "$0")/../.."
here=benchmarks/peers
venv=${1:-${REFRACT_VENV:-.venv}}
figures=${REFRACT_DATA:-../shared/data}/neural/meteor_spice.json
if ! [ -e "$figures" ]; then
	echo "skipped: there is no $figures"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! [ -x "$venv/bin/python" ]; then
	python3 -m venv "$venv"
fi
if ! "$venv/bin/python" -c 'import pycocoevalcap' 2>/dev/null; then
	# Without its dependencies: what we take of it is Java.
	"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$here/meteor_requirements.txt"
fi
if ! command -v java >/dev/null; then
	apt-get update -q && apt-get install -y -q default-jre-headless
fi
export PYTHONDONTWRITEBYTECODE=1
go build -o "$work/refract" ./cmd/refract
check() { "$venv/bin/python" "$here/program_check.py" "$work/refract" "exec:processes=1 $venv/bin/python metrics/program/meteor.py$1" "$figures" "$work" "${@:2}"; }

echo "== METEOR"
check "" meteor.raw_1ref.segments meteor.raw_3ref.segments
echo "== METEOR on tokens of the Penn Treebank"
check " --ptb" meteor.ptb_1ref.segments meteor.ptb_3ref.segments
echo "METEOR agrees"
