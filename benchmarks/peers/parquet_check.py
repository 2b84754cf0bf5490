#!/usr/bin/env python3
"""Checks that pyarrow reads from a Parquet matrix what is in the JSON Lines one.

usage: parquet_check.py MATRIX.parquet MATRIX.jsonl
"""
import json
import sys

import pyarrow.parquet as pq

parquet = pq.read_table(sys.argv[1]).to_pylist()
jsonl = [json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]
if list(jsonl.pop()) != ["sha256"]:
    sys.exit("the JSON Lines matrix does not end in its digest")
if parquet != jsonl:
    sys.exit("the Parquet and the JSON Lines matrix differ")
print(f"{len(parquet)} rows equal")
