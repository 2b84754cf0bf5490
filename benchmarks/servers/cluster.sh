# Sourced by the checks that run a cluster in its own namespaces, in the repository's root. It puts
# refract into $work/bin, which is on the path, and WMT22 into $data.
data=${REFRACT_DATA:-../shared/data}
if ! [ -e "$data/mt-metrics-eval-v2/wmt22" ]; then
	echo "skipped: there is no $data/mt-metrics-eval-v2/wmt22"
	exit 77
fi
if [ "$(id -u)" != 0 ]; then
	echo "skipped: name spaces need root"
	exit 77
fi
data=$(realpath "$data")
work=$(mktemp -d /tmp/refract.XXXXXX) # sockets need short names
trap 'rm -rf "$work"' EXIT
go build -o "$work/bin/refract" ./cmd/refract
export PYTHONDONTWRITEBYTECODE=1 PATH="$work/bin:$PATH:/usr/sbin:/sbin"
