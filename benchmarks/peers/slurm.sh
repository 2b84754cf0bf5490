#!/usr/bin/env bash
# Runs the scripts of deploy/slurm on a real SLURM of two nodes: an array and its
# merge; an array that is not complete; a task that is killed, a node that
# crashes, and a slurmd that dies and leaves its tasks to run beside their copies.
#
# usage: benchmarks/peers/slurm.sh
#
# It needs root and Linux, and installs Debian's packages where they are missing
# (13 MB); it takes about two minutes. The cluster is alone in name spaces of its
# own, and ends with the script.
set -euo pipefail
cd "$(dirname "$0")/../.."
data=${REFRACT_DATA:-../shared/data}
if ! [ -e "$data/mt-metrics-eval-v2/wmt22" ]; then
	echo "skipped: there is no $data/mt-metrics-eval-v2/wmt22"
	exit 0
fi
if [ "$(id -u)" != 0 ]; then
	echo "skipped: name spaces and slurmd need root"
	exit 0
fi
if ! command -v slurmctld >/dev/null || ! command -v slurmd >/dev/null || ! command -v munged >/dev/null; then
	apt-get update -q
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends \
		slurmctld slurmd slurm-client munge iproute2 procps >/dev/null
fi
work=$(mktemp -d /tmp/slurm.XXXXXX) # sockets have short names
trap 'rm -rf "$work"' EXIT
go build -o "$work/bin/refract" ./cmd/refract
export PYTHONDONTWRITEBYTECODE=1 PATH="$work/bin:$PATH:/usr/sbin:/sbin"
unshare --net --uts --mount --pid --fork --kill-child --mount-proc \
	python3 benchmarks/peers/slurm_check.py "$PWD/deploy/slurm" "$(realpath "$data")" "$work"
