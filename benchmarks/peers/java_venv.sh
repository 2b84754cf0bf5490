# Sourced by the checks of metrics that are Java programs, in the repository's root
# and with the script's arguments. It leaves the virtual environment of
# pycocoevalcap, which has the programs, in $venv, the figures of that package in
# $figures, refract in $work, and compares with the figures by check. $packages are
# Debian's packages that are needed, and $commands what they bring.
here=benchmarks/peers
venv=${1:-${REFRACT_VENV:-.venv}}
figures=${REFRACT_DATA:-../shared/data}/neural/meteor_spice.json
if ! [ -e "$figures" ]; then
	echo "skipped: there is no $figures"
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! [ -x "$venv/bin/python" ]; then
	python3 -m venv "$venv"
fi
if ! "$venv/bin/python" -c 'import pycocoevalcap' 2>/dev/null; then
	# Without its dependencies: what we take of it is Java.
	"$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r "$here/meteor_requirements.txt"
fi
if [ "$(command -v $commands | wc -l)" -lt "$(wc -w <<<"$commands")" ]; then
	apt-get update -q && apt-get install -y -q $packages
fi
export PYTHONDONTWRITEBYTECODE=1
go build -o "$work/refract" ./cmd/refract

# check SPEC FIGURE… compares the scores of a program.
check() { "$venv/bin/python" "$here/program_check.py" "$work/refract" "$1" "$figures" "$work" "${@:2}"; }
