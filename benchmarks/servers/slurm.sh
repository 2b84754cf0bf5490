#!/usr/bin/env bash
# Runs the scripts of deploy/slurm on a real SLURM with two nodes: an array and its merge; an
# incomplete array; a task that is killed, a node that crashes, and a slurmd that dies while its
# tasks go on next to their replacements.
#
# usage: benchmarks/servers/slurm.sh
#
# It needs root and Linux, and installs Debian's packages if they are missing (13 MB); it takes
# about two minutes. The cluster runs in its own namespaces and ends with the script.
set -euo pipefail
cd "$(dirname "$0")/../.."
source benchmarks/servers/cluster.sh
if ! command -v slurmctld >/dev/null || ! command -v slurmd >/dev/null || ! command -v munged >/dev/null; then
	apt-get update -q
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
		slurmctld slurmd slurm-client munge iproute2 procps >/dev/null
fi
unshare --net --uts --mount --pid --fork --kill-child --mount-proc \
	python3 benchmarks/servers/slurm_check.py "$PWD/deploy/slurm" "$data" "$work"
