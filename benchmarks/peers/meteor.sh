#!/usr/bin/env bash
# Scores with METEOR 1.5 through metrics/program/meteor.py, and compares with the
# figures of pycocoevalcap.
#
# usage: benchmarks/peers/meteor.sh [VENV]
set -euo pipefail
cd "$(dirname "$0")/../.."
commands=java packages=default-jre-headless
source benchmarks/peers/java_venv.sh

program="exec:processes=1 $venv/bin/python metrics/program/meteor.py"
echo "== METEOR"
check "$program" meteor.raw_1ref.segments meteor.raw_3ref.segments
echo "== METEOR on tokens of the Penn Treebank"
check "$program --ptb" meteor.ptb_1ref.segments meteor.ptb_3ref.segments
echo "METEOR agrees"
