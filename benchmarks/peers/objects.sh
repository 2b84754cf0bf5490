#!/usr/bin/env bash
# Reads from and writes to a real server of S3 (moto, from PyPI) with a program
# that is built with the tag cloud, and compares with files of this machine: sets
# of lines, packed ones, Parquet, parts, outputs that are killed, keys that are wrong.
# With GCS=PROGRAM, which is github.com/fsouza/fake-gcs-server, gs:// too.
#
# usage: benchmarks/peers/objects.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/benchmarks/peers
requirements=benchmarks/peers/objects_requirements.txt
source benchmarks/peers/kept_venv.sh
work=$(mktemp -d)
server= gcs=
stop() {
	for p in $server $gcs; do
		kill "$p" 2>/dev/null || true
		wait "$p" 2>/dev/null || true
	done
	rm -rf "$work"
}
trap stop EXIT
go build -tags cloud -o "$work/refract" ./cmd/refract
cd "$work"
fail() {
	echo "objects.sh: $1" >&2
	exit 1
}

port=$((20000 + RANDOM % 30000))
"$venv/bin/moto_server" -H 127.0.0.1 -p "$port" >moto.log 2>&1 &
server=$!
url=http://127.0.0.1:$port
for _ in $(seq 300); do
	curl -fs -o /dev/null "$url/moto-api/" && break
	kill -0 "$server" 2>/dev/null || fail "moto has ended: $(tail -3 moto.log)"
	sleep 0.1
done
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=testsecret AWS_REGION=us-east-1
q="?endpoint=$url&use_path_style=true"
# The server by another client.
s3() { "$venv/bin/python" "$here/objects_s3.py" "$url" "$@"; }
get() { s3 get "$1"; }
put() { s3 put "$1"; }
absent() { ! s3 get "$1" >/dev/null 2>&1 || fail "$1 is there: $2"; }
s3 make

./refract demo --write demo >/dev/null 2>&1
cp demo/sample.jsonl sample.jsonl
./refract cache import demo/cache.sqlite demo/answers.jsonl 2>/dev/null
gzip -k sample.jsonl
put sample.jsonl
put sample.jsonl.gz

echo "== score and expand, from and to the store"
./refract score jsonl:sample.jsonl -m chrf -m bleu --per segment -o local.csv
for in in sample.jsonl sample.jsonl.gz; do
	./refract score "s3://bucket/$in$q" -m chrf -m bleu --per segment -o "s3://bucket/$in.csv$q"
	get "$in.csv" | cmp - local.csv || fail "scores of $in differ"
done
./refract score jsonl:sample.jsonl -m chrf --per cell -o local.parquet
./refract score "s3://bucket/sample.jsonl$q" -m chrf --per cell -o "s3://bucket/matrix.parquet$q"
get matrix.parquet | cmp - local.parquet || fail "the matrix differs"
./refract aggregate local.parquet -f csv >local.txt
./refract aggregate "s3://bucket/matrix.parquet$q" -f csv | cmp - local.txt || fail "what is read of the matrix differs"
./refract expand jsonl:sample.jsonl --model recorded --cache demo/cache.sqlite --offline -o local.jsonl 2>/dev/null
./refract expand "s3://bucket/sample.jsonl$q" --model recorded --cache demo/cache.sqlite --offline -o "s3://bucket/expanded.jsonl.gz$q" 2>/dev/null
get expanded.jsonl.gz | gunzip | cmp - local.jsonl || fail "expansions differ"

echo "== parts of an object are those of the file"
for i in 1 2 3; do
	./refract score jsonl:sample.jsonl -m chrf --per segment --shard $i/3 -o parts.csv 2>/dev/null
	./refract score "s3://bucket/sample.jsonl$q" -m chrf --per segment --shard $i/3 -o stored.csv 2>/dev/null
done
./refract merge parts.csv.*.shard -o parts.csv 2>/dev/null
./refract merge stored.csv.*.shard -o stored.csv 2>/dev/null
cmp parts.csv stored.csv || fail "parts differ"

echo "== an output that is killed is no object, and leaves the one of before"
printf before >killed.csv
put killed.csv
for signal in KILL INT; do
	for name in killed.csv never.csv; do
		mkfifo lines
		./refract score jsonl:lines -m chrf --per segment -f csv -o "s3://bucket/$name$q" >/dev/null 2>&1 &
		run=$!
		exec 3>lines
		# More than a part of an upload.
		python3 -c 'for i in range(150000): print("{\"id\":\"%d\",\"references\":[\"a b\"],\"hypotheses\":{\"x\":\"a c\"}}" % i)' >&3
		sleep 2
		kill -$signal $run
		! wait $run || fail "it was not killed" # which the end of its input would race
		exec 3>&-
		rm lines
	done
	[ "$(get killed.csv)" = before ] || fail "a killed output has taken the place of the one before"
	absent never.csv "its writer was killed by $signal"
done

echo "== what is not there, and wrong keys"
refused() {
	local want=$1
	shift
	if ./refract "$@" >out.txt 2>err.txt; then fail "$* did not fail"; fi
	grep -q "$want" err.txt || fail "$* says $(cat err.txt)"
	! grep -q "wrongsecret" err.txt out.txt || fail "$* shows the key"
}
refused "s3://bucket/none.jsonl.*not exist" score "s3://bucket/none.jsonl$q" -m chrf
refused "NoSuchBucket" score jsonl:sample.jsonl -m chrf -o "s3://nowhere/out.csv$q"
refused "name the same file" score "s3://bucket/sample.jsonl$q" -m chrf -f csv -o s3://bucket/sample.jsonl
curl -fs -H 'Content-Type: text/plain' --data-binary 0 "$url/moto-api/reset-auth" >/dev/null
export AWS_SECRET_ACCESS_KEY=wrongsecret
refused "AWS_ACCESS_KEY_ID" score "s3://bucket/sample.jsonl$q" -m chrf
refused "AWS_ACCESS_KEY_ID" score jsonl:sample.jsonl -m chrf -o "s3://bucket/out.csv$q"

if [ -n "${GCS:-}" ]; then
	echo "== gs://"
	gport=$((20000 + RANDOM % 30000))
	"$GCS" -scheme http -host 127.0.0.1 -port "$gport" -public-host "127.0.0.1:$gport" -backend memory >gcs.log 2>&1 &
	gcs=$!
	export STORAGE_EMULATOR_HOST=127.0.0.1:$gport
	for _ in $(seq 100); do
		curl -fs -o /dev/null "http://$STORAGE_EMULATOR_HOST/storage/v1/b" && break
		sleep 0.1
	done
	curl -fs -H 'Content-Type: application/json' -d '{"name":"bucket"}' "http://$STORAGE_EMULATOR_HOST/storage/v1/b?project=p" >/dev/null
	./refract score jsonl:sample.jsonl -m chrf --per cell -o gs://bucket/matrix.parquet
	./refract aggregate gs://bucket/matrix.parquet -f csv | cmp - local.txt || fail "what is read of the matrix in gs:// differs"
fi
echo "objects.sh: all is as with files of this machine"
