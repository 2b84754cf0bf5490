#!/usr/bin/env bash
# Runs the tests of the Postgres cache against a real server: a private one with its data in a
# temporary folder, on a free local port, which ends with the script. In front of it runs a
# PgBouncer, which gives each transaction another connection. Debian's packages are installed if
# missing. Usage: postgres.sh [flags of go test], by default -race
set -euo pipefail
cd "$(dirname "$0")/../.."
source benchmarks/peers/apt.sh
source benchmarks/servers/tested.sh

bin() { ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1; }
if [ -z "$(bin)" ] || ! [ -x /usr/sbin/pgbouncer ]; then
	# Installing the package must not start a system-wide server.
	mkdir -p /etc/postgresql-common
	[ -e /etc/postgresql-common/createcluster.conf ] ||
		echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf
	apt_install postgresql pgbouncer
fi
bin=$(bin)

# Postgres refuses to run as root.
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
	[ -z "${pooler:-}" ] || kill "$pooler" 2>/dev/null || true
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

# It has few connections, which go to whoever has an open transaction.
cat >"$dir/run/pgbouncer.ini" <<EOF
[databases]
* = host=127.0.0.1 port=$port
[pgbouncer]
listen_addr = 127.0.0.1
auth_type = scram-sha-256
auth_file = $dir/run/users
unix_socket_dir =
pool_mode = transaction
default_pool_size = 8
max_client_conn = 1000
EOF
(
	umask 077
	echo "\"refract\" \"$password\"" >"$dir/run/users"
)
if [ "$(id -u)" = 0 ]; then
	chown postgres "$dir/run/users"
fi
# If the port is taken, the process ends at once.
for _ in 1 2 3 4 5; do
	pooled=$((20000 + RANDOM % 30000))
	echo "listen_port = $pooled" >>"$dir/run/pgbouncer.ini"
	"${as[@]}" /usr/sbin/pgbouncer -q "$dir/run/pgbouncer.ini" >"$dir/pooler.log" 2>&1 &
	pooler=$!
	sleep 0.5
	if kill -0 "$pooler" 2>/dev/null; then
		break
	fi
	pooler=
done
if [ -z "$pooler" ]; then
	cat "$dir/pooler.log" >&2
	exit 1
fi
export REFRACT_PGBOUNCER="postgres://refract:$password@127.0.0.1:$pooled/postgres?sslmode=disable"

# The tests stop and restart the server while they use it.
export REFRACT_POSTGRES="postgres://refract:$password@127.0.0.1:$port/postgres?sslmode=disable"
export REFRACT_POSTGRES_STOP=$dir/stop.sh
export REFRACT_POSTGRES_START=$dir/start.sh
if [ $# = 0 ]; then
	set -- -race
fi
tested "$@" ./cache
tested "$@" -run Postgres -skip Crowd ./cmd/refract/command
# 64 programs at once, each built as small as possible.
tested -run PostgresCrowd ./cmd/refract/command
