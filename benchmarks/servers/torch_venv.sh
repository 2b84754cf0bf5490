# Sourced by checks with packages that need PyTorch, in the repository's root. It makes a virtual
# environment from the files $requirements, named $name, and sets $venv to it. PyTorch's wheel
# depends on 3 GB of NVIDIA's libraries, so packages are installed without dependencies, and empty
# libraries replace NVIDIA's. It is kept in $CI_CACHE, by default
# ${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci.
here=$PWD/benchmarks/servers
cache=${CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci}
venv=$cache/$name-$(cat $requirements "$here/cuda_stubs.py" | sha256sum | cut -c1-12)
if ! [ -e "$venv/done" ]; then
	rm -rf "$venv"
	mkdir -p "$cache"
	"${REFRACT_PYTHON:-$(command -v python3.11 || command -v python3)}" -m venv "$venv"
	"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps \
		$(printf -- '-r %s ' $requirements)
	"$venv/bin/python" "$here/cuda_stubs.py" "$("$venv/bin/python" -c '
import sysconfig; print(sysconfig.get_path("purelib") + "/torch")')" "$venv/stubs"
	touch "$venv/done"
fi
export HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false PYTHONDONTWRITEBYTECODE=1
export LD_LIBRARY_PATH=$venv/stubs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
