#!/usr/bin/env bash
# Runs deploy/spark/refract_spark.py on a real standalone Spark cluster, a master and two workers:
# scoring and expanding, also while a worker and its executor are killed. The results must equal
# those of one process.
#
# usage: benchmarks/servers/spark.sh
#
# It needs root and Linux (Spark listens on all interfaces, so the cluster gets its own network
# namespace) and Java 17, which is installed if missing. pyspark from PyPI (430 MB) is kept in
# $CI_CACHE, by default ${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci. It takes about four minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
source benchmarks/servers/cluster.sh
if ! command -v java >/dev/null; then
	apt-get update -q && apt-get install -y -q --no-install-recommends openjdk-17-jre-headless >/dev/null
fi
venv=${CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci}/spark-4.0.1
if ! [ -e "$venv/whole" ]; then
	rm -rf "$venv"
	python3 -m venv "$venv"
	"$venv/bin/pip" install --quiet --disable-pip-version-check pyspark==4.0.1 py4j==0.10.9.9
	touch "$venv/whole"
fi
export PATH="$venv/bin:$PATH"
unshare --net --pid --fork --kill-child --mount-proc \
	"$venv/bin/python" benchmarks/servers/spark_check.py "$PWD/deploy/spark/refract_spark.py" "$data" "$work"
