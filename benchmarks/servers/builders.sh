#!/usr/bin/env bash
# Makes 2,000 items of training data by each recipe, from a server whose answers and connections
# have all faults. Interrupts and kills each run eight times, resumes it, and checks that nothing is
# asked twice, that the bytes are equal, and that the counts add up. Then loads the results, in
# every form, with Hugging Face's datasets.
#
# usage: benchmarks/servers/builders.sh [GO TEST FLAG]…
#
# The virtual environment is the one of wheel.sh, kept in $CI_CACHE, by default
# ${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci. It takes less than two minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/../.."
source benchmarks/peers/environment.sh
source benchmarks/servers/tested.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

REFRACT_LOAD=full REFRACT_BUILT=$work tested -timeout 15m -parallel 4 -run 'TestBuilders$' "$@" ./benchmarks/load
"$venv/bin/python" benchmarks/servers/builders_check.py "$work"
echo "builders hold ($SECONDS s)"
