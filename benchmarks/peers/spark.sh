#!/usr/bin/env bash
# Runs deploy/spark/refract_spark.py on a real standalone cluster of Spark, a master
# and two workers: scoring and expanding, also while a worker and its executor are
# killed in the middle; the results are those of one process.
#
# usage: benchmarks/peers/spark.sh
#
# It needs root and Linux (Spark listens on all interfaces, so the cluster is alone
# in a name space of the network) and Java 17, which is installed where there is
# none. pyspark from PyPI (430 MB) is kept in $CI_CACHE, by default
# ${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci. It takes about four minutes.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=benchmarks/peers
data=${REFRACT_DATA:-../shared/data}
if ! [ -e "$data/mt-metrics-eval-v2/wmt22" ]; then
	echo "skipped: there is no $data/mt-metrics-eval-v2/wmt22"
	exit 0
fi
if [ "$(id -u)" != 0 ]; then
	echo "skipped: a name space of the network needs root"
	exit 0
fi
if ! command -v java >/dev/null; then
	apt-get update -q && apt-get install -y -q --no-install-recommends openjdk-17-jre-headless >/dev/null
fi
cache=${CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci}
venv=$cache/spark-$(sha256sum <$here/spark_requirements.txt | cut -c1-12)
if ! [ -e "$venv/whole" ]; then
	rm -rf "$venv"
	mkdir -p "$cache"
	python3 -m venv "$venv"
	"$venv/bin/pip" install --quiet --disable-pip-version-check -r $here/spark_requirements.txt
	touch "$venv/whole"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/bin/refract" ./cmd/refract
export PYTHONDONTWRITEBYTECODE=1 PATH="$work/bin:$venv/bin:$PATH"
unshare --net --pid --fork --kill-child --mount-proc \
	"$venv/bin/python" $here/spark_check.py "$PWD/deploy/spark/refract_spark.py" "$(realpath "$data")" "$work"
