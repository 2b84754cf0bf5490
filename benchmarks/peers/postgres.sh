#!/usr/bin/env bash
# Run the tests of the Postgres cache against a real server: a private one with
# its own data in a temporary folder, on a free port of this machine, which ends
# with the script. Debian's package is installed where there is none.
# Usage: postgres.sh [flags of go test], by default -race.
set -euo pipefail
cd "$(dirname "$0")/../.."

bin() { ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1; }
if [ -z "$(bin)" ]; then
	# Installing the package must not start a server of the system.
	mkdir -p /etc/postgresql-common
	[ -e /etc/postgresql-common/createcluster.conf ] ||
		echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
	apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends postgresql
fi
bin=$(bin)

# A server refuses to run as root.
as=()
if [ "$(id -u)" = 0 ]; then
	as=(runuser -u postgres --)
fi

dir=$(mktemp -d)
chmod 755 "$dir"
mkdir "$dir/run"
if [ "$(id -u)" = 0 ]; then
	chown postgres "$dir/run"
fi
data=$dir/run/data
password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
stop() {
	"${as[@]}" "$bin/pg_ctl" stop -D "$data" -m immediate -s >/dev/null 2>&1 || true
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' INT TERM

(
	umask 077
	echo "$password" >"$dir/run/password"
)
if [ "$(id -u)" = 0 ]; then
	chown postgres "$dir/run/password"
fi
(cd "$dir/run" && "${as[@]}" "$bin/initdb" -D "$data" -U refract -A scram-sha-256 --pwfile="$dir/run/password" -E UTF8 --no-sync >/dev/null)

started=no
for _ in 1 2 3 4 5; do
	port=$((20000 + RANDOM % 30000))
	cat >"$dir/start.sh" <<EOF
#!/bin/sh
cd '$dir/run' && exec ${as[*]} '$bin/pg_ctl' start -D '$data' -s -w -t 60 -l '$dir/run/log' \
	-o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories='$dir/run'"
EOF
	cat >"$dir/stop.sh" <<EOF
#!/bin/sh
cd '$dir/run' && exec ${as[*]} '$bin/pg_ctl' stop -D '$data' -s -w -m immediate
EOF
	chmod 755 "$dir/start.sh" "$dir/stop.sh"
	if "$dir/start.sh" >"$dir/started" 2>&1; then
		started=yes
		break
	fi
done
if [ "$started" = no ]; then
	cat "$dir/started" "$dir/run/log" >&2
	exit 1
fi

# The tests stop the server in the middle of their work, and start it again.
export REFRACT_POSTGRES="postgres://refract:$password@127.0.0.1:$port/postgres?sslmode=disable"
export REFRACT_POSTGRES_STOP=$dir/stop.sh
export REFRACT_POSTGRES_START=$dir/start.sh
if [ $# = 0 ]; then
	set -- -race
fi
go test -count=1 "$@" ./cache
go test -count=1 "$@" -run Postgres ./cmd/refract/command
