#!/usr/bin/env bash
# Writes a folder for a Space of the Hugging Face Hub, from which evaluate.load("OWNER/NAME") takes the metric, and with
# --push uploads it by the command hf, which must be logged in. The Space installs refract-eval from PyPI.
#
# usage: deploy/space.sh OWNER/NAME DIR [--push]
set -euo pipefail
from=$(dirname "$0")/space
if ! [[ ${1-} =~ ^[A-Za-z0-9._-]+/[A-Za-z_][A-Za-z0-9_]*$ && -n ${2-} && ${3---push} = --push ]]; then
	echo "usage: deploy/space.sh OWNER/NAME DIR [--push], and NAME is one of a Python module" >&2
	exit 2
fi
mkdir "$2"
cp "$from/app.py" "$from/requirements.txt" "$2/"
cp "$from/metric.py" "$2/${1#*/}.py"
sed "s|SPACE|$1|" "$from/README.md" >"$2/README.md"
if [ $# = 3 ]; then
	hf repos create "$1" --repo-type space --space-sdk gradio --exist-ok
	hf upload "$1" "$2" . --repo-type space
fi
