# Sourced by scripts that need Python packages, in the repository's root. It sets $venv to the
# environment of $lock, by default the peers', which is kept in $CI_CACHE, by default
# ${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci (2 GB, three minutes the first time).
source benchmarks/peers/apt.sh
cache=${CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci}
lock=${lock:-benchmarks/peers/requirements.txt}
venv=$cache/peers-$(sha256sum <"$lock" | cut -c1-12)
if ! [ -e "$venv/whole" ]; then
	if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
		apt_install python3-venv
	fi
	rm -rf "$venv"
	mkdir -p "$cache"
	python3 -m venv "$venv"
	# The lock is complete; dependencies of one package with a model would bring PyTorch.
	"$venv/bin/pip" install --quiet --disable-pip-version-check --no-compile --no-deps -r "$lock"
	touch "$venv/whole"
fi
# Compiled modules stay out of the repository, and pip compiles none that nothing imports.
export PYTHONPYCACHEPREFIX=$venv/compiled HF_HUB_OFFLINE=1
