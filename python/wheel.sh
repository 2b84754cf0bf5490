#!/usr/bin/env bash
# Builds the Python wheel for this platform, twice, with the same bytes; installs it in a
# fresh virtual environment and in the tools', runs the package's tests against the program
# in it, and runs that program where there is nothing else, neither glibc nor musl.
#
# usage: python/wheel.sh [PYTEST ARGUMENT]…
#
# REFRACT_WHEELS=all builds and checks the wheels of all platforms, which takes five builds of the
# program. The tools' environment is the one of environment.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
source benchmarks/peers/environment.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
step() { echo "== $1 ($SECONDS s)"; }
pip() { "$1/bin/python" -m pip --quiet --disable-pip-version-check "${@:2}"; }
unset REFRACT_PROGRAM
export PIP_NO_INPUT=1

step "wheels"
if [ "${REFRACT_WHEELS:-this}" = all ]; then
	"$venv/bin/python" python/build.py -o "$work/dist"
	for platform in manylinux_2_17_x86_64 manylinux2014_aarch64 musllinux_1_1_x86_64 musllinux_1_1_aarch64 \
		macosx_12_0_arm64 macosx_12_0_x86_64 win_amd64; do
		pip "$venv" install --no-index --no-deps --find-links "$work/dist" --only-binary :all: \
			--platform $platform --target "$work/$platform" refract-eval
		ls "$work/$platform"/bin/refract* >/dev/null
	done
fi
"$venv/bin/python" python/build.py -o "$work/this" --twice this
wheel=$(echo "$work"/this/*.whl)
"$venv/bin/twine" check --strict "$work"/*/*.whl

step "types and style"
(cd python && "$venv/bin/ruff" check --config pyproject.toml . ../examples &&
	"$venv/bin/ruff" format --check --config pyproject.toml . ../examples && "$venv/bin/mypy")

step "a fresh environment"
python3 -m venv "$work/fresh"
pip "$work/fresh" install --no-index "$wheel"
(
	cd "$work"
	fresh/bin/refract version
	fresh/bin/python -c '
import refract_eval
scores = refract_eval.score(["the cat sat"], [["the cat sat", "a cat sat"]])
print(scores)
assert scores["chrf"].score == 100.0
assert refract_eval.find_program().startswith("'"$work"'/fresh/"), refract_eval.find_program()'
)

step "a root with nothing else"
mkdir "$work/root"
cp "$work/fresh/bin/refract" "$work/root/"
if [ "$(id -u)" = 0 ]; then
	echo '{"id": 1, "method": "score", "params": {"segments": [{"hypotheses": {"a": "x"}, "references": ["x"]}], "metrics": ["chrf"]}}' |
		chroot "$work/root" /refract serve | grep -q '"score":100'
else
	echo "not run: only root may change the root; the header says that the program is static"
fi

step "tests"
pip "$venv" install --no-index --no-deps --force-reinstall "$wheel"
if command -v npx >/dev/null; then
	# --verifytypes looks only where the python on the path looks.
	PATH=$venv/bin:$PATH npx --yes pyright@1.1.414 --ignoreexternal --verifytypes refract_eval >"$work/types" || { tail -n 40 "$work/types"; exit 1; }
else
	echo "not checked: that all public types are known needs npx"
fi
(cd python && "$venv/bin/python" -m pytest -q -rs -p no:cacheprovider "$@")
