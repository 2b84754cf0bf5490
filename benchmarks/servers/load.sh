#!/usr/bin/env bash
# Measures refract expand with a server of 50 ms latency, and exposes it to faults, kill -9 and a
# second process on its cache. Program and server are separate processes, on a core each if there
# are two.
#
# usage: benchmarks/servers/load.sh [GO TEST FLAG]…
#
# REFRACT_LOAD=short makes everything twenty times smaller; in full it takes about ten minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
source benchmarks/servers/tested.sh
export REFRACT_LOAD=${REFRACT_LOAD:-full}
echo "machine: $(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo), $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg); $(go version | cut -d' ' -f3)"
tested -timeout 40m -benchtime=1x -bench=. -skip 'TestMillion$' "$@" ./benchmarks/load
