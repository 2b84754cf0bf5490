"""Flips bytes of Parquet files with checksums, and compares what Refract reads with pyarrow.

usage: parquet_damage.py REFRACT [FLIPS [SEED]]

pyarrow verifies the checksums of pages. Whatever Refract reads of a damaged file must be
what was written; it may refuse more than pyarrow. Needs pyarrow 16 or newer.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq


def rows(rng):
    words = ["rain", "cat", "", "naïve", "天气", "line\nbreak", '"quoted"']
    text = lambda: None if rng.random() < 0.1 else " ".join(rng.choices(words, k=rng.randint(0, 6)))
    return {"id": [str(i) for i in range(60)], "source": [text() for _ in range(60)], "ref": [rng.choice(words) for _ in range(60)]}


def refract(program, path, folder):
    spec = f"table:{path},id=id,source=source,reference=ref"
    done = subprocess.run([program, "publish", spec, "--to", "jsonl", "-o", folder], capture_output=True, text=True)
    if done.returncode:
        return None
    lines = next(pathlib.Path(folder).rglob("*.jsonl")).read_text().split("\n")[:-1]
    return [(s["id"], s.get("source"), s["references"][0]) for s in map(json.loads, lines)]


def arrow(path):
    try:
        t = pq.read_table(path, page_checksum_verification=True).to_pydict()
        return list(zip(t["id"], t["source"], t["ref"]))
    except Exception:
        return None


def main(program, flips=240, seed=1):
    rng = random.Random(seed)
    counts = {"both refuse": 0, "only Refract refuses": 0, "only pyarrow refuses, same texts": 0, "both read the same": 0}
    with tempfile.TemporaryDirectory() as root:
        path = root + "/f.parquet"
        want = rows(rng)
        pq.write_table(pa.table(want), path, write_page_checksum=True, compression="none" if seed % 2 else "snappy")
        whole = open(path, "rb").read()
        want = list(zip(want["id"], want["source"], want["ref"]))
        assert refract(program, path, root + "/whole") == want == arrow(path)
        for k in range(flips):
            damaged = bytearray(whole)
            damaged[rng.randrange(4, len(whole) - 8)] ^= 1 << rng.randrange(8)
            open(path, "wb").write(damaged)
            ours, theirs = refract(program, path, f"{root}/{k}"), arrow(path)
            if ours is not None and ours != want and ours != theirs:
                sys.exit(f"flip {k} of seed {seed}: Refract reads other texts than were written")
            kind = ["both read the same", "only pyarrow refuses, same texts"] if ours is not None else ["only Refract refuses", "both refuse"]
            counts[kind[theirs is None]] += 1
    print(counts)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
