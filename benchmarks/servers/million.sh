#!/usr/bin/env bash
# Measures chrF max on datasets of 20 systems and 11 references, made from WMT22 zh-en by a seeded
# generator: by one process, and by eight shards that are merged to the same output.
#
# usage: benchmarks/servers/million.sh [SEGMENTS]…
#
# The default is 10000 and 100000. 1000000 takes 6 GB, in $REFRACT_MILLION or a temporary folder,
# and about 25 minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/../.."
source benchmarks/servers/tested.sh
export REFRACT_LOAD=full REFRACT_SEGMENTS="${*:-10000 100000}"
echo "machine: $(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg); $(go version | cut -d' ' -f3)"
tested -timeout 120m -run 'TestMillion$' ./benchmarks/load
