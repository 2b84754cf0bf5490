#!/usr/bin/env bash
# Scores with SPICE 1.0 through metrics/program/spice.py, and compares with the figures
# of pycocoevalcap. It fetches 385 MB with Maven, so that .ci/run leaves it out.
#
# usage: benchmarks/peers/spice.sh [VENV [JARS]]
set -euo pipefail
cd "$(dirname "$0")/../.."
commands="java mvn" packages="default-jre-headless maven"
source benchmarks/peers/java_venv.sh
jars=${2:-$venv/spice}
if ! [ -e "$jars/stanford-corenlp-3.6.0-models.jar" ]; then
	mvn -q -B -f "$here/spice_pom.xml" dependency:copy-dependencies -DoutputDirectory="$(realpath -m "$jars")" \
		-DincludeGroupIds=edu.stanford.nlp,org.openjdk.nashorn,org.ow2.asm
fi

echo "== SPICE"
check "exec:processes=1 timeout=1h $venv/bin/python metrics/program/spice.py --jars '$jars'" spice.1ref.segments spice.3ref.segments
echo "SPICE agrees"
