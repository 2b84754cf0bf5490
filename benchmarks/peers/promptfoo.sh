#!/usr/bin/env bash
# Runs the recipe for promptfoo in docs/how-to/adapters.md with the real package, which needs npm (2 GB, five
# minutes the first time, then half a minute). It is kept in $CI_CACHE, by default
# ${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci. .ci/run leaves it out.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v npm >/dev/null; then
	echo "$(basename "$0"): skipped: no npm"
	exit 77
fi
source benchmarks/peers/environment.sh
node=$cache/promptfoo-0.121.20
[ -e "$node/node_modules/.bin/promptfoo" ] || npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$node" promptfoo@0.121.20
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CGO_ENABLED=0 go build -trimpath -o "$work/refract" ./cmd/refract
export REFRACT_PROGRAM=$work/refract PYTHONPATH=$PWD/python/src PATH=$node/node_modules/.bin:$PATH
export PROMPTFOO_CONFIG_DIR=$work PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1
(cd python && "$venv/bin/python" -m pytest -q -rs -p no:cacheprovider tests/test_docs.py -k promptfoo)
