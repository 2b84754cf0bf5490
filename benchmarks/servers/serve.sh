# Sourced by scripts that need a server from a Python program in this folder. serve PROGRAM
# [ARGUMENT]… starts it, sets $url to its address, and stops it when the script ends or serves
# another. $venv and $cache are those of environment.sh; $work is a temporary folder.
here=benchmarks/servers
source benchmarks/peers/environment.sh
work=$(mktemp -d)
server=
unserve() {
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
	fi
	rm -f "$work/url"
}
trap 'unserve; rm -rf "$work"' EXIT

serve() {
	local program=$1
	unserve
	"$venv/bin/python" "$here/$program" "${@:2}" >"$work/url" 2>"$work/log" &
	server=$!
	for _ in $(seq 600); do
		if [ -s "$work/url" ] || ! kill -0 "$server" 2>/dev/null; then break; fi
		sleep 0.1
	done
	if ! [ -s "$work/url" ]; then
		echo "$(basename "$0"): $program did not start:" >&2
		last_words
		exit 1
	fi
	url=$(cat "$work/url")
	echo "$program at $url"
}

last_words() {
	echo "the server's last words:" >&2
	tail -n 20 "$work/log" >&2
}
