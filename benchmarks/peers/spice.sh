#!/usr/bin/env bash
# Scores with SPICE 1.0 through metrics/program/spice.py, and compares with the figures
# of pycocoevalcap. It fetches 385 MB with Maven, so that .ci/run leaves it out.
#
# usage: benchmarks/peers/spice.sh [VENV [JARS]]
set -euo pipefail
cd "$(dirname "$0")/../.."
here=benchmarks/peers
venv=${1:-${REFRACT_VENV:-.venv}}
jars=${2:-$venv/spice}
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
	"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$here/meteor_requirements.txt"
fi
if ! command -v java >/dev/null || ! command -v mvn >/dev/null; then
	apt-get update -q && apt-get install -y -q default-jre-headless maven
fi
if ! [ -e "$jars/stanford-corenlp-3.6.0-models.jar" ]; then
	mvn -q -B -f "$here/spice_pom.xml" dependency:copy-dependencies -DoutputDirectory="$(realpath -m "$jars")" \
		-DincludeGroupIds=edu.stanford.nlp,org.openjdk.nashorn,org.ow2.asm
fi
export PYTHONDONTWRITEBYTECODE=1
go build -o "$work/refract" ./cmd/refract

echo "== SPICE"
"$venv/bin/python" "$here/program_check.py" "$work/refract" \
	"exec:processes=1 timeout=1h $venv/bin/python metrics/program/spice.py --jars '$jars'" "$figures" "$work" spice.1ref.segments spice.3ref.segments
echo "SPICE agrees"
