#!/usr/bin/env bash
# Validates the manifests of deploy/kubernetes by the schemas of several releases of
# Kubernetes, strictly: a field that there is not is an error.
#
# usage: benchmarks/peers/kubernetes.sh
#
# The schemas are those of kubernetes-validate from PyPI (144 MB), in a virtual
# environment that is kept in $CI_CACHE, by default ${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci.
set -euo pipefail
cd "$(dirname "$0")/../.."
requirements=benchmarks/peers/kubernetes_requirements.txt
source benchmarks/peers/kept_venv.sh
# backoffLimitPerIndex is there by default from 1.29 on.
for release in 1.29 1.33 1.37; do
	"$venv/bin/kubernetes-validate" --kubernetes-version $release --strict --quiet deploy/kubernetes/*.yaml
done
wrong=$(mktemp --suffix .yaml)
trap 'rm -f "$wrong"' EXIT
sed 's/completionMode: Indexed/completionMod: Indexed/' deploy/kubernetes/expand.yaml >"$wrong"
if "$venv/bin/kubernetes-validate" --strict --quiet "$wrong" >/dev/null 2>&1; then
	echo "kubernetes.sh: a field that there is not is taken"
	exit 1
fi
echo "manifests are valid"
